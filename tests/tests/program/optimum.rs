//! `optimum` gives intervals that contain the optimum, algorithms, and certificates.

use crate::support::{refused, swapmeet, words};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use swapmeet_tests::program;
use tempfile::tempdir;

fn optimum(args: &str, folder: &Path) -> Value {
    let mut command = swapmeet(&["optimum", "--format", "json"]);
    let output = command.args(words(args)).current_dir(folder).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args}: {message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Suh & Shin (1998), 3.1.4: on a mesh of n nodes whose longest side has N1 nodes, n N1 / 4 blocks
/// cross each link of the bisection. Here, these are 16 blocks of 100 bytes.
#[test]
fn the_optimum_of_a_mesh_is_its_bisection() {
    let folder = tempdir().unwrap();
    let machine = "free:byte_us=1,startup_us=2,ports=all";
    let args = format!("--topology mesh:4x4 --workload uniform:100 --machine {machine}");
    let found = optimum(&args, folder.path());
    let number = |key: &str| found[key].as_f64().unwrap();
    assert!((1600.0 - 1e-6..=1632.0).contains(&number("upper_us")), "{found}");
    assert!((1568.0..=1600.0 + 1e-6).contains(&number("lower_us")), "{found}");
    assert!(number("optimum_us") >= number("lower_us") + 2.0, "one start-up: {found}");
    assert!(number("seconds") >= 0.0);
    assert_eq!(found["bottleneck"]["kind"], "links");
    let links: Vec<(u64, u64)> =
        serde_json::from_value(found["bottleneck"]["links"].clone()).unwrap();
    // A link of the bisection connects columns 1 and 2, or rows 1 and 2.
    let crosses = |(from, to): &(u64, u64)| {
        let side = |v: u64| (v % 4 / 2, v / 8);
        side(*from) != side(*to)
    };
    assert!(!links.is_empty() && links.iter().all(crosses), "{links:?}");
    let args = format!(
        "--topology mesh:4x4 --workload irregular:dist=pareto,mean=100,cv=1 --machine {machine}"
    );
    let text = swapmeet(&["optimum", "--gap", "0.001"]).args(words(&args)).assert().success();
    let text = String::from_utf8(text.get_output().stdout.clone()).unwrap();
    assert!(
        text.contains("\n(wider than --gap 0.001: the search made no more progress)\n"),
        "{text}"
    );
    assert!(
        text.starts_with(
            "mesh:4x4, irregular:dist=pareto,mean=100,cv=1 on free:startup_us=2,byte_us=1,ports=all\nbytes alone take "
        ),
        "{text}"
    );
    assert!(text.contains("\nbottleneck: ") && text.contains("bytes/optimum"), "{text}");
}

/// For 256 nodes, the search of `flow` takes longer than the limit of 50 ms.
#[test]
fn algorithms_that_take_too_long_are_named() {
    let args = words("--topology mesh:16x16 --timeout 0.05");
    let text = swapmeet(&["optimum"]).args(&args).assert().success().get_output().stdout.clone();
    let text = String::from_utf8(text).unwrap();
    let named = text.lines().find_map(|l| l.strip_prefix("not finished in time (`--timeout`): "));
    assert!(named.is_some_and(|names| names.split(", ").any(|name| name == "flow")), "{text}");
}

/// The interval is printed before the algorithms have run, because some of them take long.
#[test]
fn the_interval_is_printed_first() {
    let mut command = Command::new(program());
    command.args(words("optimum --topology mesh:24x24")).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.find(|line| line.starts_with("bottleneck: "));
    child.kill().unwrap();
    child.wait().unwrap();
    let rest: Vec<String> = lines.collect();
    assert!(first.is_some() && rest.is_empty(), "{first:?} {rest:?}");
}

#[test]
fn no_algorithm_is_below_the_lower_end() {
    let folder = tempdir().unwrap();
    let edges = "0 1 2\n1 2 4\n2 3 1\n0 4 4\n4 5 1\n3 6 2\n1 7 1\n0 3 1";
    std::fs::write(folder.path().join("g.txt"), edges).unwrap();
    let mut compared = 0;
    for (topology, workload, machine) in [
        ("torus:4x4", "uniform:64", "free:byte_us=1,ports=all"),
        ("torus:4x4", "uniform:64", "free:byte_us=1,startup_us=3"),
        ("mesh:3x5", "uniform:64", "free:byte_us=1,model=store-and-forward"),
        ("hypercube:4", "uniform:64", "free:byte_us=1,model=circuit,ports=all,virtual_channels=2"),
        ("dragonfly:3x2x2", "uniform:64", "free:byte_us=1,ports=all,injection_byte_us=2"),
        ("groups:3x4,inside=4", "uniform:64", "free:byte_us=1,model=fluid"),
        ("torus:4x4", "uniform:1MiB", "free:byte_us=0.0001,startup_us=1,model=fluid"),
        ("graph:g.txt", "irregular:dist=lognormal,mean=512,cv=2", "free:byte_us=1,ports=all"),
        ("graph:g.txt", "uniform:64", "free:byte_us=1,ports=2"),
        ("torus:4x4,ranks=2", "uniform:64", "free:byte_us=1,ports=all"),
        ("torus:4x4,routing=valiant", "uniform:64", "free:byte_us=1,ports=all"),
        ("torus:4x4", "allgather/uniform:64", "free:byte_us=1,ports=all"),
        ("torus:4x4", "allreduce/uniform:1KiB", "free:byte_us=1,ports=all"),
        ("fat-tree:2x3", "allreduce/uniform:1KiB", "free:byte_us=1"),
        ("mesh:4x4", "reduce-scatter/uniform:64", "free:byte_us=1,ports=all"),
        ("hypercube:3", "broadcast/uniform:1KiB", "free:byte_us=1,ports=all"),
        ("hypercube:3", "reduce/uniform:1KiB", "free:byte_us=1,free_contention=2"),
        ("mesh:4x4", "scatter/uniform:64,root=5", "free:byte_us=1,ports=all"),
        ("torus:4x4", "gather/uniform:64", "free:byte_us=1"),
    ] {
        let args = format!("--topology {topology} --workload {workload} --machine {machine}");
        let found = optimum(&args, folder.path());
        let (lower, upper) = (found["lower_us"].as_f64().unwrap(), found["upper_us"].as_f64());
        assert!(lower > 0.0 && upper.unwrap() >= lower, "{args}: {found}");
        // Under `fluid`, a rank moves bytes during start-ups of other ranks, so no part of the time
        // is that of the bytes alone. For `flow` on the torus, such a part would be 0.99 of the
        // optimum.
        let has_clocks = machine.contains("model=fluid");
        for row in found["algorithms"].as_array().unwrap() {
            let bytes = row["bytes_ratio"].as_f64();
            assert_eq!(bytes.is_none(), has_clocks, "{args}: {row}");
            assert!(bytes.is_none_or(|ratio| ratio >= 1.0 - 1e-9), "{args}: {row}");
            assert!(row["time_us"].as_f64().unwrap() >= lower * (1.0 - 1e-9), "{args}: {row}");
            assert!(row["ratio"].as_f64().unwrap() >= 1.0 - 1e-9, "{args}: {row}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} algorithms");
}

#[test]
fn certificates_are_written_checked_and_refused() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, workload) in [
        ("flow.json", "uniform:64"),
        ("trees.json", "allgather/uniform:64"),
        ("sum.json", "allreduce/uniform:64"),
    ] {
        let file = at(name);
        let args = ["optimum", "--topology", "mesh:3x3", "--workload", workload];
        let write = [&args[..], &["--certificate", &file]].concat();
        swapmeet(&write).assert().success();
        let again = refused(&write);
        assert!(again.contains("--force"), "{again}");
        let check = swapmeet(&["optimum", "--check", &file]).assert().success();
        let message = String::from_utf8_lossy(&check.get_output().stdout).into_owned();
        let about = format!("verified: mesh:3x3, {workload} on fugaku takes ");
        assert!(message.contains(&about), "{message}");
        // A certificate is refused if it proves less than it claims, or is about another network
        // than the topology.
        let text = std::fs::read_to_string(&file).unwrap();
        let mut document: Value = serde_json::from_str(&text).unwrap();
        document["lower_us"] = (document["lower_us"].as_f64().unwrap() * 1.01).into();
        std::fs::write(at("high.json"), document.to_string()).unwrap();
        let other = text.replace("\"topology\":\"mesh:3x3\"", "\"topology\":\"mesh:9\"");
        std::fs::write(at("other.json"), other).unwrap();
        for (name, why) in [
            ("high.json", "but the lengths prove only"),
            ("other.json", "its network, demand or speed is not that of mesh:9"),
        ] {
            let refused = swapmeet(&["optimum", "--check", &at(name)]).assert().code(1);
            let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
            assert!(
                message.contains(": refused: ") && message.contains(why),
                "{workload}: {message}"
            );
        }
    }
    let file = at("empty.json");
    let args = ["optimum", "--topology", "ring:4", "--workload", "broadcast/uniform:0"];
    swapmeet(&[&args[..], &["--certificate", &file]].concat()).assert().success();
    swapmeet(&["optimum", "--check", &file]).assert().success();
    let check = ["optimum", "--format", "json", "--check", &at("high.json")];
    let answer = swapmeet(&check).assert().code(1).get_output().stdout.clone();
    assert_eq!(serde_json::from_slice::<Value>(&answer).unwrap()["verified"], false);
    std::fs::write(at("bad.json"), "{\"format\":1}").unwrap();
    let message = refused(&["optimum", "--check", &at("bad.json")]);
    assert!(message.contains("bad.json: not a certificate: "), "{message}");
}

#[test]
fn questions_without_an_answer_are_refused() {
    for (args, why) in [
        ("", "--topology <SPEC>"),
        ("--topology ring:8 --gap 2", "expected a number from 0.001 to 1"),
        (
            "--topology ring:8 --machine free:model=flat,byte_us=1",
            "its model has no links, or its times depend on noise or background traffic: expected a machine with `model=wormhole`, `circuit`, `store-and-forward` or `fluid`, without `noise` and `background`",
        ),
        (
            "--topology ring:8 --machine free",
            "bytes take no time on this machine: expected byte_us above 0",
        ),
        (
            "--topology mesh:60x60 --workload irregular:dist=lognormal,mean=64,cv=2",
            "12960000 pairs of nodes are more than 8388608: try fewer nodes, or a uniform workload on a torus, ring, hypercube or fully connected network, of which one source is enough",
        ),
        (
            "--topology mesh:64x64",
            "4096 sources times 16128 links are more than 33554432 cells, the limit of memory: try fewer nodes, fewer sources (scatter, broadcast), or a uniform workload on a torus, ring, hypercube or fully connected network, of which one source is enough",
        ),
        (
            "--topology torus:4096x4096",
            "16777216 vertices with 67108864 links are more than 16777216 vertices or links",
        ),
        ("--topology ring:8 --workload uniform:1..4", "--workload"),
    ] {
        let message = refused(&[&["optimum"], &words(args)[..]].concat());
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(message.contains(why), "{args}: {message}");
    }
}
