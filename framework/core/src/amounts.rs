//! The second kind of exchange: amounts instead of blocks.
//!
//! Some algorithms forget where data comes from: they deal out what they hold element by element, so that every message is about as long as
//! every other (Liu, Wang & Prasanna, section 3; Bader et al.). There a node holds *so many bytes for each destination*, and what is proved is
//! that none are lost or made on the way and that all end where they should: `verified` is then `amounts`.
//!
//! A node's holdings are one number a destination. What a node dealt stays with it as it was, with a note of who got which hand; only when a
//! receiver needs to know what it holds are the notes settled, for all nodes that share their receivers together. That costs a few operations a
//! node and destination, however many hands there are: an exchange of a full matrix takes time in proportion to its N x N entries.

use crate::boxes::{Axis, Layout, NodeSet, Selection, Side};
use crate::collective::BlockSizes;
use crate::fault::{Count, Fault, Place};
use crate::placement::Placement;
use deal::{Pattern, Tally};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

mod deal;

/// How big things are, which a schedule of amounts depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Units {
    /// Bytes of each block when sizes are uniform.
    pub block_bytes: u64,
    /// Bytes of the unit that is dealt out.
    pub element_bytes: u64,
}

/// A node deals out all it holds ([`Pattern`] says how).
#[derive(Debug, Clone, Copy)]
pub struct Deal<'a> {
    /// Who deals.
    pub node: u64,
    /// How many hands there are.
    pub hands: u64,
    /// Cards after which the deal begins again.
    pub cycle: u64,
    /// The hand the first card goes to.
    pub first: u64,
    /// For each destination the card its elements begin with; empty for 0 everywhere.
    pub starts: &'a [u32],
    /// For each destination what is added to `first`; empty for 0 everywhere.
    pub firsts: &'a [u32],
}

/// One send of amounts.
#[derive(Debug, Clone, Copy)]
pub struct Portion<'a> {
    /// Sender.
    pub from: u64,
    /// Receiver.
    pub to: u64,
    /// Sender and receiver may be the same.
    pub local: bool,
    /// What goes.
    pub what: What<'a>,
}

/// What a send of amounts takes.
#[derive(Debug, Clone, Copy)]
pub enum What<'a> {
    /// A hand of what was dealt.
    Hand(u64),
    /// All that the sender holds for these destinations.
    For(NodeSet<'a>),
    /// So many bytes for each of these destinations.
    Named(&'a [(u64, u64)]),
}

/// A number of elements for one destination. Narrow where all that anybody can hold for one destination fits: the table of a large exchange is
/// gigabytes, and going through it is what costs time.
pub trait Cell: Copy + Default + fmt::Debug + Into<u64> {
    /// From a number that is known to fit.
    fn of(elements: u64) -> Self;
}

impl Cell for u32 {
    fn of(elements: u64) -> Self {
        elements as Self
    }
}

impl Cell for u64 {
    fn of(elements: u64) -> Self {
        elements
    }
}

/// In `Dealt::receivers`: nobody has it yet.
const UNSENT: u32 = u32::MAX;
/// In `Dealt::receivers`: its receiver knows what is in it.
const SETTLED: u32 = u32::MAX - 1;

/// What a node has dealt out and not yet all been settled.
#[derive(Debug)]
struct Dealt<T> {
    /// Elements for each destination, before the deal.
    amounts: Vec<T>,
    pattern: Arc<Pattern>,
    first: u32,
    /// Elements of each hand.
    sizes: Vec<u64>,
    /// Who has each hand, and since which step.
    receivers: Vec<u32>,
    steps: Vec<u32>,
    unsent: usize,
}

/// Who holds how much for whom.
#[derive(Debug)]
pub struct Amounts<T> {
    nodes: usize,
    sizes: Option<Arc<dyn BlockSizes>>,
    units: Units,
    placement: Placement,
    layout: Layout,
    selection: Selection,
    /// Elements that each node holds for each destination; empty for none at all.
    holdings: Vec<Vec<T>>,
    /// Holdings no longer needed, whose memory is.
    spare: Vec<Vec<T>>,
    /// Whether a node's holdings still are what it started with, and not written down yet.
    untouched: Vec<bool>,
    dealt: Vec<Option<Dealt<T>>>,
    /// Nodes with something dealt.
    dealers: Vec<u32>,
    /// Hands sent whose receivers don't know yet what is in them.
    unsettled: usize,
    /// The pattern last used: nodes of one phase deal alike.
    pattern: Option<Arc<Pattern>>,
    /// What arrives at the end of the step: receiver, destination, elements.
    arriving: Vec<(u32, u32, u64)>,
    receivers: Vec<u32>,
    /// Bytes that each node holds.
    held: Vec<u64>,
    peak: u64,
    begun: bool,
    step: u64,
    /// Words that hands take.
    hands: u64,
}

/// More than this many bytes for holdings or hands and a case is refused.
const MOST_BYTES: u64 = 8 << 30;

impl<T: Cell> Amounts<T> {
    /// Everyone holds what the workload gives them. Block sizes must be multiples of the element.
    pub fn new(placement: Placement, sizes: Option<Arc<dyn BlockSizes>>, units: Units) -> Result<Self, Fault> {
        let nodes = placement.grid().nodes();
        if nodes != placement.machine_nodes() || !placement.is_identity() {
            return Err(Fault::BadGrid("a schedule of amounts runs each node on its own, expected a grid of as many nodes as the machine, none placed".to_owned()));
        }
        if nodes.saturating_mul(nodes) > MOST_BYTES / size_of::<T>() as u64 {
            return Err(Fault::Refused(format!(
                "amounts for each of {nodes} destinations at {nodes} nodes would take {} GiB, at most 8 may",
                nodes.saturating_mul(nodes).saturating_mul(size_of::<T>() as u64) >> 30
            )));
        }
        if u128::from(units.block_bytes) * u128::from(nodes) * u128::from(nodes) > u128::from(u64::MAX / 2) {
            return Err(Fault::Refused(format!(
                "blocks of {} bytes among {nodes} nodes add up beyond 2^63 bytes",
                units.block_bytes
            )));
        }
        let layout = Layout::new(placement.grid().clone(), false, true, 1);
        let selection = layout.select_all();
        let all: Vec<u64> = (0..nodes).collect();
        let held: Vec<u64> = match &sizes {
            Some(sizes) => all.iter().map(|from| sizes.total(&[*from], &all)).collect(),
            None => vec![units.block_bytes.saturating_mul(nodes); nodes as usize],
        };
        let nodes = nodes as usize;
        Ok(Self {
            nodes,
            placement,
            sizes,
            units: Units { element_bytes: units.element_bytes.max(1), ..units },
            layout,
            selection,
            holdings: vec![Vec::new(); nodes],
            spare: Vec::new(),
            untouched: vec![true; nodes],
            dealt: (0..nodes).map(|_| None).collect(),
            dealers: Vec::new(),
            unsettled: 0,
            pattern: None,
            arriving: Vec::new(),
            receivers: Vec::new(),
            held,
            peak: 0,
            begun: false,
            step: 0,
            hands: 0,
        })
    }

    /// Begins the next step.
    pub fn begin_step(&mut self) {
        self.step += 1;
    }

    /// A node deals out all it holds.
    pub fn deal(&mut self, deal: &Deal<'_>) -> Result<(), Fault> {
        let bad = |what: String| Fault::BadDeal { step: self.step, node: deal.node, what };
        let nodes = self.nodes as u64;
        if deal.node >= nodes {
            return Err(bad(format!("is unknown, the schedule's grid has nodes 0 to {}", nodes - 1)));
        }
        /// A deal of more hands than there are nodes is seldom meant.
        const MOST_HANDS: u64 = 1 << 16;
        for (name, value, most) in
            [("hands", deal.hands, nodes.max(MOST_HANDS)), ("cards a cycle", deal.cycle, 1 << 31)]
        {
            if value == 0 || value > most {
                return Err(bad(format!("deals with {value} {name}, expected 1 to {most}")));
            }
        }
        if deal.first >= deal.hands {
            return Err(bad(format!("begins with hand {} of {}", deal.first, deal.hands)));
        }
        for (name, table, below) in [("starts", deal.starts, deal.cycle), ("firsts", deal.firsts, deal.hands)] {
            if !table.is_empty() && table.len() != self.nodes {
                return Err(bad(format!("has {} {name}, expected one for each of {nodes} nodes", table.len())));
            }
            if let Some(d) = table.iter().position(|v| u64::from(*v) >= below) {
                return Err(bad(format!("has {} in its {name} for destination {d}, expected below {below}", table[d])));
            }
        }
        let node = deal.node as usize;
        if let Some(hand) = self.dealt[node].as_ref().and_then(Dealt::first_unsent) {
            return Err(bad(format!("deals again, but has not sent hand {hand} of its last deal")));
        }
        self.hands += deal.hands;
        if self.hands.saturating_mul(size_of::<[u64; 2]>() as u64) > MOST_BYTES {
            return Err(Fault::Refused(format!("{} hands at once would take over 8 GiB", self.hands)));
        }
        self.settle(self.step + 1)?;
        let amounts = self.take_all(node)?;
        let pattern = self.shared_pattern(deal);
        let (first, mut tally) = (deal.first as u32, Tally::new(pattern.hands));
        for (destination, amount) in amounts.iter().enumerate() {
            pattern.deal(first, destination, (*amount).into(), &mut tally);
        }
        let mut sizes = vec![0; pattern.hands as usize];
        tally.for_each(|hand, elements| sizes[hand] = elements);
        let hands = sizes.len();
        self.dealt[node] = Some(Dealt {
            amounts,
            pattern,
            first,
            sizes,
            receivers: vec![UNSENT; hands],
            steps: vec![0; hands],
            unsent: hands,
        });
        self.dealers.push(node as u32);
        Ok(())
    }

    fn shared_pattern(&mut self, deal: &Deal<'_>) -> Arc<Pattern> {
        if let Some(last) = &self.pattern
            && (u64::from(last.hands), u64::from(last.cycle)) == (deal.hands, deal.cycle)
            && last.starts == deal.starts
            && last.firsts == deal.firsts
        {
            return Arc::clone(last);
        }
        let pattern = Arc::new(Pattern {
            hands: deal.hands as u32,
            cycle: deal.cycle as u32,
            starts: deal.starts.to_vec(),
            firsts: deal.firsts.to_vec(),
        });
        self.pattern = Some(Arc::clone(&pattern));
        pattern
    }

    /// All that a node holds, by destination; it holds nothing any more.
    fn take_all(&mut self, node: usize) -> Result<Vec<T>, Fault> {
        self.write_down(node)?;
        Ok(std::mem::take(&mut self.holdings[node]))
    }

    /// Makes sure that a node's holdings are in the table.
    fn write_down(&mut self, node: usize) -> Result<(), Fault> {
        if !self.holdings[node].is_empty() {
            return Ok(());
        }
        let mut row = self.spare.pop().unwrap_or_default();
        row.clear();
        if std::mem::take(&mut self.untouched[node]) {
            row.reserve_exact(self.nodes);
            for to in 0..self.nodes {
                row.push(T::of(self.elements(node, to)?));
            }
        } else {
            row.resize(self.nodes, T::default());
        }
        self.holdings[node] = row;
        Ok(())
    }

    /// What `from` has for `to` in the beginning.
    fn elements(&self, from: usize, to: usize) -> Result<u64, Fault> {
        let bytes = self.sizes.as_ref().map_or(self.units.block_bytes, |s| s.bytes(from as u64, to as u64));
        let element = self.units.element_bytes;
        if element == 1 {
            return Ok(bytes);
        }
        if bytes.is_multiple_of(element) {
            return Ok(bytes / element);
        }
        Err(Fault::Refused(format!(
            "node {from} has {bytes} bytes for node {to}, which is no multiple of the element of {element} bytes that is dealt out"
        )))
    }

    /// Carries out one send and returns the bytes that went, `None` if nothing did.
    pub fn send(&mut self, portion: &Portion<'_>) -> Result<Option<u64>, Fault> {
        let (from, to) = (portion.from, portion.to);
        for (role, node) in [("sender", from), ("receiver", to)] {
            if node >= self.nodes as u64 {
                return Err(Fault::UnknownNode { step: self.step, role, node, last: self.nodes as u64 - 1 });
            }
        }
        if from == to && !portion.local {
            return Err(Fault::SentToItself { step: self.step, node: place(from) });
        }
        let elements = match portion.what {
            What::Hand(hand) => self.send_hand(from, to, hand)?,
            What::For(set) => self.send_all_for(from, to, set)?,
            What::Named(amounts) => self.send_named(from, to, amounts)?,
        };
        let bytes = elements * self.units.element_bytes;
        self.held[from as usize] -= bytes;
        self.held[to as usize] += bytes;
        self.receivers.push(to as u32);
        Ok((elements > 0).then_some(bytes))
    }

    fn send_hand(&mut self, from: u64, to: u64, hand: u64) -> Result<u64, Fault> {
        let step = self.step;
        let bad = |what: String| Fault::BadPortion { step, from, to, what };
        let Some(dealt) = &mut self.dealt[from as usize] else {
            return Err(bad(format!("is hand {hand} of a deal, but node {from} has dealt nothing")));
        };
        let hands = dealt.sizes.len();
        let Some(receiver) = usize::try_from(hand).ok().and_then(|h| dealt.receivers.get_mut(h)) else {
            return Err(bad(format!("is hand {hand}, but node {from} dealt hands 0 to {}", hands - 1)));
        };
        if *receiver != UNSENT {
            return Err(bad(format!("is hand {hand}, which node {from} has sent already")));
        }
        *receiver = to as u32;
        dealt.steps[hand as usize] = u32::try_from(step).unwrap_or(u32::MAX);
        dealt.unsent -= 1;
        self.unsettled += 1;
        Ok(dealt.sizes[hand as usize])
    }

    fn send_all_for(&mut self, from: u64, to: u64, set: NodeSet<'_>) -> Result<u64, Fault> {
        self.settle(self.step)?;
        self.write_down(from as usize)?;
        self.layout.widen(&mut self.selection);
        let narrowed = self.layout.narrow(Side::Destinations, set, &mut self.selection);
        narrowed.map_err(|what| Fault::BadSet { step: self.step, from, to, side: "destinations", what })?;
        let held = &mut self.holdings[from as usize];
        let mut sum = 0;
        let mut take = |destination: usize| {
            let amount: u64 = std::mem::take(&mut held[destination]).into();
            if amount > 0 {
                sum += amount;
                self.arriving.push((to as u32, destination as u32, amount));
            }
        };
        match set {
            NodeSet::One(node) => take(node as usize),
            NodeSet::Axes([Axis::Range { first, stride, count }]) => {
                let (first, stride, nodes) = (u64::from(*first), u64::from(*stride), self.nodes as u64);
                (0..u64::from(*count)).for_each(|i| take(((first + i * stride) % nodes) as usize));
            }
            _ => {
                let members = self.layout.nodes_of(Side::Destinations, self.selection.bits());
                members.into_iter().for_each(|node| take(node as usize));
            }
        }
        Ok(sum)
    }

    fn send_named(&mut self, from: u64, to: u64, amounts: &[(u64, u64)]) -> Result<u64, Fault> {
        self.settle(self.step)?;
        self.write_down(from as usize)?;
        let (step, element, nodes) = (self.step, self.units.element_bytes, self.nodes as u64);
        let bad = |what: String| Fault::BadPortion { step, from, to, what };
        let mut sum = 0;
        for &(destination, bytes) in amounts {
            if destination >= nodes {
                return Err(bad(format!("names bytes for node {destination}, the last node is {}", nodes - 1)));
            }
            if !bytes.is_multiple_of(element) {
                return Err(bad(format!(
                    "names {bytes} bytes for node {destination}, expected a multiple of {element}"
                )));
            }
            let held = &mut self.holdings[from as usize][destination as usize];
            let has: u64 = (*held).into();
            let Some(rest) = has.checked_sub(bytes / element) else {
                let has = has * element;
                return Err(bad(format!(
                    "names {bytes} bytes for node {destination}, but node {from} holds only {has}"
                )));
            };
            *held = T::of(rest);
            sum += bytes / element;
            self.arriving.push((to as u32, destination as u32, bytes / element));
        }
        Ok(sum)
    }

    /// Ends the step: what was sent has arrived.
    pub fn end_step(&mut self, anything: bool) -> Result<(), Fault> {
        let mut arriving = std::mem::take(&mut self.arriving);
        for (to, destination, elements) in arriving.drain(..) {
            self.write_down(to as usize)?;
            add(&mut self.holdings[to as usize][destination as usize], elements);
        }
        self.arriving = arriving;
        for receiver in self.receivers.drain(..) {
            self.peak = self.peak.max(self.held[receiver as usize]);
        }
        if anything && !std::mem::replace(&mut self.begun, true) {
            self.peak = self.held.iter().copied().max().unwrap_or(0);
        }
        Ok(())
    }

    /// Writes down what is in all hands that were sent before step `before`.
    fn settle(&mut self, before: u64) -> Result<(), Fault> {
        if self.unsettled == 0 {
            return Ok(());
        }
        let mut alike: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
        for node in std::mem::take(&mut self.dealers) {
            let Some(dealt) = &self.dealt[node as usize] else { continue };
            let arrived = dealt.unsent == 0 && dealt.steps.iter().all(|step| u64::from(*step) < before);
            if arrived && !dealt.receivers.contains(&SETTLED) {
                alike.entry(dealt.receivers.clone()).or_default().push(node as usize);
            } else {
                self.settle_one_by_one(node as usize, before)?;
            }
        }
        // Sums don't depend on the order of groups.
        for (receivers, group) in alike {
            self.settle_together(&receivers, &group)?;
        }
        Ok(())
    }

    /// Settles what nodes with the same receivers dealt, destination by destination.
    fn settle_together(&mut self, receivers: &[u32], group: &[usize]) -> Result<(), Fault> {
        for receiver in receivers {
            self.write_down(*receiver as usize)?;
        }
        let dealt: Vec<Dealt<T>> = group.iter().filter_map(|node| self.dealt[*node].take()).collect();
        self.unsettled -= dealt.len() * receivers.len();
        self.hands -= (dealt.len() * receivers.len()) as u64;
        let mut tally = Tally::new(receivers.len() as u32);
        for destination in 0..self.nodes {
            tally.clear();
            for d in &dealt {
                d.pattern.deal(d.first, destination, d.amounts[destination].into(), &mut tally);
            }
            tally.for_each(|hand, elements| add(&mut self.holdings[receivers[hand] as usize][destination], elements));
        }
        self.spare.extend(dealt.into_iter().map(|d| d.amounts));
        Ok(())
    }

    /// Settles the hands of one node that have arrived.
    fn settle_one_by_one(&mut self, node: usize, before: u64) -> Result<(), Fault> {
        let Some(mut dealt) = self.dealt[node].take() else { return Ok(()) };
        let mut tally = Tally::new(dealt.pattern.hands);
        for hand in 0..dealt.receivers.len() {
            let receiver = dealt.receivers[hand];
            if receiver >= SETTLED || u64::from(dealt.steps[hand]) >= before {
                continue;
            }
            self.write_down(receiver as usize)?;
            for (destination, amount) in dealt.amounts.iter().enumerate() {
                let share = dealt.pattern.share(dealt.first, destination, (*amount).into(), hand as u32, &mut tally);
                add(&mut self.holdings[receiver as usize][destination], share);
            }
            dealt.receivers[hand] = SETTLED;
            self.unsettled -= 1;
        }
        if dealt.receivers.iter().all(|r| *r == SETTLED) {
            self.hands -= dealt.receivers.len() as u64;
        } else {
            self.dealt[node] = Some(dealt);
            self.dealers.push(node as u32);
        }
        Ok(())
    }

    /// Proves that all bytes are where they should be.
    pub fn verify(&mut self) -> Result<(), Fault> {
        self.settle(self.step + 1)?;
        let unsent = self.dealers.iter().filter_map(|n| Some((*n, self.dealt[*n as usize].as_ref()?.first_unsent()?)));
        if let Some((node, hand)) = unsent.min() {
            return Err(Fault::HandUnsent { step: self.step, node: u64::from(node), hand });
        }
        let (mut astray, mut nodes, mut first) = (0_u64, 0_u64, None);
        for node in 0..self.nodes {
            self.write_down(node)?;
            let held = std::mem::take(&mut self.holdings[node]);
            let held = held.into_iter().map(Into::<u64>::into);
            let others = held.enumerate().filter(|(d, amount)| *d != node && *amount > 0);
            let mut any = false;
            for (destination, amount) in others {
                any = true;
                astray += amount;
                first.get_or_insert((node as u64, destination as u64, amount));
            }
            nodes += u64::from(any);
        }
        let Some((node, destination, amount)) = first else { return Ok(()) };
        let element = self.units.element_bytes;
        Err(Fault::Astray {
            step: self.step,
            node: place(node),
            destination,
            bytes: Count(amount * element, "byte"),
            all: Count(astray * element, "byte"),
            nodes: Count(nodes, "node"),
        })
    }

    /// The step under way, from 1.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Who runs what: every node itself.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// How sets of destinations are laid out.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What loads are to be divided by to be in blocks, where those are counted: loads are bytes.
    pub fn parts(&self) -> u64 {
        if self.sizes.is_some() { 1 } else { self.units.block_bytes.max(1) }
    }

    /// Bytes that each node holds.
    pub fn held(&self) -> &[u64] {
        &self.held
    }

    /// The most bytes that one node held at the end of a step.
    pub fn peak(&self) -> u64 {
        self.peak
    }
}

fn add<T: Cell>(cell: &mut T, elements: u64) {
    *cell = T::of((*cell).into() + elements);
}

impl<T> Dealt<T> {
    fn first_unsent(&self) -> Option<u64> {
        self.receivers.iter().position(|r| *r == UNSENT).map(|hand| hand as u64)
    }
}

/// In a schedule of amounts every node runs on its own.
fn place(node: u64) -> Place {
    Place { logical: node, real: node }
}

#[cfg(test)]
mod tests;
