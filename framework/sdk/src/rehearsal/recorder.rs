//! The host of a rehearsal. It records the plugin's calls, and refuses the calls that every host
//! refuses.

use super::orbits::Orbits;
use super::read::{coordinates, nodes, route};
use super::record::{
    Rehearsed, RehearsedRedistribution, RehearsedRoute, RehearsedSend, RehearsedStep, Settings,
};
use crate::collective::Collective;
use crate::send::ByteCount;
use crate::stop::Stop;
use std::collections::BTreeSet;
use std::ops::Range;
use swapmeet_abi::{
    SWM_ALL, SWM_BYTE_COUNTS, SWM_COMBINE, SWM_COPY, SWM_IN_PARTS, SWM_LOCAL, SWM_OK, SWM_STOPPED,
    SWM_STRICT, SwmBlocks, SwmLayout, SwmSet, SwmSymmetry,
};

/// A host that records a schedule.
pub(super) struct Recorder {
    pub(super) settings: Settings,
    collective: Collective,
    /// In a permutation, the receiver of each node's block; otherwise empty.
    receivers: Vec<u64>,
    machine_nodes: u64,
    root: u64,
    pub(super) schedule: Rehearsed,
    pub(super) phase: String,
    /// The number of an element of the declared symmetry group, if one node of each orbit is
    /// planned. The planned nodes are the images of the orbits' first nodes under this element, and
    /// the sends of the other nodes are recorded as images of the planned nodes' sends. `None` if
    /// all nodes are planned.
    by_orbits: Option<usize>,
    orbits: Option<Orbits>,
    has_layout: bool,
    /// Whether the first step, redistribution or rearrangement has begun. From then on the grid and
    /// the placement cannot change.
    has_begun: bool,
    pub(super) in_step: bool,
    refusal: Option<String>,
    /// The reason that the plugin gave for stopping.
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
            reason: String::new(),
        }
    }

    /// Returns the recorded schedule, or the error of the first refused call.
    pub(super) fn schedule(self) -> Result<Rehearsed, Stop> {
        self.refusal.map_or(Ok(self.schedule), |reason| Err(Stop::failed(reason)))
    }

    /// Returns the receiver of a node's block in a permutation. For other collectives, returns the
    /// node itself.
    pub(super) fn receiver(&self, from: u64) -> u64 {
        self.receivers.get(from as usize).copied().unwrap_or(from)
    }

    /// Returns the receivers of the data that a node of the machine has at the start, with the
    /// number of bytes for each.
    pub(super) fn demand(&self, from: u64) -> Result<Vec<ByteCount>, String> {
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
        Ok(counts.filter(|count| count.bytes > 0).collect())
    }

    /// Returns the number of nodes of the schedule's grid.
    fn grid_nodes(&self) -> u64 {
        self.schedule.radices.iter().fold(1, |all, radix| all.saturating_mul(*radix))
    }

    /// Performs a call of the plugin, unless an earlier call was refused. Returns the return code
    /// of the call. If `work` returns an error, the call is refused.
    pub(super) fn call(&mut self, work: impl FnOnce(&mut Self) -> Result<(), String>) -> i32 {
        if self.refusal.is_none() {
            self.refusal = work(self).err();
        }
        if self.refusal.is_none() { SWM_OK } else { SWM_STOPPED }
    }

    pub(super) fn layout(&mut self, radices: Vec<u64>, layout: &SwmLayout) -> Result<(), String> {
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

    pub(super) fn place(&mut self, node: u64, physical: u64, home: bool) -> Result<(), String> {
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

    /// Reads the symmetry that the schedule declares, and returns the planned coordinates of each
    /// axis.
    pub(super) fn symmetric(
        &mut self,
        axes: &[SwmSymmetry],
        can_start_anywhere: bool,
    ) -> Result<Vec<Range<u64>>, String> {
        if self.has_begun || self.orbits.is_some() {
            return Err(
                "the schedule declares its symmetry twice, or after its first step".to_owned()
            );
        }
        let nodes = [self.grid_nodes()];
        let radices = if axes.len() == 1 { &nodes[..] } else { &self.schedule.radices };
        let element = self.by_orbits.filter(|_| can_start_anywhere).unwrap_or(0);
        let orbits = self.orbits.insert(Orbits::new(radices, axes, element)?);
        Ok(match self.by_orbits {
            Some(_) => orbits.planned().to_vec(),
            None => radices.iter().map(|radix| 0..*radix).collect(),
        })
    }

    /// Ends the definition of the grid before the first step, redistribution or rearrangement.
    /// Every node of the grid must have been placed once, and for every node of the machine exactly
    /// one of these nodes must be its home.
    pub(super) fn begin(&mut self) -> Result<(), String> {
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

    pub(super) fn step(&mut self) -> Result<(), String> {
        self.begin()?;
        self.in_step = true;
        self.schedule.steps.push(RehearsedStep { phase: self.phase.clone(), sends: Vec::new() });
        Ok(())
    }

    /// Checks and records the properties that all sends have: sender, receiver, flags and route.
    pub(super) fn envelope(
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

    /// Records a send of blocks.
    ///
    /// # Safety
    ///
    /// All pointers of the send must be readable.
    pub(super) unsafe fn add_blocks(&mut self, send: &SwmBlocks) -> Result<(), String> {
        // SAFETY: the caller guarantees readable pointers.
        let route = unsafe { route(send.route) };
        let envelope = self.envelope(send.from, send.to, send.flags, route)?;
        if self.schedule.moves_byte_counts {
            return Err("the schedule sends blocks, but moves byte counts".to_owned());
        }
        // Check that the sets select blocks only by properties that distinguish the blocks of this
        // collective.
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
        // Convert the sets to lists of nodes.
        let bad =
            |reason: &str| format!("the send from {} to {} has a set {reason}", send.from, send.to);
        // SAFETY: the caller guarantees readable pointers.
        let set = |set: &SwmSet| unsafe { nodes(&self.schedule.radices, set) }.map_err(bad);
        let send = RehearsedSend {
            origins: set(&send.origins)?,
            destinations: set(&send.destinations)?,
            // SAFETY: the caller guarantees readable pointers.
            segments: unsafe { coordinates(&send.segments, self.schedule.segments) }
                .map_err(bad)?,
            copies: send.flags & SWM_COPY != 0,
            combines,
            is_strict: send.flags & SWM_STRICT != 0,
            extra_bytes: send.extra_bytes,
            // SAFETY: the caller guarantees readable pointers.
            label: String::from_utf8_lossy(unsafe { send.label.bytes() }).into_owned(),
            ..envelope
        };
        // Record the send, or its images under the symmetry group if only one node of each orbit is
        // planned.
        match self.orbits.as_ref().filter(|_| self.by_orbits.is_some()) {
            Some(orbits) => orbits.images(&send)?.into_iter().try_for_each(|image| self.add(image)),
            None => self.add(send),
        }
    }

    pub(super) fn add_byte_counts(&mut self, send: RehearsedSend) -> Result<(), String> {
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

    pub(super) fn redistribute(&mut self, how: RehearsedRedistribution) -> Result<(), String> {
        if !self.schedule.moves_byte_counts {
            return Err("the schedule redistributes, but moves blocks".to_owned());
        }
        self.begin()?;
        let after = self.schedule.steps.len() as u64;
        self.schedule.redistributions.push(RehearsedRedistribution { after, ..how });
        Ok(())
    }
}
