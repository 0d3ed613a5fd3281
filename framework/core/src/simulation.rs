//! Runs a schedule: traces the data of each send, measures each step, and reports it to listeners.
//!
//! The messages of a step are discarded at its end, so a schedule needs the memory of its largest
//! step.

pub mod demand;
mod in_switch;
pub mod listener;
pub mod merged;
mod messages;
pub mod recording;
mod running;
mod setup;
pub mod step;
pub(crate) mod step_statistics;

use crate::delivery::byte_counts::{ByteCountUnits, ByteSend, Redistribution};
use crate::delivery::collective::{BlockSizes, Collective, FinalBlocks, InitialBlocks};
use crate::delivery::exchange::{Division, Rule};
use crate::delivery::fault::Fault;
use crate::delivery::traced::Proof;
use crate::network::communicators::Communicators;
use crate::network::symmetry::Symmetry;
use crate::network::topology::{Network, Route};
use crate::simulation::listener::{Listener, Listeners};
use crate::simulation::recording::{Recording, RecordingTask};
use crate::simulation::running::Running;
use crate::simulation::setup::Setup;
use crate::simulation::step::Totals;
pub use setup::affordable;
use std::ops::Range;
use std::sync::Arc;

/// The task that a schedule has to carry out.
#[derive(Debug, Clone)]
pub struct Task {
    /// The network of the ranks of one communicator. Without communicators, these are all ranks.
    pub topology: Arc<Network>,
    /// The communicators that run the collective at the same time, or `None` if there is only one.
    pub communicators: Option<Arc<Communicators>>,
    /// The collective, with the initial and the required blocks of each node.
    pub collective: Collective,
    /// The sizes of blocks, or `None` if all blocks have the same size. Blocks are then counted.
    pub sizes: Option<Arc<dyn BlockSizes>>,
    /// Whether messages of 0 bytes are skipped. Their blocks are traced all the same.
    pub skip_empty: bool,
    /// The nodes on which delivery is verified.
    pub proof_scope: ProofScope,
}

/// The nodes on which delivery is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ProofScope {
    /// Verify one node of each set of nodes that the algorithm declares equivalent. To check this
    /// claim, also compute the sends of other nodes and compare them: of all nodes if the schedule
    /// has at most 2^20 sends, otherwise of a few (column `compared_on`). If no symmetry is
    /// declared, verify every node.
    #[default]
    Auto,
    /// Verify every node.
    Full,
}

impl Task {
    /// Creates a task with blocks of uniform size.
    pub fn new(topology: Arc<Network>, collective: Collective) -> Self {
        Self {
            topology,
            communicators: None,
            collective,
            sizes: None,
            skip_empty: false,
            proof_scope: ProofScope::Auto,
        }
    }

    /// Returns the network on which the messages of all communicators are sent.
    pub fn network(&self) -> &Arc<Network> {
        self.communicators.as_ref().map_or(&self.topology, |communicators| communicators.network())
    }

    /// Returns the size in bytes of the block from `origin` to `destination`, or of the sum to
    /// which this block contributes. Returns 1 if blocks are counted. If blocks do not differ by
    /// origin or by destination, as in a permutation, the node of that side is ignored.
    pub fn block_load(&self, origin: u64, destination: u64) -> u64 {
        let Some(sizes) = &self.sizes else { return 1 };
        let [origin, destination] = self.collective.sizing_nodes(origin, destination);
        sizes.bytes(origin, destination)
    }

    /// Returns the nodes that must receive data of `origin`. For tokens, returns all nodes.
    pub fn receivers(&self, origin: u64) -> Range<u64> {
        let (kind, root) = (self.collective.kind(), self.collective.root().unwrap_or(0));
        match (kind.initial, kind.required) {
            (InitialBlocks::AllAtRoot, _) if origin != root => 0..0,
            (_, FinalBlocks::AllAtRoot) => root..root + 1,
            (_, FinalBlocks::Permuted) => {
                let image = self.collective.images().and_then(|to| to.get(origin as usize));
                image.map_or(0..0, |to| u64::from(*to)..u64::from(*to) + 1)
            }
            (_, FinalBlocks::ForNode | FinalBlocks::All | FinalBlocks::Received) => {
                0..self.topology.nodes()
            }
        }
    }
}

#[derive(Debug)]
enum State {
    Setup(Setup),
    Running(Box<Running>),
    /// Sends are only recorded.
    Recording(Box<Recording>),
}

const NO_STEP: Fault = Fault::OutOfOrder("the schedule sends before its first step");
const BETWEEN_STEPS: Fault = Fault::OutOfOrder(
    "the schedule sends between steps: a new one must begin after a phase's name, a redistribution or a rearrangement",
);

const RECORDS_BLOCKS: Fault =
    Fault::OutOfOrder("the schedule sends byte counts, but claims a symmetry of blocks");

/// A run of a schedule. Each method executes a call of a plugin. A call that is not permitted at
/// the current point of the schedule, such as a send before the first step, is a fault.
pub struct Simulation<'a> {
    task: Task,
    state: State,
    listeners: Listeners<'a>,
    in_step: bool,
}

impl<'a> Simulation<'a> {
    /// Begins a schedule for `task`, whose events are reported to `listeners`.
    pub fn new(task: Task, listeners: Vec<&'a mut dyn Listener>) -> Result<Self, Fault> {
        let state = State::Setup(Setup::new(&task)?);
        Ok(Self { task, state, listeners: Listeners::new(listeners), in_step: false })
    }

    /// Begins a schedule whose sends are only recorded, to verify the symmetry that it claims.
    /// Delivery is not verified, and nothing is measured.
    pub fn recording(task: Task, what: RecordingTask) -> Result<Self, Fault> {
        let state = State::Setup(Setup::new(&task)?.recording(what));
        Ok(Self { task, state, listeners: Listeners::new(Vec::new()), in_step: false })
    }

    /// Sets the grid of the schedule and the division of blocks. If `radices` is empty, the grid is
    /// that of the topology. `byte_counts` is set if the schedule sends byte counts instead of
    /// blocks.
    pub fn layout(
        &mut self,
        radices: &[u64],
        division: Division,
        byte_counts: Option<ByteCountUnits>,
    ) -> Result<(), Fault> {
        let laid_out = Setup::with_layout(&self.task, radices, division, byte_counts)?;
        let State::Setup(setup) = &mut self.state else {
            return Err(Fault::OutOfOrder("the schedule sets its grid after its first step"));
        };
        setup.replace_by(laid_out)
    }

    /// Embeds the grid of the schedule: `virtual_node` of the grid runs on node `physical` of the
    /// network. If `home` is set, the data of the physical node starts and ends at this virtual
    /// node.
    pub fn place(&mut self, virtual_node: u64, physical: u64, home: bool) -> Result<(), Fault> {
        let State::Setup(setup) = &mut self.state else {
            return Err(Fault::OutOfOrder("the schedule places a node after its first step"));
        };
        setup.place(virtual_node, physical, home)
    }

    /// Declares that the schedule is invariant under a group, which acts on the axes by
    /// `symmetries`. Returns the range of coordinates on each axis that the plugin must plan. Each
    /// range starts at 0, unless `can_start_anywhere` is set.
    pub fn symmetric(
        &mut self,
        symmetries: &[Symmetry],
        can_start_anywhere: bool,
    ) -> Result<Vec<Range<u64>>, Fault> {
        let State::Setup(setup) = &mut self.state else {
            return Err(Fault::OutOfOrder(
                "the schedule declares its symmetry after its first step",
            ));
        };
        setup.symmetric(&self.task, &self.listeners, symmetries, can_start_anywhere)
    }

    /// Returns whether only one node of each orbit is traced, because of the declared symmetry.
    pub fn relies_on_symmetry(&self) -> bool {
        matches!(&self.state, State::Setup(setup) if setup.relies_on_symmetry())
    }

    /// Begins a phase, whose name applies to the steps that follow.
    pub fn phase(&mut self, name: &str) -> Result<(), Fault> {
        self.end_step()?;
        if let State::Running(running) = &mut self.state {
            running.begin_phase();
        }
        self.listeners.phase(name);
        Ok(())
    }

    /// Begins a step. First, all data that was sent in the previous step arrives.
    pub fn step(&mut self) -> Result<(), Fault> {
        self.end_step()?;
        match self.begin()? {
            State::Running(running) => running.begin_step(),
            State::Recording(recording) => recording.begin_step(),
            State::Setup(_) => unreachable!("the setup has just ended"),
        }
        self.in_step = true;
        Ok(())
    }

    fn begin(&mut self) -> Result<&mut State, Fault> {
        if let State::Setup(setup) = &self.state {
            self.state = match setup.begin_recording(&self.task)? {
                Some(recording) => State::Recording(Box::new(recording)),
                None => State::Running(Box::new(setup.begin(&self.task, &self.listeners)?)),
            };
        }
        Ok(&mut self.state)
    }

    fn end_step(&mut self) -> Result<(), Fault> {
        match &mut self.state {
            State::Running(running) if std::mem::take(&mut self.in_step) => {
                running.end_step(&mut self.listeners)
            }
            State::Recording(_) => {
                self.in_step = false;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn sending(&mut self) -> Result<(&mut Running, &mut Listeners<'a>), Fault> {
        match &mut self.state {
            State::Running(running) if self.in_step => Ok((running, &mut self.listeners)),
            State::Recording(_) if self.in_step => Err(RECORDS_BLOCKS),
            State::Running(_) | State::Recording(_) => Err(BETWEEN_STEPS),
            State::Setup(_) => Err(NO_STEP),
        }
    }

    /// Adds a send of blocks to the current step.
    #[inline]
    pub fn send(&mut self, rule: &Rule<'_>, route: Option<&Route>) -> Result<(), Fault> {
        if let (State::Recording(recording), true) = (&mut self.state, self.in_step) {
            return recording.send(rule, route);
        }
        let (running, listeners) = self.sending()?;
        running.send(listeners, rule, route)
    }

    /// Adds a send of byte counts to the current step.
    pub fn send_bytes(&mut self, send: &ByteSend<'_>, route: Option<&Route>) -> Result<(), Fault> {
        let (running, listeners) = self.sending()?;
        running.send_bytes(listeners, send, route)
    }

    /// Returns whether the schedule sends byte counts instead of blocks.
    pub fn moves_byte_counts(&self) -> bool {
        match &self.state {
            State::Setup(setup) => setup.moves_byte_counts(),
            State::Running(running) => running.proof() == Proof::ByteCounts,
            State::Recording(_) => false,
        }
    }

    /// Redistributes all data of a node, including the data that it received in the previous step.
    /// Errors unless the schedule sends byte counts.
    pub fn redistribute(&mut self, redistribution: &Redistribution<'_>) -> Result<(), Fault> {
        self.end_step()?;
        self.begin()?;
        match &mut self.state {
            State::Setup(_) => unreachable!("the setup has just ended"),
            State::Running(running) => running.redistribute(&mut self.listeners, redistribution),
            State::Recording(_) => Err(RECORDS_BLOCKS),
        }
    }

    /// Makes every node rearrange all data that it holds.
    pub fn rearrange(&mut self) -> Result<(), Fault> {
        self.end_step()?;
        self.begin()?;
        match &mut self.state {
            State::Setup(_) => unreachable!("the setup has just ended"),
            State::Running(running) => running.rearrange(&mut self.listeners),
            State::Recording(recording) => recording.rearrange(),
        }
        Ok(())
    }

    /// Returns the number of the current step, from 1; 0 before the first step.
    pub fn step_number(&self) -> u64 {
        match &self.state {
            State::Setup(_) => 0,
            State::Running(running) => running.step(),
            State::Recording(recording) => recording.step(),
        }
    }

    /// Ends a schedule that was begun with [`Simulation::recording`].
    pub fn finish_recording(mut self) -> Result<Recording, Fault> {
        self.begin()?;
        match self.state {
            State::Recording(recording) => Ok(*recording),
            State::Setup(_) | State::Running(_) => unreachable!("the schedule is not recorded"),
        }
    }

    /// Ends the schedule, verifies that all blocks have arrived, and returns the totals.
    pub fn finish(mut self) -> Result<Totals, Fault> {
        self.end_step()?;
        self.begin()?;
        let State::Running(running) = self.state else {
            unreachable!("a recording ends with `finish_recording`");
        };
        let (mut payload, buffers) = running.end();
        payload.verify()?;
        let (send_buffer, receive_buffer) = buffers.most();
        Ok(Totals {
            proof: payload.proof(),
            peak_load: payload.loads().peak(),
            send_buffer,
            receive_buffer,
            segments: payload.segments(),
            verified_on: payload.verified_on(),
            ..self.listeners.totals()
        })
    }
}

#[cfg(test)]
mod tests;
