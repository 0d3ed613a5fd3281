//! Time-space records, which show how each rank spends its time, step by step.
//!
//! An entry has four times of a rank: when it entered a step, when it had made all sends of the
//! step, when it had waited for its peers, and when it ended the step. It also has the time that
//! the rank spent on each [`Kind`] between the first and the last of these times. A record is made
//! only on request ([`super::Evaluator::record_time_space`]).
//!
//! The number of entries is limited. If a schedule has too many steps, 2, 4, 8, etc. neighbouring
//! steps of a rank share an entry ([`TimeSpace::steps_per_entry`]). The total time of each kind
//! stays the same.
//!
//! Each charge begins when the previous charge of the rank ends, so the kinds of time of a rank add
//! up to the time at which the rank ends. Only the clock of a rank (`RankClock`) charges time, and
//! does so whenever it advances. So the record and the clocks cannot disagree.

use super::clock::{Clock, Ticks, Time};
use crate::cost::kind::{Kind, Times};
use std::ops::Deref;

/// The time of a rank in one or more consecutive steps. All times are in µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The number of the first step, from 1. Steps without messages do not count.
    pub first_step: u64,
    /// The number of the last step.
    pub last_step: u64,
    /// The time at which the rank entered the step and posted its receives. With `order=data`, the
    /// time at which it had made all sends of the previous steps.
    pub posted: f64,
    /// The time at which the rank had made all sends of the step.
    pub started: f64,
    /// The end of the rank's last wait for a peer. If all waits ended before `started`, it is
    /// `started`.
    pub waited: f64,
    /// The time at which the rank ended the step and the barrier after it.
    pub ended: f64,
    /// The time of each kind between `posted` and `ended`.
    pub kinds: Times,
}

/// A time-space record with a limited number of entries.
#[derive(Debug, Clone)]
pub struct TimeSpace {
    only: Option<usize>,
    max_entries: usize,
    ranks: Vec<Vec<Entry>>,
    entries: usize,
    /// The binary logarithm of the steps per entry.
    doublings: u32,
}

impl TimeSpace {
    /// Creates a record of all ranks or of one, with at most `max_entries` entries, but at least
    /// one for each rank.
    pub fn new(ranks: u64, only: Option<u64>, max_entries: usize) -> Self {
        let ranks = vec![Vec::new(); ranks as usize];
        let max_entries = max_entries.max(ranks.len());
        Self { only: only.map(|rank| rank as usize), max_entries, ranks, entries: 0, doublings: 0 }
    }

    /// Returns the entries of a rank in the order of time.
    pub fn entries(&self, rank: usize) -> &[Entry] {
        self.ranks.get(rank).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// Returns the number of steps of an entry, including those in which the rank has no messages.
    pub fn steps_per_entry(&self) -> u64 {
        1_u64.checked_shl(self.doublings).unwrap_or(u64::MAX)
    }

    fn follows(&self, rank: usize) -> bool {
        self.only.is_none_or(|only| only == rank)
    }

    /// Begins an entry for a step (from 0), or extends the last entry if the step belongs to it.
    #[cold]
    pub(super) fn enter(&mut self, rank: usize, step: u64) {
        let (step, doublings) = (step + 1, self.doublings);
        if !self.follows(rank) {
            return;
        }
        let entries = &mut self.ranks[rank];
        let now = entries.last().map_or(0.0, |entry| entry.ended);
        if let Some(last) = entries.last_mut() {
            if last.last_step >= step {
                return;
            }
            if bucket(last.first_step, doublings) == bucket(step, doublings) {
                last.last_step = step;
                return;
            }
            if last.posted == last.ended {
                entries.pop();
                self.entries -= 1;
            }
        }
        entries.push(Entry {
            first_step: step,
            last_step: step,
            posted: now,
            started: now,
            waited: now,
            ended: now,
            kinds: Times::default(),
        });
        self.entries += 1;
        while self.entries > self.max_entries {
            self.coarsen();
        }
    }

    /// Charges the time from the end of the rank's previous charge until `until` (in µs) to `kind`.
    #[cold]
    fn charge(&mut self, rank: usize, kind: Kind, until: f64) {
        if !self.follows(rank) {
            return;
        }
        if self.ranks[rank].is_empty() {
            self.enter(rank, 0);
        }
        let Some(entry) = self.ranks[rank].last_mut().filter(|entry| until > entry.ended) else {
            return;
        };
        entry.kinds[kind] += until - entry.ended;
        entry.ended = until;
        if kind == Kind::Peer {
            entry.waited = until;
        }
    }

    pub(super) fn sent(&mut self, rank: usize) {
        if let Some(entry) = self.ranks[rank].last_mut() {
            (entry.started, entry.waited) = (entry.ended, entry.ended);
        }
    }

    pub(super) fn charged_until(&self, rank: usize) -> f64 {
        self.entries(rank).last().map_or(0.0, |entry| entry.ended)
    }

    pub(super) fn finish(mut self) -> Self {
        for entries in &mut self.ranks {
            entries.pop_if(|last| last.posted == last.ended);
        }
        self
    }

    pub(super) fn only(&self) -> Option<usize> {
        self.only
    }

    /// Replaces the ranks of a folded simulation. Each new rank copies the entries of an old rank,
    /// which is given by `of`. If `only` is set, only this new rank is recorded.
    pub(super) fn remap(&mut self, of: &[usize], only: Option<usize>) {
        let entries = |(rank, old): (usize, &usize)| match only {
            Some(only) if only != rank => Vec::new(),
            Some(_) | None => self.ranks[*old].clone(),
        };
        self.ranks = of.iter().enumerate().map(entries).collect();
        (self.only, self.max_entries) = (only, self.max_entries.max(self.ranks.len()));
        self.entries = self.ranks.iter().map(Vec::len).sum();
        while self.entries > self.max_entries {
            self.coarsen();
        }
    }

    fn coarsen(&mut self) {
        self.doublings += 1;
        let doublings = self.doublings;
        for entries in &mut self.ranks {
            entries.dedup_by(|later, earlier| {
                let joined =
                    bucket(later.first_step, doublings) == bucket(earlier.first_step, doublings);
                if joined {
                    let mut kinds = earlier.kinds;
                    kinds += later.kinds;
                    *earlier = Entry {
                        first_step: earlier.first_step,
                        posted: earlier.posted,
                        kinds,
                        ..*later
                    };
                }
                joined
            });
        }
        self.entries = self.ranks.iter().map(Vec::len).sum();
    }
}

/// The clock of a rank, or of one of its simultaneous tasks. All of these charge time to the rank.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RankClock<T: Time = Ticks>(Clock<T>);

impl<T: Time> Deref for RankClock<T> {
    type Target = Clock<T>;

    fn deref(&self) -> &Clock<T> {
        &self.0
    }
}

impl<T: Time> RankClock<T> {
    pub(super) fn beginning(start: Clock<T>) -> Self {
        Self(start)
    }

    pub(super) fn spend(&mut self, kind: Kind, ticks: T, line: &mut TimeLine<'_>) {
        self.follow(self.0.after(kind, ticks), [], kind, line);
    }

    pub(super) fn wait_until(&mut self, at: T, kind: Kind, line: &mut TimeLine<'_>) {
        if at > self.0.at() {
            self.spend(kind, at - self.0.at(), line);
        }
    }

    /// Sets this clock, with its critical path, to `to`, which can be the clock of an awaited
    /// message. If there is a time-space record, it gets the wait as `phases` (kinds with their ends
    /// in µs), and then a phase of the kind `last` until `to`.
    pub(super) fn follow(
        &mut self,
        to: Clock<T>,
        phases: impl IntoIterator<Item = (Kind, f64)>,
        last: Kind,
        line: &mut TimeLine<'_>,
    ) {
        assert!(self.0.at() <= to.at(), "the clock of a rank goes back");
        self.0 = to;
        if let Some(record) = &mut line.record {
            let phases = phases.into_iter().chain([(last, to.us())]);
            phases.for_each(|(kind, us)| record.charge(line.rank, kind, us + line.offset_us));
        }
    }
}

#[derive(Debug)]
pub(super) struct TimeLine<'a> {
    record: Option<&'a mut TimeSpace>,
    rank: usize,
    offset_us: f64,
}

impl<'a> TimeLine<'a> {
    pub(super) fn new(record: Option<&'a mut TimeSpace>, rank: usize, offset_us: f64) -> Self {
        Self { record, rank, offset_us }
    }

    pub(super) fn of(record: &'a mut Option<Box<TimeSpace>>, rank: usize) -> Self {
        Self::new(record.as_deref_mut(), rank, 0.0)
    }

    pub(super) fn sent(&mut self) {
        if let Some(record) = &mut self.record {
            record.sent(self.rank);
        }
    }
}

fn bucket(step: u64, doublings: u32) -> u64 {
    (step - 1).checked_shr(doublings).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::model::test_steps::{Sends, time_space_of};

    fn rounded(record: &TimeSpace, rank: usize) -> Vec<([f64; 4], [f64; Kind::ALL.len()])> {
        let round = |us: f64| (us * 1e6).round() / 1e6;
        let moments = |e: &Entry| [e.posted, e.started, e.waited, e.ended].map(round);
        record
            .entries(rank)
            .iter()
            .map(|entry| (moments(entry), entry.kinds.0.map(round)))
            .collect()
    }

    fn ring(nodes: u32, bytes: u64) -> Sends {
        (1..nodes)
            .map(|step| {
                (0..nodes).map(|rank| (rank, (rank + 1) % nodes, bytes, step - 1)).collect()
            })
            .collect()
    }

    /// A start-up takes 3 µs, the latency is 2 µs, a byte takes 0.5 µs.
    #[test]
    fn fluid_has_the_closed_form_of_a_chain() {
        let chain = vec![vec![(0, 1, 100, 0)], vec![(1, 2, 100, 1)]];
        let (machine, topology) =
            ("free:model=fluid,startup_us=3,hop_us=2,byte_us=0.5", "fully-connected:3");
        let message = |startup: f64, peer: f64| [startup, 50.0, 2.0, 0.0, 0.0, 0.0, 0.0, peer];
        let (_, record) = time_space_of(topology, machine, &chain);
        assert_eq!(rounded(&record, 0), [([0.0, 3.0, 3.0, 55.0], message(3.0, 0.0))]);
        let [first, second] = [
            ([0.0, 0.0, 3.0, 55.0], message(0.0, 3.0)),
            ([55.0, 58.0, 58.0, 110.0], message(3.0, 0.0)),
        ];
        assert_eq!(rounded(&record, 1), [first, second]);
        assert_eq!(rounded(&record, 2), [([0.0, 0.0, 58.0, 110.0], message(0.0, 58.0))]);
    }

    #[test]
    fn fluid_separates_contention_from_transmission() {
        let incast = vec![vec![(0, 1, 100, 0), (2, 1, 100, 0)]];
        let (_, record) = time_space_of(
            "fully-connected:3",
            "free:model=fluid,injection_byte_us=0.5,byte_us=0.1",
            &incast,
        );
        let shared = [([0.0, 0.0, 0.0, 100.0], [0.0, 50.0, 0.0, 0.0, 0.0, 50.0, 0.0, 0.0])];
        for rank in 0..3 {
            assert_eq!(rounded(&record, rank), shared, "{rank}");
        }
    }

    /// The parameters are o = 2 µs, L = 8 µs, and G = 0.5 µs for each byte after the first.
    #[test]
    fn loggp_has_the_closed_form_of_a_chain() {
        let chain = vec![vec![(0, 1, 100, 0)], vec![(1, 2, 100, 1)]];
        let machine = "free:model=loggp,latency_us=8,overhead_us=2,byte_us=0.5";
        let (_, record) = time_space_of("fully-connected:3", machine, &chain);
        assert_eq!(
            rounded(&record, 0),
            [([0.0, 2.0, 2.0, 2.0], [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])]
        );
        let took = |startup: f64, peer: f64| [startup, 49.5, 8.0, 0.0, 0.0, 0.0, 0.0, peer];
        let one = [
            ([0.0, 0.0, 2.0, 61.5], took(2.0, 2.0)),
            ([61.5, 63.5, 63.5, 63.5], [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ];
        assert_eq!(rounded(&record, 1), one);
        assert_eq!(rounded(&record, 2), [([0.0, 0.0, 63.5, 123.0], took(2.0, 63.5))]);
    }

    #[test]
    fn a_rendezvous_message_waits_for_its_match() {
        let steps = vec![vec![(1, 2, 1, 0)], vec![(0, 1, 100, 0)]];
        let machine = "free:model=loggp,overhead_us=2,byte_us=0.5,rendezvous_bytes=50,barrier_us=0";
        let (_, record) = time_space_of("fully-connected:3", machine, &steps);
        let [(moments, kinds)] = rounded(&record, 0)[..] else {
            panic!("{:?}", rounded(&record, 0))
        };
        assert_eq!((moments[1], kinds[Kind::Startup as usize]), (2.0, 2.0));
        assert_eq!(moments[2], moments[3], "it ends when the message is matched");
    }

    #[test]
    fn the_time_of_a_barrier_is_separate_from_waiting_at_it() {
        for model in ["loggp", "fluid"] {
            let steps = vec![vec![(0, 1, 101, 0)], vec![(0, 1, 101, 0)]];
            let machine = format!("free:model={model},byte_us=1,barrier_us=7");
            let (_, record) = time_space_of("fully-connected:3", &machine, &steps);
            let idle = record.entries(2)[0];
            let all: f64 = idle.kinds.total();
            let (barrier, peer) = (idle.kinds[Kind::Barrier], idle.kinds[Kind::Peer]);
            assert!(barrier > 6.9 && (all - barrier - peer).abs() < 1e-9, "{model}: {idle:?}");
        }
    }

    /// Two ranks exchange 100 bytes. Each first rearranges its data in 10 µs. A start-up takes 3 µs
    /// and copying 25 µs, each at both ends, and transmission takes 50 µs. In nonblocking mode, an
    /// engine copies while the processor waits.
    #[test]
    fn flat_has_the_closed_form_of_an_exchange() {
        let exchange = vec![vec![(0, 1, 100, 0), (1, 0, 100, 0)]];
        let machine =
            "free:model=flat,startup_us=6,byte_us=0.5,copy_byte_us=0.5,rearrange_byte_us=0.1";
        let kinds = |transmission: f64| [6.0, transmission, 0.0, 10.0, 0.0, 0.0, 0.0, 0.0];
        let (cost, record) = time_space_of("fully-connected:2", machine, &exchange);
        assert_eq!(rounded(&record, 0), [([0.0, 88.0, 88.0, 116.0], kinds(100.0))]);
        assert_eq!((rounded(&record, 1), cost.parts.total()), (rounded(&record, 0), 116.0));
        let (cost, record) =
            time_space_of("fully-connected:2", &format!("{machine},mode=nonblocking"), &exchange);
        assert_eq!(rounded(&record, 0), [([0.0, 13.0, 13.0, 116.0], kinds(100.0))]);
        assert_eq!((rounded(&record, 1), cost.parts.total()), (rounded(&record, 0), 116.0));
    }

    #[test]
    fn kinds_of_time_add_up_to_the_end_of_each_rank() {
        let uneven: Sends = (1..8)
            .map(|step| {
                let to = |rank: u32| (rank * 3 + step) % 8;
                let send = |rank: u32| (rank, to(rank), 17 * u64::from(rank * step) + 1, step - 1);
                (0..8)
                    .filter(|rank| to(*rank) != *rank && (rank + step) % 5 != 0)
                    .map(send)
                    .collect()
            })
            .collect();
        let machines = [
            "model=fluid,startup_us=3,hop_us=2,byte_us=0.5",
            "model=fluid,startup_us=3,hop_us=2,byte_us=0.5,injection_byte_us=0.25,noise=0.3",
            "model=fluid,startup_us=3,hop_us=2,byte_us=0.5,barrier_us=4",
            "model=fluid,hop_us=2,byte_us=0.5,order=barrier",
            "model=fluid,startup_us=3,hop_us=2,byte_us=0.5,order=data",
            "model=fluid,hop_us=2,byte_us=0.5,order=data,ports=all",
            "model=loggp,latency_us=8,overhead_us=2,gap_us=3,byte_us=0.5,overhead_byte_us=0.1",
            "model=loggp,latency_us=8,overhead_us=2,gap_us=3,byte_us=0.5,rendezvous_bytes=100",
            "model=loggp,latency_us=8,overhead_us=2,byte_us=0.5,barrier_us=4,noise=0.3",
            "model=loggp,latency_us=8,overhead_us=2,gap_us=3,byte_us=0.5,order=data",
            "model=loggp,latency_us=8,overhead_us=2,byte_us=0.5,order=data,rendezvous_bytes=100",
            "model=flat,startup_us=6,byte_us=0.5,copy_byte_us=0.2,rearrange_byte_us=0.1,barrier_us=4",
            "model=flat,startup_us=6,byte_us=0.5,copy_byte_us=0.2,rearrange_byte_us=0.1,mode=nonblocking",
            "model=flat,startup_us=6,byte_us=0.5,copy_byte_us=0.2,rearrange_byte_us=0.1,mode=nonblocking,buffers=2",
        ];
        for steps in [&ring(8, 100), &uneven] {
            for machine in machines {
                let (cost, record) = time_space_of("torus:2x4", &format!("free:{machine}"), steps);
                let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1.0) + 0.02;
                let mut last = 0.0_f64;
                for rank in 0..record.ranks() {
                    let mut at = 0.0;
                    for entry in record.entries(rank) {
                        assert_eq!(entry.posted, at, "{machine}: rank {rank}");
                        assert!(
                            entry.posted <= entry.started && entry.started <= entry.waited,
                            "{entry:?}"
                        );
                        assert!(
                            entry.waited <= entry.ended
                                && entry.kinds.0.iter().all(|us| *us >= 0.0),
                            "{entry:?}"
                        );
                        at = entry.ended;
                    }
                    let sum: f64 =
                        record.entries(rank).iter().flat_map(|entry| entry.kinds.0).sum();
                    assert!((sum - at).abs() < 1e-6, "{machine}: rank {rank}: {sum} {at}");
                    last = last.max(at);
                }
                let ends = (0..record.ranks()).map(|rank| record.charged_until(rank));
                let mean = ends.sum::<f64>() / record.ranks() as f64;
                assert!(
                    close(last, cost.parts.total()),
                    "{machine}: {last} {}",
                    cost.parts.total()
                );
                let known = cost.ranks.map_or(mean, |ranks| ranks.mean);
                assert!((mean - known).abs() < 1e-6, "{machine}: {mean} {known}");
            }
        }
    }

    #[test]
    fn long_schedules_are_recorded_more_coarsely() {
        let mut record = TimeSpace::new(2, None, 8);
        for step in 0..100 {
            record.enter(0, step);
            record.charge(0, Kind::Startup, step as f64 + 0.5);
            record.sent(0);
            record.charge(0, Kind::Peer, step as f64 + 1.0);
        }
        assert_eq!(record.steps_per_entry(), 16);
        let entries = record.entries(0);
        let steps: Vec<_> =
            entries.iter().map(|entry| (entry.first_step, entry.last_step)).collect();
        assert_eq!(steps, [(1, 16), (17, 32), (33, 48), (49, 64), (65, 80), (81, 96), (97, 100)]);
        assert!(entries.windows(2).all(|two| two[0].ended == two[1].posted));
        let of = |kind: Kind| entries.iter().map(|entry| entry.kinds[kind]).sum::<f64>();
        assert_eq!(
            (of(Kind::Startup), of(Kind::Peer), record.charged_until(0)),
            (50.0, 50.0, 100.0)
        );
        let mut record = TimeSpace::new(20, None, 8);
        for (rank, step) in (0..20).flat_map(|rank| (0..9).map(move |step| (rank, step))) {
            record.enter(rank, step);
            record.charge(rank, Kind::Startup, step as f64 + 1.0);
        }
        assert!(
            (0..20)
                .all(|rank| record.entries(rank).len() == 1 && record.charged_until(rank) == 9.0)
        );
    }

    #[test]
    fn a_record_of_one_rank_ignores_the_others() {
        let mut record = TimeSpace::new(3, Some(1), 8);
        (0..3).for_each(|rank| record.charge(rank, Kind::Startup, 4.0));
        assert_eq!([0, 1, 2].map(|rank| record.entries(rank).len()), [0, 1, 0]);
    }

    /// Node 1 waits for a message that it forwards in step 2. It also receives a message of step 3.
    /// With `order=data`, the wait belongs to step 2, in which the node makes its next send.
    #[test]
    fn a_wait_belongs_to_the_step_of_the_next_send() {
        let steps = vec![vec![(0, 1, 1000, 0)], vec![(1, 3, 10, 1)], vec![(2, 1, 10, 0)]];
        for model in ["fluid", "loggp"] {
            let machine = format!("free:model={model},order=data,byte_us=1");
            let (_, record) = time_space_of("fully-connected:4", &machine, &steps);
            let first = record.entries(1)[0];
            assert_eq!((first.first_step, first.last_step), (2, 2), "{model}");
            assert!(first.ended > 990.0, "{model}: {first:?}");
        }
    }
}
