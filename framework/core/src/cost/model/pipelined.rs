//! The model `pipelined`: a library that cuts messages into chunks, and forwards a chunk while it
//! receives the next one, as NCCL and RCCL do.
//!
//! In a synchronous model, every step of a ring pays the start-up of a message between nodes. In a
//! pipeline, only the data that crosses between nodes pays it. The completion time has three parts:
//!
//! - `L` is the longest chain of start-ups. A message waits for the data that it forwards. Consider
//!   the step in which the last of this data arrived, and all messages that the sender had received
//!   by then. The chain of the message is the longest chain of these messages, followed by its own
//!   start-up (as with `order=data`). A rank that sends several messages starts all of them at
//!   once.
//! - `B` is the time of the bytes on the busiest link, as if a link never waited for data.
//! - The pipeline has to be filled. If each step waited for the step before, the bytes would take
//!   `D`, the sum over all steps of the time of the busiest link in the step. If all messages are
//!   cut into k chunks, the steps of successive chunks overlap. The bytes then take
//!   `B + (D - B)/k`, and k - 1 further chunks are started, at intervals of `a`: `chunk_startups`
//!   times the mean start-up of the longest chain. The model uses the k from 1 for which
//!   `(D - B)/k + (k - 1) a` is least: 1 if `D - B <= a`, otherwise `sqrt((D - B)/a)`.
//!
//! A message is *inside* if all links of its route are inside of a node ([`Network::is_inside`]),
//! otherwise *outside*. These two tiers have their own start-ups. A library has several protocols
//! (`protocols`), which trade start-ups for bandwidth, and uses the fastest one.
//!
//! Messages of several blocks are packed and unpacked: `rearrange_byte_us` per byte and
//! `rearrange_block_us` per block, at the busiest node of each step.

use super::synchronous::REARRANGE_BLOCK_US;
use super::{Cost, Evaluator, Model, ModelKind, NetworkRates, PricingContext, segment_bytes};
use crate::cost::bound::{self, Bound, Traffic};
use crate::cost::kind::{Kind, Times};
use crate::cost::parameter::{
    BYTE_US, DefaultValue, PortLimit, REARRANGE_BYTE_US, STARTUP_US, TypedParameter, parse_micros,
    parse_number,
};
use crate::cost::settings::parameters;
use crate::network::topology::Network;
use crate::simulation::listener::{Detail, Interests, Listener, ScheduleEvent};
use crate::simulation::step::{Step, Transfer};
use std::fmt::{self, Display};
use std::sync::Arc;

pub(super) static KIND: ModelKind = ModelKind {
    name: "pipelined",
    title: "messages in chunks, as in NCCL: the longest chain of start-ups, and the busiest link",
    parameters: Pipelined::PARAMETERS,
    pricing_time: 0.5,
    prepare: |settings| Ok(Arc::new(Pipelined::of(settings)?)),
};

static OUTSIDE_STARTUP_US: TypedParameter<f64> = TypedParameter {
    key: "outside_startup_us",
    meaning: "start-up time of a message that leaves its node, on topologies that know nodes (`groups`); there, startup_us is that of a message inside of a node",
    symbols: "",
    default: DefaultValue::SameAs(&STARTUP_US),
    read: parse_micros,
};

static FABRIC_FACTOR: TypedParameter<f64> = TypedParameter {
    key: "fabric_factor",
    meaning: "factor for all start-up times outside of a node, which depend on the fabric between nodes",
    symbols: "",
    default: DefaultValue::Text("1"),
    read: factor,
};

static SWITCH_STARTUP_US: TypedParameter<f64> = TypedParameter {
    key: "switch_startup_us",
    meaning: "start-up time of a message whose data a switch adds or copies",
    symbols: "",
    default: DefaultValue::SameAs(&STARTUP_US),
    read: parse_micros,
};

static SWITCH_FRACTION: TypedParameter<f64> = TypedParameter {
    key: "switch_fraction",
    meaning: "fraction of the bandwidth of a link for data that a switch adds or copies, above 0",
    symbols: "",
    default: DefaultValue::Text("1"),
    read: |text| {
        let fraction = parse_number(text).filter(|x| (1e-6..=1e6).contains(x));
        fraction.ok_or_else(|| "a number from 0.000001 to 1000000".to_owned())
    },
};

static CHUNK_STARTUPS: TypedParameter<f64> = TypedParameter {
    key: "chunk_startups",
    meaning: "interval between two chunks of a pipeline, as a multiple of the mean start-up of the longest chain",
    symbols: "",
    default: DefaultValue::Text("1"),
    read: factor,
};

fn factor(text: &str) -> Result<f64, String> {
    let factor = parse_number(text).filter(|factor| (0.0..=1e6).contains(factor));
    factor.map(|factor| factor + 0.0).ok_or_else(|| "a number from 0 to 1000000".to_owned())
}

static PROTOCOLS: TypedParameter<ProtocolList> = TypedParameter {
    key: "protocols",
    meaning: "protocols of a library, as `LL:1.6/10.8/.29/.22+LL128:..`: name, start-up inside and outside of a node in microseconds, fraction of the bandwidth inside and outside; each is priced, and the shortest time counts; `none`: the other parameters",
    symbols: "",
    default: DefaultValue::Text("none"),
    read: ProtocolList::read,
};

parameters! {
    struct Pipelined {
        startup_us: f64 = STARTUP_US,
        outside_startup_us: f64 = OUTSIDE_STARTUP_US,
        fabric_factor: f64 = FABRIC_FACTOR,
        byte_us: f64 = BYTE_US,
        chunk_startups: f64 = CHUNK_STARTUPS,
        switch_startup_us: f64 = SWITCH_STARTUP_US,
        switch_fraction: f64 = SWITCH_FRACTION,
        rearrange_byte_us: f64 = REARRANGE_BYTE_US,
        rearrange_block_us: f64 = REARRANGE_BLOCK_US,
        protocols: ProtocolList = PROTOCOLS,
    }
}

type Tiers<T> = [T; 2];

#[derive(Debug, Clone, PartialEq)]
struct Protocol {
    name: String,
    startup_us: Tiers<f64>,
    fraction: Tiers<f64>,
}

/// The parameter `protocols`. Empty if there is a single protocol, whose start-ups are parameters.
#[derive(Debug, Clone, PartialEq)]
struct ProtocolList(Vec<Protocol>);

impl ProtocolList {
    /// The number of protocols is limited, because every message has a chain for each protocol.
    const MOST: usize = 16;

    fn read(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(Vec::new()));
        }
        let protocols = text.split('+').map(Protocol::read).collect::<Option<Vec<_>>>();
        let is_unique = |all: &[Protocol]| {
            (1..all.len()).all(|i| all[..i].iter().all(|other| other.name != all[i].name))
        };
        protocols.filter(|all| all.len() <= Self::MOST && is_unique(all)).map(Self).ok_or_else(|| {
            format!(
                "`none`, or up to {} different protocols, each as NAME:INSIDE_US/OUTSIDE_US/INSIDE_FRACTION/OUTSIDE_FRACTION with fractions above 0, joined by `+`, as in LL:1.6/10.8/0.29/0.22+Simple:6.6/14.2/1/1",
                Self::MOST
            )
        })
    }
}

impl Protocol {
    fn read(text: &str) -> Option<Self> {
        let (name, numbers) = text.split_once(':')?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let values: Vec<&str> = numbers.split('/').collect();
        let [inside_us, outside_us, inside, outside] = values[..] else { return None };
        let micros = |text| parse_micros(text).ok();
        // A library can exceed a data sheet by a little, but not by orders of magnitude.
        let fraction = |text| parse_number(text).filter(|x| (1e-6..=1e6).contains(x));
        (!name.is_empty() && name.chars().all(is_word)).then_some(())?;
        Some(Self {
            name: name.to_owned(),
            startup_us: [micros(inside_us)?, micros(outside_us)?],
            fraction: [fraction(inside)?, fraction(outside)?],
        })
    }
}

impl Display for ProtocolList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (i, Protocol { name, startup_us, fraction }) in self.0.iter().enumerate() {
            let join = if i > 0 { "+" } else { "" };
            let ([a, b], [c, d]) = (startup_us, fraction);
            write!(f, "{join}{name}:{a}/{b}/{c}/{d}")?;
        }
        Ok(())
    }
}

impl Pipelined {
    fn all_protocols(&self) -> Vec<Protocol> {
        let mut all = self.protocols.0.clone();
        if all.is_empty() {
            let startup_us = [self.startup_us, self.outside_startup_us];
            all.push(Protocol { name: String::new(), startup_us, fraction: [1.0; 2] });
        }
        all.iter_mut().for_each(|protocol| protocol.startup_us[1] *= self.fabric_factor);
        all
    }

    fn least_startup_us(&self) -> f64 {
        let startups = self.all_protocols().into_iter().flat_map(|protocol| protocol.startup_us);
        startups.fold(self.switch_startup_us, f64::min)
    }

    fn least_byte_us(&self) -> f64 {
        let fractions = self.all_protocols().into_iter().flat_map(|protocol| protocol.fraction);
        let largest = fractions.fold(f64::MIN_POSITIVE, f64::max);
        self.byte_us / (largest * self.switch_fraction.max(1.0))
    }
}

impl Model for Pipelined {
    fn has_reducing_switches(&self) -> bool {
        true
    }

    fn message_us(&self) -> Option<f64> {
        self.all_protocols().last().map(|protocol| protocol.startup_us[1])
    }

    fn detail(&self) -> Detail {
        Detail::AllNodes
    }

    fn follows_arrivals(&self) -> bool {
        true
    }

    fn evaluator(&self, context: PricingContext<'_>) -> Box<dyn Evaluator> {
        Box::new(Pipeline::new(self, context))
    }

    fn lower_bound(&self, topology: &Network, traffic: &Traffic) -> Bound {
        let startup = Times::of([(Kind::Startup, self.least_startup_us())]);
        let (bytes, kind) = bound::network_bytes(topology, traffic, PortLimit::All, 1.0);
        // The bytes of a rank that shares its node with others need not enter the network.
        let bytes = if topology.shares_nodes() { 0.0 } else { bytes };
        let by_bytes = startup.with(Kind::Transmission, bytes * self.least_byte_us());
        Bound { kind, times: by_bytes }.max(startup.into())
    }

    fn network_rates(&self) -> Option<NetworkRates> {
        Some(NetworkRates {
            link_byte_us: self.least_byte_us(),
            ports: None,
            injection_byte_us: 0.0,
        })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Chain {
    us: f64,
    messages: u32,
}

impl Chain {
    fn longer(self, other: Self) -> Self {
        if other.us > self.us { other } else { self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartUp {
    Inside,
    Outside,
    Switch,
}

/// The longest chains that end at a rank, one for each protocol, after each step in which the rank
/// has received a message.
#[derive(Debug, Default)]
struct Arrivals {
    steps: Vec<u64>,
    chains: Vec<Chain>,
}

struct Pipeline {
    model: Pipelined,
    protocols: Vec<Protocol>,
    topology: Arc<Network>,
    unit_bytes: f64,
    arrivals: Vec<Arrivals>,
    received: (Vec<u32>, Vec<Chain>),
    longest: Vec<Chain>,
    /// For each link, the time of all bytes so far if `byte_us` were 1.
    on_links: Vec<f64>,
    transfers: Vec<Transfer>,
    segments: u64,
    startups: Vec<StartUp>,
    loaded: Vec<(u64, f64)>,
    times: Vec<f64>,
    /// For each protocol, the sum of the times of the busiest link in each step.
    step_by_step_us: Vec<f64>,
    rearrangement_us: f64,
    counted: bool,
}

impl Pipeline {
    fn new(model: &Pipelined, context: PricingContext<'_>) -> Self {
        let protocols = model.all_protocols();
        let (nodes, links) = (context.topology.nodes(), context.topology.link_slots());
        Self {
            arrivals: (0..nodes).map(|_| Arrivals::default()).collect(),
            received: (Vec::new(), Vec::new()),
            longest: vec![Chain::default(); protocols.len()],
            on_links: vec![0.0; links as usize],
            transfers: Vec::new(),
            segments: 0,
            startups: Vec::new(),
            loaded: Vec::new(),
            times: vec![0.0; links as usize],
            step_by_step_us: vec![0.0; protocols.len()],
            rearrangement_us: 0.0,
            counted: context.counted,
            model: model.clone(),
            protocols,
            topology: Arc::clone(context.topology),
            unit_bytes: context.unit_bytes,
        }
    }

    fn step(&mut self, step: &Step<'_>) {
        let unit_bytes = segment_bytes(self.unit_bytes, step.segments);
        // In a ring, all steps are equal, so their routes are computed only once.
        let is_repeated = step.segments == self.segments
            && step.transfers == self.transfers
            && step.transfers.iter().all(|transfer| transfer.route == 0);
        if !is_repeated {
            self.load_links(step, unit_bytes);
        }
        for (i, transfer) in step.transfers.iter().enumerate() {
            let latest =
                step.latest_arrivals.get(i).map_or(step.schedule_step - 1, |s| (*s).into());
            self.follow(transfer.from, transfer.to, self.startups[i], latest);
        }
        self.arrive(step.schedule_step);
        self.add_step();
        let packed = step.facts.max_packed_load.unwrap_or(0) as f64;
        let blocks = step.packed_blocks(self.counted);
        self.rearrangement_us += packed * unit_bytes * self.model.rearrange_byte_us
            + blocks * self.model.rearrange_block_us;
    }

    fn load_links(&mut self, step: &Step<'_>, unit_bytes: f64) {
        let (topology, times) = (&self.topology, &mut self.times);
        self.startups.clear();
        self.loaded.clear();
        for transfer in step.transfers {
            let bytes = transfer.load as f64 * unit_bytes;
            let (mut is_inside, loaded) = (true, &mut self.loaded);
            let route = transfer.route.checked_sub(1).map(|route| &step.routes[route as usize]);
            let by_switch = route.is_some_and(|route| route.switch.is_some());
            let bytes = if by_switch { bytes / self.model.switch_fraction } else { bytes };
            let hops =
                topology.route(transfer.from.into(), transfer.to.into(), route, &mut |run| {
                    for link in run.links() {
                        is_inside &= topology.is_inside(link);
                        let time = &mut times[link as usize];
                        if *time == 0.0 {
                            loaded.push((link, 0.0));
                        }
                        *time += bytes / topology.bandwidth(link);
                    }
                });
            assert!(hops.is_ok(), "the simulation has found a route of this message");
            self.startups.push(match (by_switch, is_inside) {
                (true, _) => StartUp::Switch,
                (false, true) => StartUp::Inside,
                (false, false) => StartUp::Outside,
            });
        }
        for (link, time) in &mut self.loaded {
            *time = std::mem::take(&mut times[*link as usize]);
        }
        (self.segments, self.transfers) = (step.segments, step.transfers.to_vec());
    }

    fn follow(&mut self, from: u32, to: u32, startup: StartUp, latest: u64) {
        let Arrivals { steps, chains } = &self.arrivals[from as usize];
        let known = match steps.last() {
            Some(last) if *last <= latest => steps.len(),
            _ => steps.partition_point(|step| *step <= latest),
        };
        self.received.0.push(to);
        for (i, protocol) in self.protocols.iter().enumerate() {
            let before = match known.checked_sub(1) {
                Some(known) => chains[known * self.protocols.len() + i],
                None => Chain::default(),
            };
            let us = before.us
                + match startup {
                    StartUp::Inside => protocol.startup_us[0],
                    StartUp::Outside => protocol.startup_us[1],
                    StartUp::Switch => self.model.switch_startup_us,
                };
            self.received.1.push(Chain { us, messages: before.messages + 1 });
        }
    }

    fn arrive(&mut self, number: u64) {
        let count = self.protocols.len();
        let (receivers, chains) = std::mem::take(&mut self.received);
        for (to, ending) in receivers.iter().zip(chains.chunks_exact(count)) {
            let Arrivals { steps, chains } = &mut self.arrivals[*to as usize];
            if steps.last() != Some(&number) {
                let first = chains.len();
                steps.push(number);
                match first.checked_sub(count) {
                    Some(last) => chains.extend_from_within(last..),
                    None => chains.resize(count, Chain::default()),
                }
            }
            let first = chains.len() - count;
            for (i, (known, ending)) in chains[first..].iter_mut().zip(ending).enumerate() {
                *known = known.longer(*ending);
                self.longest[i] = self.longest[i].longer(*ending);
            }
        }
        (self.received.0, self.received.1) = (receivers, chains);
        self.received.0.clear();
        self.received.1.clear();
    }

    fn add_step(&mut self) {
        let mut most = [0.0_f64; 2];
        for (link, time) in &self.loaded {
            self.on_links[*link as usize] += time;
            let tier = usize::from(!self.topology.is_inside(*link));
            most[tier] = most[tier].max(*time);
        }
        for (sum, protocol) in self.step_by_step_us.iter_mut().zip(&self.protocols) {
            *sum += self.model.byte_us * slower(most, protocol);
        }
    }
}

fn slower(times: Tiers<f64>, protocol: &Protocol) -> f64 {
    let [inside, outside] = protocol.fraction;
    (times[0] / inside).max(times[1] / outside)
}

impl Listener for Pipeline {
    fn interests(&self) -> Interests {
        let Pipelined { rearrange_byte_us, rearrange_block_us, .. } = self.model;
        Interests {
            arrivals: true,
            packing: rearrange_byte_us > 0.0 || rearrange_block_us > 0.0,
            ..Interests::SCHEDULE
        }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        if let ScheduleEvent::Step(step) = event {
            self.step(step);
        }
    }
}

impl Evaluator for Pipeline {
    fn cost(&mut self) -> Result<Cost, String> {
        let mut busiest = [0.0_f64; 2];
        for (link, time) in (0..).zip(&self.on_links).filter(|(_, time)| **time > 0.0) {
            let tier = usize::from(!self.topology.is_inside(link));
            busiest[tier] = busiest[tier].max(*time);
        }
        let priced = self.protocols.iter().enumerate().map(|(i, protocol)| {
            let Chain { us: chain_us, messages } = self.longest[i];
            let bytes_us = self.model.byte_us * slower(busiest, protocol);
            let filling_us = (self.step_by_step_us[i] - bytes_us).max(0.0);
            let interval_us = self.model.chunk_startups * chain_us / f64::from(messages.max(1));
            let chunks =
                if filling_us > interval_us { (filling_us / interval_us).sqrt() } else { 1.0 };
            let started_us = if chunks.is_finite() { (chunks - 1.0) * interval_us } else { 0.0 };
            let times = Times::of([
                (Kind::Startup, chain_us + started_us),
                (Kind::Transmission, bytes_us + filling_us / chunks),
                (Kind::Rearrangement, self.rearrangement_us),
            ]);
            (times, &protocol.name)
        });
        let shorter = |a: &(Times, _), b: &(Times, _)| a.0.total().total_cmp(&b.0.total());
        let (times, protocol) = priced.min_by(shorter).expect("a library has a protocol");
        let has = |kind| matches!(kind, Kind::Startup | Kind::Transmission | Kind::Rearrangement);
        let protocol = Some(protocol.clone()).filter(|name| !name.is_empty());
        Ok(Cost { parts: times.parts(has), protocol, ..Cost::default() })
    }
}

#[cfg(test)]
mod tests {
    use crate::cost::kind::Kind;
    use crate::cost::machine::Machine;
    use crate::cost::model::Cost;
    use crate::cost::model::test_steps::{Sends, cost, cost_of_forwarding};

    /// Returns a ring allgather or, with two rounds, a ring allreduce.
    fn ring(ranks: u32, rounds: u32, bytes: u64) -> Sends {
        (1..=rounds * (ranks - 1))
            .map(|step| {
                (0..ranks).map(|rank| (rank, (rank + 1) % ranks, bytes, step - 1)).collect()
            })
            .collect()
    }

    fn of(topology: &str, machine: &str, steps: &Sends) -> Cost {
        cost_of_forwarding(topology, &format!("free:model=pipelined,{machine}"), steps)
    }

    fn us(topology: &str, machine: &str, steps: &Sends) -> f64 {
        of(topology, machine, steps).parts.total()
    }

    /// In an allreduce, data goes 2(n - 1) hops around a ring of d groups of g ranks: two rounds
    /// without two consecutive hops. If g is at least 3, these two hops can be within a group, so
    /// the slowest data crosses 2d boundaries of groups (none if d is 1). Every rank sends
    /// 2(n - 1)/n of the vector. NCCL's `src/graph/tuning.cc` has the same closed form for rings,
    /// but counts only 2(d - 1) hops between groups.
    #[test]
    fn a_ring_pays_the_start_up_between_groups_only_at_boundaries() {
        let machine = "startup_us=2,outside_startup_us=30,byte_us=0.5";
        for (d, g) in [(2, 4), (3, 3), (4, 8), (1, 6)] {
            let n = d * g;
            let boundaries = if d > 1 { 2 * d } else { 0 };
            let hops = f64::from(2 * (n - 1) - boundaries) * 2.0 + f64::from(boundaries) * 30.0;
            let bytes = f64::from(2 * (n - 1)) * 64.0 * 0.5;
            let found = us(&format!("groups:{d}x{g}"), machine, &ring(n, 2, 64));
            assert!((found - (hops + bytes)).abs() < 1e-9, "{d}x{g}: {found}");
        }
    }

    /// Under `wormhole`, the same ring would pay the longest start-up in every step.
    #[test]
    fn links_within_groups_have_their_own_bandwidth() {
        let steps = ring(8, 1, 100);
        let machine = "byte_us=1,protocols=";
        for (protocol, expected) in
            [("A:0/0/1/1", 700.0), ("A:0/0/0.1/1", 700.0 / 4.0 / 0.1), ("A:0/0/1/0.5", 1400.0)]
        {
            let found = us("groups:2x4,inside=4", &format!("{machine}{protocol}"), &steps);
            assert!((found - expected).abs() < 1e-9, "{protocol}: {found}");
        }
    }

    /// On a chain of h hops, a message of S bytes takes `h a + S b + 2 sqrt((h - 1) S b a) - a`
    /// with the best number of chunks (for example Chan et al., Collective communication, 2007).
    #[test]
    fn the_chunks_of_a_pipeline_are_optimal() {
        let chain: Sends = (0..7_u32).map(|step| vec![(step, step + 1, 10_000, step)]).collect();
        let found = of("ring:16", "startup_us=3,byte_us=0.01", &chain);
        let (hops, a, bytes) = (7.0, 3.0, 100.0);
        let filling = (hops - 1.0) * bytes;
        let best = (1..1000_u32).map(f64::from).map(|k| filling / k + (k - 1.0) * a);
        let best = hops * a + bytes + best.fold(f64::INFINITY, f64::min);
        let closed = hops * a + bytes + 2.0 * (filling * a).sqrt() - a;
        let total = found.parts.total();
        assert!((total - closed).abs() < 1e-9 && total <= best && total > 0.999 * best, "{total}");
        let short: Sends = (0..7_u32).map(|step| vec![(step, step + 1, 10, step)]).collect();
        let found = us("ring:16", "startup_us=3,byte_us=0.01", &short);
        assert!((found - (7.0 * 3.0 + 7.0 * 0.1)).abs() < 1e-9, "{found}");
        let free = us("ring:16", "startup_us=3,byte_us=0.01,chunk_startups=0", &chain);
        assert!((free - (7.0 * 3.0 + 100.0)).abs() < 1e-9, "{free}");
    }

    /// In an all-to-all, no message forwards data, whatever the number of steps.
    #[test]
    fn sends_that_forward_nothing_share_one_start_up() {
        let rotated: Vec<Vec<(u32, u32, u64)>> =
            (1..8).map(|k| (0..8).map(|r| (r, (r + k) % 8, 100)).collect()).collect();
        let linear = vec![rotated.concat()];
        let machine = "free:model=pipelined,startup_us=2,outside_startup_us=9,byte_us=0.1";
        for steps in [&rotated, &linear] {
            let steps: Vec<&[_]> = steps.iter().map(Vec::as_slice).collect();
            let parts = cost("groups:2x4", machine, &steps).parts;
            let total = parts.total();
            assert!((9.0 + 40.0 - 1e-9..9.0 + 40.0 + 60.0).contains(&total), "{total}");
        }
        let one = cost("groups:2x4", machine, &[&linear[0]]).parts;
        assert_eq!((one[Kind::Startup], one[Kind::Transmission]), (Some(9.0), Some(40.0)));
    }

    #[test]
    fn the_fastest_protocol_is_named() {
        let machine = "byte_us=0.001,protocols=LL:1/10/.25/.25+Simple:5/20/1/1";
        let protocol = |bytes| {
            let cost = of("groups:2x2", machine, &ring(4, 1, bytes));
            (cost.protocol.unwrap(), cost.parts.total())
        };
        let (short, long) = (protocol(100), protocol(100_000));
        assert_eq!([short.0, long.0], ["LL", "Simple"]);
        assert!((short.1 - (21.0 + 300.0 * 0.004)).abs() < 1e-9, "{}", short.1);
        assert!((long.1 - (45.0 + 300.0)).abs() < 1e-9, "{}", long.1);
        let plain = of("groups:2x2", "startup_us=1,fabric_factor=5", &ring(4, 1, 100));
        assert_eq!((plain.protocol, plain.parts.total()), (None, 1.0 + 2.0 * 5.0));
    }

    #[test]
    fn protocols_are_printed_in_canonical_form() {
        let of = |text: &str| {
            let spec = format!("free:model=pipelined,protocols={text}");
            Machine::parse(&spec).map(|machine| machine.to_string()).map_err(|e| e.to_string())
        };
        assert_eq!(
            of("LL:1.6/10.8/.29/.22+LL128:3/10.8/.87/.78").unwrap(),
            "free:model=pipelined,protocols=LL:1.6/10.8/0.29/0.22+LL128:3/10.8/0.87/0.78"
        );
        assert_eq!(of("none").unwrap(), "free:model=pipelined");
        for wrong in
            ["LL", "LL:1/2/3", "LL:1/2/0/1", "LL:-1/2/1/1", ":1/2/1/1", "A:1/1/1/1+A:1/1/1/1"]
        {
            let error = of(wrong).unwrap_err();
            assert!(error.contains("expected `none`, or up to 16 different protocols"), "{error}");
        }
    }
}
