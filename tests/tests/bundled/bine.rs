use crate::support::rehearsals::{joined, log2_up, recorded_cases, refusal};
use std::collections::BTreeSet;
use swapmeet_sdk::{Algorithm, Collective, Rehearsal, RehearsedSend, RehearsedStep};

mod butterfly {
    use super::*;
    use swapmeet_plugin_bine::butterfly::{ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, REDUCE_SCATTER};

    #[test]
    fn every_power_of_two_has_the_cost_of_the_closed_forms() {
        for n in [1_u64, 2, 4, 8, 32] {
            let log = log2_up(n);
            let on = |collective, bytes| {
                Rehearsal::on("ring", &[n]).collective(collective, 0).block_bytes(bytes)
            };
            let scattered = on(Collective::ReduceScatter, 10).verify(&REDUCE_SCATTER).unwrap();
            assert_eq!(
                (scattered.steps, scattered.critical_bytes, scattered.summed_bytes),
                (log, 10 * (n - 1), 10 * (n - 1))
            );
            let gathered = on(Collective::AllGather, 10).verify(&ALL_GATHER).unwrap();
            assert_eq!((gathered.steps, gathered.critical_bytes), (log, 10 * (n - 1)));
            let exchanged = on(Collective::AllToAll, 10).verify(&ALL_TO_ALL).unwrap();
            assert_eq!((exchanged.steps, exchanged.critical_bytes), (log, 10 * log * n / 2));
            let everywhere = on(Collective::AllReduce, 10 * n).verify(&ALL_REDUCE).unwrap();
            assert_eq!(
                (everywhere.steps, everywhere.critical_bytes, everywhere.summed_bytes),
                (2 * log, 20 * (n - 1), 10 * (n - 1))
            );
            let whole = on(Collective::AllReduce, 10)
                .param("variant", "whole")
                .verify(&ALL_REDUCE)
                .unwrap();
            assert_eq!(
                (whole.steps, whole.critical_bytes, whole.summed_bytes),
                (log, 10 * log, 10 * log)
            );
        }
    }

    #[test]
    fn several_ports_on_tori_have_the_cost_of_the_closed_forms() {
        // `[]` is a hypercube of one node, which has no dimensions.
        for sides in [&[][..], &[8], &[4, 4], &[2, 8], &[4, 2, 2], &[1, 4]] {
            let n: u64 = sides.iter().product();
            let log = log2_up(n);
            for ports in 1..=6 {
                let on = |collective, bytes: u64| {
                    let problem = Rehearsal::on("torus", sides).collective(collective, 0);
                    problem.block_bytes(bytes * ports).param("ports", &ports.to_string())
                };
                let scattered = on(Collective::ReduceScatter, 10).verify(&REDUCE_SCATTER).unwrap();
                assert_eq!(
                    (scattered.steps, scattered.summed_bytes),
                    (log, 10 * ports * (n - 1)),
                    "{sides:?} {ports}"
                );
                let gathered = on(Collective::AllGather, 10).verify(&ALL_GATHER).unwrap();
                assert_eq!(gathered.steps, log);
                let everywhere = on(Collective::AllReduce, 10 * n).verify(&ALL_REDUCE).unwrap();
                assert_eq!(
                    (everywhere.steps, everywhere.summed_bytes),
                    (2 * log, 10 * ports * (n - 1))
                );
                let whole = on(Collective::AllReduce, 10).param("variant", "whole");
                let whole = whole.verify(&ALL_REDUCE).unwrap();
                assert_eq!((whole.steps, whole.summed_bytes), (log, 10 * ports * log));
            }
        }
    }

    #[test]
    fn other_ports_and_sides_are_refused() {
        let on = |sides: &[u64], ports| {
            let problem = Rehearsal::on("torus", sides).collective(Collective::AllGather, 0);
            refusal(&problem.param("ports", ports), &ALL_GATHER)
        };
        assert_eq!(on(&[4, 4], "7"), "`ports=7`: expected a whole number from 1 to 6");
        assert_eq!(on(&[4, 6], "2"), "a dimension has 6 nodes, which is not a power of two");
    }

    #[test]
    fn other_numbers_of_nodes_are_refused() {
        let problem = Rehearsal::on("ring", &[6]).collective(Collective::AllReduce, 0);
        assert_eq!(refusal(&problem, &ALL_REDUCE), "6 nodes are not a power of two");
    }
}

mod tree {
    use super::*;
    use swapmeet_plugin_bine::tree::{BROADCAST, GATHER, REDUCE, SCATTER, Tree};

    /// Each rank except the root receives the block once, over a distance of `reach`.
    #[test]
    fn distances_are_those_of_the_paper() {
        let reach = |terms: u32| ((1 - (-2_i64).pow(terms)) / 3).unsigned_abs();
        for s in 0..10 {
            let n = 1_u64 << s;
            let broadcast = Rehearsal::on("ring", &[n]).collective(Collective::Broadcast, 0);
            for (i, step) in (0..).zip(broadcast.plan(&BROADCAST).unwrap()) {
                for RehearsedSend { from, to, .. } in step.sends {
                    let apart = (to + n - from) % n;
                    assert_eq!(
                        apart.min(n - apart),
                        reach(s - i).min(n - reach(s - i)),
                        "{from} to {to}"
                    );
                }
            }
        }
        for n in [1_u64, 2, 8, 16] {
            for root in [0, n / 2, n - 1] {
                let on = |collective| {
                    Rehearsal::on("ring", &[n]).collective(collective, root).block_bytes(10)
                };
                let log = log2_up(n);
                let broadcast = on(Collective::Broadcast).verify(&BROADCAST).unwrap();
                assert_eq!(
                    (broadcast.steps, broadcast.messages, broadcast.critical_bytes),
                    (log, n - 1, 10 * log)
                );
                let summed = on(Collective::Reduce).verify(&REDUCE).unwrap();
                assert_eq!(
                    (summed.steps, summed.messages, summed.summed_bytes),
                    (log, n - 1, 10 * log)
                );
                for (collective, algorithm) in
                    [(Collective::Scatter, &SCATTER), (Collective::Gather, &GATHER)]
                {
                    let moved = on(collective).verify(algorithm).unwrap();
                    assert_eq!(
                        (moved.steps, moved.messages, moved.critical_bytes),
                        (log, n - 1, 10 * (n - 1))
                    );
                }
            }
        }
    }

    /// On a line, the tree of any root is that of rank 0, shifted.
    #[test]
    fn the_root_of_a_line_shifts_the_tree() {
        for order in ["far", "near"] {
            let of_root = |root: u64| {
                let problem = Rehearsal::on("ring", &[16]).collective(Collective::Scatter, root);
                let steps = problem.param("order", order).plan(&SCATTER).unwrap();
                let shifted = |rank: &u64| (rank + 16 - root) % 16;
                let message = |send: &RehearsedSend| {
                    let mut blocks: Vec<u64> = send.destinations.iter().map(shifted).collect();
                    blocks.sort_unstable();
                    (shifted(&send.from), shifted(&send.to), blocks)
                };
                let messages = |step: &RehearsedStep| {
                    let mut messages: Vec<_> = step.sends.iter().map(message).collect();
                    messages.sort();
                    messages
                };
                steps.iter().map(messages).collect::<Vec<_>>()
            };
            let expected = of_root(0);
            assert!([1, 4, 7, 15].iter().all(|root| of_root(*root) == expected), "{order}");
        }
    }

    #[test]
    fn several_ports_on_tori_have_the_cost_of_the_closed_forms() {
        for sides in [&[8][..], &[4, 4], &[2, 8], &[4, 2, 2], &[1, 4]] {
            let n: u64 = sides.iter().product();
            let log = log2_up(n);
            for (ports, root, order) in [(1, 0, "near"), (6, n - 1, "far"), (4, 1, "near")] {
                let on = |algorithm: &Tree| {
                    let collective = algorithm.about().collectives[0];
                    let problem = Rehearsal::on("torus", sides).collective(collective, root);
                    let problem = problem.block_bytes(10 * ports).param("order", order);
                    problem.param("ports", &ports.to_string()).verify(algorithm).unwrap()
                };
                // Every rank but the root receives the vector or passes its sum on once.
                for (algorithm, blocks) in [
                    (&BROADCAST, n - 1),
                    (&REDUCE, n - 1),
                    (&SCATTER, n / 2 * log),
                    (&GATHER, n / 2 * log),
                ] {
                    let run = on(algorithm);
                    let counts = (run.steps, run.total_bytes);
                    assert_eq!(counts, (log, 10 * ports * blocks), "{sides:?} {ports} {order}");
                }
            }
        }
    }
}

/// Compares the schedules with messages that were recorded from the authors' library.
mod recorded {
    use super::*;
    use swapmeet_plugin_bine::{butterfly, tree};

    /// The file states its source and licence.
    const RECORDED: &str = include_str!("../../fixtures/schedules/bine.txt");

    const TORI: &str = include_str!("../../fixtures/schedules/bine-torus.txt");

    const TORUS_TREES: &str = include_str!("../../fixtures/schedules/bine-torus-trees.txt");

    /// Returns the algorithm that corresponds to a function of the library, and its variant unless
    /// it is the default.
    fn of_function(name: &str) -> (&'static dyn Algorithm, Option<&'static str>) {
        match name {
            "allgather_bine_permute_remap" => (&butterfly::ALL_GATHER, None),
            "reduce_scatter_bine_permute_remap" => (&butterfly::REDUCE_SCATTER, None),
            "allreduce_bine_lat" => (&butterfly::ALL_REDUCE, Some("whole")),
            "allreduce_bine_bdw_remap" => (&butterfly::ALL_REDUCE, None),
            "alltoall_bine" => (&butterfly::ALL_TO_ALL, None),
            "bcast_bine_lat_new" => (&tree::BROADCAST, None),
            "reduce_bine_lat" => (&tree::REDUCE, None),
            "gather_bine" => (&tree::GATHER, None),
            "scatter_bine" => (&tree::SCATTER, None),
            _ => panic!("{name}"),
        }
    }

    /// Returns the blocks of a message in the notation of the file. In an all-to-all, also removes
    /// these blocks from the sender's blocks in `held`.
    fn blocks(
        send: &RehearsedSend,
        collective: Collective,
        n: u64,
        held: &mut [BTreeSet<(u64, u64)>],
    ) -> String {
        let ids: Vec<u64> = match collective {
            Collective::AllToAll => {
                let is_sent = |block: &(u64, u64)| send.destinations.contains(&block.1);
                let sent: Vec<_> =
                    held[send.from as usize].iter().copied().filter(is_sent).collect();
                sent.iter().for_each(|block| {
                    held[send.from as usize].remove(block);
                });
                sent.iter().map(|(origin, destination)| origin * n + destination).collect()
            }
            Collective::AllGather | Collective::Gather => send.origins.clone(),
            _ => send.destinations.clone(),
        };
        let is_whole_vector = matches!(collective, Collective::Broadcast | Collective::Reduce)
            || collective == Collective::AllReduce && ids.len() as u64 == n;
        if is_whole_vector {
            return "*".to_owned();
        }
        joined(&ids)
    }

    fn events(steps: &[RehearsedStep], collective: Collective, n: u64) -> Vec<String> {
        let mut held: Vec<BTreeSet<(u64, u64)>> =
            (0..n).map(|from| (0..n).map(|to| (from, to)).collect()).collect();
        let mut lines = vec![String::new(); n as usize];
        for step in steps {
            let before = held.clone();
            let mut arrived = Vec::new();
            for send in &step.sends {
                let text = blocks(send, collective, n, &mut held);
                lines[send.from as usize] += &format!(" >{}:{text}", send.to);
                arrived.push((send.from, send.to));
            }
            for (from, to) in arrived {
                lines[to as usize] += &format!(" <{from}");
                let sent: Vec<_> =
                    before[from as usize].difference(&held[from as usize]).copied().collect();
                // A rank sends one message per step, so the message had all blocks that the rank
                // lost in this step.
                held[to as usize].extend(sent);
            }
        }
        lines
    }

    /// Replaces the number of each segment by the rank that completes its sum. The library numbers
    /// segments such that messages are contiguous.
    fn renumbered(lines: &[&str]) -> Vec<String> {
        let n = lines.len();
        let last = n.trailing_zeros() as usize - 1;
        let messages = |line: &str| -> Vec<(usize, Vec<usize>)> {
            let sends = line.split(' ').filter_map(|event| event.strip_prefix('>'));
            let message = |text: &str| {
                let (to, blocks) = text.split_once(':').unwrap();
                (to.parse().unwrap(), blocks.split(',').map(|b| b.parse().unwrap()).collect())
            };
            sends.map(message).collect()
        };
        let mut owner = vec![0; n];
        for line in lines {
            let (to, segments) = &messages(line)[last];
            owner[segments[0]] = *to;
        }
        let replaced = |event: &str| match event.split_once(':') {
            None => event.to_owned(),
            Some((to, blocks)) => {
                let mut owners: Vec<usize> =
                    blocks.split(',').map(|b| owner[b.parse::<usize>().unwrap()]).collect();
                owners.sort_unstable();
                let owners: Vec<String> = owners.iter().map(usize::to_string).collect();
                format!("{to}:{}", owners.join(","))
            }
        };
        let line = |line: &&str| line.split(' ').map(replaced).collect::<Vec<_>>().join(" ");
        lines.iter().map(line).collect()
    }

    #[test]
    fn the_messages_are_those_of_the_authors_library() {
        let cases = recorded_cases(RECORDED);
        for (words, lines) in &cases {
            let (algorithm, variant) = of_function(words[0]);
            let (n, root) = (words[1].parse().unwrap(), words[2].parse().unwrap());
            let collective = algorithm.about().collectives[0];
            let mut problem = Rehearsal::on("ring", &[n]).collective(collective, root);
            if let Some(variant) = variant {
                problem = problem.param("variant", variant);
            }
            let ours = events(&problem.plan(algorithm).unwrap(), collective, n);
            let theirs = match words[0] {
                "allreduce_bine_bdw_remap" => renumbered(lines),
                _ => lines.iter().map(|line| (*line).to_owned()).collect(),
            };
            assert_eq!(ours, theirs, "{words:?}");
        }
        assert_eq!(cases.len(), 48);
    }

    /// The library's allreduce of whole vectors has the partners of its reduce-scatter. It uses at
    /// most two ports for each dimension, so in two dimensions ports 4 and 5 repeat ports 0 and 1.
    #[test]
    fn the_messages_on_tori_are_those_of_the_authors_library() {
        let cases = recorded_cases(TORI);
        for (words, lines) in &cases {
            let port: u64 = words[2].parse().unwrap();
            let algorithm = match words[0] {
                "allgather" => &butterfly::ALL_GATHER,
                _ => &butterfly::REDUCE_SCATTER,
            };
            let collective = algorithm.about().collectives[0];
            let steps = on_torus(words[1], collective, 0).plan(algorithm).unwrap();
            for (rank, line) in (0..).zip(lines) {
                let message = |step: &RehearsedStep| {
                    let is_own =
                        |send: &&RehearsedSend| send.from == rank && send.segments == [port];
                    let send = step.sends.iter().find(is_own).unwrap();
                    let is_gathered = collective == Collective::AllGather;
                    let blocks = if is_gathered { &send.origins } else { &send.destinations };
                    format!("{}:{}", send.to, joined(blocks))
                };
                let ours: Vec<String> = steps.iter().map(message).collect();
                assert_eq!(ours.join(" "), *line, "{words:?}, rank {rank}");
            }
            if words[0] == "reduce-scatter" {
                let problem =
                    on_torus(words[1], Collective::AllReduce, 0).param("variant", "whole");
                let whole = problem.plan(&butterfly::ALL_REDUCE).unwrap();
                let ends = |step: &RehearsedStep| -> Vec<(u64, u64)> {
                    let is_own = |send: &&RehearsedSend| send.segments == [port];
                    let mut ends: Vec<_> =
                        step.sends.iter().filter(is_own).map(|send| (send.from, send.to)).collect();
                    ends.sort_unstable();
                    ends
                };
                assert!(whole.iter().map(ends).eq(steps.iter().map(ends)), "{words:?}");
            }
        }
        assert_eq!(cases.len(), 32);
    }

    fn on_torus(sides: &str, collective: Collective, root: u64) -> Rehearsal {
        let sides: Vec<u64> = sides.split('x').map(|side| side.parse().unwrap()).collect();
        Rehearsal::on("torus", &sides).collective(collective, root).param("ports", "6")
    }

    #[test]
    fn trees_on_tori_are_those_of_the_authors_library() {
        let mut compared = 0;
        for (title, lines) in &recorded_cases(TORUS_TREES) {
            let ["tree", sides, order, port, root] = title[..] else { continue };
            let (port, root) = (port.parse::<u64>().unwrap(), root.parse().unwrap());
            // A gather or reduce sends from children to parents, with the steps in reverse order.
            for (algorithm, is_reverse) in [
                (&tree::SCATTER, false),
                (&tree::BROADCAST, false),
                (&tree::GATHER, true),
                (&tree::REDUCE, true),
            ] {
                let collective = algorithm.about().collectives[0];
                let problem = on_torus(sides, collective, root).param("order", order);
                let mut steps = problem.plan(algorithm).unwrap();
                if is_reverse {
                    steps.reverse();
                }
                for (rank, line) in (0..).zip(lines) {
                    let mut ours = Vec::new();
                    for (i, step) in steps.iter().enumerate() {
                        for send in step.sends.iter().filter(|send| send.segments == [port]) {
                            let ends = (send.from, send.to);
                            let (parent, child) = if is_reverse { (ends.1, ends.0) } else { ends };
                            let blocks = match collective {
                                Collective::Scatter => format!(":{}", joined(&send.destinations)),
                                Collective::Gather => format!(":{}", joined(&send.origins)),
                                _ => String::new(),
                            };
                            if parent == rank {
                                ours.push(format!("{i}>{child}{blocks}"));
                            }
                        }
                    }
                    let has_blocks = matches!(collective, Collective::Scatter | Collective::Gather);
                    let theirs: Vec<&str> =
                        line.split(' ')
                            .filter(|message| *message != "-")
                            .map(|message| {
                                if has_blocks {
                                    message
                                } else {
                                    message.split(':').next().unwrap()
                                }
                            })
                            .collect();
                    assert_eq!(ours, theirs, "{}, {title:?}, rank {rank}", algorithm.about().name);
                }
            }
            compared += 1;
        }
        assert_eq!(compared, 64);
    }

    #[test]
    fn the_all_to_all_on_tori_is_that_of_the_authors_library() {
        let mut compared = 0;
        for (title, lines) in recorded_cases(TORUS_TREES) {
            let ["alltoall", sides, "0"] = title[..] else { continue };
            let problem = on_torus(sides, Collective::AllToAll, 0);
            let steps = problem.plan(&butterfly::ALL_TO_ALL).unwrap();
            for (rank, line) in (0..).zip(lines) {
                let message = |step: &RehearsedStep| {
                    let is_own = |send: &&RehearsedSend| send.from == rank && send.segments == [0];
                    let send = step.sends.iter().find(is_own).unwrap();
                    format!("{}:{}", send.to, joined(&send.destinations))
                };
                let ours: Vec<String> = steps.iter().map(message).collect();
                assert_eq!(ours.join(" "), *line, "{title:?}, rank {rank}");
            }
            compared += 1;
        }
        assert_eq!(compared, 4);
    }
}
