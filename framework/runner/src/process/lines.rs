//! Splits the bytes that a child process sends into lines. A line may announce a block of bytes
//! that follows it.

/// Received bytes. They consist of complete lines that have not been returned, and an incomplete
/// line.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    /// Start of the search for the next line feed: no byte before this index is a line feed.
    searched: usize,
    /// The number of bytes of the block that precedes the next line, or 0.
    block: usize,
}

impl Lines {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Makes the next item a block of this number of bytes instead of a line.
    pub(crate) fn expect_block(&mut self, bytes: usize) {
        (self.block, self.searched) = (bytes, 0);
    }

    /// Returns the next complete line, or the block that `expect_block` has announced.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        if self.block > 0 {
            let block = (self.bytes.len() >= self.block).then_some(self.block)?;
            self.block = 0;
            return Some(self.bytes.drain(..block).collect());
        }
        let Some(end) = self.bytes[self.searched..].iter().position(|b| *b == b'\n') else {
            self.searched = self.bytes.len();
            return None;
        };
        let line = self.bytes.drain(..=self.searched + end).collect();
        self.searched = 0;
        Some(line)
    }

    /// Returns the next complete line. If there is none, but an incomplete line has reached
    /// `longest` bytes, returns these bytes.
    pub(crate) fn next_within(&mut self, longest: usize) -> Option<Vec<u8>> {
        self.next().or_else(|| {
            (self.bytes.len() >= longest).then(|| {
                self.searched = 0;
                self.bytes.drain(..longest).collect()
            })
        })
    }

    /// Returns the number of stored bytes.
    pub(crate) fn held(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_complete_however_they_are_split() {
        let text = b"one\n\ntwo and a half\nthr";
        for cut in 1..text.len() {
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            for piece in text.chunks(cut) {
                lines.push(piece);
                found.extend(std::iter::from_fn(|| lines.next()));
            }
            assert_eq!(found, [&b"one\n"[..], b"\n", b"two and a half\n"], "pieces of {cut}");
            assert_eq!(lines.held(), 3);
        }
    }

    #[test]
    fn a_block_may_contain_line_ends() {
        for cut in 1..8 {
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            for piece in b"a\nb\n\nc\nd\n".chunks(cut) {
                lines.push(piece);
                while let Some(item) = lines.next() {
                    if found.is_empty() {
                        lines.expect_block(4);
                    }
                    found.push(item);
                }
            }
            assert_eq!(found, [&b"a\n"[..], b"b\n\nc", b"\n", b"d\n"], "pieces of {cut}");
        }
    }

    #[test]
    fn a_line_without_an_end_comes_in_pieces() {
        let mut lines = Lines::default();
        lines.push(b"ab\nabcdefg");
        let pieces: Vec<_> = std::iter::from_fn(|| lines.next_within(3)).collect();
        assert_eq!(pieces, [&b"ab\n"[..], b"abc", b"def"]);
    }
}
