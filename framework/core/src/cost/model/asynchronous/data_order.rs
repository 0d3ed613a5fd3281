//! `order=data`: a rank makes its sends in the schedule's order, each as soon as what it passes on
//! has come. What it receives comes when it comes.
//!
//! What a send carries came to its sender in some step at the latest (`after`); boxes that were
//! joined have the latest arrival of all. A send waits for whatever its sender receives up to that
//! step, so that nothing is sent before it has come, in whatever order messages come; and for the
//! adding up of it.

use super::{StepMessage, Steps};

/// A rank's place in the schedule.
#[derive(Debug, Clone, Copy, Default)]
struct Position {
    /// The step of its next send.
    step: u64,
    /// How many of that step's it has made.
    sent: u32,
    /// The first step of which not all that it receives has come.
    came: u64,
    /// The first step before which all that has come has been added up, too.
    added: u64,
    /// Bytes of what has come that are still to be added up.
    unsummed: f64,
    /// Whether it is at that.
    is_adding: bool,
    /// The first step that it has not ended.
    inside: u64,
}

/// The places of all ranks.
#[derive(Debug)]
pub(in crate::cost::model) struct DataOrder(Vec<Position>);

/// What a rank does next.
#[derive(Debug, Clone, Copy)]
pub(in crate::cost::model) enum Next {
    /// It makes the send of this number in this step.
    Send(u64, u32),
    /// It waits for what it is to send.
    Blocked,
    /// It sends nothing more in the steps that have come.
    Unknown,
}

impl DataOrder {
    pub(in crate::cost::model) fn new(ranks: usize) -> Self {
        Self(vec![Position::default(); ranks])
    }

    /// What a rank does next; steps in which it has nothing more to do are ended.
    pub(in crate::cost::model) fn next(&mut self, rank: usize, steps: &mut Steps) -> Next {
        let place = &mut self.0[rank];
        let next = loop {
            let Some(step) = steps.get(place.step) else { break None };
            match step.sends(rank).get(place.sent as usize) {
                Some(message) => break Some(*message),
                None => (place.step, place.sent) = (place.step + 1, 0),
            }
        };
        while let Some(step) = steps.get(place.came) {
            if step.missing.get(rank).is_some_and(|missing| *missing > 0) {
                break;
            }
            place.unsummed += step.summed(rank);
            place.came += 1;
        }
        if place.unsummed == 0.0 && !place.is_adding {
            place.added = place.came;
        }
        while place.inside < place.step.min(place.came) {
            steps.left(place.inside);
            place.inside += 1;
        }
        match next {
            None => Next::Unknown,
            Some(StepMessage { back, .. })
                if back > 0 && place.added <= place.step - u64::from(back) =>
            {
                Next::Blocked
            }
            Some(_) => Next::Send(place.step, place.sent),
        }
    }

    /// The step of a rank's next send, if it has one in the steps that have come.
    pub(in crate::cost::model) fn step(&self, rank: usize) -> u64 {
        self.0[rank].step
    }

    /// A rank has made its next send.
    pub(in crate::cost::model) fn sent(&mut self, rank: usize) {
        self.0[rank].sent += 1;
    }

    /// What has come to a rank and is to be added up, which it begins now, in bytes; 0 if there is
    /// none, or if it is at that already.
    pub(in crate::cost::model) fn begin_reduction(
        &mut self,
        rank: usize,
        steps: &mut Steps,
    ) -> f64 {
        self.next(rank, steps);
        let place = &mut self.0[rank];
        if place.is_adding || place.unsummed == 0.0 {
            return 0.0;
        }
        place.is_adding = true;
        std::mem::take(&mut place.unsummed)
    }

    /// It has added that up.
    pub(in crate::cost::model) fn added(&mut self, rank: usize) {
        self.0[rank].is_adding = false;
    }

    /// Something of this step has come to a rank.
    pub(in crate::cost::model) fn came(&self, rank: usize, step: u64, steps: &mut Steps) {
        steps.came(step, rank);
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

    /// 64 bytes go from node to node in so many segments, a step each.
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

    /// Who has it tells one more in each step.
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

    /// A hop is 2 o + L + 63 G, and who passes on goes on from there.
    #[test]
    fn loggp_has_the_closed_forms_of_chains_trees_and_rings() {
        let machine = "model=loggp,order=data,latency_us=8,overhead_us=2,byte_us=0.5";
        let hop = 2.0 * 2.0 + 8.0 + 63.0 * 0.5;
        assert!((us(9, machine, &chain(9, 1)) - 8.0 * hop).abs() < 1e-9);
        assert!((us(7, machine, &ring_allgather(7)) - 6.0 * hop).abs() < 1e-9);
        // The root is busy with each child for 63 G: the last child, and who passes on at once, are
        // as late.
        let at_once = "model=loggp,order=data,latency_us=8,byte_us=0.5";
        assert!((us(32, at_once, &binomial(5)) - 5.0 * (8.0 + 63.0 * 0.5)).abs() < 1e-9);
    }

    /// k segments over P - 1 links: (P - 1) (L + b) + (k - 1) i, b being the time of a segment's
    /// bytes and i what is between two of them at an interface or a port.
    #[test]
    fn segments_follow_each_other_through_a_chain() {
        for segments in [1_u32, 2, 4, 8] {
            let (k, bytes, steps) =
                (f64::from(segments), f64::from(64 / segments), chain(6, segments));
            let closed = |b: f64, between: f64| 5.0 * (8.0 + b) + (k - 1.0) * between;
            // A gap leaves the processor, which takes what comes, time to send.
            let loggp = us(6, "model=loggp,order=data,latency_us=8,gap_us=4,byte_us=0.5", &steps);
            let b = (bytes - 1.0) * 0.5;
            assert!((loggp - closed(b, 4.0 + b)).abs() < 1e-9, "{segments}: {loggp}");
            // A port has a message until it has come.
            let fluid = |ports: &str| {
                us(6, &format!("model=fluid,order=data,hop_us=8,byte_us=0.5,ports={ports}"), &steps)
            };
            let hop = 8.0 + bytes * 0.5;
            assert!(
                (fluid("1") - closed(bytes * 0.5, hop)).abs() < 1e-6,
                "{segments}: {}",
                fluid("1")
            );
            // With ports enough all segments share the first link, come at once, and go on so.
            let together = 5.0 * (8.0 + 64.0 * 0.5);
            assert!((fluid("all") - together).abs() < 1e-6, "{segments}: {}", fluid("all"));
        }
    }

    /// Ranks that pass nothing on don't wait for what they receive; between steps they do.
    #[test]
    fn a_direct_exchange_waits_for_nobody() {
        // Node 0 takes long to tell node 1, whose own message to node 2 is no answer.
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

    /// What is passed on waits for all that came by then, though the last of it came first.
    #[test]
    fn joined_boxes_wait_for_all_of_them() {
        let steps = vec![vec![(0, 2, 1001, 0)], vec![(1, 2, 11, 0)], vec![(2, 3, 1, 2)]];
        let loggp = us(4, "model=loggp,order=data,byte_us=1,overhead_byte_us=0", &steps);
        assert!(loggp >= 1000.0, "{loggp}");
    }

    #[test]
    fn a_barrier_needs_steps() {
        for model in ["loggp", "fluid"] {
            let spec = format!("free:model={model},order=data,barrier_us=1");
            let error = crate::cost::machine::Machine::parse(&spec).unwrap_err().to_string();
            assert!(error.contains("expected 0 with order=data"), "{error}");
        }
    }
}
