//! Runs work with plugins in a child process of this program. The child replies in lines of JSON.
//! If a plugin crashes or hangs, only the reply is lost.

use crate::limits::{limit_descriptors, limit_files, limit_memory_at_first, no_core_file};
use crate::max_bytes;
use crate::process::child::{Child, Report, RunTime};
use crate::process::child_side::{confine, take_socket};
use crate::sandbox::FileAccess;
use crate::system;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Write};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use swapmeet_core::text::excerpt;

pub use crate::process::environment::restrict_environment;
pub use crate::process::threads::ThreadCheck;

/// Maximum length of a reply in bytes.
const MOST: usize = max_bytes::ANSWER;

/// Limits of a child process.
pub struct Limits<'a> {
    /// Maximum time between two messages of the child.
    pub max_silence: Duration,
    /// Additional time after `max_silence`, in which the child can report a timeout itself.
    pub grace: Duration,
    /// The child's limit on its address space, in bytes, for error messages; `None` if the user
    /// cannot set this limit.
    pub memory_limit: Option<u64>,
    /// Whether the child must be ended. Another thread sets this flag.
    pub stop: &'a AtomicBool,
}

/// Runs a child process and returns its reply, or the reason why there is no reply. `parse` parses
/// a message, and returns the reply if the message is the last one. `log` receives lines that the
/// child prints. Returns an error if no child process could be started.
pub fn run<L: DeserializeOwned, T>(
    command: &mut Command,
    limits: &Limits<'_>,
    log: &mut dyn FnMut(&str),
    mut parse: impl FnMut(L) -> Option<T>,
) -> io::Result<Result<T, String>> {
    let mut child = Child::start(command)?;
    let mut run_time = RunTime::new();
    let how = loop {
        while let Some(line) = child.printed.next() {
            log(&line);
        }
        if let Some(excess) = child.excess_threads() {
            break excess;
        }
        match child.listen() {
            Report::Line(line) => match serde_json::from_slice(&line).map(&mut parse) {
                Ok(Some(answer)) => return Ok(Ok(answer)),
                Ok(None) => run_time = RunTime::new(),
                Err(e) => break format!("its reply is invalid: {}", excerpt(&e.to_string())),
            },
            Report::Gone => {
                break child
                    .exit_message("it closed its connection to the program", limits.memory_limit);
            }
            Report::Nothing if limits.stop.load(Ordering::Relaxed) => {
                break "it was interrupted".to_owned();
            }
            Report::Nothing if child.incomplete_line_bytes() > MOST => {
                break format!("its reply is longer than {} MiB", MOST >> 20);
            }
            Report::Nothing if run_time.spent() > limits.max_silence + limits.grace => {
                break child.timeout_message(limits.max_silence);
            }
            Report::Nothing => {}
        }
    };
    Ok(Err(how))
}

/// Prepares the current process, a child that replies in lines: limits its memory, enters a sandbox
/// with access to these files, and returns the connection for replies.
pub fn begin(memory: u64, is_sandboxed: bool, access: &FileAccess<'_>) -> io::Result<ReplySender> {
    let socket = File::from(take_socket()?);
    confine(memory, &socket)?;
    if is_sandboxed {
        system::current().enter_sandbox(access).map_err(io::Error::other)?;
    }
    Ok(ReplySender(socket))
}

/// Prepares the current process, a child that replies in files. The parent can double the limit
/// `memory` once, with [`limits::double_memory_of`](crate::limits::double_memory_of).
pub fn begin_with_files(
    memory: u64,
    is_sandboxed: bool,
    access: &FileAccess<'_>,
) -> io::Result<()> {
    system::current().end_with_program()?;
    limit_memory_at_first(memory)?;
    no_core_file()?;
    limit_descriptors()?;
    limit_files(max_bytes::FILE)?;
    if is_sandboxed {
        system::current().enter_sandbox(access).map_err(io::Error::other)?;
    }
    Ok(())
}

/// The connection over which a child process sends its replies.
pub struct ReplySender(File);

impl ReplySender {
    pub fn send(&self, line: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        (&self.0).write_all(&line)
    }
}
