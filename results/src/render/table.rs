//! Output of a comparison as text tables.

use super::{Cell, Section, View, notes, sections};
use crate::compare::Comparison;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use std::io::{self, Write};

/// The width of a summary, in columns of a terminal.
const WIDTH: u16 = 100;

/// Writes the tables of a view with their sentences, followed by the remarks. A summary is at most
/// 100 columns wide. The fastest times of a pivot table have an asterisk.
pub fn write_table(comparison: &Comparison, view: View, out: &mut dyn Write) -> io::Result<()> {
    let is_summary = view == View::Summary;
    let wrapped = |text: &str| if is_summary { wrapped(text) } else { vec![text.to_owned()] };
    for (number, section) in sections(comparison, view).enumerate() {
        let Section { title, header, lines, sentences } = section;
        let mut table = Table::new();
        table
            .load_style(NOTHING)
            .set_header(header.iter().map(|(name, _)| &**name))
            .add_rows(lines.iter().map(|line| line.iter().map(text)));
        // The table of measured times, which follows the summary, is as wide as it needs to be.
        if is_summary && number == 0 {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
        }
        for (column, (_, is_number)) in table.column_iter_mut().zip(&header) {
            column.set_padding((0, 2));
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

/// Breaks a text into lines of at most [`WIDTH`] characters, after spaces and the commas of specs.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive([' ', ',']) {
        let last = lines.len() - 1;
        let length = |text: &str| text.trim_end().chars().count();
        if length(&lines[last]) > 0
            && lines[last].chars().count() + length(word) > usize::from(WIDTH)
        {
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
    use crate::render::tests::{comparison, details_of, partly_failed, repeated};

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
