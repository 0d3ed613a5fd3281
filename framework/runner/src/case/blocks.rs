//! Selects cases from the product of an experiment's lists. A block in this module is a `case` or
//! `exclude` table of the experiment, not a block of data.

use super::{MOST_CASES, expanded};
use crate::experiment::{Block, Experiment};
use crate::input::{InputError, Text};
use std::collections::BTreeSet;

/// The lists whose combinations are the cases of an experiment. There is one list for each kind of
/// entry: topologies, algorithms, workloads and machines, in this order.
pub(super) struct Selection<'a> {
    /// The canonical forms of the entries of each kind.
    pub names: [Vec<String>; 4],
    /// The number of entries of each kind that the experiment's own lists contain. In `names`,
    /// these entries are followed by the entries that only occur in blocks.
    pub listed: [usize; 4],
    /// Cumulative counts of cases for one topology and one algorithm. Entry i is the number of
    /// cases of all workloads before workload i. The last entry is the number of cases of all
    /// workloads.
    pub before: &'a [usize],
}

impl Selection<'_> {
    /// Applies the `case` and `exclude` tables of the experiment. Returns the numbers of the
    /// selected cases in ascending order, or `None` if the experiment has no such tables, so that
    /// all cases are selected. The number of a case is its index in the list of all combinations of
    /// the entries in [`Selection::names`].
    ///
    /// `name(kind, text)` returns the canonical form of the entry `text`. `kind` is the index of
    /// the entry's kind: 0 for topologies, 1 for algorithms, 2 for workloads, and 3 for machines.
    pub(super) fn of(
        &self,
        experiment: &Experiment,
        name: impl Fn(usize, &Text) -> Result<String, InputError>,
    ) -> Result<Option<Vec<usize>>, InputError> {
        if !experiment.has_blocks() {
            return Ok(None);
        }
        let mut selected = BTreeSet::new();
        if experiment.blocks.is_empty() {
            selected.extend(self.numbers(&self.listed.map(|listed| (0..listed).collect())));
        }
        for block in &experiment.blocks {
            let entries = self.entries(block, &name)?;
            if let Some(kind) = entries.iter().position(Vec::is_empty) {
                let message = format!("names no {0}, and the experiment lists no {0}", KINDS[kind]);
                return Err(block.place.error(message));
            }
            let count: u64 = entries.iter().map(|of| of.len() as u64).product();
            if count > MOST_CASES {
                let message = format!("selects {count} cases, expected at most {MOST_CASES}");
                return Err(block.place.error(message));
            }
            selected.extend(self.numbers(&entries));
        }
        for block in &experiment.exclude {
            let before = selected.len();
            for number in self.numbers(&self.entries(block, &name)?) {
                selected.remove(&number);
            }
            if selected.len() == before {
                return Err(block.place.error("excludes none of the experiment's cases"));
            }
        }
        Ok(Some(selected.into_iter().collect()))
    }

    /// Returns the indices of a block's entries of each kind. A block that names no entry of a kind
    /// has all entries that the experiment lists.
    fn entries(
        &self,
        block: &Block,
        name: &impl Fn(usize, &Text) -> Result<String, InputError>,
    ) -> Result<[Vec<usize>; 4], InputError> {
        let workloads = expanded(&block.workloads)?;
        let mut entries = self.listed.map(|listed| (0..listed).collect());
        let lists = [&block.topologies, &block.algorithms, &workloads, &block.machines];
        for (kind, list) in lists.into_iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            let mut of_kind = Vec::with_capacity(list.len());
            for text in list {
                let canonical = name(kind, text)?;
                let index = self.names[kind].iter().position(|known| *known == canonical);
                of_kind.push(index.ok_or_else(|| {
                    text.error(format!("the experiment has no {} `{canonical}`", KINDS[kind]))
                })?);
            }
            entries[kind] = of_kind;
        }
        Ok(entries)
    }

    /// Returns the indices of all cases that combine some of these entries. `entries` has the
    /// indices of the entries of each kind.
    fn numbers(&self, entries: &[Vec<usize>; 4]) -> Vec<usize> {
        let [topologies, algorithms, workloads, machines] = entries;
        let (all_algorithms, all_machines) = (self.names[1].len(), self.names[3].len());
        let of_one = self.before[self.before.len() - 1];
        let mut numbers = Vec::new();
        for topology in topologies {
            for algorithm in algorithms {
                let first = (topology * all_algorithms + algorithm) * of_one;
                for workload in workloads {
                    let (from, to) = (self.before[*workload], self.before[workload + 1]);
                    let repetitions = (to - from) / all_machines;
                    for machine in machines {
                        let from = first + from + machine * repetitions;
                        numbers.extend(from..from + repetitions);
                    }
                }
            }
        }
        numbers
    }
}

/// The names of the kinds, for messages.
const KINDS: [&str; 4] = ["topology", "algorithm", "workload", "machine"];

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Vec<Text> {
        values.iter().map(|value| Text::flag("", value)).collect()
    }

    fn block(topologies: &[&str], algorithms: &[&str]) -> Block {
        Block {
            place: Text::flag("case", ""),
            topologies: texts(topologies),
            algorithms: texts(algorithms),
            workloads: Vec::new(),
            machines: Vec::new(),
        }
    }

    /// The lists contain two topologies, two algorithms, and one workload with two repetitions. A
    /// block adds a third topology. The number of a case is therefore (topology * 2 + algorithm) *
    /// 2 + repetition.
    #[test]
    fn blocks_select_parts_of_the_product() {
        let names = [&["t0", "t1", "t2"][..], &["a0", "a1"], &["uniform:1"], &["m"]]
            .map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let selection = Selection { names, listed: [2, 2, 1, 1], before: &[0, 2] };
        let of = |blocks: Vec<Block>, exclude: Vec<Block>| {
            let experiment = Experiment { blocks, exclude, ..Experiment::default() };
            selection.of(&experiment, |_, text| Ok(text.value.clone())).map_err(|e| e.to_string())
        };
        assert_eq!(of(vec![], vec![]), Ok(None));
        let both = vec![block(&["t0"], &["a1"]), block(&["t2"], &[])];
        assert_eq!(of(both, vec![]), Ok(Some(vec![2, 3, 8, 9, 10, 11])));
        assert_eq!(of(vec![], vec![block(&["t1"], &["a0"])]), Ok(Some(vec![0, 1, 2, 3, 6, 7])));
        let overlapping = vec![block(&["t0"], &[]), block(&[], &["a0"])];
        assert_eq!(of(overlapping, vec![]), Ok(Some(vec![0, 1, 2, 3, 4, 5])));
        let nothing = of(vec![block(&["t0"], &[])], vec![block(&["t1"], &[])]).unwrap_err();
        assert!(nothing.contains("excludes none of the experiment's cases"), "{nothing}");
        let unknown = of(vec![], vec![block(&["t9"], &[])]).unwrap_err();
        assert!(unknown.contains("the experiment has no topology `t9`"), "{unknown}");
        let names = selection.names.clone();
        let without = Selection { names, listed: [0, 2, 1, 1], before: &[0, 2] };
        let experiment = Experiment { blocks: vec![block(&[], &["a0"])], ..Experiment::default() };
        let message = without.of(&experiment, |_, text| Ok(text.value.clone())).unwrap_err();
        let expected = "names no topology, and the experiment lists no topology";
        assert!(message.to_string().contains(expected), "{message}");
    }
}
