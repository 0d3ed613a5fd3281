//! Lists of items that are grouped by a key. The groups are stored one after another (compressed
//! sparse rows).

use std::ops::AddAssign;

/// The places of items in a list that is sorted by key. Items with the same key keep their order.
pub(crate) struct Places<T> {
    /// The items with key k have the places `first[k]..first[k + 1]`.
    pub first: Vec<T>,
    next: Vec<T>,
}

impl<T: Copy + From<u8> + AddAssign + TryInto<usize>> Places<T> {
    pub(crate) fn of(keys: usize, items: impl Iterator<Item = usize>) -> Self {
        let mut first = vec![T::from(0); keys + 1];
        items.for_each(|key| first[key + 1] += T::from(1));
        let mut sum = T::from(0);
        for count in &mut first {
            sum += *count;
            *count = sum;
        }
        Self { next: first.clone(), first }
    }

    pub(crate) fn take(&mut self, key: usize) -> usize {
        let next = &mut self.next[key];
        let place = (*next).try_into();
        *next += T::from(1);
        place.unwrap_or_else(|_| unreachable!("the places of a list fit into memory"))
    }
}
