//! Files that are written completely or not changed. A file that a run writes is not replaced.

use rustix::fs::{Gid, Uid};
use std::fs::{DirEntry, File, Metadata, Permissions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::{NamedTempFile, TempDir};

/// The prefix of drafts. A draft is a new file or folder that replaces another one when it is
/// complete. A program locks the drafts that it writes. So if a draft is not locked, its program
/// was killed.
const DRAFT: &str = ".swapmeet-";

#[derive(Debug, thiserror::Error)]
pub enum AtomicWriteError {
    #[error("another run is writing to it")]
    Busy,
    #[error("the file has a hard link, which would keep the old contents")]
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
        // A device or a pipe cannot be replaced, so the text is written to it directly.
        let mut file = BufWriter::new(File::options().write(true).open(path)?);
        return Ok(write(&mut file).and_then(|()| file.flush())?);
    }
    let mut lock_held = there.is_some().then(|| open_locked(path)).transpose()?;
    let (draft, real) = draft_for(path)?;
    let mut text = BufWriter::new(draft.as_file());
    write(&mut text).and_then(|()| text.flush()).and_then(|()| draft.as_file().sync_all())?;
    drop(text);
    if lock_held.is_none() && real.exists() {
        // A run has created the file since it was found missing above.
        lock_held = Some(open_locked(&real)?);
    }
    persist(draft, &real)?;
    drop(lock_held);
    Ok(())
}

/// Moves a file to its final path and syncs the folder, so that the file survives a power cut.
pub fn persist(file: NamedTempFile, place: &Path) -> io::Result<File> {
    let file = file.persist(place)?;
    // The result is ignored, because some file systems cannot sync a folder.
    drop(File::open(folder_of(place)).and_then(|folder| folder.sync_all()));
    Ok(file)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns an empty draft in the folder of `path`, and the path of the file that the draft will
/// replace. If `path` is a symbolic link, this is the path of the link's target.
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
    // The messages of tempfile also contain the path of the temporary file. It is removed.
    let bare =
        |e: &io::Error| e.to_string().split(" at path ").next().unwrap_or_default().to_owned();
    let draft = loop {
        let draft = tempfile::Builder::new()
            .prefix(DRAFT)
            .permissions(permissions.clone())
            .tempfile_in(folder)
            .map_err(|e| io::Error::new(e.kind(), bare(&e)))?;
        // Until it is locked, another program may take the draft for a stale one and remove it.
        lock(draft.as_file())?;
        if is_at(draft.as_file(), draft.path()) {
            break draft;
        }
    };
    if let Some(there) = there {
        keep_owner(draft.as_file(), &there);
        // Permissions are set last, because a new owner may clear some. The umask has no effect.
        draft.as_file().set_permissions(there.permissions())?;
    }
    Ok((draft, real))
}

/// A temporary folder for files that are moved to its parent folder; removed when dropped.
pub struct StagingFolder {
    folder: TempDir,
    /// While this lock is held, other programs do not remove the folder.
    _lock: File,
}

impl StagingFolder {
    pub fn new(near: &Path) -> io::Result<Self> {
        remove_stale_drafts(near);
        loop {
            let folder = tempfile::Builder::new().prefix(DRAFT).tempdir_in(near)?;
            // Until it is locked, another program may take the folder for a stale draft and remove
            // it.
            let held = match File::open(folder.path()) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            lock(&held)?;
            if is_at(&held, folder.path()) {
                return Ok(Self { folder, _lock: held });
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn remove_stale_drafts(folder: &Path) {
    let is_draft = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(DRAFT);
    for draft in std::fs::read_dir(folder).into_iter().flatten().flatten().filter(is_draft) {
        let path = draft.path();
        // The lock is held while the draft is removed. If another program has just created the
        // draft and waits for this lock, it then notices that the draft has been removed. On a file
        // system without locks, drafts are not removed.
        let Ok(held) = File::open(&path) else { continue };
        if held.try_lock().is_ok() && is_at(&held, &path) {
            let is_folder = held.metadata().is_ok_and(|m| m.is_dir());
            drop(if is_folder {
                std::fs::remove_dir_all(&path)
            } else {
                std::fs::remove_file(&path)
            });
        }
    }
}

/// Gives a file the owner and group of the file that it will replace, as far as permitted.
fn keep_owner(file: &File, there: &Metadata) {
    let own = |uid, gid| rustix::fs::fchown(file, uid, gid).is_ok();
    let group = Some(Gid::from_raw(there.gid()));
    // Setting only the group may be permitted. Otherwise, the file belongs to the current user.
    let _ = own(Some(Uid::from_raw(there.uid())), group) || own(None, group);
}

/// Follows symbolic links from a path to a file that does not exist yet.
fn link_target(path: &Path) -> io::Result<PathBuf> {
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

fn open_locked(path: &Path) -> Result<File, AtomicWriteError> {
    let file = File::options().write(true).open(path)?;
    lock(&file)?;
    Ok(file)
}

pub fn is_at(file: &File, path: &Path) -> bool {
    let identity = |m: Metadata| (m.dev(), m.ino());
    file.metadata().map(identity).ok() == std::fs::metadata(path).map(identity).ok()
}

pub fn lock(file: &File) -> Result<(), AtomicWriteError> {
    /// How long to wait for a lock. If a run is killed while it starts a child process, the child
    /// holds the run's lock until it executes its program, which takes about 40 ms.
    const LONGEST: Duration = Duration::from_millis(500);
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if begin.elapsed() < LONGEST => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => return Err(AtomicWriteError::Busy),
            // The file system has no locks.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let refused = write(&folder.path().join("x.toml"), |_| Err(io::Error::other("no space")));
        assert_eq!(refused.unwrap_err().to_string(), "no space");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_locked_file_is_not_replaced() {
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

    #[test]
    fn a_lock_that_is_held_briefly_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let theirs = File::create(&path).unwrap();
        lock(&theirs).unwrap();
        let holder = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(theirs);
        });
        lock(&File::open(&path).unwrap()).unwrap();
        holder.join().unwrap();
    }

    #[test]
    fn drafts_of_killed_programs_are_removed_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let near = |name: &str| folder.path().join(name);
        std::fs::write(near(".swapmeet-file"), "half a tab").unwrap();
        std::fs::create_dir(near(".swapmeet-folder")).unwrap();
        std::fs::write(near(".swapmeet-folder/schedule.txt"), "half a sched").unwrap();
        std::fs::write(near("theirs"), "").unwrap();
        let staging = StagingFolder::new(folder.path()).unwrap();
        let (draft, _) = draft_for(&near("rows.csv")).unwrap();
        let left = || {
            let entries = std::fs::read_dir(folder.path()).unwrap();
            entries.map(|entry| entry.unwrap().path()).collect::<std::collections::BTreeSet<_>>()
        };
        let live = [staging.path().to_owned(), draft.path().to_owned(), near("theirs")];
        assert_eq!(left(), live.into());
        // Drafts of a running program stay, even if other commands write to the same folder.
        write(&near("theirs"), |_| Ok(())).unwrap();
        assert_eq!(left().len(), 3);
    }
}
