//! Output of the data of a figure: as a table of its points, and as a LaTeX figure.

use crate::figure::{Curve, Figure, Point};
use crate::style::Marker;
use std::fmt::Write as _;
use swapmeet_core::text::is_unsafe;
use swapmeet_results::analysis::Axis;
use swapmeet_results::{csv_table, single_line};

impl Figure {
    /// Formats all points as CSV with these columns: panel, curve, x, y, and the lower and upper
    /// end of the error bar.
    pub(crate) fn table(&self) -> Result<String, csv::Error> {
        let columns =
            ["panel", "curve", self.x.label(), &self.y_label, "low", "high"].map(str::to_owned);
        let curves = self.panels.iter().flat_map(|panel| {
            panel
                .curves
                .iter()
                .chain(&panel.bound)
                .map(|curve| (&panel.title, self.label(&curve.name), &curve.points))
        });
        let points = curves.flat_map(|(title, name, points)| {
            points.iter().map(move |point| {
                let end = |end: Option<f64>| end.map(|end| end.to_string()).unwrap_or_default();
                let (low, high) = (point.interval.map(|i| i.low), point.interval.map(|i| i.high));
                [
                    title.clone(),
                    name.to_owned(),
                    point.x.to_string(),
                    point.y.to_string(),
                    end(low),
                    end(high),
                ]
            })
        });
        csv_table([columns].into_iter().chain(points))
    }

    /// Formats the figure for pgfplots. A document includes it with `\input{figure.tex}` and needs
    /// `\usepackage{pgfplots}` and `\usepgfplotslibrary{groupplots}`.
    pub(crate) fn for_latex(&self) -> String {
        let columns = if self.panels.len() == 1 { 1 } else { 2 };
        let rows = self.panels.len().div_ceil(columns);
        let lines = [&self.title].into_iter().chain(&self.remarks);
        let mut out: String = lines.map(|line| format!("% {}\n", single_line(line))).collect();
        // Define the colours of the curves.
        out += "\\begin{tikzpicture}\n";
        for name in &self.names {
            let colour = self.styles.get(name).colour;
            let _ = writeln!(
                out,
                "\\definecolor{{{}}}{{RGB}}{{{},{},{}}}",
                self.colour(name),
                colour.0,
                colour.1,
                colour.2
            );
        }
        // Collect the options that apply to all panels.
        let mut options = vec![
            format!(
                "group style={{group size={columns} by {rows}, horizontal sep=4em, vertical sep=5em}}"
            ),
            format!("width={}\\linewidth", if columns == 1 { "0.95" } else { "0.48" }),
            format!("xlabel={{{}}}", escaped(self.x.label())),
            format!("ylabel={{{}{}}}", escaped(&self.y_label), self.y.unit_in_rows()),
            "legend style={font=\\footnotesize}, legend columns=3".to_owned(),
            "every axis plot/.append style={thick}".to_owned(),
        ];
        if self.x == Axis::Block {
            options[2] = "xlabel={block size, B}".to_owned();
        }
        if self.log.x {
            options.push("xmode=log, log basis x=2".to_owned());
        }
        if self.log.y {
            options.push("ymode=log".to_owned());
        }
        let _ = writeln!(out, "\\begin{{groupplot}}[{}]", options.join(",\n  "));
        // The legend is placed below all panels, so that it does not cover a curve. The name of a
        // legend is global in a LaTeX document, so each figure needs a different name.
        let legend = format!(
            "swapmeet{}",
            self.title.replace(|letter: char| !letter.is_ascii_alphanumeric(), "")
        );
        // Write the panels. The first one defines the legend.
        for (number, panel) in self.panels.iter().enumerate() {
            let title = escaped(&panel.title);
            let legend =
                if number == 0 { format!(", legend to name={legend}") } else { String::new() };
            let _ = writeln!(out, "\\nextgroupplot[title={{{title}}}{legend}]");
            for curve in panel.curves.iter().chain(&panel.bound) {
                out += &self.plotted(curve);
                if number == 0 {
                    let _ =
                        writeln!(out, "\\addlegendentry{{{}}}", escaped(self.label(&curve.name)));
                }
            }
        }
        let _ = write!(
            out,
            "\\end{{groupplot}}\n\\node[anchor=north] at (current bounding box.south) {{\\pgfplotslegendfromname{{{legend}}}}};\n\\end{{tikzpicture}}\n"
        );
        out
    }

    fn colour(&self, name: &str) -> String {
        format!("swapmeet{}", self.names.iter().position(|known| known == name).unwrap_or_default())
    }

    fn plotted(&self, curve: &Curve) -> String {
        let row = |p: &Point| {
            let (low, high) = p.interval.map_or((0.0, 0.0), |i| (p.y - i.low, i.high - p.y));
            format!("{} {} {low} {high} \\\\\n", p.x, p.y)
        };
        let rows: String = curve.points.iter().map(row).collect();
        let mark = if self.names.contains(&curve.name) {
            let mark = match self.styles.get(&curve.name).marker {
                Marker::Circle => "mark=*",
                Marker::Square => "mark=square*",
                Marker::Triangle => "mark=triangle*",
                Marker::Diamond => "mark=diamond*",
                Marker::TriangleDown => "mark=triangle*, mark options={rotate=180}",
                Marker::Cross => "mark=x",
                Marker::Star => "mark=star",
                Marker::Plus => "mark=+",
            };
            format!("color={}, {mark}", self.colour(&curve.name))
        } else {
            "color=gray, densely dotted, mark=none".to_owned()
        };
        format!(
            "\\addplot[{mark}, error bars/.cd, y dir=both, y explicit] table[row sep=\\\\, x index=0, y index=1, y error minus index=2, y error plus index=3] {{\n{rows}}};\n"
        )
    }
}

/// Escapes a text for LaTeX.
fn escaped(text: &str) -> String {
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
            letter if is_unsafe(letter) => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn latex_characters_are_escaped() {
        assert_eq!(
            escaped("50 % of {a_b} & c\\d\n^"),
            r"50 \% of \{a\_b\} \& c\textbackslash{}d \textasciicircum{}"
        );
    }
}
