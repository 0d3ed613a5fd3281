//! The other process: loads the plugin, answers one question.

use crate::about::About;
use crate::question::{Answer, Plan, Question, Ran, Rung};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::delivery::byte_counts::{Redistribution, Share};
use swapmeet_core::simulation::step::{Listener, Sent, Step};
use swapmeet_runner::case::{Case, Chosen};
use swapmeet_runner::plugin::Plugin;
use swapmeet_runner::session;
use swapmeet_runner::topology;
use swapmeet_workloads::Workload;

/// With more nodes than this a schedule is made twice, not four times.
const FEW_NODES: u64 = 64;

/// Loads the plugin in this process and answers. What the plugin does to the process is the caller's risk.
/// `two` is called before two schedules are made at once.
pub fn answer(plugin: &Path, question: &Question, timeout: Duration, two: &dyn Fn()) -> Answer {
    let plugin = match Plugin::load(plugin) {
        Ok(plugin) => plugin,
        Err(error) => return Answer::Refused(error.to_string()),
    };
    match question {
        Question::About => Answer::About(About::from(&plugin)),
        Question::Run(rung) => match case(&plugin, rung, timeout) {
            Ok(case) => run(&case, two),
            Err(why) => Answer::BadQuestion(why),
        },
        Question::Among(rungs) => {
            let cases: Result<Vec<Case>, String> = rungs.iter().map(|rung| case(&plugin, rung, timeout)).collect();
            cases.map_or_else(Answer::BadQuestion, |cases| Answer::Among(among(&cases, two)))
        }
    }
}

fn case(plugin: &Plugin, rung: &Rung, timeout: Duration) -> Result<Case, String> {
    let algorithm = plugin.algorithms.iter().find(|a| a.name == rung.algorithm);
    let algorithm = algorithm.ok_or_else(|| format!("the plugin has no algorithm `{}` this time", rung.algorithm))?;
    Ok(Case {
        experiment: "check".into(),
        topology: topology::parse(&rung.topology).map_err(|e| e.to_string())?,
        algorithm: Chosen { algorithm: Arc::clone(algorithm), params: rung.params.clone() },
        workload: Workload::parse(&rung.workload).map_err(|e| e.to_string())?,
        inputs: [].into(),
        machine: Machine::parse(&rung.machine).map_err(|e| e.to_string())?,
        repetition: 0,
        seed: 42,
        timeout: Some(timeout),
    })
}

/// The case alone, again, and with few nodes on two threads at once: a schedule must depend on nothing but its problem.
fn run(case: &Case, two: &dyn Fn()) -> Answer {
    let before = peak_bytes();
    let started = Instant::now();
    let mut plans = vec![plan(case)];
    let ms = started.elapsed().as_secs_f64() * 1e3;
    let bytes = peak_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
    if matches!(plans[0].status.as_str(), "ok" | "unsupported") {
        plans.push(plan(case));
        if case.topology.nodes() <= FEW_NODES {
            two();
            plans.extend(thread::scope(|scope| {
                let both = [scope.spawn(|| plan(case)), scope.spawn(|| plan(case))];
                both.into_iter().filter_map(|thread| thread.join().ok()).collect::<Vec<_>>()
            }));
        }
    }
    Answer::Ran(Ran { nodes: case.topology.nodes(), plans, ms, bytes })
}

/// Different cases in one process: there and back, so that each follows another than the first time; then both orders at once, on two threads.
fn among(cases: &[Case], two: &dyn Fn()) -> Vec<(usize, bool, Plan)> {
    let there = || (0..cases.len()).map(|i| (i, plan(&cases[i]))).collect::<Vec<_>>();
    let back = || (0..cases.len()).rev().map(|i| (i, plan(&cases[i]))).collect::<Vec<_>>();
    let alone = [there(), back()].concat();
    two();
    let beside = thread::scope(|scope| {
        let both = [scope.spawn(there), scope.spawn(back)];
        both.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect::<Vec<_>>()
    });
    let told = |others: bool| move |(i, plan): (usize, Plan)| (i, others, plan);
    alone.into_iter().map(told(false)).chain(beside.into_iter().map(told(true))).collect()
}

fn plan(case: &Case) -> Plan {
    let mut sends = Fingerprint(DefaultHasher::new());
    let record =
        session::run_group(std::slice::from_ref(case), &mut [&mut sends]).into_iter().next().unwrap_or_default();
    Plan {
        status: record.status.to_string(),
        reason: record.reason,
        proof: record.verified.to_string(),
        fingerprint: sends.0.finish(),
        most_at_a_node: record.max_sends.max(record.max_receives).unwrap_or(0),
    }
}

/// All sends and deals in order, as one number. The hasher's keys are fixed: two processes of the same program agree.
struct Fingerprint(DefaultHasher);

impl Listener for Fingerprint {
    fn wants_sends(&self) -> bool {
        true
    }

    fn sent(&mut self, sent: &Sent<'_>) {
        (sent.from.virtual_node, sent.from.physical, sent.to.virtual_node, sent.to.physical, sent.load)
            .hash(&mut self.0);
        sent.boxes.hash(&mut self.0);
        sent.route.hash(&mut self.0);
    }

    fn redistributed(&mut self, redistribution: &Redistribution<'_>) {
        redistribution.hash(&mut self.0);
    }

    fn share(&mut self, share: &Share<'_>) {
        share.hash(&mut self.0);
    }

    fn step(&mut self, step: &Step<'_>) {
        (step.number, step.phase).hash(&mut self.0);
    }

    fn rearranged(&mut self, most: u64, parts: u64) {
        (most, parts).hash(&mut self.0);
    }
}

/// The most memory this process ever had, in bytes; `None` where the system doesn't tell.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
