//! Open MPI's coll/tuned, in both formats that it reads.
//!
//! The size that it compares is not a block's everywhere: for alltoall, allgather and gather it is
//! the block times the ranks.

use super::{Algorithm, Chooser, Table};
use serde_json::{Value, json};
use std::fmt::Write as _;

mod fixed;

const fn both(
    collective: &'static str,
    ours: &'static str,
    name: &'static str,
    number: u32,
) -> Algorithm {
    Algorithm { collective, ours, name, number }
}

/// By the numbers and names of `ompi_info --param coll tuned --level 9`, those of 4.1 among them.
pub(super) static ALGORITHMS: [Algorithm; 22] = [
    both("alltoall", "linear", "linear", 1),
    both("alltoall", "pairwise", "pairwise", 2),
    both("alltoall", "bruck", "modified_bruck", 3),
    both("alltoall", "linear-sync", "linear_sync", 4),
    both("allgather", "linear", "linear", 1),
    both("allgather", "bruck", "bruck", 2),
    both("allgather", "recursive-doubling-allgather", "recursive_doubling", 3),
    both("allgather", "ring", "ring", 4),
    both("allgather", "neighbour-allgather", "neighbor", 5),
    both("broadcast", "linear", "basic_linear", 1),
    both("broadcast", "chain-broadcast", "chain", 2),
    both("broadcast", "binomial-broadcast", "binomial", 6),
    both("broadcast", "scatter-allgather", "scatter_allgather", 8),
    both("gather", "linear", "basic_linear", 1),
    both("gather", "binomial-gather", "binomial", 2),
    both("scatter", "linear", "basic_linear", 1),
    both("scatter", "binomial-scatter", "binomial", 2),
    both("allreduce", "recursive-doubling-allreduce", "recursive_doubling", 3),
    both("allreduce", "ring-allreduce", "ring", 4),
    both("allreduce", "rabenseifner-allreduce", "rabenseifner", 6),
    both("reduce", "linear", "linear", 1),
    both("reduce", "binomial-reduce", "binomial", 5),
];

/// Its number of a collective, its name, and whether the size that is compared is a block times the
/// ranks.
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

/// The size that is compared.
fn compared(bytes: u64, ranks: u64, is_times_ranks: bool) -> u64 {
    if is_times_ranks { bytes.saturating_mul(ranks) } else { bytes }
}

/// What it does without a file.
pub(super) fn own(_: Option<&str>) -> Result<Option<Chooser>, String> {
    fixed::chooser().map(Some)
}

pub(super) fn classic(tables: &[Table]) -> String {
    let known: Vec<_> =
        tables.iter().filter_map(|table| Some((table, collective(table.collective)?))).collect();
    let mut out = format!("{}  # collectives\n", known.len());
    for (table, (number, name, times)) in known {
        // Fewer ranks than the first entry's would take that entry, not Open MPI's own decision.
        let guard = table.entries.first().is_some_and(|(ranks, _)| *ranks > 1);
        let _ = writeln!(
            out,
            "{number}  # {name}\n{}  # numbers of ranks",
            table.entries.len() + usize::from(guard)
        );
        if guard {
            let _ = writeln!(
                out,
                "1  # fewer ranks than the sweep had: Open MPI's own decision\n1\n0 0 0 0"
            );
        }
        for (ranks, rules) in &table.entries {
            let _ = writeln!(
                out,
                "{ranks}  # ranks\n{}  # rules: from bytes, algorithm, fan, segment",
                rules.len()
            );
            for (bytes, algorithm) in rules {
                let _ = writeln!(
                    out,
                    "{} {} 0 0  # {}",
                    compared(*bytes, *ranks, times),
                    algorithm.number,
                    algorithm.name
                );
            }
        }
    }
    out
}

pub(super) fn json(tables: &[Table]) -> String {
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
            let rules = rules.iter().zip(ends.chain([Value::from("inf")])).map(|((bytes, algorithm), last)| {
                json!({ "msg_size_min": compared(*bytes, *ranks, times), "msg_size_max": last, "alg": algorithm.name })
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
