//! Whether PEX or GEN is faster if each rank has its own clock. This shows whether separate clocks
//! explain the paper's results on the Delta. On the machine, a byte takes the same time in paired
//! and unpaired steps, and messages share links.

use super::{Thakur, TimedCell, rows_and_columns};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};

/// Two machines with different values of `order`, the parameter that determines for which event a
/// rank waits. Each has a name for the table.
const ORDERS: [(&str, &str); 2] =
    [("order=step", "delta:model=fluid"), ("order=data", "delta:model=fluid,order=data")];
/// The maximum number of nodes. Simulations of larger meshes take minutes.
const MOST_NODES: u64 = 128;

/// Compares which algorithm is faster in the paper and in our runs, for each mesh, message size and
/// value of `order`.
pub(super) fn table(
    thakur: &Thakur,
    bench: &Bench<'_>,
    cells: &[TimedCell<'_>],
) -> Result<Table, ReproduceError> {
    let mut table = thakur.words.table("Clocks");
    let machines = ORDERS.map(|(_, machine)| machine);
    let workloads: Vec<String> =
        thakur.sizes.iter().map(|bytes| format!("uniform:{bytes}")).collect();
    // Returns the paper's time for one algorithm, mesh and size.
    let measured = |algorithm: &str, mesh: &str, bytes: u64| {
        cells
            .iter()
            .find(|c| (c.algorithm, c.mesh, c.bytes) == (algorithm, mesh, bytes))
            .map(|c| c.paper)
    };
    // Run both algorithms on each mesh, with both values of `order`.
    for (_, mesh) in thakur.measured().filter(|(algorithm, _)| *algorithm == "pex") {
        let (rows, columns) = rows_and_columns(mesh);
        if rows * columns > MOST_NODES {
            continue;
        }
        let [of_pex, of_gen] = [
            bench.run(&format!("mesh:{mesh}"), "pex", &workloads, &machines)?,
            bench.run(&format!("mesh:{mesh}"), "gen", &workloads, &machines)?,
        ];
        for (i, bytes) in thakur.sizes.iter().enumerate() {
            let (Some(a), Some(b)) = (measured("pex", mesh, *bytes), measured("gen", mesh, *bytes))
            else {
                continue;
            };
            // Compare only which algorithm is faster, because absolute times depend on the fit of
            // the machine.
            let paper = faster(a, b);
            for (k, (order, _)) in ORDERS.iter().enumerate() {
                let time = |run: &crate::bench::Run| {
                    run.rows[i * ORDERS.len() + k].time_us.unwrap_or(f64::NAN)
                };
                let ours = faster(time(&of_pex), time(&of_gen));
                let column = format!("{bytes} B, {order}");
                table.add(
                    (&format!("the faster on {mesh}"), &column),
                    paper,
                    ours,
                    Verdict::exactly(paper, ours),
                );
            }
        }
    }
    Ok(table)
}

/// Returns the name of the faster algorithm. Times that differ by less than half a per cent count
/// as equal.
fn faster(of_pex: f64, of_gen: f64) -> &'static str {
    match of_pex / of_gen {
        ratio if ratio < 0.995 => "PEX",
        ratio if ratio > 1.005 => "GEN",
        _ => "alike",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_takes_less_time() {
        assert_eq!(
            [faster(1.0, 2.0), faster(2.0, 1.0), faster(1.0, 1.001)],
            ["PEX", "GEN", "alike"]
        );
    }
}
