//! Spencer's thesis: Tables 3.1, 3.2 and 4.4 and the numbered formulas, each beside a run of the verified schedule on several tori.
//!
//! The thesis drops floors and ceilings, so a formula is met only where its logarithm is whole; elsewhere the run is compared with the same formula, its logarithm rounded
//! up, too. Propagation is in blocks: what a round costs is the largest, over its circuits, of their blocks times the circuits that share some link.

use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};

mod appendix;
mod bounds;
mod disseminations;
mod permutations;

/// The three terms of the thesis's costs, in rounds, links and blocks; or of a lower bound.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Costs {
    rounds: f64,
    switching: f64,
    propagation: f64,
}

impl Costs {
    fn terms(self) -> [(&'static str, f64); 3] {
        [("rounds", self.rounds), ("switching", self.switching), ("propagation", self.propagation)]
    }
}

/// Rounding of a logarithm: none, as printed, or up, as a schedule must.
type Round = fn(f64) -> f64;

fn as_printed(x: f64) -> f64 {
    x
}

/// Up, but for what is whole and only looks otherwise to a computer.
fn up(x: f64) -> f64 {
    (x - 1e-9).ceil().max(0.0)
}

/// A torus of equal dimensions with so many circuits a link.
#[derive(Debug, Clone, Copy)]
struct Torus {
    d: u32,
    n: u64,
    q: u64,
}

impl Torus {
    const fn new(d: u32, n: u64, q: u64) -> Self {
        Self { d, n, q }
    }

    /// d, n, q and N = n^d.
    fn figures(self) -> [f64; 4] {
        let n = self.n as f64;
        [self.d.into(), n, self.q as f64, n.powi(self.d as i32)]
    }

    fn spec(self) -> String {
        if self.d == 1 {
            return format!("ring:{}", self.n);
        }
        format!("torus:{}", vec![self.n.to_string(); self.d as usize].join("x"))
    }

    fn name(self) -> String {
        format!("{}, q = {}", self.spec(), self.q)
    }

    /// What the verified schedule takes, on a machine whose links carry `channels` circuits.
    fn run(
        self,
        bench: &Bench<'_>,
        (algorithm, workload): (&str, &str),
        ports: &str,
        channels: u64,
    ) -> Result<Costs, ReproduceError> {
        // Each term alone in its column, a unit each.
        let machine =
            format!("free:model=circuit,startup_us=1,hop_us=1,byte_us=1,ports={ports},virtual_channels={channels}");
        let row = bench.row(&self.spec(), algorithm, workload, &machine)?;
        let parts = row.parts();
        let of = |part: Option<f64>| part.unwrap_or(0.0);
        let propagation = of(parts.transmission) + of(parts.contention);
        Ok(Costs { rounds: of(parts.startup), switching: of(parts.propagation), propagation })
    }

    /// Links that the block goes which goes farthest, whatever the schedule: the lower bound of a row where nothing else costs anything.
    fn farthest(self, bench: &Bench<'_>, (algorithm, workload): (&str, &str)) -> Result<f64, ReproduceError> {
        let row = bench.row(&self.spec(), algorithm, workload, "free:model=circuit,hop_us=1,ports=all")?;
        Ok(row.lower_bound_us.unwrap_or_default())
    }
}

/// A lower bound as printed, and what no schedule can be below, which may be less.
#[derive(Debug, Clone, Copy)]
struct Bound {
    printed: Costs,
    sound: Costs,
    /// Why the printed one can be too high.
    why: &'static str,
}

impl From<Costs> for Bound {
    fn from(sound: Costs) -> Self {
        Self { printed: sound, sound, why: "" }
    }
}

impl Bound {
    /// What is said of term number `i`.
    fn note(self, i: usize) -> String {
        let (printed, sound) = (self.printed.terms()[i].1, self.sound.terms()[i].1);
        if sound < printed - 1e-6 {
            format!(
                "lower bound {} as printed, which is too high: {}; {} here",
                figure(printed),
                self.why,
                figure(sound)
            )
        } else {
            format!("lower bound {}", figure(printed))
        }
    }
}

/// Why a term differs from the formula, where it does: by its name.
type Why = &'static [(&'static str, &'static str)];

/// A formula beside a run, term by term.
fn compare(
    table: &mut Table,
    row: &str,
    formula: &dyn Fn(Round) -> Costs,
    ours: Costs,
    bound: Option<Bound>,
    why: Why,
) {
    let (printed, rounded) = (formula(as_printed), formula(up));
    for (i, (term, paper)) in printed.terms().into_iter().enumerate() {
        let (ours, rounded) = (ours.terms()[i].1, rounded.terms()[i].1);
        let mut notes = Vec::new();
        let same = |a: f64, b: f64| (a - b).abs() < 1e-6 * a.abs().max(1.0);
        let off = 100.0 * (ours / paper - 1.0);
        let verdict = if same(paper, ours) {
            Verdict::Exact
        } else {
            let only_rounded = same(rounded, ours);
            if only_rounded {
                notes.push("as the formula with its logarithm rounded up".to_owned());
            } else {
                if !same(rounded, paper) {
                    notes.push(format!("{} with the logarithm rounded up", figure(rounded)));
                }
                notes.extend(why.iter().filter(|(of, _)| *of == term).map(|(_, why)| (*why).to_owned()));
            }
            if only_rounded || off.abs() <= 10.0 { Verdict::Within(off) } else { Verdict::Differs }
        };
        if let Some(bound) = bound {
            notes.push(bound.note(i));
        }
        table.add((row, term), figure(paper), figure(ours), verdict, &notes.join("; "));
    }
}

/// A figure as one would write it: whole, or with two decimals.
fn figure(x: f64) -> String {
    let text = format!("{x:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The logarithm of x to a base.
fn log(base: f64, x: f64) -> f64 {
    x.ln() / base.ln()
}

/// Everything of the thesis that can be re-run.
pub fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let mut tables = vec![bounds::table_3_1(bench)?];
    tables.extend(disseminations::tables(bench)?);
    tables.extend(permutations::tables(bench)?);
    tables.push(appendix::table(bench)?);
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_exact_or_near_or_differs_and_says_why() {
        let mut table = Table::new("t", "");
        let formula = |round: Round| Costs { rounds: round(1.5), switching: 10.0, propagation: 8.0 };
        let ours = Costs { rounds: 2.0, switching: 10.0, propagation: 8.4 };
        let printed = Costs { rounds: 1.0, switching: 10.5, propagation: 4.0 };
        let bound = Some(Bound { printed, sound: Costs { switching: 10.0, ..printed }, why: "odd" });
        compare(&mut table, "r", &formula, ours, bound, &[("propagation", "because")]);
        let cells: Vec<_> = table.cells.iter().map(|c| (&c.paper[..], &c.ours[..], c.verdict, &c.why[..])).collect();
        let rounded = "as the formula with its logarithm rounded up; lower bound 1";
        assert!(matches!(cells[0], ("1.5", "2", Verdict::Within(_), why) if why == rounded));
        assert_eq!(
            cells[1],
            ("10", "10", Verdict::Exact, "lower bound 10.5 as printed, which is too high: odd; 10 here")
        );
        assert!(matches!(cells[2], ("8", "8.4", Verdict::Within(_), "because; lower bound 4")));
    }

    #[test]
    fn whole_logarithms_are_not_rounded_up_further() {
        for (base, power) in [(3.0_f64, 27.0), (5.0, 25.0), (3.0, 9.0), (7.0, 343.0), (3.0, 243.0)] {
            assert_eq!(up(log(base, power)), log(base, power).round());
        }
        assert_eq!((up(1.1), up(0.0), up(-0.4)), (2.0, 0.0, 0.0));
    }
}
