//! Rules for Open MPI's component coll/tuned, in its two formats. A rule applies from a minimum
//! size on. For alltoall, allgather and gather, this size is the block size times the number of
//! ranks.

use super::{Algorithm, Choice, DecisionTable, DefaultChoice, Parameter, Rule};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;

const fn algorithm(
    collective: &'static str,
    ours: &'static str,
    name: &'static str,
    number: u32,
) -> Algorithm {
    Algorithm { collective, ours, name, number, fan: 0, parameter: None }
}

/// Segments of a block are sent along a chain of ranks. Our algorithm has 8 by default.
const fn chain(collective: &'static str, ours: &'static str) -> Algorithm {
    let chain = algorithm(collective, ours, "chain", 2);
    Algorithm { fan: 1, parameter: Some(Parameter::Segments(8)), ..chain }
}

/// The algorithms of release 4.1 (`ompi_info --param coll tuned --level 9`).
pub(super) static ALGORITHMS: [Algorithm; 23] = [
    algorithm("alltoall", "linear", "linear", 1),
    algorithm("alltoall", "pairwise", "pairwise", 2),
    algorithm("alltoall", "bruck", "modified_bruck", 3),
    Algorithm {
        parameter: Some(Parameter::Window(32)),
        ..algorithm("alltoall", "linear-sync", "linear_sync", 4)
    },
    algorithm("allgather", "linear", "linear", 1),
    // From Open MPI 6 on, the fan-out in a rule for Bruck's allgather is its radix.
    Algorithm { fan: 2, ..algorithm("allgather", "bruck", "bruck", 2) },
    algorithm("allgather", "recursive-doubling-allgather", "recursive_doubling", 3),
    algorithm("allgather", "ring", "ring", 4),
    algorithm("allgather", "neighbour-allgather", "neighbor", 5),
    algorithm("broadcast", "linear", "basic_linear", 1),
    chain("broadcast", "chain-broadcast"),
    algorithm("broadcast", "binomial-broadcast", "binomial", 6),
    algorithm("broadcast", "scatter-allgather", "scatter_allgather", 8),
    algorithm("gather", "linear", "basic_linear", 1),
    algorithm("gather", "binomial-gather", "binomial", 2),
    algorithm("scatter", "linear", "basic_linear", 1),
    algorithm("scatter", "binomial-scatter", "binomial", 2),
    algorithm("allreduce", "recursive-doubling-allreduce", "recursive_doubling", 3),
    algorithm("allreduce", "ring-allreduce", "ring", 4),
    algorithm("allreduce", "rabenseifner-allreduce", "rabenseifner", 6),
    algorithm("reduce", "linear", "linear", 1),
    chain("reduce", "chain-reduce"),
    algorithm("reduce", "binomial-reduce", "binomial", 5),
];

/// Returns Open MPI's number and name of a collective, and whether its rules multiply by ranks.
fn collective(word: &str) -> Option<(u32, &'static str, bool)> {
    Some(match word {
        "allgather" => (0, "allgather", true),
        "allreduce" => (2, "allreduce", false),
        "alltoall" => (3, "alltoall", true),
        "broadcast" => (7, "bcast", false),
        "gather" => (9, "gather", true),
        "reduce" => (11, "reduce", false),
        "scatter" => (15, "scatter", false),
        _ => return None,
    })
}

fn compared(bytes: u64, ranks: u64, is_times_ranks: bool) -> u64 {
    if is_times_ranks { bytes.saturating_mul(ranks) } else { bytes }
}

pub(super) fn defaults(_: Option<&str>) -> Result<Option<DefaultChoice>, String> {
    chooser().map(Some)
}

/// From version 2 of the text format on, rules also limit requests (messages in flight).
pub(super) fn classic(tables: &[DecisionTable], version: u32) -> String {
    let with_requests = version >= 2;
    let known: Vec<_> =
        tables.iter().filter_map(|table| Some((table, collective(table.collective)?))).collect();
    // The version must be at the very start of the file.
    let mut out =
        if with_requests { format!("rule-file-version-{version}\n") } else { String::new() };
    let _ = writeln!(out, "{}  # collectives", known.len());
    let requests = |limit: u64| if with_requests { format!(" {limit}") } else { String::new() };
    for (table, (number, name, times)) in known {
        // Without this entry, Open MPI would also use the first rule for fewer ranks.
        let guard = table.entries.first().is_some_and(|(ranks, _)| *ranks > 1);
        let _ = writeln!(
            out,
            "{number}  # {name}\n{}  # numbers of ranks",
            table.entries.len() + usize::from(guard)
        );
        if guard {
            let _ = writeln!(
                out,
                "1  # fewer ranks than the sweep had: Open MPI's own decision\n1\n0 0 0 0{}",
                requests(0)
            );
        }
        for (ranks, rules) in &table.entries {
            let _ = writeln!(
                out,
                "{ranks}  # ranks\n{}  # rules: from bytes, algorithm, fan, segment{}",
                rules.len(),
                if with_requests { ", requests" } else { "" }
            );
            for (bytes, rule) in rules {
                let algorithm = &rule.algorithm;
                let _ = writeln!(
                    out,
                    "{} {} {} {}{}  # {}",
                    compared(*bytes, *ranks, times),
                    algorithm.number,
                    algorithm.fan,
                    rule.segment_bytes,
                    requests(rule.max_requests),
                    algorithm.name
                );
            }
        }
    }
    out
}

pub(super) fn json(tables: &[DecisionTable]) -> String {
    let mut collectives = serde_json::Map::new();
    for table in tables {
        let Some((_, name, times)) = collective(table.collective) else { continue };
        let ends = table
            .entries
            .iter()
            .skip(1)
            .map(|(ranks, _)| Value::from(ranks - 1))
            .chain([Value::from("inf")]);
        let entries = table.entries.iter().zip(ends).map(|((ranks, rules), last)| {
            let ends = rules.iter().skip(1).map(|(bytes, _)| Value::from(compared(*bytes, *ranks, times) - 1));
            let rules = rules.iter().zip(ends.chain([Value::from("inf")])).map(|((bytes, rule), last)| {
                let mut members = json!({ "msg_size_min": compared(*bytes, *ranks, times), "msg_size_max": last, "alg": rule.algorithm.name });
                let parameters = [("faninout", rule.algorithm.fan.into()), ("seg_size", rule.segment_bytes), ("reqs", rule.max_requests)];
                for (key, value) in parameters.into_iter().filter(|(_, value)| *value > 0) {
                    members[key] = value.into();
                }
                members
            });
            json!({ "comm_size_min": ranks, "comm_size_max": last, "rules": rules.collect::<Value>() })
        });
        collectives.insert(name.to_owned(), entries.collect());
    }
    format!(
        "{:#}\n",
        json!({ "rule_file_version": 3, "module": "tuned", "collectives": collectives })
    )
}

const DECISIONS: &str = include_str!("openmpi/fixed-4.1.txt");

type Rules = Vec<(u64, usize)>;

#[derive(Debug, Default)]
struct Decisions<'a> {
    names: Vec<&'a str>,
    /// Each minimum number of ranks, with its minimum numbers of bytes and their algorithms.
    entries: Vec<(u64, Rules)>,
}

fn chooser() -> Result<DefaultChoice, String> {
    let decisions = read(DECISIONS)?;
    Ok(Box::new(move |case| {
        let of = decisions.get(&*case.collective)?;
        let (_, rules) = of.entries.iter().rev().find(|(ranks, _)| *ranks <= case.ranks)?;
        let (_, number) = rules.iter().rev().find(|(bytes, _)| *bytes <= case.bytes)?;
        let number = executed_algorithm(&case.collective, *number, case.ranks);
        let ours = ALGORITHMS
            .iter()
            .find(|a| a.collective == case.collective && a.number as usize == number);
        let theirs = (*of.names.get(number - 1)?).to_owned();
        // Open MPI's default choices neither divide messages nor limit those in flight.
        Some(Choice { rule: ours.map(|a| Rule::from(*a)), theirs })
    }))
}

/// If `number` is chosen for an allgather, returns the number of the algorithm that Open MPI
/// executes. Instead of recursive doubling, it executes Bruck's algorithm if `ranks` is no power of
/// two. Instead of the neighbour exchange, it executes a ring if `ranks` is odd.
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
        let case = TimedCase {
            collective: collective.to_owned(),
            ranks,
            bytes,
            algorithm: String::new(),
            protocol: String::new(),
            system: None,
            time_us: 1.0,
        };
        chooser().unwrap()(&case).unwrap().theirs
    }

    /// The source is `coll_tuned_decision_fixed.c` of Open MPI 4.1.
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
