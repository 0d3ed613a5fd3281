//! Child processes of this program that run plugins: how they are started, send messages and end,
//! and the process state that jobs must leave unchanged. Workers, the processes that describe
//! plugin files or reproduce papers, and those of `check` are all such children. This module does
//! not depend on cases.

pub(crate) mod child;
pub(crate) mod child_side;
pub(crate) mod group;
mod printed;
pub(crate) mod shared;
pub(crate) mod state;
