//! The legend: the line and marker of each curve.

use super::marker::marker;
use super::{letter, remarks};
use crate::figure::Figure;
use crate::marks::scene::{Anchor, GREY, Scene};
use crate::marks::text::{width, wrapped};

/// The dash pattern of the reference curve. No curve of an algorithm has this pattern.
pub(super) const REFERENCE_DASHES: &[f64] = &[1.5, 2.5];

/// The length of a sample of a line, in multiples of the font size.
const SAMPLE: f64 = 3.4;
const GAP: f64 = 0.8;

fn curves(figure: &Figure) -> (Vec<&str>, Option<&str>) {
    let reference = figure.panels.iter().find_map(|panel| Some(&*panel.reference.as_ref()?.name));
    (figure.names.iter().map(String::as_str).chain(reference).collect(), reference)
}

/// Returns the width of a legend that has one column. It is at most 40 % of the width of the page.
pub(super) fn width_of_names(figure: &Figure, page: f64, font: f64) -> f64 {
    let (names, _) = curves(figure);
    let longest = names.iter().map(|name| width(figure.label(name), font)).fold(0.0, f64::max);
    (longest + (SAMPLE + GAP) * font).min(0.4 * page)
}

pub(super) fn names(
    scene: &mut Scene,
    figure: &Figure,
    (left, right): (f64, f64),
    top: f64,
    font: f64,
) -> f64 {
    let (sample, gap, row) = (SAMPLE * font, GAP * font, 1.7 * font);
    let room = right - left;
    let most = room - sample - gap;
    let (names, reference) = curves(figure);
    let entries: Vec<Vec<String>> =
        names.iter().map(|name| wrapped(figure.label(name), font, most)).collect();
    let longest = entries.iter().flatten().map(|line| width(line, font)).fold(0.0, f64::max);
    let column = sample + gap + longest + 2.0 * font;
    let fit =
        ((room + 2.0 * font) / column).floor().clamp(1.0, entries.len().max(1) as f64) as usize;
    // Entries are distributed evenly: five become rows of three and two, not four and one.
    let columns = entries.len().div_ceil(entries.len().div_ceil(fit).max(1)).max(1);
    let left = left + ((room - columns as f64 * column + 2.0 * font) / 2.0).max(0.0);
    let mut top = top;
    for (names, lines) in names.chunks(columns).zip(entries.chunks(columns)) {
        for (place, (name, lines)) in names.iter().zip(lines).enumerate() {
            let (x, y) = (left + place as f64 * column, top + row / 2.0);
            if Some(*name) == reference {
                scene.line(vec![(x, y), (x + sample, y)], GREY, 0.125 * font, REFERENCE_DASHES);
            } else {
                let style = figure.styles.get(name);
                scene.line(vec![(x, y), (x + sample, y)], style.colour, 0.125 * font, style.dashes);
                scene.marks.push(marker(style, (x + sample / 2.0, y), 0.36 * font, None));
            }
            for (number, line) in lines.iter().enumerate() {
                let at = (x + sample + gap, y + 0.36 * font + 1.2 * font * number as f64);
                scene.text(at, line, font, Anchor::Start);
            }
        }
        let lines = lines.iter().map(Vec::len).max().unwrap_or(1) as f64;
        top += row + (lines - 1.0) * 1.2 * font;
    }
    top
}

pub(super) fn crossovers(scene: &mut Scene, figure: &Figure, top: f64, font: f64) -> f64 {
    let left = font;
    let mut top = top;
    for (number, words) in figure.crossover_texts().enumerate() {
        top += 0.3 * font;
        for (line_number, line) in
            wrapped(&words, font, scene.width - left - 3.0 * font).iter().enumerate()
        {
            top += 1.2 * font;
            if line_number == 0 {
                scene.text((left, top), &letter(number), font, Anchor::Start);
            }
            scene.text((left + 2.0 * font, top), line, font, Anchor::Start);
        }
    }
    top
}

pub(super) fn bars(scene: &mut Scene, figure: &Figure, top: f64, font: f64) -> f64 {
    if !figure.has_bars() {
        return top;
    }
    remarks(scene, &[figure.bars_label.to_owned()], top, font)
}
