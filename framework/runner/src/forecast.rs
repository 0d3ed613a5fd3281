//! Estimates the remaining time of a batch. It assumes that the run time of a case is proportional
//! to its estimated cost, which depends on the number of messages and on the model.
//!
//! The estimated end of the batch is updated when a case ends. Between updates, the remaining time
//! is the time until the estimated end. If the estimated end passes before another case ends, there
//! is no estimate until a case ends.

use crate::case::Case;
use crate::unit::units;
use std::time::Duration;

/// The pending cases of a batch, weighted by their estimated costs.
#[derive(Debug, Default)]
pub struct Forecast {
    /// Estimated cost per case; 0 after the case has ended.
    costs: Vec<f64>,
    cases: usize,
    open: f64,
    ended: f64,
    /// Time from the start of the batch until the most recent end of a case.
    last: Duration,
}

impl Forecast {
    /// Creates the estimate of a batch in which no case has ended yet.
    pub fn new(cases: &[Case]) -> Self {
        let mut costs = vec![0.0; cases.len()];
        for unit in units(cases) {
            let models: Vec<&str> =
                cases[unit.cases.clone()].iter().map(|case| case.machine.model.name).collect();
            costs[unit.cases.clone()].copy_from_slice(&unit_costs(unit.schedule_cost(), &models));
        }
        let open = costs.iter().sum();
        Self { cases: costs.len(), costs, open, ended: 0.0, last: Duration::ZERO }
    }

    /// Records that a case has ended, at the time `elapsed` after the start of the batch. Repeated
    /// calls for a case have no effect.
    pub fn ended(&mut self, case: usize, elapsed: Duration) {
        if let Some(cost) = self.costs.get_mut(case).filter(|cost| **cost > 0.0) {
            self.cases -= 1;
            self.open -= *cost;
            self.ended += std::mem::take(cost);
            self.last = elapsed;
        }
    }

    /// Returns the remaining time, at the time `elapsed` after the start of the batch. Returns
    /// `None` if no case or every case has ended, or if the estimated end has passed.
    pub fn left(&self, elapsed: Duration) -> Option<Duration> {
        if self.cases == 0 || self.ended <= 0.0 {
            return None;
        }
        let more = self.last.as_secs_f64() * self.open.max(0.0) / self.ended;
        let end = self.last.checked_add(Duration::try_from_secs_f64(more).ok()?)?;
        end.checked_sub(elapsed).filter(|left| !left.is_zero())
    }
}

/// Returns the estimated costs of cases with these models that share a schedule. `schedule` is the
/// cost of planning and tracing the schedule once, which is divided among the cases.
fn unit_costs(schedule: u64, models: &[&str]) -> Vec<f64> {
    let share = 1.0 / models.len() as f64;
    models.iter().map(|model| schedule as f64 * (share + evaluation_time(model))).collect()
}

/// Returns the time for evaluating a schedule with a model, divided by the time for planning and
/// tracing it. The event-driven models simulate every message of each case. The other models
/// calculate a time for each step from statistics that all cases of a schedule share. The values
/// were measured with the algorithm `pex` and uniform blocks on `torus:32x32`.
fn evaluation_time(model: &str) -> f64 {
    match model {
        "flat" => 0.5,
        "fluid" => 2.0,
        "loggp" => 4.0,
        _ => 0.05,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_core::cost::model::models;

    fn forecast(costs: &[f64]) -> Forecast {
        let open = costs.iter().sum();
        Forecast {
            costs: costs.to_vec(),
            cases: costs.len(),
            open,
            ended: 0.0,
            last: Duration::ZERO,
        }
    }

    const fn after(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn open_cases_take_as_long_per_cost_as_ended_ones() {
        let mut forecast = forecast(&[1.0, 3.0, 100.0]);
        assert_eq!(forecast.left(after(5)), None, "nothing has ended");
        forecast.ended(0, after(1));
        forecast.ended(0, after(9));
        assert_eq!(forecast.left(after(1)), Some(after(103)));
        forecast.ended(1, after(8));
        assert_eq!(forecast.left(after(8)), Some(after(200)));
        forecast.ended(2, after(9));
        forecast.ended(7, after(9));
        assert_eq!(forecast.left(after(9)), None, "all has ended");
    }

    #[test]
    fn the_remaining_time_decreases_and_is_unknown_if_a_case_hangs() {
        let mut forecast = forecast(&[1.0, 4.0]);
        forecast.ended(0, after(2));
        assert_eq!(
            [2, 4, 9].map(|t| forecast.left(after(t))),
            [8, 6, 1].map(|left| Some(after(left)))
        );
        assert_eq!([10, 1000].map(|t| forecast.left(after(t))), [None, None]);
    }
    /// The schedule costs 1000. Each of the two cases pays half of it, and its own evaluation.
    #[test]
    fn costs_are_those_of_the_schedule_times_the_work_of_the_model() {
        assert_eq!(unit_costs(1000, &["wormhole", "loggp"]), [550.0, 4500.0]);
        assert_eq!(unit_costs(0, &["fluid"]), [0.0]);
        let known: Vec<&str> = models().iter().map(|model| model.name).collect();
        for name in ["flat", "fluid", "loggp"] {
            assert!(known.contains(&name) && evaluation_time(name) > evaluation_time("wormhole"));
        }
    }
}
