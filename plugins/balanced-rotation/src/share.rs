//! Assignment of items to buckets of limited size.

/// Returns which of its two buckets (0 or 1) each item gets, so that no bucket has more items than
/// `room`. `None` if this is impossible.
///
/// 1. From the last item to the first, each chooses bucket 0, or bucket 1 if only that has room.
/// 2. While a bucket is too full, a breadth-first search finds the shortest chain of buckets to one
///    with room, and along it one item moves from each bucket to the next, its other bucket.
///
/// Without a chain, the reached buckets have too little room for items that can only be in them.
pub(crate) fn share(items: &[[usize; 2]], room: &[usize]) -> Option<Vec<usize>> {
    let mut chosen = vec![0; items.len()];
    let mut left: Vec<i64> = room.iter().map(|room| *room as i64).collect();
    let mut touching = vec![Vec::new(); room.len()];
    for (item, buckets) in items.iter().enumerate() {
        buckets.iter().for_each(|bucket| touching[*bucket].push(item));
    }
    for (item, buckets) in items.iter().enumerate().rev() {
        chosen[item] = usize::from(left[buckets[0]] <= 0 && left[buckets[1]] > 0);
        left[buckets[chosen[item]]] -= 1;
    }
    let mut seen = vec![usize::MAX; room.len()];
    let mut chains = 0;
    for bucket in 0..room.len() {
        while left[bucket] < 0 {
            let mut reached = vec![(bucket, 0, 0)];
            seen[bucket] = chains;
            let mut at = 0;
            let end = 'chain: loop {
                let &(from, ..) = reached.get(at)?;
                for &item in &touching[from] {
                    let buckets = items[item];
                    let to = buckets[1 - chosen[item]];
                    if buckets[chosen[item]] != from || seen[to] == chains {
                        continue;
                    }
                    seen[to] = chains;
                    reached.push((to, at, item));
                    if left[to] > 0 {
                        break 'chain reached.len() - 1;
                    }
                }
                at += 1;
            };
            left[reached[end].0] -= 1;
            left[bucket] += 1;
            let mut link = end;
            while link > 0 {
                let (_, before, item) = reached[link];
                chosen[item] = 1 - chosen[item];
                link = before;
            }
            chains += 1;
        }
    }
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_of_exchanges_pass_full_buckets() {
        assert_eq!(share(&[[0, 1], [1, 2]], &[0, 1, 1]), Some(vec![1, 1]));
        assert_eq!(share(&[[0, 1], [0, 1], [0, 1]], &[1, 1]), None);
    }

    #[test]
    fn an_assignment_is_found_if_one_exists() {
        let digits = |number: usize, base: usize, count: u32| -> Vec<usize> {
            (0..count).map(|place| number / base.pow(place) % base).collect()
        };
        for pairs in 0..9_usize.pow(3) {
            let items: Vec<[usize; 2]> =
                digits(pairs, 9, 3).iter().map(|pair| [pair / 3, pair % 3]).collect();
            for rooms in 0..4_usize.pow(3) {
                let room = digits(rooms, 4, 3);
                let fits = |chosen: &[usize]| {
                    (0..3).all(|bucket| {
                        (0..3).filter(|i| items[*i][chosen[*i]] == bucket).count() <= room[bucket]
                    })
                };
                let found = share(&items, &room);
                match &found {
                    Some(chosen) => assert!(fits(chosen), "{items:?} in {room:?}: {chosen:?}"),
                    None => assert!(
                        (0..8).all(|choice| !fits(&digits(choice, 2, 3))),
                        "{items:?} in {room:?}"
                    ),
                }
            }
        }
    }
}
