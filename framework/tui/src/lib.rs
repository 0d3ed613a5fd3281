//! The dashboard: watch an experiment run, and explore: pick, run, look, change one thing, run
//! again.
//!
//! A `session` knows what is selected, what runs and what follows from the rows; `panels` show it,
//! a file each behind the trait of `panel`; `app` gives them keys. Rows go two ways: to the file
//! one by one from the thread that makes them, to the screen as many as came since the last
//! picture.

mod app;
mod filter;
mod hits;
mod input;
mod keys;
mod paint;
mod panel;
mod panels;
mod screen;
mod session;
mod short;
pub mod terminal;
mod theme;

pub use app::{App, Leave, Looks, Outcome};
pub use hits::Hits;
pub use screen::draw;
pub use session::{DrawRows, FACTS, RowSink, Setup, Sheet, SheetKind, WATCH};
pub use terminal::run;
pub use theme::{Theme, is_ascii_terminal};
