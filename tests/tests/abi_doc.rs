//! `docs/abi.md` says what the definition says.

use std::collections::BTreeMap;
use swapmeet_tests::project;

#[test]
fn the_table_of_structs_is_the_frozen_layout() {
    let layout = std::fs::read_to_string(project("framework/abi/src/layout.rs")).unwrap();
    // frozen!(SwmStr: 16; ptr @ 0, len @ 8);
    let frozen: BTreeMap<&str, &str> =
        layout.split("frozen!(").skip(1).filter_map(|rest| rest.split_once(';')?.0.split_once(": ")).collect();
    let document = std::fs::read_to_string(project("docs/abi.md")).unwrap();
    // | `SwmStr` | 16 | text | no |
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
fn the_version_is_the_one_of_the_definition() {
    let source = std::fs::read_to_string(project("framework/abi/src/lib.rs")).unwrap();
    let number = |name: &str| {
        let rest = source.split_once(&format!("pub const {name}: u32 = ")).unwrap().1;
        rest.split_once(';').unwrap().0.to_owned()
    };
    let version = format!("{}.{}", number("SWM_ABI_MAJOR"), number("SWM_ABI_MINOR"));
    let document = std::fs::read_to_string(project("docs/abi.md")).unwrap();
    assert!(document.contains(&format!("The version now is **{version}**.")), "{version}");
}
