//! Child processes of this program: how they are started, send lines and end, and the process state
//! that jobs must leave unchanged. This module does not depend on cases.

pub(crate) mod child;
pub(crate) mod child_side;
pub(crate) mod current_step;
pub(crate) mod environment;
mod lines;
mod printed;
pub(crate) mod state;
pub(crate) mod threads;
