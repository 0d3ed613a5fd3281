//! Output of a comparison as a text table, CSV, JSON, Markdown, HTML, and sentences. No format uses
//! colour. Groups are written one after another, so that the text is never in memory as a whole.

mod csv;
mod html;
mod json;
mod latex;
mod limits;
mod markdown;
mod optimum;
mod table;
mod words;

pub use csv::write_csv;
pub use html::{escaped, html_table, write_html};
pub use json::write_json;
pub use latex::{latex_escaped, write_latex};
use limits::limits;
pub use markdown::write_markdown;
pub use table::write_table;
pub use words::in_words;

use crate::case_id::Setting;
use crate::compare::residual::Residual;
use crate::compare::{By, Comparison, ComparisonLine, Correction, Group};
use crate::record::Status;
use crate::stats::Interval;
use crate::units::number_to;
use std::sync::Arc;
use swapmeet_core::text::is_unsafe;

/// The columns of tables for people.
const HEADER: [&str; 14] = [
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
    "p (t, rank)",
    "effect",
    "algbw, GB/s",
    "busbw, GB/s",
];

/// The number of text columns in [`HEADER`], which are its first columns.
const WORDS: usize = 3;

/// The table of a group. Each column has a name and a flag that is true for numbers. Empty columns
/// are omitted.
struct TableCells {
    header: Vec<(&'static str, bool)>,
    lines: Vec<Vec<String>>,
}

/// A table with its title and the sentences below it.
struct Section {
    title: String,
    cells: TableCells,
    sentences: Vec<String>,
}

/// Returns all tables: one for each group, then the table of residuals, if there are any.
fn sections(comparison: &Comparison) -> impl Iterator<Item = Section> {
    let group = |group: &Arc<Group>| Section {
        title: title(group),
        cells: cells(group, comparison.by),
        sentences: reasons(group)
            .chain(in_words(group).lines().map(str::to_owned))
            .chain(optimum::sentence(group))
            .collect(),
    };
    comparison.groups.iter().map(group).chain(measured(comparison))
}

/// Returns the table of measured and predicted times.
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
        vec![
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
    };
    let cells = TableCells {
        header: HEADER.to_vec(),
        lines: comparison.residuals.iter().map(line).collect(),
    };
    let title = "measured and predicted times".to_owned();
    (!comparison.residuals.is_empty()).then_some(Section { title, cells, sentences: Vec::new() })
}

fn cells(group: &Group, by: By) -> TableCells {
    let repeated = group.lines.iter().any(|line| line.time.as_ref().is_some_and(|time| time.n > 1));
    let lines: Vec<[String; HEADER.len()]> =
        group.lines.iter().map(|line| line_cells(group, line, repeated)).collect();
    let used: Vec<usize> =
        (0..HEADER.len()).filter(|i| lines.iter().any(|line| !line[*i].is_empty())).collect();
    TableCells {
        header: used
            .iter()
            .map(|i| (if *i == 0 { by.label() } else { HEADER[*i] }, *i >= WORDS))
            .collect(),
        lines: lines.iter().map(|line| used.iter().map(|i| line[*i].clone()).collect()).collect(),
    }
}

fn line_cells(group: &Group, line: &ComparisonLine, repeated: bool) -> [String; HEADER.len()] {
    let time = line.time.as_ref();
    // If each algorithm was run only once, the mean is the only value, and all other statistics are
    // omitted.
    let sample = time.filter(|_| repeated);
    let number = |f: Option<f64>| f.map(|f| format!("{f:.3}")).unwrap_or_default();
    let verified = if time.is_some() { line.verification.clone() } else { String::new() };
    let ratio = match &line.ratio {
        None if time.is_some() && group.baseline.is_some() => "undefined".to_owned(),
        ratio => number(ratio.as_ref().map(|r| r.value)),
    };
    let bandwidth = |gb_s: Option<f64>| gb_s.map(|b| number_to(b, 4)).unwrap_or_default();
    let p = line
        .tests
        .as_ref()
        .map(|tests| format!("{}, {}", p_value(tests.t_p_holm), p_value(tests.rank_p_holm)));
    [
        single_line(&line.algorithm),
        status_text(line),
        verified,
        sample.map(|t| t.n.to_string()).unwrap_or_default(),
        number(time.map(|t| t.mean)),
        number(time.and_then(|t| t.sd)),
        interval(time.and_then(|t| t.interval)),
        number(sample.map(|t| t.median)),
        ratio,
        interval(line.ratio.as_ref().and_then(|r| r.interval)),
        p.unwrap_or_default(),
        line.tests
            .as_ref()
            .and_then(|tests| tests.effect)
            .map(|effect| format!("{effect:.2}"))
            .unwrap_or_default(),
        bandwidth(line.bandwidths.map(|b| b.algorithm)),
        bandwidth(line.bandwidths.map(|b| b.bus)),
    ]
}

/// Returns the remarks that concern all groups. They mention duplicates, times that are exact, and
/// the correction of p-values.
fn notes(comparison: &Comparison) -> Vec<String> {
    let single = |group: &&Arc<Group>| group.is_exact() && words::is_of_single_runs(group);
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
        .chain(limits(comparison))
        .collect()
}

/// Describes the status of a line's rows. If all rows have the same status, the text is this
/// status. Otherwise it has the number of rows for each status.
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

fn p_value(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

fn title(group: &Group) -> String {
    let Setting { topology, collective, workload, inputs, model, .. } = &group.setting;
    let collective = if collective == "alltoall" { "" } else { collective };
    let (machine, inputs) = (group.machine_in_full(), inputs.replace(',', ", "));
    let algorithm = group.of_algorithm.as_deref().unwrap_or_default();
    let parts = [algorithm, topology, collective, workload, &machine, model, &inputs];
    single_line(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "))
}

/// Returns the reasons of lines that are not `ok`.
fn reasons(group: &Group) -> impl Iterator<Item = String> + '_ {
    let with_reason = group.lines.iter().filter(|l| !l.reason.is_empty());
    with_reason.map(|l| single_line(&format!("{}: {}", l.algorithm, l.reason)))
}

/// Replaces control characters and similar characters by spaces. Names and reasons come from
/// plugins and files, and could otherwise break the line or control the terminal.
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

    /// Returns the whole text of an output, without spaces and line ends at its end.
    pub(crate) fn text_of<E: std::fmt::Debug>(
        write: impl FnOnce(&Comparison, &mut dyn Write) -> Result<(), E>,
        comparison: &Comparison,
    ) -> String {
        let mut text = Vec::new();
        write(comparison, &mut text).unwrap();
        String::from_utf8(text).unwrap().trim_end().to_owned()
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

    /// A comparison in which one algorithm fails in all runs and a second algorithm fails in some
    /// runs.
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
        // Random topologies are not exact, whether algorithms or topologies are compared.
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
        let limit = "Wilcoxon with 3 pairs and 2 comparisons cannot fall below 0.5: use more \
            repetitions.";
        assert_eq!(notes(&repeated()), ["p-values are corrected for 2 comparisons (Holm).", limit]);
    }

    /// 16 nodes with blocks of 64 bytes move 1,024 bytes each. In 1.024 µs, this is an algorithm
    /// bandwidth of 1 GB/s, and of 15/16 GB/s on the bus (doc/PERFORMANCE.md of nccl-tests).
    #[test]
    fn bandwidths_are_those_of_the_mean_time() {
        let of = |collective: &str, repetition, time| {
            let sized =
                Record { nodes: 16, block_bytes: Some(64), ..row("fast", repetition, time) };
            Record { collective: collective.to_owned(), ..sized }
        };
        let printed = |rows| {
            let TableCells { header, mut lines } =
                cells(&comparison(rows).groups[0], By::Algorithm);
            let shown = ["algbw, GB/s", "busbw, GB/s"];
            let known = header.ends_with(&shown.map(|name| (name, true)));
            known.then(|| lines.remove(0).split_off(header.len() - 2).join(" "))
        };
        let mean = vec![of("alltoall", 0, 1.0), of("alltoall", 1, 1.048)];
        assert_eq!(printed(mean).as_deref(), Some("1 0.9375"));
        let allreduce = vec![of("allreduce", 0, 0.064)];
        assert_eq!(printed(allreduce).as_deref(), Some("1 1.875"), "2 (n - 1)/n of one vector");
        assert_eq!(printed(vec![of("gather", 0, 1.0)]), None, "nccl-tests defines no factor");
        let rows = vec![of("alltoall", 0, 1.024)];
        let csv = text_of(write_csv, &comparison(rows.clone()));
        assert!(csv.contains(",algbw_gb_s,busbw_gb_s\n") && csv.ends_with(",1,0.9375"), "{csv}");
        let json: serde_json::Value =
            serde_json::from_str(&text_of(write_json, &comparison(rows))).unwrap();
        let expected = serde_json::json!({ "algbw_gb_s": 1.0, "busbw_gb_s": 0.9375 });
        assert_eq!(json["groups"][0]["lines"][0]["bandwidths"], expected);
    }

    #[test]
    fn empty_columns_are_omitted() {
        let names = |comparison: &Comparison| {
            cells(&comparison.groups[0], By::Algorithm)
                .header
                .iter()
                .map(|(n, _)| *n)
                .collect::<Vec<_>>()
        };
        let single = names(&comparison(vec![row("fast", 0, 10.0), row("slow", 0, 20.0)]));
        assert_eq!(single, ["algorithm", "rows", "verified", "mean, µs", "ratio"]);
        assert_eq!(names(&repeated()), HEADER[..12]);
    }
}
