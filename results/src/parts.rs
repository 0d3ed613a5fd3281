//! The parts of a completion time. Their sum is the completion time.

use crate::field::{FINEST, NotFinite, STEPS, rounded};
use crate::record::{Record, columns};
use crate::stats::Summary;
use swapmeet_core::cost::kind::{Kind, Parts};

/// Returns the mean of each part. If no row has a part, its mean is `None`.
pub fn mean<'a>(rows: impl IntoIterator<Item = &'a Record>) -> Parts {
    let rows: Vec<Parts> = rows.into_iter().map(Record::parts).collect();
    Parts::from_fn(|kind| {
        let values: Vec<f64> = rows.iter().filter_map(|parts| parts[kind]).collect();
        Summary::of(&values).map(|summary| summary.mean)
    })
}

/// Returns the sum of the parts, or `None` if there are no parts. The sum is computed in whole
/// millionths, so that the rounded parts in a row add up exactly to the time in the row. If the sum
/// is above about half an hour, it has the precision of a double.
pub fn total(parts: &Parts) -> Option<f64> {
    let parts = || parts.0.into_iter().flatten();
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
    /// Rounds the parts, and sets the time to their sum. Errors if a value is not finite.
    pub fn set_parts(&mut self, parts: &Parts) -> Result<(), NotFinite> {
        let total = total(parts);
        let named = Kind::PARTS.map(|kind| (kind.name(), parts[kind]));
        for (part, value) in named.into_iter().chain([("time", total)]) {
            if let Some(value) = value.filter(|v| !v.is_finite()) {
                let column = columns()
                    .find(|column| column.strip_suffix("_us") == Some(part))
                    .unwrap_or(part);
                return Err(NotFinite { column, value });
            }
        }
        self.time_us = total;
        let columns = [
            &mut self.startup_us,
            &mut self.transmission_us,
            &mut self.propagation_us,
            &mut self.rearrangement_us,
            &mut self.barrier_us,
            &mut self.contention_us,
            &mut self.reduction_us,
        ];
        for (kind, column) in Kind::PARTS.into_iter().zip(columns) {
            *column = parts[kind].map(rounded);
        }
        Ok(())
    }

    pub fn parts(&self) -> Parts {
        Parts::of([
            (Kind::Startup, self.startup_us),
            (Kind::Transmission, self.transmission_us),
            (Kind::Propagation, self.propagation_us),
            (Kind::Rearrangement, self.rearrangement_us),
            (Kind::Barrier, self.barrier_us),
            (Kind::Contention, self.contention_us),
            (Kind::Reduction, self.reduction_us),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parses a value in a row as a number of whole millionths, without converting it to a double.
    fn millionths(text: &str) -> i128 {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        format!("{whole}{fraction:0<6}").parse().unwrap()
    }

    proptest! {
        #[test]
        fn the_printed_parts_add_up_to_the_printed_time(parts in prop::array::uniform7(prop::option::of(0.0..3e8_f64))) {
            let parts = Parts::of(std::array::from_fn::<_, 7, _>(|i| (Kind::PARTS[i], parts[i])));
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
        assert_eq!(total(&Parts::of([(Kind::Barrier, Some(0.0))])), Some(0.0));
    }

    #[test]
    fn values_that_are_not_finite_are_refused() {
        let mut record = Record::default();
        let parts = Parts::of([Kind::Startup, Kind::Contention].map(|kind| (kind, Some(f64::MAX))));
        let error = record.set_parts(&parts).unwrap_err().to_string();
        assert_eq!(error, "column `time_us` is inf, expected a finite number");
        assert_eq!(record, Record::default());
    }
}
