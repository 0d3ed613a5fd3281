//! What the pickers offer: everything that the command line knows, as it knows it.

use std::fs::DirEntry;
use std::path::Path;
use swapmeet_core::cost::machine::presets;
use swapmeet_core::delivery::collective::{ALL_TO_ALL, COLLECTIVES, PERMUTATION};
use swapmeet_core::network::topology::families;
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::plugin::{Algorithm, Param};
use swapmeet_runner::registry::Registry;
use swapmeet_workloads::file::read_regular;
use swapmeet_workloads::generators;

/// Something that a list offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    /// As the list shows it.
    pub(crate) shown: String,
    /// What typing one begins with.
    pub(crate) prefill: String,
    /// Whether that is a spec already.
    pub(crate) ready: bool,
    pub(crate) about: String,
    /// What else a filter finds it by.
    pub(crate) found_by: String,
}

/// An experiment file that can be picked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Study {
    pub(crate) name: String,
    pub(crate) about: String,
    /// What it says, if the program has it; else it is read when it is picked.
    text: Option<&'static str>,
}

impl Study {
    /// A file by its path.
    pub(crate) fn file(path: &str) -> Self {
        Self { name: path.to_owned(), about: "a file of this folder".to_owned(), text: None }
    }

    pub(crate) fn experiment(&self) -> Result<Experiment, String> {
        /// The specs of more cases than an experiment may have would fit in.
        const LONGEST: u64 = 16 << 20;
        let text = match self.text {
            Some(text) => text.to_owned(),
            None => {
                let text = read_regular(Path::new(&self.name), LONGEST, "an experiment");
                text.map_err(|why| format!("{} {why}", self.name))?
            }
        };
        Experiment::parse(&self.name, &text).map_err(|error| error.to_string())
    }
}

/// The shipped studies, after the experiment files of this folder.
pub(crate) fn studies() -> Vec<Study> {
    /// A folder of more is no place to look through by hand.
    const MOST: usize = 100;
    let entries = std::fs::read_dir(".").into_iter().flatten().filter_map(Result::ok);
    let name = |entry: DirEntry| {
        entry.file_name().into_string().ok().filter(|name| name.ends_with(".toml"))
    };
    let mut names: Vec<String> = entries.filter_map(name).take(MOST).collect();
    names.sort();
    let shipped = swapmeet_workloads::experiments::shipped();
    let shipped = shipped.iter().map(|study| Study {
        name: study.name.to_owned(),
        about: study.about(),
        text: Some(study.text),
    });
    names.iter().map(|name| Study::file(name)).chain(shipped).collect()
}

/// Which plugin an algorithm is from, what it is, and who described it.
pub(crate) fn about(algorithm: &Algorithm) -> String {
    [&algorithm.plugin.name, &algorithm.title, &algorithm.paper].map(String::as_str).join(" ")
}

/// A spec as it is.
fn ready(name: &str, about: String) -> Offer {
    Offer {
        shown: name.to_owned(),
        prefill: name.to_owned(),
        ready: true,
        about,
        found_by: String::new(),
    }
}

/// A spec to be filled in after its name.
fn form(name: &str, syntax: &str, about: &str) -> Offer {
    Offer {
        shown: syntax.to_owned(),
        prefill: format!("{name}:"),
        ready: false,
        about: about.to_owned(),
        found_by: String::new(),
    }
}

/// What the lists of algorithms, topologies, workloads and machines offer.
pub(crate) fn offers(experiment: &Experiment, registry: &Registry) -> [Vec<Offer>; 4] {
    [algorithms(registry), topologies(), workloads(), machines(experiment)]
}

fn algorithms(registry: &Registry) -> Vec<Offer> {
    let takes = |p: &Param| match p.default.as_str() {
        "" => format!("{} ({})", p.key, p.help),
        default => format!("{}={default} ({})", p.key, p.help),
    };
    let offer = |a: &Algorithm| {
        let takes: Vec<String> = a.params.iter().map(takes).collect();
        let takes =
            if takes.is_empty() { String::new() } else { format!("; takes {}", takes.join(", ")) };
        Offer {
            found_by: about(a),
            ..ready(&a.name, format!("{}; on {}{takes}", a.title, a.accepts))
        }
    };
    registry.algorithms().map(|a| offer(a)).collect()
}

fn topologies() -> Vec<Offer> {
    families().iter().map(|f| form(f.name, f.syntax, f.help)).collect()
}

fn workloads() -> Vec<Offer> {
    // A permutation has no sizes but its own, and no word means all-to-all.
    let prefixes = COLLECTIVES.into_iter().filter(|kind| **kind != ALL_TO_ALL && !kind.permutes());
    let prefixed = prefixes.map(|kind| {
        let root = if kind.is_rooted() { ",root=N" } else { "" };
        form(
            &format!("{}/uniform", kind.word),
            &format!("{}/uniform:SIZE{root}", kind.word),
            kind.help,
        )
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

/// A machine of the experiment's own.
pub(crate) fn own_machine(name: &str) -> Offer {
    ready(name, "the experiment's own".to_owned())
}

fn machines(experiment: &Experiment) -> Vec<Offer> {
    let own = experiment.own_machines.iter().map(|m| own_machine(&m.name.value));
    let about = "Enter and a colon change a parameter, as in startup_us=220; Tab names all";
    own.chain(presets().iter().map(|p| ready(p.name, format!("{}; {about}", p.title)))).collect()
}
