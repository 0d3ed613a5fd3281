//! Thakur, Choudhary & Fox: Tables 2 to 6, the formulas for contention, and the findings.

use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use data::{SIZES, TABLES};
use std::collections::BTreeMap;
use swapmeet_core::machine::presets;
use swapmeet_core::step::StepFacts;
use swapmeet_results::Record;

mod contention;
mod data;
mod errata;
mod findings;
mod fit;

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

type Profiles = BTreeMap<(&'static str, &'static str), Vec<StepFacts>>;

/// Everything of the paper that can be re-run.
pub fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let machines = ["delta".to_owned(), equal_cost()];
    let workloads: Vec<String> = SIZES.iter().map(|b| format!("uniform:{b}")).collect();
    let (mut tables, mut cells, mut profiles) = (Vec::new(), Vec::new(), Profiles::new());
    for measured in &TABLES {
        let title = format!(
            "`{}`: seconds measured on the Touchstone Delta, beside a run on `delta`, whose two figures are a fit to Table 2 (below). One column a message size.",
            measured.algorithm
        );
        let mut table = Table::new(measured.id, &title);
        for (mesh, seconds) in &measured.meshes {
            let topology = format!("mesh:{mesh}");
            let rows = bench.rows(&topology, measured.algorithm, &workloads, &machines)?;
            let steps = bench.steps(&topology, measured.algorithm)?;
            // two machines a size
            for ((bytes, paper), rows) in SIZES.into_iter().zip(seconds).zip(rows.chunks_exact(2)) {
                let (row, equal) = (&rows[0], &rows[1]);
                let (ours, alone) = (seconds_of(row.time_us), seconds_of(equal.time_us));
                let printed = if measured.algorithm == "gen" { as_printed(equal, mesh, steps.len()) } else { alone };
                let why = if (measured.id, *mesh, bytes) == ("Table 2", "8x8", 1024) {
                    "the paper's figure is off the line through its neighbours, which gives 0.040"
                } else {
                    ""
                };
                let verdict = Verdict::of(*paper, (ours * 1e4).round() / 1e4);
                table.add((mesh, &row.workload), paper, format!("{ours:.4}"), verdict, why);
                cells.push(Timed {
                    table: measured.id,
                    algorithm: measured.algorithm,
                    mesh,
                    bytes,
                    paper: *paper,
                    ours,
                    alone,
                    printed,
                });
            }
            profiles.insert((measured.algorithm, mesh), steps);
        }
        tables.push(table);
    }
    tables.push(contention_table(&profiles));
    tables.push(fit_table(&cells, &profiles));
    tables.push(findings::table(&cells, &profiles));
    tables.push(errata::table(bench, &cells, &profiles)?);
    Ok(tables)
}

/// `delta` with the same cost a byte whether or not a node sends to the one it receives from.
fn equal_cost() -> String {
    let byte_us = presets().iter().find(|p| p.name == "delta").map_or(0.0, |p| (p.machine)().byte_us);
    format!("delta:unpaired_byte_us={byte_us}")
}

fn seconds_of(us: Option<f64>) -> f64 {
    us.unwrap_or(f64::NAN) / 1e6
}

/// Seconds of a run of GEN, had its links the contention that section 3.4 prints: transmission is what all steps cost without contention.
fn as_printed(run: &Record, mesh: &str, steps: usize) -> f64 {
    let (r, c) = rows_and_columns(mesh);
    let half: f64 = (1..r * c).map(|i| (contention::gen_as_printed(i, c, r * c) as f64 / 2.0).max(1.0)).sum();
    seconds_of(run.startup_us) + seconds_of(run.transmission_us) * half / steps as f64
}

/// Rows and columns of a mesh such as `16x32`.
fn rows_and_columns(mesh: &str) -> (u64, u64) {
    let mut sides = mesh.split('x').map(|side| side.parse().unwrap_or(1));
    (sides.next().unwrap_or(1), sides.next().unwrap_or(1))
}

/// The formulas for f(i) against the links of every step.
fn contention_table(profiles: &Profiles) -> Table {
    let mut table = Table::new(
        "Contention",
        "f(i), the most messages on one directed link in step i: in how many steps the printed formulas (3.1, 3.4) give what the links of the run carry, in \
         how many a corrected formula does; then the sum over steps, beside the least that any schedule by minimal XY routes can have.",
    );
    for ((algorithm, mesh), steps) in profiles {
        let (r, c) = rows_and_columns(mesh);
        let (p, name) = (r * c, format!("{algorithm} {mesh}"));
        let of = steps.len();
        let agrees = |formula: &dyn Fn(u64) -> u64| {
            (1..).zip(steps).filter(|(i, step)| formula(*i) == step.max_link_messages).count()
        };
        let formulas: Option<(usize, usize, &str)> = match *algorithm {
            "pex" => Some((
                agrees(&|i| contention::pex_as_printed(i, c)),
                agrees(&|i| contention::pex_exact(i, c)),
                "the logarithm is to be rounded down; up contradicts the limit max(r, c) / 2 given beside it",
            )),
            "gen" => Some((
                agrees(&|i| contention::gen_as_printed(i, c, p)),
                agrees(&|i| contention::gen_exact(i, c, p)),
                "row and column contention are added, though no link carries both",
            )),
            _ => None,
        };
        if let Some((printed, corrected, why)) = formulas {
            let (claimed, found) = (format!("{of} of {of} steps"), format!("{printed} of {of} steps"));
            let verdict = Verdict::holds(printed == of);
            table.add((&name, "f as printed"), claimed, found, verdict, if printed == of { "" } else { why });
            table.add((&name, "f corrected"), "", format!("{corrected} of {of} steps"), Verdict::NotGiven, "");
        }
        let sum: u64 = steps.iter().map(|s| s.max_link_messages).sum();
        let least = (r * (c / 2) * c.div_ceil(2)).max(c * (r / 2) * r.div_ceil(2));
        table.add((&name, "sum of f, least possible"), "", format!("{sum}, {least}"), Verdict::NotGiven, "");
        let most = steps.iter().map(|s| s.max_link_messages).max().unwrap_or(0);
        let limit = r.max(c) as f64 / 2.0;
        let (claimed, verdict) = match algorithm.starts_with("pex") {
            true => (format!("<= {limit}"), Verdict::holds(most as f64 <= limit)),
            false => (String::new(), Verdict::NotGiven),
        };
        let why = if verdict == Verdict::Differs {
            "on meshes that are no power of two the limit max(r, c) / 2 does not hold"
        } else {
            ""
        };
        table.add((&name, "largest f"), claimed, most, verdict, why);
    }
    table
}

/// Sum over steps of max(1, f / 2): what a byte costs more than it would on links of its own.
fn sum_half(steps: &[StepFacts]) -> f64 {
    steps.iter().map(|s| (s.max_link_messages as f64 / 2.0).max(1.0)).sum()
}

/// The fit behind the preset `delta`.
fn fit_table(cells: &[Timed], profiles: &Profiles) -> Table {
    let mut table = Table::new(
        "Fit",
        "Least squares, weighted by 1/t, of T = steps alpha + L beta sum max(1, f / 2), with f measured on the links of the runs. The paper gives no figures; the \
         preset `delta` has alpha and beta from Table 2 and GEN's beta as `unpaired_byte_us`. Then how far runs are from the measured times, over the cells of \
         each table: on `delta`; with the same cost a byte for all; and so, with GEN's f as printed.",
    );
    let samples = |ids: &[&str]| -> Vec<fit::Sample> {
        let mut samples = Vec::new();
        for measured in TABLES.iter().filter(|t| ids.contains(&t.id)) {
            for (mesh, seconds) in &measured.meshes {
                let Some(steps) = profiles.get(&(measured.algorithm, *mesh)) else { continue };
                for (bytes, seconds) in SIZES.into_iter().zip(seconds) {
                    samples.push((steps.len() as f64, bytes as f64 * sum_half(steps), *seconds));
                }
            }
        }
        samples
    };
    for (row, ids) in [("PEX, Table 2", &["Table 2"][..]), ("GEN, Tables 5 and 6", &["Table 5", "Table 6"])] {
        let (alpha, beta) = fit::alpha_beta(&samples(ids));
        table.add((row, "alpha, us"), "", format!("{alpha:.1}"), Verdict::NotGiven, "");
        table.add((row, "beta, us a byte"), "", format!("{beta:.4}"), Verdict::NotGiven, "");
    }
    for measured in &TABLES {
        let of_gen = measured.algorithm == "gen";
        let columns: [(&str, bool, Seconds); 3] = [
            ("mean error on `delta`", true, |c| c.ours),
            ("mean error at the same cost a byte", of_gen, |c| c.alone),
            ("mean error with f as printed", of_gen, |c| c.printed),
        ];
        for (column, _, time) in columns.into_iter().filter(|(_, wanted, _)| *wanted) {
            let errors: Vec<f64> =
                cells.iter().filter(|c| c.table == measured.id).map(|c| (time(c) / c.paper - 1.0).abs()).collect();
            let mean = 100.0 * errors.iter().sum::<f64>() / errors.len() as f64;
            table.add((measured.id, column), "", format!("{mean:.1} %"), Verdict::NotGiven, "");
        }
    }
    table
}
