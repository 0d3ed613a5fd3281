//! What plugin files offer, found out in a process of its own: to load a library is to run its code, and the process that writes rows runs nobody's.
//!
//! One child reads all files and answers a line of JSON a file. Where it ends or hangs, that is the answer for the file it was at, and another child
//! reads the rest.

use crate::batch::lines::Lines;
use crate::batch::process::{ended, kill_group};
use crate::batch::worker::{limit, take_socket};
use crate::plugin::{Plugin, PluginError};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
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
            match Asked::start(command, rest) {
                Ok(mut asked) => read.extend(asked.answers(rest)),
                Err(e) => read.push(Err(PluginError::Unread { path: rest[0].clone(), how: e.to_string() })),
            }
        }
        read
    }
}

/// A child that reads files.
struct Asked {
    child: Child,
    socket: UnixStream,
    /// What came.
    lines: Lines,
}

impl Asked {
    fn start(command: &[PathBuf], files: &[PathBuf]) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let (program, args) = command.split_first().ok_or_else(|| io::Error::other("no program given"))?;
        let child = Command::new(program)
            .args(args)
            .arg("--")
            .args(files)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { child, socket: ours, lines: Lines::default() })
    }

    /// The answers for the files in turn, up to the first that has none: that one's is why.
    fn answers(&mut self, files: &[PathBuf]) -> Vec<Result<Plugin, PluginError>> {
        let mut answers = Vec::new();
        for file in files {
            match self.answer() {
                Ok(Ok(plugin)) => answers.push(Ok(plugin.at(file))),
                Ok(Err(told)) => answers.push(Err(PluginError::Told(told))),
                Err(how) => {
                    answers.push(Err(PluginError::Unread { path: file.clone(), how }));
                    break;
                }
            }
        }
        answers
    }

    /// The next line, understood; or why there is none.
    fn answer(&mut self) -> Result<Result<Plugin, String>, String> {
        /// Longer than any plugin takes to be loaded.
        const LONGEST: Duration = Duration::from_secs(10);
        /// How long a child that ends without closing its socket may go unnoticed.
        const SLICE: Duration = Duration::from_millis(50);
        /// The longest answer.
        const MOST: usize = 1 << 26;
        let begin = Instant::now();
        loop {
            if let Some(line) = self.lines.next() {
                return serde_json::from_slice(&line).map_err(|e| format!("its answer makes no sense: {e}"));
            }
            if begin.elapsed() > LONGEST {
                return Err(format!("it took over {} s", LONGEST.as_secs()));
            }
            if self.lines.held() > MOST {
                return Err(format!("its answer is over {} MiB long", MOST >> 20));
            }
            let mut buffer = [0; 8192];
            match self.socket.set_read_timeout(Some(SLICE)).and_then(|()| self.socket.read(&mut buffer)) {
                Ok(0) => return Err(self.how_it_ended()),
                Ok(n) => self.lines.push(&buffer[..n]),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {
                    // A process that the plugin started may hold the socket open though the child is no more.
                    if !matches!(self.child.try_wait(), Ok(None)) {
                        return Err(self.how_it_ended());
                    }
                }
                Err(_) => return Err(self.how_it_ended()),
            }
        }
    }

    fn how_it_ended(&mut self) -> String {
        /// A process that closed its socket without ending has this long to end.
        const GRACE: Duration = Duration::from_millis(200);
        let begin = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return ended(status),
                Ok(None) if begin.elapsed() < GRACE => std::thread::sleep(Duration::from_millis(2)),
                _ => return "it closed the socket of the process that asked it".to_owned(),
            }
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        kill_group(&mut self.child);
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
