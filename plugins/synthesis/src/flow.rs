//! `flow`: a schedule made from the best flow, for any demand in which each block has one receiver.

use crate::demand::Demand;
use crate::exchange::Exchange;
use crate::network::LinkGraph;
use crate::orbits::Translations;
use crate::resources::{LONGEST, Resources};
use crate::routes::{Routed, route};
use crate::steps::{Event, ORDERS, Order, simulate};
use crate::{Deadline, SECONDS, SEED};
use swapmeet_flows::{BestCut, Options, Prices, Random, Solution};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Route, Schedule, Set, Stop,
    words,
};

pub struct FlowSchedule;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Nodes send to neighbours, which store and forward.
    Steps,
    /// In a single step, each message takes the best route that was found.
    Routes,
}

const FORMS: [(&str, Form); 2] = [("steps", Form::Steps), ("routes", Form::Routes)];

const PARAMS: [ParamInfo; 5] = [
    ParamInfo::choice(
        "form",
        &words(&FORMS),
        "",
        "one step with routes, or steps between neighbours; by default routes; steps if there are no switches, nodes can use all of their links at once, and messages over several links occupy them alone (circuit) or are stored at each node (store-and-forward)",
    ),
    ParamInfo::number(
        "group",
        "1",
        "blocks that the slowest link carries in a step, or segments with `segments`",
    ),
    ParamInfo::number(
        "segments",
        "",
        "parts of each block that travel on their own; by default 1, or a number that suits unequal sizes",
    ),
    SEED,
    SECONDS,
];

const DRAWS: u32 = 2;
/// If the steps of a schedule exceed the lower bound by at most this ratio, paths are not drawn
/// again. On networks of up to 1,024 nodes, a second draw saved at most 0.3 % of the steps and
/// doubled the time.
const ACCEPTED_RATIO: f64 = 1.025;
/// The largest number of pairs of a source and a link. Each needs 4 bytes, so all need at most 1
/// GiB.
const MAX_FLOWS: u64 = 1 << 28;

impl Algorithm for FlowSchedule {
    fn about(&self) -> About {
        About {
            name: "flow",
            title: "Steps or routes made from the best flow, for any demand",
            accepts: "any connected network; up to 10 million pairs of nodes",
            collectives: &[
                Collective::AllToAll,
                Collective::Scatter,
                Collective::Gather,
                Collective::Permutation,
            ],
            params: &PARAMS,
            ..About::DEFAULT
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        let network = LinkGraph::read(problem)?;
        if network.has_switches() && problem.topology().kind() == "rdn" {
            return Err(Stop::unsupported(
                "messages cannot choose their routes in a dual-net of clusters with switches: use `rdn-alltoall`, or a `graph:` file",
            ));
        }
        if form(problem, &network)? == Form::Steps && network.has_switches() {
            return Err(Stop::unsupported(
                "switches cannot store data, so there are no steps between neighbours: use `flow:form=routes`, or `birkhoff` for an order of messages on one port",
            ));
        }
        Ok(())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let deadline = Deadline::start(problem)?;
        let network = LinkGraph::read(problem)?;
        let form = form(problem, &network)?;
        let blocks_per_link = problem.whole("group", 1..=1 << 20)?;
        let segments = problem.given::<u32>("segments")?;
        if segments.is_some_and(|segments| !(1..=4096).contains(&segments)) {
            return Err(Stop::failed("`segments`: expected a whole number from 1 to 4096"));
        }
        let ports = if form == Form::Steps { problem.ports() } else { u64::MAX };
        if segments.is_none()
            && problem.collective() == Collective::AllToAll
            && problem.is_uniform()
            && let Some(group) = Translations::of(&network, problem.topology().dims())
            && let Some(exchange) = Exchange::of(&group, blocks_per_link, ports)
        {
            schedule.log(&format!("all nodes do the same; schedule: {} steps", exchange.steps()));
            let dims = problem.topology().dims();
            return match form {
                Form::Steps => exchange.write_steps(&group, dims, schedule),
                Form::Routes => exchange.write_routes(&group, dims, schedule),
            };
        }
        let mut random = Random::new(problem.param(SEED.key())?);
        let demand = Demand::read(problem, blocks_per_link, segments)?;
        if demand.sources.len() as u64 * network.links.count() as u64 > MAX_FLOWS {
            return Err(Stop::unsupported(format!(
                "{} senders on a network of {} links need too much memory, expected at most {MAX_FLOWS} pairs of them: use fewer nodes, or an algorithm with a rule",
                demand.sources.len(),
                network.links.count()
            )));
        }
        let resources = Resources::of(&network, demand.quota, ports);
        let flow = best_flow(&network, &resources, &demand, &mut random, deadline);
        schedule.log(&format!("flow: {:.1} to {:.1} steps", flow.lower, flow.upper));
        let search = Search { network, resources, demand, deadline };
        let emitter = ScheduleWriter { problem, search: &search };
        let chosen = match form {
            Form::Steps => search.best_steps(&flow, &mut random),
            Form::Routes => (search.best_routes(&flow, &mut random), Order::Farthest, 1),
        };
        drop(flow);
        if deadline.has_passed() {
            schedule.note(crate::ENDED_EARLY);
        }
        schedule.layout(&[], search.demand.segments)?;
        let (routed, order, steps) = chosen;
        schedule
            .log(&format!("paths: {:.1} steps on one link; schedule: {steps}", routed.congestion));
        match form {
            Form::Steps => emitter.steps(&routed, order, schedule),
            Form::Routes => emitter.routes(&routed, schedule),
        }
    }
}

fn form(problem: &Problem<'_>, network: &LinkGraph) -> Result<Form, Stop> {
    if let Some(given) = problem.given_choice("form", &FORMS)? {
        return Ok(given);
    }
    // If messages share the links of their routes, steps between neighbours only add start-ups.
    // With few ports, neighbours cannot forward as much data as the links could carry.
    let needs_routes = network.has_switches()
        || problem.shares_routes()
        || problem.ports() < network.most_links_of_a_node();
    Ok(if needs_routes { Form::Routes } else { Form::Steps })
}

struct Search {
    network: LinkGraph,
    resources: Resources,
    demand: Demand,
    deadline: Deadline,
}

impl Search {
    fn draw(&self, flow: &Solution, random: &mut Random) -> Routed {
        route(&self.network, &self.resources, &self.demand, flow, random, self.deadline)
    }

    fn best_steps(&self, flow: &Solution, random: &mut Random) -> (Routed, Order, u64) {
        let mut best: Option<(Routed, Order, u64)> = None;
        for _ in 0..DRAWS {
            let routed = self.draw(flow, random);
            let mut chosen = None;
            let mut least = best.as_ref().map_or(u64::MAX, |(.., steps)| *steps);
            for order in ORDERS {
                if chosen.is_some() && self.deadline.has_passed() {
                    break;
                }
                let simulated = simulate(&self.network, &self.resources, &routed, order, |event| {
                    let Event::Step { least: bound } = event else { return Ok(()) };
                    if bound < least { Ok(()) } else { Err(()) }
                });
                if let Ok(steps) = simulated
                    && steps < least
                {
                    (least, chosen) = (steps, Some(order));
                }
                if least as f64 <= routed.congestion.ceil() {
                    break;
                }
            }
            if let Some(order) = chosen {
                best = Some((routed, order, least));
            }
            if least as f64 <= flow.lower.ceil().max(flow.lower * ACCEPTED_RATIO)
                || self.deadline.has_passed()
            {
                break;
            }
        }
        best.unwrap_or_else(|| (self.draw(flow, random), Order::Farthest, 0))
    }

    fn best_routes(&self, flow: &Solution, random: &mut Random) -> Routed {
        let mut best = self.draw(flow, random);
        for _ in 1..DRAWS {
            if best.congestion <= flow.lower.ceil() || self.deadline.has_passed() {
                break;
            }
            let next = self.draw(flow, random);
            if next.congestion < best.congestion {
                best = next;
            }
        }
        best
    }
}

struct ScheduleWriter<'a, 'p> {
    problem: &'a Problem<'p>,
    search: &'a Search,
}

impl ScheduleWriter<'_, '_> {
    fn steps(
        &self,
        routed: &Routed,
        order: Order,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        let Search { network, resources, .. } = self.search;
        let simulated = simulate(network, resources, routed, order, |event| {
            let Event::Send { link, piece, first_segment, segments } = event else {
                return schedule.step();
            };
            let (from, to) = (network.links.tail[link].into(), network.links.head[link].into());
            let segments = Axis::range(first_segment.into(), segments.into());
            schedule.send(&self.blocks(from, to, (piece.source, piece.target)).segments(segments))
        });
        simulated.map(|_| ())
    }

    fn routes(&self, routed: &Routed, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let network = &self.search.network;
        schedule.step()?;
        let mut vertices = Vec::new();
        for (piece, path) in routed.pieces.iter().zip(routed.paths.iter()) {
            vertices.clear();
            vertices.extend(path.iter().map(|link| u64::from(network.links.head[*link as usize])));
            let route = Route::path(&vertices);
            let segments = Axis::range(piece.first_segment.into(), piece.segments.into());
            let pair = (piece.source, piece.target);
            let blocks = self.blocks(piece.source.into(), piece.target.into(), pair);
            schedule.send(&blocks.segments(segments).route(&route))?;
        }
        Ok(())
    }

    fn blocks(&self, from: u64, to: u64, (source, target): (u32, u32)) -> Blocks<'static> {
        let blocks = Blocks::new(from, to).strict();
        match self.problem.collective() {
            Collective::Scatter => blocks.destinations(Set::one(target.into())),
            Collective::Gather | Collective::Permutation => blocks.origins(Set::one(source.into())),
            _ => blocks.origins(Set::one(source.into())).destinations(Set::one(target.into())),
        }
    }
}

/// The gap is 1 %, because a schedule of whole blocks is less precise than that.
const OPTIONS: Options =
    Options { gap: 0.01, stale_checks: 8, bisections: 7, early_checks: 3, exact: false };

struct Load<'a> {
    demand: &'a Demand,
    resources: &'a Resources,
}

impl swapmeet_flows::Demand for Load<'_> {
    fn amounts(&self, source: usize) -> impl Iterator<Item = (u32, u64)> {
        let segments = u64::from(self.demand.segments);
        self.demand.rows[source].iter().map(move |(to, size)| (*to, u64::from(*size) * segments))
    }

    fn set_lengths(
        &self,
        _: Prices,
        values: &[f32],
        resources: &mut [u32],
        links: &mut [u32],
    ) -> u128 {
        self.resources.set_lengths(values, resources, links).into()
    }
}

/// Returns the division of the demand among paths that minimizes the largest load of a resource, if
/// data can be divided without limit.
fn best_flow(
    network: &LinkGraph,
    resources: &Resources,
    demand: &Demand,
    random: &mut Random,
    deadline: Deadline,
) -> Solution {
    // Cuts are examined only for equal demands and unlimited ports.
    let has_cuts = demand.is_even(network.nodes) && resources.ports.is_none();
    let cut = || BestCut::new(&network.links, &resources.quota, network.nodes as u32);
    let problem = swapmeet_flows::Problem {
        links: &network.links,
        sources: &demand.sources,
        demand: &Load { demand, resources },
        capacities: &vec![1.0; resources.count],
        columns: &resources.columns,
        longest: LONGEST,
        unit: resources.slowest_steps,
        cut: has_cuts.then(|| (cut(), demand.segments.into())),
        lower: resources.bound_of_nodes(network, demand),
    };
    let draw = |most| random.below(most);
    let solution = swapmeet_flows::solve(problem, OPTIONS, draw, |_, _| !deadline.has_passed());
    solution.unwrap_or_else(|_| unreachable!("the network is connected"))
}
