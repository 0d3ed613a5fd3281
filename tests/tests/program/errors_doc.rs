//! Checks that for every message in `docs/errors.md` there is a test that provokes it.

use proc_macro2::{TokenStream, TokenTree};
use std::path::Path;
use swapmeet_tests::project;
use syn::LitStr;

/// Returns the string literals of all tests and the list of wrong plans, with white space
/// collapsed.
fn texts_of_tests() -> Vec<String> {
    let plans = std::fs::read_to_string(project("tests/plugins/wrong_plans.h")).unwrap();
    let mut texts = vec![flat(&plans)];
    for folder in ["framework", "workloads", "results", "tests/tests", "plugins"] {
        collect(&project(folder), &mut texts);
    }
    texts
}

fn collect(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("target") {
                collect(&path, texts);
            }
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("errors_doc.rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            // The path of the project itself may contain a folder named tests, so only the path
            // below the project is examined.
            let below = path.strip_prefix(project("")).unwrap();
            let whole =
                below.components().any(|c| c.as_os_str() == "tests") || path.ends_with("tests.rs");
            let own = || source.rsplit_once("\n#[cfg(test)]\n").map_or("", |(_, tests)| tests);
            let tests = if whole { &source } else { own() };
            strings(tests.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display())), texts);
        }
    }
}

/// Collects the string literals in a sequence of tokens. The lexer represents a documentation
/// comment by a literal, too. Such literals are skipped.
fn strings(tokens: TokenStream, texts: &mut Vec<String>) {
    let mut before = [String::new(), String::new()];
    for token in tokens {
        match &token {
            TokenTree::Group(group) => strings(group.stream(), texts),
            TokenTree::Literal(literal) if before != ["doc", "="] => {
                if let Ok(string) = syn::parse_str::<LitStr>(&literal.to_string()) {
                    texts.push(flat(&string.value()));
                }
            }
            _ => {}
        }
        before = [std::mem::take(&mut before[1]), token.to_string()];
    }
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the texts of a line that are enclosed in single or double backticks.
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

/// Returns the messages that a line of the document mentions. In a table, these are all quoted
/// texts of the last column. In other lines, they are the quoted texts of more than one word that
/// are not commands.
fn messages_of(line: &str) -> Vec<String> {
    if let Some(row) = line.strip_prefix("| ").filter(|row| !row.starts_with("---")) {
        return messages(row.trim_end_matches('|').rsplit_once(" | ").map_or("", |(_, last)| last));
    }
    messages(line)
        .into_iter()
        .filter(|m| m.contains(' ') && !m.starts_with("swapmeet list "))
        .collect()
}

#[test]
fn every_documented_message_is_tested() {
    let doc = std::fs::read_to_string(project("docs/errors.md")).unwrap();
    let tests = texts_of_tests();
    let mut unsaid = Vec::new();
    for section in doc.split("\n## ").skip(1) {
        let title = section.lines().next().unwrap_or_default();
        let mut checked = 0;
        for message in section.lines().skip(1).flat_map(messages_of) {
            // `FILE: ` stands for a file name, and `..` for text that varies.
            let parts = message.trim_start_matches("FILE: ").split("..");
            let parts: Vec<String> =
                parts.map(|part| flat(part.trim_matches([' ', ',', ':', ';']))).collect();
            assert!(parts.iter().any(|part| !part.is_empty()), "`{message}` says nothing");
            for part in parts.into_iter().filter(|part| !part.is_empty()) {
                checked += 1;
                if !tests.iter().any(|text| text.contains(&part)) {
                    unsaid.push(part);
                }
            }
        }
        assert!(checked > 0, "no message under `{title}`");
    }
    assert!(unsaid.is_empty(), "no test says\n{}", unsaid.join("\n"));
}
