//! Fits the start-up time of a message and the time per byte to measurements.
//! The time of a sample is the number of consecutive messages times the start-up time, plus the
//! bytes times the time per byte. Measured times span orders of magnitude, so *relative* residuals
//! are minimised. The fit first minimises the sum of the absolute values of the residuals, which is
//! robust against outliers from a busy machine. Then it refines the result with Tukey's weights,
//! which leave out samples with large residuals (weight 0).
//! Libraries use one protocol for short messages (eager) and another one for long messages
//! (rendezvous). So the fit also tries two pairs of costs, of which the second applies from some
//! message size on. The result has two pairs if they explain the times better by Schwarz's
//! criterion.

use statrs::distribution::{ContinuousCDF, StudentsT};

pub mod linear;
pub mod ping_pong;

#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub source: String,
    /// The number of messages of the sample that follow one after another.
    pub messages: f64,
    pub bytes: f64,
    pub time_us: f64,
}

impl Sample {
    fn length(&self) -> f64 {
        self.bytes / self.messages
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// The ends of the confidence interval; `None` if there are too few samples.
    pub interval: Option<(f64, f64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    pub startup_us: Estimate,
    pub byte_us: Estimate,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The costs of all messages, or only of those below the size in [`Fit::rendezvous`].
    pub costs: Costs,
    /// The size from which the rendezvous protocol is used, and its costs, if there are two pairs.
    pub rendezvous: Option<(f64, Costs)>,
    /// The predicted time of each sample, and its weight: at most 1, and 0 if it was left out.
    pub fitted: Vec<(f64, f64)>,
}

/// A pair of costs is fitted to at least this number of different message sizes.
const MIN_SIZES: usize = 3;

pub fn fit(samples: &[Sample]) -> Result<Fit, String> {
    for sample in samples {
        let is_valid = |figure: f64| figure.is_finite() && figure >= 0.0;
        if !(is_valid(sample.bytes)
            && is_valid(sample.messages - 1.0)
            && is_valid(sample.time_us)
            && sample.time_us > 0.0)
        {
            return Err(format!(
                "{}: {} us for {} messages of {} bytes together, expected a time above 0, messages and bytes",
                sample.source, sample.time_us, sample.messages, sample.bytes
            ));
        }
    }
    let mut sizes: Vec<f64> = samples.iter().map(Sample::length).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < MIN_SIZES {
        return Err(format!(
            "times of {} sizes of messages, expected at least {MIN_SIZES}",
            sizes.len()
        ));
    }
    // Model 1: one pair of costs. Absolute residuals are robust against outliers.
    let all: Vec<&Sample> = samples.iter().collect();
    let one = least_absolute_residuals(&all)?;
    // Model 2: two pairs of costs. Each message size is tried as the first rendezvous size.
    let mut best: Option<(f64, f64, CostPair, CostPair)> = None;
    for from in sizes.iter().skip(MIN_SIZES).take(sizes.len().saturating_sub(2 * MIN_SIZES - 1)) {
        let (short, long): (Vec<&Sample>, Vec<&Sample>) =
            samples.iter().partition(|sample| sample.length() < *from);
        let (a, b) = (least_absolute_residuals(&short)?, least_absolute_residuals(&long)?);
        let loss = a.loss(&short) + b.loss(&long);
        if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
            best = Some((loss, *from, a, b));
        }
    }
    // Schwarz's criterion for residuals with a Laplace distribution and `figures` parameters.
    let n = samples.len() as f64;
    let criterion =
        |loss: f64, figures: f64| 2.0 * n * (loss / n).max(MIN_RESIDUAL).ln() + figures * n.ln();
    // The better model is estimated again, with Tukey's weights.
    let two = best.filter(|(loss, ..)| criterion(*loss, 5.0) < criterion(one.loss(&all), 2.0));
    let Some((_, from, a, b)) = two else {
        let (costs, weights) = one.tukey_estimate(&all)?;
        let fitted = samples
            .iter()
            .zip(weights)
            .map(|(sample, weight)| (costs.time(sample), weight))
            .collect();
        return Ok(Fit { costs, rendezvous: None, fitted });
    };
    let (short, long): (Vec<&Sample>, Vec<&Sample>) =
        samples.iter().partition(|sample| sample.length() < from);
    let ((costs, short), (others, long)) = (a.tukey_estimate(&short)?, b.tukey_estimate(&long)?);
    let (mut short, mut long) = (short.into_iter(), long.into_iter());
    let fitted = samples.iter().map(|sample| {
        let (costs, weights) =
            if sample.length() < from { (&costs, &mut short) } else { (&others, &mut long) };
        (costs.time(sample), weights.next().unwrap_or(0.0))
    });
    let fitted = fitted.collect();
    Ok(Fit { costs, rendezvous: Some((from, others)), fitted })
}

/// For `ln`, a mean residual below this value (one millionth of the time) counts as this value.
const MIN_RESIDUAL: f64 = 1e-6;

#[derive(Debug, Clone, Copy)]
struct CostPair([f64; 2]);

impl Costs {
    fn time(&self, sample: &Sample) -> f64 {
        CostPair([self.startup_us.value, self.byte_us.value]).time(sample)
    }
}

impl CostPair {
    fn time(self, sample: &Sample) -> f64 {
        self.0[0] * sample.messages + self.0[1] * sample.bytes
    }

    fn residual(self, sample: &Sample) -> f64 {
        (sample.time_us - self.time(sample)) / sample.time_us
    }

    fn loss(self, samples: &[&Sample]) -> f64 {
        samples.iter().map(|sample| self.residual(sample).abs()).sum()
    }

    /// Refines the costs with Tukey's weights. Also returns confidence intervals and the weights.
    fn tukey_estimate(self, samples: &[&Sample]) -> Result<(Costs, Vec<f64>), String> {
        /// From this residual on, in standard deviations of the residuals, Tukey's weight is 0.
        const CUTOFF: f64 = 4.685;
        let (mut pair, mut weights) = (self, vec![1.0; samples.len()]);
        // In a normal distribution, the standard deviation is 1.4826 times the median absolute
        // residual. The median is robust against outliers.
        let mut left: Vec<f64> = samples.iter().map(|sample| self.residual(sample).abs()).collect();
        left.sort_by(f64::total_cmp);
        let scale = (1.4826 * left[left.len() / 2]).max(MIN_RESIDUAL);
        for _ in 0..ROUNDS {
            weights = samples
                .iter()
                .map(|sample| {
                    let distance = pair.residual(sample) / (CUTOFF * scale);
                    if distance.abs() < 1.0 { (1.0 - distance * distance).powi(2) } else { 0.0 }
                })
                .collect();
            let Ok((next, ..)) = least_squares(samples, &weights) else {
                // If too few samples have a weight above 0, all samples are used.
                weights = vec![1.0; samples.len()];
                break;
            };
            pair = next;
        }
        let (CostPair(values), errors, freedom) = least_squares(samples, &weights)?;
        let distance = StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.inverse_cdf(0.975));
        let estimate = |value: f64, error: Option<f64>| {
            let interval = error.map(|error| (value - distance * error, value + distance * error));
            Estimate { value, interval: interval.filter(|(a, b)| a.is_finite() && b.is_finite()) }
        };
        let costs = Costs {
            startup_us: estimate(values[0], errors[0]),
            byte_us: estimate(values[1], errors[1]),
        };
        Ok((costs, weights))
    }
}

const ROUNDS: usize = 40;

/// Minimises the sum of absolute relative residuals by iteratively reweighted least squares.
fn least_absolute_residuals(samples: &[&Sample]) -> Result<CostPair, String> {
    let mut pair = least_squares(samples, &vec![1.0; samples.len()])?.0;
    for _ in 0..ROUNDS {
        let weights: Vec<f64> = samples
            .iter()
            .map(|sample| 1.0 / pair.residual(sample).abs().max(MIN_RESIDUAL))
            .collect();
        pair = least_squares(samples, &weights)?.0;
    }
    Ok(pair)
}

/// The costs, their standard errors if known, and the degrees of freedom.
type LeastSquares = (CostPair, [Option<f64>; 2], f64);

fn least_squares(samples: &[&Sample], weights: &[f64]) -> Result<LeastSquares, String> {
    // Rows are divided by the time, so residuals are relative, and multiplied by the weight's root.
    let rows: Vec<[f64; 3]> = samples
        .iter()
        .zip(weights)
        .filter(|(_, weight)| **weight > 0.0)
        .map(|(sample, weight)| {
            let factor = weight.sqrt() / sample.time_us;
            [weight.sqrt(), sample.messages * factor, sample.bytes * factor]
        })
        .collect();
    if rows.len() < 3 {
        return Err(format!("{} times that agree, expected more than 2", rows.len()));
    }
    let (values, errors) = regression(&rows, &[0, 1])?;
    let freedom = |costs: usize| (rows.len() - costs) as f64;
    // If the fitted value of a cost is negative, it is set to 0, and the other cost is fitted
    // alone.
    let alone = match (values[0] < 0.0, values[1] < 0.0) {
        (false, false) => {
            return Ok((
                CostPair([values[0], values[1]]),
                [Some(errors[0]), Some(errors[1])],
                freedom(2),
            ));
        }
        (true, _) => 1,
        (false, true) => 0,
    };
    let (value, error) = regression(&rows, &[alone])?;
    let (mut pair, mut known) = ([0.0; 2], [None; 2]);
    (pair[alone], known[alone]) = (value[0], Some(error[0]));
    Ok((CostPair(pair), known, freedom(1)))
}

/// Approximates the first column of `rows` by one or two of its other columns, by least squares.
/// `of` has the indices of these columns, where 0 is the second column of `rows`. If there are two,
/// each is made orthogonal to the other (Frisch & Waugh 1933). Returns the coefficients and their
/// standard errors.
fn regression(rows: &[[f64; 3]], of: &[usize]) -> Result<(Vec<f64>, Vec<f64>), String> {
    /// The part of a column that is not proportional to the other column must be longer than this,
    /// relative to the whole column. Otherwise, the measurements do not determine the coefficients.
    const INDEPENDENCE: f64 = 1e-9;
    let column = |at: usize| rows.iter().map(move |row| row[at]);
    let (mut values, mut squares) = (Vec::new(), Vec::new());
    for at in of {
        let other = of.iter().find(|other| *other != at);
        let explained = |other: &usize| {
            inner_product(column(1 + at), column(1 + other)) / squared_length(column(1 + other))
        };
        let share = other.map_or(0.0, explained);
        let independent =
            rows.iter().map(|row| row[1 + at] - other.map_or(0.0, |other| share * row[1 + other]));
        let left = squared_length(independent.clone());
        if left.is_nan() || left <= INDEPENDENCE * INDEPENDENCE * squared_length(column(1 + at)) {
            return Err(
                "no costs explain these times: they do not tell start-up from bytes".to_owned()
            );
        }
        values.push(inner_product(independent, column(0)) / left);
        squares.push(left);
    }
    let explained =
        |row: &[f64; 3]| of.iter().zip(&values).map(|(at, value)| row[1 + at] * value).sum::<f64>();
    let variance = squared_length(rows.iter().map(|row| row[0] - explained(row)))
        / (rows.len() - of.len()) as f64;
    Ok((values, squares.iter().map(|left| (variance / left).sqrt()).collect()))
}

fn inner_product(a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> f64 {
    a.zip(b).map(|(a, b)| a * b).sum()
}

fn squared_length(column: impl Iterator<Item = f64>) -> f64 {
    column.map(|x| x * x).sum()
}

#[cfg(test)]
mod tests;
