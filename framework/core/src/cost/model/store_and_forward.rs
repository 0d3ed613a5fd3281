//! The model `store-and-forward`: synchronous steps, in which every node of a route receives a
//! whole message before it sends the message on.
//!
//! A message of L bytes over h links takes `h (ts + L tw)` (Li, Peng & Chu, section III), where
//! `ts` is `startup_us` and `tw` is `byte_us`. A step takes as long as its slowest message. In the
//! paper's schedules, no link carries two messages in the same step. Messages that share a link
//! cross it one after another. If the busiest link takes longer than the slowest message, the
//! difference is contention.
//!
//! A step in which a node has more messages than ports is run in rounds. In each round, every node
//! handles its slowest remaining messages, one per port. The round takes as long as the slowest
//! message of all nodes. No other order takes less time: with p ports, at most `i p` messages of a
//! node are complete after i rounds. So if the node's messages are sorted from the slowest to the
//! fastest, its slowest remaining message is at least as slow as number `i p + 1`.

use super::rounds::Rounds;
use super::synchronous::{CommonCosts, StepModel, Synchronous};
use super::{Evaluator, Model, ModelKind, NetworkRates, PortRate, PricingContext};
use crate::cost::bound::{self, Bound, BoundKind, Traffic};
use crate::cost::kind::{Kind, Times};
use crate::cost::parameter::{BYTE_US, STARTUP_US};
use crate::cost::settings::parameters;
use crate::network::topology::Network;
use crate::simulation::listener::Detail;
use crate::simulation::step::{Step, Transfer};
use std::sync::Arc;

pub(super) static KIND: ModelKind = ModelKind {
    name: "store-and-forward",
    title: "synchronous steps; messages are stored at every node of their routes",
    parameters: StoreAndForward::PARAMETERS,
    pricing_time: 0.05,
    prepare: |settings| Ok(Arc::new(StoreAndForward::of(settings)?)),
};

parameters! {
    #[derive(Copy)]
    struct StoreAndForward {
        startup_us: f64 = STARTUP_US,
        byte_us: f64 = BYTE_US,
        ..common: CommonCosts,
    }
}

impl Model for StoreAndForward {
    fn detail(&self) -> Detail {
        Detail::AllNodes
    }

    fn shares_routes(&self) -> bool {
        false
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        Box::new(Synchronous::new(*self, context))
    }

    /// Returns the larger of two bounds. The first is the start-ups of all steps and the
    /// transmission of the bytes. The second is the start-ups of the longest route. They are not
    /// added, because a long message and a message with a long route can be sent at the same time.
    fn lower_bound(&self, topology: &Network, traffic: &Traffic) -> Bound {
        let (bytes, kind) = bound::stored_bytes(topology, traffic, self.common.ports);
        let network = [0.0, bytes * self.byte_us];
        let by_steps = self.bound_of_steps(topology, traffic, self.startup_us, (network, kind));
        let startup_us = traffic.farthest as f64 * self.startup_us;
        let times = by_steps.times.with(Kind::Startup, startup_us).with(Kind::Transmission, 0.0);
        by_steps.max(Bound { kind: BoundKind::Hops, times })
    }

    fn network_rates(&self) -> Option<NetworkRates> {
        let ports = PortRate { limit: self.common.ports, byte_us: self.byte_us, each_hop: true };
        Some(NetworkRates {
            link_byte_us: self.byte_us,
            ports: Some(ports),
            injection_byte_us: self.common.injection_byte_us,
        })
    }
}

impl StepModel for StoreAndForward {
    // Instead of a latency, a message has a start-up at every node of its route.
    const HAS_PROPAGATION: bool = false;
    const WANTS_BUSIEST_LINKS: bool = true;

    fn common_costs(&self) -> &CommonCosts {
        &self.common
    }

    fn step_cost(
        &self,
        step: &Step<'_>,
        topology: &Network,
        unit_bytes: f64,
        rounds: Rounds,
    ) -> Times {
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
        Times::of([
            (Kind::Startup, slowest.startup),
            (Kind::Transmission, slowest.transmission),
            (Kind::Contention, (on_busiest_link - slowest.us()).max(0.0)),
        ])
    }
}

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
    fn time(&self, step: &Step<'_>, unit_bytes: f64, i: usize) -> Time {
        let t = &step.transfers[i];
        let hops = step.mean_hops.get(i).copied().unwrap_or(t.hops.into()).max(1.0);
        let over_links = step.inverse_bandwidth.get(i).copied().unwrap_or(hops);
        Time {
            startup: hops * self.startup_us,
            transmission: over_links * t.load as f64 * unit_bytes * self.byte_us,
        }
    }

    fn in_rounds(&self, step: &Step<'_>, topology: &Network, time: impl Fn(usize) -> Time) -> Time {
        let ports = usize::try_from(self.common.ports.count()).unwrap_or(usize::MAX);
        let mut rounds: Vec<Time> = Vec::new();
        let mut messages: Vec<usize> = (0..step.transfers.len()).collect();
        for end in [|t: &Transfer| t.from, |t: &Transfer| t.to] {
            let node = |i: &usize| topology.physical_node(end(&step.transfers[*i]).into());
            messages.sort_unstable_by_key(node);
            for node_messages in messages.chunk_by(|a, b| node(a) == node(b)) {
                let mut times: Vec<Time> = node_messages.iter().map(|i| time(*i)).collect();
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
    use crate::cost::kind::Kind;
    use crate::cost::machine::Machine;
    use crate::cost::model::PricingContext;
    use crate::cost::model::test_steps::{cost, cost_by_routes, run, sends};
    use crate::network::topology::{Route, parse};

    #[test]
    fn each_round_takes_as_long_as_its_own_longest_message() {
        let sends = [(0, 3, 100), (0, 1, 2), (0, 2, 1), (5, 6, 10)];
        // With one port, the three rounds take `3 + 300`, `2 + 2` and `1 + 2` µs.
        for (ports, startup, transmission) in [
            ("1", 3.0 + 2.0 + 1.0, 300.0 + 2.0 + 2.0),
            ("2", 3.0 + 1.0, 300.0 + 2.0),
            ("all", 3.0, 300.0),
        ] {
            let machine =
                format!("free:model=store-and-forward,startup_us=1,byte_us=1,ports={ports}");
            let parts = cost("mesh:8", &machine, &[&sends]).parts;
            let found = (parts[Kind::Startup], parts[Kind::Transmission]);
            assert_eq!(found, (Some(startup), Some(transmission)), "ports={ports}");
        }
    }

    #[test]
    fn a_long_message_and_many_short_ones_at_different_nodes_add_up() {
        let sends = [(0, 1, 1), (0, 2, 1), (2, 1, 1), (3, 4, 100)];
        let parts = cost(
            "fully-connected:5",
            "free:model=store-and-forward,startup_us=10,byte_us=1",
            &[&sends],
        )
        .parts;
        assert_eq!((parts[Kind::Startup], parts[Kind::Transmission]), (Some(20.0), Some(101.0)));
    }

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
        let total = cost("mesh:6", machine, &[&sends]).parts.total();
        assert_eq!(total, 1300.0, "three start-ups and 1000 bytes between nodes 0 and 1");
    }

    /// The second message takes link 1-3 with probability 1/2, so this link has 1.5 messages and
    /// 1005 bytes on average.
    #[test]
    fn random_routes_have_their_expected_loads() {
        let machine = "free:model=store-and-forward,startup_us=10,byte_us=1,ports=all";
        let sends = [(1, 3, 1000), (0, 3, 10)];
        let parts = cost("hypercube:2,routing=ecmp", machine, &[&sends]).parts;
        assert_eq!((parts[Kind::Startup], parts[Kind::Transmission]), (Some(10.0), Some(1000.0)));
        assert_eq!(parts[Kind::Contention], Some(15.0 + 1005.0 - 1010.0));
    }

    /// In a former defect, requested routes were not counted under random routing.
    #[test]
    fn requested_routes_are_certain_under_random_routing() {
        let route = Route { path: vec![1, 3], ..Route::default() };
        let of = |model: &str| {
            let machine = format!("free:model={model},startup_us=10,byte_us=1,ports=all");
            let steps = sends(&[[(1, 3, 1000), (0, 3, 10)]]);
            let route_of = |from, _| u32::from(from == 0);
            let routes = std::slice::from_ref(&route);
            let on = |topology| cost_by_routes(topology, &machine, &steps, routes, route_of).parts;
            assert_eq!(on("hypercube:2,routing=ecmp"), on("hypercube:2"), "{model}");
            on("hypercube:2,routing=ecmp")
        };
        assert_eq!(of("store-and-forward")[Kind::Contention], Some(20.0 + 1010.0 - 1010.0));
        assert_eq!(of("wormhole")[Kind::Contention], Some(1010.0 - 1000.0));
    }

    /// The schedule is that of the test of expected loads, with loads in blocks of 10 bytes.
    #[test]
    fn expected_loads_are_in_units_of_load() {
        let topology = parse("hypercube:2,routing=ecmp").unwrap();
        let machine = "free:model=store-and-forward,startup_us=10,byte_us=1,ports=all";
        let machine = Machine::parse(machine).unwrap();
        let mut evaluator = machine.evaluator(PricingContext::new(&topology, 10.0));
        let steps = sends(&[[(1, 3, 100), (0, 3, 1)]]);
        run(&topology, evaluator.as_mut(), &steps, &[], |_, _| 0);
        let parts = evaluator.cost().unwrap().parts;
        assert_eq!((parts[Kind::Startup], parts[Kind::Transmission]), (Some(10.0), Some(1000.0)));
        assert_eq!(parts[Kind::Contention], Some(15.0 + 1005.0 - 1010.0));
    }
}
