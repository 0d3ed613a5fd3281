//! Input from the terminal and the system: keys, signals, and the loss of the terminal.
//!
//! A separate thread reads keys. After a hang-up, a terminal is always reported as ready for
//! reading but never delivers any data, so crossterm retries forever. If the drawing thread read
//! keys, it would never return from this loop.

use crossterm::event::{Event, read};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Receives key, mouse and resize events.
pub(crate) struct Input {
    events: Receiver<io::Result<Event>>,
}

impl Input {
    /// Starts the reading thread. The thread only ends when the program exits, because nothing can
    /// wake it while it waits for a key.
    pub(crate) fn listen() -> io::Result<Self> {
        let (sender, events) = channel();
        let listen = move || {
            loop {
                let event = read();
                let is_last = event.is_err();
                if sender.send(event).is_err() || is_last {
                    return;
                }
            }
        };
        thread::Builder::new().name("input".to_owned()).spawn(listen)?;
        Ok(Self { events })
    }

    /// Waits for an event up to a time limit. Returns it with all other pending events. Processing
    /// them together is fast enough for a key that is held down.
    pub(crate) fn within(&self, wait: Duration) -> impl Iterator<Item = io::Result<Event>> {
        let first = match self.events.recv_timeout(wait) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(io::Error::other("the input thread has ended")))
            }
        };
        first.into_iter().chain(self.events.try_iter())
    }
}

/// Returns whether the terminal has hung up, because its window was closed or its connection was
/// lost. On systems whose `poll` does not support terminals, the result `NVAL` is ignored. On such
/// systems, only a signal ends the program.
pub(crate) fn has_hung_up() -> bool {
    let stdin = rustix::stdio::stdin();
    let mut ends = [PollFd::new(&stdin, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut ends, Some(&at_once)).is_ok_and(|ready| ready > 0)
        && ends[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

/// Flags that signals set.
pub(crate) struct Signals {
    ended: Arc<AtomicBool>,
    resumed: Arc<AtomicBool>,
}

impl Signals {
    /// Registers the signal handlers.
    pub(crate) fn new() -> io::Result<Self> {
        let signals = Self { ended: Arc::default(), resumed: Arc::default() };
        // In raw mode, Ctrl-C is an ordinary key. An interrupt signal therefore comes from another
        // process.
        for signal in [SIGTERM, SIGHUP, SIGINT] {
            signal_hook::flag::register(signal, Arc::clone(&signals.ended))?;
        }
        signal_hook::flag::register(SIGCONT, Arc::clone(&signals.resumed))?;
        Ok(signals)
    }

    /// Returns whether the program was asked to end.
    pub(crate) fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Returns whether the program was resumed after a stop, and clears the flag.
    pub(crate) fn resumed(&self) -> bool {
        self.resumed.swap(false, Ordering::Relaxed)
    }
}
