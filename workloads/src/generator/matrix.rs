//! A size for each pair of nodes. The sizes come from a file with N rows of N byte counts, or from
//! another generator.

use super::node_sizes::{NodeSizes, SizedBy};
use super::{Generator, Pattern};
use crate::args::{Args, CurveAxis, MAX_BYTES, WORD};
use crate::digest::InputDigest;
use crate::file::{files, read_regular};
use std::path::Path;
use std::sync::Arc;
use swapmeet_core::delivery::collective::{BlockSizes, FinalBlocks, InitialBlocks};
use swapmeet_core::spec::{Arg, SpecError, format_size, parse_decimal};
use swapmeet_core::text::excerpt;

pub(super) const MATRIX: Generator = Generator {
    name: "matrix",
    syntax: "matrix:FILE.csv",
    help: "N rows of N byte counts, row = sender, no header; the diagonal is the block of a node for itself, or for all nodes. Collectives with one block for each node also take a single row or column of N sizes. `DIR/*.csv`: repetition r uses the r-th file by name",
    keys: &[WORD],
    axes: &[],
    sized_by_pair: true,
    sized_by_node: true,
    has_tokens: false,
    random: false,
    read,
};

fn read(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let arg = args.word("a file, as in `matrix:sizes.csv`")?;
    from_file(args, arg, None, byte_count)
}

pub(super) const FRACTIONS: Generator = Generator {
    name: "fractions",
    syntax: "fractions:FILE.csv,bytes=SIZE",
    help: "N rows of N numbers from 0 to 1, row = sender, no header: fractions of SIZE, as in the alltoallv benchmark of nccl-tests (pull request 157)",
    keys: &[WORD, "bytes"],
    axes: &[(CurveAxis::BlockSize, "bytes")],
    sized_by_pair: true,
    sized_by_node: true,
    has_tokens: false,
    random: false,
    read: read_fractions,
};

fn read_fractions(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let arg = args.word("a file, as in `fractions:load.csv,bytes=1MiB`")?;
    let bytes = args.require("bytes")?;
    let bytes = args.size(bytes)?;
    let element = args.element;
    from_file(args, arg, Some(bytes), |value| {
        let fraction = parse_decimal(value).filter(|f| (0.0..=1.0).contains(f));
        let fraction = fraction
            .ok_or_else(|| "is not a fraction, expected a number from 0 to 1".to_owned())?;
        Ok((fraction * bytes as f64) as u64 / element * element)
    })
}

fn byte_count(value: &str) -> Result<u64, String> {
    let size = value.parse::<u64>().ok().filter(|b| *b <= MAX_BYTES);
    size.ok_or_else(|| {
        format!("is not a byte count, expected a whole number from 0 to {MAX_BYTES}")
    })
}

fn from_file(
    args: &Args<'_>,
    arg: &Arg,
    size: Option<u64>,
    cell: impl Fn(&str) -> Result<u64, String>,
) -> Result<Arc<dyn Pattern>, SpecError> {
    let name = arg.value();
    let refused = |message: String| args.spec.error(arg.value_at(), name.len(), &message);
    if !name.contains('*') {
        let (sizes, input) = read_sizes(args, name, &cell).map_err(refused)?;
        return Ok(Arc::new(MatrixFile { sizes, input, size }));
    }
    let mut digests = String::new();
    let mut all = Vec::new();
    for file in files(name).map_err(refused)? {
        let (sizes, input) = read_sizes(args, &file.to_string_lossy(), &cell).map_err(refused)?;
        digests += &format!("{}={}\n", input.file, input.digest);
        all.push(sizes);
    }
    Ok(Arc::new(MatrixFiles { all, input: InputDigest::new(name, &digests), size }))
}

fn read_sizes(
    args: &Args<'_>,
    file: &str,
    cell: impl Fn(&str) -> Result<u64, String>,
) -> Result<(Sizes, InputDigest), String> {
    let content = read_regular(Path::new(file), Matrix::MAX_TEXT, "a file of sizes")?;
    // If each node has, or receives, one block, the size depends only on the origin or only on the
    // destination.
    let by = match (args.collective.initial, args.collective.required) {
        (InitialBlocks::Own, FinalBlocks::ForNode | FinalBlocks::Permuted) => None,
        (InitialBlocks::AllAtRoot, FinalBlocks::ForNode | FinalBlocks::Permuted) => {
            Some(SizedBy::Destination)
        }
        (_, FinalBlocks::AllAtRoot | FinalBlocks::All | FinalBlocks::Received) => {
            Some(SizedBy::Origin)
        }
    };
    let cells = Cells::parse(&content, by.is_some(), cell);
    let cells = cells.map_err(|e| format!("{file}:{}:{}: {}", e.line, e.column, e.message))?;
    let sizes = match by.filter(|_| cells.rows != cells.columns) {
        Some(by) => Sizes::Nodes(Arc::new(NodeSizes { bytes: cells.bytes, by })),
        None => Sizes::Pairs(Arc::new(Matrix::new(cells.rows as u64, cells.bytes))),
    };
    Ok((sizes, InputDigest::new(file, &content)))
}

#[derive(Debug)]
struct MatrixFiles {
    all: Vec<Sizes>,
    /// The file name with a `*`, and a digest of the contents of all files.
    input: InputDigest,
    size: Option<u64>,
}

impl MatrixFiles {
    fn refused(&self) -> String {
        format!("is {} files, one for each repetition: name one of them", self.all.len())
    }
}

impl Pattern for MatrixFiles {
    fn arguments(&self) -> Vec<(&'static str, String)> {
        arguments(&self.input, self.size)
    }

    fn sizes(&self, _: u64, _: u64, _: u64) -> Result<Arc<dyn BlockSizes>, String> {
        Err(self.refused())
    }

    fn sizes_of_nodes(&self, _: u64, _: u64, _: u64) -> Result<Arc<dyn BlockSizes>, String> {
        Err(self.refused())
    }

    fn input(&self) -> Option<&InputDigest> {
        Some(&self.input)
    }

    fn replicates(&self) -> Option<u32> {
        u32::try_from(self.all.len()).ok()
    }

    fn replicate(&self, number: u32) -> Option<Arc<dyn Pattern>> {
        let sizes = self.all.get(number as usize)?.clone();
        Some(Arc::new(MatrixFile { sizes, input: self.input.clone(), size: self.size }))
    }
}

fn arguments(input: &InputDigest, size: Option<u64>) -> Vec<(&'static str, String)> {
    let size = size.map(|bytes| ("bytes", format_size(bytes)));
    [(WORD, input.file.clone())].into_iter().chain(size).collect()
}

#[derive(Debug)]
struct MatrixFile {
    sizes: Sizes,
    input: InputDigest,
    /// If the file contains fractions, the size by which they are multiplied.
    size: Option<u64>,
}

#[derive(Debug, Clone)]
enum Sizes {
    Pairs(Arc<Matrix>),
    Nodes(Arc<NodeSizes>),
}

impl MatrixFile {
    fn check(&self, nodes: u64) -> Result<(), String> {
        let has = match &self.sizes {
            Sizes::Pairs(matrix) => matrix.nodes(),
            Sizes::Nodes(sizes) => sizes.bytes.len() as u64,
        };
        if has == nodes { Ok(()) } else { Err(format!("is for {has} nodes, there are {nodes}")) }
    }
}

impl Pattern for MatrixFile {
    fn arguments(&self) -> Vec<(&'static str, String)> {
        arguments(&self.input, self.size)
    }

    fn sizes(&self, nodes: u64, _: u64, _: u64) -> Result<Arc<dyn BlockSizes>, String> {
        self.check(nodes)?;
        Ok(match &self.sizes {
            Sizes::Pairs(matrix) => Arc::clone(matrix) as Arc<dyn BlockSizes>,
            Sizes::Nodes(sizes) => Arc::clone(sizes) as Arc<dyn BlockSizes>,
        })
    }

    fn sizes_of_nodes(
        &self,
        nodes: u64,
        element: u64,
        seed: u64,
    ) -> Result<Arc<dyn BlockSizes>, String> {
        match &self.sizes {
            Sizes::Nodes(_) => self.sizes(nodes, element, seed),
            Sizes::Pairs(matrix) => {
                self.check(nodes)?;
                let bytes = (0..nodes).map(|node| matrix.bytes(node, node)).collect();
                Ok(Arc::new(NodeSizes { bytes, by: SizedBy::Origin }))
            }
        }
    }

    fn input(&self) -> Option<&InputDigest> {
        Some(&self.input)
    }
}

/// The number of bytes from each node (row) to each node (column).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    nodes: u64,
    cells: MatrixCells,
    largest: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum MatrixCells {
    Dense(Vec<u64>),
    /// Only the sizes that are not 0, row by row (compressed sparse rows).
    Sparse {
        /// For each row, the position of its first size in `bytes`. The last entry is the number of
        /// all sizes.
        first: Vec<usize>,
        /// The column of each size. Columns are in ascending order in each row.
        columns: Vec<u32>,
        bytes: Vec<u64>,
        /// An index with which a size is found faster than by a search in `columns`. It is `None`
        /// if there are more than [`Matrix::MAX_NODES`] nodes, because it would then take too much
        /// memory.
        index: Option<SparseIndex>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixError {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl Matrix {
    /// The largest number of nodes if many sizes are not 0. The matrix then takes half a gigabyte.
    pub const MAX_NODES: u64 = 8192;
    /// The largest number of nodes if most sizes are 0. A buffer of one row then takes 512 KiB.
    const MAX_SPARSE_NODES: u64 = 1 << 16;
    /// The largest number of sizes that are not 0, if there are more than [`Matrix::MAX_NODES`]
    /// nodes. So many sizes take 200 MB.
    const MAX_PAIRS: usize = 1 << 24;
    /// Up to this number of nodes all sizes are stored, which is faster and takes at most 32 MiB.
    const ALWAYS_DENSE: u64 = 2048;
    /// The maximum size of a file: eight bytes for each entry of the largest matrix.
    pub const MAX_TEXT: u64 = crate::file::MAX_BYTES;

    /// Checks the number of nodes. `Err` continues a sentence that begins with the name of a
    /// workload.
    pub(crate) fn check_nodes(nodes: u64) -> Result<(), String> {
        let most = Self::MAX_NODES;
        if nodes > most {
            return Err(format!(
                "has a size for every pair: at most {most} nodes, there are {nodes}"
            ));
        }
        Ok(())
    }

    pub(crate) fn new(nodes: u64, bytes: Vec<u64>) -> Self {
        assert_eq!(bytes.len() as u64, nodes * nodes, "a matrix has a cell for every pair");
        let largest = bytes.iter().copied().max().unwrap_or(0);
        Self { nodes, cells: MatrixCells::Dense(bytes), largest }
    }

    /// Creates a matrix row by row. `fill` writes the sizes of a row to a slice of zeros. If most
    /// sizes are 0, only the other sizes are stored. `Err` is as in [`Matrix::check_nodes`].
    pub(crate) fn from_rows(
        nodes: u64,
        mut fill: impl FnMut(u64, &mut [u64]),
    ) -> Result<Self, String> {
        let (n, most) = (nodes as usize, Self::MAX_SPARSE_NODES);
        if nodes > most {
            return Err(format!(
                "has a size for every pair: at most {most} nodes, most of them without data for each other, there are {nodes}"
            ));
        }
        if nodes <= Self::ALWAYS_DENSE {
            let mut bytes = vec![0; n * n];
            (0..).zip(bytes.chunks_exact_mut(n)).for_each(|(number, row)| fill(number, row));
            return Ok(Self::new(nodes, bytes));
        }
        let (mut first, mut columns, mut bytes) = (vec![0], Vec::new(), Vec::new());
        let mut row = vec![0; n];
        for number in 0..nodes {
            row.fill(0);
            fill(number, &mut row);
            for (column, size) in (0..).zip(&row).filter(|(_, size)| **size > 0) {
                columns.push(column);
                bytes.push(*size);
            }
            first.push(bytes.len());
            // A size in the sparse form takes 12 bytes, and a search to find it. If many sizes are
            // not 0, store all.
            if nodes <= Self::MAX_NODES && bytes.len() > n * n / 4 {
                let mut all = vec![0; n * n];
                let (done, rest) = all.split_at_mut(first.len().saturating_sub(1) * n);
                for (row, ends) in done.chunks_exact_mut(n).zip(first.windows(2)) {
                    for at in ends[0]..ends[1] {
                        row[columns[at] as usize] = bytes[at];
                    }
                }
                let rows = (number + 1..).zip(rest.chunks_exact_mut(n));
                rows.for_each(|(number, row)| fill(number, row));
                return Ok(Self::new(nodes, all));
            }
            if nodes > Self::MAX_NODES && bytes.len() > Self::MAX_PAIRS {
                return Err(format!(
                    "has data for more than {} pairs of {nodes} nodes; with more than {} nodes, so many pairs are the limit (fewer tokens or a smaller density give fewer)",
                    Self::MAX_PAIRS,
                    Self::MAX_NODES
                ));
            }
        }
        let largest = bytes.iter().copied().max().unwrap_or(0);
        let index = (nodes <= Self::MAX_NODES).then(|| SparseIndex::new(nodes, &first, &columns));
        Ok(Self { nodes, cells: MatrixCells::Sparse { first, columns, bytes, index }, largest })
    }

    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Reads rows from lines with commas, without a header. Row i has the blocks that node i sends.
    pub fn parse(content: &str) -> Result<Self, MatrixError> {
        let Cells { rows, bytes, .. } = Cells::parse(content, false, byte_count)?;
        Ok(Self::new(rows as u64, bytes))
    }
}

struct Cells {
    rows: usize,
    columns: usize,
    bytes: Vec<u64>,
}

impl Cells {
    /// Parses cells, with as many rows as columns or, if `one_per_node`, a single row or column.
    /// The error of `cell` states what was expected.
    fn parse(
        content: &str,
        one_per_node: bool,
        cell: impl Fn(&str) -> Result<u64, String>,
    ) -> Result<Self, MatrixError> {
        let error =
            |line: usize, column: usize, message: String| MatrixError { line, column, message };
        let or_one = if one_per_node { ", or a single row or column" } else { "" };
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        let mut bytes = Vec::new();
        let (mut rows, mut columns) = (0, 0);
        for (number, text) in content.lines().enumerate() {
            let line = number + 1;
            if text.trim().is_empty() {
                continue;
            }
            let before = bytes.len();
            for (field, value) in text.split(',').enumerate() {
                let value = value.trim();
                let size = cell(value).map_err(|wrong| {
                    error(line, field + 1, format!("`{}` {wrong}", excerpt(value)))
                })?;
                bytes.push(size);
            }
            // All rows must be as long as the first one, and there must be as many rows as columns
            // at most.
            let here = bytes.len() - before;
            if rows == 0 {
                columns = here;
                if columns as u64 > Matrix::MAX_NODES {
                    return Err(error(
                        line,
                        1,
                        format!("{columns} columns, expected at most {}", Matrix::MAX_NODES),
                    ));
                }
            } else if here != columns {
                return Err(error(
                    line,
                    here.min(columns) + 1,
                    format!("{here} sizes in this row, expected {columns} as in the first"),
                ));
            }
            rows += 1;
            if rows > columns && !(one_per_node && columns == 1) {
                return Err(error(
                    line,
                    1,
                    format!("more rows than columns, expected {columns} of each{or_one}"),
                ));
            }
        }
        if rows == 0 || rows < columns && !(one_per_node && rows == 1) {
            return Err(error(
                content.lines().count().max(1),
                1,
                format!(
                    "{rows} rows and {columns} columns, expected the same number of each{or_one}"
                ),
            ));
        }
        Ok(Self { rows, columns, bytes })
    }
}

impl BlockSizes for Matrix {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        match &self.cells {
            MatrixCells::Dense(bytes) => bytes[(origin * self.nodes + destination) as usize],
            MatrixCells::Sparse { bytes, index: Some(index), .. } => {
                index.position(origin, destination).map_or(0, |at| bytes[at])
            }
            MatrixCells::Sparse { first, columns, bytes, index: None } => {
                let start = first[origin as usize];
                let row = &columns[start..first[origin as usize + 1]];
                row.binary_search(&(destination as u32)).map_or(0, |at| bytes[start + at])
            }
        }
    }

    fn total(&self, origins: &[u64], destinations: &[u64]) -> u64 {
        match &self.cells {
            MatrixCells::Dense(bytes) => {
                let in_row = |o: &u64| {
                    let row = &bytes[(o * self.nodes) as usize..][..self.nodes as usize];
                    destinations.iter().map(|d| row[*d as usize]).sum::<u64>()
                };
                origins.iter().map(in_row).sum()
            }
            MatrixCells::Sparse { .. } => {
                let mut sum = 0;
                for &origin in origins {
                    self.each_receiver(origin, self.nodes, &mut |destination, bytes| {
                        let is_one = destinations.binary_search(&destination).is_ok();
                        sum += if is_one { bytes } else { 0 };
                    });
                }
                sum
            }
        }
    }

    fn each_receiver(&self, origin: u64, nodes: u64, visit: &mut dyn FnMut(u64, u64)) {
        match &self.cells {
            MatrixCells::Dense(bytes) => {
                let row = &bytes[(origin * self.nodes) as usize..][..self.nodes as usize];
                let sizes = (0..nodes).zip(row).filter(|(_, bytes)| **bytes > 0);
                sizes.for_each(|(destination, bytes)| visit(destination, *bytes));
            }
            MatrixCells::Sparse { first, columns, bytes, .. } => {
                for at in first[origin as usize]..first[origin as usize + 1] {
                    visit(columns[at].into(), bytes[at]);
                }
            }
        }
    }

    fn largest(&self) -> u64 {
        self.largest
    }
}

/// An index of the sizes of a sparse matrix. It takes 12 bytes for each 64 pairs of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SparseIndex {
    words: usize,
    /// One bit for each pair: whether its size is not 0.
    bits: Vec<u64>,
    /// For each word of `bits`, the number of sizes in all words before it.
    before: Vec<u32>,
}

impl SparseIndex {
    fn new(nodes: u64, first: &[usize], columns: &[u32]) -> Self {
        let words = nodes.div_ceil(64) as usize;
        let mut bits = vec![0; nodes as usize * words];
        for (row, ends) in bits.chunks_exact_mut(words).zip(first.windows(2)) {
            for column in &columns[ends[0]..ends[1]] {
                row[*column as usize / 64] |= 1 << (column % 64);
            }
        }
        let mut sizes = 0;
        let before = bits.iter().map(|word: &u64| {
            sizes += word.count_ones();
            sizes - word.count_ones()
        });
        let before = before.collect();
        Self { words, bits, before }
    }

    fn position(&self, row: u64, column: u64) -> Option<usize> {
        let at = row as usize * self.words + column as usize / 64;
        let (word, bit) = (self.bits[at], 1 << (column % 64));
        let earlier = (word & (bit - 1)).count_ones();
        (word & bit != 0).then(|| (self.before[at] + earlier) as usize)
    }
}

#[cfg(test)]
mod tests;
