//! Measures of the quality of predictions.
//! - The *error factor* is the geometric mean of max(p/m, m/p), where p is a predicted time and m
//!   the measured time. If all predictions are exact, it is 1.
//! - An *ordered pair* is a pair of algorithms whose order is predicted correctly.
//! - The *regret* is the measured time of the algorithm that is predicted to be the fastest,
//!   divided by the measured time of the algorithm that is the fastest.
//! - A *fixed choice* predicts nothing. For each collective, it is always the same algorithm. The
//!   best fixed choice is known only after the measurement.

use crate::bench::ReproduceError;
use crate::formula::Value;
use std::collections::BTreeMap;
use swapmeet_bridges::fit::linear::error_factor;

/// Formulas can call these calculations. A sample is a list of the fields of [`Sample`]. The result
/// is a list, which is empty if no sample can be judged.
/// - `judge.error_factor(samples)`, `judge.ordered_pairs(samples)` and `judge.regret(samples)`: the
///   measures that are defined above.
/// - `judge.fixed_pairs(samples)` and `judge.fixed_regret(samples)`: the last two measures for the
///   best fixed choice.
/// - `judge.worst(samples)`: the sample with the largest error, and the error factor of all others.
pub(crate) fn call(name: &str, arguments: &[Value]) -> Result<Value, ReproduceError> {
    let [samples] = arguments else { return Err(format!("there is no `{name}`").into()) };
    let samples: Vec<Sample> =
        samples.list()?.iter().map(Sample::read).collect::<Result<_, _>>()?;
    let pairs = |pairs: Option<(u64, u64)>| {
        pairs.map_or(Value::List(vec![]), |(right, all)| vec![right, all].into())
    };
    let regrets = |regret: Option<(f64, f64)>| {
        regret.map_or(Value::List(vec![]), |(mean, most)| vec![mean, most].into())
    };
    Ok(match name {
        "judge.error_factor" if samples.is_empty() => Value::List(vec![]),
        "judge.error_factor" => vec![factor(&samples)].into(),
        "judge.ordered_pairs" => pairs(ordered_pairs(&samples)),
        "judge.regret" => regrets(regret(&samples)),
        "judge.fixed_pairs" => pairs(fixed_pairs(&samples)),
        "judge.fixed_regret" => regrets(fixed_regret(&samples)?),
        "judge.worst" => worst(samples),
        _ => return Err(format!("there is no `{name}`").into()),
    })
}

#[derive(Debug, Clone, PartialEq)]
struct Sample {
    shape: String,
    workload: String,
    algorithm: String,
    predicted_us: f64,
    measured_us: f64,
}

impl Sample {
    fn read(value: &Value) -> Result<Self, String> {
        let [shape, workload, algorithm, predicted, measured] = value.list()? else {
            return Err(format!("{value:?} is no sample"));
        };
        let [shape, workload, algorithm] = [shape, workload, algorithm].map(Value::text);
        let [predicted_us, measured_us] = [predicted.number()?, measured.number()?];
        Ok(Self { shape, workload, algorithm, predicted_us, measured_us })
    }
}

fn factor(samples: &[Sample]) -> f64 {
    error_factor(samples.iter().map(|s| (s.predicted_us, s.measured_us)))
}

/// At least two algorithms of a workload and shape, with their predicted and measured times.
struct Choice<'a> {
    collective: &'a str,
    times: BTreeMap<&'a str, (f64, f64)>,
}

impl Choice<'_> {
    fn best(&self) -> f64 {
        self.times.values().map(|(_, measured)| *measured).fold(f64::INFINITY, f64::min)
    }
}

fn choices(samples: &[Sample]) -> Vec<Choice<'_>> {
    type Implementations = Vec<(f64, f64)>;
    let mut groups: BTreeMap<[&str; 2], BTreeMap<&str, Implementations>> = BTreeMap::new();
    for Sample { shape, workload, algorithm, predicted_us, measured_us } in samples {
        let algorithms = groups.entry([shape, workload]).or_default();
        algorithms.entry(algorithm).or_default().push((*predicted_us, *measured_us));
    }
    // Several implementations of an algorithm count as one, with their geometric mean.
    let mean = |times: Implementations| {
        let sum: f64 = times.iter().map(|(_, measured)| measured.ln()).sum();
        (times[0].0, (sum / times.len() as f64).exp())
    };
    let mut choices = Vec::new();
    for ([_, workload], group) in groups.into_iter().filter(|(_, group)| group.len() > 1) {
        let collective = workload.split_once('/').map_or("alltoall", |(collective, _)| collective);
        let times = group.into_iter().map(|(algorithm, times)| (algorithm, mean(times)));
        choices.push(Choice { collective, times: times.collect() });
    }
    choices
}

/// Returns the numbers of correctly ordered and of all pairs. Equal measured times are no pair.
fn ordered_pairs(samples: &[Sample]) -> Option<(u64, u64)> {
    let (mut right, mut all) = (0, 0);
    for Choice { times, .. } in choices(samples) {
        for (i, (predicted, measured)) in times.values().enumerate() {
            let others = times.values().take(i).filter(|(_, other)| other != measured);
            for (other_predicted, other_measured) in others {
                all += 1;
                right += u64::from(
                    (predicted < other_predicted) == (measured < other_measured)
                        && predicted.total_cmp(other_predicted).is_ne(),
                );
            }
        }
    }
    (all > 0).then_some((right, all))
}

/// Returns the mean and the largest regret, or `None` if no workload has two algorithms.
fn regret(samples: &[Sample]) -> Option<(f64, f64)> {
    let regret = |choice: Choice<'_>| {
        let chosen = choice.times.values().min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(chosen.1 / choice.best())
    };
    mean_and_most(&choices(samples).into_iter().filter_map(regret).collect::<Vec<_>>())
}

fn mean_and_most(regrets: &[f64]) -> Option<(f64, f64)> {
    let most = regrets.iter().copied().reduce(f64::max)?;
    Some((regrets.iter().sum::<f64>() / regrets.len() as f64, most))
}

/// Predicts for each pair of algorithms that the algorithm which is faster in more cases is faster
/// in all cases. Returns the number of pairs that are ordered correctly, and the number of all
/// pairs. Returns `None` if there are no pairs.
fn fixed_pairs(samples: &[Sample]) -> Option<(u64, u64)> {
    let mut wins: BTreeMap<[&str; 3], [u64; 2]> = BTreeMap::new();
    let choices = choices(samples);
    for Choice { collective, times } in &choices {
        for (i, (algorithm, (_, measured))) in times.iter().enumerate() {
            let others = times.iter().take(i).filter(|(_, (_, other))| other != measured);
            for (other, (_, other_measured)) in others {
                let wins = wins.entry([collective, other, algorithm]).or_default();
                wins[usize::from(measured < other_measured)] += 1;
            }
        }
    }
    let right = wins.values().map(|[first, second]| first.max(second)).sum();
    let all = wins.values().map(|[first, second]| first + second).sum();
    (all > 0).then_some((right, all))
}

/// Returns the mean and the largest regret of the best fixed choice. Returns `None` in the same
/// cases as [`regret`]. Errors if a collective has no algorithm that was measured in every case.
fn fixed_regret(samples: &[Sample]) -> Result<Option<(f64, f64)>, String> {
    let mut collectives: BTreeMap<&str, Vec<Choice<'_>>> = BTreeMap::new();
    for choice in choices(samples) {
        collectives.entry(choice.collective).or_default().push(choice);
    }
    let mut regrets = Vec::new();
    for (collective, choices) in collectives {
        let of_algorithm = |algorithm: &&str| -> Option<Vec<f64>> {
            choices.iter().map(|c| Some(c.times.get(algorithm)?.1 / c.best())).collect()
        };
        let sum = |regrets: &Vec<f64>| regrets.iter().sum::<f64>();
        let all = choices[0].times.keys().filter_map(of_algorithm);
        let least = all.min_by(|a, b| sum(a).total_cmp(&sum(b)));
        let none = || format!("no algorithm was measured in every case of {collective}");
        regrets.extend(least.ok_or_else(none)?);
    }
    Ok(mean_and_most(&regrets))
}

fn worst(mut samples: Vec<Sample>) -> Value {
    let error = |sample: &Sample| factor(std::slice::from_ref(sample));
    let worst = (0..samples.len())
        .max_by(|a, b| error(&samples[*a]).total_cmp(&error(&samples[*b])))
        .expect("a target is missed by samples");
    let worst = samples.remove(worst);
    Value::map([
        ("algorithm", worst.algorithm.as_str().into()),
        ("workload", worst.workload.as_str().into()),
        ("measured", worst.measured_us.into()),
        ("predicted", worst.predicted_us.into()),
        ("rest", factor(&samples).into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(algorithm: &str, workload: &str, measured_us: f64, predicted_us: f64) -> Sample {
        let [shape, workload, algorithm] = ["4x4x4", workload, algorithm].map(str::to_owned);
        Sample { shape, workload, algorithm, predicted_us, measured_us }
    }

    /// All expected values were computed by hand. For 64 bytes, the prediction selects b, which
    /// takes 3 µs. The fastest algorithm takes 2 µs. For 128 bytes, b has two measured times, 2 and
    /// 8 µs, whose geometric mean is 4.
    #[test]
    fn orders_and_regrets_are_those_computed_by_hand() {
        let samples = [
            sample("a", "uniform:64", 2.0, 4.0),
            sample("b", "uniform:64", 3.0, 3.0),
            sample("c", "uniform:64", 9.0, 9.0),
            sample("a", "uniform:128", 3.0, 3.0),
            sample("b", "uniform:128", 2.0, 4.0),
            sample("b", "uniform:128", 8.0, 4.0),
            sample("a", "uniform:256", 1.0, 1.0),
        ];
        assert_eq!(ordered_pairs(&samples), Some((3, 4)));
        let alike = ["a", "b"].map(|algorithm| sample(algorithm, "uniform:512", 1.0, 1.0));
        assert_eq!((ordered_pairs(&alike), fixed_pairs(&alike)), (None, None));
        let (mean, most) = regret(&samples).unwrap();
        assert!((mean - 1.25).abs() < 1e-12 && (most - 1.5).abs() < 1e-12, "{mean} {most}");
        // The seven factors max(p/m, m/p) are 2, 1, 1, 1, 2, 2 and 1.
        let found = factor(&samples);
        assert!((found - 2.0_f64.powf(3.0 / 7.0)).abs() < 1e-12, "{found}");
        assert_eq!((ordered_pairs(&[]), regret(&[])), (None, None));
    }

    /// All expected values were computed by hand. a is faster than b in two of three cases. Both
    /// are always faster than c. The mean regret of a is (1 + 1 + 2) / 3, and that of b is (2 + 2 +
    /// 1) / 3. In the broadcast, there are two algorithms, and d is the faster one.
    #[test]
    fn the_best_fixed_choice_is_that_computed_by_hand() {
        let mut samples = vec![
            sample("a", "uniform:1", 1.0, 1.0),
            sample("b", "uniform:1", 2.0, 1.0),
            sample("c", "uniform:1", 3.0, 1.0),
            sample("a", "uniform:2", 1.0, 1.0),
            sample("b", "uniform:2", 2.0, 1.0),
            sample("a", "uniform:4", 4.0, 1.0),
            sample("b", "uniform:4", 2.0, 1.0),
        ];
        assert_eq!(fixed_pairs(&samples), Some((4, 5)));
        assert_eq!(fixed_regret(&samples), Ok(Some((4.0 / 3.0, 2.0))));
        samples.push(sample("a", "broadcast/uniform:1", 5.0, 1.0));
        samples.push(sample("d", "broadcast/uniform:1", 4.0, 1.0));
        assert_eq!(fixed_pairs(&samples), Some((5, 6)));
        assert_eq!(fixed_regret(&samples), Ok(Some((1.25, 2.0))));
        assert_eq!((fixed_pairs(&[]), fixed_regret(&[])), (None, Ok(None)));
        samples.push(sample("b", "broadcast/uniform:2", 5.0, 1.0));
        samples.push(sample("c", "broadcast/uniform:2", 5.0, 1.0));
        let error = fixed_regret(&samples).unwrap_err();
        assert_eq!(error, "no algorithm was measured in every case of broadcast");
    }
}
