//! Estimates the remaining time of a batch. Run time is assumed to be proportional to a cost, which
//! is estimated from the number of messages and the model. Each time a case ends, there is a new
//! estimate. If the estimated remaining time passes before another case ends, there is no estimate.

use crate::case::Case;
use crate::plan_group::plan_groups;
use std::time::Duration;
use swapmeet_core::cost::model::ModelKind;

#[derive(Debug, Default)]
pub struct Forecast {
    /// The estimated cost of each case. It is set to 0 when the case has ended.
    costs: Vec<f64>,
    cases: usize,
    open: f64,
    ended: f64,
    /// The time from the start of the batch until the most recent end of a case.
    last: Duration,
}

impl Forecast {
    pub fn new(cases: &[Case]) -> Self {
        let mut costs = vec![0.0; cases.len()];
        for group in plan_groups(cases) {
            let of_group = &cases[group.cases.clone()];
            let models: Vec<_> = of_group.iter().map(|case| case.machine.model).collect();
            costs[group.cases.clone()]
                .copy_from_slice(&group_costs(group.schedule_cost(), &models));
        }
        let open = costs.iter().sum();
        Self { cases: costs.len(), costs, open, ended: 0.0, last: Duration::ZERO }
    }

    /// Records that a case has ended at the time `elapsed` after the start. Only the first call for
    /// each case counts.
    pub fn ended(&mut self, case: usize, elapsed: Duration) {
        if let Some(cost) = self.costs.get_mut(case).filter(|cost| **cost > 0.0) {
            self.cases -= 1;
            self.open -= *cost;
            self.ended += std::mem::take(cost);
            self.last = elapsed;
        }
    }

    /// Returns the estimated remaining time, counted from the time `elapsed` after the start.
    /// Returns `None` if there is no estimate.
    pub fn left(&self, elapsed: Duration) -> Option<Duration> {
        if self.cases == 0 || self.ended <= 0.0 {
            return None;
        }
        let more = self.last.as_secs_f64() * self.open.max(0.0) / self.ended;
        let end = self.last.checked_add(Duration::try_from_secs_f64(more).ok()?)?;
        end.checked_sub(elapsed).filter(|left| !left.is_zero())
    }
}

/// Returns the cost of each case of a group: an equal share of the schedule's cost, plus the cost
/// of its model.
fn group_costs(schedule: u64, models: &[&ModelKind]) -> Vec<f64> {
    let share = 1.0 / models.len() as f64;
    models.iter().map(|model| schedule as f64 * (share + model.pricing_time)).collect()
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
    /// The schedule costs 1000. Each of the two cases has half of this, plus the cost of its own
    /// pricing.
    #[test]
    fn costs_are_those_of_the_schedule_times_the_work_of_the_model() {
        let models = |names: &[&str]| -> Vec<&ModelKind> {
            let named = |name: &&str| models().iter().find(|model| model.name == *name).copied();
            names.iter().filter_map(named).collect()
        };
        assert_eq!(group_costs(1000, &models(&["wormhole", "loggp"])), [550.0, 4500.0]);
        assert_eq!(group_costs(0, &models(&["fluid"])), [0.0]);
    }
}
