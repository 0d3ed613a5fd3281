//! The output of the program. Files are written completely or not at all.

use crate::args::Overwrite;
use crate::failure::Failure;
use crate::signals::interrupts;
use crate::streams;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use swapmeet_results::atomic_file::{self, AtomicWriteError};
use tempfile::NamedTempFile;

pub(crate) fn is_terminal() -> bool {
    streams::stdout().is_terminal()
}

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    self::text(Path::new("-"), text)
}

pub(crate) fn print_trimmed(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    file(Path::new("-"), |out| {
        let mut out = Trimmed { out: BufWriter::new(out), space: Vec::new() };
        write(&mut out)?;
        out.out.write_all(b"\n")?;
        out.out.flush()
    })
}

/// A writer that omits the spaces and line ends at the end of the whole text.
struct Trimmed<W> {
    out: W,
    /// The last received spaces and line ends. They are written only if other text follows.
    space: Vec<u8>,
}

impl<W: Write> Write for Trimmed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = bytes.trim_ascii_end();
        if !text.is_empty() {
            self.out.write_all(&self.space)?;
            self.out.write_all(text)?;
            self.space.clear();
        }
        self.space.extend_from_slice(&bytes[text.len()..]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes a file completely or not at all. The path `-` is standard output.
pub(crate) fn file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if is_stdout(path) {
        let mut out = streams::stdout();
        return write(&mut out).and_then(|()| out.flush()).map_err(|e| Failure::printing(&e));
    }
    // If a signal arrives, no temporary file must remain, so each write checks for signals.
    static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let interrupted = INTERRUPTED.get_or_init(interrupts);
    let written = atomic_file::write(path, |out| {
        let mut out = Interruptible { out, interrupted };
        write(&mut out).and_then(|()| out.flush())
    });
    match written {
        Err(_) if interrupted.load(Ordering::Relaxed) => Err(Failure::Interrupted),
        written => written.map_err(|e| not_written(path, e)),
    }
}

struct Interruptible<'a> {
    out: &'a mut dyn Write,
    interrupted: &'a AtomicBool,
}

impl Write for Interruptible<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // With the error kind `Interrupted`, the caller would repeat the write.
        match self.interrupted.load(Ordering::Relaxed) {
            true => Err(io::Error::other("interrupted")),
            false => self.out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

pub(crate) fn text(path: &Path, text: &str) -> Result<(), Failure> {
    file(path, |out| out.write_all(text.as_bytes()))
}

/// Returns an empty temporary file, and the path of the file that it will replace. If `path` is a
/// symbolic link, this is the path of the link's target.
pub(crate) fn temporary_for(path: &Path) -> Result<(NamedTempFile, PathBuf), Failure> {
    atomic_file::draft_for(path).map_err(|e| not_written(path, e))
}

/// Errors if another run of this program has locked the file.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    atomic_file::lock(file).map_err(|e| not_written(path, e))
}

fn not_written(path: &Path, error: AtomicWriteError) -> Failure {
    match error {
        AtomicWriteError::Busy => Failure::Usage(format!("{}: {error}", path.display())),
        AtomicWriteError::HardLinked => {
            Failure::Usage(format!("{}: {error}: give another --out", path.display()))
        }
        AtomicWriteError::Io(error) => Failure::file(path, &error),
    }
}

/// Errors before the work begins if `place` is an input file or must not be overwritten.
pub(crate) fn may_write<P: AsRef<Path>>(
    place: &Path,
    over: Overwrite,
    read: impl IntoIterator<Item = P>,
) -> Result<(), Failure> {
    if is_stdout(place) {
        return Ok(());
    }
    refuse_inputs(place, read)?;
    match std::fs::metadata(place) {
        Ok(there) if there.is_file() && !over.force => Err(exists_error(place, there.len(), "")),
        Ok(_) | Err(_) => Ok(()),
    }
}

pub(crate) fn exists_error(place: &Path, bytes: u64, or: &str) -> Failure {
    let place = place.display();
    Failure::Usage(format!(
        "{place}: the file exists already, with {bytes} bytes: {or}--force overwrites it"
    ))
}

/// Errors if `out` is the same file as an input file, even if the paths differ.
pub(crate) fn refuse_inputs<P: AsRef<Path>>(
    out: &Path,
    read: impl IntoIterator<Item = P>,
) -> Result<(), Failure> {
    let identity = |path: &Path| {
        std::fs::metadata(path).ok().filter(Metadata::is_file).map(|m| (m.dev(), m.ino()))
    };
    let Some(own) = identity(out) else { return Ok(()) };
    // The running program contains the bundled algorithms, so its file is an input, too.
    let is_program = std::env::current_exe().is_ok_and(|program| identity(&program) == Some(own));
    match is_program || read.into_iter().any(|path| identity(path.as_ref()) == Some(own)) {
        true => Err(Failure::Usage(format!(
            "--out {}: it is an input of this command: give another --out",
            out.display()
        ))),
        false => Ok(()),
    }
}
