//! The files of an installation, and their places below a prefix.

use crate::TaskResult;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root folder of an installation. It is for instance `/usr`, or the top folder of an archive.
pub(crate) struct Prefix(PathBuf);

impl Prefix {
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    fn folder(&self, below: &str) -> TaskResult<PathBuf> {
        let path = self.0.join(below);
        fs::create_dir_all(&path)?;
        Ok(path)
    }
}

/// Copies the files of an installation to `prefix`. `root` is the root of the checkout, and `built`
/// is the folder with the results of the build.
pub(crate) fn lay_out(root: &Path, built: &Path, prefix: &Prefix) -> TaskResult<()> {
    let program = prefix.folder("bin")?.join("swapmeet");
    copy(&built.join("swapmeet"), &program)?;
    strip(&program);
    // The program searches this folder, relative to its own folder, for plugins.
    let plugins = prefix.folder("lib/swapmeet/plugins")?;
    let is_plugin = |name: &str| {
        name.starts_with("libswapmeet_plugin_") && name.ends_with(std::env::consts::DLL_SUFFIX)
    };
    for file in files(built, is_plugin)? {
        let to = plugins.join(name(&file));
        copy(&file, &to)?;
        strip(&to);
    }
    fs::write(prefix.folder("include")?.join("swapmeet.h"), output_of(&program, &["header"])?)?;
    let manuals = prefix.folder("share/man/man1")?;
    output_of(&program, &["man", "--force", "--out", &manuals.to_string_lossy()])?;
    for (shell, place, file) in [
        ("bash", "share/bash-completion/completions", "swapmeet"),
        ("zsh", "share/zsh/site-functions", "_swapmeet"),
        ("fish", "share/fish/vendor_completions.d", "swapmeet.fish"),
    ] {
        fs::write(prefix.folder(place)?.join(file), output_of(&program, &["completions", shell])?)?;
    }
    let experiments = prefix.folder("share/swapmeet/experiments")?;
    for file in files(&root.join("workloads/experiments"), |_| true)? {
        copy(&file, &experiments.join(name(&file)))?;
    }
    let docs = prefix.folder("share/doc/swapmeet")?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "CITATION.cff"] {
        copy(&root.join(file), &docs.join(file))?;
    }
    let pages = prefix.folder("share/doc/swapmeet/docs")?;
    for file in files(&root.join("docs"), |name| name.ends_with(".md"))? {
        copy(&file, &pages.join(name(&file)))?;
    }
    let pictures = prefix.folder("share/doc/swapmeet/docs/pictures")?;
    for file in files(&root.join("docs/pictures"), |_| true)? {
        copy(&file, &pictures.join(name(&file)))?;
    }
    Ok(())
}

fn files(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> TaskResult<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() && is_wanted(&entry.file_name().to_string_lossy()) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn name(file: &Path) -> &OsStr {
    file.file_name().unwrap_or_default()
}

fn copy(from: &Path, to: &Path) -> TaskResult<()> {
    fs::copy(from, to)
        .map(drop)
        .map_err(|e| format!("{} to {}: {e}", from.display(), to.display()).into())
}

/// If the program `strip` is available, removes debugging information from a file, so that an
/// installation takes a quarter of the space. Names of functions remain, for backtraces.
fn strip(file: &Path) {
    // The result is ignored. If `strip` fails, the file is only larger.
    drop(Command::new("strip").arg("--strip-debug").arg(file).output());
}

fn output_of(program: &Path, args: &[&str]) -> TaskResult<Vec<u8>> {
    let output = Command::new(program)
        .args(args)
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!(
            "{} {}: {}",
            program.display(),
            args.join(" "),
            String::from_utf8_lossy(&output.stderr)
        )
        .into())
    }
}
