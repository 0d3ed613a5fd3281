//! Plugins that are linked into the program, so that it has algorithms wherever it is installed.
//!
//! Each goes by a path below the program's own file (`/usr/bin/swapmeet/classic`), which no file
//! can have, and so goes the way of all others: workers load it by its path, and its build is the
//! program's.

use super::file::{KnownDigest, Stamp, digest_of};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use swapmeet_abi::SwmPlugin;

/// A plugin in the program.
#[derive(Debug, Clone, Copy)]
pub struct Linked {
    pub name: &'static str,
    pub table: fn() -> *const SwmPlugin,
}

static LINKED: OnceLock<&'static [Linked]> = OnceLock::new();

/// Says which plugins this program has in it; once, before any is looked for.
pub fn offer(plugins: &'static [Linked]) {
    // Only the first call says anything.
    let _ = LINKED.set(plugins);
}

/// The plugins in this program, each with the path by which it goes.
pub(crate) fn all() -> Vec<(Linked, PathBuf)> {
    let Some(program) = program() else { return Vec::new() };
    let linked = LINKED.get().copied().unwrap_or_default();
    linked.iter().map(|plugin| (*plugin, program.join(plugin.name))).collect()
}

/// The plugin in this program that goes by a path.
pub(crate) fn at(path: &Path) -> Option<Linked> {
    let program = program().filter(|program| path.parent() == Some(program))?;
    let linked = LINKED.get().copied().unwrap_or_default();
    linked.iter().find(|plugin| program.join(plugin.name) == path).copied()
}

/// The file that protection what goes by a path.
pub(crate) fn file_of(path: &Path) -> &Path {
    if at(path).is_some() { path.parent().unwrap_or(path) } else { path }
}

/// Which build the program's plugins are: its own, found out once.
pub(crate) fn build(known: Option<KnownDigest<'_>>) -> io::Result<(String, Stamp)> {
    static BUILD: OnceLock<Result<(String, Stamp), String>> = OnceLock::new();
    let ask = || {
        digest_of(program().ok_or("the program's own file can't be found")?, known)
            .map_err(|e| e.to_string())
    };
    BUILD.get_or_init(ask).clone().map_err(io::Error::other)
}

/// This program's own file.
fn program() -> Option<&'static PathBuf> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(|| std::env::current_exe().ok()?.canonicalize().ok()).as_ref()
}
