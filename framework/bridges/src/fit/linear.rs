//! Fits costs to measured times that are linear in these costs. No cost is negative. The fit
//! minimises the sum of the squares of ln(predicted / measured), so that a prediction of half the
//! measured time counts as much as one of twice the time. The *error factor* is the geometric mean
//! of the factors by which predictions are wrong.

/// A measured time, and for each cost its coefficient: how often the cost occurs in the time.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSample {
    pub coefficients: Vec<f64>,
    /// The measured time in microseconds; above 0.
    pub time_us: f64,
}

impl LinearSample {
    pub fn predicted(&self, costs: &[f64]) -> f64 {
        self.coefficients.iter().zip(costs).map(|(count, cost)| count * cost).sum()
    }
}

/// Returns the error factor of pairs of a predicted and a measured time. Without pairs, it is NaN.
pub fn error_factor(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count), (predicted, measured)| {
        (sum + (predicted / measured).ln().abs(), count + 1.0)
    });
    (sum / count).exp()
}

/// Returns one cost for each coefficient. All samples must have the same number of coefficients.
pub fn fit_linear(samples: &[LinearSample]) -> Vec<f64> {
    const ROUNDS: usize = 40;
    /// Below this relative residual, the weight is 1: its limit, where the formula divides by 0.
    const LEAST: f64 = 1e-6;
    let mut weights = vec![1.0; samples.len()];
    let mut costs = Vec::new();
    for _ in 0..ROUNDS {
        costs = least_squares(samples, &weights);
        // With these weights, the sum of the squares of relative residuals has the same minimum as
        // the sum of the squares of logarithms.
        for (weight, sample) in weights.iter_mut().zip(samples) {
            let ratio = (sample.predicted(&costs) / sample.time_us).max(1e-9);
            let is_exact = (ratio - 1.0).abs() < LEAST;
            *weight = if is_exact { 1.0 } else { ratio.ln() / (ratio * (ratio - 1.0)) };
        }
    }
    costs
}

/// Minimises weighted squares of relative residuals by coordinate descent, without negative costs.
fn least_squares(samples: &[LinearSample], weights: &[f64]) -> Vec<f64> {
    const PASSES: usize = 10_000;
    /// The descent ends if no cost changes the residuals by more than this (root mean square).
    const TOLERANCE: f64 = 1e-12;
    let costs = samples.first().map_or(0, |sample| sample.coefficients.len());
    let mut matrix = vec![vec![0.0; costs]; costs];
    let mut right = vec![0.0; costs];
    for (LinearSample { coefficients, time_us }, weight) in samples.iter().zip(weights) {
        for (i, a) in coefficients.iter().enumerate() {
            right[i] += weight * a / time_us;
            for (j, b) in coefficients.iter().enumerate() {
                matrix[i][j] += weight * (a / time_us) * (b / time_us);
            }
        }
    }
    let mut values = vec![0.0_f64; costs];
    for _ in 0..PASSES {
        let mut change = 0.0_f64;
        for i in (0..costs).filter(|i| matrix[*i][*i] > 0.0) {
            let others: f64 =
                (0..costs).filter(|j| *j != i).map(|j| matrix[i][j] * values[j]).sum();
            let next = ((right[i] - others) / matrix[i][i]).max(0.0);
            change = change.max((next - values[i]).abs() * matrix[i][i].sqrt());
            values[i] = next;
        }
        if change < TOLERANCE * (samples.len() as f64).sqrt() {
            break;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_costs_are_found_again() {
        let known = [2.0, 0.0, 0.5];
        let mut samples = Vec::new();
        for i in 1..20_u32 {
            let x = f64::from(i);
            let coefficients = vec![x, 1.0 / x, x * x];
            let time_us = coefficients.iter().zip(known).map(|(a, b)| a * b).sum();
            samples.push(LinearSample { coefficients, time_us });
        }
        let found = fit_linear(&samples);
        for (found, known) in found.iter().zip(known) {
            assert!((found - known).abs() < 1e-6, "{found} {known}");
        }
    }

    /// If two times consist of one cost, its best value is the geometric mean of the times.
    #[test]
    fn residuals_are_logarithms() {
        let sample = |time_us| LinearSample { coefficients: vec![1.0], time_us };
        let found = fit_linear(&[sample(1.0), sample(4.0)]);
        assert!((found[0] - 2.0).abs() < 1e-6, "{found:?}");
    }

    /// A cost is set to 0 if its best value would be negative, or if no time depends on it.
    #[test]
    fn no_cost_is_negative() {
        let sample =
            |count: f64, time_us| LinearSample { coefficients: vec![1.0, count, 0.0], time_us };
        let found = fit_linear(&[sample(1.0, 9.0), sample(2.0, 8.0), sample(3.0, 7.0)]);
        assert!((found[0] - 8.0).abs() < 0.1 && found[1..] == [0.0, 0.0], "{found:?}");
    }

    #[test]
    fn the_error_factor_is_a_geometric_mean() {
        let factor = error_factor([(2.0, 1.0), (1.0, 8.0)].into_iter());
        assert!((factor - 4.0).abs() < 1e-12);
        assert!((error_factor([(3.0, 3.0)].into_iter()) - 1.0).abs() < 1e-12);
    }
}
