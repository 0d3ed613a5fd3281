//! What is to be done: topology, collective, parameters.

use crate::collective::Collective;
use crate::grid::Grid;
use crate::param::{ParamInfo, ParamValue};
use crate::stop::Stop;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use swapmeet_abi::{Growing, SwmHost, SwmParam, SwmProblem, SwmStr, SwmTopology, read_sized};

/// What is to be done. Sizes and machine parameters are asked for one by one: a plan that doesn't
/// ask for them is shared between cases that differ only in them.
///
/// ```
/// # use swapmeet_sdk::{About, Algorithm, ParamInfo, Problem, Rehearsal, Schedule, Stop};
/// struct InPieces;
///
/// impl Algorithm for InPieces {
///     fn about(&self) -> About {
///         const PIECES: ParamInfo = ParamInfo::number("pieces", "4", "into how many pieces a block is cut");
///         About { name: "in-pieces", params: &[PIECES], ..About::DEFAULT }
///     }
///
///     fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
///         // As the user gave it, or its default; `pieces=many` is the user's error, and says so.
///         let pieces: u64 = problem.param("pieces")?;
///         let grid = problem.topology().grid()?;
///         if grid.dimensions() != 2 {
///             return Err(Stop::unsupported(format!("{} has not two dimensions", problem.topology().spec())));
///         }
///         assert_eq!((grid.radix(0), grid.radix(1), grid.nodes()), (4, 8, 32));
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
    /// What the algorithm says that it takes.
    declared: &'static [ParamInfo],
}

impl<'a> Problem<'a> {
    /// Reads the host's structs, which may be older or newer than those known here; `Err` says what
    /// is wrong with them.
    ///
    /// # Safety
    /// `raw` must be null or a problem of the size that it says, and all it points to must be there
    /// for `'a`.
    pub(crate) unsafe fn read(
        raw: *const SwmProblem,
        host: &'a SwmHost,
        declared: &'static [ParamInfo],
    ) -> Result<Self, Stop> {
        // SAFETY: promised by the caller.
        let raw = unsafe { whole(raw, "problem") }?;
        let collective = Collective::from_code(raw.collective).ok_or_else(|| {
            Stop::unsupported(format!(
                "collective number {} is unknown to this plugin",
                raw.collective
            ))
        })?;
        // SAFETY: the host keeps the topology for the length of the call.
        let topology = unsafe { whole(raw.topology, "topology") }?;
        Ok(Self {
            raw,
            host,
            topology: Topology { raw: topology, call: PhantomData },
            collective,
            declared,
        })
    }

    /// What connects the nodes.
    pub fn topology(&self) -> Topology<'a> {
        self.topology
    }

    /// What is to reach whom.
    pub fn collective(&self) -> Collective {
        self.collective
    }

    /// The root of a broadcast, scatter, gather or reduce, a node of the machine; 0 for other
    /// collectives.
    pub fn root(&self) -> u64 {
        self.raw.root
    }

    /// Which permutation, such as `transpose-2d`; empty for other collectives.
    pub fn permutation(&self) -> &'a str {
        text(self.raw.permutation)
    }

    /// The node that node `from` has its block for in a permutation; `from` itself for other
    /// collectives.
    pub fn destination(&self, from: u64) -> u64 {
        // SAFETY: the function and its context come from the host's table, valid during the call.
        self.host.destination.map_or(from, |f| unsafe { f(self.host.ctx, from) })
    }

    /// Bytes of each block when sizes are uniform, else of the largest.
    pub fn block_bytes(&self) -> u64 {
        // SAFETY: the function and its context come from the host's table, valid during the call.
        self.host.block_bytes.map_or(0, |f| unsafe { f(self.host.ctx) })
    }

    /// Bytes that node `from` of the machine has for node `to`, which may be itself. Asking for one
    /// pair makes the plan one for these sizes alone.
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

    /// Bytes of the unit that is redistributed in a schedule of byte counts; block sizes are
    /// multiples of it.
    pub fn element_bytes(&self) -> u64 {
        // SAFETY: as above.
        self.host.element_bytes.map_or(1, |f| unsafe { f(self.host.ctx) })
    }

    /// The machine's start-up of a message in microseconds (alpha), 0 if it has none. This and the
    /// two below are for choosing among forms that the algorithm declares, not for making up a
    /// schedule machine by machine.
    pub fn startup_us(&self) -> f64 {
        // SAFETY: as above.
        self.host.startup_us.map_or(0.0, |f| unsafe { f(self.host.ctx) })
    }

    /// The machine's time per link of a route in microseconds, 0 if it has none.
    pub fn hop_us(&self) -> f64 {
        // SAFETY: as above.
        self.host.hop_us.map_or(0.0, |f| unsafe { f(self.host.ctx) })
    }

    /// The machine's time per byte of a message in microseconds (beta), 0 if it has none.
    pub fn byte_us(&self) -> f64 {
        // SAFETY: as above.
        self.host.byte_us.map_or(0.0, |f| unsafe { f(self.host.ctx) })
    }

    /// The parameter `key`: as the user gave it, else its declared default.
    ///
    /// # Errors
    /// [`Stop::Failed`] where the algorithm declares no such parameter, or no default for it, and
    /// where its text doesn't parse, with a message that names the parameter: a misprint of the
    /// user's is an error, not a case that the algorithm can't run.
    pub fn param<T: ParamValue>(&self, key: &str) -> Result<T, Stop> {
        let default = self.declared(key)?.default;
        match self.given(key)? {
            Some(value) => Ok(value),
            None if default.is_empty() => {
                Err(Stop::failed(format!("`{key}` was not given and declares no default")))
            }
            None => parse(key, default),
        }
    }

    /// The parameter `key`, a whole number within bounds: as the user gave it, else its declared
    /// default.
    ///
    /// # Errors
    /// As [`Problem::param`], and where the number is outside of `bounds`, whose end is said unless
    /// it is that of `u64`.
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

    /// The parameter `key`, if the user gave it: for one whose default depends on the problem.
    ///
    /// # Errors
    /// As [`Problem::param`], but for the default.
    pub fn given<T: ParamValue>(&self, key: &str) -> Result<Option<T>, Stop> {
        self.declared(key)?;
        self.text_of(key).map(|text| parse(key, text)).transpose()
    }

    /// The parameter `key`, nodes of a group of neighbours in number: as the user gave it, else
    /// those of the last of several dimensions, else all nodes.
    ///
    /// # Errors
    /// As [`Problem::given`], and where there are no groups of that size: of 0 nodes an error, of a
    /// number that does not divide the nodes a case that is not supported.
    pub fn group(&self, key: &str) -> Result<u64, Stop> {
        let nodes = self.topology.nodes();
        let own = match self.topology.dims() {
            [_, .., last] => *last,
            [] | [_] => nodes,
        };
        match self.given(key)?.unwrap_or(own) {
            0 => Err(Stop::failed(format!("`{key}=0`: expected a whole number from 1"))),
            size if nodes.is_multiple_of(size) => Ok(size),
            size => {
                Err(Stop::unsupported(format!("{nodes} nodes do not fall into groups of {size}")))
            }
        }
    }

    /// The choice `key`, by the table of its words: as the user gave it, else its declared default.
    ///
    /// # Errors
    /// As [`Problem::param`], and where the table has other words than those declared.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T, Stop> {
        let default = self.declared(key)?.default;
        match self.given_choice(key, choices)? {
            Some(choice) => Ok(choice),
            None => pick(key, default, choices),
        }
    }

    /// The choice `key`, if the user gave it: for one whose default depends on the problem.
    ///
    /// # Errors
    /// As [`Problem::choice`], but for the default.
    pub fn given_choice<T: Copy>(
        &self,
        key: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, Stop> {
        let declared = self.declared(key)?.values;
        if !declared.iter().eq(choices.iter().map(|(word, _)| word)) {
            let asked: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            return Err(Stop::failed(format!(
                "`{key}` is declared as one of {declared:?} and read as one of {asked:?}"
            )));
        }
        self.text_of(key).map(|word| pick(key, word, choices)).transpose()
    }

    fn declared(&self, key: &str) -> Result<&'static ParamInfo, Stop> {
        let declared = self.declared.iter().find(|param| param.key == key);
        declared.ok_or_else(|| {
            Stop::failed(format!(
                "the algorithm asks for `{key}`, a parameter that it does not declare"
            ))
        })
    }

    fn text_of(&self, key: &str) -> Option<&'a str> {
        self.params().find(|p| text(p.key) == key).map(|p| text(p.value))
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

    /// The nodes as a grid of these radices.
    ///
    /// # Errors
    /// [`Stop::Unsupported`] where they can't be numbered, which no host should give.
    pub fn grid(&self) -> Result<Grid, Stop> {
        Grid::new(self.dims())
    }

    /// Of a dual-net, what a cluster is at the lowest level, and how many levels there are above
    /// it; `None` for other topologies.
    pub fn base(&self) -> Option<(Self, u64)> {
        // SAFETY: the host keeps the base, where there is one, for the length of the call.
        let base = unsafe { whole(self.raw.base, "base") }.ok()?;
        Some((Self { raw: base, call: PhantomData }, self.raw.levels))
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
        Stop::failed(format!(
            "the host gave a {name} of {size} bytes, expected at least {}",
            T::SIZE_1_0
        ))
    })
}

/// What the text of a parameter says.
fn parse<T: ParamValue>(key: &str, text: &str) -> Result<T, Stop> {
    text.parse()
        .map_err(|_| Stop::failed(format!("`{key}={text}`: expected {}", T::expected(text))))
}

/// What a word of a choice stands for.
fn pick<T: Copy>(key: &str, word: &str, choices: &[(&str, T)]) -> Result<T, Stop> {
    let chosen = choices.iter().find(|(choice, _)| *choice == word).map(|(_, value)| *value);
    chosen.ok_or_else(|| {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        Stop::failed(format!("`{key}={word}`: expected one of {}", words.join(", ")))
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
    use crate::{About, Algorithm, Rehearsal, Schedule, words};
    use std::mem::size_of;

    /// The nodes that are read of a topology, or why none are, where problem and topology claim
    /// sizes of their own.
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
        let read = unsafe { Problem::read(both.as_ptr(), &host, &[]) };
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
        assert_eq!(
            nodes(8, topology),
            Err("the host gave a problem of 8 bytes, expected at least 56".to_owned())
        );
        assert_eq!(
            nodes(problem, 71),
            Err("the host gave a topology of 71 bytes, expected at least 72".to_owned())
        );
    }

    const CORNERS: [(&str, u8); 2] = [("round", 1), ("sharp", 2)];

    /// Reads a parameter in one way.
    struct Reads(fn(&Problem<'_>) -> Result<(), Stop>);

    impl Algorithm for Reads {
        fn about(&self) -> About {
            const PARAMS: [ParamInfo; 3] = [
                ParamInfo::number("k", "7", ""),
                ParamInfo::text("free", "", ""),
                ParamInfo::choice("corner", &words(&CORNERS), "sharp", ""),
            ];
            About { name: "reads", params: &PARAMS, ..About::DEFAULT }
        }

        fn plan(&self, problem: &Problem<'_>, _: &mut Schedule<'_>) -> Result<(), Stop> {
            self.0(problem)
        }
    }

    /// What becomes of a plan that reads a parameter, given as this text.
    fn outcome(
        key: &str,
        value: &str,
        read: fn(&Problem<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        Rehearsal::on("ring", &[4]).param(key, value).plan(&Reads(read)).map(|_| ())
    }

    fn failed(what: &str) -> Result<(), Stop> {
        Err(Stop::failed(what))
    }

    #[test]
    fn a_value_that_makes_no_sense_is_the_users_error_and_says_what_was_expected() {
        let given = |value, read| outcome("k", value, read);
        assert_eq!(
            given("x", |p| p.param::<i64>("k").map(|_| ())),
            failed("`k=x`: expected a whole number")
        );
        assert_eq!(given("-3", |p| p.param::<i64>("k").map(|_| ())), Ok(()));
        assert_eq!(
            given("-3", |p| p.param::<u8>("k").map(|_| ())),
            failed("`k=-3`: expected a whole number from 0 to 255")
        );
        assert_eq!(
            given("99999999999", |p| p.param::<u32>("k").map(|_| ())),
            failed("`k=99999999999`: expected a whole number from 0 to 4294967295")
        );
        assert_eq!(given("4096", |p| p.whole("k", 1..=4096).map(|_| ())), Ok(()));
        let most = failed("`k=4097`: expected a whole number from 1 to 4096");
        assert_eq!(given("4097", |p| p.whole("k", 1..=4096).map(|_| ())), most);
        assert_eq!(
            given("1", |p| p.whole("k", 2..=u64::MAX).map(|_| ())),
            failed("`k=1`: expected a whole number from 2")
        );
        assert_eq!(
            given("2", |p| p.param::<bool>("k").map(|_| ())),
            failed("`k=2`: expected true or false")
        );
        assert_eq!(
            outcome("corner", "blunt", |p| p.choice("corner", &CORNERS).map(|_| ())),
            failed("`corner=blunt`: expected one of round, sharp")
        );
    }

    #[test]
    fn what_was_not_given_is_as_declared() {
        let read = |p: &Problem<'_>| {
            assert_eq!((p.param::<u64>("k")?, p.given::<u64>("k")?), (7, None));
            assert_eq!(
                (p.choice("corner", &CORNERS)?, p.given_choice("corner", &CORNERS)?),
                (2, None)
            );
            assert_eq!(p.param::<String>("free")?, "yes");
            Ok(())
        };
        assert_eq!(outcome("free", "yes", read), Ok(()));
    }

    #[test]
    fn groups_are_of_one_size_and_of_the_last_dimension_where_none_is_given() {
        let own = |problem: Rehearsal, read: fn(&Problem<'_>) -> Result<(), Stop>| {
            problem.plan(&Reads(read)).map(|_| ())
        };
        fn is(size: u64, expected: u64) -> Result<(), Stop> {
            (size == expected).then_some(()).ok_or_else(|| Stop::failed(format!("{size}")))
        }
        assert_eq!(own(Rehearsal::on("torus", &[4, 3]), |p| is(p.group("k")?, 3)), Ok(()));
        assert_eq!(own(Rehearsal::on("ring", &[4]), |p| is(p.group("k")?, 4)), Ok(()));
        assert_eq!(outcome("k", "2", |p| is(p.group("k")?, 2)), Ok(()));
        assert_eq!(
            outcome("k", "0", |p| is(p.group("k")?, 0)),
            failed("`k=0`: expected a whole number from 1")
        );
        let uneven = Stop::unsupported("4 nodes do not fall into groups of 3");
        assert_eq!(outcome("k", "3", |p| is(p.group("k")?, 3)), Err(uneven));
    }

    #[test]
    fn only_what_is_declared_can_be_asked_for() {
        let asks = |read| outcome("k", "1", read);
        let undeclared = "the algorithm asks for `fan`, a parameter that it does not declare";
        assert_eq!(asks(|p| p.param::<u64>("fan").map(|_| ())), failed(undeclared));
        assert_eq!(asks(|p| p.given::<u64>("fan").map(|_| ())), failed(undeclared));
        assert_eq!(asks(|p| p.choice("fan", &CORNERS).map(|_| ())), failed(undeclared));
        assert_eq!(
            asks(|p| p.choice("corner", &CORNERS[..1]).map(|_| ())),
            failed(
                "`corner` is declared as one of [\"round\", \"sharp\"] and read as one of [\"round\"]"
            )
        );
        assert_eq!(
            asks(|p| p.param::<String>("free").map(|_| ())),
            failed("`free` was not given and declares no default")
        );
    }

    /// A topology that its neighbours in the host's memory are bases of.
    #[test]
    fn a_dual_net_says_its_levels_and_its_base() {
        let rehearsal = Rehearsal::dual_net(2, "torus", &[3, 3]);
        let read = Reads(|p| {
            let topology = p.topology();
            let (base, levels) = topology.base().unwrap();
            assert_eq!((topology.kind(), topology.spec(), levels), ("rdn", "rdn:2(torus:3x3)", 2));
            assert_eq!(
                (base.kind(), base.dims(), base.nodes(), base.base().is_none()),
                ("torus", &[3, 3][..], 9, true)
            );
            assert_eq!(topology.dims(), [2, 2, 3, 3, 3, 3, 2, 3, 3, 3, 3]);
            assert_eq!(
                (topology.nodes(), topology.grid()?.nodes()),
                (2 * 162 * 162, 2 * 162 * 162)
            );
            Ok(())
        });
        assert_eq!(rehearsal.plan(&read), Ok(Vec::new()));
    }
}
