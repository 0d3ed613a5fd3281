use crate::support::rehearsals::{digit_steps, log2_up, refusal};
use swapmeet_sdk::{Algorithm as _, Collective, Rehearsal};

mod binomial {
    use super::*;
    use swapmeet_plugin_mpi::binomial::{BROADCAST, Binomial, GATHER, SCATTER};

    #[test]
    fn every_size_and_root_has_the_cost_of_the_closed_forms() {
        for n in 1..20_u64 {
            for root in [0, n / 2, n - 1] {
                let on = |algorithm: &Binomial| {
                    let collective = algorithm.about().collectives[0];
                    Rehearsal::on("ring", &[n])
                        .collective(collective, root)
                        .verify(algorithm)
                        .unwrap()
                };
                let log = log2_up(n);
                for algorithm in [&BROADCAST, &SCATTER, &GATHER] {
                    let proved = on(algorithm);
                    assert_eq!((proved.steps, proved.messages), (log, n - 1), "{n} from {root}");
                    assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
                }
                assert_eq!(on(&BROADCAST).critical_bytes, log);
                if n.is_power_of_two() {
                    assert_eq!(
                        (on(&SCATTER).critical_bytes, on(&GATHER).critical_bytes),
                        (n - 1, n - 1)
                    );
                }
            }
        }
    }

    #[test]
    fn near_children_first_reach_every_rank_in_the_order_of_open_mpi() {
        for n in 1..20_u64 {
            for root in [0, n / 2, n - 1] {
                let on = Rehearsal::on("ring", &[n]).collective(Collective::Broadcast, root);
                let on = on.param("order", "near");
                let proved = on.verify(&BROADCAST).unwrap();
                let log = log2_up(n);
                assert_eq!((proved.steps, proved.messages), (log, n - 1), "{n} from {root}");
                // Open MPI's source: the parent of a rank is the rank without its highest bit.
                for (i, step) in (0..).zip(on.plan(&BROADCAST).unwrap()) {
                    for send in &step.sends {
                        let [from, to] = [send.from, send.to].map(|v| (v + n - root) % n);
                        assert_eq!((to.ilog2(), to ^ 1 << i), (i, from), "{n} from {root}");
                    }
                }
            }
        }
    }
}

mod chain {
    use super::*;
    use swapmeet_plugin_mpi::chain::Chain;

    #[test]
    fn it_takes_p_plus_s_minus_2_steps() {
        for n in 1..9_u64 {
            for segments in [1, 2, 5] {
                let problem = Rehearsal::on("ring", &[n]).collective(Collective::Broadcast, n / 2);
                let problem =
                    problem.param("segments", &segments.to_string()).block_bytes(segments);
                let proved = problem.verify(&Chain).unwrap();
                let steps = if n == 1 { 0 } else { n + segments - 2 };
                assert_eq!(
                    (proved.steps, proved.critical_bytes),
                    (steps, steps),
                    "{n}, {segments}"
                );
                assert_eq!(proved.messages, (n - 1) * segments);
            }
        }
    }
}

mod doubling {
    use super::*;
    use swapmeet_plugin_mpi::doubling::Doubling;

    #[test]
    fn it_takes_log_p_steps_and_p_minus_1_blocks() {
        for log in 0..6_u64 {
            let n = 1 << log;
            let proved = Rehearsal::on("ring", &[n])
                .collective(Collective::AllGather, 0)
                .verify(&Doubling)
                .unwrap();
            assert_eq!(
                (proved.steps, proved.critical_bytes, proved.messages),
                (log, n - 1, n * log)
            );
        }
        let problem = Rehearsal::on("ring", &[6]).collective(Collective::AllGather, 0);
        assert_eq!(refusal(&problem, &Doubling), "needs a power of two of nodes, not 6");
    }
}

mod hierarchical {
    use super::*;
    use swapmeet_plugin_mpi::hierarchical::Hierarchical;

    #[test]
    fn it_has_the_cost_of_the_closed_form() {
        for (groups, g) in [(1, 1), (1, 5), (4, 1), (2, 2), (3, 4), (4, 3), (5, 2)] {
            let n = groups * g;
            let proved = Rehearsal::on("torus", &[groups, g]).verify(&Hierarchical).unwrap();
            assert_eq!(proved.steps, 2 * (g - 1) + groups - 1, "{groups} of {g}");
            // A member's block for itself and the leader's own blocks are not sent.
            let blocks = (g - 1) * (n - 1) + (groups - 1) * g * g + (g - 1) * (n - 1);
            assert_eq!(proved.critical_bytes, blocks, "{groups} of {g}");
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        }
    }

    #[test]
    fn groups_may_differ_from_the_dimensions() {
        let problem = Rehearsal::on("ring", &[12]).param("group", "4");
        assert_eq!(problem.verify(&Hierarchical).unwrap().steps, 2 * 3 + 2);
    }
}

mod linear_sync {
    use super::*;
    use swapmeet_plugin_mpi::linear_sync::LinearSync;

    #[test]
    fn a_window_limits_the_messages_of_a_step() {
        for n in 1..12_u64 {
            for window in 1..14_u64 {
                let problem =
                    Rehearsal::on("ring", &[n]).ports(window).param("window", &window.to_string());
                let proved = problem.verify(&LinearSync).unwrap();
                assert_eq!(
                    (proved.steps, proved.messages),
                    ((n - 1).div_ceil(window), n * (n - 1))
                );
                assert_eq!(proved.max_sends, window.min(n - 1), "{n}, {window}");
            }
        }
    }
}

mod neighbour {
    use super::*;
    use swapmeet_plugin_mpi::neighbour::Neighbour;

    #[test]
    fn it_takes_half_of_p_steps_and_p_minus_1_blocks() {
        for n in (2..21_u64).step_by(2) {
            let proved = Rehearsal::on("ring", &[n])
                .collective(Collective::AllGather, 0)
                .verify(&Neighbour)
                .unwrap();
            assert_eq!((proved.steps, proved.critical_bytes), (n / 2, n - 1), "{n}");
            assert_eq!((proved.max_sends, proved.max_receives), (1, 1));
        }
    }

    #[test]
    fn an_odd_number_of_ranks_is_refused() {
        let problem = Rehearsal::on("ring", &[5]).collective(Collective::AllGather, 0);
        assert_eq!(refusal(&problem, &Neighbour), "needs an even number of nodes, not 5");
    }
}

mod scatter_allgather {
    use super::*;
    use swapmeet_plugin_mpi::scatter_allgather::ScatterAllgather;

    #[test]
    fn it_has_the_cost_of_the_closed_form() {
        for n in 1..18_u64 {
            for root in [0, n - 1] {
                let problem = Rehearsal::on("ring", &[n])
                    .collective(Collective::Broadcast, root)
                    .block_bytes(n);
                let proved = problem.verify(&ScatterAllgather).unwrap();
                let log = log2_up(n);
                assert_eq!(proved.steps, log + n - 1, "{n}");
                if n.is_power_of_two() {
                    assert_eq!(proved.critical_bytes, 2 * (n - 1), "{n}");
                }
            }
        }
    }
}

mod sparbit {
    use super::*;
    use swapmeet_plugin_mpi::sparbit::Sparbit;

    #[test]
    fn it_takes_log_p_steps_and_p_minus_1_blocks() {
        for n in 1..40_u64 {
            let problem = Rehearsal::on("ring", &[n]).collective(Collective::AllGather, 0);
            let proved = problem.verify(&Sparbit).unwrap();
            let steps = log2_up(n);
            assert_eq!(
                (proved.steps, proved.critical_bytes, proved.messages),
                (steps, n - 1, n * steps),
                "{n}"
            );
        }
    }

    #[test]
    fn distances_halve() {
        let plan = Rehearsal::on("ring", &[12])
            .collective(Collective::AllGather, 0)
            .plan(&Sparbit)
            .unwrap();
        let distance: Vec<u64> =
            plan.iter().map(|step| (step.sends[0].to + 12 - step.sends[0].from) % 12).collect();
        assert_eq!(distance, [8, 4, 2, 1]);
    }
}

mod tuna {
    use super::*;
    use swapmeet_plugin_mpi::tuna::Tuna;

    #[test]
    fn it_has_the_cost_of_the_closed_form() {
        for (groups, log) in [(1_u64, 0_u64), (3, 0), (1, 3), (4, 2), (5, 3)] {
            let g = 1 << log;
            let proved = Rehearsal::on("torus", &[groups, g]).verify(&Tuna).unwrap();
            let p = groups * g;
            assert_eq!(proved.steps, log + groups - 1, "{groups} of {g}");
            assert_eq!(proved.critical_bytes, log * p / 2 + (groups - 1) * g, "{groups} of {g}");
        }
    }

    #[test]
    fn every_radix_and_group_size_is_correct() {
        for (n, g) in [(12, 3), (12, 6), (30, 5), (7, 7), (7, 1)] {
            for k in 2..8_u64 {
                let problem = Rehearsal::on("ring", &[n])
                    .param("group", &g.to_string())
                    .param("radix", &k.to_string());
                let within = digit_steps(g, k);
                let proved = problem.verify(&Tuna).unwrap();
                assert_eq!(proved.steps, within + n / g - 1, "{n} in groups of {g}, radix {k}");
                assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
            }
        }
    }
}
