//! Makes decision tables from a sweep. A decision table tells a library which algorithm to use for
//! each number of ranks and bytes. Each library is one file and one entry of [`LIBRARIES`].
//!
//! Only algorithms that the library has are compared. If the fastest algorithm changes between two
//! neighbouring sizes of the sweep, the table changes at the larger one.

use std::collections::{BTreeMap, BTreeSet};

mod mpich;
mod nccl;
mod openmpi;
mod rule;

pub use rule::{Algorithm, Rule};

/// A library and a format of its decision tables.
#[derive(Debug)]
pub struct Library {
    /// The name by which users choose the library.
    pub name: &'static str,
    pub help: &'static str,
    /// The algorithms that both the library and this project have.
    algorithms: &'static [Algorithm],
    /// Whether a rule can limit the number of messages in flight.
    limits_requests: bool,
    /// Whether the decisions are merged into the library's own table, which the user must give.
    pub is_patch: bool,
    write: fn(&[DecisionTable], Option<&str>) -> Result<String, String>,
    /// Where the library's default choices come from, as shown in messages.
    pub default_source: &'static str,
    defaults: fn(Option<&str>) -> Result<Option<DefaultChoice>, String>,
}

/// Returns the algorithm that a library chooses by default for a collective, a number of ranks and
/// a number of bytes. `None` if the choice is unknown.
type DefaultChoice = Box<dyn Fn(&TimedCase) -> Option<Choice>>;

/// An algorithm that a library chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    /// The rule that chooses the same algorithm, if this project has that algorithm.
    rule: Option<Rule>,
    /// The library's name of the algorithm.
    theirs: String,
}

pub static LIBRARIES: [Library; 5] = [
    Library {
        name: "openmpi",
        help: "Open MPI's rules file, as every release reads it (coll_tuned_dynamic_rules_filename)",
        algorithms: &openmpi::ALGORITHMS,
        limits_requests: false,
        is_patch: false,
        write: |tables, _| Ok(openmpi::classic(tables, 1)),
        default_source: "Open MPI 4.1",
        defaults: openmpi::defaults,
    },
    Library {
        name: "openmpi-2",
        help: "Open MPI's rules file, version 2, with limits of requests: from Open MPI 5.0.7 on",
        algorithms: &openmpi::ALGORITHMS,
        limits_requests: true,
        is_patch: false,
        write: |tables, _| Ok(openmpi::classic(tables, 2)),
        default_source: "Open MPI 4.1",
        defaults: openmpi::defaults,
    },
    Library {
        name: "openmpi-json",
        help: "Open MPI's rules file as JSON, version 3: from Open MPI 6 on",
        algorithms: &openmpi::ALGORITHMS,
        limits_requests: true,
        is_patch: false,
        write: |tables, _| Ok(openmpi::json(tables)),
        default_source: "Open MPI 4.1",
        defaults: openmpi::defaults,
    },
    Library {
        name: "nccl",
        help: "the CSV of NCCL's example tuner plugin, which does not cover all-to-all",
        algorithms: &nccl::ALGORITHMS,
        limits_requests: false,
        is_patch: false,
        write: |tables, _| Ok(nccl::csv(tables)),
        default_source: "NCCL",
        // NCCL decides by a model of the machine, so its choices cannot be predicted here.
        defaults: |_| Ok(None),
    },
    Library {
        name: "mpich",
        help: "MPICH's selection JSON: the table given with --base, changed by the new rules",
        algorithms: &mpich::ALGORITHMS,
        limits_requests: false,
        is_patch: true,
        write: mpich::json,
        default_source: "the table of --base",
        defaults: mpich::defaults,
    },
];

/// Returns the library with this name.
pub fn library(name: &str) -> Option<&'static Library> {
    LIBRARIES.iter().find(|library| library.name == name)
}

/// The time of one algorithm in a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedCase {
    pub collective: String,
    pub ranks: u64,
    /// The number of bytes of a block.
    pub bytes: u64,
    /// The algorithm, named as in rows.
    pub algorithm: String,
    /// The time, taken over all repetitions.
    pub time_us: f64,
}

/// The decisions for one collective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionTable {
    collective: &'static str,
    /// The entries, by increasing number of ranks. Each has a list of rules by increasing block
    /// size. A rule applies from its block size up to that of the next rule.
    entries: Vec<(u64, Vec<(u64, Rule)>)>,
}

/// The loss from using a given algorithm instead of the fastest one.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    pub collective: String,
    pub ranks: u64,
    /// The number of bytes of a block.
    pub bytes: u64,
    /// The algorithm that is used instead of the fastest one.
    pub used: String,
    pub best: String,
    /// The time of the used algorithm divided by that of the fastest one.
    pub ratio: f64,
}

/// A collective for which the sweep has the times of only one algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncompared {
    pub collective: String,
    pub algorithm: String,
    /// Whether the library's tables can name other algorithms for the collective.
    pub has_others: bool,
}

/// The losses from a library's default choices.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DefaultLosses {
    pub losses: Vec<Loss>,
    /// The library's names of those chosen algorithms that have no time in the sweep, and how often
    /// each is chosen.
    pub without_a_time: BTreeMap<String, u64>,
}

impl Library {
    /// Formats the tables as the library reads them. `base` is the library's own table, if
    /// decisions are merged into it. An error is a message for the user.
    pub fn written(&self, tables: &[DecisionTable], base: Option<&str>) -> Result<String, String> {
        (self.write)(tables, base)
    }

    /// Lists our names of the algorithms that both the library and this project have.
    fn ours(&self) -> String {
        let names: BTreeSet<String> =
            self.algorithms.iter().map(|a| format!("{} ({})", a.ours, a.collective)).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// Returns the rule with which the library runs the algorithm of a case with the same
    /// parameters. `None` if there is no such rule.
    fn rule(&self, cell: &TimedCase) -> Option<Rule> {
        self.algorithms.iter().find_map(|algorithm| algorithm.rule(cell, self.limits_requests))
    }

    /// Returns the fastest algorithm for each number of ranks and each size in the sweep, as
    /// decision tables. `Err` is the reason why nothing can be decided.
    pub fn decide(&self, cells: &[TimedCase]) -> Result<Vec<DecisionTable>, String> {
        let mut fastest: BTreeMap<(&str, u64, u64), (f64, Rule)> = BTreeMap::new();
        for cell in cells {
            let Some(rule) = self.rule(cell) else { continue };
            let best = fastest
                .entry((rule.algorithm.collective, cell.ranks, cell.bytes))
                .or_insert((cell.time_us, rule));
            if cell.time_us < best.0 {
                *best = (cell.time_us, rule);
            }
        }
        if fastest.is_empty() {
            return Err(format!(
                "no row has a time of an algorithm that the library's rules can express: {}",
                self.ours()
            ));
        }
        let mut tables: Vec<DecisionTable> = Vec::new();
        for ((collective, ranks, bytes), (_, rule)) in fastest {
            if tables.last().is_none_or(|table| table.collective != collective) {
                let collective = rule.algorithm.collective;
                tables.push(DecisionTable { collective, entries: Vec::new() });
            }
            let Some(table) = tables.last_mut() else { continue };
            match table.entries.last_mut() {
                Some((known, rules)) if *known == ranks => {
                    if rules.last().is_none_or(|(_, before)| *before != rule) {
                        rules.push((bytes, rule));
                    }
                }
                // The first rule also applies to sizes below the smallest one in the sweep.
                Some(_) | None => table.entries.push((ranks, vec![(0, rule)])),
            }
        }
        Ok(tables)
    }

    /// Returns the collectives for which the table compares nothing, because all cases have times
    /// of the same algorithm only.
    pub fn uncompared(&self, cells: &[TimedCase]) -> Vec<Uncompared> {
        let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for Rule { algorithm, .. } in cells.iter().filter_map(|cell| self.rule(cell)) {
            found.entry(algorithm.collective).or_default().insert(algorithm.ours);
        }
        let only = |(collective, names): (&str, BTreeSet<&str>)| {
            let has_others =
                self.algorithms.iter().filter(|a| a.collective == collective).count() > 1;
            let algorithm = names.first().map(|name| (*name).to_owned())?;
            let collective = collective.to_owned();
            (names.len() == 1).then_some(Uncompared { collective, algorithm, has_others })
        };
        found.into_iter().filter_map(only).collect()
    }

    /// Returns the losses from always using the algorithm `default`, compared with the fastest of
    /// the library's algorithms.
    pub fn losses(&self, cells: &[TimedCase], default: &str) -> Vec<Loss> {
        cells
            .iter()
            .filter(|cell| cell.algorithm == default)
            .filter_map(|used| self.loss(cells, used))
            .collect()
    }

    /// Returns the losses from the library's default choices. `base` is the library's own table, if
    /// decisions are merged into it. `None` if the choices are unknown.
    pub fn losses_of_defaults(
        &self,
        cells: &[TimedCase],
        base: Option<&str>,
    ) -> Result<Option<DefaultLosses>, String> {
        let Some(chosen) = (self.defaults)(base)? else { return Ok(None) };
        let mut found = DefaultLosses::default();
        let cases: BTreeMap<(&str, u64, u64), &TimedCase> =
            cells.iter().map(|cell| ((&*cell.collective, cell.ranks, cell.bytes), cell)).collect();
        for (case, any) in cases {
            let Some(Choice { rule, theirs }) = chosen(any) else { continue };
            let mut alike =
                cells.iter().filter(|cell| (&*cell.collective, cell.ranks, cell.bytes) == case);
            match alike
                .find(|cell| rule.is_some() && self.rule(cell) == rule)
                .and_then(|used| self.loss(cells, used))
            {
                Some(loss) => found.losses.push(loss),
                None => *found.without_a_time.entry(theirs).or_default() += 1,
            }
        }
        Ok(Some(found))
    }

    fn loss(&self, cells: &[TimedCase], used: &TimedCase) -> Option<Loss> {
        let of = |one: &TimedCase, other: &TimedCase| {
            (&one.collective, one.ranks, one.bytes) == (&other.collective, other.ranks, other.bytes)
        };
        let alike = cells.iter().filter(|cell| self.rule(cell).is_some() && of(cell, used));
        let best = alike.min_by(|a, b| a.time_us.total_cmp(&b.time_us))?;
        Some(Loss {
            collective: used.collective.clone(),
            ranks: used.ranks,
            bytes: used.bytes,
            used: used.algorithm.clone(),
            best: best.algorithm.clone(),
            ratio: used.time_us / best.time_us,
        })
    }
}

#[cfg(test)]
mod tests;
