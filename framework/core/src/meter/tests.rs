use super::*;
use crate::topology::parse;

fn facts(topology: &str, ends: &[(u32, u32)]) -> StepFacts {
    let mut transfers: Vec<Transfer> =
        ends.iter().map(|&(from, to)| Transfer { from, to, way: 0, hops: 0, load: 1 }).collect();
    Meter::new(parse(topology).unwrap(), false).measure(1, &mut transfers, &[]).unwrap()
}

#[test]
fn unpaired_is_who_sends_to_one_node_and_receives_from_another() {
    let unpaired = |ends: &[(u32, u32)]| facts("ring:4", ends).unpaired;
    assert!(unpaired(&[(0, 1), (1, 2)]));
    assert!(unpaired(&[(1, 2), (0, 1)]));
    // An exchange, and beside it a message from a third.
    assert!(!unpaired(&[(0, 1), (1, 0), (2, 3), (3, 2)]));
    assert!(unpaired(&[(0, 1), (1, 0), (2, 1)]));
    assert!(unpaired(&[(2, 1), (0, 1), (1, 0)]));
    // Two sends, or two receives, and nothing the other way.
    assert!(!unpaired(&[(0, 1), (0, 2), (0, 3)]));
    assert!(!unpaired(&[(1, 0), (2, 0), (3, 0)]));
    assert!(unpaired(&[(0, 1), (0, 2), (3, 0)]));
    assert!(unpaired(&[(3, 0), (0, 1), (0, 2)]));
}
