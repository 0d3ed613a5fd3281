//! A bundle is a folder with the rows of a run and all that is needed to repeat its cases.
//! A row contains the digests of its input files and of its plugin. In the folder `inputs` of a
//! bundle, the name of each file is the digest of its content. If a spec names several files
//! (`matrix:DIR/*.csv`), the file with the digest in the row is a list of these.

use crate::failure::Failure;
use crate::output;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use swapmeet_results::{Record, inputs};
use swapmeet_runner::case::CaseGrid;
use swapmeet_runner::registry::Registry;
use swapmeet_workloads::{digest, file};
use tempfile::TempDir;

pub(crate) const ROWS: &str = "rows.csv";
/// The folder of the input files. It is in the same folder as the file of rows.
const INPUTS: &str = "inputs";

fn name_of(digest: &str) -> &str {
    digest.strip_prefix("sha256:").unwrap_or(digest)
}

pub(crate) fn keep_inputs(
    folder: &Path,
    all: &CaseGrid,
    registry: &Registry,
) -> Result<(), Failure> {
    let folder = folder.join(INPUTS);
    fs::create_dir_all(&folder).map_err(|e| Failure::file(&folder, &e))?;
    for input in all.inputs() {
        if !input.file.contains('*') {
            keep(&folder, Path::new(&input.file), &input.digest)?;
            continue;
        }
        // If the spec has a pattern, its digest is that of the list of the matching files.
        let named = |why: String| Failure::Usage(format!("{}: {why}", input.file));
        let mut list = String::new();
        for path in file::files(&input.file).map_err(named)? {
            let content = fs::read(&path).map_err(|e| Failure::file(&path, &e))?;
            let digest = digest(&content);
            list += &format!("{}={digest}\n", path.to_string_lossy());
            write(&folder, &content, &digest)?;
        }
        check(Path::new(&input.file), list.as_bytes(), &input.digest)?;
        write(&folder, list.as_bytes(), &input.digest)?;
    }
    let bundled: BTreeSet<&str> = registry.bundled_digests().collect();
    for algorithm in all.algorithms().filter(|a| !bundled.contains(&*a.plugin.digest)) {
        keep(&folder, &algorithm.file, &algorithm.plugin.digest)?;
    }
    Ok(())
}

fn keep(folder: &Path, path: &Path, digest: &str) -> Result<(), Failure> {
    let content = fs::read(path).map_err(|e| Failure::file(path, &e))?;
    check(path, &content, digest)?;
    write(folder, &content, digest)
}

fn check(path: &Path, content: &[u8], expected: &str) -> Result<(), Failure> {
    match digest(content) == expected {
        true => Ok(()),
        false => Err(Failure::Output(format!("{}: changed since it was read", path.display()))),
    }
}

fn write(folder: &Path, content: &[u8], digest: &str) -> Result<(), Failure> {
    output::file(&folder.join(name_of(digest)), |out| out.write_all(content))
}

pub(crate) struct Bundle {
    folder: PathBuf,
    staging: TempDir,
}

struct Renamed {
    original: (String, String),
    copy: (String, String),
}

/// A row in whose specs the names of input files are replaced by those in the bundle.
pub(crate) struct Restored {
    pub row: Record,
    renamed: Vec<Renamed>,
}

impl Bundle {
    pub(crate) fn beside(rows: &Path) -> Result<Option<Self>, Failure> {
        let folder = rows.with_file_name(INPUTS);
        if !folder.is_dir() {
            return Ok(None);
        }
        let staging = tempfile::tempdir().map_err(|e| Failure::file(&std::env::temp_dir(), &e))?;
        Ok(Some(Self { folder, staging }))
    }

    pub(crate) fn plugin(&self, digest: &str) -> Option<PathBuf> {
        let file = self.folder.join(name_of(digest));
        (!digest.is_empty() && file.is_file()).then_some(file)
    }

    /// Replaces the names of input files in the specs of a row by those in the bundle. Errors if a
    /// file does not have the digest in the row.
    pub(crate) fn restored(&self, row: &Record) -> Result<Restored, String> {
        let mut renamed = Vec::new();
        for (name, digest) in inputs(&row.inputs) {
            let file = self.folder.join(name_of(digest));
            if !file.is_file() {
                continue;
            }
            let copy = match name.contains('*') {
                true => self.staged(&file, digest)?,
                false => {
                    checked(&file, digest)?;
                    (text(&file)?, digest.to_owned())
                }
            };
            let entry = |name: &str, digest: &str| format!("{name}={digest}");
            renamed.push(Renamed {
                original: (name.to_owned(), entry(name, digest)),
                copy: (copy.0.clone(), entry(&copy.0, &copy.1)),
            });
        }
        let mut row = row.clone();
        for Renamed { original: (name, _), copy: (copy, _) } in &renamed {
            for spec in [
                &mut row.topology,
                &mut row.workload,
                &mut row.algorithm,
                &mut row.machine,
                &mut row.machine_definition,
                &mut row.together,
            ] {
                *spec = replaced(spec, name, copy);
            }
        }
        Ok(Restored { row, renamed })
    }

    /// Copies the files of a list to a folder. Returns a pattern of the copies, and its digest.
    fn staged(&self, list: &Path, digest: &str) -> Result<(String, String), String> {
        let folder = self.staging.path().join(name_of(digest));
        let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
        fs::create_dir_all(&folder).map_err(failed)?;
        let mut renamed = String::new();
        let content = String::from_utf8_lossy(&checked(list, digest)?).into_owned();
        for (number, (_, of_file)) in content.lines().flat_map(inputs).enumerate() {
            let content = checked(&self.folder.join(name_of(of_file)), of_file)?;
            let copy = folder.join(format!("{number:06}"));
            fs::write(&copy, content).map_err(failed)?;
            renamed += &format!("{}={of_file}\n", copy.to_string_lossy());
        }
        Ok((text(&folder.join("*"))?, swapmeet_workloads::digest(renamed.as_bytes())))
    }
}

impl Restored {
    pub(crate) fn with_original_names(&self, mut again: Record) -> Record {
        for Renamed { original: (name, entry), copy: (copy, entry_of_copy) } in &self.renamed {
            again.inputs = again.inputs.replace(entry_of_copy, entry);
            for text in [
                &mut again.topology,
                &mut again.workload,
                &mut again.algorithm,
                &mut again.machine,
                &mut again.machine_definition,
                &mut again.together,
                &mut again.reason,
                &mut again.note,
            ] {
                *text = text.replace(copy, name);
            }
        }
        again
    }
}

/// Errors if the file does not have the expected digest.
fn checked(file: &Path, expected: &str) -> Result<Vec<u8>, String> {
    let content = fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    match digest(&content) == expected {
        true => Ok(content),
        false => Err(format!("{} does not have the digest {expected}", file.display())),
    }
}

fn text(path: &Path) -> Result<String, String> {
    let text = path.to_string_lossy().into_owned();
    match text.contains([',', '=', '"', '\'', '(', ')']) {
        false => Ok(text),
        true => Err(format!("{text}: a spec cannot name this path: move the bundle")),
    }
}

/// Replaces a file name in a spec. Other parts stay unchanged, even if they have the same text.
fn replaced(spec: &str, name: &str, copy: &str) -> String {
    const BEFORE: [&str; 6] = ["=", "graph:", "file:", "matrix:", "fractions:", "tokens:"];
    let mut text = String::new();
    let mut rest = spec;
    while let Some(at) = rest.find(name) {
        let (before, found) = rest.split_at(at);
        let after = &found[name.len()..];
        text += before;
        let is_value = BEFORE.iter().any(|start| text.ends_with(start))
            && (after.is_empty() || after.starts_with([',', ')', ' ']));
        text += if is_value { copy } else { name };
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_are_replaced() {
        let texts = [
            ("graph:net.txt,down=0-1", "graph:N,down=0-1"),
            ("rdn:1(graph:net.txt)", "rdn:1(graph:N)"),
            ("schedule:file=net.txt", "schedule:file=N"),
            ("graph:my-net.txt", "graph:my-net.txt"),
            ("graph:net.txt.old", "graph:net.txt.old"),
            ("net.txt:file=net.txt", "net.txt:file=N"),
        ];
        for (spec, expected) in texts {
            assert_eq!(replaced(spec, "net.txt", "N"), expected);
        }
        assert_eq!(replaced("ring:4", "4", "N"), "ring:4");
    }
}
