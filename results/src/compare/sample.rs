use super::rows::{ComparedRow, ComparedRows};
use super::{By, RunTime, Tests};
use crate::case_id::Implementation;
use crate::grouped::grouped;
use crate::stats::{
    Ratio, Summary, effect, mann_whitney_p, paired_effect, paired_ratio, paired_t_p, ratio,
    welch_p, wilcoxon_p,
};

/// The rows of one implementation of an algorithm, or of one value of another compared property.
pub(super) struct Sample<'a> {
    pub(super) label: String,
    pub(super) implementation: Implementation<&'a str>,
    pub(super) rows: Vec<&'a ComparedRow>,
    times: Vec<RunTime>,
    pub(super) time: Option<Summary>,
}

impl Sample<'_> {
    pub(super) fn mean(&self) -> f64 {
        self.time.as_ref().map_or(f64::INFINITY, |t| t.mean)
    }

    fn values(&self) -> Vec<f64> {
        self.times.iter().map(|run| run.time_us).collect()
    }

    fn is_paired_with(&self, other: &Self) -> bool {
        let alone = |times: &[RunTime]| times.windows(2).all(|pair| pair[0].run() != pair[1].run());
        let same = self.times.iter().map(RunTime::run).eq(other.times.iter().map(RunTime::run));
        same && self.times.len() > 1 && alone(&self.times)
    }
}

/// Divides rows by compared property and implementation, in the order of their first rows.
pub(super) fn samples<'a>(
    all: &'a ComparedRows,
    rows: &[&'a ComparedRow],
    by: By,
) -> Vec<Sample<'a>> {
    let by_implementation = rows.iter().map(|row| {
        let case = all.case(row);
        (Implementation { algorithm: by.subject(&case), ..case.implementation }, *row)
    });
    let parted = grouped(by_implementation);
    let distinct: Vec<Implementation<&str>> =
        parted.iter().map(|(implementation, _)| *implementation).collect();
    let sample = |(implementation, rows): (_, Vec<&'a ComparedRow>)| {
        let mut times: Vec<RunTime> = rows.iter().filter_map(|row| row.run()).collect();
        times.sort_by_key(RunTime::run);
        let time = Summary::of(&times.iter().map(|run| run.time_us).collect::<Vec<_>>());
        let label = label(&implementation, &distinct);
        Sample { label, implementation, time, rows, times }
    };
    parted.into_iter().map(sample).collect()
}

/// Returns the name of the algorithm, with those columns in which its implementations in the group
/// differ. Two builds of a plugin are two implementations, because users compare builds to see the
/// effect of a change.
fn label(own: &Implementation<&str>, all: &[Implementation<&str>]) -> String {
    type Texts = fn(&Implementation<&str>) -> String;
    fn or_none(text: &str, what: &str) -> String {
        if text.is_empty() { format!("{what} not known") } else { text.to_owned() }
    }
    let mut others: Vec<_> =
        all.iter().filter(|other| *other != own && other.algorithm == own.algorithm).collect();
    if others.is_empty() {
        return own.algorithm.to_owned();
    }
    let what: [Texts; 3] = [
        |i| format!("{} {}", i.plugin, i.plugin_version),
        |i| or_none(i.plugin_digest, "build"),
        |i| format!("swapmeet {}", or_none(i.swapmeet_version, "version")),
    ];
    let mut words = Vec::new();
    for (number, text) in what.into_iter().enumerate() {
        let differs = others.iter().any(|other| text(other) != text(own));
        if number == 0 || differs {
            words.push(text(own));
        }
        others.retain(|other| text(other) == text(own));
        if others.is_empty() {
            break;
        }
    }
    format!("{} ({})", own.algorithm, words.join(", "))
}

pub(super) fn against(sample: &Sample<'_>, base: &Sample<'_>) -> (Option<Ratio>, Option<Tests>) {
    let Some((own, other)) = sample.time.as_ref().zip(base.time.as_ref()) else {
        return (None, None);
    };
    let (a, b) = (sample.values(), base.values());
    let paired = sample.is_paired_with(base);
    let (ratio, t_p, rank_p, effect) = if paired {
        (paired_ratio(&a, &b), paired_t_p(&a, &b), wilcoxon_p(&a, &b), paired_effect(&a, &b))
    } else {
        (ratio(own, other), welch_p(own, other), mann_whitney_p(&a, &b), effect(own, other))
    };
    let is_tested = t_p.is_some() || rank_p.is_some();
    let tests = Tests { paired, t_p, rank_p, t_p_holm: None, rank_p_holm: None, effect };
    (ratio, is_tested.then_some(tests))
}
