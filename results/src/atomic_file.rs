//! Files written whole or not at all: what was there before is there until all of the new text is,
//! and a file that a run is writing is left alone.

use rustix::fs::{Gid, Uid};
use std::fs::{DirEntry, File, Metadata, Permissions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::{NamedTempFile, TempDir};

/// What the names of files begin with that are to take another's place.
const DRAFT: &str = ".swapmeet-";

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum AtomicWriteError {
    #[error("another run is writing to it")]
    Busy,
    #[error("it has another name, which would keep what was there")]
    HardLinked,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<AtomicWriteError> for io::Error {
    fn from(error: AtomicWriteError) -> Self {
        match error {
            AtomicWriteError::Busy | AtomicWriteError::HardLinked => {
                Self::new(io::ErrorKind::ResourceBusy, error.to_string())
            }
            AtomicWriteError::Io(error) => error,
        }
    }
}

pub fn write(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), AtomicWriteError> {
    let there = match std::fs::metadata(path) {
        Ok(there) => Some(there),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e.into()),
    };
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        // A device or a pipe: nothing can take its place.
        let mut file = BufWriter::new(File::options().write(true).open(path)?);
        return Ok(write(&mut file).and_then(|()| file.flush())?);
    }
    let mut lock_held = there.is_some().then(|| open_locked(path)).transpose()?;
    let (draft, real) = draft_for(path)?;
    let mut text = BufWriter::new(draft.as_file());
    write(&mut text).and_then(|()| text.flush()).and_then(|()| draft.as_file().sync_all())?;
    drop(text);
    if lock_held.is_none() && real.exists() {
        // A run has begun to write there meanwhile.
        lock_held = Some(open_locked(&real)?);
    }
    persist(draft, &real)?;
    drop(lock_held);
    Ok(())
}

/// Gives a file its place. A power cut after this finds it there.
pub fn persist(file: NamedTempFile, place: &Path) -> io::Result<File> {
    let file = file.persist(place)?;
    // Not every kind of folder can be brought to a disk.
    drop(File::open(folder_of(place)).and_then(|folder| folder.sync_all()));
    Ok(file)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An empty file beside the one at `path`, which is to take its place, and what that place is: a
/// link stays a link, to a new text.
pub fn draft_for(path: &Path) -> Result<(NamedTempFile, PathBuf), AtomicWriteError> {
    let there = std::fs::metadata(path).ok();
    let real = if there.is_some() { path.canonicalize()? } else { link_target(path)? };
    if there.as_ref().is_some_and(|there| there.nlink() > 1) {
        return Err(AtomicWriteError::HardLinked);
    }
    let folder = folder_of(&real);
    remove_stale_drafts(folder);
    let mode = there.as_ref().map_or(0o666, |there| there.permissions().mode());
    let permissions = Permissions::from_mode(mode);
    let draft = tempfile::Builder::new().prefix(DRAFT).permissions(permissions).tempfile_in(folder);
    // The temporary file's name is no news.
    let bare =
        |e: &io::Error| e.to_string().split(" at path ").next().unwrap_or_default().to_owned();
    let draft = draft.map_err(|e| io::Error::new(e.kind(), bare(&e)))?;
    // For as long as it is open: nobody takes it for one that was left behind.
    lock(draft.as_file())?;
    if let Some(there) = there {
        keep_owner(draft.as_file(), &there);
        // Last, and whatever the umask is: a change of owner may take bits away.
        draft.as_file().set_permissions(there.permissions())?;
    }
    Ok((draft, real))
}

/// A folder, empty, that is gone once it is dropped, and whose files are to take others' places
/// draft it.
pub struct StagingFolder {
    folder: TempDir,
    /// Nobody takes it for one that was left behind.
    _lock: File,
}

impl StagingFolder {
    /// One in this folder.
    pub fn new(near: &Path) -> io::Result<Self> {
        remove_stale_drafts(near);
        let folder = tempfile::Builder::new().prefix(DRAFT).tempdir_in(near)?;
        let lock = File::open(folder.path())?;
        // Not every kind of file can be locked.
        drop(lock.try_lock());
        Ok(Self { folder, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes what was left beside by programs of ours that were killed.
fn remove_stale_drafts(folder: &Path) {
    /// Whoever has just made one locks it in a moment.
    const OLD: Duration = Duration::from_secs(60);
    let is_draft = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(DRAFT);
    for draft in std::fs::read_dir(folder).into_iter().flatten().flatten().filter(is_draft) {
        let age =
            draft.metadata().and_then(|m| m.modified()).ok().and_then(|then| then.elapsed().ok());
        let is_left = || File::open(draft.path()).is_ok_and(|file| file.try_lock().is_ok());
        if age.is_some_and(|age| age > OLD) && is_left() {
            let is_folder = draft.file_type().is_ok_and(|kind| kind.is_dir());
            drop(if is_folder {
                std::fs::remove_dir_all(draft.path())
            } else {
                std::fs::remove_file(draft.path())
            });
        }
    }
}

/// Gives a file the owner and the group of the one that it is to replace, as far as we may.
fn keep_owner(file: &File, there: &Metadata) {
    let own = |uid, gid| rustix::fs::fchown(file, uid, gid).is_ok();
    let group = Some(Gid::from_raw(there.gid()));
    // A group of ours can be given where another owner can't; where not even that, the file is
    // ours, as any new one.
    let _ = own(Some(Uid::from_raw(there.uid())), group) || own(None, group);
}

/// Where links lead that end at nothing yet.
fn link_target(path: &Path) -> io::Result<PathBuf> {
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
fn open_locked(path: &Path) -> Result<File, AtomicWriteError> {
    let file = File::options().write(true).open(path)?;
    lock(&file)?;
    Ok(file)
}

/// Locks a file for as long as it is open; refused where another run writes to it.
pub fn lock(file: &File) -> Result<(), AtomicWriteError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(AtomicWriteError::Busy),
        // Not every kind of file can be locked.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_file_that_could_not_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let refused = write(&folder.path().join("x.toml"), |_| Err(io::Error::other("no space")));
        assert_eq!(refused.unwrap_err().to_string(), "no space");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_is_being_written_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, "theirs").unwrap();
        let theirs = File::options().write(true).open(&path).unwrap();
        lock(&theirs).unwrap();
        let ours = || write(&path, |out| out.write_all(b"ours"));
        assert!(matches!(ours(), Err(AtomicWriteError::Busy)));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs");
        drop(theirs);
        ours().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "ours");
    }
}
