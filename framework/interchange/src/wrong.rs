use std::fmt;

/// What is wrong with a file, and in which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// From 1; 0 for the file as a whole.
    pub line: usize,
    /// What was found, and what was expected.
    pub what: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "line {line}: {}", self.what),
        }
    }
}
