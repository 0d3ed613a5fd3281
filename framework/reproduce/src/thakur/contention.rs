//! f(i): the most messages on one link in step i, by the paper's formulas and by ours. r rows, c columns, p = r c processors.

/// Section 3.1, as printed: 2^ceil(lg max(i mod c, i / c)).
pub fn pex_as_printed(i: u64, c: u64) -> u64 {
    (i % c).max(i / c).next_power_of_two()
}

/// Section 3.1 with the logarithm rounded down.
pub fn pex_exact(i: u64, c: u64) -> u64 {
    1 << (i % c).max(i / c).ilog2()
}

/// Section 3.4, as printed: min(i mod c, c - i mod c) + min(i / c, (p - i) / c).
pub fn gen_as_printed(i: u64, c: u64, p: u64) -> u64 {
    (i % c).min(c - i % c) + (i / c).min((p - i) / c)
}

/// The most on one link: along a row a wrapped shift loads a link with min(a, c - a) messages, along a column with min(b, r - b), or, by those
/// that wrapped along their row, min(b + 1, r - b - 1); a = i mod c, b = i / c. The printed formula adds row and column up.
pub fn gen_exact(i: u64, c: u64, p: u64) -> u64 {
    let (a, b, r) = (i % c, i / c, p / c);
    let wrapped = if a > 0 { (b + 1).min(r - b - 1) } else { 0 };
    a.min(c - a).max(b.min(r - b)).max(wrapped)
}
