//! Figures of stacked bars: a panel for each group of cases, a bar for each algorithm.

use crate::draw::{Drawable, LegendRow, heading, remarks};
use crate::figure::FigureError;
use crate::labels::Labels;
use crate::marks::scene::{Anchor, Colour, GREY, Scene};
use crate::marks::text::{width, wrapped};
use crate::marks::{Paper, Picture};
use crate::stack::StackKind;
use std::collections::BTreeSet;
use swapmeet_results::{Record, Setting, Status, compare, csv_table};

/// The colours of the pieces, in order. Two neighbouring colours can be distinguished even if the
/// figure is printed in grey.
const COLOURS: [Colour; 7] = [
    Colour(0x00, 0x72, 0xb2),
    Colour(0x8f, 0xd0, 0xf5),
    Colour(0x00, 0x6d, 0x50),
    Colour(0xe6, 0xb8, 0xd0),
    Colour(0x5a, 0x45, 0x00),
    Colour(0xf2, 0x9d, 0x55),
    Colour(0x6e, 0x6e, 0x6e),
];

#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub name: String,
    /// The mean of each piece over the rows, in the order of the names of [`StackKind`].
    pub pieces: Vec<Option<f64>>,
    /// The sum of the pieces.
    pub sum: f64,
}

/// The bars of cases that differ only in the algorithm.
#[derive(Debug, Clone, PartialEq)]
pub struct BarPanel {
    /// The settings in which the panel differs from the other panels.
    pub title: String,
    /// The bars, in increasing order of length.
    pub bars: Vec<Bar>,
}

/// A figure of stacked bars.
#[derive(Debug, Clone, PartialEq)]
pub struct StackedBars {
    /// The quantity that the bars show.
    pub stack: StackKind,
    /// The title: the title that the user gave, or the settings that all panels have in common.
    pub title: String,
    pub panels: Vec<BarPanel>,
    pub labels: Labels,
    /// Remarks that are part of the figure. For example, a remark says that the machine charges
    /// only some of the algorithms for rearrangement.
    pub remarks: Vec<String>,
}

impl StackedBars {
    /// The maximum number of panels.
    pub const MOST_PANELS: usize = 12;

    /// Makes bars from the rows of `files`, which are pairs of a file name and its rows.
    pub fn of(
        stack: StackKind,
        files: &[(String, Vec<Record>)],
        title: Option<&str>,
        labels: &[(String, String)],
    ) -> Result<Self, FigureError> {
        let comparison = compare(files, None)?;
        let mut panels: Vec<(&Setting, BarPanel)> = Vec::new();
        for group in &comparison.groups {
            let mut bars: Vec<Bar> = Vec::new();
            for line in &group.lines {
                let rows = line.records(files).filter(|row| row.status == Status::Ok);
                let Some((pieces, sum)) = stack.of(rows) else { continue };
                bars.push(Bar { name: line.algorithm.clone(), pieces, sum });
            }
            bars.sort_by(|a, b| a.sum.total_cmp(&b.sum));
            if !bars.is_empty() {
                panels.push((&group.setting, BarPanel { title: String::new(), bars }));
            }
        }
        let common = title_panels(&mut panels)?;
        let names =
            panels.iter().flat_map(|(_, panel)| &panel.bars).map(|bar| bar.name.as_str()).collect();
        let labels = Labels::of(labels, &names)?;
        let title = title.map_or(common, str::to_owned);
        let panels = panels.into_iter().map(|(_, panel)| panel).collect();
        Ok(Self {
            stack,
            title,
            panels,
            labels,
            remarks: if stack == StackKind::Parts {
                comparison.rearrangement_remarks
            } else {
                Vec::new()
            },
        })
    }
}

impl Drawable for StackedBars {
    /// Formats all pieces of all bars as CSV. The field of a piece that a bar does not have is
    /// empty.
    fn csv(&self) -> Result<String, csv::Error> {
        let columns = self.stack.columns();
        let columns = ["panel", "algorithm"]
            .map(str::to_owned)
            .into_iter()
            .chain(columns)
            .collect::<Vec<_>>();
        let bars =
            self.panels.iter().flat_map(|panel| panel.bars.iter().map(move |bar| (panel, bar)));
        let bars = bars.map(|(panel, bar)| {
            let pieces =
                bar.pieces.iter().map(|piece| piece.map(|p| p.to_string()).unwrap_or_default());
            let name = self.labels.name(&bar.name);
            [panel.title.clone(), name.to_owned()].into_iter().chain(pieces).collect()
        });
        csv_table([columns].into_iter().chain(bars))
    }

    fn picture(&self, paper: &Paper) -> Picture {
        let font = paper.font();
        let mut scene = Scene::new(paper.width(1), font / 12.0);
        let mut top = heading(&mut scene, &self.title, font);
        for panel in &self.panels {
            top = self.panel(&mut scene, panel, top + 0.6 * font, font);
        }
        let mut row = LegendRow::new(&scene, top + 1.4 * font, font);
        for (piece, name) in self.stack.names().into_iter().enumerate() {
            let of = |bar: &Bar| bar.pieces[piece].unwrap_or(0.0);
            if self.panels.iter().flat_map(|panel| &panel.bars).any(|bar| of(bar) > 0.0) {
                let (x, y) = row.place(1.6 * font + width(name, font));
                scene.filled(
                    [x, y - 0.8 * font, x + 1.2 * font, y + 0.1 * font],
                    COLOURS[piece],
                    None,
                );
                scene.text((x + 1.6 * font, y), name, font, Anchor::Start);
            }
        }
        scene.height = remarks(&mut scene, &self.remarks, row.end(), font) + font;
        Picture::new(
            scene,
            if self.title.is_empty() { self.stack.title() } else { &self.title },
            paper,
        )
    }
}

impl StackedBars {
    /// Draws a panel whose upper end is `top`. Returns the y coordinate of its lower end.
    fn panel(&self, scene: &mut Scene, panel: &BarPanel, top: f64, font: f64) -> f64 {
        let (small, high) = (0.9 * font, 1.7 * font);
        let mut top = top;
        for line in wrapped(&panel.title, font, scene.width - 2.0 * font) {
            top += 1.3 * font;
            scene.text((scene.width / 2.0, top), &line, font, Anchor::Middle);
        }
        top += 0.6 * font;
        // The names are placed to the left of the bars, and the sums to the right.
        let names = panel.bars.iter().map(|bar| width(self.labels.name(&bar.name), font));
        let left = font + names.fold(0.0, f64::max).min(0.35 * scene.width) + 0.6 * font;
        let sums = panel
            .bars
            .iter()
            .map(|bar| width(&self.stack.text(bar.sum), small))
            .fold(0.0, f64::max);
        let room = (scene.width - left - sums - 2.0 * font).max(font);
        let names = self.stack.names();
        let longest = panel.bars.iter().map(|bar| bar.sum).fold(0.0, f64::max);
        // Draw one line for each bar.
        for bar in &panel.bars {
            let middle = top + high / 2.0 + 0.33 * font;
            let name = wrapped(self.labels.name(&bar.name), font, left - 1.5 * font);
            scene.text(
                (left - 0.6 * font, middle),
                name.first().map_or("", String::as_str),
                font,
                Anchor::End,
            );
            let (mut sum, mut from) = (0.0, left);
            for ((name, value), colour) in names.iter().zip(&bar.pieces).zip(COLOURS) {
                let Some(value) = value.filter(|value| *value > 0.0) else { continue };
                sum += value;
                let to = if longest > 0.0 { left + room * sum / longest } else { left };
                let share = value / bar.sum * 100.0;
                let hint = format!(
                    "{}: {name} {}, {share:.1} %",
                    self.labels.name(&bar.name),
                    self.stack.text(value)
                );
                scene.filled([from, top + 0.2 * high, to, top + 0.8 * high], colour, Some(hint));
                from = to;
            }
            scene.text(
                (from + 0.5 * font, middle),
                &self.stack.text(bar.sum),
                small,
                Anchor::Start,
            );
            top += high;
        }
        let foot = top;
        let above = foot - high * panel.bars.len() as f64;
        scene.line(vec![(left, above), (left, foot)], GREY, 0.07 * font, &[]);
        top
    }
}

/// Sets the title of each panel to the settings in which it differs from the other panels. Returns
/// the settings that all panels have in common.
fn title_panels(panels: &mut [(&Setting, BarPanel)]) -> Result<String, FigureError> {
    const CHOICES: [&str; 4] =
        ["topologies (--topology)", "workloads (--workload)", "machines (--machine)", "models"];
    let Some((first, _)) = panels.first() else { return Err(FigureError::NoBars) };
    let of = |s: &Setting| [&s.topology, &s.workload, &s.machine, &s.model].map(String::clone);
    let first = of(first);
    let all: Vec<[String; 4]> = panels.iter().map(|(setting, _)| of(setting)).collect();
    let same = |part: usize| all.iter().all(|parts| parts[part] == first[part]);
    let join = |parts: &[String; 4], wanted: bool| {
        let chosen = (0..4).filter(|part| same(*part) == wanted).map(|part| parts[part].as_str());
        chosen.collect::<Vec<_>>().join(", ")
    };
    if panels.len() > StackedBars::MOST_PANELS {
        let apart: BTreeSet<&str> =
            (0..4).filter(|part| !same(*part)).map(|part| CHOICES[part]).collect();
        let differ = apart.into_iter().collect::<Vec<_>>().join(" and ");
        return Err(FigureError::ManyPanels { count: panels.len(), differ });
    }
    for ((_, panel), parts) in panels.iter_mut().zip(&all) {
        panel.title = join(parts, false);
    }
    Ok(join(&first, true))
}
