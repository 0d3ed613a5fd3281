//! A host that is as plain as can be: it lists every block, moves it, and walks every link.

use std::collections::HashMap;
use std::ffi::c_void;
use swapmeet_sdk::abi::{
    SWM_ALLTOALL, SWM_NODE, SWM_OK, SWM_RANGE, SWM_UNSUPPORTED, SwmAxis, SwmBlocks, SwmHost, SwmLayout, SwmProblem,
    SwmSet, SwmStr, SwmTopology,
};

/// What a run came to; loads are in blocks.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Figures {
    pub steps: u64,
    pub blocks: u64,
    pub hops: u64,
    pub messages: u64,
    pub block_hops: u64,
    pub max_contention: u64,
    pub max_ports: u64,
    pub peak_held: u64,
    pub rearrangements: u64,
    /// For each step its phase, messages, longest message, longest route.
    pub per_step: Vec<[u64; 4]>,
}

#[derive(Default)]
struct Message {
    blocks: u64,
    signs: Option<Vec<i8>>,
}

type Block = (u64, u64);

#[derive(Default)]
struct Machine {
    torus: bool,
    dims: Vec<u64>,
    radices: Vec<u64>,
    real: Vec<u64>,
    owners: Vec<u64>,
    /// Blocks of each node of the grid, by owners.
    held: Vec<Vec<Block>>,
    arriving: Vec<(u64, Vec<Block>)>,
    messages: HashMap<(u64, u64), Message>,
    phase: u64,
    figures: Figures,
    reason: String,
}

/// Runs the plugin on `torus` or `mesh` and proves delivery; `Err` is its reason for not running.
pub fn run(kind: &str, dims: &[u64]) -> Result<Figures, String> {
    let nodes: u64 = dims.iter().product();
    let mut machine = Machine {
        torus: kind == "torus",
        dims: dims.to_vec(),
        radices: dims.to_vec(),
        real: (0..nodes).collect(),
        owners: (0..nodes).collect(),
        ..Machine::default()
    };
    let topology = SwmTopology {
        size: size_of::<SwmTopology>() as u32,
        dim_count: dims.len() as u32,
        kind: SwmStr::new(kind),
        spec: SwmStr::EMPTY,
        nodes,
        dims: dims.as_ptr(),
        base: std::ptr::null(),
        levels: 0,
    };
    let problem = SwmProblem {
        size: size_of::<SwmProblem>() as u32,
        collective: SWM_ALLTOALL,
        topology: &raw const topology,
        root: 0,
        params: std::ptr::null(),
        param_count: 0,
        permutation: SwmStr::EMPTY,
    };
    let host = SwmHost {
        size: size_of::<SwmHost>() as u32,
        reserved: 0,
        ctx: (&raw mut machine).cast(),
        fail: Some(fail),
        log: None,
        block_bytes: None,
        pair_bytes: None,
        ports: None,
        virtual_channels: None,
        layout: Some(layout),
        place: Some(place),
        phase: Some(phase),
        step: Some(step),
        send_blocks: Some(send),
        send_bucket: None,
        send_bytes: None,
        startup_us: None,
        hop_us: None,
        byte_us: None,
        rearrange: Some(rearrange),
        element_bytes: None,
        redistribute: None,
        destination: None,
    };
    // SAFETY: the plugin's table is static, and the structs above outlive the call.
    let code = unsafe {
        let algorithm = *(*crate::swapmeet_plugin()).algorithms;
        match (*algorithm).supports.unwrap()(algorithm, &raw const problem, &raw const host) {
            SWM_OK => (*algorithm).plan.unwrap()(algorithm, &raw const problem, &raw const host),
            refusal => refusal,
        }
    };
    if code == SWM_UNSUPPORTED {
        return Err(machine.reason);
    }
    assert_eq!(code, SWM_OK, "{kind} {dims:?}: {}", machine.reason);
    machine.end_step();
    machine.begin();
    for (node, held) in machine.held.iter().enumerate() {
        assert!(held.iter().all(|(_, to)| *to == node as u64), "{kind} {dims:?}: a block never arrived");
    }
    Ok(machine.figures)
}

impl Machine {
    /// Everyone gets their blocks, at the first step.
    fn begin(&mut self) {
        if self.held.is_empty() {
            self.held = vec![Vec::new(); self.real.len()];
            for &from in &self.owners {
                self.held[from as usize] = self.owners.iter().map(|&to| (from, to)).collect();
            }
        }
    }

    fn end_step(&mut self) {
        for (to, blocks) in std::mem::take(&mut self.arriving) {
            self.held[to as usize].extend(blocks);
        }
        let mut held = vec![0; self.dims.iter().product::<u64>() as usize];
        for (node, blocks) in self.held.iter().enumerate() {
            held[self.real[node] as usize] += blocks.len() as u64;
        }
        let messages = std::mem::take(&mut self.messages);
        let figures = &mut self.figures;
        figures.peak_held = figures.peak_held.max(held.iter().copied().max().unwrap_or(0));
        if messages.is_empty() {
            return;
        }
        let (mut links, mut ports) = (HashMap::new(), HashMap::new());
        let (mut blocks, mut hops) = (0, 0);
        for ((from, to), message) in &messages {
            let length = walk(self.torus, &self.dims, *from, *to, message.signs.as_deref(), |link| {
                *links.entry(link).or_insert(0) += 1;
            });
            *ports.entry((from, "sends")).or_insert(0) += 1;
            *ports.entry((to, "receives")).or_insert(0) += 1;
            blocks = blocks.max(message.blocks);
            hops = hops.max(length);
            figures.block_hops += length * message.blocks;
        }
        figures.steps += 1;
        figures.blocks += blocks;
        figures.hops += hops;
        figures.messages += messages.len() as u64;
        figures.max_contention = figures.max_contention.max(links.into_values().max().unwrap_or(0));
        figures.max_ports = figures.max_ports.max(ports.into_values().max().unwrap_or(0));
        figures.per_step.push([self.phase, messages.len() as u64, blocks, hops]);
    }

    fn send(&mut self, from: u64, to: u64, origins: &SwmSet, destinations: &SwmSet, signs: Option<&[i8]>) {
        let radices = &self.radices;
        let chosen = |b: &mut Block| has(origins, radices, b.0) && has(destinations, radices, b.1);
        let blocks: Vec<Block> = self.held[from as usize].extract_if(.., chosen).collect();
        let (real_from, real_to) = (self.real[from as usize], self.real[to as usize]);
        if real_from != real_to && !blocks.is_empty() {
            let message = self.messages.entry((real_from, real_to)).or_default();
            assert!(message.blocks == 0 || message.signs.as_deref() == signs, "one message, two ways");
            message.blocks += blocks.len() as u64;
            message.signs = signs.map(<[i8]>::to_vec);
        }
        self.arriving.push((to, blocks));
    }
}

/// Coordinates of a node, first axis first.
fn coordinates(radices: &[u64], node: u64) -> Vec<u64> {
    let mut rest = node;
    let mut x: Vec<u64> = radices.iter().rev().map(|r| (rest % r, rest /= r).0).collect();
    x.reverse();
    x
}

fn has(set: &SwmSet, radices: &[u64], node: u64) -> bool {
    if set.kind == SWM_NODE {
        return set.node == node;
    }
    if set.axes.is_null() {
        return true;
    }
    // SAFETY: the plugin gave as many axes as it says.
    let axes: &[SwmAxis] = unsafe { std::slice::from_raw_parts(set.axes, set.axis_count as usize) };
    assert_eq!(axes.len(), radices.len());
    axes.iter().zip(radices).zip(coordinates(radices, node)).all(|((axis, radix), c)| {
        let (first, stride) = (axis.first, axis.stride);
        axis.kind != SWM_RANGE || (0..axis.count).any(|i| (first + i * stride) % radix == c)
    })
}

/// Hands out the links of a route along one axis and returns the hops.
fn walk(
    torus: bool,
    dims: &[u64],
    from: u64,
    to: u64,
    signs: Option<&[i8]>,
    mut visit: impl FnMut((Vec<u64>, usize, bool)),
) -> u64 {
    let (mut at, to) = (coordinates(dims, from), coordinates(dims, to));
    let axis = (0..dims.len()).find(|a| at[*a] != to[*a]).unwrap();
    let size = dims[axis];
    let up = (to[axis] + size - at[axis]) % size;
    let forward = match signs.map_or(0, |s| s[axis]) {
        0 if torus => up <= size - up,
        0 => to[axis] > at[axis],
        sign => sign > 0,
    };
    let mut hops = 0;
    while at != to {
        visit((at.clone(), axis, forward));
        at[axis] = (at[axis] + if forward { 1 } else { size - 1 }) % size;
        hops += 1;
    }
    hops
}

/// The machine behind a call.
///
/// # Safety
/// `ctx` must be the one that [`run`] put into the table, and no other reference to it may be alive.
unsafe fn machine<'a>(ctx: *mut c_void) -> &'a mut Machine {
    // SAFETY: promised by the caller.
    unsafe { &mut *ctx.cast::<Machine>() }
}

unsafe extern "C" fn fail(ctx: *mut c_void, reason: SwmStr) {
    // SAFETY: called by the plugin with the table's context and text that is valid for the call.
    unsafe { machine(ctx).reason = String::from_utf8_lossy(reason.bytes()).into_owned() };
}

unsafe extern "C" fn layout(ctx: *mut c_void, layout: *const SwmLayout) -> i32 {
    // SAFETY: as in `fail`.
    let (machine, radices) =
        unsafe { (machine(ctx), std::slice::from_raw_parts((*layout).radices, (*layout).axis_count as usize)) };
    let nodes = radices.iter().product::<u64>() as usize;
    machine.radices = radices.to_vec();
    if nodes != machine.real.len() {
        machine.real = vec![u64::MAX; nodes];
        machine.owners = Vec::new();
    }
    SWM_OK
}

unsafe extern "C" fn place(ctx: *mut c_void, logical: u64, real: u64, owner: u32) -> i32 {
    // SAFETY: as in `fail`.
    let machine = unsafe { machine(ctx) };
    machine.real[logical as usize] = real;
    if owner == 1 {
        assert_eq!(machine.owners.len() as u64, real, "owners are placed in the order of the machine's nodes");
        machine.owners.push(logical);
    }
    SWM_OK
}

unsafe extern "C" fn phase(ctx: *mut c_void, name: SwmStr) -> i32 {
    // SAFETY: as in `fail`.
    let (machine, name) = unsafe { (machine(ctx), String::from_utf8_lossy(name.bytes())) };
    machine.begin();
    machine.end_step();
    machine.phase += 1;
    assert_eq!(name, format!("Phase {}", machine.phase));
    SWM_OK
}

unsafe extern "C" fn step(ctx: *mut c_void) -> i32 {
    // SAFETY: as in `fail`.
    unsafe { machine(ctx).end_step() };
    SWM_OK
}

unsafe extern "C" fn send(ctx: *mut c_void, send: *const SwmBlocks) -> i32 {
    // SAFETY: as in `fail`; a route has as many signs as it says.
    unsafe {
        let send = &*send;
        let signs = send.route.as_ref().map(|r| std::slice::from_raw_parts(r.signs, r.dim_count as usize));
        machine(ctx).send(send.from, send.to, &send.origins, &send.destinations, signs);
    }
    SWM_OK
}

unsafe extern "C" fn rearrange(ctx: *mut c_void) -> i32 {
    // SAFETY: as in `fail`.
    unsafe { machine(ctx).figures.rearrangements += 1 };
    SWM_OK
}
