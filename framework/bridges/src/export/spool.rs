//! What is written rank by rank but comes step by step: each rank's text is put aside in chunks of
//! one file, and taken out whole at the end.
//!
//! In memory are the last chunk of each rank and the places of the others: 64 MB and eight bytes a
//! chunk, whatever the schedule's length.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes of all last chunks together, and of one at least and at most.
const ALL: u64 = 64 << 20;
const LEAST: u64 = 256;
const MOST: u64 = 64 << 10;

pub(super) struct Spool {
    file: File,
    end: u64,
    chunk: usize,
    parts: Vec<Part>,
}

#[derive(Default, Clone)]
struct Part {
    /// Where its full chunks are in the file.
    chunks: Vec<u64>,
    last: Vec<u8>,
}

impl Spool {
    /// Nothing of any of so many parts yet. The file is in `folder` and has no name.
    pub(super) fn new(folder: &Path, parts: u64) -> io::Result<Self> {
        let chunk = (ALL / parts.max(1)).clamp(LEAST, MOST) as usize;
        let parts = usize::try_from(parts).map_err(io::Error::other)?;
        Ok(Self {
            file: tempfile::tempfile_in(folder)?,
            end: 0,
            chunk,
            parts: vec![Part::default(); parts],
        })
    }

    /// More of a part; one that is not there is an error.
    pub(super) fn append(&mut self, part: u64, mut text: &[u8]) -> io::Result<()> {
        let part = self
            .parts
            .get_mut(part as usize)
            .ok_or_else(|| io::Error::other(format!("there is no rank {part}")))?;
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

    /// Parts one after another, each handed to `take` with its number, in pieces.
    pub(super) fn finish(
        mut self,
        mut take: impl FnMut(u64, Piece<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut chunk = vec![0; self.chunk];
        for (number, part) in (0..).zip(std::mem::take(&mut self.parts)) {
            take(number, Piece::Begin)?;
            for at in part.chunks {
                self.file.seek(SeekFrom::Start(at))?;
                self.file.read_exact(&mut chunk)?;
                take(number, Piece::Text(&chunk))?;
            }
            take(number, Piece::Text(&part.last))?;
            take(number, Piece::End)?;
        }
        Ok(())
    }
}

/// What comes of a part.
pub(super) enum Piece<'a> {
    Begin,
    Text(&'a [u8]),
    End,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_in_bit_by_bit_comes_out_part_by_part() {
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
                    Piece::Begin => parts.push(Vec::new()),
                    Piece::Text(text) => parts.last_mut().unwrap().extend_from_slice(text),
                    Piece::End => {}
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(parts, expected);
    }
}
