//! Exports of schedules for other programs. Each format is one file and one entry of [`FORMATS`].
//!
//! A schedule arrives step by step while it is verified, and an export keeps at most one step in
//! memory. Formats that are written rank by rank collect the text of each rank in a `spool::Spool`.

use counts::ByteCounts;
use std::collections::HashMap;
use std::fs::File;
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
    /// The name by which users choose the format.
    pub name: &'static str,
    pub help: &'static str,
    /// The files that an export in this format consists of.
    pub output: OutputKind,
    /// Whether the format needs the number of bytes of each block.
    pub wants_sizes: bool,
    start: Start,
}

/// Begins an export into a folder.
type Start = fn(&Header, OutputFolder) -> Result<Box<dyn Export>, ExportError>;

impl Format {
    /// Returns whether the format describes the blocks or sums of each message, and not only its
    /// number of bytes.
    fn wants_blocks(&self) -> bool {
        self.wants_sizes || self.name == "msccl"
    }
}

/// The files that an export consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// A single file with this name in the output folder.
    File(&'static str),
    Folder,
}

/// All formats except [`JSON`], which `trace` prints.
pub static FORMATS: [Format; 5] = [
    Format {
        name: "goal",
        help: "GOAL text of LogGOPSim and ATLAHS, one file",
        output: OutputKind::File(goal::FILE),
        wants_sizes: false,
        start: |head, folder| Ok(Box::new(goal::Goal::new(head, folder)?)),
    },
    Format {
        name: "chakra",
        help: "Chakra execution traces of ASTRA-sim's custom collectives, one file for each rank",
        output: OutputKind::Folder,
        wants_sizes: false,
        start: |head, folder| Ok(Box::new(chakra::Chakra::new(head, folder)?)),
    },
    Format {
        name: "mpi",
        help: "a list of all messages and their blocks, and the C program that executes it under MPI-3 and writes measured rows",
        output: OutputKind::Folder,
        wants_sizes: true,
        start: |head, folder| Ok(Box::new(mpi::Mpi::new(head, folder)?)),
    },
    Format {
        name: "msccl",
        help: "XML of the MSCCL runtime and RCCL, one file",
        output: OutputKind::File(msccl::FILE),
        wants_sizes: false,
        start: |head, folder| Ok(Box::new(msccl::Msccl::new(head, folder)?)),
    },
    Format {
        name: "simgrid",
        help: "a SimGrid platform with these routes, the messages, and the program that plays them",
        output: OutputKind::Folder,
        wants_sizes: false,
        start: |head, folder| Ok(Box::new(simgrid::SimGrid::new(head, folder)?)),
    },
];

/// The name and help text of the format that `trace` prints.
pub const JSON: (&str, &str) = ("json", "the whole schedule, as `trace --format json` prints it");
/// The name of the file that contains the schedule in this format.
pub const SCHEDULE_FILE: &str = "schedule.json";

/// Returns the format with this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The reason why a schedule is not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The format cannot represent the schedule, for this reason.
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
    /// If a `LineParser` returns an error of its [`Exporter`] as an I/O error, this restores the
    /// exporter's error.
    fn from(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(Self::Write)
    }
}

/// An export in progress.
pub trait Export {
    /// Sets the number of segments of each block; called before the first step.
    fn segments(&mut self, _segments: u64) -> Result<(), ExportError> {
        Ok(())
    }

    /// Exports a step. In this step at least one message is sent, but all of its messages may be
    /// local copies.
    fn step(&mut self, step: &Step) -> Result<(), ExportError>;

    /// Ends the export after all steps of a verified schedule. `row` has the columns and texts of a
    /// result row, into which the program that executes the schedule inserts its measurements.
    /// Unknown values are placeholders: `@NAME@`, `@REPETITION@`, `@TIME@`, `@FIRST@`, `@MEAN@`.
    fn finish(self: Box<Self>, row: &[(&str, String)]) -> Result<(), ExportError>;
}

/// All messages of one step.
#[derive(Debug, Default)]
pub struct Step {
    /// The number of the step, from 1. Only steps with messages between nodes count.
    pub number: u64,
    /// The messages between different nodes, in the order of the schedule. Messages with the same
    /// sender, receiver and route are merged.
    pub messages: Vec<Message>,
    /// The local copies, which are messages of nodes to themselves.
    pub copies: Vec<Message>,
}

/// All data that one node sends to another on one route in a step.
#[derive(Debug, Default)]
pub struct Message {
    pub from: u64,
    pub to: u64,
    pub bytes: u64,
    /// The latest step, by [`Step::number`], in which any of the data arrived at the sender; 0 if
    /// the sender had all of the data at the start.
    pub after: u64,
    /// The vertices of the route, including the sender and the receiver.
    pub path: Vec<u64>,
    /// The bandwidth of each link of the route, as a multiple of the machine's bandwidth; empty if
    /// all links have the machine's bandwidth.
    pub bandwidths: Vec<f64>,
    /// The blocks of the message; `None` in a schedule of byte counts.
    pub blocks: Option<Vec<BlockTransfer>>,
    /// The destinations and the number of bytes for each, in a schedule of byte counts. Empty
    /// unless the format needs sizes.
    pub counts: Vec<(u64, u64)>,
}

/// Blocks of a message. In a reduction these are sums, and each sum is listed once, however many
/// contributions it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockTransfer {
    /// The blocks. If the schedule divides blocks into parts, the parts are segments here.
    pub set: BlockSet,
    /// Whether the sender keeps a copy.
    pub keeps: bool,
    /// Whether the receiver adds the blocks to its own values.
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

/// Collects the events of a schedule into steps for one format.
pub struct Exporter {
    format: &'static Format,
    folder: OutputFolder,
    export: Option<Box<dyn Export>>,
    head: Header,
    /// The number of segments of a block or part, and whether blocks are divided into parts.
    layout: Layout,
    /// The bytes that each node holds. Only used in schedules of byte counts, if the format needs
    /// sizes.
    counts: Option<ByteCounts>,
    /// The number that the schedule gives to the current step. `earlier_steps` has these numbers
    /// for the earlier steps with messages between nodes.
    current: u64,
    earlier_steps: Vec<u64>,
    step: Step,
    /// For each sender, receiver and route, the index of the message in the current step.
    by_route: HashMap<(u64, u64, Vec<u64>, Vec<i8>), usize>,
}

impl Exporter {
    /// Creates an exporter that writes into an existing folder.
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

    /// Ends the export when a verified schedule has no more events.
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
        // A step that has only local copies gets no number of its own.
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
        // Steps arrive in order, so a send of another step ends the current one.
        if send.step != self.current {
            self.end_step()?;
            self.current = send.step;
        }
        // Formats with sizes need to know how many bytes a send carries for each destination.
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
        // Steps without messages are not exported, so the other steps are renumbered without gaps.
        let after = self.earlier_steps.partition_point(|step| *step <= send.after) as u64;
        let Send { from, to, bytes, path, signs, bandwidths, .. } = send;
        let message = Message { from, to, bytes, after, path, bandwidths, blocks, counts };
        // Case 1: a local copy is not a message.
        if message.from == message.to {
            self.step.copies.push(message);
            return Ok(());
        }
        // Case 2: an empty message is not sent if the workload skips empty messages.
        if message.bytes == 0 && self.head.skip_empty {
            return Ok(());
        }
        // Case 3: if a step has several sends between the same nodes on the same route, they become
        // one message.
        let route = (message.from, message.to, message.path.clone(), signs);
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

impl Exporter {
    /// Converts the block sets of a send to block transfers.
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
                // The local copies before this event have arrived, although no event has ended
                // their step.
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
