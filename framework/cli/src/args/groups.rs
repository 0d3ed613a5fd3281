//! The groups of commands in the help. clap cannot group commands, so a template lists them.

use super::Command;
use clap::Subcommand;
use clap::builder::{StyledStr, Styles};
use std::fmt::Write;

const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Run and compare",
        &["run", "tui", "compare", "plot", "report", "merge", "rerun", "reproduce"],
    ),
    ("Explain and place", &["list", "explain", "expect", "trace", "optimum", "place"]),
    ("Write algorithms", &["new-plugin", "check"]),
    ("More", &["links", "export", "import", "fit", "tune", "header", "completions", "man"]),
];

pub(super) fn template() -> StyledStr {
    let all = Command::augment_subcommands(clap::Command::new("swapmeet"));
    let heading = Styles::styled().get_header().to_owned();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        text += &format!("\n{heading}{title}:{heading:#}\n");
        for name in names {
            let about = all.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.unwrap_or_else(|| unreachable!("there is no command `{name}`"));
            text += &format!("  {name:<11}  {about}\n");
        }
    }
    text += &format!("\n{heading}Options:{heading:#}\n{{options}}{{after-help}}");
    let mut template = StyledStr::new();
    template.write_str(&text).unwrap_or_else(|e| unreachable!("a text can be extended: {e}"));
    template
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_is_in_one_group() {
        let all = Command::augment_subcommands(clap::Command::new("swapmeet"));
        let all: BTreeSet<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        assert_eq!(all, listed.iter().copied().collect());
        assert_eq!(all.len(), listed.len());
    }

    /// clap does not wrap the lines of the template, so a test checks their length.
    #[test]
    fn descriptions_fit_in_80_columns() {
        for line in template().to_string().lines().filter(|line| line.starts_with("  ")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
