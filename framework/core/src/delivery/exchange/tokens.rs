//! Traces the tokens of a dispatch or a combine.
//!
//! A *class* consists of the tokens of one node that have the same receivers ([`Tokens`]). The
//! *owner* of a class is the node that the tokens belong to.
//!
//! The holdings of a node are a sorted list of *pieces*, and a send finds the pieces of one owner
//! by binary search. In a dispatch, a piece is a class of tokens, and its origin is the owner. In a
//! combine, a piece is the contribution of its origin to the sum of a class. A node holds at most
//! one value of each class, which consists of all its pieces of this class.
//!
//! Holdings are not stored as boxes, because the classes of different nodes have nothing in common:
//! there would be a box for each pair of nodes, and each box would have a bit for each node.

use super::{Inventory, Rule};
use crate::delivery::boxes::{BitLayout, Layout, NodeSet, Selection, Side};
use crate::delivery::collective::{BlockSizes, Collective, Tokens};
use crate::delivery::exchange::Division;
use crate::delivery::fault::{Block, BlockLocation, Count, DeliveryFault, EndFault, Fault};
use crate::delivery::holdings::Holdings;
use crate::delivery::loads::Loads;
use crate::delivery::placement::Placement;
use crate::delivery::traced::{Proof, Traced};
use std::sync::Arc;

mod receipts;

/// In a dispatch, a class of tokens. In a combine, the contribution of one node to the sum of a
/// class.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Number of the class among the classes of all nodes.
    class: u32,
    /// The node that the data comes from.
    origin: u32,
    /// The step in which the holder received the piece; 0 if the holder had the piece at the start,
    /// or if arrivals are not tracked.
    arrival: u32,
}

impl Piece {
    /// Returns the sort key of holdings.
    fn key(&self) -> (u32, u32) {
        (self.class, self.origin)
    }
}

/// A send of the current step.
#[derive(Debug, Clone, Copy)]
struct TokenSend {
    to: u64,
    /// Index of the first piece of the send in `in_flight`.
    first: usize,
    combine: bool,
}

/// The tokens that all nodes hold, from the first step to the last.
#[derive(Debug)]
pub(crate) struct TokenExchange {
    /// The placement, the rules for sends, and the layout of the boxes that listeners read.
    inventory: Inventory,
    tokens: Arc<Tokens>,
    /// The pieces that each node of the schedule's grid holds, in ascending order of their keys.
    holdings: Vec<Vec<Piece>>,
    /// The pieces sent in the current step, in the order of the sends.
    in_flight: Vec<Piece>,
    sends: Vec<TokenSend>,
    /// The loads of the nodes, in bytes.
    loads: Loads,
    tracks_arrivals: bool,
    step: u64,
    latest_arrival: u64,
    /// Buffer for the tokens that the current send selects.
    selection: Selection,
}

impl TokenExchange {
    /// Creates the state before the first step. In a dispatch, each node holds its tokens. In a
    /// combine, each node holds its contribution to each token that has the node in its set of
    /// receivers.
    pub(crate) fn new(
        collective: Collective,
        tokens: Arc<Tokens>,
        placement: Placement,
        division: Division,
        sizes: Option<Arc<dyn BlockSizes>>,
    ) -> Result<Self, Fault> {
        placement.check()?;
        let layout = Inventory::layout(&collective, division, &placement);
        let inventory = Inventory::new(collective, placement, division, sizes, layout);
        let mut exchange = Self {
            selection: inventory.layout.select_all(),
            holdings: vec![Vec::new(); inventory.placement.grid().nodes() as usize],
            inventory,
            tokens,
            in_flight: Vec::new(),
            sends: Vec::new(),
            loads: Loads::new(Vec::new()),
            tracks_arrivals: false,
            step: 0,
            latest_arrival: 0,
        };
        let (mut held, mut total) = (Vec::new(), 0);
        for node in 0..exchange.tokens.nodes() {
            let pieces = exchange.pieces(node, !exchange.sums());
            let load = pieces.iter().map(|piece| u128::from(exchange.bytes(piece))).sum::<u128>();
            total += load;
            held.push(load as u64);
            let home = exchange.inventory.placement.home(node);
            exchange.holdings[home as usize] = pieces;
        }
        exchange.inventory.check_total(total)?;
        exchange.loads = Loads::new(held);
        Ok(exchange)
    }

    /// Sets whether [`Traced::latest_arrival`] is determined. Must be called before the
    /// first step.
    #[must_use]
    pub(crate) fn with_arrival_tracking(self, tracks_arrivals: bool) -> Self {
        Self { tracks_arrivals, ..self }
    }

    /// Returns pieces of a node, in ascending order. If `of_owner`, these are the pieces of the
    /// node's own tokens. Otherwise, they are the node's pieces of the tokens that have it in their
    /// set of receivers.
    fn pieces(&self, node: u64, of_owner: bool) -> Vec<Piece> {
        let (tokens, sums) = (&self.tokens, self.sums());
        let piece = |owner: u64, class: u32, origin: u64| Piece {
            class: tokens.class_index(owner, class) as u32,
            origin: origin as u32,
            arrival: 0,
        };
        match (of_owner, sums) {
            (true, false) => (0..tokens.classes(node)).map(|c| piece(node, c, node)).collect(),
            (true, true) => (0..tokens.classes(node))
                .flat_map(|c| tokens.receivers(node, c).iter().map(move |r| (c, u64::from(*r))))
                .map(|(class, receiver)| piece(node, class, receiver))
                .collect(),
            (false, _) => {
                let wanted = tokens.wanted(node).iter();
                let wanted = wanted.map(|(owner, class)| (u64::from(*owner), *class));
                wanted.map(|(o, class)| piece(o, class, if sums { node } else { o })).collect()
            }
        }
    }

    /// Returns the bytes of the class of a piece.
    fn bytes(&self, piece: &Piece) -> u64 {
        self.tokens.bytes_of(piece.class as usize)
    }

    /// Executes one send. Returns its load in bytes, including extra bytes, or `None` if the sender
    /// holds none of the selected tokens and there are no extra bytes.
    pub(crate) fn send(&mut self, rule: &Rule<'_>) -> Result<Option<u64>, Fault> {
        self.inventory.check(rule, self.step)?;
        self.inventory.select(rule, self.step, &mut self.selection)?;
        let (copy, sums) = (self.inventory.copies(rule), self.sums());
        let Self { inventory, tokens, holdings, in_flight, selection, .. } = self;
        let (layout, placement) = (&inventory.layout, &inventory.placement);
        let (side, owners) = match sums {
            true => (Side::Destinations, rule.destinations),
            false => (Side::Origins, rule.origins),
        };
        let is_within_node = placement.physical(rule.from) == placement.physical(rule.to);
        let arrival = Some(self.step as u32).filter(|_| self.tracks_arrivals && !is_within_node);

        // Find the part of the sender's list that has the classes of the selected owners. Most
        // sends select one owner.
        let held = &mut holdings[rule.from as usize];
        let mut owner = if let NodeSet::One(home) = owners { placement.physical(home) } else { 0 };
        let last = if let NodeSet::One(_) = owners { owner } else { tokens.nodes() - 1 };
        let start = held.partition_point(|p| (p.class as usize) < tokens.class_index(owner, 0));
        let end = start
            + held[start..]
                .partition_point(|p| (p.class as usize) < tokens.class_index(last + 1, 0));

        // Put the selected pieces in flight. Several pieces of a class are one value, with one
        // load. Without a copy, the sender loses the selected pieces, and the other pieces are
        // moved forward to close the gaps.
        let (first, selected) = (in_flight.len(), selection.elements());
        let (mut found, mut load, mut latest_arrival) = (0, 0, 0);
        let (mut at, mut kept) = (start, start);
        while at < end {
            // Find the pieces of one owner, and search them for each of the selected classes.
            owner = if owner == last { last } else { tokens.owner(held[at].class as usize) };
            let next = tokens.class_index(owner + 1, 0);
            let of_owner = at + held[at..end].partition_point(|p| (p.class as usize) < next);
            let is_selected = layout.has_node(side, placement.home(owner), selected);
            let classes = layout.segments_in(selected);
            let classes = classes.map(|class| tokens.class_index(owner, 0) as u64 + class);
            for class in classes.take_while(|class| is_selected && *class < next as u64) {
                let from = at + held[at..of_owner].partition_point(|p| u64::from(p.class) < class);
                let same = held[from..of_owner].iter().take_while(|p| u64::from(p.class) == class);
                let to = from + same.count();
                for piece in &held[from..to] {
                    latest_arrival = latest_arrival.max(piece.arrival);
                    in_flight.push(Piece { arrival: arrival.unwrap_or(piece.arrival), ..*piece });
                }
                if from < to {
                    found += 1;
                    load += tokens.bytes_of(class as usize);
                }
                if !copy {
                    held.copy_within(at..from, kept);
                    kept += from - at;
                }
                at = to;
            }
            if !copy {
                held.copy_within(at..of_owner, kept);
                kept += of_owner - at;
            }
            at = of_owner;
        }
        if !copy {
            held.drain(kept..end);
        }
        self.sends.push(TokenSend { to: rule.to, first, combine: rule.combine });
        self.latest_arrival = latest_arrival.into();
        if rule.strict && found < self.selected_values() {
            return Err(self.not_held(rule));
        }
        if found == 0 {
            return Ok(Some(rule.extra_bytes).filter(|extra| *extra > 0));
        }
        let placement = &self.inventory.placement;
        let ends = (placement.physical(rule.from), placement.physical(rule.to));
        self.loads.moved(ends, copy, load);
        Ok(Some(load + rule.extra_bytes))
    }

    /// Returns the number of classes (in a combine, of their sums) that the current send selects.
    fn selected_values(&self) -> u64 {
        match self.sums() {
            true => self.inventory.layout.values(self.selection.elements()),
            false => self.selection.count(),
        }
    }

    /// Returns the fault of a strict send whose sender does not hold all selected tokens.
    fn not_held(&self, rule: &Rule<'_>) -> Fault {
        let Inventory { layout, placement, .. } = &self.inventory;
        let (side, selected) = (self.owner_side(), self.selection.elements());
        let sent = &self.in_flight[self.sends.last().map_or(0, |send| send.first)..];
        let classes = layout.coordinates(layout.segment_axis(), selected);
        let owners = layout.nodes_of(side, selected).into_iter();
        let mut pairs = owners.flat_map(|home| classes.iter().map(move |class| (home, *class)));
        // A selected class may not exist, because a node can have fewer classes than a block has
        // segments.
        let piece = |(home, class): (u64, u64)| {
            let owner = placement.physical(home);
            let origin = if self.sums() { placement.physical(rule.from) } else { owner };
            let exists = placement.home(owner) == home && class < self.tokens.classes(owner).into();
            let class = exists.then(|| self.tokens.class_index(owner, class as u32) as u32);
            class.map(|class| Piece { class, origin: origin as u32, arrival: 0 })
        };
        let is_sent = |piece: Piece| sent.iter().any(|sent| sent.class == piece.class);
        let missing = pairs.find(|pair| !piece(*pair).is_some_and(is_sent)).unwrap_or_default();
        let mut one = layout.full().to_vec();
        layout.narrow_to(side, missing.0, &mut one);
        layout.narrow_to(Side::Segments, missing.1, &mut one);
        let mut block = self.inventory.first_block(&one);
        if self.sums() {
            // The whole value is missing, not only one contribution.
            block.origin = None;
        }
        let (from, to) = (placement.locate(rule.from), placement.locate(rule.to));
        let location = self.location(piece(missing));
        Fault::Delivery(self.step, DeliveryFault::NotHeld { from, to, block, location })
    }

    /// Returns the location of a piece. `piece` is `None` if the selected class does not exist.
    fn location(&self, piece: Option<Piece>) -> BlockLocation {
        let Some(piece) = piece else { return BlockLocation::Nowhere };
        let placement = &self.inventory.placement;
        let ends = self.sends.iter().skip(1).map(|send| send.first).chain([self.in_flight.len()]);
        let arriving = self.sends.iter().zip(ends).filter(|(send, end)| {
            self.in_flight[send.first..*end].iter().any(|sent| sent.key() == piece.key())
        });
        let holds = |held: &Vec<Piece>| held.binary_search_by_key(&piece.key(), Piece::key).is_ok();
        let holder = self.holdings.iter().position(holds).map(|node| node as u64);
        let owner = self.tokens.owner(piece.class as usize);
        let destination = self.sums().then(|| placement.home(owner));
        placement.location(arriving.map(|(send, _)| send.to).min(), holder, destination)
    }

    /// Returns a piece as the box of one block.
    fn boxed(&self, piece: &Piece) -> Vec<u64> {
        let Inventory { layout, placement, .. } = &self.inventory;
        let owner = self.tokens.owner(piece.class as usize);
        let class = piece.class as usize - self.tokens.class_index(owner, 0);
        let mut one = layout.full().to_vec();
        layout.narrow_to(self.owner_side(), placement.home(owner), &mut one);
        layout.narrow_to(Side::Origins, placement.home(piece.origin.into()), &mut one);
        layout.narrow_to(Side::Segments, class as u64, &mut one);
        one
    }

    fn block(&self, piece: &Piece) -> Block {
        self.inventory.first_block(&self.boxed(piece))
    }

    /// Returns the boxes of the most recent send, for listeners.
    pub(crate) fn sent_boxes(&self) -> Vec<Vec<u64>> {
        let layout = &self.inventory.layout;
        let mut joined = Holdings::new(layout, 1);
        for piece in &self.in_flight[self.sends.last().map_or(0, |send| send.first)..] {
            joined.insert_box(layout, 0, &self.boxed(piece), 0);
        }
        joined.of(0).map(<[u64]>::to_vec).collect()
    }

    /// Returns the side of boxes that has the owners of tokens.
    fn owner_side(&self) -> Side {
        if self.sums() { Side::Destinations } else { Side::Origins }
    }

    /// Returns whether the collective is a combine.
    pub(crate) fn sums(&self) -> bool {
        self.inventory.sums()
    }

    /// Returns whether the sender of a rule keeps what it sends.
    pub(crate) fn copies(&self, rule: &Rule<'_>) -> bool {
        self.inventory.copies(rule)
    }

    pub(crate) fn layout(&self) -> &BitLayout {
        &self.inventory.layout
    }
}

impl Traced for TokenExchange {
    fn proof(&self) -> Proof {
        Proof::of(self.sums())
    }

    fn begin_step(&mut self) {
        self.step += 1;
    }

    fn end_step(&mut self) -> Result<(), Fault> {
        self.receive_all()
    }

    fn verify(&mut self) -> Result<(), Fault> {
        let (mut missing_pieces, mut incomplete_nodes, mut example) = (0, 0, None);
        for node in 0..self.tokens.nodes() {
            let home = self.inventory.placement.home(node);
            let held = &self.holdings[home as usize];
            let is_missing =
                |piece: &Piece| held.binary_search_by_key(&piece.key(), Piece::key).is_err();
            let mut required = self.pieces(node, self.sums());
            required.retain(is_missing);
            let first = required.iter().min_by_key(|piece| (piece.origin, piece.class));
            if let Some(first) = first {
                missing_pieces += required.len() as u64;
                incomplete_nodes += 1;
                example.get_or_insert((home, *first));
            }
        }
        let Some((home, piece)) = example else { return Ok(()) };
        let kind = if self.sums() { "contribution" } else { "block" };
        Err(Fault::End(
            self.step,
            EndFault::NeverDelivered {
                node: self.inventory.placement.locate(home),
                block: self.block(&piece),
                location: self.location(Some(piece)),
                missing: Count(missing_pieces, kind),
                nodes: Count(incomplete_nodes, "node"),
            },
        ))
    }

    fn segments(&self) -> u64 {
        1
    }

    fn loads(&self) -> &Loads {
        &self.loads
    }

    fn latest_arrival(&self) -> u64 {
        self.latest_arrival
    }

    fn placement(&self) -> &Placement {
        &self.inventory.placement
    }
}

#[cfg(test)]
mod tests;
