//! Joins the rows of shards, so that no row is lost or duplicated. Files are read twice, so that
//! sweeps of any size can be joined. The first pass stores the position and the case of each row.
//! The second pass reads the rows in the order of the output.

mod definitions;
mod missing;
mod source_file;

use crate::case_id::{CaseId, CaseKey, CaseTable};
use crate::compare::residual::is_measured;
use crate::input::{ReadError, TornRow};
use crate::record::Record;
use definitions::Definitions;
pub use definitions::InconsistentRows;
use indexmap::IndexSet;
pub use missing::MissingCases;
use missing::NamedValues;
use source_file::{RowReader, SourceFile};
use std::collections::HashMap;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error(transparent)]
    InconsistentRows(#[from] InconsistentRows),
    #[error("{case} is in {first} and in {second}: expected every case once")]
    Duplicate { case: String, first: String, second: String },
    #[error("{at} belongs to none of the experiment's cases: {why}")]
    UnknownCase { at: String, why: String },
    #[error("no rows to join")]
    NoRows,
}

/// The rows that remain after duplicates were removed, in the order of the output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MergedOrder {
    order: Vec<usize>,
    pub missing: MissingCases,
    /// The number of sweeps to which the files belong; 0 if an experiment's cases are given.
    pub sweeps: usize,
}

impl MergedOrder {
    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

pub struct Shards {
    sources: Vec<SourceFile>,
    rows: Vec<RowEntry>,
    cases: CaseTable,
    /// For each file, the distinct values in its predicted rows (those that are not measured).
    named: Vec<NamedValues>,
    texts: IndexSet<String>,
    inconsistency: Option<InconsistentRows>,
    torn: Vec<TornRow>,
}

struct RowEntry {
    case: CaseKey,
    from: u64,
    source: u32,
    is_measured: bool,
}

impl Shards {
    /// Reads the position and the case of each row. This is the first of the two passes.
    pub fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Self, ReadError> {
        let mut shards = Self {
            sources: paths
                .iter()
                .map(|path| SourceFile::of(path.as_ref()))
                .collect::<Result<_, _>>()?,
            rows: Vec::new(),
            cases: CaseTable::default(),
            named: vec![NamedValues::default(); paths.len()],
            texts: IndexSet::new(),
            inconsistency: None,
            torn: Vec::new(),
        };
        let mut definitions = Definitions::default();
        for (number, source) in (0..).zip(&shards.sources) {
            let mut rows = source.rows()?;
            for (i, row) in rows.by_ref().enumerate() {
                let row = row?;
                let is_measured = is_measured(&row.record);
                // Measured rows are not checked, because they do not belong to an experiment.
                if !is_measured {
                    shards.named[number as usize].add(&row.record, &mut shards.texts);
                    let place = || place(&source.name, i + 1);
                    shards.inconsistency = shards
                        .inconsistency
                        .or_else(|| definitions.check(&row.record, place).err());
                }
                let case = shards.cases.insert(&row.record.case());
                shards.rows.push(RowEntry { case, from: row.from, source: number, is_measured });
            }
            shards.torn.extend(rows.into_torn());
        }
        Ok(shards)
    }

    pub fn torn(&self) -> &[TornRow] {
        &self.torn
    }

    /// Joins the rows in the order of the files. The cases that are expected in a sweep are all
    /// combinations of its topologies, algorithms, workloads, machines and repetitions. Two files
    /// belong to the same sweep if they share values in three of the first four lists, or if a
    /// chain of such files connects them.
    pub fn in_file_order(&self) -> Result<MergedOrder, MergeError> {
        self.join_rows(|order, _| {
            let mut missing = MissingCases::default();
            let sweeps = NamedValues::sweeps(self.named.iter().cloned());
            for sweep in &sweeps {
                sweep.add_missing(&self.texts, &mut missing);
            }
            Ok(MergedOrder { order, missing, sweeps: sweeps.len() })
        })
    }

    /// Joins the rows in the order of `cases`, which are the cases of the experiment.
    pub fn in_case_order<C: Iterator<Item = CaseId>>(
        &self,
        cases: impl Fn() -> C,
    ) -> Result<MergedOrder, MergeError> {
        self.join_rows(|_, mut at| {
            let mut merged = MergedOrder::default();
            for case in cases() {
                let case = case.borrowed();
                match self.cases.key(&case).and_then(|key| at.remove(&key)) {
                    Some(row) => merged.order.push(row),
                    None => merged.missing.add(&case),
                }
            }
            match at.into_values().min() {
                Some(row) => {
                    let case = self.cases.case(self.rows[row].case);
                    let why = case.difference_from_nearest(cases());
                    Err(MergeError::UnknownCase { at: self.place(row), why })
                }
                None => Ok(merged),
            }
        })
    }

    /// Reads the rows in the order of the output. This is the second of the two passes.
    pub fn rows(&self, merged: &MergedOrder) -> impl Iterator<Item = Result<Record, ReadError>> {
        let mut reader = RowReader::new(&self.sources);
        merged.order.iter().map(move |row| self.row(&mut reader, *row))
    }

    /// Joins the predicted rows with `join`, and puts the measured rows after them. `join` receives
    /// the indices of the predicted rows, in the order of the files, and a map from each case to
    /// its row.
    fn join_rows(
        &self,
        join: impl FnOnce(Vec<usize>, HashMap<CaseKey, usize>) -> Result<MergedOrder, MergeError>,
    ) -> Result<MergedOrder, MergeError> {
        let (measured, predicted): (Vec<usize>, Vec<usize>) =
            (0..self.rows.len()).partition(|row| self.rows[*row].is_measured);
        let mut merged = match (predicted.is_empty(), measured.is_empty(), &self.inconsistency) {
            (true, true, _) => return Err(MergeError::NoRows),
            (_, _, Some(inconsistency)) => return Err(inconsistency.clone().into()),
            (true, false, None) => MergedOrder::default(),
            (false, _, None) => {
                let at = self.by_case(&predicted)?;
                join(predicted, at)?
            }
        };
        self.by_case(&measured)?;
        merged.order.extend(measured);
        Ok(merged)
    }

    fn by_case(&self, rows: &[usize]) -> Result<HashMap<CaseKey, usize>, MergeError> {
        let mut at = HashMap::with_capacity(rows.len());
        for row in rows {
            let case = self.rows[*row].case;
            if let Some(first) = at.insert(case, *row) {
                return Err(MergeError::Duplicate {
                    case: self.cases.case(case).in_words(),
                    first: self.place(first),
                    second: self.place(*row),
                });
            }
        }
        Ok(at)
    }

    fn row(&self, reader: &mut RowReader<'_>, row: usize) -> Result<Record, ReadError> {
        let RowEntry { case, from, source, .. } = self.rows[row];
        let record = reader.row(source as usize, from)?;
        match record.case() == self.cases.case(case) {
            true => Ok(record),
            false => Err(ReadError::Changed { file: self.sources[source as usize].name.clone() }),
        }
    }

    fn place(&self, row: usize) -> String {
        let source = self.rows[row].source;
        let number =
            self.rows[..=row].iter().rev().take_while(|other| other.source == source).count();
        place(&self.sources[source as usize].name, number)
    }
}

fn place(file: &str, number: usize) -> String {
    format!("{file}, row {number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::row;
    use crate::input::tests::written;

    fn all_rows() -> Vec<Record> {
        let at = |topology: &str, algorithm, repetition| Record {
            topology: topology.to_owned(),
            ..row(algorithm, repetition, 1.0)
        };
        let algorithms = ["pex", "gen"];
        ["torus:4x4", "ring:5"]
            .into_iter()
            .flat_map(|t| algorithms.into_iter().flat_map(move |a| [0, 1].map(|r| at(t, a, r))))
            .collect()
    }

    fn shard(keep: &[usize]) -> Vec<Record> {
        keep.iter().map(|i| all_rows()[*i].clone()).collect()
    }

    fn files(shards: &[&[usize]]) -> Vec<Vec<Record>> {
        shards.iter().map(|keep| shard(keep)).collect()
    }

    fn cases(records: &[Record]) -> Vec<CaseId> {
        records.iter().map(|record| record.case().owned()).collect()
    }

    fn merged(
        files: &[Vec<Record>],
        order: Option<&[CaseId]>,
    ) -> Result<(Vec<Record>, MissingCases), String> {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<_> =
            (0..files.len()).map(|i| dir.path().join(format!("part-{i}.csv"))).collect();
        paths
            .iter()
            .zip(files)
            .for_each(|(path, rows)| std::fs::write(path, written(rows)).unwrap());
        let refusal = |error: &dyn std::error::Error| {
            error.to_string().replace(&format!("{}/", dir.path().display()), "")
        };
        let shards = Shards::read(&paths).map_err(|e| refusal(&e))?;
        let merged = match order {
            Some(cases) => shards.in_case_order(|| cases.iter().cloned()),
            None => shards.in_file_order(),
        };
        let merged = merged.map_err(|e| refusal(&e))?;
        let rows: Result<Vec<Record>, _> = shards.rows(&merged).collect();
        Ok((rows.map_err(|e| refusal(&e))?, merged.missing))
    }

    #[test]
    fn shards_in_any_order_give_the_whole_run() {
        for shards in [
            [&[0, 3, 4][..], &[1, 2, 5, 6, 7]],
            [&[1, 2, 5, 6, 7], &[0, 3, 4]],
            [&[6, 4, 2, 0], &[7, 1, 5, 3]],
        ] {
            let merged = merged(&files(&shards), Some(&cases(&all_rows()))).unwrap();
            assert_eq!(merged, (all_rows(), MissingCases::default()));
        }
    }

    #[test]
    fn without_the_experiment_rows_keep_the_order_of_the_files() {
        let merged = merged(&files(&[&[4, 5, 6, 7], &[3, 1, 2, 0]]), None).unwrap();
        assert_eq!(merged, (shard(&[4, 5, 6, 7, 3, 1, 2, 0]), MissingCases::default()));
    }

    #[test]
    fn missing_cases_are_named() {
        let (rows, missing) = merged(&files(&[&[0, 1, 2], &[4, 5, 6, 7]]), None).unwrap();
        assert_eq!((rows.len(), missing.count), (7, 1));
        assert_eq!(missing.named, ["gen on torus:4x4, uniform:64, paragon, repetition 1"]);
        // As no row has the topology `ring`, only the experiment shows that its cases are missing.
        let shards = files(&[&[0, 1], &[2, 3]]);
        assert_eq!(merged(&shards, None).unwrap().1.count, 0);
        assert_eq!(merged(&shards, Some(&cases(&all_rows()))).unwrap().1.count, 4);
    }

    #[test]
    fn at_most_ten_missing_cases_are_named() {
        let many: Vec<Record> = (0..30).map(|repetition| row("pex", repetition, 1.0)).collect();
        let (rows, missing) = merged(&[many[..5].to_vec()], Some(&cases(&many))).unwrap();
        assert_eq!((rows.len(), missing.named.len(), missing.count), (5, 10, 25));
    }

    #[test]
    fn more_files_than_may_be_open_are_joined() {
        let many: Vec<Record> = (0..600).map(|repetition| row("pex", repetition, 1.0)).collect();
        // Each file has two rows, which are far apart in the output.
        let parts: Vec<Vec<Record>> =
            (0..300).map(|i| vec![many[300 + i].clone(), many[i].clone()]).collect();
        assert_eq!(merged(&parts, Some(&cases(&many))).unwrap().0, many);
    }

    #[test]
    fn rows_with_quoted_and_other_line_ends_are_found_again() {
        let several = |record: Record| Record { note: "one,\n\"two\"".to_owned(), ..record };
        let rows: Vec<Record> = all_rows().into_iter().map(several).collect();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        let backwards: Vec<Record> = rows.iter().rev().cloned().collect();
        for text in
            [written(&backwards), format!("\u{feff}{}", written(&backwards)).replace('\n', "\r\n")]
        {
            std::fs::write(&path, text).unwrap();
            let shards = Shards::read(&[&path]).unwrap();
            let merged =
                shards.in_case_order(|| rows.iter().map(|row| row.case().owned())).unwrap();
            let back: Vec<String> =
                shards.rows(&merged).map(|row| row.unwrap().case().in_words()).collect();
            assert_eq!(back, rows.iter().map(|row| row.case().in_words()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_file_that_changes_between_passes_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        std::fs::write(&path, written(&all_rows())).unwrap();
        let shards = Shards::read(&[&path]).unwrap();
        let merged = shards.in_file_order().unwrap();
        for text in [written(&shard(&[7, 6, 5, 4, 3, 2, 1, 0])), written(&[])] {
            std::fs::write(&path, text).unwrap();
            let refusal = shards.rows(&merged).next().unwrap().unwrap_err().to_string();
            assert_eq!(refusal, format!("{}: the file changed while it was read", path.display()));
        }
    }

    #[test]
    fn duplicate_inconsistent_and_unknown_rows_are_refused() {
        let refusal =
            |files: &[Vec<Record>], order: Option<&[CaseId]>| merged(files, order).unwrap_err();
        assert_eq!(
            refusal(&files(&[&[0, 1], &[1, 2]]), None),
            "pex on torus:4x4, uniform:64, paragon, repetition 1 is in part-0.csv, row 2 and in part-1.csv, row 1: expected every case once"
        );
        let mut mixed = files(&[&[0], &[1]]);
        mixed[1][0].experiment = "other".to_owned();
        assert_eq!(
            refusal(&mixed, None),
            "part-0.csv, row 1 and part-1.csv, row 1 are not of one experiment: their experiment is `` and `other`"
        );
        let differing = |change: fn(&mut Record, &str)| {
            let mut mixed = files(&[&[0], &[1]]);
            change(&mut mixed[0][0], "aa");
            change(&mut mixed[1][0], "bb");
            refusal(&mixed, None)
        };
        let text = differing(|r, text| r.plugin_version = text.to_owned());
        assert!(text.ends_with("their build of `classic` is `aa` and `bb`"), "{text}");
        let text = differing(|r, text| r.plugin_digest = text.to_owned());
        assert!(text.ends_with("their build of `classic` is `0.1.0 aa` and `0.1.0 bb`"), "{text}");
        let text = differing(|r, text| r.swapmeet_version = text.to_owned());
        assert!(text.ends_with("their swapmeet_version is `aa` and `bb`"), "{text}");
        let text = differing(|r, text| r.inputs = format!("a; b.csv={text}"));
        assert!(text.ends_with("their file of `a; b.csv` is `aa` and `bb`"), "{text}");
        let text = differing(|r, text| r.machine_definition = text.to_owned());
        assert!(text.ends_with("their machine_definition of `paragon` is `aa` and `bb`"), "{text}");
        let text = differing(|r, text| r.seed = u64::from(text == "aa") + 6);
        assert!(text.ends_with("their first seed is `7` and `5`"), "{text}");
        assert_eq!(
            refusal(&files(&[&[0, 7]]), Some(&cases(&all_rows()[..1]))),
            "part-0.csv, row 2 belongs to none of the experiment's cases: its topology is `ring:5`, here `torus:4x4`, its algorithm is `gen`, \
             here `pex`, its repetition is `1`, here `0`, its seed is `43`, here `42`"
        );
        assert_eq!(refusal(&[], None), "no rows to join");
    }
}
