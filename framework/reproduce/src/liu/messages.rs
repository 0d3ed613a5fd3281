//! Tables 2, 3 and 4. They contain the number and length of messages, the start-ups and the
//! traffic, and the sizes of buffers.

use super::{ALGORITHMS, Liu, bounds, nodes, stages};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict, number};
use swapmeet_results::Record;

/// The numbers of nodes for which the tables are compared. 64 and 100 are squares. 18 and 61 are
/// the paper's examples of an incomplete row (Figs. 8 and 9). For 19, the number of columns is the
/// square root of P rounded down.
const NODES: [u64; 5] = [18, 19, 61, 64, 100];

/// Adds a value of ours to the table. The paper states an upper bound for this value.
fn add_bounded(table: &mut Table, names: (&str, &str), bound: f64, ours: u128) {
    let verdict = Verdict::at_most(bound, ours as f64);
    let why = match ours as f64 - bound {
        _ if verdict != Verdict::BeyondBound => "",
        over if over <= 1.0 => {
            "above the bound because elements are whole and the bound has a fraction"
        }
        _ => "above the bound",
    };
    table.add(names, number(bound), ours, verdict).because(why);
}

/// Compares Table 2. The lengths of messages are multiples of P, as the lemmas assume.
pub(super) fn table_2(liu: &Liu, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = liu.words.table("Table 2");
    for p in NODES {
        let (found, _) = stages::uniform(bench, "four-stage", p, p)?;
        let columns = bounds::columns(p);
        let rest = p % columns;
        for (number, stage) in found.iter().enumerate() {
            for complete in [true, false] {
                let mine = |node: u64| complete == (rest == 0 || node % columns < rest);
                let most = |of: &[u64]| (0..p).filter(|n| mine(*n)).map(|n| of[n as usize]).max();
                let (Some(messages), Some(longest)) = (most(&stage.received), most(&stage.longest))
                else {
                    continue;
                };
                let kind = if complete { "complete" } else { "incomplete" };
                let row = format!(
                    "P = {p}, stage {}, {kind} column",
                    ["I", "II", "III", "IV"][number.min(3)]
                );
                let bound = bounds::messages(p, number, complete) as f64;
                add_bounded(&mut table, (&row, "messages"), bound, messages.into());
                let bound = bounds::longest(p, number, complete, (p * p) as f64);
                add_bounded(&mut table, (&row, "longest"), bound, longest.into());
            }
        }
    }
    Ok(table)
}

/// Compares Table 3: start-ups and traffic.
pub(super) fn table_3(liu: &Liu, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = liu.words.table("Table 3");
    for p in NODES {
        let l = (p * p) as f64;
        for (paper, algorithm) in ALGORITHMS {
            // A3 only works if the number of nodes is a square.
            if paper == "A3" && p.isqrt().pow(2) != p {
                continue;
            }
            let (found, _) = stages::uniform(bench, algorithm, p, p)?;
            let row = format!("P = {p}, {paper}");
            // Compare the start-ups. The paper states an upper bound for A4, and exact numbers for
            // the other algorithms.
            let steps: u64 = found.iter().map(|s| s.steps).sum();
            let names = (row.as_str(), "start-ups");
            match paper {
                "A4" => add_bounded(&mut table, names, bounds::steps(p) as f64, steps.into()),
                _ => {
                    let paper = match paper {
                        "A1" => p,
                        "A2" => 2 * p,
                        _ => 2 * p.isqrt(),
                    };
                    table.add_whole(names, paper, steps);
                }
            }
            // Compare the traffic. In A4, nodes send different amounts in each step, so the paper
            // bounds the sum over steps of the longest message. For the other algorithms, the paper
            // bounds the number of bytes that any node sends.
            let sent = |node: usize| found.iter().map(|s| s.sent[node]).sum::<u64>();
            let most = (0..p as usize).map(sent).max().unwrap_or(0);
            match paper {
                "A4" => {
                    let critical: u64 = found.iter().map(|s| s.critical).sum();
                    for (column, bound) in [
                        ("traffic, as in Theorem 2", bounds::traffic(p, l)),
                        ("traffic, as printed in Table 3", bounds::printed_traffic(p, l)),
                    ] {
                        add_bounded(&mut table, (&row, column), bound, critical.into());
                    }
                }
                _ => {
                    let bound = if paper == "A1" { l } else { 2.0 * l };
                    table.add(
                        (&row, "traffic"),
                        number(bound),
                        most,
                        Verdict::computed(bound, most as f64),
                    );
                }
            }
        }
    }
    Ok(table)
}

/// A workload and its Mmax, which is the maximum number of elements that a node sends to one
/// destination.
struct Load {
    name: &'static str,
    workload: String,
    mmax: f64,
    seeds: u32,
}

/// Compares Table 4, which contains the sizes of buffers.
pub(super) fn table_4(liu: &Liu, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = liu.words.table("Table 4");
    let loads = [
        Load { name: "uniform", workload: "uniform:64".to_owned(), mmax: 64.0, seeds: 1 },
        Load {
            name: "Pattern1",
            workload: "one-spike:max=1024,rest=1".to_owned(),
            mmax: 1024.0,
            seeds: 10,
        },
        Load {
            name: "Pattern2",
            workload: "transpose:max=1024,rest=1".to_owned(),
            mmax: 1024.0,
            seeds: 1,
        },
    ];
    let p = 64;
    for load in &loads {
        // In A1, each message is sent directly to its destination. Therefore, the sizes of its
        // buffers are the largest row sum and the largest column sum of the matrix M of message
        // sizes.
        let direct = buffers(bench, "direct", p, load)?;
        for (paper, algorithm) in ALGORITHMS {
            let run =
                if paper == "A1" { direct.clone() } else { buffers(bench, algorithm, p, load)? };
            let lmax = |i: usize| direct[i].0.max(direct[i].1) as f64;
            let bound = |send: bool, i: usize| match (paper, send) {
                ("A1", true) | ("A3", _) => load.mmax * p as f64,
                ("A4", _) => bounds::buffer(p, lmax(i)),
                _ => lmax(i),
            };
            let row = format!("P = {p}, {}, {paper}", load.name);
            for (column, send) in [("sBUF", true), ("rBUF", false)] {
                let used = |i: usize| if send { run[i].0 } else { run[i].1 };
                // Find the seed for which the buffers are largest relative to the bound.
                let share = |i: usize| used(i) as f64 / bound(send, i);
                let Some(worst) = (0..run.len()).max_by(|a, b| share(*a).total_cmp(&share(*b)))
                else {
                    continue;
                };
                add_bounded(&mut table, (&row, column), bound(send, worst), used(worst));
            }
        }
    }
    Ok(table)
}

/// Returns the sizes of the send and receive buffers for each seed.
fn buffers(
    bench: &Bench<'_>,
    algorithm: &str,
    p: u64,
    load: &Load,
) -> Result<Vec<(u128, u128)>, ReproduceError> {
    let rows = bench.repeated(&nodes(p), algorithm, &load.workload, &["free"], load.seeds)?;
    Ok(rows.iter().map(buffer_bytes).collect())
}

/// Returns the sizes of the send and receive buffers from the columns of a row.
pub(super) fn buffer_bytes(row: &Record) -> (u128, u128) {
    (row.send_buffer_bytes.unwrap_or(0), row.receive_buffer_bytes.unwrap_or(0))
}
