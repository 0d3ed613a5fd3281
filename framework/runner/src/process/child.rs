//! A child process that runs plugins. Its standard input is a socket for messages. A plugin in the
//! child may print without end, hang, crash, or write to the socket. None of this can block the
//! parent, because the parent never waits longer than 1 s, and checks the limits between waits.
//! After every failure, the child is killed and [`ChildEvent::Ended`] is returned.

use super::group::ProcessGroup;
use super::printed::{Lines, Printed};
use super::shared::SharedNumbers;
use crate::plugin_output::is_out_of_memory;
use crate::sandbox::NO_SANDBOX;
use crate::system;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};
use swapmeet_core::spec::format_size;

const SLICE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy)]
pub struct ChildLimits {
    /// The time limit that messages about timeouts mention.
    pub time: Duration,
    /// The time after which the child is killed. It counts from the start of the child or from the
    /// last `Child::restart_clock`.
    pub kill_after: Duration,
    /// Maximum time that the child may spend on pricing cases in addition to `kill_after`.
    pub pricing: Duration,
    /// The limit on the child's address space in bytes. It is only used in error messages.
    pub memory: u64,
    pub message_bytes: usize,
}

impl ChildLimits {
    /// Returns limits for a child that checks the time limit itself in calls of the plugin. A
    /// plugin that makes no calls does not notice the limit, so it is killed at 105 % of the limit
    /// plus 0.5 s.
    pub fn with_grace(time: Duration, memory: u64, message_bytes: usize) -> Self {
        let grace = (time / 20).saturating_add(Duration::from_millis(500));
        let kill_after = time.saturating_add(grace);
        Self { time, kill_after, pricing: Duration::ZERO, memory, message_bytes }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputPipes {
    Joined,
    /// Only lines of standard output are reported. If the child fails, the last lines of standard
    /// error become part of the error message.
    Separate,
}

pub enum ChildEvent {
    /// A line that the child has sent, or a block whose length `Child::expect_block` has set.
    Message(Vec<u8>),
    Printed(String),
    Ended(ChildEnd),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildEnd {
    pub kind: ChildEndKind,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildEndKind {
    Cancelled,
    TimedOut,
    /// The child sent something other than a message. Only a plugin can cause this.
    Invalid,
    TooManyThreads,
    /// The child has closed the socket, but is still running.
    Closed,
    Succeeded,
    Died,
    /// The process died because the program itself, and not a plugin, used up its memory.
    HostOutOfMemory,
}

/// A child process and its process group, which are killed when this value is dropped. In tests,
/// the child can be a thread of this process instead. Dropping this value closes its socket, and
/// the thread ends when it next uses the socket.
pub struct Child {
    process: Running,
    socket: UnixStream,
    /// Bytes that were received from the socket, but have not been returned as messages.
    lines: Lines,
    /// The outputs of the child: standard output and, if it has a pipe of its own, standard error.
    outputs: Vec<Output>,
    shared: SharedNumbers,
    threads: ThreadCheck,
    pub(crate) limits: ChildLimits,
    run_time: RunTime,
    /// The time that the child had spent on pricing when the clock was restarted.
    priced_before: Duration,
}

enum Running {
    Process(ProcessGroup),
    #[cfg(feature = "in-process")]
    Thread(std::thread::JoinHandle<()>),
}

struct Output {
    /// The pipe, or `None` after all processes that could write to it have closed it. These include
    /// processes that a plugin started.
    pipe: Option<PipeReader>,
    printed: Printed,
}

enum Received {
    Message(Vec<u8>),
    Nothing,
    Gone,
}

impl Child {
    pub fn start(
        command: &mut Command,
        limits: ChildLimits,
        pipes: OutputPipes,
    ) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let (output, writer) = Output::new()?;
        let mut outputs = vec![output];
        let error_writer = match pipes {
            OutputPipes::Joined => writer.try_clone()?,
            OutputPipes::Separate => {
                let (errors, writer) = Output::new()?;
                outputs.push(errors);
                writer
            }
        };
        ours.set_nonblocking(true)?;
        restrict_environment(command);
        let shared = SharedNumbers::of(command);
        command.stdin(Stdio::from(OwnedFd::from(theirs)));
        command
            .stdout(Stdio::from(OwnedFd::from(writer)))
            .stderr(Stdio::from(OwnedFd::from(error_writer)));
        let process = ProcessGroup::start(command)?;
        // `command` still holds the child's ends of the socket and the pipes. As long as they are
        // open, this process cannot notice that the child has closed its own.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let threads = ThreadCheck::new(process.id());
        Ok(Self::new(Running::Process(process), ours, outputs, shared, threads, limits))
    }

    /// Starts a thread as the child, at the other end of the socket. Its output is not captured.
    #[cfg(feature = "in-process")]
    pub(crate) fn start_thread(
        limits: ChildLimits,
        serve: impl FnOnce(UnixStream) + Send + 'static,
    ) -> io::Result<Self> {
        /// The size of the main thread's stack in a process, which plugins can rely on.
        const STACK_BYTES: usize = 8 << 20;
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let builder = std::thread::Builder::new().name("plugin".to_owned()).stack_size(STACK_BYTES);
        let thread = Running::Thread(builder.spawn(move || serve(theirs))?);
        let outputs = vec![Output { pipe: None, printed: Printed::default() }];
        // The process number 0 means that no threads are counted.
        let threads = ThreadCheck::new(0);
        Ok(Self::new(thread, ours, outputs, SharedNumbers::none(), threads, limits))
    }

    fn new(
        process: Running,
        socket: UnixStream,
        outputs: Vec<Output>,
        shared: SharedNumbers,
        threads: ThreadCheck,
        limits: ChildLimits,
    ) -> Self {
        let (lines, run_time) = (Lines::default(), RunTime::new());
        let priced_before = Duration::ZERO;
        Self { process, socket, lines, outputs, shared, threads, limits, run_time, priced_before }
    }

    /// Returns the process number of the child, or 0 if the child is a thread.
    pub fn id(&self) -> u32 {
        match &self.process {
            Running::Process(process) => process.id(),
            #[cfg(feature = "in-process")]
            Running::Thread(_) => 0,
        }
    }

    pub(crate) fn restart_clock(&mut self) {
        (self.run_time, self.priced_before) = (RunTime::new(), self.shared.priced());
    }

    /// Returns whether the child has run, without pricing, for longer than its limit plus `grace`.
    fn is_late(&mut self, grace: Duration) -> bool {
        let ChildLimits { kill_after, pricing, .. } = self.limits;
        let most = kill_after.saturating_add(grace);
        let spent = self.run_time.spent();
        let priced = || self.shared.priced().saturating_sub(self.priced_before).min(pricing);
        spent > most && spent.saturating_sub(priced()) > most
    }

    /// Sends bytes to the child. Errors with `TimedOut` if the child accepts no data for 10 s, or
    /// when `stop` is set.
    pub(crate) fn send(&mut self, mut bytes: &[u8], stop: &AtomicBool) -> io::Result<()> {
        const MOST: Duration = Duration::from_secs(10);
        while !bytes.is_empty() {
            match self.socket.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => bytes = &bytes[n..],
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    if stop.load(Ordering::Relaxed) || self.run_time.spent() > MOST {
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

    pub fn next(&mut self, stop: &AtomicBool) -> ChildEvent {
        loop {
            // Checked first, because a plugin that prints without end must not delay cancellation.
            if stop.load(Ordering::Relaxed) {
                return self.ended(ChildEndKind::Cancelled, "it was interrupted".to_owned());
            }
            if let Some(line) = self.next_printed() {
                return ChildEvent::Printed(line);
            }
            if let Some(excess) = self.threads.excess() {
                let message = format!("{excess}{}", self.shared.in_words());
                return self.ended(ChildEndKind::TooManyThreads, message);
            }
            let received = self.receive();
            // A message that the child sent before the limit may still be unread, so a message is
            // accepted up to 1 s after the limit. The time is not longer, because a plugin could
            // send lines forever.
            let is_idle = matches!(received, Received::Nothing);
            let grace = Duration::from_secs(if is_idle { 0 } else { 1 });
            if self.is_late(grace) {
                let (limit, step) = (self.limits.time.as_secs_f64(), self.shared.in_words());
                return self
                    .ended(ChildEndKind::TimedOut, format!("not done after {limit} s{step}"));
            }
            let most = self.limits.message_bytes;
            match received {
                Received::Gone => return ChildEvent::Ended(self.exited()),
                Received::Nothing if self.lines.held() > most => {
                    return ChildEvent::Ended(self.too_long());
                }
                Received::Nothing => {}
                Received::Message(line) if line.len() > most => {
                    return ChildEvent::Ended(self.too_long());
                }
                Received::Message(line) => return ChildEvent::Message(line),
            }
        }
    }

    /// Returns the next printed line that has been read. After the end of the child, this includes
    /// its last lines.
    pub fn next_printed(&mut self) -> Option<String> {
        self.outputs[0].printed.next()
    }

    pub(crate) fn expect_block(&mut self, bytes: usize) {
        self.lines.expect_block(bytes);
    }

    pub(crate) fn begin_output(&mut self) {
        self.outputs[0].printed.begin();
    }

    /// Reads the output up to the mark at the end of a job. Returns whether the mark has arrived.
    pub(crate) fn read_to_mark(&mut self) -> bool {
        /// Maximum time to wait for the mark. Reading the rest of the pipe takes less time.
        const ENOUGH: Duration = Duration::from_secs(1);
        self.outputs[0].read_until(ENOUGH, Printed::take_mark)
    }

    /// Returns the memory of the child in bytes; 0 if the system does not report it.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let child = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        let status = child.map(system::status_of).unwrap_or_default();
        system::bytes_in(&status, "VmRSS:").unwrap_or_default()
    }

    /// Kills the child because its socket contained something other than a message.
    pub(crate) fn invalid(&mut self, why: &str) -> ChildEnd {
        self.kill();
        let message = invalid_reply(why);
        ChildEnd { kind: ChildEndKind::Invalid, message }
    }

    /// Kills the child and its process group. If the child is a thread (only in tests), its socket
    /// is closed, and the thread ends when it next uses the socket.
    pub(crate) fn kill(&mut self) {
        match &mut self.process {
            Running::Process(process) => process.kill(),
            #[cfg(feature = "in-process")]
            Running::Thread(_) => drop(self.socket.shutdown(std::net::Shutdown::Both)),
        }
    }

    fn ended(&mut self, kind: ChildEndKind, message: String) -> ChildEvent {
        self.kill();
        ChildEvent::Ended(ChildEnd { kind, message })
    }

    pub(crate) fn too_long(&mut self) -> ChildEnd {
        let most = self.limits.message_bytes >> 20;
        self.invalid(&format!("a line of more than {most} MiB, expected a shorter one"))
    }

    /// Returns the next message, if there is one. Waits at most `SLICE`, so that the caller can
    /// check limits between calls.
    fn receive(&mut self) -> Received {
        if let Some(line) = self.lines.next() {
            return Received::Message(line);
        }
        self.wait(PollFlags::IN);
        let mut buffer = [0; 16384];
        match self.socket.read(&mut buffer) {
            Ok(0) => Received::Gone,
            Ok(n) => {
                self.lines.push(&buffer[..n]);
                self.lines.next().map_or(Received::Nothing, Received::Message)
            }
            // The socket reports no end if the child has exited but a process that a plugin started
            // still has the socket open. So check whether the child is running.
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                if self.process.is_running() { Received::Nothing } else { Received::Gone }
            }
            Err(_) => Received::Gone,
        }
    }

    /// Waits at most [`SLICE`] for an event of the socket or for output. Available output is read.
    fn wait(&mut self, socket: PollFlags) {
        let slice = Timespec { tv_sec: 0, tv_nsec: i64::from(SLICE.subsec_nanos()) };
        let open = self.outputs.iter().filter_map(|output| output.pipe.as_ref());
        let mut ready = vec![PollFd::new(&self.socket, socket)];
        ready.extend(open.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        if poll(&mut ready, Some(&slice)).is_err() {
            return;
        }
        let has_printed: Vec<bool> =
            ready[1..].iter().map(|pipe| !pipe.revents().is_empty()).collect();
        let open = self.outputs.iter_mut().filter(|output| output.pipe.is_some());
        open.zip(has_printed).filter(|(_, has_printed)| *has_printed).for_each(|(o, _)| o.read());
    }

    fn exited(&mut self) -> ChildEnd {
        /// Maximum time from the closing of the socket to the end of the process.
        const GRACE: Duration = Duration::from_millis(200);
        /// Maximum time to read all output. A process that a plugin started may print forever.
        const ENOUGH: Duration = Duration::from_millis(200);
        const CLOSED: &str = "the plugin closed the worker process's socket";
        let begin = Instant::now();
        let (mut kind, how) = loop {
            match self.process.how_it_ended() {
                Ok(Some(end)) => break end,
                Ok(None) if begin.elapsed() < GRACE => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) | Err(_) => {
                    break (ChildEndKind::Closed, CLOSED.to_owned());
                }
            }
        };
        self.kill();
        for output in &mut self.outputs {
            output.read_until(ENOUGH, |_| false);
        }
        let words = self.outputs.last().map_or("", |output| output.printed.last_words());
        let is_out_of_memory = is_out_of_memory(words);
        let words = match words {
            "" => String::new(),
            words if is_out_of_memory => format!(
                "; its last output: {words} (--memory-limit is {})",
                format_size(self.limits.memory)
            ),
            words => format!("; its last output: {words}"),
        };
        let mut message = format!("{how}{words}{}", self.shared.in_words());
        if is_out_of_memory && !self.shared.is_in_plugin() {
            kind = ChildEndKind::HostOutOfMemory;
            message = format!("the program itself, not the plugin, ran out of memory: {message}");
        }
        ChildEnd { kind, message }
    }
}

pub(crate) fn invalid_reply(why: &str) -> String {
    format!("invalid reply from the worker process: {why}")
}

impl Output {
    fn new() -> io::Result<(Self, io::PipeWriter)> {
        let (pipe, writer) = io::pipe()?;
        Ok((Self { pipe: Some(pipe), printed: Printed::default() }, writer))
    }

    fn read(&mut self) {
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

    /// Reads until `will_do` returns true, for at most the time `enough`. Returns whether `will_do`
    /// has returned true.
    fn read_until(&mut self, enough: Duration, will_do: impl Fn(&mut Printed) -> bool) -> bool {
        let begin = Instant::now();
        while !will_do(&mut self.printed) {
            let Some(pipe) = &self.pipe else { return false };
            let Some(left) = enough.checked_sub(begin.elapsed()) else { return false };
            let left =
                Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            if matches!(poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&left)), Ok(n) if n > 0)
            {
                self.read();
            }
        }
        true
    }
}

impl Running {
    fn is_running(&mut self) -> bool {
        match self {
            Self::Process(process) => matches!(process.try_wait(), Ok(None)),
            #[cfg(feature = "in-process")]
            Self::Thread(thread) => !thread.is_finished(),
        }
    }

    fn how_it_ended(&mut self) -> io::Result<Option<(ChildEndKind, String)>> {
        match self {
            Self::Process(process) => Ok(process.try_wait()?.map(|status| {
                let kind =
                    if status.success() { ChildEndKind::Succeeded } else { ChildEndKind::Died };
                (kind, describe(status))
            })),
            #[cfg(feature = "in-process")]
            Self::Thread(thread) => Ok(thread
                .is_finished()
                .then(|| (ChildEndKind::Died, "its thread ended, without an answer".to_owned()))),
        }
    }
}

/// A clock that stops while this program itself is suspended, for example by Ctrl-Z.
struct RunTime {
    spent: Duration,
    last: Instant,
}

impl RunTime {
    fn new() -> Self {
        Self { spent: Duration::ZERO, last: Instant::now() }
    }

    /// Returns the elapsed time. If there was more than 1 s between two calls, this program was
    /// suspended, so only 1 s is counted.
    fn spent(&mut self) -> Duration {
        let now = Instant::now();
        self.spent += now.duration_since(self.last).min(SLICE * 20);
        self.last = now;
        self.spent
    }
}

fn describe(status: ExitStatus) -> String {
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

/// The environment variables that are passed on to the child: those for the loader, the runtimes of
/// languages and this program.
const PASSED: &[&str] = &[
    "GODEBUG",
    "GOMAXPROCS",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NO_COLOR",
    "OMP_NUM_THREADS",
    "PATH",
    "RUST_BACKTRACE",
    "TMPDIR",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Prefixes of other variables that are passed on. Variables for plugins begin with `SWAPMEET_`.
const PASSED_PREFIXES: &[&str] = &["LC_", "SWAPMEET_"];

/// Removes all other variables from the child's environment, unless there is no sandbox. They may
/// contain secrets, which a plugin could write into its row.
fn restrict_environment(command: &mut Command) {
    if command.get_args().any(|arg| arg == NO_SANDBOX) {
        return;
    }
    let is_passed = |name: &OsStr| {
        let name = name.to_string_lossy();
        PASSED.contains(&&*name) || PASSED_PREFIXES.iter().any(|start| name.starts_with(start))
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| !is_passed(name)) {
        command.env_remove(name);
    }
}

/// Counts the threads of a child process. A child with too many threads would take processor cores
/// from other processes.
struct ThreadCheck {
    child: Option<Pid>,
    last: Instant,
}

impl ThreadCheck {
    const EVERY: Duration = Duration::from_millis(50);

    fn new(child: u32) -> Self {
        let child = i32::try_from(child).ok().and_then(Pid::from_raw);
        Self { child, last: Instant::now() }
    }

    /// If the child has too many threads, returns a message with their number. Counts at most every
    /// 50 ms.
    fn excess(&mut self) -> Option<String> {
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

/// Returns the permitted number of threads. The runtime of Go needs the most: one for each core and
/// a few more.
fn most_threads() -> u64 {
    2 * available_parallelism().map_or(1, usize::from) as u64 + 14
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An earlier version killed a plugin that makes no calls 3 s after a limit of 4 s.
    #[test]
    fn a_child_is_killed_soon_after_its_limit() {
        let killed_after = |seconds: u64| {
            ChildLimits::with_grace(Duration::from_secs(seconds), 0, 0).kill_after.as_secs_f64()
        };
        assert_eq!([killed_after(4), killed_after(600)], [4.7, 630.5]);
    }
}
