//! Schedules for other programs. A format is one file and one row of [`FORMATS`].
//!
//! A schedule comes step by step, as it is proved, and no format holds more of it than a step.
//! Formats that are written rank by rank put what they write of each rank aside in a
//! `spool::Spool`.

use counts::Counts;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use swapmeet_interchange::schedule::{
    BlockSet, Event, Head, Layout, Reader, Runs, Send, joined, sums, sums_of,
};

mod chakra;
mod counts;
mod goal;
pub mod mpi;
mod msccl;
mod simgrid;
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

impl Format {
    /// Whether it says which blocks or sums go, not only how many bytes.
    fn wants_blocks(&self) -> bool {
        self.wants_sizes || self.name == "msccl"
    }
}

/// What a format consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One file of this name in the folder that it is written to.
    File(&'static str),
    Folder,
}

/// All formats but the schedule itself as `trace` prints it.
pub static FORMATS: [Format; 5] = [
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
    Format {
        name: "msccl",
        help: "XML of the MSCCL runtime and RCCL, one file",
        shape: Shape::File(msccl::FILE),
        wants_sizes: false,
        start: |head, folder| Ok(Box::new(msccl::Msccl::new(head, folder)?)),
    },
    Format {
        name: "simgrid",
        help: "a SimGrid platform with these routes, the messages, and the program that plays them",
        shape: Shape::Folder,
        wants_sizes: false,
        start: |head, folder| Ok(Box::new(simgrid::SimGrid::new(head, folder)?)),
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

/// Takes a schedule step by step. Errors are for the user: what can't be written in this format,
/// and why.
pub trait Export {
    /// Into how many segments blocks are split; before the first step.
    fn segments(&mut self, _segments: u64) -> Result<(), String> {
        Ok(())
    }

    /// A step, in which something is sent: if only by nodes to themselves.
    fn step(&mut self, step: &Step) -> Result<(), String>;

    /// All steps have come, and every block has arrived. `row` is what a row of what is measured
    /// says but for the figures: columns and texts, with `@NAME@`, `@REPETITION@`, `@TIME@`,
    /// `@FIRST@`, `@MEAN@` where they go.
    fn finish(self: Box<Self>, row: &[(&str, String)]) -> Result<(), String>;
}

/// What is sent at once.
#[derive(Debug, Default)]
pub struct Step {
    /// Its number among steps in which something is sent, from 1.
    pub number: u64,
    /// Messages between nodes, no two with the same ends, in the order in which the schedule first
    /// names their ends.
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
    /// The latest step, by [`Step::number`], in which any of them came to the sender; 0 if all were
    /// there at the start.
    pub after: u64,
    /// The vertices passed through, both ends included.
    pub path: Vec<u64>,
    /// What goes; `None` in a schedule of byte counts.
    pub blocks: Option<Vec<Moved>>,
    /// In a schedule of byte counts, destinations and how many bytes for each: where a format wants
    /// sizes.
    pub counts: Vec<(u64, u64)>,
}

/// Blocks of a message; or sums, each named once, whoever contributed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Which. Parts that a schedule cuts blocks into are segments here.
    pub set: BlockSet,
    /// Whether the sender keeps them.
    pub keeps: bool,
    /// Whether the receiver adds them to what it has.
    pub adds: bool,
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
    head: Head,
    /// Segments of a part, and whether there are parts.
    layout: Layout,
    /// Who holds how many bytes, where those are counted and a format wants them.
    counts: Option<Counts>,
    /// The schedule's own number of the step under way, and of those before it in which anything
    /// went from node to node.
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
            head: Head::default(),
            layout: Layout { segments: 1, in_parts: false },
            counts: None,
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
        if let Some(counts) = &mut self.counts {
            counts.arrive();
        }
        if self.step.messages.is_empty() && self.step.copies.is_empty() {
            return Ok(());
        }
        let number = self.step.number;
        // What stays within nodes is no step of its own.
        let is_step = !self.step.messages.is_empty();
        let next = number + u64::from(is_step);
        let step = std::mem::replace(&mut self.step, Step { number: next, ..Step::default() });
        self.ends.clear();
        if is_step {
            self.before.push(self.now);
        }
        self.export()?.step(&step)
    }

    fn send(&mut self, send: Send) -> Result<(), String> {
        if send.step != self.now {
            self.end_step()?;
            self.now = send.step;
        }
        let counts = match &send.share {
            Some(share) if self.format.wants_sizes => {
                let counts = self.counts.get_or_insert_with(|| Counts::new(&self.head));
                counts.take(send.from, send.to, share)?
            }
            Some(_) | None => Vec::new(),
        };
        let blocks = match &send.blocks {
            Some(sets) => Some(self.moved(sets, &send)?),
            None => None,
        };
        let after = self.before.partition_point(|step| *step <= send.after) as u64;
        let Send { from, to, bytes, path, .. } = send;
        let message = Message { from, to, bytes, after, path, blocks, counts };
        if message.from == message.to {
            self.step.copies.push(message);
            return Ok(());
        }
        if message.bytes == 0 && self.head.skip_empty {
            return Ok(());
        }
        match self
            .ends
            .get(&(message.from, message.to))
            .and_then(|at| self.step.messages.get_mut(*at))
        {
            Some(first) => {
                first.bytes = first.bytes.saturating_add(message.bytes);
                first.after = first.after.max(message.after);
                if let (Some(all), Some(more)) = (&mut first.blocks, message.blocks) {
                    all.extend(more);
                }
                first.counts.extend(message.counts);
            }
            None => {
                self.ends.insert((message.from, message.to), self.step.messages.len());
                self.step.messages.push(message);
            }
        }
        Ok(())
    }
}

impl Exporter {
    /// Sets as formats see them.
    fn moved(&self, sets: &[BlockSet], send: &Send) -> Result<Vec<Moved>, String> {
        let sums = sums(&self.head.collective);
        if sums && send.is_virtual && self.format.wants_blocks() {
            return Err(
                "a node keeps two sums apart, as virtual nodes do, which this format can't say"
                    .to_owned(),
            );
        }
        let Layout { segments, in_parts } = self.layout;
        let sets = if sums { sums_of(sets, segments) } else { sets.to_vec() };
        let moved = |mut set: BlockSet| {
            if in_parts {
                let parts = set
                    .destinations
                    .take()
                    .unwrap_or_else(|| vec![(0, self.head.nodes.saturating_sub(1))]);
                let of_part =
                    set.segments.take().unwrap_or_else(|| vec![(0, segments.saturating_sub(1))]);
                let numbers = parts.iter().flat_map(|(first, last)| *first..=*last);
                let runs: Runs = numbers
                    .flat_map(|part| {
                        of_part.iter().map(move |(a, b)| (part * segments + a, part * segments + b))
                    })
                    .collect();
                set.segments = Some(joined(runs));
            }
            Moved { set, keeps: send.copy, adds: send.combine }
        };
        Ok(sets.into_iter().map(moved).collect())
    }
}

impl Reader for Exporter {
    fn head(&mut self, head: Head) -> Result<(), String> {
        self.export = Some((self.format.start)(&head, self.folder.clone())?);
        self.head = head;
        Ok(())
    }

    fn event(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Layout(layout) => {
                self.layout = Layout { segments: layout.segments.max(1), ..layout };
                let parts = if layout.in_parts { self.head.nodes } else { 1 };
                let segments = self.layout.segments.saturating_mul(parts);
                self.export()?.segments(segments)
            }
            Event::Send(send) => self.send(send),
            Event::EndOfStep => self.end_step(),
            Event::Redistribute(how) if self.format.wants_sizes => {
                // What nodes sent themselves has come by then, though no step has ended with it.
                self.end_step()?;
                self.counts.get_or_insert_with(|| Counts::new(&self.head)).redistribute(&how)
            }
            Event::Phase(_) | Event::Rearrange | Event::Redistribute(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
