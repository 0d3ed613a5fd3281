//! What a process that runs plugins may take.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Limits the memory that this process may map, for good. Where less is allowed already (`ulimit
/// -v`, as clusters set it), that stays: only the superuser may raise it.
pub fn limit_memory(bytes: u64) -> io::Result<()> {
    at_most(Resource::As, bytes)
}

/// As [`limit_memory`], but a later call of that may allow twice as much.
pub fn limit_memory_at_first(bytes: u64) -> io::Result<()> {
    limit_memory(bytes.saturating_mul(2))?;
    let hard = getrlimit(Resource::As).maximum;
    let most = hard.map_or(bytes, |hard| hard.min(bytes));
    setrlimit(Resource::As, Rlimit { current: Some(most), maximum: hard }).map_err(io::Error::from)
}

/// No core file: a plugin that crashes would leave one a case.
pub(crate) fn no_core_file() -> io::Result<()> {
    at_most(Resource::Core, 0)
}

fn at_most(resource: Resource, most: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
        .map_err(io::Error::from)
}
