//! Assigns the circuits of a step to rounds, if links have too few virtual channels for all at
//! once.
//!
//! A lower bound on the number of rounds is the number of circuits on the busiest link, divided by
//! the number of channels q. It cannot always be reached: five circuits of two links each around a
//! ring of five nodes put two circuits on every link, but need three rounds for q = 1. Finding the
//! minimum is a path colouring problem. This module uses *first fit*: circuits are sorted by
//! length, the longest first. Each is placed in the first round in which all of its links, and the
//! ports of its ends, have capacity left.

use crate::network::topology::{Network, Run};
use crate::simulation::step::{Step, Transfer};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// If the circuits of a step cross more links than this in total, they are not assigned to rounds.
pub(super) const MAX_CROSSINGS: u64 = 1 << 22;

#[derive(Debug, Clone, Copy)]
pub(super) struct Capacity {
    pub link: u64,
    /// The number of sending and of receiving ports of a node, if it is limited.
    pub ports: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rounds {
    pub count: u64,
    pub arranged: Option<Arranged>,
}

/// Sums over all rounds of a step. Loads are numbers of segments, divided by a bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Arranged {
    /// The sum of the latencies of each round's longest circuit, in units of `hop_us`.
    pub hops: f64,
    /// The sum of the loads of each round's longest message.
    pub alone: f64,
    /// The sum of the largest multiplexed loads of each round: a circuit's load times the number of
    /// circuits that share its most crowded link or port.
    pub multiplexed: f64,
}

#[derive(Debug, Clone, Copy)]
enum Speed {
    Link(f64),
    Ports(f64),
}

/// A resource for circuits: a link, or all sending or all receiving ports of a node.
#[derive(Debug)]
struct Resource {
    capacity: u64,
    speed: Speed,
    taken: Vec<u64>,
    full: Vec<u64>,
}

impl Resource {
    fn clear(&mut self, capacity: u64, speed: Speed) {
        (self.capacity, self.speed) = (capacity, speed);
        self.taken.clear();
        self.full.clear();
    }

    fn take(&mut self, round: usize) {
        if self.taken.len() <= round {
            self.taken.resize(round + 1, 0);
            self.full.resize(round / 64 + 1, 0);
        }
        self.taken[round] += 1;
        if self.taken[round] >= self.capacity {
            self.full[round / 64] |= 1 << (round % 64);
        }
    }
}

#[derive(Debug)]
pub(super) struct Arranger {
    topology: Arc<Network>,
    numbers: Numbers,
    resources: Vec<Resource>,
    used: Vec<u64>,
    /// For each circuit, its round, its load, and the position in `needs` of its first resource.
    placed: Vec<(usize, u64, usize)>,
    needs: Vec<usize>,
}

#[derive(Debug)]
enum Numbers {
    Array(Vec<u32>),
    Map(HashMap<u64, u32>),
}

impl Numbers {
    fn of(&mut self, key: u64) -> &mut u32 {
        match self {
            Self::Array(numbers) => &mut numbers[key as usize],
            Self::Map(numbers) => numbers.entry(key).or_default(),
        }
    }
}

impl Arranger {
    pub(super) fn new(topology: &Arc<Network>) -> Self {
        const MAX_IN_ARRAY: u64 = 1 << 24;
        let keys = topology.link_slots().saturating_add(2 * topology.nodes());
        let numbers = match keys {
            0..=MAX_IN_ARRAY => Numbers::Array(vec![0; keys as usize]),
            _ => Numbers::Map(HashMap::new()),
        };
        Self {
            topology: Arc::clone(topology),
            numbers,
            resources: Vec::new(),
            used: Vec::new(),
            placed: Vec::new(),
            needs: Vec::new(),
        }
    }

    pub(super) fn first_fit(&mut self, step: &Step<'_>, capacity: Capacity) -> Option<Rounds> {
        let crossings =
            step.transfers.iter().fold(0, |sum: u64, t| sum.saturating_add(t.hops.into()));
        if crossings > MAX_CROSSINGS {
            return None;
        }
        for key in self.used.drain(..) {
            *self.numbers.of(key) = 0;
        }
        let mut circuits: Vec<&Transfer> = step.transfers.iter().collect();
        circuits.sort_unstable_by_key(|t| (Reverse(t.hops), t.from, t.to));
        let mut full = Vec::new();
        let mut hops: Vec<f64> = Vec::new();
        self.placed.clear();
        self.needs.clear();
        for t in circuits {
            let first = self.needs.len();
            self.add_needs(t, step, capacity);
            full.clear();
            for resource in &self.needs[first..] {
                let other = &self.resources[*resource].full;
                if full.len() < other.len() {
                    full.resize(other.len(), 0);
                }
                full.iter_mut().zip(other).for_each(|(set, bits): (&mut u64, _)| *set |= bits);
            }
            let word = full.iter().position(|bits| *bits != u64::MAX).unwrap_or(full.len());
            let round = word * 64 + full.get(word).map_or(0, |bits| bits.trailing_ones() as usize);
            for resource in &self.needs[first..] {
                self.resources[*resource].take(round);
            }
            if hops.len() <= round {
                hops.resize(round + 1, 0.0);
            }
            hops[round] = hops[round].max(self.latency(t, step));
            self.placed.push((round, t.load, first));
        }
        let arranged = Arranged { hops: hops.iter().sum(), ..self.loads(hops.len()) };
        Some(Rounds { count: hops.len() as u64, arranged: Some(arranged) })
    }

    fn latency(&self, t: &Transfer, step: &Step<'_>) -> f64 {
        if self.topology.latencies().is_none() {
            return t.hops.into();
        }
        let route = t.route.checked_sub(1).map(|i| &step.routes[i as usize]);
        let mut sum = 0.0;
        let mut add = |run: Run| {
            sum += run.links().map(|link| self.topology.latency(link)).sum::<f64>();
        };
        let routed = self.topology.route(t.from.into(), t.to.into(), route, &mut add);
        routed.expect("the route was checked when the step was measured");
        sum
    }

    fn loads(&self, rounds: usize) -> Arranged {
        let mut longest = vec![(0.0_f64, 0.0_f64); rounds];
        let ends = self.placed.iter().skip(1).map(|(.., first)| *first).chain([self.needs.len()]);
        for ((round, load, first), end) in self.placed.iter().zip(ends) {
            let (mut alone, mut shared, mut at_ports) = (0.0_f64, 0.0_f64, 0.0_f64);
            for resource in self.needs[*first..end].iter().map(|i| &self.resources[*i]) {
                let taken = resource.taken[*round] as f64;
                match resource.speed {
                    Speed::Link(inverse_bandwidth) => {
                        alone = alone.max(inverse_bandwidth);
                        shared = shared.max(inverse_bandwidth * taken);
                    }
                    Speed::Ports(ports) => at_ports = at_ports.max(taken / ports),
                }
            }
            if alone == 0.0 {
                (alone, shared) = (1.0, 1.0);
            }
            shared = shared.max(alone * at_ports);
            let (of_alone, of_shared) = &mut longest[*round];
            *of_alone = of_alone.max(alone * *load as f64);
            *of_shared = of_shared.max(shared * *load as f64);
        }
        let add = |sum: Arranged, (alone, shared): &(f64, f64)| Arranged {
            alone: sum.alone + alone,
            multiplexed: sum.multiplexed + shared,
            ..sum
        };
        longest.iter().fold(Arranged::default(), add)
    }

    fn add_needs(&mut self, t: &Transfer, step: &Step<'_>, capacity: Capacity) {
        let mut needed = std::mem::take(&mut self.needs);
        let topology = Arc::clone(&self.topology);
        let route = t.route.checked_sub(1).map(|i| &step.routes[i as usize]);
        let mut add = |run: Run| {
            needed.extend(run.links().map(|link| {
                self.resource(link, capacity.link, Speed::Link(1.0 / topology.bandwidth(link)))
            }));
        };
        let routed = topology.route(t.from.into(), t.to.into(), route, &mut add);
        routed.expect("the route was checked when the step was measured");
        if let Some(ports) = capacity.ports {
            let sender = topology.link_slots() + topology.physical_node(t.from.into());
            let receiver =
                topology.link_slots() + topology.nodes() + topology.physical_node(t.to.into());
            let all = ports.saturating_mul(capacity.link);
            needed.extend(
                [sender, receiver].map(|key| self.resource(key, all, Speed::Ports(ports as f64))),
            );
        }
        self.needs = needed;
    }

    fn resource(&mut self, key: u64, capacity: u64, speed: Speed) -> usize {
        let number = self.numbers.of(key);
        if *number == 0 {
            self.used.push(key);
            *number = self.used.len() as u32;
            if self.resources.len() < self.used.len() {
                self.resources.push(Resource {
                    capacity,
                    speed,
                    taken: Vec::new(),
                    full: Vec::new(),
                });
            }
            self.resources[self.used.len() - 1].clear(capacity, speed);
        }
        *number as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use crate::cost::kind::Kind;
    use crate::cost::model::test_steps::cost;

    fn startups(topology: &str, machine: &str, sends: &[(u32, u32, u64)]) -> (f64, String) {
        let cost = cost(topology, &format!("free:model=circuit,startup_us=1,{machine}"), &[sends]);
        (cost.parts[Kind::Startup].unwrap(), cost.note.unwrap_or_default())
    }

    fn shift(nodes: u32, by: u32) -> Vec<(u32, u32, u64)> {
        (0..nodes).map(|i| (i, (i + by) % nodes, 1)).collect()
    }

    #[test]
    fn five_circuits_of_two_links_on_a_ring_of_five_take_three_rounds() {
        assert_eq!(startups("ring:5", "virtual_channels=1", &shift(5, 2)).0, 3.0);
        assert_eq!(startups("ring:5", "virtual_channels=2", &shift(5, 2)), (1.0, String::new()));
        assert_eq!(startups("ring:6", "virtual_channels=1", &shift(6, 2)).0, 2.0);
        assert_eq!(startups("ring:6", "virtual_channels=1", &shift(6, 3)).0, 3.0);
    }

    #[test]
    fn ports_carry_as_many_circuits_as_links() {
        let sends = [(0, 1, 1), (0, 2, 1), (0, 7, 1)];
        assert_eq!(startups("mesh:8", "virtual_channels=1,ports=all", &sends).0, 3.0);
        assert_eq!(startups("ring:8", "virtual_channels=1,ports=all", &sends).0, 2.0);
        assert_eq!(startups("ring:8", "virtual_channels=1,ports=1", &sends).0, 3.0);
        assert_eq!(startups("ring:8", "virtual_channels=2,ports=1", &sends).0, 2.0);
    }

    #[test]
    fn each_round_has_the_hops_and_bytes_of_its_own_circuits() {
        let parts = |topology: &str, machine: &str, sends: &[(u32, u32, u64)]| {
            let parts = cost(
                topology,
                &format!("free:model=circuit,byte_us=1,hop_us=1,{machine}"),
                &[sends],
            )
            .parts;
            [parts[Kind::Propagation], parts[Kind::Transmission], parts[Kind::Contention]]
                .map(Option::unwrap)
        };
        // A round has capacity for two of 11 circuits of 5 links each, so there are six rounds.
        let thousand: Vec<_> = (0..11).map(|i| (i, (i + 5) % 11, 1000)).collect();
        assert_eq!(parts("ring:11", "virtual_channels=1", &thousand), [30.0, 6000.0, 0.0]);
        let gather = [(1, 0, 1000), (2, 0, 1), (3, 0, 1), (4, 0, 1), (5, 0, 1)];
        assert_eq!(parts("mesh:6", "virtual_channels=1,ports=all", &gather), [15.0, 1004.0, 0.0]);
        assert_eq!(parts("mesh:6", "virtual_channels=2,ports=all", &gather), [9.0, 1002.0, 2.0]);
        assert_eq!(parts("mesh:6", "virtual_channels=5,ports=all", &gather), [5.0, 1000.0, 4000.0]);
    }

    #[test]
    fn large_steps_take_at_least_the_rounds_of_their_busiest_link() {
        let far: Vec<_> = (0..2100).map(|i| (i, i + 2100, 1)).collect();
        let (rounds, note) = startups("mesh:4200", "virtual_channels=1", &far);
        assert_eq!(rounds, 2100.0);
        assert_eq!(
            note,
            "run in rounds, at least 2100 in total: up to 2100 simultaneous circuits on a link with virtual_channels=1; steps with more than \
             4194304 circuits times links are not arranged"
        );
        let (_, note) = startups("mesh:40", "virtual_channels=1", &[(0, 20, 1), (1, 21, 1)]);
        assert_eq!(
            note,
            "run in rounds: up to 2 simultaneous circuits on a link with virtual_channels=1"
        );
    }
}
