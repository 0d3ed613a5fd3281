//! The model `loggp`: an event-driven model of processors and network interfaces, without links
//! (LogGPS: Alexandrov et al., 1995; Ino et al., 2001). It follows the rules of LogGOPSim (Hoefler,
//! Schneider & Lumsdaine, 2010) and gives the same times.
//!
//! A rank works through its steps. It posts the receives of a step, then its sends, and continues
//! when all of these are complete. It does not wait until other ranks end the step. The model has
//! six parameters: the processor times o of a message and O of a byte, the gaps g of a message and
//! G of a byte at the interface, the latency L, and the rendezvous threshold S. A message of s
//! bytes has these costs:
//! - At the sender, it occupies the processor for `o + (s - 1) O`, and it occupies the interface
//!   for `g + (s - 1) G`.
//! - It arrives `o + L` after its start.
//! - At the receiver, when the receiver is free, it occupies the processor for
//!   `o + (s - 1) max(O, G)`, and the interface for `g + (s - 1) G`. So the time of the bytes is
//!   charged at the receiver, after the arrival of the message.
//! - A message of at most S bytes is complete at the sender as soon as it is sent. A longer message
//!   is complete at the sender when the receiver has posted the receive and starts to receive the
//!   message (rendezvous).
//!
//! With `order=data` ([`data_order`](super::asynchronous::data_order)) all receives are posted at
//! the start. A message of more than S bytes then delays only its sender, until the receiver starts
//! to receive the message.
//!
//! At the end of a step, the reduction of received data occupies the processor (`reduce_byte_us`
//! per byte).
//!
//! The processor of a late rank (`late=`) is busy until the rank enters.
//!
//! An interface sends and receives at the same time, but a processor does one thing at a time.
//! Events are processed in the order of time. Simultaneous events are processed in the order in
//! which they became known ([`ties`] measures the effect of this rule). The completion time is divided along the critical path: o and g are
//! start-up, O and G are transmission, and L is propagation. Waits for a receiver or for a
//! rendezvous match are contention.

use super::asynchronous::event_limit::MOST_EVENTS;
use super::asynchronous::noise::NOISE;
use super::asynchronous::{ORDER, Order};
use super::late::{LATE, Late};
use super::protocol::RENDEZVOUS_BYTES;
use super::{Evaluator, Model, ModelKind, PricingContext, Refused};
use crate::cost::bound::{Bound, BoundKind, Traffic};
use crate::cost::kind::{Kind, Times};
use crate::cost::parameter::{BARRIER_US, BYTE_US, Barrier, REDUCE_BYTE_US, TypedParameter};
use crate::cost::settings::parameters;
use crate::network::topology::Network;
use simulation::Simulation;
use std::sync::Arc;
use ties::Simulations;

mod simulation;
mod ties;

pub(super) static KIND: ModelKind = ModelKind {
    name: "loggp",
    title: "event-driven, without links: processors and network interfaces, as in LogGOPSim",
    parameters: LogGp::PARAMETERS,
    pricing_time: 4.0,
    prepare: |settings| {
        let model = LogGp::of(settings)?;
        model.order.with(model.barrier_us)?;
        Ok(Arc::new(model))
    },
};

static LATENCY_US: TypedParameter<f64> = TypedParameter::micros(
    "latency_us",
    "latency between two network interfaces, independent of the distance",
    "L",
);

static OVERHEAD_US: TypedParameter<f64> =
    TypedParameter::micros("overhead_us", "processor time for a message, at both ends", "o");

static GAP_US: TypedParameter<f64> =
    TypedParameter::micros("gap_us", "gap between the starts of two messages at an interface", "g");

static OVERHEAD_BYTE_US: TypedParameter<f64> =
    TypedParameter::micros("overhead_byte_us", "processor time for a byte", "O");

parameters! {
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
        late: Late = LATE,
        most_events: u64 = MOST_EVENTS,
    }
}

impl Model for LogGp {
    fn follows_arrivals(&self) -> bool {
        self.order == Order::Data
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        match self.late.ranks(context.topology.nodes(), context.seed) {
            Ok(late) => Box::new(Simulations::new(Simulation::new(self, context, &late))),
            Err(why) => Box::new(Refused(why)),
        }
    }

    fn bounds_by_links(&self) -> bool {
        false
    }

    /// Returns the larger of two bounds. The first is the time of the bytes that one node sends or
    /// receives, and of one message. Each byte takes at least the smaller of two times: the time of
    /// a further byte in a long message, or the time of a message of its own. The second bound is
    /// the time of one message and of the largest reduction.
    fn lower_bound(&self, _: &Network, traffic: &Traffic) -> Bound {
        if self.noise > 0.0 {
            return Bound::default();
        }
        let received = (traffic.received - 1.0)
            * self.overhead_us.min(self.byte_us.max(self.overhead_byte_us));
        let sent = (traffic.sent - 1.0) * self.gap_us.min(self.byte_us);
        let transmission_us = received.max(sent).max(0.0);
        let one_message = Times::of([
            (Kind::Startup, 2.0 * self.overhead_us),
            (Kind::Propagation, self.latency_us),
        ]);
        let by_bytes = Bound {
            kind: if transmission_us > 0.0 { BoundKind::Bytes } else { BoundKind::StartUps },
            times: one_message.with(Kind::Transmission, transmission_us),
        };
        // The two bounds are not added, because the node that reduces most may do so while other
        // nodes send and receive their bytes.
        let by_sums =
            Bound::from(one_message.with(Kind::Reduction, traffic.summed * self.reduce_byte_us));
        if by_sums.total_us() > by_bytes.total_us() { by_sums } else { by_bytes }
    }
}

#[cfg(test)]
mod tests;
