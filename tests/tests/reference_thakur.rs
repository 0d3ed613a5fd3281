//! Thakur's algorithms against the figures of an independent walk over every link (`fixtures/thakur.json`), through the real program and the real
//! plugin file.

#![expect(clippy::unwrap_used, reason = "helpers of tests: a failure here is a failed test")]

use serde_json::Value;
use std::collections::BTreeMap;
use swapmeet_tests::{project, rows, swapmeet};

fn fixture() -> Value {
    serde_json::from_str(include_str!("../fixtures/thakur.json")).unwrap()
}

#[test]
fn every_profile_agrees_in_every_figure() {
    let fixture = fixture();
    let profiles = fixture["profiles"].as_object().unwrap();
    assert!(profiles.len() >= 10);
    for (name, expected) in profiles {
        let (mesh, algorithm) = name.split_once(' ').unwrap();
        let (topology, algorithm) = (format!("mesh:{mesh}"), algorithm.to_lowercase());
        let args = [
            "--topology",
            &topology,
            "--algorithm",
            &algorithm,
            "--workload",
            "uniform:1",
            "--machine",
            "free:hop_us=1",
        ];
        let row = rows(&args).pop().unwrap();
        for (figure, ours) in [
            ("steps", row.steps),
            ("messages", row.messages),
            ("sum_f", row.sum_link_messages),
            ("max_f", row.max_link_messages),
            // one byte a message: bytes times hops are hops
            ("hops", row.total_hop_bytes),
        ] {
            assert_eq!(ours, expected[figure].as_u64(), "{name}: {figure}");
        }
        assert_eq!((row.max_sends, row.max_receives), (Some(1), Some(1)), "{name}");

        let trace =
            swapmeet(&["trace", "--summary", "--topology", &topology, "--algorithm", &algorithm]).output().unwrap();
        let mut hist: BTreeMap<u64, u64> = BTreeMap::new();
        for line in String::from_utf8(trace.stdout).unwrap().lines() {
            // "  step 3: .., busiest link 2 messages"
            let f = line.rsplit_once("busiest link ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
            *hist.entry(f).or_default() += 1;
        }
        let expected_hist = expected["hist"].as_object().unwrap();
        let theirs: BTreeMap<u64, u64> =
            expected_hist.iter().map(|(f, steps)| (f.parse().unwrap(), steps.as_u64().unwrap())).collect();
        assert_eq!(hist, theirs, "{name}: hist");
        let half: f64 = hist.iter().map(|(f, steps)| (*f as f64 / 2.0).max(1.0) * *steps as f64).sum();
        assert_eq!(half, expected["sum_half"].as_f64().unwrap(), "{name}: sum_half");
    }
}

/// On a mesh without contention to pay for, Thakur's T = sum of alpha + L max(beta, f beta_sat) is the row's time.
#[test]
fn the_rows_time_is_the_papers_formula() {
    let fixture = fixture();
    for name in ["8x8 PEX", "6x8 PEX-GEN-SHIFT"] {
        let (mesh, algorithm) = name.split_once(' ').unwrap();
        let (topology, algorithm) = (format!("mesh:{mesh}"), algorithm.to_lowercase());
        let row = rows(&[
            "--topology",
            &topology,
            "--algorithm",
            &algorithm,
            "--workload",
            "uniform:1KiB",
            "--machine",
            "delta",
        ]);
        let expected = &fixture["profiles"][name];
        let (steps, half) = (expected["steps"].as_f64().unwrap(), expected["sum_half"].as_f64().unwrap());
        let time = steps * 187.6 + 1024.0 * 0.2498 * half;
        assert!((row[0].time_us.unwrap() - time).abs() < 1e-3, "{name}");
    }
}

#[test]
fn the_fits_behind_the_preset_agree() {
    let csv = std::fs::read_to_string(project("results/reproduced/thakur.csv")).unwrap();
    let fixture = fixture();
    for (row, fit) in fixture["fits"].as_object().unwrap() {
        for (column, key, digits) in [("alpha, us", "alpha_us", 1), ("beta, us a byte", "beta_us_per_byte", 4)] {
            let expected = format!("Fit,\"{row}\",\"{column}\",,{:.digits$},", fit[key].as_f64().unwrap());
            assert!(csv.contains(&expected), "{expected}");
        }
    }
}
