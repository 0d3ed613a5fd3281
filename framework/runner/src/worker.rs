//! Workers: processes of this program in which plugins run. A job, cases that share a schedule,
//! goes in as a line of JSON; replies come out.

mod client;
mod message;
mod serve;

pub use client::Workers;
pub(crate) use client::{Answer, Worker, no_row};
pub(crate) use message::Job;
pub use serve::{Say, Start, Watch, Watcher, WorkerError, serve};
