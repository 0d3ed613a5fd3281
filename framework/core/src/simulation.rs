//! A schedule's way through the framework: sends go into the exchange, what moved is measured,
//! listeners see each step.
//!
//! Nothing outlives its step: a schedule of a billion messages takes no more memory than its
//! largest step.

mod at_once;
mod buffers;
pub mod listener;
mod listeners;
mod messages;
mod setup;
pub mod step;
pub(crate) mod step_statistics;

use crate::delivery::byte_counts::{ByteCountUnits, ByteSend, Redistribution};
use crate::delivery::collective::{BlockSizes, Collective};
use crate::delivery::exchange::{Division, Rule};
use crate::delivery::fault::Fault;
use crate::delivery::payload::Proof;
use crate::network::symmetry::Symmetry;
use crate::network::topology::{Route, Topology};
use crate::simulation::at_once::AtOnce;
use crate::simulation::listener::Listener;
use crate::simulation::listeners::Listeners;
use crate::simulation::setup::Setup;
use crate::simulation::step::Totals;
use std::sync::Arc;

pub use setup::affordable;

/// What a schedule is to do.
#[derive(Debug, Clone)]
pub struct Task {
    /// The network it runs on.
    pub topology: Arc<dyn Topology>,
    /// What is to reach whom.
    pub collective: Collective,
    /// Sizes of blocks; `None` for uniform ones, which are counted.
    pub sizes: Option<Arc<dyn BlockSizes>>,
    /// Whether a message of no bytes is none. Its blocks are followed all the same.
    pub skip_empty: bool,
    /// Which nodes delivery is to be verified on.
    pub proof_scope: ProofScope,
}

/// Which nodes delivery is verified on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProofScope {
    /// One node of each symmetry orbit, if the plugin declares a symmetry and nothing prevents its
    /// use; otherwise all nodes.
    #[default]
    Auto,
    /// All nodes, whatever symmetry the plugin declares.
    Full,
}

impl Task {
    /// A task on blocks of the same size.
    pub fn new(topology: Arc<dyn Topology>, collective: Collective) -> Self {
        Self { topology, collective, sizes: None, skip_empty: false, proof_scope: ProofScope::Auto }
    }
}

/// How far a schedule is, and who carries it out from its first step on.
#[derive(Debug)]
enum State {
    /// Grid and placement may still be set.
    Open(Setup),
    /// What is sent is carried out as it comes.
    AtOnce(Box<AtOnce>),
}

const NOT_BEGUN: Fault = Fault::OutOfOrder("the schedule has not begun");
const NO_STEP: Fault = Fault::OutOfOrder("the schedule sends before its first step");
const BETWEEN_STEPS: Fault = Fault::OutOfOrder(
    "the schedule sends between steps: a new one must begin after a phase's name, a redistribution or a rearrangement",
);

/// A schedule under way: what it may do when, and to whom it goes.
pub struct Simulation<'a> {
    task: Task,
    state: State,
    listeners: Listeners<'a>,
    in_step: bool,
}

impl<'a> Simulation<'a> {
    /// Begins a schedule for `task`; `listeners` see each step.
    pub fn new(task: Task, listeners: Vec<&'a mut dyn Listener>) -> Result<Self, Fault> {
        let state = State::Open(Setup::new(&task)?);
        Ok(Self { task, state, listeners: Listeners::new(listeners), in_step: false })
    }

    /// Sets the schedule's own grid (empty for the topology's), how blocks are cut up, and the
    /// sizes that byte counts depend on if byte counts are to be moved instead of blocks.
    pub fn layout(
        &mut self,
        radices: &[u64],
        division: Division,
        byte_counts: Option<ByteCountUnits>,
    ) -> Result<(), Fault> {
        let laid_out = Setup::laid_out(&self.task, radices, division, byte_counts)?;
        match &mut self.state {
            State::Open(setup) => setup.lay_out(laid_out),
            State::AtOnce(_) => {
                Err(Fault::OutOfOrder("the schedule sets its grid after its first step"))
            }
        }
    }

    /// Node `logical` of the grid runs on node `real` of the machine.
    pub fn place(&mut self, virtual_node: u64, physical: u64, home: bool) -> Result<(), Fault> {
        match &mut self.state {
            State::Open(setup) => setup.place(virtual_node, physical, home),
            State::AtOnce(_) => {
                Err(Fault::OutOfOrder("the schedule places a node after its first step"))
            }
        }
    }

    /// The schedule is invariant under the group that does these things to the axes of its grid.
    /// Returns for how many coordinates of each axis, from 0 on, it is to be planned.
    pub fn symmetric(&mut self, symmetries: &[Symmetry]) -> Result<Vec<u64>, Fault> {
        match &mut self.state {
            State::Open(setup) => setup.symmetric(&self.task, &self.listeners, symmetries),
            State::AtOnce(_) => Err(Fault::OutOfOrder(
                "the schedule says what maps it onto itself after its first step",
            )),
        }
    }

    /// Names the steps that follow.
    pub fn phase(&mut self, name: &str) -> Result<(), Fault> {
        self.end_step()?;
        match &mut self.state {
            State::Open(_) => self.listeners.phase(name),
            State::AtOnce(at_once) => {
                at_once.begin_phase();
                self.listeners.phase(name);
            }
        }
        Ok(())
    }

    /// Begins a step: what was sent in the one before has arrived.
    pub fn step(&mut self) -> Result<(), Fault> {
        self.end_step()?;
        self.begin()?;
        match &mut self.state {
            State::Open(_) => {}
            State::AtOnce(at_once) => at_once.begin_step(),
        }
        self.in_step = true;
        Ok(())
    }

    /// Nothing of the grid can change any more.
    fn begin(&mut self) -> Result<(), Fault> {
        if let State::Open(setup) = &self.state {
            self.state = setup.begin(&self.task, &self.listeners)?;
        }
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), Fault> {
        if !std::mem::take(&mut self.in_step) {
            return Ok(());
        }
        match &mut self.state {
            State::Open(_) => Ok(()),
            State::AtOnce(at_once) => at_once.end_step(&mut self.listeners),
        }
    }

    /// Adds a send of blocks to the step.
    #[inline]
    pub fn send(&mut self, rule: &Rule<'_>, route: Option<&Route>) -> Result<(), Fault> {
        match &mut self.state {
            State::Open(_) => Err(NO_STEP),
            State::AtOnce(_) if !self.in_step => Err(BETWEEN_STEPS),
            State::AtOnce(at_once) => at_once.send(&mut self.listeners, rule, route),
        }
    }

    /// Adds a send of byte counts to the step.
    pub fn send_bytes(&mut self, share: &ByteSend<'_>, route: Option<&Route>) -> Result<(), Fault> {
        match &mut self.state {
            State::Open(_) => Err(NO_STEP),
            State::AtOnce(_) if !self.in_step => Err(BETWEEN_STEPS),
            State::AtOnce(at_once) => at_once.send_bytes(&mut self.listeners, share, route),
        }
    }

    /// Whether the schedule moves byte counts.
    pub fn moves_byte_counts(&self) -> bool {
        match &self.state {
            State::Open(setup) => setup.moves_byte_counts(),
            State::AtOnce(at_once) => at_once.proof() == Proof::ByteCounts,
        }
    }

    /// In a schedule of byte counts, a node redistributes all it holds, what has just arrived
    /// included.
    pub fn redistribute(&mut self, redistribution: &Redistribution<'_>) -> Result<(), Fault> {
        self.end_step()?;
        self.begin()?;
        match &mut self.state {
            State::Open(_) => Err(NOT_BEGUN),
            State::AtOnce(at_once) => at_once.redistribute(&mut self.listeners, redistribution),
        }
    }

    /// Every node rearranges all it holds.
    pub fn rearrange(&mut self) -> Result<(), Fault> {
        self.end_step()?;
        self.begin()?;
        match &mut self.state {
            State::Open(_) => return Err(NOT_BEGUN),
            State::AtOnce(at_once) => at_once.rearrange(&mut self.listeners),
        }
        Ok(())
    }

    /// The schedule's own number of the step under way, from 1; 0 before the first.
    pub fn step_number(&self) -> u64 {
        match &self.state {
            State::Open(_) => 0,
            State::AtOnce(at_once) => at_once.step(),
        }
    }

    /// Ends the schedule: proves that all has arrived and returns what no machine changes.
    pub fn finish(mut self) -> Result<Totals, Fault> {
        self.end_step()?;
        // A schedule may have had no step.
        self.begin()?;
        let (mut payload, buffers) = match self.state {
            State::Open(_) => return Err(NOT_BEGUN),
            State::AtOnce(at_once) => at_once.end(),
        };
        payload.verify()?;
        let (send_buffer, receive_buffer) = buffers.most();
        Ok(Totals {
            proof: payload.proof(),
            peak_load: payload.peak(),
            send_buffer,
            receive_buffer,
            segments: payload.segments(),
            verified_on: payload.verified_on(),
            ..self.listeners.totals()
        })
    }
}

#[cfg(test)]
mod orbits_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::boxes::NodeSet;
    use crate::delivery::collective::SCATTER;
    use crate::delivery::exchange::Rule;
    use crate::network::topology::parse;

    /// Node 1 gets nothing, the others a byte.
    #[derive(Debug)]
    struct NothingForOne;

    impl BlockSizes for NothingForOne {
        fn bytes(&self, _: u64, destination: u64) -> u64 {
            u64::from(destination != 1)
        }

        fn largest(&self) -> u64 {
            1
        }
    }

    /// What is empty is followed either way; whether it is a message the task says.
    #[test]
    fn a_message_of_no_bytes_is_none_where_the_task_skips_them() {
        let totals = |skip_empty, reached: &[u64]| {
            let sizes: Option<Arc<dyn BlockSizes>> = Some(Arc::new(NothingForOne));
            let task = Task {
                sizes,
                skip_empty,
                ..Task::new(parse("ring:3").unwrap(), Collective::of(&SCATTER))
            };
            let mut simulation = Simulation::new(task, Vec::new()).unwrap();
            for &to in reached {
                simulation.step().unwrap();
                let destinations = NodeSet::One(to);
                let rule = Rule { destinations, strict: true, ..Rule::new(0, to) };
                simulation.send(&rule, None).unwrap();
            }
            simulation.finish().map(|totals| (totals.steps, totals.messages))
        };
        assert_eq!((totals(false, &[1, 2]), totals(true, &[1, 2])), (Ok((2, 2)), Ok((1, 1))));
        assert!(totals(true, &[2]).is_err(), "the empty block was not sent");
    }
}
