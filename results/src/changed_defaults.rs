//! Defaults that differ between versions of this program, and the meaning of rows of older
//! versions.
//!
//! When a row of an older version is read, [`explicit`] adds values to its specs, as in
//! `direct-dispatch:window=1`. It adds each value that the spec does not state, and for which this
//! version has another default. So rows of two versions are of equal cases only if they were
//! computed with equal values, and `rerun` can repeat a row of any version.

use crate::record::Record;
use crate::specs::argument;
use std::fmt;
use swapmeet_core::cost::machine::Machine;

#[derive(Debug)]
pub struct ChangedDefault {
    pub version: &'static str,
    pub parameter: &'static str,
    pub of: Of,
    /// The default before the change, as it is written in a spec.
    pub was: &'static str,
    /// The default since the change, in words.
    pub now: &'static str,
}

#[derive(Debug)]
pub enum Of {
    Algorithms(&'static [&'static str]),
    Presets(&'static [&'static str]),
}

/// The changed defaults. CHANGELOG.md lists them under "Changed results".
pub static CHANGED_DEFAULTS: &[ChangedDefault] = &[
    ChangedDefault {
        version: "0.3.0",
        parameter: "rearrangement",
        of: Of::Presets(&["paragon", "delta"]),
        was: "declared",
        now: "packed",
    },
    ChangedDefault {
        version: "0.3.0",
        parameter: "startup_us",
        of: Of::Presets(&["dgx-h100"]),
        was: "0.47",
        now: "1.6",
    },
    ChangedDefault {
        version: "0.3.0",
        parameter: "startup_us",
        of: Of::Presets(&["dgx-b200", "efa-p5", "efa-p5en"]),
        was: "0.6",
        now: "1.6",
    },
    ChangedDefault {
        version: "0.3.0",
        parameter: "launch_us",
        of: Of::Presets(&["dgx-h100", "dgx-b200", "efa-p5", "efa-p5en"]),
        was: "0",
        now: "9",
    },
    ChangedDefault {
        version: "0.3.0",
        parameter: "hop_us",
        of: Of::Presets(&["dgx-h100"]),
        was: "1.115",
        now: "1.36",
    },
    ChangedDefault {
        version: "0.3.0",
        parameter: "hop_us",
        of: Of::Presets(&["dgx-b200"]),
        was: "1.05",
        now: "1.36",
    },
    ChangedDefault {
        version: "0.3.0",
        parameter: "hop_us",
        of: Of::Presets(&["efa-p5"]),
        was: "9.7",
        now: "10",
    },
    ChangedDefault {
        version: "0.3.0",
        parameter: "hop_us",
        of: Of::Presets(&["efa-p5en"]),
        was: "8.7",
        now: "10",
    },
    ChangedDefault {
        version: "0.3.0",
        parameter: "window",
        of: Of::Algorithms(&["direct-dispatch", "direct-combine"]),
        was: "1",
        now: "all messages",
    },
    ChangedDefault {
        version: "0.3.0",
        parameter: "form",
        of: Of::Algorithms(&["flow"]),
        was: "steps",
        now: "routes, except with the models circuit and store-and-forward",
    },
    ChangedDefault {
        version: "0.3.0",
        parameter: "variant",
        of: Of::Algorithms(&["bucket-allreduce"]),
        was: "one-port",
        now: "all-ports if the machine has a port for each direction",
    },
    ChangedDefault {
        version: "0.3.0",
        parameter: "variant",
        of: Of::Algorithms(&["swing-allreduce"]),
        was: "bandwidth",
        now: "all-ports if the machine has a port for each direction",
    },
];

impl fmt::Display for ChangedDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Of::Algorithms(names) | Of::Presets(names)) = self.of;
        let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let Self { version, parameter, was, now, .. } = self;
        write!(f, "`{parameter}` of {names}: {was} before {version}, now {now}")
    }
}

/// Returns the numbers of a version, or `None` if the text is no version of this program.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let numbers: Result<Vec<u64>, _> = version.split('.').map(str::parse).collect();
    numbers.ok()?.try_into().ok()
}

pub fn changed_between(a: &str, b: &str) -> Vec<&'static ChangedDefault> {
    let (Some(a), Some(b)) = (numbers(a), numbers(b)) else { return Vec::new() };
    let (older, newer) = (a.min(b), a.max(b));
    let is_between = |change: &&ChangedDefault| {
        numbers(change.version).is_some_and(|version| older < version && version <= newer)
    };
    CHANGED_DEFAULTS.iter().filter(is_between).collect()
}

/// Returns a remark on defaults that differ between versions, or an empty text.
pub fn remark_on_versions(a: &str, b: &str) -> String {
    let changes: Vec<String> = changed_between(a, b).iter().map(ToString::to_string).collect();
    if changes.is_empty() {
        String::new()
    } else {
        format!(" (defaults changed: {})", changes.join("; "))
    }
}

const THIS: &str = env!("CARGO_PKG_VERSION");

impl Record {
    pub fn earlier_defaults(&self) -> Vec<&'static ChangedDefault> {
        let mut changes = changed_between(&self.swapmeet_version, THIS);
        changes.retain(|change| match change.of {
            Of::Algorithms(_) => {
                change.is_of(&self.algorithm)
                    && argument(&self.algorithm, change.parameter) == Some(change.was)
            }
            Of::Presets(_) => {
                change.is_of(&self.machine_definition)
                    && argument(&self.machine_definition, change.parameter) == Some(change.was)
            }
        });
        changes
    }
}

impl ChangedDefault {
    fn is_of(&self, spec: &str) -> bool {
        let (Of::Algorithms(names) | Of::Presets(names)) = self.of;
        let name = spec.split(':').next().unwrap_or_default();
        names.contains(&name.rsplit('/').next().unwrap_or_default())
    }
}

/// Adds earlier defaults to the specs of a row of an earlier version. A row stays unchanged if its
/// version is unknown, or if it is a measurement, whose machine cannot be parsed.
pub(crate) fn explicit(record: &mut Record) {
    if record.swapmeet_version == THIS
        || numbers(&record.swapmeet_version).is_none_or(|version| Some(version) > numbers(THIS))
    {
        return;
    }
    let spec = match record.machine_definition.is_empty() {
        true => &record.machine,
        false => &record.machine_definition,
    };
    let Ok(mut machine) = Machine::parse(spec) else { return };
    let changes = changed_between(&record.swapmeet_version, THIS);
    for change in changes.iter().filter(|change| matches!(change.of, Of::Presets(_))) {
        // If `with` fails, the machine's model does not have this parameter, so nothing is added.
        if argument(spec, change.parameter).is_none()
            && change.is_of(spec)
            && let Ok(with_value) = machine.with(&[(change.parameter, change.was)])
        {
            machine = with_value;
        }
    }
    record.machine_definition = machine.full_spec();
    for change in &changes {
        let is_open = change.is_of(&record.algorithm)
            && argument(&record.algorithm, change.parameter).is_none();
        // On networks with switches, `flow` already had its present form: one step with routes.
        let had_routes = change.parameter == "form" && record.steps.is_none_or(|steps| steps < 2);
        if matches!(change.of, Of::Algorithms(_)) && is_open && !had_routes {
            let setting = format!("{}={}", change.parameter, change.was);
            record.algorithm = match record.algorithm.split_once(':') {
                Some((name, settings)) => format!("{name}:{setting},{settings}"),
                None => format!("{}:{setting}", record.algorithm),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_of(version: &str, algorithm: &str, machine: &str) -> Record {
        let mut row = Record {
            swapmeet_version: version.to_owned(),
            algorithm: algorithm.to_owned(),
            machine: machine.to_owned(),
            steps: Some(7),
            ..Record::default()
        };
        explicit(&mut row);
        row
    }

    #[test]
    fn rows_of_an_earlier_version_keep_their_meaning() {
        let algorithm = |given: &str| row_of("0.2.0", given, "free").algorithm;
        assert_eq!(algorithm("direct-dispatch"), "direct-dispatch:window=1");
        assert_eq!(algorithm("experts/direct-combine"), "experts/direct-combine:window=1");
        assert_eq!(algorithm("direct-dispatch:window=9"), "direct-dispatch:window=9");
        assert_eq!(algorithm("flow:segments=4"), "flow:form=steps,segments=4");
        assert_eq!(algorithm("bruck"), "bruck");
        let machine =
            |given: &str| row_of("0.2.0", "bruck", given).case().setting.machine_in_full();
        assert_eq!(machine("paragon"), "paragon (paragon:rearrangement=declared)");
        assert_eq!(
            machine("paragon:rearrangement=packed"),
            "paragon:rearrangement=packed (paragon)"
        );
        assert_eq!(machine("fugaku"), "fugaku");
        assert_eq!(machine("paragon:model=flat"), "paragon:model=flat", "it has no such parameter");
        assert_eq!(machine("measured:here"), "measured:here");
        // In version 0.2.0, these presets of servers had these values.
        for (preset, startup, hop) in [
            ("dgx-h100", 0.47, 1.115),
            ("dgx-b200", 0.6, 1.05),
            ("efa-p5", 0.6, 9.7),
            ("efa-p5en", 0.6, 8.7),
        ] {
            let row = row_of("0.2.0", "bruck", preset);
            let machine = Machine::parse(&row.machine_definition).unwrap();
            let value = |name: &str| machine.number(name).unwrap_or(0.0);
            assert_eq!(
                ["startup_us", "launch_us", "hop_us"].map(value),
                [startup, 0.0, hop],
                "{preset}"
            );
        }
        let own = Record {
            machine_definition: "paragon:startup_us=220".to_owned(),
            ..row_of("", "bruck", "own")
        };
        let mut own = Record { swapmeet_version: "0.1.0".to_owned(), ..own };
        explicit(&mut own);
        assert_eq!(
            own.case().setting.short_machine(),
            "paragon:startup_us=220,rearrangement=declared"
        );
    }

    #[test]
    fn rows_of_this_version_are_unchanged() {
        let row = row_of(THIS, "direct-dispatch", "paragon");
        assert_eq!((&*row.algorithm, &*row.machine_definition), ("direct-dispatch", ""));
        assert_eq!(row.earlier_defaults().len(), 0);
    }

    #[test]
    fn earlier_defaults_are_named() {
        let names = |row: Record| {
            row.earlier_defaults().iter().map(|change| change.parameter).collect::<Vec<_>>()
        };
        assert_eq!(
            names(row_of("0.2.0", "direct-dispatch", "paragon")),
            ["rearrangement", "window"]
        );
        assert_eq!(names(row_of("0.2.0", "bruck", "fugaku")), [""; 0]);
        let servers = names(row_of("0.2.0", "bruck", "dgx-b200"));
        assert_eq!(servers, ["startup_us", "launch_us", "hop_us"]);
        assert_eq!(
            names(row_of("0.2.0", "bruck", "dgx-b200:hop_us=2")),
            ["startup_us", "launch_us"]
        );
        let window = CHANGED_DEFAULTS.iter().find(|change| change.parameter == "window").unwrap();
        assert_eq!(
            window.to_string(),
            "`window` of `direct-dispatch`, `direct-combine`: 1 before 0.3.0, now all messages"
        );
    }

    #[test]
    fn the_changelog_lists_all_changed_defaults() {
        let changelog = include_str!("../../CHANGELOG.md");
        for change in CHANGED_DEFAULTS {
            let release = changelog.split(&format!("## [{}]", change.version)).nth(1);
            let release = release.and_then(|text| text.split("\n## [").next()).unwrap_or_default();
            let (Of::Algorithms(names) | Of::Presets(names)) = change.of;
            let is_listed = |line: &&str| {
                line.contains("Changed results")
                    && line.contains(&format!("`{}`", change.parameter))
                    && names.iter().all(|name| line.contains(&format!("`{name}`")))
            };
            assert!(release.lines().any(|line| is_listed(&line)), "{change}");
        }
    }
}
