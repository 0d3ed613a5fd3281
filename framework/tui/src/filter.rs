//! What narrows down the lines of a panel.

/// The words of a filter: a text must have all of them, whatever the case of its letters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    text: String,
    words: Vec<String>,
}

impl Filter {
    pub(crate) fn of(line: &str) -> Self {
        Self { text: line.to_owned(), words: line.split_whitespace().map(str::to_lowercase).collect() }
    }

    /// As it was typed.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// After a panel's title; nothing if all lines are shown.
    pub(crate) fn suffix(&self) -> String {
        if self.text.is_empty() { String::new() } else { format!(" /{}", self.text) }
    }

    /// Whether a text passes.
    pub(crate) fn passes(&self, text: &str) -> bool {
        self.words.is_empty() || self.passes_any(&[&text.to_lowercase()])
    }

    /// Whether some texts in small letters pass together.
    pub(crate) fn passes_any(&self, texts: &[&str]) -> bool {
        self.words.iter().all(|word| texts.iter().any(|text| text.contains(word)))
    }
}
