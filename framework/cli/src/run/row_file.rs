//! A row file that detects changes by other programs. If another program appends lines, these
//! remain between the rows. If it truncates the file, the run ends with an error, and a run with
//! `--resume` runs the cases of the lost rows again. A separate thread syncs the file to the disk,
//! so that writing rows does not wait for the disk. One sync covers all rows that have been written
//! by then.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

pub(crate) type Remarks = Arc<Mutex<Vec<String>>>;

pub(crate) struct RowFile {
    file: File,
    path: PathBuf,
    /// The expected length of the file, and the thread that syncs it. `None` for pipes and devices.
    disk: Option<(u64, Disk)>,
    has_others: bool,
    remarks: Remarks,
}

impl RowFile {
    /// `file` must be open for reading and appending.
    pub(crate) fn new(file: File, path: PathBuf, remarks: Remarks) -> io::Result<Self> {
        let there = file.metadata()?;
        let disk = match there.is_file() {
            true => Some((there.len(), Disk::new(file.try_clone()?)?)),
            false => None,
        };
        Ok(Self { file, path, disk, has_others: false, remarks })
    }

    /// Checks whether another program has changed the length of the file. If that program has
    /// appended an incomplete line, adds a line end.
    fn check(&mut self) -> io::Result<()> {
        let Some((expected, _)) = &mut self.disk else { return Ok(()) };
        let len = self.file.metadata()?.len();
        if len < *expected {
            return Err(io::Error::other(format!(
                "another program truncated it to {len} bytes during the run: \
                 --resume runs the cases whose rows are lost"
            )));
        }
        if len > *expected {
            let mut last = [0];
            self.file.read_exact_at(&mut last, len - 1)?;
            if last != *b"\n" {
                self.file.write_all(b"\n")?;
            }
            *expected = self.file.metadata()?.len();
            if !std::mem::replace(&mut self.has_others, true) {
                self.remarks.lock().unwrap_or_else(PoisonError::into_inner).push(format!(
                    "remark: {}: another program appended to it during the run: its lines stay between the rows",
                    self.path.display()
                ));
            }
        }
        Ok(())
    }
}

impl Write for RowFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        let written = self.file.write(bytes)?;
        if let Some((expected, _)) = &mut self.disk {
            *expected += written as u64;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.check()?;
        self.disk.as_ref().map_or(Ok(()), |(_, disk)| disk.request_sync())
    }
}

/// A thread that syncs a file. When this value is dropped, the last sync is awaited.
struct Disk {
    requests: Option<Sender<()>>,
    failed: Arc<Mutex<Option<io::Error>>>,
    thread: Option<JoinHandle<()>>,
}

impl Disk {
    fn new(file: File) -> io::Result<Self> {
        let (requests, receiver) = channel();
        let failed = Arc::new(Mutex::new(None));
        let failure = Arc::clone(&failed);
        let thread = std::thread::Builder::new().name("disk".to_owned()).spawn(move || {
            while receiver.recv().is_ok() {
                // The sync below covers all requests that have arrived so far.
                while receiver.try_recv().is_ok() {}
                if let Err(error) = file.sync_data() {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        })?;
        Ok(Self { requests: Some(requests), failed, thread: Some(thread) })
    }

    fn request_sync(&self) -> io::Result<()> {
        if let Some(error) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        // The send cannot fail, because the thread runs until the sender is dropped.
        let _ = self.requests.as_ref().map(|requests| requests.send(()));
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(self.requests.take());
        drop(self.thread.take().map(JoinHandle::join));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tempfile::tempdir;

    fn row_file(path: &Path) -> (RowFile, Remarks) {
        let file = File::options().read(true).append(true).create(true).open(path).unwrap();
        let remarks = Remarks::default();
        (RowFile::new(file, path.to_owned(), Arc::clone(&remarks)).unwrap(), remarks)
    }

    #[test]
    fn a_truncated_file_gets_no_more_rows() {
        let dir = tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        std::fs::write(&path, "one\n").unwrap();
        let (mut rows, _) = row_file(&path);
        rows.write_all(b"two\n").unwrap();
        rows.flush().unwrap();
        File::options().write(true).open(&path).unwrap().set_len(6).unwrap();
        let refused =
            [rows.write_all(b"three\n"), rows.flush()].map(|e| e.unwrap_err().to_string());
        let expected = "another program truncated it to 6 bytes during the run: \
             --resume runs the cases whose rows are lost";
        assert_eq!(refused, [expected; 2]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntw");
    }

    #[test]
    fn lines_that_another_program_adds_are_kept_with_one_remark() {
        let dir = tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        let (mut rows, remarks) = row_file(&path);
        rows.write_all(b"one\n").unwrap();
        let mut other = File::options().append(true).open(&path).unwrap();
        other.write_all(b"theirs\n").unwrap();
        rows.write_all(b"two\n").unwrap();
        other.write_all(b"half a line").unwrap();
        rows.write_all(b"three\n").unwrap();
        rows.flush().unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "one\ntheirs\ntwo\nhalf a line\nthree\n"
        );
        let lines = remarks.lock().unwrap().clone();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].ends_with(
            "rows.csv: another program appended to it during the run: its lines stay between the rows"
        ));
    }
}
