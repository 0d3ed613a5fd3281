use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::spec::Spec;

pub(crate) fn argument<'a>(spec: &'a str, key: &str) -> Option<&'a str> {
    let parsed = Spec::parse("spec", spec).ok()?;
    let arg = parsed.args().iter().find(|arg| arg.key() == Some(key))?;
    spec.get(arg.value_at()..arg.value_at() + arg.value().len())
}

/// Returns a spec without the argument with this key. Arguments of inner specs are kept.
pub(crate) fn without<'a>(spec: &'a str, key: &str) -> Cow<'a, str> {
    let Ok(parsed) = Spec::parse("spec", spec) else { return Cow::Borrowed(spec) };
    if parsed.args().iter().all(|arg| arg.key() != Some(key)) {
        return Cow::Borrowed(spec);
    }
    let others = parsed.args().iter().filter(|arg| arg.key() != Some(key));
    let kept: Vec<&str> =
        others.filter_map(|arg| spec.get(arg.at()..arg.at() + arg.len())).collect();
    let name = parsed.name();
    Cow::Owned(if kept.is_empty() { name.to_owned() } else { format!("{name}:{}", kept.join(",")) })
}

/// Returns a machine's spec without the values of its preset. Other texts stay unchanged.
pub(crate) fn short_machine(spec: &str) -> Cow<'_, str> {
    const MOST: usize = 1_000;
    thread_local! {
        /// A cache of short specs. Without it, parsing machines would be the slowest part of the
        /// analysis of rows.
        static KNOWN: RefCell<HashMap<String, String>> = RefCell::default();
    }
    let shorten = || Machine::parse(spec).map_or_else(|_| spec.to_owned(), |m| m.to_string());
    KNOWN.with_borrow_mut(|known| {
        if let Some(short) = known.get(spec) {
            return Cow::Owned(short.clone());
        }
        if known.len() >= MOST {
            known.clear();
        }
        let short = shorten();
        known.insert(spec.to_owned(), short.clone());
        Cow::Owned(short)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_removed_from_specs() {
        let topology = "torus:8x8,place=random:3,routing=ecmp";
        assert_eq!(argument(topology, "place"), Some("random:3"));
        assert_eq!(without(topology, "place"), "torus:8x8,routing=ecmp");
        assert_eq!(without("paragon:model=circuit", "model"), "paragon");
        assert_eq!(without("paragon", "model"), "paragon");
    }

    #[test]
    fn nested_specs_keep_their_arguments() {
        let nested = "rdn:1(jellyfish:8x3x1,seed=2),ranks=2";
        assert_eq!((argument(nested, "seed"), argument(nested, "ranks")), (None, Some("2")));
        assert_eq!(without(nested, "ranks"), "rdn:1(jellyfish:8x3x1,seed=2)");
    }
}
