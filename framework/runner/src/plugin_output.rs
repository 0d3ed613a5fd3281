/// Prefix of lines that the host itself writes about the behaviour of a plugin.
pub const REMARK: &str = "remark: ";

/// Returns whether a line does not explain why a process ended: it is empty, a note, or part of a
/// Rust backtrace.
pub fn is_uninformative(line: &str) -> bool {
    let line = line.trim();
    let frame = line.split_once(':').is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    });
    line.is_empty()
        || line.contains("RUST_BACKTRACE")
        || line.starts_with("note: ")
        || line == "stack backtrace:"
        || line.starts_with("skipping backtrace printing")
        || line.starts_with("at ")
        || frame
}

pub fn is_out_of_memory(line: &str) -> bool {
    line.contains("memory allocation of") && line.contains("failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_runtime_are_no_reasons() {
        for line in [
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
            "note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.",
            "stack backtrace:",
            "skipping backtrace printing to avoid potential recursion",
            "   0: rust_begin_unwind",
            "             at /rustc/1/library/std/src/panicking.rs:697:5",
            "",
        ] {
            assert!(is_uninformative(line), "{line}");
        }
        for line in [
            "memory allocation of 67108864 bytes failed",
            "free(): invalid pointer",
            "step 3: no way",
            "3 is odd: no",
        ] {
            assert!(!is_uninformative(line), "{line}");
        }
        assert!(is_out_of_memory("memory allocation of 67108864 bytes failed"));
    }
}
