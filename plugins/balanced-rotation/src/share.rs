//! Things each of which may go in one of two bins, shared out within the room that the bins have.

/// For each item which of its two bins it goes in, 0 or 1, so that no bin has more than its room;
/// nothing if that can't be.
///
/// The last are the first to choose: the first of their two bins, or the second if there alone is
/// room left. Then, while a bin is too full, the shortest chain of exchanges that leads from it to
/// one with room is carried out; if there is none, what the bins that chains do reach must hold is
/// more than they have room for.
pub(crate) fn share(items: &[[usize; 2]], room: &[usize]) -> Option<Vec<usize>> {
    let mut chosen = vec![0; items.len()];
    let mut left: Vec<i64> = room.iter().map(|room| *room as i64).collect();
    let mut touching = vec![Vec::new(); room.len()];
    for (item, bins) in items.iter().enumerate() {
        bins.iter().for_each(|bin| touching[*bin].push(item));
    }
    for (item, bins) in items.iter().enumerate().rev() {
        chosen[item] = usize::from(left[bins[0]] <= 0 && left[bins[1]] > 0);
        left[bins[chosen[item]]] -= 1;
    }
    let mut seen = vec![usize::MAX; room.len()];
    let mut chains = 0;
    for bin in 0..room.len() {
        while left[bin] < 0 {
            let mut reached = vec![(bin, 0, 0)];
            seen[bin] = chains;
            let mut at = 0;
            let end = 'chain: loop {
                let &(from, ..) = reached.get(at)?;
                for &item in &touching[from] {
                    let bins = items[item];
                    let to = bins[1 - chosen[item]];
                    if bins[chosen[item]] != from || seen[to] == chains {
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
            left[bin] += 1;
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
    fn exchanges_go_through_bins_that_are_full() {
        // Bin 1 is the only one for what bin 0 has no room for: what was there goes on to bin 2.
        assert_eq!(share(&[[0, 1], [1, 2]], &[0, 1, 1]), Some(vec![1, 1]));
        assert_eq!(share(&[[0, 1], [0, 1], [0, 1]], &[1, 1]), None);
    }

    #[test]
    fn a_share_is_found_if_there_is_one() {
        let digits = |number: usize, base: usize, count: u32| -> Vec<usize> {
            (0..count).map(|place| number / base.pow(place) % base).collect()
        };
        for pairs in 0..9_usize.pow(3) {
            let items: Vec<[usize; 2]> =
                digits(pairs, 9, 3).iter().map(|pair| [pair / 3, pair % 3]).collect();
            for rooms in 0..4_usize.pow(3) {
                let room = digits(rooms, 4, 3);
                let fits = |chosen: &[usize]| {
                    (0..3).all(|bin| {
                        (0..3).filter(|i| items[*i][chosen[*i]] == bin).count() <= room[bin]
                    })
                };
                let found = share(&items, &room);
                match &found {
                    Some(chosen) => assert!(fits(chosen), "{items:?} in {room:?}: {chosen:?}"),
                    None => assert!(
                        (0..8).all(|way| !fits(&digits(way, 2, 3))),
                        "{items:?} in {room:?}"
                    ),
                }
            }
        }
    }
}
