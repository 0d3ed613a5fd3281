//! What is to be done: topology, collective, parameters.

use crate::collective::Collective;
use crate::schedule::Stop;
use std::marker::PhantomData;
use std::str::FromStr;
use swapmeet_abi::{Growing, SwmHost, SwmParam, SwmProblem, SwmStr, SwmTopology, read_sized};

/// What a parameter can be read as ([`Problem::param`]); a plugin can make types of its own such values.
pub trait ParamValue: FromStr {
    /// What a text that doesn't parse should have been, in words: "a whole number".
    fn expected(given: &str) -> String;
}

macro_rules! whole_numbers {
    ($($type:ty)+) => {
        $(impl ParamValue for $type {
            fn expected(given: &str) -> String {
                match given.parse::<i128>() {
                    Ok(_) => format!("a whole number from {} to {}", Self::MIN, Self::MAX),
                    Err(_) => "a whole number".to_owned(),
                }
            }
        })+
    };
}

macro_rules! other_values {
    ($($type:ty: $expected:literal;)+) => {
        $(impl ParamValue for $type {
            fn expected(_: &str) -> String {
                $expected.to_owned()
            }
        })+
    };
}

whole_numbers! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

other_values! {
    f32: "a number";
    f64: "a number";
    bool: "true or false";
    char: "one character";
}

/// What is to be done. Sizes and machine parameters are asked for one by one: a plan that doesn't ask for them is shared between
/// cases that differ only in them.
///
/// ```
/// # use swapmeet_sdk::{About, Algorithm, Problem, Rehearsal, Schedule, Send, Set, Stop};
/// struct InPieces;
///
/// impl Algorithm for InPieces {
///     fn about(&self) -> About {
///         About { name: "in-pieces", ..About::DEFAULT }
///     }
///
///     fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
///         // As the user gave it, or 4; `pieces=many` is the user's error, and says so.
///         let pieces: u64 = problem.param("pieces", 4)?;
///         let [rows, columns] = problem.topology().dims() else {
///             return Err(Stop::unsupported(format!("{} has not two dimensions", problem.topology().spec())));
///         };
///         assert_eq!((*rows, *columns, problem.topology().nodes()), (4, 8, 32));
///         // Asked for only here: with one node's bytes this small, pieces don't pay.
///         if problem.block_bytes() < pieces { Err(Stop::unsupported("blocks smaller than their pieces")) } else { Ok(()) }
///     }
/// }
///
/// let refused = |problem: Rehearsal| problem.plan(&InPieces).unwrap_err().to_string();
/// assert!(Rehearsal::on("torus", &[4, 8]).block_bytes(1024).plan(&InPieces).is_ok());
/// assert_eq!(refused(Rehearsal::on("torus", &[4, 8])), "blocks smaller than their pieces");
/// assert_eq!(refused(Rehearsal::on("torus", &[4, 8]).param("pieces", "many")), "`pieces=many`: expected a whole number");
/// assert_eq!(refused(Rehearsal::on("ring", &[8])), "ring:8 has not two dimensions");
/// ```
pub struct Problem<'a> {
    raw: SwmProblem,
    host: &'a SwmHost,
    topology: Topology<'a>,
    collective: Collective,
}

impl<'a> Problem<'a> {
    /// Reads the host's structs, which may be older or newer than those known here; `Err` says what is wrong with them.
    ///
    /// # Safety
    /// `raw` must be null or a problem of the size that it says, and all it points to must be there for `'a`.
    pub(crate) unsafe fn read(raw: *const SwmProblem, host: &'a SwmHost) -> Result<Self, Stop> {
        // SAFETY: promised by the caller.
        let raw = unsafe { whole(raw, "problem") }?;
        let collective = Collective::from_code(raw.collective).ok_or_else(|| {
            Stop::unsupported(format!("collective number {} is unknown to this plugin", raw.collective))
        })?;
        // SAFETY: the host keeps the topology for the length of the call.
        let topology = unsafe { whole(raw.topology, "topology") }?;
        Ok(Self { raw, host, topology: Topology { raw: topology, call: PhantomData }, collective })
    }

    /// What connects the nodes.
    pub fn topology(&self) -> Topology<'a> {
        self.topology
    }

    /// What is to reach whom.
    pub fn collective(&self) -> Collective {
        self.collective
    }

    /// The root of a broadcast, scatter or gather, a node of the machine; 0 for other collectives.
    pub fn root(&self) -> u64 {
        self.raw.root
    }

    /// Which permutation, such as `transpose-2d`; empty for other collectives.
    pub fn permutation(&self) -> &'a str {
        text(self.raw.permutation)
    }

    /// The node that node `from` has its block for in a permutation; `from` itself for other collectives.
    pub fn destination(&self, from: u64) -> u64 {
        // SAFETY: the function and its context come from the host's table, valid during the call.
        self.host.destination.map_or(from, |f| unsafe { f(self.host.ctx, from) })
    }

    /// Bytes of each block when sizes are uniform, else of the largest.
    pub fn block_bytes(&self) -> u64 {
        // SAFETY: the function and its context come from the host's table, valid during the call.
        self.host.block_bytes.map_or(0, |f| unsafe { f(self.host.ctx) })
    }

    /// Bytes that node `from` of the machine has for node `to`, which may be itself. Asking for one pair makes the plan one for these sizes alone.
    pub fn pair_bytes(&self, from: u64, to: u64) -> u64 {
        // SAFETY: as above.
        self.host.pair_bytes.map_or(0, |f| unsafe { f(self.host.ctx, from, to) })
    }

    /// Messages that a node may send, and receive, at a time; `u64::MAX` for all its links at once.
    pub fn ports(&self) -> u64 {
        // SAFETY: as above.
        self.host.ports.map_or(1, |f| unsafe { f(self.host.ctx) })
    }

    /// Circuits that a directed link carries at a time (q).
    pub fn virtual_channels(&self) -> u64 {
        // SAFETY: as above.
        self.host.virtual_channels.map_or(1, |f| unsafe { f(self.host.ctx) })
    }

    /// Bytes of the unit that is redistributed in a schedule of byte counts; block sizes are multiples of it.
    pub fn element_bytes(&self) -> u64 {
        // SAFETY: as above.
        self.host.element_bytes.map_or(1, |f| unsafe { f(self.host.ctx) })
    }

    /// The parameter `key` as text, if the user gave it.
    pub fn param_text(&self, key: &str) -> Option<&'a str> {
        self.params().find(|p| text(p.key) == key).map(|p| text(p.value))
    }

    /// The parameter `key`, or `default` if the user didn't give it.
    ///
    /// # Errors
    /// [`Stop::Failed`] where its text doesn't parse, with a message that names the parameter: a misprint of the user's is an error, not a
    /// case that the algorithm can't run.
    pub fn param<T: ParamValue>(&self, key: &str, default: T) -> Result<T, Stop> {
        let Some(given) = self.param_text(key) else { return Ok(default) };
        given.parse().map_err(|_| Stop::failed(format!("`{key}={given}`: expected {}", T::expected(given))))
    }

    /// A line for the log, as [`Schedule::log`](crate::Schedule::log).
    pub fn log(&self, line: &str) {
        crate::schedule::log(self.host, line);
    }

    fn params(&self) -> impl Iterator<Item = &'a SwmParam> + use<'a> {
        let raw = self.raw;
        let len = if raw.params.is_null() { 0 } else { raw.param_count as usize };
        // SAFETY: the host keeps `param_count` parameters for the length of the call.
        (0..len).map(move |i| unsafe { &*raw.params.add(i) })
    }
}

/// What connects the nodes of the machine.
#[derive(Clone, Copy)]
pub struct Topology<'a> {
    raw: SwmTopology,
    /// What `raw` points to is the host's, for the length of the call.
    call: PhantomData<&'a SwmTopology>,
}

impl<'a> Topology<'a> {
    /// The family: `torus`, `mesh`, `ring`, `hypercube`, `fully-connected`, ..
    pub fn kind(&self) -> &'a str {
        text(self.raw.kind)
    }

    /// The whole spec, such as `torus:16x16`.
    pub fn spec(&self) -> &'a str {
        text(self.raw.spec)
    }

    /// Nodes, numbered from 0.
    pub fn nodes(&self) -> u64 {
        self.raw.nodes
    }

    /// Radix of each axis, first axis first; nodes are numbered row-major, the last axis fastest.
    pub fn dims(&self) -> &'a [u64] {
        if self.raw.dims.is_null() {
            return &[];
        }
        // SAFETY: the host keeps `dim_count` radices for the length of the call.
        unsafe { std::slice::from_raw_parts(self.raw.dims, self.raw.dim_count as usize) }
    }
}

/// A copy of one of the host's structs, with zero for what an older host's lacks.
///
/// # Safety
/// `ptr` must be null or point to as many bytes as the struct says it has.
unsafe fn whole<T: Growing>(ptr: *const T, name: &str) -> Result<T, Stop> {
    if ptr.is_null() {
        return Err(Stop::failed(format!("the host gave no {name}")));
    }
    // SAFETY: promised by the caller.
    unsafe { read_sized(ptr) }.map_err(|size| {
        Stop::failed(format!("the host gave a {name} of {size} bytes, expected at least {}", T::SIZE_1_0))
    })
}

/// Text from the host, which promises UTF-8.
fn text<'a>(raw: SwmStr) -> &'a str {
    // SAFETY: the host keeps its texts for the length of the call.
    std::str::from_utf8(unsafe { raw.bytes() }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{About, Algorithm, Rehearsal, Schedule, Stop};
    use std::mem::size_of;

    /// The nodes that are read of a topology, or why none are, where problem and topology claim sizes of their own.
    fn nodes(problem_size: usize, topology_size: usize) -> Result<u64, String> {
        // SAFETY: all three are numbers, nullable pointers and nullable functions.
        let (host, mut problem, mut topology): (SwmHost, SwmProblem, [SwmTopology; 2]) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed()) };
        topology[0].nodes = 4;
        topology[0].size = topology_size as u32;
        problem.size = problem_size as u32;
        problem.topology = topology.as_ptr();
        let both = [problem, problem];
        // SAFETY: no size is above that of two structs in a row.
        let read = unsafe { Problem::read(both.as_ptr(), &host) };
        read.map(|problem| problem.topology().nodes()).map_err(|stop| stop.to_string())
    }

    #[test]
    fn structs_of_a_later_host_are_longer() {
        let (problem, topology) = (size_of::<SwmProblem>(), size_of::<SwmTopology>());
        assert_eq!(nodes(SwmProblem::SIZE_1_0, SwmTopology::SIZE_1_0), Ok(4));
        assert_eq!(nodes(problem + 8, topology + 40), Ok(4));
    }

    #[test]
    fn structs_shorter_than_ever_are_refused_unread() {
        let (problem, topology) = (size_of::<SwmProblem>(), size_of::<SwmTopology>());
        assert_eq!(nodes(8, topology), Err("the host gave a problem of 8 bytes, expected at least 56".to_owned()));
        assert_eq!(nodes(problem, 55), Err("the host gave a topology of 55 bytes, expected at least 56".to_owned()));
    }

    /// Reads a parameter of one type.
    struct Reads(fn(&Problem<'_>) -> Result<(), Stop>);

    impl Algorithm for Reads {
        fn about(&self) -> About {
            About { name: "reads", ..About::DEFAULT }
        }

        fn plan(&self, problem: &Problem<'_>, _: &mut Schedule<'_>) -> Result<(), Stop> {
            self.0(problem)
        }
    }

    #[test]
    fn a_value_that_makes_no_sense_is_the_users_error_and_says_what_was_expected() {
        let told = |value: &str, read| Rehearsal::on("ring", &[4]).param("k", value).plan(&Reads(read)).map(|_| ());
        let says = |what: &str| Err(Stop::failed(what));
        assert_eq!(told("x", |p| p.param("k", 0_i64).map(|_| ())), says("`k=x`: expected a whole number"));
        assert_eq!(told("-3", |p| p.param("k", 0_i64).map(|_| ())), Ok(()));
        assert_eq!(
            told("-3", |p| p.param("k", 0_u8).map(|_| ())),
            says("`k=-3`: expected a whole number from 0 to 255")
        );
        assert_eq!(
            told("99999999999", |p| p.param("k", 0_u32).map(|_| ())),
            says("`k=99999999999`: expected a whole number from 0 to 4294967295")
        );
        assert_eq!(told("2", |p| p.param("k", false).map(|_| ())), says("`k=2`: expected true or false"));
    }
}
