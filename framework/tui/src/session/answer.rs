//! The answer in one sentence: which algorithm is the fastest at which size.

use super::Session;
use swapmeet_results::analysis::{Axis, Family};
use swapmeet_results::{duration, units};

impl Session {
    /// States which algorithms are the fastest in the cases that differ from the selected group only
    /// in the block size, and how many of the algorithms that fit were run.
    pub(crate) fn answer(&self) -> Option<String> {
        let group = self.selected_group()?;
        let compared = &self.compared;
        let setting = &compared.groups.get(group)?.setting;
        let is_default = self.default_machine.as_deref() == Some(&setting.machine);
        let default = if is_default { " (default machine)" } else { "" };
        let collective = match setting.collective.as_str() {
            "alltoall" => "All-to-all".to_owned(),
            other => other[..1].to_uppercase() + &other[1..],
        };
        let family =
            |family: &&Family| family.axis == Axis::Block && family.groups.contains(&group);
        let fastest = match compared.families.iter().find(family) {
            Some(family) => self.ranges(family),
            None => {
                let line = compared.winner(group)?;
                let name = &line.stats.algorithm;
                let time = line.stats.mean().map(duration)?;
                format!("{name}{} is the fastest, with {time}", compared.remark(group, name))
            }
        };
        let place = format!("{collective} on {}, {}{default}", setting.topology, setting.machine);
        Some(format!("{place}: {fastest}. {}", self.coverage()))
    }

    /// Lists the fastest algorithms of a family with their ranges of sizes.
    fn ranges(&self, family: &Family) -> String {
        let named = |name: &str| {
            let is_remarked = |group: &usize| !self.compared.remark(*group, name).is_empty();
            let mark = if family.groups.iter().any(is_remarked) {
                super::comparison::UNCHARGED
            } else {
                ""
            };
            format!("{name}{mark}")
        };
        let ranges = family.envelope().ranges;
        // A range of a single point between two others is a tie.
        let [.., last] = &*ranges else { return "no algorithm has a time".to_owned() };
        let before: Vec<String> = ranges[..ranges.len() - 1]
            .iter()
            .map(|range| {
                format!("{} up to {}", named(&range.algorithm), family.axis.text(range.to))
            })
            .collect();
        match before.is_empty() {
            true => format!("{} at all sizes", named(&last.algorithm)),
            false => format!("{}, then {}", before.join(", then "), named(&last.algorithm)),
        }
    }

    /// States how many of the algorithms that support the collective were run.
    fn coverage(&self) -> String {
        let run = self.queue.specs()[0].len();
        let algorithms = units::count(run, "algorithm");
        let fitting = self.fitting_algorithms();
        let is_busy = self.queue.is_busy() || self.is_comparing();
        match (fitting.len(), run) {
            _ if is_busy => format!("{} of {algorithms} so far.", self.compared.algorithms.len()),
            (0, 1) => "The only algorithm that fits was run.".to_owned(),
            (0, _) => format!("All {algorithms} that fit were run."),
            (more, 1) => format!("{algorithms} was run; + runs {more} more that may fit."),
            (more, _) => format!("{algorithms} were run; + runs {more} more that may fit."),
        }
    }
}
