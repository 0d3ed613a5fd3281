//! A child of this program: how it is started, listened to and ended, and what it leaves as it
//! found it. Nothing here knows what a case is.

pub(crate) mod child;
pub(crate) mod child_side;
pub(crate) mod current_step;
mod lines;
mod printed;
pub(crate) mod state;
