//! Runs `docs/plugin-guide.md`, `docs/tutorial.md`, `docs/moe.md` and `docs/models.md`. Their programs are built
//! and checked. Their commands are run in order and must print the shown output.

use crate::support::tools;
use std::path::Path;
use std::process::{Command, Output};
use swapmeet_tests::{build, project};
use tempfile::tempdir;

/// A fenced block of a page: the words after the opening fence, and the lines.
struct Block {
    words: Vec<String>,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in document.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => blocks.push(block),
            (Some(words), None) => {
                open = Some(Block {
                    words: words.split_whitespace().map(str::to_owned).collect(),
                    text: String::new(),
                });
            }
            (None, Some(mut block)) => {
                block.text += &format!("{line}\n");
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

fn shell(folder: &Path, command: &str) -> Output {
    let path = format!("{}:{}", build().display(), std::env::var("PATH").unwrap());
    let mut sh = Command::new("sh");
    for (key, _) in
        std::env::vars().filter(|(key, _)| key.starts_with("CARGO_") && key != "CARGO_HOME")
    {
        sh.env_remove(key);
    }
    sh.args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env("CARGO_NET_OFFLINE", "true")
        .env("NO_COLOR", "1");
    sh.env_remove("SWAPMEET_PLUGIN_PATH")
        .env_remove("RUSTFLAGS")
        .env("XDG_DATA_HOME", "/nonexistent")
        .output()
        .unwrap()
}

fn succeeds(folder: &Path, command: &str) -> String {
    let output = shell(folder, command);
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{command}: {said}");
    said
}

/// Returns whether two lists of lines match. A line `..` stands for any number of lines.
fn matches(shown: &[&str], said: &[&str]) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((&"..", rest)) => (0..=said.len()).any(|skip| matches(rest, &said[skip..])),
        Some((first, rest)) => {
            said.split_first().is_some_and(|(line, more)| line == first && matches(rest, more))
        }
    }
}

/// Runs the commands of a block. Compares the output of each command with the lines below it in the
/// block.
fn run_console(folder: &Path, text: &str) {
    for part in format!("\n{text}").split("\n$ ").skip(1) {
        let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
        let said = succeeds(folder, command);
        let lines = |text: &str| {
            text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
        };
        let (shown, said) = (lines(shown), lines(&said));
        let all_of = |lines: &[String]| lines.join("\n");
        let same = matches(
            &shown.iter().map(String::as_str).collect::<Vec<_>>(),
            &said.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        assert!(same, "$ {command}\n-- shown:\n{}\n-- said:\n{}", all_of(&shown), all_of(&said));
    }
}

/// Writes the program of a block to a new plugin folder, builds it and runs `check`.
fn build_and_check(folder: &Path, language: &str, name: &str, text: &str) {
    let place = if language == "c" && name != "my-ring-in-c" {
        format!("{name}-in-c")
    } else {
        name.to_owned()
    };
    if !folder.join(&place).exists() {
        succeeds(folder, &format!("swapmeet new-plugin {place} --lang {language}"));
    }
    let (source, made, file) = match language {
        "rust" => (
            "src/lib.rs".to_owned(),
            "cargo build --release --quiet",
            format!("target/release/lib{}.so", name.replace('-', "_")),
        ),
        _ => (format!("{place}.c"), "make -s", format!("lib{place}.so")),
    };
    std::fs::write(folder.join(&place).join(&source), text).unwrap();
    let said = succeeds(folder, &format!("cd {place} && {made}"));
    assert!(!said.contains("warning"), "{said}");
    // The guide itself shows a check on all networks.
    let few = ["ring:7", "torus:3x5", "torus:4x4", "mesh:3x3", "hypercube:3", "groups:2x5"];
    let few = few.map(|topology| format!("--topology {topology}")).join(" ");
    let report = succeeds(folder, &format!("swapmeet check {place}/{file} {few}"));
    assert!(report.ends_with("passed: 0 faults, 0 remarks\n"), "{language} {name}: {report}");
}

#[test]
fn every_block_of_the_guide_is_run_or_built() {
    if cfg!(not(target_os = "linux")) {
        tools::left_out("linux", "the guide shows file names as they are on Linux");
        return;
    }
    if !tools::has(&["make", "cc"]) {
        return;
    }
    let guide = std::fs::read_to_string(project("docs/plugin-guide.md")).unwrap();
    let folder = tempdir().unwrap();
    let mut kinds = Vec::new();
    for block in blocks(&guide) {
        let words: Vec<&str> = block.words.iter().map(String::as_str).collect();
        match words[..] {
            ["console"] => run_console(folder.path(), &block.text),
            [language @ ("rust" | "c"), name] => {
                // Section 2 shows the program that `new-plugin` creates.
                let place = folder.path().join(name).join(if language == "rust" {
                    "src/lib.rs".to_owned()
                } else {
                    format!("{name}.c")
                });
                if name.starts_with("my-ring") {
                    assert_eq!(std::fs::read_to_string(place).unwrap(), block.text, "{name}");
                }
                build_and_check(folder.path(), language, name, &block.text);
            }
            _ => panic!("a block that no test knows: {words:?}"),
        }
        kinds.push(words[0].to_owned());
    }
    for kind in ["console", "rust", "c"] {
        assert!(kinds.iter().filter(|k| *k == kind).count() >= 3, "{kinds:?}");
    }
}

/// Runs the commands of a page, which must have at least `least` blocks of commands.
fn prints_what_it_shows(page: &str, least: usize) {
    let page = std::fs::read_to_string(project(page)).unwrap();
    let folder = tempdir().unwrap();
    let blocks = blocks(&page);
    assert!(blocks.len() >= least && blocks.iter().all(|block| block.words == ["console"]));
    for block in blocks {
        run_console(folder.path(), &block.text);
    }
}

#[test]
fn the_commands_of_the_tutorial_print_the_shown_output() {
    prints_what_it_shows("docs/tutorial.md", 4);
}

#[test]
fn the_commands_of_the_page_on_experts_print_the_shown_output() {
    prints_what_it_shows("docs/moe.md", 4);
}

#[test]
fn the_commands_of_the_models_page_print_the_shown_output() {
    prints_what_it_shows("docs/models.md", 1);
}
