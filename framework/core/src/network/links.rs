//! The load of directed links in a step, which may have a single message or millions.
//!
//! Counting link by link would take as many operations as a message has hops, up to a hundred
//! thousand. So the runs of routes ([`Run`]) are counted instead. There are three counters:
//!
//! * `Intervals` sorts the first and last links of a few runs. It visits only loaded links, so it
//!   also works for networks with too many links for an array (`fully-connected:100000` has 10^10).
//! * `LineSums` counts many runs on topologies with [`Plane`]s, whose links form lines. It adds the
//!   amount of a run at its first link, subtracts it after its last link, and finally sums along
//!   the lines.
//! * `Counters` counts many runs on other topologies, with a counter for each link.
//!
//! [`LinkLoad`] starts each step with `Intervals`, and changes to another counter when it is
//! faster.

pub(crate) mod orbits;

use crate::network::topology::{Network, Plane, Run};
use std::ops::Range;
use std::sync::Arc;

/// The load of directed links in a step. It is exact if the sum of all amounts fits into 64 bits.
#[derive(Debug)]
pub struct LinkLoad {
    planes: Arc<[Plane]>,
    slots: u64,
    intervals: Intervals,
    /// If there are more runs than this, the loads are moved to the array.
    most_intervals: usize,
    array: Option<Array>,
    in_array: bool,
}

#[derive(Debug)]
enum Array {
    LineSums(LineSums),
    Counters(Counters),
}

trait Counter {
    fn clear(&mut self);
    fn max(&mut self) -> u64;
    fn for_each_loaded(&mut self, visit: &mut dyn FnMut(u64, u64));
}

impl LinkLoad {
    /// The number of links whose loads are summed in about the time in which one run is sorted.
    const LINKS_PER_RUN: u64 = 64;
    /// The maximum number of links for [`LineSums`]. So many links take 2 GiB. A two-dimensional
    /// torus of 2^26 nodes has as many.
    const MAX_SUMMED: u64 = 1 << 28;
    /// The maximum number of links for [`Counters`]. So many links take 512 MiB. A hypercube of 20
    /// dimensions has almost as many.
    const MAX_COUNTED: u64 = 1 << 25;
    /// The maximum number of links per node for [`Counters`]. With more links, most have no load in
    /// a step, and an array would waste memory.
    const MAX_COUNTED_A_NODE: u64 = 64;
    const FEW_LINKS: u64 = 1 << 20;

    /// Creates a counter for the links of `topology`.
    pub fn new(topology: &Network) -> Self {
        let (slots, planes) = (topology.link_slots(), Arc::from(topology.planes()));
        let most_counted =
            (topology.nodes() * Self::MAX_COUNTED_A_NODE).clamp(Self::FEW_LINKS, Self::MAX_COUNTED);
        let most_intervals = match topology.planes().is_empty() {
            true if slots <= most_counted => 0,
            false if slots <= Self::MAX_SUMMED => (slots / Self::LINKS_PER_RUN) as usize,
            _ => usize::MAX,
        };
        let intervals = Intervals::new(Arc::clone(&planes));
        Self { planes, slots, intervals, most_intervals, array: None, in_array: false }
    }

    /// Starts a step, without any load.
    pub fn begin(&mut self) {
        self.counter().clear();
        self.in_array = false;
    }

    /// Adds `amount` to the load of every link of a run, which must be part of a route on this
    /// topology.
    pub fn add(&mut self, run: Run, amount: u64) {
        match &mut self.array {
            Some(array) if self.in_array => array.add(run, amount),
            _ => {
                self.intervals.add(run, amount);
                if self.intervals.len() > self.most_intervals {
                    self.use_array();
                }
            }
        }
    }

    /// Returns the largest load of a link in this step.
    pub fn max(&mut self) -> u64 {
        self.choose();
        self.counter().max()
    }

    /// Calls `visit` with every link that has load, and with its load, in no particular order.
    pub fn for_each_loaded(&mut self, visit: &mut dyn FnMut(u64, u64)) {
        self.choose();
        self.counter().for_each_loaded(visit);
    }

    fn counter(&mut self) -> &mut dyn Counter {
        match &mut self.array {
            Some(Array::LineSums(sums)) if self.in_array => sums,
            Some(Array::Counters(counters)) if self.in_array => counters,
            _ => &mut self.intervals,
        }
    }

    /// Changes to line sums if summing over the planes of the runs is faster than sorting the runs.
    fn choose(&mut self) {
        if self.in_array || self.planes.is_empty() || self.slots > Self::MAX_SUMMED {
            return;
        }
        if self.intervals.links_in_planes() < self.intervals.len() as u64 * Self::LINKS_PER_RUN {
            self.use_array();
        }
    }

    fn use_array(&mut self) {
        let (planes, slots) = (&self.planes, self.slots as usize);
        let array = self.array.get_or_insert_with(|| match planes.is_empty() {
            true => Array::Counters(Counters::new(slots)),
            false => Array::LineSums(LineSums::new(Arc::clone(planes), slots)),
        });
        self.intervals.drain(|run, amount| array.add(run, amount));
        self.in_array = true;
    }
}

impl Array {
    #[inline]
    fn add(&mut self, run: Run, amount: u64) {
        match self {
            Self::LineSums(sums) => sums.add(run, amount),
            Self::Counters(counters) => counters.add(run, amount),
        }
    }
}

/// The runs of a step, each with the amount that it adds to the load of its links. On topologies
/// with planes, links are renumbered: those of a line get consecutive numbers, so that a run is an
/// interval.
#[derive(Debug)]
struct Intervals {
    planes: Arc<[Plane]>,
    runs: Vec<(Run, u64)>,
    /// Scratch memory. If there are planes, it has the renumbered links at which the load changes,
    /// each with the change modulo 2^64. Otherwise, it has the links of each run, each with the
    /// amount of the run.
    changes: Vec<(u64, u64)>,
}

impl Intervals {
    fn new(planes: Arc<[Plane]>) -> Self {
        Self { planes, runs: Vec::new(), changes: Vec::new() }
    }

    fn len(&self) -> usize {
        self.runs.len()
    }

    fn add(&mut self, run: Run, amount: u64) {
        self.runs.push((run, amount));
    }

    fn drain(&mut self, mut visit: impl FnMut(Run, u64)) {
        self.runs.drain(..).for_each(|(run, amount)| visit(run, amount));
    }

    fn links_in_planes(&self) -> u64 {
        let mut used = vec![false; self.planes.len()];
        self.runs.iter().for_each(|(run, _)| used[run.plane as usize] = true);
        self.planes.iter().zip(used).filter(|(_, used)| *used).map(|(p, _)| p.links()).sum()
    }

    /// Calls `visit` with each interval of renumbered links with the same load, and with this load.
    fn for_each_interval(&mut self, visit: &mut dyn FnMut(Range<u64>, u64)) {
        self.changes.clear();
        if self.planes.is_empty() {
            return self.for_each_link(visit);
        }
        for (run, amount) in &self.runs {
            let first = self.planes[run.plane as usize].renumber(run.first);
            self.changes.extend([(first, *amount), (first + run.len, amount.wrapping_neg())]);
        }
        self.changes.sort_unstable_by_key(|(at, _)| *at);
        let (mut load, mut first) = (0_u64, 0);
        for changes in self.changes.chunk_by(|a, b| a.0 == b.0) {
            let at = changes[0].0;
            if load > 0 {
                visit(first..at, load);
            }
            load = changes.iter().fold(load, |sum, (_, change)| sum.wrapping_add(*change));
            first = at;
        }
    }

    fn for_each_link(&mut self, visit: &mut dyn FnMut(Range<u64>, u64)) {
        for (run, amount) in &self.runs {
            self.changes.extend(run.links().map(|link| (link, *amount)));
        }
        self.changes.sort_unstable_by_key(|(link, _)| *link);
        for same in self.changes.chunk_by(|a, b| a.0 == b.0) {
            let link = same[0].0;
            let load = same.iter().fold(0_u64, |sum, (_, amount)| sum.saturating_add(*amount));
            if load > 0 {
                visit(link..link + 1, load);
            }
        }
    }
}

impl Counter for Intervals {
    fn clear(&mut self) {
        self.runs.clear();
    }

    fn max(&mut self) -> u64 {
        let mut max = 0;
        self.for_each_interval(&mut |_, load| max = max.max(load));
        max
    }

    fn for_each_loaded(&mut self, visit: &mut dyn FnMut(u64, u64)) {
        let planes = Arc::clone(&self.planes);
        self.for_each_interval(&mut |interval, load| {
            let plane = planes.iter().find(|p| p.range().contains(&interval.start));
            for number in interval {
                visit(plane.map_or(number, |plane| plane.number(number)), load);
            }
        });
    }
}

impl Plane {
    fn renumber(&self, link: u64) -> u64 {
        let at = link - self.offset;
        self.offset + at % self.stride * (self.outer * self.radix) + at / self.stride
    }

    fn number(&self, renumbered: u64) -> u64 {
        let (at, column) = (renumbered - self.offset, self.outer * self.radix);
        self.offset + at % column * self.stride + at / column
    }
}

/// For each link, the difference between its load and that of the previous link of its line. A run
/// changes only the entries of its first link and of the link after its last one, so the cost does
/// not depend on its length. No run continues beyond the end of its line, so one running sum is
/// enough for consecutive lines of a plane.
#[derive(Debug)]
struct LineSums {
    planes: Arc<[Plane]>,
    used: Vec<bool>,
    changes: Vec<u64>,
    /// Scratch memory for the running sums of the lines that are summed at the same time.
    sums: Vec<u64>,
    most: Vec<u64>,
}

impl LineSums {
    fn new(planes: Arc<[Plane]>, slots: usize) -> Self {
        let used = vec![false; planes.len()];
        Self { planes, used, changes: vec![0; slots], sums: Vec::new(), most: Vec::new() }
    }

    #[inline]
    fn add(&mut self, run: Run, amount: u64) {
        self.used[run.plane as usize] = true;
        let first = &mut self.changes[run.first as usize];
        *first = first.wrapping_add(amount);
        let after = run.first + run.len * run.stride;
        // If the run ends at the last link of its plane, no subtraction is needed.
        if after < self.planes[run.plane as usize].range().end {
            let after = &mut self.changes[after as usize];
            *after = after.wrapping_sub(amount);
        }
    }
}

impl Counter for LineSums {
    fn clear(&mut self) {
        for (plane, used) in self.planes.iter().zip(&mut self.used) {
            if std::mem::take(used) {
                self.changes[plane.indices()].fill(0);
            }
        }
    }

    fn max(&mut self) -> u64 {
        let mut max = 0;
        for plane in used(&self.planes, &self.used) {
            let changes = &self.changes[plane.indices()];
            if plane.stride == 1 {
                let mut sum = 0_u64;
                for change in changes {
                    sum = sum.wrapping_add(*change);
                    max = max.max(sum);
                }
                continue;
            }
            let stride = plane.stride as usize;
            for cells in [&mut self.sums, &mut self.most] {
                cells.clear();
                cells.resize(stride, 0);
            }
            for row in changes.chunks_exact(stride) {
                for ((sum, most), change) in self.sums.iter_mut().zip(&mut self.most).zip(row) {
                    *sum = sum.wrapping_add(*change);
                    *most = (*most).max(*sum);
                }
            }
            max = self.most.iter().copied().fold(max, u64::max);
        }
        max
    }

    fn for_each_loaded(&mut self, visit: &mut dyn FnMut(u64, u64)) {
        for plane in used(&self.planes, &self.used) {
            self.sums.clear();
            self.sums.resize(plane.stride as usize, 0);
            let mut links = plane.offset..;
            for row in self.changes[plane.indices()].chunks_exact(plane.stride as usize) {
                for ((sum, change), link) in self.sums.iter_mut().zip(row).zip(&mut links) {
                    *sum = sum.wrapping_add(*change);
                    if *sum > 0 {
                        visit(link, *sum);
                    }
                }
            }
        }
    }
}

impl Plane {
    fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.links()
    }

    fn indices(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.links()) as usize
    }
}

fn used<'a>(planes: &'a [Plane], touched: &'a [bool]) -> impl Iterator<Item = &'a Plane> {
    planes.iter().zip(touched).filter(|(_, touched)| **touched).map(|(plane, _)| plane)
}

/// A counter for each link. It is valid only in the step of its last change and otherwise counts as
/// 0, so clearing all counters takes no time.
#[derive(Debug)]
struct Counters {
    /// For each link, the last step in which it had load, and this load. The memory is zeroed by
    /// the system when it is first used.
    cells: Vec<(u64, u64)>,
    step: u64,
    max: u64,
}

impl Counters {
    fn new(slots: usize) -> Self {
        Self { cells: vec![(0, 0); slots], step: 1, max: 0 }
    }

    fn add(&mut self, run: Run, amount: u64) {
        for link in run.links() {
            let (step, load) = &mut self.cells[link as usize];
            *load = if *step == self.step { load.saturating_add(amount) } else { amount };
            *step = self.step;
            self.max = self.max.max(*load);
        }
    }
}

impl Counter for Counters {
    fn clear(&mut self) {
        self.step += 1;
        self.max = 0;
    }

    fn max(&mut self) -> u64 {
        self.max
    }

    fn for_each_loaded(&mut self, visit: &mut dyn FnMut(u64, u64)) {
        for (link, (step, load)) in (0..).zip(&self.cells) {
            if *step == self.step && *load > 0 {
                visit(link, *load);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::{Route, parse};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Plain = BTreeMap<u64, u64>;

    fn count(plain: &mut Plain, run: Run, amount: u64) {
        run.links().for_each(|link| *plain.entry(link).or_default() += amount);
    }

    fn loads(load: &mut LinkLoad) -> Plain {
        let mut found = Plain::new();
        load.for_each_loaded(&mut |link, amount| {
            assert_eq!(found.insert(link, amount), None, "link {link} is visited twice");
        });
        found
    }

    fn forced(topology: &Network, array: bool) -> LinkLoad {
        let mut load = LinkLoad::new(topology);
        load.most_intervals = if array { 0 } else { usize::MAX };
        load
    }

    fn networks() -> impl Strategy<Value = &'static str> {
        const NAMES: &[&str] = &[
            "torus:5x4",
            "mesh:3x4x2",
            "ring:7",
            "torus:2x1x3",
            "torus:16x16",
            "mesh:1",
            "hypercube:4",
            "fully-connected:9",
            "fat-tree:2x3",
            "rdn:1(torus:2x3)",
        ];
        prop::sample::select(NAMES)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

        #[test]
        fn every_counter_agrees_with_a_plain_count(
            spec in networks(),
            steps in prop::collection::vec(prop::collection::vec((0_u64..1000, 0_u64..1000, 1_u64..9), 0..60), 1..4),
        ) {
            let topology = parse(spec).unwrap();
            let n = topology.nodes();
            let all = [LinkLoad::new(topology.as_ref()), forced(topology.as_ref(), true), forced(topology.as_ref(), false)];
            for mut load in all {
                for messages in &steps {
                    let mut plain = Plain::new();
                    load.begin();
                    for (from, to, amount) in messages {
                        let mut visit = |run: Run| {
                            load.add(run, *amount);
                            count(&mut plain, run, *amount);
                        };
                        topology.route(from % n, to % n, None, &mut visit).unwrap();
                    }
                    prop_assert_eq!(load.max(), plain.values().copied().max().unwrap_or(0));
                    prop_assert_eq!(loads(&mut load), plain);
                }
            }
        }

        #[test]
        fn the_maximum_can_be_requested_during_a_step(spec in networks(), messages in prop::collection::vec((0_u64..1000, 0_u64..1000), 1..30)) {
            let topology = parse(spec).unwrap();
            let n = topology.nodes();
            let (mut load, mut plain) = (LinkLoad::new(topology.as_ref()), Plain::new());
            load.begin();
            for (from, to) in messages {
                let mut visit = |run: Run| {
                    load.add(run, 1);
                    count(&mut plain, run, 1);
                };
                topology.route(from % n, to % n, None, &mut visit).unwrap();
                prop_assert_eq!(load.max(), plain.values().copied().max().unwrap_or(0));
            }
        }
    }

    /// Each message has 4 hops. If all messages take the same direction, four of them share each
    /// link. If both directions are used, two of them share each link.
    #[test]
    fn using_both_directions_of_a_ring_halves_the_load() {
        let ring = parse("ring:8").unwrap();
        let minus = Route { signs: vec![-1], ..Route::default() };
        let mut load = LinkLoad::new(ring.as_ref());
        for (odd_ones, expected) in [(None, 4), (Some(&minus), 2)] {
            load.begin();
            for from in 0..8 {
                let route = odd_ones.filter(|_| from % 2 == 1);
                ring.route(from, (from + 4) % 8, route, &mut |run| load.add(run, 1)).unwrap();
            }
            assert_eq!(load.max(), expected);
        }
    }

    #[test]
    fn few_long_messages_use_no_array() {
        let ring = parse("ring:1000000").unwrap();
        let mut load = LinkLoad::new(ring.as_ref());
        load.begin();
        for from in [0, 200_000, 900_000] {
            ring.route(from, (from + 300_000) % 1_000_000, None, &mut |run| load.add(run, 1))
                .unwrap();
        }
        assert_eq!(load.max(), 2);
        assert!(load.array.is_none());
    }

    #[test]
    fn many_messages_use_the_array() {
        let mesh = parse("mesh:64x64").unwrap();
        let mut load = LinkLoad::new(mesh.as_ref());
        load.begin();
        for from in 0..4096 {
            mesh.route(from, (from + 77) % 4096, None, &mut |run| load.add(run, 1)).unwrap();
        }
        assert_eq!(load.intervals.len(), 0);
        assert!(matches!(load.array, Some(Array::LineSums(_))));
    }

    #[test]
    fn networks_with_too_many_links_use_no_array() {
        for spec in ["fully-connected:100000", "hypercube:31", "torus:32768x65536"] {
            let topology = parse(spec).unwrap();
            let mut load = LinkLoad::new(topology.as_ref());
            load.begin();
            for from in [1, 2, 3, 3] {
                topology
                    .route(from, topology.nodes() - 1, None, &mut |run| load.add(run, 5))
                    .unwrap();
            }
            assert!(load.max() >= 10, "{spec}");
            assert!(load.array.is_none(), "{spec}");
        }
    }

    #[test]
    fn loads_up_to_64_bits_are_exact() {
        let ring = parse("ring:4").unwrap();
        for array in [true, false] {
            let mut load = forced(ring.as_ref(), array);
            load.begin();
            for (from, amount) in [(0, u64::MAX - 10), (1, 10)] {
                ring.route(from, 2, None, &mut |run| load.add(run, amount)).unwrap();
            }
            assert_eq!(load.max(), u64::MAX);
        }
    }
}
