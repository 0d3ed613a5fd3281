//! Decision tables from a sweep. With such a table, an MPI library, NCCL or a similar library
//! chooses its algorithm by the number of ranks and the bytes. If the fastest algorithm differs
//! between two consecutive sizes of the sweep, the rule for the second algorithm begins at the
//! larger size. Each library is one entry of [`LIBRARIES`].

use std::collections::{BTreeMap, BTreeSet};
use swapmeet_core::spec::Spec;
use swapmeet_core::system::{LibraryAlgorithm, System};

mod environment;
mod mpich;
mod nccl;
mod openmpi;

#[derive(Debug)]
pub struct Library {
    pub name: &'static str,
    pub help: &'static str,
    algorithms: &'static [Algorithm],
    limits_requests: bool,
    /// Whether new rules are merged into the library's own table, which the user must then state.
    pub is_patch: bool,
    write: fn(&[DecisionTable], Option<&str>) -> Result<String, String>,
    /// The origin of the library's default choices, as a text for users.
    pub default_source: &'static str,
    defaults: fn(Option<&str>) -> Result<Option<DefaultChoice>, String>,
}

/// Returns the algorithm that the library chooses by default, or `None` if this is unknown.
type DefaultChoice = Box<dyn Fn(&TimedCase) -> Option<Choice>>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    /// The rule that states this choice; `None` if this project does not have the algorithm.
    rule: Option<Rule>,
    theirs: String,
}

pub static LIBRARIES: [Library; 8] = [
    Library {
        name: "openmpi",
        help: "Open MPI's rules file, as every release reads it (coll_tuned_dynamic_rules_filename)",
        algorithms: &openmpi::ALGORITHMS,
        limits_requests: false,
        is_patch: false,
        write: |tables, _| Ok(openmpi::classic(tables, 1)),
        default_source: "Open MPI 4.1",
        defaults: openmpi::defaults,
    },
    Library {
        name: "openmpi-2",
        help: "Open MPI's rules file, version 2, which can limit outstanding requests: from Open MPI 5.0.7 on",
        algorithms: &openmpi::ALGORITHMS,
        limits_requests: true,
        is_patch: false,
        write: |tables, _| Ok(openmpi::classic(tables, 2)),
        default_source: "Open MPI 4.1",
        defaults: openmpi::defaults,
    },
    Library {
        name: "openmpi-json",
        help: "Open MPI's rules file as JSON, version 3: from Open MPI 6 on",
        algorithms: &openmpi::ALGORITHMS,
        limits_requests: true,
        is_patch: false,
        write: |tables, _| Ok(openmpi::json(tables)),
        default_source: "Open MPI 4.1",
        defaults: openmpi::defaults,
    },
    Library {
        name: "nccl",
        help: "the CSV of NCCL's example tuner plugin, which does not cover all-to-all",
        algorithms: &nccl::ALGORITHMS,
        limits_requests: false,
        is_patch: false,
        write: |tables, _| Ok(nccl::csv(tables)),
        default_source: "NCCL",
        // NCCL chooses with its own model of the machine, so its default choices are unknown here.
        defaults: |_| Ok(None),
    },
    Library {
        name: "ncclx",
        help: "the CSV of the tuner in Meta's NCCLX, which does not cover all-to-all; needs --system",
        algorithms: &nccl::ALGORITHMS,
        limits_requests: false,
        is_patch: false,
        write: |tables, _| nccl::ncclx(tables),
        default_source: "NCCLX",
        defaults: |_| Ok(None),
    },
    Library {
        name: "oneccl",
        help: "settings of oneCCL's environment variables, such as CCL_ALLREDUCE",
        algorithms: &environment::ONECCL,
        limits_requests: false,
        is_patch: false,
        write: |tables, _| environment::oneccl(tables),
        default_source: "oneCCL",
        // The default choice depends on the transport and on where the buffers are.
        defaults: |_| Ok(None),
    },
    Library {
        name: "ucc",
        help: "UCC's environment variable UCC_TL_UCP_TUNE",
        algorithms: &environment::UCC,
        limits_requests: false,
        is_patch: false,
        write: |tables, _| Ok(environment::ucc(tables)),
        default_source: "UCC",
        // The default choice depends on the kind of processor (contrib/ucc.conf).
        defaults: |_| Ok(None),
    },
    Library {
        name: "mpich",
        help: "MPICH's selection JSON: the table given with --base, changed by the new rules",
        algorithms: &mpich::ALGORITHMS,
        limits_requests: false,
        is_patch: true,
        write: mpich::json,
        default_source: "the table of --base",
        defaults: mpich::defaults,
    },
];

pub fn library(name: &str) -> Option<&'static Library> {
    LIBRARIES.iter().find(|library| library.name == name)
}

/// The time of one algorithm in a sweep, for one number of ranks and one block size.
#[derive(Debug, Clone)]
pub struct TimedCase {
    pub collective: String,
    pub ranks: u64,
    pub bytes: u64,
    pub algorithm: String,
    /// The protocol of NCCL, such as `LL128`; empty if the machine has none.
    pub protocol: String,
    /// The system, its number of domains, and the GPUs in each domain; `None` if unknown.
    pub system: Option<(&'static System, u64, u64)>,
    /// The time of the case in µs. For several repetitions, it is one value, such as their mean.
    pub time_us: f64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionTable {
    collective: &'static str,
    /// Each number of ranks, with its rules and the sizes from which they apply, in ascending
    /// order.
    entries: Vec<(u64, Vec<(u64, Rule)>)>,
}

/// The loss from using a given algorithm instead of the fastest one.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    pub collective: String,
    pub ranks: u64,
    pub bytes: u64,
    pub used: String,
    pub best: String,
    /// The time of the given algorithm divided by the time of the fastest algorithm.
    pub ratio: f64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncompared {
    pub collective: String,
    pub algorithm: String,
    /// Whether a table of the library could name other algorithms for this collective.
    pub has_others: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct DefaultLosses {
    pub losses: Vec<Loss>,
    /// Algorithms that the library chooses but the sweep lacks, with the number of such choices.
    pub without_a_time: BTreeMap<String, u64>,
}

impl Library {
    /// Formats decision tables. `base` is the library's own table, if rules are merged into it.
    pub fn written(&self, tables: &[DecisionTable], base: Option<&str>) -> Result<String, String> {
        (self.write)(tables, base)
    }

    fn ours(&self) -> String {
        let names: BTreeSet<String> =
            self.algorithms.iter().map(|a| format!("{} ({})", a.ours, a.collective)).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    }

    fn rule(&self, case: &TimedCase) -> Option<Rule> {
        self.algorithms.iter().find_map(|algorithm| algorithm.rule(case, self.limits_requests))
    }

    pub fn name_of(&self, case: &TimedCase) -> Option<&'static str> {
        self.rule(case).map(|rule| rule.algorithm.name)
    }

    pub fn collectives_of_systems(&self) -> BTreeSet<&'static str> {
        let of_system = |a: &&Algorithm| a.parameter == Some(Parameter::OfSystem);
        self.algorithms.iter().filter(of_system).map(|a| a.collective).collect()
    }

    /// Returns tables of the fastest algorithms. If nothing can be decided, the error states the
    /// reason.
    pub fn decide(&self, cases: &[TimedCase]) -> Result<Vec<DecisionTable>, String> {
        let mut fastest: BTreeMap<(&str, u64, u64), (f64, Rule)> = BTreeMap::new();
        for case in cases {
            let Some(rule) = self.rule(case) else { continue };
            let best = fastest
                .entry((rule.algorithm.collective, case.ranks, case.bytes))
                .or_insert((case.time_us, rule));
            if case.time_us < best.0 {
                *best = (case.time_us, rule);
            }
        }
        if fastest.is_empty() {
            return Err(format!(
                "no row has a time of an algorithm that the library's rules can express: {}",
                self.ours()
            ));
        }
        let mut tables: Vec<DecisionTable> = Vec::new();
        for ((collective, ranks, bytes), (_, rule)) in fastest {
            if tables.last().is_none_or(|table| table.collective != collective) {
                let collective = rule.algorithm.collective;
                tables.push(DecisionTable { collective, entries: Vec::new() });
            }
            let Some(table) = tables.last_mut() else { continue };
            match table.entries.last_mut() {
                Some((known, rules)) if *known == ranks => {
                    if rules.last().is_none_or(|(_, before)| *before != rule) {
                        rules.push((bytes, rule));
                    }
                }
                // The first rule begins at 0, so that it also applies to blocks below those of the
                // sweep.
                Some(_) | None => table.entries.push((ranks, vec![(0, rule)])),
            }
        }
        Ok(tables)
    }

    pub fn uncompared(&self, cases: &[TimedCase]) -> Vec<Uncompared> {
        let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for Rule { algorithm, .. } in cases.iter().filter_map(|case| self.rule(case)) {
            found.entry(algorithm.collective).or_default().insert(algorithm.ours);
        }
        let only = |(collective, names): (&str, BTreeSet<&str>)| {
            let has_others =
                self.algorithms.iter().filter(|a| a.collective == collective).count() > 1;
            let algorithm = names.first().map(|name| (*name).to_owned())?;
            let collective = collective.to_owned();
            (names.len() == 1).then_some(Uncompared { collective, algorithm, has_others })
        };
        found.into_iter().filter_map(only).collect()
    }

    /// Returns the losses if `default` is always used instead of the library's fastest algorithm.
    pub fn losses(&self, cases: &[TimedCase], default: &str) -> Vec<Loss> {
        cases
            .iter()
            .filter(|case| case.algorithm == default)
            .filter_map(|used| self.loss(cases, used))
            .collect()
    }

    /// Returns the losses from the library's default choices, if known. `base` is its own table.
    pub fn losses_of_defaults(
        &self,
        cases: &[TimedCase],
        base: Option<&str>,
    ) -> Result<Option<DefaultLosses>, String> {
        let Some(chosen) = (self.defaults)(base)? else { return Ok(None) };
        let mut found = DefaultLosses::default();
        // This map has one entry, any case, for each collective, number of ranks and block size.
        let problems: BTreeMap<(&str, u64, u64), &TimedCase> =
            cases.iter().map(|case| ((&*case.collective, case.ranks, case.bytes), case)).collect();
        for (problem, any) in problems {
            let Some(Choice { rule, theirs }) = chosen(any) else { continue };
            let mut alike =
                cases.iter().filter(|case| (&*case.collective, case.ranks, case.bytes) == problem);
            match alike
                .find(|case| rule.is_some() && self.rule(case) == rule)
                .and_then(|used| self.loss(cases, used))
            {
                Some(loss) => found.losses.push(loss),
                None => *found.without_a_time.entry(theirs).or_default() += 1,
            }
        }
        Ok(Some(found))
    }

    fn loss(&self, cases: &[TimedCase], used: &TimedCase) -> Option<Loss> {
        let of = |one: &TimedCase, other: &TimedCase| {
            (&one.collective, one.ranks, one.bytes) == (&other.collective, other.ranks, other.bytes)
        };
        let alike = cases.iter().filter(|case| self.rule(case).is_some() && of(case, used));
        let best = alike.min_by(|a, b| a.time_us.total_cmp(&b.time_us))?;
        Some(Loss {
            collective: used.collective.clone(),
            ranks: used.ranks,
            bytes: used.bytes,
            used: used.algorithm.clone(),
            best: best.algorithm.clone(),
            ratio: used.time_us / best.time_us,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    collective: &'static str,
    ours: &'static str,
    name: &'static str,
    /// The library's number of the algorithm; 0 if the algorithm has no number.
    number: u32,
    /// The fan-out with which the library's algorithm is the same as ours; 0 if it has no fan-out.
    fan: u32,
    /// The only parameter of our algorithm that a rule can express.
    parameter: Option<Parameter>,
}

const fn algorithm(collective: &'static str, ours: &'static str, name: &'static str) -> Algorithm {
    Algorithm { collective, ours, name, number: 0, fan: 0, parameter: None }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameter {
    /// The parameter `segments` (segments of a block), with its default. A rule states their size.
    Segments(u64),
    /// The parameter `window` (messages that a rank sends at the same time), with its default.
    Window(u64),
    /// The parameters that the spec in [`System::library`] has for this algorithm.
    OfSystem,
}

/// An algorithm with the parameters that a library's rule states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    algorithm: Algorithm,
    /// The bytes of a segment; 0 if messages are not divided.
    segment_bytes: u64,
    /// The maximum number of messages in flight; 0 if there is no limit.
    max_requests: u64,
    /// The protocol of NCCL; empty in rules of other libraries.
    protocol: &'static str,
    /// The number of domains and the number of GPUs in each; `None` if the system is unknown.
    domains: Option<[u64; 2]>,
}

impl From<Algorithm> for Rule {
    /// Returns a rule that divides no messages and does not limit the number of messages in flight.
    fn from(algorithm: Algorithm) -> Self {
        let (segment_bytes, max_requests) = (0, 0);
        Self { algorithm, segment_bytes, max_requests, protocol: "", domains: None }
    }
}

impl Algorithm {
    /// Returns the rule that states this algorithm with the parameters of a timed case, if there is
    /// one. If `limits_requests`, the library can limit the number of messages in flight.
    fn rule(&self, case: &TimedCase, limits_requests: bool) -> Option<Rule> {
        let (ours, parameters) = match case.algorithm.split_once(':') {
            Some((ours, parameters)) => (ours, Some(parameters)),
            None => (&*case.algorithm, None),
        };
        if (self.collective, self.ours) != (&*case.collective, ours) {
            return None;
        }
        let rule = Rule::from(*self);
        let value = |name: &str, default| match parameters {
            Some(text) => text.strip_prefix(name)?.strip_prefix('=')?.parse().ok(),
            None => Some(default),
        };
        match self.parameter {
            None => parameters.is_none().then_some(rule),
            Some(Parameter::Segments(default)) => {
                let segments = value("segments", default).filter(|segments| *segments > 0)?;
                let segment_bytes = case.bytes.div_ceil(segments);
                match segments {
                    1 => Some(rule),
                    // The library divides by size. With segments of 2 bytes, it would divide a
                    // block of 10 bytes into 5 segments instead of our 8.
                    _ if segment_bytes == 0 || case.bytes.div_ceil(segment_bytes) != segments => {
                        None
                    }
                    _ => Some(Rule { segment_bytes, ..rule }),
                }
            }
            Some(Parameter::OfSystem) => {
                let Some((system, domains, gpus)) = case.system else {
                    let is_ring = self.name == "ring" && parameters.is_none();
                    return is_ring.then_some(Rule { protocol: "Simple", ..rule });
                };
                let all = system.library(self.collective, domains, gpus);
                let own = all.iter().find(|own| own.name == self.name)?;
                // If the library does not have this protocol for this algorithm, there is no rule.
                let protocol = match &*case.protocol {
                    "" => "Simple",
                    given => own.protocols.iter().find(|protocol| **protocol == given)?,
                };
                let domains = Some([domains, gpus]);
                is_run_by(own, &case.algorithm).then_some(Rule { protocol, domains, ..rule })
            }
            Some(Parameter::Window(default)) => {
                let window = value("window", default)?;
                match window >= case.ranks.saturating_sub(1) {
                    true => Some(rule),
                    false => limits_requests.then_some(Rule { max_requests: window, ..rule }),
                }
            }
        }
    }
}

/// Returns whether `spec` is the spec of a library's algorithm. Its parameters can be in any order.
fn is_run_by(own: &LibraryAlgorithm, spec: &str) -> bool {
    let sorted = |text: &str| {
        let spec = Spec::parse("algorithm", text).ok()?;
        let arguments: BTreeSet<String> =
            spec.args().iter().map(|arg| format!("{:?}={}", arg.key(), arg.value())).collect();
        Some((spec.name().to_owned(), arguments))
    };
    sorted(spec).is_some_and(|spec| sorted(&own.spec) == Some(spec))
}

#[cfg(test)]
mod tests;
