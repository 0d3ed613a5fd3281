//! `two-tree-allreduce`: an allreduce on two binary trees at the same time, after P. Sanders, J.
//! Speck and J. L. Träff, *Two-tree algorithms for full bandwidth broadcast, reduction and scan*
//! (2009). Each tree reduces and broadcasts half of the vector's segments. Every rank is an inner
//! node of one tree and a leaf of the second tree, so that it sends and receives in most steps.
//! With s segments, the reduction and the broadcast take about 2 log2 p + 2 s steps each, and a
//! step takes `alpha + m/s beta + m/s gamma`.
//!
//! This is a reconstruction. The trees are the trees of the paper: an in-order tree, and a copy of
//! it that is mirrored or shifted by one. The paper colours the edges to choose the step in which
//! each edge is used. This module chooses the step greedily.
//!
//! A rank sends a segment to its parent after both children have sent their sums of this segment.
//! In each step every rank sends at most one message and receives at most one message. If a rank
//! could send several segments, it sends the earliest first.

use crate::{ANYWHERE, SEGMENTS, segments};
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Stop};

pub(crate) struct TwoTree;

impl Algorithm for TwoTree {
    fn about(&self) -> About {
        About {
            name: "two-tree-allreduce",
            title: "Allreduce on two binary trees, pipelined",
            paper: "P. Sanders, J. Speck, J. L. Träff: Two-tree algorithms for full bandwidth broadcast, reduction and scan (2009); a reconstruction",
            collectives: &[Collective::AllReduce],
            params: &[SEGMENTS],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let segments = segments(problem)?;
        let n = problem.topology().nodes() as usize;
        if n < 2 {
            return Ok(());
        }
        schedule.layout(&[n as u64], segments)?;
        let trees = trees(n);
        let children = trees.each_ref().map(|parents| {
            let mut children = vec![0_u32; n];
            parents.iter().flatten().for_each(|parent| children[*parent] += 1);
            children
        });
        // Segment s belongs to tree s % 2 and has the number s / 2 there.
        let count = |tree: usize| (segments as usize + 1 - tree) / 2;
        for up in [true, false] {
            schedule.phase(if up { "up" } else { "down" })?;
            // For each tree: the number of segments sent over each edge (identified by its child),
            // and for each rank and segment the number of messages received.
            let mut sent = [vec![0; n], vec![0; n]];
            let mut received = [0, 1].map(|tree| vec![vec![0_u32; count(tree)]; n]);
            let mut left = (0..2).map(|tree| count(tree) * (n - 1)).sum::<usize>();
            while left > 0 {
                schedule.step()?;
                let (mut sends, mut receives) = (vec![false; n], vec![false; n]);
                let mut edges: Vec<(usize, usize, usize, usize, usize)> = Vec::new();
                for tree in 0..2 {
                    for (child, parent) in trees[tree].iter().enumerate() {
                        let Some(parent) = *parent else { continue };
                        let at = sent[tree][child];
                        let (from, to) = if up { (child, parent) } else { (parent, child) };
                        let due = if up {
                            children[tree][from]
                        } else {
                            u32::from(trees[tree][from].is_some())
                        };
                        if at < count(tree) && received[tree][from][at] == due {
                            edges.push((at, tree, child, from, to));
                        }
                    }
                }
                edges.sort_unstable();
                let mut arriving = Vec::new();
                for (at, tree, child, from, to) in edges {
                    if std::mem::replace(&mut sends[from], true) {
                        continue;
                    }
                    if std::mem::replace(&mut receives[to], true) {
                        sends[from] = false;
                        continue;
                    }
                    let send = Blocks::new(from as u64, to as u64)
                        .segments(Axis::one((2 * at + tree) as u64))
                        .strict();
                    schedule.send(&if up { send.combine() } else { send.copy() })?;
                    sent[tree][child] += 1;
                    left -= 1;
                    arriving.push((tree, to, at));
                }
                // Data that arrives in this step can be passed on in the next step.
                for (tree, to, at) in arriving {
                    received[tree][to][at] += 1;
                }
            }
        }
        Ok(())
    }
}

/// Returns the parent of every rank, for each of the two trees. The trees are those of NCCL
/// (`ncclGetDtree`): an in-order tree, and the same tree mirrored or, for odd n, shifted by one.
fn trees(n: usize) -> [Vec<Option<usize>>; 2] {
    let second = |rank: usize| match n % 2 {
        0 => parent(n, n - 1 - rank).map(|parent| n - 1 - parent),
        _ => parent(n, (rank + n - 1) % n).map(|parent| (parent + 1) % n),
    };
    [(0..n).map(|rank| parent(n, rank)).collect(), (0..n).map(second).collect()]
}

/// Returns the parent of a rank in the in-order tree with root 0, in which odd ranks are leaves.
fn parent(n: usize, rank: usize) -> Option<usize> {
    if rank == 0 {
        return None;
    }
    let bit = rank & rank.wrapping_neg();
    let up = (rank ^ bit) | bit << 1;
    Some(if up < n { up } else { rank ^ bit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn at_most_one_rank_is_inside_both_trees() {
        for n in 2..40 {
            let trees = trees(n);
            let is_inside = |tree: usize, rank: usize| trees[tree].contains(&Some(rank));
            let both = (0..n).filter(|rank| is_inside(0, *rank) && is_inside(1, *rank)).count();
            assert!(both <= 1, "{both} of {n} are inside both trees");
        }
    }

    /// Each edge carries the half of the segments that belongs to its tree, in both directions. The
    /// number of idle steps is at most the sum of the depths of the two trees.
    #[test]
    fn each_segment_is_sent_up_and_down_once() {
        for n in 1..20_u64 {
            for segments in [1, 2, 8] {
                let problem = Rehearsal::on("ring", &[n])
                    .collective(Collective::AllReduce, 0)
                    .block_bytes(segments);
                let proved =
                    problem.param("segments", &segments.to_string()).verify(&TwoTree).unwrap();
                assert_eq!(proved.messages, 2 * (n - 1) * segments, "{n}, {segments}");
                assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
                let depth = u64::from(n.next_power_of_two().trailing_zeros());
                assert!(
                    proved.steps <= 2 * (2 * depth + 2 * segments),
                    "{n}, {segments}: {} steps",
                    proved.steps
                );
            }
        }
    }
}
