//! A step of a schedule, drawn: a grid with the heat of its links, or how many links carry how much.

use super::lattice::{Across, Lattice};
use super::view::{Heat, Quantity};
use crate::paint::{Painter, width};
use crate::session::recording::{Frame, Recording};
use crate::theme::{LEVELS, SHADES};
use ratatui::layout::Rect;
use ratatui::style::Style;
use swapmeet_results::units;

/// What the colours mean.
pub(super) fn legend(painter: &mut Painter<'_, '_>, heat: &Heat<'_>, drawn: &Drawn, area: Rect) {
    let theme = painter.theme;
    let quantity = heat.quantity;
    let what = match quantity {
        Quantity::Messages => "messages on a link",
        Quantity::Bytes => "bytes on a link",
        Quantity::Held => "bytes held by a node",
    };
    let mark = |level: usize| if theme.coloured && level > 0 { '█' } else { SHADES[level] };
    if drawn.figures {
        let figures = if quantity == Quantity::Messages {
            "their number, + for more than 9".to_owned()
        } else {
            format!("from 1 to {} for {}", LEVELS - 1, heat.end())
        };
        let x = painter.put(area, 1, 0, &format!("{what}: {figures}; ■ sends, □ doesn't"), theme.text) + 2;
        painter.put(area, x, 0, &drawn.note, theme.dim);
        return;
    }
    let mut x = painter.put(area, 1, 0, &format!("{what}: {}", heat.text(0)), theme.text) + 1;
    if heat.is_exact() {
        // Few enough for each to have its own.
        painter.dot(area, x, 0, mark(0), theme.heat(0));
        x += 3;
        for load in 1..=heat.most {
            x = painter.put(area, x, 0, &heat.text(load), theme.text) + 1;
            painter.dot(area, x, 0, mark(heat.level(load)), theme.heat(heat.level(load)));
            x += 3;
        }
    } else {
        for level in 0..LEVELS {
            painter.dot(area, x, 0, mark(level), theme.heat(level));
            x += 1;
        }
        x = painter.put(area, x + 1, 0, &heat.end(), theme.text) + 2;
    }
    painter.put(area, x, 0, &drawn.note, theme.dim);
}

/// How a network was drawn.
pub(super) struct Drawn {
    /// What has to be said about it.
    pub(super) note: String,
    /// Whether links are figures, as they are without colours, rather than in the colours of the legend.
    pub(super) figures: bool,
}

/// A heat map of a grid, or of a plane of one.
pub(super) fn grid(
    painter: &mut Painter<'_, '_>,
    heat: &Heat<'_>,
    frame: &Frame,
    lattice: &Lattice,
    area: Rect,
) -> Drawn {
    let (quantity, recording) = (heat.quantity, heat.recording);
    let (loads, across) = lattice.loads(recording.topology.as_ref(), frame, quantity == Quantity::Bytes);
    let area = if recording.topology.radices().len() == 3 && area.height > 3 {
        let foot = Rect { y: area.y + area.height - 1, height: 1, ..area };
        painter.put(foot, 1, 0, &plane_in_words(recording, quantity, lattice, across), painter.theme.text);
        Rect { height: area.height - 1, ..area }
    } else {
        area
    };
    let (rows, columns) = lattice.shape(area.width.saturating_sub(2) / 4);
    if columns * 4 <= u64::from(area.width.saturating_sub(1)) && rows * 2 <= u64::from(area.height) {
        let left = (u64::from(area.width) - columns * 4) / 2;
        let place = Rect { x: area.x + left as u16, width: area.width - left as u16, ..area };
        for index in 0..lattice.nodes() {
            let (x, y) = ((index % columns * 4) as u16, (index / columns * 2) as u16);
            let held = frame.held.get(lattice.node(index) as usize).copied().unwrap_or(0);
            let own = loads[index as usize];
            node(painter, heat, (held, own.sends()), place, (x, y));
            mark_fault(painter, frame, lattice.node(index), place, (x, y));
            if quantity == Quantity::Held {
                continue;
            }
            let (right, below) = (lattice.beside(index), lattice.below(index));
            let back = right.map_or(0, |n| loads[n as usize].back);
            let up = below.map_or(0, |n| loads[n as usize].up);
            for (dx, dy, arrow, load) in [
                (2, 0, '▸', own.ahead),
                (3, 0, '◂', back),
                (0, 1, '▾', own.down),
                (1, 1, '▴', up),
                (3, 1, '◆', own.across),
            ] {
                link(painter, heat, (arrow, load), place, (x + dx, y + dy));
            }
        }
        return Drawn { note: String::new(), figures: quantity != Quantity::Held && !painter.theme.coloured };
    }
    // Too many for that: a mark a node, or a square of them, by the most of what it stands for.
    let (rows, columns) = lattice.shape(area.width.saturating_sub(2) / 2);
    let side = (columns * 2)
        .div_ceil(u64::from(area.width.max(2) - 1))
        .max(rows.div_ceil(u64::from(area.height.max(1))))
        .max(1);
    let (high, wide) = (rows.div_ceil(side), columns.div_ceil(side));
    // A line that is broken may leave places in its last row: no node is there.
    let mut cells = vec![None; (high * wide) as usize];
    for index in 0..lattice.nodes() {
        let value = match quantity {
            Quantity::Held => frame.held.get(lattice.node(index) as usize).copied().unwrap_or(0),
            _ => loads[index as usize].most(),
        };
        let cell = &mut cells[(index / columns / side * wide + index % columns / side) as usize];
        *cell = (*cell).max(Some(value));
    }
    let left = (u64::from(area.width).saturating_sub(wide * 2) / 2) as u16;
    for (i, value) in (0..).zip(cells) {
        let Some(value) = value else { continue };
        let hot = heat.level(value);
        let mark = if painter.theme.coloured && hot > 0 { '█' } else { SHADES[hot] };
        let (x, y) = (left + (i % wide * 2) as u16, (i / wide) as u16);
        painter.dot(area, x, y, mark, painter.theme.heat(hot));
        if hot > 0 {
            painter.dot(area, x + 1, y, mark, painter.theme.heat(hot));
        }
    }
    let of = if quantity == Quantity::Held { "" } else { "a node's busiest link" };
    let square = if side > 1 { format!("the most of {side}x{side} nodes") } else { String::new() };
    let note = [of, &square].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join(", ");
    Drawn { note, figures: false }
}

/// Which plane of three dimensions is seen, and what goes to others.
fn plane_in_words(recording: &Recording, quantity: Quantity, lattice: &Lattice, across: Across) -> String {
    let Lattice { plane, planes, across: dimension, .. } = lattice;
    let place = format!("plane {} of {planes} (dimension {})", plane + 1, dimension + 1);
    let size = |load| units::size(recording.bytes(load) as f64);
    match quantity {
        Quantity::Messages | Quantity::Bytes if across.sum == 0 => format!("{place}; nothing goes to other planes"),
        Quantity::Messages => {
            format!(
                "{place}; ◆ {} to other planes, busiest {}",
                units::count(across.sum as usize, "message"),
                across.most
            )
        }
        Quantity::Bytes => format!("{place}; ◆ {} to other planes, busiest {}", size(across.sum), size(across.most)),
        Quantity::Held => place,
    }
}

/// A node of the lattice: what it holds, or whether it sends.
fn node(painter: &mut Painter<'_, '_>, heat: &Heat<'_>, (held, sends): (u64, bool), area: Rect, (x, y): (u16, u16)) {
    let theme = painter.theme;
    let quantity = heat.quantity;
    let (mark, style) = match quantity {
        Quantity::Held => {
            let hot = heat.level(held);
            (if theme.coloured && hot > 0 { '█' } else { SHADES[hot] }, theme.heat(hot))
        }
        _ if sends => ('■', theme.text),
        _ => ('□', theme.dim),
    };
    // What is held fills the node's place; without it, that is left to its links.
    let (wide, high) = if quantity == Quantity::Held { (4, 2) } else { (1, 1) };
    for (dx, dy) in (0..high).flat_map(|dy| (0..wide).map(move |dx| (dx, dy))) {
        painter.dot(area, x + dx, y + dy, mark, style);
    }
}

/// Marks the ends of the send that broke a rule.
fn mark_fault(painter: &mut Painter<'_, '_>, frame: &Frame, node: u64, area: Rect, (x, y): (u16, u16)) {
    let Some((from, to)) = frame.at_fault else { return };
    let mark = if node == from { 'F' } else { 'T' };
    if node == from || node == to {
        painter.dot(area, x, y, mark, painter.theme.bad);
    }
}

/// A link: an arrow by the heat of its load, or a figure where there are no colours.
fn link(painter: &mut Painter<'_, '_>, heat: &Heat<'_>, (arrow, load): (char, u64), area: Rect, (x, y): (u16, u16)) {
    let theme = painter.theme;
    let hot = heat.level(load);
    let figure = if heat.quantity == Quantity::Messages { load } else { hot as u64 };
    let mark = match (hot, theme.coloured) {
        (0, _) => ' ',
        (_, true) => arrow,
        (_, false) => u32::try_from(figure).ok().and_then(|f| char::from_digit(f, 10)).unwrap_or('+'),
    };
    painter.dot(area, x, y, mark, theme.heat(hot));
}

/// How many links carry how much, or how many nodes hold how much.
pub(super) fn histogram(painter: &mut Painter<'_, '_>, heat: &Heat<'_>, frame: &Frame, area: Rect) {
    let theme = painter.theme;
    let (quantity, recording) = (heat.quantity, heat.recording);
    let mut values: Vec<u64> = match quantity {
        Quantity::Messages => frame.links.iter().map(|l| l.messages).collect(),
        Quantity::Bytes => frame.links.iter().map(|l| l.load).collect(),
        Quantity::Held => frame.held.clone(),
    };
    values.sort_unstable();
    let area = if quantity != Quantity::Held && area.height > 2 {
        let idle = recording.links.saturating_sub(values.len() as u64);
        let text = format!("{} of {} links carry something, {idle} idle", values.len(), recording.links);
        painter.put(area, 1, 0, &text, theme.dim);
        Rect { y: area.y + 1, height: area.height - 1, ..area }
    } else {
        area
    };
    let bins = bins(&values, usize::from(area.height).max(1));
    let text = |load: u64| heat.text(load);
    let label = |(from, to, _): &(u64, u64, usize)| {
        if from == to { text(*from) } else { format!("{}..{}", text(*from), text(*to)) }
    };
    let labels = bins.iter().map(|b| width(&label(b))).max().unwrap_or(0);
    let most = bins.iter().map(|b| b.2).max().unwrap_or(1).max(1);
    let noun = if quantity == Quantity::Held { "node" } else { "link" };
    let room = area.width.saturating_sub(labels + 18);
    for (y, bin) in (0..).zip(&bins) {
        painter.put_right(area, 1 + labels, y, &label(bin), theme.text);
        let long = ((bin.2 * usize::from(room)).div_ceil(most)) as u16;
        let hot = heat.level(bin.1);
        for x in 0..long {
            painter.dot(area, labels + 3 + x, y, '█', theme.heat(hot));
        }
        painter.put(area, labels + 4 + long, y, &units::count(bin.2, noun), Style::new());
    }
}

/// Values, sorted, as at most so many bins of (least, most, count): one a value while there are few, else equally wide.
fn bins(values: &[u64], at_most: usize) -> Vec<(u64, u64, usize)> {
    let (Some(least), Some(most)) = (values.first(), values.last()) else { return Vec::new() };
    let mut single: Vec<(u64, u64, usize)> = Vec::new();
    for value in values {
        let full = single.len() == at_most;
        match single.last_mut() {
            Some(bin) if bin.0 == *value => bin.2 += 1,
            _ if full => {
                single.clear();
                break;
            }
            _ => single.push((*value, *value, 1)),
        }
    }
    if !single.is_empty() {
        return single;
    }
    let step = u128::from(most - least) / at_most as u128 + 1;
    let mut wide: Vec<(u64, u64, usize)> = Vec::new();
    for value in values {
        let from = least + (u128::from(value - least) / step * step) as u64;
        let to = u64::try_from(u128::from(from) + step - 1).unwrap_or(u64::MAX);
        match wide.last_mut() {
            Some(bin) if bin.0 == from => bin.2 += 1,
            _ => wide.push((from, to, 1)),
        }
    }
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_a_bin_each_and_many_share() {
        assert_eq!(bins(&[1, 1, 4], 3), [(1, 1, 2), (4, 4, 1)]);
        assert_eq!(bins(&[0, 1, 2, 3, 9], 2), [(0, 4, 4), (5, 9, 1)]);
        assert_eq!(bins(&[0, u64::MAX], 1).len(), 1);
        assert!(bins(&[], 3).is_empty());
    }
}
