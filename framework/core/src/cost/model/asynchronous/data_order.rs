//! The order `order=data`: a rank posts all receives at the start, and sends its messages in the
//! order of the schedule, each as soon as its data is available.
//!
//! For each send, [`StepMessage::back`] identifies the latest step in which its sender received any
//! of the data. The send waits until the sender has received and reduced all data of that step and
//! of all earlier steps. Messages may arrive in any order. If the simulation of the schedule has
//! joined boxes, all data of the joined box counts as received in the latest of the steps in which
//! its parts arrived.

use super::{StepMessage, Steps};

#[derive(Debug, Clone, Copy, Default)]
struct Position {
    step: u64,
    sent: u32,
    /// The first step of which the rank has not received all messages.
    received: u64,
    /// The first step of which the rank has not reduced all data.
    reduced: u64,
    unreduced_bytes: f64,
    unreduced: u64,
    is_reducing: bool,
    current: u64,
    waits: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct DataOrder(Vec<Position>);

#[derive(Debug, Clone, Copy)]
pub(crate) enum Next {
    Send(u64, u32),
    Blocked,
    Unknown,
}

impl DataOrder {
    pub(crate) fn new(ranks: usize) -> Self {
        Self(vec![Position::default(); ranks])
    }

    pub(crate) fn next(&mut self, rank: usize, steps: &mut Steps) -> Next {
        let position = &mut self.0[rank];
        let next = loop {
            let Some(step) = steps.get(position.step) else { break None };
            match step.sends(rank).get(position.sent as usize) {
                Some(message) => break Some(*message),
                None => (position.step, position.sent) = (position.step + 1, 0),
            }
        };
        while let Some(step) = steps.get(position.received) {
            if step.missing.get(rank).is_some_and(|missing| *missing > 0) {
                break;
            }
            if position.unreduced_bytes == 0.0 {
                position.unreduced = position.received;
            }
            position.unreduced_bytes += step.summed(rank);
            position.received += 1;
        }
        if !position.is_reducing {
            let is_reduced = position.unreduced_bytes == 0.0;
            position.reduced = if is_reduced { position.received } else { position.unreduced };
        }
        // Sends of later steps do not wait for other ranks. So if the rank has reduced all data of
        // a step, the step can be freed.
        while position.current < position.step.min(position.reduced) {
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

    pub(crate) fn step(&self, rank: usize) -> u64 {
        self.0[rank].step
    }

    pub(crate) fn waits(&self, rank: usize) -> bool {
        self.0[rank].waits
    }

    pub(crate) fn wait(&mut self, rank: usize) {
        self.0[rank].waits = true;
    }

    pub(crate) fn wake(&mut self) {
        self.0.iter_mut().for_each(|position| position.waits = false);
    }

    pub(crate) fn sent(&mut self, rank: usize) {
        self.0[rank].sent += 1;
    }

    /// Begins to reduce all received data, and returns its bytes. Returns 0 if a reduction is
    /// running.
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
    use crate::cost::model::test_steps::{Sends, cost_of_forwarding};

    fn us(nodes: u32, machine: &str, steps: &Sends) -> f64 {
        let (network, machine) = (format!("fully-connected:{nodes}"), format!("free:{machine}"));
        cost_of_forwarding(&network, &machine, steps).parts.total()
    }

    /// Returns a pipeline: 64 bytes are forwarded from node to node, a segment per step.
    fn chain(nodes: u32, segments: u32) -> Sends {
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

    fn binomial(levels: u32) -> Sends {
        let came = |rank: u32| if rank == 0 { 0 } else { rank.ilog2() + 1 };
        (0..levels)
            .map(|i| (0..1 << i).map(|rank| (rank, rank + (1 << i), 64, came(rank))).collect())
            .collect()
    }

    fn ring_allgather(nodes: u32) -> Sends {
        (1..nodes)
            .map(|step| (0..nodes).map(|rank| (rank, (rank + 1) % nodes, 64, step - 1)).collect())
            .collect()
    }

    #[test]
    fn loggp_has_the_closed_forms_of_chains_trees_and_rings() {
        let machine = "model=loggp,order=data,latency_us=8,overhead_us=2,byte_us=0.5";
        let hop = 2.0 * 2.0 + 8.0 + 63.0 * 0.5;
        assert!((us(9, machine, &chain(9, 1)) - 8.0 * hop).abs() < 1e-9);
        assert!((us(7, machine, &ring_allgather(7)) - 6.0 * hop).abs() < 1e-9);
        // The root needs `63 G` for the bytes of each child, so all branches end at the same time.
        let no_overhead = "model=loggp,order=data,latency_us=8,byte_us=0.5";
        assert!((us(32, no_overhead, &binomial(5)) - 5.0 * (8.0 + 63.0 * 0.5)).abs() < 1e-9);
    }

    /// Forwarding k segments through a chain of P nodes takes `(P - 1) (L + b) + (k - 1) i`, with
    /// the latency L of a hop, the time b of a segment, and the interval i between two segments.
    #[test]
    fn segments_follow_each_other_through_a_chain() {
        for segments in [1_u32, 2, 4, 8] {
            let (k, bytes, steps) =
                (f64::from(segments), f64::from(64 / segments), chain(6, segments));
            let closed = |b: f64, between: f64| 5.0 * (8.0 + b) + (k - 1.0) * between;
            // A receiver forwards a segment in the gap between two messages.
            let loggp = us(6, "model=loggp,order=data,latency_us=8,gap_us=4,byte_us=0.5", &steps);
            let b = (bytes - 1.0) * 0.5;
            assert!((loggp - closed(b, 4.0 + b)).abs() < 1e-9, "{segments}: {loggp}");
            let fluid = |ports: &str| {
                us(6, &format!("model=fluid,order=data,hop_us=8,byte_us=0.5,ports={ports}"), &steps)
            };
            let hop = 8.0 + bytes * 0.5;
            assert!(
                (fluid("1") - closed(bytes * 0.5, hop)).abs() < 1e-6,
                "{segments}: {}",
                fluid("1")
            );
            let together = 5.0 * (8.0 + 64.0 * 0.5);
            assert!((fluid("all") - together).abs() < 1e-6, "{segments}: {}", fluid("all"));
        }
    }

    /// With `order=step`, the second send would wait for the receive of a long message.
    #[test]
    fn sends_that_forward_nothing_do_not_wait_for_receives() {
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
