//! The axes along which cases can be arranged.

use crate::case_id::Setting;
use crate::compare::Group;
use crate::specs::{parameter, without};
use crate::units::Unit;
use swapmeet_core::network::topology;
use swapmeet_workloads::CurveAxis;

/// The quantity that varies along a family of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Axis {
    /// Bytes per block (the mean of irregular sizes, the maximum of `one-spike`).
    Block,
    /// Number of nodes of topologies of the same kind.
    Nodes,
    /// Coefficient of variation of irregular sizes.
    #[cfg_attr(feature = "clap", value(name = "cv"))]
    Variation,
    /// Number of failed links (`faults=K`); 0 on the network without them.
    Faults,
}

/// The position of a group along an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisPosition {
    pub x: f64,
    /// The topology. On the axis of nodes, the family of topologies.
    pub topology: String,
    /// The workload without the quantity of the axis.
    pub workload: String,
}

impl Axis {
    pub const ALL: [Self; 4] = [Self::Block, Self::Nodes, Self::Variation, Self::Faults];

    /// Returns the label of the axis.
    pub fn label(self) -> &'static str {
        match self {
            Self::Block => "block size",
            Self::Nodes => "nodes",
            Self::Variation => "coefficient of variation of the block sizes",
            Self::Faults => "failed links",
        }
    }

    /// Returns the label of the axis in a figure of `workloads`. The size of a reduction is that of
    /// the whole vector that each node has.
    pub fn label_of<'a>(self, workloads: impl IntoIterator<Item = &'a str>) -> &'static str {
        let is_of_vectors =
            |workload: &str| ["allreduce/", "reduce/"].iter().any(|of| workload.starts_with(of));
        let mut workloads = workloads.into_iter().map(is_of_vectors);
        match (self, workloads.next()) {
            (Self::Block, Some(first)) if workloads.any(|other| other != first) => {
                "size of a block, or of the vector of a reduction"
            }
            (Self::Block, Some(true)) => "vector size",
            _ => self.label(),
        }
    }

    /// Returns the unit of the values.
    pub fn unit(self) -> Unit {
        match self {
            Self::Block => Unit::Bytes,
            Self::Nodes | Self::Variation | Self::Faults => Unit::Number,
        }
    }

    /// Formats a value for people.
    pub fn text(self, x: f64) -> String {
        self.unit().text(x)
    }

    /// Returns whether a case can exist between any two values on the axis. There are sizes between
    /// two sizes, but there are no networks between two networks, and the number of failed links is
    /// an integer.
    pub fn is_dense(self) -> bool {
        match self {
            Self::Block | Self::Variation => true,
            Self::Nodes | Self::Faults => false,
        }
    }

    /// Returns the position of a group. Returns `None` if the quantity of the axis is not defined
    /// for the group.
    pub fn place(self, group: &Group) -> Option<AxisPosition> {
        let Setting { topology, workload, .. } = &group.setting;
        let (x, topology, workload) = match self {
            Self::Nodes => (group.nodes as f64, topology::kind(topology), workload.clone()),
            Self::Block => {
                let (x, rest) = CurveAxis::BlockSize.split(workload)?;
                (x, topology.clone(), rest)
            }
            Self::Variation => {
                let (x, rest) = CurveAxis::Variation.split(workload)?;
                (x, topology.clone(), rest)
            }
            Self::Faults => {
                // The seed of a pattern of failed links is not part of the family's topology.
                let number = |text: &str| text.split(':').next().and_then(|k| k.parse().ok());
                let x = parameter(topology, "faults").map_or(Some(0.0), number)?;
                (x, without(topology, "faults").into_owned(), workload.clone())
            }
        };
        Some(AxisPosition { x, topology, workload })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::compare::tests::{files, row};
    use crate::record::Record;

    fn place(axis: Axis, workload: &str) -> Option<(f64, String)> {
        let row = Record { workload: workload.to_owned(), nodes: 16, ..row("pex", 0, 1.0) };
        let comparison = compare(&files(vec![row]), None).unwrap();
        axis.place(&comparison.groups[0]).map(|place| (place.x, place.workload))
    }

    #[test]
    fn axes_split_a_workload() {
        let some = |x: f64, rest: &str| Some((x, rest.to_owned()));
        let irregular = "irregular:dist=pareto,mean=512,cv=0.5";
        assert_eq!(
            place(Axis::Block, "permutation/translate:64,by=1x2"),
            some(64.0, "permutation/translate:by=1x2")
        );
        assert_eq!(place(Axis::Block, irregular), some(512.0, "irregular:dist=pareto,cv=0.5"));
        assert_eq!(place(Axis::Variation, irregular), some(0.5, "irregular:dist=pareto,mean=512"));
        assert_eq!(place(Axis::Block, "matrix:mine.csv"), None);
    }

    #[test]
    fn the_size_of_a_reduction_is_that_of_a_vector() {
        let label = |workloads: &[&'static str]| Axis::Block.label_of(workloads.iter().copied());
        assert_eq!(
            label(&["uniform", "allgather/uniform", "reduce-scatter/uniform"]),
            "block size"
        );
        assert_eq!(label(&["allreduce/uniform", "reduce/uniform"]), "vector size");
        let both = "size of a block, or of the vector of a reduction";
        assert_eq!(label(&["allreduce/uniform", "uniform"]), both);
        assert_eq!(Axis::Nodes.label_of(["allreduce/uniform"]), "nodes");
    }

    #[test]
    fn nodes_vary_within_topologies_of_one_kind() {
        let row = Record { nodes: 16, ..row("pex", 0, 1.0) };
        let comparison = compare(&files(vec![row]), None).unwrap();
        let place = Axis::Nodes.place(&comparison.groups[0]).unwrap();
        assert_eq!((place.x, &*place.topology, &*place.workload), (16.0, "2D torus", "uniform:64"));
    }

    #[test]
    fn failed_links_vary_on_one_network() {
        let place = |topology: &str| {
            let row = Record { topology: topology.to_owned(), ..row("pex", 0, 1.0) };
            let comparison = compare(&files(vec![row]), None).unwrap();
            let place = Axis::Faults.place(&comparison.groups[0]).unwrap();
            (place.x, place.topology)
        };
        let torus = |x: f64| (x, "torus:8x8,routing=ecmp".to_owned());
        assert_eq!(place("torus:8x8,routing=ecmp"), torus(0.0));
        assert_eq!(place("torus:8x8,faults=3,routing=ecmp"), torus(3.0));
        assert_eq!(place("torus:8x8,faults=12:7,routing=ecmp"), torus(12.0));
        let named = "torus:8x8,down=0-1";
        assert_eq!(place(&format!("{named},faults=1")), (1.0, named.to_owned()));
    }

    #[test]
    fn values_are_formatted_with_units() {
        let read =
            [0.0, 1.0, 32.84, 1023.0, 1024.0, 5000.3, 3_145_728.0].map(|v| Axis::Block.text(v));
        assert_eq!(read, ["0 B", "1 B", "32.8 B", "1023 B", "1 KiB", "4.88 KiB", "3 MiB"]);
        assert_eq!(
            (Axis::Nodes.text(16384.0), Axis::Variation.text(1.25)),
            ("16384".to_owned(), "1.25".to_owned())
        );
    }
}
