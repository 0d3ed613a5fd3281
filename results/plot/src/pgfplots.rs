//! Output of curves as LaTeX source for pgfplots.

use crate::appearance::LegendPlace;
use crate::draw::letter;
use crate::figure::{Curve, Figure, Panel, Point};
use crate::marks::Paper;
use crate::style::Marker;
use std::fmt::Write as _;
use swapmeet_results::analysis::Axis;
use swapmeet_results::units::Unit;
use swapmeet_results::{latex_escaped, single_line};

/// Points of 1/72.27 inch, the unit of LaTeX, in a pixel of 1/96 inch.
const POINTS: f64 = 72.27 / 96.0;

impl Figure {
    /// Formats the figure for pgfplots. A document includes it with `\input{figure.tex}`. The first
    /// line names the preamble that it needs.
    pub(crate) fn for_latex(&self, paper: &Paper) -> String {
        let mut out = "% Preamble: \\usepackage{pgfplots} \\usepgfplotslibrary{groupplots} \
             \\pgfplotsset{compat=1.18}\n"
            .to_owned();
        for line in [&self.title].into_iter().chain(&self.remarks) {
            let _ = writeln!(out, "% {}", single_line(line));
        }
        // Define the colours of the curves.
        let font = paper.font() * POINTS;
        let _ = writeln!(
            out,
            "\\begin{{tikzpicture}}[font=\\fontsize{{{font:.2}}}{{{:.2}}}\\selectfont]",
            1.2 * font
        );
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
        let _ = writeln!(out, "\\begin{{groupplot}}[{}]", self.options(paper).join(",\n  "));
        // The legend is placed below all panels, so that it does not cover a curve. The name of a
        // legend is global in a LaTeX document, so each figure needs a different name.
        let legend = format!(
            "swapmeet{}",
            self.title.replace(|letter: char| !letter.is_ascii_alphanumeric(), "")
        );
        // Write the panels. The first one defines the legend.
        let mut letters = 0;
        for (number, panel) in self.panels.iter().enumerate() {
            let title = latex_escaped(&panel.title);
            let has_legend = number == 0 && self.legend != LegendPlace::None;
            let legend =
                if has_legend { format!(", legend to name={legend}") } else { String::new() };
            let single = single_x(panel).map_or(String::new(), |x| self.single_axis(panel, x));
            let _ = writeln!(out, "\\nextgroupplot[title={{{title}}}{legend}{single}]");
            for (place, curve) in panel.curves.iter().chain(&panel.reference).enumerate() {
                out += &self.plotted(curve, single_x(panel).map(|_| place as f64 + 0.5), paper);
                if has_legend {
                    let label = latex_escaped(self.label(&curve.name));
                    let _ = writeln!(out, "\\addlegendentry{{{label}}}");
                }
            }
            for crossover in &panel.crossovers {
                if let Some((x, y)) = crossover.at {
                    let _ = writeln!(
                        out,
                        "\\node[draw, circle, inner sep=2pt, label=below right:{{{}}}] at (axis cs:{x},{y}) {{}};",
                        letter(letters)
                    );
                }
                letters += 1;
            }
        }
        out += "\\end{groupplot}\n";
        out += &self.below(&legend, paper);
        out += "\\end{tikzpicture}\n";
        out
    }

    fn below(&self, legend: &str, paper: &Paper) -> String {
        let mut out = String::new();
        let mut node = |text: &str| {
            let _ =
                writeln!(out, "\\node[anchor=north] at (current bounding box.south) {{{text}}};");
        };
        if self.legend != LegendPlace::None {
            node(&format!("\\pgfplotslegendfromname{{{legend}}}"));
        }
        let lines: Vec<String> = self
            .crossover_texts()
            .enumerate()
            .map(|(number, words)| format!("{}: {}", letter(number), latex_escaped(&words)))
            .collect();
        if !lines.is_empty() {
            let width = paper.width.map_or("\\linewidth".to_owned(), |_| self.width(paper, 1.0));
            node(&format!("\\parbox{{{width}}}{{{}}}", lines.join("\\\\\n")));
        }
        out
    }

    /// Returns the fraction `share` of the figure's width, as a length in LaTeX.
    fn width(&self, paper: &Paper, share: f64) -> String {
        match paper.width {
            Some(width) => format!("{:.2}pt", share * width.pixels() * POINTS),
            None => format!("{share:.2}\\linewidth"),
        }
    }

    fn options(&self, paper: &Paper) -> Vec<String> {
        let panels = self.panels.len();
        let columns = match paper.width {
            Some(_) => paper.columns(panels, paper.width(panels)),
            None => panels.min(2),
        };
        let rows = panels.div_ceil(columns);
        let unit = if self.x == Axis::Block { ", B" } else { "" };
        let y_unit = match self.y.unit() {
            Unit::Time => ", $\\mu$s",
            Unit::Bytes => ", B",
            Unit::Number => "",
        };
        let legend_columns = if self.legend == LegendPlace::Right { 1 } else { 3 };
        let mut options = vec![
            format!(
                "group style={{group size={columns} by {rows}, horizontal sep=5em, vertical sep=5em}}"
            ),
            format!("width={}", self.width(paper, if columns == 1 { 0.98 } else { 0.49 })),
            format!("xlabel={{{}{unit}}}", latex_escaped(self.x_label)),
            format!("ylabel={{{}{y_unit}}}", latex_escaped(&self.y_label)),
            format!("legend columns={legend_columns}"),
            "every axis plot/.append style={thick}".to_owned(),
        ];
        if self.log.x() {
            options.push("xmode=log, log basis x=2".to_owned());
        }
        if self.log.y() {
            options.push("ymode=log".to_owned());
        }
        if self.share_y {
            let curves =
                self.panels.iter().flat_map(|panel| panel.curves.iter().chain(&panel.reference));
            let ys = curves.flat_map(|curve| &curve.points).map(|point| point.y);
            let (low, high) =
                ys.fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)));
            let (low, high) = if self.log.y() {
                (low / 1.2, high * 1.2)
            } else {
                (low - 0.05 * (high - low), high + 0.05 * (high - low))
            };
            options.push(format!("ymin={low}, ymax={high}"));
        }
        options
    }

    /// Returns the options of a panel in which all points have the same x. The curves are placed
    /// next to each other.
    fn single_axis(&self, panel: &Panel, x: f64) -> String {
        let curves = panel.curves.len();
        format!(
            ", xmode=normal, xmin=0, xmax={curves}, xtick={{{}}}, xticklabels={{{}}}",
            curves as f64 / 2.0,
            latex_escaped(&self.x.text(x))
        )
    }

    fn colour(&self, name: &str) -> String {
        format!("swapmeet{}", self.names.iter().position(|known| known == name).unwrap_or_default())
    }

    /// Returns the plot of a curve. `place` is the x of all points, if they all have the same x.
    fn plotted(&self, curve: &Curve, place: Option<f64>, paper: &Paper) -> String {
        let row = |p: &Point| {
            let (low, high) = p.interval.map_or((0.0, 0.0), |i| (p.y - i.low, i.high - p.y));
            format!("{} {} {low} {high} \\\\\n", place.unwrap_or(p.x), p.y)
        };
        let rows: String = curve.points.iter().map(row).collect();
        let look = if self.names.contains(&curve.name) {
            let style = self.styles.get(&curve.name);
            let mark = match style.marker {
                Marker::Circle => "mark=*",
                Marker::Square => "mark=square*",
                Marker::Triangle => "mark=triangle*",
                Marker::Diamond => "mark=diamond*",
                Marker::TriangleDown => "mark=triangle*, mark options={solid, rotate=180}",
                Marker::Cross => "mark=x",
                Marker::Star => "mark=star",
                Marker::Plus => "mark=+",
            };
            let solid = if mark.contains("options") { "" } else { ", mark options={solid}" };
            let dashes = dash_pattern(style.dashes, paper.font() / 12.0 * POINTS);
            format!("color={}, {mark}{solid}{dashes}", self.colour(&curve.name))
        } else {
            "color=gray, densely dotted, mark=none".to_owned()
        };
        format!(
            "\\addplot[{look}, error bars/.cd, error bar style={{solid}}, y dir=both, y explicit] table[row sep=\\\\, x index=0, y index=1, y error minus index=2, y error plus index=3] {{\n{rows}}};\n"
        )
    }
}

fn single_x(panel: &Panel) -> Option<f64> {
    let mut xs = panel.curves.iter().flat_map(|curve| &curve.points).map(|point| point.x);
    let first = xs.next()?;
    (panel.curves.len() > 1 && xs.all(|x| x == first)).then_some(first)
}

/// Returns the dashes of a line as an option, which begins with a comma. Empty for a solid line.
fn dash_pattern(dashes: &[f64], scale: f64) -> String {
    let parts: Vec<String> = dashes
        .chunks(2)
        .filter_map(|pair| <[f64; 2]>::try_from(pair).ok())
        .map(|[on, off]| format!("on {:.2}pt off {:.2}pt", on * scale, off * scale))
        .collect();
    if parts.is_empty() { String::new() } else { format!(", dash pattern={}", parts.join(" ")) }
}
