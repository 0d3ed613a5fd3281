//! A line being typed, and what for.

use crate::model::picks::{Section, Setting};
use crate::panel::Panel;
use swapmeet_runner::input::InputError;
use tui_input::Input;

/// What is typed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A spec for a list, in place of another if it says which.
    Spec(Section, Option<usize>),
    /// A setting.
    Setting(Setting),
    /// A panel's filter.
    Filter(Panel),
    /// The file to save to; whether one that is there may be written over.
    SaveAs(bool),
}

/// A line being typed.
#[derive(Debug, Clone)]
pub struct Typing {
    /// What for.
    pub purpose: Purpose,
    /// The text, and the cursor in it.
    pub input: Input,
    /// What is wrong with it.
    pub error: Option<InputError>,
    /// As it was before.
    pub(crate) before: String,
}

impl Typing {
    /// Begins with a text.
    pub fn new(purpose: Purpose, text: &str) -> Self {
        Self { purpose, input: Input::new(text.to_owned()), error: None, before: text.to_owned() }
    }

    /// What it is, for its frame.
    pub fn title(&self) -> String {
        match self.purpose {
            Purpose::Spec(section, _) => section.singular().to_owned(),
            Purpose::Setting(setting) => setting.name().to_owned(),
            Purpose::Filter(_) => "filter".to_owned(),
            Purpose::SaveAs(_) => "save the experiment as".to_owned(),
        }
    }
}
