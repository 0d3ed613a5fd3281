//! What the paper says in words, counted in its own tables and in our runs.

use super::{Profiles, Seconds, Timed};
use crate::report::{Table, Verdict};

type Check<'a> = &'a dyn Fn(Seconds) -> (u32, u32);

/// A claim a row: how often it holds in the paper's tables, how often in ours.
pub fn table(cells: &[Timed], profiles: &Profiles) -> Table {
    let mut table = Table::new(
        "Findings",
        "Each claim, counted over the cells it speaks of: in the paper's own tables, and in our runs. A claim about GEN is counted three times: on `delta`, whose \
         higher cost of unpaired bytes is itself a fit to GEN's tables and so proves nothing; at the same cost for every byte, which is what the load of links explains; \
         and so, with GEN's contention as section 3.4 prints it.",
    );
    let find = |algorithm: &str, mesh: &str, bytes: u64| {
        cells.iter().find(|c| (c.algorithm, c.mesh, c.bytes) == (algorithm, mesh, bytes))
    };
    // (first, second) cells of the two algorithms on the same mesh and size, or of the meshes named
    let pairs = |a: &str, b: &str, keep: &dyn Fn(&Timed) -> bool| -> Vec<(usize, usize)> {
        let index = |c: &Timed| cells.iter().position(|x| std::ptr::eq(x, c));
        cells
            .iter()
            .filter(|c| c.algorithm == a && keep(c))
            .filter_map(|c| Some((index(c)?, index(find(b, c.mesh, c.bytes)?)?)))
            .collect()
    };
    let count = |pairs: &[(usize, usize)], time: Seconds, holds: fn(f64, f64) -> bool| {
        let yes = pairs.iter().filter(|(a, b)| holds(time(&cells[*a]), time(&cells[*b]))).count();
        (yes as u32, pairs.len() as u32)
    };
    let large = pairs("pex", "gen", &|c| c.bytes > 1024 && c.mesh != "4x4");
    let small = pairs("pex", "gen", &|c| c.bytes <= 1024 && c.mesh == "4x4");
    let shifted = pairs("pex-gen-shift", "pex-gen", &|_| true);
    let near_power = pairs("pex-gen-shift", "gen", &|c| c.bytes > 256 && (c.mesh == "16x14" || c.mesh == "16x30"));
    let few = pairs("pex-gen", "gen", &|c| c.mesh == "4x5" || c.mesh == "6x8");
    let less: fn(f64, f64) -> bool = |a, b| a < b;
    let not_more: fn(f64, f64) -> bool = |a, b| a <= b;
    let not_less: fn(f64, f64) -> bool = |a, b| a >= b;
    let worse_mesh = |time: Seconds| {
        let sizes = super::SIZES.into_iter();
        let compared = sizes.filter_map(|b| Some((find("pex-gen", "16x30", b)?, find("pex", "16x32", b)?)));
        compared.fold((0, 0), |(yes, of), (a, b)| (yes + u32::from(time(a) > time(b)), of + 1))
    };
    let claims: [(&str, Check<'_>); 7] = [
        ("PEX is faster than GEN on 64 or more processors above 1 KB (section 4)", &|t| count(&large, t, less)),
        ("GEN is no slower than PEX on 4 x 4 up to 1 KB (conclusions)", &|t| count(&small, t, not_less)),
        ("GEN is faster than PEX, not just as fast, on 4 x 4 up to 1 KB (conclusions)", &|t| {
            count(&small, t, |a, b| a > b)
        }),
        ("PEX-GEN-SHIFT is no slower than PEX-GEN (section 4: in most cases)", &|t| count(&shifted, t, not_more)),
        ("PEX-GEN is slower on 16 x 30 than PEX on 16 x 32 (section 4)", &worse_mesh),
        ("PEX-GEN-SHIFT is faster than GEN on 16 x 14 and 16 x 30 above 256 B (section 4)", &|t| {
            count(&near_power, t, less)
        }),
        ("PEX-GEN is faster than GEN on few processors: 4 x 5, 6 x 8 (section 4)", &|t| count(&few, t, less)),
    ];
    for (claim, check) in claims {
        let paper = check(|c| c.paper);
        let mut runs: Vec<(&str, (u32, u32))> = vec![("on `delta`", check(|c| c.ours))];
        if claim.split_whitespace().any(|word| word == "GEN") {
            runs.push(("at the same cost a byte", check(|c| c.alone)));
            runs.push(("and f as printed", check(|c| c.printed)));
        }
        for (column, ours) in runs {
            let why = match (paper.0 == paper.1, ours.0 == ours.1) {
                (true, true) => "",
                (false, _) => "the paper's own tables don't bear it out in every cell",
                (true, false) => "the tables bear it out, the model does not in every cell",
            };
            let share = |(yes, of): (u32, u32)| format!("{yes} of {of}");
            table.add((claim, column), share(paper), share(ours), Verdict::holds(paper == ours), why);
        }
    }
    growth(&mut table, cells);
    bounded_by_pex(&mut table, profiles);
    table
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

/// "The maximum contention of PEX-GEN is upper bounded by that in PEX": of the next power of two.
fn bounded_by_pex(table: &mut Table, profiles: &Profiles) {
    let most = |algorithm, mesh| {
        profiles.get(&(algorithm, mesh)).and_then(|steps| steps.iter().map(|s| s.max_link_messages).max()).unwrap_or(0)
    };
    for algorithm in ["pex-gen", "pex-gen-shift"] {
        for (mesh, power) in [("16x14", "16x16"), ("16x30", "16x32")] {
            let (ours, pex) = (most(algorithm, mesh), most("pex", power));
            table.add(
                (&format!("{algorithm}'s contention on {mesh} is bounded by PEX's on {power} (3.2, 3.3)"), ""),
                format!("<= {pex}"),
                ours,
                Verdict::holds(ours <= pex),
                if ours <= pex { "" } else { "section 4 says the opposite of 3.2, and is right" },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::{SIZES, TABLES};
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
        assert_eq!(counts, ["12 of 12", "2 of 2", "0 of 2", "25 of 25", "5 of 5", "8 of 8", "2 of 10"]);
    }

    #[test]
    fn claims_are_counted_in_the_runs_not_taken_from_the_paper() {
        let gen_is_free = cells(|c| if c.algorithm == "gen" { 0.0 } else { c.paper });
        let ours: Vec<String> =
            counted(&gen_is_free, "at the same cost a byte").into_iter().map(|(_, ours)| ours).collect();
        // the four claims about GEN and PEX, then SHIFT, then PEX-GEN
        assert_eq!(ours, ["0 of 12", "2 of 2", "2 of 2", "0 of 8", "0 of 10"]);
    }
}
