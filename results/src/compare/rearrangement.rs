//! Remarks on machines that do not charge all algorithms for rearrangement by the same rule. With
//! `rearrangement=declared`, a machine charges an algorithm only for the rearrangement that it
//! declares. Some algorithms need rearrangement but do not declare it.

use super::{ComparisonLine, Group};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Returns a remark for each machine that charges only some of the compared algorithms.
pub(super) fn remarks(groups: &[Arc<Group>]) -> Vec<String> {
    let mut unlike: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for group in groups {
        let declares_none = |line: &&ComparisonLine| line.declares_none;
        let timed = group.lines.iter().filter(|line| line.time.is_some());
        let (undeclared, others): (Vec<&ComparisonLine>, Vec<&ComparisonLine>) =
            timed.partition(declares_none);
        if !others.is_empty() && !undeclared.is_empty() {
            let named = unlike.entry(group.machine_in_full()).or_default();
            named.extend(undeclared.iter().map(|line| line.algorithm.as_str()));
        }
    }
    let remark = |(machine, algorithms): (String, BTreeSet<&str>)| {
        let (declare, their) =
            if algorithms.len() == 1 { ("declares", "its") } else { ("declare", "their") };
        let named: Vec<String> = algorithms.iter().map(|name| format!("`{name}`")).collect();
        format!(
            "† {machine} charges the rearrangement that each algorithm declares, but {} {declare} none although {their} messages consist of several \
             blocks; with rearrangement=packed, all are charged equally.",
            named.join(", ")
        )
    };
    unlike.into_iter().map(remark).collect()
}

#[cfg(test)]
mod tests {
    use crate::compare::compare;
    use crate::compare::tests::{files, row};
    use crate::record::Record;
    use swapmeet_core::cost::model::UNDECLARED;

    fn free(name: &str) -> Record {
        Record { note: format!("run in rounds: so; {UNDECLARED}"), ..row(name, 0, 1.0) }
    }

    fn remarks_on(rows: Vec<Record>) -> Vec<String> {
        compare(&files(rows), None).unwrap().rearrangement_remarks
    }

    #[test]
    fn algorithms_without_declared_rearrangement_are_named() {
        let elsewhere = |row: Record| Record { machine: "delta".to_owned(), ..row };
        let rows = vec![
            row("suh-shin", 0, 2.0),
            free("torus-multiscatter"),
            free("bruck"),
            elsewhere(free("bruck")),
        ];
        assert_eq!(
            remarks_on(rows),
            [
                "† paragon charges the rearrangement that each algorithm declares, but `bruck`, `torus-multiscatter` declare none although their messages \
              consist of several blocks; with rearrangement=packed, all are charged equally."
            ],
            "the other machine has a single algorithm"
        );
    }

    #[test]
    fn there_is_no_remark_if_all_are_charged_equally() {
        assert_eq!(remarks_on(vec![free("bruck"), free("torus-multiscatter")]), [""; 0]);
        assert_eq!(remarks_on(vec![row("suh-shin", 0, 2.0), row("pairwise", 0, 1.0)]), [""; 0]);
    }
}
