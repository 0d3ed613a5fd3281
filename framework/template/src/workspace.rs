//! The relation of a new folder to the Cargo workspaces in the folders above it. Cargo refuses to
//! build the folder in two cases: if a workspace lists it as a member and it is itself a workspace,
//! and if it is below a workspace that does not list it and it is not itself a workspace.

use std::path::{Component, Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Workspace {
    None,
    /// The workspace in the folder with this path lists the new folder as a member.
    Member(PathBuf),
    /// The workspace in the folder with this path does not list the new folder.
    NotMember(PathBuf),
}

impl Workspace {
    /// Returns the relation of `folder`, which need not exist, to the nearest workspace above it.
    pub fn above(folder: &Path) -> Self {
        let Ok(folder) = std::path::absolute(folder) else { return Self::None };
        for root in folder.ancestors().skip(1) {
            let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
            let Ok(manifest) = manifest.parse::<toml::Table>() else { continue };
            let Some(workspace) = manifest.get("workspace") else { continue };
            let Ok(within) = folder.strip_prefix(root) else { continue };
            let lists = |key: &str| {
                let patterns = workspace.get(key).and_then(toml::Value::as_array);
                patterns
                    .into_iter()
                    .flatten()
                    .filter_map(toml::Value::as_str)
                    .any(|pattern| matches(pattern, within))
            };
            let root = root.to_owned();
            return if lists("members") && !lists("exclude") {
                Self::Member(root)
            } else {
                Self::NotMember(root)
            };
        }
        Self::None
    }
}

/// Returns whether a path matches a pattern in a list of workspace members. The components of both
/// are compared one by one. In a component of the pattern, `*` stands for any letters.
fn matches(pattern: &str, path: &Path) -> bool {
    let names = |path: &Path| -> Vec<String> {
        let normal = |c: Component<'_>| {
            matches!(c, Component::Normal(_)).then(|| c.as_os_str().to_string_lossy().into())
        };
        path.components().filter_map(normal).collect()
    };
    let (wanted, found) = (names(Path::new(pattern)), names(path));
    wanted.len() == found.len()
        && wanted.iter().zip(&found).all(|(wanted, found)| is_like(wanted, found))
}

fn is_like(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((first, rest)) => name.strip_prefix(first).is_some_and(|name| {
            name.char_indices()
                .map(|(at, _)| at)
                .chain([name.len()])
                .any(|at| is_like(rest, &name[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_match_by_name_or_pattern() {
        for (pattern, path, is_one) in [
            ("my-ring", "my-ring", true),
            ("./my-ring", "my-ring", true),
            ("*", "my-ring", true),
            ("plugins/*", "plugins/my-ring", true),
            ("plugins/my-*g", "plugins/my-ring", true),
            ("plugins/*", "my-ring", false),
            ("*", "plugins/my-ring", false),
            ("my-rin", "my-ring", false),
            ("", "my-ring", false),
        ] {
            assert_eq!(matches(pattern, Path::new(path)), is_one, "{pattern} {path}");
        }
    }

    #[test]
    fn the_nearest_workspace_is_found() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("plugins/my-ring");
        assert_eq!(Workspace::above(&folder), Workspace::None);
        let manifest = |text: &str| std::fs::write(root.path().join("Cargo.toml"), text).unwrap();
        manifest("[workspace]\nmembers = [\"other\"]\n");
        assert_eq!(Workspace::above(&folder), Workspace::NotMember(root.path().to_owned()));
        manifest("[workspace]\nmembers = [\"plugins/*\"]\n");
        assert_eq!(Workspace::above(&folder), Workspace::Member(root.path().to_owned()));
        manifest("[workspace]\nmembers = [\"plugins/*\"]\nexclude = [\"plugins/my-ring\"]\n");
        assert_eq!(Workspace::above(&folder), Workspace::NotMember(root.path().to_owned()));
    }
}
