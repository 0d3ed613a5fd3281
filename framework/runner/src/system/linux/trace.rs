//! Reports the system calls that the sandbox refuses. The reports are meant for authors of plugins.
//!
//! With `SWAPMEET_SANDBOX_TRACE=1`, a refused call raises SIGSYS, and the signal handler in this
//! module prints the name of the call to standard error. The call then fails with `EPERM`, as it
//! does without the variable.

use crate::sandbox::{REFUSED, TRACE};
use std::ffi::{c_int, c_void};

/// Returns whether the environment variable [`TRACE`] requests the reports.
pub(super) fn is_requested() -> bool {
    std::env::var_os(TRACE).is_some_and(|value| !value.is_empty() && value != "0")
}

macro_rules! names {
    ($($call:ident)*) => { &[$((libc::$call, stringify!($call))),*] };
}

/// Names of refused calls that a plugin may make without its author's knowledge. Other refused
/// calls are printed as numbers.
const NAMES: &[(i64, &str)] = names![
    SYS_accept4 SYS_bind SYS_bpf SYS_capget SYS_capset SYS_chroot SYS_clone SYS_connect
    SYS_copy_file_range SYS_execve SYS_execveat SYS_fallocate SYS_fchmod SYS_fchmodat SYS_fchown
    SYS_fchownat SYS_fcntl SYS_fdatasync SYS_fgetxattr SYS_flock SYS_fsetxattr SYS_fsync
    SYS_ftruncate SYS_get_mempolicy SYS_getgroups SYS_getresgid SYS_getresuid SYS_getsockname
    SYS_getxattr SYS_inotify_init1 SYS_io_setup SYS_io_uring_setup SYS_ioctl SYS_ioprio_set SYS_kill
    SYS_landlock_create_ruleset SYS_lgetxattr SYS_linkat SYS_listen SYS_mbind SYS_memfd_create
    SYS_mkdirat SYS_mlock SYS_mlock2 SYS_mlockall SYS_mount SYS_mq_open SYS_msgget SYS_msync
    SYS_openat2 SYS_perf_event_open SYS_personality SYS_pidfd_getfd SYS_pidfd_open
    SYS_pidfd_send_signal SYS_pkey_alloc SYS_pkey_mprotect SYS_prctl SYS_preadv2 SYS_prlimit64
    SYS_process_vm_readv SYS_process_vm_writev SYS_ptrace SYS_pwritev2 SYS_readahead SYS_recvfrom
    SYS_recvmsg SYS_renameat2 SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_sched_setaffinity
    SYS_sched_setattr SYS_sched_setparam SYS_sched_setscheduler SYS_seccomp SYS_semget
    SYS_sendfile SYS_sendmsg SYS_sendto SYS_set_mempolicy SYS_setns SYS_setpgid SYS_setpriority
    SYS_setrlimit SYS_setsid SYS_setuid SYS_setxattr SYS_shmget SYS_signalfd4 SYS_socket
    SYS_socketpair SYS_splice SYS_symlinkat SYS_sync SYS_tgkill SYS_timer_create SYS_timerfd_create
    SYS_tkill SYS_truncate SYS_umask SYS_unlinkat SYS_unshare SYS_userfaultfd SYS_utimensat
    SYS_vmsplice SYS_wait4 SYS_waitid
];

/// Further names, of calls that exist only on this architecture.
#[cfg(target_arch = "x86_64")]
const OLD_NAMES: &[(i64, &str)] = names![
    SYS_chmod SYS_chown SYS_creat SYS_fork SYS_inotify_init SYS_link SYS_mkdir SYS_modify_ldt
    SYS_rename SYS_rmdir SYS_signalfd SYS_symlink SYS_unlink SYS_utime SYS_utimes SYS_vfork
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_NAMES: &[(i64, &str)] = &[];

/// Installs the signal handler. Returns false if there is none for this architecture.
pub(super) fn install() -> bool {
    if cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))) {
        return false;
    }
    // SAFETY: all zero bytes are a valid `sigaction`, and the handler only uses its arguments,
    // constants and `write`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_ONSTACK;
        action.sa_sigaction =
            refused as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        libc::sigaction(libc::SIGSYS, &raw const action, std::ptr::null_mut()) == 0
    }
}

extern "C" fn refused(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the interrupted thread's context to a handler with SA_SIGINFO.
    let number = unsafe { fail(&mut *context.cast::<libc::ucontext_t>()) };
    let mut line = Line::default();
    line.push(REFUSED.as_bytes());
    line.push_number(number);
    let named = NAMES.iter().chain(OLD_NAMES).find(|(call, _)| *call == number);
    if let Some(name) = named.and_then(|(_, name)| name.strip_prefix("SYS_")) {
        line.push(b" (");
        line.push(name.as_bytes());
        line.push(b")");
    }
    line.push(b"\n");
    // SAFETY: `line.bytes` has at least `line.len` bytes.
    unsafe { libc::write(2, line.bytes.as_ptr().cast(), line.len) };
}

/// Makes the interrupted system call return `EPERM`. Returns the number of this system call.
#[cfg(target_arch = "x86_64")]
fn fail(context: &mut libc::ucontext_t) -> i64 {
    let result = &mut context.uc_mcontext.gregs[libc::REG_RAX as usize];
    std::mem::replace(result, -i64::from(libc::EPERM))
}

/// Makes the interrupted system call return `EPERM`. Returns the number of this system call.
#[cfg(target_arch = "aarch64")]
fn fail(context: &mut libc::ucontext_t) -> i64 {
    let registers = &mut context.uc_mcontext.regs;
    registers[0] = (-i64::from(libc::EPERM)) as u64;
    registers[8] as i64
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn fail(_: &mut libc::ucontext_t) -> i64 {
    0
}

/// A line of text in a fixed array on the stack, because a signal handler must not allocate memory.
struct Line {
    bytes: [u8; 96],
    len: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self { bytes: [0; 96], len: 0 }
    }
}

impl Line {
    fn push(&mut self, text: &[u8]) {
        for (place, byte) in self.bytes[self.len..].iter_mut().zip(text) {
            *place = *byte;
            self.len += 1;
        }
    }

    fn push_number(&mut self, number: i64) {
        let (mut digits, mut first, mut rest) = ([0; 20], 20, number.unsigned_abs());
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.push(&digits[first..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_numbers_and_is_cut_at_its_end() {
        let mut line = Line::default();
        line.push(b"call ");
        line.push_number(1070);
        line.push_number(0);
        assert_eq!(&line.bytes[..line.len], b"call 10700");
        line.push(&[b'x'; 200]);
        assert_eq!(line.len, line.bytes.len());
    }
}
