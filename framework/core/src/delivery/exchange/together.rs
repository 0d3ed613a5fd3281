//! Many sends carried out side by side, and what came to many nodes taken in side by side.
//!
//! Nodes are divided into stretches by who sends about as much in each; each of a crew has a stretch to itself, whose senders' sends it carries out and to whose nodes
//! it brings what others have put down for them, in the schedule's order. So all comes out as if one send had followed the other, and a step costs one meeting: who has
//! taken in what a step brought goes on to its own nodes' next sends, whatever the others still take in. Only a broken rule is noticed later: others went on in the
//! meantime, so that what is said of where a block is may be of a later moment. Who wants to know plans once more on one thread.

use super::arriving::{Arriving, Redundant, Settled};
use super::loads::Loads;
use super::queue::{Queue, Queued};
use super::taking::{Refusal, Taken, Taking, Way};
use super::{Exchange, Rule};
use crate::delivery::boxes::Selection;
use crate::delivery::fault::{Block, Fault, Place};
use crate::delivery::holdings::{self, Part};
use crate::executor::{Apart, Executor, Meeting, Present};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

/// Who carries out sends side by side, and what is on its way between them.
#[derive(Debug, Default)]
pub(super) struct Together {
    /// Where stretches of nodes end.
    ends: Vec<u64>,
    crew: Vec<Member>,
    /// Of a step and, while some still take in what that brings, of the next: what each member has put down for each.
    desks: [Vec<Desk>; 2],
    /// At which of the two the next step is put down.
    desk: usize,
    /// How many sends of that are there already.
    sent: u64,
}

/// What one member has put down, for each.
type Desk = Apart<RwLock<Vec<Bin>>>;

/// Who carries out the sends of a stretch's nodes, and what came of them; on cache lines of its own, for each send writes to it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Member {
    /// Made by the thread that uses it, in memory of its own.
    selection: Option<Selection>,
    outcomes: Vec<Outcome>,
    settled: Vec<Settled>,
    redundant: Vec<(usize, Redundant)>,
    /// For each piece so far how many outcomes there were before it, and how much was settled.
    begins: Vec<(usize, usize)>,
    breach: Option<Breach>,
}

/// What came of one send.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    /// `None` if nothing is on its way.
    load: Option<u64>,
    /// Blocks in its boxes, where they are counted.
    blocks: u32,
}

/// The first broken rule that a member found.
#[derive(Debug)]
struct Breach {
    piece: usize,
    /// Sends are carried out before anything arrives.
    arrived: bool,
    number: u64,
    refusal: Refusal,
}

/// What one member has put down for another: for each unit of it the number of its send.
#[derive(Debug, Default)]
struct Bin {
    way: Way,
    numbers: Vec<u64>,
}

/// What members have in common.
struct Shared<'a> {
    queue: &'a Queue,
    pieces: &'a [Piece],
    together: &'a Spread<'a>,
    counts_blocks: bool,
    copied: AtomicBool,
    meeting: Meeting,
    /// The first piece that nobody is to end.
    stop_at: AtomicUsize,
}

/// Where whom's things are.
struct Spread<'a> {
    ends: &'a [u64],
    desks: &'a [Vec<Desk>; 2],
    desk: usize,
    sent: u64,
}

/// What was delivered, for whoever counts and tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivered<'a> {
    exchange: &'a super::Inventory,
    together: &'a Together,
    queue: &'a Queue,
}

impl Exchange {
    /// Carries out what was queued, on so many of the crew at most; stops with the first piece in which a rule is broken.
    pub(crate) fn deliver(
        &mut self,
        queue: &Queue,
        pieces: &[Piece],
        counts_blocks: bool,
        (members, executor): (usize, &dyn Executor),
    ) -> Result<(), Box<Broken>> {
        let Self { inventory, holdings, together, .. } = self;
        let nodes = inventory.layout.grid().nodes();
        if together.sent == 0 {
            // Whose sends of a step are still to come can't be seen from those that are here.
            let is_cut = pieces.last().is_some_and(|piece| !piece.ends);
            let evenly = || (1..=members as u64).map(|end| nodes * end / members as u64).filter(|end| *end > 0);
            together.divide(if is_cut { evenly().collect() } else { ends(queue.senders(), nodes, members) });
        }
        let Together { ends, crew, desks, desk, sent } = &mut **together;
        crew.iter_mut().for_each(Member::clear);
        let shared = Shared {
            queue,
            pieces,
            together: &Spread { ends, desks, desk: *desk, sent: *sent },
            counts_blocks,
            copied: AtomicBool::new(self.copied),
            meeting: Meeting::of(ends.len()),
            stop_at: AtomicUsize::new(usize::MAX),
        };
        let shape = holdings.shape();
        let parts: Vec<Mutex<(Part<'_>, &mut Member)>> = holdings.parts(ends).zip(crew).map(Mutex::new).collect();
        let work = |number: usize| {
            if let Some((part, member)) = parts.get(number).and_then(|part| part.lock().ok()).as_deref_mut() {
                let taking = Taking { inventory, shape, step: 0 };
                member.carry_out(number, &shared, taking, part);
            }
        };
        if parts.len() == 1 {
            work(0);
        } else {
            executor.together(&work);
        }
        self.copied = shared.copied.into_inner();
        drop(parts);
        if let Some(last) = pieces.last() {
            self.step = last.step;
        }
        let breaches = self.together.crew.iter_mut().filter_map(|member| member.breach.take());
        if let Some(first) = breaches.min_by_key(|breach| (breach.piece, breach.arrived, breach.number)) {
            return Err(Box::new(self.broken(queue, pieces, first)));
        }
        let ended =
            pieces.iter().enumerate().filter(|(i, piece)| piece.ends && !is_idle(*i, piece, self.together.sent));
        self.together.desk = (self.together.desk + ended.count()) % 2;
        self.together.sent = match pieces.last() {
            Some(Piece { sends, ends: false, .. }) => {
                let before = if pieces.len() == 1 { self.together.sent } else { 0 };
                before + sends.len() as u64
            }
            Some(_) => 0,
            None => self.together.sent,
        };
        Ok(())
    }

    /// What each node holds, and what came of what was queued.
    pub(crate) fn delivered<'a>(&'a mut self, queue: &'a Queue) -> (&'a mut Loads, Delivered<'a>) {
        (&mut self.loads, Delivered { exchange: &self.inventory, together: &self.together, queue })
    }

    fn broken(&mut self, queue: &Queue, pieces: &[Piece], breach: Breach) -> Broken {
        let Breach { piece, arrived, number, refusal } = breach;
        let Piece { step, sends, .. } = &pieces[piece];
        self.step = *step;
        let placement = &self.inventory.placement;
        let nodes = placement.grid().nodes();
        // Numbers go on from queue to queue.
        let before = if piece == 0 { self.together.sent } else { 0 };
        let send =
            &queue.as_slice()[sends.start + (number.saturating_sub(before)) as usize..].first().filter(|_| !arrived);
        let between = send.filter(|send| send.from.max(send.to) < nodes);
        let between = between.map(|send| (placement.locate(send.from), placement.locate(send.to)));
        let fault = match (refusal, send) {
            (Refusal::Broken(fault), _) => fault,
            (Refusal::NotHeld, Some(send)) => {
                let ended =
                    pieces[..piece].iter().enumerate().filter(|(i, piece)| !is_idle(*i, piece, self.together.sent));
                let desk = (self.together.desk + ended.count()) % 2;
                let first = self.gather(desk, number);
                let member = &mut self.together.crew[member_of(&self.together.ends, send.from)];
                self.selection = member.selection.take().unwrap_or_else(|| self.inventory.layout.select_all());
                queue.with(send, |rule| self.not_held(rule, first))
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

/// Whose a node is; one that there is not is the last one's.
#[inline]
fn member_of(ends: &[u64], node: u64) -> usize {
    ends.iter().take(ends.len() - 1).take_while(|end| **end <= node).count()
}

impl Together {
    /// Divides nodes anew.
    fn divide(&mut self, ends: Vec<u64>) {
        let members = ends.len();
        self.ends = ends;
        self.crew.resize_with(members, Member::default);
        for desk in &mut self.desks {
            desk.resize_with(members, Desk::default);
            for bins in desk {
                bins.0.get_mut().unwrap_or_else(PoisonError::into_inner).resize_with(members, Bin::default);
            }
        }
    }
}

impl Member {
    fn clear(&mut self) {
        self.outcomes.clear();
        self.settled.clear();
        self.redundant.clear();
        self.begins.clear();
    }

    /// Goes through all pieces, piece by piece with the others.
    fn carry_out(&mut self, own: usize, shared: &Shared<'_>, taking: Taking<'_>, part: &mut Part<'_>) {
        let Shared { pieces, together, meeting, stop_at, .. } = shared;
        let _present = Present(meeting);
        let mut desk = together.desk;
        for (number, piece) in pieces.iter().enumerate() {
            self.begins.push((self.outcomes.len(), self.settled.len()));
            if is_idle(number, piece, together.sent) {
                continue;
            }
            let before = if number == 0 { together.sent } else { 0 };
            let taking = Taking { step: piece.step, ..taking };
            if let Ok(mut bins) = together.desks[desk][own].0.write() {
                if before == 0 {
                    bins.iter_mut().for_each(Bin::clear);
                }
                if let Err((send, refusal)) = self.send(own, (piece, before), shared, taking, part, &mut bins) {
                    self.breaks(Breach { piece: number, arrived: false, number: send, refusal }, stop_at);
                }
            }
            if !piece.ends || !meeting.wait() || stop_at.load(Ordering::Acquire) <= number {
                return;
            }
            if let Err((send, fault)) = self.take_in(own, number, desk, shared, taking, part) {
                let refusal = Refusal::Broken(fault);
                self.breaks(Breach { piece: number, arrived: true, number: send, refusal }, stop_at);
            }
            desk = 1 - desk;
        }
    }

    /// All stop where they meet next: in this piece, or in the next if they have met in this one.
    fn breaks(&mut self, breach: Breach, stop_at: &AtomicUsize) {
        stop_at.fetch_min(breach.piece + usize::from(breach.arrived), Ordering::AcqRel);
        self.breach.get_or_insert(breach);
    }

    /// Carries out the sends of its own nodes.
    fn send(
        &mut self,
        own: usize,
        (piece, before): (&Piece, u64),
        shared: &Shared<'_>,
        taking: Taking<'_>,
        part: &mut Part<'_>,
        bins: &mut [Bin],
    ) -> Result<(), (u64, Refusal)> {
        let Shared { queue, together: Spread { ends, .. }, counts_blocks, copied, .. } = shared;
        let (layout, shape, sums) = (&taking.inventory.layout, taking.shape, taking.inventory.sums());
        let sends = &queue.as_slice()[piece.sends.clone()];
        let selection = self.selection.get_or_insert_with(|| layout.select_all());
        let first = own.checked_sub(1).map_or(0, |before| ends[before]);
        let end = if own + 1 == ends.len() { u64::MAX } else { ends[own] };
        for (number, (from, send)) in (before..).zip(queue.senders()[piece.sends.clone()].iter().zip(sends)) {
            if *from < first || *from >= end {
                continue;
            }
            let Bin { way, numbers } = &mut bins[member_of(ends, send.to)];
            let start = way.receivers.len();
            let taken = queue.with(send, |rule: &Rule<'_>| taking.put(rule, part, selection, way));
            numbers.resize(way.units(sums), number);
            let load = taken.map_err(|refusal| (number, refusal))?.map(|Taken { load, .. }| load);
            if send.copy && load.is_some() && !copied.load(Ordering::Relaxed) {
                copied.store(true, Ordering::Relaxed);
            }
            let records = || way.records[start * shape.words()..].chunks_exact(shape.words());
            let blocks = if *counts_blocks { holdings::blocks(layout, shape, records()) } else { 0 };
            self.outcomes.push(Outcome { load, blocks });
        }
        Ok(())
    }

    /// Takes in what all have put down for its own nodes, send by send.
    fn take_in(
        &mut self,
        own: usize,
        piece: usize,
        desk: usize,
        shared: &Shared<'_>,
        taking: Taking<'_>,
        part: &mut Part<'_>,
    ) -> Result<(), (u64, Fault)> {
        let Taking { inventory, shape, step } = taking;
        let came = Arriving { inventory, shape, step, copied: shared.copied.load(Ordering::Relaxed) };
        let desks = shared.together.desks[desk].iter().filter_map(|bins| bins.0.read().ok());
        let desks: SmallVec<[_; 8]> = desks.collect();
        let bins: SmallVec<[&Bin; 8]> = desks.iter().map(|bins| &bins[own]).collect();
        let mut next: SmallVec<[usize; 8]> = SmallVec::from_elem(0, bins.len());
        let (mut first, settled) = (None, &mut self.settled);
        loop {
            // Whose turn it is, and how far it goes: to where another one's comes.
            let (mut turn, mut until) = (None, u64::MAX);
            for (member, bin) in bins.iter().enumerate() {
                let Some(number) = bin.numbers.get(next[member]).copied() else { continue };
                match turn {
                    Some((_, least)) if least < number => until = until.min(number),
                    other => {
                        until = other.map_or(until, |(_, least)| least);
                        turn = Some((member, number));
                    }
                }
            }
            let Some((member, _)) = turn else { break };
            let (bin, at) = (bins[member], &mut next[member]);
            while let Some(number) = bin.numbers.get(*at).copied().filter(|number| *number < until) {
                came.unit(&bin.way, *at, number, part, &mut first, &mut |one| settled.push(one))
                    .map_err(|fault| (number, fault))?;
                *at += 1;
            }
        }
        self.redundant.extend(first.map(|first| (piece, first)));
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
    /// The sends of a piece in their order, and what each put on its way.
    pub(crate) fn sends(self, number: usize, piece: &Piece) -> impl Iterator<Item = (&'a Queued, Option<Moved>)> {
        let Together { ends, crew, .. } = self.together;
        let mut next: SmallVec<[usize; 8]> = crew.iter().map(|member| member.begins[number].0).collect();
        self.queue.as_slice()[piece.sends.clone()].iter().map(move |send| {
            let member = member_of(ends, send.from);
            let Outcome { load, blocks } = crew[member].outcomes[next[member]];
            next[member] += 1;
            let node = |node| self.exchange.placement.physical(node) as u32;
            let Queued { copy, route, .. } = *send;
            let moved = load.map(|load| Moved { from: node(send.from), to: node(send.to), load, blocks, route, copy });
            (send, moved)
        })
    }

    /// Between whom a send goes.
    pub(crate) fn between(self, send: &Queued) -> (Place, Place) {
        let placement = &self.exchange.placement;
        (placement.locate(send.from), placement.locate(send.to))
    }

    /// What was settled when a piece's step ended.
    pub(crate) fn settled(self, number: usize) -> impl Iterator<Item = Settled> {
        self.together.crew.iter().flat_map(move |member| {
            let end = member.begins.get(number + 1).map_or(member.settled.len(), |(_, settled)| *settled);
            member.settled[member.begins[number].1..end].iter().copied()
        })
    }

    /// The first block that was there already then, and no fault.
    pub(crate) fn redundant(self, number: usize) -> Option<(Place, Block)> {
        let all = self.together.crew.iter().flat_map(|member| &member.redundant);
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
    fn a_node_is_the_one_stretchs_that_it_is_in() {
        let whose = |node| member_of(&[3, 5, 9], node);
        assert_eq!([0, 2, 3, 4, 5, 8, 9, 100].map(whose), [0, 0, 1, 1, 2, 2, 2, 2]);
    }
}
