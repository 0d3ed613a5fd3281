//! The command that makes a row again.

use crate::compare::machine_is;
use crate::record::Record;

/// The command that makes this row again, whatever experiment it came from: `swapmeet run` with the row's own specs and seed, an experiment's own
/// machine by what it stands for. Quoted for a POSIX shell. Its row has the same figures, as the first repetition of an experiment without a name.
pub fn command(record: &Record) -> String {
    let seed = record.seed.to_string();
    let machine = machine_spec(record);
    let flags = [
        ("--topology", record.topology.as_str()),
        ("--algorithm", &record.algorithm),
        ("--workload", &record.workload),
        ("--machine", &machine),
        ("--seed", &seed),
    ];
    let flags: Vec<String> = flags.iter().map(|(flag, value)| format!("{flag} {}", quoted(value))).collect();
    format!("swapmeet run {} --out -", flags.join(" "))
}

/// The row's machine without names of an experiment's own: what the name stands for, then what was set besides.
pub fn machine_spec(record: &Record) -> String {
    let base = machine_is(record);
    if base.is_empty() {
        return record.machine.clone();
    }
    match record.machine.split_once(':') {
        None => base.to_owned(),
        Some((_, set)) => format!("{base}{}{set}", if base.contains(':') { ',' } else { ':' }),
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
        let of = |machine: &str, note: &str| {
            machine_spec(&Record { machine: machine.to_owned(), note: note.to_owned(), ..row("pex", 0, 1.0) })
        };
        assert_eq!(of("mine", "priced in turns; mine is paragon"), "paragon");
        assert_eq!(of("mine:hop_us=1", "mine is paragon"), "paragon:hop_us=1");
        assert_eq!(of("mine:hop_us=1", "mine is sp2:ports=2"), "sp2:ports=2,hop_us=1");
        assert_eq!(of("paragon:hop_us=1", ""), "paragon:hop_us=1");
    }

    #[test]
    fn a_shell_sees_one_word_a_spec() {
        assert_eq!(quoted("rdn:1(torus:5x5)"), "'rdn:1(torus:5x5)'");
        assert_eq!(quoted("graph:it's.txt"), r"'graph:it'\''s.txt'");
    }
}
