//! Workload generators: the number of bytes that each node has for each other node.
//!
//! A workload is a spec such as `uniform:64` or `broadcast/uniform:1KiB`: a collective (`alltoall`
//! by default) and a generator of sizes. Random sizes come from ChaCha8 with the seed of the case;
//! they are the same on every platform and in every version.

use std::fmt;
use std::sync::Arc;
use swapmeet_core::delivery::collective::{Collective, CollectiveKind};
use swapmeet_core::network::topology::Topology;
use swapmeet_core::simulation::Task;
use swapmeet_core::spec::SpecError;

mod args;
mod curve_axis;
mod digest;
pub mod experiments;
pub mod file;
mod generator;
mod parse;
mod properties;
mod range;

pub use curve_axis::CurveAxis;
pub use digest::{InputDigest, digest};
pub use generator::irregular::{Distribution, DistributionKind};
pub use generator::matrix::{Matrix, MatrixError};
pub use generator::spikes::Spikes;
pub use generator::{Generator, generators};
pub use properties::is_random;
pub use range::{expand, unreached_end};

/// A workload with its sizes.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The spec in canonical form.
    spec: Arc<str>,
    /// The spec without the size of blocks, if all blocks have the same size.
    shape: Option<Arc<str>>,
    collective: &'static CollectiveKind,
    generator: &'static Generator,
    pattern: Arc<dyn generator::Pattern>,
    /// The repetition whose file is used, if each repetition has its own file; otherwise 0.
    replicate: u32,
    root: u64,
    /// The unit of redistribution, in bytes.
    element: u64,
    /// Whether empty blocks are skipped instead of sent.
    skip_empty: bool,
}

impl Workload {
    /// Parses a spec. `matrix:FILE` also reads the file.
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

    /// Returns the collective.
    pub fn collective(&self) -> &'static CollectiveKind {
        self.collective
    }

    /// Returns the root, if the collective has one.
    pub fn root(&self) -> Option<u64> {
        self.collective.is_rooted().then_some(self.root)
    }

    /// Returns whether all blocks have the same size.
    pub fn is_uniform(&self) -> bool {
        self.pattern.uniform_bytes().is_some()
    }

    /// Returns the bytes of each block if sizes are uniform, otherwise 0.
    pub fn block_bytes(&self) -> u64 {
        self.pattern.uniform_bytes().unwrap_or(0)
    }

    /// Returns the unit of redistribution, in bytes.
    pub fn element_bytes(&self) -> u64 {
        self.element
    }

    /// Returns the file of sizes, if there is one.
    pub fn input(&self) -> Option<&InputDigest> {
        self.pattern.input()
    }

    /// Returns the number of repetitions, if each repetition has its own file.
    pub fn replicates(&self) -> Option<u32> {
        self.pattern.replicates()
    }

    /// Returns the workload of a repetition. It differs between repetitions only if each has its
    /// own file; `Err` if there is no such file.
    pub fn replicate(&self, repetition: u32) -> Result<Self, String> {
        let Some(count) = self.replicates() else { return Ok(self.clone()) };
        let pattern = self.pattern.replicate(repetition);
        let pattern = pattern.ok_or_else(|| {
            format!("`{self}` has {count} files, none for repetition {repetition}")
        })?;
        Ok(Self { pattern, replicate: repetition, ..self.clone() })
    }

    /// Returns whether two workloads differ at most in the size of uniform blocks.
    pub fn same_shape(&self, other: &Self) -> bool {
        self == other || (self.shape.is_some() && self.shape == other.shape)
    }

    /// Creates the task of this workload on a topology. `Err` has the reason why there is none.
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
        // Every block moves at most once in a step, so that no sum of a step exceeds this product.
        let largest = sizes.largest();
        if u128::from(largest) * u128::from(nodes) * u128::from(nodes) > u128::from(u64::MAX / 2) {
            return Err(format!(
                "`{self}` among {nodes} nodes: blocks of up to {largest} bytes add up beyond 2^63"
            ));
        }
        Ok(Task { sizes: Some(sizes), skip_empty: self.skip_empty, ..counted })
    }

    /// Returns the same workload with blocks of another size; `None` if its blocks differ in size.
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

    /// Returns whether the simulation can count blocks: all have the same size, and all are sent.
    pub fn counts_blocks(&self) -> bool {
        self.pattern.uniform_bytes().is_some_and(|bytes| bytes > 0 || !self.skip_empty)
    }

    /// Returns the name of the permutation with its own argument.
    fn permutation_name(&self) -> String {
        let own = self.pattern.arguments().into_iter().filter(|(key, _)| *key != args::WORD);
        own.fold(self.generator.name.to_owned(), |name, (key, value)| {
            format!("{name},{key}={value}")
        })
    }
}

/// Workloads are equal if their specs and the contents of their files are equal.
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
