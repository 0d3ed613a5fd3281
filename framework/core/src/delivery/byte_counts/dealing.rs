//! Dealing, and finding out later what came to whom.

use super::pattern::{Pattern, Tally};
use super::{Amounts, Cell, Deal, add};
use crate::delivery::fault::Fault;
use crate::limits;
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
}

impl<T> Dealt<T> {
    pub(super) fn first_unsent(&self) -> Option<u64> {
        self.receivers.iter().position(|r| *r == UNSENT).map(|hand| hand as u64)
    }

    /// Whether a hand was sent before step `before` and is not settled yet.
    fn arrived(&self, hand: usize, before: u64) -> bool {
        self.receivers[hand] < SETTLED && u64::from(self.steps[hand]) < before
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
        self.dealt[node] =
            Some(Dealt { amounts, pattern, first, sizes, receivers: vec![UNSENT; hands], steps: vec![0; hands] });
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
        if self.unsettled == 0 || self.unsettled_since >= before {
            return Ok(());
        }
        let mut groups: Vec<Group> = Vec::new();
        for node in std::mem::take(&mut self.dealers) {
            let Some(dealt) = &self.dealt[node as usize] else { continue };
            let arrived = (0..dealt.receivers.len()).filter(|hand| dealt.arrived(*hand, before)).count();
            if arrived > 0 && arrived * 2 < dealt.receivers.len() {
                self.settle_one_by_one(node as usize, before)?;
            } else if arrived > 0 {
                match groups.iter_mut().find(|group| group.fits(dealt, before)) {
                    Some(group) => group.join(node, dealt, before),
                    None => groups.push(Group::new(node, dealt, before)),
                }
                continue;
            }
            self.dealers.push(node);
        }
        // Sums don't depend on the order of groups.
        for group in groups {
            self.settle_together(&group, before)?;
        }
        self.unsettled_since = before;
        let (dealt, hands, spare) = (&mut self.dealt, &mut self.hands, &mut self.spare);
        self.dealers.retain(|node| {
            let dealt = &mut dealt[*node as usize];
            let done = dealt.take_if(|dealt| dealt.receivers.iter().all(|r| *r == SETTLED));
            if let Some(done) = done {
                *hands -= done.receivers.len() as u64;
                spare.push(done.amounts);
                return false;
            }
            true
        });
        Ok(())
    }

    /// Settles what the members of a group dealt, destination by destination, all hands at once.
    fn settle_together(&mut self, group: &Group, before: u64) -> Result<(), Fault> {
        let known = |receiver: &&u32| **receiver != UNSENT;
        for receiver in group.receivers.iter().filter(known) {
            self.write_down(*receiver as usize)?;
        }
        let members = || group.members.iter().filter_map(|node| self.dealt[*node as usize].as_ref());
        // Hands that others of the group have sent, but not this one.
        let missing = |dealt: &Dealt<T>| -> Vec<u32> {
            let sent = group.receivers.iter().enumerate().filter(|(_, receiver)| **receiver != UNSENT);
            sent.filter(|(hand, _)| !dealt.arrived(*hand, before)).map(|(hand, _)| hand as u32).collect()
        };
        let dealt: Vec<(&Dealt<T>, Vec<u32>)> = members().map(|dealt| (dealt, missing(dealt))).collect();
        let mut tally = Tally::new(group.receivers.len() as u32);
        for destination in 0..self.nodes {
            tally.clear();
            for (d, missing) in &dealt {
                let amount = d.amounts[destination].into();
                d.pattern.deal(d.first, destination, amount, &mut tally);
                for hand in missing {
                    tally.take(*hand, d.pattern.share(d.first, destination, amount, *hand));
                }
            }
            tally.for_each(|hand, elements| {
                if let Some(holdings) = self.holdings.get_mut(group.receivers[hand] as usize)
                    && elements > 0
                {
                    add(&mut holdings[destination], elements);
                }
            });
        }
        for node in &group.members {
            if let Some(dealt) = &mut self.dealt[*node as usize] {
                for hand in 0..dealt.receivers.len() {
                    if dealt.arrived(hand, before) {
                        dealt.receivers[hand] = SETTLED;
                        self.unsettled -= 1;
                    }
                }
            }
            self.dealers.push(*node);
        }
        Ok(())
    }

    /// Settles the hands of one node that have arrived, where they are few.
    fn settle_one_by_one(&mut self, node: usize, before: u64) -> Result<(), Fault> {
        let Some(mut dealt) = self.dealt[node].take() else { return Ok(()) };
        for hand in 0..dealt.receivers.len() {
            if !dealt.arrived(hand, before) {
                continue;
            }
            let receiver = std::mem::replace(&mut dealt.receivers[hand], SETTLED) as usize;
            self.write_down(receiver)?;
            for (destination, amount) in dealt.amounts.iter().enumerate() {
                let share = dealt.pattern.share(dealt.first, destination, (*amount).into(), hand as u32);
                add(&mut self.holdings[receiver][destination], share);
            }
            self.unsettled -= 1;
        }
        self.dealt[node] = Some(dealt);
        Ok(())
    }
}

/// Nodes whose hands go to the same receivers, as far as they have arrived: what they dealt is added up before it is written down.
struct Group {
    /// Who has each hand of every member that has sent it; [`UNSENT`] where none has.
    receivers: Vec<u32>,
    members: Vec<u32>,
}

impl Group {
    fn new<T>(node: u32, dealt: &Dealt<T>, before: u64) -> Self {
        let mut group = Self { receivers: vec![UNSENT; dealt.receivers.len()], members: Vec::new() };
        group.join(node, dealt, before);
        group
    }

    fn fits<T>(&self, dealt: &Dealt<T>, before: u64) -> bool {
        let agrees = |(hand, receiver): (usize, &u32)| {
            *receiver == UNSENT || *receiver == dealt.receivers[hand] || !dealt.arrived(hand, before)
        };
        self.receivers.len() == dealt.receivers.len() && self.receivers.iter().enumerate().all(agrees)
    }

    fn join<T>(&mut self, node: u32, dealt: &Dealt<T>, before: u64) {
        for (hand, receiver) in self.receivers.iter_mut().enumerate() {
            if dealt.arrived(hand, before) {
                *receiver = dealt.receivers[hand];
            }
        }
        self.members.push(node);
    }
}
