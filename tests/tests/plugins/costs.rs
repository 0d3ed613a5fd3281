//! The documentation of an algorithm starts with its cost.

use crate::support::swapmeet;
use serde_json::Value;
use std::path::{Path, PathBuf};
use swapmeet_tests::project;

/// Collects the Rust and C files below a folder.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "c") {
            into.push(path);
        }
    }
}

/// Returns whether a text names both a start-up and a transmission cost, as alpha and beta or in
/// the notation of the paper.
fn is_of_alpha_and_beta(text: &str) -> bool {
    text.contains("alpha") && ["beta", "tau"].iter().any(|word| text.contains(word))
}

/// Returns the first two paragraphs of the comment at the top of a file, without comment markers.
fn opening(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_start_matches("/*").trim_start());
    let lines = lines.map(|line| line.trim_start_matches("//!").trim_start_matches('*').trim());
    let paragraphs: Vec<&str> = lines.collect();
    paragraphs
        .split(|line| line.is_empty())
        .take(2)
        .flatten()
        .copied()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Either the file of an algorithm or the comment of the algorithm starts with the cost. The cost
/// of a schedule from a file depends on the file.
#[test]
fn every_bundled_algorithm_opens_with_its_cost_in_alpha_and_beta() {
    let list = swapmeet(&["list", "algorithms", "--format", "json"]).output().unwrap().stdout;
    let list: Value = serde_json::from_slice(&list).unwrap();
    let mut files = Vec::new();
    sources(&project("plugins"), &mut files);
    let texts: Vec<String> =
        files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let named = list.as_array().unwrap().iter().filter(|algorithm| algorithm["plugin"] != "files");
    let (mut seen, mut silent) = (0, Vec::new());
    for name in named.map(|algorithm| algorithm["name"].as_str().unwrap()) {
        let says = [format!("name: \"{name}\""), format!(".name = text(\"{name}\")")];
        let at = |text: &String| says.iter().find_map(|says| text.find(says));
        let (text, at) = texts
            .iter()
            .find_map(|text| Some((text, at(text)?)))
            .unwrap_or_else(|| panic!("{name}"));
        // The text after the previous algorithm; its last comment belongs to this algorithm.
        let own = text[..at].rsplit("name: \"").next().unwrap();
        let comments: String = own.lines().filter(|line| line.starts_with("///")).collect();
        seen += 1;
        if !is_of_alpha_and_beta(&opening(text)) && !is_of_alpha_and_beta(&comments) {
            silent.push(name);
        }
    }
    assert!(seen > 50 && silent.is_empty(), "of {seen} these don't say what they cost: {silent:?}");
}
