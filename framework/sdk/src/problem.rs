//! The problem that an algorithm has to solve: topology, collective and parameters.

use crate::collective::Collective;
use crate::grid::Grid;
use crate::param::{ParamInfo, ParamValue};
use crate::stop::Stop;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use swapmeet_abi::{
    Growing, SWM_LOG_INFO, SWM_OK, SwmByteCount, SwmHost, SwmParam, SwmProblem, SwmStr,
    SwmTopology, read_sized,
};

/// The problem that an algorithm has to solve. The host records which sizes and machine parameters
/// a plan reads with the methods of this type. It reuses the plan for all cases that differ only in
/// other values.
///
/// ```
/// # use swapmeet_sdk::{About, Algorithm, ParamInfo, Problem, Rehearsal, Schedule, Stop};
/// struct InPieces;
///
/// impl Algorithm for InPieces {
///     fn about(&self) -> About {
///         const PIECES: ParamInfo = ParamInfo::number("pieces", "4", "number of pieces of a block");
///         About { name: "in-pieces", params: &[PIECES], ..About::DEFAULT }
///     }
///
///     fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
///         // The user's value or the default. `pieces=many` returns an error with a message.
///         let pieces: u64 = problem.param("pieces")?;
///         let grid = problem.topology().grid()?;
///         if grid.dimensions() != 2 {
///             return Err(Stop::unsupported(format!("{} does not have two dimensions", problem.topology().spec())));
///         }
///         assert_eq!((grid.radix(0), grid.radix(1), grid.nodes()), (4, 8, 32));
///         // From here on the plan depends on the block size.
///         if problem.block_bytes() < pieces { Err(Stop::unsupported("a block has fewer bytes than pieces")) } else { Ok(()) }
///     }
/// }
///
/// let refused = |problem: Rehearsal| problem.plan(&InPieces).unwrap_err().to_string();
/// assert!(Rehearsal::on("torus", &[4, 8]).block_bytes(1024).plan(&InPieces).is_ok());
/// assert_eq!(refused(Rehearsal::on("torus", &[4, 8])), "a block has fewer bytes than pieces");
/// assert_eq!(refused(Rehearsal::on("torus", &[4, 8]).param("pieces", "many")), "`pieces=many`: expected a whole number");
/// assert_eq!(refused(Rehearsal::on("ring", &[8])), "ring:8 does not have two dimensions");
/// ```
pub struct Problem<'a> {
    raw: SwmProblem,
    host: &'a SwmHost,
    topology: Topology<'a>,
    collective: Collective,
    declared: &'static [ParamInfo],
}

/// Defines methods that call a function of the host's table, or return a default if an older host
/// lacks the function.
macro_rules! host_values {
    ($($(#[$attribute:meta])* $name:ident -> $type:ty: $default:expr;)+) => {
        $($(#[$attribute])* pub fn $name(&self) -> $type {
            // SAFETY: function and context come from the host's table, valid during the call.
            self.host.$name.map_or($default, |f| unsafe { f(self.host.ctx) })
        })+
    };
}

impl<'a> Problem<'a> {
    /// Reads the host's structs, which may have another version of the ABI. Errors if a struct is
    /// missing or too small, or if the collective is unknown.
    ///
    /// # Safety
    ///
    /// `raw` must be null or point to a problem of its stated size, with data valid for `'a`.
    pub(crate) unsafe fn read(
        raw: *const SwmProblem,
        host: &'a SwmHost,
        declared: &'static [ParamInfo],
    ) -> Result<Self, Stop> {
        // SAFETY: the caller guarantees null, or a problem of the size that it states.
        let raw = unsafe { copy_struct(raw, "problem") }?;
        let collective = Collective::from_code(raw.collective).ok_or_else(|| {
            Stop::unsupported(format!(
                "collective number {} is unknown to this plugin",
                raw.collective
            ))
        })?;
        // SAFETY: the host keeps the topology for the duration of the call.
        let topology = unsafe { copy_struct(raw.topology, "topology") }?;
        Ok(Self { raw, host, topology: Topology::new(topology), collective, declared })
    }

    /// Returns the network that connects the nodes.
    pub fn topology(&self) -> Topology<'a> {
        self.topology
    }

    /// Returns the collective to perform.
    pub fn collective(&self) -> Collective {
        self.collective
    }

    /// Returns the root, as a node of the machine. It is 0 for collectives without a root.
    pub fn root(&self) -> u64 {
        self.raw.root
    }

    /// Returns the name of a permutation, such as `transpose-2d`; empty for other collectives.
    pub fn permutation(&self) -> &'a str {
        text(self.raw.permutation)
    }

    /// Returns the receiver of the block of node `from` in a permutation; otherwise `from`.
    pub fn destination(&self, from: u64) -> u64 {
        // SAFETY: the function and its context come from the host's table, valid during the call.
        self.host.destination.map_or(from, |f| unsafe { f(self.host.ctx, from) })
    }

    /// Returns whether a message uses all links of its route at the same time and shares each link
    /// with other messages. The message is then at least as fast as messages between neighbours
    /// that forward its data. Returns `false` if the host is older than 1.1.
    pub fn shares_routes(&self) -> bool {
        // SAFETY: the function and its context come from the host's table, valid during the call.
        self.host.shares_routes.is_some_and(|f| unsafe { f(self.host.ctx) } != 0)
    }

    /// Returns the number of bytes that node `from` of the machine has for node `to`. The two may
    /// be the same node. The plan is then used only for cases with exactly the same sizes.
    pub fn pair_bytes(&self, from: u64, to: u64) -> u64 {
        // SAFETY: the function and its context come from the host's table, valid during the call.
        self.host.pair_bytes.map_or(0, |f| unsafe { f(self.host.ctx, from, to) })
    }

    /// Returns whether all blocks have the same size. The plan may then be used for other block
    /// sizes. Returns `false` if the host is older than 1.1.
    pub fn is_uniform(&self) -> bool {
        // SAFETY: the function and its context come from the host's table, valid during the call.
        self.host.uniform.is_some_and(|f| unsafe { f(self.host.ctx) } != 0)
    }

    /// Returns the number of vertices of the network: the nodes, which have the lowest numbers, and
    /// the switches. If several ranks share a node of the machine, the ranks are the nodes of the
    /// problem and have no links, and the nodes of the machine count as switches. Errors with
    /// [`Stop::Failed`] if the host is older than 1.1.
    pub fn vertices(&self) -> Result<u64, Stop> {
        // SAFETY: the function and its context come from the host's table, valid during the call.
        self.host.vertices.map(|f| unsafe { f(self.host.ctx) }).ok_or_else(Stop::host_too_old)
    }

    /// Returns the directed links that leave a vertex, in ascending order of their ends, with
    /// parallel links listed separately. Errors with [`Stop::Failed`] if the host is older than
    /// 1.1, and with [`Stop::Stopped`] if there is no such vertex or the network is too large.
    ///
    /// ```
    /// # use swapmeet_sdk::{About, Algorithm, Problem, Rehearsal, Schedule, Stop};
    /// struct Degree;
    ///
    /// impl Algorithm for Degree {
    ///     fn about(&self) -> About {
    ///         About { name: "degree", ..About::DEFAULT }
    ///     }
    ///
    ///     fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    ///         let links = problem.links(0)?;
    ///         let ends: Vec<u64> = links.iter().map(|link| link.to).collect();
    ///         schedule.log(&format!("{:?} of {}", ends, problem.vertices()?));
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let log = |problem: Rehearsal| problem.rehearse(&Degree).unwrap().log;
    /// assert_eq!(log(Rehearsal::on("torus", &[3, 4])), ["[1, 3, 4, 8] of 12"]);
    /// // Two nodes and a switch, which has the number 2.
    /// let star = [(0, 2, 1.0), (2, 0, 1.0), (1, 2, 1.0), (2, 1, 0.5)];
    /// assert_eq!(log(Rehearsal::on("graph", &[2]).links(&star)), ["[2] of 3"]);
    /// ```
    pub fn links(&self, vertex: u64) -> Result<Vec<Link>, Stop> {
        let read = self.host.links.ok_or_else(Stop::host_too_old)?;
        // SAFETY: the function comes from the host's table, and the list has the stated room.
        read_list(NO_LINK, |list, room, count| unsafe {
            read(self.host.ctx, vertex, list, room, count)
        })
    }

    /// Returns whether a vertex is a switch that can add and copy the data of sends
    /// ([`Blocks::reducer`](crate::Blocks::reducer)); `false` if the host is older than 1.2.
    pub fn can_reduce(&self, vertex: u64) -> bool {
        // SAFETY: the function and its context come from the host's table, valid during the call.
        self.host.can_reduce.is_some_and(|f| unsafe { f(self.host.ctx, vertex) } != 0)
    }

    /// Returns the nodes that must receive data of node `from` of the machine, in ascending order,
    /// with their numbers of bytes. Receivers of 0 bytes are left out. The node itself is listed if
    /// it has a block for itself. The plan is then used only for cases with exactly the same sizes,
    /// so a plan does not call this method if [`Problem::is_uniform`] is true. Errors with
    /// [`Stop::Failed`] if the host is older than 1.1, and with [`Stop::Stopped`] if there is no
    /// such node.
    pub fn demand(&self, from: u64) -> Result<Vec<SwmByteCount>, Stop> {
        let read = self.host.demand.ok_or_else(Stop::host_too_old)?;
        let none = SwmByteCount { destination: 0, bytes: 0 };
        // SAFETY: the function comes from the host's table, and the list has the stated room.
        read_list(none, |list, room, count| unsafe { read(self.host.ctx, from, list, room, count) })
    }

    /// Returns the classes of the tokens of a node, in a dispatch or a combine. Tokens of one node
    /// with the same receivers form a class. Class i is segment i of the node's block. A block has
    /// as many segments as the largest number of classes of a node, and at least one. The plan is
    /// then used only for cases with exactly the same tokens. Errors with [`Stop::Failed`] if the
    /// host is older than 1.1, and with [`Stop::Stopped`] if there is no such node.
    pub fn tokens(&self, node: u64) -> Result<Vec<TokenClass>, Stop> {
        let read_bytes = self.host.token_bytes.ok_or_else(Stop::host_too_old)?;
        let read_receivers = self.host.token_receivers.ok_or_else(Stop::host_too_old)?;
        // SAFETY: the function comes from the host's table, and the list has the stated room.
        let bytes = read_list(0, |list, room, count| unsafe {
            read_bytes(self.host.ctx, node, list, room, count)
        })?;
        let class = |(class, bytes)| {
            // SAFETY: the function comes from the host's table, and the list has the stated room.
            let receivers = read_list(0, |list, room, count| unsafe {
                read_receivers(self.host.ctx, node, class, list, room, count)
            });
            Ok(TokenClass { bytes, receivers: receivers? })
        };
        (0..).zip(bytes).map(class).collect()
    }

    host_values! {
        /// Returns the size of each block, or of the largest, in bytes.
        block_bytes -> u64: 0;

        /// Returns the port limit of the machine: the number of messages that a node may send, and
        /// may receive, at the same time. `u64::MAX` means all links of the node. An algorithm
        /// promises its own limit by [`About::ports`](crate::About::ports).
        ports -> u64: 1;

        /// Returns the number of circuits that a directed link carries at a time (q in the papers).
        virtual_channels -> u64: 1;

        /// Returns the size of an element in bytes. Block sizes are multiples of it. In a schedule
        /// of byte counts, a redistribution moves whole elements.
        element_bytes -> u64: 1;

        /// Returns the start-up time of a message in microseconds (alpha), or 0 if the machine has
        /// none. Use this method, [`Problem::hop_us`] and [`Problem::byte_us`] only to choose among
        /// variants of the algorithm that the user can also select with a parameter.
        startup_us -> f64: 0.0;

        /// Returns the time per link of a route in microseconds, or 0 if the machine has none.
        hop_us -> f64: 0.0;

        /// Returns the time per byte of a message in microseconds (beta), or 0 if the machine has
        /// none.
        byte_us -> f64: 0.0;
    }

    /// Returns the value of the parameter `key`: the user's value, or the declared default. Errors
    /// with [`Stop::Failed`], which names the parameter, if the parameter is not declared, has
    /// neither a value nor a default, or has an invalid value.
    pub fn param<T: ParamValue>(&self, key: &str) -> Result<T, Stop> {
        let default = self.declared(key)?.default;
        match self.given(key)? {
            Some(value) => Ok(value),
            None if default.is_empty() => {
                Err(Stop::failed(format!("`{key}` was not given and has no default")))
            }
            None => parse(key, default),
        }
    }

    /// Returns the value of [`Problem::param`] as a whole number. Also errors with [`Stop::Failed`]
    /// if the number is not within `bounds`. The message names the bounds, but not an upper bound
    /// of `u64::MAX`.
    pub fn whole(&self, key: &str, bounds: RangeInclusive<u64>) -> Result<u64, Stop> {
        let number = self.param(key)?;
        if bounds.contains(&number) {
            return Ok(number);
        }
        let most =
            Some(*bounds.end()).filter(|most| *most < u64::MAX).map(|most| format!(" to {most}"));
        let (least, most) = (bounds.start(), most.unwrap_or_default());
        Err(Stop::failed(format!("`{key}={number}`: expected a whole number from {least}{most}")))
    }

    /// Returns the user's value of the parameter `key`, or `None` if there is none. It is for
    /// parameters whose default depends on the problem. Errors as [`Problem::param`] does, except
    /// that a default may be missing.
    pub fn given<T: ParamValue>(&self, key: &str) -> Result<Option<T>, Stop> {
        self.declared(key)?;
        self.text_of(key).map(|text| parse(key, text)).transpose()
    }

    /// Returns the value of the parameter `key` as the size of groups of consecutive nodes. If the
    /// topology has several dimensions, the default is the radix of the last one; otherwise, it is
    /// the number of nodes. Errors as [`Problem::given`] does, with [`Stop::Failed`] for 0, and
    /// with [`Stop::Unsupported`] for a number that does not divide the number of nodes.
    pub fn group(&self, key: &str) -> Result<u64, Stop> {
        let nodes = self.topology.nodes();
        let default = match self.topology.dims() {
            [_, .., last] => *last,
            [] | [_] => nodes,
        };
        match self.given(key)?.unwrap_or(default) {
            0 => Err(Stop::failed(format!("`{key}=0`: expected a whole number from 1"))),
            size if nodes.is_multiple_of(size) => Ok(size),
            size => Err(Stop::unsupported(format!(
                "{nodes} nodes cannot be divided into groups of {size}"
            ))),
        }
    }

    /// Returns the value that `choices` assigns to the user's word for `key`, or to the default
    /// word. Errors as [`Problem::param`] does, and with [`Stop::Failed`] if the words of `choices`
    /// are not the declared ones.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T, Stop> {
        let default = self.declared(key)?.default;
        match self.given_choice(key, choices)? {
            Some(choice) => Ok(choice),
            None => pick(key, default, choices),
        }
    }

    /// Returns the value that `choices` assigns to the user's word for `key`, or `None` if there is
    /// no word. Errors as [`Problem::choice`] does, except that a default may be missing.
    pub fn given_choice<T: Copy>(
        &self,
        key: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, Stop> {
        let declared = self.declared(key)?.values;
        if !declared.iter().eq(choices.iter().map(|(word, _)| word)) {
            let table: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            return Err(Stop::failed(format!(
                "`{key}` is declared as one of {declared:?} and read as one of {table:?}"
            )));
        }
        self.text_of(key).map(|word| pick(key, word, choices)).transpose()
    }

    fn declared(&self, key: &str) -> Result<&'static ParamInfo, Stop> {
        let declared = self.declared.iter().find(|param| param.key == key);
        declared.ok_or_else(|| {
            Stop::failed(format!(
                "the algorithm reads `{key}`, a parameter that it does not declare"
            ))
        })
    }

    fn text_of(&self, key: &str) -> Option<&'a str> {
        self.params().find(|p| text(p.key) == key).map(|p| text(p.value))
    }

    /// Writes a line to the log, as [`Schedule::log`](crate::Schedule::log) does.
    pub fn log(&self, line: &str) {
        crate::schedule::log(self.host, SWM_LOG_INFO, line);
    }

    fn params(&self) -> impl Iterator<Item = &'a SwmParam> + use<'a> {
        let raw = self.raw;
        let len = if raw.params.is_null() { 0 } else { raw.param_count as usize };
        // SAFETY: the host keeps `param_count` parameters for the duration of the call.
        (0..len).map(move |i| unsafe { &*raw.params.add(i) })
    }
}

/// Copies one of the host's structs. Fields that an older host lacks are zero.
///
/// # Safety
///
/// `ptr` must be null or point to as many bytes as the struct states.
unsafe fn copy_struct<T: Growing>(ptr: *const T, name: &str) -> Result<T, Stop> {
    if ptr.is_null() {
        return Err(Stop::failed(format!("the host gave no {name}")));
    }
    // SAFETY: the caller guarantees a struct of the size that it states, or null.
    unsafe { read_sized(ptr) }.map_err(|size| {
        Stop::failed(format!(
            "the host gave a {name} of {size} bytes, expected at least {}",
            T::SIZE_1_0
        ))
    })
}

/// A directed link, as an entry of the list that [`Problem::links`] returns.
pub use swapmeet_abi::SwmLink as Link;

/// The tokens of one node that have the same receivers ([`Problem::tokens`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenClass {
    /// The bytes of all tokens of the class together.
    pub bytes: u64,
    /// The receivers of each token, in ascending order. The node of the tokens can be one of them.
    pub receivers: Vec<u64>,
}

const NO_LINK: Link = Link { to: 0, bandwidth: 0.0, latency: 0.0 };

/// Reads a list. If it does not fit into the first buffer, it is read a second time, into a larger
/// one.
fn read_list<T: Copy>(
    filler: T,
    mut read: impl FnMut(*mut T, u64, *mut u64) -> i32,
) -> Result<Vec<T>, Stop> {
    let mut list = vec![filler; 64];
    loop {
        let (room, mut count) = (list.len() as u64, 0);
        if read(list.as_mut_ptr(), room, &raw mut count) != SWM_OK {
            return Err(Stop::Stopped);
        }
        list.resize(count as usize, filler);
        if count <= room {
            return Ok(list);
        }
    }
}

fn parse<T: ParamValue>(key: &str, text: &str) -> Result<T, Stop> {
    text.parse()
        .map_err(|_| Stop::failed(format!("`{key}={text}`: expected {}", T::expected(text))))
}

fn pick<T: Copy>(key: &str, word: &str, choices: &[(&str, T)]) -> Result<T, Stop> {
    let chosen = choices.iter().find(|(choice, _)| *choice == word).map(|(_, value)| *value);
    chosen.ok_or_else(|| {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        Stop::failed(format!("`{key}={word}`: expected one of {}", words.join(", ")))
    })
}

fn text<'a>(raw: SwmStr) -> &'a str {
    // SAFETY: the host keeps its texts for the duration of the call.
    std::str::from_utf8(unsafe { raw.bytes() }).unwrap_or_default()
}

/// The network that connects the nodes of the machine.
#[derive(Clone, Copy)]
pub struct Topology<'a> {
    raw: SwmTopology,
    call: PhantomData<&'a SwmTopology>,
}

impl<'a> Topology<'a> {
    fn new(raw: SwmTopology) -> Self {
        Self { raw, call: PhantomData }
    }

    /// Returns the family: `torus`, `mesh`, `ring`, `hypercube`, `fully-connected`, etc.
    pub fn kind(&self) -> &'a str {
        text(self.raw.kind)
    }

    /// Returns the whole topology spec in canonical form, such as `torus:16x16`.
    pub fn spec(&self) -> &'a str {
        text(self.raw.spec)
    }

    /// Returns the number of nodes. They are numbered from 0.
    pub fn nodes(&self) -> u64 {
        self.raw.nodes
    }

    /// Returns the radix of each axis. Nodes are numbered row-major: the last axis varies fastest.
    pub fn dims(&self) -> &'a [u64] {
        if self.raw.dims.is_null() {
            return &[];
        }
        // SAFETY: the host keeps `dim_count` radices for the duration of the call.
        unsafe { std::slice::from_raw_parts(self.raw.dims, self.raw.dim_count as usize) }
    }

    /// Returns the nodes as a grid with the radices of [`Topology::dims`]. Errors with
    /// [`Stop::Unsupported`] if the number of nodes exceeds `u64`, which no correct host causes.
    pub fn grid(&self) -> Result<Grid, Stop> {
        Grid::new(self.dims())
    }

    /// Returns the base topology of a dual-net and the number of levels that connect its copies.
    pub fn base(&self) -> Option<(Self, u64)> {
        // SAFETY: the host keeps the base, if there is one, for the duration of the call.
        let base = unsafe { copy_struct(self.raw.base, "base") }.ok()?;
        Some((Self::new(base), self.raw.levels))
    }
}

#[cfg(test)]
mod tests;
