//! Output of a comparison as JSON, for other programs.

use crate::compare::Comparison;

/// Formats the whole comparison; unknown values are `null`.
pub fn as_json(comparison: &Comparison) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(comparison)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::partly_failed;
    use serde_json::{Value, json};

    #[test]
    fn lines_have_row_counts_and_known_values() {
        let all: Value = serde_json::from_str(&as_json(&partly_failed()).unwrap()).unwrap();
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
