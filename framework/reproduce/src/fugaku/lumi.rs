//! PICO's measurements on LUMI, a dragonfly. The switches of a job are not published, so ranks are
//! placed at random several times. The smallest and the largest predicted time of a case are a
//! band, and the tables say how often the measured time lies in it.

use super::judge::Comparison;
use super::models::{Model, rounded, samples};
use super::{Median, comparisons, counterparts, read_medians};
use crate::bench::{Bench, ReproduceError};
use crate::data::PaperTexts;
use crate::report::{Kind, Table, Verdict, number};
use swapmeet_bridges::fit::linear::{error_factor, fit_linear};
use swapmeet_bridges::import::LUMI_COUNTERPARTS;

const MEASURED: &str = include_str!("../../../../results/measured/lumi.csv");

/// The number of random placements that are tried for each job.
const PLACEMENTS: u32 = 10;

/// A job on LUMI in which PICO measured collectives.
struct Job {
    network: &'static str,
    /// The groups of the dragonfly and the chassis in which the job's nodes are.
    nodes: &'static str,
    /// Whether all nodes are in one group of the dragonfly. Parameters are fitted to these jobs.
    is_one_group: bool,
}

const fn job(network: &'static str, nodes: &'static str, is_one_group: bool) -> Job {
    Job { network, nodes, is_one_group }
}

/// All jobs with one rank per node. PICO's archives list their nodes.
const JOBS: [Job; 9] = [
    job("dragonfly:1x2x2", "4 in one chassis", true),
    job("dragonfly:1x2x4", "8 in one chassis", true),
    job("dragonfly:1x4x4", "16 in one group, in 2 chassis", true),
    job("dragonfly:1x8x4", "32 in one group, in 3 chassis", true),
    job("dragonfly:2x2x2", "8 in 2 groups: 4 and 4", false),
    job("dragonfly:4x2x1", "8 in 4 groups: 3, 3, 1 and 1", false),
    job("dragonfly:2x2x4", "16 in 2 groups: 15 and 1", false),
    job("dragonfly:10x5x2", "100 in 13 groups", false),
    job("dragonfly:20x10x5", "1000 in 22 groups", false),
];

/// The fitted parameters of the model `wormhole`.
const PARAMETERS: [&str; 6] =
    ["startup_us", "byte_us", "hop_us", "reduce_byte_us", "rendezvous_us", "eager_byte_us"];

/// The sizes in bytes at which the protocol of messages may change. The fit selects the size with
/// the smallest error.
const RENDEZVOUS: [u64; 7] = [4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144];

/// Returns whether parameters are fitted to a median: every second size of the jobs in one group.
fn is_fitted(median: &Median) -> bool {
    let is_one_group = |job: &Job| job.is_one_group && job.network == median.shape;
    median.has_fitted_size() && JOBS.iter().any(is_one_group)
}

/// The predictions for a measured case: one comparison for each random placement. The predicted
/// times form a band, from the smallest to the largest.
struct Band {
    placements: Vec<Comparison>,
}

impl Band {
    fn median(&self) -> &Median {
        &self.placements[0].median
    }

    /// Returns the two ends of the band: the smallest and the largest time that a model predicts.
    fn ends(&self, model: usize) -> (f64, f64) {
        let times = self.placements.iter().filter_map(|cell| cell.predicted_us[model]);
        times.fold((f64::INFINITY, 0.0), |(low, high), us| (us.min(low), us.max(high)))
    }

    /// Returns the time within the band that is nearest to the measured time.
    fn nearest(&self, model: usize) -> f64 {
        let (low, high) = self.ends(model);
        self.median().time_us.clamp(low, high)
    }
}

/// Returns the tables of LUMI.
pub(super) fn tables(bench: &Bench<'_>, words: &PaperTexts) -> Result<Vec<Table>, ReproduceError> {
    let medians = read_medians("lumi.csv", MEASURED, "")?;
    let fitted: Vec<Median> = medians.iter().filter(|m| is_fitted(m)).cloned().collect();
    let models = models(bench, &fitted)?;

    // Predict all times for each placement, and collect the placements of a case.
    let mut bands: Vec<Band> = Vec::new();
    for seed in 0..PLACEMENTS {
        let topology = |median: &Median| format!("{},place=random:{seed}", median.shape);
        let cells = comparisons(bench, &medians, &models, &topology)?;
        bands.resize_with(cells.len(), || Band { placements: Vec::new() });
        bands.iter_mut().zip(cells).for_each(|(band, cell)| band.placements.push(cell));
    }

    // Add the tables of counterparts, jobs and parameters.
    let mut tables = vec![counterparts(words.table("LUMI: counterparts"), &LUMI_COUNTERPARTS)];
    let mut jobs = words.table("LUMI: jobs");
    for Job { network, nodes, .. } in &JOBS {
        jobs.add((network, ""), nodes, "", Verdict::NotGiven);
    }
    let mut parameters = words.table("LUMI: parameters");
    for model in &models {
        parameters.add_ours((model.name, ""), &model.machine);
    }
    tables.extend([jobs, parameters]);

    // Add the table of bands, with a line for the fitted sizes, one for the other sizes of the same
    // jobs, and one for each other job. Then add a table of all cases.
    let mut summary = words.table("LUMI: bands");
    let mut add = |name: &str, kind: Kind, covers: &dyn Fn(&Median) -> bool| {
        summary.kind = kind;
        let covered: Vec<&Band> = bands.iter().filter(|band| covers(band.median())).collect();
        for (model, Model { name: machine, .. }) in models.iter().enumerate() {
            let is_inside = |band: &&&Band| same_time(band.nearest(model), band.median().time_us);
            let inside = covered.iter().filter(is_inside).count();
            let times = covered.iter().map(|band| (band.nearest(model), band.median().time_us));
            let text = format!(
                "{inside} of {} in the band, error factor {}",
                covered.len(),
                number(error_factor(times))
            );
            summary.add_ours((name, machine), text);
        }
    };
    let is_one_group = |m: &Median| JOBS.iter().any(|j| j.is_one_group && j.network == m.shape);
    add("one group, fitted sizes", Kind::Fitted, &is_fitted);
    let is_other = |m: &Median| is_one_group(m) && !is_fitted(m);
    add("one group, other sizes", Kind::Independent, &is_other);
    add("several groups", Kind::Independent, &|m| !is_one_group(m));
    for job in &JOBS {
        if !job.is_one_group {
            add(job.network, Kind::Independent, &|m| m.shape == job.network);
        }
    }
    tables.push(summary);
    tables.push(cases(words.table("LUMI: medians"), &bands, &models));
    Ok(tables)
}

/// Returns whether two times are equal in their printed digits.
fn same_time(a: f64, b: f64) -> bool {
    format!("{a:.1}") == format!("{b:.1}")
}

/// Fills the table of all cases with the measured times and the bands of the fitted machine.
fn cases(mut table: Table, bands: &[Band], models: &[Model]) -> Table {
    let model = models.len() - 1;
    for Job { network, .. } in &JOBS {
        for band in bands.iter().filter(|band| band.median().shape == *network) {
            let median = band.median();
            table.kind = if is_fitted(median) { Kind::Fitted } else { Kind::Independent };
            let (low, high) = band.ends(model);
            let nearest = band.nearest(model);
            let verdict = match same_time(nearest, median.time_us) {
                true => Verdict::WithinBound,
                false => Verdict::measured(median.time_us, nearest, 1),
            };
            let row = format!("{}, {}", median.algorithm, median.workload);
            let ours = match same_time(low, high) {
                true => format!("{low:.1}"),
                false => format!("{low:.1} to {high:.1}"),
            };
            table.add((&row, network), format!("{:.1}", median.time_us), ours, verdict);
        }
    }
    table
}

/// Returns two models: a machine with published parameters, and a machine whose parameters are
/// fitted to the medians `fitted`.
fn models(bench: &Bench<'_>, fitted: &[Median]) -> Result<Vec<Model>, ReproduceError> {
    // A single run gives the coefficients of all parameters, for all sizes at which the protocol
    // may change.
    let base = |bytes: &u64| format!("free:hops=mean,rendezvous_bytes={bytes}");
    let unit = |bytes| PARAMETERS.map(|name| format!("{},{name}=1", base(bytes)));
    let units: Vec<String> = RENDEZVOUS.iter().flat_map(unit).collect();
    let all = samples(bench, fitted, &units, &|median| median.shape.clone())?;
    let fit = |(i, bytes): (usize, &u64)| {
        let mut samples = all.clone();
        for sample in &mut samples {
            let range = i * PARAMETERS.len()..(i + 1) * PARAMETERS.len();
            sample.coefficients = sample.coefficients[range].to_vec();
        }
        let costs = fit_linear(&samples);
        let error = error_factor(samples.iter().map(|s| (s.predicted(&costs), s.time_us)));
        (error, *bytes, costs)
    };
    let fits = RENDEZVOUS.iter().enumerate().map(fit);
    let (_, bytes, costs) = fits.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
    let values: Vec<String> = PARAMETERS
        .iter()
        .zip(&costs)
        .map(|(name, cost)| format!("{name}={}", rounded(*cost)))
        .collect();
    // The published parameters include neither a start-up time nor a time for additions. Take these
    // two values from the fit.
    let borrowed = format!("{},{}", values[0], values[3]);
    Ok(vec![
        Model { name: "slingshot-11", machine: format!("slingshot-11:{borrowed}"), runs: |_| true },
        Model {
            name: "fitted",
            machine: format!("{},{}", base(&bytes), values.join(",")),
            runs: |_| true,
        },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_median_belongs_to_a_job() {
        let medians = read_medians("lumi.csv", MEASURED, "").unwrap();
        assert!(medians.iter().all(|m| JOBS.iter().any(|job| job.network == m.shape)));
        assert!(JOBS.iter().all(|job| medians.iter().any(|m| m.shape == job.network)));
    }

    /// Three placements predict 2, 5 and 3 us, so the band is from 2 to 5 us.
    #[test]
    fn the_band_is_that_of_all_placements() {
        let measured = |time_us: f64| {
            let [shape, collective] = ["dragonfly:1x2x2", "reduce"].map(str::to_owned);
            let [algorithm, workload] = ["a", "reduce/uniform:64"].map(str::to_owned);
            let median =
                Median { shape, collective, algorithm, workload, buffer_bytes: 64, time_us };
            let cell =
                |us: f64| Comparison { median: median.clone(), predicted_us: vec![Some(us)] };
            Band { placements: [2.0, 5.0, 3.0].map(cell).into() }
        };
        assert_eq!(measured(1.0).ends(0), (2.0, 5.0));
        assert_eq!([1.0, 4.0, 8.0].map(|us| measured(us).nearest(0)), [2.0, 4.0, 5.0]);
    }
}
