//! The table of workload generators, which is used by the parser, lists, suggestions, plots and the
//! dashboard.
//!
//! A row of the table and the [`Pattern`] that it creates are in one file with the code that draws
//! the sizes. A new generator needs such a file and a row in [`GENERATORS`], or in [`PERMUTATIONS`]
//! if it defines the destinations of blocks.

use crate::args::Args;
use crate::curve_axis::CurveAxis;
use crate::digest::InputDigest;
use permutation::PERMUTATIONS;
use std::fmt;
use std::sync::Arc;
use swapmeet_core::delivery::collective::{BlockSizes, CollectiveKind};
use swapmeet_core::spec::SpecError;

mod hot;
pub(crate) mod irregular;
pub(crate) mod matrix;
mod moe;
mod node_sizes;
pub(crate) mod permutation;
mod random;
pub(crate) mod spikes;
pub(crate) mod uniform;
mod zipf;

/// A generator of sizes, or of a permutation.
#[derive(Debug)]
pub struct Generator {
    /// The name before the colon.
    pub name: &'static str,
    /// The form of the spec.
    pub syntax: &'static str,
    pub help: &'static str,
    /// The generator's own arguments, in canonical order; the empty key stands for the argument
    /// without a key.
    pub keys: &'static [&'static str],
    /// The arguments over which curves can be drawn.
    pub axes: &'static [(CurveAxis, &'static str)],
    /// Whether every pair of nodes has its own size. Blocks may then be empty, and empty blocks are
    /// not sent by default.
    pub sized_by_pair: bool,
    /// Whether there are also sizes for each node, for collectives whose blocks have no single
    /// destination.
    pub sized_by_node: bool,
    /// Whether sizes are random. Repetitions, which have different seeds, then differ.
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
    matrix::MATRIX,
    matrix::FRACTIONS,
];

impl Generator {
    /// Returns whether the generator has sizes for the blocks of a collective.
    pub(crate) fn fits(&self, collective: &CollectiveKind) -> bool {
        !self.sized_by_pair
            || collective.is_sized_by_pair()
            || self.sized_by_node && collective.is_sized_by_origin()
    }
}

/// Returns the generators that fit a collective.
pub fn generators(collective: &CollectiveKind) -> impl Iterator<Item = &'static Generator> + Clone {
    let rows = if collective.permutes() { PERMUTATIONS } else { GENERATORS };
    rows.iter().filter(move |row| row.fits(collective))
}

/// The sizes or destinations that a generator creates from its arguments.
pub(crate) trait Pattern: fmt::Debug + Send + Sync {
    /// Returns the arguments in canonical form and order, without those that have their default
    /// value.
    fn arguments(&self) -> Vec<(&'static str, String)>;

    /// Returns the bytes of each block, if all blocks have the same size.
    fn uniform_bytes(&self) -> Option<u64> {
        None
    }

    /// Creates the sizes for a number of nodes, in multiples of `element`. The text of `Err`
    /// continues a sentence that begins with the name of the workload.
    fn sizes(&self, nodes: u64, element: u64, seed: u64) -> Result<Arc<dyn BlockSizes>, String>;

    /// Creates one size for each node, for blocks without a single destination. Only called for
    /// generators that are `sized_by_node`.
    fn sizes_of_nodes(
        &self,
        nodes: u64,
        element: u64,
        seed: u64,
    ) -> Result<Arc<dyn BlockSizes>, String> {
        self.sizes(nodes, element, seed)
    }

    /// Returns the destination of each node's block on a grid, if every node has a block for one
    /// node only. The text of `Err` continues a sentence that begins with the name of the workload.
    fn images(&self, _radices: &[u64]) -> Result<Option<Arc<[u32]>>, String> {
        Ok(None)
    }

    /// Returns the file of sizes, if there is one.
    fn input(&self) -> Option<&InputDigest> {
        None
    }

    /// Returns the number of repetitions, if each has its own sizes. [`Pattern::replicate`] returns
    /// these.
    fn replicates(&self) -> Option<u32> {
        None
    }

    /// Returns the sizes of a repetition.
    fn replicate(&self, _number: u32) -> Option<Arc<dyn Pattern>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::WORD;

    /// Names are unique, and each row describes its arguments.
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
