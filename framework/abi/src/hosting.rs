//! The host's side of the boundary, for programs that call plugins. A host implements [`Host`] in
//! safe code. This module calls the plugin ([`Functions`]), receives its calls ([`table`]) and
//! reads its data ([`Passed`]). The host decides which calls and data it refuses.
//!
//! The module relies on requirements of the ABI that no host can check: a plugin passes the context
//! pointer of the host's table, calls the host only during `supports` and `plan`, on the same
//! thread, and passes readable pointers.

#![expect(missing_docs, reason = "functions and fields without documentation are those of the ABI")]

extern crate alloc;

use crate::*;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::mem::size_of;
use core::ptr;

mod passed;

pub use passed::{Claim, List, Passed, Room, Text, Unreadable};

/// The functions that a plugin may call. [`SwmHost`] documents them.
pub trait Host {
    /// The reason why the host refuses a call.
    type Refusal;

    /// Runs `work`, which answers a call of the plugin. All calls are answered within this method.
    /// Returns `None` if `work` has panicked and the host has recorded the panic. The plugin then
    /// gets a default value or [`SWM_STOPPED`]. A panic must not unwind into the plugin: if this
    /// method panics, the process aborts.
    fn guard<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> Option<R> {
        Some(work(self))
    }

    /// Runs `work`, which answers a call that the host may refuse. Returns whether the call is
    /// accepted. If the host has refused an earlier call, it also refuses this one and does not run
    /// `work`.
    fn answer(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Self::Refusal>) -> bool;

    /// Runs `work` as [`Host::answer`] does. `work` extends the schedule, which only `plan` may do.
    fn extend(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Self::Refusal>) -> bool {
        self.answer(work)
    }

    fn fail(&mut self, reason: Text<'_>);
    fn log(&mut self, level: u32, line: Text<'_>);
    fn block_bytes(&mut self) -> u64;
    fn pair_bytes(&mut self, from: u64, to: u64) -> u64;
    fn ports(&mut self) -> u64;
    fn virtual_channels(&mut self) -> u64;
    fn element_bytes(&mut self) -> u64;
    fn destination(&mut self, from: u64) -> u64;
    fn startup_us(&mut self) -> f64;
    fn hop_us(&mut self) -> f64;
    fn byte_us(&mut self) -> f64;
    fn vertices(&mut self) -> u64;
    fn uniform(&mut self) -> bool;
    fn shares_routes(&mut self) -> bool;
    fn can_reduce(&mut self, vertex: u64) -> bool;

    fn links(&mut self, vertex: u64, links: Room<'_, SwmLink>) -> Result<(), Self::Refusal>;
    fn demand(&mut self, from: u64, demand: Room<'_, SwmByteCount>) -> Result<(), Self::Refusal>;
    fn token_bytes(&mut self, node: u64, bytes: Room<'_, u64>) -> Result<(), Self::Refusal>;
    fn token_receivers(
        &mut self,
        node: u64,
        class: u64,
        receivers: Room<'_, u64>,
    ) -> Result<(), Self::Refusal>;

    fn layout(&mut self, layout: Passed<'_, *const SwmLayout>) -> Result<(), Self::Refusal>;
    fn place(&mut self, node: u64, physical: u64, home: bool) -> Result<(), Self::Refusal>;
    /// Answers both `symmetric` and `symmetric_from`.
    fn symmetric(&mut self, claim: Claim<'_>) -> Result<(), Self::Refusal>;
    fn phase(&mut self, name: Text<'_>) -> Result<(), Self::Refusal>;
    fn step(&mut self) -> Result<(), Self::Refusal>;
    fn send_blocks(&mut self, send: Passed<'_, *const SwmBlocks>) -> Result<(), Self::Refusal>;
    fn send_bucket(&mut self, send: Passed<'_, *const SwmBucket>) -> Result<(), Self::Refusal>;
    fn send_bytes(&mut self, send: Passed<'_, *const SwmBytes>) -> Result<(), Self::Refusal>;
    fn redistribute(
        &mut self,
        redistribution: Passed<'_, *const SwmRedistribution>,
    ) -> Result<(), Self::Refusal>;
    fn rearrange(&mut self) -> Result<(), Self::Refusal>;
}

/// Runs `work` with the host to which `ctx` points. Returns `or` if `ctx` is null or `work` panics.
///
/// # Safety
///
/// `ctx` must be null or the context pointer of a table for a host of the type `H`, during the
/// plugin's `supports` or `plan`, on the same thread.
unsafe fn with<H: Host, R>(ctx: *mut c_void, or: R, work: impl FnOnce(&mut H) -> R) -> R {
    // SAFETY: the caller promises that this is the host. Nothing else borrows it, because the host
    // calls no plugin while it answers a call.
    let host = unsafe { ctx.cast::<H>().as_mut() };
    host.and_then(|host| host.guard(work)).unwrap_or(or)
}

/// Defines the functions of the table, and [`table`]. Each function has its name, its arguments in
/// C, and the expression that answers the call. A function that returns a value also has the type
/// of the value, and the result without a host. The calls that a host may refuse are grouped by the
/// method of [`Host`] in which they run.
macro_rules! functions {
    (
        values {$(
            $value:ident($($given:ident: $given_type:ty),*) $(-> $type:ty, or $or:expr)?,
            |$asked:ident| $get:expr;
        )+}
        $($run:ident {$(
            $name:ident($($argument:ident: $argument_type:ty),*), |$host:ident| $call:expr;
        )+})+
    ) => {
        $(unsafe extern "C" fn $value<H: Host>(ctx: *mut c_void $(, $given: $given_type)*) $(-> $type)? {
            // SAFETY: the ABI requires that a plugin passes the context pointer of the table and
            // readable pointers.
            unsafe { with(ctx, ($($or)?), |$asked: &mut H| $get) }
        })+

        $($(unsafe extern "C" fn $name<H: Host>(
            ctx: *mut c_void
            $(, $argument: $argument_type)*
        ) -> i32 {
            // SAFETY: for the reason given above.
            let is_accepted = unsafe { with(ctx, false, |host: &mut H| host.$run(|$host| $call)) };
            if is_accepted { SWM_OK } else { SWM_STOPPED }
        })+)+

        /// Returns the table of functions with which a plugin calls `host`. The host must not be
        /// used while a plugin uses the table.
        pub fn table<H: Host>(host: &mut H) -> SwmHost {
            SwmHost {
                size: size_of::<SwmHost>() as u32,
                reserved: 0,
                ctx: ptr::from_mut(host).cast(),
                $($value: Some($value::<H>),)+
                $($($name: Some($name::<H>),)+)+
            }
        }
    };
}

functions! {
    values {
        fail(reason: SwmStr), |host| host.fail(Passed::new(reason));
        log(level: u32, line: SwmStr), |host| host.log(level, Passed::new(line));
        block_bytes() -> u64, or 0, |host| host.block_bytes();
        pair_bytes(from: u64, to: u64) -> u64, or 0, |host| host.pair_bytes(from, to);
        ports() -> u64, or 1, |host| host.ports();
        virtual_channels() -> u64, or 1, |host| host.virtual_channels();
        element_bytes() -> u64, or 1, |host| host.element_bytes();
        destination(from: u64) -> u64, or from, |host| host.destination(from);
        startup_us() -> f64, or 0.0, |host| host.startup_us();
        hop_us() -> f64, or 0.0, |host| host.hop_us();
        byte_us() -> f64, or 0.0, |host| host.byte_us();
        vertices() -> u64, or 0, |host| host.vertices();
        uniform() -> u32, or 1, |host| u32::from(host.uniform());
        shares_routes() -> u32, or 1, |host| u32::from(host.shares_routes());
        can_reduce(vertex: u64) -> u32, or 0, |host| u32::from(host.can_reduce(vertex));
    }

    answer {
        links(vertex: u64, links: *mut SwmLink, room: u64, count: *mut u64),
            |host| host.links(vertex, Room::new(links, room, count));
        demand(from: u64, demand: *mut SwmByteCount, room: u64, count: *mut u64),
            |host| host.demand(from, Room::new(demand, room, count));
        token_bytes(node: u64, bytes: *mut u64, room: u64, count: *mut u64),
            |host| host.token_bytes(node, Room::new(bytes, room, count));
        token_receivers(node: u64, class: u64, receivers: *mut u64, room: u64, count: *mut u64),
            |host| host.token_receivers(node, class, Room::new(receivers, room, count));
    }

    extend {
        layout(layout: *const SwmLayout), |host| host.layout(Passed::new(layout));
        place(node: u64, physical: u64, home: u32), |host| host.place(node, physical, home != 0);
        symmetric(axes: *const SwmSymmetry, axis_count: u64, planned: *mut u64),
            |host| host.symmetric(Claim::new(axes, axis_count, None, planned));
        symmetric_from(
            axes: *const SwmSymmetry, axis_count: u64, first: *mut u64, planned: *mut u64
        ), |host| host.symmetric(Claim::new(axes, axis_count, Some(first), planned));
        phase(name: SwmStr), |host| host.phase(Passed::new(name));
        step(), |host| host.step();
        send_blocks(send: *const SwmBlocks), |host| host.send_blocks(Passed::new(send));
        send_bucket(send: *const SwmBucket), |host| host.send_bucket(Passed::new(send));
        send_bytes(send: *const SwmBytes), |host| host.send_bytes(Passed::new(send));
        redistribute(redistribution: *const SwmRedistribution),
            |host| host.redistribute(Passed::new(redistribution));
        rearrange(), |host| host.rearrange();
    }
}

/// A topology, as [`SwmTopology`] describes it.
#[derive(Debug, Clone, Copy)]
pub struct Network<'a> {
    pub kind: &'a str,
    pub spec: &'a str,
    pub nodes: u64,
    pub dims: &'a [u64],
}

impl Network<'_> {
    fn raw(&self, base: Option<(&SwmTopology, u64)>) -> SwmTopology {
        SwmTopology {
            size: size_of::<SwmTopology>() as u32,
            dim_count: self.dims.len() as u32,
            kind: SwmStr::new(self.kind),
            spec: SwmStr::new(self.spec),
            nodes: self.nodes,
            dims: self.dims.as_ptr(),
            base: base.map_or(ptr::null(), |(base, _)| ptr::from_ref(base)),
            levels: base.map_or(0, |(_, levels)| levels),
        }
    }
}

/// The problem that a plugin is to solve, as [`SwmProblem`] describes it.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    pub collective: u32,
    pub network: Network<'a>,
    /// For a dual-net, its base and the number of its levels.
    pub base: Option<(Network<'a>, u64)>,
    pub root: u64,
    /// The keys and values of the user's parameters.
    pub params: &'a [(String, String)],
    pub permutation: Option<&'a str>,
}

impl Problem<'_> {
    /// Runs `work` with the structs that a plugin reads.
    pub fn with_raw<R>(&self, work: impl FnOnce(&SwmProblem) -> R) -> R {
        let base = self.base.map(|(base, levels)| (base.raw(None), levels));
        let topology = self.network.raw(base.as_ref().map(|(base, levels)| (base, *levels)));
        let param = |(key, value): &(String, String)| SwmParam {
            key: SwmStr::new(key),
            value: SwmStr::new(value),
        };
        let params: Vec<SwmParam> = self.params.iter().map(param).collect();
        work(&SwmProblem {
            size: size_of::<SwmProblem>() as u32,
            collective: self.collective,
            topology: &raw const topology,
            root: self.root,
            params: params.as_ptr(),
            param_count: params.len() as u64,
            permutation: self.permutation.map_or(SwmStr::EMPTY, SwmStr::new),
        })
    }
}

/// The functions of an algorithm. They are copied from its table, which stays valid for `'a`.
#[derive(Debug, Clone, Copy)]
pub struct Functions<'a> {
    table: Passed<'a, *const SwmAlgorithm>,
    supports: Option<SwmRun>,
    plan: SwmRun,
}

// SAFETY: the ABI requires that tables are constant and that functions may be called from any
// thread.
unsafe impl Send for Functions<'_> {}
// SAFETY: for the same reason as above.
unsafe impl Sync for Functions<'_> {}

impl Functions<'_> {
    /// Asks the plugin whether the algorithm can run. Returns the plugin's code, or `None` if the
    /// algorithm has no such function.
    pub fn supports<H: Host>(&self, problem: &Problem<'_>, host: &mut H) -> Option<i32> {
        self.supports.map(|function| self.call(function, problem, host))
    }

    /// Lets the plugin pass its schedule to `host`, and returns the plugin's code.
    pub fn plan<H: Host>(&self, problem: &Problem<'_>, host: &mut H) -> i32 {
        self.call(self.plan, problem, host)
    }

    fn call<H: Host>(&self, function: SwmRun, problem: &Problem<'_>, host: &mut H) -> i32 {
        let host = table(host);
        // SAFETY: the function and its table are those of a plugin. The problem and the host outlive
        // the call.
        problem.with_raw(|problem| unsafe { function(*self.table, problem, &raw const host) })
    }

    /// Returns the plugin's table, for callers that call the plugin themselves.
    pub fn table(&self) -> *const SwmAlgorithm {
        *self.table
    }
}
