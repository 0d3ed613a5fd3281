//! The worker process, which accepts jobs and sends rows. Its standard input is a socket to the
//! program. Before a plugin is loaded, the worker moves the socket to another descriptor and makes
//! standard input empty. Standard output and standard error are a pipe to the program's log.

use super::{Job, JobMessage, MAX_LOG_LINES, Reply};
use crate::case::Case;
use crate::defect;
use crate::event::{CaseEvent, OutcomeColumns};
use crate::host::Requested;
use crate::limits::MemoryLimit;
use crate::lookup::CaseLookup;
use crate::plugin::file::KnownDigest;
use crate::process::child_side::{confine, mark_prints, take_socket};
use crate::process::state::{FloatingPoint, State};
use crate::registry::Registry;
use crate::sandbox::{FileAccess, SandboxError};
use crate::session::{Pricing, report_group};
use crate::system;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};
use swapmeet_results::{CaseId, Record};

/// A function that sends an observer's value to the process that requested the observer.
pub type SendValue = Box<dyn FnMut(serde_json::Value)>;

/// An observer of a schedule in the worker, which collects data that the row does not contain.
pub trait Observer {
    fn listeners(&mut self) -> Vec<&mut dyn Listener>;

    /// Returns whether the observer needs rows with times. If not, cases are not priced.
    fn needs_times(&self) -> bool {
        true
    }

    /// Called when the schedule has ended. `_record` is the row of the case, and `_asked` are the
    /// values that the plan requested.
    fn ended(&mut self, _record: &Record, _asked: Requested) {}
}

/// A function that creates an observer for a case. The value contains the observer's arguments,
/// which are part of the job.
pub type StartObserver =
    fn(&Case, &serde_json::Value, SendValue) -> Result<Box<dyn Observer>, String>;

#[derive(Debug)]
pub struct ObserverKind {
    pub name: &'static str,
    /// The maximum size of a value that the observer sends, in bytes. It is a constant of
    /// [`max_bytes`](crate::max_bytes).
    pub max_value_bytes: usize,
    pub start: StartObserver,
}

#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("the worker's socket: {0}")]
    Io(#[from] io::Error),
    #[error("its limits: {0}")]
    Limits(io::Error),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("the worker's job: {0}")]
    Job(#[from] serde_json::Error),
}

#[derive(Clone)]
struct ReplySender {
    connection: Rc<RefCell<Connection>>,
    job: u64,
}

struct Connection {
    socket: File,
    /// Rows that have not been sent yet, so that the program does not have to wake up for every
    /// row. While rows are held, no plugin runs.
    held: Vec<u8>,
    broken: io::Result<()>,
}

impl Connection {
    fn hold(&mut self, reply: &Reply) {
        let written = serde_json::to_writer(&mut self.held, reply).map_err(io::Error::from);
        self.held.push(b'\n');
        if self.broken.is_ok() {
            self.broken = written;
        }
    }

    fn send(&mut self) {
        if self.broken.is_ok() {
            self.broken = self.socket.write_all(&self.held);
        }
        self.held.clear();
    }
}

impl ReplySender {
    fn send(&self, reply: &Reply) {
        let mut connection = self.connection.borrow_mut();
        connection.hold(reply);
        connection.send();
    }

    fn observed(&self, value: serde_json::Value) {
        let serde_json::Value::String(text) = value else {
            return self.case(CaseEvent::Observed { value });
        };
        if !text.is_empty() {
            let mut connection = self.connection.borrow_mut();
            connection.hold(&Reply::Of(self.job, JobMessage::ObservedText { bytes: text.len() }));
            connection.held.extend_from_slice(text.as_bytes());
            connection.send();
        }
    }

    /// Sends an event and all rows that are held. If the event is a row, it is only held.
    fn case(&self, event: CaseEvent<OutcomeColumns>) {
        const ENOUGH: usize = 1 << 15;
        let is_row = matches!(event, CaseEvent::Finished { .. });
        let mut connection = self.connection.borrow_mut();
        connection.hold(&Reply::Of(self.job, JobMessage::Case(event)));
        if !is_row || connection.held.len() > ENOUGH {
            connection.send();
        }
    }

    fn refuse(&self, case: usize, reason: String) {
        self.case(CaseEvent::Finished { case, record: Err(reason) });
    }

    fn broken(&self) -> io::Result<()> {
        std::mem::replace(&mut self.connection.borrow_mut().broken, Ok(()))
    }
}

/// Processes jobs until the socket is closed. Each job can request one of these kinds of observers.
pub fn serve(
    memory_limit: u64,
    is_sandboxed: bool,
    observers: &[ObserverKind],
) -> Result<(), WorkerError> {
    let socket = take_socket()?;
    let connection =
        Connection { socket: File::from(socket.try_clone()?), held: Vec::new(), broken: Ok(()) };
    let replies = ReplySender { connection: Rc::new(RefCell::new(connection)), job: 0 };
    if let Err(error) =
        confine(MemoryLimit::Fixed(memory_limit), &socket).map_err(WorkerError::Limits)
    {
        // The program must learn that this failure is not the plugin's.
        replies.send(&Reply::Unfit { reason: error.to_string() });
        return Err(error);
    }
    let enter_sandbox = |job: &Job| {
        if !is_sandboxed {
            return Ok(());
        }
        let plugins: Vec<PathBuf> = job.plugins.iter().map(|p| p.file.clone()).collect();
        system::enter_sandbox(&FileAccess { plugins: &plugins, readable: &job.readable })?;
        Ok(())
    };
    run_jobs(File::from(socket), replies, observers, enter_sandbox, |state| {
        mark_prints();
        state.left_behind().map(str::to_owned)
    })
}

/// Serves jobs in a thread of a test, without limits, without a sandbox, and without detecting
/// changes of the process.
#[cfg(feature = "in-process")]
pub(super) fn serve_in_thread(
    socket: std::os::unix::net::UnixStream,
    observers: &[ObserverKind],
) -> Result<(), WorkerError> {
    let socket = File::from(std::os::fd::OwnedFd::from(socket));
    let connection = Connection { socket: socket.try_clone()?, held: Vec::new(), broken: Ok(()) };
    let replies = ReplySender { connection: Rc::new(RefCell::new(connection)), job: 0 };
    run_jobs(socket, replies, observers, |_| Ok(()), |_| None)
}

/// Reads jobs and sends replies until the socket is closed. Before any plugin code runs, `prepare`
/// gets the first job. After each job, `left` returns how the job has changed the process.
fn run_jobs(
    socket: File,
    mut replies: ReplySender,
    observers: &[ObserverKind],
    prepare: impl Fn(&Job) -> Result<(), WorkerError>,
    left: impl Fn(&WorkerState) -> Option<String>,
) -> Result<(), WorkerError> {
    let rounding = FloatingPoint::now();
    let mut state = WorkerState { lookup: None, rounding, before: None };
    let mut is_ready = false;
    for line in BufReader::new(socket).lines() {
        let job: Job = serde_json::from_str(&line?)?;
        replies.job = job.number;
        if !std::mem::replace(&mut is_ready, true) {
            // The first job contains the list of readable files.
            if let Err(error) = prepare(&job) {
                replies.send(&Reply::Unfit { reason: error.to_string() });
                return Err(error);
            }
            replies.send(&Reply::Ready);
        }
        state.run(&job, observers, &replies);
        replies.send(&Reply::Of(replies.job, JobMessage::Done { left: left(&state) }));
        replies.broken()?;
    }
    Ok(())
}

struct ProgressListener {
    replies: ReplySender,
    last: Instant,
    messages: u64,
}

impl Listener for ProgressListener {
    fn interests(&self) -> Interests {
        Interests::FACTS
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        const EVERY: Duration = Duration::from_millis(200);
        let ScheduleEvent::Step(step) = event else { return };
        if step.number == 1 {
            self.messages = 0;
        }
        self.messages = self.messages.saturating_add(step.facts.messages);
        if self.last.elapsed() >= EVERY {
            self.last = Instant::now();
            let (steps, messages) = (step.number, self.messages);
            self.replies.case(CaseEvent::Progress { case: 0, steps, messages });
        }
    }
}

struct NoObserver;

impl Observer for NoObserver {
    fn listeners(&mut self) -> Vec<&mut dyn Listener> {
        Vec::new()
    }
}

struct WorkerState {
    /// The plugins, and the components that cases have named so far. `None` before the first job.
    lookup: Option<CaseLookup<Registry>>,
    rounding: FloatingPoint,
    /// The state of the process after plugins were loaded. Loading may have started threads.
    before: Option<State>,
}

impl WorkerState {
    /// If jobs have changed the process, returns the first changed property. A failed assertion
    /// counts as a change.
    fn left_behind(&self) -> Option<&'static str> {
        if defect::has_failed() {
            return Some("a failed assertion of swapmeet");
        }
        State::now().changed_since(self.before.as_ref()?)
    }

    fn run(&mut self, job: &Job, observers: &[ObserverKind], replies: &ReplySender) {
        let (mut cases, mut numbers) = (Vec::new(), Vec::new());
        for (number, id) in job.cases.iter().enumerate() {
            match self.look_up(job, id) {
                Ok(case) => {
                    cases.push(case);
                    numbers.push(number);
                }
                // The program was able to parse this case, so a file must have been removed or
                // changed since then.
                Err(reason) => replies.refuse(number, reason),
            }
        }
        let Some(first) = cases.first() else { return };
        self.rounding.restore();
        self.before.get_or_insert_with(State::now);
        let mut observer = match observer(job, observers, first, replies) {
            Ok(observer) => observer,
            Err(reason) => {
                return numbers.into_iter().for_each(|case| replies.refuse(case, reason.clone()));
            }
        };
        let mut progress =
            ProgressListener { replies: replies.clone(), last: Instant::now(), messages: 0 };
        let (mut lines, mut rows) = (0, Vec::new());
        // An observer is notified of every plan of the job, so no case may be planned twice.
        let pricing = match (observer.needs_times(), &job.observation) {
            (false, _) => Pricing::Off,
            (true, Some(_)) => Pricing::Together,
            (true, None) => Pricing::SlowApart,
        };
        let mut listeners: Vec<&mut dyn Listener> = vec![&mut progress];
        listeners.extend(observer.listeners());
        let requested = report_group(&cases, pricing, &mut listeners, &mut |event| match event {
            CaseEvent::Finished { case, record } => {
                let outcome = record.outcome().collect();
                replies.case(CaseEvent::Finished { case: numbers[case], record: Ok(outcome) });
                if job.observation.is_some() {
                    rows.push(record);
                }
            }
            CaseEvent::Log { line } => {
                lines += 1;
                match lines {
                    lines if lines < MAX_LOG_LINES => replies.case(CaseEvent::Log { line }),
                    MAX_LOG_LINES => replies.case(CaseEvent::Log {
                        line: "(further log lines are omitted)".to_owned(),
                    }),
                    _ => {}
                }
            }
            // A worker reports progress before each plan and during long pricing. The report also
            // sends the rows that are held.
            CaseEvent::Progress { case, steps, messages } => {
                replies.case(CaseEvent::Progress { case, steps, messages });
            }
            CaseEvent::Started { .. } | CaseEvent::Observed { .. } | CaseEvent::NoWorker { .. } => {
                unreachable!("a group of cases only reports progress, rows and log lines")
            }
        });
        rows.iter().for_each(|record| observer.ended(record, requested));
    }

    /// Parses the specs of a case. Errors if a file has changed since the program parsed them.
    fn look_up(&mut self, job: &Job, id: &CaseId) -> Result<Case, String> {
        let lookup = match &mut self.lookup {
            Some(lookup) => lookup,
            empty @ None => {
                let files = job.plugins.iter().map(|plugin| {
                    let known = KnownDigest { stamp: &plugin.stamp, digest: &plugin.digest };
                    (plugin.file.as_path(), known)
                });
                let registry = Registry::from_files(files).map_err(|e| e.to_string())?;
                empty.insert(CaseLookup::new(registry, job.options))
            }
        };
        lookup.options = job.options;
        // The registry has loaded the plugin, so the plugin's panic hook is already installed.
        let case = defect::catch(|| lookup.case(&id.borrowed()))??;
        // The spec of a user's own machine contains neither its name nor its definition.
        let mut found = case.id();
        found.setting.machine.clone_from(&id.setting.machine);
        found.setting.machine_definition.clone_from(&id.setting.machine_definition);
        match found.borrowed().differences(&id.borrowed()).first() {
            Some(d) => Err(format!(
                "changed during the run: its {} was `{}` at the start and is now `{}`",
                d.column, d.theirs, d.ours
            )),
            None => Ok(case),
        }
    }
}

fn observer(
    job: &Job,
    observers: &[ObserverKind],
    case: &Case,
    replies: &ReplySender,
) -> Result<Box<dyn Observer>, String> {
    let Some((name, args)) = &job.observation else { return Ok(Box::new(NoObserver)) };
    if !case.companions.is_empty() {
        return Err("a schedule that runs together with other jobs is only shown without them: its times, but not its steps, are those with the other jobs".to_owned());
    }
    let observe = observers
        .iter()
        .find(|observe| observe.name == name)
        .ok_or_else(|| format!("no observer is named `{name}`"))?;
    let replies = replies.clone();
    (observe.start)(case, args, Box::new(move |value| replies.observed(value)))
}
