//! The experiments of Figs. 15 to 23, as runs. The figures themselves are graphs without numbers; what the paper says of them is in [`super::claims`].

use super::{ALGORITHMS, MACHINES, nodes};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use std::collections::BTreeMap;

/// Seeds of a random workload.
pub const SEEDS: u32 = 10;
/// Elements for all but one: the paper's "small number", which it doesn't give.
pub const REST: u64 = 1;
/// Other readings of it.
pub const OTHER_RESTS: [u64; 2] = [16, 96];
/// Mmax, in elements.
pub const SIZES: [u64; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
/// P where Mmax is varied.
pub const P: u64 = 64;
/// P where it is varied.
pub const SQUARES: [u64; 6] = [16, 25, 36, 49, 64, 100];

/// How a machine communicates: blocking, nonblocking with a single and with dual send buffers.
const MODES: [(&str, &str); 3] = [("b", ""), ("n1", ",mode=nonblocking"), ("n2", ",mode=nonblocking,buffers=2")];

/// tm, which the paper does not give: the presets' value, and two others.
pub const COMPOSING: [&str; 3] = ["0.02", "0", "0.1"];

/// Which time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// A machine of [`MACHINES`].
    pub machine: &'static str,
    /// A mode of [`MODES`].
    pub mode: &'static str,
    /// 1 or 2.
    pub pattern: u32,
    /// Nodes.
    pub p: u64,
    /// Elements of a spike.
    pub mmax: u64,
    /// Elements for all others.
    pub rest: u64,
    /// tm in us a byte, one of [`COMPOSING`].
    pub tm: &'static str,
    /// The paper's name.
    pub algorithm: &'static str,
}

/// Times in us, a seed each.
pub struct Times(BTreeMap<Key, Vec<f64>>);

impl Times {
    /// Runs all experiments.
    pub fn run(bench: &Bench<'_>) -> Result<Self, ReproduceError> {
        let mut times = Self(BTreeMap::new());
        for (machine, element) in MACHINES {
            for pattern in [1, 2] {
                for mmax in SIZES {
                    times.add(bench, machine, element, pattern, P, mmax, REST)?;
                    for rest in OTHER_RESTS.into_iter().filter(|rest| *rest < mmax) {
                        times.add(bench, machine, element, pattern, P, mmax, rest)?;
                    }
                }
            }
            for p in SQUARES.into_iter().filter(|p| *p != P) {
                times.add(bench, machine, element, 1, p, 1024, REST)?;
            }
            for (pattern, p) in [1, 2].into_iter().flat_map(|k| SQUARES.map(|p| (k, p))).filter(|(_, p)| *p != P) {
                times.add(bench, machine, element, pattern, p, 4096, REST)?;
            }
        }
        Ok(times)
    }

    #[expect(clippy::too_many_arguments, reason = "an experiment has as many parameters in the paper")]
    fn add(
        &mut self,
        bench: &Bench<'_>,
        machine: &'static str,
        element: u64,
        pattern: u32,
        p: u64,
        mmax: u64,
        rest: u64,
    ) -> Result<(), ReproduceError> {
        let name = if pattern == 1 { "one-spike" } else { "transpose" };
        let workload = format!("{name}:max={},rest={},element={element}", mmax * element, rest * element);
        // Two readings of what the paper leaves open are not varied at once.
        let composing = if rest == REST { &COMPOSING[..] } else { &COMPOSING[..1] };
        let settings: Vec<(&str, &str, &str)> =
            composing.iter().flat_map(|tm| MODES.iter().map(move |(mode, set)| (*tm, *mode, *set))).collect();
        let machines: Vec<String> =
            settings.iter().map(|(tm, _, set)| format!("{machine}:rearrange_byte_us={tm}{set}")).collect();
        let seeds = if pattern == 1 { SEEDS } else { 1 };
        for (algorithm, ours) in ALGORITHMS {
            let rows = bench.repeated(&nodes(p), ours, &workload, &machines, seeds)?;
            for (i, (tm, mode, _)) in settings.iter().enumerate() {
                let times = rows.iter().skip(i).step_by(settings.len()).filter_map(|r| r.time_us).collect();
                self.0.insert(Key { machine, mode, pattern, p, mmax, rest, tm, algorithm }, times);
            }
        }
        Ok(())
    }

    /// The times of an experiment.
    pub fn of(&self, key: Key) -> &[f64] {
        self.0.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Their mean.
    pub fn mean(&self, key: Key) -> f64 {
        let times = self.of(key);
        times.iter().sum::<f64>() / times.len() as f64
    }

    /// The figures, as tables.
    pub fn tables(&self) -> Vec<Table> {
        FIGURES.iter().map(|figure| self.figure(figure)).collect()
    }

    fn figure(&self, figure: &Figure) -> Table {
        let seeds = if figure.patterns.contains(&1) { "Pattern1: the mean of 10 seeds. " } else { "" };
        let mut table = Table::new(
            figure.id,
            &format!("{}, in ms. {seeds}1 element for all but one. The paper gives a graph, no figures.", figure.title),
        );
        for pattern in figure.patterns {
            for p in figure.nodes {
                for mmax in figure.sizes {
                    for (algorithm, mode) in figure.curves {
                        let key = Key {
                            machine: figure.machine,
                            mode,
                            pattern: *pattern,
                            p: *p,
                            mmax: *mmax,
                            rest: REST,
                            tm: COMPOSING[0],
                            algorithm,
                        };
                        let row = format!("Pattern{pattern}, P = {p}, Mmax = {mmax}");
                        let ours = format!("{:.2}", self.mean(key) / 1e3);
                        table.add((&row, &format!("{algorithm}-{mode}")), "", ours, Verdict::NotGiven, "");
                    }
                }
            }
        }
        table
    }
}

/// A figure of the paper.
struct Figure {
    id: &'static str,
    title: &'static str,
    machine: &'static str,
    patterns: &'static [u32],
    nodes: &'static [u64],
    sizes: &'static [u64],
    /// Algorithm and mode.
    curves: &'static [(&'static str, &'static str)],
}

const TO_1K: &[u64] = &[64, 128, 256, 512, 1024];
const FROM_1K: &[u64] = &[1024, 2048, 4096];
const STRAIGHT: &[(&str, &str)] = &[("A1", "b"), ("A2", "b"), ("A4", "b"), ("A1", "n1"), ("A2", "n1"), ("A4", "n1")];
const BLOCKING: &[(&str, &str)] = &[("A1", "b"), ("A2", "b"), ("A4", "b")];
const ROWS: &[(&str, &str)] = &[("A3", "b"), ("A3", "n1"), ("A4", "b"), ("A4", "n1"), ("A4", "n2")];

const FIGURES: [Figure; 9] = [
    Figure {
        id: "Fig. 15",
        title: "A4 with A1 and A2 on T3D, Mmax = 1024",
        machine: "t3d",
        patterns: &[1],
        nodes: &SQUARES,
        sizes: &[1024],
        curves: STRAIGHT,
    },
    Figure {
        id: "Fig. 16",
        title: "A4 with A1 and A2 on T3D, P = 64, blocking",
        machine: "t3d",
        patterns: &[1, 2],
        nodes: &[P],
        sizes: TO_1K,
        curves: BLOCKING,
    },
    Figure {
        id: "Fig. 17",
        title: "A4 with A1 and A2 on SP2, Mmax = 1024",
        machine: "sp2",
        patterns: &[1],
        nodes: &SQUARES,
        sizes: &[1024],
        curves: STRAIGHT,
    },
    Figure {
        id: "Fig. 18",
        title: "A4 with A1 and A2 on SP2, P = 64, blocking",
        machine: "sp2",
        patterns: &[1, 2],
        nodes: &[P],
        sizes: TO_1K,
        curves: BLOCKING,
    },
    Figure {
        id: "Fig. 19",
        title: "A4 with A3 on T3D, P = 64, Mmax up to 1k",
        machine: "t3d",
        patterns: &[1, 2],
        nodes: &[P],
        sizes: TO_1K,
        curves: ROWS,
    },
    Figure {
        id: "Fig. 20",
        title: "A4 with A3 on T3D, P = 64, Mmax from 1k on, blocking",
        machine: "t3d",
        patterns: &[2],
        nodes: &[P],
        sizes: FROM_1K,
        curves: &[("A3", "b"), ("A4", "b")],
    },
    Figure {
        id: "Fig. 21",
        title: "A4 with A3 on SP2, P = 64, Mmax up to 1k",
        machine: "sp2",
        patterns: &[1, 2],
        nodes: &[P],
        sizes: TO_1K,
        curves: ROWS,
    },
    Figure {
        id: "Fig. 22",
        title: "A4 with A3 on SP2, P = 64, Mmax from 1k on",
        machine: "sp2",
        patterns: &[2],
        nodes: &[P],
        sizes: FROM_1K,
        curves: ROWS,
    },
    Figure {
        id: "Fig. 23",
        title: "A4-n2 with A3-n1 on SP2, Mmax = 4k; the paper does not name the pattern",
        machine: "sp2",
        patterns: &[1, 2],
        nodes: &SQUARES,
        sizes: &[4096],
        curves: &[("A3", "n1"), ("A4", "n2")],
    },
];
