//! Result rows: CSV in and out, the statistics between them, and what many of them say together.

mod again;
pub mod analysis;
mod beside;
mod case_id;
mod command;
mod compare;
mod family;
mod field;
mod finite;
mod input;
mod merge;
mod output;
pub mod parts;
mod record;
mod render;
pub mod stats;
pub mod units;
pub mod whole;

pub use beside::{Beside, MEASURED, is_measured};
pub use case_id::{CaseId, Difference, Implementation, Setting, inputs_column};
pub use command::{command, quoted};
pub use compare::{CompareError, Comparison, Group, Line, RowAt, Tests, compare};
pub use family::family;
pub use finite::NotFinite;
pub use input::{ReadError, read_bytes, read_file, read_files, read_records};
pub use merge::{MergeError, Merged, Missing, Mixture, Shards};
pub use output::{CsvSink, Sink};
pub use record::{About, Record, Status, Verified, about_columns, columns, outcome_columns};
pub use render::{as_csv, as_html, as_json, as_markdown, as_table, escaped, in_words};
pub use swapmeet_core::cost::model::Parts;
pub use units::duration;
