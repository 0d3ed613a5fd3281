use super::grouping::DistinctRows;
use super::rows::ComparedRows;
use super::sample::{Sample, against, samples};
use super::winner::{rivals, winner};
use super::{By, ComparisonLine, Group, LineOptimum, StatusCounts};
use crate::record::{Status, Verified};
use crate::stats::Ratio;
use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

/// The order of samples: by mean time, then by label. Samples without a time keep their order.
fn by_time(a: &Sample<'_>, b: &Sample<'_>) -> Ordering {
    let by_name = || match (&a.time, &b.time) {
        (Some(_), Some(_)) => a.label.cmp(&b.label),
        _ => Ordering::Equal,
    };
    a.mean().total_cmp(&b.mean()).then_with(by_name)
}

/// Returns the first sample with a time whose label or algorithm is `name`, or the fastest.
fn find_baseline<'s, 'a>(
    samples: &'s [Sample<'a>],
    name: Option<&str>,
) -> Result<&'s Sample<'a>, String> {
    let Some(name) = name else {
        let timed = samples.iter().filter(|s| s.time.is_some());
        let fastest = timed.min_by(|a, b| by_time(a, b));
        return fastest.ok_or_else(|| "no algorithm has a time here".to_owned());
    };
    let of_that_name =
        || samples.iter().filter(|s| s.label == name || s.implementation.algorithm == name);
    match (of_that_name().find(|s| s.time.is_some()), of_that_name().next()) {
        (Some(sample), _) => Ok(sample),
        (None, Some(sample)) => {
            Err(format!("the baseline `{name}` has no time here: {}", status(sample)))
        }
        (None, None) => Err(format!("the baseline `{name}` has no row here")),
    }
}

fn status(sample: &Sample<'_>) -> Status {
    sample.rows.iter().map(|r| r.status).find(|s| *s != Status::Ok).unwrap_or(Status::Ok)
}

/// Compares the rows of a group. `distinct` must contain at least one row.
pub(super) fn group(
    all: &ComparedRows,
    distinct: DistinctRows<'_>,
    by: By,
    baseline: Option<&str>,
) -> Group {
    let DistinctRows { rows, repeated } = distinct;
    let samples = samples(all, &rows, by);
    let (baseline, no_baseline) = match find_baseline(&samples, baseline) {
        Ok(sample) => (Some(sample), String::new()),
        Err(reason) => (None, reason),
    };
    let mut ranked: Vec<&Sample<'_>> = samples.iter().collect();
    ranked.sort_by(|a, b| by_time(a, b));
    let first = all.case(rows[0]);
    let of_algorithm = (by != By::Algorithm)
        .then(|| by.without_subject_of_algorithm(first.implementation).algorithm.into_owned());
    Group {
        setting: by.without_subject(first.setting).map(Cow::into_owned),
        of_algorithm,
        nodes: rows[0].nodes,
        repeated,
        baseline: baseline.map(|b| b.label.clone()),
        no_baseline,
        winner: winner(&ranked).map(Arc::new),
        rivals: rivals(&ranked),
        lines: ranked.into_iter().map(|sample| line(all, sample, baseline)).collect(),
    }
}

fn line(all: &ComparedRows, sample: &Sample<'_>, baseline: Option<&Sample<'_>>) -> ComparisonLine {
    let mut counts = StatusCounts::default();
    let mut reasons: Vec<&str> = Vec::new();
    for row in &sample.rows {
        counts.add(row.status);
        let reason = all.reason(row);
        if row.status != Status::Ok && !reason.is_empty() && !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let verified_rows = sample.rows.iter().filter(|r| r.status == Status::Ok);
    let timed = verified_rows.clone().next();
    let weakest =
        verified_rows.max_by_key(|r| (r.verified, Reverse(r.compared_on.unwrap_or(u64::MAX))));
    let is_baseline = baseline.is_some_and(|b| b.label == sample.label);
    let other = baseline.filter(|_| !is_baseline);
    let (ratio, tests) = other.map(|base| against(sample, base)).unwrap_or_default();
    let to_itself = || sample.time.as_ref().filter(|t| is_baseline && t.mean > 0.0);
    ComparisonLine {
        algorithm: sample.label.clone(),
        subject: sample.implementation.algorithm.into(),
        status: status(sample),
        rows: counts,
        reason: reasons.join("; "),
        verified: weakest.map_or(Verified::None, |r| r.verified),
        verification: weakest.map_or(Cow::Borrowed(""), |r| r.verification()),
        time: sample.time.clone(),
        ratio: ratio.or_else(|| to_itself().map(|_| Ratio { value: 1.0, interval: None })),
        tests: tests.map(Box::new),
        optimum: LineOptimum::of(&sample.rows),
        ratio_to_alone: ratio_to_alone(sample),
        bandwidths: timed
            .zip(sample.time.as_ref())
            .and_then(|(row, time)| all.bandwidths(row, time.mean)),
        runs: sample.rows.iter().filter_map(|row| row.run()).collect(),
        members: sample.rows.iter().map(|row| row.location).collect(),
        declares_none: sample.rows.iter().any(|row| row.declares_none),
    }
}

fn ratio_to_alone(sample: &Sample<'_>) -> Option<f64> {
    let known = sample.rows.iter().filter_map(|row| Some((row.run()?.time_us, row.alone_us?)));
    let (time, alone) = known.fold((0.0, 0.0), |(time, alone), (t, a)| (time + t, alone + a));
    (alone > 0.0).then(|| time / alone)
}

#[cfg(test)]
mod tests {
    use crate::compare::tests::{failed, files, row};
    use crate::compare::{Group, compare};
    use crate::record::{Record, Status, Verified};
    use std::sync::Arc;

    fn one_group(records: Vec<Record>, baseline: Option<&str>) -> Group {
        let mut groups = compare(&files(records), baseline).unwrap().groups;
        assert_eq!(groups.len(), 1);
        Arc::unwrap_or_clone(groups.remove(0))
    }

    #[test]
    fn failed_rows_are_shown_without_a_ratio() {
        let rows = vec![failed("odd", 0, Status::Unsupported, "too odd"), row("fast", 0, 10.0)];
        let group = one_group(rows, Some("odd"));
        assert_eq!(group.baseline, None);
        assert_eq!(group.no_baseline, "the baseline `odd` has no time here: unsupported");
        let odd = &group.lines[1];
        assert_eq!(
            (odd.status, odd.reason.as_str(), odd.time.as_ref()),
            (Status::Unsupported, "too odd", None)
        );
        assert!(group.lines.iter().all(|l| l.ratio.is_none()));
    }

    #[test]
    fn a_missing_baseline_is_explained() {
        let elsewhere = Record { topology: "ring:5".to_owned(), ..row("slow", 0, 30.0) };
        let groups =
            compare(&files(vec![elsewhere, row("fast", 0, 10.0)]), Some("slow")).unwrap().groups;
        assert_eq!(
            (groups[0].baseline.as_deref(), groups[0].no_baseline.as_str()),
            (Some("slow"), "")
        );
        assert_eq!(
            (groups[1].baseline.as_deref(), groups[1].no_baseline.as_str()),
            (None, "the baseline `slow` has no row here")
        );
        let nothing = one_group(vec![failed("a", 0, Status::Crashed, "signal 11")], None);
        assert_eq!(nothing.no_baseline, "no algorithm has a time here");
    }

    #[test]
    fn failed_repetitions_are_left_out_of_the_sample() {
        let weaker = Record { verified: Verified::Amounts, ..row("a", 1, 12.0) };
        let rows = vec![
            row("a", 0, 10.0),
            weaker,
            failed("a", 2, Status::Timeout, "60 s"),
            failed("a", 3, Status::Timeout, "60 s"),
            failed("a", 4, Status::Crashed, "signal 11"),
        ];
        let line = &one_group(rows, None).lines[0];
        assert_eq!(
            (line.status, line.reason.as_str(), line.verified),
            (Status::Timeout, "60 s; signal 11", Verified::Amounts)
        );
        assert_eq!(line.rows.iter().map(|(_, n)| n).collect::<Vec<_>>(), [2, 1, 2]);
        assert_eq!(line.time.as_ref().map(|t| (t.n, t.mean)), Some((2, 11.0)));
    }

    #[test]
    fn a_case_of_one_node_takes_no_time_and_has_no_ratio() {
        let group = one_group(vec![row("a", 0, 0.0), row("b", 0, 0.0)], None);
        assert!(group.lines.iter().all(|l| l.ratio.is_none() && l.time.is_some()));
    }

    #[test]
    fn two_versions_of_an_algorithm_are_compared_with_each_other() {
        let newer = Record { plugin_version: "0.2.0".to_owned(), ..row("pex", 0, 8.0) };
        let group = one_group(vec![row("pex", 0, 10.0), newer, row("gen", 0, 5.0)], None);
        let labels: Vec<&str> = group.lines.iter().map(|l| l.algorithm.as_str()).collect();
        assert_eq!(labels, ["gen", "pex (classic 0.2.0)", "pex (classic 0.1.0)"]);
        let newer = Record { plugin_version: "0.2.0".to_owned(), ..row("pex", 0, 8.0) };
        for (name, is) in
            [("pex", "pex (classic 0.1.0)"), ("pex (classic 0.2.0)", "pex (classic 0.2.0)")]
        {
            let group = one_group(vec![row("pex", 0, 10.0), newer.clone()], Some(name));
            assert_eq!(group.baseline.as_deref(), Some(is), "of one name, the first to come");
        }
    }

    #[test]
    fn builds_of_one_version_are_distinguished_by_digest_and_program() {
        let of = |digest: &str, program: &str, time| Record {
            plugin_digest: digest.to_owned(),
            swapmeet_version: program.to_owned(),
            ..row("pex", 0, time)
        };
        let labels = |rows: Vec<Record>| -> Vec<String> {
            one_group(rows, None).lines.into_iter().map(|l| l.algorithm).collect()
        };
        assert_eq!(
            labels(vec![
                of("sha256:aa", "0.1.0", 1.0),
                of("sha256:bb", "0.1.0", 2.0),
                of("", "", 3.0)
            ]),
            [
                "pex (classic 0.1.0, sha256:aa)",
                "pex (classic 0.1.0, sha256:bb)",
                "pex (classic 0.1.0, build not known)"
            ]
        );
        assert_eq!(
            labels(vec![of("sha256:aa", "0.1.0", 1.0), of("sha256:aa", "0.2.0", 2.0)]),
            ["pex (classic 0.1.0, swapmeet 0.1.0)", "pex (classic 0.1.0, swapmeet 0.2.0)"]
        );
    }
}
