use crate::case_id::{CaseId, Setting};
use crate::specs::short_machine;
use std::borrow::Cow;

/// Returns the command that writes the row of a case again. If other jobs ran at the same time, it
/// also writes their rows. In the new row, the name of the experiment is missing and the repetition
/// is 0.
pub fn command(case: &CaseId<&str>) -> String {
    format!("{} --out -", case.command())
}

impl<'a> Setting<&'a str> {
    /// Returns the definition of the machine or, if the row has none, its name.
    pub fn machine_spec(&self) -> &'a str {
        if self.machine_definition.is_empty() { self.machine } else { self.machine_definition }
    }

    /// Returns the machine, without its own name, as a preset with the values that differ from it.
    pub fn short_machine(&self) -> Cow<'a, str> {
        short_machine(self.machine_spec())
    }

    /// Returns the machine's name. If it does not determine all values, the definition follows.
    pub fn machine_in_full(&self) -> String {
        match self.short_machine() {
            short if short == self.machine => self.machine.to_owned(),
            short => format!("{} ({short})", self.machine),
        }
    }
}

impl CaseId<&str> {
    pub fn command(&self) -> String {
        let seed = self.seed.to_string();
        let flags = [
            ("--topology", self.setting.topology),
            ("--algorithm", self.implementation.algorithm),
            ("--workload", self.setting.workload),
            ("--machine", &self.setting.short_machine()),
            ("--seed", &seed),
        ];
        let companions = self.setting.together.split(" + ").filter(|job| !job.is_empty());
        let flags = flags.into_iter().chain(companions.map(|job| ("--beside", job)));
        let flags: Vec<String> =
            flags.map(|(flag, value)| format!("{flag} {}", quoted(value))).collect();
        format!("swapmeet run {}", flags.join(" "))
    }
}

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
    use crate::record::Record;

    #[test]
    fn the_command_has_all_specs_and_the_seed() {
        assert_eq!(
            command(&row("pex", 3, 1.0).case()),
            "swapmeet run --topology torus:4x4 --algorithm pex --workload uniform:64 --machine paragon --seed 45 --out -"
        );
    }

    #[test]
    fn names_of_an_experiment_are_replaced_by_their_definitions() {
        let mine = Record {
            machine: "mine:ports=2".to_owned(),
            machine_definition: "sp2:startup_us=1,ports=2".to_owned(),
            ..row("pex", 0, 1.0)
        };
        assert!(
            command(&mine.case()).contains("--machine sp2:startup_us=1,ports=2 "),
            "{}",
            command(&mine.case())
        );
    }

    #[test]
    fn specs_are_quoted_for_a_shell() {
        assert_eq!(quoted("rdn:1(torus:5x5)"), "'rdn:1(torus:5x5)'");
        assert_eq!(quoted("graph:it's.txt"), r"'graph:it'\''s.txt'");
    }
}
