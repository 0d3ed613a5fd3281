//! A child process with a socket as its standard input and a pipe for its output.

use super::current_step::SharedStep;
use super::environment::restrict_environment;
use super::lines::Lines;
use super::printed::Printed;
use super::threads::ThreadCheck;
use crate::plugin_output::is_out_of_memory;
use crate::system;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use swapmeet_core::spec::format_size;

/// Maximum duration of one wait for a child.
const SLICE: Duration = Duration::from_millis(50);

/// A child process and its process group. Dropping this value kills the whole group.
pub(crate) struct Child {
    process: Running,
    socket: UnixStream,
    /// Bytes received from the socket that have not been returned as lines.
    lines: Lines,
    /// Pipe for the child's output; `None` after all writers are closed. The pipe is not read in a
    /// separate thread, because a process started by a plugin may keep the pipe, and thus the
    /// thread, open forever.
    pipe: Option<PipeReader>,
    pub(crate) printed: Printed,
    /// The number of the schedule's step that the child is processing.
    progress: SharedStep,
    threads: ThreadCheck,
}

/// The process of a child, or the thread of a test in its place.
enum Running {
    Process(std::process::Child),
    #[cfg(feature = "in-process")]
    Thread(std::thread::JoinHandle<()>),
}

/// The result of waiting for data from a child.
pub(crate) enum Report {
    /// A line, including its line feed, or the block that [`Child::expect_block`] has announced.
    Line(Vec<u8>),
    /// No complete line arrived within the waiting time.
    Nothing,
    /// The child exited or closed its socket.
    Gone,
}

impl Child {
    /// Starts a child in its own process group. Ctrl-C at the terminal therefore signals only the
    /// program, which ends its children itself.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let (pipe, writer) = io::pipe()?;
        ours.set_nonblocking(true)?;
        restrict_environment(command);
        let progress = SharedStep::of(command);
        command.stdin(Stdio::from(OwnedFd::from(theirs)));
        command
            .stdout(Stdio::from(OwnedFd::from(writer.try_clone()?)))
            .stderr(Stdio::from(OwnedFd::from(writer)));
        let process = command.process_group(0).spawn()?;
        // `command` still holds the child's ends of the socket and the pipe. While it does, the
        // parent cannot notice that the child has closed them, so replace them.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self {
            threads: ThreadCheck::new(process.id()),
            process: Running::Process(process),
            socket: ours,
            lines: Lines::default(),
            pipe: Some(pipe),
            printed: Printed::default(),
            progress,
        })
    }

    /// Starts a thread that serves the other end of the socket, in place of a child process.
    #[cfg(feature = "in-process")]
    pub(crate) fn start_thread(
        serve: impl FnOnce(UnixStream) + Send + 'static,
    ) -> io::Result<Self> {
        /// The stack of a process's main thread, which plugins can rely on.
        const STACK_BYTES: usize = 8 << 20;
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let builder = std::thread::Builder::new().name("plugin".to_owned()).stack_size(STACK_BYTES);
        Ok(Self {
            // There is no process with this number, so no threads are counted.
            threads: ThreadCheck::new(0),
            process: Running::Thread(builder.spawn(move || serve(theirs))?),
            socket: ours,
            lines: Lines::default(),
            // What a plugin prints appears in the output of the test.
            pipe: None,
            printed: Printed::default(),
            progress: SharedStep::none(),
        })
    }

    /// Sends all bytes to the child. A suspended child accepts no data, so the function returns the
    /// error `TimedOut` as soon as `is_over` returns true.
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

    /// Returns the next line. It waits at most `SLICE` and reads a limited number of bytes, so that
    /// callers can check their limits between two calls.
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
            // The child may have exited although the socket is still open, because a process
            // started by a plugin may keep it open.
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                if self.process.is_running() { Report::Nothing } else { Report::Gone }
            }
            Err(_) => Report::Gone,
        }
    }

    /// Waits until the socket is ready for one of the events in `socket`, or the pipe has data. In
    /// the second case, reads the pipe. Waits at most [`SLICE`].
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

    /// Reads printed output until `will_do` returns true, the pipe is closed, or the time `enough`
    /// has passed. Returns whether `will_do` returned true.
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

    /// Makes the next report a block of this number of bytes instead of a line.
    pub(crate) fn expect_block(&mut self, bytes: usize) {
        self.lines.expect_block(bytes);
    }

    /// Returns the number of bytes received after the last complete line.
    pub(crate) fn incomplete_line_bytes(&self) -> usize {
        self.lines.held()
    }

    /// Describes how the child ended. Returns `None` if the child has closed its socket but is
    /// still running.
    fn end(&mut self) -> Option<String> {
        /// Maximum time between the moment when a process closes its socket and its exit.
        const GRACE: Duration = Duration::from_millis(200);
        let begin = Instant::now();
        loop {
            match self.process.how_it_ended() {
                Ok(Some(how)) => return Some(how),
                Ok(None) if begin.elapsed() < GRACE => std::thread::sleep(Duration::from_millis(2)),
                _ => return None,
            }
        }
    }

    /// Kills the child and describes how it ended, with the last line that it printed. If the child
    /// was still running, the description is `unsaid`.
    pub(crate) fn exit_message(&mut self, unsaid: &str, memory_limit: Option<u64>) -> String {
        /// Maximum time to read the last line, because a process started by a plugin may print
        /// forever.
        const ENOUGH: Duration = Duration::from_millis(200);
        let how = self.end();
        self.kill();
        self.read_printed(ENOUGH, |_| false);
        let how = how.as_deref().unwrap_or(unsaid);
        let words = match (self.printed.last_words(), memory_limit) {
            ("", _) => String::new(),
            (words, Some(limit)) if is_out_of_memory(words) => {
                format!("; its last output: {words} (--memory-limit is {})", format_size(limit))
            }
            (words, _) => format!("; its last output: {words}"),
        };
        format!("{how}{words}{}", self.progress.in_words())
    }

    /// If the child has more threads than a child may have, kills it and describes this.
    pub(crate) fn excess_threads(&mut self) -> Option<String> {
        let excess = self.threads.excess()?;
        self.kill();
        Some(format!("{excess}{}", self.progress.in_words()))
    }

    /// Returns the number of bytes of memory that the child holds; 0 if the system does not report
    /// it.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let child = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        let status = child.map(|child| system::current().status_of(child)).unwrap_or_default();
        system::bytes_in(&status, "VmRSS:").unwrap_or_default()
    }

    /// Returns whether the program itself, and not a plugin, has used up the child's memory. Call
    /// this after [`Child::exit_message`].
    pub(crate) fn host_is_out_of_memory(&self) -> bool {
        is_out_of_memory(self.printed.last_words()) && !self.progress.is_in_plugin()
    }

    /// Describes a timeout and the step of the schedule in which it occurred.
    pub(crate) fn timeout_message(&self, limit: Duration) -> String {
        format!("not done after {} s{}", limit.as_secs_f64(), self.progress.in_words())
    }

    /// Kills the child and its process group. A thread ends when it next uses the closed socket.
    pub(crate) fn kill(&mut self) {
        match &mut self.process {
            Running::Process(process) => {
                if let Some(group) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = process.kill();
                let _ = process.wait();
            }
            #[cfg(feature = "in-process")]
            Running::Thread(_) => drop(self.socket.shutdown(std::net::Shutdown::Both)),
        }
    }
}

impl Running {
    /// Returns the number of the process, or 0 for a thread.
    fn id(&self) -> u32 {
        match self {
            Self::Process(process) => process.id(),
            #[cfg(feature = "in-process")]
            Self::Thread(_) => 0,
        }
    }

    fn is_running(&mut self) -> bool {
        match self {
            Self::Process(process) => matches!(process.try_wait(), Ok(None)),
            #[cfg(feature = "in-process")]
            Self::Thread(thread) => !thread.is_finished(),
        }
    }

    /// Returns a description of the end, or `None` if the child is still running.
    fn how_it_ended(&mut self) -> io::Result<Option<String>> {
        match self {
            Self::Process(process) => Ok(process.try_wait()?.map(ended)),
            #[cfg(feature = "in-process")]
            Self::Thread(thread) => {
                Ok(thread.is_finished().then(|| "its thread ended, without an answer".to_owned()))
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A clock that stops while this program itself is suspended, for example by Ctrl-Z.
pub(crate) struct RunTime {
    spent: Duration,
    last: Instant,
}

impl RunTime {
    pub(crate) fn new() -> Self {
        Self { spent: Duration::ZERO, last: Instant::now() }
    }

    /// Returns the elapsed time. Call this method at least once per second, because a longer time
    /// between two calls counts as suspension.
    pub(crate) fn spent(&mut self) -> Duration {
        let now = Instant::now();
        self.spent += now.duration_since(self.last).min(SLICE * 20);
        self.last = now;
        self.spent
    }

    /// Subtracts `time` from the elapsed time, but not below zero. Returns the subtracted time.
    pub(crate) fn exclude(&mut self, time: Duration) -> Duration {
        let excluded = time.min(self.spent());
        self.spent -= excluded;
        excluded
    }
}

/// Returns a text that describes the exit status of a process.
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
        libc::SIGILL => " (SIGILL)",
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGKILL => " (SIGKILL)",
        libc::SIGSEGV => " (SIGSEGV)",
        libc::SIGTERM => " (SIGTERM)",
        libc::SIGSYS => " (SIGSYS)",
        _ => "",
    }
}
