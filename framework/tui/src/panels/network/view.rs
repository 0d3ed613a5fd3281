//! What of a step is shown, and how hot it is.

use crate::session::recording::{Recording, Times};
use crate::theme::{LEVELS, level, level_above_one};
use swapmeet_results::units;

/// What is drawn of links or nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Quantity {
    #[default]
    Messages,
    Bytes,
    /// Bytes held by nodes.
    Held,
}

impl Quantity {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Messages => Self::Bytes,
            Self::Bytes => Self::Held,
            Self::Held => Self::Messages,
        }
    }
}

/// How a step is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Picture {
    #[default]
    Network,
    /// Who sends to whom.
    Matrix,
    /// Ranks against time.
    Space,
    /// How many links carry how much.
    Links,
}

impl Picture {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Network => Self::Matrix,
            Self::Matrix => Self::Space,
            Self::Space => Self::Links,
            Self::Links => Self::Network,
        }
    }

    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Network => "the network",
            Self::Matrix => "who sends to whom",
            Self::Space => "ranks against time",
            Self::Links => "how many links carry how much",
        }
    }
}

/// What of a step is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct View {
    pub(super) picture: Picture,
    pub(super) quantity: Quantity,
    /// Which plane of three dimensions.
    pub(super) plane: usize,
    /// How often planes were turned: along which of three dimensions they are counted.
    pub(super) turned: usize,
    /// How often time was drawn twice as long.
    pub(super) zoom: u32,
}

/// What the colours of a picture mean.
pub(super) struct Heat<'r> {
    pub(super) quantity: Quantity,
    /// The most that any algorithm has there, in messages or bytes: one scale for all of them.
    pub(super) most: u64,
    pub(super) recording: &'r Recording,
}

impl Heat<'_> {
    /// Messages, or bytes.
    fn value(&self, load: u64) -> u64 {
        match self.quantity {
            Quantity::Messages => load,
            Quantity::Bytes | Quantity::Held => self.recording.bytes(load),
        }
    }

    /// The level of a load. One message alone on its link is calm, whatever the others do.
    pub(super) fn level(&self, load: u64) -> usize {
        match self.quantity {
            Quantity::Messages => level_above_one(load, self.most),
            Quantity::Bytes | Quantity::Held => level(self.value(load), self.most),
        }
    }

    /// A load for reading.
    pub(super) fn text(&self, load: u64) -> String {
        self.text_of(self.value(load))
    }

    fn text_of(&self, value: u64) -> String {
        match self.quantity {
            Quantity::Messages => value.to_string(),
            Quantity::Bytes | Quantity::Held => units::size(value as f64),
        }
    }

    /// The end of the scale, for reading.
    pub(super) fn end(&self) -> String {
        self.text_of(self.most)
    }

    /// Whether each value on the scale has a colour of its own.
    pub(super) fn is_exact(&self) -> bool {
        self.quantity == Quantity::Messages && self.most < LEVELS as u64
    }
}

/// How a network was drawn.
pub(super) struct Drawn {
    /// What has to be said about it.
    pub(super) note: String,
    /// Whether links are figures, as they are without colours, rather than in the colours of the
    /// legend.
    pub(super) figures: bool,
    /// Whether anything has a heat; if not, what has to be said is all.
    pub(super) has_heat: bool,
    /// Whether its colours are those of messages, rather than of links or nodes.
    pub(super) of_messages: bool,
    /// Kinds of time that are drawn, where those are.
    pub(super) kinds: Option<Times>,
}

impl Drawn {
    pub(super) fn heat(note: String) -> Self {
        Self { note, figures: false, has_heat: true, of_messages: false, kinds: None }
    }
}
