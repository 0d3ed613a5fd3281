//! What a workload can be: a row each, which feeds parsing, lists, near matches, figures and
//! pickers.
//!
//! A row and the [`Pattern`] that its arguments make stand in one file, beside what draws the
//! sizes. Whoever adds one adds the file and its row to [`GENERATORS`] (or, if it says where blocks
//! go, to [`PERMUTATIONS`]).

use crate::args::Args;
use crate::axis::CurveAxis;
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
mod nodes;
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
    /// What comes after it.
    pub syntax: &'static str,
    pub help: &'static str,
    /// Its own arguments, in the order in which specs are printed; an empty one is the one without
    /// a key.
    pub keys: &'static [&'static str],
    /// Which arguments figures can be drawn over.
    pub axes: &'static [(CurveAxis, &'static str)],
    /// Whether sizes are given pair by pair. Then a block may have nothing in it, and is not sent
    /// unless the user says so.
    pub sized_by_pair: bool,
    /// Whether there are also sizes node by node, for blocks that are for everyone.
    pub sized_by_node: bool,
    /// Whether sizes are drawn at random: then repetitions, which have seeds of their own, differ.
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
    /// Whether it has sizes for what the collective's blocks are told apart by.
    pub(crate) fn fits(&self, collective: &CollectiveKind) -> bool {
        !self.sized_by_pair
            || collective.is_sized_by_pair()
            || self.sized_by_node && collective.is_sized_by_origin()
    }
}

/// What a collective's workloads can be.
pub fn generators(collective: &CollectiveKind) -> impl Iterator<Item = &'static Generator> + Clone {
    let rows = if collective.permutes() { PERMUTATIONS } else { GENERATORS };
    rows.iter().filter(move |row| row.fits(collective))
}

/// What a generator made of its arguments.
pub(crate) trait Pattern: fmt::Debug + Send + Sync {
    /// The arguments in canonical form and in the row's order, without those that have their
    /// default.
    fn arguments(&self) -> Vec<(&'static str, String)>;

    /// Bytes of each block, if all have the same.
    fn uniform_bytes(&self) -> Option<u64> {
        None
    }

    /// Sizes among so many nodes, in multiples of `element`. `Err` says, after the workload's name,
    /// why there are none.
    fn sizes(&self, nodes: u64, element: u64, seed: u64) -> Result<Arc<dyn BlockSizes>, String>;

    /// The same where blocks are for everyone: what each node has. Only for generators that are
    /// `sized_by_node`.
    fn sizes_of_nodes(
        &self,
        nodes: u64,
        element: u64,
        seed: u64,
    ) -> Result<Arc<dyn BlockSizes>, String> {
        self.sizes(nodes, element, seed)
    }

    /// Where each node's block goes on a grid, if blocks go to one node each. `Err` says, after the
    /// workload's name, why that has no meaning there.
    fn images(&self, _radices: &[u64]) -> Result<Option<Arc<[u32]>>, String> {
        Ok(None)
    }

    /// The file that sizes came from, if they did.
    fn input(&self) -> Option<&InputDigest> {
        None
    }

    /// How many repetitions there are, where each has sizes of its own: then [`Pattern::replicate`]
    /// has them.
    fn replicates(&self) -> Option<u32> {
        None
    }

    /// The sizes of a repetition.
    fn replicate(&self, _number: u32) -> Option<Arc<dyn Pattern>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::WORD;

    /// Names are what users type and tables are read by: none twice, each with its own arguments
    /// alone on an axis.
    #[test]
    fn every_row_says_what_its_own_arguments_are() {
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
