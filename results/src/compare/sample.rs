//! The rows of one algorithm within a group.

use super::{By, RowLocation, Tests};
use crate::case_id::Implementation;
use crate::grouped::grouped;
use crate::record::{Record, Status};
use crate::stats::{
    Ratio, Summary, effect, mann_whitney_p, paired_effect, paired_ratio, paired_t_p, ratio,
    welch_p, wilcoxon_p,
};

/// The rows of one implementation of an algorithm, or of another compared property.
pub(super) struct Sample<'a> {
    pub(super) label: String,
    pub(super) implementation: Implementation<&'a str>,
    pub(super) rows: Vec<&'a Record>,
    pub(super) members: Vec<RowLocation>,
    /// The times of the `ok` rows, each with its repetition and seed.
    times: Vec<((u32, u64), f64)>,
    pub(super) time: Option<Summary>,
}

impl Sample<'_> {
    pub(super) fn mean(&self) -> f64 {
        self.time.as_ref().map_or(f64::INFINITY, |t| t.mean)
    }

    fn values(&self) -> Vec<f64> {
        self.times.iter().map(|(_, time)| *time).collect()
    }

    /// Returns whether both samples have the same repetitions with the same seeds, so that they can
    /// be compared in pairs.
    fn is_paired_with(&self, other: &Self) -> bool {
        let alone =
            |times: &[((u32, u64), f64)]| times.windows(2).all(|pair| pair[0].0 != pair[1].0);
        let same = self.times.iter().map(|(run, _)| run).eq(other.times.iter().map(|(run, _)| run));
        same && self.times.len() > 1 && alone(&self.times)
    }
}

/// Divides rows by the compared property and by implementation. The samples are in the order of
/// their first rows.
pub(super) fn samples<'a>(rows: &[(&'a Record, RowLocation)], by: By) -> Vec<Sample<'a>> {
    let by_implementation = rows.iter().map(|(row, at)| {
        let own = Implementation::of(row);
        (Implementation { algorithm: by.subject(row), ..own }, (*row, *at))
    });
    let parted = grouped(by_implementation);
    let all: Vec<Implementation<&str>> =
        parted.iter().map(|(implementation, _)| *implementation).collect();
    let sample = |(implementation, rows): (_, Vec<(&'a Record, RowLocation)>)| {
        let (rows, members): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let ok = rows.iter().filter(|r| r.status == Status::Ok);
        let mut times: Vec<_> =
            ok.filter_map(|r| Some(((r.repetition, r.seed), r.time_us?))).collect();
        times.sort_by_key(|(run, _)| *run);
        let time = Summary::of(&times.iter().map(|(_, time)| *time).collect::<Vec<_>>());
        let label = label(&implementation, &all);
        Sample { label, implementation, time, rows, members, times }
    };
    parted.into_iter().map(sample).collect()
}

/// Returns the name of the algorithm. If the group has several implementations of it, the columns
/// that distinguish them follow in parentheses. Two builds are separate implementations, because
/// users often compare builds to see the effect of a change.
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

/// Returns the mean time of a sample divided by the mean time of the baseline, and the tests of the
/// difference between the two samples.
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
