//! Who is fastest in a group of cases, and by how much.

use crate::compare::{Group, Line};
use crate::stats::{Ratio, ratio};

/// The fastest of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Winner {
    /// Which.
    pub algorithm: String,
    /// Its mean time, in us.
    pub time: f64,
    /// The next after it, if any other has a time.
    pub second: Option<Rival>,
    /// Those that it can't be told from: they took the same time, or the interval of the ratio holds 1.
    pub level: Vec<String>,
}

/// The one that comes next.
#[derive(Debug, Clone, PartialEq)]
pub struct Rival {
    /// Which.
    pub algorithm: String,
    /// How many times as long it takes; `None` where a time is 0.
    pub times_as_long: Option<Ratio>,
}

/// The fastest of a group; `None` where nothing has a time.
pub fn winner(group: &Group) -> Option<Winner> {
    // Lines stand fastest first.
    let mut timed = group.lines.iter().filter_map(|line| Some((line, line.time.as_ref()?)));
    let (first, time) = timed.next()?;
    let margin = |(_, other): &(&Line, &_)| ratio(other, time);
    let is_level =
        |margin: &Option<Ratio>| margin.as_ref().is_none_or(|r| r.interval.map_or(r.value == 1.0, |i| i.contains(1.0)));
    let rivals: Vec<(&Line, Option<Ratio>)> = timed.map(|rival| (rival.0, margin(&rival))).collect();
    let second = rivals.first();
    Some(Winner {
        algorithm: first.algorithm.clone(),
        time: time.mean,
        second: second.map(|(line, ratio)| Rival { algorithm: line.algorithm.clone(), times_as_long: ratio.clone() }),
        level: rivals.iter().filter(|(_, m)| is_level(m)).map(|(line, _)| line.algorithm.clone()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::compare::tests::{failed, files, row};
    use crate::record::{Record, Status};

    fn of(rows: Vec<Record>) -> Option<Winner> {
        winner(&compare(&files(rows), None).unwrap().groups[0])
    }

    #[test]
    fn the_fastest_wins_by_what_the_next_takes_longer() {
        let won = of(vec![row("slow", 0, 30.0), row("fast", 0, 10.0), row("next", 0, 12.5)]).unwrap();
        let second = won.second.unwrap();
        assert_eq!((&*won.algorithm, won.time, &*second.algorithm), ("fast", 10.0, "next"));
        assert_eq!((second.times_as_long.unwrap().value, won.level), (1.25, vec![]));
    }

    #[test]
    fn those_that_cannot_be_told_apart_are_level() {
        let times = [("a", [10.0, 10.4]), ("b", [10.1, 10.5]), ("c", [20.0, 20.1])];
        let rows = times.iter().flat_map(|(name, t)| (0..2).map(move |r| row(name, r, t[r as usize])));
        assert_eq!(of(rows.collect()).unwrap().level, ["b"]);
        assert_eq!(of(vec![row("a", 0, 5.0), row("b", 0, 5.0)]).unwrap().level, ["b"], "single runs of the same time");
    }

    #[test]
    fn alone_it_has_no_second_and_without_times_there_is_none() {
        let won = of(vec![row("a", 0, 5.0), failed("b", 0, Status::Timeout, "60 s")]).unwrap();
        assert_eq!((won.second, won.level), (None, vec![]));
        assert_eq!(of(vec![failed("b", 0, Status::Timeout, "60 s")]), None);
    }
}
