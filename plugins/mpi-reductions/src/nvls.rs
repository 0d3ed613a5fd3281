//! `nvls-allreduce` and `nvls-tree-allreduce`: NCCL's NVLS and NVLSTree (`src/device/all_reduce.h`,
//! commit 5067397), allreduces in which switches (NVSwitch with NVLink SHARP) add and copy data.
//!
//! The vector of m bytes has one share for each rank of a group of g ranks, and each share has s
//! segments. A segment takes three kinds of steps:
//!
//! 1. *Reduce*: all ranks of the group send their values to the switch, which adds them and sends
//!    the sum to the rank of the share.
//! 2. *Tree*, with several groups: the ranks of the share in all groups do an allreduce on the two
//!    binary trees of [`two_tree`](crate::two_tree), each with half of the segments.
//! 3. *Multicast*: the rank of the share sends the sum to the switch, which sends a copy to each
//!    rank of the group, also to this rank.
//!
//! So a rank sends and receives `(1 + 1/g) m` bytes on its links to the switch. The segments form a
//! pipeline: in a step, a group reduces one segment of each share and multicasts another one. With
//! one group, there are s + 1 steps of at most `alpha + (1 + 1/g) m/s beta`. With G groups, a
//! segment passes about 2 log2 G more steps, and the ranks of a share send up to 2 m/g bytes to
//! other groups.

use crate::pipeline::{Edge, pipeline};
use crate::two_tree::trees;
use crate::{ANYWHERE, PIPELINE_SEGMENTS, pipeline_segments};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Schedule, Stop,
};

pub struct Nvls {
    about: About,
}

const NCCL: About = About {
    paper: "NCCL, src/device/all_reduce.h",
    collectives: &[Collective::AllReduce],
    ports: u64::MAX,
    ..ANYWHERE
};

pub const ONE_GROUP: Nvls = Nvls {
    about: About {
        name: "nvls-allreduce",
        title: "Allreduce in a switch that adds and copies (NCCL)",
        accepts: "ranks that are joined by switches that add and copy data (`reduce=switch`)",
        params: &[PIPELINE_SEGMENTS],
        ..NCCL
    },
};

const TREE_PARAMS: [ParamInfo; 2] = [PIPELINE_SEGMENTS, ParamInfo::GROUP];

pub const TREE: Nvls = Nvls {
    about: About {
        name: "nvls-tree-allreduce",
        title: "Allreduce in switches of groups, and on two trees (NCCL)",
        accepts: "groups of ranks that are joined by switches that add and copy data (`reduce=switch`)",
        params: &TREE_PARAMS,
        ..NCCL
    },
};

#[derive(Debug, Clone, Copy)]
enum Hop {
    Reduce { group: usize },
    Up { child: usize, parent: usize },
    Down { child: usize, parent: usize },
    Multicast { group: usize },
}

impl Algorithm for Nvls {
    fn about(&self) -> About {
        self.about
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        switches(problem, self.group(problem)?).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (n, g) = (problem.topology().nodes(), self.group(problem)?);
        let switches = switches(problem, g)?;
        let depth = 1 + 2 * u64::from((n / g).next_power_of_two().ilog2());
        let s = pipeline_segments(problem, g, depth)?;
        if n < 2 {
            return Ok(());
        }
        schedule.layout(&[n], (g * s) as u32)?;
        let (edges, hops) = edges(&trees((n / g) as usize));
        let segments = [0, 1].map(|tree| (s as usize + 1 - tree) / 2);
        pipeline(&edges, segments, |sends| {
            schedule.step()?;
            for (edge, segment) in sends {
                let at = (2 * segment + edges[*edge].tree) as u64;
                for share in 0..g {
                    let rank = |group: usize| group as u64 * g + share;
                    let send = |from, to| {
                        Blocks::new(from, to).segments(Axis::one(share * s + at)).strict()
                    };
                    match hops[*edge] {
                        Hop::Reduce { group } => {
                            let (owner, first) = (rank(group), group as u64 * g);
                            let switch = switches[owner as usize];
                            for member in first..first + g {
                                schedule.send(&send(member, owner).combine().reducer(switch))?;
                            }
                        }
                        Hop::Up { child, parent } => {
                            schedule.send(&send(rank(child), rank(parent)).combine())?;
                        }
                        Hop::Down { child, parent } => {
                            schedule.send(&send(rank(parent), rank(child)).copy())?;
                        }
                        Hop::Multicast { group } => {
                            let (owner, first) = (rank(group), group as u64 * g);
                            let switch = switches[owner as usize];
                            for member in first..first + g {
                                schedule.send(&send(owner, member).copy().multicaster(switch))?;
                            }
                        }
                    }
                }
            }
            Ok(())
        })
    }
}

impl Nvls {
    fn group(&self, problem: &Problem<'_>) -> Result<u64, Stop> {
        if self.about.params.len() == TREE_PARAMS.len() {
            problem.group("group")
        } else {
            Ok(problem.topology().nodes())
        }
    }
}

/// Returns the edges of the pipeline, each with its hop. A group has four ports: one for
/// reductions, one for multicasts, one for sends to other groups, and one for receives from them.
fn edges(trees: &[Vec<Option<usize>>; 2]) -> (Vec<Edge>, Vec<Hop>) {
    let (mut edges, mut hops) = (Vec::new(), Vec::new());
    let mut add = |tree, hop, after, ports| {
        edges.push(Edge { tree, after, ports });
        hops.push(hop);
        hops.len() - 1
    };
    let [reduces, multicasts, sends, receives] =
        [0, 1, 2, 3].map(|port| move |g: usize| 4 * g + port);
    for (tree, parents) in trees.iter().enumerate() {
        let groups = 0..parents.len();
        let root = groups.clone().find(|group| parents[*group].is_none());
        let reduce = |group: usize| (Hop::Reduce { group }, [reduces(group); 2]);
        let reduced = groups.clone().map(reduce).map(|(hop, ports)| add(tree, hop, vec![], ports));
        let reduced: Vec<usize> = reduced.collect();
        let mut order: Vec<usize> = root.into_iter().collect();
        let mut next = 0;
        while let Some(group) = order.get(next).copied() {
            order.extend(groups.clone().filter(|child| parents[*child] == Some(group)));
            next += 1;
        }
        let mut below: Vec<Vec<usize>> = reduced.iter().map(|edge| vec![*edge]).collect();
        for child in order.iter().rev().copied() {
            let Some(parent) = parents[child] else { continue };
            let mut after = below[child].clone();
            after.push(reduced[parent]);
            let up = add(tree, Hop::Up { child, parent }, after, [sends(child), receives(parent)]);
            below[parent].push(up);
        }
        let mut complete = below;
        for child in order.iter().copied() {
            if let Some(parent) = parents[child] {
                let ports = [sends(parent), receives(child)];
                let after = complete[parent].clone();
                complete[child] = vec![add(tree, Hop::Down { child, parent }, after, ports)];
            }
        }
        for (group, after) in complete.into_iter().enumerate() {
            add(tree, Hop::Multicast { group }, after, [multicasts(group); 2]);
        }
    }
    (edges, hops)
}

/// Returns, for each rank, a switch that adds and that has a link to the rank. The switches of a
/// group must be connected by links between switches that add.
fn switches(problem: &Problem<'_>, g: u64) -> Result<Vec<u64>, Stop> {
    let n = problem.topology().nodes();
    let reducing = |vertex| -> Result<Vec<u64>, Stop> {
        let links = problem.links(vertex)?.into_iter().map(|link| link.to);
        Ok(links.filter(|to| problem.can_reduce(*to)).collect())
    };
    let mut switches = Vec::new();
    for rank in 0..n {
        let Some(switch) = reducing(rank)?.first().copied() else {
            return Err(Stop::unsupported(format!(
                "rank {rank} has no link to a switch that can add and copy data: `reduce=switch` of groups and fat trees adds such switches"
            )));
        };
        switches.push(switch);
    }
    for (group, own) in switches.chunks(g as usize).enumerate() {
        let mut joined = vec![own[0]];
        let mut next = 0;
        while let Some(switch) = joined.get(next).copied() {
            for to in reducing(switch)? {
                if !joined.contains(&to) {
                    joined.push(to);
                }
            }
            next += 1;
        }
        if let Some(other) = own.iter().position(|switch| !joined.contains(switch)) {
            let first = group as u64 * g;
            return Err(Stop::unsupported(format!(
                "no switches that can add and copy data join ranks {first} and {}; nvls-tree-allreduce has groups of ranks that are joined",
                first + other as u64
            )));
        }
    }
    Ok(switches)
}
