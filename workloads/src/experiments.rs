//! The experiment files that are included in the program.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShippedExperiment {
    pub name: &'static str,
    pub text: &'static str,
}

impl ShippedExperiment {
    pub fn about(&self) -> String {
        about(self.text)
    }
}

pub fn about(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
    lines.collect::<Vec<_>>().join(" ")
}

macro_rules! shipped {
    ($($name:literal),+ $(,)?) => {
        &[$(ShippedExperiment { name: $name, text: include_str!(concat!("../experiments/", $name, ".toml")) }),+]
    };
}

/// Returns all experiment files that are included in the program, sorted by name.
pub fn shipped() -> &'static [ShippedExperiment] {
    shipped![
        "li-dual-nets",
        "liu-spikes",
        "quick-start",
        "spencer-multiscatter",
        "spencer-permutations",
        "suh-shin-figure-13",
        "suh-shin-figure-14",
        "suh-shin-figure-15",
        "suh-shin-figure-16",
        "thakur-any-mesh",
        "thakur-power-of-two",
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_file_is_shipped_and_begins_with_a_comment() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<String> =
            files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        names.sort();
        assert_eq!(names, shipped().iter().map(|experiment| experiment.name).collect::<Vec<_>>());
        for experiment in shipped() {
            assert!(!experiment.about().is_empty(), "{} begins with no comment", experiment.name);
        }
    }
}
