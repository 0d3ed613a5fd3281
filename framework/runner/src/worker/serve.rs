//! The worker's side: takes jobs, gives what came of their cases.
//!
//! Its standard input is a socket to the program that started it. Before any plugin is loaded the
//! socket is moved to a descriptor that nobody else knows, and the standard input becomes empty;
//! standard output and error are a pipe to the program's log.

use super::message::{Job, News, Reply};
use crate::case::{Case, choose, drawn};
use crate::host::Asked;
use crate::input::Text;
use crate::machine;
use crate::plugin::file::Known as KnownFile;
use crate::process::child_side::{confine, mark_prints, take_socket};
use crate::process::state::{FloatingPoint, State};
use crate::registry::Registry;
use crate::sandbox;
use crate::session::{Event, report_group};
use crate::topology;
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::network::topology::Topology;
use swapmeet_core::simulation::ProofScope;
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};
use swapmeet_results::{CaseId, Record, Setting};
use swapmeet_workloads::{InputDigest, Workload};

/// Sends a value to whoever asked for the watch.
pub type Say = Box<dyn FnMut(serde_json::Value)>;

/// Somebody who sees more of a schedule than its row has, in the worker that makes it.
pub trait Watcher {
    /// Who of it listens to the schedule, in turn.
    fn listeners(&mut self) -> Vec<&mut dyn Listener>;

    /// The schedule has ended, and this is its row; the plan asked for these.
    fn ended(&mut self, _record: &Record, _asked: Asked) {}
}

/// Starts a watcher for a case, from what it is to know.
pub type Start = fn(&Case, &serde_json::Value, Say) -> Result<Box<dyn Watcher>, String>;

/// A kind of watcher, that a job can ask for by name.
pub struct Watch {
    pub name: &'static str,
    /// One for a case.
    pub start: Start,
}

/// Why a worker can't work.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("the worker's socket: {0}")]
    Io(#[from] io::Error),
    /// The limits could not be set.
    #[error("its limits: {0}")]
    Limits(io::Error),
    /// It could not be confined.
    #[error(transparent)]
    Sandbox(#[from] sandbox::SandboxError),
    /// A job that makes no sense.
    #[error("the worker's job: {0}")]
    Job(#[from] serde_json::Error),
}

/// Sends replies to the program; once the connection is broken nobody reads them any more.
#[derive(Clone)]
struct Outlet {
    connection: Rc<RefCell<Connection>>,
    job: u64,
}

struct Connection {
    socket: File,
    /// Rows that are not sent yet: each by itself would wake the program. Nothing of a plugin runs
    /// while they are held.
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
        /// Rows are held for no longer than it takes to make so many bytes of them.
        const ENOUGH: usize = 1 << 15;
        let is_row = matches!(news, News::Row { .. });
        let mut connection = self.connection.borrow_mut();
        connection.hold(&Reply::Of(self.job, news));
        if !is_row || connection.held.len() > ENOUGH {
            connection.send();
        }
    }

    /// Sends what is held: a plugin is about to run.
    fn clear(&self) {
        self.connection.borrow_mut().send();
    }

    fn broken(&self) -> io::Result<()> {
        std::mem::replace(&mut self.connection.borrow_mut().broken, Ok(()))
    }
}

/// Serves jobs until the socket closes. `watches` are those that a job can ask for.
pub fn serve(memory_limit: u64, is_sandboxed: bool, watches: &[Watch]) -> Result<(), WorkerError> {
    let socket = take_socket()?;
    let connection =
        Connection { socket: File::from(socket.try_clone()?), held: Vec::new(), broken: Ok(()) };
    let mut outlet = Outlet { connection: Rc::new(RefCell::new(connection)), job: 0 };
    if let Err(error) = confine(memory_limit, &socket).map_err(WorkerError::Limits) {
        // Whoever started this worker must not take it for a plugin's doing.
        outlet.send(&Reply::Unfit { reason: error.to_string() });
        return Err(error);
    }
    let rounding = FloatingPoint::now();
    let mut known = Known {
        plugins: HashMap::new(),
        topologies: HashMap::new(),
        drawn: HashMap::new(),
        workloads: HashMap::new(),
        machines: HashMap::new(),
        rounding,
        before: None,
    };
    let mut is_ready = false;
    for line in BufReader::new(File::from(socket)).lines() {
        let job: Job = serde_json::from_str(&line?)?;
        outlet.job = job.number;
        if !std::mem::replace(&mut is_ready, true) {
            // Before anything of a plugin's runs: only now is it known which files there are to be
            // read.
            if is_sandboxed
                && let Err(error) = sandbox::enter(std::slice::from_ref(&job.plugin), &job.readable)
            {
                outlet.send(&Reply::Unfit { reason: error.to_string() });
                return Err(error.into());
            }
            outlet.send(&Reply::Ready);
        }
        known.run(&job, watches, &outlet);
        mark_prints();
        outlet.say(News::Done { left: known.left_behind().map(str::to_owned) });
        outlet.broken()?;
    }
    Ok(())
}

/// Says how far a schedule has come, a few times a second.
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

struct Unwatched;

impl Watcher for Unwatched {
    fn listeners(&mut self) -> Vec<&mut dyn Listener> {
        Vec::new()
    }
}

/// What has been looked up already: cases of one job must share it, and a matrix is read once.
struct Known {
    /// By their files.
    plugins: HashMap<PathBuf, Registry>,
    topologies: HashMap<String, (Arc<dyn Topology>, Vec<InputDigest>)>,
    /// Those whose routes are drawn, by the seed.
    drawn: HashMap<(String, u64), Arc<dyn Topology>>,
    workloads: HashMap<String, Workload>,
    machines: HashMap<String, machine::Read>,
    /// How this process rounded before a plugin was loaded.
    rounding: FloatingPoint,
    /// What it was like once the plugin had been: some come with threads of their own, which do no
    /// other plugin harm.
    before: Option<State>,
}

impl Known {
    /// What the jobs so far have left behind, if anything.
    fn left_behind(&self) -> Option<&'static str> {
        State::now().changed_since(self.before.as_ref()?)
    }

    fn run(&mut self, job: &Job, watches: &[Watch], outlet: &Outlet) {
        /// Lines of a job that anybody wants to see.
        const MOST: u32 = 20;
        let (mut cases, mut numbers) = (Vec::new(), Vec::new());
        for (number, id) in job.cases.iter().enumerate() {
            match self.look_up(job, id) {
                Ok(case) => {
                    cases.push(case);
                    numbers.push(number);
                }
                // The program looked it up a moment ago: a file has gone, or changed.
                Err(reason) => outlet.say(News::Unknown { case: number, reason }),
            }
        }
        let Some(first) = cases.first() else { return };
        self.rounding.restore();
        self.before.get_or_insert_with(State::now);
        let mut watcher = match watcher(job, watches, first, outlet) {
            Ok(watcher) => watcher,
            Err(reason) => {
                return numbers
                    .into_iter()
                    .for_each(|case| outlet.say(News::Unknown { case, reason: reason.clone() }));
            }
        };
        let mut pulse = Pulse { outlet: outlet.clone(), last: Instant::now(), messages: 0 };
        let (mut lines, mut rows, mut asked) = (0, Vec::new(), Asked::default());
        let mut listeners: Vec<&mut dyn Listener> = vec![&mut pulse];
        listeners.extend(watcher.listeners());
        report_group(&cases, &mut listeners, &mut |event| match event {
            Event::Plans => outlet.clear(),
            Event::Planned(for_these) => asked = for_these,
            Event::Row(index, record) => {
                outlet.say(News::Row { case: numbers[index], outcome: record.outcome().collect() });
                if job.watch.is_some() {
                    rows.push(record);
                }
            }
            Event::Log(line) => {
                lines += 1;
                match lines {
                    lines if lines < MOST => outlet.say(News::Log { line }),
                    MOST => {
                        outlet.say(News::Log { line: "(what more it says is left out)".to_owned() })
                    }
                    _ => {}
                }
            }
        });
        rows.iter().for_each(|record| watcher.ended(record, asked));
    }

    fn look_up(&mut self, job: &Job, id: &CaseId) -> Result<Case, String> {
        let CaseId { setting, implementation, .. } = id;
        let (topology, own) = match self.topologies.get(&setting.topology) {
            Some(known) => known.clone(),
            None => {
                let new =
                    topology::parse_with_inputs(&setting.topology).map_err(|e| e.to_string())?;
                self.topologies.insert(setting.topology.clone(), new.clone());
                new
            }
        };
        // Cases of one seed share it, and so their plan.
        let topology = match topology.random_routing() {
            None => topology,
            Some(_) => {
                let of_seed = self.drawn.entry((setting.topology.clone(), id.seed));
                Arc::clone(of_seed.or_insert_with(|| drawn(&topology, id.seed)))
            }
        };
        let workload = match self.workloads.get(&setting.workload) {
            Some(known) => known.clone(),
            None => {
                let new = Workload::parse(&setting.workload).map_err(|e| e.to_string())?;
                self.workloads.insert(setting.workload.clone(), new.clone());
                new
            }
        };
        let workload = workload.replicate(id.repetition)?;
        let plugin = match self.plugins.entry(job.plugin.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let known = KnownFile { stamp: &job.stamp, digest: &implementation.plugin_digest };
                new.insert(Registry::of(&job.plugin, known).map_err(|e| e.to_string())?)
            }
        };
        let algorithm = Text::flag("algorithm", &implementation.algorithm);
        let algorithm = choose(&algorithm, plugin).map_err(|e| e.message)?;
        let spec = setting.borrowed().machine_spec().to_owned();
        let (machine, read) = match self.machines.get(&spec) {
            Some(known) => known.clone(),
            None => {
                let new = machine::read(Machine::parse(&spec).map_err(|e| e.to_string())?)?;
                self.machines.insert(spec, new.clone());
                new
            }
        };
        let case = Case {
            experiment: "".into(),
            inputs: own
                .iter()
                .chain(workload.input())
                .chain(&algorithm.inputs)
                .chain(&read)
                .cloned()
                .collect(),
            topology,
            algorithm,
            workload,
            // The row says the user's name for it.
            machine,
            repetition: id.repetition,
            seed: id.seed,
            proof_scope: if job.proves_everyone { ProofScope::Full } else { ProofScope::Auto },
            timeout: job.timeout_secs.and_then(|secs| Duration::try_from_secs_f64(secs).ok()),
        };
        let found = case.id();
        let named = Setting {
            machine: setting.machine.clone(),
            machine_definition: setting.machine_definition.clone(),
            ..found.setting.clone()
        };
        let found = CaseId { setting: named, ..found };
        match found.borrowed().differences(&id.borrowed()).first() {
            Some(d) => Err(format!(
                "changed while the run went on: its {} was `{}` when it began, and is `{}` now",
                d.column, d.theirs, d.ours
            )),
            None => Ok(case),
        }
    }
}

/// Who watches the schedule of the case, if the job asks for somebody.
fn watcher(
    job: &Job,
    watches: &[Watch],
    case: &Case,
    outlet: &Outlet,
) -> Result<Box<dyn Watcher>, String> {
    let Some((name, args)) = &job.watch else { return Ok(Box::new(Unwatched)) };
    let watch = watches
        .iter()
        .find(|watch| watch.name == name)
        .ok_or_else(|| format!("no watch is named `{name}`"))?;
    let outlet = outlet.clone();
    (watch.start)(case, args, Box::new(move |value| outlet.say(News::Seen { value })))
}
