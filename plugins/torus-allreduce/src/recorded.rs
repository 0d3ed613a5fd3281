//! Compares Swing and Trivance with messages that were recorded from the code of their authors.

use crate::swing::Swing;
use crate::trivance::Trivance;
use swapmeet_sdk::{Algorithm, Collective, Rehearsal, RehearsedSend, RehearsedStep};

const SWING: &str = include_str!("../../../tests/fixtures/schedules/bine-torus.txt");
const TRIVANCE: &str = include_str!("../../../tests/fixtures/schedules/trivance.txt");

struct Recorded<'a> {
    title: &'a str,
    sides: Vec<u64>,
    port: usize,
    lines: &'a [&'a str],
}

fn for_each_case(file: &str, mut compare: impl FnMut(&Recorded<'_>)) -> usize {
    let lines: Vec<&str> = file.lines().filter(|line| !line.starts_with('#')).collect();
    let cases = lines.split(|line| line.is_empty()).filter(|case| !case.is_empty());
    let compare = |case: &[&str]| {
        let words: Vec<&str> = case[0].split(' ').rev().collect();
        let sides = words[1].split('x').map(|side| side.parse().unwrap()).collect();
        let port = words[0].parse().unwrap();
        compare(&Recorded { title: case[0], sides, port, lines: &case[1..] });
    };
    cases.map(compare).count()
}

fn plan(algorithm: &dyn Algorithm, sides: &[u64], variant: &str) -> Vec<RehearsedStep> {
    let problem = Rehearsal::on("torus", sides).collective(Collective::AllReduce, 0);
    problem.param("variant", variant).plan(algorithm).unwrap()
}

fn sends(step: &RehearsedStep, rank: usize, segment: usize) -> Vec<&RehearsedSend> {
    let is_own =
        |send: &&RehearsedSend| send.from == rank as u64 && send.segments == [segment as u64];
    step.sends.iter().filter(is_own).collect()
}

/// Compares the messages of a port. Of the messages of a rank with `segment` in a step, the one
/// with the index `number` is that of the port.
fn compare(recorded: &Recorded<'_>, steps: &[RehearsedStep], segment: usize, number: usize) {
    for (rank, line) in recorded.lines.iter().enumerate() {
        let message = |step: &RehearsedStep| {
            let send = sends(step, rank, segment)[number];
            let blocks: Vec<String> = send.destinations.iter().map(u64::to_string).collect();
            format!("{}:{}", send.to, blocks.join(","))
        };
        let ours: Vec<String> = steps.iter().map(message).collect();
        assert_eq!(ours.join(" "), *line, "{}, rank {rank}", recorded.title);
    }
}

/// Compares only the partners, because the variant `latency` sends whole vectors and the recorded
/// messages have parts. `number` is as in `compare`.
fn compare_partners(recorded: &Recorded<'_>, steps: &[RehearsedStep], number: usize) {
    for (rank, line) in recorded.lines.iter().enumerate() {
        let theirs: Vec<u64> =
            line.split(' ').map(|m| m.split(':').next().unwrap().parse().unwrap()).collect();
        let ours: Vec<u64> = steps.iter().map(|step| sends(step, rank, 0)[number].to).collect();
        assert_eq!(ours, theirs, "{}, rank {rank}", recorded.title);
    }
}

#[test]
fn swing_has_the_messages_of_the_authors_library() {
    let cases = for_each_case(SWING, |recorded| {
        let of_phase = |steps: Vec<RehearsedStep>| {
            let half = steps.len() / 2;
            let is_gathered = recorded.title.starts_with("allgather");
            if is_gathered { steps[half..].to_vec() } else { steps[..half].to_vec() }
        };
        // In the library, port k begins with dimension k, and port D + k is its mirror image. Here,
        // the two ports have the segments 2 k and 2 k + 1.
        let dimensions = recorded.sides.len();
        let segment = recorded.port % dimensions * 2 + recorded.port / dimensions;
        compare(recorded, &of_phase(plan(&Swing, &recorded.sides, "all-ports")), segment, 0);
        if recorded.port == 0 {
            compare(recorded, &of_phase(plan(&Swing, &recorded.sides, "bandwidth")), 0, 0);
            if recorded.title.starts_with("reduce-scatter") {
                compare_partners(recorded, &plan(&Swing, &recorded.sides, "latency"), 0);
            }
        }
    });
    assert_eq!(cases, 32);
}

#[test]
fn trivance_has_the_messages_of_the_authors_simulator() {
    let cases = for_each_case(TRIVANCE, |recorded| {
        let dimensions = recorded.sides.len();
        let (segment, number) = (recorded.port % dimensions, recorded.port / dimensions);
        let steps = plan(&Trivance, &recorded.sides, "bandwidth");
        let (reduced, gathered) = steps.split_at(steps.len() / 2);
        if segment == 0 {
            compare_partners(recorded, &plan(&Trivance, &recorded.sides, "latency"), number);
        }
        compare(recorded, reduced, segment, number);
        for (rank, _) in recorded.lines.iter().enumerate() {
            for (reduced, gathered) in reduced.iter().rev().zip(gathered) {
                let ends = |step| {
                    let mut ends: Vec<(u64, usize)> = sends(step, rank, segment)
                        .iter()
                        .map(|send| (send.to, send.destinations.len()))
                        .collect();
                    ends.sort_unstable();
                    ends
                };
                assert_eq!(ends(reduced), ends(gathered), "{}, rank {rank}", recorded.title);
            }
        }
    });
    assert_eq!(cases, 20);
}
