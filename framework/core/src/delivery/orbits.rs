//! Schedules that a group maps onto themselves, proved on one node of each orbit.
//!
//! The schedule *is* the expansion of what representatives send: when representative r sends the
//! set D to t, every element g of the group has g(r) send g(D) to g(t). So what the representative
//! of t's orbit gets is what r sent, moved by the inverse of the element that takes that
//! representative to t; no one else's holdings are kept.

mod boxes;
mod exchange;
mod expand;
mod explain;
mod set;
mod values;

pub(crate) use exchange::{OrbitExchange, Put};
pub(crate) use expand::Taken;
