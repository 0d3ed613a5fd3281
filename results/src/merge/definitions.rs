use crate::case_id::inputs;
use crate::changed_defaults::remark_on_versions;
use crate::record::Record;
use crate::specs::short_machine;
use std::collections::HashMap;

/// The error for two rows that are of different experiments or versions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{first} and {second} are not of one experiment: their {what} is `{a}` and `{b}`{changed}")]
pub struct InconsistentRows {
    first: String,
    second: String,
    what: String,
    a: String,
    b: String,
    /// A remark on the defaults that differ between the versions of the two rows.
    changed: String,
}

#[derive(Default)]
pub(super) struct Definitions {
    /// By kind, the definition of each name, with the location of the first row in which it occurs.
    known: HashMap<&'static str, HashMap<String, (String, String)>>,
}

impl Definitions {
    /// Errors if the row contains a name that an earlier row defines differently.
    pub(super) fn check(
        &mut self,
        row: &Record,
        place: impl Fn() -> String,
    ) -> Result<(), InconsistentRows> {
        let build = format!("{} {}", row.plugin_version, row.plugin_digest);
        let named = [
            ("experiment", "", row.experiment.clone()),
            ("first seed", "", row.seed.wrapping_sub(u64::from(row.repetition)).to_string()),
            ("swapmeet_version", "", row.swapmeet_version.clone()),
            ("plugin", row.algorithm.as_str(), row.plugin.clone()),
            ("build", row.plugin.as_str(), build.trim_end().to_owned()),
            ("machine_definition", row.machine.as_str(), row.machine_definition.clone()),
        ];
        let files = inputs(&row.inputs).map(|(file, digest)| ("file", file, digest.to_owned()));
        for (what, name, meaning) in files.chain(named) {
            let known = self.known.entry(what).or_default();
            match known.get(name) {
                Some((first, there)) if *there != meaning => {
                    let what = if name.is_empty() {
                        what.to_owned()
                    } else {
                        format!("{what} of `{name}`")
                    };
                    let changed = remark_on_versions(there, &meaning);
                    // Only the values that differ from the preset are shown.
                    let [a, b] = match what.starts_with("machine_definition") {
                        true => [there, &meaning].map(|spec| short_machine(spec).into_owned()),
                        false => [there.clone(), meaning],
                    };
                    let (first, second) = (first.clone(), place());
                    return Err(InconsistentRows { first, second, what, a, b, changed });
                }
                Some(_) => {}
                None => {
                    known.insert(name.to_owned(), (place(), meaning));
                }
            }
        }
        Ok(())
    }
}
