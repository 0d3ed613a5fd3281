//! The protocol between the examination and the child process: requests and replies.

use crate::watch::BusiestNode;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use swapmeet_runner::plugin::{Param, Plugin};
use swapmeet_runner::topology;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCase {
    pub algorithm: String,
    pub params: Vec<(String, String)>,
    pub topology: String,
    pub workload: String,
    pub machine: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    About,
    Run(TestCase),
    RunOnce(TestCase),
    /// A request to run these cases one after another in one process, in several orders.
    Sequence(Vec<TestCase>),
    /// A request to run this case once, and to find deadlocks with FIFOs of this depth.
    Liveness(TestCase, u64),
}

impl Request {
    /// Returns the files of topologies and the files that are values of parameters.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let cases = match self {
            Self::About => &[][..],
            Self::Run(case) | Self::RunOnce(case) | Self::Liveness(case, _) => {
                std::slice::from_ref(case)
            }
            Self::Sequence(cases) => cases,
        };
        let of_topology = |case: &TestCase| {
            let parsed = topology::parse_with_inputs(&case.topology);
            parsed.map_or_else(|_| Vec::new(), |(_, inputs)| inputs)
        };
        let topologies = cases.iter().flat_map(of_topology).map(|input| PathBuf::from(input.file));
        let values = cases.iter().flat_map(|case| &case.params).map(|(_, value)| value.into());
        topologies.chain(values.filter(|path: &PathBuf| path.is_file())).collect()
    }

    /// Returns the maximum number of schedules that the child process makes for its reply.
    pub fn plans(&self) -> u32 {
        match self {
            Self::About | Self::RunOnce(_) | Self::Liveness(..) => 1,
            Self::Run(_) => 6,
            Self::Sequence(cases) => 4 * u32::try_from(cases.len()).unwrap_or(u32::MAX / 4),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The status, with the same words as in rows, such as `ok`, `unsupported` or `invalid`.
    pub status: String,
    pub reason: String,
    /// The unit of verification as in rows: `blocks` or `amounts`.
    pub proof: String,
    /// A hash of the sender, the receiver, the data and the route of all sends in order.
    pub fingerprint: u64,
    /// For each of the first steps, the hash of all sends up to the end of this step.
    pub steps: Vec<u64>,
    /// The first difference from the first plan of the same problem in the process.
    pub differs: Option<String>,
    pub busiest_node: BusiestNode,
    /// The threads that the plugin has started during the plan and that still run.
    pub threads: u64,
    /// Descriptions of wasteful sends, in one sentence each.
    pub waste: Vec<String>,
    /// A remark, if the plugin has continued after the host refused a call.
    pub unheeded: Option<String>,
}

impl Plan {
    pub fn is_like(&self, other: &Self) -> bool {
        let outcome = |plan: &Self| (plan.fingerprint, plan.busiest_node.messages);
        (&self.status, &self.reason, &self.proof) == (&other.status, &other.reason, &other.proof)
            && outcome(self) == outcome(other)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// The file is not a plugin, or its tables are invalid, as this text describes.
    Refused(String),
    About(About),
    /// Two schedules follow at the same time, for which the parent allows twice the memory.
    AtOnce,
    /// The request is invalid, for example because of a topology that does not exist.
    BadRequest(String),
    Run(RunResult),
    Sequence(Vec<SequencePlan>),
    Liveness(Liveness),
}

/// Whether a schedule can end if connections are FIFOs, in which a block or segment takes a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Liveness {
    Ends,
    Deadlock {
        cycle: String,
        /// The least depth without a deadlock.
        least_depth: u64,
    },
    /// The schedule cannot be examined, for this reason.
    NotExamined(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SequencePlan {
    pub case: usize,
    pub is_parallel: bool,
    pub plan: Plan,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    pub nodes: u64,
    /// The plans of two runs in turn and two at once, or the one plan of [`Request::RunOnce`].
    pub plans: Vec<Plan>,
    /// The run time of the first plan in milliseconds, including the time of the host.
    pub ms: f64,
    /// The result for a declared symmetry, if there are few nodes.
    pub symmetry: Option<Symmetry>,
    /// The growth of the peak memory in bytes during the first plan, if the system reports it.
    pub bytes: Option<u64>,
}

/// The plan of one node of each orbit (the set of nodes to which symmetries map a node).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symmetry {
    pub nodes: u64,
    pub differs: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub name: String,
    pub version: String,
    pub licence: String,
    pub abi: (u32, u32),
    pub algorithms: Vec<AlgorithmAbout>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlgorithmAbout {
    pub name: String,
    pub title: String,
    pub paper: String,
    /// The supported topologies and sizes, in words.
    pub accepts: String,
    /// Bit `c` is set if the collective with the number `c` in the ABI is supported.
    pub collectives: u64,
    /// The most messages that a node sends or receives in a step; 0 if not stated.
    pub ports: u64,
    pub params: Vec<Param>,
}

impl From<&Plugin> for About {
    fn from(plugin: &Plugin) -> Self {
        let algorithms = plugin.algorithms.iter().map(|a| AlgorithmAbout {
            name: a.name.clone(),
            title: a.title.clone(),
            paper: a.paper.clone(),
            accepts: a.accepts.clone(),
            collectives: a.collectives,
            ports: a.ports,
            params: a.params.clone(),
        });
        Self {
            name: plugin.name.clone(),
            version: plugin.version.clone(),
            licence: plugin.licence.clone(),
            abi: plugin.abi,
            algorithms: algorithms.collect(),
        }
    }
}
