//! Reads rows from CSV. If a run was stopped or the disk was full, the last row of a file is torn,
//! which means incomplete. In this case, the rows before it are read, and a [`TornRow`] describes
//! the torn row, so that every command can use the complete rows.

mod rows;
mod torn_row;

use crate::record::Record;
pub(crate) use rows::{Header, Rows};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use swapmeet_core::spec::format_size;
pub use torn_row::TornRow;

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{file}: {source}")]
    Io { file: String, source: io::Error },
    #[error("{file}: more than {} of rows in all files together, expected less", format_size(*most))]
    TooMuch { file: String, most: u64 },
    #[error("{file}:{line}: not UTF-8, expected the text that `swapmeet run --out` writes")]
    NotUtf8 { file: String, line: u64 },
    #[error("{file}: the file changed while it was read")]
    Changed { file: String },
    #[error("{file}: {source}")]
    NotCsv { file: String, source: csv::Error },
    #[error("{file}: empty, expected a header and rows")]
    Empty { file: String },
    #[error(
        "{file}:1: the header has no column `{column}`, expected the columns that `swapmeet run --out` writes"
    )]
    NoColumn {
        file: String,
        /// The first of the columns that are missing.
        column: &'static str,
    },
    #[error("{file}:1: the header has column `{column}` twice, expected it once")]
    ColumnTwice {
        file: String,
        /// The first of the columns that occur twice.
        column: String,
    },
    #[error("{file}:{line}: column `{column}` is `{found}`, expected {expected}")]
    BadField { file: String, line: u64, column: String, found: String, expected: String },
    #[error("{file}:{line}: {found} fields, expected {expected}")]
    BadRow {
        file: String,
        line: u64,
        found: usize,
        /// The number of columns in the header.
        expected: usize,
    },
    #[error("{file}:1: the header breaks off: the run that wrote it was stopped")]
    TornHeader { file: String },
    /// The last row is torn, but the caller needs all rows.
    #[error("{0}")]
    Torn(TornRow),
}

#[derive(Debug, PartialEq)]
pub struct FileRows {
    pub rows: Vec<Record>,
    pub torn: Option<TornRow>,
}

impl FileRows {
    /// Returns all rows. Errors if the last row is torn.
    pub fn complete(self) -> Result<Vec<Record>, ReadError> {
        self.torn.map_or(Ok(self.rows), |torn| Err(ReadError::Torn(torn)))
    }
}

#[derive(Debug, Default)]
pub struct ResultFiles {
    /// The names of the files with their rows, as [`compare`](crate::compare) expects them.
    pub files: Vec<(String, Vec<Record>)>,
    pub torn: Vec<TornRow>,
}

/// The maximum total size of files that are read together. It suffices for a million rows.
const MAX_TOTAL_BYTES: u64 = 512 << 20;

/// Reads the rows of a file, which may be a pipe. Errors if the last row is torn.
pub fn read_file(path: &Path) -> Result<Vec<Record>, ReadError> {
    let ResultFiles { files, torn } = read_files(&[path])?;
    let rows = files.into_iter().flat_map(|(_, rows)| rows).collect();
    FileRows { rows, torn: torn.into_iter().next() }.complete()
}

/// Reads the rows of files. The last row of each file may be torn.
pub fn read_files<P: AsRef<Path>>(paths: &[P]) -> Result<ResultFiles, ReadError> {
    let names = paths.iter().map(|path| path.as_ref().display().to_string());
    let mut files: Vec<(String, Vec<Record>)> = names.map(|name| (name, Vec::new())).collect();
    let torn = for_each_row(paths, |file, row| files[file].1.push(row))?;
    Ok(ResultFiles { files, torn })
}

/// Calls `receive` for each row, with the index of its file. Returns the torn rows.
pub fn for_each_row<P: AsRef<Path>>(
    paths: &[P],
    receive: impl FnMut(usize, Record),
) -> Result<Vec<TornRow>, ReadError> {
    read_up_to(paths, MAX_TOTAL_BYTES, receive)
}

fn read_up_to<P: AsRef<Path>>(
    paths: &[P],
    most: u64,
    mut receive: impl FnMut(usize, Record),
) -> Result<Vec<TornRow>, ReadError> {
    let mut left = most;
    let mut torn = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let file = path.as_ref().display().to_string();
        let failed = |source| ReadError::Io { file: file.clone(), source };
        // The limit applies while the file is read, so an invalid file is not read to its end.
        let mut text = File::open(path).map_err(failed)?.take(left + 1);
        let found = read_each(file.clone(), &mut text, |row| receive(number, row));
        left = text
            .limit()
            .checked_sub(1)
            .ok_or_else(|| ReadError::TooMuch { file: file.clone(), most })?;
        torn.extend(found?);
    }
    Ok(torn)
}

fn read_each(
    file: String,
    text: impl Read,
    mut receive: impl FnMut(Record),
) -> Result<Option<TornRow>, ReadError> {
    let mut rows = Rows::new(file, text)?;
    rows.by_ref().try_for_each(|row| row.map(|row| receive(row.record)))?;
    Ok(rows.into_torn())
}

/// Reads the rows of a result file of any length. Error messages name the file `file`.
pub fn read_rows(file: String, text: impl Read) -> Result<FileRows, ReadError> {
    let mut rows = Vec::new();
    let torn = read_each(file, text, |row| rows.push(row))?;
    Ok(FileRows { rows, torn })
}

fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|b| **b == b'\n').count() as u64
}

/// Errors if the last row is torn. Unknown columns are ignored. `file` is for error messages.
pub fn read_records(file: &str, content: &str) -> Result<Vec<Record>, ReadError> {
    read_rows(file.to_owned(), content.as_bytes())?.complete()
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

    /// Many of these texts contain characters that must be quoted in CSV.
    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z,\"\n\r ;ü\u{feff}]{0,12}",
            any::<String>().prop_map(|text| text.replace('\0', ""))
        ]
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
            // A row with status `ok` must have times, and no time may be negative.
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
        fn written_rows_are_read_back(records in prop::collection::vec(any_record(), 0..4)) {
            let text = written(&records);
            let back = read(&text);
            let expected: Vec<Record> = records.iter().map(Record::as_written).collect();
            prop_assert_eq!(&back, &expected);
            prop_assert_eq!(&read(&written(&back)), &expected, "nothing changes the second time");
        }

        /// If a file is cut off at any position, all complete rows before this position are read.
        #[test]
        fn a_torn_file_gives_its_finished_rows(records in prop::collection::vec(any_record(), 1..4), at in any::<prop::sample::Index>()) {
            let whole = written(&records);
            let header = whole.find('\n').unwrap() + 1;
            let bytes = &whole.as_bytes()[..header + at.index(whole.len() - header)];
            let ends: Vec<usize> = (0..=records.len()).map(|n| written(&records[..n]).len()).collect();
            let FileRows { rows: mut finished, torn } = read_rows("rows.csv".to_owned(), bytes).unwrap();
            prop_assert_eq!(torn.is_none(), ends.contains(&bytes.len()), "a torn row went unnoticed");
            if let Some(torn) = torn {
                prop_assert!(ends.contains(&(torn.intact as usize)), "{} bytes", torn.intact);
                finished.truncate(finished.len() - usize::from(torn.is_read));
            }
            let whole_rows = ends.iter().filter(|end| **end <= bytes.len()).count() - 1;
            prop_assert_eq!(finished, records[..whole_rows].iter().map(Record::as_written).collect::<Vec<_>>());
        }
    }

    #[test]
    fn files_have_a_common_size_limit() {
        let dir = tempfile::tempdir().unwrap();
        let paths = ["a.csv", "b.csv"].map(|name| dir.path().join(name));
        let text = written(&[Record::default()]);
        paths.iter().for_each(|path| std::fs::write(path, &text).unwrap());
        let both = 2 * text.len() as u64;
        let mut rows = 0;
        read_up_to(&paths, both, |_, _| rows += 1).unwrap();
        assert_eq!(rows, 2);
        let error = read_up_to(&paths, both - 1, |_, _| ()).unwrap_err().to_string();
        let size = format_size(both - 1);
        let expected =
            format!("b.csv: more than {size} of rows in all files together, expected less");
        assert!(error.ends_with(&expected), "{error}");
        let error = read_up_to(&["/dev/zero"], 1 << 20, |_, _| ()).unwrap_err().to_string();
        assert!(error.starts_with("/dev/zero: more than 1MiB of rows"), "{error}");
    }

    /// Here the total size is not limited. Only the limit for the size of a row ends reading.
    #[test]
    fn a_row_without_an_end_is_refused() {
        let error = Rows::new("zeros".to_owned(), io::repeat(0)).err().unwrap().to_string();
        assert_eq!(error, "zeros: a row of more than 64MiB, expected less");
    }

    #[test]
    fn errors_name_file_line_and_column() {
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
        assert_eq!(
            error(&good.replacen(",error,", ",a\0b,", 1)),
            "rows.csv:2: column `status` is `a\\u{0}b`, expected a text without NUL"
        );
        let long = error(&good.replacen("error", &"x".repeat(1 << 20), 1));
        assert!(long.len() < 300, "{} bytes", long.len());
        let all = columns().count();
        let fields = |n: usize| format!("rows.csv:2: {n} fields, expected {all}");
        assert_eq!(error(&good.replacen(",error,", ",error,,", 1)), fields(all + 1));
        assert_eq!(error(&good.replacen(",error,", "", 1)), fields(all - 2));
        assert_eq!(error(""), "rows.csv: empty, expected a header and rows");
        let latin = good.replacen("error", "\u{1}", 1).into_bytes();
        let latin: Vec<u8> = latin.into_iter().map(|b| if b == 1 { 0xe9 } else { b }).collect();
        assert_eq!(
            read_rows("rows.csv".to_owned(), &latin[..]).unwrap_err().to_string(),
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
    fn a_torn_last_row_differs_from_a_wrong_one() {
        let note = |note: &str| Record { note: note.to_owned(), ..Record::default() };
        let good = written(&[Record::default(), note("in rounds:\n3 sends")]);
        let first = written(&[Record::default()]);
        let torn = |text: &str| {
            let FileRows { rows, torn } =
                read_rows("rows.csv".to_owned(), text.as_bytes()).unwrap();
            let torn = torn.unwrap();
            assert_eq!(torn.intact as usize, first.len());
            (rows.len(), torn.to_string())
        };
        let left_out = "rows.csv:3: the last row breaks off and is left out: the run that wrote it was stopped";
        // Three torn rows: one has no line end, one ends within quotes, one has too few fields.
        let cut = "rows.csv:3: the last row has no line end, so its last value may be cut off";
        assert_eq!(torn(good.trim_end_matches('\n')), (2, cut.to_owned()));
        assert_eq!(torn(good.split("3 sends").next().unwrap()), (1, left_out.to_owned()));
        assert_eq!(torn(&(first.clone() + "one,two\n")), (1, left_out.to_owned()));
        assert_eq!(error(good.trim_end_matches('\n')), cut, "rows that must be complete");
        assert_eq!(
            error("experiment,algor"),
            "rows.csv:1: the header breaks off: the run that wrote it was stopped",
        );
        assert_eq!(
            error("notes to myself"),
            "rows.csv:1: the header has no column `experiment`, expected the columns that `swapmeet run --out` writes",
            "no header of ours"
        );
    }

    #[test]
    fn line_numbers_account_for_quoted_and_other_line_ends() {
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
    fn files_of_other_systems_and_versions_are_read() {
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
    fn an_ok_row_has_a_possible_time() {
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
            "rows.csv:2: column `time_us` is `-1`, expected a number of 0 or more"
        );
        assert_eq!(
            error(&ok(Some(2.0), Some(-0.5))),
            "rows.csv:2: column `contention_us` is `-0.5`, expected a number of 0 or more"
        );
    }
}
