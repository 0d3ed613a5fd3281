//! Code that all models of synchronous steps share.
//!
//! Steps follow each other, with a barrier between two steps. A step is run in several *rounds* if
//! a node has more messages than ports, or a link more circuits than virtual channels. This module
//! adds up the costs of steps, which each model defines ([`StepModel`]), and charges barriers,
//! rearrangements and reductions.

use super::rounds::{Arranger, Capacity, MAX_CROSSINGS, Rounds};
use super::{Cost, Evaluator, Model, PricingContext, segment_bytes};
use crate::cost::bound::{self, Bound, BoundKind, Traffic};
use crate::cost::kind::{Kind, Parts, Times};
use crate::cost::parameter::{
    BARRIER_US, Barrier, DefaultValue, INJECTION_BYTE_US, PORTS, PortLimit, REARRANGE_BYTE_US,
    REDUCE_BYTE_US, TypedParameter, parse_word,
};
use crate::cost::settings::{parameters, word_enum};
use crate::network::topology::Network;
use crate::simulation::listener::{Detail, Interests, Listener, ScheduleEvent, Summed};
use crate::simulation::step::{Step, StepFacts};
use std::sync::Arc;

/// Raises the cost of a step to the time of the busiest node's bytes on its link into the network.
/// The time of bytes beyond the longest message is contention. `unit_us` is the time of a unit of
/// load.
fn or_injected(cost: Times, facts: &StepFacts, unit_us: f64) -> Times {
    if unit_us == 0.0 {
        return cost;
    }
    let node = facts.max_injected_load as f64 * unit_us;
    let longest = facts.max_load.min(facts.max_injected_load) as f64 * unit_us;
    let transmission = cost[Kind::Transmission].max(longest);
    let all = (cost[Kind::Transmission] + cost[Kind::Contention]).max(node);
    cost.with(Kind::Transmission, transmission).with(Kind::Contention, all - transmission)
}

pub(super) trait StepModel: Model + Copy {
    const HAS_PROPAGATION: bool = true;

    const WANTS_BUSIEST_LINKS: bool = false;

    fn step_cost(
        &self,
        step: &Step<'_>,
        topology: &Network,
        unit_bytes: f64,
        rounds: Rounds,
    ) -> Times;

    fn common_costs(&self) -> &CommonCosts;

    fn channels(&self) -> Option<u64> {
        None
    }

    /// Returns a bound for all steps together. `network_us` is a bound on transmission, and `kind`
    /// is its kind. `propagation_us` is a bound on propagation.
    fn bound_of_steps(
        &self,
        topology: &Network,
        traffic: &Traffic,
        startup_us: f64,
        ([propagation_us, network_us], kind): ([f64; 2], BoundKind),
    ) -> Bound {
        let common = self.common_costs();
        // A port carries one message or, in a model of circuits, as many circuits as a link.
        let messages = common.ports.count().saturating_mul(self.channels().unwrap_or(1));
        let steps = bound::fewest_steps(traffic.peers + 1, messages) as f64;
        let (transmission_us, kind) =
            bound::or_injected(topology, traffic, common.injection_byte_us, network_us, kind);
        let times = Times::of([
            (Kind::Startup, steps * startup_us),
            (Kind::Transmission, transmission_us),
            (Kind::Propagation, propagation_us),
            (Kind::Barrier, (steps - 1.0) * common.barrier_us.us(topology.nodes())),
            (Kind::Reduction, traffic.summed * common.reduce_byte_us),
        ]);
        Bound { times, kind }
    }
}

word_enum! {
    pub(super) enum Rearrangement {
        /// The rearrangements that the schedule declares. The paper of its algorithm charges these.
        Declared = "declared",
        /// Messages of several blocks, gathered at the sender and scattered at the receiver.
        Packed = "packed",
        /// As `packed`, but only in collectives that distinguish blocks by origin and destination.
        Exchanges = "exchanges",
    }
}

static REARRANGEMENT: TypedParameter<Rearrangement> = TypedParameter {
    key: "rearrangement",
    meaning: "rearranged bytes: `packed`, those of every message with more than one block, at both ends; `exchanges`, the same, but only in an all-to-all, because the blocks of a message can be contiguous in other collectives; `declared`, those that the schedule declares",
    symbols: "",
    default: DefaultValue::Text("packed"),
    read: |text| parse_word(text, Rearrangement::WORDS),
};

pub(super) static REARRANGE_BLOCK_US: TypedParameter<f64> = TypedParameter::micros(
    "rearrange_block_us",
    "rearrangement of a block within a node, in addition to that of its bytes; tokens are charged by their bytes alone",
    "",
);

parameters! {
    #[derive(Copy)]
    pub(super) struct CommonCosts {
        pub(super) injection_byte_us: f64 = INJECTION_BYTE_US,
        pub(super) rearrange_byte_us: f64 = REARRANGE_BYTE_US,
        pub(super) rearrangement: Rearrangement = REARRANGEMENT,
        pub(super) rearrange_block_us: f64 = REARRANGE_BLOCK_US,
        pub(super) reduce_byte_us: f64 = REDUCE_BYTE_US,
        pub(super) barrier_us: Barrier = BARRIER_US,
        pub(super) ports: PortLimit = PORTS,
    }
}

pub(super) struct Synchronous<M> {
    model: M,
    common_costs: CommonCosts,
    topology: Arc<Network>,
    unit_bytes: f64,
    /// The number of rounds of all steps. There is a barrier between two rounds.
    rounds: u64,
    total: Times,
    steps: u64,
    declared: u64,
    packs: bool,
    counted: bool,
    exchanges: bool,
    rearranges_uncounted_blocks: bool,
    has_sums: bool,
    max_simultaneous: u64,
    max_circuits: u64,
    arranger: Option<Arranger>,
    /// Whether some circuits were not assigned to rounds. Then `rounds` is only a lower bound.
    at_least: bool,
    has_random_routes: bool,
}

impl<M: StepModel> Synchronous<M> {
    pub(super) fn new(model: M, context: PricingContext<'_>) -> Self {
        Self {
            model,
            common_costs: *model.common_costs(),
            topology: Arc::clone(context.topology),
            unit_bytes: context.unit_bytes,
            rounds: 0,
            total: Times::default(),
            steps: 0,
            declared: 0,
            packs: false,
            counted: context.counted,
            exchanges: context.exchanges,
            rearranges_uncounted_blocks: false,
            has_sums: false,
            max_simultaneous: 0,
            max_circuits: 0,
            arranger: None,
            at_least: false,
            has_random_routes: context.topology.random_routing().is_some(),
        }
    }

    fn rounds_at_ports(&self, messages: u64) -> u64 {
        self.common_costs.ports.rounds(messages.div_ceil(self.model.channels().unwrap_or(1)))
    }

    /// Returns the rounds of a step. Its ports require `at_ports` rounds. These are enough if no
    /// link has more than `channels` circuits.
    fn rounds_on_links(&mut self, step: &Step<'_>, channels: u64, at_ports: u64) -> Rounds {
        let circuits = step.facts.max_link_messages;
        if circuits <= channels {
            return Rounds { count: at_ports, arranged: None };
        }
        let ports = match self.common_costs.ports {
            PortLimit::Count(ports) => Some(ports),
            PortLimit::All => None,
        };
        let arranger = self.arranger.get_or_insert_with(|| Arranger::new(&self.topology));
        arranger.first_fit(step, Capacity { link: channels, ports }).unwrap_or_else(|| {
            self.at_least = true;
            Rounds { count: circuits.div_ceil(channels).max(at_ports), arranged: None }
        })
    }
}

/// The remark on a schedule that packs blocks, but declares no rearrangement.
pub const UNDECLARED: &str = "declares no rearrangement, though messages are of several blocks";

const EXPECTED: &str = "loads of links and hops are expected values over the random routes";
const DRAWN: &str = "one random route per pair, chosen by the seed";

impl<M: StepModel> Synchronous<M> {
    fn parts(&self) -> Parts {
        let barriers = self.rounds.saturating_sub(1) as f64;
        let barriers_us = barriers * self.common_costs.barrier_us.us(self.topology.nodes());
        self.total.with(Kind::Barrier, barriers_us).parts(|kind| match kind {
            Kind::Propagation => M::HAS_PROPAGATION,
            Kind::Reduction => self.has_sums,
            _ => true,
        })
    }

    fn remarks(&self) -> impl Iterator<Item = &'static str> {
        let is_one_step =
            self.steps == 1 && self.max_simultaneous > 1 && self.total[Kind::Contention] > 0.0;
        let charged = self.common_costs.rearrange_byte_us > 0.0
            && self.common_costs.rearrangement == Rearrangement::Declared;
        let undeclared = charged && self.declared == 0 && self.packs;
        let remarks = [
            (is_one_step, "all messages are in one step and share links for its whole duration"),
            (undeclared, UNDECLARED),
            (self.has_random_routes && self.model.channels().is_none(), EXPECTED),
            (self.has_random_routes && self.model.channels().is_some(), DRAWN),
        ];
        remarks.into_iter().filter(|(applies, _)| *applies).map(|(_, remark)| remark)
    }
}

impl<M: StepModel> Synchronous<M> {
    fn step(&mut self, step: &Step<'_>) {
        let at_once = step.facts.max_sends.max(step.facts.max_receives);
        self.max_simultaneous = self.max_simultaneous.max(at_once);
        let unit_bytes = segment_bytes(self.unit_bytes, step.segments);
        let mut rounds = Rounds { count: self.rounds_at_ports(at_once), arranged: None };
        if let Some(channels) = self.model.channels() {
            self.max_circuits = self.max_circuits.max(step.facts.max_link_messages);
            rounds = self.rounds_on_links(step, channels, rounds.count);
        }
        self.steps += 1;
        let packed = step.facts.max_packed_load.unwrap_or(0);
        self.packs |= packed > 0 || self.counted && step.facts.max_load > step.segments;
        let is_charged = match self.common_costs.rearrangement {
            Rearrangement::Packed => true,
            Rearrangement::Exchanges => self.exchanges,
            Rearrangement::Declared => false,
        };
        if is_charged {
            self.rearrange(packed as f64 * unit_bytes, step.packed_blocks(self.counted));
        }
        let cost = self.model.step_cost(step, self.topology.as_ref(), unit_bytes, rounds);
        let unit_us = unit_bytes * self.common_costs.injection_byte_us;
        let cost = or_injected(cost, &step.facts, unit_us);
        assert!(
            rounds.count > 0 && !cost.0.iter().any(|us| *us < 0.0),
            "a step takes a negative time: {cost:?}"
        );
        self.rounds += rounds.count;
        self.total += cost;
    }

    fn summed(&mut self, Summed { most, segments, of: _, symmetry: _ }: Summed<'_>) {
        let bytes = most as f64 * segment_bytes(self.unit_bytes, segments);
        self.has_sums = true;
        self.total[Kind::Reduction] += bytes * self.common_costs.reduce_byte_us;
    }

    fn rearranged(&mut self, most: u64, segments: u64) {
        self.declared += 1;
        if self.common_costs.rearrangement == Rearrangement::Declared {
            let bytes = most as f64 * segment_bytes(self.unit_bytes, segments);
            self.rearranges_uncounted_blocks |= most > 0 && !self.counted;
            self.rearrange(bytes, most as f64 / segments as f64);
        }
    }

    fn rearrange(&mut self, bytes: f64, blocks: f64) {
        let CommonCosts { rearrange_byte_us, rearrange_block_us, .. } = self.common_costs;
        self.total[Kind::Rearrangement] += bytes * rearrange_byte_us + blocks * rearrange_block_us;
    }
}

impl<M: StepModel> Listener for Synchronous<M> {
    fn interests(&self) -> Interests {
        let CommonCosts { rearrange_byte_us, rearrange_block_us, .. } = self.common_costs;
        let is_charged = self.common_costs.rearrangement != Rearrangement::Declared;
        let has_cost = rearrange_byte_us > 0.0 || rearrange_block_us > 0.0;
        let packing = has_cost && (is_charged || !self.counted);
        let busiest_links = M::WANTS_BUSIEST_LINKS;
        let all_nodes = packing || busiest_links;
        Interests {
            detail: if all_nodes { Detail::AllNodes } else { self.model.detail() },
            multiplexing: self.model.channels().is_some(),
            packing,
            busiest_links,
            ..Interests::FACTS
        }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => self.step(step),
            ScheduleEvent::Summed(summed) => self.summed(summed),
            ScheduleEvent::Rearrangement { most, segments } => self.rearranged(most, segments),
            _ => {}
        }
    }
}

impl<M: StepModel> Evaluator for Synchronous<M> {
    fn cost(&mut self) -> Result<Cost, String> {
        if self.common_costs.rearrange_block_us > 0.0 && self.rearranges_uncounted_blocks {
            let why = "rearrange_block_us needs blocks of one size if the schedule declares what it rearranges: set rearrange_block_us=0 to price only bytes, or rearrangement=packed";
            return Err(why.to_owned());
        }
        let (ports, simultaneous) = (self.common_costs.ports, self.max_simultaneous);
        let mut reasons = Vec::new();
        if self.rounds_at_ports(simultaneous) > 1 {
            reasons.push(format!(
                "up to {simultaneous} simultaneous messages at a node with ports={ports}"
            ));
        }
        let circuits = self.max_circuits;
        if let Some(channels) = self.model.channels().filter(|channels| circuits > *channels) {
            reasons.push(format!(
                "up to {circuits} simultaneous circuits on a link with virtual_channels={channels}"
            ));
        }
        let (mut total, mut why) = (String::new(), String::new());
        if self.at_least {
            total = format!(", at least {} in total", self.rounds);
            why = format!(
                "; steps with more than {MAX_CROSSINGS} circuits times links are not arranged"
            );
        }
        let in_rounds = (!reasons.is_empty())
            .then(|| format!("run in rounds{total}: {}{why}", reasons.join(", ")));
        let notes: Vec<String> =
            in_rounds.into_iter().chain(self.remarks().map(str::to_owned)).collect();
        let parts = self.parts();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        let rounds = (!self.at_least).then_some(self.rounds);
        Ok(Cost { parts, note, rounds, ..Cost::default() })
    }

    fn parts_so_far(&self) -> Option<Parts> {
        Some(self.parts())
    }
}

#[cfg(test)]
mod tests {
    use super::REARRANGEMENT;
    use crate::cost::kind::Kind;
    use crate::cost::model::test_steps::cost;
    use crate::cost::model::{ModelKind, models};

    fn synchronous_models() -> impl Iterator<Item = &'static str> {
        let is_synchronous = |kind: &&&ModelKind| {
            kind.parameters.iter().any(|parameter| parameter.key() == REARRANGEMENT.key)
        };
        let names: Vec<&str> =
            models().iter().filter(is_synchronous).map(|kind| kind.name).collect();
        assert!(names.contains(&"wormhole") && !names.contains(&"fluid"), "{names:?}");
        names.into_iter()
    }

    fn of_bytes(topology: &str, machine: &str, sends: &[(u32, u32, u64)]) -> [f64; 2] {
        let parts = cost(topology, &format!("free:{machine}"), &[sends]).parts;
        [parts[Kind::Transmission], parts[Kind::Contention]].map(Option::unwrap)
    }

    /// A node has four links of 25 GB/s but injects only 50 GB/s.
    #[test]
    fn a_step_takes_the_larger_of_link_and_injection_times() {
        let neighbours = [(0, 1, 1000), (0, 3, 1000), (0, 4, 1000), (0, 12, 1000)];
        for model in synchronous_models() {
            let of = |more: &str, sends| {
                of_bytes("torus:4x4", &format!("model={model},byte_us=0.04,ports=all{more}"), sends)
            };
            assert_eq!(of("", &neighbours), [40.0, 0.0], "{model}");
            assert_eq!(
                of(",injection_byte_us=0.02", &neighbours),
                [40.0, 40.0],
                "{model}: 4000 bytes in 80 us"
            );
            assert_eq!(
                of(",injection_byte_us=0.02", &neighbours[..2]),
                [40.0, 0.0],
                "{model}: links take as long"
            );
            assert_eq!(of(",injection_byte_us=0.05", &neighbours[..1]), [50.0, 0.0], "{model}");
            assert_eq!(of(",injection_byte_us=0.05", &neighbours[..2]), [50.0, 50.0], "{model}");
            let gathered = neighbours.map(|(a, b, bytes)| (b, a, bytes));
            assert_eq!(of(",injection_byte_us=0.02", &gathered), [40.0, 40.0], "{model}");
        }
    }

    /// Routes within a group have two links with a latency of 0.25 `hop_us` each. Other routes have
    /// two links with a latency of `hop_us`.
    #[test]
    fn links_cost_their_own_latencies() {
        let step = [(0, 1, 8), (4, 5, 8)];
        for model in ["wormhole", "circuit", "fluid"] {
            let propagation = |topology: &str, sends: &[(u32, u32, u64)]| {
                cost(topology, &format!("free:model={model},hop_us=4,ports=all"), &[sends]).parts
                    [Kind::Propagation]
            };
            let tiers = "groups:2x4,inside=9,inside_hop=0.25";
            assert_eq!(propagation(tiers, &step), Some(2.0), "{model}");
            assert_eq!(
                propagation(tiers, &[step[0], (3, 4, 8)]),
                Some(8.0),
                "{model}: the longest route counts"
            );
            assert_eq!(propagation("groups:2x4,inside=9", &step), Some(8.0), "{model}");
        }
        let sends = [(0, 1, 8), (0, 2, 8), (4, 3, 8)];
        let rounds = cost("groups:2x4,inside_hop=0.25", "free:model=circuit,hop_us=4", &[&sends]);
        assert_eq!(rounds.parts[Kind::Propagation], Some(10.0));
    }

    #[test]
    fn ranks_of_a_node_share_its_ports_and_injection() {
        let across = [(0, 4, 1000), (1, 5, 1000)];
        for model in synchronous_models() {
            let machine =
                format!("free:model={model},startup_us=10,byte_us=0.01,virtual_channels=2");
            let machine = if model == "circuit" {
                machine
            } else {
                machine.replace(",virtual_channels=2", "")
            };
            let startup = |more: &str, sends: &[(u32, u32, u64)]| {
                cost("ring:4,ranks=4", &format!("{machine}{more}"), &[sends]).parts[Kind::Startup]
                    .unwrap()
            };
            let channels = if model == "circuit" { 1.0 } else { 2.0 };
            assert_eq!(startup("", &across), 10.0 * channels, "{model}: one port for both");
            assert_eq!(startup(",ports=2", &across), 10.0, "{model}");
            let within = [(0, 1, 1000)];
            assert_eq!(startup(",injection_byte_us=1", &within), 10.0, "{model}");
            let bytes = |sends| {
                of_bytes(
                    "ring:4,ranks=4",
                    &format!("model={model},byte_us=0.01,ports=2,injection_byte_us=0.1"),
                    sends,
                )
            };
            assert_eq!(bytes(&within), [10.0, 0.0], "{model}");
            let both = bytes(&across);
            assert_eq!(both[0] + both[1], 200.0, "{model}: 2000 bytes through one injection link");
        }
    }

    /// Only in the first step do both messages have the same sender.
    #[test]
    fn one_step_is_remarked_on_if_a_node_has_several_messages_in_it() {
        let of = |sends| {
            let cost = cost("mesh:4", "free:model=wormhole,byte_us=1,ports=all", &[sends]);
            (cost.parts[Kind::Contention], cost.note)
        };
        let remark = "all messages are in one step and share links for its whole duration";
        assert_eq!(of(&[(1, 2, 100), (1, 3, 100)]), (Some(100.0), Some(remark.to_owned())));
        assert_eq!(of(&[(0, 2, 100), (1, 3, 100)]), (Some(100.0), None));
    }

    /// The mean of hops is 4/3. In a former defect, the lower bound was that of the longest route.
    #[test]
    fn the_mean_of_hops_is_at_least_one_hop() {
        use crate::cost::bound::Traffic;
        use crate::cost::machine::Machine;
        use crate::delivery::collective::{Collective, GATHER};
        use crate::network::topology::parse;
        use crate::simulation::Task;
        let spec =
            "free:model=wormhole,byte_us=1,ports=all,injection_byte_us=2,hop_us=0.5,hops=mean";
        let gather = [(1, 0, 100), (2, 0, 100), (3, 0, 100)];
        let time = cost("ring:4", spec, &[&gather]).parts.total();
        let topology = parse("ring:4").unwrap();
        let traffic = Traffic::of(&Task::new(topology.clone(), Collective::of(&GATHER)));
        let machine = Machine::parse(spec).unwrap();
        let bound = machine.lower_bound(topology.as_ref(), &traffic.in_bytes(100.0)).total_us();
        assert!((time - (600.0 + 0.5 * 4.0 / 3.0)).abs() < 1e-9, "{time}");
        assert!((bound - 600.5).abs() < 1e-9, "{bound}");
    }

    #[test]
    fn models_without_a_network_refuse_several_ranks_per_node() {
        use crate::cost::machine::Machine;
        use crate::cost::model::PricingContext;
        let topology = crate::network::topology::parse("ring:4,ranks=2").unwrap();
        for model in ["flat", "loggp"] {
            let machine = Machine::parse(&format!("free:model={model}")).unwrap();
            let error = machine.evaluator(PricingContext::new(&topology, 1.0)).cost();
            let expected = format!(
                "the model `{model}` does not support several ranks per node: it needs ranks=1"
            );
            assert_eq!(error, Err(expected));
            let refused = Machine::parse(&format!("free:model={model},injection_byte_us=1"))
                .unwrap_err()
                .to_string();
            assert!(refused.contains("`injection_byte_us` is not read by the model"), "{refused}");
        }
    }
}
