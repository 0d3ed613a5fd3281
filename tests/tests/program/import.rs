//! `import` converts measurements of other programs to rows.

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
    let [compared, _] = texts_of(swapmeet(&["compare"]).arg(&out).assert());
    assert!(compared.contains("measured:cluster"), "{compared}");
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

/// The columns are those of PICO's archive of Fugaku. The expected block sizes were computed by
/// hand: the whole vector in an allreduce, and an eighth of the buffer in an all-to-all.
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

/// Returns the output of nccl-tests for eight ranks in two groups. `group` returns the group of a
/// rank.
fn split_log(group: fn(u64) -> u64) -> String {
    let device = |rank: u64| {
        let group = group(rank);
        format!(
            "#  Rank {rank:2} Group {group:2} Pid   4711 on       host device {rank:2} [0000:1b:00] H100\n"
        )
    };
    let devices: String = (0..8).map(device).collect();
    format!(
        "# Collective test starting: all_reduce_perf\n# Using devices\n{devices}#\n\
         #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
         \x20       1024           256     float     sum      -1    21.50    0.05    0.07      0    21.00    0.05    0.07      0\n"
    )
}

const MULTI: &str = "\
# Benchmarking Multi-Alltoall 
# ( 2 groups of 4 processes each running simultaneous ) 
# Group  0:     0    1    2    3
# 
# Group  1:     4    5    6    7
# 
#----------------------------------------------------------------
";

#[test]
fn measured_communicators_become_rows_with_over() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("log.txt");
    let path = file.to_str().unwrap();
    let import = |text: &str, more: &str| {
        let out = dir.path().join("rows.csv");
        std::fs::write(&file, text).unwrap();
        let line = format!("{more} --name cluster --force --out {}", out.display());
        swapmeet(&[&["import", path], &words(&line)[..]].concat()).assert().success();
        let row = read_file(&out).unwrap().remove(0);
        let topology = row.topology.clone();
        (topology, row.workload.clone(), row.time_us, row.nodes, row.communicators, row.members)
    };
    let modulo = split_log(|rank| rank % 2);
    let named = "--topology groups:4x2 --mesh node:-1/gpu:2 --over node";
    let topology = "groups:4x2,mesh=node:4/gpu:2".to_owned();
    assert_eq!(
        import(&modulo, named),
        (topology, "allreduce/uniform:1KiB,over=node".to_owned(), Some(21.5), 8, Some(2), Some(4))
    );
    // The size that a line of a reduce-scatter states is that of the buffer of a rank. Each of four
    // members has a fourth of it.
    let scattered = import(&modulo.replace("all_reduce", "reduce_scatter"), named);
    assert_eq!(scattered.1, "reduce-scatter/uniform:256,over=node");
    let divided = import(&split_log(|rank| rank / 4), "");
    assert_eq!(divided.0, "fully-connected:8");
    assert_eq!(divided.1, "allreduce/uniform:1KiB,over=size:4");
    let whole = import(&split_log(|_| 0), "");
    assert_eq!((whole.1.as_str(), whole.4), ("allreduce/uniform:1KiB", None));
    let devices: String = (0..8)
        .map(|rank| {
            format!("{}{{\"rank\":{rank},\"group\":{}}}", if rank > 0 { "," } else { "" }, rank % 2)
        })
        .collect();
    let json = format!(
        "{{\"version\":3,\"args\":[\"all_reduce_perf\"],\"nccl_version\":22705,\"config\":{{\"devices\":[{devices}]}},\
         \"results\":[{{\"size\":1024,\"out_of_place\":{{\"time\":21.5}}}}]}}"
    );
    assert_eq!(import(&json, named), import(&modulo, named));
    let table = "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n\
                 \x20          64         1000         4.00         6.00         5.00\n";
    let of_all = import(&format!("{MULTI}{table}"), "--topology torus:4x2");
    let expected = "uniform:64,over=size:4".to_owned();
    assert_eq!(of_all, ("torus:4x2".to_owned(), expected, Some(5.0), 8, Some(2), Some(4)));
    let table = "        Group       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n\
                 \x20           0           64         1000         3.00         5.00         4.00\n\
                 \x20           1           64         1000         5.00         7.00         6.00\n";
    assert_eq!(import(&format!("{MULTI}{table}"), "--topology torus:4x2"), of_all);
    for (text, more, expected) in [
        (&modulo, "", "name their axes, as in `--mesh node:-1/gpu:8 --over node`"),
        (&modulo, "--over gpu", "is over the axis `gpu`, but `fully-connected:8` has no axes"),
        (
            &modulo,
            "--mesh node:4/gpu:2 --over gpu",
            "its ranks 0, 2, 4, 6 are a communicator, but those over `gpu` have other ranks, such as 0, 1",
        ),
        (&modulo, "--mesh node:4/gpu:3 --over gpu", "multiply to 8, the number of ranks"),
        (&modulo, "--mesh node:4/gpu:2", "--over <AXES>"),
        (
            &format!("{}{table}", MULTI.replace("    6    7", " ...")),
            "",
            "line 8: the list of ranks above has no groups of 4 ranks",
        ),
        (
            &format!(
                "{MULTI}{}",
                table.replace("           0           64", "           0           32")
            ),
            "",
            "line 10: group 1 has no line of group 0 above it",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let message = refused(&[&["import", path, "--name", "cluster"], &words(more)[..]].concat());
        assert!(message.contains(expected), "{more}: {message}");
    }
}
