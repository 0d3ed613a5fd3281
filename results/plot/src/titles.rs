use crate::error::{FigureError, check_panels};
use swapmeet_results::analysis::CommonSettings;
use swapmeet_results::{defined_name, without_common_parts};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Titles {
    pub common: String,
    pub panels: Vec<String>,
}

impl Titles {
    /// Errors if there are more panels than a figure can have.
    pub(crate) fn new<'a>(
        panels: impl Iterator<Item = &'a CommonSettings>,
    ) -> Result<Self, FigureError> {
        let panels: Vec<&CommonSettings> = panels.collect();
        let column = |text: fn(&CommonSettings) -> &str| -> Vec<&str> {
            panels.iter().map(|panel| text(panel)).collect()
        };
        let inputs = named_inputs(&column(|p| &p.inputs));
        let columns: [(Vec<&str>, &str); 6] = [
            (column(|p| &p.topology), "topologies (--topology)"),
            (column(|p| &p.workload), "workloads (--workload)"),
            (column(|p| &p.machine), "machines (--machine)"),
            (column(|p| &p.model), "models"),
            (inputs.iter().map(String::as_str).collect(), "inputs"),
            (column(|p| &p.together), "jobs at the same time (--beside)"),
        ];
        let same = |texts: &[&str]| texts.windows(2).all(|pair| pair[0] == pair[1]);
        // A machine usually determines its model, which is shown if only models differ.
        let shows_model = same(&columns[2].0) && !same(&columns[3].0);
        let shown = || columns.iter().enumerate().filter(|(number, _)| *number != 3 || shows_model);
        let differ: Vec<&str> =
            shown().filter(|(_, (texts, _))| !same(texts)).map(|(_, (_, words))| *words).collect();
        // If panels have the same settings, they differ in the algorithm.
        let differ = if differ.is_empty() {
            "algorithms (--algorithm)".to_owned()
        } else {
            differ.join(" and ")
        };
        check_panels(panels.len(), &differ)?;
        let mut common = Vec::new();
        let mut titles = vec![Vec::new(); panels.len()];
        for (number, (texts, _)) in shown() {
            let (shared, own) = without_common_parts(texts);
            common.push(if number == 2 { defined_name(&shared).to_owned() } else { shared });
            for (title, text) in titles.iter_mut().zip(own) {
                title.push(text);
            }
        }
        let join = |parts: Vec<String>| {
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
        };
        Ok(Self { common: join(common), panels: titles.into_iter().map(join).collect() })
    }
}

/// Returns the names of the input files of each panel, without digests. The specs also name the
/// files. So if no file has different contents in different panels, the texts are empty. Otherwise,
/// the different contents are numbered.
fn named_inputs(inputs: &[&str]) -> Vec<String> {
    let files = |inputs: &str| {
        let files = inputs.split(',').filter_map(|entry| entry.rsplit_once('='));
        files.map(|(file, _)| file.to_owned()).collect::<Vec<_>>().join(", ")
    };
    let named = inputs.iter().enumerate().map(|(at, own)| {
        let mut versions: Vec<&str> = Vec::new();
        for other in inputs.iter().filter(|other| files(other) == files(own)) {
            if !versions.contains(other) {
                versions.push(other);
            }
        }
        let version = versions.iter().position(|other| *other == inputs[at]).unwrap_or(0);
        if versions.len() > 1 {
            format!("{}, version {}", files(own), version + 1)
        } else {
            String::new()
        }
    });
    named.collect()
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
            together: String::new(),
        };
        Titles::new(settings.iter().map(panel).collect::<Vec<_>>().iter())
    }

    #[test]
    fn titles_of_panels_have_only_the_parameters_that_differ() {
        let machine = |startup: &str| format!("free:startup_us={startup},byte_us=0.002,ports=all");
        let (slow, fast) = (machine("9"), machine("3"));
        let found = titles(&[["torus:4x4", "uniform", &slow], ["torus:4x4", "uniform", &fast]]);
        assert_eq!(found.panels, ["startup_us=9", "startup_us=3"]);
        assert_eq!(found.common, "torus:4x4, uniform, free:byte_us=0.002,ports=all");
        let found = titles(&[["ring:4", "uniform", &slow], ["ring:8", "uniform", &slow]]);
        assert_eq!(found.panels, ["ring:4", "ring:8"]);
        assert_eq!(found.common, "uniform, free:startup_us=9,byte_us=0.002,ports=all");
        let found = titles(&[["ring:4", "uniform", "own (paragon:startup_us=220)"]]);
        assert_eq!(found.common, "ring:4, uniform, own");
        let found = titles(&[["ring:4", "uniform", "paragon"], ["ring:4", "uniform", "delta"]]);
        assert_eq!(found.panels, ["paragon", "delta"]);
        let found = titles(&[["r", "uniform", "paragon"], ["r", "uniform", "paragon:byte_us=1"]]);
        assert_eq!(found.panels, ["byte_us=0.011", "byte_us=1"]);
    }

    #[test]
    fn input_files_are_named_without_digests() {
        let one = ["net.txt=sha256:ae5e", "net.txt=sha256:ae5e"];
        assert_eq!(named_inputs(&one), ["", ""]);
        let two = ["net.txt=sha256:ae5e", "net.txt=sha256:01", "net.txt=sha256:ae5e"];
        assert_eq!(
            named_inputs(&two),
            ["net.txt, version 1", "net.txt, version 2", "net.txt, version 1"]
        );
        assert_eq!(named_inputs(&["a.txt=sha256:1", "b.txt=sha256:2", ""]), ["", "", ""]);
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
