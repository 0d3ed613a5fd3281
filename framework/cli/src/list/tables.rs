//! Lists for reading: one line for each entry, or the details of the entries that the user names.

use super::{List, collectives, in_groups};
use crate::args::ListArgs;
use crate::table;
use swapmeet_core::cost::machine::{Machine, parameters, presets, readers};
use swapmeet_core::cost::settings::Preset;
use swapmeet_core::text::escaped_path;
use swapmeet_runner::plugin::Algorithm;
use swapmeet_runner::registry::{OTHER_NAMES, Registry};
use swapmeet_runner::sandbox::NO_SANDBOX;
use swapmeet_runner::system;

pub(super) fn render(lists: &[List], registry: &Registry, args: &ListArgs) -> String {
    let mut out = String::new();
    for list in lists {
        if lists.len() > 1 {
            out += &format!("{}\n\n", list.title.to_uppercase());
        }
        match (list.title, args.names.is_empty()) {
            ("algorithms", false) => {
                let named = args.names.iter().filter_map(|name| registry.algorithm(name).ok());
                let details: Vec<String> = named.map(|a| algorithm(&a)).collect();
                out += &details.join("\n");
            }
            ("algorithms", true) => out += &algorithms(list, registry),
            ("machines", false) => {
                let details: Vec<String> = args.names.iter().map(|name| machine(name)).collect();
                out += &details.join("\n");
            }
            ("machines", true) => {
                let row = |p: &Preset| {
                    let model = Machine::parse(p.name).map(|m| m.model.to_string());
                    vec![p.name.to_owned(), model.unwrap_or_default(), p.title.to_owned()]
                };
                let rows = presets().iter().map(row).collect();
                out += &one_line_each(&["name", "model", "machine"], rows);
                out += "\nDetails: swapmeet list machines NAME\n";
            }
            ("systems", true) => {
                let row = |row: &Vec<String>| [0, 9, 8, 1].map(|i| row[i].clone()).to_vec();
                let header = ["name", "example", "measured", "system"];
                out += &one_line_each(&header, list.rows.iter().map(row).collect());
                out += "\nDetails: swapmeet list systems NAME\n";
            }
            ("systems", false) => {
                let width = list.header.iter().map(|name| name.len()).max().unwrap_or(0);
                let text = |row: &Vec<String>| {
                    let named = list.header.iter().zip(row);
                    named.map(|(name, value)| format!("{name:width$}  {value}\n")).collect()
                };
                out += &list.rows.iter().map(text).collect::<Vec<String>>().join("\n");
            }
            ("plugins", _) => {
                out += &plugins(registry);
                out += &confined(args.plugins.no_sandbox);
            }
            ("columns", _) => {
                out += &table::plain(list.header, &[], list.rows.clone());
                out.push('\n');
            }
            (_, false) => {
                for row in &list.rows {
                    out += &format!("{}\n    {}\n    {}\n", row[0], row[1], row[2]);
                }
            }
            (title, true) => {
                // The specs of workloads are too long for a table.
                let columns: &[usize] = if title == "workloads" { &[0, 2] } else { &[0, 1, 2] };
                let header: Vec<&str> = columns.iter().map(|i| list.header[*i]).collect();
                let row = |row: &Vec<String>| columns.iter().map(|i| row[*i].clone()).collect();
                out += &one_line_each(&header, list.rows.iter().map(row).collect());
                out += &format!("\nDetails: swapmeet list {title} NAME\n");
            }
        }
        out.push('\n');
    }
    out
}

/// Returns a table of at most 120 characters in width. If a row is wider, its last cell is cut.
fn one_line_each(header: &[&str], mut rows: Vec<Vec<String>>) -> String {
    const WIDTH: usize = 120;
    let chars = |text: &str| text.chars().count();
    let last = header.len() - 1;
    let width = |column: usize| {
        let cells = rows.iter().map(|row| chars(&row[column])).max().unwrap_or(0);
        cells.max(chars(header[column])) + 2
    };
    let room = WIDTH.saturating_sub((0..last).map(width).sum());
    rows.iter_mut().for_each(|row| row[last] = shortened(&row[last], room));
    table::plain(header, &[], rows) + "\n"
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most.saturating_sub(3)).collect();
    let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{}...", words.trim_end_matches([',', ';', ':', '.', ' ']))
}

fn algorithms(list: &List, registry: &Registry) -> String {
    let mut selected = in_groups(registry);
    selected.retain(|(_, a)| {
        let name = registry.spec_name(&a.name, &a.plugin.name);
        list.rows.iter().any(|row| row[0] == name)
    });
    if selected.is_empty() {
        return "no algorithm found; see `swapmeet list plugins`\n".to_owned();
    }
    // Long cells are abbreviated here. `list algorithms NAME` prints them in full.
    let row = |(_, a): &(_, &Algorithm)| {
        let collectives = collectives(a);
        let several = collectives.split(' ').count();
        vec![
            format!("  {}", a.name),
            if several > 2 { format!("{several} collectives") } else { collectives },
            shortened(a.accepts.split([',', ';', '(']).next().unwrap_or_default().trim(), 28),
            a.title.clone(),
        ]
    };
    let table = one_line_each(
        &["  name", "collective", "topologies", "title"],
        selected.iter().map(row).collect(),
    );
    let mut lines = table.lines();
    let mut out = format!("{}\n", lines.next().unwrap_or_default());
    let mut previous = None;
    for (line, (title, _)) in lines.zip(&selected) {
        if previous.replace(title) != Some(title) {
            out += &format!("\n{title}\n");
        }
        out += &format!("{line}\n");
    }
    for (other, name) in OTHER_NAMES {
        if selected.iter().any(|(_, a)| a.name == *name) {
            out += &format!("\n`{other}` is another name of `{name}`.\n");
        }
    }
    out + "\nDetails: swapmeet list algorithms NAME\n"
}

fn algorithm(a: &Algorithm) -> String {
    let ports = match a.ports {
        0 => "not stated".to_owned(),
        u64::MAX => "all links".to_owned(),
        ports => ports.to_string(),
    };
    let source = if a.paper.is_empty() { "unpublished" } else { &a.paper };
    let mut out = format!("{}: {}\n", a.name, a.title);
    let others = OTHER_NAMES.iter().filter(|(_, name)| *name == a.name);
    out.extend(others.map(|(other, _)| format!("    other name: {other}\n")));
    let file = format!("{} ({})", escaped_path(&a.file), a.plugin.name);
    for (label, text) in [
        ("collectives", collectives(a).as_str()),
        ("topologies", &a.accepts),
        ("messages a node sends per step", &ports),
        ("source", source),
        ("plugin file", &file),
    ] {
        out += &format!("    {label}: {text}\n");
    }
    if !a.params.is_empty() {
        out += "    parameters:\n";
    }
    for p in &a.params {
        let default = match p.default.as_str() {
            "" => "depends on the problem",
            default => default,
        };
        out += &format!("        {}: {} [default: {default}]\n", p.key, p.help);
    }
    out
}

fn plugins(registry: &Registry) -> String {
    let mut out = String::new();
    for (plugin, origin) in registry.origins() {
        let licence = if plugin.licence.is_empty() { "no licence" } else { &plugin.licence };
        out += &format!(
            "{} {}  (plugin ABI {}.{}, {licence})\n",
            plugin.name, plugin.version, plugin.abi.0, plugin.abi.1
        );
        out += &format!("    {}  ({origin})\n", escaped_path(&plugin.path));
        for algorithm in &plugin.algorithms {
            let paper = if algorithm.paper.is_empty() { "unpublished" } else { &algorithm.paper };
            out += &format!(
                "    {}: {}\n        on {}\n        {paper}\n",
                algorithm.name, algorithm.title, algorithm.accepts
            );
        }
    }
    if out.is_empty() {
        out += "none: see `swapmeet list --help` for the searched folders\n";
    }
    out
}

/// States how the sandbox confines plugins on this machine.
fn confined(no_sandbox: bool) -> String {
    let none =
        |why: &str| format!("\nsandbox: none ({why}): plugins run with all of your permissions\n");
    match system::protection().filter(|_| !no_sandbox) {
        Some(Ok(protection)) => format!("\nsandbox: {protection}\n"),
        Some(Err(error)) => format!("\nsandbox: {error}\n"),
        None if no_sandbox => none(NO_SANDBOX),
        None => none("only Linux has one"),
    }
}

fn machine(name: &str) -> String {
    let mut out = String::new();
    for preset in presets().iter().filter(|preset| preset.name == name) {
        let model = Machine::parse(name).map(|m| m.model.to_string()).unwrap_or_default();
        out += &format!("{}: {} (model {model})\n", preset.name, preset.title);
        for (key, value, source) in preset.values.iter().filter(|(key, ..)| *key != "model") {
            out += &format!("    {key} = {value}\n        {source}\n");
        }
    }
    out += &format!("\nParameters can be changed, as in {name}:startup_us=220:\n\n");
    for p in parameters().iter().copied() {
        out += &format!("    {} [default: {}]: {}\n", p.key(), p.default(), p.meaning());
        let symbols = match p.symbols() {
            "" => String::new(),
            symbols => format!("; in papers: {symbols}"),
        };
        out += &format!("        read by {}{symbols}\n", readers(p));
    }
    out
}
