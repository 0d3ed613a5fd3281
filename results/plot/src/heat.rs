//! Heat maps of any column of the rows over two other columns. The colour of a cell and the text in
//! it show the value.

use crate::appearance::{Appearance, LegendPlace};
use crate::draw::grid::{Grid, GridPlace};
use crate::draw::{Drawable, LegendRow, heading, remarks};
use crate::error::FigureError;
use crate::marks::scene::{Anchor, Colour, PALE, Scene};
use crate::marks::text::width;
use crate::marks::{Paper, Picture};
use crate::titles::Titles;
use std::collections::BTreeSet;
use swapmeet_core::network::topology::kind;
use swapmeet_results::analysis::CommonSettings;
use swapmeet_results::units::{Unit, count};
use swapmeet_results::{Record, Status, columns, csv_table, grouped};
use swapmeet_workloads::CurveAxis;

/// The colour of the largest value. Text in black is readable on the strongest mixture with white.
const COLOUR: Colour = Colour(0x00, 0x72, 0xb2);
/// The proportion of [`COLOUR`] in the mixture with white, for the least and for the largest value.
const SHARES: (f64, f64) = (0.06, 0.7);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeatColumns<'a> {
    pub value: &'a str,
    pub x: &'a str,
    pub y: &'a str,
}

/// A heat map of cases that differ only in the columns of both axes.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatPanel {
    pub title: String,
    pub xs: Vec<String>,
    /// The labels of the vertical axis, from top to bottom.
    pub ys: Vec<String>,
    /// The means of the values, by row and column; `None` if no row has a value.
    pub cells: Vec<Vec<Option<f64>>>,
}

/// A figure of heat maps with a common scale, drawn one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatFigure {
    pub title: String,
    pub value: String,
    pub x: String,
    pub y: String,
    pub panels: Vec<HeatPanel>,
    pub legend: LegendPlace,
    /// The least and the largest value in all cells.
    pub range: (f64, f64),
    /// Whether colours are proportional to the logarithms of the values.
    pub log: bool,
    pub notes: Vec<String>,
}

/// The settings that all rows of a panel have in common. Columns that vary along an axis are empty.
/// If an axis is the number of nodes, `topology` is the family of the topologies. If an axis is the
/// block size, `workload` is the workload without the block size.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PanelKey {
    algorithm: String,
    settings: CommonSettings,
}

impl PanelKey {
    fn new(row: &Record, axes: [&str; 2]) -> Self {
        let is_axis = |name: &str| axes.contains(&name);
        let unless = |name: &str, text: &str| {
            if is_axis(name) { String::new() } else { text.to_owned() }
        };
        let topology = if is_axis("nodes") { kind(&row.topology) } else { row.topology.clone() };
        let split = CurveAxis::BlockSize.split(&row.workload).filter(|_| is_axis("block_bytes"));
        let workload = split.map_or_else(|| row.workload.clone(), |(_, workload)| workload);
        let own = CommonSettings::of(&row.case().setting);
        // A machine determines its model. If one of them is an axis, both vary within a panel.
        let is_of_machine = is_axis("machine") || is_axis("model");
        let of_machine = |text: String| if is_of_machine { String::new() } else { text };
        let settings = CommonSettings {
            topology: unless("topology", &topology),
            workload: unless("workload", &workload),
            machine: of_machine(own.machine),
            model: of_machine(own.model),
            inputs: own.inputs,
        };
        Self { algorithm: unless("algorithm", &row.algorithm), settings }
    }
}

/// The value of a row, and the row's texts in the columns of the horizontal and the vertical axis.
type CellValue = ([String; 2], f64);

impl HeatFigure {
    /// The maximum number of values of an axis. Further cells would be too small to be seen.
    const MOST_CELLS: usize = 64;

    /// Makes heat maps from the `ok` rows of `files`, which are pairs of a file name and its rows.
    pub fn from_rows(
        files: &[(String, Vec<Record>)],
        wanted: HeatColumns<'_>,
        appearance: &Appearance<'_>,
    ) -> Result<Self, FigureError> {
        let axes = [wanted.x, wanted.y];
        for name in [wanted.value, wanted.x, wanted.y] {
            if !columns().any(|known| known == name) {
                return Err(FigureError::NoColumn(name.to_owned()));
            }
        }
        // Divide the rows into panels.
        let rows = || files.iter().flat_map(|(_, rows)| rows).filter(|r| r.status == Status::Ok);
        let placed = rows().filter_map(|row| {
            let text = |name: &str| row.field(name).unwrap_or_default();
            let (value, at) = (text(wanted.value).parse::<f64>().ok()?, axes.map(text));
            let has_place = at.iter().all(|text| !text.is_empty());
            has_place.then(|| (PanelKey::new(row, axes), (at, value)))
        });
        let panels: Vec<(PanelKey, Vec<CellValue>)> = grouped(placed);
        let missing = rows().count() - panels.iter().map(|(_, values)| values.len()).sum::<usize>();
        if panels.is_empty() {
            let HeatColumns { value, x, y } = wanted;
            let missing = format!("no row has a number in `{value}` and values of `{x}`, `{y}`");
            return Err(FigureError::Nothing(missing));
        }
        // Choose the titles of the figure and of its panels.
        let mut titles = Titles::new(panels.iter().map(|(key, _)| &key.settings))?;
        // The algorithm is part of the titles, unless it is an axis.
        let algorithms: BTreeSet<&str> =
            panels.iter().map(|(key, _)| key.algorithm.as_str()).collect();
        let with = |name: &str, title: &str| {
            [name, title].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
        };
        if let (1, Some(name)) = (algorithms.len(), algorithms.first()) {
            titles.common = with(name, &titles.common);
        } else {
            for ((key, _), title) in panels.iter().zip(&mut titles.panels) {
                *title = with(&key.algorithm, title);
            }
        }
        // Calculate the cells, and the scale that all panels have in common.
        let made: Vec<HeatPanel> = panels
            .into_iter()
            .zip(titles.panels)
            .map(|((_, values), title)| HeatPanel::new(title, axes, &values))
            .collect();
        let widest = made.iter().map(|panel| panel.xs.len().max(panel.ys.len())).max();
        if let Some(count) = widest.filter(|count| *count > Self::MOST_CELLS) {
            return Err(FigureError::ManyCells { count, most: Self::MOST_CELLS });
        }
        let values = || made.iter().flat_map(|panel| &panel.cells).flatten().flatten().copied();
        let range = values()
            .fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)));
        let without = format!("not shown: {} without a value or an axis", count(missing, "row"));
        Ok(Self {
            title: appearance.title.map_or(titles.common, str::to_owned),
            value: wanted.value.to_owned(),
            x: wanted.x.to_owned(),
            y: wanted.y.to_owned(),
            panels: made,
            legend: appearance.legend,
            range,
            // As in figures of curves, the scale is logarithmic if the values span a factor of at
            // least ten.
            log: range.0 > 0.0 && range.1 / range.0 >= 10.0,
            notes: (missing > 0).then_some(without).into_iter().collect(),
        })
    }

    fn colour(&self, value: f64) -> Colour {
        let scaled = |value: f64| if self.log { value.ln() } else { value };
        let (least, most) = (scaled(self.range.0), scaled(self.range.1));
        let place = if most > least { (scaled(value) - least) / (most - least) } else { 0.5 };
        COLOUR.paler(SHARES.0 + (SHARES.1 - SHARES.0) * place)
    }
}

impl HeatPanel {
    fn new(title: String, axes: [&str; 2], values: &[CellValue]) -> Self {
        let [xs, ys] = [0, 1].map(|axis| sorted(values.iter().map(|(at, _)| at[axis].clone())));
        let mean = |x: &String, y: &String| {
            let here: Vec<f64> = values
                .iter()
                .filter(|(at, _)| at[0] == *x && at[1] == *y)
                .map(|(_, value)| *value)
                .collect();
            (!here.is_empty()).then(|| here.iter().sum::<f64>() / here.len() as f64)
        };
        let cells = ys.iter().map(|y| xs.iter().map(|x| mean(x, y)).collect::<Vec<_>>()).collect();
        let labels = |axis: usize, texts: &[String]| -> Vec<String> {
            texts.iter().map(|text| label(axes[axis], text)).collect()
        };
        Self { title, xs: labels(0, &xs), ys: labels(1, &ys), cells }
    }
}

/// Returns the distinct texts. Numbers are in increasing order, other texts in the order of their
/// first occurrence.
fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut texts: Vec<String> = texts.filter(|text| known.insert(text.clone())).collect();
    let numbers: Option<Vec<f64>> = texts.iter().map(|text| text.parse().ok()).collect();
    if numbers.is_some() {
        texts.sort_by(|a, b| {
            let [a, b] = [a, b].map(|text| text.parse().unwrap_or(0.0));
            f64::total_cmp(&a, &b)
        });
    }
    texts
}

fn label(column: &str, text: &str) -> String {
    text.parse().map_or_else(|_| text.to_owned(), |value| Unit::of_column(column).text(value))
}

impl Drawable for HeatFigure {
    fn csv(&self) -> Result<String, csv::Error> {
        let header = ["panel", &self.x, &self.y, &self.value].map(str::to_owned);
        let cells = self.panels.iter().flat_map(|panel| {
            panel.ys.iter().zip(&panel.cells).flat_map(move |(y, cells)| {
                panel.xs.iter().zip(cells).filter_map(move |(x, cell)| {
                    Some([panel.title.clone(), x.clone(), y.clone(), (*cell)?.to_string()])
                })
            })
        });
        csv_table([header].into_iter().chain(cells))
    }

    fn remarks(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn picture(&self, paper: &Paper) -> Picture {
        let font = paper.font();
        let mut scene = Scene::new(paper.width(1), font / 12.0);
        let top = heading(&mut scene, &self.title, font);
        let legend = |scene: &mut Scene, space: (f64, f64), top: f64| {
            self.draw_legend(scene, space, top + font, font)
        };
        let body = |scene: &mut Scene, right: f64, top: f64| {
            self.panels
                .iter()
                .fold(top, |top, panel| self.panel(scene, panel, right, top + font, font))
        };
        let wide = width(&self.value, font).max(8.0 * font).min(0.4 * scene.width);
        let top = self.legend.arrange(&mut scene, (top, font), wide, legend, body);
        let means = vec!["Each cell shows the mean over its rows.".to_owned()];
        scene.height = remarks(&mut scene, &means, top, font) + font;
        let title = if self.title.is_empty() { &self.value } else { &self.title };
        Picture::new(scene, title, paper)
    }
}

impl HeatFigure {
    /// Draws a heat map whose right end is `right`.
    fn panel(&self, scene: &mut Scene, panel: &HeatPanel, right: f64, top: f64, font: f64) -> f64 {
        let small = 0.9 * font;
        let grid = Grid {
            title: &panel.title,
            rows: &panel.ys,
            columns: panel.xs.len(),
            least_height: 2.0,
            name: Some(&self.y),
        };
        let place = grid.draw(scene, (right, top), font, |scene, row, column, area| {
            let names = (panel.xs[column].as_str(), panel.ys[row].as_str());
            self.cell(scene, names, panel.cells[row][column], area, small);
        });
        let GridPlace { left, wide, bottom } = place;
        let top = x_labels(scene, &panel.xs, (left, wide), bottom, small);
        scene.text(((left + right - font) / 2.0, top + 1.4 * font), &self.x, font, Anchor::Middle);
        top + 2.0 * font
    }

    fn cell(
        &self,
        scene: &mut Scene,
        (x, y): (&str, &str),
        value: Option<f64>,
        [left, top, right, bottom]: [f64; 4],
        font: f64,
    ) {
        let gap = 0.03 * (bottom - top);
        let inner = [left + gap, top + gap, right - gap, bottom - gap];
        let Some(value) = value else {
            return scene.filled(inner, PALE, Some(format!("{x}, {y}: no value")));
        };
        let words = Unit::of_column(&self.value).text(value);
        scene.filled(inner, self.colour(value), Some(format!("{x}, {y}: {words}")));
        // A narrow cell has no room for the unit, or for any text.
        let bare = words.split(' ').next().unwrap_or_default().to_owned();
        let is_bare_known = Unit::of_column(&self.value) == Unit::Number;
        let fits = |words: &&String| width(words, font) < right - left - 4.0 * gap;
        let shown = [Some(&words), is_bare_known.then_some(&bare)].into_iter().flatten().find(fits);
        if let Some(words) = shown {
            let at = ((left + right) / 2.0, (top + bottom) / 2.0 + 0.36 * font);
            scene.text(at, words, font, Anchor::Middle);
        }
    }

    fn draw_legend(&self, scene: &mut Scene, space: (f64, f64), top: f64, font: f64) -> f64 {
        const SAMPLES: usize = 5;
        let mut row = LegendRow::new(space, top + font, font);
        row.entry(scene, 0.0, &format!("{}:", self.value));
        let (least, most) = self.range;
        let samples = if least == most { 1 } else { SAMPLES };
        for number in 0..samples {
            let share = number as f64 / (SAMPLES - 1) as f64;
            let value = if self.log {
                least * (most / least).powf(share)
            } else {
                least + (most - least) * share
            };
            let (x, y) = row.entry(scene, 2.0 * font, &Unit::of_column(&self.value).text(value));
            scene.filled(
                [x, y - 0.9 * font, x + 1.5 * font, y + 0.2 * font],
                self.colour(value),
                None,
            );
        }
        row.end()
    }
}

/// Writes the labels of columns that start at `left` and are `wide` pixels wide, below the y
/// coordinate `top`. If a label does not fit, all of them are turned; if turned labels do not fit
/// either, there is one for every second column, etc.
fn x_labels(
    scene: &mut Scene,
    labels: &[String],
    (left, wide): (f64, f64),
    top: f64,
    font: f64,
) -> f64 {
    let longest = labels.iter().map(|words| width(words, font)).fold(0.0, f64::max);
    let centre = |column: usize| left + (column as f64 + 0.5) * wide;
    if longest + 0.5 * font < wide {
        for (column, words) in labels.iter().enumerate() {
            scene.text((centre(column), top + 1.4 * font), words, font, Anchor::Middle);
        }
        return top + 1.7 * font;
    }
    let stride = (1.2 * font / wide).ceil().max(1.0) as usize;
    for (column, words) in labels.iter().enumerate().step_by(stride) {
        let at = (centre(column) + 0.26 * font, top + 0.5 * font);
        scene.turned_text(at, words, font, Anchor::End);
    }
    top + longest + 0.8 * font
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::study;

    /// The expected values are those of single rows of the study. Each case has one row.
    #[test]
    fn cells_have_the_values_of_their_rows() {
        let files = study();
        let columns = HeatColumns { value: "steps", x: "block_bytes", y: "algorithm" };
        let figure = HeatFigure::from_rows(&files, columns, &Appearance::default()).unwrap();
        assert_eq!(figure.panels.len(), 4, "a panel for each network");
        let panel = &figure.panels[0];
        assert_eq!((panel.xs.len(), panel.ys.len()), (18, 5));
        assert_eq!((&*panel.xs[0], &*panel.xs[17]), ("8 B", "1 MiB"));
        let values: Vec<Option<f64>> = panel.cells.iter().map(|cells| cells[3]).collect();
        assert_eq!(values, [6.0, 9.0, 12.0, 30.0, 126.0].map(Some));
        assert_eq!((figure.range, figure.log), ((6.0, 126.0), true));
        let columns = HeatColumns { value: "time_us", x: "nodes", y: "block_bytes" };
        let figure = HeatFigure::from_rows(&files, columns, &Appearance::default()).unwrap_err();
        assert!(matches!(figure, FigureError::ManyPanels { count: 20, .. }), "{figure}");
    }

    #[test]
    fn repetitions_are_averaged_and_missing_values_are_noted() {
        let mut files = study();
        let first = files[0].1[0].clone();
        let again = |time: f64| Record { time_us: Some(time), seed: 43, ..first.clone() };
        let without = Record { time_us: None, ..again(0.0) };
        files[0].1 = vec![again(10.0), again(30.0), without];
        let columns = HeatColumns { value: "time_us", x: "topology", y: "algorithm" };
        let figure = HeatFigure::from_rows(&files, columns, &Appearance::default()).unwrap();
        assert_eq!(figure.panels[0].cells, [[Some(20.0)]]);
        assert_eq!(figure.notes, ["not shown: 1 row without a value or an axis"]);
    }

    #[test]
    fn axes_have_a_limited_number_of_values() {
        let mut files = study();
        let first = files[0].1[0].clone();
        files[0].1 = (0..65).map(|seed| Record { seed, ..first.clone() }).collect();
        let columns = HeatColumns { value: "time_us", x: "seed", y: "algorithm" };
        let error = HeatFigure::from_rows(&files, columns, &Appearance::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "an axis has 65 values, a heat map has room for 64: choose some rows"
        );
    }

    #[test]
    fn wrong_columns_are_named() {
        let of = |value| {
            let columns = HeatColumns { value, x: "topology", y: "algorithm" };
            HeatFigure::from_rows(&study(), columns, &Appearance::default())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            of("time"),
            "no column is called `time`: see the columns in the first line of the file"
        );
        assert_eq!(
            of("status"),
            "no row has a number in `status` and values of `topology`, `algorithm`"
        );
    }
}
