use crate::support::rehearsals::{between_groups, digit_steps, refusal};
use swapmeet_sdk::{Collective, Rehearsal};

mod bruck {
    use super::*;
    use swapmeet_plugin_classic::bruck::{Bruck, Distances};

    #[test]
    fn nodes_at_distances_are_rotated_bits() {
        for n in [1, 2, 5, 63, 64, 65, 130, 200] {
            for bit in [1, 2, 16, 128] {
                let distances = Distances::matching(n, |distance| distance & bit != 0);
                let mut out = vec![0; n.div_ceil(64) as usize];
                for node in 0..n {
                    distances.from(node, &mut out);
                    for d in 0..out.len() as u64 * 64 {
                        let expected = d < n && ((d + n - node) % n) & bit != 0;
                        assert_eq!(
                            out[(d / 64) as usize] >> (d % 64) & 1 == 1,
                            expected,
                            "n {n}, bit {bit}, node {node}, {d}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn each_value_of_each_digit_takes_a_step() {
        for n in 1..30_u64 {
            for k in 2..6_u64 {
                let problem = Rehearsal::on("ring", &[n]).param("radix", &k.to_string());
                let steps = digit_steps(n, k);
                let exchanged = problem.verify(&Bruck).unwrap();
                assert_eq!(exchanged.steps, steps, "{n}, radix {k}");
                let gathered = problem.collective(Collective::AllGather, 0).verify(&Bruck).unwrap();
                assert_eq!(
                    (gathered.steps, gathered.critical_bytes),
                    (steps, n - 1),
                    "{n}, radix {k}"
                );
            }
        }
    }
}

mod retri {
    use super::*;
    use swapmeet_plugin_classic::retri::{ReTri, digits};

    #[test]
    fn distances_of_nine_ranks_have_two_ternary_digits() {
        assert_eq!(digits(9, 1, 2), [0, 1, -1, 0, 1, -1, 0, 1, -1]);
        assert_eq!(digits(9, 3, 1), [0, 0, 0, 1, 0, 0, -1, 0, 0]);
    }

    #[test]
    fn any_number_of_ranks_takes_ceil_log3_steps() {
        for n in 1..40_u64 {
            let proved = Rehearsal::on("ring", &[n]).ports(2).verify(&ReTri).unwrap();
            let log = (0..).find(|k| 3_u64.pow(*k) >= n).unwrap();
            assert_eq!(proved.steps, u64::from(log), "{n}");
            if n == 3_u64.pow(log) {
                assert_eq!(proved.critical_bytes, u64::from(log) * n / 3, "{n}");
            }
            assert!(proved.max_sends <= 2 && proved.max_receives <= 2, "{n}");
        }
    }
}

mod ring {
    use super::*;
    use swapmeet_plugin_classic::Ring;

    /// Each rank that sends to another group sends the R-th part of every block except one. This is
    /// the closed form with m / R instead of m.
    #[test]
    fn several_rings_divide_the_bytes_between_groups() {
        for (groups, g, rings) in [(2, 4, 4), (3, 2, 2), (4, 3, 2), (1, 4, 4), (3, 4, 1)] {
            let (n, block) = (groups * g, 60);
            let problem = Rehearsal::on("groups", &[groups, g]).block_bytes(block);
            let problem = problem.collective(Collective::AllGather, 0);
            let problem = problem.param("rings", &rings.to_string());
            assert_eq!(
                problem.verify(&Ring).unwrap().steps,
                n - 1,
                "{groups} x {g}, {rings} rings"
            );
            let mut sent = vec![0; n as usize];
            for step in problem.plan(&Ring).unwrap() {
                for send in between_groups(&step, g) {
                    sent[send.from as usize] += send.segments.len() as u64 * block / rings;
                }
            }
            let leaving = |rank: u64| groups > 1 && (rank + 1) % g < rings;
            let expected = |rank| if leaving(rank) { (n - 1) * block / rings } else { 0 };
            assert_eq!(
                sent,
                (0..n).map(expected).collect::<Vec<_>>(),
                "{groups} x {g}, {rings} rings"
            );
        }
    }

    #[test]
    fn an_all_to_all_has_one_ring() {
        let problem = Rehearsal::on("groups", &[2, 4]).param("rings", "4");
        assert_eq!(refusal(&problem, &Ring), "an all-to-all has only one ring");
        assert!(Rehearsal::on("groups", &[2, 4]).param("rings", "1").plan(&Ring).is_ok());
    }
}
