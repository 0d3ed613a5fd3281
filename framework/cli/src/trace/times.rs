//! `--times`: prints when each rank starts and ends each step, and how much time it spends on each
//! activity in between. Only machine models that simulate each rank separately have these times.

use super::selection::SendSelection;
use crate::failure::Failure;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use swapmeet_core::cost::kind::Times as KindTimes;
use swapmeet_core::cost::model::Evaluator;
use swapmeet_core::cost::model::time_space::{Entry, TimeSpace};
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};
use swapmeet_runner::case::Case;
use swapmeet_runner::session::pricing_context;

/// The maximum number of entries. An entry contains the times of one rank in one step. This number
/// of entries takes about 28 MB when printed. If there are more, several consecutive steps are
/// combined in one entry.
const MOST: usize = 1 << 18;

/// Records the times of ranks. For this purpose, the worker that makes the schedule also simulates
/// it with the model of the machine.
pub(super) struct Times {
    evaluator: Box<dyn Evaluator>,
    steps: Steps,
}

/// For each simulated step, its number in the schedule.
#[derive(Default)]
struct Steps(Vec<u64>);

impl Listener for Times {
    fn interests(&self) -> Interests {
        Interests::SCHEDULE.union(self.evaluator.interests())
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        self.evaluator.notify(event);
        if let ScheduleEvent::Step(step) = event {
            self.steps.0.push(step.schedule_step);
        }
    }
}

/// The recorded times of all ranks.
pub(super) struct Timetable {
    record: TimeSpace,
    steps: Steps,
}

/// Errors unless there is exactly one case and its machine model has separate times for each rank.
pub(super) fn check_available(cases: &[Case]) -> Result<(), Failure> {
    if cases.len() > 1 {
        return Err(Failure::Usage(format!(
            "--times: expected one size of blocks, found {}",
            cases.len()
        )));
    }
    let Some(case) = cases.first().filter(|case| Times::new(case, None).is_none()) else {
        return Ok(());
    };
    let expected = "a machine of the model `flat`, `loggp` or `fluid` (--machine free:model=fluid,startup_us=10,byte_us=0.01)";
    Err(Failure::Usage(format!(
        "--times: the model of {} does not simulate each rank, expected {expected}",
        case.machine
    )))
}

impl Times {
    /// Creates a recorder for rank `node`, or for all ranks if `node` is `None`. Returns `None` if
    /// the machine model does not simulate each rank separately.
    pub(super) fn new(case: &Case, node: Option<u64>) -> Option<Self> {
        let mut evaluator = case.machine.evaluator(pricing_context(case));
        evaluator.record_time_space(TimeSpace::new(case.topology.nodes(), node, MOST)).ok()?;
        Some(Self { evaluator, steps: Steps::default() })
    }

    /// Returns the time of each kind in each step of the schedule, as the mean of all ranks in µs.
    /// If an entry combines several steps, its whole time is assigned to the first of them. The map
    /// is empty if the machine model has no cost for the schedule.
    pub(super) fn means(self) -> BTreeMap<u64, KindTimes> {
        let mut means = BTreeMap::new();
        let Ok(times) = self.timetable() else { return means };
        let ranks = times.record.ranks() as f64;
        for (_, entry) in times.entries(SendSelection::default()) {
            let [first, _] = times.steps_of(entry);
            *means.entry(first).or_insert(KindTimes::default()) += entry.kinds.map(|us| us / ranks);
        }
        means
    }

    /// Returns the recorded times after the schedule has ended, or the reason why there are none.
    pub(super) fn timetable(mut self) -> Result<Timetable, String> {
        self.evaluator.cost()?;
        let record = self.evaluator.time_space().ok_or("its ranks have no times of their own")?;
        Ok(Timetable { record, steps: self.steps })
    }
}

impl Timetable {
    /// Returns the numbers in the schedule of the first and the last step of an entry.
    fn steps_of(&self, entry: &Entry) -> [u64; 2] {
        [entry.first_step, entry.last_step]
            .map(|step| self.steps.0.get(step as usize - 1).copied().unwrap_or(step))
    }

    /// Returns the entries that belong to the selected steps, each with its rank.
    fn entries(&self, selection: SendSelection) -> impl Iterator<Item = (usize, &Entry)> {
        let is_asked_for = move |entry: &Entry| {
            let [first, last] = self.steps_of(entry);
            selection.step.is_none_or(|step| (first..=last).contains(&step))
        };
        (0..self.record.ranks())
            .flat_map(|rank| self.record.entries(rank).iter().map(move |entry| (rank, entry)))
            .filter(move |(_, entry)| is_asked_for(entry))
    }

    /// Returns one JSON object for each entry of the selected steps.
    pub(super) fn objects(&self, selection: SendSelection) -> impl Iterator<Item = Value> {
        self.entries(selection).map(|(rank, entry)| {
            let kinds: Map<String, Value> =
                spent(&entry.kinds).map(|(name, us)| (name.to_owned(), us.into())).collect();
            let Entry { posted, started, waited, ended, .. } = *entry;
            json!({
                "rank": rank, "steps": self.steps_of(entry),
                "posted": posted, "started": started, "waited": waited, "ended": ended, "kinds": kinds,
            })
        })
    }

    /// Returns one line per entry, or one line per rank if `summary` is set. `printed` converts the
    /// number of a step in the schedule to the printed number, and `name` returns the name of a
    /// rank.
    pub(super) fn lines(
        &self,
        selection: SendSelection,
        summary: bool,
        printed: impl Fn(u64) -> usize,
        name: impl Fn(usize) -> String,
    ) -> Vec<String> {
        let mut lines = vec!["\ntimes of ranks, in us".to_owned()];
        // Without `--summary`, print a line with the four times of each entry.
        if !summary {
            let heads =
                ["posted", "started", "waited", "ended"].map(|head| format!("{head:>12}")).concat();
            lines.push(format!("    {:>9} {:>11}{heads}  into", "rank", "step"));
            for (rank, entry) in self.entries(selection) {
                let [first, last] = self.steps_of(entry).map(&printed);
                let steps =
                    if first == last { first.to_string() } else { format!("{first}-{last}") };
                let moments = [entry.posted, entry.started, entry.waited, entry.ended];
                let moments = moments.map(|us| format!("{us:>12.3}")).concat();
                lines.push(format!(
                    "    {:>9} {steps:>11}{moments}  {}",
                    name(rank),
                    in_words(&entry.kinds)
                ));
            }
        }
        // Print the end of each rank and its total time of each kind, but only if the user has not
        // selected a single step.
        let ends: Vec<usize> = (0..self.record.ranks())
            .filter(|rank| !self.record.entries(*rank).is_empty())
            .collect();
        for rank in ends.into_iter().filter(|_| selection.step.is_none()) {
            let mut kinds = KindTimes::default();
            let of_rank = self.record.entries(rank);
            of_rank.iter().for_each(|entry| kinds += entry.kinds);
            let ended = of_rank.last().map_or(0.0, |entry| entry.ended);
            lines.push(format!("    {:>9} ends at {ended:.3}: {}", name(rank), in_words(&kinds)));
        }
        // In long traces, an entry combines several steps to save memory. State this in the output.
        let joined = self.record.steps_per_entry();
        if joined > 1 {
            lines.push(format!("    each line has up to {joined} steps, because there would be more than {MOST} lines; --node V prints one rank"));
        }
        lines
    }
}

/// Returns the name and the duration of each activity that took time.
pub(super) fn spent(kinds: &KindTimes) -> impl Iterator<Item = (&'static str, f64)> {
    kinds.each().filter(|(_, us)| *us > 0.0).map(|(kind, us)| (kind.name(), us))
}

fn in_words(kinds: &KindTimes) -> String {
    spent(kinds).map(|(name, us)| format!("{name} {us:.3}")).collect::<Vec<_>>().join(", ")
}
