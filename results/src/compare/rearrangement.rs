//! Remarks on machines with `rearrangement=declared`. Such a machine charges an algorithm only for
//! the rearrangement that the algorithm declares, and some algorithms need rearrangement but
//! declare none.

use super::{By, ComparisonLine, Group};
use crate::parameter::SpecKind;
use crate::record::Record;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swapmeet_core::cost::model::UNDECLARED;

/// The text in the column `remark` if an algorithm is charged less for rearrangement than others.
pub const CHARGED_LESS_REMARK: &str =
    "not charged for rearrangement; rearrangement=packed charges all algorithms equally";

impl Record {
    /// Returns whether the machine charges for rearrangement, but the algorithm declares none
    /// although it needs some.
    pub fn is_uncharged(&self) -> bool {
        self.note.contains(UNDECLARED)
    }
}

pub(super) fn remarks(groups: &[Arc<Group>], by: By) -> Vec<String> {
    let mut unlike: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for group in groups {
        let timed = group.lines.iter().filter(|line| line.time.is_some());
        for line in timed.filter(|line| group.is_charged_less(line)) {
            let algorithm = group.of_algorithm.as_deref().unwrap_or(&line.algorithm);
            unlike.entry(machine(group, line, by)).or_default().insert(algorithm);
        }
    }
    unlike.iter().map(|(machine, algorithms)| rearrangement_remark(machine, algorithms)).collect()
}

/// Returns the machine of a line. If machines are compared, the line has it instead of the setting.
fn machine(group: &Group, line: &ComparisonLine, by: By) -> String {
    match by {
        By::Machine => line.algorithm.clone(),
        By::Parameter(parameter)
            if parameter.of == SpecKind::Machine && !line.subject.is_empty() =>
        {
            format!("{} with {}={}", group.machine_in_full(), parameter.key, line.subject)
        }
        _ => group.machine_in_full(),
    }
}

pub fn rearrangement_remark(machine: &str, algorithms: &BTreeSet<&str>) -> String {
    let (declare, their) =
        if algorithms.len() == 1 { ("declares", "its") } else { ("declare", "their") };
    let named: Vec<String> = algorithms.iter().map(|name| format!("`{name}`")).collect();
    format!(
        "† {machine} charges the rearrangement that each algorithm declares, but {} {declare} none although {their} messages consist of several \
         blocks; with rearrangement=packed, all are charged equally.",
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use crate::compare::tests::{files, row};
    use crate::compare::{By, CompareOptions, compare, compare_by};
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
    fn comparisons_of_machines_and_topologies_have_the_remark() {
        let declared =
            |row: Record| Record { machine: "paragon:rearrangement=declared".to_owned(), ..row };
        let elsewhere = |row: Record| Record { topology: "ring:16".to_owned(), ..row };
        let rows = vec![
            row("bruck", 0, 2.0),
            declared(free("bruck")),
            declared(elsewhere(free("bruck"))),
            declared(row("suh-shin", 0, 3.0)),
        ];
        let remark = "† paragon:rearrangement=declared charges the rearrangement that each algorithm declares, but `bruck` declares none although \
             its messages consist of several blocks; with rearrangement=packed, all are charged equally.";
        for (by, marked) in [(By::Machine, 2), (By::Topology, 2), (By::Algorithm, 1)] {
            let options = CompareOptions { by, ..CompareOptions::default() };
            let compared = compare_by(&files(rows.clone()), &options).unwrap();
            assert_eq!(compared.rearrangement_remarks, [remark], "{by:?}");
            let lines = compared
                .groups
                .iter()
                .flat_map(|group| group.lines.iter().filter(|line| group.is_charged_less(line)));
            assert_eq!(lines.count(), marked, "{by:?}");
        }
    }

    #[test]
    fn there_is_no_remark_if_all_are_charged_equally() {
        assert_eq!(remarks_on(vec![free("bruck"), free("torus-multiscatter")]), [""; 0]);
        assert_eq!(remarks_on(vec![row("suh-shin", 0, 2.0), row("pairwise", 0, 1.0)]), [""; 0]);
    }
}
