//! Tests of dispatch and combine, in which each token has a set of receivers.

use super::*;
use crate::delivery::boxes::Axis;
use crate::delivery::collective::{COMBINE, CollectiveKind, DISPATCH, TokenSizes};
use crate::delivery::grid::Grid;
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Creates a collective among four nodes. Node 0 has two classes: class 0 has 7 bytes for nodes 0
/// and 3, and class 1 has 5 bytes for nodes 1 and 2. Node 3 has class 0, with 9 bytes for node 1.
fn start(kind: &'static CollectiveKind) -> TokenExchange {
    let tokens = Arc::new(Tokens::new(4, |node| match node {
        0 => vec![(vec![0, 3], 7), (vec![1, 2], 5)],
        3 => vec![(vec![1], 9)],
        _ => Vec::new(),
    }));
    assert_eq!((tokens.receivers(0, 0), tokens.receivers(0, 1)), (&[0, 3][..], &[1, 2][..]));
    let sizes = Arc::new(TokenSizes::new(Arc::clone(&tokens), kind.sums));
    let collective = Collective::of_tokens(kind, Arc::clone(&tokens));
    let embedding = Embedding::new(Grid::new(&[4]).unwrap(), 4);
    let division = Division { segments: 2, ..Division::WHOLE };
    TokenExchange::new(collective, tokens, embedding, division, Some(sizes)).unwrap()
}

fn step(x: &mut TokenExchange, sends: &[Rule<'_>]) -> Result<(), Fault> {
    x.begin_step();
    for send in sends {
        x.send(send)?;
    }
    x.end_step()
}

fn message(result: Result<(), Fault>) -> String {
    result.expect_err("the schedule is wrong").to_string()
}

fn token<'a>(owner: u64, class: u32, from: u64, to: u64) -> Rule<'a> {
    let segments = Axis::Range { first: class, stride: 1, count: 1 };
    Rule { origins: NodeSet::One(owner), segments, strict: true, ..Rule::new(from, to) }
}

fn sum<'a>(owner: u64, class: u32, from: u64, to: u64) -> Rule<'a> {
    let destinations = NodeSet::One(owner);
    Rule { origins: NodeSet::All, destinations, combine: true, ..token(owner, class, from, to) }
}

#[test]
fn tokens_may_be_copied_and_forwarded_by_any_node() {
    let mut x = start(&DISPATCH);
    assert_eq!(x.loads.held(), [12, 0, 0, 9]);
    // Node 3 is not a receiver of node 0's class 1. It forwards the class and keeps a copy.
    step(&mut x, &[token(0, 1, 0, 3), token(3, 0, 3, 1)]).unwrap();
    step(&mut x, &[token(0, 1, 3, 1), token(0, 0, 0, 3)]).unwrap();
    step(&mut x, &[token(0, 1, 1, 2)]).unwrap();
    assert_eq!((x.verify(), x.loads.held()), (Ok(()), &[12, 14, 5, 21][..]));
}

#[test]
fn the_second_arrival_of_a_token_is_a_fault() {
    let mut x = start(&DISPATCH);
    step(&mut x, &[token(0, 1, 0, 3)]).unwrap();
    step(&mut x, &[token(0, 1, 3, 1)]).unwrap();
    insta::assert_snapshot!(message(step(&mut x, &[token(0, 1, 1, 3)])), @"step 3: token class 1 of node 0 is delivered twice: node 3 already holds it");
}

/// Two sends deliver classes that node 1 already holds. The second send has the lower class.
#[test]
fn of_several_faults_in_a_step_that_of_the_first_send_is_reported() {
    let mut x = start(&DISPATCH);
    step(&mut x, &[token(0, 0, 0, 1), token(0, 1, 0, 1), token(3, 0, 3, 2)]).unwrap();
    let twice = [token(3, 0, 3, 0), token(0, 1, 0, 1), token(0, 0, 0, 1), token(3, 0, 3, 2)];
    assert_eq!(
        message(step(&mut x, &twice)),
        "step 2: token class 1 of node 0 is delivered twice: node 1 already holds it"
    );
}

#[test]
fn a_token_that_does_not_arrive_is_reported() {
    let mut x = start(&DISPATCH);
    step(&mut x, &[token(0, 1, 0, 1), token(3, 0, 3, 1), token(0, 0, 0, 3)]).unwrap();
    insta::assert_snapshot!(message(x.verify()), @"after step 1: token class 1 of node 0 was never delivered to node 2 (it is at node 0); missing in total: 1 block at 1 node");
    let mut x = start(&DISPATCH);
    x.begin_step();
    insta::assert_snapshot!(message(x.send(&token(3, 1, 3, 0)).map(|_| ())), @"step 1: node 3 sends node 0 token class 1 of node 3, which it does not hold (no node holds it)");
}

#[test]
fn sums_of_tokens_contain_each_contribution_once() {
    let mut x = start(&COMBINE);
    // Both node 0 itself and node 3 contribute to node 0's class 0.
    assert_eq!(x.loads.held(), [7, 14, 5, 7]);
    step(&mut x, &[sum(0, 1, 1, 2), sum(3, 0, 1, 3), sum(0, 0, 3, 0)]).unwrap();
    assert_eq!((x.loads.most_summed(), x.loads.held()), (7, &[7, 0, 5, 9][..]));
    step(&mut x, &[sum(0, 1, 2, 0)]).unwrap();
    assert_eq!((x.verify(), x.loads.held()), (Ok(()), &[12, 0, 0, 9][..]));
}

#[test]
fn lost_and_doubled_contributions_are_reported() {
    let mut x = start(&COMBINE);
    step(&mut x, &[sum(0, 1, 1, 0), sum(3, 0, 1, 3), sum(0, 0, 3, 0)]).unwrap();
    insta::assert_snapshot!(message(x.verify()), @"after step 1: node 2's contribution to token class 1 of node 0 was never delivered to node 0 (it is at node 2); missing in total: 1 contribution at 1 node");
    let mut x = start(&COMBINE);
    step(&mut x, &[Rule { copy: true, ..sum(0, 1, 1, 2) }]).unwrap();
    step(&mut x, &[sum(0, 1, 1, 0)]).unwrap();
    insta::assert_snapshot!(message(step(&mut x, &[sum(0, 1, 2, 0)])), @"step 3: node 0 counts node 1's contribution to token class 1 of node 0 twice: it is in both its own value and the received one");
    let mut x = start(&COMBINE);
    insta::assert_snapshot!(message(step(&mut x, &[Rule { combine: false, ..sum(0, 1, 1, 2) }])), @"step 1: node 2 loses node 2's contribution to token class 1 of node 0: the received value replaces its own value, which contains it (combine the two)");
}

#[test]
fn tokens_are_not_divided_into_parts() {
    assert!(![&DISPATCH, &COMBINE].map(start).iter().any(Traced::in_parts));
}

#[test]
fn a_strict_send_of_a_part_of_the_selected_tokens_is_a_fault() {
    let both = Axis::Range { first: 0, stride: 1, count: 2 };
    let mut x = start(&DISPATCH);
    step(&mut x, &[token(0, 0, 0, 3)]).unwrap();
    let forwarded = Rule { segments: both, ..token(0, 0, 3, 1) };
    insta::assert_snapshot!(message(step(&mut x, &[forwarded])), @"step 2: node 3 sends node 1 token class 1 of node 0, which it does not hold (it is at node 0)");
    let mut x = start(&DISPATCH);
    step(&mut x, &[token(0, 0, 0, 3)]).unwrap();
    step(&mut x, &[Rule { strict: false, ..forwarded }]).unwrap();
    let mut x = start(&COMBINE);
    insta::assert_snapshot!(message(step(&mut x, &[Rule { segments: both, ..sum(0, 0, 1, 0) }])), @"step 1: node 1 sends node 0 token class 0 of node 0, which it does not hold (no node holds it)");
}

#[test]
fn a_send_of_tokens_follows_the_latest_arrival_of_these_tokens() {
    let mut x = start(&DISPATCH).with_arrival_tracking(true);
    let mut arrival_of = |send: &Rule<'_>| {
        step(&mut x, std::slice::from_ref(send)).unwrap();
        x.latest_arrival()
    };
    assert_eq!(arrival_of(&token(0, 1, 0, 3)), 0);
    assert_eq!(arrival_of(&token(0, 1, 3, 1)), 1);
    assert_eq!(arrival_of(&token(3, 0, 3, 1)), 0);
    assert_eq!(arrival_of(&token(0, 1, 1, 2)), 2);
}

/// A random send: the sender, the offset of the receiver, the owner (or all owners), the classes,
/// whether it copies, and whether it combines.
type Choice = (u64, u64, Option<u64>, u64, bool, bool);

type Naive = [BTreeMap<(u64, u32), BTreeSet<u64>>; 4];

fn naive_step(
    tokens: &Tokens,
    held: &mut Naive,
    sends: &[Choice],
    sums: bool,
) -> Option<Vec<Option<u64>>> {
    let (mut loads, mut arriving) = (Vec::new(), Vec::new());
    for &(from, offset, owner, classes, copy, combine) in sends {
        let mut list = held[from as usize].clone();
        list.retain(|(of, class), _| {
            owner.is_none_or(|owner| owner == *of) && classes >> class & 1 == 1
        });
        let load = list.keys().map(|(of, class)| tokens.bytes(*of)[*class as usize]).sum();
        loads.push(Some(load).filter(|_| !list.is_empty()));
        if sums && !copy {
            held[from as usize].retain(|value, _| !list.contains_key(value));
        }
        arriving.push(((from + offset) % 4, list, combine));
    }
    for (to, list, combine) in arriving {
        for (value, received) in list {
            let own = held[to as usize].remove(&value).unwrap_or_default();
            let both = received.union(&own).copied().collect::<BTreeSet<u64>>();
            let is_fault = match (sums, combine) {
                (false, _) => !own.is_empty(),
                (true, true) => both.len() < received.len() + own.len(),
                (true, false) => both.len() > received.len(),
            };
            if is_fault {
                return None;
            }
            held[to as usize].insert(value, both);
        }
    }
    Some(loads)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(400, 8000)))]

    #[test]
    fn random_schedules_are_traced_as_by_a_naive_execution(
        sums: bool,
        steps in vec(vec((0..4_u64, 1..4_u64, option::of(0..4_u64), 1..4_u64, any::<bool>(),
            weighted(0.8)), 1..4), 1..8),
    ) {
        let kind = if sums { &COMBINE } else { &DISPATCH };
        let mut x = start(kind);
        let tokens = Arc::clone(&x.tokens);
        let mut held = Naive::default();
        let mut required = Naive::default();
        for owner in 0..4 {
            for class in 0..tokens.classes(owner) {
                for receiver in tokens.receivers(owner, class) {
                    let (receiver, piece) = (u64::from(*receiver), (owner, class));
                    let (holder, origin, wants) = match sums {
                        true => (receiver, receiver, owner),
                        false => (owner, owner, receiver),
                    };
                    held[holder as usize].entry(piece).or_default().insert(origin);
                    required[wants as usize].entry(piece).or_default().insert(origin);
                }
            }
        }
        for step in &steps {
            let expected = naive_step(&tokens, &mut held, step, sums);
            x.begin_step();
            let mut loads = Vec::new();
            for &(from, offset, owner, classes, copy, combine) in step {
                let owners = owner.map_or(NodeSet::All, NodeSet::One);
                let (origins, destinations) =
                    if sums { (NodeSet::All, owners) } else { (owners, NodeSet::All) };
                let segments = Axis::Bits(std::slice::from_ref(&classes));
                let combine = combine && sums;
                let rule = Rule {
                    origins, destinations, segments, copy, combine,
                    ..Rule::new(from, (from + offset) % 4)
                };
                loads.push(x.send(&rule).unwrap());
            }
            let ended = x.end_step();
            prop_assert_eq!(ended.is_err(), expected.is_none());
            let Some(expected) = expected else { return Ok(()) };
            prop_assert_eq!(loads, expected);
            let bytes = |list: &BTreeMap<(u64, u32), BTreeSet<u64>>| {
                list.keys().map(|(of, class)| tokens.bytes(*of)[*class as usize]).sum::<u64>()
            };
            prop_assert_eq!(x.loads.held(), held.each_ref().map(bytes));
        }
        let is_complete = required.iter().zip(&held).all(|(required, held)| {
            required.iter().all(|(value, origins)| {
                held.get(value).is_some_and(|held| origins.is_subset(held))
            })
        });
        prop_assert_eq!(x.verify().is_ok(), is_complete);
    }
}
