//! What the dashboard knows: state that events and actions change, and that nothing here draws.

pub mod comparison;
pub mod curves;
pub mod frames;
pub mod lattice;
pub mod offers;
pub mod picks;
pub mod queue;
pub mod short;

/// The words of a filter: a text must have all of them, whatever the case of its letters.
#[derive(Debug, Clone)]
pub struct Words(Vec<String>);

impl Words {
    /// The words of a line.
    pub fn of(line: &str) -> Self {
        Self(line.split_whitespace().map(str::to_lowercase).collect())
    }

    /// Whether a text has all of them.
    pub fn are_in(&self, text: &str) -> bool {
        self.0.is_empty() || self.are_among(&[&text.to_lowercase()])
    }

    /// Whether each of them is in one of some texts in small letters.
    pub fn are_among(&self, texts: &[&str]) -> bool {
        self.0.iter().all(|word| texts.iter().any(|text| text.contains(word)))
    }
}
