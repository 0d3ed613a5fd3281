//! One row. A single table of columns gives the header, the fields' texts, how they are read, and
//! JSON, so that none of them can drift apart.

use crate::field::{Field, NotFinite, words};
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
        /// Every result holds each node's contribution once.
        Contributions = "contributions",
        /// Real bytes were moved, and the contents of every block looked at where it is to be.
        Bytes = "bytes",
        /// Nothing.
        #[default]
        None = "none",
    }
}

#[derive(Debug)]
pub(crate) struct Column {
    info: ColumnInfo,
    /// Whether it says what came of the case, rather than which case it is.
    is_outcome: bool,
    write: fn(&Record) -> String,
    read: fn(&mut Record, &str) -> Result<(), String>,
    number: fn(&Record) -> Option<f64>,
}

/// What a column is, for who reads rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: &'static str,
    /// What its texts are, in the words of Table Schema: `string`, `integer` or `number`. An empty
    /// one is a figure without meaning there.
    pub kind: &'static str,
    /// What it says.
    pub meaning: &'static str,
}

/// Whether columns of a kind say what came of a case.
macro_rules! is_outcome {
    (case) => {
        false
    };
    (outcome) => {
        true
    };
}

macro_rules! record {
    ($($(#[doc = $doc:literal])+ $kind:ident $name:ident: $type:ty),+ $(,)?) => {
        /// One row: a case and what came of it. Times are in microseconds (`plan_ms` and `wall_ms`
        /// in milliseconds), sizes in bytes: whole numbers that are exact however large, for a
        /// schedule passes on the same bytes many times.
        ///
        /// The default is an `error` without a reason and without figures: a row that failed is its
        /// case, a status and a reason on top of it.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct Record {
            $($(#[doc = $doc])+ pub $name: $type,)+
        }

        static COLUMNS: &[Column] = &[$(Column {
            info: ColumnInfo { name: stringify!($name), kind: <$type as Field>::TYPE, meaning: concat!($($doc),+) },
            is_outcome: is_outcome!($kind),
            write: |r| r.$name.write(),
            read: |r, text| <$type as Field>::read(text).map(|value| r.$name = value),
            number: |r| r.$name.number(),
        }),+];

        impl Record {
            /// The row that reading gives back once this one is written: figures rounded to a
            /// millionth.
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
    /// The name of the experiment.
    case experiment: String,
    /// The algorithm, with its parameters.
    case algorithm: String,
    /// The plugin it came from.
    case plugin: String,
    /// That plugin's version.
    case plugin_version: String,
    /// What was to reach whom.
    case collective: String,
    /// The network, and how its links lie.
    case topology: String,
    /// Ranks that take part.
    case nodes: u64,
    /// Sizes of blocks.
    case workload: String,
    /// At which prices.
    case machine: String,
    /// How the machine prices messages.
    case model: String,
    /// Which repetition, from 0.
    case repetition: u32,
    /// Its seed.
    case seed: u64,
    /// How the case ended.
    outcome status: Status,
    /// Why, where it isn't `ok`.
    outcome reason: String,
    /// What was proved.
    outcome verified: Verified,
    /// Completion time: the sum of the six parts.
    outcome time_us: Option<f64>,
    /// Start-ups of messages.
    outcome startup_us: Option<f64>,
    /// Bytes on their way over links.
    outcome transmission_us: Option<f64>,
    /// Hops, and latencies of links.
    outcome propagation_us: Option<f64>,
    /// Rearrangement of data within nodes.
    outcome rearrangement_us: Option<f64>,
    /// Barriers between steps.
    outcome barrier_us: Option<f64>,
    /// What sharing of links, or waiting for ports, adds.
    outcome contention_us: Option<f64>,
    /// No schedule takes less on this machine.
    outcome lower_bound_us: Option<f64>,
    /// Synchronous steps in which anything was sent.
    outcome steps: Option<u64>,
    /// Sends over all steps.
    outcome messages: Option<u64>,
    /// Sum over steps of the longest message.
    outcome critical_bytes: Option<u128>,
    /// Sum over steps of the longest route.
    outcome critical_hops: Option<u64>,
    /// Bytes over all messages.
    outcome total_bytes: Option<u128>,
    /// Bytes times hops over all messages.
    outcome total_hop_bytes: Option<u128>,
    /// The most messages on one directed link in one step.
    outcome max_link_messages: Option<u64>,
    /// The sum over steps of each step's such maximum.
    outcome sum_link_messages: Option<u64>,
    /// The most messages one node sends in one step.
    outcome max_sends: Option<u64>,
    /// The most messages one node receives in one step.
    outcome max_receives: Option<u64>,
    /// The most bytes one node holds, at the start or a step's end.
    outcome peak_node_bytes: Option<u128>,
    /// How often nodes rearrange their data.
    outcome rearrangements: Option<u64>,
    /// Planning, verifying and counting the schedule that the row was priced from; rows of one
    /// schedule share it.
    outcome plan_ms: Option<f64>,
    /// The row's share of the time that its schedule took altogether.
    outcome wall_ms: Option<f64>,
    /// A remark, such as that the machine had to run steps in turns.
    outcome note: String,
    /// The most bytes one node sends in one phase, what it keeps for itself included.
    outcome send_buffer_bytes: Option<u128>,
    /// The most bytes one node receives in one phase, what it keeps for itself included.
    outcome receive_buffer_bytes: Option<u128>,
    /// The version of the program that made the row.
    case swapmeet_version: String,
    /// The digest of the plugin's file.
    case plugin_digest: String,
    /// What an experiment's own machine stands for, with all that is set besides, as a spec of
    /// presets; empty for a preset.
    case machine_definition: String,
    /// The files that topology and workload name, with a digest of what each said.
    case inputs: String,
    /// Bytes of a block, where all have the same.
    case block_bytes: Option<u64>,
    /// What shows that no schedule takes less than `lower_bound_us`.
    outcome bound_kind: String,
    /// Nodes that were planned for, on which delivery was proved: one of each orbit where a group
    /// maps the schedule onto itself.
    outcome proved_on: Option<u64>,
    /// Adding up what comes from different nodes, the seventh part of the time, where anything is
    /// reduced.
    outcome reduction_us: Option<f64>,
    /// When the first rank was done, where ranks go each their own way.
    outcome first_rank_us: Option<f64>,
    /// When ranks were done on the average, likewise.
    outcome mean_rank_us: Option<f64>,
}

/// What every column is, in order.
pub fn column_infos() -> impl Iterator<Item = ColumnInfo> {
    COLUMNS.iter().map(|c| c.info)
}

/// The column of a name, if there is one.
pub(crate) fn column(name: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|c| c.info.name == name)
}

impl Column {
    /// Sets it from text; `Err` says what was expected.
    pub(crate) fn set(&self, record: &mut Record, text: &str) -> Result<(), String> {
        (self.read)(record, text)
    }
}

/// The names of all columns, in order.
pub fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|c| c.info.name)
}

/// The names of the columns that say what came of a case, in order.
pub fn outcome_columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().filter(|c| c.is_outcome).map(|c| c.info.name)
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

    /// The texts of the columns that say what came of the case, in order.
    pub fn outcome(&self) -> impl Iterator<Item = String> + '_ {
        COLUMNS.iter().filter(|c| c.is_outcome).map(|c| (c.write)(self))
    }

    /// Sets the columns that say what came of the case from their texts, in order, as
    /// [`Record::outcome`] gives them. `Err` says which makes no sense.
    pub fn set_outcome<'a>(
        &mut self,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), String> {
        let mut texts = texts.into_iter();
        for column in COLUMNS.iter().filter(|c| c.is_outcome) {
            let text = texts.next().ok_or_else(|| format!("no {}", column.info.name))?;
            (column.read)(self, text)
                .map_err(|expected| format!("{}: expected {expected}", column.info.name))?;
        }
        if texts.next().is_some() {
            return Err("more columns than say what came of a case".to_owned());
        }
        match self.impossible() {
            Some((column, expected)) => Err(format!("{column}: expected {expected}")),
            None => Ok(()),
        }
    }

    /// A column of an `ok` row that no case can have, and what was expected.
    pub(crate) fn impossible(&self) -> Option<(&'static str, &'static str)> {
        if self.status != Status::Ok {
            return None;
        }
        if self.time_us.is_none() {
            return Some(("time_us", "a time: the row is `ok`"));
        }
        let is_negative = |column: &&Column| (column.number)(self).is_some_and(|n| n < 0.0);
        COLUMNS.iter().find(is_negative).map(|column| (column.info.name, "a time of 0 or more"))
    }

    /// The first column that could not be read again.
    pub(crate) fn unwritable(&self) -> Option<NotFinite> {
        COLUMNS.iter().find_map(|c| {
            let value = (c.number)(self).filter(|value| !value.is_finite())?;
            Some(NotFinite { column: c.info.name, value })
        })
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
            format!(
                "{PROMISED}, note, send_buffer_bytes, receive_buffer_bytes, swapmeet_version, plugin_digest, machine_definition, inputs, \
                 block_bytes, bound_kind, proved_on, reduction_us, first_rank_us, mean_rank_us"
            )
        );
    }

    #[test]
    fn no_time_of_a_row_is_less_than_nothing() {
        let times: Vec<ColumnInfo> = column_infos().filter(|info| info.kind == "number").collect();
        assert!(times.len() > 10);
        for ColumnInfo { name, .. } in times {
            let mut row = Record { status: Status::Ok, time_us: Some(1.0), ..Record::default() };
            column(name).unwrap().set(&mut row, "-1").unwrap();
            assert_eq!(row.impossible(), Some((name, "a time of 0 or more")));
        }
    }

    #[test]
    fn a_figure_without_meaning_is_empty_and_a_zero_is_a_zero() {
        let record = Record { startup_us: Some(0.0), steps: Some(0), ..Record::default() };
        let field = |name| record.fields().nth(columns().position(|c| c == name).unwrap()).unwrap();
        assert_eq!(
            ["startup_us", "transmission_us", "steps", "messages"].map(field),
            ["0", "", "0", ""]
        );
    }

    #[test]
    fn bytes_beyond_64_bits_are_written_and_read_to_the_last_digit() {
        let record = Record { total_bytes: Some(188_296_863_814_778_880_000), ..Record::default() };
        let fields: Vec<String> = record.fields().collect();
        assert!(fields.iter().any(|f| f == "188296863814778880000"));
        let mut back = Record::default();
        back.set_outcome(record.outcome().collect::<Vec<_>>().iter().map(String::as_str)).unwrap();
        assert_eq!(back, record);
        assert!(
            serde_json::to_string(&record)
                .unwrap()
                .contains(r#""total_bytes":188296863814778880000"#)
        );
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
        let record = Record {
            status: Status::Ok,
            time_us: Some(0.1 + 0.2),
            steps: Some(3),
            ..Record::default()
        };
        let json = serde_json::to_string(&record).unwrap();
        assert!(
            json.contains(
                r#""status":"ok","reason":"","verified":"none","time_us":0.3,"startup_us":null"#
            ),
            "{json}"
        );
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(columns().all(|c| json.get(c).is_some()));
    }
}
