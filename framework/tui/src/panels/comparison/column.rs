//! The columns of the comparison panel: their titles, texts and sort order.

use crate::filter::{Filter, Found};
use crate::paint::Painter;
use crate::session::comparison::{Compared, GROUP_SPECS, Line};
use ratatui::style::Style;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use swapmeet_results::units::number_to;
use swapmeet_results::{Group, Status, duration};

/// A column of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Topology,
    Workload,
    Machine,
    Algorithm,
    Time,
    Ratio,
    /// What was verified. For a failed case, its status and the reason.
    Verified,
    Interval,
    /// The time divided by the lower bound.
    OverBound,
    /// The time divided by the optimum.
    OverOptimum,
    Steps,
    Messages,
    LinkLoad,
    /// The data size divided by the time, as defined by nccl-tests.
    AlgorithmBandwidth,
    /// The algorithm bandwidth in relation to the bandwidth of a node, as defined by nccl-tests.
    BusBandwidth,
}

enum SortKey<'a> {
    Text(&'a str),
    Number(f64),
    Nothing,
}

impl SortKey<'_> {
    fn rank(&self) -> u8 {
        u8::from(matches!(self, Self::Nothing))
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            _ => Ordering::Equal,
        }
    }
}

impl Column {
    /// All columns in display order.
    pub(super) const ALL: [Self; 15] = [
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
        match self {
            Self::Topology => "topology",
            Self::Workload => "workload",
            Self::Machine => "machine",
            Self::Algorithm => "algorithm",
            Self::Time => "time",
            Self::Ratio => "ratio",
            Self::Interval => "95 %",
            Self::OverBound => "time/bound",
            Self::OverOptimum => "time/optimum",
            Self::Steps => "steps",
            Self::Messages => "messages",
            Self::LinkLoad => "link load",
            Self::AlgorithmBandwidth => "algbw GB/s",
            Self::BusBandwidth => "busbw GB/s",
            Self::Verified => "verified",
        }
    }

    fn value<'c>(self, all: &'c Compared, line: &'c Line) -> SortKey<'c> {
        let rank = |at: usize| {
            SortKey::Number(all.ranks.get(line.group).map_or(0.0, |ranks| ranks[at] as f64))
        };
        let number = |value: Option<f64>| value.map_or(SortKey::Nothing, SortKey::Number);
        let count = |value: Option<u64>| number(value.map(|v| v as f64));
        match self {
            // Sort specs in the order in which the user selected them, so that 8x8 comes before
            // 16x16.
            Self::Topology => rank(0),
            Self::Workload => rank(1),
            Self::Machine => rank(2),
            Self::Algorithm => SortKey::Text(&line.stats.algorithm),
            Self::Verified if line.stats.time.is_none() => SortKey::Text(line.stats.status.word()),
            Self::Verified => SortKey::Text(&line.stats.verification),
            Self::Time => number(line.stats.time.as_ref().map(|t| t.mean)),
            Self::Ratio => number(line.ratio()),
            Self::Interval => number(line.interval().map(|i| i.high - i.low)),
            Self::OverBound => number(line.over_bound),
            Self::OverOptimum => number(line.over_optimum),
            Self::Steps => count(line.sample.steps),
            Self::Messages => count(line.sample.messages),
            Self::LinkLoad => count(line.sample.max_link_messages),
            Self::AlgorithmBandwidth => number(line.stats.bandwidths.map(|b| b.algorithm)),
            Self::BusBandwidth => number(line.stats.bandwidths.map(|b| b.bus)),
        }
    }

    /// Returns whether the column contains numbers, which must not be cut.
    pub(super) fn is_number(self) -> bool {
        !matches!(
            self,
            Self::Topology | Self::Workload | Self::Machine | Self::Algorithm | Self::Verified
        )
    }

    /// Returns the texts of this column in all groups; `None` if it does not describe groups.
    pub(super) fn texts(self, compared: &Compared) -> Option<&BTreeSet<String>> {
        let [topologies, workloads, machines, _] = &compared.specs;
        match self {
            Self::Topology => Some(topologies),
            Self::Workload => Some(workloads),
            Self::Machine => Some(machines),
            _ => None,
        }
    }

    /// Returns whether the text of this column differs between groups.
    pub(super) fn varies(self, compared: &Compared) -> bool {
        self.texts(compared).is_some_and(|texts| texts.len() > 1)
    }

    /// Returns the text of this column for a group. The text is empty if the column does not
    /// describe groups.
    pub(super) fn of(self, group: &Group) -> &str {
        match self {
            Self::Topology => &group.setting.topology,
            Self::Workload => &group.setting.workload,
            Self::Machine => &group.setting.machine,
            Self::Algorithm
            | Self::Time
            | Self::Ratio
            | Self::Verified
            | Self::Interval
            | Self::OverBound
            | Self::OverOptimum
            | Self::Steps
            | Self::Messages
            | Self::LinkLoad
            | Self::AlgorithmBandwidth
            | Self::BusBandwidth => "",
        }
    }

    /// Returns the text of this column for a line.
    pub(super) fn text(self, compared: &Compared, line: &Line) -> String {
        let count = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        match self {
            Self::Topology | Self::Workload | Self::Machine => compared
                .groups
                .get(line.group)
                .map(|group| self.of(group).to_owned())
                .unwrap_or_default(),
            Self::Algorithm => line.stats.algorithm.clone(),
            Self::Verified if line.stats.time.is_none() && !line.stats.reason.is_empty() => {
                format!("{}: {}", line.stats.status, line.stats.reason)
            }
            Self::Verified if line.stats.time.is_none() => line.stats.status.to_string(),
            Self::Verified => format!("✓ {}", line.stats.verification),
            // `~` marks a time that does not include the changes of the what-if panel. A worker
            // must first plan the case again.
            Self::Time if compared.is_outdated(&line.stats.algorithm) => line
                .stats
                .time
                .as_ref()
                .map(|t| format!("~{}", duration(t.mean)))
                .unwrap_or_default(),
            Self::Time => line.stats.time.as_ref().map(|t| duration(t.mean)).unwrap_or_default(),
            Self::Ratio if line.is_baseline => "base".to_owned(),
            Self::Ratio => line.ratio().map(|r| format!("{r:.3}")).unwrap_or_default(),
            Self::Interval => match line.interval() {
                Some(i) if i.is_point() => "no spread".to_owned(),
                Some(i) => format!("{:.3}..{:.3}", i.low, i.high),
                None => String::new(),
            },
            Self::OverBound => line.over_bound.map(|x| format!("{x:.2}")).unwrap_or_default(),
            Self::OverOptimum => line.over_optimum.map(|x| format!("{x:.2}")).unwrap_or_default(),
            Self::Steps => count(line.sample.steps),
            Self::Messages => count(line.sample.messages),
            Self::LinkLoad => count(line.sample.max_link_messages),
            Self::AlgorithmBandwidth => {
                line.stats.bandwidths.map(|b| number_to(b.algorithm, 4)).unwrap_or_default()
            }
            Self::BusBandwidth => {
                line.stats.bandwidths.map(|b| number_to(b.bus, 4)).unwrap_or_default()
            }
        }
    }

    /// Returns the style of a cell. In the columns that name the group, only the first line of each
    /// group is highlighted.
    pub(super) fn style(self, painter: &Painter<'_, '_>, line: &Line, begins: bool) -> Style {
        let theme = painter.theme;
        match self {
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

/// Returns the indices of the lines that pass the filter. Each text that occurs in many lines is
/// searched only once. `about` describes an algorithm, in lower case.
pub(super) fn passing<'s>(
    compared: &Compared,
    filter: &Filter,
    about: impl Fn(&str) -> &'s str,
) -> Vec<usize> {
    if filter.text().is_empty() {
        return (0..compared.lines.len()).collect();
    }
    let find = |text: &str| filter.find(&text.to_lowercase());
    // Terms must not match across two specs, so the specs of a group are one text with spaces.
    let specs = compared.groups.iter().map(|group| {
        find(&GROUP_SPECS[..3].iter().map(|spec| spec(group)).collect::<Vec<_>>().join(" "))
    });
    let groups: Vec<Found> = specs.collect();
    let mut algorithms: HashMap<&str, Found> = HashMap::new();
    let passes = |index: &usize| {
        let line = &compared.lines[*index];
        let name = &*line.stats.algorithm;
        let algorithm =
            *algorithms.entry(name).or_insert_with(|| find(name) | filter.find(about(name)));
        let outcome = find(line.stats.status.word()) | find(&line.stats.verification);
        filter.accepts(groups[line.group] | algorithm | outcome)
    };
    (0..compared.lines.len()).filter(passes).collect()
}

/// Sorts the indices of lines by a column.
pub(super) fn sort(
    compared: &Compared,
    lines: Vec<usize>,
    by: Column,
    reverse: bool,
) -> Vec<usize> {
    // Collect the values first, because the lines themselves are far apart in memory.
    let value = |index: usize| (by.value(compared, &compared.lines[index]), index);
    let mut lines: Vec<(SortKey<'_>, usize)> = lines.into_iter().map(value).collect();
    lines.sort_by(|(a, _), (b, _)| {
        // Lines without a value are last, both in ascending and in descending order.
        match (a, b) {
            (SortKey::Nothing, _) | (_, SortKey::Nothing) => a.rank().cmp(&b.rank()),
            _ if reverse => b.compare(a),
            _ => a.compare(b),
        }
    });
    lines.into_iter().map(|(_, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::comparison::tests::row;
    use swapmeet_results::Record;

    fn sorted(all: &Compared, by: Column, reverse: bool, filter: &str) -> Vec<usize> {
        sort(all, passing(all, &Filter::of(filter), |_| ""), by, reverse)
    }

    fn names(all: &Compared, lines: &[usize]) -> String {
        lines.iter().map(|l| &*all.lines[*l].stats.algorithm).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn lines_without_a_value_sort_last() {
        let failed =
            Record { status: Status::Timeout, time_us: None, ..row("c", "ring:4", 0, 0.0) };
        let all = Compared::of(
            vec![row("b", "ring:4", 0, 20.0), failed, row("a", "ring:4", 0, 10.0)],
            None,
        );
        let names = |by, reverse, filter| names(&all, &sorted(&all, by, reverse, filter));
        assert_eq!(names(Column::Time, false, ""), "a b c");
        assert_eq!(names(Column::Time, true, ""), "b a c");
        assert_eq!(names(Column::Algorithm, true, ""), "c b a");
        assert_eq!(names(Column::Time, false, "ring:4 timeout"), "c");
        assert_eq!(names(Column::Time, false, "RING:4 !timeout"), "a b");
    }

    #[test]
    fn topologies_sort_in_the_order_of_selection() {
        let rows = vec![
            row("a", "torus:8x8", 0, 3.0),
            row("a", "torus:16x16", 0, 1.0),
            row("b", "torus:8x8", 0, 4.0),
        ];
        let all = Compared::of(rows, None);
        let sorted = sorted(&all, Column::Topology, false, "");
        let topologies: Vec<&str> =
            sorted.iter().map(|l| &*all.groups[all.lines[*l].group].setting.topology).collect();
        assert_eq!(topologies, ["torus:8x8", "torus:8x8", "torus:16x16"]);
    }
}
