//! Output of a comparison as HTML tables, which are a part of an HTML page.

use super::{Section, notes, sections};
use crate::compare::Comparison;
use std::fmt::Write as _;
use swapmeet_core::text::is_unsafe;

/// Formats a table and sentences for each group, followed by the remarks.
pub fn as_html(comparison: &Comparison) -> String {
    let mut out = String::new();
    for Section { title, cells, sentences } in sections(comparison) {
        let _ = writeln!(out, "<h3>{}</h3>\n<table>\n<thead><tr>", escaped(&title));
        for (name, is_figure) in &cells.header {
            let _ = writeln!(out, "<th{}>{}</th>", class(*is_figure), escaped(name.trim()));
        }
        out += "</tr></thead>\n<tbody>\n";
        for line in &cells.lines {
            out += "<tr>";
            for ((_, is_figure), cell) in cells.header.iter().zip(line) {
                let _ = write!(out, "<td{}>{}</td>", class(*is_figure), escaped(cell));
            }
            out += "</tr>\n";
        }
        out += "</tbody>\n</table>\n";
        out += "<ul>\n";
        for sentence in sentences {
            let _ = writeln!(out, "<li>{}</li>", with_names(&sentence));
        }
        out += "</ul>\n";
    }
    for note in notes(comparison) {
        let _ = writeln!(out, "<p>{}</p>", with_names(&note));
    }
    out
}

fn class(is_figure: bool) -> &'static str {
    if is_figure { " class=\"number\"" } else { "" }
}

/// Marks up names in a sentence as code. The sentence has backticks around each name.
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

/// Escapes a text for use in an element or attribute.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // HTML does not allow control characters, but the text of a file may contain them.
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

    /// Measured times are never exact, even if each case was run once with a uniform size.
    #[test]
    fn measured_rows_are_not_called_exact() {
        let measured = |name, us| Record { model: "measured".to_owned(), ..row(name, 0, us) };
        let of = |rows| as_html(&compare(&files(rows), None).unwrap());
        let exact = "times and ratios are exact";
        assert!(of(vec![row("a", 0, 10.0), row("b", 0, 20.0)]).contains(exact));
        let html = of(vec![measured("a", 10.0), measured("b", 20.0)]);
        assert!(!html.contains("exact") && !html.contains("deterministic"), "{html}");
        assert!(html.contains("the uncertainty is unknown"), "{html}");
    }

    #[test]
    fn markup_in_a_file_is_escaped() {
        let rows = files(vec![row("<script>alert(1)</script>", 0, 10.0), row("a&b", 0, 20.0)]);
        let html = as_html(&compare(&rows, None).unwrap());
        assert!(!html.contains("<script"), "{html}");
        assert!(html.contains("<td>&lt;script&gt;alert(1)&lt;/script&gt;</td>"), "{html}");
        assert!(html.contains("<td>a&amp;b</td>"), "{html}");
        assert!(html.contains("<th class=\"number\">mean, µs</th>"), "{html}");
    }
}
