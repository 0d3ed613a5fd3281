//! The experiment file: which cases, how often, from which seed.
//!
//! Read by hand from the parsed tree rather than through serde, so that every key and every list entry keeps its place in the file and an
//! error about a topology on line 3 points at the topology on line 3.

use crate::input::{InputError, Place, Text};
use std::sync::Arc;
use swapmeet_core::simulation::Proving;
use swapmeet_core::spec::near_matches;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

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
    pub proving: Proving,
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
            proving: Proving::Auto,
        }
    }
}

/// Seconds that a case may take where nobody says how long: a plugin that never ends would hold a run for ever.
pub const DEFAULT_TIMEOUT_SECS: f64 = 600.0;

/// What a time limit is.
const SECONDS: &str = "a number of seconds above 0, at most 1000000000";

/// A time limit as written in a file, a flag or the dashboard; the error says what was expected. Thirty years are as good as for ever, and are
/// still a time that can be added to another.
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
        let reader = Reader { source: source.to_owned(), content: content.into() };
        let tree = DeTable::parse(content).map_err(|e| {
            let text = reader.text("", e.span().unwrap_or(0..0));
            text.error(e.message().trim_end().replace('\n', ", "))
        })?;
        let mut experiment = Self::default();
        for (key, value) in tree.get_ref() {
            match key.get_ref().as_ref() {
                "name" => experiment.name = reader.string(value)?.value,
                "topologies" => experiment.topologies = reader.strings(value)?,
                "algorithms" => experiment.algorithms = reader.strings(value)?,
                "workloads" => experiment.workloads = reader.strings(value)?,
                "machines" if matches!(value.get_ref(), DeValue::Table(_)) => {
                    let error = reader.text("", value.span()).error("`machines` is the list of those to run on");
                    return Err(error.help("a machine of the experiment's own is `[machine.NAME]`"));
                }
                "machines" => experiment.machines = reader.strings(value)?,
                "baseline" => experiment.baseline = Some(reader.string(value)?),
                "repetitions" => experiment.repetitions = reader.whole(value, 1, u64::from(u32::MAX))? as u32,
                "seed" => experiment.seed = reader.whole(value, 0, u64::MAX)?,
                "timeout_secs" => experiment.timeout_secs = Some(reader.seconds(value)?),
                "machine" => experiment.own_machines = reader.machines(value)?,
                unknown => {
                    let near = near_matches(unknown, KEYS);
                    let text = reader.text(unknown, key.span());
                    return Err(text
                        .error(format!("unknown key `{unknown}`"))
                        .near(&near, &format!("an experiment has: {}", KEYS.join(", "))));
                }
            }
        }
        Ok(experiment)
    }
}

struct Reader {
    source: String,
    content: Arc<str>,
}

impl Reader {
    fn text(&self, value: &str, span: std::ops::Range<usize>) -> Text {
        let place = Place { source: self.source.clone(), content: Arc::clone(&self.content), span, is_file: true };
        Text { value: value.to_owned(), place }
    }

    fn wrong(&self, value: &Spanned<DeValue<'_>>, expected: &str) -> InputError {
        self.text("", value.span()).error(format!("expected {expected}, found {}", named(value.get_ref())))
    }

    fn string(&self, value: &Spanned<DeValue<'_>>) -> Result<Text, InputError> {
        match value.get_ref() {
            DeValue::String(s) => Ok(self.text(s, value.span())),
            _ => Err(self.wrong(value, "a text in quotes")),
        }
    }

    fn strings(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<Text>, InputError> {
        let list: &DeArray<'_> = match value.get_ref() {
            DeValue::Array(list) => list,
            _ => return Err(self.wrong(value, "a list of texts in quotes")),
        };
        if list.is_empty() {
            return Err(self.text("", value.span()).error("the list is empty, expected at least one entry"));
        }
        list.iter().map(|entry| self.string(entry)).collect()
    }

    fn whole(&self, value: &Spanned<DeValue<'_>>, least: u64, most: u64) -> Result<u64, InputError> {
        let expected = || format!("a whole number from {least} to {most}");
        let DeValue::Integer(i) = value.get_ref() else { return Err(self.wrong(value, &expected())) };
        let digits = i.as_str().replace('_', "");
        u64::from_str_radix(digits.trim_start_matches('+'), i.radix())
            .ok()
            .filter(|n| (least..=most).contains(n))
            .ok_or_else(|| self.text("", value.span()).error(format!("expected {}, found {digits}", expected())))
    }

    fn number(&self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        match value.get_ref() {
            DeValue::Integer(i) if i.radix() == 10 => Some(i.as_str().replace('_', "")),
            DeValue::Float(x) => Some(x.as_str().replace('_', "")),
            DeValue::String(s) => Some(s.to_string()),
            // Hexadecimal ones are for masks, not for microseconds.
            DeValue::Integer(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        }
    }

    fn seconds(&self, value: &Spanned<DeValue<'_>>) -> Result<f64, InputError> {
        match value.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) => {
                let number = self.number(value).unwrap_or_default();
                seconds(&number).map_err(|expected| {
                    self.text("", value.span()).error(format!("expected {expected}, found {number}"))
                })
            }
            _ => Err(self.wrong(value, SECONDS)),
        }
    }

    fn table<'v>(&self, value: &'v Spanned<DeValue<'v>>) -> Result<&'v DeTable<'v>, InputError> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong(value, "a table")),
        }
    }

    fn machines(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<OwnMachine>, InputError> {
        let mut machines = Vec::new();
        for (name, value) in self.table(value)? {
            let mut machine =
                OwnMachine { name: self.text(name.get_ref(), name.span()), base: None, parameters: Vec::new() };
            for (key, value) in self.table(value)? {
                if key.get_ref() == "base" {
                    machine.base = Some(self.string(value)?);
                    continue;
                }
                let number = self.number(value).ok_or_else(|| self.wrong(value, "a number or a text"))?;
                if matches!(value.get_ref(), DeValue::String(_)) && number.trim().parse::<f64>().is_ok() {
                    return Err(self.wrong(value, "a number, without quotes"));
                }
                machine.parameters.push((self.text(key.get_ref(), key.span()), self.text(&number, value.span())));
            }
            machines.push(machine);
        }
        Ok(machines)
    }
}

fn named(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
