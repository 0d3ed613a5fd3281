//! The dashboard. The user selects cases, runs them, and explores the results.
//!
//! `session` contains the state: the selected cases, the running cases, and the analysis of the
//! rows. `panels` shows this state. Each panel is a module that implements the traits of `panel`.
//! `app` handles keys and the mouse. A separate thread runs the cases and writes each row to the
//! file as soon as its case ends. The screen receives all new rows once per frame.

mod abbreviate;
mod app;
mod background;
mod click_map;
mod contrast;
mod filter;
mod fit;
mod input;
mod keys;
mod memo;
mod paint;
mod panel;
mod panels;
mod picture;
mod screen;
mod script;
mod session;
pub mod terminal;
mod theme;

pub use app::{App, Appearance, ExitMode, Options, SessionResult};
pub use background::Background;
pub use click_map::ClickMap;
pub use picture::{ScreenPicture, ScreenRun};
pub use screen::{draw, draw_panel};
pub use script::{Recorder, Script, Step};
pub use session::{RenderKind, RenderRequest, RenderRows, RowSink, Setup};
pub use terminal::{EndedBy, Replay, run};
pub use theme::{Theme, is_ascii_terminal};
