//! Conformance tests for a plugin file: its tables, and then every algorithm on a list of
//! topologies.
//! The plugin is not trusted: it may crash, hang, print, end the process or exhaust the memory.
//! [`examine()`] therefore never loads it, but sends each [`Request`] to a [`Bench`], which starts
//! the program again ([`bench::Processes`]). The new process loads the plugin, replies
//! ([`reply()`]) and ends. The examination converts the reply, or its absence, to findings.
//! ```text
//! examine -> Request -> Bench -> [other process: reply -> plugin] -> ProcessEnd -> Finding -> Report
//! ```

pub mod bench;
mod examine;
mod ladder;
mod liveness;
mod reply;
mod report;
mod request;
mod watch;

pub use bench::{Bench, Limits, ProcessEnd};
pub use examine::examine;
pub use ladder::ladder;
pub use reply::reply;
pub use report::{AlgorithmReport, Finding, Report, Severity};
pub use request::{About, Plan, Reply, Request, RunResult, TestCase};
