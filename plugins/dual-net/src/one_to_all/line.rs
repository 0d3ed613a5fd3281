//! Broadcast and scatter on a line of a base network, step by step.

/// A message with the blocks of `count` nodes from `first` on. All positions are relative to the
/// root.
pub struct LineMessage {
    pub from: u64,
    pub to: u64,
    pub first: u64,
    pub count: u64,
}

/// Broadcast on a ring of N nodes, in ceil(N / 2) steps. The root sends forwards in the first step
/// and backwards in the second, and receivers pass the message on.
pub fn broadcast_on_ring(len: u64) -> Vec<Vec<LineMessage>> {
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
pub fn broadcast_by_halves(len: u64) -> Vec<Vec<LineMessage>> {
    let powers = (0..u64::BITS).map(|i| 1 << i).take_while(|doubled| *doubled < len);
    powers
        .map(|doubled: u64| {
            (0..doubled.min(len - doubled))
                .map(|v| LineMessage { from: v, to: v + doubled, first: 0, count: len })
                .collect()
        })
        .collect()
}

/// Scatter on a ring of N nodes. In each of N - 1 steps, the root sends one block. It sends
/// forwards and backwards in turn, in each direction the block for the farthest node first.
pub fn scatter_on_ring(len: u64) -> Vec<Vec<LineMessage>> {
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
pub fn scatter_by_halves(len: u64) -> Vec<Vec<LineMessage>> {
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
