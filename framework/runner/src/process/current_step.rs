//! Shares the number of the current step of a schedule between a child process and its parent, and
//! whether the child is executing the plugin. The parent can read both even after the child has
//! crashed.

use crate::system;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The environment variable with the path of the shared file.
const VARIABLE: &str = "SWAPMEET_PROGRESS";

/// Size of the shared numbers in bytes: the step, and 1 if the child is executing the plugin.
const SIZE: usize = 2 * size_of::<u64>();

/// The parent's access to the shared numbers. `None` if the file could not be created; the last step
/// is then unknown.
pub(crate) struct SharedStep(Option<File>);

impl SharedStep {
    /// Creates the shared numbers, and passes the path of its file to the child in an environment
    /// variable.
    pub(crate) fn of(command: &mut Command) -> Self {
        let made = system::current().create_shared_file(SIZE as u64);
        Self(made.ok().map(|(file, path)| {
            command.env(VARIABLE, path);
            file
        }))
    }

    /// Returns an access without a number, because a thread has no shared file.
    #[cfg(feature = "in-process")]
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Returns a text with the current step. It is empty if no step has begun.
    pub(crate) fn in_words(&self) -> String {
        in_step(self.number(0))
    }

    /// Returns whether the child was executing the plugin.
    pub(crate) fn is_in_plugin(&self) -> bool {
        self.number(1) != 0
    }

    /// Returns a shared number; 0 if it cannot be read.
    fn number(&self, index: u64) -> u64 {
        let mut bytes = [0; size_of::<u64>()];
        let at = index * bytes.len() as u64;
        let read = self.0.as_ref().and_then(|file| file.read_exact_at(&mut bytes, at).ok());
        read.map_or(0, |()| u64::from_ne_bytes(bytes))
    }
}

/// Returns a text with the number of a step. It is empty for step 0.
pub(crate) fn in_step(step: u64) -> String {
    if step == 0 { String::new() } else { format!("; it was in step {step}") }
}

static SHARED: OnceLock<&'static [AtomicU64; 2]> = OnceLock::new();

/// Prepares the child for [`record_step`]. From then on, steps are stored if the shared file is
/// available.
pub(crate) fn share() {
    let Some(file) = std::env::var_os(VARIABLE) else { return };
    let Ok(file) = system::current().open_shared_file(file.as_ref()) else { return };
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
        let numbers = unsafe { &*page.cast::<[AtomicU64; 2]>() };
        SHARED.get_or_init(|| numbers);
    }
}

/// Stores the number of the step that has begun; 0 at the start of a schedule.
pub(crate) fn record_step(step: u64) {
    if let Some([number, _]) = SHARED.get() {
        number.store(step, Ordering::Relaxed);
    }
}

/// Stores whether this process is executing the plugin.
pub(crate) fn record_plugin(is_executing: bool) {
    if let Some([_, plugin]) = SHARED.get() {
        plugin.store(is_executing.into(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unwritten_page_has_no_step() {
        let mut command = Command::new("true");
        let page = SharedStep::of(&mut command);
        assert_eq!(page.in_words(), "");
        let file = page.0.as_ref().unwrap();
        file.write_all_at(&7_u64.to_ne_bytes(), 0).unwrap();
        assert_eq!(page.in_words(), "; it was in step 7");
        assert!(!page.is_in_plugin());
        file.write_all_at(&1_u64.to_ne_bytes(), 8).unwrap();
        assert!(page.is_in_plugin());
        // A plugin could otherwise empty the file, or fill memory that no limit counts.
        assert!(file.set_len(3).is_err(), "the size of the file is sealed");
        assert!(file.set_len(1 << 20).is_err(), "the size of the file is sealed");
        assert!(file.write_all_at(&[0], 1 << 20).is_err(), "the size of the file is sealed");
    }
}
