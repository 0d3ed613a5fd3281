//! Functions that copy a plugin's structs, sets (written out as lists of nodes) and routes.

use super::record::RehearsedRoute;
use swapmeet_abi::hosting::Passed;
use swapmeet_abi::{
    Growing, SWM_ALL, SWM_AXES, SWM_BITS, SWM_NODE, SWM_RANGE, SwmAxis, SwmRoute, SwmSet,
};

const OUTSIDE: &str = "outside the grid";
const UNKNOWN: &str = "of an unknown kind";
const NOT_READABLE: &str = "at an address that is null or not aligned";

/// Copies a struct. `name` is its name in the error.
pub(super) fn read<'a, T: Growing>(
    name: &str,
    ptr: Passed<'a, *const T>,
) -> Result<Passed<'a, T>, String> {
    ptr.read().map_err(|why| format!("a {name} {why}"))
}

/// Returns the nodes of a set in ascending order. The error describes why the set does not fit the
/// grid.
pub(super) fn nodes(radices: &[u64], set: Passed<'_, SwmSet>) -> Result<Vec<u64>, &'static str> {
    let count: u64 = radices.iter().product();
    match set.kind {
        SWM_NODE if set.node >= count => Err(OUTSIDE),
        SWM_NODE => Ok(vec![set.node]),
        SWM_AXES if set.axis_count as usize != radices.len() => Err(OUTSIDE),
        SWM_AXES if set.axes.is_null() => Err(NOT_READABLE),
        SWM_AXES => {
            let mut nodes = vec![0];
            for (axis, radix) in set.axes().parts().zip(radices) {
                let coordinates = coordinates(axis, *radix)?;
                nodes = nodes
                    .iter()
                    .flat_map(|n| coordinates.iter().map(move |c| n * radix + c))
                    .collect();
            }
            Ok(nodes)
        }
        SWM_ALL => Ok((0..count).collect()),
        _ => Err(UNKNOWN),
    }
}

/// Returns the coordinates of a subset in ascending order. The error describes why the subset does
/// not fit the axis.
pub(super) fn coordinates(axis: Passed<'_, SwmAxis>, radix: u64) -> Result<Vec<u64>, &'static str> {
    let (first, stride, count) = (axis.first, axis.stride, axis.count);
    let mut coordinates: Vec<u64> = match axis.kind {
        SWM_RANGE if first >= radix || count > radix => return Err(OUTSIDE),
        SWM_RANGE => {
            let around = |i: u64| {
                (u128::from(first) + u128::from(i) * u128::from(stride)) % u128::from(radix)
            };
            (0..count).map(|i| around(i) as u64).collect()
        }
        SWM_BITS => {
            let words = axis.words().slice().ok_or(NOT_READABLE)?;
            let is_set =
                |c: u64| words.get((c / 64) as usize).is_some_and(|word| word >> (c % 64) & 1 == 1);
            if (radix..count * 64).any(is_set) {
                return Err(OUTSIDE);
            }
            (0..radix).filter(|c| is_set(*c)).collect()
        }
        SWM_ALL => (0..radix).collect(),
        _ => return Err(UNKNOWN),
    };
    coordinates.sort_unstable();
    let twice = coordinates.windows(2).any(|pair| pair[0] == pair[1]);
    if twice { Err("that names a coordinate twice") } else { Ok(coordinates) }
}

/// Copies a route. A null pointer is an empty route.
pub(super) fn route(raw: Passed<'_, *const SwmRoute>) -> Result<RehearsedRoute, String> {
    if raw.is_null() {
        return Ok(RehearsedRoute::default());
    }
    let raw = read("route", raw)?;
    Ok(RehearsedRoute {
        signs: raw.signs().iter().collect(),
        order: raw.order().iter().collect(),
        path: raw.path().iter().collect(),
    })
}
