//! A schedule's way through the framework: sends go into the exchange, what moved is measured, listeners see each step.
//!
//! Nothing outlives its step: a schedule of a billion messages takes no more memory than its largest step.

mod messages;
pub mod step;
pub mod step_statistics;

use crate::delivery::byte_counts::{Deal, Portion, Units};
use crate::delivery::collective::{BlockSizes, Collective};
use crate::delivery::exchange::{Exchange, Rule};
use crate::delivery::fault::Fault;
use crate::delivery::grid::Grid;
use crate::delivery::payload::{Goods, Proof};
use crate::delivery::placement::Placement;
use crate::limits;
use crate::network::topology::{Topology, Way};
use crate::simulation::messages::Messages;
use crate::simulation::step::{Listener, Sent, Step, Totals};
use crate::simulation::step_statistics::Meter;
use std::sync::Arc;

/// What a schedule is to do.
#[derive(Debug, Clone)]
pub struct Task {
    /// Where.
    pub topology: Arc<dyn Topology>,
    /// What is to reach whom.
    pub collective: Collective,
    /// Sizes of blocks; `None` for uniform ones, which are counted.
    pub sizes: Option<Arc<dyn BlockSizes>>,
}

/// The state of a schedule under way.
#[derive(Debug)]
enum State {
    /// Grid and placement may still be set.
    Open { placement: Placement, parts: u32, amounts: Option<Units>, laid_out: bool },
    /// Steps stream.
    Running(Box<Goods>),
}

/// A schedule under way.
pub struct Walk<'a> {
    task: Task,
    state: State,
    meter: Meter,
    listeners: Vec<&'a mut dyn Listener>,
    watched: bool,
    phase: String,
    phase_number: u32,
    in_step: bool,
    messages: Messages,
    ways: Vec<Way>,
    totals: Totals,
}

impl<'a> Walk<'a> {
    /// Begins a schedule for `task`; `listeners` see each step.
    pub fn new(task: Task, listeners: Vec<&'a mut dyn Listener>) -> Result<Self, Fault> {
        let grid = Grid::new(task.topology.radices()).map_err(Fault::BadGrid)?;
        let nodes = task.topology.nodes();
        let watched = listeners.iter().any(|l| l.wants_sends());
        let multiplexing = listeners.iter().any(|l| l.wants_multiplexing());
        Ok(Self {
            state: State::Open { placement: Placement::new(grid, nodes), parts: 1, amounts: None, laid_out: false },
            meter: Meter::new(Arc::clone(&task.topology), multiplexing),
            task,
            listeners,
            watched,
            phase: String::new(),
            phase_number: 0,
            in_step: false,
            messages: Messages::new(nodes as usize),
            ways: Vec::new(),
            totals: Totals::default(),
        })
    }

    /// Sets the schedule's own grid (empty for the topology's), the parts blocks are split in, and the sizes that amounts depend on if
    /// amounts are to be moved instead of blocks.
    pub fn layout(&mut self, radices: &[u64], parts: u32, amounts: Option<Units>) -> Result<(), Fault> {
        let own = self.task.topology.radices();
        let grid = Grid::new(if radices.is_empty() { own } else { radices }).map_err(Fault::BadGrid)?;
        if u64::from(parts) > limits::PARTS {
            return Err(Fault::BadGrid(format!(
                "blocks are to be split in {parts} parts, expected at most {}",
                limits::PARTS
            )));
        }
        if amounts.is_some() && parts > 1 {
            return Err(Fault::BadGrid("amounts are not split in parts, they are dealt out".to_owned()));
        }
        if amounts.is_some() && !matches!(self.task.collective, Collective::AllToAll) {
            return Err(Fault::OutOfOrder(
                "only an all-to-all can be done by amounts: elsewhere it matters where data comes from",
            ));
        }
        match &mut self.state {
            State::Open { laid_out: false, .. } => {
                let placement = Placement::new(grid, self.task.topology.nodes());
                self.state = State::Open { placement, parts: parts.max(1), amounts, laid_out: true };
                Ok(())
            }
            State::Open { .. } => Err(Fault::OutOfOrder("the schedule sets its grid twice")),
            State::Running(_) => Err(Fault::OutOfOrder("the schedule sets its grid after its first step")),
        }
    }

    /// Node `logical` of the grid runs on node `real` of the machine.
    pub fn place(&mut self, logical: u64, real: u64, owner: bool) -> Result<(), Fault> {
        match &mut self.state {
            State::Open { placement, .. } => placement.place(logical, real, owner),
            State::Running(_) => Err(Fault::OutOfOrder("the schedule places a node after its first step")),
        }
    }

    /// Names the steps that follow.
    pub fn phase(&mut self, name: &str) -> Result<(), Fault> {
        self.end_step()?;
        self.phase.clear();
        self.phase.push_str(name);
        self.phase_number += 1;
        self.meter.begin_phase();
        self.listeners.iter_mut().for_each(|listener| listener.phase(name));
        Ok(())
    }

    /// Begins a step.
    pub fn step(&mut self) -> Result<(), Fault> {
        self.end_step()?;
        self.running()?.begin_step();
        self.in_step = true;
        Ok(())
    }

    fn running(&mut self) -> Result<&mut Goods, Fault> {
        if let State::Open { placement, parts, amounts, .. } = &self.state {
            let (placement, sizes) = (placement.clone(), self.task.sizes.clone());
            let goods = match amounts {
                Some(units) => Goods::amounts(placement, sizes, *units)?,
                None => Goods::Blocks(Exchange::new(self.task.collective.clone(), placement, *parts, sizes)?),
            };
            self.state = State::Running(Box::new(goods));
        }
        match &mut self.state {
            State::Running(goods) => Ok(goods),
            State::Open { .. } => Err(Fault::OutOfOrder("the schedule has not begun")),
        }
    }

    /// Whether the schedule moves amounts.
    pub fn moves_amounts(&self) -> bool {
        match &self.state {
            State::Open { amounts, .. } => amounts.is_some(),
            State::Running(goods) => goods.proof() == Proof::Amounts,
        }
    }

    /// In a schedule of amounts, a node deals out all it holds, what has just arrived included.
    pub fn deal(&mut self, deal: &Deal<'_>) -> Result<(), Fault> {
        self.end_step()?;
        self.running()?.deal(deal)?;
        self.listeners.iter_mut().filter(|l| l.wants_sends()).for_each(|l| l.dealt(deal));
        Ok(())
    }

    /// Adds a send of blocks to the step.
    pub fn send(&mut self, rule: &Rule<'_>, way: Option<&Way>) -> Result<(), Fault> {
        let watched = self.watched;
        let Goods::Blocks(exchange) = self.in_step()? else {
            return Err(Fault::OutOfOrder("the schedule sends blocks, but said that it moves amounts"));
        };
        let before = if watched { exchange.on_their_way(0).count() } else { 0 };
        match exchange.send(rule)? {
            Some(load) => self.sent(rule.from, rule.to, before, load, way),
            None => Ok(()),
        }
    }

    /// Adds a send of amounts to the step.
    pub fn send_amounts(&mut self, portion: &Portion<'_>, way: Option<&Way>) -> Result<(), Fault> {
        match self.in_step()?.send_amounts(portion)? {
            Some(load) => {
                self.listeners.iter_mut().filter(|l| l.wants_sends()).for_each(|l| l.portion(portion));
                self.sent(portion.from, portion.to, 0, load, way)
            }
            None => Ok(()),
        }
    }

    fn in_step(&mut self) -> Result<&mut Goods, Fault> {
        match &mut self.state {
            State::Running(goods) if self.in_step => Ok(goods),
            State::Running(_) => Err(Fault::OutOfOrder(
                "the schedule sends between steps: a new one must begin after a phase's name, a deal or a rearrangement",
            )),
            State::Open { .. } => Err(Fault::OutOfOrder("the schedule sends before its first step")),
        }
    }

    /// A load was put on its way, boxes from number `before` on.
    fn sent(&mut self, from: u64, to: u64, before: usize, load: u64, way: Option<&Way>) -> Result<(), Fault> {
        let State::Running(goods) = &self.state else { return Ok(()) };
        if self.watched {
            let boxes = match &**goods {
                Goods::Blocks(exchange) => exchange.on_their_way(before).map(|(_, b)| b).collect(),
                Goods::Amounts(_) | Goods::LargeAmounts(_) => Vec::new(),
            };
            let sent = Sent {
                step: goods.step(),
                from: goods.placement().locate(from),
                to: goods.placement().locate(to),
                proof: goods.proof(),
                boxes,
                layout: goods.layout(),
                placement: goods.placement(),
                topology: self.task.topology.as_ref(),
                load,
                way,
            };
            for listener in self.listeners.iter_mut().filter(|l| l.wants_sends()) {
                listener.sent(&sent);
            }
        }
        let (from, to) = (goods.placement().real(from), goods.placement().real(to));
        let (step, parts) = (goods.step(), goods.parts());
        let (from, to) = (from as u32, to as u32);
        if from == to {
            self.meter.kept(from, load);
            for listener in &mut self.listeners {
                listener.kept(from, load, parts, self.phase_number);
            }
            return Ok(());
        }
        let way = match way {
            None => 0,
            Some(way) => self.way_number(way),
        };
        self.messages.add(step, from, to, way, load);
        Ok(())
    }

    /// Schedules use few different ways, a direction each; a path is seldom used twice.
    fn way_number(&mut self, way: &Way) -> u32 {
        const LOOK_BACK: usize = 16;
        let recent = self.ways.len().saturating_sub(LOOK_BACK);
        if let Some(i) = self.ways[recent..].iter().position(|w| w.is(way)) {
            return (recent + i) as u32 + 1;
        }
        self.ways.push(way.clone());
        self.ways.len() as u32
    }

    fn end_step(&mut self) -> Result<(), Fault> {
        if !std::mem::take(&mut self.in_step) {
            return Ok(());
        }
        let State::Running(goods) = &mut self.state else { return Ok(()) };
        let anything = !self.messages.is_empty();
        goods.end_step(anything)?;
        if !anything {
            return Ok(());
        }
        let facts = self.meter.measure(goods.step(), self.messages.merged(), &self.ways)?;
        self.totals.add(&facts);
        let step = Step {
            slowness: self.meter.slowness(),
            proof: goods.proof(),
            number: self.totals.steps,
            phase: &self.phase,
            phase_number: self.phase_number,
            transfers: self.messages.as_slice(),
            ways: &self.ways,
            parts: goods.parts(),
            facts,
            held: goods.held(),
        };
        for listener in &mut self.listeners {
            listener.step(&step);
        }
        self.messages.clear();
        self.ways.clear();
        Ok(())
    }

    /// Every node rearranges all it holds.
    pub fn rearrange(&mut self) -> Result<(), Fault> {
        self.end_step()?;
        let goods = self.running()?;
        let (most, parts) = (goods.held().iter().copied().max().unwrap_or(0), goods.parts());
        self.totals.rearrangements += 1;
        for listener in &mut self.listeners {
            listener.rearranged(most, parts);
        }
        Ok(())
    }

    /// The schedule's own number of the step under way, from 1; 0 before the first.
    pub fn step_number(&self) -> u64 {
        match &self.state {
            State::Open { .. } => 0,
            State::Running(goods) => goods.step(),
        }
    }

    /// Ends the schedule: proves that all has arrived and returns what no machine changes.
    pub fn finish(mut self) -> Result<Totals, Fault> {
        self.end_step()?;
        let goods = self.running()?;
        goods.verify()?;
        let proof = goods.proof();
        let (peak_load, parts) = (goods.peak(), goods.parts());
        let (send_buffer, receive_buffer) = self.meter.most_buffered();
        Ok(Totals { proof, peak_load, send_buffer, receive_buffer, parts, ..self.totals })
    }
}
