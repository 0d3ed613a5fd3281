//! The panels, each in its own module, and the views that consist of them.

mod choose;
mod curves;
mod details;
mod log;
mod map;
mod network;
mod parts;
pub(crate) mod table;
mod what_if;

use crate::keys::{Key, KeyRow, ch};
use crate::panel::AnyPanel;

/// The indices of the views that other modules refer to.
pub(crate) const CHOOSE: usize = 0;
pub(crate) const WINNERS: usize = 2;
pub(crate) const WHY: usize = 3;
/// The number of views. The overlays have the numbers after the last view.
pub(crate) const VIEWS: usize = 5;

/// A view: one or several panels, of which one is shown at a time.
pub(crate) struct View {
    /// The word on the tab.
    pub(crate) tab: &'static str,
    panels: Vec<Box<dyn AnyPanel>>,
    pictures: &'static [Picture],
    at: usize,
}

/// A picture of a view that has several: its key, what it shows, its panel, and the number of the
/// picture among those of the panel.
struct Picture {
    key: Key,
    name: &'static str,
    help: &'static str,
    panel: usize,
    number: usize,
}

const fn picture(
    key: char,
    name: &'static str,
    help: &'static str,
    panel: usize,
    number: usize,
) -> Picture {
    Picture { key: ch(key), name, help, panel, number }
}

const WINNERS_PICTURES: &[Picture] = &[
    picture('m', "map", "show the map of the fastest algorithms", 0, 0),
    picture('c', "curves", "show time against block size, nodes or another number", 1, 0),
];

const WHY_PICTURES: &[Picture] = &[
    picture('p', "parts", "show the parts of the time of each algorithm", 0, 0),
    picture('r', "ranks", "show ranks against time", 1, 1),
    picture('n', "network", "show the network, step by step", 1, 0),
];

/// Returns a view with one panel.
fn one(tab: &'static str, panel: Box<dyn AnyPanel>) -> View {
    View { tab, panels: vec![panel], pictures: &[], at: 0 }
}

/// Returns all views in the order of their numbers.
pub(crate) fn views() -> Vec<View> {
    vec![
        one("Choose", Box::<choose::Choose>::default()),
        one("Table", Box::<table::Table>::default()),
        View {
            tab: "Winners",
            panels: vec![Box::<map::Map>::default(), Box::<curves::Curves>::default()],
            pictures: WINNERS_PICTURES,
            at: 0,
        },
        View {
            tab: "Why",
            panels: vec![Box::<parts::Parts>::default(), Box::<network::Network>::default()],
            pictures: WHY_PICTURES,
            at: 0,
        },
        one("What if", Box::<what_if::WhatIf>::default()),
    ]
}

/// The overlays, which are drawn above the views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overlay {
    Details,
    Log,
}

/// Returns the overlays, in the order of [`Overlay`].
pub(crate) fn overlays() -> Vec<View> {
    vec![one("Details", Box::<details::Details>::default()), one("Log", Box::<log::Log>::default())]
}

impl View {
    pub(crate) fn panel(&self) -> &dyn AnyPanel {
        &*self.panels[self.pictures.get(self.at).map_or(0, |picture| picture.panel)]
    }

    pub(crate) fn panel_mut(&mut self) -> &mut dyn AnyPanel {
        &mut *self.panels[self.pictures.get(self.at).map_or(0, |picture| picture.panel)]
    }

    /// Returns all panels, also those that are not shown.
    pub(crate) fn panels(&self) -> &[Box<dyn AnyPanel>] {
        &self.panels
    }

    pub(crate) fn panels_mut(&mut self) -> &mut [Box<dyn AnyPanel>] {
        &mut self.panels
    }

    pub(crate) fn picture_of(&self, key: Key) -> Option<usize> {
        self.pictures.iter().position(|picture| picture.key == key)
    }

    /// Shows a picture, given by its number. The first picture follows the last one.
    pub(crate) fn show(&mut self, number: usize) {
        self.at = if self.pictures.is_empty() { 0 } else { number % self.pictures.len() };
        if let Some(picture) = self.pictures.get(self.at) {
            self.panels[picture.panel].show_picture(picture.number);
        }
    }

    /// Returns the number of the first picture that a panel shows.
    pub(crate) fn picture_with(&self, panel: usize) -> usize {
        self.pictures.iter().position(|picture| picture.panel == panel).unwrap_or(0)
    }

    pub(crate) fn picture(&self) -> usize {
        self.at
    }

    /// Returns the rows of the key table that switch between pictures.
    pub(crate) fn rows(&self) -> Vec<KeyRow> {
        let row = |picture: &Picture| {
            KeyRow::new(picture.name.to_owned(), picture.key, picture.help).hinted(
                picture.key.name(),
                picture.name,
                u8::MAX,
            )
        };
        self.pictures.iter().map(row).collect()
    }
}
