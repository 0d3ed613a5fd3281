//! The models that are compared with the measurements, and the fit of their parameters.

use super::{Median, times};
use crate::bench::{Bench, ReproduceError};
use swapmeet_bridges::fit::linear::{LinearSample, fit_linear};
use swapmeet_core::cost::machine::Machine;

/// The fitted parameters of the model `wormhole`. The predicted time is a linear function of them.
const PARAMETERS: [&str; 5] =
    ["startup_us", "byte_us", "hop_us", "rearrange_byte_us", "reduce_byte_us"];

/// The fitted parameters of the extended machine. Unlike [`PARAMETERS`], they include the costs of
/// message protocols, and a cost of rearrangement for each block. The extended machine charges
/// rearrangement only in an all-to-all.
const EXTENDED: [&str; 8] = [
    "startup_us",
    "byte_us",
    "hop_us",
    "rearrange_byte_us",
    "rearrange_block_us",
    "reduce_byte_us",
    "rendezvous_us",
    "eager_byte_us",
];

/// The fixed settings of the extended machine. The predicted time is not a linear function of them,
/// so several values were tried. Of the powers of 2 from 4 KiB to 256 KiB, this value of
/// `rendezvous_bytes` fits best. The mean number of hops fits better than the number of hops of the
/// longest route.
const EXTENDED_BASE: &str = "hops=mean,rearrangement=exchanges,rendezvous_bytes=131072";

/// The machines of event-driven models. Their times are not linear functions of their parameters.
/// The values were found by a search that multiplies or divides one parameter after another by a
/// factor. The factor is 2 at first and then becomes smaller. The search uses the fitted sizes of
/// 4x4x4. It minimises the sum of the squared logarithms of the ratios between predicted and
/// measured times.
const LOGGP: &str = "free:model=loggp,overhead_us=1,latency_us=1.445,gap_us=2.362,byte_us=0.0002493,overhead_byte_us=0.000012,reduce_byte_us=0.0000036";
const FLUID: &str = "free:model=fluid,order=step,rendezvous_bytes=131072,startup_us=2.362,byte_us=0.0001772,hop_us=0.4233,reduce_byte_us=0.00000713,rendezvous_us=22.01,eager_byte_us=0.0001688";
const FLUID_BY_DATA: &str = "free:model=fluid,order=data,rendezvous_bytes=131072,startup_us=2,byte_us=0.00015,hop_us=0.5,reduce_byte_us=0.00000713,rendezvous_us=25.99,eager_byte_us=0.0001524";

/// A machine whose predictions are compared with the measurements.
pub(super) struct Model {
    pub name: &'static str,
    /// The spec of the machine.
    pub machine: String,
    /// Returns whether the model is run for a median.
    pub runs: fn(&Median) -> bool,
}

impl Model {
    /// Returns all models. `costs` are the values of [`PARAMETERS`], and `extended` are the values
    /// of [`EXTENDED`].
    pub(super) fn all(costs: &[f64], extended: &[f64]) -> Vec<Self> {
        let is_small = |median: &Median| ["2x2x2", "4x4x4"].contains(&&*median.shape);
        vec![
            Self { name: "tofu-d", machine: "tofu-d:startup_us=2.5".to_owned(), runs: |_| true },
            Self {
                name: "wormhole",
                machine: format!("free:{}", values(&PARAMETERS, costs).join(",")),
                runs: |_| true,
            },
            Self { name: "extended", machine: extended_machine(extended), runs: |_| true },
            Self { name: "loggp", machine: LOGGP.to_owned(), runs: is_small },
            Self {
                name: "fluid",
                machine: FLUID.to_owned(),
                runs: |median| match median.shape.as_str() {
                    "8x8x8" => median.algorithm != "linear",
                    shape => ["2x2x2", "4x4x4"].contains(&shape),
                },
            },
            Self { name: "fluid, order=data", machine: FLUID_BY_DATA.to_owned(), runs: is_small },
        ]
    }

    /// Returns whether the model has synchronous steps. Models of this kind are fast enough for
    /// every shape.
    pub(super) fn is_synchronous(&self) -> bool {
        !self.machine.contains("model=")
    }
}

fn extended_machine(costs: &[f64]) -> String {
    format!("free:{EXTENDED_BASE},{}", values(&EXTENDED, costs).join(","))
}

/// Returns whether the preset `fugaku` has these fitted values, with relative differences of at
/// most 1 %.
pub(super) fn preset_has(extended: &[f64]) -> bool {
    let Ok(preset) = Machine::parse("fugaku") else { return false };
    EXTENDED.iter().zip(extended).all(|(name, cost)| {
        preset.number(name).is_some_and(|value| (value - cost).abs() <= 0.01 * cost)
    })
}

/// Returns a setting `NAME=VALUE` for each parameter.
fn values(names: &[&str], costs: &[f64]) -> Vec<String> {
    let all = names.iter().zip(costs);
    all.map(|(name, cost)| format!("{name}={}", rounded(*cost))).collect()
}

/// Formats a value with four significant digits and without an exponent.
pub(super) fn rounded(value: f64) -> String {
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

/// Fits [`PARAMETERS`] and [`EXTENDED`] to the medians for which [`Median::is_fitted`] is true.
pub(super) fn fitted_costs(
    bench: &Bench<'_>,
    medians: &[Median],
) -> Result<[Vec<f64>; 2], ReproduceError> {
    let fitted: Vec<Median> = medians.iter().filter(|m| m.is_fitted()).cloned().collect();
    let mut units = PARAMETERS.map(|name| format!("free:{name}=1")).to_vec();
    units.extend(EXTENDED.map(|name| format!("free:{EXTENDED_BASE},{name}=1")));
    let mut plain = samples(bench, &fitted, &units, &Median::topology)?;
    let split = |sample: &mut LinearSample| LinearSample {
        coefficients: sample.coefficients.split_off(PARAMETERS.len()),
        time_us: sample.time_us,
    };
    let extended: Vec<LinearSample> = plain.iter_mut().map(split).collect();
    Ok([fit_linear(&plain), fit_linear(&extended)])
}

/// Returns, for each median, the coefficient of each parameter in the predicted time, which is a
/// linear function of the parameters. Each of `units` is a machine on which one parameter is 1 and
/// all others are 0. The time on this machine is the coefficient of that parameter. `topology`
/// returns the network of a median.
pub(super) fn samples(
    bench: &Bench<'_>,
    medians: &[Median],
    units: &[String],
    topology: &dyn Fn(&Median) -> String,
) -> Result<Vec<LinearSample>, ReproduceError> {
    let sample = |(median, times): (&Median, Vec<Option<f64>>)| {
        let coefficients = times.into_iter().map(|time| time.unwrap_or(0.0)).collect();
        LinearSample { coefficients, time_us: median.time_us }
    };
    let times = times(bench, medians, &|_| units.to_vec(), topology)?;
    Ok(times.into_iter().map(sample).collect())
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
