//! The program's side of one worker process.

use super::message::{Job, News, Reply};
use crate::process::child::{Child, Report, RunTime};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How workers are started.
#[derive(Debug, Clone)]
pub struct Workers {
    /// The program and its arguments, up to those that [`super::serve`] takes.
    pub command: Vec<PathBuf>,
    /// How many at a time.
    pub jobs: usize,
    /// The most memory that one may map, in bytes.
    pub memory_limit: u64,
}

/// What a worker answers, or what became of it.
pub(crate) enum Answer {
    /// An open case of the job has ended: what came of it.
    Row(usize, Vec<String>),
    /// An open case of the job can't run, for this reason.
    Unknown(usize, String),
    /// The schedule has come so far, in steps and messages.
    Progress(u64, u64),
    /// A line from the plugin.
    Log(String),
    /// What a watcher says.
    Seen(serde_json::Value),
    /// The job is done; what it left behind in the worker, if anything.
    Done(Option<String>),
    /// It took longer than it may, in words; the worker is no more.
    Late(String),
    /// The worker is no more, for this reason.
    Died(String),
    /// The worker is no more, and never came as far as a plugin.
    Unfit(String),
    /// The batch was stopped; the worker is no more.
    Cancelled,
}

/// What comes on top of the job's own words: a row's figures and its reason are a few kilobytes.
const LONGEST_ROW: usize = 1 << 20;

/// What a watcher may say at a time.
const LONGEST_SEEN: usize = 1 << 28;

pub(crate) struct Worker {
    child: Child,
    memory_limit: u64,
    /// The plugin's file that it has loaded.
    plugin: PathBuf,
    /// The job it is at.
    job: u64,
    /// The cases of the job that have no row.
    open: BTreeSet<usize>,
    /// The most bytes that a reply may have.
    longest: usize,
    /// How long the case under way has run.
    run_time: RunTime,
    /// Whether it still marks the end of what it prints during a job.
    marks: bool,
    /// What the job left behind, once it is done but for lines it printed.
    done: Option<Option<String>>,
    /// Whether it said that it can take jobs: from then on what becomes of it is a plugin's doing.
    ready: bool,
}

/// What is said where something wrote to the socket that is no row of ours.
pub(crate) fn no_row(why: &str) -> String {
    format!("the worker process sent what is no row: {why}")
}

impl Worker {
    pub(crate) fn start(workers: &Workers) -> io::Result<Self> {
        let mut command = workers.command.iter();
        let program = command.next().ok_or_else(|| io::Error::other("no program given"))?;
        let limit = workers.memory_limit.to_string();
        let mut command_line = Command::new(program);
        command_line.args(command).args(["--memory-limit", &limit]);
        let child = Child::start(&mut command_line)?;
        Ok(Self {
            child,
            memory_limit: workers.memory_limit,
            plugin: PathBuf::new(),
            job: 0,
            open: BTreeSet::new(),
            longest: LONGEST_ROW,
            run_time: RunTime::new(),
            marks: true,
            done: None,
            ready: false,
        })
    }

    /// Whether it has loaded this plugin's file, and so no other.
    pub(crate) fn has(&self, plugin: &Path) -> bool {
        self.plugin == plugin
    }

    /// Hands over a job; the first answer. The first job says which files are `readable` from then
    /// on.
    pub(crate) fn ask(
        &mut self,
        mut job: Job,
        readable: impl FnOnce() -> Vec<PathBuf>,
        stop: &AtomicBool,
    ) -> Answer {
        /// A worker that takes no job for so long was stopped by somebody.
        const PATIENCE: Duration = Duration::from_secs(10);
        if self.job == 0 {
            job.readable = readable();
        }
        self.job += 1;
        job.number = self.job;
        self.plugin.clone_from(&job.plugin);
        self.open = (0..job.cases.len()).collect();
        self.run_time = RunTime::new();
        self.child.printed.begin();
        let Ok(mut line) = serde_json::to_vec(&job) else {
            return self.confused("the job has no words");
        };
        line.push(b'\n');
        // A row says what the job was.
        self.longest = if job.watch.is_some() { LONGEST_SEEN } else { LONGEST_ROW + line.len() };
        let run_time = &mut self.run_time;
        let is_over = || stop.load(Ordering::Relaxed) || run_time.spent() > PATIENCE;
        match self.child.send(&line, is_over) {
            Err(e) if e.kind() == io::ErrorKind::TimedOut && !stop.load(Ordering::Relaxed) => {
                self.child.kill();
                Answer::Unfit("it takes no job".to_owned())
            }
            // Where it could not be handed over, what the worker said before it ended can still be
            // read.
            _ => Answer::Progress(0, 0),
        }
    }

    /// Waits for the next answer. A case may take `limit`, and a little more to say itself that it
    /// took longer.
    pub(crate) fn answer(&mut self, limit: Option<Duration>, stop: &AtomicBool) -> Answer {
        loop {
            // Neither a plugin that prints without end nor one that finds the socket keeps us from
            // this.
            if stop.load(Ordering::Relaxed) {
                self.child.kill();
                return Answer::Cancelled;
            }
            if let Some(line) = self.child.printed.next() {
                return Answer::Log(line);
            }
            if let Some(left) = self.done.take() {
                return Answer::Done(left);
            }
            if self.child.held() > self.longest {
                return self.confused(
                    "it has over a mebibyte without a line's end, and a row takes a few kilobytes",
                );
            }
            let report = self.child.listen();
            // What waits is read before the clock is looked at: it came in time. But not for ever.
            let grace = if matches!(report, Report::Nothing) {
                Duration::ZERO
            } else {
                Duration::from_secs(1)
            };
            let spent = self.run_time.spent();
            if let Some(limit) =
                limit.filter(|limit| spent > limit.mul_f64(1.25) + Duration::from_secs(2) + grace)
            {
                self.child.kill();
                return Answer::Late(self.child.late(limit));
            }
            match report {
                Report::Nothing => {}
                Report::Gone => return self.dead(),
                Report::Line(line) => match self.understood(&line) {
                    // Not before the last line it printed: that must not be taken for the next
                    // job's.
                    Answer::Done(left) => {
                        /// Longer than a pipe takes.
                        const ENOUGH: Duration = Duration::from_secs(1);
                        self.marks = self.marks
                            && self.child.read_printed(ENOUGH, |printed| printed.take_mark());
                        self.done = Some(left);
                    }
                    answer => return answer,
                },
            }
        }
    }

    fn understood(&mut self, line: &[u8]) -> Answer {
        let reply = match serde_json::from_slice(line) {
            Ok(reply) => reply,
            Err(e) => return self.confused(&format!("{e}")),
        };
        match reply {
            Reply::Ready => {
                self.ready = true;
                Answer::Progress(0, 0)
            }
            Reply::Unfit { reason } if !self.ready => {
                self.child.kill();
                Answer::Unfit(reason)
            }
            Reply::Unfit { .. } => self.confused("it says that it can't work, and did before"),
            Reply::Of(job, _) if job != self.job || !self.ready => {
                self.confused("it is of another job")
            }
            Reply::Of(_, News::Row { case, .. } | News::Unknown { case, .. })
                if !self.open.remove(&case) =>
            {
                self.confused(&format!("case {case} of the job is not open"))
            }
            Reply::Of(_, news) => match news {
                News::Row { case, outcome } => {
                    self.run_time = RunTime::new();
                    Answer::Row(case, outcome)
                }
                News::Unknown { case, reason } => Answer::Unknown(case, reason),
                News::Progress { steps, messages } => Answer::Progress(steps, messages),
                News::Log { line } => Answer::Log(line),
                News::Seen { value } => Answer::Seen(value),
                News::Done { left } => Answer::Done(left),
            },
        }
    }

    /// Something wrote to the socket that is not ours: the plugin has found it.
    fn confused(&mut self, why: &str) -> Answer {
        self.child.kill();
        Answer::Died(no_row(why))
    }

    /// The socket has closed: the worker has ended, or the plugin closed what isn't its own.
    fn dead(&mut self) -> Answer {
        let what = self
            .child
            .death("the plugin closed the worker process's socket", Some(self.memory_limit));
        if self.ready { Answer::Died(what) } else { Answer::Unfit(what) }
    }
}
