//! A report page about result files, in a single HTML file: a summary, figures, tables, machines,
//! and the commands that reproduce all rows. The page contains no script and loads no other file.
//!
//! Everything that a reader needs first is visible: the summary, and for each collective a map of
//! the fastest algorithms and a figure of curves. All else is in elements that a reader opens,
//! which are not printed unless they are open.

mod figures;
mod links;
mod sources;
mod summary;

use crate::style::Styles;
use figures::figures;
pub use links::Link;
use links::schedules;
use sources::{commands, machines, versions};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use summary::summary;
use swapmeet_results::analysis::Overview;
use swapmeet_results::units::count;
use swapmeet_results::{CompareError, Record, as_html, compare, escaped};

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

/// Pairs of a file name and its rows.
type Files = [(String, Vec<Record>)];

/// A part of the page with a heading, to which the table of contents links.
struct Chapter {
    /// The name by which links refer to the chapter.
    id: String,
    heading: String,
    body: String,
}

impl Chapter {
    fn new(id: &str, heading: &str, body: String) -> Self {
        Self { id: id.to_owned(), heading: heading.to_owned(), body }
    }
}

const HEAD: &str = include_str!("page/head.html");

/// Returns the report page about the rows of `files`, which are pairs of a file name and its rows.
pub fn page(files: &Files, options: &PageOptions<'_>) -> Result<String, CompareError> {
    let comparison = compare(files, options.baseline)?;
    let rows: Vec<&Record> = files.iter().flat_map(|(_, rows)| rows).collect();
    // An algorithm has the same style in all figures.
    let styles = Styles::of(
        comparison.groups.iter().flat_map(|group| &group.lines).map(|line| line.algorithm.as_str()),
    );
    let mut chapters =
        vec![Chapter::new("summary", "Summary", summary(&Overview::of(&comparison)))];
    chapters.extend(figures(files, options.baseline, &styles));
    if !options.links.is_empty() {
        let links = schedules(options.links);
        chapters.push(Chapter::new("schedules", "Schedules, step by step", links));
    }
    let tables = count(comparison.groups.len(), "table");
    let machines = machines(&rows);
    chapters.extend([
        Chapter::new(
            "comparison",
            "Comparison",
            closed(&format!("{tables} of all times and statistics"), &as_html(&comparison)),
        ),
        Chapter::new(
            "machines",
            "Machines",
            closed(&count(machines.matches("<h3>").count(), "machine"), &machines),
        ),
        Chapter::new(
            "versions",
            "Versions",
            closed("plugins and program", &versions(&rows, options.program)),
        ),
        Chapter::new("commands", "Commands to reproduce the rows", commands(&rows)),
    ]);
    let mut out = HEAD.replace("{title}", &escaped(options.title));
    let _ = writeln!(out, "<h1>{}</h1>\n{}", escaped(options.title), statuses(files, &rows));
    let links = chapters
        .iter()
        .map(|chapter| format!("<a href=\"#{}\">{}</a>", chapter.id, escaped(&chapter.heading)));
    let _ = writeln!(out, "<nav>\n{}</nav>", list(links));
    for Chapter { id, heading, body } in &chapters {
        let _ = writeln!(out, "<h2 id=\"{id}\">{}</h2>\n{body}", escaped(heading));
    }
    out += "</body>\n</html>\n";
    Ok(out)
}

/// Formats the number of rows of each status.
fn statuses(files: &Files, rows: &[&Record]) -> String {
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

/// Returns an element that shows only its title until a reader opens it.
fn closed(title: &str, body: &str) -> String {
    format!("<details><summary>{}</summary>\n{body}</details>\n", escaped(title))
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("<li>{item}</li>\n")).collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}
