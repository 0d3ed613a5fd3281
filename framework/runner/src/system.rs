//! The operations that differ between systems. There are two implementations: one for Linux, and a
//! portable one, which has no sandbox and notices fewer changes of a process. macOS and other Unix
//! systems use the portable implementation. All tests run on Linux. To test the portable
//! implementation, build the program with `--cfg swapmeet_portable` or set the environment variable
//! [`PORTABLE`].

#[cfg(all(target_os = "linux", not(swapmeet_portable)))]
mod linux;
mod portable;

use crate::sandbox::{FileAccess, Protection, SandboxError};
use rustix::process::{Pid, Rlimit};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The environment variable that selects the portable implementation on Linux.
pub const PORTABLE: &str = "SWAPMEET_PORTABLE";

/// The operations that differ between systems.
pub(crate) trait System: Sync {
    /// Returns whether there is a sandbox.
    fn has_sandbox(&self) -> bool;
    /// Restricts this thread, and the threads that it starts from now on, permanently. Only the
    /// files in `access` remain accessible.
    fn enter_sandbox(&self, access: &FileAccess<'_>) -> Result<Protection, SandboxError>;
    /// Limits the address space of this process.
    fn limit_address_space(&self, limit: Rlimit) -> io::Result<()>;
    /// Limits the address space of a child process.
    fn limit_address_space_of(&self, child: Pid, limit: Rlimit) -> io::Result<()>;
    /// Makes this process end when the program exits.
    fn end_with_program(&self) -> io::Result<()>;
    /// Creates a file of this size, which contains zeros. A child process can open it once, at the
    /// returned path.
    fn create_shared_file(&self, bytes: u64) -> io::Result<(File, PathBuf)>;
    /// Opens a file that the parent has created with `create_shared_file`.
    fn open_shared_file(&self, path: &Path) -> io::Result<File>;
    /// Returns the text of `/proc/self/status`; empty if there is no such file.
    fn process_status(&self) -> String;
    /// Returns the text of `/proc/PID/status` of a child process; empty if there is no such file.
    fn status_of(&self, child: Pid) -> String;
}

/// Returns the operations of this system.
pub(crate) fn current() -> &'static dyn System {
    #[cfg(all(target_os = "linux", not(swapmeet_portable)))]
    if std::env::var_os(PORTABLE).is_none_or(|value| value.is_empty() || value == "0") {
        return &linux::Linux;
    }
    &portable::Portable
}

/// Returns the restrictions that the kernel would enforce on a process in the sandbox; `None` if
/// this system has no sandbox.
pub fn protection() -> Option<Result<Protection, SandboxError>> {
    // Restrictions are permanent for a thread, so a temporary thread enters the sandbox.
    let enter = || current().enter_sandbox(&FileAccess::default());
    let entered = || std::thread::Builder::new().spawn(enter).ok()?.join().ok();
    let nothing = Protection { landlock: 0, seccomp: false };
    has_sandbox().then(|| entered().unwrap_or(Ok(nothing)))
}

/// Returns whether this system has a sandbox.
pub fn has_sandbox() -> bool {
    current().has_sandbox()
}

/// Returns the number of threads of this process; `None` if the system does not report it.
pub fn threads() -> Option<u64> {
    status_line(&current().process_status(), "Threads:")?.parse().ok()
}

/// Returns the peak memory of this process in bytes; `None` if the system does not report it.
pub fn peak_bytes() -> Option<u64> {
    bytes_in(&current().process_status(), "VmHWM:")
}

/// Returns the number of bytes in the line of a process status that begins with `key`.
pub(crate) fn bytes_in(status: &str, key: &str) -> Option<u64> {
    let kib: u64 = status_line(status, key)?.strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Returns the rest of the line of a process status that begins with `key`.
pub(crate) fn status_line<'a>(status: &'a str, key: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}

/// Returns whether this process ignores a signal.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: zero is a valid value of the structure, and the call only fills it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Returns the size of the machine's memory in bytes; `None` if the system does not report it.
pub fn total_memory() -> Option<u64> {
    // SAFETY: neither call takes a pointer.
    let (pages, size) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).ok()?.checked_mul(u64::try_from(size).ok()?)
}

#[cfg(test)]
mod tests {
    use super::portable::Portable;
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_shared_file_is_opened_once_and_leaves_no_name() {
        let (file, path) = Portable.create_shared_file(4).unwrap();
        Portable.open_shared_file(&path).unwrap().write_all_at(b"step", 0).unwrap();
        let mut bytes = [0; 4];
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"step");
        assert!(!path.exists());
    }

    /// Linux reports the same size in `/proc/meminfo`.
    #[test]
    fn the_memory_of_the_machine_is_that_of_the_kernel() {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap();
        let kib: u64 = line.split_whitespace().next().unwrap().parse().unwrap();
        assert_eq!(total_memory(), Some(kib * 1024));
    }
}
