//! The partners of processors in each step (Table 1), and the number of steps.

use super::{Profiles, Thakur, rows_and_columns, steps_of};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use swapmeet_core::simulation::listener::{Listener, ScheduleEvent};

/// For each step, the pairs (sender, receiver) of all messages, in sorted order.
#[derive(Debug, Default)]
pub(super) struct Pairs(Vec<Vec<(u32, u32)>>);

impl Listener for Pairs {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        if step.number == 1 {
            self.0.clear();
        }
        let mut pairs: Vec<(u32, u32)> = step.transfers.iter().map(|t| (t.from, t.to)).collect();
        pairs.sort_unstable();
        self.0.push(pairs);
    }
}

impl Pairs {
    pub(super) fn of(
        bench: &Bench<'_>,
        topology: &str,
        algorithm: &str,
    ) -> Result<Self, ReproduceError> {
        let mut pairs = Self::default();
        bench.watch(topology, algorithm, "uniform:1", &mut pairs)?;
        Ok(pairs)
    }

    /// Returns the number of steps in which any message is sent.
    pub(super) fn steps(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of steps in which all messages are exchanges: each sender also receives a
    /// message from its receiver.
    pub(super) fn mutual_steps(&self) -> usize {
        let mutual = |pairs: &[(u32, u32)]| {
            pairs.iter().all(|(a, b)| pairs.binary_search(&(*b, *a)).is_ok())
        };
        self.0.iter().filter(|pairs| mutual(pairs)).count()
    }
}

/// Formats the exchanges of a step in the notation of the paper. A message without a reply is
/// written as `a > b`.
fn exchanges(pairs: &[(u32, u32)]) -> String {
    let answered = |(a, b): &(u32, u32)| pairs.binary_search(&(*b, *a)).is_ok();
    let named: Vec<String> = pairs
        .iter()
        .filter(|pair| pair.0 < pair.1 || !answered(pair))
        .map(|pair| format!("{} {} {}", pair.0, if answered(pair) { "-" } else { ">" }, pair.1))
        .collect();
    named.join(", ")
}

/// Compares the partners of processors in Table 1 with a run of PEX on 8 processors.
pub(super) fn table_1(thakur: &Thakur, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = thakur.words.table("Table 1");
    let run = Pairs::of(bench, "mesh:2x4", "pex")?;
    for (i, row) in thakur.table_1.iter().enumerate() {
        let both_ways: Vec<(u32, u32)> =
            row.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
        let mut paper = both_ways;
        paper.sort_unstable();
        let ours = run.0.get(i).map(Vec::as_slice).unwrap_or_default();
        let verdict = Verdict::exactly(paper.as_slice(), ours);
        table.add((&format!("step {}", i + 1), ""), exchanges(&paper), exchanges(ours), verdict);
    }
    Ok(table)
}

/// Compares how many steps each algorithm has on each mesh.
pub(super) fn steps_table(thakur: &Thakur, profiles: &Profiles) -> Table {
    let mut table = thakur.words.table("Steps");
    for (algorithm, mesh) in thakur.measured() {
        let (r, c) = rows_and_columns(mesh);
        let slots = match algorithm {
            "pex-gen" | "pex-gen-shift" => (r * c).next_power_of_two(),
            _ => r * c,
        };
        let (paper, ours) = (slots - 1, steps_of(profiles, algorithm, mesh).len() as u64);
        table.add_whole((algorithm, mesh), paper, ours);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_a_reply_is_not_an_exchange() {
        assert_eq!(exchanges(&[(0, 1), (1, 0), (2, 3), (3, 4)]), "0 - 1, 2 > 3, 3 > 4");
        let pairs = Pairs(vec![vec![(0, 1), (1, 0)], vec![(0, 1), (1, 2), (2, 0)], vec![]]);
        assert_eq!((pairs.steps(), pairs.mutual_steps()), (3, 2));
    }
}
