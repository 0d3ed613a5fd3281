//! The observer in the worker that makes the schedule. It writes the schedule and, on request,
//! records the times of ranks.

use super::json::Json;
use super::only::Only;
use super::text::Text;
use super::times::Times;
use super::writer::Writer;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use swapmeet_core::simulation::listener::Listener;
use swapmeet_results::{Record, Status};
use swapmeet_runner::host;
use swapmeet_runner::worker::{Observer, ObserverKind, SendValue};

/// The options of a trace.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Asked {
    pub json: bool,
    pub summary: bool,
    pub step: Option<u64>,
    pub node: Option<u64>,
    pub times: bool,
}

/// The observer that writes the schedule as text or JSON.
pub(crate) const WATCH: ObserverKind = ObserverKind {
    name: "trace",
    start: |case, asked, report| {
        let Asked { json, summary, step, node, times } =
            Asked::deserialize(asked).map_err(|e| e.to_string())?;
        let (out, only) = (Lines { text: Vec::new(), report }, Only { step, node });
        let writer: Box<dyn Writer> = match json {
            true => Box::new(Json::new(out, only, case)),
            false => Box::new(Text::new(
                out,
                only,
                summary,
                !case.workload.is_uniform(),
                case.topology.radices(),
            )),
        };
        Ok(Box::new(Traced { writer, times: if times { Times::new(case, node) } else { None } }))
    },
};

struct Traced {
    writer: Box<dyn Writer>,
    times: Option<Times>,
}

impl Observer for Traced {
    fn listeners(&mut self) -> Vec<&mut dyn Listener> {
        let mut listeners: Vec<&mut dyn Listener> = vec![&mut *self.writer];
        listeners.extend(self.times.iter_mut().flat_map(Times::listeners));
        listeners
    }

    fn ended(&mut self, record: &Record, _: host::Requested) {
        let is_verified = record.status == Status::Ok;
        let times = self.times.take().filter(|_| is_verified);
        self.writer.ended(is_verified, times.map(Times::timetable));
    }
}

/// A buffer that reports complete lines, so that the lines before a crash can be read.
struct Lines {
    text: Vec<u8>,
    report: SendValue,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        /// The number of buffered bytes that triggers a report.
        const ENOUGH: usize = 1 << 16;
        self.text.extend_from_slice(bytes);
        if self.text.len() > ENOUGH && self.text.ends_with(b"\n") {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.text.is_empty() {
            (self.report)(String::from_utf8_lossy(&std::mem::take(&mut self.text)).into());
        }
        Ok(())
    }
}
