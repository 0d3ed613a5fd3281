//! Maximum sizes of the messages of a worker in bytes (`docs/abi.md`). If a worker sends a longer
//! message, it is killed. So the memory of the program does not depend on plugins.

/// The limit for a reply, except values of an observer. The length of the job's text is added.
pub const REPLY: usize = 1 << 20;
pub const TRACE: usize = 1 << 20;
/// The limit for a part of the record of a schedule, such as a step with the load of each link.
pub const SCHEDULE: usize = 64 << 20;
/// The limit for a plugin's description, the tables of a reproduced paper, or an answer of `check`.
pub const ANSWER: usize = 16 << 20;
pub const ALL: [(&str, usize); 4] = [
    ("a reply to a job, in addition to the text of the job", REPLY),
    ("a part of a schedule, for `trace` and `export`", TRACE),
    ("a step of a schedule with all loads, for the dashboard", SCHEDULE),
    ("the description of a plugin file, the tables of a paper, or an answer of `check`", ANSWER),
];
