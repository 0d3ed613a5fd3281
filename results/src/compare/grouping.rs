//! Groups the rows of several files by setting, and removes duplicates.

use super::rows::{ComparedRow, ComparedRows};
use super::{By, CompareError};
use crate::case_id::{Implementation, Setting, index};
use crate::record::Status;
use crate::units::count;
use indexmap::{IndexMap, IndexSet};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// Returns the numbers of the rows of each group. The groups are in the order of their first rows.
/// The rows of a group are in the order in which they were read from the files.
pub(super) fn group_rows(all: &ComparedRows, by: By) -> Vec<Vec<u32>> {
    let mut kinds: IndexSet<Setting<Cow<'_, str>>> = IndexSet::new();
    let kind_of: Vec<usize> =
        all.settings().map(|setting| kinds.insert_full(by.without_subject(setting)).0).collect();
    let mut algorithms: IndexSet<Implementation<Cow<'_, str>>> = IndexSet::new();
    let algorithm_of: Vec<usize> = all
        .implementations()
        .map(|own| algorithms.insert_full(by.without_subject_of_algorithm(own)).0)
        .collect();
    let mut groups: IndexMap<(usize, Option<usize>), Vec<u32>> = IndexMap::new();
    for (number, row) in all.rows.iter().enumerate() {
        // If another property is compared, all rows of a group have the same algorithm.
        let implementation =
            (by != By::Algorithm).then(|| algorithm_of[row.case.implementation as usize]);
        let key = (kind_of[row.case.setting as usize], implementation);
        groups.entry(key).or_default().push(index(number));
    }
    groups.into_values().collect()
}

/// How many rows of a file repeat the case of an earlier row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Repeated {
    /// The number of rows that are copies of earlier rows. They do not count.
    duplicates: usize,
    /// The number of rows of cases that had failed and were run again.
    reruns: usize,
}

pub(super) struct DistinctRows<'a> {
    pub(super) rows: Vec<&'a ComparedRow>,
    pub(super) repeated: BTreeMap<u32, Repeated>,
}

pub(super) struct Contradiction<'a> {
    pub(super) first: &'a ComparedRow,
    pub(super) second: &'a ComparedRow,
}

/// Keeps one copy of each duplicate. If a case failed for a reason that may be temporary and was
/// run again, both rows count. If two rows of a case differ in any other way, this is an error.
pub(super) fn distinct_rows<'a>(
    rows: impl Iterator<Item = &'a ComparedRow>,
) -> Result<DistinctRows<'a>, Contradiction<'a>> {
    let mut distinct = DistinctRows { rows: Vec::new(), repeated: BTreeMap::new() };
    let mut known: HashMap<_, Vec<&ComparedRow>> = HashMap::new();
    for row in rows {
        let same_case = known.entry(row.case).or_default();
        if same_case.iter().any(|other| other.is_copy_of(row)) {
            distinct.repeated.entry(row.location.file).or_default().duplicates += 1;
            continue;
        }
        if !is_transient_failure(row)
            && let Some(first) = same_case.iter().find(|other| !is_transient_failure(other))
        {
            return Err(Contradiction { first, second: row });
        }
        if !same_case.is_empty() {
            distinct.repeated.entry(row.location.file).or_default().reruns += 1;
        }
        same_case.push(row);
        distinct.rows.push(row);
    }
    Ok(distinct)
}

fn is_transient_failure(row: &ComparedRow) -> bool {
    matches!(row.status, Status::Timeout | Status::Crashed | Status::Error)
}

/// States which rows do not count. `repeated` has their numbers for each group, by file.
pub(super) fn notes<'a>(
    files: &[String],
    repeated: impl IntoIterator<Item = &'a BTreeMap<u32, Repeated>>,
) -> Vec<String> {
    let mut sums = vec![Repeated::default(); files.len()];
    for (file, Repeated { duplicates, reruns }) in repeated.into_iter().flatten() {
        let sum = &mut sums[*file as usize];
        sum.duplicates += duplicates;
        sum.reruns += reruns;
    }
    let note = |(file, Repeated { duplicates, reruns }): (&String, Repeated)| {
        let duplicates = (duplicates > 0).then(|| {
            let verb = if duplicates == 1 { "is" } else { "are" };
            format!("{file}: {} {verb} counted once", count(duplicates, "duplicate row"))
        });
        let reruns = (reruns > 0).then(|| {
            let what = match reruns {
                1 => "is of a case run again after it failed",
                _ => "are of cases run again after they failed",
            };
            format!("{file}: {} {what}; both outcomes are shown", count(reruns, "row"))
        });
        [duplicates, reruns]
    };
    files.iter().zip(sums).flat_map(note).flatten().collect()
}

impl Contradiction<'_> {
    pub(super) fn error(&self, all: &ComparedRows) -> CompareError {
        CompareError::Contradiction {
            case: all.case(self.second).in_words(),
            first: all.place(self.first),
            second: all.place(self.second),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::{failed, row};
    use crate::compare::{Comparison, compare};
    use crate::record::Record;

    fn two(first: Vec<Record>, second: Vec<Record>) -> Result<Comparison, CompareError> {
        compare(&[("a.csv".to_owned(), first), ("b.csv".to_owned(), second)], None)
    }

    #[test]
    fn duplicates_count_once_and_other_repetitions_count() {
        let reruns =
            Record { wall_ms: Some(3.0), experiment: "other".to_owned(), ..row("fast", 0, 10.0) };
        let compared = two(vec![row("fast", 0, 10.0)], vec![reruns, row("fast", 1, 12.0)]).unwrap();
        assert_eq!(compared.notes, ["b.csv: 1 duplicate row is counted once"]);
        assert_eq!(compared.groups[0].lines[0].time.as_ref().unwrap().n, 2);
        let other_seed = Record { seed: 7, ..row("fast", 0, 12.0) };
        let compared = two(vec![row("fast", 0, 10.0)], vec![other_seed]).unwrap();
        assert_eq!(
            (compared.groups[0].lines[0].time.as_ref().unwrap().n, compared.notes.len()),
            (2, 0)
        );
    }

    #[test]
    fn notes_do_not_distinguish_rows_but_definitions_do() {
        let noted = |note: &str| Record { note: note.to_owned(), ..row("fast", 0, 10.0) };
        let compared =
            two(vec![row("fast", 0, 10.0)], vec![noted("run in rounds: one port")]).unwrap();
        assert_eq!(compared.notes, ["b.csv: 1 duplicate row is counted once"]);
        assert_eq!(compared.groups[0].lines[0].time.as_ref().unwrap().n, 1);
        let on = |definition: &str, inputs: &str| Record {
            machine_definition: definition.to_owned(),
            inputs: inputs.to_owned(),
            ..row("fast", 0, 10.0)
        };
        let compared = two(vec![on("delta", "")], vec![on("delta:startup_us=2", "")]).unwrap();
        assert_eq!((compared.groups.len(), compared.notes.len()), (2, 0));
        let compared =
            two(vec![on("", "m.csv=sha256:aa")], vec![on("", "m.csv=sha256:bb")]).unwrap();
        assert_eq!((compared.groups.len(), compared.notes.len()), (2, 0));
    }

    #[test]
    fn contradicting_rows_are_an_error_that_names_both() {
        let error =
            two(vec![row("slow", 0, 9.0), row("fast", 0, 10.0)], vec![row("fast", 0, 11.0)])
                .unwrap_err();
        assert_eq!(
            error.to_string(),
            "fast on torus:4x4, uniform:64, paragon, repetition 0 has different values in a.csv (row 2) and in b.csv (row 1): \
             they are not of one experiment"
        );
    }

    #[test]
    fn a_rerun_after_a_timeout_counts_in_addition() {
        let late = failed("fast", 0, Status::Timeout, "60 s");
        let compared = two(vec![late, row("fast", 1, 12.0)], vec![row("fast", 0, 10.0)]).unwrap();
        assert_eq!(
            compared.notes,
            ["b.csv: 1 row is of a case run again after it failed; both outcomes are shown"]
        );
        let line = &compared.groups[0].lines[0];
        assert_eq!(line.time.as_ref().unwrap().n, 2);
        assert_eq!(line.rows.iter().collect::<Vec<_>>(), [(Status::Ok, 2), (Status::Timeout, 1)]);
    }
}
