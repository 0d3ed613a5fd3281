//! Dealing elements out like cards: who gets how many, by arithmetic instead of card by card.
//!
//! A run of consecutive cards gives every hand the same number and some of them one more; the hands that get one more are a run as well.
//! So a deal of any size is a few additions to a table of differences over hands.

/// How a node deals. Element x of what it holds for destination d is card `c = (starts[d] + x) % cycle` and goes to hand
/// `(first + firsts[d] + c) % hands`; `first` is the dealer's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// Hands.
    pub hands: u32,
    /// Cards after which the deal begins again.
    pub cycle: u32,
    /// For each destination the card its elements begin with; empty for 0 everywhere.
    pub starts: Vec<u32>,
    /// For each destination what is added to the first hand; empty for 0 everywhere.
    pub firsts: Vec<u32>,
}

/// How many elements each hand got.
#[derive(Debug)]
pub(super) struct Tally {
    /// What every hand got.
    all: u64,
    /// At h: how much more the hands below h got (wrapping: a run of hands is one addition and one subtraction).
    below: Vec<u64>,
}

impl Tally {
    pub(super) fn new(hands: u32) -> Self {
        Self { all: 0, below: vec![0; hands as usize + 1] }
    }

    pub(super) fn clear(&mut self) {
        self.all = 0;
        self.below.fill(0);
    }

    /// Hands the cards from number `from` to before number `to` went to, card c to hand c modulo their number.
    fn add_run(&mut self, from: u64, to: u64, times: u64) {
        let hands = self.below.len() as u64 - 1;
        let (rounds_from, rounds_to) = (from / hands, to / hands);
        self.all = self.all.wrapping_add(times.wrapping_mul(rounds_to - rounds_from));
        let end = &mut self.below[(to - rounds_to * hands) as usize];
        *end = end.wrapping_add(times);
        let start = &mut self.below[(from - rounds_from * hands) as usize];
        *start = start.wrapping_sub(times);
    }

    /// Takes back what a hand got.
    pub(super) fn take(&mut self, hand: u32, elements: u64) {
        let hand = u64::from(hand);
        self.add_run(hand, hand + 1, elements.wrapping_neg());
    }

    /// Calls `each` with every hand, the last first, and what it got.
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, u64)) {
        let mut more = 0_u64;
        for hand in (0..self.below.len() - 1).rev() {
            more = more.wrapping_add(self.below[hand + 1]);
            each(hand, self.all.wrapping_add(more));
        }
    }
}

impl Pattern {
    /// Deals `amount` elements for `destination`, by a dealer whose first hand is `first`.
    pub(super) fn deal(&self, first: u32, destination: usize, amount: u64, tally: &mut Tally) {
        self.for_each_run(first, destination, amount, |from, to, times| tally.add_run(from, to, times));
    }

    /// Calls `each` with the runs of cards that a deal consists of, three at most: from, to, how many times.
    fn for_each_run(&self, first: u32, destination: usize, amount: u64, mut each: impl FnMut(u64, u64, u64)) {
        if amount == 0 {
            return;
        }
        let (hands, cycle) = (u64::from(self.hands), u64::from(self.cycle));
        let at = |table: &[u32]| table.get(destination).map_or(0, |v| u64::from(*v));
        let mut shift = u64::from(first) + at(&self.firsts);
        if shift >= hands {
            shift -= hands;
        }
        let (rounds, rest) = if amount < cycle { (0, amount) } else { (amount / cycle, amount % cycle) };
        if rounds > 0 {
            each(shift, shift + cycle, rounds);
        }
        if rest == 0 {
            return;
        }
        let start = at(&self.starts);
        let end = start + rest;
        if end <= cycle {
            each(shift + start, shift + end, 1);
        } else {
            each(shift + start, shift + cycle, 1);
            each(shift, shift + end - cycle, 1);
        }
    }

    /// What one hand gets, in a few operations however many hands there are.
    pub(super) fn share(&self, first: u32, destination: usize, amount: u64, hand: u32) -> u64 {
        let (hands, hand) = (u64::from(self.hands), u64::from(hand));
        let below = |card: u64| card / hands + u64::from(card % hands > hand);
        let mut share = 0;
        self.for_each_run(first, destination, amount, |from, to, times| share += times * (below(to) - below(from)));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The arithmetic deals as one does by hand, card by card.
        #[test]
        fn a_deal_is_what_dealing_card_by_card_gives(
            hands in 1_u32..12, cycle in 1_u32..40, start in any::<u32>(), first in any::<u32>(), more in any::<u32>(), amount in 0_u64..200,
        ) {
            let pattern = Pattern { hands, cycle, starts: vec![0, start % cycle], firsts: vec![0, more % hands] };
            let first = first % hands;
            let mut expected = vec![0; hands as usize];
            for x in 0..amount {
                let card = (u64::from(start % cycle) + x) % u64::from(cycle);
                expected[((u64::from(first) + u64::from(more % hands) + card) % u64::from(hands)) as usize] += 1;
            }
            let mut tally = Tally::new(hands);
            pattern.deal(first, 1, amount, &mut tally);
            let mut dealt = vec![0; hands as usize];
            tally.for_each(|hand, elements| dealt[hand] = elements);
            prop_assert_eq!(&dealt, &expected);
            for hand in 0..hands {
                prop_assert_eq!(pattern.share(first, 1, amount, hand), expected[hand as usize]);
            }
        }
    }
}
