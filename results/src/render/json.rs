//! Output of a comparison as JSON, for other programs.

use crate::compare::Comparison;
use std::io::{self, Write};

/// Writes the whole comparison; unknown values are `null`.
pub fn write_json(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(out, comparison).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::{partly_failed, text_of};
    use serde_json::{Value, json};

    #[test]
    fn lines_have_row_counts_and_known_values() {
        let all: Value = serde_json::from_str(&text_of(write_json, &partly_failed())).unwrap();
        let frail = &all["groups"][0]["lines"][1];
        assert_eq!(frail["rows"], json!({"ok": 1, "timeout": 1}));
        assert_eq!(
            frail["time"],
            json!({"n": 1, "mean": 20.0, "median": 20.0, "sd": null, "interval": null, "spread": "unknown"})
        );
        assert_eq!(frail["ratio"], json!({"value": 2.0, "interval": null}));
        assert_eq!(all["groups"][0]["lines"][0]["time"]["spread"], "none");
    }
}
