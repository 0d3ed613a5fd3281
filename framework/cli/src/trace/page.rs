//! `--format html`: one file that plays one or two schedules in a browser. It contains the trace in
//! the JSON format, the network, and the facts of each step, compressed and encoded in Base64.

use super::positions::drawing;
use super::{TraceOptions, json, print_failure, print_verified, write_events};
use crate::args::TraceArgs;
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SUCCESS};
use crate::output;
use crate::say::say;
use miniz_oxide::deflate::compress_to_vec_zlib;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use swapmeet_core::delivery::collective::InitialBlocks;
use swapmeet_core::text::{base64, escaped_lines};
use swapmeet_results::{Record, Status, escaped};
use swapmeet_runner::case::Case;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!(include_str!("page/schedule.js"), include_str!("page/player.js"));

/// The maximum size of the page in bytes.
pub(crate) const MOST_BYTES: u64 = 5_000_000;
/// The maximum size of the events of a schedule in bytes, before compression.
const MOST_EVENT_BYTES: usize = 32 << 20;
/// The maximum number of schedules, which are shown side by side.
const MOST_SCHEDULES: usize = 2;

/// A schedule as the page contains it.
struct Schedule {
    record: Box<Record>,
    /// The lines of the list `events` of the JSON format. `None` if these lines are too large for
    /// the page.
    events: Option<String>,
    /// The JSON text before the events, which begins with the head of the JSON format.
    before: String,
    /// The JSON text after the events: the end of the JSON format, and the other data of the page.
    after: String,
}

/// Writes a page with the schedules of the cases.
pub(super) fn write(args: &TraceArgs, cases: &[Case]) -> Result<ExitStatus, Failure> {
    if args.step.is_some() || args.node.is_some() || args.times {
        return Err(Failure::Usage(
            "--format html: a page has all steps, nodes and times; remove --step, --node and --times"
                .to_owned(),
        ));
    }
    if cases.len() > MOST_SCHEDULES {
        return Err(Failure::Usage(format!(
            "--format html: a page has at most {MOST_SCHEDULES} schedules, found {}",
            cases.len()
        )));
    }
    let mut schedules = Vec::new();
    for case in cases {
        let Some(schedule) = schedule(args, case)? else {
            return Ok(INTERRUPTED);
        };
        if schedule.record.status != Status::Ok {
            return Ok(print_failure(&schedule.record));
        }
        print_verified(&schedule.record);
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
    Ok(SUCCESS)
}

/// Returns the title of a page that [`write()`] has made; `None` if the text is not such a page.
pub(crate) fn title_of(page: &str) -> Option<String> {
    page.contains("<meta name=\"generator\" content=\"swapmeet ").then_some(())?;
    let (title, _) = page.split_once("<title>")?.1.split_once("</title>")?;
    let characters =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    Some(characters.iter().fold(title.to_owned(), |text, (name, c)| text.replace(name, c)))
}

/// Makes the schedule of a case. Returns `None` after an interrupt.
fn schedule(args: &TraceArgs, case: &Case) -> Result<Option<Schedule>, Failure> {
    let options = TraceOptions { json: true, facts: true, ..TraceOptions::default() };
    let (mut events, mut steps, mut load) = (Some(String::new()), Vec::new(), Value::Null);
    // The worker reports the events as text, and the facts of steps as objects.
    let mut handle = |value: Value| {
        match value {
            Value::String(text) => {
                events = events.take().filter(|events| events.len() <= MOST_EVENT_BYTES);
                if let Some(events) = &mut events {
                    *events += &escaped_lines(&text);
                }
            }
            Value::Object(mut object) => match object.remove("step") {
                Some(step) => steps.push(step),
                None => load = object.into(),
            },
            _ => {}
        }
        Ok(())
    };
    let (record, _) =
        write_events(std::slice::from_ref(case), &args.plugins, &options, &mut handle)?;
    let Some(record) = record else { return Ok(None) };
    // The field `trace` of the page's data contains the document of the JSON format.
    let (mut before, mut after) = (b"{\"trace\":".to_vec(), Vec::new());
    let written =
        json::head(&mut before, case).and_then(|()| json::outcome(&mut after, Some(&record)));
    written.map_err(Failure::output)?;
    let rest = json!({
        "steps": steps,
        "load": load,
        "network": drawing(case.topology.as_ref()),
        "radices": case.topology.radices(),
        "starts_at_root": case.workload.collective().initial == InitialBlocks::AllAtRoot,
        "time_us": record.time_us,
    });
    let [before, after] = [before, after].map(|text| String::from_utf8_lossy(&text).into_owned());
    let rest = rest.to_string();
    let rest = rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(&rest);
    let after = format!("{after},{rest}");
    Ok(Some(Schedule { record, events, before, after }))
}

/// Returns a page of at most `most_bytes` bytes. If the page would be larger, the events of one or
/// all schedules are left out. Returns `None` if it would still be too large.
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
            // Insert the title last. It is the only text that users write, and it may contain text
            // like `{data}`, which must not be replaced.
            .replace("{title}", &escaped(title));
        if page.len() as u64 <= most_bytes {
            return Some(page);
        }
        // Leave out the events of one schedule: the schedule whose events have the longest text.
        let size = |schedule: &&mut Schedule| schedule.events.as_ref().map(String::len);
        let largest = schedules.iter_mut().max_by_key(size)?;
        largest.events.take()?;
    }
}

impl Schedule {
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
        // Digits of a linear congruential generator, which compression does not shorten much.
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
        }
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

    /// A title may contain any text, including markup and placeholders of the template.
    #[test]
    fn titles_are_escaped_and_read_back() {
        let title = "graph:<a&b>'{data}\".txt";
        let page = page(title, &mut [], u64::MAX).unwrap();
        assert!(!page.contains("<a&b>"));
        assert_eq!(title_of(&page).unwrap(), title);
        assert_eq!(title_of("<title>another page</title>"), None);
    }
}
