//! Child processes of this program that run plugins: workers, and the processes that describe
//! plugin files, reproduce papers or `check` plugins. This module does not depend on cases.

pub(crate) mod child;
pub(crate) mod child_side;
pub(crate) mod group;
mod printed;
pub(crate) mod shared;
pub(crate) mod state;
