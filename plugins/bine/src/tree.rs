//! Distance-halving Bine trees. `bine-broadcast` takes `log2 p (alpha + m beta)`. `bine-reduce`
//! uses the same tree in reverse and takes `log2 p (alpha + m beta + m gamma)`. p is the number of
//! ranks, m is the number of bytes of the block or vector, alpha is the start-up of a message, beta
//! the time per byte, and gamma the time to add a byte.
//!
//! Ranks are written in base -2 (negabinary) with s digits, where p = 2^s. In step i, from 0, each
//! rank that has the block sends it to the rank whose lowest s - i digits are all flipped. In a
//! rank that has the block, these s - i digits are all equal. The distance to the receiver is
//! therefore `reach(s - i)`.

use crate::{ANYWHERE, steps};
use swapmeet_sdk::{About, Algorithm, Blocks, Collective, Problem, Schedule, Stop};

/// A broadcast or reduce on a Bine tree.
pub(crate) struct Tree {
    about: About,
}

pub(crate) const BROADCAST: Tree = Tree {
    about: About {
        name: "bine-broadcast",
        title: "Broadcast on a Bine tree",
        collectives: &[Collective::Broadcast],
        ..ANYWHERE
    },
};

pub(crate) const REDUCE: Tree = Tree {
    about: About {
        name: "bine-reduce",
        title: "Reduce on a Bine tree",
        collectives: &[Collective::Reduce],
        ..ANYWHERE
    },
};

/// Converts `r` to base -2, with as many digits as `mask` has bits. The digits with odd index have
/// negative weight. Adding the mask of these digits and then flipping them turns each carry into a
/// double carry, which is the subtraction that a negative weight needs.
fn negabinary(r: u64, mask: u64) -> u64 {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    (r.wrapping_add(ODD) ^ ODD) & mask
}

/// Converts from base -2 to a rank.
fn rank(digits: u64, mask: u64) -> u64 {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    (digits ^ ODD).wrapping_sub(ODD) & mask
}

/// Returns, for each step of the broadcast from rank 0, the sender and receiver of each message.
fn edges(steps: u32) -> impl DoubleEndedIterator<Item = Vec<(u64, u64)>> {
    let mask = (1_u64 << steps) - 1;
    let mut have = vec![0];
    let edges: Vec<Vec<(u64, u64)>> = (0..steps)
        .map(|i| {
            let to = |from: u64| rank(negabinary(from, mask) ^ mask >> i, mask);
            let edges: Vec<(u64, u64)> = have.iter().map(|from| (*from, to(*from))).collect();
            have.extend(edges.iter().map(|(_, to)| *to));
            edges
        })
        .collect();
    edges.into_iter()
}

impl Algorithm for Tree {
    fn about(&self) -> About {
        self.about
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        steps(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (s, n, root) = (steps(problem)?, problem.topology().nodes(), problem.root());
        schedule.layout(&[n], 1)?;
        let reduces = problem.collective() == Collective::Reduce;
        let steps: Vec<_> = if reduces { edges(s).rev().collect() } else { edges(s).collect() };
        for edges in steps {
            schedule.step()?;
            for (from, to) in edges {
                let (near, far) = ((from + root) % n, (to + root) % n);
                schedule.send(&if reduces {
                    Blocks::new(far, near).combine()
                } else {
                    Blocks::new(near, far).copy()
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn negabinary_digits_convert_both_ways() {
        // 6 = 16 - 8 - 2 = 11010; -1 modulo 8 = -2 + 1 = 11.
        assert_eq!((negabinary(6, 31), negabinary(7, 7)), (0b11010, 0b011));
        assert!((0..256).all(|r| rank(negabinary(r, 255), 255) == r));
    }

    /// Each rank receives the block once. The distance of the message is `reach`, in the shorter
    /// direction.
    #[test]
    fn distances_are_those_of_the_paper() {
        for s in 0..10 {
            let n = 1_u64 << s;
            for (i, edges) in (0..).zip(edges(s)) {
                for (from, to) in edges {
                    let apart = (to + n - from) % n;
                    assert_eq!(
                        apart.min(n - apart),
                        reach(s - i).unsigned_abs().min(n - reach(s - i).unsigned_abs()),
                        "{from} to {to}"
                    );
                }
            }
        }
        for n in [1_u64, 2, 8, 16] {
            for root in [0, n / 2, n - 1] {
                let on = |collective| {
                    Rehearsal::on("ring", &[n]).collective(collective, root).block_bytes(10)
                };
                let log = u64::from(n.trailing_zeros());
                let broadcast = on(Collective::Broadcast).verify(&BROADCAST).unwrap();
                assert_eq!(
                    (broadcast.steps, broadcast.messages, broadcast.critical_bytes),
                    (log, n - 1, 10 * log)
                );
                let summed = on(Collective::Reduce).verify(&REDUCE).unwrap();
                assert_eq!(
                    (summed.steps, summed.messages, summed.summed_bytes),
                    (log, n - 1, 10 * log)
                );
            }
        }
    }
}
