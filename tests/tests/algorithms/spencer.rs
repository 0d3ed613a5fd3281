//! Spencer's algorithms, through the real plugin file: every collective and permutation delivered, within q circuits a link, in the rounds, links and blocks that were found by an
//! independent implementation or that the thesis's formulas give.

use super::planted::{Planned, only_the_right_schedule_does};
use crate::support::rows;
use swapmeet_results::{Record, Status, Verified};

/// A multiple of all numbers up to 16: what blocks are split in is whole bytes.
const BLOCK_BYTES: f64 = 720_720.0;
const ROUND_US: f64 = 4096.0 * BLOCK_BYTES;

/// A machine whose row has each term of a cost alone in its column, and on which schedules choose as the thesis does: rounds are dearest, switching is cheapest.
fn machine(ports: &str, q: u64) -> String {
    format!("free:model=circuit,startup_us={ROUND_US},hop_us=1,byte_us=1,ports={ports},virtual_channels={q}")
}

fn run(topologies: &[&str], algorithms: &[&str], workloads: &[&str], machines: &[String]) -> Vec<Record> {
    let flags = [("--topology", topologies), ("--algorithm", algorithms), ("--workload", workloads)];
    let mut args: Vec<&str> =
        flags.iter().flat_map(|(flag, specs)| specs.iter().flat_map(|spec| [*flag, *spec])).collect();
    args.extend(machines.iter().flat_map(|machine| ["--machine", machine.as_str()]));
    rows(&args)
}

fn proved(row: &Record) {
    let case = format!("{} on {}, {}, {}: {}", row.algorithm, row.topology, row.workload, row.machine, row.reason);
    assert_eq!((row.status, row.verified), (Status::Ok, Verified::Blocks), "{case}");
}

/// Rounds, links of the longest circuits, blocks.
fn costs(topology: &str, algorithm: &str, workload: &str, ports: &str, q: u64) -> (f64, f64, f64) {
    let rows = run(&[topology], &[algorithm], &[workload], &[machine(ports, q)]);
    proved(&rows[0]);
    cost(&rows[0])
}

fn cost(row: &Record) -> (f64, f64, f64) {
    let parts = row.parts();
    let of = |part: Option<f64>| part.unwrap_or(f64::NAN);
    let blocks = (of(parts.transmission) + of(parts.contention)) / BLOCK_BYTES;
    (of(parts.startup) / ROUND_US, of(parts.propagation), (blocks * 1000.0).round() / 1000.0)
}

/// A figure to be reached: the planned schedule costs this, and a wrong one does not.
fn reaches(topology: &str, algorithm: &str, workload: &str, (ports, q): (&str, u64), expected: (f64, f64, f64)) {
    assert_eq!(costs(topology, algorithm, workload, ports, q), expected, "{algorithm} on {topology}, {workload}");
    let planned = Planned { topology, algorithm, workload, machine: &machine(ports, q) };
    only_the_right_schedule_does(planned, |row| cost(row) == expected);
}

#[test]
fn disseminations_are_delivered_on_any_torus_with_any_channels_and_ports() {
    let tori = [
        "ring:1",
        "ring:2",
        "ring:7",
        "ring:16",
        "torus:5x4",
        "torus:9x9",
        "torus:1x6",
        "torus:3x4x5",
        "torus:2x3x2x3",
    ];
    let machines: Vec<String> = [1, 2, 3, 5].iter().flat_map(|q| [machine("1", *q), machine("all", *q)]).collect();
    for (algorithms, workload) in [
        (
            &["torus-broadcast", "torus-broadcast:variant=one-port", "torus-broadcast:variant=all-ports"][..],
            "broadcast",
        ),
        (&["torus-scatter"], "scatter"),
        (&["torus-gather"], "gather"),
        (&["torus-gossip", "torus-gossip:variant=hybrid", "torus-gossip:variant=one-port"], "allgather"),
        (&["torus-multiscatter", "torus-multiscatter:variant=hybrid"], "alltoall"),
    ] {
        run(&tori, algorithms, &[&format!("{workload}/uniform:12")], &machines).iter().for_each(proved);
    }
}

#[test]
fn broadcast_and_scatter_meet_the_formulas_where_logarithms_are_whole() {
    for (torus, q, rounds, links) in
        [("ring:27", 1, 3.0, 13.0), ("torus:9x9", 1, 4.0, 8.0), ("torus:25x25", 2, 4.0, 24.0)]
    {
        let d = if torus.contains('x') { 2.0 } else { 1.0 };
        let nodes = if torus == "ring:27" {
            27.0
        } else if q == 1 {
            81.0
        } else {
            625.0
        };
        assert_eq!(
            costs(torus, "torus-broadcast", "broadcast/uniform:720720", "all", q),
            (rounds, links, q as f64 * rounds / d),
            "{torus}"
        );
        for collective in ["scatter", "gather"] {
            assert_eq!(
                costs(torus, &format!("torus-{collective}"), &format!("{collective}/uniform:720720"), "all", q),
                (rounds, links, (nodes - 1.0) / (2.0 * d)),
                "{collective} on {torus}"
            );
        }
    }
}

#[test]
fn with_one_port_rounds_and_blocks_are_the_formulas_and_links_are_more() {
    assert_eq!(costs("ring:9", "torus-broadcast", "broadcast/uniform:720720", "1", 2), (2.0, 6.0, 4.0));
    assert_eq!(costs("ring:27", "torus-broadcast", "broadcast/uniform:720720", "1", 2), (3.0, 18.0, 6.0));
    // n/2 only if the first circuit goes to the neighbour.
    assert_eq!(costs("ring:16", "torus-scatter", "scatter/uniform:720720", "1", 1), (4.0, 8.0, 15.0));
}

#[test]
fn multi_scatters_on_rings_are_at_most_the_formulas_and_on_tori_what_bundles_of_one_size_cost() {
    let all = |torus, q, k| costs(torus, &format!("torus-multiscatter:cycles={k}"), "uniform:720720", "all", q);
    // Formula 3.8 has 20, 56 and 208.
    assert_eq!(all("ring:8", 2, 2), (3.0, 5.0, 16.0));
    assert_eq!(all("ring:16", 2, 2), (5.0, 9.0, 48.0));
    assert_eq!(all("ring:32", 4, 4), (6.0, 22.0, 200.0));
    // With k = 2q a link carries q + 1 circuits.
    let one_port = "torus-multiscatter:cycles=4";
    assert_eq!(costs("ring:16", one_port, "uniform:720720", "1", 3), (4.0, 12.0, 72.0));
    // (N-1)/(n-1) is wrong: 216, 90 and 108 printed, and 56.
    assert_eq!(costs("torus:8x8", one_port, "uniform:720720", "1", 3).2, 384.0);
    assert_eq!(all("torus:8x8", 2, 2).2, 128.0);
    let hybrid = "torus-multiscatter:variant=hybrid,cycles=4";
    assert_eq!(costs("torus:8x8", hybrid, "uniform:720720", "all", 3).2, 176.0);
    assert_eq!(all("torus:4x4x4", 2, 2).2, 96.0);
}

#[test]
fn a_gossip_with_one_port_is_formula_3_6s_kin_and_with_all_ports_sends_nothing_twice() {
    let one_port = "torus-gossip:cycles=4";
    assert_eq!(costs("ring:16", one_port, "allgather/uniform:720720", "1", 3), (4.0, 12.0, 25.0));
    // 24 printed: what goes to the node opposite needn't come from both sides.
    assert_eq!(costs("ring:16", "torus-gossip:cycles=2", "allgather/uniform:720720", "all", 2).2, 16.0);
}

#[test]
fn appendix_a_is_exact() {
    for (n, q, expected) in [
        (20, 1, (3.0, 11.0, 5.0)),
        (68, 1, (5.0, 49.0, 17.0)),
        (56, 2, (3.0, 33.0, 14.0)),
        (296, 2, (5.0, 199.0, 74.0)),
        (108, 3, (3.0, 63.0, 27.0)),
    ] {
        let form = "torus-permutation:form=combined";
        assert_eq!(costs(&format!("ring:{n}"), form, "permutation/transpose-1d:720720", "all", q), expected, "{n}");
        if n < 100 {
            // Two dimensions: rounds and blocks as on a cycle; links twice, and 2 a round more.
            let (rounds, links, blocks) = expected;
            for diagonal in ["transpose-2d", "transpose-2d-anti"] {
                assert_eq!(
                    costs(&format!("torus:{n}x{n}"), form, &format!("permutation/{diagonal}:720720"), "all", q),
                    (rounds, 2.0 * links + 2.0 * rounds, blocks)
                );
            }
        }
    }
}

#[test]
fn standard_permutations_cost_what_an_independent_construction_found() {
    let of =
        |torus: &str, name: &str, q| costs(torus, "torus-permutation", &format!("permutation/{name}:720720"), "all", q);
    // n = 4q s with s = (2q+1)^R; blocks n/4 + (s-1)/d.
    assert_eq!(of("ring:36", "transpose-1d", 1), (5.0, 17.0, 17.0));
    assert_eq!(of("ring:40", "transpose-1d", 2), (3.0, 19.0, 14.0));
    for name in ["transpose-2d", "transpose-2d-anti", "rotate-180", "reflect"] {
        assert_eq!(of("torus:36x36", name, 1), (5.0, 36.0, 13.0), "{name}");
    }
    for name in ["rotate-90", "rotate-270"] {
        let standard = "torus-permutation:form=standard";
        let cost = costs("torus:12x12", standard, &format!("permutation/{name}:720720"), "all", 1);
        assert_eq!(cost, (4.0, 17.0, 7.0), "{name}");
    }
    for name in ["rotate-3d-120", "rotate-3d-240"] {
        assert_eq!(of("torus:12x12x12", name, 1), (4.0, 26.0, 6.667), "{name}");
    }
    // As printed or up to 4 links better: 20, 20, 32 and 26.
    assert_eq!(of("torus:12x12x12", "reflect", 1), (3.0, 17.0, 3.667));
    assert_eq!(of("torus:12x12x12", "rotate-3d-180", 1), (3.0, 19.0, 3.667));
    assert_eq!(of("torus:12x12x12", "transpose-3d-1", 1), (4.0, 31.0, 6.667));
    assert_eq!(of("torus:12x12x12", "transpose-3d-2", 1), (4.0, 22.0, 6.667));
}

/// What an independent construction takes, and a line that is divided, or collected from, as evenly as n allows does not.
#[test]
fn no_round_uses_more_channels_or_links_than_it_must() {
    let cycle = |topology, name: &str, q, expected| {
        reaches(topology, &format!("torus-{name}"), &format!("{name}/uniform:720720"), ("all", q), expected);
    };
    cycle("ring:32", "broadcast", 2, (3.0, 16.0, 4.0));
    cycle("ring:100", "broadcast", 3, (3.0, 50.0, 6.0));
    for name in ["scatter", "gather"] {
        // 17 there.
        cycle("ring:32", name, 2, (3.0, 16.0, 16.0));
    }
}

#[test]
fn a_direct_transposition_takes_a_round_for_q_of_a_quadrant_and_the_blocks_of_one_quadrant() {
    let of = |torus: &str, form: &str, name: &str, q| {
        costs(torus, &format!("torus-permutation{form}"), &format!("permutation/{name}:720720"), "1", q)
    };
    // 5, 11 and 7 if it collects first.
    for algorithm in ["torus-permutation:form=direct", "torus-permutation"] {
        reaches("ring:12", algorithm, "permutation/transpose-1d:720720", ("1", 1), (3.0, 9.0, 3.0));
    }
    for n in [36, 100, 200] {
        assert_eq!(of(&format!("ring:{n}"), ":form=direct", "transpose-1d", 1).2, f64::from(n) / 4.0, "{n}");
    }
    for name in ["transpose-2d", "transpose-2d-anti"] {
        assert_eq!(of("torus:24x24", ":form=direct", name, 2), (3.0, 48.0, 6.0), "{name}");
    }
    let rows = run(
        &["torus:6x10", "torus:2x4", "torus:10x10", "torus:6x6x6"],
        &["torus-permutation:form=direct"],
        &["permutation/transpose-1d:8,axis=1", "permutation/reflect:8", "permutation/axes:8,to=x.z.y"],
        &[machine("1", 1), machine("1", 2), machine("all", 3)],
    );
    rows.iter().filter(|row| row.status != Status::Unsupported).for_each(proved);
    assert!(rows.iter().filter(|row| row.status == Status::Ok).count() >= 18);
}

#[test]
fn collectors_are_as_near_to_the_mirror_as_circuits_allow() {
    let standard = "torus-permutation:form=standard";
    // 28 links with the first node of every section, 26 found elsewhere.
    reaches("torus:24x24", standard, "permutation/transpose-2d:720720", ("1", 2), (3.0, 24.0, 10.0));
}

#[test]
fn a_second_channel_makes_nothing_dearer() {
    let of =
        |torus: &str, name: &str, q| costs(torus, "torus-permutation", &format!("permutation/{name}:720720"), "all", q);
    // Both transpositions in one round, as there is room for both.
    let workload = "permutation/rotate-3d-120:720720";
    reaches("torus:12x12x12", "torus-permutation", workload, ("all", 2), (3.0, 26.0, 6.667));
    for (torus, name) in
        [("torus:16x16", "transpose-2d"), ("torus:16x16", "reflect"), ("torus:12x12x12", "rotate-3d-180")]
    {
        let (one, two) = (of(torus, name, 1), of(torus, name, 2));
        assert!(two.0 <= one.0 && two.1 <= one.1 && two.2 <= one.2, "{name} on {torus}: {one:?}, {two:?}");
    }
}

#[test]
fn sections_of_an_even_number_of_nodes_take_the_thesis_blocks_as_well() {
    let of = |name: &str, expected| {
        let workload = format!("permutation/{name}:720720");
        reaches("torus:16x16x16", "torus-permutation:form=standard", &workload, ("all", 1), expected);
    };
    // Formulas 4.25 to 4.27: n/4 + n/12q - 1/3, and once more n/4. Collectors that have to be even and odd by turns take 10.67, and twice 18.67.
    of("rotate-3d-180", (5.0, 29.0, 5.0));
    of("transpose-3d-1", (6.0, 43.0, 9.0));
    of("transpose-3d-2", (6.0, 34.0, 9.0));
}

#[test]
fn the_form_is_the_cheapest_on_the_machine() {
    let time = |form: &str, prices: &str| {
        let byte_us = 1.0 / BLOCK_BYTES;
        let machine = format!("free:model=circuit,ports=all,virtual_channels=1,byte_us={byte_us},{prices}");
        let algorithm = format!("torus-permutation{form}");
        let row = run(&["torus:36x36"], &[&algorithm], &["permutation/rotate-90:720720"], &[machine]).remove(0);
        proved(&row);
        row.time_us.unwrap_or(f64::NAN)
    };
    for prices in ["startup_us=1,hop_us=5", "startup_us=100,hop_us=0.01", "startup_us=1,hop_us=1"] {
        let [best, standard, balanced] = ["", ":form=standard", ":form=balanced"].map(|form| time(form, prices));
        assert!(best <= standard.min(balanced), "{prices}: {best} beside {standard} and {balanced}");
    }
    let dear_hops = "startup_us=1,hop_us=5";
    assert!(time("", dear_hops) < time(":form=balanced", dear_hops) / 2.0);
    let dear_start_ups = "startup_us=100,hop_us=0.01";
    assert!(time("", dear_start_ups) < time(":form=standard", dear_start_ups));
}

#[test]
fn balanced_rotations_by_90_degrees_take_the_rounds_and_blocks_of_formula_4_22() {
    // 2 log_(2q+1)(n/4q) + 1 rounds, n/4 + n/4q - 1 blocks.
    for (n, q, rounds, blocks) in [
        (4, 1, 1.0, 1.0),
        (12, 1, 3.0, 5.0),
        (36, 1, 5.0, 17.0),
        (8, 2, 1.0, 2.0),
        (40, 2, 3.0, 14.0),
        (12, 3, 1.0, 3.0),
        (84, 3, 3.0, 27.0),
    ] {
        for name in ["rotate-90", "rotate-270"] {
            let balanced = "torus-permutation:form=balanced";
            let (r, _, b) = costs(&format!("torus:{n}x{n}"), balanced, &format!("permutation/{name}:720720"), "all", q);
            assert_eq!((r, b), (rounds, blocks), "{name} on {n}x{n}, q = {q}");
        }
    }
}

#[test]
fn balanced_rotations_are_delivered_on_any_even_torus_in_any_plane() {
    let machines: Vec<String> = [1, 2, 3, 4].iter().flat_map(|q| [machine("1", *q), machine("all", *q)]).collect();
    let sides: Vec<String> = (1..=9).map(|half| format!("torus:{0}x{0}", 2 * half)).collect();
    let tori: Vec<&str> = sides.iter().map(String::as_str).collect();
    let forms = ["torus-permutation:form=balanced"];
    let mut rows = run(&tori, &forms, &["permutation/rotate-90:8", "permutation/rotate-270:8"], &machines);
    let planes = ["permutation/axes:8,to=y.-x.z", "permutation/axes:8,to=-z.y.x", "permutation/axes:8,to=x.z.-y"];
    rows.extend(run(&["torus:6x6x6"], &forms, &planes, &machines));
    for row in &rows {
        proved(row);
        assert_eq!(row.note, "", "{} on {} with {}", row.workload, row.topology, row.machine);
    }
}

#[test]
fn with_one_port_collection_and_distribution_each_pay_in_full() {
    // The thesis has 8 blocks. Sections of three nodes (n/4q) collect at their middle, a link; the middle of a quadrant's outer section, n/4 - 2 = 4, is 2 x 4 + 1 links
    // from its image -1 - 4; and a link to distribute: 11.
    assert_eq!(
        costs("ring:24", "torus-permutation:form=standard", "permutation/transpose-1d:720720", "1", 2),
        (3.0, 11.0, 10.0)
    );
}

#[test]
fn translations_meet_their_formulas() {
    let of = |torus: &str, by: &str, q, directions: &str| {
        let algorithm = format!("torus-permutation{directions}");
        costs(torus, &algorithm, &format!("permutation/translate:720720,by={by}"), "all", q)
    };
    // (4.12), (4.13), (4.14), (4.15).
    assert_eq!(of("torus:12x12", "6", 1, ""), (3.0, 14.0, 4.0));
    assert_eq!(of("torus:12x12x12", "2", 2, ""), (1.0, 6.0, 2.0));
    assert_eq!(of("torus:27x27", "9", 1, ":directions=forward"), (5.0, 26.0, 13.0));
    assert_eq!(of("ring:45", "15", 2, ":directions=both"), (3.0, 34.0, 14.0));
    // One middle round for different distances, where the thesis moves step by step: 7 rounds, 89/3 blocks.
    assert_eq!(of("torus:18x18x18", "3x9x7", 1, ""), (5.0, 27.0, 11.667));
}

#[test]
fn a_shear_takes_a_second_middle_round_where_one_is_infeasible() {
    let (rounds, _, _) = costs("torus:12x12", "torus-permutation", "permutation/shear-2d:720720", "all", 1);
    assert_eq!(rounds, 4.0, "formula 4.28 has 3");
}

#[test]
fn permutations_are_delivered_within_q_circuits_on_any_even_torus() {
    let names: Vec<String> = [
        "transpose-1d:8",
        "transpose-1d:8,axis=1",
        "transpose-2d:8",
        "transpose-2d-anti:8",
        "rotate-90:8",
        "rotate-180:8",
        "rotate-270:8",
        "reflect:8",
        "axes:8,to=-y.-x",
        "translate:8,by=1",
        "translate:8,by=5",
        "translate:8,by=-3",
        "translate:8,by=3x5",
        "shear-2d:8",
        "shear-2d:8,by=3",
        "shear-2d:8,by=-2",
    ]
    .map(|name| format!("permutation/{name}"))
    .into();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let machines: Vec<String> = [1, 2, 3].iter().flat_map(|q| [machine("1", *q), machine("all", *q)]).collect();
    let sides: Vec<String> = (1..=11).map(|half| format!("torus:{0}x{0}", 2 * half)).collect();
    let mut tori: Vec<&str> = sides.iter().map(String::as_str).collect();
    tori.extend(["torus:8x16", "torus:6x10", "torus:2x8", "torus:12x4"]);
    for row in run(&tori, &["torus-permutation"], &names, &machines) {
        if row.status == Status::Unsupported {
            assert!(
                row.reason.contains("must be of the same size") || row.reason.contains("distances"),
                "{}",
                row.reason
            );
            continue;
        }
        proved(&row);
        assert_eq!(row.note, "", "{} on {} with {}", row.workload, row.topology, row.machine);
    }
}

#[test]
fn every_permutation_of_three_axes_is_delivered_within_q_circuits() {
    let mut workloads = Vec::new();
    for order in ["x.y.z", "x.z.y", "y.x.z", "y.z.x", "z.x.y", "z.y.x"] {
        for signs in 0..8 {
            let axes: Vec<String> = order
                .split('.')
                .enumerate()
                .map(|(i, axis)| format!("{}{axis}", if signs >> i & 1 == 1 { "-" } else { "" }))
                .collect();
            workloads.push(format!("permutation/axes:3,to={}", axes.join(".")));
        }
    }
    let workloads: Vec<&str> = workloads.iter().map(String::as_str).collect();
    let machines = [machine("all", 1), machine("all", 2), machine("1", 1)];
    for row in run(
        &["torus:2x2x2", "torus:6x6x6", "torus:8x8x8", "torus:10x10x10"],
        &["torus-permutation"],
        &workloads,
        &machines,
    ) {
        proved(&row);
        assert_eq!(row.note, "", "{} on {} with {}", row.workload, row.topology, row.machine);
    }
    let uneven = ["torus:4x8x4", "torus:4x8x6"];
    for row in
        run(&uneven, &["torus-permutation"], &["permutation/reflect:3", "permutation/translate:3,by=2x3x1"], &machines)
    {
        proved(&row);
    }
}

#[test]
fn a_direct_baseline_does_the_same() {
    let machines = [machine("all", 1)];
    for workload in [
        "broadcast/uniform:8",
        "scatter/uniform:8",
        "gather/uniform:8",
        "allgather/uniform:8",
        "permutation/rotate-90:8",
    ] {
        run(&["torus:6x6"], &["linear"], &[workload], &machines).iter().for_each(proved);
    }
}

#[test]
fn what_has_no_meaning_or_no_schedule_says_so() {
    let refusal = |topology: &str, algorithm: &str, workload: &str| {
        let rows = run(&[topology], &[algorithm], &[workload], &[machine("all", 1)]);
        assert_eq!(rows[0].status, Status::Unsupported, "{}", rows[0].reason);
        rows[0].reason.clone()
    };
    for (topology, algorithm, workload, reason) in [
        ("torus:8x16", "torus-permutation", "permutation/rotate-90:8", "they have 16 and 8 nodes"),
        (
            "ring:9",
            "torus-permutation",
            "permutation/transpose-1d:8",
            "takes dimensions of an even number of nodes, as the thesis does; one has 9",
        ),
        (
            "mesh:8x8",
            "torus-permutation",
            "permutation/reflect:8",
            "runs on a torus or a ring only, this is `mesh:8x8`",
        ),
        (
            "torus:8x8",
            "torus-permutation:form=combined",
            "permutation/rotate-90:8",
            "`form=combined` is for a single 1- or 2-dimensional transposition",
        ),
        (
            "torus:8x8",
            "torus-permutation:form=balanced",
            "permutation/rotate-180:8",
            "`form=balanced` is for a rotation by 90 degrees of two axes of an even number of nodes",
        ),
        (
            "ring:8",
            "torus-permutation:form=combined,variant=one-port",
            "permutation/transpose-1d:8",
            "`form=combined` is for all ports",
        ),
        (
            "torus:8x8",
            "torus-permutation:form=direct",
            "permutation/reflect:8",
            "`form=direct` is for 1- or 2-dimensional transpositions, one in axes of a size",
        ),
        ("ring:8", "torus-gossip:cycles=3", "allgather/uniform:8", "`cycles=3` does not divide a dimension of 8 nodes"),
    ] {
        let refused = refusal(topology, algorithm, workload);
        assert!(refused.ends_with(reason), "{refused}");
    }
    assert!(refusal("torus:8x8", "torus-permutation", "uniform:8").contains("permutation"));
}

/// A word that is none of the declared ones is a slip of the user's: no case is made of it.
#[test]
fn a_form_that_there_is_not_is_refused_before_anything_runs() {
    for (algorithm, words) in [
        ("torus-permutation:form=both", "standard, balanced, combined, direct"),
        ("torus-permutation:directions=back", "forward, both"),
        ("torus-broadcast:variant=hybrid", "one-port, all-ports"),
    ] {
        let args =
            ["run", "--topology", "ring:8", "--algorithm", algorithm, "--workload", "uniform:8", "--machine", "free"];
        let refused = crate::support::swapmeet(&args).assert().code(2);
        let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(error.contains(&format!("`: expected one of {words}\n")), "{error}");
        // nothing is like it, so there is nothing to propose
        assert!(!error.contains("help:"), "{error}");
    }
}

#[test]
fn q_0_is_no_machine() {
    let refused = crate::support::swapmeet(&[
        "run",
        "--topology",
        "ring:8",
        "--algorithm",
        "torus-broadcast",
        "--workload",
        "broadcast/uniform:8",
        "--machine",
        &machine("all", 0),
    ])
    .assert()
    .code(2);
    let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(error.contains("virtual_channels") && error.contains("expected"), "{error}");
}

#[test]
fn no_differing_figure_of_the_reproduction_lacks_a_reason() {
    let committed = swapmeet_tests::project("results/reproduced/spencer.csv");
    let mut reader =
        csv::Reader::from_path(&committed).unwrap_or_else(|error| panic!("{}: {error}", committed.display()));
    let mut cells = 0;
    for record in reader.records().map_while(Result::ok) {
        cells += 1;
        let reasons = record[6]
            .split("; ")
            .filter(|why| !why.starts_with("lower bound") && !why.ends_with("with the logarithm rounded up"));
        assert!(&record[5] == "agrees" || reasons.count() > 0, "{record:?}");
    }
    assert!(cells > 700, "{cells}");
}
