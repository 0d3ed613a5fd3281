//! A heat map of a grid. It shows all planes of the grid if they fit, and otherwise one plane.

use super::cell::{Cell, LinkPlace};
use super::communicators;
use super::lattice::{InterPlaneLoad, Lattice, Loads};
use super::view::{DISCONNECTS, Heat, PictureInfo, Quantity, View};
use crate::paint::{Painter, below};
use crate::session::recording::{Frame, Recording};
use ratatui::layout::Rect;
use std::collections::HashSet;
use swapmeet_core::network::topology::Network;
use swapmeet_results::units;

pub(super) fn grid(
    painter: &mut Painter<'_, '_>,
    heat: &Heat<'_>,
    frame: &Frame,
    lattice: &Lattice,
    view: &View,
    area: Rect,
) -> PictureInfo {
    let (quantity, recording) = (heat.quantity, heat.recording);
    let working = WorkingLinks::of(recording.topology.as_ref());
    let shows_loads = !matches!(quantity, Quantity::Held | Quantity::Communicator);
    let has_digits = shows_loads && !painter.theme.coloured;
    let note = if working.ends.is_none() { "" } else { "✕ failed link" };
    if planes(painter, heat, frame, lattice, (view, &working), area) {
        return PictureInfo { has_digits, ..PictureInfo::heat(note.to_owned()) };
    }
    let (loads, across) = lattice.loads(recording.topology.as_ref(), frame, quantity);
    let has_foot = recording.topology.radices().len() == 3 && area.height > 3;
    if has_foot {
        let text = plane_in_words(recording, quantity, lattice, across);
        painter.put(area, 1, area.height - 1, &text, painter.theme.text);
    }
    let area = Rect { height: area.height - u16::from(has_foot), ..area };
    for least in [Cell::LEAST, Cell::FLAT] {
        let (rows, columns) = lattice.shape(area.width.saturating_sub(2) / least.wide);
        if let Some((cell, _)) = Cell::largest(1, rows, columns, area) {
            let left = area.width.saturating_sub(columns as u16 * cell.wide) / 2;
            let place = Rect { x: area.x + left, width: area.width.saturating_sub(left), ..area };
            plane(painter, heat, frame, lattice, (&loads, columns, &working), cell, place);
            return PictureInfo { has_digits, ..PictureInfo::heat(note.to_owned()) };
        }
    }
    mosaic(painter, heat, frame, lattice, &loads, area)
}

/// Draws a plane that is too large for cells as a mosaic of blocks. A block stands for one node or
/// for several adjacent nodes, and shows the maximum of their values.
fn mosaic(
    painter: &mut Painter<'_, '_>,
    heat: &Heat<'_>,
    frame: &Frame,
    lattice: &Lattice,
    loads: &[Loads],
    area: Rect,
) -> PictureInfo {
    // Choose how many nodes a block has, and how many blocks are drawn, vertically and
    // horizontally. The blocks fill the whole area, so their heights and widths may differ by one
    // character.
    let (rows, columns) = lattice.shape(area.width.saturating_sub(2) / 2);
    let mut room = [u64::from(area.height).max(1), u64::from(area.width.saturating_sub(2)).max(1)];
    if heat.recording.topology.radices().len() == 1 {
        // A one-dimensional grid is broken into rows. Leave no empty space between these rows.
        room[0] = room[0].min(rows);
    }
    let [down, across] = [rows.div_ceil(room[0]), columns.div_ceil(room[1])];
    let [many_down, many_across] = [rows.div_ceil(down).max(1), columns.div_ceil(across).max(1)];
    // The last row of a one-dimensional grid may have positions without a node. A block that has
    // only such positions stays `None`.
    let mut blocks = vec![None; (many_down * many_across) as usize];
    for index in 0..lattice.nodes() {
        let value = match heat.quantity {
            Quantity::Held => frame.held.get(lattice.node(index) as usize).copied().unwrap_or(0),
            quantity => loads[index as usize].joined(quantity),
        };
        let at = index / columns / down * many_across + index % columns / across;
        let block: &mut Option<u64> = &mut blocks[at as usize];
        *block = Some(heat.quantity.joined(block.unwrap_or(0), value));
    }
    for (i, value) in (0..).zip(blocks) {
        let Some(value) = value else { continue };
        let (mark, style) = heat.mark(&painter.theme, value);
        let border = |at: u64, room: u64, many: u64| (at * room / many) as u16;
        let x = |offset| 1 + border(i % many_across + offset, room[1], many_across);
        let y = |offset| border(i / many_across + offset, room[0], many_down);
        // A block without load is a single dot.
        let (end_x, end_y) =
            if heat.level(value) > 0 { (x(1), y(1)) } else { (x(0) + 1, y(0) + 1) };
        for (x, y) in (y(0)..end_y).flat_map(|y| (x(0)..end_x).map(move |x| (x, y))) {
            painter.dot(area, x, y, mark, style);
        }
    }
    let is_one = down * across == 1;
    let nodes = if is_one { "a node".to_owned() } else { format!("{down}x{across} nodes") };
    PictureInfo::heat(match heat.quantity {
        Quantity::Held if is_one => String::new(),
        Quantity::Held => format!("maximum of {nodes}"),
        Quantity::Loss => format!("most expensive link of {nodes}"),
        Quantity::Messages | Quantity::Bytes => format!("maximum link load of {nodes}"),
        Quantity::Communicator => format!("a mark is {nodes}"),
    })
}

/// Draws all planes of a three-dimensional grid. Returns false if they do not fit.
fn planes(
    painter: &mut Painter<'_, '_>,
    heat: &Heat<'_>,
    frame: &Frame,
    lattice: &Lattice,
    (view, working): (&View, &WorkingLinks),
    area: Rect,
) -> bool {
    let topology = heat.recording.topology.as_ref();
    let (rows, columns) = lattice.shape(u16::MAX);
    let largest = Cell::largest(lattice.planes, rows, columns, area);
    let Some((cell, per_row)) = largest.filter(|_| lattice.planes > 1) else { return false };
    let (wide, high) = (columns * u64::from(cell.wide) + 2, rows * u64::from(cell.high) + 1);
    for number in 0..lattice.planes {
        let Some(one) = Lattice::of(topology, number as usize, view.turned) else { return false };
        let (x, y) = ((1 + number % per_row * wide) as u16, (number / per_row * high) as u16);
        let place = Rect::new(area.x + x, area.y + y, wide as u16, high as u16);
        let (loads, across) = one.loads(topology, frame, heat.quantity);
        let is_load = matches!(heat.quantity, Quantity::Messages | Quantity::Bytes);
        let to_others = match across.sum {
            sum if sum > 0 && is_load => format!(" ◆ {}", heat.text(sum)),
            _ => String::new(),
        };
        let style = if number == lattice.plane { painter.theme.accent } else { painter.theme.dim };
        painter.put(place, 0, 0, &format!("plane {}{to_others}", number + 1), style);
        plane(painter, heat, frame, &one, (&loads, columns, working), cell, below(place, 1));
    }
    true
}

/// Draws a plane. Each node has a cell, which also shows its links.
fn plane(
    painter: &mut Painter<'_, '_>,
    heat: &Heat<'_>,
    frame: &Frame,
    lattice: &Lattice,
    (loads, columns, working): (&[Loads], u64, &WorkingLinks),
    cell: Cell,
    place: Rect,
) {
    let of_ranks = communicators::of_ranks(heat.recording);
    for index in 0..lattice.nodes() {
        let (x, y) = ((index % columns) as u16 * cell.wide, (index / columns) as u16 * cell.high);
        let held = frame.held.get(lattice.node(index) as usize).copied().unwrap_or(0);
        let own = loads[index as usize];
        let value = match heat.quantity {
            Quantity::Communicator => of_ranks[lattice.node(index) as usize],
            Quantity::Messages | Quantity::Bytes | Quantity::Held | Quantity::Loss => held,
        };
        node(painter, heat, (value, own.sends()), cell, place, (x, y));
        // Mark the sender and the receiver of the invalid send.
        let here = lattice.node(index);
        let mark = match frame.at_fault {
            Some((from, _)) if from == here => Some('F'),
            Some((_, to)) if to == here => Some('T'),
            _ => None,
        };
        if let Some(mark) = mark {
            painter.dot(place, x, y, mark, painter.theme.bad);
        }
        if heat.quantity == Quantity::Held {
            continue;
        }
        let (right, below) = (lattice.next_column(index), lattice.next_row(index));
        let back = right.map_or(0, |n| loads[n as usize].back);
        let up = below.map_or(0, |n| loads[n as usize].up);
        let marks = [('▸', own.ahead), ('◂', back), ('▾', own.down), ('▴', up), ('◆', own.across)];
        // The ends of the links to the neighbours, in the order of the marks.
        let node = |index| lattice.node(index);
        // A mesh has no link from the last position of a dimension to the first one.
        let near = |next: Option<u64>| next.filter(|next| working.is_closed || *next > index);
        let to = |next| near(next).map(|next| (node(index), node(next)));
        let from = |next| near(next).map(|next| (node(next), node(index)));
        let ends = [to(right), from(right), to(below), from(below), None];
        for ((link_place, mark), ends) in cell.links().into_iter().zip(marks).zip(ends) {
            let link_place = LinkPlace { x: x + link_place.x, y: y + link_place.y, ..link_place };
            if ends.is_some_and(|ends| working.has_failed(ends)) {
                let (dx, dy) = link_place.point();
                painter.dot(place, link_place.x + dx, link_place.y + dy, '✕', painter.theme.bad);
            } else {
                link(painter, heat, mark, link_place, place);
            }
        }
    }
}

/// Returns a text that states which plane is shown, and the load on links to other planes.
fn plane_in_words(
    recording: &Recording,
    quantity: Quantity,
    lattice: &Lattice,
    across: InterPlaneLoad,
) -> String {
    let Lattice { plane, planes, across: dimension, .. } = lattice;
    let place = format!("plane {} of {planes} (dimension {})", plane + 1, dimension + 1);
    let size = |load| units::size(recording.bytes(load) as f64);
    let (sum, most) = match quantity {
        Quantity::Messages => {
            (units::count(across.sum as usize, "message"), across.most.to_string())
        }
        _ => (size(across.sum), size(across.most)),
    };
    match quantity {
        Quantity::Messages | Quantity::Bytes if across.sum == 0 => {
            format!("{place}; no messages to other planes")
        }
        Quantity::Messages | Quantity::Bytes => {
            format!("{place}; ◆ {sum} to other planes, link load {most}")
        }
        Quantity::Held | Quantity::Loss | Quantity::Communicator => place,
    }
}

/// Draws a node. Its mark shows the amount of data in the node or, for other quantities, whether the
/// node sends. `value` is the amount of data or the communicator.
fn node(
    painter: &mut Painter<'_, '_>,
    heat: &Heat<'_>,
    (value, sends): (u64, bool),
    cell: Cell,
    area: Rect,
    (x, y): (u16, u16),
) {
    let theme = painter.theme;
    let quantity = heat.quantity;
    let (mark, style) = match quantity {
        Quantity::Held => heat.mark(&theme, value),
        Quantity::Loss => ('□', theme.dim),
        Quantity::Communicator if value > 0 => {
            (if sends { '■' } else { '□' }, communicators::mark(&theme, value).1)
        }
        _ if sends => ('■', theme.text),
        _ => ('□', theme.dim),
    };
    // The amount of data in a node fills the whole cell. Other marks of a node take one character,
    // because the links of the node need the remaining characters of the cell.
    let (wide, high) = if quantity == Quantity::Held { (cell.wide, cell.high) } else { (1, 1) };
    for (dx, dy) in (0..high).flat_map(|dy| (0..wide).map(move |dx| (dx, dy))) {
        painter.dot(area, x + dx, y + dy, mark, style);
    }
}

/// The links of a grid that still work.
struct WorkingLinks {
    /// The ends of all links that have not failed; `None` if no link of the grid has failed.
    ends: Option<HashSet<(u64, u64)>>,
    /// Whether the grid has links between the first and the last position of a dimension.
    is_closed: bool,
}

impl WorkingLinks {
    fn of(topology: &Network) -> Self {
        let has_failed = topology.damage().is_some() && topology.spec().contains("down=")
            || topology.damage().is_some_and(|damage| damage.drawn().contains("down="));
        let all = || (0..topology.link_slots()).filter_map(|link| topology.link_ends(link));
        Self { ends: has_failed.then(|| all().collect()), is_closed: topology.kind() != "mesh" }
    }

    /// Returns whether the link between two neighbours in the grid has failed.
    fn has_failed(&self, ends: (u64, u64)) -> bool {
        self.ends.as_ref().is_some_and(|working| !working.contains(&ends))
    }
}

/// Draws a link as an arrow whose colour shows the load. In themes without colours, a digit
/// replaces the point of the arrow; the mark of a communicator always does. A link without load is
/// not drawn.
fn link(
    painter: &mut Painter<'_, '_>,
    heat: &Heat<'_>,
    (arrow, load): (char, u64),
    place: LinkPlace,
    area: Rect,
) {
    let theme = painter.theme;
    let hot = heat.level(load);
    if hot == 0 {
        return;
    }
    let digit = if heat.quantity == Quantity::Messages { load } else { hot as u64 };
    let point = if theme.coloured {
        arrow
    } else {
        u32::try_from(digit).ok().and_then(|digit| char::from_digit(digit, 10)).unwrap_or('+')
    };
    let (point, style) = match heat.quantity {
        Quantity::Loss if load == DISCONNECTS => ('X', theme.bad),
        Quantity::Communicator => communicators::mark(&theme, load),
        _ => (point, theme.heat(hot)),
    };
    for at in 0..place.length {
        let line = if place.is_vertical { '│' } else { '─' };
        let (dx, dy) = if place.is_vertical { (0, at) } else { (at, 0) };
        let mark = if (dx, dy) == place.point() { point } else { line };
        painter.dot(area, place.x + dx, place.y + dy, mark, style);
    }
}
