//! Plans without a host, for a plugin's own tests: what a schedule says, with every rule written out. Whether it is right is for `swapmeet check`.

use crate::collective::Collective;
use crate::export::Algorithm;
use crate::problem::Problem;
use crate::schedule::{Schedule, Stop};
use record::Asked;
use stage::Stage;
use std::cell::RefCell;
use swapmeet_abi::{SwmParam, SwmProblem, SwmStr, SwmTopology};

mod record;
mod stage;

pub use record::{Rehearsed, RehearsedRoute, RehearsedSend, RehearsedStep};

/// A problem to try an algorithm on in a test: a small machine, an all-to-all of blocks of one byte with one port, unless said otherwise.
///
/// ```
/// use swapmeet_sdk::{About, Algorithm, Problem, Rehearsal, Schedule, Send, Set, Stop};
///
/// /// Straight to the destination, one distance a step.
/// struct Shift;
///
/// impl Algorithm for Shift {
///     fn about(&self) -> About {
///         About { name: "shift", ..About::DEFAULT }
///     }
///
///     fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
///         let n = problem.topology().nodes();
///         for distance in 1..n {
///             schedule.step()?;
///             for v in 0..n {
///                 let to = (v + distance) % n;
///                 schedule.send(&Send::new(v, to).origins(Set::one(v)).destinations(Set::one(to)).strict())?;
///             }
///         }
///         Ok(())
///     }
/// }
///
/// let steps = Rehearsal::on("ring", &[4]).plan(&Shift).unwrap();
/// assert_eq!(steps.len(), 3);
/// assert_eq!((steps[1].sends[3].from, steps[1].sends[3].to), (3, 1));
/// assert_eq!(steps[1].sends[3].destinations, [1]);
/// ```
#[derive(Debug, Clone)]
pub struct Rehearsal {
    kind: String,
    spec: String,
    dims: Vec<u64>,
    collective: Collective,
    root: u64,
    permutation: String,
    to: Vec<u64>,
    params: Vec<(String, String)>,
    asked: Asked,
}

impl Rehearsal {
    /// A machine of this family and these sides, such as `("torus", &[4, 8])`. Meant for small ones: every set is written out.
    pub fn on(kind: &str, dims: &[u64]) -> Self {
        let sides: Vec<String> = dims.iter().map(u64::to_string).collect();
        Self {
            kind: kind.to_owned(),
            spec: format!("{kind}:{}", sides.join("x")),
            dims: dims.to_vec(),
            collective: Collective::AllToAll,
            root: 0,
            permutation: String::new(),
            to: Vec::new(),
            params: Vec::new(),
            asked: Asked { block_bytes: 1, ports: 1, virtual_channels: 1 },
        }
    }

    /// Another collective than all-to-all; `root` is a node, where there is one.
    #[must_use]
    pub fn collective(mut self, collective: Collective, root: u64) -> Self {
        (self.collective, self.root) = (collective, root);
        self
    }

    /// A permutation, by name and by the node that each node's block is for.
    #[must_use]
    pub fn permutation(mut self, name: &str, to: &[u64]) -> Self {
        (self.collective, self.permutation, self.to) = (Collective::Permutation, name.to_owned(), to.to_vec());
        self
    }

    /// A parameter as a user would give it.
    #[must_use]
    pub fn param(mut self, key: &str, value: &str) -> Self {
        self.params.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Bytes of every block.
    #[must_use]
    pub fn block_bytes(mut self, bytes: u64) -> Self {
        self.asked.block_bytes = bytes;
        self
    }

    /// Messages that a node may send, and receive, at a time; `u64::MAX` for all its links.
    #[must_use]
    pub fn ports(mut self, ports: u64) -> Self {
        self.asked.ports = ports;
        self
    }

    /// Asks whether the algorithm can run and then for its schedule.
    ///
    /// # Errors
    /// What the algorithm says; [`Stop::Failed`] where it sends before a first step, to itself or nodes outside its grid, names sets that don't
    /// fit the grid, sets the grid late, or leaves nodes of a grid unlike the machine unplaced. Whether blocks are where they are
    /// sent from is not looked at: `swapmeet check` does that.
    pub fn plan(&self, algorithm: &dyn Algorithm) -> Result<Vec<RehearsedStep>, Stop> {
        self.rehearse(algorithm).map(|all| all.steps)
    }

    /// As [`Rehearsal::plan`], with placements and lines for the log.
    ///
    /// # Errors
    /// As there.
    pub fn rehearse(&self, algorithm: &dyn Algorithm) -> Result<Rehearsed, Stop> {
        let nodes = self.dims.iter().product();
        let topology = SwmTopology {
            size: size_of::<SwmTopology>() as u32,
            dim_count: self.dims.len() as u32,
            kind: SwmStr::new(&self.kind),
            spec: SwmStr::new(&self.spec),
            nodes,
            dims: self.dims.as_ptr(),
        };
        let params: Vec<SwmParam> = self
            .params
            .iter()
            .map(|(key, value)| SwmParam { key: SwmStr::new(key), value: SwmStr::new(value) })
            .collect();
        let problem = SwmProblem {
            size: size_of::<SwmProblem>() as u32,
            collective: self.collective.code(),
            topology: &raw const topology,
            root: self.root,
            params: params.as_ptr(),
            param_count: params.len() as u64,
            permutation: SwmStr::new(&self.permutation),
        };
        let stage = RefCell::new(Stage::new(self.asked, self.to.clone(), self.dims.clone()));
        let host = stage::host(&stage);
        // SAFETY: problem and topology say their sizes, and outlive the schedule.
        let made = unsafe { Problem::read(&raw const problem, &host) }.and_then(|problem| {
            algorithm.supports(&problem)?;
            algorithm.plan(&problem, &mut Schedule::new(&host))
        });
        let written = stage.into_inner().written()?;
        made.map(|()| written)
    }
}

#[cfg(test)]
mod tests;
