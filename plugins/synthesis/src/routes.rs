//! Finds a path for each piece of data. At first, paths are random, in proportion to the source's
//! flow. Then pieces move to cheaper paths, so that the largest load of a resource becomes smaller.

use crate::Deadline;
use crate::demand::Demand;
use crate::network::LinkGraph;
use crate::resources::{LONGEST, Resources};
use swapmeet_flows::Random;
use swapmeet_flows::{Column, Links, ShortestPaths, Solution, fast_exp};

/// The number of pieces that the slowest link carries in a step, if blocks differ in size and are
/// large enough.
const PIECES_PER_STEP: u64 = 4;
/// The number of entries of a table of prices for equally spaced loads. A table is larger if it
/// would have fewer than two entries for each step.
const TABLE: u32 = 1 << 14;
const ROUNDS: u32 = 14;

/// Consecutive segments of one block on the same path.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub source: u32,
    pub target: u32,
    pub first_segment: u32,
    pub segments: u32,
    pub size: u32,
}

impl Piece {
    pub(crate) fn load(&self) -> u64 {
        u64::from(self.segments) * u64::from(self.size)
    }
}

#[derive(Clone)]
pub(crate) struct Routed {
    pub pieces: Vec<Piece>,
    pub paths: Paths,
    pub congestion: f64,
}

/// The links of all paths, one path after another. With a vector for each path, half of all reads
/// were slower.
#[derive(Clone, Default)]
pub(crate) struct Paths {
    pub links: Vec<u32>,
    /// The index in `links` after the last link of each path.
    ends: Vec<usize>,
}

impl Paths {
    fn set(&mut self, paths: &[Box<[u32]>]) {
        self.links.clear();
        self.ends.clear();
        self.links.reserve_exact(paths.iter().map(|path| path.len()).sum());
        for path in paths {
            self.links.extend_from_slice(path);
            self.ends.push(self.links.len());
        }
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| start..*end)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.ranges().map(|range| &self.links[range])
    }
}

/// Returns the pieces in the order of their sources, with the end of each source's range.
fn pieces_of(demand: &Demand) -> (Vec<Piece>, Vec<usize>) {
    let (mut pieces, mut ends) = (Vec::new(), Vec::new());
    for (&source, row) in demand.sources.iter().zip(&demand.rows) {
        for &(target, size) in row {
            let most = demand.quota / PIECES_PER_STEP / u64::from(size.max(1));
            let most = match size {
                0 => demand.segments,
                _ => most.clamp(1, demand.segments.into()) as u32,
            };
            let most = if demand.counts_blocks { 1 } else { most };
            let mut first_segment = 0;
            while first_segment < demand.segments {
                let segments = most.min(demand.segments - first_segment);
                pieces.push(Piece { source, target, first_segment, segments, size });
                first_segment += segments;
            }
        }
        ends.push(pieces.len());
    }
    (pieces, ends)
}

/// Draws a path by a random walk from the target back to the source, with probabilities in
/// proportion to the flow. Returns whether it has reached the source.
fn walk_back(
    network: &LinkGraph,
    (into, of_link): (&Links, &[u32]),
    (source, target): (u32, u32),
    flow: &[f32],
    random: &mut Random,
    path: &mut Vec<u32>,
) -> bool {
    path.clear();
    let mut at = target;
    while at != source {
        let candidates = || {
            let links = into.out(at as usize).map(|back| of_link[back] as usize);
            links.filter(|link| flow[*link] > 0.0)
        };
        let all: f32 = candidates().map(|link| flow[link]).sum();
        let mut left = random.fraction() * all;
        let mut chosen = None;
        for link in candidates() {
            chosen = Some(link);
            left -= flow[link];
            if left < 0.0 {
                break;
            }
        }
        let Some(link) = chosen else { return false };
        at = network.links.tail[link];
        match path.iter().position(|link: &u32| network.links.head[*link as usize] == at) {
            Some(again) => path.truncate(again),
            None => path.push(link as u32),
        }
    }
    path.reverse();
    true
}

pub(crate) fn route(
    network: &LinkGraph,
    resources: &Resources,
    demand: &Demand,
    flow: &Solution,
    random: &mut Random,
    deadline: Deadline,
) -> Routed {
    let (pieces, ends) = pieces_of(demand);
    let mut router = Router {
        network,
        resources,
        load: vec![0.0; resources.count],
        price: vec![0.0; resources.count],
        whole: vec![0; resources.count],
        length: vec![1; network.links.count()],
        shortest: ShortestPaths::new(network.links.vertices(), LONGEST),
        target: flow.lower.ceil().max(1.0) as f32,
        table: Vec::new(),
        per_step: 1.0,
    };
    let drawn = router.draw(&pieces, &ends, demand, flow, random);
    let mut routed = Routed { pieces, paths: Paths::default(), congestion: router.congestion() };
    routed.paths.set(&drawn);
    router.improve(&mut routed, drawn, &ends, demand, random, deadline);
    routed
}

struct Router<'a> {
    network: &'a LinkGraph,
    resources: &'a Resources,
    load: Vec<f32>,
    price: Vec<f32>,
    whole: Vec<u32>,
    length: Vec<u32>,
    shortest: ShortestPaths,
    target: f32,
    /// The prices of a resource for loads from 0 on. A load of one step has `per_step` entries.
    table: Vec<f32>,
    per_step: f32,
}

impl Router<'_> {
    fn draw(
        &mut self,
        pieces: &[Piece],
        ends: &[usize],
        demand: &Demand,
        flow: &Solution,
        random: &mut Random,
    ) -> Vec<Box<[u32]>> {
        let (network, links) = (self.network, self.network.links.count());
        let (into, of_link) = network.links.reversed();
        let mut paths: Vec<Box<[u32]>> = Vec::with_capacity(pieces.len());
        let mut path = Vec::new();
        for (index, (&source, &end)) in demand.sources.iter().zip(ends).enumerate() {
            let flow = &flow.flows[index * links..(index + 1) * links];
            // Pieces without bytes have no flow. They take a path with the fewest links.
            if demand.rows[index].iter().any(|(_, size)| *size == 0) {
                self.length.fill(1);
                self.shortest.find(&network.links, &self.length, source);
            }
            while paths.len() < end {
                let piece = &pieces[paths.len()];
                if piece.size == 0 {
                    self.shortest.path_to(&network.links, piece.target, &mut path);
                    paths.push(path.as_slice().into());
                    continue;
                }
                if !walk_back(
                    network,
                    (&into, &of_link),
                    (source, piece.target),
                    flow,
                    random,
                    &mut path,
                ) {
                    // Because of rounding errors, there may be no flow to the target.
                    self.length.fill(1);
                    self.shortest.find(&network.links, &self.length, source);
                    self.shortest.path_to(&network.links, piece.target, &mut path);
                }
                self.add(&path, piece.load() as f32);
                paths.push(path.as_slice().into());
            }
        }
        paths
    }

    /// Improves the paths, starting from `current`. The paths of the round with the least
    /// congestion are kept in `routed`.
    fn improve(
        &mut self,
        routed: &mut Routed,
        mut current: Vec<Box<[u32]>>,
        ends: &[usize],
        demand: &Demand,
        random: &mut Random,
        deadline: Deadline,
    ) {
        let mut order: Vec<usize> = (0..ends.len()).collect();
        let mut path = Vec::new();
        for round in 0..ROUNDS {
            if routed.congestion <= f64::from(self.target) || deadline.has_passed() {
                break;
            }
            // In each round, prices become steeper, because only the largest load matters in the
            // end.
            random.shuffle(&mut order);
            let steepness = 8.0 + 60.0 * round as f32 / ROUNDS as f32;
            self.set_table(steepness / self.target.max(30.0));
            let mut moved = false;
            for &index in &order {
                let start = if index == 0 { 0 } else { ends[index - 1] };
                self.find_tree(demand.sources[index]);
                let range = start..ends[index];
                let pieces = routed.pieces[range.clone()].iter().zip(&mut current[range]);
                for (piece, kept) in pieces {
                    if piece.size == 0 {
                        continue;
                    }
                    self.shortest.path_to(&self.network.links, piece.target, &mut path);
                    if path[..] == kept[..] {
                        continue;
                    }
                    let load = piece.load() as f32;
                    self.add(kept, -load);
                    if self.price_of(&path, load) < self.price_of(kept, load) * 0.9999 {
                        *kept = path.as_slice().into();
                        moved = true;
                    }
                    self.add(kept, load);
                }
            }
            let congestion = self.congestion();
            if congestion < routed.congestion {
                routed.congestion = congestion;
                routed.paths.set(&current);
            }
            if !moved {
                break;
            }
        }
    }

    fn find_tree(&mut self, source: u32) {
        for resource in 0..self.price.len() {
            self.price[resource] = self.price_at(self.load[resource] + 1.0);
        }
        self.resources.set_lengths(&self.price, &mut self.whole, &mut self.length);
        self.shortest.find(&self.network.links, &self.length, source);
    }

    /// Sets the table of prices, which rise exponentially and exceed 1 for loads above the target.
    fn set_table(&mut self, steepness: f32) {
        let most = 2.0 * self.target + 64.0;
        self.per_step = (TABLE as f32 / most).max(2.0);
        let load = |entry: u32| entry as f32 / self.per_step;
        let exponent = |entry| ((load(entry) - self.target) * steepness).min(40.0);
        let entries = 0..(most * self.per_step) as u32;
        self.table = entries.map(|entry| fast_exp(exponent(entry)) + 1e-4).collect();
    }

    fn price_at(&self, load: f32) -> f32 {
        self.table[((load * self.per_step + 0.5) as usize).min(self.table.len() - 1)]
    }

    /// Returns the sum of the prices on a path, if a piece of size `load` were added to it.
    fn price_of(&self, path: &[u32], load: f32) -> f32 {
        let of_link = |link: u32, column: &Column| {
            let link = link as usize;
            let (resource, steps) = (column.resource[link], column.weight[link] as f32);
            self.price_at(self.load[resource as usize] + load * steps) * steps
        };
        self.resources
            .columns
            .iter()
            .map(|column| path.iter().map(|link| of_link(*link, column)).sum::<f32>())
            .sum()
    }

    fn add(&mut self, path: &[u32], load: f32) {
        for column in &self.resources.columns {
            for &link in path {
                self.load[column.resource[link as usize] as usize] +=
                    load * column.weight[link as usize] as f32;
            }
        }
    }

    fn congestion(&self) -> f64 {
        self.load.iter().copied().fold(0.0, f32::max).into()
    }
}
