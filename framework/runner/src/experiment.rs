//! Experiments. The keys of an experiment file are the fields of [`Experiment`]. Each row of
//! [`SETTINGS`] makes one of the values a flag of `run` and a setting of the dashboard.

use crate::input::{InputError, Text};
use crate::toml_reader::{self, place, text, texts, texts_not_table};
use serde::de::{self, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::path::PathBuf;
use swapmeet_core::simulation::ProofScope;
use swapmeet_core::text::escaped;
use swapmeet_results::{quoted, units};
use toml::Spanned;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experiment {
    #[serde(deserialize_with = "escaped_text")]
    pub name: String,
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub topologies: Vec<Text>,
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub algorithms: Vec<Text>,
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<Text>,
    #[serde(deserialize_with = "machines", skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<Text>,
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub systems: Vec<Text>,
    pub baseline: Option<Text>,
    /// Number of repetitions of each case. Repetition r (counted from 0) uses the seed `seed + r`.
    #[serde(deserialize_with = "one_or_more")]
    pub repetitions: u32,
    pub seed: u64,
    #[serde(deserialize_with = "time_limit")]
    pub timeout_secs: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub optimum: bool,
    #[serde(rename = "machine", with = "own_machines", skip_serializing_if = "Vec::is_empty")]
    pub own_machines: Vec<OwnMachine>,
    /// If there are any of these tables, only their combinations are run.
    #[serde(
        rename = "case",
        deserialize_with = "case_tables",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub case_tables: Vec<CaseTable>,
    #[serde(deserialize_with = "case_tables", skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<CaseTable>,
    /// Jobs that run at the same time.
    #[serde(deserialize_with = "together_tables", skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<TogetherTable>,
    /// The jobs of the flag `--beside`. Files use `together` instead.
    #[serde(skip)]
    pub beside: Vec<Text>,
    /// The set of nodes on which delivery is verified. Results do not depend on it.
    #[serde(skip)]
    pub proof_scope: ProofScope,
    /// The file that contains this experiment unchanged, if there is one.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// A `[[case]]` or `exclude` table. If one of its lists is empty, the experiment's list is used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct CaseTable {
    #[serde(skip)]
    pub place: Text,
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub topologies: Vec<Text>,
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub algorithms: Vec<Text>,
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<Text>,
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<Text>,
}

/// A `[[together]]` table: jobs that run at the same time. There is a run for each combination of a
/// topology, a machine, and an algorithm for each job. It gives one row for each job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct TogetherTable {
    #[serde(skip)]
    pub place: Text,
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub topologies: Vec<Text>,
    #[serde(deserialize_with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<Text>,
    pub jobs: Vec<JobTable>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct JobTable {
    pub workload: Text,
    #[serde(deserialize_with = "texts")]
    pub algorithms: Vec<Text>,
    /// The time in µs at which the ranks of the job enter its schedule.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start_us: f64,
}

fn is_zero(us: &f64) -> bool {
    *us == 0.0
}

#[derive(Debug, Clone, PartialEq)]
pub struct OwnMachine {
    pub name: Text,
    pub base: Option<Text>,
    pub parameters: Vec<(Text, Text)>,
}

impl Default for Experiment {
    fn default() -> Self {
        Self {
            name: "adhoc".to_owned(),
            topologies: Vec::new(),
            algorithms: Vec::new(),
            workloads: Vec::new(),
            machines: Vec::new(),
            systems: Vec::new(),
            baseline: None,
            repetitions: 1,
            seed: 42,
            timeout_secs: None,
            optimum: false,
            own_machines: Vec::new(),
            case_tables: Vec::new(),
            exclude: Vec::new(),
            together: Vec::new(),
            beside: Vec::new(),
            proof_scope: ProofScope::Auto,
            file: None,
        }
    }
}

/// A value of an experiment that can be set by a flag of `run` or in the dashboard.
#[derive(Debug)]
pub struct Setting {
    pub key: &'static str,
    pub flag: Option<(&'static str, Option<&'static str>)>,
    pub about: &'static str,
    /// Returns the value as text. The text is empty if the value is not set.
    pub get: fn(&Experiment) -> String,
    /// Sets the value from a text. The error is a description of a valid text.
    pub set: fn(&mut Experiment, &str) -> Result<(), String>,
}

pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "repetitions",
        flag: Some(("repetitions", Some("N"))),
        about: "Run each case N times, each time with the next seed [default: 1]",
        get: |experiment| experiment.repetitions.to_string(),
        set: |experiment, text| {
            let given = text.parse().ok().filter(|n| *n >= 1);
            experiment.repetitions =
                given.ok_or_else(|| format!("a whole number from 1 to {}", u32::MAX))?;
            Ok(())
        },
    },
    Setting {
        key: "seed",
        flag: Some(("seed", Some("SEED"))),
        about: "Set the seed of the first repetition; repetition r, counted from 0, uses SEED + r \
                [default: 42]",
        get: |experiment| experiment.seed.to_string(),
        set: |experiment, text| {
            experiment.seed =
                text.parse().map_err(|_| format!("a whole number from 0 to {}", u64::MAX))?;
            Ok(())
        },
    },
    Setting {
        key: "timeout_secs",
        flag: Some(("timeout", Some("SECS"))),
        about: "Stop a case after SECS seconds [default: 600]",
        get: |experiment| experiment.timeout_secs.map(|s| s.to_string()).unwrap_or_default(),
        set: |experiment, text| {
            experiment.timeout_secs =
                if text.is_empty() { None } else { Some(seconds(text).map_err(str::to_owned)?) };
            Ok(())
        },
    },
    Setting {
        key: "optimum",
        flag: Some(("optimum", None)),
        about: "Also find the least time of any schedule, once for each network and workload, and \
                fill the columns optimum_us and optimum_gap (see docs/optimum.md)",
        get: |experiment| if experiment.optimum { "true".to_owned() } else { String::new() },
        set: |experiment, text| {
            let given = if text.is_empty() { "false" } else { text };
            experiment.optimum = given.parse().map_err(|_| "true or false".to_owned())?;
            Ok(())
        },
    },
    Setting {
        key: "name",
        flag: None,
        about: "Set the name of the experiment in the rows",
        get: |experiment| experiment.name.clone(),
        set: |experiment, text| {
            if text.is_empty() {
                return Err("a name".to_owned());
            }
            text.clone_into(&mut experiment.name);
            Ok(())
        },
    },
    Setting {
        key: "case",
        flag: None,
        about: "Run only the combinations within each [[case]] table of the file; empty: run all \
                combinations of the lists",
        get: |experiment| number_of_tables(&experiment.case_tables),
        set: |experiment, text| remove_tables(&mut experiment.case_tables, text),
    },
    Setting {
        key: "exclude",
        flag: None,
        about: "Do not run the combinations within the `exclude` tables of the file; empty: \
                exclude nothing",
        get: |experiment| number_of_tables(&experiment.exclude),
        set: |experiment, text| remove_tables(&mut experiment.exclude, text),
    },
    Setting {
        key: "together",
        flag: None,
        about: "Also run the jobs of each [[together]] table of the file at the same time; empty: \
                run only the combinations of the lists",
        get: |experiment| number_of_tables(&experiment.together),
        set: |experiment, text| remove_tables(&mut experiment.together, text),
    },
];

fn number_of_tables<T>(tables: &[T]) -> String {
    if tables.is_empty() { String::new() } else { units::count(tables.len(), "table") }
}

fn remove_tables<T>(tables: &mut Vec<T>, text: &str) -> Result<(), String> {
    if !text.is_empty() && text != number_of_tables(tables) {
        return Err("no text: the tables can only be removed".to_owned());
    }
    if text.is_empty() {
        tables.clear();
    }
    Ok(())
}

/// The default machine is a current machine whose parameters were fitted to some public
/// measurements and tested with others.
pub const DEFAULT_MACHINE: &str = "fugaku";

pub const DEFAULT_TIMEOUT_SECS: f64 = 600.0;

const SECONDS: &str = "a number of seconds above 0, at most 1000000000";

pub fn seconds(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|seconds| is_time_limit(*seconds)).ok_or(SECONDS)
}

/// Returns whether a time limit is valid. The maximum, about 30 years, is small enough to be added
/// to the current time.
fn is_time_limit(seconds: f64) -> bool {
    seconds > 0.0 && seconds <= 1e9
}

impl Experiment {
    pub fn parse(source: &str, content: &str) -> Result<Self, InputError> {
        let experiment: Self = toml_reader::read(source, content)?;
        let mut tables = experiment.case_tables.iter().chain(&experiment.exclude);
        // Only an `exclude` table can be empty here, because the reader of files refuses empty
        // `[[case]]` tables.
        if let Some(table) = tables.find(|table| table.lists().iter().all(|list| list.is_empty())) {
            let error = table.place.error("the table is empty");
            return Err(error.help("expected some of topologies, algorithms, workloads, machines"));
        }
        if let Some(table) = experiment.together.iter().find(|table| table.jobs.len() < 2) {
            let error = table.place.error("the table has less than two jobs");
            return Err(error.help("for example `jobs = [{ workload = \"uniform:1KiB\", algorithms = [\"linear\"] }, ..]`"));
        }
        Ok(experiment)
    }

    pub fn to_toml(&self) -> String {
        let written = |text: Result<String, toml::ser::Error>| {
            text.unwrap_or_else(|e| unreachable!("every experiment can be written: {e}"))
        };
        let text = written(toml::to_string(self));
        // Long lists are written with one line for each entry.
        let is_short = text.lines().all(|line| line.len() <= 100);
        if is_short { text } else { written(toml::to_string_pretty(self)) }
    }

    /// Returns the flags of `run` for all settings that differ from those of `base`, quoted for a
    /// shell.
    pub fn flags(&self, base: &Self) -> Vec<String> {
        let flag = |setting: &Setting| {
            let ((name, value), text) = (setting.flag?, (setting.get)(self));
            let is_set = !text.is_empty() && text != (setting.get)(base);
            is_set.then(|| match value {
                Some(_) => format!("--{name} {}", quoted(&text)),
                None => format!("--{name}"),
            })
        };
        SETTINGS.iter().filter_map(flag).collect()
    }

    /// Returns whether tables or systems select the cases. If not, the cases are all combinations
    /// of the lists.
    pub fn has_case_tables(&self) -> bool {
        !self.systems.is_empty()
            || !self.case_tables.is_empty()
            || !self.exclude.is_empty()
            || self.has_jobs_together()
    }

    pub fn has_jobs_together(&self) -> bool {
        !self.together.is_empty() || !self.beside.is_empty()
    }

    pub fn has_only_together_tables(&self) -> bool {
        !self.together.is_empty() && self.algorithms.is_empty() && self.case_tables.is_empty()
    }

    /// Returns the experiment with a `[[case]]` table in place of each system. `expand` returns the
    /// topology and the machine of a system. If there were no `[[case]]` tables before but
    /// topologies are listed, a further table selects all combinations of the lists.
    pub fn with_systems_as_tables<E>(
        &self,
        expand: impl Fn(&Text) -> Result<[Text; 2], E>,
    ) -> Result<Self, E> {
        let mut experiment = self.clone();
        let systems = std::mem::take(&mut experiment.systems);
        if !systems.is_empty() && self.case_tables.is_empty() && !self.topologies.is_empty() {
            experiment.case_tables.push(CaseTable::default());
        }
        for system in &systems {
            let [topology, machine] = expand(system)?;
            experiment.case_tables.push(CaseTable {
                place: system.clone(),
                topologies: vec![topology],
                machines: vec![machine],
                ..CaseTable::default()
            });
        }
        Ok(experiment)
    }

    /// Returns whether there are `[[case]]` tables or systems, and all of them have entries of this
    /// kind.
    pub fn is_named_by_tables(&self, list: fn(&CaseTable) -> &Vec<Text>) -> bool {
        let names = |system: &Text| Ok::<_, Infallible>([system.clone(), system.clone()]);
        let Ok(Self { case_tables, .. }) = self.with_systems_as_tables(names);
        !case_tables.is_empty() && case_tables.iter().all(|table| !list(table).is_empty())
    }

    pub fn check_seeds(&self) -> Result<(), InputError> {
        if self.seed.checked_add(u64::from(self.repetitions.saturating_sub(1))).is_some() {
            return Ok(());
        }
        let message =
            format!("{} repetitions exceed the largest seed, {}", self.repetitions, u64::MAX);
        let error = Text::flag("seed", &self.seed.to_string()).error(message);
        Err(error.help("repetition r uses the seed plus r"))
    }
}

impl CaseTable {
    fn lists(&self) -> [&[Text]; 4] {
        [&self.topologies, &self.algorithms, &self.workloads, &self.machines]
    }
}

fn escaped_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Text::deserialize(deserializer)?.value)
}

fn machines<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Text>, D::Error> {
    let hint = "`machines` is the list of machines to run on; \
                a machine of the experiment's own is `[machine.NAME]`";
    texts_not_table(deserializer, Some(hint))
}

fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    NonZeroU32::deserialize(deserializer).map(NonZeroU32::get)
}

fn time_limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    if is_time_limit(seconds) {
        Ok(Some(seconds))
    } else {
        Err(de::Error::invalid_value(Unexpected::Float(seconds), &SECONDS))
    }
}

fn case_tables<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<CaseTable>, D::Error> {
    let tables = Vec::<Spanned<CaseTable>>::deserialize(deserializer)?;
    let with_place = |table: Spanned<CaseTable>| {
        let place = Text { value: String::new(), place: place(table.span()) };
        CaseTable { place, ..table.into_inner() }
    };
    Ok(tables.into_iter().map(with_place).collect())
}

fn together_tables<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<TogetherTable>, D::Error> {
    let tables = Vec::<Spanned<TogetherTable>>::deserialize(deserializer)?;
    let with_place = |table: Spanned<TogetherTable>| {
        let place = Text { value: String::new(), place: place(table.span()) };
        TogetherTable { place, ..table.into_inner() }
    };
    Ok(tables.into_iter().map(with_place).collect())
}

mod own_machines {
    use super::*;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<OwnMachine>, D::Error> {
        type Table<T> = BTreeMap<Spanned<String>, T>;
        let machine = |(name, entries): (Spanned<String>, Table<Parameter>)| {
            let mut machine = OwnMachine { name: text(&name), base: None, parameters: Vec::new() };
            for (key, Parameter(value)) in entries {
                match key.get_ref().as_str() {
                    "base" => machine.base = Some(value),
                    _ => machine.parameters.push((text(&key), value)),
                }
            }
            machine
        };
        Ok(Table::<Table<Parameter>>::deserialize(deserializer)?.into_iter().map(machine).collect())
    }

    pub(super) fn serialize<S: Serializer>(
        machines: &[OwnMachine],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(machines.iter().map(|own| (&own.name, own)))
    }
}

impl Serialize for OwnMachine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Value<'a> {
            Whole(i64),
            Number(f64),
            Text(&'a str),
        }
        fn value(Text { value: text, .. }: &Text) -> Value<'_> {
            let whole = text.parse().map(Value::Whole);
            whole.or_else(|_| text.parse().map(Value::Number)).unwrap_or(Value::Text(text))
        }
        let base = self.base.iter().map(|base| ("base", Value::Text(&base.value)));
        let parameters = self.parameters.iter().map(|(key, text)| (&*key.value, value(text)));
        serializer.collect_map(base.chain(parameters))
    }
}

/// A parameter's value: a number as it is written in the file, or a text.
struct Parameter(Text);

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Spanned::<toml::Value>::deserialize(deserializer)?;
        let place = place(value.span());
        let text = match value.into_inner() {
            toml::Value::String(text) if text.trim().parse::<f64>().is_ok() => {
                let found = Unexpected::Str(&text);
                return Err(de::Error::invalid_type(found, &"a number, without quotes"));
            }
            toml::Value::String(text) => escaped(&text).into_owned(),
            toml::Value::Integer(_) | toml::Value::Float(_) => {
                place.content[place.span.clone()].replace('_', "")
            }
            other => {
                let found = Unexpected::Other(other.type_str());
                return Err(de::Error::invalid_type(found, &"a number or a text"));
            }
        };
        Ok(Self(Text { value: text, place }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"name = 'a "b"'
topologies = ["torus:4x4", "rdn:1(hypercube:3)"]
algorithms = ["pex"]
workloads = ["uniform:64"]
machines = ["mine", "my own"]
baseline = "pex"
repetitions = 3
seed = 18446744073709551615
timeout_secs = 0.5
optimum = true

[machine.mine]
base = "paragon"
ports = "all"
startup_us = 220.0

[machine."my own"]
base = "delta"

[[case]]
topologies = ["ring:4"]

[[case]]
algorithms = ["bruck"]
workloads = ["uniform:8..64"]

[[exclude]]
topologies = ["torus:4x4"]
machines = ["mine"]
"#;

    #[test]
    fn experiments_survive_a_round_trip() {
        let experiment = Experiment::parse("x", FILE).unwrap();
        assert_eq!(experiment.to_toml(), FILE);
        assert_eq!(experiment.own_machines[0].parameters[1].1.value, "220.0");
        let bare = Experiment::parse("x", "").unwrap();
        assert_eq!(bare, Experiment::default());
        assert_eq!(Experiment::parse("x", &bare.to_toml()).unwrap(), bare);
    }

    #[test]
    fn long_lists_have_a_line_for_each_entry() {
        let topologies = (4..30).map(|n| Text::flag("", &format!("ring:{n}"))).collect();
        let text = Experiment { topologies, ..Experiment::default() }.to_toml();
        assert!(text.contains("topologies = [\n    \"ring:4\",\n    \"ring:5\",\n"), "{text}");
        assert_eq!(Experiment::parse("x", &text).unwrap().topologies.len(), 26);
    }

    #[test]
    fn mistakes_have_positions() {
        let mistake = |content: &str| {
            let error = Experiment::parse("x", content).unwrap_err();
            let help = error.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
            format!("{error}{help}")
        };
        let cases = [
            (
                "seed = 1\nrepetition = 2\n",
                "x:2:1: unknown key `repetition`; did you mean `repetitions`?",
            ),
            (
                "[[case]]\ntopology = []\n",
                "x:2:1: unknown key `topology`; expected one of topologies, algorithms, workloads, machines",
            ),
            ("name = 3\n", "x:1:8: expected a text in quotes, found 3"),
            ("name = [3]\n", "x:1:8: expected a text in quotes, found a list"),
            ("name = { a = 3 }\n", "x:1:8: expected a text in quotes, found a table"),
            ("name = 2026-11-28\n", "x:1:8: expected a text in quotes, found 2026-11-28"),
            ("topologies = [\"ring:4\", 5]\n", "x:1:25: expected a text in quotes, found 5"),
            (
                "topologies = { a = 5 }\n",
                "x:1:14: expected a list of texts in quotes, found a table",
            ),
            ("algorithms = []\n", "x:1:14: the list is empty, expected at least one entry"),
            ("optimum = 1\n", "x:1:11: expected true or false, found 1"),
            (
                "repetitions = \"3\"\n",
                "x:1:15: expected a whole number from 1 to 4294967295, found a text",
            ),
            (
                "repetitions = 5_000_000_000\n",
                "x:1:15: expected a whole number from 1 to 4294967295, found 5000000000",
            ),
            (
                "seed = -1\n",
                "x:1:8: expected a whole number from 0 to 18446744073709551615, found -1",
            ),
            (
                "seed = 18446744073709551616\n",
                "x:1:8: expected a whole number from 0 to 18446744073709551615, found 18446744073709551616",
            ),
            ("timeout_secs = \"1\"\n", "x:1:16: expected a number, found a text"),
            ("case = 3\n", "x:1:8: expected a list of tables, found 3"),
            ("case = [3]\n", "x:1:9: expected a table, found 3"),
            (
                "[[case]]\nworkloads = [\"uniform:1\"]\n[[exclude]]\n",
                "x:3:1: the table is empty; expected some of topologies, algorithms, workloads, machines",
            ),
            ("machine = 3\n", "x:1:11: expected a table, found 3"),
            ("[machine]\na = 3\n", "x:2:5: expected a table, found 3"),
            ("[machine.a]\nports = true\n", "x:2:9: expected a number or a text, found true"),
            (
                "[machine.a]\nstartup_us = \" 2.0\"\n",
                "x:2:14: expected a number, without quotes, found a text",
            ),
            ("[machine.a]\nbase = [1]\n", "x:2:8: expected a number or a text, found [1]"),
            ("seed = 1\nseed = 2\n", "x:2:1: duplicate key"),
            ("name = \"a\n", "x:1:10: invalid basic string, expected `\"`"),
        ];
        let found = cases.map(|(content, _)| mistake(content));
        assert_eq!(found, cases.map(|(_, expected)| expected.to_owned()));
    }

    #[test]
    fn control_characters_are_escaped() {
        let text =
            "name = \"a\\u001b\"\ntopologies = [\"b\\u001b\"]\n[machine.c]\nd = \"e\\u001b\"\n";
        let experiment = Experiment::parse("x", text).unwrap();
        let parameter = &experiment.own_machines[0].parameters[0].1.value;
        for text in [&experiment.name, &experiment.topologies[0].value, parameter] {
            assert!(!text.contains('\u{1b}') && text.len() > 1, "{text}");
        }
    }

    #[test]
    fn flags_set_what_they_print() {
        let mut experiment = Experiment::parse("x", FILE).unwrap();
        experiment.case_tables.clear();
        let flags = experiment.flags(&Experiment::default());
        assert_eq!(
            flags,
            ["--repetitions 3", "--seed 18446744073709551615", "--timeout 0.5", "--optimum"]
        );
        let mut copy = Experiment::default();
        for setting in SETTINGS {
            (setting.set)(&mut copy, &(setting.get)(&experiment)).unwrap_or_default();
        }
        assert_eq!(copy.flags(&experiment), [""; 0]);
        assert_eq!(copy.name, experiment.name);
    }
}
