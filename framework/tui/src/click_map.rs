//! The click map. It states which areas of the screen react to the mouse, and is filled while a
//! frame is drawn.

use crate::keys::Key;
use ratatui::layout::Rect;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PanelPosition {
    Anywhere,
    /// The index of a line that the cursor can select.
    Line(usize),
    Heading(usize),
    /// A mark in a picture, such as a bar or a cell. Each panel defines the numbers of its marks.
    Mark(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClickTarget {
    /// A place in a view or an overlay, given by its number.
    Panel(usize, PanelPosition),
    Tab(usize),
    /// A hint in the bottom line. A click on it has the same effect as pressing the key.
    Key(Key),
}

#[derive(Debug, Default)]
pub struct ClickMap {
    areas: Vec<(Rect, ClickTarget)>,
}

impl ClickMap {
    /// Returns the target at a position. If areas overlap, the one that was added last is returned.
    pub(crate) fn at(&self, x: u16, y: u16) -> Option<ClickTarget> {
        let here = |area: &Rect| area.contains((x, y).into());
        self.areas.iter().rev().find(|(area, _)| here(area)).map(|(_, target)| *target)
    }

    pub(crate) fn add(&mut self, area: Rect, target: ClickTarget) {
        self.areas.push((area, target));
    }
}
