//! The arguments that name failed and slow links.

use super::{DamagedLinks, Ends, draw};
use crate::network::topology::adjacency::Adjacency;
use crate::network::topology::{Network, Options};
use crate::spec::{Arg, Spec, SpecError};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A number of links that are drawn at random. A link is a pair of vertices that are linked in both
/// directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Draw {
    pub count: u64,
    /// The seed from which links are drawn; `None` for the seed of the repetition.
    pub seed: Option<u64>,
}

/// The failed and slow links that a spec requests.
#[derive(Debug, Default)]
pub(super) struct Request {
    down: BTreeSet<Ends>,
    slow: BTreeMap<Ends, f64>,
    faults: Option<Draw>,
    slow_links: Option<(Draw, f64)>,
}

const LINKS: &str = "links as in `3-4+7-8` (`3~4`: only the direction from 3 to 4)";
const SLOW: &str = "links and the fraction of the bandwidth that is left, as in `3-4:0.5+7-8:0.1`";

impl Request {
    /// Reads the arguments, and checks that the named links exist.
    pub(super) fn parse(
        options: &Options<'_>,
        base: &Network,
        intact: &Adjacency,
    ) -> Result<Self, SpecError> {
        let (mut request, spec) = (Self::default(), options.spec);
        // Read the lists of links.
        let listed = |name| {
            let arg = options.get(name).into_iter();
            arg.flat_map(|arg| items(arg).map(move |item| (item, arg)))
        };
        for (item, arg) in listed("down") {
            request.down.extend(ends(spec, arg, item, LINKS, base, intact)?);
        }
        for (item, arg) in listed("slow") {
            let (at, text) = item;
            let bad = || spec.bad_value(arg, SLOW);
            let (link, fraction) = text.split_once(':').ok_or_else(bad)?;
            let fraction = parse_fraction(fraction).ok_or_else(bad)?;
            for link in ends(spec, arg, (at, link), SLOW, base, intact)? {
                if request.down.contains(&link) {
                    let message = format!("slow: the link {text} is also listed in `down=`");
                    return Err(spec.error(at, text.len(), &message));
                }
                request.slow.insert(link, fraction);
            }
        }
        // Read the numbers of links that are drawn, and check that the network has that many links.
        // After the failures, a spanning forest of the links that exist in both directions must be
        // left.
        let pairs = draw::pairs(&request.left(intact));
        let spare = pairs.len() - draw::spanning_links(&pairs, intact.vertices());
        if let Some(arg) = options.get("faults") {
            let bad = || {
                spec.bad_value(
                    arg,
                    &format!("K or K:SEED, where at most {spare} of the {} links fail so that all vertices stay connected", pairs.len()),
                )
            };
            let draw = Draw::parse(arg.value()).filter(|draw| draw.count <= spare as u64);
            request.faults = Some(draw.ok_or_else(bad)?);
        }
        if let Some(arg) = options.get("slow-links") {
            let is_slow = |(a, b): &&Ends| {
                request.slow.contains_key(&(*a, *b)) || request.slow.contains_key(&(*b, *a))
            };
            let slow = pairs.iter().filter(is_slow).count() as u64;
            let failed = request.faults.map_or(0, |draw| draw.count);
            let most = (pairs.len() as u64).saturating_sub(slow + failed);
            let bad = || {
                spec.bad_value(
                    arg,
                    &format!("K:FRACTION or K:FRACTION:SEED with at most {most} links and a fraction above 0 and up to 1, as in `2:0.5`"),
                )
            };
            let (count, rest) = arg.value().split_once(':').ok_or_else(bad)?;
            let (fraction, seed) = rest.split_once(':').map_or((rest, None), |(f, s)| (f, Some(s)));
            let draw = seed.map_or_else(|| count.to_owned(), |seed| format!("{count}:{seed}"));
            let draw = Draw::parse(&draw).filter(|draw| draw.count <= most).ok_or_else(bad)?;
            request.slow_links = Some((draw, parse_fraction(fraction).ok_or_else(bad)?));
        }
        Ok(request)
    }

    /// Returns all links of the intact network except the failed links that `down` lists.
    pub(super) fn left(&self, intact: &Adjacency) -> Adjacency {
        intact.changed(|link| (!self.down.contains(&(link.from, link.to))).then_some(link))
    }

    /// Returns whether links are drawn from the seed of the repetition.
    pub(super) fn is_random(&self) -> bool {
        let draws = self.faults.into_iter().chain(self.slow_links.map(|(draw, _)| draw));
        draws.into_iter().any(|draw| draw.seed.is_none())
    }

    /// Draws the random links. `seed` is the seed of the repetition.
    pub(super) fn draw(&self, intact: &Adjacency, nodes: u64, seed: u64) -> DamagedLinks {
        let both = |(a, b): Ends| [(a, b), (b, a)];
        let mut failed = BTreeSet::new();
        if let Some(Draw { count, seed: own }) = self.faults {
            let drawn = draw::failures(&self.left(intact), nodes, count, own.unwrap_or(seed));
            failed.extend(drawn.into_iter().flat_map(both));
        }
        let mut slowed = BTreeMap::new();
        if let Some((Draw { count, seed: own }, fraction)) = self.slow_links {
            let is_taken = |ends: Ends| failed.contains(&ends) || self.slow.contains_key(&ends);
            let mut pairs = draw::pairs(&self.left(intact));
            pairs.retain(|pair| both(*pair).into_iter().all(|ends| !is_taken(ends)));
            let drawn = draw::slow(pairs, count, own.unwrap_or(seed));
            slowed.extend(drawn.into_iter().flat_map(both).map(|ends| (ends, fraction)));
        }
        let drawn = Listed(&failed, &slowed).to_string();
        DamagedLinks {
            down: &self.down | &failed,
            slow: self.slow.iter().chain(&slowed).map(|(ends, f)| (*ends, *f)).collect(),
            drawn: drawn.trim_start_matches(',').to_owned(),
        }
    }
}

impl Draw {
    /// Reads a number K of links to draw, written as `K` or `K:SEED`.
    fn parse(text: &str) -> Option<Self> {
        let (count, seed) = text.split_once(':').map_or((text, None), |(k, s)| (k, Some(s)));
        Some(Self { count: count.parse().ok()?, seed: seed.map(str::parse).transpose().ok()? })
    }
}

/// Reads the fraction of its bandwidth that a slow link keeps.
fn parse_fraction(text: &str) -> Option<f64> {
    /// The smallest fraction, which is also the smallest bandwidth of a link of a graph.
    const LEAST: f64 = 1.0 / crate::network::topology::Graph::MAX_BANDWIDTH;
    text.parse().ok().filter(|fraction| (LEAST..=1.0).contains(fraction))
}

/// Returns the items of a list, each with its position in the spec.
fn items(arg: &Arg) -> impl Iterator<Item = (usize, &str)> {
    let start = arg.value().as_ptr() as usize;
    arg.value()
        .split('+')
        .map(move |item| (arg.value_at() + (item.as_ptr() as usize - start), item))
}

/// Reads the link `3-4` as its two directions, or the link `3~4` as the direction from 3 to 4.
/// `expected` describes the list in error messages.
fn ends(
    spec: &Spec,
    arg: &Arg,
    (at, item): (usize, &str),
    expected: &str,
    base: &Network,
    intact: &Adjacency,
) -> Result<Vec<Ends>, SpecError> {
    let bad = || spec.bad_value(arg, expected);
    let (sign, both) = if item.contains('~') { ('~', false) } else { ('-', true) };
    let (from, to) = item.split_once(sign).ok_or_else(bad)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| bad());
    let (from, to) = (number(from)?, number(to)?);
    let directions = if both { vec![(from, to), (to, from)] } else { vec![(from, to)] };
    let exists = |(from, to): &Ends| {
        *from < intact.vertices() as u64 && intact.out(*from as usize).contains(&(*to as u32))
    };
    if to <= u64::from(u32::MAX) && directions.iter().all(exists) {
        return Ok(directions);
    }
    let (key, network) = (arg.key().unwrap_or_default(), base.spec());
    let message = format!(
        "{key}: {network} has no link from {from} to {to}; `swapmeet list topologies --describe {network}` lists the links"
    );
    Err(spec.error(at, item.len(), &message))
}

/// Failed links, and slow links with the part of their bandwidth that is left. They are written as
/// arguments of a spec, each after a comma.
struct Listed<'a>(&'a BTreeSet<Ends>, &'a BTreeMap<Ends, f64>);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(down, slow) = self;
        let name = |(a, b): Ends, opposite: bool| match opposite {
            true if a < b => Some(format!("{a}-{b}")),
            true => None,
            false => Some(format!("{a}~{b}")),
        };
        let down = down.iter().filter_map(|&(a, b)| name((a, b), down.contains(&(b, a))));
        let slow = slow.iter().filter_map(|(&(a, b), fraction)| {
            let link = name((a, b), slow.get(&(b, a)) == Some(fraction))?;
            Some(format!("{link}:{fraction}"))
        });
        let mut argument = |key: &str, links: Vec<String>| match links.is_empty() {
            true => Ok(()),
            false => write!(f, ",{key}={}", links.join("+")),
        };
        argument("down", down.collect())?;
        argument("slow", slow.collect())
    }
}

impl fmt::Display for Request {
    /// Writes the arguments in canonical form, each after a comma.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = |draw: &Draw| draw.seed.map_or(String::new(), |seed| format!(":{seed}"));
        Listed(&self.down, &self.slow).fmt(f)?;
        if let Some(draw) = &self.faults {
            write!(f, ",faults={}{}", draw.count, seed(draw))?;
        }
        match &self.slow_links {
            Some((draw, fraction)) => {
                write!(f, ",slow-links={}:{fraction}{}", draw.count, seed(draw))
            }
            None => Ok(()),
        }
    }
}
