//! `swapmeet list`: algorithms, topologies, workloads, machines, plugins and columns.

use crate::args::{Format, Kind, ListArgs};
use crate::describe;
use crate::failure::Failure;
use crate::say::say;
use crate::{output, run, table};
use serde_json::{Value, json};
use std::process::ExitCode;
use swapmeet_core::cost::machine::{Machine, parameters, presets, readers};
use swapmeet_core::cost::settings::{Origin, Preset};
use swapmeet_core::delivery::collective::{ALL_TO_ALL, COLLECTIVES, PERMUTATION, of_bits};
use swapmeet_core::network::topology::families;
use swapmeet_core::spec::near_matches;
use swapmeet_core::text::escaped_path;
use swapmeet_results::{column_infos, csv_text};
use swapmeet_runner::plugin::{Algorithm, Param};
use swapmeet_runner::registry::Registry;
use swapmeet_runner::sandbox::{self, NO_SANDBOX};
use swapmeet_workloads::generators;

/// A list with a title, a header and rows.
struct List {
    title: &'static str,
    header: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

/// Prints one list, or all of them.
pub(crate) fn list(args: &ListArgs) -> Result<ExitCode, Failure> {
    let written = |text: &str| output::print(&format!("{}\n", text.trim_end()));
    if let Some(spec) = &args.describe {
        let described = match args.kind {
            None | Some(Kind::Topologies) => describe::topology(spec, args.format)?,
            Some(Kind::Machines) => describe::machine(spec, args.format)?,
            Some(Kind::Algorithms | Kind::Workloads | Kind::Plugins | Kind::Columns) => {
                return Err(Failure::Usage(
                    "--describe: describes a topology or a machine, expected `list topologies --describe SPEC` or `list machines --describe SPEC`"
                        .to_owned(),
                ));
            }
        };
        written(&described)?;
        return Ok(ExitCode::SUCCESS);
    }
    let kinds = match args.kind {
        Some(kind) => vec![kind],
        None if args.format == Format::Csv => {
            return Err(Failure::Usage(
                "--format csv: each kind has columns of its own, expected one of algorithms, topologies, workloads, machines, plugins, columns, as in \
                 `list machines --format csv`"
                    .to_owned(),
            ));
        }
        None => {
            vec![Kind::Algorithms, Kind::Topologies, Kind::Workloads, Kind::Machines, Kind::Plugins]
        }
    };
    let registry = run::registry(&args.plugins)?;
    let mut lists: Vec<List> = kinds.iter().map(|kind| make(*kind, &registry)).collect();
    if let Some(word) = &args.collective {
        let [List { title: "algorithms", rows, .. }] = &mut lists[..] else {
            return Err(Failure::Usage(
                "--collective: selects algorithms, expected `list algorithms --collective WORD`"
                    .to_owned(),
            ));
        };
        let words = COLLECTIVES.iter().map(|kind| kind.word);
        let near = near_matches(word, words.clone());
        if words.clone().all(|known| known != word) {
            let words: Vec<&str> = if near.is_empty() {
                words.collect()
            } else {
                near.iter().map(String::as_str).collect()
            };
            return Err(Failure::Usage(format!(
                "--collective: unknown collective `{word}`, expected {}",
                words.join(" or ")
            )));
        }
        rows.retain(|row| row[1].split(' ').any(|collective| collective == word));
    }
    if let (Some(name), [list]) = (&args.name, &mut lists[..]) {
        let near = near_matches(name, list.rows.iter().map(|row| row[0].as_str()));
        list.rows.retain(|row| row[0] == *name);
        if list.rows.is_empty() {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            let help = match near.is_empty() {
                true => format!("`swapmeet list {}` prints all names", list.title),
                false => format!("did you mean {}?", near.join(" or ")),
            };
            return Err(Failure::Usage(format!("{}: no entry `{name}`; {help}", list.title)));
        }
    }
    let text = match args.format {
        Format::Table => as_tables(&lists, &registry, args),
        Format::Csv => as_csv(&lists).map_err(|e| Failure::Output(e.to_string()))?,
        Format::Json => as_json(&lists, &registry).map_err(|e| Failure::Output(e.to_string()))?,
    };
    written(&text)?;
    if kinds.contains(&Kind::Plugins) || registry.plugins().is_empty() {
        for line in registry.log() {
            say!("{line}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn make(kind: Kind, registry: &Registry) -> List {
    let texts = |row: &[&str]| row.iter().map(|s| (*s).to_owned()).collect::<Vec<String>>();
    match kind {
        Kind::Algorithms => List {
            title: "algorithms",
            header: &["name", "collectives", "title", "accepts", "parameters", "paper", "plugin"],
            rows: registry
                .algorithms()
                .map(|a| {
                    texts(&[
                        &a.name,
                        &collectives(a),
                        &a.title,
                        &a.accepts,
                        &params(a),
                        &a.paper,
                        &a.plugin.name,
                    ])
                })
                .collect(),
        },
        Kind::Topologies => List {
            title: "topologies",
            header: &["name", "spec", "what it is"],
            rows: families().iter().map(|f| texts(&[f.name, f.syntax, f.help])).collect(),
        },
        Kind::Workloads => List {
            title: "workloads",
            header: &["name", "spec", "what it is"],
            rows: generators(&ALL_TO_ALL)
                .map(|g| texts(&[g.name, g.syntax, g.help]))
                .chain(COLLECTIVES.into_iter().map(|kind| {
                    let root = if kind.is_rooted() { ",root=N" } else { "" };
                    texts(&[kind.word, &format!("{}/..{root}", kind.word), kind.help])
                }))
                .chain(generators(&PERMUTATION).map(|g| {
                    texts(&[g.name, &format!("{}/{}", PERMUTATION.word, g.syntax), g.help])
                }))
                .collect(),
        },
        Kind::Machines => List {
            title: "machines",
            header: &["name", "parameter", "value", "meaning", "source"],
            rows: presets()
                .iter()
                .filter_map(|preset| Machine::parse(preset.name).ok())
                .flat_map(|machine| {
                    let row = |value: swapmeet_core::cost::machine::ParameterValue| {
                        let source =
                            if let Origin::Preset(source) = value.origin { source } else { "" };
                        let parameter = value.parameter;
                        texts(&[
                            machine.name(),
                            parameter.key(),
                            &value.text,
                            parameter.meaning(),
                            source,
                        ])
                    };
                    machine.values().into_iter().map(row).collect::<Vec<_>>()
                })
                .collect(),
        },
        Kind::Plugins => List {
            title: "plugins",
            header: &["name", "version", "abi", "licence", "algorithms", "file", "origin"],
            rows: registry
                .origins()
                .map(|(p, origin)| {
                    let algorithms: Vec<&str> =
                        p.algorithms.iter().map(|a| a.name.as_str()).collect();
                    let abi = format!("{}.{}", p.abi.0, p.abi.1);
                    let file = escaped_path(&p.path);
                    texts(&[
                        &p.name,
                        &p.version,
                        &abi,
                        &p.licence,
                        &algorithms.join(" "),
                        &file,
                        &origin.to_string(),
                    ])
                })
                .collect(),
        },
        Kind::Columns => List {
            title: "columns",
            header: &["name", "type", "description"],
            rows: column_infos().map(|c| texts(&[c.name, c.kind, c.meaning.trim()])).collect(),
        },
    }
}

fn collectives(algorithm: &Algorithm) -> String {
    let words: Vec<&str> = of_bits(algorithm.collectives).map(|kind| kind.word).collect();
    words.join(" ")
}

fn params(algorithm: &Algorithm) -> String {
    let one = |p: &Param| match p.default.as_str() {
        // The default depends on the problem; the help text explains it.
        "" => format!("{}=.. ({})", p.key, p.help),
        default => format!("{}={default} ({})", p.key, p.help),
    };
    algorithm.params.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Returns the lists for reading: one line per entry, or the details of a selected entry.
fn as_tables(lists: &[List], registry: &Registry, args: &ListArgs) -> String {
    let mut out = String::new();
    for list in lists {
        if lists.len() > 1 {
            out += &format!("{}\n\n", list.title.to_uppercase());
        }
        match (list.title, &args.name) {
            ("algorithms", Some(name)) => {
                out += &registry.algorithm(name).map(|a| algorithm(&a)).unwrap_or_default();
            }
            ("algorithms", None) => out += &algorithms(list, registry),
            ("machines", Some(name)) => out += &machine(name),
            ("machines", None) => {
                let row = |p: &Preset| {
                    let model = Machine::parse(p.name).map(|m| m.model.to_string());
                    vec![p.name.to_owned(), model.unwrap_or_default(), p.title.to_owned()]
                };
                let rows = presets().iter().map(row).collect();
                out += &one_line_each(&["name", "model", "machine"], rows);
                out += "\nDetails: swapmeet list machines NAME\n";
            }
            ("plugins", _) => {
                out += &plugins(registry);
                out += &confined(args.plugins.no_sandbox);
            }
            ("columns", _) => {
                out += &table::plain(list.header, &[], list.rows.clone());
                out.push('\n');
            }
            (_, Some(_)) => {
                let row = &list.rows[0];
                out += &format!("{}\n    {}\n    {}\n", row[0], row[1], row[2]);
            }
            (title, None) => {
                // Specs of workloads are long: they are details.
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

/// Returns a table of at most 120 columns in which the last cell of a row is cut to fit.
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

/// Returns the text, cut to `most` characters.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most.saturating_sub(3)).collect();
    let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{}...", words.trim_end_matches([',', ';', ':', '.', ' ']))
}

/// The papers whose algorithms are listed first. Each entry has the beginning of the reference in
/// the plugin's tables, and a title.
const PAPERS: [(&str, &str); 5] = [
    ("Y.-J. Suh", "Suh & Shin"),
    ("R. Thakur, A. Choudhary", "Thakur, Choudhary & Fox"),
    ("W. Liu", "Liu, Wang & Prasanna"),
    ("C. C. Spencer", "Spencer"),
    ("Y. Li, S. Peng", "Li, Peng & Chu"),
];

/// Returns one line per algorithm of the list: first those of the five papers, then the others by
/// plugin, and last the reconstructions of published algorithms.
fn algorithms(list: &List, registry: &Registry) -> String {
    const RECONSTRUCTIONS: &str = "reconstructions from descriptions, without the paper's text";
    let group = |a: &Algorithm| {
        let paper = PAPERS.iter().position(|(start, _)| a.paper.starts_with(start));
        match paper {
            Some(index) => (index, PAPERS[index].1.to_owned()),
            None if a.paper.contains("a reconstruction") => {
                (PAPERS.len() + 1, RECONSTRUCTIONS.to_owned())
            }
            None => (PAPERS.len(), format!("plugin {}", a.plugin.name)),
        }
    };
    let mut selected: Vec<_> = registry
        .algorithms()
        .filter(|a| list.rows.iter().any(|row| row[0] == a.name))
        .map(|a| (group(a), a))
        .collect();
    if selected.is_empty() {
        return "no algorithm found; see `swapmeet list plugins`\n".to_owned();
    }
    selected.sort_by(|(a, _), (b, _)| a.cmp(b));
    let row = |(_, a): &(_, &std::sync::Arc<Algorithm>)| {
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
    for (line, ((_, title), _)) in lines.zip(&selected) {
        if previous.replace(title) != Some(title) {
            out += &format!("\n{title}\n");
        }
        out += &format!("{line}\n");
    }
    out + "\nDetails: swapmeet list algorithms NAME\n"
}

/// Returns the details of an algorithm.
fn algorithm(a: &Algorithm) -> String {
    let ports = match a.ports {
        0 => "not stated".to_owned(),
        u64::MAX => "all links".to_owned(),
        ports => ports.to_string(),
    };
    let source = if a.paper.is_empty() { "unpublished" } else { &a.paper };
    let mut out = format!("{}: {}\n", a.name, a.title);
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
        out += "none: see `swapmeet list --help` for where they are looked for\n";
    }
    out
}

/// Returns how plugins are confined on this machine.
fn confined(no_sandbox: bool) -> String {
    match (no_sandbox, sandbox::protection()) {
        (true, _) => format!("\nsandbox: none ({NO_SANDBOX}): plugins may do all that you may\n"),
        (false, Ok(protection)) => format!("\nsandbox: {protection}\n"),
        (false, Err(error)) => format!("\nsandbox: {error}\n"),
    }
}

/// Returns the details of a preset, and the parameters that machines have.
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

fn as_csv(lists: &[List]) -> Result<String, csv::Error> {
    let mut out = Vec::new();
    for list in lists {
        let mut writer = csv::Writer::from_writer(&mut out);
        writer.write_record(list.header)?;
        for row in &list.rows {
            writer.write_record(row.iter().map(|text| csv_text(text)))?;
        }
        writer.flush()?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn as_json(lists: &[List], registry: &Registry) -> Result<String, serde_json::Error> {
    let object = |list: &List| -> Value {
        let row = |row: &Vec<String>| -> Value {
            list.header
                .iter()
                .zip(row)
                .map(|(h, v)| ((*h).to_owned(), Value::from(v.as_str())))
                .collect()
        };
        let mut rows: Vec<Value> = list.rows.iter().map(row).collect();
        if list.title == "plugins" {
            for (row, plugin) in rows.iter_mut().zip(registry.plugins()) {
                row["algorithms"] = plugin.algorithms.iter().map(|a| in_full(a)).collect();
            }
        }
        Value::from(rows)
    };
    let value = match lists {
        [list] => object(list),
        lists => lists.iter().map(|list| (list.title.to_owned(), object(list))).collect(),
    };
    serde_json::to_string_pretty(&value)
}

/// Returns all properties of an algorithm.
fn in_full(a: &Algorithm) -> Value {
    let params: Vec<Value> = a
        .params
        .iter()
        .map(|p| json!({"key": p.key, "default": p.default, "help": p.help}))
        .collect();
    json!({
        "name": a.name,
        "title": a.title,
        "paper": a.paper,
        "accepts": a.accepts,
        "collectives": collectives(a).split(' ').collect::<Vec<_>>(),
        // 0 means "not stated", and the largest number means "all links".
        "ports": match a.ports {
            0 => Value::Null,
            u64::MAX => Value::from("all"),
            n => Value::from(n),
        },
        "parameters": params,
    })
}
