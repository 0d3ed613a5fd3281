use crate::support::rehearsals::between_groups;
use std::collections::BTreeSet;
use swapmeet_sdk::{Collective, Rehearsal, TokenClass};

fn tokens(n: u64) -> Vec<Vec<TokenClass>> {
    let class = |owner: u64, i: u64| {
        let is_receiver = |r: &u64| (owner * 7 + i * 5 + r * r).is_multiple_of(3);
        TokenClass { bytes: 2 + i, receivers: (0..n).filter(is_receiver).collect() }
    };
    let classes = |owner: u64| {
        let all = (0..owner % 4).map(|i| class(owner, i));
        all.filter(|class| !class.receivers.is_empty()).collect()
    };
    (0..n).map(classes).collect()
}

mod direct {
    use super::*;
    use swapmeet_plugin_experts::direct::{COMBINE, DISPATCH};

    #[test]
    fn every_receiver_gets_every_token_by_its_own_message() {
        for n in 1..10 {
            let tokens = tokens(n);
            let copies = |owner: usize, class: &TokenClass| {
                class.bytes * class.receivers.iter().filter(|r| **r != owner as u64).count() as u64
            };
            let of_owner = |(owner, classes): (usize, &Vec<TokenClass>)| {
                classes.iter().map(|class| copies(owner, class)).sum::<u64>()
            };
            let total: u64 = tokens.iter().enumerate().map(of_owner).sum();
            for (collective, algorithm) in
                [(Collective::Dispatch, &DISPATCH), (Collective::Combine, &COMBINE)]
            {
                let problem = Rehearsal::on("ring", &[n]).tokens(collective, &tokens);
                let by_default = problem.clone().verify(algorithm).unwrap();
                assert_eq!(by_default.total_bytes, total, "{n}");
                assert!(by_default.steps <= 1, "all messages start at once");
                for window in ["1", "3", "100"] {
                    let proved = problem.clone().param("window", window).verify(algorithm).unwrap();
                    assert_eq!(proved.total_bytes, total, "{n} {window}");
                }
            }
        }
    }
}

mod hierarchical {
    use super::*;
    use swapmeet_plugin_experts::hierarchical::{COMBINE, DISPATCH};

    #[test]
    fn a_token_crosses_once_for_each_group() {
        for (groups, g) in [(1, 1), (1, 4), (4, 1), (2, 3), (3, 2), (3, 4)] {
            let n = groups * g;
            let tokens = tokens(n);
            let mut between = 0;
            for (owner, classes) in (0..).zip(&tokens) {
                for class in classes {
                    let others =
                        class.receivers.iter().map(|r| r / g).filter(|at| *at != owner / g);
                    between += class.bytes * others.collect::<BTreeSet<u64>>().len() as u64;
                }
            }
            for (collective, algorithm) in
                [(Collective::Dispatch, &DISPATCH), (Collective::Combine, &COMBINE)]
            {
                let problem = Rehearsal::on("torus", &[groups, g]).tokens(collective, &tokens);
                let proved = problem.verify(algorithm).unwrap();
                assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
                let steps = problem.plan(algorithm).unwrap();
                let sends = steps.iter().flat_map(|step| between_groups(step, g));
                let crossing = sends.map(|send| {
                    let near = if collective == Collective::Combine { send.to } else { send.from };
                    let classes = &tokens[near as usize];
                    send.segments.iter().map(|class| classes[*class as usize].bytes).sum::<u64>()
                });
                assert_eq!(crossing.sum::<u64>(), between, "{groups} of {g}");
            }
        }
    }
}
