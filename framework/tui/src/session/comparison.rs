//! The analysis of all rows: lines of the table, curves and maps.

use super::packed::{CaseKey, PackedRow};
use crate::abbreviate::Abbreviations;
use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::Arc;
use swapmeet_results::analysis::{
    Axis, Family, LinkCosts, WinnerMap, families, link_costs, winner_maps,
};
use swapmeet_results::stats::{Interval, Summary};
use swapmeet_results::{
    CompareError, CompareOptions, ComparedRows, Comparison, ComparisonLine, Group, Parts, Record,
    Residual, Setting, Status, compare_rows, duration, parts,
};
use unicode_width::UnicodeWidthStr;

/// A line of the table: the rows of one algorithm on one topology, with one workload and machine. A
/// session may have a hundred thousand, so values that few lines need at a time are computed when
/// they are shown.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) group: usize,
    pub(crate) stats: Stats,
    pub(crate) is_baseline: bool,
    /// Whether the machine charges rearrangement to other algorithms of the group, but not to this
    /// one, which declares none although its messages have several blocks.
    pub(crate) is_uncharged: bool,
    pub(crate) over_bound: Option<f64>,
    /// The row of which the line has the following values.
    sample: u32,
    pub(crate) steps: Option<u64>,
    pub(crate) messages: Option<u64>,
    pub(crate) max_link_messages: Option<u64>,
}

struct Values {
    lower_bound_us: Option<f64>,
    steps: Option<u64>,
    messages: Option<u64>,
    max_link_messages: Option<u64>,
    peak_node_bytes: Option<u128>,
}

impl Values {
    fn of(record: &Record) -> Self {
        Self {
            lower_bound_us: record.lower_bound_us,
            steps: record.steps,
            messages: record.messages,
            max_link_messages: record.max_link_messages,
            peak_node_bytes: record.peak_node_bytes,
        }
    }
}

/// The statistics of a line, which its group owns.
#[derive(Debug, Clone)]
pub(crate) struct Stats {
    group: Arc<Group>,
    line: usize,
}

impl Deref for Stats {
    type Target = ComparisonLine;

    fn deref(&self) -> &ComparisonLine {
        &self.group.lines[self.line]
    }
}

/// The texts of a line as numbers, by which lines are sorted and filtered in a fraction of the
/// time. They are apart from the lines, which would fill the cache.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineTexts {
    pub(crate) group: u32,
    /// The index of the algorithm in [`Compared::algorithms`].
    pub(crate) algorithm: u32,
    /// The index of the status and the verification in [`Compared::outcomes`].
    pub(crate) outcome: u32,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Compared {
    rows: Arc<Vec<Arc<PackedRow>>>,
    /// The groups, sorted by topology, workload and machine, each in the order of its first
    /// occurrence.
    pub(crate) groups: Vec<Arc<Group>>,
    /// All lines, sorted by group and, within a group, by time.
    pub(crate) lines: Vec<Line>,
    pub(crate) texts: Vec<LineTexts>,
    /// The families of curves with several points.
    pub(crate) families: Vec<Family>,
    pub(crate) maps: Vec<WinnerMap>,
    /// The increase of the time by each link's failure, from rows of `swapmeet links`.
    pub(super) link_costs: Vec<LinkCosts>,
    /// The differences between measured and predicted times.
    pub(crate) residuals: Vec<Residual>,
    /// The reason why the rows cannot be compared.
    pub(crate) error: Option<String>,
    /// The number of this analysis, from which panels notice new lines.
    pub(crate) number: u64,
    pub(crate) algorithms: BTreeSet<String>,
    /// The algorithms of which all rows are unsupported.
    pub(crate) unsupported: BTreeSet<String>,
    pub(crate) outcomes: BTreeSet<String>,
    pub(crate) specs: [BTreeSet<String>; 4],
    /// The group of each setting, which is a case without the algorithm.
    group_of: HashMap<Setting, usize>,
    /// The ends of colour scales for each topology and workload.
    pub(super) peaks: HashMap<[String; 2], Peaks>,
    /// The numbers of each group's topology, workload and machine, in the order of their first
    /// occurrence.
    pub(crate) ranks: Vec<[usize; 3]>,
}

/// The maxima over the lines with the same topology and workload, which are the ends of the colour
/// scales of networks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Peaks {
    pub(crate) link_messages: u64,
    pub(crate) node_bytes: u64,
}

/// The mark of an algorithm with [`Line::is_uncharged`].
pub(crate) const UNCHARGED: &str = "†";
pub(crate) const UNCHARGED_IN_WORDS: &str =
    "† not charged for rearrangement (rearrangement=packed charges all)";

impl Line {
    /// Makes a line. `values` has an element for each row of all algorithms.
    fn new(group: usize, stats: Stats, rows: &[Arc<PackedRow>], values: &[Values]) -> Option<Self> {
        let members = || stats.members.iter().map(|at| at.row as usize);
        let sample = members().find(|row| rows[*row].status == Status::Ok).or(members().next())?;
        let bounds: Vec<f64> = members().filter_map(|row| values[row].lower_bound_us).collect();
        let bound = Summary::of(&bounds).map(|s| s.mean).filter(|bound| *bound > 0.0);
        let Values { steps, messages, max_link_messages, .. } = values[sample];
        Some(Self {
            group,
            is_baseline: stats.group.baseline.as_deref() == Some(&stats.algorithm),
            is_uncharged: stats.group.is_charged_less(&stats),
            over_bound: stats.mean().zip(bound).map(|(time, bound)| time / bound),
            sample: sample as u32,
            steps,
            messages,
            max_link_messages,
            stats,
        })
    }

    pub(crate) fn ratio(&self) -> Option<f64> {
        self.stats.ratio.as_ref().map(|ratio| ratio.value)
    }

    pub(crate) fn over_optimum(&self) -> Option<f64> {
        self.stats.optimum.map(|optimum| optimum.ratio)
    }

    pub(crate) fn interval(&self) -> Option<Interval> {
        self.stats.ratio.as_ref().and_then(|ratio| ratio.interval)
    }
}

impl Compared {
    pub(crate) fn lines_of(&self, group: usize) -> &[Line] {
        let first = self.lines.partition_point(|line| line.group < group);
        let after = self.lines.partition_point(|line| line.group <= group);
        &self.lines[first..after]
    }

    pub(crate) fn group_of(&self, setting: &Setting) -> Option<usize> {
        self.group_of.get(setting).copied()
    }

    pub(crate) fn line_of(&self, case: &CaseKey) -> Option<usize> {
        let group = self.group_of(&case.setting)?;
        let first = self.lines.partition_point(|line| line.group < group);
        let is_here = |line: &Line| self.case_of(line).implementation == case.implementation;
        Some(first + self.lines_of(group).iter().position(is_here)?)
    }

    pub(crate) fn case_of(&self, line: &Line) -> &CaseKey {
        &self.rows[line.sample as usize].key
    }

    /// Returns the mean of each part of the time.
    pub(crate) fn parts(&self, line: &Line) -> Parts {
        let rows = line.stats.members.iter().map(|at| self.rows[at.row as usize].record());
        parts::mean(&rows.collect::<Vec<_>>())
    }

    pub(crate) fn winner(&self, group: usize) -> Option<&Line> {
        self.lines_of(group).first().filter(|line| line.stats.time.is_some())
    }

    /// Returns the mark `†` of an algorithm that is charged less, or an empty text.
    pub(crate) fn remark(&self, group: usize, algorithm: &str) -> &'static str {
        let mut lines = self.lines_of(group).iter();
        let line = lines.find(|line| line.stats.algorithm == algorithm);
        if line.is_some_and(|line| line.is_uncharged) { UNCHARGED } else { "" }
    }

    /// Returns the other algorithms of a group whose times are exactly the least one.
    pub(crate) fn equally_fast(&self, group: usize) -> Vec<&str> {
        let lines = self.lines_of(group);
        let least = lines.first().and_then(|line| line.stats.mean());
        let is_equal = |line: &&Line| least.is_some() && line.stats.mean() == least;
        let others = lines.iter().skip(1).take_while(is_equal);
        others.map(|line| line.stats.algorithm.as_str()).collect()
    }

    /// States why the fastest algorithm of a group is faster than the next slower one: the one or
    /// two largest differences between the parts of their times. If their sum is more than 1.1 times
    /// the lead, also states the part in which the fastest algorithm is most behind.
    pub(crate) fn why(&self, group: usize) -> Option<String> {
        let lines = self.lines_of(group);
        let first = lines.first()?;
        let least = first.stats.mean()?;
        let tied = self.equally_fast(group).len();
        let name = |line: &Line| {
            let mark = if line.is_uncharged { UNCHARGED } else { "" };
            format!("{}{mark}", line.stats.algorithm)
        };
        let next = lines.get(1 + tied).and_then(|line| Some((line, line.stats.mean()? - least)));
        let Some((second, lead)) = next else {
            let other = lines.get(1).filter(|_| tied > 0)?;
            let others = if tied == 1 { name(other) } else { format!("{tied} others") };
            return Some(format!("{} and {others} are equally fast", name(first)));
        };
        let winner = match tied {
            0 => name(first),
            _ => format!("{} (and {tied} equally fast)", name(first)),
        };
        let (own, other) = (self.parts(first), self.parts(second));
        // Positive differences are in favour of the fastest algorithm.
        let mut parts: Vec<(f64, String)> = own
            .each()
            .map(|(kind, own)| (kind.name(), own.unwrap_or(0.0), other[kind].unwrap_or(0.0)))
            .map(|(name, own, other)| {
                let text = match (own > 0.0, other > 0.0) {
                    (false, _) => format!("no {name} instead of {}", duration(other)),
                    (true, false) => format!("{name} {} instead of none", duration(own)),
                    (true, true) => {
                        format!("{name} {} instead of {}", duration(own), duration(other))
                    }
                };
                (other - own, text)
            })
            .collect();
        parts.sort_by(|a, b| b.0.total_cmp(&a.0));
        let named = parts.iter().take(2).filter(|(difference, _)| *difference > lead / 10.0);
        let named: Vec<&(f64, String)> = named.collect();
        let advantage: f64 = named.iter().map(|(difference, _)| difference).sum();
        let mut because: Vec<&str> = named.iter().map(|(_, text)| text.as_str()).collect();
        let but = parts.last().filter(|(difference, _)| *difference < 0.0);
        let but = but.filter(|_| advantage > 1.1 * lead).map(|(_, text)| format!("but {text}"));
        because.extend(but.as_deref());
        let because =
            if because.is_empty() { String::new() } else { format!(": {}", because.join(", ")) };
        Some(format!("{winner} beats {} by {}{because}", name(second), duration(lead)))
    }

    /// Returns the costs of failed links in a case, or in the same case with all links intact.
    pub(crate) fn link_costs(&self, case: &CaseKey) -> Option<&LinkCosts> {
        if self.link_costs.is_empty() {
            return None;
        }
        let id = case.id();
        self.link_costs.iter().find(|costs| costs.is_of(&id))
    }

    pub(crate) fn peaks(&self, topology: &str, workload: &str) -> Peaks {
        self.peaks.get(&[topology, workload].map(str::to_owned)).copied().unwrap_or_default()
    }

    /// Compares rows. Where the algorithm `baseline` has no time, the fastest one is the baseline.
    pub(crate) fn new(records: Arc<Vec<Arc<PackedRow>>>, baseline: Option<&str>) -> Self {
        let mut rows = ComparedRows::of_files(std::iter::once(String::new()));
        let add = |row: &Arc<PackedRow>| {
            let record = row.record();
            rows.add(0, &record);
            Values::of(&record)
        };
        let values: Vec<Values> = records.iter().map(add).collect();
        let with = |baseline| {
            compare_rows(&rows, &CompareOptions { baseline, ..CompareOptions::default() })
        };
        let mut compared = with(baseline);
        if matches!(compared, Err(CompareError::NoBaseline { .. })) {
            compared = with(None);
        } else if let Ok(comparison) = &mut compared
            && comparison.groups.iter().any(|group| group.baseline.is_none())
            && let Ok(fastest) = with(None)
        {
            for (group, other) in comparison.groups.iter_mut().zip(fastest.groups) {
                if group.baseline.is_none() {
                    *group = other;
                }
            }
        }
        match compared {
            Ok(comparison) => Self::join(comparison, records, &values),
            Err(CompareError::NoRows) => Self::default(),
            Err(error) => Self { error: Some(error.to_string()), ..Self::default() },
        }
    }

    fn join(
        mut comparison: Comparison,
        records: Arc<Vec<Arc<PackedRow>>>,
        values: &[Values],
    ) -> Self {
        let ranks = ranks(&comparison.groups);
        let mut ranked: Vec<([usize; 3], Arc<Group>)> =
            ranks.into_iter().zip(comparison.groups).collect();
        ranked.sort_by_key(|(ranks, _)| *ranks);
        let ranks = ranked.iter().map(|(ranks, _)| *ranks).collect();
        comparison.groups = ranked.into_iter().map(|(_, group)| group).collect();
        let of_group = |(number, group): (usize, &Arc<Group>)| {
            let line = |at: usize| {
                let stats = Stats { group: Arc::clone(group), line: at };
                Line::new(number, stats, &records, values)
            };
            (0..group.lines.len()).filter_map(line).collect::<Vec<_>>()
        };
        let lines: Vec<Line> = comparison.groups.iter().enumerate().flat_map(of_group).collect();
        let mut peaks: HashMap<[String; 2], Peaks> = HashMap::new();
        for line in &lines {
            let setting = &line.stats.group.setting;
            let key = [&setting.topology, &setting.workload].map(Clone::clone);
            let peaks = peaks.entry(key).or_default();
            let bytes = values[line.sample as usize].peak_node_bytes.unwrap_or(0);
            peaks.link_messages = peaks.link_messages.max(line.max_link_messages.unwrap_or(0));
            peaks.node_bytes = peaks.node_bytes.max(u64::try_from(bytes).unwrap_or(u64::MAX));
        }
        let outcome = |line: &Line| format!("{} {}", line.stats.status, line.stats.verification);
        let group = |line: &Line| LineTexts { group: line.group as u32, ..LineTexts::default() };
        let mut texts: Vec<LineTexts> = lines.iter().map(group).collect();
        let mut number = |text: &dyn Fn(&Line) -> String, index: fn(&mut LineTexts) -> &mut u32| {
            let all: BTreeSet<String> = lines.iter().map(text).collect();
            let indices: HashMap<&String, u32> = all.iter().zip(0..).collect();
            for (texts, line) in texts.iter_mut().zip(&lines) {
                *index(texts) = indices.get(&text(line)).copied().unwrap_or_default();
            }
            all
        };
        let algorithms = number(&|line| line.stats.algorithm.clone(), |texts| &mut texts.algorithm);
        let mut unsupported = algorithms.clone();
        for line in lines.iter().filter(|line| line.stats.status != Status::Unsupported) {
            unsupported.remove(&line.stats.algorithm);
        }
        let outcomes = number(&outcome, |texts| &mut texts.outcome);
        let groups = || comparison.groups.iter();
        let specs = GROUP_SPECS.map(|spec| groups().map(|group| spec(group).to_owned()).collect());
        let group_of =
            groups().enumerate().map(|(at, group)| (group.setting.clone(), at)).collect();
        let along = |axis| families(&comparison, axis).families;
        let families = Axis::varying(&comparison)
            .into_iter()
            .flat_map(along)
            .filter(|family| family.xs().len() > 1)
            .collect();
        let maps = winner_maps(&comparison).maps;
        // The costs of links need networks with failed links.
        let has_damage = records.iter().any(|row| row.key.setting.topology.contains("down="));
        let rows: Vec<Record> = match has_damage {
            true => records.iter().map(|row| row.record()).collect(),
            false => Vec::new(),
        };
        let link_costs = link_costs(rows.iter());
        Self {
            rows: records,
            lines,
            texts,
            families,
            maps,
            link_costs,
            algorithms,
            unsupported,
            outcomes,
            specs,
            group_of,
            peaks,
            groups: comparison.groups,
            residuals: comparison.residuals,
            ranks,
            ..Self::default()
        }
    }
}

/// Returns [`Compared::ranks`].
fn ranks(groups: &[Arc<Group>]) -> Vec<[usize; 3]> {
    let mut known: [HashMap<&str, usize>; 3] = Default::default();
    let mut all = Vec::new();
    for group in groups {
        all.push([0, 1, 2].map(|at| {
            let next = known[at].len();
            *known[at].entry(GROUP_SPECS[at](group)).or_insert(next)
        }));
    }
    all
}

/// The specs that distinguish groups, in the order of [`Compared::specs`].
pub(crate) const GROUP_SPECS: [fn(&Group) -> &str; 4] = [
    |group| &group.setting.topology,
    |group| &group.setting.workload,
    |group| &group.setting.machine,
    |group| &group.setting.model,
];

impl Compared {
    /// Returns a label that distinguishes a group. If it is wider than `room`, common specs are
    /// left out, and the others are abbreviated.
    pub(crate) fn group_label(&self, group: &Group, room: usize) -> String {
        /// The most texts that are abbreviated together, because this function runs each time the
        /// screen is drawn. The text of this group is otherwise abbreviated alone.
        const MOST: usize = 64;
        let specs: Vec<(&str, &BTreeSet<String>)> =
            GROUP_SPECS.iter().map(|spec| spec(group)).zip(&self.specs).collect();
        // The machine usually determines the model.
        let shown = if self.specs[3].len() > 1 { 4 } else { 3 };
        let full: Vec<&str> = specs[..shown].iter().map(|(text, _)| *text).collect();
        let full = full.join(", ");
        let apart: Vec<_> = specs[..shown].iter().filter(|(_, others)| others.len() > 1).collect();
        if full.width() <= room || apart.is_empty() {
            return full;
        }
        let mut wide: Vec<usize> = apart.iter().map(|(text, _)| text.width()).collect();
        while wide.iter().map(|wide| wide + 2).sum::<usize>() > room + 2 {
            let Some(widest) = wide.iter_mut().max().filter(|wide| **wide > 6) else { break };
            *widest -= 1;
        }
        let short = |((text, others), wide): (&&(&str, &BTreeSet<String>), &usize)| {
            let others = others.iter().map(String::as_str).filter(|_| others.len() <= MOST);
            Abbreviations::new(others.chain([*text]), *wide).get(text).to_owned()
        };
        apart.iter().zip(&wide).map(short).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use swapmeet_core::cost::kind::Kind;
    use swapmeet_core::cost::model::UNDECLARED;
    use swapmeet_results::Verified;

    pub(crate) fn compared(rows: Vec<Record>, baseline: Option<&str>) -> Compared {
        let packed = rows.into_iter().map(|record| crate::session::packed::tests::packed(&record));
        Compared::new(Arc::new(packed.map(Arc::new).collect()), baseline)
    }

    pub(crate) fn row(algorithm: &str, topology: &str, repetition: u32, time: f64) -> Record {
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

    #[test]
    fn lines_contain_statistics_and_values_of_rows() {
        let rows = vec![
            row("slow", "ring:4", 0, 20.0),
            row("slow", "ring:4", 1, 22.0),
            row("fast", "ring:4", 0, 10.0),
        ];
        let all = compared(rows, Some("fast"));
        let slow = &all.lines[1];
        assert_eq!(
            (slow.stats.algorithm.as_str(), slow.ratio(), slow.over_bound, slow.steps),
            ("slow", Some(2.1), Some(4.2), Some(7))
        );
        let parts = all.parts(slow);
        assert_eq!(
            (parts[Kind::Startup], parts[Kind::Propagation]),
            (Some(21.0), None),
            "only the parts that the rows have"
        );
        assert!(all.lines[0].is_baseline);
    }

    /// If the machine charges none of the algorithms for rearrangement, no algorithm is marked.
    #[test]
    fn uncharged_algorithms_are_marked_next_to_charged_ones() {
        let free = |algorithm| Record {
            note: format!("{algorithm} {UNDECLARED}"),
            ..row(algorithm, "ring:4", 0, 1.0)
        };
        let marks = |rows| {
            let all = compared(rows, None);
            all.lines.iter().map(|line| line.is_uncharged).collect::<Vec<_>>()
        };
        assert_eq!(marks(vec![free("a"), row("b", "ring:4", 0, 2.0)]), [true, false]);
        assert_eq!(marks(vec![free("a"), free("b")]), [false, false]);
    }

    /// The times and parts of the fastest algorithm and of the next one differ by more than the
    /// lead, so the reason also has what the fastest algorithm loses.
    #[test]
    fn the_reason_has_both_sides() {
        let parts = |algorithm, startup, contention, rearrangement| Record {
            startup_us: Some(startup),
            contention_us: Some(contention),
            rearrangement_us: Some(rearrangement),
            ..row(algorithm, "ring:4", 0, startup + contention + rearrangement)
        };
        let why = |rows| compared(rows, None).why(0).unwrap();
        let two_sided = vec![parts("a", 16.0, 0.0, 18.0), parts("b", 10.0, 27.0, 0.0)];
        assert_eq!(
            why(two_sided),
            "a beats b by 3.000 µs: no contention instead of 27.00 µs, but rearrangement 18.00 µs instead of none"
        );
        // 11 µs are within 10 % of the lead of 10.5 µs.
        let one_sided = vec![parts("a", 10.5, 0.0, 0.0), parts("b", 10.0, 11.0, 0.0)];
        assert_eq!(why(one_sided), "a beats b by 10.50 µs: no contention instead of 11.00 µs");
    }

    #[test]
    fn equal_times_are_equally_fast() {
        let at = |algorithm, time| row(algorithm, "ring:4", 0, time);
        let all = compared(vec![at("a", 5.0), at("b", 5.0), at("c", 5.0), at("d", 6.0)], None);
        assert_eq!(all.equally_fast(0), ["b", "c"]);
        let why = all.why(0).unwrap();
        assert!(why.starts_with("a (and 2 equally fast) beats d by 1.000 µs"), "{why}");
        let all = compared(vec![at("a", 5.0), at("b", 5.0)], None);
        assert_eq!(all.why(0).as_deref(), Some("a and b are equally fast"));
        assert_eq!(compared(vec![at("a", 5.0)], None).equally_fast(0), [""; 0]);
    }

    #[test]
    fn a_baseline_without_rows_is_ignored() {
        let all = compared(vec![row("a", "ring:4", 0, 1.0)], Some("b"));
        assert_eq!((all.lines.len(), all.error), (1, None));
    }

    #[test]
    fn groups_are_sorted_by_topology() {
        let small =
            |topology| Record { workload: "uniform:1".to_owned(), ..row("a", topology, 0, 1.0) };
        let rows = vec![
            row("a", "ring:8", 0, 3.0),
            row("a", "ring:4", 0, 1.0),
            small("ring:8"),
            small("ring:4"),
        ];
        let all = compared(rows, None);
        let groups: Vec<String> = all
            .groups
            .iter()
            .map(|g| format!("{} {}", g.setting.topology, g.setting.workload))
            .collect();
        assert_eq!(
            groups,
            ["ring:8 uniform:64", "ring:8 uniform:1", "ring:4 uniform:64", "ring:4 uniform:1"]
        );
    }
}
