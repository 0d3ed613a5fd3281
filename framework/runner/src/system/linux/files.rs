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

/// Applies Landlock and returns its version. Older versions enforce fewer restrictions. Version 0
/// means that the kernel has no Landlock.
pub(super) fn confine_files(access: &FileAccess<'_>) -> Result<u32, RulesetError> {
    const SUPPORTED: ABI = ABI::V6;
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
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
            ["/sys/devices/system/cpu", "/dev/urandom", "/dev/zero"],
            read,
        ))?
        .add_rules(path_beneath_rules(
            OWN_PROPERTIES.iter().map(|name| Path::new("/proc/self").join(name)),
            AccessFs::ReadFile,
        ))?
        .add_rules(path_beneath_rules(["/proc/self/fd", "/proc/self/task"], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(folders, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(files, AccessFs::ReadFile))?;
    // Writing to /dev/null has no effect.
    if let Ok(nowhere) = PathFd::new("/dev/null") {
        rules =
            rules.add_rule(PathBeneath::new(nowhere, AccessFs::ReadFile | AccessFs::WriteFile))?;
    }
    Ok(match rules.restrict_self()?.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    })
}

/// The files in `/proc/self` that runtimes read. Other files are not permitted: `net` and `environ`
/// reveal more than this process should know, and `map_files` opens mapped files for writing.
const OWN_PROPERTIES: [&str; 9] =
    ["auxv", "cmdline", "comm", "limits", "maps", "smaps", "stat", "statm", "status"];

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

/// Returns the libraries next to a plugin, because the plugin may depend on them. When the kernel
/// adds a rule, it follows symbolic links. So a link counts only if it leads to a library in the
/// same directory (`libx.so -> libx.so.1`) or below it. A rule for any other link would let the
/// plugin read the place to which it leads.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let is_library = |path: &Path| {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        name.ends_with(".so") || name.contains(".so.")
    };
    let Ok(home) = folder.canonicalize() else { return Vec::new() };
    std::fs::read_dir(&home)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_library(path))
        .filter_map(|path| path.canonicalize().ok())
        .filter(|path| is_library(path) && path.is_file() && path.starts_with(&home))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_beside_a_plugin_that_lead_elsewhere_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let folder = root.join("p");
        std::fs::create_dir_all(folder.join("folder.so")).unwrap();
        for file in ["p/a.so", "p/lib.so.1", "p/key", "other.so", "secret"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        for (target, link) in [
            ("lib.so.1", "lib.so"),
            ("/", "root.so.1"),
            ("../secret", "secret.so"),
            ("../other.so", "other.so"),
            ("key", "key.so"),
            ("..", "up.so"),
            ("missing", "dead.so"),
        ] {
            symlink(target, folder.join(link)).unwrap();
        }
        let mut found = libraries_in(&folder);
        found.sort();
        found.dedup();
        assert_eq!(found, [folder.join("a.so"), folder.join("lib.so.1")]);
    }
}
