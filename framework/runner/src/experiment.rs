//! Parses experiment files.

use crate::input::{InputError, Text};
use crate::toml_reader::TomlReader;
use swapmeet_core::simulation::ProofScope;
use toml::Spanned;
use toml::de::DeValue;

/// An experiment, as a file or flags define it. Its specs have not been parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Name of the experiment, which its rows contain.
    pub name: String,
    pub topologies: Vec<Text>,
    pub algorithms: Vec<Text>,
    pub workloads: Vec<Text>,
    /// Machine specs, or names of machines in `own_machines`.
    pub machines: Vec<Text>,
    /// Machines that the `machine` tables of the file define.
    pub own_machines: Vec<OwnMachine>,
    /// The `case` tables of the file. If there are any, only their combinations are run.
    pub blocks: Vec<Block>,
    /// The `exclude` tables of the file. Their combinations are not run.
    pub exclude: Vec<Block>,
    /// The algorithm with which the other algorithms are compared.
    pub baseline: Option<Text>,
    /// Number of repetitions of each case. Repetition r (counted from 0) uses the seed `seed + r`.
    pub repetitions: u32,
    pub seed: u64,
    /// Time limit of a case, in seconds.
    pub timeout_secs: Option<f64>,
    /// Whether rows must contain the optimum of their network and workload.
    pub optimum: bool,
    /// The nodes on which delivery is verified. It is not a key of the file, because results do not
    /// depend on it.
    pub proof_scope: ProofScope,
}

/// A `case` or `exclude` table, which is a part of an experiment: all combinations of the table's
/// lists. An empty list stands for the list of the experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The position of the table, for messages.
    pub place: Text,
    pub topologies: Vec<Text>,
    pub algorithms: Vec<Text>,
    pub workloads: Vec<Text>,
    pub machines: Vec<Text>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OwnMachine {
    pub name: Text,
    /// The machine whose parameters apply unless `parameters` changes them.
    pub base: Option<Text>,
    /// Parameters that differ from the base machine, with their values.
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
            blocks: Vec::new(),
            exclude: Vec::new(),
            baseline: None,
            repetitions: 1,
            seed: 42,
            timeout_secs: None,
            optimum: false,
            proof_scope: ProofScope::Auto,
        }
    }
}

/// Default time limit of a case, in seconds. Without a limit, a plugin that never ends would block
/// a run.
pub const DEFAULT_TIMEOUT_SECS: f64 = 600.0;

/// The description of a valid time limit, for error messages.
const SECONDS: &str = "a number of seconds above 0, at most 1000000000";

/// Parses a time limit. The error is a description of a valid limit. The maximum, about 30 years,
/// is small enough to be added to the current time.
pub fn seconds(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 1e9).ok_or(SECONDS)
}

const KEYS: [&str; 13] = [
    "name",
    "topologies",
    "algorithms",
    "workloads",
    "machines",
    "baseline",
    "repetitions",
    "seed",
    "timeout_secs",
    "optimum",
    "machine",
    "case",
    "exclude",
];

impl Experiment {
    /// Returns whether there are `case` tables and all of them have entries in the list that `list`
    /// returns. The experiment's own list of this kind may then be empty.
    pub fn is_named_by_blocks(&self, list: fn(&Block) -> &Vec<Text>) -> bool {
        !self.blocks.is_empty() && self.blocks.iter().all(|block| !list(block).is_empty())
    }

    /// Parses an experiment file. `source` is the file's name for error messages.
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
                        .error("`machines` is the list of machines to run on");
                    return Err(error.help("a machine of the experiment's own is `[machine.NAME]`"));
                }
                "machines" => experiment.machines = reader.strings(value)?,
                "baseline" => experiment.baseline = Some(reader.string(value)?),
                "repetitions" => {
                    experiment.repetitions = reader.whole(value, 1, u64::from(u32::MAX))? as u32;
                }
                "seed" => experiment.seed = reader.whole(value, 0, u64::MAX)?,
                "timeout_secs" => experiment.timeout_secs = Some(time_limit(&reader, value)?),
                "optimum" => experiment.optimum = reader.truth(value)?,
                "case" => experiment.blocks = blocks(&reader, value)?,
                "exclude" => experiment.exclude = blocks(&reader, value)?,
                "machine" => experiment.own_machines = own_machines(&reader, value)?,
                _ => return Err(reader.unknown(key, "an experiment", KEYS)),
            }
        }
        Ok(experiment)
    }
}

/// Reads a list of tables, such as `[[case]]` or `exclude = [{ topologies = ["ring:4"] }]`.
fn blocks(reader: &TomlReader, value: &Spanned<DeValue<'_>>) -> Result<Vec<Block>, InputError> {
    const KEYS: [&str; 4] = ["topologies", "algorithms", "workloads", "machines"];
    let DeValue::Array(list) = value.get_ref() else {
        return Err(reader.wrong(value, "a list of tables"));
    };
    let block = |value: &Spanned<DeValue<'_>>| {
        let mut block = Block {
            place: reader.text("", value.span()),
            topologies: Vec::new(),
            algorithms: Vec::new(),
            workloads: Vec::new(),
            machines: Vec::new(),
        };
        let table = reader.table(value)?;
        for (key, value) in table {
            let list = match key.get_ref().as_ref() {
                "topologies" => &mut block.topologies,
                "algorithms" => &mut block.algorithms,
                "workloads" => &mut block.workloads,
                "machines" => &mut block.machines,
                _ => return Err(reader.unknown(key, "a block of cases", KEYS)),
            };
            *list = reader.strings(value)?;
        }
        if table.is_empty() {
            let error = block.place.error("the table is empty");
            return Err(error.help(format!("expected some of {}", KEYS.join(", "))));
        }
        Ok(block)
    };
    list.iter().map(block).collect()
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
