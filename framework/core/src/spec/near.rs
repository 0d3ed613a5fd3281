//! Suggestions for misspelt names.

/// Returns at most three of the names in `known` that the user may have meant by `word`, the most
/// similar first. These are names that differ from `word` by few edits (insertions, deletions,
/// replacements and swaps of adjacent characters), names that begin with `word`, and names with
/// which `word` begins.
pub fn near_matches<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let word = word.to_lowercase();
    let most = (word.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let edits = strsim::osa_distance(&word, name);
            let begins =
                word.chars().count() >= 3 && (name.starts_with(&word) || word.starts_with(name));
            (edits <= most || begins).then_some((edits, name))
        })
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}
