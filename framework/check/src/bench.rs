//! The test bench of a plugin. It starts a separate process for each question.

use crate::question::{Answer, Question};
use crate::watch::{last_step, where_it_was};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use swapmeet_core::text::escaped;
use swapmeet_runner::describe::with_escaped_texts;
use swapmeet_runner::isolation::{ThreadCheck, restrict_environment};
use swapmeet_runner::limits::double_memory_of;
use swapmeet_runner::max_bytes;
use swapmeet_runner::plugin_output::{is_out_of_memory, is_uninformative};
use swapmeet_runner::sandbox::NO_SANDBOX;

/// Limits for the process that answers a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Time limit for making one schedule.
    pub time: Duration,
    /// Memory limit of the process, in bytes.
    pub memory: u64,
}

/// The way in which a process ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The process answered the question. The plugin may nevertheless have printed something.
    Answered {
        answer: Answer,
        /// The first line on standard output that is not blank.
        printed: Option<String>,
    },
    /// The process ended without an answer. The text contains the signal or the exit status, and
    /// the last line on standard error.
    Died(String),
    /// The process did not end in time and was killed. The value is the last completed step of its
    /// schedule; `None` if it has begun no schedule.
    Hung(Option<u64>),
}

/// A way to ask questions about a plugin.
pub trait Bench {
    /// Asks one question. Returns an error only if the bench itself fails; a failure of the plugin
    /// is an [`Outcome`].
    fn ask(&self, question: &Question) -> io::Result<Outcome>;

    /// Returns the limits for the process that answers a question.
    fn limits(&self) -> Limits;
}

/// A bench that starts this program again for every question, with the command `PROGRAM
/// check-question PLUGIN QUESTION ANSWER-FILE SECONDS BYTES [--no-sandbox]`.
#[derive(Debug)]
pub struct Processes {
    pub program: PathBuf,
    pub plugin: PathBuf,
    /// The limits for the process that answers a question.
    pub limits: Limits,
    /// Whether the plugin runs in the sandbox.
    pub is_sandboxed: bool,
}

impl Bench for Processes {
    fn ask(&self, question: &Question) -> io::Result<Outcome> {
        let folder = tempfile::tempdir()?;
        // The child writes its answer to a file, so that the output of a plugin cannot be mistaken
        // for the answer.
        let [answer, out, err] = ["answer", "out", "err"].map(|name| folder.path().join(name));
        let progress = progress_beside(&answer);
        let mut command = Command::new(&self.program);
        command
            .arg("check-question")
            .arg(&self.plugin)
            .arg(serde_json::to_string(question)?)
            .arg(&answer)
            .arg(self.limits.time.as_secs_f64().to_string())
            .arg(self.limits.memory.to_string())
            .args((!self.is_sandboxed).then_some(NO_SANDBOX))
            // The child gets its own process group, so that a call of `kill(0, ..)` by a plugin
            // does not reach the program.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?);
        restrict_environment(&mut command);
        let mut child = command.spawn()?;
        // After the time limit, the host in the child stops a plan at the plugin's next call. A
        // plugin that makes no calls must be killed from here.
        let most =
            self.limits.time.saturating_mul(question.plans().max(4)) + Duration::from_secs(1);
        let at_once = serde_json::to_vec(&Answer::AtOnce)?;
        let is_at_once = || beginning(&answer, at_once.len() + 1) == at_once;
        let (id, mut is_doubled) = (child.id(), false);
        let (mut threads, mut excess) = (ThreadCheck::new(id), None);
        let ended = wait(&mut child, most, || {
            // Two plans at the same time may use twice the memory of one plan. If the limit cannot
            // be raised, both plans together have the limit of one plan.
            if !is_doubled && is_at_once() {
                is_doubled = true;
                let _ = double_memory_of(id, self.limits.memory);
            }
            if excess.is_none() {
                excess = threads.excess();
            }
            excess.is_some()
        })?;
        if let Some(excess) = excess {
            return Ok(Outcome::Died(format!("{excess}{}", where_it_was(last_step(&progress)))));
        }
        let Some(status) = ended else {
            return Ok(Outcome::Hung(last_step(&progress)));
        };
        Ok(match received(&answer) {
            Some(answer) if status.success() && answer != Answer::AtOnce => {
                Outcome::Answered { answer, printed: lines(&out).into_iter().next() }
            }
            _ => {
                let when = if is_at_once() { "two plans at once: " } else { "" };
                let place = where_it_was(last_step(&progress));
                Outcome::Died(format!(
                    "{when}{}",
                    how_it_died(status, &place, last_words(&lines(&err)))
                ))
            }
        })
    }

    fn limits(&self) -> Limits {
        self.limits
    }
}

/// Waits for a child process, and kills it when `limit` has passed or `is_over` returns true.
/// Returns `None` if the child was killed. The pauses between two polls are at most 2 ms, because an examination starts hundreds of
/// processes, most of which end after a few milliseconds. `is_over` is called before each pause.
fn wait(
    child: &mut std::process::Child,
    limit: Duration,
    mut is_over: impl FnMut() -> bool,
) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() >= limit || is_over() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(2));
    }
}

/// Returns the line in which a process printed the reason of its failure. Lines after the reason,
/// such as a backtrace, are skipped.
fn last_words(lines: &[String]) -> Option<String> {
    let why = lines.iter().find(|line| is_out_of_memory(line));
    why.or_else(|| lines.iter().rfind(|line| !is_uninformative(line))).cloned()
}

/// Returns the file in which the child process records its progress.
pub fn progress_beside(answer: &Path) -> PathBuf {
    answer.with_extension("step")
}

/// Describes how a process ended. `place` is a text with the last step of the schedule.
fn how_it_died(status: ExitStatus, place: &str, last_words: Option<String>) -> String {
    let how = match (status.signal(), status.code()) {
        (Some(signal), _) => {
            format!("the process was ended by signal {signal}{}{place}", signal_name(signal))
        }
        (None, Some(0)) => format!("the plugin ended the process, with exit status 0{place}"),
        (None, Some(code)) => {
            format!("the plugin ended the process, with exit status {code}{place}")
        }
        (None, None) => "the process ended".to_owned(),
    };
    last_words.map_or(how.clone(), |words| format!("{how}: {words}"))
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (abort)",
        7 | 10 => " (bus error)",
        25 => " (more than 64 MiB of output)",
        8 => " (arithmetic)",
        9 => " (kill)",
        11 => " (segmentation fault)",
        _ => "",
    }
}

/// Reads the answer of a process. The plugin may have forged it, so its size is limited and its
/// texts are escaped.
fn received(answer: &Path) -> Option<Answer> {
    let bytes = beginning(answer, max_bytes::ANSWER + 1);
    if bytes.len() > max_bytes::ANSWER {
        return None;
    }
    let answer: Answer = serde_json::from_slice(&bytes).ok()?;
    with_escaped_texts(&answer).ok()
}

/// Returns the lines at the beginning of a file that are not blank, with escaped control
/// characters. Only the beginning is read, because a plugin may print without end.
fn lines(path: &Path) -> Vec<String> {
    let text = beginning(path, 1 << 16);
    String::from_utf8_lossy(&text)
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| escaped(line).into_owned())
        .collect()
}

/// Returns the first `most` bytes of a file. If the file cannot be read, the result is empty.
fn beginning(path: &Path, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(most as u64).read_to_end(&mut bytes));
    if read.is_ok() { bytes } else { Vec::new() }
}
