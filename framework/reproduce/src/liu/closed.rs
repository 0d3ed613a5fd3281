//! Table 1 as presets, and the closed forms: equations (3) and (4), Theorem 2.

use super::messages::both;
use super::{ALGORITHMS, bounds, nodes};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use swapmeet_core::cost::machine::Machine;

/// Table 1: platform, Ts, tc + td.
const TABLE_1: [(&str, f64, f64); 5] =
    [("cm5", 85.0, 0.12), ("sp2", 44.0, 0.035), ("t3d", 38.0, 0.043), ("t3e", 28.0, 0.006), ("myrinet", 68.0, 0.027)];

/// The figures of a preset that the closed forms need.
struct Figures {
    startup_us: f64,
    byte_us: f64,
    copy_byte_us: f64,
    rearrange_byte_us: f64,
}

fn preset(name: &str) -> Figures {
    let machine = Machine::parse(name).ok();
    let figure = |key: &str| machine.as_ref().and_then(|machine| machine.number(key)).unwrap_or(f64::NAN);
    Figures {
        startup_us: figure("startup_us"),
        byte_us: figure("byte_us"),
        copy_byte_us: figure("copy_byte_us"),
        rearrange_byte_us: figure("rearrange_byte_us"),
    }
}

/// Table 1, with what the conclusions say of it.
pub fn machines() -> Table {
    let mut table = Table::new(
        "Table 1",
        "Start-up Ts in us, tc + td in us a byte, and their ratio, which the conclusions put \"in the range of 1000\"; ours are the presets' parameters.",
    );
    for (name, startup, byte) in TABLE_1 {
        let m = preset(name);
        let ours = m.copy_byte_us + m.byte_us;
        table.add((name, "Ts"), startup, m.startup_us, Verdict::exactly(&startup, &m.startup_us), "");
        table.add((name, "tc + td"), byte, format!("{ours:.3}"), Verdict::measured(byte, ours, 3), "");
        let ratio = m.startup_us / ours;
        let verdict = Verdict::holds((500.0..2000.0).contains(&ratio));
        table.add((name, "Ts / (tc + td)"), "about 1000", format!("{ratio:.0}"), verdict, "");
    }
    table
}

/// The closed forms beside runs on an SP2.
pub fn table(bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Closed forms",
        "SP2, Pattern1 with Mmax = 1024 elements of 22 bytes and 1 element for the others, the mean of 10 seeds, in ms. Blocking: (3) with f = 1 for A1, and for A2 and A3 with their start-ups and traffic of Table 3; \
         Theorem 2 for A4, which is a bound. Nonblocking: (4) with f = 1. f, at least 1, is the node contention factor with which (3) and (4) for A1 give the run's time, where there is one: a run below the closed form with f = 1 has none.",
    );
    let machines = ["sp2".to_owned(), "sp2:mode=nonblocking".to_owned()];
    let m = preset("sp2");
    let workload = "one-spike:max=22528,rest=22,element=22";
    for p in [16_u64, 25, 36, 64] {
        // row and column sums of M: what A1's buffers hold
        let direct = bench.repeated(&nodes(p), "direct", workload, &["free".to_owned()], 10)?;
        let lmax: Vec<f64> = direct.iter().map(|row| both(row).0.max(both(row).1) as f64).collect();
        for (paper, algorithm) in ALGORITHMS {
            let rows = bench.repeated(&nodes(p), algorithm, workload, &machines, 10)?;
            for (i, mode) in ["blocking", "nonblocking"].into_iter().enumerate() {
                let run: Vec<f64> = rows.iter().skip(i).step_by(2).filter_map(|r| r.time_us).collect();
                let (starts, traffic) = match paper {
                    "A1" => (p as f64, 1.0),
                    "A2" => (2.0 * p as f64, 2.0),
                    "A3" => (2.0 * (p as f64).sqrt(), 2.0),
                    _ => (bounds::steps(p) as f64, bounds::traffic(p, 1.0)),
                };
                let closed = |l: f64| {
                    let l = traffic * l;
                    match mode {
                        "blocking" => starts * m.startup_us + l * (m.copy_byte_us + m.byte_us + m.rearrange_byte_us),
                        _ => {
                            l * m.rearrange_byte_us + (starts * m.startup_us).max(l * m.copy_byte_us).max(l * m.byte_us)
                        }
                    }
                };
                let mean = |of: &dyn Fn(usize) -> f64| (0..run.len()).map(of).sum::<f64>() / run.len() as f64;
                let (paper_ms, ours_ms) = (mean(&|i| closed(lmax[i])) / 1e3, mean(&|i| run[i]) / 1e3);
                let (verdict, why) = if paper == "A4" && mode == "blocking" {
                    let above = (0..run.len()).filter(|i| run[*i] > closed(lmax[*i])).count();
                    (Verdict::holds(above == 0), format!("a bound: {above} of 10 runs exceed it"))
                } else {
                    let verdict = Verdict::measured(paper_ms, ours_ms, 2);
                    let why = match (paper, verdict) {
                        ("A1", _) => factors((0..run.len()).map(|i| {
                            // Above the closed form with f = 1 the term with f is what (3) and (4) both grow by: in (4) it is the largest of the three there.
                            let fixed = match mode {
                                "blocking" => closed(lmax[i]) - lmax[i] * m.byte_us,
                                _ => lmax[i] * m.rearrange_byte_us,
                            };
                            (run[i] >= closed(lmax[i])).then(|| (run[i] - fixed) / (lmax[i] * m.byte_us))
                        })),
                        (_, Verdict::Exact) => String::new(),
                        _ => "few nodes have as much to send or receive as Table 3 allows".to_owned(),
                    };
                    (verdict, why)
                };
                let row = format!("P = {p}, {paper}");
                table.add((&row, mode), format!("{paper_ms:.2}"), format!("{ours_ms:.2}"), verdict, &why);
            }
        }
    }
    Ok(table)
}

/// What is said of the factors that solve a closed form for so many runs; `None` for a run that is below it with f = 1.
fn factors(of_runs: impl Iterator<Item = Option<f64>>) -> String {
    let of_runs: Vec<Option<f64>> = of_runs.collect();
    let solved: Vec<f64> = of_runs.iter().copied().flatten().collect();
    let mean = solved.iter().sum::<f64>() / solved.len() as f64;
    match of_runs.len() - solved.len() {
        0 => format!("f = {mean:.1}"),
        below if solved.is_empty() => format!("no f: all {below} runs are below the closed form with f = 1"),
        below => format!(
            "no f for {below} of {} runs, which are below the closed form with f = 1; f = {mean:.1} for the others",
            of_runs.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_given_for_the_runs_that_have_one() {
        assert_eq!(factors([Some(1.5), Some(2.5)].into_iter()), "f = 2.0");
        assert_eq!(factors([None, None].into_iter()), "no f: all 2 runs are below the closed form with f = 1");
        assert_eq!(
            factors([None, Some(1.25), Some(1.0)].into_iter()),
            "no f for 1 of 3 runs, which are below the closed form with f = 1; f = 1.1 for the others"
        );
    }
}
