use super::Group;
use super::sample::{Sample, against};
use crate::stats::{LEVEL, Ratio, Summary};
use crate::units::duration;
use serde::Serialize;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Winner {
    pub algorithm: String,
    /// The completion times of the fastest algorithm, in microseconds.
    pub time: Summary,
    pub second: Option<RunnerUp>,
    /// The algorithms whose difference from the fastest is not significant. If a difference cannot
    /// be tested, the algorithm is included only if the means are equal.
    #[serde(rename = "level")]
    pub tied: Vec<String>,
    /// The number of algorithms that have a time, including the fastest.
    pub competitors: usize,
}

/// How much faster the fastest algorithm is than the second fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Margin {
    /// The difference from some other algorithm is not significant.
    Tied,
    /// The second fastest algorithm takes less than 5 % longer.
    Under5,
    Under25,
    Under100,
    Clear,
    /// No other algorithm has a time.
    Alone,
}

impl Winner {
    pub fn margin(&self) -> Margin {
        let ratio = self.second.as_ref().and_then(|second| second.times_as_long.as_ref());
        match ratio.map(|ratio| ratio.value) {
            _ if !self.tied.is_empty() => Margin::Tied,
            Some(ratio) if ratio < 1.05 => Margin::Under5,
            Some(ratio) if ratio < 1.25 => Margin::Under25,
            Some(ratio) if ratio < 2.0 => Margin::Under100,
            Some(_) => Margin::Clear,
            // If the time of the winner is 0, there is no ratio.
            None if self.second.is_some() => Margin::Clear,
            None => Margin::Alone,
        }
    }

    pub fn in_words(&self) -> String {
        let mut text = format!("{} {}", self.algorithm, duration(self.time.mean));
        if let Some(second) = &self.second {
            let times = second
                .times_as_long
                .as_ref()
                .map(|ratio| format!(" {:.3} times as long", ratio.value));
            text += &format!("; next {}{}", second.algorithm, times.unwrap_or_default());
        }
        text
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunnerUp {
    pub algorithm: String,
    /// The time divided by the time of the fastest algorithm; `None` if one of both is 0.
    pub times_as_long: Option<Ratio>,
    /// The corrected p-value of the t test, if the difference could be tested.
    pub p: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rival {
    line: usize,
    times_as_long: Option<Ratio>,
    pub(super) p: Option<f64>,
}

/// Returns the winner, without the second fastest and ties. The fastest sample must be first.
pub(super) fn winner(ranked: &[&Sample<'_>]) -> Option<Winner> {
    let first = ranked.first()?;
    let (algorithm, time) = (first.label.clone(), first.time.clone()?);
    let competitors = ranked.iter().filter(|sample| sample.time.is_some()).count();
    Some(Winner { algorithm, time, competitors, second: None, tied: Vec::new() })
}

pub(super) fn rivals(ranked: &[&Sample<'_>]) -> Vec<Rival> {
    let timed = || ranked.iter().enumerate().filter(|(_, sample)| sample.time.is_some());
    let Some((_, first)) = timed().next() else { return Vec::new() };
    let rival = |(line, sample): (usize, &&Sample<'_>)| {
        let (times_as_long, tests) = against(sample, first);
        Rival { line, times_as_long, p: tests.and_then(|tests| tests.t_p) }
    };
    timed().skip(1).map(rival).collect()
}

/// Determines the second fastest algorithm and ties of a group, by corrected p-values.
pub(super) fn decide(group: &mut Group) {
    let Group { winner, rivals, lines, .. } = group;
    let Some(winner) = winner.as_mut().and_then(Arc::get_mut) else { return };
    let rivals = std::mem::take(rivals);
    let is_tied = |rival: &&Rival| match (rival.p, &rival.times_as_long) {
        (Some(p), _) => p >= LEVEL,
        (None, ratio) => ratio.as_ref().is_none_or(|ratio| ratio.value == 1.0),
    };
    let name = |rival: &Rival| lines[rival.line].algorithm.clone();
    winner.tied = rivals.iter().filter(is_tied).map(name).collect();
    winner.second = rivals.into_iter().next().map(|rival| RunnerUp {
        algorithm: name(&rival),
        times_as_long: rival.times_as_long,
        p: rival.p,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::compare::tests::{failed, files, row};
    use crate::record::{Record, Status};

    fn of(rows: Vec<Record>) -> Option<Winner> {
        compare(&files(rows), None).unwrap().groups[0].winner.as_deref().cloned()
    }

    #[test]
    fn the_margin_is_the_ratio_to_the_second() {
        let won =
            of(vec![row("slow", 0, 30.0), row("fast", 0, 10.0), row("next", 0, 12.5)]).unwrap();
        assert_eq!((won.margin(), won.competitors), (Margin::Under100, 3));
        let second = won.second.unwrap();
        assert_eq!((&*won.algorithm, won.time.mean, &*second.algorithm), ("fast", 10.0, "next"));
        assert_eq!((second.times_as_long.unwrap().value, won.tied), (1.25, vec![]));
    }

    #[test]
    fn algorithms_that_cannot_be_distinguished_are_tied() {
        let of_times = |times: [(&'static str, [f64; 4]); 3]| {
            of(times
                .iter()
                .flat_map(|(name, t)| (0..4).map(move |r| row(name, r, t[r as usize])))
                .collect())
        };
        assert_eq!(
            of_times([
                ("a", [10.0, 10.4, 10.0, 10.3]),
                ("b", [10.4, 10.1, 10.2, 10.1]),
                ("c", [20.0, 20.1, 20.2, 20.0])
            ])
            .unwrap()
            .tied,
            ["b"]
        );
        let a = [10.0, 14.0, 9.0, 17.0];
        assert_eq!(
            of_times([("a", a), ("b", a.map(|t| 1.01 * t)), ("c", a.map(|t| 2.0 * t))])
                .unwrap()
                .tied,
            [""; 0]
        );
        assert_eq!(
            of(vec![row("a", 0, 5.0), row("b", 0, 5.0)]).unwrap().tied,
            ["b"],
            "single runs of the same time"
        );
    }

    /// The differences in the two repetitions are 10 and 14 µs, so the p-value is 0.105 (t = 6 with
    /// 1 degree of freedom: 1 - 2 atan(6) / pi). But the confidence interval of the ratio excludes
    /// 1.
    #[test]
    fn a_winner_needs_a_significant_difference() {
        let rows = [("a", [10.0, 14.0]), ("b", [20.0, 28.0])];
        let rows = rows.iter().flat_map(|(name, t)| (0..2).map(|r| row(name, r, t[r as usize])));
        let won = of(rows.collect()).unwrap();
        let second = won.second.as_ref().unwrap();
        let expected = 1.0 - 2.0 * 6.0_f64.atan() / std::f64::consts::PI;
        assert!((second.p.unwrap() - expected).abs() < 1e-9, "{second:?}");
        assert!(!second.times_as_long.as_ref().unwrap().interval.unwrap().contains(1.0));
        assert_eq!((won.margin(), won.tied), (Margin::Tied, vec!["b".to_owned()]));
    }

    #[test]
    fn the_winner_does_not_depend_on_the_baseline() {
        let times =
            [("a", [10.0, 10.4, 9.9]), ("b", [10.6, 11.2, 10.3]), ("c", [20.0, 21.0, 19.5])];
        let rows = |machine: &'static str| {
            times.iter().flat_map(move |(name, t)| {
                (0..3).map(move |r| Record {
                    machine: machine.to_owned(),
                    ..row(name, r, t[r as usize])
                })
            })
        };
        let files = files(rows("paragon").chain(rows("delta")).collect());
        let winner =
            |baseline| compare(&files, baseline).unwrap().groups[1].winner.clone().unwrap();
        assert_eq!(winner(None), winner(Some("c")));
        let alone = compare(&[(String::new(), files[0].1[..9].to_vec())], None).unwrap();
        let p = |winner: &Winner| winner.second.as_ref().unwrap().p.unwrap();
        // Of four p-values, those of `b` in both groups are the two largest. Holm's method
        // multiplies the smaller of these by 2, and the other one is equal.
        let single = p(alone.groups[0].winner.as_ref().unwrap());
        assert!((p(&winner(None)) - 2.0 * single).abs() < 1e-12, "{single}");
    }

    #[test]
    fn a_single_algorithm_has_no_runner_up() {
        let won = of(vec![row("a", 0, 5.0), failed("b", 0, Status::Timeout, "60 s")]).unwrap();
        assert_eq!((won.margin(), won.competitors), (Margin::Alone, 1));
        assert_eq!((won.second, won.tied), (None, vec![]));
        assert_eq!(of(vec![failed("b", 0, Status::Timeout, "60 s")]), None);
    }
}
