//! The optimum of a line. It is known from rows of `run --optimum`.

use super::rows::ComparedRow;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LineOptimum {
    pub mean_us: f64,
    /// The mean time of the rows that have an optimum, divided by `mean_us`.
    pub ratio: f64,
    pub gap: f64,
}

impl LineOptimum {
    /// Returns `None` if no row has an optimum, or if the sum of the optima is 0.
    pub(super) fn of(rows: &[&ComparedRow]) -> Option<Self> {
        let known = || rows.iter().filter_map(|r| Some((r.time_us?, r.optimum_us?, r.optimum_gap)));
        let (count, time, optimum) =
            known().fold((0.0, 0.0, 0.0), |(n, time, sum), (t, o, _)| (n + 1.0, time + t, sum + o));
        let gap = known().filter_map(|(.., gap)| gap).fold(0.0, f64::max);
        (optimum > 0.0).then(|| Self { mean_us: optimum / count, ratio: time / optimum, gap })
    }
}
