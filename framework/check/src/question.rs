//! What is asked of the other process, and what it says.

use crate::about::About;
use crate::watch::Fullest;
use serde::{Deserialize, Serialize};

/// One case of one algorithm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rung {
    pub algorithm: String,
    pub params: Vec<(String, String)>,
    pub topology: String,
    pub workload: String,
    pub machine: String,
}

/// What one process is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// What do the tables say?
    About,
    /// What comes of this case, each time?
    Run(Rung),
    /// What comes of these cases, one after another in one process, in several orders?
    Among(Vec<Rung>),
}

impl Question {
    /// How many schedules are made, at most, to answer it.
    pub fn plans(&self) -> u32 {
        match self {
            Self::About => 1,
            Self::Run(_) => 6,
            Self::Among(rungs) => 4 * u32::try_from(rungs.len()).unwrap_or(u32::MAX / 4),
        }
    }
}

/// What came of one making of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The row's status: `ok`, `unsupported`, `invalid`, ..
    pub status: String,
    pub reason: String,
    /// What was proved, as rows say it: `blocks`, `amounts`.
    pub proof: String,
    /// Of all sends, in order: who, whom, what, which way.
    pub fingerprint: u64,
    /// The same at the end of each of the first steps.
    pub steps: Vec<u64>,
    /// Where it first differs from the first plan of the same problem, of two made in one process.
    pub differs: Option<String>,
    /// The node with the most messages in one step.
    pub fullest: Fullest,
    /// Threads that the process had more after the plan than before.
    pub threads: u64,
    /// What does no good, a sentence each.
    pub waste: Vec<String>,
    /// That it went on after the host had refused a call, if it did.
    pub unheeded: Option<String>,
}

impl Plan {
    /// Whether the same was made of a problem.
    pub fn is_like(&self, other: &Self) -> bool {
        let outcome = |plan: &Self| (plan.fingerprint, plan.fullest.messages);
        (&self.status, &self.reason, &self.proof) == (&other.status, &other.reason, &other.proof)
            && outcome(self) == outcome(other)
    }
}

/// What the process says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The file is no plugin, or its tables are wrong.
    Refused(String),
    /// What the tables say.
    About(About),
    /// The plugin closed files that are not its own: a worker would be lost to its run.
    ClosedFiles,
    /// None yet: two schedules are being made at once.
    AtOnce,
    /// Something in the question can't be: a topology that doesn't exist.
    BadQuestion(String),
    /// What came of a case.
    Ran(Ran),
    /// What came of several: the number of the case, whether another thread was at work, and the
    /// plan.
    Among(Vec<(usize, bool, Plan)>),
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    pub nodes: u64,
    /// What came of it: first alone, then again, then on two threads at once.
    pub plans: Vec<Plan>,
    /// Milliseconds that the first took, with all that the host does.
    pub ms: f64,
    /// What came of it with one node of each orbit planned for, where the schedule says what maps
    /// it onto itself and there are few nodes.
    pub symmetry: Option<Symmetry>,
    /// Bytes that the process grew by while it made the first, where the system tells.
    pub bytes: Option<u64>,
}

/// What came of a case with one node of each orbit planned for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symmetry {
    /// How many were planned for.
    pub nodes: u64,
    /// Where it differs from the plan for everyone.
    pub differs: Option<String>,
}
