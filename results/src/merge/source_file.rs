//! Files that are read twice: first from start to end, then row by row.

use crate::input::{Header, ReadError, Rows};
use crate::record::Record;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use swapmeet_core::spec::format_size;
use tempfile::{NamedTempFile, TempPath};

/// The maximum size of a pipe, because its content is copied to the disk. Files have no limit.
const MAX_PIPE_BYTES: u64 = 512 << 20;

/// A file that is read twice. A pipe can be read only once, so it is copied to a file.
pub(super) struct SourceFile {
    pub(super) name: String,
    path: PathBuf,
    copy: Option<TempPath>,
}

impl SourceFile {
    pub(super) fn of(path: &Path) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        let failed = |source| ReadError::Io { file: name.clone(), source };
        let is_pipe = std::fs::metadata(path).map_err(failed)?.file_type().is_fifo();
        let copy = is_pipe.then(|| copy_of(path, MAX_PIPE_BYTES)).transpose().map_err(failed)?;
        Ok(Self { name, path: path.to_owned(), copy })
    }

    fn open(&self) -> Result<File, ReadError> {
        let path = self.copy.as_deref().unwrap_or(&self.path);
        File::open(path).map_err(|source| ReadError::Io { file: self.name.clone(), source })
    }

    pub(super) fn rows(&self) -> Result<Rows<File>, ReadError> {
        Rows::new(self.name.clone(), self.open()?)
    }
}

fn copy_of(pipe: &Path, most: u64) -> io::Result<TempPath> {
    let mut copy = NamedTempFile::new()?;
    if io::copy(&mut File::open(pipe)?.take(most + 1), &mut copy)? > most {
        let limit = format_size(most);
        return Err(io::Error::other(format!("more than {limit} in a pipe, expected a file")));
    }
    Ok(copy.into_temp_path())
}

pub(super) struct RowReader<'a> {
    sources: &'a [SourceFile],
    open: HashMap<usize, OpenFile>,
}

struct OpenFile {
    reader: csv::Reader<File>,
    header: Header,
}

impl<'a> RowReader<'a> {
    pub(super) fn new(sources: &'a [SourceFile]) -> Self {
        Self { sources, open: HashMap::new() }
    }

    pub(super) fn row(&mut self, number: usize, from: u64) -> Result<Record, ReadError> {
        let source = &self.sources[number];
        let not_csv = |error| ReadError::NotCsv { file: source.name.clone(), source: error };
        let OpenFile { reader, header } = self.opened(number)?;
        let mut place = csv::Position::new();
        place.set_byte(from);
        // Usually this position is that of the next row, so the reader keeps its buffer.
        reader.seek(place).map_err(not_csv)?;
        let mut fields = csv::StringRecord::new();
        reader.read_record(&mut fields).map_err(not_csv)?;
        header
            .record(&source.name, 0, &fields)
            .map_err(|_| ReadError::Changed { file: source.name.clone() })
    }

    fn opened(&mut self, number: usize) -> Result<&mut OpenFile, ReadError> {
        /// The maximum number of open files. There may be more shards than a process may open.
        const MOST: usize = 128;
        if self.open.len() == MOST && !self.open.contains_key(&number) {
            self.open.clear();
        }
        match self.open.entry(number) {
            Entry::Occupied(there) => Ok(there.into_mut()),
            Entry::Vacant(free) => {
                let source = &self.sources[number];
                let mut reader =
                    csv::ReaderBuilder::new().flexible(true).from_reader(source.open()?);
                let header = reader.headers().cloned().map(Header::new);
                let header = header.map_err(|error| ReadError::NotCsv {
                    file: source.name.clone(),
                    source: error,
                })?;
                Ok(free.insert(OpenFile { reader, header }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contents_of_a_pipe_have_a_limit() {
        let refused = copy_of(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert_eq!(refused.to_string(), "more than 1MiB in a pipe, expected a file");
        assert_eq!(std::fs::read(copy_of(Path::new("/dev/null"), 0).unwrap()).unwrap(), b"");
    }
}
