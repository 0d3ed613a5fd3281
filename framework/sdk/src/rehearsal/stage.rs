//! The host's side of a rehearsal: what a plugin calls is written down, and refused where no host would take it.

use super::record::{Asked, Rehearsed, RehearsedRoute, RehearsedSend, RehearsedStep};
use crate::schedule::Stop;
use std::cell::RefCell;
use std::ffi::c_void;
use swapmeet_abi::{
    SWM_AXES, SWM_BITS, SWM_BUCKET, SWM_COPY, SWM_ERROR, SWM_LISTED, SWM_LOCAL, SWM_NODE, SWM_OK, SWM_RANGE,
    SWM_STRICT, SwmAxis, SwmHost, SwmLayout, SwmRedistribution, SwmSend, SwmSet, SwmStr,
};

/// Where a rehearsal is written down.
pub(super) struct Stage {
    asked: Asked,
    to: Vec<u64>,
    machine: u64,
    radices: Vec<u64>,
    segments: u64,
    phase: String,
    all: Rehearsed,
    wrong: Option<String>,
}

impl Stage {
    /// Nothing written down yet.
    pub fn new(asked: Asked, to: Vec<u64>, dims: Vec<u64>) -> Self {
        Self {
            asked,
            to,
            machine: dims.iter().product(),
            radices: dims,
            segments: 1,
            phase: String::new(),
            all: Rehearsed::default(),
            wrong: None,
        }
    }

    /// What was written down, if no host would have refused it.
    pub fn written(self) -> Result<Rehearsed, Stop> {
        self.wrong.map_or(Ok(self.all), |why| Err(Stop::failed(why)))
    }

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

/// The functions that a plugin calls; they write to `stage`, which must outlive the table.
pub(super) fn host(stage: &RefCell<Stage>) -> SwmHost {
    SwmHost {
        size: size_of::<SwmHost>() as u32,
        reserved: 0,
        ctx: std::ptr::from_ref(stage).cast_mut().cast(),
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
        redistribute: Some(redistribute),
        destination: Some(destination),
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
            stage.segments = u64::from(layout.segments).max(1);
            SWM_OK
        })
    }
}

unsafe extern "C" fn element_bytes(_: *mut c_void) -> u64 {
    1
}

/// What comes of a redistribution is for a host to find out.
unsafe extern "C" fn redistribute(_: *mut c_void, _: *const SwmRedistribution) -> i32 {
    SWM_OK
}

unsafe extern "C" fn place(ctx: *mut c_void, virtual_node: u64, physical: u64, home: u32) -> i32 {
    // SAFETY: as above.
    unsafe {
        on_stage(ctx, |stage| {
            let (grid, machine) = (stage.grid(), stage.machine);
            if virtual_node >= grid || physical >= machine {
                return stage.refuse(format!(
                    "node {virtual_node} of a grid of {grid} can't be placed on node {physical} of a machine of {machine}"
                ));
            }
            stage.all.placements.push((virtual_node, physical, home != 0));
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
                Ok((origins, stage.nodes(&send.destinations)?, coordinates(&send.segments, stage.segments)?))
            });
            let (origins, destinations, segments) = match sets {
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
                segments,
                route: route(send),
                bucket: has(SWM_BUCKET).then_some(send.bucket),
                byte_counts: if has(SWM_LISTED) {
                    list(send.byte_counts, send.byte_counts_len as usize)
                } else {
                    Vec::new()
                },
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
