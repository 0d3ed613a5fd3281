use super::*;
use crate::cost::kind::Parts;
use crate::cost::machine::Machine;
use crate::cost::model::test_steps::cost_with_sums;
use crate::delivery::boxes::{Axis, NodeSet};
use crate::delivery::collective::{ALL_TO_ALL, Collective};
use crate::delivery::exchange::Division;
use crate::delivery::exchange::Rule;
use crate::network::topology::parse;
use crate::simulation::{Simulation, Task};
use proptest::prelude::*;

fn machine(text: &str) -> Machine {
    Machine::parse(&format!("free:model=flat,{text}")).unwrap()
}

fn flat(machine: &Machine) -> Flat {
    Flat::of(machine.settings()).unwrap()
}

fn stage(nodes: usize, steps: &[impl AsRef<[(u32, u32, f64)]>]) -> Stage {
    let mut stage = Stage::new(nodes);
    for (step, messages) in (1..).zip(steps) {
        for &(from, to, bytes) in messages.as_ref() {
            stage.add(StageMessage { from, to, step, after: 0, bytes });
        }
    }
    stage
}

fn run(stage: &Stage, machine: &Machine) -> Clock {
    stage.run(&flat(machine), Clock::default(), false)
}

fn uniform(nodes: u32, bytes: f64) -> Stage {
    let steps: Vec<Vec<_>> =
        (1..nodes).map(|s| (0..nodes).map(|j| (j, (j + s) % nodes, bytes)).collect()).collect();
    stage(nodes as usize, &steps)
}

/// Equation (1) of Liu, Wang & Prasanna: a step of equal messages takes Ts + m (tc + td).
#[test]
fn equal_messages_in_blocking_mode_cost_equation_1() {
    let clock = run(&uniform(8, 100.0), &machine("startup_us=40,copy_byte_us=0.02,byte_us=0.03"));
    assert!((clock.us() - 7.0 * (40.0 + 100.0 * 0.05)).abs() < 1e-9, "{clock:?}");
    assert_eq!((clock.path()[Kind::Startup], clock.path()[Kind::Contention]), (280.0, 0.0));
}

/// Equation (2) of Liu, Wang & Prasanna: in nonblocking mode, start-ups, copying and transfer
/// overlap. The step takes the largest of these three times, plus the time to fill and to drain the
/// pipeline.
#[test]
fn equal_messages_in_nonblocking_mode_cost_the_largest_term_of_equation_2() {
    let near = |text: &str, expected: f64| {
        let us = run(&uniform(64, 100.0), &machine(&format!("mode=nonblocking,{text}"))).us();
        assert!(
            (expected..expected * 1.1).contains(&us),
            "{text}: {us}, expected {expected} and a little"
        );
    };
    near("startup_us=40,copy_byte_us=0.02,byte_us=0.03", 63.0 * 40.0);
    near("startup_us=4,copy_byte_us=2,byte_us=0.03", 63.0 * 200.0);
    near("startup_us=4,copy_byte_us=0.02,byte_us=3", 63.0 * 300.0);
}

#[test]
fn a_node_receives_one_message_at_a_time() {
    let two = stage(3, &[&[(0, 2, 100.0), (1, 2, 100.0)]]);
    let blocking = run(&two, &machine("startup_us=10,byte_us=1"));
    let [startup, transmission, contention] =
        [Kind::Startup, Kind::Transmission, Kind::Contention].map(|kind| blocking.path()[kind]);
    assert_eq!((blocking.us(), startup, transmission, contention), (210.0, 10.0, 100.0, 100.0));
    assert_eq!(
        run(&two, &machine("startup_us=10,byte_us=1,ports=2")).us(),
        115.0,
        "both come at once, completed in turn"
    );
    assert_eq!(
        run(&two, &machine("startup_us=10,byte_us=1,ports=all")).path()[Kind::Contention],
        0.0
    );
}

/// Figs. 2 and 3 of Liu, Wang & Prasanna: a delayed message delays the next message of its sender.
#[test]
fn contention_at_one_node_delays_others() {
    let steps: [&[(u32, u32, f64)]; 3] = [
        &[(0, 1, 10.0), (1, 2, 50.0), (2, 3, 50.0), (3, 0, 10.0)],
        &[(0, 2, 10.0)],
        &[(0, 1, 30.0)],
    ];
    let held = run(&stage(4, &steps), &machine("byte_us=1"));
    // Node 0 could send to node 2 at time 10, but node 2's port is occupied until 50.
    assert_eq!((held.us(), held.path()[Kind::Contention]), (90.0, 40.0));
    let free = run(&stage(4, &steps), &machine("byte_us=1,ports=all"));
    assert_eq!((free.us(), free.path()[Kind::Contention]), (50.0, 0.0));
}

#[test]
fn a_blocking_node_receives_everything_of_a_step_before_it_continues() {
    let chain = stage(3, &[&[(0, 1, 100.0)], &[(1, 2, 1.0)]]);
    assert_eq!(run(&chain, &machine("byte_us=1")).us(), 101.0);
    assert_eq!(run(&chain, &machine("byte_us=1,mode=nonblocking")).us(), 100.0);
}

#[test]
fn a_clock_is_the_sum_of_its_parts() {
    for mode in ["blocking", "nonblocking"] {
        let m = machine(&format!(
            "startup_us=7,byte_us=0.3,copy_byte_us=0.2,rearrange_byte_us=0.1,mode={mode}"
        ));
        let steps: [&[(u32, u32, f64)]; 2] =
            [&[(0, 1, 9.0), (2, 1, 80.0)], &[(1, 0, 7.0), (0, 2, 1.0)]];
        let c = stage(3, &steps).run(
            &flat(&m),
            Clock::default().after_us(Kind::Rearrangement, 5.0),
            true,
        );
        assert!((c.us() - c.path().total()).abs() < 1e-9, "{c:?}");
        assert!(c.path()[Kind::Rearrangement] >= 5.0);
    }
}

fn segment_of(from: u64, to: u64, part: u32) -> Rule<'static> {
    Rule {
        origins: NodeSet::One(from),
        destinations: NodeSet::One(to),
        segments: Axis::Range { first: part, stride: 1, count: 1 },
        strict: true,
        local: from == to,
        ..Rule::new(from, to)
    }
}

fn two_phases(machine: &str) -> Parts {
    let topology = parse("ring:4").unwrap();
    let mut evaluator = self::machine(machine).evaluator(PricingContext::new(&topology, 100.0));
    let task = Task::new(topology, Collective::of(&ALL_TO_ALL));
    let mut simulation = Simulation::new(task, vec![evaluator.as_mut()]).unwrap();
    simulation.layout(&[], Division { in_parts: false, segments: 2 }, None).unwrap();
    for part in 0..2 {
        simulation.phase("half").unwrap();
        for s in 1..=4 {
            simulation.step().unwrap();
            for from in 0..4 {
                let to = (from + s) % 4;
                simulation.send(&segment_of(from, to, part), None).unwrap();
            }
        }
    }
    simulation.finish().unwrap();
    evaluator.cost().unwrap().parts
}

#[test]
fn phases_are_stages_with_composing_and_barriers_between_them() {
    let parts = two_phases("rearrange_byte_us=0.1,barrier_us=3,startup_us=1");
    assert_eq!(
        (parts[Kind::Rearrangement], parts[Kind::Barrier]),
        (Some(2.0 * 4.0 * 50.0 * 0.1), Some(3.0))
    );
    assert_eq!((parts[Kind::Startup], parts[Kind::Propagation]), (Some(6.0), None));
}

/// Each step is a list of sends: sender, receiver, and first (0) or second half (1) of a block.
fn direct(machine: &str, steps: &[Vec<(u64, u64, u32)>]) -> f64 {
    let topology = parse("fully-connected:8").unwrap();
    let mut evaluator = self::machine(machine).evaluator(PricingContext::new(&topology, 100.0));
    let task = Task::new(topology.clone(), Collective::of(&ALL_TO_ALL));
    let mut simulation = Simulation::new(task, vec![evaluator.as_mut()]).unwrap();
    simulation.layout(&[], Division { in_parts: false, segments: 2 }, None).unwrap();
    for step in steps {
        simulation.step().unwrap();
        for &(from, to, part) in step {
            simulation.send(&segment_of(from, to, part), None).unwrap();
        }
    }
    simulation.finish().unwrap();
    evaluator.cost().unwrap().parts.total()
}

#[test]
fn nodes_send_in_the_order_of_the_schedule() {
    let halves = |pairs: &[(u64, u64)], half: u32| {
        pairs.iter().map(|(f, t)| (*f, *t, half)).collect::<Vec<_>>()
    };
    let rotation: Vec<(u64, u64)> =
        (1..8).flat_map(|s| (0..8).map(move |v| (v, (v + s) % 8))).collect();
    let zero_first: Vec<(u64, u64)> =
        (0..8).flat_map(|v| (0..8).filter(move |to| *to != v).map(move |to| (v, to))).collect();
    for mode in ["nonblocking", "blocking"] {
        let machine = format!("startup_us=1,byte_us=1,mode={mode}");
        let time = |first: &[(u64, u64)], second: &[(u64, u64)]| {
            direct(&machine, &[[halves(first, 0), halves(second, 1)].concat()])
        };
        let rotated = time(&rotation, &rotation);
        assert!(
            rotated < time(&zero_first, &zero_first),
            "{mode}: all to node 0 first must wait for its port"
        );
        assert_eq!(
            rotated,
            time(&rotation, &zero_first),
            "{mode}: two sends with the same ends are one, at the place of the first"
        );
    }
    let nonblocking = "startup_us=1,byte_us=1,mode=nonblocking";
    let step_by_step: Vec<_> =
        rotation.chunks(8).map(|s| [halves(s, 0), halves(s, 1)].concat()).collect();
    let at_once = [halves(&rotation, 0), halves(&rotation, 1)].concat();
    assert_eq!(
        direct(nonblocking, &step_by_step),
        direct(nonblocking, &[at_once]),
        "no node waits for a step"
    );
}

fn pipelined_chain(nodes: u32, segments: u64, bytes: f64) -> Stage {
    let mut stage = Stage::new(nodes as usize);
    for step in 1..segments + u64::from(nodes) - 1 {
        for from in 0..nodes - 1 {
            let after = step - 1;
            if (u64::from(from)..u64::from(from) + segments).contains(&after) {
                stage.add(StageMessage {
                    from,
                    to: from + 1,
                    step,
                    after: if from == 0 { 0 } else { after },
                    bytes,
                });
            }
        }
    }
    stage
}

/// A chain of P nodes takes `(P - 1) (Ts + m (tc + td))` in both modes.
#[test]
fn chains_take_the_same_time_in_both_modes() {
    for mode in ["blocking", "nonblocking", "nonblocking,buffers=2"] {
        let m = machine(&format!("startup_us=46,copy_byte_us=0.02,byte_us=0.03,mode={mode}"));
        let clock = run(&pipelined_chain(64, 1, 1000.0), &m);
        assert!((clock.us() - 63.0 * (46.0 + 1000.0 * 0.05)).abs() < 1e-9, "{mode}: {clock:?}");
        assert!((clock.path()[Kind::Startup] - 63.0 * 46.0).abs() < 1e-9, "{mode}: {clock:?}");
    }
}

/// Sends and receives overlap, so k segments cross P - 1 links in `k + P - 2` segment times.
#[test]
fn segments_follow_each_other_through_a_chain() {
    let us = run(&pipelined_chain(6, 9, 100.0), &machine("byte_us=2,mode=nonblocking")).us();
    assert!((us - (9.0 + 6.0 - 2.0) * 200.0).abs() < 1e-9, "{us}");
}

#[test]
fn a_waiting_send_delays_the_sends_after_it() {
    let mut s = Stage::new(4);
    for (from, to, step, after) in [(0, 1, 1, 0), (1, 2, 2, 1), (1, 3, 2, 0)] {
        s.add(StageMessage { from, to, step, after, bytes: 10.0 });
    }
    assert_eq!(run(&s, &machine("byte_us=1,mode=nonblocking")).us(), 30.0);
    assert_eq!(run(&s, &machine("byte_us=1,mode=nonblocking,ports=all")).us(), 20.0);
}

#[test]
fn a_second_buffer_hides_composing_behind_transfers() {
    let with =
        |more: &str| two_phases(&format!("rearrange_byte_us=0.1,startup_us=1,byte_us=1{more}"));
    let (one, two) = (with(",mode=nonblocking"), with(",mode=nonblocking,buffers=2"));
    assert!(two.total() < one.total(), "{two:?} {one:?}");
    assert_eq!(with(",buffers=2"), with(""), "in blocking mode there is nothing to hide behind");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

    /// A stage takes at least a start-up and the time of the bytes that the busiest node receives.
    #[test]
    fn a_stage_lasts_as_long_as_its_busiest_port(
        bytes in prop::collection::vec(0.0_f64..1000.0, 30), nonblocking in any::<bool>(),
    ) {
        let mut list = bytes.into_iter();
        let mut s = Stage::new(6);
        for step in 1..6 {
            for j in 0..6 {
                let bytes = list.next().unwrap_or(0.0);
                s.add(StageMessage { from: j, to: (j + step) % 6, step: step.into(), after: 0, bytes });
            }
        }
        let mode = if nonblocking { "nonblocking" } else { "blocking" };
        let m = machine(&format!("startup_us=5,byte_us=0.5,copy_byte_us=0.25,mode={mode}"));
        let busiest = s.received().into_iter().fold(0.0, f64::max);
        let clock = run(&s, &m);
        prop_assert!(clock.us() >= 5.0 + busiest * 0.5);
        prop_assert_eq!(run(&s, &m), clock, "the same every time");
    }
}

/// Both sequences of messages take 0.3 µs, but would differ as floating-point sums.
#[test]
fn equal_times_do_not_depend_on_the_order_of_additions() {
    let ends = |bytes: &[f64]| {
        let steps: Vec<[(u32, u32, f64); 1]> = bytes.iter().map(|bytes| [(0, 1, *bytes)]).collect();
        run(&stage(2, &steps), &machine("byte_us=0.1"))
    };
    assert_eq!(ends(&[1.0, 2.0]).us(), ends(&[3.0]).us());
    assert_ne!(0.1 + 0.2, 0.3, "what floating-point numbers say");
    // The messages of nodes 0 and 1 to node 2 are both ready after 0.3 µs. Node 0 has sent one
    // message before, and node 1 has sent two. The message of node 0 is served first.
    let steps: [&[(u32, u32, f64)]; 3] =
        [&[(0, 3, 3.0), (1, 4, 1.0)], &[(1, 5, 2.0)], &[(0, 2, 10.0), (1, 2, 20.0)]];
    assert_eq!(run(&stage(6, &steps), &machine("byte_us=0.1")).path()[Kind::Contention], 1.0);
}

#[test]
fn stages_with_only_local_data_have_a_barrier() {
    let topology = parse("ring:4").unwrap();
    let mut evaluator = machine("rearrange_byte_us=1,barrier_us=3")
        .evaluator(PricingContext::new(&topology, 100.0));
    for phase_number in [1, 2] {
        evaluator.notify(ScheduleEvent::LocalCopy(LocalCopy {
            node: 0,
            load: 1,
            segments: 1,
            phase_number,
            schedule_step: phase_number.into(),
        }));
    }
    let parts = evaluator.cost().unwrap().parts;
    assert_eq!((parts[Kind::Rearrangement], parts[Kind::Barrier]), (Some(200.0), Some(3.0)));
}

#[test]
fn reductions_without_messages_take_time() {
    for mode in ["blocking", "nonblocking"] {
        let machine = format!("free:model=flat,byte_us=1,reduce_byte_us=1,mode={mode}");
        let cost =
            cost_with_sums("fully-connected:3", &machine, &[0, 0, 500], &vec![vec![(0, 1, 11, 0)]]);
        assert_eq!(cost.parts.total(), 500.0, "{mode}");
    }
}

/// The second message arrives during the first reduction.
#[test]
fn a_node_reduces_in_each_step_what_it_received_in_this_step() {
    let mut s = Stage::new(3);
    for (step, from) in [(1, 0), (2, 2)] {
        s.add(StageMessage { from, to: 1, step, after: 0, bytes: 10.0 });
        s.add_reductions(step, &[0.0, 10.0, 0.0]);
    }
    let clock = run(&s, &machine("byte_us=1,reduce_byte_us=2"));
    assert_eq!((clock.us(), clock.path()[Kind::Reduction]), (10.0 + 40.0, 40.0));
}

#[test]
fn the_number_of_reached_nodes_grows_like_fibonacci_numbers() {
    assert_eq!([2, 3, 4, 5, 6, 8, 9, 1024].map(halves_to_reach), [2, 3, 4, 4, 5, 5, 6, 16]);
}
