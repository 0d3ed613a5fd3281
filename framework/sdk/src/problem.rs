//! The problem that an algorithm is to solve: topology, collective, parameters.

use crate::collective::Collective;
use crate::grid::Grid;
use crate::param::{ParamInfo, ParamValue};
use crate::stop::Stop;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use swapmeet_abi::{Growing, SwmHost, SwmParam, SwmProblem, SwmStr, SwmTopology, read_sized};

/// The problem that an algorithm is to solve. Sizes and machine parameters are read with one method
/// each. A plan that does not read one of them is shared by all cases that differ only in it.
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
    /// The parameters that the algorithm declares.
    declared: &'static [ParamInfo],
}

/// Defines methods that read a value from the host. If an older host lacks the function, the method
/// returns the default.
macro_rules! host_values {
    ($($(#[$attribute:meta])* $name:ident -> $type:ty: $default:expr;)+) => {
        $($(#[$attribute])* pub fn $name(&self) -> $type {
            // SAFETY: the function and its context come from the host's table, which is valid
            // during the call.
            self.host.$name.map_or($default, |f| unsafe { f(self.host.ctx) })
        })+
    };
}

impl<'a> Problem<'a> {
    /// Reads the host's structs, which may be of an older or a newer version.
    ///
    /// # Errors
    /// [`Stop::Failed`] if a struct is missing or too small, [`Stop::Unsupported`] if the
    /// collective is unknown.
    ///
    /// # Safety
    /// `raw` must be null or point to a problem of the size that it says. Everything that it points
    /// to must be valid for `'a`.
    pub(crate) unsafe fn read(
        raw: *const SwmProblem,
        host: &'a SwmHost,
        declared: &'static [ParamInfo],
    ) -> Result<Self, Stop> {
        // SAFETY: the caller guarantees this.
        let raw = unsafe { copy_struct(raw, "problem") }?;
        let collective = Collective::from_code(raw.collective).ok_or_else(|| {
            Stop::unsupported(format!(
                "collective number {} is unknown to this plugin",
                raw.collective
            ))
        })?;
        // SAFETY: the host keeps the topology for the duration of the call.
        let topology = unsafe { copy_struct(raw.topology, "topology") }?;
        Ok(Self {
            raw,
            host,
            topology: Topology { raw: topology, call: PhantomData },
            collective,
            declared,
        })
    }

    /// Returns the network that connects the nodes.
    pub fn topology(&self) -> Topology<'a> {
        self.topology
    }

    /// Returns the collective to perform.
    pub fn collective(&self) -> Collective {
        self.collective
    }

    /// Returns the root of a broadcast, scatter, gather or reduce, a node of the machine; 0 for
    /// other collectives.
    pub fn root(&self) -> u64 {
        self.raw.root
    }

    /// Returns the name of the permutation, such as `transpose-2d`; empty for other collectives.
    pub fn permutation(&self) -> &'a str {
        text(self.raw.permutation)
    }

    /// Returns the node that receives the block of node `from` in a permutation; `from` itself for
    /// other collectives.
    pub fn destination(&self, from: u64) -> u64 {
        // SAFETY: the function and its context come from the host's table, which is valid during
        // the call.
        self.host.destination.map_or(from, |f| unsafe { f(self.host.ctx, from) })
    }

    /// Returns the bytes that node `from` of the machine has for node `to`, which may be the same
    /// node. After this call the plan is used only for cases with exactly these sizes.
    pub fn pair_bytes(&self, from: u64, to: u64) -> u64 {
        // SAFETY: the function and its context come from the host's table, which is valid during
        // the call.
        self.host.pair_bytes.map_or(0, |f| unsafe { f(self.host.ctx, from, to) })
    }

    host_values! {
        /// Returns the size of each block in bytes. Where sizes differ, returns the size of the
        /// largest block.
        block_bytes -> u64: 0;

        /// Returns the port limit of the machine: the number of messages that a node may send, and
        /// may receive, at the same time. `u64::MAX` means all its links at once. The promise of an
        /// algorithm is [`About::ports`](crate::About::ports).
        ports -> u64: 1;

        /// Returns the number of circuits that a directed link carries at the same time (q in the
        /// papers).
        virtual_channels -> u64: 1;

        /// Returns the size of an element in bytes: the unit of redistribution in a schedule of
        /// byte counts. Block sizes are multiples of it.
        element_bytes -> u64: 1;

        /// Returns the start-up time of a message in microseconds (alpha), 0 if the machine has
        /// none. Use this method and the next two to choose among forms that the algorithm declares
        /// as a parameter, not to build a different schedule for each machine.
        startup_us -> f64: 0.0;

        /// Returns the time per link of a route in microseconds, 0 if the machine has none.
        hop_us -> f64: 0.0;

        /// Returns the time per byte of a message in microseconds (beta), 0 if the machine has
        /// none.
        byte_us -> f64: 0.0;
    }

    /// Returns the parameter `key`: the user's value, or the declared default.
    ///
    /// # Errors
    /// [`Stop::Failed`] if the algorithm does not declare the parameter, if the user gave no value
    /// and there is no default, or if the text does not parse. The message names the parameter. (A
    /// text that does not parse is an error of the user, not a case that the algorithm does not
    /// support.)
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

    /// Returns the parameter `key`, a whole number within `bounds`: the user's value, or the
    /// declared default.
    ///
    /// # Errors
    /// As [`Problem::param`], and [`Stop::Failed`] if the number is outside of `bounds`. The
    /// message names the bounds, except an upper bound of `u64::MAX`.
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

    /// Returns the user's value of the parameter `key`, if there is one. Use it for parameters
    /// whose default depends on the problem.
    ///
    /// # Errors
    /// As [`Problem::param`], except for a missing default.
    pub fn given<T: ParamValue>(&self, key: &str) -> Result<Option<T>, Stop> {
        self.declared(key)?;
        self.text_of(key).map(|text| parse(key, text)).transpose()
    }

    /// Returns the parameter `key` as the size of groups of consecutively numbered nodes: the
    /// user's value, or the radix of the last of several dimensions, or the number of nodes.
    ///
    /// # Errors
    /// As [`Problem::given`]; [`Stop::Failed`] for 0, and [`Stop::Unsupported`] for a number that
    /// does not divide the number of nodes.
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

    /// Returns the value that the table `choices` has for the word of the choice `key`: the user's
    /// word, or the declared default.
    ///
    /// # Errors
    /// As [`Problem::param`], and [`Stop::Failed`] if the words of the table differ from the
    /// declared ones.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T, Stop> {
        let default = self.declared(key)?.default;
        match self.given_choice(key, choices)? {
            Some(choice) => Ok(choice),
            None => pick(key, default, choices),
        }
    }

    /// Returns the user's choice of the parameter `key`, if there is one. Use it for choices whose
    /// default depends on the problem.
    ///
    /// # Errors
    /// As [`Problem::choice`], except for a missing default.
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

    /// Writes a line to the log, as [`Schedule::log`](crate::Schedule::log).
    pub fn log(&self, line: &str) {
        crate::schedule::log(self.host, line);
    }

    fn params(&self) -> impl Iterator<Item = &'a SwmParam> + use<'a> {
        let raw = self.raw;
        let len = if raw.params.is_null() { 0 } else { raw.param_count as usize };
        // SAFETY: the host keeps `param_count` parameters for the duration of the call.
        (0..len).map(move |i| unsafe { &*raw.params.add(i) })
    }
}

/// The network that connects the nodes of the machine.
#[derive(Clone, Copy)]
pub struct Topology<'a> {
    raw: SwmTopology,
    /// The host keeps the data that `raw` points to for the duration of the call.
    call: PhantomData<&'a SwmTopology>,
}

impl<'a> Topology<'a> {
    /// Returns the family: `torus`, `mesh`, `ring`, `hypercube`, `fully-connected`, etc.
    pub fn kind(&self) -> &'a str {
        text(self.raw.kind)
    }

    /// Returns the whole spec in canonical form, such as `torus:16x16`.
    pub fn spec(&self) -> &'a str {
        text(self.raw.spec)
    }

    /// Returns the number of nodes. They are numbered from 0.
    pub fn nodes(&self) -> u64 {
        self.raw.nodes
    }

    /// Returns the radix of each axis, first axis first. Nodes are numbered row-major: the last
    /// axis varies fastest.
    pub fn dims(&self) -> &'a [u64] {
        if self.raw.dims.is_null() {
            return &[];
        }
        // SAFETY: the host keeps `dim_count` radices for the duration of the call.
        unsafe { std::slice::from_raw_parts(self.raw.dims, self.raw.dim_count as usize) }
    }

    /// Returns the nodes as a grid of these radices.
    ///
    /// # Errors
    /// [`Stop::Unsupported`] if the number of nodes exceeds `u64`, which no correct host causes.
    pub fn grid(&self) -> Result<Grid, Stop> {
        Grid::new(self.dims())
    }

    /// For a dual-net, returns the topology of a cluster at the lowest level and the number of
    /// levels above it; `None` for other topologies.
    pub fn base(&self) -> Option<(Self, u64)> {
        // SAFETY: the host keeps the base, if there is one, for the duration of the call.
        let base = unsafe { copy_struct(self.raw.base, "base") }.ok()?;
        Some((Self { raw: base, call: PhantomData }, self.raw.levels))
    }
}

/// Copies one of the host's structs. Fields that an older host lacks are zero.
///
/// # Safety
/// `ptr` must be null or point to as many bytes as the struct says.
unsafe fn copy_struct<T: Growing>(ptr: *const T, name: &str) -> Result<T, Stop> {
    if ptr.is_null() {
        return Err(Stop::failed(format!("the host gave no {name}")));
    }
    // SAFETY: the caller guarantees this.
    unsafe { read_sized(ptr) }.map_err(|size| {
        Stop::failed(format!(
            "the host gave a {name} of {size} bytes, expected at least {}",
            T::SIZE_1_0
        ))
    })
}

/// Parses the text of a parameter.
fn parse<T: ParamValue>(key: &str, text: &str) -> Result<T, Stop> {
    text.parse()
        .map_err(|_| Stop::failed(format!("`{key}={text}`: expected {}", T::expected(text))))
}

/// Returns the value of a word of a choice.
fn pick<T: Copy>(key: &str, word: &str, choices: &[(&str, T)]) -> Result<T, Stop> {
    let chosen = choices.iter().find(|(choice, _)| *choice == word).map(|(_, value)| *value);
    chosen.ok_or_else(|| {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        Stop::failed(format!("`{key}={word}`: expected one of {}", words.join(", ")))
    })
}

/// Converts a text of the host, which guarantees UTF-8.
fn text<'a>(raw: SwmStr) -> &'a str {
    // SAFETY: the host keeps its texts for the duration of the call.
    std::str::from_utf8(unsafe { raw.bytes() }).unwrap_or_default()
}

#[cfg(test)]
mod tests;
