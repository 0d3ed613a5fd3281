//! Thakur, Choudhary & Fox: Tables 1 to 6, the formulas for contention, the findings, and errors in
//! the paper.

use crate::bench::{Bench, ReproduceError};
use crate::data::{PaperTexts, read};
use crate::report::{Table, Verdict};
use serde::Deserialize;
use std::collections::BTreeMap;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::simulation::step::StepFacts;
use swapmeet_results::Record;

mod clocks;
mod contention;
mod errata;
mod findings;
mod fit;
mod links;
mod pairs;

#[derive(Debug, Deserialize)]
struct Thakur {
    #[serde(flatten)]
    words: PaperTexts,
    sizes: Vec<u64>,
    table_1: Vec<Vec<(u32, u32)>>,
    table: Vec<Measured>,
    claim: Vec<findings::Claim>,
}

/// One of Tables 2 to 6, which contain measured times.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    id: String,
    /// The name of the algorithm in this project.
    algorithm: String,
    meshes: Vec<Mesh>,
}

/// The times in seconds on a mesh (rows x columns), one for each message size.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mesh {
    mesh: String,
    seconds: Vec<f64>,
}

impl Thakur {
    fn read() -> Result<Self, ReproduceError> {
        read("thakur", include_str!("../papers/thakur.toml"))
    }

    /// Returns each pair of an algorithm and a mesh for which the paper has times.
    fn measured(&self) -> impl Iterator<Item = (&str, &str)> {
        self.table
            .iter()
            .flat_map(|table| table.meshes.iter().map(|mesh| (&*table.algorithm, &*mesh.mesh)))
    }
}

/// Returns how many decimals the paper prints for a time.
fn decimals(seconds: f64) -> usize {
    if seconds < 10.0 { 3 } else { 2 }
}

/// A cell of Tables 2 to 6. It has the time in the paper and three times of ours, all in seconds.
#[derive(Debug, Clone, Copy)]
struct TimedCell<'a> {
    table: &'a str,
    algorithm: &'a str,
    mesh: &'a str,
    bytes: u64,
    paper: f64,
    /// The time on the machine preset `delta`.
    ours: f64,
    /// The time on a machine on which a byte takes the same time in paired and unpaired steps. On
    /// this machine, only link loads make a difference between steps. In a paired step, each node
    /// receives a message from the node to which it sends.
    equal_cost_seconds: f64,
    /// For GEN, the time on the same machine with the contention according to the formula that
    /// section 3.4 prints. For all other algorithms, `equal_cost_seconds`.
    printed: f64,
}

/// A function that selects one of the times of a cell.
type TimeOf = fn(&TimedCell<'_>) -> f64;

/// The facts of each step of a run, such as link loads. The key consists of the algorithm and the
/// mesh.
type Profiles = BTreeMap<(String, String), Vec<StepFacts>>;

/// Returns the facts of each step of the run of an algorithm on a mesh.
fn steps_of<'a>(profiles: &'a Profiles, algorithm: &str, mesh: &str) -> &'a [StepFacts] {
    profiles.get(&(algorithm.to_owned(), mesh.to_owned())).map_or(&[], Vec::as_slice)
}

/// Returns all tables of the paper that can be reproduced.
pub(crate) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let thakur = Thakur::read()?;
    let (mut tables, mut cells, mut profiles) =
        (vec![pairs::table_1(&thakur, bench)?], Vec::new(), Profiles::new());
    for measured in &thakur.table {
        tables.push(measured_table(&thakur, bench, measured, &mut cells, &mut profiles)?);
    }
    // Also run PEX on larger meshes. The paper claims that the contention of PEX on these meshes is
    // an upper bound on the contention of PEX-GEN.
    for (_, mesh) in thakur.measured().filter(|(algorithm, _)| *algorithm == "pex-gen") {
        let power = findings::power_of_two_mesh(mesh);
        let run = bench.run(&format!("mesh:{power}"), "pex", &["uniform:1"], &["free"])?;
        profiles.insert(("pex".to_owned(), power), run.steps);
    }
    tables.push(pairs::steps_table(&thakur, &profiles));
    tables.push(links::table(&thakur, &profiles));
    tables.push(fit::table(&thakur, &cells, &profiles));
    tables.push(findings::table(&thakur, &cells, &profiles));
    tables.push(clocks::table(&thakur, bench, &cells)?);
    tables.push(thakur.words.errata(Some(errata::table(&thakur, bench, &cells)?)));
    tables.push(thakur.words.left_out());
    Ok(tables)
}

/// Returns one of Tables 2 to 6. Adds its cells to `cells`, and the facts of its steps to
/// `profiles`.
fn measured_table<'a>(
    thakur: &'a Thakur,
    bench: &Bench<'_>,
    measured: &'a Measured,
    cells: &mut Vec<TimedCell<'a>>,
    profiles: &mut Profiles,
) -> Result<Table, ReproduceError> {
    // Each cell has a time on the fitted machine, and a time on a machine on which a byte takes the
    // same time in paired and unpaired steps.
    let machines = ["delta", &equal_cost()];
    let workloads: Vec<String> = thakur.sizes.iter().map(|b| format!("uniform:{b}")).collect();
    let (table, algorithm) = (measured.id.as_str(), measured.algorithm.as_str());
    let title = format!("`{algorithm}`: {}", thakur.words.table("Tables 2 to 6").title);
    let mut rendered = Table { title, ..thakur.words.table(table) };
    for Mesh { mesh, seconds } in &measured.meshes {
        let run = bench.run(&format!("mesh:{mesh}"), algorithm, &workloads, &machines)?;
        // The run has two rows for each message size, one for each machine.
        for ((bytes, paper), rows) in thakur.sizes.iter().zip(seconds).zip(run.rows.chunks_exact(2))
        {
            let (bytes, paper, row, equal) = (*bytes, *paper, &rows[0], &rows[1]);
            let (ours, equal_cost_seconds) = (seconds_of(row.time_us), seconds_of(equal.time_us));
            // The paper's formula for the contention f is wrong for GEN. Compute the third time
            // with this formula, as printed.
            let printed = if algorithm == "gen" {
                as_printed(equal, mesh, &run.steps)
            } else {
                equal_cost_seconds
            };
            let why = match (table, mesh.as_str(), bytes) {
                ("Table 2", "8x8", 1024) => {
                    "the paper's value is off the line through its neighbours: see Errata"
                }
                _ => "",
            };
            // Compare the times with the number of decimals that the paper prints.
            let digits = decimals(paper);
            let verdict = Verdict::measured(paper, ours, digits);
            rendered
                .add(
                    (mesh, &row.workload),
                    format!("{paper:.digits$}"),
                    format!("{ours:.4}"),
                    verdict,
                )
                .because(why);
            cells.push(TimedCell {
                table,
                algorithm,
                mesh,
                bytes,
                paper,
                ours,
                equal_cost_seconds,
                printed,
            });
        }
        profiles.insert((algorithm.to_owned(), mesh.clone()), run.steps);
    }
    Ok(rendered)
}

/// Returns a variant of the machine `delta` on which a byte takes the same time in paired and
/// unpaired steps.
fn equal_cost() -> String {
    let byte_us =
        Machine::parse("delta").ok().and_then(|delta| delta.number("byte_us")).unwrap_or_default();
    format!("delta:unpaired_byte_us={byte_us}")
}

fn seconds_of(us: Option<f64>) -> f64 {
    us.unwrap_or(f64::NAN) / 1e6
}

/// Returns the time that a run of GEN would have if its contention were that of the formula printed
/// in section 3.4. The transmission time of the run is its time without contention.
fn as_printed(run: &Record, mesh: &str, steps: &[StepFacts]) -> f64 {
    seconds_of(run.startup_us)
        + seconds_of(run.transmission_us) * fit::printed_half(mesh, steps) / steps.len() as f64
}

/// Returns the number of rows and the number of columns of a mesh such as `16x32`.
fn rows_and_columns(mesh: &str) -> (u64, u64) {
    let mut sides = mesh.split('x').map(|side| side.parse().unwrap_or(1));
    (sides.next().unwrap_or(1), sides.next().unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_tables_are_complete() {
        let thakur = Thakur::read().unwrap();
        assert!(
            thakur
                .table
                .iter()
                .flat_map(|t| &t.meshes)
                .all(|mesh| mesh.seconds.len() == thakur.sizes.len())
        );
        assert_eq!(thakur.measured().count(), 25);
    }
}
