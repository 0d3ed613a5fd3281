//! A row of results. A single table of columns defines the CSV header, the text of each field, the
//! parser and the JSON output. serde's derive with the csv crate is not used for three reasons: csv
//! writes floating-point numbers differently from `{}`, JSON needs numbers, and errors about a
//! field would not name its column.

use crate::field::{Field, NotFinite, words};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher};

words! {
    /// How a case ended.
    Status {
        /// The case ran and was verified.
        Ok = "ok",
        /// The algorithm does not support this case.
        Unsupported = "unsupported",
        /// The schedule broke a rule.
        Invalid = "invalid",
        /// The plugin ended its process.
        Crashed = "crashed",
        /// The case exceeded its time limit.
        Timeout = "timeout",
        /// The plugin or another part of the run failed.
        #[default]
        Error = "error",
    }
}

words! {
    /// The kind of data whose delivery was verified.
    Verified {
        /// Every block was traced to its destination.
        Blocks = "blocks",
        /// All bytes for each destination arrived, but their origins were not traced.
        Amounts = "amounts",
        /// Every result holds each node's contribution once.
        Contributions = "contributions",
        /// Real bytes were sent, and the contents of every block were checked at its destination.
        Bytes = "bytes",
        /// Nothing was verified.
        #[default]
        None = "none",
    }
}

/// The maximum time in a row, in µs. The age of the universe is less than 1e24 µs.
pub const MOST_US: f64 = 1e30;

#[derive(Debug)]
pub(crate) struct Column {
    info: ColumnInfo,
    /// Whether the column belongs to the outcome of the case, and not to its identity.
    is_outcome: bool,
    write: fn(&Record) -> String,
    read: fn(&mut Record, &str) -> Result<(), String>,
    number: fn(&Record) -> Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnInfo {
    pub name: &'static str,
    /// The type, named as in Table Schema: `string`, `integer` or `number`. Any field can be empty.
    pub kind: &'static str,
    pub meaning: &'static str,
}

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
        /// One row: a case and its outcome. Times are in microseconds (`plan_ms` and `wall_ms` in
        /// milliseconds), sizes in bytes. Sums of bytes have 128 bits because a schedule can
        /// forward the same bytes many times. The default status is `error`.
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
            /// Returns the row that is read back after this row was written. Its times are rounded.
            pub fn as_written(&self) -> Self {
                Self { $($name: self.$name.as_written(),)+ }
            }

            /// Hashes those outcome columns for which `is_hashed` returns true.
            fn hash_outcome(&self, state: &mut impl Hasher, is_hashed: impl Fn(&str) -> bool) {
                $(if is_outcome!($kind) && is_hashed(stringify!($name)) {
                    self.$name.hash_as_written(state);
                })+
            }
        }

        /// The JSON form of a row. If a field is empty in CSV, it is `null` in JSON.
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
    /// Name of the experiment.
    case experiment: String,
    /// The algorithm, with its parameters.
    case algorithm: String,
    /// The plugin that provides the algorithm.
    case plugin: String,
    /// Version of the plugin.
    case plugin_version: String,
    /// The collective operation.
    case collective: String,
    /// The network, its routing and the placement of ranks.
    case topology: String,
    /// Ranks that take part.
    case nodes: u64,
    /// The sizes of the blocks.
    case workload: String,
    /// The machine, with its parameters.
    case machine: String,
    /// The cost model of the machine.
    case model: String,
    /// Number of the repetition, from 0.
    case repetition: u32,
    /// Seed of the repetition.
    case seed: u64,
    /// How the case ended.
    outcome status: Status,
    /// Why the case is not `ok`.
    outcome reason: String,
    /// What was verified.
    outcome verified: Verified,
    /// Completion time: the sum of its seven parts (start-up, transmission, propagation,
    /// rearrangement, barrier, contention, reduction).
    outcome time_us: Option<f64>,
    /// Time for the start-ups of messages.
    outcome startup_us: Option<f64>,
    /// Time for transmitting bytes over links.
    outcome transmission_us: Option<f64>,
    /// Time for hops and latencies of links.
    outcome propagation_us: Option<f64>,
    /// Time for rearranging data within nodes.
    outcome rearrangement_us: Option<f64>,
    /// Time for barriers between steps.
    outcome barrier_us: Option<f64>,
    /// Time added by sharing links or waiting for ports.
    outcome contention_us: Option<f64>,
    /// Lower bound on the time of any schedule on this machine.
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
    /// Maximum number of messages on one directed link in one step.
    outcome max_link_messages: Option<u64>,
    /// Sum over steps of the maximum number of messages on one link.
    outcome sum_link_messages: Option<u64>,
    /// Maximum number of messages that one node sends in one step.
    outcome max_sends: Option<u64>,
    /// Maximum number of messages that one node receives in one step.
    outcome max_receives: Option<u64>,
    /// Maximum number of bytes that one node holds, at the start or at the end of a step.
    outcome peak_node_bytes: Option<u128>,
    /// How many times nodes rearrange their data.
    outcome rearrangements: Option<u64>,
    /// Time for planning, verifying and measuring the schedule of the row; rows of one schedule
    /// share it.
    outcome plan_ms: Option<f64>,
    /// The row's share of the total time spent on its schedule.
    outcome wall_ms: Option<f64>,
    /// A remark for people, such as that the machine ran a step in several rounds.
    outcome note: String,
    /// Maximum number of bytes that one node sends in one phase, including what it keeps for
    /// itself.
    outcome send_buffer_bytes: Option<u128>,
    /// Maximum number of bytes that one node receives in one phase, including what it keeps for
    /// itself.
    outcome receive_buffer_bytes: Option<u128>,
    /// Version of the program that made the row.
    case swapmeet_version: String,
    /// Digest of the plugin's file.
    case plugin_digest: String,
    /// The machine as a preset with the value of each of its parameters.
    case machine_definition: String,
    /// The files named by topology and workload, each with a digest of its contents.
    case inputs: String,
    /// Bytes of a block, if all blocks have the same size.
    case block_bytes: Option<u64>,
    /// The argument that gives `lower_bound_us`.
    outcome bound_kind: String,
    /// Nodes that were planned and verified: one of each symmetry orbit, or all of them.
    outcome proved_on: Option<u64>,
    /// Time for reducing data from different nodes; empty if nothing is reduced.
    outcome reduction_us: Option<f64>,
    /// When the first rank finished, in models in which each rank has a clock of its own.
    outcome first_rank_us: Option<f64>,
    /// When ranks finished on average, in models in which each rank has a clock of its own.
    outcome mean_rank_us: Option<f64>,
    /// Nodes whose own plans were used, or were compared with the symmetry that the schedule
    /// claims; 0 if the claim was not compared.
    outcome compared_on: Option<u64>,
    /// Lower end of the interval of the optimum plus the start-ups and latencies that no schedule
    /// avoids; empty without `--optimum`.
    outcome optimum_us: Option<f64>,
    /// Relative width of the interval of the optimum, without start-ups and latencies: upper end /
    /// lower end - 1.
    outcome optimum_gap: Option<f64>,
    /// The links of the network that were drawn at random and failed or are slow, as arguments of a
    /// topology.
    outcome faults: String,
    /// Communicators that run the collective at the same time (`over=`); empty without `over=`.
    outcome communicators: Option<u64>,
    /// Ranks of a communicator.
    outcome members: Option<u64>,
    /// Time of one communicator without the others; empty without `over=`.
    outcome alone_us: Option<f64>,
    /// The protocol of the library with the shortest time, if the machine has several.
    outcome protocol: String,
    /// Rounds of all steps; more than `steps` if a step has more messages of a node or circuits of
    /// a link than the machine carries at a time. Empty if the model runs no step in rounds.
    outcome rounds: Option<u64>,
    /// The other jobs that run at the same time, each as an algorithm, a workload and its start
    /// relative to that of the row (`start_us=`); separated by ` + `. Empty without `--beside` and
    /// `[[together]]`.
    case together: String,
}

pub fn column_infos() -> impl Iterator<Item = ColumnInfo> {
    COLUMNS.iter().map(|c| c.info)
}

pub(crate) fn column(name: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|c| c.info.name == name)
}

impl Column {
    /// Sets the column from a text. The error states what was expected.
    pub(crate) fn set(&self, record: &mut Record, text: &str) -> Result<(), String> {
        (self.read)(record, text)
    }
}

pub fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|c| c.info.name)
}

pub fn outcome_columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().filter(|c| c.is_outcome).map(|c| c.info.name)
}

/// Returns the columns of every result file. Later versions added other columns after them.
pub(crate) fn required_columns() -> impl Iterator<Item = &'static str> {
    const LAST: &str = "wall_ms";
    let count = columns().take_while(|c| *c != LAST).count() + 1;
    columns().take(count)
}

impl Record {
    /// Returns the text of the column with this name, if there is such a column.
    pub fn field(&self, name: &str) -> Option<String> {
        column(name).map(|column| (column.write)(self))
    }

    /// Returns the value of a column of floating-point numbers, if it is one and not empty.
    pub fn number(&self, name: &str) -> Option<f64> {
        column(name).and_then(|column| (column.number)(self))
    }

    pub fn fields(&self) -> impl Iterator<Item = String> + '_ {
        COLUMNS.iter().map(|c| (c.write)(self))
    }

    pub fn outcome(&self) -> impl Iterator<Item = String> + '_ {
        COLUMNS.iter().filter(|c| c.is_outcome).map(|c| (c.write)(self))
    }

    /// Sets the outcome columns from their texts. If a text is invalid, the error names its column.
    pub fn set_outcome<'a>(
        &mut self,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), String> {
        let mut texts = texts.into_iter();
        for column in COLUMNS.iter().filter(|c| c.is_outcome) {
            let text =
                texts.next().ok_or_else(|| format!("column {} is missing", column.info.name))?;
            (column.read)(self, text)
                .map_err(|expected| format!("{}: expected {expected}", column.info.name))?;
        }
        if texts.next().is_some() {
            return Err("too many outcome columns".to_owned());
        }
        match self.impossible_value() {
            Some((column, expected)) => Err(format!("{column}: expected {expected}")),
            None => Ok(()),
        }
    }

    /// Returns the first column of an `ok` row with an impossible value, and what was expected.
    pub(crate) fn impossible_value(&self) -> Option<(&'static str, &'static str)> {
        if self.status != Status::Ok {
            return None;
        }
        if self.time_us.is_none() {
            return Some(("time_us", "a time: the row is `ok`"));
        }
        let is_negative = |column: &&Column| (column.number)(self).is_some_and(|n| n < 0.0);
        COLUMNS.iter().find(is_negative).map(|column| (column.info.name, "a number of 0 or more"))
    }

    pub(crate) fn outcome_numbers(&self) -> impl Iterator<Item = &'static str> {
        let has_number = |column: &&Column| column.is_outcome && (column.number)(self).is_some();
        COLUMNS.iter().filter(has_number).map(|column| column.info.name)
    }

    /// Returns the verification for tables, with the number of nodes whose plans were compared.
    pub fn verification(&self) -> String {
        verification(self.verified, self.compared_on, self.nodes).into_owned()
    }

    /// Hashes the outcome columns that are equal in all rows of the same case. These do not include
    /// `plan_ms` and `wall_ms`, columns that earlier versions lack, and the optimum, which some
    /// runs lack.
    pub(crate) fn hash_comparable(&self, hasher: &impl BuildHasher) -> u64 {
        const DIFFERING: [&str; 7] =
            ["plan_ms", "wall_ms", "note", "optimum_us", "optimum_gap", "faults", "rounds"];
        let mut state = hasher.build_hasher();
        self.hash_outcome(&mut state, |column| !DIFFERING.contains(&column));
        self.nodes.hash_as_written(&mut state);
        self.block_bytes.hash_as_written(&mut state);
        state.finish()
    }

    /// Returns an error for the first column whose value is not finite and cannot be read back.
    pub(crate) fn unwritable(&self) -> Option<NotFinite> {
        COLUMNS.iter().find_map(|c| {
            let value = (c.number)(self).filter(|value| !value.is_finite())?;
            Some(NotFinite { column: c.info.name, value })
        })
    }
}

/// `compared_on` is the number of `nodes` whose plans were compared with a claimed symmetry.
pub(crate) fn verification(
    verified: Verified,
    compared_on: Option<u64>,
    nodes: u64,
) -> Cow<'static, str> {
    match compared_on {
        Some(compared) if compared < nodes => format!("{verified} ({compared} of {nodes})").into(),
        _ => verified.word().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns that the documentation promises, in this order. Other columns may follow them.
    const PROMISED: &str = "experiment, algorithm, plugin, plugin_version, collective, topology, nodes, workload, machine, model, repetition, \
        seed, status, reason, verified, time_us, startup_us, transmission_us, propagation_us, rearrangement_us, barrier_us, contention_us, \
        lower_bound_us, steps, messages, critical_bytes, critical_hops, total_bytes, total_hop_bytes, max_link_messages, sum_link_messages, \
        max_sends, max_receives, peak_node_bytes, rearrangements, plan_ms, wall_ms";

    #[test]
    fn promised_columns_come_first_and_in_order() {
        assert_eq!(
            columns().collect::<Vec<_>>().join(", "),
            format!(
                "{PROMISED}, note, send_buffer_bytes, receive_buffer_bytes, swapmeet_version, plugin_digest, machine_definition, inputs, \
                 block_bytes, bound_kind, proved_on, reduction_us, first_rank_us, mean_rank_us, compared_on, optimum_us, optimum_gap, faults, communicators, members, alone_us, protocol, rounds, together"
            )
        );
    }

    #[test]
    fn negative_times_are_refused() {
        let times: Vec<ColumnInfo> = column_infos().filter(|info| info.kind == "number").collect();
        assert!(times.len() > 10);
        for ColumnInfo { name, .. } in times {
            let mut row = Record { status: Status::Ok, time_us: Some(1.0), ..Record::default() };
            column(name).unwrap().set(&mut row, "-1").unwrap();
            assert_eq!(row.impossible_value(), Some((name, "a number of 0 or more")));
        }
    }

    #[test]
    fn a_missing_value_is_empty_and_a_zero_is_a_zero() {
        let record = Record { startup_us: Some(0.0), steps: Some(0), ..Record::default() };
        let field = |name| record.fields().nth(columns().position(|c| c == name).unwrap()).unwrap();
        assert_eq!(
            ["startup_us", "transmission_us", "steps", "messages"].map(field),
            ["0", "", "0", ""]
        );
    }

    #[test]
    fn the_nodes_that_were_compared_are_shown_if_these_are_not_all() {
        let shown = |compared_on| {
            let verified = Verified::Blocks;
            Record { nodes: 4096, verified, compared_on, ..Record::default() }.verification()
        };
        assert_eq!(
            [None, Some(4096), Some(4), Some(0)].map(shown),
            ["blocks", "blocks", "blocks (4 of 4096)", "blocks (0 of 4096)"]
        );
    }

    #[test]
    fn bytes_beyond_64_bits_are_exact() {
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
