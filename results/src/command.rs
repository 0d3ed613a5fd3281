//! The command that makes a row again.

use crate::case_id::{CaseId, Setting};
use crate::record::Record;

/// The command that makes this row again, whatever experiment it came from. Its row has the same
/// figures, as the first repetition of an experiment without a name.
pub fn command(record: &Record) -> String {
    format!("{} --out -", record.case().command())
}

impl<'a> Setting<&'a str> {
    /// The machine as a spec of presets: an experiment's own by what it stands for.
    pub fn machine_spec(&self) -> &'a str {
        if self.machine_definition.is_empty() { self.machine } else { self.machine_definition }
    }
}

impl CaseId<&str> {
    /// The command that runs the case: `swapmeet run` with its specs and seed, quoted for a POSIX
    /// shell.
    pub fn command(&self) -> String {
        let seed = self.seed.to_string();
        let flags = [
            ("--topology", self.setting.topology),
            ("--algorithm", self.implementation.algorithm),
            ("--workload", self.setting.workload),
            ("--machine", self.setting.machine_spec()),
            ("--seed", &seed),
        ];
        let flags: Vec<String> =
            flags.iter().map(|(flag, value)| format!("{flag} {}", quoted(value))).collect();
        format!("swapmeet run {}", flags.join(" "))
    }
}

/// A word as a POSIX shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=:,./+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::row;

    #[test]
    fn the_row_says_all_that_is_needed() {
        assert_eq!(
            command(&row("pex", 3, 1.0)),
            "swapmeet run --topology torus:4x4 --algorithm pex --workload uniform:64 --machine paragon --seed 45 --out -"
        );
    }

    #[test]
    fn names_of_an_experiment_are_replaced_by_what_they_stand_for() {
        let mine = Record {
            machine: "mine:ports=2".to_owned(),
            machine_definition: "sp2:startup_us=1,ports=2".to_owned(),
            ..row("pex", 0, 1.0)
        };
        assert!(
            command(&mine).contains("--machine sp2:startup_us=1,ports=2 "),
            "{}",
            command(&mine)
        );
    }

    #[test]
    fn a_shell_sees_one_word_a_spec() {
        assert_eq!(quoted("rdn:1(torus:5x5)"), "'rdn:1(torus:5x5)'");
        assert_eq!(quoted("graph:it's.txt"), r"'graph:it'\''s.txt'");
    }
}
