//! The incomplete last row of a file.

use std::fmt;

/// The incomplete last row of a file. Its text is a message for users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornRow {
    pub file: String,
    /// The line number at which the row starts, from 1.
    pub line: u64,
    /// The number of bytes before the row. The rows in these bytes are complete, and a resumed run
    /// can append rows after them.
    pub intact: u64,
    /// Whether the row is among the rows that were read. This is the case if the row has all fields
    /// and lacks only its line end, which editors often remove. If the run was stopped at this
    /// byte, the last value may be cut off.
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
