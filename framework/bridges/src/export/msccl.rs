//! XML for MSCCL: the steps of the thread blocks of each GPU, with buffers and dependencies.
//! For each thread block, there is a fixed distance d. The block sends to the GPU whose number is d
//! higher, and receives from the GPU whose number is d lower. In each step, a GPU waits for its
//! operations of the previous step. The chunks of a message must be contiguous, otherwise they are
//! first copied to scratch space. In a reduction, each value has a fixed position in one buffer,
//! and received values are added there.

use super::{BlockTransfer, Export, ExportError, Message, OutputFolder, Part, Step};
use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use swapmeet_core::liveness::{Deadlock, Operation, Programs};
use swapmeet_interchange::msccl::{
    self, Buffer, ChunkLocation, Collective, Gpu, Program, StepKind, ThreadBlock,
};
use swapmeet_interchange::schedule::{Header, Runs};

pub(super) const FILE: &str = "schedule.xml";

/// MSCCL's limits: the steps of a thread block, the thread blocks of a GPU, the thread blocks of a
/// channel, the channels of the program, and the chunks of a step.
const MAX_STEPS: usize = 64;
const MAX_THREAD_BLOCKS: usize = 64;
const BLOCKS_PER_CHANNEL: u64 = 32;
const MAX_CHANNELS: u64 = 32;
const MAX_CHUNKS_PER_STEP: usize = 71;

/// The number of slots of a connection (`NCCL_STEPS` in NVIDIA/nccl 5067397, src/include/device.h).
const SLOTS: u64 = 8;

pub(super) struct Msccl {
    folder: OutputFolder,
    name: String,
    nodes: u64,
    root: u64,
    collective: Collective,
    segments: u64,
    gpus: Vec<GpuState>,
    sent: Vec<Vec<BlockTransfer>>,
}

/// The chunks of one operation (origin, destination, segment), and whether the receiver adds them.
type TransferPiece = (Vec<[u64; 3]>, bool);

#[derive(Default)]
struct GpuState {
    blocks: Vec<ThreadBlock>,
    /// The index of each thread block, by the distance between sender and receiver and by the
    /// number of the piece that it sends. A message is sent in one or more pieces.
    by_distance: HashMap<(u64, usize), usize>,
    scratch: u64,
    /// Where the GPU stores each of its chunks. A key is an origin, a destination and a segment.
    locations: HashMap<[u64; 3], ChunkLocation>,
    /// By thread block, the index of its last operation in the GPU's previous step.
    last_steps: BTreeMap<usize, usize>,
    /// By thread block, the index of its last operation in the GPU's current step.
    current_steps: BTreeMap<usize, usize>,
}

impl Msccl {
    pub(super) fn new(head: &Header, folder: OutputFolder) -> Result<Self, ExportError> {
        let word = head.collective.replace('-', "");
        let known = Collective::WORDS.iter().find(|(known, _)| *known == word);
        let (_, collective) =
            *known.ok_or_else(|| format!("MSCCL has no `{}`", head.collective))?;
        if head.block_bytes.is_none() {
            return Err(
                "its blocks differ in size, and MSCCL's chunks all have the same size".into()
            );
        }
        let gpus = (0..head.nodes).map(|_| GpuState::default()).collect();
        let name = format!("{}_on_{}", head.algorithm, head.topology);
        let root = head.root.unwrap_or(0);
        let (nodes, segments, sent) = (head.nodes, 0, Vec::new());
        Ok(Self { folder, name, nodes, root, collective, segments, gpus, sent })
    }

    /// Determines where each GPU first stores its chunks, and copies those that must be elsewhere.
    fn begin(&mut self, segments: u64) -> Result<(), String> {
        self.segments = segments;
        for gpu in 0..self.nodes {
            let reduction_buffer = self.reduction_buffer(gpu);
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
            // In a reduction, chunks are copied to its buffer, otherwise to their final position on
            // this GPU.
            let mut copies = Vec::new();
            for (chunk, offset) in own {
                let input = ChunkLocation { buffer: Buffer::Input, offset };
                self.gpus[gpu as usize].locations.insert(chunk, input);
                let home = match (reduction_buffer, self.output(gpu, chunk)) {
                    (Some(buffer), _) => Some(ChunkLocation { buffer, offset }),
                    (None, home) => home,
                };
                copies.extend(home.map(|home| (chunk, input, home)));
            }
            // Operations of the schedule's first step that use the copies wait for them.
            let moves = reduction_buffer.is_some() || self.collective == Collective::AllGather;
            if !copies.is_empty() {
                let block = self.thread_block(gpu, (0, 0))?;
                self.copy(gpu, block, copies.iter().map(|(_, from, to)| (*from, *to)))?;
            }
            let state = &mut self.gpus[gpu as usize];
            if reduction_buffer == Some(Buffer::Scratch) {
                state.scratch = copies.len() as u64;
            }
            if moves {
                state.locations.extend(copies.iter().map(|(chunk, _, home)| (*chunk, *home)));
                state.last_steps = std::mem::take(&mut state.current_steps);
            }
            state.current_steps.clear();
        }
        Ok(())
    }

    fn copy(
        &mut self,
        gpu: u64,
        block: usize,
        copies: impl IntoIterator<Item = (ChunkLocation, ChunkLocation)>,
    ) -> Result<(), String> {
        for (from, to, count) in runs_of(copies) {
            self.push(gpu, block, StepKind::COPY, from, to, count)?;
        }
        Ok(())
    }

    fn reduction_buffer(&self, gpu: u64) -> Option<Buffer> {
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

    /// Returns the position of a chunk in this GPU's output, or `None` if it is not part of it.
    fn output(&self, gpu: u64, [origin, destination, segment]: [u64; 3]) -> Option<ChunkLocation> {
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
        offset.map(|offset| ChunkLocation { buffer: Buffer::Output, offset })
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
        let state = &mut self.gpus[gpu as usize];
        if let Some(block) = state.by_distance.get(&key) {
            return Ok(*block);
        }
        let channel = key.0.saturating_sub(1) / BLOCKS_PER_CHANNEL
            + key.1 as u64 * (self.nodes.div_ceil(BLOCKS_PER_CHANNEL));
        if state.blocks.len() == MAX_THREAD_BLOCKS {
            return Err(format!(
                "GPU {gpu} needs more than {MAX_THREAD_BLOCKS} thread blocks, MSCCL's limit for a GPU"
            ));
        }
        if channel >= MAX_CHANNELS {
            return Err(format!(
                "GPU {gpu} needs more than {MAX_CHANNELS} channels, MSCCL's limit"
            ));
        }
        state.blocks.push(ThreadBlock {
            send: None,
            receive: None,
            channel,
            steps: Vec::new(),
            line: 0,
        });
        state.by_distance.insert(key, state.blocks.len() - 1);
        Ok(state.blocks.len() - 1)
    }

    /// Appends an operation. A thread block's first one in a step waits for the GPU's previous
    /// step.
    fn push(
        &mut self,
        gpu: u64,
        block: usize,
        kind: StepKind,
        source: ChunkLocation,
        target: ChunkLocation,
        count: u64,
    ) -> Result<(), String> {
        let state = &mut self.gpus[gpu as usize];
        let mut waits = Vec::new();
        if !state.current_steps.contains_key(&block) {
            let others = state.last_steps.iter().filter(|(other, _)| **other != block);
            waits = others.map(|(other, step)| (*other as u64, *step as u64)).collect();
        }
        let dependency = waits.pop();
        let steps = &mut state.blocks[block].steps;
        let nowhere = ChunkLocation { buffer: Buffer::Input, offset: 0 };
        for wait in waits {
            steps.push(msccl::Step {
                kind: StepKind::WAIT,
                source: nowhere,
                target: nowhere,
                count: 0,
                dependency: Some(wait),
                line: 0,
            });
        }
        steps.push(msccl::Step { kind, source, target, count, dependency, line: 0 });
        if steps.len() > MAX_STEPS {
            return Err(format!(
                "GPU {gpu}, thread block {block} needs more than {MAX_STEPS} steps, MSCCL's limit for a thread block"
            ));
        }
        state.current_steps.insert(block, steps.len() - 1);
        Ok(())
    }

    /// Divides a message into pieces. A piece is sent by one operation (a step of MSCCL), so it has
    /// at most [`MAX_CHUNKS_PER_STEP`] chunks. The receiver adds either all of them or none.
    fn pieces(
        &self,
        message: &Message,
        blocks: &[BlockTransfer],
    ) -> Result<Vec<TransferPiece>, String> {
        let from = &self.gpus[message.from as usize];
        let mut chunks = Vec::new();
        for BlockTransfer { set, adds, .. } in blocks {
            let numbers = |runs: &Option<Runs>| -> Vec<u64> {
                let runs = runs.as_deref().unwrap_or(&[(0, 0)]);
                runs.iter().flat_map(|(first, last)| *first..=*last).collect()
            };
            // A set without a list of segments contains all segments of its blocks.
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
            let place = from.locations.get(&chunk).copied();
            let place = place.ok_or_else(|| {
                format!("GPU {} has no chunk {chunk:?} in a step that sends it", message.from)
            })?;
            placed.push((place, chunk, adds));
        }
        placed.sort_unstable();
        let mut pieces: Vec<TransferPiece> = Vec::new();
        let mut last: Option<ChunkLocation> = None;
        for (place, chunk, adds) in placed {
            let next = last.replace(place).is_some_and(|last| is_after(last, 1, place));
            // In a reduction, the chunks of a piece must be contiguous. Otherwise they need not be,
            // because chunks that are not contiguous are copied to scratch space.
            let joins = next || !self.collective.is_reduction();
            match pieces.last_mut() {
                Some((list, added))
                    if joins && *added == adds && list.len() < MAX_CHUNKS_PER_STEP =>
                {
                    list.push(chunk);
                }
                Some(_) | None => pieces.push((vec![chunk], adds)),
            }
        }
        Ok(pieces)
    }

    fn places(&self, gpu: u64, chunks: &[[u64; 3]]) -> Vec<ChunkLocation> {
        chunks
            .iter()
            .filter_map(|chunk| self.gpus[gpu as usize].locations.get(chunk).copied())
            .collect()
    }

    fn scratch(&mut self, gpu: u64, count: u64) -> ChunkLocation {
        let state = &mut self.gpus[gpu as usize];
        state.scratch += count;
        ChunkLocation { buffer: Buffer::Scratch, offset: state.scratch - count }
    }

    fn send(&mut self, message: &Message, piece: usize, chunks: &[[u64; 3]]) -> Result<(), String> {
        let (gpu, count) = (message.from, chunks.len() as u64);
        let block = self.thread_block(gpu, (self.distance(message), piece))?;
        let places = self.places(gpu, chunks);
        let mut source = places[0];
        if !are_contiguous(&places) {
            source = self.scratch(gpu, count);
            let to = (source.offset..).map(|offset| ChunkLocation { offset, ..source });
            self.copy(gpu, block, places.into_iter().zip(to))?;
        }
        self.push(gpu, block, StepKind::SEND, source, source, count)?;
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
        if self.collective.is_reduction() {
            let [_, destination, segment] = chunks[0];
            let buffer = self.reduction_buffer(gpu).unwrap_or(Buffer::Output);
            let target = ChunkLocation { buffer, offset: destination * self.segments + segment };
            let kind = if adds { StepKind::ADD_STORE } else { StepKind::RECEIVE };
            self.push(gpu, block, kind, target, target, count)?;
            return Ok(());
        }
        let homes: Vec<Option<ChunkLocation>> =
            chunks.iter().map(|chunk| self.output(gpu, *chunk)).collect();
        let whole: Option<Vec<ChunkLocation>> = homes.iter().copied().collect();
        if let Some(homes) = whole.filter(|homes| are_contiguous(homes)) {
            self.push(gpu, block, StepKind::RECEIVE, homes[0], homes[0], count)?;
            self.gpus[gpu as usize].locations.extend(chunks.iter().copied().zip(homes));
            return Ok(());
        }
        let target = self.scratch(gpu, count);
        self.push(gpu, block, StepKind::RECEIVE, target, target, count)?;
        let mut pairs = Vec::new();
        for ((i, chunk), home) in (0..).zip(chunks).zip(homes) {
            let here = ChunkLocation { offset: target.offset + i, ..target };
            self.gpus[gpu as usize].locations.insert(*chunk, home.unwrap_or(here));
            pairs.extend(home.map(|home| (here, home)));
        }
        self.copy(gpu, block, pairs)
    }

    fn distance(&self, message: &Message) -> u64 {
        (message.to + self.nodes - message.from) % self.nodes
    }
}

fn is_after(first: ChunkLocation, count: u64, location: ChunkLocation) -> bool {
    ChunkLocation { offset: first.offset + count, ..first } == location
}

fn are_contiguous(places: &[ChunkLocation]) -> bool {
    places.windows(2).all(|two| is_after(two[0], 1, two[1]))
}

/// Merges contiguous copies. Returns the source, the target and the number of chunks of each.
fn runs_of(
    copies: impl IntoIterator<Item = (ChunkLocation, ChunkLocation)>,
) -> Vec<(ChunkLocation, ChunkLocation, u64)> {
    let mut runs: Vec<(ChunkLocation, ChunkLocation, u64)> = Vec::new();
    for (from, to) in copies {
        match runs.last_mut() {
            Some((source, target, count))
                if *count < MAX_CHUNKS_PER_STEP as u64
                    && is_after(*source, *count, from)
                    && is_after(*target, *count, to) =>
            {
                *count += 1;
            }
            Some(_) | None => runs.push((from, to, 1)),
        }
    }
    runs
}

impl Export for Msccl {
    fn segments(&mut self, segments: u64) -> Result<(), ExportError> {
        Ok(self.begin(segments)?)
    }

    fn part(&mut self, part: Part<'_>) -> Result<(), ExportError> {
        let blocks = part
            .blocks
            .ok_or("it moves byte counts, not blocks: MSCCL must know which bytes go where")?;
        match self.sent.get_mut(part.message) {
            Some(earlier) => earlier.extend(blocks),
            None => self.sent.push(blocks),
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), ExportError> {
        if self.segments == 0 {
            self.begin(1)?;
        }
        let sent = std::mem::take(&mut self.sent);
        let messages = step.messages.iter().zip(&sent);
        let pieces = messages
            .map(|(message, blocks)| self.pieces(message, blocks))
            .collect::<Result<Vec<_>, _>>()?;
        let in_step = |why: String| format!("step {}: {why}", step.number);
        // The sends of a step precede its receives, so that sending and receiving overlap.
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
        for state in self.gpus.iter_mut().filter(|state| !state.current_steps.is_empty()) {
            state.last_steps = std::mem::take(&mut state.current_steps);
        }
        Ok(())
    }

    /// In the search for a deadlock, each thread block is a process. A large chunk occupies a whole
    /// slot, so it is assumed that every chunk does.
    fn deadlock(&self) -> Option<Deadlock> {
        let mut firsts = Vec::new();
        let mut gpu_of = Vec::new();
        for (gpu, state) in self.gpus.iter().enumerate() {
            firsts.push(gpu_of.len());
            gpu_of.extend(state.blocks.iter().map(|_| gpu));
        }
        let operations = |step: &msccl::Step| {
            usize::from(step.dependency.is_some())
                + usize::from(step.kind.receives)
                + usize::from(step.kind.sends)
        };
        let mut programs = Programs::default();
        for (gpu, state) in self.gpus.iter().enumerate() {
            for (block, thread) in state.blocks.iter().enumerate() {
                let process = firsts[gpu] + block;
                let other = |peer: Option<u64>, end: fn(&ThreadBlock) -> Option<u64>| {
                    let is_end =
                        |b: &ThreadBlock| b.channel == thread.channel && end(b) == Some(gpu as u64);
                    let found = peer.and_then(|peer| {
                        let block = self.gpus[peer as usize].blocks.iter().position(is_end);
                        Some(firsts[peer as usize] + block?)
                    });
                    found.unwrap_or_else(|| unreachable!("a connection has two ends"))
                };
                for step in &thread.steps {
                    if let Some((block, last)) = step.dependency {
                        let before = &state.blocks[block as usize].steps[..=last as usize];
                        let operations = before.iter().map(operations).sum();
                        let wait =
                            Operation::Wait { process: firsts[gpu] + block as usize, operations };
                        programs.push(process, wait);
                    }
                    let slots = step.count;
                    if step.kind.receives {
                        let from = other(thread.receive, |block| block.send);
                        let connection = programs.connection(from, process);
                        programs.push(process, Operation::Receive { connection, slots });
                    }
                    if step.kind.sends {
                        let to = other(thread.send, |block| block.receive);
                        let connection = programs.connection(process, to);
                        programs.push(process, Operation::Send { connection, slots });
                    }
                }
            }
        }
        let mut deadlock = programs.deadlock(SLOTS)?;
        deadlock.cycle = deadlock
            .cycle
            .into_iter()
            .map(|(process, other, is_full)| (gpu_of[process], gpu_of[other], is_full))
            .filter(|(gpu, other, _)| gpu != other)
            .collect();
        Some(deadlock)
    }

    fn finish(mut self: Box<Self>, _: &[(&str, String)]) -> Result<(), ExportError> {
        if self.segments == 0 {
            self.begin(1)?;
        }
        if self.collective == Collective::ReduceScatter {
            for gpu in 0..self.nodes {
                let own = |buffer, offset| ChunkLocation { buffer, offset };
                let block = self.thread_block(gpu, (0, 0))?;
                let first = gpu * self.segments;
                let copies = (0..self.segments)
                    .map(|i| (own(Buffer::Scratch, first + i), own(Buffer::Output, i)));
                self.copy(gpu, block, copies)?;
            }
        }
        let [inputs, outputs] = self.chunks();
        let gpu = |state: GpuState| Gpu {
            chunks: [inputs, outputs, state.scratch],
            blocks: state.blocks,
            line: 0,
        };
        let gpus = std::mem::take(&mut self.gpus).into_iter().map(gpu).collect();
        let program = Program { collective: self.collective, in_place: false, gpus };
        let mut out = self.folder.create(FILE)?;
        Ok(msccl::write(&program, &self.name, &mut out).and_then(|()| out.flush())?)
    }
}
