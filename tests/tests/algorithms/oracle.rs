//! Compares the host with the naive host of the SDK, which traces every block separately. Verdicts,
//! and numbers of steps, messages and bytes, must be the same.

use super::matrix::{MatrixProblem, for_each_problem, misprints};
use proptest::prelude::*;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use swapmeet_core::delivery::collective;
use swapmeet_core::network::topology::{self, Network};
use swapmeet_core::simulation::Task;
use swapmeet_runner::host::{self, Outcome, PlanInputs};
use swapmeet_runner::plugin::{Algorithm, Plugin};
use swapmeet_sdk as sdk;
use swapmeet_sdk::{Disproof, Proved, Rehearsal, Stop};
use swapmeet_workloads::Workload;

#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    Right(Proved),
    Wrong,
    Unsupported,
}

pub(super) const ANSWERS: PlanInputs = PlanInputs {
    block_bytes: 0,
    ports: 1,
    virtual_channels: 2,
    element_bytes: 1,
    startup_us: 10.0,
    hop_us: 0.1,
    byte_us: 0.01,
    shares_routes: false,
};

pub(super) fn rehearsal(
    task: &Task,
    params: &[(String, String)],
    answers: PlanInputs,
) -> Rehearsal {
    let topology = task.topology.as_ref();
    let word = task.collective.kind().word;
    let collective = sdk::Collective::ALL.into_iter().find(|collective| collective.word() == word);
    let collective = collective.unwrap_or_else(|| panic!("the SDK has no {word}"));
    let mut rehearsal = match topology.base() {
        Some((base, levels)) => Rehearsal::dual_net(levels, base.kind(), base.radices()),
        None => Rehearsal::on(topology.kind(), topology.radices()),
    };
    rehearsal = rehearsal.collective(collective, task.collective.root().unwrap_or(0));
    if let (Some(name), Some(to)) = (task.collective.permutation_name(), task.collective.images()) {
        let to: Vec<u64> = to.iter().map(|to| u64::from(*to)).collect();
        rehearsal = rehearsal.permutation(name, &to);
    }
    let links = (0..topology.link_slots()).filter_map(|link| {
        let (from, to) = topology.link_ends(link)?;
        Some((from, to, topology.bandwidth(link)))
    });
    rehearsal = rehearsal.links(&links.collect::<Vec<_>>());
    let vertices = topology.nodes()..topology.nodes() + topology.switches();
    let reducing = vertices.filter(|vertex| topology.can_reduce(*vertex));
    rehearsal = rehearsal.reducing(&reducing.collect::<Vec<_>>());
    for (key, value) in params {
        rehearsal = rehearsal.param(key, value);
    }
    if task.skip_empty {
        rehearsal = rehearsal.skip_empty();
    }
    let nodes = topology.nodes();
    if let Some(tokens) = task.collective.tokens() {
        let class = |node: u64, (class, bytes): (u32, &u64)| sdk::TokenClass {
            bytes: *bytes,
            receivers: tokens.receivers(node, class).iter().map(|r| u64::from(*r)).collect(),
        };
        let classes =
            |node| (0..).zip(tokens.bytes(node)).map(|listed| class(node, listed)).collect();
        rehearsal = rehearsal.tokens(collective, &(0..nodes).map(classes).collect::<Vec<_>>());
    } else if let Some(sizes) = &task.sizes {
        let row = |from| (0..nodes).map(|to| sizes.bytes(from, to)).collect();
        rehearsal = rehearsal.sizes(&(0..nodes).map(row).collect::<Vec<_>>());
    } else {
        rehearsal = rehearsal.block_bytes(answers.block_bytes);
    }
    rehearsal
        .element_bytes(answers.element_bytes)
        .ports(answers.ports)
        .virtual_channels(answers.virtual_channels)
        .prices(answers.startup_us, answers.hop_us, answers.byte_us)
}

fn hosted(
    algorithm: &Algorithm,
    params: &[(String, String)],
    task: &Task,
    answers: PlanInputs,
) -> (Verdict, String) {
    match host::plan(algorithm, params, task, answers, None, Vec::new()).outcome {
        Outcome::Verified(totals) => {
            let unit = if task.sizes.is_some() { 1 } else { answers.block_bytes };
            let bytes =
                |load: u128| (load * u128::from(unit.div_ceil(totals.segments.max(1)))) as u64;
            let proved = Proved {
                steps: totals.steps,
                messages: totals.messages,
                total_bytes: bytes(totals.total_load),
                critical_bytes: bytes(totals.critical_load),
                max_sends: totals.max_sends,
                max_receives: totals.max_receives,
                rearrangements: totals.rearrangements,
                summed_bytes: bytes(totals.critical_summed),
            };
            (Verdict::Right(proved), String::new())
        }
        Outcome::Unsupported(why) => (Verdict::Unsupported, why),
        Outcome::Invalid(fault) => (Verdict::Wrong, fault.to_string()),
        Outcome::Failed(why) => (Verdict::Wrong, why),
        Outcome::HostPanicked(why) | Outcome::TimedOut(why) => panic!("{why}"),
    }
}

fn followed(
    algorithm: &Algorithm,
    params: &[(String, String)],
    task: &Task,
    answers: PlanInputs,
) -> (Verdict, String) {
    let table = algorithm.raw_table().unwrap();
    // SAFETY: the table belongs to a plugin that this process has loaded.
    match unsafe { rehearsal(task, params, answers).verify_table(table) } {
        Ok(proved) => (Verdict::Right(proved), String::new()),
        Err(Disproof::Stopped(Stop::Unsupported(why))) => (Verdict::Unsupported, why),
        Err(wrong) => (Verdict::Wrong, wrong.to_string()),
    }
}

pub(super) fn compare(problem: &MatrixProblem<'_>) -> Option<Verdict> {
    let MatrixProblem { algorithm, topology, workload, params } = *problem;
    let task = workload.task(topology, 7).ok()?;
    let largest = task.sizes.as_ref().map_or(workload.block_bytes(), |sizes| sizes.largest());
    let answers =
        PlanInputs { block_bytes: largest, element_bytes: workload.element_bytes(), ..ANSWERS };
    let (ours, why) = hosted(algorithm, params, &task, answers);
    let (naive, why_naive) = followed(algorithm, params, &task, answers);
    assert_eq!(ours, naive, "{problem}: the host says `{why}`, the naive one `{why_naive}`");
    Some(ours)
}

/// Most misprints of the papers give wrong schedules, and both hosts must report them.
#[test]
fn two_hosts_agree_on_wrong_schedules() {
    let plugin = misprints();
    // Wrong claims of symmetry are left out, because the sends of the planned nodes then determine
    // another schedule than the full plan. `swapmeet check` reports them.
    let dishonest = ["shifts-not-symmetric", "shifts-alternating", "shifts-changing"];
    let honest =
        plugin.algorithms.iter().filter(|algorithm| !dishonest.contains(&&*algorithm.name));
    let mut found = 0;
    for algorithm in honest {
        for_each_problem(algorithm, |problem| {
            found += u32::from(compare(problem) == Some(Verdict::Wrong));
        });
    }
    assert!(found > 20, "{found} wrong schedules");
}

#[derive(Debug, Clone)]
struct Drawn {
    steps: Vec<Vec<Pass>>,
    segments: u32,
    in_parts: bool,
}

#[derive(Debug, Clone, Copy)]
struct Pass {
    from: u64,
    to: u64,
    origins: Option<(u64, u64)>,
    destinations: Option<(u64, u64)>,
    segment: Option<u64>,
    flags: u8,
}

const NODES: u64 = 4;

thread_local! {
    static DRAWN: std::cell::RefCell<Option<Drawn>> = const { std::cell::RefCell::new(None) };
}

/// An algorithm that plans the last random schedule that this thread generated.
struct AsDrawn;

impl sdk::Algorithm for AsDrawn {
    fn about(&self) -> sdk::About {
        let collectives = &sdk::Collective::ALL;
        sdk::About { name: "as-drawn", collectives, ..sdk::About::DEFAULT }
    }

    fn plan(&self, _: &sdk::Problem<'_>, schedule: &mut sdk::Schedule<'_>) -> Result<(), Stop> {
        let Some(drawn) = DRAWN.with_borrow(Clone::clone) else { return Ok(()) };
        if drawn.in_parts {
            schedule.layout_in_parts(&[NODES], drawn.segments)?;
        } else {
            schedule.layout(&[NODES], drawn.segments)?;
        }
        for step in &drawn.steps {
            schedule.step()?;
            for pass in step {
                let axis = |set: Option<(u64, u64)>| {
                    [set.map_or(sdk::Axis::ALL, |(a, n)| sdk::Axis::range(a, n))]
                };
                let (origins, destinations) = (axis(pass.origins), axis(pass.destinations));
                let mut send = sdk::Blocks::new(pass.from, pass.to);
                if pass.origins.is_some() {
                    send = send.origins(sdk::Set::product(&origins));
                }
                if pass.destinations.is_some() {
                    send = send.destinations(sdk::Set::product(&destinations));
                }
                if let Some(segment) = pass.segment {
                    send = send.segments(sdk::Axis::one(segment));
                }
                let with = [
                    sdk::Blocks::strict,
                    sdk::Blocks::copy,
                    sdk::Blocks::local,
                    sdk::Blocks::combine,
                ];
                for (bit, with) in with.into_iter().enumerate() {
                    send = if pass.flags >> bit & 1 == 1 { with(send) } else { send };
                }
                schedule.send(&send)?;
            }
        }
        Ok(())
    }
}

fn as_drawn() -> &'static Arc<Algorithm> {
    static TABLE: OnceLock<sdk::Exported> = OnceLock::new();
    static READ: OnceLock<Arc<Algorithm>> = OnceLock::new();
    READ.get_or_init(|| {
        let table = sdk::entry(&TABLE, "drawn", "0.1.0", "MIT", &[&AsDrawn]);
        // SAFETY: the table was just created and lives as long as the process.
        let plugin = unsafe { Plugin::of_table(Path::new("drawn"), table) }.unwrap();
        Arc::clone(&plugin.algorithms[0])
    })
}

fn passes() -> impl Strategy<Value = Pass> {
    let set = || prop::option::weighted(0.6, (0..NODES, 1..=NODES));
    let flags = prop_oneof![
        5 => Just(0_u8), 1 => Just(1), 2 => Just(2), 1 => Just(4), 1 => 0..8_u8, 4 => Just(8), 3 => Just(10), 1 => 8..16_u8
    ];
    (0..NODES, 0..NODES, set(), set(), prop::option::weighted(0.2, 0..2_u64), flags).prop_map(
        |(from, to, origins, destinations, segment, flags)| Pass {
            from,
            to,
            origins,
            destinations,
            segment,
            flags,
        },
    )
}

/// Returns a right schedule, so that some of the tested schedules are right: every node sends
/// directly to every other node, or sends copies of data for all nodes.
fn direct(word: &str) -> Vec<Vec<Pass>> {
    let copies = matches!(word, "broadcast" | "allgather" | "allreduce" | "dispatch");
    let sums = matches!(word, "reduce" | "reduce-scatter" | "allreduce" | "combine");
    let pass = |from: u64, to: u64| Pass {
        from,
        to,
        origins: (word == "alltoall").then_some((from, 1)),
        destinations: matches!(word, "alltoall" | "scatter" | "reduce-scatter" | "combine")
            .then_some((to, 1)),
        segment: None,
        flags: if copies { 2 } else { 0 } | if sums { 8 } else { 0 },
    };
    let distance = |by: u64| (0..NODES).map(|from| pass(from, (from + by) % NODES)).collect();
    match word {
        "permutation" => {
            vec![(0..NODES).map(|from| Pass { flags: 4, ..pass(from, NODES - 1 - from) }).collect()]
        }
        "gather" | "reduce" => (1..NODES).map(|by| vec![pass(by, 0)]).collect(),
        "broadcast" | "scatter" => (1..NODES).map(|by| vec![pass(0, by)]).collect(),
        // In these collectives, a node with several steps would pass on data that it has received,
        // such as a sum to which it added its contribution. Therefore, all sends are in the same
        // step.
        "allgather" | "allreduce" | "dispatch" => {
            vec![
                (1..NODES)
                    .flat_map(|by| (0..NODES).map(move |from| pass(from, (from + by) % NODES)))
                    .collect(),
            ]
        }
        _ => (1..NODES).map(distance).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(swapmeet_tests::cases(256)))]

    #[test]
    fn two_hosts_agree_on_any_schedule(
        which in 0..collective::COLLECTIVES.len(),
        more in prop::collection::vec((0_usize..4, passes()), 0..4),
        less in prop::option::weighted(0.3, (0_usize..3, 0_usize..4)),
        segments in 1_u32..3,
        in_parts in prop::bool::weighted(0.3),
    ) {
        let kind = collective::COLLECTIVES[which];
        let mut steps = direct(kind.word);
        if let Some(step) = less.and_then(|(step, _)| steps.get_mut(step)) {
            let send = less.map_or(0, |(_, send)| send % step.len());
            step.remove(send);
        }
        for (step, pass) in more {
            let step = step % (steps.len() + 1);
            match steps.get_mut(step) {
                Some(sends) => sends.insert(0, pass),
                None => steps.push(vec![pass]),
            }
        }
        let drawn = Drawn { steps, segments, in_parts };
        DRAWN.set(Some(drawn.clone()));
        let topology: Arc<Network> = topology::parse("ring:4").unwrap();
        let generator = match (kind.permutes(), kind.has_tokens) {
            (true, _) => "reflect:6",
            (_, true) => "moe:experts=4,top=2,tokens=2,bytes=6",
            (false, false) => "uniform:6",
        };
        let workload = Workload::parse(&format!("{}/{generator}", kind.word)).unwrap();
        let task = workload.task(&topology, 1).unwrap();
        let answers = PlanInputs { block_bytes: 6, ..ANSWERS };
        let (ours, why) = hosted(as_drawn(), &[], &task, answers);
        let (naive, why_naive) = followed(as_drawn(), &[], &task, answers);
        prop_assert_eq!(ours, naive, "{:?}: the host says `{}`, the naive one `{}`", drawn, why, why_naive);
    }
}
