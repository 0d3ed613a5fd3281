//! Checks and completes typed specs, and returns the parameters of a form.

use super::{Chosen, ListKind, prefix};
use crate::session::trial::values_of;
use swapmeet_core::cost::machine::ParameterValue;
use swapmeet_core::system::{expand, systems};
use swapmeet_runner::case::{self, select_algorithm};
use swapmeet_runner::input::{InputError, Text};
use swapmeet_runner::plugin::Param;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::topology;
use swapmeet_workloads::Workload;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormParameter {
    pub(crate) key: String,
    pub(crate) default: String,
    pub(crate) about: String,
    /// Known values; others may also be valid.
    pub(crate) values: Vec<String>,
}

/// Sorts values: numbers, and then words.
fn sorted(mut values: Vec<String>) -> Vec<String> {
    let number = |text: &String| text.parse().unwrap_or(f64::INFINITY);
    values.sort_by(|a, b| number(a).total_cmp(&number(b)));
    values
}

/// Returns whether a text is a size or a range of sizes.
pub(crate) fn is_size(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// If an invalid network or machine has the name of a system, says where to select the system.
fn of_system(error: InputError, text: &str) -> InputError {
    let name = text.split(':').next().unwrap_or(text);
    let Some(system) = systems().iter().find(|system| system.name == name) else { return error };
    let spec = if expand(text).is_ok() { text.to_owned() } else { system.example() };
    let message = format!("`{name}` is a system, which has its own network and machine");
    let help = format!("select it in Systems, or `swapmeet tui --system {spec}` opens it");
    InputError { message, ..error }.help(help)
}

impl Chosen {
    /// Parses specs, and returns them in canonical form. A range of sizes gives one spec for each
    /// size.
    pub(crate) fn check(
        &self,
        kind: ListKind,
        text: &str,
        registry: &Registry,
    ) -> Result<Vec<String>, InputError> {
        // File names may contain spaces, which otherwise separate specs.
        let names_a_file = ["matrix:", "graph:", "file"].iter().any(|sign| text.contains(sign));
        if names_a_file || !ListKind::SPECS.contains(&kind) || text.is_empty() {
            return self.check_one(kind, text, registry);
        }
        let mut found = Vec::new();
        for word in text.split_whitespace() {
            // The offset of `word`, which is a slice of `text`.
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            let specs = self.check_one(kind, word, registry).map_err(|mut error| {
                error.place.span = error.place.span.start + at..error.place.span.end + at;
                error
            })?;
            found.extend(specs);
        }
        Ok(found)
    }

    fn check_one(
        &self,
        kind: ListKind,
        text: &str,
        registry: &Registry,
    ) -> Result<Vec<String>, InputError> {
        let flag = Text::flag(kind.singular(), text);
        let one = match kind {
            ListKind::Algorithms => select_algorithm(&flag, registry)?.to_string(),
            ListKind::Topologies => topology::parse(text)
                .map_err(|e| of_system(case::spec_error(&flag, &e), text))?
                .spec(),
            ListKind::Workloads => {
                // A size is a uniform workload of the chosen collective.
                let prefix = match is_size(text) {
                    true => format!("{}uniform:", prefix(self.collective())),
                    false => String::new(),
                };
                let flag = Text::flag(kind.singular(), &format!("{prefix}{text}"));
                let read =
                    |t: &Text| Workload::parse(&t.value).map_err(|e| case::spec_error(t, &e));
                let specs = case::expanded(&[flag])
                    .and_then(|all| all.iter().map(|t| read(t).map(|w| w.to_string())).collect());
                // The error marks a part of the typed text.
                return specs.map_err(|mut error: InputError| {
                    let span = error.place.span.clone();
                    let [start, end] =
                        [span.start, span.end].map(|at| at.saturating_sub(prefix.len()));
                    error.place.span = start..end.max(start);
                    error
                });
            }
            ListKind::Machines => case::machine(&flag, self.own_machines())
                .map_err(|error| of_system(error, text))?
                .to_string(),
            ListKind::Systems => {
                expand(text).map_err(|e| case::spec_error(&flag, &e))?;
                text.to_owned()
            }
            ListKind::Settings | ListKind::ExperimentFiles | ListKind::Collectives => {
                text.to_owned()
            }
        };
        Ok(vec![one])
    }

    /// Returns lines that complete the name, the next key or its value in the last spec of a line.
    pub(crate) fn completions(
        &self,
        kind: ListKind,
        line: &str,
        registry: &Registry,
    ) -> Vec<String> {
        let begins = line.rfind(' ').map_or(0, |at| at + 1);
        let (before, text) = line.split_at(begins);
        let suggestions = self
            .suggestions(kind)
            .iter()
            .filter(|o| o.prefill.starts_with(text) && o.prefill != text);
        let mut found: Vec<String> =
            suggestions.map(|o| format!("{before}{}", o.prefill)).collect();
        let Some((name, rest)) = text.split_once(':') else { return found };
        let done = rest.rfind(',').map_or(0, |i| i + 1);
        let last = &rest[done..];
        let parameters = self.parameters(kind, name, registry);
        if let Some((key, typed)) = last.split_once('=') {
            let values =
                parameters.into_iter().find(|p| p.key == key).map(|p| p.values).unwrap_or_default();
            let fit = values.iter().filter(|value| value.starts_with(typed) && *value != typed);
            found.extend(fit.map(|value| format!("{before}{name}:{}{key}={value}", &rest[..done])));
        } else {
            let fit = parameters
                .iter()
                .filter(|p| p.key.starts_with(last) && !rest.contains(&format!("{}=", p.key)));
            found.extend(fit.map(|p| format!("{before}{name}:{}{}=", &rest[..done], p.key)));
        }
        found
    }

    pub(crate) fn parameters(
        &self,
        kind: ListKind,
        name: &str,
        registry: &Registry,
    ) -> Vec<FormParameter> {
        match kind {
            ListKind::Machines => {
                let machine = case::machine(&Text::flag("machine", name), self.own_machines());
                let parameter = |value: ParameterValue| FormParameter {
                    key: value.parameter.key().to_owned(),
                    default: value.text,
                    about: value.parameter.meaning().to_owned(),
                    values: sorted(values_of(value.parameter)),
                };
                machine.iter().flat_map(|machine| machine.values()).map(parameter).collect()
            }
            ListKind::Algorithms => {
                let parameter = |p: &Param| FormParameter {
                    key: p.key.clone(),
                    default: p.default.clone(),
                    about: p.help.clone(),
                    values: p.kind.words().to_vec(),
                };
                registry.algorithm(name).iter().flat_map(|a| &a.params).map(parameter).collect()
            }
            ListKind::Topologies
            | ListKind::Workloads
            | ListKind::Systems
            | ListKind::Settings
            | ListKind::ExperimentFiles
            | ListKind::Collectives => Vec::new(),
        }
    }
}
