//! The worker's side: takes jobs, gives rows.
//!
//! Its standard input is a socket to the program that started it. Before any plugin is loaded the socket is moved to a descriptor that nobody else
//! knows, and the standard input becomes empty; standard output and error are a pipe to the program's log.

use super::Pulse;
use super::message::{Job, Reply};
use super::printed::MARK;
use crate::case::{Case, choose};
use crate::input::Text;
use crate::limits::{limit_memory, no_core_file};
use crate::registry::Registry;
use crate::session::{Said, tell_group};
use crate::topology;
use rustix::process::{Signal, set_parent_process_death_signal};
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::network::topology::Topology;
use swapmeet_results::{CaseId, Setting};
use swapmeet_workloads::{InputDigest, Workload};

/// Why a worker can't work.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The socket failed.
    #[error("the worker's socket: {0}")]
    Io(#[from] io::Error),
    /// The limits could not be set.
    #[error("its limits: {0}")]
    Limits(io::Error),
    /// A job that makes no sense.
    #[error("the worker's job: {0}")]
    Job(#[from] serde_json::Error),
}

/// Serves jobs until the socket closes.
pub fn serve(memory_limit: u64) -> Result<(), WorkerError> {
    let socket = take_socket()?;
    let out = RefCell::new(File::from(socket.try_clone()?));
    if let Err(error) = limit(memory_limit).map_err(WorkerError::Limits) {
        // Whoever started this worker must not take it for a plugin's doing.
        send(&mut out.borrow_mut(), &Reply::Unfit { reason: error.to_string() })?;
        return Err(error);
    }
    send(&mut out.borrow_mut(), &Reply::Ready)?;
    let mut known = Known::default();
    for line in BufReader::new(File::from(socket)).lines() {
        let job: Job = serde_json::from_str(&line?)?;
        let mut broken = Ok(());
        let mut say = |reply: &Reply| {
            if broken.is_ok() {
                broken = send(&mut out.borrow_mut(), reply);
            }
        };
        known.run(&job, &mut say);
        mark_prints();
        say(&Reply::Done);
        broken?;
    }
    Ok(())
}

/// Sends on what a plugin has printed and C's library still holds, and a mark after it. A plugin may have closed or moved the output: then nobody hears.
fn mark_prints() {
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> c_int;
    }
    // SAFETY: null stands for all of C's streams.
    unsafe { fflush(std::ptr::null_mut()) };
    let mut out = io::stdout();
    drop(writeln!(out, "{MARK}").and_then(|()| out.flush()));
}

fn send(out: &mut File, reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    out.write_all(&line)
}

/// Standard input, moved out of a plugin's way.
pub(crate) fn take_socket() -> io::Result<OwnedFd> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(socket)
}

/// A plugin may not take more than its share, nor outlive the program, nor leave a core file.
pub(crate) fn limit(memory: u64) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    limit_memory(memory)?;
    no_core_file()
}

/// What has been looked up already: cases of one job must share it, and a matrix is read once.
#[derive(Default)]
struct Known {
    /// By their files.
    plugins: HashMap<PathBuf, Registry>,
    topologies: HashMap<String, (Arc<dyn Topology>, Vec<InputDigest>)>,
    workloads: HashMap<String, Workload>,
}

impl Known {
    fn run(&mut self, job: &Job, say: &mut dyn FnMut(&Reply)) {
        let say = RefCell::new(say);
        let say = |reply: &Reply| (say.borrow_mut())(reply);
        let (mut cases, mut numbers) = (Vec::new(), Vec::new());
        for (number, id) in job.cases.iter().enumerate() {
            match self.look_up(job, id) {
                Ok(case) => {
                    cases.push(case);
                    numbers.push(number);
                }
                // The program looked it up a moment ago: a file has gone, or changed.
                Err(reason) => say(&Reply::Unknown { case: number, reason }),
            }
        }
        let mut pulse = Pulse::new(|steps| say(&Reply::Progress { steps }));
        tell_group(&cases, &mut [&mut pulse], &mut |said| match said {
            Said::Row(index, record) => say(&Reply::Row { case: numbers[index], outcome: record.outcome().collect() }),
            Said::Log(line) => say(&Reply::Log { line }),
        });
    }

    fn look_up(&mut self, job: &Job, id: &CaseId) -> Result<Case, String> {
        let CaseId { setting, implementation, .. } = id;
        let (topology, made_of) = match self.topologies.get(&setting.topology) {
            Some(known) => known.clone(),
            None => {
                let new = topology::parse_with_inputs(&setting.topology).map_err(|e| e.to_string())?;
                self.topologies.insert(setting.topology.clone(), new.clone());
                new
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
        let plugin = match self.plugins.entry(job.plugin.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Registry::of(&job.plugin).map_err(|e| e.to_string())?),
        };
        let algorithm = Text::flag("algorithm", &implementation.algorithm);
        let machine = Machine::parse(setting.borrowed().machine_spec()).map_err(|e| e.to_string())?;
        let case = Case {
            experiment: "".into(),
            inputs: made_of.iter().chain(workload.input()).cloned().collect(),
            topology,
            algorithm: choose(&algorithm, plugin).map_err(|e| e.message)?,
            workload,
            // The row says the user's name for it.
            machine,
            repetition: id.repetition,
            seed: id.seed,
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
