//! Tables of algorithms over an axis. Cases that differ otherwise are in different tables.

use super::{Cell, Section, single_line};
use crate::analysis::{Axis, CommonSettings, Curve, Family, families};
use crate::compare::{CHARGED_LESS, CHARGED_LESS_REMARK, Comparison};
use crate::units::{Unit, three_digits};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct Pivot {
    #[serde(flatten)]
    settings: CommonSettings,
    axis: &'static str,
    values: Vec<f64>,
    algorithms: Vec<Line>,
    /// Whether several cases have the same value, for which the table shows the fastest of them.
    #[serde(skip)]
    has_shared_values: bool,
}

#[derive(Debug, Serialize)]
struct Line {
    algorithm: String,
    /// The mean time in microseconds at each value of the axis.
    mean_us: Vec<Option<f64>>,
    /// For each value, whether the algorithm is the fastest, or does not differ significantly.
    fastest: Vec<bool>,
    /// Whether there is a case in which the machine charges the algorithm less than others.
    #[serde(skip)]
    is_charged_less: bool,
}

pub(super) fn pivots(comparison: &Comparison, axis: Axis) -> Vec<Pivot> {
    let families = families(comparison, axis).families;
    families.iter().map(|family| pivot(comparison, family)).collect()
}

fn pivot(comparison: &Comparison, family: &Family) -> Pivot {
    let values = family.xs();
    let line = |curve: &Curve| {
        let points = values.iter().map(|x| {
            let points = curve.points.iter().filter(|point| point.x == *x);
            points.min_by(|a, b| a.time.total_cmp(&b.time))
        });
        let points: Vec<_> = points.collect();
        let is_fastest = |point: &crate::analysis::Point| {
            let group = &comparison.groups[point.group];
            let algorithm = &group.lines[point.line].algorithm;
            group.winner.as_ref().is_some_and(|winner| {
                winner.algorithm == *algorithm || winner.tied.contains(algorithm)
            })
        };
        let is_least = |point: &crate::analysis::Point| {
            let others = family.curves.iter().filter_map(|curve| curve.time_at(point.x));
            others.fold(f64::INFINITY, f64::min) >= point.time
        };
        // If the axis is a parameter of algorithms, the lines of a group are in different columns,
        // so the least time of the column is marked.
        let is_best = |point: &crate::analysis::Point| {
            if family.axis.is_of_algorithms() { is_least(point) } else { is_fastest(point) }
        };
        let is_charged_less = points.iter().flatten().any(|point| {
            let group = &comparison.groups[point.group];
            group.is_charged_less(&group.lines[point.line])
        });
        Line {
            algorithm: curve.algorithm.clone(),
            mean_us: points.iter().map(|point| point.map(|point| point.time)).collect(),
            fastest: points.iter().map(|point| point.is_some_and(is_best)).collect(),
            is_charged_less,
        }
    };
    Pivot {
        settings: family.settings.clone(),
        axis: family.axis.label(),
        algorithms: family.curves.iter().map(line).collect(),
        has_shared_values: !family.shared_xs.is_empty(),
        values,
    }
}

/// Returns the names of the columns, followed by the rows. The columns are the settings, the
/// algorithm, the mean times in µs at the values of the axis, and remarks if there are any.
pub(super) fn csv(axis: Axis, tables: &[Pivot]) -> Vec<Vec<String>> {
    let mut values: Vec<f64> = tables.iter().flat_map(|table| &table.values).copied().collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    // The column `together` is written only if there are jobs that ran at the same time as others.
    let has_companions = tables.iter().any(|table| !table.settings.together.is_empty());
    let names = ["topology", "workload", "machine", "model", "inputs"].into_iter();
    let names = names.chain(has_companions.then_some("together")).chain(["algorithm"]);
    let names = names.map(str::to_owned);
    let header =
        names.chain(values.iter().map(|value| format!("mean_us at {}={value}", axis.name())));
    let lines =
        || tables.iter().flat_map(|table| table.algorithms.iter().map(move |line| (table, line)));
    let has_remarks = lines().any(|(_, line)| line.is_charged_less);
    let header = header.chain(has_remarks.then(|| "remark".to_owned()));
    let row = |(table, line): (&Pivot, &Line)| {
        let CommonSettings { topology, workload, machine, model, inputs, together } =
            &table.settings;
        let time = |value: &f64| {
            let at = table.values.iter().position(|own| own == value)?;
            line.mean_us[at].map(|time| time.to_string())
        };
        let texts = [topology, workload, machine, model, inputs].into_iter();
        let texts = texts.chain(has_companions.then_some(together)).chain([&line.algorithm]);
        let remark = if line.is_charged_less { CHARGED_LESS_REMARK } else { "" };
        let remark = has_remarks.then(|| remark.to_owned());
        let times = values.iter().map(|value| time(value).unwrap_or_default());
        texts.cloned().chain(times).chain(remark).collect()
    };
    [header.collect()].into_iter().chain(lines().map(row)).collect()
}

/// Returns the tables. Algorithms are the rows of a table. If it would then be wider than 80
/// characters, and would not be with algorithms as columns, they are the columns.
pub(super) fn sections(
    comparison: &Comparison,
    axis: Axis,
) -> impl Iterator<Item = Section> + use<> {
    pivots(comparison, axis).into_iter().map(move |table| section(axis, &table))
}

fn section(axis: Axis, table: &Pivot) -> Section {
    /// A table of at most this width, in characters, keeps its form.
    const WIDE: usize = 80;
    // The unit is chosen for the fastest time, so that numbers are short.
    let least = |at: usize| {
        let times = table.algorithms.iter().filter_map(|line| line.mean_us[at]);
        times.fold(f64::INFINITY, f64::min)
    };
    let units: Vec<(f64, &str)> =
        (0..table.values.len()).map(|at| Unit::Time.suiting(least(at))).collect();
    let is_one_unit = units.windows(2).all(|pair| pair[0] == pair[1]);
    let value = |at: usize| {
        let text = axis.position(table.values[at]);
        if is_one_unit { text } else { format!("{text}, {}", units[at].1) }
    };
    let name = |line: &Line| {
        single_line(&line.algorithm) + if line.is_charged_less { CHARGED_LESS } else { "" }
    };
    let cell = |line: &Line, at: usize| Cell {
        text: line.mean_us[at].map_or("-".to_owned(), |time| three_digits(time / units[at].0)),
        is_best: line.fastest[at],
    };
    let values: Vec<String> = (0..table.values.len()).map(value).collect();
    let names: Vec<String> = table.algorithms.iter().map(name).collect();
    let cells: Vec<Vec<Cell>> = table
        .algorithms
        .iter()
        .map(|line| (0..values.len()).map(|at| cell(line, at)).collect())
        .collect();
    let length = |text: &str| text.chars().count();
    let longest = |texts: &[String]| texts.iter().map(|text| length(text)).max().unwrap_or(0);
    let widest = |at: usize| cells.iter().map(|line| length(&line[at].text)).max().unwrap_or(0);
    let with_values = longest(&names)
        + (0..values.len()).map(|at| widest(at).max(length(&values[at])) + 2).sum::<usize>();
    let of_line = |line: &Vec<Cell>| line.iter().map(|cell| length(&cell.text)).max().unwrap_or(0);
    let with_names = longest(&values)
        + names
            .iter()
            .zip(&cells)
            .map(|(name, line)| length(name).max(of_line(line)) + 2)
            .sum::<usize>();
    let head = |text: String| (text.into(), true);
    let (first, header, lines): (_, _, Vec<Vec<Cell>>) = if with_values <= WIDE.max(with_names) {
        let lines = names.into_iter().zip(cells);
        let lines = lines.map(|(name, cells)| [name.into()].into_iter().chain(cells).collect());
        ("algorithm".to_owned(), values.into_iter().map(head).collect::<Vec<_>>(), lines.collect())
    } else {
        let lines = values.into_iter().enumerate().map(|(at, value)| {
            let times = cells.iter().map(|line| line[at].clone());
            [value.into()].into_iter().chain(times).collect()
        });
        (axis.label().to_owned(), names.into_iter().map(head).collect::<Vec<_>>(), lines.collect())
    };
    let CommonSettings { topology, workload, machine, model, together, .. } = &table.settings;
    let together = match together.as_str() {
        "" => String::new(),
        others => format!(" together with {others}"),
    };
    let unit = units
        .first()
        .filter(|_| is_one_unit)
        .map_or(String::new(), |(_, unit)| format!(" in {unit}"));
    let shared = table
        .has_shared_values
        .then(|| format!("Several cases have the same {}: the fastest is shown.", axis.label()));
    Section {
        title: single_line(&format!(
            "Completion time{unit} of {workload}{together} on {topology}, machine {machine} (model {model})"
        )),
        header: [(first.into(), false)].into_iter().chain(header).collect(),
        lines,
        sentences: shared.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::compare::tests::{failed, files, row};
    use crate::record::{Record, Status};
    use crate::render::tests::text_of;
    use crate::render::{View, write_csv, write_json, write_latex, write_markdown, write_table};

    /// `start` takes 5 µs, and `rate` 1 µs per 100 B, so both are equally fast at 500 B.
    fn comparison() -> Comparison {
        let sized = |bytes: u32, name: &str, time| Record {
            workload: format!("uniform:{bytes}"),
            ..row(name, 0, time)
        };
        let rows = [100, 400, 500, 1600].into_iter().flat_map(|bytes| {
            [sized(bytes, "start", 5.0), sized(bytes, "rate", f64::from(bytes) / 100.0)]
        });
        let odd = Record {
            workload: "uniform:400".to_owned(),
            ..failed("odd", 0, Status::Unsupported, "an odd side")
        };
        compare(&files(rows.chain([odd]).collect()), None).unwrap()
    }

    fn printed(
        write: impl FnOnce(&Comparison, View, &mut dyn std::io::Write) -> std::io::Result<()>,
    ) -> String {
        text_of(|all, out| write(all, View::Pivot(Axis::Block), out), &comparison())
    }

    #[test]
    fn a_study_of_several_sizes_is_one_table() {
        insta::assert_snapshot!(printed(write_markdown), @r"
        ### Completion time in µs of uniform on torus:4x4, machine paragon (model wormhole)

        | algorithm | 100 B | 400 B | 500 B | 1.56 KiB |
        | --- | ---: | ---: | ---: | ---: |
        | rate | **1.00** | **4.00** | **5.00** | 16.0 |
        | start | 5.00 | 5.00 | **5.00** | **5.00** |


        Note: Every case is deterministic and was run once: times and ratios are exact.
        ");
        let table = printed(write_table);
        assert!(
            table.lines().any(|line| line.starts_with("start") && line.contains("5.00*")),
            "{table}"
        );
    }

    #[test]
    fn a_latex_table_has_a_caption_and_bold_times() {
        let text = printed(|all, view, out| write_latex(all, view, "\\columnwidth", out));
        for line in [
            "% Preamble: \\usepackage{booktabs,graphicx}",
            "\\caption{Completion time in $\\mu$s of uniform on torus:4x4, machine paragon (model wormhole). Bold times are the fastest, or are not told apart from the fastest.}",
            "\\resizebox{\\ifdim\\width>\\columnwidth \\columnwidth\\else\\width\\fi}{!}{%",
            "algorithm & 100 B & 400 B & 500 B & 1.56 KiB \\\\",
            "rate & \\textbf{1.00} & \\textbf{4.00} & \\textbf{5.00} & 16.0 \\\\",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert_eq!(text.matches("\\begin{tabular}").count(), 1);
    }

    #[test]
    fn csv_and_json_have_the_times_in_microseconds() {
        let csv = printed(write_csv);
        assert_eq!(
            csv.lines().next(),
            Some(
                "topology,workload,machine,model,inputs,algorithm,mean_us at block=100,mean_us at block=400,mean_us at block=500,mean_us at block=1600"
            )
        );
        assert_eq!(csv.lines().nth(1), Some("torus:4x4,uniform,paragon,wormhole,,rate,1,4,5,16"));
        let json: serde_json::Value = serde_json::from_str(&printed(write_json)).unwrap();
        assert_eq!(json[0]["values"], serde_json::json!([100.0, 400.0, 500.0, 1600.0]));
        assert_eq!(json[0]["algorithms"][1]["mean_us"], serde_json::json!([5.0, 5.0, 5.0, 5.0]));
        assert_eq!(
            json[0]["algorithms"][1]["fastest"],
            serde_json::json!([false, false, true, true])
        );
    }

    #[test]
    fn the_narrower_table_is_written() {
        let sized = |bytes: u32, name: &str| Record {
            workload: format!("uniform:{bytes}"),
            ..row(name, 0, 5e6)
        };
        let many: Vec<Record> =
            (4..24).flat_map(|power| [sized(1 << power, "a"), sized(1 << power, "b")]).collect();
        let table = pivots(&compare(&files(many), None).unwrap(), Axis::Block).remove(0);
        let header: Vec<String> =
            section(Axis::Block, &table).header.iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!(header, ["block size", "a", "b"]);
    }
}
