//! Checks of a plugin's tables. They are in addition to those that the loader makes.

use crate::report::Finding;
use crate::request::{About, AlgorithmAbout};
use std::collections::BTreeSet;
use swapmeet_abi::{SWM_ABI_MAJOR, SWM_ABI_MINOR};
use swapmeet_core::delivery::collective::COLLECTIVES;
use swapmeet_runner::plugin::Param;

pub(super) fn findings(about: &About) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut fault_at = |what: String| found.push(fault("", what));
    if !is_name(&about.name) {
        fault_at(format!(
            "the plugin's name is `{}`, expected lower-case letters, digits and hyphens: rows contain it",
            about.name
        ));
    }
    if !is_version(&about.version) {
        fault_at(format!(
            "the version is `{}`, expected one such as 0.1.0: rows contain it",
            about.version
        ));
    }
    let mut remarks = Vec::new();
    if about.licence.trim().is_empty() {
        remarks.push("no licence: others cannot know whether they may use it".to_owned());
    }
    if about.abi.1 > SWM_ABI_MINOR {
        remarks.push(format!(
            "built for plugin ABI {}.{}, newer than this program's {SWM_ABI_MAJOR}.{SWM_ABI_MINOR}: its new functions were not tested",
            about.abi.0, about.abi.1
        ));
    }
    found.extend(remarks.into_iter().map(|what| remark("", what)));
    found.extend(about.algorithms.iter().flat_map(algorithm));
    found
}

fn algorithm(about: &AlgorithmAbout) -> Vec<Finding> {
    let mut found = Vec::new();
    // If a text is missing, this is only a remark, because it affects only the appearance of lists.
    for (text, what) in [(&about.title, "title"), (&about.accepts, "word on what it accepts")] {
        if text.trim().is_empty() {
            found.push(remark(
                &about.name,
                format!("no {what}: `swapmeet list algorithms` has nothing to show"),
            ));
        }
    }
    // A plugin for a later version of the ABI may support collectives that are unknown here.
    if about.collectives >> COLLECTIVES.len() != 0 {
        found.push(remark(
            &about.name,
            "claims a collective that this program does not know".to_owned(),
        ));
    }
    // Users write the keys of parameters in specs, so the keys must fit the syntax of specs.
    let mut keys = BTreeSet::new();
    for Param { key, help, .. } in &about.params {
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        if key.is_empty() || !key.chars().all(fine) {
            let what = format!(
                "parameter `{key}`: expected lower-case letters, digits, `_` and `-`, as users type it"
            );
            found.push(fault(&about.name, what));
        }
        if !keys.insert(key) {
            found.push(fault(&about.name, format!("parameter `{key}` is declared twice")));
        }
        if help.trim().is_empty() {
            found.push(remark(&about.name, format!("parameter `{key}` has no help")));
        }
    }
    found
}

fn fault(algorithm: &str, what: String) -> Finding {
    Finding::fault("tables", algorithm, what)
}

fn remark(algorithm: &str, what: String) -> Finding {
    Finding::remark("tables", algorithm, what)
}

fn is_name(name: &str) -> bool {
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.chars().all(fine)
}

/// Returns whether a text is a semantic version: three numbers, maybe a suffix after `-` or `+`.
fn is_version(version: &str) -> bool {
    let (numbers, rest) = version.split_at(version.find(['-', '+']).unwrap_or(version.len()));
    let number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
    numbers.split('.').count() == 3 && numbers.split('.').all(number) && rest.chars().all(fine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_runner::plugin::ParamKind;

    fn about() -> About {
        let slices = Param {
            key: "slices".to_owned(),
            kind: ParamKind::Number,
            default: "1".to_owned(),
            help: "how many".to_owned(),
        };
        let algorithm = AlgorithmAbout {
            name: "a".to_owned(),
            title: "A".to_owned(),
            paper: String::new(),
            accepts: "anything".to_owned(),
            collectives: 1,
            ports: 1,
            params: vec![slices],
        };
        About {
            name: "plug".to_owned(),
            version: "1.2.3-rc.1".to_owned(),
            licence: "MIT".to_owned(),
            abi: (1, 0),
            algorithms: vec![algorithm],
        }
    }

    fn wrong(spoil: impl Fn(&mut About)) -> Vec<String> {
        let mut about = about();
        spoil(&mut about);
        findings(&about).into_iter().map(|f| f.what).collect()
    }

    #[test]
    fn valid_tables_give_no_findings() {
        assert_eq!(wrong(|_| ()), [""; 0]);
    }

    #[test]
    fn every_text_that_users_meet_is_looked_at() {
        assert_eq!(
            wrong(|a| a.version = "one".to_owned()),
            ["the version is `one`, expected one such as 0.1.0: rows contain it"]
        );
        assert_eq!(
            wrong(|a| a.licence.clear()),
            ["no licence: others cannot know whether they may use it"]
        );
        let twice = |a: &mut About| {
            let param = a.algorithms[0].params[0].clone();
            a.algorithms[0].params.push(param);
        };
        assert_eq!(wrong(twice), ["parameter `slices` is declared twice"]);
        assert_eq!(
            wrong(|a| a.algorithms[0].params[0].key = "Slices".to_owned()),
            [
                "parameter `Slices`: expected lower-case letters, digits, `_` and `-`, as users type it"
            ]
        );
    }
}
