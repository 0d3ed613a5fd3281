//! A4, the four-stage algorithm (section 3.2, Theorem 2). Two stages spread the data for each
//! destination evenly over all nodes, and two stages collect it at the destination. If p is a
//! square, it takes `4 sqrt(p) alpha + 4 L beta`. If data cannot be divided evenly, some messages
//! are one element longer.

use crate::array::{Array, Stall};
use crate::{ANYWHERE, collect};
use swapmeet_sdk::{
    About, Algorithm, Bucket, ParamInfo, Problem, Redistribution, Schedule, Stop, words,
};

/// The rule for the bucket of the first element for a destination. A bucket is a column in stage I
/// and a row in stage II.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    /// The rule of Fig. 11 and the text after it: for destination j, bucket `j % C` in stage I and
    /// bucket `j % R` in stage II. The first buckets get one of the remaining elements each. In
    /// stage II with R = C, these buckets are the same for all destinations of a column, so the
    /// remaining elements for a whole column are sent to the same node, which must send them on in
    /// stage III. That takes longer than Theorem 1 allows, because the theorem assumes that the
    /// number of nodes divides the length of every message.
    Printed,
    /// Bucket `j` in stage I and `j / C` in stage II, modulo the number of buckets. This spreads
    /// the remaining elements for a column over the rows, and makes no message longer.
    Balanced,
}

const STARTS: [(&str, Start); 2] = [("printed", Start::Printed), ("balanced", Start::Balanced)];
const STALLS: [(&str, Stall); 2] = [("corrected", Stall::Corrected), ("printed", Stall::Printed)];

pub(crate) struct FourStage;

impl Algorithm for FourStage {
    fn about(&self) -> About {
        const START: ParamInfo = ParamInfo::choice(
            "start",
            &words(&STARTS),
            "printed",
            "bucket of a destination's first element: as printed, or balanced, which spreads remainders evenly",
        );
        const STALL: ParamInfo = ParamInfo::choice(
            "stall",
            &words(&STALLS),
            "corrected",
            "step in which nodes wait for the incomplete row: corrected, or as printed (messages then collide)",
        );
        About {
            name: "four-stage",
            title: "A4: redistribute twice, then collect twice",
            params: &[START, STALL],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (start, stall) = (problem.choice("start", &STARTS)?, problem.choice("stall", &STALLS)?);
        let array = Array::new(problem.topology().nodes());
        schedule.move_byte_counts(&[array.p])?;
        schedule.phase("stage I: redistribute along rows")?;
        schedule.rearrange()?;
        r_distribute(&array, start, schedule)?;
        r_comm(&array, stall, schedule)?;
        schedule.phase("stage II: redistribute along columns")?;
        schedule.rearrange()?;
        c_distribute(&array, start, schedule)?;
        c_comm(&array, schedule)?;
        schedule.phase("stage III: collect along rows")?;
        schedule.rearrange()?;
        c_collect(&array, schedule)?;
        r_comm(&array, stall, schedule)?;
        schedule.phase("stage IV: collect along columns")?;
        schedule.rearrange()?;
        r_collect(&array, schedule)?;
        c_comm(&array, schedule)
    }
}

/// R-Distribute (Fig. 11): each node sends bucket k along its row to column k. Of every P elements
/// for a destination, bucket k gets as many as column k has nodes.
fn r_distribute(array: &Array, start: Start, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let starts: Vec<u32> = (0..array.p)
        .map(|j| match start {
            Start::Printed => j % array.columns,
            Start::Balanced => j,
        } as u32)
        .collect();
    for node in 0..array.p {
        schedule.redistribute(&Redistribution {
            node,
            buckets: array.columns,
            cycle: array.p,
            first: 0,
            starts: &starts,
            firsts: &[],
        })?;
    }
    Ok(())
}

/// C-Distribute (section 3.2.2 C): each node sends bucket k along its column to row k. Each bucket
/// in turn gets one element.
fn c_distribute(array: &Array, start: Start, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let starts = |height: u64| -> Vec<u32> {
        let first = |i: u64| match start {
            Start::Printed => i % height,
            Start::Balanced => i / array.columns % height,
        };
        (0..array.p).map(|i| first(i) as u32).collect()
    };
    // Columns with R nodes are first, so nodes with equal redistributions follow each other.
    for column in 0..array.columns {
        let height = array.height(column);
        let starts = starts(height);
        for row in 0..height {
            schedule.redistribute(&Redistribution {
                node: row * array.columns + column,
                buckets: height,
                cycle: height,
                first: 0,
                starts: &starts,
                firsts: &[],
            })?;
        }
    }
    Ok(())
}

fn c_collect(array: &Array, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let columns: Vec<u32> = (0..array.p).map(|j| (j % array.columns) as u32).collect();
    (0..array.p).try_for_each(|node| schedule.redistribute(&collect(node, array.columns, &columns)))
}

/// R-Collect: all data for row k is sent to row k. In a column that has no node in the incomplete
/// row, no node has data for the incomplete row at this time.
fn r_collect(array: &Array, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    for column in 0..array.columns {
        let height = array.height(column);
        let rows: Vec<u32> =
            (0..array.p).map(|j| (j / array.columns).min(height - 1) as u32).collect();
        for row in 0..height {
            schedule.redistribute(&collect(row * array.columns + column, height, &rows))?;
        }
    }
    Ok(())
}

/// R-Comm. If a node could receive two messages in a step, the one from the incomplete row has
/// priority.
fn r_comm(array: &Array, stall: Stall, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let extra = u64::from(stall == Stall::Printed && array.rest > 0);
    for step in 1..=array.row_steps() + extra {
        schedule.step()?;
        for node in 0..array.p {
            if let Some((column, to)) = array.row_target(node, step, stall) {
                schedule.send_bucket(&Bucket::new(node, to, column))?;
            }
        }
    }
    Ok(())
}

fn c_comm(array: &Array, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    for step in 1..=array.column_steps() {
        schedule.step()?;
        for node in 0..array.p {
            if let Some((row, to)) = array.column_target(node, step) {
                schedule.send_bucket(&Bucket::new(node, to, row))?;
            }
        }
    }
    Ok(())
}
