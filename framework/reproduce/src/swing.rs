//! De Sensi, Bonato, Saam & Hoefler: Swing's distances, congestion deficiency and steps.

use crate::bench::{Bench, ReproduceError};
use crate::data::{Words, read};
use crate::formula::Formula;
use crate::report::{Table, Verdict};
use serde::Deserialize;

/// All ports, a byte a microsecond, nothing else.
const MACHINE: &str = "free:byte_us=1,ports=all";
/// Nodes that steps are counted on.
const NODES: f64 = 64.0;

#[derive(Debug, Deserialize)]
struct Swing {
    #[serde(flatten)]
    words: Words,
    deficiency: Vec<Deficiency>,
    steps: Vec<Steps>,
}

#[derive(Debug, Deserialize)]
struct Deficiency {
    dimensions: u32,
    torus: String,
    /// At as many nodes as the torus has.
    figure: Option<f64>,
    limit: f64,
}

#[derive(Debug, Deserialize)]
struct Steps {
    algorithm: String,
    topology: String,
    formula: Formula,
}

/// Everything of the paper that can be re-run.
pub(crate) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let swing: Swing = read("swing", include_str!("../papers/swing.toml"))?;
    Ok(vec![
        distances(&swing, bench)?,
        deficiencies(&swing, bench)?,
        steps(&swing, bench)?,
        swing.words.left_out(),
    ])
}

/// |1 - 2 + 4 - ..|, so many terms.
fn apart(terms: u32) -> u64 {
    ((1 - (-2_i64).pow(terms)) / 3).unsigned_abs()
}

fn distances(swing: &Swing, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = swing.words.table("Distances");
    let steps = bench
        .run(
            "ring:64",
            "swing-allreduce:variant=latency",
            &["allreduce/uniform:1".to_owned()],
            &[MACHINE.to_owned()],
        )?
        .steps;
    for (s, facts) in (0..).zip(&steps) {
        let paper = apart(s + 1);
        table.add(
            (&format!("step {s}"), "hops"),
            paper,
            facts.max_hops,
            Verdict::whole(paper, facts.max_hops),
            "",
        );
    }
    Ok(table)
}

/// What is sent through the busiest link in all steps, beside the least: a message of step s is
/// 1/2^(s + 1) of a share, and as many as their ends are apart share a link.
fn sum(dimensions: u32, steps: u32) -> f64 {
    (0..steps).map(|s| apart(s / dimensions + 1) as f64 / 2_f64.powi(s as i32 + 1)).sum()
}

fn deficiencies(swing: &Swing, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    /// Enough for every limit to four decimals.
    const MANY_STEPS: u32 = 48;
    let mut table = swing.words.table("Congestion deficiency");
    for of in &swing.deficiency {
        let d = of.dimensions;
        let nodes = bench.row(&of.torus, "linear", "broadcast/uniform:1", MACHINE)?.nodes;
        // Parts of whole bytes.
        let bytes = nodes * u64::from(2 * d);
        let row = bench.row(
            &of.torus,
            "swing-allreduce:variant=all-ports",
            &format!("allreduce/uniform:{bytes}"),
            MACHINE,
        )?;
        let time = row.transmission_us.unwrap_or(0.0) + row.contention_us.unwrap_or(0.0);
        let ours = time / (bytes as f64 / f64::from(d));
        let name = format!("{d}-D, {nodes} nodes");
        let by_sum = sum(d, nodes.ilog2());
        match of.figure {
            Some(figure) => {
                table.add(
                    (&name, "paper"),
                    figure,
                    format!("{ours:.4}"),
                    Verdict::measured(figure, ours, 4),
                    "",
                );
            }
            None => table.add(
                (&name, "paper"),
                "",
                format!("{ours:.4}"),
                Verdict::NotGiven,
                "the limit stands below",
            ),
        }
        table.add(
            (&name, "sum over steps"),
            format!("{by_sum:.6}"),
            format!("{ours:.6}"),
            Verdict::computed(by_sum, ours),
            "",
        );
        let decimals = if of.limit * 1000.0 % 10.0 == 0.0 { 2 } else { 4 };
        let limit = sum(d, MANY_STEPS);
        let why = "the sum that the run meets, for ever more nodes";
        table.add(
            (&format!("{d}-D"), "limit"),
            of.limit,
            format!("{limit:.decimals$}"),
            Verdict::measured(of.limit, limit, decimals),
            why,
        );
    }
    Ok(table)
}

fn steps(swing: &Swing, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = swing.words.table("Steps");
    for Steps { algorithm, topology, formula } in &swing.steps {
        let paper = formula.at(&|name, _| (name == "p").then_some(NODES));
        let ours =
            bench.row(topology, algorithm, "allreduce/uniform:64", MACHINE)?.steps.unwrap_or(0);
        table.add(
            (algorithm, &format!("on {topology}")),
            paper,
            ours,
            Verdict::computed(paper, ours as f64),
            "",
        );
    }
    Ok(table)
}
