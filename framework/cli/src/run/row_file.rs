//! A row file that tolerates changes by other programs while rows are written.
//!
//! A second program may truncate the file (`: > rows.csv`), so that rows are lost. Therefore, the
//! length of the file is checked before each row is appended. If the file has become shorter, its
//! whole content is written again from a compressed copy in memory. Lines that a second program
//! adds are kept.
//!
//! A separate thread syncs the file to the disk. One sync covers all rows that are pending. Thus a
//! power failure only loses the latest rows, and writing a row does not wait for the disk.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec;
use std::fs::File;
use std::io::{self, Seek as _, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Remarks about row files, which are printed after the run.
pub(crate) type Remarks = Arc<Mutex<Vec<String>>>;

/// A row file that tolerates changes by other programs.
pub(crate) struct RowFile {
    file: File,
    path: PathBuf,
    /// A copy of the whole content of the file; empty for pipes and devices.
    copy: CompressedCopy,
    /// Whether the file has been checked for changes by other programs since the last flush.
    is_checked: bool,
    /// Whether another program has added lines to the file.
    has_others: bool,
    /// The sync thread. It is `None` for pipes and devices, which cannot be synced or truncated.
    disk: Option<Disk>,
    remarks: Remarks,
}

impl RowFile {
    /// Creates a row file from a file that is opened for reading and appending.
    pub(crate) fn new(mut file: File, path: PathBuf, remarks: Remarks) -> io::Result<Self> {
        let (copy, disk) = match file.metadata()?.is_file() {
            true => (CompressedCopy::of(&mut file)?, Some(Disk::new(file.try_clone()?)?)),
            false => (CompressedCopy::default(), None),
        };
        Ok(Self { file, path, copy, is_checked: false, has_others: false, disk, remarks })
    }

    /// Checks whether another program has changed the file. If the file was truncated, writes its
    /// content again. If lines were added, keeps them.
    fn check(&mut self) -> io::Result<()> {
        if self.disk.is_none() {
            return Ok(());
        }
        let (len, held) = (self.file.metadata()?.len(), self.copy.len);
        if len < held {
            self.file.set_len(0)?;
            self.copy.write_to(&mut self.file)?;
            self.remark(&format!(
                "another program truncated it to {len} bytes during the run: all rows so far are written again"
            ));
        }
        if len > held {
            // Read the whole file, because the other program may have added lines between rows of
            // this program.
            self.copy = CompressedCopy::of(&mut self.file)?;
            if !self.copy.ends_line {
                self.append(b"\n")?;
            }
            // Another program may add many lines. Report only the first change.
            if !std::mem::replace(&mut self.has_others, true) {
                self.remark(
                    "another program appended to it during the run: its lines stay between the rows",
                );
            }
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        if self.disk.is_some() {
            self.copy.write_all(bytes)?;
        }
        Ok(())
    }

    fn remark(&self, what: &str) {
        let remark = format!("remark: {}: {what}", self.path.display());
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).push(remark);
    }
}

impl Write for RowFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        self.is_checked = true;
        self.append(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_checked) {
            self.check()?;
        }
        self.disk.as_ref().map_or(Ok(()), Disk::request_sync)
    }
}

/// A copy of the content of a file. It is compressed, because rows repeat many texts and would
/// otherwise take as much memory as all other data of a large run.
#[derive(Default)]
struct CompressedCopy {
    /// Compressed parts of the content, in the order of the file.
    blocks: Vec<Vec<u8>>,
    /// The end of the content, which is not compressed yet.
    tail: Vec<u8>,
    /// The length of the content in bytes.
    len: u64,
    /// Whether the content ends with a line feed.
    ends_line: bool,
}

impl CompressedCopy {
    /// Copies a file from its start.
    fn of(file: &mut File) -> io::Result<Self> {
        let mut copy = Self::default();
        file.rewind()?;
        io::copy(file, &mut copy)?;
        Ok(copy)
    }

    fn write_to(&self, file: &mut File) -> io::Result<()> {
        for block in &self.blocks {
            file.write_all(
                &decompress_to_vec(block).map_err(|e| io::Error::other(e.to_string()))?,
            )?;
        }
        file.write_all(&self.tail)
    }
}

impl Write for CompressedCopy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        /// The number of bytes that are compressed together.
        const BLOCK: usize = 1 << 18;
        /// The fastest compression. It makes rows smaller by more than a factor of ten.
        const LEVEL: u8 = 1;
        self.tail.extend_from_slice(bytes);
        self.len += bytes.len() as u64;
        self.ends_line = bytes.last().map_or(self.ends_line, |last| *last == b'\n');
        if self.tail.len() >= BLOCK {
            self.blocks.push(compress_to_vec(&self.tail, LEVEL));
            self.tail.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A thread that syncs a file to the disk. Dropping this value waits for the last sync.
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
                // The next sync covers all requests that have arrived so far, so remove them from
                // the channel.
                while receiver.try_recv().is_ok() {}
                if let Err(error) = file.sync_data() {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        })?;
        Ok(Self { requests: Some(requests), failed, thread: Some(thread) })
    }

    /// Requests a sync. Errors if an earlier sync failed.
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
        // If the thread panicked, it has already printed a message.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_another_program_cuts_off_are_restored_with_a_remark() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        std::fs::write(&path, "one\n").unwrap();
        let file = File::options().read(true).append(true).open(&path).unwrap();
        let remarks = Remarks::default();
        let mut rows = RowFile::new(file, path.clone(), Arc::clone(&remarks)).unwrap();
        rows.write_all(b"two\n").unwrap();
        for cut in [0, 6] {
            File::options().write(true).open(&path).unwrap().set_len(cut).unwrap();
            rows.write_all(b"three\n").unwrap();
        }
        // Write enough rows for several blocks of the copy.
        let many = ["four\n", "five\n", "six\n"].map(|row| row.repeat(70_000));
        many.iter().for_each(|rows_of_one| rows.write_all(rows_of_one.as_bytes()).unwrap());
        assert_eq!(rows.copy.blocks.len(), 3);
        // Every flush checks the file again, even if no row was written since the last flush.
        rows.flush().unwrap();
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        rows.flush().unwrap();
        let expected = format!("one\ntwo\nthree\nthree\n{}", many.concat());
        assert!(std::fs::read_to_string(&path).unwrap() == expected);
        let lines = remarks.lock().unwrap().clone();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[1].contains("rows.csv: another program truncated it to 6 bytes"),
            "{}",
            lines[1]
        );
    }

    #[test]
    fn lines_that_another_program_adds_are_kept_with_one_remark() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        let file = File::options().read(true).append(true).create(true).open(&path).unwrap();
        let remarks = Remarks::default();
        let mut rows = RowFile::new(file, path.clone(), Arc::clone(&remarks)).unwrap();
        rows.write_all(b"one\n").unwrap();
        let mut other = File::options().append(true).open(&path).unwrap();
        other.write_all(b"theirs\n").unwrap();
        rows.write_all(b"two\n").unwrap();
        other.write_all(b"half a line").unwrap();
        rows.write_all(b"three\n").unwrap();
        rows.flush().unwrap();
        // The lines that the other program added are restored, too.
        other.set_len(0).unwrap();
        rows.flush().unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "one\ntheirs\ntwo\nhalf a line\nthree\n"
        );
        let lines = remarks.lock().unwrap().clone();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].ends_with(
            "rows.csv: another program appended to it during the run: its lines stay between the rows"
        ));
    }
}
