//! What a process that runs a plugin may still do, as far as the kernel can be told: read what its
//! cases need, and answer. It writes no file, starts no program, opens no socket, signals nobody
//! else and gains no rights, by accident or otherwise.
//!
//! This keeps accidents in. A plugin that is after the process it runs in has that process and its
//! answers: `docs/abi.md`.

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

/// The flag by which a process that runs plugins is told to do without.
pub const NO_SANDBOX: &str = "--no-sandbox";

/// What of it the kernel protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection {
    /// Landlock's version, 0 where there is none.
    landlock: u32,
    /// Whether system calls are filtered.
    seccomp: bool,
}

/// Why a process can't confine itself.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Landlock refuses what it offers.
    #[error("the sandbox can't be entered: {0} ({NO_SANDBOX} does without)")]
    Landlock(#[from] RulesetError),
    /// The filter of system calls is refused.
    #[error("the sandbox can't be entered: {0} ({NO_SANDBOX} does without)")]
    Seccomp(#[from] seccompiler::Error),
}

impl Protection {
    /// What is held, each with whether it is here.
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

/// What the kernel would hold.
pub fn protection() -> Result<Protection, SandboxError> {
    // Only the thread that asks for it is confined, and it ends.
    let asked = std::thread::Builder::new().spawn(|| enter(&[], &[]));
    asked
        .ok()
        .and_then(|thread| thread.join().ok())
        .unwrap_or(Ok(Protection { landlock: 0, seccomp: false }))
}

/// Confines this thread, and those that it starts, for good: it will load these plugins and read
/// these files.
pub fn enter(plugins: &[PathBuf], inputs: &[PathBuf]) -> Result<Protection, SandboxError> {
    let landlock = confine_files(plugins, inputs)?;
    Ok(Protection { landlock, seccomp: filter_calls()? })
}

/// Landlock's part; its version. Older kernels hold less of it, or nothing.
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
    // Whoever prints to nowhere does no harm.
    if let Ok(nowhere) = PathFd::new("/dev/null") {
        rules =
            rules.add_rule(PathBeneath::new(nowhere, AccessFs::ReadFile | AccessFs::WriteFile))?;
    }
    Ok(match rules.restrict_self()?.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    })
}

/// Where the system's loader finds what a library needs.
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

/// Libraries that plugins bring along.
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

/// Calls that no schedule needs fail as if they were not allowed; whether they can be told apart on
/// this kind of processor.
fn filter_calls() -> Result<bool, seccompiler::Error> {
    let always = Vec::new;
    let mut refused: BTreeMap<_, _> = [
        libc::SYS_socket,
        // By which all others could be asked for.
        libc::SYS_io_uring_setup,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
    ]
    .into_iter()
    .map(|call| (call, always()))
    .collect();
    // Threads may be started, processes not: they would outlive a program that is killed.
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
    // What it is to start stands in memory, where no filter looks: as on a kernel without it, it is
    // asked for by `clone`.
    let unknown = BTreeMap::from([(libc::SYS_clone3, always())]);
    Ok(refuse(refused, libc::EPERM)? && refuse(unknown, libc::ENOSYS)?)
}

/// Has calls fail with this error; whether they can be told apart on this kind of processor, and
/// the kernel knows how.
fn refuse(calls: BTreeMap<i64, Vec<SeccompRule>>, error: i32) -> Result<bool, seccompiler::Error> {
    let Ok(kind) = std::env::consts::ARCH.try_into() else { return Ok(false) };
    let answer = SeccompAction::Errno(error as u32);
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, answer, kind)
        .map_err(seccompiler::Error::Backend)?;
    let program: BpfProgram = filter.try_into().map_err(seccompiler::Error::Backend)?;
    match seccompiler::apply_filter(&program) {
        Ok(()) => Ok(true),
        // A kernel without it.
        Err(seccompiler::Error::Prctl(e) | seccompiler::Error::Seccomp(e))
            if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) =>
        {
            Ok(false)
        }
        Err(e) => Err(e),
    }
}
