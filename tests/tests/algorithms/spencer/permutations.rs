//! Permutations of Spencer's thesis (chapter 4 and Appendix A).

use super::{BLOCK_BYTES, costs, machine, proved, reaches, run};
use crate::support::{tools, words};
use std::collections::HashSet;
use swapmeet_results::{Record, Status};

const ROUTES: &str = "messages take routes that the schedule requests, not those of the network";

/// Fails unless the row is verified, and has the note on routes exactly if `has_own_routes`.
fn is_delivered(row: &Record, has_own_routes: bool) {
    proved(row);
    let Record { workload, topology, machine, note, .. } = row;
    let expected = if has_own_routes { ROUTES } else { "" };
    assert_eq!(note, expected, "{workload} on {topology} with {machine}");
}

fn channels_and_ports(row: &Record) -> (u32, bool) {
    let channels = row.machine.split_once("virtual_channels=");
    let channels = channels.map_or(1, |(_, number)| number.parse().unwrap());
    (channels, row.machine.contains("ports=all"))
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
        assert_eq!(
            costs(&format!("ring:{n}"), form, "permutation/transpose-1d:720720", "all", q),
            expected,
            "{n}"
        );
        if n < 100 {
            // In two dimensions, the numbers of rounds and blocks are those of a cycle. The number
            // of links is twice as large, plus 2 links for each round.
            let (rounds, links, blocks) = expected;
            for diagonal in ["transpose-2d", "transpose-2d-anti"] {
                assert_eq!(
                    costs(
                        &format!("torus:{n}x{n}"),
                        form,
                        &format!("permutation/{diagonal}:720720"),
                        "all",
                        q
                    ),
                    (rounds, 2.0 * links + 2.0 * rounds, blocks)
                );
            }
        }
    }
}

#[test]
fn standard_permutations_cost_as_much_as_an_independent_construction() {
    let of = |torus: &str, name: &str, q| {
        costs(torus, "torus-permutation", &format!("permutation/{name}:720720"), "all", q)
    };
    // With n = 4q s and s = (2q+1)^R, the number of blocks is n/4 + (s-1)/d.
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
    // The thesis prints 20, 20, 32 and 26 links. The schedules here need up to 4 links fewer.
    assert_eq!(of("torus:12x12x12", "reflect", 1), (3.0, 17.0, 3.667));
    assert_eq!(of("torus:12x12x12", "rotate-3d-180", 1), (3.0, 19.0, 3.667));
    assert_eq!(of("torus:12x12x12", "transpose-3d-1", 1), (4.0, 31.0, 6.667));
    assert_eq!(of("torus:12x12x12", "transpose-3d-2", 1), (4.0, 22.0, 6.667));
}

/// Unless a comment states another value, the expected rounds, links and blocks ([`costs`]) are
/// those of an independent implementation of the thesis. A schedule has them only if it divides
/// lines, and collects data, as evenly as n allows.
#[test]
fn no_round_uses_more_channels_or_links_than_it_must() {
    let cycle = |topology, name: &str, q, expected| {
        reaches(
            topology,
            &format!("torus-{name}"),
            &format!("{name}/uniform:720720"),
            ("all", q),
            expected,
        );
    };
    cycle("ring:32", "broadcast", 2, (3.0, 16.0, 4.0));
    cycle("ring:100", "broadcast", 3, (3.0, 50.0, 6.0));
    for name in ["scatter", "gather"] {
        // The longest circuits of the three rounds have 16 links in total, and 17 in the
        // independent implementation.
        cycle("ring:32", name, 2, (3.0, 16.0, 16.0));
    }
}

#[test]
fn a_direct_transposition_takes_a_round_for_q_of_a_quadrant_and_the_blocks_of_one_quadrant() {
    let of = |torus: &str, form: &str, name: &str, q| {
        costs(
            torus,
            &format!("torus-permutation{form}"),
            &format!("permutation/{name}:720720"),
            "1",
            q,
        )
    };
    // With a collection, the algorithm would take 5 rounds, 11 links and 7 blocks.
    for algorithm in ["torus-permutation:form=direct", "torus-permutation"] {
        reaches("ring:12", algorithm, "permutation/transpose-1d:720720", ("1", 1), (3.0, 9.0, 3.0));
    }
    for n in [36, 100, 200] {
        assert_eq!(
            of(&format!("ring:{n}"), ":form=direct", "transpose-1d", 1).2,
            f64::from(n) / 4.0,
            "{n}"
        );
    }
    for name in ["transpose-2d", "transpose-2d-anti"] {
        assert_eq!(of("torus:24x24", ":form=direct", name, 2), (3.0, 48.0, 6.0), "{name}");
    }
    let rows = run(
        &["torus:6x10", "torus:2x4", "torus:10x10", "torus:6x6x6"],
        &["torus-permutation:form=direct"],
        &[
            "permutation/transpose-1d:8,axis=1",
            "permutation/reflect:8",
            "permutation/axes:8,to=x.z.y",
        ],
        &[machine("1", 1), machine("1", 2), machine("all", 3)],
    );
    rows.iter().filter(|row| row.status != Status::Unsupported).for_each(proved);
    assert!(rows.iter().filter(|row| row.status == Status::Ok).count() >= 18);
}

#[test]
fn collectors_are_as_near_to_the_mirror_as_circuits_allow() {
    let standard = "torus-permutation:form=standard";
    // The longest circuits of the three rounds have 24 links in total, and 26 in the independent
    // implementation. If the collector of every section were its first node, they would have 28.
    reaches(
        "torus:24x24",
        standard,
        "permutation/transpose-2d:720720",
        ("1", 2),
        (3.0, 24.0, 10.0),
    );
}

#[test]
fn a_second_channel_never_increases_the_cost() {
    let of = |torus: &str, name: &str, q| {
        costs(torus, "torus-permutation", &format!("permutation/{name}:720720"), "all", q)
    };
    // There is room for the circuits of both transpositions, so they take a single round.
    let workload = "permutation/rotate-3d-120:720720";
    reaches("torus:12x12x12", "torus-permutation", workload, ("all", 2), (3.0, 26.0, 6.667));
    for (torus, name) in [
        ("torus:16x16", "transpose-2d"),
        ("torus:16x16", "reflect"),
        ("torus:12x12x12", "rotate-3d-180"),
    ] {
        let (one, two) = (of(torus, name, 1), of(torus, name, 2));
        assert!(
            two.0 <= one.0 && two.1 <= one.1 && two.2 <= one.2,
            "{name} on {torus}: {one:?}, {two:?}"
        );
    }
}

#[test]
fn sections_of_an_even_number_of_nodes_take_the_thesis_blocks_as_well() {
    if !tools::runs_all() {
        return;
    }
    let of = |name: &str, expected| {
        let workload = format!("permutation/{name}:720720");
        reaches(
            "torus:16x16x16",
            "torus-permutation:form=standard",
            &workload,
            ("all", 1),
            expected,
        );
    };
    // Formulas 4.25 to 4.27 give n/4 + n/12q - 1/3 blocks, and n/4 more for two of the
    // permutations. If collectors had to be at even and odd positions in turn, there would be
    // 10.67, 18.67 and 18.67 blocks.
    of("rotate-3d-180", (5.0, 29.0, 5.0));
    of("transpose-3d-1", (6.0, 43.0, 9.0));
    of("transpose-3d-2", (6.0, 34.0, 9.0));
}

#[test]
fn the_form_is_the_cheapest_on_the_machine() {
    let time = |form: &str, prices: &str| {
        let byte_us = 1.0 / BLOCK_BYTES;
        let machine =
            format!("free:model=circuit,ports=all,virtual_channels=1,byte_us={byte_us},{prices}");
        let algorithm = format!("torus-permutation{form}");
        let row =
            run(&["torus:36x36"], &[&algorithm], &["permutation/rotate-90:720720"], &[machine])
                .remove(0);
        proved(&row);
        row.time_us.unwrap_or(f64::NAN)
    };
    for prices in ["startup_us=1,hop_us=5", "startup_us=100,hop_us=0.01", "startup_us=1,hop_us=1"] {
        let [best, standard, balanced] =
            ["", ":form=standard", ":form=balanced"].map(|form| time(form, prices));
        assert!(
            best <= standard.min(balanced),
            "{prices}: {best} is more than the lower of {standard} and {balanced}"
        );
    }
    let dear_hops = "startup_us=1,hop_us=5";
    assert!(time("", dear_hops) < time(":form=balanced", dear_hops) / 2.0);
    let dear_start_ups = "startup_us=100,hop_us=0.01";
    assert!(time("", dear_start_ups) < time(":form=standard", dear_start_ups));
}

#[test]
fn balanced_rotations_by_90_degrees_take_the_rounds_and_blocks_of_formula_4_22() {
    // Formula 4.22 gives 2 log_(2q+1)(n/4q) + 1 rounds and n/4 + n/4q - 1 blocks.
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
            let (r, _, b) = costs(
                &format!("torus:{n}x{n}"),
                balanced,
                &format!("permutation/{name}:720720"),
                "all",
                q,
            );
            assert_eq!((r, b), (rounds, blocks), "{name} on {n}x{n}, q = {q}");
        }
    }
}

#[test]
fn balanced_rotations_are_delivered_on_any_even_torus_in_any_plane() {
    let machines: Vec<String> =
        [1, 2, 3, 4].iter().flat_map(|q| [machine("1", *q), machine("all", *q)]).collect();
    let sides: Vec<String> = (1..=9).map(|half| format!("torus:{0}x{0}", 2 * half)).collect();
    let tori: Vec<&str> = sides.iter().map(String::as_str).collect();
    let forms = ["torus-permutation:form=balanced"];
    let mut rows =
        run(&tori, &forms, &["permutation/rotate-90:8", "permutation/rotate-270:8"], &machines);
    let planes = [
        "permutation/axes:8,to=y.-x.z",
        "permutation/axes:8,to=-z.y.x",
        "permutation/axes:8,to=x.z.-y",
    ];
    rows.extend(run(&["torus:6x6x6"], &forms, &planes, &machines));
    for row in &rows {
        let (channels, all_ports) = channels_and_ports(row);
        let has_own_routes = match (&*row.workload, &*row.topology) {
            ("permutation/rotate-90:8", "torus:4x4") => channels != 2,
            ("permutation/rotate-90:8", "torus:6x6") => channels >= 3,
            ("permutation/rotate-270:8", "torus:12x12") => channels == 1 && !all_ports,
            ("permutation/axes:8,to=x.z.-y", _) => channels >= 3,
            _ => false,
        };
        is_delivered(row, has_own_routes);
    }
}

#[test]
fn with_one_port_collection_and_distribution_each_pay_in_full() {
    // The thesis has 8 blocks. The data of a section of three nodes (n/4q) is collected in its
    // middle node, over one link. The middle node of the outer section of a quadrant has the
    // coordinate n/4 - 2 = 4, and is 2 x 4 + 1 = 9 links from its image, -1 - 4. With one link for
    // the distribution, the total is 11.
    assert_eq!(
        costs(
            "ring:24",
            "torus-permutation:form=standard",
            "permutation/transpose-1d:720720",
            "1",
            2
        ),
        (3.0, 11.0, 10.0)
    );
}

#[test]
fn translations_meet_their_formulas() {
    let of = |torus: &str, by: &str, q, directions: &str| {
        let algorithm = format!("torus-permutation{directions}");
        costs(torus, &algorithm, &format!("permutation/translate:720720,by={by}"), "all", q)
    };
    // The expected values are those of formulas 4.12, 4.13, 4.14 and 4.15.
    assert_eq!(of("torus:12x12", "6", 1, ""), (3.0, 14.0, 4.0));
    assert_eq!(of("torus:12x12x12", "2", 2, ""), (1.0, 6.0, 2.0));
    assert_eq!(of("torus:27x27", "9", 1, ":directions=forward"), (5.0, 26.0, 13.0));
    assert_eq!(of("ring:45", "15", 2, ":directions=both"), (3.0, 34.0, 14.0));
    // The thesis moves the data along one dimension after another, in 7 rounds with 89/3 blocks.
    assert_eq!(of("torus:18x18x18", "3x9x7", 1, ""), (5.0, 27.0, 11.667));
}

#[test]
fn a_shear_takes_a_second_middle_round_if_one_is_infeasible() {
    let (rounds, _, _) =
        costs("torus:12x12", "torus-permutation", "permutation/shear-2d:720720", "all", 1);
    assert_eq!(rounds, 4.0, "formula 4.28 has 3");
}

#[test]
fn permutations_are_delivered_within_q_circuits_on_any_even_torus() {
    let names: Vec<String> = words(
        "transpose-1d:8 transpose-1d:8,axis=1 transpose-2d:8 transpose-2d-anti:8 rotate-90:8 rotate-180:8 \
        rotate-270:8 reflect:8 axes:8,to=-y.-x translate:8,by=1 translate:8,by=5 translate:8,by=-3 \
        translate:8,by=3x5 shear-2d:8 shear-2d:8,by=3 shear-2d:8,by=-2",
    )
    .iter()
    .map(|name| format!("permutation/{name}"))
    .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let machines: Vec<String> =
        [1, 2, 3].iter().flat_map(|q| [machine("1", *q), machine("all", *q)]).collect();
    let largest = if swapmeet_tests::runs_all() { 11 } else { 6 };
    let sides: Vec<String> = (1..=largest).map(|half| format!("torus:{0}x{0}", 2 * half)).collect();
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
        let (channels, all_ports) = channels_and_ports(&row);
        let name = row.workload.trim_start_matches("permutation/");
        let sides: HashSet<&str> = row.topology.trim_start_matches("torus:").split('x').collect();
        let has_own_routes = match (name.split_once(':').unwrap().0, &*row.topology) {
            ("transpose-1d" | "shear-2d", _) => false,
            ("rotate-90", "torus:4x4") => channels != 2,
            ("rotate-90", "torus:6x6") => channels == 3,
            ("rotate-270", "torus:12x12") => channels == 2 || channels == 1 && !all_ports,
            ("rotate-90", "torus:12x12") => channels == 2,
            ("rotate-90" | "rotate-270", "torus:16x16" | "torus:20x20")
            | ("rotate-90", "torus:18x18") => channels == 2 && all_ports,
            ("rotate-90" | "rotate-270", _) => false,
            _ => sides.len() == 1,
        };
        is_delivered(&row, has_own_routes);
    }
}

#[test]
fn every_permutation_of_three_axes_is_delivered_within_q_circuits() {
    if !tools::runs_all() {
        return;
    }
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
        // Circuits of one dimension at a time, and those of a rotation by 90 degrees, take the
        // routes of the network.
        let axes = row.workload.split_once("to=").unwrap().1;
        let moved: Vec<(&str, &str)> =
            ["x", "y", "z"].into_iter().zip(axes.split('.')).filter(|(a, to)| a != to).collect();
        let reversed = moved.iter().filter(|(_, to)| to.starts_with('-')).count();
        let is_rotated = moved.len() == 2 && reversed == 1;
        is_delivered(&row, moved.len() > 1 && !is_rotated);
    }
    let uneven = ["torus:4x8x4", "torus:4x8x6"];
    for row in run(
        &uneven,
        &["torus-permutation"],
        &["permutation/reflect:3", "permutation/translate:3,by=2x3x1"],
        &machines,
    ) {
        proved(&row);
    }
}

/// The schedule states paths as lists of nodes, so nodes with adjacent numbers must be neighbours.
#[test]
fn placed_ranks_are_refused() {
    let row = |place: &str| {
        let topology = format!("torus:4x4{place}");
        let workload = "permutation/transpose-2d:64";
        let machine = "free:model=circuit,ports=all";
        crate::support::row_of(&topology, "torus-permutation", workload, machine)
    };
    for place in ["", ",place=block", ",down=0-1"] {
        assert_eq!(row(place).status, Status::Ok, "{}", row(place).reason);
    }
    for place in [",place=random", ",place=random:7"] {
        let row = row(place);
        assert_eq!(row.status, Status::Unsupported, "{}", row.reason);
        assert!(
            row.reason.starts_with("needs ranks that are placed in the order"),
            "{}",
            row.reason
        );
    }
}
