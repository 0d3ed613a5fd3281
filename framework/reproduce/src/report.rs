//! What a reproduction says: tables of cells, each with the paper's figure, ours, and whether they
//! agree.

use std::fmt::Write as _;

/// How our figure relates to the paper's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The same, to the figures that the paper prints.
    Agrees,
    /// So many per cent off.
    Off(f64),
    /// Something else than the paper has; the cell says why.
    Differs,
    /// The paper gives a bound, and ours is on its right side without reaching it.
    Keeps,
    /// The paper gives a bound, and ours is beyond it.
    Breaks,
    /// A claim that is borne out.
    Holds,
    /// A claim that is not.
    Fails,
    /// Ours is what the algorithm declares of itself: nothing measures it.
    Declared,
    /// The paper gives no figure to compare with.
    NotGiven,
    /// There is no schedule to compare the paper's figure with; the cell says why.
    NotRebuilt,
}

/// Whether two computed figures are the same but for rounding in the last places.
pub(crate) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * a.abs().max(1.0)
}

/// A figure as one would write it: whole, or with two decimals.
pub(crate) fn figure(x: f64) -> String {
    let text = format!("{x:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Verdict {
    /// The verdict on a measured figure that the paper prints with so many decimals.
    pub fn measured(paper: f64, ours: f64, decimals: usize) -> Self {
        let printed = |x: f64| format!("{x:.decimals$}");
        if printed(paper) == printed(ours) { Self::Agrees } else { Self::off(paper, ours) }
    }

    /// The verdict on a figure that a formula of the paper gives.
    pub fn computed(paper: f64, ours: f64) -> Self {
        if same(paper, ours) { Self::Agrees } else { Self::off(paper, ours) }
    }

    fn off(paper: f64, ours: f64) -> Self {
        if paper == 0.0 { Self::Differs } else { Self::Off(100.0 * (ours / paper - 1.0)) }
    }

    /// The verdict on a whole number.
    pub fn whole(paper: impl Into<u128>, ours: impl Into<u128>) -> Self {
        Self::computed(paper.into() as f64, ours.into() as f64)
    }

    /// The verdict on what is told in words or lists.
    pub fn exactly<T: PartialEq + ?Sized>(paper: &T, ours: &T) -> Self {
        if paper == ours { Self::Agrees } else { Self::Differs }
    }

    /// The verdict on a figure that the paper bounds from above.
    pub fn at_most(bound: f64, ours: f64) -> Self {
        match same(bound, ours) {
            true => Self::Agrees,
            false if ours < bound => Self::Keeps,
            false => Self::Breaks,
        }
    }

    /// The verdict on a figure that the paper bounds from below.
    pub fn at_least(bound: f64, ours: f64) -> Self {
        Self::at_most(ours, bound)
    }

    /// The verdict on a claim.
    pub fn holds(yes: bool) -> Self {
        if yes { Self::Holds } else { Self::Fails }
    }

    fn text(self) -> String {
        match self {
            Self::Agrees => "agrees".to_owned(),
            Self::Off(percent) => format!("{percent:+.1} %"),
            Self::Differs => "differs".to_owned(),
            Self::Keeps => "keeps the bound".to_owned(),
            Self::Breaks => "breaks the bound".to_owned(),
            Self::Holds => "holds".to_owned(),
            Self::Fails => "does not hold".to_owned(),
            Self::Declared => "declared".to_owned(),
            Self::NotGiven => "no figure".to_owned(),
            Self::NotRebuilt => "not rebuilt".to_owned(),
        }
    }

    /// Under which of [`COUNTED`] it is counted.
    fn counted(self) -> &'static str {
        match self {
            Self::Agrees => COUNTED[0],
            // as printed: what reads 10.0 is counted as 10
            Self::Off(percent) if (percent * 10.0).round().abs() <= 100.0 => COUNTED[1],
            Self::Off(_) => COUNTED[2],
            Self::Differs => COUNTED[3],
            Self::Keeps => COUNTED[4],
            Self::Breaks => COUNTED[5],
            Self::Holds => COUNTED[6],
            Self::Fails => COUNTED[7],
            Self::Declared => COUNTED[8],
            Self::NotGiven => COUNTED[9],
            Self::NotRebuilt => COUNTED[10],
        }
    }
}

/// What cells are counted as, in the order of a summary.
const COUNTED: [&str; 11] = [
    "agree",
    "within 10 %",
    "further off",
    "differ",
    "keep a bound",
    "break a bound",
    "claims hold",
    "claims don't",
    "declared, not measured",
    "without a figure in the paper",
    "not rebuilt",
];

/// What the verdicts mean, for whoever reads a page.
const WORDS: &str = "A cell *agrees* where our figure is the paper's to the digits that it prints (a formula's value: to a millionth); a percentage says how far off ours is; what is not a \
number *differs*. Where the paper gives a bound, ours *keeps* it, *breaks* it, or agrees with it. A claim *holds* where it is borne out in every case that it speaks of, by the threshold that \
its table states. *Declared*: ours is what the algorithm says of itself, and nothing measures it. *No figure*: the paper gives none. *Not rebuilt*: nothing of ours stands beside the paper's figure.";

/// One figure or claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Which row of the paper's table, or the claim.
    pub row: String,
    pub column: String,
    /// What the paper says.
    pub paper: String,
    /// What a run, or our computation, says.
    pub ours: String,
    pub verdict: Verdict,
    /// Why not, or what else there is to know.
    pub why: String,
}

/// A table of the paper, or of claims.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// As the paper numbers it.
    pub id: String,
    /// What it is about and how ours was made.
    pub title: String,
    pub cells: Vec<Cell>,
}

impl Table {
    /// A table without cells.
    pub fn new(id: &str, title: &str) -> Self {
        Self { id: id.to_owned(), title: title.to_owned(), cells: Vec::new() }
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "numbers and texts alike, as the caller has them"
    )]
    pub fn add(
        &mut self,
        (row, column): (&str, &str),
        paper: impl ToString,
        ours: impl ToString,
        verdict: Verdict,
        why: &str,
    ) {
        self.cells.push(Cell {
            row: row.to_owned(),
            column: column.to_owned(),
            paper: paper.to_string(),
            ours: ours.to_string(),
            verdict,
            why: why.to_owned(),
        });
    }

    fn summary(&self) -> String {
        let count = |what: &str| self.cells.iter().filter(|c| c.verdict.counted() == what).count();
        let parts = COUNTED.iter().map(|what| (count(what), what)).filter(|(n, _)| *n > 0);
        parts.map(|(n, what)| format!("{n} {what}")).collect::<Vec<_>>().join(", ")
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Its name on the command line.
    pub paper: &'static str,
    /// Authors, title, year.
    pub title: &'static str,
    pub tables: Vec<Table>,
}

impl Report {
    /// One row a cell: table, row, column, paper, ours, verdict, why.
    pub fn to_csv(&self) -> Result<String, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["table", "row", "column", "paper", "ours", "verdict", "why"])?;
        for table in &self.tables {
            for c in &table.cells {
                let verdict = c.verdict.text();
                writer.write_record([
                    &table.id, &c.row, &c.column, &c.paper, &c.ours, &verdict, &c.why,
                ])?;
            }
        }
        let bytes = writer.into_inner().map_err(|e| csv::Error::from(e.into_error()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A page to read.
    pub fn to_markdown(&self) -> String {
        let mut out = format!(
            "# {}\n\nWritten by `swapmeet reproduce {}`. \"ours\" is what a run of the verified schedule, or a computation from such runs, gives.\n\n{WORDS}\n\n",
            self.title, self.paper
        );
        out += "| table | cells |\n| --- | --- |\n";
        for table in &self.tables {
            let _ = writeln!(out, "| {} | {} |", table.id, table.summary());
        }
        for table in &self.tables {
            let _ = write!(out, "\n## {}\n\n{}\n\n", table.id, table.title);
            out += "| | | paper | ours | | |\n| --- | --- | ---: | ---: | --- | --- |\n";
            let mut row = "";
            for c in &table.cells {
                // A row's name once, as a table would print it.
                let name = if c.row == row { "" } else { &c.row };
                row = &c.row;
                let cells = [name, &c.column, &c.paper, &c.ours, &c.verdict.text(), &c.why]
                    .map(|t| t.replace('|', "\\|"));
                let _ = writeln!(out, "| {} |", cells.join(" | "));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut table = Table::new("Table 1", "Steps.");
        table.add(("4x4", "steps"), 4, 4, Verdict::whole(4_u64, 4_u64), "");
        table.add(("4x4", "time"), 0.5, 0.45, Verdict::measured(0.5, 0.45, 2), "");
        table.add(("8x8", "time"), 1.0, 2.0, Verdict::measured(1.0, 2.0, 1), "");
        table.add(("8x8", "a|b"), "yes", "no", Verdict::holds(false), "because");
        Report { paper: "demo", title: "A. Author, Demo, 2026", tables: vec![table] }
    }

    #[test]
    fn a_page_counts_first_and_names_each_row_once() {
        insta::assert_snapshot!(report().to_markdown(), @r#"
        # A. Author, Demo, 2026

        Written by `swapmeet reproduce demo`. "ours" is what a run of the verified schedule, or a computation from such runs, gives.

        A cell *agrees* where our figure is the paper's to the digits that it prints (a formula's value: to a millionth); a percentage says how far off ours is; what is not a number *differs*. Where the paper gives a bound, ours *keeps* it, *breaks* it, or agrees with it. A claim *holds* where it is borne out in every case that it speaks of, by the threshold that its table states. *Declared*: ours is what the algorithm says of itself, and nothing measures it. *No figure*: the paper gives none. *Not rebuilt*: nothing of ours stands beside the paper's figure.

        | table | cells |
        | --- | --- |
        | Table 1 | 1 agree, 1 within 10 %, 1 further off, 1 claims don't |

        ## Table 1

        Steps.

        | | | paper | ours | | |
        | --- | --- | ---: | ---: | --- | --- |
        | 4x4 | steps | 4 | 4 | agrees |  |
        |  | time | 0.5 | 0.45 | -10.0 % |  |
        | 8x8 | time | 1 | 2 | +100.0 % |  |
        |  | a\|b | yes | no | does not hold | because |
        "#);
    }

    #[test]
    fn a_measured_figure_agrees_to_the_digits_that_the_paper_prints() {
        assert_eq!(Verdict::measured(0.004, 0.003_51, 3), Verdict::Agrees);
        assert_eq!(Verdict::measured(0.004, 0.004_49, 3), Verdict::Agrees);
        assert_eq!(Verdict::measured(0.004, 0.003_4, 3).text(), "-15.0 %");
        assert_eq!(Verdict::measured(13.61, 13.613, 2), Verdict::Agrees);
        assert_eq!(Verdict::measured(13.61, 13.62, 2).text(), "+0.1 %");
    }

    #[test]
    fn what_must_be_met_agrees_or_differs() {
        assert_eq!(Verdict::whole(15_u64, 15_u64), Verdict::Agrees);
        assert_eq!(Verdict::whole(15_u64, 16_u64).text(), "+6.7 %");
        assert_eq!(Verdict::whole(0_u64, 16_u64), Verdict::Differs);
        assert_eq!(
            (Verdict::exactly("a", "a"), Verdict::exactly("a", "b")),
            (Verdict::Agrees, Verdict::Differs)
        );
    }

    /// To be on the right side of a bound is not to agree with it.
    #[test]
    fn a_bound_is_kept_broken_or_reached() {
        let verdicts = [65536.0, 1087.0, 1000.0].map(|bound| Verdict::at_most(bound, 1087.0));
        assert_eq!(verdicts, [Verdict::Keeps, Verdict::Agrees, Verdict::Breaks]);
        assert_eq!([2.0, 3.0, 4.0].map(|bound| Verdict::at_least(bound, 3.0)), verdicts);
    }

    /// A claim that nothing bears out is no figure that agrees.
    #[test]
    fn a_claim_holds_or_does_not() {
        assert_eq!([true, false].map(|yes| Verdict::holds(yes).text()), ["holds", "does not hold"]);
    }

    #[test]
    fn ten_per_cent_is_the_line_between_within_and_further_off() {
        let summary = |off: &[f64]| {
            let mut table = Table::new("Table 1", "");
            for percent in off {
                table.add(("", ""), 1, 1, Verdict::Off(*percent), "");
            }
            table.summary()
        };
        assert_eq!(summary(&[10.0, -10.049, 0.1]), "3 within 10 %");
        assert_eq!(summary(&[10.051, -10.1, -2.0]), "1 within 10 %, 2 further off");
        assert_eq!(summary(&[]), "");
    }

    #[test]
    fn the_csv_has_a_row_a_cell() {
        insta::assert_snapshot!(report().to_csv().unwrap(), @r"
        table,row,column,paper,ours,verdict,why
        Table 1,4x4,steps,4,4,agrees,
        Table 1,4x4,time,0.5,0.45,-10.0 %,
        Table 1,8x8,time,1,2,+100.0 %,
        Table 1,8x8,a|b,yes,no,does not hold,because
        ");
    }
}
