//! Plugins that are linked into the program. The digest of a linked plugin is that of the program's
//! file. Its path is that of the program, followed by its own name (`/usr/bin/swapmeet/classic`),
//! so no file has the same path.

use super::file::{KnownDigest, Stamp, digest_of};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use swapmeet_abi::SwmPlugin;

/// A plugin that is linked into the program: its name, and a function that returns its table.
#[derive(Debug, Clone, Copy)]
pub struct Linked {
    pub name: &'static str,
    pub table: fn() -> *const SwmPlugin,
}

static LINKED: OnceLock<&'static [Linked]> = OnceLock::new();

/// Registers the linked plugins. This must be called once, before plugins are searched for.
pub fn offer(plugins: &'static [Linked]) {
    // This installs the panic hook of the SDK, which must be installed before that of this program.
    for plugin in plugins {
        (plugin.table)();
    }
    // If `offer` has been called before, this has no effect.
    let _ = LINKED.set(plugins);
}

pub(crate) fn all() -> Vec<(Linked, PathBuf)> {
    let Some(program) = program() else { return Vec::new() };
    let linked = LINKED.get().copied().unwrap_or_default();
    linked.iter().map(|plugin| (*plugin, program.join(plugin.name))).collect()
}

pub(crate) fn at(path: &Path) -> Option<Linked> {
    let program = program().filter(|program| path.parent() == Some(program))?;
    let linked = LINKED.get().copied().unwrap_or_default();
    linked.iter().find(|plugin| program.join(plugin.name) == path).copied()
}

/// Returns the file that contains the plugin. For a linked plugin, this is the program.
pub(crate) fn file_of(path: &Path) -> &Path {
    if at(path).is_some() { path.parent().unwrap_or(path) } else { path }
}

/// Returns the digest and metadata of the program's file. They are computed only once.
pub(crate) fn build(known: Option<KnownDigest<'_>>) -> io::Result<(String, Stamp)> {
    static BUILD: OnceLock<Result<(String, Stamp), String>> = OnceLock::new();
    let ask = || {
        digest_of(program().ok_or("the program's own file cannot be found")?, known)
            .map_err(|e| e.to_string())
    };
    BUILD.get_or_init(ask).clone().map_err(io::Error::other)
}

/// For tests: from now on, linked plugins have the paths and the digest that they have in
/// `program`, which contains the same code.
#[cfg(feature = "in-process")]
pub fn act_as(program: &Path) {
    let _ = PROGRAM.set(program.canonicalize().ok());
}

static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();

fn program() -> Option<&'static PathBuf> {
    PROGRAM.get_or_init(|| std::env::current_exe().ok()?.canonicalize().ok()).as_ref()
}
