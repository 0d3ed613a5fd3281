//! Output of a comparison as text tables.

use super::{Section, notes, sections};
use crate::compare::Comparison;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use std::io::{self, Write};

/// Writes a table and sentences for each group, followed by the remarks.
pub fn write_table(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    for Section { title, cells, sentences } in sections(comparison) {
        let mut table = Table::new();
        table
            .load_style(NOTHING)
            .set_header(cells.header.iter().map(|(name, _)| *name))
            .add_rows(cells.lines);
        for (column, (_, is_number)) in table.column_iter_mut().zip(&cells.header) {
            column.set_padding((0, 2));
            if *is_number {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        writeln!(out, "{title}\n{}", table.trim_fmt())?;
        for sentence in sentences {
            writeln!(out, "{sentence}")?;
        }
        writeln!(out)?;
    }
    notes(comparison).into_iter().try_for_each(|note| writeln!(out, "note: {note}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::row;
    use crate::render::tests::{comparison, partly_failed, repeated, text_of};

    #[test]
    fn a_table_ends_in_sentences_with_the_uncertainty() {
        insta::assert_snapshot!(text_of(write_table, &repeated()), @r"
        torus:4x4, uniform:64, paragon, wormhole
        algorithm  rows  verified  n  mean, µs  sd, µs              95 %  median, µs  ratio           95 %      p (t, rank)  effect
        fast       ok    blocks    3    10.067   0.306   9.308 to 10.826      10.000  1.000
        alike      ok    blocks    3    10.100   0.200   9.603 to 10.597      10.100  1.003  0.975 to 1.032    0.667, 1.000    0.29
        slow       ok    blocks    3    20.500   0.500  19.258 to 21.742      20.500  2.036  1.997 to 2.077  < 0.001, 0.500   50.12
        `alike` and `fast` do not differ by more than their spread (95 %: 0.97 to 1.03 times as long; p by the paired t test 0.667, by Wilcoxon 1.000).
        `fast` ran 2.04 ± 0.04 times faster than `slow` (95 %: 2.00 to 2.08; p by the paired t test < 0.001, by Wilcoxon 0.500).

        note: p-values are corrected for 2 comparisons (Holm).
        note: Wilcoxon with 3 pairs and 2 comparisons cannot fall below 0.5: use more repetitions.
        ");
    }

    #[test]
    fn failures_are_shown_with_their_reason() {
        insta::assert_snapshot!(text_of(write_table, &partly_failed()), @r"
        torus:4x4, uniform:64, paragon, wormhole
        algorithm  rows             verified  n  mean, µs  sd, µs       95 %  median, µs  ratio
        fast       ok               blocks    2    10.000   0.000  no spread      10.000  1.000
        frail      1 ok, 1 timeout  blocks    1    20.000                         20.000  2.000
        odd        unsupported
        frail: 60 s are over
        odd: a side | of 4 is  [31mtoo odd
        `fast` ran 2.00 times faster than `frail` (a single run of `frail`: the uncertainty is unknown).
        ");
    }

    #[test]
    fn a_time_of_zero_has_an_undefined_ratio() {
        let table = text_of(write_table, &comparison(vec![row("a", 0, 0.0), row("b", 0, 0.0)]));
        insta::assert_snapshot!(table.split("note: ").next().unwrap(), @r"
        torus:4x4, uniform:64, paragon, wormhole
        algorithm  rows  verified  mean, µs      ratio
        a          ok    blocks       0.000  undefined
        b          ok    blocks       0.000  undefined
        `b` and `a`: a time is 0, so there is no ratio.
        ");
    }
}
