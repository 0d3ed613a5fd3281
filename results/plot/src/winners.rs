//! Figures that show the fastest algorithm of each case as a map. The horizontal axis shows block
//! sizes, and the vertical axis shows networks or machines. The colour and the marker of a cell
//! show its fastest algorithm. The strength of the colour shows the margin by which this algorithm
//! is faster than the second fastest algorithm.

use crate::draw::marker::marker;
use crate::draw::{Drawable, LegendRow, heading, remarks};
use crate::figure::FigureError;
use crate::labels::Labels;
use crate::marks::scene::{Anchor, BLACK, Colour, PALE, Scene, WHITE};
use crate::marks::text::{width, wrapped};
use crate::marks::{Paper, Picture};
use crate::style::Styles;
use std::collections::BTreeSet;
use swapmeet_results::analysis::{
    Axis, MapCell, Margin, RowAxis, WinnerMap, WinnerMaps, winner_maps,
};
use swapmeet_results::units::count;
use swapmeet_results::{Record, compare, csv_table};

/// For each margin, the strength of the colour and the label in the legend.
const MARGINS: [(Margin, f64, &str); 5] = [
    (Margin::Tied, 0.0, "not told apart"),
    (Margin::Under5, 0.2, "up to 5 %"),
    (Margin::Under25, 0.4, "up to 25 %"),
    (Margin::Under100, 0.65, "up to 100 %"),
    (Margin::Clear, 1.0, "more"),
];

/// A figure of one or more maps of the fastest algorithms, drawn one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct WinnerFigure {
    /// The title. Empty if the user gave none.
    pub title: String,
    pub maps: Vec<WinnerMap>,
    /// All algorithms that are the fastest in some case.
    pub names: Vec<String>,
    pub labels: Labels,
    pub styles: Styles,
    /// Remarks that are part of the figure. For example, a remark says that the machine charges
    /// only some of the algorithms for rearrangement.
    pub remarks: Vec<String>,
    /// Notes that name what is not shown, with the reason.
    pub notes: Vec<String>,
}

impl WinnerFigure {
    /// The maximum number of maps.
    pub const MOST_MAPS: usize = 12;

    /// Makes maps from the rows of `files`, which are pairs of a file name and its rows.
    pub fn of(
        files: &[(String, Vec<Record>)],
        title: Option<&str>,
        labels: &[(String, String)],
    ) -> Result<Self, FigureError> {
        let comparison = compare(files, None)?;
        let WinnerMaps { maps: all, single_groups } = winner_maps(&comparison);
        // If all cases are on one network and one machine, there are two equal maps with a single
        // row: a map of networks and a map of machines. Only the map of networks is shown, and only
        // if no larger map contains its cases.
        let is_single = |map: &WinnerMap| map.rows.len() == 1;
        let mut maps: Vec<WinnerMap> = all.iter().filter(|map| !is_single(map)).cloned().collect();
        let shown: BTreeSet<usize> = maps.iter().flat_map(WinnerMap::groups).collect();
        let is_new = |map: &WinnerMap| !map.groups().any(|group| shown.contains(&group));
        let of_one_row = |map: &WinnerMap| map.row_axis == RowAxis::Nodes && is_single(map);
        maps.extend(all.into_iter().filter(|map| of_one_row(map) && is_new(map)));
        if maps.is_empty() {
            return Err(FigureError::NoMap);
        }
        if maps.len() > Self::MOST_MAPS {
            let differ = "topologies (--topology) or machines (--machine)".to_owned();
            return Err(FigureError::ManyPanels { count: maps.len(), differ });
        }
        let names: BTreeSet<&str> = maps.iter().flat_map(WinnerMap::winners).collect();
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let lines = comparison.groups.iter().flat_map(|group| &group.lines);
        let everyone: BTreeSet<&str> = lines.map(|line| line.algorithm.as_str()).collect();
        let labels = Labels::of(labels, &everyone)?;
        // Algorithms that are never the fastest also get styles, so that a figure of curves gives
        // each algorithm the same style as the map.
        let styles = Styles::of(everyone);
        let title = title.unwrap_or_default().to_owned();
        let workloads: BTreeSet<&str> = single_groups
            .iter()
            .map(|group| comparison.groups[*group].setting.workload.as_str())
            .collect();
        let notes = (!workloads.is_empty()).then(|| {
            let workloads: Vec<&str> = workloads.into_iter().collect();
            format!(
                "not shown: {} without another block size, network or machine ({})",
                count(single_groups.len(), "case"),
                workloads.join("; ")
            )
        });
        Ok(Self {
            title,
            maps,
            names,
            labels,
            styles,
            remarks: comparison.rearrangement_remarks,
            notes: notes.into_iter().collect(),
        })
    }
}

impl Drawable for WinnerFigure {
    /// Formats all cells as CSV. The columns are: map, row, size, the fastest algorithm and its
    /// mean time, the second fastest algorithm and its ratio, and the algorithms tied with the
    /// fastest.
    fn csv(&self) -> Result<String, csv::Error> {
        let columns =
            ["map", "row", "block_bytes", "winner", "time_us", "second", "times_as_long", "level"];
        let cells = self.cells().map(|(map, row, x, MapCell { winner, .. })| {
            let second = winner.second.as_ref();
            let ratio = second
                .and_then(|s| s.times_as_long.as_ref())
                .map(|r| r.value.to_string())
                .unwrap_or_default();
            let second = second.map(|s| s.algorithm.clone()).unwrap_or_default();
            let (time, level) = (winner.time.mean.to_string(), winner.tied.join(" "));
            [
                map.title.clone(),
                row.clone(),
                x.to_string(),
                winner.algorithm.clone(),
                time,
                second,
                ratio,
                level,
            ]
        });
        csv_table([columns.map(str::to_owned)].into_iter().chain(cells))
    }

    fn remarks(&self) -> Vec<String> {
        // The remarks are not returned here, because they are drawn in the figure.
        self.notes.clone()
    }

    fn picture(&self, paper: &Paper) -> Picture {
        let font = paper.font();
        let mut scene = Scene::new(paper.width(1), font / 12.0);
        let mut top = heading(&mut scene, &self.title, font);
        for map in &self.maps {
            top = self.map(&mut scene, map, top + font, font);
        }
        top = self.legend(&mut scene, top + font, font);
        scene.height = remarks(&mut scene, &self.remarks, top, font) + font;
        let title = if self.title.is_empty() { "fastest algorithms" } else { &self.title };
        Picture::new(scene, title, paper)
    }
}

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

    /// Draws a map whose upper end is `top`. Returns the y coordinate of its lower end.
    fn map(&self, scene: &mut Scene, map: &WinnerMap, top: f64, font: f64) -> f64 {
        let (small, high) = (0.9 * font, 2.2 * font);
        let mut top = top;
        for line in wrapped(&map.title, font, scene.width - 2.0 * font) {
            top += 1.3 * font;
            scene.text((scene.width / 2.0, top), &line, font, Anchor::Middle);
        }
        top += 0.7 * font;
        // Draw the rows. Each has its label, then its cells.
        let longest = map.rows.iter().map(|row| width(row, small)).fold(0.0, f64::max);
        let left = font + longest.min(0.4 * scene.width) + 0.6 * font;
        let wide = (scene.width - font - left) / map.xs.len().max(1) as f64;
        for (row, cells) in map.rows.iter().zip(&map.cells) {
            let lines = wrapped(row, small, left - 1.5 * font);
            let first = top + high / 2.0 + 0.33 * font - 0.55 * font * (lines.len() as f64 - 1.0);
            for (number, line) in lines.iter().enumerate() {
                scene.text(
                    (left - 0.6 * font, first + 1.1 * font * number as f64),
                    line,
                    small,
                    Anchor::End,
                );
            }
            for (column, cell) in cells.iter().enumerate() {
                let x = left + column as f64 * wide;
                self.cell(scene, map, (row, column), cell.as_ref(), [x, top, x + wide, top + high]);
            }
            top += high;
        }
        // Write the block sizes below the columns, but omit a label that would overlap the one
        // before it.
        let mut free = 0.0;
        for (column, x) in map.xs.iter().enumerate() {
            let (words, at) = (Axis::Block.text(*x), left + (column as f64 + 0.5) * wide);
            let half = width(&words, small) / 2.0;
            if at - half > free {
                scene.text((at, top + 1.4 * font), &words, small, Anchor::Middle);
                free = at + half + 0.5 * font;
            }
        }
        scene.text(
            ((left + scene.width - font) / 2.0, top + 3.0 * font),
            Axis::Block.label(),
            font,
            Anchor::Middle,
        );
        top + 3.3 * font
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
        let size = Axis::Block.text(map.xs[at.1]);
        let Some(MapCell { winner, .. }) = cell else {
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
        let mut hint = format!("{}, {size}: {}", at.0, winner.in_words());
        if !winner.tied.is_empty() {
            hint += &format!("; not told apart from {}", winner.tied.join(", "));
        }
        scene.filled(inner, style.colour.paler(strength), Some(hint));
        // The marker identifies the algorithm if the figure is printed in grey.
        let colour = if strength > 0.5 { WHITE } else { style.colour };
        let radius = 0.18 * (bottom - top).min(right - left);
        let style = crate::style::Style { colour, ..style };
        scene.marks.push(marker(style, ((left + right) / 2.0, (top + bottom) / 2.0), radius, None));
    }

    /// Draws the legend of algorithms and margins. Returns the y coordinate of its lower end.
    fn legend(&self, scene: &mut Scene, top: f64, font: f64) -> f64 {
        let mut row = LegendRow::new(scene, top + font, font);
        for name in &self.names {
            let style = self.styles.get(name);
            let words = self.labels.name(name);
            let (x, y) = row.place(1.4 * font + width(words, font));
            scene.marks.push(marker(style, (x + 0.5 * font, y - 0.35 * font), 0.42 * font, None));
            scene.text((x + 1.4 * font, y), words, font, Anchor::Start);
        }
        row.next();
        let words = "the next takes longer by:";
        let (x, y) = row.place(width(words, font));
        scene.text((x, y), words, font, Anchor::Start);
        for (_, strength, words) in MARGINS {
            let (x, y) = row.place(2.0 * font + width(words, font));
            let sample = [x, y - 0.8 * font, x + 1.4 * font, y + 0.1 * font];
            scene.filled(sample, BLACK.paler(0.35), None);
            let inset = 0.06 * font;
            let inner =
                [sample[0] + inset, sample[1] + inset, sample[2] - inset, sample[3] - inset];
            scene.filled(inner, Colour(0, 0, 0).paler(strength), None);
            scene.text((x + 2.0 * font, y), words, font, Anchor::Start);
        }
        row.end()
    }
}
