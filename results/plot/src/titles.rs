//! Titles of figures and panels.

use crate::error::{FigureError, check_panels};
use std::collections::BTreeSet;
use swapmeet_core::spec::Spec;
use swapmeet_results::analysis::CommonSettings;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Titles {
    /// The settings that all panels have in common.
    pub common: String,
    /// For each panel, the settings in which it differs from the other panels.
    pub panels: Vec<String>,
}

const MOST_PARAMETERS: usize = 2;

impl Titles {
    /// Returns the titles of panels with these settings. Errors if a figure cannot have so many
    /// panels.
    pub(crate) fn new<'a>(
        panels: impl Iterator<Item = &'a CommonSettings>,
    ) -> Result<Self, FigureError> {
        let panels: Vec<&CommonSettings> = panels.collect();
        let column = |text: fn(&CommonSettings) -> &str| -> Vec<&str> {
            panels.iter().map(|panel| text(panel)).collect()
        };
        let columns: [(Vec<&str>, &str); 5] = [
            (column(|p| &p.topology), "topologies (--topology)"),
            (column(|p| &p.workload), "workloads (--workload)"),
            (column(|p| &p.machine), "machines (--machine)"),
            (column(|p| &p.model), "models"),
            (column(|p| &p.inputs), "inputs"),
        ];
        let same = |texts: &[&str]| texts.windows(2).all(|pair| pair[0] == pair[1]);
        // The name of a machine usually determines its cost model, so a title omits the model. A
        // title includes the model only if all panels have the same machine name but their models
        // differ.
        let shows_model = same(&columns[2].0) && !same(&columns[3].0);
        let shown = || columns.iter().enumerate().filter(|(number, _)| *number != 3 || shows_model);
        let differ: Vec<&str> =
            shown().filter(|(_, (texts, _))| !same(texts)).map(|(_, (_, words))| *words).collect();
        // Panels with the same settings are of different algorithms.
        let differ = if differ.is_empty() {
            "algorithms (--algorithm)".to_owned()
        } else {
            differ.join(" and ")
        };
        check_panels(panels.len(), &differ)?;
        let mut common = Vec::new();
        let mut titles = vec![Vec::new(); panels.len()];
        for (number, (texts, _)) in shown() {
            if !same(texts) {
                let short = match number {
                    1 | 2 => differences(texts),
                    _ => texts.iter().map(|text| (*text).to_owned()).collect(),
                };
                for (title, text) in titles.iter_mut().zip(short) {
                    title.push(text);
                }
            } else if let Some(text) = texts.first() {
                common.push(if number == 2 { short_machine(text) } else { (*text).to_owned() });
            }
        }
        let join = |parts: Vec<String>| {
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
        };
        Ok(Self { common: join(common), panels: titles.into_iter().map(join).collect() })
    }
}

/// Returns the specs without the parameters that all of them have in common, if they differ only in
/// the values of parameters with names. Machines that an experiment defines are shown by name if
/// the names differ.
fn differences(texts: &[&str]) -> Vec<String> {
    let names: Vec<&str> = texts.iter().map(|text| defined_name(text)).collect();
    let distinct = |texts: &[&str]| texts.iter().collect::<BTreeSet<_>>().len();
    let texts = if distinct(&names) == distinct(texts) { &names } else { texts };
    let unchanged = || texts.iter().map(|text| (*text).to_owned()).collect();
    let read: Option<Vec<(&str, BTreeSet<&str>)>> =
        texts.iter().map(|text| parameters(text)).collect();
    let Some(read) = read else { return unchanged() };
    if read.iter().any(|(name, _)| *name != read[0].0) {
        return unchanged();
    }
    let is_shared = |part: &str| read.iter().all(|(_, parts)| parts.contains(part));
    let own = |text: &&str| {
        let (name, arguments) = text.split_once(':').unwrap_or((text, ""));
        let kept: Vec<&str> = arguments.split(',').filter(|part| !is_shared(part)).collect();
        let kept = kept.join(",");
        if kept.is_empty() { format!("{name} as it is") } else { kept }
    };
    texts.iter().map(own).collect()
}

/// Returns the name of a spec and its parameters. Returns `None` if any parameter has no name.
fn parameters(text: &str) -> Option<(&str, BTreeSet<&str>)> {
    Spec::parse("spec", text.split_once('/').map_or(text, |(_, rest)| rest)).ok()?;
    let (name, arguments) = text.split_once(':').unwrap_or((text, ""));
    let parts: BTreeSet<&str> = arguments.split(',').filter(|part| !part.is_empty()).collect();
    let has_names = !arguments.contains('(') && parts.iter().all(|part| part.contains('='));
    has_names.then_some((name, parts))
}

fn defined_name(text: &str) -> &str {
    text.split_once(" (").map_or(text, |(name, _)| name)
}

/// Returns a machine for the title of a figure. A machine with more than [`MOST_PARAMETERS`]
/// parameters is shown by its name and the number of parameters, because its spec would fill lines.
fn short_machine(text: &str) -> String {
    let text = defined_name(text);
    match parameters(text) {
        Some((name, parts)) if parts.len() > MOST_PARAMETERS => {
            format!("{name} with {} parameters", parts.len())
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(settings: &[[&str; 3]]) -> Titles {
        checked_titles(settings).unwrap()
    }

    fn checked_titles(settings: &[[&str; 3]]) -> Result<Titles, FigureError> {
        let panel = |[topology, workload, machine]: &[&str; 3]| CommonSettings {
            topology: (*topology).to_owned(),
            workload: (*workload).to_owned(),
            machine: (*machine).to_owned(),
            model: "wormhole".to_owned(),
            inputs: String::new(),
        };
        Titles::new(settings.iter().map(panel).collect::<Vec<_>>().iter())
    }

    #[test]
    fn titles_of_panels_have_only_the_parameters_that_differ() {
        let machine = |startup: &str| format!("free:startup_us={startup},byte_us=0.002,ports=all");
        let (slow, fast) = (machine("9"), machine("3"));
        let found = titles(&[["torus:4x4", "uniform", &slow], ["torus:4x4", "uniform", &fast]]);
        assert_eq!(found.panels, ["startup_us=9", "startup_us=3"]);
        assert_eq!(found.common, "torus:4x4, uniform");
        let found = titles(&[["ring:4", "uniform", &slow], ["ring:8", "uniform", &slow]]);
        assert_eq!(found.panels, ["ring:4", "ring:8"]);
        assert_eq!(found.common, "uniform, free with 3 parameters");
        let found = titles(&[["ring:4", "uniform", "own (paragon:startup_us=220)"]]);
        assert_eq!(found.common, "ring:4, uniform, own");
        let found = titles(&[["ring:4", "uniform", "paragon"], ["ring:4", "uniform", "delta"]]);
        assert_eq!(found.panels, ["paragon", "delta"]);
        let found = titles(&[["r", "uniform", "paragon"], ["r", "uniform", "paragon:byte_us=1"]]);
        assert_eq!(found.panels, ["paragon as it is", "byte_us=1"]);
    }

    #[test]
    fn too_many_panels_are_refused_with_the_settings_in_which_they_differ() {
        let differ =
            |settings: [&str; 3]| match checked_titles(&[["r", "u", "m"], settings].repeat(7)) {
                Err(FigureError::ManyPanels { count: 14, differ }) => differ,
                other => panic!("{other:?}"),
            };
        assert_eq!(differ(["r", "u", "n"]), "machines (--machine)");
        assert_eq!(differ(["s", "v", "m"]), "topologies (--topology) and workloads (--workload)");
        assert_eq!(differ(["r", "u", "m"]), "algorithms (--algorithm)");
    }
}
