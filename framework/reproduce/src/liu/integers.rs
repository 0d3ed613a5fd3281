//! Theorem 1 where elements can't be divided: how many numbers of nodes keep to it, with the
//! printed and with the balanced start.

use super::messages::both;
use super::{Liu, bounds, nodes};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};

/// How a start fares over all P.
struct Fares {
    above: u64,
    worst: f64,
    at: u64,
}

/// Theorem 1 for every P from 2 to 130.
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
            let fares = fares(bench, algorithm, workload)?;
            let ours = match fares.above {
                0 => "none".to_owned(),
                n => format!("{n} of 129, worst P = {}: x {:.3}", fares.at, fares.worst),
            };
            let why = match (fares.above, start) {
                (0, _) => "",
                (_, "printed") => {
                    "what is left of a division meets in few nodes: C-Distribute's first hand is the same for a whole column of destinations where R = C, \
                    and R-Distribute gives incomplete columns 1/C of a message shorter than P"
                }
                _ => {
                    "a message shorter than P elements can't be shared in proportion to the columns"
                }
            };
            table.add(
                (name, start),
                "none exceeds it",
                ours,
                Verdict::holds(fares.above == 0),
                why,
            );
        }
    }
    Ok(table)
}

fn fares(bench: &Bench<'_>, algorithm: &str, workload: &str) -> Result<Fares, ReproduceError> {
    let mut fares = Fares { above: 0, worst: 1.0, at: 0 };
    for p in 2..=130 {
        let row = |algorithm: &str| bench.row(&nodes(p), algorithm, workload, "free");
        let (rows, columns) = both(&row("direct")?);
        let (send, receive) = both(&row(algorithm)?);
        let ratio = send.max(receive) as f64 / bounds::buffer(p, rows.max(columns) as f64);
        if ratio > 1.0 + 1e-12 {
            fares.above += 1;
            if ratio > fares.worst {
                (fares.worst, fares.at) = (ratio, p);
            }
        }
    }
    Ok(fares)
}
