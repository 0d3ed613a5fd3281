//! Compares `docs/abi.md` with the definitions of the plugin ABI in Rust.

use std::collections::BTreeMap;
use swapmeet_core::limits;
use swapmeet_runner::max_bytes;
use swapmeet_tests::project;

#[test]
fn the_table_of_structs_is_the_frozen_layout() {
    let layout = std::fs::read_to_string(project("framework/abi/src/layout.rs")).unwrap();
    // An example: `frozen!(SwmStr: 16; ptr @ 0, len @ 8);`.
    let frozen: BTreeMap<&str, &str> = layout
        .split("frozen!(")
        .skip(1)
        .filter_map(|rest| rest.split_once(';')?.0.split_once(": "))
        .collect();
    let document = std::fs::read_to_string(project("docs/abi.md")).unwrap();
    // An example: "| `SwmStr` | 16 | text | no |".
    let documented: BTreeMap<&str, &str> = document
        .lines()
        .filter_map(|line| line.strip_prefix("| `Swm")?.split_once("` | "))
        .filter_map(|(name, rest)| Some((name, rest.split_once(" | ")?.0)))
        .collect();
    let frozen: BTreeMap<&str, &str> =
        frozen.iter().map(|(name, size)| (name.trim_start_matches("Swm"), *size)).collect();
    assert!(frozen.len() > 10);
    assert_eq!(documented, frozen);
}

#[test]
fn the_documented_version_is_current() {
    let source = std::fs::read_to_string(project("framework/abi/src/lib.rs")).unwrap();
    let number = |name: &str| {
        let rest = source.split_once(&format!("pub const {name}: u32 = ")).unwrap().1;
        rest.split_once(';').unwrap().0.to_owned()
    };
    let version = format!("{}.{}", number("SWM_ABI_MAJOR"), number("SWM_ABI_MINOR"));
    let document = std::fs::read_to_string(project("docs/abi.md")).unwrap();
    assert!(document.contains(&format!("The version now is **{version}**.")), "{version}");
}

/// Formats a limit as the document shows it: bytes with units, small numbers in digits, large
/// numbers as powers of two.
fn limit_in_words(what: &str, most: u64) -> String {
    assert!(most.is_power_of_two() || what.starts_with("bytes"), "{what}");
    match most {
        1..=0x1_0000 if most < 1000 => most.to_string(),
        1..=0x1_0000 => format!("{},{:03}", most / 1000, most % 1000),
        _ if !what.starts_with("bytes") => format!("2^{}", most.ilog2()),
        _ if most < 1 << 30 => format!("{} MiB", most >> 20),
        _ => format!("{} GiB", most >> 30),
    }
}

#[test]
fn the_documented_limits_are_current() {
    let document = std::fs::read_to_string(project("docs/abi.md")).unwrap();
    let section = document.split_once("## Limits").unwrap().1.split_once("\n## ").unwrap().0;
    let documented: Vec<&str> =
        section.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    let kept: Vec<String> = limits::ALL
        .iter()
        .map(|(what, most)| format!("| {what} | {} |", limit_in_words(what, *most)))
        .collect();
    assert_eq!(documented, kept);
}

#[test]
fn the_documented_sizes_of_messages_are_current() {
    let document = std::fs::read_to_string(project("docs/abi.md")).unwrap();
    let section = document.split_once("### Sizes of messages").unwrap().1;
    let documented: Vec<&str> =
        section.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    let expected = max_bytes::ALL.map(|(what, most)| format!("| {what} | {} MiB |", most >> 20));
    assert_eq!(documented, expected);
}
