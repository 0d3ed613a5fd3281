//! Files that are not plugins, and plugins with malformed tables.

use super::{rows_of, run_alone};
use crate::support::{compile_c, swapmeet, words, wrong};
use predicates::prelude::*;
use std::path::Path;
use swapmeet_results::Status;
use tempfile::tempdir;

/// A case: its name, the mistake in the table, and the message, in which `FILE` stands for the name
/// of the file.
const WRONG_TABLES: [(&str, &str, &str); 21] = [
    (
        "other_major",
        "plugin.head.abi_major = 7; plugin.head.abi_minor = 3;",
        "FILE: built for plugin ABI 7.3, but this program supports 1.2: rebuild the plugin with a header or SDK of version 1.x",
    ),
    (
        // If the table has a different major version, the program may read only its head.
        "other_major_shorter",
        "plugin.head.abi_major = 0; plugin.head.size = 24; plugin.algorithms = 0;",
        "FILE: built for plugin ABI 0.2, but this program supports 1.2: rebuild the plugin with a header or SDK of version 1.x",
    ),
    (
        "magic",
        "plugin.head.magic = 42;",
        "FILE: not a swapmeet plugin: its table begins with 0x000000000000002a, expected 0x5445454d50415753",
    ),
    ("null", "return 0;", "FILE: not a swapmeet plugin: its entry returns no table"),
    (
        "small",
        "plugin.head.size = 40;",
        "FILE: not a swapmeet plugin: its table has 40 bytes, expected at least 88",
    ),
    ("empty", "plugin.algorithm_count = 0;", "FILE: not a swapmeet plugin: it has no algorithms"),
    (
        "null_algorithms",
        "plugin.algorithms = 0;",
        "FILE: not a swapmeet plugin: it has no algorithms",
    ),
    (
        "many",
        "plugin.algorithm_count = 1000000;",
        "FILE: not a swapmeet plugin: it claims 1000000 algorithms, expected at most 1024",
    ),
    ("null_algorithm", "algorithms[0] = 0;", "FILE: not a swapmeet plugin: algorithm 0: no table"),
    (
        "small_algorithm",
        "wrong.size = 0;",
        "FILE: not a swapmeet plugin: algorithm 0: its table has 0 bytes, expected at least 128",
    ),
    (
        "name",
        "wrong.name = text(\"Wrong Name\");",
        "FILE: not a swapmeet plugin: algorithm 0: its name is `Wrong Name`, expected lower-case letters, digits and hyphens",
    ),
    (
        "plugin_name",
        "plugin.name = text(\"../../x\");",
        "FILE: not a swapmeet plugin: its name is `../../x`, expected letters, digits, hyphens, underscores, dots and spaces",
    ),
    (
        "no_plugin_name",
        "plugin.name = text(\"\");",
        "FILE: not a swapmeet plugin: its name is ``, expected letters, digits, hyphens, underscores, dots and spaces",
    ),
    (
        // The SDK creates a table like this if `about` panics.
        "no_description",
        "wrong.name.len = 0; wrong.plan = 0; wrong.title = text(\"the plugin panicked: who am I? (lib.rs:3)\");",
        "FILE: not a swapmeet plugin: algorithm 0: the plugin panicked: who am I? (lib.rs:3)",
    ),
    (
        "twice",
        "static const SwmAlgorithm *two[2]; two[0] = two[1] = &wrong; plugin.algorithms = two; plugin.algorithm_count = 2;",
        "FILE: not a swapmeet plugin: algorithms 0 and 1 are both named `wrong`",
    ),
    (
        "utf8",
        "plugin.version = text(\"\\xff\");",
        "FILE: not a swapmeet plugin: its version is not UTF-8",
    ),
    (
        "no_plan",
        "wrong.plan = 0;",
        "FILE: not a swapmeet plugin: algorithm 0: `wrong` has no `plan` function",
    ),
    (
        "idle",
        "wrong.collectives = 0;",
        "FILE: not a swapmeet plugin: algorithm 0: `wrong` implements no collective",
    ),
    (
        "many_params",
        "wrong.param_count = 65;",
        "FILE: not a swapmeet plugin: algorithm 0: `wrong` claims 65 parameters, expected at most 64",
    ),
    (
        "null_params",
        "wrong.param_count = 2;",
        "FILE: not a swapmeet plugin: algorithm 0: `wrong` has null for its 2 parameters",
    ),
    (
        "param_kind",
        "static SwmParamInfo fan; static const SwmParamInfo *one[] = {&fan}; fan.size = sizeof fan; fan.key = text(\"fan\"); fan.kind = 9; wrong.params = one; wrong.param_count = 1;",
        "FILE: not a swapmeet plugin: algorithm 0: parameter 0 of `wrong`: its kind is 9, expected 0 to 3",
    ),
];

#[test]
fn a_wrong_table_is_an_error_if_named_and_skipped_in_a_search() {
    for (name, spoil, message) in WRONG_TABLES {
        let dir = tempdir().unwrap();
        let Some(file) = wrong(dir.path(), name, &[("TABLE", spoil)]) else { return };
        let message = message.replace("FILE", file.to_str().unwrap());
        let (code, text) = refused(&file);
        assert_eq!((code, text), (Some(2), format!("error: {message}")), "{name}");
        assert_eq!(skipped(dir.path()), [format!("skipped {message}")], "{name}");
    }
}

#[test]
fn a_later_minor_version_is_accepted() {
    let dir = tempdir().unwrap();
    let spoil = "plugin.head.abi_minor = 9; plugin.head.size = 4096; wrong.size = 4096;";
    let macros = [("TABLE", spoil), ("PLAN", "return shift(problem, host);")];
    let Some(file) = wrong(dir.path(), "minor", &macros) else { return };
    assert_eq!(run_alone(&file).1.status, Status::Ok);
}

#[test]
fn files_that_are_not_plugins_are_reported() {
    let dir = tempdir().unwrap();
    let text = dir.path().join("notes.so");
    std::fs::write(&text, "not a library").unwrap();
    let (code, printed) = refused(&text);
    // Our part of the message is followed by the message of the operating system.
    let ours = format!("error: {}: not a library that can be loaded: ", text.display());
    assert!(
        code == Some(2) && printed.starts_with(&ours) && printed.len() > ours.len(),
        "{code:?} {printed}"
    );
    let missing = dir.path().join("missing.so");
    let (code, printed) = refused(&missing);
    assert_eq!(
        (code, printed.trim_end()),
        (Some(2), &*format!("error: {}: no such plugin file or folder", missing.display()))
    );
    let log = skipped(dir.path());
    assert_eq!(log.len(), 1);
    assert!(
        log[0].starts_with(&format!(
            "skipped {}: not a library that can be loaded: ",
            text.display()
        ))
    );

    let empty = dir.path().join("empty.c");
    std::fs::write(&empty, "int nothing;\n").unwrap();
    let Some(file) = compile_c(empty.to_str().unwrap(), dir.path(), "empty", &[]) else { return };
    let message =
        format!("{}: not a swapmeet plugin: it has no symbol `swapmeet_plugin`", file.display());
    assert_eq!(refused(&file), (Some(2), format!("error: {message}")));
    assert!(skipped(dir.path()).contains(&format!("skipped {message}")));
}

#[test]
fn a_file_in_a_searched_folder_is_not_read_unless_its_name_is_that_of_a_library() {
    let dir = tempdir().unwrap();
    std::fs::write(dir.path().join("README.md"), "not a library").unwrap();
    assert_eq!(skipped(dir.path()), [] as [&str; 0]);
}

/// If two plugins could have the same name, a plugin could make a rival look slow under the rival's
/// name.
#[test]
fn a_name_that_two_plugins_have_is_an_error_that_names_both_files() {
    let dir = tempdir().unwrap();
    let plugin = |plugin: &str, algorithm: &str| {
        let spoil =
            format!("plugin.name = text(\"{plugin}\"); wrong.name = text(\"{algorithm}\");");
        let macros = [("TABLE", spoil.as_str()), ("PLAN", "return shift(problem, host);")];
        wrong(dir.path(), plugin, &macros)
    };
    let (Some(mine), Some(theirs)) = (plugin("mine", "gen"), plugin("theirs", "gen")) else {
        return;
    };
    let shared = |plugins: &[&Path], algorithm: &str| {
        let mut run = swapmeet(&["run", "--topology", "ring:4", "--algorithm", algorithm]);
        for plugin in plugins {
            run.arg("--plugin-dir").arg(plugin);
        }
        let output = run.output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{message}");
        message
    };
    let message = shared(&[&mine], "gen");
    let expected = format!(
        "`gen` is an algorithm of several plugins: `mine` ({}), `thakur` (",
        mine.display()
    );
    assert!(message.contains(&expected), "{message}");
    assert!(message.contains("/swapmeet/thakur)"), "{message}");
    assert!(message.contains("write `mine/gen`"), "{message}");
    for (algorithm, plugin) in [("mine/gen", "mine"), ("thakur/gen", "thakur")] {
        let (code, rows) = rows_of(&mine, "ring:4", algorithm);
        let row = &rows[0];
        assert_eq!((code, row.plugin.as_str(), row.algorithm.as_str()), (0, plugin, "gen"));
    }
    let (code, rows) = rows_of(&mine, "ring:4", "gen --replace-bundled");
    assert_eq!((code, rows[0].plugin.as_str()), (0, "mine"));
    let message = shared(&[&theirs, &mine], "gen");
    assert!(message.contains(&format!("`theirs` ({}), `mine` (", theirs.display())), "{message}");

    let (mine, theirs) = (mine.to_str().unwrap(), theirs.to_str().unwrap());
    swapmeet(&["list", "plugins", "--plugin-dir", theirs, "--plugin-dir", mine])
        .assert()
        .success()
        .stderr(
            predicate::str::contains(format!(
                "`gen` is the name of two algorithms: of plugin `theirs` ({theirs}) and of plugin `mine` ({mine})"
            ))
            .and(predicate::str::contains("/swapmeet/thakur)")),
        );
}

fn refused(file: &Path) -> (Option<i32>, String) {
    let line = format!("run --plugin-dir {} --topology ring:4 --algorithm wrong", file.display());
    let args = words(&line);
    let output = swapmeet(&args).output().unwrap();
    assert!(output.stdout.is_empty());
    (output.status.code(), String::from_utf8(output.stderr).unwrap().trim_end().to_owned())
}

fn skipped(folder: &Path) -> Vec<String> {
    let output =
        swapmeet(&["list", "plugins", "--plugin-dir", folder.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stderr).unwrap().lines().map(str::to_owned).collect()
}
