//! Jellyfish: switches with random links between them, and the same number of links at each switch
//! (A. Singla, C.-Y. Hong, L. Popa, P. B. Godfrey, *Jellyfish: Networking Data Centers Randomly*,
//! NSDI 2012).
//!
//! The construction is that of the paper. As long as there are two switches that have free ports
//! and are not linked to each other, a link is added between a random pair of such switches. If
//! ports are still free afterwards, on one switch or on two linked switches, a random link is
//! removed, and the two switches at its ends are linked to the free ports. A network that is not
//! connected is discarded and drawn again. The random numbers are drawn with SplitMix64 from the
//! given seed. Routes are shortest routes, on which each switch forwards to the neighbour with the
//! lowest number.

use super::adjacency::{Adjacency, RoutingTable};
use super::random::SplitMix64;
use super::switched::{Fabric, FamilyArgs, Switched};
use super::{AxisSymmetry, Parsed};
use crate::spec::Spec;
use std::sync::Arc;

#[derive(Debug)]
struct Jellyfish {
    switches: u64,
    degree: u64,
    table: RoutingTable,
}

pub(super) fn parse(spec: &Spec) -> Parsed {
    const EXPECTED: &str = "switches, links and nodes of each, as in `jellyfish:50x5x2`";
    const DRAWS: usize = 100;
    let words = FamilyArgs::of(spec, EXPECTED, &["seed"])?;
    let word = words.word;
    let [switches, degree, nodes] = spec.dims_array(word, EXPECTED)?;
    if switches > RoutingTable::MAX_VERTICES {
        return Err(
            spec.bad_value(word, &format!("at most {} switches", RoutingTable::MAX_VERTICES))
        );
    }
    if degree >= switches || !(switches * degree).is_multiple_of(2) || (degree == 1 && switches > 2)
    {
        let fits = "fewer links per switch than switches, at least 2 if there are more than two switches, and an even number of link ends";
        return Err(spec.bad_value(word, fits));
    }
    let seed = words.number("seed", 0, 0)?;
    let mut draw = SplitMix64::new(seed);
    let network = (0..DRAWS)
        .map(|_| Adjacency::from_neighbours(&linked(switches, degree, &mut draw)))
        .find(|network| network.unreached_from(0).is_none())
        .ok_or_else(|| spec.bad_value(word, "numbers for which a connected network is drawn"))?;
    let table = RoutingTable::find(network, switches);
    let seed = if seed == 0 { String::new() } else { format!(",seed={seed}") };
    let arguments = format!("{switches}x{degree}x{nodes}{seed}");
    let fabric = Jellyfish { switches, degree, table };
    Ok(Arc::new(Switched::new(fabric, "jellyfish", &arguments, vec![switches, nodes], nodes)))
}

fn linked(switches: u64, degree: u64, draw: &mut SplitMix64) -> Vec<Vec<u32>> {
    let mut links: Vec<Vec<u32>> = vec![Vec::new(); switches as usize];
    loop {
        let free: Vec<usize> =
            (0..links.len()).filter(|s| (links[*s].len() as u64) < degree).collect();
        let Some(last) = free.last() else { break };
        let joinable = |a: usize, b: usize| a != b && !links[a].contains(&(b as u32));
        // Draw a few pairs of switches with free ports. If all of these are already linked, draw
        // from the list of all pairs that are not linked.
        let drawn = (0..4).map(|_| (free[draw.below(free.len())], free[draw.below(free.len())]));
        let pair = drawn.into_iter().find(|(a, b)| joinable(*a, *b)).or_else(|| {
            let pairs = free.iter().flat_map(|a| free.iter().map(|b| (*a, *b)));
            let all: Vec<(usize, usize)> = pairs.filter(|(a, b)| joinable(*a, *b)).collect();
            (!all.is_empty()).then(|| all[draw.below(all.len())])
        });
        if let Some((a, b)) = pair {
            links[a].push(b as u32);
            links[b].push(a as u32);
            continue;
        }
        // All switches with free ports are linked to each other. Remove a random link, and link its
        // ends to the free ports.
        let (a, b) = (free[0], *last);
        let (c, d) = loop {
            let c = draw.below(links.len());
            if links[c].is_empty() {
                continue;
            }
            let d = links[c][draw.below(links[c].len())] as usize;
            let apart = |x: usize, y: usize| x != y && !links[x].contains(&(y as u32));
            if apart(a, c) && apart(b, d) {
                break (c, d);
            }
        };
        links[c].retain(|to| *to != d as u32);
        links[d].retain(|to| *to != c as u32);
        for (x, y) in [(a, c), (b, d)] {
            links[x].push(y as u32);
            links[y].push(x as u32);
        }
    }
    links.iter_mut().for_each(|ends| ends.sort_unstable());
    links
}

impl Fabric for Jellyfish {
    fn switches(&self) -> u64 {
        self.switches
    }

    fn radix(&self) -> u64 {
        self.degree
    }

    fn neighbour(&self, switch: u64, port: u64) -> Option<u64> {
        self.table.network().out(switch as usize).get(port as usize).map(|to| u64::from(*to))
    }

    fn next_port(&self, at: u64, to: u64) -> u64 {
        self.table.next_position(at, to)
    }

    fn symmetry_period(&self) -> u64 {
        self.switches()
    }

    fn axes(&self) -> Vec<AxisSymmetry> {
        vec![AxisSymmetry::Fixed]
    }

    fn distances(&self, switch: u64) -> (u64, u64) {
        self.table.distances(switch)
    }
}
