//! The tests parse exported files with separate code, and compare them with texts that other
//! programs printed.

use super::*;
use std::collections::{BTreeMap, HashMap};
use swapmeet_interchange::schedule::{FORMAT, VERSION};

/// `steps` contains the messages of each step as (sender, receiver, bytes).
fn exported(name: &str, nodes: u64, steps: &[&[(u64, u64, u64)]]) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let mut exporter = Exporter::new(format(name).unwrap(), folder.path());
    let head = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        nodes,
        collective: "alltoall".to_owned(),
        ..Header::default()
    };
    exporter.head(head).unwrap();
    for (number, sends) in (1..).zip(steps) {
        for &(from, to, bytes) in *sends {
            let send =
                Send { step: number, from, to, bytes, path: vec![from, to], ..Send::default() };
            exporter.event(DocumentEvent::Send(send)).unwrap();
        }
        exporter.event(DocumentEvent::EndOfStep).unwrap();
    }
    exporter.finish(&[]).unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap());
    files
        .map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap()))
        .collect()
}

fn goal(nodes: u64, steps: &[&[(u64, u64, u64)]]) -> String {
    String::from_utf8(exported("goal", nodes, steps).remove("schedule.goal").unwrap()).unwrap()
}

const PAIRWISE: [&[(u64, u64, u64)]; 2] =
    [&[(0, 1, 100), (1, 2, 100), (2, 0, 100)], &[(0, 2, 100), (1, 0, 100), (2, 1, 100)]];

/// LogGOPSim has accepted the text of rank 0. In those of ranks 1 and 2, ranks are shifted.
#[test]
fn goal_of_two_pairwise_steps_matches_loggopsim_input() {
    let mut expected = "num_ranks 3\n".to_owned();
    for rank in 0..3 {
        let (next, last) = ((rank + 1) % 3, (rank + 2) % 3);
        expected += &format!(
            "\nrank {rank} {{\ns1: send 100b to {next} tag 1\nr1: recv 100b from {last} tag 1\nj1: calc 0\nj1 requires s1\nj1 requires r1\n\
             s2: send 100b to {last} tag 2\ns2 requires j1\nr2: recv 100b from {next} tag 2\nr2 requires j1\n}}\n"
        );
    }
    assert_eq!(goal(3, &PAIRWISE), expected);
}

/// Node 1 of the chain forwards each segment after it has arrived.
#[test]
fn goal_with_order_data_waits_for_forwarded_data() {
    let folder = tempfile::tempdir().unwrap();
    let mut exporter = Exporter::new(format("goal").unwrap(), folder.path());
    let machine = "free:model=loggp,order=data".to_owned();
    exporter
        .head(Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            nodes: 3,
            machine,
            ..Header::default()
        })
        .unwrap();
    // Steps 1 and 3 of the schedule have no messages between nodes.
    for (step, from, after) in [(2, 0, 0), (4, 0, 0), (4, 1, 2), (5, 1, 4)] {
        let send = Send { step, from, to: from + 1, bytes: 50, after, ..Send::default() };
        exporter.event(DocumentEvent::Send(send)).unwrap();
    }
    exporter.event(DocumentEvent::EndOfStep).unwrap();
    exporter.finish(&[]).unwrap();
    let text = std::fs::read_to_string(folder.path().join("schedule.goal")).unwrap();
    let expected = "num_ranks 3\n\n\
        rank 0 {\ns1: send 50b to 1 tag 1\ns2: send 50b to 1 tag 2\ns2 irequires s1\n}\n\n\
        rank 1 {\nr1: recv 50b from 0 tag 1\nj1: calc 0\nj1 requires r1\ns1: send 50b to 2 tag 2\ns1 requires j1\nr2: recv 50b from 0 tag 2\n\
        j2: calc 0\nj2 requires r2\nj2 requires j1\ns2: send 50b to 2 tag 3\ns2 irequires s1\ns2 requires j2\n}\n\n\
        rank 2 {\nr1: recv 50b from 1 tag 2\nr2: recv 50b from 1 tag 3\n}\n";
    assert_eq!(text, expected);
}

/// The two routes lead over two links between the same nodes, which differ only in direction.
#[test]
fn goal_has_a_message_for_each_route() {
    let folder = tempfile::tempdir().unwrap();
    let mut exporter = Exporter::new(format("goal").unwrap(), folder.path());
    let head =
        Header { format: FORMAT.to_owned(), version: VERSION, nodes: 3, ..Header::default() };
    exporter.head(head).unwrap();
    for (path, signs) in [
        (vec![0, 1], vec![1]),
        (vec![0, 2, 1], vec![]),
        (vec![0, 1], vec![-1]),
        (vec![0, 2, 1], vec![]),
    ] {
        let send = Send { step: 1, to: 1, bytes: 50, path, signs, ..Send::default() };
        exporter.event(DocumentEvent::Send(send)).unwrap();
    }
    exporter.event(DocumentEvent::EndOfStep).unwrap();
    exporter.finish(&[]).unwrap();
    let text = std::fs::read_to_string(folder.path().join("schedule.goal")).unwrap();
    let sends = "s1: send 50b to 1 tag 1\ns2: send 100b to 1 tag 1\ns3: send 50b to 1 tag 1\n}";
    assert!(text.contains(sends), "{text}");
}

/// Simulates a GOAL text under LogGP, with at most one message at a time between two ranks. Returns
/// the time at which each rank finishes. `l`, `o` and `big_g` are the latency L, the processor time
/// o of a message, and the time G per byte, in ns. A send of s bytes occupies the processor for o.
/// It occupies the network for `max(g, o + (s - 1) G)`, where g is the gap between messages. The
/// message arrives `L + (s - 1) G` after the processor has finished, and receiving it takes o.
fn loggp(text: &str, (l, o, big_g): (u64, u64, u64)) -> Vec<u64> {
    let mut ranks: Vec<Vec<Vec<&str>>> = Vec::new();
    for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["rank", number, "{"] => {
                assert_eq!(number.parse(), Ok(ranks.len()), "ranks stand in order");
                ranks.push(Vec::new());
            }
            ["}"] => {}
            words => ranks.last_mut().unwrap().push(words.to_vec()),
        }
    }
    // `done` has the time at which each operation finishes, by rank and label. `there` has the
    // arrival time and the size of each message, by sender, receiver and tag.
    let mut done: HashMap<(usize, &str), u64> = HashMap::new();
    let mut there: HashMap<(usize, usize, &str), (u64, u64)> = HashMap::new();
    let mut at = vec![0; ranks.len()];
    loop {
        let before = at.clone();
        for (rank, lines) in ranks.iter().enumerate() {
            while let Some(line) = lines.get(at[rank]) {
                // The lines after an operation state its dependencies.
                let label = line[0].trim_end_matches(':');
                let required: Vec<&str> = lines
                    .iter()
                    .filter(|l| l[0] == label && l[1] == "requires")
                    .map(|l| l[2])
                    .collect();
                if line[1] == "requires" {
                    at[rank] += 1;
                    continue;
                }
                let Some(ready) = required
                    .iter()
                    .map(|label| done.get(&(rank, *label)).copied())
                    .collect::<Option<Vec<_>>>()
                else {
                    break;
                };
                let ready = ready.into_iter().max().unwrap_or(0);
                let bytes = |word: &str| word.trim_end_matches('b').parse::<u64>().unwrap();
                let end = match line[1] {
                    "calc" => ready + bytes(line[2]),
                    "send" => {
                        let to = line[4].parse().unwrap();
                        let arrives = ready + o + l + (bytes(line[2]) - 1) * big_g;
                        assert!(
                            there.insert((rank, to, line[6]), (arrives, bytes(line[2]))).is_none(),
                            "one message a tag"
                        );
                        ready + o
                    }
                    "recv" => {
                        let Some((arrives, size)) =
                            there.get(&(line[4].parse().unwrap(), rank, line[6]))
                        else {
                            break;
                        };
                        assert_eq!(*size, bytes(line[2]), "both ends agree");
                        ready.max(*arrives) + o
                    }
                    other => panic!("{other}"),
                };
                done.insert((rank, label), end);
                at[rank] += 1;
            }
        }
        if at == before {
            break;
        }
    }
    assert!(at.iter().zip(&ranks).all(|(at, lines)| *at == lines.len()), "deadlock");
    (0..ranks.len())
        .map(|rank| {
            done.iter().filter(|((r, _), _)| *r == rank).map(|(_, end)| *end).max().unwrap_or(0)
        })
        .collect()
}

/// LogGOPSim printed this time for every rank: 2 x (o + L + (s - 1) G + o).
#[test]
fn goal_times_match_loggopsim_output() {
    assert_eq!(loggp(&goal(3, &PAIRWISE), (2500, 1500, 6)), [12188; 3]);
    assert_eq!(loggp(&goal(3, &PAIRWISE), (1000, 0, 1)), [2198; 3]);
}

#[test]
fn goal_merges_messages_with_equal_ends_and_has_no_empty_message() {
    let text = goal(2, &[&[(0, 1, 7), (0, 1, 5), (1, 1, 9)], &[(1, 0, 0)]]);
    assert!(text.contains("s1: send 12b to 1 tag 1\n"), "{text}");
    assert!(text.contains("s1: send 1b to 0 tag 2\n"), "{text}");
    assert_eq!(text.matches(": send ").count(), 2, "{text}");
}

#[test]
fn idle_steps_of_a_rank_need_no_line() {
    let text = goal(3, &[&[(0, 1, 1)], &[(1, 2, 1)], &[(2, 0, 1)]]);
    let rank_0 = "rank 0 {\ns1: send 1b to 1 tag 1\nj1: calc 0\nj1 requires s1\nr1: recv 1b from 2 tag 3\nr1 requires j1\n}";
    assert!(text.contains(rank_0), "{text}");
}

#[test]
fn chakra_bytes_match_the_description() {
    let files = exported("chakra", 2, &[&[(0, 1, 1024), (1, 0, 1024)]]);
    assert_eq!(files.keys().collect::<Vec<_>>(), ["schedule.0.et", "schedule.1.et"]);
    let mut expected: Vec<u8> = b"\x07\x0a\x050.0.4".to_vec();
    for (id, word, kind, from, to) in [(1, "send", 5, 0, 1), (2, "recv", 6, 1, 0)] {
        expected.extend([0x5b, 0x08, id, 0x12, 0x0b]);
        expected.extend(format!("{word} b({from},{to})").bytes());
        expected.extend([0x18, kind]);
        expected.extend(
            b"\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00\x52\x0e\x0a\x09comm_size\x48\x80\x08\x52\x0c\x0a\x08comm_src\x38",
        );
        expected.push(from);
        expected.extend(b"\x52\x0c\x0a\x08comm_dst\x38");
        expected.push(to);
        expected.extend(b"\x52\x0c\x0a\x08comm_tag\x38\x01");
    }
    assert_eq!(expected.len(), 192);
    assert_eq!(files["schedule.0.et"], expected);
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    let mut list = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = varint(&mut bytes);
        let (content, rest) = bytes.split_at(if key & 7 == 2 { value as usize } else { 0 });
        list.push((key >> 3, value, content));
        bytes = rest;
    }
    list
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let len = bytes.iter().position(|b| b & 0x80 == 0).unwrap() + 1;
    let (these, rest) = bytes.split_at(len);
    *bytes = rest;
    these.iter().rev().fold(0, |all, b| all << 7 | u64::from(b & 0x7f))
}

#[test]
fn chakra_nodes_depend_on_the_previous_step() {
    let files = exported("chakra", 3, &PAIRWISE);
    for rank in 0..3_u64 {
        let mut bytes = &files[&format!("schedule.{rank}.et")][..];
        let mut nodes = Vec::new();
        while !bytes.is_empty() {
            let len = varint(&mut bytes) as usize;
            let (message, rest) = bytes.split_at(len);
            nodes.push(fields(message));
            bytes = rest;
        }
        // After the metadata, the trace has one send and one receive for each step.
        let kinds: Vec<u64> = nodes[1..].iter().map(|node| node[2].1).collect();
        assert_eq!(kinds, [5, 6, 5, 6]);
        for (index, node) in nodes[1..].iter().enumerate() {
            let deps =
                node.iter().find(|(field, ..)| *field == 5).map_or(&[][..], |(.., ids)| *ids);
            assert_eq!(deps, if index < 2 { &[][..] } else { &[1, 2] });
            let attributes: Vec<_> =
                node.iter().filter(|(field, ..)| *field == 10).map(|(.., a)| fields(a)).collect();
            let value =
                |name: &str| attributes.iter().find(|a| a[0].2 == name.as_bytes()).unwrap()[1].1;
            let peer = (rank + if index % 2 == 0 { 1 } else { 2 } * (index as u64 / 2 + 1)) % 3;
            let (from, to) = if index % 2 == 0 { (rank, peer) } else { (peer, rank) };
            assert_eq!(
                (value("comm_src"), value("comm_dst"), value("comm_size")),
                (from, to, 100),
                "rank {rank}, node {index}"
            );
            assert_eq!(value("comm_tag"), index as u64 / 2 + 1);
        }
    }
}
