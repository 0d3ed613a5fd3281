//! A machine from measurements: what a message costs to start, and each of its bytes.
//!
//! A time is `startup` for each message one after another and `byte` for each byte of them. Times
//! range over orders of magnitude, so it is what is left *relative to each* that is made small; and
//! some are of a machine that did something else meanwhile, so that first the sum of what is left
//! is made small, then Tukey's weights are found: what lies far off weighs nothing, and is said to
//! have been left out.
//!
//! Libraries send long messages another way than short ones (eager, rendezvous). Where two pairs of
//! costs explain what one can't, for which Schwarz's criterion is asked, the size at which they
//! change is found, too.

use statrs::distribution::{ContinuousCDF, StudentsT};

pub mod ping_pong;

#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Where it is from, for people.
    pub source: String,
    /// Messages one after another.
    pub messages: f64,
    /// Bytes of them together.
    pub bytes: f64,
    pub time_us: f64,
}

impl Sample {
    /// Bytes of one message.
    fn length(&self) -> f64 {
        self.bytes / self.messages
    }
}

/// A figure, and where it lies with 95 % certainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// From there to there; none where there is nothing to tell it by.
    pub interval: Option<(f64, f64)>,
}

/// A pair of costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// Microseconds a message.
    pub startup_us: Estimate,
    /// Microseconds a byte.
    pub byte_us: Estimate,
}

/// What times say of a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Of all messages; or of those shorter than [`Fit::rendezvous`].
    pub costs: Costs,
    /// From which message size on others are right, and these.
    pub rendezvous: Option<(f64, Costs)>,
    /// For each time what the fit makes of it, and its weight, 0 to 1: 0 where it was left out.
    pub fitted: Vec<(f64, f64)>,
}

/// Fewest sizes of messages that a pair of costs is found from.
const SIZES: usize = 3;

/// Finds the costs. Errors are for the user.
pub fn fit(samples: &[Sample]) -> Result<Fit, String> {
    for sample in samples {
        let fine = |figure: f64| figure.is_finite() && figure >= 0.0;
        if !(fine(sample.bytes)
            && fine(sample.messages - 1.0)
            && fine(sample.time_us)
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
    if sizes.len() < SIZES {
        return Err(format!(
            "times of {} sizes of messages, expected at least {SIZES}",
            sizes.len()
        ));
    }
    let all: Vec<&Sample> = samples.iter().collect();
    let one = robust(&all)?;
    let mut best: Option<(f64, f64, Pair, Pair)> = None;
    for from in sizes.iter().skip(SIZES).take(sizes.len().saturating_sub(2 * SIZES - 1)) {
        let (short, long): (Vec<&Sample>, Vec<&Sample>) =
            samples.iter().partition(|sample| sample.length() < *from);
        let (a, b) = (robust(&short)?, robust(&long)?);
        let loss = a.loss(&short) + b.loss(&long);
        if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
            best = Some((loss, *from, a, b));
        }
    }
    // Schwarz's criterion, of residuals that fall off as Laplace's do: two figures against five.
    let n = samples.len() as f64;
    let criterion =
        |loss: f64, figures: f64| 2.0 * n * (loss / n).max(LEAST).ln() + figures * n.ln();
    let two = best.filter(|(loss, ..)| criterion(*loss, 5.0) < criterion(one.loss(&all), 2.0));
    let Some((_, from, a, b)) = two else {
        let (costs, weights) = one.weighted(&all)?;
        let fitted = samples
            .iter()
            .zip(weights)
            .map(|(sample, weight)| (costs.time(sample), weight))
            .collect();
        return Ok(Fit { costs, rendezvous: None, fitted });
    };
    let (short, long): (Vec<&Sample>, Vec<&Sample>) =
        samples.iter().partition(|sample| sample.length() < from);
    let ((costs, short), (others, long)) = (a.weighted(&short)?, b.weighted(&long)?);
    let (mut short, mut long) = (short.into_iter(), long.into_iter());
    let fitted = samples.iter().map(|sample| {
        let (costs, weights) =
            if sample.length() < from { (&costs, &mut short) } else { (&others, &mut long) };
        (costs.time(sample), weights.next().unwrap_or(0.0))
    });
    let fitted = fitted.collect();
    Ok(Fit { costs, rendezvous: Some((from, others)), fitted })
}

/// What is left of a time, relative to it, that is as good as nothing: a millionth.
const LEAST: f64 = 1e-6;

/// Start-up and byte, before anything is said of how sure they are.
#[derive(Debug, Clone, Copy)]
struct Pair([f64; 2]);

impl Costs {
    fn time(&self, sample: &Sample) -> f64 {
        Pair([self.startup_us.value, self.byte_us.value]).time(sample)
    }
}

impl Pair {
    fn time(self, sample: &Sample) -> f64 {
        self.0[0] * sample.messages + self.0[1] * sample.bytes
    }

    /// What is left of a time, relative to it.
    fn left(self, sample: &Sample) -> f64 {
        (sample.time_us - self.time(sample)) / sample.time_us
    }

    fn loss(self, samples: &[&Sample]) -> f64 {
        samples.iter().map(|sample| self.left(sample).abs()).sum()
    }

    /// Tukey's weights, until they stay: the costs with their intervals, and each time's weight.
    fn weighted(self, samples: &[&Sample]) -> Result<(Costs, Vec<f64>), String> {
        /// Where Tukey's weights reach 0, in standard deviations.
        const FAR: f64 = 4.685;
        let (mut pair, mut weights) = (self, vec![1.0; samples.len()]);
        // How far off is usual is judged once: by what lies nearest to most.
        let mut left: Vec<f64> = samples.iter().map(|sample| self.left(sample).abs()).collect();
        left.sort_by(f64::total_cmp);
        let usual = (1.4826 * left[left.len() / 2]).max(LEAST);
        for _ in 0..ROUNDS {
            weights = samples
                .iter()
                .map(|sample| {
                    let far = pair.left(sample) / (FAR * usual);
                    if far.abs() < 1.0 { (1.0 - far * far).powi(2) } else { 0.0 }
                })
                .collect();
            let Ok((next, ..)) = least_squares(samples, &weights) else {
                // Too few lie near one another: then all count.
                weights = vec![1.0; samples.len()];
                break;
            };
            pair = next;
        }
        let (Pair(values), errors, freedom) = least_squares(samples, &weights)?;
        let far = StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.inverse_cdf(0.975));
        let estimate = |value: f64, error: Option<f64>| {
            let interval = error.map(|error| (value - far * error, value + far * error));
            Estimate { value, interval: interval.filter(|(a, b)| a.is_finite() && b.is_finite()) }
        };
        let costs = Costs {
            startup_us: estimate(values[0], errors[0]),
            byte_us: estimate(values[1], errors[1]),
        };
        Ok((costs, weights))
    }
}

/// How often weights are found anew.
const ROUNDS: usize = 40;

/// The costs that make the sum of what is left least, by least squares with weights that undo the
/// square.
fn robust(samples: &[&Sample]) -> Result<Pair, String> {
    let mut pair = least_squares(samples, &vec![1.0; samples.len()])?.0;
    for _ in 0..ROUNDS {
        let weights: Vec<f64> =
            samples.iter().map(|sample| 1.0 / pair.left(sample).abs().max(LEAST)).collect();
        pair = least_squares(samples, &weights)?.0;
    }
    Ok(pair)
}

/// Costs, their standard errors where they are known, and how many more times there are than costs.
type Least = (Pair, [Option<f64>; 2], f64);

/// The costs of weighted least squares, neither below 0.
fn least_squares(samples: &[&Sample], weights: &[f64]) -> Result<Least, String> {
    // Relative to the time, and by the weight's root: 1 is to be made of start-up and bytes.
    let rows: Vec<[f64; 3]> = samples
        .iter()
        .zip(weights)
        .filter(|(_, weight)| **weight > 0.0)
        .map(|(sample, weight)| {
            let scale = weight.sqrt() / sample.time_us;
            [weight.sqrt(), sample.messages * scale, sample.bytes * scale]
        })
        .collect();
    if rows.len() < 3 {
        return Err(format!("{} times that agree, expected more than 2", rows.len()));
    }
    let (values, errors) = regression(&rows, &[0, 1])?;
    let freedom = |costs: usize| (rows.len() - costs) as f64;
    // A cost below 0 is none: the other alone explains the times best.
    let alone = match (values[0] < 0.0, values[1] < 0.0) {
        (false, false) => {
            return Ok((
                Pair([values[0], values[1]]),
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
    Ok((Pair(pair), known, freedom(1)))
}

/// What makes the first of each row of one or two of the others, by least squares, and the standard
/// error of each. A coefficient is that of its column without what the other explains of it (Frisch
/// & Waugh 1933).
fn regression(rows: &[[f64; 3]], of: &[usize]) -> Result<(Vec<f64>, Vec<f64>), String> {
    /// Of a column's length, what must be left of it without the other.
    const APART: f64 = 1e-9;
    let column = |at: usize| rows.iter().map(move |row| row[at]);
    let (mut values, mut squares) = (Vec::new(), Vec::new());
    for at in of {
        let other = of.iter().find(|other| *other != at);
        let explained =
            |other: &usize| product(column(1 + at), column(1 + other)) / square(column(1 + other));
        let share = other.map_or(0.0, explained);
        let apart =
            rows.iter().map(|row| row[1 + at] - other.map_or(0.0, |other| share * row[1 + other]));
        let left = square(apart.clone());
        if left.is_nan() || left <= APART * APART * square(column(1 + at)) {
            return Err(
                "no costs explain these times: they do not tell start-up from bytes".to_owned()
            );
        }
        values.push(product(apart, column(0)) / left);
        squares.push(left);
    }
    let explained =
        |row: &[f64; 3]| of.iter().zip(&values).map(|(at, value)| row[1 + at] * value).sum::<f64>();
    let variance =
        square(rows.iter().map(|row| row[0] - explained(row))) / (rows.len() - of.len()) as f64;
    Ok((values, squares.iter().map(|left| (variance / left).sqrt()).collect()))
}

/// The inner product of two columns.
fn product(a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> f64 {
    a.zip(b).map(|(a, b)| a * b).sum()
}

/// A column's length, squared.
fn square(column: impl Iterator<Item = f64>) -> f64 {
    column.map(|x| x * x).sum()
}

#[cfg(test)]
mod tests;
