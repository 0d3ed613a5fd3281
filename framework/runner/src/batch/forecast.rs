//! How long a batch will still take, if what is open takes as long for its estimated cost as what has ended took.

use super::unit::units;
use crate::case::Case;
use std::time::Duration;

/// What of a batch is open, weighed by what its cases are estimated to cost.
#[derive(Debug, Default)]
pub struct Forecast {
    /// Of each case; 0 once it has ended.
    costs: Vec<f64>,
    cases: usize,
    open: f64,
    ended: f64,
}

impl Forecast {
    /// For cases of which none has ended.
    pub fn new(cases: &[Case]) -> Self {
        let mut costs = vec![0.0; cases.len()];
        for unit in units(cases) {
            // Cases that share a schedule end together.
            let each = unit.cost as f64 / unit.cases.len() as f64;
            unit.cases.iter().for_each(|case| costs[*case] = each);
        }
        let open = costs.iter().sum();
        Self { cases: costs.len(), costs, open, ended: 0.0 }
    }

    /// A case has ended. To say so twice changes nothing.
    pub fn ended(&mut self, case: usize) {
        if let Some(cost) = self.costs.get_mut(case).filter(|cost| **cost > 0.0) {
            self.cases -= 1;
            self.open -= *cost;
            self.ended += std::mem::take(cost);
        }
    }

    /// The time left, so long after the batch began; `None` while nothing has ended, and once all has.
    pub fn left(&self, elapsed: Duration) -> Option<Duration> {
        let factor = self.open.max(0.0) / self.ended;
        (self.cases > 0 && self.ended > 0.0)
            .then(|| Duration::try_from_secs_f64(elapsed.as_secs_f64() * factor).ok())
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(costs: &[f64]) -> Forecast {
        Forecast { costs: costs.to_vec(), cases: costs.len(), open: costs.iter().sum(), ended: 0.0 }
    }

    #[test]
    fn what_is_open_takes_as_long_for_its_cost_as_what_has_ended() {
        let mut forecast = forecast(&[1.0, 3.0, 100.0]);
        let after = |seconds| Duration::from_secs(seconds);
        assert_eq!(forecast.left(after(5)), None, "nothing has ended");
        forecast.ended(0);
        forecast.ended(0);
        assert_eq!(forecast.left(after(1)), Some(after(103)));
        forecast.ended(1);
        assert_eq!(forecast.left(after(8)), Some(after(200)));
        forecast.ended(2);
        forecast.ended(7);
        assert_eq!(forecast.left(after(9)), None, "all has ended");
    }
}
