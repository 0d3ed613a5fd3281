//! A plugin for fuzzing. The bytes from the fuzzer select the functions of the host that it calls
//! and their arguments. Pointers are valid or null. The length of an array is at most the true
//! length, or so large that the host must refuse it. Other wrong lengths are not generated, because
//! no host can check the memory behind a pointer.

use arbitrary::{Arbitrary, Result, Unstructured};
use std::cell::RefCell;
use std::path::Path;
use std::ptr::null;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};
use swapmeet_abi::{
    SWM_ABI_MAJOR, SWM_ABI_MINOR, SWM_MAGIC, SWM_OK, SwmAlgorithm, SwmAxis, SwmBlocks, SwmBucket,
    SwmByteCount, SwmBytes, SwmHead, SwmHost, SwmLayout, SwmLink, SwmPlugin, SwmProblem,
    SwmRedistribution, SwmRoute, SwmSet, SwmStr, SwmSymmetry,
};
use swapmeet_core::network::topology;
use swapmeet_runner::host::{self, Outcome, PlanInputs};
use swapmeet_runner::plugin::{Algorithm, Plugin};
use swapmeet_workloads::Workload;

const TOPOLOGIES: [&str; 8] = [
    "ring:4",
    "torus:3x4",
    "mesh:2x3",
    "hypercube:3",
    "fully-connected:5",
    "fat-tree:2x2",
    "rdn:1(ring:2)",
    "ring:1",
];
const WORKLOADS: [&str; 12] = [
    "uniform:8",
    "uniform:1KiB,element=8",
    "one-spike:max=64,rest=8",
    "broadcast/uniform:8",
    "scatter/uniform:8",
    "gather/uniform:8",
    "allgather/uniform:8",
    "allreduce/uniform:64",
    "reduce-scatter/uniform:8",
    "dispatch/moe:experts=4,top=2,tokens=3,bytes=8",
    "combine/moe:experts=4,top=2,tokens=3,bytes=8",
    "permutation/transpose-2d:8",
];

const ROOM: usize = 64;

thread_local! {
    static SCRIPT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Target: plans with calls that the bytes determine. The host must not crash, and must not report
/// an undelivered schedule as verified.
pub fn plan(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let (Ok(topology), Ok(workload)) = (bytes.choose(&TOPOLOGIES), bytes.choose(&WORKLOADS)) else {
        return;
    };
    let (Ok(topology), Ok(workload)) = (topology::parse(topology), Workload::parse(workload))
    else {
        return;
    };
    let Ok(task) = workload.task(&topology, 1) else { return };
    let answers = PlanInputs {
        block_bytes: task.sizes.as_ref().map_or(workload.block_bytes(), |sizes| sizes.largest()),
        ports: 1,
        virtual_channels: 1,
        element_bytes: workload.element_bytes(),
        ..PlanInputs::default()
    };
    let nodes = topology.nodes();
    SCRIPT.with_borrow_mut(|script| *script = bytes.take_rest().to_vec());
    let planned = host::plan(algorithm(), &[], &task, answers, None, Vec::new());
    if let Outcome::Verified(totals) = planned.outcome
        && nodes > 1
        && !task.collective.kind().permutes()
    {
        assert!(totals.messages > 0, "verified without a message");
    }
    assert!(planned.log.iter().all(|line| !line.contains('\n')));
}

fn algorithm() -> &'static Algorithm {
    static ALGORITHM: OnceLock<Arc<Algorithm>> = OnceLock::new();
    ALGORITHM.get_or_init(|| {
        let text = SwmStr::new;
        let algorithm = Box::leak(Box::new(SwmAlgorithm {
            size: size_of::<SwmAlgorithm>() as u32,
            reserved: 0,
            name: text("fuzzed"),
            title: text("Whatever the bytes say"),
            paper: text(""),
            accepts: text("anything"),
            collectives: u64::MAX,
            params: null(),
            param_count: 0,
            user: null(),
            supports: None,
            plan: Some(run),
            ports: 0,
        }));
        let algorithms = Box::leak(Box::new([&raw const *algorithm]));
        let plugin = Box::leak(Box::new(SwmPlugin {
            head: SwmHead {
                magic: SWM_MAGIC,
                abi_major: SWM_ABI_MAJOR,
                abi_minor: SWM_ABI_MINOR,
                size: size_of::<SwmPlugin>() as u32,
                reserved: 0,
            },
            name: text("fuzzed"),
            version: text("0"),
            licence: text(""),
            algorithms: algorithms.as_ptr(),
            algorithm_count: 1,
        }));
        // A loaded table must stay valid for the life of the process. It is in a static, so that
        // leak checkers find it.
        static TABLE: AtomicPtr<SwmPlugin> = AtomicPtr::new(std::ptr::null_mut());
        TABLE.store(plugin, Ordering::Relaxed);
        // SAFETY: the table and its data were leaked above.
        let plugin = unsafe { Plugin::of_table(Path::new("fuzzed"), plugin) };
        plugin
            .ok()
            .and_then(|plugin| plugin.algorithms.first().cloned())
            .unwrap_or_else(|| std::process::abort())
    })
}

unsafe extern "C" fn run(
    _: *const SwmAlgorithm,
    _: *const SwmProblem,
    host: *const SwmHost,
) -> i32 {
    let script = SCRIPT.with_borrow(Clone::clone);
    // SAFETY: the host's table is valid during this call.
    let host = unsafe { &*host };
    let mut calls = Calls { host, bytes: Unstructured::new(&script) };
    while !calls.bytes.is_empty() {
        if calls.make_one().is_err() {
            break;
        }
    }
    SWM_OK
}

struct Arrays {
    /// The words are in a box, so that they do not move and the pointers from the axes to them stay
    /// valid.
    words: Box<[u64; ROOM]>,
    axes: [SwmAxis; ROOM],
    numbers: [u32; ROOM],
    nodes: [u64; ROOM],
    signs: [i8; ROOM],
    byte_counts: [SwmByteCount; ROOM],
}

struct Calls<'a> {
    host: &'a SwmHost,
    bytes: Unstructured<'a>,
}

impl Calls<'_> {
    fn make_one(&mut self) -> Result<()> {
        let arrays = self.arrays()?;
        let (host, ctx) = (self.host, self.host.ctx);
        let call = self.bytes.int_in_range(0..=15)?;
        // SAFETY: the functions are those of the host and are not null. Their arguments live until
        // they return, because `Arrays` owns them.
        unsafe {
            match call {
                0 => {
                    let radices = self.some(arrays.nodes.as_ptr())?;
                    let layout = SwmLayout {
                        size: self.size::<SwmLayout>()?,
                        axis_count: self.count()? as u32,
                        radices,
                        // If there are more segments, the sets of a schedule can take 8 GiB, which
                        // is too slow for fuzzing.
                        segments: self.number()? as u32 & 0xffff,
                        flags: self.bytes.int_in_range(0..=2)?,
                    };
                    host.layout.map(|f| f(ctx, &raw const layout));
                }
                1 => {
                    let (node, real, weight) = (self.number()?, self.number()?, self.number()?);
                    host.place.map(|f| f(ctx, node, real, weight as u32));
                }
                2 => {
                    let name = self.text(&arrays)?;
                    host.phase.map(|f| f(ctx, name));
                }
                3 => {
                    let (level, line) = (self.number()?, self.text(&arrays)?);
                    if let Some(f) = host.log {
                        f(ctx, level as u32, line);
                    }
                }
                4 => {
                    host.rearrange.map(|f| f(ctx));
                }
                5 => {
                    let (from, to) = (self.number()?, self.number()?);
                    host.pair_bytes.map(|f| f(ctx, from, to));
                    host.block_bytes.map(|f| f(ctx));
                    host.ports.map(|f| f(ctx));
                    host.virtual_channels.map(|f| f(ctx));
                    host.element_bytes.map(|f| f(ctx));
                    host.startup_us.map(|f| f(ctx));
                    host.hop_us.map(|f| f(ctx));
                    host.byte_us.map(|f| f(ctx));
                    host.destination.map(|f| f(ctx, from));
                }
                6 => {
                    let redistribution = SwmRedistribution {
                        size: self.size::<SwmRedistribution>()?,
                        flags: 0,
                        node: self.number()?,
                        buckets: self.number()?,
                        cycle: self.number()?,
                        first: self.number()?,
                        starts: self.some(arrays.numbers.as_ptr())?,
                        firsts: self.some(arrays.numbers.as_ptr())?,
                        node_count: self.count()?,
                    };
                    host.redistribute.map(|f| f(ctx, &raw const redistribution));
                }
                7..=9 => {
                    host.step.map(|f| f(ctx));
                }
                10 => {
                    let reason = self.text(&arrays)?;
                    if let Some(f) = host.fail {
                        f(ctx, reason);
                    }
                }
                11 => {
                    let axes = [(); ROOM].map(|()| SwmSymmetry { kind: 1, reserved: 0, unit: 1 });
                    let axes = self.symmetries(axes)?;
                    let (axes, count) =
                        (self.some(axes.as_ptr())?, self.bytes.int_in_range(0..=ROOM as u64 + 1)?);
                    let mut planned = [0; ROOM];
                    host.symmetric.map(|f| f(ctx, axes, count, planned.as_mut_ptr()));
                }
                12 => self.read(&arrays)?,
                _ => self.send(&arrays)?,
            }
        }
        Ok(())
    }

    /// Calls a function of version 1.1 that fills arrays. The host must respect their lengths.
    fn read(&mut self, arrays: &Arrays) -> Result<()> {
        let (host, ctx) = (self.host, self.host.ctx);
        let (node, class) = (self.number()?, self.number()?);
        let room = self.bytes.int_in_range(0..=ROOM)? as u64;
        let mut count = 0;
        let mut numbers = [u64::MAX; ROOM + 1];
        let mut pairs = arrays.byte_counts;
        let mut links = [(); ROOM].map(|()| SwmLink { to: 0, bandwidth: 0.0, latency: 0.0 });
        // SAFETY: as in `make_one`. `room` is at most the length of each array.
        unsafe {
            match self.bytes.int_in_range(0..=5)? {
                0 => {
                    host.vertices.map(|f| f(ctx));
                    host.uniform.map(|f| f(ctx));
                }
                1 => {
                    host.links.map(|f| f(ctx, node, links.as_mut_ptr(), room, &raw mut count));
                }
                2 => {
                    host.demand.map(|f| f(ctx, node, pairs.as_mut_ptr(), room, &raw mut count));
                }
                3 => {
                    let numbers = numbers.as_mut_ptr();
                    host.token_bytes.map(|f| f(ctx, node, numbers, room, &raw mut count));
                }
                4 => {
                    let numbers = numbers.as_mut_ptr();
                    let count = &raw mut count;
                    host.token_receivers.map(|f| f(ctx, node, class, numbers, room, count));
                }
                _ => {
                    let axes = [(); ROOM].map(|()| SwmSymmetry { kind: 1, reserved: 0, unit: 1 });
                    let axes = self.symmetries(axes)?;
                    let axes = self.some(axes.as_ptr())?;
                    let (mut first, planned) = ([0; ROOM], numbers.as_mut_ptr());
                    host.symmetric_from.map(|f| f(ctx, axes, room, first.as_mut_ptr(), planned));
                }
            }
        }
        assert_eq!(numbers[ROOM], u64::MAX, "written beyond the room");
        Ok(())
    }

    fn send(&mut self, arrays: &Arrays) -> Result<()> {
        let route = SwmRoute {
            size: self.size::<SwmRoute>()?,
            dim_count: self.count()? as u32,
            signs: self.some(arrays.signs.as_ptr())?,
            order: self.some(arrays.numbers.as_ptr())?,
            path: self.some(arrays.nodes.as_ptr())?,
            path_len: self.count()?,
        };
        let route = if self.bytes.ratio(1, 4)? { &raw const route } else { null() };
        let (flags, from, to) = (self.bytes.int_in_range(0..=15)?, self.number()?, self.number()?);
        let ctx = self.host.ctx;
        match self.bytes.int_in_range(0..=7)? {
            0 => {
                let send = SwmBucket {
                    size: self.size::<SwmBucket>()?,
                    flags,
                    from,
                    to,
                    bucket: self.number()?,
                    route,
                };
                // SAFETY: as in `make_one`.
                self.host.send_bucket.map(|f| unsafe { f(ctx, &raw const send) });
            }
            1 => {
                let (size, counts) =
                    (self.size::<SwmBytes>()?, self.some(arrays.byte_counts.as_ptr())?);
                let send = SwmBytes { size, flags, from, to, counts, count: self.count()?, route };
                // SAFETY: as above.
                self.host.send_bytes.map(|f| unsafe { f(ctx, &raw const send) });
            }
            _ => {
                let send = SwmBlocks {
                    size: self.size::<SwmBlocks>()?,
                    flags,
                    from,
                    to,
                    origins: self.set(arrays)?,
                    destinations: self.set(arrays)?,
                    segments: arrays.axes[0],
                    route,
                    label: if flags & 8 != 0 { self.text(arrays)? } else { SwmStr::EMPTY },
                    extra_bytes: if flags & 4 != 0 { self.number()? } else { 0 },
                    reducer: if flags & 8 != 0 { self.number()? } else { 0 },
                    multicaster: if flags & 2 != 0 { self.number()? } else { 0 },
                };
                // SAFETY: as above.
                self.host.send_blocks.map(|f| unsafe { f(ctx, &raw const send) });
            }
        }
        Ok(())
    }

    fn symmetries(&mut self, mut axes: [SwmSymmetry; ROOM]) -> Result<[SwmSymmetry; ROOM]> {
        for axis in axes.iter_mut().take(4) {
            *axis = SwmSymmetry {
                kind: self.bytes.int_in_range(0..=3)?,
                reserved: 0,
                unit: self.number()?,
            };
        }
        Ok(axes)
    }

    fn arrays(&mut self) -> Result<Arrays> {
        // A single seed for all arrays leaves more of the fuzzer's bytes for calls.
        let seed = self.number()?;
        let mixed = |i: usize| (seed ^ i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
        let small: [u64; ROOM] =
            std::array::from_fn(|i| if seed < 16 { i as u64 % (seed + 1) } else { mixed(i) % 5 });
        Arrays {
            words: Box::new(std::array::from_fn(mixed)),
            axes: [(); ROOM].map(|()| SwmAxis {
                kind: 0,
                reserved: 0,
                first: 0,
                stride: 1,
                count: 0,
                words: null(),
            }),
            numbers: small.map(|n| n as u32),
            nodes: small,
            signs: small.map(|n| n as i8 - 2),
            byte_counts: small.map(|n| SwmByteCount { destination: n, bytes: 8 * (n + 1) }),
        }
        .with_axes(&mut self.bytes)
    }

    fn set(&mut self, arrays: &Arrays) -> Result<SwmSet> {
        Ok(SwmSet {
            kind: self.bytes.int_in_range(0..=3)?,
            axis_count: self.count()? as u32,
            node: self.number()?,
            axes: self.some(arrays.axes.as_ptr())?,
        })
    }

    /// Returns a number that is usually small but can be any number.
    fn number(&mut self) -> Result<u64> {
        match self.bytes.int_in_range(0..=15)? {
            0 => u64::arbitrary(&mut self.bytes),
            1 => Ok(u64::MAX),
            2 => Ok(1 << self.bytes.int_in_range(0..=63)?),
            _ => self.bytes.int_in_range(0..=12),
        }
    }

    fn count(&mut self) -> Result<u64> {
        match self.bytes.int_in_range(0..=15)? {
            0 => Ok(u64::from(u32::MAX)),
            1 => Ok(u64::MAX),
            2 => self.bytes.int_in_range(0..=ROOM as u64),
            _ => self.bytes.int_in_range(0..=12),
        }
    }

    /// Returns the value for the size field of a struct, which is sometimes wrong.
    fn size<T>(&mut self) -> Result<u32> {
        Ok(if self.bytes.ratio(1, 32)? { self.number()? as u32 } else { size_of::<T>() as u32 })
    }

    fn some<T>(&mut self, pointer: *const T) -> Result<*const T> {
        Ok(if self.bytes.ratio(1, 4)? { null() } else { pointer })
    }

    fn text(&mut self, arrays: &Arrays) -> Result<SwmStr> {
        let len = self.bytes.int_in_range(0..=ROOM)?;
        Ok(SwmStr { ptr: self.some(arrays.words.as_ptr())?.cast(), len })
    }
}

impl Arrays {
    fn with_axes(mut self, bytes: &mut Unstructured<'_>) -> Result<Self> {
        for axis in self.axes.iter_mut().take(4) {
            *axis = SwmAxis {
                kind: bytes.int_in_range(0..=3)?,
                reserved: 0,
                first: bytes.int_in_range(0..=8)?,
                stride: bytes.int_in_range(0..=4)?,
                count: bytes.int_in_range(0..=8)?,
                words: if bytes.ratio(1, 8)? { null() } else { self.words.as_ptr() },
            };
        }
        Ok(self)
    }
}
