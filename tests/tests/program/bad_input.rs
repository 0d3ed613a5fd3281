//! Bad input gives a message with cause, position and expected input, and exit status 2.

use crate::support::{refused, rows, swapmeet, words};
use swapmeet_results::Status;
use swapmeet_tests::program;

fn refused_run(topology: &str, algorithm: &str, workload: &str, machine: &str) -> String {
    refused(&words(&format!(
        "run --topology {topology} --algorithm {algorithm} --workload {workload} \
        --machine {machine}"
    )))
}

#[test]
fn bad_specs_are_shown_with_position_and_expected_input() {
    insta::assert_snapshot!(refused_run("torus:16x0", "gen", "uniform:1", "paragon"), @r"
    error: --topology: dimension 2 is 0, expected a whole number from 1 on
     --> --topology:1:10
      |
    1 | torus:16x0
      |          ^ here
    ");
    insta::assert_snapshot!(refused_run("tours:16x16", "gen", "uniform:1", "paragon"), @r"
    error: --topology: unknown name `tours`
     --> --topology:1:1
      |
    1 | tours:16x16
      | ^^^^^ here
      |
    help: did you mean `torus`?
    ");
    insta::assert_snapshot!(refused_run("torus:4x4", "suhshin", "uniform:1", "paragon"), @r"
    error: --algorithm: unknown algorithm `suhshin`
     --> --algorithm:1:1
      |
    1 | suhshin
      | ^^^^^^^ here
      |
    help: did you mean `suh-shin`?
    ");
    insta::assert_snapshot!(refused_run("torus:4x4", "gen:slices=8", "uniform:1", "paragon"), @r"
    error: --algorithm: `gen` has no parameter `slices`
     --> --algorithm:1:5
      |
    1 | gen:slices=8
      |     ^^^^^^ here
      |
    help: `gen` takes no parameters
    ");
    insta::assert_snapshot!(refused_run("torus:4x4", "gen", "uniform:4KB", "paragon"), @r"
    error: --workload: expected a size such as 64, 64B, 4KiB or 1MiB: sizes count in powers of 1024, write KiB, found `4KB`
     --> --workload:1:9
      |
    1 | uniform:4KB
      |         ^^^ here
    ");
    insta::assert_snapshot!(refused_run("torus:4x4", "gen", "uniform:1", "paragon:startup_us=-1"), @r"
    error: --machine: startup_us: expected microseconds, a number from 0 to 86400000000, found `-1`
     --> --machine:1:20
      |
    1 | paragon:startup_us=-1
      |                    ^^ here
    ");
    insta::assert_snapshot!(refused_run("torus:99999x99999", "gen", "uniform:1", "paragon"), @r"
    error: --topology: over 2147483648 nodes, the most that a topology may have
     --> --topology:1:7
      |
    1 | torus:99999x99999
      |       ^^^^^^^^^^^ here
    ");
}

#[test]
fn missing_arguments_are_requested() {
    insta::assert_snapshot!(refused(&["run"]), @r"error: nothing to run: give --topology (such as `--topology torus:16x16`) or --system, or an experiment file that lists some");
    insta::assert_snapshot!(refused(&["run", "--topology", "ring:4"]), @r"error: nothing to run: give --algorithm (such as `--algorithm suh-shin`), or an experiment file that lists some");
    insta::assert_snapshot!(refused(&["run", "no-such-file.toml"]), @r"error: no-such-file.toml: can't be read: No such file or directory (os error 2)");
    assert!(refused(&["run", "--plugin-dir", "no-such-folder"]).contains("nothing to run"));
    assert!(
        refused(&words("run --topology ring:4 --algorithm gen --plugin-dir no-such-folder"))
            .contains("no-such-folder")
    );
    assert!(refused(&["run", "--repetitions", "0"]).contains("--repetitions"));
    assert!(refused(&["run", "--timeout", "-3"]).contains("--timeout"));
    assert!(refused(&["reproduce", "suhshin"]).contains("did you mean `suh-shin`?"));
}

fn refused_file(content: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("e.toml"), content).unwrap();
    let output = swapmeet(&["run", "e.toml"]).current_dir(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_time_limit_has_the_same_range_in_files_and_flags() {
    let expected = "expected a number of seconds above 0, at most 1000000000";
    for bad in ["1e300", "1e18", "0", "-1", "inf", "nan"] {
        let content =
            format!("topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\ntimeout_secs = {bad}\n");
        let message = refused_file(&content);
        assert!(message.contains(&format!("e.toml:3:16: {expected}, found {bad}")), "{message}");
        let message =
            refused(&["run", "--topology", "ring:4", "--algorithm", "gen", "--timeout", bad]);
        assert!(message.contains(expected), "{message}");
    }
    let fine = rows(&["--topology", "ring:4", "--algorithm", "gen", "--timeout", "1e9"]);
    assert_eq!(fine[0].status, Status::Ok);
}

#[test]
fn too_many_cases_are_refused_before_lookups() {
    let args =
        words("run --topology ring:4 --topology ring:5 --algorithm no-such --repetitions 5000000");
    insta::assert_snapshot!(refused(&args), @r"
    error: the experiment: its lists multiply to 10000000 cases, expected at most 1000000
     --> the experiment:1:1
      |
    1 | 2 topologies x 5000000 repetitions
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
      |
    help: split it into several experiments, each with its own row file
    ");
    let most =
        ["run", "--topology", "ring:4", "--algorithm", "no-such", "--repetitions", "1000000"];
    assert!(refused(&most).contains("unknown algorithm"));
}

#[test]
fn deeply_nested_dual_nets_are_refused() {
    let nested = format!("{}ring:1{}", "rdn:1(".repeat(60_000), ")".repeat(60_000));
    let message = refused_file(&format!("topologies = [\"{nested}\"]\nalgorithms = [\"gen\"]\n"));
    assert!(message.contains("e.toml:1:69: topology: parentheses nested more than 8 deep"));
}

#[test]
fn endless_files_are_refused() {
    let message = refused_run("ring:4", "gen", "matrix:/dev/zero", "paragon");
    assert!(message.contains("--workload: is a folder or a device"), "{message}");
    assert_eq!(
        refused(&["run", "/dev/zero"]),
        "error: /dev/zero: holds more than 16MiB, expected an experiment\n"
    );
    assert!(refused(&["run", "/"]).starts_with("error: /: can't be read: "));
}

#[test]
fn mistakes_in_experiment_files_are_shown_with_their_line() {
    insta::assert_snapshot!(refused_file("name = \"x\"\ntopologees = [\"ring:4\"]\n"), @r#"
    error: e.toml:2:1: unknown key `topologees`
     --> e.toml:2:1
      |
    2 | topologees = ["ring:4"]
      | ^^^^^^^^^^ here
      |
    help: did you mean `topologies`?
    "#);
    insta::assert_snapshot!(refused_file("topologies = [\"ring:4\", \"torus:4x\"]\nalgorithms = [\"gen\"]\n"), @r#"
    error: e.toml:1:33: topology: dimension 2 is missing
     --> e.toml:1:33
      |
    1 | topologies = ["ring:4", "torus:4x"]
      |                                 ^ here
    "#);
    insta::assert_snapshot!(refused_file("topologies = \"ring:4\"\n"), @r#"
    error: e.toml:1:14: expected a list of texts in quotes, found a text
     --> e.toml:1:14
      |
    1 | topologies = "ring:4"
      |              ^^^^^^^^ here
    "#);
    insta::assert_snapshot!(refused_file("topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\nbaseline = \"pex\"\n"), @r#"
    error: e.toml:3:12: the baseline `pex` is not one of the experiment's algorithms
     --> e.toml:3:12
      |
    3 | baseline = "pex"
      |            ^^^^^ here
    "#);
    insta::assert_snapshot!(
        refused_file("topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\nmachines = [\"mine\"]\n[machine.mine]\nbase = \"paragon\"\nstartup = 3\n"),
        @r#"
    error: e.toml:6:1: unknown key `startup`
     --> e.toml:6:1
      |
    6 | startup = 3
      | ^^^^^^^ here
      |
    help: did you mean `startup_us`?
    "#
    );
    insta::assert_snapshot!(refused_file("repetitions = 0\n"), @r"
    error: e.toml:1:15: expected a whole number from 1 to 4294967295, found 0
     --> e.toml:1:15
      |
    1 | repetitions = 0
      |               ^ here
    ");
    insta::assert_snapshot!(refused_file("seed = many\n"), @r"
    error: e.toml:1:8: string values must be quoted, expected literal string
     --> e.toml:1:8
      |
    1 | seed = many
      |        ^^^^ here
    ");
}

#[test]
fn near_misses_get_a_suggestion() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("e.toml");
    let file_says = |tables: &str| {
        std::fs::write(
            &file,
            format!("topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\n{tables}"),
        )
        .unwrap();
        refused(&["run", file.to_str().unwrap()])
    };
    let message = file_says("[machines.mine]\nbase = \"paragon\"\n");
    assert!(message.contains("`machines` is the list of machines to run on"), "{message}");
    assert!(message.contains("a machine of the experiment's own is `[machine.NAME]`"), "{message}");
    let message = file_says("[machine.a]\nbase = \"paragon\"\n[machine.b]\nbase = \"a\"\n");
    assert!(
        message.contains("a base is a preset, not a machine of the experiment's own"),
        "{message}"
    );
    let message = refused(&words("run --topology ring:4 --algorithm gen --plugin-dir /no/where"));
    assert_eq!(message, "error: /no/where: no such plugin file or folder\n");
}

#[test]
fn a_list_as_csv_needs_a_kind() {
    let message = refused(&["list", "--format", "csv"]);
    assert!(
        message.contains(
            "expected one of algorithms, topologies, workloads, machines, systems, plugins, columns, as in `list machines --format csv`"
        ),
        "{message}"
    );
    swapmeet(&["list", "machines", "--format", "csv"]).assert().success();
}

#[test]
fn seeds_do_not_wrap_around() {
    let run = |repetitions| {
        let seed = u64::MAX.to_string();
        let line = format!(
            "run --topology ring:4 --algorithm gen --seed {seed} --repetitions {repetitions}"
        );
        let args = words(&line);
        swapmeet(&args).output().unwrap()
    };
    assert_eq!(run("1").status.code(), Some(0));
    let output = run("3");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        message.contains("seed: 3 repetitions exceed the largest seed, 18446744073709551615"),
        "{message}"
    );
}

#[test]
fn duplicates_in_lists_are_refused() {
    let message = refused_run_of(&["--workload", "uniform:64", "--workload", "uniform:64B"]);
    assert!(
        message.contains("--workload: `uniform:64B` is already in the list, as `uniform:64`"),
        "{message}"
    );
    let message =
        refused_run_of(&["--machine", "paragon", "--machine", "delta", "--machine", "paragon"]);
    assert!(
        message.contains("--machine: `paragon` is already in the list, as `paragon`"),
        "{message}"
    );
    let message =
        refused_file("topologies = [\"ring:4\", \"ring:5\"]\nalgorithms = [\"gen\",\n  \"gen\"]\n");
    assert!(
        message.contains(":3:3: `gen` is already in the list, as `gen` on line 2, column 15"),
        "{message}"
    );
}

fn refused_run_of(lists: &[&str]) -> String {
    refused(&[&["run", "--topology", "ring:4", "--algorithm", "gen"], lists].concat())
}

#[test]
fn machine_parameters_must_be_numbers() {
    let message = refused_file(
        "topologies = [\"ring:4\"]\nalgorithms = [\"gen\"]\n[machine.mine]\nstartup_us = \"3\"\n",
    );
    assert!(
        message.contains(":4:14: expected a number, without quotes, found a text"),
        "{message}"
    );
}

#[test]
fn a_default_that_depends_on_the_problem_is_described() {
    let message = refused(&["run", "--topology", "ring:4", "--algorithm", "two-stage:4"]);
    assert!(
        message.contains("`two-stage` takes slices (") && !message.contains("default )"),
        "{message}"
    );
}

#[test]
fn absurd_sizes_are_refused_at_once() {
    let small = |line: &str| {
        let script = format!("ulimit -v 3000000; exec \"$0\" {line}");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).arg(program());
        let output = shell.env("XDG_DATA_HOME", "/nonexistent").output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (line, status, message) in [
        (
            "run --topology ring:4 --algorithm gen --shard 99999999999/99999999999",
            2,
            "--shard: 99999999999 shards, expected at most 1000000",
        ),
        (
            "export --format mpi --topology fat-tree:2x16 --algorithm bine-scatter \
             --workload one-spike:max=8,rest=8 --out schedule-of-no-case",
            0,
            "`bine-scatter` does not implement `alltoall`",
        ),
        (
            "export --format mpi --topology fat-tree:2x16 --algorithm linear \
             --workload one-spike:max=8,rest=8 --out schedule-of-no-case",
            2,
            "the sizes of 4294967296 pairs of nodes do not fit into a file",
        ),
        (
            "optimum --topology 'rdn:3(hypercube:3)' --workload one-spike:max=1GiB,rest=1MiB",
            2,
            "2147483648 nodes are more than a case may have",
        ),
        (
            "run --topology fat-tree:8x8 --algorithm hypercube-broadcast --memory-limit 700MiB \
             --workload scatter/uniform:64 --machine free:model=loggp,byte_us=1 --out -",
            0,
            "1 unsupported",
        ),
    ] {
        let (code, text) = small(line);
        assert!(code == Some(status) && text.contains(message), "{line}: {code:?}: {text}");
    }
}
