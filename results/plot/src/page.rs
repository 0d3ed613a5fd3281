//! One self-contained page of result files: what was run, figures, tables, machines, and the
//! commands that make every row again. No script, no link, nothing to fetch.

use crate::draw::Drawn;
use crate::figure::{Figure, FigureError, Wanted};
use crate::marks::Paper;
use crate::quantity::Y;
use crate::style::Styles;
use crate::winners::Winners;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use swapmeet_core::cost::machine::Machine;
use swapmeet_results::analysis::Axis;
use swapmeet_results::{CompareError, Record, as_html, command, compare, escaped};

/// What else a page says.
#[derive(Debug, Clone, Copy)]
pub struct PageWanted<'a> {
    pub title: &'a str,
    /// The algorithm that others are compared with.
    pub baseline: Option<&'a str>,
    /// The program that made the page, with its version.
    pub program: &'a str,
}

const HEAD: &str = include_str!("page/head.html");

/// The page of the rows of files, given with their names.
pub fn page(
    files: &[(String, Vec<Record>)],
    wanted: &PageWanted<'_>,
) -> Result<String, CompareError> {
    let comparison = compare(files, wanted.baseline)?;
    let rows: Vec<&Record> = files.iter().flat_map(|(_, rows)| rows).collect();
    let mut out = HEAD.replace("{title}", &escaped(wanted.title));
    let _ = writeln!(out, "<h1>{}</h1>", escaped(wanted.title));
    out += &summary(files, &rows);
    // An algorithm looks the same in all figures.
    let styles = Styles::of(
        comparison.groups.iter().flat_map(|group| &group.lines).map(|line| line.algorithm.as_str()),
    );
    out += &winners(files, &styles);
    out += &figures(files, wanted.baseline, &styles);
    let _ = writeln!(out, "<h2>Comparison</h2>\n{}", as_html(&comparison));
    let _ = writeln!(out, "<h2>Machines</h2>\n{}", machines(&rows));
    let _ = writeln!(out, "<h2>Versions</h2>\n{}", versions(&rows, wanted.program));
    let _ = writeln!(out, "<h2>To make it again</h2>\n{}", commands(&rows));
    out += "</body>\n</html>\n";
    Ok(out)
}

/// How many rows, and how they ended.
fn summary(files: &[(String, Vec<Record>)], rows: &[&Record]) -> String {
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let end = match row.verified.to_string().as_str() {
            "none" => row.status.to_string(),
            proof => format!("{} (verified: {proof})", row.status),
        };
        *ends.entry(end).or_default() += 1;
    }
    let ends: Vec<String> = ends.iter().map(|(end, n)| format!("{n} {end}")).collect();
    let names: Vec<String> = files
        .iter()
        .map(|(name, rows)| format!("{} ({} rows)", escaped(name), rows.len()))
        .collect();
    format!(
        "<p>{} rows: {}. From {}.</p>\n",
        rows.len(),
        escaped(&ends.join(", ")),
        names.join(", ")
    )
}

/// A figure for everything that varies along an axis.
fn figures(files: &[(String, Vec<Record>)], baseline: Option<&str>, styles: &Styles) -> String {
    let mut out = String::new();
    let mut number = 0;
    let ratio = baseline.map(|_| Y::Ratio);
    for x in Axis::ALL {
        for y in [Some(Y::Time), ratio].into_iter().flatten() {
            match Figure::of(
                files,
                &Wanted { x, y, log: None, baseline, title: None, labels: &[], bound: false },
            ) {
                Ok(figure) if figure.panels.iter().any(has_a_course) => {
                    number += 1;
                    let figure = Figure { styles: styles.clone(), ..figure };
                    let svg = figure.picture(&Paper::default()).svg();
                    let caption = capital(&format!(
                        "{} against {}: {}",
                        figure.y_label,
                        x.label(),
                        figure.title
                    ));
                    let _ = writeln!(
                        out,
                        "<figure role=\"img\" aria-label=\"{0}\">{svg}<figcaption>Figure {number}. {0}.</figcaption></figure>",
                        escaped(&caption)
                    );
                    out += &list(figure.notes.iter().map(|note| escaped(note)));
                }
                Err(error @ (FigureError::ManyPanels { .. } | FigureError::ManyCurves(_))) => {
                    let what =
                        format!("No figure of {} against {}: {error}.", y.label(), x.label());
                    let _ = writeln!(out, "<p>{}</p>", escaped(&what));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    if out.is_empty() { out } else { format!("<h2>Figures</h2>\n{out}") }
}

/// Who is fastest where, if that can be laid out.
fn winners(files: &[(String, Vec<Record>)], styles: &Styles) -> String {
    match Winners::of(files, None, &[]) {
        Ok(winners) => {
            let svg =
                Winners { styles: styles.clone(), ..winners }.picture(&Paper::default()).svg();
            format!(
                "<h2>Who is fastest where</h2>\n<figure role=\"img\" aria-label=\"Who is fastest where\">{svg}</figure>\n"
            )
        }
        Err(error @ FigureError::ManyPanels { .. }) => {
            format!("<p>{}</p>\n", escaped(&format!("No map of who is fastest where: {error}.")))
        }
        Err(_) => String::new(),
    }
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().to_string() + letters.as_str())
        .unwrap_or_default()
}

/// Whether some curve has more than one point.
fn has_a_course(panel: &crate::figure::Panel) -> bool {
    panel.curves.iter().any(|curve| curve.points.len() > 1)
}

/// What each machine costs, and where the figures are from.
fn machines(rows: &[&Record]) -> String {
    let specs: BTreeSet<(String, String)> = rows
        .iter()
        .map(|row| (row.machine.clone(), row.case().setting.machine_spec().to_owned()))
        .collect();
    let mut out = String::new();
    for (name, spec) in specs {
        let stands = if name == spec { String::new() } else { format!(" = {spec}") };
        let _ = writeln!(out, "<h3>{}</h3>", escaped(&format!("{name}{stands}")));
        let Ok(machine) = Machine::parse(&spec) else {
            out += "<p>Not known to this program.</p>\n";
            continue;
        };
        let _ = writeln!(
            out,
            "<p>Model {}.</p>\n<table><thead><tr><th>parameter</th><th class=\"number\">value</th><th>meaning</th><th>source</th></tr></thead><tbody>",
            machine.model
        );
        for value in machine.values() {
            let origin = value.origin.to_string();
            let cells = [value.parameter.key(), &value.text, value.parameter.meaning(), &origin]
                .map(escaped);
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td class=\"number\">{}</td><td>{}</td><td>{}</td></tr>",
                cells[0], cells[1], cells[2], cells[3]
            );
        }
        out += "</tbody></table>\n";
    }
    out
}

fn versions(rows: &[&Record], program: &str) -> String {
    let plugins: BTreeSet<String> = rows
        .iter()
        .map(|row| {
            format!(
                "{} of plugin {} {}",
                algorithm_name(&row.algorithm),
                row.plugin,
                row.plugin_version
            )
        })
        .collect();
    let made = format!("This page was made by {program}.");
    list(plugins.iter().chain([&made]).map(|line| escaped(line)))
}

fn algorithm_name(spec: &str) -> &str {
    spec.split(':').next().unwrap_or(spec)
}

/// Every row's command, each once.
fn commands(rows: &[&Record]) -> String {
    let mut known = BTreeSet::new();
    let commands: Vec<String> =
        rows.iter().map(|row| command(row)).filter(|c| known.insert(c.clone())).collect();
    let mut out =
        format!("<details><summary>{} commands, one a row</summary>\n<pre>", commands.len());
    for command in &commands {
        out += &escaped(command);
        out.push('\n');
    }
    out += "</pre></details>\n";
    out += "<p>Plugins are found where <code>swapmeet list plugins</code> shows them; others need <code>--plugin-dir FILE</code>.</p>\n";
    out
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("<li>{item}</li>\n")).collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}
