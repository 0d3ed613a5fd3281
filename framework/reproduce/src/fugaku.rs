//! Measurements on Fugaku and LUMI, the fit of costs to them, and measures of the quality of
//! predictions. The measurements are medians of repeated runs. They come from PICO, a benchmark of
//! collectives.
//!
//! - The *error factor* is the geometric mean of the factors by which predictions are wrong; it is 1
//!   if all predictions are exact.
//! - An *ordered pair* is a pair of algorithms whose order is predicted correctly.
//! - The *regret* is the measured time of the algorithm that is predicted to be fastest, divided by
//!   the measured time of the algorithm that is fastest.

use crate::bench::ReproduceError;
use crate::engine::Engine;
use crate::formula::Value;
use std::collections::{BTreeMap, BTreeSet};
use swapmeet_bridges::fit::linear::{LinearSample, error_factor, fit_linear};
use swapmeet_bridges::import::{COUNTERPARTS, Counterpart, LUMI_COUNTERPARTS};
use swapmeet_results::{Record, read_records};

/// The measured rows of a file.
const FILES: [(&str, &str); 2] = [
    ("fugaku.csv", include_str!("../../../results/measured/fugaku.csv")),
    ("lumi.csv", include_str!("../../../results/measured/lumi.csv")),
];

/// - `medians.of(file, family, shapes)`: the medians of a file, see [`medians`].
/// - `medians.scopes(file, family, shapes)`: a line of summary tables for each algorithm. It covers
///   the sizes to which no parameters are fitted.
/// - `counterparts.of(library)`: for each measured algorithm, the algorithm of this project that
///   sends the same messages.
/// - `fit.costs(samples)`: costs that are fitted to samples. A sample has the measured time and the
///   coefficients of the costs. `fit.error(samples, costs)` is the error factor.
/// - `fit.settings(names, costs)`: the settings of a machine with these costs.
/// - `judge.error_factor(samples)`, `judge.ordered_pairs(samples)` and `judge.regret(samples)`: the
///   measures of [`Sample`]s as lists, which are empty if no sample can be judged.
/// - `judge.worst(samples)`: the sample with the largest error, and the error factor of the others.
pub(crate) fn call(
    _: &Engine<'_>,
    name: &str,
    arguments: &[Value],
) -> Result<Value, ReproduceError> {
    match (name, arguments) {
        ("medians.of", [file, family, shapes]) => {
            let medians = medians(&file.text(), &family.text(), shapes)?;
            Ok(medians.into_iter().map(Value::Map).collect::<Vec<_>>().into())
        }
        ("medians.scopes", [file, family, shapes]) => {
            let medians = medians(&file.text(), &family.text(), shapes)?;
            let algorithm = |m: &Median| ["collective", "algorithm"].map(|key| m[key].text());
            let all: BTreeSet<[String; 2]> = medians.iter().map(algorithm).collect();
            let scope = |[collective, algorithm]: [String; 2]| {
                let covers = format!(
                    "is_other_size and collective = '{collective}' and algorithm = '{algorithm}'"
                );
                let name = format!("{collective} {algorithm}, other sizes");
                map([("scope", name.as_str().into()), ("covers", covers.as_str().into())])
            };
            Ok(all.into_iter().map(scope).collect::<Vec<_>>().into())
        }
        ("counterparts.of", [library]) => {
            let all: &[Counterpart] =
                if library.text() == "lumi" { &LUMI_COUNTERPARTS } else { &COUNTERPARTS };
            let row = |row: &Counterpart| {
                map([
                    ("collective", row.collective.into()),
                    ("library", row.library.into()),
                    ("ours_is", row.ours.unwrap_or_default().into()),
                    ("because", row.why.into()),
                ])
            };
            Ok(all.iter().map(row).collect::<Vec<_>>().into())
        }
        ("fit.costs", [samples]) => Ok(fit_linear(&linear_samples(samples)?).into()),
        ("fit.error", [samples, costs]) => {
            let costs = numbers(costs)?;
            let samples = linear_samples(samples)?;
            Ok(error_factor(samples.iter().map(|s| (s.predicted(&costs), s.time_us))).into())
        }
        ("fit.settings", [names, costs]) => {
            let settings = names.list()?.iter().zip(numbers(costs)?);
            let settings =
                settings.map(|(name, cost)| format!("{}={}", name.text(), rounded(cost)));
            Ok(settings.collect::<Vec<_>>().join(",").as_str().into())
        }
        (_, [samples]) => {
            let samples: Vec<Sample> =
                samples.list()?.iter().map(Sample::read).collect::<Result<_, _>>()?;
            Ok(match name {
                "judge.error_factor" => {
                    if samples.is_empty() {
                        Value::List(vec![])
                    } else {
                        vec![factor(&samples)].into()
                    }
                }
                "judge.ordered_pairs" => ordered_pairs(&samples)
                    .map_or(Value::List(vec![]), |(right, all)| vec![right, all].into()),
                "judge.regret" => regret(&samples)
                    .map_or(Value::List(vec![]), |(mean, most)| vec![mean, most].into()),
                "judge.worst" => worst(samples),
                _ => return Err(format!("there is no `{name}`").into()),
            })
        }
        _ => Err(format!("there is no `{name}`").into()),
    }
}

fn map<const N: usize>(keys: [(&str, Value); N]) -> Value {
    Value::Map(keys.map(|(key, value)| (key.to_owned(), value)).into())
}

fn numbers(list: &Value) -> Result<Vec<f64>, String> {
    list.list()?.iter().map(Value::number).collect()
}

/// A median time that PICO measured. Its keys are `shape`, `collective`, `algorithm`, `workload`,
/// `bytes`, `is_of_library` and `us`. On Fugaku, the shape is the sides of the torus; on LUMI, the spec of the network.
/// The bytes are the size of the larger of a rank's two buffers (send and receive).
type Median = BTreeMap<String, Value>;

/// Reads the medians of a file of result rows, sorted by the position of the shape in `shapes`, by
/// shape, and by algorithm. All topologies in the file begin with `family`; the rest is the shape.
fn medians(file: &str, family: &str, shapes: &Value) -> Result<Vec<Median>, ReproduceError> {
    let (file, text) = FILES
        .into_iter()
        .find(|known| known.0 == file)
        .ok_or_else(|| format!("there are no measurements `{file}`"))?;
    let rows = read_records(file, text).map_err(|e| e.to_string())?;
    let median = |row: &Record| {
        let shape = Value::from(row.topology.strip_prefix(family)?);
        let block = row.block_bytes?;
        let is_whole = ["broadcast", "reduce", "allreduce"].contains(&&*row.collective);
        let bytes = if is_whole { block } else { block * row.nodes };
        let keys = [
            ("shape", shape),
            ("collective", row.collective.as_str().into()),
            ("algorithm", row.algorithm.as_str().into()),
            ("workload", row.workload.as_str().into()),
            ("bytes", bytes.into()),
            ("is_of_library", (!row.algorithm.starts_with("bine-")).into()),
            ("us", row.time_us?.into()),
        ];
        Some(keys.map(|(key, value)| (key.to_owned(), value)).into())
    };
    let medians: Option<Vec<Median>> = rows.iter().map(median).collect();
    let mut medians =
        medians.ok_or_else(|| format!("{file}: a row has no `{family}`, block size or time"))?;
    let shapes = shapes.list()?;
    medians.sort_by_key(|median| {
        let position = shapes.iter().position(|shape| *shape == median["shape"]);
        let [shape, algorithm] = ["shape", "algorithm"].map(|key| median[key].text());
        (position.unwrap_or(shapes.len()), shape, algorithm)
    });
    Ok(medians)
}

fn linear_samples(samples: &Value) -> Result<Vec<LinearSample>, String> {
    let sample = |sample: &Value| match sample.list()? {
        [us, coefficients] => {
            Ok(LinearSample { coefficients: numbers(coefficients)?, time_us: us.number()? })
        }
        _ => Err(format!("{sample:?} is no sample of a fit")),
    };
    samples.list()?.iter().map(sample).collect()
}

/// Formats a value with four significant digits and without an exponent.
fn rounded(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = (3 - value.abs().log10().floor() as i64).clamp(0, 15) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A measured median, and the prediction of a model.
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

/// Pairs of a predicted and a measured time of the same case.
type Times = Vec<(f64, f64)>;

/// Groups the samples by workload and shape. Returns, for each group with at least two algorithms,
/// the predicted and the measured time of each algorithm.
fn choices(samples: &[Sample]) -> Vec<Times> {
    let mut groups: BTreeMap<[&str; 2], BTreeMap<&str, Times>> = BTreeMap::new();
    for Sample { shape, workload, algorithm, predicted_us, measured_us } in samples {
        let algorithms = groups.entry([shape, workload]).or_default();
        algorithms.entry(algorithm).or_default().push((*predicted_us, *measured_us));
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
fn ordered_pairs(samples: &[Sample]) -> Option<(u64, u64)> {
    let (mut right, mut all) = (0, 0);
    for group in choices(samples) {
        for (i, (predicted, measured)) in group.iter().enumerate() {
            for (other_predicted, other_measured) in &group[..i] {
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

/// Returns the mean and the largest regret; `None` if no workload was measured with at least two
/// algorithms.
fn regret(samples: &[Sample]) -> Option<(f64, f64)> {
    let regrets: Vec<f64> = choices(samples)
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

fn worst(mut samples: Vec<Sample>) -> Value {
    let error = |sample: &Sample| factor(std::slice::from_ref(sample));
    let worst = (0..samples.len())
        .max_by(|a, b| error(&samples[*a]).total_cmp(&error(&samples[*b])))
        .expect("a target is missed by samples");
    let worst = samples.remove(worst);
    map([
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

    /// All expected values are computed by hand. For 64 bytes, the prediction selects b, which
    /// takes 3 us, while the fastest algorithm takes 2 us. For 128 bytes, the two measured times of
    /// b (2 and 8 us) have the geometric mean 4.
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
        let (mean, most) = regret(&samples).unwrap();
        assert!((mean - 1.25).abs() < 1e-12 && (most - 1.5).abs() < 1e-12, "{mean} {most}");
        // The seven ratios between predicted and measured times are 2, 1, 1, 1, 2, 2 and 1.
        let found = factor(&samples);
        assert!((found - 2.0_f64.powf(3.0 / 7.0)).abs() < 1e-12, "{found}");
        assert_eq!((ordered_pairs(&[]), regret(&[])), (None, None));
    }

    #[test]
    fn values_have_four_digits() {
        let texts = [3.070_769, 0.000_183_231_7, 0.0, 12.0, 123_456.0].map(rounded);
        assert_eq!(texts, ["3.071", "0.0001832", "0", "12", "123456"]);
    }
}
