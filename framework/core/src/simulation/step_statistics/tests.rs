use super::*;
use crate::network::topology::parse;

fn facts(topology: &str, ends: &[(u32, u32)]) -> StepFacts {
    let mut transfers: Vec<Transfer> =
        ends.iter().map(|&(from, to)| Transfer { from, to, route: 0, hops: 0, load: 1 }).collect();
    StepStatistics::new(parse(topology).unwrap(), Interests::FACTS)
        .measure(1, &mut transfers, None, &[])
        .unwrap()
}

#[test]
fn one_directional_is_sending_to_one_node_and_receiving_from_another() {
    let one_directional = |ends: &[(u32, u32)]| facts("ring:4", ends).one_directional;
    assert!(one_directional(&[(0, 1), (1, 2)]));
    assert!(one_directional(&[(1, 2), (0, 1)]));
    // Two exchanges, then an exchange and a message from a third node.
    assert!(!one_directional(&[(0, 1), (1, 0), (2, 3), (3, 2)]));
    assert!(one_directional(&[(0, 1), (1, 0), (2, 1)]));
    assert!(one_directional(&[(2, 1), (0, 1), (1, 0)]));
    // Several sends or several receives, with and without a message in the other direction.
    assert!(!one_directional(&[(0, 1), (0, 2), (0, 3)]));
    assert!(!one_directional(&[(1, 0), (2, 0), (3, 0)]));
    assert!(one_directional(&[(0, 1), (0, 2), (3, 0)]));
    assert!(one_directional(&[(3, 0), (0, 1), (0, 2)]));
}

fn measure(loads: [u64; 2]) -> Result<StepFacts, Fault> {
    let send = |from, load| Transfer { from, to: 3, route: 0, hops: 0, load };
    let mut transfers = [send(0, loads[0]), send(1, loads[1])];
    let interests = Interests { multiplexing: true, ..Interests::FACTS };
    StepStatistics::new(parse("mesh:4").unwrap(), interests).measure(7, &mut transfers, None, &[])
}

#[test]
fn loads_over_hops_and_on_shared_links_are_exact_beyond_64_bits() {
    let half = 1 << 62;
    let facts = measure([half, half]).unwrap();
    assert_eq!((facts.total_load, facts.max_link_load), (1 << 63, 1 << 63));
    assert_eq!((facts.load_hops, facts.max_multiplexed_load), (5 << 62, Some(1 << 63)));
    let facts = measure([u64::MAX - 1, 1]).unwrap();
    assert_eq!(facts.load_hops, 3 * u128::from(u64::MAX - 1) + 2);
    assert_eq!(facts.max_multiplexed_load, Some(2 * u128::from(u64::MAX - 1)));
}

#[test]
fn a_step_with_a_load_beyond_64_bits_is_refused() {
    insta::assert_snapshot!(measure([u64::MAX, 1]).unwrap_err().to_string(), @"step 7: its messages, copies among them, add up beyond 2^64 bytes or segments of blocks");
}

#[test]
fn packed_load_is_that_of_messages_of_several_blocks() {
    let send = |from, to, load| Transfer { from, to, route: 0, hops: 0, load };
    let interests = Interests { packing: true, ..Interests::FACTS };
    let mut statistics = StepStatistics::new(parse("ring:4").unwrap(), interests);
    for _ in 0..2 {
        let mut transfers = [send(0, 1, 5), send(1, 2, 7), send(2, 0, 100)];
        let contents = [Contents::Several, Contents::Several, Contents::One(2, 0)];
        let facts = statistics.measure(1, &mut transfers, Some(&contents), &[]).unwrap();
        assert_eq!(
            facts.max_packed_load,
            Some(12),
            "the load of node 1; the message of one block is not packed"
        );
    }
}

#[test]
fn links_are_busiest_by_messages_or_by_bytes() {
    let send = |from, to, load| Transfer { from, to, route: 0, hops: 0, load };
    let interests = Interests { busiest_links: true, ..Interests::FACTS };
    let mut statistics = StepStatistics::new(parse("mesh:6").unwrap(), interests);
    let mut transfers = [send(0, 1, 1000), send(3, 5, 1), send(4, 5, 1), send(2, 3, 1)];
    statistics.measure(1, &mut transfers, None, &[]).unwrap();
    assert_eq!(statistics.busiest_links(), [(2, 2.0), (1, 1000.0)]);
}
