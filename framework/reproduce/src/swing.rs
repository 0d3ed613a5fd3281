//! De Sensi, Bonato, Saam & Hoefler: the distances of Swing's messages, the congestion deficiency,
//! and the number of steps.

use crate::bench::{Bench, ReproduceError};
use crate::data::{PaperTexts, read};
use crate::formula::Formula;
use crate::report::{Table, Verdict};
use serde::Deserialize;

/// A machine with all ports, on which only bytes take time.
const MACHINE: &str = "free:byte_us=1,ports=all";
/// The number of nodes for which steps are counted.
const NODES: f64 = 64.0;

#[derive(Debug, Deserialize)]
struct Swing {
    #[serde(flatten)]
    words: PaperTexts,
    deficiency: Vec<Deficiency>,
    steps: Vec<Steps>,
}

#[derive(Debug, Deserialize)]
struct Deficiency {
    dimensions: u32,
    torus: String,
    /// The congestion deficiency that the paper states for a torus of this size.
    figure: Option<f64>,
    limit: f64,
}

#[derive(Debug, Deserialize)]
struct Steps {
    algorithm: String,
    topology: String,
    formula: Formula,
}

/// Returns all tables of the paper that can be reproduced.
pub(crate) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let swing: Swing = read("swing", include_str!("../papers/swing.toml"))?;
    Ok(vec![
        distances(&swing, bench)?,
        deficiencies(&swing, bench)?,
        steps(&swing, bench)?,
        swing.words.left_out(),
    ])
}

/// Returns the absolute value of the sum 1 - 2 + 4 - ..., which has `terms` terms.
pub(crate) fn distance(terms: u32) -> u64 {
    ((1 - (-2_i64).pow(terms)) / 3).unsigned_abs()
}

fn distances(swing: &Swing, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = swing.words.table("Distances");
    let algorithm = "swing-allreduce:variant=latency";
    let steps = bench.run("ring:64", algorithm, &["allreduce/uniform:1"], &[MACHINE])?.steps;
    for (s, facts) in (0..).zip(&steps) {
        let paper = distance(s + 1);
        table.add_whole((&format!("step {s}"), "hops"), paper, facts.max_hops);
    }
    Ok(table)
}

/// Returns the congestion deficiency by the formula of the paper: the total load of the most loaded
/// link in all steps, divided by the minimum. In step s, a message contains 1/2^(s + 1) of the data
/// that is assigned to one port. The number of messages that share a link is the distance between
/// sender and receiver.
fn sum(dimensions: u32, steps: u32) -> f64 {
    (0..steps).map(|s| distance(s / dimensions + 1) as f64 / 2_f64.powi(s as i32 + 1)).sum()
}

fn deficiencies(swing: &Swing, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    /// A number of steps after which the first four decimals of the congestion deficiency no longer
    /// change.
    const MANY_STEPS: u32 = 48;
    let mut table = swing.words.table("Congestion deficiency");
    for of in &swing.deficiency {
        let d = of.dimensions;
        let nodes = bench.row(&of.torus, "linear", "broadcast/uniform:1", MACHINE)?.nodes;
        // Each node has `2 * d` parts of the data. Choose a size with which each part is a whole
        // number of bytes.
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
                );
            }
            None => table
                .add_ours((&name, "paper"), format!("{ours:.4}"))
                .because("see the limit below"),
        }
        table.add(
            (&name, "sum over steps"),
            format!("{by_sum:.6}"),
            format!("{ours:.6}"),
            Verdict::computed(by_sum, ours),
        );
        let decimals = if of.limit * 1000.0 % 10.0 == 0.0 { 2 } else { 4 };
        let limit = sum(d, MANY_STEPS);
        let why = "the sum that the run equals, for an unlimited number of nodes";
        table
            .add(
                (&format!("{d}-D"), "limit"),
                of.limit,
                format!("{limit:.decimals$}"),
                Verdict::measured(of.limit, limit, decimals),
            )
            .because(why);
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
        );
    }
    Ok(table)
}
