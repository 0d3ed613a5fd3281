//! A row's workload and topology taken apart: what an axis takes from them, and what is left.

use crate::quantity::X;
use swapmeet_core::spec::parse_size;
use swapmeet_results::family;

/// The value that a case has on the x axis, and the topology and workload without it. `None` if the case has no such value.
pub fn split(x: X, topology: &str, nodes: u64, workload: &str) -> Option<(f64, String, String)> {
    match x {
        X::Nodes => Some((nodes as f64, family(topology), workload.to_owned())),
        X::Block => taken_out(workload, &["mean", "max"], |text| parse_size(text).ok().map(|b| b as f64))
            .map(|(value, rest)| (value, topology.to_owned(), rest)),
        X::Cv => taken_out(workload, &["cv"], |text| text.parse().ok().filter(|cv: &f64| cv.is_finite()))
            .map(|(value, rest)| (value, topology.to_owned(), rest)),
    }
}

/// The argument with one of these keys (the first wins), or for sizes the one without a key, taken out of a spec.
fn taken_out(spec: &str, keys: &[&str], read: impl Fn(&str) -> Option<f64>) -> Option<(f64, String)> {
    let (name, args) = spec.split_once(':')?;
    let args: Vec<&str> = args.split(',').collect();
    let has_key = |arg: &str, key: &str| arg.split_once('=').is_some_and(|(k, _)| k == key);
    let keyed = keys.iter().find_map(|key| args.iter().position(|arg| has_key(arg, key)));
    let plain = || args.iter().position(|arg| !arg.contains('=')).filter(|_| keys != ["cv"]);
    let at = keyed.or_else(plain)?;
    let value = args[at].split_once('=').map_or(args[at], |(_, value)| value);
    let value = read(value)?;
    let rest: Vec<&str> = args.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, arg)| *arg).collect();
    Some((value, if rest.is_empty() { name.to_owned() } else { format!("{name}:{}", rest.join(",")) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_taken_out_of_a_workload() {
        let block = |workload| split(X::Block, "ring:4", 4, workload).map(|(x, _, rest)| (x, rest));
        let some = |x: f64, rest: &str| Some((x, rest.to_owned()));
        assert_eq!(block("uniform:1KiB"), some(1024.0, "uniform"));
        assert_eq!(block("broadcast/uniform:8,element=4B"), some(8.0, "broadcast/uniform:element=4B"));
        assert_eq!(block("one-spike:max=1KiB,rest=8"), some(1024.0, "one-spike:rest=8"));
        assert_eq!(block("irregular:dist=pareto,mean=512,cv=2"), some(512.0, "irregular:dist=pareto,cv=2"));
        assert_eq!(block("matrix:mine.csv"), None);
    }

    #[test]
    fn a_variation_is_taken_out_of_an_irregular_workload_only() {
        let cv = |workload| split(X::Cv, "ring:4", 4, workload).map(|(x, _, rest)| (x, rest));
        assert_eq!(
            cv("irregular:dist=pareto,mean=512,cv=0.5"),
            Some((0.5, "irregular:dist=pareto,mean=512".to_owned()))
        );
        assert_eq!(cv("uniform:64"), None);
    }
}
