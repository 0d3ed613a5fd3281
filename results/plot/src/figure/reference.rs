//! References, with which the curves of algorithms can be compared, and error bars.

use crate::quantity::Quantity;
use swapmeet_results::Record;
use swapmeet_results::analysis::Axis;
use swapmeet_results::stats::{Interval, Summary};

/// A time that is the same for all algorithms of a case. It is drawn as a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    LowerBound,
    /// The optimum. Only rows of `run --optimum` have it.
    Optimum,
}

impl Reference {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::LowerBound => "lower bound",
            Self::Optimum => "optimum",
        }
    }

    pub(crate) fn value(self, row: &Record) -> Option<f64> {
        match self {
            Self::LowerBound => row.lower_bound_us,
            Self::Optimum => row.optimum_us,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorBars {
    Confidence,
    /// The range over repetitions with different patterns of failed links. A user has one network,
    /// and wants to know the range of possible times rather than the precision of their mean.
    Patterns,
}

impl ErrorBars {
    /// If the axis is the number of failed links, returns ranges over their patterns, unless the
    /// figure shows ratios of two algorithms. Otherwise returns confidence intervals.
    pub(crate) fn for_axes(x: Axis, y: Quantity) -> Self {
        match (x, y) {
            (Axis::Faults, Quantity::Ratio) => Self::Confidence,
            (Axis::Faults, _) => Self::Patterns,
            (Axis::Block | Axis::Nodes | Axis::Variation | Axis::Parameter(_), _) => {
                Self::Confidence
            }
        }
    }

    pub(crate) fn interval(self, values: &[f64], summary: &Summary) -> Option<Interval> {
        match self {
            Self::Confidence => summary.interval,
            Self::Patterns => {
                let low = values.iter().copied().fold(f64::INFINITY, f64::min);
                let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                summary.interval.map(|_| Interval { low, high })
            }
        }
    }

    /// Describes the bars. `is_random` is whether repetitions also differ in random block sizes.
    pub(crate) fn in_words(self, is_random: bool) -> &'static str {
        match self {
            Self::Confidence => "Bars are 95 % confidence intervals over repetitions.",
            Self::Patterns if is_random => {
                "Points are means over repetitions, and bars the ranges over them. Each repetition draws its own failed links and sizes; with 0 failed links, only the sizes differ."
            }
            Self::Patterns => {
                "Points are means over patterns of failed links, and bars the ranges over them."
            }
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Confidence => "95 %",
            Self::Patterns => "range",
        }
    }
}
