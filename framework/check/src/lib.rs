//! Conformance tests for a plugin file: first of its tables, and then of each algorithm on a list
//! of topologies. The plugin is not trusted: it may crash, hang, print, end the process or use too
//! much memory. So [`examine()`] never loads it. It sends each [`Request`] to a [`Bench`], which
//! starts this program again ([`bench::Processes`]). The new process loads the plugin, replies to
//! the request ([`reply()`]) and ends. The examination converts the reply to findings. If there is
//! no reply, this is a finding, too.
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
