//! The operations that differ between operating systems. `linux` and `portable` define the same
//! functions. `portable` is for other Unix systems, such as macOS, and has no sandbox. With `--cfg
//! swapmeet_portable`, it is used and tested on Linux.

#[cfg(all(target_os = "linux", not(swapmeet_portable)))]
mod linux;
#[cfg(any(not(target_os = "linux"), swapmeet_portable, test))]
#[cfg_attr(test, allow(dead_code, reason = "on Linux, only tests of this module use it"))]
mod portable;

#[cfg(all(target_os = "linux", not(swapmeet_portable)))]
use linux as this_system;
#[cfg(any(not(target_os = "linux"), swapmeet_portable))]
use portable as this_system;

use crate::sandbox::{FileAccess, Protection, SandboxError};

pub(crate) use this_system::{
    HAS_SANDBOX, create_shared_file, end_with_program, enter_sandbox, limit_address_space,
    limit_address_space_of, open_shared_file, process_status, status_of,
};

/// Returns the restrictions that the kernel would enforce, or `None` if there is no sandbox.
pub fn protection() -> Option<Result<Protection, SandboxError>> {
    // Enter the sandbox in another thread, because the restrictions of a thread are permanent.
    let enter = || enter_sandbox(&FileAccess::default());
    let entered = || std::thread::Builder::new().spawn(enter).ok()?.join().ok();
    let nothing = Protection { landlock: 0, seccomp: false };
    has_sandbox().then(|| entered().unwrap_or(Ok(nothing)))
}

pub fn has_sandbox() -> bool {
    HAS_SANDBOX
}

pub fn threads() -> Option<u64> {
    status_line(&process_status(), "Threads:")?.parse().ok()
}

/// Returns the peak memory of this process in bytes; `None` if the system does not report it.
pub fn peak_bytes() -> Option<u64> {
    bytes_in(&process_status(), "VmHWM:")
}

pub(crate) fn bytes_in(status: &str, key: &str) -> Option<u64> {
    let kib: u64 = status_line(status, key)?.strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

pub(crate) fn status_line<'a>(status: &'a str, key: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}

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

/// Makes all threads allocate memory from one heap. By default, glibc has a heap for each thread,
/// which takes up to a quarter more memory.
pub fn use_one_heap() {
    // SAFETY: the call takes no pointer.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Returns freed memory to the system. By default, glibc keeps it for later use.
pub fn return_freed_memory() {
    // SAFETY: the call takes no pointer.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_portable_shared_file_is_opened_once_and_leaves_no_name() {
        let (file, path) = portable::create_shared_file(4).unwrap();
        portable::open_shared_file(&path).unwrap().write_all_at(b"step", 0).unwrap();
        let mut bytes = [0; 4];
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"step");
        assert!(!path.exists());
    }

    #[test]
    fn the_memory_of_the_machine_is_that_of_the_kernel() {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap();
        let kib: u64 = line.split_whitespace().next().unwrap().parse().unwrap();
        assert_eq!(total_memory(), Some(kib * 1024));
    }
}
