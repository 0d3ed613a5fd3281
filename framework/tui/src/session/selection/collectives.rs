//! Workloads that fit the selected algorithms. If no selected workload has the collective of an
//! algorithm, all rows of this algorithm would be `unsupported`.

use super::{Section, Selection};
use swapmeet_core::delivery::collective::{ALL_TO_ALL, of_bits};
use swapmeet_runner::registry::Registry;
use swapmeet_workloads::Workload;

/// Returns whether the collectives in a bit mask include the collective of a workload. A workload
/// that cannot be parsed fits, because its error is reported when the user starts a run.
fn fits(collectives: u64, workload: &str) -> bool {
    Workload::parse(workload).map_or(true, |w| collectives & (1 << w.collective().code) != 0)
}

impl Selection {
    /// If an algorithm supports none of the selected workloads, returns the name of its collective
    /// and a workload of this collective with the same size.
    pub(crate) fn matching_workload(
        &self,
        algorithm: &str,
        registry: &Registry,
    ) -> Option<(&'static str, String)> {
        let collectives = collectives(algorithm, registry)?;
        if self.is_named_by_blocks(Section::Workloads)
            || self.selected(Section::Workloads).any(|workload| fits(collectives, workload))
        {
            return None;
        }
        let kind = of_bits(collectives).next()?;
        let size = |workload: &str| {
            let (_, size) = workload.split_once("uniform:")?;
            Some(size.split(',').next()?.to_owned())
        };
        let size = self.selected(Section::Workloads).find_map(size);
        let size = size.unwrap_or_else(|| "1KiB".to_owned());
        let prefix = if *kind == ALL_TO_ALL { String::new() } else { format!("{}/", kind.word) };
        // Some collectives, such as permutations, have no uniform workload.
        let workload = Workload::parse(&format!("{prefix}uniform:{size}")).ok()?;
        Some((kind.word, workload.to_string()))
    }

    pub(crate) fn fit_workloads(&mut self, workload: String, registry: &Registry) {
        self.put(Section::Workloads, workload, None);
        let algorithms = self.selected(Section::Algorithms);
        let all = algorithms.fold(0, |all, name| all | collectives(name, registry).unwrap_or(!0));
        for choice in &mut self.state.choices[Section::Workloads as usize] {
            choice.on &= fits(all, &choice.spec);
        }
    }
}

fn collectives(algorithm: &str, registry: &Registry) -> Option<u64> {
    let name = algorithm.split(':').next()?;
    registry.algorithms().find(|known| known.name == name).map(|known| known.collectives)
}
