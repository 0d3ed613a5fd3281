//! Schedules for other programs. A format is one file and one row of [`FORMATS`].
//!
//! A schedule comes step by step, as it is proved, and no format holds more of it than a step. Formats that are written rank by rank
//! put what they write of each rank aside in a `spool::Spool`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use swapmeet_interchange::schedule::{BlockSet, Event, Head, Layout, Reader, Send};

mod chakra;
mod goal;
pub mod mpi;
mod spool;

#[derive(Debug)]
pub struct Format {
    /// What users call it.
    pub name: &'static str,
    pub help: &'static str,
    /// What of it goes where.
    pub shape: Shape,
    /// Whether it must know the bytes of each block.
    pub wants_sizes: bool,
    start: Start,
}

/// Begins an export into a folder; or why that can't be.
type Start = fn(&Head, Folder) -> Result<Box<dyn Export>, String>;

/// What a format consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One file of this name in the folder that it is written to.
    File(&'static str),
    Folder,
}

/// All formats but the schedule itself as `trace` prints it.
pub static FORMATS: [Format; 3] = [
    Format {
        name: "goal",
        help: "GOAL text of LogGOPSim and ATLAHS, one file",
        shape: Shape::File(goal::FILE),
        wants_sizes: false,
        start: |head, folder| Ok(Box::new(goal::Goal::new(head, folder)?)),
    },
    Format {
        name: "chakra",
        help: "Chakra execution traces of ASTRA-sim's custom collectives, a file a rank",
        shape: Shape::Folder,
        wants_sizes: false,
        start: |head, folder| Ok(Box::new(chakra::Chakra::new(head, folder)?)),
    },
    Format {
        name: "mpi",
        help: "a file of who sends whom which blocks, and the C program that carries it out under MPI-3 and writes measured rows",
        shape: Shape::Folder,
        wants_sizes: true,
        start: |head, folder| Ok(Box::new(mpi::Mpi::new(head, folder)?)),
    },
];

/// The schedule itself, as `trace` prints it: its name, and one line.
pub const JSON: (&str, &str) = ("json", "the whole schedule, as `trace --format json` prints it");
/// The file that it is staged in.
pub const SCHEDULE_FILE: &str = "schedule.json";

/// The format of this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Takes a schedule step by step. Errors are for the user: what can't be written in this format, and why.
pub trait Export {
    /// How blocks are split; before the first step.
    fn layout(&mut self, _layout: &Layout) -> Result<(), String> {
        Ok(())
    }

    /// A step, in which something is sent: if only by nodes to themselves.
    fn step(&mut self, step: &Step) -> Result<(), String>;

    /// All steps have come, and every block has arrived. `row` is what a row of what is measured says but for the figures: columns and texts, with
    /// `@NAME@`, `@REPETITION@`, `@TIME@`, `@FIRST@`, `@MEAN@` where they go.
    fn finish(self: Box<Self>, row: &[(&str, String)]) -> Result<(), String>;
}

/// What is sent at once.
#[derive(Debug, Default)]
pub struct Step {
    /// Its number among steps in which something is sent, from 1.
    pub number: u64,
    /// Messages between nodes, no two with the same ends, in the order in which the schedule first names their ends.
    pub messages: Vec<Message>,
    /// What nodes send themselves.
    pub copies: Vec<Message>,
}

/// All that one node sends another in a step.
#[derive(Debug, Default)]
pub struct Message {
    pub from: u64,
    pub to: u64,
    pub bytes: u64,
    /// The latest step, by [`Step::number`], in which any of them came to the sender; 0 if all were there at the start.
    pub after: u64,
    /// The vertices passed through, both ends included.
    pub path: Vec<u64>,
    /// What goes, and whether the sender keeps it; `None` in a schedule of byte counts.
    pub blocks: Option<Vec<(BlockSet, bool)>>,
}

/// Where an export writes its files.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    fn create(&self, name: &str) -> Result<BufWriter<File>, String> {
        let path = self.0.join(name);
        File::create(&path).map(BufWriter::new).map_err(|e| format!("{}: {e}", path.display()))
    }
}

/// An output that failed, for the user.
#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` takes")]
fn unwritten(error: io::Error) -> String {
    format!("it can't be written: {error}")
}

/// Puts a schedule's events together to steps for one format.
pub struct Exporter {
    format: &'static Format,
    folder: Folder,
    export: Option<Box<dyn Export>>,
    skip_empty: bool,
    /// The schedule's own number of the step under way, and of those before it in which anything was sent.
    now: u64,
    before: Vec<u64>,
    step: Step,
    /// For each pair of ends, which message of the step is theirs.
    ends: HashMap<(u64, u64), usize>,
}

impl Exporter {
    /// Will write into a folder, which must be there.
    pub fn new(format: &'static Format, folder: &Path) -> Self {
        let (step, ends) = (Step { number: 1, ..Step::default() }, HashMap::new());
        Self {
            format,
            folder: Folder(folder.to_owned()),
            export: None,
            skip_empty: false,
            now: 0,
            step,
            ends,
            before: Vec::new(),
        }
    }

    /// Every event of a verified schedule has come.
    pub fn finish(mut self, row: &[(&str, String)]) -> Result<(), String> {
        self.end_step()?;
        self.export.ok_or("it has no schedule")?.finish(row)
    }

    fn export(&mut self) -> Result<&mut Box<dyn Export>, String> {
        self.export.as_mut().ok_or_else(|| "its events come before its head".to_owned())
    }

    fn end_step(&mut self) -> Result<(), String> {
        if self.step.messages.is_empty() && self.step.copies.is_empty() {
            return Ok(());
        }
        let number = self.step.number;
        let step = std::mem::replace(&mut self.step, Step { number: number + 1, ..Step::default() });
        self.ends.clear();
        self.before.push(self.now);
        self.export()?.step(&step)
    }

    fn send(&mut self, send: Send) -> Result<(), String> {
        if send.step != self.now {
            self.end_step()?;
            self.now = send.step;
        }
        let blocks = |sets: Vec<BlockSet>| sets.into_iter().map(|set| (set, send.copy)).collect::<Vec<_>>();
        let message = Message {
            from: send.from,
            to: send.to,
            bytes: send.bytes,
            after: self.before.partition_point(|step| *step <= send.after) as u64,
            path: send.path,
            blocks: send.blocks.map(blocks),
        };
        if message.from == message.to {
            self.step.copies.push(message);
            return Ok(());
        }
        if message.bytes == 0 && self.skip_empty {
            return Ok(());
        }
        match self.ends.get(&(message.from, message.to)).and_then(|at| self.step.messages.get_mut(*at)) {
            Some(first) => {
                first.bytes = first.bytes.saturating_add(message.bytes);
                first.after = first.after.max(message.after);
                if let (Some(all), Some(more)) = (&mut first.blocks, message.blocks) {
                    all.extend(more);
                }
            }
            None => {
                self.ends.insert((message.from, message.to), self.step.messages.len());
                self.step.messages.push(message);
            }
        }
        Ok(())
    }
}

impl Reader for Exporter {
    fn head(&mut self, head: Head) -> Result<(), String> {
        self.skip_empty = head.skip_empty;
        self.export = Some((self.format.start)(&head, self.folder.clone())?);
        Ok(())
    }

    fn event(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Layout(layout) => self.export()?.layout(&layout),
            Event::Send(send) => self.send(send),
            Event::EndOfStep => self.end_step(),
            Event::Phase(_) | Event::Rearrange | Event::Redistribute => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
