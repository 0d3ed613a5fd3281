//! `swapmeet list plugins` shows the origin of each plugin, and the plugin's description of itself.

use crate::support::{compile_c, printed, refused, swapmeet, swapmeet_process};
use serde_json::Value;
use std::path::Path;
use tempfile::tempdir;

fn plugins(output: &std::process::Output) -> Vec<Value> {
    serde_json::from_slice::<Value>(&output.stdout).unwrap().as_array().unwrap().clone()
}

fn named<'a>(list: &'a [Value], name: &str) -> &'a Value {
    list.iter().find(|p| p["name"] == name).unwrap()
}

#[test]
fn each_plugin_is_listed_with_its_origin() {
    let dir = tempdir().unwrap();
    let folder = dir.path().join("swapmeet/plugins");
    std::fs::create_dir_all(&folder).unwrap();
    let Some(file) = compile_c("plugins/ring-c/ring.c", &folder, "ring", &[]) else { return };
    let origin = |args: &[&str], key: &str, value: &Path| {
        let output = swapmeet_process(&["list", "plugins", "--format", "json"])
            .args(args)
            .env(key, value)
            .output()
            .unwrap();
        let list = plugins(&output);
        assert_eq!(named(&list, "classic")["origin"], "in the program");
        let ring = named(&list, "ring-c");
        assert_eq!(ring["file"], file.to_str().unwrap());
        ring["origin"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        origin(&["--plugin-dir", file.to_str().unwrap()], "UNUSED", dir.path()),
        "--plugin-dir"
    );
    assert_eq!(origin(&[], "SWAPMEET_PLUGIN_PATH", &folder), "SWAPMEET_PLUGIN_PATH");
    assert_eq!(origin(&[], "XDG_DATA_HOME", dir.path()), "user's data folder");
}

#[test]
fn json_contains_the_full_description_of_algorithms() {
    let list = plugins(&swapmeet(&["list", "plugins", "--format", "json"]).output().unwrap());
    let suh_shin = named(&list, "suh-shin");
    assert_eq!(
        (&suh_shin["abi"], &suh_shin["licence"]),
        (&Value::from("1.2"), &Value::from("MIT OR Apache-2.0"))
    );
    let algorithm = &suh_shin["algorithms"][0];
    assert_eq!(
        (&algorithm["name"], &algorithm["ports"], &algorithm["collectives"]),
        (&Value::from("suh-shin"), &Value::from(1), &Value::from(vec!["alltoall"]))
    );
    for key in ["title", "paper", "accepts"] {
        assert!(algorithm[key].as_str().is_some_and(|text| text.len() > 10), "{key}: {algorithm}");
    }
    let linear = &named(&list, "classic")["algorithms"][0];
    assert_eq!((&linear["name"], &linear["ports"]), (&Value::from("linear"), &Value::from("all")));
}

#[test]
fn the_text_contains_title_and_paper_of_each_algorithm() {
    let text = printed(&["list", "plugins"]);
    let paragraph = text.split("\nthakur ").nth(1).unwrap();
    let shown: Vec<&str> = paragraph.lines().take(5).collect();
    assert_eq!(shown[0], "0.3.0  (plugin ABI 1.2, MIT OR Apache-2.0)");
    assert!(shown[1].ends_with("  (in the program)"), "{}", shown[1]);
    assert_eq!(shown[2], "    pex: PEX: pairwise exchange by exclusive-or (Fig. 1)");
    assert_eq!(shown[3], "        on any topology with a power of two of nodes");
    assert!(shown[4].starts_with("        R. Thakur, A. Choudhary, G. C. Fox"), "{}", shown[4]);
}

#[test]
fn several_algorithms_are_described() {
    let text = printed(&["list", "algorithms", "pairwise", "cyclic", "bruck"]);
    let titles: Vec<&str> =
        text.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')).collect();
    let names: Vec<&str> = titles.iter().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(names, ["pairwise", "gen", "bruck"], "`cyclic` is another name of `gen`");
    let error = refused(&["list", "algorithms", "pairwise", "brukc"]);
    assert!(error.contains("no entry `brukc`; did you mean `bruck`?"), "{error}");
}

/// `torus-permutation` and `suh-shin` need a torus, and `pex` needs a power of two as the number of
/// nodes.
#[test]
fn algorithms_are_listed_by_topology_and_workload() {
    let listed = |args: &[&str]| {
        let list = [&["list", "algorithms", "--format", "json"], args].concat();
        let list: Vec<Value> = serde_json::from_str(&printed(&list)).unwrap();
        list.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let on_ring = listed(&["--topology", "fully-connected:6"]);
    let has = |list: &[String], name: &str| list.iter().any(|listed| listed == name);
    assert!(has(&on_ring, "bruck") && has(&on_ring, "pairwise"), "{on_ring:?}");
    assert!(!has(&on_ring, "suh-shin") && !has(&on_ring, "pex"), "{on_ring:?}");
    let unequal = listed(&[
        "--topology",
        "torus:4x4",
        "--workload",
        "dispatch/moe:experts=16,top=2,tokens=4,bytes=8",
    ]);
    assert!(has(&unequal, "direct-dispatch") && !has(&unequal, "bruck"), "{unequal:?}");
    for (collective, expected, other) in [
        ("allreduce", "ring-allreduce", "pairwise"),
        ("permutation", "torus-permutation", "pairwise"),
        ("combine", "direct-combine", "pairwise"),
        ("alltoall", "pairwise", "ring-allreduce"),
    ] {
        let found = listed(&["--topology", "torus:4x4", "--collective", collective]);
        assert!(has(&found, expected) && !has(&found, other), "{collective}: {found:?}");
    }
    let error = refused(&["list", "topologies", "--topology", "ring:4"]);
    assert!(error.contains("expected `list algorithms --topology SPEC`"), "{error}");
}
