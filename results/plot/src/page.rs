//! A report page about result files, as one HTML file without a script. The reader first sees a
//! summary and, for each collective, a map of the fastest algorithms and a figure of curves. All
//! other parts are in elements that the reader can open.

mod figures;
mod links;
mod sources;
mod summary;

use crate::style::Styles;
use figures::{Figures, figures};
pub use links::Link;
use links::schedules;
use sources::{machines, versions, write_commands};
use std::collections::BTreeMap;
use std::io::{self, Write};
use summary::summary;
use swapmeet_results::analysis::Overview;
use swapmeet_results::units::count;
use swapmeet_results::{
    CompareError, CompareOptions, ComparedRows, Comparison, Verified, compare_rows, escaped,
    write_html,
};

#[derive(Debug, Clone, Copy)]
pub struct PageOptions<'a> {
    pub title: &'a str,
    pub baseline: Option<&'a str>,
    pub program: &'a str,
    pub links: &'a [Link],
}

/// A report page. Its figures, long tables and lists are never in memory as texts.
pub struct Page<'a> {
    rows: &'a ComparedRows,
    options: PageOptions<'a>,
    comparison: Comparison,
    figures: Vec<Figures>,
}

/// A part of the page with its own heading. The table of contents links to it.
struct Chapter<'a> {
    id: &'a str,
    heading: &'a str,
    body: Body<'a>,
}

type Body<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 'a>;

fn text<'a>(text: String) -> Body<'a> {
    Box::new(move |out| out.write_all(text.as_bytes()))
}

const HEAD: &str = include_str!("page/head.html");

impl<'a> Page<'a> {
    pub fn of(rows: &'a ComparedRows, options: PageOptions<'a>) -> Result<Self, CompareError> {
        let baseline = options.baseline;
        let comparison =
            compare_rows(rows, &CompareOptions { baseline, ..CompareOptions::default() })?;
        let lines = comparison.groups.iter().flat_map(|group| &group.lines);
        let styles = Styles::new(lines.map(|line| line.algorithm.as_str()));
        let figures = figures(&comparison, baseline, &styles);
        Ok(Self { rows, options, comparison, figures })
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let title = escaped(self.options.title);
        out.write_all(HEAD.replace("{title}", &title).as_bytes())?;
        writeln!(out, "<h1>{title}</h1>\n{}", self.statuses())?;
        let chapters = self.chapters();
        let links = chapters.iter().map(|Chapter { id, heading, .. }| {
            format!("<a href=\"#{id}\">{}</a>", escaped(heading))
        });
        writeln!(out, "<nav>\n{}</nav>", list(links))?;
        for Chapter { id, heading, body } in &chapters {
            writeln!(out, "<h2 id=\"{id}\">{}</h2>", escaped(heading))?;
            body(out)?;
            writeln!(out)?;
        }
        out.write_all(b"</body>\n</html>\n")
    }

    fn chapters(&self) -> Vec<Chapter<'_>> {
        let Self { rows, options, comparison, figures } = self;
        let chapter = |id, heading, body| Chapter { id, heading, body };
        let tables = count(comparison.groups.len(), "table");
        let machines = machines(rows);
        let mut chapters = vec![chapter(
            "summary",
            "Summary",
            Box::new(|out| out.write_all(summary(&Overview::of(comparison)).as_bytes())),
        )];
        chapters.extend(figures.iter().map(|figures| {
            chapter(&figures.id, &figures.heading, Box::new(|out| figures.write(out)))
        }));
        if !options.links.is_empty() {
            let links = text(schedules(options.links));
            chapters.push(chapter("schedules", "Schedules, step by step", links));
        }
        chapters.extend([
            chapter(
                "comparison",
                "Comparison",
                Box::new(move |out| {
                    let title = format!("{tables} of all times and statistics");
                    write_closed(out, &title, &|out| write_html(comparison, out))
                }),
            ),
            chapter(
                "machines",
                "Machines",
                text(closed(&count(machines.matches("<h3>").count(), "machine"), &machines)),
            ),
            chapter(
                "versions",
                "Versions",
                text(closed("plugins and program", &versions(rows, options.program))),
            ),
            chapter(
                "commands",
                "Commands to reproduce the rows",
                Box::new(|out| write_commands(rows, out)),
            ),
        ]);
        chapters
    }

    fn statuses(&self) -> String {
        let mut ends: BTreeMap<String, usize> = BTreeMap::new();
        for (status, verified) in self.rows.outcomes() {
            let end = match verified {
                Verified::None => status.to_string(),
                proof => format!("{status} (verified: {proof})"),
            };
            *ends.entry(end).or_default() += 1;
        }
        let ends: Vec<String> = ends.iter().map(|(end, n)| format!("{n} {end}")).collect();
        let files = self.rows.files();
        let names: Vec<String> =
            files.map(|(name, rows)| format!("{} ({rows} rows)", escaped(name))).collect();
        format!(
            "<p>{} rows: {}. From {}.</p>\n",
            self.rows.outcomes().len(),
            escaped(&ends.join(", ")),
            names.join(", ")
        )
    }
}

/// Returns an element that shows only its title until the reader opens it.
fn closed(title: &str, body: &str) -> String {
    format!("<details><summary>{}</summary>\n{body}</details>\n", escaped(title))
}

fn write_closed(
    out: &mut dyn Write,
    title: &str,
    body: &dyn Fn(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    writeln!(out, "<details><summary>{}</summary>", escaped(title))?;
    body(out)?;
    writeln!(out, "</details>")
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("<li>{item}</li>\n")).collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}
