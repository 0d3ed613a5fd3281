//! Compares the fixtures with the output of the programs that generated them (`tests/oracles`),
//! which follow the text of the papers and share no code with Swapmeet.

use crate::support::tools;
use serde_json::Value;
use std::process::Command;
use swapmeet_tests::project;

fn fixture(name: &str) -> Value {
    let file = project("tests/fixtures").join(name);
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn output(mut generator: Command) -> Value {
    let output = generator.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Compares two trees of values, and returns the number of values. Fractions in fixtures have seven
/// digits. Notes are not compared. Values with the key `missing`, which no program generates, are
/// not compared either.
fn equal_values(at: &str, fixture: &Value, generated: &Value, missing: &str) -> usize {
    match (fixture, generated) {
        (Value::Object(fixture), Value::Object(generated)) => {
            let unknown = generated.keys().find(|key| !fixture.contains_key(*key));
            assert_eq!(unknown, None, "{at}: not in the fixture");
            let known =
                fixture.iter().filter(|(key, _)| !["note", "what", missing].contains(&&***key));
            known
                .map(|(key, value)| {
                    equal_values(&format!("{at}/{key}"), value, &generated[key], missing)
                })
                .sum()
        }
        (Value::Array(fixture), Value::Array(generated)) => {
            assert_eq!(fixture.len(), generated.len(), "{at}");
            let pairs = fixture.iter().zip(generated).enumerate();
            pairs.map(|(i, (a, b))| equal_values(&format!("{at}[{i}]"), a, b, missing)).sum()
        }
        (Value::Number(a), Value::Number(b)) if !(a.is_u64() && b.is_u64()) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 2e-7 * a.abs(), "{at}: {a} and {b}");
            1
        }
        _ => {
            assert_eq!(fixture, generated, "{at}");
            1
        }
    }
}

fn agrees(generator: &str, fixture_name: &str, missing: &str, values: usize) {
    if !tools::has(&["python3"]) {
        return;
    }
    let mut python = Command::new("python3");
    python.arg(project("tests/oracles").join(generator));
    assert_eq!(equal_values("", &fixture(fixture_name), &output(python), missing), values);
}

#[test]
fn suh_shins_fixture_equals_its_generator() {
    if !tools::runs_all() {
        return;
    }
    agrees("suh_shin.py", "suh-shin.json", "", 1014);
}

#[test]
fn thakurs_fixture_equals_its_generator() {
    if !tools::runs_all() {
        return;
    }
    agrees("thakur.py", "thakur.json", "", 270);
}

/// The paper does not define the order of nonblocking messages, so their times have no generator.
#[test]
fn lius_fixture_equals_its_generator() {
    if !tools::runs_all() {
        return;
    }
    agrees("liu.py", "liu.json", "nonblocking", 823);
}

#[test]
fn simgrids_fixture_equals_its_generator() {
    if !tools::runs_all() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("simgrid");
    let mut cxx = Command::new("c++");
    cxx.args(["-std=c++17", "-O1", "-o"]).arg(&program);
    cxx.arg(project("tests/oracles/simgrid.cpp")).arg("-lsimgrid");
    if !cxx.output().is_ok_and(|output| output.status.success()) {
        return tools::left_out("simgrid", "no SimGrid 3.32 (c++ -lsimgrid) here");
    }
    let generated = output(Command::new(&program));
    assert_eq!(equal_values("", &fixture("simgrid.json"), &generated, ""), 80 * 13);
    let mut in_communicators = Command::new(program);
    in_communicators.arg("communicators");
    let generated = output(in_communicators);
    let fixture = fixture("simgrid-communicators.json");
    assert_eq!(equal_values("", &fixture, &generated, ""), 40 * 14);
}
