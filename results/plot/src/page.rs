//! A report page about result files, in a single HTML file: figures, tables, machines, and the
//! commands that reproduce all rows. The page contains no script and loads no other file.

use crate::appearance::Appearance;
use crate::draw::Drawable;
use crate::figure::{Figure, FigureError, FigureOptions};
use crate::marks::Paper;
use crate::quantity::Quantity;
use crate::style::Styles;
use crate::winners::WinnerFigure;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use swapmeet_core::cost::machine::Machine;
use swapmeet_results::analysis::Axis;
use swapmeet_results::{CompareError, Record, as_html, command, compare, escaped};

/// The options of a report page.
#[derive(Debug, Clone, Copy)]
pub struct PageOptions<'a> {
    pub title: &'a str,
    /// The algorithm with which all other algorithms are compared.
    pub baseline: Option<&'a str>,
    /// The program that made the page, with its version.
    pub program: &'a str,
    /// The pages to which the report links.
    pub links: &'a [Link],
}

/// A link to another page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The path of the page, relative to the folder of the report.
    pub path: String,
    pub title: String,
}

const HEAD: &str = include_str!("page/head.html");

/// Returns the report page about the rows of `files`, which are pairs of a file name and its rows.
pub fn page(
    files: &[(String, Vec<Record>)],
    options: &PageOptions<'_>,
) -> Result<String, CompareError> {
    let comparison = compare(files, options.baseline)?;
    let rows: Vec<&Record> = files.iter().flat_map(|(_, rows)| rows).collect();
    let mut out = HEAD.replace("{title}", &escaped(options.title));
    let _ = writeln!(out, "<h1>{}</h1>", escaped(options.title));
    out += &summary(files, &rows);
    // An algorithm has the same style in all figures.
    let styles = Styles::of(
        comparison.groups.iter().flat_map(|group| &group.lines).map(|line| line.algorithm.as_str()),
    );
    out += &winners(files, &styles);
    out += &figures(files, options.baseline, &styles);
    out += &schedules(options.links);
    let _ = writeln!(out, "<h2>Comparison</h2>\n{}", as_html(&comparison));
    let _ = writeln!(out, "<h2>Machines</h2>\n{}", machines(&rows));
    let _ = writeln!(out, "<h2>Versions</h2>\n{}", versions(&rows, options.program));
    let _ = writeln!(out, "<h2>Commands to reproduce the rows</h2>\n{}", commands(&rows));
    out += "</body>\n</html>\n";
    Ok(out)
}

/// Formats the number of rows of each status.
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

/// Returns the figures: one or two for each axis along which the cases vary.
fn figures(files: &[(String, Vec<Record>)], baseline: Option<&str>, styles: &Styles) -> String {
    let mut out = String::new();
    let mut number = 0;
    let ratio = baseline.map(|_| Quantity::Ratio);
    // An axis along which the cases do not vary gives an error and is skipped.
    for x in Axis::ALL {
        for y in [Some(Quantity::Time), ratio].into_iter().flatten() {
            match Figure::of(
                files,
                &FigureOptions {
                    x,
                    y,
                    log: None,
                    baseline,
                    appearance: Appearance::default(),
                    reference: None,
                    crossovers: true,
                    share_y: false,
                },
            ) {
                Ok(figure) if figure.panels.iter().any(has_a_line) => {
                    number += 1;
                    // An algorithm has the same style in all figures of the page.
                    let figure = Figure { styles: styles.clone(), ..figure };
                    let svg = figure.picture(&Paper::default()).svg();
                    let caption = capital(&format!(
                        "{} against {}: {}",
                        figure.y_label, figure.x_label, figure.title
                    ));
                    let _ = writeln!(
                        out,
                        "<figure role=\"img\" aria-label=\"{0}\">{svg}<figcaption>Figure {number}. {0}.</figcaption></figure>",
                        escaped(&caption)
                    );
                    out += &list(figure.notes.iter().map(|note| escaped(note)));
                }
                // If a figure would have too many panels or curves, a paragraph says so, because
                // readers expect the figure.
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

/// Returns the links to pages that play schedules.
fn schedules(links: &[Link]) -> String {
    let link = |link: &Link| {
        format!("<a href=\"{}\">{}</a>", escaped(&address(&link.path)), escaped(&link.title))
    };
    let list = list(links.iter().map(link));
    if list.is_empty() { list } else { format!("<h2>Schedules, step by step</h2>\n{list}") }
}

/// Returns a path as a URL. Each byte that has a meaning in URLs is encoded. A relative path begins
/// with `./`, because a colon would otherwise end the name of a protocol.
fn address(path: &str) -> String {
    let mut address = if path.starts_with('/') { String::new() } else { "./".to_owned() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                address.push(char::from(byte));
            }
            _ => address += &format!("%{byte:02X}"),
        }
    }
    address
}

/// Returns the map of the fastest algorithms, if there is one.
fn winners(files: &[(String, Vec<Record>)], styles: &Styles) -> String {
    match WinnerFigure::of(files, &Appearance::default()) {
        Ok(winners) => {
            let winners = WinnerFigure { styles: styles.clone(), ..winners };
            let svg = winners.picture(&Paper::default()).svg();
            format!(
                "<h2>Fastest algorithms</h2>\n<figure role=\"img\" aria-label=\"Fastest algorithms\">{svg}</figure>\n{}",
                list(winners.notes.iter().map(|note| escaped(note)))
            )
        }
        Err(error @ FigureError::ManyPanels { .. }) => {
            format!("<p>{}</p>\n", escaped(&format!("No map of the fastest algorithms: {error}.")))
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

/// Returns whether any curve of the panel has several points, so that it has a line.
fn has_a_line(panel: &crate::figure::Panel) -> bool {
    panel.curves.iter().any(|curve| curve.points.len() > 1)
}

/// Returns a description of each machine: its parameters and their sources.
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
            out += "<p>Unknown to this program.</p>\n";
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

/// Returns the distinct commands that reproduce the rows.
fn commands(rows: &[&Record]) -> String {
    let mut known = BTreeSet::new();
    let commands: Vec<String> =
        rows.iter().map(|row| command(row)).filter(|c| known.insert(c.clone())).collect();
    let mut out =
        format!("<details><summary>{} commands, one for each row</summary>\n<pre>", commands.len());
    for command in &commands {
        out += &escaped(command);
        out.push('\n');
    }
    out += "</pre></details>\n";
    out += "<p><code>swapmeet list plugins</code> shows which plugins are found; others need <code>--plugin-dir FILE</code>.</p>\n";
    out
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("<li>{item}</li>\n")).collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}
