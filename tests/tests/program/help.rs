//! Help, manual pages and completions, which are all generated from one definition.

use crate::support::{swapmeet, swapmeet_process, words};
use tempfile::tempdir;

pub(crate) fn output_of(args: &[&str]) -> String {
    String::from_utf8(swapmeet(args).assert().success().stderr("").get_output().stdout.clone())
        .unwrap()
}

pub(crate) fn commands() -> Vec<String> {
    let help = output_of(&["--help"]);
    let (groups, _) = help
        .split_once(
            "
Options:",
        )
        .unwrap();
    names(groups)
}

fn plot_kinds() -> Vec<String> {
    let help = output_of(&["plot", "--help"]);
    let kinds = help
        .split(
            "Kinds:
",
        )
        .nth(1)
        .unwrap();
    let kinds = names(
        kinds
            .split(
                "

",
            )
            .next()
            .unwrap(),
    );
    kinds.into_iter().filter(|name| name != "help").collect()
}

fn names(list: &str) -> Vec<String> {
    let lines = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    lines.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_command_and_flag_is_described() {
    let kinds = plot_kinds().into_iter().map(|kind| format!("plot {kind}"));
    for command in commands().into_iter().chain(kinds) {
        let help = output_of(&[&words(&command)[..], &["--help"]].concat());
        assert!(help.contains("Examples:\n  swapmeet "), "{command}: {help}");
        let (about, _) = help.split_once("\n\nUsage: ").unwrap();
        assert!(about.len() > 10, "{command}: {about}");
        let (flags, _) = help.split_once("\nExamples:").unwrap();
        let lines: Vec<&str> = flags.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            // Flags and arguments are indented less than the lines of their texts.
            let entry = line.trim_start();
            if (2..=6).contains(&(line.len() - entry.len())) && entry.starts_with(['-', '<', '[']) {
                let text = entry.split_once("  ").map_or("", |(_, text)| text.trim());
                let next = lines.get(at + 1).map_or("", |next| next.trim());
                assert!(text.len() > 3 || next.len() > 3, "{command}: `{entry}` has no text");
            }
        }
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let dir = tempdir().unwrap();
    let folder = dir.path().join("man1");
    output_of(&["man", "--out", folder.to_str().unwrap()]);
    let page = |name: &str| std::fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
    for command in commands() {
        let text = page(&format!("swapmeet-{command}"));
        assert!(text.contains(".SH SYNOPSIS") && text.contains("Examples:"), "{command}: {text}");
    }
    assert_eq!(page("swapmeet"), output_of(&["man"]));
    let pages = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(
        pages,
        1 + commands().len() + plot_kinds().len(),
        "and for nothing that only the program itself calls"
    );
}

fn completed(words: &[&str]) -> Vec<String> {
    let mut ask = swapmeet_process(&["--", "swapmeet"]);
    ask.args(words).env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    let answer = String::from_utf8(ask.output().unwrap().stdout).unwrap();
    answer.split(['\u{b}', '\n']).map(|word| word.trim().to_owned()).collect()
}

#[test]
fn commands_flags_and_specs_are_completed() {
    let words = completed(&[""]);
    for command in commands() {
        assert!(words.contains(&command), "{command}: {words:?}");
    }
    assert!(
        !words.iter().any(|word| word == "check-question"),
        "what only the program itself calls"
    );
    assert!(completed(&["run", "--topo"]).contains(&"--topology".to_owned()));
    for (flag, begun, whole) in [
        ("--topology", "tor", "torus:"),
        ("--algorithm", "suh", "suh-shin"),
        ("--workload", "irr", "irregular:"),
        ("--machine", "para", "paragon"),
        ("--proof", "f", "full"),
        ("--topology", "torus:8x8,pl", "torus:8x8,place="),
        ("--topology", "slim-fly:5,no", "slim-fly:5,nodes="),
        ("--topology", "rdn:1(torus:4x4),routing=ecmp,r", "rdn:1(torus:4x4),routing=ecmp,ranks="),
        ("--machine", "free:st", "free:startup_us="),
        ("--machine", "free:model=loggp,gap", "free:model=loggp,gap_us="),
        ("--algorithm", "two-stage:sl", "two-stage:slices="),
        ("--workload", "irregular:me", "irregular:mean="),
        ("--workload", "broadcast/uniform:64,ro", "broadcast/uniform:64,root="),
    ] {
        assert_eq!(completed(&["run", flag, begun]), [whole], "{flag}");
    }
    assert_eq!(completed(&["reproduce", "thak"]), ["thakur"]);
    assert_eq!(completed(&["plot", "winn"]), ["winners"]);
    assert_eq!(completed(&["plot", "heat", "rows.csv", "--val"]), ["--value"]);
    assert_eq!(completed(&["plot", "rows.csv", "--algorithm", "suh"]), ["suh-shin"]);
    for (kind, flag, begun, whole) in [
        ("curves", "--x", "tok", "tokens"),
        ("curves", "--x", "block", "block"),
        ("curves", "--x", "startup", "startup_us"),
        ("curves", "--x", "windo", "window"),
        ("heat", "--axes", "tokens,ske", "tokens,skew"),
        ("winners", "--axes", "fault", "faults"),
    ] {
        assert!(completed(&["plot", kind, "rows.csv", flag, begun]).contains(&whole.to_owned()));
    }
    assert_eq!(completed(&["compare", "rows.csv", "--by", "topo"]), ["topology"]);
    assert_eq!(completed(&["compare", "rows.csv", "--by", "tok"]), ["tokens"]);
    assert_eq!(completed(&["compare", "rows.csv", "--pivot", "tok"]), ["tokens"]);
}

/// Bash divides a spec at colons and equals signs, and replaces only the last part by a completion.
#[test]
fn bash_completes_algorithms_and_specs() {
    let script = r#"
        eval "$(swapmeet completions bash)"
        ask() {
            COMP_WORDS=(swapmeet run "$@") COMP_CWORD=$(( $# + 1 ))
            _clap_complete_swapmeet swapmeet "${@: -1}" "${@: -2:1}"
            echo "${COMPREPLY[@]}"
        }
        ask --algorithm su
        ask --topology torus : 8x8,pl
        ask --topology=torus:8x8 --machine free : startup_us = 1,by
        ask --machine = free : st
    "#;
    let path = swapmeet_tests::path_with_program();
    let Ok(answer) =
        std::process::Command::new("bash").args(["-c", script]).env("PATH", path).output()
    else {
        return crate::support::tools::left_out("bash", "no bash");
    };
    assert_eq!(
        String::from_utf8(answer.stdout).unwrap(),
        "suh-shin\n8x8,place=\n1,byte_us=\nstartup_us=\n",
        "{}",
        String::from_utf8_lossy(&answer.stderr)
    );
}

#[test]
fn the_help_of_reproduce_names_all_papers() {
    let help = output_of(&["reproduce", "--help"]);
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let pages = std::fs::read_dir(swapmeet_tests::project("results/reproduced")).unwrap();
    let names = pages.map(|page| page.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .filter(|name| name != "README")
        .collect();
    assert!(names.len() >= 9, "{names:?}");
    for name in names {
        assert!(words.contains(&name), "{name}: {help}");
    }
}
