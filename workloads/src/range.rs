//! Ranges of sizes and counts: `uniform:8..1MiB` is a list of workloads, one for each size.

use crate::args::{CurveAxis, WORD};
use crate::properties::find_generator;
use swapmeet_core::spec::{Arg, Spec, SpecError, format_size, parse_size};

const FORM: &str = "a range such as 8..1MiB (each size twice the previous one) or 8..1MiB*4";

/// Replaces a range of sizes, or of counts such as `tokens`, by a list of workloads. The first has
/// the start of the range. Each further value is the previous one multiplied by a factor (by
/// default 2). The end is included only if it is reached exactly. A text without a range is
/// returned unchanged, even if it is not valid.
///
/// ```
/// use swapmeet_workloads::expand;
/// assert_eq!(expand("uniform:8..40").unwrap(), ["uniform:8", "uniform:16", "uniform:32"]);
/// assert_eq!(expand("one-spike:max=1KiB..16KiB*4,rest=8").unwrap(), [
///     "one-spike:max=1KiB,rest=8", "one-spike:max=4KiB,rest=8", "one-spike:max=16KiB,rest=8",
/// ]);
/// assert_eq!(expand("uniform:64").unwrap(), ["uniform:64"]);
/// ```
pub fn expand(text: &str) -> Result<Vec<String>, SpecError> {
    let as_it_is = || vec![text.to_owned()];
    let Ok(spec) = Spec::parse("workload", text) else { return Ok(as_it_is()) };
    // In specs of generators without a block size, two dots can be part of a file name.
    if find_generator(&spec)
        .is_none_or(|row| !row.axes.iter().any(|(axis, _)| *axis == CurveAxis::BlockSize))
    {
        return Ok(as_it_is());
    }
    let mut ranges = spec.args().iter().filter(|arg| arg.value().contains(".."));
    let Some(arg) = ranges.next() else { return Ok(as_it_is()) };
    if let Some(second) = ranges.next() {
        return Err(spec.error(
            second.value_at(),
            second.value().len(),
            "a second range, expected at most one",
        ));
    }
    let (before, after) = (&text[..arg.value_at()], &text[arg.value_at() + arg.value().len()..]);
    Ok(sizes(&spec, arg)?
        .into_iter()
        .map(|number| format!("{before}{}{after}", written(arg, number)))
        .collect())
}

fn written(arg: &Arg, number: u64) -> String {
    const SIZES: [&str; 5] = [WORD, "bytes", "max", "mean", "rest"];
    let is_size = SIZES.contains(&arg.key().unwrap_or(WORD));
    if is_size { format_size(number) } else { number.to_string() }
}

/// If the last size in the list is not the end of the range, returns both.
///
/// ```
/// use swapmeet_workloads::unreached_end;
/// let sizes = ("256KiB".to_owned(), "1MiB".to_owned());
/// assert_eq!(unreached_end("uniform:8..1MiB*8"), Some(sizes));
/// assert_eq!(unreached_end("uniform:8..1MiB*2"), None);
/// ```
pub fn unreached_end(text: &str) -> Option<(String, String)> {
    expand(text).ok().filter(|workloads| *workloads != [text])?;
    let spec = Spec::parse("workload", text).ok()?;
    let arg = spec.args().iter().find(|arg| arg.value().contains(".."))?;
    let last = *sizes(&spec, arg).ok()?.last()?;
    let (_, rest) = arg.value().split_once("..")?;
    let end = parse_size(rest.split_once('*').map_or(rest, |(end, _)| end)).ok()?;
    (last != end).then(|| (written(arg, last), written(arg, end)))
}

fn sizes(spec: &Spec, arg: &Arg) -> Result<Vec<u64>, SpecError> {
    let form = || spec.bad_value(arg, FORM);
    let (first, rest) = arg.value().split_once("..").ok_or_else(form)?;
    let (last, factor) = rest.split_once('*').unwrap_or((rest, "2"));
    let size = |text: &str| {
        parse_size(text)
            .map_err(|expected| spec.bad_value(arg, &format!("{FORM}, with {expected}")))
    };
    let (first, last) = (size(first)?, size(last)?);
    let factor = factor.parse().ok().filter(|factor: &u64| *factor >= 2);
    let factor = factor.ok_or_else(|| {
        spec.bad_value(arg, &format!("{FORM}, with a whole factor of at least 2"))
    })?;
    if first == 0 || first > last {
        return Err(spec.bad_value(arg, &format!("{FORM}, from at least 1 upwards")));
    }
    let next = |bytes: &u64| bytes.checked_mul(factor).filter(|next| *next <= last);
    Ok(std::iter::successors(Some(first), next).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_includes_its_end_if_the_factor_leads_to_it() {
        assert_eq!(expand("broadcast/uniform:8..1MiB,root=3").unwrap().len(), 18);
        assert_eq!(expand("uniform:8..1MiB*4").unwrap().last().unwrap(), "uniform:512KiB");
        assert_eq!(expand("uniform:3..3").unwrap(), ["uniform:3"]);
        assert_eq!(expand("permutation/shear-2d:1..4,by=2").unwrap().join(" "), {
            "permutation/shear-2d:1,by=2 permutation/shear-2d:2,by=2 permutation/shear-2d:4,by=2"
        });
        assert_eq!(expand(&format!("uniform:1..{}", u64::MAX)).unwrap().len(), 64);
    }

    /// Counts have no units, so `tokens=1KiB` is invalid.
    #[test]
    fn a_range_of_counts_has_no_units() {
        let texts = expand("dispatch/moe:experts=8,top=2,tokens=64..1024*4,bytes=8KiB").unwrap();
        let tokens = ["64", "256", "1024"];
        let expected =
            tokens.map(|t| format!("dispatch/moe:experts=8,top=2,tokens={t},bytes=8KiB"));
        assert_eq!(texts, expected);
        assert!(texts.iter().all(|text| crate::Workload::parse(text).is_ok()));
        let end = unreached_end("moe:experts=8,top=2,tokens=64..2048*4,bytes=8");
        assert_eq!(end, Some(("1024".to_owned(), "2048".to_owned())));
    }

    #[test]
    fn only_sizes_are_expanded() {
        for text in ["matrix:1..2", "matrix:../sizes.csv", "no-such-thing:8..16", "uniform", ":"] {
            assert_eq!(expand(text).unwrap(), [text]);
        }
    }

    #[test]
    fn invalid_ranges_are_explained() {
        let error = |text: &str| {
            expand(text).unwrap_err().to_string().split_once("`: ").unwrap().1.to_owned()
        };
        for (text, expected) in [
            (
                "uniform:16..8",
                "expected a range such as 8..1MiB (each size twice the previous one) or 8..1MiB*4, from at least 1 upwards, found `16..8`",
            ),
            (
                "uniform:8..16*1",
                "expected a range such as 8..1MiB (each size twice the previous one) or 8..1MiB*4, with a whole factor of at least 2, found `8..16*1`",
            ),
            (
                "uniform:..16",
                "expected a range such as 8..1MiB (each size twice the previous one) or 8..1MiB*4, with a size such as 64, 64B, 4KiB or 1MiB, found `..16`",
            ),
        ] {
            assert_eq!(error(text), expected);
        }
        for text in
            ["uniform:0..8", "uniform:8..16*1.5", "uniform:8...16", "uniform:8..", "uniform:8..16*"]
        {
            assert!(expand(text).is_err(), "{text}");
        }
        assert_eq!(error("one-spike:max=8..16,rest=1..2"), "a second range, expected at most one");
    }
}
