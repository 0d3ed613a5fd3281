//! Plans without a host, for a plugin's own tests: what a schedule says, with every rule written out. Whether it is right is for `swapmeet check`.

use crate::collective::Collective;
use crate::export::Algorithm;
use crate::problem::Problem;
use crate::schedule::{Schedule, Stop};
use std::cell::RefCell;
use std::ffi::c_void;
use swapmeet_abi::{
    SWM_AXES, SWM_BITS, SWM_COPY, SWM_ERROR, SWM_HAND, SWM_NODE, SWM_OK, SWM_RANGE, SWM_STRICT, SwmAxis, SwmDeal,
    SwmHost, SwmLayout, SwmParam, SwmProblem, SwmSend, SwmSet, SwmStr, SwmTopology,
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
    /// Which hand of what the sender has dealt, in a schedule of amounts.
    pub hand: Option<u64>,
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
    /// What the algorithm says; [`Stop::Failed`] where it sends before a first step, or names nodes outside its grid.
    pub fn plan(&self, algorithm: &dyn Algorithm) -> Result<Vec<RehearsedStep>, Stop> {
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
            radices: self.dims.clone(),
            phase: String::new(),
            steps: Vec::new(),
            wrong: None,
        });
        let host = SwmHost {
            size: size_of::<SwmHost>() as u32,
            reserved: 0,
            ctx: (&raw const stage).cast_mut().cast(),
            fail: None,
            log: None,
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
            None => made.map(|()| stage.steps),
        }
    }
}

/// Where a rehearsal is written down.
struct Stage {
    asked: Asked,
    to: Vec<u64>,
    radices: Vec<u64>,
    phase: String,
    steps: Vec<RehearsedStep>,
    wrong: Option<String>,
}

impl Stage {
    fn refuse(&mut self, why: String) -> i32 {
        self.wrong.get_or_insert(why);
        SWM_ERROR
    }

    /// The nodes of a set, in order; `None` if it is not of this grid.
    fn nodes(&self, set: &SwmSet) -> Option<Vec<u64>> {
        let count: u64 = self.radices.iter().product();
        match set.kind {
            SWM_NODE => (set.node < count).then(|| vec![set.node]),
            SWM_AXES => {
                if set.axis_count as usize != self.radices.len() {
                    return None;
                }
                // SAFETY: a set of this kind has `axis_count` axes behind its pointer for the length of the call.
                let axes = unsafe { std::slice::from_raw_parts(set.axes, self.radices.len()) };
                let mut nodes = vec![0];
                for (axis, radix) in axes.iter().zip(&self.radices) {
                    let coordinates = coordinates(axis, *radix)?;
                    nodes = nodes.iter().flat_map(|n| coordinates.iter().map(move |c| n * radix + c)).collect();
                }
                Some(nodes)
            }
            _ => Some((0..count).collect()),
        }
    }
}

/// The coordinates of an axis's subset, in order; `None` if it doesn't fit the axis.
fn coordinates(axis: &SwmAxis, radix: u64) -> Option<Vec<u64>> {
    let (first, stride, count) = (u64::from(axis.first), u64::from(axis.stride), u64::from(axis.count));
    let mut coordinates: Vec<u64> = match axis.kind {
        SWM_RANGE if first >= radix || count > radix => return None,
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
    Some(coordinates)
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
        if layout.axis_count > 0 && !layout.radices.is_null() {
            let radices = std::slice::from_raw_parts(layout.radices, layout.axis_count as usize).to_vec();
            on_stage(ctx, |stage| stage.radices = radices);
        }
    }
    SWM_OK
}

unsafe extern "C" fn element_bytes(_: *mut c_void) -> u64 {
    1
}

/// What comes of a deal is for a host to find out.
unsafe extern "C" fn deal(_: *mut c_void, _: *const SwmDeal) -> i32 {
    SWM_OK
}

unsafe extern "C" fn place(_: *mut c_void, _: u64, _: u64, _: u32) -> i32 {
    SWM_OK
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
            let phase = stage.phase.clone();
            stage.steps.push(RehearsedStep { phase, sends: Vec::new() });
        });
    }
    SWM_OK
}

unsafe extern "C" fn send(ctx: *mut c_void, send: *const SwmSend) -> i32 {
    // SAFETY: as above; the send and all it points to are valid for the length of the call.
    unsafe {
        let send = &*send;
        on_stage(ctx, |stage| {
            let sets = stage.nodes(&send.origins).zip(stage.nodes(&send.destinations));
            let Some((origins, destinations)) = sets else {
                return stage.refuse(format!("the send from {} to {} has a set outside the grid", send.from, send.to));
            };
            let Some(step) = stage.steps.last_mut() else {
                return stage.refuse("the schedule sends before its first step".to_owned());
            };
            let (copies, is_strict) = (send.flags & SWM_COPY != 0, send.flags & SWM_STRICT != 0);
            let (from, to) = (send.from, send.to);
            let hand = (send.flags & SWM_HAND != 0).then_some(send.hand);
            step.sends.push(RehearsedSend { from, to, origins, destinations, copies, is_strict, hand });
            SWM_OK
        })
    }
}

unsafe extern "C" fn rearrange(_: *mut c_void) -> i32 {
    SWM_OK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{About, Axis, Send, Set};

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
            schedule.layout(&[2, 5], 1)?;
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
    }
}
