//! Many sends carried out side by side, and what came to many nodes taken in side by side.
//!
//! Nodes are divided into stretches by who sends about as much in each, some for each thread. A
//! round is a step: for each stretch somebody takes in, in the schedule's order, what the step
//! before has brought its nodes, and then carries out its nodes' sends, putting down what goes to
//! each other stretch. So all comes out as if one send had followed the other, whoever did what.
//! Only a broken rule is noticed later: others went on in the meantime, so that what is said of
//! where a block is may be of a later moment. Who wants to know plans once more on one thread.

mod outcomes;
mod stretch;

use super::loads::Loads;
use super::queue::Queue;
use super::taking::{Refusal, Taking, Way};
use super::{Exchange, Inventory};
use crate::delivery::fault::{Fault, Place};
use crate::delivery::holdings::{Holdings, Part};
use crate::executor::{Executor, Rounds};
use outcomes::Came;
pub(crate) use outcomes::{Delivered, Moved, Outcomes};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
pub(crate) use stretch::Breach;
use stretch::{Bin, Desk, Shared, Stretch};

/// A step's sends in a queue. All pieces but the last of a queue end their step.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The schedule's own number of the step.
    pub step: u64,
    pub sends: Range<usize>,
    /// Whether there are no more.
    pub ends: bool,
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
    /// Of a step and, while some still take in what that brings, of the next: what has been put
    /// down in each stretch for each.
    desks: [Vec<Desk>; 2],
    /// At which of the two the next step is put down.
    desk: usize,
    /// How many sends of that are there already.
    sent: u64,
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
    /// Carries out what was queued, and all that there is to do meanwhile. What came of it is put
    /// where `outcomes` of another queue were; stops with the first piece in which a rule is
    /// broken.
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
            let evenly = || {
                (1..=stretches as u64)
                    .map(|end| nodes * end / stretches as u64)
                    .filter(|end| *end > 0)
            };
            together.divide(if is_cut {
                evenly().collect()
            } else {
                ends(queue.senders(), nodes, stretches)
            });
        }
        let Together { ends, stretches, desks, desk, sent } = &mut **together;
        outcomes.came.resize_with(ends.len(), Came::default);
        for (stretch, came) in stretches.iter_mut().zip(&mut outcomes.came) {
            std::mem::swap(&mut stretch.came, came);
            stretch.came.clear();
        }
        let in_use: Vec<_> =
            pieces.iter().enumerate().filter(|(i, piece)| !is_idle(*i, piece, *sent)).collect();
        let is_in_order =
            |(_, piece): &(usize, &Piece)| queue.senders()[piece.sends.clone()].is_sorted();
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
        let rounds = Rounds::of(
            count + usize::from(shared.pieces.last().is_some_and(|(_, last)| last.ends)),
            ends.len(),
        );
        let parts: Vec<Mutex<(Part<'_>, &mut Stretch)>> =
            holdings.parts(ends).zip(stretches).map(Mutex::new).collect();
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
            rounds.go_through(thread * parts.len() / crew.executor.threads(), round, || {
                (crew.meanwhile)(thread)
            });
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
        if let Some(first) =
            breaches.min_by_key(|breach| (breach.piece, breach.arrived, breach.number))
        {
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
        let send =
            queue.senders().get(at).copied().zip(queue.as_slice().get(at)).filter(|_| !arrived);
        let between = send.filter(|(from, send)| from.max(&send.to) < &nodes);
        let between =
            between.map(|(from, send)| (placement.locate(from), placement.locate(send.to)));
        let fault = match (refusal, send) {
            (Refusal::Broken(fault), _) => fault,
            (Refusal::NotHeld, Some((from, send))) => {
                let ended = pieces[..piece]
                    .iter()
                    .enumerate()
                    .filter(|(i, piece)| !is_idle(*i, piece, self.together.sent));
                let desk = (self.together.desk + ended.count()) % 2;
                let first = self.gather(desk, number);
                let stretch = &mut self.together.stretches[stretch_of(&self.together.ends, from)];
                self.selection =
                    stretch.selection.take().unwrap_or_else(|| self.inventory.layout.select_all());
                queue.with(from, send, |rule| self.not_held(rule, first))
            }
            (Refusal::NotHeld, None) => Fault::Found("a send of nothing was refused".to_owned()),
        };
        Broken { piece, send: between, fault }
    }

    /// Puts all that lies on a desk on one way, what the send of this `number` took last; where
    /// that begins.
    fn gather(&mut self, desk: usize, number: u64) -> usize {
        let Self { together, way, holdings, inventory, .. } = self;
        let (words, sums) = (holdings.shape().words(), inventory.sums());
        let mut last = Way::default();
        for desk in &mut together.desks[desk] {
            for Bin { way: own, numbers } in
                desk.0.get_mut().unwrap_or_else(PoisonError::into_inner)
            {
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
                bins.0
                    .get_mut()
                    .unwrap_or_else(PoisonError::into_inner)
                    .resize_with(count, Bin::default);
            }
        }
    }
}

/// Where stretches of nodes end, so that about as many of these, who may come more than once, are
/// in each of so many stretches. The last one ends after all nodes.
fn ends(of: &[u64], nodes: u64, stretches: usize) -> Vec<u64> {
    /// Looked at for each stretch.
    const SAMPLES: usize = 32;
    let every = (of.len() / (SAMPLES * stretches)).max(1);
    let mut samples: Vec<u64> =
        of.iter().copied().step_by(every).filter(|node| *node < nodes).collect();
    samples.sort_unstable();
    let cuts =
        (1..stretches).filter_map(|cut| samples.get(samples.len() * cut / stretches).copied());
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
