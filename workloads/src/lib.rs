//! Workload generators: how many bytes each node has for each other.
//!
//! A workload is a spec such as `uniform:64` or `broadcast/uniform:1KiB`: a collective (none means `alltoall`) and a generator of sizes.

use std::fmt;
use std::sync::Arc;
use swapmeet_core::collective::{BlockSizes, Collective};
use swapmeet_core::spec::{Spec, SpecError, format_size, near_matches, parse_size};

/// A workload as the user named it.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    collective: &'static str,
    sizes: Sizes,
}

#[derive(Debug, Clone, PartialEq)]
enum Sizes {
    Uniform { bytes: u64 },
}

/// A workload on a machine of so many nodes, from a seed.
#[derive(Debug, Clone)]
pub struct Demand {
    /// What is to reach whom.
    pub collective: Collective,
    /// Sizes of blocks; `None` for uniform ones.
    pub sizes: Option<Arc<dyn BlockSizes>>,
    /// Bytes of each block when sizes are uniform, else of the largest.
    pub block_bytes: u64,
}

/// A generator of sizes, for lists.
#[derive(Debug)]
pub struct Generator {
    /// The name before the colon.
    pub name: &'static str,
    /// What comes after it.
    pub syntax: &'static str,
    /// One line.
    pub help: &'static str,
}

/// All generators.
pub fn generators() -> &'static [Generator] {
    &[Generator { name: "uniform", syntax: "uniform:SIZE", help: "every node has SIZE bytes for every other" }]
}

/// Collectives that a workload can be for, with what they are; `alltoall` is the default.
pub const COLLECTIVES: [(&str, &str); 5] = [
    ("alltoall", "every node has a block for every other"),
    ("broadcast", "node 0 has one block, which everyone is to have"),
    ("scatter", "node 0 has a block for each"),
    ("gather", "each has a block for node 0"),
    ("allgather", "each has a block that everyone is to have"),
];

impl Workload {
    /// Reads a spec.
    ///
    /// ```
    /// use swapmeet_workloads::Workload;
    /// let workload = Workload::parse("broadcast/uniform:1024").unwrap();
    /// assert_eq!(workload.to_string(), "broadcast/uniform:1KiB");
    /// let error = Workload::parse("uniform:4KB").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "workload `uniform:4KB`: expected a size such as 64, 64B, 4KiB or 1MiB: sizes count in powers of 1024, write KiB, found `4KB`"
    /// );
    /// ```
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let spec = Spec::parse("workload", text)?;
        let (collective, name) = match spec.name().split_once('/') {
            None => ("alltoall", spec.name()),
            Some((prefix, name)) => match COLLECTIVES.iter().find(|(word, _)| *word == prefix) {
                Some((word, _)) => (*word, name),
                None => {
                    let words = COLLECTIVES.iter().map(|(word, _)| *word);
                    let mut error = spec.error(0, prefix.len(), &format!("unknown collective `{prefix}`"));
                    error.near = near_matches(prefix, words.clone());
                    if error.near.is_empty() {
                        error.message += &format!(", expected one of {}", words.collect::<Vec<_>>().join(", "));
                    }
                    return Err(error);
                }
            },
        };
        let sizes = match name {
            "uniform" => {
                let arg = spec.only_word("a size, as in `uniform:64`")?;
                let bytes = parse_size(arg.value()).map_err(|expected| spec.bad_value(arg, &expected))?;
                /// Beyond it sums over all pairs of a large machine overflow.
                const MOST: u64 = 1 << 40;
                if bytes > MOST {
                    return Err(spec.bad_value(arg, "a size of at most 1024GiB a pair"));
                }
                Sizes::Uniform { bytes }
            }
            unknown => {
                let known = generators().iter().map(|g| g.name);
                let at = spec.name().len() - unknown.len();
                let mut error = spec.error(at, unknown.len(), &format!("unknown generator `{unknown}`"));
                error.near = near_matches(unknown, known.clone());
                if error.near.is_empty() {
                    error.message += &format!(", expected one of {}", known.collect::<Vec<_>>().join(", "));
                }
                return Err(error);
            }
        };
        Ok(Self { collective, sizes })
    }

    /// What is to reach whom, in a word.
    pub fn collective(&self) -> &'static str {
        self.collective
    }

    /// Whether all blocks have the same size.
    pub fn is_uniform(&self) -> bool {
        matches!(self.sizes, Sizes::Uniform { .. })
    }

    /// Bytes of each block when sizes are uniform, else 0.
    pub fn block_bytes(&self) -> u64 {
        match self.sizes {
            Sizes::Uniform { bytes } => bytes,
        }
    }

    /// Whether the two differ in nothing but the size of uniform blocks.
    pub fn same_shape(&self, other: &Self) -> bool {
        self.collective == other.collective && (self == other || (self.is_uniform() && other.is_uniform()))
    }

    /// The workload among so many nodes. `Err` says why there is none.
    pub fn demand(&self, nodes: u64, seed: u64) -> Result<Demand, String> {
        let _ = (nodes, seed); // uniform sizes need neither
        let collective = match self.collective {
            "broadcast" => Collective::Broadcast { root: 0 },
            "scatter" => Collective::Scatter { root: 0 },
            "gather" => Collective::Gather { root: 0 },
            "allgather" => Collective::AllGather,
            _ => Collective::AllToAll,
        };
        match self.sizes {
            Sizes::Uniform { bytes } => Ok(Demand { collective, sizes: None, block_bytes: bytes }),
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.collective != "alltoall" {
            write!(f, "{}/", self.collective)?;
        }
        match self.sizes {
            Sizes::Uniform { bytes } => write!(f, "uniform:{}", format_size(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Workload::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn specs_print_in_one_form() {
        for (given, printed) in [
            ("uniform:64", "uniform:64"),
            ("uniform:64B", "uniform:64"),
            ("alltoall/uniform:4096", "uniform:4KiB"),
            ("gather/uniform:0", "gather/uniform:0"),
        ] {
            assert_eq!(Workload::parse(given).unwrap().to_string(), printed);
        }
    }

    #[test]
    fn unknown_names_come_with_near_ones() {
        assert_eq!(error("unifrom:64"), "workload `unifrom:64`: unknown generator `unifrom`; did you mean `uniform`?");
        assert_eq!(
            error("brodcast/uniform:64"),
            "workload `brodcast/uniform:64`: unknown collective `brodcast`; did you mean `broadcast`?"
        );
        assert_eq!(error("zipf:2"), "workload `zipf:2`: unknown generator `zipf`, expected one of uniform");
        assert_eq!(error("uniform"), "workload `uniform`: expected a size, as in `uniform:64`");
        assert_eq!(
            error("uniform:2TiB").split(": ").nth(1),
            Some("expected a size such as 64, 64B, 4KiB or 1MiB, found `2TiB`")
        );
        assert_eq!(
            error("uniform:2000GiB"),
            "workload `uniform:2000GiB`: expected a size of at most 1024GiB a pair, found `2000GiB`"
        );
    }
}
