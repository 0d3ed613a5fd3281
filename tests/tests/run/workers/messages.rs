//! Messages that a plugin writes to the socket of its worker.

use crate::support::{compile_c, rows, torture};
use std::process::{Command, Output};
use swapmeet_results::Status;
use swapmeet_tests::program;
use tempfile::tempdir;

#[test]
fn forged_texts_are_escaped_in_rows() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let file = file.to_str().unwrap();
    let found = rows(&["--plugin-dir", file, "--topology", "ring:4", "--algorithm", "escapes"]);
    let found: Vec<_> = found.iter().map(|row| (row.status, row.reason.as_str())).collect();
    assert_eq!(found, [(Status::Error, "a\\u{1b}[31m\\u{0}\\r\\u{202e}")]);
}

/// The plugin writes 250 MB of numbers, or announces a text of 250 MB. The numbers would take 4 GB
/// as a list. The main program needs less than 256 MiB of address space.
#[test]
fn messages_have_a_maximum_size() {
    let dir = tempdir().unwrap();
    let Some(file) = torture(dir.path()) else { return };
    let out = dir.path().join("out");
    let of = ["--topology", "ring:4", "--timeout", "60"];
    let of = [&of[..], &["--plugin-dir", file.to_str().unwrap()]].concat();
    let export = ["export", "--format", "goal", "--out", out.to_str().unwrap()];
    for (algorithm, command) in [
        ("swells", &["trace", "--summary"][..]),
        ("swells", &["trace", "--format", "json"]),
        ("swells", &export),
        ("announces", &export),
    ] {
        let output = small(&[command, &of, &["--algorithm", algorithm]].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}: {message}");
        let reason = "crashed: invalid reply from the worker process: a line of more than 1 MiB, \
                      expected a shorter one\n";
        assert!(message.ends_with(reason), "{message}");
    }
}

/// The description of a plugin file has 16 MB of numbers. The main program must not need more than
/// 256 MiB of address space to parse it.
#[test]
fn a_description_is_parsed_within_a_limit() {
    let dir = tempdir().unwrap();
    let refused = |name: &str, deed: &str| {
        let macros = [("AT_LOAD", deed), ("_DEFAULT_SOURCE", "1")];
        let file = compile_c("tests/plugins/loading.c", dir.path(), name, &macros)?;
        let output = small(&["list", "plugins", "--plugin-dir", file.to_str().unwrap()]);
        Some(String::from_utf8(output.stderr).unwrap())
    };
    let numbers = "static char b[16000004]; size_t i; int fd; \
                   for (i = 0; i < 16000000; i++) b[i] = \"[0,\"[i == 0 ? 0 : 2 - i % 2]; \
                   memcpy(b + i, \"0]\\n\", 3); \
                   for (fd = 3; fd < 16; fd++) { size_t at = 0; ssize_t n; \
                   while (at < i + 3 && (n = write(fd, b + at, i + 3 - at)) > 0) at += (size_t)n; }";
    let Some(message) = refused("numbers", numbers) else { return };
    let invalid = "its description cannot be read: invalid reply from the worker process: expected \
                   value at line 1 column 1";
    assert!(message.contains(invalid), "{message}");
    let endless = "static char b[1 << 20]; int fd = 3, i = 0; memset(b, 'x', sizeof b); \
                   while (fd < 16) if (i++ == 64 || write(fd, b, sizeof b) < 0) { fd++; i = 0; }";
    let message = refused("endless", endless).unwrap();
    assert!(message.contains("a line of more than 16 MiB, expected a shorter one"), "{message}");
}

fn small(args: &[&str]) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 262144; exec \"$0\" \"$@\""]).arg(program());
    shell.args(args).env("XDG_DATA_HOME", "/nonexistent").env("XDG_CACHE_HOME", "/nonexistent");
    shell.output().unwrap()
}
