//! The program as its users run it: output streams, exit statuses and the content of rows.

use crate::support::{printed, refused, row_of, rows, swapmeet, swapmeet_process, words};
use predicates::prelude::*;
use swapmeet_results::{Status, Verified, columns, read_records};
use swapmeet_tests::project;

#[test]
fn rows_go_to_stdout_and_messages_to_stderr() {
    let args = words("run --topology torus:4x4 --topology mesh:3x3 --algorithm pex --out -");
    let output = swapmeet(&args).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(stdout.lines().next().unwrap(), columns().collect::<Vec<_>>().join(","));
    let rows = read_records("stdout", &stdout).unwrap();
    assert_eq!(
        rows.iter().map(|r| r.status).collect::<Vec<_>>(),
        [Status::Ok, Status::Unsupported]
    );
    let machine = "machine: fugaku (default); its parameters were fitted to measurements on torus and tofu networks, not on mesh:3x3\n";
    let expected = format!("{machine}2 cases: 1 verified, 1 unsupported\n");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
    assert_eq!(output.status.code(), Some(0), "plainly unsupported is no failure");
}

#[test]
fn json_rows_equal_csv_rows() {
    let case = words("run --quiet --topology torus:4x4 --topology mesh:3x3 --algorithm pex");
    let printed = |format: &str| {
        let output = swapmeet(&[&case[..], &["--format", format]].concat()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (csv, json) = (printed("csv"), printed("json"));
    let names: Vec<&str> = columns().collect();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!((rows.len(), json.lines().count()), (2, 2));
    for (row, line) in rows.iter().zip(json.lines()) {
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(line).unwrap();
        assert_eq!(object.len(), names.len());
        for (name, text) in
            names.iter().zip(row).filter(|(name, _)| !["plan_ms", "wall_ms"].contains(name))
        {
            match &object[*name] {
                serde_json::Value::Null => assert_eq!(text, "", "{name}"),
                serde_json::Value::String(message) => assert_eq!(text, message, "{name}"),
                figure => {
                    assert_eq!(text.parse::<f64>().unwrap(), figure.as_f64().unwrap(), "{name}");
                }
            }
        }
    }
    let message = refused(&[&case[..], &["--format", "json", "--out", "rows.json"]].concat());
    assert!(message.contains("--format json is for standard output: omit --out"), "{message}");
}

/// The file in the current folder takes precedence over the file in the user's configuration
/// folder, but it cannot name folders of plugins.
#[test]
fn a_configuration_file_sets_defaults() {
    let home = tempfile::tempdir().unwrap();
    let (own, here) = (home.path().join("swapmeet"), home.path().join("here"));
    let plugins = own.join("more");
    [&own, &here, &plugins].iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    let file = swapmeet_tests::plugin_file("swapmeet_plugin_thakur");
    std::fs::copy(&file, plugins.join(file.file_name().unwrap())).unwrap();
    let run = |args: &[&str]| {
        let output = swapmeet_process(args)
            .current_dir(&here)
            .env("XDG_CONFIG_HOME", home.path())
            .output()
            .unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let machine = |more: &[&str]| {
        let case =
            ["run", "--quiet", "--topology", "ring:4", "--algorithm", "ring", "--format", "csv"];
        let (csv, message) = run(&[&case[..], more].concat());
        read_records("rows", &csv).unwrap_or_else(|e| panic!("{e}: {message}"))[0].machine.clone()
    };
    std::fs::write(own.join("swapmeet.toml"), "plugin_dirs = [\"more\"]\nmachine = \"delta\"\n")
        .unwrap();
    assert_eq!(
        (machine(&[]), machine(&["--machine", "sp2"])),
        ("delta".to_owned(), "sp2".to_owned())
    );
    let (list, _) = run(&["list", "plugins", "--format", "csv"]);
    assert!(list.contains(plugins.join(file.file_name().unwrap()).to_str().unwrap()), "{list}");

    let local = here.join("swapmeet.toml");
    std::fs::write(&local, "machine = \"cm5\"\n").unwrap();
    assert_eq!(machine(&[]), "cm5");
    let refused = |text: &str| {
        std::fs::write(&local, text).unwrap();
        run(&["run", "--topology", "ring:4", "--algorithm", "ring"]).1
    };
    insta::assert_snapshot!(refused("machine = \"cm6\"\n"), @r#"
    error: swapmeet.toml:1:12: machine: unknown name `cm6`
     --> swapmeet.toml:1:12
      |
    1 | machine = "cm6"
      |            ^^^ here
      |
    help: did you mean `cm5`?
    "#);
    insta::assert_snapshot!(refused("plugin_dirs = [\".\"]\n"), @r#"
    error: swapmeet.toml:1:16: the current folder's swapmeet.toml may not name folders of plugins
     --> swapmeet.toml:1:16
      |
    1 | plugin_dirs = ["."]
      |                ^^^ here
      |
    help: put it into your own, or give --plugin-dir
    "#);
    insta::assert_snapshot!(refused("machines = []\n"), @r#"
    error: swapmeet.toml:1:1: unknown key `machines`
     --> swapmeet.toml:1:1
      |
    1 | machines = []
      | ^^^^^^^^ here
      |
    help: did you mean `machine`?
    "#);
}

#[test]
fn time_is_the_sum_of_its_parts() {
    for row in rows(&words(
        "--topology mesh:6x8 --algorithm suh-shin --algorithm gen --machine delta --machine paragon",
    )) {
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
fn a_range_of_sizes_is_expanded_in_flags_and_files() {
    let sizes = |rows: Vec<swapmeet_results::Record>| -> Vec<String> {
        rows.into_iter().map(|r| r.workload).collect()
    };
    let flags = words(
        "--topology ring:4 --algorithm ring --workload uniform:8..1KiB*4 --workload uniform:5",
    );
    let expected = ["uniform:8", "uniform:32", "uniform:128", "uniform:512", "uniform:5"];
    assert_eq!(sizes(rows(&flags)), expected);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sizes.toml");
    let lists = "topologies = [\"ring:4\"]\nalgorithms = [\"ring\"]\nworkloads = [\"uniform:8..1KiB*4\", \"uniform:5\"]\n";
    std::fs::write(&file, lists).unwrap();
    assert_eq!(sizes(rows(&[file.to_str().unwrap()])), expected);
}

#[test]
fn rows_do_not_depend_on_other_cases() {
    let strip = |mut rows: Vec<swapmeet_results::Record>| {
        for row in &mut rows {
            (row.plan_ms, row.wall_ms) = (None, None);
        }
        rows
    };
    let together = strip(rows(&words(
        "--topology torus:8x8 --algorithm suh-shin --algorithm gen --workload uniform:1 --workload uniform:1KiB \
        --machine paragon --machine delta:ports=all --repetitions 2 --seed 7",
    )));
    assert_eq!(together.len(), 16);
    for row in &together {
        let seed = row.seed.to_string();
        let mut alone = strip(rows(&words(&format!(
            "--topology {} --algorithm {} --workload {} --machine {} --seed {seed}",
            row.topology, row.algorithm, row.workload, row.machine
        ))));
        alone[0].repetition = row.repetition;
        assert_eq!(&alone[0], row);
    }
}

#[test]
fn flags_override_the_list_in_the_file() {
    let file = project("workloads/experiments/quick-start.toml");
    let of = ["--topology", "ring:4", "--workload", "uniform:2", "--machine", "sp2"];
    let rows = rows(&[&[file.to_str().unwrap()], &of[..]].concat());
    let cases: Vec<_> = rows
        .iter()
        .map(|r| (r.topology.as_str(), r.algorithm.as_str(), r.workload.as_str()))
        .collect();
    assert_eq!(
        cases,
        [
            ("ring:4", "suh-shin", "uniform:2"),
            ("ring:4", "pex", "uniform:2"),
            ("ring:4", "torus-multiscatter", "uniform:2"),
            ("ring:4", "by-dimension", "uniform:2"),
            ("ring:4", "linear", "uniform:2"),
            ("ring:4", "pairwise", "uniform:2"),
            ("ring:4", "bruck", "uniform:2")
        ]
    );
    assert!(rows.iter().all(|r| r.experiment == "quick-start"));
}

#[test]
fn every_shipped_experiment_runs() {
    for entry in std::fs::read_dir(project("workloads/experiments")).unwrap() {
        let file = entry.unwrap().path();
        // Without compiler optimization, the large tori of the experiments would take seconds.
        let small = ["--topology", "torus:4x4", "--topology", "mesh:4x6"];
        let rows = rows(&[&[file.to_str().unwrap()], &small[..]].concat());
        assert!(
            !rows.is_empty()
                && rows.iter().all(|r| matches!(r.status, Status::Ok | Status::Unsupported)),
            "{file:?}"
        );
    }
}

#[test]
fn one_node_needs_no_steps() {
    for row in
        rows(&words("--topology torus:1x1 --algorithm suh-shin --algorithm gen --algorithm pex"))
    {
        assert_eq!(
            (row.status, row.time_us, row.steps),
            (Status::Ok, Some(0.0), Some(0)),
            "{}",
            row.algorithm
        );
    }
}

#[test]
fn lists_are_complete() {
    let algorithms = printed(&["list", "algorithms", "--format", "csv"]);
    for name in ["suh-shin", "pex", "pex-gen", "pex-gen-shift", "gen"] {
        assert!(algorithms.lines().any(|l| l.starts_with(&format!("{name},"))), "{algorithms}");
    }
    let machines: serde_json::Value =
        serde_json::from_str(&printed(&["list", "machines", "--format", "json"])).unwrap();
    let barrier = machines
        .as_array()
        .unwrap()
        .iter()
        .find(|m| m["name"] == "paragon" && m["parameter"] == "barrier_us");
    assert_eq!(barrier.unwrap()["value"], "126d-113");
    assert!(printed(&["list", "topologies"]).contains("hypercube:D"));
    assert!(printed(&["list", "plugins"]).contains("in the program"));
    assert!(printed(&["list"]).contains("WORKLOADS"));
}

/// `gen` can also be selected by the name `cyclic`, which users of MPI libraries know.
#[test]
fn another_name_selects_the_same_algorithm() {
    let case = ["--topology", "torus:4x4", "--workload", "uniform:64", "--out", "-"];
    let run = |name| printed(&[&["run", "--algorithm", name], &case[..]].concat());
    let algorithms =
        |text: &str| read_records("rows", text).unwrap().into_iter().map(|row| row.algorithm);
    assert_eq!(algorithms(&run("cyclic")).collect::<Vec<_>>(), ["gen"]);
    assert!(printed(&["list", "algorithms"]).contains("`cyclic` is another name of `gen`.\n"));
    let details = printed(&["list", "algorithms", "cyclic"]);
    assert_eq!(details, printed(&["list", "algorithms", "gen"]));
    assert!(details.contains("\n    other name: cyclic\n"), "{details}");
}

/// The source of the machine (Austin et al., part 3, question 2) estimates 2 µs for an allgather of
/// 64 bytes from each of the four chips on an axis of a TPU v4p. All chips receive the farthest
/// block after two hops.
#[test]
fn a_small_allgather_on_tpu_v4_takes_as_long_as_its_source_says() {
    let row = row_of("ring:4", "linear", "allgather/uniform:64", "tpu-v4");
    let time_us = row.time_us.unwrap();
    assert!((2.0..2.01).contains(&time_us), "{time_us}");
}

#[test]
fn a_closed_pipe_does_not_panic() {
    let program = swapmeet_tests::program();
    let command =
        format!("{} trace --topology torus:16x16 --algorithm gen | head -n 1", program.display());
    let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    assert!(
        !String::from_utf8_lossy(&output.stderr).contains("panicked"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn compare_reads_rows_of_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rows.csv");
    let file = file.to_str().unwrap();
    let run = words(
        "run --topology torus:4x4 --algorithm suh-shin --algorithm gen --algorithm pex --quiet",
    );
    swapmeet(&run).args(["--out", file, "--repetitions", "3"]).assert().success();
    swapmeet(&["compare", file, "--baseline", "pex"])
        .assert()
        .success()
        .stdout(predicate::str::contains(" times as long (the same in all repetitions)."));
    let message = refused(&["compare", file, "--baseline", "pox"]);
    assert!(
        message.contains("baseline `pox`") && message.contains("did you mean `pex`?"),
        "{message}"
    );
    assert!(refused(&["compare", "nowhere.csv"]).starts_with("error: nowhere.csv: "));
    let text = std::fs::read_to_string(file).unwrap();
    std::fs::write(file, text.replacen("blocks", "bricks", 1)).unwrap();
    assert_eq!(
        refused(&["compare", file]),
        format!(
            "error: {file}:2: column `verified` is `bricks`, expected one of blocks, amounts, contributions, bytes, none\n"
        )
    );
}

#[test]
fn unequal_sizes_are_conserved() {
    let dir = tempfile::tempdir().unwrap();
    let matrix: Vec<Vec<u64>> = (0..16).map(|i| (0..16).map(|j| i * 100 + j).collect()).collect();
    let lines: Vec<String> =
        matrix.iter().map(|r| r.iter().map(u64::to_string).collect::<Vec<_>>().join(",")).collect();
    let file = dir.path().join("m.csv");
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    let workload = format!("matrix:{}", file.display());
    let rows = rows(&words(&format!(
        "--topology torus:4x4 --workload {workload} --algorithm gen --algorithm suh-shin \
        --machine free:byte_us=1"
    )));
    let off_diagonal: u64 = (0..16)
        .flat_map(|i| (0..16).map(move |j| (i, j)))
        .filter(|(i, j)| i != j)
        .map(|(i, j)| i * 100 + j)
        .sum();
    assert_eq!(
        rows[0].total_bytes,
        Some(off_diagonal.into()),
        "a direct exchange moves every block once"
    );
    // In a shift by d, the longest message is sent by node 15, whose blocks are the largest.
    let longest: u64 =
        (1..16).map(|d| (0..16).map(|i| matrix[i][(i + d) % 16]).max().unwrap()).sum();
    assert_eq!(rows[0].critical_bytes, Some(longest.into()));
    assert_eq!(rows[1].verified, Verified::Blocks);
    assert!(rows[1].total_bytes > rows[0].total_bytes, "combining passes blocks on");
    let held: Vec<u64> = (0..16).map(|j| (0..16).map(|i| matrix[i][j]).sum()).collect();
    assert!(rows.iter().all(|r| r.peak_node_bytes >= held.iter().map(|h| u128::from(*h)).max()));
}

#[test]
fn random_workloads_depend_only_on_the_seed() {
    let run = |seed: &str| {
        let args = words(
            "--topology mesh:3x4 --workload irregular:dist=pareto,mean=512,cv=2 \
            --workload one-spike:max=1024,rest=8",
        );
        rows(
            &[&args[..], &["--algorithm", "gen", "--algorithm", "pex-gen", "--seed", seed]]
                .concat(),
        )
    };
    let bytes = |rows: &[swapmeet_results::Record]| {
        rows.iter().map(|r| r.total_bytes.unwrap()).collect::<Vec<_>>()
    };
    let (first, again, other) = (bytes(&run("1")), bytes(&run("1")), bytes(&run("2")));
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert_eq!(
        (first[0], first[1]),
        (first[2], first[3]),
        "the same blocks whatever the algorithm"
    );
}

#[test]
fn a_row_on_a_defined_machine_contains_its_definition() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("e.toml");
    let text = "topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\nmachines = [\"mine\", \"mine:ports=2\"]\n\
                [machine.mine]\nbase = \"paragon\"\nstartup_us = 220\nbarrier_us = 0.5\n";
    std::fs::write(&file, text).unwrap();
    let named = rows(&[file.to_str().unwrap()]);
    let meaning = "paragon:startup_us=220,barrier_us=0.5";
    let defined: Vec<_> = named.iter().map(|row| row.case().setting.machine_in_full()).collect();
    assert_eq!(defined, [format!("mine ({meaning})"), format!("mine:ports=2 ({meaning},ports=2)")]);
    assert!(named[0].machine_definition.starts_with("paragon:model=wormhole,startup_us=220,"));
    let preset = rows(&words("--topology ring:4 --algorithm gen --machine delta"));
    assert!(preset[0].machine_definition.contains(",rearrangement=packed,"));
    let spelled_out = rows(&words(
        "--topology ring:4 --algorithm gen --machine paragon:startup_us=220,barrier_us=0.5",
    ));
    assert_eq!(spelled_out[0].time_us, named[0].time_us);
}

#[test]
fn a_topology_too_large_to_run_is_unsupported_not_out_of_memory() {
    let args = words(
        "--topology torus:46340x46340 --algorithm suh-shin --algorithm linear --workload one-spike:max=2,rest=1",
    );
    for row in rows(&args) {
        assert_eq!(row.status, Status::Unsupported);
        assert_eq!(row.reason, "2147395600 nodes are more than a case may have, 67108864");
    }
    let row =
        rows(&["--topology", "ring:1000000", "--algorithm", "bruck", "--proof", "full"]).remove(0);
    assert_eq!(row.status, Status::Unsupported);
    assert_eq!(
        row.reason,
        "its sets of 1000000 nodes on axes of [1000000] need 465 GiB, more than the limit of 8 GiB: a grid with more, shorter axes needs less"
    );
}

/// On a ring of n nodes, all blocks together take n * n (n - 1) / 2 hops. Each block has 1 TiB, so
/// the total number of bytes exceeds 64 bits.
#[test]
fn bytes_over_a_whole_schedule_are_exact_however_many() {
    let n: u128 = 340;
    let rows = rows(&words(
        "--topology ring:340 --algorithm ring --workload uniform:1024GiB \
        --workload one-spike:max=1024GiB,rest=1024GiB --machine free",
    ));
    assert_eq!(rows.len(), 2);
    let total = (n * (n * (n - 1) / 2)) << 40;
    assert!(total > u128::from(u64::MAX));
    for row in rows {
        assert_eq!(
            (row.status, row.total_bytes),
            (Status::Ok, Some(total)),
            "{}: {}",
            row.workload,
            row.reason
        );
        assert_eq!(row.total_hop_bytes, Some(total), "every message goes one hop");
        assert_eq!(row.critical_bytes, Some(total / n), "all nodes send alike");
    }
}

#[test]
fn the_manual_lists_every_exit_status() {
    for args in [&["--help"][..], &["man"]] {
        let text = printed(args);
        let (_, listed) = text.split_once("Exit status:\n").unwrap();
        let listed = words(listed).join(" ");
        let phrases = "0 every case ran or is unsupported \
                       1 a case was invalid, crashed, timed out or failed, or output could not be written \
                       2 the command line or an input file is invalid \
                       130 interrupted; the rows of finished cases have been written";
        assert!(listed.starts_with(phrases), "{text}");
    }
}
