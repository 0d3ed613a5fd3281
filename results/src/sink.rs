//! Who listens to rows: one trait, so that a run doesn't know whether it feeds a file, a table, a dashboard, or all of them.

use crate::record::Record;
use std::io;

/// Someone who takes rows.
pub trait Sink {
    /// Takes a row.
    fn record(&mut self, record: &Record) -> Result<(), SinkError>;

    /// No more rows will come.
    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// A row that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The output failed (no space, a closed pipe), or the row has a figure that cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Borrowed sinks are sinks, to be listed beside owned ones.
impl<S: Sink + ?Sized> Sink for &mut S {
    fn record(&mut self, record: &Record) -> Result<(), SinkError> {
        (**self).record(record)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        (**self).finish()
    }
}

/// Rows kept.
impl Sink for Vec<Record> {
    fn record(&mut self, record: &Record) -> Result<(), SinkError> {
        self.push(record.clone());
        Ok(())
    }
}

/// Several sinks as one. One that fails doesn't keep a row from the others; the first failure is returned once all have been asked.
#[derive(Default)]
pub struct Sinks<'a>(pub Vec<Box<dyn Sink + 'a>>);

impl Sinks<'_> {
    fn each(&mut self, mut ask: impl FnMut(&mut dyn Sink) -> Result<(), SinkError>) -> Result<(), SinkError> {
        let mut first = Ok(());
        for sink in &mut self.0 {
            let told = ask(sink.as_mut());
            first = first.and(told);
        }
        first
    }
}

impl Sink for Sinks<'_> {
    fn record(&mut self, record: &Record) -> Result<(), SinkError> {
        self.each(|sink| sink.record(record))
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.each(|sink| sink.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails with its name, whatever it is asked.
    struct Full(&'static str);

    impl Sink for Full {
        fn record(&mut self, _: &Record) -> Result<(), SinkError> {
            Err(io::Error::other(self.0).into())
        }
    }

    #[test]
    fn every_sink_gets_every_row_and_the_first_failure_is_told() {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut sinks = Sinks(vec![
            Box::new(&mut before),
            Box::new(Full("no space")),
            Box::new(Full("no paper")),
            Box::new(&mut after),
        ]);
        assert_eq!(sinks.record(&Record::default()).unwrap_err().to_string(), "no space");
        assert!(sinks.finish().is_ok());
        drop(sinks);
        assert_eq!((before.len(), after.len()), (1, 1));
    }
}
