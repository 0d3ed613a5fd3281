//! Completion time against block size or nodes: a curve an algorithm, and where curves cross.

use super::Words;
use super::comparison::{Compared, Group};
use std::collections::{BTreeMap, BTreeSet};
use swapmeet_core::spec::{Spec, format_size, parse_size};
use swapmeet_results::family;

/// What varies along a family of curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Bytes of a block: all of them, the spike, or the mean.
    BlockSize,
    /// Nodes of topologies of one family.
    Nodes,
}

/// One algorithm's curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The algorithm.
    pub algorithm: String,
    /// Its points, by rising x: bytes or nodes, and us.
    pub points: Vec<(f64, f64)>,
}

/// Where one curve goes below another.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossover {
    /// Faster on the left.
    pub before: String,
    /// Faster on the right.
    pub after: String,
    /// Where straight lines between points cross.
    pub at: (f64, f64),
    /// The points to its left and right.
    pub within: (f64, f64),
}

/// Curves of cases that differ in nothing but the algorithm and x.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// What varies.
    pub axis: Axis,
    /// What doesn't.
    pub title: String,
    /// A curve an algorithm.
    pub curves: Vec<Curve>,
    /// Where they cross, from left to right.
    pub crossovers: Vec<Crossover>,
    /// The values of x that several groups have, such as two shapes of as many nodes: no line goes through their points.
    pub crowded: Vec<f64>,
    /// The groups that its points are of.
    pub groups: BTreeSet<usize>,
}

impl Axis {
    /// A value of x for reading.
    pub fn text(self, x: f64) -> String {
        match self {
            Self::BlockSize if x.fract() == 0.0 && format_size(x as u64).len() <= 5 => format_size(x as u64),
            Self::BlockSize => size_text(x),
            Self::Nodes => format!("{x:.0}"),
        }
    }

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::BlockSize => "block size",
            Self::Nodes => "nodes",
        }
    }
}

impl Crossover {
    /// It in words. There are no networks between two networks, but all sizes between two sizes.
    pub fn in_words(&self, axis: Axis) -> String {
        let (before, after) = (&self.before, &self.after);
        match axis {
            Axis::BlockSize => format!("{before} is faster below {}, {after} above", axis.text(self.at.0)),
            Axis::Nodes => {
                let (left, right) = (axis.text(self.within.0), axis.text(self.within.1));
                format!("{before} is faster up to {left} nodes, {after} from {right}")
            }
        }
    }
}

impl Curve {
    /// Its points, as many together as a line may join: one at a crowded x stands alone.
    pub fn pieces(&self, crowded: &[f64]) -> impl Iterator<Item = &[(f64, f64)]> {
        self.points.chunk_by(|a, b| !crowded.contains(&a.0) && !crowded.contains(&b.0))
    }
}

impl Family {
    /// Only the curves of algorithms with every word of a filter, and where those cross.
    pub fn only(&self, words: &str) -> Self {
        let words = Words::of(words);
        let mut family = self.clone();
        family.curves.retain(|curve| words.are_in(&curve.algorithm));
        family.crossovers.retain(|c| words.are_in(&c.before) && words.are_in(&c.after));
        family
    }
}

/// A size for reading: three figures and a unit.
pub fn size_text(bytes: f64) -> String {
    let (value, unit) = match bytes {
        b if b < 1024.0 => (b, "B"),
        b if b < 1048576.0 => (b / 1024.0, "KiB"),
        b if b < 1073741824.0 => (b / 1048576.0, "MiB"),
        b => (b / 1073741824.0, "GiB"),
    };
    let decimals = usize::from(value < 100.0 && value.fract() > 0.0);
    format!("{value:.decimals$} {unit}")
}

/// A workload's size, and the workload without it.
fn size_of(workload: &str) -> Option<(f64, String)> {
    let (collective, sizes) = match workload.split_once('/') {
        Some((collective, sizes)) if !collective.contains(':') => (format!("{collective}/"), sizes),
        _ => (String::new(), workload),
    };
    let spec = Spec::parse("workload", sizes).ok()?;
    let key = match spec.name() {
        "uniform" => None,
        "one-spike" | "transpose" => Some("max"),
        "irregular" => Some("mean"),
        _ => return None,
    };
    let arg = spec.args().iter().find(|a| a.key() == key)?;
    let bytes = parse_size(arg.value()).ok()?;
    let end = arg.value_at() + arg.value().len();
    Some((bytes as f64, format!("{collective}{}..{}", &sizes[..arg.value_at()], &sizes[end..])))
}

/// x of a group, and what its family has in common.
fn place(axis: Axis, group: &Group) -> Option<(f64, String)> {
    let (x, topology, workload) = match axis {
        Axis::BlockSize => {
            let (bytes, shape) = size_of(&group.workload)?;
            (bytes, group.topology.clone(), shape)
        }
        Axis::Nodes => (group.nodes as f64, family(&group.topology), group.workload.clone()),
    };
    Some((x, format!("{topology}, {workload}, {}, {}", group.machine, group.model)))
}

/// All families with two values of x at least.
pub fn families(compared: &Compared) -> Vec<Family> {
    let mut all = Vec::new();
    for axis in [Axis::BlockSize, Axis::Nodes] {
        let mut families: Vec<Family> = Vec::new();
        for line in &compared.lines {
            let Some(time) = line.time.as_ref().map(|t| t.mean) else { continue };
            let Some((x, title)) = place(axis, &compared.groups[line.group]) else { continue };
            let family = match families.iter().position(|f| f.title == title) {
                Some(i) => &mut families[i],
                None => {
                    families.push(Family {
                        axis,
                        title,
                        curves: Vec::new(),
                        crossovers: Vec::new(),
                        crowded: Vec::new(),
                        groups: BTreeSet::new(),
                    });
                    let last = families.len() - 1;
                    &mut families[last]
                }
            };
            family.groups.insert(line.group);
            match family.curves.iter_mut().find(|c| c.algorithm == line.algorithm) {
                Some(curve) => curve.points.push((x, time)),
                None => family.curves.push(Curve { algorithm: line.algorithm.clone(), points: vec![(x, time)] }),
            }
        }
        for family in &mut families {
            family.curves.iter_mut().for_each(|c| c.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
            family.curves.sort_by(|a, b| a.algorithm.cmp(&b.algorithm));
            family.crowded = crowded(axis, &family.groups, &compared.groups);
            family.crossovers = crossovers(&family.curves, &family.crowded);
        }
        let varies = |family: &Family| {
            let mut xs = family.curves.iter().flat_map(|c| &c.points).map(|p| p.0);
            let first = xs.next();
            xs.any(|x| Some(x) != first)
        };
        families.retain(varies);
        all.append(&mut families);
    }
    all
}

/// The values of x that several groups have.
fn crowded(axis: Axis, members: &BTreeSet<usize>, groups: &[Group]) -> Vec<f64> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for (x, _) in members.iter().filter_map(|group| place(axis, &groups[*group])) {
        *counts.entry(x.to_bits()).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(x, _)| f64::from_bits(x)).collect()
}

/// Between two x that both curves have, time is taken to grow linearly, which is what start-up plus bytes does. At a crowded x two points
/// may be of different cases, which says nothing of the algorithms: nothing crosses from or to there.
fn crossovers(curves: &[Curve], crowded: &[f64]) -> Vec<Crossover> {
    let mut found = Vec::new();
    for (i, a) in curves.iter().enumerate() {
        for b in &curves[i + 1..] {
            let at = |curve: &Curve, x: f64| curve.points.iter().find(|p| p.0 == x).map(|p| p.1);
            let both: Vec<(f64, f64, f64)> = a.points.iter().filter_map(|(x, y)| Some((*x, *y, at(b, *x)?))).collect();
            // Where the two are equal, neither is ahead: the sign before and after counts.
            let apart = both.iter().filter(|(x, ya, yb)| ya != yb || crowded.contains(x));
            for ((x0, a0, b0), (x1, a1, b1)) in apart.clone().zip(apart.skip(1)) {
                let (before, after) = (b0 - a0, b1 - a1);
                if crowded.contains(x0) || crowded.contains(x1) {
                    continue;
                }
                if before.signum() == after.signum() {
                    continue;
                }
                let share = before / (before - after);
                let at = (x0 + share * (x1 - x0), a0 + share * (a1 - a0));
                let (first, then) = if before > 0.0 { (a, b) } else { (b, a) };
                let (before, after) = (first.algorithm.clone(), then.algorithm.clone());
                found.push(Crossover { before, after, at, within: (*x0, *x1) });
            }
        }
    }
    found.sort_by(|a, b| a.at.0.total_cmp(&b.at.0));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(algorithm: &str, points: &[(f64, f64)]) -> Curve {
        Curve { algorithm: algorithm.to_owned(), points: points.to_vec() }
    }

    #[test]
    fn a_workloads_size_is_found_wherever_it_stands() {
        assert_eq!(size_of("uniform:1KiB"), Some((1024.0, "uniform:..".to_owned())));
        assert_eq!(size_of("broadcast/uniform:64"), Some((64.0, "broadcast/uniform:..".to_owned())));
        assert_eq!(size_of("one-spike:max=2KiB,rest=8"), Some((2048.0, "one-spike:max=..,rest=8".to_owned())));
        assert_eq!(size_of("matrix:a/b.csv"), None);
    }

    #[test]
    fn curves_cross_where_straight_lines_between_points_do() {
        let found =
            crossovers(&[curve("a", &[(0.0, 0.0), (10.0, 20.0)]), curve("b", &[(0.0, 10.0), (10.0, 10.0)])], &[]);
        assert_eq!(
            found,
            [Crossover { before: "a".to_owned(), after: "b".to_owned(), at: (5.0, 10.0), within: (0.0, 10.0) }]
        );
    }

    #[test]
    fn curves_that_touch_do_not_cross() {
        let touching =
            [curve("a", &[(1.0, 1.0), (2.0, 2.0), (3.0, 1.0)]), curve("b", &[(1.0, 2.0), (2.0, 2.0), (3.0, 2.0)])];
        assert_eq!(crossovers(&touching, &[]), []);
        let through =
            [curve("a", &[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]), curve("b", &[(1.0, 2.0), (2.0, 2.0), (3.0, 2.0)])];
        assert_eq!(crossovers(&through, &[]).len(), 1);
    }

    #[test]
    fn curves_without_a_common_x_do_not_cross() {
        assert_eq!(crossovers(&[curve("a", &[(1.0, 1.0)]), curve("b", &[(2.0, 2.0)])], &[]), []);
    }

    #[test]
    fn sizes_are_read_at_a_glance() {
        assert_eq!([64.0, 1536.0, 17_700.5, 3.2e6].map(size_text), ["64 B", "1.5 KiB", "17.3 KiB", "3.1 MiB"]);
        assert_eq!([64.0, 1024.0, 17_700.5].map(|x| Axis::BlockSize.text(x)), ["64", "1KiB", "17.3 KiB"]);
    }

    fn time(topology: &str, nodes: u64, algorithm: &str, time: f64) -> swapmeet_results::Record {
        swapmeet_results::Record {
            topology: topology.to_owned(),
            nodes,
            algorithm: algorithm.to_owned(),
            workload: "uniform:64".to_owned(),
            machine: "paragon".to_owned(),
            status: swapmeet_results::Status::Ok,
            time_us: Some(time),
            ..Default::default()
        }
    }

    #[test]
    fn shapes_of_as_many_nodes_are_points_of_their_own_and_nothing_crosses_there() {
        // `b` is slower everywhere, but faster on the one shape than `a` on the other.
        let shapes = [("torus:2x8", 16, 1.0), ("torus:4x4", 16, 4.0), ("torus:8x8", 64, 9.0), ("torus:2x32", 64, 20.0)];
        let rows = shapes.iter().flat_map(|(topology, nodes, at)| {
            [time(topology, *nodes, "a", *at), time(topology, *nodes, "b", at + 1.0)]
        });
        let found = families(&Compared::of(rows.collect(), None));
        assert_eq!((found.len(), &*found[0].crowded, &*found[0].crossovers), (1, &[16.0, 64.0][..], &[][..]));
        assert!(found[0].curves[0].pieces(&found[0].crowded).all(|piece| piece.len() == 1));
    }

    #[test]
    fn curves_join_topologies_of_as_many_dimensions() {
        let rows =
            vec![time("torus:4x4", 16, "a", 1.0), time("torus:4x4x4", 64, "a", 2.0), time("torus:9x9", 81, "a", 3.0)];
        let found = families(&Compared::of(rows, None));
        assert_eq!(found.iter().map(|f| &*f.title).collect::<Vec<_>>(), ["2D torus, uniform:64, paragon, "]);
    }

    #[test]
    fn a_crossover_in_nodes_is_between_two_networks() {
        let found = crossovers(&[curve("a", &[(4.0, 1.0), (6.0, 3.0)]), curve("b", &[(4.0, 2.0), (6.0, 2.0)])], &[]);
        assert_eq!(found[0].in_words(Axis::Nodes), "a is faster up to 4 nodes, b from 6");
        assert_eq!(found[0].in_words(Axis::BlockSize), "a is faster below 5, b above");
    }
}
