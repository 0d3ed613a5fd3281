//! The figures of a report: for each collective, a map of the fastest algorithms, and curves.

use super::{Chapter, Files, closed, list};
use crate::appearance::Appearance;
use crate::draw::Drawable;
use crate::error::FigureError;
use crate::figure::{Figure, FigureOptions, Panel};
use crate::marks::Paper;
use crate::quantity::Quantity;
use crate::style::Styles;
use crate::winners::WinnerFigure;
use std::collections::BTreeSet;
use swapmeet_results::analysis::Axis;
use swapmeet_results::units::count;
use swapmeet_results::{Record, escaped};

/// The maximum number of figures of maps that are visible at first, for each collective.
const MOST_MAPS: usize = 3;
/// The maximum number of figures of curves that are visible at first, for each collective.
const MOST_CURVES: usize = 2;
/// The maximum number of maps in a figure, so that the figure fits on a page.
const MOST_ROWS: usize = 4;
/// The maximum number of panels in a figure of curves, so that the figure fits on a page.
const MOST_PANELS: usize = 6;
/// The width of a figure of several panels. It is shown at 86 % of this width on A4 paper.
const WIDE: &str = "860px";
/// The width of the layout for small screens.
const NARROW: &str = "330px";

/// Returns a chapter for each collective that has any figure.
pub(super) fn figures(files: &Files, baseline: Option<&str>, styles: &Styles) -> Vec<Chapter> {
    let parts = divided(files, |row| row.collective.clone());
    let is_only = parts.len() == 1;
    let mut number = 0;
    let chapter = |part: Vec<(String, Vec<Record>)>| {
        let collective = part.iter().flat_map(|(_, rows)| rows).next()?.collective.clone();
        let body = of_collective(&part, baseline, styles, &mut number);
        let heading =
            if is_only { "Figures".to_owned() } else { format!("Figures of {collective}") };
        let id =
            format!("figures-{}", collective.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        (!body.is_empty()).then_some(Chapter { id, heading, body })
    };
    parts.into_iter().filter_map(chapter).collect()
}

/// Returns the figures of the rows of one collective. `number` is the number of the last figure on
/// the page so far.
fn of_collective(
    files: &Files,
    baseline: Option<&str>,
    styles: &Styles,
    number: &mut usize,
) -> String {
    let mut notes = BTreeSet::new();
    let (mut visible, mut others) = (Vec::new(), Vec::new());
    let maps = drawn(files, MOST_ROWS, |map| map.maps.len(), &|part| {
        let mut figure = WinnerFigure::of(part, &Appearance::default())?;
        // Omit a map whose cases are all in earlier maps. The maps of machines are after the maps
        // of networks, and usually have the same cases.
        let mut known = BTreeSet::new();
        figure.maps.retain(|map| {
            let groups: Vec<usize> = map.groups().collect();
            let is_new = groups.iter().any(|group| !known.contains(group));
            known.extend(groups);
            is_new
        });
        Ok(figure)
    });
    for map in maps.into_iter().flatten() {
        // An algorithm has the same style in all figures of the page.
        let map = WinnerFigure { styles: styles.clone(), ..map };
        notes.extend(map.notes.iter().cloned());
        let place = if visible.len() < MOST_MAPS { &mut visible } else { &mut others };
        place.push(framed(&map, map.maps.len(), "Fastest algorithms", number));
    }
    let maps = visible.len();
    // A baseline of another collective has no rows here.
    let has_baseline =
        |name: &&str| files.iter().flat_map(|(_, rows)| rows).any(|row| row.algorithm == **name);
    let baseline = baseline.filter(has_baseline);
    let ratio = baseline.map(|_| Quantity::Ratio);
    for y in [Some(Quantity::Time), ratio].into_iter().flatten() {
        for x in Axis::ALL {
            let options = FigureOptions { baseline, ..FigureOptions::new(x, y) };
            let curves = drawn(files, MOST_PANELS, |figure| figure.panels.len(), &|part| {
                Figure::of(part, &options)
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
                        place.push(framed(&figure, figure.panels.len(), &caption, number));
                    }
                    // If a figure would have too many curves, a note says so, because readers
                    // expect the figure.
                    Err(error @ (FigureError::ManyPanels { .. } | FigureError::ManyCurves(_))) => {
                        let (y, x) = (y.label(), x.label());
                        notes.insert(format!("No figure of {y} against {x}: {error}."));
                    }
                    // Make no figure if the cases do not vary along the axis.
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }
    let mut out = visible.concat();
    out += &list(notes.iter().map(|note| escaped(note)));
    if !others.is_empty() {
        out += &closed(&count(others.len(), "further figure"), &others.concat());
    }
    out
}

/// Makes one figure of the rows, or several figures if one would be too large. `figure` makes a
/// figure, and `parts` returns its number of panels or maps. A figure is too large if this number
/// exceeds `most`.
///
/// The rows of a figure that is too large are divided by their machine. If all rows have the same
/// machine, they are divided by their kind of workload, and if they also have the same kind of
/// workload, by their topology. A figure is made of each group of rows in the same way, so a group
/// may be divided again. If the rows cannot be divided, the result of `figure` is returned
/// unchanged.
fn drawn<T>(
    files: &Files,
    most: usize,
    parts: fn(&T) -> usize,
    figure: &dyn Fn(&Files) -> Result<T, FigureError>,
) -> Vec<Result<T, FigureError>> {
    let result = figure(files);
    let has_many = match &result {
        Ok(figure) => parts(figure) > most,
        Err(error) => matches!(error, FigureError::ManyPanels { .. }),
    };
    if !has_many {
        return vec![result];
    }
    let settings: [fn(&Record) -> String; 3] = [
        |row| format!("{} {} {}", row.machine, row.machine_definition, row.model),
        |row| row.workload.split(':').next().unwrap_or_default().to_owned(),
        |row| row.topology.clone(),
    ];
    let mut divisions = settings.into_iter().map(|setting| divided(files, setting));
    match divisions.find(|division| division.len() > 1) {
        Some(division) => {
            division.iter().flat_map(|part| drawn(part, most, parts, figure)).collect()
        }
        None => vec![result],
    }
}

/// Divides the rows by the result of `text`, in the order in which the results first occur.
fn divided(files: &Files, text: fn(&Record) -> String) -> Vec<Vec<(String, Vec<Record>)>> {
    let mut known = BTreeSet::new();
    let texts = files.iter().flat_map(|(_, rows)| rows).map(text);
    let texts: Vec<String> = texts.filter(|text| known.insert(text.clone())).collect();
    let of = |wanted: String| {
        let file = |(name, rows): &(String, Vec<Record>)| {
            let rows = rows.iter().filter(|row| text(row) == wanted).cloned().collect();
            (name.clone(), rows)
        };
        files.iter().map(file).collect()
    };
    texts.into_iter().map(of).collect()
}

/// Returns a figure with its caption, in a layout for large screens and paper and in a layout for
/// small screens.
fn framed(figure: &dyn Drawable, panels: usize, caption: &str, number: &mut usize) -> String {
    *number += 1;
    let svg = |width: Option<&str>| {
        let width = width.and_then(|width| width.parse().ok());
        figure.picture(&Paper { width, font: None }).svg()
    };
    let (wide, narrow) = (svg((panels > 1).then_some(WIDE)), svg(Some(NARROW)));
    format!(
        "<figure role=\"img\" aria-label=\"{0}\"><div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div><figcaption>Figure {number}. {0}.</figcaption></figure>\n",
        escaped(caption)
    )
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().to_string() + letters.as_str())
        .unwrap_or_default()
}

/// Returns whether any curve of the panel has several points, so that it has a line.
fn has_a_line(panel: &Panel) -> bool {
    panel.curves.iter().any(|curve| curve.points.len() > 1)
}
