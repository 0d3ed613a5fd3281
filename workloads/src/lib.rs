//! A workload defines the bytes that each node has for each other node. Its spec, such as
//! `uniform:64` or `broadcast/uniform:1KiB`, has a collective (by default `alltoall`) and a
//! generator of sizes. Random sizes come from ChaCha8 with the seed of the case, and are the same
//! on every platform and in every version.

use std::fmt;
use std::sync::Arc;
use swapmeet_core::delivery::collective::{Collective, CollectiveKind, TokenSizes};
use swapmeet_core::network::communicators::Communicators;
use swapmeet_core::network::topology::{Network, SplitMix64};
use swapmeet_core::simulation::Task;
use swapmeet_core::spec::SpecError;

mod args;
mod digest;
mod drawn;
pub mod experiments;
pub mod file;
mod generator;
mod listed;
mod parse;
mod properties;
mod range;

pub use args::{CommonArgument, CurveAxis, common_arguments, own_syntax};
pub use digest::{InputDigest, digest, stream_digest};
pub use generator::distribution::{Distribution, DistributionKind};
pub use generator::matrix::{Matrix, MatrixError};
pub use generator::spikes::Spikes;
pub use generator::{Generator, generators};
use listed::Listed;
pub use properties::{default_number, is_random};
pub use range::{expand, unreached_end};

#[derive(Debug, Clone)]
pub struct Workload {
    spec: Arc<str>,
    /// The spec without the block size, or `None` if blocks differ in size.
    shape: Option<Arc<str>>,
    collective: &'static CollectiveKind,
    generator: &'static Generator,
    pattern: Arc<dyn generator::Pattern>,
    /// If each repetition has its own file, the repetition whose file is used; otherwise 0.
    replicate: u32,
    root: u64,
    /// The number of bytes of an element. A redistribution cannot divide elements.
    element: u64,
    skip_empty: bool,
    /// The communicators that run the collective at the same time: their axes, such as `dp+cp`,
    /// their size (`size:64`), or a file that lists them (`file:F`). `None` if all ranks are one
    /// communicator.
    over: Option<String>,
    listed: Option<Arc<Listed>>,
}

impl Workload {
    /// Parses a spec. For `matrix:FILE`, this also reads the file.
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

    pub fn collective(&self) -> &'static CollectiveKind {
        self.collective
    }

    pub fn root(&self) -> Option<u64> {
        self.collective.is_rooted().then_some(self.root)
    }

    pub fn is_uniform(&self) -> bool {
        self.pattern.uniform_bytes().is_some()
    }

    pub fn block_bytes(&self) -> u64 {
        self.pattern.uniform_bytes().unwrap_or(0)
    }

    pub fn element_bytes(&self) -> u64 {
        self.element
    }

    pub fn inputs(&self) -> impl Iterator<Item = &InputDigest> {
        let listed = self.listed.iter().map(|listed| &listed.input);
        self.pattern.input().into_iter().chain(listed)
    }

    /// Returns the number of repetitions if each has its own file, or `None` otherwise.
    pub fn replicates(&self) -> Option<u32> {
        self.pattern.replicates()
    }

    /// Returns the workload of a repetition. `Err` if each repetition has its own file, and this
    /// one has none.
    pub fn replicate(self: &Arc<Self>, repetition: u32) -> Result<Arc<Self>, String> {
        let Some(count) = self.replicates() else { return Ok(Arc::clone(self)) };
        let pattern = self.pattern.replicate(repetition);
        let pattern = pattern.ok_or_else(|| {
            format!("`{self}` has {count} files, none for repetition {repetition}")
        })?;
        Ok(Arc::new(Self { pattern, replicate: repetition, ..Self::clone(self) }))
    }

    /// Returns whether two workloads are equal, or differ only in the size of uniform blocks.
    pub fn same_shape(&self, other: &Self) -> bool {
        self == other || (self.shape.is_some() && self.shape == other.shape)
    }

    /// Returns the axes of communicators, or `None` if all ranks are one communicator.
    pub fn over(&self) -> Option<&str> {
        self.over.as_deref()
    }

    /// Returns the communicators, or `None` if all ranks are one communicator. `Err` is the reason
    /// why there are none.
    pub fn communicators(
        &self,
        topology: &Arc<Network>,
    ) -> Result<Option<Arc<Communicators>>, String> {
        let mut all = self.all_communicators(topology)?;
        if self.differ(&all) {
            return Err(format!(
                "`{self}` has communicators with different schedules, which only `run`, `trace` and the dashboard support"
            ));
        }
        Ok(all.pop())
    }

    /// Returns all communicators of `over=`, in one entry for each schedule. Communicators with the
    /// same view and the same sizes run images of one schedule. `Err` is the reason why there are
    /// none.
    pub fn all_communicators(
        &self,
        topology: &Arc<Network>,
    ) -> Result<Vec<Arc<Communicators>>, String> {
        let Some(over) = &self.over else { return Ok(Vec::new()) };
        let apart = self.generator.random;
        let communicators = match &self.listed {
            Some(listed) => Communicators::listed(&listed.communicators, topology, apart),
            None => Communicators::over(over, topology).and_then(|all| match apart {
                true => {
                    let lists: Vec<Vec<u32>> = all.all().map(<[u32]>::to_vec).collect();
                    Communicators::listed(&lists, topology, apart)
                }
                false => Ok(vec![all]),
            }),
        };
        let communicators = communicators.map_err(|why| format!("`{self}` {why}"))?;
        let root = self.root;
        if let Some(few) = communicators.iter().find(|all| root >= all.size()) {
            return Err(format!(
                "`{self}` has its root at member {root}, but the members of a communicator are 0 to {}",
                few.size() - 1
            ));
        }
        Ok(communicators.into_iter().map(Arc::new).collect())
    }

    fn differ(&self, all: &[Arc<Communicators>]) -> bool {
        all.len() > 1 || all.iter().any(|all| !all.has_all_ranks())
    }

    /// Returns whether the communicators of this workload differ in their schedules, or do not
    /// contain all ranks.
    pub fn has_unequal_communicators(&self, topology: &Arc<Network>) -> bool {
        (self.generator.random || self.listed.is_some())
            && self.all_communicators(topology).is_ok_and(|all| self.differ(&all))
    }

    /// Creates a task for each schedule ([`Workload::all_communicators`]). The random sizes of the
    /// first task are drawn from `seed`, and those of the others from other seeds. `Err` is the
    /// reason why there are no tasks.
    pub fn tasks(&self, topology: &Arc<Network>, seed: u64) -> Result<Vec<Task>, String> {
        let all = self.all_communicators(topology)?;
        if !self.differ(&all) {
            return Ok(vec![self.task(topology, seed)?]);
        }
        let task = |(number, communicators): (u64, Arc<Communicators>)| {
            let task = self.task_of_one(communicators.view(), seed_of(seed, number))?;
            Ok(Task { communicators: Some(communicators), ..task })
        };
        (0..).zip(all).map(task).collect()
    }

    /// Creates the only task. `Err` is the reason why there is none.
    pub fn task(&self, topology: &Arc<Network>, seed: u64) -> Result<Task, String> {
        match self.communicators(topology)? {
            None => self.task_of_one(topology, seed),
            Some(communicators) if communicators.is_whole() => {
                self.task_of_one(communicators.view(), seed)
            }
            Some(communicators) => {
                let task = self.task_of_one(communicators.view(), seed)?;
                Ok(Task { communicators: Some(communicators), ..task })
            }
        }
    }

    fn task_of_one(&self, topology: &Arc<Network>, seed: u64) -> Result<Task, String> {
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
        let sizes = drawn::shared(self, nodes, seed, || self.draw(nodes, seed));
        let drawn::Sizes { blocks: sizes, tokens } = sizes.map_err(why)?;
        // A block moves at most once in a step, so no sum of a step exceeds this product.
        let largest = sizes.largest();
        if u128::from(largest) * u128::from(nodes) * u128::from(nodes) > u128::from(u64::MAX / 2) {
            return Err(format!(
                "`{self}` among {nodes} nodes: blocks of up to {largest} bytes add up beyond 2^63"
            ));
        }
        let collective = match tokens {
            Some(tokens) => Collective::of_tokens(self.collective, tokens),
            None => counted.collective,
        };
        Ok(Task { collective, sizes: Some(sizes), skip_empty: self.skip_empty, ..counted })
    }

    fn draw(&self, nodes: u64, seed: u64) -> Result<drawn::Sizes, String> {
        if self.collective.has_tokens {
            let tokens = Arc::new(self.pattern.tokens(nodes, seed)?);
            let blocks = Arc::new(TokenSizes::new(Arc::clone(&tokens), self.collective.sums));
            return Ok(drawn::Sizes { blocks, tokens: Some(tokens) });
        }
        let blocks = match self.collective.is_sized_by_origin() {
            true => self.pattern.sizes_of_nodes(nodes, self.element, seed),
            false => self.pattern.sizes(nodes, self.element, seed),
        };
        Ok(drawn::Sizes { blocks: blocks?, tokens: None })
    }

    /// Returns the same workload with blocks of another size, or `None` if its blocks differ in
    /// size.
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

    /// Returns whether the simulation can count blocks instead of bytes. It can if all blocks have
    /// the same size and are sent.
    pub fn counts_blocks(&self) -> bool {
        self.pattern.uniform_bytes().is_some_and(|bytes| bytes > 0 || !self.skip_empty)
    }

    /// Returns the name of the permutation, with the argument that only this kind of permutation
    /// has.
    fn permutation_name(&self) -> String {
        let own = self.pattern.arguments().into_iter().filter(|(key, _)| *key != args::WORD);
        own.fold(self.generator.name.to_owned(), |name, (key, value)| {
            format!("{name},{key}={value}")
        })
    }
}

fn seed_of(seed: u64, communicator: u64) -> u64 {
    match communicator {
        0 => seed,
        _ => seed ^ SplitMix64::new(communicator).bits(),
    }
}

/// Two workloads are equal if their specs and the contents of their files are equal.
impl PartialEq for Workload {
    fn eq(&self, other: &Self) -> bool {
        self.spec == other.spec
            && self.inputs().eq(other.inputs())
            && self.replicate == other.replicate
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spec)
    }
}
