//! The fastest algorithm in a group of cases, and its margin.

use super::sample::{Sample, against};
use crate::stats::{Ratio, Summary};
use crate::units::duration;
use serde::Serialize;

/// The fastest algorithm of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Winner {
    pub algorithm: String,
    /// The completion times of the fastest algorithm, in microseconds.
    pub time: Summary,
    /// The second fastest algorithm, if at least two algorithms have a time.
    pub second: Option<RunnerUp>,
    /// The algorithms whose times cannot be distinguished from the time of the fastest algorithm:
    /// the times are equal, or the confidence interval of their ratio contains 1.
    #[serde(rename = "level")]
    pub tied: Vec<String>,
    /// The number of algorithms that have a time, including the fastest.
    pub competitors: usize,
}

/// The margin by which the fastest algorithm is faster than the second fastest algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Margin {
    /// The time of at least one other algorithm cannot be distinguished from the time of the
    /// fastest algorithm.
    Tied,
    /// The second fastest algorithm takes less than 5 % longer.
    Under5,
    /// The second fastest algorithm takes less than 25 % longer.
    Under25,
    /// The second fastest algorithm takes less than 100 % longer.
    Under100,
    /// The second fastest algorithm takes at least twice as long.
    Clear,
    /// No other algorithm has a time, so there is no margin.
    Alone,
}

impl Winner {
    /// Returns the margin by which the winner leads.
    pub fn margin(&self) -> Margin {
        let ratio = self.second.as_ref().and_then(|second| second.times_as_long.as_ref());
        match ratio.map(|ratio| ratio.value) {
            _ if !self.tied.is_empty() => Margin::Tied,
            Some(ratio) if ratio < 1.05 => Margin::Under5,
            Some(ratio) if ratio < 1.25 => Margin::Under25,
            Some(ratio) if ratio < 2.0 => Margin::Under100,
            Some(_) => Margin::Clear,
            // There is a second algorithm, but no ratio, because the time of the winner is 0.
            None if self.second.is_some() => Margin::Clear,
            None => Margin::Alone,
        }
    }

    /// Describes the winner and the second fastest algorithm in a few words.
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

/// The second fastest algorithm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunnerUp {
    pub algorithm: String,
    /// The time of this algorithm divided by the time of the fastest algorithm. `None` if one of
    /// the times is 0.
    pub times_as_long: Option<Ratio>,
}

/// Returns the winner among samples that are ordered by time, fastest first. Returns `None` if no
/// sample has a time.
pub(super) fn winner(ranked: &[&Sample<'_>]) -> Option<Winner> {
    let (first, others) = ranked.split_first()?;
    let time = first.time.as_ref()?;
    let rivals = others.iter().filter(|other| other.time.is_some());
    let rivals: Vec<RunnerUp> = rivals
        .map(|rival| RunnerUp {
            algorithm: rival.label.clone(),
            times_as_long: against(rival, first).0,
        })
        .collect();
    let is_tied = |rival: &&RunnerUp| {
        let margin = rival.times_as_long.as_ref();
        margin.is_none_or(|r| r.interval.map_or(r.value == 1.0, |interval| interval.contains(1.0)))
    };
    let tied = rivals.iter().filter(is_tied).map(|rival| rival.algorithm.clone()).collect();
    Some(Winner {
        algorithm: first.label.clone(),
        time: time.clone(),
        competitors: 1 + rivals.len(),
        second: rivals.into_iter().next(),
        tied,
    })
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
        let of_times = |times: [(&'static str, [f64; 2]); 3]| {
            of(times
                .iter()
                .flat_map(|(name, t)| (0..2).map(move |r| row(name, r, t[r as usize])))
                .collect())
        };
        assert_eq!(
            of_times([("a", [10.0, 10.4]), ("b", [10.4, 10.1]), ("c", [20.0, 20.1])]).unwrap().tied,
            ["b"]
        );
        // `b` takes 1 % longer than `a` for every seed.
        assert_eq!(
            of_times([("a", [10.0, 14.0]), ("b", [10.1, 14.14]), ("c", [20.0, 28.0])])
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

    #[test]
    fn a_single_algorithm_has_no_runner_up() {
        let won = of(vec![row("a", 0, 5.0), failed("b", 0, Status::Timeout, "60 s")]).unwrap();
        assert_eq!((won.margin(), won.competitors), (Margin::Alone, 1));
        assert_eq!((won.second, won.tied), (None, vec![]));
        assert_eq!(of(vec![failed("b", 0, Status::Timeout, "60 s")]), None);
    }
}
