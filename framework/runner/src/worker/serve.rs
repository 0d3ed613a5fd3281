//! The worker's side: accepts jobs and sends rows.
//!
//! Its standard input is a socket to the program. Before a plugin is loaded, the socket is moved to
//! another descriptor and standard input becomes empty. Standard output and error are a pipe to the
//! program's log.

use super::message::{Job, MAX_LOG_LINES, News, Reply};
use crate::case::Case;
use crate::host::Requested;
use crate::lookup::CaseLookup;
use crate::plugin::file::KnownDigest;
use crate::process::child_side::{confine, mark_prints, take_socket};
use crate::process::state::{FloatingPoint, State};
use crate::registry::Registry;
use crate::sandbox::{self, FileAccess};
use crate::session::{GroupEvent, Pricing, report_group};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};
use swapmeet_results::{CaseId, Record};

/// A function that sends a value to the process that requested the observer.
pub type SendValue = Box<dyn FnMut(serde_json::Value)>;

/// An observer of a schedule in the worker that plans it, for data that the row does not contain.
pub trait Observer {
    /// Returns the listeners for the schedule.
    fn listeners(&mut self) -> Vec<&mut dyn Listener>;

    /// Returns whether the rows need times. If not, the machine's model is not evaluated.
    fn needs_times(&self) -> bool {
        true
    }

    /// Called at the end of the schedule with its row and the values that the plan requested.
    fn ended(&mut self, _record: &Record, _asked: Requested) {}
}

/// Creates an observer for a case from its arguments.
pub type StartObserver =
    fn(&Case, &serde_json::Value, SendValue) -> Result<Box<dyn Observer>, String>;

/// A kind of observer that jobs can request by name.
pub struct ObserverKind {
    pub name: &'static str,
    /// The maximum size of a value that the observer sends, in bytes: one of
    /// [`max_bytes`](crate::max_bytes).
    pub max_value_bytes: usize,
    /// Creates an observer for a case.
    pub start: StartObserver,
}

/// The reason why a worker cannot work.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("the worker's socket: {0}")]
    Io(#[from] io::Error),
    /// The resource limits could not be set.
    #[error("its limits: {0}")]
    Limits(io::Error),
    /// The sandbox could not be entered.
    #[error(transparent)]
    Sandbox(#[from] sandbox::SandboxError),
    /// A job could not be parsed.
    #[error("the worker's job: {0}")]
    Job(#[from] serde_json::Error),
}

/// Sends replies. After the connection has failed, replies are dropped.
#[derive(Clone)]
struct Outlet {
    connection: Rc<RefCell<Connection>>,
    job: u64,
}

struct Connection {
    socket: File,
    /// Buffered rows, which are sent together so that not every row wakes the program. No plugin
    /// code runs while this buffer holds rows.
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

impl Outlet {
    fn send(&self, reply: &Reply) {
        let mut connection = self.connection.borrow_mut();
        connection.hold(reply);
        connection.send();
    }

    fn say(&self, news: News) {
        /// Maximum number of buffered bytes.
        const ENOUGH: usize = 1 << 15;
        let is_row = matches!(news, News::Row { .. });
        let mut connection = self.connection.borrow_mut();
        connection.hold(&Reply::Of(self.job, news));
        if !is_row || connection.held.len() > ENOUGH {
            connection.send();
        }
    }

    /// Sends buffered rows before a plugin runs.
    fn clear(&self) {
        self.connection.borrow_mut().send();
    }

    fn broken(&self) -> io::Result<()> {
        std::mem::replace(&mut self.connection.borrow_mut().broken, Ok(()))
    }
}

/// Serves jobs until the socket is closed. Jobs can request the given kinds of `observers`.
pub fn serve(
    memory_limit: u64,
    is_sandboxed: bool,
    observers: &[ObserverKind],
) -> Result<(), WorkerError> {
    let socket = take_socket()?;
    let connection =
        Connection { socket: File::from(socket.try_clone()?), held: Vec::new(), broken: Ok(()) };
    let mut outlet = Outlet { connection: Rc::new(RefCell::new(connection)), job: 0 };
    if let Err(error) = confine(memory_limit, &socket).map_err(WorkerError::Limits) {
        // This failure must not be attributed to a plugin.
        outlet.send(&Reply::Unfit { reason: error.to_string() });
        return Err(error);
    }
    let rounding = FloatingPoint::now();
    let mut state = WorkerState { lookup: None, rounding, before: None };
    let mut is_ready = false;
    for line in BufReader::new(File::from(socket)).lines() {
        let job: Job = serde_json::from_str(&line?)?;
        outlet.job = job.number;
        if !std::mem::replace(&mut is_ready, true) {
            // The sandbox is entered before plugin code runs. The readable files are only known
            // from the first job.
            if is_sandboxed
                && let Err(error) = sandbox::enter(&FileAccess {
                    plugins: std::slice::from_ref(&job.plugin),
                    readable: &job.readable,
                    ..FileAccess::default()
                })
            {
                outlet.send(&Reply::Unfit { reason: error.to_string() });
                return Err(error.into());
            }
            outlet.send(&Reply::Ready);
        }
        state.run(&job, observers, &outlet);
        mark_prints();
        outlet.say(News::Done { left: state.left_behind().map(str::to_owned) });
        outlet.broken()?;
    }
    Ok(())
}

/// Reports the progress of a schedule a few times per second.
struct Pulse {
    outlet: Outlet,
    last: Instant,
    /// Messages so far.
    messages: u64,
}

impl Listener for Pulse {
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
            self.outlet.say(News::Progress { steps: step.number, messages: self.messages });
        }
    }
}

struct NoObserver;

impl Observer for NoObserver {
    fn listeners(&mut self) -> Vec<&mut dyn Listener> {
        Vec::new()
    }
}

/// The state of a worker between jobs.
struct WorkerState {
    /// The plugin and everything that its cases have named; `None` before the first job.
    lookup: Option<CaseLookup<Registry>>,
    /// Floating-point settings before a plugin was loaded.
    rounding: FloatingPoint,
    /// State of the process after the plugin was loaded. Threads that a plugin starts during
    /// loading are part of it: they cannot affect other plugins.
    before: Option<State>,
}

impl WorkerState {
    /// Names what the jobs left behind in the process, if anything.
    fn left_behind(&self) -> Option<&'static str> {
        State::now().changed_since(self.before.as_ref()?)
    }

    fn run(&mut self, job: &Job, observers: &[ObserverKind], outlet: &Outlet) {
        let (mut cases, mut numbers) = (Vec::new(), Vec::new());
        for (number, id) in job.cases.iter().enumerate() {
            match self.look_up(job, id) {
                Ok(case) => {
                    cases.push(case);
                    numbers.push(number);
                }
                // The program parsed the case a moment ago, so a file has been removed or changed.
                Err(reason) => outlet.say(News::Unknown { case: number, reason }),
            }
        }
        let Some(first) = cases.first() else { return };
        self.rounding.restore();
        self.before.get_or_insert_with(State::now);
        let mut observer = match observer(job, observers, first, outlet) {
            Ok(observer) => observer,
            Err(reason) => {
                return numbers
                    .into_iter()
                    .for_each(|case| outlet.say(News::Unknown { case, reason: reason.clone() }));
            }
        };
        let mut pulse = Pulse { outlet: outlet.clone(), last: Instant::now(), messages: 0 };
        let (mut lines, mut rows, mut asked) = (0, Vec::new(), Requested::default());
        // An observer receives every plan of the job, so no case may be set aside and planned again.
        let pricing = match (observer.needs_times(), &job.observation) {
            (false, _) => Pricing::Off,
            (true, Some(_)) => Pricing::Together,
            (true, None) => Pricing::SlowApart,
        };
        let mut listeners: Vec<&mut dyn Listener> = vec![&mut pulse];
        listeners.extend(observer.listeners());
        report_group(&cases, pricing, &mut listeners, &mut |event| match event {
            GroupEvent::Planning => outlet.clear(),
            GroupEvent::Planned(for_these) => asked = for_these,
            GroupEvent::Priced(spent) => outlet.say(News::Priced { spent }),
            GroupEvent::Row(index, record) => {
                outlet.say(News::Row { case: numbers[index], outcome: record.outcome().collect() });
                if job.observation.is_some() {
                    rows.push(record);
                }
            }
            GroupEvent::Log(line) => {
                lines += 1;
                match lines {
                    lines if lines < MAX_LOG_LINES => outlet.say(News::Log { line }),
                    MAX_LOG_LINES => {
                        outlet
                            .say(News::Log { line: "(further log lines are omitted)".to_owned() });
                    }
                    _ => {}
                }
            }
        });
        rows.iter().for_each(|record| observer.ended(record, asked));
    }

    /// Returns the case with this identity. It is an error if a file has changed since the program
    /// looked the case up.
    fn look_up(&mut self, job: &Job, id: &CaseId) -> Result<Case, String> {
        let lookup = match &mut self.lookup {
            Some(lookup) => lookup,
            empty @ None => {
                let digest = &id.implementation.plugin_digest;
                let known = KnownDigest { stamp: &job.stamp, digest };
                let registry = Registry::of(&job.plugin, known).map_err(|e| e.to_string())?;
                empty.insert(CaseLookup::new(registry, job.options))
            }
        };
        lookup.options = job.options;
        let case = lookup.case(&id.borrowed())?;
        // The name and definition of the user's own machine are not part of its spec.
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

/// Creates the observer that the job requests, if any.
fn observer(
    job: &Job,
    observers: &[ObserverKind],
    case: &Case,
    outlet: &Outlet,
) -> Result<Box<dyn Observer>, String> {
    let Some((name, args)) = &job.observation else { return Ok(Box::new(NoObserver)) };
    let observe = observers
        .iter()
        .find(|observe| observe.name == name)
        .ok_or_else(|| format!("no observer is named `{name}`"))?;
    let outlet = outlet.clone();
    (observe.start)(case, args, Box::new(move |value| outlet.say(News::Observed { value })))
}
