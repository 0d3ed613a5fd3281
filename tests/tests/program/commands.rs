//! Runs the commands of the pages, each page in a folder of its own.
//!
//! - A block of the language `sh` is a script, which must succeed.
//! - A block of the language `console` has commands, each after `$ ` and followed by its exact
//!   output. A line `..` stands for any number of lines.
//! - A block `rust NAME` is the source of a plugin, which must be built without a warning and pass
//!   `swapmeet check`. So must `examples/c/NAME.c`, if it exists.
//! - A comment `<!-- run ... -->` is a script that creates files for the following commands, or
//!   checks the results of the preceding ones.
//! - After a comment `<!-- printed -->`, some command of the page must print each line of the next
//!   block, or each time in the next table.
//!
//! [`NOT_RUN`] and [`TOOLS`] name the commands that are not run, with the reason.

use super::pages::pages;
use crate::support::tools;
use std::path::Path;
use std::process::Command;
use swapmeet_tests::project;
use tempfile::tempdir;

const NOT_RUN: &[(&str, &str, &str)] = &[
    ("README.md", "cargo build --release", "takes minutes; `.ci/run` runs it"),
    ("README.md", "cargo test", "is the command that runs this test"),
    ("README.md", "cargo install", "takes minutes, and needs Docker; `install.rs` tests packages"),
    ("docs/clusters.md", "#SBATCH", "`clusters.rs` runs it with and without Slurm"),
    ("docs/clusters.md", "sbatch", "`clusters.rs` runs it if Slurm is installed"),
    ("docs/clusters.md", "ssh", "needs other computers; `clusters.rs` runs it without `ssh`"),
    ("docs/bridges.md", "sbatch", "`clusters.rs` runs such a job if Slurm is installed"),
    ("docs/bridges.md", "-lsimgrid", "`simgrid.rs` runs it if SimGrid is installed"),
    ("docs/bridges.md", "MPIR_CVAR", "needs MPICH and a file of its sources"),
];

const TOOLS: &[(&str, &[&str])] = &[
    ("make", &["make", "cc"]),
    ("mpicc", &["mpicc"]),
    ("mpirun", &["mpicc", "mpirun"]),
    ("txt2bin", &["txt2bin", "LogGOPSim"]),
];

macro_rules! run_pages {
    ($($test:ident: $page:literal,)*) => {
        $(#[test] fn $test() { run_page($page); })*
        const PAGES: &[&str] = &[$($page),*];
    };
}

run_pages! {
    readme: "README.md",
    bridges: "docs/bridges.md",
    clusters: "docs/clusters.md",
    communicators: "docs/communicators.md",
    faults: "docs/faults.md",
    figures: "docs/figures.md",
    gpu: "docs/gpu.md",
    models: "docs/models.md",
    moe: "docs/moe.md",
    optimum: "docs/optimum.md",
    plugin_guide: "docs/plugin-guide.md",
    recipes: "docs/recipes.md",
    statistics: "docs/statistics.md",
    topologies: "docs/topologies.md",
    trace: "docs/trace.md",
    tutorial: "docs/tutorial.md",
}

/// A fenced block of a page, or a comment that is a script: the words of its first line, and the
/// other lines.
struct Block<'a> {
    words: Vec<&'a str>,
    text: String,
}

/// Returns the blocks of a page. If a block is in a list, the indentation of its first line is
/// removed from all its lines.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let (start, indent) = (line.trim_start(), line.len() - line.trim_start().len());
        let (words, end) = match (start.strip_prefix("```"), start) {
            (Some(words), _) => (words.split_whitespace().collect(), "```"),
            (None, "<!-- run") => (vec!["sh"], "-->"),
            (None, _) => continue,
        };
        let inside = lines.by_ref().take_while(|line| line.trim() != end);
        let text = inside.map(|line| format!("{}\n", line.get(indent..).unwrap_or(""))).collect();
        blocks.push(Block { words, text });
    }
    blocks
}

/// Runs the blocks of a page in order. Without `SWAPMEET_TESTS=all`, only the README is run.
fn run_page(page: &str) {
    if page != "README.md" && !tools::runs_all() {
        return;
    }
    if cfg!(not(target_os = "linux")) {
        tools::left_out("linux", "the pages show file names as they are on Linux");
        return;
    }
    let text = std::fs::read_to_string(project(page)).unwrap();
    let folder = tempdir().unwrap();
    let mut message = String::new();
    for Block { words, text } in blocks(&text) {
        if NOT_RUN.iter().any(|(of, part, _)| *of == page && text.contains(part)) {
            continue;
        }
        let is_in = |word: &str| text.split_whitespace().any(|other| other == word);
        let mut needed = TOOLS.iter().filter(|(word, _)| is_in(word));
        if !needed.all(|(_, programs)| tools::has(programs)) {
            continue;
        }
        match words[..] {
            ["sh"] => message += &succeeds(folder.path(), &text),
            ["console"] => run_console(folder.path(), &text),
            ["rust", name] => {
                build_and_check(folder.path(), "rust", name, &text);
                let in_c = std::fs::read_to_string(project(&format!("examples/c/{name}.c")));
                if let Some(text) = in_c.ok().filter(|_| tools::has(&["make", "cc"])) {
                    build_and_check(folder.path(), "c", name, &text);
                }
            }
            // Blocks in these languages show files, or the output of commands in other blocks.
            ["c" | "json" | "latex" | "text" | "toml" | "yaml", ..] => {}
            _ => panic!("{page}: a block that this test does not know: {words:?}"),
        }
    }
    for rest in text.split("<!-- printed -->").skip(1) {
        let mut lines = rest.lines().map(str::trim).skip_while(|line| line.is_empty());
        let first = lines.next().unwrap();
        let expected: Vec<&str> = if first.starts_with("```") {
            lines.take_while(|line| *line != "```").collect()
        } else {
            let cells = lines.take_while(|line| line.starts_with('|')).flat_map(|l| l.split('|'));
            cells.map(str::trim).filter(|cell| cell.ends_with(" ms")).collect()
        };
        assert!(!expected.is_empty(), "{page}: nothing to compare after `printed`");
        for text in expected {
            assert!(message.contains(text), "{page}: {text} is not in:\n{message}");
        }
    }
}

fn succeeds(folder: &Path, script: &str) -> String {
    let path = swapmeet_tests::path_with_program();
    let mut sh = Command::new("sh");
    // Variables that Cargo sets for this test must not apply to builds of plugins.
    let is_cargo = |key: &str| key.starts_with("CARGO_") && key != "CARGO_HOME";
    std::env::vars().filter(|(key, _)| is_cargo(key)).for_each(|(key, _)| {
        sh.env_remove(key);
    });
    sh.args(["-ec", script]).current_dir(folder).env("PATH", path).env("NO_COLOR", "1");
    sh.env_remove("SWAPMEET_PLUGIN_PATH").env_remove("RUSTFLAGS");
    sh.env("CARGO_NET_OFFLINE", "true").env("XDG_DATA_HOME", "/nonexistent");
    sh.env("CHECKOUT", project(""));
    // Without optimization, plugins are built in a fifth of the time, and checked nearly as fast.
    sh.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
    for setting in [
        "ALLOW_RUN_AS_ROOT",
        "ALLOW_RUN_AS_ROOT_CONFIRM",
        "MCA_rmaps_base_oversubscribe",
        "MCA_mpi_yield_when_idle",
    ] {
        sh.env(format!("OMPI_{setting}"), "1");
    }
    let output = sh.output().unwrap();
    let [printed, message] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{script}: {printed}{message}");
    printed + &message
}

/// Returns whether two lists of lines match. A line `..` stands for any number of lines.
pub(super) fn matches(shown: &[&str], message: &[&str]) -> bool {
    match shown.split_first() {
        None => message.is_empty(),
        Some((&"..", rest)) => (0..=message.len()).any(|skip| matches(rest, &message[skip..])),
        Some((first, rest)) => {
            message.split_first().is_some_and(|(line, more)| line == first && matches(rest, more))
        }
    }
}

fn run_console(folder: &Path, text: &str) {
    for part in format!("\n{text}").split("\n$ ").skip(1) {
        let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
        let message = succeeds(folder, command);
        let [shown_lines, said_lines] = [shown, &message]
            .map(|text| text.trim_end().lines().map(str::trim_end).collect::<Vec<_>>());
        let same = matches(&shown_lines, &said_lines);
        assert!(same, "$ {command}\n-- shown:\n{shown}\n-- printed:\n{message}");
    }
}

/// Builds the plugin in a code block of a page, in a folder that `new-plugin` creates, and runs
/// `check`. If a command of the page has created the folder, the block must equal the source in the
/// folder. All plugins in Rust use the SDK in the folder of the first plugin, so that it is built
/// only once.
fn build_and_check(folder: &Path, language: &str, name: &str, text: &str) {
    let (place, made, file) = if language == "rust" {
        let file = format!("target/release/lib{}.so", name.replace('-', "_"));
        (name.to_owned(), "cargo build --release --quiet", file)
    } else {
        let place = format!("{}-in-c", name.trim_end_matches("-in-c"));
        (place.clone(), "make -s", format!("lib{place}.so"))
    };
    let source = if language == "rust" { "src/lib.rs".to_owned() } else { format!("{place}.c") };
    let source = folder.join(&place).join(source);
    if source.exists() {
        assert_eq!(std::fs::read_to_string(&source).unwrap(), text, "{name}");
    } else {
        succeeds(folder, &format!("swapmeet new-plugin {place} --lang {language}"));
        std::fs::write(&source, text).unwrap();
        if language == "rust" {
            let share = "ln -s ../my-ring/target target && sed -i \
                's|\"swapmeet/sdk\", package = .*-sdk\"|\"../my-ring/swapmeet/sdk\", package = \"my-ring-sdk\"|' Cargo.toml";
            succeeds(folder, &format!("cd {place} && {share}"));
        }
    }
    let message = succeeds(folder, &format!("cd {place} && {made}"));
    assert!(!message.contains("warning"), "{message}");
    // A few networks are enough, because the guide itself shows a check on all networks.
    let few = ["ring:7", "torus:3x5", "torus:4x4", "mesh:3x3", "hypercube:3", "groups:2x5"];
    let few = few.map(|topology| format!("--topology {topology}")).join(" ");
    let report = succeeds(folder, &format!("swapmeet check {place}/{file} {few}"));
    assert!(report.ends_with("passed: 0 faults, 0 remarks\n"), "{language} {name}: {report}");
}

#[test]
fn every_command_on_every_page_is_run_or_has_a_reason() {
    let folder = project("");
    let (mut all, mut help) = (String::new(), std::collections::BTreeMap::new());
    for path in pages() {
        let page = path.strip_prefix(&folder).unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let is_run = |block: &Block<'_>| matches!(block.words[..], ["sh" | "console", ..]);
        assert_eq!(blocks(&text).iter().any(is_run), PAGES.contains(&page), "{page}");
        for (of, part, _) in NOT_RUN {
            assert!(*of != page || blocks(&text).iter().any(|b| b.text.contains(part)), "{part}");
        }
        let prose: String = text.split("```").step_by(2).collect();
        for command in prose.split('`').filter(|code| code.starts_with("swapmeet ")) {
            let mut words = command.split_whitespace().skip(1);
            let name = words.next().unwrap();
            let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            if name.starts_with('-') || !is_name || command.ends_with("..") {
                continue;
            }
            let help = help
                .entry(name.to_owned())
                .or_insert_with(|| succeeds(&folder, &format!("swapmeet {name} --help")));
            for flag in words.filter(|word| word.starts_with("--")) {
                assert!(help.contains(flag), "{page}: `{command}`: no flag {flag}");
            }
        }
        all += &text;
    }
    assert!(TOOLS.iter().all(|(word, _)| all.contains(word)));
}
