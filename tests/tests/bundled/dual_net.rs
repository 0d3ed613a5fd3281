use std::collections::BTreeSet;
use swapmeet_sdk::Grid;

mod line {
    use super::*;
    use swapmeet_plugin_dual_net::one_to_all::line::{
        LineMessage, broadcast_by_halves, broadcast_on_ring, scatter_by_halves, scatter_on_ring,
    };

    type Moves = fn(u64) -> Vec<Vec<LineMessage>>;

    /// Returns the blocks that each position has at the end, and the longest message of each step.
    /// Checks that no node sends twice or receives twice in a step, and that no node sends a block
    /// that it does not have.
    fn simulate(len: u64, moves: Moves, copies: bool) -> (Vec<BTreeSet<u64>>, Vec<u64>) {
        let mut held = vec![BTreeSet::new(); len as usize];
        held[0] = (0..len).collect();
        let mut longest = Vec::new();
        for step in moves(len) {
            let before = held.clone();
            let ends =
                |end: fn(&LineMessage) -> u64| step.iter().map(end).collect::<BTreeSet<_>>().len();
            assert_eq!(
                (ends(|m| m.from), ends(|m| m.to)),
                (step.len(), step.len()),
                "one port, {len}"
            );
            for m in &step {
                for place in (m.first..m.first + m.count).map(|place| place % len) {
                    assert!(
                        before[m.from as usize].contains(&place),
                        "{len}: {} does not hold the block for {place}",
                        m.from
                    );
                    held[m.to as usize].insert(place);
                    if !copies {
                        held[m.from as usize].remove(&place);
                    }
                }
            }
            longest.push(step.iter().map(|m| m.count).max().unwrap());
        }
        (held, longest)
    }

    #[test]
    fn a_broadcast_reaches_every_position_of_a_line() {
        let doubling = |len: u64| u64::from(len.next_power_of_two().trailing_zeros());
        for len in 1..40_u64 {
            for (moves, steps) in [
                (broadcast_on_ring as Moves, len.div_ceil(2).min(len - 1)),
                (broadcast_by_halves as Moves, doubling(len)),
            ] {
                let (held, longest) = simulate(len, moves, true);
                assert!(held.iter().all(|h| h.len() as u64 == len), "{len}");
                assert_eq!(longest.len() as u64, steps, "{len}");
            }
        }
    }

    #[test]
    fn a_scatter_delivers_to_every_position_of_a_line() {
        for len in 1..40_u64 {
            for moves in [scatter_on_ring as Moves, scatter_by_halves] {
                let (held, longest) = simulate(len, moves, false);
                assert!(
                    held.iter().zip(0..).all(|(h, place)| *h == BTreeSet::from([place])),
                    "{len}: {held:?}"
                );
                assert_eq!(longest.iter().sum::<u64>(), len - 1, "{len}");
            }
        }
    }

    #[test]
    fn ring_messages_cross_one_link() {
        for len in 2..40_u64 {
            for m in [broadcast_on_ring(len), scatter_on_ring(len)].into_iter().flatten().flatten()
            {
                let ahead = (m.to + len - m.from) % len;
                assert!(ahead == 1 || ahead == len - 1, "{len}: {} to {}", m.from, m.to);
            }
        }
    }
}

mod one_to_all {
    use super::*;
    use swapmeet_plugin_dual_net::one_to_all::from_neighbour_to_neighbour;

    #[test]
    fn neighbours_inform_a_torus_in_the_expected_steps() {
        for (sides, steps) in
            [(&[5, 5][..], 5), (&[3, 3], 4), (&[5, 5, 5], 8), (&[4, 4], 4), (&[1], 0), (&[2, 3], 3)]
        {
            let base = Grid::new(sides).unwrap();
            let nearby = from_neighbour_to_neighbour(&base);
            assert_eq!(nearby.len(), steps, "{sides:?}");
            let mut doubled = BTreeSet::from([0]);
            for step in nearby {
                let before = doubled.clone();
                let senders: BTreeSet<u64> = step.iter().map(|(from, _)| *from).collect();
                assert_eq!(senders.len(), step.len(), "one port");
                for (from, to) in step {
                    assert!(before.contains(&from) && doubled.insert(to));
                    let apart = |d| {
                        (base.coordinate(to, d) + base.radix(d) - base.coordinate(from, d))
                            % base.radix(d)
                    };
                    let moved: Vec<usize> = (0..sides.len()).filter(|d| apart(*d) > 0).collect();
                    assert!(
                        moved.len() == 1 && [1, sides[moved[0]] - 1].contains(&apart(moved[0])),
                        "neighbours"
                    );
                }
            }
            assert_eq!(doubled.len() as u64, base.nodes());
        }
    }
}
