use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// For each process, its executed operations and current slots, and filled slots of connections.
type State = (Vec<(usize, u64)>, Vec<u64>);

/// Returns all states after one process fills or frees one slot, which defines the programs.
fn successors(programs: &Programs, depth: u64, (done, filled): &State) -> Vec<State> {
    let mut all = Vec::new();
    for (process, (executed, part)) in done.iter().enumerate() {
        let Some(operation) = programs.operations[process].get(*executed) else { continue };
        let (mut done, mut filled) = (done.clone(), filled.clone());
        let slots = match *operation {
            Operation::Send { connection, slots } if filled[connection] < depth => {
                filled[connection] += 1;
                slots
            }
            Operation::Receive { connection, slots } if filled[connection] > 0 => {
                filled[connection] -= 1;
                slots
            }
            Operation::Wait { process, operations } if done[process].0 >= operations => 1,
            _ => continue,
        };
        done[process] = if part + 1 == slots { (executed + 1, 0) } else { (*executed, part + 1) };
        all.push((done, filled));
    }
    all
}

/// Searches all interleavings. Returns whether some end in a deadlock, and whether some end well.
fn search(programs: &Programs, depth: u64) -> [bool; 2] {
    let start = (vec![(0, 0); programs.operations.len()], vec![0; programs.connections.len()]);
    let (mut known, mut open) = (BTreeSet::from([start.clone()]), vec![start]);
    let mut found = [false; 2];
    while let Some(state) = open.pop() {
        let next = successors(programs, depth, &state);
        if next.is_empty() {
            let ended = |(process, done): (usize, &(usize, u64))| {
                done.0 == programs.operations[process].len()
            };
            found[usize::from(state.0.iter().enumerate().all(ended))] = true;
        }
        open.extend(next.into_iter().filter(|state| known.insert(state.clone())));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(200, 4000)))]

    #[test]
    fn the_answer_is_that_of_all_interleavings(
        ranks in 2_usize..=4,
        depth in 1_u64..=2,
        messages in prop::collection::vec((1_u64..=3, 0_usize..4, 1_usize..4, 1_u64..=3), 1..8),
    ) {
        let mut messages = messages;
        messages.sort_by_key(|(step, ..)| *step);
        let mut programs = StepPrograms::default();
        for (step, from, distance, slots) in messages {
            let from = from % ranks;
            let to = (from + 1 + (distance - 1) % (ranks - 1)) % ranks;
            programs.message(step, from, to, slots);
        }
        let programs = programs.finish();
        let is_stuck = programs.deadlock(depth).is_some();
        prop_assert_eq!(search(&programs, depth), [is_stuck, !is_stuck]);
    }

    #[test]
    fn programs_in_any_order_give_the_answer_of_all_interleavings(
        depth in 1_u64..=2,
        operations in prop::collection::vec((0_usize..3, 0_usize..3, 1_usize..3, 1_u64..=2), 1..9),
    ) {
        let mut programs = Programs::default();
        (0..3).for_each(|process| programs.push(process, Operation::Wait { process, operations: 0 }));
        for (kind, process, distance, slots) in operations {
            let other = (process + distance) % 3;
            let operation = match kind {
                0 => Operation::Send { connection: programs.connection(process, other), slots },
                1 => Operation::Receive { connection: programs.connection(other, process), slots },
                _ => Operation::Wait { process: other, operations: slots as usize },
            };
            programs.push(process, operation);
        }
        let is_stuck = programs.deadlock(depth).is_some();
        prop_assert_eq!(search(&programs, depth), [is_stuck, !is_stuck]);
    }
}

#[test]
fn two_ranks_that_send_first_need_a_slot_for_each_block() {
    let exchange = |slots| {
        let mut programs = StepPrograms::default();
        programs.message(1, 0, 1, slots);
        programs.message(1, 1, 0, slots);
        programs.finish()
    };
    assert_eq!(exchange(8).deadlock(8), None);
    let deadlock = exchange(9).deadlock(8).unwrap();
    assert_eq!(deadlock.cycle, [(0, 1, true), (1, 0, true)]);
    assert_eq!(
        deadlock.to_string(),
        "rank 0 waits for a free slot to rank 1, rank 1 waits for a free slot to rank 0"
    );
}

fn partner(rank: usize, step: u32, n: usize) -> usize {
    let rho = (1..=step).fold(1, |sum: i64, k| sum + (-2_i64).pow(k));
    let signed = if rank.is_multiple_of(2) { rho } else { -rho };
    (rank as i64 + signed).rem_euclid(n as i64) as usize
}

fn tree(root: usize, n: usize) -> Vec<(usize, usize)> {
    let mut joined = vec![(root, 0_usize)];
    let mut all = vec![(root, 0); n];
    for step in (0..n.ilog2()).rev() {
        for (rank, depth) in joined.clone() {
            let child = partner(rank, step, n);
            all[child] = (rank, depth + 1);
            joined.push((child, depth + 1));
        }
    }
    all
}

/// Returns an allgather on the Bine trees of all blocks, each of which takes a slot. A rank
/// receives a block and forwards it to its children, in the order of `key`, which depends on the
/// block and on the depth of the rank in its tree.
fn allgather(n: usize, key: impl Fn(usize, usize) -> usize) -> Programs {
    let trees: Vec<Vec<(usize, usize)>> = (0..n).map(|root| tree(root, n)).collect();
    let mut programs = Programs::default();
    for rank in 0..n {
        let mut blocks: Vec<usize> = (0..n).collect();
        blocks.sort_by_key(|block| (key(*block, trees[*block][rank].1), *block));
        for block in blocks {
            if block != rank {
                let connection = programs.connection(trees[block][rank].0, rank);
                programs.push(rank, Operation::Receive { connection, slots: 1 });
            }
            for step in 0..n.ilog2() {
                let child = partner(rank, step, n);
                if child != block && trees[block][child].0 == rank {
                    let connection = programs.connection(rank, child);
                    programs.push(rank, Operation::Send { connection, slots: 1 });
                }
            }
        }
    }
    programs
}

/// The authors of a Bine allgather for NCCL found and repaired this deadlock (HLC-Lab/nccl c5ad20e,
/// bench_bine/IMPROVEMENT_PLAN.md, Apache-2.0). With the eight slots of NCCL, blocks in the order
/// of depths deadlock for 64 ranks and more, since 10 blocks of a depth use one connection (6 for
/// 32 ranks). The order of block + 6 depth has no deadlock from 6 slots on, block + 8 depth needs
/// all 8, and from block + 12 depth on there is a deadlock for 64 ranks and more. The order of
/// blocks alone needs at most 2.
#[test]
fn bine_trees_in_the_order_of_depths_deadlock_for_64_ranks_and_more() {
    let by_depth = |n: usize| move |block: usize, depth: usize| n * depth + block;
    let skewed = |factor: usize| move |block: usize, depth: usize| block + factor * depth;
    for n in [4, 8, 16, 32] {
        assert_eq!(allgather(n, by_depth(n)).deadlock(8), None, "{n}");
    }
    for n in [64, 128, 256] {
        let deadlock = allgather(n, by_depth(n)).deadlock(8).unwrap();
        assert!(deadlock.cycle.iter().any(|(.., is_full)| *is_full), "{n}: {deadlock}");
        assert!(allgather(n, skewed(12)).deadlock(8).is_some(), "{n}");
        assert_eq!(allgather(n, skewed(0)).deadlock(2), None, "{n}");
        assert_eq!(allgather(n, skewed(6)).deadlock(6), None, "{n}");
        assert_eq!(allgather(n, skewed(8)).deadlock(8), None, "{n}");
        assert!(allgather(n, skewed(8)).deadlock(7).is_some(), "{n}");
    }
}
