//! Converts the replies of workers to rows. Every case gets a row, even if its worker fails.

use crate::case::Case;
use crate::event::CaseEvent;
use crate::optimum::CaseOptimum;
use crate::plugin_output::REMARK;
use crate::process::child::invalid_reply;
use crate::session::refuse;
use crate::worker::{Job, Observation, ObserverKind, Worker, WorkerEvent, Workers};
use crate::{defect, optimum_columns};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use swapmeet_results::{Record, Status};
use swapmeet_workloads::file;

const MOST_IDLE: usize = 4;

/// The maximum memory of an idle worker in bytes. A worker with more memory is ended, because
/// memory limits do not count idle workers.
const MOST_IDLE_BYTES: u64 = 64 << 20;

/// The maximum number of descriptors of a dispatcher, which has three for each worker: one busy
/// worker, `MOST_IDLE` idle ones and a spare one.
pub const DESCRIPTORS_OF_A_JOB: u64 = 3 * (1 + MOST_IDLE as u64 + 1);

#[derive(Debug)]
pub(crate) struct NoWorker {
    pub open: BTreeSet<usize>,
    pub reason: String,
}

pub(crate) struct Dispatcher<'a> {
    workers: &'a Workers,
    cases: &'a [Case],
    observation: Option<Observation<'a>>,
    stop: &'a AtomicBool,
    pub report: &'a mut dyn FnMut(CaseEvent),
    /// Workers that have loaded a plugin and can accept further jobs for it.
    idle: Vec<Worker>,
    /// A worker that was started in advance and has not loaded a plugin.
    spare: Option<Worker>,
    /// Whether the last job has ended without a failure, and all values of its observer have
    /// arrived.
    pub is_complete: bool,
    pub optima: BTreeMap<usize, CaseOptimum>,
}

impl<'a> Dispatcher<'a> {
    pub(crate) fn new(
        workers: &'a Workers,
        cases: &'a [Case],
        observation: Option<Observation<'a>>,
        stop: &'a AtomicBool,
        report: &'a mut dyn FnMut(CaseEvent),
    ) -> Self {
        Self {
            workers,
            cases,
            observation,
            stop,
            report,
            idle: Vec::new(),
            spare: None,
            is_complete: false,
            optima: BTreeMap::new(),
        }
    }

    /// Runs a group until each case has a row or the batch is stopped. `next` are the plugins of
    /// the following group. If no idle worker has loaded these, a spare worker may be started in
    /// advance.
    pub(crate) fn run(
        &mut self,
        group: impl IntoIterator<Item = usize>,
        next: Option<&[&Path]>,
    ) -> Result<(), NoWorker> {
        let mut open: BTreeSet<usize> = group.into_iter().collect();
        let mut failed = 0;
        while let Some(first) = open.first().filter(|_| !self.stop.load(Ordering::Relaxed)) {
            let plugins = self.cases[*first].plugin_files();
            let known = self.idle.iter().position(|worker| worker.has_loaded(&plugins));
            let there = known.map(|at| self.idle.remove(at)).or_else(|| self.spare.take());
            self.idle.retain(|worker| worker.resident_bytes() <= MOST_IDLE_BYTES);
            let worker = match there.map_or_else(|| self.start(), Ok) {
                Ok(worker) => worker,
                Err(e) => return Err(NoWorker { open, reason: e.to_string() }),
            };
            let other = next.filter(|next| {
                *next != plugins && !self.idle.iter().any(|worker| worker.has_loaded(next))
            });
            match defect::catch(|| self.run_job(worker, &mut open, other.is_some())) {
                Ok(Ok(worker)) => self.idle.extend(worker),
                // The worker may have failed because the system lacked a resource for a moment, so
                // the job is tried again.
                Ok(Err(reason)) => {
                    failed += 1;
                    if failed == 3 {
                        return Err(NoWorker { open, reason });
                    }
                }
                Err(defect) => self.failed_first(&mut open, Status::Error, &defect),
            }
            if self.idle.len() > MOST_IDLE {
                self.idle.remove(0);
            }
        }
        Ok(())
    }

    /// Starts a worker. If the system lacks resources, ends idle workers and tries again for about
    /// 2 s.
    fn start(&mut self) -> io::Result<Worker> {
        let mut pause = Duration::from_millis(10);
        loop {
            let error = match Worker::start(self.workers) {
                Ok(worker) => return Ok(worker),
                Err(error) => error,
            };
            let is_shortage = matches!(
                error.raw_os_error(),
                Some(libc::EAGAIN | libc::EMFILE | libc::ENFILE | libc::ENOMEM)
            );
            if !is_shortage || pause > Duration::from_secs(1) || self.stop.load(Ordering::Relaxed) {
                return Err(error);
            }
            self.idle.clear();
            self.spare = None;
            std::thread::sleep(pause);
            pause *= 2;
        }
    }

    /// Runs the cases in `open`, and removes each case that gets a row from it. Returns the worker
    /// if it can be used again. Errors if the worker could not start.
    fn run_job(
        &mut self,
        mut worker: Worker,
        open: &mut BTreeSet<usize>,
        wants_spare: bool,
    ) -> Result<Option<Worker>, String> {
        let cases_of_job: Vec<usize> = open.iter().copied().collect();
        let first = cases_of_job[0];
        let job = Job::of(cases_of_job.iter().map(|i| &self.cases[*i]), self.observation.clone());
        let cases = self.cases;
        worker.submit(job, || inputs(cases, &cases[first].plugin_files()), self.stop)?;
        if wants_spare && self.spare.is_none() {
            // If the spare worker cannot be started now, a worker is started when it is needed.
            self.spare = Worker::start(self.workers).ok();
        }
        self.is_complete = false;
        loop {
            match worker.next_event(self.stop) {
                WorkerEvent::Case(CaseEvent::Finished { case, record }) => {
                    let case = cases_of_job[case];
                    open.remove(&case);
                    let outcome = match record {
                        Ok(outcome) => outcome,
                        Err(reason) => {
                            self.failed(case, Status::Error, &reason);
                            continue;
                        }
                    };
                    let mut record = self.cases[case].blank_row();
                    let received = record
                        .set_outcome(outcome.iter().map(String::as_str))
                        .and_then(|()| plausible(&record));
                    if let Err(why) = received {
                        self.failed(case, Status::Crashed, &invalid_reply(&why));
                        return Ok(None);
                    }
                    self.finished(case, record);
                }
                WorkerEvent::Case(CaseEvent::Progress { steps, messages, .. }) => {
                    (self.report)(CaseEvent::Progress { case: first, steps, messages });
                }
                WorkerEvent::Case(CaseEvent::Log { line }) => self.log(first, &line),
                WorkerEvent::Case(CaseEvent::Observed { value }) => {
                    (self.report)(CaseEvent::Observed { value });
                }
                WorkerEvent::Case(CaseEvent::Started { .. } | CaseEvent::NoWorker { .. }) => {
                    unreachable!("no message of a worker contains these events")
                }
                WorkerEvent::Done(left) if open.is_empty() => {
                    self.is_complete = true;
                    let Some(left) = left else { return Ok(Some(worker)) };
                    let remark = format!(
                        "{REMARK}it leaves {left} behind: the next case gets a new process"
                    );
                    self.log(first, &remark);
                    return Ok(None);
                }
                WorkerEvent::Done(_) => {
                    self.failed_first(open, Status::Error, "the worker process sent no row");
                    return Ok(None);
                }
                WorkerEvent::Failed(status, how) => {
                    self.failed_first(open, status, &how);
                    return Ok(None);
                }
                WorkerEvent::StartFailed(why) => return Err(why),
                WorkerEvent::Cancelled => return Ok(None),
            }
        }
    }

    /// Attributes a failure to the first case that has no row. The other cases run again in another
    /// worker.
    fn failed_first(&mut self, open: &mut BTreeSet<usize>, status: Status, reason: &str) {
        if let Some(case) = open.pop_first() {
            self.failed(case, status, reason);
        }
    }

    /// Reports a row with an error for each case for which no worker could be started. For callers
    /// that do not try these cases again.
    pub(crate) fn fail_start(&mut self, NoWorker { open, reason }: NoWorker) {
        let reason = format!("no worker process could be started: {reason}");
        open.into_iter().for_each(|case| self.failed(case, Status::Error, &reason));
    }

    fn log(&mut self, case: usize, line: &str) {
        let case = &self.cases[case];
        (self.report)(CaseEvent::Log {
            line: format!("{} on {}: {line}", case.algorithm, case.topology.spec()),
        });
    }

    pub(crate) fn failed(&mut self, case: usize, status: Status, reason: &str) {
        let mut record = self.cases[case].blank_row();
        refuse(&mut record, status, reason);
        self.finished(case, record);
    }

    fn finished(&mut self, case: usize, mut record: Record) {
        // The columns of the optimum are replaced, because a plugin may have forged the values that
        // the worker sent.
        optimum_columns::fill(&mut record, self.optima.get(&case).unwrap_or(&None));
        (self.report)(CaseEvent::Finished { case, record: Box::new(record) });
    }
}

fn plausible(record: &Record) -> Result<(), String> {
    match record.contradiction() {
        Some((column, expected)) => Err(format!("{column}: expected {expected}")),
        None => Ok(()),
    }
}

/// Returns the files that the cases of these plugins read, and the directories in which such files
/// are searched.
fn inputs(cases: &[Case], plugins: &[&Path]) -> Vec<PathBuf> {
    let of_plugins = cases.iter().filter(|case| case.plugin_files() == plugins);
    let files: BTreeSet<&str> =
        of_plugins.flat_map(|case| case.inputs.iter()).map(|input| input.file.as_str()).collect();
    let folders = files.iter().filter_map(|name| file::folder(name));
    let named = files.iter().flat_map(|name| file::files(name).unwrap_or_default());
    folders.chain(named).collect()
}

/// Runs cases that share a schedule in a worker, with an observer. The values of the observer are
/// reported as [`CaseEvent::Observed`], before or after the [`CaseEvent::Finished`] of each case.
/// Returns when all cases have ended or `stop` is set. The result is whether all values have
/// arrived. If some have not, rows may still be `ok`.
pub fn observe(
    cases: &[Case],
    workers: &Workers,
    observe: (&ObserverKind, Value),
    stop: &AtomicBool,
    report: &mut dyn FnMut(CaseEvent),
) -> bool {
    let observation = Observation {
        name: observe.0.name,
        max_value_bytes: observe.0.max_value_bytes,
        arguments: observe.1,
    };
    let mut dispatcher = Dispatcher::new(workers, cases, Some(observation), stop, report);
    if let Err(failed) = dispatcher.run(0..cases.len(), None) {
        dispatcher.fail_start(failed);
    }
    dispatcher.is_complete
}
