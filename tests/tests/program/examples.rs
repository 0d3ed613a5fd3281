//! The programs in `examples`, and the packages of the crates that they use.

use crate::support::{compile_c, swapmeet, tools};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use swapmeet_results::read_file;
use swapmeet_tests::{build_workspace, project};
use tempfile::{tempdir, tempdir_in};

fn printed(output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The algorithm `gen` has the same schedule as the example that uses the library.
#[test]
fn the_library_computes_the_same_as_the_program() {
    if !tools::runs_all() {
        return;
    }
    let example = build_workspace().join("examples/library");
    for (topology, machine) in [("torus:8x8", "paragon"), ("ring:6", "sp2")] {
        let line = printed(&Command::new(&example).args([topology, machine]).output().unwrap());
        let dir = tempdir().unwrap();
        let file = dir.path().join("rows.csv");
        let case = ["--topology", topology, "--algorithm", "gen", "--machine", machine];
        swapmeet(&["run", "--workload", "uniform:64", "--quiet", "--out"])
            .arg(&file)
            .args(case)
            .assert()
            .success();
        let row = &read_file(&file).unwrap()[0];
        let (time, bound) = (row.time_us.unwrap(), row.lower_bound_us.unwrap());
        let (steps, messages) = (row.steps.unwrap(), row.messages.unwrap());
        assert_eq!(
            line,
            format!(
                "{steps} steps, {messages} messages: {time:.1} us, {:.2} times the bound\n",
                time / bound
            )
        );
    }
}

fn check(plugin: &Path) -> String {
    let networks = ["ring:7", "torus:3x5", "torus:4x4", "mesh:3x3", "hypercube:3", "groups:2x5"];
    let networks = networks.map(|topology| format!("--topology={topology}"));
    printed(&swapmeet(&["check"]).arg(plugin).args(networks).output().unwrap())
}

#[test]
fn the_plugin_in_rust_passes_the_check() {
    if !tools::runs_all() {
        return;
    }
    let name = format!("{}plugin{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let message = check(&build_workspace().join("examples").join(name));
    assert!(message.contains("example-shift"), "{message}");
}

#[test]
fn the_plugin_in_c_passes_the_check() {
    let dir = tempdir().unwrap();
    let Some(plugin) = compile_c("examples/plugin.c", dir.path(), "plugin", &[]) else { return };
    let message = check(&plugin);
    assert!(message.contains("example-chain"), "{message}");
}

#[test]
fn the_script_in_python_names_the_fastest_algorithms() {
    if !tools::has(&["python3"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let file = dir.path().join("rows.csv");
    let algorithms = ["suh-shin", "bruck", "linear", "pex"];
    let mut run = swapmeet(&["run", "--topology", "torus:4x4", "--machine", "paragon"]);
    run.args(["--workload", "uniform:64", "--workload", "uniform:64KiB", "--quiet", "--out"]);
    run.arg(&file).args(algorithms.map(|name| format!("--algorithm={name}"))).assert().success();
    let rows = read_file(&file).unwrap();
    let fastest = |bytes: u64| {
        let row = rows
            .iter()
            .filter(|row| row.block_bytes == Some(bytes))
            .min_by(|a, b| a.time_us.unwrap().total_cmp(&b.time_us.unwrap()))
            .unwrap();
        format!("torus:4x4 paragon {bytes} B: {} ({:.1} us)\n", row.algorithm, row.time_us.unwrap())
    };
    let script = project("examples/rows.py");
    let output = Command::new("python3").arg(&script).arg(&file).output().unwrap();
    assert_eq!(printed(&output), fastest(64) + &fastest(64 << 10));
    let workload = "moe:experts=16,top=2,tokens=4,bytes=64";
    let mut run = swapmeet(&["run", "--topology", "torus:4x4", "--machine", "paragon", "--force"]);
    run.args(["--workload", workload, "--algorithm", "pairwise", "--quiet", "--out"]);
    run.arg(&file).assert().success();
    let output = Command::new("python3").arg(script).arg(&file).output().unwrap();
    assert!(printed(&output).starts_with(&format!("torus:4x4 paragon {workload}: pairwise (")));
}

#[test]
fn the_python_package_falls_back_to_the_program_on_path() {
    if !tools::has(&["python3"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let script = "import swapmeet; print(swapmeet.program())";
    let found = |path: &Path| {
        let mut python = Command::new("python3");
        python.args(["-c", script]).env("PYTHONPATH", project("framework/python"));
        python.env("PYTHONDONTWRITEBYTECODE", "1");
        let path = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
        python.env("PATH", path).output().unwrap()
    };
    let program = dir.path().join("swapmeet");
    std::os::unix::fs::symlink(swapmeet_tests::program(), &program).unwrap();
    assert_eq!(printed(&found(dir.path())), format!("{}\n", program.display()));
    let command = dir.path().join("command");
    std::fs::create_dir(&command).unwrap();
    let command = command.join("swapmeet");
    let text = "import sys, swapmeet; sys.argv[0] = __file__; print(swapmeet.program())";
    std::fs::write(&command, format!("#!/usr/bin/env python3\n{text}\n")).unwrap();
    let mut mode = std::fs::metadata(&command).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&command, mode).unwrap();
    let path = [command.parent().unwrap(), dir.path()].map(|folder| folder.display().to_string());
    let path = format!("{}:{}", path.join(":"), std::env::var("PATH").unwrap());
    let mut python = Command::new(&command);
    python.env("PYTHONPATH", project("framework/python")).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = python.env("PATH", path).output().unwrap();
    assert_eq!(printed(&output), format!("{}\n", program.display()));
}

/// The test does not access the registry, because only an offline copy of it may be available, such
/// as a folder of vendored crates. With such a copy, `cargo package` can neither write a
/// `Cargo.lock` nor verify a package.
#[test]
fn the_crates_for_other_projects_can_be_packaged() {
    if !tools::runs_all() {
        return;
    }
    let crates = ["swapmeet-abi", "swapmeet-sdk", "swapmeet-core"];
    let target = build_workspace().parent().unwrap();
    let cargo = |command: &str, folder: &Path| {
        let mut cargo = Command::new("cargo");
        cargo.args([command, "--offline", "--target-dir"]).arg(target).current_dir(folder);
        // With the settings of the workspace, most dependencies are compiled already.
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
        // Cargo sets variables for the test that must not apply to this build.
        for (key, _) in std::env::vars().filter(|(key, _)| key.starts_with("CARGO_PKG_")) {
            cargo.env_remove(key);
        }
        cargo
    };
    let mut package = cargo("package", &project("."));
    package.args(["--no-verify", "--exclude-lockfile", "--allow-dirty"]);
    printed(&package.args(crates.map(|name| format!("--package={name}"))).output().unwrap());

    // This is a workspace of the unpacked files, in which the packages depend on each other.
    // Cargo's settings in the folders above it apply.
    let dir = tempdir_in(target).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    for name in crates {
        let mut unpack = Command::new("tar");
        unpack.arg("xzf").arg(target.join(format!("package/{name}-{version}.crate")));
        printed(&unpack.current_dir(dir.path()).output().unwrap());
        for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "src/lib.rs"] {
            let length = dir.path().join(format!("{name}-{version}/{file}")).metadata();
            assert!(length.is_ok_and(|file| file.len() > 100), "{name}: {file}");
        }
    }
    let patches = crates.map(|name| format!("{name} = {{ path = \"{name}-{version}\" }}\n"));
    let workspace = "[workspace]\nresolver = \"3\"\nmembers = [\"*-*\"]\n[patch.crates-io]\n";
    fs::write(dir.path().join("Cargo.toml"), format!("{workspace}{}", patches.concat())).unwrap();
    fs::copy(project("Cargo.lock"), dir.path().join("Cargo.lock")).unwrap();
    printed(&cargo("check", dir.path()).output().unwrap());
}
