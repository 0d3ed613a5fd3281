//! The parameter `background` of a machine: the name of a file with background traffic.

use crate::cost::parameter::{DefaultValue, TypedParameter};
use std::fmt::{self, Display};
use std::sync::Arc;

pub(super) static BACKGROUND: TypedParameter<BackgroundFile> = TypedParameter {
    key: "background",
    meaning: "file with background traffic: N rows of N byte counts, from each rank (row) to each rank, as in the workload `matrix`; all flows start at time 0 and share the links; `none` for no traffic",
    symbols: "",
    default: DefaultValue::Text(NONE),
    read: BackgroundFile::read,
};

const NONE: &str = "none";

/// The name of the file with background traffic; `None` if there is no background traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BackgroundFile(Option<Arc<str>>);

impl BackgroundFile {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            NONE => Ok(Self(None)),
            // These characters have a meaning in the grammar of specs.
            name if name.is_empty() || name.contains([',', '=', '(', ')']) => {
                Err(format!("`{NONE}` or a file, without a comma, `=` or parenthesis in its name"))
            }
            name => Ok(Self(Some(name.into()))),
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(super) fn is_some(&self) -> bool {
        self.0.is_some()
    }
}

impl Display for BackgroundFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or(NONE))
    }
}

#[cfg(test)]
mod tests {
    use super::super::oracle;
    use crate::cost::background::Background;
    use crate::cost::kind::Kind;
    use crate::cost::machine::Machine;
    use crate::cost::model::Cost;
    use crate::cost::model::test_steps::{Messages, Random, cost_with_background};

    fn cost_with_flows(
        nodes: u64,
        flows: &[(u32, u32, u64)],
        network: &str,
        machine: &str,
        steps: &[Messages],
    ) -> Cost {
        let is_from = |from: u64, to: u64| {
            move |flow: &&(u32, u32, u64)| (u64::from(flow.0), u64::from(flow.1)) == (from, to)
        };
        let bytes = |from, to| flows.iter().find(is_from(from, to)).map_or(0, |flow| flow.2);
        let machine = format!("free:model=fluid,background=flows.csv,{machine}");
        cost_with_background(Background::new(nodes, bytes), network, &machine, steps).unwrap()
    }

    /// A message of m bytes and a flow of b bytes share a link that transmits one byte per µs. Each
    /// of them gets half of the link's rate until the shorter one ends. So the message takes
    /// `m + min(m, b)`.
    #[test]
    fn a_flow_shares_a_link_with_a_message_until_it_ends() {
        for (m, b, expected) in
            [(100, 40, 140.0), (100, 100, 200.0), (100, 300, 200.0), (100, 0, 100.0)]
        {
            for order in ["step", "data", "barrier"] {
                let machine = format!("byte_us=1,hop_us=5,order={order}");
                let (flows, steps) = ([(0, 1, b)], [vec![(0, 1, m)]]);
                let parts = cost_with_flows(2, &flows, "mesh:2", &machine, &steps).parts;
                let error = (parts.total() - expected - 5.0).abs();
                assert!(error < 1e-9, "{m} {b} {order}: {parts:?}");
                assert_eq!(parts[Kind::Transmission], Some(m as f64));
            }
        }
    }

    #[test]
    fn messages_after_a_flow_or_on_other_links_are_not_delayed() {
        // The flow ends after 80 µs; the second message starts at 140 µs.
        let twice = [vec![(0, 1, 100)], vec![(0, 1, 100)]];
        let us = cost_with_flows(2, &[(0, 1, 40)], "mesh:2", "byte_us=1", &twice).parts.total();
        assert!((us - 240.0).abs() < 1e-9, "{us}");
        // A flow in the opposite direction uses a different link, because links are directed. So
        // neither of these flows delays a message, and the schedule does not wait until they end.
        let flows = [(1, 0, 1000), (2, 3, 1000)];
        let us = cost_with_flows(4, &flows, "mesh:4", "byte_us=1", &twice).parts.total();
        assert!((us - 200.0).abs() < 1e-9, "{us}");
    }

    /// The flows are on other links than the message. Flows of one byte end before the schedule, and
    /// their ends are events. Flows of 1,000,000 bytes would end after the schedule.
    #[test]
    fn flows_are_not_simulated_after_the_end_of_the_schedule() {
        let needed_events = |flow_bytes: u64| {
            let enough = |most: &u32| {
                let flows = |from, to| if from >= 2 && to == from + 1 { flow_bytes } else { 0 };
                let machine =
                    format!("free:model=fluid,background=flows.csv,byte_us=1,most_events={most}");
                let steps = [vec![(0, 1, 100)]];
                cost_with_background(Background::new(16, flows), "mesh:16", &machine, &steps)
                    .is_ok()
            };
            (1..1000).find(enough).unwrap()
        };
        assert!(needed_events(1_000_000) < needed_events(1));
    }

    #[test]
    fn random_flows_delay_messages_as_in_the_oracle() {
        let mut random = Random(1);
        let mut below = |most| random.below(most);
        for (network, nodes) in
            [("torus:4x4", 16), ("mesh:3x3", 9), ("ring:8", 8), ("torus:2x2x2", 8)]
        {
            for weighted in [false, true] {
                let pairs = (0..nodes)
                    .flat_map(|from| (0..nodes).map(move |to| (from, to)))
                    .filter(|(a, b)| a != b);
                let flows: Vec<_> =
                    pairs.map(|(a, b)| (a, b, below(3) / 2 * below(5000))).collect();
                let step = |k| {
                    (0..nodes).map(|r| (r, (r + k) % nodes, 500 + below(500))).collect::<Vec<_>>()
                };
                let steps = [1, 3, 2].map(step);
                let there: Vec<_> = flows.iter().copied().filter(|flow| flow.2 > 0).collect();
                let expected = oracle::ends(network, [0.01, 0.5], weighted, &steps, &there);
                let fairness = if weighted { "rtt" } else { "equal" };
                let machine = format!("byte_us=0.01,hop_us=0.5,fairness={fairness}");
                let cost = cost_with_flows(nodes.into(), &flows, network, &machine, &steps);
                let (last, mean) = (
                    expected.iter().copied().fold(0.0, f64::max),
                    expected.iter().sum::<f64>() / f64::from(nodes),
                );
                let found = (cost.parts.total(), cost.ranks.unwrap().mean);
                assert!(
                    (found.0 / last - 1.0).abs() < 1e-3 && (found.1 / mean - 1.0).abs() < 1e-3,
                    "{network}: {found:?}, {last}, {mean}"
                );
                let alone =
                    cost_with_flows(nodes.into(), &[], network, &machine, &steps).parts.total();
                assert!(found.0 > 1.05 * alone, "{network}: {found:?}, {alone}");
            }
        }
    }

    #[test]
    fn invalid_background_is_refused() {
        let priced = |ranks| {
            cost_with_background(
                Background::new(ranks, |_, _| 1),
                "mesh:3",
                "free:model=fluid,background=f.csv",
                &[vec![(0, 1, 9)]],
            )
        };
        assert_eq!(
            priced(4).unwrap_err(),
            "the matrix of `background` is for 4 nodes, there are 3"
        );
        let refused = |spec: &str| Machine::parse(spec).unwrap_err().to_string();
        assert!(
            refused("free:model=loggp,background=f.csv")
                .contains("`background` is not read by the model `loggp`")
        );
        let none = Machine::parse("free:model=fluid")
            .unwrap()
            .with(&[("background", "")])
            .unwrap_err()
            .1
            .to_string();
        assert!(none.contains("`none` or a file"), "{none}");
        assert_eq!(
            Machine::parse("free:model=fluid,background=none").unwrap().to_string(),
            "free:model=fluid"
        );
    }
}
