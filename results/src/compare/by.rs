//! The property by which cases are compared.

use crate::case_id::{CaseId, Setting};
use serde::Serialize;
use std::borrow::Cow;

/// The property in which the compared cases differ. All other properties are equal within a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// Compare algorithms.
    #[default]
    Algorithm,
    /// Compare topologies, such as two networks with the same algorithm.
    Topology,
    /// Compare cost models of the same machine.
    Model,
    /// Compare machines, including their models.
    Machine,
    /// Compare placements of ranks (`place=` and `mesh=` of a topology).
    Placement,
}

/// The placement of ranks if a topology has no parameter `place`.
const DEFAULT_PLACE: &str = "block";

impl By {
    /// Returns the name of the property.
    pub fn label(self) -> &'static str {
        match self {
            Self::Algorithm => "algorithm",
            Self::Topology => "topology",
            Self::Model => "model",
            Self::Machine => "machine",
            Self::Placement => "placement",
        }
    }

    /// Returns the compared property of a case.
    pub(super) fn subject<'a>(self, case: &CaseId<&'a str>) -> &'a str {
        let Setting { topology, machine, model, .. } = case.setting;
        match self {
            Self::Algorithm => case.implementation.algorithm,
            Self::Topology => topology,
            Self::Model => model,
            Self::Machine => machine,
            // In a canonical spec, `mesh=` is the last argument.
            Self::Placement => match (parameter(topology, "place"), parameter(topology, "mesh")) {
                (Some(place), Some(_)) => {
                    topology.find(place).map_or(place, |start| &topology[start..])
                }
                (place, mesh) => place.or(mesh).unwrap_or(DEFAULT_PLACE),
            },
        }
    }

    /// Returns a setting without the compared property.
    pub(super) fn without_subject(self, of: Setting<&str>) -> Setting<Cow<'_, str>> {
        let setting = of.map(Cow::Borrowed);
        let none = || Cow::Borrowed("");
        match self {
            Self::Algorithm => setting,
            Self::Topology => Setting { topology: none(), ..setting },
            Self::Model => Setting {
                model: none(),
                machine: without(of.machine, "model"),
                machine_definition: without(of.machine_definition, "model"),
                ..setting
            },
            Self::Machine => {
                Setting { machine: none(), machine_definition: none(), model: none(), ..setting }
            }
            Self::Placement => {
                let unplaced = without(of.topology, "place");
                Setting { topology: without(&unplaced, "mesh").into_owned().into(), ..setting }
            }
        }
    }
}

/// Returns the value of a parameter at the outermost level of a spec.
pub(crate) fn parameter<'a>(spec: &'a str, key: &str) -> Option<&'a str> {
    let parts = spec.split_once(':').map_or(spec, |(_, rest)| rest).split(',');
    parts.into_iter().find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
}

/// Returns a spec without one of the parameters at its outermost level.
pub(crate) fn without<'a>(spec: &'a str, key: &str) -> Cow<'a, str> {
    if parameter(spec, key).is_none() {
        return Cow::Borrowed(spec);
    }
    let (name, rest) = spec.split_once(':').unwrap_or(("", spec));
    let is_other = |part: &&str| part.strip_prefix(key).is_none_or(|rest| !rest.starts_with('='));
    let kept = rest.split(',').filter(is_other).collect::<Vec<_>>().join(",");
    Cow::Owned(if kept.is_empty() { name.to_owned() } else { format!("{name}:{kept}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_removed_from_specs() {
        let topology = "torus:8x8,place=random:3,routing=ecmp";
        assert_eq!(parameter(topology, "place"), Some("random:3"));
        assert_eq!(without(topology, "place"), "torus:8x8,routing=ecmp");
        assert_eq!(without("paragon:model=circuit", "model"), "paragon");
        assert_eq!(without("paragon", "model"), "paragon");
    }

    #[test]
    fn names_of_axes_are_a_part_of_the_placement() {
        let placed = |topology| {
            let setting = Setting { topology, ..Setting::default() };
            let case = CaseId { setting, ..CaseId::default() };
            let rest = By::Placement.without_subject(case.setting).topology.into_owned();
            (By::Placement.subject(&case), rest)
        };
        assert_eq!(placed("ring:8,mesh=a:2/b:4"), ("a:2/b:4", "ring:8".to_owned()));
        assert_eq!(
            placed("ring:8,place=random:3,routing=ecmp,mesh=a:2/b:4"),
            ("random:3,routing=ecmp,mesh=a:2/b:4", "ring:8,routing=ecmp".to_owned())
        );
        assert_eq!(placed("ring:8"), ("block", "ring:8".to_owned()));
    }
}
