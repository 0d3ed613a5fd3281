//! The child's side of the connection in [`super::child`]. Prepares the process for a plugin, and
//! sends messages.

use super::{printed::MARK, shared};
use crate::limits::{MemoryLimit, limit_descriptors, no_core_file};
use crate::sandbox::FileAccess;
use crate::system;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

/// Moves the socket from standard input to another descriptor, and begins to record steps.
pub(crate) fn take_socket() -> io::Result<OwnedFd> {
    shared::share();
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(socket)
}

/// Limits memory and descriptors, disables core files, and makes this process end with the program.
pub(crate) fn confine(memory: MemoryLimit, socket: &impl AsFd) -> io::Result<()> {
    system::end_with_program()?;
    // If the program has already ended, this process gets no signal, although the socket may still
    // contain a job.
    let mut program = [PollFd::new(socket, PollFlags::empty())];
    poll(&mut program, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    if program[0].revents().contains(PollFlags::HUP) {
        return Err(io::Error::other("the program that started it has ended"));
    }
    memory.apply()?;
    limit_descriptors()?;
    no_core_file()
}

/// Limits memory, enters a sandbox with access to these files, and returns the connection to the
/// parent.
pub fn begin(
    memory: MemoryLimit,
    is_sandboxed: bool,
    access: &FileAccess<'_>,
) -> io::Result<MessageSender> {
    let socket = File::from(take_socket()?);
    confine(memory, &socket)?;
    if is_sandboxed {
        system::enter_sandbox(access).map_err(io::Error::other)?;
    }
    let number = rustix::fs::fstat(&socket)?.st_ino;
    Ok(MessageSender { socket, number })
}

pub struct MessageSender {
    socket: File,
    number: u64,
}

impl MessageSender {
    /// Sends a message. Errors if the plugin has closed the socket, even if the descriptor now
    /// belongs to another file.
    pub fn send(&self, message: &impl Serialize) -> io::Result<()> {
        if rustix::fs::fstat(&self.socket)?.st_ino != self.number {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        (&self.socket).write_all(&line)
    }
}

/// Flushes the output buffers of C, and prints the mark of a job. Errors are ignored, because a
/// plugin may have closed the output.
pub(crate) fn mark_prints() {
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> c_int;
    }
    // SAFETY: null stands for all of C's streams.
    unsafe { fflush(std::ptr::null_mut()) };
    let mut out = io::stdout();
    drop(writeln!(out, "{MARK}").and_then(|()| out.flush()));
}
