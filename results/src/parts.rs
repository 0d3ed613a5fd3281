//! The parts of a completion time, and their sum.

use crate::field::{FINEST, STEPS, rounded};
use crate::finite::NotFinite;
use crate::record::Record;
use crate::stats::Summary;

/// The parts of a completion time, in microseconds. A part that a model has no meaning for is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    pub startup: Option<f64>,
    pub transmission: Option<f64>,
    pub propagation: Option<f64>,
    /// Rearrangement of data within nodes.
    pub rearrangement: Option<f64>,
    pub barrier: Option<f64>,
    /// What sharing of links, or waiting for ports, adds.
    pub contention: Option<f64>,
    /// Adding up what comes from different nodes, where anything is reduced.
    pub reduction: Option<f64>,
}

impl Parts {
    fn named(&self) -> [(&'static str, Option<f64>); 7] {
        [
            ("startup_us", self.startup),
            ("transmission_us", self.transmission),
            ("propagation_us", self.propagation),
            ("rearrangement_us", self.rearrangement),
            ("barrier_us", self.barrier),
            ("contention_us", self.contention),
            ("reduction_us", self.reduction),
        ]
    }

    /// Each part by its name, in the order of the columns.
    pub fn each(&self) -> [(&'static str, Option<f64>); 7] {
        self.named().map(|(column, part)| (column.trim_end_matches("_us"), part))
    }

    /// The mean of each part over rows; a part that no row has is `None`.
    pub fn mean<'a>(rows: impl IntoIterator<Item = &'a Record>) -> Self {
        let rows: Vec<Self> = rows.into_iter().map(Record::parts).collect();
        let mean = |part: fn(&Self) -> Option<f64>| {
            let values: Vec<f64> = rows.iter().filter_map(part).collect();
            Summary::of(&values).map(|summary| summary.mean)
        };
        Self {
            startup: mean(|p| p.startup),
            transmission: mean(|p| p.transmission),
            propagation: mean(|p| p.propagation),
            rearrangement: mean(|p| p.rearrangement),
            barrier: mean(|p| p.barrier),
            contention: mean(|p| p.contention),
            reduction: mean(|p| p.reduction),
        }
    }

    /// The completion time: the sum of the parts; `None` if there are none.
    ///
    /// Summed in whole millionths, as the parts are written, so that the printed parts add up to the printed time to the last digit (up to
    /// half an hour; beyond, as far as a double can tell).
    pub fn total(&self) -> Option<f64> {
        let parts = || self.named().into_iter().filter_map(|(_, part)| part);
        parts().next()?;
        let plain: f64 = parts().map(rounded).sum();
        let is_fine = parts().all(|part| part.abs() < FINEST) && plain.abs() < FINEST;
        Some(if is_fine { rounded(parts().map(|part| (part * STEPS).round()).sum::<f64>() / STEPS) } else { plain })
    }
}

impl Record {
    /// Sets the parts, rounded as they are written, and the time that is their sum. Changes nothing where one of them is not finite.
    pub fn set_parts(&mut self, parts: &Parts) -> Result<(), NotFinite> {
        let total = parts.total();
        for (column, value) in parts.named().into_iter().chain([("time_us", total)]) {
            if let Some(value) = value.filter(|v| !v.is_finite()) {
                return Err(NotFinite { column, value });
            }
        }
        self.time_us = total;
        self.startup_us = parts.startup.map(rounded);
        self.transmission_us = parts.transmission.map(rounded);
        self.propagation_us = parts.propagation.map(rounded);
        self.rearrangement_us = parts.rearrangement.map(rounded);
        self.barrier_us = parts.barrier.map(rounded);
        self.contention_us = parts.contention.map(rounded);
        self.reduction_us = parts.reduction.map(rounded);
        Ok(())
    }

    /// The parts of its time.
    pub fn parts(&self) -> Parts {
        Parts {
            startup: self.startup_us,
            transmission: self.transmission_us,
            propagation: self.propagation_us,
            rearrangement: self.rearrangement_us,
            barrier: self.barrier_us,
            contention: self.contention_us,
            reduction: self.reduction_us,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::columns;
    use proptest::prelude::*;

    /// A written figure in whole millionths, without a detour through a double.
    fn millionths(text: &str) -> i128 {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        format!("{whole}{fraction:0<6}").parse().unwrap()
    }

    proptest! {
        #[test]
        fn the_printed_parts_add_up_to_the_printed_time(parts in prop::array::uniform7(prop::option::of(0.0..3e8_f64))) {
            let [startup, transmission, propagation, rearrangement, barrier, contention, reduction] = parts;
            let parts = Parts { startup, transmission, propagation, rearrangement, barrier, contention, reduction };
            let mut record = Record::default();
            record.set_parts(&parts).unwrap();
            let at = |name| columns().position(|c| c == name).unwrap();
            let (from, last) = (at("time_us"), at("reduction_us"));
            let printed: Vec<i128> = record.fields().skip(from).take(7).chain(record.fields().nth(last)).filter(|t| !t.is_empty()).map(|t| millionths(&t)).collect();
            prop_assert_eq!(printed.first().copied().unwrap_or(0), printed.iter().skip(1).sum::<i128>());
            prop_assert_eq!(record.parts().total(), record.time_us);
        }
    }

    #[test]
    fn no_parts_are_no_time_and_parts_of_nothing_are_none() {
        assert_eq!(Parts::default().total(), None);
        assert_eq!(Parts { barrier: Some(0.0), ..Parts::default() }.total(), Some(0.0));
    }

    #[test]
    fn what_is_not_finite_is_refused_and_leaves_the_record_alone() {
        let mut record = Record::default();
        let parts = Parts { startup: Some(f64::MAX), contention: Some(f64::MAX), ..Parts::default() };
        let said = record.set_parts(&parts).unwrap_err().to_string();
        assert_eq!(said, "column `time_us` is inf, expected a finite number");
        assert_eq!(record, Record::default());
    }
}
