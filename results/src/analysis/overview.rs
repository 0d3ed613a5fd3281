//! An overview of a comparison: which algorithm is the fastest, in which cases, and by how much.

use super::axis::Axis;
use crate::compare::{Comparison, Group};
use std::collections::{BTreeMap, HashMap};

/// How often an algorithm is the fastest on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    pub collective: String,
    /// The machine, followed by its definition if the experiment defined it.
    pub machine: String,
    pub model: String,
    pub algorithm: String,
    /// The number of cases in which this algorithm and at least one other algorithm have a time.
    pub cases: usize,
    /// The number of these cases in which the algorithm is the fastest, and its time can be
    /// distinguished from all other times.
    pub fastest: usize,
    /// The number of these cases in which the algorithm is tied: its time cannot be distinguished
    /// from the time of the fastest algorithm or, if it is itself the fastest, from the time of
    /// some other algorithm.
    pub tied: usize,
    /// The factors by which the algorithm is faster than the second fastest algorithm, in the cases
    /// that `fastest` counts.
    pub ahead: Option<Factors>,
    /// The factors by which it is slower than the fastest algorithm, in the cases that neither
    /// `fastest` nor `tied` counts.
    pub behind: Option<Factors>,
}

/// The least, the median and the largest of some ratios of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    pub least: f64,
    pub median: f64,
    pub most: f64,
}

/// Cases that differ only in the algorithm and in the block size.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub collective: String,
    pub topology: String,
    /// The workload without the block size, if it has one.
    pub workload: String,
    pub machine: String,
    pub model: String,
    /// Ranges of neighbouring block sizes with the same fastest algorithm, in increasing order.
    pub ranges: Vec<WonRange>,
}

/// A range of block sizes with the same fastest algorithm.
#[derive(Debug, Clone, PartialEq)]
pub struct WonRange {
    pub algorithm: String,
    /// The least and the largest size; `None` if the workload has no block size.
    pub sizes: Option<(f64, f64)>,
    /// The factors by which the algorithm is faster than the second fastest algorithm; `None` if no
    /// other algorithm has a time.
    pub ahead: Option<Factors>,
    /// The algorithms whose times cannot be distinguished from the time of the fastest algorithm in
    /// any case of the range.
    pub tied: Vec<String>,
}

/// The overview of a comparison of algorithms.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// The algorithms of each collective, machine and model. The algorithm that is the fastest in
    /// most cases comes first.
    pub standings: Vec<Standing>,
    /// The places, in the order of their first cases.
    pub places: Vec<Place>,
}

impl Factors {
    fn of(mut ratios: Vec<f64>) -> Option<Self> {
        ratios.sort_by(f64::total_cmp);
        let (least, most) = (*ratios.first()?, *ratios.last()?);
        let middle = ratios.len() / 2;
        let median = if ratios.len() % 2 == 1 {
            ratios[middle]
        } else {
            0.5 * (ratios[middle - 1] + ratios[middle])
        };
        Some(Self { least, median, most })
    }
}

impl Overview {
    pub fn of(comparison: &Comparison) -> Self {
        Self { standings: standings(comparison), places: places(comparison) }
    }
}

/// The ratios of one algorithm, while its cases are counted.
#[derive(Default)]
struct Count {
    cases: usize,
    fastest: usize,
    tied: usize,
    ahead: Vec<f64>,
    behind: Vec<f64>,
}

fn standings(comparison: &Comparison) -> Vec<Standing> {
    // Each key consists of collective, machine and model, in the order of the first cases.
    let mut counts: Vec<([String; 3], BTreeMap<String, Count>)> = Vec::new();
    for group in &comparison.groups {
        let Some(winner) = group.winner.as_ref().filter(|winner| winner.competitors > 1) else {
            continue;
        };
        let key = [
            group.setting.collective.clone(),
            group.machine_in_full(),
            group.setting.model.clone(),
        ];
        let number = counts.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            counts.push((key, BTreeMap::new()));
            counts.len() - 1
        });
        for line in &group.lines {
            let Some(time) = line.mean() else { continue };
            let count = counts[number].1.entry(line.algorithm.clone()).or_default();
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
    let mut standings = Vec::new();
    for ([collective, machine, model], algorithms) in counts {
        let mut of_key: Vec<Standing> = algorithms
            .into_iter()
            .map(|(algorithm, count)| Standing {
                collective: collective.clone(),
                machine: machine.clone(),
                model: model.clone(),
                algorithm,
                cases: count.cases,
                fastest: count.fastest,
                tied: count.tied,
                ahead: Factors::of(count.ahead),
                behind: Factors::of(count.behind),
            })
            .collect();
        of_key.sort_by_key(|standing| std::cmp::Reverse((standing.fastest, standing.tied)));
        standings.extend(of_key);
    }
    standings
}

/// A group with its block size, if the workload has one.
type SizedCase<'a> = (Option<f64>, &'a Group);

fn places(comparison: &Comparison) -> Vec<Place> {
    let mut places: Vec<(Place, Vec<SizedCase<'_>>)> = Vec::new();
    let mut known: HashMap<[String; 4], usize> = HashMap::new();
    for group in comparison.groups.iter().filter(|group| group.winner.is_some()) {
        let at = Axis::Block.place(group);
        let place = Place {
            collective: group.setting.collective.clone(),
            topology: group.setting.topology.clone(),
            workload: at.as_ref().map_or(&group.setting.workload, |at| &at.workload).clone(),
            machine: group.machine_in_full(),
            model: group.setting.model.clone(),
            ranges: Vec::new(),
        };
        let key =
            [&place.topology, &place.workload, &place.machine, &place.model].map(Clone::clone);
        let number = *known.entry(key).or_insert_with(|| {
            places.push((place, Vec::new()));
            places.len() - 1
        });
        places[number].1.push((at.map(|at| at.x), group));
    }
    let with_ranges = |(place, mut cases): (Place, Vec<SizedCase<'_>>)| {
        cases.sort_by(|(a, _), (b, _)| a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0)));
        Place { ranges: ranges(&cases), ..place }
    };
    places.into_iter().map(with_ranges).collect()
}

/// Joins neighbouring cases with the same fastest algorithm and the same tied algorithms.
fn ranges(cases: &[SizedCase<'_>]) -> Vec<WonRange> {
    let won: Vec<_> =
        cases.iter().filter_map(|(x, group)| Some((*x, group.winner.as_ref()?))).collect();
    let of_range = won.chunk_by(|(_, a), (_, b)| {
        (&a.algorithm, &a.tied, a.competitors > 1) == (&b.algorithm, &b.tied, b.competitors > 1)
    });
    let range = |of_range: &[(Option<f64>, &super::Winner)]| {
        let (first, winner) = of_range[0];
        let ratios = of_range
            .iter()
            .filter_map(|(_, winner)| Some(winner.second.as_ref()?.times_as_long.as_ref()?.value));
        WonRange {
            algorithm: winner.algorithm.clone(),
            sizes: first.zip(of_range[of_range.len() - 1].0),
            ahead: Factors::of(ratios.collect()),
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

    /// The expected values are calculated by hand. `a` is faster for 1 B and 2 B, `b` for 4 B, and
    /// both take the same time for 8 B. On `mesh:4x4`, only `a` has a time.
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
            place.ranges.iter().map(|r| (r.algorithm.clone(), r.sizes, r.tied.len())).collect()
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
