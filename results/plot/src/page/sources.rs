//! Writes the sources of the rows of a report: the machines, versions and commands.

use super::list;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use swapmeet_core::cost::machine::Machine;
use swapmeet_results::{CaseId, ComparedRows, Setting, command, escaped, html_table};

pub(super) fn machines(rows: &ComparedRows) -> String {
    let specs: BTreeSet<(&str, &str)> =
        rows.settings().map(|setting| (setting.machine, setting.machine_spec())).collect();
    let mut out = String::new();
    for (name, spec) in specs {
        let machine = Machine::parse(spec).ok();
        let short = machine.as_ref().map_or_else(|| spec.to_owned(), Machine::to_string);
        let stands = if name == short { String::new() } else { format!(" = {short}") };
        let _ = writeln!(out, "<h3>{}</h3>", escaped(&format!("{name}{stands}")));
        let Some(machine) = machine else {
            out += "<p>Unknown to this program.</p>\n";
            continue;
        };
        let columns =
            [("parameter", false), ("value", true), ("meaning", false), ("source", false)];
        let lines = machine.values().into_iter().map(|value| {
            let origin = value.origin.to_string();
            [value.parameter.key(), &value.text, value.parameter.meaning(), &origin]
                .map(escaped)
                .into()
        });
        let _ = writeln!(out, "<p>Model {}.</p>", machine.model);
        out += &html_table(&columns, &lines.collect::<Vec<_>>());
    }
    out
}

pub(super) fn versions(rows: &ComparedRows, program: &str) -> String {
    let plugins: BTreeSet<String> = rows
        .implementations()
        .map(|own| {
            let algorithm = algorithm_name(own.algorithm);
            format!("{algorithm} of plugin {} {}", own.plugin, own.plugin_version)
        })
        .collect();
    let made = format!("This page was made by {program}.");
    list(plugins.iter().chain([&made]).map(|line| escaped(line)))
}

fn algorithm_name(spec: &str) -> &str {
    spec.split(':').next().unwrap_or(spec)
}

pub(super) fn write_commands(rows: &ComparedRows, out: &mut dyn Write) -> io::Result<()> {
    // Only hashes of the commands are stored and compared, to save memory. They have a random key.
    let hasher = RandomState::new();
    let hash = |case: &CaseId<&str>| hasher.hash_one(texts_of_command(case));
    let mut distinct: HashSet<u64> = rows.cases().map(|case| hash(&case)).collect();
    let count = distinct.len();
    write!(out, "<details><summary>{count} commands, one for each row</summary>\n<pre>")?;
    for case in rows.cases().filter(|case| distinct.remove(&hash(case))) {
        writeln!(out, "{}", escaped(&command(&case)))?;
    }
    writeln!(out, "</pre></details>")?;
    writeln!(
        out,
        "<p><code>swapmeet list plugins</code> shows which plugins are found; others need <code>--plugin-dir FILE</code>.</p>"
    )
}

fn texts_of_command<'a>(case: &CaseId<&'a str>) -> ([&'a str; 5], u64) {
    let CaseId { setting, implementation, seed, .. } = case;
    let machine = setting.machine_spec();
    let Setting { topology, workload, together, .. } = *setting;
    ([topology, implementation.algorithm, workload, machine, together], *seed)
}
