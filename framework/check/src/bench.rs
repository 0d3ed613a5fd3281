//! The test bench of a plugin. It starts a separate process for each request.

use crate::request::{Reply, Request};
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use swapmeet_runner::describe::with_escaped_texts;
use swapmeet_runner::isolation::{Child, ChildEndKind, ChildEvent, ChildLimits, OutputPipes};
use swapmeet_runner::limits::double_memory_of;
use swapmeet_runner::max_bytes;
use swapmeet_runner::sandbox::NO_SANDBOX;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    pub time: Duration,
    /// Memory limit of the process, in bytes.
    pub memory: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ProcessEnd {
    /// The process replied to the request. The plugin may nevertheless have printed something.
    Replied {
        reply: Reply,
        /// The first line on standard output that is not blank.
        printed: Option<String>,
    },
    /// The process ended without a reply, or died after it. The text contains the signal or the
    /// exit status, the last line on standard error, and the step of the schedule.
    Died(String),
    /// The process did not end in time and was killed, as this text describes.
    Hung(String),
    /// The plugin closed the socket of its process, or shut it down. While cases run, this would
    /// end the worker.
    ClosedFiles,
    UsedFiles,
}

pub trait Bench {
    /// Sends one request. Returns an error only if the bench itself fails; a failure of the plugin
    /// is a [`ProcessEnd`].
    fn ask(&self, request: &Request) -> io::Result<ProcessEnd>;

    fn limits(&self) -> Limits;
}

/// A bench that starts this program again for every request, with the command `PROGRAM
/// check-question PLUGIN QUESTION SECONDS BYTES [--no-sandbox]`.
#[derive(Debug)]
pub struct Processes {
    pub program: PathBuf,
    pub plugin: PathBuf,
    pub limits: Limits,
    pub is_sandboxed: bool,
}

impl Bench for Processes {
    fn ask(&self, request: &Request) -> io::Result<ProcessEnd> {
        let Limits { time, memory } = self.limits;
        let mut command = Command::new(&self.program);
        command
            .arg("check-question")
            .arg(&self.plugin)
            .arg(serde_json::to_string(request)?)
            .arg(time.as_secs_f64().to_string())
            .arg(memory.to_string())
            .args((!self.is_sandboxed).then_some(NO_SANDBOX));
        // After the time limit, the host in the child stops a plan at the plugin's next call. A
        // plugin that makes no calls must be killed from here.
        let limits = ChildLimits {
            kill_after: time.saturating_mul(request.plans().max(4)) + Duration::from_secs(1),
            ..ChildLimits::with_grace(time, memory, max_bytes::ANSWER)
        };
        let mut child = Child::start(&mut command, limits, OutputPipes::Separate)?;
        let (mut reply, mut printed, mut when) = (None, Vec::new(), "");
        // The child sends its reply before it ends. The plugin may still print or crash in between.
        let end = loop {
            match child.next(&AtomicBool::new(false)) {
                ChildEvent::Printed(line) => printed.push(line),
                ChildEvent::Message(line) => match received(&line) {
                    // Two plans at the same time may use twice the memory of one plan. If the limit
                    // cannot be raised, both plans together have the limit of one plan.
                    Some(Reply::AtOnce) => {
                        when = "two plans at once: ";
                        let _ = double_memory_of(child.id(), memory);
                    }
                    Some(received) if reply.is_none() => reply = Some(received),
                    Some(_) | None => return Ok(ProcessEnd::UsedFiles),
                },
                ChildEvent::Ended(end) => break end,
            }
        };
        // Buffered output is only printed when the process ends.
        printed.extend(std::iter::from_fn(|| child.next_printed()));
        let printed = printed.into_iter().find(|line| !line.trim().is_empty());
        Ok(match (reply, end.kind) {
            (Some(reply), ChildEndKind::Succeeded) => ProcessEnd::Replied { reply, printed },
            (None, ChildEndKind::Closed) => ProcessEnd::ClosedFiles,
            (_, ChildEndKind::Invalid) => ProcessEnd::UsedFiles,
            (_, ChildEndKind::TimedOut) => ProcessEnd::Hung(end.message),
            _ => ProcessEnd::Died(format!("{when}{}", end.message)),
        })
    }

    fn limits(&self) -> Limits {
        self.limits
    }
}

/// Parses a reply. The plugin may have forged it, so its texts are escaped.
fn received(line: &[u8]) -> Option<Reply> {
    let reply: Reply = serde_json::from_slice(line).ok()?;
    with_escaped_texts(&reply).ok()
}
