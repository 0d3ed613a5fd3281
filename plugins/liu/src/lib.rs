//! Algorithms for the all-to-all with blocks of different sizes, from Wenheng Liu, Cho-Li Wang and
//! Viktor K. Prasanna, *Portable and Scalable Algorithm for Irregular All-to-All Communication*,
//! Journal of Parallel and Distributed Computing 62 (2002).
//!
//! | paper | here | meaning |
//! | --- | --- | --- |
//! | P | `p` | number of nodes |
//! | C, R | `Array`: `columns`, `rows` | the nodes as an array, numbered row by row |
//! | r | `rest` | number of nodes in the incomplete row; 0 if all rows are complete |
//! | M | the workload | `M[i][j]`: bytes that node i has for node j, including i = j |
//! | L | | the largest number of bytes that a node sends or receives |
//! | alpha, beta | | start-up of a message, time per byte |
//!
//! A1 and A3 move whole blocks. A2 and A4 redistribute data element by element, so that messages
//! have nearly equal lengths. The workload's `element=` is the size of an element. The host
//! verifies that all bytes for a destination arrive, without their origins. Every stage is a phase.
//! It begins with a rearrangement, because nodes compose their messages in the send buffer. Under
//! the model `flat`, it also begins with a barrier. The data that a node has for itself is a
//! message in the paper and a local copy here.

use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Bucket, ParamInfo, Problem, Redistribution, Schedule, Set,
    Stop, Symmetry, export_plugin,
};

pub mod array;
mod four_stage;

const PAPER: &str = "W. Liu, C.-L. Wang, V. K. Prasanna: Portable and Scalable Algorithm for Irregular All-to-All Communication (2002)";
const ANYWHERE: About = About {
    accepts: "any topology, any number of nodes",
    paper: PAPER,
    ports: 1,
    ..About::DEFAULT
};

/// Returns the receiver of member j of a group of n members in step s (from 1). In the last step,
/// this is member j itself.
fn ring(j: u64, s: u64, n: u64) -> u64 {
    (j + s) % n
}

/// A1 takes `p alpha + L beta` (section 3.1.1, equations (3) and (4)).
struct Direct;

impl Algorithm for Direct {
    fn about(&self) -> About {
        About { name: "direct", title: "A1: direct messages in ring order", ..ANYWHERE }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let p = problem.topology().nodes();
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        schedule.rearrange()?;
        for s in 1..=p {
            schedule.step()?;
            for j in &planned {
                let to = ring(j, s, p);
                schedule.send(&Blocks::direct(j, to).local())?;
            }
        }
        Ok(())
    }
}

/// A2, by Ranka et al., takes `2 p alpha + 2 L beta` (section 3.1.2). Slice e of the data of node i
/// for node j goes via node i + j + e (Bader et al.), because the paper names no intermediate node.
struct TwoStage;

impl Algorithm for TwoStage {
    fn about(&self) -> About {
        const SLICES: ParamInfo = ParamInfo::number(
            "slices",
            "",
            "number of slices of each message, 1 to the number of nodes; by default the number of nodes",
        );
        About {
            name: "two-stage",
            title: "A2: slices via intermediate nodes",
            params: &[SLICES],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let p = problem.topology().nodes();
        let slices: u64 = problem.given("slices")?.unwrap_or(p);
        if !(1..=p).contains(&slices) {
            return Err(Stop::unsupported(format!(
                "`slices={slices}`: expected 1 to {p}, the number of nodes"
            )));
        }
        schedule.move_byte_counts(&[p])?;
        schedule.phase("stage 1: slices to intermediate nodes")?;
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

fn collect(node: u64, buckets: u64, bucket_of: &[u32]) -> Redistribution<'_> {
    Redistribution { node, buckets, cycle: 1, first: 0, starts: &[], firsts: bucket_of }
}

/// A3, by Hambrusch et al., takes `2 sqrt(p) alpha + 2 L beta` (section 3.1.3). Data is sent along
/// the row of its origin to the column of its destination, then along that column.
struct RowColumn;

impl Algorithm for RowColumn {
    fn about(&self) -> About {
        About {
            name: "row-column",
            title: "A3: along rows, then along columns",
            accepts: "any topology with a square number of nodes",
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let p = problem.topology().nodes();
        if p.isqrt().pow(2) == p {
            return Ok(());
        }
        Err(Stop::unsupported(format!(
            "{p} nodes do not form a square array (Liu et al., section 3.1.3)"
        )))
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let side = problem.topology().nodes().isqrt();
        schedule.layout(&[side, side], 1)?;
        schedule.phase("stage 1: along rows")?;
        schedule.rearrange()?;
        for s in 1..=side {
            schedule.step()?;
            for i in 0..side {
                for j in 0..side {
                    let (from, column) = (i * side + j, ring(j, s, side));
                    let column_nodes = [Axis::ALL, Axis::one(column)];
                    let send = Blocks::new(from, i * side + column).origins(Set::one(from));
                    schedule
                        .send(&send.destinations(Set::product(&column_nodes)).strict().local())?;
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
