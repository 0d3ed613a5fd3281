//! Workload generators: how many bytes each node has for each other.
//!
//! A workload is a spec such as `uniform:64` or `broadcast/uniform:1KiB`: a collective (none means `alltoall`) and a generator of sizes. Random ones
//! draw from ChaCha8 seeded by the case, the same on every platform and version.

use permutation::Permutation;
use std::fmt;
use std::sync::Arc;
use swapmeet_core::delivery::collective::{BlockSizes, Collective};
use swapmeet_core::network::topology::Topology;
use swapmeet_core::spec::{SpecError, format_size};

pub mod file;
mod fingerprint;
mod irregular;
mod matrix;
mod parse;
mod permutation;
mod spikes;

pub use fingerprint::fingerprint;
pub use irregular::{Distribution, Shape};
pub use matrix::{Matrix, MatrixError};
pub use permutation::PERMUTATIONS;
pub use spikes::Spikes;

/// A workload as the user named it.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    collective: &'static str,
    /// Which, if the collective is one.
    permutation: Option<Permutation>,
    sizes: Sizes,
    /// The unit that algorithms deal out which deal single elements, in bytes.
    element: u64,
}

#[derive(Debug, Clone, PartialEq)]
enum Sizes {
    Uniform { bytes: u64 },
    OneSpike { max: u64, rest: u64 },
    Transpose { max: u64, rest: u64 },
    Irregular(Distribution),
    Matrix { file: String, matrix: Arc<Matrix>, fingerprint: String },
}

/// A workload on a topology, from a seed.
#[derive(Debug, Clone)]
pub struct Traffic {
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
    &[
        Generator {
            name: "uniform",
            syntax: "uniform:SIZE",
            help: "every node has SIZE bytes for every node (also for itself, which need not travel)",
        },
        Generator {
            name: "one-spike",
            syntax: "one-spike:max=SIZE,rest=SIZE",
            help: "each node has max bytes for one node drawn at random, rest for all others",
        },
        Generator {
            name: "transpose",
            syntax: "transpose:max=SIZE,rest=SIZE",
            help: "nodes as a square array: (r, c) has max bytes for (c, r), rest for all others",
        },
        Generator {
            name: "irregular",
            syntax: "irregular:dist=NAME,mean=SIZE,cv=X",
            help: "every size at random: uniform, exponential, lognormal, pareto or bimodal (one in ten large); cv is standard deviation over mean; pareto with 1 or more mostly draws less, its tail being seldom drawn",
        },
        Generator {
            name: "matrix",
            syntax: "matrix:FILE.csv",
            help: "N rows of N byte counts, row = sender, no header; the diagonal is what a node has for itself",
        },
    ]
}

/// Collectives that a workload can be for, with what they are; `alltoall` is the default.
pub const COLLECTIVES: [(&str, &str); 6] = [
    ("alltoall", "every node has a block for every node; its own is there already"),
    ("broadcast", "node 0 has one block, which everyone is to have"),
    ("scatter", "node 0 has a block for each"),
    ("gather", "each has a block for node 0"),
    ("allgather", "each has a block that everyone is to have"),
    ("permutation", "each has a block for one other"),
];

impl Workload {
    /// Reads a spec; `matrix:FILE` reads the file too.
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
        parse::parse(text)
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
            _ => 0,
        }
    }

    /// The unit in which dealing algorithms deal, in bytes.
    pub fn element_bytes(&self) -> u64 {
        self.element
    }

    /// What the file was that sizes came from, if they did: see [`fingerprint`].
    pub fn made_of(&self) -> Option<&str> {
        match &self.sizes {
            Sizes::Matrix { fingerprint, .. } => Some(fingerprint),
            _ => None,
        }
    }

    /// Whether the two differ in nothing but the size of uniform blocks.
    pub fn same_shape(&self, other: &Self) -> bool {
        let uniform = self.is_uniform() && other.is_uniform() && self.element == other.element;
        self == other || (self.collective == other.collective && self.permutation == other.permutation && uniform)
    }

    /// The workload among the nodes of a topology. `Err` says why there is none.
    pub fn traffic(&self, topology: &dyn Topology, seed: u64) -> Result<Traffic, String> {
        let nodes = topology.nodes();
        let collective = match self.collective {
            "permutation" => self.permuted(topology)?,
            "broadcast" => Collective::Broadcast { root: 0 },
            "scatter" => Collective::Scatter { root: 0 },
            "gather" => Collective::Gather { root: 0 },
            "allgather" => Collective::AllGather,
            _ => Collective::AllToAll,
        };
        let sizes: Arc<dyn BlockSizes> = match &self.sizes {
            Sizes::Uniform { bytes } => return Ok(Traffic { collective, sizes: None, block_bytes: *bytes }),
            Sizes::OneSpike { max, rest } => Arc::new(Spikes::at_random(nodes, *max, *rest, seed)),
            Sizes::Transpose { max, rest } => Arc::new(Spikes::transpose(nodes, *max, *rest).ok_or_else(|| {
                format!("`{self}` needs a square number of nodes, to be transposed as an array; there are {nodes}")
            })?),
            Sizes::Irregular(_) if nodes > Matrix::MOST_NODES => {
                return Err(format!(
                    "`{self}` has a size for every pair: at most {} nodes, there are {nodes}",
                    Matrix::MOST_NODES
                ));
            }
            Sizes::Irregular(distribution) => Arc::new(distribution.matrix(nodes, self.element, seed)),
            Sizes::Matrix { matrix, .. } if matrix.nodes() != nodes => {
                return Err(format!("`{self}` is for {} nodes, there are {nodes}", matrix.nodes()));
            }
            Sizes::Matrix { matrix, .. } => Arc::clone(matrix) as Arc<dyn BlockSizes>,
        };
        // Every block moves at most once a step, so no sum of a step is above this one.
        let largest = sizes.largest();
        if u128::from(largest) * u128::from(nodes) * u128::from(nodes) > u128::from(u64::MAX / 2) {
            return Err(format!("`{self}` among {nodes} nodes: blocks of up to {largest} bytes add up beyond 2^63"));
        }
        Ok(Traffic { collective, block_bytes: largest, sizes: Some(sizes) })
    }

    fn permuted(&self, topology: &dyn Topology) -> Result<Collective, String> {
        let permutation = self.permutation.as_ref().ok_or_else(|| format!("`{self}` names no permutation"))?;
        let to = permutation.images(topology.radices()).map_err(|why| format!("`{self}` {why}"))?;
        Ok(Collective::Permutation { name: permutation.to_string(), to })
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.collective != "alltoall" {
            write!(f, "{}/", self.collective)?;
        }
        if let (Some(permutation), Sizes::Uniform { bytes }) = (&self.permutation, &self.sizes) {
            let text = permutation.to_string();
            let (name, argument) = text.split_at(text.find(',').unwrap_or(text.len()));
            write!(f, "{name}:{}{argument}", format_size(*bytes))?;
            return if self.element == 1 { Ok(()) } else { write!(f, ",element={}", format_size(self.element)) };
        }
        match &self.sizes {
            Sizes::Uniform { bytes } => write!(f, "uniform:{}", format_size(*bytes))?,
            Sizes::OneSpike { max, rest } => {
                write!(f, "one-spike:max={},rest={}", format_size(*max), format_size(*rest))?;
            }
            Sizes::Transpose { max, rest } => {
                write!(f, "transpose:max={},rest={}", format_size(*max), format_size(*rest))?;
            }
            Sizes::Irregular(d) => {
                write!(f, "irregular:dist={},mean={},cv={}", d.shape, format_size(d.mean as u64), d.cv)?;
            }
            Sizes::Matrix { file, .. } => write!(f, "matrix:{file}")?,
        }
        if self.element == 1 { Ok(()) } else { write!(f, ",element={}", format_size(self.element)) }
    }
}
