use super::*;
use crate::{About, Algorithm, Rehearsal, Schedule, words};
use std::mem::size_of;

/// Reads a problem whose structs claim these sizes, and returns the node count of its topology.
fn nodes(problem_size: usize, topology_size: usize) -> Result<u64, String> {
    // SAFETY: all three types consist of numbers, nullable pointers and nullable functions.
    let (host, mut problem, mut topology): (SwmHost, SwmProblem, [SwmTopology; 2]) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed()) };
    topology[0].nodes = 4;
    topology[0].size = topology_size as u32;
    problem.size = problem_size as u32;
    problem.topology = topology.as_ptr();
    let both = [problem, problem];
    // SAFETY: no claimed size exceeds the size of two consecutive structs.
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

/// An algorithm that only reads parameters.
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

/// Returns the outcome of a plan that reads a parameter with the given text.
fn outcome(key: &str, value: &str, read: fn(&Problem<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
    Rehearsal::on("ring", &[4]).param(key, value).plan(&Reads(read)).map(|_| ())
}

fn failed(reason: &str) -> Result<(), Stop> {
    Err(Stop::failed(reason))
}

#[test]
fn unreadable_values_are_errors_that_name_the_expected_values() {
    let given = |value, read| outcome("k", value, read);
    assert_eq!(
        given("x", |p| p.param::<i64>("k").map(|_| ())),
        failed("`k=x`: expected a whole number")
    );
    assert_eq!(given("-3", |p| p.param::<i64>("k").map(|_| ())), Ok(()));
    assert_eq!(
        given("-3", |p| p.param::<u8>("k").map(|_| ())),
        failed("`k=-3`: expected a whole number from 0 to 255")
    );
    assert_eq!(
        given("99999999999", |p| p.param::<u32>("k").map(|_| ())),
        failed("`k=99999999999`: expected a whole number from 0 to 4294967295")
    );
    assert_eq!(given("4096", |p| p.whole("k", 1..=4096).map(|_| ())), Ok(()));
    let most = failed("`k=4097`: expected a whole number from 1 to 4096");
    assert_eq!(given("4097", |p| p.whole("k", 1..=4096).map(|_| ())), most);
    assert_eq!(
        given("1", |p| p.whole("k", 2..=u64::MAX).map(|_| ())),
        failed("`k=1`: expected a whole number from 2")
    );
    assert_eq!(
        given("2", |p| p.param::<bool>("k").map(|_| ())),
        failed("`k=2`: expected true or false")
    );
    assert_eq!(
        outcome("corner", "blunt", |p| p.choice("corner", &CORNERS).map(|_| ())),
        failed("`corner=blunt`: expected one of round, sharp")
    );
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
    assert_eq!(
        outcome("k", "0", |p| is(p.group("k")?, 0)),
        failed("`k=0`: expected a whole number from 1")
    );
    let uneven = Stop::unsupported("4 nodes cannot be divided into groups of 3");
    assert_eq!(outcome("k", "3", |p| is(p.group("k")?, 3)), Err(uneven));
}

#[test]
fn only_declared_parameters_can_be_read() {
    let refused = |read| outcome("k", "1", read);
    let undeclared = "the algorithm reads `fan`, a parameter that it does not declare";
    assert_eq!(refused(|p| p.param::<u64>("fan").map(|_| ())), failed(undeclared));
    assert_eq!(refused(|p| p.given::<u64>("fan").map(|_| ())), failed(undeclared));
    assert_eq!(refused(|p| p.choice("fan", &CORNERS).map(|_| ())), failed(undeclared));
    assert_eq!(
        refused(|p| p.choice("corner", &CORNERS[..1]).map(|_| ())),
        failed(
            "`corner` is declared as one of [\"round\", \"sharp\"] and read as one of [\"round\"]"
        )
    );
    assert_eq!(
        refused(|p| p.param::<String>("free").map(|_| ())),
        failed("`free` was not given and has no default")
    );
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
