//! Abbreviations of specs for narrow columns. Arguments that all specs have in common are removed
//! first, so that different specs have different abbreviations.

use crate::paint::cut_keeping_tail;
use std::collections::{BTreeMap, BTreeSet};
use unicode_width::UnicodeWidthStr;

/// The abbreviations of the texts of a column. If it is wide enough, they differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Abbreviations(BTreeMap<String, String>);

impl Abbreviations {
    pub(crate) fn new<'t>(texts: impl IntoIterator<Item = &'t str>, columns: usize) -> Self {
        let texts: BTreeSet<&str> = texts.into_iter().collect();
        Self::within(&texts, columns)
    }

    fn within(texts: &BTreeSet<&str>, columns: usize) -> Self {
        let best: Vec<String> = texts.iter().map(|text| best_form(text, texts, columns)).collect();
        // Cut forms that are still too wide. First keep as many whole values at the end as fit. If
        // texts then become equal, try other positions of the cut, from the middle outwards.
        let mut tails: Vec<usize> = (0..columns.max(1)).collect();
        tails.sort_by_key(|tail| tail.abs_diff(columns.saturating_sub(1) / 2));
        let cut = |tail: Option<usize>| -> Vec<String> {
            let tail_of = |text: &str| tail.unwrap_or_else(|| tail_width(text, columns));
            best.iter().map(|text| cut_keeping_tail(text, columns, tail_of(text))).collect()
        };
        let different = |texts: &[String]| texts.iter().collect::<BTreeSet<_>>().len();
        let mut found = cut(None);
        for tail in tails {
            if different(&found) == texts.len() {
                break;
            }
            let other = cut(Some(tail));
            if different(&other) > different(&found) {
                found = other;
            }
        }
        Self(texts.iter().map(|text| (*text).to_owned()).zip(found).collect())
    }

    pub(crate) fn get<'s>(&'s self, text: &'s str) -> &'s str {
        self.0.get(text).map_or(text, String::as_str)
    }

    fn all_differ(&self) -> bool {
        self.0.values().collect::<BTreeSet<_>>().len() == self.0.len()
    }

    /// Returns the smallest width in which all abbreviations differ.
    pub(crate) fn min_width<'t>(texts: impl IntoIterator<Item = &'t str>, least: usize) -> usize {
        let texts: BTreeSet<&str> = texts.into_iter().collect();
        let most = texts.iter().map(|text| text.width()).max().unwrap_or(0);
        (least..most).find(|columns| Self::within(&texts, *columns).all_differ()).unwrap_or(most)
    }
}

/// Specs without what they have in common: the name before the colon, the beginning up to a hyphen
/// or slash, and the end from a hyphen. `ring-allreduce` and `bine-allreduce` become `ring` and
/// `bine`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShortNames {
    names: BTreeMap<String, String>,
    before: String,
    after: String,
}

impl ShortNames {
    pub(crate) fn new(texts: &BTreeSet<String>) -> Self {
        fn name(text: &str) -> &str {
            text.split(':').next().unwrap_or(text)
        }
        let (Some(first), 2..) = (texts.first(), texts.len()) else { return Self::default() };
        let (mut before, mut after) = (String::new(), String::new());
        if texts.iter().all(|text| name(text) == name(first)) {
            before = format!("{}:", name(first));
        } else {
            let others = || texts.iter().map(String::as_str).skip(1);
            let same =
                |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
            let start = others().fold(first.as_str(), |start, text| {
                &start[..start
                    .char_indices()
                    .nth(same(start, text))
                    .map_or(start.len(), |(at, _)| at)]
            });
            before.push_str(&start[..start.rfind(['-', '/']).map_or(0, |at| at + 1)]);
            let reversed = |text: &str| text.chars().rev().collect::<String>();
            let end = others().fold(reversed(first), |end, text| {
                end.chars().take(same(&end, &reversed(text))).collect()
            });
            let end = reversed(&end);
            after.push_str(end.find('-').map_or("", |at| &end[at..]));
        }
        let short = |text: &String| {
            let rest = text.strip_prefix(before.as_str()).unwrap_or(text);
            let rest = rest.strip_suffix(after.as_str()).unwrap_or(rest);
            if rest.is_empty() { text.clone() } else { rest.to_owned() }
        };
        let names = texts.iter().map(|text| (text.clone(), short(text))).collect();
        Self { names, before, after }
    }

    pub(crate) fn get<'s>(&'s self, text: &'s str) -> &'s str {
        self.names.get(text).map_or(text, String::as_str)
    }

    /// Returns the dropped parts with an ellipsis between them.
    pub(crate) fn title(&self) -> Option<String> {
        let is_whole = self.before.is_empty() && self.after.is_empty();
        (!is_whole).then(|| format!("{}…{}", self.before, self.after))
    }
}

/// Returns the longest form that fits, or else the shortest. The forms are the spec, then without
/// its common arguments, one after another from the last, then also without the keys of the others.
fn best_form(text: &str, texts: &BTreeSet<&str>, columns: usize) -> String {
    let fits = |form: &String| form.width() <= columns;
    let Some((name, args)) = text.split_once(':') else { return text.to_owned() };
    if text.width() <= columns {
        return text.to_owned();
    }
    let others: Vec<Vec<&str>> = texts
        .iter()
        .filter_map(|other| other.split_once(':').filter(|(other, _)| *other == name))
        .map(|(_, args)| args.split(',').collect())
        .collect();
    // An argument without a key, such as a size, is never removed, and none if the name also occurs
    // without arguments.
    let has_bare = texts.contains(name);
    let is_common =
        |arg: &str| arg.contains('=') && !has_bare && others.iter().all(|args| args.contains(&arg));
    let args: Vec<(&str, bool)> = args.split(',').map(|arg| (arg, is_common(arg))).collect();
    let common = args.iter().filter(|(_, is_common)| *is_common).count();
    let form = |kept: usize, with_keys| form(name, &args, kept, with_keys);
    let with_keys = (0..=common).rev().map(|kept| form(kept, true));
    with_keys.chain([form(0, false)]).find(fits).unwrap_or_else(|| form(0, false))
}

/// Returns a form with the first `kept` common arguments. The elements of `args` are an argument,
/// and whether it is common.
fn form(name: &str, args: &[(&str, bool)], mut kept: usize, with_keys: bool) -> String {
    let mut form = format!("{name}:");
    let mut gap = false;
    for (arg, is_common) in args {
        if *is_common {
            gap |= kept == 0;
            kept = kept.saturating_sub(1);
            if gap {
                continue;
            }
        }
        // Without an ellipsis for the key, the form would look like a complete spec.
        let value = if with_keys { None } else { arg.split_once('=').map(|(_, value)| value) };
        if gap || value.is_some() {
            form.push('…');
        } else if !form.ends_with(':') {
            form.push(',');
        }
        form.push_str(value.unwrap_or(arg));
        gap = false;
    }
    if gap {
        form.truncate(form.trim_end_matches(':').len());
        form.push('…');
    }
    form
}

/// Returns the columns that are kept at the end of a cut text: as many whole values as fit.
fn tail_width(text: &str, columns: usize) -> usize {
    let Some(args) = text.find(':') else {
        return if text.ends_with('…') { 0 } else { columns.saturating_sub(1) / 2 };
    };
    let begins = text[args..].char_indices().filter_map(|(i, c)| match c {
        ':' if text[args + i + 1..].starts_with('…') => None,
        ':' => Some(args + i),
        ',' | '=' | '…' => Some(args + i + c.len_utf8()),
        _ => None,
    });
    let tails = begins.map(|i| text[i..].width());
    tails.filter(|tail| (1..columns).contains(tail)).max().unwrap_or(columns.saturating_sub(1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(texts: &[&str], columns: usize) -> Vec<String> {
        let short = Abbreviations::new(texts.iter().copied(), columns);
        texts.iter().map(|text| short.get(text).to_owned()).collect()
    }

    #[test]
    fn specs_are_cut_where_they_agree() {
        let texts = [
            "irregular:dist=lognormal,mean=512,cv=0.5",
            "irregular:dist=uniform,mean=512,cv=0.5",
            "uniform:64",
        ];
        assert_eq!(short(&texts, 40), texts);
        let [lognormal, ..] = texts;
        assert_eq!(short(&[lognormal], 40), [lognormal]);
        assert_eq!(short(&[lognormal], 39), ["irregular:dist=lognormal,mean=512…"]);
        assert_eq!(short(&[lognormal], 33), ["irregular:dist=lognormal…"]);
        assert_eq!(short(&[lognormal], 24), ["irregular…"]);
        assert_eq!(
            short(&texts, 25),
            ["irregular:dist=lognormal…", "irregular:dist=uniform…", "uniform:64"]
        );
        assert_eq!(
            short(&texts, 20),
            ["irregular…lognormal…", "irregular:…uniform…", "uniform:64"]
        );
        assert_eq!(short(&texts, 12), ["i…lognormal…", "irr…uniform…", "uniform:64"]);
        let cv = ["irregular:dist=pareto,mean=512,cv=0.5", "irregular:dist=pareto,mean=512,cv=2"];
        assert_eq!(short(&cv, 18), ["irregular:…cv=0.5", "irregular:…cv=2"]);
        let machines = ["paragon", "paragon:startup_us=220"];
        assert_eq!(short(&machines, 15), ["paragon", "paragon:…220"]);
        let means =
            ["irregular:dist=lognormal,mean=64,cv=2", "irregular:dist=lognormal,mean=4KiB,cv=2"];
        assert_eq!(short(&means, 10), ["irregu…64…", "irre…4KiB…"]);
        assert_eq!(short(&means, 6), ["ir…64…", "…4KiB…"]);
        let sizes =
            ["uniform:64", "uniform:16KiB", "irregular:dist=pareto,mean=512,cv=2", "torus:4x4"];
        assert_eq!(short(&sizes, 9), ["unifo…:64", "un…:16KiB", "irregula…", "torus:4x4"]);
    }

    #[test]
    fn common_parts_of_specs_are_dropped() {
        let short = |texts: &[&str]| {
            let names = ShortNames::new(&texts.iter().map(|text| (*text).to_owned()).collect());
            let short: Vec<String> = texts.iter().map(|text| names.get(text).to_owned()).collect();
            (short.join(" "), names.title().unwrap_or_default())
        };
        let result = |short: &str, title: &str| (short.to_owned(), title.to_owned());
        assert_eq!(
            short(&["ring-allreduce", "recursive-doubling-allreduce"]),
            result("ring recursive-doubling", "…-allreduce")
        );
        assert_eq!(
            short(&["paragon", "paragon:barrier_us=0", "paragon:startup_us=10"]),
            result("paragon barrier_us=0 startup_us=10", "paragon:…")
        );
        assert_eq!(
            short(&["allreduce/uniform:64", "allreduce/uniform:4KiB"]),
            result("64 4KiB", "allreduce/uniform:…")
        );
        assert_eq!(short(&["pex", "pex-gen"]), result("pex pex-gen", ""));
        assert_eq!(short(&["torus:8x8", "mesh:8x8"]), result("torus:8x8 mesh:8x8", ""));
        assert_eq!(short(&["bruck"]), result("bruck", ""));
    }

    #[test]
    fn different_texts_stay_different_if_space_permits() {
        let texts =
            ["a-long-name-that-ends-1", "a-long-name-that-ends-2", "another-long-name-ends-1"];
        for columns in 4..30 {
            let short = Abbreviations::new(texts, columns);
            assert!(
                short.all_differ() && short.0.values().all(|s| s.width() <= columns),
                "{columns} {short:?}"
            );
        }
        assert_eq!(Abbreviations::min_width(texts, 2), 4);
        assert_eq!(Abbreviations::min_width(["ab", "ab"], 9), 2);
    }

    #[test]
    fn abbreviations_never_exceed_the_width() {
        for columns in 0..9 {
            let short = Abbreviations::new(["環環環環", "plain:text", ""], columns);
            assert!(short.0.values().all(|s| s.width() <= columns), "{columns} {short:?}");
        }
    }
}
