//! `store-and-forward`: synchronous steps, each message stored at every node it passes.
//!
//! A message of L bytes over h links takes `h (ts + L tw)` (Li, Peng & Chu, section III), a step as
//! long as its longest message does; `ts` and `tw` are `startup_us` and `byte_us`. Links are not
//! shared within a step in the schedules it was made for; where they are, the messages on a link
//! follow each other, and what the busiest link needs beyond the longest message is contention.
//!
//! A step that asks more messages of a node than it has ports is run in rounds, each of them as
//! long as its longest message, in which every node takes the longest that it still has, one a
//! port. No order takes less: of a node's messages the (i p + 1)-th longest, of p ports, is in one
//! of the rounds that come after the i longest ones, or is the longest there. (The longest message
//! once a round would charge one long message as often as there are short ones.)

use super::rounds::Rounds;
use super::synchronous::{
    CommonCosts, REARRANGEMENT, Rearrangement, StepCost, StepModel, Synchronous,
};
use super::{Evaluator, Model, ModelKind, PricingContext};
use crate::cost::bound::{self, Bound, BoundKind, Traffic};
use crate::cost::parameter::{
    BARRIER_US, BYTE_US, Barrier, INJECTION_BYTE_US, PORTS, PortLimit, REARRANGE_BYTE_US,
    REDUCE_BYTE_US, STARTUP_US,
};
use crate::cost::settings::parameters;
use crate::network::topology::Topology;
use crate::simulation::listener::Detail;
use crate::simulation::step::{Step, Transfer};
use std::sync::Arc;

pub(super) static KIND: ModelKind = ModelKind {
    name: "store-and-forward",
    title: "synchronous steps, each message stored at every node it passes",
    parameters: StoreAndForward::PARAMETERS,
    prepare: |settings| Ok(Arc::new(StoreAndForward::of(settings)?)),
};

parameters! {
    #[derive(Copy)]
    struct StoreAndForward {
        startup_us: f64 = STARTUP_US,
        byte_us: f64 = BYTE_US,
        injection_byte_us: f64 = INJECTION_BYTE_US,
        rearrange_byte_us: f64 = REARRANGE_BYTE_US,
        rearrangement: Rearrangement = REARRANGEMENT,
        reduce_byte_us: f64 = REDUCE_BYTE_US,
        barrier_us: Barrier = BARRIER_US,
        ports: PortLimit = PORTS,
    }
}

impl Model for StoreAndForward {
    /// Each message has a time of its own.
    fn detail(&self) -> Detail {
        Detail::AllNodes
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        Box::new(Synchronous::new(*self, context))
    }

    /// A step takes at least a start-up and any one message's bytes; and at least h start-ups, if
    /// some message goes over h links. That need not be the same message: while a short one goes
    /// far, a long one to a neighbour costs no more time. So the two bounds don't add up.
    fn lower_bound(&self, topology: &dyn Topology, traffic: &Traffic) -> Bound {
        let (bytes, kind) = bound::stored_bytes(topology, traffic, self.ports);
        let by_steps = self.common_costs().lower_bound(
            topology,
            traffic,
            self.startup_us,
            (bytes * self.byte_us, kind),
        );
        let startup_us = traffic.farthest as f64 * self.startup_us;
        by_steps.or(Bound { kind: BoundKind::Hops, startup_us, transmission_us: 0.0, ..by_steps })
    }
}

impl StepModel for StoreAndForward {
    // Hops are start-ups here, a message starts up at every node it passes: there is no
    // propagation.
    const NONE: StepCost =
        StepCost { startup: 0.0, transmission: 0.0, propagation: None, contention: 0.0 };
    const WANTS_BUSIEST_LINKS: bool = true;

    fn common_costs(&self) -> CommonCosts {
        let Self {
            ports,
            barrier_us,
            rearrange_byte_us,
            rearrangement,
            reduce_byte_us,
            injection_byte_us,
            ..
        } = *self;
        CommonCosts {
            ports,
            barrier_us,
            rearrange_byte_us,
            rearrangement,
            reduce_byte_us,
            injection_byte_us,
            channels: None,
        }
    }

    fn step_cost(
        &self,
        step: &Step<'_>,
        topology: &dyn Topology,
        unit_bytes: f64,
        rounds: Rounds,
    ) -> StepCost {
        let time = |i| self.time(step, unit_bytes, i);
        let slowest = match rounds.count {
            1 => (0..step.transfers.len()).map(time).fold(Time::default(), Time::later),
            _ => self.in_rounds(step, topology, time),
        };
        let on_link = |&(messages, load): &(u64, f64)| {
            messages as f64 * self.startup_us + load * unit_bytes * self.byte_us
        };
        let expected = step.facts.expected.map(|e| (e.messages, e.load));
        let on_busiest_link = match expected {
            Some((messages, load)) => messages * self.startup_us + load * unit_bytes * self.byte_us,
            None => step.busiest_links.iter().map(on_link).fold(0.0, f64::max),
        };
        StepCost {
            startup: slowest.startup,
            transmission: slowest.transmission,
            propagation: None,
            contention: (on_busiest_link - slowest.us()).max(0.0),
        }
    }
}

/// Time that one or more messages take.
#[derive(Debug, Clone, Copy, Default)]
struct Time {
    startup: f64,
    transmission: f64,
}

impl Time {
    fn us(self) -> f64 {
        self.startup + self.transmission
    }

    fn later(self, other: Self) -> Self {
        if other.us() > self.us() { other } else { self }
    }
}

impl StoreAndForward {
    /// Of the message number `i` of a step.
    fn time(&self, step: &Step<'_>, unit_bytes: f64, i: usize) -> Time {
        let t = &step.transfers[i];
        // Between two ranks of one node it starts up once, too.
        let hops = step.mean_hops.get(i).copied().unwrap_or(t.hops.into()).max(1.0);
        let over_links = step.inverse_bandwidth.get(i).copied().unwrap_or(hops);
        Time {
            startup: hops * self.startup_us,
            transmission: over_links * t.load as f64 * unit_bytes * self.byte_us,
        }
    }

    /// All rounds together, where each node sends, and receives, its longest messages first.
    fn in_rounds(
        &self,
        step: &Step<'_>,
        topology: &dyn Topology,
        time: impl Fn(usize) -> Time,
    ) -> Time {
        let ports = usize::try_from(self.ports.count()).unwrap_or(usize::MAX);
        let mut rounds: Vec<Time> = Vec::new();
        let mut messages: Vec<usize> = (0..step.transfers.len()).collect();
        for end in [|t: &Transfer| t.from, |t: &Transfer| t.to] {
            let node = |i: &usize| topology.host(end(&step.transfers[*i]).into());
            messages.sort_unstable_by_key(node);
            for of_one in messages.chunk_by(|a, b| node(a) == node(b)) {
                let mut times: Vec<Time> = of_one.iter().map(|i| time(*i)).collect();
                times.sort_unstable_by(|a, b| b.us().total_cmp(&a.us()));
                for (round, first) in times.into_iter().step_by(ports).enumerate() {
                    match rounds.get_mut(round) {
                        Some(longest) => *longest = longest.later(first),
                        None => rounds.push(first),
                    }
                }
            }
        }
        rounds.into_iter().fold(Time::default(), |sum, round| Time {
            startup: sum.startup + round.startup,
            transmission: sum.transmission + round.transmission,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::cost::model::test_steps::cost;

    /// Node 0 sends 100 bytes over 3 links, 2 over 1 and 1 over 2; node 5 sends 10 over 1; one
    /// port.
    #[test]
    fn rounds_are_as_long_as_their_longest_messages_not_all_as_long_as_the_longest() {
        let sends = [(0, 3, 100), (0, 1, 2), (0, 2, 1), (5, 6, 10)];
        let parts =
            cost("mesh:8", "free:model=store-and-forward,startup_us=1,byte_us=1", &[&sends]).parts;
        // Rounds of 3 + 300 (and node 5's message), 1 + 2 or 2 + 2.
        assert_eq!(
            (parts.startup, parts.transmission),
            (Some(3.0 + 2.0 + 1.0), Some(300.0 + 2.0 + 2.0))
        );
        let two = cost(
            "mesh:8",
            "free:model=store-and-forward,startup_us=1,byte_us=1,ports=2",
            &[&sends],
        )
        .parts;
        assert_eq!((two.startup, two.transmission), (Some(3.0 + 1.0), Some(300.0 + 2.0)));
        let all = cost(
            "mesh:8",
            "free:model=store-and-forward,startup_us=1,byte_us=1,ports=all",
            &[&sends],
        )
        .parts;
        assert_eq!((all.startup, all.transmission), (Some(3.0), Some(300.0)));
    }

    /// One node has many messages, another has a long one: the long one takes one of the rounds,
    /// and the others go on.
    #[test]
    fn a_long_message_and_many_short_ones_at_different_nodes_add_up() {
        let sends = [(0, 1, 1), (0, 2, 1), (2, 1, 1), (3, 4, 100)];
        let parts = cost(
            "fully-connected:5",
            "free:model=store-and-forward,startup_us=10,byte_us=1",
            &[&sends],
        )
        .parts;
        assert_eq!((parts.startup, parts.transmission), (Some(20.0), Some(101.0)));
    }

    /// The link with most messages carries few bytes, the one with most bytes few messages: neither
    /// takes what both together would.
    #[test]
    fn messages_and_bytes_of_the_busiest_link_belong_to_one_link() {
        let sends = [
            (0, 1, 1000),
            (0, 2, 0),
            (0, 3, 0),
            (2, 3, 0),
            (2, 4, 0),
            (1, 3, 0),
            (1, 4, 0),
            (3, 5, 1),
        ];
        let machine = "free:model=store-and-forward,startup_us=100,byte_us=1,ports=all";
        let parts = cost("mesh:6", machine, &[&sends]).parts;
        let total: f64 =
            [parts.startup, parts.transmission, parts.contention].into_iter().flatten().sum();
        assert_eq!(total, 1300.0, "three start-ups and 1000 bytes between nodes 0 and 1");
    }
}
