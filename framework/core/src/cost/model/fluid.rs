//! The model `fluid`: an event-driven model with links. Messages that use a link at the same time
//! share it by weighted max-min fairness, as in SimGrid's models of TCP networks (Velho et al.,
//! 2013). The model gives the same times as SimGrid.
//!
//! A rank works through its steps ([`simulation`]). In each step, it posts its receives, then its
//! sends, each after a start-up. When all of these are complete, it enters the next step, without a
//! wait for other ranks. With `order=data`, a rank posts all receives at the start. It sends one
//! message after another, each as soon as its data is available, with at most `ports` in flight.
//!
//! A start-up takes `startup_us` and the time of the protocol: `rendezvous_us` for a message of
//! more than `rendezvous_bytes`, otherwise `eager_byte_us` for each byte.
//!
//! A message starts when its sender and its receiver have posted it. It first waits for the
//! latencies of its links. Then it is transmitted, and shares its links with other messages
//! ([`shares`]).
//!
//! At the end of a step, a rank reduces the data that it received (`reduce_byte_us` per byte). A
//! late rank (`late=`) posts its sends and receives after it has entered.
//!
//! Several jobs can run at the same time ([`PricingContext::starts`]), each on its own ranks. They
//! share the nodes and links. All ranks of a job enter at its start, like late ranks. Background
//! traffic consists of flows that start at time 0. No rank waits until a flow ends.
//!
//! The completion time is divided along the critical path. A message continues the critical path of
//! its sender or of its receiver, whichever posted it later. Its kinds of time are start-ups,
//! latencies (propagation), the time of the bytes on the narrowest link if no link were shared
//! (transmission), and the time that sharing adds (contention).

use super::asynchronous::{MOST_EVENTS, NOISE, ORDER, Order};
use super::late::{LATE, Late};
use super::protocol::{EAGER_BYTE_US, Protocols, RENDEZVOUS_BYTES, RENDEZVOUS_US};
use super::time_space::TimeSpace;
use super::{Cost, Evaluator, Model, ModelKind, NetworkRates, PricingContext};
use crate::cost::background::{BACKGROUND, BackgroundFile};
use crate::cost::bound::{self, Bound, Traffic};
use crate::cost::kind::{Kind, Times};
use crate::cost::parameter::{
    BARRIER_US, BYTE_US, Barrier, DefaultValue, HOP_US, INJECTION_BYTE_US, PORTS, PortLimit,
    REDUCE_BYTE_US, STARTUP_US, TypedParameter, parse_number, parse_word,
};
use crate::cost::settings::{parameters, word_enum};
use crate::network::topology::Network;
use crate::simulation::listener::{Interests, Listener, ScheduleEvent};
use simulation::Simulation;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

mod fold;
mod in_flight;
mod shares;
mod simulation;

pub(super) static KIND: ModelKind = ModelKind {
    name: "fluid",
    title: "event-driven: messages share links by max-min fairness, as in SimGrid",
    parameters: Fluid::PARAMETERS,
    pricing_time: 2.0,
    prepare: |settings| {
        let model = Fluid::of(settings)?;
        model.order.with(model.barrier_us)?;
        Ok(Arc::new(model))
    },
};

static FAIRNESS: TypedParameter<Fairness> = TypedParameter {
    key: "fairness",
    meaning: "weights of messages that share a link: `equal`, or `rtt`, 1 / (latency of the route + time of weight_bytes on each of its links)",
    symbols: "",
    default: DefaultValue::Text("rtt"),
    read: |text| parse_word(text, Fairness::WORDS),
};

static WEIGHT_BYTES: TypedParameter<f64> = TypedParameter {
    key: "weight_bytes",
    meaning: "with fairness=rtt, bytes whose time on each link of a route is added to the latency of the route in the weight",
    symbols: "S (SimGrid)",
    default: DefaultValue::Text("0"),
    read: |text| {
        let bytes = parse_number(text).filter(|bytes| (0.0..=1e12).contains(bytes));
        bytes.ok_or_else(|| "a number of bytes from 0 to 1000000000000".to_owned())
    },
};

static LATENCY_FACTOR: TypedParameter<f64> = TypedParameter {
    key: "latency_factor",
    meaning: "factor for all latencies",
    symbols: "",
    default: DefaultValue::Text("1"),
    read: factor,
};

static BANDWIDTH_FACTOR: TypedParameter<f64> = TypedParameter {
    key: "bandwidth_factor",
    meaning: "factor for all bandwidths",
    symbols: "",
    default: DefaultValue::Text("1"),
    read: factor,
};

static SECOND_EPS_US: TypedParameter<f64> = TypedParameter::micros(
    "second_eps_us",
    "has no effect: only events at exactly the same time are simultaneous; accepted because older specs have it",
    "",
);

static FLOW_WINDOW: TypedParameter<f64> = TypedParameter {
    key: "flow_window",
    meaning: "fraction of the messages in flight that arrive in a window of time with constant rates, in steps with more than 10,000 messages and more than 8 per rank; 0 for exact rates after each arrival",
    symbols: "",
    default: DefaultValue::Text("0.02"),
    read: |text| {
        let fraction = parse_number(text).filter(|fraction| (0.0..=0.5).contains(fraction));
        fraction.map(|fraction| fraction + 0.0).ok_or_else(|| "a number from 0 to 0.5".to_owned())
    },
};

fn factor(text: &str) -> Result<f64, String> {
    /// Other factors are probably mistakes, and fair shares would not be exact enough.
    const FACTORS: RangeInclusive<f64> = 1e-6..=1e6;
    let factor = parse_number(text).filter(|factor| FACTORS.contains(factor));
    factor.ok_or_else(|| "a number from 0.000001 to 1000000".to_owned())
}

static GROUPED: TypedParameter<Grouped> = TypedParameter {
    key: "grouped",
    meaning: "whether all sends of a rank in a step share one start-up, as in a group of NCCL: `yes` or `no`",
    symbols: "",
    default: DefaultValue::Text("no"),
    read: |text| parse_word(text, Grouped::WORDS),
};

word_enum! {
    enum Grouped {
        Yes = "yes",
        No = "no",
    }
}

parameters! {
    struct Fluid {
        startup_us: f64 = STARTUP_US,
        grouped: Grouped = GROUPED,
        rendezvous_bytes: u64 = RENDEZVOUS_BYTES,
        rendezvous_us: f64 = RENDEZVOUS_US,
        eager_byte_us: f64 = EAGER_BYTE_US,
        byte_us: f64 = BYTE_US,
        hop_us: f64 = HOP_US,
        injection_byte_us: f64 = INJECTION_BYTE_US,
        reduce_byte_us: f64 = REDUCE_BYTE_US,
        barrier_us: Barrier = BARRIER_US,
        order: Order = ORDER,
        ports: PortLimit = PORTS,
        fairness: Fairness = FAIRNESS,
        weight_bytes: f64 = WEIGHT_BYTES,
        latency_factor: f64 = LATENCY_FACTOR,
        bandwidth_factor: f64 = BANDWIDTH_FACTOR,
        noise: f64 = NOISE,
        late: Late = LATE,
        second_eps_us: f64 = SECOND_EPS_US,
        flow_window: f64 = FLOW_WINDOW,
        background: BackgroundFile = BACKGROUND,
        most_events: u64 = MOST_EVENTS,
    }
}

word_enum! {
    enum Fairness {
        Equal = "equal",
        /// A message's share is inversely proportional to its round-trip time.
        Rtt = "rtt",
    }
}

impl Fluid {
    fn protocols(&self) -> Protocols {
        Protocols {
            rendezvous_bytes: self.rendezvous_bytes,
            rendezvous_us: self.rendezvous_us,
            eager_byte_us: self.eager_byte_us,
        }
    }

    fn has_startups(&self) -> bool {
        self.startup_us > 0.0 || self.rendezvous_us > 0.0 || self.eager_byte_us > 0.0
    }

    fn link_byte_us(&self) -> f64 {
        self.byte_us / self.bandwidth_factor
    }

    fn latency_us(&self, hops: f64) -> f64 {
        hops * self.hop_us * self.latency_factor
    }

    /// Returns the time that determines the weight of a message, given the latency of its route
    /// (`hops`) and the sum of the inverse bandwidths of its links.
    fn round_trip_us(&self, hops: f64, inverse: f64) -> f64 {
        hops * self.hop_us + inverse * self.weight_bytes * self.byte_us
    }
}

impl Model for Fluid {
    fn follows_arrivals(&self) -> bool {
        self.order == Order::Data
    }

    fn has_reducing_switches(&self) -> bool {
        true
    }

    /// Jobs cannot have barriers, because a barrier would separate the steps of all jobs.
    fn runs_jobs(&self) -> bool {
        self.order != Order::Barrier && self.barrier_us.us(2) == 0.0
    }

    fn background_file(&self) -> Option<&str> {
        self.background.name()
    }

    fn late_ranks(&self, nodes: u64, seed: u64) -> Result<Vec<(usize, f64)>, String> {
        self.late.ranks(nodes, seed)
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        Box::new(WithCopy::new(Simulation::new(self.clone(), context)))
    }

    /// Returns a start-up plus the largest of three times:
    /// 1. The latency of the longest route.
    /// 2. The latency of one link, plus the bytes that must cross a cut, or leave or enter a node.
    /// 3. The latency of one link, plus the time of a reduction.
    fn lower_bound(&self, topology: &Network, traffic: &Traffic) -> Bound {
        if self.noise > 0.0 {
            return Bound::default();
        }
        let startup = Times::of([(Kind::Startup, self.startup_us)]);
        let latency_us = self.latency_us(bound::least_latency(topology, traffic));
        let farthest = Bound::from(startup.with(Kind::Propagation, latency_us));
        if traffic.farthest == 0 {
            return farthest;
        }
        // A message between ranks that share a node uses no link, so the bound has no latency.
        let least = topology.latencies().map_or(1.0, |(least, _)| least);
        let one_link = if topology.shares_nodes() { 0.0 } else { self.latency_us(least) };
        let (bytes, kind) = bound::network_bytes(topology, traffic, PortLimit::All, 1.0);
        let (transmission_us, kind) = bound::or_injected(
            topology,
            traffic,
            self.injection_byte_us,
            bytes * self.link_byte_us(),
            kind,
        );
        let one_link = startup.with(Kind::Propagation, one_link);
        let by_bytes = Bound { kind, times: one_link.with(Kind::Transmission, transmission_us) };
        let by_sums = one_link.with(Kind::Reduction, traffic.summed * self.reduce_byte_us);
        by_bytes.max(farthest).max(by_sums.into())
    }

    fn network_rates(&self) -> Option<NetworkRates> {
        // With jitter or background traffic, the speed of links is not constant. Ports limit the
        // number of messages, but not the speed of their bytes.
        (self.noise == 0.0 && self.background.name().is_none()).then_some(NetworkRates {
            link_byte_us: self.link_byte_us(),
            ports: None,
            injection_byte_us: self.injection_byte_us,
        })
    }
}

/// A simulation and its copy, whose windows of time (`flow_window`) have twice the length. The copy
/// is made when the first window begins. A note reports the difference between the two times, which
/// shows how exact the result is.
struct WithCopy {
    first: Simulation,
    copy: Option<Box<Simulation>>,
    max_simultaneous: u64,
}

impl WithCopy {
    fn new(first: Simulation) -> Self {
        Self { first, copy: None, max_simultaneous: 0 }
    }

    /// Takes the copy, which runs when the first simulation has ended and freed its memory.
    fn take_copy(&mut self) {
        if let Some(copy) = self.first.copy.take() {
            self.copy = Some(copy);
        }
    }
}

impl Listener for WithCopy {
    fn interests(&self) -> Interests {
        self.first.interests()
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        if let ScheduleEvent::Step(step) = &event {
            let at_once = step.facts.max_sends.max(step.facts.max_receives);
            self.max_simultaneous = self.max_simultaneous.max(at_once);
        }
        self.first.notify(event);
        self.take_copy();
        if let Some(copy) = &mut self.copy {
            copy.notify(event);
        }
    }
}

impl Evaluator for WithCopy {
    fn cost(&mut self) -> Result<Cost, String> {
        let cost = self.first.cost()?;
        self.take_copy();
        self.first.clear();
        let mut notes = Vec::new();
        if let Some(copy) = &mut self.copy {
            let (us, other_us) = (cost.parts.total(), copy.cost()?.parts.total());
            let difference = other_us / us - 1.0;
            let (percent, window) = (difference.abs() * 100.0, copy.machine.flow_window);
            let more = if difference > 0.0 { "more" } else { "less" };
            notes
                .push(format!("with flow_window={window} {other_us:.6} us, {percent:.3} % {more}"));
        }
        if self.first.machine.second_eps_us > 0.0 {
            notes.push("second_eps_us has no effect, because times are exact".to_owned());
        }
        let Fluid { ports, order, .. } = self.first.machine;
        let most = self.max_simultaneous;
        if order != Order::Data && ports.rounds(most) > 1 {
            notes.push(format!(
                "up to {most} simultaneous messages at a node share its links: ports={ports} does not limit them with order={order}, injection_byte_us does"
            ));
        }
        Ok(Cost { note: (!notes.is_empty()).then(|| notes.join("; ")), ..cost })
    }

    fn pause_at(&mut self, deadline: Option<Instant>) -> bool {
        if let Some(copy) = &mut self.copy {
            copy.pause_at(deadline);
        }
        self.first.pause_at(deadline)
    }

    fn is_paused(&self) -> bool {
        self.first.is_paused() || self.copy.as_ref().is_some_and(|copy| copy.is_paused())
    }

    fn advance(&mut self) -> bool {
        let has_ended = self.first.advance();
        self.take_copy();
        if has_ended {
            self.first.clear();
        }
        has_ended && self.copy.as_mut().is_none_or(|copy| copy.advance())
    }

    fn record_time_space(&mut self, record: TimeSpace) -> Result<(), TimeSpace> {
        self.first.record_time_space(record)
    }

    fn time_space(&mut self) -> Option<TimeSpace> {
        self.first.time_space()
    }
}

#[cfg(test)]
pub(super) mod oracle;
#[cfg(test)]
mod tests;
