//! The requests of the examination to the child process, and the replies of this process.

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
    /// A request to run these cases in the same process, one after another and in several orders.
    Sequence(Vec<TestCase>),
    /// A request to run this case once, and to find a deadlock if FIFOs have this depth.
    Liveness(TestCase, u64),
}

impl Request {
    /// Returns the files that topologies and values of parameters name.
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

    /// Returns the maximum number of schedules that the child process makes before its reply.
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
    /// A hash of all sends in their order: sender, receiver, data and route.
    pub fingerprint: u64,
    /// For each of the first steps, the hash of all sends up to the end of this step.
    pub steps: Vec<u64>,
    /// The first difference from the plan that the process made first for the same problem.
    pub differs: Option<String>,
    pub busiest_node: BusiestNode,
    /// The number of threads that the plugin started during the plan, and that are still running.
    pub threads: u64,
    /// Descriptions of wasteful sends. Each description is one sentence.
    pub waste: Vec<String>,
    /// A remark. It exists if the host refused a call, and the plugin continued nevertheless.
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
    /// The file is no plugin, or its tables are invalid. The text describes why.
    Refused(String),
    About(About),
    /// Two schedules at the same time follow. The parent process then allows twice the memory.
    AtOnce,
    /// The request is invalid, for instance because a topology in it does not exist.
    BadRequest(String),
    Run(RunResult),
    Sequence(Vec<SequencePlan>),
    Liveness(Liveness),
}

/// Whether a schedule can end if connections are FIFOs with a slot for each block or segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Liveness {
    Ends,
    Deadlock {
        cycle: String,
        /// The least depth with which there is no deadlock.
        least_depth: u64,
    },
    /// The schedule cannot be examined. The text has the reason.
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
    /// The plans of two runs one after the other and of two runs at the same time. For
    /// [`Request::RunOnce`], there is only one plan.
    pub plans: Vec<Plan>,
    /// The run time of the first plan in milliseconds, including the time of the host.
    pub ms: f64,
    /// The result of the comparison if the algorithm declares a symmetry and there are few nodes.
    pub symmetry: Option<Symmetry>,
    /// The growth of the peak memory in bytes during the first plan, if the system reports it.
    pub bytes: Option<u64>,
}

/// The result for one node of each orbit, the set of nodes to which symmetries map a node.
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
    /// The topologies and sizes that the algorithm supports, in words.
    pub accepts: String,
    /// If bit `c` is set, the algorithm supports the collective that has the number `c` in the ABI.
    pub collectives: u64,
    /// The most messages that a node sends or receives in a step; 0 if it is not stated.
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
