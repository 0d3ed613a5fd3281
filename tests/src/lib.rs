//! Common code of tests and benchmarks that use several crates: building the program, and the fuzz
//! targets.
//!
//! `cargo test` builds neither the program of another package nor a `cdylib` that is not linked.
//! Therefore this code builds the program and the plugins, once for each test program.

#![expect(clippy::expect_used, reason = "helpers of tests: a failure here is a failed test")]

pub mod fuzz;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Builds the program and the bundled plugins, and returns their folder.
pub fn build() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // The path of a test program is target/PROFILE/deps/TEST-HASH.
        let test = std::env::current_exe().expect("a test can find its own file");
        let profile =
            test.ancestors().nth(2).expect("tests are built into target/PROFILE/deps").to_owned();
        let target = profile.parent().expect("target/PROFILE has a parent");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        // With the option `--examples`, cargo resolves the features of dependencies as for `cargo
        // test`, so that no dependency is built a second time with different features. It also
        // builds the examples, which have tests.
        build
            .args([
                "build",
                "--quiet",
                "--workspace",
                "--lib",
                "--bins",
                "--examples",
                "--target-dir",
            ])
            .arg(target);
        build.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success(), "the workspace doesn't build");
        profile
    })
}

/// Returns a file of the project, given its path from the project's root.
pub fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}
