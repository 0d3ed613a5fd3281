//! Groups the rows of several files by setting and removes duplicates.

use super::{By, CompareError, RowLocation};
use crate::case_id::{CaseId, Implementation, Setting};
use crate::record::{Record, Status};
use crate::units::count;
use indexmap::IndexMap;
use std::borrow::Cow;
use std::collections::HashMap;

/// Rows by group, and remarks on duplicates.
pub(super) struct GroupedRows<'a> {
    /// The rows of each group, in the order of the files.
    pub groups: Vec<Vec<(&'a Record, RowLocation)>>,
    pub notes: Vec<String>,
}

/// The properties that all rows of a group have in common.
type GroupKey<'a> = (Setting<Cow<'a, str>>, Option<Implementation<&'a str>>);

/// A row, its file, and its row number in the file.
struct KnownRow<'a> {
    record: &'a Record,
    file: &'a str,
    row: usize,
}

impl KnownRow<'_> {
    fn place(&self) -> String {
        format!("{} (row {})", self.file, self.row)
    }
}

/// Returns the row without the columns that may differ between two rows of the same case and
/// repetition. `plan_ms`, `wall_ms` and the name of the experiment may differ. The note and the
/// randomly drawn faults are missing in files of earlier versions. The optimum is missing in rows
/// of a run without `--optimum`.
fn comparable(r: &Record) -> Record {
    Record {
        plan_ms: None,
        wall_ms: None,
        experiment: String::new(),
        note: String::new(),
        optimum_us: None,
        optimum_gap: None,
        faults: String::new(),
        ..r.as_written()
    }
}

/// Returns whether the case failed for a reason that may not occur if it is run again.
fn is_transient_failure(r: &Record) -> bool {
    matches!(r.status, Status::Timeout | Status::Crashed | Status::Error)
}

/// Groups the rows of files. If a row is duplicated, only one copy counts. If a case failed for a
/// transient reason and was run again, both rows count. If two rows of a case differ in any other
/// way, that is an error.
pub(super) fn group_rows(
    files: &[(String, Vec<Record>)],
    by: By,
) -> Result<GroupedRows<'_>, CompareError> {
    // Groups are in the order of their first rows.
    let mut groups: IndexMap<GroupKey<'_>, Vec<(&Record, RowLocation)>> = IndexMap::new();
    let mut notes = Vec::new();
    let mut known: HashMap<CaseId<&str>, Vec<KnownRow<'_>>> = HashMap::new();
    for (file_number, (file, records)) in files.iter().enumerate() {
        let (mut duplicates, mut reruns) = (0, 0);
        for (row, record) in records.iter().enumerate() {
            // Rows of one setting form a group.
            let found = KnownRow { record, file, row: row + 1 };
            let group = groups.entry((by.setting(record), by.fixed(record))).or_default();
            let same_case = known.entry(record.case()).or_default();
            // If the case has occurred before, this row is a duplicate, a contradiction, or a new
            // attempt after a transient failure.
            if same_case.iter().any(|other| comparable(other.record) == comparable(record)) {
                duplicates += 1;
                continue;
            }
            if !is_transient_failure(record)
                && let Some(other) =
                    same_case.iter().find(|other| !is_transient_failure(other.record))
            {
                return Err(contradiction(other, &found));
            }
            reruns += usize::from(!same_case.is_empty());
            same_case.push(found);
            group.push((record, RowLocation { file: file_number, row }));
        }
        // Tell users which rows do not count.
        let rows = |n: usize, one: &str, many: &str| {
            format!("{} {}", count(n, "row"), if n == 1 { one } else { many })
        };
        if duplicates > 0 {
            let verb = if duplicates == 1 { "is" } else { "are" };
            let text = count(duplicates, "duplicate row");
            notes.push(format!("{file}: {text} {verb} counted once"));
        }
        if reruns > 0 {
            let text = rows(
                reruns,
                "is of a case run again after it failed",
                "are of cases run again after they failed",
            );
            notes.push(format!("{file}: {text}; both outcomes are shown"));
        }
    }
    Ok(GroupedRows { groups: groups.into_values().collect(), notes })
}

fn contradiction(first: &KnownRow<'_>, second: &KnownRow<'_>) -> CompareError {
    CompareError::Contradiction {
        case: second.record.case().in_words(),
        first: first.place(),
        second: second.place(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::{failed, row};
    use crate::compare::{Comparison, compare};

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
        // Files with the same name but different digests are different inputs.
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
        assert_eq!(
            line.rows.iter().map(|(s, n)| (*s, *n)).collect::<Vec<_>>(),
            [(Status::Ok, 2), (Status::Timeout, 1)]
        );
    }
}
