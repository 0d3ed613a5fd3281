//! Resource limits of processes that run plugins.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Limits the address space of this process permanently. A lower limit (`ulimit -v`) remains,
/// because only the superuser may raise it.
pub fn limit_memory(bytes: u64) -> io::Result<()> {
    at_most(Resource::As, bytes)
}

/// Like [`limit_memory`], but a later call may raise the limit to twice as much.
pub fn limit_memory_at_first(bytes: u64) -> io::Result<()> {
    limit_memory(bytes.saturating_mul(2))?;
    let hard = getrlimit(Resource::As).maximum;
    let most = hard.map_or(bytes, |hard| hard.min(bytes));
    setrlimit(Resource::As, Rlimit { current: Some(most), maximum: hard }).map_err(io::Error::from)
}

/// Disables core files, because each crash of a plugin would leave one.
pub(crate) fn no_core_file() -> io::Result<()> {
    at_most(Resource::Core, 0)
}

fn at_most(resource: Resource, most: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
        .map_err(io::Error::from)
}
