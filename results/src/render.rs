//! Output of a comparison as a text table, CSV, JSON, Markdown, LaTeX and HTML, without colours. A
//! [`View`] determines what is shown. Each view consists of [`Section`]s. These are written one
//! after another, so the whole text is never in memory.

mod csv;
mod html;
mod latex;
mod markdown;
mod pivot;
mod table;

pub use csv::{write_csv, write_json};
pub use html::{escaped, html_table, write_html};
pub use latex::{latex_escaped, write_latex};
pub use markdown::write_markdown;
pub use table::write_table;

use crate::analysis::Axis;
use crate::case_id::Setting;
use crate::compare::residual::Residual;
use crate::compare::{
    By, CHARGED_LESS, Comparison, ComparisonLine, Correction, Group, LineOptimum, Winner,
};
use crate::names::without_common_parts;
use crate::record::Status;
use crate::stats::{Interval, LEVEL};
use crate::units::{duration, factor, number_to};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swapmeet_core::text::is_unsafe;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// A line for each group: the two fastest algorithms, and whether they differ significantly.
    Summary,
    Details,
    /// Times of algorithms, with the values of an axis as columns.
    Pivot(Axis),
}

impl View {
    pub fn of(comparison: &Comparison) -> Self {
        if comparison.groups.len() > 1 { Self::Summary } else { Self::Details }
    }
}

const HEADER: [&str; 15] = [
    "algorithm",
    "rows",
    "verified",
    "n",
    "mean, µs",
    "sd, µs",
    "95 %",
    "median, µs",
    "ratio",
    "95 % ",
    "p",
    "rank p",
    "algbw, GB/s",
    "busbw, GB/s",
    "time/alone",
];

const WORDS: usize = 3;

#[derive(Debug, Clone, Default)]
struct Cell {
    text: String,
    /// Whether this time is the least one, or does not differ significantly from it.
    is_best: bool,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, is_best: false }
    }
}

/// A table with a title and sentences below it. The flag of a column is true for numbers.
struct Section {
    title: String,
    header: Vec<(Cow<'static, str>, bool)>,
    lines: Vec<Vec<Cell>>,
    sentences: Vec<String>,
}

fn sections(comparison: &Comparison, view: View) -> Box<dyn Iterator<Item = Section> + '_> {
    let own: Box<dyn Iterator<Item = Section>> = match view {
        View::Summary => Box::new(std::iter::once(summary(comparison))),
        View::Details => {
            Box::new(comparison.groups.iter().map(|group| of_group(comparison, group)))
        }
        View::Pivot(axis) => Box::new(pivot::sections(comparison, axis)),
    };
    Box::new(own.chain(measured(comparison)))
}

fn measured(comparison: &Comparison) -> Option<Section> {
    const HEADER: [(&str, bool); 10] = [
        ("topology", false),
        ("workload", false),
        ("algorithm", false),
        ("measured on", false),
        ("n", true),
        ("median, µs", true),
        ("predicted for", false),
        ("model", false),
        ("predicted, µs", true),
        ("residual, %", true),
    ];
    let line = |residual: &Residual| {
        [
            single_line(&residual.topology),
            single_line(&residual.workload),
            single_line(&residual.algorithm),
            single_line(&residual.measured_on),
            residual.n.to_string(),
            format!("{:.3}", residual.measured_us),
            single_line(&residual.predicted_for),
            single_line(&residual.model),
            format!("{:.3}", residual.predicted_us),
            format!("{:+.1}", residual.residual_percent),
        ]
        .map(Cell::from)
        .into()
    };
    (!comparison.residuals.is_empty()).then(|| Section {
        title: "measured and predicted times".to_owned(),
        header: HEADER.map(|(name, is_number)| (name.into(), is_number)).into(),
        lines: comparison.residuals.iter().map(line).collect(),
        sentences: Vec::new(),
    })
}

/// Returns the table of a group. Columns without values are omitted.
fn of_group(comparison: &Comparison, group: &Group) -> Section {
    let by = comparison.by;
    let repeated = group.lines.iter().any(|line| line.time.as_ref().is_some_and(|time| time.n > 1));
    let lines: Vec<[String; HEADER.len()]> =
        group.lines.iter().map(|line| line_cells(comparison, group, line, repeated)).collect();
    let used: Vec<usize> =
        (0..HEADER.len()).filter(|i| lines.iter().any(|line| !line[*i].is_empty())).collect();
    let name = |i: usize| if i == 0 { by.label() } else { HEADER[i] };
    let cells =
        |line: &[String; HEADER.len()]| used.iter().map(|i| line[*i].clone().into()).collect();
    Section {
        title: title(group),
        header: used.iter().map(|i| (name(*i).into(), *i >= WORDS)).collect(),
        lines: lines.iter().map(cells).collect(),
        sentences: reasons(group).chain(conclusion(group)).chain(optimum_sentence(group)).collect(),
    }
}

fn line_cells(
    comparison: &Comparison,
    group: &Group,
    line: &ComparisonLine,
    repeated: bool,
) -> [String; HEADER.len()] {
    let time = line.time.as_ref();
    // If each algorithm was run only once, the mean is the only statistic that is shown.
    let sample = time.filter(|_| repeated);
    let number = |f: Option<f64>| f.map(|f| format!("{f:.3}")).unwrap_or_default();
    let verified = if time.is_some() { line.verification.to_string() } else { String::new() };
    let ratio = match &line.ratio {
        None if time.is_some() && group.baseline.is_some() => "undefined".to_owned(),
        ratio => number(ratio.as_ref().map(|r| r.value)),
    };
    let bandwidth = |gb_s: Option<f64>| gb_s.map(|b| number_to(b, 4)).unwrap_or_default();
    let tests = line.tests.as_deref();
    let p = |p: Option<f64>| p.map(p_value).unwrap_or_default();
    // If a rank test cannot become significant, a remark says so instead of the p-value.
    let can_rank = rank_shortfall(comparison, group, line).is_none();
    let rank_p = tests.filter(|_| can_rank).and_then(|tests| tests.rank_p_holm);
    [
        single_line(&line.algorithm) + if group.is_charged_less(line) { CHARGED_LESS } else { "" },
        status_text(line),
        verified,
        sample.map(|t| t.n.to_string()).unwrap_or_default(),
        number(time.map(|t| t.mean)),
        number(time.and_then(|t| t.sd)),
        interval(time.and_then(|t| t.interval)),
        number(sample.map(|t| t.median)),
        ratio,
        interval(line.ratio.as_ref().and_then(|r| r.interval)),
        p(tests.and_then(|tests| tests.t_p_holm)),
        p(rank_p),
        bandwidth(line.bandwidths.map(|b| b.algorithm)),
        bandwidth(line.bandwidths.map(|b| b.bus)),
        to_alone(line),
    ]
}

fn to_alone(line: &ComparisonLine) -> String {
    line.ratio_to_alone.map(|ratio| format!("{ratio:.2}")).unwrap_or_default()
}

/// Returns a table with one line for each group. A line has the settings in which the group differs
/// from others, the fastest algorithm, and whether this algorithm is significantly faster than the
/// second fastest one.
fn summary(comparison: &Comparison) -> Section {
    let groups = || comparison.groups.iter().map(|group| &**group);
    // Settings in which groups differ are columns. All other settings are shown once, in the title.
    let (mut common, mut columns) = (Vec::new(), Vec::new());
    let mut add = |name: &'static str, texts: Vec<String>| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (shared, own) = without_common_parts(&texts);
        common.push(single_line(&shared));
        if own.iter().any(|text| !text.is_empty()) {
            columns.push((name, own));
        }
    };
    let of = |text: fn(&Group) -> String| groups().map(text).collect::<Vec<String>>();
    let is_same = |texts: &[String]| texts.windows(2).all(|pair| pair[0] == pair[1]);
    add("algorithm", of(|group| group.of_algorithm.clone().unwrap_or_default()));
    add("topology", of(|group| group.setting.topology.clone()));
    add("workload", of(|group| group.setting.workload.clone()));
    add("together", of(|group| group.setting.together.clone()));
    let machines = of(Group::machine_in_full);
    let models = of(|group| group.setting.model.clone());
    // A machine determines its model, which is shown only if models differ on one machine.
    let has_model_column = is_same(&machines) && !is_same(&models);
    add("machine", machines);
    if has_model_column || is_same(&models) {
        add("model", models);
    }
    // Input files are shown only if groups differ in no other setting.
    let names = groups().map(|group| {
        let Setting { topology, workload, machine, machine_definition, model, together, .. } =
            &group.setting;
        (&group.of_algorithm, topology, workload, machine, machine_definition, model, together)
    });
    if names.collect::<BTreeSet<_>>().len() < comparison.groups.len() {
        add("inputs", of(|group| group.setting.inputs.replace(',', ", ")));
    }
    let baselines: BTreeSet<&str> =
        groups().filter_map(|group| group.baseline.as_deref()).collect();
    let is_chosen = |group: &Group| {
        group.winner.as_ref().is_some_and(|won| group.baseline.as_ref() != Some(&won.algorithm))
    };
    let baseline = baselines.first().filter(|_| baselines.len() == 1 && groups().any(is_chosen));
    let results: Vec<[String; 7]> =
        groups().map(|group| summary_cells(group, baseline.copied())).collect();
    let fastest = match comparison.by {
        By::Algorithm => "fastest".to_owned(),
        by => format!("fastest {}", by.label()),
    };
    let ratio = baseline.map_or(String::new(), |name| format!("time / {name}"));
    let names = [&fastest, "time", &ratio, "next", "takes", "differs, p", "time/alone"];
    let names = names.map(str::to_owned);
    let is_exact = |cells: &[String; 7]| matches!(&*cells[5], "" | EXACT);
    let is_shown = |column: usize| match column {
        5 => !results.iter().all(is_exact),
        _ => results.iter().any(|cells| !cells[column].is_empty()),
    };
    let shown: Vec<usize> = (0..names.len()).filter(|column| is_shown(*column)).collect();
    let header = columns.iter().map(|(name, _)| ((*name).into(), false));
    let line = |(number, results): (usize, &[String; 7])| {
        let settings = columns.iter().map(|(_, own)| single_line(&own[number]));
        settings.chain(shown.iter().map(|at| results[*at].clone())).map(Cell::from).collect()
    };
    common.retain(|text| !text.is_empty());
    Section {
        title: common.join(", "),
        header: header
            .chain(shown.iter().map(|at| (names[*at].clone().into(), matches!(at, 1 | 2 | 4 | 6))))
            .collect(),
        lines: results.iter().enumerate().map(line).collect(),
        sentences: failed(comparison).into_iter().collect(),
    }
}

const EXACT: &str = "exact";

/// Returns the fastest algorithm, its time, the ratio of its time to the baseline's, the second
/// fastest algorithm, the factor by which this one is slower, whether the difference is
/// significant, and the ratio of the fastest time to that of one communicator alone.
fn summary_cells(group: &Group, baseline: Option<&str>) -> [String; 7] {
    let Some(winner) = &group.winner else {
        return std::array::from_fn(|at| if at == 0 { "none".to_owned() } else { String::new() });
    };
    let named = |name: &str| single_line(name) + group.mark(name);
    let line = group.lines.iter().find(|line| line.algorithm == winner.algorithm);
    let of_baseline = baseline.and_then(|name| {
        let line = group.lines.iter().find(|line| line.algorithm == name)?;
        let ratio = winner.time.mean / line.mean()?;
        Some(if ratio.is_finite() { format!("{ratio:.3}") } else { "undefined".to_owned() })
    });
    let second = winner.second.as_ref();
    let takes = second.map(|second| match &second.times_as_long {
        Some(ratio) => format!("{} x", factor(ratio.value)),
        None => "undefined".to_owned(),
    });
    [
        named(&winner.algorithm),
        duration(winner.time.mean),
        of_baseline.unwrap_or_default(),
        second.map(|second| named(&second.algorithm)).unwrap_or_default(),
        takes.unwrap_or_default(),
        evidence(group, winner),
        line.map(to_alone).unwrap_or_default(),
    ]
}

/// Returns whether the difference from the second fastest algorithm is significant, in words.
fn evidence(group: &Group, winner: &Winner) -> String {
    let Some(second) = &winner.second else { return String::new() };
    let runs = |name: &str| {
        let line = group.lines.iter().find(|line| line.algorithm == name);
        line.map_or(0, run_count)
    };
    let (n, m) = (runs(&winner.algorithm), runs(&second.algorithm));
    match second.p {
        Some(p) if p < LEVEL => format!("yes, {}", p_value(p)),
        Some(p) => format!("no, {}", p_value(p)),
        None if group.is_exact() && n == 1 && m == 1 => EXACT.to_owned(),
        None if n > 1 && m > 1 => "same in all runs".to_owned(),
        None => "unknown, one run".to_owned(),
    }
}

/// Claims a difference only if the corrected p-value is below 0.05, or if times are exact.
fn conclusion(group: &Group) -> Option<String> {
    if !group.no_baseline.is_empty() {
        return Some(format!("Nothing to compare with: {}.", single_line(&group.no_baseline)));
    }
    let winner = group.winner.as_ref()?;
    let quoted = |name: &str| format!("`{}`", single_line(name));
    let first = quoted(&winner.algorithm);
    let Some(second) = &winner.second else {
        return Some(format!("Only {first} has a time here: nothing to compare with."));
    };
    let next = quoted(&second.algorithm);
    let Some(ratio) = &second.times_as_long else {
        return Some(format!("{first} and {next}: a time is 0, so there is no ratio."));
    };
    let takes = format!("{next} takes {} times as long", factor(ratio.value));
    let evidence = match second.p {
        Some(p) => format!(" (p {})", compared_p(p)),
        None => match &*evidence(group, winner) {
            EXACT => String::new(),
            "same in all runs" => " (the same in all repetitions)".to_owned(),
            _ => " (one run: the uncertainty is unknown)".to_owned(),
        },
    };
    let tied: Vec<String> = winner.tied.iter().map(|name| quoted(name)).collect();
    Some(match &tied[..] {
        [] => format!("{first} is the fastest: {takes}{evidence}."),
        _ if second.p.is_none() => {
            format!("{first} and {} take the same time{evidence}.", tied.join(", "))
        }
        _ => format!("{first} and {} are not told apart: {takes}{evidence}.", tied.join(", ")),
    })
}

fn failed(comparison: &Comparison) -> Option<String> {
    let mut counts: BTreeMap<Status, u32> = BTreeMap::new();
    for (status, n) in comparison.groups.iter().flat_map(|g| &g.lines).flat_map(|l| l.rows.iter()) {
        *counts.entry(status).or_default() += n;
    }
    counts.remove(&Status::Ok);
    let counts: Vec<String> = counts.iter().map(|(status, n)| format!("{n} {status}")).collect();
    (!counts.is_empty())
        .then(|| format!("rows without a time: {}; see --details", counts.join(", ")))
}

/// Returns a sentence about the optimum, or `None` if no row has an optimum.
fn optimum_sentence(group: &Group) -> Option<String> {
    const NAMED: usize = 5;
    /// If the relative width of an interval is at least this, the sentence mentions it.
    const WIDE: f64 = 0.1;
    let known = || group.lines.iter().filter_map(|line| Some((line, line.optimum?)));
    let gap = known().map(|(_, optimum)| optimum.gap).reduce(f64::max)?;
    let named = known().take(NAMED).enumerate();
    let mut parts: Vec<String> =
        named.map(|(i, (line, optimum))| against_optimum(line, optimum, i == 0)).collect();
    let others = known().skip(NAMED).count();
    if others > 0 {
        parts.push(format!("{others} other algorithms take longer"));
    }
    let wide = if gap >= WIDE {
        format!(" The optimum is known only within {:.0} %.", gap * 100.0)
    } else {
        String::new()
    };
    Some(format!("{}.{wide}", parts.join("; ")))
}

/// Compares a time with the optimum, which only a sentence's first comparison names.
fn against_optimum(line: &ComparisonLine, optimum: LineOptimum, is_first: bool) -> String {
    let (name, than) =
        (single_line(&line.algorithm), if is_first { " as the optimum" } else { "" });
    match optimum.ratio {
        ratio if ratio < 1.0005 => format!("`{name}` reaches the optimum"),
        ratio if ratio < 1.1 => {
            format!("`{name}` is within {:.1} % of the optimum", (ratio - 1.0) * 100.0)
        }
        ratio if ratio < 2.0 => format!("`{name}` takes {ratio:.2} times as long{than}"),
        ratio => format!("`{name}` takes {ratio:.1} times as long{than}"),
    }
}

fn notes(comparison: &Comparison) -> Vec<String> {
    let is_of_noise = matches!(comparison.by, By::Parameter(noise) if noise.key == "noise");
    let single = |group: &&Arc<Group>| group.is_exact() && is_of_single_runs(group) && !is_of_noise;
    let exact = comparison.groups.iter().filter(single).count();
    let exact = (exact > 0).then(|| {
        if exact == comparison.groups.len() {
            "Every case is deterministic and was run once: times and ratios are exact.".to_owned()
        } else {
            "Deterministic cases without repetitions have exact times and ratios.".to_owned()
        }
    });
    let tested = comparison.tested;
    let holm = (tested > 1).then(|| match comparison.correction {
        Correction::All => format!("p-values are corrected for {tested} comparisons (Holm)."),
        Correction::Group => {
            "p-values are corrected for the comparisons of each group (Holm).".to_owned()
        }
    });
    comparison
        .notes
        .iter()
        .chain(&comparison.rearrangement_remarks)
        .map(|note| single_line(note))
        .chain(exact)
        .chain(holm)
        .chain(rank_limits(comparison))
        .collect()
}

fn rank_limits(comparison: &Comparison) -> BTreeSet<String> {
    let groups = comparison.groups.iter();
    let lines = groups.flat_map(|group| group.lines.iter().map(move |line| (group, line)));
    let remark = |(group, line): (&Arc<Group>, &ComparisonLine)| {
        let (name, least, tests) = rank_shortfall(comparison, group, line)?;
        let comparisons =
            if tests > 1 { format!(" for {tests} comparisons") } else { String::new() };
        Some(format!("{name} rank test: needs n >= {least}{comparisons}."))
    };
    lines.filter_map(remark).collect()
}

/// If a rank test cannot become significant with any times, returns its name, the number of
/// repetitions that it needs, and the number of comparisons. Wilcoxon's signed-rank test with n
/// pairs has a p-value of at least 2/2^n. The Mann-Whitney test with n and m runs has a p-value of
/// at least 2 divided by the number of ways to choose n of n + m runs.
fn rank_shortfall(
    comparison: &Comparison,
    group: &Group,
    line: &ComparisonLine,
) -> Option<(&'static str, usize, usize)> {
    let tests = match comparison.correction {
        Correction::All => comparison.tested,
        Correction::Group => group.lines.iter().filter(|line| line.tests.is_some()).count(),
    };
    let test = line.tests.as_ref().filter(|test| test.rank_p.is_some())?;
    let baseline =
        group.lines.iter().find(|line| Some(&line.algorithm) == group.baseline.as_ref())?;
    let (n, m) = (run_count(line), run_count(baseline));
    let (name, least): (_, fn(usize, usize) -> f64) = if test.paired {
        ("Wilcoxon's", |n, _| 2.0 * 0.5_f64.powf(n as f64))
    } else {
        ("Mann-Whitney", |n, m| 2.0 / ways(n, m))
    };
    let is_possible = |n, m| least(n, m) * (tests as f64) < LEVEL;
    let needed = (2..=1000).find(|n| is_possible(*n, *n))?;
    (!is_possible(n, m)).then_some((name, needed, tests))
}

fn ways(n: usize, m: usize) -> f64 {
    (1..=n).map(|i| (m + i) as f64 / i as f64).product()
}

fn is_of_single_runs(group: &Group) -> bool {
    group.lines.iter().all(|line| run_count(line) <= 1)
        && group.lines.iter().any(|line| run_count(line) == 1)
}

fn run_count(line: &ComparisonLine) -> usize {
    line.time.as_ref().map_or(0, |time| time.n)
}

fn status_text(line: &ComparisonLine) -> String {
    let mut counts = line.rows.iter();
    let (first, second) = (counts.next(), counts.next());
    let is_single = line.status == Status::Ok || first.is_some_and(|(_, n)| n == 1);
    if second.is_none() && is_single {
        return line.status.to_string();
    }
    line.rows.iter().map(|(status, n)| format!("{n} {status}")).collect::<Vec<_>>().join(", ")
}

fn interval(interval: Option<Interval>) -> String {
    match interval {
        Some(i) if i.is_point() => "no spread".to_owned(),
        Some(i) => format!("{:.3} to {:.3}", i.low, i.high),
        None => String::new(),
    }
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

fn compared_p(p: f64) -> String {
    if p < 0.001 { p_value(p) } else { format!("= {}", p_value(p)) }
}

fn title(group: &Group) -> String {
    let Setting { topology, collective, workload, inputs, model, together, .. } = &group.setting;
    let collective = if collective == "alltoall" { "" } else { collective };
    let (machine, inputs) = (group.machine_in_full(), inputs.replace(',', ", "));
    let algorithm = group.of_algorithm.as_deref().unwrap_or_default();
    let together = match together.as_str() {
        "" => String::new(),
        others => format!("together with {others}"),
    };
    let parts = [algorithm, topology, collective, workload, &together, &machine, model, &inputs];
    single_line(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "))
}

fn reasons(group: &Group) -> impl Iterator<Item = String> + '_ {
    let with_reason = group.lines.iter().filter(|l| !l.reason.is_empty());
    with_reason.map(|l| single_line(&format!("{}: {}", l.algorithm, l.reason)))
}

/// Replaces control characters, which could break the line or control the terminal.
pub fn single_line(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::compare::tests::{failed, files, row};
    use crate::compare::{CompareOptions, compare, compare_by};
    use crate::record::Record;
    use std::io::Write;

    pub(crate) fn text_of<E: std::fmt::Debug>(
        write: impl FnOnce(&Comparison, &mut dyn Write) -> Result<(), E>,
        comparison: &Comparison,
    ) -> String {
        let mut text = Vec::new();
        write(comparison, &mut text).unwrap();
        String::from_utf8(text).unwrap().trim_end().to_owned()
    }

    pub(crate) fn details_of(
        write: impl FnOnce(&Comparison, View, &mut dyn Write) -> std::io::Result<()>,
        comparison: &Comparison,
    ) -> String {
        text_of(|comparison, out| write(comparison, View::Details, out), comparison)
    }

    pub(crate) fn comparison(records: Vec<Record>) -> Comparison {
        compare(&files(records), None).unwrap()
    }

    pub(crate) fn repeated() -> Comparison {
        let times = [
            ("fast", [10.0, 10.4, 9.8]),
            ("slow", [20.5, 21.0, 20.0]),
            ("alike", [10.1, 10.3, 9.9]),
        ];
        let rows =
            times.iter().flat_map(|(name, t)| (0..3).map(move |r| row(name, r, t[r as usize])));
        comparison(rows.collect())
    }

    pub(crate) fn partly_failed() -> Comparison {
        comparison(vec![
            row("fast", 0, 10.0),
            row("fast", 1, 10.0),
            row("frail", 0, 20.0),
            failed("frail", 1, Status::Timeout, "60 s are over"),
            failed("odd", 0, Status::Unsupported, "a side | of 4\nis \u{1b}[31mtoo odd"),
        ])
    }

    #[test]
    fn titles_omit_defaults() {
        let mut group = Arc::unwrap_or_clone(repeated().groups.remove(0));
        assert_eq!(title(&group), "torus:4x4, uniform:64, paragon, wormhole");
        let [collective, machine, machine_definition] =
            ["scatter", "mine", "sp2"].map(str::to_owned);
        group.setting = Setting { collective, machine, machine_definition, ..group.setting };
        assert_eq!(title(&group), "torus:4x4, scatter, uniform:64, mine (sp2), wormhole");
    }

    #[test]
    fn exactness_is_noted_once_for_all_groups() {
        let of = |machine: &str| Record { machine: machine.to_owned(), ..row("fast", 0, 10.0) };
        let notes_on = |rows: Vec<Record>| notes(&comparison(rows)).concat();
        assert_eq!(
            notes_on(vec![of("paragon"), of("delta")]),
            "Every case is deterministic and was run once: times and ratios are exact."
        );
        let again = [0, 1]
            .map(|r| Record { machine: "sp2".to_owned(), ..row("fast", r, 10.0 + f64::from(r)) });
        assert_eq!(
            notes_on([vec![of("paragon")], again.to_vec()].concat()),
            "Deterministic cases without repetitions have exact times and ratios."
        );
        let workload = "irregular:dist=pareto,mean=512,cv=2".to_owned();
        assert_eq!(
            notes(&comparison(vec![Record { workload, ..of("paragon") }])),
            [""; 0],
            "random sizes are not exact"
        );
        for (topology, is_exact) in [
            ("torus:4x4,faults=2", false),
            ("torus:4x4,slow-links=2:0.5", false),
            ("torus:4x4,place=random", false),
            ("torus:4x4,routing=ecmp", false),
            ("torus:4x4,faults=2:7,slow-links=2:0.5:7,place=random:7", true),
        ] {
            let drawn = Record { topology: topology.to_owned(), ..of("paragon") };
            assert_eq!(notes_on(vec![drawn.clone()]).contains("exact"), is_exact, "{topology}");
            let options = CompareOptions { by: By::Topology, ..CompareOptions::default() };
            let compared = compare_by(&files(vec![drawn, of("paragon")]), &options).unwrap();
            assert_eq!(notes(&compared).concat().contains("exact"), is_exact, "{topology}");
        }
        let model = crate::compare::residual::MEASURED.to_owned();
        assert_eq!(
            notes(&comparison(vec![Record { model, ..of("measured:here") }])),
            [""; 0],
            "measured times are not exact"
        );
        let limit = "Wilcoxon's rank test: needs n >= 7 for 2 comparisons.";
        assert_eq!(notes(&repeated()), ["p-values are corrected for 2 comparisons (Holm).", limit]);
    }

    /// Each of 16 nodes moves 1,024 bytes (blocks of 64 bytes) in 1.024 µs: an algorithm bandwidth
    /// of 1 GB/s, and a bus bandwidth of 15/16 GB/s (doc/PERFORMANCE.md of nccl-tests).
    #[test]
    fn bandwidths_are_those_of_the_mean_time() {
        let of = |collective: &str, repetition, time| {
            let sized =
                Record { nodes: 16, block_bytes: Some(64), ..row("fast", repetition, time) };
            Record { collective: collective.to_owned(), ..sized }
        };
        let printed = |rows| {
            let compared = comparison(rows);
            let Section { header, mut lines, .. } = of_group(&compared, &compared.groups[0]);
            let shown = ["algbw, GB/s", "busbw, GB/s"];
            let known = header.ends_with(&shown.map(|name| (name.into(), true)));
            let last = lines.remove(0).split_off(header.len() - 2);
            known.then(|| last.into_iter().map(|cell| cell.text).collect::<Vec<_>>().join(" "))
        };
        let mean = vec![of("alltoall", 0, 1.0), of("alltoall", 1, 1.048)];
        assert_eq!(printed(mean).as_deref(), Some("1 0.9375"));
        let allreduce = vec![of("allreduce", 0, 0.064)];
        assert_eq!(printed(allreduce).as_deref(), Some("1 1.875"), "2 (n - 1)/n of one vector");
        assert_eq!(printed(vec![of("gather", 0, 1.0)]), None, "nccl-tests defines no factor");
        let rows = vec![of("alltoall", 0, 1.024)];
        let csv = details_of(write_csv, &comparison(rows.clone()));
        assert!(csv.contains(",algbw_gb_s,busbw_gb_s\n") && csv.ends_with(",1,0.9375"), "{csv}");
        let json: serde_json::Value =
            serde_json::from_str(&details_of(write_json, &comparison(rows))).unwrap();
        let expected = serde_json::json!({ "algbw_gb_s": 1.0, "busbw_gb_s": 0.9375 });
        assert_eq!(json["groups"][0]["lines"][0]["bandwidths"], expected);
    }

    #[test]
    fn empty_columns_are_omitted() {
        let names = |comparison: &Comparison| {
            let header = of_group(comparison, &comparison.groups[0]).header;
            header.into_iter().map(|(name, _)| name.into_owned()).collect::<Vec<String>>()
        };
        let single = names(&comparison(vec![row("fast", 0, 10.0), row("slow", 0, 20.0)]));
        assert_eq!(single, ["algorithm", "rows", "verified", "mean, µs", "ratio"]);
        assert_eq!(names(&repeated()), HEADER[..11]);
    }

    /// With 10 pairs, the least p-value is 2/1024. For 64 comparisons, it is corrected to 0.125.
    #[test]
    fn a_test_that_cannot_become_significant_is_reported() {
        let remarks = |groups: u32, pairs: u32, correction: Correction| {
            let rows = (0..groups).flat_map(|number| {
                (0..pairs).flat_map(move |run| {
                    let of = |name, time| Record {
                        workload: format!("irregular:dist=pareto,mean={},cv=1", 8 + number),
                        ..row(name, run, time)
                    };
                    [of("a", 10.0 + f64::from(run)), of("b", 20.0 + f64::from(run * run))]
                })
            });
            let options = CompareOptions { correction, ..CompareOptions::default() };
            let compared = compare_by(&files(rows.collect()), &options).unwrap();
            let has_column = details_of(write_table, &compared).contains("  rank p");
            let remarks: Vec<String> = rank_limits(&compared).into_iter().collect();
            assert_eq!(has_column, remarks.is_empty());
            remarks
        };
        // 64 x 2/2048 is 0.0625, and 64 x 2/4096 is 0.03125, so 12 pairs are needed.
        let text = "Wilcoxon's rank test: needs n >= 12 for 64 comparisons.";
        assert_eq!(remarks(64, 10, Correction::All), [text]);
        assert_eq!(remarks(64, 11, Correction::All), [text]);
        assert_eq!(remarks(64, 10, Correction::Group), [""; 0]);
        assert_eq!(remarks(64, 12, Correction::All), [""; 0]);
        // 2/2^5 is 0.0625, and 2/2^6 is 0.03125, so 6 pairs are needed.
        let few = "Wilcoxon's rank test: needs n >= 6.";
        assert_eq!(remarks(1, 3, Correction::All), [few]);
        assert_eq!(remarks(1, 6, Correction::All), [""; 0]);
        // There are 20 ways to choose 3 of 6 runs.
        assert_eq!(ways(3, 3), 20.0);
    }

    fn sentence_of(rows: Vec<Record>) -> Option<String> {
        optimum_sentence(&compare(&files(rows), None).unwrap().groups[0])
    }

    fn with_optimum(algorithm: &str, time_us: f64, optimum_gap: f64) -> Record {
        let (optimum_us, optimum_gap) = (Some(10.0), Some(optimum_gap));
        Record { optimum_us, optimum_gap, ..row(algorithm, 0, time_us) }
    }

    #[test]
    fn each_algorithm_is_compared_with_the_optimum() {
        assert_eq!(sentence_of(vec![row("a", 0, 10.0), row("b", 0, 20.0)]), None);
        let rows = vec![
            with_optimum("suh-shin", 30.0, 0.01),
            with_optimum("pex", 10.4, 0.01),
            with_optimum("dim-rotation", 10.0, 0.01),
            failed("odd", 0, Status::Unsupported, "an odd side"),
        ];
        assert_eq!(
            sentence_of(rows).as_deref(),
            Some(
                "`dim-rotation` reaches the optimum; `pex` is within 4.0 % of the optimum; `suh-shin` takes 3.0 times as long."
            )
        );
        let many = (0..7).map(|i| with_optimum(&format!("a{i}"), 15.0 + f64::from(i), 0.5));
        assert_eq!(
            sentence_of(many.collect()).as_deref(),
            Some(
                "`a0` takes 1.50 times as long as the optimum; `a1` takes 1.60 times as long; `a2` takes 1.70 times as long; `a3` takes 1.80 times as long; `a4` takes 1.90 times as long; 2 other algorithms take longer. The optimum is known only within 50 %."
            )
        );
    }

    fn verdict(records: Vec<Record>, baseline: Option<&str>) -> String {
        conclusion(&compare(&files(records), baseline).unwrap().groups[0]).unwrap()
    }

    fn runs_of(name: &'static str, times: &'static [f64]) -> impl Iterator<Item = Record> {
        (0..).zip(times).map(move |(r, t)| row(name, r, *t))
    }

    fn unpaired(rows: impl Iterator<Item = Record>) -> impl Iterator<Item = Record> {
        rows.map(|row| Record { seed: 1000 + row.seed, ..row })
    }

    fn last_cells(records: Vec<Record>, baseline: Option<&str>) -> [String; 3] {
        let compared = compare(&files(records), baseline).unwrap();
        let Section { header, lines, .. } = of_group(&compared, &compared.groups[0]);
        let at = |name: &str| header.iter().position(|(known, _)| known == name).unwrap();
        ["ratio", "95 % ", "p"].map(|name| lines[lines.len() - 1][at(name)].text.clone())
    }

    #[test]
    fn a_winner_has_an_interval_and_p_values() {
        let rows = || {
            runs_of("fast", &[10.0, 10.4, 9.8])
                .chain(runs_of("slow", &[20.5, 21.0, 20.0]))
                .collect::<Vec<_>>()
        };
        let sentence = "`fast` is the fastest: `slow` takes 2.04 times as long (p < 0.001).";
        assert_eq!(verdict(rows(), None), sentence);
        assert_eq!(verdict(rows(), Some("slow")), sentence, "the same seen from either side");
        assert_eq!(last_cells(rows(), None), ["2.036", "1.997 to 2.077", "< 0.001"]);
        let apart = || {
            let slow = unpaired(runs_of("slow", &[20.5, 21.0, 20.0]));
            runs_of("fast", &[10.0, 10.4, 9.8]).chain(slow).collect::<Vec<_>>()
        };
        assert_eq!(verdict(apart(), None), sentence);
        assert_eq!(last_cells(apart(), None), ["2.036", "1.911 to 2.170", "< 0.001"]);
    }

    #[test]
    fn without_a_difference_there_is_no_winner() {
        let apart = || {
            let b = unpaired(runs_of("b", &[10.1, 10.3, 9.9]));
            runs_of("a", &[10.0, 10.4, 9.8]).chain(b).collect::<Vec<_>>()
        };
        assert_eq!(
            verdict(apart(), None),
            "`a` and `b` are not told apart: `b` takes 1.003 times as long (p = 0.883)."
        );
        assert_eq!(last_cells(apart(), None), ["1.003", "0.943 to 1.067", "0.883"]);
    }

    /// The confidence interval of the ratio excludes 1, but the p-value is not below 0.05.
    #[test]
    fn no_sentence_claims_a_difference_that_the_p_value_denies() {
        let rows = || runs_of("a", &[10.0, 14.0]).chain(runs_of("b", &[20.0, 28.0])).collect();
        assert_eq!(
            verdict(rows(), None),
            "`a` and `b` are not told apart: `b` takes 2.00 times as long (p = 0.105)."
        );
        let compared = compare(&files(rows()), None).unwrap();
        assert_eq!(summary_cells(&compared.groups[0], None)[5], "no, 0.105");
    }

    #[test]
    fn single_runs_have_no_uncertainty() {
        let drawn = |name: &str, time| {
            let workload = "irregular:dist=pareto,mean=512,cv=2".to_owned();
            Record { workload, ..row(name, 0, time) }
        };
        assert_eq!(
            verdict(vec![drawn("slow", 25.0), drawn("fast", 10.0)], None),
            "`fast` is the fastest: `slow` takes 2.50 times as long (one run: the uncertainty is unknown)."
        );
        assert_eq!(
            verdict(runs_of("fast", &[10.0, 11.0]).chain([row("slow", 0, 42.0)]).collect(), None),
            "`fast` is the fastest: `slow` takes 4.00 times as long (one run: the uncertainty is unknown)."
        );
        assert_eq!(
            verdict(vec![row("slow", 0, 25.0), row("fast", 0, 10.0)], None),
            "`fast` is the fastest: `slow` takes 2.50 times as long.",
            "uniform sizes: that this is exact is said once, below"
        );
    }

    #[test]
    fn repetitions_without_spread_are_marked() {
        assert_eq!(
            verdict(runs_of("slow", &[25.0; 4]).chain(runs_of("fast", &[10.0; 4])).collect(), None),
            "`fast` is the fastest: `slow` takes 2.50 times as long (the same in all repetitions)."
        );
        assert_eq!(
            verdict(runs_of("slow", &[10.0; 4]).chain(runs_of("fast", &[10.0; 3])).collect(), None),
            "`fast` and `slow` take the same time (the same in all repetitions)."
        );
    }

    #[test]
    fn small_differences_are_not_rounded_away() {
        assert_eq!(
            verdict(vec![row("a", 0, 10_000.0), row("b", 0, 10_001.0)], None),
            "`a` is the fastest: `b` takes 1.0001 times as long."
        );
    }

    /// The interval from 1.9999 to 2.0002 is narrower than the last digit that is usually shown.
    #[test]
    fn a_small_spread_is_not_rounded_away() {
        let a = || runs_of("a", &[10.0, 10.001, 9.999]);
        let rows = a().chain(runs_of("b", &[20.0, 20.002, 19.999])).collect::<Vec<_>>();
        assert_eq!(
            verdict(rows.clone(), None),
            "`a` is the fastest: `b` takes 2.00 times as long (p < 0.001)."
        );
        let line = compare(&files(rows), None).unwrap().groups[0].lines[1].clone();
        let interval = line.ratio.unwrap().interval.unwrap();
        assert_eq!(format!("{:.4} to {:.4}", interval.low, interval.high), "1.9999 to 2.0002");
        let close = a().chain(runs_of("b", &[10.001, 10.002, 10.0])).collect();
        assert_eq!(
            verdict(close, None),
            "`a` is the fastest: `b` takes 1.0001 times as long (p < 0.001)."
        );
    }

    #[test]
    fn missing_comparisons_are_explained() {
        assert_eq!(
            verdict(vec![row("a", 0, 0.0), row("b", 0, 5.0)], None),
            "`a` and `b`: a time is 0, so there is no ratio."
        );
        let broken = || failed("odd", 0, Status::Invalid, "block 3 of 5");
        assert_eq!(
            verdict(vec![row("a", 0, 5.0), broken()], None),
            "Only `a` has a time here: nothing to compare with."
        );
        assert_eq!(
            verdict(vec![row("a", 0, 5.0), broken()], Some("odd")),
            "Nothing to compare with: the baseline `odd` has no time here: invalid."
        );
    }

    #[test]
    fn a_summary_of_eight_groups_fits_on_a_screen() {
        let moe = |tokens: u32, skew: u32| {
            let skew = if skew == 0 { String::new() } else { format!(",skew={skew}") };
            format!("moe:experts=512,top=8,tokens={tokens},bytes=7KiB{skew}")
        };
        let rows = [16, 64, 256, 1024].into_iter().flat_map(|tokens| {
            [0, 1].into_iter().flat_map(move |skew| {
                (0..3).flat_map(move |run| {
                    let of = |name: &str, time: f64| Record {
                        workload: moe(tokens, skew),
                        topology: "torus:8x8x8".to_owned(),
                        machine: "slingshot-11:model=fluid,startup_us=2".to_owned(),
                        model: "fluid".to_owned(),
                        time_us: Some(time * f64::from(tokens + run)),
                        ..row(name, run, 0.0)
                    };
                    // At skew 1, the first two times differ by less than the repetitions.
                    let near = [1.2, 1.0 + 0.01 * f64::from(run)][skew as usize];
                    [of("by-dimension", 1.0), of("tuna:radix=8,ports=4", near), of("linear", 3.0)]
                })
            })
        });
        let text = text_of(
            |all, out| write_table(all, View::of(all), out),
            &compare(&files(rows.collect()), None).unwrap(),
        );
        insta::assert_snapshot!(text, @r"
        torus:8x8x8, moe:experts=512,top=8,bytes=7KiB, slingshot-11:model=fluid,startup_us=2, fluid
        workload            fastest           time  next                   takes  differs, p
        tokens=16           by-dimension  17.00 µs  tuna:radix=8,ports=4  1.20 x  yes, 0.008
        tokens=16,skew=1    by-dimension  17.00 µs  tuna:radix=8,ports=4  1.01 x  no, 0.902
        tokens=64           by-dimension  65.00 µs  tuna:radix=8,ports=4  1.20 x  yes, < 0.001
        tokens=64,skew=1    by-dimension  65.00 µs  tuna:radix=8,ports=4  1.01 x  no, 0.902
        tokens=256          by-dimension  257.0 µs  tuna:radix=8,ports=4  1.20 x  yes, < 0.001
        tokens=256,skew=1   by-dimension  257.0 µs  tuna:radix=8,ports=4  1.01 x  no, 0.902
        tokens=1024         by-dimension  1.025 ms  tuna:radix=8,ports=4  1.20 x  yes, < 0.001
        tokens=1024,skew=1  by-dimension  1.025 ms  tuna:radix=8,ports=4  1.01 x  no, 0.902

        note: p-values are corrected for 16 comparisons (Holm).
        note: Wilcoxon's rank test: needs n >= 10 for 16 comparisons.
        ");
        assert!(text.lines().count() <= 40);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn a_summary_compares_with_the_baseline() {
        let sized = |bytes: u32, name: &str, time| Record {
            workload: format!("uniform:{bytes}"),
            ..row(name, 0, time)
        };
        let rows = vec![
            sized(64, "pairwise", 40.0),
            sized(64, "bruck", 10.0),
            sized(4096, "pairwise", 50.0),
            sized(4096, "bruck", 80.0),
            Record { workload: "uniform:9".to_owned(), ..failed("odd", 0, Status::Error, "x") },
        ];
        let compared = compare(&files(rows), Some("pairwise")).unwrap();
        insta::assert_snapshot!(text_of(|all, out| write_table(all, View::Summary, out), &compared), @r"
        torus:4x4, paragon, wormhole
        workload      fastest       time  time / pairwise  next       takes
        uniform:64    bruck     10.00 µs            0.250  pairwise  4.00 x
        uniform:4096  pairwise  50.00 µs            1.000  bruck     1.60 x
        uniform:9     none
        rows without a time: 1 error; see --details

        note: Deterministic cases without repetitions have exact times and ratios.
        ");
    }
}
