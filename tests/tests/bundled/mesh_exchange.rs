use crate::support::rehearsals::refusal;
use crate::support::tools::runs_all;
use std::collections::HashMap;
use swapmeet_sdk::{Algorithm, Grid, Rehearsal};

/// Returns the number of steps, the sum over steps of the longest message in blocks, the sum over
/// steps of the longest route in links, and the largest number of messages on a link in a step.
fn measure(algorithm: &dyn Algorithm, kind: &str, side: u64) -> (u64, u64, u64, u64) {
    let problem = Rehearsal::on(kind, &[side, side]);
    let proved = problem.verify(algorithm).unwrap();
    assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
    let grid = Grid::new(&[side, side]).unwrap();
    let (mut hops, mut max_link) = (0, 0);
    for step in problem.plan(algorithm).unwrap() {
        let mut loads: HashMap<(u64, usize, i64), u64> = HashMap::new();
        let mut longest = 0;
        for send in &step.sends {
            let row = |node| grid.coordinate(node, 0);
            let dimension = usize::from(row(send.from) == row(send.to));
            let [from, to] = [send.from, send.to].map(|node| grid.coordinate(node, dimension));
            let ahead = (to + side - from) % side;
            let up = match send.route.signs.get(dimension) {
                Some(sign) => *sign > 0,
                None if kind == "mesh" => to > from,
                None => 2 * ahead <= side,
            };
            let (way, links) = if up { (1, ahead) } else { (-1, side - ahead) };
            longest = longest.max(links);
            for link in 0..links as i64 {
                let node = grid.shift(send.from, dimension, way * link);
                *loads.entry((node, dimension, way)).or_default() += 1;
            }
        }
        hops += longest;
        max_link = max_link.max(loads.values().copied().max().unwrap_or(0));
    }
    (proved.steps, proved.critical_bytes, hops, max_link)
}

mod binary {
    use super::*;
    use swapmeet_plugin_mesh_exchange::binary::Binary;

    #[test]
    fn every_square_has_the_cost_of_the_closed_form() {
        for d in 0..5_u64 {
            let side = 1 << d;
            let (steps, blocks, hops, max_link) = measure(&Binary, "mesh", side);
            assert_eq!(
                (steps, blocks, hops),
                (2 * d, d * side * side, 4 * side - 2 * d - 4),
                "{side}"
            );
            assert_eq!(max_link, side / 2, "all of a row's half cross one link");
        }
    }
}

mod cyclic {
    use super::*;
    use swapmeet_plugin_mesh_exchange::cyclic::Cyclic;

    #[test]
    fn every_square_has_the_cost_of_table_2() {
        for d in 1..5_u64 {
            let side = 1 << d;
            assert_eq!(
                measure(&Cyclic, "mesh", side),
                (side, side.pow(3) / 2, (side * side).div_ceil(3), 1),
                "{side}"
            );
            let steps = Rehearsal::on("mesh", &[side, side]).plan(&Cyclic).unwrap();
            assert_eq!(steps.len() as u64, side);
        }
    }

    #[test]
    fn a_single_node_sends_nothing() {
        assert_eq!(measure(&Cyclic, "mesh", 1), (0, 0, 0, 0));
    }

    #[test]
    fn other_networks_are_refused() {
        for dims in [&[4, 8][..], &[6, 6], &[4, 4, 4]] {
            let refused = refusal(&Rehearsal::on("mesh", dims), &Cyclic);
            assert!(
                refused.starts_with(
                    "runs only on a mesh or torus of 2^d by 2^d; this topology is `mesh:"
                ),
                "{refused}"
            );
        }
    }
}

mod tori {
    use super::*;
    use swapmeet_plugin_mesh_exchange::tori::Tori;

    /// The values are those of Table 2 for reference [19], and no link carries two messages. The
    /// largest square takes six seconds, so it runs with `SWAPMEET_TESTS=all`.
    #[test]
    fn every_square_torus_has_the_cost_of_table_2() {
        for d in 2..if runs_all() { 6_u32 } else { 5 } {
            let side = 1_u64 << d;
            let blocks = side.pow(3) / 4 + side.pow(2);
            let hops = (side.pow(2) / 2 + 10) / 3;
            assert_eq!(measure(&Tori, "torus", side), (side / 2 + 2, blocks, hops, 1), "{side}");
        }
    }

    #[test]
    fn small_squares_are_verified_and_meshes_refused() {
        for side in [1, 2] {
            Rehearsal::on("torus", &[side, side]).verify(&Tori).unwrap();
        }
        let refused = refusal(&Rehearsal::on("mesh", &[4, 4]), &Tori);
        assert_eq!(refused, "runs only on a torus of 2^d by 2^d; this topology is `mesh:4x4`");
    }
}
