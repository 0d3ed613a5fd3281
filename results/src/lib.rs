//! Result rows: CSV in and out, and the statistics between them.

mod input;
mod output;
mod record;

pub use input::{ReadError, read_records};
pub use output::{CsvSink, Sink, SinkError};
pub use record::{Record, Status, Verified, columns};
