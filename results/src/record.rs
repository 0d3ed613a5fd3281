//! One row. A single table of columns gives the header, the fields' texts and how they are read, so that writer and reader can't drift apart.

use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It ran and was verified.
    Ok,
    /// The algorithm can't run there.
    Unsupported,
    /// The schedule broke a rule.
    Invalid,
    /// The plugin took its process with it.
    Crashed,
    /// It took longer than it may.
    Timeout,
    /// The plugin, or something else, failed.
    #[default]
    Error,
}

/// What was proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verified {
    /// Every block was followed to its destination.
    Blocks,
    /// Bytes for each destination were conserved.
    Amounts,
    /// Nothing.
    #[default]
    None,
}

macro_rules! words {
    ($type:ident: $($variant:ident = $word:literal),+ $(,)?) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$variant => $word),+ })
            }
        }
        impl Field for $type {
            fn write(&self) -> String {
                self.to_string()
            }
            fn read(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("one of {}", [$($word),+].join(", "))),
                }
            }
        }
    };
}

words!(Status: Ok = "ok", Unsupported = "unsupported", Invalid = "invalid", Crashed = "crashed", Timeout = "timeout", Error = "error");
words!(Verified: Blocks = "blocks", Amounts = "amounts", None = "none");

/// How a field of a row is written and read.
trait Field: Sized {
    fn write(&self) -> String;
    /// `Err` says what was expected.
    fn read(text: &str) -> Result<Self, String>;
}

impl Field for String {
    fn write(&self) -> String {
        self.clone()
    }
    fn read(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "a whole number".to_owned())
}

impl Field for u64 {
    fn write(&self) -> String {
        self.to_string()
    }
    fn read(text: &str) -> Result<Self, String> {
        whole(text)
    }
}

impl Field for u32 {
    fn write(&self) -> String {
        self.to_string()
    }
    fn read(text: &str) -> Result<Self, String> {
        whole(text)
    }
}

impl Field for f64 {
    /// To a millionth: sums of products in a different order differ beyond that, and no figure here means anything there.
    fn write(&self) -> String {
        let text = format!("{self:.6}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        if text == "-0" { "0".to_owned() } else { text.to_owned() }
    }
    fn read(text: &str) -> Result<Self, String> {
        text.parse::<Self>().ok().filter(|x| x.is_finite()).ok_or_else(|| "a number".to_owned())
    }
}

/// A figure that a model may have no meaning for: empty then, never 0.
impl<T: Field> Field for Option<T> {
    fn write(&self) -> String {
        self.as_ref().map(T::write).unwrap_or_default()
    }
    fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(None) } else { T::read(text).map(Some).map_err(|e| format!("{e}, or nothing")) }
    }
}

/// One column.
struct Column {
    name: &'static str,
    write: fn(&Record) -> String,
    read: fn(&mut Record, &str) -> Result<(), String>,
}

macro_rules! record {
    ($($(#[$doc:meta])+ $name:ident: $type:ty),+ $(,)?) => {
        /// One row: a case and what came of it. Times are in microseconds (`plan_ms` and `wall_ms` in milliseconds), sizes in bytes.
        #[derive(Debug, Clone, PartialEq, Default, Serialize)]
        pub struct Record {
            $($(#[$doc])+ pub $name: $type,)+
        }

        static COLUMNS: &[Column] = &[$(Column {
            name: stringify!($name),
            write: |r| r.$name.write(),
            read: |r, text| <$type as Field>::read(text).map(|value| r.$name = value),
        }),+];
    };
}

record! {
    /// The experiment's name.
    experiment: String,
    /// The algorithm, with its parameters.
    algorithm: String,
    /// The plugin it came from.
    plugin: String,
    /// That plugin's version.
    plugin_version: String,
    /// What was to reach whom.
    collective: String,
    /// Where.
    topology: String,
    /// Nodes.
    nodes: u64,
    /// Sizes of blocks.
    workload: String,
    /// At which prices.
    machine: String,
    /// By which model.
    model: String,
    /// Which repetition, from 0.
    repetition: u32,
    /// Its seed.
    seed: u64,
    /// How it ended.
    status: Status,
    /// Why, where it isn't `ok`.
    reason: String,
    /// What was proved.
    verified: Verified,
    /// Completion time: the sum of the six parts.
    time_us: Option<f64>,
    /// Start-ups.
    startup_us: Option<f64>,
    /// Transmission.
    transmission_us: Option<f64>,
    /// Propagation over links.
    propagation_us: Option<f64>,
    /// Rearrangement of data within nodes.
    rearrangement_us: Option<f64>,
    /// Barriers.
    barrier_us: Option<f64>,
    /// What sharing of links, or waiting for ports, adds.
    contention_us: Option<f64>,
    /// No schedule takes less on this machine.
    lower_bound_us: Option<f64>,
    /// Synchronous steps in which anything was sent.
    steps: Option<u64>,
    /// Sends over all steps.
    messages: Option<u64>,
    /// Sum over steps of the longest message.
    critical_bytes: Option<u64>,
    /// Sum over steps of the longest route.
    critical_hops: Option<u64>,
    /// Bytes over all messages.
    total_bytes: Option<u64>,
    /// Bytes times hops over all messages.
    total_hop_bytes: Option<u64>,
    /// The most messages on one directed link in one step.
    max_link_messages: Option<u64>,
    /// The sum over steps of each step's such maximum.
    sum_link_messages: Option<u64>,
    /// The most messages one node sends in one step.
    max_sends: Option<u64>,
    /// The most messages one node receives in one step.
    max_receives: Option<u64>,
    /// The most bytes one node holds at a step's end.
    peak_node_bytes: Option<u64>,
    /// How often nodes rearrange their data.
    rearrangements: Option<u64>,
    /// Planning, verifying and counting the schedule that the row was priced from; rows of one schedule share it.
    plan_ms: Option<f64>,
    /// The row's share of the time that its schedule took altogether.
    wall_ms: Option<f64>,
    /// A remark, such as that the machine had to run steps in turns.
    note: String,
}

/// The names of all columns, in order.
pub fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|c| c.name)
}

impl Record {
    /// The texts of all columns, in order.
    pub fn fields(&self) -> impl Iterator<Item = String> + '_ {
        COLUMNS.iter().map(|c| (c.write)(self))
    }

    /// Sets a column from text; `None` if there is no such column, `Err` says what was expected.
    pub(crate) fn set(&mut self, column: &str, text: &str) -> Option<Result<(), String>> {
        COLUMNS.iter().find(|c| c.name == column).map(|c| (c.read)(self, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns users rely on, in their order; more may follow.
    const PROMISED: &str = "experiment, algorithm, plugin, plugin_version, collective, topology, nodes, workload, machine, model, repetition, \
        seed, status, reason, verified, time_us, startup_us, transmission_us, propagation_us, rearrangement_us, barrier_us, contention_us, \
        lower_bound_us, steps, messages, critical_bytes, critical_hops, total_bytes, total_hop_bytes, max_link_messages, sum_link_messages, \
        max_sends, max_receives, peak_node_bytes, rearrangements, plan_ms, wall_ms";

    #[test]
    fn columns_are_those_promised_in_that_order() {
        let promised: Vec<&str> = PROMISED.split(", ").collect();
        assert_eq!(columns().take(promised.len()).collect::<Vec<_>>(), promised);
    }

    #[test]
    fn a_figure_without_meaning_is_empty_and_a_zero_is_a_zero() {
        let record = Record { startup_us: Some(0.0), ..Record::default() };
        let field = |name| record.fields().nth(columns().position(|c| c == name).unwrap()).unwrap();
        assert_eq!((field("startup_us"), field("transmission_us")), ("0".to_owned(), String::new()));
    }

    #[test]
    fn times_are_written_to_a_millionth_without_noise() {
        assert_eq!((0.1 + 0.2).write(), "0.3");
        assert_eq!(1.5e9.write(), "1500000000");
        assert_eq!((-1e-9).write(), "0");
    }
}
