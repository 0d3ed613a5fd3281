//! `fit`: the fitted machines must equal those that other programs fit to the same times.

use crate::support::{refused, swapmeet, tools};
use std::process::Command;
use swapmeet_tests::project;

/// 44 times that follow 3.7 µs + 0.00042 µs per byte, with 2 % of noise. Four of them are outliers,
/// and are 2.5 to 9 times too long.
const PINGS: &str = "tests/fixtures/fit/ping-pong.csv";

/// The costs that scipy 1.17.1 fits to these times, computed by `robust.py` in the same folder.
const BY_SCIPY: [f64; 2] = [3.718_173_814_124, 0.000_415_479_814_238_9];

fn costs() -> [f64; 2] {
    let output =
        swapmeet(&["fit", project(PINGS).to_str().unwrap(), "--name", "pings"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("# fitted to 40 times, 4 omitted as outliers; "), "{printed}");
    let cost = |key: &str| {
        let line = printed
            .lines()
            .find_map(|line| line.strip_prefix(key))
            .unwrap_or_else(|| panic!("{printed}"));
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    [cost("startup_us = "), cost("byte_us = ")]
}

fn assert_alike(found: [f64; 2], expected: [f64; 2]) {
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 5e-6, "{found}, expected {expected}");
    }
}

#[test]
fn a_fit_equals_the_recorded_result_of_scipy() {
    assert_alike(costs(), BY_SCIPY);
}

#[test]
fn a_fit_equals_the_result_of_the_installed_scipy() {
    let mut python = Command::new("python3");
    python.args([project("tests/fixtures/fit/robust.py"), project(PINGS)]);
    let found = match python.output() {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap(),
        Ok(_) | Err(_) => return tools::left_out("scipy", "no `python3` with scipy here"),
    };
    let found: Vec<f64> = found.split_whitespace().map(|word| word.parse().unwrap()).collect();
    assert_alike(costs(), [found[0], found[1]]);
}

#[test]
fn measurements_without_a_possible_fit_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (text, why) in [
        ("bytes,time_us\n8,fast\n", "line 2: the time is `fast`, expected a time"),
        ("bytes,time_us\n8,1\n16,1.1\n", "times of 2 sizes of messages, expected at least 3"),
        (
            "bytes,time_us\n8,1\n16,0\n32,1\n",
            "line 3: 0 us for 1 messages of 16 bytes together, expected a time above 0",
        ),
        (
            "# OSU MPI Latency Test v7.4\n",
            "no time in it, expected OSU's latency test, Intel's PingPong or `bytes,time_us`",
        ),
    ] {
        let file = dir.path().join("pings.txt");
        std::fs::write(&file, text).unwrap();
        let message = refused(&["fit", file.to_str().unwrap()]);
        assert!(message.contains(why), "{text}: {message}");
    }
}

/// The log is of two computers of eight H100 on EFA, with times published by AWS
/// (aws-samples/awsome-distributed-training 7217859f, micro-benchmarks/nccl-tests/README.md).
#[test]
fn a_system_is_fitted_to_a_log_of_nccl_tests() {
    let folder = tempfile::tempdir().unwrap();
    let ranks: String = (0..16)
        .map(|rank| format!("#  Rank  {rank} Group  0 Pid 1 on p5 device 0 [0x00] NVIDIA H100\n"))
        .collect();
    let line = |(bytes, us): (u64, f64)| {
        let count = bytes / 4;
        format!("{bytes:12} {count:12} float sum -1 {us:8} 0.1 0.1 0 {us:8} 0.1 0.1 0\n")
    };
    let times = [(1024, 69.24), (4096, 78.58), (1_048_576, 123.2), (134_217_728, 870.3)];
    let times: String = times.into_iter().map(line).collect();
    let header = "# nThread 1 nGpus 1\n";
    let columns = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n";
    std::fs::write(folder.path().join("log.txt"), format!("{header}{ranks}{columns}{times}"))
        .unwrap();
    let fit = |args: &[&str]| {
        let args = [&["fit", "log.txt", "--collective", "allreduce", "--system"], args].concat();
        let output = swapmeet(&args).current_dir(folder.path()).output().unwrap();
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [spec, remark] = fit(&["p5:2x8"]);
    // `floor_us` is the geometric mean of 69.24 and 78.58.
    assert!(spec.starts_with("p5:2x8,floor_us=73.8,fabric_factor="), "{spec}{remark}");
    assert!(remark.contains("4 times, error factor 1.") && remark.contains("2 times"), "{remark}");
    assert!(swapmeet_core::system::expand(spec.trim()).is_ok(), "{spec}");
    // The ranks of each host form a communicator. Both communicators run at the same time.
    let log = std::fs::read_to_string(folder.path().join("log.txt")).unwrap();
    let line = |(rank, line): (usize, &str)| {
        let rank = rank.saturating_sub(1);
        if line.contains("Rank") {
            line.replace("Group  0", &format!("Group  {}", rank / 8))
        } else {
            line.to_owned()
        }
    };
    let lines: Vec<String> = log.lines().enumerate().map(line).collect();
    std::fs::write(folder.path().join("log.txt"), lines.join("\n").replace("69.24", "0.0"))
        .unwrap();
    let [spec, remark] = fit(&["p5:2x8"]);
    // No message is between hosts, so the factor of the fabric is not fitted.
    assert_eq!(spec.trim(), "p5:2x8,floor_us=78.6", "{remark}");
    assert!(remark.contains("line 19: 1KiB is left out: its time is 0"), "{remark}");
    let [_, other] = fit(&["p5:4x8"]);
    assert!(other.contains("it has 16 ranks, but the system has 32 GPUs"), "{other}");
}
