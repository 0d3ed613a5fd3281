//! The host's side of a rehearsal: what a plugin calls is written down, and refused where no host
//! would take it.

use super::orbits::Orbits;
use super::record::{
    Asked, Rehearsed, RehearsedRedistribution, RehearsedRoute, RehearsedSend, RehearsedStep,
};
use super::sets::{coordinates, nodes};
use crate::collective::Collective;
use crate::stop::Stop;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::c_void;
use swapmeet_abi::{
    SWM_ALL, SWM_BYTE_COUNTS, SWM_COMBINE, SWM_COPY, SWM_IN_PARTS, SWM_LOCAL, SWM_OK, SWM_STOPPED,
    SWM_STRICT, SwmBlocks, SwmBucket, SwmBytes, SwmHost, SwmLayout, SwmRedistribution, SwmRoute,
    SwmSet, SwmStr, SwmSymmetry,
};

/// Where a rehearsal is written down.
pub(super) struct Stage {
    asked: Asked,
    collective: Collective,
    /// In a permutation, the node that each node's block is for.
    to: Vec<u64>,
    machine: u64,
    all: Rehearsed,
    phase: String,
    /// Whether one node of each orbit is to be planned for, and the others' sends written down as
    /// its images.
    by_orbits: bool,
    orbits: Option<Orbits>,
    laid_out: bool,
    /// Whether grid and placement can no longer be changed.
    begun: bool,
    in_step: bool,
    wrong: Option<String>,
    reason: String,
}

impl Stage {
    /// Nothing written down yet.
    pub(super) fn new(
        asked: Asked,
        collective: Collective,
        to: Vec<u64>,
        dims: &[u64],
        by_orbits: bool,
    ) -> Self {
        Self {
            asked,
            collective,
            to,
            machine: dims.iter().product(),
            all: Rehearsed { radices: dims.to_vec(), segments: 1, ..Rehearsed::default() },
            phase: String::new(),
            by_orbits,
            orbits: None,
            laid_out: false,
            begun: false,
            in_step: false,
            wrong: None,
            reason: String::new(),
        }
    }

    /// What was written down, if no host would have refused it.
    pub(super) fn written(self) -> Result<Rehearsed, Stop> {
        self.wrong.map_or(Ok(self.all), |why| Err(Stop::failed(why)))
    }

    /// The reason that the plugin gave for not going on.
    pub(super) fn reason(&self) -> String {
        self.reason.clone()
    }

    /// Nodes of the schedule's grid.
    fn grid(&self) -> u64 {
        self.all.radices.iter().fold(1, |all, radix| all.saturating_mul(*radix))
    }

    /// Does something unless the schedule was refused before; what it says is why it is refused
    /// now.
    fn drive(&mut self, work: impl FnOnce(&mut Self) -> Result<(), String>) -> i32 {
        if self.wrong.is_none() {
            self.wrong = work(self).err();
        }
        if self.wrong.is_none() { SWM_OK } else { SWM_STOPPED }
    }

    fn layout(&mut self, radices: Vec<u64>, layout: &SwmLayout) -> Result<(), String> {
        if self.begun || self.laid_out || self.orbits.is_some() || !self.all.placements.is_empty() {
            return Err(
                "the schedule sets its grid twice, or after its first step or placement".to_owned()
            );
        }
        self.laid_out = true;
        if !radices.is_empty() {
            self.all.radices = radices;
        }
        self.all.segments = u64::from(layout.segments).max(1);
        self.all.moves_byte_counts = layout.flags & SWM_BYTE_COUNTS != 0;
        self.all.in_parts = layout.flags & SWM_IN_PARTS != 0;
        if self.all.in_parts && self.collective.tells_destinations() {
            return Err(
                "blocks that go to one destination each can't be laid out in parts".to_owned()
            );
        }
        if self.all.moves_byte_counts && self.collective != Collective::AllToAll {
            return Err("only an all-to-all can be done by byte counts".to_owned());
        }
        Ok(())
    }

    fn place(&mut self, node: u64, physical: u64, home: bool) -> Result<(), String> {
        let (grid, machine) = (self.grid(), self.machine);
        if self.begun || self.orbits.is_some() {
            return Err(
                "the schedule places a node after its first step, or after it said what maps it onto itself".to_owned()
            );
        }
        if node >= grid || physical >= machine {
            return Err(format!(
                "node {node} of a grid of {grid} can't be placed on node {physical} of a machine of {machine}"
            ));
        }
        self.all.placements.push((node, physical, home));
        Ok(())
    }

    /// Whom to plan for, as coordinates of each axis.
    fn symmetric(&mut self, axes: &[SwmSymmetry]) -> Result<Vec<u64>, String> {
        if self.begun || self.orbits.is_some() {
            return Err(
                "the schedule says twice, or after its first step, what maps it onto itself"
                    .to_owned(),
            );
        }
        let nodes = [self.grid()];
        let radices = if axes.len() == 1 { &nodes[..] } else { &self.all.radices };
        let orbits = self.orbits.insert(Orbits::new(radices, axes)?);
        Ok(if self.by_orbits { orbits.units() } else { radices.to_vec() })
    }

    /// Before the first step, redistribution or rearrangement: every node has its place, every
    /// machine node its home.
    fn begin(&mut self) -> Result<(), String> {
        self.in_step = false;
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let (grid, machine) = (self.grid(), self.machine);
        let placements = &self.all.placements;
        if placements.is_empty() && grid == machine {
            return Ok(());
        }
        let placed: BTreeSet<u64> = placements.iter().map(|(node, ..)| *node).collect();
        if (placed.len() as u64) < grid {
            return Err(format!(
                "the schedule's grid has {grid} nodes and the machine {machine}: every node must be placed"
            ));
        }
        let homes: BTreeSet<u64> =
            placements.iter().filter(|(.., home)| *home).map(|(_, on, _)| *on).collect();
        let count = placements.iter().filter(|(.., home)| *home).count() as u64;
        if placements.len() as u64 > grid || count != machine || homes.len() as u64 != machine {
            return Err(
                "every node has one place, and every node of the machine one home".to_owned()
            );
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), String> {
        self.begin()?;
        self.in_step = true;
        self.all.steps.push(RehearsedStep { phase: self.phase.clone(), sends: Vec::new() });
        Ok(())
    }

    /// What of a send is the same for blocks, buckets and bytes.
    fn envelope(
        &self,
        from: u64,
        to: u64,
        flags: u32,
        route: RehearsedRoute,
    ) -> Result<RehearsedSend, String> {
        let grid = self.grid();
        if !self.in_step {
            return Err(match self.all.steps.is_empty() {
                true => "the schedule sends before its first step".to_owned(),
                false => "the schedule sends between steps".to_owned(),
            });
        }
        if from >= grid || to >= grid {
            return Err(format!(
                "the send from {from} to {to} is outside the schedule's grid of {grid} nodes"
            ));
        }
        let is_local = flags & SWM_LOCAL != 0;
        if from == to && !is_local {
            return Err(format!(
                "node {from} sends to itself, which is no message (mark a local copy as such)"
            ));
        }
        Ok(RehearsedSend { from, to, is_local, route, ..RehearsedSend::default() })
    }

    /// # Safety
    /// All that the send points to must be readable.
    unsafe fn blocks(&mut self, send: &SwmBlocks) -> Result<(), String> {
        // SAFETY: promised by the caller; so below.
        let route = unsafe { route(send.route) };
        let envelope = self.envelope(send.from, send.to, send.flags, route)?;
        if self.all.moves_byte_counts {
            return Err("the schedule sends blocks, but said that it moves byte counts".to_owned());
        }
        for (side, set, tells) in [
            ("origins", &send.origins, self.collective.tells_origins()),
            (
                "destinations",
                &send.destinations,
                self.collective.tells_destinations() || self.all.in_parts,
            ),
        ] {
            if set.kind != SWM_ALL && !tells {
                return Err(format!(
                    "the send from {} to {} names {side}, which its blocks have not",
                    send.from, send.to
                ));
            }
        }
        let combines = send.flags & SWM_COMBINE != 0;
        if combines && !self.collective.sums() {
            return Err(
                "the schedule combines what it sends, in a collective that sums nothing".to_owned()
            );
        }
        let bad = |why: &str| format!("the send from {} to {} has a set {why}", send.from, send.to);
        // SAFETY: as above.
        let set = |set: &SwmSet| unsafe { nodes(&self.all.radices, set) }.map_err(bad);
        let send = RehearsedSend {
            origins: set(&send.origins)?,
            destinations: set(&send.destinations)?,
            // SAFETY: as above.
            segments: unsafe { coordinates(&send.segments, self.all.segments) }.map_err(bad)?,
            copies: send.flags & SWM_COPY != 0,
            combines,
            is_strict: send.flags & SWM_STRICT != 0,
            // SAFETY: as above.
            label: String::from_utf8_lossy(unsafe { send.label.bytes() }).into_owned(),
            ..envelope
        };
        match self.orbits.as_ref().filter(|_| self.by_orbits) {
            Some(orbits) => orbits.images(&send)?.into_iter().try_for_each(|image| self.add(image)),
            None => self.add(send),
        }
    }

    fn shares(&mut self, send: RehearsedSend) -> Result<(), String> {
        if !self.all.moves_byte_counts {
            return Err(
                "the schedule sends byte counts, but did not say that it moves them".to_owned()
            );
        }
        self.add(send)
    }

    fn add(&mut self, send: RehearsedSend) -> Result<(), String> {
        self.all
            .steps
            .last_mut()
            .map(|step| step.sends.push(send))
            .ok_or_else(|| "no step".to_owned())
    }
}

/// The functions that a plugin calls; they write to `stage`, which must outlive the table.
pub(super) fn host(stage: &RefCell<Stage>) -> SwmHost {
    SwmHost {
        size: size_of::<SwmHost>() as u32,
        reserved: 0,
        ctx: std::ptr::from_ref(stage).cast_mut().cast(),
        fail: Some(fail),
        log: Some(log),
        block_bytes: Some(block_bytes),
        pair_bytes: Some(pair_bytes),
        ports: Some(ports),
        virtual_channels: Some(virtual_channels),
        element_bytes: Some(element_bytes),
        destination: Some(destination),
        startup_us: Some(startup_us),
        hop_us: Some(hop_us),
        byte_us: Some(byte_us),
        layout: Some(layout),
        place: Some(place),
        phase: Some(phase),
        step: Some(step),
        send_blocks: Some(send_blocks),
        rearrange: Some(rearrange),
        redistribute: Some(redistribute),
        send_bucket: Some(send_bucket),
        send_bytes: Some(send_bytes),
        symmetric: Some(symmetric),
    }
}

/// Lends the stage behind a context to `work`.
///
/// # Safety
/// `ctx` must be that of the host made in a rehearsal, during it.
unsafe fn on_stage<T>(ctx: *mut c_void, work: impl FnOnce(&mut Stage) -> T) -> T {
    // SAFETY: the caller promises that this is the stage of a rehearsal under way, which is one
    // thread's.
    let stage = unsafe { &*ctx.cast::<RefCell<Stage>>() };
    work(&mut stage.borrow_mut())
}

unsafe extern "C" fn fail(ctx: *mut c_void, reason: SwmStr) {
    // SAFETY: called through the host of a rehearsal under way, with what is valid for the length
    // of the call; so in all functions below.
    unsafe {
        let reason = String::from_utf8_lossy(reason.bytes()).into_owned();
        on_stage(ctx, |stage| stage.reason = reason);
    }
}

unsafe extern "C" fn log(ctx: *mut c_void, _: u32, line: SwmStr) {
    // SAFETY: see `fail`.
    unsafe {
        let line = String::from_utf8_lossy(line.bytes()).into_owned();
        on_stage(ctx, |stage| stage.all.log.push(line));
    }
}

unsafe extern "C" fn block_bytes(ctx: *mut c_void) -> u64 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.asked.block_bytes) }
}

unsafe extern "C" fn pair_bytes(ctx: *mut c_void, from: u64, to: u64) -> u64 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.asked.bytes(from, to)) }
}

unsafe extern "C" fn ports(ctx: *mut c_void) -> u64 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.asked.ports) }
}

unsafe extern "C" fn virtual_channels(ctx: *mut c_void) -> u64 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.asked.virtual_channels) }
}

unsafe extern "C" fn element_bytes(ctx: *mut c_void) -> u64 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.asked.element_bytes) }
}

unsafe extern "C" fn destination(ctx: *mut c_void, from: u64) -> u64 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.to.get(from as usize).copied().unwrap_or(from)) }
}

unsafe extern "C" fn startup_us(ctx: *mut c_void) -> f64 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.asked.prices[0]) }
}

unsafe extern "C" fn hop_us(ctx: *mut c_void) -> f64 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.asked.prices[1]) }
}

unsafe extern "C" fn byte_us(ctx: *mut c_void) -> f64 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.asked.prices[2]) }
}

unsafe extern "C" fn layout(ctx: *mut c_void, layout: *const SwmLayout) -> i32 {
    // SAFETY: see `fail`.
    unsafe {
        let layout = &*layout;
        let radices = list(layout.radices, layout.axis_count as usize);
        on_stage(ctx, |stage| stage.drive(|stage| stage.layout(radices, layout)))
    }
}

unsafe extern "C" fn place(ctx: *mut c_void, node: u64, physical: u64, home: u32) -> i32 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.drive(|stage| stage.place(node, physical, home != 0))) }
}

unsafe extern "C" fn symmetric(
    ctx: *mut c_void,
    axes: *const SwmSymmetry,
    axis_count: u64,
    planned: *mut u64,
) -> i32 {
    // SAFETY: see `fail`.
    unsafe {
        let axes = list(axes, axis_count as usize);
        let write = |counts: Vec<u64>| {
            (0..).zip(counts).for_each(|(axis, count)| planned.add(axis).write(count))
        };
        on_stage(ctx, |stage| stage.drive(|stage| stage.symmetric(&axes).map(write)))
    }
}

unsafe extern "C" fn phase(ctx: *mut c_void, name: SwmStr) -> i32 {
    // SAFETY: see `fail`.
    unsafe {
        let name = String::from_utf8_lossy(name.bytes()).into_owned();
        on_stage(ctx, |stage| {
            stage.drive(|stage| {
                (stage.phase, stage.in_step) = (name, false);
                Ok(())
            })
        })
    }
}

unsafe extern "C" fn step(ctx: *mut c_void) -> i32 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.drive(Stage::step)) }
}

unsafe extern "C" fn send_blocks(ctx: *mut c_void, send: *const SwmBlocks) -> i32 {
    // SAFETY: see `fail`.
    unsafe { on_stage(ctx, |stage| stage.drive(|stage| stage.blocks(&*send))) }
}

unsafe extern "C" fn send_bucket(ctx: *mut c_void, send: *const SwmBucket) -> i32 {
    // SAFETY: see `fail`.
    unsafe {
        let send = &*send;
        let route = route(send.route);
        on_stage(ctx, |stage| {
            stage.drive(|stage| {
                let envelope = stage.envelope(send.from, send.to, send.flags, route)?;
                stage.shares(RehearsedSend { bucket: Some(send.bucket), ..envelope })
            })
        })
    }
}

unsafe extern "C" fn send_bytes(ctx: *mut c_void, send: *const SwmBytes) -> i32 {
    // SAFETY: see `fail`.
    unsafe {
        let send = &*send;
        let (route, byte_counts) = (route(send.route), list(send.counts, send.count as usize));
        on_stage(ctx, |stage| {
            stage.drive(|stage| {
                let envelope = stage.envelope(send.from, send.to, send.flags, route)?;
                stage.shares(RehearsedSend { byte_counts, ..envelope })
            })
        })
    }
}

unsafe extern "C" fn redistribute(
    ctx: *mut c_void,
    redistribution: *const SwmRedistribution,
) -> i32 {
    // SAFETY: see `fail`.
    unsafe {
        let raw = &*redistribution;
        let (starts, firsts) =
            (list(raw.starts, raw.node_count as usize), list(raw.firsts, raw.node_count as usize));
        on_stage(ctx, |stage| {
            stage.drive(|stage| {
                if !stage.all.moves_byte_counts {
                    return Err(
                        "the schedule redistributes, but did not say that it moves byte counts"
                            .to_owned(),
                    );
                }
                stage.begin()?;
                stage.all.redistributions.push(RehearsedRedistribution {
                    after: stage.all.steps.len() as u64,
                    node: raw.node,
                    buckets: raw.buckets,
                    cycle: raw.cycle,
                    first: raw.first,
                    starts,
                    firsts,
                });
                Ok(())
            })
        })
    }
}

unsafe extern "C" fn rearrange(ctx: *mut c_void) -> i32 {
    // SAFETY: see `fail`.
    unsafe {
        on_stage(ctx, |stage| {
            stage.drive(|stage| {
                stage.all.rearrangements += 1;
                stage.begin()
            })
        })
    }
}

/// # Safety
/// `route` must be null or point to a route whose pointers are null or readable for the counts
/// beside them.
unsafe fn route(route: *const SwmRoute) -> RehearsedRoute {
    // SAFETY: the caller promises a route, or null.
    unsafe {
        let Some(route) = route.as_ref() else { return RehearsedRoute::default() };
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
    if ptr.is_null() {
        Vec::new()
    } else {
        unsafe { std::slice::from_raw_parts(ptr, len) }.to_vec()
    }
}
