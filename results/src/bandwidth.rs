//! The bandwidths of a case, as nccl-tests defines them.

use crate::record::Record;
use serde::Serialize;

/// Bandwidths in GB/s, where 1 GB is 10^9 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bandwidths {
    /// Data size per time, where the data is all blocks of a node at the start or at the end.
    #[serde(rename = "algbw_gb_s")]
    pub algorithm: f64,
    /// The algorithm bandwidth times the minimum proportion of the data that must pass through a
    /// node, so that it can be compared with the bandwidth of a node.
    #[serde(rename = "busbw_gb_s")]
    pub bus: f64,
}

impl Bandwidths {
    /// Returns `None` if nccl-tests (`doc/PERFORMANCE.md`) has no factor, or if block sizes differ.
    pub fn of(record: &Record, time_us: f64) -> Option<Self> {
        Self::of_case(&record.collective, record.nodes, record.block_bytes, time_us)
    }

    pub(crate) fn of_case(
        collective: &str,
        nodes: u64,
        block_bytes: Option<u64>,
        time_us: f64,
    ) -> Option<Self> {
        let (block, n) = (block_bytes? as f64, nodes as f64);
        let others = (n - 1.0) / n;
        let (size, factor) = match collective {
            "allreduce" => (block, 2.0 * others),
            "reduce" | "broadcast" => (block, 1.0),
            "reduce-scatter" | "allgather" | "alltoall" => (n * block, others),
            _ => return None,
        };
        let algorithm = size / time_us / 1000.0;
        (algorithm.is_finite() && n > 1.0).then_some(Self { algorithm, bus: algorithm * factor })
    }
}
