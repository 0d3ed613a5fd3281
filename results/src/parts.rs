//! The parts of a completion time, whose sum is the completion time.

use crate::field::{FINEST, NotFinite, STEPS, rounded};
use crate::record::{Record, columns};
use crate::stats::Summary;
use swapmeet_core::cost::model::Parts;

/// Returns the mean of each part over `rows`. A part that no row has is `None`.
pub fn mean<'a>(rows: impl IntoIterator<Item = &'a Record>) -> Parts {
    let rows: Vec<Parts> = rows.into_iter().map(Record::parts).collect();
    let of = |part: fn(&Parts) -> Option<f64>| {
        let values: Vec<f64> = rows.iter().filter_map(part).collect();
        Summary::of(&values).map(|summary| summary.mean)
    };
    Parts {
        startup: of(|p| p.startup),
        transmission: of(|p| p.transmission),
        propagation: of(|p| p.propagation),
        rearrangement: of(|p| p.rearrangement),
        barrier: of(|p| p.barrier),
        contention: of(|p| p.contention),
        reduction: of(|p| p.reduction),
    }
}

/// Returns the completion time, which is the sum of the parts. Returns `None` if there are no
/// parts.
///
/// Written parts are rounded to millionths. The sum is computed in whole millionths, so that the
/// written parts add up exactly to the written time. This is the case for times up to about half an
/// hour. The sum of a longer time has the precision of a double.
pub fn total(parts: &Parts) -> Option<f64> {
    let parts = || parts.each().into_iter().filter_map(|(_, part)| part);
    parts().next()?;
    let plain: f64 = parts().map(rounded).sum();
    let is_fine = parts().all(|part| part.abs() < FINEST) && plain.abs() < FINEST;
    Some(if is_fine {
        rounded(parts().map(|part| (part * STEPS).round()).sum::<f64>() / STEPS)
    } else {
        plain
    })
}

impl Record {
    /// Sets the parts, rounded to the precision of a written row, and the time, which is the sum of
    /// the rounded parts. Leaves the row unchanged if a value is not finite.
    pub fn set_parts(&mut self, parts: &Parts) -> Result<(), NotFinite> {
        let total = total(parts);
        for (part, value) in parts.each().into_iter().chain([("time", total)]) {
            if let Some(value) = value.filter(|v| !v.is_finite()) {
                let column = columns()
                    .find(|column| column.strip_suffix("_us") == Some(part))
                    .unwrap_or(part);
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

    /// Returns the parts of the completion time.
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
    use proptest::prelude::*;

    /// Parses a written value as whole millionths, without converting it to a double.
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
            prop_assert_eq!(total(&record.parts()), record.time_us);
        }
    }

    #[test]
    fn there_is_no_time_without_parts() {
        assert_eq!(total(&Parts::default()), None);
        assert_eq!(total(&Parts { barrier: Some(0.0), ..Parts::default() }), Some(0.0));
    }

    #[test]
    fn values_that_are_not_finite_are_refused() {
        let mut record = Record::default();
        let parts =
            Parts { startup: Some(f64::MAX), contention: Some(f64::MAX), ..Parts::default() };
        let error = record.set_parts(&parts).unwrap_err().to_string();
        assert_eq!(error, "column `time_us` is inf, expected a finite number");
        assert_eq!(record, Record::default());
    }
}
