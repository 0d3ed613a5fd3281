//! Automorphisms, compared with the routes, links, bandwidths and latencies of each network.

use super::*;
use crate::network::symmetry::{Group, Symmetry};
use crate::network::topology::automorphisms::{CoordinatePermutation, Orbits, image_of_node};

/// Larger networks than [`small`] of the families with switches.
const SWITCHED: &str = "
    dragonfly:5x2x3 dragonfly:9x4x1 dragonfly:1x4x2 hyperx:4x3x2,nodes=2 slim-fly:5,nodes=2
    slim-fly:7 fat-tree:3x3 fat-tree:2x5 fat-tree:6x1 groups:3x4,inside=9,inside_hop=0.5
";

/// Returns the numbers of the links of a route, sorted.
fn links(network: &Network, from: u64, to: u64) -> Vec<u64> {
    let mut links = crossed(network, from, to, None).unwrap();
    links.sort_unstable();
    links
}

/// A coordinate permutation of one axis is accepted if and only if the network states it as an
/// automorphism. Then it maps each route to a route, and each link to a link of the same bandwidth
/// and latency.
#[test]
fn accepted_permutations_map_routes_to_routes() {
    let mut moved_axes = 0;
    for spec in small().chain(SWITCHED.split_whitespace()) {
        let network = topology(spec);
        let network = network.as_ref();
        let Some(automorphisms) = network.automorphisms() else { continue };
        let (axes, radices) = (automorphisms.axes(), network.radices());
        assert_eq!(axes.len(), radices.len(), "{spec}");
        for ((axis, symmetry), &radix) in axes.iter().enumerate().zip(radices) {
            // A rotation, and the exchange of the first two coordinates.
            let rotated = |at: u64| (at + 1) % radix;
            let exchanged = |at: u64| if at < 2 { 1 - at } else { at };
            let permutations: [(&dyn Fn(u64) -> u64, _); 2] = [
                (&rotated, *symmetry != AxisSymmetry::Fixed),
                // The exchange of two coordinates is a rotation if there are no others.
                (
                    &exchanged,
                    *symmetry == AxisSymmetry::Permutations
                        || radix == 2 && *symmetry == AxisSymmetry::Rotations,
                ),
            ];
            for (permutation, is_known) in permutations.into_iter().filter(|_| radix > 1) {
                let image = |of: usize, at: u64| if of == axis { permutation(at) } else { at };
                let node = |node: u64| image_of_node(radices, node, &image);
                let found = CoordinatePermutation::of(network, &node);
                assert_eq!(found.is_some(), is_known, "{spec}, axis {axis}");
                let Some(found) = found else { continue };
                moved_axes += 1;
                // The image of a route is the route between the images of its ends.
                let link = |link: u64| automorphisms.image_of_link(link, &image);
                for (from, to) in pairs(network.nodes()) {
                    let mut images: Vec<u64> =
                        links(network, from, to).into_iter().map(link).collect();
                    images.sort_unstable();
                    assert_eq!(images, links(network, node(from), node(to)), "{spec} {axis}");
                }
                // A link and its image are in the same orbit. The orbits contain all links.
                let orbits = Orbits::of_links(network, &[found]);
                let mut in_orbits = 0;
                for own in (0..network.link_slots()).filter(|l| network.link_ends(*l).is_some()) {
                    let to = link(own);
                    assert_eq!(orbits.orbit(own), orbits.orbit(to), "{spec} {axis}");
                    if let Some((from, port)) = automorphisms.port(own) {
                        assert_eq!(network.link_ends(own).unwrap().0, from, "{spec}");
                        assert!(port < network.link_slots() / network.nodes(), "{spec}");
                        assert_eq!(
                            automorphisms.port(to),
                            Some((node(from), port)),
                            "{spec} {axis}"
                        );
                    }
                    let speed = |link| (network.bandwidth(link), network.latency(link));
                    assert_eq!(speed(own), speed(to), "{spec} {axis}");
                    in_orbits += u64::from(orbits.first(orbits.orbit(own)) == own)
                        * orbits.size(orbits.orbit(own));
                }
                let exist = |l: &u64| network.link_ends(*l).is_some();
                assert_eq!(in_orbits, (0..network.link_slots()).filter(exist).count() as u64);
            }
        }
    }
    assert!(moved_axes > 60, "{moved_axes}");
}

/// The last value of each row was found by hand. It is the order of the largest subgroup whose
/// elements the network states as automorphisms.
#[test]
fn shifts_that_carry_are_no_automorphisms() {
    use Symmetry::{Fixed, Shift, Xor};
    for (spec, radices, symmetries, order) in [
        // A shift of ranks by a whole group does not carry into another axis.
        ("dragonfly:5x2x3", &[30][..], &[Shift(1)][..], 5),
        ("dragonfly:5x2x3", &[5, 2, 3], &[Shift(1), Shift(1), Shift(1)], 15),
        ("dragonfly:4x2x2", &[16], &[Xor(1)], 2),
        ("fat-tree:3x3", &[27], &[Shift(1)], 3),
        ("fat-tree:4x2", &[16], &[Xor(1)], 16),
        ("hyperx:4x3,nodes=2", &[24], &[Shift(1)], 4),
        ("hyperx:4x4", &[16], &[Xor(2)], 8),
        ("slim-fly:5", &[50], &[Shift(1)], 1),
        ("slim-fly:5", &[10, 5], &[Fixed, Shift(1)], 5),
        ("slim-fly:4", &[32], &[Xor(1)], 1),
        ("groups:3x4,inside=9", &[12], &[Shift(2)], 3),
        ("fully-connected:6", &[6], &[Shift(2)], 3),
        ("jellyfish:8x3x2", &[8, 2], &[Shift(1), Shift(1)], 2),
        ("torus:4x6", &[24], &[Shift(1)], 4),
        ("mesh:4x6", &[24], &[Shift(6)], 1),
        ("rdn:1(hypercube:2)", &[2, 4, 4], &[Xor(1), Xor(1), Xor(1)], 2),
        ("dragonfly:5x2x3,place=random:1", &[30], &[Shift(6)], 1),
        ("dragonfly:5x2x3,routing=valiant", &[30], &[Shift(6)], 1),
        ("dragonfly:5x2x3,slow=0-30:0.5", &[30], &[Shift(6)], 1),
    ] {
        let (network, group) = (topology(spec), Group::new(radices, symmetries).unwrap());
        let is_known = |generator| {
            CoordinatePermutation::of(network.as_ref(), &|node| group.moved(node, generator))
                .is_some()
        };
        assert_eq!(group.subgroup(is_known).order(), order, "{spec} {symmetries:?}");
    }
}
