use crate::case_id::Setting;
use crate::compare::{Comparison, ComparisonLine, Group};
use crate::parameter::{Parameter, SpecKind, UnknownParameter};
use crate::specs::{argument, without};
use crate::units::Unit;
use serde::Serialize;
use swapmeet_core::network::topology;
use swapmeet_workloads::CurveAxis;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The bytes of a block: the mean if sizes differ, but the maximum for `one-spike`.
    Block,
    Nodes,
    Variation,
    /// The number of failed links (`faults=K`). On the network without failed links, it is 0.
    Faults,
    Parameter(Parameter),
}

#[derive(Debug, Clone, PartialEq)]
pub struct AxisPosition {
    pub x: f64,
    /// The settings without the axis's quantity. If it is nodes, `topology` is a family.
    pub settings: CommonSettings,
    /// The algorithm without the quantity of the axis.
    pub algorithm: String,
}

/// The settings of several cases. A setting that differs is empty, or lacks the part that differs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize)]
pub struct CommonSettings {
    /// The topology, or its family if the number of nodes differs.
    pub topology: String,
    pub workload: String,
    /// The machine, followed by its definition in parentheses if the experiment defined it.
    pub machine: String,
    pub model: String,
    /// The files that the topology and the workload name, with their digests.
    pub inputs: String,
    /// Other jobs that run at the same time.
    pub together: String,
}

impl CommonSettings {
    pub fn of(setting: &Setting<&str>) -> Self {
        Self {
            topology: setting.topology.to_owned(),
            workload: setting.workload.to_owned(),
            machine: setting.machine_in_full(),
            model: setting.model.to_owned(),
            inputs: setting.inputs.to_owned(),
            together: setting.together.to_owned(),
        }
    }

    pub fn title(&self) -> String {
        let Self { topology, workload, machine, model, inputs, together } = self;
        let parts = [topology, workload, together, machine, model, inputs].map(String::as_str);
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn machine_spec(&self) -> &str {
        let definition = self.machine.split_once(" (").and_then(|(_, rest)| rest.strip_suffix(')'));
        definition.unwrap_or(&self.machine)
    }
}

impl Axis {
    pub const ALL: [Self; 4] = [Self::Block, Self::Nodes, Self::Variation, Self::Faults];

    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Nodes => "nodes",
            Self::Variation => "cv",
            Self::Faults => "faults",
            Self::Parameter(parameter) => parameter.key,
        }
    }

    /// Returns the axis with this name, one of [`Axis::ALL`] or a number in the cases' specs.
    pub fn find(name: &str, comparison: &Comparison) -> Result<Self, UnknownParameter> {
        let known = Self::ALL.into_iter().find(|axis| axis.name() == name);
        let found = || comparison.parameters().find(name).map(Self::Parameter);
        known.map_or_else(found, Ok)
    }

    pub fn is_of_algorithms(self) -> bool {
        matches!(self, Self::Parameter(Parameter { of: SpecKind::Algorithm, .. }))
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Block => "block size",
            Self::Nodes => "nodes",
            Self::Variation => "coefficient of variation of the block sizes",
            Self::Faults => "failed links",
            Self::Parameter(parameter) => parameter.key,
        }
    }

    /// Returns the label. The size of a reduction is that of the whole vector of a node.
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

    pub fn unit(self) -> Unit {
        match self {
            Self::Block => Unit::Bytes,
            Self::Nodes | Self::Variation | Self::Faults => Unit::Number,
            Self::Parameter(parameter) => parameter.unit,
        }
    }

    pub fn text(self, x: f64) -> String {
        self.unit().text(x)
    }

    /// Returns whether a case can exist between any two values of the axis. It cannot between two
    /// networks, or between two numbers of failed links, which are integers. Many parameters are
    /// also integers.
    pub fn is_dense(self) -> bool {
        match self {
            Self::Block | Self::Variation => true,
            Self::Nodes | Self::Faults => false,
            Self::Parameter(parameter) => {
                matches!(parameter.of, SpecKind::Workload | SpecKind::Machine)
            }
        }
    }

    /// Returns the position of a line on the axis, or `None` if the line has no value there.
    pub fn place(self, group: &Group, line: &ComparisonLine) -> Option<AxisPosition> {
        let (x, settings) = self.place_group(group)?;
        let Self::Parameter(parameter) = self else {
            return Some(AxisPosition { x, settings, algorithm: line.algorithm.clone() });
        };
        if parameter.of != SpecKind::Algorithm {
            return Some(AxisPosition { x, settings, algorithm: line.algorithm.clone() });
        }
        // The label of a line can be the spec of the algorithm followed by its build.
        let build = line.algorithm.strip_prefix(&*line.subject).unwrap_or_default();
        let algorithm = format!("{}{build}", parameter.removed_from(&line.subject));
        Some(AxisPosition { x: parameter.value(&line.subject)?, settings, algorithm })
    }

    /// Must not be called for a parameter of algorithms, because each line has its own value.
    pub(crate) fn place_group(self, group: &Group) -> Option<(f64, CommonSettings)> {
        self.split(CommonSettings::of(&group.setting.borrowed()), group.nodes)
    }

    pub fn split(self, of: CommonSettings, nodes: u64) -> Option<(f64, CommonSettings)> {
        Some(match self {
            Self::Nodes => {
                let topology = topology::kind(&of.topology);
                (nodes as f64, CommonSettings { topology, ..of })
            }
            Self::Block | Self::Variation => {
                let axis =
                    if self == Self::Block { CurveAxis::BlockSize } else { CurveAxis::Variation };
                let (x, workload) = axis.split(&of.workload)?;
                (x, CommonSettings { workload, ..of })
            }
            Self::Faults => {
                // The value is K or `K:SEED`. The seed is ignored.
                let number = |text: &str| text.split(':').next().and_then(|k| k.parse().ok());
                let x = argument(&of.topology, FAULTS).map_or(Some(0.0), number)?;
                let topology = without(&of.topology, FAULTS).into_owned();
                (x, CommonSettings { topology, ..of })
            }
            Self::Parameter(parameter) => {
                let split = |spec: &str| {
                    Some((parameter.value(spec)?, parameter.removed_from(spec).into_owned()))
                };
                match parameter.of {
                    SpecKind::Topology => {
                        let (x, topology) = split(&of.topology)?;
                        (x, CommonSettings { topology, ..of })
                    }
                    SpecKind::Workload => {
                        let (x, workload) = split(&of.workload)?;
                        (x, CommonSettings { workload, ..of })
                    }
                    SpecKind::Machine => {
                        let (x, machine) = split(of.machine_spec())?;
                        (x, CommonSettings { machine, ..of })
                    }
                    SpecKind::Algorithm => (0.0, of),
                }
            }
        })
    }

    /// Removes the quantity of the axis from settings. If they do not have it, they stay unchanged.
    pub(super) fn remainder(self, of: CommonSettings, nodes: u64) -> CommonSettings {
        self.split(of.clone(), nodes).map_or(of, |(_, rest)| rest)
    }

    pub fn position(self, x: f64) -> String {
        match self {
            Self::Parameter(parameter) => format!("{}={}", parameter.key, self.text(x)),
            Self::Block | Self::Nodes | Self::Variation | Self::Faults => self.text(x),
        }
    }
}

pub(super) const FAULTS: &str = "faults";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::families;
    use crate::compare::compare;
    use crate::compare::tests::{files, row};
    use crate::record::Record;

    fn place(axis: Axis, workload: &str) -> Option<(f64, String)> {
        let row = Record { workload: workload.to_owned(), nodes: 16, ..row("pex", 0, 1.0) };
        let comparison = compare(&files(vec![row]), None).unwrap();
        axis.place_group(&comparison.groups[0]).map(|(x, rest)| (x, rest.workload))
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
        let (x, rest) = Axis::Nodes.place_group(&comparison.groups[0]).unwrap();
        assert_eq!((x, &*rest.topology, &*rest.workload), (16.0, "2D torus", "uniform:64"));
    }

    #[test]
    fn failed_links_vary_on_one_network() {
        let place = |topology: &str| {
            let row = Record { topology: topology.to_owned(), ..row("pex", 0, 1.0) };
            let comparison = compare(&files(vec![row]), None).unwrap();
            let (x, rest) = Axis::Faults.place_group(&comparison.groups[0]).unwrap();
            (x, rest.topology)
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

    fn experts() -> Comparison {
        let of = |tokens: u32, skew: &str, startup: u32, algorithm: &str| Record {
            workload: format!("moe:experts=16,top=2,tokens={tokens},bytes=7KiB{skew}"),
            machine: "mine".to_owned(),
            machine_definition: format!("free:model=fluid,startup_us={startup}"),
            ..row(algorithm, 0, f64::from(tokens))
        };
        let rows = [16, 64, 256].into_iter().flat_map(|tokens| {
            ["", ",skew=1"].into_iter().flat_map(move |skew| {
                [1, 2].into_iter().flat_map(move |startup| {
                    ["linear", "tuna:radix=2,ports=4", "tuna:radix=8,ports=4"]
                        .map(|name| of(tokens, skew, startup, name))
                })
            })
        });
        compare(&files(rows.collect()), None).unwrap()
    }

    #[test]
    fn any_number_of_a_spec_is_an_axis() {
        let comparison = experts();
        let names: Vec<&str> = Axis::varying(&comparison).into_iter().map(Axis::name).collect();
        assert_eq!(names, ["tokens", "skew", "startup_us", "radix"]);
        assert_eq!(Axis::main(&comparison).name(), "tokens");
        let settings = |name: &str| {
            let axis = Axis::find(name, &comparison).unwrap();
            let families = families(&comparison, axis).families;
            let CommonSettings { workload, machine, .. } = families[0].settings.clone();
            (families[0].xs(), families.len(), workload, machine)
        };
        let (moe, mine) = ("moe:experts=16,top=2", "mine (free:model=fluid,startup_us=1)");
        assert_eq!(
            settings("tokens"),
            (vec![16.0, 64.0, 256.0], 4, format!("{moe},bytes=7KiB"), mine.to_owned())
        );
        // In its canonical form, a workload does not contain the default `skew=0`.
        assert_eq!(
            settings("skew"),
            (vec![0.0, 1.0], 6, format!("{moe},tokens=16,bytes=7KiB"), mine.to_owned())
        );
        assert_eq!(
            settings("startup_us"),
            (
                vec![1.0, 2.0],
                6,
                format!("{moe},tokens=16,bytes=7KiB"),
                "free:model=fluid".to_owned()
            )
        );
        assert_eq!(Axis::find("block", &comparison), Ok(Axis::Block));
        assert!(Axis::find("tokns", &comparison).is_err());
    }

    #[test]
    fn a_parameter_of_algorithms_is_an_axis() {
        let comparison = experts();
        let axis = Axis::find("radix", &comparison).unwrap();
        let found = families(&comparison, axis);
        assert_eq!((found.families.len(), found.off_axis), (12, 12));
        let [curve] = &found.families[0].curves[..] else { panic!("{:?}", found.families[0]) };
        assert_eq!(curve.algorithm, "tuna:ports=4");
        assert_eq!(curve.points.iter().map(|point| point.x).collect::<Vec<_>>(), [2.0, 8.0]);
        assert_eq!(found.families[0].shared_xs, [0.0; 0]);
    }
}
