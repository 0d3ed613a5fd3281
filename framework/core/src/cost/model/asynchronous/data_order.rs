//! `order=data`: a rank sends in the order of the schedule, each message as soon as its data is
//! available. Receives are posted from the start.
//!
//! A send has the number of the latest step in which its sender received any of its data (`after`).
//! The send waits until the sender has received, and reduced, everything of the steps up to that
//! one. Messages may arrive in any order. Boxes that were joined count as received when the last of
//! them has been received.

use super::{StepMessage, Steps};

/// A rank's position in the schedule.
#[derive(Debug, Clone, Copy, Default)]
struct Position {
    /// Step of the next send.
    step: u64,
    /// Messages of that step already sent.
    sent: u32,
    /// The first step in which the rank has not yet received everything.
    received: u64,
    /// The first step in which the rank has not yet reduced everything.
    reduced: u64,
    /// Received bytes that are still to be reduced.
    unreduced_bytes: f64,
    /// Whether a reduction is in progress.
    is_reducing: bool,
    /// The first step that the rank has not ended.
    current: u64,
}

/// The positions of all ranks.
#[derive(Debug)]
pub(crate) struct DataOrder(Vec<Position>);

/// A rank's next send.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Next {
    /// Step and index of a send whose data is available.
    Send(u64, u32),
    /// The data of the next send is not available.
    Blocked,
    /// The rank has no further send in the known steps.
    Unknown,
}

impl DataOrder {
    pub(crate) fn new(ranks: usize) -> Self {
        Self(vec![Position::default(); ranks])
    }

    /// Returns the rank's next send. Ends the steps in which the rank has nothing more to do.
    pub(crate) fn next(&mut self, rank: usize, steps: &mut Steps) -> Next {
        let position = &mut self.0[rank];
        // Find the next send in the known steps.
        let next = loop {
            let Some(step) = steps.get(position.step) else { break None };
            match step.sends(rank).get(position.sent as usize) {
                Some(message) => break Some(*message),
                None => (position.step, position.sent) = (position.step + 1, 0),
            }
        };
        // Advance `received` past each step in which everything has been received, then `reduced`.
        while let Some(step) = steps.get(position.received) {
            if step.missing.get(rank).is_some_and(|missing| *missing > 0) {
                break;
            }
            position.unreduced_bytes += step.summed(rank);
            position.received += 1;
        }
        if position.unreduced_bytes == 0.0 && !position.is_reducing {
            position.reduced = position.received;
        }
        while position.current < position.step.min(position.received) {
            steps.leave(position.current);
            position.current += 1;
        }
        match next {
            None => Next::Unknown,
            Some(StepMessage { back, .. })
                if back > 0 && position.reduced <= position.step - u64::from(back) =>
            {
                Next::Blocked
            }
            Some(_) => Next::Send(position.step, position.sent),
        }
    }

    /// Returns the step of a rank's next send; a number beyond the known steps if there is none.
    pub(crate) fn step(&self, rank: usize) -> u64 {
        self.0[rank].step
    }

    /// Moves the rank's position behind its next send.
    pub(crate) fn sent(&mut self, rank: usize) {
        self.0[rank].sent += 1;
    }

    /// Begins the reduction of everything that was received, and returns its size in bytes; 0 if
    /// there is nothing to reduce or if a reduction is in progress.
    pub(crate) fn begin_reduction(&mut self, rank: usize, steps: &mut Steps) -> f64 {
        self.next(rank, steps);
        let position = &mut self.0[rank];
        if position.is_reducing || position.unreduced_bytes == 0.0 {
            return 0.0;
        }
        position.is_reducing = true;
        std::mem::take(&mut position.unreduced_bytes)
    }

    pub(crate) fn end_reduction(&mut self, rank: usize) {
        self.0[rank].is_reducing = false;
    }
}

#[cfg(test)]
mod tests {
    use crate::cost::model::test_steps::cost_of_forwarding;

    type Steps = Vec<Vec<(u32, u32, u64, u32)>>;

    fn us(nodes: u32, machine: &str, steps: &Steps) -> f64 {
        let parts = cost_of_forwarding(
            &format!("fully-connected:{nodes}"),
            &format!("free:{machine}"),
            steps,
        )
        .parts;
        let parts =
            [parts.startup, parts.transmission, parts.propagation, parts.barrier, parts.contention];
        parts.into_iter().map(Option::unwrap).sum()
    }

    /// A pipeline: 64 bytes pass from node to node in segments. Each hop of a segment is one step.
    fn chain(nodes: u32, segments: u32) -> Steps {
        let in_step = |step: u32, from: u32| (from..from + segments).contains(&(step - 1));
        let send = |step: u32, from: u32| {
            (from, from + 1, u64::from(64 / segments), if from == 0 { 0 } else { step - 1 })
        };
        let steps = 1..nodes - 1 + segments;
        steps
            .map(|step| {
                (0..nodes - 1)
                    .filter(|from| in_step(step, *from))
                    .map(|from| send(step, from))
                    .collect()
            })
            .collect()
    }

    /// A binomial broadcast: every node that has the data sends it to one more in each step.
    fn binomial(levels: u32) -> Steps {
        let came = |rank: u32| if rank == 0 { 0 } else { rank.ilog2() + 1 };
        (0..levels)
            .map(|i| (0..1 << i).map(|rank| (rank, rank + (1 << i), 64, came(rank))).collect())
            .collect()
    }

    fn ring_allgather(nodes: u32) -> Steps {
        (1..nodes)
            .map(|step| (0..nodes).map(|rank| (rank, (rank + 1) % nodes, 64, step - 1)).collect())
            .collect()
    }

    /// A hop takes 2 o + L + 63 G. The next hop of the data starts when this one ends.
    #[test]
    fn loggp_has_the_closed_forms_of_chains_trees_and_rings() {
        let machine = "model=loggp,order=data,latency_us=8,overhead_us=2,byte_us=0.5";
        let hop = 2.0 * 2.0 + 8.0 + 63.0 * 0.5;
        assert!((us(9, machine, &chain(9, 1)) - 8.0 * hop).abs() < 1e-9);
        assert!((us(7, machine, &ring_allgather(7)) - 6.0 * hop).abs() < 1e-9);
        // The root is busy for 63 G with each child. So its last child receives the data at the
        // same time as the last nodes in the subtrees of the first children.
        let no_overhead = "model=loggp,order=data,latency_us=8,byte_us=0.5";
        assert!((us(32, no_overhead, &binomial(5)) - 5.0 * (8.0 + 63.0 * 0.5)).abs() < 1e-9);
    }

    /// k segments over P - 1 links take (P - 1) (L + b) + (k - 1) i, where b is the time of a
    /// segment's bytes and i the interval between two segments at an interface or a port.
    #[test]
    fn segments_follow_each_other_through_a_chain() {
        for segments in [1_u32, 2, 4, 8] {
            let (k, bytes, steps) =
                (f64::from(segments), f64::from(64 / segments), chain(6, segments));
            let closed = |b: f64, between: f64| 5.0 * (8.0 + b) + (k - 1.0) * between;
            // During the gap, the processor of a receiver has time to send.
            let loggp = us(6, "model=loggp,order=data,latency_us=8,gap_us=4,byte_us=0.5", &steps);
            let b = (bytes - 1.0) * 0.5;
            assert!((loggp - closed(b, 4.0 + b)).abs() < 1e-9, "{segments}: {loggp}");
            // A message occupies a port until the message has arrived.
            let fluid = |ports: &str| {
                us(6, &format!("model=fluid,order=data,hop_us=8,byte_us=0.5,ports={ports}"), &steps)
            };
            let hop = 8.0 + bytes * 0.5;
            assert!(
                (fluid("1") - closed(bytes * 0.5, hop)).abs() < 1e-6,
                "{segments}: {}",
                fluid("1")
            );
            // With enough ports, all segments share the first link and arrive together.
            let together = 5.0 * (8.0 + 64.0 * 0.5);
            assert!((fluid("all") - together).abs() < 1e-6, "{segments}: {}", fluid("all"));
        }
    }

    /// With `order=data` a rank that forwards nothing does not wait for what it receives; with
    /// `order=step` it does.
    #[test]
    fn sends_that_forward_nothing_do_not_wait_for_receives() {
        // Node 1 can send to node 2 while it receives the long message.
        let steps = vec![vec![(0, 1, 1001, 0)], vec![(1, 2, 11, 0)]];
        for model in ["model=loggp,latency_us=1,byte_us=1", "model=fluid,hop_us=1,byte_us=1"] {
            let ended = |order: &str| {
                let machine = format!("free:{model},order={order}");
                cost_of_forwarding("fully-connected:3", &machine, &steps).ranks.unwrap().mean
            };
            assert!(ended("data") < ended("step"), "{model}: {} {}", ended("data"), ended("step"));
        }
        let forwards = vec![vec![(0, 1, 1001, 0)], vec![(1, 2, 11, 1)]];
        let fluid = us(3, "model=fluid,order=data,hop_us=1,byte_us=1,startup_us=3", &forwards);
        assert!((fluid - (4.0 + 1001.0 + 4.0 + 11.0)).abs() < 1e-6, "{fluid}");
    }

    /// A forwarded message waits for everything that its sender received in the steps up to
    /// `after`, even if the message of the later step arrives first.
    #[test]
    fn joined_boxes_wait_for_their_last_part() {
        let steps = vec![vec![(0, 2, 1001, 0)], vec![(1, 2, 11, 0)], vec![(2, 3, 1, 2)]];
        let loggp = us(4, "model=loggp,order=data,byte_us=1,overhead_byte_us=0", &steps);
        assert!(loggp >= 1000.0, "{loggp}");
    }

    #[test]
    fn barriers_are_refused_with_data_order() {
        for model in ["loggp", "fluid"] {
            let spec = format!("free:model={model},order=data,barrier_us=1");
            let error = crate::cost::machine::Machine::parse(&spec).unwrap_err().to_string();
            assert!(error.contains("expected 0 with order=data"), "{error}");
        }
    }
}
