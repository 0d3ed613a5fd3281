//! The functions of the host that a plugin calls in a rehearsal.

use super::read::{list, route};
use super::record::{RehearsedRedistribution, RehearsedSend};
use super::recorder::Recorder;
use std::cell::RefCell;
use std::ffi::c_void;
use swapmeet_abi::{
    SwmBlocks, SwmBucket, SwmByteCount, SwmBytes, SwmHost, SwmLayout, SwmLink, SwmRedistribution,
    SwmStr, SwmSymmetry, read_sized,
};

/// Returns the table of the host's functions. They record the calls of a plugin in `recorder`,
/// which must outlive the table.
pub(super) fn host(recorder: &RefCell<Recorder>) -> SwmHost {
    SwmHost {
        size: size_of::<SwmHost>() as u32,
        reserved: 0,
        ctx: std::ptr::from_ref(recorder).cast_mut().cast(),
        fail: Some(fail),
        log: Some(log),
        block_bytes: Some(block_bytes),
        pair_bytes: Some(pair_bytes),
        ports: Some(ports),
        virtual_channels: Some(virtual_channels),
        element_bytes: Some(element_bytes),
        destination: Some(destination),
        startup_us: Some(startup_us),
        hop_us: Some(hop_us),
        byte_us: Some(byte_us),
        layout: Some(layout),
        place: Some(place),
        phase: Some(phase),
        step: Some(step),
        send_blocks: Some(send_blocks),
        rearrange: Some(rearrange),
        redistribute: Some(redistribute),
        send_bucket: Some(send_bucket),
        send_bytes: Some(send_bytes),
        symmetric: Some(symmetric),
        symmetric_from: Some(symmetric_from),
        vertices: Some(vertices),
        links: Some(links),
        uniform: Some(uniform),
        demand: Some(demand),
        token_bytes: Some(token_bytes),
        token_receivers: Some(token_receivers),
    }
}

/// Calls `work` with the recorder that the context pointer points to.
///
/// # Safety
///
/// `ctx` must be the context of a host made by [`host`], during the rehearsal.
unsafe fn with_recorder<T>(ctx: *mut c_void, work: impl FnOnce(&mut Recorder) -> T) -> T {
    // SAFETY: the caller guarantees that this is the recorder of the current rehearsal, which runs
    // on one thread.
    let recorder = unsafe { &*ctx.cast::<RefCell<Recorder>>() };
    work(&mut recorder.borrow_mut())
}

unsafe extern "C" fn fail(ctx: *mut c_void, reason: SwmStr) {
    // SAFETY: the plugin calls this function during the rehearsal, with valid arguments.
    unsafe {
        let reason = String::from_utf8_lossy(reason.bytes()).into_owned();
        with_recorder(ctx, |recorder| recorder.reason = reason);
    }
}

unsafe extern "C" fn log(ctx: *mut c_void, _: u32, line: SwmStr) {
    // SAFETY: the plugin calls this function during the rehearsal, with valid arguments.
    unsafe {
        let line = String::from_utf8_lossy(line.bytes()).into_owned();
        with_recorder(ctx, |recorder| recorder.schedule.log.push(line));
    }
}

/// Defines functions that return a value from the recorder.
macro_rules! getters {
    ($($name:ident($recorder:ident $(, $argument:ident)*) -> $type:ty: $value:expr;)+) => {
        $(unsafe extern "C" fn $name(ctx: *mut c_void $(, $argument: u64)*) -> $type {
            // SAFETY: the plugin calls this function during the rehearsal, with valid arguments.
            unsafe { with_recorder(ctx, |$recorder| $value) }
        })+
    };
}

getters! {
    block_bytes(recorder) -> u64: recorder.settings.block_bytes;
    pair_bytes(recorder, from, to) -> u64: recorder.settings.bytes(from, to);
    ports(recorder) -> u64: recorder.settings.ports;
    virtual_channels(recorder) -> u64: recorder.settings.virtual_channels;
    element_bytes(recorder) -> u64: recorder.settings.element_bytes;
    destination(recorder, from) -> u64: recorder.receiver(from);
    startup_us(recorder) -> f64: recorder.settings.times_us[0];
    hop_us(recorder) -> f64: recorder.settings.times_us[1];
    byte_us(recorder) -> f64: recorder.settings.times_us[2];
    vertices(recorder) -> u64: recorder.settings.vertices();
    uniform(recorder) -> u32: u32::from(recorder.settings.sizes.is_empty());
}

/// Writes `items` to `list`, but at most `room` of them. Writes the number of all items to `count`.
///
/// # Safety
///
/// `list` must have room for `room` values, and `count` must be writable.
unsafe fn write_list<T: Copy>(items: &[T], list: *mut T, room: u64, count: *mut u64) {
    // SAFETY: the caller guarantees room for `room` values, and a writable `count`.
    unsafe {
        (0..room as usize).zip(items).for_each(|(i, item)| list.add(i).write(*item));
        count.write(items.len() as u64);
    }
}

/// Defines functions that the host can refuse. They return the return code of the call.
macro_rules! calls {
    ($($name:ident($recorder:ident $(, $argument:ident: $type:ty)*) $work:expr;)+) => {
        $(unsafe extern "C" fn $name(ctx: *mut c_void $(, $argument: $type)*) -> i32 {
            // SAFETY: the plugin calls this function during the rehearsal, with valid arguments.
            unsafe { with_recorder(ctx, |recorder| recorder.call(|$recorder| $work)) }
        })+
    };
}

calls! {
    token_bytes(recorder, node: u64, bytes: *mut u64, room: u64, count: *mut u64) {
        let classes = recorder.settings.tokens.get(node as usize);
        let listed: Vec<u64> = classes.into_iter().flatten().map(|class| class.bytes).collect();
        write_list(&listed, bytes, room, count);
        Ok(())
    };

    token_receivers(
        recorder,
        node: u64,
        class: u64,
        receivers: *mut u64,
        room: u64,
        count: *mut u64
    ) {
        let found = recorder.settings.class(node, class);
        let found = found.ok_or_else(|| {
            format!("the plugin reads the receivers of class {class} of node {node}")
        })?;
        write_list(&found.receivers, receivers, room, count);
        Ok(())
    };

    links(recorder, vertex: u64, links: *mut SwmLink, room: u64, count: *mut u64) {
        let settings = &recorder.settings;
        if vertex >= settings.vertices() {
            return Err(format!("the plugin reads the links of vertex {vertex}"));
        }
        write_list(&settings.links_of(vertex), links, room, count);
        Ok(())
    };

    demand(recorder, from: u64, demand: *mut SwmByteCount, room: u64, count: *mut u64) {
        write_list(&recorder.demand(from)?, demand, room, count);
        Ok(())
    };

    layout(recorder, layout: *const SwmLayout) {
        let layout = &*layout;
        recorder.layout(list(layout.radices, layout.axis_count as usize), layout)
    };

    place(recorder, node: u64, physical: u64, home: u32) {
        recorder.place(node, physical, home != 0)
    };

    symmetric(recorder, axes: *const SwmSymmetry, axis_count: u64, planned: *mut u64) {
        let ranges = recorder.symmetric(&list(axes, axis_count as usize), false)?;
        (0..).zip(ranges).for_each(|(axis, range)| planned.add(axis).write(range.end));
        Ok(())
    };

    symmetric_from(
        recorder,
        axes: *const SwmSymmetry,
        axis_count: u64,
        first: *mut u64,
        planned: *mut u64
    ) {
        let ranges = recorder.symmetric(&list(axes, axis_count as usize), true)?;
        for (axis, range) in ranges.into_iter().enumerate() {
            first.add(axis).write(range.start);
            planned.add(axis).write(range.end - range.start);
        }
        Ok(())
    };

    phase(recorder, name: SwmStr) {
        recorder.phase = String::from_utf8_lossy(name.bytes()).into_owned();
        recorder.in_step = false;
        Ok(())
    };

    step(recorder) recorder.step();

    send_blocks(recorder, send: *const SwmBlocks) {
        let send =
            read_sized(send).map_err(|size| format!("a send of blocks has a `size` of {size}"))?;
        recorder.add_blocks(&send)
    };

    send_bucket(recorder, send: *const SwmBucket) {
        let send = &*send;
        let envelope = recorder.envelope(send.from, send.to, send.flags, route(send.route))?;
        recorder.add_byte_counts(RehearsedSend { bucket: Some(send.bucket), ..envelope })
    };

    send_bytes(recorder, send: *const SwmBytes) {
        let send = &*send;
        let byte_counts = list(send.counts, send.count as usize);
        let envelope = recorder.envelope(send.from, send.to, send.flags, route(send.route))?;
        recorder.add_byte_counts(RehearsedSend { byte_counts, ..envelope })
    };

    redistribute(recorder, redistribution: *const SwmRedistribution) {
        let raw = &*redistribution;
        recorder.redistribute(RehearsedRedistribution {
            after: 0,
            node: raw.node,
            buckets: raw.buckets,
            cycle: raw.cycle,
            first: raw.first,
            starts: list(raw.starts, raw.node_count as usize),
            firsts: list(raw.firsts, raw.node_count as usize),
        })
    };

    rearrange(recorder) {
        recorder.schedule.rearrangements += 1;
        recorder.begin()
    };
}
