//! The interface of the sandbox for processes that run plugins: the flag that disables it, the
//! files that remain accessible, and the attacks that it prevents. In the sandbox, a process can
//! read the files of its cases and reply to its parent. It cannot write other files, start
//! programs, open sockets, signal other processes or gain permissions. [`crate::system`] implements
//! the sandbox.
//!
//! The sandbox protects against accidents. A malicious plugin still controls its own process and
//! the replies of this process; see `docs/abi.md`.

mod attacks;

pub use attacks::{ATTACKS, Attack, Mechanism};

use std::path::PathBuf;

pub const NO_SANDBOX: &str = "--no-sandbox";

/// The environment variable that makes the sandbox report the system calls that it refuses.
pub const TRACE: &str = "SWAPMEET_SANDBOX_TRACE";

/// The beginning of a report about a refused system call.
pub const REFUSED: &str = "sandbox: refused system call ";

/// The restrictions that the kernel enforces on a process in the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection {
    /// Version of Landlock; 0 if the kernel does not have it.
    pub(crate) landlock: u32,
    pub(crate) seccomp: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("the sandbox cannot be entered: {0}; {NO_SANDBOX} runs plugins without it")]
pub struct SandboxError(pub(crate) String);

/// The files that a process may still open in the sandbox, in addition to the libraries of the
/// system.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileAccess<'a> {
    pub plugins: &'a [PathBuf],
    /// Input files of cases, and directories of such files.
    pub readable: &'a [PathBuf],
}
