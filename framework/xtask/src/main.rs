//! Tasks for releases: `cargo run -p xtask -- dist [FOLDER]` builds the program and makes an
//! archive and a Debian package, `cargo run -p xtask -- pictures` renews the pictures of the README
//! and the docs, and `cargo run -p xtask --features header -- header` renews the C header.

use std::env::consts::{ARCH, OS};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

#[cfg(feature = "header")]
mod header;
mod layout;
mod pictures;

use layout::{Prefix, lay_out};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const USAGE: &str = "usage: cargo run -p xtask -- dist [FOLDER [BUILT]]
       cargo run -p xtask -- pictures [BUILT]
       cargo run -p xtask --features header -- header [check]
dist: build the program in release mode, or use the build in the folder BUILT, and
write an archive swapmeet-VERSION-ARCH-OS.tar.gz to FOLDER (default: target/dist).
If dpkg-deb is installed, also write a package swapmeet_VERSION_ARCH.deb.
Both contain the program, plugin files, swapmeet.h, manual pages, completions,
experiment files and docs.

pictures: run the program and write the pictures in docs/pictures.

header: generate framework/abi/include/swapmeet.h from the Rust definitions. With
check, fail if the committed file differs, and change nothing.";

type TaskResult<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let made = match words[..] {
        ["dist"] => build().and_then(|built| dist(&root().join("target/dist"), &built)),
        ["dist", folder] => build().and_then(|built| dist(Path::new(folder), &built)),
        ["dist", folder, built] => dist(Path::new(folder), Path::new(built)),
        ["pictures"] => build().and_then(|built| renew_pictures(&built)),
        ["pictures", built] => renew_pictures(Path::new(built)),
        #[cfg(feature = "header")]
        ["header"] => header::renew(root()),
        #[cfg(feature = "header")]
        ["header", "check"] => header::check(root()),
        _ => Err(USAGE.into()),
    };
    match made {
        Ok(files) => {
            print_all(&files);
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "the output of this program")]
fn print_all(files: &[PathBuf]) {
    for file in files {
        println!("{}", file.display());
    }
}

#[expect(clippy::print_stderr, reason = "the output of this program")]
fn complain(what: &str) {
    eprintln!("{what}");
}

fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

fn build() -> TaskResult<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(Command::new(cargo)
        .args(["build", "--release", "--workspace", "--locked"])
        .current_dir(root()))?;
    let built =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(root().join(built).join("release"))
}

fn renew_pictures(built: &Path) -> TaskResult<Vec<PathBuf>> {
    let program = std::path::absolute(built)?.join("swapmeet");
    pictures::pictures(&program, &root().join("docs/pictures"))
}

/// Makes an archive and a Debian package of a build. Returns the paths of both.
fn dist(folder: &Path, built: &Path) -> TaskResult<Vec<PathBuf>> {
    let folder = std::path::absolute(folder)?;
    fs::create_dir_all(&folder)?;
    let mut made = vec![archive(built, &folder)?];
    if Command::new("dpkg-deb").arg("--version").output().is_ok() {
        made.push(debian(built, &folder)?);
    } else {
        complain("no .deb file: dpkg-deb is not installed");
    }
    Ok(made)
}

fn archive(built: &Path, folder: &Path) -> TaskResult<PathBuf> {
    let name = format!("swapmeet-{VERSION}-{ARCH}-{OS}");
    let top = fresh(&folder.join(&name))?;
    lay_out(root(), built, &Prefix::new(&top))?;
    let file = folder.join(format!("{name}.tar.gz"));
    run(Command::new("tar")
        .arg("-czf")
        .arg(&file)
        .arg("-C")
        .arg(folder)
        .args(["--owner=0", "--group=0"])
        .arg(&name))?;
    fs::remove_dir_all(top)?;
    Ok(file)
}

fn debian(built: &Path, folder: &Path) -> TaskResult<PathBuf> {
    let kind = match ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let top = fresh(&folder.join("deb"))?;
    lay_out(root(), built, &Prefix::new(&top.join("usr")))?;
    fs::create_dir_all(top.join("DEBIAN"))?;
    let control = format!(
        "Package: swapmeet\nVersion: {VERSION}\nArchitecture: {kind}\nMaintainer: The Swapmeet authors <swapmeet@localhost>\nSection: science\n\
         Priority: optional\nDepends: libc6, libgcc-s1\nDescription: workbench for collective-communication algorithms\n \
         Runs algorithms for all-to-all, allgather, allreduce and other collectives on many topologies and\n machines, \
         verifies each schedule, predicts its time and compares it with others.\n"
    );
    fs::write(top.join("DEBIAN/control"), control)?;
    let file = folder.join(format!("swapmeet_{VERSION}_{kind}.deb"));
    run(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&top).arg(&file))?;
    fs::remove_dir_all(top)?;
    Ok(file)
}

fn fresh(path: &Path) -> TaskResult<PathBuf> {
    if path.exists() {
        fs::remove_dir_all(path)?;
    }
    fs::create_dir_all(path)?;
    Ok(path.to_owned())
}

fn run(command: &mut Command) -> TaskResult<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|e| format!("{name}: {e}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{name} failed: {}", output.status).into())
    }
}
