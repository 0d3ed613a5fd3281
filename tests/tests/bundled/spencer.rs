mod permutation {
    use swapmeet_plugin_spencer::permutation::PERMUTATION;
    use swapmeet_sdk::Rehearsal;

    /// The sends of a plan for all nodes must be in this order (docs/abi.md, "Symmetry").
    #[test]
    fn senders_are_in_ascending_order() {
        let side = 8;
        for ports in [1, u64::MAX] {
            for (name, image) in [
                ("shear", (|a, b| (a + b, b)) as fn(u64, u64) -> (u64, u64)),
                ("shear by 3", |a, b| (a + 3 * b, b)),
                ("translation", |a, b| (a + 3, b)),
                ("transposition", |a, b| (b, a)),
                ("reflection", |a, b| (8 - 1 - a, 8 - 1 - b)),
            ] {
                let image = |node| {
                    let (a, b) = image(node / side, node % side);
                    a % side * side + b % side
                };
                let to: Vec<u64> = (0..side * side).map(image).collect();
                let problem = Rehearsal::on("torus", &[side, side]).permutation(name, &to);
                for step in problem.ports(ports).plan(&PERMUTATION).unwrap() {
                    let senders: Vec<u64> = step.sends.iter().map(|send| send.from).collect();
                    assert!(senders.is_sorted(), "{name}, {}: {senders:?}", step.phase);
                }
            }
        }
    }
}

mod mirrors {
    use swapmeet_plugin_spencer::permutation::mirrors::Mirrors;
    use swapmeet_plugin_spencer::torus::{Torus, Variant};

    fn shape(permutation: &[(usize, bool)]) -> Vec<usize> {
        let mirrors = Mirrors::compose(permutation).unwrap();
        mirrors.rounds.iter().map(|round| round.iter().flat_map(|m| m.axes()).count()).collect()
    }

    #[test]
    fn global_permutations_are_composed_as_in_section_4_4() {
        let (x, y, z) = (0, 1, 2);
        let (plus, minus) = (false, true);
        assert_eq!(shape(&[(x, minus)]), [1]);
        assert_eq!(shape(&[(y, minus), (x, minus)]), [2]);
        // Rotations by 90 degrees (a 2- and a 1-dimensional transposition) and by 120 degrees.
        assert_eq!(shape(&[(y, plus), (x, minus)]).iter().sum::<usize>(), 3);
        assert_eq!(shape(&[(y, plus), (z, plus), (x, plus)]), [2, 2]);
        // Rotations by 180 degrees about the middle of an edge take one round, whose circuits cross
        // both mirrors.
        assert_eq!(shape(&[(y, minus), (x, minus), (z, minus)]), [3]);
        // In three dimensions, type 1 takes 5n/2 links (formula 4.26) and type 2 2n links (formula
        // 4.27).
        assert_eq!(shape(&[(y, minus), (z, minus), (x, minus)]).iter().sum::<usize>(), 5);
        assert_eq!(shape(&[(z, plus), (y, minus), (x, minus)]).iter().sum::<usize>(), 4);
    }

    #[test]
    fn mirrors_compose_to_the_permutation() {
        let torus = Torus::new(vec![6; 4], 1, Variant::AllPorts);
        let mut orders = vec![vec![]];
        for i in 0..4 {
            orders = orders
                .iter()
                .flat_map(|o: &Vec<usize>| {
                    (0..=o.len()).map(move |at| {
                        let mut o = o.clone();
                        o.insert(at, i);
                        o
                    })
                })
                .collect();
        }
        for order in orders {
            for reflected in 0..16 {
                let permutation: Vec<(usize, bool)> = order
                    .iter()
                    .enumerate()
                    .map(|(to, a)| (*a, reflected >> to & 1 == 1))
                    .collect();
                let mirrors = Mirrors::compose(&permutation).unwrap();
                for node in [0, 1, 77, 543, 1295] {
                    let mut at = node;
                    for mirror in mirrors.rounds.iter().flatten() {
                        at = mirror.walk(&torus, at, node % 2 == 0, |_| {});
                    }
                    for (to, &(axis, reflected)) in permutation.iter().enumerate() {
                        let x = torus.coordinate(node, axis);
                        assert_eq!(
                            torus.coordinate(at, to),
                            if reflected { 5 - x } else { x },
                            "{permutation:?}"
                        );
                    }
                }
            }
        }
    }
}

mod sections {
    use swapmeet_plugin_spencer::permutation::sections::{Collectors, Sections};
    use swapmeet_plugin_spencer::torus::Variant;

    #[test]
    fn fig_4_2_collects_50_nodes_in_two_rounds() {
        // Fig. 4.2: a quarter of a cycle of 200 nodes, for machines with two virtual channels.
        let sections = Sections::new(200, 8, 2, Variant::AllPorts, Collectors::Later);
        assert_eq!(sections.rounds(), 2);
        assert_eq!(sections.collectors[..2], [12, 37]);
    }

    #[test]
    fn every_node_collects_or_is_collected_once() {
        for n in 1..60 {
            for count in 1..=n {
                for variant in [Variant::OnePort, Variant::AllPorts] {
                    for collectors in Collectors::ALL {
                        let sections = Sections::new(n, count, 2, variant, collectors);
                        for node in 0..n {
                            let collects = usize::from(sections.collected_by(node).is_some());
                            let through =
                                (0..sections.rounds()).flat_map(|r| sections.circuits(node, r));
                            let halves: usize =
                                through.map(|c| if c.half.is_some() { 1 } else { 2 }).sum();
                            assert_eq!(halves + 2 * collects, 2, "{node} of {n} in {count}");
                        }
                    }
                }
            }
        }
    }
}

mod shift {
    use swapmeet_plugin_spencer::permutation::shift::{Directions, Row, ShiftProblem, max_load};
    use swapmeet_plugin_spencer::torus::Variant;

    fn row(n: u64, q: u64, by: u64, middles: u64, directions: Directions) -> Row {
        ShiftProblem { n, q, variant: Variant::AllPorts, by: &[by], directions }.row(middles)
    }

    #[test]
    fn forward_has_the_sections_of_formula_4_14() {
        // The distance is i = n/a, and sections have n/(a q) nodes.
        for (n, q, a) in [(24, 1, 3), (48, 2, 4), (72, 2, 4), (60, 3, 5)] {
            assert_eq!(row(n, q, n / a, 1, Directions::Forward).movements.len() as u64, a * q);
        }
    }

    #[test]
    fn both_directions_have_the_sections_of_formula_4_15() {
        for (n, q, a) in [(32, 3, 4), (36, 2, 3), (64, 3, 4)] {
            assert_eq!(
                row(n, q, n / a, 1, Directions::Both).movements.len() as u64,
                a * a * q / (a - 1)
            );
        }
    }

    #[test]
    fn half_way_round_half_of_the_sections_move_backwards() {
        let row = row(36, 1, 18, 1, Directions::Best);
        assert_eq!(row.movements.len(), 4);
        assert_eq!(row.movements.iter().map(|j| j.by[0]).collect::<Vec<_>>(), [18, -18, 18, -18]);
    }

    /// On 36 nodes, sections have 9 nodes, and every second section uses the longer direction, so
    /// the period is two sections. On 25 nodes, sections differ in size, so the period is 25.
    #[test]
    fn periods_are_whole_numbers_of_sections() {
        assert_eq!(row(36, 1, 18, 1, Directions::Best).period(36), 18);
        assert_eq!(row(24, 1, 8, 1, Directions::Forward).period(24), 8);
        let uneven = row(25, 1, 8, 1, Directions::Forward);
        assert_eq!((uneven.movements.len(), uneven.period(25)), (3, 25));
    }

    #[test]
    fn a_distance_of_q_needs_no_collection() {
        let row = row(40, 3, 3, 1, Directions::Best);
        assert_eq!((row.sections.rounds(), row.movements.len()), (0, 40));
    }

    #[test]
    fn no_link_carries_more_than_q_circuits() {
        for n in 1..40 {
            for q in 1..4 {
                for by in 0..n {
                    for middles in 1..=2 {
                        let row = row(n, q, by, middles, Directions::Best);
                        for round in 0..middles {
                            let of_round = row.movements.iter().zip(&row.sections.collectors);
                            let movements = of_round
                                .filter(|(j, _)| j.round as u64 == round)
                                .map(|(j, at)| (*at, j.by[0]));
                            assert!(max_load(n, movements) <= q, "{by} on {n}, q = {q}");
                        }
                    }
                }
            }
        }
    }
}

mod torus {
    use swapmeet_plugin_spencer::torus::{Torus, Variant};

    #[test]
    fn every_link_leads_to_its_neighbour() {
        let torus = Torus::new(vec![4, 2, 1, 3], 1, Variant::AllPorts);
        for node in 0..torus.nodes() {
            for dim in [0, 1, 3] {
                for plus in [true, false] {
                    // With two nodes, both directions use the link in the positive direction.
                    let link = 2 * dim + usize::from(plus || torus.dims[dim] == 2);
                    assert_eq!(torus.link(node, torus.neighbour(node, dim, plus)), link);
                }
            }
        }
    }
}

mod tree {
    use swapmeet_plugin_spencer::cost::Cost;
    use swapmeet_plugin_spencer::torus::Variant;
    use swapmeet_plugin_spencer::tree::{Circuit, Payload, bundle_costs, divide, one_port_start};

    fn rounds_needed(count: u64, sections: u64) -> usize {
        let (mut reach, mut rounds) = (1, 0);
        while reach < count {
            reach *= sections;
            rounds += 1;
        }
        rounds
    }

    /// Every node is informed once, by an informed node that was responsible for it, and no link
    /// carries more than q circuits in a round.
    fn check(count: u64, at: u64, q: u64, variant: Variant, payload: Payload) -> usize {
        let rounds = divide(count, at, q, variant, payload);
        let mut serves = vec![(0, 0); count as usize];
        serves[at as usize] = (0, count);
        for round in &rounds {
            let mut loads = vec![[0; 2]; count as usize];
            let before = serves.clone();
            for c in round {
                let (first, of) = before[c.from as usize];
                assert!(of > 0, "{} isn't informed yet", c.from);
                assert!(c.first >= first && c.first + c.count <= first + of);
                assert!(
                    (c.first..c.first + c.count).contains(&c.to) && serves[c.to as usize].1 == 0
                );
                serves[c.to as usize] = (c.first, c.count);
                for link in c.from.min(c.to)..c.from.max(c.to) {
                    loads[link as usize][usize::from(c.to > c.from)] += 1;
                }
                let own = &mut serves[c.from as usize];
                if c.first > c.from {
                    own.1 = own.1.min(c.first - own.0);
                } else {
                    let end = own.0 + own.1;
                    own.0 = own.0.max(c.first + c.count);
                    own.1 = end - own.0;
                }
            }
            assert!(loads.iter().flatten().all(|load| *load <= q), "{count} from {at}, q = {q}");
            if variant == Variant::OnePort {
                for node in 0..count {
                    let sent: Vec<&Circuit> = round.iter().filter(|c| c.from == node).collect();
                    assert!(
                        sent.iter().all(|c| c.to > node) || sent.iter().all(|c| c.to < node),
                        "two ports"
                    );
                }
            }
        }
        assert!(serves.iter().all(|s| s.1 == 1), "{count} from {at}, q = {q}");
        rounds.len()
    }

    const PAYLOADS: [Payload; 2] = [Payload::Message, Payload::Bundle];

    #[test]
    fn every_line_takes_the_fewest_rounds() {
        for (q, count, payload) in
            (1..=4).flat_map(|q| (1..=130).flat_map(move |n| PAYLOADS.map(|c| (q, n, c))))
        {
            let rounds = |at, variant| check(count, at, q, variant, payload);
            assert_eq!(rounds(count / 2, Variant::AllPorts), rounds_needed(count, 2 * q + 1));
            for at in [0, count - 1, one_port_start(count, q)] {
                assert_eq!(rounds(at, Variant::OnePort), rounds_needed(count, q + 1));
            }
        }
    }

    #[test]
    fn all_ports_may_begin_at_any_node() {
        for (q, count, payload) in
            (1..=3).flat_map(|q| (1..=40).flat_map(move |n| PAYLOADS.map(|c| (q, n, c))))
        {
            for at in 0..count {
                let needed = rounds_needed(2 * at.max(count - 1 - at) + 1, 2 * q + 1);
                assert_eq!(check(count, at, q, Variant::AllPorts, payload), needed);
            }
        }
    }

    fn cost(count: u64, at: u64, q: u64, payload: Payload) -> (u64, u64, u64) {
        let mut rounds = divide(count, at, q, Variant::AllPorts, payload);
        if payload == Payload::Message {
            rounds.iter_mut().flatten().for_each(|circuit| circuit.count = 1);
        }
        let cost: Cost =
            bundle_costs(&rounds, |node| node as i64, |c| c.count as f64).into_iter().sum();
        (cost.rounds, cost.links, cost.blocks as u64)
    }

    #[test]
    fn a_cycle_takes_about_half_of_its_links_and_blocks() {
        for (q, count) in (1..=4).flat_map(|q| (2..=200).map(move |count| (q, count))) {
            let (rounds, links, blocks) = cost(count, count / 2, q, Payload::Message);
            assert_eq!(links, count / 2, "{count}, q = {q}");
            assert!(blocks <= q * rounds, "{count}, q = {q}: {blocks} blocks");
            let (_, links, blocks) = cost(count, count / 2, q, Payload::Bundle);
            assert!(
                links <= count / 2 + 1 && blocks < count / 2 + q,
                "{count}, q = {q}: {links} links, {blocks} blocks"
            );
        }
    }

    #[test]
    fn a_cycle_of_32_uses_both_channels_in_one_round() {
        assert_eq!(cost(32, 16, 2, Payload::Message), (3, 16, 4));
        assert_eq!(cost(32, 16, 2, Payload::Bundle), (3, 16, 16));
    }
}
