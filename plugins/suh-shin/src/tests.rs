//! The SDK verifies every block of whole schedules. Hops and links are tested by the workspace.

use crate::SuhShin;
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

/// The formulas are not exact if the last side is the longest.
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

/// The values are too large: only the first and the last ring phase use the last dimension.
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

/// The expected steps are those of Table 1 at the padded size, two more on a torus with a side
/// above 4 that is not a multiple of 4, and one more for each odd side.
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
    let refused = |kind: &str, dims: &[u64]| {
        Rehearsal::on(kind, dims).plan(&SuhShin).unwrap_err().to_string()
    };
    let line = "needs 2 or more dimensions";
    assert_eq!(refused("torus", &[16]), line);
    assert_eq!(refused("mesh", &[16]), line);
    assert_eq!(refused("ring", &[16]), "runs only on a torus or a mesh; this topology is a ring");
}
