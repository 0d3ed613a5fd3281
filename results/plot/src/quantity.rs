//! What can be on an axis.

use swapmeet_results::Record;

/// What is on the x axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum X {
    /// Bytes of a block: those of `uniform`, the mean of `irregular`, the spike of others.
    Block,
    /// Nodes.
    Nodes,
    /// Coefficient of variation of the sizes.
    Cv,
}

impl X {
    /// What is written along the axis.
    pub fn label(self) -> &'static str {
        match self {
            Self::Block => "block size",
            Self::Nodes => "nodes",
            Self::Cv => "coefficient of variation of the block sizes",
        }
    }

    /// A value, as read at the axis.
    pub fn tick(self, value: f64) -> String {
        match self {
            Self::Block => bytes(value),
            Self::Nodes | Self::Cv => short(value),
        }
    }
}

/// What is on the y axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Y {
    /// Completion time.
    Time,
    /// Completion time over the baseline's.
    Ratio,
    /// Completion time over the lower bound.
    Bound,
    /// What sharing links, or waiting for ports, adds.
    Contention,
    /// Steps.
    Steps,
    /// Messages over all steps.
    Messages,
    /// The most messages on one link in one step.
    LinkMessages,
    /// The most bytes one node held.
    NodeBytes,
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
        }
    }

    /// What a row has of it; ratios are made of times later.
    pub(crate) fn of(self, record: &Record) -> Option<f64> {
        let count = |n: Option<u64>| n.map(|n| n as f64);
        match self {
            Self::Time | Self::Ratio => record.time_us,
            Self::Bound => record.time_us.zip(record.lower_bound_us).map(|(t, b)| t / b).filter(|r| r.is_finite()),
            Self::Contention => record.contention_us,
            Self::Steps => count(record.steps),
            Self::Messages => count(record.messages),
            Self::LinkMessages => count(record.max_link_messages),
            Self::NodeBytes => record.peak_node_bytes.map(|n| n as f64),
        }
    }

    /// Whether what lies between two block sizes lies on a straight line: times are sums of a start and a rate.
    pub(crate) fn is_linear_in_bytes(self) -> bool {
        matches!(self, Self::Time | Self::Contention | Self::NodeBytes)
    }

    /// A value, as read at the axis.
    pub fn tick(self, value: f64) -> String {
        match self {
            Self::Time | Self::Contention => duration(value),
            Self::NodeBytes => bytes(value),
            _ => short(value),
        }
    }
}

/// Which axes are logarithmic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Log {
    /// The x axis.
    pub x: bool,
    /// The y axis.
    pub y: bool,
}

impl Log {
    /// What suits these quantities: sizes, nodes and times go over orders of magnitude, ratios and variation don't.
    pub fn suits(x: X, y: Y) -> Self {
        Self { x: x != X::Cv, y: !matches!(y, Y::Ratio | Y::Bound | Y::LinkMessages) && x != X::Cv }
    }
}

/// Bytes in the largest unit of 1024 that they fill.
fn bytes(value: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (value.abs().max(1.0).log2() / 10.0).floor().min(4.0);
    format!("{} {}", short(value / (power * 10.0).exp2()), units[power as usize])
}

/// Microseconds with a unit that suits them.
fn duration(us: f64) -> String {
    match us.abs() {
        0.0 => "0".to_owned(),
        v if v < 1e3 => format!("{} us", short(us)),
        v if v < 1e6 => format!("{} ms", short(us / 1e3)),
        _ => format!("{} s", short(us / 1e6)),
    }
}

/// Three figures, no zeros after them.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = (2 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_with_their_units() {
        let read = [0.0, 1.0, 32.84, 1023.0, 1024.0, 5000.3, 3145728.0].map(|v| X::Block.tick(v));
        assert_eq!(read, ["0 B", "1 B", "32.8 B", "1023 B", "1 KiB", "4.88 KiB", "3 MiB"]);
        assert_eq!([0.5, 200.0, 1e3, 2.5e6].map(|v| Y::Time.tick(v)), ["0.5 us", "200 us", "1 ms", "2.5 s"]);
        assert_eq!([16384.0, 1.25, 0.0].map(|v| Y::Steps.tick(v)), ["16384", "1.25", "0"]);
    }
}
