//! The curves and crossovers of Figs. 13 to 16, and the paper's claims about them.

use super::{Costs, NAMES, Shape, Square, SuhShin, number};
use crate::report::{Kind, Table, Verdict};
use serde::Deserialize;

/// One of the four figures with curves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figure {
    name: String,
    shape: Shape,
    sides: Vec<u64>,
    startup_us: f64,
}

/// Returns a and b of the completion time `a + b m` in us, where m is the block size in bytes. The
/// parameters are those of section 5.
fn time(
    [startups, blocks, hops, rearranged, barriers]: Costs,
    startup_us: f64,
    barrier_us: f64,
) -> (f64, f64) {
    let (tc, rho, tl) = (0.011, 0.014, 0.02);
    (startups * startup_us + hops * tl + barriers * barrier_us, blocks * tc + rearranged * rho)
}

/// The paper's barrier time is t_b = (126 d - 113) us, but the paper does not define d. These are
/// possible meanings.
const READINGS: [&str; 3] = ["d = log2 of the side", "d = log2 of the nodes", "no barriers"];

fn barrier_us(reading: &str, side: u64) -> f64 {
    let d = f64::from(side.ilog2());
    match reading {
        "d = log2 of the side" => 126.0 * d - 113.0,
        "d = log2 of the nodes" => 126.0 * 2.0 * d - 113.0,
        _ => 0.0,
    }
}

/// Returns the costs of the algorithm that the paper cites as `[13]`, according to Table 2.
fn thirteen(paper: &SuhShin, square: &Square) -> Option<Costs> {
    let rival = paper.rivals(square.shape).find(|rival| rival.name == "[13]")?;
    Some(rival.costs(square.side.ilog2()))
}

/// Compares the times of all curves at six block sizes.
pub(super) fn curves(paper: &SuhShin, squares: &[Square]) -> Table {
    let mut table = paper.words.table("Curves of figures 13 to 16");
    for Figure { name, shape, sides, startup_us } in &paper.figure {
        for square in
            squares.iter().filter(|square| square.shape == *shape && sides.contains(&square.side))
        {
            let side = square.side;
            let milliseconds = |costs: Costs, bytes: f64| {
                let (fixed, byte) = time(costs, *startup_us, barrier_us(READINGS[1], side));
                (fixed + byte * bytes) / 1e3
            };
            let proposed = paper.proposed(*shape, &[side, side]);
            let rivals = paper.rivals(*shape).zip(&square.rivals);
            let rivals =
                rivals.map(|(rival, run)| (rival.name.as_str(), rival.costs(side.ilog2()), *run));
            for (algorithm, closed, run) in rivals.chain([("proposed", proposed, Some(square.run))])
            {
                let row = format!("{name}, {} {side} x {side}, {algorithm}", shape.word());
                // The algorithms of other authors were rebuilt from the same closed forms with
                // which they are compared here.
                let is_rebuilt = algorithm != "proposed" && run.is_some();
                table.kind = if is_rebuilt { Kind::Rebuilt } else { Kind::Formula };
                for bytes in [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0] {
                    let paper = milliseconds(closed, bytes);
                    let (ours, verdict) = match run.map(|run| milliseconds(run, bytes)) {
                        Some(ours) => (number(ours), Verdict::computed(paper, ours)),
                        None => (String::new(), Verdict::NotRebuilt),
                    };
                    table.add((&row, &format!("{bytes} B")), number(paper), ours, verdict);
                }
            }
        }
    }
    table
}

/// The crossover of two curves: the run of `suh-shin`, and the closed form of the algorithm that
/// the paper cites as `[13]`.
struct Crossing {
    shape: Shape,
    startup_us: f64,
    reading: &'static str,
    side: u64,
    /// The block size at the crossover, in bytes.
    bytes: f64,
}

/// Returns two tables. The first contains the block sizes above which the paper's own algorithm is
/// faster than `[13]`. The second contains the paper's claims about these block sizes.
pub(super) fn tables(paper: &SuhShin, squares: &[Square]) -> (Table, Table) {
    let mut table = paper.words.table("Figures 13 to 16");
    let mut found: Vec<Crossing> = Vec::new();
    let mut one_crossing = (0, 0);
    for square in squares.iter().filter(|square| square.side >= 16) {
        let Square { shape, side, run, .. } = *square;
        let Some(thirteen) = thirteen(paper, square) else { continue };
        for startup_us in [75.0, 220.0] {
            for reading in READINGS {
                let tb = barrier_us(reading, side);
                let ((a, b), (a13, b13)) =
                    (time(run, startup_us, tb), time(thirteen, startup_us, tb));
                let bytes = (a - a13) / (b13 - b);
                // Count the cases in which the two curves cross at a positive block size. The
                // algorithm that the paper cites as `[13]` is then faster for small blocks, and the
                // paper's algorithm is faster for large blocks.
                one_crossing.1 += 1;
                one_crossing.0 += u32::from(a > a13 && b < b13);
                found.push(Crossing { shape, startup_us, reading, side, bytes });
                let row = format!("{} {side} x {side}, ts = {startup_us} us", shape.word());
                table.add_ours((&row, reading), format!("{bytes:.3}"));
            }
        }
    }
    (table, claims(paper, squares, &found, one_crossing))
}

fn claims(
    paper: &SuhShin,
    squares: &[Square],
    found: &[Crossing],
    one_crossing: (u32, u32),
) -> Table {
    let mut table = paper.words.table("Section 5 in words");
    // A claim holds if it is true in all cases that the paper shows.
    let mut claim = |text: &str, (holds, of): (u32, u32), why: &str| {
        let why = if holds == of { "" } else { why };
        table
            .add((text, ""), "holds", format!("in {holds} of {of}"), Verdict::holds(holds == of))
            .because(why);
    };
    // First claim: the curves cross. The cases were already counted for the table of crossovers.
    claim(
        "[13] is faster for small blocks, the proposed algorithm for large ones (Figs. 13 to 16)",
        one_crossing,
        "",
    );
    // Monotonicity: compare two crossovers that differ in only one parameter.
    let pairs = |check: &dyn Fn(&Crossing, &Crossing) -> Option<bool>| {
        let all = found.iter().flat_map(|a| found.iter().filter_map(move |b| check(a, b)));
        all.fold((0, 0), |(holds, of), this| (holds + u32::from(this), of + 1))
    };
    let falls = pairs(&|a, b| {
        ((a.shape, a.startup_us, a.reading) == (b.shape, b.startup_us, b.reading)
            && b.side == 2 * a.side)
            .then_some(b.bytes < a.bytes)
    });
    claim("the crossover falls as the network grows", falls, "");
    let moves = pairs(&|a, b| {
        ((a.shape, a.reading, a.side) == (b.shape, b.reading, b.side)
            && a.startup_us < b.startup_us)
            .then_some(b.bytes > a.bytes)
    });
    claim("with ts/tc = 20,000 the crossover is at larger blocks", moves, "");
    // Existence: if the crossover is at a block size above one byte, there are block sizes for
    // which [13] is faster.
    let at_byte = found.iter().filter(|f| f.reading == "no barriers" && f.startup_us == 75.0);
    let (wins, of) = at_byte.fold((0, 0), |(n, of), f| (n + u32::from(f.bytes > 1.0), of + 1));
    claim(
        "there is a block size of a byte or more at which [13] is faster, even without the barriers' cost (ts = 75 us)",
        (wins, of),
        "on large networks the crossovers of Figs. 13 and 14 depend on charging barriers",
    );
    // The last claim is not about crossovers. It compares each cost of the proposed algorithm with
    // the same cost of the algorithm of reference [13].
    let mut worse: Vec<String> = Vec::new();
    let (mut better, mut all) = (0, 0);
    for square in squares.iter().filter(|square| square.side >= 8) {
        let Some(thirteen) = thirteen(paper, square) else { continue };
        let Square { shape, side, run, .. } = square;
        for (column, (ours, theirs)) in NAMES.into_iter().zip(run.iter().zip(thirteen)).skip(1) {
            all += 1;
            if *ours <= theirs {
                better += 1;
            } else if !worse.iter().any(|w| w.starts_with(&format!("{} {column}", shape.word()))) {
                worse.push(format!("{} {column} from {side} x {side} on", shape.word()));
            }
        }
    }
    claim(
        "the proposed algorithm is no worse than [13] in all costs but startups (8 x 8 to 128 x 128)",
        (better, all),
        &format!("worse in: {}", worse.join(", ")),
    );
    table
}
