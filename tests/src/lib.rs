//! What tests and benchmarks that cross crates share: the built program, and the targets of the
//! fuzzer.
//!
//! `cargo test` builds neither another package's program nor a `cdylib` that nothing links to, so
//! the tests build both, once.

#![expect(clippy::expect_used, reason = "helpers of tests: a failure here is a failed test")]

pub mod fuzz;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder with the built program and the bundled plugins.
pub fn build() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // target/PROFILE/deps/TEST-HASH
        let test = std::env::current_exe().expect("a test knows its own file");
        let profile =
            test.ancestors().nth(2).expect("tests are built into target/PROFILE/deps").to_owned();
        let target = profile.parent().expect("target/PROFILE has a parent");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        // There are no examples: asking for them has features of dependencies resolved as `cargo
        // test` does, so that nothing is built a second time with others.
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

/// A file of the project, by its path from the project's root.
pub fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}
