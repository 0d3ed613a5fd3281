//! Two tiers of tests. The full tier repeats the tests of the first one with more random cases.

use std::sync::LazyLock;

/// Returns the number of random cases: `full` with the environment variable `SWAPMEET_TESTS=all`.
pub(crate) fn cases(first: u32, full: u32) -> u32 {
    if is_full() { full } else { first }
}

pub(crate) fn is_full() -> bool {
    static IS_FULL: LazyLock<bool> =
        LazyLock::new(|| std::env::var("SWAPMEET_TESTS").is_ok_and(|tier| tier == "all"));
    *IS_FULL
}
