//! Child processes of this program: start, communication, termination, and the process state that
//! jobs must leave unchanged. This module knows nothing about cases.

pub(crate) mod child;
pub(crate) mod child_side;
pub(crate) mod current_step;
mod lines;
mod printed;
pub(crate) mod state;
