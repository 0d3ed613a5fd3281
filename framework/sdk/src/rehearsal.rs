//! Plans without a host, for a plugin's own tests: what a schedule says, with every rule written out. Whether it is right is for `swapmeet check`.

use crate::collective::Collective;
use crate::export::Algorithm;
use crate::problem::Problem;
use crate::schedule::{Schedule, Stop};
use std::cell::RefCell;
use std::ffi::c_void;
use swapmeet_abi::{
    SWM_AXES, SWM_BITS, SWM_COPY, SWM_ERROR, SWM_HAND, SWM_LOCAL, SWM_NAMED, SWM_NODE, SWM_OK, SWM_RANGE, SWM_STRICT,
    SwmAmount, SwmAxis, SwmDeal, SwmHost, SwmLayout, SwmParam, SwmProblem, SwmSend, SwmSet, SwmStr, SwmTopology,
};

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

/// What a plugin may ask for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    block_bytes: u64,
    ports: u64,
    virtual_channels: u64,
}

/// A step of a rehearsed schedule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RehearsedStep {
    /// The phase it is in; empty if the schedule names none.
    pub phase: String,
    /// Its sends, in order.
    pub sends: Vec<RehearsedSend>,
}

/// A send of a rehearsed schedule; nodes are those of the schedule's grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RehearsedSend {
    /// The sender.
    pub from: u64,
    /// The receiver.
    pub to: u64,
    /// The origins of the blocks it is about, in order.
    pub origins: Vec<u64>,
    /// Their destinations, in order.
    pub destinations: Vec<u64>,
    /// Whether the sender keeps what it sends.
    pub copies: bool,
    /// Whether every block must be held.
    pub is_strict: bool,
    /// Whether sender and receiver may be the same.
    pub is_local: bool,
    /// Which parts of each block, in order; 0 alone where blocks are whole.
    pub parts: Vec<u64>,
    /// The way it should go; empty for the topology's own.
    pub route: RehearsedRoute,
    /// Which hand of what the sender has dealt, in a schedule of amounts.
    pub hand: Option<u64>,
    /// The bytes it names, in a schedule of amounts.
    pub amounts: Vec<SwmAmount>,
}

/// The way a message should go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RehearsedRoute {
    /// For each dimension 1, -1 or 0.
    pub signs: Vec<i8>,
    /// The order of the dimensions, where one is given.
    pub order: Vec<u32>,
    /// The nodes passed through.
    pub path: Vec<u64>,
}

/// All that a plan said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rehearsed {
    /// Its steps.
    pub steps: Vec<RehearsedStep>,
    /// Nodes placed: node of the schedule's grid, node of the machine, whether it has blocks of its own.
    pub placements: Vec<(u64, u64, bool)>,
    /// Lines for the log.
    pub log: Vec<String>,
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
        let stage = RefCell::new(Stage {
            asked: self.asked,
            to: self.to.clone(),
            machine: nodes,
            radices: self.dims.clone(),
            parts: 1,
            phase: String::new(),
            all: Rehearsed::default(),
            wrong: None,
        });
        let host = SwmHost {
            size: size_of::<SwmHost>() as u32,
            reserved: 0,
            ctx: (&raw const stage).cast_mut().cast(),
            fail: None,
            log: Some(log),
            block_bytes: Some(block_bytes),
            pair_bytes: Some(pair_bytes),
            ports: Some(ports),
            virtual_channels: Some(virtual_channels),
            layout: Some(layout),
            place: Some(place),
            phase: Some(phase),
            step: Some(step),
            send: Some(send),
            rearrange: Some(rearrange),
            element_bytes: Some(element_bytes),
            deal: Some(deal),
            destination: Some(destination),
        };
        // SAFETY: problem and topology say their sizes, and outlive the schedule.
        let made = unsafe { Problem::read(&raw const problem, &host) }.and_then(|problem| {
            algorithm.supports(&problem)?;
            algorithm.plan(&problem, &mut Schedule::new(&host))
        });
        let stage = stage.into_inner();
        match stage.wrong {
            Some(why) => Err(Stop::failed(why)),
            None => made.map(|()| stage.all),
        }
    }
}

/// Where a rehearsal is written down.
struct Stage {
    asked: Asked,
    to: Vec<u64>,
    machine: u64,
    radices: Vec<u64>,
    parts: u64,
    phase: String,
    all: Rehearsed,
    wrong: Option<String>,
}

impl Stage {
    /// Nodes of the schedule's grid.
    fn grid(&self) -> u64 {
        self.radices.iter().fold(1, |all, radix| all.saturating_mul(*radix))
    }

    /// What no host would take; `None` if it is all right as far as can be told here.
    fn wrong_with(&self, send: &SwmSend) -> Option<String> {
        let (from, to, grid) = (send.from, send.to, self.grid());
        if self.all.steps.is_empty() {
            return Some("the schedule sends before its first step".to_owned());
        }
        if from >= grid || to >= grid {
            return Some(format!("the send from {from} to {to} is outside the schedule's grid of {grid} nodes"));
        }
        (from == to && send.flags & SWM_LOCAL == 0)
            .then(|| format!("node {from} sends to itself, which is no message (mark a local copy as such)"))
    }

    fn refuse(&mut self, why: String) -> i32 {
        self.wrong.get_or_insert(why);
        SWM_ERROR
    }

    /// The nodes of a set, in order; `Err` says why it is none of this grid.
    fn nodes(&self, set: &SwmSet) -> Result<Vec<u64>, &'static str> {
        let count = self.grid();
        match set.kind {
            SWM_NODE if set.node >= count => Err(OUTSIDE),
            SWM_NODE => Ok(vec![set.node]),
            SWM_AXES => {
                if set.axis_count as usize != self.radices.len() {
                    return Err(OUTSIDE);
                }
                // SAFETY: a set of this kind has `axis_count` axes behind its pointer for the length of the call.
                let axes = unsafe { std::slice::from_raw_parts(set.axes, self.radices.len()) };
                let mut nodes = vec![0];
                for (axis, radix) in axes.iter().zip(&self.radices) {
                    let coordinates = coordinates(axis, *radix)?;
                    nodes = nodes.iter().flat_map(|n| coordinates.iter().map(move |c| n * radix + c)).collect();
                }
                Ok(nodes)
            }
            _ => Ok((0..count).collect()),
        }
    }
}

const OUTSIDE: &str = "outside the grid";

/// The coordinates of an axis's subset, in order; `Err` says why it doesn't fit the axis.
fn coordinates(axis: &SwmAxis, radix: u64) -> Result<Vec<u64>, &'static str> {
    let (first, stride, count) = (u64::from(axis.first), u64::from(axis.stride), u64::from(axis.count));
    let mut coordinates: Vec<u64> = match axis.kind {
        SWM_RANGE if first >= radix || count > radix => return Err(OUTSIDE),
        SWM_RANGE => (0..count).map(|i| (first + i * stride) % radix).collect(),
        SWM_BITS => {
            // SAFETY: an axis of this kind has `count` words behind its pointer for the length of the call.
            let words = unsafe { std::slice::from_raw_parts(axis.words, axis.count as usize) };
            let is_set = |c: &u64| words.get((c / 64) as usize).is_some_and(|word| word >> (c % 64) & 1 == 1);
            (0..radix).filter(is_set).collect()
        }
        _ => (0..radix).collect(),
    };
    coordinates.sort_unstable();
    let twice = coordinates.windows(2).any(|pair| pair[0] == pair[1]);
    if twice { Err("that names a coordinate twice") } else { Ok(coordinates) }
}

/// Lends the stage behind a context to `work`.
///
/// # Safety
/// `ctx` must be that of the host made in [`Rehearsal::plan`], during that call.
unsafe fn on_stage<T>(ctx: *mut c_void, work: impl FnOnce(&mut Stage) -> T) -> T {
    // SAFETY: the caller promises that this is the stage of a rehearsal under way, which is one thread's.
    let stage = unsafe { &*ctx.cast::<RefCell<Stage>>() };
    work(&mut stage.borrow_mut())
}

unsafe extern "C" fn block_bytes(ctx: *mut c_void) -> u64 {
    // SAFETY: called through the host of a rehearsal under way.
    unsafe { on_stage(ctx, |stage| stage.asked.block_bytes) }
}

unsafe extern "C" fn pair_bytes(ctx: *mut c_void, _: u64, _: u64) -> u64 {
    // SAFETY: as above.
    unsafe { on_stage(ctx, |stage| stage.asked.block_bytes) }
}

unsafe extern "C" fn destination(ctx: *mut c_void, from: u64) -> u64 {
    // SAFETY: as above.
    unsafe { on_stage(ctx, |stage| stage.to.get(from as usize).copied().unwrap_or(from)) }
}

unsafe extern "C" fn ports(ctx: *mut c_void) -> u64 {
    // SAFETY: as above.
    unsafe { on_stage(ctx, |stage| stage.asked.ports) }
}

unsafe extern "C" fn virtual_channels(ctx: *mut c_void) -> u64 {
    // SAFETY: as above.
    unsafe { on_stage(ctx, |stage| stage.asked.virtual_channels) }
}

unsafe extern "C" fn layout(ctx: *mut c_void, layout: *const SwmLayout) -> i32 {
    // SAFETY: as above; the layout and its radices are valid for the length of the call.
    unsafe {
        let layout = &*layout;
        on_stage(ctx, |stage| {
            if !stage.all.steps.is_empty() || !stage.all.placements.is_empty() {
                return stage.refuse("the schedule sets its grid after its first step or placement".to_owned());
            }
            if layout.axis_count > 0 && !layout.radices.is_null() {
                stage.radices = std::slice::from_raw_parts(layout.radices, layout.axis_count as usize).to_vec();
            }
            stage.parts = u64::from(layout.parts).max(1);
            SWM_OK
        })
    }
}

unsafe extern "C" fn element_bytes(_: *mut c_void) -> u64 {
    1
}

/// What comes of a deal is for a host to find out.
unsafe extern "C" fn deal(_: *mut c_void, _: *const SwmDeal) -> i32 {
    SWM_OK
}

unsafe extern "C" fn place(ctx: *mut c_void, logical: u64, real: u64, owner: u32) -> i32 {
    // SAFETY: as above.
    unsafe {
        on_stage(ctx, |stage| {
            let (grid, machine) = (stage.grid(), stage.machine);
            if logical >= grid || real >= machine {
                return stage.refuse(format!(
                    "node {logical} of a grid of {grid} can't be placed on node {real} of a machine of {machine}"
                ));
            }
            stage.all.placements.push((logical, real, owner != 0));
            SWM_OK
        })
    }
}

unsafe extern "C" fn log(ctx: *mut c_void, _: u32, line: SwmStr) {
    // SAFETY: as above; the line is valid for the length of the call.
    unsafe {
        let line = String::from_utf8_lossy(line.bytes()).into_owned();
        on_stage(ctx, |stage| stage.all.log.push(line));
    }
}

unsafe extern "C" fn phase(ctx: *mut c_void, name: SwmStr) -> i32 {
    // SAFETY: as above; the name is valid for the length of the call.
    unsafe {
        let name = String::from_utf8_lossy(name.bytes()).into_owned();
        on_stage(ctx, |stage| stage.phase = name);
    }
    SWM_OK
}

unsafe extern "C" fn step(ctx: *mut c_void) -> i32 {
    // SAFETY: as above.
    unsafe {
        on_stage(ctx, |stage| {
            let (grid, machine) = (stage.grid(), stage.machine);
            let placed: std::collections::BTreeSet<u64> = stage.all.placements.iter().map(|(node, ..)| *node).collect();
            if stage.all.steps.is_empty() && grid != machine && (placed.len() as u64) < grid {
                return stage.refuse(format!(
                    "the schedule's grid has {grid} nodes and the machine {machine}: every node must be placed"
                ));
            }
            let phase = stage.phase.clone();
            stage.all.steps.push(RehearsedStep { phase, sends: Vec::new() });
            SWM_OK
        })
    }
}

unsafe extern "C" fn send(ctx: *mut c_void, send: *const SwmSend) -> i32 {
    // SAFETY: as above; the send and all it points to are valid for the length of the call.
    unsafe {
        let send = &*send;
        on_stage(ctx, |stage| {
            if let Some(why) = stage.wrong_with(send) {
                return stage.refuse(why);
            }
            let (from, to) = (send.from, send.to);
            let sets = stage.nodes(&send.origins).and_then(|origins| {
                Ok((origins, stage.nodes(&send.destinations)?, coordinates(&send.parts, stage.parts)?))
            });
            let (origins, destinations, parts) = match sets {
                Ok(sets) => sets,
                Err(why) => return stage.refuse(format!("the send from {from} to {to} has a set {why}")),
            };
            let has = |flag: u32| send.flags & flag != 0;
            let written = RehearsedSend {
                from,
                to,
                origins,
                destinations,
                copies: has(SWM_COPY),
                is_strict: has(SWM_STRICT),
                is_local: has(SWM_LOCAL),
                parts,
                route: route(send),
                hand: has(SWM_HAND).then_some(send.hand),
                amounts: if has(SWM_NAMED) { list(send.amounts, send.amount_count as usize) } else { Vec::new() },
            };
            if let Some(step) = stage.all.steps.last_mut() {
                step.sends.push(written);
            }
            SWM_OK
        })
    }
}

/// # Safety
/// The send's route must be null or point to a route whose pointers are null or readable for the counts beside them.
unsafe fn route(send: &SwmSend) -> RehearsedRoute {
    // SAFETY: the caller promises a route, or null.
    unsafe {
        let Some(route) = send.route.as_ref() else { return RehearsedRoute::default() };
        RehearsedRoute {
            signs: list(route.signs, route.dim_count as usize),
            order: list(route.order, route.dim_count as usize),
            path: list(route.path, route.path_len as usize),
        }
    }
}

/// # Safety
/// `ptr` must be null or point to `len` readable values.
unsafe fn list<T: Copy>(ptr: *const T, len: usize) -> Vec<T> {
    // SAFETY: the caller promises what is needed.
    if ptr.is_null() { Vec::new() } else { unsafe { std::slice::from_raw_parts(ptr, len) }.to_vec() }
}

unsafe extern "C" fn rearrange(_: *mut c_void) -> i32 {
    SWM_OK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{About, Amount, Axis, Route, Send, Set};

    /// Does one thing.
    struct Once(fn(&Problem<'_>, &mut Schedule<'_>) -> Result<(), Stop>);

    impl Algorithm for Once {
        fn about(&self) -> About {
            About { name: "once", ..About::DEFAULT }
        }

        fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
            self.0(problem, schedule)
        }
    }

    #[test]
    fn products_ranges_and_bits_are_written_out_in_order() {
        let plan = Once(|_, schedule| {
            schedule.layout(&[2, 5], 2)?;
            schedule.phase("only")?;
            schedule.step()?;
            let axes = [Axis::ALL, Axis::range(4, 2)];
            schedule.send(&Send::new(0, 1).destinations(Set::product(&axes)).copy())?;
            let axes = [Axis::one(1), Axis::bits(&[0b10010])];
            schedule.send(&Send::new(0, 1).origins(Set::product(&axes)).strict())
        });
        let steps = Rehearsal::on("mesh", &[10]).plan(&plan).unwrap();
        let [first, second] = &steps[0].sends[..] else { panic!("{steps:?}") };
        assert_eq!((steps[0].phase.as_str(), &first.destinations[..], first.copies), ("only", &[0, 4, 5, 9][..], true));
        assert_eq!((&first.parts[..], first.is_local, &second.parts[..]), (&[0, 1][..], false, &[0, 1][..]));
        assert_eq!((&second.origins[..], second.destinations.len(), second.is_strict), (&[6, 9][..], 10, true));
    }

    #[test]
    fn what_is_asked_for_is_what_was_set() {
        let plan = Once(|problem, _| {
            assert_eq!((problem.block_bytes(), problem.ports(), problem.root()), (64, u64::MAX, 2));
            assert_eq!((problem.collective(), problem.param("k", 0_u64)?), (Collective::Scatter, 7));
            assert_eq!((problem.topology().spec(), problem.topology().dims()), ("torus:2x3", &[2, 3][..]));
            Err(Stop::unsupported("enough"))
        });
        let problem = Rehearsal::on("torus", &[2, 3]).collective(Collective::Scatter, 2).param("k", "7");
        let stop = problem.block_bytes(64).ports(u64::MAX).plan(&plan).unwrap_err();
        assert_eq!(stop, Stop::unsupported("enough"));
    }

    #[test]
    fn what_no_host_would_take_is_refused() {
        let refused = |plan| Rehearsal::on("ring", &[4]).plan(&Once(plan)).unwrap_err().to_string();
        assert_eq!(refused(|_, schedule| schedule.send(&Send::new(0, 1))), "the schedule sends before its first step");
        let outside = refused(|_, schedule| {
            schedule.step()?;
            schedule.send(&Send::new(0, 1).destinations(Set::one(4)))
        });
        assert_eq!(outside, "the send from 0 to 1 has a set outside the grid");
        let far = refused(|_, schedule| {
            schedule.step()?;
            schedule.send(&Send::new(0, 99))
        });
        assert_eq!(far, "the send from 0 to 99 is outside the schedule's grid of 4 nodes");
        let itself = refused(|_, schedule| {
            schedule.step()?;
            schedule.send(&Send::new(1, 1).local())?;
            schedule.send(&Send::new(1, 1))
        });
        assert_eq!(itself, "node 1 sends to itself, which is no message (mark a local copy as such)");
        let late = refused(|_, schedule| {
            schedule.step()?;
            schedule.layout(&[2, 2], 1)
        });
        assert_eq!(late, "the schedule sets its grid after its first step or placement");
        let unplaced = refused(|_, schedule| {
            schedule.layout(&[5], 1)?;
            schedule.step()
        });
        assert_eq!(unplaced, "the schedule's grid has 5 nodes and the machine 4: every node must be placed");
        let nowhere = refused(|_, schedule| schedule.place(0, 4, true));
        assert_eq!(nowhere, "node 0 of a grid of 4 can't be placed on node 4 of a machine of 4");
        let twice = refused(|_, schedule| {
            schedule.step()?;
            schedule.send(&Send::new(0, 1).destinations(Set::product(&[Axis::stride(0, 2, 3)])))
        });
        assert_eq!(twice, "the send from 0 to 1 has a set that names a coordinate twice");
    }

    #[test]
    fn routes_amounts_placements_and_lines_for_the_log_are_written_down() {
        let plan = Once(|problem, schedule| {
            problem.log("two nodes on each");
            schedule.layout(&[4], 1)?;
            (0..4).try_for_each(|node| schedule.place(node, node / 2, node % 2 == 0))?;
            schedule.step()?;
            schedule.log("a step");
            schedule.send(&Send::new(0, 2).route(&Route::path(&[1])).amounts(&[Amount { destination: 1, bytes: 8 }]))
        });
        let all = Rehearsal::on("ring", &[2]).rehearse(&plan).unwrap();
        assert_eq!(all.placements, [(0, 0, true), (1, 0, false), (2, 1, true), (3, 1, false)]);
        assert_eq!(all.log, ["two nodes on each", "a step"]);
        let send = &all.steps[0].sends[0];
        assert_eq!((&send.route.path[..], send.route.signs.len()), (&[1][..], 0));
        assert_eq!(send.amounts, [Amount { destination: 1, bytes: 8 }]);
    }
}
