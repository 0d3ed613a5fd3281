//! The program as its users run it: what goes to which stream, exit statuses, and what bad input gets.

#![expect(clippy::unwrap_used, reason = "helpers of tests: a failure here is a failed test")]

use predicates::prelude::*;
use swapmeet_results::{Status, Verified, columns, read_records};
use swapmeet_tests::{project, rows, swapmeet};

/// What the program says on stderr, with exit status 2, when run with these arguments.
fn refused(args: &[&str]) -> String {
    let output = swapmeet(args).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty(), "data only on stdout");
    String::from_utf8(output.stderr).unwrap()
}

fn refused_run(topology: &str, algorithm: &str, workload: &str, machine: &str) -> String {
    refused(&["run", "--topology", topology, "--algorithm", algorithm, "--workload", workload, "--machine", machine])
}

#[test]
fn bad_specs_are_shown_with_the_spot_and_what_was_expected() {
    insta::assert_snapshot!(refused_run("torus:16x0", "gen", "uniform:1", "paragon"), @r"
         × --topology: dimension 2 is 0, expected a whole number from 1 on
          ╭─[--topology:1:10]
        1 │ torus:16x0
          ·          ┬
          ·          ╰── here
          ╰────
        ");
    insta::assert_snapshot!(refused_run("tours:16x16", "gen", "uniform:1", "paragon"), @r"
         × --topology: unknown name `tours`
          ╭─[--topology:1:1]
        1 │ tours:16x16
          · ──┬──
          ·   ╰── here
          ╰────
         help: did you mean `torus`?
        ");
    insta::assert_snapshot!(refused_run("torus:4x4", "suhshin", "uniform:1", "paragon"), @r"
         × --algorithm: unknown algorithm `suhshin`
          ╭─[--algorithm:1:1]
        1 │ suhshin
          · ───┬───
          ·    ╰── here
          ╰────
         help: did you mean `suh-shin`?
        ");
    insta::assert_snapshot!(refused_run("torus:4x4", "gen:slices=8", "uniform:1", "paragon"), @r"
         × --algorithm: `gen` has no parameter `slices`
          ╭─[--algorithm:1:5]
        1 │ gen:slices=8
          ·     ───┬──
          ·        ╰── here
          ╰────
         help: `gen` takes no parameters
        ");
    insta::assert_snapshot!(refused_run("torus:4x4", "gen", "uniform:4KB", "paragon"), @r"
         × --workload: expected a size such as 64, 64B, 4KiB or 1MiB: sizes count in powers of 1024, write KiB, found `4KB`
          ╭─[--workload:1:9]
        1 │ uniform:4KB
          ·         ─┬─
          ·          ╰── here
          ╰────
        ");
    insta::assert_snapshot!(refused_run("torus:4x4", "gen", "uniform:1", "paragon:startup_us=-1"), @r"
         × --machine: startup_us: expected microseconds, a number from 0 to 86400000000, found `-1`
          ╭─[--machine:1:20]
        1 │ paragon:startup_us=-1
          ·                    ─┬
          ·                     ╰── here
          ╰────
        ");
    insta::assert_snapshot!(refused_run("torus:99999x99999", "gen", "uniform:1", "paragon"), @r"
         × --topology: over 2147483648 nodes, which is the most a topology may have
          ╭─[--topology:1:7]
        1 │ torus:99999x99999
          ·       ─────┬─────
          ·            ╰── here
          ╰────
        ");
}

#[test]
fn missing_things_are_asked_for() {
    insta::assert_snapshot!(refused(&["run"]), @r"error: nothing to run: give --topology (such as `--topology torus:16x16`), or an experiment file that lists some");
    insta::assert_snapshot!(refused(&["run", "--topology", "ring:4"]), @r"error: nothing to run: give --algorithm (such as `--algorithm suh-shin`), or an experiment file that lists some");
    insta::assert_snapshot!(refused(&["run", "no-such-file.toml"]), @r"error: no-such-file.toml: can't be read: No such file or directory (os error 2)");
    assert!(refused(&["run", "--plugin-dir", "no-such-folder"]).contains("nothing to run"));
    assert!(
        refused(&["run", "--topology", "ring:4", "--algorithm", "gen", "--plugin-dir", "no-such-folder"])
            .contains("no-such-folder")
    );
    assert!(refused(&["run", "--repetitions", "0"]).contains("--repetitions"));
    assert!(refused(&["run", "--timeout", "-3"]).contains("--timeout"));
    assert!(refused(&["reproduce", "suhshin"]).contains("did you mean `suh-shin`?"));
}

/// What the program says of an experiment file with this content.
fn refused_file(content: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("e.toml"), content).unwrap();
    let output = swapmeet(&["run", "e.toml"]).current_dir(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_time_limit_is_the_same_in_a_file_and_in_a_flag() {
    let expected = "expected a number of seconds above 0, at most 1000000000";
    for bad in ["1e300", "1e18", "0", "-1", "inf", "nan"] {
        let content = format!("topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\ntimeout_secs = {bad}\n");
        let said = refused_file(&content);
        assert!(said.contains(&format!("e.toml:3:16: {expected}, found {bad}")), "{said}");
        let said = refused(&["run", "--topology", "ring:4", "--algorithm", "gen", "--timeout", bad]);
        assert!(said.contains(expected), "{said}");
    }
    let fine = rows(&["--topology", "ring:4", "--algorithm", "gen", "--timeout", "1e9"]);
    assert_eq!(fine[0].status, Status::Ok);
}

#[test]
fn more_cases_than_can_be_held_are_refused_before_anything_is_looked_up() {
    let args =
        ["run", "--topology", "ring:4", "--topology", "ring:5", "--algorithm", "no-such", "--repetitions", "5000000"];
    insta::assert_snapshot!(refused(&args), @r"
         × the experiment: its lists multiply to 10000000 cases, expected at most 1000000
          ╭─[the experiment:1:1]
        1 │ 2 topologies x 5000000 repetitions
          · ─────────────────┬────────────────
          ·                  ╰── here
          ╰────
         help: make several experiments of it, each with a file of rows of its own
        ");
    let most = ["run", "--topology", "ring:4", "--algorithm", "no-such", "--repetitions", "1000000"];
    assert!(refused(&most).contains("unknown algorithm"));
}

#[test]
fn dual_nets_within_dual_nets_without_end_are_refused_at_the_ninth() {
    let nested = format!("{}ring:1{}", "rdn:1(".repeat(60_000), ")".repeat(60_000));
    let said = refused_file(&format!("topologies = [\"{nested}\"]\nalgorithms = [\"gen\"]\n"));
    assert!(
        said.contains("e.toml:1:69: topology: a parenthesis within 8 others, expected at most 8 within one another")
    );
}

#[test]
fn files_without_end_are_refused() {
    let said = refused_run("ring:4", "gen", "matrix:/dev/zero", "paragon");
    assert!(said.contains("--workload: is a folder or a device, expected a file of sizes"), "{said}");
    assert_eq!(refused(&["run", "/dev/zero"]), "error: /dev/zero: holds more than 16MiB, expected an experiment\n");
    assert!(refused(&["run", "/"]).starts_with("error: /: can't be read: "));
}

#[test]
fn a_mistake_in_an_experiment_file_is_shown_on_its_line() {
    insta::assert_snapshot!(refused_file("name = \"x\"\ntopologees = [\"ring:4\"]\n"), @r#"
         × e.toml:2:1: unknown key `topologees`
          ╭─[e.toml:2:1]
        1 │ name = "x"
        2 │ topologees = ["ring:4"]
          · ─────┬────
          ·      ╰── here
          ╰────
         help: did you mean `topologies`?
        "#);
    insta::assert_snapshot!(refused_file("topologies = [\"ring:4\", \"torus:4x\"]\nalgorithms = [\"gen\"]\n"), @r#"
         × e.toml:1:33: topology: dimension 2 is missing
          ╭─[e.toml:1:33]
        1 │ topologies = ["ring:4", "torus:4x"]
          ·                                 ┬
          ·                                 ╰── here
        2 │ algorithms = ["gen"]
          ╰────
        "#);
    insta::assert_snapshot!(refused_file("topologies = \"ring:4\"\n"), @r#"
         × e.toml:1:14: expected a list of texts in quotes, found a text
          ╭─[e.toml:1:14]
        1 │ topologies = "ring:4"
          ·              ────┬───
          ·                  ╰── here
          ╰────
        "#);
    insta::assert_snapshot!(refused_file("topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\nbaseline = \"pex\"\n"), @r#"
         × e.toml:3:12: the baseline `pex` is none of the experiment's algorithms
          ╭─[e.toml:3:12]
        2 │ algorithms = ["gen"]
        3 │ baseline = "pex"
          ·            ──┬──
          ·              ╰── here
          ╰────
        "#);
    insta::assert_snapshot!(
        refused_file("topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\nmachines = [\"mine\"]\n[machine.mine]\nbase = \"paragon\"\nstartup = 3\n"),
        @r#"
         × e.toml:6:1: unknown key `startup`
          ╭─[e.toml:6:1]
        5 │ base = "paragon"
        6 │ startup = 3
          · ───┬───
          ·    ╰── here
          ╰────
         help: did you mean `startup_us`?
        "#
    );
    insta::assert_snapshot!(refused_file("repetitions = 0\n"), @r"
         × e.toml:1:15: expected a whole number from 1 to 4294967295, found 0
          ╭─[e.toml:1:15]
        1 │ repetitions = 0
          ·               ┬
          ·               ╰── here
          ╰────
        ");
    insta::assert_snapshot!(refused_file("seed = many\n"), @r"
         × e.toml:1:8: string values must be quoted, expected literal string
          ╭─[e.toml:1:8]
        1 │ seed = many
          ·        ──┬─
          ·          ╰── here
          ╰────
        ");
}

#[test]
fn rows_are_data_on_stdout_and_words_go_to_stderr() {
    let args = ["run", "--topology", "torus:4x4", "--topology", "mesh:3x3", "--algorithm", "pex", "--out", "-"];
    let output = swapmeet(&args).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(stdout.lines().next().unwrap(), columns().collect::<Vec<_>>().join(","));
    let rows = read_records("stdout", &stdout).unwrap();
    assert_eq!(rows.iter().map(|r| r.status).collect::<Vec<_>>(), [Status::Ok, Status::Unsupported]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "2 cases: 1 verified, 1 unsupported\n");
    assert_eq!(output.status.code(), Some(0), "plainly unsupported is no failure");
}

#[test]
fn time_is_the_sum_of_its_six_parts() {
    for row in rows(&[
        "--topology",
        "mesh:6x8",
        "--algorithm",
        "suh-shin",
        "--algorithm",
        "gen",
        "--machine",
        "delta",
        "--machine",
        "paragon",
    ]) {
        let parts = [
            row.startup_us,
            row.transmission_us,
            row.propagation_us,
            row.rearrangement_us,
            row.barrier_us,
            row.contention_us,
        ];
        let sum: f64 = parts.iter().map(|p| p.unwrap()).sum();
        assert!((row.time_us.unwrap() - sum).abs() < 1e-5, "{row:?}");
        assert!(row.lower_bound_us.unwrap() <= row.time_us.unwrap());
        assert_eq!(row.verified, Verified::Blocks);
    }
}

#[test]
fn rows_do_not_depend_on_what_else_is_run() {
    let strip = |mut rows: Vec<swapmeet_results::Record>| {
        for row in &mut rows {
            (row.plan_ms, row.wall_ms) = (None, None);
        }
        rows
    };
    let together = strip(rows(&[
        "--topology",
        "torus:8x8",
        "--algorithm",
        "suh-shin",
        "--algorithm",
        "gen",
        "--workload",
        "uniform:1",
        "--workload",
        "uniform:1KiB",
        "--machine",
        "paragon",
        "--machine",
        "delta:ports=all",
        "--repetitions",
        "2",
        "--seed",
        "7",
    ]));
    assert_eq!(together.len(), 16);
    for row in &together {
        let seed = row.seed.to_string();
        let mut alone = strip(rows(&[
            "--topology",
            &row.topology,
            "--algorithm",
            &row.algorithm,
            "--workload",
            &row.workload,
            "--machine",
            &row.machine,
            "--seed",
            &seed,
        ]));
        alone[0].repetition = row.repetition;
        assert_eq!(&alone[0], row);
    }
}

#[test]
fn flags_override_the_files_list_of_their_kind() {
    let file = project("workloads/experiments/quick-start.toml");
    let rows = rows(&[file.to_str().unwrap(), "--topology", "ring:4", "--workload", "uniform:2"]);
    let cases: Vec<_> = rows.iter().map(|r| (r.topology.as_str(), r.algorithm.as_str(), r.workload.as_str())).collect();
    assert_eq!(
        cases,
        [("ring:4", "suh-shin", "uniform:2"), ("ring:4", "pex", "uniform:2"), ("ring:4", "gen", "uniform:2")]
    );
    assert!(rows.iter().all(|r| r.experiment == "quick-start"));
}

#[test]
fn every_shipped_experiment_runs() {
    for entry in std::fs::read_dir(project("workloads/experiments")).unwrap() {
        let file = entry.unwrap().path();
        // the large tori take seconds without optimisation: the benchmark has them
        let small = ["--topology", "torus:8x8", "--topology", "mesh:4x6"];
        let rows = rows(&[&[file.to_str().unwrap()], &small[..]].concat());
        assert!(
            !rows.is_empty() && rows.iter().all(|r| matches!(r.status, Status::Ok | Status::Unsupported)),
            "{file:?}"
        );
    }
}

#[test]
fn one_node_needs_nothing() {
    for row in rows(&["--topology", "torus:1x1", "--algorithm", "suh-shin", "--algorithm", "gen", "--algorithm", "pex"])
    {
        assert_eq!((row.status, row.time_us, row.steps), (Status::Ok, Some(0.0), Some(0)), "{}", row.algorithm);
    }
}

#[test]
fn a_trace_prints_the_schedule_as_the_papers_do() {
    let output = swapmeet(&["trace", "--topology", "torus:4x4", "--algorithm", "suh-shin"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let head: Vec<&str> = text.lines().take(6).collect();
    insta::assert_snapshot!(head.join("\n"), @r"
        Phase 3
          every node rearranges what it holds
          every node rearranges what it holds
          step 1: 16 messages, longest 8 blocks over 2 hops, busiest link 1 message
                (0,0) -> (0,2)     8 blocks  +dim2 from (0,0) for (*,2 3)
                (0,1) -> (2,1)     8 blocks  +dim1 from (0,1) for (2 3,*)
        ");
    assert_eq!(text.lines().filter(|l| l.contains(" -> ")).count(), 64);
    assert_eq!(text.matches("every node rearranges what it holds").count(), 3);
}

#[test]
fn a_trace_is_of_the_plan_for_its_machine_and_of_the_workload_of_its_seed() {
    let trace = |args: &[&str]| {
        let output = swapmeet(&["trace"]).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let steps = |text: &str| text.lines().filter(|line| line.starts_with("  step ")).count();
    let broadcast = ["--topology", "ring:15", "--algorithm", "torus-broadcast", "--workload", "broadcast/uniform:1"];
    let with = |machine: &str| trace(&[&broadcast[..], &["--machine", machine]].concat());
    // ceil(log_(2q + 1) 15)
    assert_eq!(steps(&with("free:model=circuit,ports=all,virtual_channels=1")), 3);
    assert_eq!(steps(&with("free:model=circuit,ports=all,virtual_channels=2")), 2);
    let drawn =
        ["--topology", "ring:4", "--algorithm", "linear", "--workload", "irregular:dist=uniform,mean=100,cv=0.5"];
    let with = |seed: &str| trace(&[&drawn[..], &["--seed", seed]].concat());
    assert_eq!(with("42"), trace(&drawn));
    assert_ne!(with("42"), with("43"));
}

#[test]
fn a_trace_explains_its_virtual_nodes_where_it_has_some() {
    let last = |topology: &str| {
        let output = swapmeet(&["trace", "--topology", topology, "--algorithm", "suh-shin"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (text.contains(")*"), text.lines().last().unwrap_or_default().to_owned())
    };
    let (marked, legend) = last("torus:3x3");
    assert!(marked && legend.starts_with("* a virtual node"), "{legend}");
    let (marked, legend) = last("torus:4x4");
    assert!(!marked && !legend.starts_with('*'), "{legend}");
}

#[test]
fn lists_say_what_there_is() {
    let list = |args: &[&str]| String::from_utf8(swapmeet(args).output().unwrap().stdout).unwrap();
    let algorithms = list(&["list", "algorithms", "--format", "csv"]);
    for name in ["suh-shin", "pex", "pex-gen", "pex-gen-shift", "gen"] {
        assert!(algorithms.lines().any(|l| l.starts_with(&format!("{name},"))), "{algorithms}");
    }
    let machines: serde_json::Value = serde_json::from_str(&list(&["list", "machines", "--format", "json"])).unwrap();
    let barrier =
        machines.as_array().unwrap().iter().find(|m| m["name"] == "paragon" && m["parameter"] == "barrier_us");
    assert_eq!(barrier.unwrap()["value"], "126 d -113, d = ceil(log2 nodes)");
    assert!(list(&["list", "topologies"]).contains("hypercube:D"));
    assert!(list(&["list", "plugins"]).contains("libswapmeet_plugin_thakur"));
    assert!(list(&["list"]).contains("WORKLOADS"));
}

#[test]
fn help_has_examples() {
    swapmeet(&["--help"]).assert().success().stdout(predicate::str::contains("Exit status"));
    for command in ["run", "trace", "reproduce"] {
        swapmeet(&[command, "--help"]).assert().success().stdout(predicate::str::contains("Examples:"));
    }
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let program = swapmeet_tests::build().join("swapmeet");
    let command = format!("{} trace --topology torus:16x16 --algorithm gen | head -n 1", program.display());
    let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    assert!(
        !String::from_utf8_lossy(&output.stderr).contains("panicked"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The committed reproductions are what the program writes.
#[test]
fn the_committed_reproductions_are_up_to_date() {
    let dir = tempfile::tempdir().unwrap();
    swapmeet(&["reproduce", "--out", dir.path().to_str().unwrap()]).assert().success();
    for paper in ["suh-shin", "thakur", "liu"] {
        for ending in ["csv", "md"] {
            let name = format!("{paper}.{ending}");
            let committed = std::fs::read_to_string(project("results/reproduced").join(&name)).unwrap();
            let written = std::fs::read_to_string(dir.path().join(&name)).unwrap();
            assert!(committed == written, "{name} is out of date: run `swapmeet reproduce --out results/reproduced`");
        }
    }
}

#[test]
fn compare_reads_what_run_wrote() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.csv");
    let file = file.to_str().unwrap();
    let run = [
        "run",
        "--topology",
        "torus:4x4",
        "--algorithm",
        "suh-shin",
        "--algorithm",
        "gen",
        "--algorithm",
        "pex",
        "--quiet",
    ];
    swapmeet(&run).args(["--out", file, "--repetitions", "3"]).assert().success();
    swapmeet(&["compare", file, "--baseline", "pex"])
        .assert()
        .success()
        .stdout(predicate::str::contains("faster than `pex` (the same in all 3 repetitions)."));
    let said = refused(&["compare", file, "--baseline", "pox"]);
    assert!(said.contains("no row is of the baseline `pox`") && said.contains("did you mean `pex`?"), "{said}");
    assert!(refused(&["compare", "nowhere.csv"]).starts_with("error: nowhere.csv: "));
    let text = std::fs::read_to_string(file).unwrap();
    std::fs::write(file, text.replacen("blocks", "bricks", 1)).unwrap();
    assert_eq!(
        refused(&["compare", file]),
        format!("error: {file}:2: column `verified` is `bricks`, expected one of blocks, amounts, none\n")
    );
}

/// Blocks of different sizes are followed and counted in bytes, whoever passes them on.
#[test]
fn sizes_that_differ_pair_by_pair_are_conserved() {
    let dir = tempfile::tempdir().unwrap();
    let matrix: Vec<Vec<u64>> = (0..16).map(|i| (0..16).map(|j| i * 100 + j).collect()).collect();
    let lines: Vec<String> =
        matrix.iter().map(|r| r.iter().map(u64::to_string).collect::<Vec<_>>().join(",")).collect();
    let file = dir.path().join("m.csv");
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    let workload = format!("matrix:{}", file.display());
    let rows = rows(&[
        "--topology",
        "torus:4x4",
        "--workload",
        &workload,
        "--algorithm",
        "gen",
        "--algorithm",
        "suh-shin",
        "--machine",
        "free:byte_us=1",
    ]);
    let off_diagonal: u64 =
        (0..16).flat_map(|i| (0..16).map(move |j| (i, j))).filter(|(i, j)| i != j).map(|(i, j)| i * 100 + j).sum();
    assert_eq!(rows[0].total_bytes, Some(off_diagonal.into()), "a direct exchange moves every block once");
    // the longest message of a shift by d is from node 15, whose sizes are the largest
    let longest: u64 = (1..16).map(|d| (0..16).map(|i| matrix[i][(i + d) % 16]).max().unwrap()).sum();
    assert_eq!(rows[0].critical_bytes, Some(longest.into()));
    assert_eq!(rows[1].verified, Verified::Blocks);
    assert!(rows[1].total_bytes > rows[0].total_bytes, "combining passes blocks on");
    let held: Vec<u64> = (0..16).map(|j| (0..16).map(|i| matrix[i][j]).sum()).collect();
    assert!(rows.iter().all(|r| r.peak_node_bytes >= held.iter().map(|h| u128::from(*h)).max()));
}

#[test]
fn random_workloads_follow_the_seed_and_only_the_seed() {
    let run = |seed: &str| {
        let args = [
            "--topology",
            "mesh:3x4",
            "--workload",
            "irregular:dist=pareto,mean=512,cv=2",
            "--workload",
            "one-spike:max=1024,rest=8",
        ];
        rows(&[&args[..], &["--algorithm", "gen", "--algorithm", "pex-gen", "--seed", seed]].concat())
    };
    let bytes = |rows: &[swapmeet_results::Record]| rows.iter().map(|r| r.total_bytes.unwrap()).collect::<Vec<_>>();
    let (first, again, other) = (bytes(&run("1")), bytes(&run("1")), bytes(&run("2")));
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert_eq!((first[0], first[1]), (first[2], first[3]), "the same blocks whatever the algorithm");
}

#[test]
fn a_row_on_a_machine_of_ones_own_says_what_its_name_stands_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("e.toml");
    let text = "topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\nmachines = [\"mine\", \"mine:ports=2\"]\n\
                [machine.mine]\nbase = \"paragon\"\nstartup_us = 220\nbarrier_us = 0.5\n";
    std::fs::write(&file, text).unwrap();
    let named = rows(&[file.to_str().unwrap()]);
    let said: Vec<_> = named.iter().map(|r| (r.machine.as_str(), r.note.as_str())).collect();
    let meaning = "mine is paragon:startup_us=220,barrier_us=0.5";
    assert_eq!(said, [("mine", meaning), ("mine:ports=2", meaning)]);
    let spelled_out =
        rows(&["--topology", "ring:4", "--algorithm", "gen", "--machine", "paragon:startup_us=220,barrier_us=0.5"]);
    assert_eq!(spelled_out[0].time_us, named[0].time_us);
}

#[test]
fn a_topology_too_large_to_run_is_unsupported_not_out_of_memory() {
    let args = [
        "--topology",
        "torus:46340x46340",
        "--algorithm",
        "suh-shin",
        "--algorithm",
        "linear",
        "--workload",
        "one-spike:max=2,rest=1",
    ];
    for row in rows(&args) {
        assert_eq!(row.status, Status::Unsupported);
        assert_eq!(row.reason, "2147395600 nodes are more than a case may have, 67108864");
    }
    let row = rows(&["--topology", "ring:1000000", "--algorithm", "bruck"]).remove(0);
    assert_eq!(row.status, Status::Unsupported);
    assert_eq!(
        row.reason,
        "its sets over 1000000 nodes in axes of [1000000] would take 465 GiB, at most 8 may: a grid of more, shorter axes takes less"
    );
}

/// On a ring every block passes half of the nodes: n * n (n - 1) / 2 of them in all, and 1 TiB each. Counted in blocks or in bytes, they add up beyond 64 bits.
#[test]
fn bytes_over_a_whole_schedule_are_exact_however_many() {
    let n: u128 = 340;
    let rows = rows(&[
        "--topology",
        "ring:340",
        "--algorithm",
        "ring",
        "--workload",
        "uniform:1024GiB",
        "--workload",
        "one-spike:max=1024GiB,rest=1024GiB",
        "--machine",
        "free",
    ]);
    assert_eq!(rows.len(), 2);
    let total = (n * (n * (n - 1) / 2)) << 40;
    assert!(total > u128::from(u64::MAX));
    for row in rows {
        assert_eq!((row.status, row.total_bytes), (Status::Ok, Some(total)), "{}: {}", row.workload, row.reason);
        assert_eq!(row.total_hop_bytes, Some(total), "every message goes one hop");
        assert_eq!(row.critical_bytes, Some(total / n), "all nodes send alike");
    }
}

#[test]
fn what_looks_nearly_right_is_told_what_it_should_be() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("e.toml");
    let file_says = |tables: &str| {
        std::fs::write(&file, format!("topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\n{tables}")).unwrap();
        refused(&["run", file.to_str().unwrap()])
    };
    let said = file_says("[machines.mine]\nbase = \"paragon\"\n");
    assert!(said.contains("`machines` is the list of those to run on"), "{said}");
    assert!(said.contains("a machine of the experiment's own is `[machine.NAME]`"), "{said}");
    let said = file_says("[machine.a]\nbase = \"paragon\"\n[machine.b]\nbase = \"a\"\n");
    assert!(said.contains("a base is a preset, not a machine of the experiment's own"), "{said}");
    let said = refused(&["run", "--topology", "ring:4", "--algorithm", "gen", "--plugin-dir", "/no/where"]);
    assert_eq!(said, "error: /no/where: no such plugin file or folder\n");
}

#[test]
fn a_list_as_csv_is_of_one_kind() {
    let said = refused(&["list", "--format", "csv"]);
    assert!(
        said.contains(
            "expected one of algorithms, topologies, workloads, machines, plugins, as in `list machines --format csv`"
        ),
        "{said}"
    );
    swapmeet(&["list", "machines", "--format", "csv"]).assert().success();
}

#[test]
fn no_seed_wraps_around() {
    let run = |repetitions| {
        let seed = u64::MAX.to_string();
        let args = ["run", "--topology", "ring:4", "--algorithm", "gen", "--seed", &seed, "--repetitions", repetitions];
        swapmeet(&args).output().unwrap()
    };
    assert_eq!(run("1").status.code(), Some(0));
    let output = run("3");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("seed: 3 repetitions go past the largest seed, 18446744073709551615"), "{said}");
}

#[test]
fn the_manual_knows_every_exit_status() {
    for args in [&["--help"][..], &["man"]] {
        let text = String::from_utf8(swapmeet(args).output().unwrap().stdout).unwrap();
        assert!(text.contains("130 when interrupted"), "{text}");
    }
}

#[test]
fn a_list_names_nothing_twice() {
    let said = refused_run_of(&["--workload", "uniform:64", "--workload", "uniform:64B"]);
    assert!(said.contains("--workload: `uniform:64B` is there already, as `uniform:64`"), "{said}");
    let said = refused_run_of(&["--machine", "paragon", "--machine", "delta", "--machine", "paragon"]);
    assert!(said.contains("--machine: `paragon` is there already, as `paragon`"), "{said}");
    let said = refused_file("topologies = [\"ring:4\", \"ring:5\"]\nalgorithms = [\"gen\",\n  \"gen\"]\n");
    assert!(said.contains(":3:3: `gen` is there already, as `gen` on line 2, column 15"), "{said}");
}

fn refused_run_of(lists: &[&str]) -> String {
    refused(&[&["run", "--topology", "ring:4", "--algorithm", "gen"], lists].concat())
}

#[test]
fn a_machines_number_is_no_text() {
    let said = refused_file("topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\n[machine.mine]\nstartup_us = \"3\"\n");
    assert!(said.contains(":4:14: expected a number, without quotes, found a text"), "{said}");
}

#[test]
fn a_default_that_depends_on_the_problem_is_not_shown_as_nothing() {
    let said = refused(&["run", "--topology", "ring:4", "--algorithm", "two-stage:4"]);
    assert!(said.contains("`two-stage` takes slices (") && !said.contains("default )"), "{said}");
}
