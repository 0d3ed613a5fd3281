//! Jobs that run at the same time (`--beside`, `[[together]]`), and communicators that differ in
//! their members or sizes (`over=file:F`, random sizes).

use crate::support::{
    printed, refused, rows, swapmeet, swapmeet_process, timeless, timeless_rows, words,
};
use serde_json::Value;
use std::path::Path;
use swapmeet_results::{Record, Sink, Status, read_file};
use swapmeet_runner::experiment::Experiment;
use tempfile::tempdir;

const FLUID: &str = "--machine tpu-v5p:model=fluid";
const PAIR: [&str; 6] = [
    "--algorithm",
    "linear",
    "--workload",
    "uniform:1MiB,over=ep",
    "--beside",
    "ring-allreduce allreduce/uniform:4MiB,over=dp",
];

fn pair_on(topology: &str) -> Vec<Record> {
    rows(&[&words(FLUID)[..], &["--topology", topology], &PAIR].concat())
}

fn alone(topology: &str, algorithm: &str, workload: &str) -> Record {
    let case = ["--topology", topology, "--algorithm", algorithm, "--workload", workload];
    rows(&[&words(FLUID)[..], &case].concat()).remove(0)
}

/// The two axes are the two dimensions of the torus, so the jobs use different links.
#[test]
fn jobs_on_different_links_have_the_rows_of_each_alone() {
    let topology = "torus:4x4,mesh=dp:4/ep:4";
    let both = pair_on(topology);
    assert_eq!(both.len(), 2);
    for row in &both {
        let alone = alone(topology, &row.algorithm, &row.workload);
        let expected = Record { together: row.together.clone(), alone_us: None, ..alone };
        assert_eq!(timeless(row), timeless(&expected));
    }
    assert_eq!(both[0].together, "ring-allreduce allreduce/uniform:4MiB,over=dp");
    assert_eq!(both[1].together, "linear uniform:1MiB,over=ep");
}

/// A message of 1000 bytes takes 1000 µs if it has its link for itself. The second job starts after
/// 400 µs, when 600 bytes of the first message are left. From then on, both messages have half of
/// the rate.
#[test]
fn a_job_shares_the_links_from_its_start_on() {
    let line = "--topology ring:4 --machine free:model=fluid,byte_us=1 --algorithm linear \
        --workload broadcast/uniform:1000,over=size:2";
    let beside = ["--beside", "linear broadcast/uniform:1000,over=size:2 start_us=400"];
    let both = rows(&[&words(line)[..], &beside].concat());
    let times = |row: &Record| (row.time_us, row.contention_us);
    assert_eq!(both.iter().map(times).collect::<Vec<_>>(), [(Some(1600.0), Some(600.0)); 2]);
    let job = "linear broadcast/uniform:1000,over=size:2";
    assert_eq!(both[0].together, format!("{job} start_us=400"));
    assert_eq!(both[1].together, format!("{job} start_us=-400"));
}

const EXPERIMENT: &str = r#"
name = "overlap"
topologies = ["torus:4x4,mesh=dp:2/ep:4/dp:2"]
algorithms = ["linear"]
workloads = ["uniform:1MiB,over=ep"]
machines = ["tpu-v5p:model=fluid"]
repetitions = 2

[[together]]
jobs = [
  { workload = "uniform:1MiB,over=ep", algorithms = ["linear", "pairwise"] },
  { workload = "allreduce/uniform:4MiB,over=dp", algorithms = ["ring-allreduce"], start_us = 5 },
]
"#;

/// The column `together` is a part of the identity of a row.
#[test]
fn rows_of_jobs_are_resumed_merged_repeated_and_compared() {
    let dir = tempdir().unwrap();
    let run = |args: &str| swapmeet(&words(args)).current_dir(dir.path()).assert();
    let read = |name: &str| timeless_rows(&dir.path().join(name));
    std::fs::write(dir.path().join("e.toml"), EXPERIMENT).unwrap();
    run("run e.toml --quiet --out all.csv").success();
    assert_eq!(read("all.csv").len(), 2 + 2 * 2 * 2);
    let text = std::fs::read_to_string(dir.path().join("all.csv")).unwrap();
    let first: Vec<&str> = text.lines().take(5).collect();
    std::fs::write(dir.path().join("part.csv"), first.join("\n") + "\n").unwrap();
    run("run e.toml --quiet --out part.csv --resume").success();
    assert_eq!(read("part.csv"), read("all.csv"));
    run("run e.toml --quiet --out 1.csv --shard 1/2").success();
    run("run e.toml --quiet --out 2.csv --shard 2/2").success();
    run("merge 1.csv 2.csv --experiment e.toml --out merged.csv").success();
    assert_eq!(read("merged.csv"), read("all.csv"));
    let again = run("rerun all.csv --all").success();
    let again = String::from_utf8(again.get_output().stdout.clone()).unwrap();
    assert_eq!(again.matches(": the same").count(), 10, "{again}");
    assert!(again.contains("together with linear uniform:1MiB,over=ep start_us=-5"), "{again}");
    let other = EXPERIMENT.replace("start_us = 5", "start_us = 6");
    std::fs::write(dir.path().join("e.toml"), other).unwrap();
    let refused = run("run e.toml --quiet --out all.csv --resume").code(2);
    let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(message.contains("its together is `"), "{message}");
    let table = run("compare all.csv --details").success();
    let table = String::from_utf8(table.get_output().stdout.clone()).unwrap();
    assert!(table.contains("together with ring-allreduce allreduce/uniform:4MiB"), "{table}");
}

#[test]
fn tables_of_jobs_are_saved() {
    let saved = Experiment::parse("e.toml", EXPERIMENT).unwrap().to_toml();
    assert!(saved.contains("start_us = 5"), "{saved}");
    assert_eq!(Experiment::parse("saved.toml", &saved).unwrap().to_toml(), saved);
}

#[test]
fn files_without_the_column_have_no_companions() {
    let dir = tempdir().unwrap();
    let (file, old) = (dir.path().join("rows.csv"), dir.path().join("old.csv"));
    let run = ["run", "--quiet", "--topology", "ring:4", "--algorithm", "linear", "--out"];
    swapmeet(&run).arg(&file).assert().success();
    let text = std::fs::read_to_string(&file).unwrap();
    let without = |line: &str| line.rsplit_once(',').unwrap().0.to_owned() + "\n";
    assert!(text.lines().next().unwrap().ends_with(",together"));
    std::fs::write(&old, text.lines().map(without).collect::<String>()).unwrap();
    assert_eq!(read_file(&old).unwrap(), read_file(&file).unwrap());
}

#[test]
fn the_gain_of_an_overlap_is_printed() {
    let dir = tempdir().unwrap();
    let write = |name: &str, records: &[Record]| {
        let path = dir.path().join(name);
        let mut csv = swapmeet_results::CsvSink::new(std::fs::File::create(&path).unwrap());
        records.iter().for_each(|record| csv.record(record).unwrap());
        csv.finish().unwrap();
        path.to_str().unwrap().to_owned()
    };
    let topology = "torus:4x4,mesh=dp:4/ep:4";
    let both = pair_on(topology);
    let alone = both.iter().map(|row| alone(topology, &row.algorithm, &row.workload));
    let alone: Vec<Record> = alone.collect();
    let (together, apart) = (write("both.csv", &both), write("alone.csv", &alone));
    let table = printed(&["compare", &together, &apart, "--overlap"]);
    // The two jobs take 35.95 and 75.90 µs on different links. One after the other, they would take
    // 111.8 µs.
    let line = "   35.95 µs      75.90 µs  111.8 µs  75.90 µs                1.47";
    assert!(table.contains(line) && table.contains("topology: torus:4x4,mesh"), "{table}");
    let csv = printed(&["compare", &together, &apart, "--overlap", "--format", "csv"]);
    assert!(csv.lines().nth(1).unwrap().contains(",35.949038,75.898074,"), "{csv}");
    let output = swapmeet(&["compare", &together, "--overlap"]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("no time of `linear uniform:1MiB,over=ep` alone on"), "{message}");
    let message = refused(&["compare", &apart, "--overlap"]);
    assert!(message.contains("`run --beside` makes such rows"), "{message}");
}

#[test]
fn jobs_that_cannot_run_together_are_explained() {
    let beside = |machine: &str, job: &str| -> Vec<Record> {
        let line = "--topology ring:4 --algorithm linear --workload uniform:8 --machine";
        rows(&[&words(line)[..], &[machine, "--beside", job]].concat())
    };
    for model in ["wormhole", "circuit", "store-and-forward", "flat", "loggp", "pipelined"] {
        for row in beside(&format!("free:model={model}"), "linear uniform:8") {
            assert_eq!(row.status, Status::Unsupported, "{}", row.reason);
            assert!(row.reason.contains("runs no jobs together"), "{}", row.reason);
        }
    }
    let both = beside("free:model=fluid", "linear uniform:8,over=ep");
    assert_eq!(both[1].reason, format!("`uniform:8,over=ep` {NO_AXES}"));
    let reason = "`linear uniform:8,over=ep`, which runs at the same time: `uniform:8,over=ep`";
    assert_eq!(both[0].reason, format!("{reason} {NO_AXES}"));
    assert!(both.iter().all(|row| row.status == Status::Unsupported));
    let run = "run --topology ring:4 --algorithm linear --beside";
    let message = |job: &str| refused(&[&words(run)[..], &[job]].concat());
    assert!(message("linear").contains("expected an algorithm, a workload and a start"));
    assert!(message("linear uniform:8 5").contains("expected `start_us=T`"));
    assert!(message("linear uniform:8 start_us=1e99").contains("(a day), found `start_us=1e99`"));
    assert!(message("linar uniform:8").contains("did you mean `linear`"));
    assert!(message("linear unifrm:8").contains("did you mean `uniform`"));
}

const NO_AXES: &str = "is over the axis `ep`, but `ring:4` has no axes: name them, as in \
    `mesh=ep:8/other:-1` (4 ranks)";

#[test]
fn mistakes_in_tables_of_jobs_are_marked() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("e.toml");
    let error = |table: &str| {
        std::fs::write(&file, format!("[[together]]\n{table}\n")).unwrap();
        refused(&["run", file.to_str().unwrap()])
    };
    let job = "{ workload = \"uniform:8\", algorithms = [\"linear\"] }";
    assert!(error(&format!("jobs = [{job}]")).contains("the table has less than two jobs"));
    let both = format!("jobs = [{job}, {job}]");
    assert!(error(&both).contains("names no topology, and the experiment lists no topology"));
    let late = job.replace(" }", ", start_us = 1e12 }");
    let late = format!("topologies = [\"ring:4\"]\njobs = [{job}, {late}]");
    assert!(error(&late).contains("its start_us is 1000000000000, expected at most a day"));
    let typo = format!("jobs = [{job}, {{ workload = \"uniform:8\", algorithm = [\"linear\"] }}]");
    assert!(error(&typo).contains("unknown key `algorithm`"), "{}", error(&typo));
}

#[test]
fn a_worker_loads_the_plugins_of_all_jobs() {
    let line = "run --quiet --topology torus:4x4,mesh=dp:4/ep:4 --machine tpu-v5p:model=fluid \
        --out -";
    let run = swapmeet_process(&words(line)).args(PAIR).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert_eq!(text.lines().skip(1).filter(|line| line.contains(",ok,")).count(), 2, "{text}");
}

/// The times are those of two jobs in SMPI of SimGrid 3.32, for a program that calls
/// MPI_Comm_split, MPI_Alltoall and MPI_Allreduce (`fixtures/smpi-jobs.json`, made by
/// `oracles/smpi_jobs.py`). Our times differ from them by less than 0.1 %, with one exception of
/// 1.2 %: an all-to-all of pairs beside a ring that starts later in the same communicators. In this
/// case, the naive simulation of `fluid` gives our time
/// (`collectives_in_the_same_communicators_share_links_as_in_the_oracle`).
#[test]
fn times_of_jobs_agree_with_an_mpi_program_under_smpi() {
    let fixture = include_str!("../../fixtures/smpi-jobs.json");
    let fixture: Value = serde_json::from_str(fixture).unwrap();
    let mut compared = 0;
    for row in fixture["rows"].as_array().unwrap() {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let jobs = row["jobs"].as_array().unwrap();
        let [first, second] = [&jobs[0], &jobs[1]];
        let start = second["start_us"].as_f64().unwrap() - first["start_us"].as_f64().unwrap();
        let of = |job: &Value| [text(&job["algorithm"]), text(&job["workload"])];
        let ([algorithm, workload], other) = (of(first), of(second).join(" "));
        let beside = format!("{other} start_us={start}");
        let (topology, machine) = (text(&row["topology"]), text(&row["machine"]));
        let both = rows(&[
            "--topology",
            &topology,
            "--machine",
            &machine,
            "--algorithm",
            &algorithm,
            "--workload",
            &workload,
            "--beside",
            &beside,
        ]);
        for (ours, theirs) in both.iter().zip(jobs) {
            let expected = theirs["smpi_us"].as_f64().unwrap();
            let error = (ours.time_us.unwrap() / expected - 1.0).abs();
            let is_late_ring = start == 30.0 && algorithm == "pairwise";
            let most = if is_late_ring { 0.012 } else { 0.001 };
            assert!(error < most, "{topology}: {} and {expected}", ours.time_us.unwrap());
            compared += 1;
        }
    }
    assert!(compared >= 2 * 6, "{compared} jobs");
}

fn listed(folder: &Path, lines: &str) -> String {
    let file = folder.join("communicators.txt");
    std::fs::write(&file, lines).unwrap();
    format!("over=file:{}", file.display())
}

#[test]
fn a_file_with_the_communicators_of_an_axis_gives_the_rows_of_the_axis() {
    let dir = tempdir().unwrap();
    let over = listed(dir.path(), "0 1 2 3\n4 5 6 7\n8 9 10 11\n12 13 14 15\n");
    let run = |over: &str| {
        let line = "--topology torus:4x4 --machine tpu-v5p --machine tpu-v5p:model=fluid \
            --algorithm linear --algorithm pairwise --algorithm half-ring";
        let workload = format!("uniform:64KiB,{over}");
        rows(&[&words(line)[..], &["--workload", &workload]].concat())
    };
    for (file, size) in run(&over).iter().zip(run("over=size:4")) {
        let expected =
            Record { workload: file.workload.clone(), inputs: file.inputs.clone(), ..size };
        assert_eq!(timeless(file), timeless(&expected));
    }
}

/// Communicators on different lines of a torus do not disturb each other, in any model.
#[test]
fn unequal_communicators_on_different_links_take_as_long_as_the_slowest() {
    let dir = tempdir().unwrap();
    let machines = "--machine tpu-v5p --machine tpu-v5p:model=fluid --machine \
        tpu-v5p:model=store-and-forward --machine free:model=loggp,latency_us=1,byte_us=0.001";
    let run = |lines: &str| {
        let over = listed(dir.path(), lines);
        let line = format!("--topology torus:4x8 --algorithm ring-allreduce {machines}");
        let workload = format!("allreduce/uniform:840KiB,{over}");
        rows(&[&words(&line)[..], &["--workload", &workload]].concat())
    };
    let together = run("0 1 2 3 4 5 6 7\n8 9 10\n16 24\n");
    let of_each = ["0 1 2 3 4 5 6 7\n", "8 9 10\n", "16 24\n"].map(run);
    for (number, row) in together.iter().enumerate() {
        assert_eq!(row.status, Status::Ok, "{}", row.reason);
        let time = |rows: &Vec<Record>| rows[number].time_us.unwrap();
        // In a model of synchronous steps, step t takes the longest time that step t of any
        // communicator takes.
        let longest = of_each.iter().map(time).fold(0.0, f64::max);
        let is_synchronous = row.first_rank_us.is_none();
        let found = row.time_us.unwrap();
        match is_synchronous {
            true => assert!(found >= longest - 1e-6, "{row:?}"),
            false => assert!((found - longest).abs() < 1e-6, "{found} {longest} {}", row.machine),
        }
        let sum = of_each.iter().map(|rows| rows[number].messages.unwrap()).sum();
        assert_eq!(row.messages, Some(sum));
        assert_eq!((row.communicators, row.members), (Some(3), Some(8)));
        assert!(row.lower_bound_us.unwrap() <= found && row.alone_us.unwrap() <= found);
        assert!((row.alone_us.unwrap() - time(&of_each[0])).abs() < 1e-6, "{}", row.machine);
    }
}

#[test]
fn sizes_are_drawn_for_each_communicator() {
    let sizes = "irregular:dist=lognormal,mean=64KiB,cv=1";
    let run = |topology: &str, workload: &str| {
        let line = "--machine tpu-v5p:model=fluid --algorithm linear";
        let case = ["--topology", topology, "--workload", workload];
        rows(&[&words(line)[..], &case].concat()).remove(0)
    };
    let all = run("torus:4x4,mesh=a:4/b:4", &format!("{sizes},over=b"));
    let first = run("ring:4", sizes);
    assert_eq!((all.communicators, all.members, all.messages), (Some(4), Some(4), Some(4 * 12)));
    assert_eq!(all.alone_us, first.time_us);
    let bytes = all.total_bytes.unwrap();
    assert!(bytes > 3 * first.total_bytes.unwrap() / 2 && bytes != 4 * first.total_bytes.unwrap());
    let one = run("ring:4", &format!("{sizes},over=size:4"));
    assert_eq!((one.time_us, one.total_bytes), (first.time_us, first.total_bytes));
}

/// Each communicator sends the same messages as if it were the only one in the list. The steps of
/// all communicators run together.
#[test]
fn a_trace_has_the_schedules_of_unequal_communicators() {
    let dir = tempdir().unwrap();
    let trace = |lines: &str, flags: &str| {
        let workload = format!("uniform:64,{}", listed(dir.path(), lines));
        let line = "trace --topology torus:4x4 --algorithm pairwise --machine \
            free:model=fluid,startup_us=3,byte_us=0.5";
        printed(&[&words(line)[..], &["--workload", &workload], &words(flags)].concat())
    };
    let json = |lines: &str| -> Value {
        serde_json::from_str(&trace(lines, "--format json --times")).unwrap()
    };
    let lists = ["0 1 2 3", "4 5 6 7", "15 8 12", "9 14"];
    let all = json(&lists.join("\n"));
    let sends = |trace: &Value, communicator: u64| -> Vec<Value> {
        let events = trace["events"].as_array().unwrap().iter().cloned();
        let own = events.filter(|event| event["communicator"] == communicator);
        own.map(|mut send| {
            send["communicator"] = 0.into();
            send
        })
        .collect()
    };
    assert_eq!(all["schedule"]["communicators"][2], serde_json::json!([15, 8, 12]));
    let mut messages = 0;
    for (number, list) in (0..).zip(lists) {
        let of_one = json(list);
        let sent = sends(&all, number);
        assert_eq!(sent, sends(&of_one, 0), "{list}");
        messages += sent.len();
    }
    assert_eq!(all["outcome"]["messages"], messages);
    // Communicator 2 has two steps. Its ranks are active in no other step.
    let times = all["times"].as_array().unwrap().iter().filter(|of| of["rank"] == 12);
    assert_eq!(times.map(|of| of["steps"][1].as_u64().unwrap()).max(), Some(2));
    let text = trace(&lists.join("\n"), "");
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("comm")).collect();
    let expected = [
        "communicators 0 to 1: 4 members each",
        "communicator 2: 3 members",
        "communicator 3: 2 members",
    ];
    assert_eq!(headings, expected, "{text}");
    let of_node = trace(&lists.join("\n"), "--node 14");
    assert!(of_node.starts_with("communicator 3: 2 members"), "{of_node}");
    assert_eq!(of_node.matches("->").count(), 2, "{of_node}");
}

#[test]
fn a_trace_of_drawn_sizes_has_the_bytes_and_the_time_of_the_row() {
    let line = "--topology torus:4x4,mesh=a:4/b:4 --machine tpu-v5p:model=fluid --algorithm linear \
        --workload irregular:dist=uniform,mean=64,cv=0.5,over=a";
    let row = rows(&words(line)).remove(0);
    let trace = [&words("trace --format json --times")[..], &words(line)].concat();
    let trace: Value = serde_json::from_str(&printed(&trace)).unwrap();
    let events = trace["events"].as_array().unwrap().iter();
    let bytes: Vec<u64> = events.filter_map(|event| event["bytes"].as_u64()).collect();
    assert_eq!(bytes.len() as u64, row.messages.unwrap());
    assert_eq!(u128::from(bytes.iter().sum::<u64>()), row.total_bytes.unwrap());
    let ends = trace["times"].as_array().unwrap().iter().map(|of| of["ended"].as_f64().unwrap());
    assert!((ends.fold(0.0, f64::max) - row.time_us.unwrap()).abs() < 1e-6);
}

#[test]
fn communicators_that_a_file_cannot_list_are_explained() {
    let dir = tempdir().unwrap();
    let over = listed(dir.path(), "0 1 2\n3 9\n");
    let workload = format!("uniform:8,{over}");
    let case = ["--topology", "ring:6", "--algorithm", "linear", "--workload", &workload];
    let row = rows(&case).remove(0);
    let why = "lists rank 9, expected numbers from 0 to 5, the ranks of `ring:6`";
    assert!(row.status == Status::Unsupported && row.reason.ends_with(why), "{}", row.reason);
    listed(dir.path(), "0 1 2\n3 4\n");
    let export = swapmeet(&["export", "--format", "goal"]).args(case).assert();
    let message = String::from_utf8_lossy(&export.get_output().stderr).into_owned();
    assert!(message.contains("which only `run`, `trace` and the dashboard support"), "{message}");
    listed(dir.path(), "0 1 x\n");
    let message = refused(&[&["run"], &case[..]].concat());
    assert!(message.contains("line 1: `x` is not a rank, expected a number"), "{message}");
}
