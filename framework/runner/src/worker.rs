//! Workers: processes of this program in which plugins run. A job, cases that share a schedule,
//! goes in as a line of JSON; replies come out.

mod client;
mod message;
mod serve;

pub use client::Workers;
pub(crate) use client::{Worker, WorkerEvent, invalid_reply};
pub(crate) use message::Job;
pub use serve::{Observer, ObserverKind, SendValue, StartObserver, WorkerError, serve};
