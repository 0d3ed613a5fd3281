//! The tokens of all ranks, grouped by the sends that move them.

use std::collections::BTreeMap;
use swapmeet_sdk::{Problem, Stop, bit_words};

/// The tokens of one rank that one send moves, as a list of classes (tokens with the same
/// receivers).
pub(crate) struct Share {
    /// The step of the send, from 1; 0 if the tokens need no send.
    step: u32,
    near: u32,
    far: u32,
    owner: u32,
    first: u32,
    count: u32,
}

impl Share {
    /// Returns the ranks `near`, `far` and `owner`. In a dispatch, `near` sends to `far`; in a
    /// combine, `far` sends to `near`.
    pub(crate) fn ranks(&self) -> [u64; 3] {
        [self.near, self.far, self.owner].map(u64::from)
    }
}

/// The tokens of all ranks, in the order of the sends of a dispatch. Memory grows with the tokens
/// that are sent, not with the pairs of ranks.
pub(crate) struct Tokens {
    /// The shares in ascending order of step, `near` and owner.
    shares: Vec<Share>,
    classes: Vec<u32>,
    most: u64,
}

impl Tokens {
    /// Reads the tokens. Receivers are in groups of `size` consecutive ranks. `send` takes a rank
    /// and a group. It returns the step, `near` and `far` of the send that moves the tokens of the
    /// rank for this group.
    pub(crate) fn read(
        problem: &Problem<'_>,
        size: u64,
        send: impl Fn(u64, u64) -> [u64; 3],
    ) -> Result<Self, Stop> {
        let mut tokens = Self { shares: Vec::new(), classes: Vec::new(), most: 0 };
        for owner in 0..problem.topology().nodes() {
            let mut by_group: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            let classes = problem.tokens(owner)?;
            tokens.most = tokens.most.max(classes.len() as u64);
            for (number, class) in (0..).zip(&classes) {
                for receiver in &class.receivers {
                    let listed = by_group.entry(receiver / size).or_default();
                    if listed.last() != Some(&number) {
                        listed.push(number);
                    }
                }
            }
            for (group, listed) in by_group {
                let [step, near, far] = send(owner, group).map(|number| number as u32);
                if step > 0 {
                    let (first, count) = (tokens.classes.len() as u32, listed.len() as u32);
                    let owner = owner as u32;
                    tokens.shares.push(Share { step, near, far, owner, first, count });
                    tokens.classes.extend(listed);
                }
            }
        }
        tokens.shares.sort_unstable_by_key(|share| (share.step, share.near, share.owner));
        Ok(tokens)
    }

    pub(crate) fn of_step(&self, step: u64) -> &[Share] {
        let start = self.shares.partition_point(|share| u64::from(share.step) < step);
        let end = self.shares.partition_point(|share| u64::from(share.step) <= step);
        &self.shares[start..end]
    }

    pub(crate) fn words(&self, share: &Share) -> Vec<u64> {
        let classes = &self.classes[share.first as usize..][..share.count as usize];
        bit_words(self.most, classes.iter().map(|class| u64::from(*class)))
    }
}
