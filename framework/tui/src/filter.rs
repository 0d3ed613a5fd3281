//! Filters, which select lines of a panel by the words that the user types.

use std::collections::HashMap;
use std::ops::BitOr;

/// A filter. A text passes if it satisfies all terms. Case is ignored. A term is a word,
/// alternatives (`pex|bruck`), or the exclusion of a word (`!pex`).
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    text: String,
    terms: Vec<Term>,
}

#[derive(Debug, Clone)]
struct Term {
    /// Whether the text must not contain any of the words.
    is_not: bool,
    words: Vec<String>,
}

/// The terms of a filter that were found in a text: bit `i` is set for term `i`. Each text is
/// searched once, and the results for all texts of a line are combined with `|`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Found(u64);

impl Found {
    /// The maximum number of terms; further terms have no effect.
    const TERMS: usize = 64;
}

impl BitOr for Found {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The distinct texts of many rows, in lower case. A row has their numbers, so that a filter
/// searches each text once.
#[derive(Debug, Default)]
pub(crate) struct Texts(HashMap<Box<str>, u32>);

impl Texts {
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        let (text, next) = (text.to_lowercase(), self.0.len() as u32);
        *self.0.entry(text.into_boxed_str()).or_insert(next)
    }

    /// Adds the texts of `other`. Returns their new numbers, indexed by the old ones.
    pub(crate) fn append(&mut self, other: Self) -> Vec<u32> {
        let mut numbers = vec![0; other.0.len()];
        for (text, old) in other.0 {
            numbers[old as usize] = self.number(&text);
        }
        numbers
    }

    /// Returns the terms that each text contains, indexed by the numbers of the texts.
    pub(crate) fn find(&self, filter: &Filter) -> Vec<Found> {
        let mut found = vec![Found::default(); self.0.len()];
        for (text, number) in &self.0 {
            found[*number as usize] = filter.find(text);
        }
        found
    }
}

impl Term {
    /// Returns `None` for a term without a word, such as `!`.
    fn parse(word: &str) -> Option<Self> {
        let (is_not, word) = word.strip_prefix('!').map_or((false, word), |word| (true, word));
        let words: Vec<String> =
            word.split('|').filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        (!words.is_empty()).then_some(Self { is_not, words })
    }
}

impl Filter {
    pub(crate) fn parse(line: &str) -> Self {
        Self {
            text: line.to_owned(),
            terms: line.split_whitespace().filter_map(Term::parse).take(Found::TERMS).collect(),
        }
    }

    /// Returns the filter with the words of `tags` in angle brackets: `reduce` then matches only
    /// the tag `<reduce>`.
    #[must_use]
    pub(crate) fn with_tags(&self, tags: &[&str]) -> Self {
        let mut filter = self.clone();
        for word in filter.terms.iter_mut().flat_map(|term| &mut term.words) {
            if tags.contains(&word.as_str()) {
                *word = format!("<{word}>");
            }
        }
        filter
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn suffix(&self) -> String {
        if self.text.is_empty() { String::new() } else { format!(" /{}", self.text) }
    }

    pub(crate) fn passes(&self, text: &str) -> bool {
        self.terms.is_empty() || self.passes_any(&[&text.to_lowercase()])
    }

    /// Returns whether the texts, in lower case, pass as if they were one text.
    pub(crate) fn passes_any(&self, texts: &[&str]) -> bool {
        self.accepts(texts.iter().fold(Found::default(), |all, text| all | self.find(text)))
    }

    pub(crate) fn find(&self, text: &str) -> Found {
        let has = |term: &Term| term.words.iter().any(|word| text.contains(word));
        let found = self.terms.iter().enumerate().filter(|(_, term)| has(term));
        Found(found.fold(0, |all, (at, _)| all | 1 << at))
    }

    pub(crate) fn accepts(&self, found: Found) -> bool {
        let is_found = |at: usize| found.0 & 1 << at != 0;
        self.terms.iter().enumerate().all(|(at, term)| is_found(at) != term.is_not)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_combine_terms_alternatives_and_exclusions() {
        let passes = |line: &str| Filter::parse(line).passes("PEX on torus:8x8");
        for line in
            ["", "pex", "torus pex", "bruck|pex", "!bruck", "8x8 !bruck|ring", "!", "|", "pex|"]
        {
            assert!(passes(line), "{line}");
        }
        for line in ["bruck", "pex 4x4", "bruck|ring", "!pex", "torus !8x8", "!bruck|pex"] {
            assert!(!passes(line), "{line}");
        }
    }

    #[test]
    fn the_words_of_tags_are_searched_only_in_tags() {
        let passes = |line: &str| {
            let filter = Filter::parse(line).with_tags(&["reduce"]);
            filter.passes("ring: a reduce, then an allgather <allreduce>")
        };
        assert!(passes("ring allreduce") && passes("!reduce") && passes("reduc"));
        assert!(!passes("reduce") && !passes("ring reduce"));
    }

    #[test]
    fn texts_keep_their_numbers_when_others_are_appended() {
        let (mut texts, mut more) = (Texts::default(), Texts::default());
        assert_eq!(["PEX", "ring:4", "pex"].map(|text| texts.number(text)), [0, 1, 0]);
        assert_eq!(["ring:8", "ring:4"].map(|text| more.number(text)), [0, 1]);
        assert_eq!(texts.append(more), [2, 1]);
        let filter = Filter::parse("Ring:8");
        let passes: Vec<bool> =
            texts.find(&filter).into_iter().map(|found| filter.accepts(found)).collect();
        assert_eq!(passes, [false, false, true]);
    }
}
