use super::{
    Cell, Section, is_of_single_runs, measured, notes, of_group, optimum_sentence, single_line,
};
use crate::compare::{Comparison, Group};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use swapmeet_core::text::is_unsafe;

/// Writes a comparison as HTML. Most sentences of other formats are left out, because the tables
/// contain the same values. One table has the reasons of all lines that are not `ok`.
pub fn write_html(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    for group in &comparison.groups {
        write_titled(out, &of_group(comparison, group))?;
        if let Some(sentence) = optimum_sentence(group) {
            writeln!(out, "<p>{}</p>", with_names(&sentence))?;
        }
    }
    measured(comparison).iter().try_for_each(|section| write_titled(out, section))?;
    let reasons = all_reasons(comparison);
    if !reasons.lines.is_empty() {
        write_titled(out, &reasons)?;
    }
    let is_uncertain = |group: &Arc<Group>| !group.is_exact() && is_of_single_runs(group);
    let uncertain =
        "Random or measured cases were run once: the uncertainty is unknown.".to_owned();
    let uncertain = comparison.groups.iter().any(is_uncertain).then_some(uncertain);
    let mut notes = notes(comparison).into_iter().chain(uncertain);
    notes.try_for_each(|note| writeln!(out, "<p>{}</p>", with_names(&note)))
}

/// Returns a table of reasons, with their algorithms and in how many groups they occur.
fn all_reasons(comparison: &Comparison) -> Section {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in comparison.groups.iter().flat_map(|group| &group.lines) {
        if !line.reason.is_empty() {
            let reason = (single_line(&line.algorithm), single_line(&line.reason));
            *counts.entry(reason).or_default() += 1;
        }
    }
    let line = |((name, reason), count): ((String, String), usize)| {
        [name, count.to_string(), reason].map(Cell::from).into()
    };
    let header = [(comparison.by.label(), false), ("cases", true), ("reason", false)];
    Section {
        title: "cases without a time".to_owned(),
        header: header.map(|(name, is_number)| (name.into(), is_number)).into(),
        lines: counts.into_iter().map(line).collect(),
        sentences: Vec::new(),
    }
}

fn write_titled(out: &mut dyn Write, section: &Section) -> io::Result<()> {
    let Section { title, header, lines, .. } = section;
    let header: Vec<(&str, bool)> =
        header.iter().map(|(name, is_number)| (name.trim(), *is_number)).collect();
    let escaped_line = |line: &Vec<Cell>| line.iter().map(|cell| escaped(&cell.text)).collect();
    let lines: Vec<Vec<String>> = lines.iter().map(escaped_line).collect();
    write!(out, "<h3>{}</h3>\n{}", escaped(title), html_table(&header, &lines))
}

/// Returns an HTML table. The flag of a column is true if it has numbers. Cells contain HTML.
pub fn html_table(columns: &[(&str, bool)], lines: &[Vec<String>]) -> String {
    let class = |is_number: bool| if is_number { " class=\"number\"" } else { "" };
    let mut out = "<table><thead><tr>".to_owned();
    for (name, is_number) in columns {
        let _ = write!(out, "<th{}>{}</th>", class(*is_number), escaped(name));
    }
    out += "</tr></thead>\n<tbody>\n";
    for line in lines {
        out += "<tr>";
        for (cell, (_, is_number)) in line.iter().zip(columns) {
            let _ = write!(out, "<td{}>{cell}</td>", class(*is_number));
        }
        out += "</tr>\n";
    }
    out + "</tbody></table>\n"
}

fn with_names(sentence: &str) -> String {
    let mut out = String::new();
    for (i, part) in escaped(sentence).split('`').enumerate() {
        out += match i {
            0 => "",
            i if i % 2 == 1 => "<code>",
            _ => "</code>",
        };
        out += part;
    }
    if sentence.matches('`').count() % 2 == 1 { out + "</code>" } else { out }
}

/// Escapes a text for the use in an HTML element or attribute.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // HTML does not allow control characters.
            c if is_unsafe(c) && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::compare::tests::{files, row};
    use crate::record::Record;
    use crate::render::tests::text_of;

    #[test]
    fn measured_rows_are_not_called_exact() {
        let measured = |name, us| Record { model: "measured".to_owned(), ..row(name, 0, us) };
        let of = |rows| text_of(write_html, &compare(&files(rows), None).unwrap());
        let exact = "times and ratios are exact";
        assert!(of(vec![row("a", 0, 10.0), row("b", 0, 20.0)]).contains(exact));
        let html = of(vec![measured("a", 10.0), measured("b", 20.0)]);
        assert!(!html.contains("exact") && !html.contains("deterministic"), "{html}");
        assert!(html.contains("the uncertainty is unknown"), "{html}");
    }

    #[test]
    fn markup_in_a_file_is_escaped() {
        let rows = files(vec![row("<script>alert(1)</script>", 0, 10.0), row("a&b", 0, 20.0)]);
        let html = text_of(write_html, &compare(&rows, None).unwrap());
        assert!(!html.contains("<script"), "{html}");
        assert!(html.contains("<td>&lt;script&gt;alert(1)&lt;/script&gt;</td>"), "{html}");
        assert!(html.contains("<td>a&amp;b</td>"), "{html}");
        assert!(html.contains("<th class=\"number\">mean, µs</th>"), "{html}");
    }
}
