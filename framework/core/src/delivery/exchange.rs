//! The exchange: what everyone holds, followed block by block through every step, and the proof that all of it arrives.
//!
//! Blocks are never listed. A send takes boxes out of one node's holdings and puts them into another's, and since a block that moves is
//! in one place at a time, counting what each node holds at the end proves delivery.

use crate::delivery::boxes::{Axis, Layout, NodeSet, Selection, Side};
use crate::delivery::collective::{BlockSizes, Collective};
use crate::delivery::fault::{Block, Count, Fault, Whereabouts};
use crate::delivery::holdings::{self, Holdings, without};
use crate::delivery::placement::Placement;
use crate::limits;
use std::sync::Arc;

/// One send: of what `from` holds, the blocks within the sets go to `to`.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'a> {
    /// Sender, in the schedule's grid.
    pub from: u64,
    /// Receiver, in the schedule's grid.
    pub to: u64,
    /// Where the blocks come from.
    pub origins: NodeSet<'a>,
    /// Where they go.
    pub destinations: NodeSet<'a>,
    /// Which segments of them.
    pub segments: Axis<'a>,
    /// Every block selected must be held.
    pub strict: bool,
    /// The sender keeps what it sends.
    pub copy: bool,
    /// Sender and receiver may be the same.
    pub local: bool,
}

/// Who holds what, from the first step to the last.
#[derive(Debug)]
pub struct Exchange {
    collective: Collective,
    placement: Placement,
    layout: Layout,
    segments: u64,
    sizes: Option<Arc<dyn BlockSizes>>,
    holdings: Holdings,
    /// What arrives at the end of the current step: receivers, and their records one after another.
    receivers: Vec<u64>,
    arriving: Vec<u64>,
    /// Boxes of all homes on both sides: what exists at all.
    homes: Vec<Vec<u64>>,
    /// Load that each node of the machine holds.
    held: Vec<u64>,
    peak: u64,
    /// Whether a step has ended in which anything was sent.
    begun: bool,
    copied: bool,
    step: u64,
    selection: Selection,
}

impl Exchange {
    /// Everyone holds what the collective gives them. `sizes` is `None` for uniform blocks, which are counted; with sizes, loads are
    /// bytes.
    pub fn new(
        collective: Collective,
        placement: Placement,
        segments: u32,
        sizes: Option<Arc<dyn BlockSizes>>,
    ) -> Result<Self, Fault> {
        /// So that what a node holds, or a message carries, fits its number.
        const MOST_LOAD: u128 = 1 << 63;
        placement.check()?;
        let tells = |side| collective.tells_apart(side);
        let layout = Layout::new(placement.grid().clone(), tells(Side::Origins), tells(Side::Destinations), segments);
        let nodes = placement.grid().nodes();
        let least = nodes.saturating_mul(layout.words() as u64 * 16);
        if least > limits::HELD_BYTES {
            return Err(Fault::Refused(format!(
                "its sets over {nodes} nodes in axes of {:?} would take {} GiB, at most {} may: a grid of more, shorter axes takes less",
                placement.grid().radices(),
                least >> 30,
                limits::HELD_BYTES >> 30
            )));
        }
        let holdings = Holdings::new(&layout, nodes as usize);
        let held = vec![0; placement.machine_nodes() as usize];
        let selection = layout.select_all();
        let mut exchange = Self {
            homes: home_boxes(&layout, &placement),
            collective,
            placement,
            layout,
            segments: u64::from(segments.max(1)),
            sizes,
            holdings,
            receivers: Vec::new(),
            arriving: Vec::new(),
            held,
            peak: 0,
            begun: false,
            copied: false,
            step: 0,
            selection,
        };
        let mut exists = 0;
        for physical in 0..exchange.placement.machine_nodes() {
            for bits in exchange.initial(physical) {
                let load = exchange.load(&bits, exchange.layout.count(&bits));
                exists += u128::from(load);
                if exists > MOST_LOAD {
                    return Err(Fault::Refused(format!("its blocks, in {segments} segments each, add up beyond 2^63")));
                }
                exchange.held[physical as usize] += load;
                exchange.holdings.insert_box(&exchange.layout, exchange.placement.home(physical), &bits);
            }
        }
        Ok(exchange)
    }

    /// What node `real` of the machine starts with.
    fn initial(&self, physical: u64) -> Vec<Vec<u64>> {
        if self.collective.root().is_some_and(|root| root != physical)
            && !matches!(self.collective, Collective::Gather { .. })
        {
            return Vec::new();
        }
        self.narrowed(Side::Origins, self.placement.home(physical))
    }

    /// What node `real` of the machine should end with.
    fn wanted(&self, physical: u64, sender: &[u32]) -> Vec<Vec<u64>> {
        match &self.collective {
            Collective::Gather { root } if *root != physical => Vec::new(),
            Collective::Gather { .. } | Collective::AllGather | Collective::Broadcast { .. } => self.homes.clone(),
            Collective::AllToAll | Collective::Scatter { .. } => {
                self.narrowed(Side::Destinations, self.placement.home(physical))
            }
            Collective::Permutation { .. } => {
                self.narrowed(Side::Origins, self.placement.home(u64::from(sender[physical as usize])))
            }
        }
    }

    /// All that exists with `node` on `side`.
    fn narrowed(&self, side: Side, node: u64) -> Vec<Vec<u64>> {
        let mut one = self.layout.full().to_vec();
        if self.layout.has(side) {
            self.layout.narrow_to(side, node, &mut one);
        }
        let mut inner = vec![0; self.layout.words()];
        let within = |b: &Vec<u64>| self.layout.intersect(b, &one, &mut inner).then(|| inner.clone());
        self.homes.iter().filter_map(within).collect()
    }

    /// The load of a box of `count` segments of blocks. Loads are in segments (of blocks, or of bytes), so that they stay whole numbers.
    fn load(&self, bits: &[u64], count: u64) -> u64 {
        let Some(sizes) = &self.sizes else { return count };
        let physical = |side: Side| -> Vec<u64> {
            if !self.layout.has(side) {
                return self.collective.root().into_iter().collect();
            }
            let mut nodes: Vec<u64> =
                self.layout.nodes_of(side, bits).into_iter().map(|n| self.placement.physical(n)).collect();
            nodes.sort_unstable();
            nodes
        };
        sizes
            .total(&physical(Side::Origins), &physical(Side::Destinations))
            .saturating_mul(self.layout.segments_of(bits))
    }

    /// Begins the next step.
    pub fn begin_step(&mut self) {
        self.step += 1;
    }

    /// Carries out one send and returns the load that went, `None` if nothing did (blocks may be of no bytes). What arrives can be
    /// sent on only after [`Exchange::end_step`].
    pub fn send(&mut self, rule: &Rule<'_>) -> Result<Option<u64>, Fault> {
        let (from, to) = (rule.from, rule.to);
        let nodes = self.layout.grid().nodes();
        for (role, node) in [("sender", from), ("receiver", to)] {
            if node >= nodes {
                return Err(Fault::UnknownNode { step: self.step, role, node, last: nodes - 1 });
            }
        }
        if from == to && !rule.local {
            return Err(Fault::SentToItself { step: self.step, node: self.placement.locate(from) });
        }
        self.layout.widen(&mut self.selection);
        let narrowed = self
            .layout
            .narrow(Side::Origins, rule.origins, &mut self.selection)
            .map_err(|what| ("origins", what))
            .and_then(|()| {
                // Taken for all, it would send more than was meant.
                if matches!(self.collective, Collective::Permutation { .. })
                    && !matches!(rule.destinations, NodeSet::All)
                {
                    let what = "can't be used in a permutation, whose blocks are known by their origins";
                    return Err(("destinations", what.to_owned()));
                }
                let set = self.layout.narrow(Side::Destinations, rule.destinations, &mut self.selection);
                set.map_err(|what| ("destinations", what))
            })
            .and_then(|()| {
                self.layout.narrow_segments(rule.segments, &mut self.selection).map_err(|what| ("segments", what))
            });
        if let Err((side, what)) = narrowed {
            return Err(Fault::BadSet { step: self.step, from, to, side, what });
        }
        let first = self.receivers.len();
        let mut count = 0;
        let (receivers, arriving) = (&mut self.receivers, &mut self.arriving);
        self.holdings.select(&self.layout, from, &self.selection, rule.copy, |record| {
            receivers.push(to);
            arriving.extend_from_slice(record);
            count += holdings::count(record);
        });
        if rule.strict && count < self.selection.count() {
            return Err(self.not_held(rule, first));
        }
        if count == 0 {
            return Ok(None);
        }
        self.copied |= rule.copy;
        let load = if self.sizes.is_some() {
            self.on_their_way(first).map(|(_, bits)| self.load(bits, 0)).sum()
        } else {
            count
        };
        let (real_from, real_to) = (self.placement.physical(from) as usize, self.placement.physical(to) as usize);
        if !rule.copy {
            self.held[real_from] -= load;
        }
        // What comes often in one step may go over, until the step's end takes off what is there already.
        self.held[real_to] = self.held[real_to].wrapping_add(load);
        Ok(Some(load))
    }

    /// Ends the step: what was sent has arrived.
    pub fn end_step(&mut self, anything: bool) -> Result<(), Fault> {
        let arriving = std::mem::take(&mut self.arriving);
        let receivers = std::mem::take(&mut self.receivers);
        for (&node, record) in receivers.iter().zip(arriving.chunks_exact(self.holdings.record_words())) {
            if self.copied {
                self.insert_what_is_new(node, record)?;
            } else {
                self.holdings.insert(&self.layout, node, record);
            }
        }
        // Only now is all waste off what a node holds.
        for &node in &receivers {
            self.peak = self.peak.max(self.held[self.placement.physical(node) as usize]);
        }
        if anything && !std::mem::replace(&mut self.begun, true) {
            // Later, only a node that receives can hold more than some node held before.
            self.peak = self.held.iter().copied().max().unwrap_or(0);
        }
        (self.arriving, self.receivers) = (arriving, receivers);
        self.arriving.clear();
        self.receivers.clear();
        Ok(())
    }

    /// Once anything has been copied, a node may receive what it has: wrong where blocks have one destination, waste elsewhere.
    fn insert_what_is_new(&mut self, node: u64, record: &[u64]) -> Result<(), Fault> {
        let arrived = holdings::bits(record);
        let (count, overlap) = self.holdings.already(&self.layout, node, arrived);
        let Some(overlap) = overlap else {
            self.holdings.insert(&self.layout, node, record);
            return Ok(());
        };
        if !self.collective.is_shared() {
            return Err(Fault::DeliveredTwice {
                step: self.step,
                node: self.placement.locate(node),
                block: self.block(&overlap),
            });
        }
        for new in self.holdings.missing(&self.layout, node, arrived) {
            self.holdings.insert_box(&self.layout, node, &new);
        }
        // Sizes of shared collectives are those of whole blocks, so a share of the load is a share of the count.
        let total = holdings::count(record);
        let load = self.load(arrived, total);
        let waste = (u128::from(load) * u128::from(count) / u128::from(total)) as u64;
        let held = &mut self.held[self.placement.physical(node) as usize];
        *held = held.wrapping_sub(waste);
        Ok(())
    }

    /// Proves that everyone has what they should.
    pub fn verify(&self) -> Result<(), Fault> {
        let sender = self.senders();
        let (mut missing, mut nodes, mut example) = (0_u64, 0_u64, None);
        let mut last = None;
        let mut inner = vec![0; self.layout.words()];
        for physical in 0..self.placement.machine_nodes() {
            let node = self.placement.home(physical);
            for wanted in self.wanted(physical, &sender) {
                let has: u64 =
                    self.holdings
                        .of(node)
                        .map(|held| {
                            if self.layout.intersect(held, &wanted, &mut inner) { self.layout.count(&inner) } else { 0 }
                        })
                        .sum();
                let lacks = self.layout.count(&wanted) - has;
                if lacks > 0 {
                    missing += lacks;
                    nodes += u64::from(last.replace(physical) != Some(physical));
                    example.get_or_insert((node, wanted));
                }
            }
        }
        let Some((node, wanted)) = example else { return Ok(()) };
        let lacking = self.holdings.missing(&self.layout, node, &wanted);
        let first = lacking.first().cloned().unwrap_or(wanted);
        Err(Fault::NeverDelivered {
            step: self.step,
            node: self.placement.locate(node),
            block: self.block(&first),
            whereabouts: self.whereabouts(&first),
            missing: Count(missing, "block"),
            nodes: Count(nodes, "node"),
        })
    }

    /// For a permutation, who sends to each node.
    fn senders(&self) -> Vec<u32> {
        let Collective::Permutation { to, .. } = &self.collective else { return Vec::new() };
        let mut sender = vec![0; to.len()];
        for (from, to) in to.iter().enumerate() {
            sender[*to as usize] = from as u32;
        }
        sender
    }

    fn not_held(&self, rule: &Rule<'_>, first: usize) -> Fault {
        let taken = self.on_their_way(first).map(|(_, bits)| bits);
        let rest = without(&self.layout, vec![self.selection.bits().to_vec()], taken);
        let block = rest.first().cloned().unwrap_or_else(|| self.selection.bits().to_vec());
        Fault::NotHeld {
            step: self.step,
            from: self.placement.locate(rule.from),
            to: self.placement.locate(rule.to),
            block: self.block(&block),
            whereabouts: self.whereabouts(&block),
        }
    }

    /// The first block of a box, by nodes of the machine.
    fn block(&self, bits: &[u64]) -> Block {
        let side = |side| self.layout.has(side).then(|| self.placement.physical(self.layout.first_of(side, bits)));
        Block {
            origin: side(Side::Origins),
            destination: side(Side::Destinations),
            segment: (self.segments > 1).then(|| self.layout.first_of(Side::Segments, bits)),
        }
    }

    /// Who holds the first block of a box. A walk over everyone: only for messages.
    fn whereabouts(&self, bits: &[u64]) -> Whereabouts {
        let mut one = bits.to_vec();
        for side in [Side::Origins, Side::Destinations, Side::Segments] {
            if self.layout.has(side) {
                self.layout.narrow_to(side, self.layout.first_of(side, bits), &mut one);
            }
        }
        let destination = self.layout.has(Side::Destinations).then(|| self.layout.first_of(Side::Destinations, bits));
        let there = |(_, b): &(u64, &[u64])| self.layout.contains(b, &one);
        if let Some((node, _)) = self.on_their_way(0).find(there) {
            return Whereabouts::Arriving(self.placement.locate(node));
        }
        let mut held = (0..self.layout.grid().nodes()).flat_map(|n| self.holdings.of(n).map(move |b| (n, b)));
        match held.find(there) {
            Some((node, _)) if destination == Some(node) => Whereabouts::Delivered(self.placement.locate(node)),
            Some((node, _)) => Whereabouts::At(self.placement.locate(node)),
            None => Whereabouts::Nowhere,
        }
    }

    /// The step under way, from 1.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Parts that blocks are split in.
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// Who runs what.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// How boxes are laid out.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The boxes that sends of this step put on their way, from the `first` on, with their receivers.
    pub fn on_their_way(&self, first: usize) -> impl Iterator<Item = (u64, &[u64])> {
        let records = self.arriving.chunks_exact(self.holdings.record_words()).map(holdings::bits);
        self.receivers.iter().copied().zip(records).skip(first)
    }

    /// Load that each node of the machine holds.
    pub fn held(&self) -> &[u64] {
        &self.held
    }

    /// The most load that one node held at the end of a step.
    pub fn peak(&self) -> u64 {
        self.peak
    }
}

/// Everything that exists, as boxes: blocks between homes.
fn home_boxes(layout: &Layout, placement: &Placement) -> Vec<Vec<u64>> {
    if placement.is_identity() {
        return vec![layout.full().to_vec()];
    }
    // Boxes of homes on one side, the other side full; then every pair of the two sides.
    let on = |side: Side| -> Vec<Vec<u64>> {
        if !layout.has(side) {
            return vec![layout.full().to_vec()];
        }
        let mut list = Holdings::new(layout, 1);
        let mut one = layout.full().to_vec();
        let mut homes: Vec<u64> = (0..placement.machine_nodes()).map(|physical| placement.home(physical)).collect();
        homes.sort_unstable();
        for home in homes {
            layout.narrow_to(side, home, &mut one);
            list.insert_box(layout, 0, &one);
        }
        list.of(0).map(<[u64]>::to_vec).collect()
    };
    let (origins, destinations) = (on(Side::Origins), on(Side::Destinations));
    let mut inner = vec![0; layout.words()];
    let mut all = Vec::new();
    for o in &origins {
        for d in &destinations {
            if layout.intersect(o, d, &mut inner) {
                all.push(inner.clone());
            }
        }
    }
    all
}

#[cfg(test)]
mod tests;
