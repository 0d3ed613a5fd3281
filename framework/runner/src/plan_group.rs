//! Groups of cases that share a schedule. They usually also share a worker and a shard.

use crate::case::Case;
use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanGroup {
    pub cases: Range<usize>,
    schedule: u64,
}

impl PlanGroup {
    /// Returns the estimated cost of the schedule, plus 5 % of it for each case after the first.
    pub fn cost(&self) -> u64 {
        self.schedule
            .saturating_add((self.schedule / 20).saturating_mul(self.cases.len() as u64 - 1))
    }

    pub fn schedule_cost(&self) -> u64 {
        self.schedule
    }

    /// Divides the group into at most `parts` groups of nearly equal size, none of which is empty.
    fn divided(self, parts: usize) -> impl Iterator<Item = Self> {
        let (Range { start, end }, parts) = (self.cases, parts.max(1));
        let at = move |part: usize| start + (end - start) * part / parts;
        let groups = (0..parts)
            .map(move |part| Self { cases: at(part)..at(part + 1), schedule: self.schedule });
        groups.filter(|group| !group.cases.is_empty())
    }
}

/// The maximum number of cases of a job. Each case takes about 2 KiB in the worker. Every job of a
/// group plans the schedule again. Pricing a case takes at least about a twentieth of the planning
/// time ([`forecast`](mod@crate::forecast)), so this usually adds less than 1 %.
const MOST_OF_A_JOB: usize = 4096;

pub fn plan_groups<C: Borrow<Case>>(cases: impl IntoIterator<Item = C>) -> Vec<PlanGroup> {
    let mut groups: Vec<PlanGroup> = Vec::new();
    let mut first: Option<C> = None;
    for (number, case) in cases.into_iter().enumerate() {
        match (&first, groups.last_mut()) {
            (Some(first), Some(group)) if case.borrow().shares_plan_with(first.borrow()) => {
                group.cases.end = number + 1;
            }
            _ => {
                groups.push(PlanGroup {
                    cases: number..number + 1,
                    schedule: schedule(case.borrow()),
                });
                first = Some(case);
            }
        }
    }
    groups
}

pub fn jobs(groups: Vec<PlanGroup>) -> Vec<PlanGroup> {
    let divided = |group: PlanGroup| {
        let parts = group.cases.len().div_ceil(MOST_OF_A_JOB);
        group.divided(parts)
    };
    groups.into_iter().flat_map(divided).collect()
}

/// Estimates the cost of a schedule from the number of nodes n, so that it is the same on every
/// machine. It is a constant, plus n² (the messages of a direct exchange) for all-to-all
/// collectives, or n log n for others.
fn schedule(case: &Case) -> u64 {
    let n = case.topology.nodes();
    let schedule = if case.workload.collective().connects_all_pairs() {
        n.saturating_mul(n)
    } else {
        n.saturating_mul(u64::from(u64::BITS - n.leading_zeros()))
    };
    schedule.saturating_add(1000)
}

/// Returns the cases of shard `index` (from 0) of `count` shards, in ascending order. The result is
/// the same on every machine. Groups are assigned in order of descending cost. Each is assigned to
/// the first of the shards that have the least cost so far. A group that costs more than `1 /
/// count` of the total is divided, because the other shards would otherwise wait for its shard.
pub fn shard(groups: Vec<PlanGroup>, index: usize, count: usize) -> Vec<usize> {
    let total = groups.iter().map(PlanGroup::cost).fold(0, u64::saturating_add);
    let share = (total / count as u64).max(1);
    let mut groups: Vec<PlanGroup> = groups
        .into_iter()
        .flat_map(|group| {
            let parts = group.cost().div_ceil(share).min(group.cases.len().min(count) as u64);
            group.divided(parts as usize)
        })
        .collect();
    groups.sort_by_key(|group| Reverse(group.cost()));
    // The top of the heap is the first of the shards that have the least cost so far.
    let mut loads: BinaryHeap<Reverse<(u64, usize)>> =
        (0..count).map(|shard| Reverse((0, shard))).collect();
    let mut mine = Vec::new();
    for group in groups {
        let Some(mut least) = loads.peek_mut() else { break };
        let (load, shard) = least.0;
        *least = Reverse((load.saturating_add(group.cost()), shard));
        if shard == index {
            mine.extend(group.cases);
        }
    }
    mine.sort_unstable();
    mine
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups_of(parts: &[(u64, usize)]) -> Vec<PlanGroup> {
        let mut first = 0;
        let mut group = |&(schedule, cases): &(u64, usize)| {
            first += cases;
            PlanGroup { cases: first - cases..first, schedule }
        };
        parts.iter().map(&mut group).collect()
    }

    #[test]
    fn every_case_is_in_one_shard() {
        let groups = groups_of(&[
            (1_000_000, 7),
            (1000, 1),
            (1000, 50),
            (40_000, 2),
            (40_000, 1),
            (5_000_000, 13),
        ]);
        for count in 1..40 {
            let mut all: Vec<usize> =
                (0..count).flat_map(|index| shard(groups.clone(), index, count)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..74).collect::<Vec<_>>(), "{count} shards");
        }
    }

    #[test]
    fn no_shard_is_idle_where_one_schedule_has_many_cases() {
        let groups = groups_of(&[(10_000, 5000)]);
        let sizes: Vec<usize> =
            (0..1000).map(|index| shard(groups.clone(), index, 1000).len()).collect();
        assert!(sizes.iter().all(|cases| *cases == 5), "{sizes:?}");
    }

    #[test]
    fn a_schedule_is_planned_once_where_there_are_others_to_do() {
        let groups = groups_of(&[(10_000, 3), (10_000, 3), (10_000, 3)]);
        assert_eq!(
            [0, 1, 2].map(|index| shard(groups.clone(), index, 3)),
            [[0, 1, 2], [3, 4, 5], [6, 7, 8]].map(Vec::from)
        );
    }
}
