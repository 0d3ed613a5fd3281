//! Table II, which lists communication times, and the theorems from which it follows.

use super::networks::parsed;
use super::{Li, MACHINE};
use crate::bench::{Bench, ReproduceError};
use crate::formula::Formula;
use crate::report::{Table, Verdict, same};
use serde::Deserialize;

/// A communication pattern of Table II. It has the name in the paper, our name of the collective,
/// and the names of our algorithms for cubes and dual-nets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pattern {
    name: String,
    /// The theorem that states the time of the pattern.
    theorem: String,
    collective: String,
    cube: String,
    rdn: String,
    words: Formula,
    /// A formula for the number of words that the printed algorithm sends on a dual-net. The
    /// formula uses the number for a dual-net with one level less.
    recurrence: Option<Formula>,
    /// A text that explains the lower bound on the number of words.
    least: String,
    /// For each network, the number of start-ups and the number of words according to Table II.
    table_2: [[u64; 2]; 4],
    /// For each network, the reason why the paper's number of words differs from the number that
    /// the printed algorithm sends.
    #[serde(default)]
    why: [String; 4],
}

/// A network of Table II.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Network {
    name: String,
    spec: String,
    /// The number of levels of a dual-net; 0 for a cube.
    k: u32,
}

/// The number of start-ups and the number of words of an algorithm.
type Time = [u64; 2];

/// The results of running a pattern on a network.
pub(super) struct Measured<'a> {
    pattern: &'a Pattern,
    network: &'a Network,
    paper: Time,
    why: &'a str,
    printed: Time,
    /// The time of the variant `lean`, which sends no superfluous words. It is `None` on cubes,
    /// where the paper uses algorithms of other papers.
    lean: Option<Time>,
    /// A lower bound on the number of words. Every one-port schedule sends at least this number.
    least: u64,
    /// The time of the cube algorithm on a 3-cube with blocks of one word. The 3-cube is the base
    /// of the dual-nets.
    base: Time,
}

pub(super) fn run<'a>(li: &'a Li, bench: &Bench<'_>) -> Result<Vec<Measured<'a>>, ReproduceError> {
    let mut measured = Vec::new();
    for (i, network) in li.network.iter().enumerate() {
        let topology = parsed(&network.spec)?;
        for pattern in &li.pattern {
            let time = |spec: &str, algorithm: &str| -> Result<Time, ReproduceError> {
                let row = bench.row(
                    spec,
                    algorithm,
                    &format!("{}/uniform:1", pattern.collective),
                    MACHINE,
                )?;
                Ok([row.critical_hops.unwrap_or(0), row.critical_bytes.unwrap_or(0) as u64])
            };
            let on_dual_net = network.k > 0;
            measured.push(Measured {
                pattern,
                network,
                paper: pattern.table_2[i],
                why: &pattern.why[i],
                printed: match on_dual_net {
                    true => time(&network.spec, &format!("{}:variant=printed", pattern.rdn))?,
                    false => time(&network.spec, &pattern.cube)?,
                },
                lean: if on_dual_net { Some(time(&network.spec, &pattern.rdn)?) } else { None },
                // The lower bound depends on the collective. For a broadcast, it is the number of
                // hops to the farthest node. For an all-to-all, it is the number of links that all
                // blocks of a node must cross in total. Otherwise, it is the number of blocks that
                // one node must send or receive.
                least: match pattern.collective.as_str() {
                    "broadcast" => topology.diameter(),
                    "alltoall" => topology.distance_sum().unwrap_or(0),
                    _ => topology.nodes() - 1,
                },
                base: time("hypercube:3", &pattern.cube)?,
            });
        }
    }
    Ok(measured)
}

/// Compares Table II cell by cell.
pub(super) fn table_2(li: &Li, measured: &[Measured<'_>]) -> Table {
    let mut table = li.words.table("Table II");
    for cell in measured {
        let name = format!("{} on {}", cell.pattern.name, cell.network.name);
        let ([startups, words], [our_startups, our_words]) = (cell.paper, cell.printed);
        table.add_whole((&name, "start-ups"), startups, our_startups);
        let why = if words == our_words { "" } else { cell.why };
        table.add_whole((&name, "words"), words, our_words).because(why);
        if let Some([lean_startups, lean_words]) = cell.lean {
            let start = if lean_startups == our_startups { "in as many start-ups" } else { "" };
            table.add_ours((&name, "words, lean"), lean_words).because(start);
        }
        let why = match words < cell.least {
            true => "the paper's value is below it: no schedule has so few words",
            false => &cell.pattern.least,
        };
        table.add_ours((&name, "least words"), cell.least).because(why);
    }
    table
}

/// Compares Theorems 3 to 6 with runs on dual-nets whose base is a 3-cube.
pub(super) fn theorems(li: &Li, measured: &[Measured<'_>]) -> Table {
    let mut table = li.words.table("Theorems 3 to 6");
    for cell in measured.iter().filter(|cell| cell.network.k > 0) {
        let k = cell.network.k;
        let [base_startups, base_words] = cell.base.map(|figure| figure as f64);
        let variable = |name: &str| match name {
            "k" => Some(f64::from(k)),
            "n_0" => Some(8.0),
            "S" => Some(base_startups),
            "T" => Some(base_words),
            _ => None,
        };
        let name = format!("{}, k = {k}", cell.pattern.theorem);
        let startups =
            li.r#let.get("startups").map_or(f64::NAN, |formula| li.value(formula, &variable));
        let words = li.value(&cell.pattern.words, &variable);
        for (column, paper, ours) in
            [("start-ups", startups, cell.printed[0]), ("words", words, cell.printed[1])]
        {
            let verdict = Verdict::computed(paper, ours as f64);
            let agrees = verdict == Verdict::Agrees;
            let why = if agrees {
                ""
            } else {
                "its n_k term is too large: the recurrence below gives the run's value"
            };
            table.add((&name, column), paper, ours, verdict).because(why);
        }
        let Some(recurrence) = &cell.pattern.recurrence else { continue };
        let ours = by_recurrence(li, recurrence, k, base_words);
        let fits = match same(ours, cell.printed[1] as f64) {
            true => "the run's value".to_owned(),
            false => format!("the run takes {}", cell.printed[1]),
        };
        let why =
            format!("T(k) = {}, with n = n_k, c = n_(k-1), T = T(k-1): {fits}", recurrence.text());
        table.add_ours((&name, "words, by a recurrence of ours"), ours).because(&why);
    }
    table
}

/// Returns the number of words on a dual-net with k levels whose base is a 3-cube. It is computed
/// by applying the recurrence k times.
fn by_recurrence(li: &Li, recurrence: &Formula, k: u32, base_words: f64) -> f64 {
    (1..=k)
        .fold((8.0, base_words), |(c, words), _| {
            let n = 2.0 * c * c;
            let variable = |name: &str| match name {
                "n" => Some(n),
                "c" => Some(c),
                "T" => Some(words),
                _ => None,
            };
            (n, li.value(recurrence, &variable))
        })
        .1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recurrences_match_the_printed_algorithms() {
        let li = Li::read().unwrap();
        let words = |name: &str, base: f64| {
            let pattern = li.pattern.iter().find(|pattern| pattern.name == name).unwrap();
            [1, 2].map(|k| by_recurrence(&li, pattern.recurrence.as_ref().unwrap(), k, base))
        };
        // The expected values come from a separate program that moved every block.
        assert_eq!(words("One2All_P", 7.0), [127.0, 32767.0]);
        assert_eq!(words("All2All_B", 7.0), [135.0, 33927.0]);
        assert_eq!(words("All2All_P", 12.0), [574.0, 343_038.0]);
    }
}
