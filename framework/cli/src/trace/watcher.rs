//! An observer that writes the schedule in the worker, and can send the record of its steps.

use super::Writer;
use super::json::Json;
use super::selection::{Omitted, SendSelection};
use super::text::Text;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use swapmeet_core::simulation::listener::Listener;
use swapmeet_results::{Record, Status};
use swapmeet_runner::host;
use swapmeet_runner::max_bytes;
use swapmeet_runner::step_record::{RecordRequest, Recorder};
use swapmeet_runner::worker::{Observer, ObserverKind, SendValue};

#[derive(Default, Serialize, Deserialize)]
pub(super) struct TraceOptions {
    pub json: bool,
    pub omitted: Omitted,
    pub summary: bool,
    pub step: Option<u64>,
    pub node: Option<u64>,
    /// Whether JSON contains only the sends of one communicator, between its members.
    pub members: bool,
    pub record: Option<RecordRequest>,
}

impl TraceOptions {
    pub(super) fn selection(&self) -> SendSelection {
        SendSelection { step: self.step, node: self.node }
    }
}

/// The observer's text is sent as values that are strings, parts of the record as objects.
pub(crate) const TRACE: ObserverKind = ObserverKind {
    name: "trace",
    max_value_bytes: max_bytes::TRACE,
    start: |case, options, report| {
        let options = TraceOptions::deserialize(options).map_err(|e| e.to_string())?;
        let report = Rc::new(RefCell::new(report));
        let share = || -> SendValue {
            let report = Rc::clone(&report);
            Box::new(move |value| report.borrow_mut()(value))
        };
        let out = Lines { text: Vec::new(), report: share() };
        let TraceOptions { omitted, summary, members, record, .. } = options;
        // If communicators have different schedules, each schedule begins with an event that names
        // its communicators. If the communicators do not fit the topology, the row will contain the
        // reason.
        let communicators = case.workload.communicators(&case.topology).unwrap_or_default();
        let communicators = communicators.filter(|_| !members);
        let selection = options.selection();
        let writer: Box<dyn Writer> = match options.json {
            true => Box::new(Json::new(out, selection, omitted, communicators, case)),
            false => {
                let bytes = !case.workload.is_uniform();
                Box::new(Text::new(out, selection, summary, communicators, bytes))
            }
        };
        let recorder = record.map(|request| Recorder::new(case, request, share()));
        Ok(Box::new(Traced { writer, recorder }))
    },
};

struct Traced {
    writer: Box<dyn Writer>,
    recorder: Option<Recorder>,
}

impl Observer for Traced {
    fn listeners(&mut self) -> Vec<&mut dyn Listener> {
        let mut listeners: Vec<&mut dyn Listener> = vec![&mut *self.writer];
        listeners.extend(self.recorder.iter_mut().map(|recorder| recorder as &mut dyn Listener));
        listeners
    }

    fn needs_times(&self) -> bool {
        self.recorder.is_some()
    }

    fn ended(&mut self, record: &Record, _: host::Requested) {
        self.writer.ended(record.status == Status::Ok);
        if let Some(recorder) = &mut self.recorder {
            recorder.end(record);
        }
    }
}

/// The maximum bytes of text in a message, far below the limit for a value of a worker.
const PART: usize = max_bytes::TRACE / 16;

/// A buffer for lines. Its complete lines are sent at the end of each step, or when they fill a
/// message. So if the worker crashes, the text of earlier steps is not lost.
struct Lines {
    text: Vec<u8>,
    report: SendValue,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > PART && self.text.ends_with(b"\n") {
            self.flush()?;
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut rest = std::str::from_utf8(&self.text).map_err(io::Error::other)?;
        while !rest.is_empty() {
            let end = (0..=PART.min(rest.len())).rev().find(|end| rest.is_char_boundary(*end));
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            (self.report)(part.into());
            rest = after;
        }
        self.text.clear();
        Ok(())
    }
}
