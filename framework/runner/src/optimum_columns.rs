//! The columns `optimum_us` and `optimum_gap`. They do not depend on a plugin, so the process that
//! writes rows fills them in. The time limit of a case does not apply to the search for the
//! optimum.

use crate::case::Case;
use crate::defect;
use crate::optimum::{CaseOptimum, Optimum, Search};
use swapmeet_core::cost::machine::Machine;
use swapmeet_results::{Record, Status};

const UNKNOWN: &str = "no optimum: ";

/// Returns the optimum of each case. All cases must have the same network and the same workload.
/// The error is a failed assertion.
pub fn of_group(cases: &[&Case], search: &mut Search<'_>) -> Result<Vec<CaseOptimum>, String> {
    let Some((first, optima)) = cases.first().and_then(|case| Some((case, case.optima.as_ref()?)))
    else {
        return Ok(vec![None; cases.len()]);
    };
    if !first.companions.is_empty() && cases.len() > 1 {
        let each = cases.iter().map(|case| of_group(&[*case], search));
        return Ok(each.collect::<Result<Vec<_>, _>>()?.concat());
    }
    let machines: Vec<(&Machine, f64)> =
        cases.iter().map(|case| (&*case.machine, case.unit_bytes() as f64)).collect();
    defect::catch(|| {
        let question = (&first.topology, &*first.workload, first.seed);
        optima.of(question, &machines, search)
    })
}

/// Sets both columns. If the status of the row is not `ok`, both are empty.
pub fn fill(row: &mut Record, optimum: &CaseOptimum) {
    let optimum = optimum.as_ref().filter(|_| row.status == Status::Ok);
    (row.optimum_us, row.optimum_gap) = (None, None);
    match optimum {
        None => {}
        Some(Ok(Optimum { optimum_us, gap })) => {
            (row.optimum_us, row.optimum_gap) = (Some(*optimum_us), Some(*gap));
        }
        Some(Err(why)) => {
            let separator = if row.note.is_empty() { "" } else { "; " };
            row.note += &format!("{separator}{UNKNOWN}{why}");
        }
    }
}

pub(crate) fn has_optimum(row: &Record) -> bool {
    row.optimum_us.is_some() || row.note.contains(UNKNOWN)
}

pub fn lacks(case: &Case, row: &Record) -> bool {
    let has_links = || case.machine.network_rates().is_some();
    case.optima.is_some() && row.status == Status::Ok && !has_optimum(row) && has_links()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_the_optimum_come_only_from_the_search() {
        // A plugin has forged these values, and they must be replaced.
        let forged = |status| Record {
            status,
            optimum_us: Some(1.0),
            optimum_gap: Some(0.0),
            note: "as told".to_owned(),
            ..Record::default()
        };
        let filled = |status, optimum: CaseOptimum| {
            let mut row = forged(status);
            fill(&mut row, &optimum);
            (row.optimum_us, row.optimum_gap, row.note)
        };
        let optimum = Some(Ok(Optimum { optimum_us: 5.0, gap: 0.5 }));
        let note = "as told".to_owned();
        assert_eq!(filled(Status::Ok, optimum.clone()), (Some(5.0), Some(0.5), note.clone()));
        assert_eq!(filled(Status::Ok, None), (None, None, note.clone()));
        assert_eq!(filled(Status::Error, optimum), (None, None, note));
        let unknown = "as told; no optimum: too large".to_owned();
        assert_eq!(filled(Status::Ok, Some(Err("too large".to_owned()))), (None, None, unknown));
    }
}
