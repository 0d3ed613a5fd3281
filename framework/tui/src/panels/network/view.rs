//! View settings and colour scales of the network panel.

use crate::session::recording::{Recording, Times};
use crate::theme::{LEVELS, level, level_above_one};
use swapmeet_results::units;

/// The displayed quantity of links or nodes.
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

/// The kind of picture of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Picture {
    #[default]
    Network,
    /// The communication matrix.
    Matrix,
    /// Ranks against time.
    RanksOverTime,
    /// A histogram of the load of links.
    Links,
}

impl Picture {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Network => Self::Matrix,
            Self::Matrix => Self::RanksOverTime,
            Self::RanksOverTime => Self::Links,
            Self::Links => Self::Network,
        }
    }

    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Network => "the network",
            Self::Matrix => "communication matrix",
            Self::RanksOverTime => "ranks against time",
            Self::Links => "histogram",
        }
    }
}

/// The view settings.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct View {
    pub(super) picture: Picture,
    pub(super) quantity: Quantity,
    /// The index of the displayed plane.
    pub(super) plane: usize,
    /// The dimension in which planes follow each other, 0 to 2.
    pub(super) turned: usize,
    /// The zoom level of the time axis; each level doubles the scale.
    pub(super) zoom: u32,
}

/// The colour scale of a picture.
pub(super) struct Heat<'r> {
    pub(super) quantity: Quantity,
    /// The maximum of the scale, in messages or bytes. It is the maximum over all algorithms.
    pub(super) most: u64,
    pub(super) recording: &'r Recording,
}

impl Heat<'_> {
    /// Converts a load to messages or bytes.
    fn value(&self, load: u64) -> u64 {
        match self.quantity {
            Quantity::Messages => load,
            Quantity::Bytes | Quantity::Held => self.recording.bytes(load),
        }
    }

    /// Returns the heat level of a load. A message that shares its links with no other message has
    /// the lowest level.
    pub(super) fn level(&self, load: u64) -> usize {
        match self.quantity {
            Quantity::Messages => level_above_one(load, self.most),
            Quantity::Bytes | Quantity::Held => level(self.value(load), self.most),
        }
    }

    /// Formats a load.
    pub(super) fn text(&self, load: u64) -> String {
        self.text_of(self.value(load))
    }

    fn text_of(&self, value: u64) -> String {
        match self.quantity {
            Quantity::Messages => value.to_string(),
            Quantity::Bytes | Quantity::Held => units::size(value as f64),
        }
    }

    /// Formats the maximum value of the colour scale.
    pub(super) fn end(&self) -> String {
        self.text_of(self.most)
    }

    /// Returns whether each value of the scale has its own colour.
    pub(super) fn is_exact(&self) -> bool {
        self.quantity == Quantity::Messages && self.most < LEVELS as u64
    }
}

/// The properties of a drawn picture on which its legend depends.
pub(super) struct PictureInfo {
    /// A note to show in the legend.
    pub(super) note: String,
    /// Whether loads are drawn as digits instead of colours.
    pub(super) figures: bool,
    /// Whether the picture uses the colour scale. Otherwise the legend has no scale.
    pub(super) has_heat: bool,
    /// Whether the colours show messages instead of links or nodes.
    pub(super) of_messages: bool,
    /// The total time of each kind in the picture, if the picture shows times.
    pub(super) kinds: Option<Times>,
}

impl PictureInfo {
    pub(super) fn heat(note: String) -> Self {
        Self { note, figures: false, has_heat: true, of_messages: false, kinds: None }
    }
}
