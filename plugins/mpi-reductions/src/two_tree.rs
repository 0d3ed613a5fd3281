//! `two-tree-allreduce`: an allreduce on two binary trees at the same time, after P. Sanders, J.
//! Speck and J. L. Träff, *Two-tree algorithms for full bandwidth broadcast, reduction and scan*
//! (2009), with the trees of NCCL (`ncclGetDtree` in `src/graph/trees.cc`, commit 5067397). Each
//! tree reduces and broadcasts half of the segments. Every rank is an inner node of one tree and a
//! leaf of the other, so that it sends and receives in most steps. With s segments, the reduction
//! and the broadcast take about 2 log2 p + 2 s steps each, of `alpha + m/s beta + m/s gamma`.
//!
//! With `group=G` the trees are trees of groups of G ranks, as NCCL's are trees of computers
//! (`connectTrees` in `src/graph/connect.cc`). Each of G pairs of trees has one G-th of the vector.
//! Pair r has *rail* r: rank r of each group sends and receives its messages between groups. In a
//! group, the tree is a chain that starts at rank r and visits the following ranks (modulo G).
//!
//! NCCL sends a segment as soon as it has arrived. This module chooses a step for each segment and
//! edge ([`pipeline`]): in each step, every rank sends and receives at most one message of a pair
//! between groups, and one within its group.

use crate::pipeline::{Edge, pipeline};
use crate::{ANYWHERE, pipeline_segments};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Schedule, Stop,
};

pub(crate) struct TwoTree;

const PARAMS: [ParamInfo; 2] = [
    crate::PIPELINE_SEGMENTS,
    ParamInfo::number("group", "1", "number of consecutive ranks of a group, which form a chain"),
];

impl Algorithm for TwoTree {
    fn about(&self) -> About {
        About {
            name: "two-tree-allreduce",
            title: "Allreduce on two binary trees, pipelined (NCCL)",
            paper: "P. Sanders, J. Speck, J. L. Träff: Two-tree algorithms for full bandwidth broadcast, reduction and scan (2009); trees of NCCL",
            collectives: &[Collective::AllReduce],
            params: &PARAMS,
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        let g = match problem.given::<u64>("group")? {
            Some(_) => problem.group("group")?,
            None => 1,
        };
        let depth = g - 1 + u64::from((n / g).next_power_of_two().ilog2());
        let s = pipeline_segments(problem, g, depth)?;
        if n < 2 {
            return Ok(());
        }
        schedule.layout(&[n], (g * s) as u32)?;
        let trees = trees((n / g) as usize).map(|parents| in_chains(&parents, g as usize));
        // Segment k of a pair belongs to tree k % 2 and has the number k / 2 there.
        let segments = [0, 1].map(|tree| (s as usize + 1 - tree) / 2);
        for up in [true, false] {
            schedule.phase(if up { "up" } else { "down" })?;
            let (edges, ends) = edges(&trees, up, g as usize);
            pipeline(&edges, segments, |sends| {
                schedule.step()?;
                for (edge, segment) in sends {
                    let at = (2 * segment + edges[*edge].tree) as u64;
                    for rail in 0..g {
                        let turned = |rank: usize| {
                            let (first, place) = (rank as u64 / g * g, rank as u64 % g);
                            first + (place + rail) % g
                        };
                        let (from, to) = ends[*edge];
                        let send = Blocks::new(turned(from), turned(to))
                            .segments(Axis::one(rail * s + at))
                            .strict();
                        schedule.send(&if up { send.combine() } else { send.copy() })?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Returns the parents of ranks, given those of groups of `g` ranks, for rail 0: the first rank of
/// a group has that of the parent group as its parent, and the other ranks form a chain.
fn in_chains(parents: &[Option<usize>], g: usize) -> Vec<Option<usize>> {
    let parent = |rank: usize| match rank % g {
        0 => parents[rank / g].map(|parent| parent * g),
        _ => Some(rank - 1),
    };
    (0..parents.len() * g).map(parent).collect()
}

/// Returns the edges of both trees with their senders and receivers: to parents if `up`, otherwise
/// to children. A rank has four ports: to send and to receive, between groups and within its group.
fn edges(trees: &[Vec<Option<usize>>; 2], up: bool, g: usize) -> (Vec<Edge>, Vec<(usize, usize)>) {
    let children = trees.iter().enumerate().flat_map(|(tree, parents)| {
        let parents = parents.iter().enumerate();
        parents.filter_map(move |(child, parent)| Some((tree, child, (*parent)?)))
    });
    let children: Vec<(usize, usize, usize)> = children.collect();
    let mut below = trees.each_ref().map(|parents| vec![Vec::new(); parents.len()]);
    let mut above = below.clone();
    for (i, (tree, child, parent)) in children.iter().enumerate() {
        below[*tree][*parent].push(i);
        above[*tree][*child].push(i);
    }
    let edge = |&(tree, child, parent): &(usize, usize, usize)| {
        let (from, to) = if up { (child, parent) } else { (parent, child) };
        let after = if up { &below } else { &above }[tree][from].clone();
        let within = usize::from(from / g == to / g);
        (Edge { tree, after, ports: [4 * from + 2 * within, 4 * to + 2 * within + 1] }, (from, to))
    };
    children.iter().map(edge).unzip()
}

/// Returns the parents in an in-order tree, and in the same tree mirrored or, for odd n, shifted by
/// one.
pub(crate) fn trees(n: usize) -> [Vec<Option<usize>>; 2] {
    let second = |rank: usize| match n % 2 {
        0 => parent(n, n - 1 - rank).map(|parent| n - 1 - parent),
        _ => parent(n, (rank + n - 1) % n).map(|parent| (parent + 1) % n),
    };
    [(0..n).map(|rank| parent(n, rank)).collect(), (0..n).map(second).collect()]
}

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
    use std::collections::BTreeSet;
    use swapmeet_sdk::{Rehearsal, RehearsedStep};

    #[test]
    fn at_most_one_rank_is_inside_both_trees() {
        for n in 2..40 {
            let trees = trees(n);
            let is_inside = |tree: usize, rank: usize| trees[tree].contains(&Some(rank));
            let both = (0..n).filter(|rank| is_inside(0, *rank) && is_inside(1, *rank)).count();
            assert!(both <= 1, "{both} of {n} are inside both trees");
        }
    }

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

    /// The parents that NCCL's own code computes. The file states its source and licence.
    const NCCL: &str = include_str!("../../../tests/fixtures/schedules/nccl-trees.txt");

    #[test]
    fn the_trees_are_those_of_nccl_for_2_to_64_groups() {
        let mut compared = 0;
        for line in NCCL.lines().filter(|line| !line.starts_with('#')) {
            let numbers: Vec<i64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            let [n, tree, ref parents @ ..] = numbers[..] else { panic!("{line}") };
            let own = trees(n as usize)[tree as usize].clone();
            let own = own.into_iter().map(|parent| parent.map_or(-1, |parent| parent as i64));
            assert_eq!(own.collect::<Vec<_>>(), parents, "tree {tree} of {n} groups");
            compared += 1;
        }
        assert_eq!(compared, 2 * 63);
    }

    /// The messages between groups are the edges of NCCL's trees, each with its rail's share. A
    /// group with a parent and two children in one tree and a parent in the other sends and
    /// receives twice the vector; with two and three groups, 1 and 1.5 times.
    #[test]
    fn groups_exchange_data_on_their_rails() {
        for (groups, g, most) in
            [(1, 4, 0), (2, 2, 8), (3, 4, 12), (4, 2, 16), (8, 3, 16), (5, 1, 16)]
        {
            let (n, segments) = (groups * g, 4);
            let problem =
                Rehearsal::on("groups", &[groups, g]).collective(Collective::AllReduce, 0);
            let problem = problem.block_bytes(8 * g).param("segments", "4");
            let problem = problem.param("group", &g.to_string());
            problem.verify(&TwoTree).unwrap();
            let steps = problem.plan(&TwoTree).unwrap();
            let sends: usize = steps.iter().map(|step| step.sends.len()).sum();
            assert_eq!(sends as u64, 2 * (n - 1) * segments * g, "{groups} x {g}");
            let (mut sent, mut received) = (vec![0; n as usize], vec![0; n as usize]);
            let mut edges = BTreeSet::new();
            for step in steps {
                for send in step.sends.iter().filter(|send| send.from / g != send.to / g) {
                    let (rail, at) = (send.segments[0] / segments, send.segments[0] % segments);
                    assert_eq!((send.from % g, send.to % g), (rail, rail), "{groups} x {g}");
                    sent[send.from as usize] += 2;
                    received[send.to as usize] += 2;
                    if step.phase == "up" {
                        edges.insert((at % 2, send.from / g, send.to / g));
                    }
                }
            }
            let largest = |all: &[u64]| all.iter().copied().max().unwrap();
            assert_eq!((largest(&sent), largest(&received)), (most, most), "{groups} x {g}");
            let own = trees(groups as usize);
            let expected = (0..2).flat_map(|tree| {
                let parents = own[tree].iter().enumerate();
                parents.filter_map(move |(child, parent)| {
                    Some((tree as u64, child as u64, (*parent)? as u64))
                })
            });
            assert_eq!(edges, expected.collect(), "{groups} x {g}");
        }
    }

    /// The result is within 10 % of the best, if a step takes the start-up and a segment's time.
    #[test]
    fn automatic_segments_are_nearly_the_best() {
        for (groups, g, bytes) in [(8, 1, 1 << 20), (6, 2, 1 << 16), (2, 4, 1 << 21), (12, 1, 64)] {
            let us = |segments: &str| {
                let problem = Rehearsal::on("groups", &[groups, g]).block_bytes(bytes);
                let problem = problem.collective(Collective::AllReduce, 0).prices(5.0, 0.0, 0.001);
                let problem = problem.param("segments", segments).param("group", &g.to_string());
                let steps = problem.plan(&TwoTree).unwrap();
                let last = |step: &RehearsedStep| step.sends.iter().map(|s| s.segments[0]).max();
                let all = steps.iter().filter_map(last).max().unwrap() + 1;
                steps.len() as f64 * (5.0 + bytes as f64 / all as f64 * 0.001)
            };
            let best = [1, 2, 4, 8, 12, 16, 24, 32].map(|s: u32| us(&s.to_string()));
            let best = best.into_iter().fold(f64::INFINITY, f64::min);
            assert!(us("auto") <= 1.1 * best, "{groups} x {g}: {} against {best}", us("auto"));
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        let refused = |key: &str, value: &str| {
            let problem = Rehearsal::on("groups", &[2, 4]).collective(Collective::AllReduce, 0);
            problem.param(key, value).plan(&TwoTree).unwrap_err().to_string()
        };
        assert_eq!(refused("group", "3"), "8 nodes cannot be divided into groups of 3");
        assert_eq!(refused("group", "0"), "`group=0`: expected a whole number from 1");
        assert_eq!(
            refused("segments", "0"),
            "`segments=0`: expected a whole number from 1 to 4096"
        );
        assert_eq!(refused("segments", "many"), "`segments=many`: expected a whole number");
    }
}
