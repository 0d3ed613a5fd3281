//! Foldings of the tori on which PICO measured. A job on Fugaku requests a logical torus of a
//! certain shape, such as 4x4x4. A folding maps each node of this torus to a node of Fugaku's
//! network, which is called Tofu. The measurements that PICO published do not state which nodes of
//! Tofu a job had. So predictions are made for several networks of each shape: for the logical
//! torus itself, and for one or more Tofu networks onto which the torus can be folded.

use super::judge::{Comparison, error_factors, ordered_pairs, regret};
use super::models::Model;
use super::{Median, comparisons};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Kind, Table, number};

/// The networks that are tried for each shape, with the logical torus first. In each dimension, a
/// Tofu network has at most as many units as Fugaku (24, 23 and 24).
const NETWORKS: [(&str, &[&str]); 4] = [
    ("4x4x4", &["torus:4x4x4", "tofu:2x2x2"]),
    ("8x8x8", &["torus:8x8x8", "tofu:4ox3ox4o"]),
    ("64x64", &["torus:64x64", "tofu:16x16x2", "tofu:16ox16ox2o", "tofu:8x6x8"]),
    ("32x256", &["torus:32x256", "tofu:16x16x3", "tofu:8x16x6", "tofu:8ox16ox6o"]),
];

/// A shape on a network, with one model's predictions for the algorithms of the MPI library.
pub(super) struct Folding {
    pub shape: &'static str,
    pub network: &'static str,
    cells: Vec<Comparison>,
}

impl Folding {
    /// Predicts the times of all shapes on all networks with one model, whose index is `number`.
    /// `on_tori` has the predictions of all models on logical tori (the tori that the jobs see).
    pub(super) fn all(
        bench: &Bench<'_>,
        medians: &[Median],
        (model, number): (&Model, usize),
        on_tori: &[Comparison],
    ) -> Result<Vec<Self>, ReproduceError> {
        let mut all = Vec::new();
        for (shape, networks) in NETWORKS {
            let is_covered = |m: &Median| m.shape == shape && m.is_of_library();
            let of_shape: Vec<Median> = medians.iter().filter(|m| is_covered(m)).cloned().collect();
            for network in networks {
                let cells = if network.starts_with("torus") {
                    let cells = on_tori.iter().filter(|cell| is_covered(&cell.median));
                    let of_model = |cell: &Comparison| Comparison {
                        median: cell.median.clone(),
                        predicted_us: vec![cell.predicted_us[number]],
                    };
                    cells.map(of_model).collect()
                } else {
                    let topology = |_: &Median| format!("{network},place=fold:{shape}");
                    comparisons(bench, &of_shape, std::slice::from_ref(model), &topology)?
                };
                all.push(Self { shape, network, cells });
            }
        }
        Ok(all)
    }

    /// Returns the comparisons for the sizes to which parameters are fitted or, if `are_fitted` is
    /// false, for all other sizes.
    pub(super) fn cells(&self, are_fitted: bool) -> Vec<Comparison> {
        let is_covered = |cell: &&Comparison| cell.median.has_fitted_size() == are_fitted;
        self.cells.iter().filter(is_covered).cloned().collect()
    }
}

/// Returns the folding of a shape whose predictions for the fitted sizes have the smallest error
/// factor. The other sizes then show how good this folding is.
pub(super) fn best<'a>(foldings: &'a [Folding], shape: &str) -> Option<&'a Folding> {
    let factor =
        |folding: &&Folding| error_factors(&folding.cells(true), 0).unwrap_or(f64::INFINITY);
    let of_shape = foldings.iter().filter(|folding| folding.shape == shape);
    of_shape.min_by(|a, b| factor(a).total_cmp(&factor(b)))
}

/// Fills a table with three measures of the predictions of each folding, for the fitted sizes and
/// for the other sizes.
pub(super) fn table(mut table: Table, foldings: &[Folding]) -> Table {
    for folding in foldings {
        let name = format!("{} on {}", folding.shape, folding.network);
        let is_best = best(foldings, folding.shape).is_some_and(|best| std::ptr::eq(best, folding));
        let why =
            if is_best { "smallest error factor of the shape for the fitted sizes" } else { "" };
        for (kind, sizes, are_fitted) in
            [(Kind::Fitted, "fitted sizes", true), (Kind::Independent, "other sizes", false)]
        {
            table.kind = kind;
            let cells = folding.cells(are_fitted);
            let mut add = |what: &str, value: Option<String>| {
                if let Some(value) = value {
                    let column = format!("{what}, {sizes}");
                    table.add_ours((&name, &column), value).because(why);
                }
            };
            add("error factor", error_factors(&cells, 0).map(number));
            let pairs = ordered_pairs(&cells, 0).map(|(right, all)| format!("{right} of {all}"));
            add("ordered pairs", pairs);
            add("mean regret", regret(&cells, 0).map(|(mean, _)| number(mean)));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folding whose predictions for a fitted size (4 bytes) and another size (32 bytes) differ
    /// from the measured times by these factors.
    fn folding(shape: &'static str, network: &'static str, factors: [f64; 2]) -> Folding {
        let cell = |(buffer_bytes, factor): (u64, f64)| {
            let [collective, algorithm, workload] =
                ["broadcast", "chain-broadcast", "broadcast/uniform:4"].map(str::to_owned);
            let (shape, time_us) = (shape.to_owned(), 2.0);
            let median = Median { shape, collective, algorithm, workload, buffer_bytes, time_us };
            Comparison { median, predicted_us: vec![Some(factor * time_us)] }
        };
        Folding { shape, network, cells: [4, 32].into_iter().zip(factors).map(cell).collect() }
    }

    /// Only the fitted sizes may select a network, because the other sizes judge the selected
    /// network.
    #[test]
    fn only_fitted_sizes_select_a_network() {
        let foldings = [
            folding("4x4x4", "a", [1.5, 1.0]),
            folding("4x4x4", "b", [0.8, 3.0]),
            folding("8x8x8", "c", [1.0, 1.0]),
        ];
        let selected = best(&foldings, "4x4x4").unwrap();
        assert_eq!(selected.network, "b");
        let factor = error_factors(&selected.cells(false), 0).unwrap();
        assert!((factor - 3.0).abs() < 1e-12, "{factor}");
        assert!(best(&foldings, "64x64").is_none());
    }
}
