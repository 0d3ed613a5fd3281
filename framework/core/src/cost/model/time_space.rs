//! When each rank does what: for each step of each rank when it came to it, had made its sends, had
//! waited for its peers and was done, and what its time went into.
//!
//! It is kept only where somebody asks ([`super::Evaluator::record_time_space`]), in a bounded number
//! of entries: where steps and ranks are more, neighbouring steps of a rank are one entry, two,
//! four, eight, .. of them, so that nothing is left out of any sum, and
//! [`TimeSpace::steps_per_entry`] says how many. What is under way at a rank is told by a moment up
//! to which its time is spent: a rank's kinds of time add up to its end, whatever a model says of
//! them.

use super::Parts;

/// What a rank's time goes into: the parts of a completion time, in their order, and waiting for a
/// peer. On the critical path there is no such wait: it follows the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeKind {
    /// Starting up a message, of its own or one that comes.
    Startup,
    /// A message's bytes, as if no link were shared.
    Transmission,
    /// A message's latency.
    Propagation,
    /// Rearranging what it holds.
    Rearrangement,
    /// Passing a barrier, once all have come to it.
    Barrier,
    /// What sharing of links or waiting for ports adds.
    Contention,
    /// Adding up what has come.
    Reduction,
    /// Waiting for a rank that has not come so far: for its message, its consent, or at a barrier.
    Peer,
}

/// How many kinds there are.
pub const TIME_KINDS: usize = 8;

impl TimeKind {
    /// What each is called.
    pub fn names() -> [&'static str; TIME_KINDS] {
        let mut names = ["peer"; TIME_KINDS];
        names.iter_mut().zip(Parts::default().each()).for_each(|(name, (part, _))| *name = part);
        names
    }
}

/// What a rank did in a step, or in some that follow each other. Moments are in us.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The first of its steps, from 1: steps are counted in which something leaves a node.
    pub first_step: u64,
    /// The last of them.
    pub last_step: u64,
    /// When the rank came to it: all that it receives in the step is posted. With `order=data`,
    /// when it had made its sends of the steps before.
    pub posted: f64,
    /// When it had made its sends.
    pub started: f64,
    /// Until when it waited for peers; `started`, if it waited for none after that.
    pub waited: f64,
    /// When it was done with the step, the barrier after it included.
    pub ended: f64,
    /// What the time from `posted` to `ended` went into, by [`TimeKind`].
    pub kinds: [f64; TIME_KINDS],
}

/// What the time of ranks went into, step by step, in a bounded number of entries.
#[derive(Debug, Clone)]
pub struct TimeSpace {
    /// The only rank that is followed, if one is.
    only: Option<usize>,
    most: usize,
    ranks: Vec<Vec<Entry>>,
    entries: usize,
    /// Steps that are one entry, as a power of two.
    doublings: u32,
}

impl TimeSpace {
    /// Of one rank, or of `ranks` of them, in no more than `most` entries, or one for each rank if
    /// there are more ranks than that.
    pub fn new(ranks: u64, only: Option<u64>, most: usize) -> Self {
        let ranks = vec![Vec::new(); ranks as usize];
        let most = most.max(ranks.len());
        Self { only: only.map(|rank| rank as usize), most, ranks, entries: 0, doublings: 0 }
    }

    /// What a rank did, in the order of time.
    pub fn of(&self, rank: usize) -> &[Entry] {
        self.ranks.get(rank).map_or(&[], Vec::as_slice)
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// How many steps are one entry, where a rank has something to do in all of them.
    pub fn steps_per_entry(&self) -> u64 {
        1_u64.checked_shl(self.doublings).unwrap_or(u64::MAX)
    }

    fn follows(&self, rank: usize) -> bool {
        self.only.is_none_or(|only| only == rank)
    }

    /// The rank comes to the step of this number, from 0, unless it is there or beyond it already.
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
            // A step in which it had nothing to do.
            if last.posted == last.ended {
                entries.pop();
                self.entries -= 1;
            }
        }
        let kinds = [0.0; TIME_KINDS];
        entries.push(Entry {
            first_step: step,
            last_step: step,
            posted: now,
            started: now,
            waited: now,
            ended: now,
            kinds,
        });
        self.entries += 1;
        while self.entries > self.most {
            self.coarsen();
        }
    }

    /// The rank's time up to this moment went into this, as far as nothing has been said of it.
    #[cold]
    pub(super) fn charge(&mut self, rank: usize, kind: TimeKind, until: f64) {
        if !self.follows(rank) {
            return;
        }
        if self.ranks[rank].is_empty() {
            self.enter(rank, 0);
        }
        let Some(entry) = self.ranks[rank].last_mut().filter(|entry| until > entry.ended) else {
            return;
        };
        entry.kinds[kind as usize] += until - entry.ended;
        entry.ended = until;
        if kind == TimeKind::Peer {
            entry.waited = until;
        }
    }

    /// The rank has made a send of its step.
    pub(super) fn sent(&mut self, rank: usize) {
        if let Some(entry) = self.ranks[rank].last_mut() {
            (entry.started, entry.waited) = (entry.ended, entry.ended);
        }
    }

    /// Up to when the rank's time is accounted for, in us.
    pub(super) fn charged_until(&self, rank: usize) -> f64 {
        self.of(rank).last().map_or(0.0, |entry| entry.ended)
    }

    /// The record once all is over: steps at the end in which a rank has nothing to do are none.
    pub(super) fn done(mut self) -> Self {
        for entries in &mut self.ranks {
            entries.pop_if(|last| last.posted == last.ended);
        }
        self
    }

    /// The only rank that is followed, if one is.
    pub(super) fn only(&self) -> Option<usize> {
        self.only
    }

    /// Ranks are others from now on: each did so far what the rank did that `of` says.
    pub(super) fn spread(&mut self, of: &[usize], only: Option<usize>) {
        let entries = |(rank, was): (usize, &usize)| match only {
            Some(only) if only != rank => Vec::new(),
            Some(_) | None => self.ranks[*was].clone(),
        };
        self.ranks = of.iter().enumerate().map(entries).collect();
        (self.only, self.most) = (only, self.most.max(self.ranks.len()));
        self.entries = self.ranks.iter().map(Vec::len).sum();
        while self.entries > self.most {
            self.coarsen();
        }
    }

    /// Makes one entry of two neighbours.
    fn coarsen(&mut self) {
        self.doublings += 1;
        let doublings = self.doublings;
        for entries in &mut self.ranks {
            entries.dedup_by(|later, earlier| {
                let joined =
                    bucket(later.first_step, doublings) == bucket(earlier.first_step, doublings);
                if joined {
                    let mut kinds = earlier.kinds;
                    kinds.iter_mut().zip(later.kinds).for_each(|(us, more)| *us += more);
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

/// Which steps are one entry.
fn bucket(step: u64, doublings: u32) -> u64 {
    (step - 1).checked_shr(doublings).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::model::test_steps::{Sends, time_space_of};

    /// What a rank did in each step: its four moments, and its time by kind, in the order of
    /// [`TimeKind`].
    fn told(record: &TimeSpace, rank: usize) -> Vec<([f64; 4], [f64; TIME_KINDS])> {
        let round = |us: f64| (us * 1e6).round() / 1e6;
        let moments = |e: &Entry| [e.posted, e.started, e.waited, e.ended].map(round);
        record.of(rank).iter().map(|entry| (moments(entry), entry.kinds.map(round))).collect()
    }

    fn ring(nodes: u32, bytes: u64) -> Sends {
        (1..nodes)
            .map(|step| {
                (0..nodes).map(|rank| (rank, (rank + 1) % nodes, bytes, step - 1)).collect()
            })
            .collect()
    }

    /// 0 sends 1 100 bytes, 1 sends them on to 2: start-up 3, latency 2, a byte 0.5. Who is to
    /// receive waits for its peer's start-up first.
    #[test]
    fn fluid_has_the_closed_form_of_a_chain() {
        let chain = vec![vec![(0, 1, 100, 0)], vec![(1, 2, 100, 1)]];
        let (machine, topology) =
            ("free:model=fluid,startup_us=3,hop_us=2,byte_us=0.5", "fully-connected:3");
        let message = |startup: f64, peer: f64| [startup, 50.0, 2.0, 0.0, 0.0, 0.0, 0.0, peer];
        let (_, record) = time_space_of(topology, machine, &chain);
        assert_eq!(told(&record, 0), [([0.0, 3.0, 3.0, 55.0], message(3.0, 0.0))]);
        let [first, second] = [
            ([0.0, 0.0, 3.0, 55.0], message(0.0, 3.0)),
            ([55.0, 58.0, 58.0, 110.0], message(3.0, 0.0)),
        ];
        assert_eq!(told(&record, 1), [first, second]);
        // It has nothing to do in the first step, and waits for the second from the beginning.
        assert_eq!(told(&record, 2), [([0.0, 0.0, 58.0, 110.0], message(0.0, 58.0))]);
    }

    /// Two ranks send a third 100 bytes each at once: its one link in takes 100 for both, half of
    /// which is sharing.
    #[test]
    fn fluid_tells_sharing_from_transmission() {
        let incast = vec![vec![(0, 1, 100, 0), (2, 1, 100, 0)]];
        let (_, record) = time_space_of(
            "fully-connected:3",
            "free:model=fluid,injection_byte_us=0.5,byte_us=0.1",
            &incast,
        );
        let shared = [([0.0, 0.0, 0.0, 100.0], [0.0, 50.0, 0.0, 0.0, 0.0, 50.0, 0.0, 0.0])];
        for rank in 0..3 {
            assert_eq!(told(&record, rank), shared, "{rank}");
        }
    }

    /// 0 sends 1 100 bytes, 1 sends them on: o = 2, L = 8, G = 0.5 for each byte after the first.
    /// Processor and interface of the sender are free when it has made its send.
    #[test]
    fn loggp_has_the_closed_form_of_a_chain() {
        let chain = vec![vec![(0, 1, 100, 0)], vec![(1, 2, 100, 1)]];
        let machine = "free:model=loggp,latency_us=8,overhead_us=2,byte_us=0.5";
        let (_, record) = time_space_of("fully-connected:3", machine, &chain);
        assert_eq!(
            told(&record, 0),
            [([0.0, 2.0, 2.0, 2.0], [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])]
        );
        let took = |startup: f64, peer: f64| [startup, 49.5, 8.0, 0.0, 0.0, 0.0, 0.0, peer];
        let one = [
            ([0.0, 0.0, 2.0, 61.5], took(2.0, 2.0)),
            ([61.5, 63.5, 63.5, 63.5], [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ];
        assert_eq!(told(&record, 1), one);
        assert_eq!(told(&record, 2), [([0.0, 0.0, 63.5, 123.0], took(2.0, 63.5))]);
    }

    /// A long message's sender waits for its receiver, which is busy with its own sends until then.
    #[test]
    fn a_long_message_waits_for_its_receivers_consent() {
        let steps = vec![vec![(1, 2, 1, 0)], vec![(0, 1, 100, 0)]];
        let machine = "free:model=loggp,overhead_us=2,byte_us=0.5,rendezvous_bytes=50,barrier_us=0";
        let (_, record) = time_space_of("fully-connected:3", machine, &steps);
        let [(moments, kinds)] = told(&record, 0)[..] else { panic!("{:?}", told(&record, 0)) };
        assert_eq!((moments[1], kinds[TimeKind::Startup as usize]), (2.0, 2.0));
        assert_eq!(moments[2], moments[3], "it ends when its receiver begins to take the message");
    }

    #[test]
    fn what_a_barrier_takes_is_told_from_waiting_at_it() {
        for model in ["loggp", "fluid"] {
            let steps = vec![vec![(0, 1, 101, 0)], vec![(0, 1, 101, 0)]];
            let machine = format!("free:model={model},byte_us=1,barrier_us=7");
            let (_, record) = time_space_of("fully-connected:3", &machine, &steps);
            let idle = record.of(2)[0];
            let all: f64 = idle.kinds.iter().sum();
            let (barrier, peer) =
                (idle.kinds[TimeKind::Barrier as usize], idle.kinds[TimeKind::Peer as usize]);
            assert!(barrier > 6.9 && (all - barrier - peer).abs() < 1e-9, "{model}: {idle:?}");
        }
    }

    /// Two ranks exchange 100 bytes on a flat machine: composing 10, start-ups of 3 at either end,
    /// copying 25 and crossing 50 each way. Blocking, each sends, then takes what came in the
    /// meantime; not blocking, an engine copies beside the processor, which then waits for what is
    /// copied and crosses.
    #[test]
    fn flat_has_the_closed_form_of_an_exchange() {
        let exchange = vec![vec![(0, 1, 100, 0), (1, 0, 100, 0)]];
        let machine =
            "free:model=flat,startup_us=6,byte_us=0.5,copy_byte_us=0.5,rearrange_byte_us=0.1";
        let kinds = |transmission: f64| [6.0, transmission, 0.0, 10.0, 0.0, 0.0, 0.0, 0.0];
        let (cost, record) = time_space_of("fully-connected:2", machine, &exchange);
        assert_eq!(told(&record, 0), [([0.0, 88.0, 88.0, 116.0], kinds(100.0))]);
        assert_eq!((told(&record, 1), cost.parts.total()), (told(&record, 0), 116.0));
        let (cost, record) =
            time_space_of("fully-connected:2", &format!("{machine},mode=nonblocking"), &exchange);
        assert_eq!(told(&record, 0), [([0.0, 13.0, 13.0, 116.0], kinds(100.0))]);
        assert_eq!((told(&record, 1), cost.parts.total()), (told(&record, 0), 116.0));
    }

    /// Whatever the machine and the schedule: a rank's steps follow each other without a gap, their
    /// kinds add up to its end, and the last rank ends with the row.
    #[test]
    fn kinds_add_up_to_each_ranks_end_and_the_last_end_is_the_rows_time() {
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
                    for entry in record.of(rank) {
                        assert_eq!(entry.posted, at, "{machine}: rank {rank}");
                        assert!(
                            entry.posted <= entry.started && entry.started <= entry.waited,
                            "{entry:?}"
                        );
                        assert!(
                            entry.waited <= entry.ended && entry.kinds.iter().all(|us| *us >= 0.0),
                            "{entry:?}"
                        );
                        at = entry.ended;
                    }
                    let sum: f64 = record.of(rank).iter().flat_map(|entry| entry.kinds).sum();
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

    /// More entries than asked for are joined: sums are the same.
    #[test]
    fn a_long_schedule_is_told_more_coarsely() {
        let mut record = TimeSpace::new(2, None, 8);
        for step in 0..100 {
            record.enter(0, step);
            record.charge(0, TimeKind::Startup, step as f64 + 0.5);
            record.sent(0);
            record.charge(0, TimeKind::Peer, step as f64 + 1.0);
        }
        assert_eq!(record.steps_per_entry(), 16);
        let entries = record.of(0);
        let steps: Vec<_> =
            entries.iter().map(|entry| (entry.first_step, entry.last_step)).collect();
        assert_eq!(steps, [(1, 16), (17, 32), (33, 48), (49, 64), (65, 80), (81, 96), (97, 100)]);
        assert!(entries.windows(2).all(|two| two[0].ended == two[1].posted));
        let of =
            |kind: TimeKind| entries.iter().map(|entry| entry.kinds[kind as usize]).sum::<f64>();
        assert_eq!(
            (of(TimeKind::Startup), of(TimeKind::Peer), record.charged_until(0)),
            (50.0, 50.0, 100.0)
        );
        // More ranks than entries: one each.
        let mut record = TimeSpace::new(20, None, 8);
        for (rank, step) in (0..20).flat_map(|rank| (0..9).map(move |step| (rank, step))) {
            record.enter(rank, step);
            record.charge(rank, TimeKind::Startup, step as f64 + 1.0);
        }
        assert!(
            (0..20).all(|rank| record.of(rank).len() == 1 && record.charged_until(rank) == 9.0)
        );
    }

    #[test]
    fn one_rank_alone_is_followed_if_it_is_asked_for() {
        let mut record = TimeSpace::new(3, Some(1), 8);
        (0..3).for_each(|rank| record.charge(rank, TimeKind::Startup, 4.0));
        assert_eq!([0, 1, 2].map(|rank| record.of(rank).len()), [0, 1, 0]);
    }
}
