//! Sends of many nodes carried out side by side, and what came to many nodes taken in side by side.
//!
//! Nodes are divided into stretches by who sends, or receives, about as much in each; a thread has a stretch to itself. What each send put on its way is then gathered in
//! the schedule's order, so that all comes out as if one send had followed the other. Only a broken rule is noticed later: others went on in the meantime, so that
//! what is said of where a block is may be of a later moment. Who wants to know plans once more on one thread.

use super::arriving::{Arriving, Redundant, Settled};
use super::queue::{Queue, Queued};
use super::taking::{Refusal, Taken, Taking, Way};
use super::{Exchange, Rule};
use crate::delivery::boxes::Selection;
use crate::delivery::fault::{Fault, Place};
use crate::delivery::holdings::{self, Part};
use crate::executor::{Executor, each};

/// One thread's sends, and what came of them; on cache lines of its own, for each send writes to it.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Crew {
    selection: Selection,
    /// Which of the queue.
    sends: Vec<u32>,
    way: Way,
    outcomes: Vec<Outcome>,
    /// The first that broke a rule.
    refusal: Option<(u32, Refusal)>,
}

/// What came of one send.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    /// Records that it took.
    records: usize,
    /// `None` if nothing is on its way.
    taken: Option<Taken>,
    /// Blocks in its boxes, where they are counted.
    blocks: u32,
}

/// What came of a send, for whoever counts and tells.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Done {
    Moved(Moved),
    /// Nothing: there was nothing to take, or a rule was broken.
    Unsent {
        from: Place,
        to: Place,
        is_refused: bool,
    },
}

/// What a send put on its way, between two nodes of the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved {
    pub from: u64,
    pub to: u64,
    pub load: u64,
    /// Blocks in it, if they are counted.
    pub blocks: u32,
    /// The latest step in which any of it came to its sender, if arrivals are followed.
    pub after: u64,
    /// Number of its route.
    pub route: u32,
}

impl Exchange {
    /// Carries out these sends; calls `done` with each in their order, or with the first that broke a rule.
    pub(crate) fn send_all(
        &mut self,
        queue: &Queue,
        counts_blocks: bool,
        executor: &dyn Executor,
        mut done: impl FnMut(Done),
    ) -> Result<(), Fault> {
        let nodes = self.inventory.layout.grid().nodes();
        let ends = ends(queue.iter().map(|send| send.from), queue.len(), nodes, executor.threads());
        let mut crews = std::mem::take(&mut self.crews);
        let selection = &self.selection;
        crews.resize_with(ends.len(), || Crew::new(selection.clone()));
        let crew_of = |send: &Queued, crews: usize| ends.partition_point(|end| *end <= send.from).min(crews - 1);
        let (mut in_order, mut last) = (true, 0);
        for (number, send) in (0..).zip(queue.iter()) {
            // A sender that there is not: whoever gets it says so.
            let crew = crew_of(send, crews.len());
            in_order &= crew >= last;
            last = crew;
            crews[crew].sends.push(number);
        }
        let taking = Taking { inventory: &self.inventory, shape: self.holdings.shape(), step: self.step };
        let mut parts: Vec<(Part<'_>, &mut Crew)> = self.holdings.parts(&ends).zip(&mut crews).collect();
        each(executor, &mut parts, |(part, crew)| crew.carry_out(queue, &taking, counts_blocks, part));
        drop(parts);
        let refusal = crews.iter_mut().filter_map(|crew| crew.refusal.take()).min_by_key(|(number, _)| *number);
        if let Some((number, refusal)) = refusal {
            let send = &queue.as_slice()[number as usize];
            if send.from.max(send.to) < nodes {
                done(self.unsent(send, true));
            }
            return Err(self.refused(queue, number, refusal));
        }
        let mut next = vec![0; crews.len()];
        for send in queue.iter() {
            let crew = crew_of(send, crews.len());
            let outcome = &crews[crew].outcomes[next[crew]];
            next[crew] += 1;
            let Some(Taken { load, after }) = outcome.taken else {
                done(self.unsent(send, false));
                continue;
            };
            let placement = &self.inventory.placement;
            let (from, to) = (placement.physical(send.from), placement.physical(send.to));
            let blocks = outcome.blocks;
            self.took((from, to), send.copy, load);
            done(Done::Moved(Moved { from, to, load, blocks, after, route: send.route }));
        }
        let before = self.spare.pop().unwrap_or_default();
        self.earlier.push(std::mem::replace(&mut self.way, before));
        if in_order {
            for crew in &mut crews {
                let empty = self.spare.pop().unwrap_or_default();
                self.earlier.push(std::mem::replace(&mut crew.way, empty));
            }
        } else {
            let crew_of = queue.iter().map(|send| crew_of(send, crews.len()));
            self.way.gather(crew_of, &crews, self.holdings.shape().words());
        }
        crews.iter_mut().for_each(Crew::clear);
        self.crews = crews;
        Ok(())
    }

    fn unsent(&self, send: &Queued, is_refused: bool) -> Done {
        let placement = &self.inventory.placement;
        Done::Unsent { from: placement.locate(send.from), to: placement.locate(send.to), is_refused }
    }

    fn refused(&self, queue: &Queue, number: u32, refusal: Refusal) -> Fault {
        match refusal {
            Refusal::Broken(fault) => fault,
            Refusal::NotHeld => {
                let send = &queue.as_slice()[number as usize];
                queue.with(send, |rule| self.not_held(rule, self.way.receivers.len()))
            }
        }
    }

    /// Takes in what has arrived.
    pub(super) fn take_in(&mut self, executor: &dyn Executor) -> Result<(), Fault> {
        let Self { inventory, holdings, earlier, loads, copied, redundant, step, .. } = self;
        let came = Arriving { inventory, shape: holdings.shape(), step: *step, copied: *copied, ways: earlier };
        let count = earlier.iter().map(|way| way.receivers.len()).sum();
        if executor.threads() == 1 || count < executor.fewest() {
            let mut first = None;
            came.at(&mut holdings.whole(), &mut first, &mut |settled| loads.settle(settled))?;
            *redundant = redundant.take().or(first.map(|(_, node, block)| Box::new((node, block))));
            return Ok(());
        }
        let nodes = inventory.layout.grid().nodes();
        let receivers = earlier.iter().flat_map(|way| way.receivers.iter().copied());
        let ends = ends(receivers, count, nodes, executor.threads());
        let parts = holdings.parts(&ends).map(|part| Taker { part, first: None, settled: Vec::new(), outcome: Ok(()) });
        let mut takers: Vec<Taker<'_>> = parts.collect();
        each(executor, &mut takers, |Taker { part, first, settled, outcome }| {
            *outcome = came.at(part, first, &mut |one| settled.push(one));
        });
        let first = takers.iter().filter_map(|taker| taker.first).min_by_key(|(number, ..)| *number);
        *redundant = redundant.take().or(first.map(|(_, node, block)| Box::new((node, block))));
        for Taker { settled, outcome, .. } in takers {
            outcome?;
            settled.into_iter().for_each(|one| loads.settle(one));
        }
        Ok(())
    }
}

/// A thread that takes in what has come to some nodes.
#[repr(align(128))]
struct Taker<'a> {
    part: Part<'a>,
    first: Option<Redundant>,
    settled: Vec<Settled>,
    outcome: Result<(), Fault>,
}

impl Crew {
    fn new(selection: Selection) -> Self {
        Self { selection, sends: Vec::new(), way: Way::default(), outcomes: Vec::new(), refusal: None }
    }

    fn clear(&mut self) {
        self.sends.clear();
        self.way.clear();
        self.outcomes.clear();
    }

    fn carry_out(&mut self, queue: &Queue, taking: &Taking<'_>, counts_blocks: bool, part: &mut Part<'_>) {
        let (layout, shape) = (&taking.inventory.layout, taking.shape);
        let (sends, words) = (queue.as_slice(), shape.words());
        for &number in &self.sends {
            let first = self.way.receivers.len();
            let put = |rule: &Rule<'_>| taking.put(rule, part, &mut self.selection, &mut self.way);
            match queue.with(&sends[number as usize], put) {
                Ok(taken) => {
                    let records = self.way.records[first * words..].chunks_exact(words);
                    let blocks = if counts_blocks { holdings::blocks(layout, shape, records) } else { 0 };
                    self.outcomes.push(Outcome { records: self.way.receivers.len() - first, taken, blocks });
                }
                Err(refusal) => {
                    self.refusal = Some((number, refusal));
                    return;
                }
            }
        }
    }
}

impl Way {
    /// Puts on this way what crews put on theirs, send by send: which crew's turn it is `crew_of` says.
    fn gather(&mut self, crew_of: impl Iterator<Item = usize>, crews: &[Crew], words: usize) {
        /// How far a crew's way has been gone.
        #[derive(Clone, Default)]
        struct Gone {
            outcomes: usize,
            records: usize,
            sends: usize,
        }
        let mut gone = vec![Gone::default(); crews.len()];
        for crew in crew_of {
            let (Crew { way, outcomes, .. }, gone) = (&crews[crew], &mut gone[crew]);
            let (first, own) = (gone.records, self.receivers.len());
            gone.records += outcomes[gone.outcomes].records;
            gone.outcomes += 1;
            if let Some((at, combine)) = way.sends.get(gone.sends).filter(|(at, _)| *at < gone.records) {
                debug_assert_eq!(*at, first, "a send's records begin where the last one's end");
                self.sends.push((own, *combine));
                gone.sends += 1;
            }
            self.receivers.extend_from_slice(&way.receivers[first..gone.records]);
            self.records.extend_from_slice(&way.records[first * words..gone.records * words]);
        }
    }
}

/// Where stretches of nodes end, so that about as many of these so many nodes, who may come more than once, are in each of so many stretches. The last one ends after all nodes.
fn ends(of: impl Iterator<Item = u64>, count: usize, nodes: u64, stretches: usize) -> Vec<u64> {
    /// Looked at for each stretch.
    const SAMPLES: usize = 32;
    let mut samples: Vec<u64> =
        of.step_by((count / (SAMPLES * stretches)).max(1)).filter(|node| *node < nodes).collect();
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
        assert_eq!(ends(0..1000, 1000, 1000, 4).len(), 4);
        let crowded = ends((0..1000).map(|i| 500 + i / 100), 1000, 2000, 4);
        assert_eq!((crowded.len(), crowded.last()), (4, Some(&2000)));
        assert!(crowded[..3].iter().all(|end| (500..510).contains(end)));
        assert_eq!(ends([7; 9].into_iter(), 9, 8, 3), [7, 8]);
        assert_eq!(ends([0; 9].into_iter(), 9, 8, 3), [8]);
    }
}
