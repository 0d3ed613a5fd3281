//! Converts pieces to synchronous steps, in which a link carries the first pieces of its queue.

use crate::matching::Matching;
use crate::network::LinkGraph;
use crate::resources::Resources;
use crate::routes::{Piece, Routed};
use std::collections::BinaryHeap;

/// The order in which a link sends the packets of its queue. No order is the best on all networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Farthest,
    /// The largest value is first. Each link of the path after the next one has a value: its
    /// largest remaining load, plus the number of links from about there to the target. The value
    /// of the packet is the largest of these. Values up to the congestion are divided into this
    /// number of classes. Within a class, the packet with the most remaining links is first.
    MostLoaded(u32),
}

pub(crate) const ORDERS: [Order; 3] =
    [Order::Farthest, Order::MostLoaded(256), Order::MostLoaded(64)];

/// A link stops searching its queue after this number of packets that it has not sent completely.
/// With 4 instead of 32, schedules for log-normal sizes were up to 7 % longer.
const EXAMINED: usize = 32;

/// Segments of a piece that travel together along its path.
#[derive(Clone)]
struct Packet {
    piece: u32,
    first_segment: u32,
    segments: u32,
    size: u32,
    next: usize,
    left: u32,
}

/// A packet in a queue: the key in the upper 32 bits, and the index of the packet in the lower
/// ones. The largest entry is first.
type Entry = u64;

fn entry(key: u32, packet: u32) -> Entry {
    u64::from(key) << 32 | u64::from(packet)
}

pub(crate) enum Event<'a> {
    /// A step begins. The whole schedule takes at least `least` steps.
    Step {
        least: u64,
    },
    Send {
        link: usize,
        piece: &'a Piece,
        first_segment: u32,
        segments: u32,
    },
}

const STEPS_PER_BOUND: u64 = 16;

struct StepSimulation<'a> {
    resources: &'a Resources,
    routed: &'a Routed,
    order: Order,
    queues: Vec<BinaryHeap<Entry>>,
    packets: Vec<Packet>,
    left: Vec<f32>,
    /// For each link, the largest remaining load of its resources, rounded down. All keys of a step
    /// use the same values.
    busiest: Vec<u32>,
    moving: Vec<u32>,
    /// Whether the sizes of pieces differ. If they do, the last segments of a step are those that
    /// fit best, not the first of the queue.
    sizes_differ: bool,
}

/// Simulates the steps. Calls `visit` at the start of each step, and for each send. An error of
/// `visit` ends the simulation. Returns the number of steps.
pub(crate) fn simulate<E>(
    network: &LinkGraph,
    resources: &Resources,
    routed: &Routed,
    order: Order,
    mut visit: impl FnMut(Event<'_>) -> Result<(), E>,
) -> Result<u64, E> {
    let mut sizes = routed.pieces.iter().map(|piece| piece.size).filter(|size| *size > 0);
    let first = sizes.next();
    let mut simulation = StepSimulation {
        resources,
        routed,
        order,
        queues: vec![BinaryHeap::new(); network.links.count()],
        packets: Vec::with_capacity(routed.pieces.len()),
        left: vec![0.0; resources.count],
        busiest: vec![0; network.links.count()],
        moving: Vec::new(),
        sizes_differ: sizes.any(|size| Some(size) != first),
    };
    simulation.start();
    let ports = resources.ports.map(|ports| Matching::new(network, ports));
    // The loads of ports are the last entries of `left`.
    let mut ports = ports.map(|matching| (matching, resources.count - 2 * network.nodes));
    let (mut steps, mut least) = (0, 0);
    while simulation.queues.iter().any(|queue| !queue.is_empty()) {
        if steps % STEPS_PER_BOUND == 0 {
            least = steps + simulation.left.iter().copied().fold(0.0, f32::max) as u64;
        }
        steps += 1;
        visit(Event::Step { least })?;
        if let Some((matching, first)) = &mut ports {
            let waiting: Vec<bool> =
                simulation.queues.iter().map(|queue| !queue.is_empty()).collect();
            matching.choose(network, &waiting, &simulation.left[*first..]);
        }
        for link in 0..network.links.count() {
            if ports.as_ref().is_none_or(|(matching, _)| matching.chosen[link]) {
                simulation.carry(link, &mut visit)?;
            }
        }
        simulation.arrive(steps as u32);
    }
    Ok(steps)
}

impl StepSimulation<'_> {
    fn start(&mut self) {
        let Routed { pieces, paths, .. } = self.routed;
        for (piece, path) in pieces.iter().zip(paths.iter()) {
            for column in &self.resources.columns {
                for &link in path {
                    let link = link as usize;
                    self.left[column.resource[link] as usize] +=
                        piece.load() as f32 * column.weight[link] as f32;
                }
            }
        }
        self.find_busiest();
        for ((piece, path), number) in pieces.iter().zip(paths.ranges()).zip(0..) {
            let Piece { first_segment, segments, size, .. } = *piece;
            let (next, left) = (path.start, path.len() as u32);
            let piece = number;
            self.packets.push(Packet { piece, first_segment, segments, size, next, left });
            self.wait(number, 0);
        }
    }

    fn wait(&mut self, number: u32, steps: u32) {
        let Packet { size, next, left, .. } = &self.packets[number as usize];
        let path = &self.routed.paths.links[*next..*next + *left as usize];
        if let Some(next) = path.first() {
            let entry = entry(self.key(path, *size, steps), number);
            self.queues[*next as usize].push(entry);
        }
    }

    fn key(&self, path: &[u32], size: u32, steps: u32) -> u32 {
        if size == 0 {
            return u32::MAX;
        }
        let ahead = path.len() as u32;
        let Order::MostLoaded(classes) = self.order else { return ahead };
        let values = path[1..].iter().zip((1..=ahead).rev());
        let most = values.map(|(link, left)| self.busiest[*link as usize] + left).max();
        let class = (self.routed.congestion as u32 / classes).max(1);
        (most.unwrap_or(0) + steps) / class * 64 + ahead.min(63)
    }

    /// Sends the first packets of a link's queue. If only some segments of a packet fit, the packet
    /// is divided.
    fn carry<E>(
        &mut self,
        link: usize,
        visit: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let quota = self.resources.quota[link];
        let (mut free, mut passed) = (quota, Vec::new());
        let mut reserve = 0;
        while free > 0
            && passed.len() < EXAMINED
            && let Some(first) = self.queues[link].pop()
        {
            let packet = &self.packets[first as u32 as usize];
            let fitting = match packet.size {
                0 => packet.segments,
                size => {
                    if free == quota && self.sizes_differ {
                        reserve = 2 * u64::from(size);
                    }
                    let room = free.saturating_sub(reserve);
                    (room / u64::from(size)).min(packet.segments.into()) as u32
                }
            };
            // A step carries at least one segment, even if the segment is larger than the quota.
            let fitting = if fitting == 0 && free == quota { 1 } else { fitting };
            if fitting == 0 {
                passed.push(first);
                continue;
            }
            let load = u64::from(fitting) * u64::from(packet.size);
            free = free.saturating_sub(load);
            passed.extend(self.send(link, first, fitting, visit)?);
        }
        // Fill the rest of the step with the segments that leave the least space free.
        while reserve > 0
            && let Some((place, size)) = self.best_pair(&passed, free)
        {
            let chosen = passed.swap_remove(place);
            passed.extend(self.send(link, chosen, 1, visit)?);
            free -= size;
        }
        self.queues[link].extend(passed);
        Ok(())
    }

    /// Finds the one or two packets of which one segment each fills `free` best. Returns the
    /// position in `waiting`, and the size, of the larger segment.
    fn best_pair(&self, waiting: &[Entry], free: u64) -> Option<(usize, u64)> {
        let size = |entry: &Entry| u64::from(self.packets[*entry as u32 as usize].size);
        let mut sizes: Vec<(u64, usize)> =
            waiting.iter().map(size).zip(0..).filter(|(size, _)| *size <= free).collect();
        sizes.sort_unstable();
        let (mut small, mut large) = (0, sizes.len().checked_sub(1)?);
        let mut best = (sizes[large].0, large);
        while small < large {
            let sum = sizes[small].0 + sizes[large].0;
            if sum <= free {
                best = best.max((sum, large));
                small += 1;
            } else {
                large -= 1;
            }
        }
        let (size, place) = sizes[best.1];
        Some((place, size))
    }

    fn send<E>(
        &mut self,
        link: usize,
        first: Entry,
        segments: u32,
        visit: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<Option<Entry>, E> {
        let number = first as u32;
        let packet = &mut self.packets[number as usize];
        let Packet { first_segment, segments: all, size, .. } = *packet;
        let piece = &self.routed.pieces[packet.piece as usize];
        visit(Event::Send { link, piece, first_segment, segments })?;
        self.moving.push(number);
        let load = segments as f32 * size as f32;
        for column in &self.resources.columns {
            self.left[column.resource[link] as usize] -= load * column.weight[link] as f32;
        }
        if segments == all {
            return Ok(None);
        }
        let rest = Packet {
            first_segment: first_segment + segments,
            segments: all - segments,
            ..packet.clone()
        };
        packet.segments = segments;
        self.packets.push(rest);
        Ok(Some(entry((first >> 32) as u32, self.packets.len() as u32 - 1)))
    }

    fn find_busiest(&mut self) {
        if self.order == Order::Farthest {
            return;
        }
        for (link, busiest) in self.busiest.iter_mut().enumerate() {
            let loads = self.resources.columns.iter().map(|c| self.left[c.resource[link] as usize]);
            *busiest = loads.fold(0.0, f32::max) as u32;
        }
    }

    fn arrive(&mut self, steps: u32) {
        self.find_busiest();
        let mut moving = std::mem::take(&mut self.moving);
        for number in moving.drain(..) {
            let packet = &mut self.packets[number as usize];
            (packet.next, packet.left) = (packet.next + 1, packet.left - 1);
            self.wait(number, steps);
        }
        self.moving = moving;
    }
}
