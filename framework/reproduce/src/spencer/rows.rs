//! The rows of the thesis's tables. A row has formulas for rounds, switching and propagation, and
//! the networks on which the formulas are compared with runs.

use crate::bench::{Bench, ReproduceError};
use crate::data::PaperTexts;
use crate::formula::{Formula, Round, as_printed};
use serde::Deserialize;
use std::collections::BTreeMap;
use swapmeet_core::cost::kind::Kind;

/// The names of the three terms of a cost in the thesis.
pub(super) const TERMS: [&str; 3] = ["rounds", "switching", "propagation"];

/// The number of bytes of a block in the workloads of `spencer.toml`. It is a multiple of all
/// integers up to 16. Thus a block can be divided into up to 16 equal parts, each of which is a
/// whole number of bytes.
const BLOCK_BYTES: f64 = 720_720.0;

/// The values of the three terms in [`TERMS`]: numbers of rounds, links and blocks. They can also
/// be lower bounds on these numbers.
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

    /// Runs the verified schedule of an algorithm. The links of the machine carry `channels`
    /// circuits.
    pub(super) fn run(
        self,
        bench: &Bench<'_>,
        (algorithm, workload): (&str, &str),
        ports: &str,
        channels: u64,
    ) -> Result<Costs, ReproduceError> {
        // The three terms of a cost are separate columns of the result row. A round has the highest
        // cost and a link the lowest, so that schedules make the same choices as in the thesis.
        const ROUND_US: f64 = 4096.0 * BLOCK_BYTES;
        let machine = format!(
            "free:model=circuit,startup_us={ROUND_US},hop_us=1,byte_us=1,ports={ports},virtual_channels={channels}"
        );
        let row = bench.row(&self.spec(), algorithm, workload, &machine)?;
        let parts = row.parts();
        let of = |part: Option<f64>| part.unwrap_or(0.0);
        let propagation = of(parts[Kind::Transmission]) + of(parts[Kind::Contention]);
        Ok([
            of(parts[Kind::Startup]) / ROUND_US,
            of(parts[Kind::Propagation]),
            propagation / BLOCK_BYTES,
        ])
    }

    /// Returns the number of links that the farthest block must cross in every schedule. It is the
    /// lower bound on the time of a machine on which only hops take time.
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

/// The networks on which a row is run. They are given by the name of a list of networks, or are
/// listed in the row.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum At {
    Named(String),
    Own(Vec<Torus>),
}

/// A run of an algorithm in a row of Table 3.2. It uses the number k of virtual cycles that the
/// thesis states.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cycles {
    pub k: Formula,
    /// The number of circuits per link that is necessary for k virtual cycles.
    pub channels: Formula,
    pub why: Vec<String>,
}

/// A row of a table of the thesis, or one of its numbered formulas.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub name: String,
    #[serde(default = "permutations")]
    pub algorithm: String,
    #[serde(default)]
    pub workload: String,
    /// The distance of a translation. A translation is a permutation that shifts all nodes by the
    /// same distance.
    by: Option<Formula>,
    #[serde(default = "all")]
    pub ports: String,
    at: At,
    pub costs: [Formula; 3],
    /// The lower bounds that Table 3.1 prints for the three costs.
    pub bound: Option<[Formula; 3]>,
    /// A valid lower bound on propagation, if the printed bound is not valid.
    pub links: Option<Formula>,
    /// Whether the bounds of section 4.6 apply to this permutation.
    #[serde(default)]
    pub farthest: bool,
    pub cycles: Option<Cycles>,
    #[serde(default)]
    pub why: Vec<String>,
    /// Why this project has no schedule for the row.
    pub not_rebuilt: Option<String>,
}

fn permutations() -> String {
    "torus-permutation".to_owned()
}

fn all() -> String {
    "all".to_owned()
}

/// The closed form (A.4) as the thesis prints it, and a formula for the sum that (A.3) defines.
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
    /// Returns the networks on which a row is run.
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

    /// Returns the values of the formulas for all three terms on a torus.
    pub(super) fn costs(&self, formulas: &[Formula; 3], torus: Torus, round: Round) -> Costs {
        [0, 1, 2].map(|i| self.value(&formulas[i], torus, round))
    }

    /// Returns the workload of a row. It may depend on the torus.
    pub(super) fn workload(&self, row: &Row, torus: Torus) -> String {
        match &row.by {
            Some(by) => format!("{},by={}", row.workload, self.value(by, torus, as_printed)),
            None => row.workload.clone(),
        }
    }

    /// Returns the texts that explain why a term of our cost differs from the thesis. `reasons`
    /// contains the names of these texts in the data file.
    pub(super) fn why<'a>(
        &'a self,
        reasons: &'a [String],
        term: &'a str,
    ) -> impl Iterator<Item = &'a str> {
        reasons.iter().filter_map(move |name| self.why.get(name)?.get(term)).map(String::as_str)
    }

    /// Returns the mistakes in the data file: names of reasons that are not defined, and formulas
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
