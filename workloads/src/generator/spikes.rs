//! `one-spike` and `transpose`: each node has one large block (spike) for one node, and small
//! blocks for all others. Totals need no table of N x N sizes: they are the number of pairs times
//! the small size, plus the difference for each spike.

use super::random::Stream;
use super::{Generator, Pattern};
use crate::args::{Args, CurveAxis};
use std::sync::Arc;
use swapmeet_core::delivery::collective::{BlockSizes, MaxTraffic};
use swapmeet_core::spec::{SpecError, format_size};

pub(super) const ONE_SPIKE: Generator = Generator {
    name: "one-spike",
    syntax: "one-spike:max=SIZE,rest=SIZE",
    help: "each node has max bytes for one random node, and rest for all others",
    keys: &["max", "rest"],
    axes: &[(CurveAxis::BlockSize, "max")],
    sized_by_pair: true,
    sized_by_node: false,
    has_tokens: false,
    random: true,
    read: |args| read(args, SpikePlacement::Random),
};

pub(super) const TRANSPOSE: Generator = Generator {
    name: "transpose",
    syntax: "transpose:max=SIZE,rest=SIZE",
    help: "nodes form a square array: (r, c) has max bytes for (c, r), and rest for all others",
    keys: &["max", "rest"],
    axes: &[(CurveAxis::BlockSize, "max")],
    sized_by_pair: true,
    sized_by_node: false,
    has_tokens: false,
    random: false,
    read: |args| read(args, SpikePlacement::Transposed),
};

fn read(args: &mut Args<'_>, placement: SpikePlacement) -> Result<Arc<dyn Pattern>, SpecError> {
    let (max, rest) = (args.require("max")?, args.require("rest")?);
    Ok(Arc::new(Spiked {
        max: args.whole_elements(max)?,
        rest: args.whole_elements(rest)?,
        placement,
    }))
}

#[derive(Debug)]
enum SpikePlacement {
    Random,
    Transposed,
}

#[derive(Debug)]
struct Spiked {
    max: u64,
    rest: u64,
    placement: SpikePlacement,
}

impl Pattern for Spiked {
    fn arguments(&self) -> Vec<(&'static str, String)> {
        vec![("max", format_size(self.max)), ("rest", format_size(self.rest))]
    }

    fn sizes(&self, nodes: u64, _: u64, seed: u64) -> Result<Arc<dyn BlockSizes>, String> {
        Ok(Arc::new(match self.placement {
            SpikePlacement::Random => Spikes::at_random(nodes, self.max, self.rest, seed),
            SpikePlacement::Transposed => Spikes::transpose(nodes, self.max, self.rest)
                .ok_or_else(|| format!("needs a square number of nodes, there are {nodes}"))?,
        }))
    }
}

/// For each node, there are `max` bytes for one node, possibly itself, and `rest` bytes for each
/// other node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spikes {
    max: u64,
    rest: u64,
    to: Vec<u32>,
}

impl Spikes {
    /// Chooses the destination of each spike at random (Liu et al., Pattern 1). It may be the
    /// origin itself.
    pub fn at_random(nodes: u64, max: u64, rest: u64, seed: u64) -> Self {
        let mut stream = Stream::new(seed, 0);
        let to = (0..nodes).map(|_| stream.below(nodes) as u32).collect();
        Self { max, rest, to }
    }

    /// In a square array, the spike of node (r, c) is for node (c, r) (Liu et al., Pattern 2).
    /// Returns `None` if the number of nodes is not a square.
    pub fn transpose(nodes: u64, max: u64, rest: u64) -> Option<Self> {
        let side = nodes.isqrt();
        let to = (0..nodes).map(|i| ((i % side) * side + i / side) as u32).collect();
        (side * side == nodes).then_some(Self { max, rest, to })
    }
}

impl BlockSizes for Spikes {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        if u64::from(self.to[origin as usize]) == destination { self.max } else { self.rest }
    }

    fn total(&self, origins: &[u64], destinations: &[u64]) -> u64 {
        let pairs = origins.len() as u64 * destinations.len() as u64;
        let spikes = origins
            .iter()
            .filter(|o| destinations.binary_search(&u64::from(self.to[**o as usize])).is_ok())
            .count() as u64;
        (pairs - spikes) * self.rest + spikes * self.max
    }

    fn largest(&self) -> u64 {
        self.max.max(self.rest)
    }

    fn max_traffic(&self, nodes: u64) -> MaxTraffic {
        let mut received = vec![0_u64; self.to.len()];
        for (from, to) in (0..).zip(&self.to) {
            received[*to as usize] += u64::from(from != *to);
        }
        let some = |bytes: u64| u64::from(bytes > 0);
        // If `max` is less than `rest`, the busiest nodes are those with the fewest spikes.
        let with = |spikes: u64| {
            let rest = nodes - 1 - spikes;
            (rest * self.rest + spikes * self.max, rest * some(self.rest) + spikes * some(self.max))
        };
        let mut busiest = MaxTraffic::default();
        for ((from, to), received) in (0_u32..).zip(&self.to).zip(received) {
            let (sends, receives) = (with(u64::from(from != *to)), with(received));
            busiest.sent = busiest.sent.max(sends.0);
            busiest.received = busiest.received.max(receives.0);
            busiest.peers = busiest.peers.max(sends.1).max(receives.1);
            busiest.pairs += sends.1;
        }
        busiest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn totals_are_sums_over_pairs(nodes in 1_u64..40, max in 0_u64..99, rest in 0_u64..99, seed in any::<u64>(), keep in any::<u64>()) {
            let spikes = Spikes::at_random(nodes, max, rest, seed);
            let origins: Vec<u64> = (0..nodes).filter(|n| keep >> n & 1 == 1).collect();
            let destinations: Vec<u64> = (0..nodes).filter(|n| keep >> ((n + 13) % 64) & 1 == 1).collect();
            let pairs = origins.iter().flat_map(|o| destinations.iter().map(move |d| (*o, *d)));
            prop_assert_eq!(spikes.total(&origins, &destinations), pairs.map(|(o, d)| spikes.bytes(o, d)).sum::<u64>());
        }

        #[test]
        fn busiest_agrees_with_the_full_matrix(nodes in 1_u64..40, max in 0_u64..3, rest in 0_u64..3, seed in any::<u64>()) {
            let spikes = Spikes::at_random(nodes, max, rest, seed);
            let bytes = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))).map(|(from, to)| spikes.bytes(from, to));
            let matrix = crate::Matrix::new(nodes, bytes.collect());
            prop_assert_eq!(spikes.max_traffic(nodes), matrix.max_traffic(nodes));
        }
    }

    #[test]
    fn a_transpose_needs_a_square_number_of_nodes() {
        let spikes = Spikes::transpose(9, 100, 1).unwrap();
        assert_eq!(
            (spikes.bytes(1, 3), spikes.bytes(3, 1), spikes.bytes(4, 4), spikes.bytes(1, 2)),
            (100, 100, 100, 1)
        );
        assert_eq!(Spikes::transpose(8, 100, 1), None);
    }

    /// Published results depend on these sizes.
    #[test]
    fn spikes_are_pinned() {
        assert_eq!(Spikes::at_random(8, 1, 0, 42).to, PINNED);
        assert_ne!(Spikes::at_random(8, 1, 0, 43).to, PINNED);
    }

    const PINNED: [u32; 8] = [5, 7, 3, 5, 2, 1, 2, 6];
}
