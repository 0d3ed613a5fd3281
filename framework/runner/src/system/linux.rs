mod calls;
mod files;

use crate::sandbox::{FileAccess, Protection, SandboxError};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, prlimit, set_parent_process_death_signal, setrlimit,
};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) const HAS_SANDBOX: bool = true;

/// Permanently restricts this thread, and the threads that it will start, to the files in `access`.
pub(crate) fn enter_sandbox(access: &FileAccess<'_>) -> Result<Protection, SandboxError> {
    let landlock = files::confine_files(access).map_err(|error| SandboxError(error.to_string()))?;
    let seccomp =
        calls::filter(calls::is_requested()).map_err(|error| SandboxError(error.to_string()))?;
    Ok(Protection { landlock, seccomp })
}

pub(crate) fn limit_address_space(limit: Rlimit) -> io::Result<()> {
    Ok(setrlimit(Resource::As, limit)?)
}

pub(crate) fn limit_address_space_of(child: Pid, limit: Rlimit) -> io::Result<()> {
    prlimit(Some(child), Resource::As, limit)?;
    Ok(())
}

pub(crate) fn end_with_program() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If there is no sandbox, a plugin can fork. The forked processes must end with the program,
    // even if the program is killed. The sandbox refuses forks. SAFETY: the handlers only make
    // system calls.
    unsafe { libc::pthread_atfork(Some(remember_parent), None, Some(end_with_parent)) };
    Ok(())
}

/// Creates a file without a name in memory. Other processes open it as a descriptor of this
/// process. No limit counts its memory, so the size of the file is sealed.
pub(crate) fn create_shared_file(bytes: u64) -> io::Result<(File, PathBuf)> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(memfd_create(c"progress", flags)?);
    file.set_len(bytes)?;
    fcntl_add_seals(&file, SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    Ok((file, PathBuf::from(path)))
}

pub(crate) fn open_shared_file(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).open(path)
}

pub(crate) fn process_status() -> String {
    std::fs::read_to_string("/proc/self/status").unwrap_or_default()
}

pub(crate) fn status_of(child: Pid) -> String {
    let path = format!("/proc/{}/status", child.as_raw_nonzero());
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The number of the process that has called fork. The forked process reads it in its own copy of
/// the memory.
static PARENT: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn remember_parent() {
    PARENT.store(std::process::id(), Ordering::Relaxed);
}

unsafe extern "C" fn end_with_parent() {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // If the parent ended before this process requested the signal, this process never receives it.
    // It then already has another parent. SAFETY: both calls are allowed in a process that was just
    // forked.
    unsafe {
        if libc::getppid().cast_unsigned() != PARENT.load(Ordering::Relaxed) {
            libc::_exit(1);
        }
    }
}
