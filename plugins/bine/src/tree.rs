//! Distance-halving Bine trees. `bine-broadcast` takes `log2 p (alpha + m beta)`, and
//! `bine-scatter` takes `log2 p alpha + (p - 1) m beta`. `bine-reduce` and `bine-gather` use the
//! same tree in reverse. They take `log2 p (alpha + m beta + m gamma)` and `log2 p alpha + (p - 1)
//! m beta`. p is the number of ranks, and m is the number of bytes of a block or of the vector.
//! alpha is the start-up of a message, beta is the time per byte, and gamma is the time to add a
//! byte.
//!
//! Ranks are written in base -2 (negabinary) with s digits, where p = 2^s. Steps are counted from
//! 0. In step i, each rank that has the block sends it to another rank, whose number follows from
//! its own number by flipping the lowest s - i digits. Before the flip, these s - i digits are all
//! equal, so the distance to the receiver is `reach(s - i)`. The receiver and all ranks below it in
//! the tree have consecutive numbers. In a scatter or gather, their blocks are therefore a range.

use crate::{ANYWHERE, steps};
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop};

/// A broadcast, reduce, scatter or gather on a Bine tree.
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

pub(crate) const SCATTER: Tree = Tree {
    about: About {
        name: "bine-scatter",
        title: "Scatter on a Bine tree",
        collectives: &[Collective::Scatter],
        ..ANYWHERE
    },
};

pub(crate) const GATHER: Tree = Tree {
    about: About {
        name: "bine-gather",
        title: "Gather on a Bine tree",
        collectives: &[Collective::Gather],
        ..ANYWHERE
    },
};

/// Converts `r` to base -2, with as many digits as `mask` has bits. In base -2, digits with odd
/// index have negative weight. The mask of these digits is added, and then these digits are
/// flipped. This is the known conversion without a loop: the addition makes the carries that
/// negative weights need.
fn negabinary(r: u64, mask: u64) -> u64 {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    (r.wrapping_add(ODD) ^ ODD) & mask
}

/// Converts from base -2 to a rank.
fn rank(digits: u64, mask: u64) -> u64 {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    (digits ^ ODD).wrapping_sub(ODD) & mask
}

/// A message of the broadcast from rank 0.
struct Edge {
    from: u64,
    to: u64,
    /// The receiver and all ranks below it in the tree. They are consecutive, with wrap-around, so
    /// the first of them and their number are stored.
    below: (u64, u64),
}

/// Returns the messages of each step of the broadcast from rank 0.
fn edges(steps: u32) -> Vec<Vec<Edge>> {
    let (n, mask) = (1_u64 << steps, (1_u64 << steps) - 1);
    let mut have = vec![0];
    let mut edges: Vec<Vec<Edge>> = Vec::new();
    for i in 0..steps {
        let to = |from: u64| rank(negabinary(from, mask) ^ mask >> i, mask);
        let step = have.iter().map(|&from| Edge { from, to: to(from), below: (to(from), 1) });
        let step: Vec<Edge> = step.collect();
        have.extend(step.iter().map(|edge| edge.to));
        edges.push(step);
    }
    // Find the ranks below each rank, from the last step to the first. The range below a receiver
    // is adjacent to the range below the sender, on one of its two sides, so both ranges merge into
    // one range.
    let mut below: Vec<(u64, u64)> = (0..n).map(|rank| (rank, 1)).collect();
    for edge in edges.iter_mut().rev().flatten() {
        edge.below = below[edge.to as usize];
        let (first, count) = below[edge.from as usize];
        let is_before = (edge.below.0 + edge.below.1) % n == first;
        below[edge.from as usize] =
            (if is_before { edge.below.0 } else { first }, count + edge.below.1);
    }
    edges
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
        let collective = problem.collective();
        let mut steps = edges(s);
        if matches!(collective, Collective::Reduce | Collective::Gather) {
            steps.reverse();
        }
        for edges in steps {
            schedule.step()?;
            for Edge { from, to, below: (first, count) } in edges {
                let (near, far) = ((from + root) % n, (to + root) % n);
                let below = [Axis::range((first + root) % n, count)];
                let blocks = Set::product(&below);
                schedule.send(&match collective {
                    Collective::Broadcast => Blocks::new(near, far).copy(),
                    Collective::Reduce => Blocks::new(far, near).combine(),
                    Collective::Scatter => Blocks::new(near, far).destinations(blocks).strict(),
                    _ => Blocks::new(far, near).origins(blocks).strict(),
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
        // In base -2, 6 = 16 - 8 - 2 is 11010, and -1 = -2 + 1 is 11. Modulo 8, rank 7 is -1.
        assert_eq!((negabinary(6, 31), negabinary(7, 7)), (0b11010, 0b011));
        assert!((0..256).all(|r| rank(negabinary(r, 255), 255) == r));
    }

    /// Each rank other than the root receives the block once. The distance of each message, in the
    /// shorter direction, is a value of `reach`.
    #[test]
    fn distances_are_those_of_the_paper() {
        for s in 0..10 {
            let n = 1_u64 << s;
            for (i, edges) in (0..).zip(edges(s)) {
                for Edge { from, to, .. } in edges {
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
                for (collective, algorithm) in
                    [(Collective::Scatter, &SCATTER), (Collective::Gather, &GATHER)]
                {
                    let moved = on(collective).verify(algorithm).unwrap();
                    assert_eq!(
                        (moved.steps, moved.messages, moved.critical_bytes),
                        (log, n - 1, 10 * (n - 1))
                    );
                }
            }
        }
    }
}
