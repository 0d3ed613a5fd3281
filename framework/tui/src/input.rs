//! Input from the terminal and the operating system: keys, signals, and the loss of the terminal.
//!
//! A separate thread reads keys, because crossterm retries forever when the terminal has hung up.

use crate::background::AnswerFilter;
use crossterm::event::{Event, read};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

pub(crate) struct Input {
    events: Receiver<io::Result<Event>>,
}

impl Input {
    /// Starts the reading thread, which runs until the program exits.
    pub(crate) fn listen() -> io::Result<Self> {
        let (sender, events) = channel();
        let listen = move || {
            let mut answers = AnswerFilter::default();
            loop {
                let event = read();
                if event.as_ref().is_ok_and(|event| answers.removes(event)) {
                    continue;
                }
                let is_last = event.is_err();
                if sender.send(event).is_err() || is_last {
                    return;
                }
            }
        };
        thread::Builder::new().name("input".to_owned()).spawn(listen)?;
        Ok(Self { events })
    }

    /// Returns the next event, for which it waits up to a time limit, and all that are pending.
    /// They are handled before the next frame, so that the screen keeps up with a key that is held
    /// down.
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

/// Returns whether the terminal has hung up. Where `poll` does not support terminals (`NVAL`), only
/// the signal `SIGHUP` tells this.
pub(crate) fn has_hung_up() -> bool {
    let stdin = rustix::stdio::stdin();
    let mut ends = [PollFd::new(&stdin, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut ends, Some(&at_once)).is_ok_and(|ready| ready > 0)
        && ends[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

pub(crate) struct Signals {
    ended: Arc<AtomicBool>,
    resumed: Arc<AtomicBool>,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        let signals = Self { ended: Arc::default(), resumed: Arc::default() };
        // In raw mode, Ctrl-C is an ordinary key, so `SIGINT` comes from another process.
        for signal in [SIGTERM, SIGHUP, SIGINT] {
            signal_hook::flag::register(signal, Arc::clone(&signals.ended))?;
        }
        signal_hook::flag::register(SIGCONT, Arc::clone(&signals.resumed))?;
        Ok(signals)
    }

    pub(crate) fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Returns whether the program has resumed after a stop (`SIGCONT`), and clears the flag.
    pub(crate) fn resumed(&self) -> bool {
        self.resumed.swap(false, Ordering::Relaxed)
    }
}
