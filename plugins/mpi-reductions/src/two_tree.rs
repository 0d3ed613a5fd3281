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
//! edge (`pipeline`): in each step, every rank sends and receives at most one message of a pair
//! between groups, and one within its group. All pairs have the same steps.

use crate::pipeline::{Edge, pipeline};
use crate::{ANYWHERE, pipeline_segments};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Schedule, Stop,
};

pub struct TwoTree;

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
        // Of the segments of a pair, segment k belongs to tree k % 2, where it has the number k /
        // 2.
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

/// Returns the parent of each rank for rail 0, given the parents of groups of `g` ranks. The parent
/// of the first rank of a group is the first rank of the parent group. The other ranks of the group
/// form a chain.
fn in_chains(parents: &[Option<usize>], g: usize) -> Vec<Option<usize>> {
    let parent = |rank: usize| match rank % g {
        0 => parents[rank / g].map(|parent| parent * g),
        _ => Some(rank - 1),
    };
    (0..parents.len() * g).map(parent).collect()
}

/// Returns the edges of both trees, each with its sender and its receiver. If `up`, edges lead to
/// parents, otherwise to children. A rank has four ports: to send and to receive, each between
/// groups and within its group.
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

/// Returns the parent of each rank in two trees. The first is an in-order tree. The second is the
/// same tree mirrored or, for odd n, shifted by one.
pub fn trees(n: usize) -> [Vec<Option<usize>>; 2] {
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
