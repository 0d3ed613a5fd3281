use super::{Cell, Section, View, notes, sections};
use crate::compare::Comparison;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use std::io::{self, Write};

/// The width of a summary, in characters.
const WIDTH: usize = 100;

const GAP: usize = 2;

/// Writes a comparison as text tables. In a pivot table, the fastest times have an asterisk.
pub fn write_table(comparison: &Comparison, view: View, out: &mut dyn Write) -> io::Result<()> {
    let is_summary = view == View::Summary;
    let wrapped = |text: &str| {
        if is_summary { wrapped(text, WIDTH, &[' ', ',']) } else { vec![text.to_owned()] }
    };
    for (number, section) in sections(comparison, view).enumerate() {
        let Section { title, header, lines, sentences } = section;
        let names = header.iter().map(|(name, _)| name.to_string()).collect();
        let mut texts: Vec<Vec<String>> = [names]
            .into_iter()
            .chain(lines.iter().map(|line| line.iter().map(text).collect()))
            .collect();
        let mut table = Table::new();
        // Only the summary is narrowed, and not the table of measured times that follows it.
        if is_summary && number == 0 {
            narrow(&mut texts);
            // The gap after the last column is not printed, so the table may be wider by this gap.
            let width = u16::try_from(WIDTH + GAP).unwrap_or(u16::MAX);
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        let mut texts = texts.into_iter();
        table.load_style(NOTHING).set_header(texts.next().unwrap_or_default()).add_rows(texts);
        for (column, (_, is_number)) in table.column_iter_mut().zip(&header) {
            column.set_padding((0, GAP as u16));
            if *is_number {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let title = if title.is_empty() { Vec::new() } else { wrapped(&title) };
        title.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        writeln!(out, "{}", table.trim_fmt())?;
        for line in sentences.iter().flat_map(|sentence| wrapped(sentence)) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
    }
    let notes = notes(comparison).into_iter().map(|note| format!("note: {note}"));
    notes.flat_map(|note| wrapped(&note)).try_for_each(|line| writeln!(out, "{line}"))
}

fn text(cell: &Cell) -> String {
    if cell.is_best { format!("{}*", cell.text) } else { cell.text.clone() }
}

/// Breaks the texts of the widest columns into lines, until the table is at most [`WIDTH`] wide.
/// `texts[0]` is the header.
fn narrow(texts: &mut [Vec<String>]) {
    let length = |text: &String| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let width = |texts: &[Vec<String>], column: usize| {
        texts.iter().map(|line| length(&line[column])).max().unwrap_or(0)
    };
    let columns = texts.first().map_or(0, Vec::len);
    let mut widest: Vec<usize> = (0..columns).collect();
    widest.sort_by_key(|column| std::cmp::Reverse(width(texts, *column)));
    for column in widest {
        let whole: usize = (0..columns).map(|column| width(texts, column) + GAP).sum();
        let excess = whole.saturating_sub(GAP + WIDTH);
        if excess == 0 {
            return;
        }
        let room = width(texts, column).saturating_sub(excess);
        for line in texts.iter_mut() {
            line[column] = wrapped(&line[column], room, &[' ', ',', ':']).join("\n");
        }
    }
}

/// Breaks a text after these characters into lines of at most `most` characters, if possible.
fn wrapped(text: &str, most: usize, after: &[char]) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive(after) {
        let last = lines.len() - 1;
        let length = |text: &str| text.trim_end().chars().count();
        if length(&lines[last]) > 0 && lines[last].chars().count() + length(word) > most {
            lines.push(String::new());
        }
        let last = lines.len() - 1;
        lines[last] += word;
    }
    lines.iter().map(|line| line.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::row;
    use crate::record::Record;
    use crate::render::tests::{comparison, details_of, partly_failed, repeated, text_of};

    #[test]
    fn a_table_ends_in_sentences_with_the_uncertainty() {
        insta::assert_snapshot!(details_of(write_table, &repeated()), @r"
        torus:4x4, uniform:64, paragon, wormhole
        algorithm  rows  verified  n  mean, µs  sd, µs              95 %  median, µs  ratio           95 %         p
        fast       ok    blocks    3    10.067   0.306   9.308 to 10.826      10.000  1.000
        alike      ok    blocks    3    10.100   0.200   9.603 to 10.597      10.100  1.003  0.975 to 1.032    0.667
        slow       ok    blocks    3    20.500   0.500  19.258 to 21.742      20.500  2.036  1.997 to 2.077  < 0.001
        `fast` and `alike` are not told apart: `alike` takes 1.003 times as long (p = 0.667).

        note: p-values are corrected for 2 comparisons (Holm).
        note: Wilcoxon's rank test: needs n >= 7 for 2 comparisons.
        ");
    }

    #[test]
    fn names_in_a_summary_are_only_broken_after_punctuation() {
        let [first, second] = ["n".repeat(30), format!("linear-sync:window={}", "1".repeat(6))];
        let of = |tokens: u32, name: &str, time| Record {
            workload: format!("moe:tokens={tokens},skew=1"),
            topology: format!("torus:{tokens}x16"),
            ..row(name, 0, time)
        };
        for length in 1..25 {
            let first = &first[..length];
            let rows = [16, 64].map(|tokens| [of(tokens, first, 1.0), of(tokens, &second, 2.0)]);
            let compared = comparison(rows.concat());
            let table = text_of(|all, out| write_table(all, View::Summary, out), &compared);
            let words: Vec<&str> = table.split_whitespace().collect();
            let has_second = words.contains(&&*second)
                || words.contains(&"linear-sync:") && words.contains(&&second[12..]);
            assert!(words.contains(&first) && has_second, "{table}");
            assert!(table.lines().all(|line| line.chars().count() <= WIDTH), "{table}");
        }
    }

    #[test]
    fn failures_are_shown_with_their_reason() {
        insta::assert_snapshot!(details_of(write_table, &partly_failed()), @r"
        torus:4x4, uniform:64, paragon, wormhole
        algorithm  rows             verified  n  mean, µs  sd, µs       95 %  median, µs  ratio
        fast       ok               blocks    2    10.000   0.000  no spread      10.000  1.000
        frail      1 ok, 1 timeout  blocks    1    20.000                         20.000  2.000
        odd        unsupported
        frail: 60 s are over
        odd: a side | of 4 is  [31mtoo odd
        `fast` is the fastest: `frail` takes 2.00 times as long (one run: the uncertainty is unknown).
        ");
    }

    #[test]
    fn a_time_of_zero_has_an_undefined_ratio() {
        let table = details_of(write_table, &comparison(vec![row("a", 0, 0.0), row("b", 0, 0.0)]));
        insta::assert_snapshot!(table.split("note: ").next().unwrap(), @r"
        torus:4x4, uniform:64, paragon, wormhole
        algorithm  rows  verified  mean, µs      ratio
        a          ok    blocks       0.000  undefined
        b          ok    blocks       0.000  undefined
        `a` and `b`: a time is 0, so there is no ratio.
        ");
    }
}
