//! Jouppi et al.: how much faster an all-to-all is on a twisted torus of TPU v4 than on the torus
//! without a twist.

use crate::bench::{Bench, ReproduceError};
use crate::data::{PaperTexts, read};
use crate::report::{Table, Verdict};
use serde::Deserialize;
use swapmeet_core::network::multipath::MultipathLoad;
use swapmeet_core::network::topology::parse;

/// A machine on which only the transfer of bytes on links takes time.
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
    /// The measured throughput on the twisted torus divided by that on the torus without a twist.
    measured: f64,
}

impl Geometry {
    /// Returns the specs of the torus without a twist and of the twisted torus.
    fn networks(&self) -> [String; 2] {
        ["torus", "twisted-torus"].map(|family| format!("{family}:{}", self.sides))
    }
}

/// Returns all tables of the paper that can be reproduced.
pub(crate) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let paper: TpuV4 = read("tpu-v4", include_str!("../papers/tpu-v4.toml"))?;
    let mut table = paper.words.table("Twisting");
    for geometry in &paper.geometry {
        let mut max_loads = Vec::new();
        for spec in geometry.networks() {
            let load = max_link_load(&spec)?;
            table.add_ours((&spec, "messages on the most loaded link"), format!("{load:.2}"));
            max_loads.push(load);
        }
        let gain = max_loads[0] / max_loads[1];
        let why =
            "the paper's value is measured, with start-ups and hosts; ours is the limit by links";
        let verdict = Verdict::measured(geometry.measured, gain, 2);
        table
            .add(
                (&geometry.sides, "gain"),
                format!("{:.2}", geometry.measured),
                format!("{gain:.3}"),
                verdict,
            )
            .because(why);
        for algorithm in ["linear", "pairwise"] {
            let [torus, twisted] =
                geometry.networks().map(|spec| bench.row(&spec, algorithm, "uniform:1", MACHINE));
            let gain = torus?.time_us.unwrap_or(f64::NAN) / twisted?.time_us.unwrap_or(f64::NAN);
            let column = format!("gain of `{algorithm}`, one route per message");
            table.add_ours((&geometry.sides, &column), format!("{gain:.3}"));
        }
    }
    Ok(vec![table, paper.words.left_out()])
}

/// Returns the maximum link load of an all-to-all. Each message is split evenly among all of its
/// shortest routes.
fn max_link_load(spec: &str) -> Result<f64, ReproduceError> {
    let wrong = |message: String| ReproduceError::Data { paper: "tpu-v4", message };
    let network = parse(spec).map_err(|e| wrong(e.to_string()))?;
    let load = MultipathLoad::of_all_to_all(network.as_ref());
    load.map(|load| load.max_load).ok_or_else(|| wrong(format!("{spec} has too many links")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values were calculated by hand. On the 4x4x8 torus, each link of the long rings
    /// (8 nodes) carries 128 messages. On the twisted torus, the messages of a node have 440 hops
    /// in total, which are divided among six links. The ratio is 128 / (440 / 6) = 1.745. For
    /// 4x8x8, it is 256 / (1104 / 6) = 1.391.
    #[test]
    fn the_maximum_link_load_matches_the_distances() {
        for (sides, gain) in [("4x4x8", 128.0 / (440.0 / 6.0)), ("4x8x8", 256.0 / (1104.0 / 6.0))] {
            let [torus, twisted] = Geometry { sides: sides.to_owned(), measured: 1.0 }.networks();
            let found = max_link_load(&torus).unwrap() / max_link_load(&twisted).unwrap();
            assert!((found - gain).abs() < 1e-9, "{sides}: {found}");
        }
    }
}
