//! The table of workload generators. A generator is a file with its row of the table, the
//! [`Pattern`] that it creates, and the code that draws sizes. Its row is in [`GENERATORS`] or, if
//! it defines the destinations of blocks, in [`PERMUTATIONS`].

use crate::args::{Args, CurveAxis};
use crate::digest::InputDigest;
use permutation::PERMUTATIONS;
use std::fmt;
use std::sync::Arc;
use swapmeet_core::delivery::collective::{BlockSizes, CollectiveKind, Tokens};
use swapmeet_core::spec::SpecError;

mod birkhoff;
pub(crate) mod distribution;
mod experts;
mod hot;
mod irregular;
pub(crate) mod matrix;
mod moe;
mod node_sizes;
pub(crate) mod permutation;
mod random;
pub(crate) mod spikes;
pub(crate) mod uniform;

#[derive(Debug)]
pub struct Generator {
    pub name: &'static str,
    pub syntax: &'static str,
    pub help: &'static str,
    /// The generator's own arguments in canonical order. An empty key stands for an argument
    /// without a key.
    pub keys: &'static [&'static str],
    /// The arguments that can be an axis of a plot with curves.
    pub axes: &'static [(CurveAxis, &'static str)],
    /// Whether each pair of nodes has its own size. Empty blocks are then not sent by default.
    pub sized_by_pair: bool,
    /// Whether the generator can also create one size for each node, for collectives in which a
    /// block has no single destination.
    pub sized_by_node: bool,
    /// Whether the generator can also create the tokens of a dispatch or a combine.
    pub has_tokens: bool,
    /// Whether repetitions differ. They have different seeds.
    pub random: bool,
    pub(crate) read: fn(&mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError>,
}

pub(crate) static GENERATORS: &[Generator] = &[
    uniform::UNIFORM,
    spikes::ONE_SPIKE,
    spikes::TRANSPOSE,
    irregular::IRREGULAR,
    hot::HOT,
    moe::MOE,
    birkhoff::BIRKHOFF,
    experts::TOKENS,
    matrix::MATRIX,
    matrix::FRACTIONS,
];

impl Generator {
    pub(crate) fn fits(&self, collective: &CollectiveKind) -> bool {
        if collective.has_tokens {
            return self.has_tokens;
        }
        !self.sized_by_pair
            || collective.is_sized_by_pair()
            || self.sized_by_node && collective.is_sized_by_origin()
    }
}

pub fn generators(collective: &CollectiveKind) -> impl Iterator<Item = &'static Generator> + Clone {
    let rows = if collective.permutes() { PERMUTATIONS } else { GENERATORS };
    rows.iter().filter(move |row| row.fits(collective))
}

pub(crate) trait Pattern: fmt::Debug + Send + Sync {
    /// Returns the arguments, without those that have default values.
    fn arguments(&self) -> Vec<(&'static str, String)>;

    /// Returns the number of bytes of each block, or `None` if blocks differ in size.
    fn uniform_bytes(&self) -> Option<u64> {
        None
    }

    /// Creates sizes that are multiples of `element`. `Err` continues a sentence that begins with
    /// the workload.
    fn sizes(&self, nodes: u64, element: u64, seed: u64) -> Result<Arc<dyn BlockSizes>, String>;

    /// Creates one size for each node. Only called if the generator is `sized_by_node`.
    fn sizes_of_nodes(
        &self,
        nodes: u64,
        element: u64,
        seed: u64,
    ) -> Result<Arc<dyn BlockSizes>, String> {
        self.sizes(nodes, element, seed)
    }

    /// Creates the tokens of each node. Only called if the generator `has_tokens`.
    fn tokens(&self, nodes: u64, _seed: u64) -> Result<Tokens, String> {
        Ok(Tokens::new(nodes, |_| Vec::new()))
    }

    /// Returns the destination of each node's block on a grid, or `None` if the workload is not a
    /// permutation.
    fn images(&self, _radices: &[u64]) -> Result<Option<Arc<[u32]>>, String> {
        Ok(None)
    }

    fn input(&self) -> Option<&InputDigest> {
        None
    }

    fn replicates(&self) -> Option<u32> {
        None
    }

    fn replicate(&self, _number: u32) -> Option<Arc<dyn Pattern>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::WORD;

    #[test]
    fn every_generator_documents_its_arguments() {
        for table in [GENERATORS, PERMUTATIONS] {
            for (i, row) in table.iter().enumerate() {
                assert!(
                    table[..i].iter().all(|other| other.name != row.name),
                    "{} comes twice",
                    row.name
                );
                let argument =
                    |key: &str| if key == WORD { String::new() } else { format!("{key}=") };
                for key in row.keys {
                    assert!(
                        row.syntax.contains(&argument(key)),
                        "`{}` does not show `{key}`",
                        row.syntax
                    );
                }
                for (axis, key) in row.axes {
                    assert!(
                        row.keys.contains(key),
                        "{} has no `{key}` to draw over {axis:?}",
                        row.name
                    );
                }
            }
        }
    }
}
