//! f(i), the maximum number of messages on a link in step i. This module has the formulas of the
//! paper and corrected formulas. The mesh has r rows, c columns and p = r c processors.

/// Returns f(i), the maximum number of messages on a link in step i of PEX, by the formula that
/// section 3.1 prints: `2^ceil(lg max(i mod c, i / c))`. `c` is the number of columns of the mesh.
pub(super) fn pex_as_printed(i: u64, c: u64) -> u64 {
    (i % c).max(i / c).next_power_of_two()
}

/// Returns f(i), the maximum number of messages on a link in step i of PEX, by the formula of
/// section 3.1 with the logarithm rounded down instead of up. `c` is the number of columns of the
/// mesh.
pub(super) fn pex_exact(i: u64, c: u64) -> u64 {
    1 << (i % c).max(i / c).ilog2()
}

/// Returns f(i), the maximum number of messages on a link in step i of GEN, by the formula that
/// section 3.4 prints: `min(i mod c, c - i mod c) + min(i / c, (p - i) / c)`. `c` is the number of
/// columns of the mesh, and `p` is the number of processors.
pub(super) fn gen_as_printed(i: u64, c: u64, p: u64) -> u64 {
    (i % c).min(c - i % c) + (i / c).min((p - i) / c)
}

/// Returns f(i), the maximum number of messages on a link in step i of GEN, by a corrected formula.
/// c is the number of columns of the mesh, and r is the number of its rows. Let a = i mod c and b =
/// i / c. f(i) is the maximum of three loads:
/// * A link in a row carries min(a, c - a) messages.
/// * A link in a column whose messages have not wrapped around in their rows carries min(b, r - b).
/// * A link in a column whose messages have wrapped around carries min(b + 1, r - b - 1).
///
/// The printed formula is wrong because it adds the loads of a row and a column.
pub(super) fn gen_exact(i: u64, c: u64, p: u64) -> u64 {
    let (a, b, r) = (i % c, i / c, p / c);
    let wrapped = if a > 0 { (b + 1).min(r - b - 1) } else { 0 };
    a.min(c - a).max(b.min(r - b)).max(wrapped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Returns f(i), the maximum number of messages on a link in step i. It is found by following
    /// each message, first along its row and then along its column. A link is identified by the two
    /// nodes that it connects.
    fn walked(r: u64, c: u64, i: u64, to: impl Fn(u64, u64) -> u64) -> u64 {
        let mut links: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for from in 0..r * c {
            let (mut at, end) = (from, to(from, i));
            while at != end {
                let next = match ((at % c).cmp(&(end % c)), (at / c).cmp(&(end / c))) {
                    (std::cmp::Ordering::Less, _) => at + 1,
                    (std::cmp::Ordering::Greater, _) => at - 1,
                    (_, std::cmp::Ordering::Less) => at + c,
                    _ => at - c,
                };
                *links.entry((at, next)).or_default() += 1;
                at = next;
            }
        }
        links.into_values().max().unwrap_or(0)
    }

    #[test]
    fn the_corrected_formula_for_pex_holds_on_power_of_two_meshes() {
        for (r, c) in [(1, 8), (8, 1), (2, 4), (4, 2), (4, 4), (4, 8), (8, 8), (16, 8), (8, 16)] {
            for i in 1..r * c {
                assert_eq!(pex_exact(i, c), walked(r, c, i, |me, i| me ^ i), "{r}x{c}, step {i}");
            }
        }
    }

    #[test]
    fn the_corrected_formula_for_gen_holds_on_small_meshes() {
        for (r, c) in (1..10).flat_map(|r| (1..10).map(move |c| (r, c))) {
            let p = r * c;
            for i in 1..p {
                assert_eq!(
                    gen_exact(i, c, p),
                    walked(r, c, i, |me, i| (me + i) % p),
                    "{r}x{c}, step {i}"
                );
            }
        }
    }

    /// A printed formula is wrong in some steps. The expected numbers of these steps come from an
    /// independent computation.
    #[test]
    fn the_printed_formulas_are_wrong_in_known_steps() {
        let pex = |r: u64, c: u64| {
            (1..r * c).filter(|i| pex_as_printed(*i, c) != pex_exact(*i, c)).count()
        };
        assert_eq!((pex(4, 4), pex(8, 8), pex(16, 32)), (7, 46, 461));
        let shifts = |r: u64, c: u64| {
            (1..r * c).filter(|i| gen_as_printed(*i, c, r * c) != gen_exact(*i, c, r * c)).count()
        };
        assert_eq!(
            (shifts(4, 4), shifts(4, 5), shifts(6, 8), shifts(8, 8), shifts(16, 32)),
            (2, 4, 20, 30, 406)
        );
    }

    #[test]
    fn the_printed_formula_for_gen_is_never_too_low() {
        for (r, c) in [(4, 4), (4, 5), (6, 8), (8, 8), (16, 9), (16, 14), (16, 30), (16, 32)] {
            assert!(
                (1..r * c).all(|i| gen_as_printed(i, c, r * c) >= gen_exact(i, c, r * c)),
                "{r}x{c}"
            );
        }
    }
}
