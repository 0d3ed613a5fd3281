//! Functions that read and validate the sets, routes and byte counts that a plugin passes.

use smallvec::SmallVec;
use swapmeet_abi::hosting::Passed;
use swapmeet_abi::{
    SWM_ALL, SWM_AXES, SWM_BITS, SWM_NODE, SWM_RANGE, SwmAxis, SwmBytes, SwmRoute, SwmSet,
};
use swapmeet_core::delivery::boxes::{Axis, NodeSet};
use swapmeet_core::limits;
use swapmeet_core::network::topology::Route;

pub(super) fn node_set<'a, 'b: 'a>(
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

pub(super) fn axis(raw: Passed<'_, SwmAxis>) -> Result<Axis<'_>, &'static str> {
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

pub(super) fn read_route(
    raw: Passed<'_, *const SwmRoute>,
    route: &mut Route,
) -> Result<(), &'static str> {
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

pub(super) fn read_byte_counts(
    send: &Passed<'_, SwmBytes>,
) -> Result<Vec<(u64, u64)>, &'static str> {
    let counts = send.counts();
    if counts.count() > limits::BYTE_COUNTS {
        return Err("has over 134217728 byte counts");
    }
    if counts.is_null() && counts.count() > 0 {
        return Err("has null for its byte counts");
    }
    Ok(counts.iter().map(|count| (count.destination, count.bytes)).collect())
}
