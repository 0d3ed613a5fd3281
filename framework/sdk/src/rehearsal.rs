//! Planning without the Swapmeet program, for a plugin's own tests. A rehearsal returns the
//! schedule with every set written out as a list of nodes, and checks it.

use crate::collective::Collective;
use crate::export::Algorithm;
use crate::problem::{Problem, TokenClass};
use crate::schedule::Schedule;
use crate::stop::Stop;
use follow::{Goal, follow};
use record::Settings;
use recorder::Recorder;
use swapmeet_abi::hosting::{self, Passed};
use swapmeet_abi::{SWM_INVALID, SWM_OK, SWM_STOPPED, SWM_UNSUPPORTED, SwmAlgorithm};

mod follow;
mod orbits;
mod record;
mod recorder;

pub use follow::{Disproof, Proved};
pub use record::{
    Rehearsed, RehearsedRedistribution, RehearsedRoute, RehearsedSend, RehearsedStep,
};

/// A problem to test an algorithm on: by default an all-to-all with blocks of one byte, on a
/// machine with a port limit of one.
///
/// ```
/// use swapmeet_sdk::{About, Algorithm, Blocks, Problem, Rehearsal, Schedule, Set, Stop};
///
/// /// Straight to the destination, one distance per step, up to the distance `longest`.
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
    /// For a dual-net: the family and the sides of its base, and the number of levels.
    base: Option<(String, Vec<u64>, u64)>,
    collective: Collective,
    root: u64,
    permutation: String,
    receivers: Vec<u64>,
    params: Vec<(String, String)>,
    settings: Settings,
    by_orbits: Option<usize>,
}

impl Rehearsal {
    /// Makes a rehearsal on a topology of the family `kind` with the sides `dims`, such as
    /// `("torus", &[4, 8])`. The topology should be small, because every set is written as a list
    /// of nodes.
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
            receivers: Vec::new(),
            params: Vec::new(),
            settings: Settings {
                block_bytes: 1,
                sizes: Vec::new(),
                tokens: Vec::new(),
                ports: 1,
                virtual_channels: 1,
                shares_routes: false,
                element_bytes: 1,
                nodes: dims.iter().product(),
                links: links_of(kind, dims),
                reducing: Vec::new(),
                skip_empty: false,
                times_us: [0.0; 3],
            },
            by_orbits: None,
        }
    }

    /// Makes a rehearsal on a recursive dual-net of these levels over the base `kind` with sides
    /// `dims`.
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

    /// Sets the collective instead of an all-to-all. Collectives without a root ignore `root`.
    #[must_use]
    pub fn collective(mut self, collective: Collective, root: u64) -> Self {
        (self.collective, self.root) = (collective, root);
        self
    }

    /// Makes the collective a permutation with this name and this receiver of each node's block.
    #[must_use]
    pub fn permutation(mut self, name: &str, to: &[u64]) -> Self {
        (self.collective, self.permutation, self.receivers) =
            (Collective::Permutation, name.to_owned(), to.to_vec());
        self
    }

    /// Sets the directed links of the network. For each link, the list has the vertex where it
    /// starts, the vertex where it ends, and its bandwidth divided by that of the machine. Vertices
    /// from the number of nodes on are switches. By default, rings, tori, meshes, hypercubes and
    /// fully connected networks have the links of their family, and other networks have none.
    #[must_use]
    pub fn links(mut self, links: &[(u64, u64, f64)]) -> Self {
        self.settings.links = links.to_vec();
        self
    }

    /// Sets the switches that can add and copy data, as vertices. By default there are none.
    #[must_use]
    pub fn reducing(mut self, switches: &[u64]) -> Self {
        self.settings.reducing = switches.to_vec();
        self
    }

    /// Adds a parameter as if a user had given it in the spec.
    #[must_use]
    pub fn param(mut self, key: &str, value: &str) -> Self {
        self.params.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Sets the size of every block in bytes.
    #[must_use]
    pub fn block_bytes(mut self, bytes: u64) -> Self {
        self.settings.block_bytes = bytes;
        self
    }

    /// Sets different block sizes: one row for each sender, with the bytes for each receiver.
    #[must_use]
    pub fn sizes(mut self, rows: &[Vec<u64>]) -> Self {
        self.settings.block_bytes = rows.iter().flatten().copied().max().unwrap_or(0);
        self.settings.sizes = rows.to_vec();
        self
    }

    /// Makes the collective a dispatch or a combine of these tokens: for each node, the classes of
    /// its tokens (those with the same receivers).
    #[must_use]
    pub fn tokens(self, collective: Collective, tokens: &[Vec<TokenClass>]) -> Self {
        let nodes = self.settings.nodes as usize;
        let mut sizes = vec![vec![0; nodes]; nodes];
        for (node, classes) in tokens.iter().enumerate() {
            for class in classes {
                for receiver in class.receivers.iter().map(|receiver| *receiver as usize) {
                    let (from, to) = match collective {
                        Collective::Combine => (receiver, node),
                        _ => (node, receiver),
                    };
                    sizes[from][to] += class.bytes;
                }
            }
        }
        let mut problem = self.sizes(&sizes).collective(collective, 0);
        problem.settings.tokens = tokens.to_vec();
        problem
    }

    /// Sets the bytes of an element. A redistribution moves whole elements.
    #[must_use]
    pub fn element_bytes(mut self, bytes: u64) -> Self {
        self.settings.element_bytes = bytes;
        self
    }

    /// Leaves messages without bytes out of the counts of [`Rehearsal::verify`] (`empty=skip`).
    #[must_use]
    pub fn skip_empty(mut self) -> Self {
        self.settings.skip_empty = true;
        self
    }

    /// Sets the port limit of the machine ([`Problem::ports`]). `u64::MAX` means all links of a
    /// node.
    #[must_use]
    pub fn ports(mut self, ports: u64) -> Self {
        self.settings.ports = ports;
        self
    }

    /// Sets the number of circuits that a directed link carries at the same time.
    #[must_use]
    pub fn virtual_channels(mut self, circuits: u64) -> Self {
        self.settings.virtual_channels = circuits;
        self
    }

    /// Makes [`Problem::shares_routes`] return true, as on machines of most models.
    #[must_use]
    pub fn shares_routes(mut self) -> Self {
        self.settings.shares_routes = true;
        self
    }

    /// Sets the machine's times in microseconds for each message, for each link of a route and for
    /// each byte, which are 0 by default.
    #[must_use]
    pub fn prices(mut self, startup_us: f64, hop_us: f64, byte_us: f64) -> Self {
        self.settings.times_us = [startup_us, hop_us, byte_us];
        self
    }

    /// If the schedule declares a symmetry ([`Schedule::symmetric`]), plans only one node of each
    /// orbit (the nodes to which the symmetries map a node), and derives all other sends from those
    /// of this node. If the declaration is correct, the schedule has the sends of a full plan, in
    /// another order. [`Rehearsal::verify_symmetry`] checks this.
    #[must_use]
    pub fn by_orbits(mut self) -> Self {
        self.by_orbits = Some(0);
        self
    }

    /// Calls `supports` and `plan`, and returns the steps of the schedule, or the error of the
    /// algorithm. If the plan makes a call that the host would refuse, the error is
    /// [`Stop::Failed`]. Such calls are a send before the first step, to the sender itself or
    /// outside of the grid, a set that does not fit the grid, a layout after the first step, or a
    /// grid whose nodes are not placed.
    pub fn plan(&self, algorithm: &dyn Algorithm) -> Result<Vec<RehearsedStep>, Stop> {
        self.rehearse(algorithm).map(|schedule| schedule.steps)
    }

    /// Plans as [`Rehearsal::plan`] does, but returns everything that the schedule contains.
    pub fn rehearse(&self, algorithm: &dyn Algorithm) -> Result<Rehearsed, Stop> {
        self.record(|problem, recorder| {
            let host = hosting::table(recorder);
            problem.with_raw(|problem| {
                // SAFETY: problem and topology state their sizes, and outlive the schedule.
                let problem = unsafe { Problem::read(problem, &host, algorithm.about().params) }?;
                algorithm.supports(&problem)?;
                algorithm.plan(&problem, &mut Schedule::new(&host, problem.topology().dims()))
            })
        })
    }

    /// Follows every block of the schedule, or every byte in a schedule of byte counts, and checks
    /// that all of them arrive at their destinations. Returns the first fault, or the error of
    /// [`Rehearsal::plan`]. `swapmeet check` also checks routes and the messages that share a link.
    pub fn verify(&self, algorithm: &dyn Algorithm) -> Result<Proved, Disproof> {
        self.rehearse(algorithm)
            .map_err(Disproof::Stopped)
            .and_then(|schedule| self.follow(&schedule))
    }

    /// Plans one node of each orbit, derives the other sends from the declared symmetry, and
    /// compares all sends with those of a full plan. It does this three times, with the first, the
    /// second and the last node of each orbit. The error is that of [`Rehearsal::plan`], or the
    /// first send that only one of the two schedules has.
    pub fn verify_symmetry(&self, algorithm: &dyn Algorithm) -> Result<(), Disproof> {
        let rehearsed = |how: Self| how.rehearse(algorithm).map_err(Disproof::Stopped);
        let full_plan = rehearsed(Self { by_orbits: None, ..self.clone() })?;
        [0, 1, usize::MAX].into_iter().try_for_each(|element| {
            let by_orbits = rehearsed(Self { by_orbits: Some(element), ..self.clone() })?;
            orbits::compare(&by_orbits, &full_plan)
        })
    }

    /// Verifies as [`Rehearsal::verify`] does, for an algorithm in any language.
    ///
    /// # Safety
    ///
    /// `algorithm` must point to an algorithm's table in a loaded plugin.
    #[doc(hidden)]
    pub unsafe fn verify_table(&self, algorithm: *const SwmAlgorithm) -> Result<Proved, Disproof> {
        // SAFETY: the caller guarantees that this is an algorithm's table.
        let recorded = unsafe { self.rehearse_table(algorithm) };
        recorded.map_err(Disproof::Stopped).and_then(|schedule| self.follow(&schedule))
    }

    /// Rehearses as [`Rehearsal::rehearse`] does, for an algorithm in any language.
    ///
    /// # Safety
    ///
    /// `algorithm` must point to an algorithm's table in a loaded plugin.
    #[doc(hidden)]
    pub unsafe fn rehearse_table(&self, algorithm: *const SwmAlgorithm) -> Result<Rehearsed, Stop> {
        // SAFETY: the caller guarantees that this is an algorithm's table.
        let functions = unsafe { Passed::new(algorithm) }.functions();
        let functions = functions.ok_or_else(|| Stop::failed("the algorithm has no `plan`"))?;
        self.record(|problem, recorder| {
            let mut code = functions.supports(problem, recorder).unwrap_or(SWM_OK);
            if code == SWM_OK {
                code = functions.plan(problem, recorder);
            }
            let reason = recorder.reason.clone();
            match code {
                SWM_OK => Ok(()),
                SWM_UNSUPPORTED => Err(Stop::Unsupported(reason)),
                SWM_STOPPED => Err(Stop::Stopped),
                SWM_INVALID => Err(Stop::Invalid(reason)),
                _ => Err(Stop::Failed(reason)),
            }
        })
    }

    fn follow(&self, schedule: &Rehearsed) -> Result<Proved, Disproof> {
        let goal = Goal {
            collective: self.collective,
            root: self.root,
            receivers: &self.receivers,
            nodes: self.dims.iter().product(),
            settings: &self.settings,
        };
        follow(&goal, schedule)
    }

    fn record(
        &self,
        plan: impl FnOnce(&hosting::Problem<'_>, &mut Recorder) -> Result<(), Stop>,
    ) -> Result<Rehearsed, Stop> {
        let base = self.base.as_ref().map(|(kind, dims, levels)| (Self::on(kind, dims), *levels));
        let problem = hosting::Problem {
            collective: self.collective.code(),
            network: self.network(),
            base: base.as_ref().map(|(base, levels)| (base.network(), *levels)),
            root: self.root,
            params: &self.params,
            permutation: Some(&self.permutation),
        };
        let mut recorder = Recorder::new(
            self.settings.clone(),
            (self.collective, self.root),
            self.receivers.clone(),
            &self.dims,
            self.by_orbits,
        );
        let planned = plan(&problem, &mut recorder);
        let schedule = recorder.schedule()?;
        planned.map(|()| schedule)
    }

    fn network(&self) -> hosting::Network<'_> {
        hosting::Network {
            kind: &self.kind,
            spec: &self.spec,
            nodes: self.dims.iter().product(),
            dims: &self.dims,
        }
    }
}

fn links_of(kind: &str, dims: &[u64]) -> Vec<(u64, u64, f64)> {
    let nodes: u64 = dims.iter().product();
    let mut links = Vec::new();
    for node in 0..nodes {
        match kind {
            "fully-connected" => {
                links.extend((0..nodes).filter(|to| *to != node).map(|to| (node, to, 1.0)));
            }
            "ring" | "torus" | "mesh" | "hypercube" => {
                let mut stride = 1;
                for &side in dims.iter().rev() {
                    let (at, line) = (node / stride % side, node - node / stride % side * stride);
                    let ahead = (at + 1 < side || kind != "mesh").then_some((at + 1) % side);
                    let behind = (at > 0 || kind != "mesh").then_some((at + side - 1) % side);
                    // On a line of two nodes, both directions use the same link.
                    let behind = behind.filter(|_| side > 2 || ahead.is_none());
                    let ends = ahead.into_iter().chain(behind).filter(|to| *to != at);
                    links.extend(ends.map(|to| (node, line + to * stride, 1.0)));
                    stride *= side;
                }
            }
            _ => {}
        }
    }
    links
}

#[cfg(test)]
mod tests;
