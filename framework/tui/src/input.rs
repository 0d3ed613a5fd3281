//! What the terminal and the system have to say: keys, signals, and that the terminal is gone.
//!
//! A thread waits for keys. A terminal that hangs up is forever ready to be read and never has
//! anything, and crossterm goes on trying: were that done by the thread that draws, the program
//! would spin and never end.

use crossterm::event::{Event, read};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Keys, the mouse, new sizes, as they come.
pub(crate) struct Input {
    events: Receiver<io::Result<Event>>,
}

impl Input {
    /// Begins to listen. The thread ends with the program: nothing wakes one that waits for a key.
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

    /// What comes within so long, and all that came with it: holding a key down must not run
    /// behind.
    pub(crate) fn within(&self, wait: Duration) -> impl Iterator<Item = io::Result<Event>> {
        let first = match self.events.recv_timeout(wait) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(io::Error::other("nobody listens to keys any more")))
            }
        };
        first.into_iter().chain(self.events.try_iter())
    }
}

/// Whether the terminal has hung up: its window was closed, the connection to it broke. (Systems
/// that can't say so of a terminal call it invalid, which tells nothing; there the signal has to
/// do.)
pub(crate) fn has_hung_up() -> bool {
    let stdin = rustix::stdio::stdin();
    let mut ends = [PollFd::new(&stdin, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut ends, Some(&at_once)).is_ok_and(|ready| ready > 0)
        && ends[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

/// Signals that end or wake a program.
pub(crate) struct Signals {
    ended: Arc<AtomicBool>,
    resumed: Arc<AtomicBool>,
}

impl Signals {
    /// Takes note of signals from now on.
    pub(crate) fn new() -> io::Result<Self> {
        let signals = Self { ended: Arc::default(), resumed: Arc::default() };
        // Ctrl-C is a key while the terminal is ours: an interrupt comes from elsewhere.
        for signal in [SIGTERM, SIGHUP, SIGINT] {
            signal_hook::flag::register(signal, Arc::clone(&signals.ended))?;
        }
        signal_hook::flag::register(SIGCONT, Arc::clone(&signals.resumed))?;
        Ok(signals)
    }

    /// Whether the program is to end.
    pub(crate) fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Whether the program was stopped and goes on; said once.
    pub(crate) fn resumed(&self) -> bool {
        self.resumed.swap(false, Ordering::Relaxed)
    }
}
