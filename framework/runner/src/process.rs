//! Child processes that run plugins: workers, and those that describe, reproduce or `check`
//! plugins.

pub(crate) mod child;
pub(crate) mod child_side;
pub(crate) mod group;
mod printed;
pub(crate) mod shared;
pub(crate) mod state;
