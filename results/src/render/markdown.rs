//! Output of a comparison as Markdown.

use super::{Section, notes, sections};
use crate::compare::Comparison;
use std::io::{self, Write};

/// Writes a table and sentences for each group, followed by the remarks.
pub fn write_markdown(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    for Section { title, cells, sentences } in sections(comparison) {
        let names: Vec<&str> = cells.header.iter().map(|(name, _)| name.trim()).collect();
        let rule: String = cells
            .header
            .iter()
            .map(|(_, is_number)| if *is_number { " ---: |" } else { " --- |" })
            .collect();
        writeln!(out, "### {}\n\n| {} |\n|{rule}", plain(&title), names.join(" | "))?;
        for line in &cells.lines {
            let cells: Vec<String> = line.iter().map(|cell| plain(cell)).collect();
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

/// Escapes the text of a cell or a heading.
fn plain(text: &str) -> String {
    without_html(text).replace('|', "\\|")
}

/// Escapes `<` where it could begin an HTML element, because Markdown leaves such elements in the
/// output.
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
    use crate::render::tests::{comparison, partly_failed, repeated, text_of};

    #[test]
    fn cells_and_sentences_equal_those_of_the_table() {
        insta::assert_snapshot!(text_of(write_markdown, &repeated()), @r"
        ### torus:4x4, uniform:64, paragon, wormhole

        | algorithm | rows | verified | n | mean, µs | sd, µs | 95 % | median, µs | ratio | 95 % | p (t, rank) | effect |
        | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        | fast | ok | blocks | 3 | 10.067 | 0.306 | 9.308 to 10.826 | 10.000 | 1.000 |  |  |  |
        | alike | ok | blocks | 3 | 10.100 | 0.200 | 9.603 to 10.597 | 10.100 | 1.003 | 0.975 to 1.032 | 0.667, 1.000 | 0.29 |
        | slow | ok | blocks | 3 | 20.500 | 0.500 | 19.258 to 21.742 | 20.500 | 2.036 | 1.997 to 2.077 | < 0.001, 0.500 | 50.12 |

        - `alike` and `fast` do not differ by more than their spread (95 %: 0.97 to 1.03 times as long; p by the paired t test 0.667, by Wilcoxon 1.000).
        - `fast` ran 2.04 ± 0.04 times faster than `slow` (95 %: 2.00 to 2.08; p by the paired t test < 0.001, by Wilcoxon 0.500).

        Note: p-values are corrected for 2 comparisons (Holm).

        Note: Wilcoxon with 3 pairs and 2 comparisons cannot fall below 0.5: use more repetitions.
        ");
    }

    #[test]
    fn html_in_names_and_reasons_is_escaped() {
        let name = "<script>alert(1)</script>".to_owned();
        let failed = failed(&name, 0, Status::Error, &name);
        let text = text_of(write_markdown, &comparison(vec![row("fast", 0, 10.0), failed]));
        assert!(text.contains("| \\<script>alert(1)\\</script> | error"), "{text}");
        assert!(text.contains("- \\<script>alert(1)\\</script>: \\<script>"), "{text}");
    }

    #[test]
    fn failures_are_shown_with_their_reason() {
        insta::assert_snapshot!(text_of(write_markdown, &partly_failed()), @r"
        ### torus:4x4, uniform:64, paragon, wormhole

        | algorithm | rows | verified | n | mean, µs | sd, µs | 95 % | median, µs | ratio |
        | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
        | fast | ok | blocks | 2 | 10.000 | 0.000 | no spread | 10.000 | 1.000 |
        | frail | 1 ok, 1 timeout | blocks | 1 | 20.000 |  |  | 20.000 | 2.000 |
        | odd | unsupported |  |  |  |  |  |  |  |

        - frail: 60 s are over
        - odd: a side | of 4 is  [31mtoo odd
        - `fast` ran 2.00 times faster than `frail` (a single run of `frail`: the uncertainty is unknown).
        ");
    }
}
