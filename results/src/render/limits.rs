//! Remarks on tests that cannot become significant.

use crate::compare::{Comparison, Correction, Group};
use std::collections::BTreeSet;

/// The level of significance: a p-value below it is significant.
const LEVEL: f64 = 0.05;

/// Returns a remark for each kind of test whose least possible p-value is not below 0.05, because
/// there are too few repetitions for the number of comparisons.
///
/// The least p-value of Wilcoxon's signed-rank test with n pairs is 2/2^n. That of the Mann-Whitney
/// test with n and m runs is 2 divided by the number of ways to choose n of n + m runs.
pub(super) fn limits(comparison: &Comparison) -> Vec<String> {
    let mut remarks = BTreeSet::new();
    for group in &comparison.groups {
        let tests = match comparison.correction {
            Correction::All => comparison.tested,
            Correction::Group => tested(group),
        };
        let baseline =
            group.lines.iter().find(|line| Some(&line.algorithm) == group.baseline.as_ref());
        let Some(others) = baseline.and_then(|line| Some(line.time.as_ref()?.n)) else { continue };
        for line in &group.lines {
            let (Some(test), Some(time)) = (&line.tests, &line.time) else { continue };
            if test.rank_p.is_none() {
                continue;
            }
            let (least, name) = if test.paired {
                (2.0 * 0.5_f64.powf(time.n as f64), format!("Wilcoxon with {} pairs", time.n))
            } else {
                let name = format!("Mann-Whitney with {} and {others} runs", time.n);
                (2.0 / ways(time.n, others), name)
            };
            let least = (least * tests as f64).min(1.0);
            if least < LEVEL {
                continue;
            }
            let comparisons =
                if tests > 1 { format!(" and {tests} comparisons") } else { String::new() };
            let by_group = comparison.correction == Correction::All && tests > tested(group);
            let advice = if by_group { " or --correct group" } else { "" };
            remarks.insert(format!(
                "{name}{comparisons} cannot fall below {}: use more repetitions{advice}.",
                crate::units::number(least)
            ));
        }
    }
    remarks.into_iter().collect()
}

/// Returns the number of tests in a group.
fn tested(group: &Group) -> usize {
    group.lines.iter().filter(|line| line.tests.is_some()).count()
}

/// Returns the number of ways to choose `n` of `n + m` things.
fn ways(n: usize, m: usize) -> f64 {
    (1..=n).map(|i| (m + i) as f64 / i as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::{files, row};
    use crate::compare::{CompareOptions, compare_by};
    use crate::record::Record;

    /// With 10 pairs, the least p-value is 2/1024. 64 comparisons multiply it to 0.125.
    #[test]
    fn a_test_that_cannot_become_significant_is_reported() {
        let remarks = |groups: u32, pairs: u32, correction: Correction| {
            let rows = (0..groups).flat_map(|number| {
                (0..pairs).flat_map(move |run| {
                    let of = |name, time| Record {
                        workload: format!("irregular:dist=pareto,mean={},cv=1", 8 + number),
                        ..row(name, run, time)
                    };
                    [of("a", 10.0 + f64::from(run)), of("b", 20.0 + f64::from(run * run))]
                })
            });
            let options = CompareOptions { correction, ..CompareOptions::default() };
            limits(&compare_by(&files(rows.collect()), &options).unwrap())
        };
        let text = "Wilcoxon with 10 pairs and 64 comparisons cannot fall below 0.125: use more \
             repetitions or --correct group.";
        assert_eq!(remarks(64, 10, Correction::All), [text]);
        assert_eq!(remarks(64, 10, Correction::Group), [""; 0]);
        assert_eq!(remarks(64, 12, Correction::All), [""; 0]);
        let few = "Wilcoxon with 3 pairs cannot fall below 0.25: use more repetitions.";
        assert_eq!(remarks(1, 3, Correction::All), [few]);
        // Of 6 runs, 3 can be chosen in 20 ways.
        assert_eq!(ways(3, 3), 20.0);
    }
}
