//! The test bench of a plugin. It starts a new process for each request.

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
use swapmeet_runner::sandbox::{NO_SANDBOX, REFUSED, TRACE};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    pub time: Duration,
    pub memory: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ProcessEnd {
    Replied {
        reply: Reply,
        printed: Option<String>,
    },
    /// The process ended without a reply, or crashed after its reply. The text describes how.
    Died(String),
    Hung(String),
    /// The plugin closed or shut down the socket of its process. In a run, this would end a worker.
    ClosedFiles,
    UsedFiles,
}

pub trait Bench {
    /// Errors only if the bench itself fails. A failure of the plugin is a [`ProcessEnd`].
    fn ask(&self, request: &Request) -> io::Result<ProcessEnd>;

    fn limits(&self) -> Limits;
}

/// A bench that starts `PROGRAM check-question PLUGIN QUESTION SECONDS BYTES [--no-sandbox]`.
#[derive(Debug)]
pub struct Processes {
    pub program: PathBuf,
    pub plugin: PathBuf,
    pub limits: Limits,
    pub is_sandboxed: bool,
}

impl Processes {
    /// Sends a request again, and returns whether the sandbox refused a system call of the plugin.
    pub fn is_refused_a_call(&self, request: &Request) -> io::Result<bool> {
        Ok(self.is_sandboxed && self.ask_process(request, true)?.1)
    }

    /// If `is_traced` is set, also returns whether the sandbox reported a refused system call.
    fn ask_process(&self, request: &Request, is_traced: bool) -> io::Result<(ProcessEnd, bool)> {
        let Limits { time, memory } = self.limits;
        let mut command = Command::new(&self.program);
        command
            .arg("check-question")
            .arg(&self.plugin)
            .arg(serde_json::to_string(request)?)
            .arg(time.as_secs_f64().to_string())
            .arg(memory.to_string())
            .args((!self.is_sandboxed).then_some(NO_SANDBOX));
        let mut pipes = OutputPipes::Separate;
        if is_traced {
            // The sandbox prints its reports on standard error.
            command.env(TRACE, "1");
            pipes = OutputPipes::Joined;
        }
        // When the plugin calls the host after the time limit, the host stops the plan. If the
        // plugin calls nothing, its process is killed.
        let limits = ChildLimits {
            kill_after: time.saturating_mul(request.plans().max(4)) + Duration::from_secs(1),
            ..ChildLimits::with_grace(time, memory, max_bytes::ANSWER)
        };
        let mut child = Child::start(&mut command, limits, pipes)?;
        let (mut reply, mut printed, mut when) = (None, Vec::new(), "");
        // After the reply, the plugin may still print something or crash.
        let end = loop {
            match child.next(&AtomicBool::new(false)) {
                ChildEvent::Printed(line) => printed.push(line),
                ChildEvent::Message(line) => match received(&line) {
                    // Two plans at the same time can need twice the memory.
                    Some(Reply::AtOnce) => {
                        when = "two plans at once: ";
                        let _ = double_memory_of(child.id(), memory);
                    }
                    Some(received) if reply.is_none() => reply = Some(received),
                    Some(_) | None => return Ok((ProcessEnd::UsedFiles, false)),
                },
                ChildEvent::Ended(end) => break end,
            }
        };
        // The plugin may have buffered output that is printed only when the process ends.
        printed.extend(std::iter::from_fn(|| child.next_printed()));
        let is_refused = printed.iter().any(|line| line.starts_with(REFUSED));
        let printed = printed.into_iter().find(|line| !line.trim().is_empty());
        let end = match (reply, end.kind) {
            (Some(reply), ChildEndKind::Succeeded) => ProcessEnd::Replied { reply, printed },
            (None, ChildEndKind::Closed) => ProcessEnd::ClosedFiles,
            (_, ChildEndKind::Invalid) => ProcessEnd::UsedFiles,
            (_, ChildEndKind::TimedOut) => ProcessEnd::Hung(end.message),
            _ => ProcessEnd::Died(format!("{when}{}", end.message)),
        };
        Ok((end, is_refused))
    }
}

impl Bench for Processes {
    fn ask(&self, request: &Request) -> io::Result<ProcessEnd> {
        Ok(self.ask_process(request, false)?.0)
    }

    fn limits(&self) -> Limits {
        self.limits
    }
}

/// Parses a reply. Its texts are escaped, because the plugin may have forged the reply.
fn received(line: &[u8]) -> Option<Reply> {
    let reply: Reply = serde_json::from_slice(line).ok()?;
    with_escaped_texts(&reply).ok()
}
