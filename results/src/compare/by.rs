//! The property by which cases are compared.

use crate::case_id::{CaseId, Setting};
use crate::specs::{parameter, short_machine, without};
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
    /// Compare placements of ranks (`place=` of a topology).
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
            Self::Placement => parameter(topology, "place").unwrap_or(DEFAULT_PLACE),
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
                machine_definition: without_model(of.machine_definition),
                ..setting
            },
            Self::Machine => {
                Setting { machine: none(), machine_definition: none(), model: none(), ..setting }
            }
            Self::Placement => Setting { topology: without(of.topology, "place"), ..setting },
        }
    }
}

/// Returns the definition of a machine without its model. Only the values that differ from the
/// preset remain, because each model has parameters of its own.
fn without_model(definition: &str) -> Cow<'static, str> {
    Cow::Owned(without(&short_machine(definition), "model").into_owned())
}
