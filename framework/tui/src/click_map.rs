//! The areas of the screen that react to the mouse.

use crate::keys::Key;
use ratatui::layout::Rect;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PanelPosition {
    Anywhere,
    /// The index of a line that the cursor can select.
    Line(usize),
    Heading(usize),
    /// A mark in a picture, by a number of the panel.
    Mark(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClickTarget {
    Panel(usize, PanelPosition),
    Tab(usize),
    /// A hint: a click presses the key.
    Key(Key),
}

#[derive(Debug, Default)]
pub struct ClickMap {
    areas: Vec<(Rect, ClickTarget)>,
}

impl ClickMap {
    /// Returns the target at a position. If areas overlap, the last one counts.
    pub(crate) fn at(&self, x: u16, y: u16) -> Option<ClickTarget> {
        let here = |area: &Rect| area.contains((x, y).into());
        self.areas.iter().rev().find(|(area, _)| here(area)).map(|(_, target)| *target)
    }

    pub(crate) fn add(&mut self, area: Rect, target: ClickTarget) {
        self.areas.push((area, target));
    }
}
