//! From what workers say of a unit to rows: whatever becomes of the worker, each case gets one.

use crate::case::Case;
use crate::session::refuse;
use crate::words::REMARK;
use crate::worker::{Answer, Job, Worker, Workers, no_row};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use swapmeet_results::{Record, Status};
use swapmeet_workloads::file;

/// What happens while cases run. Cases are numbered as they were given.
#[derive(Debug)]
pub enum Event {
    /// Work on a case, and on those that share its schedule, has begun.
    Started { cases: Vec<usize> },
    /// A schedule has come so far.
    Progress {
        /// The first of the cases that share it.
        case: usize,
        /// Steps in which anything was sent.
        steps: u64,
        /// Messages in these.
        messages: u64,
    },
    /// A case has ended.
    Finished { case: usize, record: Box<Record> },
    /// What a watcher says of a schedule.
    Seen { value: serde_json::Value },
    /// A line from a plugin, or about one.
    Log { line: String },
}

/// Who watches a unit's schedule in the worker: a watch's name, and what it is to know.
pub(crate) type Watched<'a> = Option<(&'a str, serde_json::Value)>;

/// Cases on their way through workers.
pub(crate) struct Desk<'a> {
    pub workers: &'a Workers,
    pub cases: &'a [Case],
    pub watched: Watched<'a>,
    pub stop: &'a AtomicBool,
    pub tell: &'a mut dyn FnMut(Event),
    /// Workers that can take more jobs of the plugin that they have loaded.
    pub idle: Vec<Worker>,
    /// One that has loaded none: it came up while another worked.
    pub spare: Option<Worker>,
}

impl Desk<'_> {
    /// Gets each case of a unit its row, unless it is stopped meanwhile. What comes `next` may want
    /// a worker of its own.
    pub(crate) fn run(&mut self, unit: &[usize], next: Option<&Path>) {
        /// Workers that wait for more of their plugin.
        const IDLE: usize = 4;
        let mut open: BTreeSet<usize> = unit.iter().copied().collect();
        while let Some(first) = open.first().filter(|_| !self.stop.load(Ordering::Relaxed)) {
            let plugin = &self.cases[*first].algorithm.algorithm.file;
            // One that has had another plugin may be anything by now.
            let known = self.idle.iter().position(|worker| worker.has(plugin));
            let there = known.map(|at| self.idle.remove(at)).or_else(|| self.spare.take());
            let worker = match there.map_or_else(|| Worker::start(self.workers), Ok) {
                Ok(worker) => worker,
                Err(e) => return self.none_could_start(&mut open, &e.to_string()),
            };
            let other = next
                .filter(|next| next != plugin && !self.idle.iter().any(|worker| worker.has(next)));
            if let Some(worker) = self.ask(worker, &mut open, other.is_some()) {
                self.idle.push(worker);
            }
            if self.idle.len() > IDLE {
                self.idle.remove(0);
            }
        }
    }

    /// Lets a worker run the open cases. Those that got rows are open no more; the worker comes
    /// back if it still can work, and is as it was.
    fn ask(
        &mut self,
        mut worker: Worker,
        open: &mut BTreeSet<usize>,
        wants_spare: bool,
    ) -> Option<Worker> {
        let asked: Vec<usize> = open.iter().copied().collect();
        let limit = self.cases[asked[0]].timeout;
        let job = Job::of(asked.iter().map(|i| &self.cases[*i]), self.watched.clone());
        let (cases, plugin) = (self.cases, job.plugin.clone());
        let mut answer = worker.ask(job, || inputs(cases, &plugin), self.stop);
        if wants_spare && self.spare.is_none() {
            // Where it can't be had now, it is asked for when it is needed.
            self.spare = Worker::start(self.workers).ok();
        }
        loop {
            match answer {
                Answer::Row(index, outcome) => {
                    let case = asked[index];
                    open.remove(&case);
                    let mut record = self.cases[case].blank_row();
                    if let Err(why) = record.set_outcome(outcome.iter().map(String::as_str)) {
                        self.failed(case, Status::Crashed, &no_row(&why));
                        return None;
                    }
                    self.finished(case, record);
                }
                Answer::Unknown(index, reason) => {
                    open.remove(&asked[index]);
                    self.failed(asked[index], Status::Error, &reason);
                }
                Answer::Progress(steps, messages) => {
                    (self.tell)(Event::Progress { case: asked[0], steps, messages });
                }
                Answer::Log(line) => self.log(asked[0], &line),
                Answer::Seen(value) => (self.tell)(Event::Seen { value }),
                Answer::Done(None) if open.is_empty() => return Some(worker),
                Answer::Done(Some(left)) if open.is_empty() => {
                    let remark = format!(
                        "{REMARK}it leaves {left} behind: what comes next has a process of its own"
                    );
                    self.log(asked[0], &remark);
                    return None;
                }
                // Neither rows nor a crash: whatever it is, the case is not good.
                Answer::Done(_) => {
                    self.failed_first(open, Status::Error, "the worker process gave no row");
                    return None;
                }
                Answer::Late(how) => {
                    self.failed_first(open, Status::Timeout, &how);
                    return None;
                }
                Answer::Died(how) => {
                    self.failed_first(open, Status::Crashed, &how);
                    return None;
                }
                Answer::Unfit(why) => {
                    self.none_could_start(open, &why);
                    return None;
                }
                Answer::Cancelled => return None,
            }
            answer = worker.answer(limit, self.stop);
        }
    }

    /// The first of the open cases is what the worker was at.
    fn failed_first(&mut self, open: &mut BTreeSet<usize>, status: Status, reason: &str) {
        if let Some(case) = open.pop_first() {
            self.failed(case, status, reason);
        }
    }

    /// It is no case's doing: the next worker would do no better with the others.
    fn none_could_start(&mut self, open: &mut BTreeSet<usize>, why: &str) {
        let reason = format!("no worker process could be started: {why}");
        std::mem::take(open).into_iter().for_each(|case| self.failed(case, Status::Error, &reason));
    }

    /// A line, with whom it comes from.
    fn log(&mut self, case: usize, line: &str) {
        let case = &self.cases[case];
        (self.tell)(Event::Log {
            line: format!("{} on {}: {line}", case.algorithm, case.topology.spec()),
        });
    }

    fn failed(&mut self, case: usize, status: Status, reason: &str) {
        let mut record = self.cases[case].blank_row();
        refuse(&mut record, status, reason);
        self.finished(case, record);
    }

    fn finished(&mut self, case: usize, record: Record) {
        (self.tell)(Event::Finished { case, record: Box::new(record) });
    }
}

/// The files that cases of a plugin read, and the folders that they are looked for in.
fn inputs(cases: &[Case], plugin: &Path) -> Vec<PathBuf> {
    let of_plugin = cases.iter().filter(|case| case.algorithm.algorithm.file == plugin);
    let files: BTreeSet<&str> =
        of_plugin.flat_map(|case| case.inputs.iter()).map(|input| input.file.as_str()).collect();
    let folders = files.iter().filter_map(|name| file::folder(name));
    let named = files.iter().flat_map(|name| file::files(name).unwrap_or_default());
    folders.chain(named).collect()
}
