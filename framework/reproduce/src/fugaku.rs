//! Medians of repeated runs on Fugaku and LUMI, which PICO measured. Costs are fitted to them.

use crate::bench::ReproduceError;
use crate::engine::Engine;
use crate::formula::Value;
use crate::judge;
use std::collections::{BTreeMap, BTreeSet};
use swapmeet_bridges::fit::linear::{LinearSample, error_factor, fit_linear};
use swapmeet_bridges::import::{COUNTERPARTS, Counterpart, LUMI_COUNTERPARTS};
use swapmeet_results::{Record, read_records};

const FILES: [(&str, &str); 2] = [
    ("fugaku.csv", include_str!("../../../results/measured/fugaku.csv")),
    ("lumi.csv", include_str!("../../../results/measured/lumi.csv")),
];

/// Formulas can call these calculations, and those of [`judge::call`]:
/// - `medians.of(file, family, shapes)`: the medians of a file, see [`medians`].
/// - `medians.scopes(file, family, shapes)`: for each algorithm, a line of a summary table, about
///   the sizes to which no parameters are fitted.
/// - `counterparts.of(library)`: for algorithms of a library, those of this project that send the
///   same messages.
/// - `fit.costs(samples)`: the costs that fit the samples best. A sample is a measured time with
///   its coefficients. `fit.error(samples, costs)` is the error factor.
/// - `fit.settings(names, costs)`: the settings of a machine with these costs.
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
                Value::map([("scope", name.as_str().into()), ("covers", covers.as_str().into())])
            };
            Ok(all.into_iter().map(scope).collect::<Vec<_>>().into())
        }
        ("counterparts.of", [library]) => {
            let all: &[Counterpart] =
                if library.text() == "lumi" { &LUMI_COUNTERPARTS } else { &COUNTERPARTS };
            let row = |row: &Counterpart| {
                Value::map([
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
        _ => judge::call(name, arguments),
    }
}

fn numbers(list: &Value) -> Result<Vec<f64>, String> {
    list.list()?.iter().map(Value::number).collect()
}

/// A median time. Its keys are `shape`, `collective`, `algorithm`, `workload`, `bytes`,
/// `is_of_library` and `us`. On Fugaku, the shape is the sides of the torus, and on LUMI, it is the
/// spec of the network. `bytes` is the size of the larger buffer of a rank.
type Median = BTreeMap<String, Value>;

/// Reads the medians of a file, sorted by the position of their shape in `shapes` and then by
/// algorithm. The topology of a row must begin with `family`; the rest of it is the shape.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_four_digits() {
        let texts = [3.070_769, 0.000_183_231_7, 0.0, 12.0, 123_456.0].map(rounded);
        assert_eq!(texts, ["3.071", "0.0001832", "0", "12", "123456"]);
    }
}
