//! Compares the schedules with messages that were recorded from the authors' library.

use crate::{butterfly, tree};
use std::collections::BTreeSet;
use swapmeet_sdk::{Algorithm, Collective, Rehearsal, RehearsedSend, RehearsedStep};

const RECORDED: &str = include_str!("../../../tests/fixtures/schedules/bine.txt");

const TORI: &str = include_str!("../../../tests/fixtures/schedules/bine-torus.txt");

const TORUS_TREES: &str = include_str!("../../../tests/fixtures/schedules/bine-torus-trees.txt");

/// Returns the algorithm that corresponds to a function of the library, and its variant unless it
/// is the default.
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
            let sent: Vec<_> = held[send.from as usize].iter().copied().filter(is_sent).collect();
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
    let compared = for_each_case(RECORDED, |words, lines| {
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
    });
    assert_eq!(compared, 48);
}

/// The library's allreduce of whole vectors has the partners of its reduce-scatter. It uses at most
/// two ports for each dimension, so in two dimensions ports 4 and 5 repeat ports 0 and 1.
#[test]
fn the_messages_on_tori_are_those_of_the_authors_library() {
    let compared = for_each_case(TORI, |words, lines| {
        let port: u64 = words[2].parse().unwrap();
        let algorithm = match words[0] {
            "allgather" => &butterfly::ALL_GATHER,
            _ => &butterfly::REDUCE_SCATTER,
        };
        let collective = algorithm.about().collectives[0];
        let steps = on_torus(words[1], collective, 0).plan(algorithm).unwrap();
        for (rank, line) in (0..).zip(lines) {
            let message = |step: &RehearsedStep| {
                let is_own = |send: &&RehearsedSend| send.from == rank && send.segments == [port];
                let send = step.sends.iter().find(is_own).unwrap();
                let is_gathered = collective == Collective::AllGather;
                let blocks = if is_gathered { &send.origins } else { &send.destinations };
                format!("{}:{}", send.to, joined(blocks))
            };
            let ours: Vec<String> = steps.iter().map(message).collect();
            assert_eq!(ours.join(" "), *line, "{words:?}, rank {rank}");
        }
        if words[0] == "reduce-scatter" {
            let problem = on_torus(words[1], Collective::AllReduce, 0).param("variant", "whole");
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
    });
    assert_eq!(compared, 32);
}

fn for_each_case(file: &str, mut compare: impl FnMut(&[&str], &[&str])) -> usize {
    let lines: Vec<&str> = file.lines().filter(|line| !line.starts_with('#')).collect();
    let cases = lines.split(|line| line.is_empty()).filter(|case| !case.is_empty());
    cases.map(|case| compare(&case[0].split(' ').collect::<Vec<_>>(), &case[1..])).count()
}

fn on_torus(sides: &str, collective: Collective, root: u64) -> Rehearsal {
    let sides: Vec<u64> = sides.split('x').map(|side| side.parse().unwrap()).collect();
    Rehearsal::on("torus", &sides).collective(collective, root).param("ports", "6")
}

fn joined(blocks: &[u64]) -> String {
    blocks.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

#[test]
fn trees_on_tori_are_those_of_the_authors_library() {
    let mut compared = 0;
    for_each_case(TORUS_TREES, |title, lines| {
        let ["tree", sides, order, port, root] = *title else { return };
        let (port, root) = (port.parse::<u64>().unwrap(), root.parse().unwrap());
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
                let theirs: Vec<&str> = line
                    .split(' ')
                    .filter(|message| *message != "-")
                    .map(
                        |message| {
                            if has_blocks { message } else { message.split(':').next().unwrap() }
                        },
                    )
                    .collect();
                assert_eq!(ours, theirs, "{}, {title:?}, rank {rank}", algorithm.about().name);
            }
        }
        compared += 1;
    });
    assert_eq!(compared, 64);
}

#[test]
fn the_all_to_all_on_tori_is_that_of_the_authors_library() {
    let mut compared = 0;
    for_each_case(TORUS_TREES, |title, lines| {
        let ["alltoall", sides, "0"] = *title else { return };
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
    });
    assert_eq!(compared, 4);
}
