//! Maximum sizes of the messages of a worker, in bytes. A worker that sends a longer message is
//! killed, so the memory of the main program does not depend on what a plugin sends. `docs/abi.md`
//! lists the sizes.

/// The limit for a reply of any type except a value of an observer. A row repeats the description
/// of its case, so the size of the job's text is added to this maximum. A row needs a few KiB.
pub const REPLY: usize = 1 << 20;
/// The limit for one portion of the text that `trace` prints or `export` converts.
pub const TRACE: usize = 1 << 20;
/// The limit for a part of the record of a schedule, such as a step with the load of each link.
pub const SCHEDULE: usize = 64 << 20;
/// The limit for the description of a plugin file, the tables of a reproduced paper, or an answer
/// of the command `check`.
pub const ANSWER: usize = 16 << 20;
/// All sizes, with their descriptions in `docs/abi.md`.
pub const ALL: [(&str, usize); 4] = [
    ("a reply to a job, in addition to the text of the job", REPLY),
    ("a part of a schedule, for `trace` and `export`", TRACE),
    ("a step of a schedule with all loads, for the dashboard", SCHEDULE),
    ("the description of a plugin file, the tables of a paper, or an answer of `check`", ANSWER),
];
