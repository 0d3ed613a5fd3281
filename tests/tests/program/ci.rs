//! The script `.ci/run`, which is run with replacements for the real tools, and the workflows that
//! use it.

use crate::support::tools;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use swapmeet_tests::project;
use tempfile::tempdir;

fn program(file: &Path, script: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(file, PermissionsExt::from_mode(0o755)).unwrap();
}

fn run(cargo: &str, needs: &str) -> Output {
    let dir = tempdir().unwrap();
    let tool = |name: &str, script: &str| program(&dir.path().join(name), script);
    tool("tools/cargo", cargo);
    tool("tools/rustup", "exit 1");
    tool("tools/mpicc", "");
    tool("target/release/swapmeet", "");
    let path = std::env::var("PATH").unwrap();
    Command::new("bash")
        .arg(project(".ci/run"))
        .env("PATH", format!("{}:{path}", dir.path().join("tools").display()))
        .env("CARGO_TARGET_DIR", dir.path().join("target"))
        .env("SWAPMEET_CI_NEEDS", needs)
        .env("SWAPMEET_TESTS", "all")
        .output()
        .unwrap()
}

#[test]
fn the_checks_end_with_a_list_of_what_was_left_out() {
    let cargo = "case $1 in
        deny) exit 1 ;;
        test) printf '....\nleft out: z::ranks: no `mpirun` here\n..\nleft out: a::page: no browser\n' >&2 ;;
    esac";
    let output = run(cargo, "");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let (_, end) = printed.split_once("\nall checks passed").expect("the checks pass");
    assert_eq!(
        end,
        ", except what was left out:
- a::page: no browser
- fuzzing, because there is no nightly toolchain
- licences, sources and advisories of dependencies, because cargo-deny is not installed
- z::ranks: no `mpirun` here
"
    );
}

#[test]
fn a_check_that_fails_ends_the_checks() {
    for failing in ["fmt", "clippy", "test", "doc"] {
        let output = run(&format!("[ \"$1\" != {failing} ] || exit 101"), "");
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(!output.status.success(), "{failing}: {printed}");
        assert!(!printed.contains("all checks passed"), "{failing}: {printed}");
    }
}

#[test]
fn known_vulnerabilities_of_dependencies_are_checked() {
    let output = run("[ \"$1 $6\" != \"deny advisories\" ] || exit 1", "");
    assert!(!output.status.success(), "{output:?}");
}

#[test]
fn a_missing_tool_that_is_needed_fails_the_checks() {
    let cargo = "[ \"$1\" != deny ] || exit 1";
    for (needs, passes) in [("", true), ("cargo-deny", false), ("x nightly", false)] {
        let output = run(cargo, needs);
        assert_eq!(output.status.success(), passes, "{needs}: {output:?}");
    }
}

/// Code of dependencies and build scripts must not be able to change the repository. An action must
/// not change unless a commit here changes its version.
#[test]
fn the_workflows_give_no_rights_to_what_they_build() {
    for file in ["checks.yml", "nightly.yml", "release.yml"] {
        let text = std::fs::read_to_string(project(".github/workflows").join(file)).unwrap();
        let Some(workflow) = tools::yaml(&text) else { return };
        assert_eq!(workflow["permissions"].as_object().map(|p| p.len()), Some(0), "{file}");
        for (name, job) in workflow["jobs"].as_object().unwrap() {
            let steps = job["steps"].as_array().unwrap();
            for uses in steps.iter().filter_map(|step| step["uses"].as_str()) {
                let (_, commit) = uses.split_once('@').unwrap();
                let is_commit = commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
                assert!(is_commit, "{file}: {uses}");
            }
            let checkout = |step: &&serde_json::Value| {
                step["uses"].as_str().is_some_and(|uses| uses.starts_with("actions/checkout@"))
            };
            let is_writing = job["permissions"]["contents"] == "write";
            assert_eq!(is_writing, name == "publish", "{file}: {name}");
            match steps.iter().find(checkout) {
                Some(step) => {
                    assert!(!is_writing, "{file}: {name}");
                    assert_eq!(step["with"]["persist-credentials"], false, "{file}: {name}");
                }
                None => assert!(is_writing, "{file}: {name}"),
            }
        }
    }
}

/// Without a constraint, pip downloads the newest version of the build backend, and runs it.
#[test]
fn the_wheel_is_built_with_a_fixed_version_of_the_build_backend() {
    let workflow = std::fs::read_to_string(project(".github/workflows/release.yml")).unwrap();
    let file = "framework/python/build-constraints.txt";
    for variable in ["PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT"] {
        assert!(workflow.contains(&format!(" {variable}: {file}\n")), "{variable}");
    }
    let versions = std::fs::read_to_string(project(file)).unwrap();
    assert!(versions.lines().all(|line| line.contains("==")) && versions.contains("setuptools=="));
}

#[test]
fn the_workflows_run_the_checks_and_build_the_packages() {
    for (file, commands) in [
        ("checks.yml", &[".ci/run"][..]),
        ("nightly.yml", &[".ci/tools", ".ci/run"]),
        (
            "release.yml",
            &[".ci/run", "cargo run --locked -p xtask -- dist", "pip wheel", "sha256sum"],
        ),
    ] {
        let path = project(".github/workflows").join(file);
        let Some(workflow) = tools::yaml(&std::fs::read_to_string(&path).unwrap()) else { return };
        let jobs = workflow["jobs"].as_object().unwrap();
        let steps = jobs.values().flat_map(|job| job["steps"].as_array().unwrap());
        let run: Vec<&str> = steps.filter_map(|step| step["run"].as_str()).collect();
        for command in commands {
            assert!(run.iter().any(|line| line.contains(command)), "{file}: {command}");
        }
    }
}
