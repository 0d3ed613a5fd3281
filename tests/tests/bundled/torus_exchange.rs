use crate::support::rehearsals::refusal;
use swapmeet_sdk::Rehearsal;

mod by_dimension {
    use super::*;
    use swapmeet_plugin_torus_exchange::by_dimension::ByDimension;

    #[test]
    fn every_shape_has_the_cost_of_the_closed_form() {
        for (kind, dims) in [
            ("torus", &[4, 6][..]),
            ("torus", &[3, 2, 5]),
            ("mesh", &[5, 3]),
            ("ring", &[9]),
            ("torus", &[1, 1]),
        ] {
            let nodes: u64 = dims.iter().product();
            let proved = Rehearsal::on(kind, dims).verify(&ByDimension).unwrap();
            let (steps, blocks) = (
                dims.iter().map(|n| n - 1).sum(),
                dims.iter().map(|n| (n - 1) * (nodes / n)).sum::<u64>(),
            );
            assert_eq!((proved.steps, proved.critical_bytes), (steps, blocks), "{kind} {dims:?}");
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        }
    }
}

mod dim_rotation {
    use super::*;
    use swapmeet_plugin_torus_exchange::dim_rotation::DimRotation;

    #[test]
    fn equal_dimensions_have_the_cost_of_the_closed_form() {
        for dims in [&[4, 4][..], &[6, 6], &[4, 4, 4], &[8]] {
            let (d, n, nodes) = (dims.len() as u64, dims[0], dims.iter().product::<u64>());
            let problem = Rehearsal::on("torus", dims).ports(u64::MAX).block_bytes(2 * d);
            let proved = problem.verify(&DimRotation).unwrap();
            assert_eq!(
                (proved.steps, proved.critical_bytes),
                (d * n / 2, n * nodes / 8 * 2 * d),
                "{dims:?}"
            );
        }
    }

    #[test]
    fn every_torus_is_supported() {
        for dims in [&[5, 3][..], &[2, 3, 4], &[1, 6], &[1, 1], &[3, 1, 5]] {
            let proved = Rehearsal::on("torus", dims)
                .ports(u64::MAX)
                .block_bytes(12)
                .verify(&DimRotation)
                .unwrap();
            let longest = dims.iter().max().unwrap() / 2;
            assert_eq!(
                proved.steps,
                longest * dims.iter().filter(|n| **n > 1).count() as u64,
                "{dims:?}"
            );
        }
    }
}

mod folded_ring {
    use super::*;
    use swapmeet_plugin_torus_exchange::folded_ring::FoldedRing;

    #[test]
    fn every_ring_has_the_cost_of_the_closed_form() {
        for n in 1..16_u64 {
            let problem = Rehearsal::on("ring", &[n]).ports(1).block_bytes(2);
            let proved = problem.verify(&FoldedRing).unwrap();
            assert_eq!((proved.steps, proved.critical_bytes), (n - 1, n * (n - 1)), "{n}");
        }
    }

    #[test]
    fn other_networks_are_refused() {
        let refused = |kind, dims: &[u64]| refusal(&Rehearsal::on(kind, dims), &FoldedRing);
        assert_eq!(refused("torus", &[4, 4]), "runs only on one dimension");
        assert_eq!(
            refused("mesh", &[4]),
            "runs only on a torus or a ring; this topology is `mesh:4`"
        );
    }
}

mod half_ring {
    use super::*;
    use swapmeet_plugin_torus_exchange::half_ring::HalfRing;

    #[test]
    fn every_ring_has_the_cost_of_the_closed_form() {
        // On a ring of two nodes, both directions lead to the same node, so it is left out.
        for n in (1..16_u64).filter(|n| *n != 2) {
            let problem = Rehearsal::on("ring", &[n]).ports(u64::MAX).block_bytes(2);
            let proved = problem.verify(&HalfRing).unwrap();
            let blocks = if n % 2 == 0 { n * n / 4 } else { (n * n - 1) / 4 };
            // Blocks have two bytes, because halves are sent too.
            assert_eq!((proved.steps, proved.critical_bytes), (n / 2, blocks), "{n}");
        }
    }

    #[test]
    fn other_networks_are_refused() {
        let refused = |kind, dims: &[u64]| refusal(&Rehearsal::on(kind, dims), &HalfRing);
        assert_eq!(
            refused("torus", &[4, 4]),
            "runs only on one dimension; use `dim-rotation` for several"
        );
        assert_eq!(
            refused("mesh", &[4]),
            "runs only on a torus or a ring; this topology is `mesh:4`"
        );
    }
}
