//! Output of a comparison as LaTeX tables.

use super::{Section, notes, sections, single_line};
use crate::compare::Comparison;
use std::io::{self, Write};
use swapmeet_core::text::is_unsafe;

/// Writes a table for each group, for the package booktabs. Sentences and remarks follow each table
/// as comments, because the text of a paper usually says them in its own words.
pub fn write_latex(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "% Preamble: \\usepackage{{booktabs}}")?;
    let comment = |text: &str| format!("% {}\n", single_line(text));
    for Section { title, cells, sentences } in sections(comparison) {
        let columns: String =
            cells.header.iter().map(|(_, is_number)| if *is_number { 'r' } else { 'l' }).collect();
        let row = |texts: &mut dyn Iterator<Item = &str>| {
            format!("{} \\\\\n", texts.map(latex_escaped).collect::<Vec<_>>().join(" & "))
        };
        let header = row(&mut cells.header.iter().map(|(name, _)| name.trim()));
        write!(out, "\n{}\\begin{{tabular}}{{{columns}}}\n\\toprule\n", comment(&title))?;
        writeln!(out, "{header}\\midrule")?;
        for line in &cells.lines {
            write!(out, "{}", row(&mut line.iter().map(String::as_str)))?;
        }
        write!(out, "\\bottomrule\n\\end{{tabular}}\n")?;
        sentences.iter().try_for_each(|sentence| write!(out, "{}", comment(sentence)))?;
    }
    let mut notes = notes(comparison).into_iter();
    notes.try_for_each(|note| write!(out, "{}", comment(&format!("Note: {note}"))))
}

/// Escapes a text for LaTeX. The result can be used with any encoding of fonts.
pub fn latex_escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(letter);
            }
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '<' => out += "$<$",
            '>' => out += "$>$",
            '|' => out += "$|$",
            'µ' => out += "$\\mu$",
            '±' => out += "$\\pm$",
            '×' => out += "$\\times$",
            letter if is_unsafe(letter) => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::{repeated, text_of};

    #[test]
    fn latex_characters_are_escaped() {
        assert_eq!(
            latex_escaped("50 % of {a_b} & c\\d\n^ < 3 µs"),
            r"50 \% of \{a\_b\} \& c\textbackslash{}d \textasciicircum{} $<$ 3 $\mu$s"
        );
    }

    #[test]
    fn tables_have_the_rules_of_booktabs() {
        let table = text_of(write_latex, &repeated());
        let fast =
            "fast & ok & blocks & 3 & 10.067 & 0.306 & 9.308 to 10.826 & 10.000 & 1.000 &  &  &";
        for line in [
            "% Preamble: \\usepackage{booktabs}",
            "% torus:4x4, uniform:64, paragon, wormhole",
            "\\begin{tabular}{lllrrrrrrrrr}",
            "algorithm & rows & verified & n & mean, $\\mu$s & sd, $\\mu$s & 95 \\% & median, $\\mu$s & ratio & 95 \\% & p (t, rank) & effect \\\\",
            &format!("{fast}  \\\\"),
            "\\bottomrule",
            "% Note: p-values are corrected for 2 comparisons (Holm).",
        ] {
            assert!(table.lines().any(|found| found == line), "{line}: {table}");
        }
    }
}
