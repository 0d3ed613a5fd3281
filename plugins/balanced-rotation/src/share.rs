//! Assignment of items to buckets of limited size.

/// Returns which of its two buckets (0 or 1) each item gets, so that no bucket has more items than
/// `room`. Returns `None` if this is impossible.
///
/// 1. From the last item to the first, each item chooses bucket 0, or bucket 1 if only that bucket
///    has room.
/// 2. While a bucket is too full, a breadth-first search finds the shortest chain of buckets to a
///    bucket with room. Along the chain, one item moves from each bucket to its other bucket, which
///    is the next one in the chain.
///
/// Without a chain there is no solution: the reached buckets have too little room for the items
/// that can only be in them.
pub fn share(items: &[[usize; 2]], room: &[usize]) -> Option<Vec<usize>> {
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
