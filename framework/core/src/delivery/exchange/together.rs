//! Many sends carried out side by side, and what came to many nodes taken in side by side.
//!
//! Nodes are divided into stretches by who sends about as much in each, some for each thread. A round is a step: for each stretch somebody takes in, in the schedule's order, what the
//! step before has brought its nodes, and then carries out its nodes' sends, putting down what goes to each other stretch. So all comes out as if one send had followed the
//! other, whoever did what. Only a broken rule is noticed later: others went on in the meantime, so that what is said of where a block is may be of a later moment. Who wants
//! to know plans once more on one thread.

use super::arriving::{Arriving, Redundant, Settled};
use super::loads::Loads;
use super::queue::Queue;
use super::taking::{Refusal, Taken, Taking, Way};
use super::{Exchange, Inventory, Rule};
use crate::delivery::boxes::Selection;
use crate::delivery::fault::{Block, Fault, Place};
use crate::delivery::holdings::{self, Holdings, Part};
use crate::executor::{Apart, Executor, Rounds};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

/// A step's sends in a queue. All pieces but the last of a queue end their step.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The schedule's own number of the step.
    pub step: u64,
    pub sends: Range<usize>,
    /// Whether there are no more.
    pub ends: bool,
}

/// What a send put on its way, between two nodes of the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved {
    pub from: u32,
    pub to: u32,
    pub load: u64,
    /// Blocks in it, if they are counted.
    pub blocks: u32,
    /// Number of its route.
    pub route: u32,
    /// Whether its sender keeps it.
    pub copy: bool,
}

/// A rule was broken.
#[derive(Debug)]
pub(crate) struct Broken {
    /// In which piece.
    pub piece: usize,
    /// Between whom, if it was a send's.
    pub send: Option<(Place, Place)>,
    pub fault: Fault,
}

/// What is on its way between stretches of nodes.
#[derive(Debug, Default)]
pub(super) struct Together {
    /// Where stretches of nodes end.
    ends: Vec<u64>,
    stretches: Vec<Stretch>,
    /// Of a step and, while some still take in what that brings, of the next: what has been put down in each stretch for each.
    desks: [Vec<Desk>; 2],
    /// At which of the two the next step is put down.
    desk: usize,
    /// How many sends of that are there already.
    sent: u64,
}

/// What has been put down in one stretch, for each.
type Desk = Apart<RwLock<Vec<Bin>>>;

/// What is known of a stretch's nodes; on cache lines of its own, for each send writes to it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Stretch {
    /// Made by the thread that uses it first, in memory of its own.
    selection: Option<Selection>,
    came: Came,
    breach: Option<Breach>,
}

/// What came of the sends of a stretch's nodes, and of what came to them.
#[derive(Debug, Default)]
struct Came {
    outcomes: Vec<Outcome>,
    settled: Vec<Settled>,
    redundant: Vec<(usize, Redundant)>,
    /// For each piece so far how many outcomes there were before it, and how much was settled.
    begins: Vec<(usize, usize)>,
}

/// What came of a queue.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    /// Where stretches of nodes end.
    ends: Vec<u64>,
    came: Vec<Came>,
}

/// What came of one send, with what whoever counts wants to know of it: the queue is in another thread's memory.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    load: u64,
    /// The node of the machine that it goes to.
    to: u32,
    route: u32,
    /// Blocks in its boxes, where they are counted.
    blocks: u32,
    copy: bool,
    /// Whether anything is on its way.
    is_sent: bool,
}

/// The first broken rule that was found in a stretch.
#[derive(Debug)]
pub(crate) struct Breach {
    piece: usize,
    /// Sends are carried out before anything arrives.
    arrived: bool,
    number: u64,
    refusal: Refusal,
}

/// What is put down in one stretch for another: for each unit of it the number of its send.
#[derive(Debug, Default)]
struct Bin {
    way: Way,
    numbers: Vec<u64>,
}

/// What those who do a round's parts have in common.
struct Shared<'a> {
    queue: &'a Queue,
    /// Those in which something is done, with their places among all: a round each.
    pieces: Vec<(usize, &'a Piece)>,
    /// Whether the senders of each of these come in the order of their numbers.
    in_order: Vec<bool>,
    ends: &'a [u64],
    desks: &'a [Vec<Desk>; 2],
    desk: usize,
    /// How many sends of the first piece's step came before it.
    sent: u64,
    taking: Taking<'a>,
    counts_blocks: bool,
    copied: AtomicBool,
}

/// What was delivered, for whoever counts and tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivered<'a> {
    pub inventory: &'a Inventory,
    pub outcomes: &'a Outcomes,
    pub queue: &'a Queue,
}

/// What an exchange delivers with; what each node holds is counted elsewhere.
pub(crate) struct Delivery<'a> {
    inventory: &'a Inventory,
    holdings: &'a mut Holdings,
    together: &'a mut Together,
    copied: &'a mut bool,
    step: &'a mut u64,
}

/// Who delivers.
pub(crate) struct Crew<'a> {
    pub executor: &'a dyn Executor,
    /// In how many stretches nodes are divided at most; one is delivered on one thread.
    pub stretches: usize,
    /// What else there is to do, by the thread of this number: a part of it, if there is any.
    pub meanwhile: &'a (dyn Fn(usize) -> bool + Sync),
}

impl Exchange {
    /// What is delivered with, who counts what each node holds, and what both look at.
    pub(crate) fn apart(&mut self) -> (Delivery<'_>, &mut Loads, &Inventory) {
        let Self { inventory, holdings, loads, copied, step, together, .. } = self;
        (Delivery { inventory, holdings, together, copied, step }, loads, inventory)
    }
}

impl Delivery<'_> {
    /// Carries out what was queued, and all that there is to do meanwhile. What came of it is put where `outcomes` of another queue were; stops with the first piece in which
    /// a rule is broken.
    pub(crate) fn deliver(
        &mut self,
        queue: &Queue,
        pieces: &[Piece],
        counts_blocks: bool,
        outcomes: &mut Outcomes,
        crew: &Crew<'_>,
    ) -> Result<(), Breach> {
        let Self { inventory, holdings, together, copied, step } = self;
        let nodes = inventory.layout.grid().nodes();
        if together.sent == 0 {
            // Whose sends of a step are still to come can't be seen from those that are here.
            let is_cut = pieces.last().is_some_and(|piece| !piece.ends);
            let stretches = crew.stretches;
            let evenly = || (1..=stretches as u64).map(|end| nodes * end / stretches as u64).filter(|end| *end > 0);
            together.divide(if is_cut { evenly().collect() } else { ends(queue.senders(), nodes, stretches) });
        }
        let Together { ends, stretches, desks, desk, sent } = &mut **together;
        outcomes.came.resize_with(ends.len(), Came::default);
        for (stretch, came) in stretches.iter_mut().zip(&mut outcomes.came) {
            std::mem::swap(&mut stretch.came, came);
            stretch.came.clear();
        }
        let in_use: Vec<_> = pieces.iter().enumerate().filter(|(i, piece)| !is_idle(*i, piece, *sent)).collect();
        let is_in_order = |(_, piece): &(usize, &Piece)| queue.senders()[piece.sends.clone()].is_sorted();
        let shared = Shared {
            queue,
            in_order: in_use.iter().map(is_in_order).collect(),
            pieces: in_use,
            ends,
            desks,
            desk: *desk,
            sent: *sent,
            taking: Taking { inventory, shape: holdings.shape(), step: 0 },
            counts_blocks,
            copied: AtomicBool::new(**copied),
        };
        let count = shared.pieces.len();
        // What the last step brings is taken in after it.
        let rounds =
            Rounds::of(count + usize::from(shared.pieces.last().is_some_and(|(_, last)| last.ends)), ends.len());
        let parts: Vec<Mutex<(Part<'_>, &mut Stretch)>> = holdings.parts(ends).zip(stretches).map(Mutex::new).collect();
        let work = |thread: usize| {
            let round = |round: usize, own: usize| {
                if let Ok(mut part) = parts[own].lock() {
                    let (part, stretch) = &mut *part;
                    if let Some(breach) = stretch.round(own, round, &shared, part) {
                        rounds.end_with(round);
                        stretch.breach.get_or_insert(breach);
                    }
                }
            };
            rounds.go_through(thread * parts.len() / crew.executor.threads(), round, || (crew.meanwhile)(thread));
            while (crew.meanwhile)(thread) {}
        };
        if parts.len() == 1 && !(crew.meanwhile)(0) {
            work(0);
        } else {
            crew.executor.together(&work);
        }
        let desk = (*desk + shared.pieces.iter().filter(|(_, piece)| piece.ends).count()) % 2;
        **copied = shared.copied.into_inner();
        drop(parts);
        if let Some(last) = pieces.last() {
            **step = last.step;
        }
        outcomes.ends.clone_from(&together.ends);
        for (stretch, came) in together.stretches.iter_mut().zip(&mut outcomes.came) {
            let Came { outcomes, settled, begins, .. } = &mut stretch.came;
            begins.resize(pieces.len(), (outcomes.len(), settled.len()));
            std::mem::swap(&mut stretch.came, came);
        }
        let breaches = together.stretches.iter_mut().filter_map(|stretch| stretch.breach.take());
        if let Some(first) = breaches.min_by_key(|breach| (breach.piece, breach.arrived, breach.number)) {
            return Err(first);
        }
        together.desk = desk;
        together.sent = match pieces.last() {
            Some(Piece { sends, ends: false, .. }) => {
                let before = if pieces.len() == 1 { together.sent } else { 0 };
                before + sends.len() as u64
            }
            Some(_) => 0,
            None => together.sent,
        };
        Ok(())
    }
}

impl Exchange {
    /// Says which rule it is that was broken when this was delivered.
    pub(crate) fn broken(&mut self, queue: &Queue, pieces: &[Piece], breach: Breach) -> Broken {
        let Breach { piece, arrived, number, refusal } = breach;
        let Piece { step, sends, .. } = &pieces[piece];
        self.step = *step;
        let placement = &self.inventory.placement;
        let nodes = placement.grid().nodes();
        // Numbers go on from queue to queue.
        let before = if piece == 0 { self.together.sent } else { 0 };
        let at = sends.start + (number.saturating_sub(before)) as usize;
        let send = queue.senders().get(at).copied().zip(queue.as_slice().get(at)).filter(|_| !arrived);
        let between = send.filter(|(from, send)| from.max(&send.to) < &nodes);
        let between = between.map(|(from, send)| (placement.locate(from), placement.locate(send.to)));
        let fault = match (refusal, send) {
            (Refusal::Broken(fault), _) => fault,
            (Refusal::NotHeld, Some((from, send))) => {
                let ended =
                    pieces[..piece].iter().enumerate().filter(|(i, piece)| !is_idle(*i, piece, self.together.sent));
                let desk = (self.together.desk + ended.count()) % 2;
                let first = self.gather(desk, number);
                let stretch = &mut self.together.stretches[stretch_of(&self.together.ends, from)];
                self.selection = stretch.selection.take().unwrap_or_else(|| self.inventory.layout.select_all());
                queue.with(from, send, |rule| self.not_held(rule, first))
            }
            (Refusal::NotHeld, None) => Fault::Found("a send of nothing was refused".to_owned()),
        };
        Broken { piece, send: between, fault }
    }

    /// Puts all that lies on a desk on one way, what the send of this `number` took last; where that begins.
    fn gather(&mut self, desk: usize, number: u64) -> usize {
        let Self { together, way, holdings, inventory, .. } = self;
        let (words, sums) = (holdings.shape().words(), inventory.sums());
        let mut last = Way::default();
        for desk in &mut together.desks[desk] {
            for Bin { way: own, numbers } in desk.0.get_mut().unwrap_or_else(PoisonError::into_inner) {
                // What was refused is no unit yet where values are summed.
                let units = if sums { own.sends.len() } else { numbers.len() };
                let of_others = numbers[..units].partition_point(|of| *of < number);
                let cut = match (sums, own.sends.get(of_others)) {
                    (false, _) => of_others,
                    (true, Some((record, _))) => *record,
                    (true, None) => own.receivers.len(),
                };
                way.receivers.extend_from_slice(&own.receivers[..cut]);
                way.records.extend_from_slice(&own.records[..cut * words]);
                last.receivers.extend_from_slice(&own.receivers[cut..]);
                last.records.extend_from_slice(&own.records[cut * words..]);
            }
        }
        let first = way.receivers.len();
        way.receivers.append(&mut last.receivers);
        way.records.append(&mut last.records);
        first
    }
}

/// Whether nothing is done in a piece; `sent` sends of the first one's step came before it.
fn is_idle(number: usize, piece: &Piece, sent: u64) -> bool {
    piece.sends.is_empty() && (number > 0 || sent == 0)
}

/// In which stretch a node is; one that there is not is in the last one.
#[inline]
fn stretch_of(ends: &[u64], node: u64) -> usize {
    ends[..ends.len() - 1].partition_point(|end| *end <= node)
}

impl Together {
    /// Divides nodes anew.
    fn divide(&mut self, ends: Vec<u64>) {
        let count = ends.len();
        self.ends = ends;
        self.stretches.resize_with(count, Stretch::default);
        for desk in &mut self.desks {
            desk.resize_with(count, Desk::default);
            for bins in desk {
                bins.0.get_mut().unwrap_or_else(PoisonError::into_inner).resize_with(count, Bin::default);
            }
        }
    }
}

impl Came {
    fn clear(&mut self) {
        self.outcomes.clear();
        self.settled.clear();
        self.redundant.clear();
        self.begins.clear();
    }
}

impl Stretch {
    /// Takes in what the round before has brought, and carries out the sends of this one; the first rule that is broken.
    fn round(&mut self, own: usize, round: usize, shared: &Shared<'_>, part: &mut Part<'_>) -> Option<Breach> {
        let Shared { pieces, desks, desk, sent, .. } = shared;
        let mut breach = None;
        if let Some((number, piece)) = round.checked_sub(1).map(|before| pieces[before]) {
            let taken_in = self.take_in(own, (number, piece.step), (desk + round - 1) % 2, shared, part);
            breach = taken_in.err().map(|(send, fault)| {
                let refusal = Refusal::Broken(fault);
                Breach { piece: number, arrived: true, number: send, refusal }
            });
        }
        let (number, piece) = *pieces.get(round)?;
        let Came { outcomes, settled, begins, .. } = &mut self.came;
        begins.resize(number + 1, (outcomes.len(), settled.len()));
        let before = if number == 0 { *sent } else { 0 };
        if let Ok(mut bins) = desks[(desk + round) % 2][own].0.write() {
            if before == 0 {
                bins.iter_mut().for_each(Bin::clear);
            }
            if let Err((send, refusal)) = self.send(own, (round, piece, before), shared, part, &mut bins) {
                breach.get_or_insert(Breach { piece: number, arrived: false, number: send, refusal });
            }
        }
        breach
    }

    /// Carries out the sends of its own nodes, of which so many of the step came before.
    fn send(
        &mut self,
        own: usize,
        (round, piece, before): (usize, &Piece, u64),
        shared: &Shared<'_>,
        part: &mut Part<'_>,
        bins: &mut [Bin],
    ) -> Result<(), (u64, Refusal)> {
        let Shared { queue, ends, counts_blocks, copied, .. } = shared;
        let taking = Taking { step: piece.step, ..shared.taking };
        let (layout, shape, sums) = (&taking.inventory.layout, taking.shape, taking.inventory.sums());
        let (senders, sends) = (&queue.senders()[piece.sends.clone()], &queue.as_slice()[piece.sends.clone()]);
        let selection = self.selection.get_or_insert_with(|| layout.select_all());
        let first = own.checked_sub(1).map_or(0, |before| ends[before]);
        let end = if own + 1 == ends.len() { u64::MAX } else { ends[own] };
        let among = if shared.in_order[round] {
            senders.partition_point(|from| *from < first)..senders.partition_point(|from| *from < end)
        } else {
            0..senders.len()
        };
        let numbers = before + among.start as u64..;
        for (number, (from, send)) in numbers.zip(senders[among.clone()].iter().zip(&sends[among])) {
            if *from < first || *from >= end {
                continue;
            }
            let Bin { way, numbers } = &mut bins[stretch_of(ends, send.to)];
            let start = way.receivers.len();
            let taken = queue.with(*from, send, |rule: &Rule<'_>| taking.put(rule, part, selection, way));
            numbers.resize(way.units(sums), number);
            let load = taken.map_err(|refusal| (number, refusal))?.map(|Taken { load, .. }| load);
            if send.copy && load.is_some() && !copied.load(Ordering::Relaxed) {
                copied.store(true, Ordering::Relaxed);
            }
            let records = || way.records[start * shape.words()..].chunks_exact(shape.words());
            let blocks = if *counts_blocks { holdings::blocks(layout, shape, records()) } else { 0 };
            self.came.outcomes.push(Outcome {
                load: load.unwrap_or(0),
                to: taking.inventory.placement.physical(send.to) as u32,
                route: send.route,
                blocks,
                copy: send.copy,
                is_sent: load.is_some(),
            });
        }
        Ok(())
    }

    /// Takes in what has been put down for its own nodes in all stretches, send by send.
    fn take_in(
        &mut self,
        own: usize,
        (piece, step): (usize, u64),
        desk: usize,
        shared: &Shared<'_>,
        part: &mut Part<'_>,
    ) -> Result<(), (u64, Fault)> {
        let Taking { inventory, shape, .. } = shared.taking;
        let came = Arriving { inventory, shape, step, copied: shared.copied.load(Ordering::Relaxed) };
        let desks = shared.desks[desk].iter().filter_map(|bins| bins.0.read().ok());
        let desks: SmallVec<[_; 16]> = desks.collect();
        let bins: SmallVec<[&Bin; 16]> = desks.iter().map(|bins| &bins[own]).collect();
        let mut next: SmallVec<[usize; 16]> = SmallVec::from_elem(0, bins.len());
        let (mut first, settled) = (None, &mut self.came.settled);
        loop {
            // Whose turn it is, and how far it goes: to where another one's comes.
            let (mut turn, mut until) = (None, u64::MAX);
            for (whose, bin) in bins.iter().enumerate() {
                let Some(number) = bin.numbers.get(next[whose]).copied() else { continue };
                match turn {
                    Some((_, least)) if least < number => until = until.min(number),
                    other => {
                        until = other.map_or(until, |(_, least)| least);
                        turn = Some((whose, number));
                    }
                }
            }
            let Some((whose, _)) = turn else { break };
            let (bin, at) = (bins[whose], &mut next[whose]);
            while let Some(number) = bin.numbers.get(*at).copied().filter(|number| *number < until) {
                came.unit(&bin.way, *at, number, part, &mut first, &mut |one| settled.push(one))
                    .map_err(|fault| (number, fault))?;
                *at += 1;
            }
        }
        self.came.redundant.extend(first.map(|first| (piece, first)));
        Ok(())
    }
}

impl Bin {
    fn clear(&mut self) {
        self.way.clear();
        self.numbers.clear();
    }
}

impl<'a> Delivered<'a> {
    /// The places in the queue of a piece's sends, in their order, and what each put on its way.
    pub(crate) fn sends(self, number: usize, piece: &Piece) -> impl Iterator<Item = (usize, Option<Moved>)> {
        let Outcomes { ends, came } = self.outcomes;
        let mut next: SmallVec<[usize; 16]> = came.iter().map(|came| came.begins[number].0).collect();
        piece.sends.clone().zip(&self.queue.senders()[piece.sends.clone()]).map(move |(place, sender)| {
            let stretch = stretch_of(ends, *sender);
            let Outcome { load, to, route, blocks, copy, is_sent } = came[stretch].outcomes[next[stretch]];
            next[stretch] += 1;
            let from = self.inventory.placement.physical(*sender) as u32;
            (place, is_sent.then_some(Moved { from, to, load, blocks, route, copy }))
        })
    }

    /// Between whom the send at this place in the queue goes.
    pub(crate) fn between(self, place: usize) -> (Place, Place) {
        let placement = &self.inventory.placement;
        (placement.locate(self.queue.senders()[place]), placement.locate(self.queue.as_slice()[place].to))
    }

    /// What was settled when a piece's step ended.
    pub(crate) fn settled(self, number: usize) -> impl Iterator<Item = Settled> {
        self.outcomes.came.iter().flat_map(move |came| {
            let end = came.begins.get(number + 1).map_or(came.settled.len(), |(_, settled)| *settled);
            came.settled[came.begins[number].1..end].iter().copied()
        })
    }

    /// The first block that was there already then, and no fault.
    pub(crate) fn redundant(self, number: usize) -> Option<(Place, Block)> {
        let all = self.outcomes.came.iter().flat_map(|came| &came.redundant);
        let first = all.filter(|(piece, _)| *piece == number).min_by_key(|(_, (send, ..))| *send);
        first.map(|(_, (_, node, block))| (*node, *block))
    }
}

/// Where stretches of nodes end, so that about as many of these, who may come more than once, are in each of so many stretches. The last one ends after all nodes.
fn ends(of: &[u64], nodes: u64, stretches: usize) -> Vec<u64> {
    /// Looked at for each stretch.
    const SAMPLES: usize = 32;
    let every = (of.len() / (SAMPLES * stretches)).max(1);
    let mut samples: Vec<u64> = of.iter().copied().step_by(every).filter(|node| *node < nodes).collect();
    samples.sort_unstable();
    let cuts = (1..stretches).filter_map(|cut| samples.get(samples.len() * cut / stretches).copied());
    let mut ends: Vec<u64> = cuts.filter(|end| *end > 0).chain([nodes]).collect();
    ends.dedup();
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_have_about_as_many_senders_each_and_cover_all_nodes() {
        let all: Vec<u64> = (0..1000).collect();
        assert_eq!(ends(&all, 1000, 4).len(), 4);
        let crowded: Vec<u64> = all.iter().map(|i| 500 + i / 100).collect();
        let crowded = ends(&crowded, 2000, 4);
        assert_eq!((crowded.len(), crowded.last()), (4, Some(&2000)));
        assert!(crowded[..3].iter().all(|end| (500..510).contains(end)));
        assert_eq!(ends(&[7; 9], 8, 3), [7, 8]);
        assert_eq!(ends(&[0; 9], 8, 3), [8]);
        assert_eq!(ends(&[], 8, 3), [8]);
    }

    #[test]
    fn a_node_is_in_the_stretch_that_it_lies_in() {
        let whose = |node| stretch_of(&[3, 5, 9], node);
        assert_eq!([0, 2, 3, 4, 5, 8, 9, 100].map(whose), [0, 0, 1, 1, 2, 2, 2, 2]);
    }
}
