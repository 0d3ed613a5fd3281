//! The committed `framework/abi/include/swapmeet.h` is what the Rust definitions say, and C compilers take it.

use crate::support::tools;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use swapmeet_tests::project;

fn folder() -> PathBuf {
    project("framework/abi")
}

/// What cbindgen makes of the definitions, with the links of Rust's documentation as plain names for readers of C.
fn generated() -> String {
    let config = cbindgen::Config::from_file(folder().join("cbindgen.toml")).unwrap();
    let mut text = Vec::new();
    cbindgen::generate_with_config(folder(), config).unwrap().write(&mut text);
    let text = String::from_utf8(text).unwrap();
    [("[`", "`"), ("`]", "`"), ("u64::MAX", "UINT64_MAX"), ("`i32`", "`int32_t`"), ("::", ".")]
        .iter()
        .fold(text, |text, (rust, c)| text.replace(rust, c))
}

#[test]
fn the_committed_header_is_the_generated_one() {
    let path = folder().join("include/swapmeet.h");
    if std::env::var_os("SWAPMEET_BLESS").is_some() {
        std::fs::write(&path, generated()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated(),
        "include/swapmeet.h is not what src/lib.rs says; refresh it with SWAPMEET_BLESS=1 cargo test -p swapmeet-tests"
    );
}

/// Compiles C and returns what the compiler said if it refused; `None` where there is no compiler.
fn compile(source: &str, flags: &[&str]) -> Option<Result<(), String>> {
    if !tools::has(&["cc"]) {
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("test.c");
    std::fs::write(&file, source).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I"]).arg(folder().join("include"));
    let output = cc.args(flags).arg(&file).output().unwrap();
    Some(if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) })
}

#[test]
fn c99_and_cpp_take_the_header_without_a_warning() {
    let source = "#include <swapmeet.h>\nint main(void) { return 0; }\n";
    for flags in [&["-std=c99"][..], &["-std=c11"], &["-x", "c++", "-std=c++17"]] {
        if let Some(result) = compile(source, flags) {
            assert_eq!(result, Ok(()), "{flags:?}");
        }
    }
}

#[test]
fn c_sees_the_layout_that_rust_has_frozen() {
    let layout = include_str!("../../../framework/abi/src/layout.rs");
    let mut source = "#include <stddef.h>\n#include <swapmeet.h>\n".to_owned();
    let mut checks = 0;
    // frozen!(SwmStr: 16; ptr @ 0, len @ 8);
    for line in layout.split("frozen!(").skip(1) {
        let Some((what, _)) = line.split_once(");") else { continue };
        let Some((name, rest)) = what.split_once(": ") else { continue };
        let Some((size, fields)) = rest.split_once(';') else { continue };
        writeln!(source, "_Static_assert(sizeof({name}) == {size}, \"{name}\");").unwrap();
        for field in fields.split(',') {
            let Some((field, offset)) = field.split_once('@') else { continue };
            let (field, offset) = (field.trim(), offset.trim());
            writeln!(source, "_Static_assert(offsetof({name}, {field}) == {offset}, \"{name}.{field}\");").unwrap();
            checks += 1;
        }
    }
    assert!(checks > 80, "{checks} fields found");
    source += "_Static_assert(SWM_MAGIC == 0x5445454D50415753, \"magic\");\nint main(void) { return 0; }\n";
    if let Some(result) = compile(&source, &["-std=c11"]) {
        assert_eq!(result, Ok(()));
    }
}
