//! The tokens of all ranks, by receivers.

use std::collections::BTreeMap;
use swapmeet_sdk::{Problem, Stop, bit_words};

/// The classes of tokens of each rank that each receiver, or group of receivers, gets. A set of
/// classes is stored as words of bits, as [`Axis::bits`](swapmeet_sdk::Axis::bits) requires.
pub(crate) struct Tokens {
    of_owner: Vec<BTreeMap<u64, Vec<u64>>>,
}

impl Tokens {
    /// Reads the tokens. The receivers are divided into groups of `size` consecutive ranks; with a
    /// size of 1, they are the ranks themselves.
    pub(crate) fn read(problem: &Problem<'_>, size: u64) -> Result<Self, Stop> {
        let nodes = problem.topology().nodes();
        let classes =
            (0..nodes).map(|owner| problem.tokens(owner)).collect::<Result<Vec<_>, _>>()?;
        let most = classes.iter().map(Vec::len).max().unwrap_or(0) as u64;
        let of_owner = classes.iter().map(|classes| {
            let mut by_group: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            for (number, class) in (0..).zip(classes) {
                for receiver in &class.receivers {
                    let listed = by_group.entry(receiver / size).or_default();
                    if listed.last() != Some(&number) {
                        listed.push(number);
                    }
                }
            }
            let words = |(group, listed): (u64, Vec<u64>)| (group, bit_words(most, listed));
            by_group.into_iter().map(words).collect()
        });
        Ok(Self { of_owner: of_owner.collect() })
    }

    /// Returns the classes of a rank that a receiver, or a rank of a group, gets; `None` if there
    /// are none.
    pub(crate) fn wanted(&self, owner: u64, receiver: u64) -> Option<&[u64]> {
        self.of_owner[owner as usize].get(&receiver).map(Vec::as_slice)
    }
}
