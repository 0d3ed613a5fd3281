//! Thakur, Choudhary & Fox: Tables 1 to 6, the formulas for contention, the findings and the slips.

use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use data::{Measured, SIZES, TABLES};
use std::collections::BTreeMap;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::simulation::step::StepFacts;
use swapmeet_results::Record;

mod contention;
mod data;
mod errata;
mod findings;
mod fit;
mod links;
mod pairs;

/// A cell of Tables 2 to 6: algorithm, mesh, bytes, and seconds: the paper's and three of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timed {
    table: &'static str,
    algorithm: &'static str,
    mesh: &'static str,
    bytes: u64,
    paper: f64,
    /// On `delta`.
    ours: f64,
    /// Where a byte costs the same paired and unpaired: what the load of links alone explains.
    alone: f64,
    /// As `alone`, with GEN's contention as section 3.4 prints it.
    printed: f64,
}

/// Which seconds of a cell.
type Seconds = fn(&Timed) -> f64;

/// The facts of every step, by algorithm and mesh.
type Profiles = BTreeMap<(&'static str, String), Vec<StepFacts>>;

/// Everything of the paper that can be re-run.
pub fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let (mut tables, mut cells, mut profiles) = (vec![pairs::table_1(bench)?], Vec::new(), Profiles::new());
    for measured in &TABLES {
        tables.push(measured_table(bench, measured, &mut cells, &mut profiles)?);
    }
    // what PEX-GEN is said to be bounded by
    for measured in TABLES.iter().filter(|t| t.algorithm == "pex-gen") {
        for mesh in measured.meshes.map(|(mesh, _)| findings::power_of_two_mesh(mesh)) {
            if !profiles.contains_key(&("pex", mesh.clone())) {
                let steps = bench.steps(&format!("mesh:{mesh}"), "pex")?;
                profiles.insert(("pex", mesh), steps);
            }
        }
    }
    tables.push(pairs::steps_table(&profiles));
    tables.push(links::table(&profiles));
    tables.push(fit::table(&cells, &profiles));
    tables.push(findings::table(&cells, &profiles));
    tables.push(errata::table(bench, &cells)?);
    Ok(tables)
}

/// One of Tables 2 to 6; its cells and the steps behind them are added to `cells` and `profiles`.
fn measured_table(
    bench: &Bench<'_>,
    measured: &Measured,
    cells: &mut Vec<Timed>,
    profiles: &mut Profiles,
) -> Result<Table, ReproduceError> {
    let machines = ["delta".to_owned(), equal_cost()];
    let workloads: Vec<String> = SIZES.iter().map(|b| format!("uniform:{b}")).collect();
    let (table, algorithm) = (measured.id, measured.algorithm);
    let mut rendered = Table::new(
        table,
        &format!(
            "`{algorithm}`: seconds measured on the Touchstone Delta, beside a run on `delta`, whose alpha and beta are fitted to Table 2 and whose cost of an unpaired byte to Tables 5 and 6 (see Fit). \
         A time agrees if it is the same to the digits printed."
        ),
    );
    for (mesh, seconds) in measured.meshes {
        let run = bench.run(&format!("mesh:{mesh}"), algorithm, &workloads, &machines)?;
        // two machines a size
        for ((bytes, paper), rows) in SIZES.into_iter().zip(seconds).zip(run.rows.chunks_exact(2)) {
            let (row, equal) = (&rows[0], &rows[1]);
            let (ours, alone) = (seconds_of(row.time_us), seconds_of(equal.time_us));
            let printed = if algorithm == "gen" { as_printed(equal, mesh, &run.steps) } else { alone };
            let why = match (table, mesh, bytes) {
                ("Table 2", "8x8", 1024) => "the paper's figure is off the line through its neighbours: see Errata",
                _ => "",
            };
            let digits = data::decimals(paper);
            let verdict = Verdict::measured(paper, ours, digits);
            rendered.add((mesh, &row.workload), format!("{paper:.digits$}"), format!("{ours:.4}"), verdict, why);
            cells.push(Timed { table, algorithm, mesh, bytes, paper, ours, alone, printed });
        }
        profiles.insert((algorithm, mesh.to_owned()), run.steps);
    }
    Ok(rendered)
}

/// `delta` with the same cost a byte whether or not a node sends to the one it receives from.
fn equal_cost() -> String {
    let byte_us = Machine::parse("delta").ok().and_then(|delta| delta.number("byte_us")).unwrap_or_default();
    format!("delta:unpaired_byte_us={byte_us}")
}

fn seconds_of(us: Option<f64>) -> f64 {
    us.unwrap_or(f64::NAN) / 1e6
}

/// Seconds of a run of GEN, had its links the contention that section 3.4 prints: transmission is what all steps cost without contention.
fn as_printed(run: &Record, mesh: &str, steps: &[StepFacts]) -> f64 {
    seconds_of(run.startup_us) + seconds_of(run.transmission_us) * fit::printed_half(mesh, steps) / steps.len() as f64
}

/// Rows and columns of a mesh such as `16x32`.
fn rows_and_columns(mesh: &str) -> (u64, u64) {
    let mut sides = mesh.split('x').map(|side| side.parse().unwrap_or(1));
    (sides.next().unwrap_or(1), sides.next().unwrap_or(1))
}
