//! The comparison on screen: a line an algorithm and group of cases, with figures from the statistics of the results.

use super::Words;
use std::cmp::Ordering;
use std::collections::HashMap;
use swapmeet_results::stats::{Interval, Summary};
use swapmeet_results::{CompareError, Record, Status, Verified, compare};

/// Where a row has a part of time.
type PartOf = fn(&Record) -> Option<f64>;

/// The six parts of time, as they are called and as the rows have them.
pub const PARTS: [(&str, PartOf); 6] = [
    ("startup", |r| r.startup_us),
    ("transmission", |r| r.transmission_us),
    ("propagation", |r| r.propagation_us),
    ("rearrangement", |r| r.rearrangement_us),
    ("barrier", |r| r.barrier_us),
    ("contention", |r| r.contention_us),
];

/// One algorithm on one topology, with one workload and machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Which group of cases it belongs to: those that differ only in the algorithm.
    pub group: usize,
    /// The algorithm.
    pub algorithm: String,
    /// Whether the others of the group are compared with it.
    pub is_baseline: bool,
    /// How its rows ended.
    pub status: Status,
    /// Why, where not `ok`.
    pub reason: String,
    /// What was proved.
    pub verified: Verified,
    /// Its times.
    pub time: Option<Summary>,
    /// Mean time over the baseline's.
    pub ratio: Option<f64>,
    /// The 95 % interval of the ratio, where there are repetitions.
    pub interval: Option<Interval>,
    /// Mean time over the lower bound.
    pub over_bound: Option<f64>,
    /// Synchronous steps.
    pub steps: Option<u64>,
    /// Messages over all steps.
    pub messages: Option<u64>,
    /// The most messages on one directed link in one step.
    pub worst_link: Option<u64>,
    /// The mean of each of the six parts; empty without a time.
    pub parts: Vec<f64>,
    /// One of its rows: experiment and plugin aside, what tells its case.
    pub sample: Record,
}

/// A group of cases that differ only in the algorithm.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group {
    /// Where.
    pub topology: String,
    /// Nodes.
    pub nodes: u64,
    /// What, with its collective.
    pub workload: String,
    /// At which prices.
    pub machine: String,
    /// By which model.
    pub model: String,
}

/// All that is compared.
#[derive(Debug, Clone, Default)]
pub struct Compared {
    /// Groups, by topology, workload and machine, each in the order in which they came first: a case added later stands where one looks for it.
    pub groups: Vec<Group>,
    /// Lines, group by group, fastest first.
    pub lines: Vec<Line>,
    /// Why there is no comparison.
    pub error: Option<String>,
    /// For each group, which topology, workload and machine it has, counted in the order in which they came.
    ranks: Vec<[usize; 3]>,
}

impl Line {
    /// Whether a row is of this line: any repetition of its case.
    pub fn is_of(&self, row: &Record) -> bool {
        fn case(r: &Record) -> [&str; 6] {
            [&r.algorithm, &r.topology, &r.collective, &r.workload, &r.machine, &r.model].map(String::as_str)
        }
        case(&self.sample) == case(row)
    }
}

impl Compared {
    /// Compares the rows there are. A baseline that no row is of is as good as none.
    pub fn of(records: Vec<Record>, baseline: Option<&str>) -> Self {
        let mut files = vec![(String::new(), records)];
        let compared = match compare(&files, baseline) {
            Err(CompareError::NoBaseline { .. }) => compare(&files, None),
            other => other,
        };
        let records = files.pop().map(|(_, records)| records).unwrap_or_default();
        match compared {
            Ok(comparison) => Self::join(&comparison, &records),
            Err(CompareError::NoRows) => Self::default(),
            Err(error) => Self { error: Some(error.to_string()), ..Self::default() },
        }
    }

    /// The statistics' lines, with the figures that only the rows have.
    fn join(comparison: &swapmeet_results::Comparison, records: &[Record]) -> Self {
        let mut by_case: HashMap<[&str; 6], Vec<&Record>> = HashMap::new();
        for r in records {
            let case = [&r.topology, &r.collective, &r.workload, &r.machine, &r.model, &r.algorithm];
            by_case.entry(case.map(String::as_str)).or_default().push(r);
        }
        let mut compared = Self::default();
        let ranks = ranks(comparison.groups.iter().map(|g| [&g.topology, &g.workload, &g.machine]));
        let mut groups: Vec<_> = ranks.into_iter().zip(&comparison.groups).collect();
        groups.sort_by_key(|(ranks, _)| *ranks);
        for (ranks, group) in groups {
            let number = compared.groups.len();
            let mut nodes = 0;
            for line in &group.lines {
                // A label has its plugin after it where two versions of an algorithm are compared.
                let name = line.algorithm.split(" (").next().unwrap_or(&line.algorithm);
                let case = [&group.topology, &group.collective, &group.workload, &group.machine, &group.model]
                    .map(String::as_str);
                let [a, b, c, d, e] = case;
                let rows = by_case.get(&[a, b, c, d, e, name]).map_or(&[][..], Vec::as_slice);
                let Some(sample) = rows.iter().find(|r| r.status == Status::Ok).or(rows.first()) else { continue };
                nodes = sample.nodes;
                let mean = |value: &dyn Fn(&Record) -> Option<f64>| {
                    let values: Vec<f64> = rows.iter().filter_map(|r| value(r)).collect();
                    Summary::of(&values).map(|s| s.mean)
                };
                let bound = mean(&|r| r.lower_bound_us);
                let time = line.time.as_ref().map(|t| t.mean);
                compared.lines.push(Line {
                    group: number,
                    algorithm: line.algorithm.clone(),
                    is_baseline: group.baseline.as_ref() == Some(&line.algorithm),
                    status: line.status,
                    reason: line.reason.clone(),
                    verified: line.verified,
                    ratio: line.ratio.as_ref().map(|r| r.value),
                    interval: line.ratio.as_ref().and_then(|r| r.interval),
                    over_bound: time.zip(bound).filter(|(_, bound)| *bound > 0.0).map(|(time, bound)| time / bound),
                    steps: sample.steps,
                    messages: sample.messages,
                    worst_link: sample.max_link_messages,
                    parts: PARTS.iter().filter_map(|(_, part)| mean(part)).collect(),
                    time: line.time.clone(),
                    sample: (*sample).clone(),
                });
            }
            compared.groups.push(Group {
                topology: group.topology.clone(),
                nodes,
                workload: group.workload.clone(),
                machine: group.machine.clone(),
                model: group.model.clone(),
            });
            compared.ranks.push(ranks);
        }
        compared
    }

    /// The lines with every word of a filter, in the order asked for; without a column as groups came, fastest first.
    pub fn sorted(&self, column: Option<Column>, reverse: bool, words: &str) -> Vec<&Line> {
        let (no_words, words) = (words.is_empty(), Words::of(words));
        let has = |line: &&Line| {
            if no_words {
                return true;
            }
            let group = &self.groups[line.group];
            let text =
                [&group.topology, &group.workload, &group.machine, &line.algorithm].map(String::as_str).join(" ");
            words.are_in(&format!("{text} {} {}", line.status, line.verified))
        };
        let mut lines: Vec<&Line> = self.lines.iter().filter(has).collect();
        let Some(column) = column else { return lines };
        lines.sort_by(|a, b| {
            let (a, b) = (column.value(self, a), column.value(self, b));
            // What has no figure stands last, whichever way the figures stand.
            match (&a, &b) {
                (Value::Nothing, _) | (_, Value::Nothing) => a.rank().cmp(&b.rank()),
                _ if reverse => b.compare(&a),
                _ => a.compare(&b),
            }
        });
        lines
    }
}

/// Which topology, workload and machine each has, counted in the order in which they came.
fn ranks<'a>(groups: impl Iterator<Item = [&'a String; 3]>) -> Vec<[usize; 3]> {
    let mut known: [HashMap<&str, usize>; 3] = Default::default();
    let mut rank = |at: usize, name: &'a str| {
        let next = known[at].len();
        *known[at].entry(name).or_insert(next)
    };
    groups.map(|[topology, workload, machine]| [rank(0, topology), rank(1, workload), rank(2, machine)]).collect()
}

/// A column of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Where.
    Topology,
    /// What.
    Workload,
    /// At which prices.
    Machine,
    /// How.
    Algorithm,
    /// Mean time.
    Time,
    /// Over the baseline's.
    Ratio,
    /// The ratio's interval.
    Interval,
    /// Over the lower bound.
    OverBound,
    /// Steps.
    Steps,
    /// Messages.
    Messages,
    /// The busiest link.
    WorstLink,
    /// What was proved, or how it failed.
    Verified,
}

enum Value<'a> {
    Text(&'a str),
    Figure(f64),
    Nothing,
}

impl Value<'_> {
    fn rank(&self) -> u8 {
        u8::from(matches!(self, Self::Nothing))
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Figure(a), Self::Figure(b)) => a.total_cmp(b),
            _ => Ordering::Equal,
        }
    }
}

impl Column {
    /// All, in the order in which they stand.
    pub const ALL: [Self; 12] = [
        Self::Topology,
        Self::Workload,
        Self::Machine,
        Self::Algorithm,
        Self::Verified,
        Self::Time,
        Self::Ratio,
        Self::Interval,
        Self::OverBound,
        Self::Steps,
        Self::Messages,
        Self::WorstLink,
    ];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Topology => "topology",
            Self::Workload => "workload",
            Self::Machine => "machine",
            Self::Algorithm => "algorithm",
            Self::Time => "time",
            Self::Ratio => "ratio",
            Self::Interval => "95 %",
            Self::OverBound => "x bound",
            Self::Steps => "steps",
            Self::Messages => "messages",
            Self::WorstLink => "worst link",
            Self::Verified => "verified",
        }
    }

    fn value<'c>(self, all: &'c Compared, line: &'c Line) -> Value<'c> {
        let rank = |at: usize| Value::Figure(all.ranks.get(line.group).map_or(0.0, |ranks| ranks[at] as f64));
        let figure = |value: Option<f64>| value.map_or(Value::Nothing, Value::Figure);
        let count = |value: Option<u64>| figure(value.map(|v| v as f64));
        match self {
            // In the order in which they were picked, 8x8 before 16x16, which their names would not stand in.
            Self::Topology => rank(0),
            Self::Workload => rank(1),
            Self::Machine => rank(2),
            Self::Algorithm => Value::Text(&line.algorithm),
            Self::Verified if line.time.is_none() => Value::Text(line.status.word()),
            Self::Verified => Value::Text(line.verified.word()),
            Self::Time => figure(line.time.as_ref().map(|t| t.mean)),
            Self::Ratio => figure(line.ratio),
            Self::Interval => figure(line.interval.map(|i| i.high - i.low)),
            Self::OverBound => figure(line.over_bound),
            Self::Steps => count(line.steps),
            Self::Messages => count(line.messages),
            Self::WorstLink => count(line.worst_link),
        }
    }

    /// The text of a group in this column; empty for columns that tell lines, not groups, apart.
    pub fn of(self, group: &Group) -> &str {
        match self {
            Self::Topology => &group.topology,
            Self::Workload => &group.workload,
            Self::Machine => &group.machine,
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(algorithm: &str, topology: &str, repetition: u32, time: f64) -> Record {
        Record {
            algorithm: algorithm.to_owned(),
            topology: topology.to_owned(),
            workload: "uniform:64".to_owned(),
            machine: "paragon".to_owned(),
            repetition,
            seed: 42 + u64::from(repetition),
            status: Status::Ok,
            verified: Verified::Blocks,
            time_us: Some(time),
            startup_us: Some(time),
            lower_bound_us: Some(5.0),
            steps: Some(7),
            ..Record::default()
        }
    }

    fn names(lines: &[&Line]) -> String {
        lines.iter().map(|l| l.algorithm.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn lines_have_the_statistics_figures_and_those_of_their_rows() {
        let rows = vec![row("slow", "ring:4", 0, 20.0), row("slow", "ring:4", 1, 22.0), row("fast", "ring:4", 0, 10.0)];
        let compared = Compared::of(rows, Some("fast"));
        let slow = &compared.lines[1];
        assert_eq!(
            (slow.algorithm.as_str(), slow.ratio, slow.over_bound, slow.steps),
            ("slow", Some(2.1), Some(4.2), Some(7))
        );
        assert_eq!(slow.parts, [21.0], "only the parts that the rows have");
        assert!(compared.lines[0].is_baseline);
    }

    #[test]
    fn a_baseline_that_has_no_row_yet_is_as_good_as_none() {
        let compared = Compared::of(vec![row("a", "ring:4", 0, 1.0)], Some("b"));
        assert_eq!((compared.lines.len(), compared.error), (1, None));
    }

    #[test]
    fn lines_sort_by_any_column_and_what_has_no_figure_stands_last() {
        let failed = Record { status: Status::Timeout, time_us: None, ..row("c", "ring:4", 0, 0.0) };
        let all = Compared::of(vec![row("b", "ring:4", 0, 20.0), failed, row("a", "ring:4", 0, 10.0)], None);
        assert_eq!(names(&all.sorted(Some(Column::Time), false, "")), "a b c");
        assert_eq!(names(&all.sorted(Some(Column::Time), true, "")), "b a c");
        assert_eq!(names(&all.sorted(Some(Column::Algorithm), true, "")), "c b a");
        assert_eq!(names(&all.sorted(Some(Column::Time), false, "RING timeout")), "c");
    }

    #[test]
    fn topologies_sort_as_they_were_picked() {
        let rows = vec![row("a", "torus:8x8", 0, 3.0), row("a", "torus:16x16", 0, 1.0), row("b", "torus:8x8", 0, 4.0)];
        let all = Compared::of(rows, None);
        let sorted = all.sorted(Some(Column::Topology), false, "");
        let topologies: Vec<&str> = sorted.iter().map(|l| all.groups[l.group].topology.as_str()).collect();
        assert_eq!(topologies, ["torus:8x8", "torus:8x8", "torus:16x16"]);
    }

    #[test]
    fn groups_stand_together_by_topology_whenever_their_rows_came() {
        let small = |topology| Record { workload: "uniform:1".to_owned(), ..row("a", topology, 0, 1.0) };
        let rows = vec![row("a", "ring:8", 0, 3.0), row("a", "ring:4", 0, 1.0), small("ring:8"), small("ring:4")];
        let all = Compared::of(rows, None);
        let groups: Vec<String> = all.groups.iter().map(|g| format!("{} {}", g.topology, g.workload)).collect();
        assert_eq!(groups, ["ring:8 uniform:64", "ring:8 uniform:1", "ring:4 uniform:64", "ring:4 uniform:1"]);
    }
}
