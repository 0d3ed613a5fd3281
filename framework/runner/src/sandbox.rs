//! Restricts processes that run plugins, as far as the kernel supports it. They can read the files
//! of their cases and reply. They cannot write files, start programs, open sockets, signal other
//! processes or gain permissions.
//!
//! This protects against accidents. A malicious plugin still controls its own process and replies;
//! see `docs/abi.md`.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
    path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::collections::{BTreeMap, BTreeSet};
use std::env::split_paths;
use std::fmt;
use std::path::{Path, PathBuf};

/// The flag that disables the sandbox.
pub const NO_SANDBOX: &str = "--no-sandbox";

/// The restrictions that the kernel enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection {
    /// Version of Landlock, 0 if unavailable.
    landlock: u32,
    /// Whether system calls are filtered.
    seccomp: bool,
}

/// The reason why the sandbox cannot be entered.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Landlock reported an error.
    #[error("the sandbox can't be entered: {0} ({NO_SANDBOX} does without)")]
    Landlock(#[from] RulesetError),
    /// The filter of system calls was rejected.
    #[error("the sandbox can't be entered: {0} ({NO_SANDBOX} does without)")]
    Seccomp(#[from] seccompiler::Error),
}

impl Protection {
    /// Returns descriptions of all restrictions and whether each is enforced.
    fn parts(self) -> [(bool, &'static str); 4] {
        [
            (
                self.landlock >= ABI::V1 as u32,
                "read only libraries and a case's files, write none, start no program",
            ),
            (self.landlock >= ABI::V3 as u32, "cut no file off"),
            (self.seccomp, "fork no process, open no socket, look into no other process"),
            (self.landlock >= ABI::V6 as u32, "signal no process outside"),
        ]
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |held: bool| {
            let parts: Vec<&str> =
                self.parts().iter().filter(|part| part.0 == held).map(|part| part.1).collect();
            parts.join("; ")
        };
        let landlock = if self.landlock > 0 {
            format!("Landlock {}", self.landlock)
        } else {
            "no Landlock".to_owned()
        };
        let seccomp = if self.seccomp { "seccomp" } else { "no seccomp" };
        write!(
            f,
            "{landlock}, {seccomp}. Plugins {}",
            if named(true).is_empty() { "may do all that you may".to_owned() } else { named(true) }
        )?;
        if !named(false).is_empty() {
            write!(f, ". This kernel can't hold: {}", named(false))?;
        }
        Ok(())
    }
}

/// Returns the restrictions that the kernel would enforce.
pub fn protection() -> Result<Protection, SandboxError> {
    // Restrictions apply per thread, so a temporary thread is used.
    let asked = std::thread::Builder::new().spawn(|| enter(&[], &[]));
    asked
        .ok()
        .and_then(|thread| thread.join().ok())
        .unwrap_or(Ok(Protection { landlock: 0, seccomp: false }))
}

/// Restricts this thread and its future threads permanently. Only these plugins and input files
/// remain readable.
pub fn enter(plugins: &[PathBuf], inputs: &[PathBuf]) -> Result<Protection, SandboxError> {
    let landlock = confine_files(plugins, inputs)?;
    Ok(Protection { landlock, seccomp: filter_calls()? })
}

/// Applies Landlock and returns its version. Older kernels enforce less or nothing.
fn confine_files(plugins: &[PathBuf], inputs: &[PathBuf]) -> Result<u32, RulesetError> {
    const KNOWN: ABI = ABI::V6;
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let mut files = plugins.to_vec();
    let folders: BTreeSet<&Path> = plugins.iter().map(|plugin| folder_of(plugin)).collect();
    files.extend(folders.into_iter().flat_map(libraries_in));
    let (folders, named): (Vec<_>, Vec<_>) = inputs.iter().partition(|path| path.is_dir());
    files.extend(named.into_iter().cloned());
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?
        .add_rules(path_beneath_rules(library_folders(), read))?
        .add_rules(path_beneath_rules(
            ["/proc/self", "/sys/devices/system/cpu", "/dev/urandom", "/dev/zero"],
            read,
        ))?
        .add_rules(path_beneath_rules(folders, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(files, AccessFs::ReadFile))?;
    // Writing to /dev/null is harmless.
    if let Ok(nowhere) = PathFd::new("/dev/null") {
        rules =
            rules.add_rule(PathBeneath::new(nowhere, AccessFs::ReadFile | AccessFs::WriteFile))?;
    }
    Ok(match rules.restrict_self()?.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    })
}

/// Returns the directories in which the system's loader finds libraries.
fn library_folders() -> Vec<PathBuf> {
    let fixed = [
        "/lib",
        "/lib32",
        "/lib64",
        "/usr",
        "/opt",
        "/nix/store",
        "/gnu/store",
        "/etc/ld.so.cache",
        "/etc/ld.so.preload",
    ];
    let named = ["LD_LIBRARY_PATH", "LD_PRELOAD"].into_iter().filter_map(std::env::var_os);
    let named: Vec<PathBuf> =
        named.flat_map(|list| split_paths(&list).collect::<Vec<_>>()).collect();
    fixed
        .into_iter()
        .map(PathBuf::from)
        .chain(named.into_iter().filter(|path| path.is_absolute()))
        .collect()
}

fn folder_of(plugin: &Path) -> &Path {
    plugin.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the libraries next to a plugin, on which it may depend.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let is_library = |path: &PathBuf| {
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.ends_with(".so") || name.contains(".so.")
    };
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(is_library)
        .collect()
}

/// Installs filters that make unneeded system calls fail. Returns whether filtering is supported.
fn filter_calls() -> Result<bool, seccompiler::Error> {
    let always = Vec::new;
    let mut refused: BTreeMap<_, _> = [
        libc::SYS_socket,
        // io_uring could issue any other system call.
        libc::SYS_io_uring_setup,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
    ]
    .into_iter()
    .map(|call| (call, always()))
    .collect();
    // Threads may be started, but not processes, which could outlive the program.
    let is_process = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Qword,
        SeccompCmpOp::MaskedEq(libc::CLONE_THREAD as u64),
        0,
    );
    let is_process = is_process.and_then(|condition| SeccompRule::new(vec![condition]));
    refused.insert(libc::SYS_clone, vec![is_process.map_err(seccompiler::Error::Backend)?]);
    #[cfg(target_arch = "x86_64")]
    refused.extend([libc::SYS_fork, libc::SYS_vfork].map(|call| (call, always())));
    // The arguments of `clone3` are in memory, which filters cannot inspect. ENOSYS makes callers
    // use `clone` instead.
    let unknown = BTreeMap::from([(libc::SYS_clone3, always())]);
    Ok(refuse(refused, libc::EPERM)? && refuse(unknown, libc::ENOSYS)?)
}

/// Makes these system calls fail with an error. Returns whether the processor and the kernel
/// support filters.
fn refuse(calls: BTreeMap<i64, Vec<SeccompRule>>, error: i32) -> Result<bool, seccompiler::Error> {
    let Ok(kind) = std::env::consts::ARCH.try_into() else { return Ok(false) };
    let answer = SeccompAction::Errno(error as u32);
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, answer, kind)
        .map_err(seccompiler::Error::Backend)?;
    let program: BpfProgram = filter.try_into().map_err(seccompiler::Error::Backend)?;
    match seccompiler::apply_filter(&program) {
        Ok(()) => Ok(true),
        // The kernel does not support filters.
        Err(seccompiler::Error::Prctl(e) | seccompiler::Error::Seccomp(e))
            if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) =>
        {
            Ok(false)
        }
        Err(e) => Err(e),
    }
}
