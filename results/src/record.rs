//! One row. A single table of columns gives the header, the fields' texts, how they are read, and JSON, so that none of them can drift apart.

use crate::field::{Field, words};
use crate::finite::NotFinite;
use serde::ser::{Serialize, SerializeStruct, Serializer};

words! {
    /// How a case ended.
    Status {
        /// It ran and was verified.
        Ok = "ok",
        /// The algorithm can't run there.
        Unsupported = "unsupported",
        /// The schedule broke a rule.
        Invalid = "invalid",
        /// The plugin took its process with it.
        Crashed = "crashed",
        /// It took longer than it may.
        Timeout = "timeout",
        /// The plugin, or something else, failed.
        #[default]
        Error = "error",
    }
}

words! {
    /// What was proved.
    Verified {
        /// Every block was followed to its destination.
        Blocks = "blocks",
        /// Bytes for each destination were conserved.
        Amounts = "amounts",
        /// Nothing.
        #[default]
        None = "none",
    }
}

/// One column.
struct Column {
    name: &'static str,
    write: fn(&Record) -> String,
    read: fn(&mut Record, &str) -> Result<(), String>,
    is_writable: fn(&Record) -> bool,
}

macro_rules! record {
    ($($(#[$doc:meta])+ $name:ident: $type:ty),+ $(,)?) => {
        /// One row: a case and what came of it. Times are in microseconds (`plan_ms` and `wall_ms` in milliseconds), sizes in bytes:
        /// whole numbers that are exact however large, for a schedule passes on the same bytes many times.
        ///
        /// The default is an `error` without a reason and without figures: a row that failed is its case, a status and a reason on top of it.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct Record {
            $($(#[$doc])+ pub $name: $type,)+
        }

        static COLUMNS: &[Column] = &[$(Column {
            name: stringify!($name),
            write: |r| r.$name.write(),
            read: |r, text| <$type as Field>::read(text).map(|value| r.$name = value),
            is_writable: |r| r.$name.is_writable(),
        }),+];

        impl Record {
            /// The row that reading gives back once this one is written: figures rounded to a millionth.
            pub fn as_written(&self) -> Self {
                Self { $($name: self.$name.as_written(),)+ }
            }
        }

        /// The same names and the same figures as in CSV; a figure without meaning is `null`.
        impl Serialize for Record {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut row = serializer.serialize_struct("Record", COLUMNS.len())?;
                $(row.serialize_field(stringify!($name), &self.$name.as_written())?;)+
                row.end()
            }
        }
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
    critical_bytes: Option<u128>,
    /// Sum over steps of the longest route.
    critical_hops: Option<u64>,
    /// Bytes over all messages.
    total_bytes: Option<u128>,
    /// Bytes times hops over all messages.
    total_hop_bytes: Option<u128>,
    /// The most messages on one directed link in one step.
    max_link_messages: Option<u64>,
    /// The sum over steps of each step's such maximum.
    sum_link_messages: Option<u64>,
    /// The most messages one node sends in one step.
    max_sends: Option<u64>,
    /// The most messages one node receives in one step.
    max_receives: Option<u64>,
    /// The most bytes one node holds at a step's end.
    peak_node_bytes: Option<u128>,
    /// How often nodes rearrange their data.
    rearrangements: Option<u64>,
    /// Planning, verifying and counting the schedule that the row was priced from; rows of one schedule share it.
    plan_ms: Option<f64>,
    /// The row's share of the time that its schedule took altogether.
    wall_ms: Option<f64>,
    /// A remark, such as that the machine had to run steps in turns.
    note: String,
    /// The most bytes one node sends in one phase, what it keeps for itself included.
    send_buffer_bytes: Option<u128>,
    /// The most bytes one node receives in one phase, what it keeps for itself included.
    receive_buffer_bytes: Option<u128>,
}

/// The names of all columns, in order.
pub fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|c| c.name)
}

/// The names of the columns that no file of rows lacks; those after them came with later versions.
pub(crate) fn required_columns() -> impl Iterator<Item = &'static str> {
    const LAST: &str = "wall_ms";
    let count = columns().take_while(|c| *c != LAST).count() + 1;
    columns().take(count)
}

impl Record {
    /// The texts of all columns, in order.
    pub fn fields(&self) -> impl Iterator<Item = String> + '_ {
        COLUMNS.iter().map(|c| (c.write)(self))
    }

    /// A row from the texts of all its columns, in order, as [`Record::fields`] gives them.
    pub fn from_fields<'a>(fields: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let (mut record, mut count) = (Self::default(), 0);
        for (column, text) in COLUMNS.iter().zip(fields) {
            (column.read)(&mut record, text).map_err(|expected| format!("{}: expected {expected}", column.name))?;
            count += 1;
        }
        if count == COLUMNS.len() { Ok(record) } else { Err(format!("{count} fields, expected {}", COLUMNS.len())) }
    }

    /// Sets a column from text; `None` if there is no such column, `Err` says what was expected.
    pub(crate) fn set(&mut self, column: &str, text: &str) -> Option<Result<(), String>> {
        COLUMNS.iter().find(|c| c.name == column).map(|c| (c.read)(self, text))
    }

    /// The first column that could not be read again.
    pub(crate) fn unwritable(&self) -> Option<NotFinite> {
        let column = COLUMNS.iter().find(|c| !(c.is_writable)(self))?;
        Some(NotFinite { column: column.name, value: (column.write)(self).parse().unwrap_or(f64::NAN) })
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
    fn columns_are_those_promised_in_that_order_and_then_more() {
        assert_eq!(
            columns().collect::<Vec<_>>().join(", "),
            format!("{PROMISED}, note, send_buffer_bytes, receive_buffer_bytes")
        );
    }

    #[test]
    fn a_figure_without_meaning_is_empty_and_a_zero_is_a_zero() {
        let record = Record { startup_us: Some(0.0), steps: Some(0), ..Record::default() };
        let field = |name| record.fields().nth(columns().position(|c| c == name).unwrap()).unwrap();
        assert_eq!(["startup_us", "transmission_us", "steps", "messages"].map(field), ["0", "", "0", ""]);
    }

    #[test]
    fn bytes_beyond_64_bits_are_written_and_read_to_the_last_digit() {
        let record = Record { total_bytes: Some(188_296_863_814_778_880_000), ..Record::default() };
        let fields: Vec<String> = record.fields().collect();
        assert!(fields.iter().any(|f| f == "188296863814778880000"));
        assert_eq!(Record::from_fields(fields.iter().map(String::as_str)), Ok(record.clone()));
        assert!(serde_json::to_string(&record).unwrap().contains(r#""total_bytes":188296863814778880000"#));
    }

    #[test]
    fn words_are_the_same_wherever_they_are_written() {
        let words: Vec<&str> = Status::ALL.iter().map(|s| s.word()).collect();
        assert_eq!(words, ["ok", "unsupported", "invalid", "crashed", "timeout", "error"]);
        assert!(Status::ALL.iter().all(|s| Status::read(s.word()) == Ok(*s)));
        assert!(Verified::ALL.iter().all(|v| Verified::read(v.word()) == Ok(*v)));
    }

    #[test]
    fn json_has_the_names_and_figures_of_the_csv() {
        let record = Record { status: Status::Ok, time_us: Some(0.1 + 0.2), steps: Some(3), ..Record::default() };
        let json = serde_json::to_string(&record).unwrap();
        assert!(
            json.contains(r#""status":"ok","reason":"","verified":"none","time_us":0.3,"startup_us":null"#),
            "{json}"
        );
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(columns().all(|c| json.get(c).is_some()));
    }
}
