use super::*;
use crate::{
    About, Axis, Blocks, Bucket, ByteCount, Bytes, ParamInfo, Redistribution, Route, Set, Symmetry,
};
use swapmeet_abi::hosting::Host as _;

struct PlanOnly(fn(&Problem<'_>, &mut Schedule<'_>) -> Result<(), Stop>);

impl Algorithm for PlanOnly {
    fn about(&self) -> About {
        About {
            name: "plan-only",
            params: const { &[ParamInfo::number("k", "", "")] },
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        self.0(problem, schedule)
    }
}

#[test]
fn sets_are_written_out_in_ascending_order() {
    let plan = PlanOnly(|_, schedule| {
        schedule.layout(&[2, 5], 2)?;
        schedule.phase("only")?;
        schedule.step()?;
        let axes = [Axis::ALL, Axis::range(4, 2)];
        schedule.send(&Blocks::new(0, 1).destinations(Set::product(&axes)).copy())?;
        let axes = [Axis::one(1), Axis::bits(&[0b10010])];
        schedule.send(&Blocks::new(0, 1).origins(Set::product(&axes)).strict())
    });
    let steps = Rehearsal::on("mesh", &[10]).plan(&plan).unwrap();
    let [first, second] = &steps[0].sends[..] else { panic!("{steps:?}") };
    assert_eq!(
        (steps[0].phase.as_str(), &first.destinations[..], first.copies),
        ("only", &[0, 4, 5, 9][..], true)
    );
    assert_eq!(
        (&first.segments[..], first.is_local, &second.segments[..]),
        (&[0, 1][..], false, &[0, 1][..])
    );
    assert_eq!(
        (&second.origins[..], second.destinations.len(), second.is_strict),
        (&[6, 9][..], 10, true)
    );
}

#[test]
fn a_plan_reads_the_settings() {
    let plan = PlanOnly(|problem, _| {
        assert_eq!((problem.block_bytes(), problem.ports(), problem.root()), (64, u64::MAX, 2));
        assert_eq!((problem.collective(), problem.param::<u64>("k")?), (Collective::Scatter, 7));
        assert_eq!(
            (problem.topology().spec(), problem.topology().dims()),
            ("torus:2x3", &[2, 3][..])
        );
        Err(Stop::unsupported("enough"))
    });
    let problem =
        Rehearsal::on("torus", &[2, 3]).collective(Collective::Scatter, 2).param("k", "7");
    let stop = problem.block_bytes(64).ports(u64::MAX).plan(&plan).unwrap_err();
    assert_eq!(stop, Stop::unsupported("enough"));
}

#[test]
fn invalid_calls_are_refused() {
    type Plan = fn(&Problem<'_>, &mut Schedule<'_>) -> Result<(), Stop>;
    let cases: [(&str, Plan); 8] = [
        ("the schedule sends before its first step", |_, s| s.send(&Blocks::new(0, 1))),
        ("the send from 0 to 1 has a set outside the grid", |_, s| {
            s.step()?;
            s.send(&Blocks::new(0, 1).destinations(Set::one(4)))
        }),
        ("the send from 0 to 99 is outside the schedule's grid of 4 nodes", |_, s| {
            s.step()?;
            s.send(&Blocks::new(0, 99))
        }),
        ("node 1 sends to itself (a local copy must be marked as such)", |_, s| {
            s.step()?;
            s.send(&Blocks::new(1, 1).local())?;
            s.send(&Blocks::new(1, 1))
        }),
        ("the schedule sets its grid twice, or after its first step or placement", |_, s| {
            s.step()?;
            s.layout(&[2, 2], 1)
        }),
        ("the schedule's grid has 5 nodes and the machine 4: every node must be placed", |_, s| {
            s.layout(&[5], 1)?;
            s.step()
        }),
        ("node 0 of a grid of 4 can't be placed on node 4 of a machine of 4", |_, s| {
            s.place(0, 4, true)
        }),
        ("the send from 0 to 1 has a set that names a coordinate twice", |_, s| {
            s.step()?;
            s.send(&Blocks::new(0, 1).destinations(Set::product(&[Axis::stride(0, 2, 3)])))
        }),
    ];
    for (reason, plan) in cases {
        let stop = Rehearsal::on("ring", &[4]).plan(&PlanOnly(plan)).unwrap_err();
        assert_eq!(stop.to_string(), reason);
    }
}

#[test]
fn routes_placements_and_log_lines_are_recorded() {
    let plan = PlanOnly(|problem, schedule| {
        problem.log("two nodes on each");
        schedule.layout(&[4], 1)?;
        (0..4).try_for_each(|node| schedule.place(node, node / 2, node % 2 == 0))?;
        schedule.step()?;
        schedule.log("a step");
        schedule.send(&Blocks::new(0, 2).route(&Route::path(&[1])))
    });
    let all = Rehearsal::on("ring", &[2]).rehearse(&plan).unwrap();
    assert_eq!(all.placements, [(0, 0, true), (1, 0, false), (2, 1, true), (3, 1, false)]);
    assert_eq!(all.log, ["two nodes on each", "a step"]);
    let send = &all.steps[0].sends[0];
    assert_eq!((&send.route.path[..], send.route.signs.len()), (&[1][..], 0));
}

fn by_buckets(_: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let n = 3;
    schedule.move_byte_counts(&[])?;
    let mine: Vec<u32> = (0..n as u32).collect();
    for node in 0..n {
        schedule.redistribute(&Redistribution {
            node,
            buckets: n,
            cycle: 1,
            first: 0,
            starts: &[],
            firsts: &mine,
        })?;
    }
    for distance in 0..n {
        schedule.step()?;
        for node in 0..n {
            let to = (node + distance) % n;
            schedule.send_bucket(&Bucket::new(node, to, to))?;
        }
    }
    Ok(())
}

#[test]
fn byte_counts_are_verified_in_buckets_and_in_bytes() {
    let sizes = [vec![2, 4, 6], vec![8, 2, 4], vec![0, 2, 2]];
    let ring = Rehearsal::on("ring", &[3]).sizes(&sizes).element_bytes(2);
    let proved = ring.verify(&PlanOnly(by_buckets)).unwrap();
    assert_eq!((proved.steps, proved.messages), (2, 5), "an empty bucket is no message");
    assert_eq!((proved.total_bytes, proved.critical_bytes), (24, 4 + 8));
    let odd =
        Rehearsal::on("ring", &[3]).sizes(&sizes).element_bytes(4).verify(&PlanOnly(by_buckets));
    assert_eq!(
        odd.unwrap_err().to_string(),
        "2 bytes are not a multiple of the element size, 4 bytes"
    );

    let counted = PlanOnly(|_, schedule| {
        schedule.move_byte_counts(&[])?;
        schedule.step()?;
        schedule.send_bytes(&Bytes::new(0, 1, &[ByteCount { destination: 1, bytes: u64::MAX }]))?;
        schedule.send_bytes(&Bytes::new(1, 0, &[ByteCount { destination: 0, bytes: 3 }]))
    });
    let pair = |there, back| Rehearsal::on("ring", &[2]).sizes(&[vec![1, there], vec![back, 1]]);
    assert_eq!(pair(5, 3).verify(&counted).unwrap().total_bytes, 8);
    let wrong = |rehearsal: Rehearsal| rehearsal.verify(&counted).unwrap_err().to_string();
    assert_eq!(wrong(pair(5, 4)), "step 1: node 1 still has 1 bytes for node 0");
    assert_eq!(wrong(pair(5, 2)), "step 1: node 1 sends 3 bytes for node 0, but holds 2");
}

fn disproof(
    collective: Collective,
    plan: fn(&Problem<'_>, &mut Schedule<'_>) -> Result<(), Stop>,
) -> String {
    Rehearsal::on("ring", &[3])
        .collective(collective, 1)
        .verify(&PlanOnly(plan))
        .unwrap_err()
        .to_string()
}

#[test]
fn blocks_are_verified_one_by_one() {
    let round = PlanOnly(|_, schedule| {
        for _ in 0..2 {
            schedule.step()?;
            for me in 0..3 {
                schedule.send(&Blocks::new(me, (me + 1) % 3).origins(Set::ALL).copy())?;
            }
        }
        Ok(())
    });
    let proved = Rehearsal::on("ring", &[3])
        .collective(Collective::AllGather, 0)
        .block_bytes(10)
        .verify(&round);
    let expected =
        Proved { steps: 2, messages: 6, total_bytes: 90, critical_bytes: 30, ..Proved::default() };
    assert_eq!(proved, Ok(Proved { max_sends: 1, max_receives: 1, ..expected }));

    let not_held = disproof(Collective::AllToAll, |_, schedule| {
        schedule.step()?;
        schedule.step()?;
        schedule.send(&Blocks::new(0, 1).origins(Set::one(2)).destinations(Set::one(1)).strict())
    });
    assert_eq!(not_held, "step 2: node 0 sends node 1 block 2 -> 1, which it does not hold");
    let twice = disproof(Collective::AllToAll, |_, schedule| {
        for _ in 0..2 {
            schedule.step()?;
            schedule.send(&Blocks::new(0, 1).destinations(Set::one(1)).copy())?;
        }
        Ok(())
    });
    assert_eq!(twice, "step 2: block 0 -> 1 is delivered twice: node 1 already holds it");
    let at_once = disproof(Collective::Broadcast, |_, schedule| {
        schedule.step()?;
        schedule.send(&Blocks::new(1, 2).copy())?;
        schedule.send(&Blocks::new(2, 0).copy())
    });
    assert_eq!(at_once, "step 1: the root's block was never delivered to node 0 (it is at node 1)");
    let lost = disproof(Collective::Gather, |_, schedule| {
        schedule.layout(&[3], 2)?;
        schedule.step()?;
        schedule.send(&Blocks::new(0, 1))?;
        schedule.send(&Blocks::new(2, 1).segments(Axis::one(0)))
    });
    assert_eq!(
        lost,
        "step 1: segment 1 of the block of node 2 was never delivered to node 1 (it is at node 2)"
    );
}

#[test]
fn virtual_nodes_pass_on_blocks() {
    let plan = PlanOnly(|_, schedule| {
        schedule.layout(&[3], 1)?;
        schedule.place(0, 0, true)?;
        schedule.place(1, 0, false)?;
        schedule.place(2, 1, true)?;
        schedule.step()?;
        schedule.send(&Blocks::new(0, 1).destinations(Set::one(2)))?;
        schedule.send(&Blocks::new(2, 0).destinations(Set::one(0)))?;
        schedule.step()?;
        schedule.send(&Blocks::new(1, 2))
    });
    let proved = Rehearsal::on("ring", &[2]).verify(&plan).unwrap();
    assert_eq!(
        (proved.steps, proved.messages),
        (2, 2),
        "a send to a node's own virtual one is no message"
    );
}

struct Shifts {
    asymmetric: Option<u64>,
}

impl Algorithm for Shifts {
    fn about(&self) -> About {
        About { name: "shifts", ..About::DEFAULT }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        schedule.layout(&[n], 1)?;
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        for distance in 1..n {
            schedule.step()?;
            for me in &planned {
                let to =
                    (me + if self.asymmetric == Some(me) { n - distance } else { distance }) % n;
                schedule.send(
                    &Blocks::new(me, to).origins(Set::one(me)).destinations(Set::one(to)).strict(),
                )?;
            }
        }
        Ok(())
    }
}

#[test]
fn one_node_of_each_orbit_determines_all_sends() {
    let ring = Rehearsal::on("ring", &[6]);
    ring.verify_symmetry(&Shifts { asymmetric: None }).unwrap();
    assert_eq!(
        ring.clone().by_orbits().verify(&Shifts { asymmetric: None }),
        ring.verify(&Shifts { asymmetric: None })
    );
}

/// The host may plan any node of an orbit, not only the first one.
#[test]
fn a_plan_that_always_starts_at_node_0_is_found() {
    let plan = PlanOnly(|problem, schedule| {
        let n = problem.topology().nodes();
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        schedule.step()?;
        (0..planned.len()).try_for_each(|me| schedule.send(&Blocks::new(me, (me + 1) % n)))
    });
    let error = Rehearsal::on("ring", &[6]).verify_symmetry(&plan).unwrap_err().to_string();
    assert_eq!(error, "node 0 sends, but is not planned");
}

#[test]
fn the_first_asymmetric_send_is_named() {
    let ring = Rehearsal::on("ring", &[6]);
    let wrong = Shifts { asymmetric: Some(4) };
    ring.verify(&wrong).unwrap();
    let error = ring.verify_symmetry(&wrong).unwrap_err().to_string();
    assert_eq!(error, "step 1: node 4 does not send node 5 the image of a planned node's send");
}

fn recorder() -> Recorder {
    let Rehearsal { settings, collective, dims, .. } = Rehearsal::on("ring", &[4]);
    Recorder::new(settings, (collective, 0), Vec::new(), &dims, None)
}

/// The SDK never passes null, but a plugin in another language can.
#[test]
fn null_pointers_are_refused() {
    let mut recorder = recorder();
    let host = hosting::table(&mut recorder);
    // SAFETY: all pointers are null, or belong to a host that outlives the calls.
    let codes = unsafe {
        assert_eq!(host.ports.unwrap()(std::ptr::null_mut()), 1);
        assert_eq!(host.step.unwrap()(std::ptr::null_mut()), SWM_STOPPED);
        assert_eq!(host.step.unwrap()(host.ctx), SWM_OK);
        (
            host.send_blocks.unwrap()(host.ctx, std::ptr::null()),
            host.token_bytes.unwrap()(host.ctx, 0, std::ptr::null_mut(), 0, std::ptr::null_mut()),
        )
    };
    assert_eq!(codes, (SWM_STOPPED, SWM_STOPPED));
    let refused = recorder.schedule().unwrap_err();
    assert_eq!(refused, Stop::failed("a send of blocks is null"));
}

#[test]
#[should_panic(expected = "a call failed")]
fn a_panic_in_a_call_continues_after_the_plan() {
    let mut recorder = recorder();
    assert_eq!(recorder.guard(|_| panic!("a call failed")), None::<()>);
    drop(recorder.schedule());
}
