//! Figures of stacked bars: a panel for each group of cases, with a bar for each algorithm.

use crate::appearance::{Appearance, Labels, LegendPlace};
use crate::draw::scale::{Base, Scale, Tick};
use crate::draw::{Drawable, LegendRow, heading, panel_title, remarks, row_label};
use crate::error::FigureError;
use crate::marks::scene::{Anchor, Colour, GREY, PALE, Scene};
use crate::marks::text::{width, wrapped};
use crate::marks::{Paper, Picture};
use crate::titles::Titles;
use std::collections::BTreeSet;
use swapmeet_results::analysis::CommonSettings;
use swapmeet_results::units::{Unit, duration};
use swapmeet_results::{Group, Kind, Record, Status, compare, csv_table, parts};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StackKind {
    /// The parts of completion time, such as start-up and transmission.
    Parts,
    /// The bytes that all links carry: the sent bytes, once for each link of their route.
    Traffic,
}

impl StackKind {
    pub(crate) fn names(self) -> Vec<&'static str> {
        match self {
            Self::Parts => Kind::PARTS.map(Kind::name).to_vec(),
            Self::Traffic => vec!["bytes sent", "over further links"],
        }
    }

    pub(crate) fn columns(self) -> Vec<String> {
        match self {
            Self::Parts => self.names().iter().map(|name| format!("{name}_us")).collect(),
            Self::Traffic => vec!["bytes".to_owned(), "further_link_bytes".to_owned()],
        }
    }

    /// Returns the mean of each piece over the rows, and the sum of these means. The mean is `None`
    /// if no row has this piece. Returns `None` if no row has any piece.
    pub(crate) fn means<'a>(
        self,
        rows: impl Iterator<Item = &'a Record>,
    ) -> Option<(Vec<Option<f64>>, f64)> {
        match self {
            Self::Parts => {
                let parts = parts::mean(rows);
                Some((Kind::PARTS.map(|kind| parts[kind]).to_vec(), parts::total(&parts)?))
            }
            Self::Traffic => {
                let (mut sums, mut count) = ([0.0; 2], 0.0);
                let sent = rows.filter_map(|row| row.total_bytes.zip(row.total_hop_bytes));
                for (once, all) in sent.map(|(once, all)| (once as f64, all as f64)) {
                    sums[0] += once;
                    sums[1] += (all - once).max(0.0);
                    count += 1.0;
                }
                let pieces = sums.map(|sum| sum / count);
                (count > 0.0).then(|| (pieces.map(Some).to_vec(), pieces.iter().sum()))
            }
        }
    }

    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Parts => Unit::Time,
            Self::Traffic => Unit::Bytes,
        }
    }

    pub(crate) fn text(self, value: f64) -> String {
        match self.unit() {
            Unit::Time => duration(value),
            unit => unit.text(value),
        }
    }

    pub(crate) fn axis(self) -> &'static str {
        match self {
            Self::Parts => "completion time",
            Self::Traffic => "bytes carried by all links",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Parts => "where time goes",
            Self::Traffic => "bytes over links",
        }
    }
}

/// The colours of the pieces. In a grey print, neighbouring colours can be distinguished.
const COLOURS: [Colour; 7] = [
    Colour(0x00, 0x72, 0xb2),
    Colour(0x8f, 0xd0, 0xf5),
    Colour(0x00, 0x6d, 0x50),
    Colour(0xe6, 0xb8, 0xd0),
    Colour(0x5a, 0x45, 0x00),
    Colour(0xf2, 0x9d, 0x55),
    Colour(0x6e, 0x6e, 0x6e),
];

/// The scales of the panels of stacked bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Scales {
    /// All panels have the same scale.
    #[default]
    Shared,
    /// Each panel has its own scale.
    Free,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub name: String,
    /// The mean of each piece over the rows, in the order in which [`StackKind`] names the pieces.
    pub pieces: Vec<Option<f64>>,
    pub sum: f64,
}

/// The bars of cases that differ only in the algorithm. The shortest bar is the first.
#[derive(Debug, Clone, PartialEq)]
pub struct BarPanel {
    pub title: String,
    pub bars: Vec<Bar>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StackedBars {
    pub stack: StackKind,
    pub scales: Scales,
    pub legend: LegendPlace,
    pub title: String,
    pub panels: Vec<BarPanel>,
    pub labels: Labels,
    pub remarks: Vec<String>,
}

impl StackedBars {
    pub fn from_rows(
        stack: StackKind,
        scales: Scales,
        files: &[(String, Vec<Record>)],
        appearance: &Appearance<'_>,
    ) -> Result<Self, FigureError> {
        let comparison = compare(files, None)?;
        let mut panels: Vec<(&Group, BarPanel)> = Vec::new();
        for group in &comparison.groups {
            let mut bars: Vec<Bar> = Vec::new();
            for line in &group.lines {
                let rows = line.records(files).filter(|row| row.status == Status::Ok);
                let Some((pieces, sum)) = stack.means(rows) else { continue };
                bars.push(Bar { name: line.algorithm.clone(), pieces, sum });
            }
            bars.sort_by(|a, b| a.sum.total_cmp(&b.sum));
            if !bars.is_empty() {
                panels.push((group, BarPanel { title: String::new(), bars }));
            }
        }
        if panels.is_empty() {
            return Err(FigureError::Nothing("no row has values for the bars".to_owned()));
        }
        let settings = |group: &Group| CommonSettings::of(&group.setting.borrowed());
        let settings: Vec<_> = panels.iter().map(|(group, _)| settings(group)).collect();
        let titles = Titles::new(settings.iter())?;
        for ((_, panel), title) in panels.iter_mut().zip(titles.panels) {
            panel.title = title;
        }
        let names =
            panels.iter().flat_map(|(_, panel)| &panel.bars).map(|bar| bar.name.as_str()).collect();
        let lines =
            panels.iter().flat_map(|(group, _)| group.lines.iter().map(move |l| (group, l)));
        let marked =
            lines.filter(|(group, line)| stack == StackKind::Parts && group.is_charged_less(line));
        let marked: BTreeSet<&str> = marked.map(|(_, line)| line.algorithm.as_str()).collect();
        let labels = Labels::new(appearance, &names)?.marked(&marked);
        let title = appearance.title.map_or(titles.common, str::to_owned);
        let panels = panels.into_iter().map(|(_, panel)| panel).collect();
        Ok(Self {
            stack,
            scales,
            legend: appearance.legend,
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
    /// If a bar does not have a piece, the cell of this piece is empty.
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
            let name = self.labels.unmarked(&bar.name);
            [panel.title.clone(), name.to_owned()].into_iter().chain(pieces).collect()
        });
        csv_table([columns].into_iter().chain(bars))
    }

    fn legend(&self, paper: &Paper) -> (LegendPlace, f64) {
        let font = paper.font();
        let entry = |(_, name): &(usize, &str)| 1.6 * font + width(name, font);
        (self.legend, self.shown_pieces().iter().map(entry).fold(0.0, f64::max))
    }

    fn picture(&self, paper: &Paper) -> Picture {
        let font = paper.font();
        let mut scene = Scene::new(paper.width(1), font / 12.0);
        let top = heading(&mut scene, &self.title, font);
        let pieces = self.shown_pieces();
        let (place, wide) = Drawable::legend(self, paper);
        let legend = |scene: &mut Scene, space: (f64, f64), top: f64| {
            let mut row = LegendRow::new(space, top + 1.4 * font, font);
            for (piece, name) in &pieces {
                let (x, y) = row.entry(scene, 1.6 * font, name);
                let sample = [x, y - 0.8 * font, x + 1.2 * font, y + 0.1 * font];
                scene.filled(sample, COLOURS[*piece], None);
            }
            row.end()
        };
        let body = |scene: &mut Scene, right: f64, top: f64| {
            let mut top = top;
            let mut columns = self.columns(right, &self.panels, font);
            for (number, panel) in self.panels.iter().enumerate() {
                if self.scales == Scales::Free {
                    columns = self.columns(right, std::slice::from_ref(panel), font);
                }
                top = self.panel(scene, panel, &columns, top + 0.6 * font, font);
                if self.scales == Scales::Free || number + 1 == self.panels.len() {
                    top = self.axis(scene, &columns, top, font);
                }
            }
            top
        };
        let top = place.arrange(&mut scene, (top, font), wide, legend, body);
        scene.height = remarks(&mut scene, &self.remarks, top, font) + font;
        Picture::new(
            scene,
            if self.title.is_empty() { self.stack.title() } else { &self.title },
            paper,
        )
    }
}

/// The columns of a panel: names on the left, then bars, with the sums at their ends.
struct Columns {
    right: f64,
    scale: Scale,
    ticks: Vec<Tick>,
}

impl StackedBars {
    fn shown_pieces(&self) -> Vec<(usize, &'static str)> {
        let names = self.stack.names().into_iter().enumerate();
        names.filter(|(number, _)| self.has_piece(*number)).collect()
    }

    fn has_piece(&self, number: usize) -> bool {
        let mut bars = self.panels.iter().flat_map(|panel| &panel.bars);
        bars.any(|bar| bar.pieces[number].is_some_and(|piece| piece > 0.0))
    }

    fn columns(&self, whole: f64, panels: &[BarPanel], font: f64) -> Columns {
        let bars = || panels.iter().flat_map(|panel| &panel.bars);
        let longest = |lengths: &mut dyn Iterator<Item = f64>| lengths.fold(0.0, f64::max);
        let name = |bar: &Bar| width(self.labels.name(&bar.name), font);
        let names = longest(&mut bars().map(name)).min(0.35 * whole);
        let sums = longest(&mut bars().map(|bar| width(&self.stack.text(bar.sum), 0.9 * font)));
        let left = font + names + 0.6 * font;
        let right = (whole - sums - 2.0 * font).max(left + font);
        let most = longest(&mut bars().map(|bar| bar.sum));
        let high = if most > 0.0 { most } else { 1.0 };
        let scale = Scale { log: false, low: 0.0, high, ends: (left, right) };
        let text = |value: f64, digits: usize| self.stack.unit().text_to(value, digits);
        let ticks = scale.horizontal_ticks(Base::for_unit(self.stack.unit()), 0.9 * font, text);
        Columns { right: whole, scale, ticks }
    }

    fn panel(
        &self,
        scene: &mut Scene,
        panel: &BarPanel,
        columns: &Columns,
        top: f64,
        font: f64,
    ) -> f64 {
        let right = columns.right;
        let mut top =
            panel_title(scene, &panel.title, (right / 2.0, right - 2.0 * font), top, font);
        top += 0.6 * font;
        let left = columns.scale.ends.0;
        let names: Vec<Vec<String>> = panel
            .bars
            .iter()
            .map(|bar| wrapped(self.labels.name(&bar.name), font, left - 1.5 * font))
            .collect();
        let high = |lines: &Vec<String>| (0.5 + 1.2 * lines.len().max(1) as f64) * font;
        let foot = top + names.iter().map(high).sum::<f64>();
        // The lines at the ticks are drawn first, so that bars and sums are on top of them.
        for tick in columns.ticks.iter().filter(|tick| !tick.label.is_empty()) {
            let x = columns.scale.at(tick.value);
            scene.line(vec![(x, top), (x, foot)], PALE, 0.07 * font, &[]);
        }
        scene.line(vec![(left, top), (left, foot)], GREY, 0.07 * font, &[]);
        let pieces = self.stack.names();
        for (bar, lines) in panel.bars.iter().zip(names) {
            let middle = top + high(&lines) / 2.0;
            let base = middle + 0.33 * font;
            row_label(scene, &lines, (left - 0.6 * font, base), font, 1.2 * font);
            let (mut sum, mut from) = (0.0, left);
            for ((name, value), colour) in pieces.iter().zip(&bar.pieces).zip(COLOURS) {
                let Some(value) = value.filter(|value| *value > 0.0) else { continue };
                sum += value;
                let to = columns.scale.at(sum);
                let share = value / bar.sum * 100.0;
                let hint = format!(
                    "{}: {name} {}, {share:.1} %",
                    self.labels.name(&bar.name),
                    self.stack.text(value)
                );
                let area = [from, middle - 0.5 * font, to, middle + 0.5 * font];
                scene.filled(area, colour, Some(hint));
                from = to;
            }
            let at = (from + 0.5 * font, middle + 0.33 * font);
            scene.text(at, &self.stack.text(bar.sum), 0.9 * font, Anchor::Start);
            top += high(&lines);
        }
        foot
    }

    fn axis(&self, scene: &mut Scene, columns: &Columns, top: f64, font: f64) -> f64 {
        let (left, right) = columns.scale.ends;
        scene.line(vec![(left, top), (right, top)], GREY, 0.07 * font, &[]);
        for tick in columns.ticks.iter().filter(|tick| !tick.label.is_empty()) {
            let x = columns.scale.at(tick.value);
            scene.line(vec![(x, top), (x, top + 0.3 * font)], GREY, 0.07 * font, &[]);
            scene.text((x, top + 1.4 * font), &tick.label, 0.9 * font, Anchor::Middle);
        }
        let at = ((left + right) / 2.0, top + 2.8 * font);
        scene.text(at, self.stack.axis(), font, Anchor::Middle);
        top + 3.2 * font
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_split_into_two_pieces() {
        let row = |bytes: Option<[u128; 2]>| {
            let [total_bytes, total_hop_bytes] = [0, 1].map(|i| bytes.map(|bytes| bytes[i]));
            Record { total_bytes, total_hop_bytes, ..Record::default() }
        };
        let rows = [row(Some([100, 250])), row(None), row(Some([100, 350]))];
        assert_eq!(
            StackKind::Traffic.means(rows.iter()),
            Some((vec![Some(100.0), Some(200.0)], 300.0))
        );
        assert_eq!(StackKind::Traffic.means([row(None)].iter()), None);
    }
}
