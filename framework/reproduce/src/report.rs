//! What a reproduction says: tables of cells, each with the paper's figure, ours, and whether they agree.

use std::fmt::Write as _;

/// How our figure relates to the paper's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The same, to the figures that the paper prints.
    Exact,
    /// So many per cent off.
    Within(f64),
    /// It does not hold; the cell says why.
    Differs,
    /// The paper gives no figure to compare with.
    NotGiven,
    /// There is no schedule to compare the paper's figure with; the cell says why.
    NotRebuilt,
}

impl Verdict {
    /// The verdict on a measured figure that the paper prints with so many decimals: the same to these, or off by how much.
    pub fn measured(paper: f64, ours: f64, decimals: usize) -> Self {
        let printed = |x: f64| format!("{x:.decimals$}");
        if printed(paper) == printed(ours) { Self::Exact } else { Self::Within(100.0 * (ours / paper - 1.0)) }
    }

    /// The verdict on a figure that must be met.
    pub fn exactly<T: PartialEq>(paper: &T, ours: &T) -> Self {
        if paper == ours { Self::Exact } else { Self::Differs }
    }

    /// The verdict on a claim.
    pub fn holds(yes: bool) -> Self {
        if yes { Self::Exact } else { Self::Differs }
    }

    fn text(self) -> String {
        match self {
            Self::Exact => "agrees".to_owned(),
            Self::Within(percent) => format!("{percent:+.1} %"),
            Self::Differs => "differs".to_owned(),
            Self::NotGiven => "no figure".to_owned(),
            Self::NotRebuilt => "not rebuilt".to_owned(),
        }
    }
}

/// One figure or claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Which row of the paper's table, or the claim.
    pub row: String,
    /// Which column.
    pub column: String,
    /// What the paper says.
    pub paper: String,
    /// What a run, or our computation, says.
    pub ours: String,
    /// Whether they agree.
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
    /// Its cells.
    pub cells: Vec<Cell>,
}

impl Table {
    /// A table without cells.
    pub fn new(id: &str, title: &str) -> Self {
        Self { id: id.to_owned(), title: title.to_owned(), cells: Vec::new() }
    }

    /// Adds a cell.
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts alike, as the caller has them")]
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
        // as printed: what reads 10.0 is counted as 10
        fn near(percent: f64) -> bool {
            (percent * 10.0).round().abs() <= 100.0
        }
        let count = |wanted: fn(Verdict) -> bool| self.cells.iter().filter(|c| wanted(c.verdict)).count();
        let mut parts = Vec::new();
        let agree = count(|v| v == Verdict::Exact);
        let within = count(|v| matches!(v, Verdict::Within(p) if near(p)));
        let off = count(|v| matches!(v, Verdict::Within(p) if !near(p)));
        let differ = count(|v| v == Verdict::Differs);
        let none = count(|v| v == Verdict::NotGiven);
        let not_rebuilt = count(|v| v == Verdict::NotRebuilt);
        for (n, what) in [
            (agree, "agree"),
            (within, "within 10 %"),
            (off, "further off"),
            (differ, "differ"),
            (none, "without a figure in the paper"),
            (not_rebuilt, "not rebuilt"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {what}"));
            }
        }
        parts.join(", ")
    }
}

/// A paper re-run.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Its name on the command line.
    pub paper: &'static str,
    /// Authors, title, year.
    pub title: &'static str,
    /// Its tables.
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
                writer.write_record([&table.id, &c.row, &c.column, &c.paper, &c.ours, &verdict, &c.why])?;
            }
        }
        let bytes = writer.into_inner().map_err(|e| csv::Error::from(e.into_error()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A page to read.
    pub fn to_markdown(&self) -> String {
        let mut out = format!(
            "# {}\n\nWritten by `swapmeet reproduce {}`. \"ours\" is what a run of the verified schedule, or a computation from such runs, gives.\n\n",
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
                let cells =
                    [name, &c.column, &c.paper, &c.ours, &c.verdict.text(), &c.why].map(|t| t.replace('|', "\\|"));
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
        table.add(("4x4", "steps"), 4, 4, Verdict::exactly(&4, &4), "");
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

        | table | cells |
        | --- | --- |
        | Table 1 | 1 agree, 1 within 10 %, 1 further off, 1 differ |

        ## Table 1

        Steps.

        | | | paper | ours | | |
        | --- | --- | ---: | ---: | --- | --- |
        | 4x4 | steps | 4 | 4 | agrees |  |
        |  | time | 0.5 | 0.45 | -10.0 % |  |
        | 8x8 | time | 1 | 2 | +100.0 % |  |
        |  | a\|b | yes | no | differs | because |
        "#);
    }

    #[test]
    fn a_measured_figure_agrees_to_the_digits_that_the_paper_prints() {
        assert_eq!(Verdict::measured(0.004, 0.003_51, 3), Verdict::Exact);
        assert_eq!(Verdict::measured(0.004, 0.004_49, 3), Verdict::Exact);
        assert_eq!(Verdict::measured(0.004, 0.003_4, 3).text(), "-15.0 %");
        assert_eq!(Verdict::measured(13.61, 13.613, 2), Verdict::Exact);
        assert_eq!(Verdict::measured(13.61, 13.62, 2).text(), "+0.1 %");
    }

    #[test]
    fn what_must_be_met_agrees_or_differs() {
        assert_eq!(Verdict::exactly(&15, &15), Verdict::Exact);
        assert_eq!(Verdict::exactly(&15, &16), Verdict::Differs);
        assert_eq!((Verdict::holds(true), Verdict::holds(false)), (Verdict::Exact, Verdict::Differs));
    }

    #[test]
    fn ten_per_cent_is_the_line_between_within_and_further_off() {
        let summary = |off: &[f64]| {
            let mut table = Table::new("Table 1", "");
            for percent in off {
                table.add(("", ""), 1, 1, Verdict::Within(*percent), "");
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
        Table 1,8x8,a|b,yes,no,differs,because
        ");
    }
}
