//! The report of a reproduction: tables of cells, each with the paper's value, ours and a verdict.

use std::fmt::Write as _;

/// How our value relates to the paper's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// Equal, to the digits that the paper prints.
    Agrees,
    /// Different by this many per cent.
    Off(f64),
    /// Different in a way that is not a number; the cell gives the reason.
    Differs,
    /// The paper gives a bound, and our value satisfies it without reaching it.
    WithinBound,
    /// The paper gives a bound, and our value violates it.
    BeyondBound,
    /// A claim that is confirmed.
    Holds,
    /// A claim that is not confirmed.
    Fails,
    /// Our value is what the algorithm declares; it is not measured.
    Declared,
    /// The paper gives no value.
    NotGiven,
    /// There is no schedule for the paper's value; the cell gives the reason.
    NotRebuilt,
}

/// Returns whether two computed values are equal except for rounding errors.
pub(crate) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * a.abs().max(1.0)
}

/// Formats a value with at most two decimals.
pub(crate) fn number(x: f64) -> String {
    let text = format!("{x:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Verdict {
    /// Returns the verdict on a measured value that the paper prints with this many decimals.
    pub fn measured(paper: f64, ours: f64, decimals: usize) -> Self {
        let printed = |x: f64| format!("{x:.decimals$}");
        if printed(paper) == printed(ours) { Self::Agrees } else { Self::off(paper, ours) }
    }

    /// Returns the verdict on the value of a formula.
    pub fn computed(paper: f64, ours: f64) -> Self {
        if same(paper, ours) { Self::Agrees } else { Self::off(paper, ours) }
    }

    fn off(paper: f64, ours: f64) -> Self {
        if paper == 0.0 { Self::Differs } else { Self::Off(100.0 * (ours / paper - 1.0)) }
    }

    /// Returns the verdict on an integer.
    pub fn whole(paper: impl Into<u128>, ours: impl Into<u128>) -> Self {
        Self::computed(paper.into() as f64, ours.into() as f64)
    }

    /// Returns the verdict on texts or lists.
    pub fn exactly<T: PartialEq + ?Sized>(paper: &T, ours: &T) -> Self {
        if paper == ours { Self::Agrees } else { Self::Differs }
    }

    /// Returns the verdict on a value with an upper bound in the paper.
    pub fn at_most(bound: f64, ours: f64) -> Self {
        match same(bound, ours) {
            true => Self::Agrees,
            false if ours < bound => Self::WithinBound,
            false => Self::BeyondBound,
        }
    }

    /// Returns the verdict on a value with a lower bound in the paper.
    pub fn at_least(bound: f64, ours: f64) -> Self {
        Self::at_most(ours, bound)
    }

    /// Returns the verdict on a claim.
    pub fn holds(yes: bool) -> Self {
        if yes { Self::Holds } else { Self::Fails }
    }

    fn text(self) -> String {
        match self {
            Self::Agrees => "agrees".to_owned(),
            Self::Off(percent) => format!("{percent:+.1} %"),
            Self::Differs => "differs".to_owned(),
            Self::WithinBound => "keeps the bound".to_owned(),
            Self::BeyondBound => "breaks the bound".to_owned(),
            Self::Holds => "holds".to_owned(),
            Self::Fails => "does not hold".to_owned(),
            Self::Declared => "declared".to_owned(),
            Self::NotGiven => "no figure".to_owned(),
            Self::NotRebuilt => "not rebuilt".to_owned(),
        }
    }

    /// Returns the category in [`COUNTED`].
    fn counted(self) -> &'static str {
        match self {
            Self::Agrees => COUNTED[0],
            // The percentage counts as printed: 10.0 is 10.
            Self::Off(percent) if (percent * 10.0).round().abs() <= 100.0 => COUNTED[1],
            Self::Off(_) => COUNTED[2],
            Self::Differs => COUNTED[3],
            Self::WithinBound => COUNTED[4],
            Self::BeyondBound => COUNTED[5],
            Self::Holds => COUNTED[6],
            Self::Fails => COUNTED[7],
            Self::Declared => COUNTED[8],
            Self::NotGiven => COUNTED[9],
            Self::NotRebuilt => COUNTED[10],
        }
    }
}

/// The categories of a summary, in order.
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

/// The explanation of verdicts at the beginning of each page.
const EXPLANATION: &str = "A cell *agrees* if our value equals the paper's to the digits that it prints (for a formula: to a millionth). A percentage gives the difference; a difference that is not a number \
*differs*. If the paper gives a bound, our value *keeps* it, *breaks* it, or agrees with it. A claim *holds* if it is confirmed in every case that it covers, by the threshold that its table \
states. *Declared*: our value is what the algorithm declares; it is not measured. *No figure*: the paper gives no value. *Not rebuilt*: we have no schedule for the paper's value.";

/// One value or claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The row of the paper's table, or the claim.
    pub row: String,
    pub column: String,
    /// The paper's value.
    pub paper: String,
    /// The value of a run, or of a computation.
    pub ours: String,
    pub verdict: Verdict,
    /// The reason for a difference, or another remark.
    pub why: String,
}

/// A table of the paper, or of claims.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The number of the table in the paper.
    pub id: String,
    /// The subject of the table, and how our values were made.
    pub title: String,
    pub cells: Vec<Cell>,
}

impl Table {
    /// Creates a table without cells.
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
    /// The name of the paper on the command line.
    pub paper: &'static str,
    /// Authors, title and year.
    pub title: &'static str,
    pub tables: Vec<Table>,
}

impl Report {
    /// Formats one row for each cell: table, row, column, paper, ours, verdict, why.
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

    /// Formats the report as a Markdown page.
    pub fn to_markdown(&self) -> String {
        let mut out = format!(
            "# {}\n\nWritten by `swapmeet reproduce {}`. \"ours\" is the value of a run of the verified schedule, or is computed from such runs.\n\n{EXPLANATION}\n\n",
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
                // The name of a row is shown once.
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
    fn a_page_has_counts_and_names_each_row_once() {
        insta::assert_snapshot!(report().to_markdown(), @r#"
        # A. Author, Demo, 2026

        Written by `swapmeet reproduce demo`. "ours" is the value of a run of the verified schedule, or is computed from such runs.

        A cell *agrees* if our value equals the paper's to the digits that it prints (for a formula: to a millionth). A percentage gives the difference; a difference that is not a number *differs*. If the paper gives a bound, our value *keeps* it, *breaks* it, or agrees with it. A claim *holds* if it is confirmed in every case that it covers, by the threshold that its table states. *Declared*: our value is what the algorithm declares; it is not measured. *No figure*: the paper gives no value. *Not rebuilt*: we have no schedule for the paper's value.

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
    fn a_measured_value_agrees_to_the_printed_digits() {
        assert_eq!(Verdict::measured(0.004, 0.003_51, 3), Verdict::Agrees);
        assert_eq!(Verdict::measured(0.004, 0.004_49, 3), Verdict::Agrees);
        assert_eq!(Verdict::measured(0.004, 0.003_4, 3).text(), "-15.0 %");
        assert_eq!(Verdict::measured(13.61, 13.613, 2), Verdict::Agrees);
        assert_eq!(Verdict::measured(13.61, 13.62, 2).text(), "+0.1 %");
    }

    #[test]
    fn exact_values_agree_or_differ() {
        assert_eq!(Verdict::whole(15_u64, 15_u64), Verdict::Agrees);
        assert_eq!(Verdict::whole(15_u64, 16_u64).text(), "+6.7 %");
        assert_eq!(Verdict::whole(0_u64, 16_u64), Verdict::Differs);
        assert_eq!(
            (Verdict::exactly("a", "a"), Verdict::exactly("a", "b")),
            (Verdict::Agrees, Verdict::Differs)
        );
    }

    /// A value that satisfies a bound does not count as agreeing with it.
    #[test]
    fn a_bound_is_kept_broken_or_reached() {
        let verdicts = [65536.0, 1087.0, 1000.0].map(|bound| Verdict::at_most(bound, 1087.0));
        assert_eq!(verdicts, [Verdict::WithinBound, Verdict::Agrees, Verdict::BeyondBound]);
        assert_eq!([2.0, 3.0, 4.0].map(|bound| Verdict::at_least(bound, 3.0)), verdicts);
    }

    /// A claim that is not confirmed does not count as agreeing.
    #[test]
    fn a_claim_holds_or_does_not() {
        assert_eq!([true, false].map(|yes| Verdict::holds(yes).text()), ["holds", "does not hold"]);
    }

    #[test]
    fn ten_per_cent_counts_as_within() {
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
    fn the_csv_has_a_row_for_each_cell() {
        insta::assert_snapshot!(report().to_csv().unwrap(), @r"
        table,row,column,paper,ours,verdict,why
        Table 1,4x4,steps,4,4,agrees,
        Table 1,4x4,time,0.5,0.45,-10.0 %,
        Table 1,8x8,time,1,2,+100.0 %,
        Table 1,8x8,a|b,yes,no,does not hold,because
        ");
    }
}
