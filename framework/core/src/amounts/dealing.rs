//! Dealing, and finding out later what came to whom.

use super::pattern::{Pattern, Tally};
use super::{Amounts, Cell, Deal, add};
use crate::fault::Fault;
use crate::limits;
use std::collections::HashMap;
use std::sync::Arc;

/// In `Dealt::receivers`: nobody has it yet.
pub(super) const UNSENT: u32 = u32::MAX;
/// In `Dealt::receivers`: its receiver knows what is in it.
const SETTLED: u32 = u32::MAX - 1;

/// What a node has dealt out and not yet all been settled.
#[derive(Debug)]
pub(super) struct Dealt<T> {
    /// Elements for each destination, before the deal.
    pub(super) amounts: Vec<T>,
    pub(super) pattern: Arc<Pattern>,
    pub(super) first: u32,
    /// Elements of each hand.
    pub(super) sizes: Vec<u64>,
    /// Who has each hand, and since which step.
    pub(super) receivers: Vec<u32>,
    pub(super) steps: Vec<u32>,
    pub(super) unsent: usize,
}

impl<T> Dealt<T> {
    pub(super) fn first_unsent(&self) -> Option<u64> {
        self.receivers.iter().position(|r| *r == UNSENT).map(|hand| hand as u64)
    }
}

impl<T: Cell> Amounts<T> {
    /// A node deals out all it holds.
    pub fn deal(&mut self, deal: &Deal<'_>) -> Result<(), Fault> {
        let bad = |what: String| Fault::BadDeal { step: self.step, node: deal.node, what };
        let nodes = self.nodes as u64;
        if deal.node >= nodes {
            return Err(bad(format!("is unknown, the schedule's grid has nodes 0 to {}", nodes - 1)));
        }
        for (name, value, most) in
            [("hands", deal.hands, nodes.max(limits::HANDS)), ("cards a cycle", deal.cycle, limits::CYCLE)]
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
        if self.hands.saturating_mul(size_of::<[u64; 2]>() as u64) > limits::HELD_BYTES {
            return Err(Fault::Refused(format!(
                "{} hands at once would take over {} GiB",
                self.hands,
                limits::HELD_BYTES >> 30
            )));
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

    /// Writes down what is in all hands that were sent before step `before`.
    pub(super) fn settle(&mut self, before: u64) -> Result<(), Fault> {
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
}
