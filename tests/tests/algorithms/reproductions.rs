//! The pages in `results/reproduced`, which compare the algorithms with their papers.

use crate::support::{swapmeet, tools};
use std::collections::BTreeSet;
use swapmeet_tests::project;

/// The pages of two papers, or of all papers with `SWAPMEET_TESTS=all`, equal the output of the
/// program.
#[test]
fn the_committed_reproductions_are_up_to_date() {
    let dir = tempfile::tempdir().unwrap();
    let committed = project("results/reproduced");
    let papers = if tools::runs_all() { vec![vec![]] } else { vec![vec!["swing"], vec!["tpu-v4"]] };
    for paper in papers {
        let args = [&["reproduce", "--out", dir.path().to_str().unwrap()], &paper[..]].concat();
        swapmeet(&args).assert().success();
    }
    let names = |folder: &std::path::Path| -> BTreeSet<std::ffi::OsString> {
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect()
    };
    if swapmeet_tests::runs_all() {
        let renew = "run `swapmeet reproduce --out results/reproduced`";
        assert_eq!(names(dir.path()), names(&committed), "{renew}");
    }
    for name in names(dir.path()) {
        let same = std::fs::read(committed.join(&name)).unwrap()
            == std::fs::read(dir.path().join(&name)).unwrap();
        assert!(
            same,
            "{} is out of date: run `swapmeet reproduce --out results/reproduced`",
            name.display()
        );
    }
}

/// Agreement is no evidence if a value was fitted to the paper or computed from it.
#[test]
fn fitted_and_rebuilt_cells_never_agree() {
    let mut kinds = BTreeSet::new();
    for paper in ["suh-shin", "thakur", "liu", "spencer", "li", "tpu-v4", "swing", "bine", "fugaku"]
    {
        let file = project("results/reproduced").join(format!("{paper}.csv"));
        for record in csv::Reader::from_path(file).unwrap().records().map(Result::unwrap) {
            let [table, row, verdict, kind] = [0, 1, 5, 7].map(|column| record[column].to_owned());
            assert!(
                ["independent", "formula", "fitted", "rebuilt"].contains(&&*kind),
                "{record:?}"
            );
            let is_evidence = ["independent", "formula"].contains(&&*kind);
            assert!(verdict != if is_evidence { "equal" } else { "agrees" }, "{record:?}");
            let rival = row.contains("[19]") || row.contains("[16]");
            kinds.insert((paper, table, rival, kind));
        }
    }
    for (paper, table, rival, kind) in [
        ("suh-shin", "Table 1", false, "formula"),
        ("suh-shin", "Table 2", true, "rebuilt"),
        ("suh-shin", "Table 2", false, "formula"),
        ("suh-shin", "Curves of figures 13 to 16", true, "rebuilt"),
        ("thakur", "Table 1", false, "independent"),
        ("thakur", "Table 2", false, "fitted"),
        ("thakur", "Table 3", false, "independent"),
        ("thakur", "Table 5", false, "fitted"),
        ("thakur", "Table 6", false, "fitted"),
        ("thakur", "Clocks", false, "fitted"),
        ("liu", "Table 1", false, "rebuilt"),
        ("liu", "Closed forms", false, "formula"),
        ("spencer", "Table 3.2, k = 2q", false, "formula"),
        ("li", "Table II", false, "independent"),
        ("swing", "Steps", false, "formula"),
        ("bine", "Distances", false, "formula"),
    ] {
        let of_table = kinds.iter().filter(|k| (k.0, &*k.1, k.2) == (paper, table, rival));
        let found: Vec<&str> = of_table.map(|k| &*k.3).collect();
        assert_eq!(found, [kind], "{paper}, {table}");
    }
}
