//! What the bars of a figure are made of, end to end.

use swapmeet_results::units::{duration, number, size};
use swapmeet_results::{Parts, Record, parts};

/// What a bar is the sum of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stack {
    /// The parts of completion time.
    Parts,
    /// Steps, and the turns that they come to if messages over one link wait for each other.
    Steps,
    /// Bytes over links: what is sent, once, and again for each further link of its route.
    Traffic,
}

impl Stack {
    /// What it is made of.
    pub(crate) fn names(self) -> Vec<&'static str> {
        match self {
            Self::Parts => Parts::default().each().map(|(name, _)| name).to_vec(),
            Self::Steps => vec!["steps", "further turns on the fullest links"],
            Self::Traffic => vec!["bytes sent", "over further links"],
        }
    }

    /// A column each, with its unit.
    pub(crate) fn columns(self) -> Vec<String> {
        match self {
            Self::Parts => self.names().iter().map(|name| format!("{name}_us")).collect(),
            Self::Steps => vec!["steps".to_owned(), "further_turns".to_owned()],
            Self::Traffic => vec!["bytes".to_owned(), "further_link_bytes".to_owned()],
        }
    }

    /// Its pieces, in that order, in the mean over rows, and their sum; `None` where no row has
    /// any. A piece without a meaning there is `None`.
    pub(crate) fn of<'a>(
        self,
        rows: impl Iterator<Item = &'a Record>,
    ) -> Option<(Vec<Option<f64>>, f64)> {
        if self == Self::Parts {
            let parts = parts::mean(rows);
            return Some((parts.each().map(|(_, part)| part).to_vec(), parts::total(&parts)?));
        }
        let (mut sums, mut count) = ([0.0; 2], 0.0);
        for [least, whole] in rows.filter_map(|row| self.counted(row)) {
            sums[0] += least;
            sums[1] += (whole - least).max(0.0);
            count += 1.0;
        }
        let pieces = sums.map(|sum| sum / count);
        (count > 0.0).then(|| (pieces.map(Some).to_vec(), pieces.iter().sum()))
    }

    /// What a row counts at the least, and in all.
    fn counted(self, row: &Record) -> Option<[f64; 2]> {
        match self {
            Self::Parts => None,
            Self::Steps => row
                .steps
                .map(|steps| [steps, row.sum_link_messages.unwrap_or(steps)].map(|n| n as f64)),
            Self::Traffic => row
                .total_bytes
                .zip(row.total_hop_bytes)
                .map(|(once, all)| [once, all].map(|n| n as f64)),
        }
    }

    /// A value, for reading.
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::Parts => duration(value),
            Self::Steps => number(value),
            Self::Traffic => size(value),
        }
    }

    /// What a figure of it is called that has no other title.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Parts => "where time goes",
            Self::Steps => "steps, and turns on shared links",
            Self::Traffic => "bytes over links",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(steps: Option<u64>, sum_link_messages: Option<u64>, bytes: Option<[u128; 2]>) -> Record {
        let [total_bytes, total_hop_bytes] = [0, 1].map(|i| bytes.map(|bytes| bytes[i]));
        Record { steps, sum_link_messages, total_bytes, total_hop_bytes, ..Record::default() }
    }

    #[test]
    fn counts_are_parted_into_what_there_is_at_least_and_what_comes_on_top() {
        let rows =
            [row(Some(4), Some(10), Some([100, 250])), row(Some(6), Some(6), Some([100, 350]))];
        assert_eq!(Stack::Steps.of(rows.iter()), Some((vec![Some(5.0), Some(3.0)], 8.0)));
        assert_eq!(Stack::Traffic.of(rows.iter()), Some((vec![Some(100.0), Some(200.0)], 300.0)));
        assert_eq!(
            Stack::Steps.of([row(Some(4), None, None)].iter()),
            Some((vec![Some(4.0), Some(0.0)], 4.0))
        );
        assert_eq!(Stack::Traffic.of([row(Some(4), None, None)].iter()), None);
    }
}
