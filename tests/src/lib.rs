//! Common code of tests and benchmarks of several crates: files, fuzz targets, two tiers of tests.

#![expect(clippy::expect_used, reason = "helpers of tests: a failure here is a failed test")]

pub mod fuzz;

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use swapmeet_runner::registry::Registry;

/// Returns whether all tests run, also those that take long (`SWAPMEET_TESTS=all`).
pub fn runs_all() -> bool {
    std::env::var_os("SWAPMEET_TESTS").is_some_and(|value| value == "all")
}

/// Returns the number of cases of a property test: `first`, or twenty times as many if all run.
pub fn cases(first: u32) -> u32 {
    if runs_all() { 20 * first } else { first }
}

fn profile() -> PathBuf {
    // The path of a test program is target/PROFILE/deps/TEST-HASH.
    let test = std::env::current_exe().expect("a test can find its own file");
    test.ancestors().nth(2).expect("tests are built into target/PROFILE/deps").to_owned()
}

/// Returns the path of `swapmeet`. There are no plugin files in its folder, so the program uses the
/// plugins that are linked into it.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = linked_program();
        // Commands that run in the process of a test write the digest of this program to their
        // rows.
        swapmeet::act_as(&program);
        program
    })
}

fn linked_program() -> PathBuf {
    linked(&profile().join("program"), "program-of-tests", "swapmeet")
}

/// Links a built file into a folder of its own, and returns the path of the link.
fn linked(built: &Path, folder: &str, name: &str) -> PathBuf {
    /// A new link changes the times of the file, and a running program would conclude from them
    /// that its plugin was replaced. A file is therefore linked before the first test uses it, by
    /// one thread at a time.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = profile().join(folder);
    std::fs::create_dir_all(&folder).expect("the folder of tests is writable");
    let link = folder.join(name);
    let identity = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino())).ok();
    // Keep a link that exists. From a new one, running programs would conclude that they were
    // replaced.
    if identity(&link).is_some_and(|linked| Some(linked) == identity(built)) {
        return link;
    }
    // Link the file under another name first, because another test program may do the same.
    let draft = folder.join(format!("{name}-{}", std::process::id()));
    std::fs::hard_link(built, &draft).expect("Cargo has built the file");
    std::fs::rename(&draft, &link).expect("the folder of tests is writable");
    // If `link` was the same file already, `rename` has kept both names, so `draft` must be
    // removed.
    drop(std::fs::remove_file(&draft));
    link
}

pub fn path_with_program() -> OsString {
    let folder = program().parent().map(PathBuf::from);
    let others = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(folder.into_iter().chain(std::env::split_paths(&others)))
        .expect("no folder of the path contains a colon")
}

pub fn bundled_plugins() -> Registry {
    program();
    swapmeet::bundled_plugins()
}

/// Returns the file of a bundled plugin or of `misprints`, which Cargo builds with the library of
/// the same name. The file is alone in its folder. Every process that loads it may read all
/// libraries in this folder, and it takes longer to permit this if there are more of them.
pub fn plugin_file(library: &str) -> PathBuf {
    program();
    let name = format!("{DLL_PREFIX}{library}{DLL_SUFFIX}");
    linked(&profile().join("deps").join(&name), &format!("plugins-of-tests/{library}"), &name)
}

/// Builds the whole workspace, and returns the folder with its programs, plugin files and examples.
/// Tests of the first tier do not call this, because Cargo may build crates again with other
/// features.
pub fn build_workspace() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let profile = profile();
        let target = profile.parent().expect("target/PROFILE has a parent");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        // With `--examples`, cargo resolves the features of dependencies as for `cargo test`.
        build.args(["build", "--quiet", "--workspace", "--lib", "--bins", "--examples"]);
        build.arg("--target-dir").arg(target);
        build.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success(), "the workspace doesn't build");
        profile
    })
}

pub fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}
