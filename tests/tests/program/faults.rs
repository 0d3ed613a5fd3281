//! Networks with failed and slow links, random placements, and samples of all of them.

use crate::support::{printed, rows, swapmeet, words};
use swapmeet_results::Status;
use tempfile::tempdir;

/// In one step, each node sends 1000 bytes to its right neighbour, at 1 byte per µs. If the link
/// 0-1 has failed, the message from 0 to 1 crosses the seven links in the opposite direction, which
/// are idle, so nothing is delayed. If the direction from 1 to 2 has a quarter of the bandwidth,
/// the message from 1 to 2 takes four times as long. If the direction from 2 to 1 is slow, this has
/// no effect.
#[test]
fn hand_made_cases_have_the_expected_times() {
    let folder = tempdir().unwrap();
    let matrix = folder.path().join("right.csv");
    let row = |from: usize| {
        let bytes = |to: usize| if to == (from + 1) % 8 { "1000" } else { "0" };
        (0..8).map(bytes).collect::<Vec<_>>().join(",")
    };
    std::fs::write(&matrix, (0..8).map(row).collect::<Vec<_>>().join("\n")).unwrap();
    let workload = format!("matrix:{},empty=skip", matrix.display());
    for (topology, model, us, bound, hops) in [
        ("ring:8", "wormhole", 1000.0, 1000.0, 1),
        ("ring:8,down=0-1", "wormhole", 1000.0, 1000.0, 7),
        ("ring:8,down=0-1", "store-and-forward", 7000.0, 1000.0, 7),
        ("ring:8,down=0-1", "fluid", 1000.0, 1000.0, 7),
        ("ring:8,slow=1-2:0.25", "wormhole", 4000.0, 2000.0, 1),
        ("ring:8,slow=1~2:0.25", "fluid", 4000.0, 2000.0, 1),
        ("ring:8,slow=2~1:0.25", "fluid", 1000.0, 1000.0, 1),
    ] {
        let machine = format!("free:model={model},byte_us=1,ports=all");
        let mut args = vec!["--topology", topology, "--algorithm", "linear", "--optimum"];
        args.extend(["--workload", &workload, "--machine", &machine]);
        let row = rows(&args).remove(0);
        assert_eq!((row.status, row.time_us), (Status::Ok, Some(us)), "{topology}, {model}");
        assert_eq!(row.critical_hops, Some(hops), "{topology}, {model}");
        assert!(row.lower_bound_us.unwrap() <= us && row.optimum_us.unwrap() <= us, "{topology}");
        // The optimum can split data. Node 1 has two links, one of them with a quarter of the
        // bandwidth, so 1000 bytes need at least 800 µs to leave it. The other messages need at
        // most 1000 µs.
        assert!(row.optimum_us.unwrap() <= bound, "{topology}: {:?}", row.optimum_us);
    }
}

/// In an all-to-all of blocks of 100 bytes, the optimum on a ring of four nodes is the time of 2
/// blocks, because two links connect the halves. Without a link, it is the time of 4 blocks,
/// because the 4 blocks of a half of the line cross the middle link.
#[test]
fn bounds_and_the_optimum_have_the_missing_capacity() {
    let machine = "free:model=fluid,byte_us=1";
    let of = |topology: &str| {
        let mut args = vec!["--topology", topology, "--algorithm", "linear", "--optimum"];
        args.extend(["--workload", "uniform:100", "--machine", machine]);
        let row = rows(&args).remove(0);
        (row.lower_bound_us.unwrap(), row.optimum_us.unwrap())
    };
    assert_eq!(of("ring:4"), (200.0, 200.0));
    assert_eq!(of("ring:4,down=0-3"), (400.0, 400.0));
    assert_eq!(of("ring:4,slow=0-3:0.5+1-2:0.5"), (400.0, 400.0));
    // Only the direction from 0 to 3 of the link has failed. The 4 blocks from nodes 0 and 1 to
    // nodes 2 and 3 all cross the link 1-2. In the opposite direction, blocks use both links.
    assert_eq!(of("ring:4,down=0~3"), (400.0, 400.0));
}

#[test]
fn models_without_links_refuse_failed_links() {
    const FLAT: &str = "the model `flat` does not support failed or slow links: it has no links";
    const LOGGP: &str = "the model `loggp` does not support failed or slow links: it has no links";
    for (topology, machine, reason) in [
        ("ring:8,down=0-1", "sp2", FLAT),
        ("ring:8,slow=0-1:0.5", "free:model=loggp,byte_us=1", LOGGP),
        ("ring:8,faults=0", "sp2", FLAT),
        ("ring:8,slow-links=1:0.5:7", "sp2", FLAT),
    ] {
        let args = ["--topology", topology, "--algorithm", "ring", "--machine", machine];
        let row = rows(&[&args[..], &["--workload", "uniform:8"]].concat()).remove(0);
        assert_eq!((row.status, row.reason.as_str()), (Status::Unsupported, reason));
    }
}

/// If the failed links are not whole orbits of the symmetry, all nodes are planned.
#[test]
fn failed_links_that_are_no_orbits_end_the_symmetry() {
    let of = |topology: &str, proof: &str| {
        let mut args = vec!["--topology", topology, "--algorithm", "pairwise", "--proof", proof];
        args.extend(["--workload", "uniform:64", "--machine", "paragon"]);
        rows(&args).remove(0)
    };
    // `pairwise` exchanges with the rank whose number differs in some bits, so all ranks are one
    // orbit. The exclusive-or of rank numbers with 2, 4, etc. maps the link 0-1 to 2-3, 4-5, etc.
    for (topology, planned) in [
        ("torus:4x4", 1),
        ("torus:4x4,down=0-1", 16),
        ("torus:4x4,faults=2", 16),
        ("torus:4x4,faults=0", 1),
        ("fully-connected:8,down=0-1", 8),
        ("fully-connected:8,down=0-1+2-3+4-5+6-7", 1),
        ("fully-connected:8,slow=0-1:0.5+2-3:0.5+4-5:0.5+6-7:0.5", 1),
        ("fully-connected:8,slow=0-1:0.5+2-3:0.5+4-5:0.5+6-7:0.25", 8),
    ] {
        let (auto, full) = (of(topology, "auto"), of(topology, "full"));
        assert_eq!(auto.proved_on, Some(planned), "{topology}");
        let values = |row: &swapmeet_results::Record| {
            (row.time_us, row.max_link_messages, row.total_hop_bytes, row.lower_bound_us)
        };
        assert_eq!(values(&auto), values(&full), "{topology}");
        assert_eq!(full.proved_on, Some(full.nodes), "{topology}");
    }
}

/// In each repetition, all algorithms get the pattern of its seed. `compare` tests over these
/// patterns.
#[test]
fn repetitions_are_a_sample_over_patterns() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("rows.csv");
    let out = file.to_str().unwrap();
    let args = words(
        "run --topology torus:4x4,faults=2 --topology torus:4x4,slow-links=3:0.5,place=random \
         --algorithm pairwise --algorithm linear --workload uniform:1KiB --machine paragon \
         --repetitions 5 --seed 7 --quiet --out",
    );
    swapmeet(&[args, vec![out]].concat()).assert().success();
    let all = swapmeet_results::read_file(&file).unwrap();
    assert_eq!(all.len(), 20);
    for row in &all {
        let same = all.iter().find(|other| {
            (other.seed, &other.topology) == (row.seed, &row.topology)
                && other.algorithm != row.algorithm
        });
        assert_eq!(same.unwrap().faults, row.faults);
        assert!(row.topology == "torus:4x4,faults=2" || row.topology.ends_with(",place=random"));
        let fixed = row.topology.replace("faults=2", &format!("faults=2:{}", row.seed));
        let fixed = fixed.replace("slow-links=3:0.5", &format!("slow-links=3:0.5:{}", row.seed));
        let fixed = fixed.replace("place=random", &format!("place=random:{}", row.seed));
        let mut args = vec!["--topology", &fixed, "--algorithm", &row.algorithm];
        args.extend(["--workload", "uniform:1KiB", "--machine", "paragon"]);
        let again = rows(&args).remove(0);
        assert_eq!((&again.faults, again.time_us), (&row.faults, row.time_us), "{fixed}");
        if row.topology == "torus:4x4,faults=2" {
            let listed = format!("torus:4x4,{}", row.faults);
            let mut args = vec!["--topology", &listed, "--algorithm", &row.algorithm];
            args.extend(["--workload", "uniform:1KiB", "--machine", "paragon"]);
            assert_eq!(rows(&args)[0].time_us, row.time_us, "{listed}");
        }
    }
    let mut patterns: Vec<&str> = all.iter().map(|row| row.faults.as_str()).collect();
    patterns.sort_unstable();
    patterns.dedup();
    assert_eq!(patterns.len(), 10, "{patterns:?}");
    let compared = printed(&["compare", out]);
    assert!(compared.contains("\nfaults=2 "), "{compared}");
    assert!(!compared.contains("deterministic"), "{compared}");
    let again = swapmeet(&["rerun", out, "--all"]).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&again.stderr),
        "20 rows run again: 20 identical, 0 different\n"
    );
}

#[test]
fn describe_lists_links_by_the_vertices_of_the_network() {
    let text = printed(&words("list topologies --describe ring:4,down=0~1,slow=2-3:0.5"));
    let (_, links) = text.split_once("\n\n").unwrap();
    assert_eq!(
        links,
        "links (A-B both directions, A~B from A to B, :F has F times the bandwidth):\n0-3 1~0 1-2 2-3:0.5\n"
    );
    let placed = printed(&words("list topologies --describe ring:4,place=random:3"));
    assert!(placed.ends_with(":\n0-1 0-3 1-2 2-3\n"), "{placed}");
    let drawn = printed(&words("list topologies --describe torus:4x4,faults=1"));
    let row =
        rows(&words("--topology torus:4x4,faults=1 --algorithm pairwise --workload uniform:1"));
    assert!(drawn.contains(&row[0].faults) && drawn.contains("each repetition draws its own"));
    let json = printed(&words("list topologies --describe fat-tree:2x1 --format json"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["links"][0], serde_json::json!({ "from": 0, "to": 2, "bandwidth": 1.0 }));
    assert_eq!(json["links"].as_array().unwrap().len(), 4);
}

/// The bridge 0-1 connects node 0 with a triangle. In an all-to-all of 100 bytes at 1 byte per µs,
/// three messages cross the bridge in each direction, so the schedule takes 300 µs. If the link 1-2
/// fails, four messages cross 1-3; if 1-3 fails, four cross 1-2. If 2-3 fails, two messages cross
/// each of the links 1-2 and 1-3.
#[test]
fn links_ranks_the_failures_of_single_links() {
    let folder = tempdir().unwrap();
    let (graph, out) = (folder.path().join("net.txt"), folder.path().join("rows.csv"));
    std::fs::write(&graph, "0 1\n1 2\n1 3\n2 3\n").unwrap();
    let topology = format!("graph:{}", graph.display());
    let mut args = words("links --algorithm linear --workload uniform:100 --machine");
    args.extend(["free:model=wormhole,byte_us=1,ports=all", "--topology", &topology]);
    let ranking = printed(&[&args[..], &["--out", out.to_str().unwrap()]].concat());
    insta::assert_snapshot!(ranking, @r"
    link down  links              linear
    none                        300.0 µs
    0-1            1         disconnects
    1-2            1  400.0 µs (1.333 x)
    1-3            1  400.0 µs (1.333 x)
    2-3            1  300.0 µs (1.000 x)
    ");
    let all = swapmeet_results::read_file(&out).unwrap();
    let values: Vec<_> = all.iter().map(|row| (row.status, row.time_us)).collect();
    assert_eq!(
        values,
        [
            (Status::Ok, Some(300.0)),
            (Status::Unsupported, None),
            (Status::Ok, Some(400.0)),
            (Status::Ok, Some(400.0)),
            (Status::Ok, Some(300.0))
        ]
    );
    assert_eq!(all[1].reason, "its failure disconnects ranks");
    assert_eq!(all[2].topology, format!("{topology},down=1-2"));
    let mut args = vec!["--topology", &all[2].topology, "--algorithm", "linear"];
    args.extend(["--workload", "uniform:100"]);
    args.extend(["--machine", "free:model=wormhole,byte_us=1,ports=all"]);
    assert_eq!(crate::support::timeless(&rows(&args)[0]).time_us, all[2].time_us);
    // The network already lacks a link. Each row except the first has one more failed link.
    let mut args = words("links --algorithm linear --out - --topology torus:3x3,down=0-1");
    args.extend(["--workload", "uniform:8", "--machine", "free:byte_us=1"]);
    let rows = swapmeet_results::read_records("rows", &printed(&args)).unwrap();
    assert_eq!(rows.len(), 1 + 17);
    assert!(rows.iter().any(|row| row.topology == "torus:3x3,down=0-1+0-2"), "{rows:?}");
}

/// On a symmetric torus, a schedule takes equally long for each failed link of a dimension.
#[test]
fn one_link_of_each_orbit_stands_for_all() {
    let machine = "free:model=wormhole,byte_us=1,ports=all";
    let run = |more: &[&str]| {
        let mut args =
            words("links --topology torus:3x4 --algorithm gen --algorithm direct --out -");
        args.extend(["--machine", machine]);
        swapmeet_results::read_records("rows", &printed(&[&args[..], more].concat())).unwrap()
    };
    let (all, few) = (run(&[]), run(&["--one-per-orbit"]));
    assert_eq!((all.len(), few.len()), (2 * (1 + 24), 2 * (1 + 2)));
    for row in few.iter().filter(|row| row.topology == "torus:3x4") {
        assert!(all.iter().any(|other| other.time_us == row.time_us));
    }
    let text = printed(
        &[
            &words("links --topology torus:3x4 --algorithm linear --one-per-orbit")[..],
            &["--machine", machine],
        ]
        .concat(),
    );
    assert!(text.contains("0-1           12  ") && text.contains("0-4           12  "), "{text}");
}

#[test]
fn links_says_why_an_algorithm_has_no_times() {
    let output = swapmeet(&words(
        "links --topology ring:3 --algorithm linear --algorithm dim-rotation \
        --algorithm ring-allreduce",
    ))
    .output()
    .unwrap();
    assert!(output.status.success());
    let message = String::from_utf8(output.stderr).unwrap();
    let reason = "`ring-allreduce` does not implement `alltoall`, only workloads `allreduce/..`";
    assert!(
        message.contains(&format!("ring-allreduce on ring:3: unsupported: {reason}")),
        "{message}"
    );
}

/// Closed forms for n nodes and blocks of m bytes at 1 byte per µs:
///
/// - `folded-ring` takes `m n (n - 1) / 2`, whether the ring is intact or not.
/// - The optimum of the intact ring is `m n^2 / 8`. It follows from the cut into halves.
/// - Without one link, the ring is a line, and the optimum is `m n^2 / 4`.
///
/// `half-ring` and `flow` reach the optimum in both cases. The network reroutes the messages of
/// `half-ring` around a failed link.
#[test]
fn recovery_on_a_ring_has_the_closed_forms() {
    let n = 8.0;
    for (topology, optimum) in [
        ("ring:8", n * n / 8.0),
        ("ring:8,down=0-7", n * n / 4.0),
        ("ring:8,down=3-4", n * n / 4.0),
    ] {
        let mut args = words(
            "--algorithm folded-ring --algorithm half-ring --algorithm flow --optimum --workload uniform:100",
        );
        args.extend(["--topology", topology, "--machine", "free:model=fluid,byte_us=1,ports=all"]);
        let times: Vec<f64> = rows(&args).iter().map(|row| row.time_us.unwrap()).collect();
        assert_eq!(
            times,
            [n * (n - 1.0) / 2.0, optimum, optimum].map(|blocks| 100.0 * blocks),
            "{topology}"
        );
        assert_eq!(rows(&args)[0].optimum_us, Some(100.0 * optimum), "{topology}");
    }
}

/// On an irregular network, the routes may share fewer links after the loss of a link than before.
#[test]
fn links_whose_loss_makes_a_schedule_faster_are_shown_as_such() {
    let machine = "free:model=fluid,startup_us=1,byte_us=0.001";
    let args = ["--algorithm", "linear", "--workload", "uniform:1KiB", "--machine", machine];
    let network = "jellyfish:6x3x1,seed=1";
    let table = printed(&[&["links", "--topology", network][..], &args].concat());
    let on =
        |topology: &str| rows(&[&["--topology", topology][..], &args].concat())[0].time_us.unwrap();
    let ratio = on(&format!("{network},down=6-8")) / on(network);
    assert!(ratio < 0.9, "{ratio}");
    let line = table.lines().find(|line| line.starts_with("6-8 ")).unwrap();
    assert!(line.ends_with(&format!("({ratio:.3} x, faster)")), "{line}");
    let [fastest, reason] = [
        &*format!("linear is faster without 6-8 ({ratio:.3} x)"),
        "because routes do not depend on loads",
    ]
    .map(|words| table.lines().position(|line| line.contains(words)).unwrap());
    assert!(fastest < reason, "{table}");
    let torus = printed(&[&["links", "--topology", "torus:3x3"][..], &args].concat());
    assert!(!torus.contains("faster"), "{torus}");
}

#[test]
fn links_refuses_random_links() {
    let error =
        crate::support::refused(&words("links --topology torus:3x3,faults=1 --algorithm linear"));
    assert!(
        error.contains("one more failure would change the links that are drawn at random"),
        "{error}"
    );
}

#[test]
fn a_figure_over_failed_links_has_means_ranges_and_the_optimum() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (rows, points, picture) = (path("rows.csv"), path("points.csv"), path("faults.svg"));
    let (swing, bucket) = ("swing-allreduce", "bucket-allreduce");
    let mut args = words(
        "run --topology torus:4x4 --topology torus:4x4,faults=1 --topology torus:4x4,faults=4 \
         --topology mesh:4x4 --workload allreduce/uniform:1MiB --repetitions 4 --optimum --quiet \
         --machine free:model=fluid,byte_us=0.001,startup_us=1",
    );
    args.extend(["--algorithm", swing, "--algorithm", bucket, "--out", &rows]);
    swapmeet(&args).assert().success();
    let with = |out: &'static str, more: &[&'static str]| {
        let out = if out == "points" { &points } else { &picture };
        let args = ["plot", "curves", &rows, "--x", "faults", "--force", "--out", out];
        swapmeet(&[&args[..], more].concat())
    };
    let output = with("points", &[]).assert().success();
    assert_eq!(
        String::from_utf8_lossy(&output.get_output().stderr),
        "not shown: 1 case without failed links\n\
         swing-allreduce is fastest at 0 failed links\n\
         bucket-allreduce and swing-allreduce are not told apart at 1 and 4 failed links\n",
        "a winner needs a significant difference"
    );
    let table = std::fs::read_to_string(&points).unwrap();
    let all = swapmeet_results::read_file(std::path::Path::new(&rows)).unwrap();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mut lines, mut means) = (0, std::collections::BTreeMap::new());
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let topology = match fields[2] {
            "0" => "torus:4x4".to_owned(),
            links => format!("torus:4x4,faults={links}"),
        };
        let value = |row: &swapmeet_results::Record| match fields[1] {
            "optimum" => row.optimum_us,
            algorithm => row.time_us.filter(|_| row.algorithm == algorithm),
        };
        let own = all.iter().filter(|row| row.topology == topology);
        let own: Vec<f64> = own.filter_map(value).collect();
        let y: f64 = fields[3].parse().unwrap();
        assert!((y - mean(&own)).abs() < 1e-6, "{line}: {own:?}");
        if let [Ok(low), Ok(high)] = [4, 5].map(|at| fields[at].parse::<f64>()) {
            assert!(own.contains(&low) && own.contains(&high), "{line}: {own:?}");
            assert!(own.iter().all(|time| (low..=high).contains(time)), "{line}: {own:?}");
        }
        means.insert((fields[1], fields[2]), y);
        lines += 1;
    }
    assert_eq!(lines, 9, "two algorithms and the optimum at three numbers of failed links");
    for (links, is_swing) in [("0", true), ("1", true), ("4", false)] {
        assert_eq!(means[&(swing, links)] < means[&(bucket, links)], is_swing, "{links}");
    }
    with("picture", &["--algorithm", "swing-allreduce"]).assert().success();
    let svg = std::fs::read_to_string(&picture).unwrap();
    let bars = "Points are means over patterns of failed links, and bars the ranges over them.";
    for text in ["failed links", "optimum", "swing-allreduce", "0", "4", bars] {
        assert!(svg.contains(&format!(">{text}<")), "{text}: {svg}");
    }
    let output = with("picture", &["--topology", "mesh:4x4"]).assert().code(2);
    let printed = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    let message = "no row has values of failed links (x axis) and completion time (y axis)";
    assert!(printed.contains(message), "{printed}");
}
