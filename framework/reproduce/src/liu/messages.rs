//! Tables 2, 3 and 4: messages and their lengths, start-ups and traffic, buffers.

use super::{ALGORITHMS, bounds, nodes, stages};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use swapmeet_results::Record;

/// Numbers of nodes: two squares, the paper's examples of an incomplete row (Figs. 8 and 9), and one where C is rounded down.
const NODES: [u64; 5] = [18, 19, 61, 64, 100];

/// Whether a figure keeps to its bound, in words.
fn within(ours: f64, bound: f64) -> (Verdict, &'static str) {
    match ours - bound {
        over if over <= 1e-9 => (Verdict::Exact, ""),
        over if over <= 1.0 => {
            (Verdict::Differs, "above the bound, by a whole element where the bound takes a fraction")
        }
        _ => (Verdict::Differs, "above the bound"),
    }
}

fn figure(x: f64) -> String {
    if x.fract() == 0.0 { format!("{x:.0}") } else { format!("{x:.2}") }
}

/// Table 2, with messages that P divides, as the lemmas suppose.
pub fn table_2(bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Table 2",
        "A4 (`four-stage`): messages that a node receives in a stage, its own included, and the longest of them in elements, for nodes of complete and of incomplete columns. Every node has P \
         elements for every node (`uniform:P`), so that all divisions come out even. The paper's figures are bounds; ours agrees if no node exceeds them.",
    );
    for p in NODES {
        let (found, _) = stages::uniform(bench, "four-stage", p, p)?;
        let columns = bounds::columns(p);
        let rest = p % columns;
        for (number, stage) in found.iter().enumerate() {
            for complete in [true, false] {
                let mine = |node: u64| complete == (rest == 0 || node % columns < rest);
                let most = |of: &[u64]| (0..p).filter(|n| mine(*n)).map(|n| of[n as usize]).max();
                let (Some(messages), Some(longest)) = (most(&stage.received), most(&stage.longest)) else { continue };
                let kind = if complete { "complete" } else { "incomplete" };
                let row = format!("P = {p}, stage {}, {kind} column", ["I", "II", "III", "IV"][number.min(3)]);
                let bound = bounds::messages(p, number, complete);
                let (verdict, why) = within(messages as f64, bound as f64);
                table.add((&row, "messages"), bound, messages, verdict, why);
                let bound = bounds::longest(p, number, complete, (p * p) as f64);
                let (verdict, why) = within(longest as f64, bound);
                table.add((&row, "longest"), figure(bound), longest, verdict, why);
            }
        }
    }
    Ok(table)
}

/// Table 3: start-ups and traffic.
pub fn table_3(bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Table 3",
        "Start-ups: steps, with those in which nodes send to themselves only. Traffic, in elements, every node having P for every node: what a node sends at most (A1 to A3), and the sum over \
         steps of the longest message (A4, as in Theorem 2).",
    );
    for p in NODES {
        let l = (p * p) as f64;
        for (paper, algorithm) in ALGORITHMS {
            if paper == "A3" && p.isqrt().pow(2) != p {
                continue;
            }
            let (found, _) = stages::uniform(bench, algorithm, p, p)?;
            let row = format!("P = {p}, {paper}");
            let steps: u64 = found.iter().map(|s| s.steps).sum();
            let (bound, why) = match paper {
                "A1" => (p, ""),
                "A2" => (2 * p, ""),
                "A3" => (2 * p.isqrt(), ""),
                _ => (bounds::steps(p), "the paper's is a bound, reached only by some P with an incomplete row"),
            };
            let verdict = if paper == "A4" { Verdict::holds(steps <= bound) } else { Verdict::exactly(&bound, &steps) };
            table.add((&row, "start-ups"), bound, steps, verdict, if steps == bound { "" } else { why });
            let sent = |node: usize| found.iter().map(|s| s.sent[node]).sum::<u64>();
            let most = (0..p as usize).map(sent).max().unwrap_or(0);
            match paper {
                "A4" => {
                    let critical: u64 = found.iter().map(|s| s.critical).sum();
                    for (column, bound) in [
                        ("traffic, as in Theorem 2", bounds::traffic(p, l)),
                        ("traffic, as printed in Table 3", bounds::printed_traffic(p, l)),
                    ] {
                        let (verdict, why) = within(critical as f64, bound);
                        table.add((&row, column), figure(bound), critical, verdict, why);
                    }
                }
                _ => {
                    let bound = if paper == "A1" { l } else { 2.0 * l };
                    table.add((&row, "traffic"), figure(bound), most, Verdict::exactly(&bound, &(most as f64)), "");
                }
            }
        }
    }
    Ok(table)
}

/// The most elements for one destination, and the most that a node sends or receives, of a workload of spikes: Mmax and Lmax.
struct Load {
    name: &'static str,
    workload: String,
    mmax: f64,
    seeds: u32,
}

/// Table 4: buffers.
pub fn table_4(bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Table 4",
        "Send and receive buffer of a node in elements: the most that one node sends, and receives, in one stage, itself included (`send_buffer_bytes`, `receive_buffer_bytes`). Mmax = 1024, \
         1 element for the others; of Pattern1 the largest over 10 seeds. The paper's figures are bounds, of allocations made before sizes are known for A1 and A3.",
    );
    let loads = [
        Load { name: "uniform", workload: "uniform:64".to_owned(), mmax: 64.0, seeds: 1 },
        Load { name: "Pattern1", workload: "one-spike:max=1024,rest=1".to_owned(), mmax: 1024.0, seeds: 10 },
        Load { name: "Pattern2", workload: "transpose:max=1024,rest=1".to_owned(), mmax: 1024.0, seeds: 1 },
    ];
    let p = 64;
    for load in &loads {
        // A1 sends and receives each message once: its buffers are the largest row and the largest column of M.
        let direct = buffers(bench, "direct", p, load)?;
        for (paper, algorithm) in ALGORITHMS {
            let run = if paper == "A1" { direct.clone() } else { buffers(bench, algorithm, p, load)? };
            let lmax = |i: usize| direct[i].0.max(direct[i].1) as f64;
            let bound = |send: bool, i: usize| match (paper, send) {
                ("A1", true) | ("A3", _) => load.mmax * p as f64,
                ("A4", _) => bounds::buffer(p, lmax(i)),
                _ => lmax(i),
            };
            let row = format!("P = {p}, {}, {paper}", load.name);
            for (column, send) in [("sBUF", true), ("rBUF", false)] {
                let used = |i: usize| if send { run[i].0 } else { run[i].1 };
                // The seed that needs most of what it is allowed.
                let share = |i: usize| used(i) as f64 / bound(send, i);
                let Some(worst) = (0..run.len()).max_by(|a, b| share(*a).total_cmp(&share(*b))) else { continue };
                let (verdict, why) = within(used(worst) as f64, bound(send, worst));
                table.add((&row, column), figure(bound(send, worst)), used(worst), verdict, why);
            }
        }
    }
    Ok(table)
}

/// Send and receive buffer of each seed.
fn buffers(bench: &Bench<'_>, algorithm: &str, p: u64, load: &Load) -> Result<Vec<(u128, u128)>, ReproduceError> {
    let rows = bench.repeated(&nodes(p), algorithm, &load.workload, &["free".to_owned()], load.seeds)?;
    Ok(rows.iter().map(both).collect())
}

/// Send and receive buffer of a row.
pub fn both(row: &Record) -> (u128, u128) {
    (row.send_buffer_bytes.unwrap_or(0), row.receive_buffer_bytes.unwrap_or(0))
}
