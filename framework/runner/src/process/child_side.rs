//! Prepares a child process. The child calls these functions before it loads a plugin.

use super::{current_step, printed::MARK};
use crate::limits::{limit_descriptors, limit_memory, no_core_file};
use crate::system;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

/// Moves the socket from standard input to another descriptor, and begins to record the steps of
/// schedules.
pub(crate) fn take_socket() -> io::Result<OwnedFd> {
    current_step::share();
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(socket)
}

/// Limits the child's memory and descriptors, disables core files, and makes the child end when the program exits.
pub(crate) fn confine(memory: u64, socket: &impl AsFd) -> io::Result<()> {
    system::current().end_with_program()?;
    // If the program has already exited, the child gets no signal. A job of the program may
    // nevertheless be in the socket, so check whether the program is still connected.
    let mut program = [PollFd::new(socket, PollFlags::empty())];
    poll(&mut program, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    if program[0].revents().contains(PollFlags::HUP) {
        return Err(io::Error::other("the program that started it has ended"));
    }
    limit_memory(memory)?;
    limit_descriptors()?;
    no_core_file()
}

/// Flushes the output buffers of C and then prints a mark. A plugin may have closed the output, so
/// errors are ignored.
pub(crate) fn mark_prints() {
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> c_int;
    }
    // SAFETY: null stands for all of C's streams.
    unsafe { fflush(std::ptr::null_mut()) };
    let mut out = io::stdout();
    drop(writeln!(out, "{MARK}").and_then(|()| out.flush()));
}
