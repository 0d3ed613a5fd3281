//! Runs work with plugins in a child process, so that a crash of a plugin affects only the reply.

use serde::de::DeserializeOwned;
use std::io;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use swapmeet_core::text::excerpt;

pub use crate::process::child::{
    Child, ChildEnd, ChildEndKind, ChildEvent, ChildLimits, OutputPipes,
};
pub use crate::process::child_side::{MessageSender, begin};
pub use crate::process::group::ProcessGroup;

/// Runs a child process and returns its reply, or the reason why there is none. `parse` returns the
/// reply if a message is the last one. The time limit applies to the time between two messages.
/// `log` gets each printed line. If `stop` is set, the child is killed. Errors if no child process
/// could be started.
pub fn run<L: DeserializeOwned, T>(
    command: &mut Command,
    limits: ChildLimits,
    stop: &AtomicBool,
    log: &mut dyn FnMut(&str),
    mut parse: impl FnMut(L) -> Option<T>,
) -> io::Result<Result<T, String>> {
    let mut child = Child::start(command, limits, OutputPipes::Joined)?;
    let end = loop {
        match child.next(stop) {
            ChildEvent::Printed(line) => log(&line),
            ChildEvent::Message(line) => match serde_json::from_slice(&line).map(&mut parse) {
                Ok(Some(answer)) => return Ok(Ok(answer)),
                Ok(None) => child.restart_clock(),
                Err(e) => break child.invalid(&excerpt(&e.to_string())),
            },
            ChildEvent::Ended(end) => break end,
        }
    };
    Ok(Err(end.message))
}
