//! A file that rows go to: it stays what was written to it, and what was written reaches the disk.
//!
//! Somebody else may cut it off meanwhile (`: > rows.csv`): rows that follow would stand behind a
//! hole. So each is appended, the length is looked at first, and what is missing is written again
//! from memory. Somebody else may add to it, too: that stays where it is. A thread of its own has
//! the system bring rows to the disk, as many at a time as have come: a power cut costs what came
//! in the last moment, and no row waits for a disk.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What there is to be told of a file, once there is a place to tell it.
pub(crate) type Remarks = Arc<Mutex<Vec<String>>>;

/// A file of rows.
pub(crate) struct RowFile {
    file: File,
    path: PathBuf,
    /// All that is in it.
    held: Vec<u8>,
    /// Whether it was looked at since it was last to be brought to the disk.
    is_looked_at: bool,
    /// Whether some of it is somebody else's.
    has_others: bool,
    /// Regular files can be cut off and brought to a disk; pipes and devices can't.
    disk: Option<Disk>,
    remarks: Remarks,
}

impl RowFile {
    /// A file, opened for appending, that holds so much.
    pub(crate) fn new(
        file: File,
        path: PathBuf,
        held: Vec<u8>,
        remarks: Remarks,
    ) -> io::Result<Self> {
        let disk =
            if file.metadata()?.is_file() { Some(Disk::new(file.try_clone()?)?) } else { None };
        Ok(Self { file, path, held, is_looked_at: false, has_others: false, disk, remarks })
    }

    /// Looks whether the file is as it was left: what somebody else has cut off is written again,
    /// what somebody else has added stays.
    fn look(&mut self) -> io::Result<()> {
        if self.disk.is_none() {
            return Ok(());
        }
        let (len, held) = (self.file.metadata()?.len(), self.held.len() as u64);
        if len < held {
            self.file.set_len(0)?;
            self.file.write_all(&self.held)?;
            self.remark(&format!(
                "something else has cut it off to {len} bytes while rows were written: all rows so far are written again"
            ));
        }
        if len > held {
            // From the start: what was added may stand before rows of ours.
            self.held = vec![0; len as usize];
            self.file.read_exact_at(&mut self.held, 0)?;
            if !self.held.ends_with(b"\n") {
                self.append(b"\n")?;
            }
            // Whoever adds a line at a time is told of once.
            if !std::mem::replace(&mut self.has_others, true) {
                self.remark(
                    "something else has added to it while rows were written: what it added stays, between rows",
                );
            }
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        if self.disk.is_some() {
            self.held.extend_from_slice(bytes);
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
        self.look()?;
        self.is_looked_at = true;
        self.append(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_looked_at) {
            self.look()?;
        }
        self.disk.as_ref().map_or(Ok(()), Disk::bring)
    }
}

/// Brings what a file holds to the disk. Dropped, it waits until that is done.
struct Disk {
    asked: Option<Sender<()>>,
    failed: Arc<Mutex<Option<io::Error>>>,
    thread: Option<JoinHandle<()>>,
}

impl Disk {
    fn new(file: File) -> io::Result<Self> {
        let (asked, asks) = channel();
        let failed = Arc::new(Mutex::new(None));
        let failure = Arc::clone(&failed);
        let thread = std::thread::Builder::new().name("disk".to_owned()).spawn(move || {
            while asks.recv().is_ok() {
                // Who asked meanwhile is served by the same.
                while asks.try_recv().is_ok() {}
                if let Err(error) = file.sync_data() {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        })?;
        Ok(Self { asked: Some(asked), failed, thread: Some(thread) })
    }

    /// Asks for it; an error is that it could not be done the last time.
    fn bring(&self) -> io::Result<()> {
        if let Some(error) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        // The thread ends only with this.
        let _ = self.asked.as_ref().map(|asked| asked.send(()));
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(self.asked.take());
        // A thread that panicked has said so already.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_cuts_off_is_written_again_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        std::fs::write(&path, "one\n").unwrap();
        let file = File::options().read(true).append(true).open(&path).unwrap();
        let remarks = Remarks::default();
        let mut rows =
            RowFile::new(file, path.clone(), b"one\n".to_vec(), Arc::clone(&remarks)).unwrap();
        rows.write_all(b"two\n").unwrap();
        for cut in [0, 6] {
            File::options().write(true).open(&path).unwrap().set_len(cut).unwrap();
            rows.write_all(b"three\n").unwrap();
        }
        // As after each row; with none since, it is looked at again.
        rows.flush().unwrap();
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        rows.flush().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\nthree\n");
        let lines = remarks.lock().unwrap().clone();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[1].contains("rows.csv: something else has cut it off to 6 bytes"),
            "{}",
            lines[1]
        );
    }

    #[test]
    fn what_somebody_adds_stays_and_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        let file = File::options().read(true).append(true).create(true).open(&path).unwrap();
        let remarks = Remarks::default();
        let mut rows = RowFile::new(file, path.clone(), Vec::new(), Arc::clone(&remarks)).unwrap();
        rows.write_all(b"one\n").unwrap();
        let mut other = File::options().append(true).open(&path).unwrap();
        other.write_all(b"theirs\n").unwrap();
        rows.write_all(b"two\n").unwrap();
        other.write_all(b"half a line").unwrap();
        rows.write_all(b"three\n").unwrap();
        rows.flush().unwrap();
        // And what they added comes back, too.
        other.set_len(0).unwrap();
        rows.flush().unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "one\ntheirs\ntwo\nhalf a line\nthree\n"
        );
        let lines = remarks.lock().unwrap().clone();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].ends_with(
            "rows.csv: something else has added to it while rows were written: what it added stays, between rows"
        ));
    }
}
