//! An all-to-all with blocks of equal size on networks whose nodes are all equivalent (see
//! [`crate::orbits`]). The blocks of one node are planned, and all others send in the same way.
//!
//! Each link leads from a node to its image under one of a few translations, the shifts. A block
//! moves over links whose shifts add up to the difference of its receiver and its origin, in any
//! order. In a step, each shift carries a limited number of blocks, and each block crosses at most
//! one link. Steps are therefore colours of the edges (the crossings) of a bipartite graph between
//! the blocks of one node and the shifts. By Kőnig's theorem (1916), as many colours are needed as
//! the largest number of edges at a vertex. If shortest paths load the shifts evenly, no schedule
//! has fewer steps.

use crate::orbits::Translations;
use std::collections::{HashMap, VecDeque};
use swapmeet_sdk::{Blocks, Route, Schedule, Set, Stop, Symmetry};

/// The largest number of links that the blocks of one node cross. To plan so many takes about ten
/// seconds.
const MAX_CROSSINGS: u64 = 10_000_000;
const MAX_COUNTS: usize = 1 << 26;

/// If a schedule is longer than this multiple of the lower bound, a search may find a shorter one.
const ACCEPTED_RATIO: f64 = 1.005;

const FREE: u32 = u32::MAX;

/// The schedule of an all-to-all, as the sends of one node.
pub(crate) struct Exchange {
    /// For each slot and step, the block that crosses a link, or [`FREE`]. Each shift has one slot
    /// for each block that it can carry in a step.
    slots: Vec<Vec<u32>>,
    shift_of_slot: Vec<usize>,
    steps: u32,
}

impl Exchange {
    /// Plans with at most `blocks_per_link` blocks per link and `ports` messages per node in a
    /// step. `None` if a search is needed instead, because
    /// - the network is too large for this method;
    /// - the schedule is too long ([`ACCEPTED_RATIO`]), which happens if shortest paths load links
    ///   unevenly;
    /// - or ports limit a step in which a link could carry several blocks.
    pub(crate) fn of(group: &Translations, blocks_per_link: u64, ports: u64) -> Option<Self> {
        let counts = shortest_paths(group)?;
        let shifts = group.shifts.len();
        let rows = || counts.chunks(shifts);
        let mut load = vec![0; shifts];
        for row in rows() {
            load.iter_mut().zip(row).for_each(|(load, count)| *load += u64::from(*count));
        }
        let crossings: u64 = load.iter().sum();
        let congestion = load.iter().copied().max().unwrap_or(0);
        let most = blocks_per_link.min(congestion).max(1);
        let ports = ports.min(shifts as u64).max(1);
        if crossings > MAX_CROSSINGS || (ports < shifts as u64 && most > 1) {
            return None;
        }
        let length = |row: &[u16]| row.iter().map(|count| u64::from(*count)).sum();
        let longest: u64 = rows().map(length).max().unwrap_or(0);
        let of_ports = if most == 1 { crossings.div_ceil(ports) } else { 0 };
        let least = longest.max(of_ports);
        let steps = congestion.div_ceil(most).max(least);
        let bound = least_congestion(group, &load).div_ceil(most).max(least);
        if steps as f64 > bound as f64 * ACCEPTED_RATIO {
            return None;
        }
        let shift_of_slot: Vec<usize> =
            (0..shifts).flat_map(|shift| (0..most).map(move |_| shift)).collect();
        let mut colouring = Colouring::new(shift_of_slot.len(), steps as usize);
        let mut next = vec![0; shifts];
        for (block, row) in (0..).zip(counts.chunks(shifts)) {
            for (shift, count) in row.iter().enumerate() {
                for _ in 0..*count {
                    let slot = shift * most as usize + next[shift] % most as usize;
                    next[shift] += 1;
                    colouring.add(block, slot);
                }
            }
        }
        // Dummy blocks occupy the links that must be unused in each step because of too few ports.
        let pauses = if most == 1 { shifts as u64 - ports } else { 0 };
        let unused = load.iter().enumerate().flat_map(|(slot, load)| {
            std::iter::repeat_n(slot, steps.saturating_sub(*load) as usize)
        });
        let nodes = (counts.len() / shifts) as u32;
        for (i, slot) in unused.take((pauses * steps) as usize).enumerate() {
            colouring.add(nodes + (i as u64 / steps) as u32, slot);
        }
        let mut slots = colouring.slots;
        for block in slots.iter_mut().flatten().filter(|block| **block >= nodes) {
            *block = FREE;
        }
        Some(Self { slots, shift_of_slot, steps: steps as u32 })
    }

    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    pub(crate) fn write_steps(
        &self,
        group: &Translations,
        dims: &[u64],
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        schedule.layout(dims, 1)?;
        let planned = schedule.symmetric(&vec![Symmetry::shift(1); group.axes()])?;
        let mut moved: Vec<u32> = vec![0; dims.iter().product::<u64>() as usize];
        for step in 0..self.steps as usize {
            schedule.step()?;
            let crossing = || {
                let slots = self.slots.iter().zip(&self.shift_of_slot);
                slots.map(move |(slot, shift)| (slot[step], group.shifts[*shift]))
            };
            let crossing = || crossing().filter(|(block, _)| *block != FREE);
            for from in &planned {
                for (block, shift) in crossing() {
                    let origin = group.subtract(from as u32, moved[block as usize]);
                    let blocks = Blocks::new(from, group.add(from as u32, shift).into())
                        .origins(Set::one(origin.into()))
                        .destinations(Set::one(group.add(origin, block).into()));
                    schedule.send(&blocks.strict())?;
                }
            }
            for (block, shift) in crossing() {
                moved[block as usize] = group.add(moved[block as usize], shift);
            }
        }
        Ok(())
    }

    pub(crate) fn write_routes(
        &self,
        group: &Translations,
        dims: &[u64],
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        schedule.layout(dims, 1)?;
        let planned = schedule.symmetric(&vec![Symmetry::shift(1); group.axes()])?;
        schedule.step()?;
        let mut paths: Vec<Vec<u32>> = vec![Vec::new(); group.nodes()];
        for step in 0..self.steps as usize {
            for (slot, shift) in self.slots.iter().zip(&self.shift_of_slot) {
                if slot[step] != FREE {
                    let path = &mut paths[slot[step] as usize];
                    let at = path.last().copied().unwrap_or(0);
                    path.push(group.add(at, group.shifts[*shift]));
                }
            }
        }
        let mut vertices: Vec<u64> = Vec::new();
        for from in &planned {
            for path in paths.iter().filter(|path| !path.is_empty()) {
                vertices.clear();
                vertices.extend(path.iter().map(|at| u64::from(group.add(from as u32, *at))));
                let to = vertices[vertices.len() - 1];
                let route = Route::path(&vertices);
                let blocks = Blocks::new(from, to).destinations(Set::one(to)).strict();
                schedule.send(&blocks.origins(Set::one(from)).route(&route))?;
            }
        }
        Ok(())
    }
}

/// Chooses a shortest path from node 0 to each node, so that the loads of the shifts differ little.
/// Returns, for each node, how often its path uses each shift; `None` if the table is too large.
fn shortest_paths(group: &Translations) -> Option<Vec<u16>> {
    /// The loads of all paths are known in the later rounds, but not in the first.
    const ROUNDS: u32 = 3;
    let (nodes, shifts) = (group.nodes(), group.shifts.len());
    if nodes * shifts > MAX_COUNTS {
        return None;
    }
    let distance = distances(group);
    let (mut counts, mut load) = (vec![0_u16; nodes * shifts], vec![0_u64; shifts]);
    for node in (0..ROUNDS).flat_map(|_| 1..nodes) {
        // Remove the last path of the node. Then walk from the node back to node 0, over the shifts
        // with the smallest loads.
        let row = &mut counts[node * shifts..][..shifts];
        load.iter_mut().zip(&*row).for_each(|(load, count)| *load -= u64::from(*count));
        row.fill(0);
        let mut at = node as u32;
        while at != 0 {
            let before = group.shifts.iter().map(|shift| group.subtract(at, *shift));
            let nearer = before
                .enumerate()
                .filter(|(_, before)| distance[*before as usize] < distance[at as usize]);
            let (shift, before) = nearer.min_by_key(|(shift, _)| load[*shift])?;
            load[shift] += 1;
            row[shift] += 1;
            at = before;
        }
    }
    Some(counts)
}

fn distances(group: &Translations) -> Vec<u32> {
    let mut distance = vec![u32::MAX; group.nodes()];
    distance[0] = 0;
    let mut waiting = VecDeque::from([0]);
    while let Some(node) = waiting.pop_front() {
        for shift in &group.shifts {
            let next = group.add(node, *shift);
            if distance[next as usize] == u32::MAX {
                distance[next as usize] = distance[node as usize] + 1;
                waiting.push_back(next);
            }
        }
    }
    distance
}

/// Returns a lower bound on the largest load of a shift. It is the mean load, because shortest
/// paths have the smallest total. If each shift moves along one axis, it is the largest of the
/// means of the axes, because every path crosses at least the links between the two coordinates.
fn least_congestion(group: &Translations, load: &[u64]) -> u64 {
    let axes: Option<Vec<usize>> = group.shifts.iter().map(|shift| group.axis(*shift)).collect();
    let axes = axes.unwrap_or_else(|| vec![0; load.len()]);
    let of_axis = |axis: usize| {
        let loads = axes.iter().zip(load).filter(|(of, _)| **of == axis).map(|(_, load)| load);
        loads.clone().sum::<u64>().div_ceil(loads.count().max(1) as u64)
    };
    (0..group.axes()).map(of_axis).max().unwrap_or(0)
}

/// Gives each crossing a step in which its block and its slot have no other crossing.
struct Colouring {
    /// For each slot and step, the block that crosses a link, or [`FREE`].
    slots: Vec<Vec<u32>>,
    slot_of: HashMap<(u32, u32), u32>,
    /// For each slot, all free steps, and perhaps steps that are no longer free.
    free: Vec<Vec<u32>>,
}

impl Colouring {
    fn new(slots: usize, steps: usize) -> Self {
        Self {
            slots: vec![vec![FREE; steps]; slots],
            slot_of: HashMap::new(),
            free: vec![(0..steps as u32).rev().collect(); slots],
        }
    }

    fn add(&mut self, block: u32, slot: usize) {
        const TRIED: usize = 4;
        let mut tried = Vec::new();
        while tried.len() < TRIED
            && let Some(step) = self.free[slot].pop()
        {
            if self.slots[slot][step as usize] != FREE {
                continue;
            }
            tried.push(step);
            if !self.slot_of.contains_key(&(block, step)) {
                break;
            }
        }
        let Some(&step) = tried.last() else { return };
        if self.slot_of.contains_key(&(block, step)) {
            self.exchange(block, step);
        } else {
            tried.pop();
        }
        self.free[slot].extend(tried);
        self.put(block, slot as u32, step);
    }

    /// Makes `step` free for a block. From the block, a path of crossings alternates between `step`
    /// and a step that is free for the block. Each crossing of the path changes to the other of the
    /// two steps.
    fn exchange(&mut self, block: u32, step: u32) {
        let steps = self.slots[0].len() as u32;
        let start = block.wrapping_mul(0x9e37_79b9) % steps;
        let Some(other) = (0..steps)
            .map(|i| (start + i) % steps)
            .find(|other| !self.slot_of.contains_key(&(block, *other)))
        else {
            return;
        };
        let (mut path, mut block) = (Vec::new(), block);
        while let Some(slot) = self.slot_of.remove(&(block, step)) {
            let of_slot = &mut self.slots[slot as usize];
            path.push((block, slot, other));
            of_slot[step as usize] = FREE;
            let next = std::mem::replace(&mut of_slot[other as usize], FREE);
            if next == FREE {
                self.free[slot as usize].push(step);
                break;
            }
            self.slot_of.remove(&(next, other));
            path.push((next, slot, step));
            block = next;
        }
        for (block, slot, to) in path {
            self.put(block, slot, to);
        }
    }

    fn put(&mut self, block: u32, slot: u32, step: u32) {
        self.slots[slot as usize][step as usize] = block;
        self.slot_of.insert((block, step), slot);
    }
}
