//! Maps of the fastest algorithm of each case. The colour and the marker of a cell show the
//! algorithm. The strength of the colour shows how much faster it is than the second fastest.

use crate::appearance::{Appearance, Labels, LegendPlace};
use crate::draw::grid::{Grid, GridPlace};
use crate::draw::marker::marker;
use crate::draw::{Drawable, LegendRow, heading, remarks};
use crate::error::FigureError;
use crate::marks::scene::{
    Anchor, BLACK, Colour, Mark, PALE, Scene, ShapeStyle, Stroke, Text, WHITE,
};
use crate::marks::text::{width, wrapped};
use crate::marks::{Paper, Picture};
use crate::style::Styles;
use crate::titles::Titles;
use std::collections::BTreeSet;
use swapmeet_results::analysis::{
    Axis, MapCell, Margin, RowAxis, WinnerMap, WinnerMaps, winner_maps, winner_maps_over,
};
use swapmeet_results::units::count;
use swapmeet_results::{CHARGED_LESS_REMARK, Comparison, Record, compare, csv_table};

const MARGINS: [(Margin, f64, &str); 6] = [
    (Margin::Tied, 0.0, "not told apart"),
    (Margin::Under5, 0.2, "up to 5 %"),
    (Margin::Under25, 0.4, "up to 25 %"),
    (Margin::Under100, 0.65, "up to 100 %"),
    (Margin::Clear, 1.0, "more"),
    (Margin::Alone, 0.15, "no other algorithm"),
];

/// A figure of one or more maps, drawn one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct WinnerFigure {
    pub title: String,
    pub maps: Vec<WinnerMap>,
    pub map_titles: Vec<String>,
    pub names: Vec<String>,
    pub labels: Labels,
    pub styles: Styles,
    pub legend: LegendPlace,
    pub x_label: &'static str,
    pub shows_numbers: bool,
    pub remarks: Vec<String>,
    pub notes: Vec<String>,
}

impl WinnerFigure {
    pub fn from_rows(
        files: &[(String, Vec<Record>)],
        appearance: &Appearance<'_>,
    ) -> Result<Self, FigureError> {
        Self::of_comparison(&compare(files, None)?, None, appearance)
    }

    /// `axes` are those of columns and rows. By default, they depend on the cases
    /// ([`winner_maps`]).
    pub fn of_comparison(
        comparison: &Comparison,
        axes: Option<(Axis, Axis)>,
        appearance: &Appearance<'_>,
    ) -> Result<Self, FigureError> {
        let WinnerMaps { maps: all, single_groups } = match axes {
            Some((x, y)) => winner_maps_over(comparison, x, Some(y)),
            None => winner_maps(comparison),
        };
        // Cases of a single network and machine would be in two equal maps with one row each. Only
        // the map of networks is shown, and only if no larger map contains its cases.
        let is_single = |map: &WinnerMap| map.rows.len() == 1;
        let (single, mut maps): (Vec<WinnerMap>, Vec<WinnerMap>) =
            all.into_iter().partition(is_single);
        let shown: BTreeSet<usize> = maps.iter().flat_map(WinnerMap::groups).collect();
        let is_new = |map: &WinnerMap| !map.groups().any(|group| shown.contains(&group));
        let of_networks =
            |map: &WinnerMap| matches!(map.row_axis, RowAxis::Nodes | RowAxis::Values(_));
        maps.extend(single.into_iter().filter(|map| of_networks(map) && is_new(map)));
        if maps.is_empty() {
            let needed = match axes {
                Some((x, y)) => {
                    format!("a map needs rows with two values of {} or {}", x.label(), y.label())
                }
                None => "a map needs rows of two block sizes, or of two networks or machines, or with two values of another number".to_owned(),
            };
            return Err(FigureError::Nothing(needed));
        }
        let titles = Titles::new(maps.iter().map(|map| &map.settings))?;
        let names: BTreeSet<&str> = maps.iter().flat_map(WinnerMap::winners).collect();
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let lines = comparison.groups.iter().flat_map(|group| &group.lines);
        let all_names: BTreeSet<&str> = lines.map(|line| line.algorithm.as_str()).collect();
        let cells = || maps.iter().flat_map(|map| &map.cells).flatten().flatten();
        let marked = cells().filter(|cell| !cell.mark.is_empty());
        let marked: BTreeSet<&str> = marked.map(|cell| &*cell.winner.algorithm).collect();
        let labels = Labels::new(appearance, &all_names)?.marked(&marked);
        let styles = appearance.styles(all_names);
        let title = appearance.title.map_or(titles.common, str::to_owned);
        // Cells show their number of competitors, unless a remark states that it is always the
        // same.
        let numbers: BTreeSet<usize> = cells().map(|cell| cell.winner.competitors).collect();
        let mut remarks = comparison.rearrangement_remarks.clone();
        remarks.push(match numbers.first() {
            Some(number) if numbers.len() == 1 => {
                format!("In each cell, {} competed.", count(*number, "algorithm"))
            }
            _ => "The number in a cell says how many algorithms competed.".to_owned(),
        });
        let shown_workloads = maps
            .iter()
            .flat_map(WinnerMap::groups)
            .map(|group| comparison.groups[group].setting.workload.as_str());
        let x_label = maps[0].x_axis.label_of(shown_workloads);
        let workloads: BTreeSet<&str> = single_groups
            .iter()
            .map(|group| comparison.groups[*group].setting.workload.as_str())
            .collect();
        let notes = (!workloads.is_empty()).then(|| {
            let workloads: Vec<&str> = workloads.into_iter().collect();
            let of = match (axes, maps[0].x_axis) {
                (None, Axis::Block) => "another block size, network or machine".to_owned(),
                (_, x) => format!("another value of {} or {}", x.label(), maps[0].row_axis.label()),
            };
            let cases = count(single_groups.len(), "case");
            format!("not shown: {cases} without {of} ({})", workloads.join("; "))
        });
        Ok(Self {
            title,
            maps,
            map_titles: titles.panels,
            names,
            labels,
            styles,
            legend: appearance.legend,
            x_label,
            shows_numbers: numbers.len() > 1,
            remarks,
            notes: notes.into_iter().collect(),
        })
    }

    /// Omits a map if each of its cases is also in an earlier map.
    pub(crate) fn without_known_cases(mut self) -> Result<Self, FigureError> {
        let mut known = BTreeSet::new();
        self.maps.retain(|map| {
            let groups: Vec<usize> = map.groups().collect();
            let is_new = groups.iter().any(|group| !known.contains(group));
            known.extend(groups);
            is_new
        });
        let titles = Titles::new(self.maps.iter().map(|map| &map.settings))?;
        Ok(Self { title: titles.common, map_titles: titles.panels, ..self })
    }
}

impl Drawable for WinnerFigure {
    /// The columns are: map, row, size, the fastest algorithm and its mean time, the second fastest
    /// and its ratio, and the algorithms tied with the fastest. If an algorithm is charged less,
    /// there is also a remark.
    fn csv(&self) -> Result<String, csv::Error> {
        let x = match self.maps[0].x_axis {
            Axis::Block => "block_bytes",
            axis => axis.name(),
        };
        let columns = ["map", "row", x, "winner", "time_us", "second", "times_as_long", "level"];
        let has_remarks = self.cells().any(|(.., cell)| !cell.mark.is_empty());
        let columns = columns.into_iter().chain(has_remarks.then_some("remark"));
        let cells = self.cells().map(|(map, row, x, MapCell { winner, mark, .. })| {
            let second = winner.second.as_ref();
            let ratio = second
                .and_then(|s| s.times_as_long.as_ref())
                .map(|r| r.value.to_string())
                .unwrap_or_default();
            let second = second.map(|s| s.algorithm.clone()).unwrap_or_default();
            let (time, level) = (winner.time.mean.to_string(), winner.tied.join(" "));
            let remark = if mark.is_empty() { "" } else { CHARGED_LESS_REMARK };
            let cells = [
                map.settings.title(),
                row.clone(),
                x.to_string(),
                winner.algorithm.clone(),
                time,
                second,
                ratio,
                level,
            ];
            cells.into_iter().chain(has_remarks.then(|| remark.to_owned())).collect()
        });
        csv_table([columns.map(str::to_owned).collect::<Vec<_>>()].into_iter().chain(cells))
    }

    fn remarks(&self) -> Vec<String> {
        // The other remarks are drawn in the figure, so only the notes are returned.
        self.notes.clone()
    }

    fn legend(&self, paper: &Paper) -> (LegendPlace, f64) {
        let font = paper.font();
        let names = self.names.iter().map(|name| 1.4 * font + width(self.labels.name(name), font));
        let margins = self.margins().map(|(_, _, words)| 2.0 * font + width(words, font));
        let words = width(MARGIN_WORDS, font);
        (self.legend, names.chain(margins).fold(words, f64::max).min(0.4 * paper.width(1)))
    }

    fn picture(&self, paper: &Paper) -> Picture {
        let font = paper.font();
        let mut scene = Scene::new(paper.width(1), font / 12.0);
        let top = heading(&mut scene, &self.title, font);
        let legend = |scene: &mut Scene, space: (f64, f64), top: f64| {
            self.draw_legend(scene, space, top + font, font)
        };
        let body = |scene: &mut Scene, right: f64, top: f64| {
            let maps = self.maps.iter().zip(&self.map_titles);
            maps.fold(top, |top, (map, title)| {
                self.map(scene, (map, title), right, top + font, font)
            })
        };
        let (place, wide) = Drawable::legend(self, paper);
        let top = place.arrange(&mut scene, (top, font), wide, legend, body);
        scene.height = remarks(&mut scene, &self.remarks, top, font) + font;
        let title = if self.title.is_empty() { "fastest algorithms" } else { &self.title };
        Picture::new(scene, title, paper)
    }
}

const MARGIN_WORDS: &str = "the next takes longer by:";

impl WinnerFigure {
    fn cells(&self) -> impl Iterator<Item = (&WinnerMap, &String, f64, &MapCell)> {
        self.maps.iter().flat_map(|map| {
            map.rows.iter().zip(&map.cells).flat_map(move |(row, cells)| {
                let here =
                    map.xs.iter().zip(cells).filter_map(|(x, cell)| Some((*x, cell.as_ref()?)));
                here.map(move |(x, cell)| (map, row, x, cell))
            })
        })
    }

    /// Returns the margins. `Alone` (no competitors) is included only if a cell has it.
    fn margins(&self) -> impl Iterator<Item = (Margin, f64, &'static str)> {
        let is_alone = self.cells().any(|(_, _, _, cell)| cell.winner.margin() == Margin::Alone);
        MARGINS.into_iter().filter(move |(margin, ..)| is_alone || *margin != Margin::Alone)
    }

    fn map(
        &self,
        scene: &mut Scene,
        (map, title): (&WinnerMap, &str),
        right: f64,
        top: f64,
        font: f64,
    ) -> f64 {
        let small = 0.9 * font;
        let grid = Grid {
            title,
            rows: &map.rows,
            columns: map.xs.len(),
            least_height: 2.2,
            name: matches!(map.row_axis, RowAxis::Values(_)).then(|| map.row_axis.label()),
        };
        let place = grid.draw(scene, (right, top), font, |scene, row, column, area| {
            let at = (map.rows[row].as_str(), column);
            self.cell(scene, map, at, map.cells[row][column].as_ref(), area);
        });
        let GridPlace { left, wide, bottom: top } = place;
        // So that labels do not overlap, every column, every second column, etc. has one.
        let labels: Vec<String> = map.xs.iter().map(|x| map.x_axis.text(*x)).collect();
        let widest = labels.iter().map(|words| width(words, small)).fold(0.0, f64::max);
        let stride = ((widest + 0.5 * font) / wide).ceil().max(1.0) as usize;
        for (column, words) in labels.iter().enumerate().step_by(stride) {
            let at = left + (column as f64 + 0.5) * wide;
            if at + width(words, small) / 2.0 < right {
                scene.text((at, top + 1.4 * font), words, small, Anchor::Middle);
            }
        }
        let middle = (left + right - font) / 2.0;
        let lines = wrapped(self.x_label, font, right - left);
        for (number, line) in lines.iter().enumerate() {
            let at = (middle, top + (3.0 + 1.2 * number as f64) * font);
            scene.text(at, line, font, Anchor::Middle);
        }
        top + (2.1 + 1.2 * lines.len() as f64) * font
    }

    fn cell(
        &self,
        scene: &mut Scene,
        map: &WinnerMap,
        at: (&str, usize),
        cell: Option<&MapCell>,
        place: [f64; 4],
    ) {
        let [left, top, right, bottom] = place;
        let gap = 0.03 * (bottom - top);
        let inner = [left + gap, top + gap, right - gap, bottom - gap];
        let size = map.x_axis.text(map.xs[at.1]);
        let Some(MapCell { winner, mark, .. }) = cell else {
            return scene.filled(
                inner,
                PALE,
                Some(format!("{}, {size}: no algorithm has a time here", at.0)),
            );
        };
        let style = self.styles.get(&winner.algorithm);
        let margin = winner.margin();
        let strength = MARGINS
            .iter()
            .find(|(known, ..)| *known == margin)
            .map_or(1.0, |(_, strength, _)| *strength);
        let mut hint = format!(
            "{}, {size}: {}; {}",
            at.0,
            winner.in_words(),
            count(winner.competitors, "algorithm")
        );
        if !winner.tied.is_empty() {
            hint += &format!("; not told apart from {}", winner.tied.join(", "));
        }
        scene.filled(inner, style.colour.paler(strength), Some(hint));
        match margin {
            Margin::Alone => hatch(scene, inner, style.colour.paler(0.5)),
            Margin::Tied => border(scene, inner, style.colour),
            Margin::Under5 | Margin::Under25 | Margin::Under100 | Margin::Clear => {}
        }
        // If the figure is printed in grey, the marker shows the algorithm.
        let colour = if strength > 0.5 { WHITE } else { style.colour };
        let radius = 0.18 * (bottom - top).min(right - left);
        let style = crate::style::Style { colour, ..style };
        scene.marks.push(marker(style, ((left + right) / 2.0, (top + bottom) / 2.0), radius, None));
        if !mark.is_empty() {
            let size = (0.4 * (bottom - top)).min(0.55 * (right - left));
            scene.marks.push(Mark::Text(Text {
                at: (right - 3.0 * gap, top + 2.0 * gap + 0.76 * size),
                words: mark.trim().to_owned(),
                size,
                anchor: Anchor::End,
                turned: false,
                halo: true,
            }));
        }
        if self.shows_numbers {
            let size = (0.3 * (bottom - top)).min(0.55 * (right - left));
            let at = (right - 2.0 * gap, bottom - 2.0 * gap);
            let number = winner.competitors.to_string();
            // The text has a white edge (`halo`), so that it is readable on a dark cell.
            scene.marks.push(Mark::Text(Text {
                at,
                words: number,
                size,
                anchor: Anchor::End,
                turned: false,
                halo: true,
            }));
        }
    }

    fn draw_legend(&self, scene: &mut Scene, space: (f64, f64), top: f64, font: f64) -> f64 {
        let mut row = LegendRow::new(space, top + font, font);
        let names = self.names.iter().map(|name| 1.4 * font + width(self.labels.name(name), font));
        let whole = row.right;
        row.balance(&names.collect::<Vec<_>>());
        for name in &self.names {
            let style = self.styles.get(name);
            let (x, y) = row.entry(scene, 1.4 * font, self.labels.name(name));
            scene.marks.push(marker(style, (x + 0.5 * font, y - 0.35 * font), 0.42 * font, None));
        }
        row.next();
        row.right = whole;
        let margins = self.margins().map(|(_, _, words)| 2.0 * font + width(words, font));
        let widths: Vec<f64> = [width(MARGIN_WORDS, font)].into_iter().chain(margins).collect();
        row.balance(&widths);
        row.entry(scene, 0.0, MARGIN_WORDS);
        for (margin, strength, words) in self.margins() {
            let (x, y) = row.entry(scene, 2.0 * font, words);
            let sample = [x, y - 0.8 * font, x + 1.4 * font, y + 0.1 * font];
            scene.filled(sample, BLACK.paler(0.35), None);
            let inset = 0.06 * font;
            let inner =
                [sample[0] + inset, sample[1] + inset, sample[2] - inset, sample[3] - inset];
            scene.filled(inner, BLACK.paler(strength), None);
            if margin == Margin::Alone {
                hatch(scene, inner, BLACK.paler(0.5));
            }
        }
        row.end()
    }
}

fn border(scene: &mut Scene, [left, top, right, bottom]: [f64; 4], colour: Colour) {
    let stroke = Stroke { colour, width: 0.04 * (bottom - top), dashes: &[] };
    let look = ShapeStyle { fill: None, stroke: Some(stroke) };
    let points = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
    scene.marks.push(Mark::Lines { points, closed: true, look, hint: None });
}

fn hatch(scene: &mut Scene, [left, top, right, bottom]: [f64; 4], colour: Colour) {
    let (high, wide) = (bottom - top, right - left);
    let step = 0.25 * high;
    // Lines from (x, bottom) to (x + high, top) are cut off at both sides of the area.
    let lines = ((wide + high) / step) as u32;
    for number in 1..=lines {
        let x = left - high + f64::from(number) * step;
        let (from, to) = ((left - x).max(0.0), (right - x).min(high));
        if from < to {
            let points = vec![(x + from, bottom - from), (x + to, bottom - to)];
            scene.line(points, colour, 0.04 * high, &[]);
        }
    }
}
