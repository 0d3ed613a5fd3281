//! Rows back from CSV.
//!
//! A file may have been cut off anywhere: the run that wrote it was stopped, the disk was full.
//! Then its last row is torn, and everything before it is whole. That is told apart from a file
//! that is wrong ([`ReadError::Torn`]), because a run can be taken up from there.

mod rows;

use crate::record::Record;
pub(crate) use rows::{Header, LocatedRecord, Rows};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use swapmeet_core::spec::format_size;

/// A result file that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It can't be opened, or reading failed.
    #[error("{file}: {source}")]
    Io {
        file: String,
        /// What the system says.
        source: io::Error,
    },
    #[error("{file}: with it there are more than {} of rows, expected at most that in all files together", format_size(*most))]
    TooMuch { file: String, most: u64 },
    #[error("{file}:{line}: not UTF-8, expected the text that `swapmeet run --out` writes")]
    NotUtf8 {
        file: String,
        /// The line, from 1.
        line: u64,
    },
    /// What was read once is not there the second time.
    #[error("{file}: it changed while it was read, expected the same rows both times")]
    Changed { file: String },
    #[error("{file}: {source}")]
    NotCsv {
        file: String,
        /// What the reader says.
        source: csv::Error,
    },
    #[error("{file}: empty, expected a header and rows")]
    Empty { file: String },
    /// The header lacks a column.
    #[error(
        "{file}:1: the header has no column `{column}`, expected the columns that `swapmeet run --out` writes"
    )]
    NoColumn {
        file: String,
        /// The first that is missing.
        column: &'static str,
    },
    /// The header has a column twice.
    #[error("{file}:1: the header has column `{column}` twice, expected it once")]
    ColumnTwice {
        file: String,
        /// The first that comes again.
        column: String,
    },
    /// A field that makes no sense.
    #[error("{file}:{line}: column `{column}` is `{found}`, expected {expected}")]
    BadField {
        file: String,
        /// The line, from 1.
        line: u64,
        column: String,
        found: String,
        expected: String,
    },
    /// A row with too few or too many fields.
    #[error("{file}:{line}: {found} fields, expected {expected}")]
    BadRow {
        file: String,
        /// The line, from 1.
        line: u64,
        /// Fields in the row.
        found: usize,
        /// Columns in the header.
        expected: usize,
    },
    /// The last row breaks off.
    #[error("{file}:{line}: the last row breaks off: the run that wrote it was stopped")]
    Torn {
        file: String,
        /// The line on which the row starts, from 1.
        line: u64,
        /// How many bytes of the file come before it: these can be read, and written on from.
        intact: usize,
    },
}

/// Reads the rows of a result file.
pub fn read_file(path: &Path) -> Result<Vec<Record>, ReadError> {
    let file = path.display().to_string();
    match std::fs::read(path) {
        Ok(bytes) => read_bytes(file, &bytes),
        Err(source) => Err(ReadError::Io { file, source }),
    }
}

/// Reads the rows of result files, each with its name, as [`compare`](crate::compare) takes them.
pub fn read_files<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<(String, Vec<Record>)>, ReadError> {
    /// Of all of them together: about a million rows, which take four times as much while they are
    /// compared.
    const MOST: u64 = 512 << 20;
    read_up_to(paths, MOST)
}

fn read_up_to<P: AsRef<Path>>(
    paths: &[P],
    most: u64,
) -> Result<Vec<(String, Vec<Record>)>, ReadError> {
    let mut left = most;
    let mut files = Vec::new();
    for path in paths {
        let file = path.as_ref().display().to_string();
        let failed = |source| ReadError::Io { file: file.clone(), source };
        let mut bytes = Vec::new();
        let opened = File::open(path).map_err(failed)?;
        opened.take(left + 1).read_to_end(&mut bytes).map_err(failed)?;
        left = left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| ReadError::TooMuch { file: file.clone(), most })?;
        let rows = read_bytes(file.clone(), &bytes)?;
        files.push((file, rows));
    }
    Ok(files)
}

/// Reads the rows of a result file's bytes; `file` is its name, for errors.
pub fn read_bytes(file: String, bytes: &[u8]) -> Result<Vec<Record>, ReadError> {
    let error = match std::str::from_utf8(bytes) {
        Ok(content) => return read_records(&file, content),
        Err(error) => error,
    };
    let (good, _) = bytes.split_at(error.valid_up_to());
    if error.error_len().is_none() {
        // Cut off within a character, and so within a row, be it at its very start.
        read_records(&file, &String::from_utf8_lossy(good))?;
        return Err(ReadError::Torn { file, line: 1 + line_ends(good), intact: good.len() });
    }
    Err(ReadError::NotUtf8 { file, line: 1 + line_ends(good) })
}

fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|b| **b == b'\n').count() as u64
}

/// Reads the rows of a result file's text; `file` is its name, for errors. Columns that this
/// version doesn't know are passed over.
pub fn read_records(file: &str, content: &str) -> Result<Vec<Record>, ReadError> {
    Rows::new(file.to_owned(), content.as_bytes())?.map(|row| row.map(|row| row.record)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::output::{CsvSink, Sink};
    use crate::record::{Status, Verified};
    use crate::record::{columns, required_columns};
    use proptest::prelude::*;

    pub(crate) fn written(records: &[Record]) -> String {
        let mut out = Vec::new();
        let mut sink = CsvSink::new(&mut out);
        for record in records {
            sink.record(record).unwrap();
        }
        sink.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    fn read(text: &str) -> Vec<Record> {
        read_records("rows.csv", text).unwrap()
    }

    fn error(text: &str) -> String {
        read_records("rows.csv", text).unwrap_err().to_string()
    }

    /// Any text: much of what CSV has to quote, and anything else.
    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z,\"\n\r ;ü\u{feff}]{0,12}", any::<String>()]
    }

    fn any_figure() -> impl Strategy<Value = Option<f64>> {
        prop::option::of(prop_oneof![
            0.0..1e5_f64,
            0.0..3e9_f64,
            prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO
        ])
    }

    prop_compose! {
        fn any_record()(
            texts in prop::array::uniform6(any_text()),
            (seed, repetition, nodes, steps, messages) in any::<(u64, u32, u64, Option<u64>, Option<u64>)>(),
            figures in prop::array::uniform4(any_figure()),
            status in prop::sample::select(Status::ALL),
            verified in prop::sample::select(Verified::ALL),
        ) -> Record {
            let [experiment, algorithm, workload, machine, reason, note] = texts;
            // An `ok` row has times, and none is below 0.
            let [time_us, startup_us, lower_bound_us] = match status {
                Status::Ok => [Some(figures[0].unwrap_or(1.0)), figures[1], figures[2]].map(|t| t.map(f64::abs)),
                _ => [figures[0], figures[1], figures[2]],
            };
            let wall_ms = figures[3];
            Record {
                experiment, algorithm, workload, machine, reason, note, seed, repetition, nodes, steps, messages, status, verified,
                time_us, startup_us, lower_bound_us, wall_ms, ..Record::default()
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(records in prop::collection::vec(any_record(), 0..4)) {
            let text = written(&records);
            let back = read(&text);
            prop_assert_eq!(&back, &records.iter().map(Record::as_written).collect::<Vec<_>>());
            prop_assert_eq!(written(&back), text, "nothing changes the second time");
        }

        /// Cut off anywhere, a file is torn, and what comes before the tear is all the rows that
        /// were finished.
        #[test]
        fn a_file_cut_off_anywhere_gives_its_finished_rows(records in prop::collection::vec(any_record(), 1..4), at in any::<prop::sample::Index>()) {
            let whole = written(&records);
            let header = whole.find('\n').unwrap() + 1;
            let bytes = &whole.as_bytes()[..header + at.index(whole.len() - header)];
            let ends: Vec<usize> = (0..=records.len()).map(|n| written(&records[..n]).len()).collect();
            let finished = match read_bytes("rows.csv".to_owned(), bytes) {
                Ok(rows) => {
                    prop_assert!(ends.contains(&bytes.len()), "a torn row went unnoticed");
                    rows
                }
                Err(ReadError::Torn { intact, .. }) => read_bytes("rows.csv".to_owned(), &bytes[..intact]).unwrap(),
                Err(error) => return Err(TestCaseError::fail(error.to_string())),
            };
            let whole_rows = ends.iter().filter(|end| **end <= bytes.len()).count() - 1;
            prop_assert_eq!(finished, records[..whole_rows].iter().map(Record::as_written).collect::<Vec<_>>());
        }
    }

    #[test]
    fn files_are_read_up_to_a_bound_that_they_share() {
        let dir = tempfile::tempdir().unwrap();
        let paths = ["a.csv", "b.csv"].map(|name| dir.path().join(name));
        let text = written(&[Record::default()]);
        paths.iter().for_each(|path| std::fs::write(path, &text).unwrap());
        let both = 2 * text.len() as u64;
        assert_eq!(read_up_to(&paths, both).unwrap().len(), 2);
        let error = read_up_to(&paths, both - 1).unwrap_err().to_string();
        let size = format_size(both - 1);
        let expected = format!(
            "b.csv: with it there are more than {size} of rows, expected at most that in all files together"
        );
        assert!(error.ends_with(&expected), "{error}");
        // Not even a file without an end holds it up.
        let error = read_up_to(&["/dev/zero"], 1 << 20).unwrap_err().to_string();
        assert!(
            error.starts_with("/dev/zero: with it there are more than 1MiB of rows"),
            "{error}"
        );
    }

    /// Rows that are read one by one have no bound together, so each has its own.
    #[test]
    fn a_row_without_an_end_does_not_fill_the_memory() {
        let error = Rows::new("zeros".to_owned(), io::repeat(0)).err().unwrap().to_string();
        assert_eq!(error, "zeros: a row of more than 64MiB, expected less");
    }

    #[test]
    fn a_broken_file_is_named_with_line_and_column() {
        let good = written(&[Record::default(), Record::default()]);
        assert_eq!(
            error(&good.replacen("error", "fine", 1)),
            "rows.csv:2: column `status` is `fine`, expected one of ok, unsupported, invalid, crashed, timeout, error"
        );
        assert_eq!(
            error(&good.replace(",steps,", ",paces,")),
            "rows.csv:1: the header has no column `steps`, expected the columns that `swapmeet run --out` writes"
        );
        assert_eq!(
            error(&good.replace("wall_ms,note", "wall_ms,note,steps")),
            "rows.csv:1: the header has column `steps` twice, expected it once"
        );
        let all = columns().count();
        let fields = |n: usize| format!("rows.csv:2: {n} fields, expected {all}");
        assert_eq!(error(&good.replacen(",error,", ",error,,", 1)), fields(all + 1));
        assert_eq!(error(&good.replacen(",error,", "", 1)), fields(all - 2));
        assert_eq!(error(""), "rows.csv: empty, expected a header and rows");
        let latin = good.replacen("error", "\u{1}", 1).into_bytes();
        let latin: Vec<u8> = latin.into_iter().map(|b| if b == 1 { 0xe9 } else { b }).collect();
        assert_eq!(
            read_bytes("rows.csv".to_owned(), &latin).unwrap_err().to_string(),
            "rows.csv:2: not UTF-8, expected the text that `swapmeet run --out` writes"
        );
        assert!(
            read_file(Path::new("nowhere.csv"))
                .unwrap_err()
                .to_string()
                .starts_with("nowhere.csv: ")
        );
    }

    #[test]
    fn a_torn_last_row_is_told_from_a_wrong_one() {
        let note = |note: &str| Record { note: note.to_owned(), ..Record::default() };
        let good = written(&[Record::default(), note("in turns:\n3 sends")]);
        let torn = |text: &str| match read_records("rows.csv", text) {
            Err(ReadError::Torn { line, intact, .. }) => {
                (line, intact == written(&[Record::default()]).len())
            }
            other => panic!("{other:?}"),
        };
        // without a line end; within quotes, after a line end of the text; too few fields, whatever
        // they end in
        assert_eq!(torn(good.trim_end_matches('\n')), (3, true));
        assert_eq!(torn(good.split("3 sends").next().unwrap()), (3, true));
        assert_eq!(torn(&(written(&[Record::default()]) + "one,two\n")), (3, true));
        assert_eq!(
            error("experiment,algor"),
            "rows.csv:1: the last row breaks off: the run that wrote it was stopped",
            "not even the header is whole"
        );
        assert_eq!(
            error("notes to myself"),
            "rows.csv:1: the header has no column `experiment`, expected the columns that `swapmeet run --out` writes",
            "no header of ours"
        );
    }

    #[test]
    fn lines_are_counted_through_texts_of_several_and_other_line_ends() {
        let records =
            [Record { reason: "two\nlines".to_owned(), ..Record::default() }, Record::default()];
        let bad = written(&records).replace(",none,", ",some,").replacen(",some,", ",none,", 1);
        let expected = "column `verified` is `some`, expected one of blocks, amounts, contributions, bytes, none";
        assert_eq!(error(&bad), format!("rows.csv:4: {expected}"));
        let bad = written(&[Record::default(), Record::default()])
            .replace(",none,", ",some,")
            .replacen(",some,", ",none,", 1);
        assert_eq!(error(&bad.replace('\n', "\r\n")), format!("rows.csv:3: {expected}"));
        assert_eq!(error(&bad.replace('\n', "\n\n")), format!("rows.csv:5: {expected}"));
    }

    #[test]
    fn files_from_elsewhere_are_read() {
        let rows = vec![Record::default(), Record { note: "x".to_owned(), ..Record::default() }];
        let text = written(&rows);
        assert_eq!(read(&text.replace('\n', "\r\n")), rows, "line ends of another system");
        assert_eq!(read(&format!("\u{feff}{text}")), rows, "a byte-order mark");
        let each_line = |change: &dyn Fn(&str) -> String| {
            text.lines().map(|line| change(line) + "\n").collect::<String>()
        };
        let later = each_line(&|line| {
            format!("{line},{}", if line.starts_with("experiment") { "colour" } else { "green" })
        });
        assert_eq!(read(&later), rows, "columns of a later version");
        let promised = required_columns().count();
        let earlier =
            each_line(&|line| line.split(',').take(promised).collect::<Vec<_>>().join(","));
        assert_eq!(
            read(&earlier),
            [Record::default(), Record::default()],
            "before there was more than the promised columns"
        );
    }

    #[test]
    fn an_ok_row_has_a_time_that_can_be() {
        let ok = |time_us, contention_us| {
            written(&[Record { status: Status::Ok, time_us, contention_us, ..Record::default() }])
        };
        assert_eq!(read(&ok(Some(2.0), None)).len(), 1);
        assert_eq!(
            error(&ok(None, None)),
            "rows.csv:2: column `time_us` is ``, expected a time: the row is `ok`"
        );
        assert_eq!(
            error(&ok(Some(-1.0), None)),
            "rows.csv:2: column `time_us` is `-1`, expected a time of 0 or more"
        );
        assert_eq!(
            error(&ok(Some(2.0), Some(-0.5))),
            "rows.csv:2: column `contention_us` is `-0.5`, expected a time of 0 or more"
        );
    }
}
