use crate::support::rehearsals::{between_groups, log2_up};
use swapmeet_sdk::Rehearsal;

mod birkhoff {
    use super::*;
    use swapmeet_plugin_unequal::birkhoff::Birkhoff;

    /// The bound is L: no schedule through one port is faster for the busiest rank.
    #[test]
    fn the_longest_messages_add_up_to_the_bound() {
        for n in 1..9_u64 {
            let row = |i| (0..n).map(|j| (i * 7 + j * j * 5) % 11 * 8).collect();
            let sizes: Vec<Vec<u64>> = (0..n).map(row).collect();
            let sent = |i| (0..n).filter(|j| *j != i).map(|j| sizes[i as usize][j as usize]).sum();
            let received =
                |j| (0..n).filter(|i| *i != j).map(|i| sizes[i as usize][j as usize]).sum();
            let bound: u64 = (0..n).flat_map(|i| [sent(i), received(i)]).max().unwrap();
            let problem = Rehearsal::on("fully-connected", &[n]).sizes(&sizes).element_bytes(8);
            let proved = problem.verify(&Birkhoff).unwrap();
            assert_eq!(proved.critical_bytes, bound, "{n}");
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
        }
    }

    #[test]
    fn blocks_of_the_same_size_take_as_many_steps_as_in_a_pairwise_exchange() {
        for n in 1..12_u64 {
            let problem = Rehearsal::on("ring", &[n]).block_bytes(5);
            let proved = problem.verify(&Birkhoff).unwrap();
            assert_eq!((proved.steps, proved.critical_bytes), (n - 1, 5 * (n - 1)));
        }
    }
}

mod bruck {
    use super::*;
    use swapmeet_plugin_unequal::bruck::{PADDED, TWO_PHASE};

    /// Returns the number of blocks in the messages of all steps, counted as in the loops of the
    /// authors' code.
    fn blocks(n: u64) -> u64 {
        (0..log2_up(n)).map(|k| (0..n).filter(|d| d >> k & 1 == 1).count() as u64).sum()
    }

    #[test]
    fn padded_messages_have_the_length_of_the_largest_block_for_each_block() {
        for n in 1..18_u64 {
            let row = |i| (0..n).map(|j| (i * 5 + j * 3) % 7).collect();
            let sizes: Vec<Vec<u64>> = (0..n).map(row).collect();
            let largest = sizes.iter().flatten().copied().max().unwrap();
            let proved = Rehearsal::on("ring", &[n]).sizes(&sizes).verify(&PADDED).unwrap();
            assert_eq!(proved.steps, 2 * log2_up(n), "{n}");
            assert_eq!(proved.critical_bytes, 4 * log2_up(n) + blocks(n) * largest, "{n}");
            assert_eq!(proved.total_bytes, n * proved.critical_bytes, "{n}");
        }
    }

    #[test]
    fn two_phases_send_the_sizes_and_the_bytes_of_all_blocks() {
        for n in 1..18_u64 {
            let row = |i| (0..n).map(|j| (i * 5 + j * 3) % 7).collect();
            let sizes: Vec<Vec<u64>> = (0..n).map(row).collect();
            let problem = Rehearsal::on("ring", &[n]).sizes(&sizes);
            let proved = problem.verify(&TWO_PHASE).unwrap();
            // A block is sent once for each bit of its distance.
            let bits = |i: u64, j: u64| u64::from(((j + n - i) % n).count_ones());
            let moved = |i: u64, j: u64| bits(i, j) * sizes[i as usize][j as usize];
            let data: u64 =
                (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| moved(i, j)).sum();
            assert_eq!(proved.steps, 3 * log2_up(n), "{n}");
            assert_eq!(proved.total_bytes, n * 4 * (log2_up(n) + blocks(n)) + data, "{n}");
        }
    }

    #[test]
    fn blocks_of_the_same_size_need_neither_padding_nor_sizes() {
        for algorithm in [&PADDED, &TWO_PHASE] {
            for n in 1..18_u64 {
                let problem = Rehearsal::on("ring", &[n]);
                let proved = problem.verify(algorithm).unwrap();
                assert_eq!((proved.steps, proved.critical_bytes), (log2_up(n), blocks(n)), "{n}");
                problem.verify_symmetry(algorithm).unwrap();
            }
        }
    }
}

mod fast {
    use super::*;
    use swapmeet_plugin_unequal::fast::Fast;

    fn bytes_between_groups(problem: &Rehearsal, g: u64) -> (u64, u64) {
        let (mut longest, mut total) = (0, 0);
        for step in problem.plan(&Fast).unwrap() {
            let bytes = between_groups(&step, g)
                .map(|send| send.byte_counts.iter().map(|c| c.bytes).sum::<u64>());
            let bytes: Vec<u64> = bytes.collect();
            longest += bytes.iter().copied().max().unwrap_or(0);
            total += bytes.iter().sum::<u64>();
        }
        (longest, total)
    }

    /// One rank of each group has all the data of the group. The paper's bound is the number of
    /// bytes of the busiest group, divided among its ranks.
    #[test]
    fn the_time_between_groups_is_the_bound() {
        for (groups, g) in [(2_u64, 2_u64), (3, 4), (4, 2), (5, 1), (1, 4)] {
            let n = groups * g;
            let bytes = |i: u64, j: u64| if i.is_multiple_of(g) { (i + 3 * j) % 5 * g } else { 0 };
            let sizes: Vec<Vec<u64>> =
                (0..n).map(|i| (0..n).map(|j| bytes(i, j)).collect()).collect();
            let sum = |from: u64, to: u64| -> u64 {
                let of = |i: u64| (0..g).map(move |j| bytes(from * g + i, to * g + j));
                if from == to { 0 } else { (0..g).flat_map(of).sum() }
            };
            let all = || 0..groups;
            let busiest = all()
                .flat_map(|a| {
                    [all().map(|b| sum(a, b)).sum(), all().map(|b| sum(b, a)).sum::<u64>()]
                })
                .max()
                .unwrap();
            let problem = Rehearsal::on("torus", &[groups, g]).sizes(&sizes);
            problem.verify(&Fast).unwrap();
            let total = all().flat_map(|a| all().map(move |b| sum(a, b))).sum();
            assert_eq!(bytes_between_groups(&problem, g), (busiest / g, total), "{groups} of {g}");
        }
    }

    #[test]
    fn shares_that_are_not_equal_are_correct() {
        for n in [6, 8, 12] {
            let row = |i| (0..n).map(|j| (i * 7 + j * j * 3) % 13).collect();
            let sizes: Vec<Vec<u64>> = (0..n).map(row).collect();
            for g in ["1", "2", &n.to_string()] {
                let problem = Rehearsal::on("ring", &[n]).sizes(&sizes).param("group", g);
                problem.verify(&Fast).unwrap();
                // Elements have 3 bytes, and are not divided.
                let tripled: Vec<Vec<u64>> =
                    sizes.iter().map(|row| row.iter().map(|bytes| bytes * 3).collect()).collect();
                let problem = problem.sizes(&tripled).element_bytes(3);
                problem.verify(&Fast).unwrap();
                let steps = problem.plan(&Fast).unwrap();
                let counts = steps.iter().flat_map(|s| &s.sends).flat_map(|send| &send.byte_counts);
                assert!(counts.into_iter().all(|count| count.bytes.is_multiple_of(3)));
            }
        }
    }
}

mod node_aware {
    use super::*;
    use swapmeet_plugin_unequal::node_aware::NodeAware;

    #[test]
    fn it_has_the_cost_of_the_closed_form() {
        for (groups, g) in [(1, 1), (1, 5), (4, 1), (2, 2), (3, 4), (5, 3)] {
            let problem = Rehearsal::on("torus", &[groups, g]);
            let proved = problem.verify(&NodeAware).unwrap();
            assert_eq!(proved.steps, groups - 1 + g - 1, "{groups} of {g}");
            let blocks = (groups - 1) * g + (g - 1) * groups;
            assert_eq!(proved.critical_bytes, blocks, "{groups} of {g}");
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
            problem.verify_symmetry(&NodeAware).unwrap();
        }
    }
}

mod rounds {
    use swapmeet_plugin_unequal::rounds::Rounds;

    /// Returns a matrix in which about a third of the entries, and all entries of the diagonal, are
    /// 0.
    fn random(n: u64, seed: u64) -> Vec<Vec<(u32, u64)>> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % 30
        };
        let mut row = |i| {
            let others = (0..n).filter(|j| *j != i);
            others.map(|j| (j as u32, next().saturating_sub(9))).collect()
        };
        (0..n).map(&mut row).collect()
    }

    /// Returns the smallest entry of a bottleneck matching, which is found by trying all perfect
    /// matchings.
    fn bottleneck(amounts: &[Vec<u64>], row: usize, taken: u32) -> u64 {
        if row == amounts.len() {
            return u64::MAX;
        }
        let free = (0..amounts.len()).filter(|column| taken >> column & 1 == 0);
        let with = |c: usize| amounts[row][c].min(bottleneck(amounts, row + 1, taken | 1 << c));
        free.map(with).max().unwrap_or(0)
    }

    #[test]
    fn each_round_is_a_bottleneck_matching() {
        for seed in 1..20 {
            let mut rounds = Rounds::new(&random(6, seed));
            loop {
                let mut amounts = vec![vec![0; 6]; 6];
                for (row, entries) in rounds.rows.iter().enumerate() {
                    entries.iter().for_each(|e| amounts[row][e.column as usize] = e.amount());
                }
                let before = rounds.remaining;
                if rounds.next().is_none() {
                    break;
                }
                assert_eq!(before - rounds.remaining, bottleneck(&amounts, 0, 0), "seed {seed}");
            }
        }
    }

    #[test]
    fn rounds_send_the_demand_in_the_least_possible_time() {
        for (n, seed) in [(1, 1), (2, 2), (7, 3), (12, 4), (20, 5)] {
            let demand = random(n, seed);
            let mut left = vec![vec![0; n as usize]; n as usize];
            for (from, row) in demand.iter().enumerate() {
                row.iter().for_each(|(to, bytes)| left[from][*to as usize] = *bytes);
            }
            let row = |i: usize| left[i].iter().sum::<u64>();
            let column = |j: usize| left.iter().map(|row| row[j]).sum::<u64>();
            let largest = (0..n as usize).map(|i| row(i).max(column(i))).max().unwrap();
            let mut time = 0;
            for round in Rounds::new(&demand) {
                time += round.iter().map(|(.., bytes)| *bytes).max().unwrap_or(0);
                let mut seen = vec![[false; 2]; n as usize];
                for (from, to, bytes) in round {
                    left[from as usize][to as usize] -= bytes;
                    assert!(!std::mem::replace(&mut seen[from as usize][0], true));
                    assert!(!std::mem::replace(&mut seen[to as usize][1], true));
                }
            }
            assert!(left.iter().flatten().all(|bytes| *bytes == 0));
            assert_eq!(time, largest, "{n} ranks");
        }
    }
}
