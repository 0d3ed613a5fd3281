//! Compares the statistics of `compare` with scipy, if installed. Unit tests have fixed values.

use crate::support::{rows, tools};
use std::process::Command;
use swapmeet_results::stats::{Summary, mann_whitney_p, paired_t_p, welch_p, wilcoxon_p};

const SCIPY: &str = "
import sys
from scipy import stats
for line in sys.stdin:
    a, b = ([float(x) for x in half.split(',')] for half in line.split(';'))
    signs = stats.PermutationMethod(n_resamples=float('inf'))
    print(stats.ttest_rel(a, b).pvalue, stats.wilcoxon(a, b, method=signs).pvalue,
          stats.ttest_ind(a, b, equal_var=False).pvalue, stats.mannwhitneyu(a, b, method='exact').pvalue)
";

/// Returns 3 to 9 pairs with small and large differences, some equal in every second sample.
fn samples() -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut state = 12_345_u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    let sample = |case: u32| {
        let pairs = (0..3 + case % 7).map(|_| {
            let (time, noise) = (100.0 + 50.0 * next(), next() - 0.3 * f64::from(case % 4));
            (
                time,
                time + if case.is_multiple_of(2) {
                    (noise * 4.0).round() / 4.0 + 0.125
                } else {
                    noise
                },
            )
        });
        pairs.unzip()
    };
    (0..60).map(sample).collect()
}

/// If ranks wait for each other in every step, the slowest message determines the time of a step.
/// The mean time is therefore longer than the time without jitter.
#[test]
fn jitter_has_the_requested_mean_and_variation() {
    let times = |topology: &str, algorithm: &str, workload: &str, machine: &str| -> Vec<f64> {
        let rest = ["--workload", workload, "--machine", machine, "--repetitions", "300"];
        let rows = rows(&[&["--topology", topology, "--algorithm", algorithm][..], &rest].concat());
        rows.iter().map(|row| row.time_us.unwrap_or_else(|| panic!("{}", row.reason))).collect()
    };
    let models = [
        "model=loggp,overhead_us=3,latency_us=7",
        "model=fluid,startup_us=3,hop_us=10",
        "model=fluid,order=data,startup_us=3,hop_us=10",
    ];
    for model in models {
        let with = |topology: &str, algorithm: &str, workload: &str, noise: &str| {
            times(topology, algorithm, workload, &format!("free:{model},byte_us=0.01{noise}"))
        };
        let message = |noise: &str| with("ring:2", "linear", "broadcast/uniform:1001", noise);
        let (jittered, without) = (Summary::of(&message(",noise=0.3")).unwrap(), message(""));
        assert!(without.iter().all(|time| (time - 23.0).abs() < 0.02), "{model}: {}", without[0]);
        let spread = jittered.sd.unwrap() / jittered.mean;
        assert!((jittered.mean / without[0] - 1.0).abs() < 0.06, "{model}: {}", jittered.mean);
        assert!((spread / 0.3 - 1.0).abs() < 0.2, "{model}: {spread}");
        let (steps, again, plain) = (
            with("ring:8", "gen", "uniform:1KiB", ",noise=0.3"),
            with("ring:8", "gen", "uniform:1KiB", ",noise=0.3"),
            with("ring:8", "gen", "uniform:1KiB", ""),
        );
        assert_eq!(steps, again, "{model}: the same seeds are the same times");
        let many = Summary::of(&steps).unwrap();
        assert!(many.sd.unwrap() > 0.01 * many.mean, "{model}");
        // With `order=data`, a rank does not wait for the slowest message of a step.
        assert!(
            model.contains("order=data") || many.mean > 1.1 * plain[0],
            "{model}: {}, {}",
            many.mean,
            plain[0]
        );
    }
}

#[test]
fn p_values_equal_those_of_scipy() {
    let python = |code: &str| {
        Command::new("python3").args(["-c", code]).stdin(std::process::Stdio::piped()).output()
    };
    // scipy has exact permutation tests from version 1.11 on.
    if !python("from scipy.stats import PermutationMethod")
        .is_ok_and(|output| output.status.success())
    {
        tools::left_out("scipy", "no python3 with scipy 1.11 or later");
        return;
    }
    let samples = samples();
    let text = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let lines: Vec<String> =
        samples.iter().map(|(a, b)| format!("{};{}", text(a), text(b))).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines.join("\n") + "\n").unwrap();
    let stdin = std::fs::File::open(file.path()).unwrap();
    let output = Command::new("python3").args(["-c", SCIPY]).stdin(stdin).output().unwrap();
    let message = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        message.lines().count(),
        samples.len(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for ((a, b), theirs) in samples.iter().zip(message.lines()) {
        let (own, other) = (Summary::of(a).unwrap(), Summary::of(b).unwrap());
        let ours =
            [paired_t_p(a, b), wilcoxon_p(a, b), welch_p(&own, &other), mann_whitney_p(a, b)];
        for ((ours, theirs), test) in
            ours.iter().zip(theirs.split(' ')).zip(["paired t", "Wilcoxon", "Welch", "U"])
        {
            let theirs: f64 = theirs.parse().unwrap();
            assert!(
                ours.is_some_and(|p| (p - theirs).abs() < 1e-9),
                "{test}: {ours:?}, scipy {theirs}: {a:?} {b:?}"
            );
        }
    }
}
