//! What the dashboard knows: state that events and actions change, and that nothing here draws.

pub mod comparison;
pub mod curves;
pub mod frames;
pub mod lattice;
pub mod picks;
pub mod queue;

/// Whether a text has every word of a filter, whatever the case of its letters.
pub fn matches(text: &str, words: &str) -> bool {
    let text = text.to_lowercase();
    words.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
}
