//! The rows of a machine as they would be with other parameters: priced at once from the facts of
//! steps, or still to come from a worker.

use super::facts::Facts;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::num::NonZero;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swapmeet_core::cost::machine::Machine;
use swapmeet_results::{CaseId, Record, Status};
use swapmeet_runner::case::Case;
use swapmeet_runner::session::{pricing_context, share_plan};
use swapmeet_workloads::Workload;

/// A row on the machine that is changed.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) record: Arc<Record>,
    pub(super) case: Case,
    /// Its schedule, by its number.
    pub(super) schedule: usize,
}

/// All that is needed to price rows otherwise, for a thread of its own.
pub(crate) struct Scenario {
    pub(super) machine: Machine,
    /// The workload whose blocks have another size, and that workload.
    pub(super) resized: Option<(Workload, Workload)>,
    pub(super) subjects: Arc<Vec<Subject>>,
    pub(super) facts: Vec<Option<Arc<Facts>>>,
    /// What workers said of such cases.
    pub(super) answers: Arc<HashMap<CaseId, Arc<Record>>>,
}

/// What came of pricing rows otherwise.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tried {
    /// Algorithms some of whose times are still those of before.
    pub(crate) old: BTreeSet<String>,
    /// Times as they were, by topology, workload (as it is tried) and algorithm.
    pub(crate) before: HashMap<[String; 3], f64>,
    /// How many were priced at once, and how long that took.
    pub(crate) at_once: usize,
    pub(crate) took: Duration,
    /// What a worker is to plan.
    pub(super) pending: Vec<Case>,
}

/// A row that was tried.
enum Price {
    AtOnce(Record),
    FromWorker(Record),
    Pending(Box<(Record, Case)>),
}

impl Scenario {
    /// The rows with those of the machine replaced, each in its place.
    pub(crate) fn apply(&self, records: Vec<Arc<Record>>) -> (Vec<Record>, Tried) {
        let began = Instant::now();
        let prices = self.prices();
        let mut tried = Tried { took: began.elapsed(), ..Tried::default() };
        let mut new: HashMap<*const Record, Record> = HashMap::new();
        let mut asked = HashSet::new();
        for (subject, price) in self.subjects.iter().zip(prices) {
            let old = &subject.record;
            let record = match price {
                Price::AtOnce(record) => {
                    tried.at_once += 1;
                    record
                }
                Price::FromWorker(record) => record,
                Price::Pending(pending) => {
                    let (record, case) = *pending;
                    tried.old.insert(record.algorithm.clone());
                    if asked.insert(case.id()) {
                        tried.pending.push(case);
                    }
                    record
                }
            };
            if let Some(time) = old.time_us {
                let key = [&record.topology, &record.workload, &record.algorithm].map(Clone::clone);
                tried.before.insert(key, time);
            }
            new.insert(Arc::as_ptr(old), record);
        }
        let replaced =
            |old: Arc<Record>| new.remove(&Arc::as_ptr(&old)).unwrap_or_else(|| (*old).clone());
        (records.into_iter().map(replaced).collect(), tried)
    }

    /// The price of each subject. They have nothing to do with each other: each core takes some.
    fn prices(&self) -> Vec<Price> {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let each = self.subjects.len().div_ceil(cores).max(1);
        let price = |subjects: &[Subject]| {
            subjects.iter().map(|subject| self.price(subject)).collect::<Vec<_>>()
        };
        std::thread::scope(|scope| {
            let parts: Vec<_> = self
                .subjects
                .chunks(each)
                .map(|part| (part, scope.spawn(move || price(part))))
                .collect();
            // A thread that panicked has done none of its part; what panicked there panics here,
            // too.
            parts
                .into_iter()
                .flat_map(|(part, thread)| thread.join().unwrap_or_else(|_| price(part)))
                .collect()
        })
    }

    fn price(&self, subject: &Subject) -> Price {
        let mut case = Case { machine: self.machine.clone(), ..subject.case.clone() };
        if let Some((_, new)) =
            self.resized.as_ref().filter(|(old, _)| *old == subject.case.workload)
        {
            case.workload = new.clone();
        }
        let facts = self.facts.get(subject.schedule).and_then(Option::as_ref);
        let priced = facts
            .filter(|facts| share_plan(facts.asked, &subject.case, &case))
            .and_then(|facts| facts.ledger.price(&case.machine, pricing_context(&case)));
        if let Some(cost) = priced {
            return Price::AtOnce(at_once(subject, &case, cost));
        }
        if let Some(answer) = self.answers.get(&case.id()) {
            return Price::FromWorker((**answer).clone());
        }
        // Until it comes, in its place with the time that it had.
        Price::Pending(Box::new((
            Record { time_us: subject.record.time_us, ..labels(subject, &case) },
            case,
        )))
    }
}

/// What the row of a case has in common with that of the schedule's.
fn labels(subject: &Subject, case: &Case) -> Record {
    let old = &*subject.record;
    let mut record = Record {
        status: old.status,
        verified: old.verified,
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
    // A file may say of the plugin what was true when it was written: lines are told apart by it.
    record.plugin.clone_from(&old.plugin);
    record.plugin_version.clone_from(&old.plugin_version);
    record.plugin_digest.clone_from(&old.plugin_digest);
    record.swapmeet_version.clone_from(&old.swapmeet_version);
    record
}

fn at_once(
    subject: &Subject,
    case: &Case,
    cost: Result<swapmeet_core::cost::model::Cost, String>,
) -> Record {
    let mut record = labels(subject, case);
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
