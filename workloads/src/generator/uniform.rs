//! `uniform`: all blocks have the same size, so that the simulation counts blocks.

use super::{Generator, Pattern};
use crate::args::{CurveAxis, WORD};
use std::sync::Arc;
use swapmeet_core::delivery::collective::{BlockSizes, MaxTraffic};
use swapmeet_core::spec::format_size;

pub(super) const UNIFORM: Generator = Generator {
    name: "uniform",
    syntax: "uniform:SIZE",
    help: "every node has SIZE bytes for every node, including itself (this block is not sent)",
    keys: &[WORD],
    axes: &[(CurveAxis::BlockSize, WORD)],
    sized_by_pair: false,
    sized_by_node: false,
    has_tokens: false,
    random: false,
    read: |args| {
        let arg = args.word("a size, as in `uniform:64`")?;
        Ok(Arc::new(Uniform { bytes: args.whole_elements(arg)? }))
    },
};

#[derive(Debug)]
pub(crate) struct Uniform {
    pub(crate) bytes: u64,
}

impl Pattern for Uniform {
    fn arguments(&self) -> Vec<(&'static str, String)> {
        vec![(WORD, format_size(self.bytes))]
    }

    fn uniform_bytes(&self) -> Option<u64> {
        Some(self.bytes)
    }

    fn sizes(&self, _: u64, _: u64, _: u64) -> Result<Arc<dyn BlockSizes>, String> {
        Ok(Arc::new(Self { bytes: self.bytes }))
    }
}

/// The simulation reads these sizes only if empty blocks are skipped. Otherwise, it counts blocks.
impl BlockSizes for Uniform {
    fn bytes(&self, _: u64, _: u64) -> u64 {
        self.bytes
    }

    fn total(&self, origins: &[u64], destinations: &[u64]) -> u64 {
        (origins.len() as u64).saturating_mul(destinations.len() as u64).saturating_mul(self.bytes)
    }

    fn largest(&self) -> u64 {
        self.bytes
    }

    fn max_traffic(&self, nodes: u64) -> MaxTraffic {
        let peers = if self.bytes == 0 { 0 } else { nodes - 1 };
        MaxTraffic {
            sent: peers * self.bytes,
            received: peers * self.bytes,
            peers,
            pairs: nodes * peers,
        }
    }
}
