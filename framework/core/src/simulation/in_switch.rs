//! Sends whose data a switch adds or copies: reductions and multicasts in the network.
//!
//! Such a send names the receiver of the sum, or of the copy, as any send does. So delivery is
//! verified as if there were no switches: a contribution that reaches a sum twice is a fault of the
//! receiver. Only the links differ. The sends whose data is added to one sum, or copied from one
//! node, form a *group*: they have the same step, switch, receiver (of a sum) or sender (of a
//! copy), and selected data. Together they use each link once:
//!
//! * The first message of a sum uses its whole route. Each other message ends at the first switch
//!   of its route that an earlier message of the group has passed.
//! * The first message of a copy uses its whole route. Each other message begins at the last switch
//!   of its route that an earlier message of the group has passed.
//!
//! All messages of a group meet at the switch that the sends name. If messages of a sum already
//! meet at an earlier switch, data is also added there. If messages of a copy part only at a later
//! switch, data is also copied there. So the links of a group form a tree.

use crate::delivery::boxes::{Axis, NodeSet};
use crate::delivery::exchange::Rule;
use crate::delivery::fault::{Fault, SendFault};
use crate::network::topology::{Network, Route, Section, Switch};
use std::collections::{HashMap, HashSet};

#[derive(Debug, Default)]
pub(super) struct SwitchGroups {
    passed: HashMap<(Switch, u64, Vec<u64>), HashSet<u64>>,
}

impl SwitchGroups {
    pub(super) fn end_step(&mut self) {
        self.passed.clear();
    }

    /// Returns the route of a send, with the section that its message uses. `ends` are the physical
    /// sender and receiver. `copies` states whether the sender keeps the data.
    pub(super) fn add(
        &mut self,
        topology: &Network,
        step: u64,
        (rule, copies): (&Rule<'_>, bool),
        ends: (u64, u64),
        (route, switch): (&Route, Switch),
    ) -> Result<Route, Fault> {
        let (from, to) = ends;
        let vertex = switch.vertex();
        let bad = |what: String| Fault::Send(step, SendFault::BadSwitch { from, to, what });
        if !topology.can_reduce(vertex) {
            return Err(bad(format!(
                "names vertex {vertex}, which is not a switch of {} that can add and copy data: a network with `reduce=switch` has such switches",
                topology.spec()
            )));
        }
        let (keeps_its_rule, must) = match switch {
            Switch::Reducer(_) => (rule.combine, "combine values"),
            Switch::Multicaster(_) => (copies, "copy data"),
        };
        if !rule.strict || !keeps_its_rule {
            return Err(bad(format!("must be strict and {must}, as switch {vertex} does")));
        }
        let mut route = route.clone();
        if from == to && route.path.is_empty() {
            route.path = vec![vertex, to];
        }
        let mut vertices = Vec::new();
        let walked = topology.route(from, to, Some(&route), &mut |run| {
            let ends = run.links().filter_map(|link| topology.link_ends(link));
            vertices.extend(ends.map(|(_, end)| end));
        });
        walked.map_err(|source| Fault::Send(step, SendFault::BadRoute { from, to, source }))?;
        if !vertices.contains(&vertex) {
            return Err(bad(format!("does not pass switch {vertex}, which it names")));
        }
        let end = if matches!(switch, Switch::Reducer(_)) { to } else { from };
        let passed = self.passed.entry((switch, end, selection(rule))).or_default();
        let has_passed = |at: &u64| passed.contains(at);
        let of = vertices.len() as u64;
        let (skipped, links) = match switch {
            Switch::Reducer(_) => {
                (0, vertices.iter().position(has_passed).map_or(of, |at| at as u64 + 1))
            }
            Switch::Multicaster(_) => {
                let skipped = vertices.iter().rposition(has_passed).map_or(0, |at| at as u64 + 1);
                (skipped, of - skipped)
            }
        };
        passed.extend(vertices.into_iter().filter(|vertex| topology.can_reduce(*vertex)));
        route.section = (links < of).then_some(Section { skipped, links, of });
        Ok(route)
    }
}

/// Returns the sets of a send as numbers. Equal sets in different forms have different numbers.
fn selection(rule: &Rule<'_>) -> Vec<u64> {
    let mut list = Vec::new();
    for set in [rule.origins, rule.destinations] {
        match set {
            NodeSet::All => list.push(0),
            NodeSet::One(node) => list.extend([1, node]),
            NodeSet::Axes(axes) => {
                list.extend([2, axes.len() as u64]);
                axes.iter().for_each(|axis| append(*axis, &mut list));
            }
        }
    }
    append(rule.segments, &mut list);
    list
}

fn append(axis: Axis<'_>, list: &mut Vec<u64>) {
    match axis {
        Axis::All => list.push(0),
        Axis::Range { first, stride, count } => {
            list.extend([1, first, stride, count].map(u64::from));
        }
        Axis::Bits(words) => {
            list.extend([2, words.len() as u64]);
            list.extend(words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::collective::{ALL_REDUCE, Collective, CollectiveKind};
    use crate::delivery::exchange::Division;
    use crate::network::topology::parse;
    use crate::simulation::listener::{Listener, ScheduleEvent, Summed};
    use crate::simulation::step::StepFacts;
    use crate::simulation::{Simulation, Task};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    #[derive(Default)]
    struct Seen {
        topology: Option<Arc<Network>>,
        facts: Vec<StepFacts>,
        links: Vec<BTreeMap<u64, u64>>,
        summed: u64,
    }

    impl Listener for Seen {
        fn notify(&mut self, event: ScheduleEvent<'_>) {
            match event {
                ScheduleEvent::Step(step) => {
                    let mut links = BTreeMap::new();
                    for t in step.transfers {
                        let route = t.route.checked_sub(1).map(|i| &step.routes[i as usize]);
                        let topology = self.topology.as_ref().unwrap();
                        let visit = &mut |run: crate::network::topology::Run| {
                            run.links().for_each(|link| *links.entry(link).or_default() += 1);
                        };
                        topology.route(t.from.into(), t.to.into(), route, visit).unwrap();
                    }
                    self.links.push(links);
                    self.facts.push(step.facts);
                }
                ScheduleEvent::Summed(Summed { most, .. }) => self.summed += most,
                _ => {}
            }
        }
    }

    type Sends<'a> = [(Rule<'a>, Switch)];

    fn run(spec: &str, kind: &'static CollectiveKind, steps: &[&Sends<'_>]) -> Result<Seen, Fault> {
        let topology = parse(spec).unwrap();
        let mut seen = Seen { topology: Some(Arc::clone(&topology)), ..Seen::default() };
        let task = Task::new(topology, Collective::of(kind));
        let mut simulation = Simulation::new(task, vec![&mut seen])?;
        simulation.layout(&[], Division { in_parts: false, segments: 1 }, None)?;
        for sends in steps {
            simulation.step()?;
            for (rule, switch) in *sends {
                let route = Route { switch: Some(*switch), ..Route::default() };
                simulation.send(rule, Some(&route))?;
            }
        }
        simulation.finish()?;
        Ok(seen)
    }

    fn adds(from: u64, to: u64, switch: u64) -> (Rule<'static>, Switch) {
        let rule = Rule { strict: true, combine: true, ..Rule::new(from, to) };
        (rule, Switch::Reducer(switch))
    }

    fn copies(from: u64, to: u64, switch: u64) -> (Rule<'static>, Switch) {
        let rule = Rule { strict: true, copy: true, ..Rule::new(from, to) };
        (rule, Switch::Multicaster(switch))
    }

    /// Every node sends a message to the switch in step 1 and receives one in step 2. The root also
    /// receives the sum in step 1, and sends the copy in step 2.
    #[test]
    fn a_switch_adds_and_copies() {
        let up: Vec<_> = (0..4).map(|node| adds(node, 0, 4)).collect();
        let down: Vec<_> = (0..4).map(|node| copies(0, node, 4)).collect();
        let seen = run("groups:1x4,reduce=switch", &ALL_REDUCE, &[&up, &down]).unwrap();
        let links: Vec<Vec<u64>> =
            seen.links.iter().map(|on| on.keys().copied().collect()).collect();
        assert_eq!(links, [vec![0, 1, 2, 3, 4], vec![0, 4, 5, 6, 7]]);
        assert!(seen.links.iter().all(|on| on.values().all(|messages| *messages == 1)));
        let ends = |facts: &StepFacts| (facts.max_sends, facts.max_receives, facts.max_node_load);
        assert_eq!(seen.facts.iter().map(ends).collect::<Vec<_>>(), [(1, 1, 1), (1, 1, 1)]);
        assert_eq!((seen.summed, seen.facts[0].max_link_load), (0, 1));
    }

    /// The links of a sum form a tree: one from each node, one from each other switch with nodes
    /// below it on the way up, and one for each level down to the root.
    #[test]
    fn the_switches_of_a_fat_tree_form_a_tree() {
        for (k, levels) in [(2_u64, 2_u32), (3, 3), (2, 4)] {
            let (n, spec) = (k.pow(levels), format!("fat-tree:{k}x{levels},reduce=switch"));
            let root = n - 1;
            let leaf = n + root / k;
            let up: Vec<_> = (0..n).map(|node| adds(node, root, leaf)).collect();
            let down: Vec<_> = (0..n).map(|node| copies(root, node, leaf)).collect();
            let seen = run(&spec, &ALL_REDUCE, &[&up, &down]).unwrap();
            for on in &seen.links {
                assert!(on.values().all(|messages| *messages == 1), "{spec}: {on:?}");
            }
            assert_eq!(seen.summed, 0, "{spec}");
            // Between levels l - 1 and l, k^(levels - l) switches have sums. Each uses one link, up
            // or down.
            let between: u64 = (1..levels).map(|level| k.pow(levels - level)).sum();
            assert_eq!(seen.links[0].len() as u64, n + 1 + between, "{spec}");
        }
    }

    #[test]
    fn contributions_are_counted_in_a_switch_as_in_a_node() {
        let spec = "groups:1x3,reduce=switch";
        let twice = (Rule { copy: true, ..adds(0, 0, 3).0 }, Switch::Reducer(3));
        let error = |steps: &[&Sends<'_>]| run(spec, &ALL_REDUCE, steps).err().unwrap().to_string();
        let down = [copies(0, 1, 3), copies(0, 2, 3)];
        let all = [twice, adds(1, 0, 3), adds(2, 0, 3)];
        assert_eq!(
            error(&[&all, &down]),
            "step 1: node 0 counts node 0's contribution to the vector twice: it is in both its own value and the received one"
        );
        let missing = error(&[&[adds(1, 0, 3)], &down]);
        assert!(missing.contains("node 2's contribution to the vector"), "{missing}");
        assert!(run(spec, &ALL_REDUCE, &[&[adds(1, 0, 3), adds(2, 0, 3)], &down]).is_ok());
    }

    #[test]
    fn wrong_switches_are_explained() {
        let error = |spec: &str, send: (Rule<'static>, Switch)| {
            run(spec, &ALL_REDUCE, &[&[send]]).err().unwrap().to_string()
        };
        assert_eq!(
            error("groups:1x3", adds(1, 0, 3)),
            "step 1: the send from node 1 to node 0 names vertex 3, which is not a switch of groups:1x3 that can add and copy data: a network with `reduce=switch` has such switches"
        );
        assert!(error("groups:2x2,reduce=switch", adds(1, 0, 6)).contains("names vertex 6"));
        assert_eq!(
            error("groups:2x2,reduce=switch", adds(2, 0, 4)),
            "step 1: the send from node 2 to node 0 does not pass switch 4, which it names"
        );
        let loose = (Rule { strict: false, ..adds(1, 0, 3).0 }, Switch::Reducer(3));
        assert_eq!(
            error("groups:1x3,reduce=switch", loose),
            "step 1: the send from node 1 to node 0 must be strict and combine values, as switch 3 does"
        );
        let moved = (Rule { copy: false, ..copies(0, 1, 3).0 }, Switch::Multicaster(3));
        assert_eq!(
            error("groups:1x3,reduce=switch", moved),
            "step 1: the send from node 0 to node 1 must be strict and copy data, as switch 3 does"
        );
    }
}
