//! What was drawn where, so that the mouse needs no memory of the layout.

use crate::keys::Key;
use ratatui::layout::Rect;

/// A place within a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spot {
    Anywhere,
    /// One of the lines that the cursor can be on.
    Line(usize),
    Heading(usize),
    /// A mark in a picture.
    Mark(usize),
}

/// What a click hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A panel, by its place among all, and where in it.
    Panel(usize, Spot),
    /// A word at the bottom that stands for a key.
    Key(Key),
}

/// What was drawn where.
#[derive(Debug, Default)]
pub struct Hits {
    spots: Vec<(Rect, Target)>,
}

impl Hits {
    /// What is at a place, the last thing drawn first.
    pub(crate) fn at(&self, x: u16, y: u16) -> Option<Target> {
        let here = |area: &Rect| area.contains((x, y).into());
        self.spots.iter().rev().find(|(area, _)| here(area)).map(|(_, target)| *target)
    }

    pub(crate) fn add(&mut self, area: Rect, target: Target) {
        self.spots.push((area, target));
    }
}
