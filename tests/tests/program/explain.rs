//! `explain` and `expect`: verdicts on logs whose right verdict is known.

use crate::support::swapmeet;
use serde_json::Value;
use std::path::Path;

/// Returns a log as nccl-tests writes it, with the times of some sizes in µs.
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

fn explained(folder: &Path, text: &str, args: &[&str]) -> (i32, String, String) {
    let file = folder.join("log.txt");
    std::fs::write(&file, text).unwrap();
    let output = swapmeet(&["explain"]).arg(&file).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn document(text: &str, args: &[&str]) -> (i32, Value) {
    let folder = tempfile::tempdir().unwrap();
    let args = [args, &["--format", "json"]].concat();
    let (status, output, messages) = explained(folder.path(), text, &args);
    (status, serde_json::from_str(&output).unwrap_or_else(|e| panic!("{e}: {output}{messages}")))
}

/// Asserts the verdict, the limit of the largest size, and the ratio of this size within 15 %.
fn assert_verdict(document: &Value, verdict: &str, bound_by: &str, ratio: f64) {
    let size = document["sizes"].as_array().unwrap().last().unwrap();
    assert_eq!((&document["verdict"], &size["bound_by"]), (&verdict.into(), &bound_by.into()));
    let found = size["ratio"].as_f64().unwrap();
    assert!((found / ratio - 1.0).abs() < 0.15, "{found}, expected {ratio}: {document:#}");
}

/// The README of oracle-quickstart/oci-gpu-quickstarts (6a0abdc, README-GB300.md, UPL-1.0) has an
/// all-to-all between two racks of 64 GPUs: 357,610 µs for 16 GiB. Each GPU sends the fraction (n -
/// g)/n of its buffer, 8.6 GB, to the other rack at 24.0 GB/s. This is a quarter of the bandwidth
/// of its ports, because a host has eight ports of 400 Gb/s.
#[test]
fn an_all_to_all_that_uses_a_quarter_of_the_ports_is_low() {
    let log = log("alltoall", (128, 32), "NVIDIA GB300", &[(17_179_869_184, 357_610.0)]);
    let (status, document) = document(&log, &["--system", "gb300-nvl72:2x64"]);
    assert_verdict(&document, "low", "NIC", 0.25);
    assert_eq!((status, &document["collective"]), (1, &"alltoall".into()));
    let usage = document["sizes"][0]["usage"].as_str().unwrap();
    assert_eq!(usage, "NIC 96.1 of 400 GB/s per host = 1.92 of 8 ports");
}

/// A page on P6-B200 (aws-samples/awsome-distributed-training 7217859f, CC BY-SA; the value alone
/// is a fact) has an allreduce of 16 GiB on four hosts. It takes 87,182 µs, which the page calls 74
/// % of the network. A ring sends 1.94 times the vector out of a host, so the value is 95 %.
#[test]
fn an_allreduce_that_fills_the_ports_is_as_expected() {
    let log = log("all_reduce", (32, 4), "NVIDIA B200", &[(17_179_869_184, 87_182.0)]);
    let (status, document) = document(&log, &["--system", "p6-b200:4x8"]);
    assert_verdict(&document, "as expected", "NIC", 1.01);
    assert_eq!(status, 0);
    let sentence = document["sentence"].as_str().unwrap();
    assert!(sentence.contains("NIC 382 of 400 GB/s per host = 7.6"), "{sentence}");
}

/// AWS's allreduce of 16 GiB on two P5 has a bus bandwidth of 487 GB/s. The reduction in the switch
/// of a host limits it, so more network ports would not help.
#[test]
fn an_allreduce_in_the_switch_is_bound_by_the_links_of_gpus() {
    let us = 17_179_869_184.0 / 487e3 * 15.0 / 8.0;
    let log = log("all_reduce", (16, 2), "NVIDIA H100 80GB HBM3", &[(17_179_869_184, us)]);
    let (status, document) = document(&log, &["--system", "p5:2x8"]);
    assert_verdict(&document, "as expected", "NVLink or xGMI", 1.10);
    assert_eq!(status, 0);
}

/// Between three partitions of four GB200, a ring sends 1.83 times the vector out of a partition.
/// The two trees of NCCL send 1.5 times the vector, so they are 1.22 times faster.
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

/// Logs of three systems that were published as healthy (results/measured/gpu, with sources and
/// licences).
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
    let mebibytes = if swapmeet_tests::runs_all() { 60 } else { 2 };
    let long = comment.repeat(mebibytes * 1024 * 1024 / comment.len()) + &text;
    assert_eq!(explained(folder.path(), &long, &system), plain);
}

/// The threshold file of AMD CVS has the smallest accepted bus bandwidth for each size, as texts
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
    // This excerpt of the public file has the same names and types.
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

/// A host that uses four of its eight GPUs uses four of its eight ports. Half of the 1 GiB of each
/// GPU leaves the host: 512 MiB in 22.5 ms are 23.9 GB/s.
#[test]
fn the_ports_are_those_of_the_gpus_in_use() {
    let log = log("alltoall", (8, 2), "NVIDIA H100 80GB HBM3", &[(1 << 30, 22_500.0)]);
    let (_, document) = document(&log, &["--system", "h100-ib:2x4"]);
    let usage = document["sizes"][0]["usage"].as_str().unwrap();
    assert_eq!(usage, "NIC 95.4 of 200 GB/s per host = 1.91 of 4 ports");
}

#[test]
fn a_size_without_a_time_is_named_in_the_output() {
    let times = [(1 << 20, 0.0), (1 << 30, 11_500.0)];
    let log = log("alltoall", (16, 2), "NVIDIA H100 80GB HBM3", &times);
    let (_, document) = document(&log, &["--system", "p5:2x8"]);
    let expected = "line 21: 1MiB is left out: its time is 0.00 µs, expected more than 0";
    assert_eq!(document["remarks"][0], expected);
    assert_eq!(document["sizes"].as_array().unwrap().len(), 1);
}

fn in_groups(log: &str, group: impl Fn(u64) -> u64) -> String {
    let line = |line: &str| match line.strip_prefix("#  Rank ") {
        Some(rest) => {
            let rank = rest.split_whitespace().next().unwrap().parse().unwrap();
            line.replace("Group  0", &format!("Group {:2}", group(rank)))
        }
        None => line.to_owned(),
    };
    log.lines().map(|text| line(text) + "\n").collect()
}

/// `MOD 8` gives eight communicators of two ranks. A ring of two ranks sends 2(n - 1)/n S = S
/// through the port of each GPU: 1 GiB at 98 % of 50 GB/s takes 21.9 ms. On an H100 host, each GPU
/// has its own port, so `time/alone` is 1. On p4de, two GPUs share a port of 12.5 GB/s, so
/// `time/alone` is 2.
#[test]
fn communicators_of_one_gpu_of_each_host_share_ports_only_if_ports_are_scarce() {
    for (system, gpu, us, factor) in [
        ("h100-ib:2x8", "NVIDIA H100 80GB HBM3", 21_913.0, 1.0),
        ("p4de:2x8", "NVIDIA A100-SXM4-80GB", 175_304.0, 2.0),
    ] {
        let log = log("all_reduce", (16, 2), gpu, &[(1 << 30, us)]);
        let (status, document) = document(&in_groups(&log, |rank| rank % 8), &["--system", system]);
        assert_verdict(&document, "as expected", "NIC", 1.0);
        let number = |key: &str| document[key].as_u64().unwrap();
        let [communicators, members] = ["communicators", "members"].map(number);
        assert_eq!((status, communicators, members, number("ranks")), (0, 8, 2, 16));
        let size = &document["sizes"][0];
        let times = ["expected_us", "alone_us"].map(|key| size[key].as_f64().unwrap());
        assert!((times[0] / times[1] - factor).abs() < 0.02, "{system}: {times:?}");
        let remark = format!("time/alone at 1GiB: {factor:.2}; the 8 communicators ");
        let remarks = document["remarks"].as_array().unwrap();
        assert!(
            remarks.iter().any(|text| text.as_str().unwrap().starts_with(&remark)),
            "{remarks:?}"
        );
    }
}

/// `DIV 8` gives a communicator for each host. Such a communicator uses the reduction in the switch
/// of the host.
#[test]
fn communicators_in_a_host_are_expected_as_a_host_alone() {
    let times = [(1 << 20, 60.0), (1 << 30, 4_600.0)];
    let log_of = |shape| log("all_reduce", shape, "NVIDIA H100 80GB HBM3", &times);
    let divided = in_groups(&log_of((16, 2)), |rank| rank / 8);
    let (_, of_two) = document(&divided, &["--system", "h100-ib:2x8,floor_us=35"]);
    let (_, of_one) = document(&log_of((8, 1)), &["--system", "h100-ib:1x8"]);
    for index in 0..2 {
        let size = |document: &Value| {
            let size = &document["sizes"][index];
            (size["algorithm"].clone(), size["expected_us"].clone(), size["usage"].clone())
        };
        assert_eq!(size(&of_two), size(&of_one));
    }
    assert_eq!(of_two["sizes"][1]["algorithm"], "nvls");
    assert_eq!(of_two["over"], "size:8");
}

/// IMB prints the size of a block. If it is 64 MiB for each of four ranks, the buffer has 256 MiB.
#[test]
fn groups_of_imb_are_recognised_and_others_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let multi = "\
# Benchmarking Multi-Alltoall 
# ( 2 groups of 4 processes each running simultaneous ) 
# Group  0:     0    1    2    3
# Group  1:     4    5    6    7
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
     67108864         1000      4000.00      6000.00      5000.00
";
    let (_, document) = document(multi, &["--system", "h100-ib:2x4"]);
    assert_eq!((&document["over"], &document["members"]), (&"size:4".into(), &4.into()));
    assert_eq!(document["sizes"][0]["bytes"], 268_435_456);
    let log = log("all_gather", (8, 2), "NVIDIA H100 80GB HBM3", &[(1 << 30, 12_500.0)]);
    let pairs = in_groups(&log, |rank| [0, 1, 2, 3, 3, 2, 1, 0][rank as usize]);
    let refused = |args: &[&str]| {
        let args = [args, &["--system", "h100-ib:2x4"]].concat();
        let (status, _, messages) = explained(folder.path(), &pairs, &args);
        assert_eq!(status, 2, "{messages}");
        messages
    };
    assert!(refused(&[]).contains("name their axes, as in `--mesh node:-1/gpu:8 --over node`"));
    let message = refused(&["--mesh", "node:2/gpu:4", "--over", "node"]);
    assert!(
        message.contains("its ranks 0, 7 are a communicator, but those over `node`"),
        "{message}"
    );
    let ring = in_groups(&log, |rank| rank % 4);
    let args = ["--system", "h100-ib:2x4,mesh=node:2/gpu:4", "--over", "node"];
    let (status, _, messages) = explained(folder.path(), &ring, &args);
    assert_eq!(status, 0, "{messages}");
}

/// In NVIDIA/nccl#1453, an allreduce of three computers is slow only if they are in different
/// racks, and the cause was outside of NCCL. NCCL itself expected 86.07 ms by Ring/Simple. So it
/// had found both ports (2 x 200 Gb/s).
#[test]
fn nccls_own_expectation_is_a_second_opinion() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/explain/nccl-1453.log");
    let log = std::fs::read_to_string(file).unwrap();
    let args = ["--system", "h100-ib:3x8", "--collective", "allreduce"];
    let (status, found) = document(&log, &args);
    assert_eq!((status, &found["verdict"]), (1, &"low".into()));
    let sizes = found["sizes"].as_array().unwrap();
    let nccl = |index: usize| {
        let nccl = &sizes[index]["nccl"];
        let text = |key: &str| nccl[key].as_str().unwrap().to_owned();
        (nccl["expected_us"].as_f64().unwrap(), text("algorithm"), text("protocol"))
    };
    let expected = [
        (25.229_528, "tree", "LL"),
        (51.603_912, "tree", "LL128"),
        (86_069.968_75, "ring", "Simple"),
    ];
    for (index, (us, algorithm, protocol)) in expected.into_iter().enumerate() {
        assert_eq!(nccl(index), (us, algorithm.to_owned(), protocol.to_owned()));
    }
    assert_eq!(sizes[2]["measured_us"], 3_300_068.0);
    let remarks = found["remarks"].to_string();
    for expected in [
        "at 8GiB, the speed is 0.0261 of what NCCL expects (86.07 ms ring/Simple): it also finds the time low",
        "NCCL expects longer times than we do: 8GiB (2.4 times)",
        "NCCL's choice takes longer than its best algorithm at 8GiB (ring, 1.3 times)",
    ] {
        assert!(remarks.contains(expected), "{expected}: {remarks}");
    }
    let folder = tempfile::tempdir().unwrap();
    for (format, cell) in
        [("text", " 86.07 ms ring/Simple"), ("markdown", "| 86.07 ms ring/Simple |")]
    {
        let args = [&args[..], &["--format", format]].concat();
        let (_, output, _) = explained(folder.path(), &log, &args);
        assert!(output.contains(cell) && output.contains("NCCL"), "{output}");
    }
    let damaged = format!(
        "{}h:1:2 [0] NCCL INFO   Algorithm   |                            Tr",
        log.replace('\n', "\r\n")
    );
    assert_eq!(document(&damaged, &args), (status, found));
}

/// The table is that of NVIDIA/nccl#1519, for two a3-megagpu-8g, of which NCCL used one port. By
/// NCCL's own model, a gather of 1 GiB at 21.3 GB/s takes 50.5 ms. The measured time was invented
/// to agree with this model.
#[test]
fn a_low_time_that_nccl_expects_shows_missing_ports() {
    let table = "\
nathan-h100-1:14492:14605 [0] NCCL INFO NCCL version 2.23.4+cuda12.6
nathan-h100-1:14492:14605 [0] NCCL INFO   Algorithm   |                            Tree                  |                            Ring                  |                   CollNetDirect                  |
nathan-h100-1:14492:14605 [0] NCCL INFO   Protocol    |             LL |          LL128 |         Simple |             LL |          LL128 |         Simple |             LL |          LL128 |         Simple |
nathan-h100-1:14492:14605 [0] NCCL INFO  Max NThreads |            512 |            640 |            512 |            512 |            640 |            512 |              0 |              0 |            640 |
nathan-h100-1:14492:14605 [0] NCCL INFO     AllGather |     0.0/   0.0 |     0.0/   0.0 |     0.0/   0.0 |    23.3/   5.3 |    44.6/   0.0 |    70.0/  21.3 |     5.6/   0.0 |     5.6/   0.0 |    44.0/   0.0 |
";
    let log = log("all_gather", (16, 2), "NVIDIA H100 80GB HBM3", &[(1 << 30, 52_000.0)]);
    let (status, document) = document(&format!("{table}{log}"), &["--system", "a3-mega:2x8"]);
    assert_eq!((status, &document["verdict"]), (1, &"low".into()));
    let nccl = &document["sizes"][0]["nccl"];
    let us = nccl["expected_us"].as_f64().unwrap();
    assert!((us - (70.0 + (1 << 30) as f64 / 21.3e3)).abs() < 1e-6, "{us}");
    assert_eq!(nccl["is_printed"], false);
    let remarks = document["remarks"].to_string();
    let expected = "50.48 ms ring/Simple, 21.3 GB/s in its table): it expects no more, so NCCL did not find all links";
    assert!(remarks.contains(expected), "{remarks}");
}

/// The factors of RCCL and of old releases of NCCL are unknown, so there is no opinion. A variable
/// can permit a single algorithm.
#[test]
fn a_log_can_lack_an_opinion_and_permit_one_algorithm() {
    let log = log("all_reduce", (16, 2), "NVIDIA H100 80GB HBM3", &[(1 << 30, 5_600.0)]);
    let table = "\
h:1:2 [0] NCCL INFO Latency/AlgBw |    Tree/    LL |    Ring/Simple |
h:1:2 [0] NCCL INFO     AllReduce |    25.0/   2.0 |    90.0/  90.0 |
";
    let remarks = |first: &str| {
        let text = format!("{first}\n{table}{log}");
        document(&text, &["--system", "h100-ib:2x8"]).1["remarks"].to_string()
    };
    let found = remarks("NCCL version 2.8.3+cuda11.0");
    assert!(found.contains("the factors of NCCL 2.8 are unknown"), "{found}");
    let found = remarks("RCCL version 2.20.5+hip6.2");
    assert!(found.contains("RCCL multiplies the bandwidths of its table"), "{found}");
    let text = format!("h:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n{log}");
    let (_, forced) = document(&text, &["--system", "h100-ib:2x8"]);
    assert_eq!(forced["sizes"][0]["algorithm"], "ring");
    assert!(forced["remarks"][0].as_str().unwrap().starts_with("NCCL_ALGO permits only ring"));
    let (_, named) = document(&text, &["--system", "h100-ib:2x8", "--algorithm", "nvlstree"]);
    assert_eq!(named["sizes"][0]["algorithm"], "nvlstree");
}

/// nccl-tests#319 has a bus bandwidth of 44.27 GB/s on two hosts with eight ports each, whatever
/// the size. This is the bandwidth of one port.
#[test]
fn a_low_bus_bandwidth_is_a_number_of_ports() {
    let times = [(1 << 30, 45_390.0), (1 << 34, 727_698.0)];
    let log = log("all_reduce", (16, 2), "NVIDIA H100 80GB HBM3", &times);
    let (status, document) = document(&log, &["--system", "h100-ib:2x8"]);
    assert_eq!((status, &document["verdict"]), (1, &"low".into()));
    let expected = "a ring would reach the bus bandwidth of 16GiB, 44.3 GB/s, with 0.89 of the 8 network ports of a domain";
    let remarks = document["remarks"].as_array().unwrap();
    assert!(remarks.iter().any(|remark| remark == expected), "{remarks:?}");
}

/// NVIDIA/nccl#1368 has five hosts with eight H100 and four ports of 400 Gb/s, on which a ring has
/// a bus bandwidth of 190 GB/s: 95 % of the ports.
#[test]
fn hosts_can_have_other_ports_than_the_system() {
    let us = (1 << 30) as f64 / 190e3 * 2.0 * 39.0 / 40.0;
    let log = log("all_reduce", (40, 5), "NVIDIA H100 80GB HBM3", &[(1 << 30, us)]);
    let text = format!("mpirun -np 40 -x NCCL_ALGO=Ring ./all_reduce_perf\n{log}");
    let (status, document) = document(&text, &["--system", "h100-ib:5x8,nics=4"]);
    assert_verdict(&document, "as expected", "NIC", 0.97);
    assert_eq!(status, 0);
    assert_eq!(document["sizes"][0]["usage"], "NIC 190 of 200 GB/s per host = 3.80 of 4 ports");
}

/// The times are those of an MPI library (openucx/ucx#10552), so the smallest time of NCCL does not
/// apply to them.
#[test]
fn small_sizes_of_mpi_are_not_judged() {
    let log = "\
# OSU MPI-CUDA All-to-All Personalized Exchange Latency Test v7.4
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1                       6.47              6.36              6.64        1000
4096                  104.60            104.06            104.95        1000
";
    let (_, found) = document(log, &["--system", "h100-ib:4x1"]);
    assert_eq!((&found["verdict"], &found["sizes"][1]["bytes"]), (&"none".into(), &16_384.into()));
    assert!(found["remarks"].to_string().contains("the log is of an MPI library"), "{found:#}");
    let (_, of_nccl) = document(&log.replace("MPI-CUDA", "NCCL"), &["--system", "h100-ib:4x1"]);
    assert_eq!(of_nccl["verdict"], "low");
}

fn rows(bytes_of_count: u64, operation: &str, factor: f64, times: &[(u64, f64)]) -> String {
    let header = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n";
    let row = |(bytes, us): &(u64, f64)| {
        let algbw = *bytes as f64 / us / 1e3;
        let half = format!("{us:.2} {algbw:7.2} {:7.2}", algbw * factor);
        let in_place = if operation == "none" { "N/A" } else { "0" };
        let count = bytes / bytes_of_count;
        format!("  {bytes} {count} float {operation} -1 {half} 0 {half} {in_place}\n")
    };
    header.to_owned() + &times.iter().map(row).collect::<String>()
}

/// nccl-tests#232 and #78 have tables of several runs in one text. The mean of an allreduce and of
/// an all-to-all would be the time of neither run.
#[test]
fn two_tables_are_judged_on_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let devices = |hosts: u64, label: &str| {
        let line = |host: u64| {
            format!(
                "{label}#  Rank  {host} Group  0 Pid 1 on  node{host} device  0 [0x1b] NVIDIA H100 80GB HBM3\n"
            )
        };
        format!("{label}# nThread 1 nGpus 1\n{label}# Using devices\n")
            + &(0..hosts).map(line).collect::<String>()
    };
    let reduced = rows(4, "sum", 1.0, &[(1 << 30, 22_000.0)]);
    let exchanged = rows(8, "none", 0.5, &[(1 << 30, 60_000.0)]);
    let labelled: String = exchanged.lines().map(|line| format!("0: {line}\n")).collect();
    let text =
        devices(2, "") + &reduced + "# Avg bus bandwidth : 1\n\n" + &devices(2, "0: ") + &labelled;
    let (status, found) = document(&text, &["--system", "h100-ib:2x1"]);
    let runs = found["runs"].as_array().unwrap();
    let of = |run: &Value| {
        let text = |key: &str| run[key].as_str().unwrap().to_owned();
        let time = run["sizes"][0]["measured_us"].as_f64().unwrap();
        (
            text("collective"),
            text("verdict"),
            time,
            run["first_line"].as_u64(),
            run["last_line"].as_u64(),
        )
    };
    let expected = [
        ("allreduce".to_owned(), "as expected".to_owned(), 22_000.0, Some(1), Some(7)),
        ("alltoall".to_owned(), "low".to_owned(), 60_000.0, Some(9), Some(14)),
    ];
    assert_eq!((status, runs.iter().map(of).collect::<Vec<_>>()), (1, expected.to_vec()));
    let (_, output, _) = explained(folder.path(), &text, &["--system", "h100-ib:2x1"]);
    assert!(output.contains("run 2: lines 9 to 14, 2 ranks"), "{output}");
    // The healthy run alone passes. The other one has too many ranks for the system.
    let wider = text.replace("0: #  Rank  1", "0: #  Rank  2 on\n0: #  Rank  1");
    let (status, found) = document(&wider, &["--system", "h100-ib:2x1"]);
    assert_eq!((status, &found["runs"][0]["verdict"]), (0, &"as expected".into()));
    let why = found["runs"][1]["left_out"].as_str().unwrap();
    assert!(why.contains("it has 3 ranks, but h100-ib:2x1 has 2 (line 1"), "{why}");
    let wrong = text
        .replace("32.24 0 ", "32.24 5 ")
        .replace(" 8.95 0 ", " 8.95 5 ")
        .replace("    8.95 0", "    8.95 5");
    assert_eq!(document(&wrong, &["--system", "h100-ib:2x1"]).0, 1);
    let (status, _, messages) = explained(folder.path(), &text, &[]);
    assert_eq!(status, 2);
    assert!(
        messages.contains("run 1, lines 1 to 7: the system is unknown: the log has 2 ranks"),
        "{messages}"
    );
}

/// One message asks for everything that is missing. What contradicts the rows is refused.
#[test]
fn rows_contradict_a_wrong_collective_and_a_wrong_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str, args: &[&str], expected: &[&str]| {
        let (status, _, messages) = explained(folder.path(), text, args);
        assert_eq!(status, 2, "{messages}");
        expected.iter().for_each(|part| assert!(messages.contains(part), "{part}: {messages}"));
    };
    let exchanged = rows(16, "none", 0.75, &[(1 << 30, 30_000.0)]);
    let both = exchanged.replace("N/A", "0");
    let ask = "line 2: its collective is unknown: name it with --collective, expected allgather or alltoall";
    refused(&both, &[], &[ask, "the log has 4 ranks and names no GPU", "NAME:NxM"]);
    let contradiction = "line 2: its rows are not those of `--collective allreduce`: the row has no operation, its size is 4 times that of its count";
    refused(&both, &["--system", "h100-ib:2x2", "--collective", "allreduce"], &[contradiction]);
    let ranks = "it has 4 ranks, but h100-ib:2x4 has 8 (line 2: the row has no operation, its size is 4 times";
    refused(&exchanged, &["--system", "h100-ib:2x4"], &[ranks]);
    let (_, found) = document(&exchanged, &["--system", "h100-ib:2x2"]);
    assert_eq!(found["collective"], "alltoall");
    let reduced = rows(4, "sum", 1.875, &[(1 << 30, 5_600.0)]);
    assert_eq!(document(&reduced, &["--system", "h100-ib:2x8"]).1["collective"], "allreduce");
    refused(
        &reduced,
        &["--system", "h100-ib:2x4"],
        &["it has 16 ranks, but h100-ib:2x4 has 8 (line 2"],
    );
    let gpus = log("all_reduce", (16, 2), "NVIDIA H100 80GB HBM3", &[(1 << 30, 5_600.0)]);
    refused(&gpus, &[], &["h100-ib:2x8 (H100, 8 ports of 400 Gb/s InfiniBand)", "with nics=K"]);
    let own = ["docs/gpu.md, `Your own cluster`", "nics="];
    refused(&gpus, &["--system", "mine:2x8"], &own);
    refused(&gpus, &["--system", "h100:2x8"], &[own[0], own[1], "`h100-ib`"]);
}

fn has_remark(document: &Value, text: &str) -> bool {
    let remarks = document["remarks"].as_array().unwrap();
    remarks.iter().any(|remark| remark.as_str().unwrap().contains(text))
}

/// The time is that of a ring on two hosts which uses two of four ports of 12.5 GB/s, at 98 % of
/// their bandwidth. It follows from the bytes of a ring, 2(n - 1)/n of the vector.
#[test]
fn a_low_time_names_the_ports_that_explain_it() {
    let us = |ports: f64| (1_u64 << 33) as f64 * 1.875 / (ports * 12.25e3);
    let of = |ports: f64, line: &str| {
        let log = log("all_reduce", (16, 2), "NVIDIA A100-SXM4-80GB", &[(1 << 33, us(ports))]);
        let text = format!("{line}\n{log}");
        document(&text, &["--system", "p4de:2x8", "--algorithm", "ring"]).1
    };
    let two = of(2.0, "mpirun -x NCCL_IB_HCA=mlx5_0,mlx5_1 x");
    assert!(
        has_remark(&two, "next: this is what 2 of the 4 ports of a domain would give"),
        "{two:#}"
    );
    assert!(
        has_remark(&two, "NCCL_IB_HCA names 2 ports, but the GPUs of a host have 4"),
        "{two:#}"
    );
    assert!(has_remark(&two, "NCCL_DEBUG_SUBSYS=INIT,ENV,TUNING"), "{two:#}");
    let sentence = two["sentence"].as_str().unwrap();
    let expected = "the NIC should limit; 0.49 of its rate was reached (24.5 of 50 GB/s per host = 1.96 of 4 ports)";
    assert!(sentence.contains(expected), "{sentence}");
    let slow = of(0.2, "");
    assert!(
        has_remark(&slow, "even 1 port of the 4 of a domain would be 5.0 times as fast"),
        "{slow:#}"
    );
    let inside = log("all_reduce", (8, 1), "NVIDIA H100 80GB HBM3", &[(1 << 33, 1e6)]);
    let (_, inside) = document(&inside, &["--system", "h100-ib:1x8"]);
    assert!(has_remark(&inside, "all ranks are in one domain: check NVLink or xGMI"), "{inside:#}");
}

/// In nccl-tests#290, each host has one GPU, and the user assumes four ports.
#[test]
fn a_gpu_reaches_one_port_at_full_rate() {
    let log = log("all_reduce", (2, 2), "NVIDIA H100 80GB HBM3", &[(1 << 30, 22_500.0)]);
    let (status, found) = document(&log, &["--system", "h100-ib:2x1,nics=4"]);
    assert_eq!((status, &found["verdict"]), (0, &"none".into()));
    let sentence = found["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("0.97 of that with one port for each GPU")
            || sentence.contains("0.98 of that"),
        "{sentence}"
    );
    assert!(
        has_remark(&found, "a domain has 1 GPU and 4 ports: a GPU normally reaches one port"),
        "{found:#}"
    );
    assert!(has_remark(&found, "4 GPUs in each domain would give"), "{found:#}");
    let slow = log.replace("22500.00", "222500.00");
    assert_eq!(document(&slow, &["--system", "h100-ib:2x1,nics=4"]).0, 1);
    let args = ["expect", "--system", "h100-ib:2x1,nics=4", "--collective", "allreduce"];
    let output = swapmeet(&args).args(["--sizes", "1GiB"]).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(messages.contains("warning: a domain has 1 GPU and 4 ports"), "{messages}");
}

#[test]
fn remarks_fit_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let of = |times: &[(u64, f64)], system: &str| {
        let log = log("all_reduce", (16, 2), "NVIDIA H100 80GB HBM3", times);
        explained(folder.path(), &log, &["--system", system])
    };
    let us = |bytes: u64, busbw: f64| bytes as f64 * 1.875 / busbw / 1e3;
    let falling = [(1 << 28, us(1 << 28, 166.0)), (1 << 29, us(1 << 29, 144.0))];
    let (status, output, _) = of(&falling, "h100-ib:2x8,nics=4");
    assert_eq!(status, 1, "{output}");
    for expected in [
        "a larger size is slower per byte: 512MiB (144.00 GB/s after 166.00 GB/s at 256MiB)",
        "h100-ib is data sheet only",
        "nics=4 is yours",
        "limits the expected run",
        "expected busbw",
    ] {
        assert!(output.contains(expected), "{expected}: {output}");
    }
    for wrong in ["floor:", "no schedule is faster", "below 64 MiB"] {
        assert!(!output.contains(wrong), "{wrong}: {output}");
    }
    let (status, output, _) = of(&[(1 << 20, 500.0)], "p5:2x8");
    assert_eq!(status, 0);
    assert!(
        output.contains("the exit status is 0, because only sizes from 64MiB fail"),
        "{output}"
    );
    assert!(
        output.contains("below 64 MiB, half and twice the predicted time are normal"),
        "{output}"
    );
    assert!(!output.contains("data sheet") && !output.contains("is yours"), "{output}");
}
