//! `--times` prints when each rank begins and ends each step, and how the rank spends its time.

use super::names::name;
use super::selection::SendSelection;
use crate::failure::Failure;
use serde_json::{Map, Value, json};
use swapmeet_core::cost::kind::Times as KindTimes;
use swapmeet_core::cost::model::time_space::{Entry, TimeSpace};
use swapmeet_runner::case::Case;
use swapmeet_runner::session::pricing_context;
use swapmeet_runner::step_record::{RankSelection, ScheduleRecord};

/// The maximum number of entries, each for one rank and one step. This number of entries takes
/// about 28 MB when printed. If there would be more, an entry has several consecutive steps.
const MOST: usize = 1 << 18;

pub(super) fn ranks(only: Option<u64>) -> RankSelection {
    RankSelection { only, max_entries: MOST }
}

/// Errors unless there is exactly one case, and its machine model has separate times for each rank.
pub(super) fn check_available(cases: &[Case]) -> Result<(), Failure> {
    if cases.len() > 1 {
        return Err(Failure::Usage(format!(
            "--times: expected one size of blocks, found {}",
            cases.len()
        )));
    }
    let has_times = |case: &Case| {
        let mut evaluator = case.machine.evaluator(pricing_context(case));
        evaluator.record_time_space(TimeSpace::new(case.topology.nodes(), None, 0)).is_ok()
    };
    let Some(case) = cases.first().filter(|case| !has_times(case)) else { return Ok(()) };
    let expected = "a machine of the model `flat`, `loggp` or `fluid` (--machine free:model=fluid,startup_us=10,byte_us=0.01)";
    Err(Failure::Usage(format!(
        "--times: the model of {} does not simulate each rank, expected {expected}",
        case.machine
    )))
}

/// Returns the first and the last step of an entry, as numbered in the schedule.
fn steps_of(record: &ScheduleRecord, entry: &Entry) -> [u64; 2] {
    [entry.first_step, entry.last_step].map(|step| record.schedule_step(step))
}

fn entries(
    record: &ScheduleRecord,
    selection: SendSelection,
) -> impl Iterator<Item = (usize, &Entry)> {
    let is_selected = move |entry: &Entry| {
        let [first, last] = steps_of(record, entry);
        selection.step.is_none_or(|step| (first..=last).contains(&step))
    };
    let ranks = record.ranks.iter().flat_map(|ranks| ranks.entries.iter().enumerate());
    ranks
        .flat_map(|(rank, entries)| entries.iter().map(move |entry| (rank, entry)))
        .filter(move |(_, entry)| is_selected(entry))
}

pub(super) fn objects(
    record: &ScheduleRecord,
    selection: SendSelection,
) -> impl Iterator<Item = Value> {
    entries(record, selection).map(|(rank, entry)| {
        let Entry { posted, started, waited, ended, .. } = *entry;
        json!({
            "rank": rank, "steps": steps_of(record, entry), "kinds": object(&entry.kinds),
            "posted": posted, "started": started, "waited": waited, "ended": ended,
        })
    })
}

/// Returns one line per entry, or one line per rank if `summary` is set. If there are no times, the
/// error has the reason. `radices` are the side lengths of the network.
pub(super) fn lines(
    record: &ScheduleRecord,
    selection: SendSelection,
    summary: bool,
    radices: &[u64],
) -> Vec<String> {
    let Some(ranks) = &record.ranks else { return record.why_no_ranks.iter().cloned().collect() };
    let mut lines = vec!["\ntimes of ranks, in us".to_owned()];
    // In printed numbers of steps, only steps with messages between nodes are counted.
    if !summary {
        let printed =
            |step: u64| record.steps.partition_point(|recorded| recorded.schedule_step <= step);
        let heads =
            ["posted", "started", "waited", "ended"].map(|head| format!("{head:>12}")).concat();
        lines.push(format!("    {:>9} {:>11}{heads}  into", "rank", "step"));
        for (rank, entry) in entries(record, selection) {
            let [first, last] = steps_of(record, entry).map(printed);
            let steps = if first == last { first.to_string() } else { format!("{first}-{last}") };
            let moments = [entry.posted, entry.started, entry.waited, entry.ended];
            let moments = moments.map(|us| format!("{us:>12.3}")).concat();
            lines.push(format!(
                "    {:>9} {steps:>11}{moments}  {}",
                name(rank as u64, radices),
                in_words(&entry.kinds)
            ));
        }
    }
    let all = (0..).zip(&ranks.entries).filter(|_| selection.step.is_none());
    for (rank, entries) in all {
        let Some(last) = entries.last() else { continue };
        let mut kinds = KindTimes::default();
        entries.iter().for_each(|entry| kinds += entry.kinds);
        let name = name(rank, radices);
        lines.push(format!("    {name:>9} ends at {:.3}: {}", last.ended, in_words(&kinds)));
    }
    // In a long trace, an entry combines several steps to save memory. The output states this.
    let joined = ranks.joined;
    if joined > 1 {
        lines.push(format!("    each line has up to {joined} steps, because there would be more than {MOST} lines; --node V prints one rank"));
    }
    lines
}

pub(super) fn object(kinds: &KindTimes) -> Map<String, Value> {
    spent(kinds).map(|(name, us)| (name.to_owned(), us.into())).collect()
}

fn spent(kinds: &KindTimes) -> impl Iterator<Item = (&'static str, f64)> {
    kinds.each().filter(|(_, us)| *us > 0.0).map(|(kind, us)| (kind.name(), us))
}

fn in_words(kinds: &KindTimes) -> String {
    spent(kinds).map(|(name, us)| format!("{name} {us:.3}")).collect::<Vec<_>>().join(", ")
}
