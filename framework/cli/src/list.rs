//! `swapmeet list`: what there is.

use crate::args::{Format, Kind, ListArgs};
use crate::describe;
use crate::failure::Failure;
use crate::say::say;
use crate::{output, run, table};
use serde_json::{Value, json};
use std::process::ExitCode;
use swapmeet_core::cost::machine::{Machine, parameters, presets, readers};
use swapmeet_core::cost::parameter::Parameter;
use swapmeet_core::cost::settings::Origin;
use swapmeet_core::delivery::collective::{ALL_TO_ALL, COLLECTIVES, PERMUTATION, of_bits};
use swapmeet_core::network::topology::families;
use swapmeet_results::column_infos;
use swapmeet_runner::plugin::{Algorithm, Param};
use swapmeet_runner::registry::Registry;
use swapmeet_runner::sandbox::{self, NO_SANDBOX};
use swapmeet_workloads::generators;

/// One list: a title, a header, rows.
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
    let lists: Vec<List> = kinds.iter().map(|kind| make(*kind, &registry)).collect();
    let text = match args.format {
        Format::Table => as_tables(&lists, &registry, args.plugins.no_sandbox),
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
                    let file = p.path.display().to_string();
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
        // What it is depends on the problem, as the help says.
        "" => format!("{}=.. ({})", p.key, p.help),
        default => format!("{}={default} ({})", p.key, p.help),
    };
    algorithm.params.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// A paragraph an entry for algorithms, machines and plugins, whose texts are long; a table for the
/// rest.
fn as_tables(lists: &[List], registry: &Registry, no_sandbox: bool) -> String {
    let mut out = String::new();
    for list in lists {
        if lists.len() > 1 {
            out += &format!("{}\n\n", list.title.to_uppercase());
        }
        match list.title {
            "algorithms" => {
                for row in &list.rows {
                    out += &format!("{}  ({})\n    {}\n    on {}", row[0], row[1], row[2], row[3]);
                    if !row[4].is_empty() {
                        out += &format!("\n    takes {}", row[4]);
                    }
                    out += &format!(
                        "\n    {}; plugin {}\n",
                        if row[5].is_empty() { "unpublished" } else { &row[5] },
                        row[6]
                    );
                }
                if list.rows.is_empty() {
                    out += "none: no plugin was found; see `swapmeet list plugins`\n";
                }
            }
            "machines" => out += &machines(),
            "plugins" => {
                out += &plugins(registry);
                out += &confined(no_sandbox);
            }
            _ => {
                out += &table::plain(list.header, &[], list.rows.clone());
                out.push('\n');
            }
        }
        out.push('\n');
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
        out += &format!("    {}  ({origin})\n", plugin.path.display());
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

/// What keeps plugins in, here.
fn confined(no_sandbox: bool) -> String {
    match (no_sandbox, sandbox::protection()) {
        (true, _) => format!("\nsandbox: none ({NO_SANDBOX}): plugins may do all that you may\n"),
        (false, Ok(protection)) => format!("\nsandbox: {protection}\n"),
        (false, Err(error)) => format!("\nsandbox: {error}\n"),
    }
}

fn machines() -> String {
    let mut out = String::new();
    for (preset, machine) in
        presets().iter().filter_map(|p| Some((p, Machine::parse(p.name).ok()?)))
    {
        out += &format!("{}  {} (model {})\n", preset.name, preset.title, machine.model);
        for (key, value, source) in preset.values.iter().filter(|(key, ..)| *key != "model") {
            out += &format!("    {key} = {value}\n        {source}\n");
        }
    }
    out += "\nWhat a machine's model reads can be set, as in paragon:startup_us=220:\n";
    let row = |p: &&dyn Parameter| {
        vec![
            p.key().to_owned(),
            p.meaning().to_owned(),
            p.symbols().to_owned(),
            p.default().to_string(),
            readers(*p),
        ]
    };
    let rows = parameters().iter().map(row).collect();
    out += &table::plain(&["parameter", "meaning", "in papers", "default", "read by"], &[], rows);
    out.push('\n');
    out
}

fn as_csv(lists: &[List]) -> Result<String, csv::Error> {
    let mut out = Vec::new();
    for list in lists {
        let mut writer = csv::Writer::from_writer(&mut out);
        writer.write_record(list.header)?;
        for row in &list.rows {
            writer.write_record(row)?;
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

/// All that a plugin says of an algorithm.
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
        // Nothing is said by 0, all links are meant by the largest number.
        "ports": match a.ports {
            0 => Value::Null,
            u64::MAX => Value::from("all"),
            n => Value::from(n),
        },
        "parameters": params,
    })
}
