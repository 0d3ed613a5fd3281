//! Worker processes, in which plugins run. A job consists of cases that share a schedule. Jobs and
//! replies are lines of JSON.

mod client;
mod message;
mod serve;

pub(crate) use client::{Worker, WorkerEvent};
pub use client::{WorkerKind, Workers};
pub(crate) use message::{Job, Observation};
pub use serve::{Observer, ObserverKind, SendValue, StartObserver, WorkerError, serve};
