//! Recalculates rows from the facts of their schedules. The other rows come from workers that have
//! planned the cases again.

use super::facts::ScheduleFacts;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::num::NonZero;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swapmeet_core::cost::machine::Machine;
use swapmeet_results::{CaseId, Record, Status};
use swapmeet_runner::case::Case;
use swapmeet_runner::session::{pricing_context, share_plan};
use swapmeet_workloads::Workload;

#[derive(Debug)]
pub(super) struct AffectedRow {
    pub(super) record: Arc<Record>,
    pub(super) case: Case,
    /// The index of the facts of the row's schedule in [`Scenario::facts`].
    pub(super) schedule: usize,
}

/// The input of a recalculation. A separate thread processes it.
pub(crate) struct Scenario {
    pub(super) machine: Arc<Machine>,
    /// If the block size is changed, the workload before and the workload after the change.
    pub(super) resized: Option<(Arc<Workload>, Arc<Workload>)>,
    pub(super) affected: Arc<Vec<AffectedRow>>,
    pub(super) facts: Vec<Option<Arc<ScheduleFacts>>>,
    /// The rows of the cases that workers have planned again so far.
    pub(super) answers: Arc<HashMap<CaseId, Arc<Record>>>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ScenarioResult {
    /// The algorithms that have at least one outdated time. An outdated time does not include the
    /// changes yet.
    pub(crate) outdated: BTreeSet<String>,
    /// The times before the changes, by topology, workload (with the changed block size) and
    /// algorithm.
    pub(crate) before: HashMap<[String; 3], f64>,
    pub(crate) instant: usize,
    pub(crate) took: Duration,
    pub(super) pending: Arc<Vec<Case>>,
}

/// The new row of an affected case. It was recalculated instantly, or a worker has planned the case
/// again, or the case is still waiting for a worker.
enum Price {
    Instant(Record),
    FromWorker(Record),
    Pending(Box<(Record, Case)>),
}

impl Scenario {
    /// Replaces the affected rows by their recalculated rows.
    pub(crate) fn apply(&self, records: &[Arc<Record>]) -> (Vec<Record>, ScenarioResult) {
        let began = Instant::now();
        let prices = self.prices();
        let mut result = ScenarioResult { took: began.elapsed(), ..ScenarioResult::default() };
        let mut new: HashMap<*const Record, Record> = HashMap::new();
        let (mut known, mut pending_cases) = (HashSet::new(), Vec::new());
        for (affected_row, price) in self.affected.iter().zip(prices) {
            let old = &affected_row.record;
            let record = match price {
                Price::Instant(record) => {
                    result.instant += 1;
                    record
                }
                Price::FromWorker(record) => record,
                Price::Pending(pending) => {
                    let (record, case) = *pending;
                    result.outdated.insert(record.algorithm.clone());
                    if known.insert(case.id()) {
                        pending_cases.push(case);
                    }
                    record
                }
            };
            if let Some(time) = old.time_us {
                let key = [&record.topology, &record.workload, &record.algorithm].map(Clone::clone);
                result.before.insert(key, time);
            }
            new.insert(Arc::as_ptr(old), record);
        }
        result.pending = Arc::new(pending_cases);
        let replaced =
            |old: &Arc<Record>| new.remove(&Arc::as_ptr(old)).unwrap_or_else(|| (**old).clone());
        (records.iter().map(replaced).collect(), result)
    }

    fn prices(&self) -> Vec<Price> {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let each = self.affected.len().div_ceil(cores).max(1);
        let price = |affected: &[AffectedRow]| {
            affected.iter().map(|affected_row| self.price(affected_row)).collect::<Vec<_>>()
        };
        std::thread::scope(|scope| {
            let parts: Vec<_> = self
                .affected
                .chunks(each)
                .map(|part| (part, scope.spawn(move || price(part))))
                .collect();
            // If a thread has panicked, compute its rows again here, so that this thread panics,
            // too.
            parts
                .into_iter()
                .flat_map(|(part, thread)| thread.join().unwrap_or_else(|_| price(part)))
                .collect()
        })
    }

    fn price(&self, affected_row: &AffectedRow) -> Price {
        let mut case = Case { machine: self.machine.clone(), ..affected_row.case.clone() };
        if let Some((_, new)) =
            self.resized.as_ref().filter(|(old, _)| *old == affected_row.case.workload)
        {
            case.workload = new.clone();
        }
        let facts = self.facts.get(affected_row.schedule).and_then(Option::as_ref);
        let priced = facts
            .filter(|facts| share_plan(facts.requested, &affected_row.case, &case))
            .and_then(|facts| facts.ledger.price(&case.machine, pricing_context(&case)));
        if let Some(cost) = priced {
            return Price::Instant(instant_record(affected_row, &case, cost));
        }
        if let Some(answer) = self.answers.get(&case.id()) {
            return Price::FromWorker((**answer).clone());
        }
        // The row shows the old time until a worker has planned the case again.
        Price::Pending(Box::new((
            Record { time_us: affected_row.record.time_us, ..labels(affected_row, &case) },
            case,
        )))
    }
}

/// Returns the row of a changed case without times. It only contains values that depend neither on
/// the machine nor on the block size.
fn labels(affected_row: &AffectedRow, case: &Case) -> Record {
    let old = &*affected_row.record;
    let mut record = Record {
        status: old.status,
        verified: old.verified,
        compared_on: old.compared_on,
        steps: old.steps,
        messages: old.messages,
        max_link_messages: old.max_link_messages,
        sum_link_messages: old.sum_link_messages,
        max_sends: old.max_sends,
        max_receives: old.max_receives,
        critical_hops: old.critical_hops,
        rearrangements: old.rearrangements,
        ..case.blank_row()
    };
    // Keep the versions of the old row, because the comparison treats rows of different plugin
    // versions as different. Rows from files may have another version than the current plugin.
    record.plugin.clone_from(&old.plugin);
    record.plugin_version.clone_from(&old.plugin_version);
    record.plugin_digest.clone_from(&old.plugin_digest);
    record.swapmeet_version.clone_from(&old.swapmeet_version);
    record
}

fn instant_record(
    affected_row: &AffectedRow,
    case: &Case,
    cost: Result<swapmeet_core::cost::model::Cost, String>,
) -> Record {
    let mut record = labels(affected_row, case);
    let cost = match cost {
        Ok(cost) => cost,
        Err(reason) => return Record { status: Status::Unsupported, reason, ..record },
    };
    if let Err(error) = record.set_parts(&cost.parts) {
        return Record { status: Status::Error, reason: error.to_string(), ..record };
    }
    record.note = cost.note.unwrap_or_default();
    record
}
