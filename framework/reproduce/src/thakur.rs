//! Thakur, Choudhary & Fox: the partners of processors in each step, and a fit of alpha and beta.

use crate::bench::ReproduceError;
use crate::engine::Engine;
use crate::formula::Value;
use crate::judge;
use swapmeet_core::simulation::listener::{Listener, ScheduleEvent};

/// Formulas can call these calculations, and those of [`judge::call`]:
/// - `pairs.step(topology, algorithm, i)`: the exchanges in step i (from 0), in the notation of the
///   paper.
/// - `pairs.steps(topology, algorithm)`: the number of steps with messages.
/// - `pairs.mutual_steps(topology, algorithm)`: the number of steps in which all messages are
///   exchanges.
/// - `fig_4.mutual_steps(p)`: this number for the partners that Fig. 4 prints.
/// - `fig_4.self_choosing_steps(p)`: the number of steps in which, by Fig. 4, a processor is its
///   own partner.
/// - `fit.line(samples, weighted)`: alpha and beta in µs, and the mean error ([`fit_line`]).
pub(crate) fn call(
    engine: &Engine<'_>,
    name: &str,
    arguments: &[Value],
) -> Result<Value, ReproduceError> {
    let pairs = |arguments: &[Value]| {
        let mut pairs = Pairs::default();
        let [topology, algorithm] = [0, 1].map(|i| arguments[i].text());
        engine.bench().watch(&topology, &algorithm, "uniform:1", &mut pairs)?;
        Ok::<_, ReproduceError>(pairs)
    };
    let count = |holds: &dyn Fn(u64, u64) -> bool| {
        let p = arguments[0].number()? as u64;
        let steps = (1..p.next_power_of_two()).filter(|j| holds(*j, p)).count();
        Ok::<_, String>((steps as u64).into())
    };
    Ok(match name {
        "pairs.step" => {
            let run = pairs(arguments)?;
            let step = run.0.get(arguments[2].number()? as usize);
            exchanges(step.map_or(&[], Vec::as_slice)).as_str().into()
        }
        "pairs.steps" => (pairs(arguments)?.0.len() as u64).into(),
        "pairs.mutual_steps" => pairs(arguments)?.mutual_steps().into(),
        "fig_4.mutual_steps" => count(&|j, p| is_mutual(j, p))?,
        "fig_4.self_choosing_steps" => {
            count(&|j, p| (0..p).any(|me| fig_4_as_printed(me, j, p) == Some(me)))?
        }
        "fit.line" => {
            let sample = |sample: &Value| match sample.list()? {
                [steps, bytes, seconds] => {
                    Ok([steps.number()?, bytes.number()?, seconds.number()?])
                }
                _ => Err("a sample has three numbers".to_owned()),
            };
            let samples = arguments[0].list()?.iter().map(sample).collect::<Result<Vec<_>, _>>()?;
            fit_line(&samples, arguments[1].number()? != 0.0).to_vec().into()
        }
        _ => return judge::call(name, arguments),
    })
}

/// For each step, the sorted pairs (sender, receiver) of all its messages.
#[derive(Debug, Default)]
struct Pairs(Vec<Vec<(u32, u32)>>);

impl Listener for Pairs {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        if step.number == 1 {
            self.0.clear();
        }
        let mut pairs: Vec<(u32, u32)> = step.transfers.iter().map(|t| (t.from, t.to)).collect();
        pairs.sort_unstable();
        self.0.push(pairs);
    }
}

impl Pairs {
    /// Counts the steps in which each receiver also sends a message to its sender.
    fn mutual_steps(&self) -> u64 {
        let mutual = |pairs: &[(u32, u32)]| {
            pairs.iter().all(|(a, b)| pairs.binary_search(&(*b, *a)).is_ok())
        };
        self.0.iter().filter(|pairs| mutual(pairs)).count() as u64
    }
}

/// Formats a step in the notation of the paper. `a > b` is a message without a reply.
fn exchanges(pairs: &[(u32, u32)]) -> String {
    let answered = |(a, b): &(u32, u32)| pairs.binary_search(&(*b, *a)).is_ok();
    let named: Vec<String> = pairs
        .iter()
        .filter(|pair| pair.0 < pair.1 || !answered(pair))
        .map(|pair| format!("{} {} {}", pair.0, if answered(pair) { "-" } else { ">" }, pair.1))
        .collect();
    named.join(", ")
}

fn fig_4_as_printed(me: u64, j: u64, p: u64) -> Option<u64> {
    let q = p.next_power_of_two();
    let shift = (q - p) / 2;
    let virtual_destination = ((me + shift) % p) ^ j;
    let destination =
        virtual_destination.checked_sub(shift).unwrap_or_else(|| virtual_destination + q - shift);
    (destination < p).then_some(destination)
}

/// Returns whether in step j, partners in Fig. 4 are mutual, and none is a processor's own partner.
fn is_mutual(j: u64, p: u64) -> bool {
    let partner = |me| fig_4_as_printed(me, j, p);
    (0..p).all(|me| partner(me).is_none_or(|to| to != me && partner(to) == Some(me)))
}

/// Fits alpha and beta to the paper's times by least squares: `T = steps alpha + L S beta`, where L
/// is the message length and S the sum of contention factors. A sample consists of the number of
/// steps, `L S`, and T in seconds. Returns alpha and beta in µs, and the mean of `|fitted /
/// measured - 1|`. If `is_weighted`, each sample has the weight 1/T. Without weights, the cell with
/// 13.6 s would dominate and make alpha negative.
fn fit_line(samples: &[[f64; 3]], is_weighted: bool) -> [f64; 3] {
    // These are the sums in the normal equations, for the columns `steps` (s) and `bytes` (b).
    let (mut ss, mut sb, mut bb, mut st, mut bt) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for [steps, bytes, seconds] in samples {
        let w = if is_weighted { 1.0 / seconds } else { 1.0 };
        let (s, b, t) = (steps * w, bytes * w, seconds * w);
        ss += s * s;
        sb += s * b;
        bb += b * b;
        st += s * t;
        bt += b * t;
    }
    let determinant = ss * bb - sb * sb;
    let (alpha, beta) = ((st * bb - bt * sb) / determinant, (bt * ss - st * sb) / determinant);
    let error =
        |[steps, bytes, seconds]: &[f64; 3]| ((steps * alpha + bytes * beta) / seconds - 1.0).abs();
    let mean = samples.iter().map(error).sum::<f64>() / samples.len() as f64;
    [alpha * 1e6, beta * 1e6, mean]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_a_reply_is_not_an_exchange() {
        assert_eq!(exchanges(&[(0, 1), (1, 0), (2, 3), (3, 4)]), "0 - 1, 2 > 3, 3 > 4");
        let pairs = Pairs(vec![vec![(0, 1), (1, 0)], vec![(0, 1), (1, 2), (2, 0)], vec![]]);
        assert_eq!((pairs.0.len(), pairs.mutual_steps()), (3, 2));
    }

    #[test]
    fn printed_fig_4_deadlocks_in_30_of_31_steps_on_20_processors() {
        assert_eq!((1..32).filter(|j| !is_mutual(*j, 20)).count(), 30);
    }

    #[test]
    fn fig_4_equals_fig_1_for_a_power_of_two() {
        assert!((1..16).all(|j| is_mutual(j, 16)));
        assert_eq!(fig_4_as_printed(5, 3, 16), Some(6));
    }

    #[test]
    fn exact_times_give_their_parameters_with_any_weight() {
        let sample = |i: i32| {
            let (steps, bytes) = (f64::from(i), f64::from(i * i));
            [steps, bytes, (steps * 100.0 + bytes * 0.25) / 1e6]
        };
        let samples: Vec<[f64; 3]> = (1..6).map(sample).collect();
        for is_weighted in [false, true] {
            let [alpha, beta, error] = fit_line(&samples, is_weighted);
            assert!((alpha - 100.0).abs() < 1e-6 && (beta - 0.25).abs() < 1e-9);
            assert!(error < 1e-9);
        }
    }
}
