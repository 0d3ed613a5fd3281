//! Exports of schedules for other programs. Each format is one file and one entry of [`FORMATS`].
//!
//! A schedule arrives step by step while it is being verified. An export keeps at most one step of
//! it in memory. Some formats list all operations of rank 0 first, then all operations of rank 1,
//! etc. They collect the text of each rank in a `spool::Spool`.

use counts::ByteCounts;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use swapmeet_interchange::schedule::{
    BlockSet, DocumentEvent, EventHandler, HandlerError, Header, Layout, Runs, Send, distinct_sums,
    is_reduction, merge_runs,
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
    /// The name of the format on the command line.
    pub name: &'static str,
    pub help: &'static str,
    /// The files that an export in this format writes.
    pub output: OutputKind,
    /// Whether the format needs the number of bytes of each block.
    pub wants_sizes: bool,
    /// Whether the format needs the vertices of each route. In other formats, the path of a message
    /// may be empty if the message takes the topology's own route.
    pub wants_routes: bool,
    start: Start,
}

/// A function that starts an export into a folder.
type Start = fn(&Header, OutputFolder) -> Result<Box<dyn Export>, ExportError>;

impl Format {
    /// Returns whether the format needs to know which blocks or sums a message contains. Other
    /// formats only need its number of bytes.
    pub fn wants_blocks(&self) -> bool {
        self.wants_sizes || self.name == "msccl"
    }
}

/// The files that an export writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// A single file with this name in the output folder.
    File(&'static str),
    Folder,
}

/// All formats of this crate. The command line also has [`JSON`], which `trace` writes.
pub static FORMATS: [Format; 5] = [
    Format {
        name: "goal",
        help: "GOAL text of LogGOPSim and ATLAHS, one file",
        output: OutputKind::File(goal::FILE),
        wants_sizes: false,
        wants_routes: false,
        start: |head, folder| Ok(Box::new(goal::Goal::new(head, folder)?)),
    },
    Format {
        name: "chakra",
        help: "Chakra execution traces of ASTRA-sim's custom collectives, one file for each rank",
        output: OutputKind::Folder,
        wants_sizes: false,
        wants_routes: false,
        start: |head, folder| Ok(Box::new(chakra::Chakra::new(head, folder)?)),
    },
    Format {
        name: "mpi",
        help: "a list of all messages and their blocks, and the C program that executes it under MPI-3 and writes measured rows",
        output: OutputKind::Folder,
        wants_sizes: true,
        wants_routes: false,
        start: |head, folder| Ok(Box::new(mpi::Mpi::new(head, folder)?)),
    },
    Format {
        name: "msccl",
        help: "XML of the MSCCL runtime and RCCL, one file",
        output: OutputKind::File(msccl::FILE),
        wants_sizes: false,
        wants_routes: false,
        start: |head, folder| Ok(Box::new(msccl::Msccl::new(head, folder)?)),
    },
    Format {
        name: "simgrid",
        help: "a SimGrid platform with these routes, the messages, and the program that plays them",
        output: OutputKind::Folder,
        wants_sizes: false,
        wants_routes: true,
        start: |head, folder| Ok(Box::new(simgrid::SimGrid::new(head, folder)?)),
    },
];

/// The name and the help text of the format that `trace` writes.
pub const JSON: (&str, &str) = ("json", "the whole schedule, as `trace --format json` prints it");
/// The name of the file that contains a schedule in the format [`JSON`].
pub const SCHEDULE_FILE: &str = "schedule.json";

/// Returns the format with this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The reason why an export fails.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The format cannot represent the schedule. The text is the reason.
    #[error("{0}")]
    Unsupported(String),
    /// The output cannot be written.
    #[error(transparent)]
    Write(io::Error),
}

impl From<String> for ExportError {
    fn from(reason: String) -> Self {
        Self::Unsupported(reason)
    }
}

impl From<&str> for ExportError {
    fn from(reason: &str) -> Self {
        Self::Unsupported(reason.to_owned())
    }
}

impl From<io::Error> for ExportError {
    /// Converts an I/O error back to an [`ExportError`]. A `LineParser` wraps the errors of its
    /// [`Exporter`] in I/O errors.
    fn from(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(Self::Write)
    }
}

/// An export in progress.
pub trait Export {
    /// Sets the number of segments of each block. This is called before the first step.
    fn segments(&mut self, _segments: u64) -> Result<(), ExportError> {
        Ok(())
    }

    /// Exports a step. The step has at least one message or local copy.
    fn step(&mut self, step: &Step) -> Result<(), ExportError>;

    /// Ends the export after all steps of a verified schedule. `row` contains the columns and texts
    /// of a result row. The program that executes the schedule replaces the placeholders in this
    /// row by its measurements. The placeholders are `@NAME@`, `@REPETITION@`, `@TIME@`, `@FIRST@`
    /// and `@MEAN@`.
    fn finish(self: Box<Self>, row: &[(&str, String)]) -> Result<(), ExportError>;
}

/// All messages and local copies of one step.
#[derive(Debug, Default)]
pub struct Step {
    /// The number of the step, counted from 1. Steps that only have local copies are not counted.
    pub number: u64,
    /// The messages between different nodes, in the order of the schedule. Messages of the step
    /// that have the same sender, receiver and route are merged into one.
    pub messages: Vec<Message>,
    /// The local copies. In the schedule, these are messages that nodes send to themselves.
    pub copies: Vec<Message>,
}

/// All data that one node sends to another node on one route in one step.
#[derive(Debug, Default)]
pub struct Message {
    pub from: u64,
    pub to: u64,
    pub bytes: u64,
    /// The number of the latest step in which the sender received any of the data, as in
    /// [`Step::number`]. It is 0 if the sender had all of the data at the start.
    pub after: u64,
    /// The vertices of the route, including the sender and the receiver.
    pub path: Vec<u64>,
    /// The bandwidth of each link of the route, divided by the bandwidth of the machine. Empty if
    /// all links have the bandwidth of the machine.
    pub bandwidths: Vec<f64>,
    /// The blocks in the message; `None` in a schedule that counts bytes instead of blocks.
    pub blocks: Option<Vec<BlockTransfer>>,
    /// In a schedule that counts bytes, pairs of a destination and the number of bytes for it.
    /// Empty if the format does not need sizes.
    pub counts: Vec<(u64, u64)>,
}

/// A set of blocks in a message. In a reduction, the blocks are sums. A sum is listed only once,
/// even if it has several contributions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockTransfer {
    /// The set of blocks. If the schedule divides blocks into parts, the segments of this set are
    /// these parts.
    pub set: BlockSet,
    /// Whether the sender still has the blocks afterwards.
    pub keeps: bool,
    /// Whether the receiver adds the blocks to the values that it already has.
    pub adds: bool,
}

/// The folder into which an export writes.
#[derive(Debug, Clone)]
pub struct OutputFolder(PathBuf);

impl OutputFolder {
    fn create(&self, name: &str) -> io::Result<BufWriter<File>> {
        File::create(self.0.join(name)).map(BufWriter::new)
    }
}

/// Receives the events of a schedule, collects them into steps, and passes the steps to one format.
pub struct Exporter {
    format: &'static Format,
    folder: OutputFolder,
    export: Option<Box<dyn Export>>,
    head: Header,
    /// How blocks are divided: the number of segments, and whether the schedule divides blocks into
    /// parts.
    layout: Layout,
    /// The number of bytes in each node. This is only used if the schedule counts bytes and the
    /// format needs sizes.
    counts: Option<ByteCounts>,
    /// The number of the current step in the schedule. `earlier_steps` contains the numbers in the
    /// schedule of all earlier steps that had messages between nodes.
    current: u64,
    earlier_steps: Vec<u64>,
    step: Step,
    /// The index of each message in the current step, by the sender, the receiver and a hash of the
    /// route. The key has a hash, because the routes would take more memory than all other data of
    /// the step.
    by_route: HashMap<(u64, u64, u64), usize>,
}

impl Exporter {
    /// Creates an exporter that writes to an existing folder.
    pub fn new(format: &'static Format, folder: &Path) -> Self {
        let (step, by_route) = (Step { number: 1, ..Step::default() }, HashMap::new());
        Self {
            format,
            folder: OutputFolder(folder.to_owned()),
            export: None,
            head: Header::default(),
            layout: Layout { segments: 1, in_parts: false },
            counts: None,
            current: 0,
            step,
            by_route,
            earlier_steps: Vec::new(),
        }
    }

    /// Ends the export. This must be called when a verified schedule has no more events.
    pub fn finish(mut self, row: &[(&str, String)]) -> Result<(), ExportError> {
        self.end_step()?;
        self.export.ok_or("it has no schedule")?.finish(row)
    }

    fn export(&mut self) -> Result<&mut Box<dyn Export>, ExportError> {
        self.export.as_mut().ok_or_else(|| "its events come before its head".into())
    }

    fn end_step(&mut self) -> Result<(), ExportError> {
        if let Some(counts) = &mut self.counts {
            counts.arrive();
        }
        if self.step.messages.is_empty() && self.step.copies.is_empty() {
            return Ok(());
        }
        let number = self.step.number;
        // A step that only has local copies does not get its own number.
        let is_step = !self.step.messages.is_empty();
        let next = number + u64::from(is_step);
        let step = std::mem::replace(&mut self.step, Step { number: next, ..Step::default() });
        self.by_route.clear();
        if is_step {
            self.earlier_steps.push(self.current);
        }
        self.export()?.step(&step)
    }

    fn send(&mut self, send: Send) -> Result<(), ExportError> {
        // Steps arrive in order. A send of the next step therefore ends the current step.
        if send.step != self.current {
            self.end_step()?;
            self.current = send.step;
        }
        // Formats that need sizes must know how many bytes of a send belong to each destination.
        let counts = match &send.share {
            Some(share) if self.format.wants_sizes => {
                let counts = self.counts.get_or_insert_with(|| ByteCounts::new(&self.head));
                counts.extract(send.from, send.to, share)?
            }
            Some(_) | None => Vec::new(),
        };
        let blocks = match &send.blocks {
            Some(sets) => Some(self.transfers(sets, &send)?),
            None => None,
        };
        // Renumber the steps without gaps, because steps without messages are not exported.
        let after = self.earlier_steps.partition_point(|step| *step <= send.after) as u64;
        let route = (send.from, send.to, hash_of(&(&send.path, &send.signs)));
        let Send { from, to, bytes, path, bandwidths, .. } = send;
        let message = Message { from, to, bytes, after, path, bandwidths, blocks, counts };
        // Case 1: a node sends to itself. This is a local copy, not a message.
        if message.from == message.to {
            self.step.copies.push(message);
            return Ok(());
        }
        // Case 2: the message is empty, and the workload skips empty messages. Do not export it.
        if message.bytes == 0 && self.head.skip_empty {
            return Ok(());
        }
        // Case 3: all other messages. If the step already has a message between the same nodes on
        // the same route, merge both messages.
        match self.by_route.get(&route).and_then(|at| self.step.messages.get_mut(*at)) {
            Some(first) => {
                first.bytes = first.bytes.saturating_add(message.bytes);
                first.after = first.after.max(message.after);
                if let (Some(all), Some(more)) = (&mut first.blocks, message.blocks) {
                    all.extend(more);
                }
                first.counts.extend(message.counts);
            }
            None => {
                self.by_route.insert(route, self.step.messages.len());
                self.step.messages.push(message);
            }
        }
        Ok(())
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Exporter {
    /// Converts the block sets of a send to [`BlockTransfer`]s.
    fn transfers(&self, sets: &[BlockSet], send: &Send) -> Result<Vec<BlockTransfer>, String> {
        let is_reduction = is_reduction(&self.head.collective);
        if is_reduction && send.is_virtual && self.format.wants_blocks() {
            return Err(
                "a node holds two separate sums (virtual nodes), which this format cannot represent"
                    .to_owned(),
            );
        }
        let Layout { segments, in_parts } = self.layout;
        let sets = if is_reduction { distinct_sums(sets, segments) } else { sets.to_vec() };
        let transfer = |mut set: BlockSet| {
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
                set.segments = Some(merge_runs(runs));
            }
            BlockTransfer { set, keeps: send.copy, adds: send.combine }
        };
        Ok(sets.into_iter().map(transfer).collect())
    }
}

impl EventHandler for Exporter {
    fn head(&mut self, head: Header) -> Result<(), HandlerError> {
        self.export = Some((self.format.start)(&head, self.folder.clone())?);
        self.head = head;
        Ok(())
    }

    fn event(&mut self, event: DocumentEvent) -> Result<(), HandlerError> {
        match event {
            DocumentEvent::Layout(layout) => {
                self.layout = Layout { segments: layout.segments.max(1), ..layout };
                let parts = if layout.in_parts { self.head.nodes } else { 1 };
                let segments = self.layout.segments.saturating_mul(parts);
                Ok(self.export()?.segments(segments)?)
            }
            DocumentEvent::Send(send) => Ok(self.send(send)?),
            DocumentEvent::EndOfStep => Ok(self.end_step()?),
            DocumentEvent::Redistribute(how) if self.format.wants_sizes => {
                // First end the current step, which may contain local copies. The document has no
                // event for the end of this step.
                self.end_step()?;
                let counts = self.counts.get_or_insert_with(|| ByteCounts::new(&self.head));
                Ok(counts.redistribute(&how)?)
            }
            DocumentEvent::Phase(_) | DocumentEvent::Rearrange | DocumentEvent::Redistribute(_) => {
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
