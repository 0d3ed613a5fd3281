//! Plans without Swapmeet, for a plugin's own tests: what a schedule says, with every rule written
//! out, and whether it is right.

use crate::collective::Collective;
use crate::export::Algorithm;
use crate::problem::Problem;
use crate::schedule::Schedule;
use crate::stop::Stop;
use follow::{Task, follow};
use record::Asked;
use stage::Stage;
use std::cell::RefCell;
use swapmeet_abi::{
    SWM_INVALID, SWM_OK, SWM_STOPPED, SWM_UNSUPPORTED, SwmAlgorithm, SwmHost, SwmParam, SwmProblem,
    SwmStr, SwmTopology,
};

mod follow;
mod orbits;
mod record;
mod sets;
mod stage;

pub use follow::{Disproof, Proved};
pub use record::{
    Rehearsed, RehearsedRedistribution, RehearsedRoute, RehearsedSend, RehearsedStep,
};

/// A problem to try an algorithm on in a test: a small machine, an all-to-all of blocks of one byte
/// with one port, unless said otherwise.
///
/// ```
/// use swapmeet_sdk::{About, Algorithm, Blocks, Problem, Rehearsal, Schedule, Set, Stop};
///
/// /// Straight to the destination, one distance a step, up to `longest`.
/// struct Shift {
///     longest: u64,
/// }
///
/// impl Algorithm for Shift {
///     fn about(&self) -> About {
///         About { name: "shift", ..About::DEFAULT }
///     }
///
///     fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
///         let grid = problem.topology().grid()?;
///         for distance in 1..=self.longest {
///             schedule.step()?;
///             for me in 0..grid.nodes() {
///                 let to = grid.shift(me, 0, distance as i64);
///                 schedule.send(&Blocks::new(me, to).origins(Set::one(me)).destinations(Set::one(to)).strict())?;
///             }
///         }
///         Ok(())
///     }
/// }
///
/// let ring = Rehearsal::on("ring", &[4]);
/// let steps = ring.plan(&Shift { longest: 3 }).unwrap();
/// assert_eq!(steps.len(), 3);
/// assert_eq!((steps[1].sends[3].from, steps[1].sends[3].to), (3, 1));
/// assert_eq!(steps[1].sends[3].destinations, [1]);
///
/// let proved = ring.verify(&Shift { longest: 3 }).unwrap();
/// assert_eq!((proved.steps, proved.messages, proved.max_sends), (3, 12, 1));
/// let lost = ring.verify(&Shift { longest: 2 }).unwrap_err();
/// assert_eq!(lost.to_string(), "step 2: block 1 -> 0 was never delivered to node 0 (it is at node 1)");
/// ```
#[derive(Debug, Clone)]
pub struct Rehearsal {
    kind: String,
    spec: String,
    dims: Vec<u64>,
    /// Of a dual-net: family and sides of its base, and levels.
    base: Option<(String, Vec<u64>, u64)>,
    collective: Collective,
    root: u64,
    permutation: String,
    to: Vec<u64>,
    params: Vec<(String, String)>,
    asked: Asked,
    by_orbits: bool,
}

impl Rehearsal {
    /// A machine of this family and these sides, such as `("torus", &[4, 8])`. Meant for small
    /// ones: every set is written out.
    pub fn on(kind: &str, dims: &[u64]) -> Self {
        let sides: Vec<String> = dims.iter().map(u64::to_string).collect();
        Self {
            kind: kind.to_owned(),
            spec: format!("{kind}:{}", sides.join("x")),
            dims: dims.to_vec(),
            base: None,
            collective: Collective::AllToAll,
            root: 0,
            permutation: String::new(),
            to: Vec::new(),
            params: Vec::new(),
            asked: Asked {
                block_bytes: 1,
                sizes: Vec::new(),
                ports: 1,
                virtual_channels: 1,
                element_bytes: 1,
                skip_empty: false,
                prices: [0.0; 3],
            },
            by_orbits: false,
        }
    }

    /// A recursive dual-net of so many levels over a base of this family and these sides.
    pub fn dual_net(levels: u64, kind: &str, dims: &[u64]) -> Self {
        let base = Self::on(kind, dims);
        let axes = (0..levels).fold(dims.to_vec(), |axes, _| [&[2][..], &axes, &axes].concat());
        let spec = format!("rdn:{levels}({})", base.spec);
        Self {
            spec,
            base: Some((kind.to_owned(), dims.to_vec(), levels)),
            ..Self::on("rdn", &axes)
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
        (self.collective, self.permutation, self.to) =
            (Collective::Permutation, name.to_owned(), to.to_vec());
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

    /// Bytes that each node has for each, a row a sender, where they differ.
    #[must_use]
    pub fn sizes(mut self, rows: &[Vec<u64>]) -> Self {
        self.asked.block_bytes = rows.iter().flatten().copied().max().unwrap_or(0);
        self.asked.sizes = rows.to_vec();
        self
    }

    /// Bytes of the unit that is redistributed, in a schedule of byte counts.
    #[must_use]
    pub fn element_bytes(mut self, bytes: u64) -> Self {
        self.asked.element_bytes = bytes;
        self
    }

    /// A message of no bytes is none, as with `empty=skip`.
    #[must_use]
    pub fn skip_empty(mut self) -> Self {
        self.asked.skip_empty = true;
        self
    }

    /// Messages that a node may send, and receive, at a time; `u64::MAX` for all its links.
    #[must_use]
    pub fn ports(mut self, ports: u64) -> Self {
        self.asked.ports = ports;
        self
    }

    /// Circuits that a directed link carries at a time.
    #[must_use]
    pub fn virtual_channels(mut self, circuits: u64) -> Self {
        self.asked.virtual_channels = circuits;
        self
    }

    /// What the machine asks for a message, for each link of its route and for each of its bytes,
    /// in microseconds; nothing unless said.
    #[must_use]
    pub fn prices(mut self, startup_us: f64, hop_us: f64, byte_us: f64) -> Self {
        self.asked.prices = [startup_us, hop_us, byte_us];
        self
    }

    /// Has one node of each orbit planned for where the schedule says what maps it onto itself
    /// ([`Schedule::symmetric`]), and writes down what all nodes send, as it follows from that. It
    /// is the same as when everyone is planned for, in some order, if what the schedule says is so:
    /// [`Rehearsal::verify_symmetry`].
    #[must_use]
    pub fn by_orbits(mut self) -> Self {
        self.by_orbits = true;
        self
    }

    /// Asks whether the algorithm can run and then for its schedule.
    ///
    /// # Errors
    /// What the algorithm says; [`Stop::Failed`] where it sends before a first step, to itself or
    /// nodes outside its grid, names sets that don't fit the grid, sets the grid late, or leaves
    /// nodes of a grid unlike the machine unplaced. Whether blocks are where they are sent from is
    /// not looked at: [`Rehearsal::verify`] does that.
    pub fn plan(&self, algorithm: &dyn Algorithm) -> Result<Vec<RehearsedStep>, Stop> {
        self.rehearse(algorithm).map(|all| all.steps)
    }

    /// As [`Rehearsal::plan`], with all else that the schedule says.
    ///
    /// # Errors
    /// As there.
    pub fn rehearse(&self, algorithm: &dyn Algorithm) -> Result<Rehearsed, Stop> {
        self.stage(|problem, host, _| {
            // SAFETY: problem and topology say their sizes, and outlive the schedule.
            let problem = unsafe { Problem::read(problem, host, algorithm.about().params) }?;
            algorithm.supports(&problem)?;
            algorithm.plan(&problem, &mut Schedule::new(host, problem.topology().dims()))
        })
    }

    /// Follows every block of the schedule, or every byte in one of byte counts, and proves that
    /// all arrive. Routes are not looked at: whether they exist, and what links carry, `swapmeet
    /// check` says.
    ///
    /// # Errors
    /// What [`Rehearsal::plan`] says, or the first thing wrong with the schedule.
    pub fn verify(&self, algorithm: &dyn Algorithm) -> Result<Proved, Disproof> {
        self.rehearse(algorithm).map_err(Disproof::Stopped).and_then(|all| self.follow(&all))
    }

    /// Compares what nodes send when one of each orbit is planned for with what they send when all
    /// are.
    ///
    /// # Errors
    /// What [`Rehearsal::plan`] says, or the first send of one that the other has not.
    pub fn verify_symmetry(&self, algorithm: &dyn Algorithm) -> Result<(), Disproof> {
        let rehearsed = |how: Self| how.rehearse(algorithm).map_err(Disproof::Stopped);
        let everyone = rehearsed(Self { by_orbits: false, ..self.clone() })?;
        orbits::compare(&rehearsed(self.clone().by_orbits())?, &everyone)
    }

    /// As [`Rehearsal::verify`], of an algorithm in any language.
    ///
    /// # Safety
    /// `algorithm` must point to an algorithm's table in a plugin that is loaded.
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    pub unsafe fn verify_table(&self, algorithm: *const SwmAlgorithm) -> Result<Proved, Disproof> {
        let written = self.stage(|problem, host, reason| {
            // SAFETY: the caller promises an algorithm's table.
            let table = unsafe { &*algorithm };
            for function in table.supports.into_iter().chain(table.plan) {
                // SAFETY: the function and its table are a plugin's; problem and host outlive the
                // call.
                match unsafe { function(algorithm, problem, host) } {
                    SWM_OK => {}
                    SWM_UNSUPPORTED => return Err(Stop::Unsupported(reason())),
                    SWM_STOPPED => return Err(Stop::Stopped),
                    SWM_INVALID => return Err(Stop::Invalid(reason())),
                    _ => return Err(Stop::Failed(reason())),
                }
            }
            Ok(())
        });
        written.map_err(Disproof::Stopped).and_then(|all| self.follow(&all))
    }

    fn follow(&self, all: &Rehearsed) -> Result<Proved, Disproof> {
        let task = Task {
            collective: self.collective,
            root: self.root,
            to: &self.to,
            nodes: self.dims.iter().product(),
            asked: &self.asked,
        };
        follow(&task, all)
    }

    /// Lets `play` tell its schedule to a host that writes it down; its last argument says what the
    /// plugin gave as a reason.
    fn stage(
        &self,
        play: impl FnOnce(&SwmProblem, &SwmHost, &dyn Fn() -> String) -> Result<(), Stop>,
    ) -> Result<Rehearsed, Stop> {
        let topology = |kind: &str, spec: &str, dims: &[u64]| SwmTopology {
            size: size_of::<SwmTopology>() as u32,
            dim_count: dims.len() as u32,
            kind: SwmStr::new(kind),
            spec: SwmStr::new(spec),
            nodes: dims.iter().product(),
            dims: dims.as_ptr(),
            base: std::ptr::null(),
            levels: 0,
        };
        let base = self.base.as_ref().map(|(kind, dims, levels)| (Self::on(kind, dims), *levels));
        let base = base
            .as_ref()
            .map(|(base, levels)| (topology(&base.kind, &base.spec, &base.dims), *levels));
        let topology = SwmTopology {
            base: base.as_ref().map_or(std::ptr::null(), |(base, _)| std::ptr::from_ref(base)),
            levels: base.as_ref().map_or(0, |(_, levels)| *levels),
            ..topology(&self.kind, &self.spec, &self.dims)
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
        let stage = RefCell::new(Stage::new(
            self.asked.clone(),
            self.collective,
            self.to.clone(),
            &self.dims,
            self.by_orbits,
        ));
        let played = play(&problem, &stage::host(&stage), &|| stage.borrow().reason());
        let written = stage.into_inner().written()?;
        played.map(|()| written)
    }
}

#[cfg(test)]
mod tests;
