use crate::support::rehearsals::{between_groups, joined, log2_up, recorded_lines, refusal};
use std::collections::BTreeSet;
use swapmeet_sdk::{Collective, Rehearsal, RehearsedStep};

mod binomial {
    use super::*;
    use swapmeet_plugin_mpi_reductions::binomial::Binomial;

    #[test]
    fn every_size_and_root_has_the_cost_of_the_closed_form() {
        for n in 1..20_u64 {
            for root in [0, n / 2, n - 1] {
                let problem = Rehearsal::on("ring", &[n])
                    .collective(Collective::Reduce, root)
                    .block_bytes(10);
                let proved = problem.verify(&Binomial).unwrap();
                let log = log2_up(n);
                assert_eq!((proved.steps, proved.messages), (log, n - 1), "{n} to {root}");
                assert_eq!(
                    (proved.critical_bytes, proved.summed_bytes),
                    (10 * log, 10 * log),
                    "{n} to {root}"
                );
                assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
            }
        }
    }
}

mod chain {
    use super::*;
    use swapmeet_plugin_mpi_reductions::chain::Chain;

    #[test]
    fn it_takes_p_plus_s_minus_2_steps() {
        for n in 1..9_u64 {
            for segments in [1, 2, 5] {
                let problem = Rehearsal::on("ring", &[n]).collective(Collective::Reduce, n / 2);
                let problem =
                    problem.param("segments", &segments.to_string()).block_bytes(segments);
                let proved = problem.verify(&Chain).unwrap();
                let steps = if n == 1 { 0 } else { n + segments - 2 };
                assert_eq!(
                    (proved.steps, proved.critical_bytes, proved.summed_bytes),
                    (steps, steps, steps),
                    "{n}, {segments}"
                );
                assert_eq!(proved.messages, (n - 1) * segments);
            }
        }
    }
}

mod circulant {
    use super::*;
    use swapmeet_plugin_mpi_reductions::circulant::{ALL_REDUCE, REDUCE_SCATTER, distances};

    /// The numbers of rounds and blocks are those of the paper's abstract: ceil(log2 p) rounds, in
    /// which each rank sends, receives and reduces p - 1 blocks.
    #[test]
    fn every_size_takes_ceil_log_p_rounds_and_p_minus_1_blocks() {
        for n in 1..70_u64 {
            let rounds = log2_up(n);
            let on = |collective, bytes| {
                Rehearsal::on("ring", &[n]).collective(collective, 0).block_bytes(bytes)
            };
            let scattered = on(Collective::ReduceScatter, 10).verify(&REDUCE_SCATTER).unwrap();
            assert_eq!(
                (scattered.steps, scattered.messages, scattered.critical_bytes),
                (rounds, rounds * n, 10 * (n - 1)),
                "{n}"
            );
            assert_eq!(scattered.summed_bytes, 10 * (n - 1), "{n}");
            let everywhere = on(Collective::AllReduce, 10 * n).verify(&ALL_REDUCE).unwrap();
            assert_eq!(
                (everywhere.steps, everywhere.critical_bytes, everywhere.summed_bytes),
                (2 * rounds, 20 * (n - 1), 10 * (n - 1)),
                "{n}"
            );
            assert!(everywhere.max_sends <= 1 && everywhere.max_receives <= 1);
        }
    }

    #[test]
    fn distances_are_halves_rounded_up() {
        assert_eq!(distances(22), [(11, 11), (6, 5), (3, 3), (2, 1), (1, 1)]);
        assert_eq!(distances(1), []);
    }
}

mod doubling {
    use super::*;
    use swapmeet_plugin_mpi_reductions::doubling::Doubling;

    #[test]
    fn every_size_has_the_cost_of_the_closed_form() {
        for n in 1..20_u64 {
            let problem =
                Rehearsal::on("ring", &[n]).collective(Collective::AllReduce, 0).block_bytes(10);
            let proved = problem.verify(&Doubling).unwrap();
            let (log, uneven) = (u64::from(n.ilog2()), u64::from(!n.is_power_of_two()));
            assert_eq!(proved.steps, log + 2 * uneven, "{n}");
            assert_eq!(
                (proved.critical_bytes, proved.summed_bytes),
                (10 * (log + 2 * uneven), 10 * (log + uneven)),
                "{n}"
            );
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        }
    }
}

mod halving {
    use super::*;
    use swapmeet_plugin_mpi_reductions::halving::Halving;

    #[test]
    fn every_size_has_the_cost_of_the_closed_form() {
        for n in 1..20_u64 {
            let problem = Rehearsal::on("ring", &[n]).collective(Collective::ReduceScatter, 0);
            let proved = problem.block_bytes(10).verify(&Halving).unwrap();
            let (log, uneven) = (u64::from(n.ilog2()), u64::from(!n.is_power_of_two()));
            assert_eq!(proved.steps, log + 2 * uneven, "{n}");
            if uneven == 0 {
                let bytes = 10 * (n - 1);
                assert_eq!((proved.critical_bytes, proved.summed_bytes), (bytes, bytes), "{n}");
            }
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        }
    }

    /// The messages of rank 1 of six ranks, derived by hand from Open MPI's source. Ranks 0 and 2
    /// send to ranks 1 and 3. Rank 1 exchanges first with rank 4 and then with rank 3.
    #[test]
    fn messages_are_those_of_open_mpi() {
        let problem = Rehearsal::on("ring", &[6]).collective(Collective::ReduceScatter, 0);
        let steps = problem.plan(&Halving).unwrap();
        let sends = steps.iter().flat_map(|step| &step.sends).filter(|send| send.from == 1);
        let sends: Vec<_> = sends.map(|send| (send.to, send.destinations.clone())).collect();
        assert_eq!(sends, [(4, vec![4, 5]), (3, vec![2, 3]), (0, vec![0])]);
    }
}

mod nvls {
    use super::*;
    use swapmeet_plugin_mpi_reductions::nvls::{ONE_GROUP, TREE};

    fn problem(groups: u64, g: u64) -> Rehearsal {
        let n = groups * g;
        let links = (0..n).flat_map(|rank| {
            let (own, all) = (n + rank / g, n + groups);
            [(rank, own, 1.0), (own, rank, 1.0), (rank, all, 1.0), (all, rank, 1.0)]
        });
        let switches: Vec<u64> = (n..n + groups).collect();
        let problem = Rehearsal::on("groups", &[groups, g]).links(&links.collect::<Vec<_>>());
        problem.reducing(&switches).collective(Collective::AllReduce, 0)
    }

    /// NVIDIA's rule for NVLS: the algorithm bandwidth times `1 + 1/g` is constant.
    #[test]
    fn a_rank_sends_and_receives_its_vector_and_a_share() {
        for (g, s) in [(2, 1), (4, 3), (5, 8), (8, 2)] {
            let problem = problem(1, g).block_bytes(12 * g * s).param("segments", &s.to_string());
            let proved = problem.verify(&ONE_GROUP).unwrap();
            assert_eq!((proved.steps, proved.summed_bytes), (s + 1, 0), "{g} ranks, {s} segments");
            let (mut sent, mut received) = (vec![0; g as usize], vec![0; g as usize]);
            for step in problem.plan(&ONE_GROUP).unwrap() {
                for send in &step.sends {
                    let bytes = 12 * send.segments.len() as u64;
                    let is_first = if send.reducer > 0 { send.from == 0 } else { send.to == 0 };
                    let is_sum = send.reducer > 0;
                    assert_eq!(
                        (send.reducer, send.multicaster),
                        if is_sum { (g, 0) } else { (0, g) }
                    );
                    sent[send.from as usize] += if is_sum || is_first { bytes } else { 0 };
                    received[send.to as usize] += if !is_sum || is_first { bytes } else { 0 };
                }
            }
            // The vector has 12 g s bytes, and a share 12 s bytes.
            let expected = vec![12 * g * s + 12 * s; g as usize];
            assert_eq!((&sent, &received), (&expected, &expected), "{g} ranks, {s} segments");
        }
    }

    /// The ranks of a share exchange data as in `two-tree-allreduce`. With 2, 3 and more groups, a
    /// rank sends at most 1, 1.5 and 2 times its share.
    #[test]
    fn groups_exchange_shares_on_two_trees() {
        for (groups, g, most) in [(1, 4, 0), (2, 2, 8), (3, 3, 12), (4, 2, 16), (7, 1, 16)] {
            let problem = problem(groups, g).block_bytes(8 * g).param("segments", "4");
            let proved = problem.verify(&TREE).unwrap();
            assert!(proved.max_sends < 2 * g + 2, "{groups} x {g}: {}", proved.max_sends);
            let mut sent = vec![0; (groups * g) as usize];
            for step in problem.plan(&TREE).unwrap() {
                for send in between_groups(&step, g) {
                    assert_eq!(
                        send.from % g,
                        send.to % g,
                        "{groups} x {g}: a message between shares"
                    );
                    sent[send.from as usize] += 2;
                }
            }
            assert_eq!(sent.iter().max(), Some(&most), "{groups} x {g}");
        }
    }

    #[test]
    fn networks_without_such_switches_are_refused() {
        let without = Rehearsal::on("ring", &[4]).collective(Collective::AllReduce, 0);
        assert_eq!(
            refusal(&without, &ONE_GROUP),
            "rank 0 has no link to a switch that can add and copy data: `reduce=switch` of groups and fat trees adds such switches"
        );
        assert_eq!(
            refusal(&problem(2, 3), &ONE_GROUP),
            "no switches that can add and copy data join ranks 0 and 3; nvls-tree-allreduce has groups of ranks that are joined"
        );
        assert_eq!(
            refusal(&problem(2, 3).param("group", "2"), &TREE),
            "no switches that can add and copy data join ranks 2 and 3; nvls-tree-allreduce has groups of ranks that are joined"
        );
    }
}

mod pat {
    use super::*;
    use swapmeet_plugin_mpi_reductions::pat::{ALL_GATHER, REDUCE_SCATTER};

    /// Recorded from NCCL's own code. The file states its source and licence.
    const NCCL: &str = include_str!("../../fixtures/schedules/nccl-pat.txt");

    fn printed(steps: &[RehearsedStep], collective: Collective, n: u64) -> Vec<String> {
        let message = |step: &RehearsedStep| {
            let send = step.sends.iter().find(|send| send.from == 0).unwrap();
            let (distance, blocks) = if collective == Collective::AllGather {
                (n - send.to, &send.origins)
            } else {
                (send.to, &send.destinations)
            };
            format!("{distance}:{}", joined(blocks))
        };
        steps.iter().map(message).collect()
    }

    #[test]
    fn the_messages_are_those_of_nccl() {
        let lines: Vec<&str> = recorded_lines(NCCL).collect();
        assert_eq!(lines.len(), 78);
        for line in lines {
            let mut words = line.split(' ');
            let (collective, algorithm) = match words.next() {
                Some("allgather") => (Collective::AllGather, &ALL_GATHER),
                _ => (Collective::ReduceScatter, &REDUCE_SCATTER),
            };
            let (n, aggregation) = (words.next().unwrap(), words.next().unwrap());
            let n = n.parse().unwrap();
            let problem = Rehearsal::on("ring", &[n])
                .collective(collective, 0)
                .param("aggregation", aggregation);
            let steps = problem.plan(algorithm).unwrap();
            assert!(words.eq(printed(&steps, collective, n)), "{line}");
        }
    }

    #[test]
    fn every_size_has_the_cost_of_the_closed_form() {
        for n in 1..40_u64 {
            let on = |collective, blocks: u64| {
                let problem = Rehearsal::on("ring", &[n]).collective(collective, 0).block_bytes(10);
                problem.param("aggregation", &blocks.to_string())
            };
            for blocks in [1, 2, 4, 64] {
                let gathered = on(Collective::AllGather, blocks).verify(&ALL_GATHER).unwrap();
                let scattered =
                    on(Collective::ReduceScatter, blocks).verify(&REDUCE_SCATTER).unwrap();
                assert_eq!(
                    (gathered.critical_bytes, scattered.critical_bytes, scattered.summed_bytes),
                    (10 * (n - 1), 10 * (n - 1), 10 * (n - 1)),
                    "{n} {blocks}"
                );
                assert_eq!(gathered.steps, scattered.steps, "{n} {blocks}");
                if n.is_power_of_two() && n > 1 {
                    let most = blocks.min(n / 2);
                    assert_eq!(gathered.steps, u64::from(most.ilog2()) + n / most - 1);
                }
            }
        }
    }

    #[test]
    fn other_aggregations_are_refused() {
        let problem = Rehearsal::on("ring", &[6]).collective(Collective::AllGather, 0);
        assert_eq!(
            refusal(&problem.param("aggregation", "3"), &ALL_GATHER),
            "`aggregation=3`: expected a power of two"
        );
    }
}

mod rabenseifner {
    use super::*;
    use swapmeet_plugin_mpi_reductions::rabenseifner::Rabenseifner;

    #[test]
    fn every_size_has_the_cost_of_the_closed_form() {
        for n in 1..20_u64 {
            let ranks = 1 << n.ilog2();
            let problem = Rehearsal::on("ring", &[n])
                .collective(Collective::AllReduce, 0)
                .block_bytes(10 * ranks);
            let proved = problem.verify(&Rabenseifner).unwrap();
            let (log, more) = (u64::from(n.ilog2()), u64::from(n > ranks));
            assert_eq!(proved.steps, 2 * log + 2 * more, "{n}");
            let (bytes, summed) =
                (20 * (ranks - 1) + more * 20 * ranks, 10 * (ranks - 1) + more * 10 * ranks);
            assert_eq!((proved.critical_bytes, proved.summed_bytes), (bytes, summed), "{n}");
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        }
    }
}

mod ring {
    use super::*;
    use swapmeet_plugin_mpi_reductions::ring::{ALL_REDUCE, REDUCE_SCATTER};

    #[test]
    fn every_size_has_the_cost_of_the_closed_forms() {
        for n in 1..12_u64 {
            let scattered = Rehearsal::on("ring", &[n])
                .collective(Collective::ReduceScatter, 0)
                .block_bytes(10);
            let scattered = scattered.verify(&REDUCE_SCATTER).unwrap();
            assert_eq!((scattered.steps, scattered.messages), (n - 1, n * (n - 1)), "{n}");
            assert_eq!(
                (scattered.critical_bytes, scattered.summed_bytes),
                (10 * (n - 1), 10 * (n - 1)),
                "{n}"
            );
            let everywhere = Rehearsal::on("ring", &[n])
                .collective(Collective::AllReduce, 0)
                .block_bytes(10 * n);
            let everywhere = everywhere.verify(&ALL_REDUCE).unwrap();
            assert_eq!(
                (everywhere.steps, everywhere.messages),
                (2 * (n - 1), 2 * n * (n - 1)),
                "{n}"
            );
            assert_eq!(
                (everywhere.critical_bytes, everywhere.summed_bytes),
                (20 * (n - 1), 10 * (n - 1)),
                "{n}"
            );
            assert!(everywhere.max_sends <= 1 && everywhere.max_receives <= 1);
        }
    }

    /// Rings lead from each group to the next one once. The closed form is that of the paper, with
    /// m / R instead of m.
    #[test]
    fn several_rings_divide_the_bytes_between_groups() {
        for (groups, g, rings) in [(2, 4, 4), (3, 2, 2), (4, 3, 2), (1, 4, 4), (3, 4, 1), (5, 1, 1)]
        {
            let (n, block) = (groups * g, 60);
            let problem = Rehearsal::on("groups", &[groups, g]).block_bytes(block * n);
            let problem = problem.collective(Collective::AllReduce, 0);
            let problem = problem.param("rings", &rings.to_string());
            let proved = problem.verify(&ALL_REDUCE).unwrap();
            assert_eq!(proved.steps, 2 * (n - 1), "{groups} x {g}, {rings} rings");
            assert_eq!(proved.summed_bytes, block * (n - 1), "{groups} x {g}, {rings} rings");
            let mut sent = vec![0; n as usize];
            for step in problem.plan(&ALL_REDUCE).unwrap() {
                for send in between_groups(&step, g) {
                    sent[send.from as usize] += send.segments.len() as u64 * block / rings;
                }
            }
            let leaving = |rank: u64| groups > 1 && (rank + 1) % g < rings;
            let expected = |rank| if leaving(rank) { 2 * (n - 1) * block / rings } else { 0 };
            assert_eq!(
                sent,
                (0..n).map(expected).collect::<Vec<_>>(),
                "{groups} x {g}, {rings} rings"
            );
        }
    }

    #[test]
    fn there_are_at_most_as_many_rings_as_ranks_in_a_group() {
        let refused = |rings: &str, group: &str| {
            let problem = Rehearsal::on("groups", &[2, 4]).collective(Collective::AllReduce, 0);
            refusal(&problem.param("rings", rings).param("group", group), &ALL_REDUCE)
        };
        assert_eq!(refused("5", "4"), "`rings=5`: expected a whole number from 1 to 4");
        assert_eq!(refused("0", "4"), "`rings=0`: expected a whole number from 1");
        assert_eq!(refused("2", "3"), "8 nodes cannot be divided into groups of 3");
    }
}

mod two_tree {
    use super::*;
    use swapmeet_plugin_mpi_reductions::two_tree::{TwoTree, trees};

    #[test]
    fn at_most_one_rank_is_inside_both_trees() {
        for n in 2..40 {
            let trees = trees(n);
            let is_inside = |tree: usize, rank: usize| trees[tree].contains(&Some(rank));
            let both = (0..n).filter(|rank| is_inside(0, *rank) && is_inside(1, *rank)).count();
            assert!(both <= 1, "{both} of {n} are inside both trees");
        }
    }

    /// The idle steps are at most the sum of the depths of the two trees.
    #[test]
    fn each_segment_is_sent_up_and_down_once() {
        for n in 1..20_u64 {
            for segments in [1, 2, 8] {
                let problem = Rehearsal::on("ring", &[n])
                    .collective(Collective::AllReduce, 0)
                    .block_bytes(segments);
                let proved =
                    problem.param("segments", &segments.to_string()).verify(&TwoTree).unwrap();
                assert_eq!(proved.messages, 2 * (n - 1) * segments, "{n}, {segments}");
                assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
                let depth = log2_up(n);
                assert!(
                    proved.steps <= 2 * (2 * depth + 2 * segments),
                    "{n}, {segments}: {} steps",
                    proved.steps
                );
            }
        }
    }

    /// The parents that NCCL's own code computes. The file states its source and licence.
    const NCCL: &str = include_str!("../../fixtures/schedules/nccl-trees.txt");

    #[test]
    fn the_trees_are_those_of_nccl_for_2_to_64_groups() {
        let mut compared = 0;
        for line in recorded_lines(NCCL) {
            let numbers: Vec<i64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            let [n, tree, ref parents @ ..] = numbers[..] else { panic!("{line}") };
            let own = trees(n as usize)[tree as usize].clone();
            let own = own.into_iter().map(|parent| parent.map_or(-1, |parent| parent as i64));
            assert_eq!(own.collect::<Vec<_>>(), parents, "tree {tree} of {n} groups");
            compared += 1;
        }
        assert_eq!(compared, 2 * 63);
    }

    /// The messages between groups are the edges of NCCL's trees, and each has the share of its
    /// rail. A group that has a parent and two children in one tree, and a parent in the other,
    /// sends and receives twice the vector. With two groups, a group sends it once, and with three
    /// groups 1.5 times.
    #[test]
    fn groups_exchange_data_on_their_rails() {
        for (groups, g, most) in
            [(1, 4, 0), (2, 2, 8), (3, 4, 12), (4, 2, 16), (8, 3, 16), (5, 1, 16)]
        {
            let (n, segments) = (groups * g, 4);
            let problem =
                Rehearsal::on("groups", &[groups, g]).collective(Collective::AllReduce, 0);
            let problem = problem.block_bytes(8 * g).param("segments", "4");
            let problem = problem.param("group", &g.to_string());
            problem.verify(&TwoTree).unwrap();
            let steps = problem.plan(&TwoTree).unwrap();
            let sends: usize = steps.iter().map(|step| step.sends.len()).sum();
            assert_eq!(sends as u64, 2 * (n - 1) * segments * g, "{groups} x {g}");
            let (mut sent, mut received) = (vec![0; n as usize], vec![0; n as usize]);
            let mut edges = BTreeSet::new();
            for step in steps {
                for send in between_groups(&step, g) {
                    let (rail, at) = (send.segments[0] / segments, send.segments[0] % segments);
                    assert_eq!((send.from % g, send.to % g), (rail, rail), "{groups} x {g}");
                    sent[send.from as usize] += 2;
                    received[send.to as usize] += 2;
                    if step.phase == "up" {
                        edges.insert((at % 2, send.from / g, send.to / g));
                    }
                }
            }
            // The vector has 8 bytes for each rail.
            let largest = |all: &[u64]| all.iter().copied().max().unwrap();
            assert_eq!((largest(&sent), largest(&received)), (most, most), "{groups} x {g}");
            let own = trees(groups as usize);
            let expected = (0..2).flat_map(|tree| {
                let parents = own[tree].iter().enumerate();
                parents.filter_map(move |(child, parent)| {
                    Some((tree as u64, child as u64, (*parent)? as u64))
                })
            });
            assert_eq!(edges, expected.collect(), "{groups} x {g}");
        }
    }

    /// If a step takes the start-up and the time of a segment, the automatic number of segments is
    /// within 10 % of the best time.
    #[test]
    fn automatic_segments_are_nearly_the_best() {
        for (groups, g, bytes) in [(8, 1, 1 << 20), (6, 2, 1 << 16), (2, 4, 1 << 21), (12, 1, 64)] {
            let us = |segments: &str| {
                let problem = Rehearsal::on("groups", &[groups, g]).block_bytes(bytes);
                let problem = problem.collective(Collective::AllReduce, 0).prices(5.0, 0.0, 0.001);
                let problem = problem.param("segments", segments).param("group", &g.to_string());
                let steps = problem.plan(&TwoTree).unwrap();
                let last = |step: &RehearsedStep| step.sends.iter().map(|s| s.segments[0]).max();
                let all = steps.iter().filter_map(last).max().unwrap() + 1;
                steps.len() as f64 * (5.0 + bytes as f64 / all as f64 * 0.001)
            };
            let best = [1, 2, 4, 8, 12, 16, 24, 32].map(|s: u32| us(&s.to_string()));
            let best = best.into_iter().fold(f64::INFINITY, f64::min);
            assert!(us("auto") <= 1.1 * best, "{groups} x {g}: {} against {best}", us("auto"));
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        let refused = |key: &str, value: &str| {
            let problem = Rehearsal::on("groups", &[2, 4]).collective(Collective::AllReduce, 0);
            refusal(&problem.param(key, value), &TwoTree)
        };
        assert_eq!(refused("group", "3"), "8 nodes cannot be divided into groups of 3");
        assert_eq!(refused("group", "0"), "`group=0`: expected a whole number from 1");
        assert_eq!(
            refused("segments", "0"),
            "`segments=0`: expected a whole number from 1 to 4096"
        );
        assert_eq!(refused("segments", "many"), "`segments=many`: expected a whole number");
    }
}
