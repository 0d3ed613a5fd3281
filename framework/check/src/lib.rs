//! Conformance of one plugin file: its tables, then every algorithm on a ladder of machines, every
//! time in a process of its own.
//!
//! A plugin under test is not to be trusted with anything: it may crash, hang, print, end the
//! process or eat the memory. So whoever examines ([`examine()`]) never loads it, but asks a
//! [`Bench`]: the program itself, started again for one [`Question`] ([`bench::Processes`]), which
//! loads the plugin, answers ([`answer()`]) and ends. What comes back, or doesn't, becomes
//! findings.
//!
//! ```text
//! examine -> Question -> Bench -> [other process: answer -> plugin] -> Outcome -> Finding -> Report
//! ```

mod about;
mod answer;
pub mod bench;
mod examine;
mod ladder;
mod question;
mod report;
mod watch;

pub use about::About;
pub use answer::answer;
pub use bench::{Bench, Limits, Outcome};
pub use examine::examine;
pub use ladder::ladder;
pub use question::{Answer, Plan, Question, Ran, Rung};
pub use report::{Examined, Finding, Report, Severity};
