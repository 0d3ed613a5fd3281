//! What manifests switch off, and what they would hide by it; what they bring in, and where it says
//! why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use swapmeet_tests::project;

/// The sources in a folder, whatever lies below it.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Whether a line of documentation begins an example that would be run.
fn begins_example(line: &str) -> bool {
    let text = line.trim_start();
    let doc = text.strip_prefix("///").or_else(|| text.strip_prefix("//!"));
    doc.and_then(|doc| doc.trim_start().strip_prefix("```"))
        .is_some_and(|language| matches!(language, "" | "rust" | "no_run"))
}

/// Building and starting a program of no tests takes as long as that of many, so libraries without
/// tests or examples have theirs switched off.
#[test]
fn crates_with_tests_switched_off_have_no_tests() {
    let mut switched_off = 0;
    let mut members: Vec<PathBuf> =
        ["workloads", "results", "results/plot", "tests", "tests/plugins/misprints"]
            .map(project)
            .into();
    for folder in ["framework", "plugins"] {
        members
            .extend(std::fs::read_dir(project(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    for member in members {
        let Ok(manifest) = std::fs::read_to_string(member.join("Cargo.toml")) else { continue };
        let off = |what: &str| manifest.lines().any(|line| line == format!("{what} = false"));
        let (tests, examples) = (off("test"), off("doctest"));
        switched_off += usize::from(tests) + usize::from(examples);
        let mut files = Vec::new();
        sources(&member.join("src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(
                !tests || !text.contains("#[test]"),
                "{}: a test that is never run",
                file.display()
            );
            // In a fenced block that is not run, the closing fence looks like an opening one: only
            // every other counts.
            let mut open = false;
            for line in text.lines().filter(|_| examples) {
                let fence =
                    line.trim_start().trim_start_matches(['/', '!', ' ']).starts_with("```")
                        && line.trim_start().starts_with("//");
                assert!(
                    open || !begins_example(line),
                    "{}: an example that is never run: {line}",
                    file.display()
                );
                open ^= fence;
            }
        }
    }
    assert!(switched_off >= 8, "{switched_off}");
}

/// A file that no other names as its module is never compiled: a model, a panel or a test in it is
/// not there, and nobody says so.
#[test]
fn every_source_file_is_a_module_of_its_crate() {
    let mut files = Vec::new();
    for folder in [
        "framework",
        "plugins",
        "results",
        "tests/src",
        "tests/tests",
        "tests/plugins",
        "workloads",
    ] {
        sources(&project(folder), &mut files);
    }
    let is_root = |file: &PathBuf| {
        let below_source =
            file.parent().and_then(Path::file_name).is_some_and(|folder| folder == "src");
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name == "build.rs" || name == "main.rs" || (name == "lib.rs" && below_source)
    };
    let modules =
        files.iter().filter(|file| !is_root(file) && !file.iter().any(|part| part == "target"));
    let mut count = 0;
    for file in modules {
        // `a/b.rs` and `a/b/mod.rs` are named by the file of `a`.
        let own = if file.ends_with("mod.rs") { file.parent().unwrap() } else { file };
        let (name, folder) = (own.file_stem().unwrap().to_str().unwrap(), own.parent().unwrap());
        let parents = ["mod.rs", "lib.rs", "main.rs"].map(|file| folder.join(file));
        let named = [&folder.with_extension("rs")].into_iter().chain(&parents).any(|parent| {
            let text = std::fs::read_to_string(parent).unwrap_or_default();
            text.lines().any(|line| line.trim_end().ends_with(&format!("mod {name};")))
        });
        assert!(named, "{}: no module of its crate", file.display());
        count += 1;
    }
    assert!(count > 300, "{count}");
}

#[test]
fn what_contributing_names_is_there() {
    let mut files = Vec::new();
    for folder in ["framework", "results", "tests/tests", "workloads"] {
        sources(&project(folder), &mut files);
    }
    let texts: Vec<String> =
        files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let page = text("CONTRIBUTING.md");
    let is_sentence = |name: &&str| {
        name.matches('_').count() > 2 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    let named: BTreeSet<&str> = page.split('`').filter(is_sentence).collect();
    assert!(named.len() > 12, "{named:?}");
    for name in named {
        assert!(
            texts.iter().any(|text| text.contains(&format!("fn {name}()"))),
            "CONTRIBUTING.md names a test `{name}`"
        );
    }
    for path in
        page.split('`').filter(|word| word.contains('/') && !word.contains(char::is_whitespace))
    {
        assert!(project(path).exists(), "CONTRIBUTING.md names `{path}`");
    }
}

fn text(path: &str) -> String {
    std::fs::read_to_string(project(path)).unwrap()
}

/// Names between backticks in the first column of the tables under a heading of
/// `docs/dependencies.md`.
fn documented(heading: fn(&str) -> bool) -> BTreeSet<String> {
    let doc = text("docs/dependencies.md");
    let sections = doc
        .split("\n## ")
        .skip(1)
        .filter(|section| heading(section.lines().next().unwrap_or_default()));
    let lines = sections.flat_map(str::lines).filter_map(|line| line.strip_prefix("| `"));
    lines.filter_map(|line| Some(line.split_once('`')?.0.to_owned())).collect()
}

#[test]
fn every_dependency_has_its_reason_and_nothing_else_has_one() {
    let manifest = text("Cargo.toml");
    let (_, dependencies) = manifest.split_once("[workspace.dependencies]\n").unwrap();
    let names = dependencies
        .lines()
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = "));
    let named: BTreeSet<String> = names
        .map(|(name, _)| name.to_owned())
        .filter(|name| !name.starts_with("swapmeet-"))
        .collect();
    assert!(named.len() > 30);
    assert_eq!(documented(|heading| heading != "In several versions"), named);
}

#[test]
fn crates_in_several_versions_are_known() {
    let lock = text("Cargo.lock");
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    for name in lock.lines().filter_map(|line| line.strip_prefix("name = ")) {
        *versions.entry(name.trim_matches('"')).or_default() += 1;
    }
    let several: BTreeSet<String> =
        versions.into_iter().filter(|(_, n)| *n > 1).map(|(name, _)| name.to_owned()).collect();
    assert_eq!(documented(|heading| heading == "In several versions"), several);
    let deny = text("deny.toml");
    let (_, skipped) = deny.split_once("skip = [").unwrap();
    let skipped = skipped.split_once("]\n").unwrap().0.split("crate = \"").skip(1);
    let skipped: BTreeSet<String> =
        skipped.filter_map(|entry| Some(entry.split(['@', '"']).next()?.to_owned())).collect();
    assert_eq!(skipped, several, "deny.toml");
}

/// Each is run by CI, and replayed by `corpus`.
#[test]
fn every_fuzz_target_is_run_by_ci() {
    let script = text(".ci/fuzz");
    let (_, names) = script.split_once("for name in ").unwrap();
    let run: BTreeSet<&str> = names.split(';').next().unwrap().split_whitespace().collect();
    let targets: BTreeSet<&str> =
        swapmeet_tests::fuzz::TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(run, targets);
}
