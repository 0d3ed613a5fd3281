use super::{Cell, Section, View, notes, sections};
use crate::compare::Comparison;
use std::io::{self, Write};

/// Writes a comparison as Markdown. In a pivot table, the fastest times are bold.
pub fn write_markdown(comparison: &Comparison, view: View, out: &mut dyn Write) -> io::Result<()> {
    let plain_cell = |cell: &Cell| match plain(&cell.text) {
        text if cell.is_best => format!("**{text}**"),
        text => text,
    };
    for Section { title, header, lines, sentences } in sections(comparison, view) {
        let names: Vec<String> = header.iter().map(|(name, _)| plain(name.trim())).collect();
        let rule: String = header
            .iter()
            .map(|(_, is_number)| if *is_number { " ---: |" } else { " --- |" })
            .collect();
        writeln!(out, "### {}\n\n| {} |\n|{rule}", plain(&title), names.join(" | "))?;
        for line in &lines {
            let cells: Vec<String> = line.iter().map(plain_cell).collect();
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
        writeln!(out)?;
        for sentence in sentences {
            writeln!(out, "- {}", without_html(&sentence))?;
        }
        writeln!(out)?;
    }
    let mut notes = notes(comparison).into_iter();
    notes.try_for_each(|note| writeln!(out, "Note: {}\n", without_html(&note)))
}

fn plain(text: &str) -> String {
    without_html(text).replace('|', "\\|")
}

/// Removes HTML elements, because programs for Markdown pass them on to the output.
fn without_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let begins = rest.peek().is_some_and(|c| c.is_alphabetic() || matches!(c, '/' | '!' | '?'));
        if c == '<' && begins {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::{failed, row};
    use crate::record::Status;
    use crate::render::tests::{comparison, details_of, partly_failed, repeated};

    #[test]
    fn cells_and_sentences_equal_those_of_the_table() {
        insta::assert_snapshot!(details_of(write_markdown, &repeated()), @r"
        ### torus:4x4, uniform:64, paragon, wormhole

        | algorithm | rows | verified | n | mean, µs | sd, µs | 95 % | median, µs | ratio | 95 % | p |
        | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        | fast | ok | blocks | 3 | 10.067 | 0.306 | 9.308 to 10.826 | 10.000 | 1.000 |  |  |
        | alike | ok | blocks | 3 | 10.100 | 0.200 | 9.603 to 10.597 | 10.100 | 1.003 | 0.975 to 1.032 | 0.667 |
        | slow | ok | blocks | 3 | 20.500 | 0.500 | 19.258 to 21.742 | 20.500 | 2.036 | 1.997 to 2.077 | < 0.001 |

        - `fast` and `alike` are not told apart: `alike` takes 1.003 times as long (p = 0.667).

        Note: p-values are corrected for 2 comparisons (Holm).

        Note: Wilcoxon's rank test: needs n >= 7 for 2 comparisons.
        ");
    }

    #[test]
    fn html_in_names_and_reasons_is_escaped() {
        let name = "<script>alert(1)</script>".to_owned();
        let failed = failed(&name, 0, Status::Error, &name);
        let text = details_of(write_markdown, &comparison(vec![row("fast", 0, 10.0), failed]));
        assert!(text.contains("| \\<script>alert(1)\\</script> | error"), "{text}");
        assert!(text.contains("- \\<script>alert(1)\\</script>: \\<script>"), "{text}");
    }

    #[test]
    fn failures_are_shown_with_their_reason() {
        insta::assert_snapshot!(details_of(write_markdown, &partly_failed()), @r"
        ### torus:4x4, uniform:64, paragon, wormhole

        | algorithm | rows | verified | n | mean, µs | sd, µs | 95 % | median, µs | ratio |
        | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
        | fast | ok | blocks | 2 | 10.000 | 0.000 | no spread | 10.000 | 1.000 |
        | frail | 1 ok, 1 timeout | blocks | 1 | 20.000 |  |  | 20.000 | 2.000 |
        | odd | unsupported |  |  |  |  |  |  |  |

        - frail: 60 s are over
        - odd: a side | of 4 is  [31mtoo odd
        - `fast` is the fastest: `frail` takes 2.00 times as long (one run: the uncertainty is unknown).
        ");
    }
}
