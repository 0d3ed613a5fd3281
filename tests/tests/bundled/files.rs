//! Tests with MSCCL files. The SDK verifies correct algorithms, and their costs are those of closed
//! forms. The errors of broken algorithms name the line, the step and the expected value.

use std::fmt::Write as _;
use swapmeet_plugin_files::Msccl;
use swapmeet_sdk::{Algorithm as _, Collective, Disproof, Proved, Rehearsal, Stop};

/// For each step: MSCCL's word for the type, the source, the target, the number of chunks, and the
/// thread block and step for which it waits.
type Steps = Vec<(&'static str, Chunk, Chunk, u64, Option<(u64, u64)>)>;

/// A chunk of a buffer: the letter of the buffer, and the number of the chunk.
type Chunk = (char, u64);

/// A thread block: the GPU to which it sends, the GPU from which it receives, the channel, and the
/// steps.
type Block = (i64, i64, u64, Steps);

struct Xml {
    text: String,
    collective: &'static str,
    gpus: u64,
}

impl Xml {
    fn new(collective: &'static str, gpus: u64, more: &str) -> Self {
        let text = format!(
            "<algo name=\"t\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"{gpus}\" ngpus=\"{gpus}\" coll=\"{collective}\" {more}>\n"
        );
        Self { text, collective, gpus }
    }

    fn gpu(&mut self, id: u64, chunks: [u64; 3], blocks: &[Block]) {
        let [i, o, s] = chunks;
        let _ = writeln!(
            self.text,
            "<gpu id=\"{id}\" i_chunks=\"{i}\" o_chunks=\"{o}\" s_chunks=\"{s}\">"
        );
        for (number, (send, receive, channel, steps)) in blocks.iter().enumerate() {
            let _ = writeln!(
                self.text,
                "<tb id=\"{number}\" send=\"{send}\" recv=\"{receive}\" chan=\"{channel}\">"
            );
            for (s, (word, source, target, count, after)) in steps.iter().enumerate() {
                let (depid, deps) =
                    after.map_or((-1, -1), |(block, step)| (block as i64, step as i64));
                let _ = writeln!(
                    self.text,
                    "<step s=\"{s}\" type=\"{word}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{count}\" depid=\"{depid}\" deps=\"{deps}\" hasdep=\"0\"/>",
                    source.0, source.1, target.0, target.1
                );
            }
            self.text.push_str("</tb>\n");
        }
        self.text.push_str("</gpu>\n");
    }

    fn done(mut self) -> Self {
        self.text.push_str("</algo>\n");
        self
    }

    fn problem(&self, text: &str) -> (tempfile::TempDir, Rehearsal) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.xml");
        std::fs::write(&file, text).unwrap();
        let has_name = |other: &Collective| other.word().replace('-', "") == self.collective;
        let collective = Msccl.about().collectives.iter().copied().find(has_name).unwrap();
        let problem = Rehearsal::on("ring", &[self.gpus]).collective(collective, 0).block_bytes(60);
        let problem = problem.param("file", file.to_str().unwrap());
        (dir, problem)
    }

    fn proved(&self) -> Proved {
        let (_dir, problem) = self.problem(&self.text);
        problem.verify(&Msccl).unwrap_or_else(|why| panic!("{why}\n{}", self.text))
    }

    fn broken(&self, from: &str, to: &str) -> Stop {
        assert!(self.text.contains(from), "{from}\n{}", self.text);
        let (_dir, problem) = self.problem(&self.text.replacen(from, to, 1));
        match problem.verify(&Msccl).unwrap_err() {
            Disproof::Stopped(stop) => stop,
            other => panic!("{from} -> {to}: {other}"),
        }
    }
}

fn two_steps() -> Xml {
    let mut xml = Xml::new("alltoall", 3, "");
    for gpu in 0..3 {
        let (next, last) = ((gpu + 1) % 3, (gpu + 2) % 3);
        let (n, l) = (next as i64, last as i64);
        let first = vec![
            ("cpy", ('i', gpu), ('o', gpu), 1, None),
            ("s", ('i', next), ('o', gpu), 1, None),
            ("r", ('i', gpu), ('o', last), 1, None),
        ];
        let second = vec![
            ("s", ('i', last), ('o', gpu), 1, Some((0, 2))),
            ("r", ('i', 0), ('o', next), 1, None),
        ];
        xml.gpu(gpu, [3, 3, 0], &[(n, l, 0, first), (l, n, 0, second)]);
    }
    xml.done()
}

/// A ring allreduce of `n` chunks with MSCCL's fused steps: each GPU adds its values to the
/// received chunk and passes the sum on in the same step.
fn ring_allreduce(n: u64) -> Xml {
    let mut xml = Xml::new("allreduce", n, "inplace=\"1\" outofplace=\"0\"");
    for gpu in 0..n {
        let chunk = |back: u64| ('i', (gpu + 2 * n - back) % n);
        let mut steps = vec![("s", chunk(0), chunk(0), 1, None)];
        steps.extend((1..n - 1).map(|k| ("rrs", chunk(k), chunk(k), 1, None)));
        steps.push(("rrcs", chunk(n - 1), chunk(n - 1), 1, None));
        steps.extend((n..2 * n - 2).map(|k| ("rcs", chunk(k), chunk(k), 1, None)));
        steps.push(("r", chunk(2 * n - 2), chunk(2 * n - 2), 1, None));
        xml.gpu(
            gpu,
            [n, 0, 0],
            &[((gpu + 1) as i64 % n as i64, (gpu + n - 1) as i64 % n as i64, 0, steps)],
        );
    }
    xml.done()
}

/// An allreduce in which each GPU sums one segment. In the first step, each GPU sends segment g to
/// GPU g, which stores it in its scratch buffer and then adds it. In the second step, GPU g sends
/// its sum to all others in the same way.
fn all_pairs(n: u64) -> Xml {
    let mut xml = Xml::new("allreduce", n, "inplace=\"1\" outofplace=\"0\"");
    for gpu in 0..n {
        let others: Vec<u64> = (1..n).map(|d| (gpu + d) % n).collect();
        let slot = |from: u64, at: u64| ('s', (from + n - at) % n - 1);
        let mut blocks: Vec<Block> = Vec::new();
        for other in &others {
            let steps = vec![
                ("s", ('i', *other), slot(gpu, *other), 1, None),
                ("r", ('i', gpu), slot(*other, gpu), 1, None),
                ("s", ('i', gpu), ('i', gpu), 1, Some((n - 1, 2 * n - 3))),
                ("r", ('i', *other), ('i', *other), 1, None),
            ];
            blocks.push((*other as i64, *other as i64, 0, steps));
        }
        let mut adds: Steps = Vec::new();
        for (block, other) in (0..).zip(&others) {
            adds.push(("nop", ('i', 0), ('i', 0), 0, Some((block, 1))));
            adds.push(("re", slot(*other, gpu), ('i', gpu), 1, None));
        }
        blocks.push((-1, -1, 0, adds));
        xml.gpu(gpu, [n, 0, n - 1], &blocks);
    }
    xml.done()
}

#[test]
fn an_all_to_all_takes_two_steps_of_one_message() {
    let proved = two_steps().proved();
    assert_eq!((proved.steps, proved.messages, proved.critical_bytes), (2, 6, 120));
    assert_eq!((proved.max_sends, proved.max_receives), (1, 1));
}

/// The cost is that of `ring-allreduce`: `2 (n - 1) (alpha + m/n beta) + (n - 1) m/n gamma`.
#[test]
fn a_ring_allreduce_has_the_cost_of_the_closed_form() {
    for n in [2, 3, 5, 6] {
        let proved = ring_allreduce(n).proved();
        assert_eq!((proved.steps, proved.messages), (2 * (n - 1), 2 * n * (n - 1)), "{n}");
        assert_eq!(
            (proved.critical_bytes, proved.summed_bytes),
            (2 * (n - 1) * 60 / n, (n - 1) * 60 / n),
            "{n}"
        );
    }
}

#[test]
fn partial_sums_in_scratch_are_verified() {
    for n in [2, 4, 6] {
        let proved = all_pairs(n).proved();
        assert_eq!(
            (proved.steps, proved.messages, proved.critical_bytes),
            (2, 2 * n * (n - 1), 2 * 60 / n),
            "{n}"
        );
        assert_eq!(proved.summed_bytes, (n - 1) * 60 / n, "{n}");
    }
}

#[test]
fn a_pipelined_broadcast_takes_links_plus_chunks_minus_one_steps() {
    let mut xml = Xml::new("broadcast", 4, "");
    for gpu in 0..4_i64 {
        let chunks = if gpu == 0 { [2, 2, 0] } else { [0, 2, 0] };
        let (kind, from) = match gpu {
            0 => ("s", 'i'),
            3 => ("r", 'i'),
            _ => ("rcs", 'i'),
        };
        let steps = (0..2).map(|chunk| (kind, (from, chunk), ('o', chunk), 1, None)).collect();
        let mut blocks = vec![(
            if gpu == 3 { -1 } else { gpu + 1 },
            if gpu == 0 { -1 } else { gpu - 1 },
            0,
            steps,
        )];
        if gpu == 0 {
            blocks.push((-1, -1, 0, vec![("cpy", ('i', 0), ('o', 0), 2, None)]));
        }
        xml.gpu(gpu as u64, chunks, &blocks);
    }
    let proved = xml.done().proved();
    assert_eq!((proved.steps, proved.messages, proved.critical_bytes), (4, 6, 120));
}

#[test]
fn an_allgather_in_place_needs_no_copy() {
    let mut xml = Xml::new("allgather", 3, "inplace=\"1\" outofplace=\"0\"");
    for gpu in 0..3_u64 {
        let (next, last) = ((gpu + 1) % 3, (gpu + 2) % 3);
        let steps = vec![
            ("s", ('i', 0), ('o', gpu), 1, None),
            ("rcs", ('i', 0), ('o', last), 1, None),
            ("r", ('i', 0), ('o', next), 1, None),
        ];
        xml.gpu(gpu, [1, 3, 0], &[(next as i64, last as i64, 0, steps)]);
    }
    let proved = xml.done().proved();
    assert_eq!((proved.steps, proved.messages, proved.critical_bytes), (2, 6, 120));
}

#[test]
fn all_other_collectives_are_supported() {
    let n = 3_u64;
    for (collective, chunks) in [
        ("scatter", [n, 1, 0]),
        ("gather", [1, n, 0]),
        ("reduce", [1, 1, n]),
        ("reducescatter", [n, 1, n]),
    ] {
        let mut xml = Xml::new(collective, n, "");
        for gpu in 0..n {
            let mut blocks: Vec<Block> = Vec::new();
            let own = match collective {
                "scatter" | "reducescatter" => ('i', gpu),
                _ => ('i', 0),
            };
            let goal = if collective == "gather" { ('o', gpu) } else { ('o', 0) };
            let everyone = collective == "reducescatter";
            let has_own = everyone || gpu == 0;
            if has_own {
                blocks.push((-1, -1, 0, vec![("cpy", own, goal, 1, None)]));
            }
            let mut before = has_own.then_some((0, 0));
            for other in (0..n).filter(|other| *other != gpu) {
                let sends = everyone || if collective == "scatter" { gpu == 0 } else { other == 0 };
                let receives =
                    everyone || if collective == "scatter" { other == 0 } else { gpu == 0 };
                let source = if matches!(collective, "scatter" | "reducescatter") {
                    ('i', other)
                } else {
                    ('i', 0)
                };
                let target = if collective == "gather" { ('o', other) } else { ('o', 0) };
                let mut steps: Steps = Vec::new();
                if sends {
                    steps.push(("s", source, target, 1, None));
                }
                if receives && collective.starts_with("reduce") {
                    steps.push(("rrc", target, target, 1, before));
                    before = Some((blocks.len() as u64, steps.len() as u64 - 1));
                } else if receives {
                    steps.push(("r", ('i', 0), target, 1, None));
                }
                if sends || receives {
                    let peer = |is: bool| if is { other as i64 } else { -1 };
                    blocks.push((peer(sends), peer(receives), 0, steps));
                }
            }
            xml.gpu(gpu, chunks, &blocks);
        }
        let proved = xml.done().proved();
        let messages = if collective == "reducescatter" { n * (n - 1) } else { n - 1 };
        assert_eq!(proved.messages, messages, "{collective}");
    }
}

#[test]
fn errors_name_line_step_and_expected_value() {
    let xml = two_steps();
    let step = |s: u64, word: &str| format!("<step s=\"{s}\" type=\"{word}\"");
    for (from, to, why) in [
        (
            "<tb id=\"1\" send=\"2\" recv=\"1\" chan=\"0\">".to_owned(),
            "<tb id=\"1\" send=\"2\" recv=\"1\" chan=\"1\">".to_owned(),
            "line 32: GPU 2, thread block 1, step 1 has no matching send: on channel 0 GPU 0 sends 0 times to GPU 2, which receives 1 times",
        ),
        (
            "srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\"".to_owned(),
            "srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\" cnt=\"2\"".to_owned(),
            "GPU 1, thread block 0, step 2 receives 1 chunks, expected the 2 that GPU 0, thread block 0, step 1 (line 5) sends",
        ),
        (
            "srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\"".to_owned(),
            "srcoff=\"7\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\"".to_owned(),
            "line 5: GPU 0, thread block 0, step 1 (s) names 1 chunks from input chunk 7 on, expected at least 1 within the 3 that GPU 0 has there",
        ),
        (
            "srcbuf=\"i\" srcoff=\"1\"".to_owned(),
            "srcbuf=\"o\" srcoff=\"1\"".to_owned(),
            "line 5: GPU 0, thread block 0, step 1 (s) reads output chunk 1, to which nothing was written",
        ),
        (
            "dstbuf=\"o\" dstoff=\"2\"".to_owned(),
            "dstbuf=\"o\" dstoff=\"1\"".to_owned(),
            "line 2: GPU 0 ends with nothing in output chunk 2, expected chunk 0 of the block 2 -> 0",
        ),
        (
            "depid=\"0\" deps=\"2\"".to_owned(),
            "depid=\"4\" deps=\"2\"".to_owned(),
            "GPU 0, thread block 1, step 0 waits for thread block 4, step 2, which does not exist",
        ),
        (step(2, "r"), step(2, "s"), "has no matching receive"),
        (
            "send=\"1\" recv=\"2\"".to_owned(),
            "send=\"-1\" recv=\"2\"".to_owned(),
            "GPU 0, thread block 0, step 1 has no partner: its thread block has send=\"-1\"",
        ),
        (
            "send=\"1\" recv=\"2\"".to_owned(),
            "send=\"9\" recv=\"2\"".to_owned(),
            "send=\"9\", expected a GPU below 3",
        ),
        (step(2, "r"), step(2, "rrc"), "adds values in a collective without sums"),
    ] {
        let stop = xml.broken(&from, &to);
        assert!(matches!(stop, Stop::Invalid(_)), "{from} -> {to}: {stop:?}");
        assert!(stop.to_string().contains(why), "{from} -> {to}: {stop}");
    }
}

#[test]
fn a_deadlock_names_the_waiting_steps() {
    let mut xml = Xml::new("alltoall", 2, "");
    for gpu in 0..2 {
        let other = 1 - gpu;
        let steps = vec![
            ("cpy", ('i', gpu), ('o', gpu), 1, None),
            ("r", ('i', 0), ('o', other), 1, None),
            ("s", ('i', other), ('o', gpu), 1, None),
        ];
        xml.gpu(gpu, [2, 2, 0], &[(other as i64, other as i64, 0, steps)]);
    }
    let stop = xml.done().broken("<algo", "<algo");
    let error = stop.to_string();
    assert!(matches!(stop, Stop::Invalid(_)) && error.contains("deadlock: GPU 0, thread block 0, step 1 (line 5) waits for GPU 1, thread block 0, step 2 (line 13), which waits for"), "{error}");
    assert!(error.ends_with("which waits for the first"), "{error}");
}

#[test]
fn unreadable_files_are_errors_with_a_line() {
    let xml = two_steps();
    for (from, to, why) in [
        ("<algo", "<!DOCTYPE a [<!ENTITY b \"c\">]>\n<algo", "line 1: "),
        (
            "coll=\"alltoall\"",
            "coll=\"alltoallv\"",
            "line 1: coll=\"alltoallv\", expected alltoall, broadcast",
        ),
        ("proto=\"Simple\"", "proto=\"Sumple\"", "proto=\"Sumple\", expected Simple, LL or LL128"),
        ("type=\"cpy\"", "type=\"mov\"", "line 4: type=\"mov\", expected s, r, rcs"),
        (
            "<gpu id=\"1\"",
            "<gpu id=\"2\"",
            "gpu id=\"2\", expected 1: elements are numbered in order from 0",
        ),
        ("ngpus=\"3\"", "ngpus=\"4\"", "ngpus=\"4\" and 3 GPUs, expected as many"),
        ("</tb>", "", "line "),
        ("srcoff=\"1\"", "", "line 5: `step` has no `srcoff`"),
        ("cnt=\"1\"", "cnt=\"-7\"", "cnt=\"-7\", expected a whole number below 2^32"),
        ("i_chunks=\"3\"", "i_chunks=\"4000000000\"", "expected at most 16777216"),
        ("<tb id=\"0\"", "<td id=\"0\"/><tb id=\"0\"", "line 3: `td`, expected `tb`"),
    ] {
        let stop = xml.broken(from, to);
        assert!(matches!(stop, Stop::Failed(_)), "{from} -> {to}: {stop:?}");
        assert!(stop.to_string().contains(why), "{from} -> {to}: {stop}");
    }
    let deep = format!("<algo>{}", "<a>".repeat(200_000));
    let (_dir, problem) = xml.problem(&deep);
    assert!(matches!(problem.verify(&Msccl), Err(Disproof::Stopped(Stop::Failed(_)))));
}

#[test]
fn wrong_sums_are_named() {
    let xml = all_pairs(4);
    let from = "<step s=\"1\" type=\"re\"";
    let stop = xml.broken(from, "<step s=\"1\" type=\"cpy\"");
    assert!(stop.to_string().contains("without GPU"), "{stop}");
}
