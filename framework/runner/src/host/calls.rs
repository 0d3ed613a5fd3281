//! The functions that a plugin may call. Invalid arguments are refused here, or in the functions to
//! which they are passed.

use super::{BEGUN, Host};
use crate::defect;
use crate::group_clock::PlanLimit;
use crate::plugin::text;
use crate::process::shared::record_step;
use smallvec::SmallVec;
use swapmeet_abi::hosting::{self, Claim, Passed, Room, Text, Unreadable};
use swapmeet_abi::{
    SWM_ALL, SWM_AXES, SWM_BITS, SWM_BYTE_COUNTS, SWM_COMBINE, SWM_COPY, SWM_FIXED, SWM_IN_PARTS,
    SWM_LOCAL, SWM_LOG_NOTE, SWM_LOG_WARN, SWM_NODE, SWM_RANGE, SWM_SHIFT, SWM_STRICT, SWM_XOR,
    SwmAxis, SwmBlocks, SwmBucket, SwmByteCount, SwmBytes, SwmLayout, SwmLink, SwmRedistribution,
    SwmRoute, SwmSet,
};
use swapmeet_core::delivery::boxes::{Axis, NodeSet};
use swapmeet_core::delivery::byte_counts::{
    ByteCountUnits, ByteSelection, ByteSend, Redistribution,
};
use swapmeet_core::delivery::collective::FinalBlocks;
use swapmeet_core::delivery::exchange::{Division, Rule};
use swapmeet_core::delivery::fault::{Fault, SendFault};
use swapmeet_core::limits;
use swapmeet_core::network::symmetry::Symmetry;
use swapmeet_core::network::topology::{Network, Route, RouteError, Switch};
use swapmeet_core::simulation::{Simulation, Task};

/// Defines functions that return an input of the plan. Each function records that the plugin has
/// requested this input.
macro_rules! inputs {
    ($($name:ident -> $type:ty, request $request:ident;)+) => {$(
        fn $name(&mut self) -> $type {
            self.requested.$request = true;
            self.inputs.$name
        }
    )+};
}

impl hosting::Host for Host<'_> {
    type Refusal = Fault;

    /// Calls `work`. If an assertion fails in it, records the failure, because a panic must not
    /// unwind into the plugin.
    fn guard<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> Option<R> {
        let result = defect::catch(|| work(self));
        result.map_err(|defect| self.defect.get_or_insert(defect)).ok()
    }

    fn answer(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Fault>) -> bool {
        const CALLS: u32 = 4096;
        self.calls = (self.calls + 1) % CALLS;
        if self.calls == 0 && self.limit.as_ref().is_some_and(PlanLimit::is_exceeded) {
            self.late = true;
        }
        if self.late || self.fault.is_some() || self.defect.is_some() {
            self.calls_after_error += u64::from(self.has_reported_error);
            self.has_reported_error = true;
            return false;
        }
        match work(self) {
            Ok(()) => true,
            Err(fault) => {
                self.fault = Some(fault);
                self.has_reported_error = true;
                false
            }
        }
    }

    fn extend(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Fault>) -> bool {
        self.answer(|host| match host.simulation {
            Some(_) => work(host),
            None => Err(Fault::OutOfOrder(
                "the plugin gives a schedule where it is only requested whether it can run",
            )),
        })
    }

    fn fail(&mut self, reason: Text<'_>) {
        self.reason = Some(text(reason).unwrap_or_else(|why| format!("its reason {why}")));
    }

    fn log(&mut self, level: u32, line: Text<'_>) {
        let line = text(line).unwrap_or_else(|why| format!("a line {why}"));
        if level == SWM_LOG_NOTE {
            self.notes.push(line.clone());
        }
        let word = if level == SWM_LOG_WARN { "warning: " } else { "" };
        self.log.push(format!("{word}{line}"));
    }

    inputs! {
        block_bytes -> u64, request bytes;
        ports -> u64, request ports;
        virtual_channels -> u64, request virtual_channels;
        startup_us -> f64, request startup_us;
        hop_us -> f64, request hop_us;
        byte_us -> f64, request byte_us;
        shares_routes -> bool, request shares_routes;
    }

    fn element_bytes(&mut self) -> u64 {
        self.inputs.element_bytes
    }

    fn pair_bytes(&mut self, from: u64, to: u64) -> u64 {
        self.requested.bytes = true;
        let nodes = self.task.topology.nodes();
        if from >= nodes || to >= nodes {
            return 0;
        }
        self.task.sizes.as_ref().map_or(self.inputs.block_bytes, |sizes| sizes.bytes(from, to))
    }

    fn destination(&mut self, from: u64) -> u64 {
        let images = self.task.collective.images().unwrap_or_default();
        let image = usize::try_from(from).ok().and_then(|from| images.get(from));
        image.map_or(from, |to| u64::from(*to))
    }

    fn vertices(&mut self) -> u64 {
        vertices_of(self.task.topology.as_ref())
    }

    fn uniform(&mut self) -> bool {
        self.task.sizes.is_none()
    }

    fn can_reduce(&mut self, vertex: u64) -> bool {
        self.task.topology.can_reduce(vertex)
    }

    fn links(&mut self, vertex: u64, links: Room<'_, SwmLink>) -> Result<(), Fault> {
        let table = match self.links.take() {
            Some(table) => table,
            None => LinkTable::new(self.task.topology.as_ref())?,
        };
        let listed = self.links.insert(table).of_vertex(vertex);
        let listed = listed.ok_or(Fault::OutOfOrder(
            "the plugin reads the links of a vertex that does not exist",
        ))?;
        let null = "the plugin reads links, but gives null for them or for their number";
        write(links, listed, null)
    }

    fn demand(&mut self, from: u64, demand: Room<'_, SwmByteCount>) -> Result<(), Fault> {
        self.requested.bytes = true;
        if from >= self.task.topology.nodes() {
            return Err(Fault::OutOfOrder(
                "the plugin reads the demand of a node that does not exist",
            ));
        }
        let null = "the plugin reads demand, but gives null for it or for its length";
        write(demand, &demand_of(self.task, self.inputs.block_bytes, from), null)
    }

    fn token_bytes(&mut self, node: u64, bytes: Room<'_, u64>) -> Result<(), Fault> {
        self.requested.bytes = true;
        if node >= self.task.topology.nodes() {
            return Err(Fault::OutOfOrder(
                "the plugin reads the tokens of a node that does not exist",
            ));
        }
        let listed = self.task.collective.tokens().map_or(&[][..], |t| t.bytes(node));
        let null = "the plugin reads tokens, but gives null for them or for their number";
        write(bytes, listed, null)
    }

    fn token_receivers(
        &mut self,
        node: u64,
        class: u64,
        receivers: Room<'_, u64>,
    ) -> Result<(), Fault> {
        self.requested.bytes = true;
        let tokens = self.task.collective.tokens();
        let tokens = tokens
            .filter(|tokens| node < tokens.nodes() && class < tokens.classes(node).into())
            .ok_or(Fault::OutOfOrder(
                "the plugin reads the receivers of a class of tokens that does not exist",
            ))?;
        let listed = tokens.receivers(node, class as u32);
        let listed: Vec<u64> = listed.iter().map(|receiver| (*receiver).into()).collect();
        let null = "the plugin reads receivers, but gives null for them or their number";
        write(receivers, &listed, null)
    }

    fn layout(&mut self, layout: Passed<'_, *const SwmLayout>) -> Result<(), Fault> {
        if layout.is_null() {
            return Err(Fault::BadGrid("the plugin gives none".to_owned()));
        }
        if self.placed {
            return Err(Fault::OutOfOrder("the schedule sets its grid after it has placed a node"));
        }
        let Ok(layout) = layout.read() else {
            return Err(Fault::BadGrid(
                "its `size` is below 24: set it to sizeof(SwmLayout)".to_owned(),
            ));
        };
        let radices = layout.radices();
        if radices.count() > limits::AXES {
            return Err(Fault::BadGrid(format!(
                "it has {} axes, expected at most {}",
                radices.count(),
                limits::AXES
            )));
        }
        if radices.is_null() && radices.count() > 0 {
            return Err(Fault::BadGrid(format!(
                "it has null for the radices of {} axes",
                radices.count()
            )));
        }
        if layout.flags & !(SWM_BYTE_COUNTS | SWM_IN_PARTS) != 0 {
            return Err(Fault::BadGrid("it has flags that this program does not know".to_owned()));
        }
        let byte_counts = (layout.flags & SWM_BYTE_COUNTS != 0).then(|| {
            // The numbers of elements in buckets, and thus the plan, depend on the block size.
            self.requested.bytes = true;
            ByteCountUnits {
                block_bytes: self.inputs.block_bytes,
                element_bytes: self.inputs.element_bytes,
            }
        });
        let division =
            Division { in_parts: layout.flags & SWM_IN_PARTS != 0, segments: layout.segments };
        let radices: SmallVec<[u64; 8]> = radices.iter().collect();
        self.schedule().layout(&radices, division, byte_counts)
    }

    fn place(&mut self, node: u64, physical: u64, home: bool) -> Result<(), Fault> {
        self.placed = true;
        self.schedule().place(node, physical, home)
    }

    fn symmetric(&mut self, claim: Claim<'_>) -> Result<(), Fault> {
        let bad = |what: &str| Fault::BadSymmetry(what.to_owned());
        if claim.axes().count() > limits::AXES {
            return Err(bad("it is one of over 64 axes"));
        }
        let null = "the plugin passes null for its axes or for the limits of the nodes to plan";
        if claim.lacks_list() {
            return Err(bad(null));
        }
        let symmetries = claim.axes().iter().map(|axis| match axis.kind {
            SWM_FIXED => Ok(Symmetry::Fixed),
            SWM_SHIFT => Ok(Symmetry::Shift(axis.unit)),
            SWM_XOR => Ok(Symmetry::Xor(axis.unit)),
            other => Err(bad(&format!("an axis is of kind {other}, expected 0 to 2"))),
        });
        let symmetries: Vec<Symmetry> = symmetries.collect::<Result<_, _>>()?;
        self.claims_symmetry |= symmetries.iter().any(|symmetry| *symmetry != Symmetry::Fixed);
        let ranges = self.schedule().symmetric(&symmetries, claim.can_start_anywhere())?;
        self.relies_on_symmetry |= self.schedule().relies_on_symmetry();
        claim.write(ranges).map_err(|_| bad(null))
    }

    fn phase(&mut self, name: Text<'_>) -> Result<(), Fault> {
        let bad = |_| {
            Fault::OutOfOrder(
                "the schedule names a phase with text that is null, not UTF-8, or longer than 1 MiB",
            )
        };
        self.schedule().phase(&text(name).map_err(bad)?)
    }

    fn step(&mut self) -> Result<(), Fault> {
        let simulation = self.schedule();
        simulation.step()?;
        record_step(simulation.step_number());
        Ok(())
    }

    fn send_blocks(&mut self, send: Passed<'_, *const SwmBlocks>) -> Result<(), Fault> {
        const SMALL: &str = "the plugin's send has a `size` below 136: set it to sizeof(SwmBlocks)";
        self.add_blocks(&send.read().map_err(|why| bad_send(why, SMALL))?)
    }

    fn send_bucket(&mut self, send: Passed<'_, *const SwmBucket>) -> Result<(), Fault> {
        const SMALL: &str = "the plugin's send has a `size` below 40: set it to sizeof(SwmBucket)";
        self.add_bucket(&send.read().map_err(|why| bad_send(why, SMALL))?)
    }

    fn send_bytes(&mut self, send: Passed<'_, *const SwmBytes>) -> Result<(), Fault> {
        const SMALL: &str = "the plugin's send has a `size` below 48: set it to sizeof(SwmBytes)";
        self.add_bytes(&send.read().map_err(|why| bad_send(why, SMALL))?)
    }

    fn redistribute(
        &mut self,
        redistribution: Passed<'_, *const SwmRedistribution>,
    ) -> Result<(), Fault> {
        let raw = redistribution.read().map_err(|why| {
            Fault::OutOfOrder(match why {
                Unreadable::Null => "the plugin redistributes null",
                Unreadable::Small(_) => {
                    "the plugin's redistribution has a `size` below 64: set it to sizeof(SwmRedistribution)"
                }
            })
        })?;
        if raw.node_count > limits::BYTE_COUNTS {
            return Err(Fault::OutOfOrder(
                "the plugin's redistribution is for over 134217728 destinations",
            ));
        }
        let (starts, firsts) = (raw.starts(), raw.firsts());
        if !starts.is_aligned() || !firsts.is_aligned() {
            return Err(Fault::OutOfOrder(
                "the plugin's redistribution has a table at an address that is not a multiple of 4",
            ));
        }
        self.schedule().redistribute(&Redistribution {
            node: raw.node,
            buckets: raw.buckets,
            cycle: raw.cycle,
            first: raw.first,
            starts: starts.slice().unwrap_or_default(),
            firsts: firsts.slice().unwrap_or_default(),
        })
    }

    fn rearrange(&mut self) -> Result<(), Fault> {
        self.schedule().rearrange()
    }
}

fn bad_send(why: Unreadable, small: &'static str) -> Fault {
    Fault::OutOfOrder(match why {
        Unreadable::Null => "the plugin sends null",
        Unreadable::Small(_) => small,
    })
}

/// A buffer for the route of a send. It is reused for all sends to avoid allocations.
#[derive(Default)]
pub(super) struct RouteBuffer(Route);

impl RouteBuffer {
    fn read(&mut self, raw: Passed<'_, *const SwmRoute>) -> Result<Option<&Route>, Fault> {
        if raw.is_null() {
            return Ok(None);
        }
        read_route(raw, &mut self.0).map_err(Fault::OutOfOrder)?;
        Ok(Some(&self.0))
    }
}

fn known(flags: u32, known: u32) -> Result<(), Fault> {
    if flags & !known == 0 {
        return Ok(());
    }
    Err(Fault::OutOfOrder("the plugin's send has flags that this program does not know"))
}

fn label(send: &Passed<'_, SwmBlocks>) -> String {
    text(send.label()).unwrap_or_else(|why| format!("a label that {why}"))
}

/// Returns whether a send requests a path or an order of dimensions that differs from the network's
/// own route.
fn departs(task: &Task, (from, to): (u64, u64), route: Option<&Route>) -> bool {
    /// The largest number of dimensions for which the routes in all directions are compared.
    const MOST_DIMENSIONS: usize = 6;
    let requested = route.filter(|route| !route.path.is_empty() || !route.order.is_empty());
    let Some(requested) = requested else { return false };
    let links = |route: Option<&Route>| {
        let mut links = SmallVec::<[u64; 32]>::new();
        task.topology.route(from, to, route, &mut |run| links.extend(run.links()))?;
        links.sort_unstable();
        Ok::<_, RouteError>(links)
    };
    let nodes = task.topology.nodes();
    if from >= nodes || to >= nodes {
        return false;
    }
    let (Ok(chosen), Ok(own)) = (links(Some(requested)), links(None)) else { return false };
    let dimensions = task.topology.radices().len().min(MOST_DIMENSIONS);
    let in_directions = |minus: u32| {
        let sign = |dimension| if minus >> dimension & 1 == 1 { -1 } else { 1 };
        let signs = (0..task.topology.radices().len()).map(sign).collect();
        links(Some(&Route { signs, ..Route::default() })).is_ok_and(|links| links == chosen)
    };
    chosen != own && !(0..1 << dimensions).any(in_directions)
}

impl Host<'_> {
    /// Passes a send of blocks to the simulation. A fault contains the plugin's label of the send.
    fn add_blocks(&mut self, send: &Passed<'_, SwmBlocks>) -> Result<(), Fault> {
        if let Some(labels) = &self.labels {
            *labels.borrow_mut() = label(send);
        }
        self.blocks(send).map_err(|fault| fault.labelled(label(send)))
    }

    fn blocks(&mut self, send: &Passed<'_, SwmBlocks>) -> Result<(), Fault> {
        known(send.flags, SWM_STRICT | SWM_COPY | SWM_LOCAL | SWM_COMBINE)?;
        let step = self.schedule().step_number();
        let bad = |side| {
            move |what: &str| {
                Fault::Send(
                    step,
                    SendFault::BadSet { from: send.from, to: send.to, side, what: what.to_owned() },
                )
            }
        };
        let (mut origins, mut destinations) = (SmallVec::new(), SmallVec::new());
        let rule = Rule {
            origins: node_set(send.origins(), &mut origins).map_err(bad("origins"))?,
            destinations: node_set(send.destinations(), &mut destinations)
                .map_err(bad("destinations"))?,
            segments: axis(send.segments()).map_err(bad("segments"))?,
            strict: send.flags & SWM_STRICT != 0,
            copy: send.flags & SWM_COPY != 0,
            combine: send.flags & SWM_COMBINE != 0,
            local: send.flags & SWM_LOCAL != 0,
            extra_bytes: send.extra_bytes,
            ..Rule::new(send.from, send.to)
        };
        let switch = match (send.reducer, send.multicaster) {
            (0, 0) => None,
            (vertex, 0) => Some(Switch::Reducer(vertex)),
            (0, vertex) => Some(Switch::Multicaster(vertex)),
            _ => {
                return Err(Fault::OutOfOrder(
                    "the plugin's send has both a reducer and a multicaster",
                ));
            }
        };
        if switch.is_some() && self.claims_symmetry {
            return Err(Fault::SYMMETRIC_IN_SWITCH);
        }
        self.add((send.from, send.to), send.route(), |simulation, route| {
            let Some(switch) = switch else { return simulation.send(&rule, route) };
            let route = route.cloned().unwrap_or_default();
            simulation.send(&rule, Some(&Route { switch: Some(switch), ..route }))
        })
    }

    fn add_bucket(&mut self, send: &Passed<'_, SwmBucket>) -> Result<(), Fault> {
        known(send.flags, SWM_LOCAL)?;
        let (from, to) = (send.from, send.to);
        let what = ByteSelection::Bucket(send.bucket);
        let share = ByteSend { from, to, local: send.flags & SWM_LOCAL != 0, what };
        self.add((from, to), send.route(), |simulation, route| simulation.send_bytes(&share, route))
    }

    fn add_bytes(&mut self, send: &Passed<'_, SwmBytes>) -> Result<(), Fault> {
        known(send.flags, SWM_LOCAL)?;
        let (from, to) = (send.from, send.to);
        let step = self.schedule().step_number();
        let counts = read_byte_counts(send).map_err(|what| {
            Fault::Send(step, SendFault::BadByteSend { from, to, what: what.to_owned() })
        })?;
        let what = ByteSelection::Listed(&counts);
        let share = ByteSend { from, to, local: send.flags & SWM_LOCAL != 0, what };
        self.add((from, to), send.route(), |simulation, route| simulation.send_bytes(&share, route))
    }

    fn add(
        &mut self,
        ends: (u64, u64),
        route: Passed<'_, *const SwmRoute>,
        add: impl FnOnce(&mut Simulation<'_>, Option<&Route>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let route = self.route.read(route)?;
        self.departs |= !self.departs && departs(self.task, ends, route);
        add(self.simulation.as_mut().expect(BEGUN), route)
    }
}

fn node_set<'a, 'b: 'a>(
    set: Passed<'b, SwmSet>,
    axes: &'a mut SmallVec<[Axis<'b>; 8]>,
) -> Result<NodeSet<'a>, &'static str> {
    match set.kind {
        SWM_ALL => Ok(NodeSet::All),
        SWM_NODE => Ok(NodeSet::One(set.node)),
        SWM_AXES if u64::from(set.axis_count) > limits::AXES => Err("has over 64 axes"),
        SWM_AXES if set.axes.is_null() => Err("has null for its axes"),
        SWM_AXES => {
            for part in set.axes().parts() {
                axes.push(axis(part)?);
            }
            Ok(NodeSet::Axes(axes))
        }
        _ => Err("is of an unknown kind"),
    }
}

fn axis(raw: Passed<'_, SwmAxis>) -> Result<Axis<'_>, &'static str> {
    match raw.kind {
        SWM_ALL => Ok(Axis::All),
        SWM_RANGE => {
            let small =
                |number| u32::try_from(number).map_err(|_| "has a range of numbers over 2^32 - 1");
            Ok(Axis::Range {
                first: small(raw.first)?,
                stride: small(raw.stride)?,
                count: small(raw.count)?,
            })
        }
        SWM_BITS if raw.count > limits::AXIS_WORDS => {
            Err("has an axis with over 131072 words of bits")
        }
        SWM_BITS if raw.words.is_null() => Err("has an axis with null for its bits"),
        SWM_BITS => (raw.words().slice().map(Axis::Bits))
            .ok_or("has an axis whose bits are at an address that is not a multiple of 8"),
        _ => Err("has an axis of an unknown kind"),
    }
}

fn read_route(raw: Passed<'_, *const SwmRoute>, route: &mut Route) -> Result<(), &'static str> {
    let Ok(raw) = raw.read() else {
        return Err("the plugin's route has a `size` below 40: set it to sizeof(SwmRoute)");
    };
    if u64::from(raw.dim_count) > limits::AXES {
        return Err("the plugin's route has over 64 dimensions");
    }
    if raw.path_len > limits::PATH {
        return Err("the plugin's route has a path of over 16777216 nodes");
    }
    route.signs.clear();
    route.order.clear();
    route.path.clear();
    route.signs.extend(raw.signs().iter());
    route.order.extend(raw.order().iter());
    route.path.extend(raw.path().iter());
    Ok(())
}

fn read_byte_counts(send: &Passed<'_, SwmBytes>) -> Result<Vec<(u64, u64)>, &'static str> {
    let counts = send.counts();
    if counts.count() > limits::BYTE_COUNTS {
        return Err("has over 134217728 byte counts");
    }
    if counts.is_null() && counts.count() > 0 {
        return Err("has null for its byte counts");
    }
    Ok(counts.iter().map(|count| (count.destination, count.bytes)).collect())
}

/// The links of a topology, sorted by the vertex that they leave and then by the vertex that they
/// enter.
pub(super) struct LinkTable {
    /// The links that leave vertex `v` have the indices `first[v]..first[v + 1]`.
    first: Vec<u32>,
    links: Vec<SwmLink>,
}

impl LinkTable {
    /// Errors if there are too many vertices or links.
    fn new(topology: &Network) -> Result<Self, Fault> {
        let vertices = vertices_of(topology);
        if vertices.max(topology.link_slots()) > limits::LINKS {
            return Err(Fault::Refused(format!(
                "a plugin can read the links of a topology of at most {} vertices and links; this one has {vertices} vertices and up to {} links",
                limits::LINKS,
                topology.link_slots()
            )));
        }
        let mut listed: Vec<(u64, SwmLink)> = (0..topology.link_slots())
            .filter_map(|link| {
                let (from, to) = topology.link_ends(link)?;
                let (bandwidth, latency) = (topology.bandwidth(link), topology.latency(link));
                Some((from, SwmLink { to, bandwidth, latency }))
            })
            .collect();
        listed.sort_by_key(|(from, link)| (*from, link.to));
        let mut first = vec![0; vertices as usize + 1];
        listed.iter().for_each(|(from, _)| first[*from as usize + 1] += 1);
        (1..first.len()).for_each(|vertex| first[vertex] += first[vertex - 1]);
        Ok(Self { first, links: listed.into_iter().map(|(_, link)| link).collect() })
    }

    fn of_vertex(&self, vertex: u64) -> Option<&[SwmLink]> {
        let vertex = usize::try_from(vertex).ok()?;
        let end = *self.first.get(vertex.checked_add(1)?)?;
        self.links.get(self.first[vertex] as usize..end as usize)
    }
}

fn vertices_of(topology: &Network) -> u64 {
    topology.nodes() + topology.switches()
}

/// Returns the nodes that receive data of node `from`, in ascending order, each with the number of
/// bytes.
fn demand_of(task: &Task, block_bytes: u64, from: u64) -> Vec<SwmByteCount> {
    let bytes = |to| match &task.sizes {
        // If all nodes receive the same block of `from`, the size of the block depends only on
        // `from`.
        Some(sizes) if task.collective.kind().required == FinalBlocks::All => {
            sizes.bytes(from, from)
        }
        Some(sizes) => sizes.bytes(from, to),
        None => block_bytes,
    };
    let count = |to| SwmByteCount { destination: to, bytes: bytes(to) };
    task.receivers(from).map(count).filter(|count| count.bytes > 0).collect()
}

/// Writes a list to memory of a plugin. `null` is the message of the fault if the plugin has passed
/// no pointer for the length of the list.
fn write<T: Copy>(room: Room<'_, T>, items: &[T], null: &'static str) -> Result<(), Fault> {
    room.write(items).map_err(|_| Fault::OutOfOrder(null))
}
