//! Whether a row that was made again says the same, and if not, why that may be.

use crate::case_id::Difference;
use crate::record::{Record, outcome_columns, required_columns};

impl Record {
    /// The columns of figures in which a row made again differs from this one: none but the times
    /// that making it took may. A column that this row's file did not have yet is passed over.
    pub fn changes(&self, again: &Record) -> Vec<Difference> {
        let promised: Vec<&str> = required_columns().collect();
        let pairs = outcome_columns().zip(self.outcome().zip(again.outcome()));
        let differs = |column: &str, was: &str, is: &str| {
            let measured = matches!(column, "plan_ms" | "wall_ms");
            let is_new = was.is_empty() && !promised.contains(&column);
            was != is && !measured && !is_new
        };
        let change = |(column, (ours, theirs)): (&'static str, (String, String))| Difference {
            column,
            ours,
            theirs,
        };
        pairs.filter(|(column, (was, is))| differs(column, was, is)).map(change).collect()
    }

    /// What else is not as it was: another build or version, other files, another machine by the
    /// same name.
    pub fn reasons(&self, again: &Record) -> Vec<Difference> {
        let (mut ours, mut theirs) = (self.case(), again.case());
        // A machine of an experiment's own is run again as what it stands for.
        for case in [&mut ours, &mut theirs] {
            case.setting.machine = case.setting.machine_spec();
            (case.setting.machine_definition, case.repetition) = ("", 0);
        }
        let known = |difference: &Difference| !difference.ours.is_empty();
        ours.differences(&theirs).into_iter().filter(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::row;

    fn columns(differences: Vec<Difference>) -> Vec<&'static str> {
        differences.into_iter().map(|d| d.column).collect()
    }

    #[test]
    fn only_the_times_of_making_a_row_may_differ() {
        let old = row("pex", 0, 1.0);
        let same = Record { plan_ms: Some(3.0), wall_ms: Some(4.0), ..old.clone() };
        assert_eq!(old.changes(&same), []);
        let other = Record { time_us: Some(2.0), steps: Some(5), ..old.clone() };
        assert_eq!(columns(old.changes(&other)), ["time_us", "steps"]);
    }

    #[test]
    fn a_column_that_a_file_had_not_yet_is_passed_over() {
        let old = Record { bound_kind: String::new(), ..row("pex", 0, 1.0) };
        let again = Record { bound_kind: "a cut".to_owned(), ..old.clone() };
        assert_eq!(old.changes(&again), []);
    }

    #[test]
    fn an_own_machine_is_what_it_stands_for() {
        let spec = "paragon:startup_us=220".to_owned();
        let old = Record {
            machine: "mine".to_owned(),
            machine_definition: spec.clone(),
            ..row("pex", 3, 1.0)
        };
        let again = Record { machine: spec, repetition: 0, ..row("pex", 3, 1.0) };
        assert_eq!(old.reasons(&again), []);
        let built = Record { plugin_digest: "sha256:bb".to_owned(), ..again };
        let before = Record { plugin_digest: "sha256:aa".to_owned(), ..old };
        assert_eq!(columns(before.reasons(&built)), ["plugin_digest"]);
    }
}
