//! Restricts the files that a process can open, and its access to the network, with Landlock.

use crate::sandbox::FileAccess;
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
    path_beneath_rules,
};
use std::collections::BTreeSet;
use std::env::split_paths;
use std::path::{Path, PathBuf};

/// Applies Landlock and returns its version. An older version enforces fewer restrictions; version
/// 0 enforces none.
pub(super) fn confine_files(access: &FileAccess<'_>) -> Result<u32, RulesetError> {
    const SUPPORTED: ABI = ABI::V6;
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = AccessFs::WriteFile | AccessFs::Truncate;
    let mut files = access.plugins.to_vec();
    let folders: BTreeSet<&Path> = access.plugins.iter().map(|plugin| folder_of(plugin)).collect();
    files.extend(folders.into_iter().flat_map(libraries_in));
    let (folders, named): (Vec<_>, Vec<_>) = access.readable.iter().partition(|path| path.is_dir());
    files.extend(named.into_iter().cloned());
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(SUPPORTED))?
        .handle_access(AccessNet::from_all(SUPPORTED))?
        .scope(Scope::from_all(SUPPORTED))?
        .create()?
        .add_rules(path_beneath_rules(library_folders(), read))?
        .add_rules(path_beneath_rules(
            ["/proc/self", "/sys/devices/system/cpu", "/dev/urandom", "/dev/zero"],
            read,
        ))?
        .add_rules(path_beneath_rules(folders, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(files, AccessFs::ReadFile))?
        .add_rules(path_beneath_rules(access.writable, write))?;
    // Allow writing to /dev/null, which has no effect.
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

/// Returns the libraries in the directory of a plugin, because the plugin may depend on them.
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
