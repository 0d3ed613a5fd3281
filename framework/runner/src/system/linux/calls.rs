//! The system calls that a plugin may use: those that schedules and the runtimes of Rust, C, C++
//! and Go need. Every other call fails with `EPERM`.
//! Landlock decides which files may be opened, so calls that open files or read their metadata are
//! allowed. Calls that change files are refused, because Landlock does not cover modes, owners,
//! times and attributes.

use crate::sandbox::{REFUSED, TRACE};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that are allowed with any arguments.
const ALLOWED: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    // Threads. A separate filter makes `clone3` fail.
    libc::SYS_clone3,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_get_robust_list,
    libc::SYS_getcpu,
    libc::SYS_gettid,
    libc::SYS_membarrier,
    libc::SYS_rseq,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    // Signals, timers, clocks and operations on open descriptors, which affect only this process.
    libc::SYS_getitimer,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_setitimer,
    libc::SYS_sigaltstack,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_fadvise64,
    libc::SYS_fstat,
    libc::SYS_lseek,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_pselect6,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    // Files. Landlock decides which of them may be opened.
    libc::SYS_chdir,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fchdir,
    libc::SYS_fstatfs,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_readlinkat,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpgid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getpriority,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_getsid,
    libc::SYS_getuid,
    libc::SYS_sysinfo,
    libc::SYS_times,
    libc::SYS_uname,
];

/// Further allowed calls that exist only on this architecture.
#[cfg(target_arch = "x86_64")]
const ALLOWED_OLD: &[i64] = &[
    libc::SYS_access,
    libc::SYS_alarm,
    libc::SYS_arch_prctl,
    libc::SYS_dup2,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_getdents,
    libc::SYS_getpgrp,
    libc::SYS_getrlimit,
    libc::SYS_lstat,
    libc::SYS_open,
    libc::SYS_pause,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_select,
    libc::SYS_stat,
    libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_OLD: &[i64] = &[];

/// Commands of `fcntl` that affect only the descriptor. `F_SETOWN` would affect other processes.
const FCNTL: &[i32] = &[
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
];

/// Requests of `ioctl` that the standard libraries make for any kind of descriptor.
#[allow(clippy::unnecessary_cast, reason = "C libraries differ in their type")]
const IOCTL: &[u64] = &[
    libc::TCGETS as u64,
    libc::TIOCGWINSZ as u64,
    libc::FIONREAD as u64,
    libc::FIONBIO as u64,
    libc::FIOCLEX as u64,
    libc::FIONCLEX as u64,
];

/// Options of `prctl` that set the name of a thread or a mapping, or that read a value. Other
/// options are refused: with `PR_SET_PDEATHSIG`, for example, the process could continue after the
/// program has ended.
const PRCTL: &[i32] = &[
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_GET_DUMPABLE,
    libc::PR_GET_PDEATHSIG,
    libc::PR_SET_VMA,
];

/// Restricts this thread and those that it will start. Returns whether the system supports it.
pub(super) fn filter(is_traced: bool) -> Result<bool, seccompiler::Error> {
    // `clone3` fails, because a filter cannot read its flags. C libraries then use `clone`.
    let no_clone3 = apply(
        BTreeMap::from([(libc::SYS_clone3, Vec::new())]),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS as u32),
    )?;
    let refused = if is_traced && install() {
        SeccompAction::Trap
    } else {
        SeccompAction::Errno(libc::EPERM as u32)
    };
    let allowed = allowed().map_err(seccompiler::Error::Backend)?;
    Ok(no_clone3 && apply(allowed, refused, SeccompAction::Allow)?)
}

fn allowed() -> Result<Rules, BackendError> {
    let mut rules: Rules =
        ALLOWED.iter().chain(ALLOWED_OLD).map(|call| (*call, Vec::new())).collect();
    let own = u64::from(std::process::id());
    // `clone` may only start threads, because a new process could continue after the program is
    // killed. The threads must share everything that pthreads share. For example, a thread with its
    // own descriptors could hold more pipes than the limit allows.
    let thread = (libc::CLONE_THREAD
        | libc::CLONE_SIGHAND
        | libc::CLONE_VM
        | libc::CLONE_FILES
        | libc::CLONE_FS) as u64;
    let is_thread =
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), thread)?;
    let any = |argument, values: &[u64]| -> Result<Vec<SeccompRule>, BackendError> {
        values.iter().map(|value| SeccompRule::new(vec![equal(argument, *value)?])).collect()
    };
    let of_options = |options: &[i32]| options.iter().map(|o| *o as u64).collect::<Vec<_>>();
    rules.extend([
        (libc::SYS_clone, vec![SeccompRule::new(vec![is_thread])?]),
        // `kill` may only signal this process and, by the number 0, its process group.
        (libc::SYS_kill, any(0, &[own, 0])?),
        (libc::SYS_tgkill, any(0, &[own])?),
        // `prlimit64` may only read limits of this process: its pointer to new limits must be null.
        (libc::SYS_prlimit64, vec![SeccompRule::new(vec![equal(0, 0)?, null(2)?])?]),
        (libc::SYS_fcntl, any(1, &of_options(FCNTL))?),
        (libc::SYS_ioctl, any(1, IOCTL)?),
        (libc::SYS_prctl, any(0, &of_options(PRCTL))?),
    ]);
    Ok(rules)
}

/// The kernel reads only 32 bits of these arguments.
fn equal(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn null(argument: u8) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)
}

/// Installs a filter: `these` is the action for the system calls in `calls`, and `others` for all
/// others. Returns whether the kernel and the architecture support it.
fn apply(
    calls: Rules,
    others: SeccompAction,
    these: SeccompAction,
) -> Result<bool, seccompiler::Error> {
    let Ok(architecture) = std::env::consts::ARCH.try_into() else { return Ok(false) };
    let filter = SeccompFilter::new(calls, others, these, architecture)
        .map_err(seccompiler::Error::Backend)?;
    let program: BpfProgram = filter.try_into().map_err(seccompiler::Error::Backend)?;
    match seccompiler::apply_filter(&program) {
        Ok(()) => Ok(true),
        Err(seccompiler::Error::Prctl(e) | seccompiler::Error::Seccomp(e))
            if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) =>
        {
            Ok(false)
        }
        Err(e) => Err(e),
    }
}

// Reports refused system calls, for authors of plugins. With `SWAPMEET_SANDBOX_TRACE=1`, a refused
// call raises SIGSYS, and the signal handler prints the name of the call to standard error. The
// call then fails with `EPERM`, as it does without tracing.

pub(super) fn is_requested() -> bool {
    std::env::var_os(TRACE).is_some_and(|value| !value.is_empty() && value != "0")
}

macro_rules! names {
    ($($call:ident)*) => { &[$((libc::$call, stringify!($call))),*] };
}

/// The names of refused calls that a plugin may make without its author's knowledge. Other calls
/// are printed as numbers.
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

#[cfg(target_arch = "x86_64")]
const OLD_NAMES: &[(i64, &str)] = names![
    SYS_chmod SYS_chown SYS_creat SYS_fork SYS_inotify_init SYS_link SYS_mkdir SYS_modify_ldt
    SYS_rename SYS_rmdir SYS_signalfd SYS_symlink SYS_unlink SYS_utime SYS_utimes SYS_vfork
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_NAMES: &[(i64, &str)] = &[];

/// Installs the signal handler. Returns false if this architecture has no handler.
fn install() -> bool {
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

#[cfg(target_arch = "x86_64")]
fn fail(context: &mut libc::ucontext_t) -> i64 {
    let result = &mut context.uc_mcontext.gregs[libc::REG_RAX as usize];
    std::mem::replace(result, -i64::from(libc::EPERM))
}

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
