//! The options of all figures: the title, labels and colours of algorithms, and the legend.

use crate::marks::scene::{Colour, Scene};
use crate::style::Styles;
use std::collections::BTreeSet;
use swapmeet_results::CHARGED_LESS;

/// The position of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LegendPlace {
    /// Below the panels.
    #[default]
    Bottom,
    /// Between the title and the panels.
    Top,
    /// To the right of the panels.
    Right,
    /// No legend.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Appearance<'a> {
    /// The title; `None` for the default title, which has the settings that all cases share.
    pub title: Option<&'a str>,
    /// Labels of algorithms. The legend has these algorithms in this order, followed by the others.
    pub labels: &'a [(String, String)],
    pub colours: &'a [(String, Colour)],
    /// All algorithms of the files. They determine the styles of those that are shown.
    pub algorithms: &'a [String],
    pub legend: LegendPlace,
}

impl Appearance<'_> {
    pub(crate) fn styles<'b>(&'b self, shown: impl IntoIterator<Item = &'b str>) -> Styles {
        Styles::new(self.algorithms.iter().map(String::as_str).chain(shown)).coloured(self.colours)
    }
}

impl LegendPlace {
    const LEAST_BODY: f64 = 26.0;

    /// Moves a legend of the width `wide` below the panels if it does not fit next to them.
    pub(crate) fn fitting(self, page: f64, wide: f64, font: f64) -> Self {
        match self {
            Self::Right if page - wide - font < Self::LEAST_BODY * font => Self::Bottom,
            _ => self,
        }
    }

    /// Draws the body of a figure and its legend below the y coordinate `top`. `wide` is the width
    /// of a legend on the right. `legend` receives the left and right end of its space, and the
    /// upper end. `body` receives the right and the upper end of its space. Both return the y
    /// coordinate of the lower end of what they drew.
    pub(crate) fn arrange(
        self,
        scene: &mut Scene,
        (top, font): (f64, f64),
        wide: f64,
        legend: impl Fn(&mut Scene, (f64, f64), f64) -> f64,
        body: impl Fn(&mut Scene, f64, f64) -> f64,
    ) -> f64 {
        let (width, whole) = (scene.width, (font, scene.width - font));
        match self.fitting(width, wide, font) {
            Self::Bottom => {
                let top = body(scene, width, top);
                legend(scene, whole, top)
            }
            Self::Top => {
                let top = legend(scene, whole, top);
                body(scene, width, top)
            }
            Self::Right => {
                let left = width - font - wide;
                let lower_end = legend(scene, (left, width - font), top + font);
                body(scene, left, top).max(lower_end)
            }
            Self::None => body(scene, width, top),
        }
    }
}

/// Labels of algorithms, in the order of the legend. The default label is the name.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels(Vec<(String, String)>);

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{flag} {name}: no algorithm has that name; there are {known}")]
pub struct UnknownLabel {
    flag: &'static str,
    name: String,
    known: String,
}

impl Labels {
    /// Errors if a label or a colour was given for an algorithm that is not in `names`.
    pub(crate) fn new(
        appearance: &Appearance<'_>,
        names: &BTreeSet<&str>,
    ) -> Result<Self, UnknownLabel> {
        let labelled = appearance.labels.iter().map(|(name, _)| ("--label", name));
        let coloured = appearance.colours.iter().map(|(name, _)| ("--colour", name));
        match labelled.chain(coloured).find(|(_, name)| !names.contains(name.as_str())) {
            None => Ok(Self(appearance.labels.to_vec())),
            Some((flag, name)) => {
                let known = names.iter().copied().collect::<Vec<_>>().join(", ");
                Err(UnknownLabel { flag, name: name.clone(), known })
            }
        }
    }

    /// Adds a mark ([`CHARGED_LESS`]) to the labels of these algorithms.
    pub(crate) fn marked(mut self, names: &BTreeSet<&str>) -> Self {
        for name in names {
            let label = self.name(name).to_owned() + CHARGED_LESS;
            self.0.retain(|(known, _)| known != name);
            self.0.push(((*name).to_owned(), label));
        }
        self
    }

    pub fn name<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.iter().find(|(known, _)| known == name).map_or(name, |(_, label)| label)
    }

    pub(crate) fn unmarked<'a>(&'a self, name: &'a str) -> &'a str {
        let label = self.name(name);
        label.strip_suffix(CHARGED_LESS).unwrap_or(label)
    }
}
