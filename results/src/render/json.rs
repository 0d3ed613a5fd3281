//! Everything, for another program.

use crate::compare::Comparison;

/// Everything, as it is; what is not known is `null`.
pub fn as_json(comparison: &Comparison) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(comparison)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::partly_failed;
    use serde_json::{Value, json};

    #[test]
    fn a_line_says_how_its_rows_ended_and_what_is_known() {
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
