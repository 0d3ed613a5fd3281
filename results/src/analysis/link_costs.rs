use crate::case_id::{CaseId, Setting};
use crate::grouped::grouped;
use crate::record::{Record, Status};
use crate::specs::{argument, without};
use std::collections::{BTreeMap, BTreeSet};

/// The text in the column `reason` if the failure of a link disconnects ranks.
pub const DISCONNECTS: &str = "its failure disconnects ranks";

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinkCost {
    Disconnects,
    /// The time without the link, divided by the time with all links.
    Ratio(f64),
}

#[derive(Debug, Clone, PartialEq)]
pub struct LinkCosts {
    pub case: CaseId,
    /// The time in the row with the fewest failed links (usually none), in µs.
    pub time_us: f64,
    /// The cost of each link, by the vertices that it connects, the lower number first.
    pub links: BTreeMap<(u64, u64), LinkCost>,
}

impl LinkCosts {
    /// Returns whether another case is the same except for its failed links (`down=`).
    pub fn is_of(&self, case: &CaseId) -> bool {
        let (own, other) = (&self.case, case);
        let intact = |case: &CaseId| without(&case.setting.topology, "down").into_owned();
        let rest = |case: &CaseId| Setting { topology: String::new(), ..case.setting.clone() };
        (own.repetition, own.seed) == (other.repetition, other.seed)
            && own.implementation == other.implementation
            && intact(own) == intact(other)
            && rest(own) == rest(other)
    }

    /// Returns the links whose failure costs most, with the ratio of times, if any costs time.
    pub fn worst(&self) -> Option<(Vec<(u64, u64)>, f64)> {
        /// Closer ratios are taken for equal: times of symmetric links have rounding errors.
        const ROUNDING: f64 = 1e-9;
        let ratios = || {
            self.links.iter().filter_map(|(ends, cost)| match cost {
                LinkCost::Ratio(ratio) => Some((*ends, *ratio)),
                LinkCost::Disconnects => None,
            })
        };
        let most = ratios().map(|(_, ratio)| ratio).fold(1.0, f64::max);
        let worst = ratios().filter(|(_, ratio)| *ratio >= most - ROUNDING).map(|(ends, _)| ends);
        (most > 1.0 + ROUNDING).then(|| (worst.collect(), most))
    }

    pub fn disconnecting(&self) -> impl Iterator<Item = (u64, u64)> {
        let links = self.links.iter().filter(|(_, cost)| **cost == LinkCost::Disconnects);
        links.map(|(ends, _)| *ends)
    }
}

/// Computes the costs of links from the rows of `swapmeet links`. There is one result for each
/// group of cases that differ only in failed links (`down=`). The case with the fewest failed links
/// is the reference. Each case with exactly one additional failed link gives the cost of this link.
pub fn link_costs<'a>(rows: impl Iterator<Item = &'a Record> + Clone) -> Vec<LinkCosts> {
    let intact = |row: &Record| without(&row.topology, "down").into_owned();
    let damaged = rows.clone().filter(|row| argument(&row.topology, "down").is_some());
    let damaged: BTreeSet<String> = damaged.map(intact).collect();
    let is_damaged = |row: &&Record| {
        !damaged.is_empty() && damaged.contains(without(&row.topology, "down").as_ref())
    };
    let of_case = rows.filter(is_damaged).map(|row| {
        let id = row.case().owned();
        let id = CaseId { setting: Setting { topology: intact(row), ..id.setting }, ..id };
        let down = argument(&row.topology, "down").into_iter().flat_map(|list| list.split('+'));
        (id, (down.collect::<BTreeSet<&str>>(), row))
    });
    let costs = grouped(of_case).into_iter().filter_map(|(id, rows)| {
        let timed = rows.iter().filter(|(_, row)| row.time_us.is_some_and(|time| time > 0.0));
        let (listed, intact) = timed.min_by_key(|(down, _)| down.len())?;
        let time_us = intact.time_us?;
        let cost = |(down, row): &(BTreeSet<&str>, &Record)| {
            let mut lost = down.difference(listed);
            let (link, None) = (lost.next()?, lost.next()) else { return None };
            let (a, b) = link.split_once('-')?;
            let cost = match row.time_us {
                Some(time) => LinkCost::Ratio(time / time_us),
                None if row.status == Status::Unsupported && row.reason == DISCONNECTS => {
                    LinkCost::Disconnects
                }
                None => return None,
            };
            listed.is_subset(down).then_some(((a.parse().ok()?, b.parse().ok()?), cost))
        };
        let links: BTreeMap<(u64, u64), LinkCost> = rows.iter().filter_map(cost).collect();
        let topology = intact.topology.clone();
        let case = CaseId { setting: Setting { topology, ..id.setting }, ..id };
        (!links.is_empty()).then_some(LinkCosts { case, time_us, links })
    });
    costs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::{failed, row};

    fn on(topology: &str, row: Record) -> Record {
        Record { topology: topology.to_owned(), ..row }
    }

    #[test]
    fn a_cost_is_the_ratio_to_the_time_with_all_links() {
        let rows = [
            on("ring:12,down=2-3,place=cyclic", row("a", 0, 10.0)),
            on(
                "ring:12,down=0-1+2-3,place=cyclic",
                failed("a", 0, Status::Unsupported, DISCONNECTS),
            ),
            on("ring:12,down=2-3+4-10,place=cyclic", row("a", 0, 15.0)),
            on("ring:12,down=2-3+5-6,place=cyclic", row("a", 0, 15.0)),
            on("ring:12,down=2-3+7~8,place=cyclic", row("a", 0, 20.0)),
            on("ring:12,down=2-3+8-9,place=cyclic", failed("a", 0, Status::Timeout, "60 s")),
            on("ring:12,down=5-6+6-7,place=cyclic", row("a", 0, 99.0)),
            on("ring:12,place=block", row("a", 0, 1.0)),
        ];
        let costs = link_costs(rows.iter());
        assert_eq!(costs.len(), 1);
        assert_eq!(costs[0].case.setting.topology, "ring:12,down=2-3,place=cyclic");
        let expected = [
            ((0, 1), LinkCost::Disconnects),
            ((4, 10), LinkCost::Ratio(1.5)),
            ((5, 6), LinkCost::Ratio(1.5)),
        ];
        assert_eq!(costs[0].links, BTreeMap::from(expected));
        assert_eq!(costs[0].worst(), Some((vec![(4, 10), (5, 6)], 1.5)));
        assert_eq!(costs[0].disconnecting().collect::<Vec<_>>(), [(0, 1)]);
        let is_of = |row: &Record| costs[0].is_of(&row.case().owned());
        let other = on("ring:12,down=2-3,place=cyclic", row("b", 0, 10.0));
        assert_eq!([&rows[0], &rows[6], &rows[7], &other].map(is_of), [true, true, false, false]);
    }
}
