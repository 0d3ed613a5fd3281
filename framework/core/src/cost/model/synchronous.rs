//! What models of synchronous steps have in common: steps one after another, a barrier between two of them, rearrangements, turns where a step asks
//! more messages of a node than it has ports. What a step costs is the model's own.

use super::turns::{Arranger, MOST_CROSSINGS, Room, Turns};
use super::{Evaluator, Parts, Price, Scale};
use crate::cost::machine::{Machine, Ports};
use crate::network::topology::Topology;
use crate::simulation::step::{Listener, Step};
use std::sync::Arc;

/// What a step costs, in us. A part that the model has no meaning for is `None`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StepCost {
    pub startup: f64,
    pub transmission: f64,
    pub propagation: Option<f64>,
    pub contention: f64,
}

/// A model of synchronous steps.
#[derive(Clone, Copy)]
pub(super) struct Model {
    /// What no step at all costs: it says which parts the model has a meaning for.
    pub none: StepCost,
    /// The price of a step: on this machine, with a unit of load of so many bytes, run in so many turns.
    pub price_of_step: fn(&Machine, &Step<'_>, unit_bytes: f64, turns: Turns) -> StepCost,
    /// Whether circuits on a link are turned away beyond the machine's virtual channels.
    pub circuits: bool,
}

pub(super) struct Synchronous {
    machine: Machine,
    topology: Arc<dyn Topology>,
    unit_bytes: f64,
    model: Model,
    /// Turns of all steps: a turn is a step of its own to the machine, with a barrier before the next.
    turns: u64,
    total: StepCost,
    rearrangement: f64,
    most_at_once: u64,
    most_circuits: u64,
    /// Made when a round first needs it.
    arranger: Option<Arranger>,
    /// Whether some round had too many circuits to arrange, so that turns are only the least conceivable.
    at_least: bool,
}

impl Synchronous {
    pub(super) fn new(machine: &Machine, scale: Scale<'_>, model: Model) -> Self {
        Self {
            machine: machine.clone(),
            topology: Arc::clone(scale.topology),
            unit_bytes: scale.unit_bytes,
            model,
            turns: 0,
            total: model.none,
            rearrangement: 0.0,
            most_at_once: 0,
            most_circuits: 0,
            arranger: None,
            at_least: false,
        }
    }

    /// Turns for so many messages at once at a node. A port carries a message, or as many circuits as a link.
    fn turns_at_ports(&self, at_once: u64) -> u64 {
        let a_port = if self.model.circuits { self.machine.virtual_channels } else { 1 };
        self.machine.ports.turns(at_once.div_ceil(a_port))
    }

    /// Turns for the circuits of a step, those at the ports if no link has more than it can carry at once.
    fn turns_on_links(&mut self, step: &Step<'_>, at_ports: u64) -> Turns {
        let (channels, circuits) = (self.machine.virtual_channels, step.facts.max_link_messages);
        if circuits <= channels {
            return Turns { count: at_ports, arranged: None };
        }
        let ports = match self.machine.ports {
            Ports::Count(ports) => Some(ports),
            Ports::All => None,
        };
        let arranger = self.arranger.get_or_insert_with(|| Arranger::new(&self.topology));
        arranger.first_fit(step, Room { link: channels, ports }).unwrap_or_else(|| {
            self.at_least = true;
            Turns { count: circuits.div_ceil(channels).max(at_ports), arranged: None }
        })
    }
}

impl Listener for Synchronous {
    fn step(&mut self, step: &Step<'_>) {
        let at_once = step.facts.max_sends.max(step.facts.max_receives);
        self.most_at_once = self.most_at_once.max(at_once);
        let unit_bytes = self.unit_bytes / step.segments as f64;
        let mut turns = Turns { count: self.turns_at_ports(at_once), arranged: None };
        if self.model.circuits {
            self.most_circuits = self.most_circuits.max(step.facts.max_link_messages);
            turns = self.turns_on_links(step, turns.count);
        }
        let cost = (self.model.price_of_step)(&self.machine, step, unit_bytes, turns);
        self.turns += turns.count;
        self.total.startup += cost.startup;
        self.total.transmission += cost.transmission;
        self.total.contention += cost.contention;
        self.total.propagation = self.total.propagation.zip(cost.propagation).map(|(sum, us)| sum + us);
    }

    fn wants_multiplexing(&self) -> bool {
        self.model.circuits
    }

    fn rearranged(&mut self, most: u64, parts: u64) {
        self.rearrangement += most as f64 * self.unit_bytes / parts as f64 * self.machine.rearrange_byte_us;
    }
}

impl Evaluator for Synchronous {
    fn price(&self) -> Result<Price, String> {
        let barriers = self.turns.saturating_sub(1) as f64;
        let parts = Parts {
            startup: Some(self.total.startup),
            transmission: Some(self.total.transmission),
            propagation: self.total.propagation,
            rearrangement: Some(self.rearrangement),
            barrier: Some(barriers * self.machine.barrier_us(self.topology.nodes())),
            contention: Some(self.total.contention),
        };
        let (ports, at_once) = (self.machine.ports, self.most_at_once);
        let (channels, circuits) = (self.machine.virtual_channels, self.most_circuits);
        let mut reasons = Vec::new();
        if self.turns_at_ports(at_once) > 1 {
            reasons.push(format!("up to {at_once} messages at once at a node with ports={ports}"));
        }
        if circuits > channels {
            reasons.push(format!("up to {circuits} circuits at once on a link with virtual_channels={channels}"));
        }
        let (mut least, mut why) = (String::new(), String::new());
        if self.at_least {
            least = format!(", at least {} in all", self.turns);
            why = format!("; a round of more than {MOST_CROSSINGS} circuits times links is not arranged");
        }
        let note = (!reasons.is_empty()).then(|| format!("priced in turns{least}: {}{why}", reasons.join(", ")));
        Ok(Price { parts, note })
    }
}
