//! The program's side of one worker process.

use super::Workers;
use super::child::{Child, Heard};
use super::message::{Job, Reply};
use super::printed::Printed;
use crate::words::is_out_of_memory;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use swapmeet_core::spec::format_size;

/// What a worker answers, or what became of it.
pub(super) enum Answer {
    /// A case of the job has ended: what came of it.
    Row(usize, Vec<String>),
    /// A case of the job can't run, for this reason.
    Unknown(usize, String),
    /// The schedule has come so far.
    Progress(u64),
    /// A line from the plugin.
    Log(String),
    /// The job is done.
    Done,
    /// It took longer than it may; the worker is no more.
    Late(Duration),
    /// The worker is no more, for this reason.
    Died(String),
    /// The worker is no more, and never came as far as a plugin.
    Unfit(String),
    /// The batch was stopped; the worker is no more.
    Cancelled,
}

/// What is said where something wrote to the socket that is no row of ours.
pub(super) fn no_row(why: &str) -> String {
    format!("the worker process sent what is no row: {why}")
}

/// What comes on top of the job's own words: a row's figures and its reason are a few kilobytes.
const LONGEST_ROW: usize = 1 << 20;

/// A worker.
pub(super) struct Process {
    child: Child,
    memory_limit: u64,
    /// The most bytes that a reply may have.
    longest: usize,
    /// What it prints.
    printed: Printed,
    /// When the case under way began.
    since: Instant,
    /// Whether it still marks the end of what it prints during a job.
    marks: bool,
    /// Whether the job is done, but for lines it printed.
    done: bool,
    /// Whether it said that it can take jobs: from then on what becomes of it is a plugin's doing.
    ready: bool,
}

impl Process {
    /// Starts a worker.
    pub(super) fn start(workers: &Workers) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let mut command = workers.command.iter();
        let program = command.next().ok_or_else(|| io::Error::other("no program given"))?;
        let child = Child::start(
            Command::new(program)
                .args(command)
                .arg("--memory-limit")
                .arg(workers.memory_limit.to_string())
                .stdout(Stdio::from(OwnedFd::from(writer.try_clone()?)))
                .stderr(Stdio::from(OwnedFd::from(writer))),
        )?;
        Ok(Self {
            child,
            memory_limit: workers.memory_limit,
            longest: LONGEST_ROW,
            printed: Printed::read(reader),
            since: Instant::now(),
            marks: true,
            done: false,
            ready: false,
        })
    }

    /// Hands over a job; the first answer.
    pub(super) fn ask(&mut self, job: &Job) -> Answer {
        self.since = Instant::now();
        self.printed.begin();
        let sent = serde_json::to_vec(job).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            // A row says what the job was.
            self.longest = LONGEST_ROW + line.len();
            self.child.tell(&line)
        });
        // Where it could not be handed over, what the worker said before it ended can still be read.
        drop(sent);
        Answer::Progress(0)
    }

    /// Waits for the next answer. A case may take `limit`, and a little more to say itself that it took longer.
    pub(super) fn answer(&mut self, limit: Option<Duration>, stop: &AtomicBool) -> Answer {
        loop {
            // These first: neither a plugin that prints without end nor one that finds the socket keeps us from them.
            if stop.load(Ordering::Relaxed) {
                self.child.kill();
                return Answer::Cancelled;
            }
            if let Some(limit) =
                limit.filter(|limit| self.since.elapsed() > limit.mul_f64(1.25) + Duration::from_secs(2))
            {
                self.child.kill();
                return Answer::Late(limit);
            }
            if let Some(line) = self.printed.next() {
                return Answer::Log(line);
            }
            if std::mem::take(&mut self.done) {
                return Answer::Done;
            }
            if self.child.held() > self.longest {
                return self.confused("it has over a mebibyte without a line's end, and a row takes a few kilobytes");
            }
            match self.child.listen() {
                Heard::Nothing => {}
                Heard::Gone => return self.dead(),
                Heard::Line(line) => match self.understood(&line) {
                    // Not before the last line it printed: that must not be taken for the next job's.
                    Answer::Done => {
                        self.marks = self.marks && self.printed.wait_for_mark();
                        self.done = true;
                    }
                    answer => return answer,
                },
            }
        }
    }

    fn understood(&mut self, line: &[u8]) -> Answer {
        match serde_json::from_slice(line) {
            Ok(Reply::Row { case, outcome }) => {
                self.since = Instant::now();
                Answer::Row(case, outcome)
            }
            Ok(Reply::Unknown { case, reason }) => Answer::Unknown(case, reason),
            Ok(Reply::Ready) => {
                self.ready = true;
                Answer::Progress(0)
            }
            Ok(Reply::Unfit { reason }) if !self.ready => {
                self.child.kill();
                Answer::Unfit(reason)
            }
            Ok(Reply::Unfit { .. }) => self.confused("it says that it can't work, and did before"),
            Ok(Reply::Progress { steps }) => Answer::Progress(steps),
            Ok(Reply::Log { line }) => Answer::Log(line),
            Ok(Reply::Done) => Answer::Done,
            Err(e) => self.confused(&e.to_string()),
        }
    }

    /// Something wrote to the socket that is not ours: the plugin has found it.
    fn confused(&mut self, why: &str) -> Answer {
        self.child.kill();
        Answer::Died(no_row(why))
    }

    /// The socket has closed: the worker has ended, or the plugin closed what isn't its own.
    fn dead(&mut self) -> Answer {
        let how = self.child.end();
        self.child.kill();
        let how = how.unwrap_or_else(|| "the plugin closed the worker process's socket".to_owned());
        let words = match self.printed.last_words() {
            none if none.is_empty() => none,
            words if is_out_of_memory(&words) => {
                format!("; its last words: {words} (--memory-limit is {})", format_size(self.memory_limit))
            }
            words => format!("; its last words: {words}"),
        };
        let what = format!("{how}{words}");
        if self.ready { Answer::Died(what) } else { Answer::Unfit(what) }
    }
}
