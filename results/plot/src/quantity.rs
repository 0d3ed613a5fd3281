//! What can be shown of a case.

use swapmeet_results::Record;
use swapmeet_results::analysis::Axis;
use swapmeet_results::units::{number_to, size_to, tick_duration};

/// What is on the y axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Y {
    Time,
    /// Completion time over the baseline's.
    Ratio,
    /// Completion time over the lower bound.
    Bound,
    /// What sharing links, or waiting for ports, adds.
    Contention,
    Steps,
    /// Messages over all steps.
    Messages,
    /// The most messages on one link in one step.
    LinkMessages,
    /// The most bytes one node held.
    NodeBytes,
    /// Size over time, as nccl-tests has it.
    AlgorithmBandwidth,
    /// That times what a collective must move through a node at best, over its size: comparable to
    /// a node's bandwidth.
    BusBandwidth,
}

impl Y {
    /// What is written along the axis.
    pub fn label(self) -> &'static str {
        match self {
            Self::Time => "completion time",
            Self::Ratio => "completion time over that of the fastest",
            Self::Bound => "completion time over the lower bound",
            Self::Contention => "time added by contention",
            Self::Steps => "steps",
            Self::Messages => "messages",
            Self::LinkMessages => "most messages on a link in a step",
            Self::NodeBytes => "most bytes held by a node",
            Self::AlgorithmBandwidth => "algorithm bandwidth, GB/s",
            Self::BusBandwidth => "bus bandwidth, GB/s",
        }
    }

    /// What a row has of it; a ratio is between two rows, and here the time that it is made of.
    pub(crate) fn of(self, record: &Record) -> Option<f64> {
        let count = |n: Option<u64>| n.map(|n| n as f64);
        match self {
            Self::Time | Self::Ratio => record.time_us,
            Self::Bound => record
                .time_us
                .zip(record.lower_bound_us)
                .map(|(t, b)| t / b)
                .filter(|r| r.is_finite()),
            Self::Contention => record.contention_us,
            Self::Steps => count(record.steps),
            Self::Messages => count(record.messages),
            Self::LinkMessages => count(record.max_link_messages),
            Self::NodeBytes => record.peak_node_bytes.map(|n| n as f64),
            Self::AlgorithmBandwidth => bandwidths(record).map(|(algorithm, _)| algorithm),
            Self::BusBandwidth => bandwidths(record).map(|(_, bus)| bus),
        }
    }

    /// Whether it is made of times.
    pub(crate) fn is_of_times(self) -> bool {
        match self {
            Self::Time
            | Self::Ratio
            | Self::Bound
            | Self::AlgorithmBandwidth
            | Self::BusBandwidth => true,
            Self::Contention
            | Self::Steps
            | Self::Messages
            | Self::LinkMessages
            | Self::NodeBytes => false,
        }
    }

    /// A value, as read at the axis, with this many figures.
    pub fn text_to(self, value: f64, figures: usize) -> String {
        match self {
            Self::Time | Self::Contention => tick_duration(value, figures),
            Self::NodeBytes => size_to(value, figures),
            Self::Ratio
            | Self::Bound
            | Self::Steps
            | Self::Messages
            | Self::LinkMessages
            | Self::AlgorithmBandwidth
            | Self::BusBandwidth => number_to(value, figures),
        }
    }

    /// The unit that rows have it in, after a comma.
    pub(crate) fn unit_in_rows(self) -> &'static str {
        match self {
            Self::Time | Self::Contention => ", $\\mu$s",
            Self::NodeBytes => ", B",
            Self::Ratio
            | Self::Bound
            | Self::Steps
            | Self::Messages
            | Self::LinkMessages
            | Self::AlgorithmBandwidth
            | Self::BusBandwidth => "",
        }
    }

    /// Whether it counts bytes, in powers of 1,024.
    pub(crate) fn is_bytes(self) -> bool {
        self == Self::NodeBytes
    }
}

/// Algorithm and bus bandwidth in GB/s, as nccl-tests defines them (its `doc/PERFORMANCE.md`): S/t,
/// and that times what must go through each node at best, over S. S is what all blocks are together
/// that a node begins or ends with. `None` for collectives that it gives no factor for, and where
/// sizes differ.
fn bandwidths(record: &Record) -> Option<(f64, f64)> {
    let (time, block, n) = (record.time_us?, record.block_bytes? as f64, record.nodes as f64);
    let others = (n - 1.0) / n;
    let (size, factor) = match record.collective.as_str() {
        "allreduce" => (block, 2.0 * others),
        "reduce" | "broadcast" => (block, 1.0),
        "reduce-scatter" | "allgather" | "alltoall" => (n * block, others),
        _ => return None,
    };
    let algorithm = size / time / 1000.0;
    (algorithm.is_finite() && n > 1.0).then_some((algorithm, algorithm * factor))
}

/// Which axes are logarithmic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Log {
    pub x: bool,
    pub y: bool,
}

impl Log {
    /// What suits an axis and values along the other: sizes and nodes go over orders of magnitude,
    /// and so do most values over them; whatever is shown, curves that span a decade would press
    /// each other flat on an even axis.
    pub fn suits(x: Axis, y: Y, values: impl Iterator<Item = f64>) -> Self {
        let (least, most) =
            values.fold((f64::MAX, f64::MIN), |(least, most), v| (least.min(v), most.max(v)));
        let even = x == Axis::Variation || matches!(y, Y::Ratio | Y::Bound | Y::LinkMessages);
        Self { x: x != Axis::Variation, y: !even || (least > 0.0 && most / least >= 10.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factors of nccl-tests' `doc/PERFORMANCE.md`, Summary: 4 nodes, 3000 bytes a block, 1 us.
    #[test]
    fn bandwidths_are_those_of_nccl_tests() {
        let of = |collective: &str| {
            let collective = collective.to_owned();
            let record = Record {
                collective,
                nodes: 4,
                block_bytes: Some(3000),
                time_us: Some(1.0),
                ..Record::default()
            };
            (Y::AlgorithmBandwidth.of(&record), Y::BusBandwidth.of(&record))
        };
        assert_eq!(of("allreduce"), (Some(3.0), Some(4.5)));
        assert_eq!(of("broadcast"), (Some(3.0), Some(3.0)));
        assert_eq!(of("reduce-scatter"), (Some(12.0), Some(9.0)));
        assert_eq!(of("permutation"), (None, None));
    }

    #[test]
    fn values_over_a_decade_get_a_logarithmic_axis() {
        let log_y = |x, y, values: &[f64]| Log::suits(x, y, values.iter().copied()).y;
        assert!(
            !log_y(Axis::Block, Y::Ratio, &[1.0, 9.0])
                && log_y(Axis::Block, Y::Ratio, &[1.0, 11.0])
        );
        assert!(
            !log_y(Axis::Variation, Y::Time, &[1.0, 2.0])
                && log_y(Axis::Variation, Y::Time, &[1.0, 20.0])
        );
        assert!(log_y(Axis::Block, Y::Time, &[1.0, 2.0]));
        assert!(!log_y(Axis::Block, Y::Bound, &[0.0, 20.0]), "0 has no place there");
    }
}
