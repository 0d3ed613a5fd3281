//! The rows of the thesis's tables: formulas for rounds, switching and propagation, and the
//! networks on which they are run.

use crate::bench::{Bench, ReproduceError};
use crate::data::PaperTexts;
use crate::formula::{Formula, Round, as_printed};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The three terms of a cost in the thesis.
pub(super) const TERMS: [&str; 3] = ["rounds", "switching", "propagation"];

/// The block size in the workloads of `spencer.toml`. It is a multiple of all integers up to 16, so
/// that a block can be divided into up to 16 equal parts of whole bytes.
const BLOCK_BYTES: f64 = 720_720.0;

/// The number of rounds, of links and of blocks, or lower bounds on them.
pub(super) type Costs = [f64; 3];

/// A torus with `d` dimensions of `n` nodes each, whose links carry `q` circuits.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Torus {
    pub d: u32,
    pub n: u64,
    pub q: u64,
}

impl Torus {
    fn spec(self) -> String {
        match self.d {
            1 => format!("ring:{}", self.n),
            d => format!("torus:{}", vec![self.n.to_string(); d as usize].join("x")),
        }
    }

    pub(super) fn name(self) -> String {
        format!("{}, q = {}", self.spec(), self.q)
    }

    /// Runs the verified schedule on a machine whose links carry `channels` circuits.
    pub(super) fn run(
        self,
        bench: &Bench<'_>,
        (algorithm, workload): (&str, &str),
        ports: &str,
        channels: u64,
    ) -> Result<Costs, ReproduceError> {
        // Each term is a separate column of the row. A round is the most expensive unit and a link
        // the cheapest, so that schedules make the same choices as in the thesis.
        const ROUND_US: f64 = 4096.0 * BLOCK_BYTES;
        let machine = format!(
            "free:model=circuit,startup_us={ROUND_US},hop_us=1,byte_us=1,ports={ports},virtual_channels={channels}"
        );
        let row = bench.row(&self.spec(), algorithm, workload, &machine)?;
        let parts = row.parts();
        let of = |part: Option<f64>| part.unwrap_or(0.0);
        let propagation = of(parts.transmission) + of(parts.contention);
        Ok([of(parts.startup) / ROUND_US, of(parts.propagation), propagation / BLOCK_BYTES])
    }

    /// Returns the number of links that the farthest block must cross in any schedule. It is the
    /// lower bound on a machine on which only hops take time.
    pub(super) fn farthest(
        self,
        bench: &Bench<'_>,
        (algorithm, workload): (&str, &str),
    ) -> Result<f64, ReproduceError> {
        let row = bench.row(
            &self.spec(),
            algorithm,
            workload,
            "free:model=circuit,hop_us=1,ports=all",
        )?;
        Ok(row.lower_bound_us.unwrap_or_default())
    }
}

/// The networks on which a row is run: the name of a list of networks, or the row's own list.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum At {
    Named(String),
    Own(Vec<Torus>),
}

/// A run of a row of Table 3.2 with the number k of virtual cycles that the thesis gives.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cycles {
    pub k: Formula,
    /// The number of circuits per link that k virtual cycles need.
    pub channels: Formula,
    pub why: Vec<String>,
}

/// A row of one of the thesis's tables, or a numbered formula.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub name: String,
    #[serde(default = "permutations")]
    pub algorithm: String,
    #[serde(default)]
    pub workload: String,
    /// The distance of a translation (a permutation that shifts all nodes by the same distance).
    by: Option<Formula>,
    #[serde(default = "all")]
    pub ports: String,
    at: At,
    pub costs: [Formula; 3],
    /// The printed bounds of Table 3.1.
    pub bound: Option<[Formula; 3]>,
    /// A valid lower bound on propagation, if it differs from the printed one.
    pub links: Option<Formula>,
    /// Whether the bounds of section 4.6 apply to this permutation.
    #[serde(default)]
    pub farthest: bool,
    pub cycles: Option<Cycles>,
    #[serde(default)]
    pub why: Vec<String>,
    /// The reason why there is no schedule.
    pub not_rebuilt: Option<String>,
}

fn permutations() -> String {
    "torus-permutation".to_owned()
}

fn all() -> String {
    "all".to_owned()
}

/// The closed form (A.4) as printed, and the formula for the sum of (A.3).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Closed {
    pub at: Vec<Torus>,
    pub printed: Formula,
    pub sums_to: Formula,
}

#[derive(Debug, Deserialize)]
pub(super) struct Thesis {
    #[serde(flatten)]
    pub words: PaperTexts,
    r#let: BTreeMap<String, Formula>,
    at: BTreeMap<String, Vec<Torus>>,
    why: BTreeMap<String, BTreeMap<String, String>>,
    pub dissemination: Vec<Row>,
    pub table_4_4: Vec<Row>,
    pub other: Vec<Row>,
    pub one_port: Vec<Row>,
    pub appendix: Vec<Row>,
    pub closed: Closed,
}

impl Thesis {
    /// Returns the networks of a row.
    pub(super) fn tori<'a>(&'a self, row: &'a Row) -> &'a [Torus] {
        match &row.at {
            At::Named(name) => self.at.get(name).map_or(&[], Vec::as_slice),
            At::Own(tori) => tori,
        }
    }

    /// Returns the value of a formula on a torus.
    pub(super) fn value(&self, formula: &Formula, torus: Torus, round: Round) -> f64 {
        formula.rounded(&|name, round| self.variable(name, torus, round), round)
    }

    fn variable(&self, name: &str, torus: Torus, round: Round) -> Option<f64> {
        let n = torus.n as f64;
        match name {
            "d" => Some(torus.d.into()),
            "n" => Some(n),
            "q" => Some(torus.q as f64),
            "N" => Some(n.powi(torus.d as i32)),
            name => self.r#let.get(name).map(|formula| self.value(formula, torus, round)),
        }
    }

    /// Returns the values of three formulas.
    pub(super) fn costs(&self, formulas: &[Formula; 3], torus: Torus, round: Round) -> Costs {
        [0, 1, 2].map(|i| self.value(&formulas[i], torus, round))
    }

    /// Returns the workload of a row, which may depend on the torus.
    pub(super) fn workload(&self, row: &Row, torus: Torus) -> String {
        match &row.by {
            Some(by) => format!("{},by={}", row.workload, self.value(by, torus, as_printed)),
            None => row.workload.clone(),
        }
    }

    /// Returns the explanations of why a term differs. `reasons` has their names in the data.
    pub(super) fn why<'a>(
        &'a self,
        reasons: &'a [String],
        term: &'a str,
    ) -> impl Iterator<Item = &'a str> {
        reasons.iter().filter_map(move |name| self.why.get(name)?.get(term)).map(String::as_str)
    }

    /// Returns the mistakes in the data: reasons that are named but not defined, and formulas
    /// without a value.
    #[cfg(test)]
    pub(super) fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        for row in self
            .dissemination
            .iter()
            .chain(&self.table_4_4)
            .chain(&self.other)
            .chain(&self.one_port)
            .chain(&self.appendix)
        {
            let cycles = row.cycles.iter().flat_map(|cycles| &cycles.why);
            let unknown = row.why.iter().chain(cycles).filter(|name| !self.why.contains_key(*name));
            mistakes.extend(unknown.map(|name| format!("{}: why = {name}", row.name)));
            let formulas =
                row.costs.iter().chain(row.bound.iter().flatten()).chain(&row.links).chain(&row.by);
            let formulas: Vec<_> = formulas
                .chain(row.cycles.iter().flat_map(|cycles| [&cycles.k, &cycles.channels]))
                .collect();
            let tori = self.tori(row);
            if tori.is_empty() {
                mistakes.push(format!("{}: nowhere", row.name));
            }
            for (formula, torus) in
                formulas.iter().flat_map(|formula| tori.iter().map(move |torus| (formula, torus)))
            {
                if !self.value(formula, *torus, as_printed).is_finite() {
                    mistakes.push(format!("{}: {}", row.name, formula.text()));
                }
            }
        }
        mistakes
    }
}
