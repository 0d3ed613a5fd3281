//! Workload generators: how many bytes each node has for each other.
//!
//! A workload is a spec such as `uniform:64` or `broadcast/uniform:1KiB`: a collective (none means
//! `alltoall`) and a generator of sizes. Random ones draw from ChaCha8 seeded by the case, the same
//! on every platform and version.

use std::fmt;
use std::sync::Arc;
use swapmeet_core::delivery::collective::{Collective, CollectiveKind};
use swapmeet_core::network::topology::Topology;
use swapmeet_core::simulation::Task;
use swapmeet_core::spec::SpecError;

mod args;
mod axis;
mod digest;
pub mod experiments;
pub mod file;
mod generator;
mod lookup;
mod parse;
mod range;

pub use axis::CurveAxis;
pub use digest::{InputDigest, digest};
pub use generator::irregular::{Distribution, DistributionKind};
pub use generator::matrix::{Matrix, MatrixError};
pub use generator::spikes::Spikes;
pub use generator::{Generator, generators};
pub use lookup::is_random;
pub use range::expand;

/// A workload as the user named it.
#[derive(Debug, Clone)]
pub struct Workload {
    /// In canonical form.
    spec: Arc<str>,
    /// The same without the size of blocks, if it is uniform.
    shape: Option<Arc<str>>,
    collective: &'static CollectiveKind,
    generator: &'static Generator,
    pattern: Arc<dyn generator::Pattern>,
    /// Which of its repetitions, where each has a file of its own; else 0.
    replicate: u32,
    root: u64,
    /// The unit in which algorithms redistribute, in bytes.
    element: u64,
    /// Whether a message of no bytes is none.
    skip_empty: bool,
}

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

    /// What is to reach whom.
    pub fn collective(&self) -> &'static CollectiveKind {
        self.collective
    }

    /// The root, where there is one.
    pub fn root(&self) -> Option<u64> {
        self.collective.is_rooted().then_some(self.root)
    }

    /// Whether all blocks have the same size.
    pub fn is_uniform(&self) -> bool {
        self.pattern.uniform_bytes().is_some()
    }

    /// Bytes of each block when sizes are uniform, else 0.
    pub fn block_bytes(&self) -> u64 {
        self.pattern.uniform_bytes().unwrap_or(0)
    }

    /// The unit in which algorithms redistribute, in bytes.
    pub fn element_bytes(&self) -> u64 {
        self.element
    }

    /// The file that sizes came from, if they did.
    pub fn input(&self) -> Option<&InputDigest> {
        self.pattern.input()
    }

    /// How many repetitions it has, where each has a file of its own.
    pub fn replicates(&self) -> Option<u32> {
        self.pattern.replicates()
    }

    /// The workload of a repetition: itself, unless it is one of many files. `Err` says why there
    /// is none of that number.
    pub fn replicate(&self, repetition: u32) -> Result<Self, String> {
        let Some(count) = self.replicates() else { return Ok(self.clone()) };
        let pattern = self.pattern.replicate(repetition);
        let pattern = pattern.ok_or_else(|| {
            format!("`{self}` has {count} files, none for repetition {repetition}")
        })?;
        Ok(Self { pattern, replicate: repetition, ..self.clone() })
    }

    /// Whether the two differ in nothing but the size of uniform blocks.
    pub fn same_shape(&self, other: &Self) -> bool {
        self == other || (self.shape.is_some() && self.shape == other.shape)
    }

    /// What is to be done among the nodes of a topology. `Err` says why that can't be.
    pub fn task(&self, topology: &Arc<dyn Topology>, seed: u64) -> Result<Task, String> {
        let (nodes, root) = (topology.nodes(), self.root);
        if root >= nodes {
            return Err(format!("`{self}` has its root at node {root}, there are {nodes} nodes"));
        }
        let why = |why: String| format!("`{self}` {why}");
        let collective = match self.pattern.images(topology.radices()).map_err(why)? {
            Some(images) => Collective::permutation(&self.permutation_name(), images),
            None => Collective::of(self.collective).at(root),
        };
        let counted = Task::new(Arc::clone(topology), collective);
        if self.counts_blocks() {
            return Ok(counted);
        }
        let sizes = match self.collective.is_sized_by_origin() {
            true => self.pattern.sizes_of_nodes(nodes, self.element, seed),
            false => self.pattern.sizes(nodes, self.element, seed),
        };
        let sizes = sizes.map_err(why)?;
        // Every block moves at most once a step, so no sum of a step is above this one.
        let largest = sizes.largest();
        if u128::from(largest) * u128::from(nodes) * u128::from(nodes) > u128::from(u64::MAX / 2) {
            return Err(format!(
                "`{self}` among {nodes} nodes: blocks of up to {largest} bytes add up beyond 2^63"
            ));
        }
        Ok(Task { sizes: Some(sizes), skip_empty: self.skip_empty, ..counted })
    }

    /// The same with blocks of another size; `None` if its blocks are not of one size.
    ///
    /// ```
    /// use swapmeet_workloads::Workload;
    /// let larger = |spec: &str| Some(Workload::parse(spec).ok()?.with_block_bytes(4096)?.to_string());
    /// assert_eq!(larger("broadcast/uniform:64,root=3").as_deref(), Some("broadcast/uniform:4KiB,root=3"));
    /// assert_eq!(larger("one-spike:max=64,rest=8"), None);
    /// ```
    pub fn with_block_bytes(&self, bytes: u64) -> Option<Self> {
        let (name, arguments) = self.spec.split_once(':').filter(|_| self.is_uniform())?;
        let rest = arguments.find(',').map_or("", |at| &arguments[at..]);
        let other = Self::parse(&format!("{name}:{bytes}{rest}")).ok()?;
        (other.block_bytes() == bytes && self.same_shape(&other)).then_some(other)
    }

    /// Whether blocks can be counted: all are of one size, and none is left out for being empty.
    pub fn counts_blocks(&self) -> bool {
        self.pattern.uniform_bytes().is_some_and(|bytes| bytes > 0 || !self.skip_empty)
    }

    /// The generator's name and, after a comma, its own argument.
    fn permutation_name(&self) -> String {
        let own = self.pattern.arguments().into_iter().filter(|(key, _)| *key != args::WORD);
        own.fold(self.generator.name.to_owned(), |name, (key, value)| {
            format!("{name},{key}={value}")
        })
    }
}

/// One case has one spelling; of a file it matters what it said.
impl PartialEq for Workload {
    fn eq(&self, other: &Self) -> bool {
        self.spec == other.spec
            && self.input() == other.input()
            && self.replicate == other.replicate
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spec)
    }
}
