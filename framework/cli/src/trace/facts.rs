//! The data of each step that the page needs and the JSON format does not contain: the parts of
//! the step's time, and the bytes that each node holds.

use super::positions::MOST_NODES;
use super::times::{Times, spent};
use serde_json::{Map, Value, json};
use swapmeet_core::cost::kind::Times as KindTimes;
use swapmeet_core::cost::model::Evaluator;
use swapmeet_core::delivery::payload::Proof;
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent};
use swapmeet_core::simulation::step::Step;
use swapmeet_runner::case::Case;
use swapmeet_runner::session::{newly_charged, pricing_context};
use swapmeet_runner::worker::SendValue;

/// The maximum number of rows and columns of the matrix of bytes between groups of ranks.
const MATRIX_SIDE: u64 = 64;
/// The maximum number of reported values for held data, in all steps together. A value is the
/// number of bytes that one node holds after one step.
const MOST_HELD: usize = 1 << 20;

/// Collects data of steps in the worker, and reports it when the schedule has ended.
pub(super) struct StepFacts {
    report: SendValue,
    clock: Clock,
    /// For each kind of time, such as start-up or contention, the total until the end of the last
    /// step, in µs.
    charged: KindTimes,
    /// The data of each step so far.
    rows: Vec<Row>,
    /// The number of bytes of a block, if all blocks have the same size.
    block_bytes: Option<u64>,
    /// Whether the network is small enough to report the data that each node holds.
    keeps_held: bool,
    /// The number of values for held data that `rows` contains so far.
    held: usize,
    /// The bytes of messages between groups of `bucket` consecutive ranks, in all steps together.
    /// Rows are senders, columns are receivers.
    matrix: Vec<Vec<u64>>,
    bucket: u64,
}

/// The source of the times of steps.
enum Clock {
    /// All ranks have the same clock, so each step has a time.
    Steps(Box<dyn Evaluator>),
    /// Each rank has its own clock. The time of a step is the mean over the times of all ranks in
    /// this step.
    Ranks(Times),
    /// The model has no times of steps.
    None,
}

struct Row {
    schedule_step: u64,
    facts: Map<String, Value>,
    times: KindTimes,
}

impl Listener for StepFacts {
    fn interests(&self) -> Interests {
        Interests::SCHEDULE.union(match &self.clock {
            Clock::Steps(evaluator) => evaluator.interests(),
            Clock::Ranks(times) => times.interests(),
            Clock::None => Interests::FACTS,
        })
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match &mut self.clock {
            Clock::Steps(evaluator) => evaluator.notify(event),
            Clock::Ranks(times) => times.notify(event),
            Clock::None => {}
        }
        if let ScheduleEvent::Step(step) = event {
            self.step(step);
        }
    }
}

impl StepFacts {
    pub(super) fn new(case: &Case, report: SendValue) -> Self {
        let evaluator = case.machine.evaluator(pricing_context(case));
        let clock = match evaluator.parts_so_far() {
            Some(_) => Clock::Steps(evaluator),
            None => Times::new(case, None).map_or(Clock::None, Clock::Ranks),
        };
        let nodes = case.topology.nodes();
        let bucket = nodes.div_ceil(MATRIX_SIDE).max(1);
        let side = nodes.div_ceil(bucket) as usize;
        Self {
            report,
            clock,
            charged: KindTimes::default(),
            rows: Vec::new(),
            block_bytes: case.workload.is_uniform().then(|| case.workload.block_bytes()),
            keeps_held: nodes <= MOST_NODES,
            held: 0,
            matrix: vec![vec![0; side]; side],
            bucket,
        }
    }

    fn step(&mut self, step: &Step<'_>) {
        let bytes = |load: u64| match (self.block_bytes, step.proof) {
            (Some(bytes), Proof::Blocks | Proof::Contributions) => {
                load.saturating_mul(bytes.div_ceil(step.segments.max(1)))
            }
            _ => load,
        };
        for transfer in step.transfers {
            let [row, column] = [transfer.from, transfer.to].map(|n| u64::from(n) / self.bucket);
            let cell = &mut self.matrix[row as usize][column as usize];
            *cell = cell.saturating_add(bytes(transfer.load));
        }
        let mut facts = Map::new();
        let mut set = |key: &str, value: Value| facts.insert(key.to_owned(), value);
        set("number", step.number.into());
        set("at", step.schedule_step.into());
        set("phase", step.phase.into());
        set("messages", step.facts.messages.into());
        set("longest", bytes(step.facts.max_load).into());
        set("hops", step.facts.max_hops.into());
        set("link_messages", step.facts.max_link_messages.into());
        if self.keeps_held && self.held < MOST_HELD {
            self.held += step.held.len();
            set("held", step.held.iter().map(|load| bytes(*load)).collect());
        }
        let times = self.newly_charged();
        self.rows.push(Row { schedule_step: step.schedule_step, facts, times });
    }

    /// Returns, for each kind of time, the simulated time since the last call, in µs. All values
    /// are 0 unless all ranks have the same clock.
    fn newly_charged(&mut self) -> KindTimes {
        let Clock::Steps(evaluator) = &self.clock else { return KindTimes::default() };
        newly_charged(evaluator.as_ref(), &mut self.charged).unwrap_or_default()
    }

    /// Reports one JSON object with the facts of each step, and then one with the matrix of bytes
    /// between groups of ranks.
    pub(super) fn ended(mut self) {
        // Time after the last step, such as that of a final barrier, is added to the last step.
        let after = self.newly_charged();
        if let Some(last) = self.rows.last_mut() {
            last.times += after;
        }
        if let Clock::Ranks(times) = self.clock {
            for (step, means) in times.means() {
                let at = self.rows.partition_point(|row| row.schedule_step < step);
                if let Some(row) = self.rows.get_mut(at) {
                    row.times = means;
                }
            }
        }
        for Row { mut facts, times, .. } in self.rows {
            let spent: Map<String, Value> =
                spent(&times).map(|(name, us)| (name.to_owned(), us.into())).collect();
            facts.insert("times".to_owned(), spent.into());
            (self.report)(json!({ "step": facts }));
        }
        (self.report)(json!({ "matrix": self.matrix, "bucket": self.bucket }));
    }
}
