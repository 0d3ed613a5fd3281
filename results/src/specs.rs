//! Texts of specs in rows.

use std::borrow::Cow;
use swapmeet_core::cost::machine::Machine;

/// Returns the value of a parameter at the outermost level of a spec.
pub(crate) fn parameter<'a>(spec: &'a str, key: &str) -> Option<&'a str> {
    let parts = spec.split_once(':').map_or(spec, |(_, rest)| rest).split(',');
    parts.into_iter().find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
}

/// Returns a spec without one of the parameters at its outermost level.
pub(crate) fn without<'a>(spec: &'a str, key: &str) -> Cow<'a, str> {
    if parameter(spec, key).is_none() {
        return Cow::Borrowed(spec);
    }
    let (name, rest) = spec.split_once(':').unwrap_or(("", spec));
    let is_other = |part: &&str| part.strip_prefix(key).is_none_or(|rest| !rest.starts_with('='));
    let kept = rest.split(',').filter(is_other).collect::<Vec<_>>().join(",");
    Cow::Owned(if kept.is_empty() { name.to_owned() } else { format!("{name}:{kept}") })
}

/// Returns a machine's spec without the values that its preset has anyway. Returns a text that is
/// not a machine's spec unchanged.
pub(crate) fn short_machine(spec: &str) -> Cow<'_, str> {
    Machine::parse(spec).map_or(Cow::Borrowed(spec), |machine| Cow::Owned(machine.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_removed_from_specs() {
        let topology = "torus:8x8,place=random:3,routing=ecmp";
        assert_eq!(parameter(topology, "place"), Some("random:3"));
        assert_eq!(without(topology, "place"), "torus:8x8,routing=ecmp");
        assert_eq!(without("paragon:model=circuit", "model"), "paragon");
        assert_eq!(without("paragon", "model"), "paragon");
    }
}
