use super::*;
use crate::{About, Algorithm, Rehearsal, Schedule, words};
use std::mem::size_of;
use swapmeet_abi::SwmTopology;

fn nodes(problem_size: usize, topology_size: usize) -> Result<u64, String> {
    // SAFETY: all three types consist of numbers, nullable pointers and nullable functions.
    let (host, mut problem, mut topology): (SwmHost, SwmProblem, [SwmTopology; 2]) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed()) };
    topology[0].nodes = 4;
    topology[0].size = topology_size as u32;
    problem.size = problem_size as u32;
    problem.topology = topology.as_ptr();
    let both = [problem, problem];
    // SAFETY: no stated size exceeds the size of two consecutive structs.
    let read = unsafe { Problem::read(both.as_ptr(), &host, &[]) };
    read.map(|problem| problem.topology().nodes()).map_err(|stop| stop.to_string())
}

#[test]
fn longer_structs_of_a_later_host_are_accepted() {
    let (problem, topology) = (size_of::<SwmProblem>(), size_of::<SwmTopology>());
    assert_eq!(nodes(SwmProblem::SIZE_1_0, SwmTopology::SIZE_1_0), Ok(4));
    assert_eq!(nodes(problem + 8, topology + 40), Ok(4));
}

#[test]
fn structs_shorter_than_in_1_0_are_refused() {
    let (problem, topology) = (size_of::<SwmProblem>(), size_of::<SwmTopology>());
    assert_eq!(
        nodes(8, topology),
        Err("the host gave a problem of 8 bytes, expected at least 56".to_owned())
    );
    assert_eq!(
        nodes(problem, 71),
        Err("the host gave a topology of 71 bytes, expected at least 72".to_owned())
    );
}

const CORNERS: [(&str, u8); 2] = [("round", 1), ("sharp", 2)];

struct Reads(fn(&Problem<'_>) -> Result<(), Stop>);

impl Algorithm for Reads {
    fn about(&self) -> About {
        const PARAMS: [ParamInfo; 3] = [
            ParamInfo::number("k", "7", ""),
            ParamInfo::text("free", "", ""),
            ParamInfo::choice("corner", &words(&CORNERS), "sharp", ""),
        ];
        About { name: "reads", params: &PARAMS, ..About::DEFAULT }
    }

    fn plan(&self, problem: &Problem<'_>, _: &mut Schedule<'_>) -> Result<(), Stop> {
        self.0(problem)
    }
}

type Read = fn(&Problem<'_>) -> Result<(), Stop>;

fn outcome(key: &str, value: &str, read: Read) -> Result<(), Stop> {
    Rehearsal::on("ring", &[4]).param(key, value).plan(&Reads(read)).map(|_| ())
}

#[test]
fn unreadable_values_name_the_expected_values() {
    let cases: [(&str, Read, &str); 8] = [
        ("k=x", |p| p.param::<i64>("k").map(drop), "a whole number"),
        ("k=-3", |p| p.param::<u8>("k").map(drop), "a whole number from 0 to 255"),
        ("k=70000", |p| p.param::<u16>("k").map(drop), "a whole number from 0 to 65535"),
        ("k=4097", |p| p.whole("k", 1..=4096).map(drop), "a whole number from 1 to 4096"),
        ("k=1", |p| p.whole("k", 2..=u64::MAX).map(drop), "a whole number from 2"),
        ("k=0", |p| p.group("k").map(drop), "a whole number from 1"),
        ("k=2", |p| p.param::<bool>("k").map(drop), "true or false"),
        ("corner=blunt", |p| p.choice("corner", &CORNERS).map(drop), "one of round, sharp"),
    ];
    for (given, read, expected) in cases {
        let (key, value) = given.split_once('=').unwrap();
        let reason = format!("`{given}`: expected {expected}");
        assert_eq!(outcome(key, value, read), Err(Stop::failed(reason)));
    }
    assert_eq!(outcome("k", "-3", |p| p.param::<i64>("k").map(drop)), Ok(()));
    assert_eq!(outcome("k", "4096", |p| p.whole("k", 1..=4096).map(drop)), Ok(()));
}

#[test]
fn only_declared_parameters_can_be_read() {
    let undeclared = "the algorithm reads `fan`, a parameter that it does not declare";
    let words =
        "`corner` is declared as one of [\"round\", \"sharp\"] and read as one of [\"round\"]";
    let cases: [(Read, &str); 5] = [
        (|p| p.param::<u64>("fan").map(drop), undeclared),
        (|p| p.given::<u64>("fan").map(drop), undeclared),
        (|p| p.choice("fan", &CORNERS).map(drop), undeclared),
        (|p| p.choice("corner", &CORNERS[..1]).map(drop), words),
        (|p| p.param::<String>("free").map(drop), "`free` was not given and has no default"),
    ];
    for (read, reason) in cases {
        assert_eq!(outcome("k", "1", read), Err(Stop::failed(reason)));
    }
}

#[test]
fn missing_parameters_have_their_declared_default() {
    let read = |p: &Problem<'_>| {
        assert_eq!((p.param::<u64>("k")?, p.given::<u64>("k")?), (7, None));
        assert_eq!((p.choice("corner", &CORNERS)?, p.given_choice("corner", &CORNERS)?), (2, None));
        assert_eq!(p.param::<String>("free")?, "yes");
        Ok(())
    };
    assert_eq!(outcome("free", "yes", read), Ok(()));
}

#[test]
fn groups_default_to_the_last_dimension() {
    let default = |problem: Rehearsal, read: fn(&Problem<'_>) -> Result<(), Stop>| {
        problem.plan(&Reads(read)).map(|_| ())
    };
    fn is(size: u64, expected: u64) -> Result<(), Stop> {
        (size == expected).then_some(()).ok_or_else(|| Stop::failed(format!("{size}")))
    }
    assert_eq!(default(Rehearsal::on("torus", &[4, 3]), |p| is(p.group("k")?, 3)), Ok(()));
    assert_eq!(default(Rehearsal::on("ring", &[4]), |p| is(p.group("k")?, 4)), Ok(()));
    assert_eq!(outcome("k", "2", |p| is(p.group("k")?, 2)), Ok(()));
    let uneven = Stop::unsupported("4 nodes cannot be divided into groups of 3");
    assert_eq!(outcome("k", "3", |p| is(p.group("k")?, 3)), Err(uneven));
}

#[test]
fn a_dual_net_has_levels_and_a_base() {
    let rehearsal = Rehearsal::dual_net(2, "torus", &[3, 3]);
    let read = Reads(|p| {
        let topology = p.topology();
        let (base, levels) = topology.base().unwrap();
        assert_eq!((topology.kind(), topology.spec(), levels), ("rdn", "rdn:2(torus:3x3)", 2));
        assert_eq!(
            (base.kind(), base.dims(), base.nodes(), base.base().is_none()),
            ("torus", &[3, 3][..], 9, true)
        );
        assert_eq!(topology.dims(), [2, 2, 3, 3, 3, 3, 2, 3, 3, 3, 3]);
        assert_eq!((topology.nodes(), topology.grid()?.nodes()), (2 * 162 * 162, 2 * 162 * 162));
        Ok(())
    });
    assert_eq!(rehearsal.plan(&read), Ok(Vec::new()));
}

struct Reader;

impl Algorithm for Reader {
    fn about(&self) -> About {
        About { name: "reader", collectives: &Collective::ALL, ..About::DEFAULT }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let nodes = problem.topology().nodes();
        for vertex in 0..problem.vertices()? {
            let ends: Vec<u64> = problem.links(vertex)?.iter().map(|link| link.to).collect();
            schedule.log(&format!("{vertex}: {ends:?}"));
        }
        for from in 0..nodes {
            let pairs = problem.demand(from)?;
            let pairs: Vec<_> = pairs.iter().map(|pair| (pair.destination, pair.bytes)).collect();
            schedule.log(&format!("{from}: {pairs:?}"));
        }
        Ok(())
    }
}

#[test]
fn links_and_demand_are_read() {
    let log = |problem: Rehearsal| problem.rehearse(&Reader).unwrap().log;
    let mesh = log(Rehearsal::on("mesh", &[1, 3]).collective(Collective::Scatter, 1));
    assert_eq!(
        mesh,
        ["0: [1]", "1: [0, 2]", "2: [1]", "0: []", "1: [(0, 1), (1, 1), (2, 1)]", "2: []"]
    );
    let sizes = [vec![1, 0, 7], vec![0, 0, 0], vec![4, 5, 6]];
    let ring = log(Rehearsal::on("ring", &[3]).sizes(&sizes));
    assert_eq!(ring[3..], ["0: [(0, 1), (2, 7)]", "1: []", "2: [(0, 4), (1, 5), (2, 6)]"]);
    let turned = log(Rehearsal::on("ring", &[3]).permutation("turn", &[1, 2, 0]));
    assert_eq!(turned[3..], ["0: [(1, 1)]", "1: [(2, 1)]", "2: [(0, 1)]"]);
    // Node 69 has 69 links, so `read_list` must read a second time, into a larger buffer.
    let all = log(Rehearsal::on("fully-connected", &[70]));
    assert!(all[69].starts_with("69: [0, 1, ") && all[69].ends_with(", 67, 68]"), "{}", all[69]);
}
