//! Broadcast and scatter on a line of a base network, step by step.

/// The blocks of `count` nodes from `first` on. Positions are relative to the root.
pub(super) struct LineMessage {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) first: u64,
    pub(super) count: u64,
}

/// Broadcast on a ring of N nodes, in ceil(N / 2) steps: the root sends forwards first and
/// backwards second, and receivers pass the message on.
pub(super) fn broadcast_on_ring(len: u64) -> Vec<Vec<LineMessage>> {
    let (ahead, back) = (len / 2, (len - 1) / 2);
    let message = |from, to| LineMessage { from, to, first: 0, count: len };
    let step = |i: u64| {
        let mut step = Vec::new();
        if i <= ahead {
            step.push(message(i - 1, i));
        }
        if (2..=back + 1).contains(&i) {
            step.push(message((len - (i - 2)) % len, len - (i - 1)));
        }
        step
    };
    (1..=len.div_ceil(2).min(len - 1)).map(step).collect()
}

/// Broadcast on a fully connected line. The number of informed nodes doubles in each step.
pub(super) fn broadcast_by_halves(len: u64) -> Vec<Vec<LineMessage>> {
    let powers = (0..u64::BITS).map(|i| 1 << i).take_while(|doubled| *doubled < len);
    powers
        .map(|doubled: u64| {
            (0..doubled.min(len - doubled))
                .map(|v| LineMessage { from: v, to: v + doubled, first: 0, count: len })
                .collect()
        })
        .collect()
}

/// In N - 1 steps, the root sends one block each, in alternating directions, the farthest first.
pub(super) fn scatter_on_ring(len: u64) -> Vec<Vec<LineMessage>> {
    let (ahead, back) = (len / 2, (len - 1) / 2);
    let step = |i: u64| {
        let mut step = Vec::new();
        for d in 1..=ahead {
            // The root sends the block for the node `d` positions ahead in step 1 + 2 (ahead - d).
            let at = i.saturating_sub(2 * (ahead - d));
            if (1..=d).contains(&at) {
                step.push(LineMessage { from: at - 1, to: at, first: d, count: 1 });
            }
        }
        for d in 1..=back {
            let at = i.saturating_sub(1 + 2 * (back - d));
            if (1..=d).contains(&at) {
                step.push(LineMessage {
                    from: (len - (at - 1)) % len,
                    to: len - at,
                    first: len - d,
                    count: 1,
                });
            }
        }
        step
    };
    (1..len).map(step).collect()
}

/// Scatter on a fully connected line of N nodes: each node with several blocks sends the smaller
/// half of them to one of their destinations. The root sends N - 1 blocks in total.
pub(super) fn scatter_by_halves(len: u64) -> Vec<Vec<LineMessage>> {
    let (mut steps, mut shares) = (Vec::new(), vec![(0, len)]);
    while shares.iter().any(|(_, count)| *count > 1) {
        let (mut step, mut halves) = (Vec::new(), Vec::new());
        for (first, count) in shares {
            let (kept, sent) = (count - count / 2, count / 2);
            halves.push((first, kept));
            if sent > 0 {
                halves.push((first + kept, sent));
                step.push(LineMessage {
                    from: first,
                    to: first + kept,
                    first: first + kept,
                    count: sent,
                });
            }
        }
        steps.push(step);
        shares = halves;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    type Moves = fn(u64) -> Vec<Vec<LineMessage>>;

    /// Returns the final blocks of each position and the longest message of each step. Checks that
    /// no node sends or receives twice in a step, or sends what it does not have.
    fn simulate(len: u64, moves: Moves, copies: bool) -> (Vec<BTreeSet<u64>>, Vec<u64>) {
        let mut held = vec![BTreeSet::new(); len as usize];
        held[0] = (0..len).collect();
        let mut longest = Vec::new();
        for step in moves(len) {
            let before = held.clone();
            let ends =
                |end: fn(&LineMessage) -> u64| step.iter().map(end).collect::<BTreeSet<_>>().len();
            assert_eq!(
                (ends(|m| m.from), ends(|m| m.to)),
                (step.len(), step.len()),
                "one port, {len}"
            );
            for m in &step {
                for place in (m.first..m.first + m.count).map(|place| place % len) {
                    assert!(
                        before[m.from as usize].contains(&place),
                        "{len}: {} does not hold the block for {place}",
                        m.from
                    );
                    held[m.to as usize].insert(place);
                    if !copies {
                        held[m.from as usize].remove(&place);
                    }
                }
            }
            longest.push(step.iter().map(|m| m.count).max().unwrap());
        }
        (held, longest)
    }

    #[test]
    fn a_broadcast_reaches_every_position_of_a_line() {
        let doubling = |len: u64| u64::from(len.next_power_of_two().trailing_zeros());
        for len in 1..40_u64 {
            for (moves, steps) in [
                (broadcast_on_ring as Moves, len.div_ceil(2).min(len - 1)),
                (broadcast_by_halves as Moves, doubling(len)),
            ] {
                let (held, longest) = simulate(len, moves, true);
                assert!(held.iter().all(|h| h.len() as u64 == len), "{len}");
                assert_eq!(longest.len() as u64, steps, "{len}");
            }
        }
    }

    #[test]
    fn a_scatter_delivers_to_every_position_of_a_line() {
        for len in 1..40_u64 {
            for moves in [scatter_on_ring as Moves, scatter_by_halves] {
                let (held, longest) = simulate(len, moves, false);
                assert!(
                    held.iter().zip(0..).all(|(h, place)| *h == BTreeSet::from([place])),
                    "{len}: {held:?}"
                );
                assert_eq!(longest.iter().sum::<u64>(), len - 1, "{len}");
            }
        }
    }

    #[test]
    fn ring_messages_cross_one_link() {
        for len in 2..40_u64 {
            for m in [broadcast_on_ring(len), scatter_on_ring(len)].into_iter().flatten().flatten()
            {
                let ahead = (m.to + len - m.from) % len;
                assert!(ahead == 1 || ahead == len - 1, "{len}: {} to {}", m.from, m.to);
            }
        }
    }
}
