//! MSCCL's XML, as msccl-tools writes it and the MSCCL runtime and RCCL read it: for each GPU
//! thread blocks, which do their steps one after another.
//!
//! [`read`] takes it apart and says what does not belong there; what the steps come to, whoever
//! reads it finds out. A document that defines entities is refused, and so is one larger than a
//! machine could ever load.

use crate::Wrong;
use roxmltree::{Document, Node, ParsingOptions};
use std::fmt;

mod write;

pub use write::write;

/// Bytes of a document.
pub const LONGEST: usize = 64 << 20;
/// GPUs of an algorithm.
pub const MOST_GPUS: u64 = 4096;
/// Chunks of all buffers together.
pub const MOST_CHUNKS: u64 = 1 << 24;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// What it does, in MSCCL's word.
    pub collective: Collective,
    /// Whether input and output are one buffer; where a document allows both, they are two.
    pub in_place: bool,
    /// In the order of their numbers.
    pub gpus: Vec<Gpu>,
}

/// A collective that can be said in MSCCL and here.
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
    /// MSCCL's words.
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

    /// MSCCL's word for it.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, collective)| *collective == self).map_or("", |(word, _)| word)
    }

    /// Whether contributions are summed.
    pub fn sums(self) -> bool {
        match self {
            Self::Reduce | Self::ReduceScatter | Self::AllReduce => true,
            Self::AllToAll | Self::Broadcast | Self::Scatter | Self::Gather | Self::AllGather => {
                false
            }
        }
    }
}

/// What one GPU does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// Chunks of input, output and scratch.
    pub chunks: [u64; 3],
    /// In the order of their numbers.
    pub blocks: Vec<ThreadBlock>,
    /// Which line of the document.
    pub line: usize,
}

/// Steps that are done one after another, with at most one GPU to send to and one to receive from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadBlock {
    /// To whom it sends.
    pub send: Option<u64>,
    /// From whom it receives.
    pub receive: Option<u64>,
    pub channel: u64,
    pub steps: Vec<Step>,
    /// Which line of the document.
    pub line: usize,
}

/// One step of a thread block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub kind: Kind,
    /// What is read, where something is.
    pub source: Place,
    /// What is written, where something is.
    pub target: Place,
    pub count: u64,
    /// The thread block and step of the same GPU that must have ended.
    pub after: Option<(u64, u64)>,
    /// Which line of the document.
    pub line: usize,
}

/// A chunk of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Of which.
    pub buffer: Buffer,
    pub offset: u64,
}

/// A buffer of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Buffer {
    /// What it begins with.
    Input,
    /// What it is to end with.
    Output,
    /// Its own to use.
    Scratch,
}

impl Buffer {
    /// MSCCL's letter and our word.
    pub const WORDS: [(&'static str, &'static str, Self); 3] = [
        ("i", "input", Self::Input),
        ("o", "output", Self::Output),
        ("s", "scratch", Self::Scratch),
    ];

    pub fn letter(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} chunk {}", Buffer::WORDS[self.buffer as usize].1, self.offset)
    }
}

/// What a step does, in its order: receives, adds, stores, sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// MSCCL's word.
    pub word: &'static str,
    /// Takes what comes next from the peer.
    pub receives: bool,
    /// Adds what is at its source.
    pub adds: bool,
    /// Writes to its target.
    pub stores: bool,
    /// Sends what it has received, or else what is at its source.
    pub sends: bool,
}

impl Kind {
    const fn of(word: &'static str, receives: bool, adds: bool, stores: bool, sends: bool) -> Self {
        Self { word, receives, adds, stores, sends }
    }

    /// `s`: sends its source.
    pub const SEND: Self = Self::of("s", false, false, false, true);
    /// `r`: stores what it receives.
    pub const RECEIVE: Self = Self::of("r", true, false, true, false);
    /// `rcs`: stores and sends on what it receives.
    pub const RECEIVE_SEND: Self = Self::of("rcs", true, false, true, true);
    /// `rrs`: adds its source to what it receives and sends the sum.
    pub const ADD_SEND: Self = Self::of("rrs", true, true, false, true);
    /// `rrc`: adds its source to what it receives and stores the sum.
    pub const ADD_STORE: Self = Self::of("rrc", true, true, true, false);
    /// `rrcs`: adds its source to what it receives, stores the sum and sends it.
    pub const ADD_STORE_SEND: Self = Self::of("rrcs", true, true, true, true);
    /// `cpy`: copies its source to its target.
    pub const COPY: Self = Self::of("cpy", false, false, true, false);
    /// `re`: adds its source to its target.
    pub const ADD: Self = Self::of("re", false, true, true, false);
    /// `nop`: waits.
    pub const WAIT: Self = Self::of("nop", false, false, false, false);

    /// All of them.
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

    /// Whether it reads its source.
    pub fn reads(self) -> bool {
        self.adds || !self.receives && (self.sends || self.stores)
    }
}

/// Reads a document.
pub fn read(text: &str) -> Result<Program, Wrong> {
    if text.len() > LONGEST {
        return Err(Wrong {
            line: 1,
            what: format!("{} bytes, expected at most {LONGEST}", text.len()),
        });
    }
    let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|e| Wrong {
        line: e.pos().row as usize,
        what: format!("{e}, expected an MSCCL algorithm in XML, without a document type"),
    })?;
    let ends: Vec<usize> =
        text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
    Reader { ends }.program(document.root_element())
}

struct Reader {
    /// Where lines end.
    ends: Vec<usize>,
}

impl Reader {
    fn line(&self, node: Node<'_, '_>) -> usize {
        self.ends.partition_point(|end| *end < node.range().start) + 1
    }

    fn wrong(&self, node: Node<'_, '_>, what: impl Into<String>) -> Wrong {
        Wrong { line: self.line(node), what: what.into() }
    }

    fn text<'a>(&self, node: Node<'a, '_>, key: &str) -> Result<&'a str, Wrong> {
        node.attribute(key)
            .ok_or_else(|| self.wrong(node, format!("`{}` has no `{key}`", node.tag_name().name())))
    }

    /// A number that may be -1, for none.
    fn number_or_none(&self, node: Node<'_, '_>, key: &str) -> Result<Option<u64>, Wrong> {
        let text = self.text(node, key)?;
        match text.parse::<i64>() {
            Ok(-1) => Ok(None),
            Ok(number @ 0..=0xFFFF_FFFF) => Ok(Some(number as u64)),
            Ok(_) | Err(_) => Err(self.wrong(
                node,
                format!("{key}=\"{text}\", expected a whole number below 2^32, or -1 for none"),
            )),
        }
    }

    fn number(&self, node: Node<'_, '_>, key: &str) -> Result<u64, Wrong> {
        self.number_or_none(node, key)?.ok_or_else(|| {
            self.wrong(node, format!("{key}=\"-1\", expected a whole number from 0"))
        })
    }

    fn flag(&self, node: Node<'_, '_>, key: &str) -> Result<Option<bool>, Wrong> {
        match node.attribute(key) {
            None => Ok(None),
            Some("0") => Ok(Some(false)),
            Some("1") => Ok(Some(true)),
            Some(other) => Err(self.wrong(node, format!("{key}=\"{other}\", expected 0 or 1"))),
        }
    }

    /// The elements of one name in another; there may be no others.
    fn elements<'a, 'i>(&self, node: Node<'a, 'i>, name: &str) -> Result<Vec<Node<'a, 'i>>, Wrong> {
        let elements: Vec<_> = node.children().filter(Node::is_element).collect();
        let numbered = if name == "step" { "s" } else { "id" };
        for (expected, element) in (0..).zip(&elements) {
            if !element.has_tag_name(name) {
                return Err(self.wrong(
                    *element,
                    format!("`{}`, expected `{name}`", element.tag_name().name()),
                ));
            }
            let number = self.number(*element, numbered)?;
            if number != expected {
                return Err(self.wrong(
                    *element,
                    format!("{name} {numbered}=\"{number}\", expected {expected}: they are in order, from 0"),
                ));
            }
        }
        Ok(elements)
    }

    fn program(&self, algo: Node<'_, '_>) -> Result<Program, Wrong> {
        if !algo.has_tag_name("algo") {
            return Err(self.wrong(algo, format!("`{}`, expected `algo`", algo.tag_name().name())));
        }
        let word = self.text(algo, "coll")?;
        let collective =
            Collective::WORDS.iter().find(|(known, _)| *known == word).ok_or_else(|| {
                let words: Vec<&str> = Collective::WORDS.iter().map(|(word, _)| *word).collect();
                self.wrong(algo, format!("coll=\"{word}\", expected {}", words.join(", ")))
            })?;
        if let Some(protocol) = algo.attribute("proto")
            && !["Simple", "LL", "LL128"].contains(&protocol)
        {
            return Err(
                self.wrong(algo, format!("proto=\"{protocol}\", expected Simple, LL or LL128"))
            );
        }
        let in_place = self.flag(algo, "inplace")?.unwrap_or(false);
        let out_of_place = self.flag(algo, "outofplace")?.unwrap_or(!in_place);
        let count = self.number(algo, "ngpus")?;
        let elements = self.elements(algo, "gpu")?;
        if count != elements.len() as u64 || count == 0 || count > MOST_GPUS {
            return Err(self.wrong(
                algo,
                format!(
                    "ngpus=\"{count}\" and {} GPUs, expected as many, from 1 to {MOST_GPUS}",
                    elements.len()
                ),
            ));
        }
        let gpus = elements.into_iter().map(|gpu| self.gpu(gpu)).collect::<Result<Vec<_>, _>>()?;
        let chunks = gpus.iter().flat_map(|gpu| gpu.chunks).fold(0_u64, u64::saturating_add);
        if chunks > MOST_CHUNKS {
            return Err(self.wrong(
                algo,
                format!("buffers of {chunks} chunks together, expected at most {MOST_CHUNKS}"),
            ));
        }
        Ok(Program { collective: collective.1, in_place: in_place && !out_of_place, gpus })
    }

    fn gpu(&self, gpu: Node<'_, '_>) -> Result<Gpu, Wrong> {
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

    fn step(&self, step: Node<'_, '_>) -> Result<Step, Wrong> {
        let word = self.text(step, "type")?;
        let kind = *Kind::ALL.iter().find(|kind| kind.word == word).ok_or_else(|| {
            let words: Vec<&str> = Kind::ALL.iter().map(|kind| kind.word).collect();
            self.wrong(step, format!("type=\"{word}\", expected {}", words.join(", ")))
        })?;
        let place = |buffer: &str, offset: &str, is_used: bool| {
            let letter = self.text(step, buffer)?;
            let known = Buffer::WORDS.iter().find(|(known, ..)| *known == letter);
            let known = known.ok_or_else(|| {
                self.wrong(step, format!("{buffer}=\"{letter}\", expected i, o or s"))
            })?;
            let offset = if is_used { self.number(step, offset)? } else { 0 };
            Ok(Place { buffer: known.2, offset })
        };
        let after = match (self.number_or_none(step, "depid")?, self.number_or_none(step, "deps")?)
        {
            (Some(block), Some(number)) => Some((block, number)),
            (None, _) | (_, None) => None,
        };
        let is_wait = kind == Kind::WAIT;
        Ok(Step {
            kind,
            source: place("srcbuf", "srcoff", kind.reads())?,
            target: place("dstbuf", "dstoff", kind.stores)?,
            count: if is_wait { 0 } else { self.number(step, "cnt")? },
            after,
            line: self.line(step),
        })
    }
}
