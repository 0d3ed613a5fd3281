//! Properties of networks and machines that formulas can use, as in `net.degree(spec)`.

use crate::bench::ReproduceError;
use crate::formula::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::network::multipath::MultipathLoad;
use swapmeet_core::network::survey::{Survey, SurveyMethod};
use swapmeet_core::network::topology::{Network, parse};

/// Returns the values of a survey of the network, which takes seconds if it is large.
pub(crate) fn survey(spec: &str) -> Result<Value, ReproduceError> {
    let network = parse(spec).map_err(|e| format!("{spec}: {e}"))?;
    let survey = Survey::of(network.as_ref());
    let (diameter, method) = survey.diameter;
    // A diameter by a formula of this project is not measured, so it cannot confirm a paper.
    let evidence = if method == SurveyMethod::Formula { "declared" } else { "formula" };
    let values: [(&str, Value); 6] = [
        ("degree", survey.degree.map_or(0, |(_, most, _)| most).into()),
        ("diameter", diameter.into()),
        ("method", method.to_string().as_str().into()),
        ("evidence", evidence.into()),
        ("bisection", survey.bisection.map_or(0, |(links, ..)| links).into()),
        ("cost_ratio", survey.cost_ratio().unwrap_or(f64::NAN).into()),
    ];
    Ok(Value::Map(values.map(|(name, value)| (name.to_owned(), value)).into()))
}

pub(crate) const PROPERTIES: [&str; 7] = [
    "nodes",
    "stated_diameter",
    "distance_sum",
    "longest_route",
    "link_load",
    "link_orbits",
    "four_cycles",
];

/// Returns one of the [`PROPERTIES`] of the network with this spec. None of them needs a survey.
pub(crate) fn network_property(name: &str, spec: &str) -> Result<Value, ReproduceError> {
    let network = parse(spec).map_err(|e| format!("{spec}: {e}"))?;
    Ok(match name {
        "nodes" => network.nodes().into(),
        "stated_diameter" => network.diameter().into(),
        "distance_sum" => network.distance_sum().unwrap_or(0).into(),
        "longest_route" => {
            let routes = (0..network.nodes()).map(|to| network.route(0, to, None, &mut |_| {}));
            routes.filter_map(Result::ok).max().unwrap_or(0).into()
        }
        // The load of an all-to-all whose messages are divided evenly among all shortest routes.
        "link_load" => {
            let load = MultipathLoad::of_all_to_all(network.as_ref());
            load.ok_or_else(|| format!("{spec} has too many links"))?.max_load.into()
        }
        // This is a lower bound: links on different numbers of cycles are in different orbits.
        "link_orbits" => (four_cycles(network.as_ref()).len() as u64).into(),
        "four_cycles" => {
            let kinds = four_cycles(network.as_ref());
            let kinds =
                kinds.iter().rev().map(|(cycles, links)| format!("{links} links on {cycles}"));
            kinds.collect::<Vec<_>>().join(", ").as_str().into()
        }
        _ => return Err(format!("networks have no property `{name}`").into()),
    })
}

/// Returns the number of links (in both directions together) for each number of cycles of length 4
/// that contain them. Isomorphic networks have equal results.
fn four_cycles(network: &Network) -> BTreeMap<u64, u64> {
    let mut neighbours: HashMap<u64, BTreeSet<u64>> = HashMap::new();
    for (from, to) in (0..network.link_slots()).filter_map(|link| network.link_ends(link)) {
        neighbours.entry(from).or_default().insert(to);
    }
    let mut kinds = BTreeMap::new();
    for (&a, of_a) in &neighbours {
        for &b in of_a.iter().filter(|b| a < **b) {
            let others = of_a.iter().filter(|c| **c != b);
            let closes = |c: &u64| {
                neighbours[&b].iter().filter(|d| **d != a && neighbours[c].contains(*d)).count()
            };
            let cycles: usize = others.map(closes).sum();
            *kinds.entry(cycles as u64).or_default() += 1;
        }
    }
    kinds
}

pub(crate) fn machine_parameter(spec: &str, name: &str) -> Result<Value, ReproduceError> {
    let machine = Machine::parse(spec).map_err(|e| format!("{spec}: {e}"))?;
    Ok(machine.number(name).ok_or_else(|| format!("{spec} has no `{name}`"))?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a hypercube with d dimensions, each link is on d - 1 cycles of length 4. In a dual-net,
    /// two clusters have at most one link between them, and this link is on no such cycle.
    #[test]
    fn links_between_clusters_are_on_no_cycle_of_length_4() {
        let of = |spec: &str| four_cycles(parse(spec).unwrap().as_ref());
        assert_eq!(of("hypercube:4"), BTreeMap::from([(3, 32)]));
        assert_eq!(of("rdn:1(hypercube:3)"), BTreeMap::from([(0, 64), (2, 192)]));
    }

    /// The expected values were computed by hand. On the 4x4x8 torus, each link of the long rings
    /// (8 nodes) carries 128 messages. On the twisted torus, the messages of a node have 440 hops
    /// in total, which its six links share. The ratio is 128 / (440 / 6) = 1.745. For 4x8x8, the
    /// ratio is 256 / (1104 / 6) = 1.391.
    #[test]
    fn the_maximum_link_load_matches_the_distances() {
        for (sides, gain) in [("4x4x8", 128.0 / (440.0 / 6.0)), ("4x8x8", 256.0 / (1104.0 / 6.0))] {
            let [torus, twisted] = ["torus", "twisted-torus"].map(|family| {
                let load = network_property("link_load", &format!("{family}:{sides}")).unwrap();
                load.number().unwrap()
            });
            assert!((torus / twisted - gain).abs() < 1e-9, "{sides}: {torus} {twisted}");
        }
    }
}
