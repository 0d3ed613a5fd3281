//! The two tiers of tests. Every commit must pass the first tier. The full tier repeats the same
//! tests with more random cases.

/// Returns the number of random cases of a test: `first` in the first tier, and `full` in the full
/// tier, which the environment variable `SWAPMEET_TESTS=all` selects.
pub(crate) fn cases(first: u32, full: u32) -> u32 {
    let is_full = std::env::var("SWAPMEET_TESTS").is_ok_and(|tier| tier == "all");
    if is_full { full } else { first }
}
