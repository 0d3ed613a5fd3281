//! Compares the schedules with messages that were recorded from the authors' library.

use crate::{butterfly, tree};
use std::collections::BTreeSet;
use swapmeet_sdk::{Algorithm, Collective, Rehearsal, RehearsedSend, RehearsedStep};

/// The recorded messages of each rank. The file states its source and licence, and describes its
/// lines.
const RECORDED: &str = include_str!("../../../tests/fixtures/schedules/bine.txt");

/// The recorded messages on tori, for each port.
const TORI: &str = include_str!("../../../tests/fixtures/schedules/bine-torus.txt");

/// Returns the algorithm of this plugin for a function of the library, and its variant.
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
/// these blocks from the sender's set in `held`, which has the blocks of each rank.
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
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// Returns the sends and receives of each rank, step by step, in the notation of the file.
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
            // A rank sends one message in each step, so all blocks that it has lost in this step
            // were in that message.
            held[to as usize].extend(sent);
        }
    }
    lines
}

/// Replaces the number of each segment by the rank that completes its sum. The library uses a
/// different numbering, so that each message is contiguous in memory.
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
    let text: Vec<&str> = RECORDED.lines().filter(|line| !line.starts_with('#')).collect();
    let mut compared = 0;
    for case in text.split(|line| line.is_empty()).filter(|case| !case.is_empty()) {
        let words: Vec<&str> = case[0].split(' ').collect();
        let (algorithm, variant) = of_function(words[0]);
        let (n, root) = (words[1].parse().unwrap(), words[2].parse().unwrap());
        let collective = algorithm.about().collectives[0];
        let mut problem = Rehearsal::on("ring", &[n]).collective(collective, root);
        if let Some(variant) = variant {
            problem = problem.param("variant", variant);
        }
        let ours = events(&problem.plan(algorithm).unwrap(), collective, n);
        let theirs = match words[0] {
            "allreduce_bine_bdw_remap" => renumbered(&case[1..]),
            _ => case[1..].iter().map(|line| (*line).to_owned()).collect(),
        };
        assert_eq!(ours, theirs, "{}", case[0]);
        compared += 1;
    }
    assert_eq!(compared, 48);
}

/// The library uses at most two ports for each dimension. On a torus of two dimensions, ports 4 and
/// 5 therefore repeat the messages of ports 0 and 1.
#[test]
fn the_messages_on_tori_are_those_of_the_authors_library() {
    let text: Vec<&str> = TORI.lines().filter(|line| !line.starts_with('#')).collect();
    let mut compared = 0;
    for case in text.split(|line| line.is_empty()).filter(|case| !case.is_empty()) {
        let words: Vec<&str> = case[0].split(' ').collect();
        let sides: Vec<u64> = words[1].split('x').map(|side| side.parse().unwrap()).collect();
        let port: u64 = words[2].parse().unwrap();
        let algorithm = match words[0] {
            "allgather" => &butterfly::ALL_GATHER,
            _ => &butterfly::REDUCE_SCATTER,
        };
        let collective = algorithm.about().collectives[0];
        let problem = Rehearsal::on("torus", &sides).collective(collective, 0);
        let steps = problem.param("ports", "6").plan(algorithm).unwrap();
        for (rank, line) in (0..).zip(&case[1..]) {
            let message = |step: &RehearsedStep| {
                let is_own = |send: &&RehearsedSend| send.from == rank && send.segments == [port];
                let send = step.sends.iter().find(is_own).unwrap();
                let is_gathered = collective == Collective::AllGather;
                let blocks = if is_gathered { &send.origins } else { &send.destinations };
                let blocks: Vec<String> = blocks.iter().map(u64::to_string).collect();
                format!("{}:{}", send.to, blocks.join(","))
            };
            let ours: Vec<String> = steps.iter().map(message).collect();
            assert_eq!(ours.join(" "), *line, "{}, rank {rank}", case[0]);
        }
        compared += 1;
    }
    assert_eq!(compared, 32);
}
