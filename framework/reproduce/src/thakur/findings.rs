//! What the paper says in words, counted in its own tables and in our runs.

use super::data::{SIZES, TABLES};
use super::{Profiles, Seconds, Timed, rows_and_columns};
use crate::report::{Table, Verdict};

/// A sentence of the paper that compares times.
struct Claim<'a> {
    text: &'static str,
    /// Whether GEN is one of the two: then what its bytes cost, and which formula its contention follows, matters.
    about_gen: bool,
    /// The cells that it speaks of, (first, second).
    pairs: Vec<(&'a Timed, &'a Timed)>,
    /// Whether the paper says it of most cases only.
    mostly: bool,
    /// What it says of their seconds.
    holds: fn(f64, f64) -> bool,
}

impl Claim<'_> {
    /// In how many of its pairs of cells it holds.
    fn count(&self, time: Seconds) -> usize {
        self.pairs.iter().filter(|(first, second)| (self.holds)(time(first), time(second))).count()
    }

    /// Whether so many pairs are as many as it speaks of.
    fn borne_out(&self, count: usize) -> bool {
        if self.mostly { 2 * count > self.pairs.len() } else { count == self.pairs.len() }
    }
}

/// A claim a row: how often it holds in the paper's tables, how often in ours.
pub fn table(cells: &[Timed], profiles: &Profiles) -> Table {
    let mut table = Table::new(
        "Findings",
        "Each claim, counted over the cells it speaks of: in the paper's own tables, and in our runs; it agrees where both bear it out, or both equally often. A claim \
         about GEN is counted three times: on `delta`, whose higher cost of unpaired bytes is itself a fit to GEN's tables and so proves nothing; at the same cost \
         for every byte, which is what the load of links explains; and so, with GEN's contention as section 3.4 prints it.",
    );
    for claim in claims(cells) {
        let (paper, of) = (claim.count(|c| c.paper), claim.pairs.len());
        let mut runs: Vec<(&str, usize)> = vec![("on `delta`", claim.count(|c| c.ours))];
        if claim.about_gen {
            runs.push(("at the same cost a byte", claim.count(|c| c.alone)));
            runs.push(("and f as printed", claim.count(|c| c.printed)));
        }
        for (column, ours) in runs {
            let (in_tables, in_runs) = (claim.borne_out(paper), claim.borne_out(ours));
            let why = match (in_tables, in_runs) {
                (true, true) => "",
                (false, _) => "the paper's own tables don't bear it out in every cell",
                (true, false) => "the tables bear it out, the model does not in every cell",
            };
            let share = |n: usize| format!("{n} of {of}");
            let verdict = Verdict::holds(paper == ours || (in_tables && in_runs));
            table.add((claim.text, column), share(paper), share(ours), verdict, why);
        }
    }
    growth(&mut table, cells);
    bounded_by_pex(&mut table, profiles);
    table
}

fn claims(cells: &[Timed]) -> Vec<Claim<'_>> {
    let find = |algorithm: &str, mesh: &str, bytes: u64| {
        cells.iter().find(|c| (c.algorithm, c.mesh, c.bytes) == (algorithm, mesh, bytes))
    };
    // two algorithms on the same mesh with messages of the same size
    let both = |a: &str, b: &str, keep: fn(&Timed) -> bool| -> Vec<(&Timed, &Timed)> {
        let first = cells.iter().filter(|c| c.algorithm == a && keep(c));
        first.filter_map(|c| Some((c, find(b, c.mesh, c.bytes)?))).collect()
    };
    // two meshes, at every size
    let meshes = |a: (&str, &str), b: (&str, &str)| -> Vec<(&Timed, &Timed)> {
        let sizes = SIZES.into_iter();
        sizes.filter_map(|bytes| Some((find(a.0, a.1, bytes)?, find(b.0, b.1, bytes)?))).collect()
    };
    vec![
        Claim {
            text: "PEX is faster than GEN on 64 or more processors above 1 KB (section 4)",
            about_gen: true,
            pairs: both("pex", "gen", |c| c.bytes > 1024 && c.mesh != "4x4"),
            mostly: false,
            holds: |pex, gen_| pex < gen_,
        },
        Claim {
            text: "GEN is no slower than PEX on 4 x 4 up to 1 KB (conclusions)",
            about_gen: true,
            pairs: both("gen", "pex", |c| c.bytes <= 1024 && c.mesh == "4x4"),
            mostly: false,
            holds: |gen_, pex| gen_ <= pex,
        },
        Claim {
            text: "GEN is faster than PEX, not just as fast, on 4 x 4 up to 1 KB (conclusions)",
            about_gen: true,
            pairs: both("gen", "pex", |c| c.bytes <= 1024 && c.mesh == "4x4"),
            mostly: false,
            holds: |gen_, pex| gen_ < pex,
        },
        Claim {
            text: "GEN is faster than PEX for small messages: 256 B, on any mesh (section 4)",
            about_gen: true,
            pairs: both("gen", "pex", |c| c.bytes == 256),
            mostly: false,
            holds: |gen_, pex| gen_ < pex,
        },
        Claim {
            text: "PEX-GEN-SHIFT is no slower than PEX-GEN (section 4)",
            about_gen: false,
            pairs: both("pex-gen-shift", "pex-gen", |_| true),
            mostly: false,
            holds: |shifted, plain| shifted <= plain,
        },
        Claim {
            text: "PEX-GEN-SHIFT is faster than PEX-GEN (section 4: in most cases)",
            about_gen: false,
            pairs: both("pex-gen-shift", "pex-gen", |_| true),
            mostly: true,
            holds: |shifted, plain| shifted < plain,
        },
        Claim {
            text: "PEX-GEN is slower on 16 x 30 than PEX on 16 x 32 (section 4)",
            about_gen: false,
            pairs: meshes(("pex-gen", "16x30"), ("pex", "16x32")),
            mostly: false,
            holds: |general, power| general > power,
        },
        Claim {
            text: "PEX-GEN on 16 x 14 takes about as long as PEX on 16 x 16: within 10 % (section 4)",
            about_gen: false,
            pairs: meshes(("pex-gen", "16x14"), ("pex", "16x16")),
            mostly: false,
            holds: |general, power| (general / power - 1.0).abs() <= 0.1,
        },
        Claim {
            text: "PEX-GEN on 16 x 9 takes almost twice as long as PEX on 16 x 8: 1.5 to 2 times (section 4)",
            about_gen: false,
            pairs: meshes(("pex-gen", "16x9"), ("pex", "16x8")),
            mostly: false,
            holds: |general, power| (1.5..=2.0).contains(&(general / power)),
        },
        Claim {
            text: "PEX-GEN-SHIFT is faster than GEN on 16 x 14 and 16 x 30 above 256 B (section 4)",
            about_gen: true,
            pairs: both("pex-gen-shift", "gen", |c| c.bytes > 256 && ["16x14", "16x30"].contains(&c.mesh)),
            mostly: false,
            holds: |shifted, gen_| shifted < gen_,
        },
        Claim {
            text: "GEN is faster than PEX-GEN-SHIFT where q - p is large: 4 x 5, 16 x 9 (conclusions)",
            about_gen: true,
            pairs: both("gen", "pex-gen-shift", |c| ["4x5", "16x9"].contains(&c.mesh)),
            mostly: false,
            holds: |gen_, shifted| gen_ < shifted,
        },
        Claim {
            text: "PEX-GEN is faster than GEN on few processors: 4 x 5, 6 x 8 (section 4)",
            about_gen: true,
            pairs: both("pex-gen", "gen", |c| ["4x5", "6x8"].contains(&c.mesh)),
            mostly: false,
            holds: |general, gen_| general < gen_,
        },
    ]
}

/// "The time taken increases almost linearly with the number of processors": from 16 to 512 of them.
fn growth(table: &mut Table, cells: &[Timed]) {
    for bytes in [256, 16384] {
        let time = |mesh: &str, time: Seconds| {
            cells.iter().find(|c| (c.table, c.mesh, c.bytes) == ("Table 2", mesh, bytes)).map_or(f64::NAN, time)
        };
        let ratio = |of: Seconds| time("16x32", of) / time("4x4", of);
        // "almost" is taken as a quarter
        let linear = |x: f64| (x / 32.0 - 1.0).abs() <= 0.25;
        let (paper, ours) = (ratio(|c| c.paper), ratio(|c| c.ours));
        let holds = linear(paper) && linear(ours);
        table.add(
            (&format!("PEX's time grows almost linearly with processors, x 32 from 4 x 4 to 16 x 32 (section 4), {bytes} B"), ""),
            format!("x {paper:.0}"),
            format!("x {ours:.0}"),
            Verdict::holds(holds),
            if holds { "" } else { "it grows faster: messages share links more on larger meshes" },
        );
    }
}

/// The mesh whose sides are the next powers of two: the one that PEX needs, and PEX-GEN imagines.
pub fn power_of_two_mesh(mesh: &str) -> String {
    let (r, c) = rows_and_columns(mesh);
    format!("{}x{}", r.next_power_of_two(), c.next_power_of_two())
}

/// "The maximum contention of PEX-GEN is upper bounded by that in PEX": of the next power of two.
fn bounded_by_pex(table: &mut Table, profiles: &Profiles) {
    let most = |algorithm: &'static str, mesh: &str| {
        profiles.get(&(algorithm, mesh.to_owned()))?.iter().map(|s| s.max_link_messages).max()
    };
    let general = TABLES.iter().filter(|t| ["pex-gen", "pex-gen-shift"].contains(&t.algorithm));
    for (algorithm, mesh) in general.flat_map(|t| t.meshes.map(|(mesh, _)| (t.algorithm, mesh))) {
        let power = power_of_two_mesh(mesh);
        let (Some(ours), Some(pex)) = (most(algorithm, mesh), most("pex", &power)) else { continue };
        let why = match (ours > pex, mesh) {
            (false, _) => "",
            (true, "16x30") => "section 4 says the opposite of 3.2, and is right",
            (true, _) => "where c is no power of two, exclusive-or no longer acts on row and column apart",
        };
        table.add(
            (&format!("{algorithm}'s contention on {mesh} is bounded by PEX's on {power} (3.2, 3.3)"), ""),
            format!("<= {pex}"),
            ours,
            Verdict::holds(ours <= pex),
            why,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's cells as if runs had taken the paper's seconds, but those at the same cost a byte what `time` says.
    fn cells(time: Seconds) -> Vec<Timed> {
        let mut cells = Vec::new();
        for measured in &TABLES {
            for (mesh, seconds) in measured.meshes {
                for (bytes, paper) in SIZES.into_iter().zip(seconds) {
                    let (table, algorithm) = (measured.id, measured.algorithm);
                    let mut cell =
                        Timed { table, algorithm, mesh, bytes, paper, ours: paper, alone: paper, printed: paper };
                    cell.alone = time(&cell);
                    cells.push(cell);
                }
            }
        }
        cells
    }

    fn counted(cells: &[Timed], column: &str) -> Vec<(String, String)> {
        let table = table(cells, &Profiles::new());
        let cells = table.cells.into_iter().filter(|c| c.column == column);
        cells.map(|c| (c.paper, c.ours)).collect()
    }

    #[test]
    fn the_papers_own_tables_bear_out_most_of_its_claims() {
        let counts: Vec<String> =
            counted(&cells(|c| c.paper), "on `delta`").into_iter().map(|(paper, _)| paper).collect();
        let of_gen_and_pex = ["12 of 12", "2 of 2", "0 of 2", "3 of 5"];
        let of_shift_and_pex_gen = ["25 of 25", "16 of 25", "5 of 5", "5 of 5", "5 of 5"];
        let of_gen_and_the_others = ["8 of 8", "10 of 10", "2 of 10"];
        assert_eq!(counts, [&of_gen_and_pex[..], &of_shift_and_pex_gen[..], &of_gen_and_the_others[..]].concat());
    }

    #[test]
    fn claims_are_counted_in_the_runs_not_taken_from_the_paper() {
        let gen_is_free = cells(|c| if c.algorithm == "gen" { 0.0 } else { c.paper });
        let ours: Vec<String> =
            counted(&gen_is_free, "at the same cost a byte").into_iter().map(|(_, ours)| ours).collect();
        // the four claims about GEN and PEX, then two about SHIFT, then PEX-GEN
        assert_eq!(ours, ["0 of 12", "2 of 2", "2 of 2", "5 of 5", "0 of 8", "10 of 10", "0 of 10"]);
    }

    #[test]
    fn pex_gen_imagines_the_mesh_of_the_next_powers_of_two() {
        assert_eq!(["4x5", "16x9", "16x32"].map(power_of_two_mesh), ["4x8", "16x16", "16x32"]);
    }
}
