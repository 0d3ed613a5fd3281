//! `import` converts measurements of other programs to rows, which can be compared with
//! predictions.

use crate::support::{refused, swapmeet, texts_of, words};
use swapmeet_results::{Status, Verified, read_file};
use swapmeet_tests::project;
use tempfile::tempdir;

const OSU: &str = "\
# OSU MPI All-to-All Personalized Exchange Latency Test v7.4
# Size       Avg Latency(us)
64                       4.31
1024                    18.75
";

#[test]
fn measurements_become_rows_of_the_predicted_cases() {
    let dir = tempdir().unwrap();
    let (first, second, out) =
        (dir.path().join("1.txt"), dir.path().join("2.txt"), dir.path().join("rows.csv"));
    std::fs::write(&first, OSU).unwrap();
    std::fs::write(&second, OSU.replace("18.75", "19.25")).unwrap();
    let files = [first.to_str().unwrap(), second.to_str().unwrap()];
    let line =
        format!("--topology torus:4x4 --name cluster --algorithm pairwise --out {}", out.display());
    let more = words(&line);
    swapmeet(&[&["import"], &files[..], &more].concat()).assert().success().stdout("");
    let rows = read_file(&out).unwrap();
    let found: Vec<_> =
        rows.iter().map(|row| (row.workload.as_str(), row.repetition, row.time_us)).collect();
    let expected = [
        ("uniform:64", 0, Some(4.31)),
        ("uniform:1KiB", 0, Some(18.75)),
        ("uniform:64", 1, Some(4.31)),
        ("uniform:1KiB", 1, Some(19.25)),
    ];
    assert_eq!(found, expected);
    let row = &rows[0];
    assert_eq!((row.status, row.verified, row.nodes), (Status::Ok, Verified::None, 16));
    assert_eq!(
        (row.machine.as_str(), row.model.as_str(), row.algorithm.as_str()),
        ("measured:cluster", "measured", "pairwise")
    );
    // Imported rows are samples, like all other rows.
    let [compared, _] = texts_of(swapmeet(&["compare"]).arg(&out).assert());
    assert!(compared.contains("measured:cluster"), "{compared}");
    // The number of ranks is required if the file does not contain it.
    let unknown = [&["import", files[0]], &more[2..4]].concat();
    assert!(
        refused(&unknown)
            .contains("1.txt: it does not contain the number of ranks: give --topology or --ranks")
    );
    std::fs::write(&first, OSU.replace("18.75", "soon")).unwrap();
    let message = refused(&[&unknown[..], &["--ranks", "4"]].concat());
    assert!(
        message.contains("1.txt: line 4: the average latency is `soon`, expected a time"),
        "{message}"
    );
}

#[test]
fn names_that_rows_cannot_hold_are_refused() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("1.txt");
    std::fs::write(&file, OSU).unwrap();
    let import = |flags: &[&str]| {
        let file = file.to_str().unwrap();
        refused(&[&["import", file, "--ranks", "4", "--out", "-"], flags].concat())
    };
    assert_eq!(
        import(&["--name", ""]),
        "error: --name '': expected a name without control characters\n"
    );
    assert_eq!(
        import(&["--name", "a", "--algorithm", "b\u{1b}[31m\u{202e}"]),
        "error: --algorithm 'b\\u{1b}[31m\\u{202e}': expected a name without control characters\n"
    );
}

/// The columns are those of PICO's archive of Fugaku. The expected block sizes are computed by
/// hand: the whole vector of an allreduce, and an eighth of the buffer of an all-to-all.
#[test]
fn a_summary_of_pico_becomes_rows_of_counterparts() {
    let dir = tempdir().unwrap();
    let (summary, out) = (dir.path().join("summary.csv"), dir.path().join("rows.csv"));
    let text = "collective_type,array_dim,buffer_size,algo_name,median,nnodes,tasks_per_node,n_iter,percentile_25,percentile_75
ALLREDUCE,4096,16384,default-recursive_doubling,30559,2x2x2,1,100,29840,31142.25
ALLTOALL,64,256,default-pairwise,23000,2x2x2,1,100,22000,24000
ALLTOALL,64,256,default-default,23000,2x2x2,1,100,22000,24000
";
    std::fs::write(&summary, text).unwrap();
    let import = words("import --name fugaku --counterparts --out");
    let [_, message] = texts_of(swapmeet(&import).arg(&out).arg(&summary).assert());
    assert_eq!(message, "2 rows measured\n1 measurement without a counterpart omitted\n");
    let rows = read_file(&out).unwrap();
    let read: Vec<_> =
        rows.iter().map(|row| [&row.topology, &row.algorithm, &row.workload]).collect();
    let expected = [
        ["torus:2x2x2", "recursive-doubling-allreduce", "allreduce/uniform:16KiB"],
        ["torus:2x2x2", "gen", "uniform:32"],
    ];
    assert_eq!(read, expected);
    assert_eq!((rows[0].nodes, rows[0].time_us, rows[0].repetition), (8, Some(30.559), 0));
}

/// The published measurements in `results/measured` are rows that the program reads.
#[test]
fn published_measurements_are_rows() {
    for (file, count) in [("fugaku.csv", 454), ("lumi.csv", 348)] {
        let path = project("results/measured").join(file);
        assert!(std::fs::metadata(&path).unwrap().len() < 1 << 20);
        let rows = read_file(&path).unwrap();
        assert_eq!(rows.len(), count);
        assert!(rows.iter().all(|row| row.status == Status::Ok && row.model == "measured"));
    }
}
