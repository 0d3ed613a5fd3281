//! The assignment of styles to algorithms. Saved figures, reports and the dashboard use the same
//! assignment, so an algorithm has the same colour and marker in all of them.

use std::collections::{BTreeMap, BTreeSet};

/// The number of styles in a group. The styles of a group differ in both colour and marker.
pub const STYLES_IN_GROUP: usize = 8;

/// Returns the number of each algorithm's style, from 0.
///
/// The algorithms get their numbers in alphabetical order of their names. A hash of the algorithm's
/// name determines the preferred style. If an earlier algorithm already has this style, the
/// algorithm gets the next free style. The styles of the next group are used only when all styles
/// of a group have been assigned.
pub fn style_numbers<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, usize> {
    let names: BTreeSet<&str> = names.into_iter().collect();
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for (number, name) in names.into_iter().enumerate() {
        let group = number / STYLES_IN_GROUP * STYLES_IN_GROUP;
        let preferred = digest(name) % STYLES_IN_GROUP;
        let is_free = |index: &usize| !taken.values().any(|other| other == index);
        let index = (0..STYLES_IN_GROUP)
            .map(|step| group + (preferred + step) % STYLES_IN_GROUP)
            .find(is_free)
            .unwrap_or(group + preferred);
        taken.insert(name.to_owned(), index);
    }
    taken
}

/// Returns a hash of the name that is the same on every platform and in every version (FNV-1a).
fn digest(name: &str) -> usize {
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    // These bits of the hash were chosen so that the most common algorithms have different styles.
    (hash >> 4) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of 24 algorithms are those from 0 to 23, whatever their names.
    #[test]
    fn every_style_is_used_once() {
        let names: Vec<String> = (0..24).map(|number| format!("algorithm-{number}")).collect();
        let numbers = style_numbers(names.iter().map(String::as_str));
        assert_eq!(numbers.values().copied().collect::<BTreeSet<_>>(), (0..24).collect());
        let reversed = style_numbers(names.iter().rev().map(String::as_str));
        assert_eq!(numbers, reversed);
    }
}
