use std::fmt;

/// The incomplete last row of a file. Its `Display` text is a message for users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornRow {
    pub file: String,
    pub line: u64,
    /// The bytes of the complete rows before it. A resumed run can append rows after them.
    pub intact: u64,
    /// Whether the row was read, although its line end and maybe a part of its last value are
    /// missing.
    pub is_read: bool,
}

impl fmt::Display for TornRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_read {
            "has no line end, so its last value may be cut off"
        } else {
            "breaks off and is left out: the run that wrote it was stopped"
        };
        write!(f, "{}:{}: the last row {what}", self.file, self.line)
    }
}
