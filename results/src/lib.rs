//! Result rows: CSV in and out, the statistics between them, and what many of them say together.

pub mod analysis;
mod command;
mod compare;
mod family;
mod field;
mod finite;
mod input;
mod merge;
mod output;
mod parts;
mod record;
mod render;
mod sink;
pub mod stats;
pub mod units;

pub use command::{command, machine_spec, quoted};
pub use compare::{CompareError, Comparison, Group, Line, RowAt, compare};
pub use family::family;
pub use finite::NotFinite;
pub use input::{ReadError, read_bytes, read_file, read_files, read_records};
pub use merge::{Key, MergeError, Merged, key as merge_key, merge};
pub use output::CsvSink;
pub use parts::Parts;
pub use record::{Record, Status, Verified, columns};
pub use render::{as_csv, as_html, as_json, as_markdown, as_table, escaped, in_words};
pub use sink::{Sink, SinkError, Sinks};
pub use units::duration;
