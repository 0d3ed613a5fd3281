//! Suggestions for the lists of *Choose*: all names that the command line accepts.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use swapmeet_core::cost::machine::presets;
use swapmeet_core::delivery::collective::{ALL_TO_ALL, COLLECTIVES, PERMUTATION, of_bits};
use swapmeet_core::network::topology::families;
use swapmeet_core::system::{System, systems};
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::plugin::{Algorithm, Param, ParamKind};
use swapmeet_runner::registry::Registry;
use swapmeet_workloads::file::read_regular;
use swapmeet_workloads::{generators, own_syntax};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Suggestion {
    pub(crate) shown: String,
    pub(crate) prefill: String,
    /// Whether `prefill` is a complete spec.
    pub(crate) ready: bool,
    pub(crate) about: String,
    /// Additional text for filters.
    pub(crate) keywords: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExperimentFile {
    pub(crate) name: String,
    pub(crate) about: String,
    /// The content of a bundled file. Other files are read when they are selected.
    text: Option<&'static str>,
}

impl ExperimentFile {
    pub(crate) fn file(path: &str) -> Self {
        let [name, about] = [path, "a file in the working directory"].map(str::to_owned);
        Self { name, about, text: None }
    }

    pub(crate) fn experiment(&self) -> Result<Experiment, String> {
        const LONGEST: u64 = 16 << 20;
        let text = match self.text {
            Some(text) => text.to_owned(),
            None => {
                let text = read_regular(Path::new(&self.name), LONGEST, "an experiment");
                text.map_err(|why| format!("{} {why}", self.name))?
            }
        };
        let experiment = Experiment::parse(&self.name, &text).map_err(|error| error.to_string())?;
        let file = self.text.is_none().then(|| PathBuf::from(&self.name));
        Ok(Experiment { file, ..experiment })
    }
}

pub(crate) fn experiment_files() -> Vec<ExperimentFile> {
    const MOST: usize = 100;
    let entries = std::fs::read_dir(".").into_iter().flatten().filter_map(Result::ok);
    let name = |entry: DirEntry| {
        entry.file_name().into_string().ok().filter(|name| name.ends_with(".toml"))
    };
    let mut names: Vec<String> = entries.filter_map(name).take(MOST).collect();
    names.sort();
    let shipped = swapmeet_workloads::experiments::shipped();
    let shipped = shipped.iter().map(|file| ExperimentFile {
        name: file.name.to_owned(),
        about: file.about(),
        text: Some(file.text),
    });
    names.iter().map(|name| ExperimentFile::file(name)).chain(shipped).collect()
}

pub(crate) fn about(algorithm: &Algorithm) -> String {
    [&algorithm.plugin.name, &algorithm.title, &algorithm.paper].map(String::as_str).join(" ")
}

fn ready(name: &str, about: String) -> Suggestion {
    let [shown, prefill] = [name, name].map(str::to_owned);
    Suggestion { shown, prefill, ready: true, about, ..Suggestion::default() }
}

fn form(name: &str, syntax: &str, about: &str) -> Suggestion {
    let [shown, about] = [syntax, about].map(str::to_owned);
    Suggestion { shown, prefill: format!("{name}:"), about, ..Suggestion::default() }
}

pub(crate) fn suggestions(experiment: &Experiment, registry: &Registry) -> [Vec<Suggestion>; 5] {
    let systems = systems().iter().map(|s| ready(&s.example(), about_system(s)));
    [algorithms(registry), topologies(), workloads(), machines(experiment), systems.collect()]
}

fn algorithms(registry: &Registry) -> Vec<Suggestion> {
    let takes = |p: &Param| match p.default.as_str() {
        "" => format!("{} ({})", p.key, p.help),
        default => format!("{}={default} ({})", p.key, p.help),
    };
    let suggestion = |a: &Algorithm| {
        let takes: Vec<String> = a.params.iter().map(takes).collect();
        let parameters = if takes.is_empty() { "" } else { "; parameters: " };
        let takes = takes.join(", ");
        let words: Vec<&str> = of_bits(a.collectives).map(|kind| kind.word).collect();
        let collectives = words.join(", ");
        let shown = if words.len() > 2 { "several collectives" } else { &collectives };
        let tags = words.iter().map(|word| format!(" <{word}>")).collect::<String>();
        let name = registry.spec_name(&a.name, &a.plugin.name);
        let suggestion = Suggestion {
            keywords: format!("{}{tags}", about(a)),
            ..ready(&name, format!("{shown} · {}; on {}{parameters}{takes}", a.title, a.accepts))
        };
        // An algorithm that reads a file cannot run without the name of the file.
        match a.params.iter().find(|p| p.kind == ParamKind::File) {
            Some(file) => Suggestion {
                shown: format!("{name}:{}=FILE", file.key),
                prefill: format!("{name}:{}=", file.key),
                ready: false,
                ..suggestion
            },
            None => suggestion,
        }
    };
    // The algorithms of the main papers come first. The others are grouped by collective.
    let mut all: Vec<&Arc<Algorithm>> = registry.algorithms().collect();
    all.sort_by_key(|a| {
        let collective = COLLECTIVES.iter().position(|kind| a.collectives & (1 << kind.code) != 0);
        let paper = a.main_paper();
        (paper.unwrap_or(usize::MAX), if paper.is_some() { None } else { collective })
    });
    all.into_iter().map(|a| suggestion(a)).collect()
}

fn topologies() -> Vec<Suggestion> {
    families().iter().map(|f| form(f.name, f.syntax, f.help)).collect()
}

fn workloads() -> Vec<Suggestion> {
    // Permutations have their own generators, and specs of the all-to-all no prefix.
    let prefixes = COLLECTIVES.into_iter().filter(|kind| **kind != ALL_TO_ALL && !kind.permutes());
    let prefixed = prefixes.map(|kind| {
        let name = format!("{}/uniform", kind.word);
        form(&name, &format!("{name}:SIZE{}", own_syntax(kind)), kind.help)
    });
    let word = PERMUTATION.word;
    let permutations = generators(&PERMUTATION)
        .map(|g| form(&format!("{word}/{}", g.name), &format!("{word}/{}", g.syntax), g.help));
    generators(&ALL_TO_ALL)
        .map(|g| form(g.name, g.syntax, g.help))
        .chain(prefixed)
        .chain(permutations)
        .collect()
}

pub(crate) fn own_machine(name: &str) -> Suggestion {
    ready(name, "defined in the experiment".to_owned())
}

fn machines(experiment: &Experiment) -> Vec<Suggestion> {
    let own = experiment.own_machines.iter().map(|m| own_machine(&m.name.value));
    let about = "p changes its parameters in a form";
    own.chain(presets().iter().map(|p| ready(p.name, format!("{}; {about}", p.title)))).collect()
}

fn about_system(system: &System) -> String {
    let System { title, gpus_per_domain, measured, .. } = system;
    format!(
        "{title}; domains x GPUs, at most {gpus_per_domain} GPUs in one; measurements: {measured}"
    )
}
