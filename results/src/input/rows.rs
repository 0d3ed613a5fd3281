//! An iterator over the rows of a text. Only two rows are in memory at a time.

use super::{ReadError, TornRow};
use crate::changed_defaults;
use crate::record::{Column, Record, column, columns, required_columns};
use std::io::{self, Read};
use swapmeet_core::spec::format_size;
use swapmeet_core::text::excerpt;

/// The version of rows that have no column for the version.
const FIRST_VERSION: &str = "0.1.0";

/// Some programs write this mark at the start of a text file.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

pub(crate) struct Rows<R> {
    file: String,
    reader: csv::Reader<RecordingReader<R>>,
    header: Header,
    line: u64,
    /// The next row. It is read in advance, because only the last row of a file can be torn.
    next: Option<RawRow>,
    torn: Option<TornRow>,
}

#[derive(Debug)]
pub(crate) struct LocatedRecord {
    /// A reader that starts at this offset reads this row next, perhaps after blank lines.
    pub(crate) from: u64,
    pub(crate) record: Record,
}

struct RawRow {
    fields: csv::ByteRecord,
    /// The position of the reader before it read this row and the blank lines before it.
    from: u64,
    /// The offset of the row's own text, after the blank lines.
    start: u64,
    line: u64,
    text: Vec<u8>,
}

impl<R: Read> Rows<R> {
    pub(crate) fn new(file: String, text: R) -> Result<Self, ReadError> {
        let recording = RecordingReader { inner: text, bytes: Vec::new() };
        let reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(recording);
        let mut rows =
            Self { file, reader, header: Header::default(), line: 1, next: None, torn: None };
        let (_, head) = rows.read_next()?;
        let text = head.text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head.text);
        if text.is_empty() && rows.line == 1 {
            return Err(ReadError::Empty { file: rows.file });
        }
        rows.next = rows.read_next_row()?;
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let is_all = rows.next.is_none() && rows.line == 1;
        if is_all && columns().collect::<Vec<_>>().join(",").as_bytes().starts_with(text) {
            // The only line is the beginning of this program's header, so the header is torn.
            return Err(ReadError::TornHeader { file: rows.file });
        }
        let names = csv::StringRecord::from_byte_record(head.fields)
            .map_err(|_| ReadError::NotUtf8 { file: rows.file.clone(), line: head.line })?;
        check_header(&rows.file, &names)?;
        rows.header = Header::new(names);
        Ok(rows)
    }

    /// Returns the last row if it is torn. Must be called after the last row was read.
    pub(crate) fn into_torn(self) -> Option<TornRow> {
        self.torn
    }

    fn read_next_row(&mut self) -> Result<Option<RawRow>, ReadError> {
        self.read_next().map(|(is_row, raw)| is_row.then_some(raw))
    }

    /// Reads the next row, perhaps after blank lines. The flag is false at the end of the text.
    fn read_next(&mut self) -> Result<(bool, RawRow), ReadError> {
        let from = self.reader.position().byte();
        let mut fields = csv::ByteRecord::new();
        let is_row = self
            .reader
            .read_byte_record(&mut fields)
            .map_err(|source| ReadError::NotCsv { file: self.file.clone(), source })?;
        let length = self.reader.position().byte() - from;
        let mut text = self.reader.get_mut().take_first(length);
        let skipped = text.iter().take_while(|b| matches!(b, b'\n' | b'\r')).count();
        let line = self.line + super::line_ends(&text[..skipped]);
        self.line += super::line_ends(&text);
        text.drain(..skipped);
        Ok((is_row, RawRow { fields, from, start: from + skipped as u64, line, text }))
    }

    /// Parses a row. Returns `None` if it is the last one and so torn that it cannot be read.
    fn parse_row(&mut self, raw: RawRow) -> Result<Option<LocatedRecord>, ReadError> {
        let RawRow { fields, from, start, line, text } = raw;
        let file = self.file.clone();
        let not_utf8 = |good: usize| ReadError::NotUtf8 {
            file: file.clone(),
            line: line + super::line_ends(&text[..good]),
        };
        if let Err(error) = std::str::from_utf8(&text)
            && error.error_len().is_some()
        {
            return Err(not_utf8(error.valid_up_to()));
        }
        let is_short = fields.len() < self.header.names.len();
        let is_torn = self.next.is_none() && (is_short || is_incomplete(&text));
        let record = csv::StringRecord::from_byte_record(fields)
            .map_err(|_| not_utf8(0))
            .and_then(|fields| self.header.record(&self.file, line, &fields));
        if is_torn {
            // The last value may be cut off, so it is no error if this value is invalid.
            let is_read = !is_short && !is_quoted(&text) && record.is_ok();
            self.torn = Some(TornRow { file, line, intact: start, is_read });
            if !is_read {
                return Ok(None);
            }
        }
        record.map(|record| Some(LocatedRecord { from, record }))
    }
}

impl<R: Read> Iterator for Rows<R> {
    type Item = Result<LocatedRecord, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let raw = self.next.take()?;
        match self.read_next_row() {
            Ok(next) => self.next = next,
            Err(error) => return Some(Err(error)),
        }
        self.parse_row(raw).transpose()
    }
}

/// The columns of a file, which are looked up by name only once, and not for each row.
#[derive(Default)]
pub(crate) struct Header {
    names: csv::StringRecord,
    columns: Vec<Option<&'static Column>>,
    /// Whether there is a column of the version. The first version did not write this column.
    has_version: bool,
}

impl Header {
    pub(crate) fn new(names: csv::StringRecord) -> Self {
        let columns = names.iter().map(column).collect();
        let has_version = names.iter().any(|name| name == "swapmeet_version");
        Self { names, columns, has_version }
    }

    pub(crate) fn record(
        &self,
        file: &str,
        line: u64,
        row: &csv::StringRecord,
    ) -> Result<Record, ReadError> {
        if row.len() != self.names.len() {
            return Err(ReadError::BadRow {
                file: file.to_owned(),
                line,
                found: row.len(),
                expected: self.names.len(),
            });
        }
        let bad = |column: &str, found: &str, expected: String| {
            let (file, column, found) = (file.to_owned(), excerpt(column), excerpt(found));
            ReadError::BadField { file, line, column, found, expected }
        };
        if let Some((name, field)) = self.names.iter().zip(row).find(|(_, f)| f.contains('\0')) {
            return Err(bad(name, field, "a text without NUL".to_owned()));
        }
        let mut record = Record::default();
        for ((name, column), field) in self.names.iter().zip(&self.columns).zip(row) {
            if let Some(column) = column {
                column.set(&mut record, field).map_err(|expected| bad(name, field, expected))?;
            }
        }
        if let Some((column, expected)) = record.impossible_value() {
            let found = self
                .names
                .iter()
                .zip(row)
                .find(|(name, _)| *name == column)
                .map_or("", |(_, field)| field);
            return Err(bad(column, found, expected.to_owned()));
        }
        if !self.has_version {
            FIRST_VERSION.clone_into(&mut record.swapmeet_version);
        }
        changed_defaults::explicit(&mut record);
        if !self.has_version {
            record.swapmeet_version.clear();
        }
        Ok(record)
    }
}

fn check_header(file: &str, header: &csv::StringRecord) -> Result<(), ReadError> {
    // Only columns that all versions have are required.
    if let Some(column) = required_columns().find(|c| !header.iter().any(|h| h == *c)) {
        return Err(ReadError::NoColumn { file: file.to_owned(), column });
    }
    let repeated = header
        .iter()
        .enumerate()
        .find(|(i, column)| header.iter().take(*i).any(|earlier| earlier == *column));
    match repeated {
        Some((_, column)) => {
            Err(ReadError::ColumnTwice { file: file.to_owned(), column: excerpt(column) })
        }
        None => Ok(()),
    }
}

/// Returns whether a row has no line end, or only a line end inside a quoted field.
fn is_incomplete(row: &[u8]) -> bool {
    !row.ends_with(b"\n") && !row.ends_with(b"\r") || is_quoted(row)
}

fn is_quoted(row: &[u8]) -> bool {
    row.iter().filter(|b| **b == b'"').count() % 2 == 1
}

/// A reader that records the bytes of a row. They are needed to check whether the row is complete.
struct RecordingReader<R> {
    inner: R,
    bytes: Vec<u8>,
}

impl<R> RecordingReader<R> {
    fn take_first(&mut self, count: u64) -> Vec<u8> {
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.bytes.len());
        self.bytes.drain(..count).collect()
    }
}

impl<R: Read> Read for RecordingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        /// The maximum size of a row. Without this limit, `/dev/zero` would fill the memory.
        const MAX_BYTES: usize = 64 << 20;
        if self.bytes.len() > MAX_BYTES {
            let limit = format_size(MAX_BYTES as u64);
            return Err(io::Error::other(format!("a row of more than {limit}, expected less")));
        }
        let count = self.inner.read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}
