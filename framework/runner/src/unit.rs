//! Units of work: cases that share a schedule stay together, whether they go to a worker or to a shard.

use crate::case::Case;

/// Cases that share a schedule, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The cases, ascending.
    pub cases: Vec<usize>,
    /// What it is estimated to cost.
    pub cost: u64,
}

/// All cases, in units, in order.
pub fn units(cases: &[Case]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut first = 0;
    while first < cases.len() {
        let same = cases[first..].iter().take_while(|case| case.shares_plan_with(&cases[first])).count();
        units.push(Unit { cases: (first..first + same).collect(), cost: cost(&cases[first], same) });
        first += same;
    }
    units
}

/// An estimate that needs no measuring, and so is the same everywhere: n² where everyone has something for everyone (the messages of a direct
/// exchange), n log n elsewhere, and a little for each further case of the unit and for starting at all.
fn cost(case: &Case, cases: usize) -> u64 {
    let n = case.topology.nodes();
    let schedule = if case.workload.collective().is_from_each_to_each() {
        n.saturating_mul(n)
    } else {
        n.saturating_mul(u64::from(u64::BITS - n.leading_zeros()))
    };
    let schedule = schedule.saturating_add(1000);
    schedule.saturating_add((schedule / 20).saturating_mul(cases as u64 - 1))
}

/// The cases of one of `count` shards, `index` from 0, ascending: the dearest unit first, each to the shard that has least to do (the first of equals).
/// Every case is in exactly one shard, whoever asks, and a unit is never divided.
pub fn shard(cases: &[Case], index: usize, count: usize) -> Vec<usize> {
    let mut units = units(cases);
    // A stable sort: equals stay in order.
    units.sort_by_key(|unit| std::cmp::Reverse(unit.cost));
    let mut loads = vec![0_u64; count];
    let mut mine = Vec::new();
    for unit in units {
        let Some(least) = (0..count).min_by_key(|shard| loads[*shard]) else { break };
        loads[least] = loads[least].saturating_add(unit.cost);
        if least == index {
            mine.extend(unit.cases);
        }
    }
    mine.sort_unstable();
    mine
}
