use super::ComparedRows;
use crate::case_id::{CaseId, Setting};
use crate::record::{Record, Status};
use crate::specs::short_machine;
use crate::stats::Summary;
use serde::Serialize;
use std::collections::BTreeMap;
use swapmeet_workloads::CurveAxis;

pub const MEASURED: &str = "measured";

/// A case that was measured on one machine, and one prediction for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Residual {
    pub topology: String,
    pub collective: String,
    pub workload: String,
    pub algorithm: String,
    pub measured_on: String,
    pub n: usize,
    /// The median of the measured times, which is robust against outliers.
    pub measured_us: f64,
    pub predicted_for: String,
    pub model: String,
    pub predicted_us: f64,
    /// The percentage by which the measured time exceeds the predicted time.
    pub residual_percent: f64,
}

pub fn is_measured(row: &Record) -> bool {
    row.model == MEASURED
}

/// Returns a residual for each pair of a measured case and a prediction for it.
pub(crate) fn residuals(rows: &ComparedRows) -> Vec<Residual> {
    if rows.settings().all(|setting| setting.model != MEASURED) {
        return Vec::new();
    }
    type Case<'a> = [&'a str; 4];
    type Times<'a> = BTreeMap<(&'a str, &'a str), Vec<f64>>;
    let mut cases: BTreeMap<Case<'_>, [Times<'_>; 2]> = BTreeMap::new();
    for row in rows.rows.iter().filter(|row| row.status == Status::Ok) {
        let Some(time) = row.time_us.filter(|time| *time > 0.0) else { continue };
        let CaseId { setting, implementation, .. } = rows.case(row);
        let Setting { topology, collective, workload, model, together, .. } = setting;
        // Jobs that ran at the same time are skipped, because measurements are of a single job.
        if !together.is_empty() {
            continue;
        }
        let case = [topology, collective, workload, implementation.algorithm];
        let of = &mut cases.entry(case).or_default()[usize::from(model == MEASURED)];
        of.entry((setting.machine_spec(), model)).or_default().push(time);
    }
    // Measured times have outliers, so their median is used. For predictions, it is the mean.
    let mut all = Vec::new();
    for (case, [predicted, measured]) in cases {
        for ((measured_on, _), times) in measured {
            let Some(Summary { n, median: measured_us, .. }) = Summary::of(&times) else {
                continue;
            };
            for ((predicted_for, model), guesses) in &predicted {
                let Some(Summary { mean: predicted_us, .. }) = Summary::of(guesses) else {
                    continue;
                };
                let [topology, collective, workload, algorithm] = case.map(str::to_owned);
                all.push(Residual {
                    topology,
                    collective,
                    workload,
                    algorithm,
                    measured_on: measured_on.to_owned(),
                    n,
                    measured_us,
                    predicted_for: short_machine(predicted_for).into_owned(),
                    model: (*model).to_owned(),
                    predicted_us,
                    residual_percent: 100.0 * (measured_us / predicted_us - 1.0),
                });
            }
        }
    }
    // Residuals are sorted by the texts of their cases. But workloads that differ only in the size
    // are sorted by the size as a number.
    all.sort_by_cached_key(|residual| {
        let (size, kind) = CurveAxis::BlockSize
            .split(&residual.workload)
            .unwrap_or((0.0, residual.workload.clone()));
        // Sizes are not negative, so they can be compared by their bits.
        (residual.topology.clone(), residual.collective.clone(), kind, size.to_bits())
    });
    all
}

#[cfg(test)]
mod tests {
    use super::ComparedRows;
    use super::*;
    use crate::compare::tests::{files, row};

    #[test]
    fn sizes_are_ordered_as_numbers() {
        let sizes = ["1KiB", "8", "64", "1MiB", "16KiB"];
        let rows = sizes.iter().flat_map(|size| {
            let predicted = Record { workload: format!("uniform:{size}"), ..row("ring", 0, 10.0) };
            let machine = "measured:here".to_owned();
            let model = MEASURED.to_owned();
            [Record { machine, model, ..predicted.clone() }, predicted]
        });
        let found = residuals(&ComparedRows::of(&files(rows.collect())));
        let order: Vec<&str> = found.iter().map(|residual| &*residual.workload).collect();
        assert_eq!(order, ["8", "64", "1KiB", "16KiB", "1MiB"].map(|s| format!("uniform:{s}")));
    }

    /// The median of 12, 12.5 and 100 µs is 12.5 µs: 25 % above 10 µs, and half of 25 µs.
    #[test]
    fn the_median_measurement_is_compared_with_each_prediction() {
        let measured = |repetition, time| Record {
            machine: "measured:here".to_owned(),
            model: MEASURED.to_owned(),
            plugin: String::new(),
            ..row("ring", repetition, time)
        };
        let delta = Record { machine: "delta".to_owned(), ..row("ring", 0, 25.0) };
        let other = row("gen", 0, 7.0);
        let rows = files(vec![
            row("ring", 0, 10.0),
            delta,
            other,
            measured(0, 100.0),
            measured(1, 12.0),
            measured(2, 12.5),
        ]);
        let found: Vec<_> = residuals(&ComparedRows::of(&rows))
            .into_iter()
            .map(|b| {
                (
                    b.measured_on,
                    b.n,
                    b.measured_us,
                    b.predicted_for,
                    b.predicted_us,
                    b.residual_percent,
                )
            })
            .collect();
        let expected = [("delta", 25.0, -50.0), ("paragon", 10.0, 25.0)].map(
            |(machine, predicted, residual)| {
                ("measured:here".to_owned(), 3, 12.5, machine.to_owned(), predicted, residual)
            },
        );
        assert_eq!(found, expected);
        assert_eq!(residuals(&ComparedRows::of(&files(vec![row("ring", 0, 10.0)]))), []);
    }
}
