//! Labels of algorithms in a figure.

use std::collections::BTreeSet;

/// The labels that the user gave to algorithms, in the order of the legend. An algorithm without a
/// label is shown by its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels(Vec<(String, String)>);

/// An error for a label that was given for an unknown algorithm.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("--label {name}: no algorithm has that name; there are {known}")]
pub struct UnknownLabel {
    name: String,
    known: String,
}

impl Labels {
    /// Checks that every algorithm for which a label was given exists.
    pub(crate) fn of(
        labels: &[(String, String)],
        names: &BTreeSet<&str>,
    ) -> Result<Self, UnknownLabel> {
        match labels.iter().find(|(name, _)| !names.contains(name.as_str())) {
            None => Ok(Self(labels.to_vec())),
            Some((name, _)) => {
                let known = names.iter().copied().collect::<Vec<_>>().join(", ");
                Err(UnknownLabel { name: name.clone(), known })
            }
        }
    }

    /// Returns the label of an algorithm.
    pub fn name<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.iter().find(|(known, _)| known == name).map_or(name, |(_, label)| label)
    }
}
