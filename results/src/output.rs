use crate::record::{Record, columns};
use std::io::{self, Write};

/// A receiver of rows, for instance a file, a terminal or a test.
pub trait Sink {
    fn record(&mut self, record: &Record) -> io::Result<()>;

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes CSV (RFC 4180, UTF-8). Each row is written by a single call of `write` and then flushed,
/// so that readers see complete rows, and a killed run leaves at most one torn row. Lines end in a
/// line feed without a carriage return, which would disturb `cut`, `awk` and `diff`.
pub struct CsvSink<W: Write> {
    out: W,
    headed: bool,
    line: Vec<u8>,
}

impl<W: Write> CsvSink<W> {
    /// Writes the header before the first row or, if there are no rows, at the end.
    pub fn new(out: W) -> Self {
        Self { out, headed: false, line: Vec::new() }
    }

    /// Appends rows to a file that already contains a header.
    pub fn appending(out: W) -> Self {
        Self { out, headed: true, line: Vec::new() }
    }

    /// Writes a row. If the header has not been written yet, it is written first.
    fn write(&mut self, row: Option<&Record>) -> io::Result<()> {
        const ROW: usize = 512;
        let line = std::mem::take(&mut self.line);
        let mut lines = csv::WriterBuilder::new().buffer_capacity(ROW).from_writer(line);
        if !std::mem::replace(&mut self.headed, true) {
            lines.write_record(columns())?;
        }
        if let Some(record) = row {
            lines.write_record(record.fields())?;
        }
        self.line = lines.into_inner().map_err(csv::IntoInnerError::into_error)?;
        let written = self.out.write_all(&self.line);
        self.line.clear();
        written?;
        self.out.flush()
    }
}

impl<W: Write> Sink for CsvSink<W> {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        // The row is refused, because a single `NaN` would make the whole file unreadable.
        if let Some(error) = record.unwritable() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        self.write(Some(record))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::tests::written;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Clone, Default)]
    struct Page(Rc<RefCell<Vec<u8>>>);

    impl Page {
        fn lines(&self) -> usize {
            self.0.borrow().iter().filter(|b| **b == b'\n').count()
        }
    }

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_row_is_flushed_after_one_header() {
        let page = Page::default();
        let mut sink = CsvSink::new(page.clone());
        let mut seen = vec![page.lines()];
        for _ in 0..3 {
            sink.record(&Record::default()).unwrap();
            seen.push(page.lines());
        }
        sink.finish().unwrap();
        seen.push(page.lines());
        assert_eq!(seen, [0, 2, 3, 4, 4]);
    }

    #[derive(Default)]
    struct Pieces(Vec<Vec<u8>>);

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_long_row_is_written_in_one_piece() {
        let mut pieces = Pieces::default();
        let mut sink = CsvSink::new(&mut pieces);
        for _ in 0..2 {
            sink.record(&Record { reason: "x".repeat(60_000), ..Record::default() }).unwrap();
        }
        sink.finish().unwrap();
        let ends: Vec<_> = pieces
            .0
            .iter()
            .filter(|piece| !piece.is_empty())
            .map(|piece| piece.ends_with(b"\n"))
            .collect();
        assert_eq!(ends, [true, true]);
    }

    #[test]
    fn an_empty_file_has_a_header_and_appended_rows_have_none() {
        let header = columns().collect::<Vec<_>>().join(",") + "\n";
        assert_eq!(written(&[]), header);
        let mut more = Vec::new();
        CsvSink::appending(&mut more).record(&Record::default()).unwrap();
        assert_eq!(header + &String::from_utf8(more).unwrap(), written(&[Record::default()]));
    }

    #[test]
    fn special_characters_are_quoted() {
        let record = Record { reason: "a \"b\",\nc".to_owned(), ..Record::default() };
        let text = written(&[record]);
        assert!(text.contains(",error,\"a \"\"b\"\",\nc\",none,"), "{text}");
    }

    #[test]
    fn a_row_that_cannot_be_written_is_an_error() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::new(io::ErrorKind::BrokenPipe, "nobody reads"))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = CsvSink::new(Full).record(&Record::default()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);

        let record = Record { plan_ms: Some(f64::NEG_INFINITY), ..Record::default() };
        let error = CsvSink::new(Vec::new()).record(&record).unwrap_err();
        assert_eq!(error.to_string(), "column `plan_ms` is -inf, expected a finite number");
    }
}
