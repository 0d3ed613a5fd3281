//! The environment variables of processes that run plugins. The user's environment may contain
//! secrets, such as access tokens, and a plugin can write what it reads into its row.

use crate::sandbox::NO_SANDBOX;
use std::ffi::OsStr;
use std::process::Command;

/// Variables that are passed on, because the loader, the runtimes of languages and this program
/// read them.
const PASSED: &[&str] = &[
    "GODEBUG",
    "GOMAXPROCS",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NO_COLOR",
    "OMP_NUM_THREADS",
    "PATH",
    "RUST_BACKTRACE",
    "TMPDIR",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Prefixes of variables that are passed on. Variables for plugins begin with `SWAPMEET_`.
const PASSED_PREFIXES: &[&str] = &["LC_", "SWAPMEET_"];

/// Removes all variables from the environment of a command that are not on the list of this module.
/// If the command runs without the sandbox, the plugin has all permissions of the user anyway, and
/// the environment stays complete.
pub(crate) fn restrict_environment(command: &mut Command) {
    if command.get_args().any(|arg| arg == NO_SANDBOX) {
        return;
    }
    let is_passed = |name: &OsStr| {
        let name = name.to_string_lossy();
        PASSED.contains(&&*name) || PASSED_PREFIXES.iter().any(|start| name.starts_with(start))
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| !is_passed(name)) {
        command.env_remove(name);
    }
}
