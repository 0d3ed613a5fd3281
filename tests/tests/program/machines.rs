//! `list machines`, and the documentation of machines, their parameters and the columns of rows.

use crate::support::{swapmeet, words};
use swapmeet_core::cost::machine::{parameters, readers};
use swapmeet_core::cost::model::models;
use swapmeet_core::cost::parameter::Parameter;
use swapmeet_tests::project;

fn output_of(args: &[&str]) -> (String, String) {
    let output = swapmeet(args).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn the_docs_explain_every_column() {
    let document = std::fs::read_to_string(project("docs/figures.md")).unwrap();
    for column in swapmeet_results::columns() {
        assert!(document.contains(&format!("`{column}`")), "docs/figures.md: what is `{column}`?");
    }
}

#[test]
fn every_column_is_filled_in() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("m.csv", "0,1,2,3\n3,0,2,1\n1,1,0,1\n2,2,2,0\n");
    write(
        "e.toml",
        "name = \"columns\"\ntopologies = [\"torus:2x2\", \"torus:2x2,faults=1\"]\nalgorithms = [\"suh-shin\", \"linear\", \"ring-allreduce\"]\n\
         workloads = [\"uniform:64\", \"matrix:m.csv\", \"allreduce/uniform:64\"]\n\
         machines = [\"mine\", \"free:model=loggp,latency_us=1\", \"free:model=pipelined,protocols=A:1/2/1/1\"]\noptimum = true\n[machine.mine]\nbase = \"paragon\"\nports = 2\n",
    );
    let run = ["run", "e.toml", "--out", "rows.csv", "--quiet"];
    assert!(swapmeet(&run).current_dir(folder.path()).output().unwrap().status.success());
    let mut rows = swapmeet_results::read_file(&folder.path().join("rows.csv")).unwrap();
    let communicators = "--topology torus:2x2,mesh=a:2/b:2 --workload uniform:64,over=b --algorithm linear --machine free:model=fluid,byte_us=1";
    rows.extend(crate::support::rows(&crate::support::words(communicators)));
    let beside = ["--beside", "linear uniform:64"];
    let communicators = crate::support::words(communicators);
    rows.extend(crate::support::rows(&[&communicators[..], &beside].concat()));
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.fields().collect()).collect();
    for (at, column) in swapmeet_results::columns().enumerate() {
        assert!(rows.iter().any(|row| !row[at].is_empty()), "no row has anything in `{column}`");
    }
}

#[test]
fn the_list_of_parameters_is_complete() {
    let (text, _) = output_of(&words("list machines free"));
    let listed = text.split_once("as in free:startup_us=220:\n\n").unwrap().1;
    let entry = |p: &&dyn Parameter| {
        let symbols = Some(p.symbols()).filter(|symbols| !symbols.is_empty());
        let symbols = symbols.map_or(String::new(), |symbols| format!("; in papers: {symbols}"));
        format!(
            "    {} [default: {}]: {}\n        read by {}{symbols}\n",
            p.key(),
            p.default(),
            p.meaning(),
            readers(*p)
        )
    };
    let known: String = parameters().iter().map(entry).collect();
    assert_eq!(listed, known);
}

#[test]
fn the_docs_explain_every_model() {
    let document = std::fs::read_to_string(project("docs/figures.md")).unwrap();
    for kind in models() {
        assert!(
            document.contains(&format!("the model `{kind}`")),
            "docs/figures.md: what does `{kind}` charge?"
        );
    }
}

#[test]
fn a_machine_is_described_with_the_origin_of_each_value() {
    let (text, _) = output_of(&words(
        "list machines --describe delta:model=circuit,startup_us=50 --format csv",
    ));
    for line in [
        "startup_us,50,start-up time of a message,set by the user",
        "byte_us,0.2498,transmission time of a byte,preset: beta = 0.2498 us a byte: the same fit",
        "virtual_channels,1,circuits that a directed link carries at a time,default",
        "free_contention,2,messages that a directed link carries at full speed,\"not read by the model; preset: 2^gamma = 2, Thakur et al., section 2\"",
    ] {
        assert!(text.lines().any(|message| message == line), "{line}\n{text}");
    }
    let (json, _) = output_of(&["list", "machines", "--describe", "paragon", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["machine"], &json["parameters"][1]["value"]),
        (&"paragon".into(), &"75".into())
    );
}

#[test]
fn unread_parameters_are_refused() {
    let run = ["run", "--topology", "ring:4", "--algorithm", "pairwise", "--workload", "uniform:1"];
    let (_, flag) =
        output_of(&[&run[..], &["--machine", "paragon:mode=nonblocking,buffers=2"]].concat());
    assert!(
        flag.contains("--machine:1:9")
            && flag.contains("`mode` is not read by the model `wormhole`"),
        "{flag}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("e.toml");
    let own = "topologies = [\"ring:4\"]\nalgorithms = [\"pairwise\"]\nworkloads = [\"uniform:1\"]\nmachines = [\"mine\"]\n[machine.mine]\nbase = \"delta\"\nfree_contention = 2\nmodel = \"circuit\"\n";
    std::fs::write(&file, own).unwrap();
    let (_, table) = output_of(&["run", file.to_str().unwrap()]);
    assert!(
        table.contains("e.toml:7:1: ")
            && table.contains("`free_contention` is not read by the model `circuit`"),
        "{table}"
    );
}

/// The sandbox permits the worker to read the file, and the row contains the digest of the file.
#[test]
fn a_machine_reads_its_file_of_background_traffic() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let run = |machine: &str, more: &[&str]| {
        let args =
            ["run", "--topology", "ring:2", "--algorithm", "pairwise", "--workload", "uniform:100"];
        let args =
            [&args[..], &["--machine", machine, "--out", "rows.csv", "--quiet"], more].concat();
        swapmeet(&args).current_dir(folder.path()).output().unwrap()
    };
    let output_of =
        |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let machine = "free:model=fluid,byte_us=1,background=flows.csv";
    write("flows.csv", "7,40\n0,7\n");
    let output = run(machine, &[]);
    assert!(output.status.success(), "{}", output_of(&output));
    let rows = || swapmeet_results::read_file(&folder.path().join("rows.csv")).unwrap();
    // A message of 100 bytes and a background flow of 40 bytes share a link.
    assert_eq!(rows()[0].time_us, Some(140.0));
    assert!(rows()[0].inputs.starts_with("flows.csv=sha256:"), "{}", rows()[0].inputs);

    write("flows.csv", "0,400\n0,0\n");
    let refused = run(machine, &["--resume"]);
    assert!(
        output_of(&refused)
            .contains("row 1 belongs to another experiment: its inputs is `flows.csv=sha256:"),
        "{}",
        output_of(&refused)
    );
    assert!(run(machine, &["--force"]).status.success());
    assert_eq!(rows()[0].time_us, Some(200.0));

    write("wide.csv", "0,1,2\n3,0,4\n5,6,0\n");
    run("free:model=fluid,background=wide.csv", &["--force"]);
    assert_eq!(rows()[0].reason, "the matrix of `background` is for 3 nodes, there are 2");

    write("bad.csv", "0,1\n-2,0\n");
    for (file, why) in [
        ("no-such.csv", "can't be read: No such file"),
        ("bad.csv", "bad.csv:2:1: `-2` is not a byte count, expected a whole number from 0 to"),
        ("/dev/zero", "is a folder or a device, expected a file of N rows of N byte counts"),
    ] {
        let error = output_of(&run(&format!("free:model=fluid,background={file}"), &["--force"]));
        assert!(
            error.contains("--machine:1:29")
                && error.contains(&format!("`background={file}`: "))
                && error.contains(why),
            "{error}"
        );
    }
}
