//! `--format html` writes a page that plays one or two schedules in a browser. The page contains
//! the JSON trace, the network and the facts of each step. They are compressed and encoded in
//! Base64.

use super::{TraceOptions, json, observed, print_failure, print_verified, times};
use crate::args::TraceArgs;
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SUCCESS};
use crate::output;
use crate::say::say;
use miniz_oxide::deflate::compress_to_vec_zlib;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use swapmeet_core::delivery::collective::InitialBlocks;
use swapmeet_core::network::layout::Layout;
use swapmeet_core::network::topology::Network;
use swapmeet_core::text::base64;
use swapmeet_results::{Record, Status, escaped};
use swapmeet_runner::case::Case;
use swapmeet_runner::step_record::{FrameSelection, RecordRequest, ScheduleRecord, StepRecord};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!(include_str!("page/schedule.js"), include_str!("page/player.js"));

pub(crate) const MOST_BYTES: u64 = 5_000_000;
/// The maximum size of the events of a schedule in bytes, before compression.
const MOST_EVENT_BYTES: usize = 32 << 20;
/// The maximum number of schedules. They are shown next to each other.
const MOST_SCHEDULES: usize = 2;

/// The maximum number of nodes of a drawn network. A larger one is shown as a matrix.
const MOST_NODES: u64 = 256;

struct Schedule {
    record: Box<Record>,
    /// The list `events` of the JSON format; `None` if it is too large for the page.
    events: Option<String>,
    /// The JSON text before the events: the head of the JSON format.
    before: String,
    after: String,
    steps: usize,
}

pub(super) fn write(args: &TraceArgs, cases: &[Case]) -> Result<ExitStatus, Failure> {
    if cases.len() > MOST_SCHEDULES {
        return Err(Failure::Usage(format!(
            "--format html: a page has at most {MOST_SCHEDULES} schedules, found {}",
            cases.len()
        )));
    }
    let (mut schedules, mut status) = (Vec::new(), SUCCESS);
    for case in cases {
        let Some(schedule) = schedule(args, case)? else {
            return Ok(INTERRUPTED);
        };
        // A page shows a wrong schedule up to the fault. A case without a schedule has no page.
        match schedule.record.status {
            Status::Ok => print_verified(&schedule.record),
            Status::Unsupported => return Ok(print_failure(&schedule.record)),
            // Merged schedules of several communicators have no record up to the fault.
            _ if !schedule.has_sends() || case.is_merged() => {
                return Ok(print_failure(&schedule.record));
            }
            Status::Invalid | Status::Crashed | Status::Timeout | Status::Error => {
                status = print_failure(&schedule.record);
            }
        }
        schedules.push(schedule);
    }
    let algorithms: Vec<&str> =
        schedules.iter().map(|schedule| schedule.record.algorithm.as_str()).collect();
    let title = format!("{} on {}", algorithms.join(" and "), schedules[0].record.topology);
    let Some(page) = page(&title, &mut schedules, MOST_BYTES) else {
        return Err(Failure::Usage(format!(
            "--format html: {} steps are too many for a page of {} MB",
            schedules.iter().filter_map(|schedule| schedule.record.steps).sum::<u64>(),
            MOST_BYTES / 1_000_000
        )));
    };
    if schedules.iter().any(|schedule| schedule.events.is_none()) {
        say!(
            "the messages are too many for a page of {} MB; the page has the load matrix and the times of steps",
            MOST_BYTES / 1_000_000
        );
    }
    output::text(&args.out, &page)?;
    Ok(status)
}

pub(crate) fn title_of(page: &str) -> Option<String> {
    page.contains("<meta name=\"generator\" content=\"swapmeet ").then_some(())?;
    let (title, _) = page.split_once("<title>")?.1.split_once("</title>")?;
    let characters =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    Some(characters.iter().fold(title.to_owned(), |text, (name, c)| text.replace(name, c)))
}

/// Makes the schedule of a case. Returns `None` after an interrupt.
fn schedule(args: &TraceArgs, case: &Case) -> Result<Option<Schedule>, Failure> {
    let request = RecordRequest {
        frames: match case.topology.nodes() <= MOST_NODES {
            true => FrameSelection::Held,
            false => FrameSelection::None,
        },
        max_steps: u64::MAX,
        unfinished: true,
        ranks: Some(times::ranks(None)),
        matrix: true,
    };
    let options = TraceOptions { json: true, record: Some(request), ..TraceOptions::default() };
    let mut events = Some(String::new());
    let mut handle = |text: &str| {
        events = events.take().filter(|events| events.len() <= MOST_EVENT_BYTES);
        if let Some(events) = &mut events {
            *events += text;
        }
        Ok(())
    };
    let observed = observed(std::slice::from_ref(case), &args.plugins, &options, &mut handle)?;
    let Some(row) = observed.row else { return Ok(None) };
    let (mut before, mut after) = (b"{\"trace\":".to_vec(), Vec::new());
    let written =
        json::head(&mut before, case).and_then(|()| json::outcome(&mut after, Some(&row)));
    written.map_err(Failure::output)?;
    let rest = json!({
        "steps": steps(&observed.record),
        "load": observed.record.matrix,
        "network": drawing(&case.topology),
        "radices": case.topology.radices(),
        "starts_at_root": case.workload.collective().initial == InitialBlocks::AllAtRoot,
        "time_us": row.time_us,
    });
    let [before, after] = [before, after].map(|text| String::from_utf8_lossy(&text).into_owned());
    let rest = rest.to_string();
    let rest = rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(&rest);
    let after = format!("{after},{rest}");
    let steps = observed.record.steps.len();
    Ok(Some(Schedule { record: row, events, before, after, steps }))
}

fn steps(record: &ScheduleRecord) -> Vec<Value> {
    let object = |(at, step): (usize, &StepRecord)| {
        let mut object = json!({
            "number": at + 1,
            "at": step.schedule_step,
            "phase": record.phase_of(at),
            "messages": step.messages,
            "longest": record.bytes(step.max_load),
            "hops": step.max_hops,
            "link_messages": step.max_link_messages,
            "times": times::object(&record.times(at).unwrap_or_default()),
        });
        if let Some((from, to)) = record.frame(at).and_then(|frame| frame.at_fault) {
            object["at_fault"] = json!([from, to]);
        }
        // If schedules are merged, it is not recorded how much data each node holds.
        if let Some(frame) = record.frame(at).filter(|frame| !frame.held.is_empty()) {
            object["held"] = frame.held.iter().map(|load| record.bytes(*load)).collect();
        }
        object
    };
    record.steps.iter().enumerate().map(object).collect()
}

/// Returns the nodes and links for the drawing, or `None` if there are too many nodes.
fn drawing(topology: &Network) -> Option<Value> {
    if topology.nodes() > MOST_NODES {
        return None;
    }
    let Layout { is_grid, links, positions } = Layout::new(topology);
    let rounded = |c: f64| (c * 1000.0).round() / 1000.0;
    Some(json!({
        "grid": is_grid,
        "switches": topology.switches(),
        "links": links,
        "positions": positions.iter().map(|p| p.map(rounded)).collect::<Vec<_>>(),
    }))
}

/// Returns a page of at most `most_bytes` bytes. If necessary, the events of a schedule are left
/// out. Returns `None` if that does not suffice.
fn page(title: &str, schedules: &mut [Schedule], most_bytes: u64) -> Option<String> {
    loop {
        let data: Vec<String> = schedules.iter().map(Schedule::json).collect();
        let data = format!("[{}]", data.join(","));
        let data = base64(&compress_to_vec_zlib(data.as_bytes(), 6));
        let page = PAGE
            .replace("{program}", concat!("swapmeet ", env!("CARGO_PKG_VERSION")))
            .replace("{script-hash}", &base64(&Sha256::digest(SCRIPT)))
            .replace("{style}", STYLE)
            .replace("{script}", SCRIPT)
            .replace("{data}", &data)
            // The title is inserted last, because text in it such as `{data}` must not be replaced.
            .replace("{title}", &escaped(title));
        if page.len() as u64 <= most_bytes {
            return Some(page);
        }
        let size = |schedule: &&mut Schedule| schedule.events.as_ref().map(String::len);
        let largest = schedules.iter_mut().max_by_key(size)?;
        largest.events.take()?;
    }
}

impl Schedule {
    fn has_sends(&self) -> bool {
        self.steps > 0 || self.events.as_ref().is_some_and(|text| text.contains("\"from\":"))
    }

    fn json(&self) -> String {
        let Self { before, events, after, .. } = self;
        let (is_complete, events) = (events.is_some(), events.as_deref().unwrap_or_default());
        format!("{before}{events}{after},\"complete\":{is_complete}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(events: usize) -> Schedule {
        // The digits are from a linear congruential generator, so they can hardly be compressed.
        let mut state: u64 = 1;
        let digits = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'0' + (state >> 60) as u8 % 10)
        });
        Schedule {
            record: Box::default(),
            events: Some(digits.take(events).collect()),
            before: "{\"trace\":[".to_owned(),
            after: "]".to_owned(),
            steps: 0,
        }
    }

    #[test]
    fn only_small_networks_are_drawn() {
        let is_drawn = |topology| {
            drawing(&swapmeet_core::network::topology::parse(topology).unwrap()).is_some()
        };
        assert_eq!(["torus:16x16", "torus:17x16"].map(is_drawn), [true, false]);
    }

    #[test]
    fn a_large_page_leaves_out_the_messages_of_the_largest_schedule_first() {
        let fixed = page("", &mut [], u64::MAX).unwrap().len() as u64;
        for (room, left) in [(40_000, [true, true]), (8_000, [true, false]), (300, [false, false])]
        {
            let mut schedules = [schedule(3_000), schedule(30_000)];
            let page = page("t", &mut schedules, fixed + room).unwrap();
            assert!(page.len() as u64 <= fixed + room);
            assert_eq!(schedules.map(|schedule| schedule.events.is_some()), left, "{room}");
        }
        assert_eq!(page("t", &mut [schedule(9)], fixed), None);
    }

    #[test]
    fn titles_are_escaped_and_read_back() {
        let title = "graph:<a&b>'{data}\".txt";
        let page = page(title, &mut [], u64::MAX).unwrap();
        assert!(!page.contains("<a&b>"));
        assert_eq!(title_of(&page).unwrap(), title);
        assert_eq!(title_of("<title>another page</title>"), None);
    }
}
