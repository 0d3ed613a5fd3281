//! Suh & Shin: Table 1, Table 2, and the crossovers behind Figs. 13 to 16.

use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use formulas::{Costs, Rival, Shape, proposed, rivals};

mod formulas;

/// Everything of the paper that can be re-run.
pub fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let sides = [4_u64, 8, 16, 32, 64, 128];
    let mut runs = Vec::new();
    for shape in [Shape::Torus, Shape::Mesh] {
        for side in sides {
            runs.push((shape, side, run_costs(bench, shape, &[side, side])?));
        }
    }
    let (crossovers, claims) = crossovers(&runs);
    Ok(vec![table_1(bench)?, table_2(&runs), crossovers, claims])
}

/// The five costs of a run, in the paper's units: on this machine each of them costs 1.
fn run_costs(bench: &Bench<'_>, shape: Shape, dims: &[u64]) -> Result<Costs, ReproduceError> {
    const UNIT_MACHINE: &str = "free:startup_us=1,byte_us=1,hop_us=1,rearrange_byte_us=1,barrier_us=1";
    let sizes: Vec<String> = dims.iter().map(u64::to_string).collect();
    let topology = format!("{}:{}", shape.word(), sizes.join("x"));
    let row = bench.row(&topology, "suh-shin", "uniform:1", UNIT_MACHINE)?;
    let part = |part: Option<f64>| part.unwrap_or(f64::NAN);
    Ok(Costs {
        startups: part(row.startup_us),
        blocks: part(row.transmission_us),
        hops: part(row.propagation_us),
        rearranged: part(row.rearrangement_us),
        barriers: part(row.barrier_us),
    })
}

/// Table 1: the closed forms against runs on sizes of two, three and four dimensions.
fn table_1(bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new(
        "Table 1",
        "Costs of the proposed algorithms: startups, blocks transmitted, hops, blocks rearranged and barriers, each summed over steps. The paper \
         numbers dimensions so that N1 is the largest; sizes with the largest last are run as well.",
    );
    let tori: [&[u64]; 11] = [
        &[4, 4],
        &[8, 8],
        &[12, 12],
        &[16, 16],
        &[8, 12],
        &[12, 8],
        &[8, 8, 8],
        &[12, 8, 8],
        &[8, 4, 4],
        &[4, 4, 8],
        &[4, 4, 4, 4],
    ];
    let meshes: [&[u64]; 8] = [&[4, 4], &[6, 6], &[8, 8], &[6, 8], &[6, 6, 6], &[8, 6, 4], &[4, 6, 8], &[4, 4, 4, 4]];
    let sizes = tori.iter().map(|d| (Shape::Torus, *d)).chain(meshes.iter().map(|d| (Shape::Mesh, *d)));
    for (shape, dims) in sizes {
        let (paper, ours) = (proposed(shape, dims), run_costs(bench, shape, dims)?);
        let names: Vec<String> = dims.iter().map(u64::to_string).collect();
        let row = format!("{} {}", shape.word(), names.join(" x "));
        let (last, others) = (dims[dims.len() - 1], &dims[..dims.len() - 1]);
        let last_is_largest = dims.len() >= 3 && others.iter().all(|d| *d < last);
        let why = if last_is_largest {
            "the formula charges every phase for the largest dimension; the last dimension is travelled in Phases 1 and n only"
        } else {
            ""
        };
        for ((column, paper), (_, ours)) in paper.named().into_iter().zip(ours.named()) {
            let verdict = Verdict::exactly(&paper, &ours);
            table.add((&row, column), paper, ours, verdict, if verdict == Verdict::Exact { "" } else { why });
        }
    }
    Ok(table)
}

/// Table 2: the closed forms of all rows; beside `proposed`, the run.
fn table_2(runs: &[(Shape, u64, Costs)]) -> Table {
    let mut table = Table::new(
        "Table 2",
        "Costs on a 2^d x 2^d torus or mesh. [13], [16] and [19] are closed forms that the paper takes from elsewhere: their cells under \"ours\" \
         are empty, but for what no schedule of a one-port machine can do. `proposed` is beside its run.",
    );
    for (shape, side, run) in runs {
        let d = side.ilog2();
        let name = format!("{} {side} x {side}", shape.word());
        for Rival { name: rival, costs } in rivals(*shape, d) {
            let row = format!("{name}, {rival}");
            let fewest = f64::from(2 * d);
            for (column, paper) in costs.named() {
                let impossible = column == "startups" && paper < fewest;
                let why = format!(
                    "below log2 of the nodes = {fewest}, which one-port schedules need: the form does not hold for d = {d}"
                );
                if impossible {
                    table.add((&row, column), paper, format!(">= {fewest}"), Verdict::Differs, &why);
                } else {
                    table.add((&row, column), paper, "", Verdict::NotGiven, "");
                }
            }
        }
        let row = format!("{name}, proposed");
        for ((column, paper), (_, ours)) in proposed(*shape, &[*side, *side]).named().into_iter().zip(run.named()) {
            table.add((&row, column), paper, ours, Verdict::exactly(&paper, &ours), "");
        }
    }
    table
}

/// Readings of d in t_b = (126 d - 113) us, which the paper does not define.
const READINGS: [&str; 3] = ["d = log2 of the side", "d = log2 of the nodes", "no barriers"];

fn barrier_us(reading: &str, side: u64) -> f64 {
    let d = f64::from(side.ilog2());
    match reading {
        "d = log2 of the side" => 126.0 * d - 113.0,
        "d = log2 of the nodes" => 126.0 * 2.0 * d - 113.0,
        _ => 0.0,
    }
}

/// Where the run of `suh-shin` overtakes the closed form of [13].
struct Crossing {
    shape: Shape,
    startup_us: f64,
    reading: &'static str,
    side: u64,
    /// The block size, in bytes.
    bytes: f64,
}

/// Figs. 13 to 16: the block size above which the proposed algorithm beats [13], and what the paper says of it in words.
fn crossovers(runs: &[(Shape, u64, Costs)]) -> (Table, Table) {
    let mut table = Table::new(
        "Figures 13 to 16",
        "Bytes a block above which the run of `suh-shin` beats the closed form of [13], with the paper's parameters. The figures print no numbers. \
         `paragon` takes d as log2 of the nodes.",
    );
    let mut found: Vec<Crossing> = Vec::new();
    let mut one_crossing = (0, 0);
    for (shape, side, run) in runs.iter().filter(|(_, side, _)| *side >= 16) {
        for startup_us in [75.0, 220.0] {
            for reading in READINGS {
                let tb = barrier_us(reading, *side);
                let (a, b) = run.time(startup_us, tb);
                let Some(rival) = rivals(*shape, side.ilog2()).into_iter().find(|r| r.name == "[13]") else { continue };
                let (a13, b13) = rival.costs.time(startup_us, tb);
                let crossing = (a - a13) / (b13 - b);
                // [13] ahead for small blocks, the proposed one for large: lines that cross once, at a positive size
                one_crossing.1 += 1;
                one_crossing.0 += u32::from(a > a13 && b < b13);
                found.push(Crossing { shape: *shape, startup_us, reading, side: *side, bytes: crossing });
                let row = format!("{} {side} x {side}, ts = {startup_us} us", shape.word());
                table.add((&row, reading), "", format!("{crossing:.3}"), Verdict::NotGiven, "");
            }
        }
    }
    (table, claims(runs, &found, one_crossing))
}

fn claims(runs: &[(Shape, u64, Costs)], found: &[Crossing], one_crossing: (u32, u32)) -> Table {
    let mut table = Table::new(
        "Section 5 in words",
        "What the text says of the figures and of Table 2, and how often it holds in the cells above.",
    );
    let mut claim = |text: &str, (holds, of): (u32, u32), why: &str| {
        let why = if holds == of { "" } else { why };
        table.add((text, ""), "holds", format!("in {holds} of {of}"), Verdict::holds(holds == of), why);
    };
    claim("[13] is faster for small blocks, the proposed algorithm for large ones (Figs. 13 to 16)", one_crossing, "");
    let pairs = |check: &dyn Fn(&Crossing, &Crossing) -> Option<bool>| {
        let mut tally = (0, 0);
        for a in found {
            for b in found {
                if let Some(holds) = check(a, b) {
                    tally = (tally.0 + u32::from(holds), tally.1 + 1);
                }
            }
        }
        tally
    };
    let falls = pairs(&|a, b| {
        ((a.shape, a.startup_us, a.reading) == (b.shape, b.startup_us, b.reading) && b.side == 2 * a.side)
            .then_some(b.bytes < a.bytes)
    });
    claim("the crossover falls as the network grows", falls, "");
    let moves = pairs(&|a, b| {
        ((a.shape, a.reading, a.side) == (b.shape, b.reading, b.side) && a.startup_us < b.startup_us)
            .then_some(b.bytes > a.bytes)
    });
    claim("with ts/tc = 20,000 the crossover is at larger blocks", moves, "");
    let at_byte = found.iter().filter(|f| f.reading == "no barriers" && f.startup_us == 75.0);
    let (wins, of) = at_byte.fold((0, 0), |(n, of), f| (n + u32::from(f.bytes > 1.0), of + 1));
    claim(
        "there is a block size of a byte or more at which [13] is faster, even without the barriers' cost (ts = 75 us)",
        (wins, of),
        "on large networks the crossovers of Figs. 13 and 14 depend on charging barriers",
    );
    let mut worse: Vec<String> = Vec::new();
    let (mut better, mut all) = (0, 0);
    for (shape, side, run) in runs.iter().filter(|(_, side, _)| *side >= 8) {
        for rival in rivals(*shape, side.ilog2()).iter().filter(|r| r.name == "[13]") {
            for ((column, ours), (_, theirs)) in run.named().into_iter().zip(rival.costs.named()) {
                if column == "startups" {
                    continue;
                }
                all += 1;
                if ours <= theirs {
                    better += 1;
                } else if !worse.iter().any(|w| w.starts_with(&format!("{} {column}", shape.word()))) {
                    worse.push(format!("{} {column} from {side} x {side} on", shape.word()));
                }
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
