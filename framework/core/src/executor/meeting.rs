//! Where threads wait for each other some hundred thousand times a second: they look, rather than be woken.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{panicking, yield_now};

/// On cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub T);

/// A point that nobody goes beyond before all have come there.
#[derive(Debug)]
pub(crate) struct Meeting {
    members: usize,
    came: Apart<AtomicUsize>,
    /// How often all have come, which those who wait look at all the time.
    times: Apart<AtomicUsize>,
    /// Whether somebody will never come.
    is_off: AtomicBool,
}

impl Meeting {
    pub(crate) fn of(members: usize) -> Self {
        Self { members, came: Apart::default(), times: Apart::default(), is_off: AtomicBool::new(false) }
    }

    /// Waits for the others; false if one of them will never come.
    #[must_use]
    pub(crate) fn wait(&self) -> bool {
        /// So many looks, some tens of microseconds; then whoever else wants the core has it between two of them.
        const LOOKS: u32 = 1000;
        let times = self.times.0.load(Ordering::Acquire);
        if self.came.0.fetch_add(1, Ordering::AcqRel) + 1 == self.members {
            self.came.0.store(0, Ordering::Relaxed);
            self.times.0.store(times + 1, Ordering::Release);
            return true;
        }
        let mut looks = 0;
        while self.times.0.load(Ordering::Acquire) == times {
            if self.is_off.load(Ordering::Relaxed) {
                return false;
            }
            looks += 1;
            if looks < LOOKS { spin_loop() } else { yield_now() }
        }
        true
    }
}

/// Held by whoever comes to a meeting: should it panic, nobody waits for it.
pub(crate) struct Present<'a>(pub &'a Meeting);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        if panicking() {
            self.0.is_off.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        let (meeting, sum) = (Meeting::of(3), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for turn in 1..=1000 {
                        sum.fetch_add(1, Ordering::Relaxed);
                        assert!(meeting.wait());
                        assert_eq!(sum.load(Ordering::Relaxed), 3 * turn);
                        assert!(meeting.wait());
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_waits_for_one_that_panicked() {
        let meeting = Meeting::of(2);
        thread::scope(|scope| {
            let other = scope.spawn(|| meeting.wait());
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let _here = Present(&meeting);
                panic!("on purpose");
            }));
            assert!(panicked.is_err());
            assert!(!other.join().unwrap());
        });
    }
}
