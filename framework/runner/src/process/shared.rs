//! Numbers that a child process shares with its parent. The parent can read them even after a crash
//! of the child.

use crate::system;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const VARIABLE: &str = "SWAPMEET_PROGRESS";

/// The number of the current step, the number of threads that execute code of the plugin, and the
/// time spent on pricing in µs.
type Numbers = [AtomicU64; 3];

/// The parent's access to the shared numbers. All numbers are 0 if their file could not be created.
pub(crate) struct SharedNumbers(Option<File>);

impl SharedNumbers {
    /// Creates the shared numbers. The child gets their path in an environment variable.
    pub(crate) fn of(command: &mut Command) -> Self {
        let made = system::create_shared_file(size_of::<Numbers>() as u64);
        Self(made.ok().map(|(file, path)| {
            command.env(VARIABLE, path);
            file
        }))
    }

    #[cfg(feature = "in-process")]
    pub(crate) fn none() -> Self {
        Self(None)
    }

    pub(crate) fn in_words(&self) -> String {
        in_step(self.number(0))
    }

    pub(crate) fn is_in_plugin(&self) -> bool {
        self.number(1) != 0
    }

    pub(crate) fn priced(&self) -> Duration {
        Duration::from_micros(self.number(2))
    }

    fn number(&self, index: u64) -> u64 {
        let mut bytes = [0; size_of::<u64>()];
        let at = index * bytes.len() as u64;
        let read = self.0.as_ref().and_then(|file| file.read_exact_at(&mut bytes, at).ok());
        read.map_or(0, |()| u64::from_ne_bytes(bytes))
    }
}

pub(crate) fn in_step(step: u64) -> String {
    if step == 0 { String::new() } else { format!("; it was in step {step}") }
}

static SHARED: OnceLock<&'static Numbers> = OnceLock::new();

/// Called in the child process. Opens the shared numbers for the functions below. If the file does
/// not exist, these functions do nothing.
pub(crate) fn share() {
    const SIZE: usize = size_of::<Numbers>();
    let Some(file) = std::env::var_os(VARIABLE) else { return };
    let Ok(file) = system::open_shared_file(file.as_ref()) else { return };
    if !file.metadata().is_ok_and(|m| m.len() == SIZE as u64) {
        return;
    }
    let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: this creates a new mapping of an open file. The length of the file has been checked.
    let page =
        unsafe { libc::mmap(std::ptr::null_mut(), SIZE, access, shared, file.as_raw_fd(), 0) };
    if page != libc::MAP_FAILED {
        // SAFETY: a page is aligned for every integer type and is never unmapped. It contains zeros
        // or stored numbers, and only this process stores numbers in it.
        let numbers = unsafe { &*page.cast::<Numbers>() };
        SHARED.get_or_init(|| numbers);
    }
}

/// Stores the number of the step that has begun. At the start of a schedule, it is 0.
pub(crate) fn record_step(step: u64) {
    if let Some([number, ..]) = SHARED.get() {
        number.store(step, Ordering::Relaxed);
    }
}

pub(crate) fn in_plugin<R>(work: impl FnOnce() -> R) -> R {
    let Some([_, calls, _]) = SHARED.get() else { return work() };
    calls.fetch_add(1, Ordering::Relaxed);
    let result = work();
    calls.fetch_sub(1, Ordering::Relaxed);
    result
}

pub(crate) fn record_pricing(time: Duration) {
    if let Some([.., priced]) = SHARED.get() {
        priced.fetch_add(time.as_micros() as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unwritten_page_has_no_step() {
        let mut command = Command::new("true");
        let page = SharedNumbers::of(&mut command);
        assert_eq!(page.in_words(), "");
        let file = page.0.as_ref().unwrap();
        file.write_all_at(&7_u64.to_ne_bytes(), 0).unwrap();
        assert_eq!(page.in_words(), "; it was in step 7");
        assert!(!page.is_in_plugin());
        file.write_all_at(&1_u64.to_ne_bytes(), 8).unwrap();
        assert!(page.is_in_plugin());
        file.write_all_at(&9_u64.to_ne_bytes(), 16).unwrap();
        assert_eq!(page.priced(), Duration::from_micros(9));
        assert!(file.set_len(3).is_err(), "the size of the file is sealed");
        assert!(file.set_len(1 << 20).is_err(), "the size of the file is sealed");
        assert!(file.write_all_at(&[0], 1 << 20).is_err(), "the size of the file is sealed");
    }
}
