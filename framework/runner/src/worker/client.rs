//! The parent's connection to one worker. After an error, the worker is killed, and the connection
//! is not used any more.

#[cfg(feature = "in-process")]
use super::serve::ObserverKind;
use super::{Job, JobMessage, MAX_LOG_LINES, Reply};
use crate::event::{CaseEvent, OutcomeColumns};
use crate::max_bytes;
use crate::process::child::{Child, ChildEnd, ChildEndKind, ChildEvent, ChildLimits, OutputPipes};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use swapmeet_core::text::{escaped, excerpt};
use swapmeet_results::Status;

#[derive(Debug, Clone)]
pub enum WorkerKind {
    /// Child processes: a program and its first arguments. Those of [`super::serve`] are appended.
    Processes(Vec<PathBuf>),
    /// A thread of this process. It has no sandbox and cannot be killed, so only tests use it.
    #[cfg(feature = "in-process")]
    Threads(&'static [ObserverKind]),
}

#[derive(Debug, Clone)]
pub struct Workers {
    pub kind: WorkerKind,
    pub jobs: usize,
    /// Maximum size of the address space of one worker, in bytes.
    pub memory_limit: u64,
}

/// An event of a worker. When `Failed`, `StartFailed` or `Cancelled` is returned, the worker has
/// already been killed.
pub(crate) enum WorkerEvent {
    /// An event of a case of the job that has no row yet. It has the number of the case in the job.
    Case(CaseEvent<OutcomeColumns>),
    /// The job has ended, as in [`Reply::Done`].
    Done(Option<String>),
    /// The worker failed after its start-up. The values are the status and the reason for the case
    /// that was running.
    Failed(Status, String),
    /// The worker failed before it could load a plugin, for this reason.
    StartFailed(String),
    Cancelled,
}

pub(crate) struct Worker {
    child: Child,
    plugins: Vec<PathBuf>,
    job: u64,
    /// Cases of the job that have no row yet.
    pending: BTreeSet<usize>,
    /// Whether the next message is a text of the observer. If not, it is a reply.
    expects_text: bool,
    log_lines: u32,
    /// Whether the worker prints a mark at the end of each job. This ends when a mark is missing,
    /// because a plugin may have closed the output.
    prints_marks: bool,
    /// The event `Done` of the job. It is stored until all printed lines of the job have been
    /// returned.
    done: Option<WorkerEvent>,
    /// Whether start-up is complete. From then on, the plugin is responsible for every failure.
    ready: bool,
}

impl Worker {
    pub(crate) fn start(workers: &Workers) -> io::Result<Self> {
        let memory = workers.memory_limit;
        let limits = ChildLimits::with_grace(Duration::MAX, memory, max_bytes::REPLY);
        let child = match &workers.kind {
            WorkerKind::Processes(command) => {
                let mut command = command.iter();
                let program = command.next().ok_or_else(|| io::Error::other("no program given"))?;
                let mut command_line = Command::new(program);
                command_line.args(command).args(["--memory-limit", &memory.to_string()]);
                Child::start(&mut command_line, limits, OutputPipes::Joined)?
            }
            #[cfg(feature = "in-process")]
            WorkerKind::Threads(observers) => {
                let observers = *observers;
                Child::start_thread(limits, move |socket| {
                    // An error ends the thread, and the client notices that the connection is
                    // closed.
                    drop(super::serve::serve_in_thread(socket, observers));
                })?
            }
        };
        Ok(Self {
            child,
            plugins: Vec::new(),
            job: 0,
            pending: BTreeSet::new(),
            expects_text: false,
            log_lines: 0,
            prints_marks: true,
            done: None,
            ready: false,
        })
    }

    /// Returns whether the worker has loaded exactly these plugins. Later jobs load no others.
    pub(crate) fn has_loaded(&self, plugins: &[&Path]) -> bool {
        self.plugins == plugins
    }

    pub(crate) fn resident_bytes(&self) -> u64 {
        self.child.resident_bytes()
    }

    /// Submits a job. In the first job, `readable` returns the files that the sandbox lets the
    /// worker read from then on. The worker itself enforces the time limit of each case. Errors if
    /// the worker does not accept the job.
    pub(crate) fn submit(
        &mut self,
        mut job: Job,
        readable: impl FnOnce() -> Vec<PathBuf>,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        if self.job == 0 {
            job.readable = readable();
        }
        self.job += 1;
        job.number = self.job;
        self.plugins = job.plugins.iter().map(|plugin| plugin.file.clone()).collect();
        self.pending = (0..job.cases.len()).collect();
        self.log_lines = 0;
        self.child.begin_output();
        let mut line = serde_json::to_vec(&job).map_err(|e| format!("the job: {e}"))?;
        line.push(b'\n');
        let time = job.options.timeout.unwrap_or(Duration::MAX);
        let most = job.max_value_bytes.max(max_bytes::REPLY + line.len());
        self.child.limits = ChildLimits {
            // A case is priced at most twice, each time within its time limit.
            pricing: time.saturating_mul(2).saturating_mul(job.cases.len() as u32),
            ..ChildLimits::with_grace(time, self.child.limits.memory, most)
        };
        self.child.restart_clock();
        match self.child.send(&line, stop) {
            Err(e) if e.kind() == io::ErrorKind::TimedOut => {
                self.child.kill();
                Err("the worker process accepts no job".to_owned())
            }
            // Even if the worker has ended, its socket may still contain replies. `next_event`
            // reads them and then reports the end.
            _ => Ok(()),
        }
    }

    pub(crate) fn next_event(&mut self, stop: &AtomicBool) -> WorkerEvent {
        loop {
            if self.done.is_some() {
                let line = self.child.next_printed();
                let line = line.map(|line| WorkerEvent::Case(CaseEvent::Log { line }));
                if let Some(event) = line.or_else(|| self.done.take()) {
                    return event;
                }
            }
            match self.child.next(stop) {
                ChildEvent::Printed(line) => return WorkerEvent::Case(CaseEvent::Log { line }),
                ChildEvent::Ended(end) => return self.ended(end),
                ChildEvent::Message(text) if std::mem::take(&mut self.expects_text) => {
                    return match String::from_utf8(text) {
                        Ok(text) => WorkerEvent::Case(CaseEvent::Observed { value: text.into() }),
                        Err(e) => self.invalid(&e.to_string()),
                    };
                }
                ChildEvent::Message(line) => match self.parse_reply(&line) {
                    Some(done @ WorkerEvent::Done(_)) => {
                        // Read all lines that the plugin printed during this job, so that they are
                        // not attributed to the next job.
                        self.prints_marks = self.prints_marks && self.child.read_to_mark();
                        self.done = Some(done);
                    }
                    Some(event) => return event,
                    None => {}
                },
            }
        }
    }

    /// Parses a reply. It must be valid in the current state: start-up first, then replies to the
    /// current job. Texts are escaped, because the plugin may have written them.
    fn parse_reply(&mut self, line: &[u8]) -> Option<WorkerEvent> {
        let escape = |text: String| escaped(&text).into_owned();
        let message = match serde_json::from_slice(line) {
            Err(e) => return Some(self.invalid(&excerpt(&e.to_string()))),
            Ok(Reply::Ready) => {
                self.ready = true;
                return None;
            }
            Ok(Reply::Unfit { reason }) if !self.ready => {
                self.child.kill();
                return Some(WorkerEvent::StartFailed(escape(reason)));
            }
            Ok(Reply::Unfit { .. }) => {
                return Some(self.invalid("start-up failed after it was complete"));
            }
            Ok(Reply::Of(job, _)) if job != self.job || !self.ready => {
                return Some(self.invalid("the reply belongs to another job"));
            }
            Ok(Reply::Of(_, message)) => message,
        };
        Some(match message {
            JobMessage::Case(CaseEvent::Finished { case, .. }) if !self.pending.remove(&case) => {
                self.invalid(&format!("case {case} of the job is not pending"))
            }
            JobMessage::Case(CaseEvent::Finished { case, record }) => {
                self.child.restart_clock();
                let record = record.map(|texts| texts.into_iter().map(escape).collect());
                let record = record.map_err(escape);
                WorkerEvent::Case(CaseEvent::Finished { case, record })
            }
            JobMessage::Case(CaseEvent::Log { .. }) if self.log_lines == MAX_LOG_LINES => {
                self.invalid("more log lines than a job may have")
            }
            JobMessage::Case(CaseEvent::Log { line }) => {
                self.log_lines += 1;
                WorkerEvent::Case(CaseEvent::Log { line: escape(line) })
            }
            JobMessage::Case(event) => WorkerEvent::Case(event),
            JobMessage::ObservedText { bytes } if bytes > self.child.limits.message_bytes => {
                let end = self.child.too_long();
                self.ended(end)
            }
            JobMessage::ObservedText { bytes } => {
                self.child.expect_block(bytes);
                self.expects_text = bytes > 0;
                return None;
            }
            JobMessage::Done { left } => WorkerEvent::Done(left.map(escape)),
        })
    }

    fn invalid(&mut self, why: &str) -> WorkerEvent {
        let end = self.child.invalid(why);
        self.ended(end)
    }

    fn ended(&self, ChildEnd { kind, message }: ChildEnd) -> WorkerEvent {
        use ChildEndKind::{
            Cancelled, Closed, Died, HostOutOfMemory, Invalid, Succeeded, TimedOut, TooManyThreads,
        };
        match kind {
            Cancelled => WorkerEvent::Cancelled,
            TimedOut => WorkerEvent::Failed(Status::Timeout, message),
            Invalid | TooManyThreads => WorkerEvent::Failed(Status::Crashed, message),
            Closed | Succeeded | Died | HostOutOfMemory if !self.ready => {
                WorkerEvent::StartFailed(message)
            }
            Closed | Succeeded | Died => WorkerEvent::Failed(Status::Crashed, message),
            HostOutOfMemory => WorkerEvent::Failed(Status::Error, message),
        }
    }
}
