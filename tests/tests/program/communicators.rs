//! Communicators (`over=`) and names of axes (`mesh=`): the order of placements, exports, and bad
//! input.

use crate::support::tools::runs_all;
use crate::support::{printed, refused, rows, swapmeet, words};
use predicates::str::contains;
use swapmeet_results::Status;
use tempfile::tempdir;

/// The expected values are those of docs/communicators.md.
#[test]
fn the_best_placement_alone_is_not_the_best_together() {
    let line = "place --topology torus:4x4x4 --mesh shapes(dp:4/ep:4/tp:4) --machine tpu-v5p \
        --algorithm linear --algorithm ring-allreduce --algorithm rabenseifner-allreduce \
        --job allreduce/uniform:64MiB,over=dp --job allreduce/uniform:64MiB,over=tp --job";
    let text = printed(&[&words(line)[..], &["uniform:1MiB,over=ep * 4"]].concat());
    let ranking: Vec<Vec<&str>> =
        text.lines().skip(1).take(18).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(ranking[0][..4], ["1", "dp:4/ep:4/tp:4", "(yours)", "2.397"], "{text}");
    assert_eq!(ranking[17][0], "18");
    let alone = "for one communicator alone, dp:2/ep:2/dp:2/ep:2/tp:4 is the best placement, as are \
        3 others (2.352 ms): together, it is number 8 of 18, 1.45 times the best, and the others are \
        up to 1.76 times";
    assert!(text.contains(alone), "{text}");
    assert!(text.contains("your order dp:4/ep:4/tp:4 is the best of 18\n"), "{text}");
}

#[test]
fn placements_of_larger_meshes_have_the_ranking_of_the_docs() {
    if !runs_all() {
        return;
    }
    let jobs = [
        "uniform:1MiB,over=ep * 4",
        "allreduce/uniform:64MiB,over=dp",
        "allreduce/uniform:64MiB,over=tp",
    ];
    let jobs = jobs.iter().flat_map(|job| ["--job", job]).collect::<Vec<_>>();
    let place = |line: &str| printed(&[&words(line)[..], &jobs].concat());
    let text =
        place("place --topology torus:4x4x4 --mesh shapes(dp:2/ep:8/tp:4) --machine tpu-v5p");
    let alone = "alone, dp:2/ep:8/tp:4 is the best placement (1.602 ms): together, it is number 3 of 12, 1.38 times the best\n";
    assert!(text.contains(alone), "{text}");
    let line = "place --topology torus:8x8x8 --mesh shapes(dp:8/ep:8/tp:8) --algorithm linear \
        --algorithm ring-allreduce --algorithm rabenseifner-allreduce --machine tpu-v5p:model=fluid";
    let text = place(line);
    let alone = "as are 3 others (2.830 ms): together, it is number 23 of 300, 1.51 times the best, and the others are up to 1.51 times";
    assert!(text.contains(alone), "{text}");
    let text = place(&format!("{line},startup_us=1.5,hop_us=0"));
    let alone = "as are 55 others (2.838 ms): together, it is number 25 of 300, 1.51 times the best, and the others are up to 2.58 times";
    assert!(text.contains(alone), "{text}");
}

#[test]
fn exports_have_all_communicators_or_are_refused() {
    let dir = tempdir().unwrap();
    let case = "--topology torus:4x4,mesh=dp:4/ep:4 --algorithm pairwise \
        --workload uniform:64,over=dp --machine tpu-v5p:model=fluid";
    let messages = rows(&words(case))[0].messages.unwrap() as usize;
    assert_eq!(messages, 4 * 4 * 3);
    let export = |format: &str| {
        let out = dir.path().join(format);
        let line = format!("export --format {format} {case} --out");
        swapmeet(&words(&line)).arg(&out).assert().success();
        out
    };
    let goal = std::fs::read_to_string(export("goal")).unwrap();
    assert_eq!(goal.lines().filter(|line| line.contains(": send 64b to ")).count(), messages);
    let simgrid = std::fs::read_to_string(export("simgrid").join("messages.txt")).unwrap();
    assert_eq!(simgrid.lines().filter(|line| line.ends_with(" 64")).count(), messages);
    let mpi = std::fs::read_to_string(export("mpi").join("schedule.txt")).unwrap();
    assert!(mpi.contains("\nnodes 4 0 4 8 12 1 5 9 13 2 6 10 14 3 7 11 15\n"), "{mpi}");
    assert_eq!(mpi.lines().filter(|line| line.starts_with("s ")).count(), messages / 4);
    // ASTRA-sim numbers communicators from 1, and reads one trace for each member.
    let chakra = export("chakra");
    let groups = std::fs::read_to_string(chakra.join("comm_group.json")).unwrap();
    let expected = r#"{"1":[0,4,8,12],"2":[1,5,9,13],"3":[2,6,10,14],"4":[3,7,11,15]}"#;
    assert_eq!(groups.trim_end(), expected);
    let mut files: Vec<String> = std::fs::read_dir(&chakra)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let traces = (0..4).map(|member| format!("schedule.{member}.et"));
    let expected: Vec<String> =
        std::iter::once("comm_group.json".to_owned()).chain(traces).collect();
    assert_eq!(files, expected);
    let refusal = |format: &str, case: &str| {
        let out = dir.path().join(format!("{format}-refused"));
        refused(&words(&format!("export --format {format} {case} --out {}", out.display())))
    };
    let message = refusal("msccl", case);
    let expected =
        "which this format does not have: expected --format goal, chakra, mpi, simgrid, json";
    assert!(message.contains(expected), "{message}");
    let message = refusal("chakra", &case.replace("over=dp", "over=ep+dp"));
    assert!(message.contains("name the axes of `over=` in the order of `mesh=`"), "{message}");
}

#[test]
fn compare_shows_the_time_of_one_communicator_alone() {
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let line = "run --topology torus:4x4x4,mesh=orders(dp:2/ep:8/tp:4) --machine tpu-v5p --quiet \
        --algorithm linear --algorithm pairwise --workload uniform:1MiB,over=ep --out";
    swapmeet(&words(line)).arg(&out).assert().success();
    let path = out.to_str().unwrap();
    let ratio = |row: &swapmeet_results::Record| {
        format!("{:.2}", row.time_us.unwrap() / row.alone_us.unwrap())
    };
    let rows = swapmeet_results::read_file(&out).unwrap();
    let summary = printed(&["compare", path, "--by", "placement"]);
    let details = printed(&["compare", path, "--by", "placement", "--details"]);
    let last = |text: &str, head: &str| {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(head));
        line.and_then(|line| line.split_whitespace().next_back()).map(str::to_owned)
    };
    assert_eq!(last(&summary, "algorithm").as_deref(), Some("time/alone"), "{summary}");
    for algorithm in ["linear", "pairwise"] {
        let own = rows.iter().filter(|row| row.algorithm == algorithm);
        let fastest = own.min_by(|a, b| a.time_us.unwrap().total_cmp(&b.time_us.unwrap())).unwrap();
        assert_eq!(last(&summary, algorithm), Some(ratio(fastest)), "{summary}");
    }
    for row in rows.iter().filter(|row| row.algorithm == "linear") {
        let mesh = row.topology.split("mesh=").nth(1).unwrap();
        assert_eq!(last(&details, mesh), Some(ratio(row)), "{details}");
    }
    let distinct: std::collections::BTreeSet<String> = rows.iter().map(ratio).collect();
    assert!(distinct.len() > 1, "{distinct:?}");
    let json: serde_json::Value =
        serde_json::from_str(&printed(&["compare", path, "--format", "json"])).unwrap();
    let line = &json["groups"][0]["lines"][0]["ratio_to_alone"];
    assert_eq!(format!("{:.2}", line.as_f64().unwrap()), ratio(&rows[0]));
}

#[test]
fn trace_prints_one_communicator() {
    let trace = |node: &str| {
        let line = "trace --topology torus:4x4,mesh=dp:4/ep:4 --algorithm linear \
            --workload uniform:1,over=dp";
        printed(&[&words(line)[..], &words(node)].concat())
    };
    let text = trace("");
    let sends: Vec<&str> = text.lines().filter(|line| line.contains("->")).collect();
    assert_eq!(sends.len(), 12, "{text}");
    assert!(sends[0].contains("(0,0) -> (1,0)") && sends[0].contains("from (0,0) for (1,0)"));
    assert!(text.contains("and the same between the members of 3 other communicators"), "{text}");
    let text = trace("--node 6");
    let sends: Vec<&str> = text.lines().filter(|line| line.contains("->")).collect();
    assert_eq!(sends.len(), 6, "{text}");
    assert!(sends.iter().all(|line| line.contains("(1,2)")), "{text}");
}

#[test]
fn axes_that_do_not_fit_are_explained() {
    let message = |topology: &str, workload: &str| {
        let line =
            format!("run --topology {topology} --algorithm linear --workload {workload} --out -");
        refused(&words(&line))
    };
    for (topology, workload, expected) in [
        ("torus:4x4,mesh=dp:4/ep:2", "uniform:1", "multiply to 16, the number of ranks"),
        ("torus:4x4,mesh=orders(dp:4/ep:2)", "uniform:1", "multiply to 16, the number of ranks"),
        ("torus:4x4,mesh=all(dp:16)", "uniform:1", "orders(..) or shapes(..)"),
        ("torus:4x4,mesh=dp", "uniform:1", "axes with sizes, as in `dp:4/ep:32/tp:4`"),
        ("torus:4x4,mesh=dp:16", "uniform:1,over=", "the value after `=` is missing"),
        ("torus:4x4,mesh=dp:16", "uniform:1,over=size:0", "as in `size:64`"),
    ] {
        let message = message(topology, workload);
        assert!(message.contains(expected), "{topology}, {workload}: {message}");
    }
    for (topology, workload, expected) in [
        ("torus:4x4", "uniform:1,over=ep", "name them, as in `mesh=ep:8/other:-1`"),
        ("torus:4x4,mesh=dp:4/ep:4", "uniform:1,over=tp", "but the axes are dp, ep"),
        ("torus:4x4", "uniform:1,over=size:5", "do not divide the 16 ranks"),
        ("torus:4x4", "uniform:1,over=file:no-such-file.txt", "can't be read"),
        ("torus:4x4,mesh=dp:4/ep:4", "uniform:1,over=dp,root=4", "root"),
        (
            "torus:4x4,mesh=dp:4/ep:4",
            "broadcast/uniform:1,over=dp,root=4",
            "has its root at member 4, but the members of a communicator are 0 to 3",
        ),
    ] {
        let args = ["--topology", topology, "--algorithm", "linear", "--workload", workload];
        let output = swapmeet(&["run", "--out", "-", "--quiet"]).args(args).output().unwrap();
        if output.status.code() == Some(2) {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(message.contains(expected), "{topology}, {workload}: {message}");
            continue;
        }
        let row = rows(&args).remove(0);
        assert_eq!(row.status, Status::Unsupported);
        assert!(row.reason.contains(expected), "{topology}, {workload}: {}", row.reason);
    }
    let message = refused(&words("place --topology ring:8 --mesh a:4/b:4 --job uniform:1,over=a"));
    assert!(message.contains("multiply to 8, the number of ranks"), "{message}");
    let line = "place --topology ring:8 --mesh a:2/b:4 --algorithm linear --job";
    let message = refused(&[&words(line)[..], &["uniform:1,over=a * -2"]].concat());
    assert!(message.contains("expected a positive weight after `*`"), "{message}");
    let message = refused(&[&words(line)[..], &["uniform:1,over=c"]].concat());
    assert!(message.contains("no placement runs every job"), "{message}");
    let line = "place --topology ring:8 --job uniform:1,over=a --mesh";
    let message = refused(&words(&format!("{line} shapes(a:2/b:4 --algorithm linear")));
    assert!(message.contains("--mesh `shapes(a:2/b:4`: expected a `)` at the end"), "{message}");
    let message = refused(&words(&format!("{line} a:2/b:4 --algorithm lnear")));
    assert!(message.contains("did you mean `linear`"), "{message}");
    let message = refused(&words(&format!("{line} a:2/b:4 --algorithm ring-allreduce")));
    assert!(message.contains("no --algorithm implements the alltoall"), "{message}");
    let line = "trace --topology ring:8 --algorithm linear --workload uniform:1,over=size:3";
    swapmeet(&words(line)).assert().success().stderr(contains("which do not divide the 8 ranks"));
}

#[test]
fn placements_without_a_time_are_ranked() {
    let line = "place --topology ring:8 --mesh a:2/b:4 --algorithm linear \
        --machine tpu-v5p:model=loggp --job uniform:1,over=a";
    let text = printed(&words(line));
    assert!(text.contains("your order a:2/b:4 is one of the 2 best of 2\n"), "{text}");
    let alone = "is the best placement, as is another one (0.000 µs): together, it is one of the 2 best \
        of 2, and so is the other one\n";
    assert!(text.contains(alone), "{text}");
}

#[test]
fn systems_have_axes() {
    let rows = rows(&words(
        "--system h100-ib:2x4,mesh=orders(dp:2/tp:4) --algorithm ring-allreduce \
         --workload allreduce/uniform:1MiB,over=tp",
    ));
    let mesh =
        |row: &swapmeet_results::Record| row.topology.split("mesh=").nth(1).unwrap().to_owned();
    assert_eq!(rows.iter().map(mesh).collect::<Vec<_>>(), ["dp:2/tp:4", "tp:4/dp:2"]);
    assert!(rows.iter().all(|row| row.communicators == Some(2)));
    // Within a computer, messages are faster than on the network between computers.
    assert!(rows[0].time_us.unwrap() < rows[1].time_us.unwrap(), "{rows:?}");
    let twice = refused(&words(
        "run --system h100-ib:2x4,mesh=a:8,mesh=b:8 --algorithm ring --workload uniform:1 --out -",
    ));
    assert!(twice.contains("`mesh` is given twice"), "{twice}");
}
