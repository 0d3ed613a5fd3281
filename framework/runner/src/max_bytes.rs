//! Maximum sizes of the messages of a worker, in bytes. A worker that sends a longer one is killed,
//! so the memory of the main program does not depend on what a plugin sends.

/// A reply without a value of an observer, in addition to the text of its job: a row repeats
/// the description of its case. A row needs a few KiB.
pub const REPLY: usize = 1 << 20;
/// A part of the text that `trace` prints or `export` converts.
pub const TRACE: usize = 1 << 20;
/// The facts of a part of a schedule, for the sliders of the dashboard.
pub const FACTS: usize = 4 << 20;
/// A step of a schedule with the load of each link, for the dashboard.
pub const SCHEDULE: usize = 64 << 20;
/// The description of a plugin file, or the tables of a reproduced paper.
pub const ANSWER: usize = 16 << 20;
