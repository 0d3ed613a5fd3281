//! MSCCL's XML: what each GPU's thread blocks do, with buffers, scratch and dependencies.
//!
//! A thread block of a GPU sends to the one so many numbers further on and receives from the one so
//! many numbers back. What a GPU does in a step waits for all that it did in the last one before;
//! what is to go lies together, copied to scratch first where it does not. Values of a reduction
//! stay at their places in one buffer, so that what is added is added there. What MSCCL can't hold
//! is refused by the limit's name.

use super::{Export, Folder, Message, Moved, Step, unwritten};
use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use swapmeet_interchange::msccl::{
    self, Buffer, Collective, Gpu, Kind, Place, Program, ThreadBlock,
};
use swapmeet_interchange::schedule::{Head, Runs};

pub(super) const FILE: &str = "schedule.xml";

/// Of a thread block, a GPU, a channel, a step.
const STEPS: usize = 64;
const THREAD_BLOCKS: usize = 64;
const ON_A_CHANNEL: u64 = 32;
const CHANNELS: u64 = 32;
const CHUNKS: usize = 71;

pub(super) struct Msccl {
    folder: Folder,
    name: String,
    nodes: u64,
    root: u64,
    collective: Collective,
    segments: u64,
    gpus: Vec<Work>,
}

/// Chunks that one step of a thread block can send, and whether the receiver adds them to what it
/// has.
type Piece = (Vec<[u64; 3]>, bool);

/// A GPU under way.
#[derive(Default)]
struct Work {
    blocks: Vec<ThreadBlock>,
    /// The thread block for each distance, and for each further piece of a message.
    by_distance: HashMap<(u64, usize), usize>,
    scratch: u64,
    /// Where each chunk is that the GPU has.
    at: HashMap<[u64; 3], Place>,
    /// The last steps of all thread blocks that did something in the last step in which the GPU
    /// did.
    ended: BTreeMap<usize, usize>,
    /// The same of the step under way.
    ending: BTreeMap<usize, usize>,
}

impl Msccl {
    pub(super) fn new(head: &Head, folder: Folder) -> Result<Self, String> {
        let word = head.collective.replace('-', "");
        let known = Collective::WORDS.iter().find(|(known, _)| *known == word);
        let (_, collective) =
            *known.ok_or_else(|| format!("MSCCL has no `{}`", head.collective))?;
        if head.block_bytes.is_none() {
            return Err("its blocks differ in size, and MSCCL's chunks are all alike".to_owned());
        }
        let gpus = (0..head.nodes).map(|_| Work::default()).collect();
        let name = format!("{}_on_{}", head.algorithm, head.topology);
        let root = head.root.unwrap_or(0);
        Ok(Self { folder, name, nodes: head.nodes, root, collective, segments: 0, gpus })
    }

    /// What each GPU has at the start, and copies of what is already there.
    fn begin(&mut self, segments: u64) -> Result<(), String> {
        self.segments = segments;
        for gpu in 0..self.nodes {
            let base = self.base(gpu);
            let (n, k, root) = (self.nodes, segments, gpu == self.root);
            let own: Vec<([u64; 3], u64)> = match self.collective {
                Collective::AllToAll => (0..n * k).map(|i| ([gpu, i / k, i % k], i)).collect(),
                Collective::Scatter if !root => Vec::new(),
                Collective::Scatter | Collective::ReduceScatter => {
                    (0..n * k).map(|i| ([0, i / k, i % k], i)).collect()
                }
                Collective::Broadcast if !root => Vec::new(),
                Collective::Broadcast | Collective::Reduce | Collective::AllReduce => {
                    (0..k).map(|i| ([0, 0, i], i)).collect()
                }
                Collective::Gather | Collective::AllGather => {
                    (0..k).map(|i| ([gpu, 0, i], i)).collect()
                }
            };
            let mut copies = Vec::new();
            for (chunk, offset) in own {
                let input = Place { buffer: Buffer::Input, offset };
                self.gpus[gpu as usize].at.insert(chunk, input);
                let home = match (base, self.output(gpu, chunk)) {
                    (Some(buffer), _) => Some(Place { buffer, offset }),
                    (None, home) => home,
                };
                copies.extend(home.map(|home| (chunk, input, home)));
            }
            // Where others wait for it, what is copied is then at its new place.
            let moves = base.is_some() || self.collective == Collective::AllGather;
            self.copied(gpu, &copies)?;
            let work = &mut self.gpus[gpu as usize];
            if base == Some(Buffer::Scratch) {
                work.scratch = copies.len() as u64;
            }
            if moves {
                work.at.extend(copies.iter().map(|(chunk, _, home)| (*chunk, *home)));
                work.ended = std::mem::take(&mut work.ending);
            }
            work.ending.clear();
        }
        Ok(())
    }

    /// Copies at the start, in a thread block that neither sends nor receives.
    fn copied(&mut self, gpu: u64, copies: &[([u64; 3], Place, Place)]) -> Result<(), String> {
        let pairs: Vec<(Place, Place)> = copies.iter().map(|(_, from, to)| (*from, *to)).collect();
        if pairs.is_empty() {
            return Ok(());
        }
        let block = self.thread_block(gpu, (0, 0))?;
        for (from, to, count) in runs_of(&pairs) {
            self.push(gpu, block, Kind::COPY, from, to, count)?;
        }
        Ok(())
    }

    /// In a reduction, the buffer in which a GPU's values stay.
    fn base(&self, gpu: u64) -> Option<Buffer> {
        match self.collective {
            Collective::AllReduce => Some(Buffer::Output),
            Collective::Reduce if gpu == self.root => Some(Buffer::Output),
            Collective::Reduce | Collective::ReduceScatter => Some(Buffer::Scratch),
            Collective::AllToAll
            | Collective::Broadcast
            | Collective::Scatter
            | Collective::Gather
            | Collective::AllGather => None,
        }
    }

    /// Where a chunk is to be at the end, if it is to be at this GPU.
    fn output(&self, gpu: u64, [origin, destination, segment]: [u64; 3]) -> Option<Place> {
        let k = self.segments;
        let offset = match self.collective {
            Collective::AllToAll => (destination == gpu).then_some(origin * k + segment),
            Collective::Scatter | Collective::ReduceScatter => {
                (destination == gpu).then_some(segment)
            }
            Collective::Gather => (gpu == self.root).then_some(origin * k + segment),
            Collective::AllGather => Some(origin * k + segment),
            Collective::Broadcast | Collective::AllReduce => Some(segment),
            Collective::Reduce => (gpu == self.root).then_some(segment),
        };
        offset.map(|offset| Place { buffer: Buffer::Output, offset })
    }

    fn chunks(&self) -> [u64; 2] {
        let (n, k) = (self.nodes, self.segments);
        match self.collective {
            Collective::AllToAll => [n * k, n * k],
            Collective::Scatter | Collective::ReduceScatter => [n * k, k],
            Collective::Gather | Collective::AllGather => [k, n * k],
            Collective::Broadcast | Collective::Reduce | Collective::AllReduce => [k, k],
        }
    }

    fn thread_block(&mut self, gpu: u64, key: (u64, usize)) -> Result<usize, String> {
        let work = &mut self.gpus[gpu as usize];
        if let Some(block) = work.by_distance.get(&key) {
            return Ok(*block);
        }
        let channel = key.0.saturating_sub(1) / ON_A_CHANNEL
            + key.1 as u64 * (self.nodes.div_ceil(ON_A_CHANNEL));
        if work.blocks.len() == THREAD_BLOCKS {
            return Err(format!(
                "GPU {gpu} needs more than {THREAD_BLOCKS} thread blocks, MSCCL's limit for a GPU"
            ));
        }
        if channel >= CHANNELS {
            return Err(format!("GPU {gpu} needs more than {CHANNELS} channels, MSCCL's limit"));
        }
        work.blocks.push(ThreadBlock {
            send: None,
            receive: None,
            channel,
            steps: Vec::new(),
            line: 0,
        });
        work.by_distance.insert(key, work.blocks.len() - 1);
        Ok(work.blocks.len() - 1)
    }

    /// One step of a thread block; the first that it does in a step of the schedule waits for all
    /// that the GPU did before.
    fn push(
        &mut self,
        gpu: u64,
        block: usize,
        kind: Kind,
        source: Place,
        target: Place,
        count: u64,
    ) -> Result<(), String> {
        let work = &mut self.gpus[gpu as usize];
        let mut waits = Vec::new();
        if !work.ending.contains_key(&block) {
            let others = work.ended.iter().filter(|(other, _)| **other != block);
            waits = others.map(|(other, step)| (*other as u64, *step as u64)).collect();
        }
        let after = waits.pop();
        let steps = &mut work.blocks[block].steps;
        let nowhere = Place { buffer: Buffer::Input, offset: 0 };
        for wait in waits {
            steps.push(msccl::Step {
                kind: Kind::WAIT,
                source: nowhere,
                target: nowhere,
                count: 0,
                after: Some(wait),
                line: 0,
            });
        }
        steps.push(msccl::Step { kind, source, target, count, after, line: 0 });
        if steps.len() > STEPS {
            return Err(format!(
                "GPU {gpu}, thread block {block} needs more than {STEPS} steps, MSCCL's limit for a thread block"
            ));
        }
        work.ending.insert(block, steps.len() - 1);
        Ok(())
    }

    /// What a message takes, piece by piece.
    fn pieces(&self, message: &Message) -> Result<Vec<Piece>, String> {
        let Some(blocks) = &message.blocks else {
            return Err(
                "it moves byte counts, not blocks: MSCCL must know which bytes go where".to_owned()
            );
        };
        let from = &self.gpus[message.from as usize];
        let mut chunks = Vec::new();
        for Moved { set, adds, .. } in blocks {
            let numbers = |runs: &Option<Runs>| -> Vec<u64> {
                let all = vec![(0, 0)];
                runs.as_ref()
                    .unwrap_or(&all)
                    .iter()
                    .flat_map(|(first, last)| *first..=*last)
                    .collect()
            };
            // Of blocks that are whole there is one segment, and nothing says so.
            let segments = match &set.segments {
                None => (0..self.segments).collect(),
                some => numbers(some),
            };
            for origin in numbers(&set.origins) {
                for destination in numbers(&set.destinations) {
                    chunks.extend(
                        segments.iter().map(|segment| ([origin, destination, *segment], *adds)),
                    );
                }
            }
        }
        let mut placed = Vec::new();
        for (chunk, adds) in chunks {
            let place = from.at.get(&chunk).copied();
            let place = place.ok_or_else(|| {
                format!("GPU {} has no chunk {chunk:?} in a step that sends it", message.from)
            })?;
            placed.push((place, chunk, adds));
        }
        placed.sort_unstable();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut last: Option<Place> = None;
        for (place, chunk, adds) in placed {
            let next = last
                .is_some_and(|last| last.buffer == place.buffer && last.offset + 1 == place.offset);
            last = Some(place);
            // Values have their places; blocks are put together.
            let joins = next || !self.collective.sums();
            match pieces.last_mut() {
                Some((list, added)) if joins && *added == adds && list.len() < CHUNKS => {
                    list.push(chunk)
                }
                Some(_) | None => pieces.push((vec![chunk], adds)),
            }
        }
        Ok(pieces)
    }

    fn places(&self, gpu: u64, chunks: &[[u64; 3]]) -> Vec<Place> {
        chunks.iter().filter_map(|chunk| self.gpus[gpu as usize].at.get(chunk).copied()).collect()
    }

    fn scratch(&mut self, gpu: u64, count: u64) -> Place {
        let work = &mut self.gpus[gpu as usize];
        work.scratch += count;
        Place { buffer: Buffer::Scratch, offset: work.scratch - count }
    }

    fn send(&mut self, message: &Message, piece: usize, chunks: &[[u64; 3]]) -> Result<(), String> {
        let (gpu, count) = (message.from, chunks.len() as u64);
        let block = self.thread_block(gpu, (self.distance(message), piece))?;
        let places = self.places(gpu, chunks);
        let mut source = places[0];
        if !together(&places) {
            source = self.scratch(gpu, count);
            let to = (0..).map(|i| Place { offset: source.offset + i, ..source });
            let pairs: Vec<(Place, Place)> = places.iter().copied().zip(to).collect();
            for (from, to, count) in runs_of(&pairs) {
                self.push(gpu, block, Kind::COPY, from, to, count)?;
            }
        }
        self.push(gpu, block, Kind::SEND, source, source, count)?;
        self.gpus[gpu as usize].blocks[block].send = Some(message.to);
        Ok(())
    }

    fn receive(
        &mut self,
        message: &Message,
        piece: usize,
        chunks: &[[u64; 3]],
        adds: bool,
    ) -> Result<(), String> {
        let (gpu, count) = (message.to, chunks.len() as u64);
        let block = self.thread_block(gpu, (self.distance(message), piece))?;
        self.gpus[gpu as usize].blocks[block].receive = Some(message.from);
        if self.collective.sums() {
            // Where its own value is, or was.
            let [_, destination, segment] = chunks[0];
            let buffer = self.base(gpu).unwrap_or(Buffer::Output);
            let target = Place { buffer, offset: destination * self.segments + segment };
            let kind = if adds { Kind::ADD_STORE } else { Kind::RECEIVE };
            self.push(gpu, block, kind, target, target, count)?;
            return Ok(());
        }
        let homes: Vec<Option<Place>> =
            chunks.iter().map(|chunk| self.output(gpu, *chunk)).collect();
        let whole: Option<Vec<Place>> = homes.iter().copied().collect();
        if let Some(homes) = whole.filter(|homes| together(homes)) {
            self.push(gpu, block, Kind::RECEIVE, homes[0], homes[0], count)?;
            self.gpus[gpu as usize].at.extend(chunks.iter().copied().zip(homes));
            return Ok(());
        }
        let target = self.scratch(gpu, count);
        self.push(gpu, block, Kind::RECEIVE, target, target, count)?;
        let mut pairs = Vec::new();
        for ((i, chunk), home) in (0..).zip(chunks).zip(homes) {
            let here = Place { offset: target.offset + i, ..target };
            self.gpus[gpu as usize].at.insert(*chunk, home.unwrap_or(here));
            pairs.extend(home.map(|home| (here, home)));
        }
        for (from, to, count) in runs_of(&pairs) {
            self.push(gpu, block, Kind::COPY, from, to, count)?;
        }
        Ok(())
    }

    fn distance(&self, message: &Message) -> u64 {
        (message.to + self.nodes - message.from) % self.nodes
    }
}

/// Whether places follow one another.
fn together(places: &[Place]) -> bool {
    places
        .windows(2)
        .all(|two| two[0].buffer == two[1].buffer && two[0].offset + 1 == two[1].offset)
}

/// Copies of several chunks at once, where both sides follow one another.
fn runs_of(pairs: &[(Place, Place)]) -> Vec<(Place, Place, u64)> {
    let mut runs: Vec<(Place, Place, u64)> = Vec::new();
    for (from, to) in pairs {
        match runs.last_mut() {
            Some((a, b, count))
                if *count < CHUNKS as u64
                    && (a.buffer, a.offset + *count) == (from.buffer, from.offset)
                    && (b.buffer, b.offset + *count) == (to.buffer, to.offset) =>
            {
                *count += 1;
            }
            Some(_) | None => runs.push((*from, *to, 1)),
        }
    }
    runs
}

impl Export for Msccl {
    fn segments(&mut self, segments: u64) -> Result<(), String> {
        self.begin(segments)
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        if self.segments == 0 {
            self.begin(1)?;
        }
        let pieces = step
            .messages
            .iter()
            .map(|message| self.pieces(message))
            .collect::<Result<Vec<_>, _>>()?;
        let in_step = |why: String| format!("step {}: {why}", step.number);
        // A thread block sends before it receives: both at once.
        for (message, pieces) in step.messages.iter().zip(&pieces) {
            for (number, (chunks, _)) in pieces.iter().enumerate() {
                self.send(message, number, chunks).map_err(in_step)?;
            }
        }
        for (message, pieces) in step.messages.iter().zip(&pieces) {
            for (number, (chunks, adds)) in pieces.iter().enumerate() {
                self.receive(message, number, chunks, *adds).map_err(in_step)?;
            }
        }
        for work in self.gpus.iter_mut().filter(|work| !work.ending.is_empty()) {
            work.ended = std::mem::take(&mut work.ending);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &[(&str, String)]) -> Result<(), String> {
        if self.segments == 0 {
            self.begin(1)?;
        }
        if self.collective == Collective::ReduceScatter {
            for gpu in 0..self.nodes {
                let own = |buffer, offset| Place { buffer, offset };
                let block = self.thread_block(gpu, (0, 0))?;
                let pairs: Vec<(Place, Place)> = (0..self.segments)
                    .map(|i| {
                        (own(Buffer::Scratch, gpu * self.segments + i), own(Buffer::Output, i))
                    })
                    .collect();
                for (from, to, count) in runs_of(&pairs) {
                    self.push(gpu, block, Kind::COPY, from, to, count)?;
                }
            }
        }
        let [inputs, outputs] = self.chunks();
        let gpu = |work: Work| Gpu {
            chunks: [inputs, outputs, work.scratch],
            blocks: work.blocks,
            line: 0,
        };
        let gpus = std::mem::take(&mut self.gpus).into_iter().map(gpu).collect();
        let program = Program { collective: self.collective, in_place: false, gpus };
        let mut out = self.folder.create(FILE)?;
        msccl::write(&program, &self.name, &mut out).and_then(|()| out.flush()).map_err(unwritten)
    }
}
