use super::{list, write_closed};
use crate::appearance::Appearance;
use crate::draw::Drawable;
use crate::error::FigureError;
use crate::figure::{Figure, FigureOptions, Panel};
use crate::marks::Paper;
use crate::quantity::Quantity;
use crate::style::Styles;
use crate::winners::WinnerFigure;
use std::collections::BTreeSet;
use std::io::{self, Write};
use swapmeet_results::analysis::Axis;
use swapmeet_results::units::count;
use swapmeet_results::{Comparison, Group, escaped, grouped};

/// The maximum number of figures of maps, and of figures of curves, that the reader sees at first.
const MOST_MAPS: usize = 3;
const MOST_CURVES: usize = 2;
/// The maximum number of maps in a figure, and of panels in a figure, with which it fits on a page.
const MOST_ROWS: usize = 4;
const MOST_PANELS: usize = 6;
/// The width of a figure with several panels. On A4 paper, it is reduced to 86 % of this width.
const WIDE: &str = "860px";
const NARROW: &str = "330px";

pub(super) struct Figures {
    pub(super) id: String,
    pub(super) heading: String,
    visible: Vec<Framed>,
    /// Messages to the user about parts of the figures that were omitted.
    notes: BTreeSet<String>,
    others: Vec<Framed>,
}

impl Figures {
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { visible, notes, others, .. } = self;
        visible.iter().try_for_each(|figure| figure.write(out))?;
        out.write_all(list(notes.iter().map(|note| escaped(note))).as_bytes())?;
        if others.is_empty() {
            return Ok(());
        }
        write_closed(out, &count(others.len(), "further figure"), &|out| {
            others.iter().try_for_each(|figure| figure.write(out))
        })
    }
}

/// A figure that is drawn only when it is written. Its picture is many times as large as its data.
struct Framed {
    number: usize,
    caption: String,
    panels: usize,
    figure: Box<dyn Drawable>,
}

impl Framed {
    /// Writes the figure in a layout for large screens and paper, and again for small screens.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { number, caption, panels, figure } = self;
        let svg = |width: Option<&str>| {
            let width = width.and_then(|width| width.parse().ok());
            figure.picture(&Paper { width, font: None }).svg()
        };
        let (wide, narrow) = (svg((*panels > 1).then_some(WIDE)), svg(Some(NARROW)));
        writeln!(
            out,
            "<figure role=\"img\" aria-label=\"{0}\"><div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div><figcaption>Figure {number}. {0}.</figcaption></figure>",
            escaped(caption)
        )
    }
}

pub(super) fn figures(
    comparison: &Comparison,
    baseline: Option<&str>,
    styles: &Styles,
) -> Vec<Figures> {
    let parts = divided(comparison, |group| group.setting.collective.clone());
    let is_only = parts.len() == 1;
    let mut number = 0;
    let figures = |part: &Comparison| {
        let mut figures = of_collective(part, baseline, styles, &mut number);
        if is_only {
            figures.heading = "Figures".to_owned();
        }
        (!figures.visible.is_empty() || !figures.notes.is_empty()).then_some(figures)
    };
    parts.iter().filter_map(figures).collect()
}

/// Makes the figures of a collective. `number` is the number of the last figure on the page so far.
fn of_collective(
    comparison: &Comparison,
    baseline: Option<&str>,
    styles: &Styles,
    number: &mut usize,
) -> Figures {
    let mut framed = |figure: Box<dyn Drawable>, panels: usize, caption: String| {
        *number += 1;
        Framed { number: *number, caption, panels, figure }
    };
    let mut notes = BTreeSet::new();
    let (mut visible, mut others) = (Vec::new(), Vec::new());
    let maps = drawn(comparison, MOST_ROWS, |map| map.maps.len(), &|part| {
        WinnerFigure::of_comparison(part, None, &Appearance::default())?.without_known_cases()
    });
    for map in maps.into_iter().flatten() {
        let map = WinnerFigure { styles: styles.clone(), ..map };
        notes.extend(map.notes.iter().cloned());
        let place = if visible.len() < MOST_MAPS { &mut visible } else { &mut others };
        let panels = map.maps.len();
        place.push(framed(Box::new(map), panels, "Fastest algorithms".to_owned()));
    }
    let maps = visible.len();
    // If the baseline is an algorithm of another collective, it has no rows here.
    let mut lines = comparison.groups.iter().flat_map(|group| &group.lines);
    let baseline = baseline.filter(|name| lines.any(|line| &*line.subject == *name));
    let ratio = baseline.map(|_| Quantity::Ratio);
    let axes = Axis::varying(comparison);
    for y in [Some(Quantity::Time), ratio].into_iter().flatten() {
        for x in axes.iter().copied() {
            let options = FigureOptions { baseline, ..FigureOptions::new(x, y) };
            let curves = drawn(comparison, MOST_PANELS, |figure| figure.panels.len(), &|part| {
                Figure::of_comparison(part, &[], &options)
            });
            for figure in curves {
                match figure {
                    Ok(figure) if figure.panels.iter().any(has_a_line) => {
                        let figure = Figure { styles: styles.clone(), ..figure };
                        notes.extend(figure.notes.iter().cloned());
                        let caption = capital(&format!(
                            "{} against {}: {}",
                            figure.y_label, figure.x_label, figure.title
                        ));
                        let has_room = visible.len() < maps + MOST_CURVES;
                        let place = if has_room { &mut visible } else { &mut others };
                        let panels = figure.panels.len();
                        place.push(framed(Box::new(figure), panels, caption));
                    }
                    // Readers expect this figure. If it would have too many curves, a note says so.
                    Err(error @ (FigureError::ManyPanels { .. } | FigureError::ManyCurves(_))) => {
                        let (y, x) = (y.label(), x.label());
                        notes.insert(format!("No figure of {y} against {x}: {error}."));
                    }
                    // If the cases do not vary along this axis, no figure is expected.
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }
    let collective = &comparison.groups[0].setting.collective;
    let id = format!("figures-{}", collective.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
    Figures { id, heading: format!("Figures of {collective}"), visible, notes, others }
}

/// Makes one figure. If it would have more than `most` parts (panels or maps), makes several: cases
/// are divided by machine, then by kind of workload, then by topology.
fn drawn<T>(
    comparison: &Comparison,
    most: usize,
    parts: fn(&T) -> usize,
    figure: &dyn Fn(&Comparison) -> Result<T, FigureError>,
) -> Vec<Result<T, FigureError>> {
    let result = figure(comparison);
    let has_many = match &result {
        Ok(figure) => parts(figure) > most,
        Err(error) => matches!(error, FigureError::ManyPanels { .. }),
    };
    if !has_many {
        return vec![result];
    }
    let settings: [fn(&Group) -> String; 3] = [
        |Group { setting, .. }| {
            format!("{} {} {}", setting.machine, setting.machine_definition, setting.model)
        },
        |group| group.setting.workload.split(':').next().unwrap_or_default().to_owned(),
        |group| group.setting.topology.clone(),
    ];
    let mut divisions = settings.into_iter().map(|setting| divided(comparison, setting));
    match divisions.find(|division| division.len() > 1) {
        Some(division) => {
            division.iter().flat_map(|part| drawn(part, most, parts, figure)).collect()
        }
        None => vec![result],
    }
}

/// Divides groups by their `text`. The parts are in the order in which texts first occur.
fn divided(comparison: &Comparison, text: fn(&Group) -> String) -> Vec<Comparison> {
    let texts = grouped(comparison.groups.iter().map(|group| (text(group), ())));
    texts.iter().map(|(wanted, _)| comparison.part(|group| text(group) == *wanted)).collect()
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().to_string() + letters.as_str())
        .unwrap_or_default()
}

fn has_a_line(panel: &Panel) -> bool {
    panel.curves.iter().any(|curve| curve.points.len() > 1)
}
