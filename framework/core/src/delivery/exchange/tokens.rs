//! Traces the tokens of a dispatch or a combine by classes ([`Tokens`]). The *owner* of a class is
//! the node whose tokens it contains.
//!
//! The holdings of a node are a sorted list of *pieces*. A send finds the pieces of one owner by
//! binary search. In a dispatch, a piece is a class of tokens, and its origin is the owner. In a
//! combine, a piece is the contribution of one node to the sum of a class, which the owner
//! receives. A node holds at most one value of each class, which consists of all its pieces of this
//! class.
//!
//! Boxes are not used, because the classes of different nodes have nothing in common. There would
//! be a box for each pair of nodes, with a bit for each node.

use super::{Inventory, Rule};
use crate::delivery::boxes::{BitLayout, Layout, NodeSet, Selection, Side};
use crate::delivery::collective::{BlockSizes, Collective, Tokens};
use crate::delivery::exchange::Division;
use crate::delivery::fault::{Block, BlockLocation, Count, DeliveryFault, EndFault, Fault};
use crate::delivery::grid::Embedding;
use crate::delivery::holdings::Holdings;
use crate::delivery::traced::{Loads, Proof, Traced};
use std::sync::Arc;

#[derive(Debug, Clone, Copy)]
struct Piece {
    class: u32,
    origin: u32,
    arrival: u32,
}

impl Piece {
    fn key(&self) -> (u32, u32) {
        (self.class, self.origin)
    }
}

#[derive(Debug, Clone, Copy)]
struct TokenSend {
    to: u64,
    first: usize,
    combine: bool,
}

#[derive(Debug)]
pub(crate) struct TokenExchange {
    inventory: Inventory,
    tokens: Arc<Tokens>,
    /// The pieces of each node of the schedule's grid, in ascending order of their keys.
    holdings: Vec<Vec<Piece>>,
    in_flight: Vec<Piece>,
    sends: Vec<TokenSend>,
    loads: Loads,
    tracks_arrivals: bool,
    step: u64,
    latest_arrival: u64,
    selection: Selection,
}

impl TokenExchange {
    /// At the start, nodes hold their own tokens in a dispatch, and their contributions to received
    /// tokens in a combine.
    pub(crate) fn new(
        collective: Collective,
        tokens: Arc<Tokens>,
        embedding: Embedding,
        division: Division,
        sizes: Option<Arc<dyn BlockSizes>>,
    ) -> Result<Self, Fault> {
        embedding.check()?;
        let layout = Inventory::layout(&collective, division, &embedding);
        let inventory = Inventory::new(collective, embedding, division, sizes, layout);
        let mut exchange = Self {
            selection: inventory.layout.select_all(),
            holdings: vec![Vec::new(); inventory.embedding.grid().nodes() as usize],
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
            let home = exchange.inventory.embedding.home(node);
            exchange.holdings[home as usize] = pieces;
        }
        exchange.inventory.check_total(total)?;
        exchange.loads = Loads::new(held);
        Ok(exchange)
    }

    #[must_use]
    pub(crate) fn with_arrival_tracking(self, tracks_arrivals: bool) -> Self {
        Self { tracks_arrivals, ..self }
    }

    /// If `of_owner`, returns the pieces of the tokens that a node owns, otherwise its pieces of
    /// the tokens that it receives.
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

    fn bytes(&self, piece: &Piece) -> u64 {
        self.tokens.bytes_of(piece.class as usize)
    }

    /// Executes one send. Returns its load in bytes, or `None` if it has neither tokens nor extra
    /// bytes.
    pub(crate) fn send(&mut self, rule: &Rule<'_>) -> Result<Option<u64>, Fault> {
        self.inventory.check(rule, self.step)?;
        self.inventory.select(rule, self.step, &mut self.selection)?;
        let (copy, sums) = (self.inventory.copies(rule), self.sums());
        let Self { inventory, tokens, holdings, in_flight, selection, .. } = self;
        let (layout, embedding) = (&inventory.layout, &inventory.embedding);
        let (side, owners) = match sums {
            true => (Side::Destinations, rule.destinations),
            false => (Side::Origins, rule.origins),
        };
        let is_within_node = embedding.physical(rule.from) == embedding.physical(rule.to);
        let arrival = Some(self.step as u32).filter(|_| self.tracks_arrivals && !is_within_node);

        let held = &mut holdings[rule.from as usize];
        let mut owner = if let NodeSet::One(home) = owners { embedding.physical(home) } else { 0 };
        let last = if let NodeSet::One(_) = owners { owner } else { tokens.nodes() - 1 };
        let start = held.partition_point(|p| (p.class as usize) < tokens.class_index(owner, 0));
        let end = start
            + held[start..]
                .partition_point(|p| (p.class as usize) < tokens.class_index(last + 1, 0));

        // Put the selected pieces in flight. In a combine, the pieces of one class that a node holds
        // are terms of one partial sum, so the load of the class is counted once.
        let (first, selected) = (in_flight.len(), selection.elements());
        let (mut found, mut load, mut latest_arrival) = (0, 0, 0);
        let (mut at, mut kept) = (start, start);
        while at < end {
            owner = if owner == last { last } else { tokens.owner(held[at].class as usize) };
            let next = tokens.class_index(owner + 1, 0);
            let of_owner = at + held[at..end].partition_point(|p| (p.class as usize) < next);
            let is_selected = layout.has_node(side, embedding.home(owner), selected);
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
        let embedding = &self.inventory.embedding;
        let ends = (embedding.physical(rule.from), embedding.physical(rule.to));
        self.loads.moved(ends, copy, load);
        Ok(Some(load + rule.extra_bytes))
    }

    fn selected_values(&self) -> u64 {
        match self.sums() {
            true => self.inventory.layout.values(self.selection.elements()),
            false => self.selection.count(),
        }
    }

    fn not_held(&self, rule: &Rule<'_>) -> Fault {
        let Inventory { layout, embedding, .. } = &self.inventory;
        let (side, selected) = (self.owner_side(), self.selection.elements());
        let sent = &self.in_flight[self.sends.last().map_or(0, |send| send.first)..];
        let classes = layout.coordinates(layout.segment_axis(), selected);
        let owners = layout.nodes_of(side, selected).into_iter();
        let mut pairs = owners.flat_map(|home| classes.iter().map(move |class| (home, *class)));
        // A block is divided into as many segments as any node has classes. Nodes can have fewer
        // classes, so a selected class may not exist.
        let piece = |(home, class): (u64, u64)| {
            let owner = embedding.physical(home);
            let origin = if self.sums() { embedding.physical(rule.from) } else { owner };
            let exists = embedding.home(owner) == home && class < self.tokens.classes(owner).into();
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
            block.origin = None;
        }
        let (from, to) = (embedding.locate(rule.from), embedding.locate(rule.to));
        let location = self.location(piece(missing));
        Fault::Delivery(self.step, DeliveryFault::NotHeld { from, to, block, location })
    }

    fn location(&self, piece: Option<Piece>) -> BlockLocation {
        let Some(piece) = piece else { return BlockLocation::Nowhere };
        let embedding = &self.inventory.embedding;
        let ends = self.sends.iter().skip(1).map(|send| send.first).chain([self.in_flight.len()]);
        let arriving = self.sends.iter().zip(ends).filter(|(send, end)| {
            self.in_flight[send.first..*end].iter().any(|sent| sent.key() == piece.key())
        });
        let holds = |held: &Vec<Piece>| held.binary_search_by_key(&piece.key(), Piece::key).is_ok();
        let holder = self.holdings.iter().position(holds).map(|node| node as u64);
        let owner = self.tokens.owner(piece.class as usize);
        let destination = self.sums().then(|| embedding.home(owner));
        embedding.location(arriving.map(|(send, _)| send.to).min(), holder, destination)
    }

    fn boxed(&self, piece: &Piece) -> Vec<u64> {
        let Inventory { layout, embedding, .. } = &self.inventory;
        let owner = self.tokens.owner(piece.class as usize);
        let class = piece.class as usize - self.tokens.class_index(owner, 0);
        let mut one = layout.full().to_vec();
        layout.narrow_to(self.owner_side(), embedding.home(owner), &mut one);
        layout.narrow_to(Side::Origins, embedding.home(piece.origin.into()), &mut one);
        layout.narrow_to(Side::Segments, class as u64, &mut one);
        one
    }

    fn block(&self, piece: &Piece) -> Block {
        self.inventory.first_block(&self.boxed(piece))
    }

    pub(crate) fn sent_boxes(&self) -> Vec<Vec<u64>> {
        let layout = &self.inventory.layout;
        let mut joined = Holdings::new(layout, 1);
        for piece in &self.in_flight[self.sends.last().map_or(0, |send| send.first)..] {
            joined.insert_box(layout, 0, &self.boxed(piece), 0);
        }
        joined.of(0).map(<[u64]>::to_vec).collect()
    }

    fn owner_side(&self) -> Side {
        if self.sums() { Side::Destinations } else { Side::Origins }
    }

    pub(crate) fn sums(&self) -> bool {
        self.inventory.sums()
    }

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
            let home = self.inventory.embedding.home(node);
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
                node: self.inventory.embedding.locate(home),
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

    fn embedding(&self) -> &Embedding {
        &self.inventory.embedding
    }
}

#[derive(Debug, Clone, Copy)]
struct Value<'a> {
    send: usize,
    pieces: &'a [Piece],
}

impl TokenExchange {
    /// Ends a step: adds the pieces in flight to the holdings of their receivers. The list of each
    /// receiver is rebuilt once, because inserting values one by one would take quadratic time.
    fn receive_all(&mut self) -> Result<(), Fault> {
        let in_flight = std::mem::take(&mut self.in_flight);
        let sends = std::mem::take(&mut self.sends);
        let mut order: Vec<usize> = (0..sends.len()).collect();
        order.sort_by_key(|send| sends[*send].to);
        let (mut values, mut first) = (Vec::new(), None);
        for to_one in order.chunk_by(|a, b| sends[*a].to == sends[*b].to) {
            values.clear();
            for &send in to_one {
                let end = sends.get(send + 1).map_or(in_flight.len(), |next| next.first);
                let pieces = &in_flight[sends[send].first..end];
                let of_send = pieces.chunk_by(|a, b| a.class == b.class);
                values.extend(of_send.map(|pieces| Value { send, pieces }));
            }
            values.sort_by_key(|value| value.pieces[0].class);
            self.receive(&sends, &values, &mut first);
        }
        let embedding = &self.inventory.embedding;
        let receivers = sends.iter().map(|send| embedding.physical(send.to));
        self.loads.end_step(receivers);
        (self.in_flight, self.sends) = (in_flight, sends);
        self.in_flight.clear();
        self.sends.clear();
        first.map_or(Ok(()), |(_, fault)| Err(Fault::Delivery(self.step, fault)))
    }

    /// Adds values to the holdings of their receiver. If there are faults, stores in `first` the
    /// fault of the first send with a fault, and of the lowest class in it.
    fn receive(
        &mut self,
        sends: &[TokenSend],
        values: &[Value<'_>],
        first: &mut Option<((usize, u32), DeliveryFault)>,
    ) {
        let Some(to) = values.first().map(|value| sends[value.send].to) else { return };
        let held = std::mem::take(&mut self.holdings[to as usize]);
        let received: usize = values.iter().map(|value| value.pieces.len()).sum();
        let mut holdings = Vec::with_capacity(held.len() + received);
        let (mut rest, mut own) = (&held[..], Vec::new());
        for of_class in values.chunk_by(|a, b| a.pieces[0].class == b.pieces[0].class) {
            let class = of_class[0].pieces[0].class;
            let (before, from) = rest.split_at(rest.partition_point(|piece| piece.class < class));
            let (held_own, after) =
                from.split_at(from.partition_point(|piece| piece.class == class));
            holdings.extend_from_slice(before);
            own.clear();
            own.extend_from_slice(held_own);
            for value in of_class {
                let key = (value.send, class);
                if let Err(fault) = self.update(&sends[value.send], value.pieces, &mut own)
                    && first.as_ref().is_none_or(|(earlier, _)| key < *earlier)
                {
                    *first = Some((key, fault));
                }
            }
            holdings.extend_from_slice(&own);
            rest = after;
        }
        holdings.extend_from_slice(rest);
        self.holdings[to as usize] = holdings;
    }

    /// Updates `own`, the pieces of a class that the receiver holds, with a received value. In a
    /// dispatch, `own` must be empty. In a combine, the value is added to `own` or replaces it.
    fn update(
        &mut self,
        send: &TokenSend,
        received: &[Piece],
        own: &mut Vec<Piece>,
    ) -> Result<(), DeliveryFault> {
        if !own.is_empty() {
            let node = || self.inventory.embedding.locate(send.to);
            let is_received = |own: &&Piece| received.iter().any(|p| p.origin == own.origin);
            let twice = own.iter().find(is_received);
            if !self.sums() {
                let block = self.block(twice.unwrap_or(&own[0]));
                return Err(DeliveryFault::DeliveredTwice { node: node(), block });
            }
            if send.combine {
                if let Some(twice) = twice {
                    let block = self.block(twice);
                    return Err(DeliveryFault::CountedTwice { node: node(), block });
                }
            } else if let Some(lost) = own.iter().find(|own| !is_received(own)) {
                return Err(DeliveryFault::Replaced { node: node(), block: self.block(lost) });
            }
            // The loads still count both values, but only the sum or the received value remains.
            let account = self.inventory.embedding.physical(send.to);
            let load = self.bytes(&received[0]);
            self.loads.discarded(account, load);
            if send.combine {
                self.loads.summed(account, load);
            } else {
                own.clear();
            }
        }
        own.extend_from_slice(received);
        own.sort_unstable_by_key(Piece::key);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
