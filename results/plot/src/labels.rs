//! Labels of algorithms in a figure.

use crate::appearance::Appearance;
use std::collections::BTreeSet;

/// The labels that the user gave to algorithms, in the order of the legend. An algorithm without a
/// label is shown by its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels(Vec<(String, String)>);

/// An error for a label or a colour that was given for an unknown algorithm.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{flag} {name}: no algorithm has that name; there are {known}")]
pub struct UnknownLabel {
    flag: &'static str,
    name: String,
    known: String,
}

impl Labels {
    /// Returns the labels that the user gave. Returns an error if `names` does not contain an
    /// algorithm for which a label or a colour was given.
    pub(crate) fn of(
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

    pub fn name<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.iter().find(|(known, _)| known == name).map_or(name, |(_, label)| label)
    }
}
