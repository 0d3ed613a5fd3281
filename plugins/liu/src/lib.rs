//! Wenheng Liu, Cho-Li Wang and Viktor K. Prasanna: *Portable and Scalable Algorithm for Irregular
//! All-to-All Communication*, Journal of Parallel and Distributed Computing 62 (2002): the
//! four-stage algorithm and the three that the paper compares it with.
//!
//! | paper | here | meaning |
//! | --- | --- | --- |
//! | P | `p` | nodes |
//! | C, R | `Array`: `columns`, `rows` | the nodes as an array, row-major |
//! | r | `rest` | nodes in the incomplete row; 0 if all rows are complete |
//! | M | the workload | `M[i][j]`: what node i has for node j, i = j included |
//! | sBUF, rBUF | `send_peak`, `receive_peak` of the reproduction | send and receive buffer of a node |
//!
//! A1 and A3 move whole blocks. A2 and A4 redistribute what a node holds element by element (the
//! workload's `element=`), so that messages come out about equally long; where an element came from
//! is forgotten, and what is proved is that the bytes for each destination all reach it.
//!
//! Every stage is a phase: it begins with a rearrangement (messages are composed in the send
//! buffer) and, on a `flat` machine, with a barrier. The paper counts a node's message to itself;
//! here it is a local copy, no message.

use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Bucket, ParamInfo, Problem, Redistribution, Schedule, Set,
    Stop, Symmetry, export_plugin,
};

mod array;
mod four_stage;

const PAPER: &str = "W. Liu, C.-L. Wang, V. K. Prasanna: Portable and Scalable Algorithm for Irregular All-to-All Communication (2002)";
const ANYWHERE: About = About {
    accepts: "any topology, any number of nodes",
    paper: PAPER,
    ports: 1,
    ..About::DEFAULT
};

/// The ring order of all these algorithms: in step s of a set of `n` nodes, member j sends to
/// member (j + s) % n. The last step, `s = n`, is everyone's message to itself.
fn ring(j: u64, s: u64, n: u64) -> u64 {
    (j + s) % n
}

/// The number of nodes, in a grid of one axis.
fn line(problem: &Problem<'_>) -> Result<u64, Stop> {
    let p = problem.topology().nodes();
    u32::try_from(p)
        .map_err(|_| Stop::unsupported(format!("{p} nodes are too many for one axis")))?;
    Ok(p)
}

/// A1: p alpha + L beta, L being the most that a node sends or receives; section 3.1.1, equations
/// (3) and (4).
struct Direct;

impl Algorithm for Direct {
    fn about(&self) -> About {
        About { name: "direct", title: "A1: a message for each node, in ring order", ..ANYWHERE }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let p = problem.topology().nodes();
        // Ring order is the same seen from every node: (j + x) + s = (j + s) + x, modulo p.
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        schedule.rearrange()?;
        for s in 1..=p {
            schedule.step()?;
            for j in &planned {
                let to = ring(j, s, p);
                let send =
                    Blocks::new(j, to).origins(Set::one(j)).destinations(Set::one(to)).strict();
                schedule.send(&if to == j { send.local() } else { send })?;
            }
        }
        Ok(())
    }
}

/// A2: 2 p alpha + 2 L beta; section 3.1.2, Ranka et al., with Bader et al.'s rule for the first
/// slice, which the paper does not give: slice e of what i has for j goes by way of node i + j + e.
struct TwoStage;

impl Algorithm for TwoStage {
    fn about(&self) -> About {
        const SLICES: ParamInfo = ParamInfo::number(
            "slices",
            "",
            "in how many slices each node's data for another is cut: 1 to the number of nodes, which it is unless given",
        );
        About {
            name: "two-stage",
            title: "A2: each message in slices by way of other nodes, then straight on",
            params: &[SLICES],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let p = line(problem)?;
        let slices: u64 = problem.given("slices")?.unwrap_or(p);
        if !(1..=p).contains(&slices) {
            return Err(Stop::unsupported(format!(
                "`slices={slices}`: expected 1 to {p}, the number of nodes"
            )));
        }
        schedule.move_byte_counts(&[p])?;
        schedule.phase("stage 1: slices to nodes on the way")?;
        schedule.rearrange()?;
        let firsts: Vec<u32> = (0..p as u32).collect();
        for i in 0..p {
            schedule.redistribute(&Redistribution {
                node: i,
                buckets: p,
                cycle: slices,
                first: i,
                starts: &[],
                firsts: &firsts,
            })?;
        }
        all_to_all(p, schedule)?;
        schedule.phase("stage 2: to the destination")?;
        schedule.rearrange()?;
        (0..p).try_for_each(|node| schedule.redistribute(&collect(node, p, &firsts)))?;
        all_to_all(p, schedule)
    }
}

/// Every node sends bucket k to node k, in ring order.
fn all_to_all(p: u64, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    for s in 1..=p {
        schedule.step()?;
        for j in 0..p {
            let to = ring(j, s, p);
            schedule.send_bucket(&Bucket::new(j, to, to))?;
        }
    }
    Ok(())
}

/// Sorts what a node holds: all that it has for destination d goes to bucket `whose[d]`.
fn collect(node: u64, buckets: u64, whose: &[u32]) -> Redistribution<'_> {
    Redistribution { node, buckets, cycle: 1, first: 0, starts: &[], firsts: whose }
}

/// A3: 2 sqrt(p) alpha + 2 L beta, section 3.1.3: Hambrusch et al.; along the row to the
/// destination's column, then along the column.
struct RowColumn;

impl Algorithm for RowColumn {
    fn about(&self) -> About {
        About {
            name: "row-column",
            title: "A3: along the row, then along the column of a square array",
            accepts: "any topology, a square number of nodes",
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let p = problem.topology().nodes();
        if p.isqrt().pow(2) == p {
            return Ok(());
        }
        Err(Stop::unsupported(format!("{p} nodes are no square array (Liu et al., section 3.1.3)")))
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let side = line(problem)?.isqrt();
        schedule.layout(&[side, side], 1)?;
        schedule.phase("stage 1: along rows")?;
        schedule.rearrange()?;
        for s in 1..=side {
            schedule.step()?;
            for i in 0..side {
                for j in 0..side {
                    let (from, column) = (i * side + j, ring(j, s, side));
                    let nodes_there = [Axis::ALL, Axis::one(column)];
                    let send = Blocks::new(from, i * side + column).origins(Set::one(from));
                    schedule
                        .send(&send.destinations(Set::product(&nodes_there)).strict().local())?;
                }
            }
        }
        schedule.phase("stage 2: along columns")?;
        schedule.rearrange()?;
        for s in 1..=side {
            schedule.step()?;
            for i in 0..side {
                for j in 0..side {
                    let to = ring(i, s, side) * side + j;
                    let my_row = [Axis::one(i), Axis::ALL];
                    let send = Blocks::new(i * side + j, to).origins(Set::product(&my_row));
                    schedule.send(&send.destinations(Set::one(to)).strict().local())?;
                }
            }
        }
        Ok(())
    }
}

export_plugin!(
    licence: "MIT OR Apache-2.0",
    algorithms: [Direct, TwoStage, RowColumn, four_stage::FourStage],
);
