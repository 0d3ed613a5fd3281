//! The arguments that may follow the arguments of any family. Their order here is their order in
//! the canonical form of a spec, and the order in which they are applied.

use crate::spec::{Arg, Spec};

/// An argument of every topology.
#[derive(Debug)]
pub struct TopologyOption {
    /// The key of the argument.
    pub name: &'static str,
    /// A short description, for completions.
    pub help: &'static str,
    /// Returns whether a value has random properties without a seed of their own.
    is_random: fn(&str) -> bool,
}

/// The arguments that may follow the network's own arguments in any spec.
pub static OPTIONS: [TopologyOption; 7] = [
    TopologyOption::new("down", "failed links, such as 12-13", |_| false),
    TopologyOption::new("slow", "slow links, such as 12-13:0.5", |_| false),
    TopologyOption::new("faults", "a number of random failed links", |value| !value.contains(':')),
    TopologyOption::new("slow-links", "a number of random slow links, such as 3:0.5", |value| {
        value.matches(':').count() == 1
    }),
    TopologyOption::new("ranks", "ranks of each node", |_| false),
    TopologyOption::new(
        "place",
        "placement of ranks: block, cyclic, random, random:SEED, hilbert, fold:SHAPE or file:FILE",
        |value| value == "random",
    ),
    TopologyOption::new("routing", "minimal, valiant or ecmp", |value| value != "minimal"),
];

impl TopologyOption {
    const fn new(name: &'static str, help: &'static str, is_random: fn(&str) -> bool) -> Self {
        Self { name, help, is_random }
    }
}

/// Returns the keys of [`OPTIONS`].
pub(super) fn names<'a>() -> impl Iterator<Item = &'a str> {
    OPTIONS.iter().map(|option| option.name)
}

fn option(arg: &Arg) -> Option<&'static TopologyOption> {
    OPTIONS.iter().find(|option| arg.key() == Some(option.name))
}

/// The options in a spec.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options<'a> {
    pub(super) spec: &'a Spec,
    args: &'a [Arg],
}

impl<'a> Options<'a> {
    /// Splits a spec into the family's own spec and the options that follow it.
    pub(super) fn split(spec: &'a Spec, text: &'a str) -> (&'a str, Self) {
        let own = spec.args().iter().rposition(|arg| option(arg).is_none());
        let args = &spec.args()[own.map_or(0, |last| last + 1)..];
        // A colon or comma precedes the first option.
        let end = args.first().map_or(text.len(), |arg| arg.at() - 1);
        (&text[..end], Self { spec, args })
    }

    /// Returns the argument with this key.
    pub(super) fn get(&self, name: &str) -> Option<&'a Arg> {
        self.args.iter().find(|arg| arg.key() == Some(name))
    }
}

/// Returns whether a spec has random properties without a seed of their own, so that
/// [`Network::sample`](super::Network::sample) draws them from the seed of the repetition. The
/// spec need not be valid, and files are not read.
///
/// ```
/// use swapmeet_core::network::topology::is_random;
/// assert!(is_random("torus:4x4,faults=2") && !is_random("torus:4x4,faults=2:7"));
/// ```
pub fn is_random(spec: &str) -> bool {
    let Ok(spec) = Spec::parse("topology", spec) else { return false };
    let is_random = |arg: &Arg| option(arg).is_some_and(|option| (option.is_random)(arg.value()));
    spec.args().iter().any(is_random)
}
