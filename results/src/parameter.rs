//! The parameters of specs that are numbers, such as `tokens` in `moe:experts=64,tokens=16`.

use crate::case_id::CaseId;
use crate::specs::{argument, without};
use crate::units::Unit;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::spec::{Arg, Spec, parse_decimal, parse_size};
use swapmeet_workloads::default_number;

/// The kind of a spec. Its word is also the prefix of a parameter's name, as in `machine.ports`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpecKind {
    Workload,
    Topology,
    Machine,
    Algorithm,
}

impl SpecKind {
    pub const ALL: [Self; 4] = [Self::Workload, Self::Topology, Self::Machine, Self::Algorithm];

    pub fn word(self) -> &'static str {
        match self {
            Self::Workload => "workload",
            Self::Topology => "topology",
            Self::Machine => "machine",
            Self::Algorithm => "algorithm",
        }
    }
}

/// A parameter that has a number as its value in at least one spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parameter {
    pub of: SpecKind,
    pub key: &'static str,
    pub unit: Unit,
}

impl Parameter {
    pub fn spec<'a>(self, case: &CaseId<&'a str>) -> &'a str {
        match self.of {
            SpecKind::Workload => case.setting.workload,
            SpecKind::Topology => case.setting.topology,
            SpecKind::Machine => case.setting.machine_spec(),
            SpecKind::Algorithm => case.implementation.algorithm,
        }
    }

    /// Returns the value in a spec. If the spec does not state it, this is the default in the
    /// machine's preset or in the workload's generator. Returns `None` if the value is no number,
    /// or if the default is unknown.
    pub fn value(self, spec: &str) -> Option<f64> {
        match argument(spec, self.key) {
            Some(text) => number(text),
            None => match self.of {
                SpecKind::Machine => Machine::parse(spec).ok()?.number(self.key),
                SpecKind::Workload => default_number(spec, self.key),
                SpecKind::Topology | SpecKind::Algorithm => None,
            },
        }
    }

    /// Returns the value as a text, or an empty text if the value is unknown.
    pub(crate) fn text(self, spec: &str) -> &str {
        argument(spec, self.key)
            .or_else(|| self.value(spec).map(|value| interned(&value.to_string())))
            .unwrap_or_default()
    }

    pub fn removed_from(self, spec: &str) -> Cow<'_, str> {
        without(spec, self.key)
    }

    pub fn label(self, value: f64) -> String {
        self.unit.text(value)
    }
}

#[derive(Debug, Clone, Default)]
pub struct Parameters(BTreeMap<(SpecKind, &'static str), Found>);

#[derive(Debug, Clone, Default)]
struct Found {
    /// The values as bits. No value is negative, so their bits have the same order.
    values: BTreeSet<u64>,
    has_bytes: bool,
    /// Whether there are specs that differ only in this parameter.
    varies: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownParameter {
    #[error("no spec of these rows has a number `{name}`")]
    Unknown { name: String, known: Vec<String> },
    #[error("`{name}` is a number of several specs, expected one of {}", known.join(", "))]
    Ambiguous {
        name: String,
        /// The names of these parameters, with their prefixes.
        known: Vec<String>,
    },
}

impl UnknownParameter {
    pub fn names(&self) -> (&str, &[String]) {
        match self {
            Self::Unknown { name, known } | Self::Ambiguous { name, known } => (name, known),
        }
    }
}

impl Parameters {
    /// `settings` has the topology, the workload and the machine of each case, one after another.
    pub(crate) fn of<'a>(
        settings: impl Iterator<Item = &'a str>,
        algorithms: impl Iterator<Item = &'a str>,
    ) -> Self {
        const SETTING: [SpecKind; 3] = [SpecKind::Topology, SpecKind::Workload, SpecKind::Machine];
        let kinds = SETTING.into_iter().cycle();
        let specs: BTreeSet<(SpecKind, &str)> = kinds
            .zip(settings)
            .chain(algorithms.map(|algorithm| (SpecKind::Algorithm, algorithm)))
            .collect();
        let mut found = Self::default();
        for (of, text) in &specs {
            let Ok(spec) = Spec::parse(of.word(), text) else { continue };
            for arg in spec.args() {
                found.add(*of, arg);
            }
        }
        // Now the default values are added, for the specs that do not state the parameter.
        let parameters: Vec<Parameter> = found.all().collect();
        for parameter in parameters {
            let own = specs.iter().filter(|(of, _)| *of == parameter.of);
            let mut by_rest: BTreeMap<Cow<'_, str>, BTreeSet<u64>> = BTreeMap::new();
            for (_, spec) in own {
                let Some(value) = parameter.value(spec) else { continue };
                let rest = parameter.removed_from(spec);
                by_rest.entry(rest).or_default().insert(value.to_bits());
            }
            if let Some(found) = found.0.get_mut(&(parameter.of, parameter.key)) {
                found.varies = by_rest.values().any(|values| values.len() > 1);
                found.values.extend(by_rest.into_values().flatten());
            }
        }
        found
    }

    fn add(&mut self, of: SpecKind, arg: &Arg) {
        /// The maximum number of parameters. Rows that this program wrote have far fewer.
        const MOST: usize = 1000;
        let (Some(key), Some(value)) = (arg.key(), number(arg.value())) else { return };
        if self.0.len() < MOST {
            let found = self.0.entry((of, interned(key))).or_default();
            found.values.insert(value.to_bits());
            found.has_bytes |= parse_decimal(arg.value()).is_none();
        }
    }

    /// Returns the parameter with this name, which may have a prefix, as in `machine.ports`.
    pub fn find(&self, name: &str) -> Result<Parameter, UnknownParameter> {
        let (prefix, key) = name.split_once('.').unwrap_or(("", name));
        let of = SpecKind::ALL.into_iter().find(|of| of.word() == prefix);
        let is_named = |parameter: &Parameter| {
            (prefix.is_empty() || of == Some(parameter.of)) && parameter.key == key
        };
        let named: Vec<Parameter> = self.all().filter(is_named).collect();
        let full = |parameter: Parameter| format!("{}.{}", parameter.of.word(), parameter.key);
        match named[..] {
            [only] => Ok(only),
            [] => {
                let known: BTreeSet<&str> = self.all().map(|parameter| parameter.key).collect();
                let known = known.into_iter().map(str::to_owned).collect();
                Err(UnknownParameter::Unknown { name: name.to_owned(), known })
            }
            _ => Err(UnknownParameter::Ambiguous {
                name: name.to_owned(),
                known: named.into_iter().map(full).collect(),
            }),
        }
    }

    /// Returns all parameters. Those of workloads come first.
    fn all(&self) -> impl Iterator<Item = Parameter> {
        self.0.iter().map(|(&(of, key), found)| {
            let unit = match Unit::of_column(key) {
                Unit::Number if found.has_bytes => Unit::Bytes,
                unit => unit,
            };
            Parameter { of, key, unit }
        })
    }

    /// Returns the parameters in which otherwise equal specs differ, most values first.
    pub fn varying(&self) -> Vec<Parameter> {
        let found = |parameter: &Parameter| &self.0[&(parameter.of, parameter.key)];
        let mut varying: Vec<Parameter> = self.all().filter(|p| found(p).varies).collect();
        varying.sort_by_key(|parameter| std::cmp::Reverse(found(parameter).values.len()));
        varying
    }
}

/// Parses a number, which may have a unit of bytes. Returns `None` if the number is negative.
fn number(text: &str) -> Option<f64> {
    let number = parse_decimal(text).or_else(|| parse_size(text).ok().map(|bytes| bytes as f64));
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

/// Returns the same text, stored until the program ends. Only few texts are stored: the keys of
/// parameters, and default values.
fn interned(text: &str) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return known;
    }
    let stored: &'static str = Box::leak(text.to_owned().into_boxed_str());
    texts.insert(stored);
    stored
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Parameters {
        let settings = [
            ["torus:4x4", "moe:experts=16,top=2,tokens=16,bytes=7KiB", "free:startup_us=2,ports=1"],
            ["torus:4x4", "moe:experts=16,top=2,tokens=64,bytes=7KiB,skew=1", "free:startup_us=2"],
            ["torus:4x4", "moe:experts=16,top=2,tokens=256,bytes=7KiB", "free:startup_us=3"],
            ["torus:4x4", "moe:experts=16,top=2,tokens=256,bytes=7KiB,skew=1", "free:startup_us=3"],
        ];
        let algorithms = ["tuna:ports=2,radix=4", "linear", "msccl:file=x.xml"];
        Parameters::of(settings.into_iter().flatten(), algorithms.into_iter())
    }

    #[test]
    fn every_number_of_a_spec_is_found() {
        let find = |name: &str| {
            let Parameter { of, key, unit } = found().find(name).unwrap();
            (of, key, unit)
        };
        assert_eq!(find("tokens"), (SpecKind::Workload, "tokens", Unit::Number));
        assert_eq!(find("bytes"), (SpecKind::Workload, "bytes", Unit::Bytes));
        assert_eq!(find("startup_us"), (SpecKind::Machine, "startup_us", Unit::Time));
        assert_eq!(find("algorithm.ports"), (SpecKind::Algorithm, "ports", Unit::Number));
        let varying: Vec<&str> = found().varying().iter().map(|p| p.key).collect();
        assert_eq!(varying, ["tokens", "skew", "startup_us"]);
    }

    #[test]
    fn a_name_that_is_unknown_or_ambiguous_is_explained() {
        let error = |name: &str| found().find(name).unwrap_err();
        let names = ["bytes", "experts", "ports", "radix", "skew", "startup_us", "tokens", "top"];
        assert_eq!(error("tokns").names(), ("tokns", &names.map(String::from)[..]));
        assert_eq!(error("file").to_string(), "no spec of these rows has a number `file`");
        assert_eq!(
            error("ports").to_string(),
            "`ports` is a number of several specs, expected one of machine.ports, algorithm.ports"
        );
        assert!(found().find("topology.ports").is_err());
    }

    #[test]
    fn values_that_a_spec_leaves_out_have_their_defaults() {
        let startup = found().find("startup_us").unwrap();
        let preset = Machine::parse("paragon").unwrap().number("startup_us");
        assert!(preset.is_some());
        assert_eq!(
            (startup.value("paragon"), startup.value("paragon:startup_us=7")),
            (preset, Some(7.0))
        );
        let skew = found().find("skew").unwrap();
        let moe = "moe:experts=16,top=2,tokens=16,bytes=7KiB";
        assert_eq!(skew.value(moe), Some(0.0));
        assert_eq!(skew.value(&format!("dispatch/{moe}")), Some(0.0));
        assert_eq!(skew.value(&format!("{moe},violation=2")), None);
        assert_eq!(found().find("radix").unwrap().value("tuna"), None);
    }
}
