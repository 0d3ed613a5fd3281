//! An overview of a comparison: which algorithm is the fastest, in which cases, by how much.

use super::axis::{Axis, CommonSettings};
use crate::case_id::Setting;
use crate::compare::{Comparison, Group, Winner};
use crate::grouped::grouped;
use crate::stats::Summary;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    pub collective: String,
    /// The machine, followed by its definition if the experiment defined it.
    pub machine: String,
    pub model: String,
    pub algorithm: String,
    /// The number of cases in which this algorithm and at least one other algorithm have a time.
    pub cases: usize,
    /// The number of cases in which the algorithm is significantly faster than all others.
    pub fastest: usize,
    /// The number of cases in which this algorithm may be the fastest, but others may be, too.
    pub tied: usize,
    /// How many times slower the second fastest is, in the cases that `fastest` counts.
    pub ahead: Option<Factors>,
    /// How many times slower it is than the fastest, in cases that `fastest` and `tied` leave out.
    pub behind: Option<Factors>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    pub least: f64,
    pub median: f64,
    pub most: f64,
}

/// Cases that differ only in the algorithm and in their value on the axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub collective: String,
    pub topology: String,
    pub workload: String,
    pub machine: String,
    pub model: String,
    pub ranges: Vec<WonRange>,
}

/// Neighbouring values of the axis at which the same algorithm is the fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct WonRange {
    pub algorithm: String,
    /// The least and the largest of the values; `None` if the cases have no value on the axis.
    pub values: Option<(f64, f64)>,
    pub ahead: Option<Factors>,
    /// Algorithms that do not differ significantly from the fastest in any case of the range.
    pub tied: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// Sorted by collective, machine and model, then by descending number of cases won.
    pub standings: Vec<Standing>,
    pub axis: Axis,
    pub places: Vec<Place>,
}

impl Factors {
    fn of(ratios: &[f64]) -> Option<Self> {
        let Summary { median, .. } = Summary::of(ratios)?;
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        Some(Self { least, median, most })
    }
}

impl Overview {
    pub fn of(comparison: &Comparison) -> Self {
        let axis = Some(Axis::main(comparison)).filter(|axis| !axis.is_of_algorithms());
        let axis = axis.unwrap_or(Axis::Block);
        Self { standings: standings(comparison), axis, places: places(comparison, axis) }
    }
}

#[derive(Default)]
struct Count {
    cases: usize,
    fastest: usize,
    tied: usize,
    ahead: Vec<f64>,
    behind: Vec<f64>,
}

fn standings(comparison: &Comparison) -> Vec<Standing> {
    let compared = comparison.groups.iter().filter_map(|group| {
        let winner = group.winner.as_deref().filter(|winner| winner.competitors > 1)?;
        let Setting { collective, model, .. } = &group.setting;
        Some(([collective.clone(), group.machine_in_full(), model.clone()], (&**group, winner)))
    });
    let mut standings = Vec::new();
    for ([collective, machine, model], groups) in grouped(compared) {
        let mut of_key: Vec<Standing> = counts(&groups)
            .into_iter()
            .map(|(algorithm, count)| Standing {
                collective: collective.clone(),
                machine: machine.clone(),
                model: model.clone(),
                algorithm: algorithm.to_owned(),
                cases: count.cases,
                fastest: count.fastest,
                tied: count.tied,
                ahead: Factors::of(&count.ahead),
                behind: Factors::of(&count.behind),
            })
            .collect();
        of_key.sort_by_key(|standing| std::cmp::Reverse((standing.fastest, standing.tied)));
        standings.extend(of_key);
    }
    standings
}

fn counts<'a>(groups: &[(&'a Group, &Winner)]) -> BTreeMap<&'a str, Count> {
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for (group, winner) in groups {
        for line in &group.lines {
            let Some(time) = line.mean() else { continue };
            let count = counts.entry(&line.algorithm).or_default();
            count.cases += 1;
            let is_first = line.algorithm == winner.algorithm;
            if winner.tied.contains(&line.algorithm) || is_first && !winner.tied.is_empty() {
                count.tied += 1;
            } else if is_first {
                count.fastest += 1;
                let second =
                    winner.second.as_ref().and_then(|second| second.times_as_long.as_ref());
                count.ahead.extend(second.map(|ratio| ratio.value));
            } else if winner.time.mean > 0.0 {
                count.behind.push(time / winner.time.mean);
            }
        }
    }
    counts
}

type SizedCase<'a> = (Option<f64>, &'a Group);

fn places(comparison: &Comparison, axis: Axis) -> Vec<Place> {
    let won = comparison.groups.iter().filter(|group| group.winner.is_some());
    let placed = won.map(|group| {
        let own = || CommonSettings::of(&group.setting.borrowed());
        let (x, settings) =
            axis.place_group(group).map_or_else(|| (None, own()), |(x, rest)| (Some(x), rest));
        let CommonSettings { topology, workload, machine, model, together, .. } = settings;
        let workload =
            if together.is_empty() { workload } else { format!("{workload} beside {together}") };
        ([topology, workload, machine, model], (x, &**group))
    });
    let place = |(key, mut cases): ([String; 4], Vec<SizedCase<'_>>)| {
        cases.sort_by(|(a, _), (b, _)| a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0)));
        let (collective, ranges) = (cases[0].1.setting.collective.clone(), ranges(&cases));
        let [topology, workload, machine, model] = key;
        Place { collective, topology, workload, machine, model, ranges }
    };
    grouped(placed).into_iter().map(place).collect()
}

/// Joins neighbouring cases that have the same fastest algorithm and the same tied algorithms.
fn ranges(cases: &[SizedCase<'_>]) -> Vec<WonRange> {
    let won: Vec<_> =
        cases.iter().filter_map(|(x, group)| Some((*x, group.winner.as_deref()?))).collect();
    let of_range = won.chunk_by(|(_, a), (_, b)| {
        (&a.algorithm, &a.tied, a.competitors > 1) == (&b.algorithm, &b.tied, b.competitors > 1)
    });
    let range = |of_range: &[(Option<f64>, &Winner)]| {
        let (first, winner) = of_range[0];
        let ratios = of_range
            .iter()
            .filter_map(|(_, winner)| Some(winner.second.as_ref()?.times_as_long.as_ref()?.value));
        WonRange {
            algorithm: winner.algorithm.clone(),
            values: first.zip(of_range[of_range.len() - 1].0),
            ahead: Factors::of(&ratios.collect::<Vec<_>>()),
            tied: winner.tied.clone(),
        }
    };
    of_range.map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::compare::tests::{files, row};
    use crate::record::Record;

    /// `a` is faster for 1 B and 2 B, `b` for 4 B, neither for 8 B. On `mesh:4x4`, `b` fails.
    #[test]
    fn an_overview_counts_cases_and_joins_sizes() {
        let times = [(1, 10.0, 30.0), (2, 20.0, 40.0), (4, 60.0, 40.0), (8, 80.0, 80.0)];
        let rows = times.iter().flat_map(|(size, a, b)| {
            [("a", *a), ("b", *b)].map(|(name, time)| Record {
                workload: format!("uniform:{size}"),
                ..row(name, 0, time)
            })
        });
        let alone = Record { topology: "mesh:4x4".to_owned(), ..row("a", 0, 5.0) };
        let all: Vec<Record> = rows.chain([alone]).collect();
        let overview = Overview::of(&compare(&files(all), None).unwrap());

        let factors = |least, median, most| Some(Factors { least, median, most });
        let counts: Vec<_> = overview
            .standings
            .iter()
            .map(|s| (&*s.algorithm, s.cases, s.fastest, s.tied, s.ahead, s.behind))
            .collect();
        let expected = [
            ("a", 4, 2, 1, factors(2.0, 2.5, 3.0), factors(1.5, 1.5, 1.5)),
            ("b", 4, 1, 1, factors(1.5, 1.5, 1.5), factors(2.0, 2.5, 3.0)),
        ];
        assert_eq!(counts, expected);

        let won = |place: &Place| -> Vec<_> {
            place.ranges.iter().map(|r| (r.algorithm.clone(), r.values, r.tied.len())).collect()
        };
        let [torus, mesh] = &overview.places[..] else { panic!("{overview:?}") };
        let [a, b] = ["a", "b"].map(str::to_owned);
        assert_eq!(
            won(torus),
            [
                (a.clone(), Some((1.0, 2.0)), 0),
                (b, Some((4.0, 4.0)), 0),
                (a.clone(), Some((8.0, 8.0)), 1)
            ]
        );
        assert_eq!(torus.ranges[0].ahead, factors(2.0, 2.5, 3.0));
        assert_eq!((won(mesh), mesh.ranges[0].ahead), (vec![(a, Some((64.0, 64.0)), 0)], None));
    }
}
