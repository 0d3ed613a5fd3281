//! Writes curves as LaTeX source for pgfplots.

use crate::appearance::LegendPlace;
use crate::draw::scale::{Scale, Tick};
use crate::draw::{Drawable, letter};
use crate::figure::{Curve, Figure};
use crate::marks::Paper;
use crate::quantity::Point;
use std::fmt::Write as _;
use swapmeet_results::{latex_escaped, single_line};

/// The number of points (1/72.27 inch), the unit of LaTeX, in a pixel (1/96 inch).
const POINTS: f64 = 72.27 / 96.0;

impl Figure {
    /// Formats the figure for `\input{figure.tex}`. The first line states what the preamble needs.
    pub(crate) fn for_latex(&self, paper: &Paper) -> String {
        let mut out = "% Preamble: \\usepackage{pgfplots} \\usepgfplotslibrary{groupplots} \
             \\pgfplotsset{compat=1.18}\n"
            .to_owned();
        for line in [&self.title].into_iter().chain(&self.remarks) {
            let _ = writeln!(out, "% {}", single_line(line));
        }
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
        // The legend is below all panels, so that it covers no curve. It has a name that is global
        // in a LaTeX document, so each figure needs a different name.
        let legend = format!(
            "swapmeet{}",
            self.title.replace(|letter: char| !letter.is_ascii_alphanumeric(), "")
        );
        let mut letters = 0;
        for (number, (panel, axes)) in self.panels.iter().zip(self.axes(paper)).enumerate() {
            let title = latex_escaped(&panel.title);
            let has_legend = number == 0 && self.legend != LegendPlace::None;
            let legend =
                if has_legend { format!(", legend to name={legend}") } else { String::new() };
            let mode = if axes.is_single { ",\n  xmode=normal" } else { "" };
            let x = axis_options('x', &axes.x, &axes.x_ticks);
            let y = axis_options('y', &axes.y, &axes.y_ticks);
            let _ =
                writeln!(out, "\\nextgroupplot[title={{{title}}}{legend}{mode},\n  {x},\n  {y}]");
            for (place, curve) in panel.curves.iter().chain(&panel.reference).enumerate() {
                out += &self.plotted(curve, axes.is_single.then_some(place as f64 + 0.5), paper);
                if has_legend {
                    let label = latex_escaped(self.label(&curve.name));
                    let (line, mark) = self.look(curve, paper);
                    let _ = writeln!(out, "\\addlegendimage{{{line}, {mark}}}");
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

    /// Returns a fraction of the figure's width as a length in LaTeX.
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
        let (place, wide) = Drawable::legend(self, paper);
        let fitting = (paper.width(panels) / wide).floor().clamp(1.0, 3.0);
        let legend_columns = if place == LegendPlace::Right { 1.0 } else { fitting };
        let mut options = vec![
            format!(
                "group style={{group size={columns} by {rows}, horizontal sep=5em, vertical sep=5em}}"
            ),
            format!("width={}", self.width(paper, if columns == 1 { 0.98 } else { 0.49 })),
            format!("xlabel={{{}}}", latex_escaped(self.x_label)),
            format!("ylabel={{{}}}", latex_escaped(&self.y_label)),
            format!("legend columns={legend_columns}"),
            "every axis plot/.append style={thick}".to_owned(),
        ];
        if self.log.x() {
            options.push("xmode=log".to_owned());
        }
        if self.log.y() {
            options.push("ymode=log".to_owned());
        }
        options
    }

    fn colour(&self, name: &str) -> String {
        format!("swapmeet{}", self.names.iter().position(|known| known == name).unwrap_or_default())
    }

    /// Returns the lines of a curve, and its points with error bars. On a logarithmic axis, the line
    /// between two points is curved, so it is drawn as several straight pieces. If all points have the same x, `place`
    /// is the x at which they are drawn.
    fn plotted(&self, curve: &Curve, place: Option<f64>, paper: &Paper) -> String {
        let row = |p: &Point| {
            let (low, high) = p.interval.map_or((0.0, 0.0), |i| (p.y - i.low, i.high - p.y));
            format!("{} {} {low} {high} \\\\\n", place.unwrap_or(p.x), p.y)
        };
        let rows: String = curve.points.iter().map(row).collect();
        let (line, mark) = self.look(curve, paper);
        let lines = curve.lines.iter().filter(|_| place.is_none()).map(|positions| {
            let positions: String = positions.iter().map(|(x, y)| format!("({x},{y})")).collect();
            format!("\\addplot[{line}, mark=none, forget plot] coordinates {{{positions}}};\n")
        });
        let lines: String = lines.collect();
        format!(
            "{lines}\\addplot[{line}, {mark}, only marks, forget plot, error bars/.cd, error bar style={{solid}}, y dir=both, y explicit] table[row sep=\\\\, x index=0, y index=1, y error minus index=2, y error plus index=3] {{\n{rows}}};\n"
        )
    }

    /// Returns the options of the lines and of the marks of a curve.
    fn look(&self, curve: &Curve, paper: &Paper) -> (String, String) {
        if !self.names.contains(&curve.name) {
            return ("color=gray, densely dotted".to_owned(), "mark=none".to_owned());
        }
        let style = self.styles.get(&curve.name);
        let letter = format!("text, text mark={}", style.marker);
        let mark = match style.marker {
            '●' => "*",
            '■' => "square*",
            '▲' | '▼' => "triangle*",
            '◆' => "diamond*",
            '✖' => "x",
            '✚' => "+",
            '★' => "star",
            '○' => "o",
            '□' => "square",
            '△' | '▽' => "triangle",
            '◇' => "diamond",
            '☆' => "10-pointed star",
            _ => &letter,
        };
        let turned = if matches!(style.marker, '▼' | '▽') { ", rotate=180" } else { "" };
        let mark = format!("mark={mark}, mark options={{solid{turned}}}");
        let dashes = dash_pattern(style.dashes, paper.font() / 12.0 * POINTS);
        (format!("color={}{dashes}", self.colour(&curve.name)), mark)
    }
}

/// Returns the range and the ticks of an axis, which are the same as in other formats.
fn axis_options(axis: char, scale: &Scale, ticks: &[Tick]) -> String {
    let list = |is_named: bool, text: fn(&Tick) -> String| {
        let shown = ticks.iter().filter(|tick| tick.label.is_empty() != is_named).map(text);
        shown.collect::<Vec<_>>().join(",")
    };
    let value = |tick: &Tick| tick.value.to_string();
    let label = |tick: &Tick| latex_escaped(&tick.label);
    format!(
        "{axis}min={}, {axis}max={}, {axis}tick={{{}}}, {axis}ticklabels={{{}}}, minor {axis}tick={{{}}}",
        scale.low,
        scale.high,
        list(true, value),
        list(true, label),
        list(false, value)
    )
}

/// Returns the dashes as an option after a comma, or an empty text for a solid line.
fn dash_pattern(dashes: &[f64], scale: f64) -> String {
    let parts: Vec<String> = dashes
        .chunks(2)
        .filter_map(|pair| <[f64; 2]>::try_from(pair).ok())
        .map(|[on, off]| format!("on {:.2}pt off {:.2}pt", on * scale, off * scale))
        .collect();
    if parts.is_empty() { String::new() } else { format!(", dash pattern={}", parts.join(" ")) }
}
