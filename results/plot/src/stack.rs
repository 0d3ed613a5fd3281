//! The quantities that stacked bars can show.

use swapmeet_results::units::{Unit, duration};
use swapmeet_results::{Kind, Record, parts};

/// The quantity that a bar shows as a sum of pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StackKind {
    /// The parts of completion time, such as start-up and transmission.
    Parts,
    /// The bytes that all links carry. The first piece counts each sent byte once. The second piece
    /// counts the byte again for each link of its route after the first link.
    Traffic,
}

impl StackKind {
    pub(crate) fn names(self) -> Vec<&'static str> {
        match self {
            Self::Parts => Kind::PARTS.map(Kind::name).to_vec(),
            Self::Traffic => vec!["bytes sent", "over further links"],
        }
    }

    pub(crate) fn columns(self) -> Vec<String> {
        match self {
            Self::Parts => self.names().iter().map(|name| format!("{name}_us")).collect(),
            Self::Traffic => vec!["bytes".to_owned(), "further_link_bytes".to_owned()],
        }
    }

    /// Returns the mean of each piece over `rows`, and the sum of these means. A piece that the
    /// rows do not have is `None`. If they have no pieces at all, the result is `None`.
    pub(crate) fn of<'a>(
        self,
        rows: impl Iterator<Item = &'a Record>,
    ) -> Option<(Vec<Option<f64>>, f64)> {
        match self {
            Self::Parts => {
                let parts = parts::mean(rows);
                Some((Kind::PARTS.map(|kind| parts[kind]).to_vec(), parts::total(&parts)?))
            }
            Self::Traffic => {
                let (mut sums, mut count) = ([0.0; 2], 0.0);
                let sent = rows.filter_map(|row| row.total_bytes.zip(row.total_hop_bytes));
                for (once, all) in sent.map(|(once, all)| (once as f64, all as f64)) {
                    sums[0] += once;
                    sums[1] += (all - once).max(0.0);
                    count += 1.0;
                }
                let pieces = sums.map(|sum| sum / count);
                (count > 0.0).then(|| (pieces.map(Some).to_vec(), pieces.iter().sum()))
            }
        }
    }

    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Parts => Unit::Time,
            Self::Traffic => Unit::Bytes,
        }
    }

    /// Formats the length of a bar or a piece. Times have four digits.
    pub(crate) fn text(self, value: f64) -> String {
        match self.unit() {
            Unit::Time => duration(value),
            unit => unit.text(value),
        }
    }

    pub(crate) fn axis(self) -> &'static str {
        match self {
            Self::Parts => "completion time",
            Self::Traffic => "bytes carried by all links",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Parts => "where time goes",
            Self::Traffic => "bytes over links",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_split_into_two_pieces() {
        let row = |bytes: Option<[u128; 2]>| {
            let [total_bytes, total_hop_bytes] = [0, 1].map(|i| bytes.map(|bytes| bytes[i]));
            Record { total_bytes, total_hop_bytes, ..Record::default() }
        };
        let rows = [row(Some([100, 250])), row(None), row(Some([100, 350]))];
        assert_eq!(
            StackKind::Traffic.of(rows.iter()),
            Some((vec![Some(100.0), Some(200.0)], 300.0))
        );
        assert_eq!(StackKind::Traffic.of([row(None)].iter()), None);
    }
}
