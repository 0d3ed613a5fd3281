//! `explain` and `expect`: verdicts on logs whose right verdict is known.

use crate::support::swapmeet;
use serde_json::Value;
use std::path::Path;

/// Returns a log as nccl-tests writes it, with the times of some sizes in us. `hosts` hosts have the
/// same number of ranks.
fn log(program: &str, (ranks, hosts): (u64, u64), gpu: &str, times: &[(u64, f64)]) -> String {
    let mut text = "# nThread 1 nGpus 1\n# Using devices\n".to_owned();
    for rank in 0..ranks {
        let host = rank * hosts / ranks;
        text += &format!(
            "#  Rank {rank:3} Group  0 Pid {} on  node{host} device {:2} [0x1b] {gpu}\n",
            1000 + rank,
            rank % (ranks / hosts)
        );
    }
    text += &format!("# Collective test starting: ./build/{program}_perf\n");
    text += "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n";
    for (bytes, us) in times {
        let count = bytes / 4;
        text += &format!(
            "  {bytes:12} {count:12}     float     sum      -1 {us:12.2}    0.00    0.00      0 {us:12.2}    0.00    0.00      0\n"
        );
    }
    text
}

/// Runs `explain` on a text, and returns the exit status, the output and the messages.
fn explained(folder: &Path, text: &str, args: &[&str]) -> (i32, String, String) {
    let file = folder.join("log.txt");
    std::fs::write(&file, text).unwrap();
    let output = swapmeet(&["explain"]).arg(&file).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Returns the exit status and the document of a log.
fn document(text: &str, args: &[&str]) -> (i32, Value) {
    let folder = tempfile::tempdir().unwrap();
    let args = [args, &["--format", "json"]].concat();
    let (status, output, messages) = explained(folder.path(), text, &args);
    (status, serde_json::from_str(&output).unwrap_or_else(|e| panic!("{e}: {output}{messages}")))
}

/// Asserts the verdict, what limits the largest size, and its ratio within 15 %.
fn assert_verdict(document: &Value, verdict: &str, bound_by: &str, ratio: f64) {
    let size = document["sizes"].as_array().unwrap().last().unwrap();
    assert_eq!((&document["verdict"], &size["bound_by"]), (&verdict.into(), &bound_by.into()));
    let found = size["ratio"].as_f64().unwrap();
    assert!((found / ratio - 1.0).abs() < 0.15, "{found}, expected {ratio}: {document:#}");
}

/// The README of oracle-quickstart/oci-gpu-quickstarts (6a0abdc, README-GB300.md, UPL-1.0) has an
/// all-to-all between two racks of 64 GPUs: 357,610 us for 16 GiB. The log is rebuilt from this
/// value. Each GPU sends 8.6 GB to the other rack at 24.0 GB/s, a quarter of its ports. A host has eight
/// ports of 400 Gb/s. The limit
/// follows from the bytes: (n - g)/n of the buffer leave the rack.
#[test]
fn an_all_to_all_that_uses_a_quarter_of_the_ports_is_low() {
    let log = log("alltoall", (128, 32), "NVIDIA GB300", &[(17_179_869_184, 357_610.0)]);
    let (status, document) = document(&log, &["--system", "gb300-nvl72:2x64"]);
    assert_verdict(&document, "low", "NIC", 0.25);
    assert_eq!((status, &document["collective"]), (1, &"alltoall".into()));
    let usage = document["sizes"][0]["usage"].as_str().unwrap();
    assert_eq!(usage, "NIC 24.0 of 100 GB/s = 1.92 of 8 ports");
}

/// A page on P6-B200 (aws-samples/awsome-distributed-training 7217859f, CC BY-SA; the value alone is
/// a fact) has an allreduce of 16 GiB on four hosts in 87,182 us, and calls it 74 % of the network.
/// A ring sends 1.94 times the vector out of a host, so it is 95 %.
#[test]
fn an_allreduce_that_fills_the_ports_is_as_expected() {
    let log = log("all_reduce", (32, 4), "NVIDIA B200", &[(17_179_869_184, 87_182.0)]);
    let (status, document) = document(&log, &["--system", "p6-b200:4x8"]);
    assert_verdict(&document, "as expected", "NIC", 1.01);
    assert_eq!(status, 0);
    let sentence = document["sentence"].as_str().unwrap();
    assert!(sentence.contains("NIC 47.7 of 50 GB/s = 7.6"), "{sentence}");
}

/// AWS's allreduce of 16 GiB on two P5 has a bus bandwidth of 487 GB/s. The reduction in the switch
/// of a host is the limit; more network ports would not help.
#[test]
fn an_allreduce_in_the_switch_is_bound_by_the_links_of_gpus() {
    let us = 17_179_869_184.0 / 487e3 * 15.0 / 8.0;
    let log = log("all_reduce", (16, 2), "NVIDIA H100 80GB HBM3", &[(17_179_869_184, us)]);
    let (status, document) = document(&log, &["--system", "p5:2x8"]);
    assert_verdict(&document, "as expected", "NVLink or xGMI", 1.10);
    assert_eq!(status, 0);
}

/// Between three partitions of four GB200, a ring sends 1.83 times the vector out of a partition,
/// and the two trees of NCCL 1.5 times: the trees are 1.22 times faster.
#[test]
fn trees_beat_rings_between_three_partitions() {
    let log = log("all_reduce", (12, 3), "NVIDIA GB200", &[(17_179_869_184, 1e5)]);
    let expected = |algorithm: &str| {
        let args = ["--system", "gb200-a4x:3x4", "--algorithm", algorithm];
        document(&log, &args).1["sizes"][0]["expected_us"].as_f64().unwrap()
    };
    let ratio = expected("ring") / expected("tree");
    assert_eq!(expected("tree"), expected("two-tree-allreduce:group=4,segments=2"));
    assert!((ratio / 1.22 - 1.0).abs() < 0.1, "{ratio}");
}

/// Published logs of three systems (results/measured/gpu, with sources and licences) are healthy.
#[test]
fn healthy_logs_are_as_expected() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/measured/gpu/nccl-tests.csv");
    let mut reader = csv::Reader::from_path(file).unwrap();
    let rows: Vec<std::collections::BTreeMap<String, String>> =
        reader.deserialize().collect::<Result<_, _>>().unwrap();
    for (set, system, program, shape, gpu) in [
        ("aws-p4de", "p4de:2x8", "all_reduce", (16, 2), "NVIDIA A100-SXM4-80GB"),
        ("eunomia-b300", "b300:1x8", "all_reduce", (8, 1), "NVIDIA B300"),
        ("google", "a3-ultra:2x8", "all_gather", (16, 2), "NVIDIA H200"),
    ] {
        let own = rows.iter().filter(|row| row["set"] == set && row["system"] == system);
        let own = own.filter(|row| row["algorithm"].is_empty() || set == "google");
        let mut times: Vec<(u64, f64)> = own
            .map(|row| (row["bytes"].parse().unwrap(), row["time_us"].parse().unwrap()))
            .collect();
        times.sort_by_key(|(bytes, _)| *bytes);
        assert!(times.len() > 5, "{set}: {times:?}");
        let (status, document) = document(&log(program, shape, gpu, &times), &["--system", system]);
        let verdict = document["verdict"].as_str().unwrap();
        assert_eq!((status, verdict), (0, "as expected"), "{set}: {document:#}");
    }
}

/// A log without a system gets a question with the systems that have its GPUs.
#[test]
fn a_system_is_proposed_and_never_assumed() {
    let folder = tempfile::tempdir().unwrap();
    let text = log("all_reduce", (16, 2), "NVIDIA H100 80GB HBM3", &[(1 << 20, 100.0)]);
    let (status, output, messages) = explained(folder.path(), &text, &[]);
    assert_eq!((status, output.as_str()), (2, ""));
    assert!(messages.contains("16 ranks on NVIDIA H100 80GB HBM3"), "{messages}");
    assert!(messages.contains("h100-ib:2x8") && messages.contains("p5:2x8"), "{messages}");
    let (status, _, messages) = explained(folder.path(), &text, &["--system", "p5:4x8"]);
    assert_eq!(status, 2);
    assert!(messages.contains("it has 16 ranks, but p5:4x8 has 32"), "{messages}");
}

/// Other texts get a message, and a log of 60 MB, or with CRLF and colours, the right answer.
#[test]
fn any_text_gets_an_answer_or_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let text = log("alltoall", (16, 2), "NVIDIA H100 80GB HBM3", &[(1 << 30, 11_500.0)]);
    let system = ["--system", "p5:2x8"];
    let status_and_message = |text: &str| {
        let (status, _, messages) = explained(folder.path(), text, &system);
        (status, messages)
    };
    for (text, expected) in [
        ("", "expected the output of nccl-tests, rccl-tests, OSU or IMB"),
        ("a letter to my aunt\n", "its format is not recognised"),
        (text.split("  1073741824").next().unwrap(), "it has no measurement"),
    ] {
        let (status, messages) = status_and_message(text);
        assert_eq!(status, 2, "{messages}");
        assert!(messages.contains(expected), "{messages}");
    }
    let plain = explained(folder.path(), &text, &system);
    assert_eq!(plain.0, 0, "{}{}", plain.1, plain.2);
    let coloured = text.replace("11500.00", "\u{1b}[32m11500.00\u{1b}[0m").replace('\n', "\r\n");
    assert_eq!(explained(folder.path(), &coloured, &system), plain);
    let comment = "# NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n";
    let long = comment.repeat(60 * 1024 * 1024 / comment.len()) + &text;
    assert_eq!(explained(folder.path(), &long, &system), plain);
}

/// The threshold file of AMD CVS has, for each program, the least bus bandwidth of sizes, as texts
/// (ROCm/cvs, cvs/input/config_file/rccl/rccl_config.json).
#[test]
fn expected_times_have_four_formats() {
    let expect = |format: &str| {
        let output = swapmeet(&["expect", "--system", "mi300x:2x8", "--collective", "allreduce"])
            .args(["--sizes", "8GiB..16GiB", "--format", format])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&expect("json")).unwrap();
    let bus = json["sizes"][0]["busbw_GBps"].as_f64().unwrap();
    let cvs: Value = serde_json::from_str(&expect("amd-cvs")).unwrap();
    let least = cvs["results"]["all_reduce_perf"]["bus_bw"]["8589934592"].as_str().unwrap();
    assert!((least.parse::<f64>().unwrap() / bus - 0.8).abs() < 0.001, "{least}, {bus}");
    // An excerpt of the public file has the same names and the same types.
    let public: Value = serde_json::from_str(
        r#"{ "results": { "all_reduce_perf": { "bus_bw": { "8589934592": "330.00", "17179869184": "350.00" } } } }"#,
    )
    .unwrap();
    let sizes = |document: &Value| {
        let sizes = document["results"]["all_reduce_perf"]["bus_bw"].as_object().unwrap();
        let is_text = |value: &Value| value.as_str().is_some_and(|v| v.parse::<f64>().is_ok());
        assert!(sizes.values().all(is_text), "{document:#}");
        sizes.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(sizes(&cvs), sizes(&public));
    assert_eq!(expect("csv").lines().count(), 3);
    assert!(expect("table").contains("16GiB"));
}

#[test]
fn a_better_schedule_is_not_one_of_the_library() {
    for (ranks, hosts, name) in [(8, 1, "nvls"), (16, 2, "nvlstree")] {
        let log = log("all_reduce", (ranks, hosts), "NVIDIA H100 80GB HBM3", &[(1 << 30, 4.6e3)]);
        let (_, document) = document(&log, &["--system", &format!("h100-ib:{hosts}x8")]);
        let size = &document["sizes"][0];
        assert_eq!([&size["algorithm"], &size["best_algorithm"]], [name; 2]);
    }
}

#[test]
fn expectations_without_a_time_are_refused() {
    let refused = |system: &str, sizes: &str| {
        let args = ["expect", "--collective", "allreduce", "--system", system, "--sizes", sizes];
        let output = swapmeet(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused("h100-ib:1x1", "1MiB").contains("a collective needs at least two"));
    assert!(refused("h100-ib:1x8", "0").contains("expected a size or a range of at least 1 byte"));
}
