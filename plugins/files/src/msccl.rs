//! `msccl:file=X.xml`: an algorithm for the MSCCL runtime and RCCL, as written by msccl-tools,
//! SCCL, TACCL and TE-CCL. It is read in three stages:
//!
//! 1. [`order`] assigns a step of the schedule to each operation: the length of the longest chain
//!    of waits (for other operations and messages) before it.
//! 2. [`execution`] executes the algorithm with the names of blocks instead of data. It reports
//!    errors, such as a read before the first write, with their line in the file.
//! 3. [`blocks`] or [`sums`] passes the messages between GPUs to the host.

use crate::numbers::Numbers;
use std::fmt;
use swapmeet_interchange::msccl::{self, Program};
use swapmeet_sdk::{About, Algorithm, Axis, Collective, ParamInfo, Problem, Schedule, Set, Stop};

mod blocks;
mod buffers;
mod execution;
mod order;
mod sums;

const FILE: ParamInfo = ParamInfo::file("file", "XML file with the algorithm");

pub struct Msccl;

impl Algorithm for Msccl {
    fn about(&self) -> About {
        About {
            name: "msccl",
            title: "An algorithm from an MSCCL XML file",
            accepts: "as many nodes as the file has GPUs",
            collectives: &[
                Collective::AllToAll,
                Collective::Broadcast,
                Collective::Scatter,
                Collective::Gather,
                Collective::AllGather,
                Collective::Reduce,
                Collective::ReduceScatter,
                Collective::AllReduce,
            ],
            params: &[FILE],
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (path, program) = program(problem)?;
        pass_on(&program, problem.root(), schedule).map_err(|stop| match stop {
            Stop::Invalid(what) => Stop::invalid(format!("{path}: {what}")),
            other => other,
        })
    }
}

fn program(problem: &Problem<'_>) -> Result<(String, Program), Stop> {
    let path = problem.given::<String>("file")?;
    let path = path.ok_or_else(|| Stop::unsupported("needs a file, as in msccl:file=X.xml"))?;
    let failed = |what: &dyn fmt::Display| Stop::failed(format!("{path}: {what}"));
    let size = std::fs::metadata(&path).map_err(|e| failed(&e))?.len();
    if size > msccl::MAX_BYTES as u64 {
        return Err(failed(&format!("{size} bytes, expected at most {}", msccl::MAX_BYTES)));
    }
    let text = std::fs::read_to_string(&path).map_err(|e| failed(&e))?;
    let program = msccl::read(&text).map_err(|wrong| failed(&wrong))?;
    let (gpus, nodes) = (program.gpus.len(), problem.topology().nodes());
    if gpus as u64 != nodes {
        return Err(Stop::unsupported(format!(
            "the file's algorithm is for {gpus} GPUs, but the topology has {nodes} nodes"
        )));
    }
    if to_sdk(program.collective) != problem.collective() {
        return Err(Stop::unsupported(format!(
            "the file's algorithm does `{}`",
            program.collective.word()
        )));
    }
    Ok((path, program))
}

fn to_sdk(collective: msccl::Collective) -> Collective {
    match collective {
        msccl::Collective::AllToAll => Collective::AllToAll,
        msccl::Collective::Broadcast => Collective::Broadcast,
        msccl::Collective::Scatter => Collective::Scatter,
        msccl::Collective::Gather => Collective::Gather,
        msccl::Collective::AllGather => Collective::AllGather,
        msccl::Collective::Reduce => Collective::Reduce,
        msccl::Collective::ReduceScatter => Collective::ReduceScatter,
        msccl::Collective::AllReduce => Collective::AllReduce,
    }
}

/// Executes an algorithm without a host. Returns its number of steps.
pub fn count_steps(program: &Program, root: u64) -> Result<u64, Stop> {
    let (_, order, execution) = run(program, root)?;
    let steps = order.parts.last().map_or(0, |(step, _)| *step);
    execution.wrong.map_or(Ok(steps), Err)
}

type ProgramRun<'a> = (buffers::Buffers, order::Order<'a>, execution::Execution);

fn run(program: &Program, root: u64) -> Result<ProgramRun<'_>, Stop> {
    let buffers = buffers::Buffers::new(program, root)?;
    let order = order::Order::new(program)?;
    let execution = execution::execute(program, &buffers, &order)?;
    Ok((buffers, order, execution))
}

fn pass_on(program: &Program, root: u64, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let (buffers, _, execution) = run(program, root)?;
    if buffers.sums {
        sums::pass_on(&buffers, &execution, schedule)?;
    } else {
        blocks::pass_on(&buffers, &execution, schedule)?;
    }
    execution.wrong.map_or(Ok(()), Err)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct StepLocation {
    gpu: u64,
    block: u64,
    step: u64,
    line: usize,
}

impl fmt::Display for StepLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GPU {}, thread block {}, step {}", self.gpu, self.block, self.step)
    }
}

fn invalid(line: usize, what: impl fmt::Display) -> Stop {
    Stop::invalid(format!("line {line}: {what}"))
}

/// Returns the values as products of origins, destinations and segments. Products that differ in
/// only one of these sets are joined.
fn products(buffers: &buffers::Buffers, ids: impl Iterator<Item = u64>) -> Vec<[Numbers; 3]> {
    use std::collections::BTreeMap;
    type Bits = Vec<u64>;
    fn set(bits: &mut Bits, at: u64, of: u64) {
        bits.resize(of.div_ceil(64) as usize, 0);
        bits[(at / 64) as usize] |= 1 << (at % 64);
    }
    let mut segments: BTreeMap<(u64, u64), Bits> = BTreeMap::new();
    for id in ids {
        let [origin, destination, segment] = buffers.parts(id);
        set(segments.entry((origin, destination)).or_default(), segment, buffers.segments);
    }
    let mut destinations: BTreeMap<(u64, Bits), Bits> = BTreeMap::new();
    for ((origin, destination), segments) in segments {
        set(destinations.entry((origin, segments)).or_default(), destination, buffers.gpus);
    }
    let mut origins: BTreeMap<(Bits, Bits), Bits> = BTreeMap::new();
    for ((origin, segments), destinations) in destinations {
        set(origins.entry((destinations, segments)).or_default(), origin, buffers.gpus);
    }
    let product = |((destinations, segments), origins): ((Bits, Bits), Bits)| {
        [Numbers::new(&origins), Numbers::new(&destinations), Numbers::new(&segments)]
    };
    origins.into_iter().map(product).collect()
}

/// Makes the set of the GPUs with these numbers, which are the nodes with slot 0 on the grid (slot,
/// GPU). If there is only one slot (see [`sums`]), the grid has one axis.
fn home_set<'a>(numbers: &'a Numbers, slots: u64, axes: &'a mut Vec<Axis<'a>>) -> Set<'a> {
    axes.clear();
    if slots > 1 {
        axes.push(Axis::one(0));
    }
    axes.push(numbers.axis());
    Set::product(axes)
}
