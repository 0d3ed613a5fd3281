//! The answer in one sentence: which algorithm is the fastest at which size.

use super::Session;
use super::comparison::UNCHARGED;
use std::collections::BTreeSet;
use swapmeet_results::analysis::{Axis, Family};
use swapmeet_results::{duration, units};

/// A range of sizes in which an algorithm is the fastest, perhaps with others that are equally fast
/// at all of its points.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    algorithm: String,
    others: Vec<String>,
    to: f64,
    groups: Vec<usize>,
}

/// Divides the ranges of the envelope where the equally fast algorithms change.
fn parts(family: &Family) -> Vec<Part> {
    let (xs, ranges) = (family.xs(), family.envelope().ranges);
    let time =
        |name: &str, x: f64| family.curves.iter().find(|curve| curve.algorithm == name)?.time_at(x);
    let mut parts: Vec<Part> = Vec::new();
    for (at, range) in ranges.iter().enumerate() {
        // The point of a crossover belongs to the range on its left.
        let is_new = |x: &f64| at == 0 || *x > ranges[at - 1].to;
        let own = |x: &f64| is_new(x) && (range.from..=range.to).contains(x);
        let first = parts.len();
        for x in xs.iter().copied().filter(own) {
            let fastest = time(&range.algorithm, x);
            let others = family.curves.iter().filter(|curve| {
                curve.algorithm != range.algorithm
                    && fastest.is_some()
                    && curve.time_at(x) == fastest
            });
            let mut others: Vec<String> = others.map(|curve| curve.algorithm.clone()).collect();
            let points = family.curves.iter().flat_map(|curve| &curve.points);
            let groups = points.filter(|point| point.x == x).map(|point| point.group).take(1);
            let is_crossover = x == range.to && at + 1 < ranges.len();
            match parts[first..].last_mut() {
                // At a crossover, the next algorithm is equally fast, but only there.
                Some(part) if is_crossover || part.others == others => {
                    part.to = x;
                    part.groups.extend(groups);
                }
                _ => {
                    if is_crossover && others.len() == 1 {
                        others.clear();
                    }
                    let (algorithm, groups) = (range.algorithm.clone(), groups.collect());
                    parts.push(Part { algorithm, others, to: x, groups });
                }
            }
        }
        // Up to the crossover, algorithms are equally fast that are so at the next point, too.
        let next = xs.iter().copied().find(|x| *x >= range.to);
        let is_equal =
            |name: &String| next.is_some_and(|x| time(name, x) == time(&range.algorithm, x));
        match parts[first..].last_mut() {
            Some(part) if part.to == range.to => {}
            Some(part) if part.others.iter().all(is_equal) => part.to = range.to,
            last => {
                let others = last.map_or(&[][..], |part| &part.others).iter();
                let others = others.filter(|name| is_equal(name)).cloned().collect();
                let (algorithm, groups) = (range.algorithm.clone(), Vec::new());
                parts.push(Part { algorithm, others, to: range.to, groups });
            }
        }
    }
    parts
}

/// Names an algorithm and one that is equally fast, or counts several.
pub(crate) fn with_others(name: &str, others: &[&str]) -> String {
    match others {
        [] => name.to_owned(),
        [other] => format!("{name} and {other}"),
        _ => format!("{name} and {} others", others.len()),
    }
}

impl Session {
    /// States which algorithms are the fastest in the cases that differ from the selected group
    /// only in the block size, and how many of those that fit were run.
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
                let name = format!("{name}{}", compared.remark(group, name));
                match &*compared.equally_fast(group) {
                    [] => format!("{name} is the fastest, with {time}"),
                    others => {
                        let names = with_others(&name, others);
                        format!("{names} are equally fast, with {time}{}", self.floor_mark(group))
                    }
                }
            }
        };
        let place = format!("{collective} on {}, {}{default}", setting.topology, setting.machine);
        Some(format!("{place}: {fastest}. {}", self.coverage()))
    }

    /// Returns ` (floor)` if the fastest time of a group is the least time on its machine
    /// (`floor_us`).
    pub(crate) fn floor_mark(&self, group: usize) -> &'static str {
        let is_floor = || {
            let line = self.compared.winner(group)?;
            let row = &self.queue.rows()[self.queue.index_of(self.compared.case_of(line))?];
            let values = row.case.as_ref().ok()?.machine.values();
            let floor = values.into_iter().find(|value| value.parameter.key() == "floor_us")?;
            let floor: f64 = floor.text.parse().ok()?;
            // Rows are accurate to a picosecond.
            Some(floor > 0.0 && (line.stats.mean()? - floor).abs() < 1e-6)
        };
        if is_floor() == Some(true) { " (floor)" } else { "" }
    }

    /// Lists the fastest algorithms of a family with their ranges of sizes.
    fn ranges(&self, family: &Family) -> String {
        let named = |part: &Part| {
            let name = &part.algorithm;
            let is_marked = |group: &&usize| !self.compared.remark(**group, name).is_empty();
            let mark = family.groups.iter().find(is_marked).map_or("", |_| UNCHARGED);
            let others: Vec<&str> = part.others.iter().map(String::as_str).collect();
            with_others(&format!("{name}{mark}"), &others)
        };
        let mark = |part: &Part| {
            let mut groups = part.groups.iter();
            let is_floor = |group: &usize| !self.floor_mark(*group).is_empty();
            let all = !part.others.is_empty() && !part.groups.is_empty() && groups.all(is_floor);
            if all { " (floor)" } else { "" }
        };
        let parts = parts(family);
        let [before @ .., last] = &*parts else { return "no algorithm has a time".to_owned() };
        let up_to = |part: &Part| {
            format!("{} up to {}{}", named(part), family.axis.text(part.to), mark(part))
        };
        let before: Vec<String> = before.iter().map(up_to).collect();
        match (before.is_empty(), last.others.is_empty()) {
            (true, true) => format!("{} at all sizes", named(last)),
            (true, false) => format!("{} are equally fast at all sizes{}", named(last), mark(last)),
            (false, _) => format!("{}, then {}{}", before.join(", then "), named(last), mark(last)),
        }
    }

    /// States how many of the algorithms that support the collective fit and were run. These counts
    /// are the same for the cases of a session and for their rows in a file.
    fn coverage(&self) -> String {
        let compared = &self.compared;
        let of_queue = &self.queue.specs()[0];
        let algorithms = units::count(of_queue.len(), "algorithm");
        if self.queue.is_busy() || self.is_comparing() {
            return format!("{} of {algorithms} so far.", compared.algorithms.len());
        }
        let run = of_queue.difference(&compared.unsupported).count();
        let none = BTreeSet::new();
        let known = self.chosen.fitting(&self.registry, of_queue, &none, false).len();
        let all = of_queue.len() + known;
        match self.fitting_algorithms().len() {
            _ if run == all && all == 1 => "The only algorithm was run.".to_owned(),
            _ if run == all => format!("All {all} algorithms were run."),
            0 => format!("{run} of {all} algorithms were run; the others do not fit."),
            more => format!("{run} of {all} algorithms were run; + runs {more} more that may fit."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::comparison::tests::{compared, row};
    use swapmeet_results::Record;

    /// The parts of the family of block sizes of 1, 2, 3 .. bytes with the times of each algorithm.
    fn found(times: &[(&str, &[f64])]) -> Vec<String> {
        let rows = times.iter().flat_map(|(name, times)| {
            times.iter().zip(1..).map(|(time, bytes)| Record {
                workload: format!("uniform:{bytes}"),
                block_bytes: Some(bytes),
                ..row(name, "ring:4", 0, *time)
            })
        });
        let compared = compared(rows.collect(), None);
        let family = compared.families.iter().find(|family| family.axis == Axis::Block).unwrap();
        let text = |part: &Part| {
            format!(
                "{} to {}",
                [std::slice::from_ref(&part.algorithm), &*part.others].concat().join("="),
                part.to
            )
        };
        parts(family).iter().map(text).collect()
    }

    #[test]
    fn ties_are_parts_of_ranges() {
        assert_eq!(found(&[("a", &[1.0, 2.0]), ("b", &[2.0, 3.0])]), ["a to 2"]);
        // Equal times at all points, and at a point of a crossover.
        assert_eq!(found(&[("a", &[5.0, 5.0]), ("b", &[5.0, 5.0])]), ["a=b to 2"]);
        assert_eq!(
            found(&[("a", &[1.0, 2.0, 4.0]), ("b", &[2.0, 2.0, 3.0])]),
            ["a to 2", "b to 3"]
        );
        // The least time of a machine, which one algorithm exceeds first.
        assert_eq!(
            found(&[
                ("a", &[5.0, 5.0, 6.0, 8.0]),
                ("b", &[5.0, 5.0, 7.0, 7.0]),
                ("c", &[5.0, 5.0, 9.0, 9.0])
            ]),
            ["a=b=c to 2", "a to 3.5", "b to 4"]
        );
        // Two equal algorithms lose at a crossover between two points.
        assert_eq!(
            found(&[("a", &[1.0, 3.0]), ("b", &[1.0, 3.0]), ("c", &[2.0, 2.0])]),
            ["a=b to 1.5", "c to 2"]
        );
    }

    #[test]
    fn two_names_are_listed_and_more_are_counted() {
        assert_eq!(with_others("a", &[]), "a");
        assert_eq!(with_others("a", &["b"]), "a and b");
        assert_eq!(with_others("a", &["b", "c"]), "a and 2 others");
    }
}
