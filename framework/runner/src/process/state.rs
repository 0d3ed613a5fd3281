//! The state of a process. If a plugin has changed the state during a job, the process gets no
//! further jobs.

use crate::system;
use rustix::process::{Resource, Rlimit, getrlimit};
use std::os::unix::fs::MetadataExt;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    rounding: FloatingPoint,
    folder: Option<(u64, u64)>,
    limits: Vec<Rlimit>,
    /// The number of threads in `/proc/self/status`. `None` if the system does not report it.
    threads: Option<String>,
    /// The masks of blocked, ignored and caught signals in `/proc/self/status`. `None` if the
    /// system does not report them.
    signals: [Option<String>; 3],
}

impl State {
    pub(crate) fn now() -> Self {
        let status = system::process_status();
        let line = |key: &str| system::status_line(&status, key).map(str::to_owned);
        let limits = [
            Resource::Cpu,
            Resource::Fsize,
            Resource::Data,
            Resource::Stack,
            Resource::Core,
            Resource::Nproc,
            Resource::Nofile,
            Resource::As,
        ];
        Self {
            rounding: FloatingPoint::now(),
            folder: std::fs::metadata(".").ok().map(|m| (m.dev(), m.ino())),
            limits: limits.into_iter().map(getrlimit).collect(),
            threads: line("Threads:"),
            signals: ["SigBlk:", "SigIgn:", "SigCgt:"].map(line),
        }
    }

    /// Returns the first property that differs from `before`. Also cancels a pending `alarm`.
    pub(crate) fn changed_since(&self, before: &Self) -> Option<&'static str> {
        let alarm = pending_alarm();
        [
            (self.rounding != before.rounding, "another floating-point environment"),
            (self.folder != before.folder, "another working directory"),
            (self.limits != before.limits, "other resource limits"),
            (self.threads != before.threads, "threads"),
            (self.signals != before.signals, "other signal masks or handlers"),
            (alarm, "an alarm"),
        ]
        .into_iter()
        .find_map(|(differs, what)| differs.then_some(what))
    }
}

fn pending_alarm() -> bool {
    unsafe extern "C" {
        fn alarm(seconds: u32) -> u32;
    }
    // SAFETY: a call of C's library without pointers.
    unsafe { alarm(0) > 0 }
}

/// The rounding mode and the other floating-point settings, without the exception flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FloatingPoint([u64; 2]);

impl FloatingPoint {
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn now() -> Self {
        /// The bits of the exception flags, which are cleared in the result.
        const RAISED: u32 = 0x3f;
        let (mut vector, mut x87) = (0_u32, 0_u16);
        // SAFETY: both instructions only store a control word at the given address.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut vector, options(nostack, preserves_flags));
            std::arch::asm!("fnstcw [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags));
        }
        Self([u64::from(vector & !RAISED), u64::from(x87)])
    }

    #[cfg(target_arch = "aarch64")]
    pub(crate) fn now() -> Self {
        let control: u64;
        // SAFETY: reads a control register.
        unsafe {
            std::arch::asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags))
        };
        Self([control, 0])
    }

    /// Returns the current rounding mode. It is derived from the results of two divisions.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(crate) fn now() -> Self {
        let third = std::hint::black_box(1.0_f64) / std::hint::black_box(3.0);
        let two_thirds = std::hint::black_box(-2.0_f64) / std::hint::black_box(3.0);
        Self([third.to_bits(), two_thirds.to_bits()])
    }

    /// Restores the settings. On other architectures than x86-64 and AArch64, this has no effect.
    pub(crate) fn restore(self) {
        #[cfg(target_arch = "x86_64")]
        {
            let (vector, x87) = (self.0[0] as u32, self.0[1] as u16);
            // SAFETY: both instructions load a control word that was read from the same register.
            unsafe {
                std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const vector, options(nostack, preserves_flags));
                std::arch::asm!("fldcw [{}]", in(reg) &raw const x87, options(nostack, preserves_flags));
            }
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: this writes a value to the register from which it was read.
        unsafe {
            std::arch::asm!("msr fpcr, {}", in(reg) self.0[0], options(nomem, nostack, preserves_flags));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_more_and_another_folder_are_noticed() {
        let before = State::now();
        let other = State { folder: None, ..before.clone() };
        assert_eq!(other.changed_since(&before), Some("another working directory"));
        let other = State { threads: Some("77".to_owned()), ..before.clone() };
        assert_eq!(other.changed_since(&before), Some("threads"));
    }

    #[test]
    fn another_rounding_is_noticed_and_can_be_undone() {
        unsafe extern "C" {
            fn fesetround(round: i32) -> i32;
        }
        let before = FloatingPoint::now();
        assert_eq!(before, FloatingPoint::now());
        // SAFETY: a call of C's library without pointers, with FE_UPWARD of the architecture.
        unsafe { fesetround(if cfg!(target_arch = "x86_64") { 0x800 } else { 0x40_0000 }) };
        let after = FloatingPoint::now();
        before.restore();
        assert_ne!(after, before);
        assert_eq!(FloatingPoint::now(), before);
    }
}
