//! The default choices of Open MPI 4.1, which Open MPI calls fixed decisions. They are read from
//! the data file `fixed-4.1.txt`.

use super::ALGORITHMS;
use crate::tune::{Choice, DefaultChoice, Rule};
use std::collections::HashMap;

const DECISIONS: &str = include_str!("fixed-4.1.txt");

/// A list of rules. Each rule consists of a minimum number of bytes, and the number of the
/// algorithm that is chosen from this number of bytes on.
type Rules = Vec<(u64, usize)>;

#[derive(Debug, Default)]
struct Decisions<'a> {
    names: Vec<&'a str>,
    /// A list of entries. Each entry consists of a minimum number of ranks, and the rules that
    /// apply from this number of ranks on.
    entries: Vec<(u64, Rules)>,
}

pub(super) fn chooser() -> Result<DefaultChoice, String> {
    let decisions = read(DECISIONS)?;
    Ok(Box::new(move |cell| {
        let of = decisions.get(&*cell.collective)?;
        let (_, rules) = of.entries.iter().rev().find(|(ranks, _)| *ranks <= cell.ranks)?;
        let (_, number) = rules.iter().rev().find(|(bytes, _)| *bytes <= cell.bytes)?;
        let number = executed_algorithm(&cell.collective, *number, cell.ranks);
        let ours = ALGORITHMS
            .iter()
            .find(|a| a.collective == cell.collective && a.number as usize == number);
        let theirs = (*of.names.get(number - 1)?).to_owned();
        // The default choices do not divide messages into segments and do not limit the number of
        // messages in flight.
        Some(Choice { rule: ours.map(|a| Rule::from(*a)), theirs })
    }))
}

/// Returns the number of the algorithm that Open MPI executes if the algorithm `number` is chosen.
/// The two algorithms differ in two cases of allgather:
/// * Recursive doubling needs a power of two ranks. For all other numbers of ranks, Open MPI
///   executes Bruck's algorithm.
/// * The neighbour exchange needs an even number of ranks. For odd numbers, Open MPI executes the
///   ring algorithm.
fn executed_algorithm(collective: &str, number: usize, ranks: u64) -> usize {
    match (collective, number) {
        ("allgather", 3) if !ranks.is_power_of_two() => 2,
        ("allgather", 5) if !ranks.is_multiple_of(2) => 4,
        (_, number) => number,
    }
}

fn read(text: &'static str) -> Result<HashMap<&'static str, Decisions<'static>>, String> {
    let mut decisions: HashMap<&str, Decisions<'_>> = HashMap::new();
    for (line, words) in (1..).zip(text.lines()).filter(|(_, words)| !words.starts_with('#')) {
        let wrong = || format!("Open MPI's decisions, line {line}: `{words}`");
        let mut words = words.split(' ');
        let first = words.next().ok_or_else(wrong)?;
        if first == "algorithms" {
            let collective = words.next().ok_or_else(wrong)?;
            decisions.entry(collective).or_default().names = words.collect();
            continue;
        }
        let of = decisions.get_mut(first).ok_or_else(wrong)?;
        let ranks = words.next().and_then(|word| word.parse().ok()).ok_or_else(wrong)?;
        let rule = |word: &str| {
            let (bytes, number) = word.split_once(':')?;
            let number =
                number.parse().ok().filter(|number| (1..=of.names.len()).contains(number))?;
            Some((bytes.parse().ok()?, number))
        };
        let rules = words.map(rule).collect::<Option<Rules>>().ok_or_else(wrong)?;
        of.entries.push((ranks, rules));
    }
    Ok(decisions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::TimedCase;

    fn chosen(collective: &str, ranks: u64, bytes: u64) -> String {
        let cell = TimedCase {
            collective: collective.to_owned(),
            ranks,
            bytes,
            algorithm: String::new(),
            time_us: 1.0,
        };
        chooser().unwrap()(&cell).unwrap().theirs
    }

    /// The test checks both sides of each size or number of ranks at which the choice changes. The
    /// expected choices are those of Open MPI 4.1's source (`coll_tuned_decision_fixed.c`).
    #[test]
    fn default_choices_match_open_mpis_source() {
        for (collective, ranks, bytes, expected) in [
            ("alltoall", 4, 8191, "linear_sync"),
            ("alltoall", 4, 8192, "linear"),
            ("alltoall", 7, 1 << 20, "linear"),
            ("alltoall", 16, 3, "linear_sync"),
            ("alltoall", 31, 511, "modified_bruck"),
            ("alltoall", 64, 262_144, "pairwise"),
            ("alltoall", 100_000, 2047, "modified_bruck"),
            ("allgather", 2, 1, "two_proc"),
            ("allgather", 16, 1 << 20, "recursive_doubling"),
            ("allgather", 63, 1024, "ring"),
            ("allgather", 62, 1024, "neighbor"),
            ("allgather", 12, 1, "bruck"),
            ("broadcast", 16, 4096, "binomial"),
            ("broadcast", 31, 1 << 20, "scatter_allgather"),
            ("gather", 4, 1024, "basic_linear"),
            ("scatter", 8, 16_384, "linear_nb"),
            ("allreduce", 16, 4096, "rabenseifner"),
            ("reduce", 200, 1, "binomial"),
        ] {
            assert_eq!(
                chosen(collective, ranks, bytes),
                expected,
                "{collective} on {ranks} ranks, {bytes} bytes"
            );
        }
        assert!(
            read(DECISIONS).unwrap().values().all(|of| of.entries[0].0 == 2 && of.names.len() >= 3)
        );
    }
}
