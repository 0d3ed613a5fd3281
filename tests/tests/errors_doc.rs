//! `docs/errors.md` says what a test provokes, and nothing else.

#![expect(clippy::unwrap_used, reason = "helpers of tests: a failure here is a failed test")]

use std::path::Path;
use swapmeet_tests::project;

/// All that tests say, with the escapes of Rust's strings undone and runs of space as one.
fn said_by_tests() -> String {
    let mut text = String::new();
    for folder in ["framework", "workloads", "results", "tests", "plugins"] {
        collect(&project(folder), &mut text);
    }
    flat(&text.replace("\\\n", " ").replace("\\\"", "\"").replace("\\\\", "\\"))
}

fn collect(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("target") {
                collect(&path, text);
            }
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("errors_doc.rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            let whole = path.components().any(|c| c.as_os_str() == "tests") || path.ends_with("tests.rs");
            text.push_str(if whole {
                &source
            } else {
                source.split_once("#[cfg(test)]").map_or("", |(_, tests)| tests)
            });
        }
    }
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The messages of a line: what stands between single or double backticks.
fn messages(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let fence = if rest[start..].starts_with("``") { "``" } else { "`" };
        rest = &rest[start + fence.len()..];
        let Some(end) = rest.find(fence) else { break };
        found.push(rest[..end].trim().to_owned());
        rest = &rest[end + fence.len()..];
    }
    found
}

#[test]
fn every_message_is_one_that_a_test_provokes() {
    let doc = std::fs::read_to_string(project("docs/errors.md")).unwrap();
    let tests = said_by_tests();
    let mut checked = 0;
    for row in doc.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---")) {
        let message = row.trim_end_matches('|').rsplit_once(" | ").map_or("", |(_, last)| last);
        for message in messages(message) {
            // `FILE: ` stands for a file's name, `..` for what varies.
            for part in message.trim_start_matches("FILE: ").split("..") {
                let part = flat(part.trim_matches([' ', ',', ':']));
                assert!(tests.contains(&part), "no test says `{part}`, of the line\n{row}");
                checked += 1;
            }
        }
    }
    assert!(checked > 40, "{checked} messages");
}
