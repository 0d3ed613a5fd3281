//! Cases that differ in nothing but the algorithm and what an axis has.

use super::axis::{Axis, AxisPosition};
use crate::compare::{Comparison, Group};
use std::collections::{BTreeMap, BTreeSet};

/// A case of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where along the axis.
    pub x: f64,
    /// Mean time, in us.
    pub time: f64,
    /// Which group of the comparison it is of.
    pub group: usize,
    /// Which line of that group.
    pub line: usize,
}

/// The cases of one algorithm, by rising x.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The algorithm, as the comparison's lines name it.
    pub algorithm: String,
    pub points: Vec<Point>,
}

/// Cases that differ in nothing but the algorithm and x.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    pub axis: Axis,
    /// The topology, or the kind that topologies of different size are of.
    pub topology: String,
    /// The workload without what varies.
    pub workload: String,
    /// The machine, with what an experiment's own stands for.
    pub machine: String,
    pub model: String,
    /// The files that topology and workload name, with digests.
    pub inputs: String,
    /// A curve an algorithm, by name.
    pub curves: Vec<Curve>,
    /// The values of x that several groups have, such as two shapes of as many nodes: no line goes
    /// through their points, and nothing is said of who is fastest there.
    pub shared_xs: Vec<f64>,
    /// The groups that its points are of.
    pub groups: BTreeSet<usize>,
}

/// Everything along one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Families {
    /// The families, in the order in which their first groups came.
    pub families: Vec<Family>,
    /// How many groups stand nowhere along the axis.
    pub off_axis: usize,
}

/// Lays the groups of a comparison along an axis.
pub fn families(comparison: &Comparison, axis: Axis) -> Families {
    let mut found = Families { families: Vec::new(), off_axis: 0 };
    for (number, group) in comparison.groups.iter().enumerate() {
        let Some(place) = axis.place(group) else {
            found.off_axis += 1;
            continue;
        };
        let at = found.families.iter().position(|family| family.has(&place, group)).unwrap_or_else(
            || {
                found.families.push(Family::of(axis, &place, group));
                found.families.len() - 1
            },
        );
        found.families[at].add(place.x, number, group);
    }
    for family in &mut found.families {
        family.arrange(comparison);
    }
    found
}

impl Family {
    fn of(axis: Axis, place: &AxisPosition, group: &Group) -> Self {
        Self {
            axis,
            topology: place.topology.clone(),
            workload: place.workload.clone(),
            machine: group.machine_in_full(),
            model: group.setting.model.clone(),
            inputs: group.setting.inputs.clone(),
            curves: Vec::new(),
            shared_xs: Vec::new(),
            groups: BTreeSet::new(),
        }
    }

    fn has(&self, place: &AxisPosition, group: &Group) -> bool {
        self.topology == place.topology
            && self.workload == place.workload
            && self.machine == group.machine_in_full()
            && self.model == group.setting.model
            && self.inputs == group.setting.inputs
    }

    fn add(&mut self, x: f64, number: usize, group: &Group) {
        self.groups.insert(number);
        for (line, its) in group.lines.iter().enumerate() {
            let Some(time) = its.mean() else { continue };
            let point = Point { x, time, group: number, line };
            match self.curves.iter_mut().find(|curve| curve.algorithm == its.algorithm) {
                Some(curve) => curve.points.push(point),
                None => self
                    .curves
                    .push(Curve { algorithm: its.algorithm.clone(), points: vec![point] }),
            }
        }
    }

    fn arrange(&mut self, comparison: &Comparison) {
        for curve in &mut self.curves {
            curve.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        self.curves.sort_by(|a, b| a.algorithm.cmp(&b.algorithm));
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for place in
            self.groups.iter().filter_map(|group| self.axis.place(&comparison.groups[*group]))
        {
            *counts.entry(place.x.to_bits()).or_default() += 1;
        }
        self.shared_xs =
            counts.into_iter().filter(|(_, n)| *n > 1).map(|(x, _)| f64::from_bits(x)).collect();
    }

    /// What its cases have in common, in a line.
    pub fn title(&self) -> String {
        let parts = [&self.topology, &self.workload, &self.machine, &self.model, &self.inputs];
        parts
            .map(String::as_str)
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Every x that has a point, rising.
    pub fn xs(&self) -> Vec<f64> {
        let mut xs: Vec<f64> =
            self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        xs
    }

    /// Only the curves of some algorithms.
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let curves = self.curves.iter().filter(|curve| keep(&curve.algorithm)).cloned().collect();
        Self { curves, ..self.clone() }
    }
}

impl Curve {
    /// Its points, as many together as a line may join: one at a shared_xs x stands alone.
    pub fn segments(&self, shared_xs: &[f64]) -> impl Iterator<Item = &[Point]> {
        self.points.chunk_by(|a, b| !shared_xs.contains(&a.x) && !shared_xs.contains(&b.x))
    }

    /// The time at an x that it has a point at.
    pub fn time_at(&self, x: f64) -> Option<f64> {
        self.points.iter().find(|point| point.x == x).map(|point| point.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::compare::tests::{files, row};
    use crate::record::Record;

    fn at(topology: &str, nodes: u64, workload: &str, algorithm: &str, time: f64) -> Record {
        let (topology, workload) = (topology.to_owned(), workload.to_owned());
        Record { topology, nodes, workload, ..row(algorithm, 0, time) }
    }

    fn of(rows: Vec<Record>, axis: Axis) -> Families {
        families(&compare(&files(rows), None).unwrap(), axis)
    }

    #[test]
    fn cases_that_differ_in_size_alone_are_a_family() {
        let sizes = [("uniform:64", 1.0), ("uniform:8", 2.0), ("matrix:m.csv", 3.0)];
        let found = of(
            sizes.iter().map(|(size, time)| at("ring:4", 4, size, "a", *time)).collect(),
            Axis::Block,
        );
        assert_eq!((found.families.len(), found.off_axis), (1, 1));
        let family = &found.families[0];
        assert_eq!(family.title(), "ring:4, uniform, paragon, wormhole");
        let points: Vec<(f64, f64, usize)> =
            family.curves[0].points.iter().map(|p| (p.x, p.time, p.group)).collect();
        assert_eq!(points, [(8.0, 2.0, 1), (64.0, 1.0, 0)]);
    }

    #[test]
    fn nodes_join_topologies_of_as_many_dimensions() {
        let shapes = [("torus:4x4", 16), ("torus:4x4x4", 64), ("torus:9x9", 81)];
        let found = of(
            shapes.iter().map(|(t, n)| at(t, *n, "uniform:64", "a", 1.0)).collect(),
            Axis::Nodes,
        );
        let xs: Vec<(String, Vec<f64>)> =
            found.families.iter().map(|f| (f.topology.clone(), f.xs())).collect();
        assert_eq!(
            xs,
            [("2D torus".to_owned(), vec![16.0, 81.0]), ("3D torus".to_owned(), vec![64.0])]
        );
    }

    #[test]
    fn shapes_of_as_many_nodes_are_points_of_their_own_and_nothing_crosses_there() {
        // `b` is slower everywhere, but faster on the one shape than `a` on the other.
        let shapes = [
            ("torus:2x8", 16, 1.0),
            ("torus:4x4", 16, 4.0),
            ("torus:8x8", 64, 9.0),
            ("torus:2x32", 64, 20.0),
        ];
        let rows = shapes.iter().flat_map(|(topology, nodes, time)| {
            [
                at(topology, *nodes, "uniform:64", "a", *time),
                at(topology, *nodes, "uniform:64", "b", time + 1.0),
            ]
        });
        let family = of(rows.collect(), Axis::Nodes).families.remove(0);
        assert_eq!(family.shared_xs, [16.0, 64.0]);
        assert!(family.envelope().crossovers.is_empty());
        assert!(family.curves[0].segments(&family.shared_xs).all(|segment| segment.len() == 1));
    }
}
