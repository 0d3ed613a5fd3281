//! Rows back from CSV.

use crate::record::{Record, columns};

/// A result file that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Not CSV, or not UTF-8.
    #[error("{file}: {reason}")]
    NotCsv {
        /// The file.
        file: String,
        /// What the reader says.
        reason: String,
    },
    /// The header lacks a column.
    #[error("{file}:1: the header has no column `{column}`, expected the columns that `swapmeet run --out` writes")]
    NoColumn {
        /// The file.
        file: String,
        /// The first that is missing.
        column: &'static str,
    },
    /// A field that makes no sense.
    #[error("{file}:{line}: column `{column}` is `{found}`, expected {expected}")]
    BadField {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// What it says.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// A row with too few or too many fields.
    #[error("{file}:{line}: {found} fields, expected {expected}")]
    BadRow {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// Fields in the row.
        found: usize,
        /// Columns in the header.
        expected: usize,
    },
    /// The last row broke off: the run that wrote it was stopped.
    #[error("{file}:{line}: the last row breaks off: the run that wrote it was stopped")]
    Torn {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
    },
}

/// Reads the rows of a result file; `file` is its name, for errors. Columns that this version doesn't know are passed over.
pub fn read_records(file: &str, content: &str) -> Result<Vec<Record>, ReadError> {
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let not_csv = |e: csv::Error| ReadError::NotCsv { file: file.to_owned(), reason: e.to_string() };
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(content.as_bytes());
    let header = reader.headers().map_err(not_csv)?.clone();
    // Remarks came later than the rest: a file without them is whole.
    if let Some(column) = columns().find(|c| *c != "note" && !header.iter().any(|h| h == *c)) {
        return Err(ReadError::NoColumn { file: file.to_owned(), column });
    }
    let whole = content.ends_with('\n');
    let mut rows = reader.records().peekable();
    let mut records = Vec::new();
    while let Some(row) = rows.next() {
        let row = row.map_err(not_csv)?;
        let line = row.position().map_or(0, csv::Position::line);
        if rows.peek().is_none() && !whole {
            return Err(ReadError::Torn { file: file.to_owned(), line });
        }
        if row.len() != header.len() {
            return Err(ReadError::BadRow { file: file.to_owned(), line, found: row.len(), expected: header.len() });
        }
        let mut record = Record::default();
        for (column, text) in header.iter().zip(&row) {
            if let Some(Err(expected)) = record.set(column, text) {
                let (column, found) = (column.to_owned(), text.to_owned());
                return Err(ReadError::BadField { file: file.to_owned(), line, column, found, expected });
            }
        }
        records.push(record);
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{CsvSink, Sink};
    use crate::record::{Status, Verified};
    use proptest::prelude::*;

    fn written(records: &[Record]) -> String {
        let mut out = Vec::new();
        let mut sink = CsvSink::new(&mut out);
        for record in records {
            sink.record(record).unwrap();
        }
        sink.finish().unwrap();
        drop(sink);
        String::from_utf8(out).unwrap()
    }

    fn any_record() -> impl Strategy<Value = Record> {
        let text = || "[a-z,\"\n\r ;ü]{0,12}";
        (text(), text(), any::<(u64, u32, Option<u64>)>(), prop::option::of(0.0..1e9_f64)).prop_map(
            |(algorithm, reason, (seed, repetition, steps), time)| Record {
                algorithm,
                reason,
                seed,
                repetition,
                steps,
                time_us: time.map(|t| (t * 1e6).round() / 1e6),
                status: Status::Invalid,
                verified: Verified::Amounts,
                ..Record::default()
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(records in prop::collection::vec(any_record(), 0..4)) {
            prop_assert_eq!(read_records("rows.csv", &written(&records)).unwrap(), records);
        }
    }

    #[test]
    fn a_broken_file_is_named_with_line_and_column() {
        let good = written(&[Record::default(), Record::default()]);
        let error = |text: &str| read_records("rows.csv", text).unwrap_err().to_string();
        assert_eq!(
            error(&good.replacen("error", "fine", 1)),
            "rows.csv:2: column `status` is `fine`, expected one of ok, unsupported, invalid, crashed, timeout, error"
        );
        assert_eq!(
            error(&good.replace(",steps,", ",paces,")),
            "rows.csv:1: the header has no column `steps`, expected the columns that `swapmeet run --out` writes"
        );
        assert_eq!(
            error(good.trim_end_matches(['\n', ','])),
            "rows.csv:3: the last row breaks off: the run that wrote it was stopped"
        );
        assert_eq!(error(&format!("{good}one,two\n")), "rows.csv:4: 2 fields, expected 38");
    }

    #[test]
    fn columns_of_a_later_version_are_passed_over() {
        let text = written(&[Record::default()]).replace("note\n", "note,colour\n").replace(",\n", ",,green\n");
        assert_eq!(read_records("rows.csv", &text), Ok(vec![Record::default()]));
    }
}
