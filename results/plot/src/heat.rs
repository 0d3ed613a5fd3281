//! Heat maps: colours show a column of the rows over two other columns or numbers of specs.

use crate::appearance::{Appearance, LegendPlace};
use crate::draw::grid::{Grid, GridPlace};
use crate::draw::{Drawable, LegendRow, heading, remarks};
use crate::error::FigureError;
use crate::marks::scene::{Anchor, Colour, PALE, Scene};
use crate::marks::text::width;
use crate::marks::{Paper, Picture};
use crate::titles::Titles;
use std::collections::{BTreeMap, BTreeSet};
use swapmeet_core::network::topology::kind;
use swapmeet_results::analysis::{Axis, CommonSettings};
use swapmeet_results::units::{Unit, count, three_digits};
use swapmeet_results::{
    CHARGED_LESS, CHARGED_LESS_REMARK, ComparedRows, Parameter, Record, SpecKind, Status,
    UnknownParameter, columns, csv_table, grouped, rearrangement_remark, without_common_parts,
};
use swapmeet_workloads::CurveAxis;

/// The colour that is mixed with white. Black text is readable on the strongest mixture.
const COLOUR: Colour = Colour(0x00, 0x72, 0xb2);
/// The proportion of [`COLOUR`] in the mixture for the least value, and for the largest value.
const SHARES: (f64, f64) = (0.06, 0.7);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeatColumns<'a> {
    pub value: &'a str,
    pub x: &'a str,
    pub y: &'a str,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HeatPanel {
    pub title: String,
    /// The values of the horizontal axis, from left to right.
    pub xs: Vec<HeatLabel>,
    /// The values of the vertical axis, from top to bottom.
    pub ys: Vec<HeatLabel>,
    /// The mean values, by row and column of the panel; `None` if no row of a file has a value.
    pub cells: Vec<Vec<Option<f64>>>,
    /// By cell, [`CHARGED_LESS`] if a time in it lacks rearrangement, otherwise an empty text.
    pub marks: Vec<Vec<&'static str>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeatLabel {
    /// The value in data for other programs: a number with its unit, or a whole spec.
    pub value: String,
    /// The value in the figure, without the parts that all specs have in common.
    pub shown: String,
}

/// A figure of heat maps with a common scale of colours, drawn one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatFigure {
    pub title: String,
    pub value: String,
    pub x: String,
    pub y: String,
    pub panels: Vec<HeatPanel>,
    pub legend: LegendPlace,
    pub range: (f64, f64),
    pub log: bool,
    pub notes: Vec<String>,
    pub remarks: Vec<String>,
    format: ValueFormat,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum HeatAxis<'a> {
    Column(&'a str),
    Parameter(Parameter),
}

impl<'a> HeatAxis<'a> {
    fn find(name: &'a str, files: &[(String, Vec<Record>)]) -> Result<Self, FigureError> {
        if columns().any(|known| known == name) {
            return Ok(Self::Column(name));
        }
        let parameters = ComparedRows::of(files).parameters();
        parameters.find(name).map(Self::Parameter).map_err(|error| FigureError::NoColumn { error })
    }

    fn text(self, row: &Record) -> String {
        match self {
            Self::Column(name) => row.field(name).unwrap_or_default(),
            Self::Parameter(parameter) => {
                let value = parameter.value(parameter.spec(&row.case()));
                value.map(|value| value.to_string()).unwrap_or_default()
            }
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::Column(name) => Unit::of_column(name),
            Self::Parameter(parameter) => parameter.unit,
        }
    }

    fn is_of_specs(self) -> bool {
        matches!(self, Self::Column("topology" | "workload" | "machine" | "algorithm"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct ValueFormat {
    unit: Unit,
    is_whole: bool,
    /// The divisor and unit of all values; `None` if they differ so much that each has its own.
    common: Option<(f64, &'static str)>,
}

impl ValueFormat {
    fn of(unit: Unit, (least, most): (f64, f64), is_whole: bool) -> Self {
        /// Below this ratio of the largest to the least value, all values have the same unit.
        const CLOSE: f64 = 1000.0;
        let (divisor, name) = unit.suiting(most);
        let is_close = least > 0.0 && most / least < CLOSE || is_whole && unit == Unit::Number;
        Self { unit, is_whole, common: is_close.then_some((divisor, name)) }
    }

    /// Formats a value without the common unit: three digits, or all of its integer part.
    fn text(&self, value: f64) -> String {
        match self.common {
            Some((divisor, _)) if self.is_whole && divisor == 1.0 => format!("{value:.0}"),
            Some((divisor, _)) => three_digits(value / divisor),
            None => self.unit.text(value),
        }
    }

    fn name(&self, column: &str) -> String {
        let name = match column {
            "time_us" => "completion time".to_owned(),
            _ => column.strip_suffix("_us").unwrap_or(column).replace('_', " "),
        };
        match self.common {
            Some((_, unit)) if !unit.is_empty() => format!("{name}, {unit}"),
            _ => name,
        }
    }
}

/// The settings of a panel. Settings that vary along an axis are empty. But along `nodes`,
/// `topology` is the family of topologies, and along block sizes, `workload` lacks only the size.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PanelKey {
    algorithm: String,
    settings: CommonSettings,
}

impl PanelKey {
    fn new(row: &Record, axes: [HeatAxis<'_>; 2]) -> Self {
        let is_axis = |name: &str| axes.contains(&HeatAxis::Column(name));
        let unless = |name: &str, text: &str| {
            if is_axis(name) { String::new() } else { text.to_owned() }
        };
        let mut own = CommonSettings::of(&row.case().setting);
        let mut algorithm = row.algorithm.clone();
        for axis in axes {
            let HeatAxis::Parameter(parameter) = axis else { continue };
            if parameter.of == SpecKind::Algorithm {
                algorithm = parameter.removed_from(&algorithm).into_owned();
            } else if let Some((_, rest)) = Axis::Parameter(parameter).split(own.clone(), row.nodes)
            {
                own = rest;
            }
        }
        let topology = if is_axis("nodes") { kind(&own.topology) } else { own.topology };
        let split = CurveAxis::BlockSize.split(&own.workload).filter(|_| is_axis("block_bytes"));
        let workload = split.map_or(own.workload, |(_, workload)| workload);
        // A machine determines its model, so if one of them is an axis, both vary within a panel.
        let is_of_machine = is_axis("machine") || is_axis("model");
        let of_machine = |text: String| if is_of_machine { String::new() } else { text };
        let settings = CommonSettings {
            topology: unless("topology", &topology),
            workload: unless("workload", &workload),
            machine: of_machine(own.machine),
            model: of_machine(own.model),
            inputs: own.inputs,
            together: own.together,
        };
        Self { algorithm: unless("algorithm", &algorithm), settings }
    }
}

type CellValue = ([String; 2], f64, &'static str);

impl HeatFigure {
    /// The maximum number of values of an axis. With more, cells would be too small to be seen.
    const MOST_CELLS: usize = 64;

    /// Makes a figure of the `ok` rows of `files`, each of which is a file name with its rows.
    pub fn from_rows(
        files: &[(String, Vec<Record>)],
        wanted: HeatColumns<'_>,
        appearance: &Appearance<'_>,
    ) -> Result<Self, FigureError> {
        let axes = [HeatAxis::find(wanted.x, files)?, HeatAxis::find(wanted.y, files)?];
        if !columns().any(|known| known == wanted.value) {
            let known = columns().map(str::to_owned).collect();
            let error = UnknownParameter::Unknown { name: wanted.value.to_owned(), known };
            return Err(FigureError::NoColumn { error });
        }
        let rows = || files.iter().flat_map(|(_, rows)| rows).filter(|r| r.status == Status::Ok);
        // A time without rearrangement is marked only if other rows have a time with rearrangement.
        let can_mark = wanted.value == "time_us" && rows().any(|row| !row.is_uncharged());
        let is_marked = |row: &Record| can_mark && row.is_uncharged();
        let mut uncharged: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for row in rows().filter(|row| is_marked(row)) {
            let machine = row.case().setting.machine_in_full();
            uncharged.entry(machine).or_default().insert(&row.algorithm);
        }
        let marks = uncharged.iter();
        let marks = marks.map(|(machine, algorithms)| rearrangement_remark(machine, algorithms));
        let placed = rows().filter_map(|row| {
            let value = row.field(wanted.value).unwrap_or_default().parse::<f64>().ok()?;
            let at = axes.map(|axis| axis.text(row));
            let has_place = at.iter().all(|text| !text.is_empty());
            let mark = if is_marked(row) { CHARGED_LESS } else { "" };
            has_place.then(|| (PanelKey::new(row, axes), (at, value, mark)))
        });
        let panels: Vec<(PanelKey, Vec<CellValue>)> = grouped(placed);
        let missing = rows().count() - panels.iter().map(|(_, values)| values.len()).sum::<usize>();
        if panels.is_empty() {
            let HeatColumns { value, x, y } = wanted;
            let missing = format!("no row has a number in `{value}` and values of `{x}`, `{y}`");
            return Err(FigureError::Nothing(missing));
        }
        let mut titles = Titles::new(panels.iter().map(|(key, _)| &key.settings))?;
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
        let [x_labels, y_labels] = [0, 1].map(|at| {
            let texts = panels.iter().flat_map(|(_, values)| values).map(|(texts, ..)| &texts[at]);
            AxisLabels::new(axes[at], sorted(texts.cloned()))
        });
        for labels in [&x_labels, &y_labels] {
            titles.common = with(&titles.common, &labels.common);
        }
        let made: Vec<HeatPanel> = panels
            .into_iter()
            .zip(titles.panels)
            .map(|((_, values), title)| HeatPanel::new(title, [&x_labels, &y_labels], &values))
            .collect();
        let widest = made.iter().map(|panel| panel.xs.len().max(panel.ys.len())).max();
        if let Some(count) = widest.filter(|count| *count > Self::MOST_CELLS) {
            return Err(FigureError::ManyCells { count, most: Self::MOST_CELLS });
        }
        let values = || made.iter().flat_map(|panel| &panel.cells).flatten().flatten().copied();
        let range = values()
            .fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)));
        let is_whole = values().all(|value| value.fract() == 0.0);
        let format = ValueFormat::of(Unit::of_column(wanted.value), range, is_whole);
        let without = format!("not shown: {} without a value or an axis", count(missing, "row"));
        Ok(Self {
            title: appearance.title.map_or(titles.common, str::to_owned),
            value: wanted.value.to_owned(),
            x: wanted.x.to_owned(),
            y: wanted.y.to_owned(),
            panels: made,
            legend: appearance.legend,
            range,
            // As for curves, the scale is logarithmic if values span a factor of at least ten.
            log: range.0 > 0.0 && range.1 / range.0 >= 10.0,
            notes: (missing > 0).then_some(without).into_iter().collect(),
            remarks: ["Each cell shows the mean over its rows.".to_owned()]
                .into_iter()
                .chain(marks)
                .collect(),
            format,
        })
    }

    fn colour(&self, value: f64) -> Colour {
        let scaled = |value: f64| if self.log { value.ln() } else { value };
        let (least, most) = (scaled(self.range.0), scaled(self.range.1));
        let place = if most > least { (scaled(value) - least) / (most - least) } else { 0.5 };
        COLOUR.paler(SHARES.0 + (SHARES.1 - SHARES.0) * place)
    }
}

struct AxisLabels {
    common: String,
    /// For each value of the axis, in this order: its text in the rows, and its label.
    labels: Vec<(String, HeatLabel)>,
}

impl AxisLabels {
    fn new(axis: HeatAxis<'_>, texts: Vec<String>) -> Self {
        let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (common, shown) = if axis.is_of_specs() && refs.len() > 1 {
            without_common_parts(&refs)
        } else {
            let number = |text: &String| text.parse().map(|value| axis.unit().text(value));
            let shown = texts.iter().map(|text| number(text).unwrap_or_else(|_| text.clone()));
            (String::new(), shown.collect())
        };
        let labels = texts.into_iter().zip(shown).map(|(text, shown)| {
            let value = if axis.is_of_specs() { text.clone() } else { shown.clone() };
            (text, HeatLabel { value, shown })
        });
        Self { common, labels: labels.collect() }
    }
}

impl HeatPanel {
    fn new(title: String, axes: [&AxisLabels; 2], values: &[CellValue]) -> Self {
        let used = |axis: usize| -> Vec<&(String, HeatLabel)> {
            let known: BTreeSet<&String> = values.iter().map(|(at, ..)| &at[axis]).collect();
            axes[axis].labels.iter().filter(|(text, _)| known.contains(text)).collect()
        };
        let [xs, ys] = [0, 1].map(used);
        let mean = |x: &String, y: &String| {
            let here: Vec<f64> = values
                .iter()
                .filter(|(at, ..)| at[0] == *x && at[1] == *y)
                .map(|(_, value, _)| *value)
                .collect();
            (!here.is_empty()).then(|| here.iter().sum::<f64>() / here.len() as f64)
        };
        let mark = |x: &String, y: &String| {
            let mut here = values.iter().filter(|(at, ..)| at[0] == *x && at[1] == *y);
            here.find(|(.., mark)| !mark.is_empty()).map_or("", |(.., mark)| *mark)
        };
        let row = |(y, _): &&(String, HeatLabel)| xs.iter().map(|(x, _)| mean(x, y)).collect();
        let cells = ys.iter().map(row).collect();
        let row = |(y, _): &&(String, HeatLabel)| xs.iter().map(|(x, _)| mark(x, y)).collect();
        let marks = ys.iter().map(row).collect();
        let [xs, ys] = [&xs, &ys].map(|axis| axis.iter().map(|(_, label)| label.clone()).collect());
        Self { title, xs, ys, cells, marks }
    }

    fn grid<'a>(&'a self, name: &'a str, rows: &'a [String]) -> Grid<'a> {
        Grid {
            title: &self.title,
            rows,
            columns: self.xs.len(),
            least_height: 2.0,
            name: Some(name),
        }
    }

    fn rows(&self) -> Vec<String> {
        self.ys.iter().map(|label| label.shown.clone()).collect()
    }
}

/// Returns distinct texts: numbers in ascending order, others in the order of occurrence.
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

impl Drawable for HeatFigure {
    fn csv(&self) -> Result<String, csv::Error> {
        let is_marked = |mark: &str| !mark.is_empty();
        let mut marks = self.panels.iter().flat_map(|panel| &panel.marks).flatten();
        let has_remarks = marks.any(|mark| is_marked(mark));
        let header = ["panel", &self.x, &self.y, &self.value].into_iter();
        let header = header.chain(has_remarks.then_some("remark")).map(str::to_owned).collect();
        let cells = self.panels.iter().flat_map(|panel| {
            let rows = panel.ys.iter().zip(panel.cells.iter().zip(&panel.marks));
            rows.flat_map(move |(y, (cells, marks))| {
                panel.xs.iter().zip(cells.iter().zip(marks)).filter_map(move |(x, (cell, mark))| {
                    let texts = [&panel.title, &x.value, &y.value].map(Clone::clone);
                    let remark = if is_marked(mark) { CHARGED_LESS_REMARK } else { "" };
                    let remark = has_remarks.then(|| remark.to_owned());
                    let texts = texts.into_iter().chain([(*cell)?.to_string()]);
                    Some(texts.chain(remark).collect::<Vec<_>>())
                })
            })
        });
        csv_table([header].into_iter().chain(cells))
    }

    fn remarks(&self) -> Vec<String> {
        // The other remarks are drawn in the figure, so only the notes are returned.
        self.notes.clone()
    }

    fn legend(&self, paper: &Paper) -> (LegendPlace, f64) {
        let font = paper.font();
        let name = width(&self.format.name(&self.value), font);
        (self.legend, name.max(8.0 * font).min(0.4 * paper.width(1)))
    }

    fn picture(&self, paper: &Paper) -> Picture {
        let font = paper.font();
        let mut scene = Scene::new(paper.width(1), font / 12.0);
        let top = heading(&mut scene, &self.title, font);
        let legend = |scene: &mut Scene, space: (f64, f64), top: f64| {
            self.draw_legend(scene, space, top + font, font)
        };
        let body = |scene: &mut Scene, right: f64, top: f64| {
            let has_values = self.has_room_for_values(right, font);
            let panels = self.panels.iter();
            panels.fold(top, |top, panel| {
                self.panel(scene, panel, (right, has_values), top + font, font)
            })
        };
        let (place, wide) = Drawable::legend(self, paper);
        let top = place.arrange(&mut scene, (top, font), wide, legend, body);
        scene.height = remarks(&mut scene, &self.remarks, top, font) + font;
        let title = if self.title.is_empty() { &self.value } else { &self.title };
        Picture::new(scene, title, paper)
    }
}

/// The font size of the values in cells, relative to the font size of the figure.
const SMALL: f64 = 0.9;

impl HeatFigure {
    /// Returns whether every cell has room for its value. If one does not, no cell shows its value.
    fn has_room_for_values(&self, right: f64, font: f64) -> bool {
        let fits = |panel: &HeatPanel| {
            let rows = panel.rows();
            let (_, wide) = panel.grid(&self.y, &rows).columns_at(right, font);
            let cells = panel.cells.iter().flatten().zip(panel.marks.iter().flatten());
            let mut words =
                cells.filter_map(|(value, mark)| Some(self.format.text((*value)?) + mark));
            words.all(|words| width(&words, SMALL * font) < wide - 0.3 * font)
        };
        self.panels.iter().all(fits)
    }

    fn panel(
        &self,
        scene: &mut Scene,
        panel: &HeatPanel,
        (right, has_values): (f64, bool),
        top: f64,
        font: f64,
    ) -> f64 {
        let small = SMALL * font;
        let rows = panel.rows();
        let grid = panel.grid(&self.y, &rows);
        let place = grid.draw(scene, (right, top), font, |scene, row, column, area| {
            let names = (panel.xs[column].shown.as_str(), panel.ys[row].shown.as_str());
            let (value, mark) = (panel.cells[row][column], panel.marks[row][column]);
            let words = value.filter(|_| has_values).map(|value| self.format.text(value));
            let words = words.unwrap_or_default() + mark;
            self.cell(scene, names, value, area, (words.trim_start(), small));
        });
        let GridPlace { left, wide, bottom } = place;
        let labels: Vec<String> = panel.xs.iter().map(|label| label.shown.clone()).collect();
        let top = x_labels(scene, &labels, (left, wide), bottom, small);
        scene.text(((left + right - font) / 2.0, top + 1.4 * font), &self.x, font, Anchor::Middle);
        top + 2.0 * font
    }

    fn cell(
        &self,
        scene: &mut Scene,
        (x, y): (&str, &str),
        value: Option<f64>,
        [left, top, right, bottom]: [f64; 4],
        (words, font): (&str, f64),
    ) {
        let gap = 0.03 * (bottom - top);
        let inner = [left + gap, top + gap, right - gap, bottom - gap];
        let Some(value) = value else {
            return scene.filled(inner, PALE, Some(format!("{x}, {y}: no value")));
        };
        let tip = self.format.unit.text(value);
        scene.filled(inner, self.colour(value), Some(format!("{x}, {y}: {tip}")));
        if !words.is_empty() {
            let at = ((left + right) / 2.0, (top + bottom) / 2.0 + 0.36 * font);
            scene.text(at, words, font, Anchor::Middle);
        }
    }

    fn draw_legend(&self, scene: &mut Scene, space: (f64, f64), top: f64, font: f64) -> f64 {
        const SAMPLES: usize = 5;
        let mut row = LegendRow::new(space, top + font, font);
        row.entry(scene, 0.0, &format!("{}:", self.format.name(&self.value)));
        let (least, most) = self.range;
        let samples = if least == most { 1 } else { SAMPLES };
        for number in 0..samples {
            let share = number as f64 / (SAMPLES - 1) as f64;
            let value = if self.log {
                least * (most / least).powf(share)
            } else {
                least + (most - least) * share
            };
            let (x, y) = row.entry(scene, 2.0 * font, &self.format.text(value));
            scene.filled(
                [x, y - 0.9 * font, x + 1.5 * font, y + 0.2 * font],
                self.colour(value),
                None,
            );
        }
        row.end()
    }
}

/// Writes the labels of columns below `top`. The columns begin at `left` and have the width `wide`.
/// If a label is too wide, all labels are turned. If turned labels are still too close, only every
/// second column has a label, or every third one, etc.
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

    #[test]
    fn cells_have_the_values_of_their_rows() {
        let files = study();
        let columns = HeatColumns { value: "steps", x: "block_bytes", y: "algorithm" };
        let figure = HeatFigure::from_rows(&files, columns, &Appearance::default()).unwrap();
        assert_eq!(figure.panels.len(), 4, "a panel for each network");
        let panel = &figure.panels[0];
        assert_eq!((panel.xs.len(), panel.ys.len()), (18, 5));
        assert_eq!((&*panel.xs[0].shown, &*panel.xs[17].shown), ("8 B", "1 MiB"));
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
            "no column is called `time`, and no spec of these rows has a number `time`"
        );
        assert_eq!(
            of("status"),
            "no row has a number in `status` and values of `topology`, `algorithm`"
        );
    }

    /// The parts that all specs have in common are in the title. The data have the whole specs.
    #[test]
    fn labels_have_what_differs() {
        let files = crate::geometry::tokens();
        let columns = HeatColumns { value: "time_us", x: "workload", y: "algorithm" };
        let figure = HeatFigure::from_rows(&files, columns, &Appearance::default()).unwrap();
        let shown: Vec<&str> = figure.panels[0].xs.iter().map(|x| &*x.shown).collect();
        assert_eq!(shown[..2], ["tokens=16", "tokens=16,skew=1"]);
        assert!(figure.title.contains("moe:experts=16,top=2,bytes=7KiB"), "{}", figure.title);
        assert!(
            figure.csv().unwrap().contains("\"moe:experts=16,top=2,tokens=16,bytes=7KiB,skew=1\"")
        );
    }

    /// The axes are numbers of the workload. Each value is that of a single row.
    #[test]
    fn any_number_of_a_spec_is_an_axis() {
        let files = crate::geometry::tokens();
        let columns = HeatColumns { value: "time_us", x: "tokens", y: "skew" };
        let figure = HeatFigure::from_rows(&files, columns, &Appearance::default()).unwrap();
        let panel = &figure.panels[0];
        let labels =
            |axis: &[HeatLabel]| axis.iter().map(|label| label.shown.clone()).collect::<Vec<_>>();
        assert_eq!(
            (labels(&panel.xs), labels(&panel.ys)),
            (["16", "64", "256"].map(String::from).to_vec(), ["0", "1"].map(String::from).to_vec())
        );
        let row =
            files[0].1.iter().find(|row| row.workload.contains("tokens=64,bytes=7KiB,skew=1"));
        let (shown, expected) = (panel.cells[1][1].unwrap(), row.unwrap().time_us.unwrap());
        assert!((shown - expected).abs() < 1e-6, "{shown} {expected}");
    }

    /// All cells have the same unit, which the legend states, and three digits.
    #[test]
    fn values_have_one_unit_and_three_digits() {
        let text = |unit, range: (f64, f64), is_whole, value| {
            let format = ValueFormat::of(unit, range, is_whole);
            (format.text(value), format.name("time_us"))
        };
        let [time, ms] = ["completion time", "completion time, ms"].map(str::to_owned);
        assert_eq!(
            text(Unit::Time, (1700.0, 1880.0), false, 1700.0),
            ("1.70".to_owned(), ms.clone())
        );
        assert_eq!(
            text(Unit::Time, (170.0, 1880.0), false, 170.0),
            ("0.170".to_owned(), ms.clone())
        );
        assert_eq!(
            text(Unit::Time, (18.1, 14632.9), false, 14632.9),
            ("14.6".to_owned(), ms.clone())
        );
        assert_eq!(text(Unit::Time, (18.1, 14632.9), false, 18.14), ("0.0181".to_owned(), ms));
        assert_eq!(text(Unit::Time, (1.0, 2e6), false, 2e6), ("2 s".to_owned(), time.clone()));
        assert_eq!(text(Unit::Number, (6.0, 126.0), true, 126.0), ("126".to_owned(), time));
    }
}
