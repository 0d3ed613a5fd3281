//! Compares algorithms case by case, with the uncertainty of each comparison. A group consists of
//! all rows with the same setting, which is all properties of a case except the algorithm. In a
//! group, the repetitions of an algorithm are a sample. Rows with a status other than `ok` are
//! listed, too.

mod by;
mod group;
mod grouping;
mod line_optimum;
mod rearrangement;
pub(crate) mod residual;
pub(crate) mod rows;
mod sample;
mod winner;

pub use by::By;
pub use line_optimum::LineOptimum;
pub use rearrangement::{CHARGED_LESS_REMARK, rearrangement_remark};
pub use rows::ComparedRows;
use winner::Rival;
pub use winner::{Margin, RunnerUp, Winner};

use crate::bandwidth::Bandwidths;
use crate::case_id::Setting;
use crate::parameter::Parameters;
use crate::record::{Record, Status, Verified};
use crate::stats::{Ratio, Summary, holm};
use crate::units::count;
use grouping::{Contradiction, Repeated, distinct_rows, group_rows};
use residual::{Residual, residuals};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::network::topology;
use swapmeet_workloads::is_random;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    #[error(
        "{case} has different values in {first} and in {second}: they are not of one experiment"
    )]
    Contradiction {
        /// The algorithm, topology, workload, machine and repetition of the case.
        case: String,
        first: String,
        second: String,
    },
    #[error("no row is of the baseline `{baseline}`")]
    NoBaseline { baseline: String, known: Vec<String> },
    #[error("no rows to compare")]
    NoRows,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonLine {
    /// The label of the algorithm. If the group has several implementations of it, the label
    /// includes the plugin, the version or the build.
    pub algorithm: String,
    #[serde(skip)]
    pub subject: Box<str>,
    pub status: Status,
    pub rows: StatusCounts,
    pub reason: String,
    /// The weakest kind of verification that an `ok` row has.
    pub verified: Verified,
    /// The verification as tables show it ([`Record::verification`]).
    #[serde(skip)]
    pub verification: Cow<'static, str>,
    /// Completion times of the `ok` rows, in microseconds.
    pub time: Option<Summary>,
    /// Mean time divided by the baseline's. `None` without a baseline, or if a time is 0.
    pub ratio: Option<Ratio>,
    /// Tests against the baseline. `None` if a sample has a single run, or if neither has a spread.
    pub tests: Option<Box<Tests>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimum: Option<LineOptimum>,
    /// Mean time of all communicators together, divided by that of one alone (`alone_us`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_to_alone: Option<f64>,
    /// The bandwidths of the mean time, if nccl-tests defines them for the collective.
    pub bandwidths: Option<Bandwidths>,
    /// The times of the `ok` rows, in the order of the files.
    #[serde(skip)]
    pub runs: Box<[RunTime]>,
    /// The locations of all rows, including those with a status other than `ok`.
    #[serde(skip)]
    pub members: Box<[RowLocation]>,
    /// Whether the algorithm declares no rearrangement although it needs some.
    #[serde(skip)]
    pub declares_none: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatusCounts([u32; Status::ALL.len()]);

impl StatusCounts {
    fn add(&mut self, status: Status) {
        self.0[status as usize] += 1;
    }

    pub fn get(&self, status: Status) -> u32 {
        self.0[status as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = (Status, u32)> + '_ {
        Status::ALL.iter().map(|status| (*status, self.get(*status))).filter(|(_, n)| *n > 0)
    }
}

impl Serialize for StatusCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunTime {
    pub repetition: u32,
    pub seed: u64,
    pub time_us: f64,
}

impl RunTime {
    fn run(&self) -> (u32, u64) {
        (self.repetition, self.seed)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tests {
    /// Whether repetitions were compared in pairs. They are if both algorithms used the same seeds.
    pub paired: bool,
    /// The p-value of the paired t test if repetitions are paired, otherwise of Welch's t test.
    pub t_p: Option<f64>,
    /// p-value of Wilcoxon's signed-rank test if paired, otherwise of the Mann-Whitney test.
    pub rank_p: Option<f64>,
    /// `t_p` and `rank_p`, corrected for the number of comparisons.
    pub t_p_holm: Option<f64>,
    pub rank_p_holm: Option<f64>,
    /// The difference of the means as a multiple of a standard deviation: that of the paired
    /// differences, or without pairs, the pooled one of both samples. The effect is positive if the
    /// baseline is faster.
    pub effect: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLocation {
    pub file: u32,
    pub row: u32,
}

impl RowLocation {
    fn order(self) -> (u32, u32) {
        (self.file, self.row)
    }
}

impl ComparisonLine {
    pub fn records<'a>(
        &'a self,
        files: &'a [(String, Vec<Record>)],
    ) -> impl Iterator<Item = &'a Record> {
        self.members.iter().map(|at| &files[at.file as usize].1[at.row as usize])
    }

    pub fn mean(&self) -> Option<f64> {
        self.time.as_ref().map(|t| t.mean)
    }
}

/// Cases that differ only in the compared property ([`By`]).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The setting that all cases share. The compared property is empty in it.
    #[serde(flatten)]
    pub setting: Setting,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_algorithm: Option<String>,
    pub nodes: u64,
    /// The algorithm (or other compared property) with which all others are compared.
    pub baseline: Option<String>,
    /// The reason why there is no baseline; empty if there is one.
    pub no_baseline: String,
    /// The fastest algorithm. Those tied with it are known only after p-values were corrected.
    pub winner: Option<Arc<Winner>>,
    /// The comparisons of the other algorithms with the fastest one. They are kept until their
    /// p-values are corrected; then `winner` has their results, and the list is empty.
    #[serde(skip)]
    rivals: Vec<Rival>,
    /// The lines, in ascending order of time. Lines without a time are at the end.
    pub lines: Vec<ComparisonLine>,
    #[serde(skip)]
    repeated: BTreeMap<u32, Repeated>,
}

impl Group {
    /// Returns whether nothing is random, so that one run gives the exact time. Measurements are
    /// never exact.
    pub fn is_exact(&self) -> bool {
        let Setting { workload, topology, model, .. } = &self.setting;
        let machine = self.setting.borrowed().machine_spec();
        // If machines are compared, each line has its own machine.
        let has_no_noise = if machine.is_empty() {
            let machine = |line: &ComparisonLine| Machine::parse(&line.subject);
            self.lines.iter().all(|line| machine(line).is_ok_and(|m| !m.is_noisy()))
        } else {
            !Machine::parse(machine).is_ok_and(|m| m.is_noisy())
        };
        let is_measured = *model == residual::MEASURED
            || self.lines.iter().any(|line| line.algorithm == residual::MEASURED);
        // If topologies are compared, each line has its own topology.
        let mut topologies = self.lines.iter().map(|line| &*line.subject);
        let has_fixed_topology =
            !topology::is_random(topology) && !topologies.any(topology::is_random);
        !is_measured && is_random(workload) == Some(false) && has_fixed_topology && has_no_noise
    }

    pub fn machine_in_full(&self) -> String {
        self.setting.borrowed().machine_in_full()
    }

    /// Returns whether the line needs rearrangement but is not charged for it. If algorithms are
    /// compared, this only counts if the machine charges another algorithm of the group.
    pub fn is_charged_less(&self, line: &ComparisonLine) -> bool {
        let is_charged = |other: &ComparisonLine| other.time.is_some() && !other.declares_none;
        let compares_algorithms = self.of_algorithm.is_none();
        line.declares_none && (!compares_algorithms || self.lines.iter().any(is_charged))
    }

    /// Returns [`CHARGED_LESS`] if the machine charges the algorithm less, otherwise nothing.
    pub fn mark(&self, algorithm: &str) -> &'static str {
        let line = self.lines.iter().find(|line| line.algorithm == algorithm);
        if line.is_some_and(|line| self.is_charged_less(line)) { CHARGED_LESS } else { "" }
    }
}

/// The mark of an algorithm that is charged less for rearrangement than others.
pub const CHARGED_LESS: &str = " †";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The groups in the order of their first rows.
    pub groups: Vec<Arc<Group>>,
    pub by: By,
    pub correction: Correction,
    pub tested: usize,
    pub notes: Vec<String>,
    /// Remarks on machines that charge only some of the compared algorithms for rearrangement.
    #[serde(rename = "unlike")]
    pub rearrangement_remarks: Vec<String>,
    /// Measured times, each compared with a prediction for the same case.
    #[serde(rename = "beside", skip_serializing_if = "Vec::is_empty")]
    pub residuals: Vec<Residual>,
    #[serde(skip)]
    files: Vec<String>,
}

/// Which comparisons are counted when p-values are corrected for the number of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// All comparisons.
    #[default]
    All,
    /// The comparisons of the same group.
    Group,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompareOptions<'a> {
    pub by: By,
    /// The value with which others are compared. By default, it is the fastest of each group.
    pub baseline: Option<&'a str>,
    pub correction: Correction,
}

/// Compares the rows of `files`, each of which is a file name with its rows. If `baseline` is
/// `None`, it is the fastest algorithm of each group.
pub fn compare(
    files: &[(String, Vec<Record>)],
    baseline: Option<&str>,
) -> Result<Comparison, CompareError> {
    compare_by(files, &CompareOptions { baseline, ..CompareOptions::default() })
}

pub fn compare_by(
    files: &[(String, Vec<Record>)],
    options: &CompareOptions<'_>,
) -> Result<Comparison, CompareError> {
    compare_rows(&ComparedRows::of(files), options)
}

pub fn compare_rows(
    rows: &ComparedRows,
    options: &CompareOptions<'_>,
) -> Result<Comparison, CompareError> {
    let CompareOptions { by, baseline, correction } = *options;
    if rows.rows.is_empty() {
        return Err(CompareError::NoRows);
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut contradiction: Option<Contradiction<'_>> = None;
    for numbers in group_rows(rows, by) {
        match distinct_rows(numbers.iter().map(|number| &rows.rows[*number as usize])) {
            Ok(distinct) => groups.push(group::group(rows, distinct, by, baseline)),
            // The error is about the contradiction that comes first in the order of the files.
            Err(other) => {
                let is_earlier = |first: &Contradiction<'_>| {
                    other.second.location.order() < first.second.location.order()
                };
                if contradiction.as_ref().is_none_or(is_earlier) {
                    contradiction = Some(other);
                }
            }
        }
    }
    if let Some(contradiction) = contradiction {
        return Err(contradiction.error(rows));
    }
    let all = groups.len();
    if matches!(by, By::Parameter(_)) {
        groups.retain(|group| group.lines.iter().any(|line| !line.subject.is_empty()));
    }
    let omitted = all - groups.len();
    let omitted = (omitted > 0)
        .then(|| format!("not compared: {} without {}", count(omitted, "case"), by.label()));
    let tested = match correction {
        Correction::All => correct(&mut groups),
        Correction::Group => groups.chunks_mut(1).map(correct).sum(),
    };
    groups.iter_mut().for_each(winner::decide);
    let comparison = Comparison {
        groups: groups.into_iter().map(Arc::new).collect(),
        by,
        correction,
        tested,
        notes: Vec::new(),
        rearrangement_remarks: Vec::new(),
        residuals: residuals(rows),
        files: rows.files().map(|(name, _)| name.to_owned()).collect(),
    };
    if let Some(baseline) = baseline {
        comparison.check_baseline(baseline)?;
    }
    let mut comparison = comparison.with_remarks();
    comparison.notes.extend(omitted);
    Ok(comparison)
}

impl Comparison {
    pub fn parameters(&self) -> Parameters {
        let groups = || self.groups.iter();
        let setting = groups().map(|group| group.setting.borrowed());
        let settings = setting.flat_map(|setting| {
            let Setting { topology, workload, .. } = setting;
            [topology, workload, setting.machine_spec()]
        });
        let of_algorithms = groups().filter_map(|group| group.of_algorithm.as_deref());
        let of_lines = groups().flat_map(|group| &group.lines).map(|line| &*line.subject);
        Parameters::of(settings, of_algorithms.chain(of_lines))
    }

    /// Returns only some groups. Residuals and corrected p-values stay those of all groups.
    pub fn part(&self, keep: impl Fn(&Group) -> bool) -> Self {
        let groups = self.groups.iter().filter(|group| keep(group)).cloned().collect();
        Self {
            groups,
            residuals: self.residuals.clone(),
            files: self.files.clone(),
            notes: Vec::new(),
            rearrangement_remarks: Vec::new(),
            ..*self
        }
        .with_remarks()
    }

    /// Errors if no row has the value `baseline` of the compared property.
    pub fn check_baseline(&self, baseline: &str) -> Result<(), CompareError> {
        let lines = self.groups.iter().flat_map(|group| &group.lines);
        let mut known: Vec<&str> =
            lines.flat_map(|line| [&*line.subject, &*line.algorithm]).collect();
        known.sort_unstable();
        known.dedup();
        match known.contains(&baseline) {
            true => Ok(()),
            false => Err(CompareError::NoBaseline {
                baseline: baseline.to_owned(),
                known: known.into_iter().map(str::to_owned).collect(),
            }),
        }
    }

    fn with_remarks(self) -> Self {
        let notes = grouping::notes(&self.files, self.groups.iter().map(|group| &group.repeated));
        let rearrangement_remarks = rearrangement::remarks(&self.groups, self.by);
        Self { notes, rearrangement_remarks, ..self }
    }
}

/// Corrects p-values for the number of comparisons. Comparisons with baselines and comparisons with
/// the fastest algorithms are corrected separately. Returns the number of comparisons with
/// baselines.
fn correct(groups: &mut [Group]) -> usize {
    let mut rivals: Vec<&mut Rival> =
        groups.iter_mut().flat_map(|group| &mut group.rivals).collect();
    let corrected = holm(&rivals.iter().map(|rival| rival.p).collect::<Vec<_>>());
    rivals.iter_mut().zip(corrected).for_each(|(rival, p)| rival.p = p);
    let mut tests: Vec<&mut Tests> = groups
        .iter_mut()
        .flat_map(|group| &mut group.lines)
        .filter_map(|line| line.tests.as_deref_mut())
        .collect();
    let t = holm(&tests.iter().map(|tests| tests.t_p).collect::<Vec<_>>());
    let rank = holm(&tests.iter().map(|tests| tests.rank_p).collect::<Vec<_>>());
    for (tests, (t, rank)) in tests.iter_mut().zip(t.into_iter().zip(rank)) {
        (tests.t_p_holm, tests.rank_p_holm) = (t, rank);
    }
    tests.len()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn row(algorithm: &str, repetition: u32, time_us: f64) -> Record {
        Record {
            algorithm: algorithm.to_owned(),
            plugin: "classic".to_owned(),
            plugin_version: "0.1.0".to_owned(),
            topology: "torus:4x4".to_owned(),
            collective: "alltoall".to_owned(),
            workload: "uniform:64".to_owned(),
            machine: "paragon".to_owned(),
            model: "wormhole".to_owned(),
            repetition,
            seed: 42 + u64::from(repetition),
            status: Status::Ok,
            verified: Verified::Blocks,
            time_us: Some(time_us),
            ..Record::default()
        }
    }

    pub(crate) fn failed(algorithm: &str, repetition: u32, status: Status, reason: &str) -> Record {
        let reason = reason.to_owned();
        Record {
            status,
            reason,
            verified: Verified::None,
            time_us: None,
            ..row(algorithm, repetition, 0.0)
        }
    }

    pub(crate) fn files(records: Vec<Record>) -> Vec<(String, Vec<Record>)> {
        vec![("rows.csv".to_owned(), records)]
    }

    #[test]
    fn the_fastest_is_the_baseline_unless_one_is_named() {
        let rows = files(vec![row("slow", 0, 30.0), row("fast", 0, 10.0)]);
        let ratios = |baseline| -> Vec<(String, f64)> {
            let compared = compare(&rows, baseline).unwrap();
            compared.groups[0]
                .lines
                .iter()
                .map(|l| (l.algorithm.clone(), l.ratio.as_ref().unwrap().value))
                .collect()
        };
        assert_eq!(ratios(None), [("fast".to_owned(), 1.0), ("slow".to_owned(), 3.0)]);
        assert_eq!(
            ratios(Some("slow")),
            [("fast".to_owned(), 1.0 / 3.0), ("slow".to_owned(), 1.0)]
        );
    }

    #[test]
    fn cases_are_compared_along_any_axis() {
        let of = |algorithm, topology: &str, machine: &str, model: &str, time| Record {
            topology: topology.to_owned(),
            machine: machine.to_owned(),
            model: model.to_owned(),
            ..row(algorithm, 0, time)
        };
        let circuit = "paragon:model=circuit";
        let rows = files(vec![
            of("pex", "torus:4x4", "paragon", "wormhole", 10.0),
            of("pex", "ring:16", "paragon", "wormhole", 30.0),
            of("pex", "torus:4x4", circuit, "circuit", 15.0),
            of("pex", "torus:4x4", "delta", "wormhole", 5.0),
            of("gen", "torus:4x4,place=cyclic", "paragon", "wormhole", 7.0),
            of("gen", "torus:4x4", "paragon", "wormhole", 14.0),
        ]);
        let ratio = |by: By, baseline: &'static str, line: &str| {
            let options =
                CompareOptions { by, baseline: Some(baseline), ..CompareOptions::default() };
            let compared = compare_by(&rows, &options).unwrap();
            let group = compared.groups.iter().find(|group| {
                group.baseline.is_some() && group.lines.iter().any(|l| l.algorithm == line)
            });
            let group = group.unwrap();
            let line = group.lines.iter().find(|l| l.algorithm == line).unwrap();
            (group.of_algorithm.clone().unwrap_or_default(), line.ratio.as_ref().unwrap().value)
        };
        assert_eq!(ratio(By::Topology, "torus:4x4", "ring:16"), ("pex".to_owned(), 3.0));
        assert_eq!(ratio(By::Model, "wormhole", "circuit"), ("pex".to_owned(), 1.5));
        assert_eq!(ratio(By::Machine, "paragon", "delta"), ("pex".to_owned(), 0.5));
        assert_eq!(ratio(By::Machine, "paragon", circuit), ("pex".to_owned(), 1.5));
        assert_eq!(ratio(By::Placement, "block", "cyclic"), ("gen".to_owned(), 0.5));
        let options =
            CompareOptions { by: By::Model, baseline: Some("flat"), ..CompareOptions::default() };
        let error = compare_by(&rows, &options).unwrap_err();
        let known = vec!["circuit".to_owned(), "wormhole".to_owned()];
        assert_eq!(error, CompareError::NoBaseline { baseline: "flat".to_owned(), known });
    }

    #[test]
    fn p_values_can_be_corrected_within_each_group() {
        let of = |machine: &'static str| {
            let times = [("a", [10.0, 10.5, 11.0]), ("b", [11.0, 11.6, 12.1])];
            let rows = times.into_iter().flat_map(|(name, times)| {
                (0..3).map(move |run| row(name, run, times[run as usize]))
            });
            rows.map(move |row| Record { machine: machine.to_owned(), ..row })
        };
        let rows = files(of("paragon").chain(of("delta")).collect());
        let options = CompareOptions { correction: Correction::Group, ..CompareOptions::default() };
        let compared = compare_by(&rows, &options).unwrap();
        assert_eq!(compared.tested, 2);
        for tests in
            compared.groups.iter().flat_map(|g| &g.lines).filter_map(|line| line.tests.as_ref())
        {
            assert_eq!(tests.t_p_holm, tests.t_p, "the only comparison of its group");
        }
    }

    #[test]
    fn repetitions_with_the_same_seeds_are_compared_in_pairs() {
        // Times differ by up to 8 µs between sizes, and by about 1 µs between the algorithms.
        let sizes = [(10.0, 1.1), (14.0, 0.9), (9.0, 1.0), (17.0, 1.05)];
        let rows = |seed: u64| {
            let pair = move |(r, (time, more)): (u32, &(f64, f64))| {
                let slow = Record { seed: seed + u64::from(r), ..row("slow", r, time + more) };
                [row("fast", r, *time), slow]
            };
            files((0..).zip(&sizes).flat_map(pair).collect())
        };
        let slow = |seed| {
            let line = compare(&rows(seed), Some("fast")).unwrap().groups[0].lines[1].clone();
            let interval = line.ratio.unwrap().interval.unwrap();
            (line.tests.unwrap(), interval.high / interval.low)
        };
        let ((paired, narrow), (apart, wide)) = (slow(42), slow(1000));
        assert!(paired.paired && !apart.paired);
        assert!(narrow < 1.2 && wide > 2.0, "{narrow} {wide}");
        assert!(paired.t_p.unwrap() < 0.001 && apart.t_p.unwrap() > 0.5);
        assert!(paired.effect.unwrap() > 10.0 && apart.effect.unwrap() < 1.0);
    }

    #[test]
    fn p_values_are_corrected_for_all_comparisons_of_all_groups() {
        let times =
            [("a", [10.0, 10.5, 11.0]), ("b", [11.0, 11.6, 12.1]), ("c", [10.2, 10.6, 11.4])];
        let of = |machine: &'static str| {
            let rows =
                times.iter().flat_map(|(name, t)| (0..3).map(move |r| row(name, r, t[r as usize])));
            rows.map(move |row| Record { machine: machine.to_owned(), ..row })
        };
        let compared =
            compare(&files(of("paragon").chain(of("delta")).collect()), Some("a")).unwrap();
        assert_eq!(compared.tested, 4);
        let lines = compared.groups.iter().flat_map(|g| &g.lines);
        let tests: Vec<&Tests> = lines.filter_map(|line| line.tests.as_deref()).collect();
        let smallest = tests.iter().filter_map(|tests| tests.t_p).fold(1.0, f64::min);
        let corrected = tests.iter().filter_map(|tests| tests.t_p_holm).fold(1.0, f64::min);
        assert_eq!(corrected, 4.0 * smallest);
    }

    #[test]
    fn an_unknown_baseline_and_empty_files_are_errors() {
        let rows = files(vec![row("slow", 0, 30.0), row("fast", 0, 10.0)]);
        let known = vec!["fast".to_owned(), "slow".to_owned()];
        let error = compare(&rows, Some("fastest")).unwrap_err();
        assert_eq!(error, CompareError::NoBaseline { baseline: "fastest".to_owned(), known });
        assert_eq!(error.to_string(), "no row is of the baseline `fastest`");
        assert_eq!(compare(&[], None).unwrap_err().to_string(), "no rows to compare");
        assert_eq!(compare(&files(vec![]), Some("fast")).unwrap_err(), CompareError::NoRows);
    }

    #[test]
    fn cases_of_other_settings_are_in_other_groups() {
        let elsewhere = Record { machine: "delta".to_owned(), ..row("fast", 0, 1.0) };
        let mine = |price: u32| Record {
            machine: "mine".to_owned(),
            machine_definition: format!("paragon:startup_us={price}"),
            ..row("fast", 0, f64::from(price))
        };
        let rows =
            files(vec![row("fast", 0, 10.0), elsewhere, row("slow", 0, 20.0), mine(75), mine(220)]);
        let compared = compare(&rows, None).unwrap();
        let shown: Vec<_> = compared
            .groups
            .iter()
            .map(|g| {
                (g.setting.machine.as_str(), g.setting.machine_definition.as_str(), g.lines.len())
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("paragon", "", 2),
                ("delta", "", 1),
                ("mine", "paragon:startup_us=75", 1),
                ("mine", "paragon:startup_us=220", 1)
            ]
        );
    }
}
