//! Result rows: CSV in and out, and the statistics between them.

mod compare;
mod field;
mod input;
mod output;
mod parts;
mod record;
mod render;
mod sink;
pub mod stats;
mod units;

pub use compare::{CompareError, Comparison, Group, Line, compare};
pub use input::{ReadError, read_file, read_files, read_records};
pub use output::CsvSink;
pub use parts::{NotFinite, Parts};
pub use record::{Record, Status, Verified, columns};
pub use render::{as_csv, as_json, as_markdown, as_table, in_words};
pub use sink::{Sink, SinkError, Sinks};
pub use units::duration;
