//! The dashboard: select cases, run them, and explore the results.
//!
//! `session` holds the state: what is selected, which cases run, and the analysis of the rows.
//! `panels` show it; each is a module that implements the traits of `panel`. `app` handles keys and
//! the mouse. The thread that runs cases writes each row to the file at once; the screen receives
//! all new rows once per frame.

mod abbreviate;
mod app;
mod click_map;
mod filter;
mod input;
mod keys;
mod paint;
mod panel;
mod panels;
mod screen;
mod session;
pub mod terminal;
mod theme;

pub use app::{App, Appearance, ExitMode, Outcome};
pub use click_map::ClickMap;
pub use screen::{draw, draw_panel};
pub use session::{FACTS, RenderKind, RenderRequest, RenderRows, RowSink, Setup, WATCH};
pub use terminal::run;
pub use theme::{Theme, is_ascii_terminal};
