use super::ComparedRows;
use crate::case_id::{CaseId, Implementation, Setting};
use crate::parameter::{Parameter, SpecKind, UnknownParameter};
use crate::specs::{argument, short_machine, without};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// The property in which compared cases differ. All other properties are equal within a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    #[default]
    Algorithm,
    Topology,
    Model,
    Machine,
    /// Placements of ranks (`place=` and `mesh=` of a topology).
    Placement,
    /// A number in specs, such as `tokens`.
    Parameter(Parameter),
}

/// The placement of a topology without the parameter `place`.
const DEFAULT_PLACE: &str = "block";

impl By {
    pub const ALL: [Self; 5] =
        [Self::Algorithm, Self::Topology, Self::Model, Self::Machine, Self::Placement];

    /// Returns the property with this name, one of [`By::ALL`] or a number in the specs of `rows`.
    pub fn find(name: &str, rows: &ComparedRows) -> Result<Self, UnknownParameter> {
        let known = Self::ALL.into_iter().find(|by| by.label() == name);
        known.map_or_else(|| rows.parameters().find(name).map(Self::Parameter), Ok)
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Algorithm => "algorithm",
            Self::Topology => "topology",
            Self::Model => "model",
            Self::Machine => "machine",
            Self::Placement => "placement",
            Self::Parameter(parameter) => parameter.key,
        }
    }

    pub(super) fn subject<'a>(self, case: &CaseId<&'a str>) -> &'a str {
        let Setting { topology, machine, model, .. } = case.setting;
        match self {
            Self::Algorithm => case.implementation.algorithm,
            Self::Topology => topology,
            Self::Model => model,
            Self::Machine => machine,
            // In a canonical spec, `mesh=` is last, so the text from `place=` to the end has both.
            Self::Placement => match (argument(topology, "place"), argument(topology, "mesh")) {
                (Some(place), Some(_)) => {
                    topology.find(place).map_or(place, |start| &topology[start..])
                }
                (place, mesh) => place.or(mesh).unwrap_or(DEFAULT_PLACE),
            },
            Self::Parameter(parameter) => parameter.text(parameter.spec(case)),
        }
    }

    pub(super) fn without_subject(self, of: Setting<&str>) -> Setting<Cow<'_, str>> {
        let setting = of.map(Cow::Borrowed);
        let none = || Cow::Borrowed("");
        match self {
            Self::Algorithm => setting,
            Self::Topology => Setting { topology: none(), ..setting },
            Self::Model => Setting {
                model: none(),
                machine: without(of.machine, "model"),
                machine_definition: without_model(of.machine_definition),
                ..setting
            },
            Self::Machine => {
                Setting { machine: none(), machine_definition: none(), model: none(), ..setting }
            }
            Self::Placement => {
                let unplaced = without(of.topology, "place");
                let topology = Cow::Owned(without(&unplaced, "mesh").into_owned());
                Setting { topology, ..setting }
            }
            Self::Parameter(parameter) => match parameter.of {
                SpecKind::Topology => {
                    Setting { topology: parameter.removed_from(of.topology), ..setting }
                }
                SpecKind::Workload => {
                    Setting { workload: parameter.removed_from(of.workload), ..setting }
                }
                // The definition replaces the machine's name, which would stand for this parameter,
                // too.
                SpecKind::Machine => Setting {
                    machine: parameter.removed_from(&of.short_machine()).into_owned().into(),
                    machine_definition: none(),
                    ..setting
                },
                SpecKind::Algorithm => setting,
            },
        }
    }

    pub(super) fn without_subject_of_algorithm(
        self,
        of: Implementation<&str>,
    ) -> Implementation<Cow<'_, str>> {
        let algorithm = match self {
            Self::Parameter(parameter) if parameter.of == SpecKind::Algorithm => {
                parameter.removed_from(of.algorithm)
            }
            _ => Cow::Borrowed(of.algorithm),
        };
        Implementation { algorithm, ..of.map(Cow::Borrowed) }
    }
}

/// Returns only the values that differ from the preset, without the model. Each model has other
/// parameters, so the whole definitions could not be compared.
fn without_model(definition: &str) -> Cow<'static, str> {
    Cow::Owned(without(&short_machine(definition), "model").into_owned())
}

impl Serialize for By {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
