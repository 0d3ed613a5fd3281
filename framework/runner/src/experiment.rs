//! The experiment file: which cases, how often, from which seed.

use crate::input::{InputError, Text};
use crate::toml_reader::TomlReader;
use swapmeet_core::simulation::ProofScope;
use toml::Spanned;
use toml::de::DeValue;

/// An experiment as written: nothing in it has been looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its name, for the rows.
    pub name: String,
    pub topologies: Vec<Text>,
    pub algorithms: Vec<Text>,
    pub workloads: Vec<Text>,
    /// Machine specs, or names of `machine` tables.
    pub machines: Vec<Text>,
    /// Machines of the experiment's own.
    pub own_machines: Vec<OwnMachine>,
    /// The algorithm that others are compared with.
    pub baseline: Option<Text>,
    /// How often each case is run; repetition r has seed `seed + r`.
    pub repetitions: u32,
    pub seed: u64,
    /// Seconds a case may take.
    pub timeout_secs: Option<f64>,
    /// On whom delivery is to be proved; not of the file's keys, for rows say the same.
    pub proof_scope: ProofScope,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OwnMachine {
    pub name: Text,
    /// The machine it starts from.
    pub base: Option<Text>,
    /// Parameters that differ.
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
            own_machines: Vec::new(),
            baseline: None,
            repetitions: 1,
            seed: 42,
            timeout_secs: None,
            proof_scope: ProofScope::Auto,
        }
    }
}

/// Seconds that a case may take where nobody says how long: a plugin that never ends would hold a
/// run for ever.
pub const DEFAULT_TIMEOUT_SECS: f64 = 600.0;

/// What a time limit is.
const SECONDS: &str = "a number of seconds above 0, at most 1000000000";

/// A time limit as written in a file, a flag or the dashboard; the error says what was expected.
/// Thirty years are as good as for ever, and are still a time that can be added to another.
pub fn seconds(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 1e9).ok_or(SECONDS)
}

const KEYS: [&str; 10] = [
    "name",
    "topologies",
    "algorithms",
    "workloads",
    "machines",
    "baseline",
    "repetitions",
    "seed",
    "timeout_secs",
    "machine",
];

impl Experiment {
    /// Reads an experiment from the text of a file; `source` is the file's name, for errors.
    pub fn parse(source: &str, content: &str) -> Result<Self, InputError> {
        let reader = TomlReader::new(source, content);
        let tree = reader.tree()?;
        let mut experiment = Self::default();
        for (key, value) in tree.get_ref() {
            match key.get_ref().as_ref() {
                "name" => experiment.name = reader.string(value)?.value,
                "topologies" => experiment.topologies = reader.strings(value)?,
                "algorithms" => experiment.algorithms = reader.strings(value)?,
                "workloads" => experiment.workloads = reader.strings(value)?,
                "machines" if matches!(value.get_ref(), DeValue::Table(_)) => {
                    let error = reader
                        .text("", value.span())
                        .error("`machines` is the list of those to run on");
                    return Err(error.help("a machine of the experiment's own is `[machine.NAME]`"));
                }
                "machines" => experiment.machines = reader.strings(value)?,
                "baseline" => experiment.baseline = Some(reader.string(value)?),
                "repetitions" => {
                    experiment.repetitions = reader.whole(value, 1, u64::from(u32::MAX))? as u32
                }
                "seed" => experiment.seed = reader.whole(value, 0, u64::MAX)?,
                "timeout_secs" => experiment.timeout_secs = Some(time_limit(&reader, value)?),
                "machine" => experiment.own_machines = own_machines(&reader, value)?,
                _ => return Err(reader.unknown(key, "an experiment", KEYS)),
            }
        }
        Ok(experiment)
    }
}

fn time_limit(reader: &TomlReader, value: &Spanned<DeValue<'_>>) -> Result<f64, InputError> {
    match value.get_ref() {
        DeValue::Integer(_) | DeValue::Float(_) => {
            let number = reader.number(value).unwrap_or_default();
            seconds(&number).map_err(|expected| {
                reader.text("", value.span()).error(format!("expected {expected}, found {number}"))
            })
        }
        _ => Err(reader.wrong(value, SECONDS)),
    }
}

fn own_machines(
    reader: &TomlReader,
    value: &Spanned<DeValue<'_>>,
) -> Result<Vec<OwnMachine>, InputError> {
    let mut machines = Vec::new();
    for (name, value) in reader.table(value)? {
        let mut machine = OwnMachine {
            name: reader.text(name.get_ref(), name.span()),
            base: None,
            parameters: Vec::new(),
        };
        for (key, value) in reader.table(value)? {
            if key.get_ref() == "base" {
                machine.base = Some(reader.string(value)?);
                continue;
            }
            let number =
                reader.number(value).ok_or_else(|| reader.wrong(value, "a number or a text"))?;
            if matches!(value.get_ref(), DeValue::String(_)) && number.trim().parse::<f64>().is_ok()
            {
                return Err(reader.wrong(value, "a number, without quotes"));
            }
            machine
                .parameters
                .push((reader.text(key.get_ref(), key.span()), reader.text(&number, value.span())));
        }
        machines.push(machine);
    }
    Ok(machines)
}
