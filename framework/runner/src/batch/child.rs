//! A child of this program, and the socket to it, which is its standard input: a worker, or one that says what plugins offer.

use super::lines::Lines;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A child; dropped, it ends, and all in its process group.
pub(crate) struct Child {
    process: std::process::Child,
    socket: UnixStream,
    /// What came and is no line that was taken.
    lines: Lines,
}

/// What came from a child.
pub(crate) enum Heard {
    /// A line, with its end.
    Line(Vec<u8>),
    /// Nothing for a while.
    Nothing,
    /// Nothing more will come: it ended, or closed its socket.
    Gone,
}

impl Child {
    /// Starts it, in a process group of its own: a Ctrl-C at the terminal is for the program, which ends its children itself.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let process = command.stdin(Stdio::from(OwnedFd::from(theirs))).process_group(0).spawn()?;
        Ok(Self { process, socket: ours, lines: Lines::default() })
    }

    /// Sends it all of this.
    pub(crate) fn tell(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes)
    }

    /// The next line. Waits for a moment at most, and reads a little at a time: whoever listens can look at the clock in between.
    pub(crate) fn listen(&mut self) -> Heard {
        /// How long other things may go unnoticed.
        const SLICE: Duration = Duration::from_millis(50);
        if let Some(line) = self.lines.next() {
            return Heard::Line(line);
        }
        let mut buffer = [0; 8192];
        match self.socket.set_read_timeout(Some(SLICE)).and_then(|()| self.socket.read(&mut buffer)) {
            Ok(0) => Heard::Gone,
            Ok(n) => {
                self.lines.push(&buffer[..n]);
                self.lines.next().map_or(Heard::Nothing, Heard::Line)
            }
            // A process that a plugin started may hold the socket open though the child is no more.
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {
                if matches!(self.process.try_wait(), Ok(None)) { Heard::Nothing } else { Heard::Gone }
            }
            Err(_) => Heard::Gone,
        }
    }

    /// Bytes of a line that has no end yet.
    pub(crate) fn held(&self) -> usize {
        self.lines.held()
    }

    /// How it ended, in words; `None` if it has closed its socket and goes on.
    pub(crate) fn end(&mut self) -> Option<String> {
        /// A process that closed its socket has this long to end.
        const GRACE: Duration = Duration::from_millis(200);
        let begin = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return Some(ended(status)),
                Ok(None) if begin.elapsed() < GRACE => std::thread::sleep(Duration::from_millis(2)),
                _ => return None,
            }
        }
    }

    /// Ends it, and whatever it has started that is still in its group.
    pub(crate) fn kill(&mut self) {
        if let Some(group) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How a process ended, in words.
fn ended(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("its process was killed by signal {signal}{}", named(signal)),
        (None, Some(code)) => format!("its process ended with exit status {code}, without an answer"),
        (None, None) => "its process ended, without an answer".to_owned(),
    }
}

fn named(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        31 => " (SIGSYS)",
        _ => "",
    }
}
