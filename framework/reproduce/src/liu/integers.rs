//! Theorem 1, which bounds the sizes of buffers, for elements that cannot be divided. The table
//! shows for how many numbers of nodes P the theorem is true. The algorithm has two variants,
//! `printed` and `balanced`. A node divides its data for a destination among buckets, one for each
//! column (stage I) or for each row (stage II). The variants differ in the bucket that gets the
//! first element.

use super::messages::buffer_bytes;
use super::{Liu, bounds, nodes};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};

/// The results of one variant for all values of P: the number of values for which a buffer exceeds
/// the bound, the largest ratio to the bound, and the P with this ratio.
struct StartResult {
    above: u64,
    worst: f64,
    at: u64,
}

/// Checks Theorem 1 for every P from 2 to 130.
pub(super) fn table(liu: &Liu, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = liu.words.table("Theorem 1");
    for (name, workload) in [
        ("1 element for every node", "uniform:1"),
        ("10 elements for every node", "uniform:10"),
        ("0 to 20 elements at random", "irregular:dist=uniform,mean=10,cv=0.57"),
    ] {
        for (start, algorithm) in
            [("printed", "four-stage"), ("balanced", "four-stage:start=balanced")]
        {
            let result = result(bench, algorithm, workload)?;
            let ours = match result.above {
                0 => "none".to_owned(),
                n => format!("{n} of 129, worst P = {}: x {:.3}", result.at, result.worst),
            };
            let why = match (result.above, start) {
                (0, _) => "",
                (_, "printed") => {
                    "remainders of divisions accumulate in few nodes: C-Distribute starts at the same node for a whole column of destinations if R = C, \
                    and R-Distribute gives incomplete columns 1/C of a message shorter than P"
                }
                _ => {
                    "a message shorter than P elements cannot be divided in proportion to the columns"
                }
            };
            table
                .add((name, start), "none exceeds it", ours, Verdict::holds(result.above == 0))
                .because(why);
        }
    }
    Ok(table)
}

fn result(
    bench: &Bench<'_>,
    algorithm: &str,
    workload: &str,
) -> Result<StartResult, ReproduceError> {
    let mut result = StartResult { above: 0, worst: 1.0, at: 0 };
    for p in 2..=130 {
        let row = |algorithm: &str| bench.row(&nodes(p), algorithm, workload, "free");
        let (rows, columns) = buffer_bytes(&row("direct")?);
        let (send, receive) = buffer_bytes(&row(algorithm)?);
        let ratio = send.max(receive) as f64 / bounds::buffer(p, rows.max(columns) as f64);
        if ratio > 1.0 + 1e-12 {
            result.above += 1;
            if ratio > result.worst {
                (result.worst, result.at) = (ratio, p);
            }
        }
    }
    Ok(result)
}
