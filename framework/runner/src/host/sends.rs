//! Functions that read the sends of a plugin (of blocks, buckets and byte counts) and pass them to
//! the simulation.

use super::{BEGUN, Host};
use crate::plugin::text;
use smallvec::SmallVec;
use swapmeet_abi::hosting::Passed;
use swapmeet_abi::{
    SWM_ALL, SWM_AXES, SWM_BITS, SWM_COMBINE, SWM_COPY, SWM_LOCAL, SWM_NODE, SWM_RANGE, SWM_STRICT,
    SwmAxis, SwmBlocks, SwmBucket, SwmBytes, SwmRoute, SwmSet,
};
use swapmeet_core::delivery::boxes::{Axis, NodeSet};
use swapmeet_core::delivery::byte_counts::{ByteSelection, ByteSend};
use swapmeet_core::delivery::exchange::Rule;
use swapmeet_core::delivery::fault::{Fault, SendFault};
use swapmeet_core::limits;
use swapmeet_core::network::topology::{Route, RouteError};
use swapmeet_core::simulation::{Simulation, Task};

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

/// Returns whether a send requests a path, or an order of dimensions, that differs from the route of
/// the network. A route that differs only in the directions around rings is not reported.
fn departs(task: &Task, (from, to): (u64, u64), route: Option<&Route>) -> bool {
    /// The largest number of dimensions for which all directions are compared.
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
    // A route that the network does not have is refused elsewhere.
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
    /// Passes a send of blocks to the simulation. If the send breaks a rule, the fault contains the
    /// plugin's label of the send.
    pub(super) fn add_blocks(&mut self, send: &Passed<'_, SwmBlocks>) -> Result<(), Fault> {
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
        self.add((send.from, send.to), send.route(), |simulation, route| {
            simulation.send(&rule, route)
        })
    }

    pub(super) fn add_bucket(&mut self, send: &Passed<'_, SwmBucket>) -> Result<(), Fault> {
        known(send.flags, SWM_LOCAL)?;
        let (from, to) = (send.from, send.to);
        let what = ByteSelection::Bucket(send.bucket);
        let share = ByteSend { from, to, local: send.flags & SWM_LOCAL != 0, what };
        self.add((from, to), send.route(), |simulation, route| simulation.send_bytes(&share, route))
    }

    pub(super) fn add_bytes(&mut self, send: &Passed<'_, SwmBytes>) -> Result<(), Fault> {
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

    /// Reads the route of a send, and passes the send to the simulation with `add`.
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
