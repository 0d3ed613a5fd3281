//! The pages of `docs` and other Markdown files. All links must be valid, and the table of contents
//! must be complete.

use super::commands::matches;
use crate::support::{swapmeet, tools};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use swapmeet_tests::project;

pub(super) fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(project("docs")).unwrap().map(|entry| entry.unwrap().path());
    let others = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "framework/python/README.md",
    ];
    docs.chain(others.map(project))
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect()
}

/// Returns the link targets of a page, without code blocks.
fn links(text: &str) -> Vec<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let targets =
        prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
    targets.filter(|target| !target.contains("://")).collect()
}

/// Returns the anchors of headings, as GitHub and mdbook create them.
fn anchors(text: &str) -> BTreeSet<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let headings = prose
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim().to_lowercase());
    let kept = |c: char| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_';
    headings
        .map(|heading| heading.chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn every_link_in_the_docs_is_valid() {
    let mut count = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap_or(Path::new(".")).join(file)
            };
            assert!(target.exists(), "{}: no {link}", page.display());
            // The site of mdbook has no files from outside of `docs`.
            let leaves_docs = page.starts_with(project("docs")) && file.starts_with("..");
            assert!(!leaves_docs, "{}: {link} is outside of docs", page.display());
            if !anchor.is_empty() {
                let there = anchors(&std::fs::read_to_string(&target).unwrap());
                assert!(
                    there.contains(anchor),
                    "{}: no heading of {link}, there are {there:?}",
                    page.display()
                );
            }
        }
    }
    assert!(count > 30, "{count} links");
}

#[test]
fn the_table_of_contents_has_every_page() {
    let contents = std::fs::read_to_string(project("docs/SUMMARY.md")).unwrap();
    let linked: BTreeSet<String> = links(&contents).into_iter().collect();
    let docs = std::fs::read_dir(project("docs"))
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
    let there: BTreeSet<String> =
        docs.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").collect();
    assert_eq!(linked, there);
}

/// The command in the example for Python runs. Its range of sizes is given by a factor, which must
/// lead exactly to the end of the range.
#[test]
fn the_python_example_runs() {
    let text = std::fs::read_to_string(project("framework/python/README.md")).unwrap();
    let list = text.split_once("[\"swapmeet\", ").unwrap().1.split_once(']').unwrap().0;
    let words: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let dir = tempfile::tempdir().unwrap();
    let output = swapmeet(&words).current_dir(dir.path()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !message.contains("remark"), "{message}");
    assert!(dir.path().join("rows.csv").exists());
}

/// If the end of a range is not one of its sizes, this is reported.
#[test]
fn a_range_that_misses_its_end_is_reported() {
    let args = ["run", "--topology", "ring:4", "--algorithm", "bruck", "--out", "-"];
    let output_of = |range: &str| {
        let output = swapmeet(&args).args(["--machine", "sp2", "--workload", range]).output();
        String::from_utf8(output.unwrap().stderr).unwrap()
    };
    let remark = "remark: workload `uniform:8..1MiB*8`: the last size is 256KiB, not 1MiB";
    assert!(output_of("uniform:8..1MiB*8").contains(remark), "{}", output_of("uniform:8..1MiB*8"));
    assert!(!output_of("uniform:8..1MiB*2").contains("remark"));
}

/// The README shows the output of its first command. The comment in the experiment names those
/// algorithms of the list that MPI libraries use.
#[test]
fn the_readme_shows_the_output_of_the_quick_start() {
    let readme = std::fs::read_to_string(project("README.md")).unwrap();
    let shown = readme.split("```text\n").find(|block| block.starts_with("topology ")).unwrap();
    let experiment = project("workloads/experiments/quick-start.toml");
    let output = swapmeet(&["run", experiment.to_str().unwrap(), "--quiet"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let shown = shown.split("```").next().unwrap();
    let [shown, lines] = [shown, &printed].map(|text| text.lines().collect::<Vec<_>>());
    assert!(matches(&shown, &lines), "{printed}");
    let text = std::fs::read_to_string(experiment).unwrap();
    assert!(text.contains("(linear, pairwise, bruck)"));
    assert!(text.contains("\"linear\", \"pairwise\", \"bruck\"]"));
}

/// The README is short enough for a first look.
#[test]
fn the_readme_is_short() {
    let readme = std::fs::read_to_string(project("README.md")).unwrap();
    assert!(readme.lines().count() <= 150, "{} lines", readme.lines().count());
    // The output of a command is as wide as the program prints it.
    for prose in readme.split("```").step_by(2).flat_map(str::lines) {
        assert!(prose.chars().count() <= 100 || prose.starts_with('|'), "{prose}");
    }
}

/// Returns a Markdown table. Characters with a meaning in Markdown are escaped.
fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let header: Vec<String> = header.iter().map(|h| (*h).to_owned()).collect();
    let rules = vec!["---".to_owned(); header.len()];
    let rows: String = rows.iter().map(|row| line(row)).collect();
    line(&header) + &line(&rules) + &rows
}

/// Returns these columns of a list of the program. Columns with a name in `` ` `` are code.
fn listed(kind: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let output = swapmeet(&["list", kind, "--format", "csv"]).output().unwrap();
    let mut reader = csv::Reader::from_reader(output.stdout.as_slice());
    let header = reader.headers().unwrap().clone();
    let index = |name: &str| header.iter().position(|h| h == name).unwrap();
    let places: Vec<(usize, bool)> =
        columns.iter().map(|c| (index(c.trim_matches('`')), c.starts_with('`'))).collect();
    let cell = |text: &str, is_code: bool| match (text, is_code) {
        ("", _) => String::new(),
        (_, true) => format!("`{}`", text.replace('|', "\\|")),
        (_, false) => ["|", "<", "*", "_"]
            .iter()
            .fold(text.to_owned(), |text, c| text.replace(c, &format!("\\{c}"))),
    };
    let records = reader.records().map(Result::unwrap);
    records
        .map(|row| places.iter().map(|(i, is_code)| cell(&row[*i], *is_code)).collect())
        .collect()
}

/// `docs/reference.md` is generated from the lists of the program.
#[test]
fn the_reference_equals_the_lists_of_the_program() {
    let mut page = "# Reference of all lists\n\nThis page is generated from `swapmeet list`. \
        [Specs](specs.md) defines the grammar,\n[columns, models and bounds](figures.md) explains \
        the values, and [algorithms](algorithms.md) has\ntheir costs.\n"
        .to_owned();
    let machines = listed("machines", &["`name`", "`parameter`", "`value`", "source"]);
    let is_model = |row: &&Vec<String>| row[1] == "`model`";
    let models = machines.iter().filter(is_model).map(|row| {
        let other = |parameter: &&Vec<String>| {
            parameter[0] == row[0] && !["`model`", "`mode`"].contains(&parameter[1].as_str())
        };
        let all: Vec<String> = machines
            .iter()
            .filter(other)
            .map(|p| format!("{}={}", p[1].trim_matches('`'), p[2].trim_matches('`')))
            .collect();
        vec![row[0].clone(), row[2].clone(), format!("`{}`", all.join(", ")), row[3].clone()]
    });
    let sections = [
        (
            "Algorithms",
            table(
                &["name", "collectives", "title", "runs on", "paper"],
                &listed("algorithms", &["`name`", "collectives", "title", "accepts", "paper"]),
            ),
        ),
        (
            "Topologies",
            table(&["spec", "meaning"], &listed("topologies", &["`spec`", "what it is"])),
        ),
        ("Workloads", table(&["spec", "meaning"], &listed("workloads", &["`spec`", "what it is"]))),
        (
            "Machines",
            table(&["name", "model", "parameters", "source"], &models.collect::<Vec<_>>()),
        ),
        (
            "Columns",
            table(
                &["column", "type", "meaning"],
                &listed("columns", &["`name`", "type", "description"]),
            ),
        ),
    ];
    for (title, table) in sections {
        page += &format!("\n## {title}\n\n{table}");
    }
    let path = project("docs/reference.md");
    if std::env::var_os("SWAPMEET_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == page,
        "docs/reference.md is outdated; renew it with SWAPMEET_BLESS=1 cargo test -p swapmeet-tests"
    );
}

#[test]
fn mdbook_builds_the_site() {
    if !tools::has(&["mdbook"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let output = std::process::Command::new("mdbook")
        .args(["build", "--dest-dir"])
        .args([dir.path(), &project("docs")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(dir.path().join("tutorial.html").exists());
}
