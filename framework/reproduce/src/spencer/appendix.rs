//! Appendix A: the 1-dimensional transposition whose phases are combined, and the 2-dimensional one of n such.

use super::{Costs, Torus, compare, figure, log};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};

/// The sums of (A.1) and (A.3) for r rounds of collection.
fn sums(q: f64, r: i32) -> (f64, f64) {
    let power = |i: i32| (2.0 * q + 1.0).powi(i);
    let level: f64 = (0..r).map(power).sum();
    let double: f64 = (0..=r - 2).map(|j| (0..=j).map(power).sum::<f64>()).sum();
    let quarter = 2.0 * q * level + q * power(r);
    (quarter, (2.0 * q - 1.0) * power(r) + (10.0 * q - 2.0) * level + 8.0 * q * double)
}

/// (A.4) as printed, and as (A.3) sums to.
fn closed(q: f64, n: f64, r: f64) -> (f64, f64) {
    let first = (q + 4.0) / (2.0 * q + 2.0) * (n + 4.0);
    let printed =
        first + (n + 4.0) / (2.0 * q * q + 2.0 * q) * (1.5 + r) - 2.0 * (2.0 * q + 1.0).powi(2) / q - 5.0 + 1.0 / q;
    let sums_to = (2.0 * q + 4.0 + 1.0 / q) * (n + 4.0) / (4.0 * (q + 1.0)) - 4.0 * r - 5.0 - 1.0 / q;
    (printed, sums_to)
}

/// The equations beside runs.
pub(super) fn table(bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Appendix A",
        "The combined transposition (`torus-permutation:form=combined`) on cycles of n with n + 4 = (4q + 4)(2q + 1)^r, on two that are not, and on tori as formula 4.10 has it. Switching is (A.3)'s; (A.4) is held against it.",
    );
    for (n, q) in [(20, 1), (68, 1), (56, 2), (296, 2), (108, 3), (34, 1), (100, 2)] {
        let torus = Torus::new(1, n, q);
        let ours = torus.run(bench, ("torus-permutation:form=combined", "permutation/transpose-1d:1"), "all", q)?;
        let [_, nodes, channels, _] = torus.figures();
        let levels = log(2.0 * channels + 1.0, (nodes + 4.0) / (4.0 * channels + 4.0));
        let r = super::up(levels);
        let (quarter, switching) = sums(channels, r as i32);
        let row = format!("(A.2), (A.3), {}", torus.name());
        let formula = |round: super::Round| Costs {
            rounds: 2.0 * round(levels) + 1.0,
            switching,
            propagation: if quarter * 4.0 > nodes { nodes / 4.0 } else { quarter },
        };
        compare(
            &mut table,
            &row,
            &formula,
            ours,
            None,
            &[
                ("switching", "(A.3) is for the next larger n of its kind"),
                ("propagation", "a quarter of n isn't whole, or its last groups are smaller"),
            ],
        );
        if (levels - r).abs() < 1e-9 {
            let (printed, sums_to) = closed(channels, nodes, r);
            let why = format!(
                "contradicts (A.3), which sums to (2q+4+1/q)(n+4)/(4(q+1)) - 4r - 5 - 1/q = {}",
                figure(sums_to)
            );
            table.add(
                (&format!("(A.4), {}", torus.name()), "switching"),
                figure(printed),
                figure(ours.switching),
                Verdict::holds((printed - ours.switching).abs() < 1e-6),
                &why,
            );
        }
    }
    for (n, q) in [(20, 1), (68, 1), (56, 2)] {
        let torus = Torus::new(2, n, q);
        let ours =
            torus.run(bench, ("torus-permutation:form=combined", "permutation/transpose-2d-anti:1"), "all", q)?;
        let [_, nodes, channels, _] = torus.figures();
        let levels = log(2.0 * channels + 1.0, (nodes + 4.0) / (4.0 * channels + 4.0));
        let (_, switching) = sums(channels, super::up(levels) as i32);
        let formula = |round: super::Round| Costs {
            rounds: 2.0 * round(levels) + 1.0,
            switching: 2.0 * switching,
            propagation: nodes / 4.0,
        };
        compare(
            &mut table,
            &format!("(4.10), {}", torus.name()),
            &formula,
            ours,
            None,
            &[(
                "switching",
                "twice (A.3)'s, and 2 hops a round more: half of the cycles have a node on the mirror, so that their others lie a node farther from their images",
            )],
        );
    }
    Ok(table)
}
