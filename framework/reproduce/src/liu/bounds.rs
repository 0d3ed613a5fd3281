//! The formulas of the paper. `p` is the number of nodes. `l` is the paper's Lmax: the maximum
//! total number of elements (or bytes) that a node sends or receives.

/// Returns `ceil(sqrt(p))`.
pub(super) fn side(p: u64) -> u64 {
    let floor = p.isqrt();
    floor + u64::from(floor * floor < p)
}

/// Returns C, the number of columns when the nodes are arranged in rows. It is `side(p)`, or the
/// floor of sqrt(p) if `side(p)` leaves too few complete rows (section 3.2.2 A).
pub(super) fn columns(p: u64) -> u64 {
    let up = side(p);
    if p % up < p.div_ceil(up) { up } else { p.isqrt() }
}

/// Returns the number of messages that a node receives in a stage (0 to 3), including its message
/// to itself (Lemma 1 and Table 2). `complete` states whether the column of the node is complete.
pub(super) fn messages(p: u64, stage: usize, complete: bool) -> u64 {
    match (complete, stage % 2) {
        (true, _) => side(p),
        (false, 0) => side(p) + 1,
        (false, _) => side(p) - 1,
    }
}

/// Returns the length of the longest message that a node receives in a stage (0 to 3) (Lemma 3 and
/// Table 2). `complete` states whether the column of the node is complete.
pub(super) fn longest(p: u64, stage: usize, complete: bool, l: f64) -> f64 {
    let c = match (complete, stage % 2) {
        (true, _) => side(p),
        (false, 0) => side(p) - 1,
        (false, _) => side(p) + 1,
    };
    c as f64 * l / p as f64
}

/// Returns the upper bound on the sizes of a node's send and receive buffers in algorithm A4
/// (Theorem 1 and Table 4).
pub(super) fn buffer(p: u64, l: f64) -> f64 {
    side(p).pow(2) as f64 * l / p as f64
}

/// Returns the upper bound on the number of steps of algorithm A4 (Theorem 2 and Table 3).
pub(super) fn steps(p: u64) -> u64 {
    4 * side(p) + 2
}

/// Returns the upper bound on the traffic of algorithm A4 according to Theorem 2. The traffic is
/// the sum over steps of the longest message.
pub(super) fn traffic(p: u64, l: f64) -> f64 {
    (4 * side(p) * (side(p) + 1)) as f64 * l / p as f64
}

/// Returns the upper bound on the traffic of algorithm A4 according to the introduction and Table
/// 3, which differ from Theorem 2.
pub(super) fn printed_traffic(p: u64, l: f64) -> f64 {
    (4 * side(p) * side(p)) as f64 * l / p as f64
}
