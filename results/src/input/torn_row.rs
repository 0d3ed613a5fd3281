use std::fmt;

/// Its text is a message for users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornRow {
    pub file: String,
    /// The line number at which the row starts, from 1.
    pub line: u64,
    /// The number of bytes of the complete rows before it, after which a resumed run can append.
    pub intact: u64,
    /// Whether it was read: it has all fields and lacks only its line end, which editors often
    /// remove. Its last value may be cut off.
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
