//! Where the program writes: standard output, for data only, and files, whole or not at all.
//!
//! Where plugins run in this process, what they print goes to standard error.

use crate::failure::Failure;
use rustix::fs::{Gid, Uid};
use std::fs::{DirEntry, File, Metadata, Permissions, TryLockError};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::NamedTempFile;

/// What the names of files begin with that are to take another's place.
const DRAFT: &str = ".swapmeet-";

static KEPT: OnceLock<File> = OnceLock::new();

/// Keeps standard output for [`data`]; whatever else is printed, by anybody's code, goes to standard error from now on.
pub(crate) fn keep() -> io::Result<()> {
    let own = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(io::stderr())?;
    // Kept once is kept.
    drop(KEPT.set(own));
    Ok(())
}

/// Whether data go to a terminal.
pub(crate) fn is_terminal() -> bool {
    KEPT.get().map_or_else(|| io::stdout().is_terminal(), IsTerminal::is_terminal)
}

pub(crate) fn data() -> io::Result<Box<dyn Write + Send>> {
    Ok(match KEPT.get() {
        Some(own) => Box::new(own.try_clone()?),
        None => Box::new(io::stdout()),
    })
}

/// Writes data, all of them.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    data()
        .and_then(|mut out| out.write_all(text.as_bytes()).and_then(|()| out.flush()))
        .map_err(|e| Failure::printing(&e))
}

/// Writes a file whole or not at all: what was there before is there until all of the new text is, and a file that a run is writing is left alone.
pub(crate) fn file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure::file(path, &e);
    let there = match std::fs::metadata(path) {
        Ok(there) => Some(there),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(failed(e)),
    };
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        // A device or a pipe: nothing can take its place.
        let mut file = BufWriter::new(File::options().write(true).open(path).map_err(failed)?);
        return write(&mut file).and_then(|()| file.flush()).map_err(failed);
    }
    let mut held = there.is_some().then(|| hold(path)).transpose()?;
    let (beside, real) = beside(path)?;
    let mut text = BufWriter::new(beside.as_file());
    write(&mut text).and_then(|()| text.flush()).and_then(|()| beside.as_file().sync_all()).map_err(failed)?;
    drop(text);
    if held.is_none() && real.exists() {
        // A run has begun to write there meanwhile.
        held = Some(hold(&real)?);
    }
    put(beside, &real).map_err(failed)?;
    drop(held);
    Ok(())
}

/// Gives a file its place. A power cut after this finds it there.
pub(crate) fn put(file: NamedTempFile, place: &Path) -> io::Result<File> {
    let file = file.persist(place)?;
    // Not every kind of folder can be brought to a disk.
    drop(File::open(folder_of(place)).and_then(|folder| folder.sync_all()));
    Ok(file)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses to write over a file that was read for what is written, by whatever name.
pub(crate) fn none_of<P: AsRef<Path>>(out: &Path, read: impl IntoIterator<Item = P>) -> Result<(), Failure> {
    let identity = |path: &Path| std::fs::metadata(path).ok().filter(Metadata::is_file).map(|m| (m.dev(), m.ino()));
    let Some(own) = identity(out) else { return Ok(()) };
    match read.into_iter().any(|path| identity(path.as_ref()) == Some(own)) {
        true => Err(Failure::Usage(format!("--out {}: it is read for this: give another --out", out.display()))),
        false => Ok(()),
    }
}

/// An empty file beside the one at `path`, which is to take its place, and what that place is: a link stays a link, to a new text.
pub(crate) fn beside(path: &Path) -> Result<(NamedTempFile, PathBuf), Failure> {
    let failed = |e: io::Error| Failure::file(path, &e);
    let there = std::fs::metadata(path).ok();
    let real = if there.is_some() { path.canonicalize().map_err(failed)? } else { led_to(path).map_err(failed)? };
    if there.as_ref().is_some_and(|there| there.nlink() > 1) {
        return Err(Failure::Usage(format!(
            "{}: it has another name, which would keep what was there: give another --out",
            path.display()
        )));
    }
    let folder = folder_of(&real);
    sweep(folder);
    let mode = there.as_ref().map_or(0o666, |there| there.permissions().mode());
    let permissions = Permissions::from_mode(mode);
    let beside = tempfile::Builder::new().prefix(DRAFT).permissions(permissions).tempfile_in(folder);
    // The temporary file's name is no news.
    let bare = |e: &io::Error| e.to_string().split(" at path ").next().unwrap_or_default().to_owned();
    let beside = beside.map_err(|e| failed(io::Error::new(e.kind(), bare(&e))))?;
    // For as long as it is open: nobody takes it for one that was left behind.
    lock(beside.as_file(), path)?;
    if let Some(there) = there {
        keep_owner(beside.as_file(), &there);
        // Last, and whatever the umask is: a change of owner may take bits away.
        beside.as_file().set_permissions(there.permissions()).map_err(failed)?;
    }
    Ok((beside, real))
}

/// Removes what was left beside by programs of ours that were killed.
fn sweep(folder: &Path) {
    /// Whoever has just made one locks it in a moment.
    const OLD: Duration = Duration::from_secs(60);
    let is_draft = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(DRAFT);
    for draft in std::fs::read_dir(folder).into_iter().flatten().flatten().filter(is_draft) {
        let age = draft.metadata().and_then(|m| m.modified()).ok().and_then(|then| then.elapsed().ok());
        if age.is_some_and(|age| age > OLD) && File::open(draft.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            drop(std::fs::remove_file(draft.path()));
        }
    }
}

/// Gives a file the owner and the group of the one that it is to replace, as far as we may.
fn keep_owner(file: &File, there: &Metadata) {
    let own = |uid, gid| rustix::fs::fchown(file, uid, gid).is_ok();
    let group = Some(Gid::from_raw(there.gid()));
    // A group of ours can be given where another owner can't; where not even that, the file is ours, as any new one.
    let _ = own(Some(Uid::from_raw(there.uid())), group) || own(None, group);
}

/// Where links lead that end at nothing yet.
fn led_to(path: &Path) -> io::Result<PathBuf> {
    /// As many as the system follows.
    const LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        match std::fs::read_link(&place) {
            Ok(target) => place = place.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::from(rustix::io::Errno::LOOP))
}

/// Opens a file that is there and locks it.
fn hold(path: &Path) -> Result<File, Failure> {
    let file = File::options().write(true).open(path).map_err(|e| Failure::file(path, &e))?;
    lock(&file, path)?;
    Ok(file)
}

/// Locks a file for as long as it is open; refused where another run writes to it.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(Failure::Usage(format!("{}: another run is writing to it", path.display())))
        }
        // Not every kind of file can be locked.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}
