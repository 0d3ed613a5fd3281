//! A schedule's way through the framework: sends go into the exchange, what moved is measured, listeners see each step.
//!
//! Nothing outlives its step: a schedule of a billion messages takes no more memory than its largest step.

mod ahead;
mod buffers;
mod expansion;
mod messages;
mod sends;
pub mod step;
pub mod step_statistics;

use crate::delivery::boxes::Side;
use crate::delivery::byte_counts::{Redistribution, Units};
use crate::delivery::collective::{BlockSizes, Collective};
use crate::delivery::exchange::{Division, Exchange, Inventory};
use crate::delivery::fault::Fault;
use crate::delivery::grid::Grid;
use crate::delivery::orbits::OrbitExchange;
use crate::delivery::payload::{Payload, Proof};
use crate::delivery::placement::Placement;
use crate::executor::{Executor, alone};
use crate::limits;
use crate::network::symmetry::{Group, Symmetry};
use crate::network::topology::{Route, Topology};
use crate::simulation::ahead::{Ahead, Means, Measured, Report, Told};
use crate::simulation::buffers::Buffers;
use crate::simulation::expansion::Expansion;
use crate::simulation::messages::Messages;
use crate::simulation::step::{Listener, LocalCopy, Reads, Step, Summed, Totals};
use crate::simulation::step_statistics::{Orbits, StepStatistics, Wanted};
use std::sync::Arc;

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
    /// On whom delivery is to be proved.
    pub proving: Proving,
    /// Who does what can be done side by side. What comes of a schedule is the same; of what a broken one is said to lack, where it is may be of a later moment.
    pub executor: Arc<dyn Executor>,
}

/// On whom delivery is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proving {
    /// One node of each orbit, where the schedule says that a group maps it onto itself and nothing stands against it.
    #[default]
    Auto,
    /// Everyone.
    Full,
}

impl Task {
    /// A task on blocks of the same size.
    pub fn new(topology: Arc<dyn Topology>, collective: Collective) -> Self {
        Self { topology, collective, sizes: None, skip_empty: false, proving: Proving::Auto, executor: alone() }
    }
}

/// What sender and receiver keep of what they had.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    copy: bool,
    combine: bool,
}

/// The state of a schedule under way.
#[derive(Debug)]
enum State {
    /// Grid and placement may still be set.
    Open {
        placement: Placement,
        division: Division,
        byte_counts: Option<Units>,
        laid_out: bool,
        claimed: Option<Claim>,
    },
    /// Steps come one by one, and nothing of the grid can change.
    Running(Box<Payload>),
    /// The same, and what they send is carried out behind them.
    Ahead(Box<Ahead>),
}

/// A group that the schedule says maps it onto itself.
#[derive(Debug)]
struct Claim {
    group: Group,
    /// Whether one node of each orbit is planned for.
    taken: bool,
}

/// A schedule under way.
pub struct Simulation<'a> {
    task: Task,
    state: State,
    statistics: StepStatistics,
    listeners: Vec<&'a mut dyn Listener>,
    watched: bool,
    /// What of messages a listener wants to know besides.
    kept: messages::Kept,
    /// The most that a listener reads.
    reads: Reads,
    /// Where one node of each orbit is planned for and facts of steps are all that is read.
    orbits: Option<Orbits>,
    /// Where one node of each orbit is planned for and somebody reads what all nodes do.
    expansion: Option<Expansion>,
    phase: String,
    phase_number: u32,
    in_step: bool,
    messages: Messages,
    routes: Vec<Route>,
    buffers: Buffers,
    totals: Totals,
}

impl<'a> Simulation<'a> {
    /// Begins a schedule for `task`; `listeners` see each step.
    pub fn new(task: Task, listeners: Vec<&'a mut dyn Listener>) -> Result<Self, Fault> {
        let grid = Grid::new(task.topology.radices()).map_err(Fault::BadGrid)?;
        let nodes = task.topology.nodes();
        let watched = listeners.iter().any(|l| l.wants_sends());
        let wanted = Wanted::by(&listeners);
        let kept = messages::Kept { blocks: wanted.packing, after: listeners.iter().any(|l| l.wants_after()) };
        let reads = listeners.iter().map(|l| l.reads()).max().unwrap_or(Reads::Facts);
        Ok(Self {
            state: State::Open {
                placement: Placement::new(grid, nodes),
                division: Division::WHOLE,
                byte_counts: None,
                laid_out: false,
                claimed: None,
            },
            // What is kept of each node is made when it is known how many are planned for.
            statistics: StepStatistics::of(Arc::clone(&task.topology), 0, wanted),
            task,
            listeners,
            watched,
            kept,
            reads,
            orbits: None,
            expansion: None,
            phase: String::new(),
            phase_number: 0,
            in_step: false,
            messages: Messages::new(0, kept),
            routes: Vec::new(),
            buffers: Buffers::new(0),
            totals: Totals::default(),
        })
    }

    /// Sets the schedule's own grid (empty for the topology's), how blocks are cut up, and the sizes that byte counts depend on if
    /// byte counts are to be moved instead of blocks.
    pub fn layout(&mut self, radices: &[u64], division: Division, byte_counts: Option<Units>) -> Result<(), Fault> {
        let Division { in_parts, segments } = division;
        let own = self.task.topology.radices();
        let grid = Grid::new(if radices.is_empty() { own } else { radices }).map_err(Fault::BadGrid)?;
        if u64::from(segments) > limits::SEGMENTS {
            return Err(Fault::BadGrid(format!(
                "blocks are to be split in {segments} segments, expected at most {}",
                limits::SEGMENTS
            )));
        }
        if in_parts && self.task.collective.kind().tells_apart(Side::Destinations) {
            return Err(Fault::BadGrid(
                "its blocks can't be laid out in parts, they go to one destination each".to_owned(),
            ));
        }
        if byte_counts.is_some() && (segments > 1 || in_parts) {
            return Err(Fault::BadGrid("byte counts are not split in segments, they are redistributed".to_owned()));
        }
        if byte_counts.is_some() && !self.task.collective.kind().by_byte_counts {
            return Err(Fault::OutOfOrder(
                "only an all-to-all can be done by byte counts: elsewhere it matters where data comes from",
            ));
        }
        match &mut self.state {
            State::Open { laid_out: false, claimed: None, .. } => {
                let placement = Placement::new(grid, self.task.topology.nodes());
                let division = Division { segments: segments.max(1), ..division };
                self.state = State::Open { placement, division, byte_counts, laid_out: true, claimed: None };
                Ok(())
            }
            State::Open { laid_out: false, claimed: Some(_), .. } => {
                Err(Fault::OutOfOrder("the schedule sets its grid after it has said what maps it onto itself"))
            }
            State::Open { laid_out: true, .. } => Err(Fault::OutOfOrder("the schedule sets its grid twice")),
            State::Running(_) | State::Ahead(_) => {
                Err(Fault::OutOfOrder("the schedule sets its grid after its first step"))
            }
        }
    }

    /// Node `logical` of the grid runs on node `real` of the machine.
    pub fn place(&mut self, virtual_node: u64, physical: u64, home: bool) -> Result<(), Fault> {
        match &mut self.state {
            State::Open { placement, claimed: None, .. } => placement.place(virtual_node, physical, home),
            State::Open { claimed: Some(_), .. } => {
                Err(Fault::OutOfOrder("the schedule places a node after it has said what maps it onto itself"))
            }
            State::Running(_) | State::Ahead(_) => {
                Err(Fault::OutOfOrder("the schedule places a node after its first step"))
            }
        }
    }

    /// The schedule is invariant under the group that does these things to the axes of its grid. Returns for how many coordinates of each axis, from 0 on,
    /// it is to be planned.
    pub fn symmetric(&mut self, symmetries: &[Symmetry]) -> Result<Vec<u64>, Fault> {
        match &mut self.state {
            State::Open { claimed: Some(_), .. } => {
                Err(Fault::OutOfOrder("the schedule says twice what maps it onto itself"))
            }
            State::Running(_) | State::Ahead(_) => {
                Err(Fault::OutOfOrder("the schedule says what maps it onto itself after its first step"))
            }
            State::Open { placement, byte_counts, claimed: claimed @ None, .. } => {
                let (own, nodes) = (placement.grid().radices(), [placement.grid().nodes()]);
                // One symmetry speaks of the nodes' numbers, whatever the grid.
                let radices = if symmetries.len() == 1 { &nodes } else { own };
                let group = Group::new(radices, symmetries).map_err(Fault::BadSymmetry)?;
                let blocks_alike = byte_counts.is_none() && self.task.sizes.is_none();
                let own_nodes = placement.is_identity() && placement.check().is_ok();
                let taken = group.order() > 1
                    && self.task.proving == Proving::Auto
                    && !self.kept.after
                    && blocks_alike
                    && own_nodes
                    // What shares ports is counted rank by rank.
                    && self.task.topology.shared().is_none()
                    && Grid::new(radices).is_ok()
                    && is_invariant(&self.task.collective, &group);
                let planned = group.axes().iter().map(|axis| if taken { axis.unit } else { axis.radix }).collect();
                *claimed = Some(Claim { group, taken });
                Ok(planned)
            }
        }
    }

    /// Names the steps that follow.
    pub fn phase(&mut self, name: &str) -> Result<(), Fault> {
        self.end_step()?;
        match &mut self.state {
            State::Ahead(ahead) => ahead.phase(name),
            State::Open { .. } | State::Running(_) => self.begin_phase(name),
        }
        Ok(())
    }

    fn begin_phase(&mut self, name: &str) {
        self.phase.clear();
        self.phase.push_str(name);
        self.phase_number += 1;
        self.buffers.begin_phase();
        self.listeners.iter_mut().for_each(|listener| listener.phase(name));
    }

    /// Begins a step: what was sent in the one before has arrived.
    pub fn step(&mut self) -> Result<(), Fault> {
        self.end_step()?;
        self.begin()?;
        match &mut self.state {
            State::Ahead(ahead) => ahead.begin_step(),
            State::Running(payload) => payload.begin_step(),
            State::Open { .. } => {}
        }
        self.in_step = true;
        Ok(())
    }

    /// From the first step on it is known what is followed, and of whom.
    fn begin(&mut self) -> Result<(), Fault> {
        if let State::Open { placement, division, byte_counts, claimed, .. } = &self.state {
            let (placement, sizes, division) = (placement.clone(), self.task.sizes.clone(), *division);
            let (topology, collective) = (&self.task.topology, self.task.collective.clone());
            let group = claimed.as_ref().filter(|claim| claim.taken).map(|claim| claim.group.clone());
            let planned = group.as_ref().map_or(topology.nodes(), Group::representatives);
            // What is looked at node by node, whoever is planned for.
            let followed = if self.reads < Reads::Schedule { planned } else { topology.nodes() };
            affordable(followed).map_err(Fault::Refused)?;
            let payload = match (byte_counts, group) {
                (Some(units), _) => Payload::byte_counts(placement, sizes, *units)?,
                (None, Some(group)) => {
                    let folds = (self.reads < Reads::Schedule).then(|| Orbits::new(topology.as_ref(), group.clone()));
                    let exchange = OrbitExchange::new(collective, placement, division, group)?;
                    self.expansion = folds.is_none().then(|| Expansion::new(&exchange));
                    self.orbits = folds;
                    Payload::Orbits(exchange)
                }
                (None, None)
                    if !self.watched
                        && !self.kept.after
                        && sizes.is_none()
                        && has_long_axes(&collective, division, &placement) =>
                {
                    Payload::Orbits(OrbitExchange::of_everyone(collective, placement, division)?)
                }
                (None, None) => {
                    let exchange = Exchange::new(collective, placement, division, sizes)?;
                    if self.task.executor.crew() > 0 && !self.watched && !self.kept.after {
                        self.state = State::Ahead(Box::new(Ahead::new(exchange, self.means())));
                        return Ok(());
                    }
                    Payload::Blocks(if self.kept.after { exchange.following_arrivals() } else { exchange })
                }
            };
            self.statistics.follow(followed as usize);
            self.buffers = Buffers::new(followed as usize);
            self.messages = match self.orbits {
                None => Messages::new(followed as usize, self.kept),
                Some(_) => Messages::of_some(followed as usize),
            };
            self.state = State::Running(Box::new(payload));
        }
        Ok(())
    }

    /// What the crew works with where everyone is planned for.
    fn means(&self) -> Means {
        Means {
            executor: Arc::clone(&self.task.executor),
            topology: Arc::clone(&self.task.topology),
            wanted: Wanted::by(&self.listeners),
            kept: self.kept,
            skip_empty: self.task.skip_empty,
            for_all: self.reads > Reads::Facts,
        }
    }

    fn running(&mut self) -> Result<&mut Payload, Fault> {
        self.begin()?;
        match &mut self.state {
            State::Running(payload) => Ok(payload),
            State::Ahead(_) => {
                Err(Fault::OutOfOrder("the schedule redistributes, but did not say that it moves byte counts"))
            }
            State::Open { .. } => Err(Fault::OutOfOrder("the schedule has not begun")),
        }
    }

    /// Whether the schedule moves byte counts.
    pub fn moves_byte_counts(&self) -> bool {
        match &self.state {
            State::Open { byte_counts, .. } => byte_counts.is_some(),
            State::Running(payload) => payload.proof() == Proof::ByteCounts,
            State::Ahead(_) => false,
        }
    }

    /// In a schedule of byte counts, a node redistributes all it holds, what has just arrived included.
    pub fn redistribute(&mut self, redistribution: &Redistribution<'_>) -> Result<(), Fault> {
        self.end_step()?;
        self.running()?.redistribute(redistribution)?;
        self.listeners.iter_mut().filter(|l| l.wants_sends()).for_each(|l| l.redistributed(redistribution));
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), Fault> {
        if !std::mem::take(&mut self.in_step) {
            return Ok(());
        }
        if let State::Ahead(ahead) = &mut self.state {
            return if ahead.end_step() { self.hand_over(false) } else { Ok(()) };
        }
        self.write_out(None);
        let State::Running(payload) = &mut self.state else { return Ok(()) };
        let anything = !self.messages.is_empty();
        payload.end_step()?;
        if let Some((node, block)) = payload.take_redundant() {
            let step = payload.step();
            self.listeners.iter_mut().for_each(|listener| listener.redundant(step, node, block));
        }
        let most = payload.most_summed();
        if most > 0 {
            self.totals.critical_summed += u128::from(most);
            self.write_out_summed();
            let State::Running(payload) = &self.state else { return Ok(()) };
            let of = self.expansion.as_ref().map_or(payload.summed(), Expansion::summed);
            let symmetry = self.orbits.as_ref().map(Orbits::group);
            let summed = Summed { most, of, symmetry, segments: payload.segments() };
            self.listeners.iter_mut().for_each(|listener| listener.summed(summed));
        }
        if !anything {
            self.routes.clear();
            return Ok(());
        }
        self.write_out_held();
        let State::Running(payload) = &self.state else { return Ok(()) };
        let (number, (messages, blocks)) = (payload.step(), self.messages.merged());
        let facts = match &mut self.orbits {
            None => {
                messages.iter().for_each(|t| self.buffers.moved(t.from, t.to, t.load));
                self.statistics.measure(number, messages, blocks, &self.routes)?
            }
            Some(orbits) => {
                self.statistics.measure_orbits(number, messages, &self.routes, orbits, &mut self.buffers)?
            }
        };
        self.totals.add(&facts);
        let step = Step {
            inverse_bandwidth: self.statistics.inverse_bandwidth(),
            mean_hops: self.statistics.mean_hops(),
            busiest_links: self.statistics.busiest_links(),
            proof: payload.proof(),
            number: self.totals.steps,
            schedule_step: payload.step(),
            phase: &self.phase,
            phase_number: self.phase_number,
            transfers: self.messages.as_slice(),
            symmetry: self.orbits.as_ref().map(Orbits::group),
            after: self.messages.after(),
            routes: &self.routes,
            segments: payload.segments(),
            facts,
            held: self.expansion.as_ref().map_or(payload.held(), Expansion::held),
        };
        for listener in &mut self.listeners {
            listener.step(&step);
        }
        self.messages.clear();
        self.routes.clear();
        Ok(())
    }

    /// Every node rearranges all it holds.
    pub fn rearrange(&mut self) -> Result<(), Fault> {
        self.end_step()?;
        self.begin()?;
        if let State::Ahead(ahead) = &mut self.state {
            ahead.rearrange();
            return Ok(());
        }
        let payload = self.running()?;
        let (most, segments) = (payload.held().iter().copied().max().unwrap_or(0), payload.segments());
        self.rearranged(most, segments);
        Ok(())
    }

    fn rearranged(&mut self, most: u64, segments: u64) {
        self.totals.rearrangements += 1;
        self.listeners.iter_mut().for_each(|listener| listener.rearranged(most, segments));
    }

    /// What waits is carried out behind the schedule; what came of what waited before is told.
    fn hand_over(&mut self, in_step: bool) -> Result<(), Fault> {
        let State::Ahead(ahead) = &mut self.state else { return Ok(()) };
        let reports = ahead.hand_over(in_step);
        reports.into_iter().try_for_each(|report| self.tell(report))
    }

    /// All that waits is carried out, and told.
    pub fn carry_out(&mut self) -> Result<(), Fault> {
        let State::Ahead(ahead) = &mut self.state else { return Ok(()) };
        let reports = ahead.finish(self.in_step);
        reports.into_iter().try_for_each(|report| self.tell(report))
    }

    /// Tells what came of some of the schedule, up to the first broken rule.
    fn tell(&mut self, report: Report) -> Result<(), Fault> {
        let State::Ahead(ahead) = &mut self.state else { return Ok(()) };
        let (proof, segments) = (ahead.proof(), ahead.segments());
        let Report { batch, told } = report;
        for one in told {
            match one {
                Told::Phase(name) => self.begin_phase(&name),
                Told::Rearranged(most) => self.rearranged(most, segments),
                Told::Unsent(unsent) => self.listeners.iter_mut().for_each(|listener| listener.unsent(&unsent)),
                Told::LocalCopy(schedule_step, node, load) => {
                    let phase_number = self.phase_number;
                    let copy = LocalCopy { node, load, segments, phase_number, schedule_step };
                    self.listeners.iter_mut().for_each(|listener| listener.local_copy(copy));
                }
                Told::Redundant(step, node, block) => {
                    self.listeners.iter_mut().for_each(|listener| listener.redundant(step, node, block));
                }
                Told::Summed(most, of) => {
                    self.totals.critical_summed += u128::from(most);
                    let summed = Summed { most, of: &of, symmetry: None, segments };
                    self.listeners.iter_mut().for_each(|listener| listener.summed(summed));
                }
                Told::Step(measured, held) => {
                    let Measured { number, facts, transfers, inverse_bandwidth, mean_hops, busiest_links } = *measured;
                    self.totals.add(&facts);
                    let step = Step {
                        inverse_bandwidth: &inverse_bandwidth,
                        mean_hops: &mean_hops,
                        busiest_links: &busiest_links,
                        proof,
                        number: self.totals.steps,
                        schedule_step: number,
                        phase: &self.phase,
                        phase_number: self.phase_number,
                        transfers: &transfers,
                        symmetry: None,
                        after: &[],
                        routes: &batch.routes,
                        segments,
                        facts,
                        held: &held,
                    };
                    self.listeners.iter_mut().for_each(|listener| listener.step(&step));
                }
                Told::Fault(fault) => return Err(fault),
            }
        }
        if let State::Ahead(ahead) = &mut self.state {
            ahead.reuse(batch);
        }
        Ok(())
    }

    /// The schedule's own number of the step under way, from 1; 0 before the first.
    pub fn step_number(&self) -> u64 {
        match &self.state {
            State::Open { .. } => 0,
            State::Running(payload) => payload.step(),
            State::Ahead(ahead) => ahead.step(),
        }
    }

    /// Ends the schedule: proves that all has arrived and returns what no machine changes.
    pub fn finish(mut self) -> Result<Totals, Fault> {
        self.end_step()?;
        // A schedule may have had no step.
        self.begin()?;
        self.carry_out()?;
        if let State::Ahead(ahead) = &mut self.state {
            let Some((exchange, buffers)) = ahead.end() else {
                return Err(Fault::Found("what was handed over to other threads never came back".to_owned()));
            };
            self.buffers = buffers;
            self.state = State::Running(Box::new(Payload::Blocks(exchange)));
        }
        let (send_buffer, receive_buffer) = self.buffers.most();
        let payload = self.running()?;
        payload.verify()?;
        let proof = payload.proof();
        let (peak_load, segments) = (payload.peak(), payload.segments());
        let proved_on = payload.proved_on();
        Ok(Totals { proof, peak_load, send_buffer, receive_buffer, segments, proved_on, ..self.totals })
    }
}

/// Whether sets are better followed as runs, every node its own orbit: where they would take many words, of which ranges and single coordinates need few. Not
/// where they wouldn't be affordable as bits: how many runs a schedule makes of them, nobody knows beforehand.
fn has_long_axes(collective: &Collective, division: Division, placement: &Placement) -> bool {
    /// Measured: on shorter axes boxes of bits are faster.
    const LONG_AXIS: u64 = 1 << 15;
    let is_long = |radix: &u64| *radix >= LONG_AXIS;
    let told_apart = Inventory::tells_apart(collective, division).into_iter().any(|told| told);
    told_apart
        && placement.is_identity()
        && placement.check().is_ok()
        && placement.grid().radices().iter().any(is_long)
        && Inventory::least_bytes(&Inventory::layout(collective, division, placement)) <= limits::HELD_BYTES
}

/// Whether a case may be planned for so many nodes; `Err` says why not.
pub fn affordable(planned: u64) -> Result<(), String> {
    const MOST: u64 = limits::CASE_NODES;
    if planned <= MOST { Ok(()) } else { Err(format!("{planned} nodes are more than a case may have, {MOST}")) }
}

/// Whether a group maps a collective onto itself: it takes what each node has to what another has, and what each is to have.
fn is_invariant(collective: &Collective, group: &Group) -> bool {
    !collective.kind().is_rooted() && collective.images().is_none_or(|images| group.commutes_with(images))
}

#[cfg(test)]
mod orbits_tests;

#[cfg(test)]
mod together_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::boxes::{Axis, NodeSet};
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
            let task = Task { sizes, skip_empty, ..Task::new(parse("ring:3").unwrap(), Collective::of(&SCATTER)) };
            let mut simulation = Simulation::new(task, Vec::new()).unwrap();
            for &to in reached {
                simulation.step().unwrap();
                let destinations = NodeSet::One(to);
                let (strict, copy, combine, local) = (true, false, false, false);
                let segments = Axis::All;
                let rule =
                    Rule { from: 0, to, origins: NodeSet::All, destinations, segments, strict, copy, combine, local };
                simulation.send(&rule, None).unwrap();
            }
            simulation.finish().map(|totals| (totals.steps, totals.messages))
        };
        assert_eq!((totals(false, &[1, 2]), totals(true, &[1, 2])), (Ok((2, 2)), Ok((1, 1))));
        assert!(totals(true, &[2]).is_err(), "the empty block was not sent");
    }
}
