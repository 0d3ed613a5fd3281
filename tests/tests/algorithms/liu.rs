//! Compares the algorithms of Liu et al. with an independent implementation that redistributes
//! element by element (`fixtures/liu.json`). As in the paper, the data that a node keeps for itself
//! is a message of the step.

use super::matrix::REGISTRY;
use serde_json::Value;
use std::fmt::Write as _;
use swapmeet_core::cost::kind::Kind;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::cost::model::clock::Clock;
use swapmeet_core::cost::model::flat::{Flat, Stage, StageMessage};
use swapmeet_core::simulation::listener::{Listener, ScheduleEvent};
use swapmeet_results::{Record, Status, Verified};
use swapmeet_runner::case::cases;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::Text;
use swapmeet_runner::session::run_group;

fn fixture() -> Value {
    serde_json::from_str(include_str!("../../fixtures/liu.json")).unwrap()
}

struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// Returns the matrix M of message sizes that a name such as `pattern1(1024,s=1,seed=1)` describes.
fn matrix(p: u64, name: &str) -> Vec<Vec<u64>> {
    let (kind, args) = name.trim_end_matches(')').split_once('(').unwrap();
    let args: Vec<u64> =
        args.split(',').map(|a| a.rsplit('=').next().unwrap().parse().unwrap()).collect();
    let side = p.isqrt();
    let mut random = SplitMix64(*args.last().unwrap());
    (0..p)
        .map(|i| match kind {
            "uniform" => vec![args[0]; p as usize],
            "rand" => (0..p).map(|_| random.below(args[0] + 1)).collect(),
            spikes => {
                let to = if spikes == "pattern1" {
                    random.below(p)
                } else {
                    (i % side) * side + i / side
                };
                (0..p).map(|j| if j == to { args[0] } else { args[1] }).collect()
            }
        })
        .collect()
}

/// The messages of each stage as (sender, receiver, load, step). If a node sends a message to
/// itself, the message belongs to the next step of the stage that has other messages. If there is
/// none, such messages form a further step.
#[derive(Debug, Default)]
struct Watched {
    stages: Vec<Vec<(u32, u32, u64, u32)>>,
    phase: Option<u32>,
    step: u32,
    kept: Vec<(u32, u64)>,
}

impl Watched {
    fn enter(&mut self, phase: u32) {
        if self.phase != Some(phase) {
            self.settle();
            self.phase = Some(phase);
            self.stages.push(Vec::new());
        }
    }

    fn settle(&mut self) {
        if let Some(stage) = self.stages.last_mut() {
            stage.extend(self.kept.drain(..).map(|(node, load)| (node, node, load, self.step + 1)));
            self.step += 1;
        }
    }
}

impl Listener for Watched {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Step(step) => {
                self.enter(step.phase_number);
                let stage = self.stages.last_mut().unwrap();
                stage.extend(step.transfers.iter().map(|t| (t.from, t.to, t.load, self.step + 1)));
                self.settle();
            }
            ScheduleEvent::LocalCopy(copy) => {
                self.enter(copy.phase_number);
                self.kept.push((copy.node, copy.load));
            }
            _ => {}
        }
    }
}

struct Run {
    row: Record,
    stages: Vec<Vec<(u32, u32, u64, u32)>>,
}

fn run(p: u64, matrix: &[Vec<u64>], algorithm: &str) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.csv");
    let mut text = String::new();
    for row in matrix {
        let _ = writeln!(text, "{}", row.iter().map(u64::to_string).collect::<Vec<_>>().join(","));
    }
    std::fs::write(&file, text).unwrap();
    let text = |t: &str| vec![Text::flag("test", t)];
    let experiment = Experiment {
        topologies: text(&format!("fully-connected:{p}")),
        algorithms: text(algorithm),
        workloads: text(&format!("matrix:{}", file.display())),
        machines: text("free"),
        ..Experiment::default()
    };
    let mut watched = Watched::default();
    let row =
        run_group(&cases(&experiment, &REGISTRY).unwrap(), &mut [&mut watched]).pop().unwrap();
    assert_eq!(row.status, Status::Ok, "{}", row.reason);
    watched.settle();
    Run { row, stages: watched.stages }
}

const ALGORITHMS: [(&str, &str); 5] = [
    ("A1", "direct"),
    ("A2", "two-stage"),
    ("A3", "row-column"),
    ("A4", "four-stage"),
    ("A4_balanced_start", "four-stage:start=balanced"),
];

fn most(p: u64, messages: impl Iterator<Item = (u32, u64)>) -> u64 {
    let mut sums = vec![0; p as usize];
    messages.for_each(|(node, load)| sums[node as usize] += load);
    sums.into_iter().max().unwrap()
}

#[test]
fn every_value_agrees() {
    let fixture = fixture();
    let metrics = fixture["metrics"].as_object().unwrap();
    assert_eq!(metrics.len(), 10);
    for (name, expected) in metrics {
        let (p, pattern) = name.strip_prefix("P=").unwrap().split_once(' ').unwrap();
        let p: u64 = p.parse().unwrap();
        let matrix = matrix(p, pattern);
        assert_eq!(
            matrix.iter().flatten().sum::<u64>(),
            expected["total"].as_u64().unwrap(),
            "{name}"
        );
        for (paper, algorithm) in
            ALGORITHMS.iter().filter(|(paper, _)| expected.get(paper).is_some())
        {
            let expected = &expected[paper];
            let Run { row, stages } = run(p, &matrix, algorithm);
            let figure = |key: &str| expected[key].as_u64().unwrap();
            let at = format!("{name}, {algorithm}");
            let all = || stages.iter().flatten();
            assert_eq!(most(p, all().map(|m| (m.0, m.2))), figure("sent_max"), "{at}: sent");
            assert_eq!(most(p, all().map(|m| (m.1, m.2))), figure("recv_max"), "{at}: received");
            let others = || all().filter(|m| m.0 != m.1);
            assert_eq!(
                most(p, others().map(|m| (m.0, m.2))),
                figure("sent_max_noself"),
                "{at}: sent to others"
            );
            assert_eq!(row.send_buffer_bytes, Some(figure("sbuf_max").into()), "{at}: send buffer");
            assert_eq!(
                row.receive_buffer_bytes,
                Some(figure("rbuf_max").into()),
                "{at}: receive buffer"
            );
            let longest: Vec<u64> =
                stages.iter().map(|s| s.iter().map(|m| m.2).max().unwrap()).collect();
            let theirs: Vec<u64> = expected["longest"]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v.as_u64().unwrap())
                .collect();
            assert_eq!(longest, theirs, "{at}: longest message of each stage");
            let steps: Vec<_> = stages.iter().flat_map(|s| s.chunk_by(|a, b| a.3 == b.3)).collect();
            assert_eq!(steps.len() as u64, figure("steps"), "{at}: steps");
            let sum: u64 = steps.iter().map(|s| s.iter().map(|m| m.2).max().unwrap()).sum();
            assert_eq!(sum, figure("sum_step_max"), "{at}: sum over steps of the longest message");
            assert_eq!((row.max_sends, row.max_receives), (Some(1), Some(1)), "{at}: one port");
        }
    }
}

/// Every byte arrives, and no node sends twice or receives twice in a step.
#[test]
fn any_number_of_nodes_uses_one_message_per_port() {
    for p in 2..=150_u64 {
        for algorithm in ["four-stage", "four-stage:start=balanced"] {
            let topology = format!("fully-connected:{p}");
            let text = |t: &str| vec![Text::flag("test", t)];
            let experiment = Experiment {
                topologies: text(&topology),
                algorithms: text(algorithm),
                workloads: text("one-spike:max=100,rest=3"),
                machines: text("sp2"),
                ..Experiment::default()
            };
            let row = run_group(&cases(&experiment, &REGISTRY).unwrap(), &mut []).pop().unwrap();
            assert_eq!(
                (row.status, row.verified),
                (Status::Ok, Verified::Amounts),
                "{p}: {}",
                row.reason
            );
            assert_eq!((row.max_sends, row.max_receives), (Some(1), Some(1)), "{p}");
            let side = p.isqrt() + u64::from(p.isqrt().pow(2) < p);
            assert!(row.steps.unwrap() <= 4 * side + 2, "{p}: Theorem 2");
        }
    }
}

fn time(p: u64, stages: &[Vec<(u32, u32, u64, u32)>], machine: &str) -> f64 {
    let machine = Machine::parse(machine).unwrap();
    let flat = Flat::of(machine.settings()).unwrap();
    let mut clock = Clock::default();
    for messages in stages {
        let mut stage = Stage::new(p as usize);
        for &(from, to, elements, step) in messages {
            // Steps count from 1. Data that arrives in a stage is forwarded in the next stage.
            stage.add(StageMessage {
                from,
                to,
                step: u64::from(step) + 1,
                after: 0,
                bytes: elements as f64 * 22.0,
            });
        }
        let composing = stage.composed.iter().copied().fold(0.0, f64::max)
            * machine.number("rearrange_byte_us").unwrap();
        clock = stage.run(&flat, clock.after_us(Kind::Rearrangement, composing), false);
    }
    clock.us()
}

/// On the blocking machine, all events agree to the nanosecond, the precision of the fixture. For
/// the nonblocking machine, the fixture has only times, which are computed as follows: messages are
/// sent in the order in which they become ready, each as soon as its sender and its receiver are
/// free. Stages in which several messages become ready at the same time are not compared.
#[test]
fn times_on_an_sp2_agree() {
    let fixture = fixture();
    for (name, expected) in fixture["times_us"].as_object().unwrap() {
        let p: u64 = name.split("P=").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let matrix = matrix(p, "pattern1(1024,s=1,seed=1)");
        for (paper, algorithm) in &ALGORITHMS[..4] {
            let Run { stages, .. } = run(p, &matrix, algorithm);
            let figure = |key: &str| expected[paper][key].as_f64().unwrap();
            let blocking = time(p, &stages, "sp2");
            assert!(
                (blocking - figure("blocking")).abs() < 0.001,
                "{name}, {algorithm}: {blocking}"
            );
            let ratio = time(p, &stages, "sp2:mode=nonblocking") / figure("nonblocking");
            let band = if *paper == "A1" { 0.999_999..1.000_001 } else { 0.95..1.01 };
            assert!(band.contains(&ratio), "{name}, {algorithm}: nonblocking x {ratio}");
        }
    }
}
