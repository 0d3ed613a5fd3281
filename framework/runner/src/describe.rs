//! Reads the descriptions of plugin files: names, versions and algorithms. Loading a library runs
//! its code, so each file is loaded in a child process of its own. The child processes run in
//! parallel, so that a slow or broken plugin does not delay the others. A description is cached
//! until its file changes, because reading a large file is slow.

use crate::isolation::{self, ChildLimits};
use crate::limits::MemoryLimit;
use crate::max_bytes;
use crate::plugin::file::{Stamp, digest_of};
use crate::plugin::{Plugin, PluginError, linked};
use crate::sandbox::{self, FileAccess};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use swapmeet_core::text::escaped;
use swapmeet_results::atomic_file;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginReader {
    /// Files are loaded in this process. This is only used by processes that run plugins anyway.
    InProcess,
    Child {
        /// A program that calls [`serve`], and its first arguments. Options and the plugin file are
        /// appended.
        command: Vec<PathBuf>,
        memory_limit: u64,
    },
}

/// The default limit of a child's address space. The runtime of Go alone reserves more than half of
/// it.
pub const READER_MEMORY: u64 = 2 << 30;

type Description = Result<Plugin, String>;

impl PluginReader {
    /// Returns the description of each file, or the reason why the file has none. The outer error
    /// means that no child process could be started.
    pub fn read(&self, files: &[PathBuf]) -> io::Result<Vec<Result<Plugin, PluginError>>> {
        let child = match self {
            Self::InProcess => return Ok(files.iter().map(|file| Plugin::load(file)).collect()),
            Self::Child { command, memory_limit } => {
                Reader { command, memory_limit: *memory_limit }
            }
        };
        let answers: Vec<Mutex<Option<io::Result<Description>>>> =
            files.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let read_in_turn = || {
            while let Some((file, place)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                files.get(at).zip(answers.get(at))
            } {
                *place.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(description(&child, file));
            }
        };
        std::thread::scope(|scope| {
            let others =
                std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
            for _ in 1..others.max(2) {
                // If no thread can be started, the current thread reads all files.
                drop(std::thread::Builder::new().spawn_scoped(scope, read_in_turn));
            }
            read_in_turn();
        });
        let understood = |(file, answer): (&PathBuf, Mutex<Option<io::Result<Description>>>)| {
            let answer = answer.into_inner().unwrap_or_else(PoisonError::into_inner);
            let answer =
                answer.unwrap_or_else(|| Err(io::Error::other("the file was not read")))?;
            Ok(answer.map(|plugin| plugin.at(file)).map_err(PluginError::Reported))
        };
        files.iter().zip(answers).map(understood).collect()
    }
}

struct Reader<'a> {
    command: &'a [PathBuf],
    memory_limit: u64,
}

impl Reader<'_> {
    fn is_free(&self) -> bool {
        self.command.iter().any(|word| word.as_os_str() == sandbox::NO_SANDBOX)
    }
}

#[derive(Serialize, Deserialize)]
struct CachedDescription {
    file: PathBuf,
    stamp: Stamp,
    memory_limit: u64,
    answer: Description,
}

fn description(child: &Reader<'_>, file: &Path) -> io::Result<Description> {
    let stamp = Stamp::at(linked::file_of(file)).ok();
    let memory = stamp.as_ref().and_then(|stamp| memory(child, file, stamp));
    let known = memory
        .as_deref()
        .and_then(recall)
        .filter(|known| known.file == file && Some(&known.stamp) == stamp.as_ref())
        // If a file could not be read and the memory limit is higher now, it is tried again.
        .filter(|known| known.answer.is_ok() || known.memory_limit >= child.memory_limit);
    if let Some(known) = known {
        return Ok(known.answer);
    }
    let answer = match linked::at(file) {
        // A linked plugin is the program's own code, so no child process is needed.
        Some(_) => Plugin::load(file).map_err(|e| e.to_string()),
        None => described(child, file)?,
    };
    // If the file has just changed, the description is not cached, because a second change may have
    // the same timestamp.
    if let (Some(memory), Some(stamp)) = (memory, stamp.filter(Stamp::is_settled)) {
        let (file, memory_limit) = (file.to_owned(), child.memory_limit);
        let description = CachedDescription { file, stamp, memory_limit, answer };
        drop(
            serde_json::to_vec(&description)
                .map_err(io::Error::from)
                .and_then(|text| keep(&memory, &text)),
        );
        return Ok(description.answer);
    }
    Ok(answer)
}

/// Returns the path of a cache entry in `$XDG_CACHE_HOME/swapmeet` (default `~/.cache/swapmeet`).
/// The name contains the inode number of the plugin file, so that an overwritten file replaces its
/// own entry.
fn memory(child: &Reader<'_>, file: &Path, stamp: &Stamp) -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let (device, number) = stamp.place();
    // A plugin may describe itself differently if there is no sandbox, so such an entry has another
    // name.
    let freely = if child.is_free() { "-freely" } else { "" };
    let linked = linked::at(file).map(|linked| format!("-{}", linked.name)).unwrap_or_default();
    let name =
        format!("{}-128-{device:x}-{number:x}{linked}{freely}.json", env!("CARGO_PKG_VERSION"));
    base.is_dir().then(|| base.join("swapmeet").join(name))
}

fn recall(memory: &Path) -> Option<CachedDescription> {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let age =
        std::fs::metadata(memory).and_then(|m| m.modified()).ok()?.elapsed().unwrap_or_default();
    let known: CachedDescription = serde_json::from_slice(&std::fs::read(memory).ok()?).ok()?;
    (known.answer.is_ok() || age < DAY).then_some(known)
}

fn keep(memory: &Path, text: &[u8]) -> io::Result<()> {
    let folder = memory.parent().unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        std::fs::create_dir(folder)?;
    }
    let (mut draft, place) = atomic_file::draft_for(memory)?;
    draft.write_all(text)?;
    draft.persist(place)?;
    Ok(())
}

/// Returns the description of a file. Its digest is computed in this process, because a plugin can
/// forge everything that its own process sends. Errors if no child process could be started.
///
/// A first child process may open only the file itself. If the file cannot be loaded, it may depend
/// on libraries in its directory, and a second child process may open these. If every child process
/// could open them, the total time would be proportional to the square of the number of files.
fn described(child: &Reader<'_>, file: &Path) -> io::Result<Description> {
    let refused = |why: &str| {
        let reason = why.to_owned();
        Err(PluginError::NotALibrary { path: file.to_owned(), reason }.to_string())
    };
    let (digest, stamp) = match digest_of(file, None) {
        Ok(build) => build,
        Err(error) => return Ok(refused(&error.to_string())),
    };
    let mut answer = ask(child, file, &[])?;
    if !child.is_free() && matches!(answer, Ok(Err(_))) {
        answer = ask(child, file, &[WITH_LIBRARIES])?;
    }
    let answer = answer.and_then(|answer| checked(&answer)).unwrap_or_else(|how| {
        Err(format!("{}: its description cannot be read: {how}", file.display()))
    });
    // If the file has changed meanwhile, the child may have described another build.
    if Stamp::at(file).ok().as_ref() != Some(&stamp) {
        return Ok(refused("it changed while it was loaded"));
    }
    Ok(answer.map(|plugin| plugin.with_build(&digest, &stamp)))
}

/// The option with which a child process may also open the libraries in the file's directory.
const WITH_LIBRARIES: &str = "--libraries";

/// Requests the description of a file from a child process. The outer error means that no child
/// process could be started. The inner error is the reason why the child did not answer.
fn ask(
    child: &Reader<'_>,
    file: &Path,
    options: &[&str],
) -> io::Result<Result<Description, String>> {
    let (program, args) =
        child.command.split_first().ok_or_else(|| io::Error::other("no program given"))?;
    // The time limit for a description. Loading a plugin takes less time.
    const TIME: Duration = Duration::from_secs(10);
    let limits = ChildLimits {
        kill_after: TIME,
        ..ChildLimits::with_grace(TIME, child.memory_limit, max_bytes::ANSWER)
    };
    let mut command = Command::new(program);
    command.args(args).arg(format!("--memory-limit={}", child.memory_limit));
    command.args(options).arg("--").arg(file);
    isolation::run(&mut command, limits, &AtomicBool::new(false), &mut |_| {}, Some)
}

/// Escapes all texts of a description and checks its names, because a plugin may have written them.
fn checked(answer: &Description) -> Result<Description, String> {
    let description = with_escaped_texts(answer).map_err(|e| e.to_string())?;
    if let Ok(plugin) = &description {
        plugin.check_names()?;
    }
    Ok(description)
}

/// Escapes all texts of a reply, because a plugin may have written them. The reply must be parsed
/// as its own type first, because a [`Value`] can take sixteen times the memory of its text.
pub fn with_escaped_texts<T: Serialize + DeserializeOwned>(reply: &T) -> serde_json::Result<T> {
    let mut value = serde_json::to_value(reply)?;
    escape_texts(&mut value);
    serde_json::from_value(value)
}

fn escape_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = escaped(text).into_owned(),
        Value::Array(values) => values.iter_mut().for_each(escape_texts),
        Value::Object(fields) => fields.values_mut().for_each(escape_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

pub fn serve(
    file: &Path,
    memory_limit: u64,
    is_sandboxed: bool,
    with_libraries: bool,
) -> io::Result<()> {
    let files = [file.to_owned()];
    let access = match with_libraries {
        true => FileAccess { plugins: &files, ..FileAccess::default() },
        false => FileAccess { readable: &files, ..FileAccess::default() },
    };
    let answers = isolation::begin(MemoryLimit::Fixed(memory_limit), is_sandboxed, &access)?;
    let answer: Description = Plugin::load_without_digest(file).map_err(|e| e.to_string());
    answers.send(&answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_forged_digest_is_replaced_by_that_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let [file, answer] = ["thakur.so", "answer"].map(|name| dir.path().join(name));
        std::fs::write(&file, "abc").unwrap();
        let forged = "sha256:9b7965c19990";
        let build = json!({"name": "thakur", "version": "0.2.0", "digest": forged});
        let description = json!({"Ok": {
            "path": "x.so", "name": "thakur", "version": "0.2.0", "digest": forged,
            "licence": "", "abi": [1, 0], "algorithms": [{
                "name": "pex", "title": "", "paper": "", "accepts": "", "collectives": 1,
                "params": [], "ports": 0, "plugin": build, "file": "x.so",
                "stamp": Stamp::default(),
            }],
        }});
        std::fs::write(&answer, format!("{description}\n")).unwrap();
        let script = format!("cat '{}' >&0", answer.display());
        let reader = PluginReader::Child {
            command: ["sh", "-c", &script].map(PathBuf::from).to_vec(),
            memory_limit: READER_MEMORY,
        };
        let plugin = reader.read(std::slice::from_ref(&file)).unwrap().remove(0).unwrap();
        let own = "sha256:ba7816bf8f01cfea414140de5dae2223";
        let algorithm = &plugin.algorithms[0];
        assert_eq!((plugin.digest.as_str(), algorithm.plugin.digest.as_str()), (own, own));
        assert_eq!(algorithm.stamp, Stamp::at(&file).unwrap());
    }

    /// The number of libraries that are opened is proportional to the number of plugins in a
    /// folder.
    #[test]
    fn libraries_beside_a_plugin_are_opened_only_if_it_needs_them() {
        let dir = tempfile::tempdir().unwrap();
        let calls = dir.path().join("calls");
        let [alone, dependent, broken] = ["alone.so", "dependent.so", "broken.so"].map(|name| {
            let file = dir.path().join(name);
            std::fs::write(&file, name).unwrap();
            file
        });
        let description = json!({"Ok": {
            "path": "x.so", "name": "x", "version": "1", "digest": "", "licence": "",
            "abi": [1, 0], "algorithms": [],
        }});
        let script = format!(
            "echo \"$0 $*\" >> '{}'\ncase \"$0 $*\" in\n\
             *--libraries*dependent.so | *alone.so) echo '{description}' >&0;;\n\
             *) echo '{{\"Err\": \"cannot open libx.so\"}}' >&0;;\nesac",
            calls.display()
        );
        let reader = PluginReader::Child {
            command: ["sh", "-c", &script].map(PathBuf::from).to_vec(),
            memory_limit: 1 << 28,
        };
        let read = |file: &PathBuf| {
            let read = reader.read(std::slice::from_ref(file)).unwrap().remove(0);
            (read.is_ok(), std::fs::read_to_string(&calls).unwrap())
        };
        let line = |options: &str, file: &Path| {
            format!("--memory-limit=268435456{options} -- {}\n", file.display())
        };
        let mut all = line("", &alone);
        assert_eq!(read(&alone), (true, all.clone()));
        for (file, is_plugin) in [(&dependent, true), (&broken, false)] {
            all += &(line("", file) + &line(" --libraries", file));
            assert_eq!(read(file), (is_plugin, all.clone()));
        }
    }

    #[test]
    fn forged_descriptions_are_escaped_and_checked() {
        let plugin = |name: &str| {
            let description: Description = serde_json::from_value(json!({"Ok": {
                "path": "x.so", "name": name, "version": "\u{1b}[31m1", "digest": "", "licence": "",
                "abi": [1, 0], "algorithms": [],
            }}))
            .unwrap();
            description
        };
        let found = checked(&plugin("mine")).unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.version.as_str()), ("mine", "\\u{1b}[31m1"));
        let refused = checked(&plugin("../../x")).unwrap_err();
        assert_eq!(
            refused,
            "its name is `../../x`, expected letters, digits, hyphens, underscores, dots and spaces"
        );
    }
}
