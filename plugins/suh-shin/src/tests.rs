//! The whole schedule, through the plugin's own table, moved block by block.

mod machine;

use machine::{Figures, run};

fn run_on(kind: &str, dims: &[u64]) -> Figures {
    let figures = run(kind, dims).unwrap();
    assert!(figures.max_contention <= 1, "{kind} {dims:?}: contention {}", figures.max_contention);
    assert!(figures.max_ports <= 1, "{kind} {dims:?}: one port is not enough");
    figures
}

/// Every shape of `n` sides up to `most`.
fn shapes(n: u32, most: u64) -> impl Iterator<Item = Vec<u64>> {
    (0..most.pow(n)).map(move |i| (0..n).map(|k| i / most.pow(k) % most + 1).collect())
}

/// Table 1 for a network of this shape, if its longest side is not the last alone: steps, blocks, hops, rearrangements.
fn table_1(kind: &str, dims: &[u64]) -> [u64; 4] {
    let (n, nodes) = (dims.len() as u64, dims.iter().product::<u64>());
    let n1 = dims.iter().copied().max().unwrap();
    if kind == "torus" {
        [n * (n1 / 4 + 1), n * (n1 + 4) * nodes / 8, n * (n1 - 1), n + 1]
    } else {
        [n * n1 / 2, n * n1 * nodes / 4, n * ((n1 - 2).pow(2) + 2) / 2, n]
    }
}

#[test]
fn sizes_of_whole_submeshes_cost_what_table_1_says() {
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
    let meshes: &[&[u64]] =
        &[&[2, 2], &[4, 4], &[6, 6], &[6, 8], &[8, 6], &[8, 8], &[6, 6, 6], &[6, 4, 2], &[4, 2, 2, 2]];
    for (kind, shapes) in [("torus", tori), ("mesh", meshes)] {
        for dims in shapes {
            let got = run_on(kind, dims);
            let nodes = dims.iter().product::<u64>();
            assert_eq!([got.steps, got.blocks, got.hops, got.rearrangements], table_1(kind, dims), "{kind} {dims:?}");
            assert_eq!(got.peak_held, nodes, "{kind} {dims:?}: nobody ever holds more than at the start");
            if dims.iter().all(|d| *d == dims[0]) {
                assert_eq!(got.messages, nodes * got.steps, "{kind} {dims:?}: nobody idles");
            }
        }
    }
}

/// The last dimension is used in the first and the last ring phase only: Table 1 charges too much where it is the
/// longest.
#[test]
fn table_1_is_not_exact_where_the_last_dimension_is_the_longest() {
    for (kind, dims, steps, blocks, hops) in [
        ("torus", &[4, 4, 8][..], 8, 512, 17),
        ("torus", &[8, 4, 4], 9, 576, 21),
        ("torus", &[4, 4, 4, 8], 10, 2560, 20),
        ("mesh", &[4, 6, 8], 11, 1056, 47),
        ("mesh", &[2, 2, 2, 6], 8, 192, 20),
    ] {
        let got = run_on(kind, dims);
        assert_eq!((got.steps, got.blocks, got.hops), (steps, blocks, hops), "{kind} {dims:?}");
    }
}

#[test]
fn the_steps_of_an_8x12_torus_and_a_6x8_mesh() {
    let torus = [
        [1, 96, 64, 4],
        [1, 48, 32, 4],
        [2, 96, 64, 4],
        [2, 48, 32, 4],
        [3, 96, 48, 2],
        [3, 96, 48, 2],
        [4, 96, 48, 1],
        [4, 96, 48, 1],
    ];
    assert_eq!(run_on("torus", &[8, 12]).per_step, torus);
    let mesh = [
        [1, 48, 36, 6],
        [1, 48, 24, 6],
        [1, 24, 12, 6],
        [2, 48, 36, 6],
        [2, 48, 24, 6],
        [2, 24, 12, 6],
        [3, 48, 24, 1],
        [3, 48, 24, 1],
    ];
    assert_eq!(run_on("mesh", &[6, 8]).per_step, mesh);
}

/// A block goes one way round, whatever is nearer: (N - 1) / 2 hops a dimension on average in a torus.
#[test]
fn block_hops_have_a_closed_form() {
    for dims in [&[8, 12][..], &[16, 16], &[4, 8, 8]] {
        let nodes = dims.iter().product::<u64>();
        let sum: u64 = dims.iter().map(|d| d - 1).sum();
        assert_eq!(run_on("torus", dims).block_hops, nodes * nodes * sum / 2, "{dims:?}");
    }
    for dims in [&[6, 8][..], &[6, 6, 6]] {
        let nodes = dims.iter().product::<u64>();
        let sum: u64 = dims.iter().map(|d| nodes * nodes * (2 * (d - 2).pow(2) + d) / (2 * d)).sum();
        assert_eq!(run_on("mesh", dims).block_hops, sum, "{dims:?}");
    }
}

#[test]
fn virtual_nodes_cost_steps_blocks_and_memory() {
    for (kind, dims, [steps, blocks, hops, messages, block_hops, peak_held]) in [
        ("torus", &[5, 5][..], [10, 177, 22, 120, 2480, 64]),
        ("torus", &[6, 6], [8, 176, 18, 192, 6144, 64]),
        ("torus", &[10, 10], [10, 584, 34, 742, 93520, 192]),
        ("torus", &[6, 10], [10, 372, 34, 383, 25432, 112]),
        ("mesh", &[3, 3], [6, 35, 8, 30, 180, 16]),
        ("mesh", &[5, 5], [8, 121, 20, 130, 3200, 48]),
        ("mesh", &[5, 5, 5], [12, 1001, 30, 975, 120_000, 288]),
    ] {
        let got = run_on(kind, dims);
        let figures = [got.steps, got.blocks, got.hops, got.messages, got.block_hops, got.peak_held];
        assert_eq!(figures, [steps, blocks, hops, messages, block_hops, peak_held], "{kind} {dims:?}");
    }
}

/// Beyond Table 1 at the padded size, a torus pays two steps if some side above 4 is no multiple of 4, and any network
/// one for each odd side.
#[test]
fn every_small_plane_is_done_in_the_steps_expected() {
    for (kind, most, q) in [("torus", 10, 4), ("mesh", 8, 2)] {
        for dims in shapes(2, most) {
            let got = run_on(kind, &dims);
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
fn every_small_solid_is_done_without_contention() {
    for kind in ["torus", "mesh"] {
        for dims in shapes(3, 5) {
            run_on(kind, &dims);
        }
    }
    run_on("torus", &[3, 2, 1, 5]);
    run_on("mesh", &[3, 2, 1, 5]);
}

#[test]
fn one_node_has_nothing_to_do() {
    assert_eq!(run_on("torus", &[1, 1]), Figures::default());
    assert_eq!(run_on("mesh", &[1, 1, 1]), Figures::default());
}

#[test]
fn a_line_and_other_topologies_are_refused() {
    let line = "needs 2 or more dimensions: four classes of nodes go in four directions, and a line has two";
    assert_eq!(run("torus", &[16]).unwrap_err(), line);
    assert_eq!(run("mesh", &[16]).unwrap_err(), line);
    assert_eq!(run("ring", &[16]).unwrap_err(), "runs on `torus` and `mesh`, not on `ring`");
}
