//! `loggp`: event-driven, without links: what counts is what processors and network interfaces do
//! (LogGPS: Alexandrov et al., 1995; Ino et al., 2001), by the rules of LogGOPSim (Hoefler,
//! Schneider & Lumsdaine, 2010), whose times these are.
//!
//! A rank works through its steps: it posts a step's receives, then its sends, and goes on when all
//! are done; it waits for nobody else's step. A message of s bytes
//! - keeps its sender's processor busy for o + (s - 1) O, its interface for g + (s - 1) G;
//! - is with its receiver o + L after it was begun. When processor and interface there are free, it
//!   keeps them busy for o + (s - 1) max(O, G) and g + (s - 1) G: the time of its bytes is charged
//!   there;
//! - is done for its sender at once, or, if it has more than S bytes, only when its receiver has
//!   posted the receive and begun to take it (rendezvous).
//!
//! With `order=data` ([`forwarding`](super::asynchronous::data_order)) a rank has posted all its
//! receives from the beginning, and a long message holds up nothing but its own data until its
//! receiver begins to take it.
//!
//! What a rank adds up (`reduce_byte_us` a byte) keeps its processor busy once all that it receives
//! in the step has come.
//!
//! An interface sends and receives at the same time, a processor does one thing at a time. What
//! comes first at a processor, comes first; at the same moment, what was put in line first. Parts
//! of time are those along the critical path: o and g in start-up, O and G in transmission, L in
//! propagation, what a message waits for its receiver or a sender for its receiver's consent in
//! contention.

use super::asynchronous::event_limit::MOST_EVENTS;
use super::asynchronous::noise::NOISE;
use super::asynchronous::{ORDER, Order};
use super::{Evaluator, Model, ModelKind, PricingContext};
use crate::cost::bound::{Bound, BoundKind, Traffic};
use crate::cost::parameter::{
    BARRIER_US, BYTE_US, Barrier, DefaultValue, REDUCE_BYTE_US, TypedParameter, parse_micros,
};
use crate::cost::settings::parameters;
use crate::network::topology::Topology;
use simulation::Simulation;
use std::sync::Arc;

mod simulation;

pub(super) static KIND: ModelKind = ModelKind {
    name: "loggp",
    title: "event-driven, without links: processors and network interfaces, as LogGOPSim has them",
    parameters: LogGp::PARAMETERS,
    prepare: |settings| {
        let model = LogGp::of(settings)?;
        model.order.with(model.barrier_us)?;
        Ok(Arc::new(model))
    },
};

static LATENCY_US: TypedParameter<f64> = TypedParameter {
    key: "latency_us",
    meaning: "from one network interface to another, whatever the distance",
    symbols: "L",
    default: DefaultValue::Text("0"),
    read: parse_micros,
};

static OVERHEAD_US: TypedParameter<f64> = TypedParameter {
    key: "overhead_us",
    meaning: "a processor's work for a message, at either end",
    symbols: "o",
    default: DefaultValue::Text("0"),
    read: parse_micros,
};

static GAP_US: TypedParameter<f64> = TypedParameter {
    key: "gap_us",
    meaning: "between the beginnings of two messages at an interface",
    symbols: "g",
    default: DefaultValue::Text("0"),
    read: parse_micros,
};

static OVERHEAD_BYTE_US: TypedParameter<f64> = TypedParameter {
    key: "overhead_byte_us",
    meaning: "a processor's work for a byte",
    symbols: "O",
    default: DefaultValue::Text("0"),
    read: parse_micros,
};

static RENDEZVOUS_BYTES: TypedParameter<u64> = TypedParameter {
    key: "rendezvous_bytes",
    meaning: "a message of more bytes waits for its receiver's consent",
    symbols: "S",
    default: DefaultValue::Text("65535"),
    read: |text| text.parse().map_err(|_| "a whole number of bytes".to_owned()),
};

parameters! {
    #[derive(Copy)]
    struct LogGp {
        latency_us: f64 = LATENCY_US,
        overhead_us: f64 = OVERHEAD_US,
        gap_us: f64 = GAP_US,
        byte_us: f64 = BYTE_US,
        overhead_byte_us: f64 = OVERHEAD_BYTE_US,
        rendezvous_bytes: u64 = RENDEZVOUS_BYTES,
        reduce_byte_us: f64 = REDUCE_BYTE_US,
        barrier_us: Barrier = BARRIER_US,
        order: Order = ORDER,
        noise: f64 = NOISE,
        most_events: u64 = MOST_EVENTS,
    }
}

impl Model for LogGp {
    fn follows_arrivals(&self) -> bool {
        self.order == Order::Data
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        Box::new(Simulation::new(self, context))
    }

    fn bounds_by_links(&self) -> bool {
        false
    }

    /// Someone's bytes come one after another: each costs what is least, as a part of a long
    /// message or as a message by itself; and something is sent, travels, and is taken.
    fn lower_bound(&self, _: &dyn Topology, traffic: &Traffic) -> Bound {
        if self.noise > 0.0 {
            return Bound::default();
        }
        let received = (traffic.received - 1.0)
            * self.overhead_us.min(self.byte_us.max(self.overhead_byte_us));
        let sent = (traffic.sent - 1.0) * self.gap_us.min(self.byte_us);
        let transmission_us = received.max(sent).max(0.0);
        let by_bytes = Bound {
            kind: if transmission_us > 0.0 { BoundKind::Bytes } else { BoundKind::StartUps },
            startup_us: 2.0 * self.overhead_us,
            transmission_us,
            propagation_us: self.latency_us,
            ..Bound::default()
        };
        // Who adds up most may be busy with that while others' bytes are under way.
        let by_sums = Bound {
            startup_us: 2.0 * self.overhead_us,
            propagation_us: self.latency_us,
            reduction_us: traffic.summed * self.reduce_byte_us,
            ..Bound::default()
        };
        if by_sums.total_us() > by_bytes.total_us() { by_sums } else { by_bytes }
    }
}

#[cfg(test)]
mod tests;
