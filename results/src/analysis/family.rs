//! A family is a set of cases that differ only in the algorithm and in the quantity of an axis.

use super::axis::{Axis, AxisPosition, CommonSettings, FAULTS};
use crate::compare::Comparison;
use crate::grouped::grouped;
use crate::parameter::SpecKind;
use crate::stats::distinct;
use std::collections::{BTreeMap, BTreeSet};
use swapmeet_workloads::CurveAxis;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    /// The mean of the times, in microseconds.
    pub time: f64,
    /// The index of the group in the comparison.
    pub group: usize,
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub algorithm: String,
    pub points: Box<[Point]>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    pub axis: Axis,
    pub settings: CommonSettings,
    pub curves: Vec<Curve>,
    /// Values of x that several groups have. For example, two grids of different shapes can have
    /// the same number of nodes. At these values, curves have a gap, and no algorithm is taken for
    /// the fastest.
    pub shared_xs: Vec<f64>,
    pub groups: BTreeSet<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Families {
    pub families: Vec<Family>,
    /// The number of groups that have no position on the axis. If the axis is a parameter of
    /// algorithms, this is a number of lines instead. If the axis is the number of failed links,
    /// groups of families without failed links are included.
    pub off_axis: usize,
}

struct Placed {
    x: f64,
    algorithm: String,
    group: usize,
    line: usize,
}

pub fn families(comparison: &Comparison, axis: Axis) -> Families {
    let lines = comparison.groups.iter().enumerate().flat_map(|(group, of_group)| {
        let lines = of_group.lines.iter().enumerate();
        lines.filter_map(move |(line, of_line)| {
            let AxisPosition { x, settings, algorithm } = axis.place(of_group, of_line)?;
            Some((settings, Placed { x, algorithm, group, line }))
        })
    });
    let found = grouped(lines);
    let mut families: Vec<Family> = found
        .into_iter()
        .map(|(settings, placed)| Family::of(comparison, axis, settings, &placed))
        .collect();
    if axis == Axis::Faults {
        families.retain(|family| family.xs().into_iter().any(|x| x > 0.0));
    }
    let off_axis = if axis.is_of_algorithms() {
        let timed = comparison.groups.iter().flat_map(|group| &group.lines);
        let points =
            families.iter().flat_map(|family| &family.curves).map(|curve| curve.points.len());
        timed.filter(|line| line.time.is_some()).count() - points.sum::<usize>()
    } else {
        comparison.groups.len() - families.iter().map(|family| family.groups.len()).sum::<usize>()
    };
    Families { families, off_axis }
}

impl Axis {
    /// Returns the axes along which cases vary. Axes in [`Axis::ALL`] come first. They are followed
    /// by the parameters that no other axis represents; the parameter with the most values comes
    /// first.
    pub fn varying(comparison: &Comparison) -> Vec<Self> {
        let parameters = comparison.parameters().varying().into_iter();
        let parameters = parameters.map(Self::Parameter);
        let own = parameters.filter(|axis| !axis.is_of_other_axis(comparison));
        Self::ALL.into_iter().chain(own).filter(|axis| axis.varies(comparison)).collect()
    }

    /// Returns whether some cases differ only in the quantity of this axis.
    pub(super) fn varies(self, comparison: &Comparison) -> bool {
        families(comparison, self).families.iter().any(|family| family.xs().len() > 1)
    }

    /// Returns the axis of block sizes if these vary. Otherwise returns the parameter with the most
    /// values or, without parameters, another axis.
    pub fn main(comparison: &Comparison) -> Self {
        if Self::Block.varies(comparison) {
            return Self::Block;
        }
        let varying = Self::varying(comparison);
        let is_parameter = |axis: &&Self| matches!(axis, Self::Parameter(_));
        let parameter = varying.iter().find(is_parameter);
        *parameter.or(varying.first()).unwrap_or(&Self::Block)
    }

    /// Returns whether another axis represents it. For example, `bytes` can be the block size.
    fn is_of_other_axis(self, comparison: &Comparison) -> bool {
        let Self::Parameter(parameter) = self else { return false };
        let workloads = || comparison.groups.iter().map(|group| &*group.setting.workload);
        match parameter.of {
            SpecKind::Topology => parameter.key == FAULTS,
            SpecKind::Workload => [CurveAxis::BlockSize, CurveAxis::Variation]
                .into_iter()
                .any(|axis| workloads().any(|text| axis.key(text) == Some(parameter.key))),
            SpecKind::Machine | SpecKind::Algorithm => false,
        }
    }
}

impl Family {
    fn of(
        comparison: &Comparison,
        axis: Axis,
        settings: CommonSettings,
        placed: &[Placed],
    ) -> Self {
        let mut curves: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
        for Placed { x, algorithm, group, line } in placed {
            let Some(time) = comparison.groups[*group].lines[*line].mean() else { continue };
            let point = Point { x: *x, time, group: *group, line: *line };
            curves.entry(algorithm).or_default().push(point);
        }
        let curve = |(algorithm, mut points): (&str, Vec<Point>)| {
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Curve { algorithm: algorithm.to_owned(), points: points.into() }
        };
        let mut xs: Vec<(f64, usize)> = placed.iter().map(|at| (at.x, at.group)).collect();
        xs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        xs.dedup();
        let shared = xs.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1);
        Self {
            axis,
            settings,
            curves: curves.into_iter().map(curve).collect(),
            shared_xs: shared.map(|equal| equal[0].0).collect(),
            groups: placed.iter().map(|at| at.group).collect(),
        }
    }

    pub fn xs(&self) -> Vec<f64> {
        distinct(self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.x))
    }

    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let curves = self.curves.iter().filter(|curve| keep(&curve.algorithm)).cloned().collect();
        Self { curves, ..self.clone() }
    }
}

impl Curve {
    /// Returns points that a line connects. A point at one of the `shared_xs` is alone.
    pub fn segments(&self, shared_xs: &[f64]) -> impl Iterator<Item = &[Point]> {
        self.points.chunk_by(|a, b| !shared_xs.contains(&a.x) && !shared_xs.contains(&b.x))
    }

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
        assert_eq!(family.settings.title(), "ring:4, uniform, paragon, wormhole");
        let points: Vec<(f64, f64, usize)> =
            family.curves[0].points.iter().map(|p| (p.x, p.time, p.group)).collect();
        assert_eq!(points, [(8.0, 2.0, 1), (64.0, 1.0, 0)]);
    }

    #[test]
    fn the_axis_of_nodes_joins_topologies_of_equal_dimension() {
        let shapes = [("torus:4x4", 16), ("torus:4x4x4", 64), ("torus:9x9", 81)];
        let found = of(
            shapes.iter().map(|(t, n)| at(t, *n, "uniform:64", "a", 1.0)).collect(),
            Axis::Nodes,
        );
        let xs: Vec<(String, Vec<f64>)> =
            found.families.iter().map(|f| (f.settings.topology.clone(), f.xs())).collect();
        assert_eq!(
            xs,
            [("2D torus".to_owned(), vec![16.0, 81.0]), ("3D torus".to_owned(), vec![64.0])]
        );
    }

    #[test]
    fn only_networks_with_failures_have_a_curve_over_failed_links() {
        let all = ["torus:4x4", "torus:4x4,faults=2", "ring:4"];
        let rows = all.iter().map(|topology| at(topology, 16, "uniform:64", "a", 1.0)).collect();
        let found = of(rows, Axis::Faults);
        assert_eq!((found.families.len(), found.off_axis), (1, 1));
        assert_eq!(
            (&*found.families[0].settings.topology, found.families[0].xs()),
            ("torus:4x4", vec![0.0, 2.0])
        );
    }

    #[test]
    fn shapes_with_equal_nodes_are_not_joined() {
        // On each network, `b` is slower than `a`. But `b` on 2x8 is faster than `a` on 4x4.
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
