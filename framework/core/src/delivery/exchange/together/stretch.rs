//! One stretch of nodes: their sends of a step, and what the step before has brought them.

use super::outcomes::{Came, Outcome};
use super::{Piece, stretch_of};
use crate::delivery::boxes::Selection;
use crate::delivery::exchange::Rule;
use crate::delivery::exchange::arriving::Arriving;
use crate::delivery::exchange::queue::Queue;
use crate::delivery::exchange::taking::{Refusal, Taken, Taking, Way};
use crate::delivery::fault::Fault;
use crate::delivery::holdings::{self, Part};
use crate::executor::Apart;
use smallvec::SmallVec;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What has been put down in one stretch, for each.
pub(super) type Desk = Apart<RwLock<Vec<Bin>>>;

/// What is known of a stretch's nodes; on cache lines of its own, for each send writes to it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Stretch {
    /// Made by the thread that uses it first, in memory of its own.
    pub(super) selection: Option<Selection>,
    pub(super) came: Came,
    pub(super) breach: Option<Breach>,
}

/// The first broken rule that was found in a stretch.
#[derive(Debug)]
pub(crate) struct Breach {
    pub(super) piece: usize,
    /// Sends are carried out before anything arrives.
    pub(super) arrived: bool,
    pub(super) number: u64,
    pub(super) refusal: Refusal,
}

/// What is put down in one stretch for another: for each unit of it the number of its send.
#[derive(Debug, Default)]
pub(super) struct Bin {
    pub(super) way: Way,
    pub(super) numbers: Vec<u64>,
}

/// What those who do a round's parts have in common.
pub(super) struct Shared<'a> {
    pub(super) queue: &'a Queue,
    /// Those in which something is done, with their places among all: a round each.
    pub(super) pieces: Vec<(usize, &'a Piece)>,
    /// Whether the senders of each of these come in the order of their numbers.
    pub(super) in_order: Vec<bool>,
    pub(super) ends: &'a [u64],
    pub(super) desks: &'a [Vec<Desk>; 2],
    pub(super) desk: usize,
    /// How many sends of the first piece's step came before it.
    pub(super) sent: u64,
    pub(super) taking: Taking<'a>,
    pub(super) counts_blocks: bool,
    pub(super) copied: AtomicBool,
}

impl Stretch {
    /// Takes in what the round before has brought, and carries out the sends of this one; the first
    /// rule that is broken.
    pub(super) fn round(
        &mut self,
        own: usize,
        round: usize,
        shared: &Shared<'_>,
        part: &mut Part<'_>,
    ) -> Option<Breach> {
        let Shared { pieces, desks, desk, sent, .. } = shared;
        let mut breach = None;
        if let Some((number, piece)) = round.checked_sub(1).map(|before| pieces[before]) {
            let taken_in =
                self.take_in(own, (number, piece.step), (desk + round - 1) % 2, shared, part);
            breach = taken_in.err().map(|(send, fault)| {
                let refusal = Refusal::Broken(fault);
                Breach { piece: number, arrived: true, number: send, refusal }
            });
        }
        // After the last step there is nothing to send.
        let Some((number, piece)) = pieces.get(round).copied() else { return breach };
        let Came { outcomes, settled, begins, .. } = &mut self.came;
        begins.resize(number + 1, (outcomes.len(), settled.len()));
        let before = if number == 0 { *sent } else { 0 };
        if let Ok(mut bins) = desks[(desk + round) % 2][own].0.write() {
            if before == 0 {
                bins.iter_mut().for_each(Bin::clear);
            }
            if let Err((send, refusal)) =
                self.send(own, (round, piece, before), shared, part, &mut bins)
            {
                breach.get_or_insert(Breach {
                    piece: number,
                    arrived: false,
                    number: send,
                    refusal,
                });
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
        let (layout, shape, sums) =
            (&taking.inventory.layout, taking.shape, taking.inventory.sums());
        let (senders, sends) =
            (&queue.senders()[piece.sends.clone()], &queue.as_slice()[piece.sends.clone()]);
        let selection = self.selection.get_or_insert_with(|| layout.select_all());
        let first = own.checked_sub(1).map_or(0, |before| ends[before]);
        let end = if own + 1 == ends.len() { u64::MAX } else { ends[own] };
        let among = if shared.in_order[round] {
            senders.partition_point(|from| *from < first)
                ..senders.partition_point(|from| *from < end)
        } else {
            0..senders.len()
        };
        let numbers = before + among.start as u64..;
        for (number, (from, send)) in numbers.zip(senders[among.clone()].iter().zip(&sends[among]))
        {
            if *from < first || *from >= end {
                continue;
            }
            let Bin { way, numbers } = &mut bins[stretch_of(ends, send.to)];
            let start = way.receivers.len();
            let taken =
                queue.with(*from, send, |rule: &Rule<'_>| taking.put(rule, part, selection, way));
            numbers.resize(way.units(sums), number);
            let load = taken.map_err(|refusal| (number, refusal))?.map(|Taken { load, .. }| load);
            if send.copy && load.is_some() && !copied.load(Ordering::Relaxed) {
                copied.store(true, Ordering::Relaxed);
            }
            let records = || way.records[start * shape.words()..].chunks_exact(shape.words());
            let blocks =
                if *counts_blocks { holdings::blocks(layout, shape, records()) } else { 0 };
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
        let came =
            Arriving { inventory, shape, step, copied: shared.copied.load(Ordering::Relaxed) };
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
            while let Some(number) = bin.numbers.get(*at).copied().filter(|number| *number < until)
            {
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
