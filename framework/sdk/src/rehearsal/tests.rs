use super::*;
use crate::{About, Amount, Axis, Route, Send, Set};

/// Does one thing.
struct Once(fn(&Problem<'_>, &mut Schedule<'_>) -> Result<(), Stop>);

impl Algorithm for Once {
    fn about(&self) -> About {
        About { name: "once", ..About::DEFAULT }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        self.0(problem, schedule)
    }
}

#[test]
fn products_ranges_and_bits_are_written_out_in_order() {
    let plan = Once(|_, schedule| {
        schedule.layout(&[2, 5], 2)?;
        schedule.phase("only")?;
        schedule.step()?;
        let axes = [Axis::ALL, Axis::range(4, 2)];
        schedule.send(&Send::new(0, 1).destinations(Set::product(&axes)).copy())?;
        let axes = [Axis::one(1), Axis::bits(&[0b10010])];
        schedule.send(&Send::new(0, 1).origins(Set::product(&axes)).strict())
    });
    let steps = Rehearsal::on("mesh", &[10]).plan(&plan).unwrap();
    let [first, second] = &steps[0].sends[..] else { panic!("{steps:?}") };
    assert_eq!((steps[0].phase.as_str(), &first.destinations[..], first.copies), ("only", &[0, 4, 5, 9][..], true));
    assert_eq!((&first.segments[..], first.is_local, &second.segments[..]), (&[0, 1][..], false, &[0, 1][..]));
    assert_eq!((&second.origins[..], second.destinations.len(), second.is_strict), (&[6, 9][..], 10, true));
}

#[test]
fn what_is_asked_for_is_what_was_set() {
    let plan = Once(|problem, _| {
        assert_eq!((problem.block_bytes(), problem.ports(), problem.root()), (64, u64::MAX, 2));
        assert_eq!((problem.collective(), problem.param("k", 0_u64)?), (Collective::Scatter, 7));
        assert_eq!((problem.topology().spec(), problem.topology().dims()), ("torus:2x3", &[2, 3][..]));
        Err(Stop::unsupported("enough"))
    });
    let problem = Rehearsal::on("torus", &[2, 3]).collective(Collective::Scatter, 2).param("k", "7");
    let stop = problem.block_bytes(64).ports(u64::MAX).plan(&plan).unwrap_err();
    assert_eq!(stop, Stop::unsupported("enough"));
}

#[test]
fn what_no_host_would_take_is_refused() {
    let refused = |plan| Rehearsal::on("ring", &[4]).plan(&Once(plan)).unwrap_err().to_string();
    assert_eq!(refused(|_, schedule| schedule.send(&Send::new(0, 1))), "the schedule sends before its first step");
    let outside = refused(|_, schedule| {
        schedule.step()?;
        schedule.send(&Send::new(0, 1).destinations(Set::one(4)))
    });
    assert_eq!(outside, "the send from 0 to 1 has a set outside the grid");
    let far = refused(|_, schedule| {
        schedule.step()?;
        schedule.send(&Send::new(0, 99))
    });
    assert_eq!(far, "the send from 0 to 99 is outside the schedule's grid of 4 nodes");
    let itself = refused(|_, schedule| {
        schedule.step()?;
        schedule.send(&Send::new(1, 1).local())?;
        schedule.send(&Send::new(1, 1))
    });
    assert_eq!(itself, "node 1 sends to itself, which is no message (mark a local copy as such)");
    let late = refused(|_, schedule| {
        schedule.step()?;
        schedule.layout(&[2, 2], 1)
    });
    assert_eq!(late, "the schedule sets its grid after its first step or placement");
    let unplaced = refused(|_, schedule| {
        schedule.layout(&[5], 1)?;
        schedule.step()
    });
    assert_eq!(unplaced, "the schedule's grid has 5 nodes and the machine 4: every node must be placed");
    let nowhere = refused(|_, schedule| schedule.place(0, 4, true));
    assert_eq!(nowhere, "node 0 of a grid of 4 can't be placed on node 4 of a machine of 4");
    let twice = refused(|_, schedule| {
        schedule.step()?;
        schedule.send(&Send::new(0, 1).destinations(Set::product(&[Axis::stride(0, 2, 3)])))
    });
    assert_eq!(twice, "the send from 0 to 1 has a set that names a coordinate twice");
}

#[test]
fn routes_amounts_placements_and_lines_for_the_log_are_written_down() {
    let plan = Once(|problem, schedule| {
        problem.log("two nodes on each");
        schedule.layout(&[4], 1)?;
        (0..4).try_for_each(|node| schedule.place(node, node / 2, node % 2 == 0))?;
        schedule.step()?;
        schedule.log("a step");
        schedule.send(&Send::new(0, 2).route(&Route::path(&[1])).byte_counts(&[Amount { destination: 1, bytes: 8 }]))
    });
    let all = Rehearsal::on("ring", &[2]).rehearse(&plan).unwrap();
    assert_eq!(all.placements, [(0, 0, true), (1, 0, false), (2, 1, true), (3, 1, false)]);
    assert_eq!(all.log, ["two nodes on each", "a step"]);
    let send = &all.steps[0].sends[0];
    assert_eq!((&send.route.path[..], send.route.signs.len()), (&[1][..], 0));
    assert_eq!(send.byte_counts, [Amount { destination: 1, bytes: 8 }]);
}
