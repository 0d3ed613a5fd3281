//! A temporary file that stores the text of each rank in chunks. At the end, the chunks of each
//! rank are read in order. It is for formats in which all operations of one rank precede those of
//! the next. Only the last chunk of each rank and the positions of the other chunks are in memory.
//! The last chunks take at most 64 MiB, or 256 bytes for each rank if there are more than 262,144
//! ranks. Each position takes eight bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The last chunks of all ranks together take this number of bytes, so that each chunk has this
/// size divided by the number of ranks, within the limits below.
const TOTAL_BYTES: u64 = 64 << 20;
const MIN_CHUNK: u64 = 256;
const MAX_CHUNK: u64 = 64 << 10;

pub(super) fn state_of<T>(states: &mut [T], rank: u64) -> Result<&mut T, String> {
    states.get_mut(rank as usize).ok_or_else(|| format!("there is no rank {rank}"))
}

pub(super) struct Spool {
    file: File,
    end: u64,
    chunk: usize,
    parts: Vec<RankText>,
}

#[derive(Default, Clone)]
struct RankText {
    /// The positions in the file of the rank's chunks, except its last chunk.
    chunks: Vec<u64>,
    last: Vec<u8>,
}

impl Spool {
    /// Creates the file in `folder`, but without a name.
    pub(super) fn new(folder: &Path, parts: u64) -> io::Result<Self> {
        let chunk = (TOTAL_BYTES / parts.max(1)).clamp(MIN_CHUNK, MAX_CHUNK) as usize;
        let parts = usize::try_from(parts).map_err(io::Error::other)?;
        Ok(Self {
            file: tempfile::tempfile_in(folder)?,
            end: 0,
            chunk,
            parts: vec![RankText::default(); parts],
        })
    }

    pub(super) fn append(&mut self, part: u64, mut text: &[u8]) -> io::Result<()> {
        let part = state_of(&mut self.parts, part).map_err(io::Error::other)?;
        while !text.is_empty() {
            let (now, later) = text.split_at(text.len().min(self.chunk - part.last.len()));
            part.last.extend_from_slice(now);
            text = later;
            if part.last.len() == self.chunk {
                self.file.write_all(&part.last)?;
                part.chunks.push(self.end);
                self.end += self.chunk as u64;
                part.last.clear();
            }
        }
        Ok(())
    }

    pub(super) fn finish(
        mut self,
        mut take: impl FnMut(u64, SpoolItem<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut chunk = vec![0; self.chunk];
        for (number, part) in (0..).zip(std::mem::take(&mut self.parts)) {
            take(number, SpoolItem::Begin)?;
            for at in part.chunks {
                self.file.seek(SeekFrom::Start(at))?;
                self.file.read_exact(&mut chunk)?;
                take(number, SpoolItem::Text(&chunk))?;
            }
            take(number, SpoolItem::Text(&part.last))?;
            take(number, SpoolItem::End)?;
        }
        Ok(())
    }
}

pub(super) enum SpoolItem<'a> {
    Begin,
    Text(&'a [u8]),
    End,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_appended_in_pieces_comes_out_by_rank() {
        let mut spool = Spool::new(&std::env::temp_dir(), 3).unwrap();
        let mut expected = vec![Vec::new(); 3];
        for i in 0..40_000_u32 {
            let (part, text) = (i % 7 % 3, format!("{i},"));
            spool.append(part.into(), text.as_bytes()).unwrap();
            expected[part as usize].extend_from_slice(text.as_bytes());
        }
        assert!(spool.end > 0, "nothing was put aside");
        assert!(spool.append(3, b"x").is_err());
        let mut parts = Vec::new();
        spool
            .finish(|_, piece| {
                match piece {
                    SpoolItem::Begin => parts.push(Vec::new()),
                    SpoolItem::Text(text) => parts.last_mut().unwrap().extend_from_slice(text),
                    SpoolItem::End => {}
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(parts, expected);
    }
}
