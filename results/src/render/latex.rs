use super::{Cell, Section, View, notes, sections, single_line};
use crate::compare::Comparison;
use std::io::{self, Write};
use swapmeet_core::text::is_unsafe;

/// Writes tables for the LaTeX packages booktabs and graphicx. A table is at most as wide as
/// `width`, which is a length in LaTeX. Sentences follow as comments, because authors write their
/// own.
pub fn write_latex(
    comparison: &Comparison,
    view: View,
    width: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "% Preamble: \\usepackage{{booktabs,graphicx}}")?;
    let comment = |text: &str| format!("% {}\n", single_line(text));
    let is_pivot = matches!(view, View::Pivot(_));
    for section in sections(comparison, view) {
        let Section { title, header, lines, sentences } = without_constant_columns(section);
        let columns: String =
            header.iter().map(|(_, is_number)| if *is_number { 'r' } else { 'l' }).collect();
        let row = |texts: Vec<String>| format!("{} \\\\\n", texts.join(" & "));
        let head = row(header.iter().map(|(name, _)| latex_escaped(name.trim())).collect());
        let bold = if is_pivot {
            ". Bold times are the fastest, or are not told apart from the fastest."
        } else {
            "."
        };
        let caption = latex_escaped(&(title + bold));
        write!(
            out,
            "\n\\begin{{table}}\n\\caption{{{caption}}}\n\\centering\n\\resizebox{{\\ifdim\\width>{width} {width}\\else\\width\\fi}}{{!}}{{%\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\\midrule\n"
        )?;
        for line in &lines {
            write!(out, "{}", row(line.iter().map(latex_cell).collect()))?;
        }
        write!(out, "\\bottomrule\n\\end{{tabular}}}}\n\\end{{table}}\n")?;
        sentences.iter().try_for_each(|sentence| write!(out, "{}", comment(sentence)))?;
    }
    let mut notes = notes(comparison).into_iter();
    notes.try_for_each(|note| write!(out, "{}", comment(&format!("Note: {note}"))))
}

fn latex_cell(cell: &Cell) -> String {
    let text = latex_escaped(&cell.text);
    if cell.is_best { format!("\\textbf{{{text}}}") } else { text }
}

/// Moves columns with a constant value (status, verification, repetitions) to the title.
fn without_constant_columns(section: Section) -> Section {
    let Section { mut title, header, lines, sentences } = section;
    let constant = |at: usize| {
        let first = &lines.first()?[at].text;
        (lines.len() > 1 && lines.iter().all(|line| line[at].text == *first)).then_some(first)
    };
    let is_moved = |at: usize| matches!(&*header[at].0, "rows" | "verified" | "n");
    let moved: Vec<usize> =
        (0..header.len()).filter(|at| is_moved(*at) && constant(*at).is_some()).collect();
    for at in &moved {
        title += &format!("; {}: {}", header[*at].0, constant(*at).map_or("", |text| text));
    }
    let is_kept = |at: &usize| !moved.contains(at);
    let kept: Vec<usize> = (0..header.len()).filter(is_kept).collect();
    let line = |line: &Vec<Cell>| kept.iter().map(|at| line[*at].clone()).collect();
    Section {
        lines: lines.iter().map(line).collect(),
        header: kept.iter().map(|at| header[*at].clone()).collect(),
        title,
        sentences,
    }
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
            '†' => out += "$\\dagger$",
            letter if is_unsafe(letter) => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::{details_of, repeated};

    #[test]
    fn latex_characters_are_escaped() {
        assert_eq!(
            latex_escaped("50 % of {a_b} & c\\d\n^ < 3 µs †"),
            r"50 \% of \{a\_b\} \& c\textbackslash{}d \textasciicircum{} $<$ 3 $\mu$s $\dagger$"
        );
    }

    #[test]
    fn tables_have_the_rules_of_booktabs() {
        let table = details_of(|all, view, out| write_latex(all, view, "84mm", out), &repeated());
        let fast = "fast & 10.067 & 0.306 & 9.308 to 10.826 & 10.000 & 1.000 &  & ";
        for line in [
            "% Preamble: \\usepackage{booktabs,graphicx}",
            "\\caption{torus:4x4, uniform:64, paragon, wormhole; rows: ok; verified: blocks; n: 3.}",
            "\\resizebox{\\ifdim\\width>84mm 84mm\\else\\width\\fi}{!}{%",
            "\\begin{tabular}{lrrrrrrr}",
            "algorithm & mean, $\\mu$s & sd, $\\mu$s & 95 \\% & median, $\\mu$s & ratio & 95 \\% & p \\\\",
            &format!("{fast} \\\\"),
            "\\bottomrule",
            "\\end{table}",
            "% Note: p-values are corrected for 2 comparisons (Holm).",
        ] {
            assert!(table.lines().any(|found| found == line), "{line}: {table}");
        }
    }
}
