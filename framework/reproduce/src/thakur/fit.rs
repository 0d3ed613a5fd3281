//! Fits the start-up time alpha and the time per byte beta to the paper's times by least squares.
//! The model is `T = steps alpha + L beta S`. L is the message length, and S is the sum over steps
//! of `max(1, f / 2)`, where f is the maximum number of messages on a link in the step.
//!
//! A sample with the time t has the weight 1/t. Without weights, the cell with 13.6 s would
//! dominate and make alpha negative. The table shows the fit with weights and the fit without
//! weights.

use super::contention::gen_as_printed;
use super::{Mesh, Profiles, Thakur, TimeOf, TimedCell, rows_and_columns, steps_of};
use crate::report::Table;
use swapmeet_core::simulation::step::StepFacts;

struct Sample {
    steps: f64,
    /// The product `L S` of the message length and the sum of contention factors.
    bytes: f64,
    seconds: f64,
}

/// A function that returns the weight of a sample, given its time in seconds.
type Weight = fn(f64) -> f64;

struct Fit {
    alpha_us: f64,
    beta_us: f64,
    /// The mean of `|fitted / measured - 1|` over all samples.
    mean_error: f64,
}

fn fitted(samples: &[Sample], weight: Weight) -> Fit {
    // Solve the normal equations. The columns are the steps and the bytes, and the right-hand side
    // is the time.
    let (mut ss, mut sb, mut bb, mut st, mut bt) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for sample in samples {
        let w = weight(sample.seconds);
        let (s, b, t) = (sample.steps * w, sample.bytes * w, sample.seconds * w);
        ss += s * s;
        sb += s * b;
        bb += b * b;
        st += s * t;
        bt += b * t;
    }
    let determinant = ss * bb - sb * sb;
    let (alpha, beta) = ((st * bb - bt * sb) / determinant, (bt * ss - st * sb) / determinant);
    let errors =
        samples.iter().map(|s| ((s.steps * alpha + s.bytes * beta) / s.seconds - 1.0).abs());
    Fit {
        alpha_us: alpha * 1e6,
        beta_us: beta * 1e6,
        mean_error: errors.sum::<f64>() / samples.len() as f64,
    }
}

/// Returns S, the sum over steps of `max(1, f / 2)`, where f is the maximum number of messages on a
/// link. If a link carries two messages at full speed, `max(1, f / 2)` is the factor by which
/// contention multiplies the time of a byte in a step.
fn half(f: impl Iterator<Item = u64>) -> f64 {
    f.map(|f| (f as f64 / 2.0).max(1.0)).sum()
}

/// Returns S, computed from the link loads of the steps of a run.
fn measured_half(_: &str, steps: &[StepFacts]) -> f64 {
    half(steps.iter().map(|s| s.max_link_messages))
}

/// Returns S of GEN, computed with the contention formula of section 3.4.
pub(super) fn printed_half(mesh: &str, _: &[StepFacts]) -> f64 {
    let (r, c) = rows_and_columns(mesh);
    half((1..r * c).map(|i| gen_as_printed(i, c, r * c)))
}

/// Returns a table with the fits from which the preset `delta` was made, and with the errors of our
/// times.
pub(super) fn table(thakur: &Thakur, cells: &[TimedCell<'_>], profiles: &Profiles) -> Table {
    let mut table = thakur.words.table("Fit");
    // Each measured cell of the selected tables is a sample.
    let samples = |ids: &[&str], half: fn(&str, &[StepFacts]) -> f64| -> Vec<Sample> {
        let mut samples = Vec::new();
        for measured in thakur.table.iter().filter(|t| ids.contains(&&*t.id)) {
            for Mesh { mesh, seconds } in &measured.meshes {
                let steps = steps_of(profiles, &measured.algorithm, mesh);
                for (bytes, seconds) in thakur.sizes.iter().zip(seconds) {
                    let bytes = *bytes as f64 * half(mesh, steps);
                    samples.push(Sample { steps: steps.len() as f64, bytes, seconds: *seconds });
                }
            }
        }
        samples
    };
    // Make four fits. They show how the weights, and the printed formula for f, change the
    // parameters.
    let relative: Weight = |seconds| 1.0 / seconds;
    let plain: Weight = |_| 1.0;
    for (row, samples, weight, why) in [
        ("PEX, Table 2", samples(&["Table 2"], measured_half), relative, ""),
        (
            "PEX, Table 2, unweighted",
            samples(&["Table 2"], measured_half),
            plain,
            "a start-up cannot take negative time: without weights, the largest times dominate",
        ),
        ("GEN, Tables 5 and 6", samples(&["Table 5", "Table 6"], measured_half), relative, ""),
        (
            "GEN, Tables 5 and 6, f as printed",
            samples(&["Table 5", "Table 6"], printed_half),
            relative,
            "",
        ),
    ] {
        let fit = fitted(&samples, weight);
        let why = if fit.alpha_us < 0.0 { why } else { "" };
        table.add_ours((row, "alpha, us"), format!("{:.1}", fit.alpha_us)).because(why);
        table.add_ours((row, "beta, us per byte"), format!("{:.4}", fit.beta_us));
        table.add_ours((row, "mean error"), format!("{:.1} %", 100.0 * fit.mean_error));
    }
    // Compare the times on the fitted machine with each table of measured times.
    for measured in &thakur.table {
        let of_gen = measured.algorithm == "gen";
        let columns: [(&str, bool, TimeOf); 3] = [
            ("mean error on `delta`", true, |c| c.ours),
            ("mean error at equal cost per byte", of_gen, |c| c.equal_cost_seconds),
            ("mean error with f as printed", of_gen, |c| c.printed),
        ];
        for (column, _, time) in columns.into_iter().filter(|(_, wanted, _)| *wanted) {
            let errors: Vec<f64> = cells
                .iter()
                .filter(|c| c.table == measured.id)
                .map(|c| (time(c) / c.paper - 1.0).abs())
                .collect();
            let mean = 100.0 * errors.iter().sum::<f64>() / errors.len() as f64;
            table.add_ours((&measured.id, column), format!("{mean:.1} %"));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_times_give_their_parameters_with_any_weight() {
        let samples: Vec<Sample> = (1..6)
            .map(|i| (f64::from(i), f64::from(i * i)))
            .map(|(steps, bytes)| Sample {
                steps,
                bytes,
                seconds: (steps * 100.0 + bytes * 0.25) / 1e6,
            })
            .collect();
        for weight in [(|_| 1.0) as Weight, |seconds| 1.0 / seconds] {
            let fit = fitted(&samples, weight);
            assert!((fit.alpha_us - 100.0).abs() < 1e-6 && (fit.beta_us - 0.25).abs() < 1e-9);
            assert!(fit.mean_error < 1e-9);
        }
    }

    #[test]
    fn a_link_carries_two_messages_at_no_cost() {
        assert_eq!(half([1, 2, 3, 4].into_iter()), 1.0 + 1.0 + 1.5 + 2.0);
    }

    #[test]
    fn the_printed_formula_makes_gen_more_expensive() {
        // The expected values come from an independent computation.
        assert_eq!(
            ["4x4", "8x8", "4x5", "6x8"].map(|mesh| printed_half(mesh, &[])),
            [16.0, 117.0, 21.0, 76.5]
        );
    }
}
