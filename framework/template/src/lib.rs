//! The files of a new plugin: a folder that can be built and passes `swapmeet check`. The SDK is
//! not published on a registry. So a folder for Rust contains the sources of the SDK and the ABI,
//! and a folder for C contains the header. Each folder can be built offline, outside of this
//! project, and without this program.

mod name;
mod workspace;

pub use name::{Name, NameError};
pub use workspace::Workspace;

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Language {
    /// Create a Rust project that uses the SDK.
    Rust,
    /// Create a C project that uses swapmeet.h.
    C,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The path within the folder, with the separator `/`.
    pub path: String,
    pub text: String,
}

#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("{0}: already exists; choose a folder that does not exist")]
    Exists(PathBuf),
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

type Source = (&'static str, &'static str);

/// The source files of the SDK and the ABI for a folder in Rust, relative to `framework`.
const SDK_SOURCES: &[Source] = include!(concat!(env!("OUT_DIR"), "/sdk_sources.rs"));

pub const HEADER: &str = include_str!("../../abi/include/swapmeet.h");
const LICENCES: [Source; 2] = [
    ("LICENSE-MIT", include_str!("../../../LICENSE-MIT")),
    ("LICENSE-APACHE", include_str!("../../../LICENSE-APACHE")),
];

const RUST: [Source; 9] = [
    (".gitignore", include_str!("../files/rust/gitignore")),
    ("Cargo.toml", include_str!("../files/rust/Cargo.toml.in")),
    ("README.md", include_str!("../files/rust/README.md")),
    ("src/lib.rs", include_str!("../files/rust/src/lib.rs.in")),
    ("tests/check.rs", include_str!("../files/rust/tests/check.rs.in")),
    ("swapmeet/README.md", include_str!("../files/carried/README.md")),
    ("swapmeet/rustfmt.toml", include_str!("../../../rustfmt.toml")),
    ("swapmeet/abi/Cargo.toml", include_str!("../files/carried/abi.toml")),
    ("swapmeet/sdk/Cargo.toml", include_str!("../files/carried/sdk.toml")),
];

const C: [Source; 4] = [
    (".gitignore", include_str!("../files/c/gitignore")),
    ("Makefile", include_str!("../files/c/Makefile")),
    ("README.md", include_str!("../files/c/README.md")),
    ("@NAME@.c", include_str!("../files/c/plugin.c.in")),
];

/// Lines of `Cargo.toml` that make a folder below another workspace a workspace of its own.
const OWN_WORKSPACE: &str = "
# The workspace above this folder does not list it, so it has its own. To make it a member of the
# workspace above, add it there and delete these lines.
[workspace]
";

/// Returns the files of a new plugin. `above` is the relation of the new folder to the Cargo
/// workspace above it.
///
/// ```
/// use swapmeet_template::{Language, Name, Workspace, files};
/// let name = Name::parse("my-ring").unwrap();
/// let files = files(&name, Language::C, &Workspace::None);
/// let source = files.iter().find(|f| f.path == "my-ring.c").unwrap();
/// assert!(source.text.contains("text(\"my-ring\")"));
/// assert!(files.iter().any(|f| f.path == "swapmeet/swapmeet.h"));
/// ```
pub fn files(name: &Name, language: Language, above: &Workspace) -> Vec<File> {
    let own_workspace = if matches!(above, Workspace::NotMember(_)) { OWN_WORKSPACE } else { "" };
    let text = |template: &str| name.fill_in(&template.replace("@WORKSPACE@", own_workspace));
    let (templates, copies): (&[Source], Vec<_>) = match language {
        Language::Rust => (
            &RUST,
            SDK_SOURCES.iter().map(|(path, text)| (format!("swapmeet/{path}"), *text)).collect(),
        ),
        Language::C => (&C, vec![("swapmeet/swapmeet.h".to_owned(), HEADER)]),
    };
    let licences = LICENCES.iter().map(|(path, text)| (format!("swapmeet/{path}"), *text));
    // In the sources of the SDK and in the licences, placeholders are not replaced.
    let copies =
        copies.into_iter().chain(licences).map(|(path, text)| File { path, text: text.to_owned() });
    templates
        .iter()
        .map(|(path, template)| File { path: name.fill_in(path), text: text(template) })
        .chain(copies)
        .collect()
}

pub fn write(folder: &Path, files: &[File]) -> Result<(), WriteError> {
    let io_error = |path: &Path| {
        let path = path.to_owned();
        move |source| WriteError::Io { path, source }
    };
    if folder.symlink_metadata().is_ok() {
        return Err(WriteError::Exists(folder.to_owned()));
    }
    let parent =
        folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Files are first written to a temporary folder, so that after an error nothing remains.
    let unfinished = tempfile::Builder::new()
        .prefix(".swapmeet-")
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(parent)
        .map_err(io_error(folder))?;
    // Without this lock, another command could take the folder for a stale one and remove it.
    let lock = std::fs::File::open(unfinished.path()).map_err(io_error(folder))?;
    drop(lock.try_lock());
    for file in files {
        let (path, shown) = (unfinished.path().join(&file.path), folder.join(&file.path));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(io_error(&shown))?;
        }
        std::fs::write(&path, &file.text).map_err(io_error(&shown))?;
    }
    // `rename` replaces only an empty folder, so it cannot overwrite the files of another program.
    std::fs::rename(unfinished.path(), folder).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists
        | io::ErrorKind::DirectoryNotEmpty
        | io::ErrorKind::NotADirectory => WriteError::Exists(folder.to_owned()),
        _ => io_error(folder)(source),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files_for(language: Language) -> Vec<File> {
        files(&Name::parse("a-b2").unwrap(), language, &Workspace::None)
    }

    #[test]
    fn all_placeholders_are_replaced() {
        for file in files_for(Language::Rust).into_iter().chain(files_for(Language::C)) {
            assert!(!file.path.contains('@'), "{}", file.path);
            assert!(
                !["@NAME@", "@ident@", "@Type@", "@VERSION@", "@RUST@", "@WORKSPACE@"]
                    .iter()
                    .any(|p| file.text.contains(p)),
                "{}",
                file.path
            );
        }
    }

    #[test]
    fn all_sources_of_abi_and_sdk_are_included() {
        let files = files_for(Language::Rust);
        let has = |path: &str| files.iter().any(|f| f.path == path);
        for path in [
            "swapmeet/abi/src/lib.rs",
            "swapmeet/abi/src/layout.rs",
            "swapmeet/sdk/src/lib.rs",
            "swapmeet/sdk/src/export.rs",
        ] {
            assert!(has(path), "{path} is missing");
        }
    }

    #[test]
    fn a_readme_has_at_most_40_lines() {
        for file in files_for(Language::Rust)
            .into_iter()
            .chain(files_for(Language::C))
            .filter(|f| f.path == "README.md")
        {
            assert!(file.text.lines().count() <= 40, "{} lines", file.text.lines().count());
        }
    }

    #[test]
    fn existing_folders_are_not_overwritten() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a-b2");
        write(&folder, &files_for(Language::C)).unwrap();
        let error = write(&folder, &files_for(Language::C)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{}: already exists; choose a folder that does not exist", folder.display())
        );
    }
}
