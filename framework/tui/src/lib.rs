//! The dashboard: watch an experiment run, and explore: pick, run, look, change one thing, run again.
//!
//! State ([`app`], [`model`]) is changed by events ([`engine`]) and actions ([`keys`]); the screen ([`view`]) is a pure function of it. Rows go two
//! ways: to the file one by one from the thread that makes them, to the screen as many as came since the last picture.

mod actions;
pub mod app;
pub mod engine;
mod facts;
mod input;
pub mod keys;
pub mod model;
mod mouse;
mod moving;
mod panel;
mod playing;
mod save;
mod shown;
pub mod terminal;
mod theme;
pub mod typed;
mod typing;
pub mod ui;
pub mod view;

pub use app::{App, Outcome, Setup};
pub use terminal::run;
pub use theme::{Theme, is_ascii_terminal};
