//! Properties that follow from the spec alone, without files of sizes.

use crate::Workload;
use crate::args::{CurveAxis, WORD};
use crate::generator::{Generator, generators};
use swapmeet_core::delivery::collective::{ALL_TO_ALL, COLLECTIVES};
use swapmeet_core::spec::{Spec, parse_size};

impl CurveAxis {
    /// Splits the spec of a workload. If the workload has a value on this axis, returns the value,
    /// and the rest of the spec, which all cases of a curve share.
    ///
    /// ```
    /// use swapmeet_workloads::CurveAxis;
    /// let (bytes, rest) = CurveAxis::BlockSize.split("permutation/shear-2d:1KiB,by=3").unwrap();
    /// assert_eq!((bytes, &*rest), (1024.0, "permutation/shear-2d:by=3"));
    /// assert_eq!(CurveAxis::BlockSize.split("matrix:mine.csv"), None);
    /// ```
    pub fn split(self, workload: &str) -> Option<(f64, String)> {
        let spec = Spec::parse("workload", workload).ok()?;
        let key = self.key_of(&spec)?;
        let at = spec.args().iter().position(|arg| arg.key().unwrap_or(WORD) == key)?;
        let value = spec.args()[at].value();
        let value = match self {
            Self::BlockSize => parse_size(value).ok()? as f64,
            Self::Variation => value.parse().ok().filter(|cv: &f64| cv.is_finite())?,
        };
        let others = spec.args().iter().enumerate().filter(|(i, _)| *i != at).map(|(_, arg)| {
            match arg.key() {
                Some(key) => format!("{key}={}", arg.value()),
                None => arg.value().to_owned(),
            }
        });
        let others: Vec<String> = others.collect();
        let rest = if others.is_empty() { String::new() } else { format!(":{}", others.join(",")) };
        Some((value, format!("{}{rest}", spec.name())))
    }

    /// Returns the key of the argument that is the value of a workload on this axis.
    ///
    /// ```
    /// use swapmeet_workloads::CurveAxis;
    /// assert_eq!(CurveAxis::BlockSize.key("moe:experts=8,top=2,tokens=4,bytes=64"), Some("bytes"));
    /// ```
    pub fn key(self, workload: &str) -> Option<&'static str> {
        self.key_of(&Spec::parse("workload", workload).ok()?)
    }

    fn key_of(self, workload: &Spec) -> Option<&'static str> {
        let axes = find_generator(workload)?.axes;
        axes.iter().find(|(axis, _)| *axis == self).map(|(_, key)| *key)
    }
}

/// Returns whether a workload has random sizes, or `None` if its generator is unknown.
///
/// ```
/// use swapmeet_workloads::is_random;
/// assert_eq!((is_random("irregular:dist=pareto,mean=512,cv=2"), is_random("uniform:64")), (Some(true), Some(false)));
/// assert_eq!(is_random("no-such-thing:64"), None);
/// ```
pub fn is_random(workload: &str) -> Option<bool> {
    Some(find_generator(&Spec::parse("workload", workload).ok()?)?.random)
}

/// Returns the default value of a number that the spec does not state. Returns `None` if the number
/// has no default, or if the generator reads a file. The spec may lack numbers that vary along an
/// axis.
///
/// ```
/// use swapmeet_workloads::default_number;
/// assert_eq!(default_number("moe:experts=8,top=2,tokens=16,bytes=64", "skew"), Some(0.0));
/// assert_eq!(default_number("moe:experts=8,top=2,tokens=16,bytes=64,violation=2", "skew"), None);
/// assert_eq!(default_number("moe:experts=8,top=2,bytes=64", "skew"), Some(0.0));
/// assert_eq!(default_number("irregular:dist=zipf,mean=64", "density"), Some(1.0));
/// ```
pub fn default_number(workload: &str, key: &str) -> Option<f64> {
    let spec = Spec::parse("workload", workload).ok()?;
    // An argument without a key can be the name of a file.
    let generator = find_generator(&spec).filter(|row| !row.keys.contains(&WORD))?;
    let lacking = generator.keys.iter().map(|key| format!("{workload},{key}=1"));
    let mut whole = [workload.to_owned()].into_iter().chain(lacking);
    let (workload, canonical) = whole.find_map(|spec| {
        let canonical = Workload::parse(&spec).ok()?.to_string();
        Some((spec, canonical))
    })?;
    let is_default = |number: &f64| {
        let stated = Workload::parse(&format!("{workload},{key}={number}"));
        stated.is_ok_and(|stated| stated.to_string() == canonical)
    };
    [0.0, 1.0].into_iter().find(is_default)
}

pub(crate) fn find_generator(spec: &Spec) -> Option<&'static Generator> {
    let (prefix, name) = spec.name().split_once('/').unwrap_or((ALL_TO_ALL.word, spec.name()));
    let collective = COLLECTIVES.into_iter().find(|collective| collective.word == prefix)?;
    generators(collective).find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_sizes_are_found_at_any_position() {
        let block = |workload| CurveAxis::BlockSize.split(workload);
        let some = |x: f64, rest: &str| Some((x, rest.to_owned()));
        assert_eq!(block("uniform:1KiB"), some(1024.0, "uniform"));
        assert_eq!(
            block("broadcast/uniform:8,root=3,element=4"),
            some(8.0, "broadcast/uniform:root=3,element=4")
        );
        assert_eq!(block("one-spike:max=1KiB,rest=8"), some(1024.0, "one-spike:rest=8"));
        assert_eq!(block("scatter/transpose:max=8,rest=1"), some(8.0, "scatter/transpose:rest=1"));
        assert_eq!(
            block("irregular:dist=pareto,mean=512,cv=2"),
            some(512.0, "irregular:dist=pareto,cv=2")
        );
        assert_eq!(block("permutation/transpose-2d:64"), some(64.0, "permutation/transpose-2d"));
        assert_eq!(block("matrix:mine.csv"), None);
        assert_eq!(block("no-such-thing:64"), None);
    }

    #[test]
    fn only_irregular_workloads_have_a_variation() {
        let cv = |workload| CurveAxis::Variation.split(workload);
        assert_eq!(
            cv("irregular:dist=pareto,mean=512,cv=0.5"),
            Some((0.5, "irregular:dist=pareto,mean=512".to_owned()))
        );
        assert_eq!(cv("uniform:64"), None);
    }
}
