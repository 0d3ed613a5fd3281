//! What a child does to itself before a plugin is loaded.

use super::{current_step, printed::MARK};
use crate::limits::{limit_memory, no_core_file};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

/// Standard input, moved out of a plugin's way. From now on steps are written down, too.
pub(crate) fn take_socket() -> io::Result<OwnedFd> {
    current_step::share();
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(socket)
}

/// A plugin may not take more than its share, nor outlive the program, nor leave a core file.
pub(crate) fn confine(memory: u64, socket: &impl AsFd) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // A program that had ended before sends no signal any more; what it had asked for may be in the
    // socket still.
    let mut program = [PollFd::new(socket, PollFlags::empty())];
    poll(&mut program, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    if program[0].revents().contains(PollFlags::HUP) {
        return Err(io::Error::other("the program that started it has ended"));
    }
    // A sandbox lets a plugin fork nothing. Without one what it forks ends with it, be the program
    // ended by what nobody can catch. SAFETY: the handler does nothing but a system call.
    unsafe { libc::pthread_atfork(None, None, Some(end_with_parent)) };
    limit_memory(memory)?;
    no_core_file()
}

unsafe extern "C" fn end_with_parent() {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// Sends on what a plugin has printed and C's library still protection, and a mark after it. A plugin
/// may have closed or moved the output: then nobody hears.
pub(crate) fn mark_prints() {
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> c_int;
    }
    // SAFETY: null stands for all of C's streams.
    unsafe { fflush(std::ptr::null_mut()) };
    let mut out = io::stdout();
    drop(writeln!(out, "{MARK}").and_then(|()| out.flush()));
}
