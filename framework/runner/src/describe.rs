//! What plugin files offer, found out in processes of their own: to load a library is to run its code, and the process that writes rows runs nobody's.
//!
//! A child a file, side by side, so that none can hide or rename what others offer or make them wait. Answers are remembered by the digest of the file.

use crate::plugin::{Plugin, PluginError, digest_of};
use crate::process::child::{Child, Report, RunTime};
use crate::process::child_side::{confine, take_socket};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How plugin files are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reader {
    /// By this process, which loads them: for processes that run plugins anyway.
    Here,
    /// By a child a file: this program and its arguments, followed by the file. It calls [`serve`].
    Child(Vec<PathBuf>),
}

/// What a child says of a file: what it offers, or why that is nothing.
type Answer = Result<Plugin, String>;

impl Reader {
    /// What each of the files offers. An error is no file's doing.
    pub fn read(&self, files: &[PathBuf]) -> io::Result<Vec<Result<Plugin, PluginError>>> {
        let command = match self {
            Self::Here => return Ok(files.iter().map(|file| Plugin::load(file)).collect()),
            Self::Child(command) => command,
        };
        let answers: Vec<Mutex<Option<io::Result<Answer>>>> = files.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let ask_in_turn = || {
            while let Some((file, place)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                files.get(at).zip(answers.get(at))
            } {
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(remembered(command, file));
            }
        };
        std::thread::scope(|scope| {
            let others = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
            for _ in 1..others.max(2) {
                // Without a thread more, this one asks of them all.
                drop(std::thread::Builder::new().spawn_scoped(scope, ask_in_turn));
            }
            ask_in_turn();
        });
        let understood = |(file, answer): (&PathBuf, Mutex<Option<io::Result<Answer>>>)| {
            let answer = answer.into_inner().unwrap_or_else(PoisonError::into_inner);
            let answer = answer.unwrap_or_else(|| Err(io::Error::other("nobody asked")))?;
            Ok(answer.map(|plugin| plugin.at(file)).map_err(PluginError::Told))
        };
        files.iter().zip(answers).map(understood).collect()
    }
}

/// What a child says of a file now, or said before.
fn remembered(command: &[PathBuf], file: &Path) -> io::Result<Answer> {
    let memory = memory(file);
    if let Some(answer) = memory.as_deref().and_then(recall) {
        // Another file may have had this content.
        return Ok(answer.map_err(|why| why.replacen("\u{1}", &file.display().to_string(), 1)));
    }
    let answer = ask(command, file)?;
    if let Some(memory) = memory {
        let name = file.display().to_string();
        let nameless = answer.as_ref().map_err(|why| why.replacen(&name, "\u{1}", 1));
        // Nothing is lost but time.
        drop(serde_json::to_vec(&nameless).map_err(io::Error::from).and_then(|text| keep(&memory, &text)));
    }
    Ok(answer)
}

/// Where answers of files of this content are remembered: in `$XDG_CACHE_HOME/swapmeet`, by default under `~/.cache`, where there is such a folder.
fn memory(file: &Path) -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let (digest, _) = digest_of(file).ok().filter(|_| base.is_dir())?;
    Some(base.join("swapmeet").join(format!("{}-{digest}.json", env!("CARGO_PKG_VERSION"))))
}

fn recall(memory: &Path) -> Option<Answer> {
    /// What went wrong once may go well another day.
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let age = std::fs::metadata(memory).and_then(|m| m.modified()).ok()?.elapsed().unwrap_or_default();
    let answer: Answer = serde_json::from_slice(&std::fs::read(memory).ok()?).ok()?;
    (answer.is_ok() || age < DAY).then_some(answer)
}

fn keep(memory: &Path, text: &[u8]) -> io::Result<()> {
    let folder = memory.parent().unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        std::fs::create_dir(folder)?;
    }
    let draft = folder.join(format!(".{}.{:?}", std::process::id(), std::thread::current().id()));
    std::fs::write(&draft, text)?;
    std::fs::rename(draft, memory)
}

/// What a child says of a file, or why it says nothing. An error is that none could be started.
fn ask(command: &[PathBuf], file: &Path) -> io::Result<Answer> {
    /// Longer than any plugin takes to be loaded.
    const LONGEST: Duration = Duration::from_secs(10);
    /// The longest answer.
    const MOST: usize = 1 << 26;
    let (program, args) = command.split_first().ok_or_else(|| io::Error::other("no program given"))?;
    let mut child = Child::start(Command::new(program).args(args).arg("--").arg(file))?;
    let mut run_time = RunTime::new();
    let how = loop {
        match child.listen() {
            Report::Line(line) => match serde_json::from_slice(&line) {
                Ok(answer) => return Ok(answer),
                Err(e) => break format!("its answer makes no sense: {e}"),
            },
            Report::Gone => {
                break child.end().unwrap_or_else(|| "it closed the socket of the process that asked it".to_owned());
            }
            Report::Nothing if child.held() > MOST => break format!("its answer is over {} MiB long", MOST >> 20),
            Report::Nothing if run_time.spent() > LONGEST => break format!("it took over {} s", LONGEST.as_secs()),
            Report::Nothing => {}
        }
    };
    Ok(Err(format!("{}: it can't be asked what it offers: {how}", file.display())))
}

/// The child's side: loads the file and says what it offers.
pub fn serve(file: &Path) -> io::Result<()> {
    /// More than loading takes.
    const MEMORY: u64 = 1 << 34;
    let mut socket = File::from(take_socket()?);
    confine(MEMORY)?;
    let answer: Answer = Plugin::load(file).map_err(|e| e.to_string());
    let mut line = serde_json::to_vec(&answer)?;
    line.push(b'\n');
    socket.write_all(&line)
}
