//! The sources of the rows of a report: machines, versions and commands.

use super::list;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use swapmeet_core::cost::machine::Machine;
use swapmeet_results::{Record, command, escaped, html_table};

/// Returns a description of each machine: its parameters and their sources.
pub(super) fn machines(rows: &[&Record]) -> String {
    let specs: BTreeSet<(String, String)> = rows
        .iter()
        .map(|row| (row.machine.clone(), row.case().setting.machine_spec().to_owned()))
        .collect();
    let mut out = String::new();
    for (name, spec) in specs {
        let stands = if name == spec { String::new() } else { format!(" = {spec}") };
        let _ = writeln!(out, "<h3>{}</h3>", escaped(&format!("{name}{stands}")));
        let Ok(machine) = Machine::parse(&spec) else {
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

pub(super) fn versions(rows: &[&Record], program: &str) -> String {
    let plugins: BTreeSet<String> = rows
        .iter()
        .map(|row| {
            format!(
                "{} of plugin {} {}",
                algorithm_name(&row.algorithm),
                row.plugin,
                row.plugin_version
            )
        })
        .collect();
    let made = format!("This page was made by {program}.");
    list(plugins.iter().chain([&made]).map(|line| escaped(line)))
}

fn algorithm_name(spec: &str) -> &str {
    spec.split(':').next().unwrap_or(spec)
}

/// Returns the distinct commands that reproduce the rows.
pub(super) fn commands(rows: &[&Record]) -> String {
    let mut known = BTreeSet::new();
    let commands: Vec<String> =
        rows.iter().map(|row| command(row)).filter(|c| known.insert(c.clone())).collect();
    let mut out =
        format!("<details><summary>{} commands, one for each row</summary>\n<pre>", commands.len());
    for command in &commands {
        out += &escaped(command);
        out.push('\n');
    }
    out += "</pre></details>\n";
    out += "<p><code>swapmeet list plugins</code> shows which plugins are found; others need <code>--plugin-dir FILE</code>.</p>\n";
    out
}
