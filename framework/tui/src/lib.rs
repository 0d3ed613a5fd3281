//! The dashboard. `session` has the state: the selected cases, the running cases and the analysis
//! of their rows. `panels` shows this state, and `app` handles keys and the mouse.

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
