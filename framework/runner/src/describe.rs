//! What plugin files offer, found out in a process of its own: to load a library is to run its code, and the process that writes rows runs nobody's.
//!
//! One child reads all files and answers a line of JSON a file. Where it ends or hangs, that is the answer for the file it was at, and another child
//! reads the rest.

use crate::batch::child::{Child, Heard};
use crate::batch::worker::{limit, take_socket};
use crate::plugin::{Plugin, PluginError};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How plugin files are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reader {
    /// By this process, which loads them: for processes that run plugins anyway.
    Here,
    /// By a child: this program and its arguments, followed by the files. It calls [`serve`].
    Child(Vec<PathBuf>),
}

impl Reader {
    /// What each of the files offers.
    pub fn read(&self, files: &[PathBuf]) -> Vec<Result<Plugin, PluginError>> {
        let command = match self {
            Self::Here => return files.iter().map(|file| Plugin::load(file)).collect(),
            Self::Child(command) => command,
        };
        let mut read = Vec::new();
        while read.len() < files.len() {
            let rest = &files[read.len()..];
            match ask(command, rest) {
                Ok(answers) => read.extend(answers),
                Err(e) => read.push(Err(PluginError::Unread { path: rest[0].clone(), how: e.to_string() })),
            }
        }
        read
    }
}

/// The answers of a child for files in turn, up to the first that has none: that one's is why.
fn ask(command: &[PathBuf], files: &[PathBuf]) -> io::Result<Vec<Result<Plugin, PluginError>>> {
    let (program, args) = command.split_first().ok_or_else(|| io::Error::other("no program given"))?;
    let mut command = Command::new(program);
    command.args(args).arg("--").args(files).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = Child::start(&mut command)?;
    let mut answers = Vec::new();
    for file in files {
        match answer(&mut child) {
            Ok(Ok(plugin)) => answers.push(Ok(plugin.at(file))),
            Ok(Err(told)) => answers.push(Err(PluginError::Told(told))),
            Err(how) => {
                answers.push(Err(PluginError::Unread { path: file.clone(), how }));
                break;
            }
        }
    }
    Ok(answers)
}

/// A child's next line, understood; or why there is none.
fn answer(child: &mut Child) -> Result<Result<Plugin, String>, String> {
    /// Longer than any plugin takes to be loaded.
    const LONGEST: Duration = Duration::from_secs(10);
    /// The longest answer.
    const MOST: usize = 1 << 26;
    let begin = Instant::now();
    loop {
        if begin.elapsed() > LONGEST {
            return Err(format!("it took over {} s", LONGEST.as_secs()));
        }
        if child.held() > MOST {
            return Err(format!("its answer is over {} MiB long", MOST >> 20));
        }
        match child.listen() {
            Heard::Nothing => {}
            Heard::Line(line) => {
                return serde_json::from_slice(&line).map_err(|e| format!("its answer makes no sense: {e}"));
            }
            Heard::Gone => {
                return Err(child
                    .end()
                    .unwrap_or_else(|| "it closed the socket of the process that asked it".to_owned()));
            }
        }
    }
}

/// The child's side: loads the files in turn and says what each offers.
pub fn serve(files: &[PathBuf]) -> io::Result<()> {
    /// More than loading takes.
    const MEMORY: u64 = 1 << 34;
    let mut socket = File::from(take_socket()?);
    limit(MEMORY)?;
    for file in files {
        let mut line = serde_json::to_vec(&offer(file))?;
        line.push(b'\n');
        socket.write_all(&line)?;
    }
    Ok(())
}

fn offer(file: &Path) -> Result<Plugin, String> {
    Plugin::load(file).map_err(|e| e.to_string())
}
