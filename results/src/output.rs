//! Where rows go.

use crate::record::{Record, columns};
use std::io::{self, Write};

/// Someone who takes rows; the run doesn't know who listens.
pub trait Sink {
    /// Takes a row.
    fn record(&mut self, record: &Record) -> Result<(), SinkError>;

    /// No more rows will come.
    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// A row that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The output failed: no space, a closed pipe.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<csv::Error> for SinkError {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(e) => Self::Io(e),
            other => Self::Io(io::Error::other(format!("{other:?}"))),
        }
    }
}

/// Rows as CSV (RFC 4180, UTF-8): one header, then each row written and flushed as it comes.
pub struct CsvSink<W: Write> {
    writer: csv::Writer<W>,
    headed: bool,
}

impl<W: Write> CsvSink<W> {
    /// Writes to `out`; the header comes with the first row, or at the end if there is none.
    pub fn new(out: W) -> Self {
        Self { writer: csv::WriterBuilder::new().from_writer(out), headed: false }
    }

    fn head(&mut self) -> Result<(), SinkError> {
        if !std::mem::replace(&mut self.headed, true) {
            self.writer.write_record(columns())?;
        }
        Ok(())
    }
}

impl<W: Write> Sink for CsvSink<W> {
    fn record(&mut self, record: &Record) -> Result<(), SinkError> {
        self.head()?;
        self.writer.write_record(record.fields())?;
        Ok(self.writer.flush()?)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.head()?;
        Ok(self.writer.flush()?)
    }
}
