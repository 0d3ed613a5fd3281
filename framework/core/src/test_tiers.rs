//! Two tiers of tests. The full tier repeats the tests of the first one with more random cases.

/// Returns the number of random cases: `full` with the environment variable `SWAPMEET_TESTS=all`.
pub(crate) fn cases(first: u32, full: u32) -> u32 {
    let is_full = std::env::var("SWAPMEET_TESTS").is_ok_and(|tier| tier == "all");
    if is_full { full } else { first }
}
