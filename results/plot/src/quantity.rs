use swapmeet_results::analysis::Axis;
use swapmeet_results::stats::Interval;
use swapmeet_results::units::Unit;
use swapmeet_results::{Bandwidths, Record};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    /// The mean over the repetitions.
    pub y: f64,
    /// The error bar: the 95 % confidence interval of the mean, or the range over failed links.
    pub interval: Option<Interval>,
}

/// The quantity of the y axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Quantity {
    /// Completion time.
    Time,
    /// Completion time divided by the baseline's.
    Ratio,
    /// Completion time divided by the lower bound.
    Bound,
    /// Completion time divided by the optimum, in rows of `run --optimum`.
    Optimum,
    /// Time added by contention.
    Contention,
    /// Number of steps.
    Steps,
    /// Number of messages.
    Messages,
    /// Maximum number of messages on one link in one step.
    LinkMessages,
    /// Maximum number of bytes held by one node.
    NodeBytes,
    /// Algorithm bandwidth (size divided by time), as defined by nccl-tests.
    #[cfg_attr(feature = "clap", value(name = "algbw"))]
    AlgorithmBandwidth,
    /// Bus bandwidth, as defined by nccl-tests; comparable to the bandwidth of a node.
    #[cfg_attr(feature = "clap", value(name = "busbw"))]
    BusBandwidth,
}

impl Quantity {
    pub fn label(self) -> &'static str {
        match self {
            Self::Time => "completion time",
            Self::Ratio => "completion time over that of the fastest",
            Self::Bound => "completion time over the lower bound",
            Self::Optimum => "completion time over the optimum",
            Self::Contention => "time added by contention",
            Self::Steps => "steps",
            Self::Messages => "messages",
            Self::LinkMessages => "most messages on a link in a step",
            Self::NodeBytes => "most bytes held by a node",
            Self::AlgorithmBandwidth => "algorithm bandwidth, GB/s",
            Self::BusBandwidth => "bus bandwidth, GB/s",
        }
    }

    /// Returns the value in a row. For [`Self::Ratio`], which needs two rows, returns the time.
    pub(crate) fn value(self, record: &Record) -> Option<f64> {
        let count = |n: Option<u64>| n.map(|n| n as f64);
        let over = |bound: Option<f64>| Some(record.time_us? / bound?).filter(|r| r.is_finite());
        let bandwidths = || Bandwidths::of(record, record.time_us?);
        match self {
            Self::Time | Self::Ratio => record.time_us,
            Self::Bound => over(record.lower_bound_us),
            Self::Optimum => over(record.optimum_us),
            Self::Contention => record.contention_us,
            Self::Steps => count(record.steps),
            Self::Messages => count(record.messages),
            Self::LinkMessages => count(record.max_link_messages),
            Self::NodeBytes => record.peak_node_bytes.map(|n| n as f64),
            Self::AlgorithmBandwidth => bandwidths().map(|bandwidths| bandwidths.algorithm),
            Self::BusBandwidth => bandwidths().map(|bandwidths| bandwidths.bus),
        }
    }

    pub(crate) fn is_of_times(self) -> bool {
        match self {
            Self::Time
            | Self::Ratio
            | Self::Bound
            | Self::Optimum
            | Self::AlgorithmBandwidth
            | Self::BusBandwidth => true,
            Self::Contention
            | Self::Steps
            | Self::Messages
            | Self::LinkMessages
            | Self::NodeBytes => false,
        }
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::Time | Self::Contention => Unit::Time,
            Self::NodeBytes => Unit::Bytes,
            Self::Ratio
            | Self::Bound
            | Self::Optimum
            | Self::Steps
            | Self::Messages
            | Self::LinkMessages
            | Self::AlgorithmBandwidth
            | Self::BusBandwidth => Unit::Number,
        }
    }
}

/// The logarithmic axes of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LogAxes {
    /// No axis.
    None,
    /// The x axis.
    X,
    /// The y axis.
    Y,
    /// Both axes.
    Both,
}

impl LogAxes {
    pub fn x(self) -> bool {
        matches!(self, Self::X | Self::Both)
    }

    pub fn y(self) -> bool {
        matches!(self, Self::Y | Self::Both)
    }

    /// Chooses which axes are logarithmic: always for sizes, numbers of nodes and most quantities.
    /// An axis of a parameter is logarithmic if its values span a factor of eight, and an axis of
    /// ratios or link loads if its values span a factor of ten.
    pub fn suits<P: Iterator<Item = Point>>(x: Axis, y: Quantity, points: impl Fn() -> P) -> Self {
        let span = |values: &mut dyn Iterator<Item = f64>| {
            let (least, most) =
                values.fold((f64::MAX, f64::MIN), |(least, most), v| (least.min(v), most.max(v)));
            if least > 0.0 { most / least } else { 0.0 }
        };
        let is_log_x = match x {
            Axis::Block | Axis::Nodes => true,
            Axis::Variation | Axis::Faults => false,
            Axis::Parameter(_) => span(&mut points().map(|point| point.x)) >= 8.0,
        };
        let even = !is_log_x
            || matches!(
                y,
                Quantity::Ratio | Quantity::Bound | Quantity::Optimum | Quantity::LinkMessages
            );
        let is_log_y = !even || span(&mut points().map(|point| point.y)) >= 10.0;
        match (is_log_x, is_log_y) {
            (false, false) => Self::None,
            (true, false) => Self::X,
            (false, true) => Self::Y,
            (true, true) => Self::Both,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values follow from nccl-tests' `doc/PERFORMANCE.md` (4 nodes, 3000-byte blocks, 1 µs).
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
            (Quantity::AlgorithmBandwidth.value(&record), Quantity::BusBandwidth.value(&record))
        };
        assert_eq!(of("allreduce"), (Some(3.0), Some(4.5)));
        assert_eq!(of("broadcast"), (Some(3.0), Some(3.0)));
        assert_eq!(of("reduce-scatter"), (Some(12.0), Some(9.0)));
        assert_eq!(of("permutation"), (None, None));
    }

    #[test]
    fn values_over_a_decade_get_a_logarithmic_axis() {
        let point = |y: &f64| Point { x: 1.0, y: *y, interval: None };
        let log_y = |x, y, values: &[f64]| LogAxes::suits(x, y, || values.iter().map(point)).y();
        assert!(
            !log_y(Axis::Block, Quantity::Ratio, &[1.0, 9.0])
                && log_y(Axis::Block, Quantity::Ratio, &[1.0, 11.0])
        );
        assert!(
            !log_y(Axis::Variation, Quantity::Time, &[1.0, 2.0])
                && log_y(Axis::Variation, Quantity::Time, &[1.0, 20.0])
        );
        assert!(log_y(Axis::Block, Quantity::Time, &[1.0, 2.0]));
        assert!(!log_y(Axis::Block, Quantity::Bound, &[0.0, 20.0]), "0 has no place there");
    }
}
