//! Sentences that compare each algorithm with the baseline. Each sentence that names a faster
//! algorithm also states the uncertainty.

use super::{p_value, single_line};
use crate::compare::{ComparisonLine, Group, Tests};
use crate::stats::{Interval, Ratio};

/// Returns whether each algorithm of a group that has a time was run only once.
pub(super) fn is_of_single_runs(group: &Group) -> bool {
    group.lines.iter().all(|line| run_count(line) <= 1)
        && group.lines.iter().any(|line| run_count(line) == 1)
}

/// Returns a sentence for each algorithm other than the baseline.
pub fn in_words(group: &Group) -> String {
    let Some(name) = &group.baseline else {
        return format!("Nothing to compare with: {}.", single_line(&group.no_baseline));
    };
    let timed = || group.lines.iter().filter(|l| l.time.is_some());
    let Some(baseline) = timed().find(|l| l.algorithm == *name) else {
        return String::new();
    };
    // Do not repeat in each sentence that the times are exact: a remark below all groups says so.
    let exact = group.is_exact() && is_of_single_runs(group);
    let others = timed().filter(|l| l.algorithm != *name).map(|l| against(l, baseline, exact));
    let others: Vec<String> = others.collect();
    if others.is_empty() {
        format!("Only `{}` has a time here: nothing to compare with.", single_line(name))
    } else {
        others.join("\n")
    }
}

fn against(line: &ComparisonLine, baseline: &ComparisonLine, exact: bool) -> String {
    let Some(ratio) = &line.ratio else {
        return format!(
            "{} and {}: a time is 0, so there is no ratio.",
            quoted_name(line),
            quoted_name(baseline)
        );
    };
    match ratio.interval {
        None if exact => format!("{}.", faster_by(line, baseline, ratio, "")),
        None => {
            format!(
                "{} ({}: the uncertainty is unknown).",
                faster_by(line, baseline, ratio, ""),
                single_runs(line, baseline)
            )
        }
        Some(i) if i.is_point() => {
            format!("{} ({}).", faster_by(line, baseline, ratio, ""), equal_runs(line, baseline))
        }
        Some(i) => with_spread(line, baseline, ratio, i),
    }
}

fn with_spread(
    line: &ComparisonLine,
    baseline: &ComparisonLine,
    ratio: &Ratio,
    interval: Interval,
) -> String {
    let (t, rank) = if line.tests.as_ref().is_some_and(|tests| tests.paired) {
        ("the paired t test", "Wilcoxon")
    } else {
        ("Welch's t", "Mann-Whitney")
    };
    let p = |of: fn(&Tests) -> Option<f64>| p_value(line.tests.as_deref().and_then(of));
    let tests = format!(
        "p by {t} {}, by {rank} {}",
        p(|tests| tests.t_p_holm),
        p(|tests| tests.rank_p_holm)
    );
    if interval.contains(1.0) {
        return format!(
            "{} and {} do not differ by more than their spread (95 %: {} to {} times as long; {tests}).",
            quoted_name(line),
            quoted_name(baseline),
            factor(interval.low),
            factor(interval.high)
        );
    }
    let Interval { low, high } = interval;
    let (low, high) = if ratio.value < 1.0 { (1.0 / high, 1.0 / low) } else { (low, high) };
    let value = ratio.value.max(1.0 / ratio.value);
    // The interval is not symmetric around the ratio: the distance to its upper end is a little
    // larger than the distance to its lower end. The larger distance is shown, so that the
    // precision is not overstated.
    let spread = (high - value).max(value - low);
    // Show enough digits that the spread is not rounded to 0.
    let digits =
        (2..=6).find(|digits| format!("{spread:.digits$}").parse() != Ok(0.0)).unwrap_or(6);
    let spread = format!(" ± {spread:.digits$}");
    format!(
        "{} (95 %: {low:.digits$} to {high:.digits$}; {tests}).",
        faster_by(line, baseline, ratio, &spread)
    )
}

/// Says which algorithm is faster, and by which factor. The faster algorithm is always named first,
/// even if it is the baseline, because "slower by a factor" is ambiguous.
fn faster_by(
    line: &ComparisonLine,
    baseline: &ComparisonLine,
    ratio: &Ratio,
    spread: &str,
) -> String {
    let (line, baseline) = (quoted_name(line), quoted_name(baseline));
    if ratio.value == 1.0 {
        return format!("{line} and {baseline} took the same time");
    }
    let (fast, slow, value) = if ratio.value < 1.0 {
        (line, baseline, 1.0 / ratio.value)
    } else {
        (baseline, line, ratio.value)
    };
    format!("{fast} ran {}{spread} times faster than {slow}", factor(value))
}

fn quoted_name(line: &ComparisonLine) -> String {
    format!("`{}`", single_line(&line.algorithm))
}

/// Formats a factor with two decimals. If a factor other than 1 would be shown as 1, it has more
/// decimals.
fn factor(value: f64) -> String {
    let digits = |digits: usize| format!("{value:.digits$}");
    (2..=6)
        .map(digits)
        .find(|text| value == 1.0 || text.parse() != Ok(1.0))
        .unwrap_or_else(|| digits(6))
}

fn run_count(line: &ComparisonLine) -> usize {
    line.time.as_ref().map_or(0, |t| t.n)
}

fn single_runs(line: &ComparisonLine, baseline: &ComparisonLine) -> String {
    match (run_count(line), run_count(baseline)) {
        (1, 1) => "one run each".to_owned(),
        (1, _) => format!("a single run of {}", quoted_name(line)),
        _ => format!("a single run of {}", quoted_name(baseline)),
    }
}

fn equal_runs(line: &ComparisonLine, baseline: &ComparisonLine) -> String {
    match (run_count(line), run_count(baseline)) {
        (n, m) if n == m => format!("the same in all {n} repetitions"),
        (n, m) => format!("the same in all {n} and {m} repetitions"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::compare::tests::{failed, files, row};
    use crate::record::{Record, Status};

    fn verdict(records: Vec<Record>, baseline: Option<&str>) -> String {
        in_words(&compare(&files(records), baseline).unwrap().groups[0])
    }

    fn runs_of(name: &'static str, times: &'static [f64]) -> impl Iterator<Item = Record> {
        (0..).zip(times).map(move |(r, t)| row(name, r, *t))
    }

    /// Returns the same rows with other seeds.
    fn unpaired(rows: impl Iterator<Item = Record>) -> impl Iterator<Item = Record> {
        rows.map(|row| Record { seed: 1000 + row.seed, ..row })
    }

    #[test]
    fn a_winner_has_an_interval_and_p_values() {
        let rows = || {
            runs_of("fast", &[10.0, 10.4, 9.8])
                .chain(runs_of("slow", &[20.5, 21.0, 20.0]))
                .collect::<Vec<_>>()
        };
        let sentence = "`fast` ran 2.04 ± 0.04 times faster than `slow` (95 %: 2.00 to 2.08; p by the paired t test < 0.001, by Wilcoxon 0.250).";
        assert_eq!(verdict(rows(), None), sentence);
        assert_eq!(verdict(rows(), Some("slow")), sentence, "the same seen from either side");
        let apart = runs_of("fast", &[10.0, 10.4, 9.8])
            .chain(unpaired(runs_of("slow", &[20.5, 21.0, 20.0])));
        assert_eq!(
            verdict(apart.collect(), None),
            "`fast` ran 2.04 ± 0.13 times faster than `slow` (95 %: 1.91 to 2.17; p by Welch's t < 0.001, by Mann-Whitney 0.100)."
        );
    }

    #[test]
    fn without_a_difference_there_is_no_winner() {
        let apart =
            runs_of("a", &[10.0, 10.4, 9.8]).chain(unpaired(runs_of("b", &[10.1, 10.3, 9.9])));
        assert_eq!(
            verdict(apart.collect(), None),
            "`b` and `a` do not differ by more than their spread (95 %: 0.94 to 1.07 times as long; p by Welch's t 0.883, by Mann-Whitney 1.000)."
        );
    }

    #[test]
    fn single_runs_have_no_uncertainty() {
        let drawn = |name: &str, time| {
            let workload = "irregular:dist=pareto,mean=512,cv=2".to_owned();
            Record { workload, ..row(name, 0, time) }
        };
        assert_eq!(
            verdict(vec![drawn("slow", 25.0), drawn("fast", 10.0)], None),
            "`fast` ran 2.50 times faster than `slow` (one run each: the uncertainty is unknown)."
        );
        assert_eq!(
            verdict(runs_of("fast", &[10.0, 11.0]).chain([row("slow", 0, 42.0)]).collect(), None),
            "`fast` ran 4.00 times faster than `slow` (a single run of `slow`: the uncertainty is unknown)."
        );
        assert_eq!(
            verdict(vec![row("slow", 0, 25.0), row("fast", 0, 10.0)], None),
            "`fast` ran 2.50 times faster than `slow`.",
            "uniform sizes: that this is exact is said once, below"
        );
    }

    #[test]
    fn repetitions_without_spread_are_marked() {
        assert_eq!(
            verdict(runs_of("slow", &[25.0; 4]).chain(runs_of("fast", &[10.0; 4])).collect(), None),
            "`fast` ran 2.50 times faster than `slow` (the same in all 4 repetitions)."
        );
        assert_eq!(
            verdict(runs_of("slow", &[10.0; 4]).chain(runs_of("fast", &[10.0; 3])).collect(), None),
            "`slow` and `fast` took the same time (the same in all 4 and 3 repetitions)."
        );
    }

    #[test]
    fn small_differences_are_not_rounded_away() {
        assert_eq!(
            verdict(vec![row("a", 0, 10_000.0), row("b", 0, 10_001.0)], None),
            "`a` ran 1.0001 times faster than `b`."
        );
    }

    #[test]
    fn a_small_spread_is_not_rounded_away() {
        let sentence = verdict(
            runs_of("a", &[10.0, 10.001, 9.999])
                .chain(runs_of("b", &[20.0, 20.002, 19.999]))
                .collect(),
            None,
        );
        assert_eq!(
            sentence,
            "`a` ran 2.00 ± 0.0001 times faster than `b` (95 %: 1.9999 to 2.0002; p by the paired t test < 0.001, by Wilcoxon 0.250)."
        );
    }

    #[test]
    fn missing_comparisons_are_explained() {
        assert_eq!(
            verdict(vec![row("a", 0, 0.0), row("b", 0, 5.0)], None),
            "`b` and `a`: a time is 0, so there is no ratio."
        );
        let broken = || failed("odd", 0, Status::Invalid, "block 3 of 5");
        assert_eq!(
            verdict(vec![row("a", 0, 5.0), broken()], None),
            "Only `a` has a time here: nothing to compare with."
        );
        assert_eq!(
            verdict(vec![row("a", 0, 5.0), broken()], Some("odd")),
            "Nothing to compare with: the baseline `odd` has no time here: invalid."
        );
    }
}
