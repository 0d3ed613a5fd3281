//! Rules for Open MPI's component coll/tuned, which reads two formats. This module writes both of
//! them.
//!
//! A rule applies from a minimum size on. For alltoall, allgather and gather, this size is the
//! block size times the number of ranks.

use super::rule::Parameter;
use super::{Algorithm, DecisionTable, DefaultChoice};
use serde_json::{Value, json};
use std::fmt::Write as _;

mod fixed;

const fn algorithm(
    collective: &'static str,
    ours: &'static str,
    name: &'static str,
    number: u32,
) -> Algorithm {
    Algorithm { collective, ours, name, number, fan: 0, parameter: None }
}

/// Returns an algorithm that sends segments along a single chain of ranks. By default, our
/// algorithm `ours` divides a block into 8 segments.
const fn chain(collective: &'static str, ours: &'static str) -> Algorithm {
    let chain = algorithm(collective, ours, "chain", 2);
    Algorithm { fan: 1, parameter: Some(Parameter::Segments(8)), ..chain }
}

/// The algorithms, with the numbers and names that `ompi_info --param coll tuned --level 9` prints.
/// All algorithms of release 4.1 are included.
pub(super) static ALGORITHMS: [Algorithm; 23] = [
    algorithm("alltoall", "linear", "linear", 1),
    algorithm("alltoall", "pairwise", "pairwise", 2),
    algorithm("alltoall", "bruck", "modified_bruck", 3),
    Algorithm {
        parameter: Some(Parameter::Window(32)),
        ..algorithm("alltoall", "linear-sync", "linear_sync", 4)
    },
    algorithm("allgather", "linear", "linear", 1),
    // From Open MPI 6 on, the fan-out in a rule for Bruck's allgather is the radix of the
    // algorithm.
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

/// Returns three properties of a collective: Open MPI's number, Open MPI's name, and whether the
/// size in rules is the block size times the number of ranks.
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

/// Returns the size by which Open MPI finds the rule for a case with this block size.
fn compared(bytes: u64, ranks: u64, is_times_ranks: bool) -> u64 {
    if is_times_ranks { bytes.saturating_mul(ranks) } else { bytes }
}

pub(super) fn defaults(_: Option<&str>) -> Result<Option<DefaultChoice>, String> {
    fixed::chooser().map(Some)
}

/// Formats rules in the text format. In version 2 of the format, each rule also has a maximum
/// number of requests (messages in flight).
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
        // Add an entry for fewer ranks than in the sweep, so that Open MPI makes its own choice
        // there. Without this entry, Open MPI would use the first entry for them.
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
