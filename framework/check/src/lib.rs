//! Conformance tests for a plugin file. They check the tables of the plugin, and then test every
//! algorithm on a list of topologies. Each case runs in a separate process.
//!
//! The tested plugin is not trusted: it may crash, hang, print, end the process or exhaust the
//! memory. [`examine()`] therefore never loads it. It sends each [`Question`] to a [`Bench`], which
//! starts the program again ([`bench::Processes`]). The new process loads the plugin, answers
//! ([`answer()`]) and ends. The examination converts the answer, or the fact that there is none, to
//! findings.
//!
//! ```text
//! examine -> Question -> Bench -> [other process: answer -> plugin] -> ProcessEnd -> Finding -> Report
//! ```

mod about;
mod answer;
pub mod bench;
mod examine;
mod ladder;
mod question;
mod report;
mod unused_values;
mod watch;

pub use about::About;
pub use answer::answer;
pub use bench::{Bench, Limits, ProcessEnd};
pub use examine::examine;
pub use ladder::ladder;
pub use question::{Answer, Plan, Question, RunResult, TestCase};
pub use report::{AlgorithmReport, Finding, Report, Severity};
