//! The columns of the table: their titles, texts and sort order. A line of the table describes one
//! algorithm, or a case that has no row yet. The lines with the same topology, workload and machine
//! form a group.

use crate::filter::{Filter, Found};
use crate::paint::Painter;
use crate::session::comparison::{Compared, GROUP_SPECS, Line, LineTexts};
use crate::session::queue::{CaseRow, Queue};
use ratatui::style::Style;
use std::collections::BTreeSet;
use std::ops::BitOr;
use std::sync::Arc;
use swapmeet_results::units::number_to;
use swapmeet_results::{Group, Status, Verified, duration};

/// A column of the table. The columns are in display order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    /// The state of the case, while cases run.
    State,
    Topology,
    Workload,
    Machine,
    Algorithm,
    Time,
    Ratio,
    /// The part of the delivery that was verified. For a failed case, its status and the reason.
    Verified,
    Interval,
    OverBound,
    OverOptimum,
    Steps,
    Messages,
    LinkLoad,
    AlgorithmBandwidth,
    /// The algorithm bandwidth in relation to the bandwidth of a node, as defined by nccl-tests.
    BusBandwidth,
}

impl Column {
    pub(super) const ALL: [Self; 16] = [
        Self::State,
        Self::Topology,
        Self::Workload,
        Self::Machine,
        Self::Algorithm,
        Self::Time,
        Self::Ratio,
        Self::Verified,
        Self::Interval,
        Self::OverBound,
        Self::OverOptimum,
        Self::Steps,
        Self::Messages,
        Self::LinkLoad,
        Self::AlgorithmBandwidth,
        Self::BusBandwidth,
    ];

    pub(super) fn title(self) -> &'static str {
        // In the order of the columns.
        const TITLES: [&str; 16] = [
            "state",
            "topology",
            "workload",
            "machine",
            "algorithm",
            "time",
            "ratio",
            "verified",
            "95 %",
            "time/bound",
            "time/optimum",
            "steps",
            "messages",
            "link load",
            "algbw GB/s",
            "busbw GB/s",
        ];
        TITLES[self as usize]
    }

    /// Returns the value of a column that counts.
    fn count(self, line: &Line) -> Option<u64> {
        match self {
            Self::Steps => line.steps,
            Self::Messages => line.messages,
            Self::LinkLoad => line.max_link_messages,
            _ => None,
        }
    }

    /// Returns the number by which this line is sorted; `None` if the line has no value in this
    /// column.
    fn value(self, all: &Compared, index: usize) -> Option<f64> {
        let (texts, line) = (all.texts[index], &all.lines[index]);
        let rank = |at: usize| all.ranks.get(texts.group as usize).map(|ranks| ranks[at] as f64);
        match self {
            // Sort specs in the order in which the user selected them, so that 8x8 comes before
            // 16x16.
            Self::Topology | Self::Workload | Self::Machine => rank(self.spec()?),
            Self::Algorithm => Some(f64::from(texts.algorithm)),
            Self::Verified => Some(f64::from(texts.outcome)),
            Self::State => None,
            Self::Time => line.stats.time.as_ref().map(|t| t.mean),
            Self::Ratio => line.ratio(),
            Self::Interval => line.interval().map(|i| i.high - i.low),
            Self::OverBound => line.over_bound,
            Self::OverOptimum => line.over_optimum(),
            Self::Steps | Self::Messages | Self::LinkLoad => self.count(line).map(|n| n as f64),
            Self::AlgorithmBandwidth => line.stats.bandwidths.map(|b| b.algorithm),
            Self::BusBandwidth => line.stats.bandwidths.map(|b| b.bus),
        }
    }

    /// Returns whether the column contains numbers, which must not be cut.
    pub(super) fn is_number(self) -> bool {
        self.is_value() && self != Self::Verified
    }

    /// Returns whether the column has values of rows, and neither their state nor their specs.
    pub(super) fn is_value(self) -> bool {
        self != Self::State && self.spec_of_case().is_none()
    }

    /// Returns the index of the column in [`GROUP_SPECS`]; `None` if the column does not describe
    /// groups.
    fn spec(self) -> Option<usize> {
        [Self::Topology, Self::Workload, Self::Machine].iter().position(|column| *column == self)
    }

    /// Returns the index of the column in [`CaseRow::specs`]; `None` if the column is not a spec.
    fn spec_of_case(self) -> Option<usize> {
        let specs = [Self::Algorithm, Self::Topology, Self::Workload, Self::Machine];
        specs.iter().position(|column| *column == self)
    }

    /// Returns the different texts of this column in all cases of the queue, also in those that
    /// have no row yet, so that the layout does not change during a run. `None` if the column is not
    /// a spec.
    pub(super) fn texts(self, queue: &Queue) -> Option<&BTreeSet<String>> {
        Some(&queue.specs()[self.spec_of_case()?])
    }

    /// Returns the text of this column for a case without a row.
    pub(super) fn text_of_case(self, case: &CaseRow) -> String {
        self.spec_of_case().map_or(String::new(), |at| case.specs()[at].to_owned())
    }

    pub(super) fn text(self, compared: &Compared, line: &Line) -> String {
        let number = |n: Option<f64>| n.map(|n| number_to(n, 4)).unwrap_or_default();
        match self {
            Self::State => mark(line.stats.status).to_owned(),
            Self::Topology | Self::Workload | Self::Machine => self
                .spec()
                .zip(compared.groups.get(line.group))
                .map(|(at, group)| GROUP_SPECS[at](group).to_owned())
                .unwrap_or_default(),
            Self::Algorithm => line.stats.algorithm.clone(),
            Self::Verified if line.stats.time.is_none() && !line.stats.reason.is_empty() => {
                format!("{}: {}", line.stats.status, line.stats.reason)
            }
            Self::Verified if line.stats.time.is_none() => line.stats.status.to_string(),
            // Nothing is verified in measurements of other programs.
            Self::Verified if line.stats.verified == Verified::None => {
                line.stats.verification.to_string()
            }
            Self::Verified => format!("✓ {}", line.stats.verification),
            Self::Time => line.stats.time.as_ref().map(|t| duration(t.mean)).unwrap_or_default(),
            Self::Ratio if line.is_baseline => "base".to_owned(),
            Self::Ratio => line.ratio().map(|r| format!("{r:.3}")).unwrap_or_default(),
            Self::Interval => match line.interval() {
                Some(i) if i.is_point() => "no spread".to_owned(),
                Some(i) => format!("{:.3}..{:.3}", i.low, i.high),
                None => String::new(),
            },
            Self::OverBound => line.over_bound.map(|x| format!("{x:.2}")).unwrap_or_default(),
            Self::OverOptimum => line.over_optimum().map(|x| format!("{x:.2}")).unwrap_or_default(),
            Self::Steps | Self::Messages | Self::LinkLoad => {
                self.count(line).map(|n| n.to_string()).unwrap_or_default()
            }
            Self::AlgorithmBandwidth => number(line.stats.bandwidths.map(|b| b.algorithm)),
            Self::BusBandwidth => number(line.stats.bandwidths.map(|b| b.bus)),
        }
    }

    /// Returns the style of a cell. In the columns that name the group, only the first line of each
    /// group is highlighted.
    pub(super) fn style(self, painter: &Painter<'_, '_>, line: &Line, begins: bool) -> Style {
        let theme = painter.theme;
        match self {
            Self::State if line.stats.time.is_some() => theme.good,
            Self::State => theme.dim,
            Self::Topology | Self::Workload | Self::Machine if !begins => theme.dim,
            Self::Verified if line.stats.time.is_some() => theme.good,
            Self::Verified if line.stats.status == Status::Unsupported => theme.dim,
            Self::Verified => theme.bad,
            Self::Ratio if line.is_baseline => theme.accent,
            Self::Ratio if line.ratio().is_some_and(|r| r < 1.0) => theme.good,
            Self::Algorithm if line.is_baseline => theme.accent,
            _ => theme.text,
        }
    }
}

pub(super) fn mark(status: Status) -> &'static str {
    match status {
        Status::Ok => "✓",
        Status::Unsupported => "-",
        Status::Invalid | Status::Crashed | Status::Timeout | Status::Error => "✕",
    }
}

/// Returns whether each line passes the filter. A text that occurs in many lines is searched only
/// once. `about` returns the description of an algorithm, in lower case.
pub(super) fn passing<'s>(
    compared: &Compared,
    filter: &Filter,
    about: impl Fn(&str) -> &'s str,
) -> Vec<bool> {
    let find = |text: &str| filter.find(&text.to_lowercase());
    let mut specs = [0, 1, 2].map(|at| vec![None; compared.specs[at].len()]);
    let of_group = |(group, ranks): (&Arc<Group>, &[usize; 3])| {
        let found = specs.iter_mut().zip(ranks).zip(GROUP_SPECS);
        let found = found
            .map(|((known, rank), spec)| *known[*rank].get_or_insert_with(|| find(spec(group))));
        found.fold(Found::default(), BitOr::bitor)
    };
    let groups: Vec<Found> = compared.groups.iter().zip(&compared.ranks).map(of_group).collect();
    let of_algorithm = |name: &String| find(name) | filter.find(about(name));
    let algorithms: Vec<Found> = compared.algorithms.iter().map(of_algorithm).collect();
    let outcomes: Vec<Found> = compared.outcomes.iter().map(|text| find(text)).collect();
    let passes = |texts: &LineTexts| {
        let (group, algorithm) =
            (groups[texts.group as usize], algorithms[texts.algorithm as usize]);
        filter.accepts(group | algorithm | outcomes[texts.outcome as usize])
    };
    compared.texts.iter().map(passes).collect()
}

/// The lines of a comparison, sorted by a column. Lines without a value are last, both in ascending
/// and in descending order.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// The indices of the lines with a value, in ascending order.
    valued: Vec<usize>,
    others: Vec<usize>,
}

impl Sorted {
    pub(super) fn by(compared: &Compared, column: Column) -> Self {
        // A line becomes one integer, with its value in the upper half and its index in the lower
        // half. The index keeps lines with equal values in their order. Sorting these integers is
        // several times as fast as sorting indices by their values.
        let (mut keys, mut others) = (Vec::with_capacity(compared.lines.len()), Vec::new());
        for index in 0..compared.lines.len() {
            match column.value(compared, index) {
                Some(value) => keys.push(u128::from(ordered(value)) << 64 | index as u128),
                None => others.push(index),
            }
        }
        keys.sort_unstable();
        Self { valued: keys.into_iter().map(|key| key as u64 as usize).collect(), others }
    }

    /// Returns the indices of the lines in ascending order of their values, or in descending order
    /// if `reverse` is set.
    pub(super) fn lines(&self, reverse: bool) -> impl Iterator<Item = usize> {
        let count = self.valued.len();
        let valued =
            (0..count).map(move |at| self.valued[if reverse { count - 1 - at } else { at }]);
        valued.chain(self.others.iter().copied())
    }
}

/// Converts a number to an integer, such that integers have the order of `f64::total_cmp`.
fn ordered(value: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::comparison::tests::{compared, row};
    use swapmeet_results::Record;

    fn sorted(all: &Compared, by: Column, reverse: bool, filter: &str) -> Vec<usize> {
        let passes = passing(all, &Filter::parse(filter), |_| "");
        Sorted::by(all, by).lines(reverse).filter(|line| passes[*line]).collect()
    }

    fn names(all: &Compared, lines: &[usize]) -> String {
        lines.iter().map(|l| &*all.lines[*l].stats.algorithm).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn lines_without_a_value_sort_last() {
        let failed =
            Record { status: Status::Timeout, time_us: None, ..row("c", "ring:4", 0, 0.0) };
        let all =
            compared(vec![row("b", "ring:4", 0, 20.0), failed, row("a", "ring:4", 0, 10.0)], None);
        let names = |by, reverse, filter| names(&all, &sorted(&all, by, reverse, filter));
        assert_eq!(names(Column::Time, false, ""), "a b c");
        assert_eq!(names(Column::Time, true, ""), "b a c");
        assert_eq!(names(Column::Verified, false, ""), "a b c", "ok, then timeout");
        assert_eq!(names(Column::Algorithm, true, ""), "c b a");
        assert_eq!(names(Column::Time, false, "ring:4 timeout"), "c");
        assert_eq!(names(Column::Time, false, "RING:4 !timeout"), "a b");
    }

    #[test]
    fn only_verified_rows_have_a_check_mark() {
        let measured = Record { verified: Verified::None, ..row("m", "ring:4", 0, 30.0) };
        let all = compared(vec![row("a", "ring:4", 0, 10.0), measured], None);
        let texts: Vec<String> =
            all.lines.iter().map(|line| Column::Verified.text(&all, line)).collect();
        assert_eq!(texts, ["✓ blocks", "none"]);
    }

    #[test]
    fn integers_have_the_order_of_numbers() {
        let numbers = [f64::NEG_INFINITY, -2.5, -0.0, 0.0, 1e-300, 1.0, 1.5, f64::INFINITY];
        assert!(numbers.map(ordered).is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn topologies_sort_in_the_order_of_selection() {
        let rows = vec![
            row("a", "torus:8x8", 0, 3.0),
            row("a", "torus:16x16", 0, 1.0),
            row("b", "torus:8x8", 0, 4.0),
        ];
        let all = compared(rows, None);
        let sorted = sorted(&all, Column::Topology, false, "");
        let topologies: Vec<&str> =
            sorted.iter().map(|l| &*all.groups[all.lines[*l].group].setting.topology).collect();
        assert_eq!(topologies, ["torus:8x8", "torus:8x8", "torus:16x16"]);
    }
}
