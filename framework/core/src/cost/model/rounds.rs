//! In how many rounds the circuits of a crowded step can be set up.
//!
//! The fullest link's circuits over q, rounded up, is the least conceivable: five circuits of two
//! links each around a ring of five put two on every link, but no two of them that share no link
//! leave room for a third, so that it takes three rounds, not two. The least number is a colouring
//! problem (of paths); what is counted here are the rounds of one real arrangement, *first fit*:
//! circuits in the order of their length, the longest first, each in the first round in which all
//! its links, and the ports at either end, have room.

use crate::network::topology::Topology;
use crate::simulation::step::{Step, Transfer};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// Steps of so many circuits times links are not arranged: [`Arranger::first_fit`] says `None`.
pub(super) const MOST_CROSSINGS: u64 = 1 << 22;

/// Room for circuits in one round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// On a directed link.
    pub link: u64,
    /// Ports of a node, each with as much room as a link, for what it sends and for what it
    /// receives; `None` for as many as there are.
    pub ports: Option<u64>,
}

/// In how many rounds a step is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rounds {
    /// How many; at least 1.
    pub count: u64,
    /// What they hold, where the circuits of the step were arranged.
    pub arranged: Option<Arranged>,
}

/// The rounds of an arrangement, added up. Loads are in parts, over the links' bandwidths.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Arranged {
    /// What the links of the longest circuit of each round cost, in hops of the machine's.
    pub hops: f64,
    /// Load of the longest message of each round.
    pub alone: f64,
    /// Of each round the largest load of a circuit, times the circuits that it shares some link or
    /// port with, itself among them.
    pub multiplexed: f64,
}

/// How fast circuits get through.
#[derive(Debug, Clone, Copy)]
enum Speed {
    /// What a circuit that has the link for itself takes for a load of 1.
    Link(f64),
    /// So many ports share a node's circuits.
    Ports(f64),
}

/// What fills up: a link, or a node in one of its two roles.
#[derive(Debug)]
struct Resource {
    /// Circuits it has room for in a round.
    room: u64,
    speed: Speed,
    /// Circuits in each round.
    taken: Vec<u64>,
    /// A bit a round: whether it is full.
    full: Vec<u64>,
}

impl Resource {
    fn clear(&mut self, room: u64, speed: Speed) {
        (self.room, self.speed) = (room, speed);
        self.taken.clear();
        self.full.clear();
    }

    fn take(&mut self, round: usize) {
        if self.taken.len() <= round {
            self.taken.resize(round + 1, 0);
            self.full.resize(round / 64 + 1, 0);
        }
        self.taken[round] += 1;
        if self.taken[round] >= self.room {
            self.full[round / 64] |= 1 << (round % 64);
        }
    }
}

/// Arranges steps, one after another: its memory is used again.
#[derive(Debug)]
pub(super) struct Arranger {
    topology: Arc<dyn Topology>,
    /// The number of each link, and after them of each sender and each receiver, among the
    /// resources of the step, from 1; 0 for none yet.
    numbers: Numbers,
    resources: Vec<Resource>,
    /// Resources in use in this step.
    used: Vec<u64>,
    /// The circuits of the step: round, load, and where what they need begins in `needs`.
    placed: Vec<(usize, u64, usize)>,
    needs: Vec<usize>,
}

/// Numbers by key: in an array unless that would be large.
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
    pub(super) fn new(topology: &Arc<dyn Topology>) -> Self {
        /// 64 MiB of numbers.
        const MOST_IN_ARRAY: u64 = 1 << 24;
        let keys = topology.link_slots().saturating_add(2 * topology.nodes());
        let numbers = match keys {
            0..=MOST_IN_ARRAY => Numbers::Array(vec![0; keys as usize]),
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

    /// How first fit arranges a step; `None` where there is too much to arrange.
    pub(super) fn first_fit(&mut self, step: &Step<'_>, room: Room) -> Option<Rounds> {
        let crossings =
            step.transfers.iter().fold(0, |sum: u64, t| sum.saturating_add(t.hops.into()));
        if crossings > MOST_CROSSINGS {
            return None;
        }
        for key in self.used.drain(..) {
            *self.numbers.of(key) = 0;
        }
        let mut circuits: Vec<&Transfer> = step.transfers.iter().collect();
        circuits.sort_unstable_by_key(|t| (Reverse(t.hops), t.from, t.to));
        let mut full = Vec::new();
        // Of each round the longest circuit: the first in it, unless links cost unlike.
        let mut hops: Vec<f64> = Vec::new();
        self.placed.clear();
        self.needs.clear();
        for t in circuits {
            let first = self.needs.len();
            self.add_needs(t, step, room);
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

    /// What the links of a circuit cost, in hops of the machine's.
    fn latency(&self, t: &Transfer, step: &Step<'_>) -> f64 {
        if self.topology.latencies().is_none() {
            return t.hops.into();
        }
        let route = t.route.checked_sub(1).map(|i| &step.routes[i as usize]);
        let mut sum = 0.0;
        // It was a route when the step was measured.
        let _ = self.topology.route(t.from.into(), t.to.into(), route, &mut |run| {
            sum += (0..run.len)
                .map(|i| self.topology.latency(run.first + i * run.stride))
                .sum::<f64>();
        });
        sum
    }

    /// What is carried in so many rounds.
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
            // Between two ranks of a node there is no link: the machine's bandwidth.
            if alone == 0.0 {
                (alone, shared) = (1.0, 1.0);
            }
            // A port is as fast as the slowest link of the circuit that has it.
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

    /// The resources that a circuit needs: its links, and the ports at either end where they are
    /// counted.
    fn add_needs(&mut self, t: &Transfer, step: &Step<'_>, room: Room) {
        let mut needed = std::mem::take(&mut self.needs);
        let topology = Arc::clone(&self.topology);
        let route = t.route.checked_sub(1).map(|i| &step.routes[i as usize]);
        // It was a route when the step was measured.
        let _ = topology.route(t.from.into(), t.to.into(), route, &mut |run| {
            needed.extend((0..run.len).map(|i| {
                let link = run.first + i * run.stride;
                self.resource(link, room.link, Speed::Link(1.0 / topology.bandwidth(link)))
            }));
        });
        if let Some(ports) = room.ports {
            let sender = topology.link_slots() + topology.host(t.from.into());
            let receiver = topology.link_slots() + topology.nodes() + topology.host(t.to.into());
            let all = ports.saturating_mul(room.link);
            needed.extend(
                [sender, receiver].map(|key| self.resource(key, all, Speed::Ports(ports as f64))),
            );
        }
        self.needs = needed;
    }

    fn resource(&mut self, key: u64, room: u64, speed: Speed) -> usize {
        let number = self.numbers.of(key);
        if *number == 0 {
            self.used.push(key);
            *number = self.used.len() as u32;
            if self.resources.len() < self.used.len() {
                self.resources.push(Resource { room, speed, taken: Vec::new(), full: Vec::new() });
            }
            self.resources[self.used.len() - 1].clear(room, speed);
        }
        *number as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use crate::cost::model::test_steps::cost;

    fn startups(topology: &str, machine: &str, sends: &[(u32, u32, u64)]) -> (f64, String) {
        let cost = cost(topology, &format!("free:model=circuit,startup_us=1,{machine}"), &[sends]);
        (cost.parts.startup.unwrap(), cost.note.unwrap_or_default())
    }

    fn shift(nodes: u32, by: u32) -> Vec<(u32, u32, u64)> {
        (0..nodes).map(|i| (i, (i + by) % nodes, 1)).collect()
    }

    #[test]
    fn five_arcs_of_two_links_around_a_ring_of_five_take_three_turns() {
        assert_eq!(startups("ring:5", "virtual_channels=1", &shift(5, 2)).0, 3.0);
        assert_eq!(startups("ring:5", "virtual_channels=2", &shift(5, 2)), (1.0, String::new()));
        assert_eq!(startups("ring:6", "virtual_channels=1", &shift(6, 2)).0, 2.0);
        assert_eq!(startups("ring:6", "virtual_channels=1", &shift(6, 3)).0, 3.0);
    }

    #[test]
    fn ports_have_room_for_as_many_circuits_as_links_have() {
        // Two circuits share a link; all three leave one node.
        let sends = [(0, 1, 1), (0, 2, 1), (0, 7, 1)];
        assert_eq!(startups("mesh:8", "virtual_channels=1,ports=all", &sends).0, 3.0);
        assert_eq!(startups("ring:8", "virtual_channels=1,ports=all", &sends).0, 2.0);
        assert_eq!(startups("ring:8", "virtual_channels=1,ports=1", &sends).0, 3.0);
        assert_eq!(startups("ring:8", "virtual_channels=2,ports=1", &sends).0, 2.0);
    }

    #[test]
    fn each_turn_has_the_hops_and_bytes_of_its_own_circuits() {
        let parts = |topology: &str, machine: &str, sends: &[(u32, u32, u64)]| {
            let parts = cost(
                topology,
                &format!("free:model=circuit,byte_us=1,hop_us=1,{machine}"),
                &[sends],
            )
            .parts;
            [parts.propagation, parts.transmission, parts.contention].map(Option::unwrap)
        };
        // Of 11 arcs of 5 links two fit beside each other: six rounds of equal messages.
        let thousand: Vec<_> = (0..11).map(|i| (i, (i + 5) % 11, 1000)).collect();
        assert_eq!(parts("ring:11", "virtual_channels=1", &thousand), [30.0, 6000.0, 0.0]);
        // All over one link, one by one.
        let gather = [(1, 0, 1000), (2, 0, 1), (3, 0, 1), (4, 0, 1), (5, 0, 1)];
        assert_eq!(parts("mesh:6", "virtual_channels=1,ports=all", &gather), [15.0, 1004.0, 0.0]);
        // Two at a time share it: the long one with the shortest circuit left, and alone with none.
        assert_eq!(parts("mesh:6", "virtual_channels=2,ports=all", &gather), [9.0, 1002.0, 2.0]);
        assert_eq!(parts("mesh:6", "virtual_channels=5,ports=all", &gather), [5.0, 1000.0, 4000.0]);
    }

    #[test]
    fn what_is_too_much_to_arrange_is_said_to_take_at_least_the_fullest_links_turns() {
        // 2100 circuits over 2100 links each: more than 2^22.
        let far: Vec<_> = (0..2100).map(|i| (i, i + 2100, 1)).collect();
        let (rounds, note) = startups("mesh:4200", "virtual_channels=1", &far);
        assert_eq!(rounds, 2100.0);
        assert_eq!(
            note,
            "priced in turns, at least 2100 in all: up to 2100 circuits at once on a link with virtual_channels=1; a round of more than 4194304 circuits \
             times links is not arranged"
        );
        let (_, note) = startups("mesh:40", "virtual_channels=1", &[(0, 20, 1), (1, 21, 1)]);
        assert_eq!(
            note,
            "priced in turns: up to 2 circuits at once on a link with virtual_channels=1"
        );
    }
}
