//! Runs of the experiments of Figs. 15 to 23. These figures are graphs without numbers, so only the
//! paper's claims about them can be compared (see [`super::claims`]).
//!
//! The paper uses these names: P is the number of nodes, Mmax is the number of elements of the
//! largest message, and tm is the time to rearrange a byte when a node composes messages.

use super::{ALGORITHMS, nodes};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Kind, Table};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The machines, each with the number of bytes of an element (section 4 of the paper).
const MACHINES: [(&str, u64); 2] = [("t3d", 48), ("sp2", 22)];
/// The number of seeds for each random workload.
const SEEDS: u32 = 10;
/// The number of elements that a node sends to all destinations but one. The paper does not state
/// it, but calls it a "small number".
pub(super) const REST: u64 = 1;
/// Further values of [`REST`], to see whether the result depends on it.
pub(super) const OTHER_RESTS: [u64; 2] = [16, 96];
/// The values of Mmax, in elements.
const SIZES: [u64; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
/// The value of P in experiments in which Mmax varies.
pub(super) const P: u64 = 64;
/// The values of P in experiments in which P varies.
const SQUARES: [u64; 6] = [16, 25, 36, 49, 64, 100];

/// The modes of communication, each with its name in a curve and the settings of the machine:
/// blocking, nonblocking with one send buffer, and nonblocking with two send buffers.
const MODES: [(&str, &str); 3] = [
    ("b", ",self_messages=count"),
    ("n1", ",mode=nonblocking,self_messages=count"),
    ("n2", ",mode=nonblocking,buffers=2,self_messages=count"),
];

/// The values of tm in us per byte. The first is that of the presets. There are two further values,
/// because the paper does not state tm.
pub(super) const COMPOSING: [&str; 3] = ["0.02", "0", "0.1"];

/// An algorithm in one mode of communication, such as `A4-n1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Curve {
    algorithm: String,
    /// The name of a mode in [`MODES`].
    mode: String,
}

impl Curve {
    pub(super) fn new(algorithm: &str, mode: &str) -> Self {
        Self { algorithm: algorithm.to_owned(), mode: mode.to_owned() }
    }

    /// Returns the name of the curve in the paper.
    pub(super) fn name(&self) -> String {
        format!("{}-{}", self.algorithm, self.mode)
    }
}

impl TryFrom<String> for Curve {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let known = name.split_once('-').filter(|(algorithm, mode)| {
            ALGORITHMS.iter().any(|(paper, _)| paper == algorithm)
                && MODES.iter().any(|(known, _)| known == mode)
        });
        known
            .map(|(algorithm, mode)| Self::new(algorithm, mode))
            .ok_or_else(|| format!("`{name}` is no curve"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    machine: String,
    curve: Curve,
    /// The number of the traffic pattern in the paper: 1 or 2.
    pattern: u32,
    p: u64,
    /// The number of elements of a large message (spike).
    mmax: u64,
    /// The number of elements of all other messages.
    rest: u64,
    /// The value of tm in us per byte. It is one of [`COMPOSING`].
    tm: &'static str,
}

impl Key {
    /// Creates a key. The parameters that the paper does not state have their default values.
    pub(super) fn new(machine: &str, curve: &Curve, pattern: u32, p: u64, mmax: u64) -> Self {
        Self {
            machine: machine.to_owned(),
            curve: curve.clone(),
            pattern,
            p,
            mmax,
            rest: REST,
            tm: COMPOSING[0],
        }
    }

    pub(super) fn reading(self, rest: u64, tm: &'static str) -> Self {
        Self { rest, tm, ..self }
    }
}

/// The workload of an experiment and its number of nodes, as in [`Key`].
struct Setup {
    pattern: u32,
    p: u64,
    mmax: u64,
    rest: u64,
}

impl Setup {
    /// Returns the experiments that are run on each machine. In the first of them Mmax varies, and
    /// in the others P.
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (pattern, mmax) in [1, 2].into_iter().flat_map(|k| SIZES.map(|mmax| (k, mmax))) {
            let others = OTHER_RESTS.into_iter().filter(|rest| *rest < mmax);
            all.extend([REST].into_iter().chain(others).map(|rest| Self {
                pattern,
                p: P,
                mmax,
                rest,
            }));
        }
        for p in SQUARES.into_iter().filter(|p| *p != P) {
            all.extend([(1, 1024), (1, 4096), (2, 4096)].map(|(pattern, mmax)| Self {
                pattern,
                p,
                mmax,
                rest: REST,
            }));
        }
        all
    }
}

/// For each experiment, the time for each seed, in us.
pub(super) struct Times(BTreeMap<Key, Vec<f64>>);

impl Times {
    pub(super) fn run(bench: &Bench<'_>) -> Result<Self, ReproduceError> {
        let mut times = Self(BTreeMap::new());
        for (machine, element) in MACHINES {
            for setup in Setup::all() {
                times.add(bench, machine, element, setup)?;
            }
        }
        Ok(times)
    }

    /// Runs all algorithms with all modes and values of tm.
    fn add(
        &mut self,
        bench: &Bench<'_>,
        machine: &str,
        element: u64,
        Setup { pattern, p, mmax, rest }: Setup,
    ) -> Result<(), ReproduceError> {
        let name = if pattern == 1 { "one-spike" } else { "transpose" };
        let workload =
            format!("{name}:max={},rest={},element={element}", mmax * element, rest * element);
        // The paper does not state two of the parameters. Vary only one of them at a time; the
        // other one has its default value.
        let composing = if rest == REST { &COMPOSING[..] } else { &COMPOSING[..1] };
        let settings: Vec<(&str, &str, &str)> = composing
            .iter()
            .flat_map(|tm| MODES.iter().map(move |(mode, set)| (*tm, *mode, *set)))
            .collect();
        let machines: Vec<String> = settings
            .iter()
            .map(|(tm, _, set)| format!("{machine}:rearrange_byte_us={tm}{set}"))
            .collect();
        let seeds = if pattern == 1 { SEEDS } else { 1 };
        for (algorithm, ours) in ALGORITHMS {
            let rows = bench.repeated(&nodes(p), ours, &workload, &machines, seeds)?;
            for (i, (tm, mode, _)) in settings.iter().enumerate() {
                let times =
                    rows.iter().skip(i).step_by(settings.len()).filter_map(|r| r.time_us).collect();
                let key = Key::new(machine, &Curve::new(algorithm, mode), pattern, p, mmax)
                    .reading(rest, tm);
                self.0.insert(key, times);
            }
        }
        Ok(())
    }

    /// Returns the times of an experiment, one for each seed.
    pub(super) fn of(&self, key: &Key) -> &[f64] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    pub(super) fn mean(&self, key: &Key) -> f64 {
        let times = self.of(key);
        times.iter().sum::<f64>() / times.len() as f64
    }

    /// Returns the times that a figure shows as a table.
    pub(super) fn table(&self, figure: &Figure) -> Table {
        let seeds =
            if figure.patterns.contains(&1) { "Pattern1: the mean of 10 seeds. " } else { "" };
        let mut table = Table::new(
            &figure.id,
            &format!(
                "{}, in ms. {seeds}1 element for all but one. The paper gives a graph without numbers.",
                figure.title
            ),
            Kind::Independent,
        );
        for pattern in &figure.patterns {
            for (p, mmax) in
                figure.nodes.iter().flat_map(|p| figure.sizes.iter().map(move |mmax| (*p, *mmax)))
            {
                let row = format!("Pattern{pattern}, P = {p}, Mmax = {mmax}");
                for curve in &figure.curves {
                    let mean = self.mean(&Key::new(&figure.machine, curve, *pattern, p, mmax));
                    table.add_ours((&row, &curve.name()), format!("{:.2}", mean / 1e3));
                }
            }
        }
        table
    }
}

/// A figure of the paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figure {
    id: String,
    title: String,
    machine: String,
    patterns: Vec<u32>,
    nodes: Vec<u64>,
    sizes: Vec<u64>,
    curves: Vec<Curve>,
}
