//! Structs to which later versions may append fields. The host reads as many bytes as the struct
//! states, whether its version is older or newer, or it is not filled in at all.

use std::mem::{offset_of, size_of};
use swapmeet_abi::{
    Growing, SwmAlgorithm, SwmHead, SwmPlugin, SwmProblem, SwmTopology, read_sized,
};

/// [`SwmTopology`] as a later version could define it.
#[repr(C)]
#[derive(Clone, Copy)]
struct LaterTopology {
    now: SwmTopology,
    colour: u64,
    paint: Option<unsafe extern "C" fn()>,
}

// SAFETY: the struct begins with its size, and zero is valid for numbers and nullable functions.
unsafe impl Growing for LaterTopology {
    const SIZE_1_0: usize = SwmTopology::SIZE_1_0;
}

fn later(size: usize) -> LaterTopology {
    // SAFETY: all zeros are a valid topology.
    let mut later: LaterTopology = unsafe { std::mem::zeroed() };
    (later.now.size, later.now.nodes, later.colour) = (size as u32, 42, 7);
    later
}

#[test]
fn a_newer_reader_sees_zero_in_missing_fields() {
    // By its size, the struct has only the fields of version 1.0. The bytes after them are ignored.
    let old = later(SwmTopology::SIZE_1_0);
    // SAFETY: there are at least as many bytes as the struct states.
    let read = unsafe { read_sized(&raw const old) }.unwrap();
    assert_eq!((read.now.nodes, read.colour, read.paint.is_none()), (42, 0, true));
    let between = later(offset_of!(LaterTopology, paint));
    // SAFETY: there are at least as many bytes as the struct states.
    assert_eq!(unsafe { read_sized(&raw const between) }.unwrap().colour, 7);
}

#[test]
fn an_older_reader_ignores_unknown_fields() {
    let new = later(size_of::<LaterTopology>());
    // SAFETY: the struct begins with a topology and states that it is larger.
    assert_eq!(unsafe { read_sized((&raw const new).cast::<SwmTopology>()) }.unwrap().nodes, 42);
}

#[test]
fn a_struct_smaller_than_in_1_0_is_refused() {
    let none = later(SwmTopology::SIZE_1_0 - 1);
    // SAFETY: there are more bytes than the struct states.
    assert_eq!(unsafe { read_sized(&raw const none) }.err(), Some(SwmTopology::SIZE_1_0 - 1));
}

#[test]
fn the_size_of_a_plugin_is_in_its_head() {
    assert_eq!(SwmPlugin::SIZE_AT, offset_of!(SwmPlugin, head) + offset_of!(SwmHead, size));
    assert_eq!(SwmAlgorithm::SIZE_AT, offset_of!(SwmAlgorithm, size));
    assert_eq!(SwmProblem::SIZE_AT, offset_of!(SwmProblem, size));
}

/// A plugin in another language may place the struct at an address that is not aligned.
#[test]
fn a_struct_may_be_at_any_address() {
    let mut bytes = [0_u8; size_of::<SwmTopology>() + 1];
    bytes[1] = SwmTopology::SIZE_1_0 as u8;
    bytes[1 + offset_of!(SwmTopology, nodes)] = 5;
    // SAFETY: there are at least as many bytes as the struct states.
    let read = unsafe { read_sized(bytes[1..].as_ptr().cast::<SwmTopology>()) }.unwrap();
    assert_eq!(read.nodes, 5);
}
