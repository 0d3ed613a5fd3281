//! Groups of values with equal keys.

use std::collections::HashMap;
use std::hash::Hash;

/// Groups values by key. The groups are in the order in which their keys first occur.
pub fn grouped<K: Clone + Eq + Hash, V>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    let mut index: HashMap<K, usize> = HashMap::new();
    for (key, value) in pairs {
        let at = *index.entry(key).or_insert_with_key(|key| {
            groups.push((key.clone(), Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(value);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn groups_keep_the_order_of_keys_and_values() {
        let groups = grouped([("b", 1), ("a", 2), ("b", 3)]);
        assert_eq!(groups, [("b", vec![1, 3]), ("a", vec![2])]);
    }
}
