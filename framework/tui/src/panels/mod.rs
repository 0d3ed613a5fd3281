//! All panels; each is a module.

pub(crate) mod cases;
pub(crate) mod comparison;
mod curves;
mod details;
mod explore;
mod log;
mod network;
mod parts;
mod what_if;
mod winners;

use crate::panel::AnyPanel;

/// The number of panels that are always visible on a large screen. The other panels share one area,
/// in which one of them is visible at a time.
pub(crate) const FIXED: usize = 3;

/// The indices of the panels that other modules refer to.
pub(crate) const EXPLORE: usize = 0;
pub(crate) const CASES: usize = 1;
pub(crate) const COMPARISON: usize = 2;
pub(crate) const PARTS: usize = 4;
pub(crate) const DETAILS: usize = 6;
pub(crate) const LOG: usize = 7;

/// Returns all panels in the order of their numbers. To add a panel, implement
/// [`crate::panel::Panel`] and [`crate::panel::Keyed`] in a new module, and add the panel to this
/// list. Tests then report what is missing in docs/dashboard.md.
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
