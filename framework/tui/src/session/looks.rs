//! The marks and colours of algorithms.

/// The algorithms in the order in which they were first seen. The position of an algorithm is the
/// number of its mark and colour, which stay the same in all panels until the program ends.
#[derive(Debug, Default)]
pub(crate) struct Looks(Vec<String>);

impl Looks {
    /// Gives the next numbers to those algorithms that have no number yet.
    pub(super) fn add<'a>(&mut self, algorithms: impl IntoIterator<Item = &'a String>) {
        for algorithm in algorithms {
            if !self.0.contains(algorithm) {
                self.0.push(algorithm.clone());
            }
        }
    }

    /// Returns the number of an algorithm.
    pub(crate) fn number(&self, algorithm: &str) -> usize {
        self.0.iter().position(|known| known == algorithm).unwrap_or(self.0.len())
    }

    /// Returns all algorithms in the order of their numbers.
    pub(crate) fn algorithms(&self) -> &[String] {
        &self.0
    }
}
