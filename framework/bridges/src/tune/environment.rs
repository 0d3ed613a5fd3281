//! Decision tables as environment variables: `CCL_ALLREDUCE=..` for oneCCL (uxlfoundation/oneCCL
//! b382bf7, src/coll/selection) and `UCC_TL_UCP_TUNE=..` for UCC (openucx/ucc 8263de4,
//! src/components/tl/ucp; docs/user_guide.md). Algorithms that need further settings, such as UCC's
//! `knomial`, have no rules.

use super::{Algorithm, DecisionTable, algorithm};

pub(super) static ONECCL: [Algorithm; 7] = [
    algorithm("allgather", "linear", "naive"),
    algorithm("allgather", "ring", "ring"),
    algorithm("allreduce", "recursive-doubling-allreduce", "recursive_doubling"),
    algorithm("allreduce", "rabenseifner-allreduce", "rabenseifner"),
    algorithm("allreduce", "ring-allreduce", "ring"),
    algorithm("alltoall", "linear", "naive"),
    algorithm("reduce-scatter", "ring-reduce-scatter", "ring"),
];

pub(super) static UCC: [Algorithm; 8] = [
    algorithm("allgather", "bruck", "bruck"),
    algorithm("allgather", "linear", "linear"),
    algorithm("allgather", "neighbour-allgather", "neighbor"),
    algorithm("allgather", "ring", "ring"),
    algorithm("allreduce", "ring-allreduce", "ring"),
    algorithm("alltoall", "bruck", "bruck"),
    algorithm("alltoall", "pairwise", "pairwise"),
    algorithm("reduce-scatter", "ring-reduce-scatter", "ring"),
];

/// Writes a line for each collective, for any number of ranks. oneCCL compares the block size.
pub(super) fn oneccl(tables: &[DecisionTable]) -> Result<String, String> {
    let mut out = String::new();
    for table in tables {
        let [(_, rules)] = table.entries.as_slice() else {
            let ranks: Vec<String> = table.entries.iter().map(|(n, _)| n.to_string()).collect();
            return Err(format!(
                "{}: a setting of oneCCL applies to all numbers of ranks, and the rows have {}: expected rows of one number",
                table.collective,
                ranks.join(", ")
            ));
        };
        let ends = rules.iter().skip(1).map(|(bytes, _)| (bytes - 1).to_string());
        let ranges: Vec<String> = rules
            .iter()
            .zip(ends.chain(["max".to_owned()]))
            .map(|((first, rule), last)| format!("{}:{first}-{last}", rule.algorithm.name))
            .collect();
        let name = table.collective.replace('-', "_").to_uppercase();
        out += &format!("CCL_{name}=\"{}\"\n", ranges.join(";"));
    }
    Ok(out)
}

/// Writes a single line. UCC compares the bytes of the receive buffer. For allgather and
/// all-to-all, these are the bytes of a block times the number of ranks. The upper end of a range
/// is excluded.
pub(super) fn ucc(tables: &[DecisionTable]) -> String {
    let mut tokens = Vec::new();
    for table in tables {
        for (ranks, rules) in &table.entries {
            let whole = |bytes: u64| match table.collective {
                "allgather" | "alltoall" => bytes.saturating_mul(*ranks),
                _ => bytes,
            };
            let ends = rules.iter().skip(1).map(|(bytes, _)| whole(*bytes).to_string());
            for ((first, rule), last) in rules.iter().zip(ends.chain(["inf".to_owned()])) {
                tokens.push(format!(
                    "{}:{}-{last}:[{ranks}]:@{}",
                    table.collective.replace('-', "_"),
                    whole(*first),
                    rule.algorithm.name
                ));
            }
        }
    }
    format!("UCC_TL_UCP_TUNE={}\n", tokens.join("#"))
}
