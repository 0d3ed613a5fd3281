//! Three measures of the quality of predictions. The error factor is the geometric mean of the
//! factors by which predictions are wrong; it is 1 if all predictions are exact. An ordered pair is
//! a pair of algorithms whose order is predicted correctly. The regret is the measured time of the
//! algorithm that is predicted to be fastest, divided by the measured time of the algorithm that is
//! fastest.

use super::Median;
use std::collections::BTreeMap;
use swapmeet_bridges::fit::linear::error_factor;

/// A measured median, and the predictions of all models.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Comparison {
    pub median: Median,
    /// The time that each model predicts, in microseconds; `None` if the model is not run for this
    /// median.
    pub predicted_us: Vec<Option<f64>>,
}

/// Returns the predicted and the measured time of each comparison for which the model with the
/// index `model` is run.
fn pairs(cells: &[Comparison], model: usize) -> impl Iterator<Item = (f64, f64)> {
    cells.iter().filter_map(move |cell| Some((cell.predicted_us[model]?, cell.median.time_us)))
}

/// Returns the error factor of the model with the index `model`; `None` if the model is run for
/// none of these medians.
pub(super) fn error_factors(cells: &[Comparison], model: usize) -> Option<f64> {
    Some(error_factor(pairs(cells, model))).filter(|factor| factor.is_finite())
}

/// Pairs of a predicted and a measured time of the same case.
type Times = Vec<(f64, f64)>;

/// Groups the comparisons by workload and shape. Returns, for each group with at least two
/// algorithms, the predicted and the measured time of each algorithm.
fn choices(cells: &[Comparison], model: usize) -> Vec<Times> {
    let mut groups: BTreeMap<[&str; 2], BTreeMap<&str, Times>> = BTreeMap::new();
    for cell in cells {
        let Some(predicted) = cell.predicted_us[model] else { continue };
        let Median { shape, workload, algorithm, time_us, .. } = &cell.median;
        let algorithms = groups.entry([shape, workload]).or_default();
        algorithms.entry(algorithm).or_default().push((predicted, *time_us));
    }
    // If an algorithm has several implementations, all of them have the same prediction. Use the
    // geometric mean of their measured times.
    let mean = |times: Times| {
        let sum: f64 = times.iter().map(|(_, measured)| measured.ln()).sum();
        (times[0].0, (sum / times.len() as f64).exp())
    };
    let groups = groups.into_values().map(|group| group.into_values().map(mean).collect());
    groups.filter(|group: &Vec<_>| group.len() > 1).collect()
}

/// Returns the number of pairs of algorithms whose order is predicted correctly, and the number of
/// all pairs; `None` if there are no pairs.
pub(super) fn ordered_pairs(cells: &[Comparison], model: usize) -> Option<(usize, usize)> {
    let (mut right, mut all) = (0, 0);
    for group in choices(cells, model) {
        for (i, (predicted, measured)) in group.iter().enumerate() {
            for (other_predicted, other_measured) in &group[..i] {
                all += 1;
                right += usize::from(
                    (predicted < other_predicted) == (measured < other_measured)
                        && predicted.total_cmp(other_predicted).is_ne(),
                );
            }
        }
    }
    (all > 0).then_some((right, all))
}

/// Returns the mean and the largest regret; `None` if no workload was measured with at least two
/// algorithms.
pub(super) fn regret(cells: &[Comparison], model: usize) -> Option<(f64, f64)> {
    let regrets: Vec<f64> = choices(cells, model)
        .into_iter()
        .filter_map(|group| {
            let chosen = group.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
            let best = group.iter().map(|(_, measured)| *measured).fold(f64::INFINITY, f64::min);
            Some(chosen.1 / best)
        })
        .collect();
    let most = regrets.iter().copied().reduce(f64::max)?;
    Some((regrets.iter().sum::<f64>() / regrets.len() as f64, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(algorithm: &str, workload: &str, time_us: f64, predicted: f64) -> Comparison {
        let [shape, collective] = ["4x4x4", "alltoall"].map(str::to_owned);
        let (algorithm, workload) = (algorithm.to_owned(), workload.to_owned());
        let median = Median { shape, collective, algorithm, workload, buffer_bytes: 4, time_us };
        Comparison { median, predicted_us: vec![Some(predicted), None] }
    }

    /// All expected values are computed by hand. For 64 bytes, the prediction selects b, which
    /// takes 3 us, while the fastest algorithm takes 2 us. For 128 bytes, the two measured times of
    /// b (2 and 8 us) have the geometric mean 4.
    #[test]
    fn orders_and_regrets_are_those_computed_by_hand() {
        let cells = [
            cell("a", "uniform:64", 2.0, 4.0),
            cell("b", "uniform:64", 3.0, 3.0),
            cell("c", "uniform:64", 9.0, 9.0),
            cell("a", "uniform:128", 3.0, 3.0),
            cell("b", "uniform:128", 2.0, 4.0),
            cell("b", "uniform:128", 8.0, 4.0),
            cell("a", "uniform:256", 1.0, 1.0),
        ];
        assert_eq!(ordered_pairs(&cells, 0), Some((3, 4)));
        let (mean, most) = regret(&cells, 0).unwrap();
        assert!((mean - 1.25).abs() < 1e-12 && (most - 1.5).abs() < 1e-12, "{mean} {most}");
        // The seven ratios between predicted and measured times are 2, 1, 1, 1, 2, 2 and 1.
        let factor = error_factors(&cells, 0).unwrap();
        assert!((factor - 2.0_f64.powf(3.0 / 7.0)).abs() < 1e-12, "{factor}");
        assert_eq!(
            (error_factors(&cells, 1), ordered_pairs(&cells, 1), regret(&cells, 1)),
            (None, None, None)
        );
    }
}
