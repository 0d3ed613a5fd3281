//! The destination of rows: a stream, a table, or a file, which may already contain rows.

use super::row_file::{Remarks, RowFile};
use crate::args::RowFormat;
use crate::failure::Failure;
use crate::output;
use crate::streams::{self, Stream};
use crate::table;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use swapmeet_results::{
    CaseId, CsvSink, FileRows, ReadError, Record, Shards, Sink, Status, atomic_file, columns,
    read_rows, remark_on_versions,
};
use swapmeet_runner::batch::ReorderBuffer;
use swapmeet_runner::case::{Case, CaseGrid};
use swapmeet_runner::optimum::Search;
use swapmeet_runner::optimum_columns::{fill, lacks, of_group};
use swapmeet_runner::plan_group::plan_groups;

/// If the destination is a file, each row is written when its case ends, so that a killed run loses
/// no rows. The file is sorted after the last case. At other destinations, a row is written only
/// when all earlier cases have ended.
pub(crate) struct Rows {
    destination: Destination,
    waiting: ReorderBuffer,
    received: usize,
    /// Whether the rows in the file so far are in the order of their cases.
    in_order: bool,
}

enum Destination {
    Table(Vec<Record>),
    /// Rows are printed on standard output as JSON, one object per line.
    Json(Stream),
    /// Rows are written as CSV to standard output, a pipe or a device.
    Csv(Box<CsvSink<Box<dyn Write + Send>>>, Option<PathBuf>),
    /// A regular file, and a handle to it whose lock prevents other runs from writing to the file.
    File(Box<CsvSink<Box<dyn Write + Send>>>, PathBuf, File),
}

/// The existing rows of a file, each assigned to its case of the run.
pub(crate) struct Found {
    pub rows: Vec<Option<Box<Record>>>,
    /// Whether the existing rows are those of the first cases of the run, in order.
    pub in_order: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    Leave,
    Drop,
    Keep,
    /// Keep all rows except those of failed cases, which run again.
    KeepGood,
}

impl Found {
    fn nothing(cases: usize) -> Self {
        Self { rows: vec![None; cases], in_order: true }
    }

    /// Removes the rows of cases that crashed, timed out or failed, because such a case can succeed
    /// when it runs again. Returns whether a row was removed.
    fn drop_failed(&mut self) -> bool {
        let failed =
            |r: &Record| matches!(r.status, Status::Crashed | Status::Timeout | Status::Error);
        let before = self.kept();
        self.rows.iter_mut().for_each(|row| *row = row.take().filter(|r| !failed(r)));
        self.in_order &= self.rows.iter().take_while(|row| row.is_some()).count() == self.kept();
        self.kept() < before
    }

    /// Fills in missing columns of the optimum in existing rows. Returns whether one was changed.
    fn add_optima(&mut self, cases: &[Case], report: &mut dyn FnMut(String)) -> bool {
        let stop = AtomicBool::new(false);
        let mut changed = false;
        for group in plan_groups(cases) {
            let lacks = |number: &usize| {
                self.rows[*number].as_ref().is_some_and(|row| lacks(&cases[*number], row))
            };
            let numbers: Vec<usize> = group.cases.filter(lacks).collect();
            let group: Vec<&Case> = numbers.iter().map(|number| &cases[*number]).collect();
            let optima = of_group(&group, &mut Search { stop: &stop, report })
                .unwrap_or_else(|defect| vec![Some(Err(defect)); numbers.len()]);
            for (number, optimum) in numbers.into_iter().zip(optima) {
                self.rows[number].iter_mut().for_each(|row| fill(row, &optimum));
                changed = true;
            }
        }
        changed
    }

    pub(crate) fn kept(&self) -> usize {
        self.rows.iter().flatten().count()
    }
}

impl Rows {
    fn new(destination: Destination, in_order: bool) -> Self {
        Self { destination, waiting: ReorderBuffer::default(), received: 0, in_order }
    }

    pub(crate) fn printed(format: RowFormat, cases: usize) -> (Self, Found) {
        let destination = match format {
            RowFormat::Json => Destination::Json(streams::stdout()),
            RowFormat::Csv => {
                let out: Box<dyn Write + Send> = Box::new(streams::stdout());
                Destination::Csv(Box::new(CsvSink::new(out)), None)
            }
        };
        (Self::new(destination, true), Found::nothing(cases))
    }

    /// Opens the destination of the rows, and returns it with the existing rows that are kept.
    /// `all` are the cases of all shards. `report` receives messages for the user.
    pub(crate) fn open(
        out: Option<&Path>,
        before: Before,
        cases: &[Case],
        all: &CaseGrid,
        remarks: &Remarks,
        report: &mut dyn FnMut(String),
    ) -> Result<(Self, Found), Failure> {
        let Some(path) = out else {
            let table = Destination::Table(Vec::new());
            return Ok((Self::new(table, true), Found::nothing(cases.len())));
        };
        if output::is_stdout(path) {
            return Ok(Self::printed(RowFormat::Csv, cases.len()));
        }
        let refused = |e: &io::Error| Failure::Usage(format!("{}: {e}", path.display()));
        let (file, found) = open_and_lock(path, before, cases, all, report)?;
        let lock = file.try_clone().map_err(|e| refused(&e))?;
        let csv = Box::new(sink(file, path, remarks).map_err(|e| refused(&e))?);
        let path = path.to_owned();
        let destination = match is_regular(&lock) {
            true => Destination::File(csv, path, lock),
            false => Destination::Csv(csv, Some(path)),
        };
        Ok((Self::new(destination, found.in_order), found))
    }

    /// Adds a row. `case` is the position of its case among the cases of this run.
    pub(crate) fn push(&mut self, case: usize, record: Box<Record>) -> Result<(), Failure> {
        self.in_order &= case == self.received;
        self.received += 1;
        match self.destination {
            Destination::File(..) => self.write(*record),
            _ => self.waiting.push(case, record).into_iter().try_for_each(|row| self.write(row)),
        }
    }

    fn write(&mut self, record: Record) -> Result<(), Failure> {
        let written = match &mut self.destination {
            Destination::Table(rows) => {
                rows.push(record);
                Ok(())
            }
            Destination::Json(out) => serde_json::to_string(&record)
                .map_err(io::Error::from)
                .and_then(|line| writeln!(out, "{line}"))
                .and_then(|()| out.flush()),
            Destination::Csv(csv, _) | Destination::File(csv, ..) => csv.record(&record),
        };
        written.map_err(|e| self.failed(&e))
    }

    fn failed(&self, e: &io::Error) -> Failure {
        match &self.destination {
            Destination::File(_, path, _) | Destination::Csv(_, Some(path)) => {
                Failure::writing(&path.display().to_string(), e)
            }
            _ => Failure::printing(e),
        }
    }

    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.left().try_for_each(|row| self.write(row))?;
        match &mut self.destination {
            Destination::Table(_) | Destination::Json(_) => Ok(()),
            Destination::Csv(csv, _) | Destination::File(csv, ..) => {
                csv.finish().map_err(|e| self.failed(&e))
            }
        }
    }

    pub(crate) fn print_table(&self) -> Result<(), Failure> {
        let Destination::Table(rows) = &self.destination else { return Ok(()) };
        let text = table::results(rows, table::terminal_width());
        writeln!(streams::stdout(), "{text}").map_err(|e| Failure::printing(&e))
    }

    /// Sorts the rows of a file by case. If this is not possible, returns the reason.
    pub(crate) fn sort(&mut self, cases: &[Case]) -> Result<Option<String>, Failure> {
        let Destination::File(_, path, lock) = &mut self.destination else { return Ok(None) };
        let path: &Path = path;
        if is_replaced(path, lock) {
            return Err(Failure::Output(format!(
                "{}: another file took its place during the run: the rows are in the original file, wherever it is now",
                path.display()
            )));
        }
        if self.in_order {
            return Ok(None);
        }
        // The rows may need much memory, so only one of them is in memory at a time.
        let sorted = || {
            let failed = |error: &dyn std::error::Error| Failure::Output(error.to_string());
            let rows = Shards::read(&[path]).map_err(|e| failed(&e))?;
            if let Some(torn) = rows.torn().first() {
                return Err(Failure::Output(torn.to_string()));
            }
            let order =
                rows.in_case_order(|| cases.iter().map(Case::id)).map_err(|e| failed(&e))?;
            rewrite(path, rows.rows(&order).map(|row| row.map_err(io::Error::other)))
        };
        // If sorting succeeds, the new file is locked. If it fails, the unsorted file remains.
        match sorted() {
            Ok(file) => {
                *lock = file;
                Ok(None)
            }
            Err(failure) => Ok(Some(failure.line())),
        }
    }
}

/// Atomically replaces a file by one with these rows. Returns the new file, which is locked.
fn rewrite(
    path: &Path,
    mut rows: impl Iterator<Item = io::Result<impl Borrow<Record>>>,
) -> Result<File, Failure> {
    let (temporary, real) = output::temporary_for(path)?;
    let failed = |e: &io::Error| Failure::file(path, e);
    let mut csv = CsvSink::new(io::BufWriter::new(temporary.as_file()));
    let written = rows.try_for_each(|row| csv.record(row?.borrow())).and_then(|()| csv.finish());
    written.map_err(|e| failed(&e))?;
    drop(csv);
    temporary.as_file().sync_all().map_err(|e| failed(&e))?;
    let file = atomic_file::persist(temporary, &real).map_err(|e| failed(&e))?;
    rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::APPEND).map_err(|e| failed(&e.into()))?;
    Ok(file)
}

/// Opens and locks a file. The parameters and the result are those of [`Rows::open`].
pub(crate) fn open_and_lock(
    path: &Path,
    before: Before,
    cases: &[Case],
    all: &CaseGrid,
    report: &mut dyn FnMut(String),
) -> Result<(File, Found), Failure> {
    let refused = |e: &io::Error| Failure::Usage(format!("{}: {e}", path.display()));
    // If the path is a pipe, opening it would wait for a reader, so this error is reported before.
    let is_there = std::fs::metadata(path).ok();
    if matches!(before, Before::Keep | Before::KeepGood)
        && is_there.as_ref().is_some_and(|m| !m.is_file())
    {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "--resume --out {path}: a folder, a pipe or a device, expected a file of rows"
        )));
    }
    // From here on, the lock prevents other runs from changing the file.
    let mut file = open(path)?;
    let (is_file, there) =
        file.metadata().map(|m| (m.is_file(), m.len())).map_err(|e| refused(&e))?;
    let mut found = Found::nothing(cases.len());
    match before {
        Before::Leave if is_file && is_there.is_some() => {
            return Err(output::exists_error(path, there, "--resume continues it, "));
        }
        Before::Leave => {}
        Before::Drop if is_file => file.set_len(0).map_err(|e| refused(&e))?,
        Before::Drop => {}
        // An incomplete last row is removed by truncating the file. The file is replaced by a new
        // one only if rows are dropped or changed, or if its header is not as this version writes
        // it.
        Before::Keep | Before::KeepGood => match read_found(path, &mut file, report)? {
            Some(IntactRows { intact, records, is_as_written }) => {
                let held = records.len();
                found = assign_to_cases(path, records, cases, all)?;
                file.set_len(intact).map_err(|e| refused(&e))?;
                let replaced = found.kept() < held;
                let dropped = before == Before::KeepGood && found.drop_failed();
                let changed = found.add_optima(cases, report);
                if dropped || replaced || changed || !is_as_written {
                    file = rewrite(path, found.rows.iter().flatten().map(|row| Ok(&**row)))?;
                }
            }
            None => file.set_len(0).map_err(|e| refused(&e))?,
        },
    }
    Ok((file, found))
}

pub(crate) fn sink(
    file: File,
    path: &Path,
    remarks: &Remarks,
) -> io::Result<CsvSink<Box<dyn Write + Send>>> {
    let is_headed = is_regular(&file) && file.metadata()?.len() > 0;
    let out: Box<dyn Write + Send> =
        Box::new(RowFile::new(file, path.to_owned(), Remarks::clone(remarks))?);
    Ok(if is_headed { CsvSink::appending(out) } else { CsvSink::new(out) })
}

fn open(path: &Path) -> Result<File, Failure> {
    // If a pipe were open for reading, too, this program would read its own rows.
    let is_file = std::fs::metadata(path).map_or(true, |m| m.is_file());
    let options = File::options().read(is_file).append(true).create(true).open(path);
    let file = options.map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))?;
    output::lock(&file, path)?;
    // If another run has just replaced the file, the lock is on the old file.
    if is_replaced(path, &file) { open(path) } else { Ok(file) }
}

fn is_replaced(path: &Path, file: &File) -> bool {
    is_regular(file) && !atomic_file::is_at(file, path)
}

fn is_regular(file: &File) -> bool {
    file.metadata().is_ok_and(|m| m.is_file())
}

/// The complete rows of a file. An interrupted run can leave an incomplete last row.
struct IntactRows {
    /// The total number of bytes of the header and the complete rows.
    intact: u64,
    records: Vec<Record>,
    /// Whether the header is as this version writes it. Otherwise, no rows can be appended.
    is_as_written: bool,
}

/// Reads the complete rows of a file, or returns `None` if the file has no header. `report`
/// receives a message if the last row is incomplete.
fn read_found(
    path: &Path,
    file: &mut File,
    report: &mut dyn FnMut(String),
) -> Result<Option<IntactRows>, Failure> {
    let name = path.display().to_string();
    let failed = |e: io::Error| Failure::Usage(format!("{name}: {e}"));
    let bytes = file.metadata().map_err(failed)?.len();
    // If the file is not a row file, reading ends at the first error, and not after the whole file.
    file.rewind().map_err(failed)?;
    let usable = match read_rows(name.clone(), (&mut *file).take(bytes)) {
        Ok(FileRows { rows, torn: None }) => Some((bytes, rows)),
        Ok(FileRows { mut rows, torn: Some(torn) }) => {
            rows.truncate(rows.len() - usize::from(torn.is_read));
            report(format!(
                "{name}:{}: the last row is incomplete: its case runs again",
                torn.line
            ));
            Some((torn.intact, rows))
        }
        Err(ReadError::TornHeader { .. } | ReadError::Empty { .. }) => None,
        Err(e) => return Err(Failure::Usage(e.to_string())),
    };
    let header: String = columns().collect::<Vec<_>>().join(",");
    // Up to five bytes may be added: three for a byte-order mark, and two for a line end.
    let mut bytes = Vec::new();
    file.rewind().map_err(failed)?;
    file.take(header.len() as u64 + 5).read_to_end(&mut bytes).map_err(failed)?;
    let is_as_written = bytes.starts_with(format!("{header}\n").as_bytes());
    let unmarked = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let is_ours = [format!("{header}\n"), format!("{header}\r\n")]
        .iter()
        .any(|h| unmarked.starts_with(h.as_bytes()));
    if usable.is_some() && !is_ours {
        let version = usable.as_ref().and_then(|(_, rows)| rows.first());
        let changed = version.map_or(String::new(), |row| {
            remark_on_versions(&row.swapmeet_version, env!("CARGO_PKG_VERSION"))
        });
        return Err(Failure::Usage(format!(
            "{name}: its columns are not those of this version, so no rows can be added: give another --out{changed}"
        )));
    }
    Ok(usable.map(|(intact, records)| IntactRows { intact, records, is_as_written }))
}

/// Assigns each row to its case. If a case has several rows, the last one is used. `all` are the
/// cases of all shards. If a row belongs to no case, the error names the most similar case.
fn assign_to_cases(
    path: &Path,
    records: Vec<Record>,
    cases: &[Case],
    all: &CaseGrid,
) -> Result<Found, Failure> {
    let ids: Vec<CaseId> = cases.iter().map(Case::id).collect();
    let ids: Vec<CaseId<&str>> = ids.iter().map(CaseId::borrowed).collect();
    let numbers: HashMap<&CaseId<&str>, usize> =
        ids.iter().enumerate().map(|(i, id)| (id, i)).collect();
    let mut found = Found::nothing(cases.len());
    for (line, record) in records.into_iter().enumerate() {
        let refused = |what: &str| {
            Failure::Usage(format!(
                "{}: row {} belongs to another {what}",
                path.display(),
                line + 1
            ))
        };
        let is_of_other_experiment = |what: String| {
            refused(&format!(
                "experiment: {what}; give another --out, or --force instead of --resume to overwrite it"
            ))
        };
        if let Some(case) = cases.first().filter(|case| *case.experiment != *record.experiment) {
            return Err(is_of_other_experiment(format!(
                "its experiment is `{}`, here `{}`",
                record.experiment, case.experiment
            )));
        }
        let Some(number) = numbers.get(&record.case()).copied() else {
            let is_of_other_shard = all.iter().any(|case| case.id().borrowed() == record.case());
            return Err(match is_of_other_shard {
                true => refused("shard: give each shard its own --out"),
                false => is_of_other_experiment(
                    record.case().difference_from_nearest(ids.iter().map(CaseId::owned)),
                ),
            });
        };
        found.in_order &= number == line;
        found.rows[number] = Some(Box::new(record));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use swapmeet_runner::experiment::Experiment;
    use swapmeet_runner::registry::Registry;

    #[test]
    fn rows_put_in_order_are_still_in_the_same_place_and_locked() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, others] =
            ["rows", "link", "rows.sorted"].map(|name| dir.path().join(name));
        std::fs::write(&others, "the user's").unwrap();
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        let none = CaseGrid::new(&Experiment::default(), &Registry::default()).unwrap();
        let (mut rows, _) =
            Rows::open(Some(&link), Before::Drop, &[], &none, &Remarks::default(), &mut |_| ())
                .unwrap();
        // A measured row belongs to no case, so no algorithm is needed for it.
        let measured = Record { model: "measured".to_owned(), ..Record::default() };
        rows.push(1, Box::new(measured)).unwrap();
        rows.finish().unwrap();
        let before = std::fs::metadata(&file).unwrap();
        assert_eq!(rows.sort(&[]).unwrap(), None);
        let after = std::fs::metadata(&file).unwrap();
        assert_ne!(before.ino(), after.ino(), "another file has taken its place");
        assert_eq!(after.permissions().mode() & 0o777, 0o640);
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3);
        assert_eq!(std::fs::read_to_string(&others).unwrap(), "the user's");
        let refused = |path: &Path| matches!(open_and_lock(path, Before::Drop, &[], &none, &mut |_| ()), Err(Failure::Usage(why)) if why.ends_with("is writing to it"));
        assert!(refused(&file) && refused(&link));
        drop(rows);
        assert!(!refused(&file));
    }
}
