//! The buffers of each GPU in a collective: their sizes, and their contents at the start and at the
//! end. In an in-place algorithm, the input and the output buffer overlap.

use super::{StepLocation, invalid};
use std::ops::Range;
use std::rc::Rc;
use swapmeet_interchange::msccl::{Buffer, ChunkLocation, Collective, Program, StepKind};
use swapmeet_sdk::Stop;

pub(super) struct Buffers {
    pub(super) gpus: u64,
    pub(super) collective: Collective,
    pub(super) root: u64,
    /// Chunks of a block, or of the vector of a reduction.
    pub(super) segments: u64,
    pub(super) sums: bool,
    in_place: bool,
    sizes: Vec<[u64; 3]>,
}

impl Buffers {
    pub(super) fn new(program: &Program, root: u64) -> Result<Self, Stop> {
        let gpus = program.gpus.len() as u64;
        let collective = program.collective;
        // A GPU that has data at the start determines the number of chunks of a block, by its
        // buffers.
        let at = match collective {
            Collective::Broadcast | Collective::Scatter => root,
            Collective::AllToAll
            | Collective::Gather
            | Collective::AllGather
            | Collective::Reduce
            | Collective::ReduceScatter
            | Collective::AllReduce => 0,
        };
        let first = &program.gpus[at.min(gpus - 1) as usize];
        let [inputs, outputs, _] = first.chunks;
        // In an in-place algorithm, the input may lie within the output, and the file may omit the
        // size of the input.
        let (split, shared) = match collective {
            Collective::AllToAll | Collective::Scatter | Collective::ReduceScatter => {
                (gpus, inputs)
            }
            Collective::AllGather if inputs == 0 && program.in_place => (gpus, outputs),
            Collective::Broadcast | Collective::Gather | Collective::AllGather => (1, inputs),
            Collective::Reduce | Collective::AllReduce => (1, inputs),
        };
        if shared == 0 || !shared.is_multiple_of(split) || shared / split > u64::from(u32::MAX) {
            let what = format!(
                "GPU {at} has {shared} chunks, expected a multiple of {split}, from {split} on"
            );
            return Err(invalid(first.line, what));
        }
        let sizes = program.gpus.iter().map(|gpu| gpu.chunks).collect();
        let sums = collective.is_reduction();
        let mut buffers = Self {
            gpus,
            collective,
            root,
            segments: shared / split,
            sums,
            in_place: program.in_place,
            sizes,
        };
        for (number, gpu) in (0..).zip(&program.gpus) {
            let needed = [buffers.inputs(number).end, buffers.outputs(number).end];
            for (buffer, needed) in needed.into_iter().enumerate() {
                let there = &mut buffers.sizes[number as usize][buffer];
                if program.in_place {
                    *there = (*there).max(needed);
                } else if *there < needed {
                    let key = ["i_chunks", "o_chunks"][buffer];
                    let what = format!(
                        "GPU {number} has {key}=\"{there}\", expected {needed} for this collective"
                    );
                    return Err(invalid(gpu.line, what));
                }
            }
        }
        Ok(buffers)
    }

    fn inputs(&self, gpu: u64) -> Range<u64> {
        let k = self.segments;
        match self.collective {
            Collective::AllToAll | Collective::ReduceScatter => 0..self.gpus * k,
            Collective::Scatter if gpu == self.root => 0..self.gpus * k,
            Collective::Broadcast if gpu == self.root => 0..k,
            Collective::Scatter | Collective::Broadcast => 0..0,
            Collective::Gather
            | Collective::AllGather
            | Collective::Reduce
            | Collective::AllReduce => 0..k,
        }
    }

    fn outputs(&self, gpu: u64) -> Range<u64> {
        let k = self.segments;
        match self.collective {
            Collective::AllToAll | Collective::AllGather => 0..self.gpus * k,
            Collective::Gather if gpu == self.root => 0..self.gpus * k,
            Collective::Reduce if gpu == self.root => 0..k,
            Collective::Gather | Collective::Reduce => 0..0,
            Collective::Broadcast
            | Collective::Scatter
            | Collective::ReduceScatter
            | Collective::AllReduce => 0..k,
        }
    }

    /// Returns the number of a block's segment. If the collective does not distinguish blocks by
    /// their origin or by their destination, this is given as 0.
    fn what(&self, origin: u64, destination: u64, segment: u64) -> u64 {
        (origin * self.gpus + destination) * self.segments + segment
    }

    /// The inverse of [`Self::what`]: origin, destination and segment.
    pub(super) fn parts(&self, what: u64) -> [u64; 3] {
        let pair = what / self.segments;
        [pair / self.gpus, pair % self.gpus, what % self.segments]
    }

    pub(super) fn name(&self, what: u64) -> String {
        let [origin, destination, segment] = self.parts(what);
        match self.collective {
            Collective::AllToAll => {
                format!("chunk {segment} of the block {origin} -> {destination}")
            }
            Collective::Broadcast => format!("chunk {segment} of the root's block"),
            Collective::Scatter => format!("chunk {segment} of the block for GPU {destination}"),
            Collective::Gather | Collective::AllGather => {
                format!("chunk {segment} of GPU {origin}'s block")
            }
            Collective::Reduce | Collective::AllReduce => format!("chunk {segment} of the sum"),
            Collective::ReduceScatter => {
                format!("chunk {segment} of the result of GPU {destination}")
            }
        }
    }

    pub(super) fn begins_with(&self, gpu: u64) -> Vec<(u64, u64)> {
        let k = self.segments;
        let what = |chunk: u64| match self.collective {
            Collective::AllToAll => self.what(gpu, chunk / k, chunk % k),
            Collective::Scatter | Collective::ReduceScatter => self.what(0, chunk / k, chunk % k),
            Collective::Gather | Collective::AllGather => self.what(gpu, 0, chunk),
            Collective::Broadcast | Collective::Reduce | Collective::AllReduce => {
                self.what(0, 0, chunk)
            }
        };
        self.inputs(gpu).map(|chunk| (self.chunk(gpu, Buffer::Input, chunk), what(chunk))).collect()
    }

    pub(super) fn ends_with(&self, gpu: u64) -> Vec<(ChunkLocation, u64, u64)> {
        let k = self.segments;
        let what = |chunk: u64| match self.collective {
            Collective::AllToAll => self.what(chunk / k, gpu, chunk % k),
            Collective::Scatter | Collective::ReduceScatter => self.what(0, gpu, chunk),
            Collective::Gather | Collective::AllGather => self.what(chunk / k, 0, chunk % k),
            Collective::Broadcast | Collective::Reduce | Collective::AllReduce => {
                self.what(0, 0, chunk)
            }
        };
        let one = |chunk: u64| {
            let place = ChunkLocation { buffer: Buffer::Output, offset: chunk };
            (place, self.chunk(gpu, Buffer::Output, chunk), what(chunk))
        };
        self.outputs(gpu).map(one).collect()
    }

    /// Returns all contributions to a complete sum, as bits. They are empty if the collective has
    /// no sums.
    pub(super) fn all_terms(&self) -> Rc<[u64]> {
        if !self.sums {
            return Rc::new([]);
        }
        (0..self.gpus.div_ceil(64))
            .map(|word| u64::MAX >> (64 - (self.gpus - 64 * word).min(64)))
            .collect()
    }

    /// Returns the number of a chunk of a GPU. If two buffers overlap, a chunk of both has one
    /// number.
    fn chunk(&self, gpu: u64, buffer: Buffer, offset: u64) -> u64 {
        let [inputs, outputs, _] = self.sizes[gpu as usize];
        let own = gpu * self.segments;
        let (in_input, in_output) = (offset, inputs + offset);
        match (buffer, self.in_place, self.collective) {
            (Buffer::Scratch, ..) => inputs + outputs + offset,
            (Buffer::Input, false, _) => in_input,
            (Buffer::Output, false, _) => in_output,
            // In place, the smaller buffer is the part of the larger one for the GPU's own block.
            (Buffer::Input, true, Collective::AllGather) => in_output + own,
            (Buffer::Input, true, Collective::Gather) if gpu == self.root => in_output + own,
            (Buffer::Output, true, Collective::ReduceScatter) => in_input + own,
            (Buffer::Output, true, Collective::Scatter) if gpu == self.root => in_input + own,
            (Buffer::Output, true, Collective::AllGather | Collective::Gather) => in_output,
            (Buffer::Input | Buffer::Output, true, _) => in_input,
        }
    }

    pub(super) fn chunks(
        &self,
        at: StepLocation,
        kind: StepKind,
        place: ChunkLocation,
        count: u64,
    ) -> Result<impl Iterator<Item = u64> + use<>, Stop> {
        let [inputs, outputs, scratch] = self.sizes[at.gpu as usize];
        let own = at.gpu * self.segments;
        let there = match (place.buffer, self.in_place, self.collective) {
            (Buffer::Scratch, ..) => scratch,
            (Buffer::Input, true, Collective::AllGather | Collective::Gather) => {
                inputs.min(outputs.saturating_sub(own))
            }
            (Buffer::Output, true, Collective::ReduceScatter | Collective::Scatter) => {
                outputs.min(inputs.saturating_sub(own))
            }
            (Buffer::Input, ..) => inputs,
            (Buffer::Output, ..) => outputs,
        };
        let end = place.offset + count;
        if count == 0 || end > there {
            let what = format!(
                "{at} ({}) names {count} chunks from {place} on, expected at least 1 within the {there} that GPU {} has there",
                kind.word, at.gpu
            );
            return Err(invalid(at.line, what));
        }
        let first = self.chunk(at.gpu, place.buffer, place.offset);
        Ok(first..first + count)
    }
}
