//! Suggestions for misspelt names.

/// Returns at most three of the names in `known` that the user may have meant by `word`, the most
/// similar first. These are names that differ from `word` by few edits, names that begin with
/// `word`, and names with which `word` begins.
pub fn near_matches<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let word = word.to_lowercase();
    let most = (word.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let edits = edits(&word, name);
            let begins =
                word.chars().count() >= 3 && (name.starts_with(&word) || word.starts_with(name));
            (edits <= most || begins).then_some((edits, name))
        })
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

/// Returns the smallest number of insertions, deletions, replacements and swaps of adjacent
/// characters that turn one word into the other (optimal string alignment distance).
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}
