//! The report about a reproduction: tables of the paper's values, our values and verdicts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
pub use verdict::Verdict;
use verdict::WORDS;
pub(crate) use verdict::{number, same};

mod verdict;

/// The origin of a paper's value. It determines whether an equal value of ours confirms the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A value or claim that the paper prints. No part of this project was derived from it.
    Independent,
    /// A value that was computed with a closed form of the paper.
    Formula,
    /// A value that the paper measured. Parameters of our machine were fitted to it.
    Fitted,
    /// A value of the paper that was used to rebuild our algorithm or machine.
    Rebuilt,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Independent, Self::Formula, Self::Fitted, Self::Rebuilt];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.text() == name)
    }

    fn text(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Formula => "formula",
            Self::Fitted => "fitted",
            Self::Rebuilt => "rebuilt",
        }
    }

    fn is_evidence(self) -> bool {
        matches!(self, Self::Independent | Self::Formula)
    }
}

const EXPLANATION: &str = "Each cell has a kind. *Independent*: the paper prints the value or claim, and nothing in the program was derived from it. *Formula*: the paper's value is that of a closed form, not \
of a printed number. *Fitted*: parameters of our machine were fitted to the paper's values. *Rebuilt*: our algorithm or machine was rebuilt from these values. Fitted and rebuilt cells are counted apart, \
and are *equal* but never agree.\n\nA cell *agrees* if our value equals the paper's to the digits that it prints (for a formula: to a millionth). A percentage gives the difference; a difference that is not a number \
*differs*. If the paper gives a bound, our value *keeps* it, *breaks* it, or agrees with it. A claim *holds* if it is confirmed in every case that it covers, by the threshold that its table \
states. *Declared*: our value is what the algorithm declares; it is not measured. *No figure*: the paper gives no value. *Not rebuilt*: we have no schedule for the paper's value. *Unknown*: the paper's text leaves it open.";

#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The name of the row in the paper's table, or the text of a claim.
    pub row: String,
    pub column: String,
    pub paper: String,
    pub ours: String,
    pub kind: Kind,
    pub verdict: Verdict,
    /// The reason why both values differ, or another remark.
    pub why: String,
}

impl Cell {
    pub fn because(&mut self, why: &str) {
        why.clone_into(&mut self.why);
    }

    fn verdict_text(&self) -> String {
        match self.verdict {
            Verdict::Agrees if !self.kind.is_evidence() => "equal".to_owned(),
            verdict => verdict.text(),
        }
    }

    /// Returns whether the cell confirms or contradicts the paper, or `None` if it does neither.
    fn holds(&self) -> Option<bool> {
        if !self.kind.is_evidence() {
            return None;
        }
        match self.verdict {
            Verdict::Agrees | Verdict::WithinBound | Verdict::Holds => Some(true),
            Verdict::Off(_) | Verdict::Differs | Verdict::BeyondBound | Verdict::Fails => {
                Some(false)
            }
            Verdict::Declared | Verdict::NotGiven | Verdict::NotRebuilt | Verdict::Unknown => None,
        }
    }

    fn counted(&self) -> &'static str {
        match self.verdict {
            Verdict::Agrees if !self.kind.is_evidence() => "equal",
            verdict => WORDS[verdict.category()].1,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The number of the table in the paper, or a name.
    pub id: String,
    /// A text that states what the table shows, and how our values were computed.
    pub title: String,
    pub kind: Kind,
    /// Whether the page has only the title of the table. The cells are then only in the CSV file.
    pub in_csv: bool,
    pub cells: Vec<Cell>,
}

impl Table {
    pub fn new(id: &str, title: &str, kind: Kind) -> Self {
        let [id, title] = [id, title].map(str::to_owned);
        Self { id, title, kind, in_csv: false, cells: Vec::new() }
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
    ) -> &mut Cell {
        let number = self.cells.len();
        self.cells.push(Cell {
            row: row.to_owned(),
            column: column.to_owned(),
            paper: paper.to_string(),
            ours: ours.to_string(),
            kind: self.kind,
            verdict,
            why: String::new(),
        });
        &mut self.cells[number]
    }

    /// If the paper has no values and all rows have the same columns, formats one line per row.
    /// Otherwise, returns `None`.
    fn values(&self) -> Option<String> {
        let rows: Vec<&[Cell]> = self.cells.chunk_by(|a, b| a.row == b.row).collect();
        let columns = |row: &[Cell]| row.iter().map(|c| c.column.clone()).collect::<Vec<_>>();
        let head = columns(rows.first()?);
        let is_plain = |c: &Cell| {
            c.verdict == Verdict::NotGiven && c.why.is_empty() && c.kind == self.cells[0].kind
        };
        if head.len() < 2
            || !self.cells.iter().all(is_plain)
            || !rows.iter().all(|row| columns(row) == head)
        {
            return None;
        }
        let dashes = " ---: |".repeat(head.len());
        let mut out = format!("| | {} |\n| --- |{dashes}\n", escaped(&head));
        for row in rows {
            let ours = row.iter().map(|c| c.ours.as_str()).collect::<Vec<_>>();
            let _ = writeln!(out, "| {} | {} |", escaped(&[&row[0].row]), escaped(&ours));
        }
        Some(out)
    }

    fn comparison(&self) -> String {
        let mut out =
            "| | | paper | ours | | | kind |\n| --- | --- | ---: | ---: | --- | --- | --- |\n"
                .to_owned();
        let mut row = "";
        for c in &self.cells {
            // If a row has several lines, its name is shown only in the first one.
            let name = if c.row == row { "" } else { &c.row };
            row = &c.row;
            let verdict = c.verdict_text();
            let cells = [name, &c.column, &c.paper, &c.ours, &verdict, &c.why, c.kind.text()];
            let _ = writeln!(out, "| {} |", escaped(&cells));
        }
        out
    }
}

/// Joins texts as the cells of a line of a Markdown table.
fn escaped(cells: &[impl AsRef<str>]) -> String {
    cells.iter().map(|text| text.as_ref().replace('|', "\\|")).collect::<Vec<_>>().join(" | ")
}

/// Counts the cells of each category. Returns a text such as `3 agree, 1 within 10 %`.
fn summary<'a>(cells: impl Iterator<Item = &'a Cell>) -> String {
    let mut counts = BTreeMap::new();
    cells.for_each(|cell| *counts.entry(cell.counted()).or_insert(0) += 1);
    let categories = ["equal"].into_iter().chain(WORDS.map(|(_, category)| category));
    let parts = categories.filter_map(|what| Some(format!("{} {what}", counts.get(what)?)));
    parts.collect::<Vec<_>>().join(", ")
}

#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub paper: &'static str,
    pub title: &'static str,
    pub tables: Vec<Table>,
}

impl Report {
    /// Returns CSV with the columns table, row, column, paper, ours, verdict, why and kind.
    pub fn to_csv(&self) -> Result<String, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer
            .write_record(["table", "row", "column", "paper", "ours", "verdict", "why", "kind"])?;
        for table in &self.tables {
            for c in &table.cells {
                let verdict = c.verdict_text();
                let [table, kind] = [table.id.as_str(), c.kind.text()];
                let cell = [&c.row, &c.column, &c.paper, &c.ours, &verdict, &c.why];
                let cell = cell.map(String::as_str).into_iter();
                writer.write_record([table].into_iter().chain(cell).chain([kind]))?;
            }
        }
        let bytes = writer.into_inner().map_err(|e| csv::Error::from(e.into_error()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub fn to_markdown(&self) -> String {
        let mut out = format!(
            "# {}\n\nWritten by `swapmeet reproduce {}`. \"ours\" is the value of a run of the verified schedule, or is computed from such runs.\n\n{EXPLANATION}\n\n",
            self.title, self.paper
        );
        out += "| table | kind | cells |\n| --- | --- | --- |\n";
        for table in &self.tables {
            for kind in Kind::ALL {
                let cells = summary(table.cells.iter().filter(|cell| cell.kind == kind));
                if !cells.is_empty() {
                    let _ = writeln!(out, "| {} | {} | {cells} |", table.id, kind.text());
                }
            }
        }
        for table in self.tables.iter().filter(|table| !table.in_csv) {
            let _ = write!(out, "\n## {}\n\n{}\n\n", table.id, table.title);
            out += &table.values().unwrap_or_else(|| table.comparison());
        }
        if self.tables.iter().any(|table| table.in_csv) {
            let file = format!("{}.csv", self.paper);
            let _ = write!(
                out,
                "\n## Tables in the CSV file\n\nThe cells of these tables are in [{file}]({file}), which `--out` writes.\n\n"
            );
            for table in self.tables.iter().filter(|table| table.in_csv) {
                let Table { id, title, cells, .. } = table;
                let _ = writeln!(out, "- **{id}**, {} cells: {title}", cells.len());
            }
        }
        out
    }

    pub fn to_overview(&self) -> String {
        let mut out = format!("## {}\n\n[All cells]({}.md).\n\n", self.title, self.paper);
        out += "| kind | cells |\n| --- | --- |\n";
        for kind in Kind::ALL {
            let cells = self.tables.iter().flat_map(|table| &table.cells);
            let cells = summary(cells.filter(|cell| cell.kind == kind));
            if !cells.is_empty() {
                let _ = writeln!(out, "| {} | {cells} |", kind.text());
            }
        }
        // Tables in which each compared cell confirms the paper come first.
        let compared = |table: &Table| table.cells.iter().any(|c| c.holds().is_some());
        let differs = |table: &Table| table.cells.iter().any(|c| c.holds() == Some(false));
        let listed = |tables: Vec<&Table>, text: &dyn Fn(&Table) -> String| {
            let lines: String = tables.into_iter().map(|t| format!("- {}\n", text(t))).collect();
            if lines.is_empty() { "- nothing\n".to_owned() } else { lines }
        };
        let of =
            |wanted: &dyn Fn(&Table) -> bool| self.tables.iter().filter(|t| wanted(t)).collect();
        let holding = listed(of(&|t| compared(t) && !differs(t)), &|t| {
            format!("{}: {}", t.id, summary(t.cells.iter().filter(|c| c.holds() == Some(true))))
        });
        let differing = listed(of(&differs), &|t| {
            let claims = t.cells.iter().filter(|c| c.verdict == Verdict::Fails);
            let claims = claims.map(|c| format!("; \"{}\" ({})", c.row, c.column));
            let claims: String = claims.map(|text| text.replace(" ()", "")).collect();
            let cells = t.cells.iter().filter(|c| c.holds().is_some());
            format!("{}: {}{claims}", t.id, summary(cells))
        });
        let _ = write!(out, "\nWhat holds in every cell that is evidence:\n\n{holding}");
        let _ = write!(out, "\nWhat does not hold in some cells:\n\n{differing}");
        let open =
            self.tables.iter().flat_map(|t| &t.cells).filter(|c| c.verdict == Verdict::Unknown);
        let open: String = open.map(|c| format!("- {}: {}\n", c.row, c.why)).collect();
        let open = if open.is_empty() { "- nothing\n" } else { &open };
        let _ = write!(out, "\nWhat cannot be known:\n\n{open}");
        out
    }
}

/// Returns the page about all papers. `sections` has one section for each paper.
pub fn overview(sections: &[String]) -> String {
    format!(
        "# Reproductions\n\nWritten by `swapmeet reproduce --out FOLDER`. Each section sums up the page of a paper: which tables hold, which do not, and what cannot be known from the paper's text.\n\n{EXPLANATION}\n\n{}",
        sections.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut table = Table::new("Table 1", "Steps.", Kind::Independent);
        table.add(("4x4", "steps"), 4, 4, Verdict::computed(4.0, 4.0));
        table.add(("4x4", "time"), 0.5, 0.45, Verdict::measured(0.5, 0.45, 2));
        table.add(("8x8", "time"), 1.0, 2.0, Verdict::measured(1.0, 2.0, 1));
        table.add(("8x8", "a|b"), "yes", "no", Verdict::holds(false)).because("because");
        table.kind = Kind::Fitted;
        table.add(("9x9", "time"), 2.0, 2.0, Verdict::measured(2.0, 2.0, 1));
        table.add(("the unit", ""), "", "", Verdict::Unknown).because("seconds here");
        Report { paper: "demo", title: "A. Author, Demo, 2026", tables: vec![table] }
    }

    #[test]
    fn a_page_has_counts_and_names_each_row_once() {
        insta::assert_snapshot!(report().to_markdown(), @r#"
        # A. Author, Demo, 2026

        Written by `swapmeet reproduce demo`. "ours" is the value of a run of the verified schedule, or is computed from such runs.

        Each cell has a kind. *Independent*: the paper prints the value or claim, and nothing in the program was derived from it. *Formula*: the paper's value is that of a closed form, not of a printed number. *Fitted*: parameters of our machine were fitted to the paper's values. *Rebuilt*: our algorithm or machine was rebuilt from these values. Fitted and rebuilt cells are counted apart, and are *equal* but never agree.

        A cell *agrees* if our value equals the paper's to the digits that it prints (for a formula: to a millionth). A percentage gives the difference; a difference that is not a number *differs*. If the paper gives a bound, our value *keeps* it, *breaks* it, or agrees with it. A claim *holds* if it is confirmed in every case that it covers, by the threshold that its table states. *Declared*: our value is what the algorithm declares; it is not measured. *No figure*: the paper gives no value. *Not rebuilt*: we have no schedule for the paper's value. *Unknown*: the paper's text leaves it open.

        | table | kind | cells |
        | --- | --- | --- |
        | Table 1 | independent | 1 agree, 1 within 10 %, 1 further off, 1 claims don't |
        | Table 1 | fitted | 1 equal, 1 unknown |

        ## Table 1

        Steps.

        | | | paper | ours | | | kind |
        | --- | --- | ---: | ---: | --- | --- | --- |
        | 4x4 | steps | 4 | 4 | agrees |  | independent |
        |  | time | 0.5 | 0.45 | -10.0 % |  | independent |
        | 8x8 | time | 1 | 2 | +100.0 % |  | independent |
        |  | a\|b | yes | no | does not hold | because | independent |
        | 9x9 | time | 2 | 2 | equal |  | fitted |
        | the unit |  |  |  | unknown | seconds here | fitted |
        "#);
    }

    /// If the paper has no values, there is one line for each row of the table.
    #[test]
    fn values_that_are_compared_with_nothing_have_a_line_for_each_row() {
        let mut table = Table::new("Table 2", "Factors.", Kind::Fitted);
        for (row, factor, regret) in [("4x4", 1.25, 1.0), ("8x|8", 1.5, 2.0)] {
            table.add((row, "factor"), "", factor, Verdict::NotGiven);
            table.add((row, "regret"), "", regret, Verdict::NotGiven);
        }
        insta::assert_snapshot!(table.values().unwrap(), @r"
        | | factor | regret |
        | --- | ---: | ---: |
        | 4x4 | 1.25 | 1 |
        | 8x\|8 | 1.5 | 2 |
        ");
        let mut compared = table.clone();
        compared.cells[1].verdict = Verdict::computed(1.0, 1.0);
        assert_eq!(compared.values(), None);
        let mut uneven = table.clone();
        uneven.cells.pop();
        assert_eq!(uneven.values(), None);
        table.cells[0].because("a remark");
        assert_eq!(table.values(), None);
    }

    /// The page counts the cells of a table even if they are only in the CSV file.
    #[test]
    fn cells_can_be_left_to_the_csv_file() {
        let mut report = report();
        report.tables[0].in_csv = true;
        let page = report.to_markdown();
        assert!(page.contains("| Table 1 | fitted | 1 equal, 1 unknown |"), "{page}");
        assert!(page.ends_with("- **Table 1**, 6 cells: Steps.\n"), "{page}");
        assert!(!page.contains("4x4"), "{page}");
        assert!(report.to_csv().unwrap().contains("4x4"));
    }

    /// The values of the kind `Fitted` count neither as agreements nor as differences.
    #[test]
    fn the_overview_separates_kinds() {
        insta::assert_snapshot!(report().to_overview(), @r#"
        ## A. Author, Demo, 2026

        [All cells](demo.md).

        | kind | cells |
        | --- | --- |
        | independent | 1 agree, 1 within 10 %, 1 further off, 1 claims don't |
        | fitted | 1 equal, 1 unknown |

        What holds in every cell that is evidence:

        - nothing

        What does not hold in some cells:

        - Table 1: 1 agree, 1 within 10 %, 1 further off, 1 claims don't; "8x8" (a|b)

        What cannot be known:

        - the unit: seconds here
        "#);
    }

    #[test]
    fn ten_per_cent_counts_as_within() {
        let summary = |off: &[f64]| {
            let mut table = Table::new("Table 1", "", Kind::Independent);
            for percent in off {
                table.add(("", ""), 1, 1, Verdict::Off(*percent));
            }
            summary(table.cells.iter())
        };
        assert_eq!(summary(&[10.0, -10.049, 0.1]), "3 within 10 %");
        assert_eq!(summary(&[10.051, -10.1, -2.0]), "1 within 10 %, 2 further off");
        assert_eq!(summary(&[]), "");
    }

    #[test]
    fn the_csv_has_a_row_for_each_cell() {
        insta::assert_snapshot!(report().to_csv().unwrap(), @r"
        table,row,column,paper,ours,verdict,why,kind
        Table 1,4x4,steps,4,4,agrees,,independent
        Table 1,4x4,time,0.5,0.45,-10.0 %,,independent
        Table 1,8x8,time,1,2,+100.0 %,,independent
        Table 1,8x8,a|b,yes,no,does not hold,because,independent
        Table 1,9x9,time,2,2,equal,,fitted
        Table 1,the unit,,,,unknown,seconds here,fitted
        ");
    }
}
