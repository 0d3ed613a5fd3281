//! The panels there are: a file, or folder, each.

mod cases;
mod comparison;
mod curves;
mod details;
mod explore;
mod log;
mod network;
mod parts;
mod what_if;
mod winners;

use crate::panel::AnyPanel;

/// How many of them are always on a screen that has room; the others share a place.
pub(crate) const FIXED: usize = 3;

/// Where those stand that the rest of the screen asks for.
pub(crate) const EXPLORE: usize = 0;
pub(crate) const CASES: usize = 1;
pub(crate) const COMPARISON: usize = 2;
pub(crate) const PARTS: usize = 4;
pub(crate) const DETAILS: usize = 6;

/// All panels, by their numbers. To add one: a file that implements [`crate::panel::Panel`] and
/// [`crate::panel::Keyed`], and a row here; tests name what docs/dashboard.md then lacks.
pub(crate) fn all() -> Vec<Box<dyn AnyPanel>> {
    vec![
        Box::<explore::Explore>::default(),
        Box::<cases::Cases>::default(),
        Box::<comparison::Comparison>::default(),
        Box::<curves::Curves>::default(),
        Box::<parts::Parts>::default(),
        Box::<network::Network>::default(),
        Box::<details::Details>::default(),
        Box::<log::Log>::default(),
        Box::<winners::Winners>::default(),
        Box::<what_if::WhatIf>::default(),
    ]
}
