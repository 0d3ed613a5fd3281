//! The parent's connection to one worker process, which submits jobs and reads replies.
//!
//! A plugin runs inside the worker. It may print without end, hang, crash, or write to the socket.
//! None of this can block the parent, because no wait is longer than 1 s and limits are checked
//! between waits. After an error, the worker is killed and not used again.

use super::message::{Job, MAX_LOG_LINES, News, Reply};
#[cfg(feature = "in-process")]
use super::serve::ObserverKind;
use crate::max_bytes;
use crate::process::child::{Child, Report, RunTime};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use swapmeet_core::text::{escaped, excerpt};

/// The place in which a worker runs plugins.
#[derive(Debug, Clone)]
pub enum WorkerKind {
    /// A child process. The command is the program and its arguments. The arguments that
    /// [`super::serve`] parses are appended to it.
    Processes(Vec<PathBuf>),
    /// A thread of this process, with these kinds of observers. Such a worker has no sandbox and no
    /// limits, and cannot be killed. Only tests use it, for plugins that are trusted.
    #[cfg(feature = "in-process")]
    Threads(&'static [ObserverKind]),
}

/// Configuration of workers.
#[derive(Debug, Clone)]
pub struct Workers {
    pub kind: WorkerKind,
    /// Maximum number of concurrent workers.
    pub jobs: usize,
    /// Maximum size of the address space of one worker, in bytes.
    pub memory_limit: u64,
}

/// An event of a worker. After `TimedOut`, `Crashed`, `OutOfMemory`, `StartFailed` and `Cancelled`,
/// the worker has been killed.
pub(crate) enum WorkerEvent {
    /// The pending case of the job with this number has ended. The texts are the outcome columns of
    /// its row.
    Row(usize, Vec<String>),
    /// The pending case of the job with this number cannot run, for this reason.
    Unavailable(usize, String),
    /// The number of steps and the number of messages that the worker has simulated so far.
    Progress(u64, u64),
    /// The worker has sent a message that only [`Worker`] needs: it has spent time on pricing cases
    /// (calculating their times on their machines), or it announces a text.
    Accounted,
    /// A line printed by the plugin.
    Log(String),
    /// A value reported by the job's observer.
    Observed(serde_json::Value),
    /// The job has ended. If the job has changed the state of the process, the text names the
    /// change, such as an additional thread.
    Done(Option<String>),
    /// A time limit was exceeded, as this text describes.
    TimedOut(String),
    /// The worker failed after its start-up, for this reason. The plugin is responsible for the
    /// failure.
    Crashed(String),
    /// The host in the worker ran out of memory, as this text describes.
    OutOfMemory(String),
    /// The worker failed before it could load a plugin, for this reason.
    StartFailed(String),
    /// The batch was stopped.
    Cancelled,
}

pub(crate) struct Worker {
    child: Child,
    memory_limit: u64,
    /// File of the plugin that the worker has loaded.
    plugin: PathBuf,
    /// Number of the current job, counted from 1.
    job: u64,
    /// Number of cases of the job.
    cases: u32,
    /// Cases of the job that have no row yet.
    pending: BTreeSet<usize>,
    max_reply_bytes: usize,
    /// Whether the next report is a text of the observer instead of a reply.
    expects_text: bool,
    /// Number of log lines of the job so far.
    log_lines: u32,
    /// Run time of the plan or the case that the worker is processing.
    run_time: RunTime,
    /// Time that the job has spent on pricing its cases. It does not count as planning time.
    priced: Duration,
    /// Whether the worker still prints a mark at the end of each job. A plugin that closes the
    /// output prevents this.
    prints_marks: bool,
    /// Set between the end of the job and the return of the event `Done`. The inner value names the
    /// change of the process state that the job has left behind, if any.
    done: Option<Option<String>>,
    /// Whether the worker's start-up is complete. From then on, the plugin is responsible for every
    /// failure.
    ready: bool,
}

/// Returns the error message for data on the socket that is not a valid reply.
pub(crate) fn invalid_reply(why: &str) -> String {
    format!("invalid reply from the worker process: {why}")
}

impl Worker {
    pub(crate) fn start(workers: &Workers) -> io::Result<Self> {
        let child = match &workers.kind {
            WorkerKind::Processes(command) => {
                let mut command = command.iter();
                let program = command.next().ok_or_else(|| io::Error::other("no program given"))?;
                let limit = workers.memory_limit.to_string();
                let mut command_line = Command::new(program);
                command_line.args(command).args(["--memory-limit", &limit]);
                Child::start(&mut command_line)?
            }
            #[cfg(feature = "in-process")]
            WorkerKind::Threads(observers) => {
                let observers = *observers;
                Child::start_thread(move |socket| {
                    // The end of the connection tells the client that the worker has failed.
                    drop(super::serve::serve_in_thread(socket, observers));
                })?
            }
        };
        Ok(Self {
            child,
            memory_limit: workers.memory_limit,
            plugin: PathBuf::new(),
            job: 0,
            cases: 0,
            pending: BTreeSet::new(),
            max_reply_bytes: max_bytes::REPLY,
            expects_text: false,
            log_lines: 0,
            run_time: RunTime::new(),
            priced: Duration::ZERO,
            prints_marks: true,
            done: None,
            ready: false,
        })
    }

    /// Returns whether the worker has loaded this plugin. A worker never loads a second plugin.
    pub(crate) fn has_loaded(&self, plugin: &Path) -> bool {
        self.plugin == plugin
    }

    /// Returns the number of bytes of memory that the worker holds.
    pub(crate) fn resident_bytes(&self) -> u64 {
        self.child.resident_bytes()
    }

    /// Submits a job and returns the first event. The files of a worker's first job also determine
    /// which files the sandbox lets the worker read in all later jobs.
    pub(crate) fn submit(
        &mut self,
        mut job: Job,
        readable: impl FnOnce() -> Vec<PathBuf>,
        stop: &AtomicBool,
    ) -> WorkerEvent {
        /// Maximum time to send a job. A worker that accepts no data for this time must have been
        /// suspended.
        const SEND_TIMEOUT: Duration = Duration::from_secs(10);
        if self.job == 0 {
            job.readable = readable();
        }
        self.job += 1;
        job.number = self.job;
        self.plugin.clone_from(&job.plugin);
        self.pending = (0..job.cases.len()).collect();
        (self.run_time, self.priced) = (RunTime::new(), Duration::ZERO);
        self.cases = job.cases.len() as u32;
        self.child.printed.begin();
        let Ok(mut line) = serde_json::to_vec(&job) else {
            return self.protocol_error("the job cannot be encoded as JSON");
        };
        line.push(b'\n');
        self.max_reply_bytes = job.max_value_bytes.max(max_bytes::REPLY + line.len());
        self.log_lines = 0;
        let is_stopped = || stop.load(Ordering::Relaxed);
        let run_time = &mut self.run_time;
        match self.child.send(&line, || is_stopped() || run_time.spent() > SEND_TIMEOUT) {
            Err(e) if e.kind() == io::ErrorKind::TimedOut && !is_stopped() => {
                self.child.kill();
                WorkerEvent::StartFailed("the worker process accepts no job".to_owned())
            }
            // The job was sent, the batch was stopped, or the worker has ended. `next_event` finds
            // out which. If the worker has ended, the socket may still contain data that it sent
            // before.
            _ => WorkerEvent::Progress(0, 0),
        }
    }

    /// Waits for the next event. The worker itself enforces the time limit `limit` of each case. If
    /// the worker is still running at 125 % of the limit plus 2 s, the parent kills it.
    pub(crate) fn next_event(&mut self, limit: Option<Duration>, stop: &AtomicBool) -> WorkerEvent {
        loop {
            // Check for cancellation first, because a plugin that prints without end must not delay
            // it.
            if stop.load(Ordering::Relaxed) {
                self.child.kill();
                return WorkerEvent::Cancelled;
            }
            if let Some(line) = self.child.printed.next() {
                return WorkerEvent::Log(line);
            }
            if let Some(left) = self.done.take() {
                return WorkerEvent::Done(left);
            }
            if let Some(excess) = self.child.excess_threads() {
                return WorkerEvent::Crashed(excess);
            }
            if self.child.incomplete_line_bytes() > self.max_reply_bytes {
                return self.too_long();
            }
            let report = self.child.listen();
            // If data has just arrived, extend the limit by 1 s, because a reply that was sent
            // before the limit may still be unread. Do not extend it further, because a plugin
            // could send lines forever.
            let is_idle = matches!(report, Report::Nothing);
            let grace = Duration::from_secs(if is_idle { 2 } else { 3 });
            let spent = self.run_time.spent();
            if let Some(limit) = limit.filter(|limit| spent > limit.mul_f64(1.25) + grace) {
                self.child.kill();
                return WorkerEvent::TimedOut(self.child.timeout_message(limit));
            }
            // A case is priced at most twice, each time within its time limit. If the reported
            // pricing time exceeds the sum of these limits, the plugin has forged the reports.
            if limit.is_some_and(|limit| self.priced > limit.saturating_mul(2 * self.cases)) {
                return self.protocol_error("more time for pricing than its cases have");
            }
            match report {
                Report::Nothing => {}
                Report::Gone => return self.exited(),
                Report::Line(line) if line.len() > self.max_reply_bytes => {
                    return self.too_long();
                }
                Report::Line(text) if std::mem::take(&mut self.expects_text) => {
                    return match String::from_utf8(text) {
                        Ok(text) => WorkerEvent::Observed(text.into()),
                        Err(e) => self.protocol_error(&e.to_string()),
                    };
                }
                Report::Line(line) => match self.parse_reply(&line) {
                    WorkerEvent::Done(left) => {
                        /// Maximum time to wait for the mark. Reading the remaining content of the
                        /// pipe's buffer takes less time.
                        const MARK_TIMEOUT: Duration = Duration::from_secs(1);
                        // Read the output up to the mark, because the last lines that the plugin
                        // printed must not be attributed to the next job.
                        self.prints_marks = self.prints_marks
                            && self.child.read_printed(MARK_TIMEOUT, |printed| printed.take_mark());
                        self.done = Some(left);
                    }
                    event => return event,
                },
            }
        }
    }

    fn parse_reply(&mut self, line: &[u8]) -> WorkerEvent {
        let reply = match serde_json::from_slice(line) {
            Ok(reply) => reply,
            Err(e) => return self.protocol_error(&excerpt(&e.to_string())),
        };
        // Accept only replies that are valid in the current state. Before the worker is ready, it
        // may only report its start-up. After that, messages must concern the current job and its
        // pending cases.
        match reply {
            Reply::Ready => {
                self.ready = true;
                WorkerEvent::Progress(0, 0)
            }
            Reply::Unfit { reason } if !self.ready => {
                self.child.kill();
                WorkerEvent::StartFailed(escaped(&reason).into_owned())
            }
            Reply::Unfit { .. } => self.protocol_error("start-up failed after it was complete"),
            Reply::Of(job, _) if job != self.job || !self.ready => {
                self.protocol_error("the reply belongs to another job")
            }
            Reply::Of(_, News::Row { case, .. } | News::Unknown { case, .. })
                if !self.pending.remove(&case) =>
            {
                self.protocol_error(&format!("case {case} of the job is not pending"))
            }
            // The plugin may have written the reply, so its texts are escaped.
            Reply::Of(_, news) => match news {
                News::Row { case, outcome } => {
                    self.run_time = RunTime::new();
                    let outcome = outcome.iter().map(|text| escaped(text).into_owned());
                    WorkerEvent::Row(case, outcome.collect())
                }
                News::Unknown { case, reason } => {
                    WorkerEvent::Unavailable(case, escaped(&reason).into_owned())
                }
                News::Progress { steps, messages } => WorkerEvent::Progress(steps, messages),
                News::Priced { spent } => {
                    self.priced += self.run_time.exclude(spent);
                    WorkerEvent::Accounted
                }
                News::Log { .. } if self.log_lines == MAX_LOG_LINES => {
                    self.protocol_error("more log lines than a job may have")
                }
                News::Log { line } => {
                    self.log_lines += 1;
                    WorkerEvent::Log(escaped(&line).into_owned())
                }
                News::Observed { value } => WorkerEvent::Observed(value),
                News::ObservedText { bytes } if bytes > self.max_reply_bytes => self.too_long(),
                News::ObservedText { bytes } => {
                    self.child.expect_block(bytes);
                    self.expects_text = bytes > 0;
                    WorkerEvent::Accounted
                }
                News::Done { left } => {
                    WorkerEvent::Done(left.map(|left| escaped(&left).into_owned()))
                }
            },
        }
    }

    /// Kills a worker because its socket contained something other than a reply, which only the
    /// plugin can have written.
    fn protocol_error(&mut self, why: &str) -> WorkerEvent {
        self.child.kill();
        WorkerEvent::Crashed(invalid_reply(why))
    }

    fn too_long(&mut self) -> WorkerEvent {
        let most = self.max_reply_bytes >> 20;
        self.protocol_error(&format!("a line of more than {most} MiB, expected a shorter one"))
    }

    /// Reports that the socket is closed, because the worker exited or the plugin closed it.
    fn exited(&mut self) -> WorkerEvent {
        let if_running = "the plugin closed the worker process's socket";
        let message = self.child.exit_message(if_running, Some(self.memory_limit));
        match self.ready {
            true if self.child.host_is_out_of_memory() => WorkerEvent::OutOfMemory(format!(
                "the program itself, not the plugin, ran out of memory: {message}"
            )),
            true => WorkerEvent::Crashed(message),
            false => WorkerEvent::StartFailed(message),
        }
    }
}
