//! MPICH's tuning file in JSON (`MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE`). It consists of nested
//! objects whose keys are conditions. The key of an innermost object names the algorithm.
//! The file must cover all collectives, so the new rules are merged into MPICH's own file
//! (`generic.json`). For fewer ranks than in the sweep, MPICH's own choices remain. The order of
//! the keys is kept, because MPICH evaluates conditions in this order.

use super::{Algorithm, Choice, DecisionTable, DefaultChoice, Rule, algorithm};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt::{self, Write as _};

pub(super) static ALGORITHMS: [Algorithm; 11] = [
    algorithm("alltoall", "bruck", "MPIR_Alltoall_intra_brucks"),
    algorithm("alltoall", "pairwise", "MPIR_Alltoall_intra_pairwise"),
    algorithm("alltoall", "linear", "MPIR_Alltoall_intra_scattered"),
    algorithm("allgather", "bruck", "MPIR_Allgather_intra_brucks"),
    algorithm(
        "allgather",
        "recursive-doubling-allgather",
        "MPIR_Allgather_intra_recursive_doubling",
    ),
    algorithm("allgather", "ring", "MPIR_Allgather_intra_ring"),
    algorithm("broadcast", "binomial-broadcast", "MPIR_Bcast_intra_binomial"),
    algorithm("broadcast", "scatter-allgather", "MPIR_Bcast_intra_scatter_ring_allgather"),
    algorithm(
        "allreduce",
        "recursive-doubling-allreduce",
        "MPIR_Allreduce_intra_recursive_doubling",
    ),
    algorithm(
        "allreduce",
        "rabenseifner-allreduce",
        "MPIR_Allreduce_intra_reduce_scatter_allgather",
    ),
    algorithm("reduce", "binomial-reduce", "MPIR_Reduce_intra_binomial"),
];

/// Returns MPICH's name of a collective, the key of the size in conditions, and whether this size
/// is the block size times the number of ranks.
fn collective(word: &str) -> Option<(&'static str, &'static str, bool)> {
    Some(match word {
        "alltoall" => ("alltoall", "avg_msg_size", false),
        "allgather" => ("allgather", "total_msg_size", true),
        "broadcast" => ("bcast", "avg_msg_size", false),
        "allreduce" => ("allreduce", "avg_msg_size", false),
        "reduce" => ("reduce", "avg_msg_size", false),
        _ => return None,
    })
}

/// A JSON object whose members keep their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct JsonObject(Vec<(String, JsonObject)>);

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = JsonObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of objects, as in MPICH's generic.json")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonObject, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(JsonObject(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl JsonObject {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    fn member(&mut self, key: &str) -> Option<&mut Self> {
        self.0.iter_mut().find(|(known, _)| known == key).map(|(_, tree)| tree)
    }

    fn write(&self, depth: usize, out: &mut String) {
        if self.0.is_empty() {
            out.push_str("{}");
            return;
        }
        out.push_str("{\n");
        for (number, (key, tree)) in self.0.iter().enumerate() {
            // Keys are escaped, so that a key of the user's file can contain line breaks.
            let _ = write!(
                out,
                "{:1$}{key}: ",
                "",
                4 * (depth + 1),
                key = serde_json::Value::from(key.as_str())
            );
            tree.write(depth + 1, out);
            out.push_str(if number + 1 < self.0.len() { ",\n" } else { "\n" });
        }
        let _ = write!(out, "{:1$}}}", "", 4 * depth);
    }
}

fn one(key: impl Into<String>, tree: JsonObject) -> JsonObject {
    JsonObject(vec![(key.into(), tree)])
}

/// Returns the object that chooses an algorithm, or where it cannot be used, MPICH's choice.
fn leaf(name: &str) -> JsonObject {
    let plain = |name: &str| one(format!("algorithm={name}"), JsonObject::default());
    let either = |test: &str, tree: JsonObject, other: &str, else_: JsonObject| {
        JsonObject(vec![(test.to_owned(), tree), (other.to_owned(), else_)])
    };
    match name {
        "MPIR_Allgather_intra_recursive_doubling" => either(
            "comm_size=pow2",
            plain(name),
            "comm_size=any",
            plain("MPIR_Allgather_intra_brucks"),
        ),
        "MPIR_Allreduce_intra_reduce_scatter_allgather" => {
            let doubling = || plain("MPIR_Allreduce_intra_recursive_doubling");
            let many = either("count<pow2", doubling(), "count=any", plain(name));
            either("is_op_built_in=no", doubling(), "is_op_built_in=yes", many)
        }
        name => plain(name),
    }
}

pub(super) fn json(tables: &[DecisionTable], base: Option<&str>) -> Result<String, String> {
    let base = base.ok_or("MPICH's table must cover every collective: give its own (maint/tuning/coll/mpir/generic.json) with --base")?;
    let mut tree = JsonObject::read(base).map_err(|why| format!("--base: {why}"))?;
    for table in tables {
        let Some((word, compared, is_times_ranks)) = collective(table.collective) else { continue };
        let missing =
            |key: &str| format!("--base: it has no `{key}`, expected MPICH's generic.json");
        let key = format!("collective={word}");
        let mut place = tree.member(&key).ok_or_else(|| missing(&key))?;
        place = place
            .member("comm_type=intra")
            .ok_or_else(|| missing(&format!("{key} / comm_type=intra")))?;
        if word == "alltoall" {
            let inside = "is_sendbuf_inplace=no";
            place = place
                .member(inside)
                .ok_or_else(|| missing(&format!("{key} / comm_type=intra / {inside}")))?;
        }
        // Each rule except the last one has a condition on the size.
        let before = std::mem::take(place);
        let rules = |ranks: u64, rules: &[(u64, Rule)]| {
            let ends = rules.iter().skip(1).map(|(bytes, _)| {
                let bytes = if is_times_ranks { bytes.saturating_mul(ranks) } else { *bytes };
                format!("{compared}<={}", bytes.saturating_sub(1))
            });
            let ends = ends.chain([format!("{compared}=any")]);
            JsonObject(
                ends.zip(rules)
                    .map(|(test, (_, rule))| (test, leaf(rule.algorithm.name)))
                    .collect(),
            )
        };
        // For fewer ranks than in the sweep, the library's own rules remain.
        let entries = &table.entries;
        let first = entries.first().map_or(0, |(ranks, _)| *ranks);
        // MPICH 4.0 to 5.0 evaluates `comm_size<N` as `comm_size<=N`, so only conditions with `<=`
        // are written.
        let below = |ranks: u64| format!("comm_size<={}", ranks.saturating_sub(1));
        place.0.push((below(first), before));
        for (number, (ranks, list)) in entries.iter().enumerate() {
            let test = entries
                .get(number + 1)
                .map_or("comm_size=any".to_owned(), |(next, _)| below(*next));
            place.0.push((test, rules(*ranks, list)));
        }
    }
    let mut out = String::new();
    tree.write(0, &mut out);
    out.push('\n');
    Ok(out)
}

/// Returns MPICH's choices for one process per node, a built-in operation and separate buffers.
pub(super) fn defaults(base: Option<&str>) -> Result<Option<DefaultChoice>, String> {
    let tree = JsonObject::read(base.unwrap_or("{}")).map_err(|why| format!("--base: {why}"))?;
    Ok(Some(Box::new(move |case| {
        let theirs = chosen(&tree, &case.collective, case.ranks, case.bytes)?;
        let ours = ALGORITHMS.iter().find(|a| a.collective == case.collective && a.name == theirs);
        Some(Choice { rule: ours.map(|a| Rule::from(*a)), theirs: theirs.to_owned() })
    })))
}

fn chosen<'a>(tree: &'a JsonObject, word: &str, ranks: u64, bytes: u64) -> Option<&'a str> {
    let (theirs, ..) = collective(word)?;
    let mut at = tree
        .0
        .iter()
        .find(|(key, _)| *key == format!("collective={theirs}"))
        .map(|(_, tree)| tree)?;
    loop {
        let (key, next) = at.0.iter().find(|(key, _)| holds(key, word, ranks, bytes))?;
        if let Some(name) = key.strip_prefix("algorithm=") {
            return Some(name);
        }
        at = next;
    }
}

fn holds(key: &str, word: &str, ranks: u64, bytes: u64) -> bool {
    // A condition consists of a quantity, an operator and a bound, such as `comm_size<=4`.
    let split = key.find(['<', '=']).unwrap_or(key.len());
    let (what, test) = key.split_at(split);
    let whole = match word {
        "allgather" | "alltoall" => bytes.saturating_mul(ranks),
        _ => bytes,
    };
    // A condition without a number describes the environment. One process per node and separate
    // buffers are assumed, and for all other properties that begin with `is_`, the answer `yes`.
    let number = match what {
        "comm_size" => ranks,
        "avg_msg_size" => bytes,
        "per_proc_msg_size" | "total_msg_size" => whole,
        // `count` is a number of elements, which are assumed to have four bytes, as is most common.
        "count" => bytes / 4,
        "comm_avg_ppn" => 1,
        _ => {
            return match what {
                "algorithm" => true,
                "comm_type" => test == "=intra",
                "comm_hierarchy" => matches!(test, "=any" | "=flat"),
                "is_sendbuf_inplace" => test == "=no",
                other => other.starts_with("is_") && test == "=yes",
            };
        }
    };
    let (is, bound) =
        match (test.strip_prefix("<="), test.strip_prefix('<'), test.strip_prefix('=')) {
            (Some(bound), ..) => ("<=", bound),
            (None, Some(bound), _) => ("<", bound),
            (None, None, bound) => ("=", bound.unwrap_or_default()),
        };
    // Some bounds are words instead of numbers.
    let bound = match bound {
        "any" => return true,
        "pow2" if is == "=" => return number.is_power_of_two(),
        "pow2" => (ranks + 1).next_power_of_two() / 2,
        "node_comm_size" => 1,
        bound => match bound.parse() {
            Ok(bound) => bound,
            Err(_) => return false,
        },
    };
    match is {
        "<=" => number <= bound,
        "<" => number < bound,
        _ => number == bound,
    }
}
