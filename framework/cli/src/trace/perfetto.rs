//! `--format perfetto` writes the times of a schedule as Chrome trace events (ui.perfetto.dev).
//! Each rank has a track with a slice for each step. Within this slice, there is a slice for each
//! kind of time. If ranks have no clocks of their own, the kinds of time are on one track of steps.
//! Messages are arrows.

use super::names::name;
use super::{Observed, observed_by, print_failure, print_verified};
use crate::args::TraceArgs;
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SUCCESS};
use crate::output;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use swapmeet_core::cost::kind::Times;
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::Case;
use swapmeet_runner::step_record::{
    FrameSelection, RECORD, RankSelection, RecordRequest, ScheduleRecord, intervals, steps_of,
};

/// The number of the trace's only process. Tracks are the threads of this process.
const PROCESS: u64 = 1;
/// The track of steps. Rank r has the track r + 2, because 0 would be the idle thread.
const STEPS: u64 = 1;

pub(super) fn write(args: &TraceArgs, cases: &[Case]) -> Result<ExitStatus, Failure> {
    let [case] = cases else {
        return Err(Failure::Usage(format!(
            "--format perfetto: expected one size of blocks, found {}",
            cases.len()
        )));
    };
    let request = RecordRequest {
        frames: FrameSelection::Messages,
        max_steps: u64::MAX,
        unfinished: false,
        ranks: Some(RankSelection { only: None, max_entries: 1 << 17 }),
        matrix: false,
    };
    let Observed { row, record, .. } =
        observed_by(&RECORD, cases, &args.plugins, request, &mut |_| Ok(()))?;
    let Some(row) = row else { return Ok(INTERRUPTED) };
    if row.status != Status::Ok {
        return Ok(print_failure(&row));
    }
    if record.ends().len() < record.steps.len() {
        let why = record.why_no_ranks.as_deref().unwrap_or("the model has no times of steps");
        return Err(Failure::Usage(format!("--format perfetto: {why}")));
    }
    output::text(&args.out, &document(case, &row, &record))?;
    print_verified(&row);
    Ok(SUCCESS)
}

/// The JSON text of the events. On each track, events must be added in the order of their times.
#[derive(Default)]
struct Events(String);

impl Events {
    fn push(&mut self, phase: &str, track: u64, at: f64, mut event: Value) {
        event["ph"] = phase.into();
        event["pid"] = PROCESS.into();
        event["tid"] = track.into();
        event["ts"] = at.into();
        self.0 += if self.0.is_empty() { "\n" } else { ",\n" };
        self.0 += &event.to_string();
    }

    fn name_track(&mut self, track: u64, name: &str) {
        self.push("M", track, 0.0, json!({ "name": "thread_name", "args": { "name": name } }));
        let order = json!({ "name": "thread_sort_index", "args": { "sort_index": track } });
        self.push("M", track, 0.0, order);
    }

    fn slice(&mut self, track: u64, slice: &Slice, args: &Value) {
        let [first, last] = slice.steps.map(|step| step + 1);
        let name =
            if first == last { format!("step {first}") } else { format!("steps {first}-{last}") };
        let begin = json!({ "name": name, "cat": "step", "args": args });
        self.push("B", track, slice.from, begin);
        for (id, bytes) in &slice.sent {
            let event = json!({ "args": { "bytes": bytes } });
            self.message("s", track, slice.from, *id, event);
        }
        for (kind, from, to) in intervals(slice.times, slice.from, slice.of_sends) {
            // The parts of the time are rounded, so their sum may exceed the end of the step.
            let [from, to] = [from, to].map(|at| at.min(slice.to));
            self.push("B", track, from, json!({ "name": kind.name(), "cat": "time" }));
            self.push("E", track, to, json!({}));
        }
        for id in &slice.received {
            self.message("f", track, slice.to, *id, json!({ "bp": "e" }));
        }
        self.push("E", track, slice.to, json!({}));
    }

    /// Writes one end of an arrow, attached to the slice on this track at the time `at`.
    fn message(&mut self, phase: &str, track: u64, at: f64, id: u64, mut event: Value) {
        event["id"] = id.into();
        event["name"] = "message".into();
        event["cat"] = "message".into();
        self.push(phase, track, at, event);
    }
}

/// The time of one rank, or of all ranks together, in one or more consecutive steps.
struct Slice {
    steps: [usize; 2],
    from: f64,
    to: f64,
    times: Times,
    /// The largest start-up time of any send, for [`intervals`].
    of_sends: f64,
    /// The number and the bytes of each message that the rank sends.
    sent: Vec<(u64, u64)>,
    received: Vec<u64>,
}

fn slice_of_step(record: &ScheduleRecord, step: usize) -> Slice {
    let ends = record.ends();
    let from = step.checked_sub(1).map_or(0.0, |before| ends[before]);
    let times = record.times(step).unwrap_or_default();
    Slice {
        steps: [step; 2],
        from,
        to: ends[step],
        times,
        of_sends: f64::INFINITY,
        sent: Vec::new(),
        received: Vec::new(),
    }
}

fn slice_of_rank(record: &ScheduleRecord, rank: u64, step: usize) -> Option<Slice> {
    let Some(ranks) = &record.ranks else {
        return Some(Slice { times: Times::default(), ..slice_of_step(record, step) });
    };
    let entry = ranks.entry(rank as usize, step)?;
    Some(Slice {
        steps: steps_of(entry),
        from: entry.posted,
        to: entry.ended,
        times: entry.kinds,
        of_sends: entry.started - entry.posted,
        sent: Vec::new(),
        received: Vec::new(),
    })
}

fn document(case: &Case, row: &Record, record: &ScheduleRecord) -> String {
    let mut events = Events::default();
    let title = format!("{} on {}", row.algorithm, row.topology);
    events.push("M", STEPS, 0.0, json!({ "name": "process_name", "args": { "name": title } }));
    for rank in 0..case.topology.nodes() {
        let name = name(rank, case.topology.radices());
        events.name_track(rank + 2, &format!("rank {name}"));
    }
    if record.ranks.is_none() {
        events.name_track(STEPS, "steps");
        for (step, of) in record.steps.iter().enumerate() {
            let args = json!({
                "phase": record.phase_of(step),
                "messages": of.messages,
                "longest_bytes": record.bytes(of.max_load),
                "link_messages": of.max_link_messages,
            });
            events.slice(STEPS, &slice_of_step(record, step), &args);
        }
    }
    // With `order=data`, a rank may end a step before a message of the step arrives. Then there is
    // no slice in which the message arrives, and no arrow is drawn, because an arrow needs a slice
    // at both ends.
    let mut slices: BTreeMap<(u64, usize), Slice> = BTreeMap::new();
    let entries = record.ranks.iter().flat_map(|ranks| (0..).zip(&ranks.entries));
    for (rank, entry) in entries.flat_map(|(rank, all)| all.iter().map(move |e| (rank, e))) {
        let step = steps_of(entry)[0];
        let slice = slice_of_rank(record, rank, step);
        slices.extend(slice.map(|slice| ((rank, step), slice)));
    }
    let mut id = 0;
    for step in 0..record.steps.len() {
        for pair in record.frame(step).map_or(&[][..], |frame| &frame.pairs) {
            let of = |rank| slice_of_rank(record, rank, step);
            let (Some(sender), Some(receiver)) = (of(pair.from), of(pair.to)) else { continue };
            if sender.from >= receiver.to {
                continue;
            }
            id += 1;
            let at = [(pair.from, sender.steps[0]), (pair.to, receiver.steps[0])];
            let sent = (id, record.bytes(pair.load));
            slices.entry(at[0]).or_insert(sender).sent.push(sent);
            slices.entry(at[1]).or_insert(receiver).received.push(id);
        }
    }
    for ((rank, _), slice) in &slices {
        let args = json!({ "phase": record.phase_of(slice.steps[0]) });
        events.slice(rank + 2, slice, &args);
    }
    let about = json!({
        "program": concat!("swapmeet ", env!("CARGO_PKG_VERSION")),
        "algorithm": row.algorithm, "topology": row.topology, "workload": row.workload,
        "machine": row.machine, "time_us": row.time_us,
    });
    let Events(events) = events;
    format!("{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":[{events}\n]}}\n")
}
