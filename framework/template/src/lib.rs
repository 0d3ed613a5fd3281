//! A third party's starting point: a plugin's folder that builds, is tested and passes `swapmeet
//! check` as it is.
//!
//! The SDK is on no registry, so a folder in Rust carries the sources of the SDK and of the
//! boundary, and a folder in C the header: each is whole, builds offline and outside this project,
//! and stays buildable whatever becomes of the program that made it.

mod name;
mod workspace;

pub use name::{Name, NameError};
pub use workspace::Workspace;

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The language of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Rust, with the SDK.
    Rust,
    /// C, with the header.
    C,
}

/// A file of the new folder: its path in the folder, with `/`, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Where it lies in the folder.
    pub path: String,
    pub text: String,
}

/// Why a folder was not made.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There is something of that name.
    #[error("{0}: exists already; a new plugin goes into a folder of its own")]
    Exists(PathBuf),
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// A file's path and its text.
type Source = (&'static str, &'static str);

/// Sources that a folder in Rust carries, by their path below `framework`.
const CARRIED: &[Source] = include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// The boundary as C knows it.
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

/// What keeps a folder out of a workspace above it.
const OWN_WORKSPACE: &str = "
# A workspace of its own: one above this folder does not list it. To make it a member there, delete these lines.
[workspace]
";

/// The files of a new plugin, in a folder that so stands to the workspaces above it.
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
    let own_workspace = if matches!(above, Workspace::Stranger(_)) { OWN_WORKSPACE } else { "" };
    let text = |template: &str| name.put_into(&template.replace("@WORKSPACE@", own_workspace));
    let (own, carried): (&[Source], Vec<_>) = match language {
        Language::Rust => (
            &RUST,
            CARRIED.iter().map(|(path, text)| (format!("swapmeet/{path}"), *text)).collect(),
        ),
        Language::C => (&C, vec![("swapmeet/swapmeet.h".to_owned(), HEADER)]),
    };
    let licences = LICENCES.iter().map(|(path, text)| (format!("swapmeet/{path}"), *text));
    // What is carried is carried word for word.
    let carried = carried
        .into_iter()
        .chain(licences)
        .map(|(path, text)| File { path, text: text.to_owned() });
    own.iter()
        .map(|(path, template)| File { path: name.put_into(path), text: text(template) })
        .chain(carried)
        .collect()
}

/// Writes the files into `folder`, which must not exist yet.
pub fn write(folder: &Path, files: &[File]) -> Result<(), WriteError> {
    let refused = |path: &Path| {
        let path = path.to_owned();
        move |source| WriteError::Io { path, source }
    };
    if folder.symlink_metadata().is_ok() {
        return Err(WriteError::Exists(folder.to_owned()));
    }
    let parent =
        folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Beside its place, so that nothing is left of a folder that could not be finished.
    let unfinished = tempfile::Builder::new()
        .prefix(".swapmeet-")
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(parent)
        .map_err(refused(folder))?;
    for file in files {
        let (path, shown) = (unfinished.path().join(&file.path), folder.join(&file.path));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(refused(&shown))?;
        }
        std::fs::write(&path, &file.text).map_err(refused(&shown))?;
    }
    // Whoever makes a folder there meanwhile keeps it: only an empty one can be replaced.
    std::fs::rename(unfinished.path(), folder).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists
        | io::ErrorKind::DirectoryNotEmpty
        | io::ErrorKind::NotADirectory => WriteError::Exists(folder.to_owned()),
        _ => refused(folder)(source),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(language: Language) -> Vec<File> {
        files(&Name::parse("a-b2").unwrap(), language, &Workspace::None)
    }

    #[test]
    fn every_placeholder_is_filled_in() {
        for file in of(Language::Rust).into_iter().chain(of(Language::C)) {
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
    fn the_boundary_and_the_sdk_are_carried_whole() {
        let files = of(Language::Rust);
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
    fn a_readme_is_one_screen() {
        for file in
            of(Language::Rust).into_iter().chain(of(Language::C)).filter(|f| f.path == "README.md")
        {
            assert!(file.text.lines().count() <= 40, "{} lines", file.text.lines().count());
        }
    }

    #[test]
    fn nothing_is_written_over() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a-b2");
        write(&folder, &of(Language::C)).unwrap();
        let error = write(&folder, &of(Language::C)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{}: exists already; a new plugin goes into a folder of its own",
                folder.display()
            )
        );
    }
}
