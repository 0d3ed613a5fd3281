//! The marks and colours of algorithms.

use swapmeet_results::style_numbers;

/// The algorithms in the order in which they were first seen, each with the number of its mark and
/// colour. The number stays the same in all panels until the program ends.
#[derive(Debug, Default)]
pub(crate) struct AlgorithmStyles(Vec<(String, usize)>);

impl AlgorithmStyles {
    /// Gives a number, which stands for a mark and a colour, to each algorithm that has none yet. A
    /// new algorithm gets the number that it would have in a saved figure of all known algorithms.
    /// If another algorithm already has this number, the new algorithm gets the lowest free number.
    pub(super) fn add<'a>(&mut self, algorithms: impl IntoIterator<Item = &'a String>) {
        let mut new: Vec<&String> = algorithms.into_iter().collect();
        new.retain(|algorithm| self.0.iter().all(|(known, _)| known != *algorithm));
        if new.is_empty() {
            return;
        }
        let known = self.0.iter().map(|(known, _)| known);
        let numbers = style_numbers(known.chain(new.iter().copied()).map(String::as_str));
        for algorithm in new {
            let is_free = |number: &usize| self.0.iter().all(|(_, taken)| taken != number);
            let wanted = numbers[algorithm];
            let number = std::iter::once(wanted).chain(0..).find(is_free).unwrap_or(wanted);
            if self.position(algorithm) == self.0.len() {
                self.0.push((algorithm.clone(), number));
            }
        }
    }

    /// Returns the number of the mark and the colour of an algorithm; 0 if the algorithm is
    /// unknown.
    pub(crate) fn number(&self, algorithm: &str) -> usize {
        self.0.get(self.position(algorithm)).map_or(0, |(_, number)| *number)
    }

    pub(crate) fn position(&self, algorithm: &str) -> usize {
        self.0.iter().position(|(known, _)| known == algorithm).unwrap_or(self.0.len())
    }

    pub(crate) fn numbers(&self) -> &[(String, usize)] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Algorithms that are seen together have the styles of a saved figure. Algorithms that are
    /// seen later get other styles, and do not change the styles of earlier algorithms.
    #[test]
    fn algorithms_keep_the_styles_of_saved_figures() {
        let names: Vec<String> = (0..24).map(|number| format!("algorithm-{number}")).collect();
        let (first, later) = names.split_at(8);
        let mut styles = AlgorithmStyles::default();
        styles.add(first);
        let saved = style_numbers(first.iter().map(String::as_str));
        assert!(first.iter().all(|name| styles.number(name) == saved[name]));
        styles.add(later);
        styles.add(&names);
        assert!(first.iter().all(|name| styles.number(name) == saved[name]));
        let mut numbers: Vec<usize> = names.iter().map(|name| styles.number(name)).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..24).collect::<Vec<_>>());
    }
}
