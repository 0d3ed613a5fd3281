//! Jouppi et al.: the factor by which twisting the torus of TPU v4 speeds up an all-to-all.

use crate::bench::{Bench, ReproduceError};
use crate::data::{PaperTexts, read};
use crate::report::{Table, Verdict};
use serde::Deserialize;
use swapmeet_core::network::multipath::MultipathLoad;
use swapmeet_core::network::topology::parse;

/// A machine on which only bytes on links take time.
const MACHINE: &str = "free:model=wormhole,byte_us=1,ports=all";

#[derive(Debug, Deserialize)]
struct TpuV4 {
    #[serde(flatten)]
    words: PaperTexts,
    geometry: Vec<Geometry>,
}

#[derive(Debug, Deserialize)]
struct Geometry {
    sides: String,
    /// The throughput on the twisted torus relative to that on the torus.
    measured: f64,
}

impl Geometry {
    /// Returns the torus and the twisted torus.
    fn networks(&self) -> [String; 2] {
        ["torus", "twisted-torus"].map(|family| format!("{family}:{}", self.sides))
    }
}

/// Returns all tables that can be rerun.
pub(crate) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let paper: TpuV4 = read("tpu-v4", include_str!("../papers/tpu-v4.toml"))?;
    let mut table = paper.words.table("Twisting");
    for geometry in &paper.geometry {
        let mut max_loads = Vec::new();
        for spec in geometry.networks() {
            let load = max_link_load(&spec)?;
            table.add(
                (&spec, "messages on the most loaded link"),
                "",
                format!("{load:.2}"),
                Verdict::NotGiven,
                "",
            );
            max_loads.push(load);
        }
        let gain = max_loads[0] / max_loads[1];
        let why =
            "the paper's value is measured, with start-ups and hosts; ours is the limit by links";
        let verdict = Verdict::measured(geometry.measured, gain, 2);
        table.add(
            (&geometry.sides, "gain"),
            format!("{:.2}", geometry.measured),
            format!("{gain:.3}"),
            verdict,
            why,
        );
        for algorithm in ["linear", "pairwise"] {
            let [torus, twisted] =
                geometry.networks().map(|spec| bench.row(&spec, algorithm, "uniform:1", MACHINE));
            let gain = torus?.time_us.unwrap_or(f64::NAN) / twisted?.time_us.unwrap_or(f64::NAN);
            let column = format!("gain of `{algorithm}`, one route per message");
            table.add((&geometry.sides, &column), "", format!("{gain:.3}"), Verdict::NotGiven, "");
        }
    }
    Ok(vec![table, paper.words.left_out()])
}

/// Returns the maximum link load of an all-to-all in which each message is split evenly over all of
/// its shortest routes.
fn max_link_load(spec: &str) -> Result<f64, ReproduceError> {
    let wrong = |message: String| ReproduceError::Data { paper: "tpu-v4", message };
    let network = parse(spec).map_err(|e| wrong(e.to_string()))?;
    let load = MultipathLoad::of_all_to_all(network.as_ref());
    load.map(|load| load.max_load).ok_or_else(|| wrong(format!("{spec} has too many links")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values were calculated by hand. On the 4x4x8 torus, each link of the long ring of 8
    /// carries 128 messages. In the twisted torus, the messages of each node have 440 hops, which
    /// six links share. The ratio is 128 / (440 / 6) = 1.745. On 4x8x8, it is 256 / (1104 / 6) =
    /// 1.391.
    #[test]
    fn the_maximum_link_load_matches_the_distances() {
        for (sides, gain) in [("4x4x8", 128.0 / (440.0 / 6.0)), ("4x8x8", 256.0 / (1104.0 / 6.0))] {
            let [torus, twisted] = Geometry { sides: sides.to_owned(), measured: 1.0 }.networks();
            let found = max_link_load(&torus).unwrap() / max_link_load(&twisted).unwrap();
            assert!((found - gain).abs() < 1e-9, "{sides}: {found}");
        }
    }
}
