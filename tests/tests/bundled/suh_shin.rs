//! The SDK verifies every block of whole schedules. Hops and links are tested in `algorithms`.

use crate::support::rehearsals::refusal;
use swapmeet_plugin_suh_shin::SuhShin;
use swapmeet_sdk::{Proved, Rehearsal};

fn verify_on(kind: &str, dims: &[u64]) -> Proved {
    let proved = Rehearsal::on(kind, dims)
        .verify(&SuhShin)
        .unwrap_or_else(|why| panic!("{kind} {dims:?}: {why}"));
    assert!(
        proved.max_sends <= 1 && proved.max_receives <= 1,
        "{kind} {dims:?}: one port is not enough"
    );
    proved
}

fn shapes(n: u32, most: u64) -> impl Iterator<Item = Vec<u64>> {
    (0..most.pow(n)).map(move |i| (0..n).map(|k| i / most.pow(k) % most + 1).collect())
}

/// Returns the values of the formulas of Table 1. They are not exact if the last side is the
/// longest.
fn table_1(kind: &str, dims: &[u64]) -> [u64; 3] {
    let (n, nodes) = (dims.len() as u64, dims.iter().product::<u64>());
    let n1 = dims.iter().copied().max().unwrap();
    if kind == "torus" {
        [n * (n1 / 4 + 1), n * (n1 + 4) * nodes / 8, n + 1]
    } else {
        [n * n1 / 2, n * n1 * nodes / 4, n]
    }
}

#[test]
fn sizes_of_whole_submeshes_match_table_1() {
    let tori: &[&[u64]] = &[
        &[4, 4],
        &[8, 8],
        &[8, 12],
        &[12, 8],
        &[12, 12],
        &[16, 16],
        &[4, 4, 4],
        &[8, 4, 4],
        &[8, 8, 8],
        &[4, 4, 4, 4],
    ];
    let meshes: &[&[u64]] = &[
        &[2, 2],
        &[4, 4],
        &[6, 6],
        &[6, 8],
        &[8, 6],
        &[8, 8],
        &[6, 6, 6],
        &[6, 4, 2],
        &[4, 2, 2, 2],
    ];
    for (kind, shapes) in [("torus", tori), ("mesh", meshes)] {
        for dims in shapes {
            let got = verify_on(kind, dims);
            let nodes = dims.iter().product::<u64>();
            assert_eq!(
                [got.steps, got.critical_bytes, got.rearrangements],
                table_1(kind, dims),
                "{kind} {dims:?}"
            );
            if dims.iter().all(|d| *d == dims[0]) {
                assert_eq!(got.messages, nodes * got.steps, "{kind} {dims:?}: a node idles");
            }
        }
    }
}

/// The values of the table are too large, because only the first and the last ring phase use the
/// last dimension.
#[test]
fn table_1_is_not_exact_where_the_last_dimension_is_the_longest() {
    for (kind, dims, steps, blocks) in [
        ("torus", &[4, 4, 8][..], 8, 512),
        ("torus", &[8, 4, 4], 9, 576),
        ("torus", &[4, 4, 4, 8], 10, 2560),
        ("mesh", &[4, 6, 8], 11, 1056),
        ("mesh", &[2, 2, 2, 6], 8, 192),
    ] {
        let got = verify_on(kind, dims);
        assert_eq!((got.steps, got.critical_bytes), (steps, blocks), "{kind} {dims:?}");
    }
}

#[test]
fn virtual_nodes_cost_steps_and_blocks() {
    for (kind, dims, expected) in [
        ("torus", &[5, 5][..], [10, 177, 120]),
        ("torus", &[6, 6], [8, 176, 192]),
        ("torus", &[10, 10], [10, 584, 742]),
        ("torus", &[6, 10], [10, 372, 383]),
        ("mesh", &[3, 3], [6, 35, 30]),
        ("mesh", &[5, 5], [8, 121, 130]),
        ("mesh", &[5, 5, 5], [12, 1001, 975]),
    ] {
        let got = verify_on(kind, dims);
        assert_eq!([got.steps, got.critical_bytes, got.messages], expected, "{kind} {dims:?}");
    }
}

/// The expected number of steps is that of Table 1 at the padded size. If a torus has a side above
/// 4 that is not a multiple of 4, it takes two more steps. Each odd side adds one more step.
#[test]
fn every_small_plane_takes_the_expected_steps() {
    for (kind, most, q) in [("torus", 10, 4), ("mesh", 8, 2)] {
        for dims in shapes(2, most) {
            let got = verify_on(kind, &dims);
            let padded: Vec<u64> = dims.iter().map(|d| d.next_multiple_of(q)).collect();
            let halves = kind == "torus" && dims.iter().any(|d| *d > 4 && d % 4 != 0);
            let odd = dims.iter().filter(|d| **d >= 3 && **d % 2 == 1).count() as u64;
            let expected = table_1(kind, &padded)[0] + 2 * u64::from(halves) + odd;
            if dims.iter().all(|d| *d > 2) {
                assert_eq!(got.steps, expected, "{kind} {dims:?}");
            } else {
                assert!(got.steps <= expected, "{kind} {dims:?}");
            }
        }
    }
}

#[test]
fn every_small_three_dimensional_network_is_verified() {
    for kind in ["torus", "mesh"] {
        for dims in shapes(3, 5) {
            verify_on(kind, &dims);
        }
    }
    verify_on("torus", &[3, 2, 1, 5]);
    verify_on("mesh", &[3, 2, 1, 5]);
}

#[test]
fn one_node_sends_nothing() {
    assert_eq!(verify_on("torus", &[1, 1]), Proved::default());
    assert_eq!(verify_on("mesh", &[1, 1, 1]), Proved::default());
}

#[test]
fn other_topologies_are_refused() {
    let refused = |kind: &str, dims: &[u64]| refusal(&Rehearsal::on(kind, dims), &SuhShin);
    let line = "needs 2 or more dimensions";
    assert_eq!(refused("torus", &[16]), line);
    assert_eq!(refused("mesh", &[16]), line);
    assert_eq!(refused("ring", &[16]), "runs only on a torus or a mesh; this topology is a ring");
}

mod directions {
    use std::collections::HashSet;
    use swapmeet_plugin_suh_shin::directions::direction;
    use swapmeet_plugin_suh_shin::network::NetworkKind;

    // The column and the row of a node.
    const C: usize = 0;
    const R: usize = 1;

    fn nodes(side: u64, n: usize) -> impl Iterator<Item = Vec<u64>> {
        (0..side.pow(n as u32))
            .map(move |i| (0..n as u64).map(|k| i / side.pow(k as u32) % side).collect())
    }

    #[test]
    fn the_third_dimension_is_last_in_even_planes_and_first_in_odd_planes() {
        let turns = |x: [u64; 3]| [1, 2, 3].map(|turn| direction(NetworkKind::Torus, &x, turn));
        assert_eq!(turns([0, 0, 0]), [(C, 1), (R, 1), (2, 1)]);
        assert_eq!(turns([1, 0, 2]), [(R, 1), (C, 1), (2, -1)]);
        assert_eq!(turns([0, 0, 1]), [(2, 1), (C, 1), (R, 1)]);
        assert_eq!(turns([1, 0, 3]), [(2, -1), (R, 1), (C, 1)]);
        assert_eq!(
            direction(NetworkKind::Mesh, &[1, 1], 1),
            (C, 1),
            "forward on its logical rings"
        );
    }

    #[test]
    fn every_node_uses_every_dimension_once() {
        for n in 2..=6 {
            for x in nodes(2, n) {
                let used: HashSet<usize> =
                    (1..=n).map(|turn| direction(NetworkKind::Torus, &x, turn).0).collect();
                assert_eq!(used.len(), n, "{x:?}");
            }
        }
    }

    #[test]
    fn classes_of_a_line_use_different_directions() {
        for n in 2..=4 {
            for (kind, side) in [(NetworkKind::Torus, 4), (NetworkKind::Mesh, 2)] {
                for turn in 1..=n {
                    let mut used = HashSet::new();
                    for x in nodes(side, n) {
                        let (k, way) = direction(kind, &x, turn);
                        let mut line = x.clone();
                        line[k] = 0;
                        assert!(used.insert((line, k, way)), "turn {turn}, {x:?}");
                    }
                }
            }
        }
    }
}

mod phases {
    use swapmeet_plugin_suh_shin::network::{NetworkKind, PaddedNetwork};
    use swapmeet_plugin_suh_shin::phases::exchange_direction;
    use swapmeet_sdk::{Grid, Padded};

    #[test]
    fn exchanges_use_the_shorter_direction_between_homes() {
        let way = |size, here, there| {
            let nodes = Padded::new(Grid::new(&[1, size]).unwrap(), 4).unwrap();
            let network = PaddedNetwork {
                kind: NetworkKind::Torus,
                submesh: 4,
                nodes,
                axes: vec![1, 0],
                planned: None,
            };
            exchange_direction(&network, 1, (here, there), if here < there { 1 } else { -1 })
        };
        assert_eq!((way(4, 0, 2), way(4, 2, 0)), (1, -1), "equally short: inside the submesh");
        assert_eq!((way(10, 8, 10), way(10, 10, 8)), (-1, 1), "the home of 10 is 6");
        assert_eq!((way(3, 0, 2), way(3, 2, 0)), (-1, 1), "wrap-around");
        assert_eq!(way(3, 1, 3), 0, "a copy");
    }
}
