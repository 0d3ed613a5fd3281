use crate::failure::Failure;
use crate::say::say;
use std::collections::BTreeSet;
use std::path::Path;
use swapmeet_results::{ComparedRows, Record, TornRow, for_each_row, read_files};

/// Reads result files. Prints a warning for each incomplete last row.
pub(crate) fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<(String, Vec<Record>)>, Failure> {
    let read = read_files(paths).map_err(Failure::usage)?;
    warn(&read.torn);
    remarks(read.files.iter().flat_map(|(_, rows)| rows)).iter().for_each(|line| say!("{line}"));
    Ok(read.files)
}

/// Reads the rows for which `keep` returns true, with only the columns that a comparison needs.
pub(crate) fn compared<P: AsRef<Path>>(
    paths: &[P],
    mut keep: impl FnMut(&Record) -> bool,
) -> Result<ComparedRows, Failure> {
    let names = paths.iter().map(|path| path.as_ref().display().to_string());
    let mut rows = ComparedRows::of_files(names);
    let mut earlier = EarlierDefaults::default();
    let torn = for_each_row(paths, |file, row| {
        if keep(&row) {
            earlier.add(&row);
            rows.add(file, &row);
        }
    });
    warn(&torn.map_err(Failure::usage)?);
    earlier.remarks().iter().for_each(|line| say!("{line}"));
    Ok(rows)
}

pub(crate) fn rows<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<Record>, Failure> {
    Ok(read(paths)?.into_iter().flat_map(|(_, rows)| rows).collect())
}

#[derive(Default)]
struct EarlierDefaults(BTreeSet<String>);

impl EarlierDefaults {
    fn add(&mut self, row: &Record) {
        let changes = row.earlier_defaults();
        self.0.extend(changes.iter().map(|change| {
            format!(
                "remark: rows of version {} have the value of that version in their specs: {change}",
                row.swapmeet_version
            )
        }));
    }

    fn remarks(self) -> BTreeSet<String> {
        self.0
    }
}

/// Returns a remark for each default that was different in a version that wrote some rows.
pub(crate) fn remarks<'a>(rows: impl IntoIterator<Item = &'a Record>) -> BTreeSet<String> {
    let mut earlier = EarlierDefaults::default();
    rows.into_iter().for_each(|row| earlier.add(row));
    earlier.remarks()
}

pub(crate) fn warn<'a>(torn: impl IntoIterator<Item = &'a TornRow>) {
    torn.into_iter().for_each(|row| say!("warning: {row}"));
}
