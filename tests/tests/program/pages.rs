//! The pages of `docs` and other Markdown files have valid links and a complete table of contents.

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

fn links(text: &str) -> Vec<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let targets =
        prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
    targets.filter(|target| !target.contains("://")).collect()
}

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
            // A page in `docs` must not link to files outside of `docs`, which the site of mdbook
            // lacks.
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

/// The example has a range of sizes with a factor. The factor must lead exactly to the end of the
/// range.
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

/// The comment in the experiment names the algorithms of the list that MPI libraries use.
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
