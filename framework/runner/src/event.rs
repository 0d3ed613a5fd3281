use serde::{Deserialize, Serialize};
use std::ops::Range;
use swapmeet_results::Record;

/// An event of one or more cases. In events of a worker, the number of a case is its number in the
/// job. In all other events, it is the number in the batch. `R` is the row of a case. A worker
/// sends only `OutcomeColumns`, because the program itself adds the identity of the case.
#[derive(Debug, Serialize, Deserialize)]
pub enum CaseEvent<R = Box<Record>> {
    #[serde(skip)]
    Started {
        cases: Range<usize>,
    },
    Progress {
        case: usize,
        /// The number of steps so far in which messages were sent. It is 0 when planning or pricing
        /// begins.
        steps: u64,
        messages: u64,
    },
    Finished {
        case: usize,
        record: R,
    },
    Observed {
        value: serde_json::Value,
    },
    /// A line that a plugin printed, a remark about a plugin, or the progress of a search for an
    /// optimum.
    Log {
        line: String,
    },
    /// No worker process can be started. The batch ends, and the remaining cases do not get rows.
    #[serde(skip)]
    NoWorker {
        reason: String,
    },
}

/// The outcome columns of a row, or the reason why the case or its plugin cannot be used.
pub(crate) type OutcomeColumns = Result<Vec<String>, String>;
