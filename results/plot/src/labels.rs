//! What algorithms are called in a figure.

use std::collections::BTreeSet;

/// What some algorithms are called, in the order in which they stand in the legend; others are
/// called by their own names.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels(Vec<(String, String)>);

/// A label for nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("--label {name}: no algorithm has that name; there are {known}")]
pub struct UnknownLabel {
    name: String,
    known: String,
}

impl Labels {
    /// Labels of these algorithms, which must be there.
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

    /// What an algorithm is called.
    pub fn name<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.iter().find(|(known, _)| known == name).map_or(name, |(_, label)| label)
    }
}
