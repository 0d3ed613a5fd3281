//! The limit on the number of threads of a process that runs plugins. Threads of one process take
//! cores, and the places for processes that the system gives to a user, from all others.

use crate::system;
use rustix::process::Pid;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// Counts the threads of a child process from time to time.
pub(crate) struct ThreadCheck {
    child: Option<Pid>,
    last: Instant,
}

impl ThreadCheck {
    /// The least time between two counts.
    const EVERY: Duration = Duration::from_millis(50);

    pub(crate) fn new(child: u32) -> Self {
        let child = i32::try_from(child).ok().and_then(Pid::from_raw);
        Self { child, last: Instant::now() }
    }

    /// Returns the number of threads, in words, if it is above the limit. The threads are counted
    /// at most every 50 ms.
    pub(crate) fn excess(&mut self) -> Option<String> {
        if self.last.elapsed() < Self::EVERY {
            return None;
        }
        self.last = Instant::now();
        let status = system::status_of(self.child?);
        let threads: u64 = system::status_line(&status, "Threads:")?.parse().ok()?;
        let most = most_threads();
        (threads > most)
            .then(|| format!("its process had {threads} threads, expected at most {most}"))
    }
}

/// Returns the maximum number of threads. The runtime of Go, which starts the most, needs one for
/// each core and a few more.
fn most_threads() -> u64 {
    2 * available_parallelism().map_or(1, usize::from) as u64 + 14
}
