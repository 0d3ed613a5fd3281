//! Maps of the fastest algorithm. The columns are the values of an axis, such as block sizes. The
//! rows are networks, machines, or the values of another axis.

use super::axis::{Axis, CommonSettings};
use crate::compare::{Comparison, Group, Winner};
use crate::grouped::grouped;
use crate::stats::distinct;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swapmeet_core::network::topology;
use swapmeet_core::spec::{Spec, parse_size};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowAxis {
    /// Topologies of the same kind, sorted by number of nodes.
    Nodes,
    Machines,
    /// Topologies of several kinds, sorted by kind and then by number of nodes.
    Networks,
    Values(Axis),
}

#[derive(Debug, Clone, PartialEq)]
pub struct MapCell {
    /// The index of the group in the comparison.
    pub group: usize,
    pub winner: Arc<Winner>,
    /// The mark that follows the name of the fastest algorithm ([`Group::mark`]).
    pub mark: &'static str,
}

/// A map of the fastest algorithms. Its cases differ only in what its columns and rows stand for.
#[derive(Debug, Clone, PartialEq)]
pub struct WinnerMap {
    pub x_axis: Axis,
    pub row_axis: RowAxis,
    /// The settings of all cases. If all networks are of the same kind, `topology` is this kind.
    pub settings: CommonSettings,
    pub xs: Vec<f64>,
    /// The topology, machine or value of each row. The order is described at [`RowAxis`].
    pub rows: Vec<String>,
    /// The cells by row, then by column; `None` if no case was run or no algorithm has a time.
    pub cells: Vec<Vec<Option<MapCell>>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct WinnerMaps {
    pub maps: Vec<WinnerMap>,
    /// Groups in no map, because no other group differs from them only in columns and rows.
    pub single_groups: Vec<usize>,
}

impl RowAxis {
    pub fn label(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Machines => "machine",
            Self::Networks => "network",
            Self::Values(axis) => axis.label(),
        }
    }

    /// Returns the row and other settings of a group. `rest` lacks the quantity of the columns.
    fn place(self, group: &Group, rest: CommonSettings) -> Option<(RowKey, CommonSettings)> {
        let machine = group.setting.machine.clone();
        let rest = CommonSettings { inputs: String::new(), ..rest };
        Some(match self {
            Self::Machines => {
                let (no_machine, no_model) = (String::new(), String::new());
                let settings = CommonSettings { machine: no_machine, model: no_model, ..rest };
                (RowKey::Text(machine), settings)
            }
            Self::Nodes | Self::Networks => {
                let row = RowKey::Text(rest.topology);
                (row, CommonSettings { topology: String::new(), machine, ..rest })
            }
            Self::Values(axis) => {
                // The value comes from the whole spec, because a default can depend on other parts.
                let (y, _) = axis.place_group(group)?;
                (RowKey::Value(y.to_bits()), axis.remainder(rest, group.nodes))
            }
        })
    }
}

/// A spec, or the bits of a value. Values are not negative, so their bits have the same order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RowKey {
    Text(String),
    Value(u64),
}

type CasePosition = (RowKey, f64, usize);

/// Returns maps whose columns are block sizes. In the first maps, rows are networks, and in the
/// other maps, machines. If all cases have the same block size, columns and rows are parameters
/// instead.
pub fn winner_maps(comparison: &Comparison) -> WinnerMaps {
    if Axis::Block.varies(comparison) {
        return winner_maps_over(comparison, Axis::Block, None);
    }
    let is_parameter = |axis: &Axis| matches!(axis, Axis::Parameter(_)) && !axis.is_of_algorithms();
    let mut parameters = Axis::varying(comparison).into_iter().filter(is_parameter);
    let x = parameters.next().unwrap_or(Axis::Block);
    winner_maps_over(comparison, x, parameters.next())
}

/// Returns maps whose columns are the values of `x`. If `rows` is `None`, rows are networks in the
/// first maps, and machines in the other maps. All networks with the same workload and machine are
/// in the same map.
pub fn winner_maps_over(comparison: &Comparison, x: Axis, rows: Option<Axis>) -> WinnerMaps {
    let maps = match rows {
        Some(rows) => maps_of(comparison, x, RowAxis::Values(rows)),
        None => {
            let mut maps = maps_of(comparison, x, RowAxis::Networks);
            for map in &mut maps {
                let kinds: BTreeSet<String> =
                    map.rows.iter().map(|topology| topology::kind(topology)).collect();
                if let (1, Some(kind)) = (kinds.len(), kinds.first()) {
                    map.row_axis = RowAxis::Nodes;
                    map.settings.topology.clone_from(kind);
                }
            }
            maps.extend(maps_of(comparison, x, RowAxis::Machines));
            maps
        }
    };
    let shown: BTreeSet<usize> = maps.iter().flat_map(WinnerMap::groups).collect();
    let is_single =
        |group: &usize| comparison.groups[*group].winner.is_some() && !shown.contains(group);
    let single_groups = (0..comparison.groups.len()).filter(is_single).collect();
    WinnerMaps { maps, single_groups }
}

/// Returns maps with at least two columns or two rows, in the order of their first groups.
fn maps_of(comparison: &Comparison, x: Axis, row_axis: RowAxis) -> Vec<WinnerMap> {
    let placed = comparison.groups.iter().enumerate().filter_map(|(number, group)| {
        let (at, rest) = x.place_group(group)?;
        let (row, settings) = row_axis.place(group, rest)?;
        Some((settings, (row, at, number)))
    });
    let map = |(settings, cells): (CommonSettings, Vec<CasePosition>)| {
        WinnerMap::of(comparison, (x, row_axis), settings, &cells)
    };
    grouped(placed)
        .into_iter()
        .map(map)
        .filter(|map| map.xs.len() > 1 || map.rows.len() > 1)
        .collect()
}

impl WinnerMap {
    fn of(
        comparison: &Comparison,
        (x_axis, row_axis): (Axis, RowAxis),
        settings: CommonSettings,
        cells: &[CasePosition],
    ) -> Self {
        let xs = distinct(cells.iter().map(|(_, x, _)| *x));
        let mut rows: Vec<(&RowKey, u64)> = Vec::new();
        for (row, _, group) in cells {
            if !rows.iter().any(|(known, _)| *known == row) {
                rows.push((row, comparison.groups[*group].nodes));
            }
        }
        let text = |row: &RowKey| match (row, row_axis) {
            (RowKey::Value(bits), RowAxis::Values(axis)) => axis.text(f64::from_bits(*bits)),
            (RowKey::Value(bits), _) => f64::from_bits(*bits).to_string(),
            (RowKey::Text(text), _) => text.clone(),
        };
        match row_axis {
            RowAxis::Values(_) => rows.sort(),
            RowAxis::Nodes | RowAxis::Networks => {
                rows.sort_by_cached_key(|(row, nodes)| (topology::kind(&text(row)), *nodes));
            }
            RowAxis::Machines => {
                let machines: Vec<String> = rows.iter().map(|(row, _)| text(row)).collect();
                let values = differing(&machines.iter().map(String::as_str).collect::<Vec<_>>());
                let value = |row: &RowKey| values.get(&text(row)).copied().unwrap_or(f64::INFINITY);
                rows.sort_by(|a, b| value(a.0).total_cmp(&value(b.0)));
            }
        }
        let mut table = vec![vec![None; xs.len()]; rows.len()];
        for (row, x, group) in cells {
            let at = (
                rows.iter().position(|(known, _)| *known == row),
                xs.iter().position(|known| known == x),
            );
            if let (Some(row), Some(column)) = at {
                let of_group = &comparison.groups[*group];
                table[row][column] = of_group.winner.clone().map(|winner| MapCell {
                    group: *group,
                    mark: of_group.mark(&winner.algorithm),
                    winner,
                });
            }
        }
        let rows = rows.into_iter().map(|(row, _)| text(row)).collect();
        Self { x_axis, row_axis, settings, xs, rows, cells: table }
    }

    pub fn groups(&self) -> impl Iterator<Item = usize> {
        self.cells.iter().flatten().flatten().map(|cell| cell.group)
    }

    pub fn winners(&self) -> Vec<&str> {
        let cells = self.cells.iter().flatten().flatten();
        let names: BTreeSet<&str> = cells.map(|cell| &*cell.winner.algorithm).collect();
        names.into_iter().collect()
    }
}

/// If the machines differ in only one parameter, returns the value of this parameter for each
/// machine. Otherwise, returns an empty map.
fn differing(machines: &[&str]) -> BTreeMap<String, f64> {
    let read = |machine: &&str| {
        let spec = Spec::parse("machine", machine).ok()?;
        let args =
            spec.args().iter().map(|arg| Some((arg.key()?.to_owned(), arg.value().to_owned())));
        Some((
            (*machine).to_owned(),
            spec.name().to_owned(),
            args.collect::<Option<BTreeMap<String, String>>>()?,
        ))
    };
    let Some(read) = machines.iter().map(read).collect::<Option<Vec<_>>>() else {
        return BTreeMap::new();
    };
    let Some((_, name, first)) = read.first() else { return BTreeMap::new() };
    let varies = |key: &&String| read.iter().any(|(_, _, args)| args.get(*key) != first.get(*key));
    let keys: Vec<&String> = first.keys().filter(varies).collect();
    let alike = read.iter().all(|(_, other, args)| other == name && args.len() == first.len());
    let [key] = keys[..] else { return BTreeMap::new() };
    if !alike {
        return BTreeMap::new();
    }
    let number = |text: &String| {
        text.parse().ok().or_else(|| parse_size(text).ok().map(|bytes| bytes as f64))
    };
    read.iter()
        .filter_map(|(machine, _, args)| Some((machine.clone(), number(args.get(key)?)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::families;
    use crate::compare::compare;
    use crate::compare::tests::{files, row};
    use crate::record::Record;

    fn at(
        topology: &str,
        nodes: u64,
        size: &str,
        machine: &str,
        algorithm: &str,
        time: f64,
    ) -> Record {
        let (topology, machine) = (topology.to_owned(), machine.to_owned());
        Record {
            topology,
            nodes,
            workload: format!("uniform:{size}"),
            machine,
            ..row(algorithm, 0, time)
        }
    }

    fn of(rows: Vec<Record>, row_axis: RowAxis) -> Vec<WinnerMap> {
        let maps = winner_maps(&compare(&files(rows), None).unwrap()).maps;
        maps.into_iter().filter(|map| map.row_axis == row_axis).collect()
    }

    fn names(map: &WinnerMap) -> Vec<String> {
        let name = |cell: &Option<MapCell>| {
            cell.as_ref().map_or("-", |cell| &cell.winner.algorithm).to_owned()
        };
        map.cells.iter().map(|row| row.iter().map(name).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn a_map_has_sizes_and_networks() {
        let mut rows = Vec::new();
        for (topology, nodes, size, a, b) in [
            ("torus:8x8", 64, "1KiB", 5.0, 4.0),
            ("torus:4x4", 16, "1KiB", 1.0, 2.0),
            ("torus:8x8", 64, "64", 1.0, 3.0),
        ] {
            rows.push(at(topology, nodes, size, "paragon", "a", a));
            rows.push(at(topology, nodes, size, "paragon", "b", b));
        }
        let found = of(rows, RowAxis::Nodes);
        let [map] = &found[..] else { panic!("{found:?}") };
        assert_eq!(
            (&map.xs[..], &map.rows[..]),
            (&[64.0, 1024.0][..], &["torus:4x4", "torus:8x8"].map(String::from)[..])
        );
        assert_eq!(
            (names(map), map.winners()),
            (vec!["- a".to_owned(), "a b".to_owned()], vec!["a", "b"])
        );
        assert_eq!(map.settings.title(), "2D torus, uniform, paragon, wormhole");
    }

    #[test]
    fn machines_are_ordered_by_the_differing_parameter() {
        let machines = ["paragon:startup_us=100", "paragon:startup_us=9", "paragon:startup_us=22"];
        let rows = |machines: &[&str]| {
            machines.iter().map(|m| at("ring:4", 4, "64", m, "a", 1.0)).collect()
        };
        let sorted = &of(rows(&machines), RowAxis::Machines)[0].rows;
        assert_eq!(
            sorted,
            &["paragon:startup_us=9", "paragon:startup_us=22", "paragon:startup_us=100"]
        );
        let unlike = ["paragon:startup_us=9", "delta"];
        assert_eq!(&of(rows(&unlike), RowAxis::Machines)[0].rows, &unlike, "as they came");
    }

    #[test]
    fn networks_of_several_kinds_form_one_map() {
        let networks = [("torus:4x4", 16), ("ring:8", 8), ("fat-tree:2x2", 4), ("torus:2x2", 4)];
        let rows = |sizes: &'static [&str]| {
            let of_network = move |(topology, nodes)| {
                sizes.iter().map(move |size| at(topology, nodes, size, "paragon", "a", 1.0))
            };
            networks.into_iter().flat_map(of_network).collect::<Vec<_>>()
        };
        for sizes in [&["64"][..], &["64", "128"]] {
            let [map] = &of(rows(sizes), RowAxis::Networks)[..] else { panic!("no map") };
            assert_eq!(map.rows, ["torus:2x2", "torus:4x4", "fat-tree:2x2", "ring:8"]);
            assert_eq!(
                (map.xs.len(), &*map.settings.title()),
                (sizes.len(), "uniform, paragon, wormhole")
            );
        }
        let mut mixed = rows(&["64", "128"]);
        let workload = "moe:experts=8,top=2,tokens=4,bytes=64".to_owned();
        mixed.push(Record { workload, ..mixed[0].clone() });
        let maps = winner_maps(&compare(&files(mixed), None).unwrap());
        assert_eq!(maps.single_groups, [8]);
    }

    #[test]
    fn of_equal_times_the_first_by_name_wins_everywhere() {
        let names = ["linear", "bruck", "pairwise"];
        let of_size = |size| names.map(|name| at("ring:4", 4, size, "paragon", name, 10.0));
        let rows = ["8", "64"].into_iter().flat_map(of_size).collect();
        let comparison = compare(&files(rows), None).unwrap();
        let group = &comparison.groups[0];
        assert_eq!(group.baseline.as_deref(), Some("bruck"));
        assert_eq!(group.winner.as_ref().unwrap().tied, ["linear", "pairwise"]);
        let envelope = families(&comparison, Axis::Block).families[0].envelope();
        let in_curves: Vec<&str> = envelope.ranges.iter().map(|r| &*r.algorithm).collect();
        assert_eq!(
            (in_curves, winner_maps(&comparison).maps[0].winners()),
            (vec!["bruck"], vec!["bruck"])
        );
    }

    #[test]
    fn one_case_is_no_map() {
        assert_eq!(of(vec![at("ring:4", 4, "64", "paragon", "a", 1.0)], RowAxis::Nodes), []);
    }
}
