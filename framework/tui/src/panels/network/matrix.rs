//! The communication matrix of a step. It has a row for each sender and a column for each receiver.

use super::communicators;
use super::view::{Heat, PictureInfo, Quantity};
use crate::paint::{Painter, width};
use crate::session::recording::{Frame, Pair};
use ratatui::layout::Rect;
use std::collections::BTreeMap;

/// The colour of a message shows its size, the maximum load of the links on its route, or its
/// communicator. If there are too many nodes, one mark represents all messages between two groups of
/// nodes.
pub(super) fn matrix(
    painter: &mut Painter<'_, '_>,
    heat: &Heat<'_>,
    pairs: &[Pair],
    frame: &Frame,
    area: Rect,
) -> PictureInfo {
    // A mark represents the messages from `side` senders to `side` receivers. Use the smallest
    // `side` with which all nodes fit.
    let theme = painter.theme;
    let nodes = heat.recording.topology.nodes().max(1);
    let label = width(&(nodes - 1).to_string());
    let (room, high) = (
        u64::from(area.width.saturating_sub(label + 3)).max(1),
        u64::from(area.height.saturating_sub(1)).max(1),
    );
    let side = nodes.div_ceil(high).max(nodes.div_ceil(room));
    let marks = nodes.div_ceil(side);
    let wide = if marks * 2 <= room { 2 } else { 1 };
    // A mark shows the maximum value of its messages. A key of the map is the row and the column of
    // a mark. A map saves memory, because most pairs of nodes do not communicate in a step.
    let mut cells: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let of_ranks = communicators::of_ranks(heat.recording);
    for pair in pairs {
        let value = match heat.quantity {
            Quantity::Messages => pair.shared,
            Quantity::Bytes | Quantity::Held | Quantity::Loss => pair.load,
            Quantity::Communicator => of_ranks[pair.from as usize],
        };
        let of_cell = cells.entry((pair.from / side, pair.to / side)).or_default();
        *of_cell = heat.quantity.joined(*of_cell, value);
    }
    let left = (room - marks * wide) as u16 / 2;
    let place = Rect { x: area.x + left, width: area.width.saturating_sub(left), ..area };
    // Write the numbers of the receivers above the matrix.
    let apart = (u64::from(label) + 1).div_ceil(wide);
    for column in (0..marks).step_by(apart as usize) {
        let x = label + 2 + (column * wide) as u16;
        painter.put(place, x, 0, &(column * side).to_string(), theme.dim);
    }
    for row in 0..marks {
        let y = 1 + row as u16;
        painter.put_right(place, label + 1, y, &(row * side).to_string(), theme.dim);
        for column in 0..marks {
            let x = label + 2 + (column * wide) as u16;
            let (mark, style) = match cells.get(&(row, column)) {
                None => ('·', theme.dim),
                Some(shared) if heat.quantity == Quantity::Messages => {
                    let digit = char::from_digit((*shared).min(10) as u32, 10).unwrap_or('+');
                    (if theme.coloured { '■' } else { digit }, theme.heat(heat.level(*shared)))
                }
                Some(value) => heat.mark(&theme, *value),
            };
            painter.dot(place, x, y, mark, style);
        }
    }
    // Draw the message that broke a rule last, so that its mark covers the mark of the load.
    if let Some((from, to)) = frame.at_fault {
        let (x, y) = (label + 2 + (to / side * wide) as u16, 1 + (from / side) as u16);
        painter.dot(place, x, y, '✕', theme.bad);
    }
    let square = if side > 1 { format!(", a mark is {side}x{side} nodes") } else { String::new() };
    let what = format!("rows send to columns{square}");
    let has_digits = heat.quantity == Quantity::Messages && !theme.coloured;
    PictureInfo { of_messages: true, has_digits, ..PictureInfo::heat(what) }
}
