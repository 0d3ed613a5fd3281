//! The host of a rehearsal. It records the calls, and refuses those that every host refuses.

use super::orbits::Orbits;
use super::record::{
    Rehearsed, RehearsedRedistribution, RehearsedRoute, RehearsedSend, RehearsedStep, Settings,
};
use crate::collective::Collective;
use crate::send::ByteCount;
use crate::stop::Stop;
use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use swapmeet_abi::hosting::{Claim, Host, Passed, Room, Text};
use swapmeet_abi::{
    Growing, SWM_ALL, SWM_AXES, SWM_BITS, SWM_BYTE_COUNTS, SWM_COMBINE, SWM_COPY, SWM_IN_PARTS,
    SWM_LOCAL, SWM_NODE, SWM_RANGE, SWM_STRICT, SwmAxis, SwmBlocks, SwmBucket, SwmBytes, SwmLayout,
    SwmLink, SwmRedistribution, SwmRoute, SwmSet, SwmSymmetry,
};

pub(super) struct Recorder {
    settings: Settings,
    collective: Collective,
    receivers: Vec<u64>,
    machine_nodes: u64,
    root: u64,
    schedule: Rehearsed,
    phase: String,
    /// If one node of each orbit is planned, the number of a group element. The planned nodes are
    /// the images of the first nodes of the orbits under this element.
    by_orbits: Option<usize>,
    orbits: Option<Orbits>,
    has_layout: bool,
    /// Whether the first step, redistribution or rearrangement has begun. The grid is then final.
    has_begun: bool,
    in_step: bool,
    refusal: Option<String>,
    panic: Option<Box<dyn Any + Send>>,
    pub(super) reason: String,
}

impl Recorder {
    pub(super) fn new(
        settings: Settings,
        (collective, root): (Collective, u64),
        receivers: Vec<u64>,
        dims: &[u64],
        by_orbits: Option<usize>,
    ) -> Self {
        let segments = settings.classes().unwrap_or(1);
        Self {
            settings,
            collective,
            receivers,
            machine_nodes: dims.iter().product(),
            root,
            schedule: Rehearsed { radices: dims.to_vec(), segments, ..Rehearsed::default() },
            phase: String::new(),
            by_orbits,
            orbits: None,
            has_layout: false,
            has_begun: false,
            in_step: false,
            refusal: None,
            panic: None,
            reason: String::new(),
        }
    }

    /// Returns the recorded schedule. If a call has panicked, the panic continues here.
    pub(super) fn schedule(self) -> Result<Rehearsed, Stop> {
        if let Some(panic) = self.panic {
            resume_unwind(panic);
        }
        self.refusal.map_or(Ok(self.schedule), |reason| Err(Stop::failed(reason)))
    }

    fn receiver(&self, from: u64) -> u64 {
        self.receivers.get(from as usize).copied().unwrap_or(from)
    }

    fn grid_nodes(&self) -> u64 {
        self.schedule.radices.iter().fold(1, |all, radix| all.saturating_mul(*radix))
    }

    /// Ends the definition of the grid, and checks it: every node of the grid must have been placed
    /// once, and every node of the machine must have exactly one home.
    fn begin(&mut self) -> Result<(), String> {
        self.in_step = false;
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let (grid, machine) = (self.grid_nodes(), self.machine_nodes);
        let placements = &self.schedule.placements;
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
                "every node needs one place, and every node of the machine one home".to_owned()
            );
        }
        Ok(())
    }

    /// Checks and records the properties that all sends have: sender, receiver, flags and route.
    fn envelope(
        &self,
        from: u64,
        to: u64,
        flags: u32,
        route: RehearsedRoute,
    ) -> Result<RehearsedSend, String> {
        let grid = self.grid_nodes();
        if !self.in_step {
            return Err(match self.schedule.steps.is_empty() {
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
                "node {from} sends to itself (a local copy must be marked as such)"
            ));
        }
        Ok(RehearsedSend { from, to, is_local, route, ..RehearsedSend::default() })
    }

    fn check_switches(&self, send: &SwmBlocks) -> Result<(), String> {
        let (switch, needed) = match (send.reducer, send.multicaster) {
            (0, 0) => return Ok(()),
            (0, switch) => (switch, 0),
            (switch, 0) => (switch, SWM_COMBINE),
            _ => return Err("a send names both a reducer and a multicaster".to_owned()),
        };
        let flags = needed | SWM_STRICT;
        if !self.settings.reducing.contains(&switch) {
            return Err(format!("vertex {switch} is not a switch that can add and copy data"));
        }
        if send.flags & flags != flags || self.orbits.is_some() {
            return Err(format!(
                "a send with switch {switch} lacks a flag, or a symmetry is claimed"
            ));
        }
        Ok(())
    }

    fn add_byte_counts(&mut self, send: RehearsedSend) -> Result<(), String> {
        if !self.schedule.moves_byte_counts {
            return Err("the schedule sends byte counts, but moves blocks".to_owned());
        }
        self.add(send)
    }

    fn add(&mut self, send: RehearsedSend) -> Result<(), String> {
        let step = self.schedule.steps.last_mut().ok_or("no step")?;
        step.sends.push(send);
        Ok(())
    }
}

macro_rules! getters {
    ($($name:ident($recorder:ident $(, $argument:ident)*) -> $type:ty: $value:expr;)+) => {
        $(fn $name(&mut self $(, $argument: u64)*) -> $type {
            let $recorder = self;
            $value
        })+
    };
}

fn written<T: Copy>(what: &str, room: Room<'_, T>, items: &[T]) -> Result<(), String> {
    room.write(items).map_err(|why| format!("the room for {what} {why}"))
}

impl Host for Recorder {
    type Refusal = String;

    /// Records a panic, which continues after the plugin has returned.
    fn guard<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> Option<R> {
        let result = catch_unwind(AssertUnwindSafe(|| work(self)));
        result.map_err(|panic| self.panic.get_or_insert(panic)).ok()
    }

    fn answer(&mut self, work: impl FnOnce(&mut Self) -> Result<(), String>) -> bool {
        if self.refusal.is_none() {
            self.refusal = work(self).err();
        }
        self.refusal.is_none() && self.panic.is_none()
    }

    fn fail(&mut self, reason: Text<'_>) {
        self.reason = String::from_utf8_lossy(reason.bytes()).into_owned();
    }

    fn log(&mut self, _: u32, line: Text<'_>) {
        self.schedule.log.push(String::from_utf8_lossy(line.bytes()).into_owned());
    }

    getters! {
        block_bytes(recorder) -> u64: recorder.settings.block_bytes;
        pair_bytes(recorder, from, to) -> u64: recorder.settings.bytes(from, to);
        ports(recorder) -> u64: recorder.settings.ports;
        virtual_channels(recorder) -> u64: recorder.settings.virtual_channels;
        element_bytes(recorder) -> u64: recorder.settings.element_bytes;
        destination(recorder, from) -> u64: recorder.receiver(from);
        startup_us(recorder) -> f64: recorder.settings.times_us[0];
        hop_us(recorder) -> f64: recorder.settings.times_us[1];
        byte_us(recorder) -> f64: recorder.settings.times_us[2];
        vertices(recorder) -> u64: recorder.settings.vertices();
        uniform(recorder) -> bool: recorder.settings.sizes.is_empty();
        shares_routes(recorder) -> bool: recorder.settings.shares_routes;
        can_reduce(recorder, vertex) -> bool: recorder.settings.reducing.contains(&vertex);
    }

    fn links(&mut self, vertex: u64, links: Room<'_, SwmLink>) -> Result<(), String> {
        if vertex >= self.settings.vertices() {
            return Err(format!("the plugin reads the links of vertex {vertex}"));
        }
        written("links", links, &self.settings.links_of(vertex))
    }

    fn demand(&mut self, from: u64, demand: Room<'_, ByteCount>) -> Result<(), String> {
        if from >= self.machine_nodes {
            return Err(format!("the plugin reads the demand of node {from}"));
        }
        let root = self.root;
        let receivers = match self.collective {
            Collective::Broadcast | Collective::Scatter if from != root => 0..0,
            Collective::Gather | Collective::Reduce => root..root + 1,
            Collective::Permutation => self.receiver(from)..self.receiver(from) + 1,
            _ => 0..self.machine_nodes,
        };
        let bytes = |to| match self.collective {
            Collective::Broadcast | Collective::AllGather => self.settings.bytes(from, from),
            _ => self.settings.bytes(from, to),
        };
        let counts = receivers.map(|to| ByteCount { destination: to, bytes: bytes(to) });
        let listed: Vec<ByteCount> = counts.filter(|count| count.bytes > 0).collect();
        written("demand", demand, &listed)
    }

    fn token_bytes(&mut self, node: u64, bytes: Room<'_, u64>) -> Result<(), String> {
        let classes = self.settings.tokens.get(node as usize);
        let listed: Vec<u64> = classes.into_iter().flatten().map(|class| class.bytes).collect();
        written("tokens", bytes, &listed)
    }

    fn token_receivers(
        &mut self,
        node: u64,
        class: u64,
        receivers: Room<'_, u64>,
    ) -> Result<(), String> {
        let found = self.settings.class(node, class);
        let found = found.ok_or_else(|| {
            format!("the plugin reads the receivers of class {class} of node {node}")
        })?;
        written("receivers", receivers, &found.receivers)
    }

    fn layout(&mut self, layout: Passed<'_, *const SwmLayout>) -> Result<(), String> {
        let layout = read("layout", layout)?;
        if self.has_begun
            || self.has_layout
            || self.orbits.is_some()
            || !self.schedule.placements.is_empty()
        {
            return Err(
                "the schedule sets its grid twice, or after its first step or placement".to_owned()
            );
        }
        self.has_layout = true;
        let radices: Vec<u64> = layout.radices().iter().collect();
        if !radices.is_empty() {
            self.schedule.radices = radices;
        }
        self.schedule.segments = match self.settings.classes() {
            Some(classes) => classes,
            None => u64::from(layout.segments).max(1),
        };
        if self.settings.classes().is_some()
            && (layout.segments > 1 || layout.flags & SWM_IN_PARTS != 0)
        {
            return Err("tokens can't be divided into segments or parts".to_owned());
        }
        self.schedule.moves_byte_counts = layout.flags & SWM_BYTE_COUNTS != 0;
        self.schedule.in_parts = layout.flags & SWM_IN_PARTS != 0;
        if self.schedule.in_parts && self.collective.distinguishes_destinations() {
            return Err("blocks with one destination each cannot be cut into parts".to_owned());
        }
        if self.schedule.moves_byte_counts && self.collective != Collective::AllToAll {
            return Err("only an all-to-all can move byte counts".to_owned());
        }
        Ok(())
    }

    fn place(&mut self, node: u64, physical: u64, home: bool) -> Result<(), String> {
        let (grid, machine) = (self.grid_nodes(), self.machine_nodes);
        if self.has_begun || self.orbits.is_some() {
            return Err(
                "the schedule places a node after its first step or after its symmetry".to_owned()
            );
        }
        if node >= grid || physical >= machine {
            return Err(format!(
                "node {node} of a grid of {grid} can't be placed on node {physical} of a machine of {machine}"
            ));
        }
        self.schedule.placements.push((node, physical, home));
        Ok(())
    }

    fn symmetric(&mut self, claim: Claim<'_>) -> Result<(), String> {
        if self.has_begun || self.orbits.is_some() {
            return Err(
                "the schedule declares its symmetry twice, or after its first step".to_owned()
            );
        }
        let axes: Vec<SwmSymmetry> = claim.axes().iter().collect();
        let nodes = [self.grid_nodes()];
        let radices = if axes.len() == 1 { &nodes[..] } else { &self.schedule.radices };
        let element = self.by_orbits.filter(|_| claim.can_start_anywhere()).unwrap_or(0);
        let orbits = self.orbits.insert(Orbits::new(radices, &axes, element)?);
        let planned = match self.by_orbits {
            Some(_) => orbits.planned().to_vec(),
            None => radices.iter().map(|radix| 0..*radix).collect(),
        };
        claim.write(planned).map_err(|why| format!("a list of a symmetry {why}"))
    }

    fn phase(&mut self, name: Text<'_>) -> Result<(), String> {
        self.phase = String::from_utf8_lossy(name.bytes()).into_owned();
        self.in_step = false;
        Ok(())
    }

    fn step(&mut self) -> Result<(), String> {
        self.begin()?;
        self.in_step = true;
        self.schedule.steps.push(RehearsedStep { phase: self.phase.clone(), sends: Vec::new() });
        Ok(())
    }

    fn send_blocks(&mut self, send: Passed<'_, *const SwmBlocks>) -> Result<(), String> {
        let send = read("send of blocks", send)?;
        let in_switch = send.reducer > 0 || send.multicaster > 0;
        let local = if in_switch { SWM_LOCAL } else { 0 };
        let envelope =
            self.envelope(send.from, send.to, send.flags | local, route(send.route())?)?;
        self.check_switches(&send)?;
        if self.schedule.moves_byte_counts {
            return Err("the schedule sends blocks, but moves byte counts".to_owned());
        }
        // Sets may select blocks only by a side that distinguishes the blocks of the collective.
        for (side, set, distinguishes) in [
            ("origins", &send.origins, self.collective.distinguishes_origins()),
            (
                "destinations",
                &send.destinations,
                self.collective.distinguishes_destinations() || self.schedule.in_parts,
            ),
        ] {
            if set.kind != SWM_ALL && !distinguishes {
                return Err(format!(
                    "the send from {} to {} selects {side}, by which its blocks are not distinguished",
                    send.from, send.to
                ));
            }
        }
        let combines = send.flags & SWM_COMBINE != 0;
        if combines && !self.collective.is_reduction() {
            return Err("the schedule combines values in a collective without sums".to_owned());
        }
        if send.extra_bytes > 0 && self.settings.sizes.is_empty() {
            return Err(format!(
                "the send from {} to {} has extra bytes, but all blocks have the same size",
                send.from, send.to
            ));
        }
        let bad =
            |reason: &str| format!("the send from {} to {} has a set {reason}", send.from, send.to);
        let set = |set| nodes(&self.schedule.radices, set).map_err(bad);
        let send = RehearsedSend {
            origins: set(send.origins())?,
            destinations: set(send.destinations())?,
            segments: coordinates(send.segments(), self.schedule.segments).map_err(bad)?,
            copies: send.flags & SWM_COPY != 0,
            combines,
            is_strict: send.flags & SWM_STRICT != 0,
            extra_bytes: send.extra_bytes,
            reducer: send.reducer,
            multicaster: send.multicaster,
            label: String::from_utf8_lossy(send.label().bytes()).into_owned(),
            ..envelope
        };
        match self.orbits.as_ref().filter(|_| self.by_orbits.is_some()) {
            Some(orbits) => orbits.images(&send)?.into_iter().try_for_each(|image| self.add(image)),
            None => self.add(send),
        }
    }

    fn send_bucket(&mut self, send: Passed<'_, *const SwmBucket>) -> Result<(), String> {
        let send = read("send of a bucket", send)?;
        let envelope = self.envelope(send.from, send.to, send.flags, route(send.route())?)?;
        self.add_byte_counts(RehearsedSend { bucket: Some(send.bucket), ..envelope })
    }

    fn send_bytes(&mut self, send: Passed<'_, *const SwmBytes>) -> Result<(), String> {
        let send = read("send of bytes", send)?;
        let byte_counts = send.counts().iter().collect();
        let envelope = self.envelope(send.from, send.to, send.flags, route(send.route())?)?;
        self.add_byte_counts(RehearsedSend { byte_counts, ..envelope })
    }

    fn redistribute(
        &mut self,
        redistribution: Passed<'_, *const SwmRedistribution>,
    ) -> Result<(), String> {
        let raw = read("redistribution", redistribution)?;
        if !self.schedule.moves_byte_counts {
            return Err("the schedule redistributes, but moves blocks".to_owned());
        }
        self.begin()?;
        self.schedule.redistributions.push(RehearsedRedistribution {
            after: self.schedule.steps.len() as u64,
            node: raw.node,
            buckets: raw.buckets,
            cycle: raw.cycle,
            first: raw.first,
            starts: raw.starts().iter().collect(),
            firsts: raw.firsts().iter().collect(),
        });
        Ok(())
    }

    fn rearrange(&mut self) -> Result<(), String> {
        self.schedule.rearrangements += 1;
        self.begin()
    }
}

const OUTSIDE: &str = "outside the grid";
const UNKNOWN: &str = "of an unknown kind";
const NOT_READABLE: &str = "at an address that is null or not aligned";

fn read<'a, T: Growing>(name: &str, ptr: Passed<'a, *const T>) -> Result<Passed<'a, T>, String> {
    ptr.read().map_err(|why| format!("a {name} {why}"))
}

fn nodes(radices: &[u64], set: Passed<'_, SwmSet>) -> Result<Vec<u64>, &'static str> {
    let count: u64 = radices.iter().product();
    match set.kind {
        SWM_NODE if set.node >= count => Err(OUTSIDE),
        SWM_NODE => Ok(vec![set.node]),
        SWM_AXES if set.axis_count as usize != radices.len() => Err(OUTSIDE),
        SWM_AXES if set.axes.is_null() => Err(NOT_READABLE),
        SWM_AXES => {
            let mut nodes = vec![0];
            for (axis, radix) in set.axes().parts().zip(radices) {
                let coordinates = coordinates(axis, *radix)?;
                nodes = nodes
                    .iter()
                    .flat_map(|n| coordinates.iter().map(move |c| n * radix + c))
                    .collect();
            }
            Ok(nodes)
        }
        SWM_ALL => Ok((0..count).collect()),
        _ => Err(UNKNOWN),
    }
}

fn coordinates(axis: Passed<'_, SwmAxis>, radix: u64) -> Result<Vec<u64>, &'static str> {
    let (first, stride, count) = (axis.first, axis.stride, axis.count);
    let mut coordinates: Vec<u64> = match axis.kind {
        SWM_RANGE if first >= radix || count > radix => return Err(OUTSIDE),
        SWM_RANGE => {
            let around = |i: u64| {
                (u128::from(first) + u128::from(i) * u128::from(stride)) % u128::from(radix)
            };
            (0..count).map(|i| around(i) as u64).collect()
        }
        SWM_BITS => {
            let words = axis.words().slice().ok_or(NOT_READABLE)?;
            let is_set =
                |c: u64| words.get((c / 64) as usize).is_some_and(|word| word >> (c % 64) & 1 == 1);
            if (radix..count * 64).any(is_set) {
                return Err(OUTSIDE);
            }
            (0..radix).filter(|c| is_set(*c)).collect()
        }
        SWM_ALL => (0..radix).collect(),
        _ => return Err(UNKNOWN),
    };
    coordinates.sort_unstable();
    let twice = coordinates.windows(2).any(|pair| pair[0] == pair[1]);
    if twice { Err("that names a coordinate twice") } else { Ok(coordinates) }
}

/// Copies a route. A null pointer is an empty route.
fn route(raw: Passed<'_, *const SwmRoute>) -> Result<RehearsedRoute, String> {
    if raw.is_null() {
        return Ok(RehearsedRoute::default());
    }
    let raw = read("route", raw)?;
    Ok(RehearsedRoute {
        signs: raw.signs().iter().collect(),
        order: raw.order().iter().collect(),
        path: raw.path().iter().collect(),
    })
}
