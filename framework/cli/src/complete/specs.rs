use super::candidate;
use crate::args::PluginArgs;
use crate::run;
use clap_complete::engine::CompletionCandidate;
use std::collections::BTreeMap;
use swapmeet_core::cost::machine::{Machine, presets};
use swapmeet_core::cost::model::models;
use swapmeet_core::delivery::collective::{ALL_TO_ALL, COLLECTIVES};
use swapmeet_core::network::topology::{OPTIONS, families};
use swapmeet_core::system;
use swapmeet_results::analysis::Axis;
use swapmeet_results::{By, columns};
use swapmeet_runner::plugin::Algorithm;
use swapmeet_runner::registry::{OTHER_NAMES, Registry};
use swapmeet_workloads::{common_arguments, generators};

/// A spec of which the user is typing the last argument.
#[derive(Debug, PartialEq)]
struct Begun<'a> {
    name: &'a str,
    /// The text before the last argument, including the separator.
    before: &'a str,
    has_others: bool,
}

impl<'a> Begun<'a> {
    /// Returns `None` if the user is typing the name or a value instead of a key. Commas in
    /// parentheses do not separate arguments, because they belong to an inner spec.
    fn of(typed: &'a str) -> Option<Self> {
        let (name, _) = typed.split_once(':')?;
        let first = name.len() + 1;
        let (mut depth, mut start, mut has_others) = (0, first, false);
        for (at, c) in typed.char_indices().skip_while(|(at, _)| *at < first) {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                ',' if depth == 0 => (start, has_others) = (at + 1, true),
                _ => {}
            }
        }
        let (before, last) = typed.split_at(start);
        (!last.contains('=') && depth == 0).then_some(Self { name, before, has_others })
    }

    fn with(&self, keys: impl IntoIterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
        let is_new = |key: &str| {
            let has = |separator| self.before.contains(&format!("{separator}{key}="));
            !has(':') && !has(',')
        };
        keys.into_iter()
            .filter(|(key, _)| is_new(key))
            .map(|(key, help)| candidate(format!("{}{key}=", self.before), help))
            .collect()
    }
}

fn owned((key, help): (&str, &str)) -> (String, String) {
    (key.to_owned(), help.to_owned())
}

/// Returns the keys of a syntax. For example, `slim-fly:Q,nodes=P` has the key `nodes`.
fn keys_in(syntax: &str) -> impl Iterator<Item = &str> {
    let (_, arguments) = syntax.split_once(':').unwrap_or_default();
    arguments.split(',').filter_map(|argument| Some(argument.split_once('=')?.0))
}

pub(super) fn topologies(typed: &str) -> Vec<CompletionCandidate> {
    let whole = families().iter().map(|family| {
        candidate(format!("{}:", family.name), format!("{}: {}", family.syntax, family.help))
    });
    // A topology's first argument is its shape, which has no key: keys are completed after it.
    let Some(begun) = Begun::of(typed).filter(|begun| begun.has_others) else {
        return whole.collect();
    };
    let own = families().iter().filter(|family| family.name == begun.name);
    let own = own.flat_map(|family| keys_in(family.syntax).map(|key| (key, family.syntax)));
    let options = OPTIONS.iter().map(|option| (option.name, option.help));
    begun.with(own.chain(options).map(owned))
}

pub(super) fn algorithms(typed: &str) -> Vec<CompletionCandidate> {
    let registry = run::registry(&PluginArgs::default());
    let Some(begun) = Begun::of(typed) else {
        let named = |registry: &Registry, a: &Algorithm| {
            candidate(registry.spec_name(&a.name, &a.plugin.name), a.title.as_str())
        };
        return registry
            .iter()
            .flat_map(|registry| registry.algorithms().map(move |a| named(registry, a)))
            .chain(OTHER_NAMES.iter().map(|(other, name)| candidate(*other, format!("see {name}"))))
            .collect();
    };
    let name = OTHER_NAMES.iter().find(|(other, _)| *other == begun.name);
    let name = name.map_or(begun.name, |(_, name)| *name);
    let found = registry.iter().filter_map(|registry| registry.algorithm(name).ok());
    let params: Vec<_> = found.flat_map(|a| a.params.clone()).collect();
    begun.with(params.into_iter().map(|param| (param.key, param.help)))
}

pub(super) fn workloads(typed: &str) -> Vec<CompletionCandidate> {
    // The name of a collective may precede the workload, as in `allreduce/uniform:64`.
    let (prefix, rest) = typed.split_once('/').unwrap_or(("", typed));
    let collective = COLLECTIVES.into_iter().find(|kind| kind.word == prefix);
    if collective.is_none() && !prefix.is_empty() {
        return Vec::new();
    }
    let kind = collective.unwrap_or(&ALL_TO_ALL);
    let front = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
    let Some(begun) = Begun::of(rest) else {
        let words = COLLECTIVES.into_iter().filter(|_| prefix.is_empty());
        return generators(kind)
            .map(|g| candidate(format!("{front}{}:", g.name), format!("{}: {}", g.syntax, g.help)))
            .chain(words.map(|kind| candidate(format!("{}/", kind.word), "a collective")))
            .collect();
    };
    let own = generators(kind).filter(|generator| generator.name == begun.name);
    let own = own.flat_map(|g| g.keys.iter().map(|key| (*key, g.syntax)));
    let common = common_arguments(kind).map(|argument| (argument.key, argument.help));
    let keys = own.chain(common).filter(|(key, _)| !key.is_empty());
    let before = format!("{front}{}", begun.before);
    Begun { before: &before, ..begun }.with(keys.map(owned))
}

pub(super) fn machines(typed: &str) -> Vec<CompletionCandidate> {
    let Some(begun) = Begun::of(typed) else {
        return presets().iter().map(|preset| candidate(preset.name, preset.title)).collect();
    };
    // The cost model follows from the text before the last argument, and determines the parameters.
    let so_far = begun.before.trim_end_matches([':', ',']);
    let Ok(machine) = Machine::parse(so_far).or_else(|_| Machine::parse(begun.name)) else {
        return Vec::new();
    };
    let parameters = machine.values().into_iter().map(|value| value.parameter);
    let names: Vec<&str> = models().iter().map(|model| model.name).collect();
    let model = ("model".to_owned(), names.join(", "));
    begun.with(parameters.map(|p| owned((p.key(), p.meaning()))).chain([model]))
}

pub(super) fn systems(typed: &str) -> Vec<CompletionCandidate> {
    let Some(begun) = Begun::of(typed).filter(|begun| begun.has_others) else {
        let all = system::systems().iter();
        return all.map(|system| candidate(system.example(), system.title)).collect();
    };
    let so_far = begun.before.trim_end_matches(',');
    let expanded = system::expand(so_far).ok().map(|expanded| expanded.machine);
    let Some(machine) = expanded.and_then(|machine| Machine::parse(&machine).ok()) else {
        return Vec::new();
    };
    let parameters = machine.values().into_iter().map(|value| value.parameter);
    begun.with(parameters.map(|p| owned((p.key(), p.meaning()))))
}

pub(super) fn axes(_typed: &str) -> Vec<CompletionCandidate> {
    let own = Axis::ALL.iter().map(|axis| candidate(axis.name(), axis.label()));
    own.chain(numbers()).collect()
}

/// Completes a pair of axes such as `x,y`.
pub(super) fn pairs_of_axes(typed: &str) -> Vec<CompletionCandidate> {
    let before = typed.find(',').map_or("", |at| &typed[..=at]);
    let all = axes(typed).into_iter().chain(columns().map(|name| candidate(name, "a column")));
    all.map(|axis| axis.add_prefix(before)).collect()
}

pub(super) fn properties(_typed: &str) -> Vec<CompletionCandidate> {
    let own = By::ALL.iter().map(|by| candidate(by.label(), "compare along it"));
    own.chain(numbers()).collect()
}

fn numbers() -> impl Iterator<Item = CompletionCandidate> {
    let mut numbers = BTreeMap::new();
    let registry = run::registry(&PluginArgs::default());
    let algorithms = registry.iter().flat_map(Registry::algorithms);
    numbers
        .extend(algorithms.flat_map(|a| a.params.iter().map(|p| (p.key.clone(), p.help.clone()))));
    numbers.extend(OPTIONS.iter().map(|option| owned((option.name, option.help))));
    for model in models() {
        let Ok(machine) = Machine::parse(&format!("free:model={}", model.name)) else { continue };
        let parameters = machine.values().into_iter().map(|value| value.parameter);
        let numbers_of_it = parameters.filter(|p| machine.number(p.key()).is_some());
        numbers.extend(numbers_of_it.map(|p| owned((p.key(), p.meaning()))));
    }
    for kind in COLLECTIVES {
        let keys = generators(kind).flat_map(|g| g.keys.iter().map(|key| (*key, g.syntax)));
        numbers.extend(keys.filter(|(key, _)| !key.is_empty()).map(owned));
    }
    numbers.into_iter().map(|(key, help)| candidate(key, help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_found_outside_of_parentheses() {
        let of = |typed| Begun::of(typed).map(|begun| (begun.name, begun.before, begun.has_others));
        assert_eq!(of("torus:8x8,pl"), Some(("torus", "torus:8x8,", true)));
        assert_eq!(of("rdn:2(torus:5x5,a),"), Some(("rdn", "rdn:2(torus:5x5,a),", true)));
        assert_eq!(of("free:"), Some(("free", "free:", false)));
        assert_eq!([of("tor"), of("free:startup_us=1"), of("rdn:2(torus:5")], [None; 3]);
    }

    #[test]
    fn options_of_topologies_are_valid() {
        let values = ["0-1", "0-1:0.5", "1", "1:0.5", "2", "cyclic", "minimal"];
        for (option, value) in OPTIONS.iter().zip(values) {
            let spec = format!("torus:4x4,{}={value}", option.name);
            assert!(swapmeet_core::network::topology::parse(&spec).is_ok(), "{spec}");
        }
    }
}
