//! A child of this program, the socket to it, which is its standard input, and the pipe that it
//! prints to.

use super::current_step::SharedStep;
use super::lines::Lines;
use super::printed::Printed;
use crate::plugin_output::is_out_of_memory;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use swapmeet_core::spec::format_size;

/// How long other things may go unnoticed while a child is listened to.
const SLICE: Duration = Duration::from_millis(50);

/// A child; dropped, it ends, and all in its process group.
pub(crate) struct Child {
    process: std::process::Child,
    socket: UnixStream,
    /// What came and is no line that was taken.
    lines: Lines,
    /// What it prints to, until nobody protection the other end. Read here and by no thread: whoever a
    /// plugin started may hold it for ever.
    pipe: Option<PipeReader>,
    pub(crate) printed: Printed,
    /// How far it has come.
    progress: SharedStep,
}

/// What came from a child.
pub(crate) enum Report {
    /// A line, with its end.
    Line(Vec<u8>),
    /// Nothing for a while.
    Nothing,
    /// Nothing more will come: it ended, or closed its socket.
    Gone,
}

impl Child {
    /// Starts it, in a process group of its own: a Ctrl-C at the terminal is for the program, which
    /// ends its children itself.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let (pipe, writer) = io::pipe()?;
        ours.set_nonblocking(true)?;
        let progress = SharedStep::of(command);
        command.stdin(Stdio::from(OwnedFd::from(theirs)));
        command
            .stdout(Stdio::from(OwnedFd::from(writer.try_clone()?)))
            .stderr(Stdio::from(OwnedFd::from(writer)));
        let process = command.process_group(0).spawn()?;
        // The command protection the other ends: as long as it does, nobody hears that the child closed
        // them.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self {
            process,
            socket: ours,
            lines: Lines::default(),
            pipe: Some(pipe),
            printed: Printed::default(),
            progress,
        })
    }

    /// Sends it all of this, unless `is_over` says meanwhile that it is not worth it: a child that
    /// was stopped takes nothing.
    pub(crate) fn send(
        &mut self,
        mut bytes: &[u8],
        mut is_over: impl FnMut() -> bool,
    ) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.socket.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => bytes = &bytes[n..],
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    if is_over() {
                        return Err(ErrorKind::TimedOut.into());
                    }
                    self.wait(PollFlags::OUT);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// The next line. Waits for a moment at most, and reads a little at a time: whoever listens can
    /// look at the clock in between.
    pub(crate) fn listen(&mut self) -> Report {
        if let Some(line) = self.lines.next() {
            return Report::Line(line);
        }
        self.wait(PollFlags::IN);
        let mut buffer = [0; 16384];
        match self.socket.read(&mut buffer) {
            Ok(0) => Report::Gone,
            Ok(n) => {
                self.lines.push(&buffer[..n]);
                self.lines.next().map_or(Report::Nothing, Report::Line)
            }
            // A process that a plugin started may hold the socket open though the child is no more.
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                if matches!(self.process.try_wait(), Ok(None)) {
                    Report::Nothing
                } else {
                    Report::Gone
                }
            }
            Err(_) => Report::Gone,
        }
    }

    /// Waits until the socket is ready for something or the pipe has something, and takes in what
    /// is printed.
    fn wait(&mut self, socket: PollFlags) {
        let slice = Timespec { tv_sec: 0, tv_nsec: i64::from(SLICE.subsec_nanos()) };
        let mut ready = vec![PollFd::new(&self.socket, socket)];
        ready.extend(self.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let polled = poll(&mut ready, Some(&slice));
        let has_printed =
            polled.is_ok() && ready.get(1).is_some_and(|pipe| !pipe.revents().is_empty());
        if has_printed {
            self.read_pipe();
        }
    }

    fn read_pipe(&mut self) {
        let mut buffer = [0; 16384];
        match self.pipe.as_mut().map(|pipe| pipe.read(&mut buffer)) {
            Some(Ok(n)) if n > 0 => self.printed.push(&buffer[..n]),
            Some(Err(e)) if e.kind() == ErrorKind::Interrupted => {}
            _ => {
                self.pipe = None;
                self.printed.end();
            }
        }
    }

    /// Takes in what is printed until that will do, nobody protection the other end, or it has been long
    /// enough: who printed it may go on for ever.
    pub(crate) fn read_printed(
        &mut self,
        enough: Duration,
        mut will_do: impl FnMut(&mut Printed) -> bool,
    ) -> bool {
        let begin = Instant::now();
        while !will_do(&mut self.printed) {
            let Some(pipe) = &self.pipe else { return false };
            let Some(left) = enough.checked_sub(begin.elapsed()) else { return false };
            let left =
                Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            if matches!(poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&left)), Ok(n) if n > 0)
            {
                self.read_pipe();
            }
        }
        true
    }

    /// Bytes of a line that has no end yet.
    pub(crate) fn incomplete_line_bytes(&self) -> usize {
        self.lines.held()
    }

    /// How it ended, in words; `None` if it has closed its socket and goes on.
    fn end(&mut self) -> Option<String> {
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

    /// What became of one that says no more, with the last that it printed; `unsaid` is said of one
    /// that goes on.
    pub(crate) fn exit_message(&mut self, unsaid: &str, memory_limit: Option<u64>) -> String {
        /// The last line may be on its way still, and a process that a plugin started may print for
        /// ever.
        const ENOUGH: Duration = Duration::from_millis(200);
        let how = self.end();
        self.kill();
        self.read_printed(ENOUGH, |_| false);
        let how = how.as_deref().unwrap_or(unsaid);
        let words = match (self.printed.last_words(), memory_limit) {
            ("", _) => String::new(),
            (words, Some(limit)) if is_out_of_memory(words) => {
                format!("; its last words: {words} (--memory-limit is {})", format_size(limit))
            }
            (words, _) => format!("; its last words: {words}"),
        };
        format!("{how}{words}{}", self.progress.in_words())
    }

    /// That it took longer than it may, and where it was.
    pub(crate) fn timeout_message(&self, limit: Duration) -> String {
        format!("not done after {} s{}", limit.as_secs_f64(), self.progress.in_words())
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

/// How long something has run: time in which this program itself was stopped, as by Ctrl-Z, doesn't
/// count.
pub(crate) struct RunTime {
    spent: Duration,
    last: Instant,
}

impl RunTime {
    pub(crate) fn new() -> Self {
        Self { spent: Duration::ZERO, last: Instant::now() }
    }

    /// So far. Asked more often than twenty times a second; a longer gap is a pause.
    pub(crate) fn spent(&mut self) -> Duration {
        let now = Instant::now();
        self.spent += now.duration_since(self.last).min(SLICE * 20);
        self.last = now;
        self.spent
    }
}

/// How a process ended, in words.
fn ended(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("its process was killed by signal {signal}{}", named(signal)),
        (None, Some(code)) => {
            format!("its process ended with exit status {code}, without an answer")
        }
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
