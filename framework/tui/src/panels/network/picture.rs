//! The picture that shows a step, and the legend of this picture.

use super::communicators;
use super::grid::grid;
use super::histogram::histogram;
use super::lattice::Lattice;
use super::matrix::matrix;
use super::rank_times::rank_times;
use super::stepwise_ranks::stepwise_ranks;
use super::view::{Heat, Picture, PictureInfo, Quantity, View, shade};
use crate::paint::{Painter, below};
use crate::session::recording::Frame;
use crate::theme::LEVELS;
use ratatui::layout::Rect;
use swapmeet_core::cost::kind::Kind;

pub(super) fn legend(
    painter: &mut Painter<'_, '_>,
    heat: &Heat<'_>,
    frame: &Frame,
    drawn: &PictureInfo,
    area: Rect,
) {
    let theme = painter.theme;
    let quantity = heat.quantity;
    // A plot against time does not show loads. Its legend names the kinds of time.
    if !drawn.has_heat {
        let entry = |kind: Kind| {
            let (mark, style) = theme.part(kind);
            drawn.kinds.filter(|kinds| kinds[kind] > 0.0)?;
            Some([(mark.to_string(), style), (kind.name().to_owned(), theme.text)])
        };
        let notes = drawn.note.split("; ").map(|note| {
            let (mark, text) = note.split_once(' ').unwrap_or((note, ""));
            [mark, text].map(|text| (text.to_owned(), theme.dim))
        });
        painter.legend(area, Kind::ALL.into_iter().filter_map(entry).chain(notes));
        return;
    }
    // Every other picture shows a quantity. Its legend starts with the name of this quantity.
    let what = match quantity {
        Quantity::Messages if drawn.of_messages => "maximum link load on the route of a message",
        Quantity::Messages => "messages on a link",
        Quantity::Bytes if drawn.of_messages => "bytes of a message",
        Quantity::Bytes => "bytes on a link",
        Quantity::Held => "bytes held by a node",
        Quantity::Loss => "time without the link",
        Quantity::Communicator if drawn.of_messages => "of a message",
        Quantity::Communicator => "on a link",
    };
    if quantity == Quantity::Communicator {
        return communicators::legend(painter, heat.recording, frame, (what, &drawn.note), area);
    }
    // In a theme without colours, cells contain digits. Each digit represents a range of the
    // quantity.
    if drawn.has_digits {
        let digits = if quantity == Quantity::Messages {
            "number of messages, + for more than 9".to_owned()
        } else {
            format!("1 to {} for up to {}", LEVELS - 1, heat.end())
        };
        let nodes = if drawn.of_messages || quantity == Quantity::Loss {
            ""
        } else {
            "; ■ sends, □ does not send"
        };
        let x = painter.put(area, 1, 0, &format!("{what}: {digits}{nodes}"), theme.text) + 2;
        painter.put(area, x, 0, &drawn.note, theme.dim);
        return;
    }
    let mut x = painter.put(area, 1, 0, &format!("{what}: {}", heat.text(0)), theme.text) + 1;
    if heat.is_exact() {
        // Each value has its own colour, so draw each value with its mark.
        for load in 0..=heat.most {
            if load > 0 {
                x = painter.put(area, x, 0, &heat.text(load), theme.text) + 1;
            }
            let (mark, style) = heat.mark(&theme, load);
            painter.dot(area, x, 0, mark, style);
            x += 3;
        }
    } else {
        for level in 0..LEVELS {
            let (mark, style) = shade(&theme, level);
            painter.dot(area, x, 0, mark, style);
            x += 1;
        }
        x = painter.put(area, x + 1, 0, &heat.end(), theme.text) + 2;
    }
    painter.put(area, x, 0, &drawn.note, theme.dim);
}

/// Draws the selected kind of picture, or another kind if the selected one is not available. If the
/// topology is not a grid, the matrix is drawn. If the step has too many messages for the matrix,
/// or if the quantity is the amount of data in nodes, the histogram is drawn.
pub(super) fn draw(
    painter: &mut Painter<'_, '_>,
    heat: &Heat<'_>,
    (step, frame): (usize, &Frame),
    view: &View,
    mut area: Rect,
) -> PictureInfo {
    if view.picture == Picture::RanksOverTime {
        if heat.recording.awaits_ranks() {
            painter.placeholder(area, "Simulating the times of ranks ...");
            return PictureInfo { has_heat: false, ..PictureInfo::heat(String::new()) };
        }
        let drawn = match heat.recording.ranks.as_deref() {
            Some(known) => rank_times(painter, heat.recording, known, step, view, area),
            None => stepwise_ranks(painter, heat.recording, step, view, area),
        };
        if let Some(drawn) = drawn {
            return drawn;
        }
        if !heat.recording.is_growing() && !heat.recording.lacks_ranks() {
            let model = &heat.recording.key.setting.model;
            let text =
                format!("The model {model} has no times of steps or ranks, so this is the step.");
            painter.put(area, 1, 0, &text, painter.theme.warn);
            area = below(area, 1);
        }
    }
    let lattice = Lattice::of(heat.recording.topology.as_ref(), view.plane, view.turned);
    let pairs =
        Some(&frame.pairs).filter(|pairs| heat.quantity != Quantity::Held && !pairs.is_empty());
    match (view.picture, lattice, pairs) {
        (Picture::Network, Some(lattice), _) => grid(painter, heat, frame, &lattice, view, area),
        (Picture::Network | Picture::Matrix | Picture::RanksOverTime, _, Some(pairs)) => {
            matrix(painter, heat, pairs, frame, area)
        }
        (Picture::Network | Picture::Matrix | Picture::RanksOverTime, _, _) => {
            histogram(painter, heat, frame, area);
            PictureInfo::heat(String::new())
        }
    }
}
