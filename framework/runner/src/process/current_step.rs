//! How far a process has come, where whoever outlives it can read it: a number in memory that the
//! program and its child share.

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names the file of that number to the child.
const VARIABLE: &str = "SWAPMEET_PROGRESS";

/// Bytes of the number.
const SIZE: usize = size_of::<u64>();

/// The program's side. Without one only the last step isn't known.
pub(crate) struct SharedStep(Option<File>);

impl SharedStep {
    /// For a child that is to be started.
    pub(crate) fn of(command: &mut Command) -> Self {
        let made = memfd_create(c"progress", MemfdFlags::CLOEXEC);
        let file =
            made.and_then(|file| ftruncate(&file, SIZE as u64).map(|()| File::from(file))).ok();
        if let Some(file) = &file {
            command.env(VARIABLE, format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
        }
        Self(file)
    }

    /// The step that was under way, in words, as more of what became of a child: empty where none
    /// was.
    pub(crate) fn in_words(&self) -> String {
        let mut bytes = [0; SIZE];
        let step = self.0.as_ref().and_then(|file| file.read_exact_at(&mut bytes, 0).ok());
        in_step(step.map_or(0, |()| u64::from_ne_bytes(bytes)))
    }
}

/// The schedule's own number of the step that was under way, in words; empty before the first.
pub(crate) fn in_step(step: u64) -> String {
    if step == 0 { String::new() } else { format!("; it was in step {step}") }
}

static SHARED: OnceLock<&'static AtomicU64> = OnceLock::new();

/// The child's side: from now on steps are written down, as far as there is somewhere to.
pub(crate) fn share() {
    let Some(file) = std::env::var_os(VARIABLE) else { return };
    let Ok(file) = File::options().read(true).write(true).open(file) else { return };
    if !file.metadata().is_ok_and(|m| m.len() == SIZE as u64) {
        return;
    }
    let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new mapping, of a file that is open and has these bytes.
    let page =
        unsafe { libc::mmap(std::ptr::null_mut(), SIZE, access, shared, file.as_raw_fd(), 0) };
    if page != libc::MAP_FAILED {
        // SAFETY: a page begins where any number may, is never unmapped, and is zero or what was
        // stored; only this process stores.
        let number = unsafe { &*page.cast::<AtomicU64>() };
        SHARED.get_or_init(|| number);
    }
}

/// The schedule's step of this number has begun; 0 where a schedule has.
pub(crate) fn record_step(step: u64) {
    if let Some(number) = SHARED.get() {
        number.store(step, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_nobody_wrote_to_says_nothing() {
        let mut command = Command::new("true");
        let page = SharedStep::of(&mut command);
        assert_eq!(page.in_words(), "");
        let file = page.0.as_ref().unwrap();
        file.write_all_at(&7_u64.to_ne_bytes(), 0).unwrap();
        assert_eq!(page.in_words(), "; it was in step 7");
        // Whatever a plugin does to it.
        file.set_len(3).unwrap();
        assert_eq!(page.in_words(), "");
    }
}
