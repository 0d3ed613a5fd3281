//! From a sweep to a decision table: which algorithm a library is to use for how many ranks and
//! bytes. A library is one file, and one row of [`LIBRARIES`].
//!
//! Only algorithms that the library has are compared; where the fastest changes between two sizes
//! of the sweep, the later one begins at its own size.

use std::collections::{BTreeMap, BTreeSet};

mod mpich;
mod nccl;
mod openmpi;

/// A library and a format of its tables.
#[derive(Debug)]
pub struct Library {
    /// What users call it.
    pub name: &'static str,
    pub help: &'static str,
    /// Ours and theirs.
    algorithms: &'static [Algorithm],
    /// Whether it writes into the library's own table, which must be given.
    pub is_patch: bool,
    write: fn(&[Table], Option<&str>) -> Result<String, String>,
    /// Who chooses where it has no table of ours, for people.
    pub itself: &'static str,
    own: fn(Option<&str>) -> Result<Option<Chooser>, String>,
}

/// What a library does where nobody gives it a table: its choice for a cell's collective, ranks and
/// bytes. None of those that it says nothing of.
type Chooser = Box<dyn Fn(&Cell) -> Option<Choice>>;

/// An algorithm that a library chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    /// Our name, where we have it.
    ours: Option<&'static str>,
    /// Theirs.
    theirs: String,
}

/// An algorithm that both have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    collective: &'static str,
    /// Ours: as rows spell it.
    ours: &'static str,
    /// Theirs, by name.
    name: &'static str,
    /// Theirs, by number, where it has one.
    number: u32,
}

pub static LIBRARIES: [Library; 4] = [
    Library {
        name: "openmpi",
        help: "Open MPI's rules file, as every release reads it (coll_tuned_dynamic_rules_filename)",
        algorithms: &openmpi::ALGORITHMS,
        is_patch: false,
        write: |tables, _| Ok(openmpi::classic(tables)),
        itself: "Open MPI 4.1",
        own: openmpi::own,
    },
    Library {
        name: "openmpi-json",
        help: "Open MPI's rules file as JSON, version 3: from Open MPI 6 on",
        algorithms: &openmpi::ALGORITHMS,
        is_patch: false,
        write: |tables, _| Ok(openmpi::json(tables)),
        itself: "Open MPI 4.1",
        own: openmpi::own,
    },
    Library {
        name: "nccl",
        help: "the CSV of NCCL's example tuner plugin; all-to-all is not among its collectives",
        algorithms: &nccl::ALGORITHMS,
        is_patch: false,
        write: |tables, _| Ok(nccl::csv(tables)),
        itself: "NCCL",
        // By a model of machines that it looks at: nobody else knows.
        own: |_| Ok(None),
    },
    Library {
        name: "mpich",
        help: "MPICH's selection JSON: its own, given with --base, with what is decided put into it",
        algorithms: &mpich::ALGORITHMS,
        is_patch: true,
        write: mpich::json,
        itself: "the table of --base",
        own: mpich::own,
    },
];

/// The library of this name.
pub fn library(name: &str) -> Option<&'static Library> {
    LIBRARIES.iter().find(|library| library.name == name)
}

/// One time of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub collective: String,
    pub ranks: u64,
    /// Bytes of a block.
    pub bytes: u64,
    /// The algorithm, as the row spells it.
    pub algorithm: String,
    /// Its time, of all repetitions.
    pub time_us: f64,
}

/// What is decided for one collective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    collective: &'static str,
    /// By ranks, ascending; rules by block size, ascending: an algorithm from there on.
    entries: Vec<(u64, Vec<(u64, Algorithm)>)>,
}

/// What is lost where the library keeps to one algorithm.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    pub collective: String,
    pub ranks: u64,
    /// Bytes of a block.
    pub bytes: u64,
    /// The one that it keeps to there.
    pub kept: String,
    pub best: String,
    /// How many times as long the other takes.
    pub ratio: f64,
}

/// What is lost where a library does as it does by itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Own {
    pub losses: Vec<Loss>,
    /// Their names of what it chooses where no row has a time of that, and how often.
    pub without_a_time: BTreeMap<String, u64>,
}

impl Library {
    /// The table as the library reads it; of a library whose tables must be whole, in its own.
    /// Errors are for the user.
    pub fn written(&self, tables: &[Table], own: Option<&str>) -> Result<String, String> {
        (self.write)(tables, own)
    }

    /// Our names of its algorithms.
    fn ours(&self) -> String {
        let names: BTreeSet<String> =
            self.algorithms.iter().map(|a| format!("{} ({})", a.ours, a.collective)).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// Decides for every number of ranks and every size of the sweep. `Err` says why there is
    /// nothing to decide.
    pub fn decide(&self, cells: &[Cell]) -> Result<Vec<Table>, String> {
        let mut fastest: BTreeMap<(&str, u64, u64), (f64, Algorithm)> = BTreeMap::new();
        for cell in cells {
            let theirs = self
                .algorithms
                .iter()
                .find(|a| a.collective == cell.collective && a.ours == cell.algorithm);
            let Some(theirs) = theirs else { continue };
            let best = fastest
                .entry((theirs.collective, cell.ranks, cell.bytes))
                .or_insert((cell.time_us, *theirs));
            if cell.time_us < best.0 {
                *best = (cell.time_us, *theirs);
            }
        }
        if fastest.is_empty() {
            return Err(format!(
                "no row has a time of an algorithm that the library has: {}",
                self.ours()
            ));
        }
        let mut tables: Vec<Table> = Vec::new();
        for ((collective, ranks, bytes), (_, algorithm)) in fastest {
            if tables.last().is_none_or(|table| table.collective != collective) {
                tables.push(Table { collective: algorithm.collective, entries: Vec::new() });
            }
            let Some(table) = tables.last_mut() else { continue };
            match table.entries.last_mut() {
                Some((known, rules)) if *known == ranks => {
                    if rules.last().is_none_or(|(_, before)| *before != algorithm) {
                        rules.push((bytes, algorithm));
                    }
                }
                // Smaller messages than the sweep's do as its smallest.
                Some(_) | None => table.entries.push((ranks, vec![(0, algorithm)])),
            }
        }
        Ok(tables)
    }

    /// What `default`, one of our names, loses against the fastest of the library's algorithms,
    /// cell by cell where it has a time.
    pub fn losses(&self, cells: &[Cell], default: &str) -> Vec<Loss> {
        cells
            .iter()
            .filter(|cell| cell.algorithm == default)
            .filter_map(|kept| self.loss(cells, kept))
            .collect()
    }

    /// The same of what the library chooses by itself, where the sweep has that; `own` is its own
    /// table, of a library whose tables are patches. And what it chooses where the sweep has no
    /// time of it. `None` where nobody knows what it chooses.
    pub fn losses_of_own(&self, cells: &[Cell], own: Option<&str>) -> Result<Option<Own>, String> {
        let Some(chosen) = (self.own)(own)? else { return Ok(None) };
        let mut found = Own::default();
        let cases: BTreeMap<(&str, u64, u64), &Cell> =
            cells.iter().map(|cell| ((&*cell.collective, cell.ranks, cell.bytes), cell)).collect();
        for (case, any) in cases {
            let Some(Choice { ours, theirs }) = chosen(any) else { continue };
            let mut alike =
                cells.iter().filter(|cell| (&*cell.collective, cell.ranks, cell.bytes) == case);
            match alike
                .find(|cell| ours == Some(&*cell.algorithm))
                .and_then(|kept| self.loss(cells, kept))
            {
                Some(loss) => found.losses.push(loss),
                None => *found.without_a_time.entry(theirs).or_default() += 1,
            }
        }
        Ok(Some(found))
    }

    fn loss(&self, cells: &[Cell], kept: &Cell) -> Option<Loss> {
        let has = |cell: &&Cell| {
            self.algorithms
                .iter()
                .any(|a| a.collective == cell.collective && a.ours == cell.algorithm)
        };
        let of = |one: &Cell, other: &Cell| {
            (&one.collective, one.ranks, one.bytes) == (&other.collective, other.ranks, other.bytes)
        };
        let alike = cells.iter().filter(has).filter(|cell| of(cell, kept));
        let best = alike.min_by(|a, b| a.time_us.total_cmp(&b.time_us))?;
        Some(Loss {
            collective: kept.collective.clone(),
            ranks: kept.ranks,
            bytes: kept.bytes,
            kept: kept.algorithm.clone(),
            best: best.algorithm.clone(),
            ratio: kept.time_us / best.time_us,
        })
    }
}

#[cfg(test)]
mod tests;
