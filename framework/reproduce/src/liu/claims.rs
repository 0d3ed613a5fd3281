//! The claims that the paper makes about its experiments. They are compared with runs of this
//! program, which use 10 seeds. [`super::experiments`] explains the names P, Mmax and tm.

use super::Liu;
use super::experiments::{COMPOSING, Curve, Key, OTHER_RESTS, P, REST, Times};
use crate::report::{Table, Verdict};
use serde::Deserialize;

/// A claim that one algorithm is faster than another algorithm in some ranges of experiments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    text: String,
    machine: String,
    faster: Curve,
    slower: Curve,
    over: Vec<Range>,
}

/// A range of experiments for which the paper makes a claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    pattern: u32,
    nodes: Vec<u64>,
    sizes: Vec<u64>,
}

/// A claim about the gain from another mode of communication. The experiment uses Pattern1, P = 64
/// and Mmax = 1024.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Gain {
    text: String,
    machine: String,
    from: Curve,
    to: Curve,
    much: bool,
}

/// From this factor on, our report calls a gain large. The paper does not define a factor.
const MUCH: f64 = 1.25;

/// Values of two parameters that the paper does not state: the number of elements for all
/// destinations but one, and tm (the time to rearrange a byte).
type Reading = (u64, &'static str);

/// Returns the number of seeds for which the claim is true, and the number of all seeds.
fn wins(
    times: &Times,
    claim: &Claim,
    pattern: u32,
    (p, mmax): (u64, u64),
    (rest, tm): Reading,
) -> (usize, usize) {
    let of = |curve: &Curve| {
        times.of(&Key::new(&claim.machine, curve, pattern, p, mmax).reading(rest, tm))
    };
    let (faster, slower) = (of(&claim.faster), of(&claim.slower));
    (faster.iter().zip(slower).filter(|(a, b)| a < b).count(), faster.len())
}

/// Lists the experiments of a range in which the claim is true for most seeds. The returned flag
/// states whether these are all experiments of the range.
fn where_it_holds(times: &Times, claim: &Claim, range: &Range, reading: Reading) -> (String, bool) {
    let sizes = || range.sizes.iter().filter(|mmax| reading.0 < **mmax);
    let points: Vec<(u64, u64)> =
        range.nodes.iter().flat_map(|p| sizes().map(|mmax| (*p, *mmax))).collect();
    let name = |(p, mmax): &(u64, u64)| {
        if range.nodes.len() > 1 { format!("P = {p}") } else { mmax.to_string() }
    };
    let what = if range.nodes.len() > 1 { "" } else { "Mmax = " };
    let mut unanimous = true;
    let holds: Vec<&(u64, u64)> = points
        .iter()
        .filter(|point| {
            let (won, of) = wins(times, claim, range.pattern, **point, reading);
            unanimous &= won == 0 || won == of;
            2 * won > of
        })
        .collect();
    let share = if unanimous { "" } else { " (in most seeds)" };
    if holds.len() == points.len() {
        return (format!("everywhere{share}"), true);
    }
    if holds.is_empty() {
        return (format!("nowhere{share}"), false);
    }
    let list: Vec<String> = holds.into_iter().map(name).collect();
    (format!("for {what}{}{share}", list.join(", ")), false)
}

/// Returns a table with a row for each claim about each range of experiments.
pub(super) fn table(liu: &Liu, times: &Times) -> Table {
    let mut table = liu.words.table("Claims");
    for (claim, range) in
        liu.claim.iter().flat_map(|claim| claim.over.iter().map(move |range| (claim, range)))
    {
        let (ours, holds) = where_it_holds(times, claim, range, (REST, COMPOSING[0]));
        let rests = OTHER_RESTS.into_iter().filter(|_| range.nodes == [P]);
        let readings = rests
            .map(|rest| ((rest, COMPOSING[0]), format!("with {rest} elements for all others")));
        let readings = readings
            .chain(COMPOSING[1..].iter().map(|tm| ((REST, *tm), format!("with tm = {tm}"))));
        let others: Vec<String> = readings
            .map(|(reading, name)| (where_it_holds(times, claim, range, reading).0, name))
            .filter(|(other, _)| *other != ours)
            .map(|(other, name)| format!("{name}: {other}"))
            .collect();
        let varied = if range.nodes == [P] { "P = 64" } else { "P varied" };
        let column = format!("{}, Pattern{}, {varied}", claim.machine, range.pattern);
        table
            .add((&claim.text, &column), "everywhere", ours, Verdict::holds(holds))
            .because(&others.join("; "));
    }
    for gain in &liu.gain {
        add_gain(&mut table, times, gain);
    }
    nonblocking(&mut table, times);
    growth(&mut table, times);
    table
}

/// Adds a row that states whether the gain from a mode is as large as the paper claims.
fn add_gain(table: &mut Table, times: &Times, gain: &Gain) {
    let time = |curve: &Curve| times.mean(&Key::new(&gain.machine, curve, 1, P, 1024));
    let factor = time(&gain.from) / time(&gain.to);
    let holds = (factor >= MUCH) == gain.much;
    let why = match (holds, gain.much) {
        (true, _) => "",
        (false, true) => "less than a quarter",
        (false, false) => {
            "the model overlaps composing and transfer fully, which the T3D cannot do according to section 4.1"
        }
    };
    let column =
        format!("{}, {} to {}, Mmax = 1024", gain.machine, gain.from.name(), gain.to.name());
    let paper = if gain.much { "much" } else { "little" };
    table
        .add((&gain.text, &column), paper, format!("x {factor:.2}"), Verdict::holds(holds))
        .because(why);
}

/// Adds a comparison that the paper does not make: whether A1 or A4 is faster in nonblocking mode.
fn nonblocking(table: &mut Table, times: &Times) {
    for machine in ["t3d", "sp2"] {
        let time =
            |algorithm| times.mean(&Key::new(machine, &Curve::new(algorithm, "n1"), 1, P, 1024));
        let (a1, a4) = (time("A1"), time("A4"));
        table
            .add(
                (
                    "the claim that A4 beats A1 is for blocking mode only",
                    &format!("{machine}, nonblocking, Mmax = 1024"),
                ),
                "no claim",
                format!("A1 {:.1} ms, A4 {:.1} ms", a1 / 1e3, a4 / 1e3),
                Verdict::NotGiven,
            )
            .because(if a1 < a4 { "nonblocking, A1 is the faster of the two" } else { "" });
    }
}

/// Checks a claim about Pattern2: when the message size grows, the time of A3 grows faster than the
/// time of A4.
fn growth(table: &mut Table, times: &Times) {
    let time =
        |algorithm, mmax| times.mean(&Key::new("t3d", &Curve::new(algorithm, "b"), 2, P, mmax));
    let slope = |algorithm| (time(algorithm, 1024) - time(algorithm, 64)) / time(algorithm, 64);
    let ours = format!("A3 + {:.0} %, A4 + {:.0} %", 100.0 * slope("A3"), 100.0 * slope("A4"));
    table.add(
        (
            "Pattern2: the time of A3 grows faster than that of A4 (Fig. 19 b)",
            "t3d, Mmax = 64 to 1024",
        ),
        "A3 faster",
        ours,
        Verdict::holds(slope("A3") > slope("A4")),
    );
}
