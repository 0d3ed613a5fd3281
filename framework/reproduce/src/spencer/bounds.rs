//! Table 3.1: lower bounds of disseminations, and whether the verified schedules keep to them.

use super::disseminations::{MULTI_SCATTERS, OPERATIONS, Operation, TORI};
use super::{Costs, Torus, figure, log};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};

/// The three bounds, as printed.
pub(super) fn bound(operation: &Operation, torus: Torus) -> Costs {
    let [d, n, q, nodes] = torus.figures();
    let all = operation.ports == "all";
    let ports = if all { 2.0 * d } else { 1.0 };
    let propagation = match operation.name {
        "broadcast" => 1.0 / ports,
        "scatter" | "gather" | "gossip" => (nodes - 1.0) / ports,
        _ if all => n * nodes / (16.0 * d),
        _ => n * nodes / 8.0,
    };
    let informed = if all { 2.0 * d * q + 1.0 } else { q + 1.0 };
    Costs { rounds: d * log(informed, n), switching: d * n / 2.0, propagation }
}

/// What no schedule can be below. The printed bounds are too high where n is odd, as half of a cycle is (n-1)/2 then; and for a multi-scatter with all ports half of what the
/// capacity of the links allows.
pub(super) fn sound(operation: &Operation, torus: Torus) -> Costs {
    let [d, n, _, nodes] = torus.figures();
    let printed = bound(operation, torus);
    let half = (n / 2.0).floor();
    let farthest = half * (n - half);
    let propagation =
        if operation.name == "multi-scatter" { nodes * farthest / (2.0 * n) } else { printed.propagation };
    Costs { rounds: super::up(printed.rounds), switching: d * half, propagation }
}

/// Each bound beside what the verified schedule takes.
pub(super) fn table_3_1(bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Table 3.1",
        "Lower bounds on disseminations, each of its three terms by itself, beside what the verified schedule takes in that term. A schedule may meet none of them together with another. \"agrees\": not below the bound; how far above, the last column says.",
    );
    for operation in OPERATIONS {
        let tori: &[Torus] = if operation.in_two_phases() { &MULTI_SCATTERS } else { &TORI };
        for torus in tori {
            let ours = operation.run(bench, *torus)?;
            let (printed, sound) = (bound(operation, *torus), sound(operation, *torus));
            for ((term, paper), ((_, ours), (_, sound))) in
                printed.terms().into_iter().zip(ours.terms().into_iter().zip(sound.terms()))
            {
                let kept = ours >= paper - 1e-6;
                let mut why = if kept { format!("{} times the bound", figure(ours / paper)) } else { String::new() };
                if !kept {
                    why = "the printed bound takes half of a cycle of an odd number of nodes as n/2".to_owned();
                }
                if (sound - paper).abs() > 1e-6 && term == "propagation" {
                    why = format!("{why}; what links can carry gives {}", figure(sound));
                }
                let row = format!("{}, {}, {}", operation.name, operation.model, torus.name());
                table.add((&row, term), figure(paper), figure(ours), Verdict::holds(kept), &why);
            }
        }
    }
    Ok(table)
}
