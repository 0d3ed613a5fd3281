//! View settings and colour scales of the network panel.

use super::communicators;
use crate::session::recording::{Frame, Recording};
use crate::theme::{LEVELS, SHADES, Theme, level, level_above_one};
use ratatui::style::Style;
use swapmeet_core::cost::kind::Times;
use swapmeet_results::units;

/// The quantity of links or nodes that a picture shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Quantity {
    #[default]
    Messages,
    Bytes,
    /// The number of bytes that each node holds.
    Held,
    /// The time without a link, divided by the time with all links.
    Loss,
    /// The communicator whose messages are on a link.
    Communicator,
}

impl Quantity {
    pub(super) const ALL: [Self; 5] =
        [Self::Messages, Self::Bytes, Self::Held, Self::Communicator, Self::Loss];

    /// Returns the value of the link `frame.links[at]`.
    pub(super) fn of_link(self, frame: &Frame, at: usize) -> u64 {
        match self {
            Self::Messages => frame.links[at].messages,
            Self::Bytes | Self::Held | Self::Loss => frame.links[at].load,
            Self::Communicator => communicators::value(frame.communicators[at]),
        }
    }

    /// Returns the value that is shown at the common place of two links.
    pub(super) fn joined(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Communicator => communicators::joined(a, b),
            Self::Messages | Self::Bytes | Self::Held | Self::Loss => a.max(b),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Picture {
    #[default]
    Network,
    /// The communication matrix.
    Matrix,
    /// A plot of ranks against time.
    RanksOverTime,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct View {
    pub(super) picture: Picture,
    pub(super) quantity: Quantity,
    /// The index of the displayed plane of a three-dimensional network.
    pub(super) plane: usize,
    /// The index, from 0 to 2, of the dimension along which planes are stacked.
    pub(super) turned: usize,
    /// The zoom level of the time axis. Each level doubles the scale.
    pub(super) zoom: u32,
}

/// In pictures of [`Quantity::Loss`], the load of a link whose failure disconnects ranks.
pub(super) const DISCONNECTS: u64 = u64::MAX;

/// In pictures of [`Quantity::Loss`], the load of a link whose failure doubles the time. A link
/// whose failure does not change the time has load 0. The number is large, so that loads between
/// these, which are integers, remain precise.
pub(super) const DOUBLED: f64 = 1e6;

/// The colour scale of a picture.
pub(super) struct Heat<'r> {
    pub(super) quantity: Quantity,
    /// The maximum of the scale, in messages or bytes. It is the same for all algorithms, so that
    /// pictures can be compared.
    pub(super) most: u64,
    pub(super) recording: &'r Recording,
}

impl Heat<'_> {
    fn value(&self, load: u64) -> u64 {
        match self.quantity {
            Quantity::Messages | Quantity::Loss | Quantity::Communicator => load,
            Quantity::Bytes | Quantity::Held => self.recording.bytes(load),
        }
    }

    /// Returns the heat level of a load. If the quantity is messages, one message on a link has
    /// level 1, the lowest level above zero.
    pub(super) fn level(&self, load: u64) -> usize {
        match self.quantity {
            Quantity::Messages => level_above_one(load, self.most),
            Quantity::Bytes | Quantity::Held | Quantity::Loss => level(self.value(load), self.most),
            // Communicators have no levels.
            Quantity::Communicator => load.min(1) as usize,
        }
    }

    /// Returns the mark and the style of a place with a load.
    pub(super) fn mark(&self, theme: &Theme, load: u64) -> (char, Style) {
        match self.quantity {
            Quantity::Communicator if load > 0 => communicators::mark(theme, load),
            _ => shade(theme, self.level(load)),
        }
    }

    pub(super) fn text(&self, load: u64) -> String {
        self.text_of(self.value(load))
    }

    fn text_of(&self, value: u64) -> String {
        match self.quantity {
            Quantity::Messages | Quantity::Communicator => value.to_string(),
            Quantity::Bytes | Quantity::Held => units::size(value as f64),
            Quantity::Loss if value == DISCONNECTS => "disconnects".to_owned(),
            Quantity::Loss => format!("{:.3} x", 1.0 + value as f64 / DOUBLED),
        }
    }

    pub(super) fn end(&self) -> String {
        self.text_of(self.most)
    }

    /// Returns whether there are so few values that each of them has its own colour.
    pub(super) fn is_exact(&self) -> bool {
        self.quantity == Quantity::Messages && self.most < LEVELS as u64
    }
}

/// Returns the mark and the style of a heat level.
pub(super) fn shade(theme: &Theme, level: usize) -> (char, Style) {
    let mark = if theme.coloured && level > 0 { '█' } else { SHADES[level] };
    (mark, theme.heat(level))
}

/// The properties of a picture that its legend needs.
pub(super) struct PictureInfo {
    pub(super) note: String,
    /// Whether the picture shows loads as digits instead of colours.
    pub(super) has_digits: bool,
    /// Whether the picture uses the colour scale. If not, the legend has no scale.
    pub(super) has_heat: bool,
    /// Whether the colours represent messages. Otherwise, they represent links or nodes.
    pub(super) of_messages: bool,
    /// If the picture shows times, the total time of each kind.
    pub(super) kinds: Option<Times>,
}

impl PictureInfo {
    pub(super) fn heat(note: String) -> Self {
        Self { note, has_digits: false, has_heat: true, of_messages: false, kinds: None }
    }
}
