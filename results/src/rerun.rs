use crate::case_id::Difference;
use crate::record::{Record, outcome_columns, required_columns};

impl Record {
    /// Returns the outcome columns in which two rows of a case differ. Durations, and columns that
    /// the old file lacks, are not compared.
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

    /// Returns the differences that can explain changed values: in the build, the version, the
    /// input files or the definition of the machine.
    pub fn reasons(&self, again: &Record) -> Vec<Difference> {
        let (mut ours, mut theirs) = (self.case(), again.case());
        // The rerun uses the definition of the machine and not its name, so names are not compared.
        let machines = [ours.setting.short_machine(), theirs.setting.short_machine()];
        for (case, machine) in [&mut ours, &mut theirs].into_iter().zip(&machines) {
            case.setting.machine = machine;
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
    fn plan_ms_and_wall_ms_may_differ() {
        let old = row("pex", 0, 1.0);
        let same = Record { plan_ms: Some(3.0), wall_ms: Some(4.0), ..old.clone() };
        assert_eq!(old.changes(&same), []);
        let other = Record { time_us: Some(2.0), steps: Some(5), ..old.clone() };
        assert_eq!(columns(old.changes(&other)), ["time_us", "steps"]);
    }

    #[test]
    fn columns_that_the_old_file_lacks_are_ignored() {
        let old = Record { bound_kind: String::new(), ..row("pex", 0, 1.0) };
        let again = Record { bound_kind: "a cut".to_owned(), ..old.clone() };
        assert_eq!(old.changes(&again), []);
    }

    #[test]
    fn a_machine_is_compared_by_its_definition() {
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
