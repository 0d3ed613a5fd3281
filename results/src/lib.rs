//! Result rows: CSV in and out, and the statistics between them.

mod compare;
mod input;
mod output;
mod record;
mod render;
pub mod stats;

pub use compare::{CompareError, Comparison, Group, Line, compare};
pub use input::{ReadError, read_records};
pub use output::{CsvSink, Sink, SinkError};
pub use record::{Record, Status, Verified, columns};
pub use render::{as_csv, as_json, as_markdown, as_table, in_words};
