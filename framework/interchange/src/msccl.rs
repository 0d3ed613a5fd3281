//! The XML format of MSCCL. msccl-tools writes such documents, and the runtimes MSCCL and RCCL read
//! them. [`read`] checks the form of a document, but not what its steps do.

use crate::ParseError;
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::HashSet;
use std::fmt;
use std::io::{self, Write};

pub const MAX_BYTES: usize = 64 << 20;
pub const MAX_GPUS: u64 = 4096;
/// The maximum number of chunks in all buffers of all GPUs together.
pub const MAX_CHUNKS: u64 = 1 << 24;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub collective: Collective,
    /// Whether the output is written to the input buffer; false if a document allows both forms.
    pub in_place: bool,
    pub gpus: Vec<Gpu>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collective {
    AllToAll,
    Broadcast,
    Scatter,
    Gather,
    AllGather,
    Reduce,
    ReduceScatter,
    AllReduce,
}

impl Collective {
    pub const WORDS: [(&'static str, Self); 8] = [
        ("alltoall", Self::AllToAll),
        ("broadcast", Self::Broadcast),
        ("scatter", Self::Scatter),
        ("gather", Self::Gather),
        ("allgather", Self::AllGather),
        ("reduce", Self::Reduce),
        ("reducescatter", Self::ReduceScatter),
        ("allreduce", Self::AllReduce),
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, collective)| *collective == self).map_or("", |(word, _)| word)
    }

    pub fn is_reduction(self) -> bool {
        match self {
            Self::Reduce | Self::ReduceScatter | Self::AllReduce => true,
            Self::AllToAll | Self::Broadcast | Self::Scatter | Self::Gather | Self::AllGather => {
                false
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// The number of chunks of the input buffer, of the output buffer and of the scratch buffer.
    pub chunks: [u64; 3],
    pub blocks: Vec<ThreadBlock>,
    /// The line on which the element of this GPU begins.
    pub line: usize,
}

/// A sequence of steps on a GPU. It can send to at most one GPU, and receive from at most one GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadBlock {
    pub send: Option<u64>,
    pub receive: Option<u64>,
    pub channel: u64,
    pub steps: Vec<Step>,
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub kind: StepKind,
    /// If the step reads data, the first chunk that it reads.
    pub source: ChunkLocation,
    /// If the step writes data, the first chunk that it writes.
    pub target: ChunkLocation,
    pub count: u64,
    /// The step that must finish before this one: its thread block on the same GPU, and its number.
    pub dependency: Option<(u64, u64)>,
    pub line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkLocation {
    pub buffer: Buffer,
    pub offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Buffer {
    Input,
    Output,
    Scratch,
}

impl Buffer {
    /// Each buffer, with the letter that MSCCL uses for it and with its name in our messages.
    pub const WORDS: [(&'static str, &'static str, Self); 3] = [
        ("i", "input", Self::Input),
        ("o", "output", Self::Output),
        ("s", "scratch", Self::Scratch),
    ];

    pub fn letter(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

impl fmt::Display for ChunkLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} chunk {}", Buffer::WORDS[self.buffer as usize].1, self.offset)
    }
}

/// A step performs those operations whose fields are true, in this order: receive, add, store,
/// send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepKind {
    pub word: &'static str,
    /// The step receives the next message from the GPU from which the thread block receives.
    pub receives: bool,
    pub adds: bool,
    pub stores: bool,
    /// The step sends the data that it received or added, or without any, the data at its source.
    pub sends: bool,
}

impl StepKind {
    const fn of(word: &'static str, receives: bool, adds: bool, stores: bool, sends: bool) -> Self {
        Self { word, receives, adds, stores, sends }
    }

    /// `s`: sends the data at its source.
    pub const SEND: Self = Self::of("s", false, false, false, true);
    /// `r`: receives data and stores it.
    pub const RECEIVE: Self = Self::of("r", true, false, true, false);
    /// `rcs`: receives data, stores it and sends it.
    pub const RECEIVE_SEND: Self = Self::of("rcs", true, false, true, true);
    /// `rrs`: receives data, adds the data at its source, and sends the sum.
    pub const ADD_SEND: Self = Self::of("rrs", true, true, false, true);
    /// `rrc`: receives data, adds the data at its source, and stores the sum.
    pub const ADD_STORE: Self = Self::of("rrc", true, true, true, false);
    /// `rrcs`: receives data, adds the data at its source, stores the sum and sends it.
    pub const ADD_STORE_SEND: Self = Self::of("rrcs", true, true, true, true);
    /// `cpy`: copies the data at its source to its target.
    pub const COPY: Self = Self::of("cpy", false, false, true, false);
    /// `re`: adds the data at its source to the data at its target.
    pub const ADD: Self = Self::of("re", false, true, true, false);
    /// `nop`: only waits for the step on which it depends.
    pub const WAIT: Self = Self::of("nop", false, false, false, false);

    pub const ALL: [Self; 9] = [
        Self::SEND,
        Self::RECEIVE,
        Self::RECEIVE_SEND,
        Self::ADD_SEND,
        Self::ADD_STORE,
        Self::ADD_STORE_SEND,
        Self::COPY,
        Self::ADD,
        Self::WAIT,
    ];

    pub fn reads(self) -> bool {
        self.adds || !self.receives && (self.sends || self.stores)
    }
}

pub fn read(text: &str) -> Result<Program, ParseError> {
    if text.len() > MAX_BYTES {
        return Err(ParseError {
            line: 1,
            message: format!("{} bytes, expected at most {MAX_BYTES}", text.len()),
        });
    }
    let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|e| ParseError {
        line: e.pos().row as usize,
        message: format!("{e}, expected an MSCCL algorithm in XML, without a document type"),
    })?;
    let ends: Vec<usize> =
        text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
    Reader { ends }.program(document.root_element())
}

struct Reader {
    /// The byte offsets of the line ends. From them, the line of an element is computed.
    ends: Vec<usize>,
}

impl Reader {
    fn line(&self, node: Node<'_, '_>) -> usize {
        self.ends.partition_point(|end| *end < node.range().start) + 1
    }

    fn error_at(&self, node: Node<'_, '_>, message: impl Into<String>) -> ParseError {
        ParseError { line: self.line(node), message: message.into() }
    }

    fn text<'a>(&self, node: Node<'a, '_>, key: &str) -> Result<&'a str, ParseError> {
        node.attribute(key).ok_or_else(|| {
            self.error_at(node, format!("`{}` has no `{key}`", node.tag_name().name()))
        })
    }

    /// Parses the number in an attribute. The value -1 means that there is none.
    fn number_or_none(&self, node: Node<'_, '_>, key: &str) -> Result<Option<u64>, ParseError> {
        let text = self.text(node, key)?;
        match text.parse::<i64>() {
            Ok(-1) => Ok(None),
            Ok(number @ 0..=0xFFFF_FFFF) => Ok(Some(number as u64)),
            Ok(_) | Err(_) => Err(self.error_at(
                node,
                format!("{key}=\"{text}\", expected a whole number below 2^32, or -1 for none"),
            )),
        }
    }

    fn number(&self, node: Node<'_, '_>, key: &str) -> Result<u64, ParseError> {
        self.number_or_none(node, key)?.ok_or_else(|| {
            self.error_at(node, format!("{key}=\"-1\", expected a whole number from 0"))
        })
    }

    fn flag(&self, node: Node<'_, '_>, key: &str) -> Result<Option<bool>, ParseError> {
        match node.attribute(key) {
            None => Ok(None),
            Some("0") => Ok(Some(false)),
            Some("1") => Ok(Some(true)),
            Some(other) => Err(self.error_at(node, format!("{key}=\"{other}\", expected 0 or 1"))),
        }
    }

    /// Returns the child elements, which must have this name and the numbers 0, 1, 2, etc.
    fn elements<'a, 'i>(
        &self,
        node: Node<'a, 'i>,
        name: &str,
    ) -> Result<Vec<Node<'a, 'i>>, ParseError> {
        let elements: Vec<_> = node.children().filter(Node::is_element).collect();
        let numbered = if name == "step" { "s" } else { "id" };
        for (expected, element) in (0..).zip(&elements) {
            if !element.has_tag_name(name) {
                return Err(self.error_at(
                    *element,
                    format!("`{}`, expected `{name}`", element.tag_name().name()),
                ));
            }
            let number = self.number(*element, numbered)?;
            if number != expected {
                return Err(self.error_at(
                    *element,
                    format!("{name} {numbered}=\"{number}\", expected {expected}: elements are numbered in order from 0"),
                ));
            }
        }
        Ok(elements)
    }

    fn program(&self, algo: Node<'_, '_>) -> Result<Program, ParseError> {
        if !algo.has_tag_name("algo") {
            return Err(
                self.error_at(algo, format!("`{}`, expected `algo`", algo.tag_name().name()))
            );
        }
        let word = self.text(algo, "coll")?;
        let collective =
            Collective::WORDS.iter().find(|(known, _)| *known == word).ok_or_else(|| {
                let words: Vec<&str> = Collective::WORDS.iter().map(|(word, _)| *word).collect();
                self.error_at(algo, format!("coll=\"{word}\", expected {}", words.join(", ")))
            })?;
        if let Some(protocol) = algo.attribute("proto")
            && !["Simple", "LL", "LL128"].contains(&protocol)
        {
            return Err(
                self.error_at(algo, format!("proto=\"{protocol}\", expected Simple, LL or LL128"))
            );
        }
        // MSCCL uses a single buffer only if `inplace` is set and `outofplace` is not set.
        let in_place = self.flag(algo, "inplace")?.unwrap_or(false);
        let out_of_place = self.flag(algo, "outofplace")?.unwrap_or(!in_place);
        // Each count is checked before memory is allocated for its elements.
        let count = self.number(algo, "ngpus")?;
        let elements = self.elements(algo, "gpu")?;
        if count != elements.len() as u64 || count == 0 || count > MAX_GPUS {
            return Err(self.error_at(
                algo,
                format!(
                    "ngpus=\"{count}\" and {} GPUs, expected as many, from 1 to {MAX_GPUS}",
                    elements.len()
                ),
            ));
        }
        let gpus = elements.into_iter().map(|gpu| self.gpu(gpu)).collect::<Result<Vec<_>, _>>()?;
        let chunks = gpus.iter().flat_map(|gpu| gpu.chunks).fold(0_u64, u64::saturating_add);
        if chunks > MAX_CHUNKS {
            return Err(self.error_at(
                algo,
                format!("buffers of {chunks} chunks together, expected at most {MAX_CHUNKS}"),
            ));
        }
        Ok(Program { collective: collective.1, in_place: in_place && !out_of_place, gpus })
    }

    fn gpu(&self, gpu: Node<'_, '_>) -> Result<Gpu, ParseError> {
        let chunks = [
            self.number(gpu, "i_chunks")?,
            self.number(gpu, "o_chunks")?,
            self.number(gpu, "s_chunks")?,
        ];
        let blocks = self.elements(gpu, "tb")?.into_iter().map(|block| {
            let steps = self.elements(block, "step")?.into_iter().map(|step| self.step(step));
            Ok(ThreadBlock {
                send: self.number_or_none(block, "send")?,
                receive: self.number_or_none(block, "recv")?,
                channel: self.number(block, "chan")?,
                steps: steps.collect::<Result<_, _>>()?,
                line: self.line(block),
            })
        });
        Ok(Gpu { chunks, blocks: blocks.collect::<Result<_, _>>()?, line: self.line(gpu) })
    }

    fn step(&self, step: Node<'_, '_>) -> Result<Step, ParseError> {
        let word = self.text(step, "type")?;
        let kind = *StepKind::ALL.iter().find(|kind| kind.word == word).ok_or_else(|| {
            let words: Vec<&str> = StepKind::ALL.iter().map(|kind| kind.word).collect();
            self.error_at(step, format!("type=\"{word}\", expected {}", words.join(", ")))
        })?;
        let place = |buffer: &str, offset: &str, is_used: bool| {
            let letter = self.text(step, buffer)?;
            let known = Buffer::WORDS.iter().find(|(known, ..)| *known == letter);
            let known = known.ok_or_else(|| {
                self.error_at(step, format!("{buffer}=\"{letter}\", expected i, o or s"))
            })?;
            let offset = if is_used { self.number(step, offset)? } else { 0 };
            Ok(ChunkLocation { buffer: known.2, offset })
        };
        let dependency =
            match (self.number_or_none(step, "depid")?, self.number_or_none(step, "deps")?) {
                (Some(block), Some(number)) => Some((block, number)),
                (None, _) | (_, None) => None,
            };
        let is_wait = kind == StepKind::WAIT;
        Ok(Step {
            kind,
            source: place("srcbuf", "srcoff", kind.reads())?,
            target: place("dstbuf", "dstoff", kind.stores)?,
            count: if is_wait { 0 } else { self.number(step, "cnt")? },
            dependency,
            line: self.line(step),
        })
    }
}

pub fn write(program: &Program, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let channels = program
        .gpus
        .iter()
        .flat_map(|gpu| &gpu.blocks)
        .map(|block| block.channel + 1)
        .max()
        .unwrap_or(1);
    let loops = program.gpus.iter().map(|gpu| gpu.chunks[0].max(gpu.chunks[1])).max().unwrap_or(0);
    // A character that would have to be escaped is replaced by `_`.
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.:".contains(c) { c } else { '_' })
        .collect();
    writeln!(
        out,
        "<algo name=\"{name}\" proto=\"Simple\" nchannels=\"{channels}\" nchunksperloop=\"{loops}\" ngpus=\"{}\" coll=\"{}\" inplace=\"{}\" outofplace=\"{}\" minBytes=\"0\" maxBytes=\"1099511627776\">",
        program.gpus.len(),
        program.collective.word(),
        u8::from(program.in_place),
        u8::from(!program.in_place)
    )?;
    for (id, gpu) in program.gpus.iter().enumerate() {
        let [i, o, s] = gpu.chunks;
        writeln!(out, "  <gpu id=\"{id}\" i_chunks=\"{i}\" o_chunks=\"{o}\" s_chunks=\"{s}\">")?;
        let awaited: HashSet<(u64, u64)> = gpu
            .blocks
            .iter()
            .flat_map(|block| &block.steps)
            .filter_map(|step| step.dependency)
            .collect();
        for (number, block) in (0..).zip(&gpu.blocks) {
            let (send, receive) = (or_none(block.send), or_none(block.receive));
            writeln!(
                out,
                "    <tb id=\"{number}\" send=\"{send}\" recv=\"{receive}\" chan=\"{}\">",
                block.channel
            )?;
            for (s, step) in (0..).zip(&block.steps) {
                step_line(s, step, awaited.contains(&(number, s)), out)?;
            }
            writeln!(out, "    </tb>")?;
        }
        writeln!(out, "  </gpu>")?;
    }
    writeln!(out, "</algo>")
}

fn step_line(s: u64, step: &Step, is_awaited: bool, out: &mut dyn Write) -> io::Result<()> {
    let Step { kind, source, target, count, dependency, .. } = step;
    let (block, number) = (
        or_none(dependency.map(|(block, _)| block)),
        or_none(dependency.map(|(_, number)| number)),
    );
    writeln!(
        out,
        "      <step s=\"{s}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{count}\" depid=\"{block}\" deps=\"{number}\" hasdep=\"{}\"/>",
        kind.word,
        source.buffer.letter(),
        source.offset,
        target.buffer.letter(),
        target.offset,
        u8::from(is_awaited)
    )
}

fn or_none(number: Option<u64>) -> i64 {
    number.map_or(-1, |number| number as i64)
}
