use indexmap::IndexMap;
use std::hash::Hash;

/// Groups values by their keys. The groups are in the order in which their keys first occur.
pub fn grouped<K: Eq + Hash, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: IndexMap<K, Vec<V>> = IndexMap::new();
    for (key, value) in pairs {
        groups.entry(key).or_default().push(value);
    }
    groups.into_iter().collect()
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
