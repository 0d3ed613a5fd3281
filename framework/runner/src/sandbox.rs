//! The interface of the sandbox for processes that run plugins; [`crate::system`] implements the
//! sandbox. A process in the sandbox can read the files of its cases and reply to its parent. It
//! cannot write other files, start programs, open sockets, signal other processes or gain
//! permissions. The sandbox protects only against accidents: a malicious plugin still controls its
//! replies (`docs/abi.md`).

use std::fmt;
use std::path::PathBuf;

pub const NO_SANDBOX: &str = "--no-sandbox";

/// The environment variable that makes the sandbox report the system calls that it refuses.
pub const TRACE: &str = "SWAPMEET_SANDBOX_TRACE";

pub const REFUSED: &str = "sandbox: refused system call ";

/// The restrictions that the kernel enforces on a process in the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection {
    /// The version of Landlock, or 0 if the kernel does not have Landlock.
    pub(crate) landlock: u32,
    pub(crate) seccomp: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("the sandbox cannot be entered: {0}; {NO_SANDBOX} runs plugins without it")]
pub struct SandboxError(pub(crate) String);

/// The files that a process in the sandbox may open, in addition to the libraries of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileAccess<'a> {
    pub plugins: &'a [PathBuf],
    pub readable: &'a [PathBuf],
}

/// An attempt of a plugin to affect something outside its process (`docs/abi.md`).
#[derive(Debug)]
pub struct Attack {
    pub name: &'static str,
    pub prevented_by: Mechanism,
    /// The effect of the attack on a kernel that lacks the mechanism.
    pub otherwise: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// Landlock of this version or a later one.
    Landlock(u32),
    Seccomp,
    /// A resource limit of the process, which every kernel has.
    Process,
}

impl Mechanism {
    pub fn since(self) -> &'static str {
        match self {
            Self::Landlock(..=2) => "5.13",
            Self::Landlock(3) => "6.2",
            Self::Landlock(4) => "6.7",
            Self::Landlock(5) => "6.10",
            Self::Landlock(_) => "6.12",
            Self::Seccomp => "3.17",
            Self::Process => "2.6",
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Landlock(version) => write!(f, "Landlock {version}"),
            Self::Seccomp => f.write_str("seccomp"),
            Self::Process => f.write_str("rlimit"),
        }
    }
}

pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "write, create, rename or remove a file",
        prevented_by: Mechanism::Landlock(1),
        otherwise: "your file permissions decide",
    },
    Attack {
        name: "read a file that no case names",
        prevented_by: Mechanism::Landlock(1),
        otherwise: "your file permissions decide",
    },
    Attack {
        name: "truncate a file",
        prevented_by: Mechanism::Landlock(3),
        otherwise: "a file that you may write can be emptied",
    },
    Attack {
        name: "change mode, owner, times or attributes of a file",
        prevented_by: Mechanism::Seccomp,
        otherwise: "your own files can be made unreadable",
    },
    Attack {
        name: "start a process or a program",
        prevented_by: Mechanism::Seccomp,
        otherwise: "Landlock refuses programs; forks end with the worker",
    },
    Attack {
        name: "open a socket",
        prevented_by: Mechanism::Seccomp,
        otherwise: "Landlock 4 refuses TCP; other sockets work",
    },
    Attack {
        name: "signal another process",
        prevented_by: Mechanism::Seccomp,
        otherwise: "Landlock 6 refuses it; else your processes can be killed",
    },
    Attack {
        name: "trace another process or access its memory",
        prevented_by: Mechanism::Seccomp,
        otherwise: "Landlock 1 refuses it; else your processes can be changed",
    },
    Attack {
        name: "change limits, priority or cores of another process",
        prevented_by: Mechanism::Seccomp,
        otherwise: "the program can be stopped or slowed down",
    },
    Attack {
        name: "allocate memory that no limit counts",
        prevented_by: Mechanism::Seccomp,
        otherwise: "shared memory can fill the machine and stays after the run",
    },
    Attack {
        name: "map more memory than --memory-limit",
        prevented_by: Mechanism::Process,
        otherwise: "every kernel has it",
    },
    Attack {
        name: "outlive the program",
        prevented_by: Mechanism::Seccomp,
        otherwise: "a worker that turns off its death signal survives",
    },
];

impl Protection {
    pub fn has(self, mechanism: Mechanism) -> bool {
        match mechanism {
            Mechanism::Landlock(version) => self.landlock >= version,
            Mechanism::Seccomp => self.seccomp,
            Mechanism::Process => true,
        }
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.landlock {
            0 => f.write_str("no Landlock")?,
            version => write!(f, "Landlock {version}")?,
        }
        f.write_str(if self.seccomp { ", seccomp\n" } else { ", no seccomp\n" })?;
        write!(f, "\n    {:<52}  {:<14}  {:<5}  here", "attack", "prevented by", "Linux")?;
        for attack in ATTACKS {
            let mechanism = attack.prevented_by;
            let here = if self.has(mechanism) { "prevented" } else { "not prevented" };
            let name = mechanism.to_string();
            write!(f, "\n    {:<52}  {name:<14}  {:<5}  {here}", attack.name, mechanism.since())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_a_mechanism_prevents_less() {
        let old = Protection { landlock: 2, seccomp: false };
        let text = old.to_string();
        assert!(text.starts_with("Landlock 2, no seccomp\n"), "{text}");
        let line = |attack: &str| text.lines().find(|line| line.contains(attack)).unwrap();
        assert!(line("write, create").ends_with("  prevented"), "{text}");
        assert!(line("truncate").ends_with("  not prevented"), "{text}");
        assert!(line("socket").ends_with("  not prevented"), "{text}");
        let all = Protection { landlock: 6, seccomp: true };
        assert!(!all.to_string().contains("not prevented"));
    }

    #[test]
    fn the_table_of_the_documentation_is_complete() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/abi.md");
        let page = std::fs::read_to_string(path).unwrap();
        let rows: Vec<&str> = page
            .lines()
            .skip_while(|line| !line.starts_with("| attack "))
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .collect();
        let expected: Vec<String> = ATTACKS
            .iter()
            .map(|a| {
                let (by, since) = (a.prevented_by, a.prevented_by.since());
                format!("| {} | {by} | {since} | {} |", a.name, a.otherwise)
            })
            .collect();
        assert_eq!(rows, expected, "expected:\n{}", expected.join("\n"));
    }
}
