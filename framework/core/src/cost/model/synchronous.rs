//! What models of synchronous steps have in common: steps one after another, a barrier between two of them, rearrangements, rounds where a step asks
//! more messages of a node than it has ports. What a step costs is the model's own.

use super::rounds::{Arranger, MOST_CROSSINGS, Room, Rounds};
use super::{Cost, Evaluator, Model, Parts, Scale, segment_bytes};
use crate::cost::parameter::{Barrier, Default, Ports, Typed, word};
use crate::network::topology::Topology;
use crate::simulation::step::{Listener, Reads, Step, Summed};
use std::fmt;
use std::sync::Arc;

/// What a step costs, in us. A part that the model has no meaning for is `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepCost {
    pub startup: f64,
    pub transmission: f64,
    pub propagation: Option<f64>,
    pub contention: f64,
}

/// Which bytes a node rearranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rearrangement {
    /// Those that the schedule says: algorithms say it, or don't, as their papers do.
    Declared,
    /// Those of every message of more than one block, to gather them at its sender and to scatter them at its receiver, whoever sends it.
    Packed,
}

impl Rearrangement {
    const WORDS: [(&'static str, Self); 2] = [("declared", Self::Declared), ("packed", Self::Packed)];
}

impl fmt::Display for Rearrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::WORDS.iter().find(|(_, rule)| rule == self).map_or("", |(word, _)| word))
    }
}

pub(super) static REARRANGEMENT: Typed<Rearrangement> = Typed {
    key: "rearrangement",
    meaning: "which bytes are rearranged: `packed`, those of every message of more than one block, at either end; `declared`, as the schedule says",
    symbols: "",
    default: Default::Text("packed"),
    read: |text| word(text, &Rearrangement::WORDS),
};

/// A model of synchronous steps.
pub(super) trait StepModel: Model + Copy {
    /// What no step at all costs: it says which parts the model has a meaning for.
    const NONE: StepCost;

    /// Whether it looks at [`Step::busiest_links`].
    const WANTS_BUSIEST_LINKS: bool = false;

    /// What a step costs that is run in so many rounds, with a unit of load of so many bytes.
    fn step_cost(&self, step: &Step<'_>, unit_bytes: f64, rounds: Rounds) -> StepCost;

    /// What is charged alike whatever the model.
    fn frame(&self) -> Frame;
}

/// What is charged alike in all models of synchronous steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub ports: Ports,
    pub barrier_us: Barrier,
    pub rearrange_byte_us: f64,
    pub rearrangement: Rearrangement,
    pub reduce_byte_us: f64,
    /// Circuits that a link carries at a time, where more are turned away.
    pub channels: Option<u64>,
}

pub(super) struct Synchronous<M> {
    model: M,
    frame: Frame,
    topology: Arc<dyn Topology>,
    unit_bytes: f64,
    /// Rounds of all steps: a round is a step of its own to the machine, with a barrier before the next.
    rounds: u64,
    total: StepCost,
    rearrangement: f64,
    /// Steps, and how often the schedule says that nodes rearrange; whether some message was of several blocks.
    steps: u64,
    declared: u64,
    packs: bool,
    /// Whether that shows in the load of the longest message; else blocks are looked at one by one.
    counted: bool,
    /// `None` until anything is added up.
    reduction: Option<f64>,
    most_at_once: u64,
    most_circuits: u64,
    /// Made when a step first needs it.
    arranger: Option<Arranger>,
    /// Whether some step had too many circuits to arrange, so that rounds are only the least conceivable.
    at_least: bool,
}

impl<M: StepModel> Synchronous<M> {
    pub(super) fn new(model: M, scale: Scale<'_>) -> Self {
        Self {
            model,
            frame: model.frame(),
            topology: Arc::clone(scale.topology),
            unit_bytes: scale.unit_bytes,
            rounds: 0,
            total: M::NONE,
            rearrangement: 0.0,
            steps: 0,
            declared: 0,
            packs: false,
            counted: scale.counted,
            reduction: None,
            most_at_once: 0,
            most_circuits: 0,
            arranger: None,
            at_least: false,
        }
    }

    /// Rounds for so many messages at once at a node. A port carries a message, or as many circuits as a link.
    fn rounds_at_ports(&self, at_once: u64) -> u64 {
        self.frame.ports.rounds(at_once.div_ceil(self.frame.channels.unwrap_or(1)))
    }

    /// Rounds for the circuits of a step, those at the ports if no link has more than it can carry at once.
    fn rounds_on_links(&mut self, step: &Step<'_>, channels: u64, at_ports: u64) -> Rounds {
        let circuits = step.facts.max_link_messages;
        if circuits <= channels {
            return Rounds { count: at_ports, arranged: None };
        }
        let ports = match self.frame.ports {
            Ports::Count(ports) => Some(ports),
            Ports::All => None,
        };
        let arranger = self.arranger.get_or_insert_with(|| Arranger::new(&self.topology));
        arranger.first_fit(step, Room { link: channels, ports }).unwrap_or_else(|| {
            self.at_least = true;
            Rounds { count: circuits.div_ceil(channels).max(at_ports), arranged: None }
        })
    }
}

/// The remark on a schedule that is charged for no rearrangement, as it declares none, though it packs and unpacks blocks.
pub const UNDECLARED: &str = "declares no rearrangement, though messages are of several blocks";

impl<M: StepModel> Synchronous<M> {
    /// What is right in the model and surprises whoever compares schedules.
    fn remarks(&self) -> impl Iterator<Item = &'static str> {
        let all_at_once = self.steps == 1 && self.most_at_once > 1 && self.total.contention > 0.0;
        let charged = self.frame.rearrange_byte_us > 0.0 && self.frame.rearrangement == Rearrangement::Declared;
        let undeclared = charged && self.declared == 0 && self.packs;
        let remarks = [
            (all_at_once, "one step: its messages share links over the whole of it, as those of several steps don't"),
            (undeclared, UNDECLARED),
        ];
        remarks.into_iter().filter(|(applies, _)| *applies).map(|(_, remark)| remark)
    }
}

impl<M: StepModel> Listener for Synchronous<M> {
    fn step(&mut self, step: &Step<'_>) {
        let at_once = step.facts.max_sends.max(step.facts.max_receives);
        self.most_at_once = self.most_at_once.max(at_once);
        let unit_bytes = segment_bytes(self.unit_bytes, step.segments);
        let mut rounds = Rounds { count: self.rounds_at_ports(at_once), arranged: None };
        if let Some(channels) = self.frame.channels {
            self.most_circuits = self.most_circuits.max(step.facts.max_link_messages);
            rounds = self.rounds_on_links(step, channels, rounds.count);
        }
        self.steps += 1;
        let packed = step.facts.max_packed_load.unwrap_or(0);
        self.packs |= packed > 0 || self.counted && step.facts.max_load > step.segments;
        if self.frame.rearrangement == Rearrangement::Packed {
            self.rearrangement += packed as f64 * unit_bytes * self.frame.rearrange_byte_us;
        }
        let cost = self.model.step_cost(step, unit_bytes, rounds);
        self.rounds += rounds.count;
        self.total.startup += cost.startup;
        self.total.transmission += cost.transmission;
        self.total.contention += cost.contention;
        self.total.propagation = self.total.propagation.zip(cost.propagation).map(|(sum, us)| sum + us);
    }

    fn reads(&self) -> Reads {
        // How many blocks a message has, and which links are the busiest two ways, is looked at message by message.
        if self.wants_packing() || self.wants_busiest_links() { Reads::Schedule } else { self.model.reads() }
    }

    fn wants_multiplexing(&self) -> bool {
        self.frame.channels.is_some()
    }

    fn wants_packing(&self) -> bool {
        let is_charged = self.frame.rearrangement == Rearrangement::Packed;
        self.frame.rearrange_byte_us > 0.0 && (is_charged || !self.counted)
    }

    fn wants_busiest_links(&self) -> bool {
        M::WANTS_BUSIEST_LINKS
    }

    fn summed(&mut self, Summed { most, segments, of: _ }: Summed<'_>) {
        let bytes = most as f64 * segment_bytes(self.unit_bytes, segments);
        *self.reduction.get_or_insert(0.0) += bytes * self.frame.reduce_byte_us;
    }

    fn rearranged(&mut self, most: u64, segments: u64) {
        self.declared += 1;
        if self.frame.rearrangement == Rearrangement::Packed {
            return;
        }
        self.rearrangement += most as f64 * segment_bytes(self.unit_bytes, segments) * self.frame.rearrange_byte_us;
    }
}

impl<M: StepModel> Evaluator for Synchronous<M> {
    fn cost(&mut self) -> Result<Cost, String> {
        let barriers = self.rounds.saturating_sub(1) as f64;
        let parts = Parts {
            startup: Some(self.total.startup),
            transmission: Some(self.total.transmission),
            propagation: self.total.propagation,
            rearrangement: Some(self.rearrangement),
            barrier: Some(barriers * self.frame.barrier_us.us(self.topology.nodes())),
            contention: Some(self.total.contention),
            reduction: self.reduction,
        };
        let (ports, at_once) = (self.frame.ports, self.most_at_once);
        let mut reasons = Vec::new();
        if self.rounds_at_ports(at_once) > 1 {
            reasons.push(format!("up to {at_once} messages at once at a node with ports={ports}"));
        }
        let circuits = self.most_circuits;
        if let Some(channels) = self.frame.channels.filter(|channels| circuits > *channels) {
            reasons.push(format!("up to {circuits} circuits at once on a link with virtual_channels={channels}"));
        }
        let (mut least, mut why) = (String::new(), String::new());
        if self.at_least {
            least = format!(", at least {} in all", self.rounds);
            why = format!("; a round of more than {MOST_CROSSINGS} circuits times links is not arranged");
        }
        let in_turns = (!reasons.is_empty()).then(|| format!("priced in turns{least}: {}{why}", reasons.join(", ")));
        let notes: Vec<String> = in_turns.into_iter().chain(self.remarks().map(str::to_owned)).collect();
        Ok(Cost { parts, note: (!notes.is_empty()).then(|| notes.join("; ")), ranks: None })
    }
}
