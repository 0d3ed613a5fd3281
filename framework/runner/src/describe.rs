//! What plugin files offer, found out in processes of their own: to load a library is to run its
//! code, and the process that writes rows runs nobody's.
//!
//! A child a file, side by side, so that none can hide or rename what others offer or make them
//! wait. What it said is cached_or_fresh for as long as the file is the same; a file is not even read
//! then, of which a large one takes longer than all the rest of a start.

use crate::isolation::{self, Limits};
use crate::plugin::file::Stamp;
use crate::plugin::{Plugin, PluginError, linked};
use crate::sandbox;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use swapmeet_results::atomic_file;

/// How plugin files are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginReader {
    /// By this process, which loads them: for processes that run plugins anyway.
    InProcess,
    /// By a child a file: this program and its arguments, followed by the file. It calls [`serve`].
    Child(Vec<PathBuf>),
}

/// What a child says of a file: what it offers, or why that is nothing.
type Description = Result<Plugin, String>;

impl PluginReader {
    /// What each of the files offers. An error is no file's doing.
    pub fn read(&self, files: &[PathBuf]) -> io::Result<Vec<Result<Plugin, PluginError>>> {
        let command = match self {
            Self::InProcess => return Ok(files.iter().map(|file| Plugin::load(file)).collect()),
            Self::Child(command) => command,
        };
        let answers: Vec<Mutex<Option<io::Result<Description>>>> =
            files.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let ask_in_turn = || {
            while let Some((file, place)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                files.get(at).zip(answers.get(at))
            } {
                *place.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(cached_or_fresh(command, file));
            }
        };
        std::thread::scope(|scope| {
            let others =
                std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
            for _ in 1..others.max(2) {
                // Without a thread more, this one asks of them all.
                drop(std::thread::Builder::new().spawn_scoped(scope, ask_in_turn));
            }
            ask_in_turn();
        });
        let understood = |(file, answer): (&PathBuf, Mutex<Option<io::Result<Description>>>)| {
            let answer = answer.into_inner().unwrap_or_else(PoisonError::into_inner);
            let answer = answer.unwrap_or_else(|| Err(io::Error::other("nobody asked")))?;
            Ok(answer.map(|plugin| plugin.at(file)).map_err(PluginError::Reported))
        };
        files.iter().zip(answers).map(understood).collect()
    }
}

/// An answer, and the file that it is of.
#[derive(Serialize, Deserialize)]
struct CachedDescription {
    file: PathBuf,
    stamp: Stamp,
    answer: Description,
}

/// What a child says of a file now, or said before.
fn cached_or_fresh(command: &[PathBuf], file: &Path) -> io::Result<Description> {
    let stamp = Stamp::at(linked::file_of(file)).ok();
    let memory = stamp.as_ref().and_then(|stamp| memory(command, file, stamp));
    let known = memory
        .as_deref()
        .and_then(recall)
        .filter(|known| known.file == file && Some(&known.stamp) == stamp.as_ref());
    if let Some(known) = known {
        return Ok(known.answer);
    }
    let answer = match linked::at(file) {
        // It is the program's own code.
        Some(_) => Plugin::load(file).map_err(|e| e.to_string()),
        None => ask(command, file)?,
    };
    // Of a file that is being written nobody can tell later whether it is the one that was asked
    // about.
    if let (Some(memory), Some(stamp)) = (memory, stamp.filter(Stamp::is_settled)) {
        let cached_or_fresh = CachedDescription { file: file.to_owned(), stamp, answer };
        // Nothing is lost but time.
        drop(
            serde_json::to_vec(&cached_or_fresh)
                .map_err(io::Error::from)
                .and_then(|text| keep(&memory, &text)),
        );
        return Ok(cached_or_fresh.answer);
    }
    Ok(answer)
}

/// Where the answer of a file is cached_or_fresh: in `$XDG_CACHE_HOME/swapmeet`, by default under
/// `~/.cache`, where there is such a folder. A file written in the place of another takes that
/// one's place here, too.
fn memory(command: &[PathBuf], file: &Path, stamp: &Stamp) -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let (device, number) = stamp.place();
    // What a plugin says may depend on what it may do.
    let freely = if command.iter().any(|word| word.as_os_str() == sandbox::NO_SANDBOX) {
        "-freely"
    } else {
        ""
    };
    let linked = linked::at(file).map(|linked| format!("-{}", linked.name)).unwrap_or_default();
    let name = format!("{}-{device:x}-{number:x}{linked}{freely}.json", env!("CARGO_PKG_VERSION"));
    base.is_dir().then(|| base.join("swapmeet").join(name))
}

fn recall(memory: &Path) -> Option<CachedDescription> {
    /// What went wrong once may go well another day.
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

/// What a child says of a file, or why it says nothing. An error is that none could be started.
fn ask(command: &[PathBuf], file: &Path) -> io::Result<Description> {
    let (program, args) =
        command.split_first().ok_or_else(|| io::Error::other("no program given"))?;
    let asked = Limits {
        // Longer than any plugin takes to be loaded.
        max_silence: Duration::from_secs(10),
        grace: Duration::ZERO,
        memory_limit: None,
        stop: &AtomicBool::new(false),
    };
    let answer: Result<Description, String> = isolation::ask(
        Command::new(program).args(args).arg("--").arg(file),
        &asked,
        &mut |_| {},
        Some,
    )?;
    Ok(answer.unwrap_or_else(|how| {
        Err(format!("{}: it can't be asked what it offers: {how}", file.display()))
    }))
}

/// The child's side: loads the file and says what it offers.
pub fn serve(file: &Path, is_sandboxed: bool) -> io::Result<()> {
    /// More than loading takes.
    const MEMORY: u64 = 1 << 34;
    let answers = isolation::begin(MEMORY, is_sandboxed, &[file.to_owned()])?;
    let answer: Description = Plugin::load(file).map_err(|e| e.to_string());
    answers.give(&answer)
}
