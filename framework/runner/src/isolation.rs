//! Work with plugins that is done in a child of this program, which answers in lines: whatever a
//! plugin does there costs the answer and nothing else.

use crate::process::child::{Child, Report, RunTime};
use crate::process::child_side::{confine, take_socket};
use crate::sandbox;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const MOST: usize = 1 << 26;

/// What protection for a child.
pub struct Limits<'a> {
    /// How long it may be silent.
    pub max_silence: Duration,
    /// How much longer it has to say itself that it took longer.
    pub grace: Duration,
    /// The most memory that it may map, where the user can say how much that is.
    pub memory_limit: Option<u64>,
    /// Once this is set it is ended.
    pub stop: &'a AtomicBool,
}

/// What a child answers, or how it ended without an answer: `hear` says of each line whether it is
/// the answer. What it prints is told. An error is that none could be started.
pub fn ask<L: DeserializeOwned, T>(
    command: &mut Command,
    limits: &Limits<'_>,
    tell: &mut dyn FnMut(&str),
    mut hear: impl FnMut(L) -> Option<T>,
) -> io::Result<Result<T, String>> {
    let mut child = Child::start(command)?;
    let mut run_time = RunTime::new();
    let how = loop {
        while let Some(line) = child.printed.next() {
            tell(&line);
        }
        match child.listen() {
            Report::Line(line) => match serde_json::from_slice(&line).map(&mut hear) {
                Ok(Some(answer)) => return Ok(Ok(answer)),
                Ok(None) => run_time = RunTime::new(),
                Err(e) => break format!("its answer makes no sense: {e}"),
            },
            Report::Gone => {
                break child.exit_message(
                    "it closed the socket of the process that limits it",
                    limits.memory_limit,
                );
            }
            Report::Nothing if limits.stop.load(Ordering::Relaxed) => {
                break "it was interrupted".to_owned();
            }
            Report::Nothing if child.incomplete_line_bytes() > MOST => {
                break format!("its answer is over {} MiB long", MOST >> 20);
            }
            Report::Nothing if run_time.spent() > limits.max_silence + limits.grace => {
                break child.timeout_message(limits.max_silence);
            }
            Report::Nothing => {}
        }
    };
    Ok(Err(how))
}

/// The child's side: it may take so much memory, will load these plugins, and answers on what it
/// gets here.
pub fn begin(memory: u64, is_sandboxed: bool, plugins: &[PathBuf]) -> io::Result<ReplySender> {
    let socket = File::from(take_socket()?);
    confine(memory, &socket)?;
    if is_sandboxed {
        sandbox::enter(plugins, &[]).map_err(io::Error::other)?;
    }
    Ok(ReplySender(socket))
}

/// Where a child answers.
pub struct ReplySender(File);

impl ReplySender {
    pub fn give(&self, line: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        (&self.0).write_all(&line)
    }
}
