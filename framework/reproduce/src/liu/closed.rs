//! Table 1, which is compared with our machine presets, and the closed forms: equations (1) to (4)
//! and Theorem 2.

use super::messages::buffer_bytes;
use super::{ALGORITHMS, Liu, bounds, nodes, preset};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use swapmeet_results::Record;

/// Compares Table 1, and the ratio that the paper states in its conclusions, with our presets.
pub(super) fn machines(liu: &Liu) -> Table {
    let mut table = liu.words.table("Table 1");
    for (name, startup, byte) in &liu.table_1 {
        let m = preset(name);
        let ours = m.copy_byte_us + m.byte_us;
        table.add((name, "Ts"), startup, m.startup_us, Verdict::computed(*startup, m.startup_us));
        table.add((name, "tc + td"), byte, format!("{ours:.3}"), Verdict::measured(*byte, ours, 3));
        let ratio = m.startup_us / ours;
        let verdict = Verdict::holds((500.0..2000.0).contains(&ratio));
        table.add((name, "Ts / (tc + td)"), "about 1000", format!("{ratio:.0}"), verdict);
    }
    table
}

/// Returns the specs of a machine in blocking mode and in nonblocking mode. On both machines, the
/// message of a node to itself counts, because the paper counts P messages for each node.
fn counting(machine: &str) -> [String; 2] {
    ["self_messages=count", "mode=nonblocking,self_messages=count"]
        .map(|settings| format!("{machine}:{settings}"))
}

/// Compares equations (1) and (2) with runs in which all messages have the same size.
pub(super) fn equations(liu: &Liu, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = liu.words.table("Equations (1) and (2)");
    let p = 64.0;
    for (name, ..) in &liu.table_1 {
        let m = preset(name);
        let machines = counting(name);
        for bytes in [64.0, 1024.0, 16384.0] {
            let blocking =
                p * (m.startup_us + bytes * (m.copy_byte_us + m.rearrange_byte_us + m.byte_us));
            let slowest = m.startup_us.max(bytes * m.copy_byte_us).max(bytes * m.byte_us);
            let nonblocking = p * bytes * m.rearrange_byte_us + p * slowest;
            let rows =
                bench.run(&nodes(64), "direct", &[format!("uniform:{bytes}")], &machines)?.rows;
            for ((equation, paper), row) in
                [("(1), blocking", blocking), ("(2), nonblocking", nonblocking)].iter().zip(&rows)
            {
                let (paper, ours) = (paper / 1e3, row.time_us.unwrap_or(f64::NAN) / 1e3);
                let verdict = Verdict::measured(paper, ours, 2);
                let why = match verdict {
                    Verdict::Agrees => "",
                    _ => {
                        "start-up, copying and transfer of the first and last message do not overlap: the pipeline fills and drains"
                    }
                };
                let row = format!("{name}, m = {bytes}");
                table
                    .add((&row, equation), format!("{paper:.2}"), format!("{ours:.2}"), verdict)
                    .because(why);
            }
        }
    }
    Ok(table)
}

/// Compares the closed forms with runs. On the SP2, there are several values of P. On all other
/// machines, only the largest P is used.
pub(super) fn table(liu: &Liu, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = liu.words.table("Closed forms");
    for p in [16, 25, 36, 64] {
        closed(&mut table, bench, "sp2", p)?;
    }
    for (machine, ..) in liu.table_1.iter().filter(|(machine, ..)| machine != "sp2") {
        closed(&mut table, bench, machine, 64)?;
    }
    Ok(table)
}

/// Compares the closed forms with runs on P nodes of a machine.
fn closed(
    table: &mut Table,
    bench: &Bench<'_>,
    machine: &str,
    p: u64,
) -> Result<(), ReproduceError> {
    let m = preset(machine);
    let machines = counting(machine);
    let workload = "one-spike:max=22528,rest=22,element=22";
    // Lmax is the largest buffer of A1. The buffers of A1 have the sizes of the row sums and the
    // column sums of the matrix M of message sizes.
    let direct = bench.repeated(&nodes(p), "direct", workload, &["free"], 10)?;
    let lmax: Vec<f64> =
        direct.iter().map(|row| buffer_bytes(row).0.max(buffer_bytes(row).1) as f64).collect();
    for (paper, algorithm) in ALGORITHMS {
        let rows = bench.repeated(&nodes(p), algorithm, workload, &machines, 10)?;
        for (i, mode) in ["blocking", "nonblocking"].into_iter().enumerate() {
            let of_mode: Vec<&Record> = rows.iter().skip(i).step_by(2).collect();
            let run: Vec<f64> = of_mode.iter().filter_map(|r| r.time_us).collect();
            let (stages, starts, traffic) = match paper {
                "A1" => (1.0, p as f64, 1.0),
                "A2" => (2.0, 2.0 * p as f64, 2.0),
                "A3" => (2.0, 2.0 * (p as f64).sqrt(), 2.0),
                _ => (4.0, bounds::steps(p) as f64, bounds::traffic(p, 1.0)),
            };
            let transferred = |l: f64| traffic * l * m.byte_us;
            let closed = |l: f64| {
                let (composed, copied) =
                    (traffic * l * m.rearrange_byte_us, traffic * l * m.copy_byte_us);
                match mode {
                    "blocking" => starts * m.startup_us + composed + copied + transferred(l),
                    _ => composed + (starts * m.startup_us).max(copied).max(transferred(l)),
                }
            };
            let mean =
                |of: &dyn Fn(usize) -> f64| (0..run.len()).map(of).sum::<f64>() / run.len() as f64;
            let (paper_ms, ours_ms) = (mean(&|i| closed(lmax[i])) / 1e3, mean(&|i| run[i]) / 1e3);
            // Compute which fraction of the formula's traffic the nodes would copy into messages
            // (compose) if the buffer of every stage were as large as the largest buffer.
            let composed =
                mean(&|i| stages * buffer_bytes(of_mode[i]).0 as f64 / (traffic * lmax[i]));
            let (verdict, why) = if paper == "A4" {
                let above = (0..run.len()).filter(|i| run[*i] > closed(lmax[*i])).count();
                (
                    if above == 0 { Verdict::WithinBound } else { Verdict::BeyondBound },
                    format!("a bound: {above} of 10 runs exceed it"),
                )
            } else {
                // f is the factor by which equations (3) and (4) multiply the transfer time.
                // Compute f so that the equation gives the time of the run. In (4), assume that the
                // transfer time is the largest of the three terms. If the run is faster than the
                // equation with f = 1, there is no such f.
                let factor = |i: usize| {
                    let fixed = match mode {
                        "blocking" => closed(lmax[i]) - transferred(lmax[i]),
                        _ => traffic * lmax[i] * m.rearrange_byte_us,
                    };
                    (run[i] >= closed(lmax[i])).then(|| (run[i] - fixed) / transferred(lmax[i]))
                };
                let verdict = Verdict::measured(paper_ms, ours_ms, 2);
                let why = factors((0..run.len()).map(factor), 100.0 * composed);
                (verdict, if verdict == Verdict::Agrees { String::new() } else { why })
            };
            let row = format!("{machine}, P = {p}, {paper}");
            table
                .add((&row, mode), format!("{paper_ms:.2}"), format!("{ours_ms:.2}"), verdict)
                .because(&why);
        }
    }
    Ok(())
}

/// Describes the factors f for which a closed form gives the times of the runs. `None` stands for a
/// run that is faster than the closed form with f = 1. `composed` is the percentage of the
/// formula's traffic that the nodes copy into messages (compose).
fn factors(of_runs: impl Iterator<Item = Option<f64>>, composed: f64) -> String {
    let of_runs: Vec<Option<f64>> = of_runs.collect();
    let solved: Vec<f64> = of_runs.iter().copied().flatten().collect();
    let mean = solved.iter().sum::<f64>() / solved.len() as f64;
    let few = match composed.round() < 100.0 {
        true => format!("no node composes more than {composed:.0} % of the traffic in the formula"),
        false => "the formula counts the largest stage for each stage".to_owned(),
    };
    match of_runs.len() - solved.len() {
        0 => format!("f = {mean:.1}"),
        below if solved.is_empty() => format!("all {below} runs are faster: {few}"),
        below => format!(
            "f = {mean:.1} except for {below} of {} runs, which are faster: {few}",
            of_runs.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_given_for_slower_runs() {
        assert_eq!(factors([Some(1.5), Some(2.5)].into_iter(), 50.0), "f = 2.0");
        assert_eq!(
            factors([None].into_iter(), 102.0),
            "all 1 runs are faster: the formula counts the largest stage for each stage"
        );
        assert_eq!(
            factors([None, None].into_iter(), 31.4),
            "all 2 runs are faster: no node composes more than 31 % of the traffic in the formula"
        );
        assert_eq!(
            factors([None, Some(1.25), Some(1.0)].into_iter(), 50.0),
            "f = 1.1 except for 1 of 3 runs, which are faster: no node composes more than 50 % of the traffic in the formula"
        );
    }
}
