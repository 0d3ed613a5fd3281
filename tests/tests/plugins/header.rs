//! Checks that C compilers accept `framework/abi/include/swapmeet.h` and agree with Rust about its
//! layout. `cargo run -p xtask --features header -- header` generates it.

use super::rows_of;
use crate::support::{swapmeet, tools, words};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use swapmeet_results::Status;
use swapmeet_tests::project;

fn folder() -> PathBuf {
    project("framework/abi")
}

#[test]
fn the_committed_header_is_current() {
    if !tools::runs_all() {
        return;
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut check = Command::new(cargo);
    check.args(["run", "--quiet", "--locked", "-p", "xtask", "--features", "header"]);
    check.args(["--", "header", "check"]);
    let output = check.current_dir(project("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles a C or C++ source. The result is the output of the compiler if it refuses the source,
/// or `None` if there is no compiler.
fn compile(source: &str, flags: &[&str]) -> Option<Result<(), String>> {
    if !tools::has(&["cc"]) {
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("test.c");
    std::fs::write(&file, source).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I"])
        .arg(folder().join("include"));
    let output = cc.args(flags).arg(&file).output().unwrap();
    Some(if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    })
}

#[test]
fn c99_and_cpp_compile_the_header_without_warnings() {
    // This compiles only if `swapmeet_plugin` in the header has the type `SwmEntry`.
    let source = "#include <swapmeet.h>\nint main(void) { return sizeof(SwmEntry) == 0; }\nSwmEntry entry(void);\n\
                  SwmEntry entry(void) { return swapmeet_plugin; }\n";
    for flags in [&["-std=c99"][..], &["-std=c11"], &["-x", "c++", "-std=c++17"]] {
        if let Some(result) = compile(source, flags) {
            assert_eq!(result, Ok(()), "{flags:?}");
        }
    }
}

#[test]
fn c_and_rust_have_the_same_layout() {
    let layout = include_str!("../../../framework/abi/src/layout.rs");
    let mut source = "#include <stddef.h>\n#include <swapmeet.h>\n".to_owned();
    let mut checks = 0;
    for line in layout.split("frozen!(").skip(1) {
        let Some((what, _)) = line.split_once(");") else { continue };
        let Some((name, rest)) = what.split_once(": ") else { continue };
        let Some((size, fields)) = rest.split_once(';') else { continue };
        writeln!(source, "_Static_assert(sizeof({name}) == {size}, \"{name}\");").unwrap();
        for field in fields.split(',') {
            let Some((field, offset)) = field.split_once('@') else { continue };
            let (field, offset) = (field.trim(), offset.trim());
            writeln!(
                source,
                "_Static_assert(offsetof({name}, {field}) == {offset}, \"{name}.{field}\");"
            )
            .unwrap();
            checks += 1;
        }
    }
    assert!(checks > 80, "{checks} fields found");
    source += "_Static_assert(SWM_MAGIC == 0x5445454D50415753, \"magic\");\nint main(void) { return 0; }\n";
    if let Some(result) = compile(&source, &["-std=c11"]) {
        assert_eq!(result, Ok(()));
    }
}

/// The declaration in the header exports the entry of a C++ plugin without `extern "C"`.
#[test]
fn cpp_exports_the_entry_under_its_name() {
    let source = "#include <swapmeet.h>\nSwmPlugin *swapmeet_plugin(void) { static SwmPlugin plugin; return &plugin; }\n";
    if !tools::has(&["c++", "nm"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (file, library) = (dir.path().join("entry.cpp"), dir.path().join("libentry.so"));
    std::fs::write(&file, source).unwrap();
    let mut compiler = Command::new("c++");
    compiler.args(words(
        "-std=c++17 -Wall -Wextra -pedantic -Werror -shared -fPIC -fvisibility=hidden -I",
    ));
    let made =
        compiler.arg(folder().join("include")).arg("-o").arg(&library).arg(&file).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let symbols =
        Command::new("nm").args(["--dynamic", "--defined-only"]).arg(&library).output().unwrap();
    let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
    assert!(symbols.lines().any(|line| line.ends_with(" T swapmeet_plugin")), "{symbols}");
}

/// The directive `//export` of Go generates a prototype, which must agree with the one in the
/// header.
#[test]
fn a_plugin_in_go_passes_check() {
    if Command::new("go").arg("version").output().is_err() {
        tools::left_out("go", "no `go` here");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(project("tests/plugins/direct.go"), dir.path().join("direct.go")).unwrap();
    std::fs::write(dir.path().join("go.mod"), "module swapmeet.example/direct\n\ngo 1.19\n")
        .unwrap();
    let mut go = Command::new("go");
    go.args(["build", "-buildmode=c-shared", "-o", "libdirect.so", "."]).current_dir(dir.path());
    go.env("CGO_ENABLED", "1")
        .env("CGO_CFLAGS", format!("-I{}", folder().join("include").display()));
    go.env("GOFLAGS", "-mod=mod").env("GOCACHE", dir.path().join("cache")).env("GOPROXY", "off");
    let made = go.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let file = dir.path().join("libdirect.so");
    // The runtime of Go starts threads, uses signals and timers, and reserves much address space.
    // The sandbox must allow this.
    let check = ["check", file.to_str().unwrap(), "--topology", "ring:4"];
    swapmeet(&check).args(["--memory-limit", "8GiB"]).assert().success();
    let (code, rows) = rows_of(&file, "ring:4", "go-direct");
    let row = &rows[0];
    assert_eq!(
        (code, row.status, row.steps, row.messages),
        (0, Status::Ok, Some(3), Some(12)),
        "{}",
        row.reason
    );
}

/// The function of the header reads numbers as the SDK does. Numbers above 64 bits give the largest
/// value.
#[test]
fn the_header_reads_numbers_of_parameters() {
    let source = r#"
#include <string.h>
#include <swapmeet.h>
static SwmStr text(const char *s) { SwmStr out; out.ptr = (const uint8_t *)s; out.len = strlen(s); return out; }
int main(void)
{
    SwmParam params[5];
    SwmProblem problem;
    const char *given[5][2] = {{"fan", "12"}, {"fa", "7"}, {"most", "18446744073709551616"}, {"word", "12x"}, {"none", ""}};
    int i;
    memset(&problem, 0, sizeof problem);
    for (i = 0; i < 5; i++) { params[i].key = text(given[i][0]); params[i].value = text(given[i][1]); }
    problem.params = params;
    problem.param_count = 5;
    return !(swm_number(&problem, "fan", 1) == 12 && swm_number(&problem, "fa", 1) == 7 && swm_number(&problem, "f", 1) == 1
        && swm_number(&problem, "fans", 3) == 3 && swm_number(&problem, "most", 1) == UINT64_MAX
        && swm_number(&problem, "word", 5) == 5 && swm_number(&problem, "none", 6) == 6);
}
"#;
    if !tools::has(&["cc"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (file, program) = (dir.path().join("number.c"), dir.path().join("number"));
    std::fs::write(&file, source).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(words("-std=c99 -Wall -Wextra -pedantic -Werror -I"));
    compiler.arg(folder().join("include")).arg("-o").arg(&program).arg(&file);
    let made = compiler.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(Command::new(&program).status().unwrap().success());
}
