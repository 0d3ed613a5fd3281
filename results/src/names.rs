//! Short names of specs for tables and figures. What several specs share is stated once.

use std::collections::BTreeSet;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::spec::Spec;
use swapmeet_workloads::default_number;

/// Divides specs into the part that all have in common and their own parts.
///
/// Specs with different names have nothing in common. If specs differ only in arguments with keys,
/// these arguments are their own parts. If a spec states none of these arguments, its own part has
/// their default values. If specs differ in other arguments, too, each own part begins with the
/// name. Machines that an experiment defines, `NAME (DEFINITION)`, are represented by their names
/// if all names differ.
///
/// ```
/// use swapmeet_results::without_common_parts;
/// let (common, own) = without_common_parts(&["moe:top=2,tokens=16", "moe:top=2,tokens=64,skew=1"]);
/// assert_eq!((&*common, &own[..]), ("moe:top=2", &["tokens=16".to_owned(), "tokens=64,skew=1".to_owned()][..]));
/// let (common, own) = without_common_parts(&["torus:4x4,faults=1", "torus:8x8,faults=1"]);
/// assert_eq!((&*common, &own[..]), ("faults=1", &["torus:4x4".to_owned(), "torus:8x8".to_owned()][..]));
/// ```
pub fn without_common_parts(specs: &[&str]) -> (String, Vec<String>) {
    let is_same = specs.windows(2).all(|pair| pair[0] == pair[1]);
    if is_same {
        let common = specs.first().map_or(String::new(), |spec| (*spec).to_owned());
        return (common, vec![String::new(); specs.len()]);
    }
    let names: Vec<&str> = specs.iter().map(|spec| defined_name(spec)).collect();
    let distinct = |texts: &[&str]| texts.iter().collect::<BTreeSet<_>>().len();
    let specs = if distinct(&names) == distinct(specs) { &names } else { specs };
    let unchanged =
        || (String::new(), specs.iter().map(|spec| (*spec).to_owned()).collect::<Vec<_>>());
    let read: Option<Vec<(Spec, Vec<&str>)>> = specs.iter().map(|spec| arguments(spec)).collect();
    let Some(read) = read else { return unchanged() };
    let name = read[0].0.name();
    if read.iter().any(|(spec, _)| spec.name() != name) {
        return unchanged();
    }
    let is_common = |argument: &&str| read.iter().all(|(_, own)| own.contains(argument));
    let has_key = |argument: &&str| argument.contains('=');
    let own = |(_, arguments): &(Spec, Vec<&str>)| -> Vec<String> {
        arguments.iter().filter(|arg| !is_common(arg)).map(|arg| (*arg).to_owned()).collect()
    };
    let common: Vec<&str> = read[0].1.iter().filter(|arg| is_common(arg)).copied().collect();
    let all_have_keys =
        read.iter().all(|(_, own)| own.iter().all(|arg| is_common(arg) || has_key(arg)));
    let named = |arguments: &[String]| match arguments {
        [] => name.to_owned(),
        arguments => format!("{name}:{}", arguments.join(",")),
    };
    if all_have_keys {
        let own_parts: Vec<Vec<String>> = read.iter().map(own).collect();
        let mut keys: Vec<&str> = Vec::new();
        for key in own_parts.iter().flatten().filter_map(|arg| arg.split('=').next()) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let own = specs.iter().zip(&own_parts).map(|(spec, arguments)| match &arguments[..] {
            [] => defaults(spec, &keys),
            arguments => arguments.join(","),
        });
        let common: Vec<String> = common.into_iter().map(str::to_owned).collect();
        let common = if common.is_empty() { String::new() } else { named(&common) };
        return (common, own.collect());
    }
    (common.join(","), read.iter().map(|spec| named(&own(spec))).collect())
}

/// Returns a part for a spec without these arguments: their default values, or their keys.
fn defaults(spec: &str, keys: &[&str]) -> String {
    let value = |key: &&str| {
        let of_machine = || Machine::parse(spec).ok()?.number(key);
        default_number(spec, key).or_else(of_machine).map(|value| format!("{key}={value}"))
    };
    let known: Vec<String> = keys.iter().filter_map(value).collect();
    if known.is_empty() { format!("without {}", keys.join(", ")) } else { known.join(",") }
}

fn arguments(text: &str) -> Option<(Spec, Vec<&str>)> {
    let spec = Spec::parse("spec", text).ok()?;
    let texts: Option<Vec<&str>> =
        spec.args().iter().map(|arg| text.get(arg.at()..arg.at() + arg.len())).collect();
    texts.map(|texts| (spec, texts))
}

/// Returns the name of a machine that an experiment defines. Other texts stay unchanged.
pub fn defined_name(text: &str) -> &str {
    text.split_once(" (").map_or(text, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(specs: &[&str]) -> Vec<String> {
        without_common_parts(specs).1
    }

    #[test]
    fn own_parts_have_only_the_arguments_that_differ() {
        let machine = |startup: &str| format!("free:startup_us={startup},byte_us=0.002,ports=all");
        let (slow, fast) = (machine("9"), machine("3"));
        let (common, parts) = without_common_parts(&[&slow, &fast]);
        assert_eq!(
            (&*common, parts),
            (
                "free:byte_us=0.002,ports=all",
                vec!["startup_us=9".to_owned(), "startup_us=3".to_owned()]
            )
        );
        assert_eq!(own(&["ring:4", "ring:8"]), ["ring:4", "ring:8"]);
        assert_eq!(own(&["paragon", "delta"]), ["paragon", "delta"]);
        // The default values are those in `list machines paragon` and in the generator of `moe`.
        assert_eq!(own(&["paragon", "paragon:byte_us=1"]), ["byte_us=0.011", "byte_us=1"]);
        assert_eq!(
            own(&[
                "moe:experts=8,top=2,tokens=4,bytes=7",
                "moe:experts=8,top=2,tokens=4,bytes=7,skew=1"
            ]),
            ["skew=0", "skew=1"]
        );
        assert_eq!(own(&["torus:4x4", "torus:4x4,faults=1"]), ["without faults", "faults=1"]);
        assert_eq!(own(&["mine (sp2)", "yours (sp2)"]), ["mine", "yours"]);
        let nested = ["rdn:1(torus:4x4)", "rdn:2(torus:4x4)"];
        assert_eq!(own(&nested), nested);
        assert_eq!(
            without_common_parts(&["sp2", "sp2"]),
            ("sp2".to_owned(), vec![String::new(); 2])
        );
    }
}
