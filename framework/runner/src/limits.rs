use crate::system;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryLimit {
    Fixed(u64),
    /// The parent can double this limit once with [`double_memory_of`].
    Doubling(u64),
}

impl MemoryLimit {
    /// Limits the address space of this process. An existing lower limit (`ulimit -v`) remains.
    pub(crate) fn apply(self) -> io::Result<()> {
        match self {
            Self::Fixed(bytes) => system::limit_address_space(lowered(Resource::As, bytes)),
            Self::Doubling(bytes) => {
                let limit = lowered(Resource::As, bytes.saturating_mul(2));
                let current = limit.maximum.map(|maximum| maximum.min(bytes));
                system::limit_address_space(Rlimit { current, ..limit })
            }
        }
    }
}

/// Doubles a child's [`MemoryLimit::Doubling`]. The parent does this, because the sandbox does not
/// let the child change its limits.
pub fn double_memory_of(child: u32, bytes: u64) -> io::Result<()> {
    let twice = bytes.saturating_mul(2);
    let most = getrlimit(Resource::As).maximum.map_or(twice, |hard| hard.min(twice));
    let child = i32::try_from(child).ok().and_then(Pid::from_raw);
    let child = child.ok_or(io::ErrorKind::NotFound)?;
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    system::limit_address_space_of(child, limit)
}

/// Waits at most 0.5 s until the parent has called [`double_memory_of`]. If there is no sandbox,
/// this process raises the limit itself.
pub fn wait_for_double_memory() {
    const LONGEST: Duration = Duration::from_millis(500);
    if !system::has_sandbox() {
        let maximum = getrlimit(Resource::As).maximum;
        let _ = setrlimit(Resource::As, Rlimit { current: maximum, maximum });
        return;
    }
    let begin = Instant::now();
    let is_doubled = || {
        let limit = getrlimit(Resource::As);
        limit.current == limit.maximum
    };
    while !is_doubled() && begin.elapsed() < LONGEST {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Disables core files, because each crash of a plugin would leave one.
pub(crate) fn no_core_file() -> io::Result<()> {
    at_most(Resource::Core, 0)
}

/// Maximum number of descriptors of a process with plugins. It limits the memory of pipes, which no
/// other limit counts. A pipe has two descriptors and up to 64 KiB, so pipes hold at most 8 MiB.
const DESCRIPTORS: u64 = 256;

pub(crate) fn limit_descriptors() -> io::Result<()> {
    at_most(Resource::Nofile, DESCRIPTORS)
}

/// Raises the limit of open descriptors of this process as far as permitted.
pub fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // If the limit cannot be raised, fewer jobs run at the same time.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Returns the limit of open descriptors, or `None` if there is none.
pub fn descriptors() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

fn at_most(resource: Resource, most: u64) -> io::Result<()> {
    setrlimit(resource, lowered(resource, most)).map_err(io::Error::from)
}

fn lowered(resource: Resource, most: u64) -> Rlimit {
    let most = getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
    Rlimit { current: Some(most), maximum: Some(most) }
}
