use crate::sandbox::{FileAccess, Protection, SandboxError};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpgrp, getpid, getppid, kill_current_process_group, setrlimit,
};
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub(crate) const HAS_SANDBOX: bool = false;

pub(crate) fn enter_sandbox(_: &FileAccess<'_>) -> Result<Protection, SandboxError> {
    Err(SandboxError("there is none on this system".to_owned()))
}

/// Limits the address space. Some systems define this limit but refuse to set it. The process then
/// runs without a limit.
pub(crate) fn limit_address_space(limit: Rlimit) -> io::Result<()> {
    let _ = setrlimit(Resource::As, limit);
    Ok(())
}

pub(crate) fn limit_address_space_of(_: Pid, _: Rlimit) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Starts a thread that regularly checks whether the parent still exists. POSIX has no signal for
/// the end of a parent.
pub(crate) fn end_with_program() -> io::Result<()> {
    const PAUSE: Duration = Duration::from_millis(200);
    let program = getppid();
    let watch = move || {
        while getppid() == program {
            std::thread::sleep(PAUSE);
        }
        // A worker leads a process group, which contains the processes that a plugin has forked. If
        // this process does not lead its group, the group may include processes of the user's
        // shell, which must not be killed.
        if getpgrp() == getpid() {
            let _ = kill_current_process_group(Signal::KILL);
        }
        // SAFETY: `_exit` ends the process without calling functions that a plugin has registered.
        unsafe { libc::_exit(1) }
    };
    std::thread::Builder::new().spawn(watch).map(drop)
}

pub(crate) fn create_shared_file(bytes: u64) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("swapmeet-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    file.set_len(bytes)?;
    Ok((file, path))
}

/// Opens the file and removes its name, so that the file does not remain if a process is killed.
pub(crate) fn open_shared_file(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).open(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

pub(crate) fn process_status() -> String {
    String::new()
}

pub(crate) fn status_of(_: Pid) -> String {
    String::new()
}
