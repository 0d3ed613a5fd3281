//! The first ten minutes of a plugin author: from an empty folder to a plugin that passes `swapmeet
//! check`, without access to a network.

use crate::support::{swapmeet, swapmeet_process, tools, words};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::tempdir;

fn program() -> String {
    swapmeet_tests::program().to_str().unwrap().to_owned()
}

/// Runs a command in a folder, without environment variables of this project's build.
fn run(folder: &Path, command: &str, args: &[&str]) -> Output {
    let mut command = Command::new(command);
    for (key, _) in
        std::env::vars().filter(|(key, _)| key.starts_with("CARGO_") && key != "CARGO_HOME")
    {
        command.env_remove(key);
    }
    command.env("SWAPMEET", program()).env("CARGO_NET_OFFLINE", "true").env_remove("RUSTFLAGS");
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    command.args(args).current_dir(folder).output().unwrap()
}

fn succeeds(folder: &Path, command: &str, args: &[&str]) -> String {
    let output = run(folder, command, args);
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{command} {args:?}: {printed}");
    printed
}

fn has_a_c_compiler() -> bool {
    tools::has(&["make", "cc"])
}

#[test]
fn a_new_plugin_in_rust_builds_offline_passes_its_tests_and_runs() {
    if !tools::runs_all() {
        return;
    }
    let empty = tempdir().unwrap();
    swapmeet(&["new-plugin", "my-ring"])
        .current_dir(empty.path())
        .assert()
        .success()
        .stdout("")
        .stderr(
            "made my-ring; next: cd my-ring && cargo build --release, then see its README.md\n",
        );
    let folder = empty.path().join("my-ring");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let printed = succeeds(&folder, &cargo, &["build", "--release"]);
    assert!(!printed.contains("warning"), "{printed}");
    if Command::new("rustfmt").arg("--version").output().is_ok_and(|output| output.status.success())
    {
        succeeds(&folder, &cargo, &["fmt", "--check"]);
    }
    let plugin =
        folder.join(format!("target/release/libmy_ring.{}", std::env::consts::DLL_EXTENSION));
    // The test of the new plugin runs `check` on the file that cargo has just built. Another test
    // compares the report of `check` with docs/plugin-guide.md.
    let printed = succeeds(&folder, &cargo, &["test", "--release"]);
    assert!(printed.contains("swapmeet_finds_nothing_wrong ... ok"), "{printed}");
    let line =
        format!("run --plugin-dir {} --algorithm my-ring --topology ring:16", plugin.display());
    let args = words(&line);
    let table = succeeds(&folder, &program(), &args);
    assert!(table.contains("ring:16   my-ring    uniform:1KiB  paragon  blocks"), "{table}");
    let source = folder.join("src/lib.rs");
    let text = std::fs::read_to_string(&source).unwrap();
    let broken = text.replace("for _ in 1..n {", "for _ in 2..n {");
    assert_ne!(text, broken);
    std::fs::write(&source, broken).unwrap();
    let output = run(&folder, &cargo, &["test", "--release", "--test", "check"]);
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!output.status.success() && printed.contains("was never delivered"), "{printed}");
}

#[test]
fn a_new_plugin_in_c_builds_without_a_warning_and_passes() {
    if !tools::runs_all() {
        return;
    }
    if !has_a_c_compiler() {
        return;
    }
    let empty = tempdir().unwrap();
    swapmeet(&["new-plugin", "my-ring", "--lang", "c"])
        .current_dir(empty.path())
        .assert()
        .success();
    let folder = empty.path().join("my-ring");
    let printed = succeeds(&folder, "make", &["CFLAGS=-O2 -Werror"]);
    assert!(!printed.contains("warning"), "{printed}");
    let report = succeeds(&folder, "make", &["test"]);
    assert!(report.contains("passed: 0 faults, 0 remarks"), "{report}");
    let data = empty.path().join("data");
    succeeds(
        &folder,
        "make",
        &["install", &format!("PLUGINS={}", data.join("swapmeet/plugins").display())],
    );
    swapmeet_process(&["run", "--algorithm", "my-ring", "--topology", "ring:8", "--quiet"])
        .env("XDG_DATA_HOME", &data)
        .assert()
        .success();
}

#[test]
fn invalid_names_and_existing_folders_are_refused() {
    let empty = tempdir().unwrap();
    let refused = |name: &str, message: &str| {
        let run = swapmeet(&["new-plugin", name]).current_dir(empty.path()).assert().code(2);
        let printed = String::from_utf8(run.get_output().stderr.clone()).unwrap();
        assert_eq!(printed, format!("error: {message}\n"));
    };
    refused(
        "../up",
        "`../up` is not a plugin name, expected lower-case letters, digits and single hyphens, beginning with a letter, such as `my-ring`",
    );
    std::fs::create_dir(empty.path().join("taken")).unwrap();
    refused("taken", "taken: already exists; choose a folder that does not exist");
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 1);
}

/// Each plugin contains its own copy of the SDK. A workspace has one lock file for all plugins.
#[test]
fn two_new_plugins_live_in_one_workspace() {
    if !tools::runs_all() {
        return;
    }
    let root = tempdir().unwrap();
    let manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"my-*\"]\n";
    // The first plugin is created before the workspace and then added to it. The second one is
    // created in the workspace.
    swapmeet(&["new-plugin", "my-ring"]).current_dir(root.path()).assert().success();
    std::fs::write(root.path().join("Cargo.toml"), manifest).unwrap();
    swapmeet(&["new-plugin", "my-tree"]).current_dir(root.path()).assert().success();
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let printed = succeeds(root.path(), &cargo, &["build", "--workspace", "--all-targets"]);
    assert!(!printed.contains("warning"), "{printed}");
    for name in ["my_ring", "my_tree"] {
        let file =
            root.path().join(format!("target/debug/lib{name}.{}", std::env::consts::DLL_EXTENSION));
        assert!(file.is_file(), "{}", file.display());
    }
    let remark = format!(
        "remark: yours is a workspace of its own, because the workspace in {} does not list it\n",
        root.path().display()
    );
    let made = swapmeet(&["new-plugin", "yours"]).current_dir(root.path()).output().unwrap();
    assert!(String::from_utf8_lossy(&made.stderr).starts_with(&remark), "{made:?}");
    succeeds(&root.path().join("yours"), &cargo, &["check"]);
}

#[test]
fn the_header_is_available_without_a_checkout() {
    let header =
        std::fs::read_to_string(swapmeet_tests::project("framework/abi/include/swapmeet.h"))
            .unwrap();
    swapmeet(&["header"]).assert().success().stdout(header).stderr("");
}
