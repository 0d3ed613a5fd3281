//! The installed program in four forms: a single file that includes its plugins, the archive, the
//! Debian package, and the Python wheel.

use crate::support::tools::{has, left_out, runs_all};
use crate::support::{timeless_rows, words};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use swapmeet_results::Record;
use swapmeet_tests::{build_workspace, plugin_file, program, project};
use tempfile::tempdir;

fn run(program: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command
        .args(args)
        .env_remove("SWAPMEET_PLUGIN_PATH")
        .env("XDG_DATA_HOME", "/nonexistent")
        .env("NO_COLOR", "1");
    command.output().unwrap()
}

fn printed(output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn quick_start(program: &Path) -> Vec<Record> {
    let dir = tempdir().unwrap();
    let (rows, experiment) =
        (dir.path().join("rows.csv"), project("workloads/experiments/quick-start.toml"));
    printed(&run(
        program,
        &["run", experiment.to_str().unwrap(), "--quiet", "--out", rows.to_str().unwrap()],
    ));
    let rows = timeless_rows(&rows);
    assert!(
        rows.iter().all(|row| !row.plugin_digest.is_empty()),
        "a row says which build it is of"
    );
    rows.into_iter().map(|row| Record { plugin_digest: String::new(), ..row }).collect()
}

fn plugins(program: &Path) -> BTreeSet<(String, String)> {
    let list = printed(&run(program, &["list", "plugins", "--format", "csv"]));
    let mut reader = csv::Reader::from_reader(list.as_bytes());
    reader.records().map(Result::unwrap).map(|row| (row[0].to_owned(), row[6].to_owned())).collect()
}

fn names(plugins: &BTreeSet<(String, String)>) -> BTreeSet<String> {
    plugins.iter().map(|(name, _)| name.clone()).collect()
}

#[test]
fn the_program_alone_contains_every_bundled_algorithm() {
    let dir = tempdir().unwrap();
    let alone = dir.path().join("swapmeet");
    std::fs::copy(program(), &alone).unwrap();
    let beside = dir.path().join("beside");
    std::fs::create_dir(&beside).unwrap();
    let with_files = beside.join("swapmeet");
    std::fs::copy(program(), &with_files).unwrap();
    for name in names(&plugins(&alone)) {
        let file = plugin_file(&format!("swapmeet_plugin_{}", name.replace('-', "_")));
        std::fs::copy(&file, beside.join(file.file_name().unwrap())).unwrap();
    }
    let (files, linked) = (plugins(&with_files), plugins(&alone));
    assert!(files.iter().all(|(_, origin)| origin == "beside the program"), "{files:?}");
    assert!(linked.iter().all(|(_, origin)| origin == "in the program"), "{linked:?}");
    assert_eq!(
        names(&linked),
        names(&files),
        "a bundled plugin is a row of `framework/cli/src/bundled.rs`"
    );
    assert_eq!(quick_start(&alone), quick_start(&with_files));
    // The sandbox of `reproduce` does not permit reading the program file. The plugins in this file
    // must be found nevertheless.
    let pages = dir.path().join("pages");
    printed(&run(&alone, &["reproduce", "tpu-v4", "--out", pages.to_str().unwrap()]));
    let page = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert_eq!(page(&pages.join("tpu-v4.md")), page(&project("results/reproduced/tpu-v4.md")));
}

#[test]
fn plugin_files_take_precedence_over_linked_plugins() {
    let dir = tempdir().unwrap();
    let alone = dir.path().join("swapmeet");
    std::fs::copy(program(), &alone).unwrap();
    let file = plugin_file("swapmeet_plugin_classic");
    let list = printed(&run(
        &alone,
        &[
            "list",
            "algorithms",
            "--plugin-dir",
            file.to_str().unwrap(),
            "--replace-bundled",
            "--format",
            "csv",
        ],
    ));
    assert!(list.contains("\nbruck,"), "{list}");
    let rows = dir.path().join("rows.csv");
    let case =
        words("run --topology ring:4 --algorithm bruck --workload uniform:8 --machine paragon");
    let digest = |more: &[&str]| {
        let out = ["--quiet", "--force", "--out", rows.to_str().unwrap()];
        printed(&run(&alone, &[&case[..], &out, more].concat()));
        timeless_rows(&rows)[0].plugin_digest.clone()
    };
    assert_ne!(digest(&["--plugin-dir", file.to_str().unwrap(), "--replace-bundled"]), digest(&[]));
}

/// Runs `dist` on the tested build. Returns the archive and, if Debian's tools are installed, the
/// package.
fn dist(folder: &Path) -> Vec<PathBuf> {
    let mut xtask = Command::new(build_workspace().join("xtask"));
    // To compress the package takes half a minute. Compression is not tested here, so it is
    // switched off.
    xtask.arg("dist").arg(folder).arg(build_workspace()).env("DPKG_DEB_COMPRESSOR_TYPE", "none");
    printed(&xtask.output().unwrap()).lines().map(PathBuf::from).collect()
}

#[test]
fn archive_and_package_are_complete_and_run() {
    if !runs_all() {
        return;
    }
    let dir = tempdir().unwrap();
    let made = dist(dir.path());
    let here = quick_start(program());
    let prefix = dir.path().join("unpacked");
    for file in &made {
        std::fs::create_dir(&prefix).unwrap();
        let (mut unpack, below) = if file.extension().is_some_and(|e| e == "deb") {
            let mut unpack = Command::new("dpkg-deb");
            unpack.arg("-x").arg(file).arg(&prefix);
            (unpack, "usr".to_owned())
        } else {
            let mut unpack = Command::new("tar");
            unpack.arg("-xzf").arg(file).arg("-C").arg(&prefix);
            (unpack, file.file_name().unwrap().to_string_lossy().replace(".tar.gz", ""))
        };
        printed(&unpack.output().unwrap());
        let top = prefix.join(below);
        for part in words(
            "bin/swapmeet include/swapmeet.h share/man/man1/swapmeet.1 share/man/man1/swapmeet-run.1 \
            share/bash-completion/completions/swapmeet share/zsh/site-functions/_swapmeet \
            share/fish/vendor_completions.d/swapmeet.fish share/swapmeet/experiments/quick-start.toml \
            share/doc/swapmeet/README.md share/doc/swapmeet/docs/plugin-guide.md \
            share/doc/swapmeet/docs/pictures/winners.svg",
        ) {
            assert!(
                top.join(part).metadata().is_ok_and(|m| m.len() > 0),
                "{} lacks {part}",
                file.display()
            );
        }
        let program = top.join("bin/swapmeet");
        assert!(plugins(&program).iter().all(|(_, origin)| origin == "beside the program"));
        assert_eq!(quick_start(&program), here, "from {}", file.display());
        std::fs::remove_dir_all(&prefix).unwrap();
    }
    let is_package = |file: &PathBuf| file.extension().is_some_and(|e| e == "deb");
    assert_eq!(
        made.iter().filter(|file| is_package(file)).count(),
        usize::from(has(&["dpkg-deb"]))
    );
}

/// A script that reads rows in Python. The rows have columns of several types, an empty value, a
/// total beyond 64 bits, and a text to which an apostrophe was added in front. A second file is
/// from an older version.
const READ: &str = r#"
import sys, swapmeet
rows = swapmeet.read(sys.argv[1])
kinds = swapmeet.columns()
assert list(rows.columns) == list(kinds), list(rows.columns)
assert str(rows.time_us.dtype) == "float64" and str(rows.steps.dtype) == "UInt64" and str(rows.algorithm.dtype) == "string"
assert len(rows) == 42 and (rows.status == "ok").all(), rows
assert rows.block_bytes.tolist()[:6:2] == [64, 1024, 16384], rows.block_bytes
assert rows.reduction_us.isna().all()
text = open(sys.argv[1]).read().splitlines()
head = text[0].split(",")
cells = text[1].split(",")
cells[head.index("total_bytes")] = str(2**70)
cells[head.index("experiment")] = "'=1+1"
open("odd.csv", "w").write("\n".join([text[0], ",".join(cells)]) + "\n")
odd = swapmeet.read("odd.csv")
assert odd.total_bytes[0] == 2.0**70 and odd.experiment[0] == "=1+1"
cells[head.index("workload")] = "moe:experts=16,top=2,tokens=64,bytes=7KiB,skew=1.5"
cells[head.index("machine")] = "free:startup_us=2,ports=all"
cells[head.index("topology")] = "rdn:1(jellyfish:8x3x1,seed=2),ranks=2"
open("odd.csv", "w").write("\n".join([text[0], ",".join(f'"{cell}"' for cell in cells), text[2]]) + "\n")
odd = swapmeet.read("odd.csv")
assert list(odd.columns)[len(kinds):] == ["experts", "top", "tokens", "bytes", "skew", "ranks", "machine.startup_us"], list(odd.columns)
assert (odd.tokens[0], odd.bytes[0], odd["machine.startup_us"][0]) == (64, 7168, 2), odd
assert odd.skew[0] == 1.5 and odd.skew.isna()[1], odd
cells[head.index("steps")] = "many"
open("bad.csv", "w").write("\n".join([text[0], ",".join(f'"{cell}"' for cell in cells)]) + "\n")
for wrong, expected in [("bad.csv", "bad.csv:2: steps: 'many', expected a whole number"), (__file__, "no rows of swapmeet")]:
    try:
        swapmeet.read(wrong)
    except ValueError as message:
        assert expected in str(message), message
    else:
        raise SystemExit(f"{wrong} was read")
"#;

#[test]
fn pip_installs_a_wheel_that_runs_and_reads_rows() {
    if !runs_all() {
        return;
    }
    let dir = tempdir().unwrap();
    let python = dir.path().join("python/bin/python");
    let venv = ["-m", "venv", "--without-pip"];
    let made = Command::new("python3").args(venv).arg(dir.path().join("python")).output();
    if !made.is_ok_and(|made| made.status.success()) {
        return left_out("python3", "no `python3` with venv");
    }
    // The `pip` from outside of the virtual environment installs packages into it. To install
    // another `pip`, or to compile all modules of pandas, would take several times as long as
    // building the wheel.
    let pip = || {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "--python"]).arg(&python).args(["install", "-q", "--no-compile"]);
        pip
    };
    let needed = pip().args(["setuptools>=70.1", "pandas"]).output().unwrap();
    if !needed.status.success() {
        return left_out("pip", "pip gets neither setuptools nor pandas");
    }
    // Build from a copy, because setuptools leaves files in the source folder.
    let source = dir.path().join("source");
    printed(
        &Command::new("cp")
            .arg("-r")
            .arg(project("framework/python"))
            .arg(&source)
            .output()
            .unwrap(),
    );
    let mut wheel = pip();
    wheel.arg("--no-build-isolation").arg(&source).env("SWAPMEET_BUILT", build_workspace());
    printed(&wheel.output().unwrap());
    let installed = dir.path().join("python/bin/swapmeet");
    assert_eq!(quick_start(&installed), quick_start(program()));
    let rows = dir.path().join("rows.csv");
    let experiment = project("workloads/experiments/quick-start.toml");
    printed(&run(
        &installed,
        &["run", experiment.to_str().unwrap(), "--quiet", "--out", rows.to_str().unwrap()],
    ));
    let script = dir.path().join("read.py");
    std::fs::write(&script, READ).unwrap();
    printed(
        &Command::new(&python).arg(script).arg(&rows).current_dir(dir.path()).output().unwrap(),
    );
}
