//! A4: 4 sqrt(p) alpha + (4 L + what is left over in elements) beta where p is a square (section
//! 3.2, Theorem 2). The four-stage algorithm: two stages spread what is for each destination evenly
//! over all nodes, two more collect it.

use crate::array::{Array, Stall};
use crate::{ANYWHERE, collect, line};
use swapmeet_sdk::{
    About, Algorithm, Bucket, ParamInfo, Problem, Redistribution, Schedule, Stop, words,
};

/// Which bucket the first element for a destination goes to.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    /// As in Fig. 11 and the text after it: `j % C` for destination j in stage I, `j % R` in stage
    /// II.
    ///
    /// What is left over when a message can't be divided evenly goes to the first buckets. Along
    /// columns of an array with R = C those of stage II are the same for a whole column of
    /// destinations, so that the leftovers of a column meet in one node, which stage III has to
    /// empty: longer than Theorem 1 allows, which supposes that P divides every message.
    Printed,
    /// `j` in stage I and `j / C` in stage II: the leftovers of a column's destinations go to
    /// different rows. Costs nothing.
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
            "whose turn it is for a destination's first element: printed, or balanced, which spreads leftovers better",
        );
        const STALL: ParamInfo = ParamInfo::choice(
            "stall",
            &words(&STALLS),
            "corrected",
            "when nodes wait for the incomplete row's messages: corrected, or printed, which lets messages collide",
        );
        About {
            name: "four-stage",
            title: "A4: redistribute along rows and columns, collect along rows and columns",
            params: &[START, STALL],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (start, stall) = (problem.choice("start", &STARTS)?, problem.choice("stall", &STALLS)?);
        let array = Array::new(line(problem)?);
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

/// Fig. 11. The buckets are the columns. Of every P elements for a destination, each complete
/// column gets R and each incomplete one R - 1: the number of its nodes.
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

/// Section 3.2.2 C. The buckets are the nodes of the column, one element each in turn.
fn c_distribute(array: &Array, start: Start, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let starts = |height: u64| -> Vec<u32> {
        let first = |i: u64| match start {
            Start::Printed => i % height,
            Start::Balanced => i / array.columns % height,
        };
        (0..array.p).map(|i| first(i) as u32).collect()
    };
    // Complete columns first, then the others: nodes that redistribute alike follow one another.
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

/// C-Collect: the k-th bucket is all that is for the k-th column.
fn c_collect(array: &Array, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let columns: Vec<u32> = (0..array.p).map(|j| (j % array.columns) as u32).collect();
    (0..array.p).try_for_each(|node| schedule.redistribute(&collect(node, array.columns, &columns)))
}

/// R-Collect: the k-th bucket is all that is for the k-th row. In an incomplete column nobody has
/// anything for the incomplete row any more.
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

/// R-Comm: the exchange along rows, with the priority schedule of the incomplete row's messages.
fn r_comm(array: &Array, stall: Stall, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    // The last node that waits has a step more where it waits a step later.
    let late = u64::from(stall == Stall::Printed && array.rest > 0);
    for step in 1..=array.row_steps() + late {
        schedule.step()?;
        for node in 0..array.p {
            if let Some((column, to)) = array.row_target(node, step, stall) {
                schedule.send_bucket(&Bucket::new(node, to, column))?;
            }
        }
    }
    Ok(())
}

/// C-Comm: the exchange along columns.
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
